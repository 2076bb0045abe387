//! The prices of a bill: from the store, and what is missing there, measured.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Instant;

use oscost_bill::price::{self, MadeProcess, Prices};
use oscost_bill::savings;
use oscost_harness::{Catalogue, Choice, Effort, Place, Placement, estimate_ns};
use oscost_results::bill::CountedRun;
use oscost_results::quantity::ASLEEP;
use oscost_results::{
    Estimate, Figure, Mark, Outline, OutlineFigure, RunResult, Status, Store, load_outlines_of,
};
use oscost_session::Keep;
use oscost_sys::file::{self, OpenAccess};
use oscost_sys::system_call;

use super::catalogue;
use crate::args::{self, Measuring};
use crate::exit::Ended;
use crate::output::Talk;
use crate::progress::Progress;
use crate::session::{self, Insists, Request};
use crate::signals::Signals;

/// So many stored runs are read at once, the newest first, until every price is found or they are of an older boot.
const RUNS: usize = 64;
/// What is missing is measured in this time, ns.
const MEASURING_NS: u64 = 30_000_000_000;
/// Setting up and saving takes some of it, ns.
const AROUND_NS: u64 = 4_000_000_000;
/// Figures that make a process with a page of memory of its own: what was counted of them is a part of their price.
const MADE: [&str; 3] = ["process/fork", "process/exec_static", "process/posix_spawn"];
/// Of these, the one that copies nothing of its parent.
const SHARES: &str = "process/posix_spawn";
const PAGE: f64 = 4096.0;
/// The figure of a thread that gives way to whoever is to run.
const GIVES_WAY: &str = "context_switch/yield/same_cpu";

/// The prices of what was counted: those of the newest runs of this machine and boot, then what is missing, measured.
pub fn prices(
    counted: &[CountedRun],
    result: &mut RunResult,
    options: &args::Bill,
    signals: &Signals,
    talk: &Talk,
) -> Result<Prices, Ended> {
    let mut needed = price::needed(counted);
    needed.extend(savings::needed(counted));
    let mut prices = Prices::default();
    stored(&needed, result, &mut prices);
    let missing: Vec<&str> = needed.iter().copied().filter(|id| !prices.has(id)).collect();
    if missing.is_empty() {
        return Ok(prices);
    }
    if options.no_measure || signals.came() {
        bare_entry(&mut prices);
        let missing: Vec<&str> = missing.into_iter().filter(|id| !prices.has(id)).collect();
        if !missing.is_empty() {
            let why = if options.no_measure { "--no-measure" } else { "a signal came" };
            let ids = missing.join(", ");
            result
                .warnings
                .push(format!("no usable price in the store, and none was measured ({why}): {ids}"));
        }
        return Ok(prices);
    }
    talk.say(format!("measuring {} prices that no stored run of this boot has", missing.len()));
    match measured(&missing, signals, talk) {
        Ok(figures) => {
            for figure in &figures {
                let evidence = &figure.evidence;
                let claim = |name: &str| {
                    evidence.claims.iter().find(|it| it.claim == name).and_then(|it| it.observed)
                };
                take(&mut prices, of_figure(figure), &figure.marks, made(&figure.id, evidence.faults, claim));
            }
        }
        Err(ended) => result.warnings.push(format!("prices are missing: {ended}")),
    }
    bare_entry(&mut prices);
    let missing: Vec<&str> = needed.iter().copied().filter(|id| !prices.has(id)).collect();
    if !missing.is_empty() {
        result.warnings.push(format!("without a price here: {}", missing.join(", ")));
    }
    Ok(prices)
}

