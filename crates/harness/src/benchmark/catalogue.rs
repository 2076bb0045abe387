//! The catalogue: every benchmark by id, and the choice among them by pattern.

use oscost_results::search::{Listing, NoMatch, Synonym, Tier, Way};

use super::Benchmark;
use super::card::Card;

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
    synonyms: Option<fn() -> &'static [Synonym]>,
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

impl std::fmt::Debug for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.card().id)
    }
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

    /// The words of others that patterns may be, read once they are needed: no worker needs them.
    #[must_use]
    pub fn with_synonyms(mut self, synonyms: fn() -> &'static [Synonym]) -> Self {
        self.synonyms = Some(synonyms);
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
        let grids = self.grids.iter().filter(|_| most == Tier::Thorough).flat_map(|grid| grid());
        self.benchmarks
            .iter()
            .copied()
            .chain(grids)
            .filter(|benchmark| benchmark.card().tier.is_within(most))
            .map(|benchmark| Choice { benchmark, named: false })
            .collect()
    }

    /// What each pattern finds, as [`Pattern::search`](oscost_results::search::Pattern::search) says. Benchmarks above `most` need their full id.
    ///
    /// # Errors
    /// The first pattern that finds nothing.
    pub fn look_up(&self, patterns: &[String], most: Tier) -> Result<Vec<Matched>, NoMatch> {
        let reachable = self.tier(most);
        let one = |typed: &String| {
            let (way, mut choices) = self.look_up_one(typed, &reachable, most)?;
            choices.iter_mut().for_each(|choice| choice.named = way == Way::Id);
            Ok(Matched { pattern: typed.clone(), way, choices })
        };
        patterns.iter().map(one).collect()
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
}

impl Listing for Catalogue {
    type Item = Choice;

    fn id(choice: Choice) -> &'static str {
        choice.card().id
    }

    fn find(&self, id: &str) -> Option<Choice> {
        self.find(id).map(|benchmark| Choice { benchmark, named: true })
    }

    fn tier(&self, most: Tier) -> Vec<Choice> {
        self.tier(most)
    }

    fn offered(&self) -> Vec<&'static str> {
        let cards = self.benchmarks.iter().map(|benchmark| benchmark.card());
        cards.filter(|card| card.tier != Tier::Hidden).map(|card| card.id).collect()
    }

    fn synonyms(&self) -> &'static [Synonym] {
        self.synonyms.map_or(&[], |all| all())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::synthetic;

    fn card(id: &'static str, tier: Tier, baseline: Option<&'static str>) -> &'static dyn Benchmark {
        synthetic::choice(Card { id, tier, baseline, ..Card::BATCHED }).benchmark
    }

    fn catalogue() -> Catalogue {
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
        let miss = catalogue().with_synonyms(|| &FORK).select(&["fork".into()], Tier::Core).map(|_| ());
        assert_eq!(
            miss.expect_err("a miss").to_string(),
            "'fork' is a word of others, which has no counterpart here"
        );
    }

    /// Listed ones, those of a grid and those that an id alone makes: who finds which.
    #[test]
    fn what_is_added_is_found_where_it_belongs() {
        let all = catalogue()
            .with(vec![card("more/x", Tier::Core, None)])
            .with_grid(|| vec![card("grid/x", Tier::Thorough, None)])
            .with_resolver(|id| (id == "made/7").then(|| card("made/7", Tier::Hidden, None)));
        let has =
            |tier, id: &str| all.tier(tier).iter().any(|choice| choice.card().id == id && !choice.named);
        assert!(has(Tier::Core, "more/x") && has(Tier::Thorough, "grid/x") && !has(Tier::Family, "grid/x"));
        assert!(!has(Tier::Thorough, "made/7"));
        let named = |pattern: &str, tier| {
            let found = all.look_up(&[pattern.to_owned()], tier).expect("a match");
            found[0].choices.iter().map(|choice| (choice.card().id, choice.named)).collect::<Vec<_>>()
        };
        assert_eq!(named("made/7", Tier::Core), [("made/7", true)]);
        assert_eq!(named("secret/x", Tier::Core), [("secret/x", true)], "its full id is enough");
        assert_eq!(named("more", Tier::Core), [("more/x", false)]);
        assert_eq!(all.all().len(), catalogue().all().len() + 1);
        assert!(format!("{:?}", all.tier(Tier::Core)).contains("more/x"));
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

    #[test]
    fn who_is_found_by_his_id_is_named() {
        let found = <Catalogue as Listing>::find(&catalogue(), "lock/spin").expect("it is listed");
        assert!(found.named && <Catalogue as Listing>::id(found) == "lock/spin");
        assert!(<Catalogue as Listing>::find(&catalogue(), "lock").is_none());
    }
}
