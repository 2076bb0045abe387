//! Plots of all latencies of all launches: how many took longer than what, and how many took how long.

use oscost_results::quantity;
use oscost_stats::histogram::{LogHistogram, lower_bound};

use super::Session;
use crate::blocks::{Axis, Curve, Curves, Form, Names, Plot, Point, Strip, Strips, Table};
use crate::numbers;
use crate::view::picture::samples;
use crate::view::story::Story;

/// Ends and count of each bucket that has any, in ns.
fn buckets(samples: &LogHistogram) -> Vec<(f64, f64, u64)> {
    let (first, counts) = samples.counts();
    let end = |index: usize| lower_bound(first.saturating_add(i32::try_from(index).unwrap_or(i32::MAX)));
    let some = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    some.map(|(index, count)| (end(index), end(index + 1), *count)).collect()
}

/// Transports with their samples, and the largest latency of all launches.
fn sampled<'s, 'a>(sessions: &[&'s Session<'a>]) -> Vec<(&'s Session<'a>, LogHistogram, f64)> {
    let with = sessions.iter().map(|session| (*session, samples(&session.figure.launches)));
    with.filter_map(|(session, samples)| {
        let worst = session.value(quantity::LATENCY_MAX).or_else(|| samples.quantile(1.0))?;
        (samples.total() > 0).then_some((session, samples, worst))
    })
    .collect()
}

/// The share of messages that took longer than each time.
pub(crate) fn tails(
    heading: &str,
    sessions: &[&Session<'_>],
    name: &dyn Fn(&Session<'_>) -> String,
) -> Option<Plot> {
    let sampled = sampled(sessions);
    let mut curves = Vec::new();
    let mut rows = Vec::new();
    let (mut times, mut shares) = (Vec::new(), vec![1.0]);
    for (session, samples, worst) in &sampled {
        let total = samples.total() as f64;
        let mut left = total;
        let mut points = Vec::new();
        for (from, to, count) in buckets(samples) {
            if points.is_empty() {
                points.push(Point { x: from, y: [1.0; 3] });
            }
            left -= count as f64;
            // After the last one nothing is left, which no logarithm shows: the curve ends where the worst case lies.
            if left > 0.0 {
                points.push(Point { x: to, y: [left / total; 3] });
                shares.push(left / total);
            } else {
                points.push(Point { x: *worst, y: [(left + count as f64) / total; 3] });
            }
        }
        times.extend(points.iter().map(|point| point.x));
        // A column of the histogram ends above its longest message.
        let at = |q: f64| samples.quantile(q).map_or(String::new(), |ns| numbers::duration(ns.min(*worst)));
        let mut row = vec![name(session), numbers::count(total)];
        row.extend([0.5, 0.9, 0.99, 0.999].map(at));
        row.push(numbers::duration(*worst));
        rows.push(row);
        curves.push(Curve::of_steps(name(session), points));
    }
    let by_tail = |q: f64| {
        let tail = sampled.iter().filter_map(|(session, samples, _)| Some((session, samples.quantile(q)?)));
        tail.min_by(|one, other| one.1.total_cmp(&other.1))
    };
    let best = by_tail(0.99)?;
    let worst = sampled.iter().max_by(|one, other| one.2.total_cmp(&other.2))?;
    let finding = format!(
        "In all launches together 99 of 100 messages took at most {} by {}{}; the worst of all {} ({})",
        numbers::duration(best.1),
        name(best.0),
        if sampled.len() > 1 { ", the shortest tail" } else { "" },
        numbers::duration(worst.2),
        name(worst.0)
    );
    let heads = ["transport", "messages", "median", "90 %", "99 %", "99.9 %", "worst"];
    let x = Axis::logarithmic("latency", "ns", times.into_iter())?;
    let y = Axis::logarithmic("share of messages that took longer", "share", shares.into_iter())?;
    let curves = Curves::of(x, y, curves, Names::Transports);
    Some(Plot::of(finding, curves, Table::new(heads, rows)).about(heading))
}

/// Counts by latency, as cyclictest's users know them: linear microseconds, logarithmic counts, the worst case printed.
pub(super) fn histogram(story: &Story<'_>, heading: &str, sessions: &[&Session<'_>]) -> Option<Plot> {
    let sampled = sampled(sessions);
    // So far that all but one in a thousand are seen: the rest would squeeze them, and is said in words.
    let end = sampled.iter().filter_map(|(_, samples, _)| samples.quantile(0.999)).fold(0.0, f64::max) * 1.15;
    let (mut strips, mut rows, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for (session, samples, worst) in &sampled {
        let mut columns: Vec<[f64; 3]> = Vec::new();
        let mut beyond = 0;
        for (from, to, count) in buckets(samples) {
            if from > end {
                beyond += count;
                continue;
            }
            // A column is a microsecond, or the bucket where that is wider.
            let (from, to) = if to - from < 1000.0 {
                let start = (f64::midpoint(from, to) / 1000.0).floor() * 1000.0;
                (start, start + 1000.0)
            } else {
                (from, to.min(end))
            };
            match columns.last_mut() {
                Some(last) if last[0] == from => last[2] += count as f64,
                _ => columns.push([from, to, count as f64]),
            }
        }
        counts.extend(columns.iter().map(|column| column[2]));
        let far =
            if beyond > 0 { format!("{} beyond, ", numbers::count(beyond as f64)) } else { String::new() };
        let at = |q: f64| samples.quantile(q).map_or(String::new(), numbers::duration);
        let (total, worst) = (numbers::count(samples.total() as f64), numbers::duration(*worst));
        let name = story.words(session.transport);
        let says = format!("{far}worst {worst}");
        let beyond = numbers::count(beyond as f64);
        rows.push(vec![name.clone(), total, at(0.0), at(0.5), worst, beyond]);
        strips.push(Strip::of(name, says, Form::Columns(columns)));
    }
    let steadiest = sampled.iter().min_by(|one, other| one.2.total_cmp(&other.2))?;
    let least = sampled.iter().map(|(_, samples, _)| samples.total()).min()?;
    let finding = format!(
        "{} is {} of {} and more messages ({})",
        if sampled.len() > 1 { "The smallest worst case" } else { "The worst case" },
        numbers::duration(steadiest.2),
        numbers::count(least as f64),
        story.words(steadiest.0.transport)
    );
    let x = Axis::between("latency, columns of 1 us and more", "ns", 0.0, end);
    let y = Axis::logarithmic("messages", "count", counts.into_iter().chain([0.6]));
    let strips = Strips::of(x, y, strips, Names::Transports);
    let heads = ["transport", "messages", "least", "median", "worst", "beyond the axis"];
    Some(Plot::of(finding, strips, Table::new(heads, rows)).about(heading))
}
