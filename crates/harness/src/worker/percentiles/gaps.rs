//! Gaps: finds what took the CPU from a pass that was timed alone. docs/method/families.md.

use oscost_results::GapCause;
use oscost_sys::affinity;
use oscost_sys::interruption::{Look, Tasks, Watcher};

/// An interrupt with what it sets off takes no longer than this by itself; beyond it, a host that was away is likelier.
const INTERRUPT_NS: u64 = 100_000;
/// Looks at all tasks in a launch, at most: each takes about a millisecond.
const MOST_SCANS: u32 = 30;

/// Who sees what happens to the thread: the kernel's counters, or a test's.
pub(crate) trait Observer {
    /// The counters now.
    fn look(&mut self) -> Look;
    /// Name of an interrupt, by its place in a look.
    fn interrupt(&self, index: usize) -> String;
    /// Who ran on the CPU since this was asked last, the longest first; `None` where that is not known.
    fn who_ran(&mut self) -> Option<Vec<(String, u64)>>;
}

/// The kernel's counters.
pub(crate) struct Kernel {
    watcher: Watcher,
    cpu: usize,
    /// Participants, whose running is no gap's cause.
    own: Vec<i32>,
    tasks: Option<Tasks>,
    scans_left: u32,
}

impl Kernel {
    /// Those of the calling thread, which has these partners.
    pub(crate) fn new(partners: &[i32]) -> Self {
        let cpu = affinity::current().unwrap_or(0);
        let mut own = partners.to_vec();
        own.extend(i32::try_from(std::process::id()).ok());
        Self { watcher: Watcher::new(cpu, partners), cpu, own, tasks: Tasks::scan(), scans_left: MOST_SCANS }
    }
}

impl Observer for Kernel {
    fn look(&mut self) -> Look {
        self.watcher.look()
    }

    fn interrupt(&self, index: usize) -> String {
        self.watcher.interrupt(index).to_owned()
    }

    fn who_ran(&mut self) -> Option<Vec<(String, u64)>> {
        self.scans_left = self.scans_left.checked_sub(1)?;
        let now = Tasks::scan()?;
        let before = self.tasks.replace(now.clone())?;
        Some(now.ran_since(&before, self.cpu, &self.own))
    }
}

/// What is usual between two looks, so that only what is more explains a gap.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usual {
    /// The operation waits for somebody else: its own waits are not the host's doing.
    pub blocks: bool,
    /// Time that all participants together are ready and do not run, in a pass, ns.
    pub waited_ns: f64,
    /// Page faults of a pass: of a fork, its parent's first writes afterwards.
    pub faults: f64,
}

impl Usual {
    /// Whether so many page faults in so many passes are more than usual: by a whole one, and by more than chance where each
    /// pass has one of the two whole numbers beside the mean.
    fn is_exceeded(self, faults: u64, passes: u64) -> bool {
        let (passes, rest) = (passes as f64, self.faults.fract());
        let chance = 3.0 * (passes * rest * (1.0 - rest)).sqrt();
        faults as f64 - self.faults * passes > chance.max(0.5)
    }
}

/// What a gap of `ns` comes from, by the counters before it and after it, between which `passes` were made; of an interrupt
/// its place in a look.
pub(crate) fn cause(
    ns: u64,
    before: &Look,
    after: &Look,
    passes: u64,
    usual: Usual,
) -> (GapCause, Option<usize>) {
    let half = ns / 2;
    let more = |of: fn(&Look) -> Option<u64>| Some(of(after)?.saturating_sub(of(before)?));
    let own = more(|look| look.waited_ns);
    let waited = if usual.blocks {
        let all = own.map(|own| own + more(|look| look.partners_waited_ns).unwrap_or(0));
        all.map(|all| all.saturating_sub((usual.waited_ns * passes as f64) as u64))
    } else {
        own
    };
    if waited.is_some_and(|waited| waited >= half.max(1)) {
        return (GapCause::Preemption, None);
    }
    if before.cpu.zip(after.cpu).is_some_and(|(before, after)| before != after) {
        return (GapCause::Migration, None);
    }
    if more(|look| look.faults).is_some_and(|faults| usual.is_exceeded(faults, passes)) {
        return (GapCause::PageFault, None);
    }
    let interrupt = interrupt_between(before, after);
    if interrupt.is_some() && ns < INTERRUPT_NS {
        return (GapCause::Interrupt, interrupt);
    }
    // A thread that never sleeps either runs, or waits, or its CPU was away. Kernels that account for the time of
    // interrupts leave that out too: it was looked for before.
    let away = more(|look| look.ran_ns).filter(|_| !usual.blocks).map(|ran| {
        after.at_ns.saturating_sub(before.at_ns).saturating_sub(ran).saturating_sub(own.unwrap_or(0))
    });
    let stolen = more(|look| look.stolen_ns);
    if [away, stolen].into_iter().flatten().any(|away| away >= half.max(1)) {
        return (GapCause::Steal, None);
    }
    if interrupt.is_some() { (GapCause::Interrupt, interrupt) } else { (GapCause::Unknown, None) }
}

