//! What can be measured: every benchmark by id, and the choice among them by pattern.

use crate::{Benchmark, Card, Tier};

/// Finds a benchmark whose id carries values of declared parameters ("…/clients_10"), which no list could hold.
pub type Resolver = fn(&str) -> Option<&'static dyn Benchmark>;

/// Benchmarks of the thorough tier that are too many to be listed; made when they are asked for.
pub type Grid = fn() -> Vec<&'static dyn Benchmark>;

/// All benchmarks of a program. Workers of the same program look ids up in it.
#[derive(Clone, Default)]
pub struct Catalogue {
    benchmarks: Vec<&'static dyn Benchmark>,
    resolvers: Vec<Resolver>,
    grids: Vec<Grid>,
}

/// A pattern that chooses nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no benchmark matches '{pattern}'{}", suggestion(.nearest))]
pub struct NoMatch {
    /// The pattern as given.
    pub pattern: String,
    /// Ids that look like it, nearest first.
    pub nearest: Vec<String>,
}

fn suggestion(nearest: &[String]) -> String {
    if nearest.is_empty() {
        "; 'oscost list' shows every id".into()
    } else {
        format!("; nearest: {}", nearest.join(", "))
    }
}

/// A chosen benchmark.
#[derive(Clone, Copy)]
pub struct Choice {
    /// The benchmark.
    pub benchmark: &'static dyn Benchmark,
    /// It was asked for by its full id: that it cannot be measured is then an answer of its own (exit code 3).
    pub named: bool,
}

impl Choice {
    /// Its card.
    #[must_use]
    pub fn card(&self) -> &'static Card {
        self.benchmark.card()
    }
}

impl Catalogue {
    /// A catalogue of these benchmarks, in this order.
    #[must_use]
    pub fn new(benchmarks: Vec<&'static dyn Benchmark>) -> Self {
        Self { benchmarks, ..Self::default() }
    }

    /// Adds benchmarks to the end.
    #[must_use]
    pub fn with(mut self, more: Vec<&'static dyn Benchmark>) -> Self {
        self.benchmarks.extend(more);
        self
    }

    /// Adds a resolver of parametrised ids.
    #[must_use]
    pub fn with_resolver(mut self, resolver: Resolver) -> Self {
        self.resolvers.push(resolver);
        self
    }

    /// Adds benchmarks that only a thorough choice makes.
    #[must_use]
    pub fn with_grid(mut self, grid: Grid) -> Self {
        self.grids.push(grid);
        self
    }

    /// Every listed benchmark, hidden ones included.
    #[must_use]
    pub fn all(&self) -> &[&'static dyn Benchmark] {
        &self.benchmarks
    }

    /// The benchmark of this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&'static dyn Benchmark> {
        self.benchmarks
            .iter()
            .copied()
            .find(|benchmark| benchmark.card().id == id)
            .or_else(|| self.resolvers.iter().find_map(|resolve| resolve(id)))
    }

    /// Everything up to `tier` that is not hidden.
    #[must_use]
    pub fn tier(&self, most: Tier) -> Vec<Choice> {
        let chosen = |tier: Tier| match most {
            Tier::Core => tier == Tier::Core,
            Tier::Family => matches!(tier, Tier::Core | Tier::Family),
            Tier::Thorough | Tier::Hidden => tier != Tier::Hidden,
        };
        let grids = self.grids.iter().filter(|_| most == Tier::Thorough).flat_map(|grid| grid());
        self.benchmarks
            .iter()
            .copied()
            .chain(grids)
            .filter(|benchmark| chosen(benchmark.card().tier))
            .map(|benchmark| Choice { benchmark, named: false })
            .collect()
    }

    /// What the patterns choose, each benchmark once. A pattern is an id, the beginning of ids up to a slash (a family),
    /// or has `*` for any run of characters. What a choice is divided by, or has subtracted, comes along. Benchmarks
    /// above `most` need their full id.
    ///
    /// # Errors
    /// The first pattern that chooses nothing.
    pub fn select(&self, patterns: &[String], most: Tier) -> Result<Vec<Choice>, NoMatch> {
        let mut chosen: Vec<Choice> = Vec::new();
        let reachable = self.tier(most);
        for pattern in patterns {
            let pattern = pattern.trim_end_matches('/');
            let found: Vec<Choice> = match self.find(pattern) {
                Some(benchmark) => vec![Choice { benchmark, named: true }],
                None => {
                    reachable.iter().copied().filter(|choice| matches(pattern, choice.card().id)).collect()
                }
            };
            if found.is_empty() {
                return Err(NoMatch { pattern: pattern.to_owned(), nearest: self.nearest(pattern) });
            }
            for choice in found {
                self.add(&mut chosen, choice);
            }
        }
        // The order of the catalogue, whatever the order of the patterns.
        let position = |choice: &Choice| {
            self.benchmarks.iter().position(|benchmark| benchmark.card().id == choice.card().id)
        };
        chosen.sort_by_key(|choice| position(choice).unwrap_or(usize::MAX));
        Ok(chosen)
    }

    fn add(&self, chosen: &mut Vec<Choice>, choice: Choice) {
        if let Some(known) = chosen.iter_mut().find(|known| known.card().id == choice.card().id) {
            known.named |= choice.named;
            return;
        }
        chosen.push(choice);
        let card = choice.card();
        for id in [card.baseline, card.subtract].into_iter().flatten() {
            if let Some(benchmark) = self.find(id) {
                self.add(chosen, Choice { benchmark, named: false });
            }
        }
    }

    /// At most five ids that look like `pattern`, nearest first.
    fn nearest(&self, pattern: &str) -> Vec<String> {
        let mut candidates: Vec<(usize, &str)> = self
            .benchmarks
            .iter()
            .map(|benchmark| benchmark.card())
            .filter(|card| card.tier != Tier::Hidden)
            .map(|card| {
                let whole = distance(pattern, card.id);
                let parts = card.id.split('/').map(|part| distance(pattern, part) + 1).min();
                (parts.map_or(whole, |part| whole.min(part)), card.id)
            })
            .filter(|&(far, id)| far <= pattern.len().max(3) / 2 || id.contains(pattern))
            .collect();
        candidates.sort_unstable();
        candidates.into_iter().take(5).map(|(_, id)| id.to_owned()).collect()
    }
}

