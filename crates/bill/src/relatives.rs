//! What a running process, its children and theirs use from now on: nobody's time is lost while it runs, or counted twice when
//! it was waited for.

use std::collections::BTreeMap;

use oscost_sys::usage::{Relative, Usage};

/// A process and its descendants by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Relatives {
    known: BTreeMap<i32, OneOf>,
    /// What those have used who ended, and for whom nobody of them waited.
    gone: Usage,
}

/// One of them.
#[derive(Debug)]
struct OneOf {
    newest: Relative,
    /// What is in its usage from before the first look.
    before: Usage,
}

impl OneOf {
    /// Whether it has waited for one that `ended`: it is `newest` now, and the usage of its children has grown by at least that of all
    /// for whom it did. The past of one that it waited for is a part of its own.
    fn has_waited_for(&mut self, ended: &Self, newest: &Relative) -> bool {
        let mut children = self.newest.children;
        children.add(&ended.newest.usage);
        let has = children.since(&newest.children) == Usage::default();
        if has {
            self.newest.children = children;
            self.before.add(&ended.before);
        }
        has
    }
}

impl Relatives {
    /// All of them, when the count begins.
    pub fn new(all: BTreeMap<i32, Relative>) -> Self {
        let known = |(pid, newest): (i32, Relative)| (pid, OneOf { newest, before: newest.usage });
        Self { known: all.into_iter().map(known).collect(), gone: Usage::default() }
    }

    /// The numbers of all of them. One whose parent has ended is nobody's descendant any more, and still one of them.
    pub fn numbers(&self) -> impl Iterator<Item = i32> {
        self.known.keys().copied()
    }

    /// All of them, at a later time. Whoever is new began after the first look.
    pub fn look(&mut self, all: &BTreeMap<i32, Relative>) {
        let stays = |pid: i32, known: &OneOf| all.get(&pid).is_some_and(|it| it.begun == known.newest.begun);
        let ended: Vec<i32> =
            self.known.iter().filter(|(pid, it)| !stays(**pid, it)).map(|(pid, _)| *pid).collect();
        // Whoever ended is in the usage of the one that waited for it, with all that it used before the first look. Nobody may have:
        // a parent can ignore its children, or end before them.
        let mut waited = Vec::new();
        for &pid in &ended {
            let mut heir = self.known[&pid].newest.parent;
            while ended.contains(&heir) && heir != pid {
                heir = self.known[&heir].newest.parent;
            }
            waited.push(self.known.contains_key(&heir).then_some(heir).filter(|_| heir != pid));
        }
        for (pid, heir) in ended.iter().zip(waited) {
            let Some(it) = self.known.remove(pid) else { continue };
            let heir = heir.and_then(|heir| Some((self.known.get_mut(&heir)?, all.get(&heir)?)));
            if !heir.is_some_and(|(heir, newest)| heir.has_waited_for(&it, newest)) {
                self.gone.add(&it.newest.usage.since(&it.before));
            }
        }
        for (&pid, &newest) in all {
            let new = || OneOf { newest, before: Usage::default() };
            self.known.entry(pid).or_insert_with(new).newest = newest;
        }
    }

    /// What they have used together since the first look.
    pub fn used(&self) -> Usage {
        let mut sum = self.gone;
        for known in self.known.values() {
            sum.add(&known.newest.usage.since(&known.before));
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Processes by number, parent, and CPU time in the kernel: their own, and that of children that they waited for.
    type Process = (i32, i32, u64, u64);

    fn all(of: &[Process]) -> BTreeMap<i32, Relative> {
        let used = |system_ns| Usage { system_ns, ..Usage::default() };
        let one = |&(pid, parent, own, children): &Process| {
            let (usage, children) = (used(own + children), used(children));
            (pid, Relative { parent, begun: u64::try_from(pid).unwrap_or(0), usage, children })
        };
        of.iter().map(one).collect()
    }

    fn used(looks: &[&[Process]]) -> u64 {
        let mut relatives = Relatives::new(all(looks[0]));
        for look in &looks[1..] {
            relatives.look(&all(look));
        }
        relatives.used().system_ns
    }

    #[test]
    fn a_child_that_still_runs_counts_whether_it_is_old_or_new() {
        let looks: [&[Process]; 2] =
            [&[(2, 1, 100, 0), (3, 2, 50, 0)], &[(2, 1, 101, 0), (3, 2, 57, 0), (4, 2, 9, 0)]];
        assert_eq!(used(&looks), 1 + 7 + 9);
    }

    #[test]
    fn a_child_that_was_waited_for_counts_once_and_without_its_past() {
        // Process 3 ends at 58; process 4 comes and goes between two looks, with 5.
        let looks: [&[Process]; 3] =
            [&[(2, 1, 100, 0), (3, 2, 50, 0)], &[(2, 1, 100, 0), (3, 2, 57, 0)], &[(2, 1, 100, 58 + 5)]];
        assert_eq!(used(&looks), 8 + 5);
    }

    /// Its time was lost, and its past was taken from its parent's time: of 30, none was left.
    #[test]
    fn a_child_that_nobody_waits_for_counts_and_takes_nothing_from_its_parent() {
        let looks: [&[Process]; 3] =
            [&[(2, 1, 100, 0), (3, 2, 500, 0)], &[(2, 1, 110, 0), (3, 2, 510, 0)], &[(2, 1, 120, 0)]];
        assert_eq!(used(&looks), 20 + 10);
        // Process 3 is waited for; it ended before process 4, for which nobody waits.
        let looks: [&[Process]; 3] = [
            &[(2, 1, 100, 0), (3, 2, 50, 0), (4, 3, 200, 0)],
            &[(2, 1, 100, 0), (3, 2, 50, 0), (4, 3, 207, 0)],
            &[(2, 1, 100, 53)],
        ];
        assert_eq!(used(&looks), 3 + 7);
    }

    #[test]
    fn a_grandchild_and_its_parent_that_end_between_two_looks_count_once() {
        let looks: [&[Process]; 2] =
            [&[(2, 1, 100, 0), (3, 2, 50, 0), (4, 3, 20, 0)], &[(2, 1, 100, 53 + 26)]];
        assert_eq!(used(&looks), 3 + 6);
    }

    #[test]
    fn one_whose_parent_has_ended_still_counts_and_stays_counted_when_it_ends() {
        let looks: [&[Process]; 4] = [
            &[(2, 1, 100, 0), (3, 2, 50, 0), (4, 3, 20, 0)],
            &[(2, 1, 100, 51), (4, 1, 26, 0)],
            &[(2, 1, 100, 51), (4, 1, 28, 0)],
            &[(2, 1, 100, 51)],
        ];
        assert_eq!(used(&looks), 1 + 8);
    }

    #[test]
    fn all_of_them_may_end() {
        assert_eq!(used(&[&[(2, 1, 100, 0)], &[(2, 1, 130, 0)], &[]]), 30);
    }

    #[test]
    fn a_number_that_comes_again_is_another_process() {
        let mut relatives = Relatives::new(all(&[(2, 1, 100, 0), (3, 1, 50, 0)]));
        let mut later = all(&[(2, 1, 100, 0), (3, 1, 4, 0)]);
        later.get_mut(&3).expect("it is there").begun += 1;
        relatives.look(&later);
        assert_eq!(relatives.used().system_ns, 4);
    }
}
