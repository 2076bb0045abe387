//! The instrument on known truth, through real workers: costs that are known, calls that fail, claims that are false,
//! workers that die, hang or talk rubbish, programs that are not ours.
//!
//! It is its own worker, so it has a `main` of its own. Nothing here asserts an absolute time.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout)] // it is its own test harness

mod bad;
mod beside;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use oscost_harness::{
    Benchmark, Catalogue, Choice, Effort, Event, Foreign, IdleCpu, Level, Measured, Options, Record,
    Supervisor, Tier, measure, quantity, rebuild, serve_if_asked,
};
use oscost_results::{Figure, Mark, Status, Verdict};

fn catalogue() -> Catalogue {
    Catalogue::new(bad::ALL.to_vec())
}

/// Six short launches: enough for intervals.
const EFFORT: Effort = Effort {
    level: Level::Default,
    launches: 6,
    most_launches: 6,
    member_ns: 3_000_000,
    warm_up_ns: 2_000_000,
    target_ns: 20_000_000_000,
    deadline_ns: 60_000_000_000,
    end_ns: u64::MAX,
};

fn options() -> Options {
    let cpus = oscost_harness::preferred(oscost_sys::affinity::allowed().unwrap_or_default());
    Options {
        effort: EFFORT,
        seed: 7,
        cpus,
        spread_cpus: Vec::new(),
        core: None,
        idle_cpu: IdleCpu::Halt,
        references: Vec::new(),
        keep_samples: false,
        expected_ns: std::collections::BTreeMap::new(),
        first: Vec::new(),
    }
}

fn choices(ids: &[&str]) -> Vec<Choice> {
    let patterns: Vec<String> = ids.iter().map(|&id| id.to_owned()).collect();
    catalogue().select(&patterns, Tier::Thorough).unwrap_or_else(|miss| fail(&miss.to_string()))
}

fn fail(words: &str) -> ! {
    panic!("{words}")
}

fn measured_with(ids: &[&str], contestants: &[Foreign], emit: &mut dyn FnMut(&Event<'_>)) -> Measured {
    let supervisor = Supervisor::new(Arc::default()).unwrap_or_else(|error| fail(&error.to_string()));
    measure(&supervisor, &choices(ids), contestants, &options(), emit)
}

fn measured(ids: &[&str]) -> Measured {
    measured_with(ids, &[], &mut |_| {})
}

/// Measured once for all that look at them.
static TICKS: LazyLock<Measured> = LazyLock::new(|| measured(&["series/ticks"]));
static KNOWN: LazyLock<(Measured, Vec<Record>)> = LazyLock::new(|| {
    let mut records: Vec<Record> = Vec::new();
    let measured = measured_with(&["known"], &[], &mut |event| {
        if let Event::Found(record) = event {
            records.push((*record).clone());
        }
    });
    (measured, records)
});

fn figure<'a>(measured: &'a Measured, id: &str) -> &'a Figure {
    measured.figures.iter().find(|figure| figure.id == id).unwrap_or_else(|| fail(&format!("no figure {id}")))
}

fn value(figure: &Figure, quantity: &str) -> f64 {
    figure.quantities.get(quantity).map_or_else(
        || fail(&format!("{} has no {quantity}: {:?} {:?}", figure.id, figure.status, figure.why)),
        |quantity| quantity.estimate.value,
    )
}

fn why(figure: &Figure) -> &str {
    figure.why.as_deref().unwrap_or_default()
}

/// A cost of k calls is k times the cost of one: the slope is found, whatever one call costs here.
fn known_costs_are_found() {
    let (measured, _) = &*KNOWN;
    let one = value(figure(measured, "known/calls_10"), "floor");
    let four = value(figure(measured, "known/calls_40"), "floor");
    let ratio = four / one;
    assert!((3.0..5.0).contains(&ratio), "40 calls cost {ratio} times as much as 10");
    for figure in &measured.figures {
        assert_eq!(figure.evidence.verdict, Verdict::Checked, "{}: {:?}", figure.id, figure.evidence);
        assert_eq!(figure.launches.len(), 6);
        let begun: Vec<u64> = figure.launches.iter().map(|launch| launch.start_ns).collect();
        assert!(begun[0] > 0 && begun.is_sorted_by(|one, other| one < other), "{begun:?}");
        let launch = &figure.launches[0];
        assert!(launch.quantities["floor"] <= launch.quantities["typical"]);
        assert!(launch.quantities["typical"] <= launch.quantities["max"]);
        // An instruction, a cycle, a kernel entry, ten of them: they are told in every launch, and cannot but rise.
        let told = [launch.throughput_ns, launch.chain_ns, launch.entry_ns, Some(launch.quantities["p5"])];
        let told: Vec<f64> = told.into_iter().flatten().collect();
        assert!(told.len() == 4 && told.is_sorted(), "{told:?}");
    }
    let pair = measured.ratios.iter().find(|pair| pair.quantity == "paired").expect("a ratio");
    assert!(pair.value.is_some_and(|ratio| (3.0..5.0).contains(&ratio)), "{pair:?}");
    let difference = measured.differences.first().expect("a difference");
    assert!(difference.value.is_some_and(|ns| ns > 0.0));
}

