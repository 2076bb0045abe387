//! The tests of a host: in each figure and in all of a kind together; how they are weighed, and what they could show.

use std::collections::BTreeMap;

use oscost_stats::odd::Bulk;
use oscost_stats::sorting::SmallSort;

use super::{CLIP, LEAST_HOSTS, OddFinding, OddIn};

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
        let (mut low, mut high) = (0.0, CLIP * self.scales.iter().copied().fold(0.0, f64::max));
        if self.scales.is_empty() || mean(high) < far {
            return None;
        }
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if mean(middle) >= far { high = middle } else { low = middle }
        }
        Some(high.exp_m1())
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

/// What is said of a host at this level: of all figures first, because a person can act on it.
pub(super) fn findings(tests: &[Test], adjusted: &[f64], level: f64) -> Vec<OddFinding> {
    let mut found: Vec<(&Test, f64)> =
        tests.iter().zip(adjusted.iter().copied()).filter(|(_, adjusted)| *adjusted <= level).collect();
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
    let score = |deviations: &Vec<(f64, f64)>| {
        let count = deviations.len();
        let mean = deviations.iter().map(|it| it.0).sum::<f64>() / count as f64;
        (count >= 2).then(|| mean * (count as f64 / most as f64).sqrt())
    };
    let scores: Vec<Option<f64>> = of_hosts.iter().map(score).collect();
    let bulk = Bulk::of(scores.iter().flatten().copied())?;
    let usual = Bulk::of(of_hosts.iter().filter_map(|it| middle(it)))?.scale.exp_m1();
    if bulk.count < LEAST_HOSTS {
        return None;
    }
    for (host, score) in scores.iter().enumerate() {
        let (Some(score), Some(apart)) = (score, middle(&of_hosts[host])) else { continue };
        let count = of_hosts[host].len();
        let what = if kind == 0 { OddIn::Kernel(count) } else { OddIn::User(count) };
        let finding = OddFinding { what, apart: apart.exp_m1(), usual };
        tests.entry((group, host)).or_default().push(Test { chance: bulk.chance(*score, 0.0), finding });
    }
    Some((usual, bulk))
}
