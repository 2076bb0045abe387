//! The outline of a run for long lists: who, where, and the quoted values, without launches and distributions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer};

use crate::at_once::by_all_cpus;
use crate::figure::first_revision;
use crate::format::whole;
use crate::result::first_estimators;
use crate::withdrawn::withdraw_outline;
use crate::{Emulation, Estimate, LoadError, Machine, Mark, ReferenceError, Refused, Status, Store};

/// A result in outline, with as much of its figures as `F` has. Everything else of the file is skipped, not kept.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(bound(deserialize = "F: Deserialize<'de>"))]
pub struct Outline<F = OutlineFigure> {
    pub(crate) format: String,
    pub(crate) version: u64,
    /// By which estimators launches were put together.
    #[serde(default = "first_estimators")]
    pub estimators: u32,
    /// The run was ended before its plan was.
    pub partial: bool,
    /// When the run started, RFC 3339 in UTC.
    pub started: String,
    /// How long the run took, in ns of the monotonic clock.
    #[serde(default)]
    pub duration_ns: u64,
    /// What the user said of this run.
    #[serde(default)]
    pub note: Option<String>,
    /// Version of the program.
    pub tool: OutlineTool,
    /// Hardware.
    pub machine: Machine,
    /// System.
    pub conditions: OutlineConditions,
    /// What was asked for.
    pub plan: OutlinePlan,
    /// The figures.
    #[serde(deserialize_with = "crate::format::figures")]
    pub figures: Vec<F>,
    /// Figures that are divided, and by which.
    #[serde(default)]
    pub ratios: Vec<OutlinePair>,
    /// Figures from which others are subtracted, and which.
    #[serde(default)]
    pub differences: Vec<OutlinePair>,
    /// Founding documents that it was held against, each once.
    #[serde(default, rename = "reproductions", deserialize_with = "documents")]
    pub documents: BTreeSet<String>,
    /// The bill, where it is one.
    #[serde(default)]
    pub bill: Option<OutlineBill>,
}

/// See [`crate::bill::Bill`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct OutlineBill {
    /// The program and its arguments; of one that was already running, its name alone.
    pub program: Vec<String>,
}

/// The documents of reproductions, which are hundreds.
fn documents<'de, D: Deserializer<'de>>(reproductions: D) -> Result<BTreeSet<String>, D::Error> {
    #[derive(Deserialize)]
    struct OfDocument {
        document: String,
    }
    Ok(Vec::<OfDocument>::deserialize(reproductions)?.into_iter().map(|row| row.document).collect())
}

/// See [`crate::PairedValue`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct OutlinePair {
    /// Id of the first figure.
    pub of: String,
    /// Id of the figure that divides, or is subtracted.
    pub to: String,
}

/// See [`crate::Tool`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct OutlineTool {
    /// Version of oscost.
    pub version: String,
    /// Identity of the build.
    #[serde(default)]
    pub build_id: String,
    /// C library.
    #[serde(default)]
    pub libc: String,
}

/// See [`crate::Conditions`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct OutlineConditions {
    /// Operating system and release.
    pub kernel: String,
    /// Revision of the processor's microcode.
    #[serde(default)]
    pub microcode: Option<String>,
    /// Which boot of the kernel this was.
    #[serde(default)]
    pub boot_id: Option<String>,
    /// Seccomp mode of the program.
    #[serde(default)]
    pub seccomp_mode: Option<u32>,
    /// Kind of file system that measured files lie on; absent: in memory, or none were measured.
    #[serde(default)]
    pub file_system: Option<String>,
    /// What emulated the machine, where instructions were counted.
    #[serde(default)]
    pub emulation: Option<Emulation>,
}

/// See [`crate::Plan`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct OutlinePlan {
    /// "default", "quick" or "thorough".
    pub effort: String,
    /// Seed of every random order in the run.
    #[serde(default)]
    pub seed: u64,
}

/// See [`crate::Figure`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct OutlineFigure {
    /// Path of the benchmark.
    pub id: String,
    /// Revision of its card; absent: 1.
    #[serde(default = "first_revision")]
    pub revision: u32,
    /// State of the figure.
    pub status: Status,
    /// Marks of the figure.
    #[serde(default)]
    pub marks: Vec<Mark>,
    /// Quantity that is quoted.
    #[serde(default)]
    pub headline: String,
    /// Estimates over launches.
    #[serde(default)]
    pub quantities: BTreeMap<String, OutlineQuantity>,
    /// What was counted.
    #[serde(default)]
    pub evidence: OutlineEvidence,
}

