//! Looks a user's word up among things with ids in tiers, and says of a miss what may have been meant.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Pattern, Synonym, Way, abbreviated, nearest};
use crate::Untrusted;

/// When a benchmark is measured without being named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// By a bare `run`.
    Core,
    /// By its family's name, or `--all`.
    Family,
    /// Only by its full id, or with `--thorough`.
    Thorough,
    /// By other commands (a document's literal method); never listed.
    Hidden,
}

impl Tier {
    /// Whether a choice of everything up to `most` has it. Nothing chooses what is hidden.
    #[must_use]
    pub fn is_within(self, most: Self) -> bool {
        match most {
            Self::Core => self == Self::Core,
            Self::Family => matches!(self, Self::Core | Self::Family),
            Self::Thorough | Self::Hidden => self != Self::Hidden,
        }
    }

    /// Name in lists.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Family => "family",
            Self::Thorough => "thorough",
            Self::Hidden => "hidden",
        }
    }
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
    /// What is wrong with the numbers of the pattern, if it is they.
    pub numbers: Option<Box<WrongNumber>>,
}

/// Why a pattern with numbers finds nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrongNumber {
    /// No list has them, and a full id takes them: one that does.
    NeedsFullId(String),
    /// A part has a number that ids do not have there, and the numbers of listed ids ("hold_us_33": 0, 1, 3).
    Part(String, Vec<String>),
}

impl std::error::Error for NoMatch {}

impl fmt::Display for NoMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pattern = Untrusted::new(&self.pattern).terminal().to_string();
        match (self.elsewhere, self.example, self.nearest.as_slice(), self.numbers.as_deref()) {
            (Some(what), ..) => write!(f, "'{pattern}' is {what}, which has no counterpart here"),
            (_, Some(example), ..) => write!(
                f,
                "'{pattern}' finds {} figures, all of the thorough tier: add --thorough, or give a full id ({example})",
                self.above
            ),
            (_, _, [], Some(WrongNumber::NeedsFullId(id))) => {
                let id = Untrusted::new(id).terminal().to_string();
                write!(f, "nothing is called '{pattern}': such numbers need a full id, as {id}")
            }
            (_, _, [], Some(WrongNumber::Part(part, numbers))) => {
                let part = Untrusted::new(part).terminal().to_string();
                let stem = numbered(&part).map_or("", |(stem, _)| stem);
                let numbers = numbers.join(", ");
                write!(
                    f,
                    "nothing is called '{pattern}': {part} does not fit; listed ids have {stem} with {numbers}"
                )
            }
            (_, _, [], None) => write!(f, "nothing is called '{pattern}'; 'oscost list' shows what there is"),
            (_, _, nearest, _) => {
                write!(f, "nothing is called '{pattern}'; did you mean {}?", nearest.join(" or "))
            }
        }
    }
}

/// Things with ids in tiers, among which patterns are looked up.
pub trait Listing {
    /// One of the things.
    type Item: Copy;

    /// Its id.
    fn id(item: Self::Item) -> &'static str;

    /// The one of this id, even if no list has it.
    fn find(&self, id: &str) -> Option<Self::Item>;

    /// Everything up to a tier that is not hidden, in order.
    fn tier(&self, most: Tier) -> Vec<Self::Item>;

    /// Ids that are offered where nothing is found.
    fn offered(&self) -> Vec<&'static str>;

    /// The words of others that patterns may be.
    fn synonyms(&self) -> &'static [Synonym];

    /// What one pattern finds of `reachable`, which is everything up to `most`: by its full id alone, or as
    /// [`Pattern::search`] says. Things above `most` need their full id.
    ///
    /// # Errors
    /// It finds nothing.
    fn look_up_one(
        &self,
        typed: &str,
        reachable: &[Self::Item],
        most: Tier,
    ) -> Result<(Way, Vec<Self::Item>), NoMatch> {
        let pattern = Pattern::new(typed, self.synonyms());
        if let Some(item) = self.find(typed.trim_end_matches('/')).or_else(|| self.find(pattern.text())) {
            return Ok((Way::Id, vec![item]));
        }
        if let Some(found) = pattern.search(reachable.iter().copied(), |item| Self::id(*item)) {
            return Ok(found);
        }
        let every = self.tier(Tier::Thorough);
        let ids: Vec<&str> = every.iter().map(|item| Self::id(*item)).collect();
        let numbers = wrong_number(pattern.text(), &ids, |id| self.find(id).is_some());
        let above = if most == Tier::Thorough { Vec::new() } else { every };
        let above = pattern.search(above, |item| Self::id(*item)).map(|(_, items)| items).unwrap_or_default();
        Err(NoMatch {
            pattern: typed.to_owned(),
            elsewhere: pattern.synonym().map(|synonym| synonym.what),
            above: above.len(),
            example: above.first().map(|item| Self::id(*item)),
            nearest: if numbers.is_some() {
                Vec::new()
            } else {
                near(pattern.text(), &self.offered(), self.synonyms())
            },
            numbers: numbers.map(Box::new),
        })
    }
}

