//! A fleet: the odd hosts first, how sure that is, then the groups and where all hosts lie.

mod plots;

use crate::blocks::Place::{Left, Right};
use crate::blocks::page::{Card, Chip, Page, Section};
use crate::blocks::{Hue, Part, Table, Tone, View};
use crate::judge::fleet::{
    EVEN_RATE, FALSE_RATE, HostGroup, JudgedFleet, LEAST_HOSTS, OddFinding, OddHost, OddIn,
};
use crate::judge::percent;
use crate::numbers;
use crate::words::{counted, distinct, plain};
use oscost_stats::sorting::SmallSort;
use plots::{PICTURES, by_figure, by_group};

/// Odd hosts that a screen shows unless all are asked for; and answers on the page.
const FEW: usize = 20;
const CARDS: usize = 6;
/// Findings of a host that are told one by one.
const FINDINGS: usize = 3;
/// A difference that nobody wants to be hidden.
const LARGE: f64 = 0.1;
/// Rows of the table of all hosts on the page.
const MOST_ROWS: usize = 5000;

/// The fleet for a terminal or for Markdown.
pub(crate) fn view(fleet: &JudgedFleet, all: bool, unicode: bool) -> View {
    let shown = if all { fleet.odd.len() } else { FEW.min(fleet.odd.len()) };
    let mut parts = vec![Part::Words(measured(fleet))];
    if !fleet.odd.is_empty() {
        parts.push(Part::Table(odd(&fleet.odd[..shown], unicode)));
    }
    let mut remarks: Vec<String> = sure(fleet).into_iter().collect();
    remarks.extend(unproved(fleet, if all { usize::MAX } else { FINDINGS }, unicode));
    remarks.extend([shows(fleet, unicode), shows_alone(fleet, unicode)]);
    remarks.extend(is_judged(fleet).then(|| rule(fleet)));
    if shown < fleet.odd.len() {
        let more = counted(fleet.odd.len() - shown, "odd host", "odd hosts");
        remarks.push(format!("{more} more: --all shows them"));
    }
    remarks.extend(left_alone(fleet));
    parts.push(Part::Table(groups(fleet, unicode)));
    parts.push(Part::Remarks(remarks));
    View::new(heading(fleet, unicode), parts)
}

/// The fleet as a page.
pub(crate) fn page(fleet: &JudgedFleet) -> Page {
    let chip = |text, tone, whole| Chip { text, tone, whole };
    let tone = match (fleet.odd.is_empty(), doubts(fleet)) {
        (false, _) => Tone::Bad,
        (true, true) => Tone::Doubt,
        (true, false) => Tone::Good,
    };
    let mut sections = Vec::new();
    if !fleet.odd.is_empty() {
        let parts = vec![
            Part::Table(odd(&fleet.odd, true)),
            Part::Remarks(sure(fleet).into_iter().chain([rule(fleet)]).collect()),
        ];
        sections.push(Section::View(View::new("Odd hosts", parts)));
    }
    if !fleet.unproved.is_empty() {
        let parts = vec![Part::Words(format!("{}.", half(fleet))), Part::Table(odd(&fleet.unproved, true))];
        let title = "Apart, but not proved odd".to_owned();
        sections.push(Section::View(View::new(title, parts)));
    }
    let shown = [shows(fleet, true), shows_alone(fleet, true)].map(|says| Part::Words(format!("{says}.")));
    let mut parts: Vec<Part> = shown.into_iter().chain([Part::Table(groups(fleet, true))]).collect();
    parts.extend(by_group(fleet).map(Part::from));
    sections.push(Section::View(View::new("Groups: model and kernel", parts)));
    let figures = fleet.groups.iter().enumerate().filter_map(|(at, group)| by_figure(at, group));
    let parts: Vec<Part> = figures.take(PICTURES).map(Part::from).collect();
    if !parts.is_empty() {
        sections.push(Section::View(View::new("Figures of each group", parts)));
    }
    sections.push(Section::View(hosts(fleet)));
    let doubt = (!fleet.unproved.is_empty()).then_some(Tone::Doubt);
    let odd = fleet.odd.iter().map(|odd| card(odd, Tone::Bad));
    let apart = fleet.unproved.iter().map(|odd| card(odd, Tone::Doubt));
    let verdict = if is_judged(fleet) {
        vec![
            chip(counted(fleet.odd.len(), "odd host", "odd hosts"), Some(tone), rule(fleet)),
            chip(format!("{} apart, not proved", fleet.unproved.len()), doubt, half(fleet)),
            chip(false_alarms(fleet), None, rule(fleet)),
        ]
    } else {
        vec![chip("no verdict".to_owned(), Some(Tone::Doubt), heading(fleet, true))]
    };
    let of_groups = chip(counted(fleet.groups.len(), "group", "groups"), None, measured(fleet));
    Page {
        title: format!("{}: oscost", heading(fleet, true)),
        kind: "fleet",
        heading: heading(fleet, true),
        chips: verdict.into_iter().chain([of_groups]).collect(),
        warnings: cannot_show(fleet).into_iter().chain(left_alone(fleet)).collect(),
        cards: odd.chain(apart).take(CARDS).collect(),
        sizes: sure(fleet).unwrap_or_default(),
        sections,
        closing: format!("{}.", measured(fleet)),
        checksum: String::new(),
    }
}

