//! Checks the rate of the clock against sources that do not depend on it. METHOD.md, Clock.

use oscost_sys::time_source::Instant;

/// The kernel's clock is slewed by 0.05 % at most, unless somebody sets its tick.
const KERNEL_AGREES: f64 = 0.01;
/// What is told of the processor's counter is rounded, and the kernel's own rate was found against another clock.
const COUNTER_AGREES: f64 = 0.02;
/// In a shorter time nothing can be told.
const LEAST_NS: f64 = 5e6;

/// No core makes so many cycles a second: the fastest ones sold make 6.2e9.
const MOST_HZ: f64 = 7e9;

/// How the measuring clock is wrong by the core itself, where a step of the chain is known to be a cycle: a clock that is slow
/// makes the core faster than any. It needs no other source. A clock that is fast looks like a slow core.
pub(crate) fn wrong_by_core(chain_ns: f64) -> Option<String> {
    let hz = 1e9 / chain_ns;
    (chain_ns > 0.0 && hz > MOST_HZ).then(|| {
        format!(
            "by the clock that times, the core runs at {:.1} GHz, which no core does: the clock is slow",
            hz / 1e9
        )
    })
}

/// How the measuring clock is wrong between two instants, if it is; `told_hz` are rates of the processor's counter.
///
/// The counter convicts only where everybody who tells its rate does: one of them may be mistaken.
pub(crate) fn wrong(before: &Instant, after: &Instant, told_hz: &[f64]) -> Option<String> {
    let passed = |from: u64, to: u64| to.saturating_sub(from) as f64;
    let measured = passed(before.measuring_ns, after.measuring_ns);
    let width = (before.width_ns + after.width_ns) as f64;
    // By how much the rate differs, where the time is long enough for that.
    let wrong = |other: f64, agrees: f64| {
        let longest = measured.max(other);
        let ratio = measured / other.max(1.0);
        let certain = longest >= LEAST_NS && (measured - other).abs() > agrees * other + width;
        certain.then_some(ratio)
    };
    let kernel = [
        ("the kernel's own CLOCK_MONOTONIC", before.kernel_ns, after.kernel_ns),
        ("CLOCK_MONOTONIC_RAW", before.raw_ns, after.raw_ns),
    ];
    for (name, from, to) in kernel {
        let Some((from, to)) = from.ok().zip(to.ok()) else { continue };
        if let Some(ratio) = wrong(passed(from, to), KERNEL_AGREES) {
            return Some(words(ratio, name));
        }
    }
    let ticks = before.counter.zip(after.counter).map(|(from, to)| passed(from, to))?;
    let ratios: Option<Vec<f64>> = told_hz.iter().map(|hz| wrong(ticks * 1e9 / hz, COUNTER_AGREES)).collect();
    let ratio = *ratios?.first()?;
    Some(words(ratio, "the processor's counter"))
}

