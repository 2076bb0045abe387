//! Compares our figures with those of other tools, and decides whether they agree.

use oscost_results::Estimate;

use crate::numbers;

/// Ratios within this of 1 agree.
const AGREES: f64 = 0.05;

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
    /// Our figure, if there is one of that meaning, or why it was not measured.
    pub ours: Option<(String, Result<Side, String>)>,
    /// Peer by ours, over the launches of one rotation.
    pub ratio: Option<Estimate>,
    /// What failed of the peer's launches beside those that gave a figure; empty if nothing did.
    pub failures: String,
    /// What rounding takes from the peer's figure at most, ns; 0 where its digits are no matter.
    pub step: f64,
    /// Why the two may differ although nobody is wrong.
    pub differs: String,
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
        let ours = self.ours.as_ref()?.1.as_ref().ok()?;
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
        match (&self.found, &self.ours, self.best()) {
            (Err(why), ..) => why.clone(),
            (_, None, _) => format!("nothing of ours: {}", self.differs),
            (_, Some((_, Err(why))), _) => format!("ours: {why}"),
            (.., Some(best)) if (best - 1.0).abs() <= AGREES => "agrees".to_owned(),
            (Ok(peer), Some((_, Ok(ours))), _) if self.within_step(peer.best, ours.best) => {
                format!("agrees within its digits: rounding removes up to {}", numbers::duration(self.step))
            }
            _ if self.differs.is_empty() => "differs, for an unknown reason".to_owned(),
            _ => format!("differs: {}", self.differs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(best: f64) -> Side {
        let quoted = Estimate { value: best * 1.1, low: best, high: best * 1.2, extremes: false };
        Side { quoted, best, spread: 0.2, seconds: 1.5, launches: 7 }
    }

    fn row(found: Result<Side, String>, ours: Option<Result<Side, String>>) -> Agreement {
        Agreement {
            peer: "perf/x".into(),
            version: "perf version 6.1 \u{1b}[31m".into(),
            measures: "a thing".into(),
            conversion: "x 1000".into(),
            found,
            ours: ours.map(|ours| ("syscall/getppid".into(), ours)),
            ratio: None,
            failures: String::new(),
            step: 0.0,
            differs: "a mean".into(),
        }
    }

    #[test]
    fn agreement_is_of_the_best_repeats() {
        assert_eq!(row(Ok(side(104.0)), Some(Ok(side(100.0)))).verdict(), "agrees");
        assert_eq!(row(Ok(side(106.0)), Some(Ok(side(100.0)))).verdict(), "differs: a mean");
        assert_eq!(row(Ok(side(1.0)), None).verdict(), "nothing of ours: a mean");
        assert_eq!(row(Err("did not end".into()), Some(Ok(side(1.0)))).verdict(), "did not end");
        assert_eq!(row(Ok(side(1.0)), Some(Err("unsupported".into()))).verdict(), "ours: unsupported");
        let silent = Agreement { differs: String::new(), ..row(Ok(side(2.0)), Some(Ok(side(1.0)))) };
        assert!(silent.verdict().contains("unknown reason"));
        let whole = Agreement { step: 1000.0, ..row(Ok(side(1000.0)), Some(Ok(side(1900.0)))) };
        assert!(whole.verdict().starts_with("agrees within its digits"), "{}", whole.verdict());
        let beyond = Agreement { step: 1000.0, ..row(Ok(side(1000.0)), Some(Ok(side(2200.0)))) };
        assert_eq!(beyond.verdict(), "differs: a mean");
        let failures = "launches failed: launch: did not end".to_owned();
        let marked = Agreement { failures, ..row(Ok(side(104.0)), Some(Ok(side(100.0)))) };
        assert_eq!(marked.verdict(), "agrees (launches failed: launch: did not end)");
    }

    #[test]
    fn agreement_ends_at_five_per_cent_and_at_the_step() {
        let of = |peer: f64, ours: f64, step: f64| {
            let row = Agreement { step, ..row(Ok(side(peer)), Some(Ok(side(ours)))) };
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
    }
}
