//! Finds quiet windows, compared with the machine's best, and what operations cost in them. METHOD.md, Quiet windows.

use oscost_results::CoreConstants;
use oscost_stats::quantile::{median, sorted};
use oscost_stats::windows::lowest_level;

use crate::protocol::core::known_steps;
use crate::protocol::message::{Launched, Windows};

/// A window is quiet if its throughput loop is within 1 % of the machine's best: a busy sibling costs it 10 % and more.
const LIMIT: f64 = 0.01;
/// So many windows must have seen a best, or it is none.
const SUPPORT: usize = 25;
/// So many quiet windows are enough for a figure.
pub(crate) const ENOUGH: usize = 40;
/// A throughput loop this much faster than what its processor is known for is no better best, but a chain that was disturbed.
const WILD: f64 = 0.03;

/// The best that the machine does, in steps of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Best {
    /// The throughput loop on this processor, where that is known.
    model: Option<f64>,
    chain_ns: Option<f64>,
    throughput: Option<f64>,
    entry: Option<f64>,
}

impl Best {
    /// Nothing.
    #[cfg(test)]
    pub(crate) const UNKNOWN: Self = Self { model: None, chain_ns: None, throughput: None, entry: None };

    /// What is known before anything was measured: remembered of this machine, or known of its processor.
    pub(crate) fn known(remembered: Option<&CoreConstants>, processor: Option<&str>) -> Self {
        let model = known_steps(processor);
        let plausible = |steps: &f64| model.is_none_or(|model| *steps > model * (1.0 - WILD));
        let remembered = remembered.filter(|core| core.chain_ns > 0.0);
        let kept = remembered.map(|core| core.throughput_ns / core.chain_ns).filter(plausible);
        Self {
            model,
            chain_ns: remembered.map(|core| core.chain_ns),
            throughput: least(model, kept),
            entry: remembered.and_then(|core| Some(core.entry_ns? / core.chain_ns)),
        }
    }

    /// With what these launches saw: a better best replaces, a value without support or a wild one does not.
    pub(crate) fn with(self, launches: &[Seen]) -> Self {
        let level = |of: fn(&Seen) -> &Vec<f32>| {
            let costs: Vec<f64> = launches.iter().flat_map(of).map(|&cost| f64::from(cost)).collect();
            lowest_level(&costs, LIMIT, SUPPORT)
        };
        // A busy sibling may have been all that the known best came from: any better one that is no chance counts then.
        let plausible = |steps: &f64| self.model.is_none_or(|model| *steps > model * (1.0 - WILD));
        let speed = launches.iter().map(|seen| seen.chain_ns).reduce(f64::min);
        Self {
            model: self.model,
            chain_ns: least(self.chain_ns, speed),
            throughput: least(self.throughput, level(|seen| &seen.throughput).filter(plausible)),
            entry: least(self.entry, level(|seen| &seen.entry)),
        }
    }

    /// As it is remembered; the entry is one of this boot.
    pub(crate) fn constants(&self) -> Option<CoreConstants> {
        let chain_ns = self.chain_ns?;
        let throughput_ns = self.throughput? * chain_ns;
        Some(CoreConstants { chain_ns, throughput_ns, entry_ns: self.entry.map(|steps| steps * chain_ns) })
    }

    /// Which windows were quiet.
    fn quiet<'a>(&self, windows: &'a Windows) -> impl Iterator<Item = bool> + 'a {
        let limit = self.throughput.map_or(0.0, |best| best * (1.0 + LIMIT));
        windows.throughput.iter().map(move |&steps| f64::from(steps) <= limit)
    }

    /// Windows of a launch, the quiet ones among them, and the medians over these: ns, and steps where there are any.
    pub(crate) fn judge(&self, windows: &Windows) -> Judged {
        let of_quiet = |costs: &[f32]| {
            let kept = costs.iter().zip(self.quiet(windows)).filter(|(_, quiet)| *quiet);
            median(&sorted(kept.map(|(&cost, _)| f64::from(cost)).collect()))
        };
        Judged {
            windows: windows.throughput.len() as u64,
            quiet: self.quiet(windows).filter(|quiet| *quiet).count() as u64,
            ns: of_quiet(&windows.ns),
            cycles: of_quiet(&windows.steps),
        }
    }

    /// Whether there are enough quiet windows of these launches.
    pub(crate) fn enough<'a>(&self, launches: impl Iterator<Item = &'a Windows>) -> bool {
        let quiet = |windows: &'a Windows| self.quiet(windows).filter(|quiet| *quiet).count();
        launches.map(quiet).sum::<usize>() >= ENOUGH
    }
}

