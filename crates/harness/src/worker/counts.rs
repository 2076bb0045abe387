//! Switches, faults and CPU changes of all participants, per operation. A counter that cannot be read is None, never 0.

use oscost_sys::CallError;
use oscost_sys::usage::{self, Seen, Usage};

use crate::benchmark::Participant;

/// What was seen of each partner at one moment; `None` where /proc does not say.
pub(crate) type PartnersUsage = Vec<Option<Seen>>;

/// Looks at every partner, of each member.
pub(crate) fn partners(participants: &[Vec<Participant>]) -> Vec<PartnersUsage> {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let one = |participant: &Participant| match *participant {
        Participant::Process(pid) => usage::of(pid, pid),
        Participant::Thread(tid) => usage::of(own, tid),
    };
    participants.iter().map(|all| all.iter().map(one).collect()).collect()
}

/// Counts per operation of everybody who takes part. `None`: somebody could not be looked at.
pub(crate) struct Counts {
    pub(crate) switches: Option<f64>,
    pub(crate) voluntary: Option<f64>,
    pub(crate) migrations: Option<u64>,
    pub(crate) faults: Option<f64>,
    /// Who traces a partner (0: nobody).
    pub(crate) tracer_pid: Option<u32>,
}

/// What the measuring thread itself used and how often it changed its CPU in so many operations, as far as that was told.
pub(crate) struct Own {
    pub(crate) used: Result<Usage, CallError>,
    pub(crate) moved: Option<u64>,
    pub(crate) operations: f64,
}

impl Own {
    /// With what partners used between two moments, over `all_operations`.
    pub(crate) fn and(&self, before: &PartnersUsage, after: &PartnersUsage, all_operations: f64) -> Counts {
        let mut partner = Some(Usage::default());
        let mut migrations = self.moved;
        for (earlier, later) in before.iter().zip(after) {
            let both = earlier.as_ref().zip(later.as_ref());
            partner = partner.zip(both).map(|(mut sum, (earlier, later))| {
                sum.add(&later.usage.since(&earlier.usage));
                sum
            });
            let cpus = both.and_then(|(earlier, later)| earlier.cpu.zip(later.cpu));
            migrations = migrations.zip(cpus).map(|(moved, (from, to))| moved + u64::from(from != to));
        }
        // A fold of all: unknown of one is unknown.
        let tracers: Option<Vec<u32>> =
            before.iter().chain(after).map(|seen| seen.as_ref()?.tracer_pid).collect();
        let both = self.used.ok().zip(partner);
        let rate = |count: fn(&Usage) -> u64| {
            let (own, partner) = both.as_ref()?;
            Some(count(own) as f64 / self.operations + count(partner) as f64 / all_operations)
        };
        Counts {
            switches: rate(Usage::switches),
            voluntary: rate(|used| used.voluntary_switches),
            migrations,
            faults: rate(Usage::faults),
            tracer_pid: tracers.map(|tracers| tracers.into_iter().max().unwrap_or(0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USED: Usage = Usage {
        voluntary_switches: 30,
        involuntary_switches: 10,
        minor_faults: 20,
        major_faults: 0,
        user_ns: 0,
        system_ns: 0,
    };

    fn partner(used: Usage, cpu: Option<usize>) -> PartnersUsage {
        vec![Some(Seen { usage: used, cpu, tracer_pid: Some(0) })]
    }

    /// Switches, voluntary ones, migrations and faults of somebody who used so much in 10 operations, with a partner.
    fn counted(
        own: (Result<Usage, CallError>, Option<u64>),
        before: &PartnersUsage,
        after: &PartnersUsage,
    ) -> (Option<f64>, Option<f64>, Option<u64>, Option<f64>) {
        let counts = Own { used: own.0, moved: own.1, operations: 10.0 }.and(before, after, 20.0);
        (counts.switches, counts.voluntary, counts.migrations, counts.faults)
    }

    #[test]
    fn what_everybody_used_is_counted_an_operation() {
        let (before, after) = (partner(Usage::default(), Some(1)), partner(USED, Some(0)));
        assert_eq!(counted((Ok(USED), Some(0)), &before, &after), (Some(6.0), Some(4.5), Some(1), Some(3.0)));
        let alone = counted((Ok(USED), Some(2)), &vec![], &vec![]);
        assert_eq!(alone, (Some(4.0), Some(3.0), Some(2), Some(2.0)));
    }

    #[test]
    fn what_nobody_could_read_is_no_count() {
        let (before, after) = (partner(Usage::default(), Some(1)), partner(USED, Some(1)));
        let refused = counted((Err(CallError::new("getrusage", 1)), Some(0)), &before, &after);
        assert_eq!(refused, (None, None, Some(0), None), "the own usage is not known, the CPUs are");
        let hidden = counted((Ok(USED), Some(0)), &before, &vec![None]);
        assert_eq!(hidden, (None, None, None, None), "a partner cannot be looked at");
        let nowhere = counted((Ok(USED), Some(0)), &before, &partner(USED, None));
        assert_eq!(nowhere.2, None, "the CPU of a partner is not told");
        let own = counted((Ok(USED), None), &before, &after);
        assert_eq!((own.0, own.2), (Some(6.0), None), "the own CPU is not told");
    }

    #[test]
    fn a_tracer_of_any_partner_at_any_moment_is_told_and_one_that_may_be_is_not_none() {
        let traced = |pid| vec![Some(Seen { usage: USED, cpu: Some(1), tracer_pid: pid })];
        let told = |before: &PartnersUsage, after: &PartnersUsage| {
            Own { used: Ok(USED), moved: Some(0), operations: 10.0 }.and(before, after, 20.0).tracer_pid
        };
        let nobody = || traced(Some(0));
        assert_eq!((told(&vec![], &vec![]), told(&nobody(), &nobody())), (Some(0), Some(0)));
        assert_eq!(
            (told(&traced(Some(7)), &nobody()), told(&nobody(), &traced(Some(7)))),
            (Some(7), Some(7))
        );
        assert_eq!((told(&traced(None), &nobody()), told(&nobody(), &vec![None])), (None, None));
    }

    /// This process as a partner of its own, by its number and by that of its thread.
    #[test]
    fn partners_are_looked_at_member_by_member() {
        let pid = i32::try_from(std::process::id()).expect("a pid");
        let members = [vec![Participant::Process(pid), Participant::Thread(pid)], Vec::new()];
        let seen = partners(&members);
        assert_eq!(seen.iter().map(Vec::len).collect::<Vec<_>>(), [2, 0]);
        let there = std::path::Path::new("/proc/self/status").exists();
        assert!(seen[0].iter().all(|it| it.is_some() == there), "{seen:?}");
        let gone = partners(&[vec![Participant::Process((1 << 22) + 1), Participant::Thread((1 << 22) + 1)]]);
        assert_eq!(gone[0], [None, None], "no machine has such numbers");
    }
}
