//! Properties of the price list: ids have one place, cards are complete, set-ups leave nothing behind, claims are what is counted.

use crate::support;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

use oscost_families::{FAMILIES, all};
use oscost_harness::{Benchmark, Bound, Card, Claim, Subject, Tier, Unable, audit};
use oscost_sys::standing::Standing;
use support::{Counted, each, in_child, launched, series, with_set_up, with_subject};

fn cards() -> Vec<&'static Card> {
    all().into_iter().map(Benchmark::card).collect()
}

#[test]
fn ids_are_unique_and_in_the_order_of_their_families() {
    let mut unique = BTreeSet::new();
    for card in cards() {
        assert!(unique.insert(card.id), "{} is listed twice", card.id);
    }
    for family in FAMILIES {
        assert!(!family.description.is_empty());
        for benchmark in family.benchmarks {
            let card = benchmark.card();
            assert_eq!(card.family(), family.name, "{} is listed in the family {}", card.id, family.name);
        }
    }
}

/// A number of calls alone is also that of other calls.
#[test]
fn whoever_claims_calls_names_them() {
    for benchmark in all() {
        let claims = benchmark.claims();
        let enters = claims.iter().any(|claim| {
            matches!(
                claim,
                Claim::SystemCalls(Bound::Exactly(1.0..) | Bound::AtLeast(1.0..) | Bound::Between(1.0.., _))
            )
        });
        let names = claims.iter().any(|claim| matches!(claim, Claim::CallsNamed(..)));
        // The number of this one is no call's.
        let nameless = benchmark.card().id == "syscall/invalid";
        assert!(!enters || names || nameless, "{}: {claims:?}", benchmark.card().id);
    }
}

/// Calls whose price hangs on an argument, and words of which one names it: a timeout, a size, a flag, who shares a word.
const NAMED: [(&[&str], &[&str]); 14] = [
    (&["poll", "ppoll"], &["with timeout 0 ", "with timeout infinite "]),
    (&["epoll_wait", "epoll_pwait"], &["no timeout"]),
    (&["clock_nanosleep"], &["TIMER_ABSTIME"]),
    (&["read", "write", "sendto", "recvfrom"], &["byte"]),
    (&["pread64", "pwrite64"], &["4 KiB"]),
    (&["mq_timedsend", "mq_timedreceive", "msgsnd", "msgrcv"], &["bytes", "1 byte"]),
    (&["open", "openat"], &["O_CLOEXEC", "O_EXCL"]),
    (&["semop", "semtimedop"], &["SEM_UNDO"]),
    (&["fcntl"], &["(F_SETLKW) ", "(F_OFD_SETLKW) "]),
    (&["flock"], &["(LOCK_EX) "]),
    (&["getrandom"], &["16 bytes, "]),
    (&["io_uring_enter"], &["without SQPOLL"]),
    (&["unshare"], &["namespace", "CLONE_VM"]),
    (&["kill"], &["SIGUSR1"]),
];

/// Whoever reads an operation need not look into the source for what its price hangs on. Turns of contended locks name their hold.
#[test]
fn operations_name_the_arguments_that_their_price_hangs_on() {
    let mut seen = BTreeSet::new();
    let mut silent = Vec::new();
    for card in oscost_families::grid().into_iter().chain(all()).map(Benchmark::card) {
        let says = |words: &[&str]| words.iter().any(|word| card.operation.contains(word));
        // Their calls are those of a lock or a transport, which their ids name.
        let crowd: &[&[&str]] = match card.family() {
            _ if card.id.contains("/contended/") => &[&["a hold of ", "a count under it"]],
            "realtime_ipc" => &[&[" bytes from ", " wakes ", "one tick of "], &[" us"]],
            "record_database" => &[&["fetch, insertion, replacement or deletion"]],
            _ => &[],
        };
        silent
            .extend(crowd.iter().filter(|words| !says(words)).map(|words| (card.id, card.operation, *words)));
        if !crowd.is_empty() {
            continue;
        }
        let named = card.claims.iter().flat_map(|claim| match claim {
            Claim::CallsNamed(names, _) | Claim::CallsByChance(names) => *names,
            _ => &[],
        });
        for call in named {
            for (calls, words) in NAMED.iter().filter(|(calls, _)| calls.contains(call)) {
                seen.insert(calls);
                if !says(words) {
                    silent.push((card.id, card.operation, words));
                }
            }
        }
        for (word, number) in card.parameters.iter().filter_map(|(name, it)| Some((name, it.number()?))) {
            let number = match *word {
                "tick_ns" => (number as f64 / 1e3).to_string(),
                "resident_bytes" | "working_set_bytes" if number < 1 << 20 => format!("{} KiB", number >> 10),
                "resident_bytes" | "working_set_bytes" if number < 1 << 30 => format!("{} MiB", number >> 20),
                "resident_bytes" => format!("{} GiB", number >> 30),
                // "one client", "each of the threads", ticks of a session, records of a database.
                "clients" | "threads" if number <= 1 => "one".to_owned(),
                "clients" | "descriptors" | "size" | "batch" => number.to_string(),
                _ => continue,
            };
            if ![card.operation, card.title].iter().any(|text| text.contains(&number)) {
                silent.push((card.id, card.operation, &["the number of a parameter"]));
            }
        }
    }
    assert!(silent.is_empty(), "{} name none of these words: {silent:#?}", silent.len());
    assert_eq!(seen.len(), NAMED.len(), "a row of the table is about no card: {seen:?}");
}