/// What the canaries of one launch saw.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    chain_ns: f64,
    throughput: Vec<f32>,
    entry: Vec<f32>,
}

impl Seen {
    /// By any member that took part in rounds: they are the same beside all of them.
    pub(crate) fn of(launched: &Launched) -> Option<Self> {
        let Windows { throughput, entry, .. } = &launched.windows;
        let chain_ns = launched.record.chain_ns.filter(|&ns| ns > 0.0)?;
        (!throughput.is_empty()).then(|| Self {
            chain_ns,
            throughput: throughput.clone(),
            entry: entry.clone(),
        })
    }
}

/// What the windows of a launch say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Judged {
    pub(crate) windows: u64,
    pub(crate) quiet: u64,
    pub(crate) ns: Option<f64>,
    pub(crate) cycles: Option<f64>,
}

fn least(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oscost_results::LaunchRecord;

    /// A launch with a window for each cost of the throughput loop; operations cost 100 ns and 400 steps, or twice that
    /// where somebody shares the core.
    fn launched(throughput: &[f32]) -> Launched {
        let cost =
            |one: f32| throughput.iter().map(|&steps| if steps < 0.17 { one } else { 2.0 * one }).collect();
        let record = LaunchRecord { chain_ns: Some(0.25), ..LaunchRecord::default() };
        let windows = Windows {
            ns: cost(100.0),
            steps: cost(400.0),
            throughput: throughput.to_vec(),
            entry: cost(270.0),
        };
        Launched { record, windows, ..Launched::default() }
    }

    fn remembered(steps: f64) -> CoreConstants {
        CoreConstants { chain_ns: 0.25, throughput_ns: steps * 0.25, entry_ns: Some(67.5) }
    }

    const PROCESSOR: Option<&str> = Some("AuthenticAMD family 26 model 2");

    #[test]
    fn only_quiet_windows_make_the_figure() {
        let best = Best::known(Some(&remembered(0.16)), None);
        let judged = best.judge(&launched(&[0.2, 0.16, 0.1615, 0.1617, 0.25]).windows);
        assert_eq!((judged.windows, judged.quiet), (5, 2), "0.1616 is the limit");
        assert_eq!((judged.ns, judged.cycles), (Some(100.0), Some(400.0)));
        let busy = best.judge(&launched(&[0.2; 8]).windows);
        assert_eq!((busy.windows, busy.quiet, busy.ns, busy.cycles), (8, 0, None, None));
    }

    #[test]
    fn a_run_without_a_quiet_moment_is_told_by_what_is_remembered_or_known() {
        let busy = launched(&[0.2; 80]);
        let seen = [Seen::of(&busy).expect("canaries")];
        let quiet = |best: Best| best.with(&seen).judge(&busy.windows).quiet;
        assert_eq!(quiet(Best::known(None, None)), 80, "who knows nothing takes it for the best");
        assert_eq!(quiet(Best::known(Some(&remembered(0.16)), None)), 0);
        assert_eq!(quiet(Best::known(None, PROCESSOR)), 0);
    }

    #[test]
    fn a_better_best_replaces_and_a_wild_value_does_not() {
        let steps = |known: Best, windows: &[f32]| {
            known.with(&[Seen::of(&launched(windows)).expect("canaries")]).throughput
        };
        let near = |found: Option<f64>, steps: f64| (found.expect("known") - steps).abs() < 1e-6;
        let known = Best::known(Some(&remembered(0.16)), None);
        assert!(near(steps(known, &[0.159; 25]), 0.159));
        assert!(near(steps(known, &[0.159; 24]), 0.16), "too few have seen it");
        assert!(near(steps(known, &[0.165; 80]), 0.16), "a worse one");
        let model = Best::known(None, PROCESSOR);
        assert!(near(steps(model, &[0.154; 80]), 0.154), "a better one that may be");
        assert!(near(steps(model, &[0.151; 80]), 0.157), "a wild one, on a processor that is known");
        assert!(near(steps(known, &[0.12; 80]), 0.12), "what was remembered may be a busy sibling's");
        assert!(near(steps(Best::default(), &[0.12; 80]), 0.12), "the first is taken as it is");
        assert!(
            near(Best::known(Some(&remembered(0.151)), PROCESSOR).throughput, 0.157),
            "remembered, and wild"
        );
        assert!(near(Best::known(Some(&remembered(0.156)), PROCESSOR).throughput, 0.156));
    }

    #[test]
    fn what_is_learnt_is_remembered_in_ns_of_the_fastest_core() {
        let seen = [Seen::of(&launched(&[0.16; 40])).expect("canaries")];
        let constants = Best::default().with(&seen).constants().expect("learnt");
        assert!((constants.chain_ns - 0.25).abs() < 1e-9);
        assert!((constants.throughput_ns - 0.04).abs() < 1e-6);
        assert!((constants.entry_ns.expect("made") - 67.5).abs() < 1e-3);
        let again = Best::known(Some(&constants), None).with(&seen).constants().expect("learnt");
        assert!((again.throughput_ns - constants.throughput_ns).abs() < 1e-9, "nothing creeps");
        assert_eq!(Best::default().constants(), None, "nothing was seen");
    }

    #[test]
    fn what_has_no_speed_says_nothing() {
        let stopped = CoreConstants { chain_ns: 0.0, ..remembered(0.16) };
        assert_eq!(Best::known(Some(&stopped), None), Best::UNKNOWN);
        let mut still = launched(&[0.16; 40]);
        still.record.chain_ns = Some(0.0);
        assert!(Seen::of(&still).is_none());
        assert_eq!(Best::UNKNOWN.judge(&launched(&[0.16; 40]).windows).quiet, 0, "no best, no quiet window");
        let entry = Best::known(Some(&remembered(0.16)), None).constants().and_then(|core| core.entry_ns);
        assert_eq!(entry, Some(67.5));
    }

    #[test]
    fn forty_quiet_windows_are_enough() {
        let best = Best::known(Some(&remembered(0.16)), None);
        let launches = |quiet: usize| {
            let windows: Vec<f32> = (0..60).map(|window| if window < quiet { 0.16 } else { 0.2 }).collect();
            launched(&windows)
        };
        assert!(best.enough([&launches(20).windows, &launches(20).windows].into_iter()));
        assert!(!best.enough([&launches(20).windows, &launches(19).windows].into_iter()));
    }

    /// Steps of the throughput loop where so many windows saw these.
    fn level(windows: &[(usize, f32)]) -> Option<f64> {
        let all: Vec<f32> =
            windows.iter().flat_map(|&(count, steps)| std::iter::repeat_n(steps, count)).collect();
        Best::default().with(&[Seen::of(&launched(&all)).expect("canaries")]).throughput
    }

    #[test]
    fn windows_within_a_hundredth_support_each_other() {
        let near = level(&[(13, 0.16), (12, 0.1615)]).expect("25 of them");
        assert!((near - 0.16).abs() < 1e-6);
        assert_eq!(level(&[(13, 0.16), (12, 0.162)]), None);
    }

    #[test]
    fn a_window_at_the_limit_is_quiet() {
        // A hundredth more than 100 is 101.
        let best =
            Best::known(Some(&CoreConstants { chain_ns: 1.0, throughput_ns: 100.0, entry_ns: None }), None);
        assert_eq!(best.judge(&launched(&[100.0, 101.0, 101.0_f32.next_up()]).windows).quiet, 2);
    }
}
