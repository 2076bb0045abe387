//! What past runs of a store teach about a machine: conditions, and each launch's quantities. Reading nothing else makes it fast.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::at_once::by_all_cpus;
use crate::figure::first_revision;
use crate::format::{figures, whole};
use crate::result::first_estimators;
use crate::withdrawn::withdraw;
use crate::{
    Conditions, Evidence, Figure, LaunchRecord, LoadError, Machine, Mark, PairedValue, Plan, Refused,
    RunResult, Status, Tool,
};

/// A result without distributions, receipts and documents.
#[derive(Deserialize)]
struct PastRun {
    format: String,
    version: u32,
    #[serde(default = "first_estimators")]
    estimators: u32,
    partial: bool,
    started: String,
    duration_ns: u64,
    #[serde(default)]
    note: Option<String>,
    tool: Tool,
    machine: Machine,
    conditions: Conditions,
    plan: Plan,
    #[serde(deserialize_with = "figures")]
    figures: Vec<PastFigure>,
    #[serde(default)]
    ratios: Vec<PairedValue>,
    #[serde(default)]
    differences: Vec<PairedValue>,
}

#[derive(Deserialize)]
struct PastFigure {
    id: String,
    #[serde(default = "first_revision")]
    revision: u32,
    #[serde(default)]
    placement: String,
    status: Status,
    #[serde(default)]
    marks: Vec<Mark>,
    #[serde(default)]
    launches: Vec<PastLaunch>,
    #[serde(default)]
    evidence: PastEvidence,
}

#[derive(Deserialize)]
struct PastLaunch {
    quantities: BTreeMap<String, f64>,
    /// Of launches on two CPUs only those that were near to each other count.
    #[serde(default)]
    hop_ns: Option<f64>,
}

#[derive(Default, Deserialize)]
struct PastEvidence {
    #[serde(default)]
    tracer_pid: Option<u32>,
}

impl From<PastFigure> for Figure {
    fn from(past: PastFigure) -> Self {
        let PastFigure { id, revision, placement, status, marks, launches, evidence } = past;
        let launch = |PastLaunch { quantities, hop_ns }| LaunchRecord {
            quantities,
            hop_ns,
            ..LaunchRecord::default()
        };
        Self {
            id,
            revision,
            placement,
            status,
            marks,
            launches: launches.into_iter().map(launch).collect(),
            evidence: Evidence { tracer_pid: evidence.tracer_pid, ..Evidence::default() },
            ..Self::default()
        }
    }
}

impl From<PastRun> for RunResult {
    fn from(past: PastRun) -> Self {
        Self {
            format: past.format,
            version: past.version,
            estimators: past.estimators,
            partial: past.partial,
            started: past.started,
            duration_ns: past.duration_ns,
            note: past.note,
            tool: past.tool,
            machine: past.machine,
            conditions: past.conditions,
            plan: past.plan,
            figures: past.figures.into_iter().map(Figure::from).collect(),
            ratios: past.ratios,
            differences: past.differences,
            references: Vec::new(),
            reproductions: Vec::new(),
            bill: None,
            answers: Vec::new(),
            doctor: Vec::new(),
            warnings: Vec::new(),
            warning_codes: Vec::new(),
            unknown: serde_json::Map::new(),
        }
    }
}

fn past_from_bytes(bytes: &[u8]) -> Result<RunResult, Refused> {
    let past: PastRun = whole(bytes, |past: &PastRun| (past.format.as_str(), past.version.into()))?;
    let mut result = RunResult::from(past);
    result.upgrade();
    withdraw(&mut result);
    Ok(result)
}

/// These files of a store in their order, by all CPUs: only what a comparison learns from past runs. Everything else of a
/// result is empty. Such a result is for learning, not for showing.
#[must_use]
pub fn load_past(paths: &[PathBuf]) -> Vec<Result<RunResult, LoadError>> {
    by_all_cpus(paths, |path| load_one(path))
}

fn load_one(path: &Path) -> Result<RunResult, LoadError> {
    let bytes = crate::store::read(path, false)?;
    past_from_bytes(&bytes).map_err(|reason| LoadError::Refused { path: path.to_owned(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{from_bytes, to_bytes};

    const SAMPLES: [&[u8]; 2] =
        [include_bytes!("../tests/samples/v1.json"), include_bytes!("../tests/samples/v2.json")];

    #[test]
    fn a_past_run_says_what_its_result_says() {
        for sample in SAMPLES {
            let mut whole = from_bytes(sample).unwrap();
            let launches = whole.figures.iter_mut().flat_map(|figure| &mut figure.launches);
            launches.zip([33.0, 160.0]).for_each(|(launch, hop)| launch.hop_ns = Some(hop));
            let past = past_from_bytes(&to_bytes(&whole).unwrap()).unwrap();
            assert_eq!(past.figures.len(), whole.figures.len());
            let launches = |figure: &Figure| -> Vec<_> {
                figure.launches.iter().map(|launch| (launch.quantities.clone(), launch.hop_ns)).collect()
            };
            for (past, whole) in past.figures.iter().zip(&whole.figures) {
                assert_eq!((&past.id, past.revision, past.status), (&whole.id, whole.revision, whole.status));
                assert_eq!((&past.placement, &past.marks), (&whole.placement, &whole.marks));
                assert_eq!(past.evidence.tracer_pid, whole.evidence.tracer_pid);
                assert_eq!(launches(past), launches(whole));
            }
            assert!(past.figures.iter().any(|figure| !figure.launches.is_empty()), "launches are there");
            let left_out = |mut result: RunResult| {
                result.figures.clear();
                result.reproductions.clear();
                result.answers.clear();
                result.doctor.clear();
                result.warnings.clear();
                result.warning_codes.clear();
                result.unknown.clear();
                result
            };
            assert_eq!(left_out(past), left_out(whole));
        }
    }

    #[test]
    fn a_past_run_of_an_older_version_is_one_of_today() {
        let versions = SAMPLES.map(|sample| past_from_bytes(sample).unwrap().version);
        assert_eq!(versions, [crate::VERSION; 2]);
    }

    #[test]
    fn what_is_refused_whole_is_no_past_run() {
        for bytes in [&b"{}"[..], b"", &SAMPLES[1][..SAMPLES[1].len() / 2]] {
            assert_eq!(past_from_bytes(bytes).err(), from_bytes(bytes).err());
        }
    }
}
