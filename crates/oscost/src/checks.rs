//! The checks of `oscost doctor` in words, so that `explain` finds them by any word that people have for their subject.

/// A check: its name, what it looks at, and what mends it.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// As results have it ("cgroup_quota").
    pub name: &'static str,
    /// What it looks at, by all its usual names.
    pub looks: &'static str,
    /// What mends it.
    pub remedy: &'static str,
}

const fn about(name: &'static str, looks: &'static str, remedy: &'static str) -> About {
    About { name, looks, remedy }
}

/// Every check, in the order of `oscost doctor`.
pub const CHECKS: [About; 23] = [
    about(
        "clock_source",
        "The clock source of the kernel (tsc, kvm-clock, hpet, acpi_pm, xen), its true step and resolution, the price of a reading, and whether the vDSO answers it or each reading is a system call.",
        "Another clock source: echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource, or tsc=reliable at boot.",
    ),
    about(
        "clock_rate",
        "The rate of CLOCK_MONOTONIC beside CLOCK_MONOTONIC_RAW and the time stamp counter: slewing by NTP or chrony, an invariant or unstable TSC.",
        "Wait until the clock is synchronised, or stop chronyd or ntpd while you measure.",
    ),
    about(
        "gaps",
        "CPU time that others take, as jumps of a clock that is read without a pause: noise, jitter, interrupts (IRQ), SMI, steal by a hypervisor, preemption.",
        "Stop other work, move interrupts away (irqbalance, smp_affinity), isolate CPUs (isolcpus, nohz_full), or read the floors.",
    ),
    about(
        "load",
        "The load average, and how long tasks waited for a CPU (pressure, PSI): a busy machine, noisy neighbours, background jobs, a CI runner with other builds.",
        "Stop other work, or wait.",
    ),
    about(
        "virtualisation",
        "The hypervisor (KVM, Xen, Hyper-V, VMware, WSL, Firecracker, gVisor), steal time and neighbours in a cloud or virtual machine (VM).",
        "A dedicated host, or bare metal.",
    ),
    about(
        "smt",
        "Hyper-threading (SMT): a busy sibling on the same core slows everything on it, up to twice.",
        "Leave siblings idle, or turn SMT off: echo off > /sys/devices/system/cpu/smt/control.",
    ),
    about(
        "frequency",
        "The frequency governor of each CPU (performance, powersave, schedutil), turbo and boost, thermal throttling, P-states: frequency scaling moves all figures.",
        "cpupower frequency-set -g performance.",
    ),
    about(
        "idle_cpus",
        "Idle states (C-states, cpuidle, haltpoll) and how long a sleeping CPU takes to wake: it matters across CPUs.",
        "oscost run --idle-cpu poll.",
    ),
    about(
        "cpu_distance",
        "How far CPUs are from one another by a cache line: sockets, NUMA nodes, chiplets, shared caches, topology.",
        "oscost run --cpu A,B with a near pair.",
    ),
    about(
        "wakeup",
        "How late a sleeper wakes after a timer and after another CPU's write, as cyclictest would: scheduling latency, timer slack.",
        "A real-time policy, PREEMPT_RT, and CPUs that do not sleep.",
    ),
    about(
        "cgroup_quota",
        "The CPU quota of the control group (cgroup cpu.max, Docker --cpus, Kubernetes limits, CFS bandwidth): throttling stops everything for tens of milliseconds.",
        "Run without a quota.",
    ),
    about(
        "allowed_cpus",
        "The CPUs that this process may use: affinity (taskset), cpusets, CPUs that are offline or pinned.",
        "taskset, or the cpuset of the container.",
    ),
    about(
        "seccomp",
        "A seccomp filter on this process (Docker's default profile, systemd, Flatpak, snap): each system call runs through it, and some are refused.",
        "docker run --security-opt seccomp=unconfined, or measure the filter as it is.",
    ),
    about(
        "tracing",
        "Tracers and probes that every system call pays for: strace, ptrace, gdb, ftrace, perf trace, bpftrace, eBPF, audit (auditd), Falco, Tetragon.",
        "Stop the tracer; as root, mount tracefs so that it can be seen.",
    ),
    about(
        "mitigations",
        "Mitigations of Spectre, Meltdown (PTI, KPTI), retpolines, MDS, Retbleed and others: they change the price of each kernel entry and switch.",
        "Compare with the same mitigations. mitigations=off at boot shows their price on a machine that nobody else uses.",
    ),
    about(
        "privileges",
        "What this user may do: root, capabilities (CAP_SYS_NICE, CAP_BPF), user namespaces, AppArmor and SELinux, and how calls are counted.",
        "Nothing needs root. The remedy names what an extra privilege would bring.",
    ),
    about(
        "real_time",
        "Whether SCHED_FIFO and SCHED_RR are granted (rtprio, RLIMIT_RTPRIO, nice), PREEMPT_RT, and real-time throttling (sched_rt_runtime_us).",
        "ulimit -r 99, or CAP_SYS_NICE.",
    ),
    about(
        "memory_locking",
        "How much memory may be locked (mlock, RLIMIT_MEMLOCK, ulimit -l): against page faults and swap.",
        "ulimit -l unlimited.",
    ),
    about(
        "ipc_limits",
        "Limits of semaphores, message queues and sockets: kernel.sem, msgmax, fs.mqueue, max_dgram_qlen, RLIMIT_MSGQUEUE, sysctl.",
        "The sysctl that it names.",
    ),
    about(
        "facilities",
        "What can be looked at here: perf events (perf_event_paranoid, hardware counters, PMU), tracefs, BPF, ptrace.",
        "sysctl kernel.perf_event_paranoid=1, and what else it names.",
    ),
    about(
        "c_library",
        "The C library (glibc, musl) and whether it is this machine's.",
        "The build that fits: the static program on musl or old systems.",
    ),
    about(
        "network",
        "Network interfaces that are up: their interrupts disturb.",
        "Measure with the cable out, or move their interrupts away.",
    ),
    about(
        "mounts",
        "Network file systems (NFS, CIFS, FUSE, sshfs) below the folders that are used.",
        "XDG_STATE_HOME and TMPDIR on a local disk.",
    ),
];

