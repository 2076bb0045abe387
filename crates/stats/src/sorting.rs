//! Stable sorting whose machine code is there once. The standard library's is 6 kB for each place that sorts, of which the program
//! has a hundred; none of them sorts much.

use std::cmp::Ordering;

/// Sorts as the methods of slices of the same name without `small` do.
pub trait SmallSort<T> {
    /// By a comparison.
    fn small_sort_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);
    /// By a key, asked for at each comparison.
    fn small_sort_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K);
}

impl<T> SmallSort<T> for [T] {
    fn small_sort_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let swaps = swaps(self.len(), &mut |one, other| compare(&self[one], &self[other]));
        swaps.into_iter().for_each(|(one, other)| self.swap(one, other));
    }

    fn small_sort_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.small_sort_by(|one, other| key(one).cmp(&key(other)));
    }
}

/// Places to swap, in this order, so that what `compare` compares by its place is sorted.
#[inline(never)]
fn swaps(length: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<(usize, usize)> {
    let mut from: Vec<usize> = (0..length).collect();
    from.sort_by(|one, other| compare(*one, *other));
    let mut swaps = Vec::new();
    for first in 0..length {
        // Round the circle of what takes each other's places.
        let mut at = first;
        while from[at] != first {
            let next = std::mem::replace(&mut from[at], at);
            swaps.push((at, next));
            at = next;
        }
        from[at] = at;
    }
    swaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_sorts_as_the_standard_library(numbers in prop::collection::vec(0..20_u32, 0..60)) {
            let places: Vec<(u32, usize)> = numbers.into_iter().zip(0..).collect();
            let (mut ours, mut theirs) = (places.clone(), places.clone());
            ours.small_sort_by_key(|(number, _)| *number);
            theirs.sort_by_key(|(number, _)| *number);
            prop_assert_eq!(&ours, &theirs);
            let down = |one: &(u32, usize), other: &(u32, usize)| (other.0 / 3).cmp(&(one.0 / 3));
            ours.small_sort_by(down);
            theirs.sort_by(down);
            prop_assert_eq!(ours, theirs);
        }
    }
}