/// See [`crate::Evidence`].
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct OutlineEvidence {
    /// Page faults per operation.
    #[serde(default)]
    pub faults: Option<f64>,
    /// Claim by claim.
    #[serde(default)]
    pub claims: Vec<OutlineClaim>,
}

/// See [`crate::CheckedClaim`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct OutlineClaim {
    /// What is claimed.
    pub claim: String,
    /// What was counted.
    #[serde(default)]
    pub observed: Option<f64>,
}

/// See [`crate::Quantity`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct OutlineQuantity {
    /// The estimate.
    #[serde(default)]
    pub value: Option<f64>,
    /// Lower bound.
    #[serde(default)]
    pub low: Option<f64>,
    /// Upper bound.
    #[serde(default)]
    pub high: Option<f64>,
    /// The bounds are the extremes of few launches.
    #[serde(default)]
    pub extremes: bool,
    /// Unit.
    pub unit: String,
}

impl<F> Outline<F> {
    /// Which run this is: the same for every copy of its result, and another for any other run.
    #[must_use]
    pub fn result_id(&self) -> ResultId {
        let boot = self.conditions.boot_id.as_deref().unwrap_or_default();
        let numbers = [self.duration_ns, self.plan.seed].map(u64::to_le_bytes);
        let texts = [self.started.as_bytes(), boot.as_bytes(), self.tool.build_id.as_bytes()];
        let parts =
            texts.into_iter().flat_map(|text| text.iter().chain(&[0xff])).chain(numbers.as_flattened());
        // FNV-1a, 64 bits. The duration in ns and the seed alone tell runs apart.
        ResultId(parts.fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }
}

/// Which run a result is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResultId(u64);

impl std::fmt::Display for ResultId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl OutlineFigure {
    /// The quoted estimate with its unit, if it was measured.
    #[must_use]
    pub fn quoted(&self) -> Option<(Estimate, &str)> {
        let name = if self.headline.is_empty() { "floor" } else { &self.headline };
        let quantity = self.quantities.get(name).filter(|_| self.status == Status::Measured)?;
        let (value, low, high) = (quantity.value?, quantity.low?, quantity.high?);
        Some((Estimate { value, low, high, extremes: quantity.extremes }, &quantity.unit))
    }
}

/// The outline of the result in `bytes`.
///
/// # Errors
/// [`Refused`] with the reason, as for the whole result.
pub fn outline_from_bytes(bytes: &[u8]) -> Result<Outline, Refused> {
    let mut outline: Outline = whole(bytes, |outline: &Outline| (&outline.format, outline.version))?;
    withdraw_outline(&mut outline);
    Ok(outline)
}

/// Outlines of many runs, and the files that could not be used.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Outlines {
    /// Path and outline; of a whole store, the oldest first.
    pub runs: Vec<(PathBuf, Outline)>,
    /// Damaged files in the store: to be reported, and no reason to show nothing.
    pub unusable: Vec<LoadError>,
}

/// The outlines of every run of the user's store, read by all CPUs.
///
/// # Errors
/// There is no store, or nothing in it.
pub fn load_outlines() -> Result<Outlines, ReferenceError> {
    outlines_of(&Store::of_user()?)
}

fn outlines_of(store: &Store) -> Result<Outlines, ReferenceError> {
    Ok(load_outlines_of(&store.resolve("@all")?))
}

/// The outlines of these files of a store, in their order, read by all CPUs.
#[must_use]
pub fn load_outlines_of(paths: &[PathBuf]) -> Outlines {
    let mut outlines = Outlines::default();
    for (path, outline) in paths.iter().zip(by_all_cpus(paths, |path: &PathBuf| load_outline(path))) {
        match outline {
            Ok(outline) => outlines.runs.push((path.clone(), outline)),
            Err(error) => outlines.unusable.push(error),
        }
    }
    outlines
}

