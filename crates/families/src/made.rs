//! Benchmarks of ids that carry parameters: each is made once, and lives as long as the program.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use oscost_harness::{Benchmark, Card};

/// The benchmark of `id`, made where it has not been made yet.
pub fn once(id: &str, make: impl FnOnce() -> &'static dyn Benchmark) -> &'static dyn Benchmark {
    static MADE: Mutex<BTreeMap<String, &'static dyn Benchmark>> = Mutex::new(BTreeMap::new());
    // A panic elsewhere leaves the map whole: it is only ever added to.
    let made = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let known = made().get(id).copied();
    // Made without the lock: one benchmark may be made of another.
    known.unwrap_or_else(|| {
        let new = make();
        *made().entry(id.to_owned()).or_insert(new)
    })
}

/// Words of a card that is made.
pub fn words(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// Values of a card that is made.
pub fn list<T>(values: Vec<T>) -> &'static [T] {
    Vec::leak(values)
}

/// A card that is made.
pub fn card(card: Card) -> &'static Card {
    Box::leak(Box::new(card))
}

/// A benchmark that is made.
pub fn benchmark(benchmark: impl Benchmark + 'static) -> &'static dyn Benchmark {
    Box::leak(Box::new(benchmark))
}
