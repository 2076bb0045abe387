//! Random bytes by the vDSO's getrandom, found by its name in the image: a C library before glibc 2.41 does not call it.
//!
//! Source: Documentation/ABI/stable/vdso and include/uapi/linux/random.h of Linux (from 6.11 on).

use std::ffi::{CStr, c_void};

use crate::{CallError, mapping::Mapping};

#[cfg(target_arch = "x86_64")]
const NAME: &CStr = c"__vdso_getrandom";
#[cfg(target_arch = "aarch64")]
const NAME: &CStr = c"__kernel_getrandom";

type Function = unsafe extern "C" fn(*mut c_void, usize, u32, *mut c_void, usize) -> isize;

/// What the function says that its state needs: `struct vgetrandom_opaque_params`.
#[repr(C)]
#[derive(Default)]
struct RandomParameters {
    state_bytes: u32,
    protection: u32,
    flags: u32,
    reserved: [u32; 13],
}

/// A generator of this thread, with a state that the kernel may drop and that no child inherits.
#[derive(Debug)]
pub struct VdsoRandom {
    function: Function,
    state: Mapping,
    state_bytes: usize,
}

/// So much is mapped for one state, which must not straddle pages.
const PAGE: usize = 4096;

impl VdsoRandom {
    /// Finds the function and maps its state; `None` where this kernel's vDSO has no such function.
    ///
    /// # Errors
    /// The error of mmap.
    pub fn new() -> Result<Option<Self>, CallError> {
        let Some(address) = address_of(NAME) else { return Ok(None) };
        // SAFETY: the kernel's own image defines this symbol as a function of this type.
        let function: Function = unsafe { std::mem::transmute::<usize, Function>(address) };
        let mut parameters = RandomParameters::default();
        // SAFETY: with this length the function writes one RandomParameters to a local variable and nothing else.
        let status = unsafe {
            function(std::ptr::null_mut(), 0, 0, std::ptr::from_mut(&mut parameters).cast(), usize::MAX)
        };
        let state_bytes = parameters.state_bytes as usize;
        if status != 0 || state_bytes == 0 || state_bytes > PAGE {
            return Ok(None);
        }
        let (protection, flags) = (parameters.protection.cast_signed(), parameters.flags.cast_signed());
        let state = Mapping::new(PAGE, protection, flags, None)?;
        Ok(Some(Self { function, state, state_bytes }))
    }

    /// Fills `bytes`.
    ///
    /// # Errors
    /// The error of getrandom, to which the function turns where it cannot answer.
    #[inline(always)]
    pub fn fill(&mut self, bytes: &mut [u8]) -> Result<(), CallError> {
        // SAFETY: writes at most `bytes.len()` bytes of a mutable borrow, and the state, which is ours alone.
        let made = unsafe {
            (self.function)(
                bytes.as_mut_ptr().cast(),
                bytes.len(),
                0,
                self.state.start().as_ptr(),
                self.state_bytes,
            )
        };
        match usize::try_from(made) {
            Ok(made) if made == bytes.len() => Ok(()),
            Ok(_) => Err(CallError::short("getrandom")),
            Err(_) => Err(CallError::new("getrandom", i32::try_from(-made).unwrap_or(0))),
        }
    }
}

/// Reads a value of the image.
///
/// # Safety
/// `address` must lie in the image of the vDSO, with room for a `T`.
unsafe fn at<T: Copy>(address: usize) -> T {
    // SAFETY: the caller vouches for the address; unaligned reads are allowed.
    unsafe { std::ptr::read_unaligned(std::ptr::with_exposed_provenance::<T>(address)) }
}

/// Address of the function `name` in the vDSO; `None` where it has none. elf(5).
fn address_of(name: &CStr) -> Option<usize> {
    const LOAD: u32 = 1;
    const DYNAMIC: u32 = 2;
    // SAFETY: getauxval reads the auxiliary vector.
    let image =
        usize::try_from(unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) }).ok().filter(|it| *it != 0)?;
    // SAFETY: all reads below follow the headers of the image that the kernel made and mapped whole.
    unsafe {
        let (headers, size, count): (u64, u16, u16) = (at(image + 32), at(image + 54), at(image + 56));
        let (mut shift, mut dynamic) = (None, None);
        for index in 0..usize::from(count) {
            let header = image + usize::try_from(headers).ok()? + index * usize::from(size);
            let (kind, offset, address): (u32, u64, u64) = (at(header), at(header + 8), at(header + 16));
            match kind {
                LOAD if shift.is_none() => {
                    shift = Some((image as u64).wrapping_add(offset).wrapping_sub(address))
                }
                DYNAMIC => dynamic = Some(image + usize::try_from(offset).ok()?),
                _ => {}
            }
        }
        let shift = usize::try_from(shift?).ok()?;
        let entry = |tag: u64| -> Option<usize> {
            (0..).map(|index| dynamic.unwrap_or(0) + index * 16).find_map(|place| match at::<u64>(place) {
                0 => Some(None),
                found if found == tag => Some(usize::try_from(at::<u64>(place + 8)).ok()),
                _ => None,
            })?
        };
        dynamic?;
        let (names, symbols) = (shift + entry(5)?, shift + entry(6)?);
        (1..symbols_in(shift, &entry)?).map(|index| symbols + index * 24).find_map(|symbol| {
            let (offset, section, value): (u32, u16, u64) = (at(symbol), at(symbol + 6), at(symbol + 8));
            let found = CStr::from_ptr(std::ptr::with_exposed_provenance(names + offset as usize));
            (section != 0 && found == name).then(|| shift + usize::try_from(value).unwrap_or(0))
        })
    }
}

/// How many symbols there are, by the hash table of either kind.
///
/// # Safety
/// `shift` and `entry` must be those of the vDSO.
unsafe fn symbols_in(shift: usize, entry: &dyn Fn(u64) -> Option<usize>) -> Option<usize> {
    const HASH: u64 = 4;
    const GNU_HASH: u64 = 0x6fff_fef5;
    // SAFETY: the tables are those that the image names, and are read as far as they say.
    unsafe {
        if let Some(table) = entry(HASH) {
            return Some(at::<u32>(shift + table + 4) as usize);
        }
        let table = shift + entry(GNU_HASH)?;
        let [buckets, first, blooms]: [u32; 3] = at(table);
        let bucket = table + 16 + blooms as usize * 8;
        let chain = bucket + buckets as usize * 4;
        let mut last = (0..buckets as usize).map(|index| at::<u32>(bucket + index * 4)).max()?;
        while last >= first && at::<u32>(chain + (last - first) as usize * 4) & 1 == 0 {
            last += 1;
        }
        Some(last as usize + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_vdso_has_is_found_and_nothing_else() {
        let known =
            if cfg!(target_arch = "x86_64") { c"__vdso_clock_gettime" } else { c"__kernel_clock_gettime" };
        assert_eq!(address_of(known).is_some(), crate::vdso::exists());
        assert_eq!(address_of(c"__vdso_of_nobody"), None);
    }

    #[test]
    fn bytes_are_filled_and_differ() {
        let Some(mut random) = VdsoRandom::new().expect("mmap") else {
            return println!("SKIP bytes_are_filled_and_differ: this kernel's vDSO has no getrandom");
        };
        let mut found = [[0_u8; 16]; 3];
        found.iter_mut().for_each(|bytes| random.fill(bytes).expect("filled"));
        assert!(found[0] != found[1] && found[1] != found[2] && found[0] != [0; 16], "{found:?}");
    }
}