/// A bare run answers on one screen, and each of its figures has launches enough within its time.
#[test]
fn a_bare_run_measures_at_most_forty_figures() {
    let core: Vec<&str> = cards().iter().filter(|card| card.tier == Tier::Core).map(|card| card.id).collect();
    assert!((25..=40).contains(&core.len()), "{}: {core:?}", core.len());
    for card in cards().iter().filter(|card| card.tier == Tier::Core) {
        for beside in [card.baseline, card.subtract].into_iter().flatten() {
            assert!(
                core.contains(&beside),
                "{} needs {beside}, which a bare run would measure unasked",
                card.id
            );
        }
    }
}

#[test]
fn every_id_is_a_row_or_a_file_and_every_file_is_compiled() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = BTreeSet::new();
    let mut folders = vec![source.clone()];
    let mut modules = Vec::new();
    while let Some(folder) = folders.pop() {
        modules.push(folder.join("mod.rs"));
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension() == Some("rs".as_ref())
                && path.file_name().unwrap() != "mod.rs"
                && path.parent() != Some(source.as_path())
            {
                let part = path.strip_prefix(&source).unwrap().with_extension("");
                files.insert(part.to_str().unwrap().to_owned());
            }
        }
    }
    let text = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    // A session of real-time messages, or a cell of the database, is made of its parameters.
    let made = ["realtime_ipc", "record_database"];
    for card in cards().into_iter().filter(|card| !made.contains(&card.family())) {
        let is_its_file = |file: &&String| card.id == **file || card.id.starts_with(&format!("{file}/"));
        let own = files.iter().filter(is_its_file).count();
        let of_family = |file: &&String| file.starts_with(&format!("{}/", card.family()));
        let family = source.join(card.family());
        let inside = modules.iter().filter(|path| path.starts_with(&family)).cloned();
        let tables = inside.chain([family.with_extension("rs")]);
        let own_files = files.iter().filter(of_family).map(|file| source.join(file).with_extension("rs"));
        let texts: Vec<String> = tables.chain(own_files).map(|path| text(&path)).collect();
        let is_row = |id: &str| texts.iter().any(|text| text.contains(&format!("\"{id}\"")));
        let in_table = is_row(card.id) || card.id.split_once("/contended/").is_some_and(|(id, _)| is_row(id));
        assert!(
            own == 1 || (own == 0 && in_table),
            "{}: an id is a row of a table of its family, or the path of one file in src",
            card.id
        );
    }
    let mut known = cards();
    known.extend(oscost_families::grid().into_iter().map(Benchmark::card));
    for file in &files {
        let path = source.join(file);
        let (folder, name) = (path.parent().unwrap(), path.file_name().unwrap().to_str().unwrap());
        let declared = ["mod", "pub mod"].map(|word| format!("{word} {name};"));
        let modules = text(&folder.join("mod.rs"));
        assert!(
            modules.lines().any(|line| declared.contains(&line.trim().replace("r#", ""))),
            "{file}.rs is not compiled: {}/mod.rs lacks `mod {name};`",
            folder.display()
        );
        // Whoever writes its own path between quotes, and not as a group, has a card of that id. Other files are machinery.
        let own = text(&path.with_extension("rs"));
        let names_itself =
            |line: &str| line.contains(&format!("\"{file}\"")) || line.contains(&format!("\"{file}/"));
        let has_card = own.lines().any(|line| names_itself(line) && !line.trim().starts_with("group:"));
        let listed = known.iter().any(|card| card.id == *file || card.id.starts_with(&format!("{file}/")));
        assert!(listed || !has_card, "{file}.rs has a card that ALL of its mod.rs does not list");
    }
}