/// Whether `pattern` chooses `id`.
fn matches(pattern: &str, id: &str) -> bool {
    if pattern.contains('*') {
        let parts: Vec<&str> = pattern.split('*').collect();
        return glob(&parts, id);
    }
    id.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether `text` is the parts in order with anything between them.
fn glob(parts: &[&str], text: &str) -> bool {
    match parts {
        [] => text.is_empty(),
        [last] => text == *last,
        [first, rest @ ..] => {
            let Some(mut text) = text.strip_prefix(first) else { return false };
            // The next part may start anywhere: the last one must end the text.
            loop {
                if glob(rest, text) {
                    return true;
                }
                let mut characters = text.chars();
                if characters.next().is_none() {
                    return false;
                }
                text = characters.as_str();
            }
        }
    }
}

/// Edit distance (Levenshtein), in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SetUp, Subject, Unable};

    struct Named(Card);
    impl Benchmark for Named {
        fn card(&self) -> &'static Card {
            // The cards of these tests live as long as the test program.
            Box::leak(Box::new(self.0.clone()))
        }
        fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
            Err(Unable::Unsupported { why: "a test".into(), remedy: String::new() })
        }
    }

    fn catalogue() -> Catalogue {
        let card = |id, tier, baseline| -> &'static dyn Benchmark {
            Box::leak(Box::new(Named(Card { id, tier, baseline, ..Card::BATCHED })))
        };
        Catalogue::new(vec![
            card("syscall/getpid", Tier::Core, None),
            card("semaphore/posix_named", Tier::Core, None),
            card("semaphore/posix_named/handover/same_cpu", Tier::Core, None),
            card("semaphore/system_v", Tier::Core, Some("semaphore/posix_named")),
            card("lock/spin", Tier::Family, None),
            card("secret/x", Tier::Hidden, None),
        ])
    }

    fn ids(patterns: &[&str]) -> Vec<&'static str> {
        let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        let chosen = catalogue().select(&patterns, Tier::Family).expect("a match");
        chosen.iter().map(|choice| choice.card().id).collect()
    }

    #[test]
    fn an_id_a_family_and_a_star_choose() {
        assert_eq!(ids(&["semaphore/posix_named"]), ["semaphore/posix_named"]);
        assert_eq!(ids(&["lock", "syscall"]), ["syscall/getpid", "lock/spin"]);
        assert_eq!(ids(&["*/same_cpu"]), ["semaphore/posix_named/handover/same_cpu"]);
        assert_eq!(ids(&["s*v"]), ["semaphore/posix_named", "semaphore/system_v"]);
    }

    #[test]
    fn a_baseline_comes_along_and_is_not_named() {
        let chosen = catalogue().select(&["semaphore/system_v".into()], Tier::Core).expect("a match");
        let named: Vec<bool> = chosen.iter().map(|choice| choice.named).collect();
        assert_eq!(named, [false, true]);
    }

    #[test]
    fn a_miss_names_what_is_near() {
        let miss = |pattern: &str| {
            catalogue().select(&[pattern.into()], Tier::Family).map(|_| ()).expect_err("a miss")
        };
        assert_eq!(miss("getpidd").nearest, ["syscall/getpid"]);
        assert_eq!(miss("semaphore/posix_name").nearest[0], "semaphore/posix_named");
        assert!(miss("zzzzzzzzzz").nearest.is_empty());
        assert!(miss("secre").nearest.is_empty(), "hidden ids are not offered");
        assert!(miss("").to_string().contains("no benchmark"));
    }

    #[test]
    fn the_core_tier_leaves_families_out() {
        let core: Vec<_> = catalogue().tier(Tier::Core).iter().map(|choice| choice.card().id).collect();
        assert_eq!(core.len(), 4);
        assert_eq!(catalogue().tier(Tier::Family).len(), 5);
    }

    #[test]
    fn distance_is_levenshtein() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
    }
}
