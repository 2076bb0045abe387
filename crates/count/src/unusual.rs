//! Iterations that took another number of instructions than most, and the functions in which they differ.

use std::collections::{BTreeMap, BTreeSet};

use oscost_results::FunctionNode;

/// So many different numbers are looked at, the most frequent first.
const MOST: usize = 3;
/// So many functions are named.
const NAMED: usize = 5;

/// Iterations that took the same number of instructions, which is not the usual one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unusual {
    /// The number.
    pub took: u64,
    /// How many there were.
    pub times: usize,
    /// Of how many.
    pub of: usize,
    /// Own instructions of one of them by function, less those of a usual iteration; where they differ.
    pub changes: BTreeMap<String, i64>,
}

/// Looks at whole iterations behind the first one, which took `each`; `tree` makes the tree of one by its index.
pub(crate) fn find(
    each: &[u64],
    usual: u64,
    functions: &[FunctionNode],
    tree: &dyn Fn(usize) -> Vec<FunctionNode>,
) -> Vec<Unusual> {
    let whole = each.get(1..).unwrap_or_default();
    let times = |took: u64| whole.iter().filter(|&&other| other == took).count();
    let mut others: Vec<u64> =
        whole.iter().copied().filter(|&took| took != usual).collect::<BTreeSet<_>>().into_iter().collect();
    others.sort_by_key(|&took| std::cmp::Reverse(times(took)));
    others.truncate(MOST);
    let own = |functions: &[FunctionNode], sign: i64, into: &mut BTreeMap<String, i64>| {
        for node in functions {
            *into.entry(node.name.clone()).or_default() += sign * i64::try_from(node.own).unwrap_or(i64::MAX);
        }
    };
    let one = |took: u64| {
        let index = 1 + whole.iter().position(|&other| other == took)?;
        let mut changes = BTreeMap::new();
        own(&tree(index), 1, &mut changes);
        own(functions, -1, &mut changes);
        changes.retain(|_, change| *change != 0);
        Some(Unusual { took, times: times(took), of: whole.len(), changes })
    };
    others.into_iter().filter_map(one).collect()
}

impl Unusual {
    /// In words, beside a usual iteration's number.
    #[must_use]
    pub fn reported(&self, usual: u64) -> String {
        let by = difference(self.took, usual);
        let mut changes: Vec<(&String, i64)> = self.changes.iter().map(|(name, &by)| (name, by)).collect();
        changes.sort_by_key(|&(name, by)| (std::cmp::Reverse(by.abs()), name.clone()));
        let mut parts: Vec<String> =
            changes.iter().take(NAMED).map(|(name, by)| format!("{name} {by:+}")).collect();
        let rest = &changes[NAMED.min(changes.len())..];
        if !rest.is_empty() {
            let sum: i64 = rest.iter().map(|(_, by)| by).sum();
            parts.push(format!("{} other functions {sum:+}", rest.len()));
        }
        format!("{} of {} iterations take {by}: {}", self.times, self.of, parts.join(", "))
    }
}

/// "3 more"
pub(crate) fn difference(there: u64, usual: u64) -> String {
    format!("{} {}", there.abs_diff(usual), if there > usual { "more" } else { "fewer" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, own: u64) -> FunctionNode {
        FunctionNode {
            depth: 1,
            name: name.to_owned(),
            place: "kernel".to_owned(),
            calls: 1,
            own,
            repeated: 0,
            unknown: serde_json::Map::default(),
        }
    }

    #[test]
    fn what_an_iteration_did_more_is_named_and_adds_up() {
        let usual = vec![node("open", 100), node("kmalloc", 30), node("open", 10)];
        let other = vec![node("open", 100), node("kmalloc", 25), node("new_slab", 60), node("open", 10)];
        let tree = |index: usize| if index == 3 { other.clone() } else { usual.clone() };
        let found = find(&[999, 140, 140, 195, 140], 140, &usual, &tree);
        assert_eq!(found.len(), 1, "the first iteration is not looked at");
        assert_eq!((found[0].took, found[0].times, found[0].of), (195, 1, 4));
        assert_eq!(found[0].changes.values().sum::<i64>(), 55);
        assert_eq!(found[0].reported(140), "1 of 4 iterations take 55 more: new_slab +60, kmalloc -5");
    }

    #[test]
    fn the_sum_of_what_is_not_named_is_told() {
        let usual = vec![node("a", 1)];
        let other: Vec<FunctionNode> = (0..7).map(|index| node(&format!("f{index}"), 10 - index)).collect();
        let found = find(&[1, 1, 49], 1, &usual, &|_| other.clone());
        let reported = found[0].reported(1);
        assert!(reported.ends_with("f0 +10, f1 +9, f2 +8, f3 +7, f4 +6, 3 other functions +8"), "{reported}");
    }
}
