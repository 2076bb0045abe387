//! Load and pressure: other programs that want the CPUs now.

use super::allowed_cpus::online;
use super::system::System;
use super::{Finding, percent};

/// Share of the last 10 s in which a task waited for a CPU, from which on typical values move.
const MOST_PRESSURE: f64 = 0.05;
/// Load for each CPU from which on somebody else is always there.
const MOST_LOAD: f64 = 0.5;

const MATTERS: &str =
    "floors move least; typical moves by a few percent, batch_p99, max and figures across CPUs by far more";

pub(super) fn check(system: &System) -> Finding {
    let load = load_average(system);
    let pressure = system.text("/proc/pressure/cpu").ok().as_deref().and_then(waiting_share);
    // The load is the whole machine's, whatever part of it this process may use.
    let cpus = online(system).or_else(|| system.measured.allowed_cpus.clone()).map(|cpus| cpus.len().max(1));
    let mut says = Vec::new();
    says.push(match (load, cpus) {
        (Some(load), Some(1)) => format!("load {load:.1} on 1 CPU"),
        (Some(load), Some(cpus)) => format!("load {load:.1} on {cpus} CPUs"),
        (Some(load), None) => format!("load {load:.1} on an unknown number of CPUs"),
        (None, _) => "load unknown".to_owned(),
    });
    says.push(match pressure {
        Some(share) => format!("tasks waited for a CPU in {} of the last 10 s", percent(share)),
        None => "pressure unknown (/proc/pressure/cpu)".to_owned(),
    });
    let says = says.join("; ");
    // A load is an average of minutes: where the pressure of the last seconds is known, only a full machine counts.
    let most_load = if pressure.is_some() { 1.0 } else { MOST_LOAD };
    let loaded = load.zip(cpus).is_some_and(|(load, cpus)| load >= most_load * cpus as f64);
    if loaded || pressure.is_some_and(|share| share >= MOST_PRESSURE) {
        Finding::disturbs(says, MATTERS).remedy("stop other work (top), or wait")
    } else if pressure.is_none() && load.zip(cpus).is_none() {
        Finding::unknown(says, MATTERS)
    } else {
        Finding::fine(says)
    }
}

/// Load average over one minute.
pub(crate) fn load_average(system: &System) -> Option<f64> {
    let text = system.text("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok().filter(|load: &f64| load.is_finite() && *load >= 0.0)
}

/// The share "some avg10" of a pressure file.
fn waiting_share(text: &str) -> Option<f64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let value: f64 = some.split(' ').find_map(|field| field.strip_prefix("avg10="))?.parse().ok()?;
    (value.is_finite() && value >= 0.0).then_some(value / 100.0)
}

#[cfg(test)]
mod tests {
    use super::super::system::recorded::*;
    use super::{Finding, check};

    fn found(files: &[(&str, &str)]) -> Finding {
        check(&Recorded::new(files).with(|measured| measured.allowed_cpus = Some(vec![0, 1, 2, 3])).system)
    }

    const QUIET: (&str, &str) = ("proc/loadavg", "0.18 0.58 0.30 5/126 10704\n");
    const PRESSURE: &str = "proc/pressure/cpu";

    #[test]
    fn a_quiet_machine_is_fine() {
        found(&[
            QUIET,
            (PRESSURE, "some avg10=0.00 avg60=1.29 avg300=4.21 total=27\nfull avg10=9.00 total=0\n"),
        ])
        .is(Fine, "load 0.2 on 4 CPUs; tasks waited for a CPU in 0.0 % of the last 10 s");
    }

    #[test]
    fn waiting_tasks_disturb_though_the_load_is_low() {
        let found = found(&[QUIET, (PRESSURE, "some avg10=83.00 avg60=1.29 avg300=4.21 total=27\n")]);
        assert_eq!(found.state, Disturbs);
    }

    #[test]
    fn without_pressure_half_a_load_disturbs() {
        assert_eq!(found(&[("proc/loadavg", "2.00 0 0 1/2 3\n")]).state, Disturbs);
        assert_eq!(found(&[("proc/loadavg", "1.99 0 0 1/2 3\n")]).state, Fine);
    }

    #[test]
    fn the_load_is_held_against_the_whole_machine() {
        let online = ("sys/devices/system/cpu/online", "0-7\n");
        found(&[("proc/loadavg", "3.90 0 0 1/2 3\n"), online])
            .is(Fine, "load 3.9 on 8 CPUs; pressure unknown...");
    }

    #[test]
    fn rubbish_is_unknown() {
        for text in ["", "NaN 0 0", "\u{1b}[31m", "-1 0 0"] {
            assert_eq!(found(&[("proc/loadavg", text), (PRESSURE, "some avg10=x")]).state, Unknown, "{text}");
        }
    }
}
