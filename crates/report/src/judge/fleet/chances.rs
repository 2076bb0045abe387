//! The tests of a host: in each figure and in all of a kind together; how they are weighed, and what they could show.

use std::collections::BTreeMap;

use oscost_stats::odd::{Bulk, Tail};
use oscost_stats::sorting::SmallSort;

use super::{CLIP, LEAST_HOSTS, MOST, OddFinding, OddIn};

/// Share of the level that a host's tests over all figures have; those of single figures have the rest.
const TOGETHER: f64 = 0.5;
/// Scales beyond which one of ten normal values does not lie: a host that is so much farther out is found in nine cases of ten.
const NINE_OF_TEN: f64 = 1.281_551_565_544_600_4;
/// The tests of each host, by its group and its place in that.
pub(super) type Tests = BTreeMap<(usize, usize), Vec<Test>>;

/// A test of one host.
pub(super) struct Test {
    /// Chance of a deviation as large as this.
    pub chance: f64,
    /// Its chance by the scale, where its host lies beyond all others in this one figure; otherwise 1.
    pub alone: f64,
    /// What is said of it.
    pub finding: OddFinding,
}

impl Test {
    /// Whether it is of one figure.
    pub fn is_single(&self) -> bool {
        matches!(self.finding.what, OddIn::Figure(_))
    }
}

/// What the hosts of a group have in all figures that enter the kernel: their means, the scales of the figures, and over how
/// many kinds of figures a host has such a test.
pub(super) struct Together {
    pub bulk: Bulk,
    pub scales: Vec<f64>,
    pub kinds: usize,
}

impl Together {
    /// Share by which a host must be slower in each of these figures to be named in nine cases of ten, if a single host is named
    /// at this rate. `None` if no share is large enough: a figure counts with [`CLIP`] at most.
    pub fn shows(&self, rate: f64) -> Option<f64> {
        let far = self.bulk.reach(rate * TOGETHER / self.kinds.max(1) as f64) + NINE_OF_TEN * self.bulk.scale;
        let mean = |apart: f64| {
            self.scales.iter().map(|scale| (apart / scale).min(CLIP)).sum::<f64>() / self.scales.len() as f64
        };
        let most = CLIP * self.scales.iter().copied().fold(0.0, f64::max);
        least(most, |apart| mean(apart) >= far).map(f64::exp_m1)
    }
}

