//! Filters of system calls: one rule, the rules of Docker's default profile, and a listener that is asked.

use std::sync::atomic::Ordering;

use oscost_harness::{Bound, CallError, Card, Claim, claims};
use oscost_sys::seccomp::{self, Filter};
use oscost_sys::{system_call, system_call_names};

use super::layer::{self, Active, Layer, Tax};
use super::watched::Watches;
use crate::lack;

/// `tax/seccomp/allow_1`
pub static ALLOW_1: Tax = Tax {
    card: &Card {
        id: "tax/seccomp/allow_1",
        title: "getppid under a filter of one rule",
        operation: "one getppid under a seccomp filter of one rule, which allows it",
        ..layer::CARD
    },
    on: None,
    layer: Layer {
        install: |_| Filter::one_rule().install().map(|()| answered()),
        calls: getppid,
        lack: lack::of_filters,
        watches: Watches::AllCalls,
        listens: false,
        everywhere: false,
    },
};
/// `tax/seccomp/docker_default`
pub static DOCKER_DEFAULT: Tax = Tax {
    card: &Card {
        id: "tax/seccomp/docker_default",
        title: "getppid under Docker's default profile",
        operation: "one getppid under the seccomp rules of Docker's default profile",
        remark: "since Linux 5.11 the kernel remembers calls that a filter always allows, however long it is",
        ..layer::CARD
    },
    on: None,
    layer: Layer { install: |_| Filter::containers().install().map(|()| answered()), ..ALLOW_1.layer },
};
/// `tax/seccomp/notify`
pub static NOTIFY: Tax = Tax {
    card: &Card {
        id: "tax/seccomp/notify",
        title: "getppid that a seccomp listener allows",
        operation: "one getppid that a seccomp filter refers to a listening thread, which lets it continue",
        remark: "before a call the listener sleeps, as after any pause of the caller; in a long row of calls the scheduler sets it \
                 aside instead, and a call costs a fifth less, here and in plain C",
        claims: &[
            Claim::CallsNamed(&["getppid"], Bound::Exactly(1.0)),
            // The listener takes a call and lets it go on; it may take the first or the last one out of the bracket.
            Claim::CallsNamed(&["ioctl"], claims::shared(2.0)),
            Claim::OtherCalls(Bound::Exactly(0.0)),
        ],
        ..layer::CARD
    },
    on: None,
    layer: Layer {
        install: |call| {
            let number = system_call_names::number(call);
            let number = number.ok_or(CallError::told("a call without a known number"))?;
            let heard = Filter::asking(number).install_with_listener()?;
            Ok(Active::Counter(Box::new(|| Ok(heard.load(Ordering::Acquire)))))
        },
        watches: Watches::OneCall,
        listens: true,
        ..ALLOW_1.layer
    },
};

#[inline(never)]
pub fn getppid(calls: u64) {
    for _ in 0..calls {
        system_call::getppid();
    }
}

/// A filter proves itself by its answer to a call that no kernel has.
fn answered() -> Active {
    Active::Answer(seccomp::answers)
}

#[cfg(test)]
mod tests {
    use oscost_harness::Unable;

    use crate::seen::with_set_up;
    use crate::tax::on;

    /// An unknown call: the kernel has no such call, and the profile does not permit it.
    #[test]
    fn what_the_layer_refuses_is_no_failure() {
        let cpu = oscost_sys::affinity::allowed().expect("CPUs")[0];
        let tax = on::resolve("tax/seccomp/docker_default/on/syscall/invalid").expect("it fits");
        let set_up = with_set_up(&[cpu], |cx| tax.set_up(cx).map(drop));
        let Err(Unable::Unsupported { why, .. }) = set_up else { panic!("{set_up:?}") };
        let refusal = "the operation under the layer failed: Operation not permitted (EPERM)";
        assert_eq!(why, format!("{refusal}: this layer refuses a call of syscall/invalid"));
    }
}
