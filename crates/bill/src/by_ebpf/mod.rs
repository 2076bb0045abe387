//! Counts by programs in the kernel, on its tracepoints: nobody is stopped for it. bpf(2).

use aya::maps::{Array, HashMap, Map, MapData, MapError, PerCpuArray, PerCpuHashMap};
use aya::programs::tp_btf::BtfTracePointLinkId;
use aya::programs::{BtfTracePoint, ProgramError};
use aya::{Btf, Ebpf, EbpfLoader, VerifierLogLevel};
use oscost_results::bill::{EndCount, FaultKinds, ForkCount};
use oscost_sys::CallError;

mod looks;

pub use looks::Looker;

use crate::BillError;
use crate::key::{CallKey, NONE};
use crate::rules::{On, Rule, Size, Table};
use crate::seen::SeenCalls;
use crate::tally::{OF_32_BITS, Sums, Tally};

/// Of clang, by `families/src/realtime_ipc/bpf/build`; `.ci/parts` builds it again and compares.
static OBJECT: &[u8] = aya::include_bytes_aligned!("count.bpf.o");

/// The programs, and the tracepoints that they are for.
const PROGRAMS: [(&str, &str); 11] = [
    ("enter", "sys_enter"),
    ("leave", "sys_exit"),
    ("switched", "sched_switch"),
    ("waking", "sched_waking"),
    ("started", "sched_process_fork"),
    ("executed", "sched_process_exec"),
    ("ended", "sched_process_exit"),
    ("freed", "sched_process_free"),
    ("delivered", "signal_deliver"),
    ("faulted", "page_fault_user"),
    ("faulted_inside", "page_fault_kernel"),
];

// How the C source numbers what it is told; its structures are arrays here, of which the loader knows that any bytes are a value.
const RESULT: u8 = 254;
const IS_TAKEN: u64 = 1 << 63;
/// `struct thread`: two calls, since when it is away, whether it may be inside a call whose entry nobody saw, and five more.
type Thread = [u64; 23];
/// `struct totals`: token, signals, threads, children, voluntary and involuntary switches, what was lost, process, its end,
/// faults (of reads, of first writes, of writes to pages that are there), forks, their pages, mappings and faults, wakes, what was
/// given back by ends (mappings and pages of files), and processes for which nobody waits.
type Totals = [u64; 20];

/// The namespace of processes in which the kernel's own numbers hold.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// Memory for the kernel's types, as they are read, and for the tables, bytes.
const NEEDS: u64 = 64 << 20;

/// The programs, loaded; they go with it, and with its process.
#[derive(Debug)]
pub struct InKernel {
    loaded: Ebpf,
    btf: Btf,
    token: u64,
    /// Of the program that sees entries: a call whose entry nobody saw is not counted.
    entries: Option<BtfTracePointLinkId>,
}

fn lack(error: &(dyn std::error::Error + 'static)) -> BillError {
    let mut below = Some(error);
    while let Some(error) = below {
        if let Some(errno) = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error) {
            let error = CallError::new("bpf", errno);
            // By EACCES a policy refuses, or the kernel's check of a program: also to who has both.
            let remedy = if error.symbol() == Some("EPERM") {
                ": it needs CAP_BPF and CAP_PERFMON, which root has"
            } else {
                ""
            };
            return BillError::NoEbpf(format!("{error}{remedy}"));
        }
        below = error.source();
    }
    BillError::NoEbpf(error.to_string())
}

fn missing(what: &str) -> BillError {
    BillError::NoEbpf(format!("the object in this oscost has no {what}"))
}

/// The object with its maps; no program of it is loaded yet.
fn opened(btf: Option<&Btf>) -> Result<Ebpf, BillError> {
    let is_real_time = u8::from(std::path::Path::new("/sys/kernel/realtime").exists());
    let mut loader = EbpfLoader::new();
    loader.override_global("is_real_time", &is_real_time, true);
    loader.btf(btf).verifier_log_level(VerifierLogLevel::DISABLE).load(OBJECT).map_err(|error| lack(&error))
}

/// Whoever loads a program reads these first, and needs memory for them: who counts, and who only looks.
fn types_of_the_kernel() -> Result<Btf, BillError> {
    if let Some(limit) = oscost_sys::region::limit().filter(|&limit| limit < NEEDS) {
        let (limit, needs) = (limit >> 20, NEEDS >> 20);
        return Err(BillError::NoEbpf(format!(
            "it takes {needs} MiB of memory, and a cgroup grants {limit}"
        )));
    }
    let none = "this kernel does not describe its types (/sys/kernel/btf/vmlinux)";
    Btf::from_sys_fs().map_err(|_| BillError::NoEbpf(none.to_owned()))
}

