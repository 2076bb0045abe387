//! Other ways to look into the kernel here: perf, tracefs, BPF, ptrace. oscost needs none of the first three to measure.

use super::Finding;
use super::system::System;

const MATTERS: &str = "no figure; tools that explain one (perf trace, ftrace, bpftrace) may be refused";

pub(super) fn check(system: &System) -> Finding {
    let number = |path: &str| system.line(path).ok().and_then(|line| line.trim().parse::<i64>().ok());
    let mut says = Vec::new();
    let mut known = false;
    let mut tell = |said: Option<String>, otherwise: &str| {
        known |= said.is_some();
        says.push(said.unwrap_or_else(|| otherwise.to_owned()));
    };
    let perf =
        number("/proc/sys/kernel/perf_event_paranoid").map(|level| match system.measured.filtered_perf {
            // The kernel has it, so whoever answers otherwise is no kernel.
            Some(Some(error)) => {
                format!("perf: refused by a filter ({error}), whatever paranoid {level} allows")
            }
            _ if level < 0 => "perf: everything for everybody".to_owned(),
            _ if level < 2 => format!("perf: kernel events for everybody (paranoid {level})"),
            _ if level == 2 => "perf: own user-space events (paranoid 2)".to_owned(),
            _ => format!("perf: root only (paranoid {level})"),
        });
    let otherwise = match system.measured.filtered_perf {
        Some(None) => "perf: in this kernel, but who may use it is hidden",
        Some(Some(_)) => "perf: not in this kernel, or refused by a filter",
        None => "perf unknown",
    };
    tell(perf, otherwise);
    let traced = ["/sys/kernel/tracing/trace", "/sys/kernel/debug/tracing/trace"];
    let traced = traced.into_iter().any(|path| system.has(path));
    let mounted = system.text("/proc/self/mounts").ok().map(|mounts| {
        match (traced, mounts.lines().any(|line| line.split(' ').nth(2) == Some("tracefs"))) {
            (true, _) => "tracefs readable".to_owned(),
            (false, true) => "tracefs mounted, not for this user".to_owned(),
            (false, false) => "tracefs not mounted".to_owned(),
        }
    });
    tell(mounted, "tracefs unknown");
    let bpf = number("/proc/sys/kernel/unprivileged_bpf_disabled").map(|level| match level {
        0 => "BPF for everybody".to_owned(),
        _ => "BPF by CAP_BPF only".to_owned(),
    });
    tell(bpf, "BPF unknown");
    let yama = match (number("/proc/sys/kernel/yama/ptrace_scope"), system.measured.ptrace) {
        (Some(scope), _) => Some(format!("ptrace scope {scope}")),
        (None, Some(true)) => Some("ptrace of own children".to_owned()),
        (None, Some(false)) => Some("ptrace refused".to_owned()),
        (None, None) => None,
    };
    tell(yama, "ptrace unknown");
    let says = says.join("; ");
    if known { Finding::fine(says) } else { Finding::unknown(says, MATTERS) }
}

#[cfg(test)]
mod tests {
    use super::super::system::recorded::*;
    use super::check;
    use oscost_sys::CallError;

    #[test]
    fn levels_are_told_in_words() {
        for (level, words) in
            [("-1", "everything"), ("1", "kernel events"), ("2", "own user-space"), ("4", "root only")]
        {
            let recorded = Recorded::new(&[
                ("proc/sys/kernel/perf_event_paranoid", level),
                ("proc/sys/kernel/unprivileged_bpf_disabled", "2\n"),
                ("proc/self/mounts", "tracefs /sys/kernel/tracing tracefs rw 0 0\n"),
            ]);
            let found = check(&recorded.system);
            assert_eq!(found.state, Fine);
            assert!(found.says.contains(words), "{}", found.says);
            assert!(
                found.says.contains("not for this user") && found.says.contains("CAP_BPF only"),
                "{}",
                found.says
            );
        }
    }

    #[test]
    fn what_a_filter_refuses_is_not_what_the_level_allows() {
        let refused = |answer| {
            let recorded = Recorded::new(&[("proc/sys/kernel/perf_event_paranoid", "1\n")]);
            check(&recorded.with(|measured| measured.filtered_perf = answer).system).says
        };
        let answer = Some(Some(CallError::new("perf_event_open", 1)));
        assert!(refused(answer).starts_with("perf: refused by a filter (perf_event_open failed"));
        for answer in [None, Some(None)] {
            assert!(refused(answer).starts_with("perf: kernel events for everybody"));
        }
        // Without /proc only the call tells.
        let hidden =
            |answer| check(&Recorded::new(&[]).with(|measured| measured.filtered_perf = answer).system).says;
        assert!(hidden(Some(None)).starts_with("perf: in this kernel"));
        assert!(hidden(Some(Some(CallError::new("perf_event_open", 38)))).starts_with("perf: not in this"));
        assert!(hidden(None).starts_with("perf unknown"));
    }

    #[test]
    fn nothing_known_is_unknown() {
        assert_eq!(check(&Recorded::new(&[]).system).state, Unknown);
    }
}
