//! Warnings of a run and remarks of a figure: each sentence once, with its code.
//!
//! A result has the sentences in `warnings` and `remarks`, and beside them their codes. Sentences of results
//! without codes are recognised by their words.

use std::fmt;

use crate::RunResult;

/// What a warning or remark says. Its words have holes, in which the numbers and causes stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemarkCode {
    /// Percent, slowed groups, groups.
    CoreSpeedMoved,
    /// Why.
    NoCycles,
    /// Why.
    NoKernelEntry,
    /// Why.
    ClockStepAssumed,
    /// How.
    KeptAwake,
    /// Why.
    NotKeptAwake,
    /// What, from what, to what.
    Changed,
    /// Seconds.
    Slept,
    /// Seconds, why, what to do.
    CutOff,
    /// Another run measured at the same time.
    AnotherRun,
    /// The result is of a journal.
    Killed,
    /// Of a journal that another build began.
    AnotherBuild,
    /// The build does not align loops as oscost's own does.
    OtherLoops,
    /// By few system calls.
    Plain,
    /// The vDSO answered.
    KernelNotEntered,
    /// How many, and the first failure.
    LaunchesThrownAway,
    /// How many, and the last reason.
    LaunchesVoid,
    /// The cgroup's quota stopped launches.
    Throttled,
    /// Percent of a batch.
    ClockStepTooLong,
    /// What could not be read.
    Unread,
    /// The failure.
    ForeignFailed,
    /// Why, and what to do.
    NotRealTime,
    /// What the load does.
    Load,
}

use RemarkCode::{
    AnotherBuild, AnotherRun, Changed, ClockStepAssumed, ClockStepTooLong, CoreSpeedMoved, CutOff,
    ForeignFailed, KeptAwake, KernelNotEntered, Killed, LaunchesThrownAway, LaunchesVoid, Load, NoCycles,
    NoKernelEntry, NotKeptAwake, NotRealTime, OtherLoops, Plain, Slept, Throttled, Unread,
};

/// Every code with its words. A code never changes its meaning, and is never used again. Runs have the first hundred.
const SAID: [(RemarkCode, &str, &str); 23] = [
    (
        CoreSpeedMoved,
        "W001",
        "the core ran up to {} % slower in some launches (in {} of {} groups; its frequency, or a busy sibling). Floors \
         that reached full speed are right; typical values may be that much too high",
    ),
    (NoCycles, "W002", "no cost is given in cycles: {}"),
    (NoKernelEntry, "W003", "no bare kernel entry was measured: {}"),
    (ClockStepAssumed, "W004", "the clock's step could not be measured ({}): 10 ns is assumed"),
    (KeptAwake, "W005", "idle CPUs were kept awake (--idle-cpu poll): {}"),
    (AnotherRun, "W006", "measured while another run was measuring (--force)"),
    (Killed, "W007", "the run was killed: its figures use only the launches in its journal"),
    (AnotherBuild, "W008", "another build of oscost began this run: every figure is taken as revision 1"),
    (
        OtherLoops,
        "W009",
        "this build aligns loops differently (-Cllvm-args=-align-loops=64 is missing): typical may move between builds",
    ),
    (
        Plain,
        "W010",
        "measured by few system calls (--plain): none was counted, workers were not isolated, and nobody examined the machine",
    ),
    (
        NotKeptAwake,
        "W011",
        "a CPU that is woken could not be kept awake, and figures have the price of one that sleeps: {}",
    ),
    (Changed, "W012", "during the run, {} changed from {} to {}: figures mix both"),
    (
        Slept,
        "W013",
        "the run was stopped for {} s (Ctrl-Z, SIGSTOP or a suspended machine): that time does not count",
    ),
    (CutOff, "W014", "the run was cut off after {} s{}, before every figure had its launches: {}"),
    (KernelNotEntered, "W101", "answered without entering the kernel"),
    (LaunchesThrownAway, "W102", "{} launches were thrown away: {}"),
    (LaunchesVoid, "W103", "{} launches were void: {}"),
    (Throttled, "W104", "a CPU quota stopped launches"),
    (ClockStepTooLong, "W105", "one step of the clock is {} % of a batch: the price may be off by as much"),
    (Unread, "W106", "unchecked: it is unknown {}"),
    (ForeignFailed, "W107", "launches failed: {}"),
    (NotRealTime, "W108", "not real-time: {}"),
    (Load, "W109", "load: {}"),
];

