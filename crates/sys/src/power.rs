//! Keeping idle CPUs from sleeping: the kernel's latency limit. Documentation/power/pm_qos_interface.rst of Linux.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::fd::OwnedFd;

use crate::CallError;

/// Asks the kernel that no idle CPU takes time to wake: they poll. In force while the descriptor is open, on all CPUs.
///
/// # Errors
/// EACCES for most users, ENOENT where the kernel has no such device.
pub fn stay_awake() -> Result<OwnedFd, CallError> {
    let failed =
        |call| move |error: std::io::Error| CallError::new(call, error.raw_os_error().unwrap_or(libc::EIO));
    let mut device = OpenOptions::new().write(true).open("/dev/cpu_dma_latency").map_err(failed("open"))?;
    device.write_all(&0i32.to_ne_bytes()).map_err(failed("write"))?;
    Ok(device.into())
}
