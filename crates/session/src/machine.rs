//! The facts of a result besides its figures: who measured, where, and under which conditions.

use oscost_results::{Conditions, Machine, Tool};
use oscost_sys::{affinity, cpu_list, identity, interposition, processor, scheduling, watched::Watched};

use crate::doctor::system::System;
use crate::doctor::{self, measured};

/// How long the step of the clock is looked for, at most.
const CLOCK_NS: u64 = 20_000_000;

/// This program: version, build, target, C library. No file is read.
#[must_use]
pub fn tool() -> Tool {
    // What the linker wrote tells two builds apart; without it only versions can be told apart.
    let build_id = identity::build_id().map_or_else(
        || format!("unknown build of {}", env!("CARGO_PKG_VERSION")),
        |id| id.iter().map(|byte| format!("{byte:02x}")).collect(),
    );
    Tool {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build_id,
        target: env!("OSCOST_TARGET").to_owned(),
        libc: identity::libc_version(),
        ..Tool::default()
    }
}

/// This machine: processor, hypervisor, CPUs, memory.
#[must_use]
pub fn machine() -> Machine {
    let mut system = System::unmeasured();
    system.measured.hypervisor = processor::hypervisor();
    system.measured.allowed_cpus = affinity::allowed().ok();
    machine_of(&system)
}

/// The machine whose files these are.
#[must_use]
pub fn machine_of(system: &System) -> Machine {
    // Of what is online: what this process may use makes no other machine, though its first core may be of another kind.
    let cpus = doctor::online(system).or_else(|| system.measured.allowed_cpus.clone()).unwrap_or_default();
    let first = cpus.first().copied().unwrap_or(0);
    let siblings = format!("/sys/devices/system/cpu/cpu{first}/topology/thread_siblings_list");
    let siblings = system.line(&siblings).ok().as_deref().and_then(cpu_list::parse);
    Machine {
        cpu_model: cpu_model(system),
        architecture: std::env::consts::ARCH.to_owned(),
        hypervisor: doctor::hypervisor(system).flatten(),
        instance_type: instance_type(system),
        cpus: u32::try_from(cpus.len()).unwrap_or(u32::MAX),
        threads_per_core: siblings
            .and_then(|cpus| u32::try_from(cpus.len()).ok())
            .filter(|&threads| threads > 0),
        memory_bytes: memory_bytes(system),
        ..Machine::default()
    }
}

/// What the constants of a core depend on: the processor's name and model, and whose guest it is.
#[must_use]
pub fn processor(machine: &Machine) -> String {
    let model = processor::model().unwrap_or_default();
    let host = machine.hypervisor.as_deref().unwrap_or("no hypervisor");
    format!("{}, {model}, {}, {host}", machine.cpu_model, machine.architecture)
}

/// Model name of the processor: the kernel's, else its own, else maker and part number (aarch64 has no name).
fn cpu_model(system: &System) -> String {
    // The first processor's part of the file is enough; the whole file grows with the CPUs.
    let info = system.head("/proc/cpuinfo", 4096).unwrap_or_default();
    let value = |key: &str| member(&info, key);
    let by_numbers =
        || Some(format!("implementer {} part {}", value("CPU implementer")?, value("CPU part")?));
    value("model name")
        .or_else(by_numbers)
        .or_else(processor::model_name)
        .unwrap_or_else(|| "unknown".to_owned())
}

/// What stands in /proc/cpuinfo for `key`, of the first processor.
fn member(info: &str, key: &str) -> Option<String> {
    let line = |line: &str| {
        let (name, value) = line.split_once(':')?;
        (name.trim_end() == key).then(|| value.trim().to_owned())
    };
    info.lines().find_map(line).filter(|value| !value.is_empty())
}

/// Name of this host; `None` where it has none, or what the kernel and installers give to every host.
pub(crate) fn host() -> Option<String> {
    let nameless = ["", "(none)", "localhost", "localhost.localdomain"];
    Some(identity::kernel().host).filter(|name| !nameless.contains(&name.as_str()))
}

