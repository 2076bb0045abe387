//! System calls for a guest's first process, and for a debugger outside the machine.

use std::ffi::CString;
use std::fs::File;
use std::os::fd::AsRawFd;

use crate::{
    CallError,
    error::{check, own},
};

/// An empty file in memory that has no name. It is left open over exec: another program opens it as /proc/self/fd/N.
/// memfd_create(2).
///
/// # Errors
/// The error of memfd_create.
pub fn memory_file() -> Result<File, CallError> {
    // SAFETY: the name is a C string; the descriptor is new.
    Ok(File::from(unsafe { own("memfd_create", libc::memfd_create(c"oscost".as_ptr(), 0)) }?))
}

/// Mounts a file system that needs no device. mount(2).
///
/// # Errors
/// The error of mount; EINVAL where a text holds a zero byte.
pub fn mount(kind: &str, target: &str, options: &str) -> Result<(), CallError> {
    let text = |text: &str| CString::new(text).map_err(|_| CallError::new("mount", libc::EINVAL));
    let (kind, target, options) = (text(kind)?, text(target)?, text(options)?);
    let flags = libc::MS_NOSUID;
    // SAFETY: every pointer is a C string that lives through the call.
    let result =
        unsafe { libc::mount(kind.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, options.as_ptr().cast()) };
    check("mount", result).map(|_| ())
}

/// Brings the loopback device up, which gives it the address 127.0.0.1. netdevice(7).
///
/// # Errors
/// The error of socket or ioctl: EPERM where the caller may not, ENODEV where the kernel has no such device.
pub fn bring_up_loopback() -> Result<(), CallError> {
    let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
    // SAFETY: socket touches no memory; the descriptor is new.
    let socket = unsafe { own("socket", libc::socket(libc::AF_INET, kind, 0)) }?;
    // SAFETY: an all-zero ifreq is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, &byte) in request.ifr_name.iter_mut().zip(c"lo".to_bytes()) {
        *place = byte as libc::c_char;
    }
    // SAFETY: the kernel reads and writes one ifreq, a local variable.
    check("ioctl", unsafe {
        libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS as libc::Ioctl, &raw mut request)
    })?;
    // SAFETY: SIOCGIFFLAGS has written this member of the union.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    request.ifr_ifru.ifru_flags = flags | libc::IFF_UP as libc::c_short;
    // SAFETY: the kernel reads one ifreq, a local variable.
    check("ioctl", unsafe {
        libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as libc::Ioctl, &raw const request)
    })
    .map(|_| ())
}

/// Makes a serial line carry bytes as they are: no echo, no translation. termios(3).
///
/// # Errors
/// The error of tcgetattr or tcsetattr: ENOTTY where `file` is no line.
pub fn carry_bytes(file: &File) -> Result<(), CallError> {
    // SAFETY: an all-zero termios is valid.
    let mut state: libc::termios = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one termios to a local variable.
    check("tcgetattr", unsafe { libc::tcgetattr(file.as_raw_fd(), &raw mut state) })?;
    // SAFETY: cfmakeraw changes the local variable and nothing else.
    unsafe { libc::cfmakeraw(&raw mut state) };
    // SAFETY: the kernel reads one termios from a local variable.
    check("tcsetattr", unsafe { libc::tcsetattr(file.as_raw_fd(), libc::TCSANOW, &raw const state) })
        .map(|_| ())
}

/// Waits until a serial line has sent everything. tcdrain(3).
///
/// # Errors
/// The error of tcdrain.
pub fn sent(file: &File) -> Result<(), CallError> {
    // SAFETY: tcdrain touches no memory.
    check("tcdrain", unsafe { libc::tcdrain(file.as_raw_fd()) }).map(|_| ())
}

/// Instructions of a pass of the long loop: an emulator translates them as one block, and leaves it once a pass.
const PASS: u64 = 64;

