//! Where the hosts of a fleet lie, drawn: a small picture for each group, and for each figure of a group.

use super::{letter, usual};
use crate::blocks::{Axis, Form, Names, Plot, Strip, Strips, Table};
use crate::judge::fleet::{GroupFigure, HostGroup, JudgedFleet};
use crate::numbers;
use crate::words::{counted, plain};

/// Usual deviations beyond which few hosts lie.
const FAR: f64 = 3.0;
/// Small pictures of a plot.
pub(super) const PICTURES: usize = 24;
/// Columns of a small picture.
const COLUMNS: usize = 48;

/// Where the hosts of each group lie in the figures that enter the kernel.
pub(super) fn by_group(fleet: &JudgedFleet) -> Option<Plot> {
    let of_group =
        |group: &HostGroup| -> Vec<f64> { group.hosts.iter().filter_map(|host| host.apart[0]).collect() };
    let judged = fleet.groups.iter().enumerate().filter(|(_, group)| group.is_judged);
    let strips: Vec<(String, String, Vec<f64>)> = judged
        .take(PICTURES)
        .map(|(at, group)| {
            let odd = fleet.odd.iter().filter(|odd| odd.group == at).count();
            let key = format!("{}: {}", letter(at), plain(&group.kernel, true));
            (key, format!("{odd} odd of {}", group.hosts.len()), of_group(group))
        })
        .collect();
    let widest = fleet.groups.iter().filter_map(|group| group.usual[0]).fold(0.0, f64::max);
    let far = |group: &HostGroup| {
        let usual = group.usual[0].unwrap_or(f64::INFINITY);
        group.hosts.iter().filter_map(|host| host.apart[0]).filter(|apart| apart.abs() > FAR * usual).count()
    };
    let far: usize = fleet.groups.iter().filter(|group| group.is_judged).map(far).sum();
    let far = counted(far, "host lies", "hosts lie");
    let finding = format!("{far} more than {FAR} usual deviations apart; {} named odd", fleet.odd.len());
    small(&finding, strips, widest)
}

/// Where the hosts of a group lie in each figure.
pub(super) fn by_figure(at: usize, group: &HostGroup) -> Option<Plot> {
    let strip = |figure: &GroupFigure| {
        let says = format!("{}, usual {}", figure.quantity, usual(figure.usual, true));
        (plain(&figure.id, true), says, figure.apart.clone())
    };
    let strips: Vec<_> = group.figures.iter().take(PICTURES).map(strip).collect();
    let widest = group.figures.iter().map(|figure| figure.usual).fold(0.0, f64::max);
    let finding = format!("Group {}: {}", letter(at), counted(group.figures.len(), "figure", "figures"));
    small(&finding, strips, widest)
}

/// Small pictures of how many hosts lie where; what lies beyond six usual deviations stands at the ends.
fn small(finding: &str, strips: Vec<(String, String, Vec<f64>)>, usual: f64) -> Option<Plot> {
    let end = (6.0 * usual).clamp(0.02, 1.0);
    let wide = 2.0 * end / COLUMNS as f64;
    let columns = |values: &[f64]| -> Vec<[f64; 3]> {
        let mut counts = [0_u32; COLUMNS];
        for value in values {
            let at = ((value.clamp(-end, end) + end) / wide) as usize;
            counts[at.min(COLUMNS - 1)] += 1;
        }
        let column = |(at, &count): (usize, &u32)| {
            let from = -end + at as f64 * wide;
            [from, from + wide, f64::from(count)]
        };
        counts.iter().enumerate().filter(|it| *it.1 > 0).map(column).collect()
    };
    let rows: Vec<Vec<String>> = strips
        .iter()
        .map(|(name, says, values)| vec![name.clone(), values.len().to_string(), says.clone()])
        .collect();
    let strips: Vec<Strip> = strips
        .into_iter()
        .filter(|it| !it.2.is_empty())
        .map(|(name, says, values)| Strip::of(name, says, Form::Columns(columns(&values))))
        .collect();
    // Nothing is said of where nobody lies: a group without a verdict has no figures.
    if strips.is_empty() {
        return None;
    }
    let heights = strips.iter().flat_map(|strip| match &strip.form {
        Form::Columns(columns) => columns.iter().map(|it| it[2]).collect::<Vec<_>>(),
        _ => Vec::new(),
    });
    let y = Axis::logarithmic("hosts", "count", heights.chain([0.6]))?;
    let x = Axis::between("deviation from the group's median", "share", -end, end);
    let strips = Strips::of(x, Some(y), strips, Names::Own);
    let note = format!("Hosts beyond {} stand at the ends.", numbers::percent(end));
    Some(Plot { note, ..Plot::of(finding.to_owned(), strips, Table::new(["", "hosts", "figures"], rows)) })
}
