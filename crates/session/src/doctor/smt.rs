//! SMT: two hardware threads share one core, and a busy sibling slows the other one.

use std::collections::BTreeSet;

use oscost_sys::cpu_list;

use super::Finding;
use super::system::System;
use super::virtualisation::hypervisor;

const MATTERS: &str = "a busy sibling slows everything on its core, up to 2x, without steal or switches; the canary finds such rounds, and floors hold";

pub(super) fn check(system: &System) -> Finding {
    let active = system.line("/sys/devices/system/cpu/smt/active").ok();
    let siblings = siblings(system);
    let shared = |cores: &BTreeSet<Vec<usize>>| cores.iter().any(|core| core.len() > 1);
    // Of a core, only what this process may use can be chosen.
    let usable: BTreeSet<Vec<usize>> = siblings
        .iter()
        .map(|core| core.iter().copied().filter(|cpu| is_allowed(system, *cpu)).collect())
        .collect();
    match (active.as_deref(), hypervisor(system)) {
        _ if shared(&usable) => {
            let first: Vec<usize> = usable.iter().filter_map(|core| core.first().copied()).collect();
            Finding::disturbs(
                format!(
                    "on: {} CPUs share {} core{}",
                    usable.iter().map(Vec::len).sum::<usize>(),
                    first.len(),
                    if first.len() == 1 { "" } else { "s" }
                ),
                MATTERS,
            )
            .remedy(format!(
                "one CPU a core: --cpu {}; or as root: echo off > /sys/devices/system/cpu/smt/control",
                cpu_list::format(&first)
            ))
        }
        (active, _) if active == Some("1") || shared(&siblings) => {
            Finding::disturbs("on", MATTERS).remedy("as root: echo off > /sys/devices/system/cpu/smt/control")
        }
        (Some("0"), Some(None)) => Finding::fine("off"),
        (Some("0"), _) => Finding::unknown(
            "none is visible, but a hypervisor may hide siblings: the canary watches",
            MATTERS,
        ),
        _ => Finding::unknown("not known to this kernel: the canary watches", MATTERS),
    }
}

fn is_allowed(system: &System, cpu: usize) -> bool {
    system.measured.allowed_cpus.as_ref().is_some_and(|allowed| allowed.contains(&cpu))
}

/// The CPUs of each core, as far as the kernel says.
fn siblings(system: &System) -> BTreeSet<Vec<usize>> {
    system
        .measured
        .allowed_cpus
        .iter()
        .flatten()
        .filter_map(|cpu| {
            let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
            cpu_list::parse(&system.line(&path).ok()?)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::system::recorded::*;
    use super::{Finding, check};

    fn found(guest: bool, files: &[(&str, &str)]) -> Finding {
        found_on(&[0, 1, 2, 3], guest, files)
    }

    fn found_on(allowed: &[usize], guest: bool, files: &[(&str, &str)]) -> Finding {
        let recorded = Recorded::new(files).with(|measured| {
            measured.allowed_cpus = Some(allowed.to_vec());
            measured.hypervisor = Some(guest.then(|| "KVMKVMKVM".to_owned()));
        });
        check(&recorded.system)
    }

    const ACTIVE: &str = "sys/devices/system/cpu/smt/active";

    #[test]
    fn siblings_disturb_and_one_of_each_is_advised() {
        let list = |cpu: usize| format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let lists = [list(0), list(1), list(2), list(3)];
        let found = found(
            false,
            &[
                (ACTIVE, "1\n"),
                (&lists[0], "0,2\n"),
                (&lists[1], "1,3\n"),
                (&lists[2], "0,2\n"),
                (&lists[3], "1,3\n"),
            ],
        );
        found.is(Disturbs, "on: 4 CPUs share 2 cores");
        assert!(found.remedy.expect("a remedy").starts_with("one CPU a core: --cpu 0-1;"));
    }

    #[test]
    fn no_cpu_is_advised_that_this_process_may_not_use() {
        let list = |cpu: usize| format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let lists = [list(1), list(2), list(3)];
        let files = [(ACTIVE, "1\n"), (&*lists[0], "1,3\n"), (&*lists[1], "0,2\n"), (&*lists[2], "1,3\n")];
        let shared = found_on(&[1, 2, 3], false, &files);
        shared.is(Disturbs, "on: 3 CPUs share 2 cores");
        assert!(shared.remedy.expect("a remedy").starts_with("one CPU a core: --cpu 1-2;"));
        // Others may work on the rest of the core, whatever is chosen here.
        for files in [&files[..], &files[1..]] {
            let alone = found_on(&[2], false, files);
            alone.is(Disturbs, "on");
            assert!(alone.remedy.expect("a remedy").starts_with("as root: "));
        }
    }

    #[test]
    fn one_core_is_one() {
        let list = "sys/devices/system/cpu/cpu0/topology/thread_siblings_list";
        assert_eq!(found(false, &[(ACTIVE, "1\n"), (list, "0,2\n")]).says, "on: 2 CPUs share 1 core");
    }

    #[test]
    fn off_is_fine_on_bare_metal_only() {
        assert_eq!(found(false, &[(ACTIVE, "0\n")]).state, Fine);
        assert_eq!(found(true, &[(ACTIVE, "0\n")]).state, Unknown);
        assert_eq!(found(false, &[(ACTIVE, "1\n")]).state, Disturbs);
        assert_eq!(found(false, &[(ACTIVE, "\u{1b}\n")]).state, Unknown);
    }
}
