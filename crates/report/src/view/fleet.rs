//! A fleet: the odd hosts first, how sure that is, then the groups and where all hosts lie.

use crate::blocks::axis::Axis;
use crate::blocks::page::{Card, Chip, Hue, Page, Section};
use crate::blocks::plot::{Chart, Form, Names, Plot, Strip, Strips};
use crate::blocks::{Part, Place, Table, Tone, View};
use crate::judge::fleet::{
    FALSE_RATE, GroupFigure, HostGroup, JudgedFleet, LEAST_HOSTS, OddFinding, OddHost, OddIn,
};
use crate::judge::percent;
use crate::numbers;
use crate::words::{counted, plain};

/// Odd hosts that a screen shows unless all are asked for; and answers on the page.
const FEW: usize = 20;
const CARDS: usize = 6;
/// Findings of a host that are told one by one.
const FINDINGS: usize = 3;
/// Small pictures of a plot, and columns of each.
const PICTURES: usize = 24;
const COLUMNS: usize = 48;
/// Rows of the table of all hosts on the page.
const MOST_ROWS: usize = 5000;

/// The fleet for a terminal or for Markdown.
pub(crate) fn view(fleet: &JudgedFleet, all: bool, unicode: bool) -> View {
    let shown = if all { fleet.odd.len() } else { FEW.min(fleet.odd.len()) };
    let mut parts = vec![Part::Words(measured(fleet))];
    if !fleet.odd.is_empty() {
        parts.push(Part::Table(odd(fleet, shown, unicode)));
    }
    let mut remarks = vec![sure(fleet), rule(fleet)];
    if shown < fleet.odd.len() {
        remarks.push(format!(
            "{} more: --all shows them",
            counted(fleet.odd.len() - shown, "odd host", "odd hosts")
        ));
    }
    remarks.extend(left_alone(fleet));
    parts.push(Part::Table(groups(fleet, unicode)));
    parts.push(Part::Remarks(remarks));
    View { title: heading(fleet, unicode), parts, ..View::default() }
}

/// The fleet as a page.
pub(crate) fn page(fleet: &JudgedFleet) -> Page {
    let chip = |text: String, tone, whole: String| Chip { text, tone, whole };
    let tone = if fleet.odd.is_empty() { Tone::Good } else { Tone::Bad };
    let mut sections = Vec::new();
    if !fleet.odd.is_empty() {
        let parts = vec![
            Part::Table(odd(fleet, fleet.odd.len(), true)),
            Part::Remarks(vec![sure(fleet), rule(fleet)]),
        ];
        sections.push(Section::View(View { title: "Odd hosts".to_owned(), parts, ..View::default() }));
    }
    let mut parts = vec![Part::Table(groups(fleet, true))];
    parts.extend(by_group(fleet).map(Part::from));
    sections.push(Section::View(View {
        title: "Groups: model and kernel".to_owned(),
        parts,
        ..View::default()
    }));
    let figures = fleet.groups.iter().enumerate().filter_map(|(at, group)| by_figure(at, group));
    let parts: Vec<Part> = figures.take(PICTURES).map(Part::from).collect();
    if !parts.is_empty() {
        sections.push(Section::View(View {
            title: "Figures of each group".to_owned(),
            parts,
            ..View::default()
        }));
    }
    sections.push(Section::View(hosts(fleet)));
    Page {
        title: format!("{}: oscost", heading(fleet, true)),
        kind: "fleet",
        heading: heading(fleet, true),
        chips: vec![
            chip(counted(fleet.odd.len(), "odd host", "odd hosts"), Some(tone), rule(fleet)),
            chip(false_alarms(fleet), None, rule(fleet)),
            chip(counted(fleet.groups.len(), "group", "groups"), None, measured(fleet)),
        ],
        warnings: left_alone(fleet),
        cards: fleet.odd.iter().take(CARDS).map(card).collect(),
        sizes: sure(fleet),
        sections,
        closing: measured(fleet),
        checksum: String::new(),
    }
}

/// What was found, in a sentence.
fn heading(fleet: &JudgedFleet, unicode: bool) -> String {
    let hosts = counted(fleet.hosts, "host", "hosts");
    if fleet.odd.is_empty() {
        return format!("None of {hosts} is odd");
    }
    let name = |odd: &OddHost| format!("{} ({})", plain(&odd.name, unicode), percent(odd.findings[0].apart));
    let first: Vec<String> = fleet.odd.iter().take(3).map(name).collect();
    let more = if fleet.odd.len() > 3 { ", ..." } else { "" };
    let are = if fleet.odd.len() == 1 { "is" } else { "are" };
    format!("{} of {hosts} {are} odd: {}{more}", fleet.odd.len(), first.join(", "))
}

