//! From a write to an eventfd to the return of another process's epoll_wait, which watches it for edges.

use std::os::fd::OwnedFd;

use oscost_harness::{Benchmark, Card, Claim, Outcome, SetUp, Unable};
use oscost_sys::readiness::{self, Edges};

use crate::alternation::{self, Counts, End, alternating};
use crate::lack;
use crate::semaphore::handover;

pub const ALL: &[&dyn Benchmark] = &[&alternating::<Watched>(&SAME_CPU), &alternating::<Watched>(&CROSS_CPU)];

/// One of each a hop. The C library of some architectures has epoll_wait from epoll_pwait.
const CALLS: [Claim; 3] = handover::in_the_kernel(&["write", "epoll_wait", "epoll_pwait"]);

const SAME_CPU: Card = Card {
    id: "event/epoll_wake/same_cpu",
    title: "epoll wake-up, one CPU",
    operation: "one write of 8 bytes to an eventfd and the other process's return from epoll_wait (edge-triggered, no timeout), on one CPU",
    operations_per_iteration: 2,
    group: "event/same_cpu",
    claims: &CALLS,
    remark: "edge-triggered: nothing is read from the eventfd",
    ..alternation::SAME_CPU
};

const CROSS_CPU: Card = Card {
    id: "event/epoll_wake/cross_cpu",
    title: "epoll wake-up, two CPUs",
    operation: "one write of 8 bytes to an eventfd and the other process's return from epoll_wait (edge-triggered, no timeout), on another CPU",
    group: "event/cross_cpu",
    claims: &handover::on_two_cpus(CALLS),
    revision: alternation::CROSS_CPU.revision,
    placement: alternation::CROSS_CPU.placement,
    needs: alternation::CROSS_CPU.needs,
    ..SAME_CPU
};

/// An eventfd to wake the other side by, and the own one under watch.
pub struct Watched {
    there: OwnedFd,
    back: Edges,
    counts: Counts,
}

impl End for Watched {
    const WHAT: [&'static str; 2] = ["descriptors_ready_there", "descriptors_ready_here"];

    fn pair(_: &mut SetUp<'_>) -> Result<(Self, Self), Unable> {
        let counter = || readiness::counter().map_err(lack::of_descriptors);
        let (one, other) = (counter()?, counter()?);
        let (near, far) = (Edges::of(&[&other]), Edges::of(&[&one]));
        let end = |there, edges: Result<Edges, _>| -> Result<Self, Unable> {
            Ok(Self { there, back: edges.map_err(lack::of_descriptors)?, counts: Counts::default() })
        };
        Ok((end(one, near)?, end(other, far)?))
    }

    #[inline(always)]
    fn send(&mut self) -> Outcome {
        readiness::count(&self.there)?;
        self.counts.given += 1;
        Ok(())
    }

    #[inline(always)]
    fn receive(&mut self) -> Outcome {
        loop {
            let ready = self.back.wait()?;
            self.counts.taken += u64::from(ready);
            // A signal makes nothing ready.
            if ready > 0 {
                return Ok(());
            }
        }
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}
