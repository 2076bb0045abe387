//! Floors of oscost beside the same operations in a bare C loop, launch by launch in one rotation, as ratios.
//!
//! `cargo bench --bench beside_c`, on a quiet machine. It needs a C compiler (`cc`); docs/method/peers.md.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout)] // a bench reports to standard output

use std::collections::BTreeMap;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use oscost_harness::{
    Catalogue, Effort, Foreign, IdleCpu, Options, Supervisor, Tier, measure, preferred, serve_if_asked,
};
use oscost_stats::interval::{LOWER_QUARTILE, over_launches};

/// Id of ours, and the operation of the C program.
const PAIRS: &[(&str, &str)] = &[
    ("syscall/getppid", "getppid"),
    ("syscall/getpid", "getpid"),
    ("syscall/read0_devzero", "read0_devzero"),
    ("semaphore/posix_unnamed", "posix_unnamed"),
    ("semaphore/system_v", "system_v"),
    ("semaphore/eventfd", "eventfd"),
    ("lock/shared_mutex", "shared_mutex"),
    ("lock/robust_mutex", "robust_mutex"),
    ("lock/pi_mutex", "pi_mutex"),
    ("lock/rwlock_read", "rwlock_read"),
    ("lock/rwlock_write", "rwlock_write"),
    ("lock/pipe_token", "pipe_token"),
    ("lock/system_v_message", "system_v_message"),
    ("record_lock/fcntl", "fcntl"),
    ("record_lock/flock", "flock"),
];

const EFFORT: Effort = Effort { most_launches: 12, launches: 12, ..Effort::DEFAULT };

fn catalogue() -> Catalogue {
    Catalogue::new(oscost_families::all())
}

fn main() -> ExitCode {
    if let Some(code) = serve_if_asked(&catalogue) {
        return code.into();
    }
    match compare() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("SKIP beside_c: {why}");
            ExitCode::SUCCESS
        }
    }
}

fn compare() -> Result<(), String> {
    if !cfg!(target_arch = "x86_64") {
        return Err("the C loop's system calls are written for x86-64".into());
    }
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let program = directory.path().join("beside_c");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/beside_c.c");
    let compiled = Command::new("cc").args(["-O2", "-o"]).arg(&program).arg(source).arg("-pthread").status();
    if !compiled.is_ok_and(|status| status.success()) {
        return Err("no C compiler 'cc'".into());
    }
    let cpus = preferred(oscost_sys::affinity::allowed().map_err(|error| error.to_string())?);
    let contestants: Vec<Foreign> = PAIRS
        .iter()
        .map(|(_, operation)| Foreign {
            id: format!("c/{operation}"),
            title: format!("{operation} in C"),
            operation: "the same operation".into(),
            headline: ("floor".into(), "ns".into()),
            command: vec![program.display().to_string(), (*operation).to_owned()],
            environment: BTreeMap::new(),
            cpus: cpus.first().copied().into_iter().collect(),
            deadline_ns: 5_000_000_000,
            contained: oscost_harness::Contained::No,
            reader: |output| {
                let floor = output.stdout.trim().parse().map_err(|_| format!("{output:?}"))?;
                Ok(BTreeMap::from([("floor".to_owned(), floor)]))
            },
        })
        .collect();
    let patterns: Vec<String> = PAIRS.iter().map(|(id, _)| (*id).to_owned()).collect();
    let choices = catalogue().select(&patterns, Tier::Family).map_err(|error| error.to_string())?;
    let options = Options {
        effort: EFFORT,
        seed: 1,
        cpus,
        spread_cpus: Vec::new(),
        core: None,
        idle_cpu: IdleCpu::Halt,
        references: Vec::new(),
        keep_samples: false,
        expected_ns: std::collections::BTreeMap::new(),
        first: Vec::new(),
    };
    let supervisor = Supervisor::new(Arc::default()).map_err(|error| error.to_string())?;
    let measured = measure(&supervisor, &choices, &contestants, &options, &mut |_| {});
    let floor = |id: &str| {
        let figure = measured.figures.iter().find(|figure| figure.id == id)?;
        let launches: Vec<f64> =
            figure.launches.iter().filter_map(|launch| launch.quantities.get("floor").copied()).collect();
        over_launches(&launches, LOWER_QUARTILE)
    };
    println!("{:<26} {:>12} {:>12} {:>8}", "operation", "oscost ns", "C ns", "ratio");
    for (id, operation) in PAIRS {
        match (floor(id), floor(&format!("c/{operation}"))) {
            (Some(ours), Some(c)) => {
                println!("{id:<26} {:>12.3} {:>12.3} {:>8.4}", ours.value, c.value, ours.value / c.value);
            }
            _ => println!("{id:<26} could not be measured"),
        }
    }
    Ok(())
}
