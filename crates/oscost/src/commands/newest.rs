//! The two runs that `oscost compare` takes where nobody names any.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use oscost_report::compare::{incomparable, left_out};
use oscost_results::{Outline, OutlineFigure, RunResult, Status, Store};

use crate::exit::Ended;
use crate::output::Talk;
use crate::words;

/// Outlines that are read at first: most often the two are among them.
const FIRST: usize = 24;
/// So many are read at most where a worse pair is known.
const MOST: usize = 500;
/// Runs that are named where several are skipped for one reason.
const NAMED: usize = 3;
/// What is said of runs of one machine that are passed by.
const LITTLE_IN_COMMON: &str = "few figures or none in common";
/// What is said of a run without a number.
const NOTHING: &str = "nothing was measured";

/// The newest run of the store that can be held against an older one, by figures that `only` finds, and that older one: the newest
/// that has half of these figures, or else any. What was passed by is said.
pub fn newest_pair(
    store: &Store,
    only: &[String],
    talk: &Talk,
) -> Result<(Vec<String>, Vec<RunResult>), Ended> {
    let mut paths = store.runs().map_err(Ended::misuse)?;
    paths.reverse();
    let mut runs: Vec<(usize, Outline)> = Vec::new();
    // How far back, and why it cannot be read.
    let mut damaged: Vec<(usize, String)> = Vec::new();
    let mut read = 0;
    // Outlines are read until the newest run has its older one: as many again each time.
    let found = loop {
        let more = read.max(FIRST).min(paths.len() - read);
        let outlines = oscost_results::load_outlines_of(&paths[read..read + more]);
        // Both are in the order of their paths.
        let (mut whole, mut unusable) = (outlines.runs.into_iter().peekable(), outlines.unusable.into_iter());
        for (place, path) in paths.iter().enumerate().skip(read).take(more) {
            match whole.next_if(|(of, _)| of == path) {
                Some((_, run)) => runs.push((place + 1, run)),
                None => damaged.extend(unusable.next().map(|error| (place + 1, format!("skipped: {error}")))),
            }
        }
        read += more;
        let of_all = runs.iter().flat_map(|(_, run)| &run.figures);
        let ids: BTreeSet<&str> = of_all.map(|figure| figure.id.as_str()).collect();
        let found = only.iter().filter_map(|typed| words::meant(typed, &ids)).flat_map(|(_, found)| found);
        let asked: Option<BTreeSet<&str>> = (!only.is_empty()).then(|| found.collect());
        let found = Search::of(&runs, asked.as_ref());
        if found.is_good || read == paths.len() || read >= MOST && found.pair.is_some() {
            if asked.is_some_and(|asked| asked.is_empty()) && !ids.is_empty() {
                words::only(only, &ids, talk)?;
            }
            break found;
        }
    };
    let last = found.pair.map_or(paths.len(), |(_, older)| runs[older].0);
    damaged.iter().filter(|(back, _)| *back < last).for_each(|(_, words)| talk.say(words));
    let Some((newer, older)) = found.pair else {
        return Err(Ended::misuse(
            "no two stored runs can be compared: two are needed, of one machine, with a figure in common (oscost report @all)",
        ));
    };
    found.passed(&runs, newer, older).iter().for_each(|words| talk.say(words));
    let mut both = Vec::new();
    for place in [older, newer] {
        let (back, outline) = &runs[place];
        let time = outline.started.get(..16).unwrap_or_default().replace('T', " ");
        let result = oscost_results::load(&paths[back - 1]).map_err(Ended::misuse)?;
        both.push((format!("@-{back} {time}"), result));
    }
    Ok(both.into_iter().unzip())
}

/// Of each id and revision the places of the runs that have it; a bill has its program.
type Places<'r> = BTreeMap<(Cow<'r, str>, u32), Vec<usize>>;

/// What a search among runs, the newest first, found; all are places in their list.
struct Search {
    /// The newest run that has an older one to be held against, and that one.
    pair: Option<(usize, usize)>,
    /// It is the newest run of all, and has half of its figures in common with the other: to read on finds no better one.
    is_good: bool,
    /// Runs with a figure that was asked for; where none was, also bills.
    holding: Vec<usize>,
}