/// Executes exactly this many instructions, and some more that are always the same: an emulated machine's clock counts them.
#[inline(always)]
pub fn execute(instructions: u64) {
    let (long, rest) = (instructions / PASS, instructions % PASS);
    let (passes, odd) = (rest / 2 + 1, rest % 2);
    // 64 instructions a pass; then two a pass, and one more where the number is odd.
    #[cfg(target_arch = "x86_64")]
    // SAFETY: changes the two registers it is given and the flags, and touches no memory.
    unsafe {
        std::arch::asm!("test {long}, {long}", "jz 3f", "2:", ".rept 62", "nop", ".endr", "dec {long}", "jnz 2b", "3:",
            "4: dec {passes}", "jnz 4b", "test {odd}, {odd}", "jz 5f", "nop", "5:",
            long = inout(reg) long => _, passes = inout(reg) passes => _, odd = in(reg) odd, options(nomem, nostack));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: changes the two registers it is given and the flags, and touches no memory.
    unsafe {
        std::arch::asm!("cbz {long}, 3f", "2:", ".rept 62", "nop", ".endr", "subs {long}, {long}, #1", "b.ne 2b", "3:",
            "4: subs {passes}, {passes}, #1", "b.ne 4b", "cbz {odd}, 5f", "nop", "5:",
            long = inout(reg) long => _, passes = inout(reg) passes => _, odd = in(reg) odd, options(nomem, nostack));
    }
}

/// Where [`Marks`] lie: an address that is free in every process of x86_64 and aarch64, whatever its kernel.
pub const MARKS: u64 = 0x10_0000_0000;

/// Where the second of them lies: nobody stops there.
pub const QUIET_MARK: u64 = MARKS + 64;

/// Two functions at fixed addresses that do nothing. At the first a debugger outside the machine stops, and reads the
/// arguments from the registers and what they point to from memory; the second is only seen to be executed. Without a
/// debugger each costs a call and a return.
#[derive(Debug)]
pub struct Marks {
    stop: extern "C" fn(u64, u64, u64),
    quiet: extern "C" fn(),
}

impl Marks {
    /// Puts the functions to their places. mmap(2), mprotect(2).
    ///
    /// # Errors
    /// The error of mmap (EEXIST where the place is taken) or mprotect.
    pub fn new() -> Result<Self, CallError> {
        #[cfg(target_arch = "x86_64")]
        const RETURN: &[u8] = &[0xc3]; // ret
        #[cfg(target_arch = "aarch64")]
        const RETURN: &[u8] = &[0xc0, 0x03, 0x5f, 0xd6]; // ret
        const QUIET: usize = (QUIET_MARK - MARKS) as usize;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let place = MARKS as *mut libc::c_void;
        // SAFETY: a new mapping that replaces none; the kernel refuses where something is there.
        let page = unsafe { libc::mmap(place, 4096, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if page == libc::MAP_FAILED {
            return Err(CallError::last("mmap"));
        }
        if page != place {
            // A kernel older than the flag takes the address as a wish.
            return Err(CallError::new("mmap", libc::EEXIST));
        }
        // SAFETY: the page was mapped for writing above; both places lie in its 4096 bytes.
        let quiet = unsafe {
            std::ptr::copy_nonoverlapping(RETURN.as_ptr(), page.cast::<u8>(), RETURN.len());
            let quiet = page.cast::<u8>().add(QUIET);
            std::ptr::copy_nonoverlapping(RETURN.as_ptr(), quiet, RETURN.len());
            quiet
        };
        // SAFETY: the page is ours; nobody writes to it again.
        let done = unsafe { libc::mprotect(page, 4096, libc::PROT_READ | libc::PROT_EXEC) };
        check("mprotect", done)?;
        // SAFETY: each place holds a whole function of its signature, is executable, and stays as long as the process. No
        // instruction was ever fetched from there, and the page fault of the first fetch orders it after the stores.
        let (stop, quiet) = unsafe {
            (
                std::mem::transmute::<*mut libc::c_void, extern "C" fn(u64, u64, u64)>(page),
                std::mem::transmute::<*mut u8, extern "C" fn()>(quiet),
            )
        };
        Ok(Self { stop, quiet })
    }

    /// Passes the place at which a debugger stops, with these numbers.
    pub fn pass(&self, kind: u64, number: u64, other: u64) {
        (self.stop)(kind, number, other);
    }

    /// Passes it with a text: its address and length.
    pub fn tell(&self, kind: u64, text: &[u8]) {
        self.pass(kind, text.as_ptr() as u64, text.len() as u64);
    }

    /// Passes the place at which nobody stops.
    #[inline(always)]
    pub fn pass_quietly(&self) {
        (self.quiet)();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, SeekFrom, Write};

    #[test]
    fn a_memory_file_is_read_by_its_descriptor() {
        let mut file = memory_file().expect("a file");
        file.write_all(b"words").expect("written");
        file.seek(SeekFrom::Start(0)).expect("a start");
        let mut text = String::new();
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        File::open(path).expect("opened again").read_to_string(&mut text).expect("read");
        assert_eq!(text, "words");
    }

    #[test]
    fn the_place_is_passed_and_cannot_be_taken_twice() {
        let marks = Marks::new().expect("a free place");
        marks.pass(1, 2, 3);
        marks.tell(1, b"text");
        marks.pass_quietly();
        assert_eq!(Marks::new().expect_err("taken").errno, libc::EEXIST);
    }

    #[test]
    fn more_instructions_take_longer() {
        let took = |instructions: u64| {
            let begun = std::time::Instant::now();
            execute(instructions);
            begun.elapsed()
        };
        execute(0);
        execute(1);
        let least = |instructions: u64| (0..5).map(|_| took(instructions)).min().expect("five");
        assert!(least(40_000_001) > least(4_000_000));
    }

    #[test]
    fn loopback_is_brought_up_or_refused() {
        // Where it is up it stays so. Without the right to do it, or without the device, that is said.
        match bring_up_loopback() {
            Ok(()) => assert!(std::net::TcpListener::bind("127.0.0.1:0").is_ok()),
            Err(error) => assert!(matches!(error.symbol(), Some("EPERM" | "ENODEV")), "{error}"),
        }
    }

    #[test]
    fn a_file_is_no_line() {
        let file = memory_file().expect("a file");
        assert_eq!(
            carry_bytes(&file).expect_err("refused").symbol(),
            CallError::new("", libc::ENOTTY).symbol()
        );
        assert!(mount("oscost\0", "/", "").is_err());
    }
}
