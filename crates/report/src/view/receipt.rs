//! The receipt of a figure: its distribution, its launches, and everything that was counted while it was made.

use std::collections::{BTreeMap, BTreeSet};

use oscost_results::{CheckedClaim, Figure, Status, claim_words, quantity};
use oscost_stats::histogram::lower_bound;
use oscost_stats::sorting::SmallSort;

use super::story::{Story, headline};
use super::{functions, picture};
use crate::blocks::Place::{Left, Right};
use crate::blocks::prices::Outcome;
use crate::blocks::receipt::{Item, Receipt};
use crate::blocks::{Cell, Launches, Part, Plot, Samples, Table, Tone, View};
use crate::evidence::{per_operation, system_calls};
use crate::numbers;
use crate::words::counted;

/// Functions that a receipt names.
const FUNCTIONS: usize = 8;

/// The receipt of a figure of which `notes` are noteworthy.
pub(super) fn receipt(story: &Story<'_>, figure: &Figure, mut notes: Vec<String>) -> Receipt {
    let title = story.plain(&figure.id);
    let mut parts = Vec::new();
    if figure.status == Status::Measured {
        let plots = distribution(story, figure).into_iter().chain(launches(story, figure));
        parts.extend(plots.map(Part::from));
        parts.extend(functions::plot(story, figure).map(Part::from));
        parts.push(Part::Table(quantities(story, figure)));
    }
    parts.push(Part::Table(evidence(story, figure)));
    let path = story.plain(&figure.call_path);
    let by = if path.is_empty() { String::new() } else { format!(", by {path}") };
    if let Outcome::Withheld { state, why } = story.outcome(figure) {
        notes.insert(0, format!("{state}: {why}"));
    }
    notes.extend(figure.remarks.iter().map(|remark| story.plain(remark)));
    Receipt {
        says: format!("{}{by}", story.plain(&figure.operation)),
        items: items(story, figure),
        claims: claims(story, figure),
        totals: totals(story, figure),
        foot: foot(story, figure),
        notes,
        command: format!("oscost run {title}"),
        beside: View::new(title.clone(), parts),
        title,
    }
}

fn item(name: impl Into<String>, amount: impl Into<String>) -> Item {
    Item { name: name.into(), amount: amount.into(), tone: None }
}

/// The system calls of an operation by name, and its instructions by function where they were counted.
fn items(story: &Story<'_>, figure: &Figure) -> Vec<Item> {
    let calls = figure.evidence.system_calls.iter();
    let mut items: Vec<Item> = calls
        .filter(|(_, count)| **count > 0.0)
        .map(|(name, count)| item(story.plain(name), format!("\u{d7} {}", per_operation(*count))))
        .collect();
    match system_calls(&figure.evidence) {
        Some(_) if items.is_empty() => items.push(item("no system call", "")),
        Some(_) => {}
        None => items.push(item("all system calls", "not counted")),
    }
    if let Some(count) = figure.count.as_ref().filter(|count| !count.functions.is_empty()) {
        let mut own: Vec<(String, u64)> = Vec::new();
        for node in count.functions.iter().filter(|node| node.own > 0) {
            let name = story.plain(&node.name);
            match own.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum = sum.saturating_add(node.own),
                None => own.push((name, node.own)),
            }
        }
        own.small_sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let rest: u64 = own.iter().skip(FUNCTIONS).fold(0, |sum, (_, count)| sum.saturating_add(*count));
        let number = |count: u64| numbers::exact(count as f64);
        items.extend(own.iter().take(FUNCTIONS).map(|(name, count)| item(name.clone(), number(*count))));
        if rest > 0 {
            items.push(item(format!("{} other functions", own.len() - FUNCTIONS), number(rest)));
        }
        items.push(item(format!("instructions{}", functions::of_iteration(figure)), number(count.sum())));
    }
    items
}

/// Every claim, with what was counted.
fn claims(story: &Story<'_>, figure: &Figure) -> Vec<Item> {
    let claims = figure.evidence.claims.iter();
    claims
        .map(|claim| Item {
            name: story.plain(&claim_words(&claim.claim)),
            amount: claim.observed.map_or("not counted".to_owned(), per_operation),
            tone: Some(held(claim).1),
        })
        .collect()
}