/// Words that codes once had: sentences of older results.
const FORMER: [(RemarkCode, &str); 8] = [
    (
        CoreSpeedMoved,
        "the core ran up to {} % slower in some launches (in {} of {} groups; its frequency, or a busy sibling). Floors \
         that reached full speed are right; typical values are too high",
    ),
    (
        CoreSpeedMoved,
        "the core ran up to {} % slower in some launches than in others, in {} of {} groups (its frequency, or a busy \
         sibling): floors hold as far as full speed was reached, typical does not",
    ),
    (NoCycles, "nothing is told in cycles: {}"),
    (Killed, "the run was killed: figures rest on the launches that its journal holds"),
    (AnotherBuild, "another build of oscost began this run: revision 1 is assumed of every figure"),
    (
        ClockStepTooLong,
        "one step of the clock is {} % of a batch: the operation is too long for a batch of many",
    ),
    (
        ClockStepTooLong,
        "one step of the clock is {} % of a batch: the operation takes too long to put many into a batch",
    ),
    (Unread, "unchecked: it could not be read {}"),
];

/// A hole in the words.
const HOLE: &str = "{}";

impl RemarkCode {
    /// As results have it ("W001").
    #[must_use]
    pub fn name(self) -> &'static str {
        self.said().0
    }

    fn said(self) -> (&'static str, &'static str) {
        let found = SAID.iter().find(|(code, ..)| *code == self);
        found.map(|(_, name, words)| (*name, *words)).expect("a test finds every code in the table")
    }

    /// The code of a warning or remark; `None` of what a card or another program says.
    #[must_use]
    pub fn of(remark: &str) -> Option<Self> {
        let former = || FORMER.iter().find(|(_, words)| Self::holes_of(words, remark).is_some());
        let now = SAID.iter().map(|(code, ..)| *code).find(|code| code.holes(remark).is_some());
        now.or_else(|| former().map(|(code, _)| *code))
    }

    /// The code of this name ("W001").
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        SAID.iter().find(|(_, known, _)| known.eq_ignore_ascii_case(name)).map(|(code, ..)| *code)
    }

    /// Its words, three dots for each hole.
    #[must_use]
    pub fn words(self) -> String {
        self.said().1.replace(HOLE, "...")
    }

    /// Every code, in their order.
    pub fn all() -> impl Iterator<Item = Self> {
        SAID.iter().map(|(code, ..)| *code)
    }

    /// The words with these in their holes.
    #[must_use]
    pub fn with(self, holes: &[&dyn fmt::Display]) -> String {
        let mut holes = holes.iter();
        let mut parts = self.said().1.split(HOLE);
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            text.extend(holes.next().map(ToString::to_string));
            text.push_str(part);
        }
        match text.strip_prefix("1 launches were ") {
            Some(rest) => format!("1 launch was {rest}"),
            None => text,
        }
    }

    /// What stands in the holes of a remark, if it is one of this code.
    #[must_use]
    pub fn holes(self, remark: &str) -> Option<Vec<&str>> {
        let of_many = self.said().1;
        let of_one = || of_many.replacen("launches were", "launch was", 1);
        Self::holes_of(of_many, remark).or_else(|| Self::holes_of(&of_one(), remark))
    }

    fn holes_of<'r>(words: &str, remark: &'r str) -> Option<Vec<&'r str>> {
        let mut parts = words.split(HOLE);
        let mut rest = remark.strip_prefix(parts.next()?)?;
        let mut holes = Vec::new();
        let mut parts = parts.peekable();
        while let Some(part) = parts.next() {
            // The last part is the end, whatever stands before it.
            let last = parts.peek().is_none();
            let end = || rest.strip_suffix(part).map(str::len);
            let at = if last { end() } else { rest.find(part) }?;
            holes.push(&rest[..at]);
            rest = &rest[at + part.len()..];
        }
        rest.is_empty().then_some(holes)
    }
}