fn traced<'a>(loaded: &'a mut Ebpf, name: &str) -> Result<&'a mut BtfTracePoint, BillError> {
    let program = loaded.program_mut(name).ok_or_else(|| missing(name))?;
    program.try_into().map_err(|error: ProgramError| lack(&error))
}

/// Fails where the programs in the kernel would take another process for this one: they know the numbers of the first namespace.
///
/// # Errors
/// This process is in another one.
pub fn refuse_other_numbers(pid: u32) -> Result<(), BillError> {
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    match namespace.to_str() {
        Some(FIRST_NAMESPACE) => Ok(()),
        _ => Err(BillError::OtherNumbers(pid)),
    }
}

/// Enters a thread; whether it was new.
fn entered(loaded: &mut Ebpf, tid: i32) -> Result<bool, BillError> {
    const NOEXIST: u64 = 1;
    const NEW: Thread = {
        let mut thread = [0; 23];
        thread[17] = 1;
        thread
    };
    let map = loaded.map_mut("threads").ok_or_else(|| missing("map of threads"))?;
    let mut threads: HashMap<_, u32, Thread> = HashMap::try_from(map).map_err(|error| lack(&error))?;
    match threads.insert(tid.unsigned_abs(), NEW, NOEXIST) {
        Ok(()) => Ok(true),
        Err(MapError::SyscallError(error)) if error.io_error.kind() == std::io::ErrorKind::AlreadyExists => {
            Ok(false)
        }
        Err(error) => Err(lack(&error)),
    }
}

impl InKernel {
    /// Loads them; nothing is counted yet.
    ///
    /// # Errors
    /// Why this machine or user may not.
    pub fn load(table: &Table) -> Result<Self, BillError> {
        // The loader's tables draw random keys, and would end the program where there are none.
        let token = (oscost_sys::random::bits()? as u64 & 0x7fff_ffff_ffff_ffff) | 1;
        let btf = types_of_the_kernel()?;
        let mut this = Self { loaded: opened(Some(&btf))?, btf, token, entries: None };
        let mut totals: Totals = [0; 20];
        totals[0] = token;
        this.totals()?.set(0, totals, 0).map_err(|error| lack(&error))?;
        let map = this.loaded.map_mut("rules").ok_or_else(|| missing("map of rules"))?;
        let mut rules: Array<_, [u64; 2]> = Array::try_from(map).map_err(|error| lack(&error))?;
        for number in 0..=OF_32_BITS {
            let rule = as_in_kernel(&table.of(number).rule);
            rules.set(number.into(), rule, 0).map_err(|error| lack(&error))?;
        }
        for (name, tracepoint) in PROGRAMS {
            traced(&mut this.loaded, name)?.load(tracepoint, &this.btf).map_err(|error| lack(&error))?;
        }
        Ok(this)
    }

    /// From now on whoever is known is counted: who shows the token, or was entered, and whomever they start.
    ///
    /// # Errors
    /// Why this machine or user may not.
    pub fn attach(&mut self) -> Result<(), BillError> {
        for (name, _) in PROGRAMS {
            let link = traced(&mut self.loaded, name)?.attach().map_err(|error| lack(&error))?;
            if name == PROGRAMS[0].0 {
                self.entries = Some(link);
            }
        }
        Ok(())
    }

    /// What the first thread shows in its last call before the program.
    #[must_use]
    pub fn token(&self) -> u64 {
        self.token
    }

    /// The end of this process is told.
    ///
    /// # Errors
    /// The error of bpf.
    pub fn watch(&mut self, pid: i32) -> Result<(), BillError> {
        let mut totals = self.totals()?;
        let mut all = totals.get(&0, 0).map_err(|error| lack(&error))?;
        all[7] = u64::from(pid.unsigned_abs());
        totals.set(0, all, 0).map_err(|error| lack(&error))
    }

    /// Enters a thread that runs already; whether it was new.
    ///
    /// # Errors
    /// The error of bpf.
    pub fn enter(&mut self, tid: i32) -> Result<bool, BillError> {
        entered(&mut self.loaded, tid)
    }

    fn totals(&mut self) -> Result<Array<&mut MapData, Totals>, BillError> {
        let map: &mut Map = self.loaded.map_mut("all").ok_or_else(|| missing("map of totals"))?;
        Array::try_from(map).map_err(|error| lack(&error))
    }

