//! The receipt of a figure: its distribution, its launches, and everything that was counted while it was made.

use std::io::{self, Write};

use oscost_results::{Figure, Status};
use oscost_stats::histogram::{LogHistogram, lower_bound};

use super::escaped;
use super::plot::outline;
use crate::evidence::per_operation;
use crate::numbers;
use crate::story::{Row, Story, headline};
use crate::view::Table;

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 90.0;
/// Room for the labels of an axis upwards.
const LABELS: f64 = 62.0;

pub(super) fn write(story: &Story<'_>, figure: &Figure, row: &Row, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<div class=\"receipt\"><p>{}</p>", escaped(&sentence(story, figure, row)))?;
    // The first sentence says the operation already.
    let notes: Vec<&str> =
        row.notes.iter().chain(&row.remarks).map(|note| note.trim_end_matches('.')).collect();
    // Quantities have a table below.
    let tabled: Vec<String> = figure.quantities.keys().map(|name| story.words(name) + " ").collect();
    let told =
        |note: &&str| *note != figure.operation && !tabled.iter().any(|name| note.starts_with(name.as_str()));
    let notes: Vec<&str> = notes.into_iter().filter(told).collect();
    if !notes.is_empty() {
        writeln!(out, "<p>Noteworthy: {}.</p>", escaped(&notes.join("; ")))?;
    }
    if figure.status == Status::Measured {
        writeln!(out, "<div class=\"plots\">")?;
        distribution(story, figure, out)?;
        launches(story, figure, out)?;
        writeln!(out, "</div>")?;
        quantities(story, figure, out)?;
    }
    evidence(story, figure, out)?;
    writeln!(out, "</div>")
}

/// What was measured, how it is reached, and where it ran.
fn sentence(story: &Story<'_>, figure: &Figure, row: &Row) -> String {
    let operation = story.plain(&figure.operation);
    let mut words = vec![format!("The cost of {operation}")];
    if !row.call_path.is_empty() {
        words.push(format!("reached by {}", row.call_path));
    }
    words.push(format!("participants: {}", story.words(&figure.placement)));
    if let Some(document) = &figure.document {
        words.push(format!("measured by founding document {}", story.plain(document)));
    }
    format!("{}.", words.join("; "))
}

/// Begins a plot with its finding; it ends by [`end`].
fn begin(finding: &str, out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        "<figure><figcaption>{}</figcaption><svg class=\"plot\" role=\"img\" aria-label=\"{}\" viewBox=\"0 -4 {WIDTH} \
         {}\">",
        escaped(finding),
        escaped(finding),
        HEIGHT + 24.0
    )
}

/// Ends a plot with its data.
fn end(name: &str, data: &Table, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "</svg><div class=\"below\"><button type=\"button\" class=\"save\">Save as SVG</button><details class=\"data\">\
         <summary>Data</summary>"
    )?;
    data.html(name, out)?;
    writeln!(out, "</details></div></figure>")
}

