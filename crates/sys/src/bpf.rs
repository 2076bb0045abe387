//! A BPF program of a few instructions that counts how often it ran, on a tracepoint or a probe of the calling process.
//! bpf(2), perf_event_open(2).

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::perf_event::{self, DISABLED, EventAttributes};
use crate::{CallError, error::check};

/// One instruction: operation, registers (source << 4 | target), offset, constant.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Instruction {
    operation: u8,
    registers: u8,
    offset: i16,
    constant: i32,
}

const fn instruction(operation: u8, registers: u8, offset: i16, constant: i32) -> Instruction {
    Instruction { operation, registers, offset, constant }
}

const MAP_CREATE: libc::c_long = 0;
const MAP_LOOKUP: libc::c_long = 1;
const PROGRAM_LOAD: libc::c_long = 5;
const ARRAY: u32 = 2;
const KPROBE: u32 = 2;
const TRACEPOINT: u32 = 5;

/// The parts of `union bpf_attr` that are used, padded with zeros to what every kernel that has the call knows.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy)]
struct MapAttributes {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
    flags: u32,
}

#[repr(C)]
#[derive(Debug, Default, Clone, Copy)]
struct LookupAttributes {
    map: u32,
    unused: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
#[derive(Debug, Default, Clone, Copy)]
struct ProgramAttributes {
    kind: u32,
    count: u32,
    instructions: u64,
    licence: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
}

fn bpf<T>(command: libc::c_long, attributes: &T) -> Result<i32, CallError> {
    // SAFETY: the kernel reads as many bytes of the attributes as they have; pointers in them live through the call.
    let result =
        unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(attributes), size_of::<T>()) };
    check("bpf", i32::try_from(result).unwrap_or(-1))
}

/// A program that is attached, and its count. All of it goes with the process.
#[derive(Debug)]
pub struct CountingProgram {
    map: OwnedFd,
    _program: OwnedFd,
    _event: OwnedFd,
}

/// Where a program is attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttachedTo {
    /// The tracepoint at the entry of the system call of this name.
    Tracepoint(&'static str),
    /// The first instruction, a `nop`, of [`probed_getppid`].
    Uprobe,
}

impl CountingProgram {
    /// Attaches a program to what the calling thread does at a place.
    ///
    /// # Errors
    /// The error of bpf or perf_event_open (EPERM: this user may not), ENOENT of open where tracefs is not mounted.
    pub fn attach(place: AttachedTo) -> Result<Self, CallError> {
        let own = |fd: i32| {
            // SAFETY: the kernel has just handed out this descriptor to us alone.
            unsafe { OwnedFd::from_raw_fd(fd) }
        };
        let map = MapAttributes { kind: ARRAY, key_bytes: 4, value_bytes: 8, entries: 1, flags: 0 };
        let map = own(bpf(MAP_CREATE, &map)?);
        let program = counting(map.as_raw_fd(), caller()?);
        let program = ProgramAttributes {
            kind: if place == AttachedTo::Uprobe { KPROBE } else { TRACEPOINT },
            count: program.len() as u32,
            instructions: program.as_ptr().addr() as u64,
            licence: c"GPL".as_ptr().addr() as u64,
            ..ProgramAttributes::default()
        };
        let program = own(bpf(PROGRAM_LOAD, &program)?);
        let event = match place {
            AttachedTo::Tracepoint(call) => tracepoint(call)?,
            AttachedTo::Uprobe => uprobe()?,
        };
        // SAFETY: the kernel takes a descriptor by value.
        check("ioctl", unsafe { libc::ioctl(event.as_raw_fd(), SET_BPF, program.as_raw_fd()) })?;
        // SAFETY: without an argument.
        check("ioctl", unsafe { libc::ioctl(event.as_raw_fd(), ENABLE, 0) })?;
        Ok(Self { map, _program: program, _event: event })
    }

