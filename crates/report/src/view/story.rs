//! What is to be said of a result, in words and in order, whatever the format: sections, rows, notes, the closing line.
//!
//! Every string that leaves this module is free of control characters; a format escapes what it alone cares for.

use oscost_results::{Figure, RunResult, Status, quantity};
use oscost_stats::sorting::SmallSort;
use std::collections::BTreeSet;

use crate::blocks::View;
use crate::blocks::prices::{Numbers, Outcome, PriceFamily, PriceRow};
use crate::evidence::{per_operation, system_calls};
use crate::words::{distinct, grouped, plain, readable, words};
use crate::{numbers, view::picture};

/// A result, and how to speak of it.
pub(crate) struct Story<'a> {
    /// What is told.
    pub result: &'a RunResult,
    /// Whether letters beyond ASCII may be used.
    pub unicode: bool,
    /// Why nothing was counted, where that is the same for every measured figure of several.
    pub audit_missing: Option<&'a str>,
}

impl<'a> Story<'a> {
    /// Prepares to speak of `result`, in ASCII alone unless `unicode`.
    pub fn new(result: &'a RunResult, unicode: bool) -> Self {
        Self { result, unicode, audit_missing: shared_audit_missing(result) }
    }

    /// The figures that have numbers.
    pub fn measured(&self) -> impl Iterator<Item = &'a Figure> + use<'a> {
        self.result.figures.iter().filter(|figure| figure.status == Status::Measured)
    }

    /// Those of `figures` that have numbers.
    pub fn measured_of<'f>(&self, figures: &'f [&'f Figure]) -> impl Iterator<Item = &'f Figure> {
        figures.iter().copied().filter(|figure| figure.status == Status::Measured)
    }

    /// Text of the result, harmless.
    pub fn plain(&self, text: &str) -> String {
        plain(text, self.unicode)
    }

    /// The title of a figure, without what only its own family tells apart.
    pub fn short_title(&self, figure: &Figure) -> String {
        let title = if figure.title.is_empty() { &figure.id } else { &figure.title };
        self.plain(title.split(", ").next().unwrap_or(title))
    }

    /// The figures by family in the order of the result; a family's series follow, by the quantity that they quote. What
    /// was measured and a view covers is left to it.
    pub fn sections(&self, views: &[View]) -> Vec<PriceFamily> {
        let told = told(self.result, views);
        let families = distinct(told.iter().map(|figure| figure.family.as_str()));
        let mut groups = grouped(told, |figure| (figure.family.as_str(), headline(figure)));
        // Stable: within a family batched benchmarks first, then each headline where it was first seen.
        groups.small_sort_by_key(|((own, headline), _)| {
            (families.iter().position(|family| family == own), *headline != "floor")
        });
        groups
            .into_iter()
            .map(|((family, headline), figures)| self.section(family, headline, &figures))
            .collect()
    }

    fn section(&self, family: &str, headline: &str, figures: &[&Figure]) -> PriceFamily {
        let shared = self.shared_operation(figures);
        let rows = figures.iter().map(|figure| self.row(figure, shared)).collect();
        PriceFamily {
            name: self.words(if family.is_empty() { "(no family)" } else { family }).to_uppercase(),
            operation: shared.map(|operation| self.plain(operation)),
            headline: self.words(headline),
            batched: headline == "floor",
            rows,
        }
    }

    /// The operation of more than half of `figures`.
    pub fn shared_operation<'f>(&self, figures: &[&'f Figure]) -> Option<&'f str> {
        most_common(figures.iter().map(|figure| figure.operation.as_str()))
            .filter(|(_, count)| count * 2 > figures.len())
            .map(|(operation, _)| operation)
    }

    /// A figure with everything that is noteworthy of it.
    pub fn row(&self, figure: &Figure, shared_operation: Option<&str>) -> PriceRow {
        let measured = figure.status == Status::Measured;
        let mut notes = Vec::new();
        let mut remarks = Vec::new();
        if measured {
            notes = self.notes(figure, shared_operation);
            let missing = figure.evidence.audit_missing.iter().filter(|_| self.audit_missing.is_none());
            remarks.extend(missing.map(|why| format!("system calls were not counted: {}", self.plain(why))));
        }
        remarks.extend(figure.remarks.iter().map(|remark| self.plain(remark)));
        PriceRow {
            name: self.name(figure),
            call_path: match figure.call_path.as_str() {
                "vdso" => "vDSO".to_owned(),
                other => self.plain(other),
            },
            outcome: self.outcome(figure),
            notes,
            remarks,
        }
    }

    /// Its numbers, or why there are none.
    pub fn outcome(&self, figure: &Figure) -> Outcome {
        let state = match figure.status {
            Status::Measured => return Outcome::Measured(self.numbers(figure)),
            Status::Unsupported => "unsupported",
            Status::Failed => "failed",
            Status::Contradicted => "withheld",
            Status::Withdrawn => "withdrawn",
            Status::Unknown => "unknown",
        };
        let stated = figure.why.as_deref().filter(|why| !why.is_empty()).map(|why| self.plain(why));
        let mut why = stated.unwrap_or_else(|| match figure.status {
            Status::Unknown => "its state is one of a later version of oscost".to_owned(),
            _ => "no reason is on record".to_owned(),
        });
        if let Some(remedy) = figure.remedy.as_deref().filter(|remedy| !remedy.is_empty()) {
            why = format!("{why}; remedy: {}", self.plain(remedy));
        }
        Outcome::Withheld { state, why }
    }

    fn numbers(&self, figure: &Figure) -> Numbers {
        let value_of = |name: &str| {
            figure.quantities.get(name).map_or(String::new(), |quantity| {
                numbers::quantity(quantity.estimate.value, &self.plain(&quantity.unit))
            })
        };
        let headline = headline(figure);
        let batched = headline == "floor";
        let quoted = figure.quantities.get(headline);
        Numbers {
            value: if quoted.is_some() { value_of(headline) } else { "no value".to_owned() },
            interval: quoted.map_or(String::new(), |quantity| {
                numbers::interval(&quantity.estimate, &self.plain(&quantity.unit), self.unicode)
            }),
            typical: if batched { value_of("typical") } else { String::new() },
            tail: if batched { value_of(quantity::BATCH_P99) } else { String::new() },
            picture: picture::distribution(&figure.launches, self.unicode),
            calls: system_calls(&figure.evidence).map_or("?".to_owned(), per_operation),
            verdict: figure.evidence.verdict.name(),
        }
    }

    /// Id without the family.
    pub fn name(&self, figure: &Figure) -> String {
        let name = without_family(&figure.id, &figure.family);
        if name.is_empty() { "(no name)".to_owned() } else { readable(name, self.unicode) }
    }

    /// Id of another figure as it is called beside this one.
    pub fn other_name(&self, figure: &Figure, id: &str) -> String {
        self.plain(without_family(id, &figure.family))
    }

    /// A name of the schema in words: blanks for underscores.
    pub fn words(&self, name: &str) -> String {
        words(name, self.unicode)
    }
}