fn distribution(story: &Story<'_>, figure: &Figure, out: &mut dyn Write) -> io::Result<()> {
    let mut all = LogHistogram::new();
    for histogram in figure.launches.iter().filter_map(|launch| launch.histogram.as_ref()) {
        if let Some(histogram) = LogHistogram::from_counts(histogram.first, &histogram.counts) {
            all.merge(&histogram);
        }
    }
    let (Some(low), Some(middle), Some(high)) = (all.quantile(0.005), all.quantile(0.5), all.quantile(0.995))
    else {
        return Ok(());
    };
    let worst = all.quantile(1.0).unwrap_or(high);
    let (first, counts) = all.counts();
    let unit = |value: f64| {
        let unit = figure.quantities.get(headline(figure)).map_or("ns", |quantity| &quantity.unit);
        numbers::quantity(value, &story.plain(unit))
    };
    let finding = format!(
        "Half of {} samples lie below {}, all but 1 in 200 below {}; the worst is {}",
        numbers::count(all.total() as f64),
        unit(middle),
        unit(high),
        unit(worst)
    );
    // What lies beyond the outer half per cent is named above; drawn, it would squeeze everything else.
    let bucket = |value: f64| {
        let position = counts.iter().enumerate().position(|(index, _)| {
            lower_bound(first.saturating_add(i32::try_from(index).unwrap_or(i32::MAX)).saturating_add(1))
                > value
        });
        position.unwrap_or(counts.len().saturating_sub(1))
    };
    let (from, to) = (bucket(low).saturating_sub(1), (bucket(high) + 2).min(counts.len()));
    begin(&finding, out)?;
    let at = |index: usize| lower_bound(first.saturating_add(i32::try_from(index).unwrap_or(i32::MAX)));
    write!(
        out,
        "<path class=\"fill\" d=\"{}\"/><path class=\"frame\" d=\"M0 {HEIGHT}H{WIDTH}\"/>\
         <text x=\"0\" y=\"{}\">{}</text><text class=\"end\" x=\"{WIDTH}\" y=\"{}\">{}</text>\
         <text class=\"middle\" x=\"{}\" y=\"{}\">root of the count, logarithmic axis</text>",
        outline(&counts[from..to], WIDTH, HEIGHT),
        HEIGHT + 14.0,
        escaped(&unit(at(from))),
        HEIGHT + 14.0,
        escaped(&unit(at(to))),
        WIDTH / 2.0,
        HEIGHT + 14.0,
    )?;
    let rows =
        SHARES.iter().filter_map(|(share, name)| Some(vec![(*name).to_owned(), unit(all.quantile(*share)?)]));
    let heads = vec!["share of samples below".to_owned(), story.words(headline(figure))];
    let name = format!("Distribution of {}", story.plain(&figure.id));
    end(&name, &Table { heads, rows: rows.collect() }, out)
}

/// Quantiles of the table of a distribution.
const SHARES: [(f64, &str); 7] = [
    (0.005, "0.5 %"),
    (0.05, "5 %"),
    (0.25, "25 %"),
    (0.5, "50 %"),
    (0.75, "75 %"),
    (0.995, "99.5 %"),
    (1.0, "all"),
];

/// The headline launch by launch, in the order in which they were made.
fn launches(story: &Story<'_>, figure: &Figure, out: &mut dyn Write) -> io::Result<()> {
    let name = headline(figure);
    let values: Vec<f64> =
        figure.launches.iter().filter_map(|launch| launch.quantities.get(name).copied()).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if values.len() < 2 || !low.is_finite() || !high.is_finite() {
        return Ok(());
    }
    let unit = figure.quantities.get(name).map_or("ns", |quantity| &quantity.unit);
    let unit = |value: f64| numbers::quantity(value, &story.plain(unit));
    let spread = if low > 0.0 {
        format!("within {}", numbers::percent(high / low - 1.0))
    } else {
        "between".to_owned()
    };
    let finding = format!(
        "{} of {} launches {spread}: {} to {}",
        story.words(name),
        values.len(),
        unit(low),
        unit(high)
    );
    begin(&finding, out)?;
    // A fiftieth of the value fills no less than the height: what is steady looks steady.
    let middle = f64::midpoint(low, high);
    let range = (high - low).max(middle.abs() / 50.0).max(f64::MIN_POSITIVE);
    let (bottom, top) = (middle - range / 2.0, middle + range / 2.0);
    let step = (WIDTH - LABELS) / values.len() as f64;
    write!(out, "<path class=\"frame\" d=\"M{LABELS} 0V{HEIGHT}H{WIDTH}\"/><path class=\"dot\" d=\"")?;
    for (index, value) in values.iter().enumerate() {
        let y = 6.0 + (HEIGHT - 12.0) * (1.0 - (value - bottom) / range);
        write!(out, "M{:.1} {y:.1}h.01", LABELS + step * (index as f64 + 0.5))?;
    }
    write!(
        out,
        "\"/><text x=\"0\" y=\"10\">{}</text><text x=\"0\" y=\"{}\">{}</text><text x=\"{LABELS}\" y=\"{}\">first launch</text>\
         <text class=\"end\" x=\"{WIDTH}\" y=\"{}\">last</text>",
        escaped(&unit(top)),
        HEIGHT - 2.0,
        escaped(&unit(bottom)),
        HEIGHT + 14.0,
        HEIGHT + 14.0
    )?;
    let told = figure.launches.iter().filter_map(|launch| Some((launch, launch.quantities.get(name)?)));
    let rows =
        told.map(|(launch, value)| vec![launch.sequence.to_string(), unit(*value), launch.cpu.to_string()]);
    let heads = ["launch", &*story.words(name), "CPU"].map(str::to_owned).to_vec();
    end(&format!("Launches of {}", story.plain(&figure.id)), &Table { heads, rows: rows.collect() }, out)
}

