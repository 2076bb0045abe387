//! Opens an event of the kernel or of the processor. perf_event_open(2).

use std::os::fd::OwnedFd;

use crate::{CallError, error::own};

/// The head of `struct perf_event_attr`, PERF_ATTR_SIZE_VER1.
#[repr(C)]
#[derive(Debug, Default)]
pub(crate) struct EventAttributes {
    pub kind: u32,
    /// Whatever stands here, [`open`] states it.
    pub size: u32,
    pub config: u64,
    pub sample_period: u64,
    pub sample_type: u64,
    pub read_format: u64,
    pub flags: u64,
    pub wakeup_events: u32,
    pub breakpoint_type: u32,
    pub config1: u64,
    pub config2: u64,
}

/// The event is off until it is told to count.
pub(crate) const DISABLED: u64 = 1;
pub(crate) const EXCLUDE_KERNEL: u64 = 1 << 5;
pub(crate) const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
/// The value is followed by the times for which the event was wanted, and for which it was counted.
pub(crate) const READ_TIMES: u64 = 1 | 2;
const CLOSE_ON_EXEC: libc::c_ulong = 8;

/// Opens the event for the calling thread on any CPU, in no group. A path in the attributes must live through the call.
///
/// # Errors
/// The error of perf_event_open.
pub(crate) fn open(attributes: EventAttributes) -> Result<OwnedFd, CallError> {
    open_for(attributes, 0, -1)
}

/// Opens the event for whoever runs on one CPU, which privileged users alone may do.
///
/// # Errors
/// The error of perf_event_open.
pub(crate) fn open_on_cpu(attributes: EventAttributes, cpu: i32) -> Result<OwnedFd, CallError> {
    open_for(attributes, -1, cpu)
}

fn open_for(attributes: EventAttributes, thread: i32, cpu: i32) -> Result<OwnedFd, CallError> {
    let attributes = EventAttributes { size: size_of::<EventAttributes>() as u32, ..attributes };
    // SAFETY: the kernel reads `size` bytes of the attributes, and a path that they point to only where it can be read.
    let fd = unsafe {
        libc::syscall(libc::SYS_perf_event_open, &raw const attributes, thread, cpu, -1, CLOSE_ON_EXEC)
    };
    // SAFETY: the descriptor is new.
    unsafe { own("perf_event_open", i32::try_from(fd).unwrap_or(-1)) }
}
