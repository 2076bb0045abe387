//! Draws wrong programs from the source by a seed, builds them all at once behind switches, and counts which ones the
//! tests notice.

mod compile;
mod sites;
mod splice;
mod tree;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use splice::Numbered;
use tree::Mutant;
use trial::End;

/// A part of the source, the packages whose tests must notice what is wrong in it, and the share that must be noticed.
struct Area {
    name: &'static str,
    krate: &'static str,
    folders: &'static [&'static str],
    packages: &'static [&'static str],
    least: f64,
}

const AREAS: [Area; 6] = [
    Area {
        name: "stats",
        krate: "crates/stats",
        folders: &["crates/stats/src"],
        packages: &["oscost-stats"],
        least: 0.95,
    },
    Area {
        name: "results",
        krate: "crates/results",
        folders: &["crates/results/src"],
        packages: &["oscost-results"],
        least: 0.95,
    },
    Area {
        name: "harness",
        krate: "crates/harness",
        folders: &["crates/harness/src"],
        packages: &["oscost-harness"],
        least: 0.90,
    },
    Area {
        name: "recorddb",
        krate: "crates/recorddb",
        folders: &["crates/recorddb/src"],
        packages: &["oscost-recorddb"],
        least: 0.90,
    },
    Area {
        name: "report",
        krate: "crates/report",
        folders: &[
            "crates/report/src/judge",
            "crates/report/src/numbers.rs",
            "crates/report/src/view/history.rs",
        ],
        packages: &["oscost-report"],
        least: 0.90,
    },
    Area {
        name: "documents",
        krate: "crates/documents",
        folders: &[
            "crates/documents/src/apue/model.rs",
            "crates/documents/src/apue/statements.rs",
            "crates/documents/src/context_switch/statements.rs",
            "crates/documents/src/found.rs",
            "crates/documents/src/grame/statements",
            "crates/documents/src/ostep.rs",
            "crates/documents/src/tlpi/contention.rs",
            "crates/documents/src/tlpi/statements.rs",
        ],
        packages: &["oscost-documents"],
        least: 0.90,
    },
];

const HELP: &str = "\
contrib/mutants/run [OPTIONS] [AREA]...

Draws mutants of AREAs (stats results harness recorddb report documents; all by default), builds them once,
and runs the tests that reach each. A survivor is a wrong program that every test accepts. Survivors that
contrib/mutants/alike.md argues are equivalent do not count.

  --count N        mutants to draw in each area (50)
  --seed N         seed of the draw (1)
  --changed REV    only files that changed since this revision
  --minutes N      start no new mutant of an area after N minutes, its build not counted (60)
  --least PERCENT  share that must be killed (90, and 95 for stats and results)
  --jobs N         tests at a time (2)
  --work DIR       folder for the changed tree (set by `run`)
  --target DIR     folder of the build, in which nobody else builds: cargo takes a changed crate for the same one

Exit code 1 where an area stays below its share, 2 for an error.
";

struct Options {
    areas: Vec<&'static Area>,
    count: usize,
    seed: u64,
    changed: Option<String>,
    minutes: u64,
    least: Option<f64>,
    jobs: usize,
    work: PathBuf,
    target: Option<PathBuf>,
}

