//! Document 002 held against machines whose numbers are known.

use oscost_harness::Level;
use oscost_results::{Figure, PairedValue, Status};

use super::*;
pub(super) use crate::found::test::verdict;
use crate::found::test::{figure, set};

/// A machine on which clients are served in a stack, and a wait queue turns them over.
pub(super) fn figures(reversed: f64, sd_of_ten: f64) -> Vec<Figure> {
    let settings = Settings::default();
    let mut figures = vec![figure(HOP, "floor", 5000.0, None), figure(ALONE, "floor", 1000.0, None)];
    for &clients in &settings.clients {
        let mut one = figure(&at_1ms(SOCKET, clients), "switches_per_client", 1.0, None);
        let sd = if clients == 10 { sd_of_ten } else { 2000.0 };
        for (name, value) in [
            ("body_share", 0.98),
            ("peaks_per_thousand", 5.0),
            ("client_first", 20_000.0),
            ("client_next", 5000.0),
            ("client_service", 65_000.0),
            ("client_last_sd", sd),
            ("first_p50", 24_500.0),
            ("next_p50", 5000.0),
            ("last_p50", 65_000.0),
            ("server_loop", 20_000.0),
            ("server_cpu", 20_000.0),
            ("same_order_share", 0.99),
            ("reversed_share", 0.001),
            ("dispatch_load", 0.065),
        ] {
            set(&mut one, name, value);
        }
        figures.push(one);
    }
    let mut queue = figure(&at_1ms(WAIT_QUEUE, 10), "reversed_share", reversed, None);
    set(&mut queue, "client_next", 10.0);
    set(&mut queue, "next_p50", 5000.0);
    set(&mut queue, "client_service", 60_000.0);
    set(&mut queue, "last_p50", 60_000.0);
    figures.push(queue);
    for name in KERNEL_SIDE {
        for clients in settings.ends() {
            let mut lacking = figure(&at_1ms(name, clients), "last_p50", 1.0, None);
            lacking.status = Status::Unsupported;
            lacking.why = Some(format!("{name} is not here"));
            lacking.remedy = Some("contrib/laboratory/run module".to_owned());
            figures.push(lacking);
        }
    }
    figures
}

const OF_THE_MODULE: [&str; 5] = [
    "behaves differently",
    "switch between two different levels",
    "not served each time in the same order",
    "next latency time",
    "remains correct",
];

pub(super) fn pair(of: &str, to: &str, value: f64) -> PairedValue {
    PairedValue { quantity: "last_p50".to_owned(), ..crate::found::test::result::ratio(of, to, value) }
}

pub(super) fn rows(figures: &[Figure], ratios: &[PairedValue]) -> Vec<Reproduction> {
    judge(&Found::of(figures, ratios, &[]), &DocumentParameters::default())
}

pub(super) fn fifo(value: f64) -> Vec<PairedValue> {
    let id = |clients, policy| family_id(SOCKET, clients, JUDGED_NS, policy);
    [1, 10].map(|clients| pair(&id(clients, Policy::Fifo), &id(clients, Policy::RoundRobin), value)).to_vec()
}

#[test]
fn every_id_that_a_run_asks_for_exists() {
    let mut all = [Level::Quick, Level::Default, Level::Thorough].map(Settings::at).to_vec();
    all.push(Settings { experiments: true, ..Settings::default() });
    for settings in all {
        let tried = if settings.experiments { 3 } else { 1 };
        let idle = if settings.quick { 3 } else { 7 };
        let parameters = DocumentParameters { grame: settings, ..DocumentParameters::default() };
        let ids = literal(&parameters);
        let sessions = ids.iter().filter(|id| id.starts_with(PREFIX)).count();
        assert_eq!(
            sessions,
            (idle + 3) * parameters.grame.sessions as usize + tried,
            "seven idle, with --quick three, and three busy, each so often, and a sender below its readers"
        );
        for id in &ids {
            let found = resolve(id).or_else(|| oscost_families::resolve(id));
            assert_eq!(found.map(|benchmark| benchmark.card().id), Some(id.as_str()));
        }
    }
}

/// Mean - standard deviation of a scattered second was shown as "busy from -18 us".
#[test]
fn no_latency_is_shown_below_zero() {
    assert_eq!([-18_000.0, 0.0, 18_000.0].map(tables::latency_us), [0.0, 0.0, 18.0]);
}

#[test]
fn the_words_of_the_tables_are_cells() {
    let mut found = figures(0.99, 2000.0);
    let one = crate::found::test::of(&mut found, &at_1ms(SOCKET, 1));
    let words = |rows: &[Reproduction], row: &str, column: &str| {
        let cell = crate::found::test::cell(rows, "Tables 4, 5, 6", row, column).expect("a cell");
        [&cell.published_words, &cell.literal_words, &cell.measured_words].map(Clone::clone)
    };
    let text = |word: &str| Some(word.to_owned());
    crate::found::test::set_within(one, "peaks_per_thousand", 8.0, 12.0);
    let across = rows(&found, &[]);
    assert_eq!(words(&across, "linux", "frequency"), [text("low"), None, text("low to medium")]);
    assert_eq!(words(&rows(&figures(0.99, 2000.0), &[]), "linux", "frequency")[2], text("low"));
    assert_eq!(words(&across, "windows 2000", "frequency"), [text("medium"), None, None]);
    assert_eq!(words(&across, "windows 2000", "busy from")[0], text("na"));
    assert_eq!(words(&across, "windows 2000", "busy peak")[0], text("> 8000"));
    assert_eq!(words(&across, "linux", "busy peak")[0], None, "a number is a number");
}