impl Search {
    fn of(runs: &[(usize, Outline)], asked: Option<&BTreeSet<&str>>) -> Self {
        let mut found = Self { pair: None, is_good: false, holding: Vec::new() };
        // By kind, machine and method. The runs are gone through once.
        let mut groups: Vec<(&Outline, Places<'_>)> = Vec::new();
        let mut held = Vec::new();
        for (place, (_, run)) in runs.iter().enumerate() {
            let is_asked = |id: &str| asked.is_none_or(|asked| asked.contains(id));
            let is_there = |it: &&OutlineFigure| it.status == Status::Measured && is_asked(&it.id);
            let program = run.bill.iter().filter(|_| asked.is_none()).map(|bill| bill.program.join(" "));
            let figures = run.figures.iter().filter(is_there).map(|it| (Cow::Borrowed(&*it.id), it.revision));
            let figures: Vec<_> = figures.chain(program.map(|words| (Cow::Owned(words), 0))).collect();
            if figures.is_empty() {
                continue;
            }
            found.holding.push(place);
            let of_run = groups.iter().position(|(first, _)| incomparable(*first, run).is_none());
            let group = of_run.unwrap_or_else(|| {
                groups.push((run, BTreeMap::new()));
                groups.len() - 1
            });
            for figure in &figures {
                groups[group].1.entry(figure.clone()).or_default().push(place);
            }
            held.push((place, group, figures));
        }
        for (newer, group, figures) in held {
            let mut common: BTreeMap<usize, usize> = BTreeMap::new();
            for place in figures.iter().flat_map(|figure| &groups[group].1[figure]).filter(|it| **it > newer)
            {
                *common.entry(*place).or_default() += 1;
            }
            let half = common.iter().find(|(_, count)| **count * 2 >= figures.len());
            if let Some((older, _)) = half.or_else(|| common.iter().next()) {
                found.pair = Some((newer, *older));
                found.is_good = half.is_some() && found.holding.first() == Some(&newer);
                break;
            }
        }
        found
    }

    /// What stands before the two in the list, or between them, and why it is not taken: a line a reason.
    fn passed(&self, runs: &[(usize, Outline)], newer: usize, older: usize) -> Vec<String> {
        let mut whys: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut kinds = Vec::new();
        let newest = &runs[newer].1;
        for (place, (back, run)) in runs[..older].iter().enumerate().filter(|(place, _)| *place != newer) {
            let is_held = self.holding.contains(&place);
            let why = incomparable(run, newest);
            let is_other = kind(run) != kind(newest);
            let why = match (place < newer, run.bill.is_some()) {
                // Of what lies between, other kinds are counted.
                (false, _) if is_other => {
                    kinds.extend(why.filter(|_| kind(run) != [false; 2]));
                    continue;
                }
                (_, false) if !is_held && run.figures.iter().all(|it| it.status != Status::Measured) => {
                    NOTHING.to_owned()
                }
                _ if !is_held => continue,
                (true, true) if is_other || why.is_none() => {
                    "there is no older bill of its program".to_owned()
                }
                (true, false) if is_other => format!("{LITTLE_IN_COMMON} with an older run"),
                (false, true) if why.is_none() => "of another program".to_owned(),
                (before, _) => why.map_or_else(
                    || {
                        let with = format!("@-{}", runs[newer].0);
                        let with = if before { "an older run" } else { &with };
                        format!("{LITTLE_IN_COMMON} with {with}")
                    },
                    str::to_owned,
                ),
            };
            whys.entry(why).or_default().push(format!("@-{back}"));
        }
        let skipped = whys.into_iter().map(|(why, names)| {
            let more = names.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let are = if names.len() == 1 { "is" } else { "are" };
            format!("{}{more} {are} skipped: {why}", names[..names.len().min(NAMED)].join(", "))
        });
        let kinds = left_out(kinds);
        let kinds = (!kinds.is_empty()).then(|| format!("left out: {kinds}"));
        skipped.chain(kinds).collect()
    }
}

/// Whether it is a bill, and whether it holds counts: else it holds times.
fn kind(run: &Outline) -> [bool; 2] {
    [run.bill.is_some(), run.conditions.emulation.is_some()]
}

#[cfg(test)]
mod tests {
    use oscost_results::bill::Bill;

