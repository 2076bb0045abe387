//! How often intervals over launches hold the truth: printed for all laws, asserted for independent launches.

use crate::simulated::{Law, Simulator};
use oscost_stats::interval::{LOWER_QUARTILE, MEDIAN, over_launches};

#[test]
fn coverage_of_intervals() {
    let runs = 4000;
    println!("| launches of a run are | floor, 6 launches | 10 | 30 | median, 6 launches | 10 | 30 |");
    println!("|---|---|---|---|---|---|---|");
    for (name, law, independent) in [
        ("independent, lognormal", Law::Lognormal(0.003), true),
        ("independent, 10 % of them in a slow mode", Law::Bimodal(0.003, 0.1), true),
        ("independent, 30 % of them in a slow mode", Law::Bimodal(0.003, 0.3), true),
        ("autocorrelated by 0.7", Law::Autocorrelated(0.003), false),
        ("drifting", Law::Drifting(0.003), false),
    ] {
        let mut row = format!("| {name} |");
        for q in [LOWER_QUARTILE, MEDIAN] {
            for launches in [6, 10, 30] {
                let mut simulator = Simulator::new(launches as u64);
                let truth = law.truth(q, launches, &mut simulator);
                let held = (0..runs)
                    .filter(|_| {
                        let interval = over_launches(&law.run(launches, &mut simulator), q).unwrap();
                        interval.low <= truth && truth <= interval.high
                    })
                    .count();
                let share = held as f64 / f64::from(runs);
                row += &format!(" {:.1} % |", share * 100.0);
                if independent && launches >= 10 {
                    assert!(share >= 0.80, "{name}, {launches} launches, quantile {q}: {share}");
                }
            }
        }
        println!("{row}");
    }
}
