//! The card of a benchmark: facts that lists, help, reports and the skip logic read. Reading a card runs nothing.

use oscost_results::search::Tier;
use oscost_results::{Parameter, Trait, quantity};

/// Everything that is known of a benchmark before it runs.
///
/// Start from [`Card::BATCHED`] or [`Card::SERIES`] and name what differs.
#[derive(Debug, Clone)]
pub struct Card {
    /// Family and operation, then placement and declared parameters ("context_switch/pipe/same_cpu").
    pub id: &'static str,
    /// Which method this is: raised whenever what the figure means changes, or when it was wrong. Results of two
    /// revisions are never compared.
    pub revision: u32,
    /// The benchmark in a few words.
    pub title: &'static str,
    /// The operation in words ("one sem_wait and one sem_post").
    pub operation: &'static str,
    /// The same for a heading above several figures of the family, true for each of them ("one reading"); empty: `operation`.
    pub heading: &'static str,
    /// Operations in one iteration of the loop; every figure, claim and count is per operation.
    pub operations_per_iteration: u64,
    /// Iterations that a batch holds at least, where fewer of them measure something else.
    pub batch_at_least: u64,
    /// Whether each batch has to be made ready for: a second one would do something else, or stand in the way of what the first left.
    pub uses_up: bool,
    /// How the operation is reached.
    pub call_path: CallPath,
    /// Whether the operation waits for another participant.
    pub blocks: bool,
    /// Where the participants run.
    pub placement: Placement,
    /// Idle CPUs are kept awake while it is measured, whatever the run has them do.
    pub keeps_awake: bool,
    /// Members of one group are interleaved in one process set. Both sides of a ratio or difference share a group.
    pub group: &'static str,
    /// How it changes its process, at every member's cost (it starts threads). Then it needs a group of its own.
    pub changes_process: Option<&'static str>,
    /// Claims about every operation.
    pub claims: &'static [Claim],
    /// CPUs that the id names, that of the measuring thread first. Empty: it runs on those that the run prefers.
    pub cpus: &'static [usize],
    /// Requirements on the machine.
    pub needs: &'static [Need],
    /// Id of the member of the group that ratios divide by.
    pub baseline: Option<&'static str>,
    /// Id of the member of the group whose price is a part of this one's (the pipe of a context switch).
    pub subtract: Option<&'static str>,
    /// When it is measured without being named.
    pub tier: Tier,
    /// Number of the founding document that measured it ("003").
    pub document: Option<&'static str>,
    /// Time that launches of this benchmark may take in a run at defaults, in ms; what has not converged by then is
    /// marked. `None`: as long as the run has time.
    pub budget_ms: Option<u64>,
    /// Time that a launch needs beyond the plan, in ms: a long set-up, or a series that takes its time. 0 for most.
    pub launch_ms: u64,
    /// Planned launches of its group, where a launch is long and the plan has more: the least of the members counts.
    /// `--thorough` makes its own number.
    pub launches: Option<u32>,
    /// Quantities of a series, the headline first; empty for a batched benchmark, whose quantities are fixed.
    pub quantities: &'static [QuantityCard],
    /// Values of the parameters that the id names, by name.
    pub parameters: &'static [(&'static str, Parameter<'static>)],
    /// Its permanent properties.
    pub traits: &'static [Trait],
    /// A remark for readers of the figure, on something that no count shows; may be empty.
    pub remark: &'static str,
}

impl Card {
    /// A loop of operations that never block, on one CPU.
    pub const BATCHED: Card = Card {
        id: "",
        revision: 1,
        title: "",
        operation: "",
        heading: "",
        operations_per_iteration: 1,
        batch_at_least: 1,
        uses_up: false,
        call_path: CallPath::Libc,
        blocks: false,
        placement: Placement::OneCpu,
        keeps_awake: false,
        group: "",
        changes_process: None,
        claims: &[],
        cpus: &[],
        needs: &[],
        baseline: None,
        subtract: None,
        tier: Tier::Family,
        document: None,
        budget_ms: None,
        launch_ms: 0,
        launches: None,
        quantities: &[],
        parameters: &[],
        traits: &[],
        remark: "",
    };
    /// A series, which times itself.
    pub const SERIES: Card = Card { call_path: CallPath::Libc, ..Card::BATCHED };

