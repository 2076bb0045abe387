//! The partner process of an operation: started, placed and ready before timing begins.

use std::sync::{Arc, atomic::Ordering};

use oscost_sys::CallError;
use oscost_sys::memory::SharedWords;
use oscost_sys::{
    pipe::{self, Pipe},
    process::Child,
};

use super::{Outcome, PostCondition, SetUp, Unable, lack};

/// Starts a partner (pinned to the partner's CPU if `pinned`) and returns when it is about to run `body`. The partner ends
/// when a call in `body` fails, when it is dropped, and when the measuring process dies.
///
/// # Errors
/// [`Unable::Unsupported`] where no descriptor or process is left, [`Unable::Failed`] where it died before it was ready.
pub fn start(cx: &SetUp<'_>, pinned: bool, body: impl FnOnce() -> Outcome) -> Result<Child, Unable> {
    let Pipe { reader, writer } = Pipe::new().map_err(lack::of_descriptors)?;
    let child = cx
        .fork_partner(pinned, || i32::from(pipe::write_byte(&writer).and_then(|()| body()).is_err()))
        .map_err(lack::of_processes)?;
    // Without our own end open, a partner that dies before it is ready is the end of the stream, and not a wait for ever.
    drop(writer);
    pipe::read_byte(&reader).map_err(|error| CallError::new("start of the partner process", error.errno))?;
    Ok(child)
}

/// Turns of both sides: each of ours is one of the partner's, or somebody did not wait.
pub struct Turns {
    partner: Arc<SharedWords>,
    ours: u64,
}

impl Turns {
    /// None made yet. The partner is forked, or its thread started, later.
    ///
    /// # Errors
    /// The call that failed: no memory to share.
    pub fn new() -> Result<Self, CallError> {
        Ok(Self { partner: Arc::new(SharedWords::new(1)?), ours: 0 })
    }

    /// The partner's counter.
    #[must_use]
    pub fn of_partner(&self) -> Counter {
        Counter { words: Arc::clone(&self.partner), turns: 0 }
    }

    /// So many of ours were made.
    pub fn add(&mut self, turns: u64) {
        self.ours += turns;
    }

    /// The partner has made as many as we have.
    #[must_use]
    pub fn verify(&self) -> PostCondition {
        let partner = self.partner.word(0).load(Ordering::Acquire);
        PostCondition::exactly("turns_of_the_partner", self.ours as f64, partner as f64)
    }
}

/// The partner's side of [`Turns`]: one store a turn, to a line that nobody else reads meanwhile.
pub struct Counter {
    words: Arc<SharedWords>,
    turns: u64,
}

impl Counter {
    /// A turn begins, and the other side still waits.
    #[inline(always)]
    pub fn turn(&mut self) {
        self.turns += 1;
        self.words.word(0).store(self.turns, Ordering::Release);
    }
}

/// Repeats a call that waits, as often as a signal interrupts it: that is no failure of the operation.
///
/// # Errors
/// The call's first other error.
#[inline(always)]
pub fn uninterrupted(call: impl Fn() -> Outcome) -> Outcome {
    loop {
        match call() {
            Err(error) if error.symbol() == Some("EINTR") => {}
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::protocol::keeper::Keeper;

    #[test]
    fn as_many_turns_of_the_partner_as_of_ours_are_a_post_condition() {
        let mut turns = Turns::new().expect("memory");
        let mut partner = turns.of_partner();
        assert!(turns.verify().holds(), "none of either");
        partner.turn();
        assert_eq!(turns.verify(), PostCondition::exactly("turns_of_the_partner", 0.0, 1.0));
        turns.add(3);
        partner.turn();
        assert!(!turns.verify().holds());
        turns.add(2);
        (0..3).for_each(|_| partner.turn());
        assert_eq!(turns.verify(), PostCondition::exactly("turns_of_the_partner", 5.0, 5.0));
    }

    #[test]
    fn a_signal_is_no_failure_and_another_error_is() {
        let calls = Cell::new(0);
        let ends = |errno: i32| {
            calls.set(0);
            uninterrupted(|| {
                calls.set(calls.get() + 1);
                let errors = [4, 4, errno];
                if errors[calls.get() - 1] == 0 {
                    Ok(())
                } else {
                    Err(CallError::new("read", errors[calls.get() - 1]))
                }
            })
        };
        assert_eq!((ends(0), calls.get()), (Ok(()), 3));
        assert_eq!((ends(5), calls.get()), (Err(CallError::new("read", 5)), 3));
    }

    /// A partner is there when it is told of, where it should be, and its exit code says whether a call of its failed.
    #[test]
    fn a_partner_runs_its_part_on_its_cpu_and_says_how_it_ended() {
        let cpus = oscost_sys::affinity::allowed().expect("CPUs");
        let keeper = &mut Keeper::in_private_namespaces();
        let cpu = cpus[cpus.len() - 1];
        let mut cx = SetUp {
            cpu: cpus[0],
            partner_cpu: cpu,
            cpus: &cpus,
            host_system_v_limits: None,
            keeper,
            directory: None,
        };
        let code = |cx: &SetUp<'_>, pinned: bool, outcome: fn(bool) -> Outcome| {
            let alone = |cpu| oscost_sys::affinity::allowed().is_ok_and(|allowed| allowed == [cpu]);
            start(cx, pinned, || outcome(alone(cx.partner_cpu)))
                .map(|child| child.wait().expect("it ends").code)
        };
        let if_true = |is: bool| if is { Ok(()) } else { Err(CallError::told("it is elsewhere")) };
        let if_false = |is: bool| if is { Err(CallError::told("it is there")) } else { Ok(()) };
        assert_eq!(code(&cx, true, if_true), Ok(Some(0)));
        assert_eq!(code(&cx, true, if_false), Ok(Some(1)));
        if cpus.len() > 1 {
            assert_eq!(code(&cx, false, if_false), Ok(Some(0)), "it runs where we may");
        }
        // No machine has so many CPUs: it ends before it is ready.
        cx.partner_cpu = usize::MAX;
        assert!(code(&cx, true, if_true).is_err());
        assert_eq!(code(&cx, false, if_false), Ok(Some(0)));
        let names = [cx.unique_name(), cx.unique_name()].map(|name| name.expect("random bits"));
        assert!(
            names[0] != names[1] && names.iter().all(|name| name.starts_with("/oscost-") && name.len() == 40)
        );
    }

    #[test]
    fn who_cannot_be_put_on_its_cpu_ends_at_once() {
        let cpus = oscost_sys::affinity::allowed().expect("CPUs");
        let keeper = &mut Keeper::in_private_namespaces();
        let (cpu, partner_cpu) = (cpus[0], usize::MAX);
        let cx = SetUp { cpu, partner_cpu, cpus: &cpus, host_system_v_limits: None, keeper, directory: None };
        let code = |pinned| cx.fork_partner(pinned, || 7).expect("fork").wait().expect("it ends").code;
        assert_eq!((code(true), code(false)), (Some(1), Some(7)));
    }
}
