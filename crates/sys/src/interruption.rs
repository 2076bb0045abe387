//! What takes a thread's CPU away, read from the kernel's counters: runs of others, faults, interrupts, the host. proc(5).

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::clock::{self, Clock};
use crate::folder::Folder;
use crate::usage::{self, Whose};
use crate::{affinity, cpu_time, processor};

/// Bytes of a file of counters that are read, at most.
const MOST_BYTES: usize = 1 << 20;
/// Tasks that are looked at, at most: with more tasks, the one that ran stays unknown.
const MOST_TASKS: usize = 4096;

/// Counters of one moment. What cannot be read is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Look {
    /// When `ran_ns` was read, ns of CLOCK_MONOTONIC.
    pub at_ns: u64,
    /// CPU of the thread.
    pub cpu: Option<usize>,
    /// Time that it ran, ns.
    pub ran_ns: Option<u64>,
    /// Time that it was ready to run and others ran, ns.
    pub waited_ns: Option<u64>,
    /// The same of its partners together.
    pub partners_waited_ns: Option<u64>,
    /// Page faults.
    pub faults: Option<u64>,
    /// Time that the host took from its CPU, in ticks of 10 ms.
    pub stolen_ns: Option<u64>,
    /// Interrupts of its CPU, in the order of [`Watcher::interrupt`].
    pub interrupts: Option<Vec<u64>>,
}

/// Reads the counters of the calling thread again and again.
pub struct Watcher {
    cpu: usize,
    own: Option<File>,
    partners: Option<Vec<File>>,
    interrupts: Option<File>,
    stat: Option<File>,
    names: Vec<String>,
    buffer: Vec<u8>,
}

impl Watcher {
    /// One of the calling thread, which stays on `cpu`, and of its partners by the numbers of their threads.
    #[must_use]
    pub fn new(cpu: usize, partners: &[i32]) -> Self {
        let schedule = |tid: &i32| File::open(format!("/proc/{tid}/schedstat")).ok();
        let mut watcher = Self {
            cpu,
            own: crate::file::regular("/proc/thread-self/schedstat").ok(),
            partners: partners.iter().map(schedule).collect(),
            interrupts: crate::file::regular("/proc/interrupts").ok(),
            stat: crate::file::regular("/proc/stat").ok(),
            names: Vec::new(),
            buffer: vec![0; 1 << 16],
        };
        let text = watcher.interrupts.take().and_then(|file| {
            let text = text(&file, &mut watcher.buffer).map(str::to_owned);
            watcher.interrupts = Some(file);
            text
        });
        let lines = text.as_deref().and_then(|text| interrupts(text, cpu)).unwrap_or_default();
        watcher.names = lines.into_iter().map(|(name, _)| name.to_owned()).collect();
        watcher
    }

    /// Name of the interrupt with this index; empty where there is none.
    #[must_use]
    pub fn interrupt(&self, index: usize) -> &str {
        self.names.get(index).map_or("", String::as_str)
    }

    /// The counters now.
    pub fn look(&mut self) -> Look {
        let buffer = &mut self.buffer;
        let waited = |file: &File, buffer: &mut Vec<u8>| waited_of(text(file, buffer)?);
        let mut look = Look {
            cpu: affinity::current(),
            ran_ns: clock::try_read_ns(Clock::ThreadCpuTime).ok(),
            at_ns: clock::now_ns(),
            waited_ns: self.own.as_ref().and_then(|file| waited(file, buffer)),
            faults: usage::own(Whose::Thread).ok().map(|usage| usage.faults()),
            ..Look::default()
        };
        look.partners_waited_ns = self
            .partners
            .as_ref()
            .and_then(|files| files.iter().try_fold(0_u64, |sum, file| Some(sum + waited(file, buffer)?)));
        if let Some(file) = &self.interrupts {
            let counts = text(file, buffer).and_then(|text| interrupts(text, self.cpu));
            look.interrupts = counts.map(|counts| counts.into_iter().map(|(_, count)| count).collect());
        }
        if let Some(file) = &self.stat {
            let time = text(file, buffer).and_then(|text| cpu_time::of(text, &[self.cpu]));
            look.stolen_ns = time.map(|time| time.stolen_ns());
        }
        look
    }
}