fn a_false_claim_is_withheld() {
    let measured = measured(&["claims/false"]);
    let figure = figure(&measured, "claims/false");
    assert_eq!(figure.status, Status::Contradicted);
    assert!(figure.quantities.is_empty() && figure.launches.is_empty(), "a withheld figure shows no numbers");
    assert!(
        why(figure).contains("claims 1 system calls an operation, the audit counted 2.00"),
        "{}",
        why(figure)
    );
}

fn nothing_claimed_is_nothing_checked() {
    let measured = measured(&["claims/none"]);
    let figure = figure(&measured, "claims/none");
    assert_eq!((figure.status, figure.evidence.verdict), (Status::Measured, Verdict::Unchecked));
}

/// A launch in which a call fails counts for nothing; one that fails in every launch has no figure.
fn a_failing_call_is_named() {
    let measured = measured(&["fails", "known/calls_10"]);
    let failing = figure(&measured, "fails/always");
    assert_eq!(failing.status, Status::Failed);
    assert!(why(failing).contains("read failed") && why(failing).contains("EIO"), "{}", why(failing));
    let late = figure(&measured, "fails/later");
    assert_eq!(late.status, Status::Failed, "{late:?}");
    assert!(why(late).starts_with("batch: write failed"), "{}", why(late));
    assert_eq!(figure(&measured, "known/calls_10").status, Status::Measured, "others go on");
}

/// Idle CPUs are kept awake for who asks for it, and for nobody else, in a run that lets them sleep.
fn who_asks_for_idle_cpus_awake_has_them_awake() {
    if options().cpus.len() < 2 {
        println!("SKIP who_asks_for_idle_cpus_awake_has_them_awake: one CPU");
        return;
    }
    assert!(matches!(measured(&["awake/ticks"]).kept_awake, Some(Ok(_))) && TICKS.kept_awake.is_none());
}

/// A member that changes its process for the others is not measured beside them; they are, and it is alone.
fn who_changes_the_process_is_alone_in_it() {
    let together = measured(&["poisons"]);
    let thread = figure(&together, "poisons/thread");
    assert_eq!(thread.status, Status::Failed);
    assert!(
        why(thread).contains("Threads: 1 -> 2") && why(thread).contains("a group of its own"),
        "{}",
        why(thread)
    );
    assert_eq!(figure(&together, "poisons/not").status, Status::Measured);
    let brief = figure(&together, "poisons/briefly");
    let found = (why(brief), &brief.evidence);
    assert_eq!(brief.status, Status::Measured, "a thread that soon ends costs nobody anything: {found:?}");
    assert_eq!(figure(&measured(&["poisons/thread"]), "poisons/thread").status, Status::Measured);
}

fn set_up_says_what_is_lacking() {
    let measured = measured(&["set_up"]);
    let unsupported = figure(&measured, "set_up/unsupported");
    assert_eq!(unsupported.status, Status::Unsupported);
    assert_eq!((why(unsupported), unsupported.remedy.as_deref()), ("no such thing", Some("get one")));
    let failed = figure(&measured, "set_up/fails");
    assert_eq!(failed.status, Status::Failed);
    assert!(why(failed).starts_with("set-up: semget failed"), "{}", why(failed));
}

/// A member that dies loses its own figure; the others of its group are measured without it.
fn a_dying_worker_costs_its_own_figure() {
    let measured = measured(&["dies"]);
    let dies = figure(&measured, "dies/in_batch");
    assert_eq!(dies.status, Status::Failed);
    assert!(why(dies).contains("signal 6"), "{}", why(dies));
    let set_up = figure(&measured, "dies/in_set_up");
    assert!(why(set_up).contains("exit code 42"), "{}", why(set_up));
    assert_eq!(figure(&measured, "dies/not").status, Status::Measured);
}

