//! A result in outline with every launch: what rows for other programs are made of.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::figure::first_revision;
use crate::format::whole;
use crate::outline::OutlineQuantity;
use crate::withdrawn::withdraw_rows;
use crate::{Evidence, Figure, Mark, Outline, Percentiles, Refused, RunResult, Status, layout};

/// A figure with its estimates and the values of its launches. See [`crate::Figure`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct RowFigure {
    /// Path of the benchmark.
    pub id: String,
    /// Revision of its card; absent: 1.
    #[serde(default = "first_revision")]
    pub revision: u32,
    /// First part of the id.
    #[serde(default)]
    pub family: String,
    /// What the quoted cost is the cost of.
    #[serde(default)]
    pub operation: String,
    /// How the operation is reached.
    #[serde(default)]
    pub call_path: String,
    /// Where participants ran.
    #[serde(default)]
    pub placement: String,
    /// State of the figure.
    pub status: Status,
    /// Reservations about a measured figure.
    #[serde(default)]
    pub marks: Vec<Mark>,
    /// Quantity that is quoted.
    #[serde(default)]
    pub headline: String,
    /// Quantity that is judged; absent: the headline.
    #[serde(default)]
    pub judged: String,
    /// Estimates over launches.
    #[serde(default)]
    pub quantities: BTreeMap<String, OutlineQuantity>,
    /// What single operations took.
    #[serde(default)]
    pub percentiles: Option<Percentiles>,
    /// Every launch that counted.
    #[serde(default)]
    pub launches: Vec<RowLaunch>,
    /// What was counted.
    #[serde(default)]
    pub evidence: Evidence,
    /// Why it shows no number.
    #[serde(default)]
    pub why: Option<String>,
    /// What the user can do about it.
    #[serde(default)]
    pub remedy: Option<String>,
}

/// See [`crate::LaunchRecord`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct RowLaunch {
    /// Position in the run.
    pub sequence: u32,
    /// Quantity → number.
    pub quantities: BTreeMap<String, Option<f64>>,
}

/// What of a part of a result its outline has: what a reader of the file would read.
fn in_outline<T: DeserializeOwned>(part: &impl Serialize) -> T {
    let whole = layout::lines(part).expect("a part of a result is JSON");
    serde_json::from_slice(&whole).expect("an outline has less than the whole")
}

impl Outline<RowFigure> {
    /// What `result` has for rows. A number that is not finite is none, as in its file.
    #[must_use]
    pub fn of(result: &RunResult) -> Self {
        let mut outline = Self {
            format: result.format.clone(),
            version: u64::from(result.version),
            partial: result.partial,
            started: result.started.clone(),
            duration_ns: result.duration_ns,
            note: result.note.clone(),
            tool: in_outline(&result.tool),
            estimators: result.estimators,
            machine: result.machine.clone(),
            conditions: in_outline(&result.conditions),
            plan: in_outline(&result.plan),
            figures: result.figures.iter().map(RowFigure::of).collect(),
            ratios: in_outline(&result.ratios),
            differences: in_outline(&result.differences),
            documents: result.reproductions.iter().map(|row| row.document.clone()).collect(),
            bill: result.bill.as_deref().map(in_outline),
        };
        withdraw_rows(&mut outline);
        outline
    }
}

impl RowFigure {
    fn of(figure: &Figure) -> Self {
        Self {
            id: figure.id.clone(),
            revision: figure.revision,
            family: figure.family.clone(),
            operation: figure.operation.clone(),
            call_path: figure.call_path.clone(),
            placement: figure.placement.clone(),
            status: figure.status,
            marks: figure.marks.clone(),
            headline: figure.headline.clone(),
            judged: figure.judged.clone(),
            quantities: in_outline(&figure.quantities),
            percentiles: figure.percentiles.clone(),
            launches: in_outline(&figure.launches),
            evidence: figure.evidence.clone(),
            why: figure.why.clone(),
            remedy: figure.remedy.clone(),
        }
    }
}

/// The result in `bytes` for rows.
///
/// # Errors
/// [`Refused`] with the reason, as for the whole result.
pub fn rows_from_bytes(bytes: &[u8]) -> Result<Outline<RowFigure>, Refused> {
    let mut outline = whole(bytes, |outline: &Outline<RowFigure>| (&outline.format, outline.version))?;
    withdraw_rows(&mut outline);
    Ok(outline)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::from_bytes;

    const SAMPLES: [&[u8]; 2] =
        [include_bytes!("../tests/samples/v1.json"), include_bytes!("../tests/samples/v2.json")];

    #[test]
    fn rows_have_what_the_result_has_whether_it_was_read_whole_or_not() {
        for sample in SAMPLES {
            let (whole, rows) = (from_bytes(sample).unwrap(), rows_from_bytes(sample).unwrap());
            let of_whole = Outline::of(&whole);
            assert_eq!(rows.result_id(), of_whole.result_id());
            assert_eq!(rows.figures, of_whole.figures);
            assert_eq!(rows.figures.len(), whole.figures.len());
            for (row, figure) in rows.figures.iter().zip(&whole.figures) {
                assert_eq!((&row.id, row.status, &row.marks), (&figure.id, figure.status, &figure.marks));
                let of_launches = |at: usize| {
                    let values = figure.launches[at].quantities.iter();
                    values.map(|(name, &value)| (name.clone(), Some(value))).collect::<BTreeMap<_, _>>()
                };
                assert_eq!(row.launches.len(), figure.launches.len());
                for (at, launch) in row.launches.iter().enumerate() {
                    assert_eq!(launch.quantities, of_launches(at));
                }
            }
        }
    }

    #[test]
    fn rows_of_a_result_in_memory_are_withdrawn_as_those_of_a_file_are() {
        let mut result = from_bytes(SAMPLES[1]).unwrap();
        result.figures.truncate(1);
        "file/list/entries_10/processes_2/shared".clone_into(&mut result.figures[0].id);
        (result.figures[0].revision, result.figures[0].status) = (1, crate::Status::Measured);
        assert_eq!(Outline::of(&result).figures[0].status, crate::Status::Withdrawn);
    }

    #[test]
    fn runs_have_ids_of_their_own_and_copies_have_one() {
        let [one, other] = SAMPLES.map(|sample| from_bytes(sample).unwrap());
        let id = |result: &RunResult| Outline::of(result).result_id();
        assert_eq!(id(&one), id(&one.clone()));
        assert_ne!(id(&one), id(&other));
        let change: [fn(&mut RunResult); 4] = [
            |it| it.plan.seed += 1,
            |it| it.duration_ns += 1,
            |it| it.started.push('x'),
            |it| it.conditions.boot_id = Some("another".to_owned()),
        ];
        for change in change {
            let mut changed = one.clone();
            change(&mut changed);
            assert_ne!(id(&changed), id(&one));
        }
        assert_eq!(
            [&one, &other].map(|it| id(it).to_string()),
            ["220ec67b6a534706", "1c46dc33bddfcec1"],
            "others keep them"
        );
    }
}
