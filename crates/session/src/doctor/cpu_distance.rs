//! Distances between CPUs: the time of a cache line, which is part of every figure across CPUs.

use oscost_sys::cpu_list;

use super::system::System;
use super::{Finding, duration};

/// Pairs whose distances differ by less are equally far.
const EQUAL: f64 = 1.5;
/// Pairs that are listed one by one.
const MOST_LISTED: usize = 6;

const MATTERS: &str = "cross_cpu and spread figures depend on the pair of CPUs that they run on";

pub(super) fn check(system: &System) -> Finding {
    let Some(distances) = &system.measured.distances else {
        return Finding::unknown("not measured (oscost doctor does)", MATTERS);
    };
    if distances.cpus.len() < 2 {
        return Finding::fine("one CPU: there is no distance");
    }
    let mut pairs: Vec<(f64, [usize; 2])> =
        distances.ns.iter().filter_map(|&(a, b, ns)| Some((ns?, [a, b]))).collect();
    pairs.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (Some(&(near, _)), Some(&(far, _))) = (pairs.first(), pairs.last()) else {
        return Finding::unknown("no two CPUs ran at the same time during this check", MATTERS);
    };
    let missing = distances.ns.len() - pairs.len();
    let missing =
        if missing > 0 { format!("; {missing} pairs never ran at the same time") } else { String::new() };
    if let ([(ns, [a, b])], 0) = (&pairs[..], missing.len()) {
        return Finding::fine(format!("a cache line takes {} between CPU {a} and {b}", duration(*ns)));
    }
    if far <= near * EQUAL {
        return Finding::fine(format!(
            "CPU {} are equally far: a cache line takes {} to {}{missing}",
            cpu_list::format(&distances.cpus),
            duration(near),
            duration(far)
        ));
    }
    let listed = |(ns, [a, b]): &(f64, [usize; 2])| format!("{a}-{b} {}", duration(*ns));
    let each: Vec<String> = if pairs.len() <= MOST_LISTED {
        pairs.iter().map(listed).collect()
    } else {
        pairs.iter().take(3).chain(&pairs[pairs.len() - 3..]).map(listed).collect()
    };
    let near_pair = pairs[0].1;
    Finding::disturbs(format!("a cache line takes {}{missing}", each.join(", ")), MATTERS)
        .remedy(format!("choose the pair: --cpu {},{} is the nearest", near_pair[0], near_pair[1]))
}

#[cfg(test)]
mod tests {
    use super::super::measured::Distances;
    use super::super::system::recorded::*;
    use super::{Finding, check};

    fn found(cpus: &[usize], ns: &[(usize, usize, Option<f64>)]) -> Finding {
        let distances = Distances { cpus: cpus.to_vec(), ns: ns.to_vec() };
        check(&Recorded::new(&[]).with(|measured| measured.distances = Some(distances)).system)
    }

    #[test]
    fn equal_distances_are_fine() {
        found(&[0, 1, 2], &[(0, 1, Some(50.0)), (0, 2, Some(60.0)), (1, 2, Some(55.0))])
            .is(Fine, "CPU 0-2 are equally far: a cache line takes 50 ns to 60 ns");
    }

    #[test]
    fn two_cpus_have_one_distance() {
        found(&[0, 1], &[(0, 1, Some(50.0))]).is(Fine, "a cache line takes 50 ns between CPU 0 and 1");
    }

    #[test]
    fn the_nearest_pair_is_advised() {
        let found = found(&[0, 1, 2], &[(0, 1, Some(150.0)), (0, 2, Some(30.0)), (1, 2, None)]);
        found.is(Disturbs, "a cache line takes 0-2 30 ns, 0-1 150 ns; 1 pairs...");
        assert!(found.remedy.expect("a remedy").contains("--cpu 0,2"));
    }

    #[test]
    fn one_cpu_has_no_distance_and_a_busy_machine_none_that_is_known() {
        assert_eq!(found(&[0], &[]).state, Fine);
        assert_eq!(found(&[0, 1], &[(0, 1, None)]).state, Unknown);
    }
}
