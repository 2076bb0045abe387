//! A BPF program of a few instructions, which counts how often it ran: on a tracepoint of the call, or on a probe before it.

use oscost_harness::Card;
use oscost_sys::bpf::{AttachedTo, CountingProgram, probed_getppid};

use super::layer::{self, Active, Layer, Tax};
use super::seccomp::getppid;
use super::watched::Watches;
use crate::lack;

/// `tax/bpf/tracepoint`
pub static TRACEPOINT: Tax = Tax {
    card: &Card {
        id: "tax/bpf/tracepoint",
        title: "getppid under a BPF tracepoint",
        operation: "one getppid whose tracepoint sys_enter_getppid runs a BPF program that counts those of one thread",
        // Meanwhile every call of every process takes the way of traced ones: none of another layer.
        group: "tax/tracepoint",
        remark: "during the measurement, every system call of every process takes the kernel's slower traced path: what it adds is measured against the time before",
        ..layer::CARD
    },
    on: None,
    layer: Layer {
        install: |call| attached(AttachedTo::Tracepoint(call)),
        calls: getppid,
        lack: lack::of_bpf,
        watches: Watches::OneCall,
        listens: false,
        everywhere: true,
    },
};
/// `tax/bpf/uprobe`
pub static UPROBE: Tax = Tax {
    card: &Card {
        id: "tax/bpf/uprobe",
        title: "getppid behind a BPF uprobe",
        operation: "one getppid in a function whose first instruction, a nop, has a uprobe with a BPF program that counts those of one thread",
        ..layer::CARD
    },
    on: None,
    layer: Layer {
        install: |_| attached(AttachedTo::Uprobe),
        calls: probed,
        watches: Watches::OwnFunction,
        everywhere: false,
        ..TRACEPOINT.layer
    },
};

#[inline(never)]
fn probed(calls: u64) {
    for _ in 0..calls {
        probed_getppid();
    }
}

fn attached(place: AttachedTo) -> Result<Active, oscost_harness::CallError> {
    let counted = CountingProgram::attach(place)?;
    Ok(Active::Counter(Box::new(move || counted.count())))
}