/// Whether any host was judged: else nothing can be said of how many are odd.
fn is_judged(fleet: &JudgedFleet) -> bool {
    fleet.groups.iter().any(|group| group.is_judged)
}

/// What was found, in a sentence.
fn heading(fleet: &JudgedFleet, unicode: bool) -> String {
    let hosts = counted(fleet.hosts, "host", "hosts");
    if fleet.odd.is_empty() {
        return match fleet.unproved.len() {
            _ if !is_judged(fleet) => {
                let alike = "hosts with a model, a kernel and a figure in common";
                format!("No verdict: it takes {LEAST_HOSTS} {alike}, and results of {hosts} were read")
            }
            0 => format!("None of {hosts} is odd, as far as this fleet can show"),
            1 => format!("None of {hosts} is proved odd, and 1 lies apart"),
            count => format!("None of {hosts} is proved odd, and {count} lie apart"),
        };
    }
    let first: Vec<String> = fleet.odd.iter().take(3).map(|odd| named(odd, unicode)).collect();
    let more = if fleet.odd.len() > 3 { ", ..." } else { "" };
    let odd = distinct(fleet.odd.iter().map(|odd| odd.name.as_str())).len();
    let are = if odd == 1 { "is" } else { "are" };
    format!("{odd} of {hosts} {are} odd: {}{more}", first.join(", "))
}

fn measured(fleet: &JudgedFleet) -> String {
    format!(
        "{} of {} in {} of one processor model and kernel",
        counted(fleet.results, "result", "results"),
        counted(fleet.hosts, "host", "hosts"),
        counted(fleet.groups.len(), "group", "groups"),
    )
}

/// Whether a host may be odd although none is named.
fn doubts(fleet: &JudgedFleet) -> bool {
    !fleet.unproved.is_empty() || fleet.groups.iter().all(|group| group.shows.is_none())
}

/// What may be said of the hosts that lie apart and are not named.
fn half(fleet: &JudgedFleet) -> String {
    let told = fleet.odd.len() + fleet.unproved.len();
    // Those by one figure alone have no rate that says anything: each may be false.
    let by_rate = told - fleet.unproved.iter().filter(|odd| odd.rate > EVEN_RATE).count();
    let false_ones = by_rate as f64 * EVEN_RATE + (told - by_rate) as f64;
    format!(
        "hosts that lie apart are not proved odd: with them, up to {false_ones:.1} of {told} may be false alarms"
    )
}

/// Hosts that lie apart and are not named, in a sentence.
fn unproved(fleet: &JudgedFleet, most: usize, unicode: bool) -> Option<String> {
    let first: Vec<String> = fleet.unproved.iter().take(most).map(|odd| named(odd, unicode)).collect();
    let more = if fleet.unproved.len() > first.len() { ", ..." } else { "" };
    let hosts = counted(fleet.unproved.len(), "host lies", "hosts lie");
    (!first.is_empty())
        .then(|| format!("{hosts} apart and may be odd, not proved: {}{more}", first.join(", ")))
}

/// What size of difference this fleet could show in the whole kernel.
fn shows(fleet: &JudgedFleet, unicode: bool) -> String {
    let Some(by) = shown_by(fleet, unicode, |group| group.shows) else {
        let none = "no difference in the whole kernel, however large; more hosts alike are needed";
        return format!("what can be shown: {none}");
    };
    format!("what can be shown: a host that is slower in the whole kernel by {by}, 9 times of 10")
}