/// Takes what the store has of this machine, this boot and today's cards; of each figure the newest.
fn stored(needed: &BTreeSet<&'static str>, result: &RunResult, prices: &mut Prices) {
    let Some(boot) = &result.conditions.boot_id else { return };
    let Ok(paths) = Store::of_user().map_err(drop).and_then(|store| store.runs().map_err(drop)) else {
        return;
    };
    let catalogue = catalogue();
    let here = place().and_then(|place| place.kind().ok());
    let is_current = |figure: &OutlineFigure| {
        catalogue.find(&figure.id).is_some_and(|benchmark| benchmark.card().revision == figure.revision)
    };
    for paths in paths.rchunks(RUNS) {
        let runs = load_outlines_of(paths).runs;
        let of_boot = |run: &Outline| run.conditions.boot_id.as_ref() == Some(boot);
        for (path, run) in runs.iter().rev().filter(|(_, run)| of_boot(run)) {
            if run.machine.cpu_model != result.machine.cpu_model {
                continue;
            }
            let is_here = lies_here(run.conditions.file_system.as_deref(), here.as_deref());
            let wanted = run.figures.iter().filter(|figure| {
                needed.contains(&*figure.id)
                    && (is_here || !figure.id.starts_with("file/"))
                    && is_current(figure)
                    && is_paid(figure, path, &catalogue)
            });
            for figure in wanted {
                let evidence = &figure.evidence;
                let claim = |name: &str| {
                    evidence.claims.iter().find(|it| it.claim == name).and_then(|it| it.observed)
                };
                take(prices, of_outline(figure), &figure.marks, made(&figure.id, evidence.faults, claim));
            }
        }
        if needed.iter().all(|id| prices.has(id)) || !runs.iter().any(|(_, run)| of_boot(run)) {
            return;
        }
    }
}

/// Whether a program pays what a stored run says of a figure: not where another CPU takes part and was kept awake from beginning to end
/// (`--idle-cpu poll`), because what a program wakes has gone to sleep.
fn is_paid(figure: &OutlineFigure, path: &Path, catalogue: &Catalogue) -> bool {
    let is_across =
        catalogue.find(&figure.id).is_some_and(|benchmark| benchmark.card().placement == Placement::CrossCpu);
    // Both prices were measured, or there is one.
    let has_one = is_across && !figure.quantities.contains_key(ASLEEP);
    let kept_awake =
        || oscost_results::load(path).is_ok_and(|run| run.conditions.idle_cpu.as_deref() == Some("poll"));
    !(has_one && kept_awake())
}

/// Whether files of a run lay on the kind of file system that prices are for; `None`: in memory.
fn lies_here(files: Option<&str>, here: Option<&str>) -> bool {
    const MEMORY: &str = "tmpfs";
    files.unwrap_or(MEMORY) == here.unwrap_or(MEMORY)
}

/// The folder in which the program runs, where files can be measured: those in memory cost less. `None`: in memory.
fn place() -> Option<Place> {
    let here = Path::new(".");
    oscost_results::check_writable(&here.join("oscost-bill")).ok()?;
    Place::open(here).ok()
}

/// Measures figures, and stores them as a run: the next bill finds them there.
fn measured(missing: &[&str], signals: &Signals, talk: &Talk) -> Result<Vec<Figure>, Ended> {
    let catalogue = catalogue();
    let choices: Vec<Choice> = missing
        .iter()
        .filter_map(|id| catalogue.find(id))
        .map(|benchmark| Choice { benchmark, named: false })
        .collect();
    let patterns: Vec<String> = missing.iter().map(|id| (*id).to_owned()).collect();
    let measuring =
        Measuring { quick: true, note: Some("prices for a bill".to_owned()), ..Measuring::default() };
    let request = Request {
        insists: Insists::Later,
        directory: place(),
        ..Request::new(&choices, &patterns, &measuring, effort(&choices))
    };
    let mut progress = Progress::new(!talk.quiet);
    let mut session = session::measure(request, signals, Keep::User, &mut progress, talk)?;
    // What cannot be stored still prices this bill.
    if let Err(error) = session.save() {
        talk.warn(format!("warning: the prices were not stored: {error}"));
    }
    Ok(session.result.figures)
}