/// The whole text of a file of counters, from its beginning.
fn text<'a>(file: &File, buffer: &'a mut Vec<u8>) -> Option<&'a str> {
    let mut length = 0;
    loop {
        match file.read_at(&mut buffer[length..], length as u64) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
        if length == buffer.len() {
            if length >= MOST_BYTES {
                return None;
            }
            buffer.resize(2 * length, 0);
        }
    }
    std::str::from_utf8(&buffer[..length]).ok()
}

/// Time ready to run and not running, ns, in a text of schedstat.
fn waited_of(text: &str) -> Option<u64> {
    text.split_whitespace().nth(1)?.parse().ok()
}

/// How often CPUs of this machine were interrupted to forget translations of addresses. `None` where that is not counted:
/// processors that tell one another by themselves (aarch64, INVLPGB of AMD), and guests that ask their hypervisor to tell them.
#[must_use]
pub fn tlb_shootdowns() -> Option<u64> {
    let xen = crate::file::text("/sys/hypervisor/guest_type");
    if hypervisor_tells(processor::hypervisor().flatten().as_deref(), xen.ok().as_deref()) {
        return None;
    }
    let processor = crate::file::text("/proc/cpuinfo").ok()?;
    let flags = processor.lines().find(|line| line.starts_with("flags"))?;
    if flags.split_whitespace().any(|flag| flag == "invlpgb") {
        return None;
    }
    of_all_cpus(&crate::file::text("/proc/interrupts").ok()?, "TLB:")
}

/// Whether the kernel asks a hypervisor of this name to tell CPUs what to forget: of Hyper-V, and in a Xen guest of this type.
/// Linux: arch/x86/hyperv/mmu.c, arch/x86/xen/mmu_pv.c.
fn hypervisor_tells(hypervisor: Option<&str>, xen_guest: Option<&str>) -> bool {
    hypervisor == Some("Microsoft Hv") || xen_guest.is_some_and(|guest| guest.trim() == "PV")
}

/// The sum over all CPUs of the line that begins with `name` in a text of /proc/interrupts.
fn of_all_cpus(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(name))?;
    Some(line.split_whitespace().map_while(|word| word.parse::<u64>().ok()).sum())
}

/// Names and counts of the interrupts of `cpu` in a text of /proc/interrupts. `None` where that CPU has no column.
fn interrupts(text: &str, cpu: usize) -> Option<Vec<(&str, u64)>> {
    let mut lines = text.lines();
    let heads: Vec<&str> = lines.next()?.split_whitespace().collect();
    let is_of = |head: &str| head.strip_prefix("CPU").and_then(|it| it.parse().ok()) == Some(cpu);
    let column = heads.iter().position(|head| is_of(head))?;
    let of_line = |line: &'_ str| -> Option<(usize, u64)> {
        // A number a CPU, then what the interrupt is. Lines that no CPU owns (ERR, MIS) have one number.
        let mut rest = line.split_once(':')?.1;
        let mut count = None;
        for place in 0..heads.len() {
            rest = rest.trim_start();
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            if place == column {
                count = rest[..end].parse().ok();
            }
            rest = &rest[end..];
        }
        Some((rest.trim_start().len(), count?))
    };
    let named = |line| {
        let (told, count) = of_line(line)?;
        let (key, told) = (line.split(':').next()?.trim(), line[line.len() - told..].trim_end());
        // A device is named by its last word, behind the controller and the number of its line.
        let numbered = key.bytes().all(|byte| byte.is_ascii_digit());
        let name = if numbered { told.rsplit(char::is_whitespace).next()? } else { told };
        Some((name, count))
    };
    Some(lines.filter_map(named).collect())
}