/// The check of this name; case, spaces and hyphens do not matter, and a word of a name of two is enough.
pub fn named(thing: &str) -> Option<&'static About> {
    let wanted = thing.trim().to_lowercase().replace([' ', '-'], "_");
    let whole = CHECKS.iter().find(|check| check.name == wanted);
    whole.or_else(|| CHECKS.iter().find(|check| check.name.split('_').any(|part| part == wanted)))
}

/// Whether `text` has this word, or all of these words, as whole words. Case and hyphens do not matter.
pub fn mentions(text: &str, wanted: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let (text, wanted) = (words(text), words(wanted));
    !wanted.is_empty() && wanted.iter().all(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whole() {
        assert!(
            mentions("Turbo, boost (C-states)", "turbo") && mentions("Turbo, boost (C-states)", "c-states")
        );
        assert!(mentions("the frequency governor of a CPU", "cpu governor"));
        assert!(!mentions("turboprop", "turbo") && !mentions("a", " ") && !mentions("a b", "a c"));
        assert_eq!(named("Clock Source").map(|check| check.name), Some("clock_source"));
        assert_eq!(named("quota").map(|check| check.name), Some("cgroup_quota"));
        assert!(named("").is_none() && named("nothing").is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn every_check_of_doctor_is_there_in_its_order() {
        let made =
            oscost_session::doctor::examine_system(&oscost_session::doctor::system::System::unmeasured());
        let made: Vec<&str> = made.iter().map(|check| check.check.as_str()).collect();
        assert_eq!(made, CHECKS.map(|check| check.name));
        for check in CHECKS {
            assert!(check.looks.ends_with('.') && check.remedy.ends_with('.'), "{}", check.name);
        }
    }
}