fn rubbish_is_no_report() {
    let measured = measured(&["rubbish"]);
    let rubbish = figure(&measured, "rubbish/on_stdout");
    assert_eq!(rubbish.status, Status::Failed);
    assert!(why(rubbish).contains("rubbish"), "{}", why(rubbish));
}

/// A worker that hangs is ended at its deadline, with the partner that it leaves.
fn a_hanging_worker_is_ended() {
    let start = std::time::Instant::now();
    let measured = measured(&["hangs"]);
    let hangs = figure(&measured, "hangs/for_ever");
    assert_eq!(hangs.status, Status::Failed);
    assert!(why(hangs).contains("did not end within"), "{}", why(hangs));
    assert_eq!(figure(&measured, "hangs/not").status, Status::Measured);
    assert!(start.elapsed().as_secs() < 45);
}

fn series_yield_their_quantities() {
    let figure = figure(&TICKS, "series/ticks");
    assert_eq!(figure.status, Status::Measured, "{:?}", figure.why);
    assert_eq!(figure.headline, "middle");
    assert_eq!(value(figure, "middle"), 5.0);
    assert_eq!(value(figure, "largest"), 9.0);
    assert_eq!(value(figure, "lost"), 6.0, "counts are summed over launches");
    assert_eq!(figure.evidence.system_calls.get("getppid"), Some(&1.0), "{:?}", figure.evidence);
    assert!(!figure.marks.contains(&Mark::NotConverged));
}

/// What a series itself counted is held against what the audit saw.
fn own_counts_are_audited() {
    let claims = &figure(&TICKS, "series/ticks").evidence.claims;
    assert!(claims.iter().any(|claim| claim.claim == "system_calls:getppid" && claim.holds == Some(true)));
    let wrong = measured(&["miscounts"]);
    let figure = figure(&wrong, "miscounts/ticks");
    assert_eq!(figure.status, Status::Contradicted);
    assert!(why(figure).contains("claims 2 system calls getppid"), "{}", why(figure));
}

/// Whatever a series yields and its card does not name would be lost without a word.
fn a_quantity_that_the_card_lacks_is_a_failure() {
    let measured = measured(&["unnamed"]);
    let figure = figure(&measured, "unnamed/ticks");
    assert_eq!(figure.status, Status::Failed);
    assert!(why(figure).contains("the card names no quantity 'lost'"), "{}", why(figure));
}

/// Series of one group are compared launch by launch, in what their cards name and in nothing else.
fn series_are_paired() {
    let measured = measured(&["series"]);
    let told = |pairs: &[oscost_results::PairedValue]| -> Vec<(String, Option<f64>, Option<f64>)> {
        pairs.iter().map(|pair| (pair.quantity.clone(), pair.value, pair.low)).collect()
    };
    assert_eq!(told(&measured.ratios), [("middle".to_owned(), Some(3.0), Some(3.0))]);
    assert_eq!(told(&measured.differences), [("middle".to_owned(), Some(10.0), Some(10.0))]);
}

/// What a killed run had found makes the same figures.
fn records_make_the_figures_again() {
    let (measured, records) = &*KNOWN;
    let text = serde_json::to_string(records).expect("records are data");
    let records: Vec<Record> = serde_json::from_str(&text).expect("and stay it");
    let step = measured.clock.expect("a clock").step_ns;
    let (figures, ratios, differences) = rebuild(&catalogue(), &records, step, measured.core.as_ref());
    let find = |id: &str| figures.iter().find(|figure| figure.id == id).expect("the same figures");
    for figure in &measured.figures {
        let again = find(&figure.id);
        assert_eq!(again.quantities, figure.quantities);
        assert_eq!(again.evidence.verdict, figure.evidence.verdict);
    }
    assert_eq!((&ratios, &differences), (&measured.ratios, &measured.differences));
    let fewer: Vec<Record> = records.into_iter().take(5).collect();
    let (figures, ..) = rebuild(&catalogue(), &fewer, step, None);
    assert!(figures.iter().all(|figure| figure.launches.len() < 6));
}

