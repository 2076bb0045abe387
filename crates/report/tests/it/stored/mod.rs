//! Reads `launches.txt` (format: `contrib/verdicts/collect.py`): runs of this project's test machine, sitting by sitting.

use std::sync::OnceLock;

use oscost_results::{Figure, LaunchRecord, Mark, PairedValue, Quantity, Reference, RunResult, Status};

use crate::fixture;

/// Figures that stay out of the kernel; all others are taken to call it once an operation.
const OUTSIDE: [&str; 7] = [
    "clock/monotonic",
    "clock/monotonic_coarse",
    "clock/realtime",
    "clock/gettimeofday",
    "clock/tsc",
    "semaphore/posix_named",
    "semaphore/posix_unnamed",
];

const LAUNCHES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stored/launches.txt");

/// Runs of one stretch of time, in the order in which they were made.
#[derive(Clone)]
pub struct Sitting {
    pub name: String,
    pub runs: Vec<RunResult>,
}

impl Sitting {
    /// How the machine was: the first part of the name.
    pub fn kind(&self) -> &str {
        self.name.split('_').next().unwrap()
    }

    pub fn is(&self, kind: &str) -> bool {
        self.kind() == kind
    }
}

/// All stored sittings, in the order of the file, which is read once for all tests.
pub fn sittings() -> &'static [Sitting] {
    static SITTINGS: OnceLock<Vec<Sitting>> = OnceLock::new();
    SITTINGS.get_or_init(|| sittings_of(LAUNCHES))
}

/// The sittings of a file.
pub fn sittings_of(path: &str) -> Vec<Sitting> {
    let mut template = fixture::result();
    let figure = template.figures.iter().find(|figure| figure.id == "clock/monotonic").unwrap().clone();
    let pair = template.ratios.first().unwrap().clone();
    template.figures.clear();
    template.ratios.clear();
    template.differences.clear();
    template.conditions.boot_id = Some("one boot".into());
    let mut all: Vec<Sitting> = Vec::new();
    let launches = std::fs::read_to_string(path).unwrap();
    for (line, number) in launches.lines().zip(0..) {
        let words: Vec<&str> = line.split(' ').collect();
        let run = all.last_mut().and_then(|sitting| sitting.runs.last_mut());
        match (words[0], run) {
            ("R", _) => {
                let mut result = template.clone();
                words[2].clone_into(&mut result.started);
                result.plan.seed = number;
                result.conditions.clock_step_ns = Some(words[3].parse().unwrap());
                if all.last().is_none_or(|sitting| sitting.name != words[1]) {
                    all.push(Sitting { name: words[1].to_owned(), runs: Vec::new() });
                }
                all.last_mut().unwrap().runs.push(result);
            }
            ("F", Some(result)) => {
                let new = figure_of(&figure, &words, &result.figures);
                result.figures.push(new);
            }
            ("P", Some(result)) => {
                let of_figures = |id: &str| result.figures.iter().any(|figure| figure.id == id);
                if of_figures(words[1]) && of_figures(words[2]) {
                    result.ratios.push(pair_of(&pair, &words));
                }
            }
            ("W", Some(result)) => result.references.push(reference_of(&words)),
            other => panic!("{line}: {:?}", other.0),
        }
    }
    all
}

/// Values of the launches, in their order; `None` where a launch has none.
fn values(text: &str) -> Vec<Option<f64>> {
    text.split(',').map(|value| (!value.is_empty()).then(|| value.parse().unwrap())).collect()
}

/// What launches of a figure before this one say of the machine: "same" stands for what the last figure that has it has.
fn before(figures: &[Figure], name: &str) -> Vec<Option<f64>> {
    let of = |figure: &Figure| -> Vec<Option<f64>> {
        let machine = |launch: &LaunchRecord| if name == "chain" { launch.chain_ns } else { launch.hop_ns };
        figure.launches.iter().map(machine).collect()
    };
    figures.iter().rev().map(of).find(|values| values.iter().any(Option::is_some)).unwrap()
}

fn figure_of(template: &Figure, words: &[&str], earlier: &[Figure]) -> Figure {
    let mut figure = template.clone();
    figure.id = words[1].to_owned();
    figure.placement = words[2].to_owned();
    figure.judged = words[3].to_owned();
    figure.status = Status::Measured;
    let marks = |mark| match mark {
        "busy_sibling" => Mark::BusySibling,
        "shared" => Mark::Shared,
        other => panic!("{other}"),
    };
    figure.marks = words[4].split(',').filter(|mark| *mark != "-").map(marks).collect();
    figure.operations_per_iteration = 1;
    figure.evidence.audit_method = Some("ptrace".to_owned());
    figure.evidence.system_calls.clear();
    if !OUTSIDE.contains(&words[1]) {
        figure.evidence.system_calls.insert("a call".to_owned(), 1.0);
    }
    let batch: u64 = words[5].parse().unwrap();
    let unit: Quantity = figure.quantities["floor"].clone();
    figure.quantities.clear();
    figure.launches.clear();
    for (name, text) in words[6..].iter().map(|word| word.split_once('=').unwrap()) {
        let of_launches = if text == "same" { before(earlier, name) } else { values(text) };
        for (value, sequence) in of_launches.into_iter().zip(0..) {
            let at = sequence as usize;
            if figure.launches.len() <= at {
                figure.launches.push(LaunchRecord { sequence, iterations: batch, ..LaunchRecord::default() });
            }
            let launch = &mut figure.launches[at];
            if name == "chain" {
                launch.chain_ns = value;
            } else if name == "hop" {
                launch.hop_ns = value;
            } else if let Some(value) = value {
                launch.quantities.insert(name.to_owned(), value);
            }
        }
        if !["chain", "hop"].contains(&name) {
            figure.quantities.insert(name.to_owned(), unit.clone());
        }
    }
    figure.quantities.entry("floor".to_owned()).or_insert(unit);
    // What slept in no launch has no price asleep.
    let sleeps = words[2] == "cross_cpu" && words[1] != "context_switch/pipe_alone/cross_cpu";
    figure.evidence.voluntary_switches = Some(f64::from(u8::from(sleeps)));
    figure
}

fn reference_of(words: &[&str]) -> Reference {
    let values = |word: &&str| {
        let (name, text) = word.split_once('=').unwrap();
        (name.to_owned(), values(text).into_iter().flatten().collect())
    };
    Reference {
        id: words[1].to_owned(),
        placement: words[2].to_owned(),
        enters_kernel: words[3] == "1",
        launches: words[4..].iter().map(values).collect(),
        ..Reference::default()
    }
}

fn pair_of(template: &PairedValue, words: &[&str]) -> PairedValue {
    let [of, to, quantity, unit] = [1, 2, 3, 4].map(|word| words[word].to_owned());
    let launches = values(words[5]).into_iter().flatten().collect();
    PairedValue { of, to, quantity, unit, launches, ..template.clone() }
}