/// Type of the instance: Amazon EC2 alone writes it into DMI (its user guide, "Identify EC2 instances"); the product name of
/// others says what their emulator is called.
fn instance_type(system: &System) -> Option<String> {
    let maker = system.line("/sys/class/dmi/id/sys_vendor").ok()?;
    let product = system.line("/sys/class/dmi/id/product_name").ok()?;
    (maker == "Amazon EC2" && !product.is_empty()).then_some(product)
}

fn memory_bytes(system: &System) -> Option<u64> {
    let text = system.text("/proc/meminfo").ok()?;
    let kib = text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB"))?;
    kib.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Conditions now. What only the run knows (`isolation`) is left open. Measures the clock's step: some ms.
#[must_use]
pub fn conditions() -> Conditions {
    let mut system = System::unmeasured();
    system.measured.clock = measured::read_clock(CLOCK_NS);
    system.measured.allowed_cpus = affinity::allowed().ok();
    conditions_of(&system)
}

/// The conditions that these files tell of.
#[must_use]
pub fn conditions_of(system: &System) -> Conditions {
    let kernel = identity::kernel();
    let clock = system.measured.clock;
    let governors = doctor::governors(system);
    let quota = doctor::quota(system);
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    Conditions {
        kernel: format!("{} {}", kernel.name, kernel.release),
        kernel_version: Some(kernel.version),
        microcode: member(&system.head("/proc/cpuinfo", 4096).unwrap_or_default(), "microcode"),
        command_line: system.line("/proc/cmdline").ok(),
        mitigations: doctor::in_force(system).map(|all| all.join("; ")),
        clock_source: system.line(source).ok(),
        clock_step_ns: clock.and_then(|clock| clock.step_ns),
        clock_pair_ns: clock.map(|clock| clock.pair_ns),
        governor: (!governors.is_empty()).then(|| doctor::list(&governors)),
        allowed_cpus: system.measured.allowed_cpus.as_deref().map(cpu_list::format),
        cpu_quota_known: quota.is_some(),
        cpu_quota: quota.flatten().map(|quota| quota.cpus),
        load_average: doctor::load_average(system),
        uid: Some(identity::uid()),
        isolation: None,
        seccomp_mode: Watched::own().seccomp_mode,
        seccomp_filters: system.own_status("Seccomp_filters").and_then(|count| count.parse().ok()),
        boot_id: system.line("/proc/sys/kernel/random/boot_id").ok().filter(|id| !id.is_empty()),
        nice: scheduling::nice().ok(),
        policy: scheduling::policy_name().ok(),
        preload: interposition::libraries(),
        ..Conditions::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::system::recorded::Recorded;

    #[test]
    fn the_machine_is_read_from_recorded_files() {
        let recorded = Recorded::new(&[
            ("proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC\u{1b} 9654\nmodel name\t: other\n"),
            ("sys/class/dmi/id/sys_vendor", "Amazon EC2\n"),
            ("sys/class/dmi/id/product_name", "m5.large\n"),
            ("proc/meminfo", "MemTotal:       1024 kB\nMemFree: 3 kB\n"),
            ("sys/devices/system/cpu/online", "0-63\n"),
            ("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,32\n"),
        ])
        .with(|measured| {
            measured.hypervisor = Some(Some("KVMKVMKVM".into()));
            measured.allowed_cpus = Some(vec![4, 5]);
        });
        let machine = machine_of(&recorded.system);
        assert_eq!(machine.cpu_model, "AMD EPYC\u{1b} 9654");
        assert_eq!(machine.hypervisor.as_deref(), Some("KVM"));
        assert_eq!(machine.instance_type.as_deref(), Some("m5.large"));
        assert_eq!((machine.cpus, machine.threads_per_core), (64, Some(2)));
        assert_eq!(machine.memory_bytes, Some(1 << 20));
    }

    /// Fast cores have two threads and slow ones have one; whoever may use the slow ones alone is on the same machine.
    #[test]
    fn a_machine_is_the_same_whichever_cpus_may_be_used() {
        let list = |cpu: usize| format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let lists = [list(0), list(2)];
        let files = [
            ("sys/devices/system/cpu/online", "0-3\n"),
            (lists[0].as_str(), "0-1\n"),
            (lists[1].as_str(), "2\n"),
        ];
        let machine = |allowed: &[usize]| {
            let recorded =
                Recorded::new(&files).with(|measured| measured.allowed_cpus = Some(allowed.to_vec()));
            machine_of(&recorded.system)
        };
        assert_eq!(machine(&[0, 1, 2, 3]).threads_per_core, Some(2));
        assert_eq!(machine(&[2, 3]), machine(&[0, 1, 2, 3]));
    }

    #[test]
    fn the_product_of_an_emulator_is_no_type_of_an_instance() {
        let recorded = Recorded::new(&[
            ("sys/class/dmi/id/sys_vendor", "QEMU\n"),
            ("sys/class/dmi/id/product_name", "Standard PC (Q35 + ICH9, 2009)\n"),
        ]);
        assert_eq!(machine_of(&recorded.system).instance_type, None);
    }

    #[test]
    fn a_processor_without_a_name_has_numbers() {
        let recorded = Recorded::new(&[("proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n")]);
        assert_eq!(machine_of(&recorded.system).cpu_model, "implementer 0x41 part 0xd0c");
    }

    #[test]
    fn what_nobody_says_is_left_open() {
        let recorded = Recorded::new(&[]);
        let conditions = conditions_of(&recorded.system);
        assert_eq!(conditions.mitigations, None);
        assert_eq!((conditions.boot_id, conditions.seccomp_filters), (None, None));
        assert_eq!((conditions.clock_source, conditions.governor, conditions.cpu_quota), (None, None, None));
        assert!(!conditions.cpu_quota_known, "what nobody could read is not 'no quota'");
        let machine = machine_of(&recorded.system);
        assert_eq!((machine.cpus, machine.memory_bytes, machine.threads_per_core), (0, None, None));
    }

    #[test]
    fn conditions_are_read_from_recorded_files() {
        let recorded = Recorded::new(&[
            ("sys/devices/system/cpu/vulnerabilities/mds", "Not affected\n"),
            ("sys/devices/system/cpu/vulnerabilities/retbleed", "Mitigation: untrained return thunk\n"),
            ("sys/devices/system/cpu/vulnerabilities/tsa", "Vulnerable\n"),
            ("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave\n"),
            ("proc/loadavg", "1.25 0 0 1/2 3\n"),
            ("proc/cpuinfo", "processor\t: 0\nmicrocode\t: 0x1000065\n"),
            ("proc/sys/kernel/random/boot_id", "7b0b5bb8-9b7e-4d0c-9d65-0a34d4f0a2c1\n"),
            ("proc/self/status", "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t3\n"),
            ("proc/self/cgroup", "0::/a\n"),
            ("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("sys/fs/cgroup/a/cpu.max", "max 100000\n"),
        ])
        .with(|measured| measured.allowed_cpus = Some(vec![0, 1, 3]));
        let conditions = conditions_of(&recorded.system);
        assert_eq!(
            conditions.mitigations.as_deref(),
            Some("retbleed: Mitigation: untrained return thunk; tsa: Vulnerable")
        );
        assert_eq!(conditions.governor.as_deref(), Some("powersave"));
        assert_eq!(conditions.microcode.as_deref(), Some("0x1000065"));
        assert_eq!(conditions.load_average, Some(1.25));
        assert_eq!(conditions.boot_id.as_deref(), Some("7b0b5bb8-9b7e-4d0c-9d65-0a34d4f0a2c1"));
        assert_eq!(conditions.seccomp_filters, Some(3));
        assert_eq!((conditions.cpu_quota, conditions.cpu_quota_known), (None, true));
        assert_eq!(conditions.allowed_cpus.as_deref(), Some("0-1,3"));
    }

    #[test]
    fn the_program_names_its_target() {
        let tool = tool();
        assert!(tool.target.starts_with(std::env::consts::ARCH), "{}", tool.target);
        assert!(!tool.build_id.is_empty() && !tool.libc.is_empty());
    }
}