fn an_interrupted_run_is_partial() {
    let interrupted = Arc::new(AtomicBool::new(false));
    let supervisor =
        Supervisor::new(Arc::clone(&interrupted)).unwrap_or_else(|error| fail(&error.to_string()));
    let mut launches = 0;
    let measured = measure(&supervisor, &choices(&["known"]), &[], &options(), &mut |event| {
        if let Event::Found(Record::Launched { .. }) = event {
            launches += 1;
            if launches == 3 {
                interrupted.store(true, Ordering::Relaxed);
            }
        }
    });
    assert!(measured.partial);
    assert!(measured.figures.iter().all(|figure| figure.launches.len() == 3), "three launches are kept");
    let bounds = measured.figures[0].quantities["floor"].estimate;
    assert!(bounds.extremes, "fewer than 6 launches have no interval");
}

/// What wakes another CPU is timed while idle CPUs sleep, and once more while they are kept awake.
fn idle_cpus_sleep_at_first_and_are_awake_then() {
    let effort = Effort { launches: 2, most_launches: 2, member_ns: 300_000_000, ..EFFORT };
    let options = Options { effort, idle_cpu: IdleCpu::Both, ..options() };
    if options.cpus.len() < 2 {
        println!("SKIP idle_cpus_sleep_at_first_and_are_awake_then: one CPU");
        return;
    }
    let supervisor = Supervisor::new(Arc::default()).unwrap_or_else(|error| fail(&error.to_string()));
    let measured = measure(&supervisor, &choices(&["sleeps"]), &[], &options, &mut |_| {});
    let launches = &figure(&measured, "sleeps/briefly").launches;
    let told = |name: &str| launches.iter().filter_map(|it| it.quantities.get(name)).sum::<f64>();
    assert!(told(quantity::ASLEEP) > 0.0 || !matches!(measured.kept_awake, Some(Ok(_))), "{launches:?}");
    let of_these = launches.iter().filter(|it| it.quantities.contains_key(quantity::ASLEEP));
    let adds: f64 = of_these.map(|it| it.quantities[quantity::ASLEEP] - it.quantities["typical"]).sum();
    assert_eq!(told(quantity::ASLEEP_ADDS), adds);
    let looked = |figure: &Figure| figure.launches[0].foreign_share.is_some();
    assert_eq!(looked(figure(&measured, "sleeps/briefly")), looked(figure(&TICKS, "series/ticks")));
}

fn foreign_programs_take_part_and_leave_nothing() {
    let mark = format!("{}", 100_000_000 + oscost_sys::random::bits().expect("bits") % 900_000_000);
    // Named as a folder that other tests remove if these are killed.
    let lies = format!("/tmp/oscost-test-{}-{mark}", std::process::id());
    let (stays, stays_too) = (format!("/tmp/oscost-test-{mark}"), format!("/var/tmp/oscost-test-{mark}"));
    std::fs::create_dir(&lies).expect("a folder in /tmp");
    let contestants = [
        bad::foreign("prints", &["echo", "42.5"]),
        // Its children must not take themselves for orphans: their parent is not the first process.
        bad::foreign("parents", &["sh", "-c", "sh -c 'test $PPID != 1 && echo 7'"]),
        bad::foreign("fails", &["sh", "-c", "echo oops >&2; exit 3"]),
        bad::foreign("dies", &["sh", "-c", "kill -KILL $$"]),
        bad::foreign("missing", &["no-such-program-of-oscost"]),
        bad::foreign("hangs", &["sleep", "30"]),
        bad::foreign("talks", &["echo", "not a number"]),
        // What lies in /tmp is there, what is written there is not, afterwards.
        bad::foreign(
            "writes",
            &[
                "sh",
                "-c",
                &format!(
                    "test \"$(pwd)\" = /tmp && test -e {lies} && echo 3 >{stays} && echo 3 >{stays_too} && cat {stays}"
                ),
            ],
        ),
        // A child that leaves its session outlives everything but the end of its PID namespace.
        bad::foreign("leaves", &["sh", "-c", &format!("setsid sleep {mark} & echo 1")]),
    ];
    let measured = measured_with(&["known/calls_10"], &contestants, &mut |_| {});
    std::fs::remove_dir(&lies).expect("the folder in /tmp");
    assert_eq!(value(figure(&measured, "foreign/prints"), "printed"), 42.5);
    assert_eq!(figure(&measured, "foreign/prints").launches.len(), 6);
    assert_eq!(value(figure(&measured, "foreign/parents"), "printed"), 7.0);
    for (id, words) in [
        ("foreign/fails", "oops"),
        ("foreign/dies", "ended with Some(137)"),
        ("foreign/missing", "no-such-program-of-oscost"),
        ("foreign/hangs", "did not end within 300 ms"),
        ("foreign/talks", "printed 'not a number'"),
    ] {
        let figure = figure(&measured, id);
        assert_eq!(figure.status, Status::Failed, "{id}");
        assert!(why(figure).contains(words), "{id}: {}", why(figure));
    }
    if measured.isolation.as_deref().is_some_and(|isolation| isolation.contains("namespaces")) {
        assert!(!runs(&mark), "a child of a foreign program is still there");
        assert_eq!(value(figure(&measured, "foreign/writes"), "printed"), 3.0);
        assert!(!std::path::Path::new(&stays).exists() && !std::path::Path::new(&stays_too).exists());
    } else {
        println!("SKIP foreign_programs_leave_nothing: no namespaces here");
    }
}