    /// Counts no call from now on but those that threads are in: who reads the tables of a program that runs on would find one call up
    /// to a later time than another. The program at the exits is told first: it takes what has no entry for what a filter has answered.
    fn stop(&mut self) -> Result<(), BillError> {
        let Some(link) = self.entries.take() else { return Ok(()) };
        let map = self.loaded.map_mut("over").ok_or_else(|| missing("map of the end"))?;
        let mut over: Array<_, u64> = Array::try_from(map).map_err(|error| lack(&error))?;
        over.set(0, 1u64, 0).map_err(|error| lack(&error))?;
        traced(&mut self.loaded, PROGRAMS[0].0)?.detach(link).map_err(|error| lack(&error))
    }

    /// Stops counting: what was seen, and the status of the watched process, as wait(2) has it, if it has ended.
    ///
    /// # Errors
    /// The error of bpf; that something found no place.
    pub fn seen(&mut self) -> Result<(SeenCalls, Option<u32>), BillError> {
        self.stop()?;
        let [
            _,
            signals,
            threads,
            children,
            voluntary,
            involuntary,
            lost,
            _,
            end,
            faults @ ..,
            wakes,
            mappings,
            file_pages,
            unwaited,
        ] = self.totals()?.get(&0, 0).map_err(|error| lack(&error))?;
        let [read, first, copied, times, pages, fork_mappings, fork_faults] = faults;
        if lost > 0 {
            return Err(BillError::NoPlace(lost));
        }
        let faults = Some(FaultKinds { read, first, copied });
        let mut seen = SeenCalls {
            forks: Some(ForkCount { times, pages, mappings: fork_mappings, faults: fork_faults }),
            wakes: Some(wakes),
            ends: Some(EndCount { mappings, file_pages }),
            unwaited,
            ..SeenCalls { signals, threads, children, voluntary, involuntary, faults, ..SeenCalls::default() }
        };
        let map = self.loaded.map("counts").ok_or_else(|| missing("map of counts"))?;
        let counts: PerCpuHashMap<_, u64, [u64; 4]> =
            PerCpuHashMap::try_from(map).map_err(|error| lack(&error))?;
        for entry in counts.iter() {
            let (key, by_cpu) = entry.map_err(|error| lack(&error))?;
            by_cpu.iter().for_each(|&sums| add(&mut seen.tally, key, sums));
        }
        let map = self.loaded.map("places").ok_or_else(|| missing("map of places"))?;
        let places: PerCpuArray<_, [u64; 5]> = PerCpuArray::try_from(map).map_err(|error| lack(&error))?;
        for place in places.iter() {
            for &[tag, sums @ ..] in place.map_err(|error| lack(&error))?.iter().filter(|it| it[0] != 0) {
                add(&mut seen.tally, tag & !IS_TAKEN, sums);
            }
        }
        seen.tally.retain(|_, sums| sums.times > 0);
        let ended = (end >> 32 != 0).then_some(end as u32);
        Ok((seen, ended))
    }
}

/// `struct sums`, of a key.
fn add(tally: &mut Tally, key: u64, [times, failed, bytes, inside_ns]: [u64; 4]) {
    tally.entry(key_of(key)).or_default().add(Sums { times, failed, bytes, inside_ns });
}

/// `struct rule`.
fn as_in_kernel(rule: &Rule) -> [u64; 2] {
    let (on, argument, mask) = match rule.on {
        On::Nothing => (0, 0, 0),
        On::Descriptor(at) => (1, at, 0),
        On::Value(at, mask, _) => (2, at, mask),
        On::Flag(at, mask, _) => (3, at, mask),
        On::Clone { in_memory: false } => (4, 0, 0),
        On::Clone { in_memory: true } => (5, 0, 0),
        On::Socket => (6, 0, 0),
    };
    let size = match rule.size {
        Size::Nowhere => NONE,
        Size::Result => RESULT,
        Size::Argument(at) => at,
    };
    [mask, u64::from_le_bytes([on, argument, size, rule.count.unwrap_or(NONE), 0, 0, 0, 0])]
}

fn key_of(key: u64) -> CallKey {
    let [low, high, on, size, count, slept, _, _] = key.to_le_bytes();
    CallKey { number: u16::from_le_bytes([low, high]), on, size, count, slept }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Root was told to be root, where the kernel's check had refused a program.
    #[test]
    fn capabilities_are_asked_for_where_they_lack() {
        let said = |errno| lack(&std::io::Error::from_raw_os_error(errno)).to_string();
        assert!(said(1).contains("EPERM") && said(1).contains("CAP_BPF"), "{}", said(1));
        assert!(said(13).contains("EACCES") && !said(13).contains("CAP_BPF"), "{}", said(13));
    }
}