#[test]
fn a_machine_like_the_documents_agrees_with_it() {
    let like = rows(&figures(0.99, 2000.0), &fifo(1.01));
    for words in [
        "SCHED_FIFO",
        "constant range",
        "stack of latency ranges",
        "latency peaks occured",
        "does not increase significantly",
        "44100",
    ] {
        assert_eq!(verdict(&like, words).0, Judgement::Holds, "{words}: {}", verdict(&like, words).1);
    }
    // Predicted by another way's price, without its counterpart, or of one session.
    let shown = ["sending messages loop", "election of a new thread", "unique level"];
    for words in shown {
        assert_eq!(verdict(&like, words).0, Judgement::NotJudged, "{words}: {}", verdict(&like, words).1);
    }
}

#[test]
fn a_sender_above_its_readers_switches_less_where_that_was_counted() {
    let settings = Settings::default();
    for (below, expected) in [(21.0, Judgement::Holds), (11.5, Judgement::DoesNotHold)] {
        let mut counted = figures(0.99, 2000.0);
        for (id, switches) in [(settings.shape(10, 1).id(), 11.2), (settings.below(10).id(), below)] {
            let mut one = figure(&id, "real_time", 1.0, None);
            one.evidence.switches = Some(switches);
            counted.retain(|figure| figure.id != id);
            counted.push(one);
        }
        let (judgement, words) = verdict(&rows(&counted, &fifo(1.01)), "minimize context switches");
        assert_eq!(judgement, expected, "{words}");
        assert!(words.starts_with("11.2 switches a tick of 10 clients"), "{words}");
    }
}

/// The session with the sender below its readers is always run.
#[test]
fn no_option_is_named_for_what_every_run_has() {
    assert!(!Settings::default().experiments && Settings::default().experiments()[0].1.below);
    let rows = rows(&[], &[]);
    let rank = rows.iter().find(|row| row.place == "differs: rank").expect("a deviation");
    assert!(rank.because.contains("sender at 96") && !rank.because.contains("--"), "{}", rank.because);
}

#[test]
fn another_machine_does_not() {
    let mut mixed = figures(0.01, 20_000.0);
    let many = at_1ms(SOCKET, 10);
    mixed
        .iter_mut()
        .filter(|figure| figure.id == many)
        .for_each(|figure| set(figure, "same_order_share", 0.5));
    let other = rows(&mixed, &fifo(1.5));
    for words in ["SCHED_FIFO", "does not increase significantly", "stack of latency ranges"] {
        assert_eq!(verdict(&other, words).0, Judgement::DoesNotHold, "{words}");
    }
}

#[test]
fn where_the_kernel_serves_nobody_its_words_stand_there() {
    let like = rows(&figures(0.99, 2000.0), &[]);
    let (judgement, because) = verdict(&like, "between 2 and 3 times");
    assert_eq!(judgement, Judgement::NotTestableHere);
    assert!(because.contains("tables 1 to 3 say why"), "{because}");
    let module = like.iter().find(|row| row.published == Some(12.0)).expect("the module's mean");
    assert!(module.because.contains("contrib/laboratory/run module"), "{}", module.because);
    // A wait queue in user space does what they say of the module, and decides nothing of it.
    for words in OF_THE_MODULE {
        let (judgement, because) = verdict(&like, words);
        assert_eq!(judgement, Judgement::NotTestableHere, "{words}");
        assert!(because.contains(WAIT_QUEUE) && because.contains("tables 1 to 3 say why"), "{because}");
    }
}

#[test]
fn a_module_that_is_there_is_judged_itself() {
    let mut figures = figures(0.99, 2000.0);
    figures.retain(|figure| figure.status == Status::Measured);
    let mut module =
        figures.iter().find(|figure| figure.id == at_1ms(WAIT_QUEUE, 10)).expect("a queue").clone();
    module.id = at_1ms("kernel_module", 10);
    figures.push(module);
    let mut ratios = vec![
        pair(&at_1ms("kernel_module", 1), &at_1ms(SOCKET, 1), 0.4),
        pair(&at_1ms("kernel_module", 10), &at_1ms(SOCKET, 10), 0.95),
    ];
    let judged = rows(&figures, &ratios);
    assert_eq!(verdict(&judged, "between 2 and 3 times").0, Judgement::ItsMachine);
    for words in OF_THE_MODULE {
        assert_eq!(verdict(&judged, words).0, Judgement::Holds, "{words}: {}", verdict(&judged, words).1);
    }
    assert_eq!(verdict(&judged, "tends to disappear").0, Judgement::Holds);
    ratios[1].value = Some(0.3);
    (ratios[1].low, ratios[1].high) = (Some(0.29), Some(0.31));
    assert_eq!(verdict(&rows(&figures, &ratios), "tends to disappear").0, Judgement::DoesNotHold);
}

