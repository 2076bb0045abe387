//! Random numbers from the kernel, for unpredictable names. getrandom(2).

use crate::CallError;

/// 128 random bits.
///
/// # Errors
/// The error of getrandom.
pub fn bits() -> Result<u128, CallError> {
    let mut bytes = [0u8; 16];
    // SAFETY: the kernel writes at most 16 bytes to a local array.
    let written = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    if written == 16 { Ok(u128::from_ne_bytes(bytes)) } else { Err(CallError::last("getrandom")) }
}