fn measured(fleet: &JudgedFleet) -> String {
    format!(
        "{} of {} in {} of one processor model and kernel",
        counted(fleet.results, "result", "results"),
        counted(fleet.hosts, "host", "hosts"),
        counted(fleet.groups.len(), "group", "groups"),
    )
}

/// How many of the named hosts are false alarms.
fn false_alarms(fleet: &JudgedFleet) -> String {
    format!("about {:.1} false alarms or fewer", fleet.odd.len() as f64 * FALSE_RATE)
}

/// How sure the names are.
fn sure(fleet: &JudgedFleet) -> String {
    let named = fleet.odd.len();
    if named == 0 {
        // Where nothing is odd, a rate of false discoveries is the chance of any.
        return format!("how sure: {} of such fleets have a false alarm", numbers::percent(FALSE_RATE));
    }
    format!(
        "how sure: {:.1} of {named} named hosts may be false alarms, on average",
        named as f64 * FALSE_RATE
    )
}

/// By what rule hosts are named.
fn rule(fleet: &JudgedFleet) -> String {
    let tests = counted(fleet.tests, "test", "tests");
    format!("{tests}; false discovery rate {} (Benjamini and Hochberg)", numbers::percent(FALSE_RATE))
}

/// What has no verdict, counted.
fn left_alone(fleet: &JudgedFleet) -> Vec<String> {
    let small: usize = fleet.groups.iter().filter(|it| !it.is_judged).map(|it| it.hosts.len()).sum();
    let mut all = Vec::new();
    if small > 0 {
        let hosts = counted(small, "host has", "hosts have");
        all.push(format!("{hosts} no verdict: fewer than {LEAST_HOSTS} hosts share their model and kernel"));
    }
    if fleet.nameless > 0 {
        let results = counted(fleet.nameless, "result names no host", "results name no host");
        all.push(format!("{results}: each boot or file counts as one (run --keep-private keeps the name)"));
    }
    if fleet.withheld > 0 {
        all.push(format!("{} without a number", counted(fleet.withheld, "figure is", "figures are")));
    }
    all
}

/// In what a host is odd.
fn what(finding: &OddFinding, unicode: bool) -> String {
    match &finding.what {
        OddIn::Kernel(count) => format!("all {} that enter the kernel", counted(*count, "figure", "figures")),
        OddIn::User(count) => format!("all {} that do not enter it", counted(*count, "figure", "figures")),
        OddIn::Figure(id) => plain(id, unicode),
    }
}

/// A rate of false discoveries.
fn rate(rate: f64) -> String {
    if rate < 1e-4 { "under 0.01 %".to_owned() } else { format!("{:.2} %", rate * 100.0) }
}

fn usual(share: f64, unicode: bool) -> String {
    format!("{} {:.1} %", if unicode { "\u{b1}" } else { "+-" }, share * 100.0)
}

fn odd(fleet: &JudgedFleet, most: usize, unicode: bool) -> Table {
    let columns = [
        ("host", Place::Left),
        ("group", Place::Left),
        ("odd in", Place::Left),
        ("by", Place::Right),
        ("usual", Place::Right),
        ("false at", Place::Right),
    ];
    let rows = fleet.odd.iter().take(most).flat_map(|odd| {
        let told = odd.findings.iter().take(FINDINGS).enumerate().map(move |(at, finding)| {
            let first = |text: String| if at == 0 { text } else { String::new() };
            vec![
                first(plain(&odd.name, unicode)),
                first(letter(odd.group)),
                what(finding, unicode),
                percent(finding.apart),
                usual(finding.usual, unicode),
                first(rate(odd.rate)),
            ]
        });
        let more = odd.findings.len().saturating_sub(FINDINGS);
        let more = (more > 0).then(|| {
            vec![
                String::new(),
                String::new(),
                format!("and {}", counted(more, "figure more", "figures more")),
            ]
        });
        told.chain(more).collect::<Vec<_>>()
    });
    Table::of(columns, rows)
}