#[test]
fn cards_are_complete_and_consistent() {
    let cards = cards();
    let mut groups: BTreeMap<&str, Vec<&Card>> = BTreeMap::new();
    for card in &cards {
        assert!(
            !card.title.is_empty() && !card.operation.is_empty() && !card.group.is_empty(),
            "{}: title, operation or group is empty",
            card.id
        );
        assert!(card.operations_per_iteration > 0, "{}: an iteration without operations", card.id);
        assert!(!card.claims.is_empty(), "{}: the card makes no claim", card.id);
        assert!(card.title.len() <= 60, "{}: the title is for a column of a table", card.id);
        for other in card.baseline.iter().chain(&card.subtract) {
            assert_ne!(*other, card.id, "a ratio to itself");
            let found = cards.iter().find(|card| card.id == *other);
            // The partner of real-time messages is a guest in the groups of all others, and a mutex in those of record locks.
            let group = match card.family() {
                "realtime_ipc" => *other,
                "record_lock" if other.starts_with("lock/") => "lock",
                _ => card.group,
            };
            assert_eq!(
                found.map(|found| found.group),
                Some(group),
                "{} is divided by {other} or has it subtracted: both need one group",
                card.id
            );
        }
        // Contended cells are always spread, and so are several processes on one database.
        let shares_database = card.id.starts_with("record_database/") && !card.id.contains("/processes_1/");
        let named_for_placement = card.id.ends_with(card.placement.name())
            || card.id.contains("/contended/")
            || card.id.contains(&format!("/{}/clients_", card.placement.name()))
            // Threads are spread over CPUs.
            || card.id.contains("/threads_")
            || shares_database;
        let placement = card.placement.name();
        assert_eq!(
            named_for_placement,
            placement != "one_cpu",
            "{}: an id names its placement ({placement}) at its end, unless it is one_cpu",
            card.id
        );
        // The first ones had no price of a CPU that is kept awake.
        assert!(!card.wakes_another_cpu() || card.revision > 1, "{}: its revision is the first", card.id);
        groups.entry(card.group).or_default().push(card);
    }
    for (group, members) in groups {
        let changes = members.iter().find(|member| member.changes_process.is_some());
        if let Some(changes) = changes {
            assert_eq!(members.len(), 1, "{group}: {} changes the process of the others", changes.id);
            assert_eq!((changes.baseline, changes.subtract), (None, None), "{}: guests share it", changes.id);
        }
        assert!(
            members.iter().all(|member| member.placement == members[0].placement),
            "{group}: one placement"
        );
    }
}

#[test]
#[ignore = "longer: it measures every id"]
fn set_ups_repeat_and_leave_nothing_behind() {
    each(all(), |benchmark| {
        in_child(|private| {
            for _ in 0..2 {
                with_subject(benchmark, |subject| run(subject, 10))?;
            }
            if !private {
                return Err(
                    "SKIP without private namespaces what is left cannot be told from others' objects".into(),
                );
            }
            let sets =
                std::fs::read_to_string("/proc/sysvipc/sem").map_or(0, |text| text.lines().count() - 1);
            let names = std::fs::read_dir("/dev/shm").map_or(0, Iterator::count);
            match (sets, names) {
                (0, 0) => Ok(()),
                _ => Err(format!("left {sets} System V sets and {names} names in /dev/shm")),
            }
        })
    });
}

/// A benchmark whose set-up makes its whole process slower says so on its card.
#[test]
#[ignore = "longer: it measures every id"]
fn what_changes_the_process_is_on_the_card() {
    each(all(), |benchmark| {
        let card = benchmark.card();
        in_child(|_| {
            let before = Standing::read().ok_or("SKIP /proc does not say how a process stands")?;
            let changes = with_set_up(card.placement, |cx| {
                let before = Standing::read().ok_or("SKIP /proc does not say how a process stands")?;
                let mut subject = match benchmark.set_up(cx) {
                    Ok(subject) => subject,
                    Err(Unable::Unsupported { why, .. }) => return Err(format!("SKIP unsupported: {why}")),
                    Err(Unable::Failed(error)) => return Err(error.to_string()),
                };
                // What lives beside the rounds of others, and what a measurement leaves behind.
                let alive = before.lasting_changes().ok_or("it can no longer be read")?;
                run(&mut subject, 10)?;
                let after = before.lasting_changes().ok_or("it can no longer be read")?;
                Ok([alive, after].concat())
            })??;
            let left = before.lasting_changes().ok_or("it can no longer be read")?;
            let told = card.changes_process.is_some();
            if changes.is_empty() == told || !left.is_empty() {
                return Err(format!(
                    "the card says {:?}; changed: {changes:?}; left: {left:?}",
                    card.changes_process
                ));
            }
            Ok(())
        })
    });
}

