//! Limits of kernel objects that figures are made of: semaphores, queues, datagrams.

use super::Finding;
use super::system::System;

const MATTERS: &str = "a benchmark that needs more than a limit allows is unsupported, and names the limit";

/// A limit: its file, its name, and the least that every benchmark of the price list fits into.
const LIMITS: [(&str, &str, u64); 6] = [
    ("/proc/sys/kernel/msgmax", "msgmax", 1024),
    ("/proc/sys/kernel/msgmnb", "msgmnb", 4096),
    ("/proc/sys/kernel/msgmni", "msgmni", 16),
    ("/proc/sys/fs/mqueue/msg_max", "mqueue msg_max", 10),
    ("/proc/sys/fs/mqueue/queues_max", "mqueue queues_max", 16),
    ("/proc/sys/net/unix/max_dgram_qlen", "max_dgram_qlen", 10),
];
/// Fields of kernel.sem: semaphores a set, in all, operations a call, sets.
const SEM: [(&str, u64); 4] = [("semmsl", 16), ("semmns", 32), ("semopm", 10), ("semmni", 8)];
/// What RLIMIT_MSGQUEUE must hold: ten queues of ten short messages.
const QUEUE_BYTES: u64 = 100_000;

pub(super) fn check(system: &System) -> Finding {
    let mut says = Vec::new();
    let mut low = Vec::new();
    let mut missing = Vec::new();
    let mut judge = |name: &str, value: u64, least: u64| {
        if value < least {
            low.push(format!("{name} is {value}, and {least} are needed"));
        }
    };
    match system.line("/proc/sys/kernel/sem") {
        Ok(line) => {
            let fields: Vec<u64> = line.split_whitespace().filter_map(|field| field.parse().ok()).collect();
            says.push(format!("sem {}", line.split_whitespace().collect::<Vec<_>>().join(" ")));
            if fields.len() == SEM.len() {
                SEM.iter().zip(&fields).for_each(|((name, least), value)| judge(name, *value, *least));
            } else {
                missing.push("kernel.sem");
            }
        }
        Err(_) => missing.push("kernel.sem"),
    }
    for (path, name, least) in LIMITS {
        match system.line(path).ok().and_then(|line| line.trim().parse::<u64>().ok()) {
            Some(value) => {
                says.push(format!("{name} {value}"));
                judge(name, value, least);
            }
            None => missing.push(name),
        }
    }
    if let Some(bytes) = system.measured.message_queue_limit {
        says.push(if bytes == u64::MAX {
            "RLIMIT_MSGQUEUE none".to_owned()
        } else {
            format!("RLIMIT_MSGQUEUE {bytes}")
        });
        judge("RLIMIT_MSGQUEUE", bytes, QUEUE_BYTES);
    } else {
        missing.push("RLIMIT_MSGQUEUE");
    }
    if !low.is_empty() {
        return Finding::disturbs(low.join("; "), MATTERS)
            .remedy("as root: sysctl -w NAME=VALUE for each; ulimit -q for RLIMIT_MSGQUEUE");
    }
    if !missing.is_empty() {
        let says = if says.is_empty() { String::new() } else { format!("{}; ", says.join(", ")) };
        return Finding::unknown(format!("{says}unreadable: {}", missing.join(", ")), MATTERS);
    }
    Finding::fine(says.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::system::recorded::*;
    use super::check;

    const FILES: [(&str, &str); 7] = [
        ("proc/sys/kernel/sem", "32000\t1024000000\t500\t32000\n"),
        ("proc/sys/kernel/msgmax", "8192\n"),
        ("proc/sys/kernel/msgmnb", "16384\n"),
        ("proc/sys/kernel/msgmni", "32000\n"),
        ("proc/sys/fs/mqueue/msg_max", "10\n"),
        ("proc/sys/fs/mqueue/queues_max", "256\n"),
        ("proc/sys/net/unix/max_dgram_qlen", "10\n"),
    ];

    #[test]
    fn usual_limits_are_fine() {
        let recorded = Recorded::new(&FILES).with(|measured| measured.message_queue_limit = Some(819_200));
        check(&recorded.system).is(Fine, "sem 32000 1024000000 500 32000, msgmax 8192...");
    }

    #[test]
    fn what_is_too_little_is_named_with_what_is_needed() {
        let recorded = Recorded::new(&FILES).with(|measured| measured.message_queue_limit = Some(1));
        recorded.write("proc/sys/kernel/sem", "0 0 0 0");
        let found = check(&recorded.system);
        assert_eq!(found.state, Disturbs);
        assert!(
            found.says.contains("semmni is 0, and 8 are needed")
                && found.says.contains("RLIMIT_MSGQUEUE is 1,"),
            "{}",
            found.says
        );
    }

    #[test]
    fn what_cannot_be_read_is_unknown() {
        let recorded = Recorded::new(&FILES).with(|measured| measured.message_queue_limit = Some(u64::MAX));
        recorded.write("proc/sys/kernel/msgmni", "\u{1b}[31m");
        check(&recorded.system).is(Unknown, "...unreadable: msgmni");
    }
}