fn options() -> Result<Option<Options>, String> {
    let mut chosen = Options {
        areas: Vec::new(),
        count: 50,
        seed: 1,
        changed: None,
        minutes: 60,
        least: None,
        jobs: 2,
        work: PathBuf::from("target/mutants"),
        target: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        let number =
            |text: String| text.parse::<u64>().map_err(|_| format!("{word}: '{text}' is no whole number"));
        match word.as_str() {
            "--help" | "-h" => return Ok(None),
            "--count" => chosen.count = number(value()?)? as usize,
            "--seed" => chosen.seed = number(value()?)?,
            "--changed" => chosen.changed = Some(value()?),
            "--minutes" => chosen.minutes = number(value()?)?,
            "--least" => chosen.least = Some(number(value()?)? as f64 / 100.0),
            "--jobs" => chosen.jobs = (number(value()?)? as usize).max(1),
            "--work" => chosen.work = PathBuf::from(value()?),
            "--target" => chosen.target = Some(PathBuf::from(value()?)),
            name => match AREAS.iter().find(|area| area.name == name) {
                Some(area) => chosen.areas.push(area),
                None => return Err(format!("'{name}' is neither an option nor an area; see --help")),
            },
        }
    }
    if chosen.areas.is_empty() {
        chosen.areas = AREAS.iter().collect();
    }
    Ok(Some(chosen))
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("mutants: {error}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("mutants: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<bool, String> {
    let start = Instant::now();
    let root = std::env::current_dir().map_err(|error| error.to_string())?;
    let argued = argued(&root);
    let mut good = true;
    let mut rows = Vec::new();
    for area in &options.areas {
        let drawn = draw(area, options, &root)?;
        if drawn.is_empty() {
            println!("{}: no mutants: none of its files changed", area.name);
            continue;
        }
        let (row, enough) = one_area(area, drawn, options, &root, &argued, start)?;
        good &= enough;
        rows.push(row);
    }
    println!(
        "\n| area | sites drawn | compile | killed | by a time limit | survived | argued equivalent | killed of the rest |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for row in rows {
        println!("{row}");
    }
    Ok(good)
}

/// A survivor that contrib/mutants/alike.md argues: file, source before, source after, and what its line holds where the same source
/// stands on several.
struct Argued {
    file: String,
    before: String,
    after: String,
    line: Option<String>,
}

impl Argued {
    fn speaks_of(&self, file: &str, (before, after): (&str, &str), line: &str) -> bool {
        (self.file.as_str(), self.before.as_str(), self.after.as_str()) == (file, before, after)
            && self.line.as_ref().is_none_or(|part| line.contains(part))
    }
}

fn argued(root: &Path) -> Vec<Argued> {
    let text = std::fs::read_to_string(root.join("contrib/mutants/alike.md")).unwrap_or_default();
    let row = |line: &str| -> Option<Argued> {
        // Cells hold code between backticks: split there, not at bars, which are operators too.
        let code: Vec<&str> = line.strip_prefix("| `")?.split('`').step_by(2).collect();
        let part = |index: usize| code.get(index).map(|&part| part.to_owned());
        Some(Argued { file: part(0)?, before: part(1)?, after: part(2)?, line: part(3) })
    };
    text.lines().filter_map(row).collect()
}

fn changed_files(root: &Path, since: &str) -> Result<BTreeSet<PathBuf>, String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(["diff", "--name-only", since])
        .output()
        .map_err(|error| format!("git: {error}"))?;
    if !output.status.success() {
        return Err(format!("git knows no revision '{since}'"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(PathBuf::from).collect())
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if folder.is_file() {
        into.push(folder.to_path_buf());
        return Ok(());
    }
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            sources(&entry, into)?;
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            into.push(entry);
        }
    }
    Ok(())
}

/// Whether a whole file is a module of tests or a helper of theirs, or is not compiled on Linux: its `mod` says so elsewhere.
fn is_left_out(file: &Path, source: &str) -> bool {
    const HELPERS: [&str; 5] = [
        "crates/recorddb/src/faults.rs",
        "crates/recorddb/src/faults/planned.rs",
        "crates/results/src/killed.rs",
        "crates/results/src/place/other.rs",
        "crates/results/src/schema.rs",
    ];
    file.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
        || source.contains("\n#![cfg(test)]")
        || HELPERS.iter().any(|helper| file == Path::new(helper))
}

fn draw(area: &Area, options: &Options, root: &Path) -> Result<Vec<Mutant>, String> {
    let mut files = Vec::new();
    for folder in area.folders {
        sources(&root.join(folder), &mut files).map_err(|error| format!("{folder}: {error}"))?;
    }
    let changed = options.changed.as_deref().map(|since| changed_files(root, since)).transpose()?;
    let mut all = Vec::new();
    for path in files {
        let file = path.strip_prefix(root).map_err(|error| error.to_string())?.to_path_buf();
        if changed.as_ref().is_some_and(|changed| !changed.contains(&file)) {
            continue;
        }
        let source =
            std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        if is_left_out(&file, &source) {
            continue;
        }
        let sites = sites::of_file(&source).map_err(|error| format!("{}: {error}", path.display()))?;
        all.extend(sites.into_iter().map(|site| (file.clone(), site)));
    }
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(options.seed);
    let count = options.count.min(all.len());
    for index in 0..count {
        let other = index + (generator.next_u64() % (all.len() - index) as u64) as usize;
        all.swap(index, other);
    }
    all.truncate(count);
    let drawn = all.into_iter().zip(1..);
    Ok(drawn.map(|((file, site), number)| Mutant { file, numbered: Numbered { number, site } }).collect())
}

fn one_area(
    area: &Area,
    mut mutants: Vec<Mutant>,
    options: &Options,
    root: &Path,
    argued: &[Argued],
    start: Instant,
) -> Result<(String, bool), String> {
    let words = |error: std::io::Error| error.to_string();
    let drawn = mutants.len();
    let tree = options.work.join("tree");
    let target = options.target.clone().unwrap_or_else(|| options.work.join("build"));
    let programs = loop {
        tree::copy(root, &tree).map_err(words)?;
        let places = tree::write(root, &tree, &[PathBuf::from(area.krate)], &mutants).map_err(words)?;
        match compile::tests(&tree, &target, area.packages, &places).map_err(words)? {
            compile::Built::Programs(programs) => break programs,
            compile::Built::Refused(refused) => mutants.retain(|it| !refused.contains(&it.numbered.number)),
        }
    };
    let built = start.elapsed();
    let (tests, unfit) = trial::trace(&programs, &options.work, options.jobs).map_err(words)?;
    println!(
        "{}: {} of {drawn} compile, {} tests, built after {:.0} s, traced after {:.0} s",
        area.name,
        mutants.len(),
        tests.len(),
        built.as_secs_f64(),
        start.elapsed().as_secs_f64()
    );
    for name in &unfit {
        println!("  left out, fails or takes too long without a mutant: {name}");
    }
    let ends = judge_all(&mutants, &tests, options);
    let (mut counts, mut excused) = (BTreeMap::<&str, usize>::new(), 0);
    for (mutant, end) in mutants.iter().zip(&ends) {
        let Some(end) = end else { continue };
        let name = match end {
            End::Killed => "killed",
            End::Timeout => "timeout",
            End::Survived | End::NotReached => "survived",
        };
        *counts.entry(name).or_default() += 1;
        if name == "survived" {
            let source = std::fs::read_to_string(root.join(&mutant.file)).map_err(words)?;
            let (before, after) = mutant.numbered.site.words(&source);
            let file = mutant.file.display().to_string();
            let line = source.lines().nth(mutant.numbered.site.line - 1).unwrap_or_default();
            let known = argued.iter().any(|it| it.speaks_of(&file, (&before, &after), line));
            excused += usize::from(known);
            let how = match (known, end) {
                (true, _) => "argued",
                (false, End::NotReached) => "NO TEST REACHES",
                (false, _) => "SURVIVED",
            };
            println!("  {how}: {file}:{} `{before}` -> `{after}`", mutant.numbered.site.line);
        }
    }
    let count = |name: &str| counts.get(name).copied().unwrap_or(0);
    let judged = count("killed") + count("timeout") + count("survived") - excused;
    let share = (count("killed") + count("timeout")) as f64 / judged.max(1) as f64;
    let left = ends.iter().filter(|end| end.is_none()).count();
    if left > 0 {
        println!("  {left} mutants were not tried: the time is over");
    }
    let row = format!(
        "| {} | {drawn} | {} | {} | {} | {} | {excused} | {:.1} % |",
        area.name,
        mutants.len() - left,
        count("killed"),
        count("timeout"),
        count("survived"),
        share * 100.0
    );
    Ok((row, judged == 0 || share >= options.least.unwrap_or(area.least)))
}

/// The end of each mutant, `None` where the time was over.
fn judge_all(mutants: &[Mutant], tests: &[trial::Test], options: &Options) -> Vec<Option<End>> {
    let ends: Vec<Mutex<Option<End>>> = mutants.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let (start, until) = (Instant::now(), Duration::from_secs(60 * options.minutes));
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                while start.elapsed() < until {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let (Some(mutant), Some(end)) = (mutants.get(index), ends.get(index)) else { break };
                    let found = trial::judge(mutant.numbered.number, tests);
                    if let Ok(mut end) = end.lock() {
                        *end = Some(found);
                    }
                }
            });
        }
    });
    ends.into_iter().map(|end| end.into_inner().unwrap_or(None)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row that speaks of source that is gone, or of a line that is none of its file, would never match.
    #[test]
    fn every_row_speaks_of_source_that_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let rows = argued(&root);
        assert!(rows.len() > 100, "{}", rows.len());
        for Argued { file, before, line, .. } in rows {
            let source =
                std::fs::read_to_string(root.join(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            let holds =
                |text: &str| text.contains(&before) && line.as_ref().is_none_or(|part| text.contains(part));
            assert!(
                source.lines().any(holds) || (line.is_none() && holds(&source)),
                "{file}: {before} {line:?}"
            );
        }
    }
}