/// The figures that no view tells.
pub(crate) fn told<'r>(result: &'r RunResult, views: &[View]) -> Vec<&'r Figure> {
    let covered: BTreeSet<&str> = views.iter().flat_map(|view| &view.covers).map(String::as_str).collect();
    let told = |figure: &&Figure| figure.status != Status::Measured || !covered.contains(figure.id.as_str());
    result.figures.iter().filter(told).collect()
}

/// The quantity that is quoted; what was never measured may not name one.
pub(crate) fn headline(figure: &Figure) -> &str {
    if figure.headline.is_empty() { "floor" } else { &figure.headline }
}

/// Why nothing was counted, where that is the same for every measured figure of several.
fn shared_audit_missing(result: &RunResult) -> Option<&str> {
    let mut measured = result.figures.iter().filter(|figure| figure.status == Status::Measured);
    let first = measured.next()?.evidence.audit_missing.as_deref()?;
    let mut others = measured.map(|figure| figure.evidence.audit_missing.as_deref()).peekable();
    (others.peek().is_some() && others.all(|reason| reason == Some(first))).then_some(first)
}

/// An id without the family in front of it.
fn without_family<'a>(id: &'a str, family: &str) -> &'a str {
    id.strip_prefix(family).and_then(|rest| rest.strip_prefix('/')).unwrap_or(id)
}

/// The most frequent of some texts, and how often it occurs; of equals the first.
fn most_common<'a>(texts: impl Iterator<Item = &'a str>) -> Option<(&'a str, usize)> {
    let counts = grouped(texts, |text| *text).into_iter().map(|(text, all)| (text, all.len()));
    counts.rev().max_by_key(|(_, count)| *count).filter(|(text, _)| !text.is_empty())
}