/// What the evidence of a figure counted, where it makes a process: faults of the parent and of the child, and the parent's pages and
/// mappings, where they are copied.
fn made(id: &str, faults: Option<f64>, claim: impl Fn(&str) -> Option<f64>) -> Option<MadeProcess> {
    let faults = faults? + claim("post_condition:faults_of_a_child")?;
    let copied = |name: &str| if id == SHARES { Some(0.0) } else { claim(name) };
    let pages = copied("post_condition:private_bytes")? / PAGE;
    Some(MadeProcess { faults, pages, mappings: copied("post_condition:mappings")? })
}

/// Takes a price of a figure with these marks. Who gives way to others waits until they have had their turn: beside others that is no
/// price.
fn take(prices: &mut Prices, priced: Option<(&str, Estimate)>, marks: &[Mark], made: Option<MadeProcess>) {
    match (priced, made) {
        (Some((id, ..)), Some(made)) => prices.add_made(id, made),
        // Stored by a version that did not count it.
        (Some((id, ..)), None) if MADE.contains(&id) => return,
        (Some((GIVES_WAY, ..)), _) if marks.contains(&Mark::Shared) => return,
        _ => {}
    }
    let why = |mark: &Mark| match mark {
        Mark::Noisy | Mark::Shared | Mark::BusySibling => Some("measured beside others' work"),
        Mark::Bimodal => Some("between two modes"),
        _ => None,
    };
    if let Some((id, price)) = priced {
        prices.add_measured(id, price, marks.iter().find_map(why));
    }
}

/// The price that bounds all others, and what libc adds to a call, where they are not known: timed here, in some milliseconds,
/// whoever else works.
fn bare_entry(prices: &mut Prices) {
    timed("syscall/getpid_libc", prices, || system_call::getpid_libc() > 0);
    let Ok(zero) = file::open(c"/dev/zero", OpenAccess::Read) else { return };
    let zero = zero.as_raw_fd();
    timed("syscall/read0_devzero_libc", prices, || system_call::read_libc(zero, &mut []).is_ok());
    timed("syscall/read0_devzero", prices, || system_call::read(zero, &mut []).is_ok());
}

/// Times a short call, unless it has a price. One that fails prices nothing: a filter may refuse it.
fn timed(id: &str, prices: &mut Prices, call: impl Fn() -> bool) {
    const CALLS: u64 = 1000;
    if prices.has(id) {
        return;
    }
    let once = || {
        let begun = Instant::now();
        let works = (0..CALLS).fold(true, |works, _| black_box(call()) & works);
        works.then(|| begun.elapsed().as_nanos() as f64 / CALLS as f64)
    };
    let Some(mut each) = (0..30).map(|_| once()).collect::<Option<Vec<f64>>>() else { return };
    each.sort_unstable_by(f64::total_cmp);
    let (low, value, high) = (each[0], each[15], each[25]);
    let timed = Estimate { value, low, high, extremes: false };
    prices.add_measured(id, timed, Some("timed here for some milliseconds"));
}

/// As much as there is time for.
fn effort(choices: &[Choice]) -> Effort {
    let mut effort = Effort {
        target_ns: MEASURING_NS - AROUND_NS,
        deadline_ns: MEASURING_NS - AROUND_NS,
        ..Effort::QUICK
    };
    while effort.launches > 2 && estimate_ns(choices, &effort) > effort.deadline_ns {
        effort.launches -= 1;
    }
    effort
}