/// Who took the CPU for a gap of `ns`, of those who ran since the tasks were looked at last, the longest first. That may be long
/// ago: who ran for much longer than the gap also ran beside it, and perhaps only there. So it is the one who ran for about as
/// long, if all others together had less than half of it; else nobody is named.
pub(crate) fn preemptor(ran: Vec<(String, u64)>, ns: u64) -> Option<String> {
    let half = (ns / 2).max(1);
    let mut ran = ran.into_iter();
    let (name, longest) = ran.next()?;
    let others: u64 = ran.map(|(_, ns)| ns).sum();
    (longest >= half && longest <= 2 * ns && others < half).then_some(name)
}

/// The interrupt that came most often between two looks.
fn interrupt_between(before: &Look, after: &Look) -> Option<usize> {
    let (before, after) = (before.interrupts.as_ref()?, after.interrupts.as_ref()?);
    let more = before.iter().zip(after).map(|(before, after)| after.saturating_sub(*before)).enumerate();
    more.filter(|(_, more)| *more > 0).max_by_key(|(_, more)| *more).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::timed::Tally;

    const ALONE: Usual = Usual { blocks: false, waited_ns: 0.0, faults: 0.0 };

    fn quiet() -> Look {
        Look {
            at_ns: 0,
            cpu: Some(1),
            ran_ns: Some(0),
            waited_ns: Some(0),
            partners_waited_ns: Some(0),
            faults: Some(7),
            stolen_ns: Some(0),
            interrupts: Some(vec![5, 100]),
        }
    }

    /// After a stretch of 1 ms that ran throughout, and something more.
    fn after(change: impl FnOnce(&mut Look)) -> Look {
        let mut look = Look { at_ns: 1_000_000, ran_ns: Some(1_000_000), ..quiet() };
        change(&mut look);
        look
    }

    fn told(ns: u64, change: impl FnOnce(&mut Look)) -> (GapCause, Option<usize>) {
        cause(ns, &quiet(), &after(change), 10, ALONE)
    }

    #[test]
    fn nobody_who_takes_part_is_the_cause_of_a_gap() {
        let pid = i32::try_from(std::process::id()).expect("a pid");
        assert_eq!(Kernel::new(&[7]).own, [7, pid]);
    }

    #[test]
    fn each_counter_tells_its_cause() {
        assert_eq!(told(50_000, |_| ()), (GapCause::Unknown, None));
        assert_eq!(told(50_000, |look| look.waited_ns = Some(25_000)).0, GapCause::Preemption);
        assert_eq!(
            told(50_000, |look| look.waited_ns = Some(20_000)).0,
            GapCause::Unknown,
            "less than half of it"
        );
        assert_eq!(told(50_000, |look| look.cpu = Some(0)).0, GapCause::Migration);
        assert_eq!(told(50_000, |look| look.faults = Some(8)).0, GapCause::PageFault);
        assert_eq!(told(50_000, |look| look.interrupts = Some(vec![5, 101])), (GapCause::Interrupt, Some(1)));
        assert_eq!(told(50_000, |look| look.interrupts = Some(vec![9, 101])), (GapCause::Interrupt, Some(0)));
        assert_eq!(told(50_000, |look| look.ran_ns = Some(975_000)).0, GapCause::Steal);
        assert_eq!(told(50_000, |look| look.ran_ns = Some(975_001)).0, GapCause::Unknown, "less than half");
        assert_eq!(told(9_000_000, |look| look.stolen_ns = Some(10_000_000)).0, GapCause::Steal);
        let waited = |look: &mut Look| (look.ran_ns, look.waited_ns) = (Some(980_000), Some(20_000));
        assert_eq!(told(50_000, waited).0, GapCause::Unknown, "what waited was not away");
    }

    #[test]
    fn a_long_gap_beside_an_interrupt_is_the_hosts_where_the_cpu_was_away() {
        let both = |look: &mut Look| {
            look.interrupts = Some(vec![5, 101]);
            look.ran_ns = Some(500_000);
        };
        assert_eq!(told(100_000, both).0, GapCause::Steal);
        assert_eq!(told(99_999, both).0, GapCause::Interrupt, "short enough for an interrupt alone");
        assert_eq!(told(500_000, |look| look.interrupts = Some(vec![5, 101])).0, GapCause::Interrupt);
    }

    #[test]
    fn what_waits_by_itself_is_not_preempted_by_that() {
        let usual = Usual { blocks: true, waited_ns: 4_000.0, faults: 0.0 };
        let look = after(|look| {
            (look.waited_ns, look.partners_waited_ns) = (Some(20_000), Some(21_000));
            // It slept for most of the time: that is no steal.
            look.ran_ns = Some(100_000);
        });
        assert_eq!(cause(50_000, &quiet(), &look, 10, usual).0, GapCause::Unknown);
        let look = after(|look| look.partners_waited_ns = Some(90_000));
        assert_eq!(cause(50_000, &quiet(), &look, 10, usual).0, GapCause::Preemption, "its partner was");
    }

    #[test]
    fn the_faults_of_every_pass_explain_no_gap() {
        let told = |usual: f64, faults: u64| {
            let look = after(|look| {
                look.faults = Some(7 + faults);
                look.interrupts = Some(vec![5, 101]);
            });
            cause(50_000, &quiet(), &look, 10, Usual { faults: usual, ..ALONE }).0
        };
        // A fork has two in each of the ten passes, and the gap is the interrupt's; one more is a page that was not there.
        assert_eq!((told(2.0, 20), told(2.0, 21)), (GapCause::Interrupt, GapCause::PageFault));
        assert_eq!((told(2.02, 20), told(2.02, 22)), (GapCause::Interrupt, GapCause::PageFault));
        // Two or three in each: 29 of ten passes are chance, 31 cannot be.
        assert_eq!((told(2.5, 29), told(2.5, 31)), (GapCause::Interrupt, GapCause::PageFault));
    }

    #[test]
    fn a_gap_is_named_after_who_alone_ran_for_about_as_long() {
        let named = |ran: &[(&str, u64)]| {
            let ran = ran.iter().map(|&(name, ns)| (name.to_owned(), ns)).collect();
            preemptor(ran, 50_000)
        };
        let b = Some("b".to_owned());
        assert_eq!((named(&[("b", 50_000)]), named(&[("b", 25_000), ("a", 24_999)])), (b.clone(), b.clone()));
        assert_eq!(named(&[("b", 24_999)]), None, "less than half of it");
        assert_eq!(named(&[("a", 1_000_000), ("b", 50_000)]), None, "a ran beside it");
        assert_eq!((named(&[("b", 100_000)]), named(&[("b", 100_001)])), (b, None), "so may who ran alone");
        assert_eq!(named(&[("b", 50_000), ("a", 25_000)]), None, "either may have had half of it");
        assert_eq!(named(&[("b", 50_000), ("a", 13_000), ("c", 12_000)]), None, "or two together");
        assert_eq!(named(&[]), None);
    }

    #[test]
    fn what_cannot_be_read_explains_nothing() {
        let blind = Look::default();
        assert_eq!(cause(50_000, &blind, &blind, 10, ALONE), (GapCause::Unknown, None));
    }

    #[test]
    fn gaps_are_counted_by_cause_and_by_whom() {
        let mut tally = Tally::default();
        tally.add(GapCause::Preemption, Some("cargo".into()), 10, true);
        tally.add(GapCause::Preemption, Some("cargo".into()), 30, false);
        tally.add(GapCause::Preemption, None, 100, true);
        let gaps = tally.into_gaps();
        assert_eq!((gaps[0].total_ns, gaps[0].by.as_deref()), (100, None), "the most time first");
        assert_eq!((gaps[1].count, gaps[1].in_passes, gaps[1].total_ns, gaps[1].longest_ns), (2, 1, 40, 30));
    }

    /// A look at all tasks takes about a millisecond: there are thirty of them in a launch.
    #[test]
    fn all_tasks_are_looked_at_thirty_times_and_no_more() {
        let mut kernel = Kernel::new(&[]);
        let known = kernel.tasks.is_some();
        let looks = (0..MOST_SCANS + 5).filter(|_| kernel.who_ran().is_some()).count();
        assert_eq!(looks, if known { 30 } else { 0 });
        let look = kernel.look();
        assert!(look.at_ns > 0);
        let counted = look.interrupts.unwrap_or_default().len();
        let has_name = |index| !kernel.interrupt(index).is_empty();
        assert!(counted == 0 || (0..counted).any(has_name), "{counted} without a name");
    }
}
