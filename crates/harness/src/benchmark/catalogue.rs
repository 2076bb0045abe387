//! The catalogue: every benchmark by id, and the choice among them by pattern.

use std::collections::BTreeSet;
use std::fmt;

use oscost_results::search::{self, Pattern, Synonym, Way};

use super::Benchmark;
use super::card::{Card, Tier};

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
    synonyms: &'static [Synonym],
}

/// A pattern that finds nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoMatch {
    /// The pattern as given.
    pub pattern: String,
    /// Whose word it is, where nothing here is its counterpart.
    pub elsewhere: Option<&'static str>,
    /// How many of the thorough tier it would find.
    pub above: usize,
    /// The first of them.
    pub example: Option<&'static str>,
    /// What may have been meant, nearest first.
    pub nearest: Vec<String>,
    /// A part of the pattern whose number no id has, and the numbers that ids have there ("hold_us_33": 0, 1, 3).
    pub numbers: Option<Box<(String, Vec<u64>)>>,
}

impl std::error::Error for NoMatch {}

impl fmt::Display for NoMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pattern = oscost_results::Untrusted::new(&self.pattern).terminal().to_string();
        match (self.elsewhere, self.example, self.nearest.as_slice(), self.numbers.as_deref()) {
            (Some(what), ..) => write!(f, "'{pattern}' is {what}, which has no counterpart here"),
            (_, Some(example), ..) => write!(
                f,
                "'{pattern}' finds {} figures, all of the thorough tier: add --thorough, or give a full id ({example})",
                self.above
            ),
            (_, _, [], Some((part, numbers))) => {
                let part = oscost_results::Untrusted::new(part).terminal().to_string();
                let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
                let stem = part.trim_end_matches(|letter: char| letter.is_ascii_digit());
                write!(
                    f,
                    "nothing is called '{pattern}': there is no {part}, but {stem} with {}",
                    numbers.join(", ")
                )
            }
            (_, _, [], None) => write!(f, "nothing is called '{pattern}'; 'oscost list' shows what there is"),
            (_, _, nearest, _) => {
                write!(f, "nothing is called '{pattern}'; did you mean {}?", nearest.join(" or "))
            }
        }
    }
}

/// What a pattern found.
#[derive(Clone)]
#[non_exhaustive]
pub struct Matched {
    /// The pattern as given.
    pub pattern: String,
    /// How.
    pub way: Way,
    /// The benchmarks, in the order of the catalogue.
    pub choices: Vec<Choice>,
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

