//! What the kills end: one run or command of every kind, and what the machine lacks for it.

use crate::program::User;

/// What is killed: a name, a line of a shell in front of it, and its arguments.
pub struct Scenario {
    pub name: &'static str,
    /// Preparation of the space by the campaign's user; if it fails, the scenario is skipped.
    pub space: &'static str,
    /// Only a janitor can be had: after a kill of everything it is the next start that removes what is left.
    pub janitor: bool,
    /// As whom alone, where it makes a difference.
    pub only: Option<User>,
    /// What the shell does that becomes the program.
    pub prepare: &'static str,
    /// In words of a shell.
    pub arguments: &'static str,
    /// A program that it needs besides.
    pub needs: Option<&'static str>,
    /// It has no end of its own: moments lie within its first seconds.
    pub endless: bool,
    /// Among three other spaces it may take longer than a run may: all are pinned to the CPU that is measured, and share it.
    pub slow: bool,
    /// What is left after a kill of everything the next start of the same removes, and no other.
    pub again: bool,
}

/// Makes another root directory with the folders of this one. `$made` is done when it is there: in one that is no mount of its own, no
/// mount can be made private.
macro_rules! jail {
    ($made:literal) => {
        concat!(
            "mkdir /mnt/jail && ",
            $made,
            " && cd /mnt/jail && for folder in bin lib lib64 usr etc proc sys dev tmp mnt; do \
             [ ! -d /$folder ] || { mkdir $folder && mount --rbind /$folder $folder; } || exit 1; done"
        )
    };
}
const IN_JAIL: &str = "exec chroot /mnt/jail \"$0\" \"$@\"";

const fn family(name: &'static str, arguments: &'static str) -> Scenario {
    Scenario {
        name,
        space: "",
        janitor: false,
        only: None,
        prepare: "",
        arguments,
        needs: None,
        endless: false,
        slow: false,
        again: false,
    }
}

/// The three shapes of processes come first: alone, with a partner, a session of many.
pub const SHAPES: usize = 3;

pub const SCENARIOS: &[Scenario] = &[
    family("alone", "run --force --quick syscall/getppid"),
    family("partner", "run --force --quick semaphore/system_v/handover/same_cpu"),
    family("session", "run --force --quick realtime_ipc/unix_datagram/same_cpu/clients_10"),
    family("instrument", "run --force --quick instrument"),
    family("clock", "run --force --quick clock/monotonic clock/step/monotonic"),
    family("syscall", "run --force --quick syscall/read0_pipe syscall/open_close"),
    family("context_switch", "run --force --quick context_switch/pipe/same_cpu context_switch/posix_queue"),
    family("semaphore", "run --force --quick semaphore/posix_named semaphore/system_v"),
    family("lock", "run --force --quick lock/system_v_message lock/robust_mutex"),
    family("contention", "run --force --quick semaphore/system_v/contended/processes_4/hold_us_1/think_0"),
    family("record_lock", "run --force --quick record_lock/fcntl"),
    family(
        "record_database",
        "run --force --quick record_database/book/seek/fine_fcntl/processes_4/nrec_500",
    ),
    family(
        "realtime_ipc",
        "run --force --quick realtime_ipc/posix_queue realtime_ipc/fifo/same_cpu/clients_10",
    ),
    family(
        "load",
        "run --force --quick realtime_ipc --set transport=pipe --set clients=1 \
         --set \"load_command=sh -c 'setsid sleep 1000 & sleep 1000'\"",
    ),
    family("signal", "run --force --quick signal/deliver"),
    family(
        "process",
        "run --force --quick process/posix_spawn process/exec_static process/fork/resident_16m",
    ),
    family("thread", "run --force --quick thread"),
    family(
        "memory",
        "run --force --quick memory/fault_anonymous memory/shootdown/threads_1 memory/bandwidth/copy/block_64m",
    ),
    family("cpu_pair", "run --force --quick cpu_pair"),
    family("event", "run --force --quick event/epoll_wake/same_cpu event/poll/descriptors_1000"),
    family("file", "run --force --quick file/create_unlink file/write_4k file/fsync"),
    family("io_uring", "run --force --quick io_uring"),
    family("socket", "run --force --quick socket/tcp_connect socket/udp_round_trip socket/tcp_round_trip"),
    family("timer", "run --force --quick timer"),
    family("futex", "run --force --quick futex/wake_one futex/hash/threads_2"),
    family(
        "container",
        "run --force --quick container/namespace/user container/namespace/mount container/namespace/net container/namespace/cgroup",
    ),
    family("seccomp", "run --force --quick tax/seccomp"),
    family("bpf", "run --force --quick tax/bpf"),
    // Both sides leave somebody in a session of his own. 24 launches: 13.5 s alone, 42 s beside three others.
    // Others measure nearly always, and it cannot be forced: its machine has a root directory of its own, whose lock they do not take.
    Scenario {
        space: jail!("mount -t tmpfs jail /mnt/jail"),
        prepare: IN_JAIL,
        slow: true,
        ..family(
            "live",
            r#"compare --live "sh -c 'setsid sleep 1000 & exec \"\$@\"' sh /mnt/oscost" "sh -c 'sleep 1000 & exec \"\$@\"' sh /mnt/oscost" --rounds 6 syscall/getppid"#,
        )
    },
    // The shortest document: its moments are as many.
    family("reproduce", "reproduce --force --quick context-switch"),
    Scenario {
        needs: Some("cc"),
        prepare: A_C_PROGRAM,
        again: true,
        ..family("reproduce with C", "reproduce ostep --force --quick --c played")
    },
    family("doctor", "doctor --check"),
    family("scaling", "run --force --quick --processes 1,2 --threads 2 syscall/getppid"),
    family("plain", "run --plain syscall/getppid context_switch/pipe/same_cpu"),
    family(
        "fast database",
        "run --force --quick record_database/fast/mapped/fine_mutex/processes_4/nrec_500",
    ),
    family("network messages", "run --force --quick realtime_ipc --set transport=tcp,udp --set clients=10"),
    family(
        "kernel messages",
        "run --force --quick realtime_ipc --set transport=system_v_queue,system_v_semaphore,posix_semaphore --set clients=10",
    ),
    family(
        "raw_dir",
        "run --force --quick realtime_ipc --set transport=pipe --set clients=1 --set placement=same_cpu --set raw_dir=raw",
    ),
    Scenario {
        // A kernel that is locked down lists the tracer, and refuses functions.
        space: "mount -t tracefs tracefs /sys/kernel/tracing && \
                head -c 1 /sys/kernel/tracing/available_filter_functions >/dev/null",
        only: Some(User::Own),
        ..family("trace", "explain --trace syscall/getppid")
    },
    Scenario { endless: true, ..family("watch", "run --force --quick --watch syscall/getppid") },
    family("raw", "run --force --quick --raw raw.csv --json out.json syscall/getppid timer"),
    Scenario { prepare: A_RESULT, ..family("compare", "compare @-1 @-1 --format markdown") },
    Scenario { prepare: A_RESULT, ..family("report", "report @-1 --format html -o page.html") },
    Scenario { prepare: A_FLEET, ..family("fleet", "report --fleet played -o page.html --format html") },
    // Two machines, or the two of a tree.
    Scenario { prepare: A_MACHINE, ..family("count", "count syscall/getppid") },
    Scenario { prepare: A_MACHINE, ..family("count by function", "count syscall/getppid --by-function") },
    Scenario {
        needs: Some("stress-ng"),
        ..family("crosscheck", "crosscheck --force --quick --with stress-ng stress-ng/sem-sysv stress-ng/msg")
    },
    Scenario {
        janitor: true,
        prepare: "exec unshare -U -r sh -c 'for kind in user ipc mnt pid; do echo 0 >/proc/sys/user/max_${kind}_namespaces || exit 99; done; exec \"$0\" \"$@\"' \"$0\" \"$@\"",
        ..family("janitor", OBJECTS)
    },
    // As Ubuntu does it: an ordinary user gets a user namespace, and may not map himself in it.
    Scenario {
        space: "mount -o remount,ro /proc",
        janitor: true,
        only: Some(User::Nobody),
        ..family("no maps", OBJECTS)
    },
    // In a changed root directory namespaces are granted, and no mount in them can be made private.
    Scenario {
        space: jail!("true"),
        prepare: IN_JAIL,
        janitor: true,
        only: Some(User::Own),
        ..family("no mount", OBJECTS)
    },
];