/// What may have been meant: families, parts of ids, words of others, as short as they are found.
fn near(pattern: &str, ids: &[&'static str], synonyms: &'static [Synonym]) -> Vec<String> {
    let parts: Vec<&str> = ids.iter().flat_map(|id| id.split('/').chain(std::iter::once(*id))).collect();
    let others = synonyms.iter().flat_map(|synonym| synonym.words).copied();
    let mut near = nearest(pattern, parts.iter().copied().chain(others));
    if near.is_empty() {
        near = abbreviated(pattern, parts);
    }
    near.into_iter().map(str::to_owned).collect()
}

/// A part of an id that has a number: what stands before it, and the rest ("think_", "2_holds").
fn numbered(part: &str) -> Option<(&str, &str)> {
    let at = part.find(|letter: char| letter.is_ascii_digit())?;
    part[..at].ends_with('_').then(|| part.split_at(at))
}

/// What is wrong with the numbers of a pattern. The pattern takes the place of the parts of each listed id that are called
/// alike: if that makes an id, the pattern was no full one. If all of it but one part does, that part is wrong; else the first
/// part that no listed id has.
fn wrong_number(pattern: &str, ids: &[&str], exists: impl Fn(&str) -> bool) -> Option<WrongNumber> {
    let parts: Vec<&str> = pattern.split('/').collect();
    let has_number = |part: &str| numbered(part).is_some();
    if !parts.iter().any(|part| has_number(part)) {
        return None;
    }
    let is_alike = |one: &str, other: &str| match (numbered(one), numbered(other)) {
        (Some((one, _)), Some((other, _))) => one == other,
        _ => one == other,
    };
    let of_pattern = |window: &[&str]| window.iter().zip(&parts).all(|(one, other)| is_alike(one, other));
    let alike = ids.iter().filter_map(|id| {
        let own: Vec<&str> = id.split('/').collect();
        own.windows(parts.len()).position(of_pattern).map(|at| (own, at))
    });
    let alike: Vec<(Vec<&str>, usize)> = alike.collect();
    let with = |(own, at): &(Vec<&str>, usize), kept: Option<usize>| {
        let mut all = own.clone();
        for (place, part) in parts.iter().enumerate().filter(|(place, _)| kept != Some(*place)) {
            all[at + place] = part;
        }
        all.join("/")
    };
    if let Some(id) = alike.iter().map(|like| with(like, None)).find(|id| exists(id)) {
        return Some(WrongNumber::NeedsFullId(id));
    }
    let is_wrong = |place: &usize| alike.iter().any(|like| exists(&with(like, Some(*place))));
    let listed: BTreeSet<&str> = ids.iter().flat_map(|id| id.split('/')).collect();
    let wrong = (0..parts.len()).find(is_wrong).map(|place| parts[place]);
    let is_missing = |part: &&str| has_number(part) && !listed.contains(part);
    let wrong = wrong.or_else(|| parts.iter().copied().find(is_missing))?;
    let (stem, _) = numbered(wrong)?;
    let of_stem = listed.iter().filter_map(|part| numbered(part)).filter(|(other, _)| *other == stem);
    let mut numbers: Vec<&str> = of_stem.map(|(_, number)| number).collect();
    let value = |number: &str| number.split(|it: char| !it.is_ascii_digit()).next()?.parse::<u64>().ok();
    numbers.sort_by_key(|number| value(number));
    let numbers: Vec<String> = numbers.into_iter().map(str::to_owned).collect();
    (!numbers.is_empty()).then(|| WrongNumber::Part(wrong.to_owned(), numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_within_a_tier_is_that_and_all_before_it_but_nothing_hidden() {
        let all = [Tier::Core, Tier::Family, Tier::Thorough, Tier::Hidden];
        for (most, count) in all.into_iter().zip([1, 2, 3, 3]) {
            let within = all.map(|tier| tier.is_within(most));
            assert_eq!(within, std::array::from_fn(|place| place < count), "{most:?}");
        }
    }

    #[test]
    fn of_a_number_that_no_id_has_those_are_told_that_ids_have() {
        let ids = ["a/size_16/x", "a/size_4", "b/size_16", "b/sizes_9", "b/size_big", "b/think_2_holds"];
        let found = |pattern| wrong_number(pattern, &ids, |id| ids.contains(&id));
        let part = |part: &str, numbers: &[&str]| {
            let numbers = numbers.iter().map(|it| (*it).to_owned()).collect();
            Some(WrongNumber::Part(part.to_owned(), numbers))
        };
        assert_eq!(found("a/size_5"), part("size_5", &["4", "16"]));
        assert_eq!(found("zz/size_5"), part("size_5", &["4", "16"]));
        assert_eq!(found("b/think_3_holds"), part("think_3_holds", &["2_holds"]));
        assert_eq!(found("zz/size_4"), None, "ids have it");
        assert_eq!(found("a/depth_4"), None, "no id has such a part");
        assert_eq!(found("a/size5"), None, "no number of that form");
        // With its parts in the place of others, which only one of them is like, it would be an id.
        let other = wrong_number("b/size_7", &["a/size_4"], |id| id == "b/size_7");
        assert_eq!(other, part("size_7", &["4"]));
    }

    /// Ids that no list holds: whatever p is up to 255, with q up to 9.
    #[test]
    fn the_part_that_is_wrong_is_named_and_no_other() {
        let ids = ["x/lock/p_1/q_1", "x/lock/p_2/q_2", "y/q_3"];
        let exists = |id: &str| {
            let rest = id.strip_prefix("x/lock/p_").and_then(|rest| rest.split_once("/q_"));
            rest.is_some_and(|(p, q)| p.parse::<u8>().is_ok() && q.len() == 1) || ids.contains(&id)
        };
        for (pattern, wrong) in [
            ("x/lock/p_7/q_10", "q_10"),
            ("x/lock/p_700/q_7", "p_700"),
            ("p_7/q_10", "q_10"),
            ("p_700/q_10", "p_700"),
        ] {
            let found = wrong_number(pattern, &ids, exists);
            assert!(
                matches!(&found, Some(WrongNumber::Part(part, _)) if part == wrong),
                "{pattern}: {found:?}"
            );
        }
        for pattern in ["p_7/q_7", "lock/p_2/q_1"] {
            let found = wrong_number(pattern, &ids, exists);
            let Some(WrongNumber::NeedsFullId(id)) = found else { panic!("{pattern}: {found:?}") };
            assert!(exists(&id) && id.ends_with(pattern), "{id}");
        }
    }

    struct List(&'static [(&'static str, Tier)]);
    impl Listing for List {
        type Item = (&'static str, Tier);
        fn id(item: Self::Item) -> &'static str {
            item.0
        }
        fn find(&self, id: &str) -> Option<Self::Item> {
            self.0.iter().find(|item| item.0 == id).copied()
        }
        fn tier(&self, most: Tier) -> Vec<Self::Item> {
            self.0.iter().filter(|item| item.1.is_within(most)).copied().collect()
        }
        fn offered(&self) -> Vec<&'static str> {
            self.tier(Tier::Family).into_iter().map(Self::id).collect()
        }
        fn synonyms(&self) -> &'static [Synonym] {
            const { &[Synonym { words: &["lat_fs"], what: "lmbench's", ids: &[] }] }
        }
    }

    #[test]
    fn a_miss_says_what_may_have_been_meant() {
        let list = List(&[
            ("semaphore/posix_named", Tier::Core),
            ("pipe/size_4", Tier::Core),
            ("secret/x", Tier::Hidden),
            ("mutex/threads_2", Tier::Thorough),
            ("mutex/threads_4", Tier::Thorough),
        ]);
        let miss = |typed: &str| {
            let found = list.look_up_one(typed, &list.tier(Tier::Family), Tier::Family);
            found.map(|(way, items)| (way, items.len())).map_err(|miss| miss.to_string())
        };
        assert_eq!(miss("pipe"), Ok((Way::Beginning, 1)));
        assert_eq!(miss("secret/x/"), Ok((Way::Id, 1)), "a full id is found in any tier");
        for (typed, said) in [
            ("lat_fs", "'lat_fs' is lmbench's, which has no counterpart here"),
            (
                "mutex",
                "'mutex' finds 2 figures, all of the thorough tier: add --thorough, or give a full id (mutex/threads_2)",
            ),
            (
                "mutex/threads_3",
                "nothing is called 'mutex/threads_3': threads_3 does not fit; listed ids have threads_ with 2, 4",
            ),
            ("semaphor/e", "nothing is called 'semaphor/e'; did you mean semaphore?"),
            ("smph/psx", "nothing is called 'smph/psx'; did you mean semaphore/posix_named?"),
            ("xyzxyz", "nothing is called 'xyzxyz'; 'oscost list' shows what there is"),
        ] {
            assert_eq!(miss(typed), Err(said.to_owned()));
        }
        let all = list.look_up_one("mutex", &list.tier(Tier::Thorough), Tier::Thorough);
        assert_eq!(all.map(|(_, items)| items.len()), Ok(2));
    }
}