#[test]
#[ignore = "longer: it measures every id"]
fn every_series_yields_exactly_what_its_card_names() {
    let all = all().into_iter().filter(|benchmark| !benchmark.card().quantities.is_empty());
    each(all.collect(), |benchmark| {
        let quantities = benchmark.card().quantities;
        let names = |always: bool| -> BTreeSet<&str> {
            let chosen = quantities.iter().filter(|quantity| !always || !quantity.at_times);
            chosen.map(|quantity| quantity.name).collect()
        };
        assert_eq!(names(false).len(), quantities.len(), "{}: each once", benchmark.card().id);
        in_child(|_| {
            with_subject(benchmark, |subject| {
                // An audit of the database counts calls alone: this is a launch as it is timed.
                let sink = launched(series(subject)?, None, 20)?;
                let yielded: BTreeSet<&str> = sink.quantities.iter().map(|(name, _)| *name).collect();
                let unnamed: Vec<_> = yielded.difference(&names(false)).copied().collect();
                let lacking: Vec<_> = names(true).difference(&yielded).copied().collect();
                match (&unnamed[..], &lacking[..]) {
                    ([], []) => Ok(()),
                    _ => Err(format!("not on the card: {unnamed:?}; not yielded: {lacking:?}")),
                }
            })
        })
    });
}

/// One small measurement: a batch, or a launch of so many observations.
fn run(subject: &mut Subject, count: u64) -> Result<Counted, String> {
    let mut counted = Counted::default();
    match subject {
        Subject::Batched(batched) => {
            batched
                .arm()
                .and_then(|()| batched.batch(count))
                .and_then(|()| batched.park())
                .map_err(|error| error.to_string())?;
            counted.operations = count;
        }
        Subject::Series(series) => {
            counted = launched(&mut **series, Some(count), 1000)?;
            // A program that is measured as a whole makes more than it was asked for.
            assert!(counted.operations >= count, "{} of {count}", counted.operations);
        }
    }
    Ok(counted)
}

#[test]
#[ignore = "longer: it measures every id"]
fn system_calls_are_what_the_cards_claim() {
    each(all(), calls_are_claimed);
}

fn calls_are_claimed(benchmark: &'static dyn Benchmark) -> Result<(), String> {
    in_child(|_| {
        let audited = with_set_up(benchmark.card().placement, |cx| audit(benchmark, cx))?;
        let audited = audited
            .map_err(|why| if why.starts_with("unsupported") { format!("SKIP {why}") } else { why })?;
        if std::env::var_os("SHOW").is_some() {
            let _ = writeln!(std::io::stderr(), "{} {:?}", benchmark.card().id, audited.system_calls);
        }
        if let Some(missing) = audited.missing {
            return Err(format!("SKIP {missing}"));
        }
        let broken = audited.claims.iter().find(|claim| claim.holds == Some(false));
        broken.map_or(Ok(()), |claim| {
            let counted = claim.observed.map_or("nothing".to_owned(), |count| count.to_string());
            let calls = &audited.system_calls;
            Err(format!(
                "claims {} {:?}, counted {counted} (calls of one operation: {calls:?})",
                claim.claim, claim.expected
            ))
        })
    })
}

#[test]
#[ignore = "longer: it measures every id"]
fn switches_and_faults_are_what_the_cards_claim() {
    each(all(), |benchmark| {
        // Once in a while somebody else makes one wait (who reads /proc/locks, who lacks memory): what is claimed holds for the
        // launch in the middle, so here for one of three.
        switches_and_faults(benchmark)
            .or_else(|_| switches_and_faults(benchmark))
            .or_else(|_| switches_and_faults(benchmark))
    });
}

/// Compares what the kernel counts in a child of its own with the claims of the card.
fn switches_and_faults(benchmark: &dyn Benchmark) -> Result<(), String> {
    in_child(|_| {
        with_subject(benchmark, |subject| {
            if matches!(subject, Subject::Series(_)) {
                return Ok(());
            }
            // What takes long (a fork of much memory) is made less often.
            let start = oscost_sys::clock::now_ns();
            run(subject, 20)?;
            let slow = oscost_sys::clock::now_ns() - start > 20_000_000;
            let iterations = if slow { 100 } else { 2000 };
            run(subject, iterations)?;
            let used = support::used_by_a_batch(subject, iterations)?;
            let operations = (iterations * benchmark.card().operations_per_iteration) as f64;
            for claim in benchmark.claims().iter() {
                let (count, bound) = match claim {
                    Claim::Switches(bound) => (used.switches(), bound),
                    Claim::VoluntarySwitches(bound) => (used.voluntary_switches, bound),
                    Claim::Faults(bound) => (used.faults(), bound),
                    _ => continue,
                };
                // Reading /proc for a partner's counts is not part of the operation, and may wait.
                let observed = count as f64 / operations;
                if !support::holds(*bound, observed) {
                    return Err(format!("{claim:?}: counted {observed}"));
                }
            }
            Ok(())
        })
    })
}
