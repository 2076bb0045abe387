//! Compares our figures with those of other tools, and decides whether they agree.

use oscost_results::Estimate;

use crate::numbers;

/// Ratios within this of 1 agree.
const AGREES: f64 = 0.05;

/// Why a peer's figure may differ from ours although nobody is wrong, and whether that can make it the larger or the smaller one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reason {
    words: &'static str,
    larger: bool,
    smaller: bool,
}

impl Reason {
    /// The meaning is the same.
    pub const NONE: Self = Self::new("", false, false);

    /// The peer's can be the larger one.
    #[must_use]
    pub const fn larger(words: &'static str) -> Self {
        Self::new(words, true, false)
    }

    /// The peer's can be the smaller one.
    #[must_use]
    pub const fn smaller(words: &'static str) -> Self {
        Self::new(words, false, true)
    }

    /// It can be either.
    #[must_use]
    pub const fn either(words: &'static str) -> Self {
        Self::new(words, true, true)
    }

    const fn new(words: &'static str, larger: bool, smaller: bool) -> Self {
        Self { words, larger, smaller }
    }
}

/// One measurement of a peer, beside ours.
#[derive(Debug, Clone)]
pub struct Agreement {
    /// "perf/bench_sched_pipe".
    pub peer: String,
    /// Name and version of the tool; empty where it is not here.
    pub version: String,
    /// What its number is the cost of.
    pub measures: String,
    /// How it becomes ours, in words.
    pub conversion: String,
    /// What it gave, or why there is nothing.
    pub found: Result<Side, String>,
    /// Our figure of that meaning, or why it was not measured.
    pub ours: (String, Result<Side, String>),
    /// Peer by ours, over the launches of one rotation.
    pub ratio: Option<Estimate>,
    /// What failed of the peer's launches beside those that gave a figure; empty if nothing did.
    pub failures: String,
    /// What rounding takes from the peer's figure at most, ns; 0 where its digits are no matter.
    pub step: f64,
    /// Why the two may differ although nobody is wrong.
    pub differs: Reason,
}

/// A figure of either side.
#[derive(Debug, Clone, Copy)]
pub struct Side {
    /// What is quoted, ns: ours the headline, the peer's the median of its launches.
    pub quoted: Estimate,
    /// Least of the launches, ns.
    pub best: f64,
    /// Largest launch by the least, minus 1.
    pub spread: f64,
    /// Time of all launches, s: each from its start to the next one's.
    pub seconds: f64,
    /// How many launches gave a number.
    pub launches: usize,
}

impl Agreement {
    /// The peer's best repeat by ours, if both are there.
    pub(crate) fn best(&self) -> Option<f64> {
        let ours = self.ours.1.as_ref().ok()?;
        Some(self.found.as_ref().ok()?.best / ours.best)
    }

    /// Whether ours is what the peer's was rounded down from, give or take what agreement allows.
    fn within_step(&self, peer: f64, ours: f64) -> bool {
        self.step > 0.0 && (peer * (1.0 - AGREES)..(peer + self.step) * (1.0 + AGREES)).contains(&ours)
    }

    /// What is to be said of the pair, in words.
    pub(crate) fn verdict(&self) -> String {
        let verdict = self.of_figures();
        if self.failures.is_empty() { verdict } else { format!("{verdict} ({})", self.failures) }
    }

