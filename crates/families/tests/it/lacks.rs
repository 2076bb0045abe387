//! If a machine lacks something, the output gives the reason and a remedy, and no failure or figure.

use crate::support;

use oscost_families::all;
use oscost_harness::{Keeper, SetUp, Unable};
use oscost_sys::new_namespace::Kind;
use oscost_sys::usage::{Limit, limit};
use support::{in_child, judged};

/// The outcome of setting `id` up on a host with these System V limits; `None` where it can be.
fn lack_of(id: &str, host_system_v_limits: Option<[u64; 4]>) -> Option<Unable> {
    let benchmark = all().into_iter().find(|benchmark| benchmark.card().id == id).expect("an id of the list");
    let mut keeper = Keeper::in_private_namespaces();
    let mut cx = SetUp {
        cpu: 0,
        partner_cpu: 0,
        cpus: &[0],
        host_system_v_limits,
        keeper: &mut keeper,
        directory: None,
    };
    benchmark.set_up(&mut cx).err()
}

#[test]
#[ignore = "longer: it withholds"]
fn limits_of_the_host_count_although_the_namespace_has_its_own() {
    for id in ["semaphore/system_v", "semaphore/system_v_undo", "semaphore/system_v/handover/same_cpu"] {
        for forbidden in [[0, 0, 0, 0], [0, 32000, 500, 128], [250, 0, 500, 128], [250, 32000, 500, 0]] {
            let Some(Unable::Unsupported { why, remedy }) = lack_of(id, Some(forbidden)) else {
                panic!("{id} under {forbidden:?}");
            };
            let [a, b, c, d] = forbidden;
            assert!(why.contains(&format!("kernel.sem is \"{a} {b} {c} {d}\"")), "{why}");
            assert!(remedy.contains("kernel.sem="), "{remedy}");
        }
    }
    let one_operation_a_call = Some([250, 32000, 1, 128]);
    let both = lack_of("semaphore/system_v_one_call", one_operation_a_call);
    assert!(matches!(both, Some(Unable::Unsupported { .. })), "{both:?}");
    assert_eq!(lack_of("semaphore/system_v", one_operation_a_call), None);
    assert_eq!(lack_of("semaphore/system_v", None), None);
}

#[test]
#[ignore = "longer: it withholds"]
fn without_descriptors_the_limit_is_named() {
    let ids = [
        "syscall/read0_devzero",
        "syscall/read0_pipe",
        "syscall/read0_file",
        "syscall/open_close",
        "semaphore/posix_named",
        "semaphore/eventfd",
        "context_switch/pipe/same_cpu",
        "context_switch/thread_pipe/same_cpu",
        "event/epoll_wake/same_cpu",
        "event/poll/descriptors_1000",
        "socket/unix_round_trip/same_cpu",
        "socket/udp_round_trip/same_cpu",
        "socket/tcp_connect",
        "io_uring/nop",
        "process/exec_static",
        "process/posix_spawn",
    ];
    let limited = || limit(Limit::OpenFiles, 3, 3).map_err(|error| error.to_string());
    all_say(&ids, limited, ["EMFILE", "ulimit -n"]);
}

/// Tries to set each up after `limited`; each must say these words.
fn all_say(ids: &[&str], limited: fn() -> Result<(), String>, words: [&str; 2]) {
    for id in ids {
        let outcome = in_child(|_| {
            limited()?;
            match lack_of(id, None) {
                Some(Unable::Unsupported { why, remedy })
                    if why.contains(words[0]) && remedy.contains(words[1]) =>
                {
                    Ok(())
                }
                other => Err(format!("{other:?}")),
            }
        });
        judged(id, outcome);
    }
}

#[test]
#[ignore = "longer: it withholds"]
fn without_a_loopback_device_sockets_say_so() {
    let alone = || {
        // Whoever is not root has a user namespace first.
        let _ = Kind::User.unshare();
        Kind::Net.unshare().map_err(|error| format!("SKIP {error}"))
    };
    let ids = ["socket/tcp_connect", "socket/tcp_round_trip/same_cpu", "socket/udp_round_trip/same_cpu"];
    all_say(&ids, alone, ["loopback", "ip link set lo up"]);
}

#[test]
#[ignore = "longer: it withholds"]
fn without_addresses_whoever_holds_memory_says_so() {
    const BYTES: u64 = 512 << 20;
    let limited = || limit(Limit::AddressSpace, BYTES, BYTES).map_err(|error| error.to_string());
    let ids = ["process/fork/resident_1g/small_pages", "process/fork/resident_1g/huge_pages"];
    all_say(&ids, limited, ["RLIMIT_AS (536870912 bytes)", "ulimit -v"]);
}
