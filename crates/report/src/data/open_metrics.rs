//! Results as OpenMetrics 1.0 that Prometheus' older text format reads the same way: for node_exporter's text collector.
//!
//! All families are gauges, for the older format knows no others that would fit; there are no time stamps, for the text
//! collector refuses them. Labels of one result name nothing that changes from run to run, so that a series goes on.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use oscost_results::{CheckState, Figure, PairedValue, Percentiles, RunResult, Status, Untrusted, Verdict};

use crate::named::Named;

/// A family of metrics: name, unit, and what it is.
struct MetricFamily {
    name: &'static str,
    unit: &'static str,
    help: &'static str,
    /// Labels, ready to be written, and value of each sample.
    samples: BTreeMap<String, f64>,
}

/// The families, in the order in which they are written.
struct Families(Vec<MetricFamily>);

/// Name, unit and meaning of every family.
const FAMILIES: &[(&str, &str, &str)] = &[
    ("oscost_result", "", "1 for each result; its labels say what was measured, where, and by which build."),
    ("oscost_result_started_seconds", "seconds", "When the measurement began, since 1970."),
    ("oscost_result_duration_seconds", "seconds", "How long the measurement took."),
    ("oscost_result_partial", "", "1 if the run ended before its plan was complete."),
    ("oscost_figure_seconds", "seconds", "A duration of a figure: the estimate over launches."),
    ("oscost_figure_low_seconds", "seconds", "Lower bound of its interval."),
    ("oscost_figure_high_seconds", "seconds", "Upper bound of its interval."),
    ("oscost_figure_ratio", "ratio", "A share or ratio of a figure: the estimate over launches."),
    ("oscost_figure_low_ratio", "ratio", "Lower bound of its interval."),
    ("oscost_figure_high_ratio", "ratio", "Upper bound of its interval."),
    (
        "oscost_figure_amount",
        "",
        "Any other quantity of a figure, in the unit of its label: the estimate over launches.",
    ),
    ("oscost_figure_low_amount", "", "Lower bound of its interval."),
    ("oscost_figure_high_amount", "", "Upper bound of its interval."),
    (
        "oscost_figure_state",
        "",
        "1 for the state that a figure is in: measured, unsupported, failed, contradicted or withdrawn.",
    ),
    ("oscost_figure_mark", "", "1 for each reservation about a measured figure."),
    ("oscost_figure_checked", "", "1 if every claim about a figure was counted and holds."),
    ("oscost_figure_system_calls", "", "System calls of an operation, counted."),
    ("oscost_paired_ratio", "ratio", "Ratio of two figures, paired within launches."),
    ("oscost_paired_low_ratio", "ratio", "Lower bound of its interval."),
    ("oscost_paired_high_ratio", "ratio", "Upper bound of its interval."),
    ("oscost_paired_seconds", "seconds", "Difference of two figures, paired within launches."),
    ("oscost_paired_low_seconds", "seconds", "Lower bound of its interval."),
    ("oscost_paired_high_seconds", "seconds", "Upper bound of its interval."),
    (
        "oscost_doctor_check",
        "",
        "1 for the state that a check of the machine is in: fine, disturbs or unknown.",
    ),
];

/// Writes `results`; where there are several, each sample has the name of its result as a label.
///
/// # Errors
/// Those of `out`.
pub fn open_metrics(results: &[Named<'_>], out: &mut dyn Write) -> io::Result<()> {
    let family = |&(name, unit, help): &_| MetricFamily { name, unit, help, samples: BTreeMap::new() };
    let mut families = Families(FAMILIES.iter().map(family).collect());
    for &Named { name, result } in results {
        let of = if results.len() > 1 { vec![("result", name)] } else { Vec::new() };
        families.result(result, &of);
        for figure in &result.figures {
            families.figure(figure, &of);
        }
        for pair in result.ratios.iter().chain(&result.differences) {
            families.pair(pair, &of);
        }
        for check in &result.doctor {
            let state = match check.state {
                CheckState::Fine => "fine",
                CheckState::Disturbs => "disturbs",
                CheckState::Unknown => "unknown",
            };
            families.add("oscost_doctor_check", &of, &[("check", &check.check), ("state", state)], 1.0);
        }
    }
    families.0.iter().filter(|family| !family.samples.is_empty()).try_for_each(|family| family.write(out))?;
    writeln!(out, "# EOF")
}

impl MetricFamily {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { name, unit, help, samples } = self;
        writeln!(out, "# HELP {name} {help}\n# TYPE {name} gauge")?;
        if !unit.is_empty() {
            writeln!(out, "# UNIT {name} {unit}")?;
        }
        samples.iter().try_for_each(|(labels, value)| {
            // The sum of no calls at all is -0.
            let value = value + 0.0;
            let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
            writeln!(out, "{name}{labels} {value}")
        })
    }
}

