//! Two pipes, or a pair of sockets, between two sides: a byte goes there, a byte comes back, and each waits for the other.

use std::borrow::Cow;
use std::os::fd::OwnedFd;

use oscost_harness::{
    CallError, CallPath, Card, Claim, Need, Outcome, Placement, PostCondition, Tier, Unable,
};
use oscost_sys::pipe::{self, Pipe, read_byte, write_byte};
use oscost_sys::socket::{self, SocketKind};

use crate::semaphore::handover;
use crate::{
    lack,
    partner::{Turns, uninterrupted},
};

/// One side: what it reads from and what it writes to.
pub struct Side {
    reader: OwnedFd,
    writer: OwnedFd,
}

/// The two sides of two new pipes.
pub fn sides() -> Result<(Side, Side), Unable> {
    let (there, back) =
        (Pipe::new().map_err(lack::of_descriptors)?, Pipe::new().map_err(lack::of_descriptors)?);
    let near = Side { reader: back.reader, writer: there.writer };
    let far = Side { reader: there.reader, writer: back.writer };
    Ok((near, far))
}

/// The two sides of a new pair of Unix stream sockets.
pub fn socket_sides() -> Result<(Side, Side), Unable> {
    let [near, far] = socket::pair(SocketKind::Stream).map_err(lack::of_descriptors)?;
    Ok((both_ways(near)?, both_ways(far)?))
}

/// A socket is read from and written to.
fn both_ways(reader: OwnedFd) -> Result<Side, Unable> {
    let again = |error: std::io::Error| CallError::new("fcntl", error.raw_os_error().unwrap_or(0));
    let writer = reader.try_clone().map_err(again).map_err(lack::of_descriptors)?;
    Ok(Side { reader, writer })
}

impl Side {
    /// Sends a byte to the other side.
    #[inline(always)]
    pub fn send(&self) -> Outcome {
        uninterrupted(|| write_byte(&self.writer))
    }

    /// Waits for a byte of the other side. The end of the stream (the other side is gone) is an error.
    #[inline(always)]
    pub fn receive(&self) -> Outcome {
        uninterrupted(|| read_byte(&self.reader))
    }

    /// What must be true between batches: as many turns on both sides, and no byte on its way.
    pub fn verify(&self, turns: &Turns) -> Result<Vec<PostCondition>, CallError> {
        let unread = pipe::unread(&self.reader)?;
        Ok(vec![turns.verify(), PostCondition::exactly("bytes_on_their_way", 0.0, unread.into())])
    }

    /// So many round trips, each of two switches.
    #[inline(always)]
    pub fn round_trips(&self, count: u64) -> Outcome {
        for _ in 0..count {
            self.send()?;
            self.receive()?;
        }
        Ok(())
    }
}

/// A read or a write is a system call whether it waits or not: one of each a switch.
const ON_ONE_CPU: &[Claim] = &handover::in_the_kernel(&["read", "write"]);
/// A side that is held up finds the byte there already, and need not sleep.
const ON_TWO_CPUS: &[Claim] = &handover::on_two_cpus(handover::in_the_kernel(&["read", "write"]));

/// The claims of a card here. fs/pipe.c: pipe_write wakes under the lock of the reader's wait queue, and the woken pipe_read takes it.
pub fn claims(card: &'static Card) -> Cow<'static, [Claim]> {
    handover::woken_under_a_lock(card.claims)
}

/// What all cards of two pipes share; `placement` decides the group.
pub const fn card(id: &'static str, title: &'static str, placement: Placement) -> Card {
    let (operation, needs, claims): (_, &[Need], _) = match placement {
        Placement::CrossCpu => (
            "one switch to the other side by 1 byte through a pipe, on another CPU",
            &[Need::Cpus(2)],
            ON_TWO_CPUS,
        ),
        Placement::Unpinned => (
            "one switch to the other side by 1 byte through a pipe, wherever the scheduler puts it",
            &[],
            ON_TWO_CPUS,
        ),
        _ => ("one switch to the other side by 1 byte through a pipe, on one CPU", &[], ON_ONE_CPU),
    };
    Card {
        id,
        revision: revision(placement),
        title,
        operation,
        heading: super::SWITCH,
        operations_per_iteration: 2,
        call_path: CallPath::Libc,
        blocks: true,
        placement,
        group: group(placement),
        claims,
        needs,
        baseline: Some(pipe(placement)),
        subtract: Some(pipe_alone(placement)),
        tier: if matches!(placement, Placement::Unpinned) { Tier::Family } else { Tier::Core },
        ..Card::BATCHED
    }
}

/// On one CPU the first revision was measured beside a thread of the same process, and across CPUs while these slept, whatever the
/// host made of that.
const fn revision(placement: Placement) -> u32 {
    if matches!(placement, Placement::Unpinned) { 1 } else { 2 }
}

/// The group of a placement.
pub const fn group(placement: Placement) -> &'static str {
    match placement {
        Placement::CrossCpu => "context_switch/cross_cpu",
        Placement::Unpinned => "context_switch/unpinned",
        _ => "context_switch/same_cpu",
    }
}

/// Id of the switch by two pipes, the baseline of its group.
pub const fn pipe(placement: Placement) -> &'static str {
    match placement {
        Placement::CrossCpu => "context_switch/pipe/cross_cpu",
        Placement::Unpinned => "context_switch/pipe/unpinned",
        _ => "context_switch/pipe/same_cpu",
    }
}

/// Id of the pipe's price in one process, which a hop contains.
pub const fn pipe_alone(placement: Placement) -> &'static str {
    match placement {
        Placement::CrossCpu => "context_switch/pipe_alone/cross_cpu",
        Placement::Unpinned => "context_switch/pipe_alone/unpinned",
        _ => "context_switch/pipe_alone/same_cpu",
    }
}