    /// How often the program ran.
    ///
    /// # Errors
    /// The error of bpf.
    pub fn count(&self) -> Result<u64, CallError> {
        let (key, mut value) = (0u32, 0u64);
        let attributes = LookupAttributes {
            map: self.map.as_raw_fd().unsigned_abs(),
            key: (&raw const key).addr() as u64,
            value: (&raw mut value).expose_provenance() as u64,
            ..LookupAttributes::default()
        };
        bpf(MAP_LOOKUP, &attributes)?;
        // SAFETY: reads a local variable, which the kernel has written through its address.
        Ok(unsafe { (&raw const value).read_volatile() })
    }
}

/// The device and the number of the calling process's PID namespace, as stat(2) has them, and its thread's number there.
fn caller() -> Result<(i32, i32, i32), CallError> {
    use std::os::linux::fs::MetadataExt;
    let here = std::fs::metadata("/proc/self/ns/pid")
        .map_err(|error| CallError::new("stat", error.raw_os_error().unwrap_or(libc::EIO)))?;
    // Both fit: the kernel numbers namespaces by 32 bits, and the device has no major number.
    Ok((here.st_dev() as i32, here.st_ino() as u32 as i32, crate::thread::id()))
}

/// Adds one to the only value of the map where the thread `id` of this namespace is running: the kernel runs a program on a
/// tracepoint for every process, whichever thread its event was opened for.
fn counting(map: i32, (device, namespace, id): (i32, i32, i32)) -> [Instruction; 21] {
    [
        instruction(0xb7, 0x01, 0, device),    // r1 = device
        instruction(0xb4, 0x02, 0, namespace), // w2 = namespace
        instruction(0xbf, 0xa3, 0, 0),         // r3 = r10
        instruction(0x07, 0x03, 0, -16),       // r3 += -16
        instruction(0xb7, 0x04, 0, 8),         // r4 = 8
        instruction(0x85, 0x00, 0, 120),       // r0 = bpf_get_ns_current_pid_tgid(r1, r2, r3, r4)
        instruction(0x55, 0x00, 12, 0),        // if r0 != 0 goto the end
        instruction(0x61, 0xa1, -16, 0),       // r1 = *(u32 *)(r10 - 16)
        instruction(0xb4, 0x02, 0, id),        // w2 = id
        instruction(0x5d, 0x21, 9, 0),         // if r1 != r2 goto the end
        instruction(0x62, 0x0a, -4, 0),        // *(u32 *)(r10 - 4) = 0
        instruction(0xbf, 0xa2, 0, 0),         // r2 = r10
        instruction(0x07, 0x02, 0, -4),        // r2 += -4
        instruction(0x18, 0x11, 0, map),       // r1 = map, in two instructions
        instruction(0x00, 0x00, 0, 0),
        instruction(0x85, 0x00, 0, 1), // r0 = bpf_map_lookup_elem(r1, r2)
        instruction(0x15, 0x00, 2, 0), // if r0 == 0 goto the end
        instruction(0xb7, 0x01, 0, 1), // r1 = 1
        instruction(0xdb, 0x10, 0, 0), // lock *(u64 *)(r0 + 0) += r1
        instruction(0xb7, 0x00, 0, 0), // r0 = 0
        instruction(0x95, 0x00, 0, 0), // exit
    ]
}

const PERF_TYPE_TRACEPOINT: u32 = 2;
const SET_BPF: libc::Ioctl = 0x4004_2408;
const ENABLE: libc::Ioctl = 0x2400;
/// An event each time, once it is told to.
fn each_time() -> EventAttributes {
    EventAttributes { flags: DISABLED, sample_period: 1, ..EventAttributes::default() }
}

/// The number that a file of the kernel holds. Whoever has no descriptor left is told so, not that there is no such file.
fn number_in<N: std::str::FromStr>(path: &str, what: &'static str) -> Result<N, CallError> {
    let text = crate::file::text(path)
        .map_err(|error| CallError::new(what, error.raw_os_error().unwrap_or(libc::ENOENT)))?;
    text.trim().parse().map_err(|_| CallError::new(what, libc::ENOENT))
}