impl Families {
    /// A sample; of two with the same labels the first one stays, and what is no number is left out.
    fn add(&mut self, name: &str, of: &[(&str, &str)], labels: &[(&str, &str)], value: f64) {
        let Some(family) = self.0.iter_mut().find(|family| family.name == name) else { return };
        let mut text = String::new();
        for (label, value) in of.iter().chain(labels) {
            let between = if text.is_empty() { "" } else { "," };
            // Writing to a string cannot fail.
            let _ = write!(text, "{between}{label}=\"{}\"", Untrusted::new(value).open_metrics());
        }
        if value.is_finite() {
            family.samples.entry(text).or_insert(value);
        }
    }

    fn result(&mut self, result: &RunResult, of: &[(&str, &str)]) {
        let labels = [
            ("version", &*result.tool.version),
            ("build", &result.tool.build_id),
            ("cpu_model", &result.machine.cpu_model),
            ("architecture", &result.machine.architecture),
            ("kernel", &result.conditions.kernel),
            ("libc", &result.tool.libc),
            ("effort", &result.plan.effort),
        ];
        self.add("oscost_result", of, &labels, 1.0);
        if let Some(seconds) = since_1970(&result.started) {
            self.add("oscost_result_started_seconds", of, &[], seconds);
        }
        self.add("oscost_result_duration_seconds", of, &[], result.duration_ns as f64 / 1e9);
        self.add("oscost_result_partial", of, &[], f64::from(u8::from(result.partial)));
    }

    fn figure(&mut self, figure: &Figure, of: &[(&str, &str)]) {
        let state = figure.status.name();
        self.add("oscost_figure_state", of, &[("id", &figure.id), ("state", state)], 1.0);
        if figure.status != Status::Measured {
            return;
        }
        for (name, quantity) in &figure.quantities {
            let (family, scale) = match &*quantity.unit {
                "ns" => ("seconds", 1e-9),
                "share" | "ratio" => ("ratio", 1.0),
                _ => ("amount", 1.0),
            };
            let mut labels = vec![("id", &*figure.id), ("quantity", name)];
            if family == "amount" {
                labels.push(("unit", &quantity.unit));
            }
            let estimate = quantity.estimate;
            for (bound, value) in [("", estimate.value), ("low_", estimate.low), ("high_", estimate.high)] {
                self.add(&format!("oscost_figure_{bound}{family}"), of, &labels, value * scale);
            }
        }
        for (name, estimate) in figure.percentiles.iter().flat_map(Percentiles::quantities) {
            let labels = [("id", &*figure.id), ("quantity", &name)];
            for (bound, value) in [("", estimate.value), ("low_", estimate.low), ("high_", estimate.high)] {
                self.add(&format!("oscost_figure_{bound}seconds"), of, &labels, value * 1e-9);
            }
        }
        for mark in &figure.marks {
            self.add("oscost_figure_mark", of, &[("id", &figure.id), ("mark", mark.name())], 1.0);
        }
        let checked = f64::from(u8::from(figure.evidence.verdict == Verdict::Checked));
        self.add("oscost_figure_checked", of, &[("id", &figure.id)], checked);
        if let Some(calls) = crate::evidence::system_calls(&figure.evidence) {
            self.add("oscost_figure_system_calls", of, &[("id", &figure.id)], calls);
        }
    }

    fn pair(&mut self, pair: &PairedValue, of: &[(&str, &str)]) {
        let (family, scale) = if pair.unit == "ns" { ("seconds", 1e-9) } else { ("ratio", 1.0) };
        let labels = [("of", &*pair.of), ("to", &pair.to), ("quantity", &pair.quantity)];
        for (bound, value) in [("", pair.value), ("low_", pair.low), ("high_", pair.high)] {
            if let Some(value) = value {
                self.add(&format!("oscost_paired_{bound}{family}"), of, &labels, value * scale);
            }
        }
    }
}

/// Seconds from 1970 to a time as results have it ("2026-11-20T23:14:05Z", maybe with a fraction).
fn since_1970(text: &str) -> Option<f64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut date = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let mut time = time.split(':').map(|part| part.parse::<f64>().ok());
    let (hour, minute, second) = (time.next()??, time.next()??, time.next()??);
    if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Days of a calendar whose year begins in March, so that the leap day is its last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some(days as f64 * 86_400.0 + hour * 3600.0 + minute * 60.0 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_from_1970() {
        assert_eq!(since_1970("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(since_1970("2000-02-29T12:00:00Z"), Some(951_825_600.0));
        assert_eq!(since_1970("2026-11-20T23:14:05Z"), Some(1_795_216_445.0));
        assert_eq!(since_1970("2026-11-20T23:14:05.5Z"), Some(1_795_216_445.5));
        for wrong in ["", "2026", "2026-13-01T00:00:00Z", "x-y-zT0:0:0Z", "99999999-01-01T00:00:00Z"] {
            assert_eq!(since_1970(wrong), None, "{wrong}");
        }
    }
}