/// The same of a host that is slow in one figure alone, which is another matter: one figure of many hosts has a long tail.
fn shows_alone(fleet: &JudgedFleet, unicode: bool) -> String {
    let by = shown_by(fleet, unicode, |group| group.shows_alone);
    let by = by.unwrap_or_else(|| "no difference, however large; more hosts alike are needed".to_owned());
    format!("what can be shown in one figure alone, in half of the figures: {by}")
}

/// The least differences that the groups can show: from that of one group to that of another.
fn shown_by(fleet: &JudgedFleet, unicode: bool, of: impl Fn(&HostGroup) -> Option<f64>) -> Option<String> {
    let groups = fleet.groups.iter().enumerate();
    let mut known: Vec<(f64, usize, usize)> =
        groups.filter_map(|(at, group)| Some((of(group)?, at, group.hosts.len()))).collect();
    known.small_sort_by(|one, other| one.0.total_cmp(&other.0));
    let said = |&(share, at, hosts): &(f64, usize, usize)| {
        format!("{} (group {}, {})", percent(share), letter(at), counted(hosts, "host", "hosts"))
    };
    let dash = if unicode { "\u{2265}" } else { ">=" };
    let (least, most) = (known.first()?, known.last()?);
    let more = if least.1 == most.1 { String::new() } else { format!(" to {dash} {}", said(most)) };
    Some(format!("{dash} {}{more}", said(least)))
}

/// A warning of groups that could hide a host that is slower by a tenth.
fn cannot_show(fleet: &JudgedFleet) -> Option<String> {
    let judged = || fleet.groups.iter().filter(|group| group.is_judged);
    let hides = |group: &&HostGroup| group.shows.is_none_or(|share| share > LARGE);
    let count = judged().filter(hides).count();
    let hosts: usize = judged().filter(hides).map(|group| group.hosts.len()).sum();
    let [of, hosts] = [counted(count, "group", "groups"), counted(hosts, "host", "hosts")];
    let large = numbers::percent(LARGE);
    let hides = format!("{of} with {hosts} could hide a host that is slower by {large} in the whole kernel");
    (count > 0).then_some(hides)
}

/// How many of the named hosts are false alarms.
fn false_alarms(fleet: &JudgedFleet) -> String {
    format!("about {:.1} false alarms or fewer", fleet.odd.len() as f64 * FALSE_RATE)
}

/// How sure the names are.
fn sure(fleet: &JudgedFleet) -> Option<String> {
    let named = fleet.odd.len();
    let wrong = named as f64 * FALSE_RATE;
    is_judged(fleet).then(|| match named {
        // Where nothing is odd, a rate of false discoveries is the chance of any.
        0 => format!("how sure: {} of such fleets have a false alarm", numbers::percent(FALSE_RATE)),
        _ => format!("how sure: {wrong:.1} of {named} named hosts may be false alarms, on average"),
    })
}

/// A host, and by how much it differs in its surest finding; in which figure, where that is one alone.
fn named(odd: &OddHost, unicode: bool) -> String {
    let OddFinding { what, apart, .. } = &odd.findings[0];
    let place = match what {
        OddIn::Kernel(_) => String::new(),
        OddIn::User(_) => "outside the kernel ".to_owned(),
        OddIn::Figure(id) => format!("{} ", plain(id, unicode)),
    };
    let word = if *apart < 0.0 { "faster" } else { "slower" };
    let share = percent(*apart);
    format!("{} ({place}{} {word})", plain(&odd.name, unicode), share.trim_start_matches(['+', '-']))
}

/// By what rule hosts are named.
fn rule(fleet: &JudgedFleet) -> String {
    let tests = counted(fleet.tests, "test", "tests");
    format!("{tests}; false discovery rate {} (Benjamini and Hochberg)", numbers::percent(FALSE_RATE))
}