/// Whether a claim holds, in words and as it is meant.
fn held(claim: &CheckedClaim) -> (&'static str, Tone) {
    match claim.holds {
        Some(true) => ("\u{2713} holds", Tone::Good),
        Some(false) => ("\u{2717} does not hold", Tone::Bad),
        None => ("? not counted", Tone::Doubt),
    }
}

/// What it came to: the judged quantity, then the others that a price list quotes.
fn totals(story: &Story<'_>, figure: &Figure) -> Vec<Item> {
    let judged = figure.judged();
    let mut names = vec![judged, headline(figure)];
    names.extend([quantity::FLOOR, quantity::TYPICAL, quantity::CYCLES]);
    names.extend([quantity::ASLEEP, quantity::ASLEEP_ADDS, quantity::UNSLEPT]);
    let names = crate::words::distinct(names);
    names
        .into_iter()
        .filter(|_| figure.status == Status::Measured)
        .filter_map(|name| {
            let quantity = figure.quantities.get(name)?;
            let unit = story.plain(&quantity.unit);
            let value = numbers::quantity(quantity.estimate.value, &unit);
            let interval = numbers::interval(&quantity.estimate, &unit, true);
            Some(item(story.words(name), format!("{value} {interval}").trim_end().to_owned()))
        })
        .collect()
}

/// How it was counted, and where.
fn foot(story: &Story<'_>, figure: &Figure) -> Vec<String> {
    let evidence = &figure.evidence;
    let how = match (&evidence.audit_method, &evidence.audit_missing) {
        (Some(method), _) => format!("counted by {}", story.plain(method)),
        (None, Some(why)) => format!("not counted: {}", story.plain(why)),
        (None, None) => "not counted".to_owned(),
    };
    let launches = crate::words::counted(evidence.launches as usize, "launch", "launches");
    let where_it_ran = [launches, story.words(&figure.placement)];
    let where_it_ran: Vec<String> = where_it_ran.into_iter().filter(|part| !part.is_empty()).collect();
    let when = format!("{}, {}", story.tool(), story.plain(&story.result.started));
    vec![how, where_it_ran.join(", "), when]
}

