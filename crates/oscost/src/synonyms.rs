//! Words of documents, other tools and the C library, with the figures that they mean.

use std::sync::LazyLock;

use oscost_results::search::Synonym;

use crate::table::rows;

/// Words, what they are, and ids, or beginnings of ids with a slash at the end: none where nothing here is their counterpart.
const TABLE: &str = include_str!("synonyms.txt");

/// Every word that is known. An id, or the beginning of ids, comes before a word of this table.
pub fn synonyms() -> &'static [Synonym] {
    static SYNONYMS: LazyLock<Vec<Synonym>> = LazyLock::new(|| {
        // It is kept as long as the program runs.
        let all =
            |cell: &'static str| &*cell.split(' ').filter(|it| !it.is_empty()).collect::<Vec<_>>().leak();
        rows(TABLE).map(|[words, what, ids]| Synonym { words: all(words), what, ids: all(ids) }).collect()
    });
    &SYNONYMS
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use oscost_harness::{CallPath, Card, Tier};
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
        for synonym in synonyms() {
            for word in synonym.words {
                assert!(words.insert(*word), "{word} stands twice");
                // A family comes before a document of the same name: 'run' says so.
                let taken = ids.iter().any(|id| Pattern::new(word, &[]).finds(id) == Some(Way::Beginning));
                assert_eq!(taken, *word == "context-switch", "{word}");
            }
            assert!(!synonym.words.is_empty() && !synonym.what.is_empty(), "{synonym:?}");
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
    fn no_word_hides_the_ids_that_hold_it() {
        let all = catalogue().tier(Tier::Thorough);
        for word in synonyms().iter().flat_map(|synonym| synonym.words) {
            let plain = Pattern::new(word, &[]);
            let end = format!("_{word}");
            let is_other = |id: &str| id.split('/').next().is_some_and(|family| family.ends_with(&end));
            let holds = |id: &str| !is_other(id) && matches!(plain.finds(id), Some(Way::Parts | Way::Word));
            let held: Vec<&str> = all.iter().map(|choice| choice.card().id).filter(|id| holds(id)).collect();
            // A family comes before the document that is called so.
            if held.is_empty() || *word == "context-switch" {
                continue;
            }
            let found = found(word);
            let hidden: Vec<_> = held.into_iter().filter(|id| !found.contains(id)).collect();
            assert!(hidden.is_empty(), "'{word}' hides {hidden:?}");
        }
    }

    /// What an id or a card says of a figure, and a word means, is true of each that it finds, and of no other.
    #[test]
    fn words_of_one_property_find_the_figures_that_have_it() {
        let all = catalogue().tier(Tier::Thorough);
        let of = |has: &dyn Fn(&Card) -> bool| -> BTreeSet<&str> {
            all.iter().map(|choice| choice.card()).filter(|card| has(card)).map(|card| card.id).collect()
        };
        let huge = of(&|card| card.id.ends_with("/huge_pages"));
        let vdso = of(&|card| {
            let is_call = !card.id.starts_with("instrument/") && !card.id.starts_with("clock/step/");
            card.call_path == CallPath::Vdso && is_call
        });
        let handovers = of(&|card| card.id.starts_with("record_lock/fcntl/handover/"));
        for (word, figures) in [("hugepage", huge), ("vdso", vdso), ("lat_fcntl", handovers)] {
            assert_eq!(found(word).into_iter().collect::<BTreeSet<_>>(), figures, "{word}");
        }
    }

    #[test]
    fn the_words_of_every_peer_and_document_are_known() {
        for probe in PEERS.iter().flat_map(|peer| peer.probes) {
            let counterpart = probe.counterpart;
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
            ("ipc", "semaphore/eventfd/handover/cross_cpu"),
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
            ("kvm-clock", "clock/monotonic_syscall"),
            ("mitigations", "syscall/invalid"),
            ("halt_poll_ns", "cpu_pair/wake_up/cross_cpu"),
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
