//! Capabilities of this process.

use super::system::System;

/// Bits of a capability set; capabilities(7).
pub(super) const IPC_LOCK: u32 = 14;
pub(super) const SYS_NICE: u32 = 23;

/// Whether the process has a capability; `None` where /proc/self/status does not say.
pub(super) fn capable(system: &System, bit: u32) -> Option<bool> {
    let set = u64::from_str_radix(&system.own_status("CapEff")?, 16).ok()?;
    Some(set >> bit & 1 == 1)
}