    /// First part of the id.
    #[must_use]
    pub fn family(&self) -> &'static str {
        self.id.split('/').next().unwrap_or(self.id)
    }

    /// Iterations that a batch holds at least. Where participants wait for each other, what happens at its ends is no part of
    /// a cycle, and must be little of a batch: across CPUs the waiting side may still be awake when it begins.
    #[must_use]
    pub fn least_iterations(&self) -> u64 {
        let turns = match self.placement {
            _ if !self.blocks => 1,
            // Who waits for its own child or thread alone leaves nobody waiting at the end.
            Placement::OneCpu => 1,
            Placement::CrossCpu => 8,
            _ => 16,
        };
        self.batch_at_least.max(turns)
    }

    /// Whether each operation may wake a partner that sleeps on another CPU: then what that CPU does while it is idle is a part of
    /// the price.
    #[must_use]
    pub fn wakes_another_cpu(&self) -> bool {
        let stays_awake = |claim: &Claim| matches!(claim, Claim::VoluntarySwitches(Bound::AtMost(most) | Bound::Exactly(most)) if *most < 0.5);
        self.placement == Placement::CrossCpu
            && self.blocks
            && self.quantities.is_empty()
            && !self.claims.iter().any(stays_awake)
    }

    /// The quantity that is quoted.
    #[must_use]
    pub fn headline(&self) -> &'static str {
        self.quantities.first().map_or("floor", |quantity| quantity.name)
    }
}

/// One quantity of a series.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct QuantityCard {
    /// Name, as in the result.
    pub name: &'static str,
    /// "ns", "count", "share" or "ratio".
    pub unit: &'static str,
    /// How launches are put together.
    pub over_launches: OverLaunches,
    /// Divided by the baseline's and reduced by the subtracted one's, launch by launch.
    pub paired: bool,
    /// A launch may have none of it.
    pub at_times: bool,
}

impl QuantityCard {
    /// A quantity of which the median over launches is taken, not compared within a launch.
    #[must_use]
    pub const fn new(name: &'static str, unit: &'static str) -> Self {
        Self { name, unit, over_launches: OverLaunches::Median, paired: false, at_times: false }
    }

    /// The quantity of this name, in the unit that results know: one of [`quantity::ALL`].
    ///
    /// # Panics
    /// At compile time, where a card is a constant: if results know no such quantity.
    #[must_use]
    pub const fn of(name: &'static str) -> Self {
        Self::new(name, quantity::known(name).expect("a quantity that results know").unit)
    }

    /// The same, but a launch may lack it: there may be no peak, or no second client.
    #[must_use]
    pub const fn at_times(self) -> Self {
        Self { at_times: true, ..self }
    }

    /// The same, combined over launches in another way.
    #[must_use]
    pub const fn over(self, over_launches: OverLaunches) -> Self {
        Self { over_launches, ..self }
    }

    /// The same, compared within each launch.
    #[must_use]
    pub const fn paired(self) -> Self {
        Self { paired: true, ..self }
    }
}

/// How the launches of a series quantity become one figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OverLaunches {
    /// Median, with an interval.
    Median,
    /// Largest value seen.
    Max,
    /// Sum: drops, missed ticks.
    Sum,
}

/// How an operation is reached: two paths to one service are two ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallPath {
    /// A function of the vDSO, through libc, without kernel entry.
    Vdso,
    /// A wrapper of libc.
    Libc,
    /// A system call by inline assembly.
    Inline,
    /// A machine instruction.
    Instruction,
    /// Code of the process itself.
    UserSpace,
}

impl CallPath {
    /// Name in tables and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Vdso => "vdso",
            Self::Libc => "libc",
            Self::Inline => "inline",
            Self::Instruction => "instruction",
            Self::UserSpace => "user space",
        }
    }
}

/// Where the participants run. Part of the id wherever there is more than one participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// One participant, pinned.
    OneCpu,
    /// All participants pinned to one CPU.
    SameCpu,
    /// Two participants pinned to two CPUs.
    CrossCpu,
    /// Many participants over CPUs by distance.
    Spread,
    /// No participant is pinned: a mixture.
    Unpinned,
}

