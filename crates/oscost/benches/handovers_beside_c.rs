//! Hand-overs and contended locks of oscost beside an independent ring and fight in C, launch by launch in one rotation.
//!
//! `cargo bench --bench handovers_beside_c -- same_cpu` (or `cross_cpu`, `contended`), on a quiet machine. It needs a C
//! compiler (`cc`); docs/method/peers.md.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout)] // a bench reports to standard output

use std::collections::BTreeMap;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use oscost_harness::{
    Catalogue, Effort, Foreign, ForeignOutput, IdleCpu, Measured, Options, Supervisor, Tier, measure,
    preferred, serve_if_asked,
};
use oscost_results::Figure;
use oscost_stats::interval::{MEDIAN, over_launches};

/// Family of each kind, and whether it goes round in a ring (a lock) or to and fro (a token).
const KINDS: &[(&str, &str, &str)] = &[
    ("lock", "shared_mutex", "ring"),
    ("lock", "robust_mutex", "ring"),
    ("lock", "pi_mutex", "ring"),
    ("lock", "rwlock_write", "ring"),
    ("lock", "futex", "ring"),
    ("record_lock", "fcntl", "ring"),
    ("record_lock", "ofd", "ring"),
    ("record_lock", "flock", "ring"),
    ("semaphore", "posix_named", "token"),
    ("semaphore", "posix_unnamed", "token"),
    ("semaphore", "system_v", "token"),
    ("semaphore", "eventfd", "token"),
    ("lock", "pipe_token", "token"),
    ("lock", "system_v_message", "token"),
    ("lock", "condition_variable", "token"),
];
/// Kinds that are contended for, but not handed over.
const CONTENDED_ONLY: &[(&str, &str, &str)] = &[("lock", "rwlock_read", ""), ("lock", "spin", "")];
const HOLDS_US: [&str; 2] = ["1", "100"];
const WORKERS: &str = "4";

const EFFORT: Effort = Effort { most_launches: 10, launches: 10, ..Effort::DEFAULT };

fn catalogue() -> Catalogue {
    Catalogue::new(oscost_families::all())
}

fn main() -> ExitCode {
    if let Some(code) = serve_if_asked(&catalogue) {
        return code.into();
    }
    let what = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let done = match what.as_deref() {
        Some(placement @ ("same_cpu" | "cross_cpu")) => handovers(placement),
        Some("contended") => contended(),
        _ => Err("say same_cpu, cross_cpu or contended".to_owned()),
    };
    if let Err(why) = done {
        println!("SKIP handovers_beside_c: {why}");
    }
    ExitCode::SUCCESS
}

/// What is measured of ours, and the arguments of the C program for the same.
type Pair = (String, Vec<String>);

fn handovers(placement: &str) -> Result<(), String> {
    let cpus = cpus()?;
    let partners_cpu = if placement == "cross_cpu" { cpus[1] } else { cpus[0] };
    let pair = |(family, kind, way): &(&str, &str, &str)| {
        let arguments = [way, kind, &cpus[0].to_string() as &str, &partners_cpu.to_string()];
        (format!("{family}/{kind}/handover/{placement}"), arguments.map(str::to_owned).to_vec())
    };
    let pairs: Vec<Pair> = KINDS.iter().map(pair).collect();
    let measured = measured(&pairs, &cpus, &cpus[..1])?;
    println!("| id | n | ours | C, n = 1 | 2 | 8 | 64 | without end | ours / C, n = 64 |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for (id, _) in &pairs {
        let (Some(ours), Some(c)) = (found(&measured, id), found(&measured, &format!("c/{id}"))) else {
            println!("| {id} | could not be measured |");
            continue;
        };
        let Some(typical) = middle(ours, "typical") else {
            println!("| {id} | {} |", ours.why.as_deref().unwrap_or("no figure"));
            continue;
        };
        let n = ours.launches.first().map_or(0, |launch| launch.iterations);
        let c: Vec<Option<f64>> =
            ["n_1", "n_2", "n_8", "n_64", "endless"].iter().map(|name| middle(c, name)).collect();
        let cells: Vec<String> =
            c.iter().map(|ns| ns.map_or("-".to_owned(), |ns| format!("{ns:.0}"))).collect();
        let ratio = c[3].map_or("-".to_owned(), |c| format!("{:.3}", typical / c));
        println!("| {id} | {n} | {typical:.0} | {} | {ratio} |", cells.join(" | "));
    }
    Ok(())
}