/// Name of a group: A to Z, then AA.
fn letter(group: usize) -> String {
    let last = char::from(b'A' + (group % 26) as u8);
    if group < 26 { last.to_string() } else { format!("{}{last}", letter(group / 26 - 1)) }
}

fn groups(fleet: &JudgedFleet, unicode: bool) -> Table {
    let columns = [
        ("group", Place::Left),
        ("model and kernel", Place::Left),
        ("hosts", Place::Right),
        ("odd", Place::Right),
        ("usual, kernel", Place::Right),
        ("usual, user", Place::Right),
    ];
    let rows = fleet.groups.iter().enumerate().map(|(at, group)| {
        let odd = fleet.odd.iter().filter(|odd| odd.group == at).count();
        let spread = |kind: usize| group.usual[kind].map_or("-".to_owned(), |share| usual(share, unicode));
        let odd = if group.is_judged { odd.to_string() } else { "not judged".to_owned() };
        let key = format!("{}, {}", plain(&group.cpu_model, unicode), plain(&group.kernel, unicode));
        vec![letter(at), key, group.hosts.len().to_string(), odd, spread(0), spread(1)]
    });
    Table::of(columns, rows)
}

fn card(odd: &OddHost) -> Card {
    let first = &odd.findings[0];
    let number = percent(first.apart);
    Card {
        hue: Hue::Judged(Tone::Bad),
        number: number.trim_end_matches(" %").to_owned(),
        unit: "%".to_owned(),
        name: plain(&odd.name, true),
        says: what(first, true),
        size: format!("group {}, usual {}", letter(odd.group), usual(first.usual, true)),
        link: String::new(),
    }
}

/// Where the hosts of each group lie in the figures that enter the kernel.
fn by_group(fleet: &JudgedFleet) -> Option<Plot> {
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
    let finding =
        if fleet.odd.is_empty() { "No host stands apart" } else { "Odd hosts stand apart from their group" };
    small(finding, strips, widest)
}

/// Where the hosts of a group lie in each figure.
fn by_figure(at: usize, group: &HostGroup) -> Option<Plot> {
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
        .map(|(name, says, values)| Strip { name, says, form: Form::Columns(columns(&values)), hue: 0 })
        .collect();
    let heights = strips.iter().flat_map(|strip| match &strip.form {
        Form::Columns(columns) => columns.iter().map(|it| it[2]).collect::<Vec<_>>(),
        _ => Vec::new(),
    });
    let y = Axis::logarithmic("hosts", "count", heights.chain([0.6]))?;
    Some(Plot {
        about: String::new(),
        finding: finding.to_owned(),
        note: format!("Hosts beyond {} stand at the ends.", numbers::percent(end)),
        chart: Chart::Strips(Strips {
            x: Axis::between("deviation from the group's median", "share", -end, end),
            y: Some(y),
            strips,
            rules: Vec::new(),
            names: Names::Own,
        }),
        table: Table::new(["", "hosts", "what"], rows),
        letters: Vec::new(),
    })
}

/// All hosts, those that lie farthest apart first.
fn hosts(fleet: &JudgedFleet) -> View {
    let mut all: Vec<_> = fleet
        .groups
        .iter()
        .enumerate()
        .flat_map(|(at, group)| group.hosts.iter().map(move |host| (at, host)))
        .collect();
    let far = |host: &crate::judge::fleet::JudgedHost| host.apart[0].or(host.apart[1]).map_or(-1.0, f64::abs);
    all.sort_by(|one, other| far(other.1).total_cmp(&far(one.1)));
    let share = |share: Option<f64>| share.map_or("-".to_owned(), percent);
    let rows = all.iter().take(MOST_ROWS).map(|(at, host)| {
        vec![plain(&host.name, true), letter(*at), share(host.apart[0]), share(host.apart[1])]
    });
    let table = Table::new(["host", "group", "kernel", "user"], rows);
    let mut parts = vec![
        Part::Words(
            "Median deviation of a host's figures from the median of its group: those that enter the kernel, and the others."
                .to_owned(),
        ),
        Part::Table(table),
    ];
    if all.len() > MOST_ROWS {
        parts.push(Part::Remarks(vec![format!(
            "{} more are not listed",
            counted(all.len() - MOST_ROWS, "host", "hosts")
        )]));
    }
    View { title: "All hosts".to_owned(), parts, ..View::default() }
}
