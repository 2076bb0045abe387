//! What is known of figures' prices, and how they are added up.

use std::collections::BTreeMap;

use oscost_results::Estimate;

use crate::tariff::{AROUND, BARE, BY_LIBC, ENTRY, FAULT_COPY, FORK_MAPPING, FORK_PAGE, Term};

/// What the evidence of a figure that makes a process counted, an operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MadeProcess {
    /// Faults of both processes.
    pub faults: f64,
    /// Pages of the parent's own that were copied.
    pub pages: f64,
    /// Its mappings, which were copied as well.
    pub mappings: f64,
}

/// What is known of figures.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    known: BTreeMap<String, Estimate>,
    /// What was counted of those that make a process.
    made: BTreeMap<String, MadeProcess>,
    /// What is to be said of a price, by its figure.
    circumstances: BTreeMap<String, &'static str>,
}

impl Prices {
    /// Takes a figure's price, unless a newer one is known.
    pub fn add(&mut self, id: &str, price: Estimate) {
        self.add_measured(id, price, None);
    }

    /// The same, with what is to be said of it.
    pub fn add_measured(&mut self, id: &str, price: Estimate, circumstance: Option<&'static str>) {
        if self.has(id) {
            return;
        }
        self.known.insert(id.to_owned(), price);
        self.circumstances.extend(circumstance.map(|words| (id.to_owned(), words)));
    }

    /// Takes what was counted of a figure that makes a process.
    pub fn add_made(&mut self, id: &str, made: MadeProcess) {
        self.made.entry(id.to_owned()).or_insert(made);
    }

    /// The price of a term.
    fn one(&self, id: &str) -> Option<Estimate> {
        if let Some(figure) = id.strip_suffix(BY_LIBC) {
            return Some(plus(self.one(figure)?, self.sum(AROUND)?));
        }
        let Some(figure) = id.strip_suffix(BARE) else { return self.known.get(id).copied() };
        let (price, made) = (self.one(figure)?, self.made.get(figure)?);
        let of = |terms, count| self.sum(terms).map(|one| times(one, count));
        let copied = plus(of(FORK_PAGE, made.pages)?, of(FORK_MAPPING, made.mappings)?);
        Some(less(less(price, of(FAULT_COPY, made.faults)?), copied))
    }

    /// What is to be said of the prices of these figures.
    pub fn circumstances(&self, ids: &[String]) -> std::collections::BTreeSet<&'static str> {
        ids.iter().filter_map(|id| self.circumstances.get(id).copied()).collect()
    }

    /// Whether this figure has a price.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        self.known.contains_key(id)
    }

    /// The sum of terms; `None` where a figure is unknown. The interval is as wide as all of them allow.
    #[must_use]
    pub fn sum(&self, terms: &[Term]) -> Option<Estimate> {
        terms.iter().try_fold(Estimate::default(), |sum, (id, factor)| {
            let price = self.one(id)?;
            let (low, high) = if *factor < 0.0 { (price.high, price.low) } else { (price.low, price.high) };
            Some(plus(
                sum,
                Estimate {
                    value: price.value * factor,
                    low: low * factor,
                    high: high * factor,
                    extremes: false,
                },
            ))
        })
    }

    /// The same of a call: none costs less than an entry into the kernel.
    #[must_use]
    pub fn of_call(&self, terms: &[Term]) -> Option<Estimate> {
        let (sum, entry) = (self.sum(terms)?, self.sum(ENTRY)?);
        Some(Estimate {
            value: sum.value.max(entry.value),
            low: sum.low.max(entry.low),
            high: sum.high.max(entry.high),
            extremes: false,
        })
    }
}

/// The sum of two estimates whose errors may be one.
#[must_use]
pub fn plus(one: Estimate, other: Estimate) -> Estimate {
    Estimate {
        value: one.value + other.value,
        low: one.low + other.low,
        high: one.high + other.high,
        extremes: false,
    }
}

/// The difference of two estimates whose errors may be opposed.
#[must_use]
pub fn less(one: Estimate, other: Estimate) -> Estimate {
    plus(one, Estimate { value: -other.value, low: -other.high, high: -other.low, extremes: false })
}

/// So many times as much.
#[must_use]
pub fn times(estimate: Estimate, factor: f64) -> Estimate {
    Estimate {
        value: estimate.value * factor,
        low: estimate.low * factor,
        high: estimate.high * factor,
        extremes: false,
    }
}
