//! Times two jobs on stored results: comparing two of 100 figures, and listing a store of 1000 runs.
//!
//! `cargo bench --bench stored`. It measures the core tier once, and writes 1000 runs of that size to a temporary directory.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout)] // a bench reports to standard output

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use oscost_results::{Figure, RunResult, from_bytes, save_as, to_bytes};

const PROGRAM: &str = env!("CARGO_BIN_EXE_oscost");
const LAUNCHES: usize = 10;
const TRIES: usize = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let home = tempfile::tempdir()?;
    let run = oscost(home.path(), &["run", "--quick", "--force", "--quiet", "--json", "-"]).output()?;
    let measured = as_default(from_bytes(&run.stdout)?);

    let mut hundred = measured.clone();
    let figures = measured.figures.iter().cycle().zip(0..100);
    hundred.figures = figures
        .map(|(figure, number)| Figure { id: format!("{}/{number}", figure.id), ..figure.clone() })
        .collect();
    for name in ["a.json", "b.json"] {
        save_as(&home.path().join(name), &hundred)?;
    }
    show("compare of two results of 100 figures", home.path(), &["compare", "a.json", "b.json"])?;

    // A home of its own: the run above stored one, too.
    let many = tempfile::tempdir()?;
    let runs = many.path().join("oscost/runs");
    std::fs::create_dir_all(&runs)?;
    let bytes = to_bytes(&measured)?;
    for number in 0..1000 {
        let name = format!("2026-01-{:02}T{:02}-00-00Z-{number:016x}.json", 1 + number / 40, number % 24);
        std::fs::write(runs.join(name), &bytes)?;
    }
    println!("a run has {} figures, {:.2} MB", measured.figures.len(), bytes.len() as f64 / 1e6);
    show("list of 1000 stored runs", many.path(), &["report", "@all", "--format", "text"])?;
    Ok(())
}

/// The result as one with as many launches as a run at defaults makes.
fn as_default(mut result: RunResult) -> RunResult {
    for figure in result.figures.iter_mut().filter(|figure| !figure.launches.is_empty()) {
        figure.launches = figure.launches.iter().cycle().take(LAUNCHES).cloned().collect();
    }
    result
}

fn oscost(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).current_dir(home).env("XDG_STATE_HOME", home).stdin(Stdio::null());
    command
}

/// Starts the program several times, from exec to exit.
fn show(what: &str, home: &Path, arguments: &[&str]) -> Result<(), Box<dyn std::error::Error>> {
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..TRIES {
        let start = Instant::now();
        let done = oscost(home, arguments).output()?;
        times.push(start.elapsed());
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stderr).into());
        }
    }
    times.sort_unstable();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{what}: median {:.1} ms, slowest {:.1} ms of {TRIES}",
        ms(times[TRIES / 2]),
        ms(times[TRIES - 1])
    );
    Ok(())
}
