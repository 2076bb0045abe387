//! A server inside the kernel, without a module: a BPF timer stamps each tick and wakes everybody through a ring buffer.
//! bpf(2), BPF_MAP_TYPE_RINGBUF, bpf_timer_start of bpf-helpers(7).

#[cfg(feature = "bpf")]
mod lack;
#[cfg(feature = "bpf")]
mod loaded;

#[cfg(feature = "bpf")]
pub use loaded::make;

/// Says what was left out of this program.
#[cfg(not(feature = "bpf"))]
pub fn make(
    _: &mut super::course::Ground,
    _: &super::course::Course,
    _: &std::rc::Rc<super::table::Table>,
) -> super::transport::Made {
    Err(oscost_harness::Unable::Unsupported {
        why: "this program was built without the feature bpf, which loads the server into the kernel"
            .to_owned(),
        remedy: "cargo build --release --locked, with the default features".to_owned(),
    })
}
