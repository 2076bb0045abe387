//! Virtualisation: is there a hypervisor, and how much of the CPUs did it take (steal)?

use super::system::System;
use super::{Finding, percent};

/// Share of stolen time from which on typical values move.
const MOST_STOLEN: f64 = 0.01;

const MATTERS: &str = "time that the host takes raises typical, batch_p99 and max; wake-ups and timers go through the hypervisor (cross-CPU figures 3-10x)";

pub(super) fn check(system: &System) -> Finding {
    let guest = hypervisor(system);
    let after = system.text("/proc/stat").ok();
    let stolen = |before: Option<CpuTime>, after: Option<CpuTime>| -> Option<f64> {
        let (before, after) = (before?, after?);
        let all = after.all.checked_sub(before.all).filter(|&all| all > 0)?;
        Some(after.stolen.checked_sub(before.stolen)? as f64 / all as f64)
    };
    let now = after.as_deref().and_then(cpu_time);
    let lately = stolen(system.measured.stat_before.as_deref().and_then(cpu_time), now);
    let since_boot = stolen(Some(CpuTime::default()), now);
    let mut says = match &guest {
        None => "cannot find out whether there is a hypervisor".to_owned(),
        Some(None) => "no hypervisor".to_owned(),
        Some(Some(name)) => format!("{name} guest"),
    };
    let share = |share: Option<f64>| share.map_or_else(|| "an unknown share".to_owned(), percent);
    says += &format!(
        "; the host took {} during this examination, {} since boot",
        share(lately),
        share(since_boot)
    );
    match (guest, lately.or(since_boot)) {
        (_, Some(share)) if share >= MOST_STOLEN => Finding::disturbs(says, MATTERS).remedy(
            "move the guest to a host with free CPUs, or pin its CPUs; the canary flags the rounds meanwhile",
        ),
        (Some(None), _) => Finding::fine("no hypervisor"),
        (Some(Some(_)), Some(_)) => Finding::fine(says + " (steal misses much of it: see gaps)"),
        (None, _) | (_, None) => Finding::unknown(says, MATTERS),
    }
}

/// Name of the hypervisor; `Some(None)` on bare metal (or where a hypervisor hides), `None` where nobody says.
pub(crate) fn hypervisor(system: &System) -> Option<Option<String>> {
    let by_files = || {
        let kind = system.line("/sys/hypervisor/type").ok();
        let product = ["sys_vendor", "product_name"]
            .map(|file| system.line(&format!("/sys/class/dmi/id/{file}")).unwrap_or_default())
            .join(" ");
        let known = [
            "QEMU",
            "KVM",
            "VMware",
            "VirtualBox",
            "Xen",
            "Microsoft Corporation Virtual Machine",
            "Bochs",
            "Parallels",
            "Amazon EC2",
            "Google Compute Engine",
            "OpenStack",
        ];
        let by_product = || known.into_iter().find(|name| product.contains(name)).map(str::to_owned);
        kind.or_else(by_product)
    };
    match &system.measured.hypervisor {
        Some(Some(signature)) => Some(Some(name_of(signature).unwrap_or_else(|| {
            by_files()
                .unwrap_or_else(|| if signature.is_empty() { "unnamed".into() } else { signature.clone() })
        }))),
        // The processor says that there is none; a paravirtual Xen guest knows better.
        Some(None) => Some(system.line("/sys/hypervisor/type").ok()),
        None if is_bare_metal_of_ec2(system) => Some(None),
        None => by_files().map(Some),
    }
}

/// EC2 writes its name into machines without a hypervisor, too: "c6g.metal", "c7g.metal-48xl".
fn is_bare_metal_of_ec2(system: &System) -> bool {
    let told = |file: &str| system.line(&format!("/sys/class/dmi/id/{file}")).unwrap_or_default();
    let product = told("product_name");
    let size = product.split_once('.').map_or("", |(_, size)| size);
    told("sys_vendor") == "Amazon EC2" && (size == "metal" || size.starts_with("metal-"))
}