#[test]
fn a_server_by_bpf_stands_beside_and_judges_nothing_of_the_module() {
    let mut figures = figures(0.99, 2000.0);
    figures.retain(|figure| !figure.id.contains("bpf"));
    figures.push(figure(&at_1ms("bpf", 10), "reversed_share", 0.001, None));
    let ratios = [pair(&at_1ms("bpf", 1), &at_1ms(SOCKET, 1), 0.4)];
    let judged = rows(&figures, &ratios);
    let (judgement, because) = verdict(&judged, "between 2 and 3 times");
    assert_eq!(judgement, Judgement::NotTestableHere);
    assert!(because.contains("bpf (ours), no module: 0.400x (0.398 .. 0.402)"), "{because}");
}

#[test]
fn without_a_measurement_everything_published_is_there_and_nothing_is_judged() {
    let rows = rows(&[], &[]);
    let published: Vec<f64> = rows.iter().filter_map(|row| row.published).collect();
    for value in [12.0, 31.0, 111.0, 8000.0, 131.0, 639.0, 261.0, 10.0, 36.0, 23.0, 99.0, 98.0] {
        assert!(published.iter().any(|found| (found - value).abs() < 1e-6), "{value}");
    }
    for row in rows.iter().filter(|row| row.verdict.is_some() && row.place != tables::ARITHMETIC) {
        assert_eq!(row.verdict, Some(Judgement::NotTestableHere), "{:?}", row.statement);
    }
    assert!(rows.iter().any(|row| row.place.contains("Tables 13 and 14")));
}

#[test]
fn what_is_not_real_time_says_so_where_it_was_judged() {
    let mut figures = figures(0.99, 2000.0);
    figures[2].marks.push(Mark::NotRealTime);
    let settings = Settings::default();
    for shape in [settings.shape(settings.most(), 1), settings.below(settings.most())] {
        let mut session = figure(&shape.id(), "first", 1.0, None);
        session.evidence.switches = Some(15.0);
        figures.push(session);
    }
    let rows = rows(&figures, &[]);
    assert!(verdict(&rows, "constant range").1.starts_with("not real-time: "));
    assert!(!verdict(&rows, "Windows 95").1.contains("not real-time"));
    assert!(!verdict(&rows, "44100").1.contains("not real-time"));
    // A machine that grants no priority says nothing of priorities.
    let sender = verdict(&rows, "minimize context switches");
    assert!(
        sender.0 == Judgement::NotTestableHere && sender.1.starts_with("not real-time: 15"),
        "{sender:?}"
    );
}

#[test]
fn where_others_had_most_cpus_every_verdict_says_so() {
    let mut all = figures(0.99, 2000.0);
    let told = |figures: &[Figure]| {
        verdict(&rows(figures, &[]), "constant range").1.starts_with("others had its CPUs: ")
    };
    all[2].marks.push(Mark::Shared);
    assert!(!told(&all), "one of {}", all.len());
    all.iter_mut().for_each(|figure| figure.marks.push(Mark::Shared));
    assert!(told(&all));
}

/// Whoever gave another tick was told of the document's.
#[test]
fn what_is_said_of_the_tick_is_said_of_that_of_the_run() {
    let figures = figures(0.99, 2000.0);
    let found = Found::of(&figures, &[], &[]);
    let told = |tick_ns| {
        let grame = Settings { tick_ns, ..Settings::default() };
        let parameters = DocumentParameters { grame, ..DocumentParameters::default() };
        let mut asked = (DOCUMENT.answers)(&found, &parameters).into_iter();
        let mean = asked.find(|answer| answer.key == "mean").expect("a question");
        let rows = judge(&found, &parameters);
        let cell = crate::found::test::cell(&rows, "Figures 34 to 36", &tables::counted(1), "of 1 ms");
        (mean.why, cell.expect("a cell").because.clone())
    };
    for (tick_ns, why, because) in [
        (10_000_000, "the copy sends every 10 ms, as the document did; sent every 1 ms", "tick every 10 ms;"),
        (2_500_000, "the copy sends every 2.5 ms; sent every 1 ms", "tick every 2.5 ms;"),
    ] {
        let (sooner, of_tick) = told(tick_ns);
        assert!(sooner.starts_with(why) && of_tick.contains(because), "{sooner}: {of_tick}");
    }
}

#[test]
fn of_several_sessions_the_median_one_is_shown() {
    let settings = Settings::at(Level::Thorough);
    let figures: Vec<Figure> = (1..=5)
        .map(|session| {
            let service = [40.0, 20.0, 90.0, 30.0, 50.0][session as usize - 1];
            figure(&settings.shape(2, session).id(), "client_service", service, None)
        })
        .collect();
    let found = Found::of(&figures, &[], &[]);
    assert_eq!(shown_session(&found, &settings, 2), settings.shape(2, 1).id());
    assert_eq!(shown_session(&found, &settings, 3), settings.shape(3, 1).id(), "none is there");
}