    fn of_figures(&self) -> String {
        let (peer, ours) = match (&self.found, &self.ours.1) {
            (Err(why), _) => return why.clone(),
            (_, Err(why)) => return format!("ours: {why}"),
            (Ok(peer), Ok(ours)) => (peer, ours),
        };
        if (peer.best / ours.best - 1.0).abs() <= AGREES {
            return "agrees".to_owned();
        }
        if self.within_step(peer.best, ours.best) {
            return format!(
                "agrees within its digits: rounding removes up to {}",
                numbers::duration(self.step)
            );
        }
        // What was rounded away belongs to the peer's: the ratio may be so much higher.
        let may_be_one = |it: Estimate| it.low <= 1.0 && it.high * (1.0 + self.step / peer.best) >= 1.0;
        if self.ratio.is_some_and(may_be_one) {
            let spread = numbers::percent(peer.spread.max(ours.spread));
            return format!("cannot tell: the launches scatter by {spread}, and the ratio may be 1");
        }
        let Reason { words, larger, smaller } = self.differs;
        let is_larger = peer.best > ours.best;
        if if is_larger { larger } else { smaller } {
            return format!("differs: {words}");
        }
        // Rounding down has a size, and here it is too small, or of the other sign.
        let digits = if self.step > 0.0 && !is_larger {
            format!(", beyond the {} that rounding removes", numbers::duration(self.step))
        } else {
            String::new()
        };
        let (it_is, other) = if is_larger { ("larger", "smaller") } else { ("smaller", "larger") };
        let known = match words {
            "" => String::new(),
            words => format!(": it is the {it_is} one, and what is known makes it {other} ({words})"),
        };
        format!("differs{digits}, for an unknown reason{known}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(best: f64) -> Side {
        let quoted = Estimate { value: best * 1.1, low: best, high: best * 1.2, extremes: false };
        Side { quoted, best, spread: 0.2, seconds: 1.5, launches: 7 }
    }

    fn row(found: Result<Side, String>, ours: Result<Side, String>) -> Agreement {
        Agreement {
            peer: "perf/x".into(),
            version: "perf version 6.1 \u{1b}[31m".into(),
            measures: "a thing".into(),
            conversion: "x 1000".into(),
            found,
            ours: ("syscall/getppid".into(), ours),
            ratio: None,
            failures: String::new(),
            step: 0.0,
            differs: Reason::either("a mean"),
        }
    }

    #[test]
    fn agreement_is_of_the_best_repeats() {
        assert_eq!(row(Ok(side(104.0)), Ok(side(100.0))).verdict(), "agrees");
        assert_eq!(row(Ok(side(106.0)), Ok(side(100.0))).verdict(), "differs: a mean");
        assert_eq!(row(Err("did not end".into()), Ok(side(1.0))).verdict(), "did not end");
        assert_eq!(row(Ok(side(1.0)), Err("unsupported".into())).verdict(), "ours: unsupported");
        let silent = Agreement { differs: Reason::NONE, ..row(Ok(side(2.0)), Ok(side(1.0))) };
        assert!(silent.verdict().contains("unknown reason"));
        let whole = Agreement { step: 1000.0, ..row(Ok(side(1000.0)), Ok(side(1900.0))) };
        assert!(whole.verdict().starts_with("agrees within its digits"), "{}", whole.verdict());
        let beyond = Agreement { step: 1000.0, ..row(Ok(side(1000.0)), Ok(side(2200.0))) };
        assert_eq!(beyond.verdict(), "differs: a mean");
        let failures = "launches failed: launch: did not end".to_owned();
        let marked = Agreement { failures, ..row(Ok(side(104.0)), Ok(side(100.0))) };
        assert_eq!(marked.verdict(), "agrees (launches failed: launch: did not end)");
    }

    /// The same reason, on both sides of 1: only where it can be the cause it is given as the cause.
    #[test]
    fn a_reason_fits_the_sign_of_the_difference() {
        for (differs, larger, smaller) in [
            (Reason::larger("cold"), true, false),
            (Reason::smaller("warm"), false, true),
            (Reason::either("crowds"), true, true),
            (Reason::NONE, false, false),
        ] {
            for (peer, fits) in [(150.0, larger), (60.0, smaller)] {
                let verdict = Agreement { differs, ..row(Ok(side(peer)), Ok(side(100.0))) }.verdict();
                assert_eq!(verdict == format!("differs: {}", differs.words), fits, "{verdict}");
                assert_eq!(verdict.contains("for an unknown reason"), !fits, "{verdict}");
            }
        }
        // Rounding down explains what its step does, and nothing of the other sign.
        let rounds = |peer: f64, ours: f64| {
            let row = row(Ok(side(peer)), Ok(side(ours)));
            Agreement { step: 2000.0, differs: Reason::NONE, ..row }.verdict()
        };
        assert!(rounds(27e3, 29e3).starts_with("agrees within its digits"));
        assert_eq!(
            rounds(27e3, 37e3),
            "differs, beyond the 2.00 us that rounding removes, for an unknown reason"
        );
        assert_eq!(rounds(27e3, 23e3), "differs, for an unknown reason");
    }

    #[test]
    fn where_the_ratio_may_be_one_nothing_differs() {
        let verdict = |low: f64, high: f64, step: f64| {
            let ratio = Some(Estimate { value: (low + high) / 2.0, low, high, extremes: true });
            Agreement { ratio, step, ..row(Ok(side(118.0)), Ok(side(100.0))) }.verdict()
        };
        for (low, high) in [(0.767, 1.22), (1.0, 1.3), (0.5, 1.0)] {
            assert!(
                verdict(low, high, 0.0).starts_with("cannot tell: the launches scatter by 20 %"),
                "{low} {high}"
            );
        }
        for (low, high) in [(1.001, 1.3), (0.5, 0.999)] {
            assert_eq!(verdict(low, high, 0.0), "differs: a mean", "{low} {high}");
        }
        // The peer's digits may hide as much.
        assert!(verdict(0.5, 0.9, 30.0).starts_with("cannot tell"));
        assert_eq!(verdict(0.5, 0.9, 10.0), "differs: a mean", "not so much");
        let scattered = |peer: f64, ours: f64| {
            let side = |best, spread| Ok(Side { spread, ..side(best) });
            let ratio = Some(Estimate { value: 1.0, low: 0.8, high: 1.2, extremes: true });
            Agreement { ratio, ..row(side(118.0, peer), side(100.0, ours)) }.verdict()
        };
        for verdict in [scattered(0.3, 0.1), scattered(0.1, 0.3)] {
            assert_eq!(verdict, "cannot tell: the launches scatter by 30 %, and the ratio may be 1");
        }
    }

    #[test]
    fn agreement_ends_at_five_per_cent_and_at_the_step() {
        let of = |peer: f64, ours: f64, step: f64| {
            let row = Agreement { step, ..row(Ok(side(peer)), Ok(side(ours))) };
            row.verdict()
        };
        assert_eq!((of(95.1, 100.0, 0.0), of(94.9, 100.0, 0.0)), ("agrees".into(), "differs: a mean".into()));
        assert_eq!(
            (of(104.9, 100.0, 0.0), of(105.1, 100.0, 0.0)),
            ("agrees".into(), "differs: a mean".into())
        );
        let within = |ours: f64| of(1000.0, ours, 1000.0).starts_with("agrees within its digits");
        // Rounded down from up to 2000, and five per cent either way.
        assert_eq!([940.0, 1100.0, 2099.0, 2101.0].map(within), [false, true, true, false]);
        assert!(of(1000.0, 1500.0, 1000.0).contains("rounding removes up to 1.00 us"));
        assert_eq!(of(1000.0, 1500.0, 0.0), "differs: a mean");
        assert!(within(951.0) && !within(949.0));
        assert_eq!(of(1000.0, 951.0, 0.0), "differs: a mean", "without a step there are no digits");
        let unknown = Agreement { differs: Reason::NONE, ..row(Ok(side(60.0)), Ok(side(100.0))) };
        assert_eq!(unknown.verdict(), "differs, for an unknown reason");
        let other = Agreement { differs: Reason::larger("cold"), ..unknown };
        let words =
            "differs, for an unknown reason: it is the smaller one, and what is known makes it larger (cold)";
        assert_eq!(other.verdict(), words);
        let turned = Agreement { differs: Reason::smaller("warm"), ..row(Ok(side(150.0)), Ok(side(100.0))) };
        let words =
            "differs, for an unknown reason: it is the larger one, and what is known makes it smaller (warm)";
        assert_eq!((turned.verdict().as_str(), turned.best()), (words, Some(1.5)));
        assert_eq!(row(Err("no".into()), Ok(side(1.0))).best(), None);
    }
}
