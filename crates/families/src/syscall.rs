//! Entering the kernel, and the cheapest things that it does.

use std::borrow::Cow;
use std::os::fd::{AsRawFd, OwnedFd};

use oscost_harness::{
    Benchmark, Bound, CallError, CallPath, Card, Claim, PostCondition, Sharing, Tier, Trait,
};
use oscost_sys::file::{self, OpenAccess};
use oscost_sys::system_call::{self, Membarrier};
use oscost_sys::vdso_random::VdsoRandom;
use oscost_sys::{affinity, pipe::Pipe, vdso};

use crate::operation::{nothing, operation};
use crate::{claims, lack};

/// One call by inline assembly, beside the floor of a kernel entry.
const CALL: Card = Card {
    heading: "one call",
    call_path: CallPath::Inline,
    group: "syscall",
    baseline: Some("syscall/invalid"),
    ..Card::BATCHED
};

/// The same through libc.
const BY_LIBC: Card = Card { call_path: CallPath::Libc, ..CALL };

/// A call of libc with a path.
const BY_PATH: Card = Card { call_path: CallPath::Libc, group: "syscall/path", ..Card::BATCHED };

pub const ALL: &[&dyn Benchmark] = &[
    // The floor of a kernel entry: refused at once.
    &operation(
        &Card {
            id: "syscall/invalid",
            title: "a system call that no kernel has",
            operation: "one system call that the kernel refuses with ENOSYS",
            claims: &claims::exactly(1.0),
            baseline: None,
            remark: "the least cost of a kernel entry: anything faster did not enter the kernel",
            traits: &[Trait::KernelEntry],
            tier: Tier::Core,
            ..CALL
        },
        |_| lack::of_unknown_calls(),
        |()| system_call::invalid(),
    ),
    // The cheapest system call that does something.
    &operation(
        &Card {
            id: "syscall/getppid",
            title: "getppid",
            operation: "one getppid",
            claims: &claims::named(&["getppid"], 1.0),
            tier: Tier::Core,
            ..CALL
        },
        nothing,
        |()| {
            system_call::getppid();
            Ok(())
        },
    ),
    // No wrapper, and no cache of libc.
    &operation(
        &Card {
            id: "syscall/getpid",
            title: "getpid",
            operation: "one getpid",
            claims: &claims::named(&["getpid"], 1.0),
            document: Some("003"),
            tier: Tier::Core,
            ..CALL
        },
        nothing,
        |()| {
            system_call::getpid();
            Ok(())
        },
    ),
    // As document 003 calls it.
    &operation(
        &Card {
            id: "syscall/getpid_libc",
            title: "getpid through libc",
            operation: "one getpid",
            claims: &claims::named(&["getpid"], 1.0),
            document: Some("003"),
            tier: Tier::Core,
            ..BY_LIBC
        },
        nothing,
        |()| {
            system_call::getpid_libc();
            Ok(())
        },
    )
    .verify(|()| {
        let (by_libc, own) = (system_call::getpid_libc(), system_call::getpid());
        Ok(vec![PostCondition::exactly("own_process_id", 1.0, f64::from(i64::from(by_libc) == own))])
    }),
    // A kernel entry that also finds a file.
    &operation(
        &Card {
            id: "syscall/read0_devzero",
            title: "read of 0 bytes from /dev/zero",
            operation: "one read of 0 bytes from /dev/zero",
            claims: &claims::named(&["read"], 1.0),
            document: Some("004"),
            tier: Tier::Core,
            ..CALL
        },
        |_| device(c"/dev/zero", OpenAccess::Read),
        |device| system_call::read(device.as_raw_fd(), &mut []).map(|_| ()),
    )
    .sharing(THE_FILE),
    // As programs call it: behind the kernel a return is predicted wrong.
    &operation(
        &Card {
            id: "syscall/read0_devzero_libc",
            title: "read of 0 bytes from /dev/zero through libc",
            operation: "one read of 0 bytes from /dev/zero",
            claims: &claims::named(&["read"], 1.0),
            ..BY_LIBC
        },
        |_| device(c"/dev/zero", OpenAccess::Read),
        |device| system_call::read_libc(device.as_raw_fd(), &mut []).map(|_| ()),
    )
    .sharing(THE_FILE),
    // The writer is open, so it returns at once.
    &operation(
        &Card {
            id: "syscall/read0_pipe",
            title: "read of 0 bytes from a pipe",
            operation: "one read of 0 bytes from an empty pipe",
            claims: &claims::named(&["read"], 1.0),
            document: Some("004"),
            ..CALL
        },
        |_| Pipe::new().map_err(lack::of_descriptors),
        |pipe| system_call::read(pipe.reader.as_raw_fd(), &mut []).map(|_| ()),
    )
    .sharing(Sharing::Inherited("the pipe")),
    &operation(
        &Card {
            id: "syscall/read0_file",
            title: "read of 0 bytes from a file",
            operation: "one read of 0 bytes from a regular file in memory (memfd)",
            claims: &claims::named(&["read"], 1.0),
            document: Some("004"),
            ..CALL
        },
        |_| file::in_memory(4096).map_err(lack::of_descriptors),
        |file| system_call::read(file.as_raw_fd(), &mut []).map(|_| ()),
    )
    .sharing(THE_FILE),
    &operation(
        &Card {
            id: "syscall/read1",
            title: "read of 1 byte from /dev/zero",
            operation: "one read of 1 byte from /dev/zero",
            claims: &claims::named(&["read"], 1.0),
            tier: Tier::Core,
            ..CALL
        },
        |_| device(c"/dev/zero", OpenAccess::Read),
        |device| match system_call::read(device.as_raw_fd(), &mut [0])? {
            1 => Ok(()),
            _ => Err(CallError::short("read")),
        },
    )
    .sharing(THE_FILE),
    &operation(
        &Card {
            id: "syscall/write1",
            title: "write of 1 byte to /dev/null",
            operation: "one write of 1 byte to /dev/null",
            claims: &claims::named(&["write"], 1.0),
            tier: Tier::Core,
            ..CALL
        },
        |_| device(c"/dev/null", OpenAccess::Write),
        |device| match system_call::write(device.as_raw_fd(), &[0])? {
            1 => Ok(()),
            _ => Err(CallError::short("write")),
        },
    )
    .sharing(THE_FILE),
    // The vDSO answers it without entering the kernel.
    &operation(
        &Card {
            id: "syscall/getcpu",
            title: "getcpu",
            operation: "one getcpu: the CPU and node of the caller",
            revision: 2,
            call_path: CallPath::Vdso,
            claims: &claims::exactly(0.0),
            ..CALL
        },
        nothing,
        |()| affinity::cpu_and_node().map(|_| ()),
    )
    .claims(|| {
        // Of the architectures that oscost knows only x86-64 has a getcpu in its vDSO, and musl does not ask for it.
        if cfg!(all(target_arch = "x86_64", not(target_env = "musl"))) && vdso::exists() {
            Cow::Borrowed(const { &claims::exactly(0.0) })
        } else {
            Cow::Borrowed(const { &claims::named(&["getcpu"], 1.0) })
        }
    }),
    &operation(
        &Card {
            id: "syscall/sched_yield",
            title: "sched_yield",
            operation: "one sched_yield",
            claims: &claims::named(&["sched_yield"], 1.0),
            remark: "no other process wants the CPU here; context_switch/yield has a partner",
            tier: Tier::Core,
            ..CALL
        },
        nothing,
        |()| system_call::sched_yield(),
    ),
    &operation(
        &Card {
            id: "syscall/sched_yield_libc",
            title: "sched_yield through libc",
            operation: "one sched_yield",
            claims: &claims::named(&["sched_yield"], 1.0),
            ..BY_LIBC
        },
        nothing,
        |()| system_call::sched_yield_libc(),
    ),
    &operation(
        &Card {
            id: "syscall/open_close",
            title: "open and close of /dev/null",
            operation: "one open of /dev/null with O_RDONLY and O_CLOEXEC, and one close",
            claims: &OPEN_CLOSE,
            tier: Tier::Core,
            ..BY_PATH
        },
        |_| file::open_close(PATH).map_err(|error| lack::of_device("/dev/null", error)),
        |()| file::open_close(PATH),
    )
    .sharing(Sharing::Always("the path /dev/null")),
    &operation(
        &Card {
            id: "syscall/stat",
            title: "stat of /dev/null",
            operation: "one stat of /dev/null",
            heading: CALL.heading,
            claims: &claims::named(&["stat", "newfstatat", "fstatat64", "statx"], 1.0),
            tier: Tier::Core,
            ..BY_PATH
        },
        |_| file::stat(PATH).map_err(|error| lack::of_device("/dev/null", error)),
        |()| file::stat(PATH),
    )
    .sharing(Sharing::Always("the path /dev/null")),
    &operation(
        &Card {
            id: "syscall/getrandom",
            title: "getrandom of 16 bytes",
            operation: "one getrandom of 16 bytes, without flags, by a kernel entry",
            group: "syscall/random",
            claims: &claims::named(&["getrandom"], 1.0),
            baseline: None,
            ..CALL
        },
        |_| Ok([0; BYTES]),
        |bytes| match system_call::getrandom(bytes)? {
            BYTES => Ok(()),
            _ => Err(CallError::short("getrandom")),
        },
    ),
    // The vDSO enters the kernel only for a new key.
    &operation(
        &Card {
            id: "syscall/getrandom_vdso",
            title: "getrandom of 16 bytes by the vDSO",
            operation: "one getrandom of 16 bytes, answered by the vDSO",
            call_path: CallPath::Vdso,
            group: "syscall/random",
            claims: &claims::exactly(0.0),
            baseline: Some("syscall/getrandom"),
            ..CALL
        },
        |_| Ok((VdsoRandom::new()?.ok_or_else(lack::of_vdso_random)?, [0; BYTES])),
        |(random, bytes)| random.fill(bytes),
    )
    .verify(|(random, bytes)| {
        // No two answers are alike: bytes that stay as they are would be seen by no count.
        claims::looked_at_often(|| {
            let before = *bytes;
            random.fill(bytes)?;
            Ok(vec![PostCondition::is("bytes_changed", true, before != *bytes)])
        })
    }),
    // A barrier on the other threads' CPUs, asked for by a process that has none: the price of asking.
    &operation(
        &Card {
            id: "syscall/membarrier",
            title: "membarrier, private and expedited",
            operation: "one private expedited membarrier",
            group: "syscall/membarrier",
            claims: &claims::named(&["membarrier"], 1.0),
            baseline: None,
            remark: "a process with one thread interrupts no CPU: with threads on other CPUs, \
                     each of them is interrupted",
            ..CALL
        },
        |_| {
            system_call::membarrier(Membarrier::Query).map_err(lack::of_membarrier)?;
            system_call::membarrier(Membarrier::RegisterPrivate).map_err(lack::of_membarrier)?;
            Ok(())
        },
        |()| system_call::membarrier(Membarrier::Private).map(|_| ()),
    ),
];

const PATH: &std::ffi::CStr = c"/dev/null";
const THE_FILE: Sharing = Sharing::Inherited("the open file");

/// As many random bytes as a key or a UUID has.
const BYTES: usize = 16;

fn device(path: &'static std::ffi::CStr, access: OpenAccess) -> Result<OwnedFd, oscost_harness::Unable> {
    file::open(path, access).map_err(|error| lack::of_device(&path.to_string_lossy(), error))
}

/// What musl's open adds: for kernels that do not know O_CLOEXEC it says the same again by fcntl.
const AGAIN: f64 = if cfg!(target_env = "musl") { 1.0 } else { 0.0 };

const OPEN_CLOSE: [Claim; 5] = {
    let [_, open, close, switches, faults] = claims::one_each(&["open", "openat"], &["close"]);
    [Claim::SystemCalls(Bound::Exactly(2.0 + AGAIN)), open, close, switches, faults]
};