/// A price in ns, and no less than the floor; `None` where it has none. It is the mean: what neighbours and interrupts add, a program pays
/// as well, while the floor is that of a batch which met nobody, and what is typical that of rounds at full speed. Where others had the
/// CPU of a launch, their time is in its mean, and not in the program's: then it is what is typical. Who wakes a CPU that is idle pays for
/// its sleep, which stands apart: all else was measured while it was kept awake (METHOD.md, Across CPUs).
fn in_ns(marks: &[Mark], quantity: impl Fn(&str) -> Option<Estimate>) -> Option<Estimate> {
    if let Some(asleep) = quantity(ASLEEP) {
        return Some(Estimate { extremes: false, ..asleep });
    }
    let mean = quantity("mean").filter(|_| !marks.contains(&Mark::Shared));
    let price = mean.or_else(|| quantity("typical")).or_else(|| quantity("call_p50"))?;
    let floor = quantity("floor").unwrap_or(price);
    Some(Estimate { low: floor.low.min(price.low), extremes: false, ..price })
}

fn of_outline(figure: &OutlineFigure) -> Option<(&str, Estimate)> {
    let quantity = |name: &str| {
        let quantity = figure.quantities.get(name)?;
        Some(Estimate { value: quantity.value?, low: quantity.low?, high: quantity.high?, extremes: false })
    };
    in_ns(&figure.marks, quantity)
        .filter(|_| figure.status == Status::Measured)
        .map(|price| (&*figure.id, price))
}

fn of_figure(figure: &Figure) -> Option<(&str, Estimate)> {
    let quantity = |name: &str| figure.quantities.get(name).map(|quantity| quantity.estimate);
    in_ns(&figure.marks, quantity)
        .filter(|_| figure.status == Status::Measured)
        .map(|price| (&*figure.id, price))
}

#[cfg(test)]
mod tests {
    use oscost_bill::tariff::{self, RATES};
    use oscost_harness::CallPath;

    use super::*;

    /// Programs call functions of libc: no rate is that of an inline call alone.
    #[test]
    fn a_call_is_priced_as_programs_make_it() {
        let catalogue = catalogue();
        let inline = |id: &str| catalogue.find(id).is_some_and(|it| it.card().call_path == CallPath::Inline);
        let terms = RATES.iter().flat_map(|rate| rate.each.iter().chain(rate.nothing)).chain(tariff::ENTRY);
        let bare: Vec<&str> = terms.map(|(id, _)| *id).filter(|id| inline(id)).collect();
        assert!(bare.is_empty() && inline("syscall/read1"), "{bare:?}");
    }

    /// Nothing is measured, and the store has none of the two that price libc's function.
    #[test]
    fn what_the_store_has_is_priced_by_libc_without_measuring() {
        let price = |value| Estimate { value, low: value, high: value, extremes: false };
        let mut prices = Prices::default();
        prices.add("syscall/getpid_libc", price(1.0));
        prices.add("syscall/read0_pipe", price(500.0));
        bare_entry(&mut prices);
        assert!(prices.sum(tariff::ENTRY).is_some_and(|it| it.value == 1.0), "what is known stays");
        assert!(prices.of_call(&[("syscall/read0_pipe (by libc)", 1.0)]).is_some());
    }

    #[test]
    fn a_call_that_fails_has_no_price() {
        let mut prices = Prices::default();
        let calls = std::cell::Cell::new(0);
        timed("refused at once", &mut prices, || false);
        timed("refused later", &mut prices, || calls.replace(calls.get() + 1) < 1500);
        timed("allowed", &mut prices, || true);
        assert_eq!(
            ["refused at once", "refused later", "allowed"].map(|id| prices.has(id)),
            [false, false, true]
        );
    }

    #[test]
    fn files_of_a_disk_price_no_folder_in_memory() {
        assert!(
            lies_here(Some("ext4"), Some("ext4")) && lies_here(None, None) && lies_here(None, Some("tmpfs"))
        );
        assert!(!lies_here(Some("ext4"), None), "nothing can be measured here: prices are those of memory");
        assert!(!lies_here(Some("ext4"), Some("xfs")) && !lies_here(None, Some("ext4")));
    }