fn contended() -> Result<(), String> {
    let cpus = cpus()?;
    let mut pairs: Vec<Pair> = Vec::new();
    for (family, kind, _) in KINDS.iter().chain(CONTENDED_ONLY) {
        for hold in HOLDS_US {
            let id = format!("{family}/{kind}/contended/processes_{WORKERS}/hold_us_{hold}/think_0");
            let mut arguments = vec!["fight".into(), (*kind).to_owned(), hold.to_owned(), WORKERS.to_owned()];
            arguments.extend(cpus.iter().map(ToString::to_string));
            pairs.push((id, arguments));
        }
    }
    let measured = measured(&pairs, &cpus, &cpus)?;
    println!("| id | ours | C | ours / C |");
    println!("|---|---|---|---|");
    for (id, _) in &pairs {
        let ours = found(&measured, id).and_then(|figure| middle(figure, "time_per_operation"));
        let c = found(&measured, &format!("c/{id}")).and_then(|figure| middle(figure, "n_1"));
        match ours.zip(c) {
            Some((ours, c)) => println!("| {id} | {ours:.0} | {c:.0} | {:.3} |", ours / c),
            None => println!("| {id} | could not be measured |"),
        }
    }
    Ok(())
}

/// The CPUs in the order of preference: two at least.
fn cpus() -> Result<Vec<usize>, String> {
    let cpus = preferred(oscost_sys::affinity::allowed().map_err(|error| error.to_string())?);
    if cpus.len() < 2 { Err("it needs two CPUs".to_owned()) } else { Ok(cpus) }
}

/// Launches both sides of the pairs in one rotation; the C program may run on `allowed`, and places itself.
fn measured(pairs: &[Pair], cpus: &[usize], allowed: &[usize]) -> Result<Measured, String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let program = directory.path().join("handovers_beside_c");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/handovers_beside_c.c");
    let compiled = Command::new("cc").args(["-O2", "-o"]).arg(&program).arg(source).arg("-pthread").status();
    if !compiled.is_ok_and(|status| status.success()) {
        return Err("no C compiler 'cc'".into());
    }
    let contestant = |(id, arguments): &Pair| Foreign {
        id: format!("c/{id}"),
        title: format!("{id} in C"),
        operation: "the same operation".into(),
        headline: ("n_1".into(), "ns".into()),
        command: std::iter::once(program.display().to_string()).chain(arguments.iter().cloned()).collect(),
        environment: BTreeMap::new(),
        cpus: allowed.to_vec(),
        deadline_ns: 5_000_000_000,
        contained: oscost_harness::Contained::No,
        reader: printed,
    };
    let contestants: Vec<Foreign> = pairs.iter().map(contestant).collect();
    let patterns: Vec<String> = pairs.iter().map(|(id, _)| id.clone()).collect();
    let choices = catalogue().select(&patterns, Tier::Family).map_err(|error| error.to_string())?;
    let options = Options {
        effort: EFFORT,
        seed: 1,
        cpus: cpus.to_vec(),
        spread_cpus: Vec::new(),
        idle_cpu: IdleCpu::Halt,
        core: None,
        references: Vec::new(),
        keep_samples: false,
        expected_ns: std::collections::BTreeMap::new(),
        first: Vec::new(),
    };
    let supervisor = Supervisor::new(Arc::default()).map_err(|error| error.to_string())?;
    Ok(measure(&supervisor, &choices, &contestants, &options, &mut |_| {}))
}

/// Least and median for each size of a batch, and the batch without end; of a fight one number, which is called `n_1`.
fn printed(output: &ForeignOutput) -> Result<BTreeMap<String, f64>, String> {
    let numbers: Result<Vec<f64>, _> = output.stdout.split_whitespace().map(str::parse).collect();
    let names = match numbers.as_deref() {
        Ok([_]) => &["n_1"] as &[&str],
        Ok([_, _, _, _, _, _, _, _, _]) => {
            &["least_1", "n_1", "least_2", "n_2", "least_8", "n_8", "least_64", "n_64", "endless"]
        }
        _ => return Err(format!("{output:?}")),
    };
    Ok(names.iter().map(|name| (*name).to_owned()).zip(numbers.unwrap_or_default()).collect())
}

fn found<'a>(measured: &'a Measured, id: &str) -> Option<&'a Figure> {
    measured.figures.iter().find(|figure| figure.id == id)
}

/// The median over launches of a quantity.
fn middle(figure: &Figure, quantity: &str) -> Option<f64> {
    let launches: Vec<f64> =
        figure.launches.iter().filter_map(|launch| launch.quantities.get(quantity).copied()).collect();
    over_launches(&launches, MEDIAN).map(|interval| interval.value)
}