fn tracepoint(call: &str) -> Result<OwnedFd, CallError> {
    // Calls that have an older form are called new there (newfstatat has it in its name, stat has not).
    let id = |folder: &str, new: &str| {
        let path = format!("{folder}/events/syscalls/sys_enter_{new}{call}/id");
        number_in(&path, "open of the tracepoint's id")
    };
    let in_folder = |folder: &str| id(folder, "").or_else(|_| id(folder, "new"));
    let config = in_folder("/sys/kernel/tracing").or_else(|_| in_folder("/sys/kernel/debug/tracing"))?;
    perf_event::open(EventAttributes { kind: PERF_TYPE_TRACEPOINT, config, ..each_time() })
}

fn uprobe() -> Result<OwnedFd, CallError> {
    let kind = number_in("/sys/bus/event_source/devices/uprobe/type", "open of the type of uprobes")?;
    let entry: unsafe extern "C" fn() -> i64 = oscost_probed_getppid;
    let (path, offset) =
        mapped_from(entry as usize as u64).ok_or(CallError::new("read of /proc/self/maps", libc::ENOENT))?;
    let path = std::ffi::CString::new(path).map_err(|_| CallError::new("open", libc::EINVAL))?;
    perf_event::open(EventAttributes {
        kind,
        config1: path.as_ptr().addr() as u64,
        config2: offset,
        ..each_time()
    })
}

/// The file that an address of the calling process is mapped from, and where in it.
fn mapped_from(address: u64) -> Option<(String, u64)> {
    crate::file::text("/proc/self/maps").ok()?.lines().find_map(|line| {
        let mut words = line.splitn(6, ' ');
        let (start, end) = words.next()?.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        let (start, end) = (number(start)?, number(end)?);
        let offset = number(words.nth(1)?)?;
        let path = words.nth(2)?.trim_start();
        ((start..end).contains(&address) && path.starts_with('/'))
            .then(|| (path.to_owned(), address - start + offset))
    })
}

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".globl oscost_probed_getppid",
    ".type oscost_probed_getppid, @function",
    "oscost_probed_getppid:",
    "nop",
    "mov eax, 110",
    "syscall",
    "ret",
    ".size oscost_probed_getppid, . - oscost_probed_getppid",
);
#[cfg(target_arch = "aarch64")]
std::arch::global_asm!(
    ".globl oscost_probed_getppid",
    ".type oscost_probed_getppid, @function",
    "oscost_probed_getppid:",
    "nop",
    "mov x8, #173",
    "svc #0",
    "ret",
    ".size oscost_probed_getppid, . - oscost_probed_getppid",
);

unsafe extern "C" {
    fn oscost_probed_getppid() -> i64;
}

/// getppid(2) by a function whose first instruction may be probed.
#[inline(always)]
pub fn probed_getppid() -> i64 {
    // SAFETY: getppid takes no argument and touches no memory; the function keeps to the calling convention.
    unsafe { oscost_probed_getppid() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system_call;

    /// Another thread makes the same calls meanwhile: they are none of ours.
    #[test]
    fn a_program_counts_each_pass() {
        for place in [AttachedTo::Tracepoint("getppid"), AttachedTo::Uprobe] {
            match CountingProgram::attach(place) {
                Ok(counted) => {
                    let other = std::thread::spawn(|| (0..100).for_each(|_| _ = probed_getppid()));
                    (0..100).for_each(|_| _ = probed_getppid());
                    other.join().unwrap();
                    assert_eq!(counted.count(), Ok(100), "{place:?}");
                }
                Err(error) => println!("SKIP a_program_counts_each_pass: {place:?}: {error}"),
            }
        }
        assert_eq!(probed_getppid(), system_call::getppid());
    }
}
