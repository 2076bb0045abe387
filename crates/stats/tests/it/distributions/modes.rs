//! `bimodal` on noise with one mode (nearly never two) and on planted mixtures (always found).

use super::simulated::Simulator;
use oscost_stats::modes::bimodal;
use oscost_stats::quantile::sorted;

fn samples(count: usize, mut draw: impl FnMut() -> f64) -> Vec<f64> {
    sorted((0..count).map(|_| draw()).collect())
}

#[test]
fn noise_has_one_mode() {
    let mut simulator = Simulator::new(5);
    for scatter in [0.01, 0.05, 0.1, 0.3, 1.0] {
        for count in [30, 100, 300, 1000, 3000] {
            let found = (0..200)
                .filter(|_| {
                    bimodal(&samples(count, || 100.0 * (scatter * simulator.normal()).exp())).is_some()
                })
                .count();
            assert!(found <= 2, "lognormal of {scatter}, {count} samples: {found} of 200 called bimodal");
        }
    }
}

#[test]
fn a_long_tail_is_no_mode() {
    let mut simulator = Simulator::new(6);
    for tail in [0.05, 0.3, 2.0] {
        for count in [100, 1000, 3000] {
            // A sharp floor with an exponential tail above it, as costs have.
            let found = (0..200)
                .filter(|_| {
                    let draw = || {
                        100.0 * (1.0 - tail * simulator.uniform().ln()) * (0.003 * simulator.normal()).exp()
                    };
                    bimodal(&samples(count, draw)).is_some()
                })
                .count();
            assert!(found <= 2, "tail of {tail}, {count} samples: {found} of 200 called bimodal");
        }
    }
    // Evenly spread is no mode either, nor is a flat top.
    let found = (0..200)
        .filter(|_| bimodal(&samples(2000, || 100.0 + 100.0 * simulator.uniform())).is_some())
        .count();
    assert!(found <= 2, "even: {found} of 200 called bimodal");
}

#[test]
fn planted_modes_are_found_with_their_shares() {
    let mut simulator = Simulator::new(7);
    for (lower_share, ratio, scatter) in [
        (0.7, 1.23, 0.005),
        (0.3, 1.23, 0.005),
        (0.7, 1.23, 0.03),
        (0.5, 1.08, 0.01),
        (0.1, 1.4, 0.01),
        (0.85, 2.0, 0.05),
    ] {
        for count in [500, 2000, 5000] {
            for stalled in [0.0, 0.02] {
                let sorted = samples(count, || {
                    let mode = if simulator.uniform() < lower_share { 104.0 } else { 104.0 * ratio };
                    // A stall of up to a hundred times must not pass for the second mode.
                    let stall =
                        if simulator.uniform() < stalled { 1.0 + 100.0 * simulator.uniform() } else { 1.0 };
                    mode * stall * (scatter * simulator.normal()).exp()
                });
                let case = format!(
                    "{lower_share} at {ratio}, scatter {scatter}, {count} samples, {stalled} stalled"
                );
                let [lower, upper] = bimodal(&sorted).unwrap_or_else(|| panic!("not found: {case}"));
                let noise = 5.0 * (0.25 / count as f64).sqrt() + stalled;
                assert!((lower.share - lower_share).abs() < noise, "{case}: {lower:?}");
                assert!((lower.share + upper.share - 1.0).abs() < 1e-12);
                assert!((lower.value / 104.0 - 1.0).abs() < 0.02, "{case}: {lower:?}");
                assert!((upper.value / lower.value / ratio - 1.0).abs() < 0.03, "{case}: {upper:?}");
            }
        }
    }
}

#[test]
fn rare_or_near_modes_are_not_called_modes() {
    let mut simulator = Simulator::new(8);
    for (lower_share, ratio) in [(0.5, 1.04), (0.93, 1.3), (0.02, 1.3)] {
        let sorted = samples(5000, || {
            let mode = if simulator.uniform() < lower_share { 104.0 } else { 104.0 * ratio };
            mode * (0.003 * simulator.normal()).exp()
        });
        assert_eq!(bimodal(&sorted), None, "{lower_share} at {ratio}");
    }
    for none in [&[][..], &[5.0], &[0.0, 1.0, 2.0], &[-1.0, 1.0], &[3.0; 1000]] {
        assert_eq!(bimodal(none), None);
    }
}

#[test]
fn the_unit_does_not_matter() {
    let sorted: Vec<f64> = (0..1000).map(|round| if round < 700 { 104.0 } else { 128.0 }).collect();
    let scaled: Vec<f64> = sorted.iter().map(|sample| sample * 1024.0).collect();
    let ([lower, upper], [scaled_lower, scaled_upper]) =
        (bimodal(&sorted).unwrap(), bimodal(&scaled).unwrap());
    assert_eq!((lower.value, lower.share, upper.value, upper.share), (104.0, 0.7, 128.0, 0.3));
    assert_eq!((scaled_lower.value, scaled_upper.value), (104.0 * 1024.0, 128.0 * 1024.0));
}

/// So many samples at 100, and so many at 130.
fn two_values(lower: usize, upper: usize) -> Vec<f64> {
    [vec![100.0; lower], vec![130.0; upper]].concat()
}

#[test]
fn a_valley_is_deeper_than_four_standard_deviations_of_counting() {
    // Nothing between peaks of n: n is 4 standard deviations from 16 on.
    assert_eq!(bimodal(&two_values(15, 15)), None);
    let [lower, upper] = bimodal(&two_values(16, 16)).expect("two modes");
    assert_eq!((lower.value, upper.value, lower.share, upper.share), (100.0, 130.0, 0.5, 0.5));
    // The lower of both peaks counts.
    assert_eq!(bimodal(&two_values(15, 45)), None);
    assert_eq!(bimodal(&two_values(45, 15)), None);
}

#[test]
fn a_mode_has_its_share() {
    // The lower one more than 5 %, the upper one more than 10 %.
    assert_eq!(bimodal(&two_values(49, 951)), None);
    assert!(bimodal(&two_values(51, 949)).is_some());
    assert_eq!(bimodal(&two_values(901, 99)), None);
    assert!(bimodal(&two_values(899, 101)).is_some());
}