/// The least distance up to this one that is far enough; `None` if it is not itself.
fn least(most: f64, is_enough: impl Fn(f64) -> bool) -> Option<f64> {
    let (mut low, mut high) = (0.0, most);
    if !is_enough(high) {
        return None;
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if is_enough(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// What the hosts of a group are held against: all figures together, and each by itself.
pub(super) struct Scales {
    pub together: Option<Together>,
    pub singles: Vec<(Bulk, Tail)>,
}

impl Scales {
    /// Share by which a host must be slower in one figure alone, in the middle of them, to be named in nine cases of ten. `None`
    /// if that is more than [`MOST`].
    pub fn shows_alone(&self, rate: f64) -> Option<f64> {
        let named = rate * (1.0 - TOGETHER) / self.singles.len().max(1) as f64;
        let far = |(bulk, tail): &(Bulk, Tail)| {
            let chance = |apart: f64| bulk.chance(bulk.centre + apart, 0.0).max(tail.chance(apart, 0.0));
            let least = least(MOST.ln_1p(), |apart| chance(apart) <= named);
            least.map_or(f64::INFINITY, |least| least + NINE_OF_TEN * bulk.scale)
        };
        let mut all: Vec<f64> = self.singles.iter().map(far).collect();
        all.small_sort_by(f64::total_cmp);
        all.get(all.len() / 2).map(|far| far.exp_m1()).filter(|share| *share <= MOST)
    }
}

/// Weights of a test over all figures, and of one of a single figure: one on average over a host's tests.
pub(super) fn weights(tests: &[Test]) -> [f64; 2] {
    let single = tests.iter().filter(|test| test.is_single()).count();
    let together = tests.len() - single;
    if single == 0 || together == 0 {
        return [1.0; 2];
    }
    let all = tests.len() as f64;
    [TOGETHER * all / together as f64, (1.0 - TOGETHER) * all / single as f64]
}

/// What is said of a host, of the tests that are told: of all figures first, because a person can act on it.
pub(super) fn findings(
    tests: &[Test],
    adjusted: &[f64],
    is_told: impl Fn(&Test, f64) -> bool,
) -> Vec<OddFinding> {
    let of = tests.iter().zip(adjusted.iter().copied());
    let mut found: Vec<(&Test, f64)> = of.filter(|(test, adjusted)| is_told(test, *adjusted)).collect();
    found.small_sort_by(|one, other| {
        one.0.is_single().cmp(&other.0.is_single()).then(one.1.total_cmp(&other.1))
    });
    found.into_iter().map(|(test, _)| test.finding.clone()).collect()
}

/// The median deviation of a host's figures, of two or more.
pub(super) fn middle(deviations: &[(f64, f64)]) -> Option<f64> {
    if deviations.len() < 2 {
        None
    } else {
        Bulk::of(deviations.iter().map(|it| it.1)).map(|bulk| bulk.centre)
    }
}

/// Adds a test of each host in all its figures of a kind. How far hosts usually lie apart in them, as a share, and their means.
pub(super) fn together(
    group: usize,
    kind: usize,
    of_hosts: &[Vec<(f64, f64)>],
    tests: &mut Tests,
) -> Option<(f64, Bulk)> {
    let most = of_hosts.iter().map(Vec::len).max().unwrap_or(0);
    // Few figures of a host say less: their mean is drawn towards that of the others, as independent figures would have it.
    // One wild figure counts little, and may yet be all that takes a host beyond the others: the mean of the rest has to lie
    // there, too.
    let score = |deviations: &Vec<(f64, f64)>| {
        let count = deviations.len();
        let sum = deviations.iter().map(|it| it.0).sum::<f64>();
        let far = deviations.iter().map(|it| it.0).max_by(|one, other| one.abs().total_cmp(&other.abs()))?;
        let drawn = (count as f64 / most as f64).sqrt();
        (count >= 2).then(|| [sum / count as f64, (sum - far) / (count - 1) as f64].map(|mean| mean * drawn))
    };
    let scores: Vec<Option<[f64; 2]>> = of_hosts.iter().map(score).collect();
    let of = |which: usize| Bulk::of(scores.iter().flatten().map(|it| it[which]));
    let (bulk, rest) = (of(0)?, of(1)?);
    let usual = Bulk::of(of_hosts.iter().filter_map(|it| middle(it)))?.scale.exp_m1();
    if bulk.count < LEAST_HOSTS {
        return None;
    }
    for (host, score) in scores.iter().enumerate() {
        let (Some(score), Some(apart)) = (score, middle(&of_hosts[host])) else { continue };
        let count = of_hosts[host].len();
        let what = if kind == 0 { OddIn::Kernel(count) } else { OddIn::User(count) };
        let finding = OddFinding { what, apart: apart.exp_m1(), usual };
        let chance = bulk.chance(score[0], 0.0).max(rest.chance(score[1], 0.0));
        tests.entry((group, host)).or_default().push(Test { chance, alone: 1.0, finding });
    }
    Some((usual, bulk))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(what: OddIn, chance: f64) -> Test {
        Test { chance, alone: 1.0, finding: OddFinding { what, apart: 0.1, usual: 0.02 } }
    }

    fn single(id: &str, chance: f64) -> Test {
        test(OddIn::Figure(id.to_owned()), chance)
    }

    /// Half of the level is for the tests over all figures, however many single figures there are; where there is one kind of
    /// tests alone it has the whole.
    #[test]
    fn weights_are_one_on_average_and_half_is_for_all_together() {
        let of = |together: usize, singles: usize| {
            let all = (0..together).map(|count| test(OddIn::Kernel(count), 0.5));
            weights(&all.chain((0..singles).map(|_| single("a", 0.5))).collect::<Vec<_>>())
        };
        assert_eq!([of(2, 6), of(1, 3), of(2, 1)], [[2.0, 2.0 / 3.0], [2.0, 2.0 / 3.0], [0.75, 1.5]]);
        assert_eq!([of(0, 3), of(2, 0), of(0, 0)], [[1.0; 2]; 3]);
    }

    #[test]
    fn what_is_of_all_figures_is_said_first_and_then_the_surest() {
        let tests =
            [single("b", 0.0), test(OddIn::User(2), 0.0), single("a", 0.0), test(OddIn::Kernel(3), 0.0)];
        let said = |adjusted: [f64; 4], level| {
            let found = findings(&tests, &adjusted, |_, rate| rate <= level);
            found.into_iter().map(|finding| finding.what).collect::<Vec<_>>()
        };
        let figure = |id: &str| OddIn::Figure(id.to_owned());
        let all = [OddIn::Kernel(3), OddIn::User(2), figure("a"), figure("b")];
        assert_eq!(said([0.02, 0.05, 0.01, 0.04], 0.05), all, "a chance at the level is below it");
        assert_eq!(said([0.02, 0.05, 0.01, 0.04], 0.03), all[2..]);
        assert_eq!(said([1.0; 4], 0.05), []);
    }

    #[test]
    fn the_middle_of_a_host_is_that_of_two_figures_or_more() {
        assert_eq!(middle(&[(0.0, 1.0)]), None);
        assert_eq!(middle(&[(0.0, 1.0), (9.0, 3.0)]), Some(2.0));
    }

    /// Hosts whose figures deviate by these scales, each by the same; as a share it is a hundredth of that.
    fn hosts(of: &[(usize, f64)]) -> Vec<Vec<(f64, f64)>> {
        of.iter().map(|&(figures, apart)| vec![(apart, apart / 100.0); figures]).collect()
    }

    #[test]
    fn a_host_of_few_figures_says_less_and_one_of_a_single_figure_nothing() {
        let usual = [-0.4, -0.3, -0.2, -0.1, 0.1, 0.2, 0.3, 0.4];
        let mut of: Vec<(usize, f64)> = usual.map(|apart| (16, apart)).into();
        of.extend([(16, 2.0), (4, 2.0), (4, 1.0), (16, 0.5), (1, 2.0)]);
        let mut tests = Tests::new();
        let (share, bulk) = together(3, 1, &hosts(&of), &mut tests).expect("enough hosts");
        let chance = |host: usize| tests[&(3, host)][0].chance;
        assert!(chance(8) < chance(9), "of 4 of 16 figures half counts");
        assert!((chance(10) - chance(11)).abs() < 1e-12, "a mean of 1 in 4 of 16 is one of a half in all");
        assert!(!tests.contains_key(&(3, 12)) && bulk.count == 12, "{bulk:?}");
        let found = &tests[&(3, 8)][0].finding;
        assert_eq!((&found.what, found.apart, found.usual), (&OddIn::User(16), 0.02_f64.exp_m1(), share));
        let means = of[..12].iter().map(|&(count, apart)| apart * (count as f64 / 16.0).sqrt());
        let scale = Bulk::of(means).expect("hosts").scale;
        assert!((bulk.scale / scale - 1.0).abs() < 1e-9, "few are held against the most that a host has");
        let middles = Bulk::of(of[..12].iter().map(|it| it.1 / 100.0)).expect("hosts");
        assert_eq!(share, middles.scale.exp_m1());
        let mut kernel = Tests::new();
        assert!(together(0, 0, &hosts(&of[..8]), &mut kernel).is_some(), "eight are enough");
        assert_eq!(kernel[&(0, 0)][0].finding.what, OddIn::Kernel(16));
        let mut few = Tests::new();
        assert!(together(0, 0, &hosts(&of[..7]), &mut few).is_none() && few.is_empty());
    }

    /// Where all figures have one scale, a host is far enough out where each figure is; where one is narrower, it is clipped.
    #[test]
    fn what_a_group_shows_is_where_its_mean_is_far_enough() {
        let bulk = Bulk::of((0..40).map(|at| f64::from(at) / 22.0)).expect("values");
        let shows = |scales: &[f64], kinds: usize| {
            Together { bulk, scales: scales.to_vec(), kinds }.shows(0.001).map(f64::ln_1p)
        };
        let far = |kinds: f64| bulk.reach(0.001 / 2.0 / kinds) + NINE_OF_TEN * bulk.scale;
        let near = |one: Option<f64>, other: f64| one.is_some_and(|one| (one / other - 1.0).abs() < 1e-9);
        assert!(far(1.0) < CLIP && far(2.0) < CLIP && far(2.0) > far(1.0));
        assert!(near(shows(&[0.02; 3], 1), 0.02 * far(1.0)) && near(shows(&[0.02; 3], 2), 0.02 * far(2.0)));
        assert!(near(shows(&[0.02; 3], 0), 0.02 * far(1.0)), "no kind is counted as one");
        // Of two scales the narrow one is at its bound, and the wide one has the rest.
        let wide = 2.0 * far(1.0) - CLIP;
        assert!(wide * 4.0 > CLIP && near(shows(&[0.01, 0.04], 1), 0.04 * wide));
        assert_eq!(shows(&[], 1), None);
        let wider = Bulk::of((0..40).map(|at| f64::from(at) / 10.0)).expect("values");
        assert_eq!(Together { bulk: wider, scales: vec![0.02; 3], kinds: 1 }.shows(0.001), None, "clipped");
    }

    /// Where a host is as far out as a test of one figure asks, it is found in nine cases of ten by so much more.
    #[test]
    fn what_one_figure_shows_is_that_of_the_middle_one() {
        let of = |scale: f64| {
            let values: Vec<f64> = (0..200).map(|at| scale * (f64::from(at) / 100.0 - 1.0)).collect();
            (Bulk::of(values.iter().copied()).expect("values"), Tail::of(values.iter().copied()))
        };
        let shows = |scales: &[f64], rate: f64| {
            let singles = scales.iter().map(|scale| of(*scale)).collect();
            Scales { together: None, singles }.shows_alone(rate).map(f64::ln_1p)
        };
        for (scales, middle) in [(&[0.01][..], 0.01), (&[0.03, 0.01, 0.02], 0.02), (&[0.01, 0.02], 0.02)] {
            let far = shows(scales, 0.01).expect("a share");
            let (bulk, tail) = of(middle);
            let apart = far - NINE_OF_TEN * bulk.scale;
            let chance = |apart: f64| bulk.chance(bulk.centre + apart, 0.0).max(tail.chance(apart, 0.0));
            let level = 0.01 * (1.0 - TOGETHER) / scales.len() as f64;
            assert!(
                chance(apart * (1.0 + 1e-9)) <= level && level < chance(apart * (1.0 - 1e-6)),
                "{scales:?}"
            );
        }
        assert!(shows(&[0.01], 1e-4) > shows(&[0.01], 0.01), "a rarer alarm needs more");
        assert_eq!(
            (shows(&[], 0.01), shows(&[5.0], 0.01)),
            (None, None),
            "none, or more than a hundred times"
        );
    }

    /// One wild figure is left out of the mean that has to lie far out, too; the chance is the larger of both.
    #[test]
    fn a_host_is_as_far_out_as_the_nearer_of_its_two_means() {
        let usual: Vec<f64> = (0..12).map(|at| 0.1 * (f64::from(at) - 5.5)).collect();
        let mut hosts: Vec<Vec<(f64, f64)>> = usual.iter().map(|&apart| vec![(apart, 0.0); 16]).collect();
        let with_one_wild = |rest: f64, wild: f64| {
            let mut of = vec![(rest, 0.0); 15];
            of.insert(7, (wild, 0.0));
            of
        };
        hosts.extend([with_one_wild(2.0, -5.0), with_one_wild(0.1, 5.0), with_one_wild(-2.0, 5.0)]);
        let mut tests = Tests::new();
        let (_, bulk) = together(0, 0, &hosts, &mut tests).expect("hosts");
        let [means, rests] = [[25.0 / 16.0, 6.5 / 16.0, -25.0 / 16.0], [2.0, 0.1, -2.0]];
        let bulk_of = |own: [f64; 3]| Bulk::of(usual.iter().copied().chain(own)).expect("values");
        assert!((bulk.scale / bulk_of(means).scale - 1.0).abs() < 1e-9 && bulk.count == 15, "{bulk:?}");
        let rest = bulk_of(rests);
        for (at, (mean, of_rest)) in means.into_iter().zip(rests).enumerate() {
            let (of_all, of_rest) = (bulk.chance(mean, 0.0), rest.chance(of_rest, 0.0));
            assert_eq!(of_rest > of_all, at == 1);
            let chance = tests[&(0, 12 + at)][0].chance;
            assert!((chance / of_all.max(of_rest) - 1.0).abs() < 1e-9, "{at}: {chance}");
        }
    }
}
