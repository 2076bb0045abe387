//! Mitigations of processor flaws: part of the price of entering the kernel, unless they hold for this process alone.

use super::Finding;
use super::system::System;

const DIRECTORY: &str = "/sys/devices/system/cpu/vulnerabilities";
const MATTERS: &str = "system calls and context switches, by 10-200 ns each: figures under other mitigations are not comparable";
const OWN: &str = "only this process is slowed, in loads after stores (store bypass) or in each switch (indirect branches): figures may be a few percent too high";

pub(super) fn check(system: &System) -> Finding {
    let Some(all) = in_force(system) else {
        return Finding::unknown(format!("{DIRECTORY} cannot be read"), MATTERS);
    };
    let own: Vec<String> =
        [("Speculation_Store_Bypass", "mitigated"), ("SpeculationIndirectBranch", "disabled")]
            .into_iter()
            .filter_map(|(key, word)| {
                let state = system.own_status(key)?;
                // "globally mitigated" and "always disabled" hold for everybody, and are part of the price.
                let alone = state.ends_with(word)
                    && (state.starts_with("thread ") || state.starts_with("conditional "));
                alone.then(|| format!("{key}: {state}"))
            })
            .collect();
    if !own.is_empty() {
        return Finding::disturbs(own.join("; "), OWN)
            .remedy("run outside the sandbox (a seccomp filter set this), or boot with spec_store_bypass_disable=prctl");
    }
    Finding::fine(if all.is_empty() { "none needed, none in force".to_owned() } else { summary(&all) })
}

/// Names by state; the conditions of a result hold the states in full.
fn summary(all: &[String]) -> String {
    let (mut mitigated, mut vulnerable, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for entry in all {
        match entry.split_once(": ") {
            Some((name, state)) if state.starts_with("Mitigation") => mitigated.push(name),
            Some((name, state)) if state.starts_with("Vulnerable") => vulnerable.push(name),
            _ => rest.push(entry.as_str()),
        }
    }
    let named = |what: &str, names: &[&str]| format!("{what}: {}", names.join(", "));
    let mut parts = Vec::new();
    if !mitigated.is_empty() {
        parts.push(named("mitigated", &mitigated));
    }
    if !vulnerable.is_empty() {
        parts.push(named("vulnerable", &vulnerable));
    }
    parts.extend(rest.into_iter().map(str::to_owned));
    parts.join("; ")
}

/// What concerns this processor ("name: state"); `None` where the kernel does not say.
pub(crate) fn in_force(system: &System) -> Option<Vec<String>> {
    let names = system.names(DIRECTORY).ok()?;
    let states: Option<Vec<(String, String)>> = names
        .into_iter()
        .map(|name| {
            let state = system.line(&format!("{DIRECTORY}/{name}")).ok()?;
            Some((name, state))
        })
        .collect();
    let concerned = states?.into_iter().filter(|(_, state)| state != "Not affected");
    Some(concerned.map(|(name, state)| format!("{name}: {state}")).collect())
}

#[cfg(test)]
mod tests {
    use super::super::system::recorded::*;
    use super::{check, in_force};

    const MELTDOWN: (&str, &str) = ("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n");
    const SPECTRE: (&str, &str) =
        ("sys/devices/system/cpu/vulnerabilities/spectre_v2", "Mitigation: \u{1b}IBRS\n");

    #[test]
    fn what_is_in_force_for_all_is_fine_and_told() {
        let status = (
            "proc/self/status",
            "Speculation_Store_Bypass:\tthread vulnerable\nSpeculationIndirectBranch:\talways enabled\n",
        );
        check(&Recorded::new(&[MELTDOWN, SPECTRE, status]).system).is(Fine, "mitigated: spectre_v2");
        let others = Recorded::new(&[
            SPECTRE,
            ("sys/devices/system/cpu/vulnerabilities/itlb_multihit", "KVM: \u{1b}x\n"),
            ("sys/devices/system/cpu/vulnerabilities/tsa", "Vulnerable: no microcode\n"),
        ]);
        assert_eq!(
            check(&others.system).says,
            "mitigated: spectre_v2; vulnerable: tsa; itlb_multihit: KVM: \u{1b}x"
        );
        let none = Recorded::new(&[MELTDOWN]);
        assert_eq!(in_force(&none.system), Some(vec![]));
        assert_eq!(check(&none.system).says, "none needed, none in force");
    }

    #[test]
    fn what_slows_this_process_alone_disturbs() {
        for line in [
            "Speculation_Store_Bypass:\tthread force mitigated\n",
            "Speculation_Store_Bypass:\tthread mitigated\n",
            "SpeculationIndirectBranch:\tconditional force disabled\n",
        ] {
            let found = check(&Recorded::new(&[SPECTRE, ("proc/self/status", line)]).system);
            assert_eq!(found.state, Disturbs, "{line}");
        }
        let global = ("proc/self/status", "Speculation_Store_Bypass:\tglobally mitigated\n");
        assert_eq!(check(&Recorded::new(&[SPECTRE, global]).system).state, Fine);
    }

    #[test]
    fn one_unreadable_file_makes_it_unknown() {
        let recorded = Recorded::new(&[MELTDOWN, ("sys/devices/system/cpu/vulnerabilities/mds/x", "")]);
        assert_eq!(check(&recorded.system).state, Unknown);
    }
}