impl Placement {
    /// Name in ids, tables and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OneCpu => "one_cpu",
            Self::SameCpu => "same_cpu",
            Self::CrossCpu => "cross_cpu",
            Self::Spread => "spread",
            Self::Unpinned => "unpinned",
        }
    }
}

/// What must be true of every operation. System calls are counted by the audit over all participants; the rest in the
/// timed launches.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Claim {
    /// System calls of any kind.
    SystemCalls(Bound),
    /// System calls of these names together (glibc's semop is semtimedop).
    CallsNamed(&'static [&'static str], Bound),
    /// System calls of these names, as many as there happen to be waits and wake-ups. An audit changes who waits for whom, so
    /// their number in the timed pass is unchecked.
    CallsByChance(&'static [&'static str]),
    /// System calls that no other claim of the card names.
    OtherCalls(Bound),
    /// Voluntary + involuntary switches of all participants.
    Switches(Bound),
    /// Voluntary switches only: 0 for an operation that never blocks, even if it is preempted.
    VoluntarySwitches(Bound),
    /// Page faults.
    Faults(Bound),
}

impl Claim {
    /// Whether it says that operations make system calls.
    #[must_use]
    pub fn needs_calls(&self) -> bool {
        let (Self::SystemCalls(bound) | Self::CallsNamed(_, bound)) = *self else { return false };
        match bound {
            Bound::Exactly(least) | Bound::AtLeast(least) | Bound::Between(least, _) => least > 0.0,
            Bound::AtMost(_) => false,
        }
    }
}

/// An exact number for ids that never block, a bound for those that do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// Exactly so many an operation.
    Exactly(f64),
    /// At most so many an operation.
    AtMost(f64),
    /// At least so many an operation.
    AtLeast(f64),
    /// Between the two, ends included.
    Between(f64, f64),
}

/// A requirement on the machine, without which the benchmark cannot run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
    /// So many CPUs among the allowed ones.
    Cpus(u32),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_a_partner_makes_many_turns_in_a_batch() {
        let least = |blocks, placement| Card { blocks, placement, ..Card::BATCHED }.least_iterations();
        for placement in [Placement::OneCpu, Placement::SameCpu, Placement::CrossCpu] {
            assert_eq!(least(false, placement), 1);
        }
        assert_eq!(least(true, Placement::OneCpu), 1, "its own child or thread");
        assert_eq!((least(true, Placement::CrossCpu), least(true, Placement::SameCpu)), (8, 16));
        assert_eq!(least(true, Placement::Unpinned), 16);
    }

    #[test]
    fn another_cpu_is_woken_by_batches_across_cpus_that_sleep() {
        const CROSS: Card = Card { blocks: true, placement: Placement::CrossCpu, ..Card::BATCHED };
        const AWAKE: &[Claim] = &[Claim::VoluntarySwitches(Bound::AtMost(0.4))];
        const ASLEEP: &[Claim] = &[Claim::VoluntarySwitches(Bound::AtMost(0.5))];
        assert!(CROSS.wakes_another_cpu() && Card { claims: ASLEEP, ..CROSS }.wakes_another_cpu());
        for other in [
            Card { blocks: false, ..CROSS },
            Card { placement: Placement::SameCpu, ..CROSS },
            Card { quantities: crate::figures::synthetic::COST, ..CROSS },
            Card { claims: AWAKE, ..CROSS },
        ] {
            assert!(!other.wakes_another_cpu(), "{other:?}");
        }
    }

    #[test]
    fn a_claim_of_calls_is_told_from_one_of_none() {
        let needs = |bound: Bound| {
            [Claim::SystemCalls(bound), Claim::CallsNamed(&["a"], bound)].map(|it| it.needs_calls())
        };
        for bound in [Bound::Exactly(1.0), Bound::AtLeast(0.1), Bound::Between(0.9, 2.0)] {
            assert_eq!(needs(bound), [true; 2], "{bound:?}");
        }
        for bound in [Bound::Exactly(0.0), Bound::AtLeast(0.0), Bound::Between(0.0, 2.0), Bound::AtMost(1.0)]
        {
            assert_eq!(needs(bound), [false; 2], "{bound:?}");
        }
        assert!(
            !Claim::Switches(Bound::Exactly(1.0)).needs_calls()
                && !Claim::CallsByChance(&["a"]).needs_calls()
        );
    }
}