/// Names of the signatures in CPUID leaf 0x40000000.
fn name_of(signature: &str) -> Option<String> {
    let name = match signature {
        "KVMKVMKVM" => "KVM",
        "VMwareVMware" => "VMware",
        "Microsoft Hv" => "Hyper-V",
        "XenVMMXenVMM" => "Xen",
        "bhyve bhyve" => "bhyve",
        "TCGTCGTCGTCG" => "QEMU (emulated)",
        "VBoxVBoxVBox" => "VirtualBox",
        "prl hyperv" | "lrpepyh vr" => "Parallels",
        "ACRNACRNACRN" => "ACRN",
        "QNXQVMBSQG" => "QNX",
        _ => return None,
    };
    Some(name.to_owned())
}

/// Ticks of all CPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct CpuTime {
    all: u64,
    stolen: u64,
}

/// The first line of /proc/stat: user nice system idle iowait irq softirq steal; guest times are part of user and nice.
fn cpu_time(stat: &str) -> Option<CpuTime> {
    let fields: Vec<u64> = stat
        .lines()
        .find_map(|line| line.strip_prefix("cpu "))?
        .split_whitespace()
        .take(8)
        .map(|field| field.parse().ok())
        .collect::<Option<_>>()?;
    let all = fields.iter().try_fold(0_u64, |sum, &field| sum.checked_add(field))?;
    Some(CpuTime { all, stolen: *fields.get(7)? })
}

#[cfg(test)]
mod tests {
    use super::super::system::recorded::*;
    use super::{check, hypervisor};

    const BEFORE: &str = "cpu  100 0 50 1000 0 0 0 10 0 0\ncpu0 1 2 3\n";

    fn guest(signature: Option<&str>, after: &str) -> Recorded {
        Recorded::new(&[("proc/stat", after)]).with(|measured| {
            measured.hypervisor = Some(signature.map(str::to_owned));
            measured.stat_before = Some(BEFORE.to_owned());
        })
    }

    #[test]
    fn bare_metal_is_fine() {
        check(&guest(None, "cpu  150 0 60 1040 0 0 0 10 0 0\n").system).is(Fine, "no hypervisor");
    }

    #[test]
    fn a_guest_whose_host_leaves_it_alone_is_fine() {
        check(&guest(Some("KVMKVMKVM"), "cpu  150 0 60 1040 0 0 0 10 0 0\n").system)
            .is(Fine, "KVM guest; the host took 0.0 % during this examination, 0.79 %...");
    }

    #[test]
    fn stolen_time_disturbs() {
        check(&guest(Some("KVMKVMKVM"), "cpu  150 0 60 1037 0 0 0 13 0 0\n").system)
            .is(Disturbs, "...the host took 3.0 % during this examination...");
    }

    #[test]
    fn a_guest_without_proc_stat_is_unknown() {
        let recorded =
            Recorded::new(&[]).with(|measured| measured.hypervisor = Some(Some("VMwareVMware".into())));
        assert_eq!(check(&recorded.system).state, Unknown);
        assert_eq!(check(&guest(Some("KVMKVMKVM"), "cpu  1 x\n").system).state, Unknown);
    }

    #[test]
    fn the_name_comes_from_the_processor_then_from_files() {
        let named = |signature: Option<&str>, files: &[(&str, &str)]| {
            hypervisor(
                &Recorded::new(files).with(|m| m.hypervisor = Some(signature.map(str::to_owned))).system,
            )
        };
        assert_eq!(named(Some("XenVMMXenVMM"), &[]), Some(Some("Xen".into())));
        assert_eq!(named(Some("\u{1b}[1m"), &[]), Some(Some("\u{1b}[1m".into())));
        assert_eq!(named(Some(""), &[("sys/class/dmi/id/sys_vendor", "QEMU\n")]), Some(Some("QEMU".into())));
        assert_eq!(named(None, &[("sys/hypervisor/type", "xen\n")]), Some(Some("xen".into())));
        assert_eq!(named(None, &[]), Some(None));
        assert_eq!(hypervisor(&Recorded::new(&[]).system), None);
        // An ARM processor cannot be asked.
        for (product, guest) in [
            ("c7g.large\n", Some("Amazon EC2".to_owned())),
            ("c6g.metal\n", None),
            ("c7g.metal-48xl\n", None),
        ] {
            let vendor = ("sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
            let files = [vendor, ("sys/class/dmi/id/product_name", product)];
            assert_eq!(hypervisor(&Recorded::new(&files).system), Some(guest), "{product}");
        }
    }
}
