//! Words of documents, other tools and the C library, with the figures that they mean.

use oscost_results::search::Synonym;

/// A row of the table.
const fn row(words: &'static [&'static str], what: &'static str, ids: &'static [&'static str]) -> Synonym {
    Synonym { words, what, ids }
}

const SYSTEM_V: &[&str] = &["semaphore/system_v/", "semaphore/system_v_one_call", "semaphore/system_v_undo"];
const POSIX: &[&str] = &["semaphore/posix_named/", "semaphore/posix_unnamed/"];
const MUTEXES: &[&str] = &["lock/mutex/", "lock/shared_mutex/", "lock/robust_mutex/", "lock/pi_mutex/"];
const SWITCH: &[&str] = &["context_switch/pipe/", "context_switch/pipe_alone/"];
const EMPTY_CALLS: &[&str] = &["syscall/getppid", "syscall/getpid", "syscall/getpid_libc"];

/// Every word that is known. An id, or the beginning of ids, comes before a word of this table.
pub static SYNONYMS: &[Synonym] = &[
    row(
        &["000", "tlpi"],
        "document 000",
        &[
            "semaphore/posix_named/",
            "semaphore/posix_unnamed/",
            "semaphore/system_v/",
            "semaphore/system_v_one_call",
            "semaphore/eventfd/",
            "syscall/invalid",
        ],
    ),
    row(&["001", "apue"], "document 001", &["record_lock/", "record_database/"]),
    row(
        &["002", "grame"],
        "document 002",
        &["realtime_ipc/unix_datagram/", "clock/gettimeofday", "context_switch/pipe/same_cpu"],
    ),
    row(
        &["003", "ostep"],
        "document 003",
        &[
            "instrument/empty_loop",
            "syscall/getpid",
            "syscall/getpid_libc",
            "syscall/read0_devzero",
            "syscall/invalid",
            "clock/monotonic",
            "clock/gettimeofday",
            "clock/step/",
            "context_switch/pipe/same_cpu",
            "context_switch/pipe_alone/same_cpu",
            "context_switch/pipe/cross_cpu",
        ],
    ),
    row(
        &["004", "context-switch"],
        "document 004",
        &[
            "clock/gettimeofday",
            "clock/step/gettimeofday/",
            "syscall/invalid",
            "syscall/read0_devzero",
            "syscall/read0_pipe",
            "syscall/read0_file",
            "context_switch/pipe/",
        ],
    ),
    row(
        &["hpet", "acpi_pm", "kvm-clock", "clocksource", "current_clocksource"],
        "a clock source, which 'oscost doctor' names; what reading it costs here",
        &["clock/monotonic", "clock/monotonic_syscall", "clock/tsc"],
    ),
    row(&["ctx-clock", "ctx_clock"], "a context switch in cycles", SWITCH),
    row(
        &["loopback"],
        "a connection of a machine with itself",
        &["socket/tcp_round_trip/", "socket/udp_round_trip/", "socket/tcp_connect"],
    ),
    row(
        &["shm_open", "shmget"],
        "shared memory, which costs what mapping and its faults cost",
        &["memory/mmap_munmap", "memory/fault_anonymous", "memory/give_back"],
    ),
    row(
        &["lat_syscall", "lat_syscall_null"],
        "lmbench's price of a system call",
        &[
            "syscall/getppid",
            "syscall/getpid_libc",
            "syscall/read1",
            "syscall/write1",
            "syscall/stat",
            "file/fstat",
            "syscall/open_close",
        ],
    ),
    row(&["lat_syscall_read"], "lmbench's read of one byte", &["syscall/read1"]),
    row(&["lat_syscall_write"], "lmbench's write of one byte", &["syscall/write1"]),
    row(&["lat_syscall_stat"], "lmbench's stat", &["syscall/stat"]),
    row(&["lat_syscall_open"], "lmbench's open and close", &["syscall/open_close"]),
    row(&["lat_ctx"], "lmbench's switch between processes", SWITCH),
    row(&["lat_pipe"], "lmbench's round trip by pipes", SWITCH),
    row(
        &["bw_pipe"],
        "lmbench's bandwidth of a pipe; here is the price of one message by a pipe",
        &["context_switch/pipe/", "context_switch/pipe_alone/"],
    ),
    row(
        &["lat_unix", "bw_unix"],
        "lmbench's message by a UNIX socket",
        &["context_switch/unix_stream/", "socket/unix_round_trip/", "realtime_ipc/unix_stream/"],
    ),
    row(&["lat_sem"], "lmbench's hand-over by a System V semaphore", &["semaphore/system_v/handover/"]),
    row(&["lat_fcntl"], "lmbench's hand-over by a record lock", &["record_lock/fcntl/"]),
    row(
        &["lat_sig", "sigaction", "sighandler"],
        "a signal that is handled",
        &["signal/deliver", "realtime_ipc/signal/", "realtime_ipc/signal_group/"],
    ),
    row(&["lat_fifo"], "lmbench's message by a FIFO", &["realtime_ipc/fifo/", "context_switch/pipe/"]),
    row(&["lat_usleep"], "lmbench's sleep", &["timer/nanosleep_overshoot", "realtime_ipc/nanosleep_each/"]),
    row(&["lat_tcp", "bw_tcp"], "lmbench's message by TCP", &["socket/tcp_round_trip/", "realtime_ipc/tcp/"]),
    row(&["lat_udp"], "lmbench's message by UDP", &["socket/udp_round_trip/", "realtime_ipc/udp/"]),
    row(&["lat_connect"], "lmbench's TCP connection", &["socket/tcp_connect"]),
    row(&["bw_file_rd"], "lmbench's reading of a file in the cache", &["file/read_4k"]),
    row(
        &["cyclictest"],
        "rt-tests' lateness of a sleeper",
        &["timer/nanosleep_overshoot", "realtime_ipc/nanosleep_each/", "realtime_ipc/timerfd_each/"],
    ),
    row(
        &["hackbench", "bench_sched_messaging"],
        "messages among many processes",
        &["context_switch/unix_stream/", "context_switch/pipe/"],
    ),
    row(&["ptsematest"], "rt-tests' hand-over of a mutex", &["lock/shared_mutex/handover/"]),
    row(&["svsematest"], "rt-tests' hand-over of a System V semaphore", &["semaphore/system_v/handover/"]),
    row(
        &["pmqtest"],
        "rt-tests' message by a POSIX queue",
        &["context_switch/posix_queue/", "realtime_ipc/posix_queue/"],
    ),
    row(&["signaltest", "sigwaittest"], "rt-tests' signal", &["realtime_ipc/signal/"]),
    row(&["pi_stress"], "rt-tests' fight for a mutex with priority inheritance", &["lock/pi_mutex/"]),
    row(&["bench_syscall_basic"], "perf bench's system call", EMPTY_CALLS),
    row(&["bench_sched_pipe"], "perf bench's switch by pipes", SWITCH),
    row(
        &["bench_futex_wake", "bench_futex"],
        "perf bench's futex",
        &["lock/futex_wake", "lock/futex/", "futex/wake_one/"],
    ),
    row(&["bench_futex_hash"], "perf bench's table of futexes", &["futex/hash/"]),
    row(&["bench_epoll_wait", "bench_epoll"], "perf bench's epoll", &["event/epoll_wake/"]),
    row(&["sem"], "stress-ng's POSIX semaphore", POSIX),
    row(&["sem_sysv", "sysv_sem"], "stress-ng's System V semaphore", SYSTEM_V),
    row(
        &["mq", "mqueue", "mq_send", "mq_receive"],
        "a POSIX message queue",
        &["context_switch/posix_queue/", "realtime_ipc/posix_queue/"],
    ),
    row(
        &["msg", "msgsnd", "msgrcv", "msgq"],
        "a System V message queue",
        &["lock/system_v_message/", "realtime_ipc/system_v_queue/"],
    ),
    row(&["lockf", "f_setlk"], "a record lock", &["record_lock/fcntl/"]),
    row(
        &["sem_post", "sem_wait", "sem_open", "sem_init", "sem_trywait"],
        "a call of a POSIX semaphore",
        POSIX,
    ),
    row(&["semop", "semget", "semtimedop"], "a call of a System V semaphore", SYSTEM_V),
    row(
        &["sysv"],
        "System V",
        &[
            "semaphore/system_v/",
            "semaphore/system_v_one_call",
            "semaphore/system_v_undo",
            "lock/system_v_message/",
            "realtime_ipc/system_v_queue/",
            "realtime_ipc/system_v_semaphore/",
        ],
    ),
    row(&["pthread_mutex_lock", "pthread_mutex_unlock", "pthread_mutex"], "the C library's mutex", MUTEXES),
    row(
        &["pthread_cond_wait", "pthread_cond_signal", "condvar"],
        "the C library's condition variable",
        &["lock/condition_variable/", "realtime_ipc/condition_variable/"],
    ),
    row(
        &["pthread_rwlock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock"],
        "the C library's read-write lock",
        &["lock/rwlock_read", "lock/rwlock_write/"],
    ),
    row(&["pthread_spin_lock", "spinlock"], "a lock that spins", &["lock/spin/"]),
    row(
        &["clock_gettime", "vdso"],
        "reading a clock",
        &["clock/monotonic", "clock/monotonic_coarse", "clock/monotonic_raw", "clock/realtime"],
    ),
    row(&["clock_getres"], "the step of a clock, which clock_getres only states", &["clock/step/"]),
    row(&["rdtsc", "rdtscp"], "the processor's time stamp", &["clock/tsc", "clock/tscp"]),
    row(
        &["nanosleep", "clock_nanosleep", "usleep", "sleep"],
        "a sleep until a time",
        &["timer/nanosleep_overshoot", "realtime_ipc/nanosleep_each/"],
    ),
    row(
        &["socketpair"],
        "a socket",
        &["context_switch/unix_stream/", "realtime_ipc/unix_datagram/", "realtime_ipc/unix_stream/"],
    ),
    row(&["ctxsw", "csw"], "a context switch", &["context_switch/"]),
    row(
        &["sqlite", "ndbm", "bdb", "gdbm"],
        "another store; 'contrib/stores' measures some on the same workload",
        &["record_database/"],
    ),
    row(
        &["lat_proc", "lat_proc_fork", "lat_proc_exec", "create_processes", "spawn", "unixbench_spawn"],
        "the making of a process: lmbench's, osbench's and UnixBench's",
        &["process/fork", "process/posix_spawn", "process/exec_static"],
    ),
    row(&["clone", "vfork"], "the making of a process or thread", &["process/", "thread/"]),
    row(
        &["execve", "execl", "launch_programs"],
        "the start of a program",
        &["process/exec_static", "process/posix_spawn"],
    ),
    row(&["create_threads", "pthread_create", "pthread_join"], "the making of a thread", &["thread/"]),
    row(
        &["lat_mmap", "brk", "bw_mmap_rd", "malloc", "mem_alloc"],
        "memory of the kernel",
        &["memory/mmap_munmap", "memory/fault_anonymous"],
    ),
    row(
        &["lat_pagefault", "page_fault"],
        "the first touch of a page",
        &["memory/fault_anonymous", "memory/fault_file", "memory/fault_copy"],
    ),
    row(
        &["tlb", "tlb_shootdown"],
        "telling other CPUs to forget a page",
        &["memory/shootdown/", "memory/mprotect"],
    ),
    row(
        &["select", "poll", "epoll", "lat_select"],
        "waiting for many descriptors",
        &["event/poll/", "event/poll_may_wait/", "event/epoll_wake/", "realtime_ipc/poll_broadcast/"],
    ),
    row(&["unshare", "setns"], "a namespace", &["container/namespace/"]),
    row(&["prctl_seccomp", "docker"], "a filter of system calls", &["tax/seccomp/"]),
    row(&["ebpf", "bpftrace"], "a BPF program on a probe", &["tax/bpf/"]),
    row(&["liburing", "uring"], "a ring of io_uring", &["io_uring/"]),
    row(&["creat", "unlink", "lat_fs", "create_files"], "making a file", &["file/create_unlink"]),
    row(&["c2c", "core_to_core"], "a cache line from CPU to CPU", &["cpu_pair/cache_line/"]),
    row(
        &[
            "lat_mem_rd",
            "memrd",
            "lat_mem_rd_16k",
            "lat_mem_rd_128k",
            "lat_mem_rd_1m",
            "lat_mem_rd_8m",
            "lat_mem_rd_64m",
        ],
        "lmbench's latency of memory",
        &["memory/latency/"],
    ),
    row(
        &["bw_mem", "stream", "memcpy", "bench_mem", "bench_mem_memcpy", "bench_mem_memset"],
        "the bandwidth of memory",
        &["memory/bandwidth/"],
    ),
    row(
        &["bw_mem_frd_16k", "bw_mem_frd_1m", "bw_mem_frd_64m"],
        "lmbench's reading of memory",
        &["memory/bandwidth/read/"],
    ),
    row(
        &["bw_mem_bzero_16k", "bw_mem_bzero_1m", "bw_mem_bzero_64m"],
        "lmbench's clearing of memory",
        &["memory/bandwidth/memset/"],
    ),
    row(
        &["bw_mem_bcopy_16k", "bw_mem_bcopy_1m", "bw_mem_bcopy_64m"],
        "lmbench's copying of memory",
        &["memory/bandwidth/copy/"],
    ),
    row(&["unixbench_syscall"], "UnixBench's system call", &["syscall/getpid_libc"]),
    row(&["unixbench_pipe"], "UnixBench's pipe without a switch", &["context_switch/pipe_alone/"]),
    row(&["unixbench_context1", "context1", "timectxsw"], "a switch by two pipes", SWITCH),
    row(
        &["pthread_barrier_wait", "pthread_barrier", "std::barrier"],
        "a barrier of threads; it sleeps and wakes by futex, which these measure",
        &["futex/wake_one/", "lock/futex/"],
    ),
    row(&["lat_rpc", "lat_http", "lat_ops", "par_ops", "par_mem"], "a measurement of lmbench", &[]),
    row(
        &["sendfile", "splice", "vmsplice", "tee", "copy_file_range"],
        "a copy inside the kernel, which is not measured; its price is that of its bytes, which these read and copy",
        &["file/read_4k", "file/write_4k", "file/append_4k", "memory/bandwidth/copy/"],
    ),
    row(
        &["accept", "accept4", "listen", "connect", "lat_unix_connect"],
        "a step of a connection, which is measured as a whole",
        &["socket/tcp_connect"],
    ),
    row(
        &["send", "recv", "sendto", "recvfrom", "sendmsg", "recvmsg"],
        "a message by a socket",
        &["socket/unix_round_trip/", "socket/udp_round_trip/", "socket/tcp_round_trip/"],
    ),
    row(&["times", "getrusage"], "a clock of CPU time", &["clock/process_cputime", "clock/thread_cputime"]),
    row(&["fdatasync", "sync", "msync"], "waiting for a disk", &["file/fsync"]),
    row(
        &["fstat", "lat_syscall_fstat", "lstat", "statx", "access"],
        "a question about a file",
        &["file/fstat", "syscall/stat"],
    ),
    row(&["getdents64", "getdents", "readdir"], "the reading of a folder", &["file/list/"]),
    row(&["getuid", "geteuid", "getgid", "gettid"], "an empty call, as cheap as this one", EMPTY_CALLS),
    row(
        &["ioctl", "fcntl_getfl", "dup", "lseek"],
        "a call on a descriptor; the nearest one measured",
        &["syscall/read0_devzero"],
    ),
    row(
        &["madvise", "mremap", "mlock"],
        "a change of a mapping; the nearest ones measured",
        &["memory/mmap_munmap", "memory/mprotect"],
    ),
    row(&["vmexit", "hypercall"], "an exit to a hypervisor", &[]),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use oscost_harness::Tier;
    use oscost_results::search::{Pattern, Way};

    use super::*;
    use crate::commands::catalogue;
    use crate::crosscheck::PEERS;

    fn found(word: &str) -> Vec<&'static str> {
        let found = catalogue().look_up(&[word.to_owned()], Tier::Thorough);
        let found = found.map_err(|miss| miss.to_string()).unwrap_or_else(|miss| panic!("{miss}"));
        found[0].choices.iter().map(|choice| choice.card().id).collect()
    }

    #[test]
    fn every_word_is_there_once_and_every_counterpart_exists() {
        let ids: Vec<&str> = catalogue().tier(Tier::Thorough).iter().map(|choice| choice.card().id).collect();
        let mut words = BTreeSet::new();
        for synonym in SYNONYMS {
            for word in synonym.words {
                assert!(words.insert(*word), "{word} stands twice");
                // A family comes before a document of the same name: 'run' says so.
                let taken = ids.iter().any(|id| Pattern::new(word, &[]).finds(id) == Some(Way::Beginning));
                assert_eq!(taken, *word == "context-switch", "{word}");
            }
            for id in synonym.ids {
                let one: &'static [Synonym] = Box::leak(Box::new([Synonym {
                    words: &["it"],
                    what: "",
                    ids: std::slice::from_ref(id),
                }]));
                assert!(Pattern::new("it", one).search(&ids, |known| known).is_some(), "{id} is no id");
            }
        }
    }

    #[test]
    fn the_words_of_every_peer_and_document_are_known() {
        for probe in PEERS.iter().flat_map(|peer| peer.probes) {
            let Some(counterpart) = probe.counterpart else { continue };
            assert!(found(probe.name).contains(&counterpart), "{} does not find {counterpart}", probe.name);
        }
        for document in oscost_documents::ALL {
            let ids = found(document.founding.number);
            let missing: Vec<_> = document.figures.iter().filter(|id| !ids.contains(id)).collect();
            assert!(missing.is_empty(), "{} does not find {missing:?}", document.founding.number);
            for card in catalogue().tier(Tier::Family).iter().map(|choice| choice.card()) {
                if card.document == Some(document.founding.number) {
                    assert!(ids.contains(&card.id), "{} does not find {}", document.founding.number, card.id);
                }
            }
        }
    }

    #[test]
    fn words_that_users_type_are_found() {
        for (word, id) in [
            ("getpid", "syscall/getpid"),
            ("GETPID", "syscall/getpid"),
            ("mutex", "lock/pi_mutex"),
            ("pipe", "context_switch/pipe/same_cpu"),
            ("system-v", "semaphore/system_v"),
            ("Semaphore", "semaphore/posix_named"),
            ("handover", "lock/futex/handover/cross_cpu"),
            ("tlpi", "semaphore/system_v"),
            ("003", "syscall/getpid"),
            ("context-switch", "context_switch/yield/same_cpu"),
            ("lat_syscall", "syscall/getppid"),
            ("lat_ctx", "context_switch/pipe/same_cpu"),
            ("bw_pipe", "context_switch/pipe_alone/same_cpu"),
            ("hackbench", "context_switch/unix_stream/same_cpu"),
            ("sem_post", "semaphore/posix_named"),
            ("semop", "semaphore/system_v"),
            ("clock_gettime", "clock/monotonic"),
            ("spinlock", "lock/spin"),
            ("lat_proc", "process/fork"),
            ("lat_sig", "signal/deliver"),
            ("lat_pagefault", "memory/fault_anonymous"),
            ("lat_mem_rd", "memory/latency/size_64m/huge_pages"),
            ("bw_mem", "memory/bandwidth/copy/block_64m"),
            ("create_threads", "thread/create_join"),
            ("lat_select", "event/poll/descriptors_10"),
            ("lat_tcp", "socket/tcp_round_trip/same_cpu"),
            ("lat_udp", "socket/udp_round_trip/same_cpu"),
            ("lat_unix", "socket/unix_round_trip/same_cpu"),
            ("lat_connect", "socket/tcp_connect"),
            ("lat_fs", "file/create_unlink"),
            ("create_files", "file/create_unlink"),
            ("spawn", "process/fork"),
            ("execl", "process/exec_static"),
            ("create_processes", "process/fork"),
            ("launch_programs", "process/exec_static"),
            ("mem_alloc", "memory/mmap_munmap"),
            ("hpet", "clock/monotonic_syscall"),
            ("kvm-clock", "clock/tsc"),
            ("ctx-clock", "context_switch/pipe/same_cpu"),
            ("loopback", "socket/tcp_round_trip/same_cpu"),
            ("shm_open", "memory/mmap_munmap"),
            ("sendfile", "file/read_4k"),
            ("getuid", "syscall/getppid"),
            ("fdatasync", "file/fsync"),
            ("getrusage", "clock/thread_cputime"),
            ("sendmsg", "socket/udp_round_trip/same_cpu"),
        ] {
            assert!(found(word).contains(&id), "{word} does not find {id}: {:?}", found(word));
        }
        let miss = catalogue().look_up(&["lat_http".to_owned()], Tier::Family).map(|_| ()).unwrap_err();
        assert!(miss.to_string().contains("a measurement of lmbench"), "{miss}");
    }
}