fn codes(said: &[String]) -> Vec<String> {
    let name = |remark: &String| RemarkCode::of(remark).map_or("", RemarkCode::name).to_owned();
    said.iter().map(name).collect()
}

impl RunResult {
    /// Puts the codes beside the warnings and remarks. Call it for a new result; a result that was read keeps its own codes.
    pub fn add_codes(&mut self) {
        self.warning_codes = codes(&self.warnings);
        for figure in &mut self.figures {
            figure.remark_codes = codes(&figure.remarks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_of_an_older_result_is_known() {
        for (code, words) in FORMER {
            assert_eq!(RemarkCode::of(&words.replace(HOLE, "3")), Some(code), "{words}");
            assert_ne!(code.said().1, words, "a former word is no present one");
        }
    }

    #[test]
    fn every_remark_is_known_by_its_words_and_tells_what_was_put_in() {
        for (index, (code, name, words)) in SAID.into_iter().enumerate() {
            let holes: Vec<String> =
                (0..words.matches(HOLE).count()).map(|hole| format!("{hole}. {code:?}: x % y")).collect();
            let shown: Vec<&dyn fmt::Display> = holes.iter().map(|hole| hole as &dyn fmt::Display).collect();
            let remark = code.with(&shown);
            assert_eq!(RemarkCode::of(&remark), Some(code), "{remark}");
            assert_eq!(RemarkCode::named(&name.to_ascii_lowercase()), Some(code));
            let parts: Vec<&str> = words.split(HOLE).collect();
            assert_eq!(code.words(), parts.join("..."));
            assert_eq!(code.holes(&remark), Some(holes.iter().map(String::as_str).collect()), "{remark}");
            assert!(SAID[..index].iter().all(|known| known.1 < name), "{name} stands in order, and once");
        }
    }

    #[test]
    fn one_launch_was_and_two_were() {
        let said = |count: u32| LaunchesVoid.with(&[&count, &"it slept"]);
        assert_eq!([said(1), said(2)], ["1 launch was void: it slept", "2 launches were void: it slept"]);
        for remark in [said(1), "1 launches were void: it slept".to_owned()] {
            assert_eq!(RemarkCode::of(&remark), Some(LaunchesVoid), "{remark}");
            assert_eq!(LaunchesVoid.holes(&remark), Some(vec!["1", "it slept"]));
        }
    }

    #[test]
    fn what_others_say_has_no_code() {
        for words in
            ["", "load", "a CPU quota stopped launches twice", "the core ran up to 3 % slower", "4 launches"]
        {
            assert_eq!(RemarkCode::of(words), None, "{words}");
        }
    }

    #[test]
    fn codes_stand_beside_the_words_of_a_new_result_alone() {
        let sample = include_bytes!("../tests/samples/v2.json");
        let mut result = crate::from_bytes(sample).unwrap();
        assert!(
            result.warning_codes.is_empty()
                && result.figures.iter().all(|figure| figure.remark_codes.is_empty())
        );
        result.warnings = vec![NoCycles.with(&[&"an emulator"]), "of somebody else".to_owned()];
        result.figures[0].remarks = vec![Throttled.with(&[])];
        result.add_codes();
        let again = crate::from_bytes(&crate::to_bytes(&result).unwrap()).unwrap();
        assert_eq!(again.warning_codes, ["W002", ""]);
        assert_eq!(again.figures[0].remark_codes, ["W104"]);
        let mut later = serde_json::to_value(&result).unwrap();
        later["warning_codes"] = serde_json::json!(["W999"]);
        let later: RunResult = serde_json::from_value(later).unwrap();
        assert_eq!(later.warning_codes, ["W999"], "a code of a later version is kept");
    }
}