fn quantities(story: &Story<'_>, figure: &Figure, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<table><caption>Quantities over {} launches</caption><thead><tr><th scope=\"col\">quantity</th>\
         <th scope=\"col\">value</th><th scope=\"col\">interval</th></tr></thead><tbody>",
        figure.evidence.launches
    )?;
    for (name, quantity) in &figure.quantities {
        let unit = story.plain(&quantity.unit);
        writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>",
            escaped(&story.words(name)),
            escaped(&numbers::quantity(quantity.estimate.value, &unit)),
            escaped(&numbers::interval(&quantity.estimate, &unit, true)),
        )?;
    }
    writeln!(out, "</tbody></table>")
}

/// The receipt proper: claims beside what was counted, then the other counts.
fn evidence(story: &Story<'_>, figure: &Figure, out: &mut dyn Write) -> io::Result<()> {
    let evidence = &figure.evidence;
    let how = match (&evidence.audit_method, &evidence.audit_missing) {
        (Some(method), _) => format!("system calls counted by {}", story.plain(method)),
        (None, Some(why)) => format!("system calls were not counted: {}", story.plain(why)),
        (None, None) => "system calls were not counted".to_owned(),
    };
    writeln!(
        out,
        "<table class=\"evidence\"><caption>Receipt: {}</caption><thead><tr><th scope=\"col\">an operation</th>\
         <th scope=\"col\">claimed</th><th scope=\"col\">counted</th><th scope=\"col\">verdict</th></tr></thead><tbody>",
        escaped(&how)
    )?;
    for claim in &evidence.claims {
        let (sign, tone) = match claim.holds {
            Some(true) => ("\u{2713} holds", "good"),
            Some(false) => ("\u{2717} does not hold", "bad"),
            None => ("? not counted", "doubt"),
        };
        writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"{tone}\">{sign}</td></tr>",
            escaped(&story.words(&claim.claim)),
            escaped(&claim.expected.to_string()),
            claim.observed.map_or("-".to_owned(), |observed| escaped(&per_operation(observed)).to_string()),
        )?;
    }
    let mut counted = |name: &str, value: Option<String>| match value {
        Some(value) => writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td></td><td>{}</td><td></td></tr>",
            escaped(name),
            escaped(&value)
        ),
        None => Ok(()),
    };
    for (name, calls) in &evidence.system_calls {
        counted(&format!("calls of {}", story.plain(name)), Some(per_operation(*calls)))?;
    }
    counted("switches", evidence.switches.map(per_operation))?;
    counted("voluntary switches", evidence.voluntary_switches.map(per_operation))?;
    counted("page faults", evidence.faults.map(per_operation))?;
    counted("changes of CPU, all launches", evidence.migrations.map(|count| count.to_string()))?;
    counted("rounds at full speed", evidence.fast_share.map(numbers::percent))?;
    counted("clean rounds", evidence.clean_share.map(numbers::percent))?;
    counted(
        "void launches",
        Some(evidence.void_launches).filter(|&count| count > 0).map(|count| count.to_string()),
    )?;
    counted(
        "tracer of the timed processes",
        evidence.tracer_pid.map(|pid| if pid == 0 { "none".into() } else { pid.to_string() }),
    )?;
    counted("seccomp mode of the timed processes", evidence.seccomp_mode.map(|mode| mode.to_string()))?;
    let mut cpus: Vec<u32> = figure.launches.iter().map(|launch| launch.cpu).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
    counted("CPU of the measuring thread", Some(cpus.join(", ")).filter(|cpus| !cpus.is_empty()))?;
    writeln!(out, "</tbody></table>")
}