/// A stored result, before the first of those who read it.
const A_RESULT: &str = r#"ls "$XDG_STATE_HOME"/oscost/runs/*.json >/dev/null 2>&1 ||
"$0" run --force --quiet --one-launch syscall/getppid >/dev/null || exit 98"#;

/// Two folders of a fleet with a result each.
const A_FLEET: &str = r#"
for host in one two; do
  [ -e "$HOME/played/$host/a.json" ] || { mkdir -p "$HOME/played/$host" &&
  "$0" run --force --quiet --one-launch syscall/getppid --json "$HOME/played/$host/a.json" >/dev/null; } || exit 98
done"#;

/// A program of document 003 in words of our own, compiled and run beside ours.
const A_C_PROGRAM: &str = r#"
mkdir -p "$HOME/played"
printf '%s\n' '#include <stdio.h>' '#include <unistd.h>' 'int main(void) { usleep(20000);' 'printf("Average time to make a system call: 1.0 ns\n"); return 0; }' >"$HOME/played/system_call_1.c"
"#;

/// The kernel that OSCOST_KERNEL names, or a false one with a false qemu, which boots for a while and ends.
const A_MACHINE: &str = r#"
if [ -z "$OSCOST_KERNEL" ]; then
  played=$HOME/played OSCOST_KERNEL=$HOME/played/bzImage PATH=$HOME/played:$PATH
  mkdir -p "$played" || exit 98
  zeros() { head -c "$1" /dev/zero; }
  { zeros 510; printf '\125\252'; zeros 2; printf HdrS; zeros 48; printf '\001'; zeros 4096; } >"$OSCOST_KERNEL"
  printf '%s\n' '#!/bin/sh' '[ "$1" != --version ] || exec echo "QEMU emulator version 0 (played)"' 'exec sleep 2' >"$played/qemu-system-x86_64"
  chmod +x "$played/qemu-system-x86_64"
fi
set -- "$@" --kernel "$OSCOST_KERNEL"
"#;

/// Every kind of object that outlives a process.
const OBJECTS: &str = "run --force --quick semaphore/posix_named semaphore/system_v/handover/same_cpu lock/system_v_message context_switch/posix_queue/same_cpu realtime_ipc/unix_datagram/same_cpu/clients_10 realtime_ipc/fifo/same_cpu/clients_10";