/// The distribution of all samples of all launches.
fn distribution(story: &Story<'_>, figure: &Figure) -> Option<Plot> {
    let all = picture::samples(&figure.launches);
    // A bucket knows its value only roughly; the launches know their worst one.
    let named = figure.launches.iter().filter_map(|launch| launch.quantities.get("max").copied());
    let worst = named.fold(f64::NAN, f64::max);
    let worst = if worst.is_finite() { worst } else { all.quantile(1.0)? };
    let quantile = |share: f64| {
        let known = all.quantile(share)?;
        Some(if share < 1.0 { known.min(worst) } else { worst })
    };
    let (low, middle, high) = (quantile(0.005)?, quantile(0.5)?, quantile(0.995)?);
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
    let at = |index: usize| lower_bound(first.saturating_add(i32::try_from(index).unwrap_or(i32::MAX)));
    let rows =
        SHARES.iter().filter_map(|(share, name)| Some(vec![(*name).to_owned(), unit(quantile(*share)?)]));
    let table = Table::new(["share of samples", "below"], rows);
    let drawn = Samples { counts: counts[from..to].to_vec(), ends: [unit(at(from)), unit(at(to))] };
    Some(Plot::of(finding, drawn, table).about(format!("Distribution of {}", story.plain(&figure.id))))
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
fn launches(story: &Story<'_>, figure: &Figure) -> Option<Plot> {
    let name = headline(figure);
    let values: Vec<f64> =
        figure.launches.iter().filter_map(|launch| launch.quantities.get(name).copied()).collect();
    let (low, high) = numbers::ends(values.iter().copied());
    if values.len() < 2 || !low.is_finite() || !high.is_finite() {
        return None;
    }
    let unit = figure.quantities.get(name).map_or("ns", |quantity| &quantity.unit);
    let unit = |value: f64| numbers::quantity(value, &story.plain(unit));
    // A fiftieth of the value fills no less than the height: what is steady looks steady.
    let middle = f64::midpoint(low, high);
    let range = (high - low).max(middle.abs() / 50.0).max(f64::MIN_POSITIVE);
    let (bottom, top) = (middle - range / 2.0, middle + range / 2.0);
    let within = || format!("within {}", numbers::percent(high / low - 1.0));
    let spread = if low > 0.0 { within() } else { "between".to_owned() };
    let (of, low, high) = (story.words(name), unit(low), unit(high));
    let finding =
        format!("{of} of {} {spread}: {low} to {high}", counted(values.len(), "launch", "launches"));

    let told = figure.launches.iter().filter_map(|launch| Some((launch, launch.quantities.get(name)?)));
    let mut by_cpu: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (launch, value) in told {
        by_cpu.entry(launch.cpu).or_default().push(format!("{}: {}", launch.sequence, unit(*value)));
    }
    let rows = by_cpu.into_iter().map(|(cpu, told)| vec![cpu.to_string(), told.join("; ")]);
    let heads = [("CPU".to_owned(), Left), (format!("launch: {}", story.words(name)), Left)];
    let drawn = Launches { ends: [(bottom, unit(bottom)), (top, unit(top))], values };
    let plot = Plot::of(finding, drawn, Table::of(heads, rows));
    Some(plot.about(format!("Launches of {}", story.plain(&figure.id))))
}

fn quantities(story: &Story<'_>, figure: &Figure) -> Table {
    let rows = figure.quantities.iter().map(|(name, quantity)| {
        let unit = story.plain(&quantity.unit);
        let interval = numbers::interval(&quantity.estimate, &unit, story.unicode);
        vec![story.words(name), numbers::quantity(quantity.estimate.value, &unit), interval]
    });
    let title =
        format!("Quantities over {}", counted(figure.evidence.launches as usize, "launch", "launches"));
    Table { title, ..Table::new(["quantity", "value", "interval"], rows) }
}

/// The receipt proper: claims beside what was counted, then the other counts.
fn evidence(story: &Story<'_>, figure: &Figure) -> Table {
    let evidence = &figure.evidence;
    let how = match (&evidence.audit_method, &evidence.audit_missing) {
        (Some(method), _) => format!("system calls counted by {}", story.plain(method)),
        (None, Some(why)) => format!("system calls were not counted: {}", story.plain(why)),
        (None, None) => "system calls were not counted".to_owned(),
    };
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for claim in &evidence.claims {
        let (says, tone) = held(claim);
        rows.push(vec![
            story.plain(&claim_words(&claim.claim)).into(),
            claim.expected.to_string().into(),
            claim.observed.map_or("-".to_owned(), per_operation).into(),
            Cell { tone: Some(tone), ..says.into() },
        ]);
    }
    let mut counted = |name: &str, value: Option<String>| {
        rows.extend(value.map(|value| vec![name.into(), "".into(), value.into(), "".into()]));
    };
    for (name, calls) in &evidence.system_calls {
        counted(&format!("calls of {}", story.plain(name)), Some(per_operation(*calls)));
    }
    counted("switches", evidence.switches.map(per_operation));
    counted("voluntary switches", evidence.voluntary_switches.map(per_operation));
    counted("page faults", evidence.faults.map(per_operation));
    counted("changes of CPU, all launches", evidence.migrations.map(|count| count.to_string()));
    counted("rounds at full speed", evidence.fast_share.map(numbers::percent));
    counted("clean rounds", evidence.clean_share.map(numbers::percent));
    let void = Some(evidence.void_launches).filter(|&count| count > 0);
    counted("void launches", void.map(|count| count.to_string()));
    let tracer = evidence.tracer_pid.map(|pid| if pid == 0 { "none".into() } else { pid.to_string() });
    counted("tracer of the timed processes", tracer);
    counted("seccomp mode of the timed processes", evidence.seccomp_mode.map(|mode| mode.to_string()));
    let cpus: BTreeSet<u32> = figure.launches.iter().map(|launch| launch.cpu).collect();
    let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
    counted("CPU of the measuring thread", Some(cpus.join(", ")).filter(|cpus| !cpus.is_empty()));
    let columns = [("an operation", Left), ("claimed", Right), ("counted", Right), ("verdict", Left)];
    Table { title: format!("Everything that was counted: {how}"), ..Table::of(columns, rows) }
}