/// Whether a process has `word` among its arguments.
fn runs(word: &str) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    processes.flatten().any(|entry| {
        std::fs::read(entry.path().join("cmdline"))
            .is_ok_and(|line| line.split(|&byte| byte == 0).any(|part| part == word.as_bytes()))
    })
}

fn main() -> std::process::ExitCode {
    if let Some(code) = serve_if_asked(&catalogue) {
        return code.into();
    }
    if beside::is_killed() {
        return std::process::ExitCode::FAILURE;
    }
    let tests: &[(&str, fn())] = &[
        ("known_costs_are_found", known_costs_are_found),
        ("a_false_claim_is_withheld", a_false_claim_is_withheld),
        ("nothing_claimed_is_nothing_checked", nothing_claimed_is_nothing_checked),
        ("a_failing_call_is_named", a_failing_call_is_named),
        ("who_changes_the_process_is_alone_in_it", who_changes_the_process_is_alone_in_it),
        ("set_up_says_what_is_lacking", set_up_says_what_is_lacking),
        ("who_asks_for_idle_cpus_awake_has_them_awake", who_asks_for_idle_cpus_awake_has_them_awake),
        ("a_dying_worker_costs_its_own_figure", a_dying_worker_costs_its_own_figure),
        ("rubbish_is_no_report", rubbish_is_no_report),
        ("series_yield_their_quantities", series_yield_their_quantities),
        ("own_counts_are_audited", own_counts_are_audited),
        ("a_quantity_that_the_card_lacks_is_a_failure", a_quantity_that_the_card_lacks_is_a_failure),
        ("series_are_paired", series_are_paired),
        ("records_make_the_figures_again", records_make_the_figures_again),
        ("an_interrupted_run_is_partial", an_interrupted_run_is_partial),
        ("idle_cpus_sleep_at_first_and_are_awake_then", idle_cpus_sleep_at_first_and_are_awake_then),
        ("foreign_programs_take_part_and_leave_nothing", foreign_programs_take_part_and_leave_nothing),
    ];
    let tests = [tests, &beside::TESTS].concat();
    // Everything here is of the first tier.
    if std::env::args().any(|argument| argument == "--ignored") {
        return std::process::ExitCode::SUCCESS;
    }
    // What waits ten seconds for a deadline waits beside the others.
    const WAITS: &str = "a_hanging_worker_is_ended";
    if std::env::args().any(|argument| argument == "--list") {
        tests.iter().map(|(name, _)| *name).chain([WAITS]).for_each(|name| println!("{name}: test"));
        return std::process::ExitCode::SUCCESS;
    }
    // Filters as the standard harness takes them; options of its own are passed over.
    let filters: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_chosen =
        |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()));
    let (mut passed, mut failed) = (0, 0);
    let mut told = |name: &str, ended: std::thread::Result<()>| {
        *if ended.is_ok() { &mut passed } else { &mut failed } += 1;
        println!("test {name} ... {}", if ended.is_ok() { "ok" } else { "FAILED" });
    };
    let waits = is_chosen(WAITS).then(|| std::thread::spawn(a_hanging_worker_is_ended));
    for (name, test) in tests.iter().filter(|(name, _)| is_chosen(name)) {
        told(name, std::panic::catch_unwind(test));
    }
    if let Some(waits) = waits {
        told(WAITS, waits.join());
    }
    println!(
        "\ntest result: {}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out",
        if failed == 0 { "ok" } else { "FAILED" }
    );
    u8::from(failed > 0).into()
}

/// Every benchmark of this program is a [`Benchmark`].
const _: &[&dyn Benchmark] = bad::ALL;
