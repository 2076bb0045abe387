//! One machine measured again and again: the runs and changes of each figure, by the rule of `compare`.

use std::collections::{BTreeMap, BTreeSet};

use oscost_results::{Figure, RunResult, Status, quantity};

use super::surroundings::how_fast;
use super::{Compared, Rules, Verdict, compare};
use crate::named::Named;
use crate::words::plain;

/// What was measured so far, run by run.
#[derive(Debug, Default)]
pub struct Watch {
    pub(crate) threshold: f64,
    pub(crate) runs: u32,
    /// Of all runs.
    pub(crate) duration_ns: u64,
    pub(crate) rows: Vec<Watched>,
    /// How much faster or slower the core ran than when the oldest base was made; empty: alike.
    pub(crate) core: String,
    /// The runs against which some figure is held.
    bases: BTreeMap<u32, RunResult>,
}

/// A figure over the runs.
#[derive(Debug)]
pub(crate) struct Watched {
    pub id: String,
    pub unit: String,
    /// What is paid here, run by run.
    pub values: Vec<Option<f64>>,
    /// What the newest run is beside the base; `None`: it is the base itself.
    pub verdict: Option<Verdict>,
    /// What became of it where the newest run has no number, in a word, and why.
    pub missing: Option<(&'static str, String)>,
    /// The runs that were certainly not like their base.
    pub changes: Vec<Changed>,
    /// Run against which the next one is held: the first, then that of the last change.
    base: Option<u32>,
}

/// A change: slower or faster, by a share of the judged quantity.
#[derive(Debug)]
pub(crate) struct Changed {
    pub run: u32,
    /// Run of which it is a change.
    pub since: u32,
    pub verdict: Verdict,
    pub share: f64,
    pub quantity: String,
}

impl Watch {
    /// Nothing measured yet; changes by no more than `threshold` are none.
    #[must_use]
    pub fn new(threshold: f64) -> Self {
        Self { threshold, ..Self::default() }
    }

    /// Runs so far.
    #[must_use]
    pub fn runs(&self) -> u32 {
        self.runs
    }

    /// Adds a run. Each figure is held against its base as `compare` holds two results, with the drift of `past` runs; a
    /// run that is slower or faster is the next base.
    pub fn add(&mut self, result: RunResult, past: &[RunResult]) {
        self.runs += 1;
        self.duration_ns = self.duration_ns.saturating_add(result.duration_ns);
        for figure in &result.figures {
            let known = self.rows.iter().position(|row| row.id == figure.id);
            let at = known.unwrap_or_else(|| {
                self.rows.push(Watched::new(figure, self.runs));
                self.rows.len() - 1
            });
            self.rows[at].measured(figure);
        }
        self.judge(&result, past);
        for row in &mut self.rows {
            // A figure that is missing from a run has a gap there.
            row.values.resize(self.runs as usize, None);
            if row.base.is_none() && row.values.last().is_some_and(Option::is_some) {
                row.base = Some(self.runs);
            }
        }
        self.bases.insert(self.runs, result);
        let rows = &self.rows;
        self.bases.retain(|run, _| rows.iter().any(|row| row.base == Some(*run)));
    }

    fn judge(&mut self, result: &RunResult, past: &[RunResult]) {
        self.core.clear();
        for (&since, base) in &self.bases {
            let of_base = self.rows.iter().filter(|row| row.base == Some(since));
            let only: BTreeSet<String> = of_base.map(|row| row.id.clone()).collect();
            let rules = Rules { threshold: self.threshold, past, only: Some(&only), ..Rules::default() };
            let named = |result| Named { name: "", result };
            let compared = compare(&named(base), &named(result), rules);
            if let Some(slowed) = compared.core_speed.filter(|_| self.core.is_empty()) {
                self.core = format!("the core ran {} than in run {since}", how_fast(slowed));
            }
            for found in &compared.rows {
                if let Some(row) = self.rows.iter_mut().find(|row| row.id == found.id) {
                    row.judged(found, since, self.runs);
                }
            }
        }
    }
}

impl Watched {
    fn new(figure: &Figure, run: u32) -> Self {
        Self {
            id: figure.id.clone(),
            unit: paid(figure).map_or(String::new(), |(_, unit)| unit.to_owned()),
            values: vec![None; run as usize - 1],
            verdict: None,
            missing: None,
            changes: Vec::new(),
            base: None,
        }
    }

    fn measured(&mut self, figure: &Figure) {
        let paid = paid(figure);
        self.values.push(paid.map(|(value, _)| value));
        self.verdict = None;
        match paid {
            Some((_, unit)) => {
                unit.clone_into(&mut self.unit);
                self.missing = None;
            }
            None => {
                let why = figure.why.as_deref().map_or(String::new(), |why| plain(why, true));
                self.missing = Some((figure.status.name(), why));
            }
        }
    }

    fn judged(&mut self, found: &Compared, since: u32, run: u32) {
        self.verdict = Some(found.verdict);
        let (Verdict::Slower | Verdict::Faster, Some(change)) = (found.verdict, found.change) else { return };
        let quantity = found.quantity.clone();
        self.changes.push(Changed { run, since, verdict: found.verdict, share: change.change, quantity });
        self.base = Some(run);
    }
}

/// What is paid here for an operation: typical, where there is one, else what is quoted.
fn paid(figure: &Figure) -> Option<(f64, &str)> {
    let headline = if figure.headline.is_empty() { quantity::FLOOR } else { figure.headline.as_str() };
    let found = figure.quantities.get(quantity::TYPICAL).or_else(|| figure.quantities.get(headline))?;
    let value = found.estimate.value;
    (figure.status == Status::Measured && value.is_finite()).then_some((value, found.unit.as_str()))
}
