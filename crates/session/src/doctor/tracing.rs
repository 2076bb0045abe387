//! Other tracers of system calls: a tracer of this process, a counter of raw_syscalls. Each slows every call.

use super::Finding;
use super::system::System;

const TRACED: &str =
    "each system call stops twice for the tracer: figures with system calls are tens of us too high";
const COUNTED: &str = "every system call of every process takes at least 27 % longer: syscall/* and all figures that enter the kernel";
/// Links of /proc/*/fd that are looked at before giving up.
const MOST_LINKS: usize = 20_000;

pub(super) fn check(system: &System) -> Finding {
    let tracer = system.own_status("TracerPid");
    match tracer.as_deref() {
        Some("0") => {}
        Some(pid) => {
            return Finding::disturbs(format!("process {pid} traces this one (ptrace)"), TRACED)
                .remedy("start oscost without strace, ltrace or a debugger");
        }
        None => {
            let says = "/proc/self/status does not say who traces this process";
            return Finding::unknown(says, format!("if somebody does, {TRACED}"));
        }
    }
    if system.measured.effective_uid != Some(0) {
        let says = "this process is not traced; only root can see whether raw_syscalls is being counted";
        return Finding::unknown(says, if_counted()).remedy("as root: oscost doctor");
    }
    let enabled = match tracefs(system) {
        Some(enabled) => enabled,
        None => {
            return Finding::unknown(
                "this process is not traced; tracefs is not mounted in the usual places",
                if_counted(),
            )
            .remedy("as root: mount -t tracefs tracefs /sys/kernel/tracing");
        }
    };
    if let Some(event) = enabled {
        return Finding::disturbs(format!("tracefs: {event} is on"), COUNTED).remedy(
            "stop trace-cmd and perf trace; as root: echo 0 > /sys/kernel/tracing/events/raw_syscalls/enable",
        );
    }
    // A counter of perf or BPF does not show in tracefs: a process that holds one may count system calls.
    match holders(system) {
        Holders::None => {
            Finding::fine("not traced; raw_syscalls is off, and no process holds a perf event or BPF link")
        }
        Holders::Counts(process) => {
            Finding::disturbs(format!("{process} has a BPF program on system calls"), COUNTED)
                .remedy("stop it")
        }
        Holders::May(process) => Finding::unknown(
            format!("{process} holds perf events or BPF links, and may count raw_syscalls"),
            if_counted(),
        )
        .remedy("stop it, and look again"),
        Holders::TooMany => Finding::unknown("too many open files to look at for perf events", if_counted()),
    }
}

/// What is not known to be so.
fn if_counted() -> String {
    format!("if raw_syscalls is counted, {COUNTED}")
}

/// The event of system calls that is on, if any; `None` where tracefs cannot be seen.
fn tracefs(system: &System) -> Option<Option<String>> {
    let root = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"]
        .into_iter()
        .find(|root| system.has(&format!("{root}/events/raw_syscalls/enable")))?;
    for group in ["raw_syscalls", "syscalls"] {
        // "0" off, "1" on, "X" some of the group's are on.
        match system.line(&format!("{root}/events/{group}/enable")) {
            Ok(state) if state == "0" => {}
            Ok(_) => return Some(Some(format!("events/{group}"))),
            // A kernel may lack the second group; the first was there.
            Err(super::system::NoText::NotThere) if group == "syscalls" => {}
            Err(_) => return None,
        }
    }
    Some(None)
}

enum Holders {
    None,
    May(String),
    Counts(String),
    TooMany,
}

/// Processes with descriptors through which system calls can be counted.
fn holders(system: &System) -> Holders {
    let mut looked = 0;
    let mut may = None;
    for pid in system.names("/proc").unwrap_or_default() {
        if !pid.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        for fd in system.names(&format!("/proc/{pid}/fd")).unwrap_or_default() {
            looked += 1;
            if looked > MOST_LINKS {
                return Holders::TooMany;
            }
            let process = || {
                let name = system.line(&format!("/proc/{pid}/comm")).unwrap_or_default();
                format!("process {pid} ({name})")
            };
            match system.link(&format!("/proc/{pid}/fd/{fd}")).as_deref() {
                Some("anon_inode:[perf_event]") => {
                    may.get_or_insert_with(process);
                }
                Some("anon_inode:bpf_link" | "anon_inode:[bpf_link]") => {
                    let info = system.text(&format!("/proc/{pid}/fdinfo/{fd}")).unwrap_or_default();
                    if info.lines().any(|line| matches!(line, "tp_name:\tsys_enter" | "tp_name:\tsys_exit")) {
                        return Holders::Counts(process());
                    }
                    // Links of cgroups, networks and the like do not touch system calls.
                    if info.lines().any(|line| line == "link_type:\tperf") {
                        may.get_or_insert_with(process);
                    }
                }
                _ => {}
            }
        }
    }
    may.map_or(Holders::None, Holders::May)
}

#[cfg(test)]
mod tests {
    use super::super::system::recorded::*;
    use super::check;

    const STATUS: (&str, &str) = ("proc/self/status", "Name:\tx\nTracerPid:\t0\n");
    const RAW: &str = "sys/kernel/tracing/events/raw_syscalls/enable";

    fn recorded(uid: u32, files: &[(&str, &str)]) -> Recorded {
        Recorded::new(files).with(|measured| measured.effective_uid = Some(uid))
    }

    #[test]
    fn a_tracer_of_this_process_disturbs_every_user() {
        check(&recorded(1000, &[("proc/self/status", "TracerPid:\t77\n")]).system)
            .is(Disturbs, "process 77 traces this one (ptrace)");
    }

    #[test]
    fn a_user_cannot_tell_and_root_needs_tracefs() {
        assert_eq!(check(&recorded(1000, &[STATUS, (RAW, "0\n")]).system).state, Unknown);
        assert_eq!(check(&recorded(0, &[STATUS]).system).state, Unknown);
        assert_eq!(check(&recorded(0, &[STATUS, (RAW, "0\n")]).system).state, Fine);
        let debug = "sys/kernel/debug/tracing/events/raw_syscalls/enable";
        assert_eq!(check(&recorded(0, &[STATUS, (debug, "0\n")]).system).state, Fine);
    }

    #[test]
    fn events_that_are_on_disturb() {
        let one = "sys/kernel/tracing/events/syscalls/enable";
        for (raw, calls) in [("1\n", "0\n"), ("0\n", "X\n")] {
            let found = check(&recorded(0, &[STATUS, (RAW, raw), (one, calls)]).system);
            assert_eq!(found.state, Disturbs, "{raw} {calls}");
        }
    }

    #[test]
    fn holders_of_counters_are_found_and_other_links_are_not() {
        let recorded = recorded(0, &[STATUS, (RAW, "0\n"), ("proc/9/comm", "p\u{1b}rf\n")]);
        recorded.link("proc/9/fd/1", "/dev/null");
        recorded.link("proc/9/fd/3", "anon_inode:bpf_link");
        recorded.write("proc/9/fdinfo/3", "pos:\t0\nlink_type:\tcgroup\n");
        assert_eq!(check(&recorded.system).state, Fine);
        recorded.link("proc/9/fd/4", "anon_inode:[perf_event]");
        check(&recorded.system).is(Unknown, "process 9 (p\u{1b}rf) holds...");
        recorded.write("proc/9/fdinfo/3", "link_type:\traw_tracepoint\ntp_name:\tsys_enter\n");
        assert_eq!(check(&recorded.system).state, Disturbs);
    }
}