fn words(ratio: f64, other: &str) -> String {
    format!("the clock that times runs at {ratio:.3} times the rate of {other}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use oscost_sys::CallError;

    const HZ: f64 = 2.5e9;

    /// All sources after so many seconds of true time, each with its rate.
    fn at(seconds: f64, measuring: f64, kernel: f64, raw: f64, counter: f64) -> Instant {
        let ns = |rate: f64| (1e9 + seconds * 1e9 * rate) as u64;
        Instant {
            measuring_ns: ns(measuring),
            kernel_ns: Ok(ns(kernel)),
            raw_ns: Ok(ns(raw)),
            counter: Some((seconds * HZ * counter) as u64),
            width_ns: 200,
        }
    }

    /// What is found after 0.1 s at these rates, with a counter of which this is told.
    fn found(measuring: f64, kernel: f64, raw: f64, counter: f64, told: &[f64]) -> Option<String> {
        let of = |seconds| at(seconds, measuring, kernel, raw, counter);
        wrong(&of(0.0), &of(0.1), told)
    }

    #[test]
    fn clocks_that_agree_are_believed() {
        assert_eq!(found(1.0, 1.0, 1.0, 1.0, &[HZ, HZ]), None);
        assert_eq!(found(1.0005, 1.0005, 1.0, 1.0, &[HZ]), None, "NTP slews");
        assert_eq!(found(1.0, 1.0, 1.0, 1.015, &[HZ]), None, "what is told is rounded");
        assert_eq!(found(1.0, 1.0, 1.0, 0.4, &[]), None, "nobody tells the counter's rate");
    }

    #[test]
    fn a_core_that_is_faster_than_any_has_a_slow_clock() {
        let at_half_rate = wrong_by_core(0.27 / 2.0).expect("a core of 3.7 GHz");
        assert!(at_half_rate.contains("7.4 GHz"), "{at_half_rate}");
        for ns in [1.0 / 6.2, 0.27, 0.54, 3.0, 0.0] {
            assert_eq!(wrong_by_core(ns), None, "{ns}");
        }
    }

    #[test]
    fn a_library_that_slows_the_clock_is_seen_by_the_kernels_own() {
        let words = found(0.5, 1.0, 1.0, 1.0, &[HZ]).expect("a wrong clock");
        assert_eq!(
            words,
            "the clock that times runs at 0.500 times the rate of the kernel's own CLOCK_MONOTONIC"
        );
        for rate in [0.0, 0.98, 1.02, 2.0] {
            assert!(found(rate, 1.0, 1.0, 1.0, &[]).is_some(), "{rate}");
        }
    }

    #[test]
    fn a_kernel_whose_tick_was_set_is_seen_by_its_raw_clock() {
        let words = found(1.1, 1.1, 1.0, 1.0, &[HZ]).expect("a wrong clock");
        assert!(words.contains("1.100 times the rate of CLOCK_MONOTONIC_RAW"), "{words}");
    }

    #[test]
    fn a_kernel_that_is_wrong_throughout_is_seen_by_the_counter() {
        let words = found(0.5, 0.5, 0.5, 1.0, &[HZ, HZ * 1.001]).expect("a wrong clock");
        assert!(words.contains("0.500 times the rate of the processor's counter"), "{words}");
        assert_eq!(found(0.5, 0.5, 0.5, 1.0, &[HZ, HZ * 2.0]), None, "who tells of the counter disagrees");
    }

    #[test]
    fn what_cannot_be_read_convicts_nobody() {
        let refused = Err(CallError::new("clock_gettime", 1));
        let blind =
            |seconds| Instant { kernel_ns: refused, raw_ns: refused, ..at(seconds, 0.5, 1.0, 1.0, 1.0) };
        assert!(wrong(&blind(0.0), &blind(0.1), &[HZ]).is_some(), "the counter is left");
        let blind = |seconds| Instant { counter: None, ..blind(seconds) };
        assert_eq!(wrong(&blind(0.0), &blind(0.1), &[HZ]), None);
    }

    #[test]
    fn a_short_time_and_a_disturbed_reading_convict_nobody() {
        let of = |seconds| at(seconds, 0.5, 1.0, 1.0, 1.0);
        assert_eq!(wrong(&of(0.0), &of(0.004), &[HZ]), None);
        // Preempted between two sources, in every try.
        let mut late = at(0.1, 1.0, 1.0, 1.0, 1.0);
        late.kernel_ns = late.kernel_ns.map(|ns| ns + 3_000_000);
        late.width_ns = 3_000_100;
        assert_eq!(wrong(&at(0.0, 1.0, 1.0, 1.0, 1.0), &late, &[HZ]), None);
    }

    /// The core runs at 1, 0.89, 0.5 and 1.4 times its rate, and no source of time follows it.
    #[test]
    fn steps_of_the_cores_frequency_are_no_faults_of_the_clock() {
        use crate::worker::clock::{Clock, scripted::Scripted};
        let mut clock = Scripted::new(10.0, 20.0);
        let instant = |clock: &mut Scripted| {
            let measuring_ns = clock.now_ns();
            let true_ns = clock.true_ns as u64;
            let counter = Some((clock.true_ns * HZ / 1e9) as u64);
            Instant { measuring_ns, kernel_ns: Ok(true_ns), raw_ns: Ok(true_ns), counter, width_ns: 40 }
        };
        let first = instant(&mut clock);
        for speed in [1.0, 0.89, 0.5, 1.4] {
            let before = instant(&mut clock);
            // 10^8 cycles of a core of 3 GHz.
            clock.true_ns += 1e8 / (3.0 * speed);
            assert_eq!(wrong(&before, &instant(&mut clock), &[HZ]), None, "{speed}");
        }
        assert_eq!(wrong(&first, &instant(&mut clock), &[HZ]), None);
    }

    /// Two clocks that ran for so long, ns, and were read within so many each.
    fn of(measuring_ns: u64, kernel_ns: u64, widths: (u64, u64)) -> bool {
        let refused = Err(CallError::new("clock_gettime", 1));
        let at = |measuring_ns, kernel_ns, width_ns| Instant {
            measuring_ns,
            kernel_ns: Ok(kernel_ns),
            raw_ns: refused,
            counter: None,
            width_ns,
        };
        wrong(&at(7, 9, widths.0), &at(7 + measuring_ns, 9 + kernel_ns, widths.1), &[]).is_some()
    }

    #[test]
    fn a_clock_is_wrong_from_a_hundredth_and_what_readings_take_on() {
        for (kernel, agrees) in [(100_000_000_u64, 1_000_000_u64), (5_000_000, 50_000)] {
            for widths in [(0, 0), (300, 0), (0, 300), (200, 100)] {
                let most = agrees + widths.0 + widths.1;
                assert!(
                    !of(kernel + most, kernel, widths) && of(kernel + most + 1, kernel, widths),
                    "{widths:?}"
                );
                assert!(
                    !of(kernel - most, kernel, widths) && of(kernel - most - 1, kernel, widths),
                    "{widths:?}"
                );
            }
        }
        // One of them ran for 5 ms.
        assert!(of(5_000_000, 1, (0, 0)) && of(1, 5_000_000, (0, 0)));
        assert!(!of(4_999_999, 1, (0, 0)) && !of(1, 4_999_999, (0, 0)), "too short to tell");
    }

    #[test]
    fn a_core_is_too_fast_beyond_seven_gigahertz() {
        assert_eq!((wrong_by_core(1.0 / 7.0).is_some(), wrong_by_core(1.0 / 7.001).is_some()), (false, true));
    }
}
