//! The common part of server and clients: placement, bounded priority, and the account of the loop.

use oscost_harness::{CallError, Outcome};
use oscost_sys::scheduling::{self, Policy};
use oscost_sys::usage::{self, Usage, Whose};
use oscost_sys::{affinity, clock};

use super::table::{Account, Table};

/// One participant in its process.
pub struct Participant {
    cpu: usize,
    asked: (Policy, i32),
    granted: bool,
    began: Usage,
    cpu_ns: u64,
}

impl Participant {
    /// Takes its place, and its priority where that is granted. What runs away in real time is ended by the kernel.
    ///
    /// # Errors
    /// The error of sched_setaffinity, getrlimit, setrlimit or getrusage.
    pub fn begin(cpu: usize, policy: Policy, priority: i32) -> Result<Self, CallError> {
        affinity::pin_to(cpu)?;
        let asked = (policy, if policy == Policy::Other { 0 } else { priority });
        let granted = policy == Policy::Other || {
            scheduling::bound()?;
            scheduling::set(asked.0, asked.1).is_ok() && scheduling::get() == Ok(Some(asked))
        };
        Ok(Self { cpu, asked, granted, began: usage::own(Whose::Thread)?, cpu_ns: 0 })
    }

    /// Its loop begins now.
    ///
    /// # Errors
    /// The error of getrusage.
    pub fn start(&mut self) -> Outcome {
        self.began = usage::own(Whose::Thread)?;
        self.cpu_ns = clock::read_ns(clock::Clock::ThreadCpuTime);
        Ok(())
    }

    /// CPU time since its loop began, ns.
    pub fn cpu_ns(&self) -> u64 {
        clock::read_ns(clock::Clock::ThreadCpuTime).saturating_sub(self.cpu_ns)
    }

    /// Leaves its account in the table.
    ///
    /// # Errors
    /// The error of getrusage.
    pub fn leave(&self, of: Option<usize>, table: &Table) -> Outcome {
        let usage = usage::own(Whose::Thread)?.since(&self.began);
        let kept = self.asked.0 == Policy::Other || scheduling::get() == Ok(Some(self.asked));
        let migrations = affinity::current().map(|cpu| u64::from(cpu != self.cpu));
        table.leave(of, &Account { usage, migrations, as_asked: self.granted && kept });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oscost_sys::process::Child;
    use oscost_sys::usage::Limit;

    #[test]
    fn a_tighter_bound_than_ours_stays() {
        let cpu = affinity::allowed().expect("CPUs")[0];
        let child = Child::fork(|| {
            let tight = usage::limit(Limit::RealTimeTime, 100_000, 100_000).is_ok();
            let begun = Participant::begin(cpu, Policy::RoundRobin, 49).is_ok();
            let stays = usage::limit_of(Limit::RealTimeTime) == Ok((100_000, 100_000));
            i32::from(!(tight && begun && stays))
        })
        .expect("fork");
        assert_eq!(child.wait_at_most(60_000_000_000).expect("it ends").code, Some(0));
    }

    #[test]
    fn who_runs_away_in_real_time_is_ended_by_the_kernel() {
        let Err(refusal) = scheduling::probe_real_time() else {
            let cpu = affinity::allowed().expect("CPUs")[0];
            let runaway = Child::fork(|| {
                if !Participant::begin(cpu, Policy::RoundRobin, 49).is_ok_and(|own| own.granted) {
                    return 1;
                }
                // What it uses until the kernel sees it depends on ticks, and on what a host takes: the limit is exact.
                let bound = usage::limit_of(Limit::RealTimeTime);
                if !bound.is_ok_and(|(soft, hard)| soft <= 200_000 && hard <= 300_000) {
                    return 2;
                }
                loop {
                    std::hint::spin_loop();
                }
            })
            .expect("fork");
            let ended = runaway.wait_at_most(10_000_000_000).expect("it is ended");
            // SIGXCPU, or SIGKILL where that comes late.
            assert!(ended.signal.is_some_and(|signal| [24, 9].contains(&signal)), "{ended:?}");
            return;
        };
        println!("SKIP who_runs_away_in_real_time_is_ended_by_the_kernel: {refusal}");
    }
}