    #[test]
    fn a_price_is_the_mean_unless_others_had_the_cpu() {
        let estimate = |value, low, high| Estimate { value, low, high, extremes: false };
        let of = |name: &str| match name {
            "floor" => Some(estimate(100.0, 90.0, 110.0)),
            "typical" => Some(estimate(150.0, 140.0, 160.0)),
            "mean" => Some(estimate(200.0, 190.0, 210.0)),
            _ => None,
        };
        let priced = |id, marks: &[Mark]| {
            let mut prices = Prices::default();
            take(&mut prices, in_ns(marks, of).map(|price| (id, price)), marks, None);
            assert!(!prices.has(id) || prices.circumstances(&[id.to_owned()]).is_empty() == marks.is_empty());
            prices.sum(&[(id, 1.0)])
        };
        for marks in [&[][..], &[Mark::Bimodal], &[Mark::Noisy]] {
            assert_eq!(priced("syscall/read1", marks), Some(estimate(200.0, 90.0, 210.0)));
        }
        assert_eq!(priced("syscall/read1", &[Mark::Noisy, Mark::Shared]), Some(estimate(150.0, 90.0, 160.0)));
        assert_eq!(priced(GIVES_WAY, &[Mark::Shared]), None, "their turns are in it");
        assert!(priced(GIVES_WAY, &[]).is_some());
    }

    /// The floor is that of an awake CPU: as a bound it would hide every saving.
    #[test]
    fn who_wakes_an_idle_cpu_pays_for_its_sleep() {
        let estimate = |value: f64| Estimate { value, low: value * 0.9, high: value * 1.1, extremes: false };
        let of = |name: &str| match name {
            "asleep" => Some(estimate(20_000.0)),
            "floor" | "typical" | "mean" => Some(estimate(2500.0)),
            _ => None,
        };
        assert_eq!(in_ns(&[], of), Some(estimate(20_000.0)));
        assert_eq!(in_ns(&[Mark::Shared], of), Some(estimate(20_000.0)));
        // What is missing is measured with both prices, as a run measures it.
        assert_eq!(Measuring::default().idle_cpu, args::IdleCpu::Both);
    }

    #[test]
    fn a_stored_price_of_another_cpu_is_not_one_of_a_cpu_that_never_slept() {
        let folder = tempfile::tempdir().expect("a folder");
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/tests/samples/v1.json");
        let sample = oscost_results::load(Path::new(sample)).expect("a result");
        let paid = |id: &str, idle_cpu: &str, has_asleep: bool| {
            let mut result = sample.clone();
            result.conditions.idle_cpu = Some(idle_cpu.to_owned());
            result.figures.truncate(1);
            let figure = &mut result.figures[0];
            figure.id = id.to_owned();
            if has_asleep {
                let mut asleep = figure.quantities["floor"].clone();
                asleep.estimate.value *= 8.0;
                figure.quantities.insert(ASLEEP.to_owned(), asleep);
            }
            let path = folder.path().join("run.json");
            oscost_results::save_as(&path, &result).expect("room");
            let outlines = load_outlines_of(std::slice::from_ref(&path));
            is_paid(&outlines.runs[0].1.figures[0], &path, &catalogue())
        };
        let across = "context_switch/pipe/cross_cpu";
        assert!(!paid(across, "poll", false) && !paid("cpu_pair/wake_up/cross_cpu", "poll", false));
        assert!(paid(across, "halt", false) && paid(across, "both", true));
        assert!(paid("context_switch/pipe/same_cpu", "poll", false));
    }

    #[test]
    fn prices_are_measured_in_the_time_that_was_promised() {
        let all = price::needed(&[CountedRun::default()]);
        let catalogue = catalogue();
        let choices: Vec<Choice> = RATES
            .iter()
            .flat_map(|rate| tariff::figures(rate.each))
            .chain(all)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .filter_map(|id| catalogue.find(id))
            .map(|benchmark| Choice { benchmark, named: false })
            .collect();
        let effort = effort(&choices);
        assert!(choices.len() > 40 && effort.launches >= 2 && effort.deadline_ns <= MEASURING_NS);
    }
}