/// What has no verdict, counted.
fn left_alone(fleet: &JudgedFleet) -> Vec<String> {
    let small = fleet.groups.iter().flat_map(|it| &it.hosts).filter(|host| !host.is_judged).count();
    let mut all = Vec::new();
    if small > 0 {
        let hosts = counted(small, "host has", "hosts have");
        let alike = "share their model, kernel and figures";
        all.push(format!("{hosts} no verdict: fewer than {LEAST_HOSTS} hosts {alike}"));
    }
    if fleet.bare > 0 {
        let results = counted(fleet.bare, "result has", "results have");
        all.push(format!("{results} no price, as bills and counts have none: left out"));
    }
    if fleet.nameless > 0 {
        let results = counted(fleet.nameless, "result names no host", "results name no host");
        all.push(format!("{results}: each boot or file counts as one (run --keep-private keeps the name)"));
    }
    if fleet.partial > 0 {
        let runs = counted(fleet.partial, "run is partial: it", "runs are partial: they");
        all.push(format!("{runs} ended early. The figures measured until then are used"));
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

fn odd(hosts: &[OddHost], unicode: bool) -> Table {
    let columns = [
        ("host", Left),
        ("group", Left),
        ("odd in", Left),
        ("by", Right),
        ("usual", Right),
        ("false-alarm rate", Right),
    ];
    let rows = hosts.iter().flat_map(|odd| {
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
        let words = format!("and {}", counted(more, "figure more", "figures more"));
        let more = (more > 0).then(|| vec![String::new(), String::new(), words]);
        told.chain(more).collect::<Vec<_>>()
    });
    Table::of(columns, rows).answering(&["odd in", "by"])
}

/// Name of a group: A to Z, then AA.
fn letter(group: usize) -> String {
    let last = char::from(b'A' + (group % 26) as u8);
    if group < 26 { last.to_string() } else { format!("{}{last}", letter(group / 26 - 1)) }
}

fn groups(fleet: &JudgedFleet, unicode: bool) -> Table {
    let columns = [
        ("group", Left),
        ("hosts", Right),
        ("odd", Right),
        ("usual, kernel", Right),
        ("usual, user", Right),
        ("can show", Right),
    ];
    let rows = fleet.groups.iter().enumerate().map(|(at, group)| {
        let odd = fleet.odd.iter().filter(|odd| odd.group == at).count();
        let spread = |kind: usize| group.usual[kind].map_or("-".to_owned(), |share| usual(share, unicode));
        let shows = group.shows.map_or("-".to_owned(), |share| format!("{} on", percent(share)));
        let odd = if group.is_judged { odd.to_string() } else { "not judged".to_owned() };
        let [model, kernel] = [&group.cpu_model, &group.kernel].map(|it| plain(it, unicode));
        let key = format!("{}: {model}, {kernel}", letter(at));
        vec![key, group.hosts.len().to_string(), odd, spread(0), spread(1), shows]
    });
    Table::of(columns, rows).answering(&["hosts", "odd", "can show"])
}

fn card(odd: &OddHost, tone: Tone) -> Card {
    let first = &odd.findings[0];
    let proved = if tone == Tone::Bad { "" } else { "not proved odd; " };
    let says = format!("{proved}{}", what(first, true));
    let size = format!("group {}, usual {}", letter(odd.group), usual(first.usual, true));
    Card { size, ..Card::of(Hue::Judged(tone), &percent(first.apart), plain(&odd.name, true), says) }
}

/// All hosts, those that lie farthest apart first.
fn hosts(fleet: &JudgedFleet) -> View {
    let groups = fleet.groups.iter().enumerate();
    let mut all: Vec<_> =
        groups.flat_map(|(at, group)| group.hosts.iter().map(move |host| (at, host))).collect();
    let far = |host: &crate::judge::fleet::JudgedHost| host.apart[0].or(host.apart[1]).map_or(-1.0, f64::abs);
    all.small_sort_by(|one, other| far(other.1).total_cmp(&far(one.1)));
    let share = |share: Option<f64>| share.map_or("-".to_owned(), percent);
    let rows = all.iter().take(MOST_ROWS).map(|(at, host)| {
        vec![plain(&host.name, true), letter(*at), share(host.apart[0]), share(host.apart[1])]
    });
    let table = Table::new(["host", "group", "kernel", "user"], rows);
    let mut parts = vec![
        Part::words(
            "Median deviation of a host's figures from the median of its group: those that enter the kernel, and the others.",
        ),
        Part::Table(table),
    ];
    if all.len() > MOST_ROWS {
        let more = counted(all.len() - MOST_ROWS, "host", "hosts");
        parts.push(Part::Remarks(vec![format!("{more} more are not listed")]));
    }
    View::new("All hosts", parts)
}