/// Time that every task of this PID namespace has run, ns, by the number of its thread.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tasks(BTreeMap<i32, u64>);

impl Tasks {
    /// Looks at all of them. `None` where there is no /proc, or too many.
    #[must_use]
    pub fn scan() -> Option<Self> {
        let mut ran = BTreeMap::new();
        for name in Folder::names_at("/proc").ok()? {
            let Some(process) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
            let tasks = format!("/proc/{process}/task");
            // Who has ended meanwhile is nobody.
            let Ok(threads) = Folder::names_at(&tasks) else { continue };
            for thread in threads {
                let tid = thread.to_str().and_then(|name| name.parse::<i32>().ok());
                let text = tid.and_then(|tid| crate::file::text(format!("{tasks}/{tid}/schedstat")).ok());
                let time = text.and_then(|text| text.split_whitespace().next()?.parse().ok());
                ran.extend(tid.zip(time));
                if ran.len() > MOST_TASKS {
                    return None;
                }
            }
        }
        Some(Self(ran))
    }

    /// Who ran on `cpu` between `earlier` and now, the longest first: name and ns. Those of `but` are left out, and so is
    /// who last ran elsewhere.
    #[must_use]
    pub fn ran_since(&self, earlier: &Self, cpu: usize, but: &[i32]) -> Vec<(String, u64)> {
        let mut ran: Vec<(i32, u64)> = self
            .0
            .iter()
            .filter(|(tid, _)| !but.contains(tid))
            .map(|(&tid, &ns)| (tid, ns.saturating_sub(earlier.0.get(&tid).copied().unwrap_or(0))))
            .filter(|&(_, ns)| ns > 0)
            .collect();
        ran.sort_unstable_by_key(|&(_, ns)| std::cmp::Reverse(ns));
        let here = |&(tid, ns): &(i32, u64)| {
            let stat = crate::file::text(format!("/proc/{tid}/stat")).ok()?;
            let (before, after) = stat.rsplit_once(')')?;
            let name = before.split_once('(')?.1.to_owned();
            let last: usize = after.split_whitespace().nth(36)?.parse().ok()?;
            (last == cpu).then_some((name, ns))
        };
        ran.iter().take(64).filter_map(here).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::ColdPages;
    use crate::pipe::{self, Pipe};
    use crate::process::{Child, code_of};
    use crate::region::page_bytes;

    const INTERRUPTS: &str = "           CPU0       CPU2\n 24:          1          5  IO-APIC   5-edge      ACPI:Ged\n\
        NMI:          0          7   Non-maskable interrupts\nLOC:      12345      99   Local timer interrupts\nERR:          0\n";

    #[test]
    fn shootdowns_are_summed_over_cpus() {
        let text = format!("{INTERRUPTS}TLB:       5         7   TLB shootdowns\n");
        assert_eq!((of_all_cpus(&text, "TLB:"), of_all_cpus(INTERRUPTS, "TLB:")), (Some(12), None));
    }

    /// Linux counts no interrupt where it asks Hyper-V, or Xen in a paravirtual guest.
    #[test]
    fn who_asks_the_hypervisor_interrupts_nobody() {
        for (hypervisor, xen_guest, tells) in [
            (None, None, false),
            (Some("KVMKVMKVM"), None, false),
            (Some("Microsoft Hv"), None, true),
            (Some("XenVMMXenVMM"), Some("HVM\n"), false),
            (Some("XenVMMXenVMM"), Some("PVH\n"), false),
            (None, Some("PV\n"), true),
        ] {
            assert_eq!(hypervisor_tells(hypervisor, xen_guest), tells, "{hypervisor:?}, {xen_guest:?}");
        }
    }

    #[test]
    fn interrupts_are_those_of_the_cpu_by_name() {
        let of = |cpu| interrupts(INTERRUPTS, cpu);
        let named = |counts: [u64; 3]| {
            let names = ["ACPI:Ged", "Non-maskable interrupts", "Local timer interrupts"];
            Some(names.into_iter().zip(counts).collect::<Vec<_>>())
        };
        assert_eq!(
            of(0).map(|mut lines| {
                lines.truncate(3);
                lines
            }),
            named([1, 0, 12345])
        );
        assert_eq!(of(2), named([5, 7, 99]));
        assert_eq!(of(1), None, "a CPU that is offline has no column");
        assert_eq!(interrupts("", 0), None);
    }

    /// Works until this thread has had so much of a CPU, however busy the machine is.
    fn work(ns: u64) {
        let end = clock::read_ns(Clock::ThreadCpuTime) + ns;
        while clock::read_ns(Clock::ThreadCpuTime) < end {}
    }

    #[test]
    fn a_look_sees_faults_and_time_and_a_partner_that_waits() {
        let cpu = affinity::allowed().expect("an affinity")[0];
        let code = code_of(move || {
            if affinity::pin_to(cpu).is_err() {
                return 1;
            }
            // Two that want the same CPU: each waits for the other.
            let rival = Child::fork(|| {
                loop {
                    std::hint::spin_loop();
                }
            });
            let Ok(rival) = rival else { return 2 };
            let page = page_bytes() / size_of::<u64>();
            let Ok(mut pages) = ColdPages::new(64 * page) else { return 3 };
            let mut watcher = Watcher::new(cpu, &[rival.pid()]);
            let before = watcher.look();
            pages.words().iter_mut().step_by(page).for_each(|word| *word = 1);
            work(100_000_000);
            let after = watcher.look();
            let more = |of: fn(&Look) -> Option<u64>| {
                of(&after).zip(of(&before)).map(|(after, before)| after - before)
            };
            // Kernels may lack the files of waits; the rest is always there.
            let waited = more(|look| look.waited_ns).is_none_or(|ns| ns > 0);
            let partner = more(|look| look.partners_waited_ns).is_none_or(|ns| ns > 0);
            let ran = more(|look| look.ran_ns).is_some_and(|ns| ns >= 100_000_000);
            let faults = more(|look| look.faults).is_some_and(|faults| faults >= 60);
            let stayed = after.cpu == Some(cpu) && pages.words()[63 * page] == 1;
            let bits = [waited, partner, ran, faults, stayed].into_iter().enumerate();
            bits.map(|(bit, fine)| i32::from(!fine) << (bit + 2)).sum()
        });
        assert_eq!(code, Some(0), "bits: 4 own wait, 8 the partner's, 16 own time, 32 faults, 64 CPU");
    }

    #[test]
    fn who_ran_is_known_by_name_and_time() {
        let cpu = affinity::allowed().expect("an affinity")[0];
        let Pipe { reader, writer } = Pipe::new().expect("a pipe");
        let before = Tasks::scan().expect("/proc");
        let child = Child::fork(move || {
            if affinity::pin_to(cpu).is_err() {
                return 1;
            }
            work(30_000_000);
            if pipe::write_byte(&writer).is_err() {
                return 2;
            }
            // Until it has been looked at.
            loop {
                std::thread::sleep(std::time::Duration::from_secs(1));
            }
        })
        .expect("a child");
        pipe::read_byte(&reader).expect("it has worked");
        let after = Tasks::scan().expect("/proc");
        let worked = after.0[&child.pid()];
        assert!(worked >= 29_000_000, "{worked}");
        let ran = |but: &[i32]| after.ran_since(&before, cpu, but);
        // Others may have run as long; but for those that run right now it alone has this time.
        let is_child = |(_, ns): &&(String, u64)| *ns == worked;
        assert_eq!(ran(&[]).iter().filter(is_child).count(), 1, "{:?}", ran(&[]));
        assert_eq!(ran(&[child.pid()]).iter().filter(is_child).count(), 0);
    }
}