    use super::*;

    /// A run of these ids; an empty list is a bill of a program that is called as the machine.
    fn run(machine: &str, ids: &[&str]) -> Outline {
        let bare = oscost_results::from_bytes(include_bytes!("../../../results/tests/samples/v2.json"));
        let mut result = bare.expect("a sample");
        result.machine.cpu_model = machine.to_owned();
        let mut figure = result.figures.remove(0);
        figure.status = Status::Measured;
        let program = vec!["sh".to_owned(), machine.to_owned()];
        result.bill = ids.is_empty().then(|| Box::new(Bill { program, ..Bill::default() }));
        if result.bill.is_some() {
            result.machine.cpu_model = "x".to_owned();
        }
        let named = |id: &&str| oscost_results::Figure { id: (*id).to_owned(), ..figure.clone() };
        result.figures = ids.iter().map(named).collect();
        let bytes = oscost_results::to_bytes(&result).expect("JSON");
        oscost_results::outline_from_bytes(&bytes).expect("a result")
    }

    #[test]
    fn a_run_of_few_ids_hides_no_older_run() {
        let (bare, one, other) = (["a", "b"], ["c"], ["d"]);
        let found = |runs: &[(&str, &[&str])], asked: Option<&[&str]>| {
            let runs: Vec<(usize, Outline)> =
                runs.iter().zip(1..).map(|((machine, ids), back)| (back, run(machine, ids))).collect();
            let asked = asked.map(|asked| asked.iter().copied().collect());
            let found = Search::of(&runs, asked.as_ref());
            let (newer, older) = found.pair?;
            Some((newer + 1, older + 1, found.passed(&runs, newer, older)))
        };
        let between = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let runs: [(&str, &[&str]); 7] =
            [("x", &bare), ("x", &one), ("y", &bare), ("x", &[]), ("x", &one), ("x", &bare), ("x", &bare)];
        let passed = between(&[
            "@-2, @-5 are skipped: few figures or none in common with @-1",
            "@-3 is skipped: of another machine",
            "left out: 1 bill",
        ]);
        assert_eq!(found(&runs, None), Some((1, 6, passed)));
        assert_eq!(found(&runs, Some(&["c"])), Some((2, 5, between(&["left out: 1 bill"]))));
        assert_eq!(found(&runs, Some(&["d"])), None);
        // One figure of three is in common with the run before, and all with an older one.
        let three: [(&str, &[&str]); 3] = [("x", &["a", "b", "c"]), ("x", &one), ("x", &["a", "b", "c"])];
        let passed = between(&["@-2 is skipped: few figures or none in common with @-1"]);
        assert_eq!(found(&three, None), Some((1, 3, passed)));
        assert_eq!(found(&three[..2], None), Some((1, 2, between(&[]))), "better than nothing");
        // The newest one has nothing in common with any.
        let lonely: [(&str, &[&str]); 4] = [("x", &other), ("y", &bare), ("x", &one), ("x", &one)];
        let passed = between(&[
            "@-1 is skipped: few figures or none in common with an older run",
            "@-2 is skipped: of another machine",
        ]);
        assert_eq!(found(&lonely, None), Some((3, 4, passed)));
        // The newest is a bill: of the same program there is an older one, whatever lies between.
        let bills: [(&str, &[&str]); 4] = [("x", &[]), ("x", &bare), ("x", &[]), ("x", &bare)];
        assert_eq!(found(&bills, None), Some((1, 3, between(&[]))));
        // A run before two bills is told of, and so is a bill of another program.
        let first: [(&str, &[&str]); 4] = [("x", &bare), ("y", &[]), ("x", &[]), ("x", &[])];
        let passed = between(&[
            "@-1 is skipped: few figures or none in common with an older run",
            "@-2 is skipped: there is no older bill of its program",
        ]);
        assert_eq!(found(&first, None), Some((3, 4, passed)));
        assert_eq!(found(&bills, Some(&["a"])), Some((2, 4, between(&["left out: 1 bill"]))));
    }
}