fn load_outline(path: &Path) -> Result<Outline, LoadError> {
    let bytes = crate::store::read(path, false)?;
    outline_from_bytes(&bytes).map_err(|reason| LoadError::Refused { path: path.to_owned(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::from_bytes;

    const SAMPLE: &[u8] = include_bytes!("../tests/samples/v1.json");

    #[test]
    fn an_outline_says_what_the_result_says() {
        let (whole, outline) = (from_bytes(SAMPLE).unwrap(), outline_from_bytes(SAMPLE).unwrap());
        assert_eq!(outline.started, whole.started);
        assert_eq!(outline.note, whole.note);
        assert_eq!((&outline.machine, outline.estimators), (&whole.machine, whole.estimators));
        assert!(whole.reproductions.iter().all(|row| outline.documents.contains(&row.document)));
        assert_eq!(outline.documents.is_empty(), whole.reproductions.is_empty());
        assert_eq!(outline.figures.len(), whole.figures.len());
        for (short, figure) in outline.figures.iter().zip(&whole.figures) {
            assert_eq!(short.id, figure.id);
            let quoted =
                figure.quantities.get(&figure.headline).filter(|_| figure.status == Status::Measured);
            assert_eq!(short.quoted().map(|quoted| quoted.0), quoted.map(|quantity| quantity.estimate));
        }
    }

    #[test]
    fn what_is_refused_whole_is_refused_in_outline() {
        assert!(matches!(outline_from_bytes(b""), Err(Refused::Damaged { .. })));
        let mut cut = SAMPLE.to_vec();
        cut.truncate(SAMPLE.len() / 2);
        assert_eq!(outline_from_bytes(&cut).map(|_| ()), from_bytes(&cut).map(|_| ()));
    }

    #[test]
    fn what_is_quoted_is_the_headline_of_a_measured_figure() {
        let quantity = |value, high| OutlineQuantity {
            value: Some(value),
            low: Some(1.0),
            high,
            extremes: true,
            unit: "ns".to_owned(),
        };
        let mut figure = OutlineFigure {
            id: "a".to_owned(),
            revision: 1,
            status: Status::Measured,
            marks: Vec::new(),
            headline: "median".to_owned(),
            quantities: BTreeMap::from([
                ("floor".to_owned(), quantity(2.0, Some(3.0))),
                ("median".to_owned(), quantity(5.0, Some(6.0))),
            ]),
            evidence: OutlineEvidence::default(),
        };
        let of = |value, high| Some((Estimate { value, low: 1.0, high, extremes: true }, "ns"));
        assert_eq!(figure.quoted(), of(5.0, 6.0));
        figure.headline.clear();
        assert_eq!(figure.quoted(), of(2.0, 3.0), "the first results had no other");
        figure.quantities.insert("floor".to_owned(), quantity(2.0, None));
        assert_eq!(figure.quoted(), None, "no interval, no estimate");
        figure.quantities.insert("floor".to_owned(), quantity(2.0, Some(3.0)));
        for status in [Status::Withdrawn, Status::Failed, Status::Unknown] {
            figure.status = status;
            assert_eq!(figure.quoted(), None, "{status:?}");
        }
    }

    #[test]
    fn every_run_of_a_store_has_an_outline_in_the_order_of_their_age() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::at(home.path());
        assert!(matches!(outlines_of(&store), Err(ReferenceError::TooFew { .. })));
        let result = from_bytes(SAMPLE).unwrap();
        for second in 10..23 {
            let name = crate::RunName::of_file(&format!("2026-11-20T23-14-{second}Z-9f2c41d0.json"), ".json");
            let note = Some(second.to_string());
            store.save(&name.unwrap(), &crate::RunResult { note, ..result.clone() }).unwrap();
        }
        let runs = store.runs().unwrap();
        std::fs::write(&runs[4], "damaged").unwrap();
        let outlines = outlines_of(&store).unwrap();
        let notes: Vec<_> = outlines.runs.iter().filter_map(|(_, outline)| outline.note.clone()).collect();
        let expected: Vec<String> =
            (10..23).filter(|second| *second != 14).map(|second| second.to_string()).collect();
        assert_eq!(notes, expected);
        assert!(outlines.runs.iter().all(|(path, _)| runs.contains(path)));
        assert_eq!(outlines.unusable.len(), 1);
        assert!(outlines.unusable[0].to_string().contains(&*runs[4].to_string_lossy()));
    }
}
