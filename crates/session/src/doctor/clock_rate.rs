//! Rates: CLOCK_MONOTONIC against CLOCK_MONOTONIC_RAW and the processor's counter. A slewed clock makes every figure
//! longer or shorter.

use super::Finding;
use super::system::System;

/// 0.1 %: ten times what NTP slews by at most, and a twentieth of the margin of `compare`.
const MOST_PPM: f64 = 1_000.0;

pub(super) fn check(system: &System) -> Finding {
    let Some(rates) = system.measured.rates else {
        return Finding::unknown("not measured", "all figures, by as much as the clock is slewed");
    };
    let says = format!(
        "MONOTONIC against RAW {:+.0} ppm, counter {:.3} MHz, steady to {:.0} ppm (uncertain by {:.0} ppm)",
        // No "-0".
        rates.slew_ppm.round() + 0.0,
        rates.counter_hz / 1e6,
        rates.drift_ppm.abs(),
        rates.uncertainty_ppm
    );
    let slewed = rates.slew_ppm.abs() - rates.uncertainty_ppm > MOST_PPM;
    let uneven = rates.drift_ppm.abs() - rates.uncertainty_ppm > MOST_PPM;
    if slewed {
        let matters =
            format!("all figures are off by {:.2} % while the clock is slewed", rates.slew_ppm.abs() / 1e4);
        Finding::disturbs(says, matters)
            .remedy("wait until NTP has caught up (chronyc tracking, ntpq -p, timedatectl)")
    } else if uneven {
        Finding::disturbs(
            says,
            "the counter and the clock disagree: no figure is more accurate than that",
        )
        .remedy(
            "check dmesg for \"clocksource\" and \"TSC\"; on a guest, ask for a host with an invariant TSC",
        )
    } else if rates.uncertainty_ppm > MOST_PPM || !rates.uncertainty_ppm.is_finite() {
        Finding::unknown(says, "all figures, by as much as the clock is slewed")
            .remedy("again on a quieter machine")
    } else {
        Finding::fine(says)
    }
}

#[cfg(test)]
mod tests {
    use super::super::measured::Rates;
    use super::super::system::recorded::*;
    use super::{Finding, check};

    fn found(slew_ppm: f64, drift_ppm: f64, uncertainty_ppm: f64) -> Finding {
        let rates = Rates { slew_ppm, counter_hz: 2e9, drift_ppm, uncertainty_ppm };
        check(&Recorded::new(&[]).with(|measured| measured.rates = Some(rates)).system)
    }

    fn state(slew_ppm: f64, drift_ppm: f64, uncertainty_ppm: f64) -> CheckState {
        found(slew_ppm, drift_ppm, uncertainty_ppm).state
    }

    #[test]
    fn nothing_has_no_sign() {
        let says = found(-0.4, 0.0, 2.0).says;
        assert!(says.contains("RAW +0 ppm"), "{says}");
    }

    #[test]
    fn the_slew_of_ntp_is_fine_and_a_fast_slew_disturbs() {
        assert_eq!(state(500.0, -3.0, 2.0), Fine);
        assert_eq!(state(-100_000.0, 0.0, 2.0), Disturbs);
        assert_eq!(state(1_001.5, 0.0, 2.0), Fine, "within the uncertainty");
    }

    #[test]
    fn an_uneven_counter_disturbs() {
        assert_eq!(state(0.0, 5_000.0, 2.0), Disturbs);
    }

    #[test]
    fn what_is_too_uncertain_is_unknown() {
        assert_eq!(state(0.0, 0.0, 20_000.0), Unknown);
        assert_eq!(state(0.0, 0.0, f64::NAN), Unknown);
    }
}