    /// The words of others that patterns may be.
    #[must_use]
    pub fn with_synonyms(mut self, synonyms: &'static [Synonym]) -> Self {
        self.synonyms = synonyms;
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

    /// What each pattern finds, as [`search`] says. Benchmarks above `most` need their full id.
    ///
    /// # Errors
    /// The first pattern that finds nothing.
    pub fn look_up(&self, patterns: &[String], most: Tier) -> Result<Vec<Matched>, NoMatch> {
        let reachable = self.tier(most);
        patterns.iter().map(|pattern| self.look_up_one(pattern, &reachable, most)).collect()
    }

    fn look_up_one(&self, typed: &str, reachable: &[Choice], most: Tier) -> Result<Matched, NoMatch> {
        let pattern = Pattern::new(typed, self.synonyms);
        let itself = self.find(typed.trim_end_matches('/')).or_else(|| self.find(pattern.text()));
        if let Some(benchmark) = itself {
            let choices = vec![Choice { benchmark, named: true }];
            return Ok(Matched { pattern: typed.to_owned(), way: Way::Id, choices });
        }
        if let Some((way, choices)) = pattern.search(reachable.iter().copied(), |choice| choice.card().id) {
            return Ok(Matched { pattern: typed.to_owned(), way, choices });
        }
        let every = self.tier(Tier::Thorough);
        let numbers = numbers(pattern.text(), every.iter().map(|choice| choice.card().id));
        let above = if most == Tier::Thorough { Vec::new() } else { every };
        let above =
            pattern.search(above, |choice| choice.card().id).map(|(_, choices)| choices).unwrap_or_default();
        Err(NoMatch {
            pattern: typed.to_owned(),
            elsewhere: pattern.synonym().map(|synonym| synonym.what),
            above: above.len(),
            example: above.first().map(|choice| choice.card().id),
            nearest: if numbers.is_some() { Vec::new() } else { self.nearest(pattern.text()) },
            numbers: numbers.map(Box::new),
        })
    }

    /// What was found, each benchmark once, in the order of the catalogue. What a choice is divided by, or has
    /// subtracted, comes along.
    #[must_use]
    pub fn chosen(&self, found: &[Matched]) -> Vec<Choice> {
        let mut chosen: Vec<Choice> = Vec::new();
        for choice in found.iter().flat_map(|found| &found.choices) {
            self.add(&mut chosen, *choice);
        }
        let position = |choice: &Choice| {
            self.benchmarks.iter().position(|benchmark| benchmark.card().id == choice.card().id)
        };
        chosen.sort_by_cached_key(|choice| position(choice).unwrap_or(usize::MAX));
        chosen
    }

    /// What the patterns choose.
    ///
    /// # Errors
    /// The first pattern that finds nothing.
    pub fn select(&self, patterns: &[String], most: Tier) -> Result<Vec<Choice>, NoMatch> {
        self.look_up(patterns, most).map(|found| self.chosen(&found))
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

    /// What may have been meant: families, parts of ids, words of others, as short as they are found.
    fn nearest(&self, pattern: &str) -> Vec<String> {
        let listed = self.benchmarks.iter().map(|benchmark| benchmark.card());
        let listed = listed.filter(|card| card.tier != Tier::Hidden);
        let ids: Vec<&str> =
            listed.flat_map(|card| card.id.split('/').chain(std::iter::once(card.id))).collect();
        let others = self.synonyms.iter().flat_map(|synonym| synonym.words).copied();
        let mut near = search::nearest(pattern, ids.iter().copied().chain(others));
        if near.is_empty() {
            near = search::abbreviated(pattern, ids);
        }
        near.into_iter().map(str::to_owned).collect()
    }
}

/// The first part of a pattern that ends with a number which no id has there, and the numbers that ids have.
fn numbers<'a>(pattern: &str, ids: impl Iterator<Item = &'a str>) -> Option<(String, Vec<u64>)> {
    let split = |part: &str| -> Option<(usize, u64)> {
        let stem = part.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
        let number = part[stem..].parse().ok()?;
        part[..stem].ends_with('_').then_some((stem, number))
    };
    let parts: BTreeSet<&str> = ids.flat_map(|id| id.split('/')).collect();
    let missing = |part: &&str| split(part).is_some() && !parts.contains(part);
    pattern.split('/').filter(missing).find_map(|part| {
        let (stem, _) = split(part)?;
        let of_stem =
            parts.range::<&str, _>(&part[..stem]..).take_while(|other| other.starts_with(&part[..stem]));
        let mut numbers: Vec<u64> = of_stem
            .filter_map(|other| split(other).filter(|(end, _)| *end == stem))
            .map(|(_, it)| it)
            .collect();
        numbers.sort_unstable();
        (!numbers.is_empty()).then(|| (part.to_owned(), numbers))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::{SetUp, Subject, Unable};

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
            catalogue().select(&[pattern.into()], Tier::Core).map(|_| ()).expect_err("a miss")
        };
        assert_eq!(miss("getpidd").nearest, ["getpid"]);
        assert_eq!(miss("semaphore/posix_namde").nearest[0], "semaphore/posix_named");
        assert!(miss("zzzzzzzzzz").nearest.is_empty());
        assert!(miss("secre").nearest.is_empty(), "hidden ids are not offered");
        assert!(miss("").to_string().contains("nothing is called ''"));
        let above = miss("spin");
        assert_eq!((above.above, above.example), (1, Some("lock/spin")), "the family tier is above the core");
        assert!(above.to_string().contains("--thorough"), "{above}");
    }

    #[test]
    fn a_word_of_others_without_a_counterpart_says_whose_it_is() {
        static FORK: [Synonym; 1] = [Synonym { words: &["fork"], what: "a word of others", ids: &[] }];
        let miss = catalogue().with_synonyms(&FORK).select(&["fork".into()], Tier::Core).map(|_| ());
        assert_eq!(
            miss.expect_err("a miss").to_string(),
            "'fork' is a word of others, which has no counterpart here"
        );
    }

    #[test]
    fn the_core_tier_leaves_families_out() {
        let core: Vec<_> = catalogue().tier(Tier::Core).iter().map(|choice| choice.card().id).collect();
        assert_eq!(core.len(), 4);
        assert_eq!(catalogue().tier(Tier::Family).len(), 5);
    }

    #[test]
    fn who_came_along_and_is_named_later_is_named() {
        let patterns = ["semaphore/system_v".to_owned(), "semaphore/posix_named".to_owned()];
        let chosen = catalogue().select(&patterns, Tier::Core).expect("a match");
        let named: Vec<(&str, bool)> = chosen.iter().map(|it| (it.card().id, it.named)).collect();
        assert_eq!(named, [("semaphore/posix_named", true), ("semaphore/system_v", true)]);
    }
}
