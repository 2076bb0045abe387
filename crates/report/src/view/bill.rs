//! The bill of a program: what it asked for, what that costs, how much of its time that explains, and what would be less.

use oscost_results::bill::{
    Bill, BillItem as Item, Budget, CountedRun as Counted, CountingWay as Way, RunEnd as Ended,
    RunUsage as Usage, Saving,
};
use oscost_results::{Estimate, RunResult};

use crate::blocks::Place::{Below, Left, Right, Spare};
use crate::blocks::page::{Card, Chip, Page, Section};
use crate::blocks::{Axis, Hue, Judged, Part, Plot, Ranked, RankedBar, Table, Tone, View};
use crate::named::Named;
use crate::numbers::{self, duration, exact};
use crate::words::{capital, counted as counted_of, plain};

/// Rows that a screen shows unless all are asked for; and savings.
const ROWS: usize = 14;
const SAVINGS: usize = 4;
/// A saving of less of the program's CPU time, or of waiting of less of its time, is told only where all are asked for.
const WORTH: f64 = 0.005;
/// Where no rule says what would be less.
const NO_SAVING: &str =
    "largest saving: none; no rule applies to what was counted, or it saves less than 0.5 % of the CPU time";
/// Letters of the program on the page's head.
const PROGRAM: usize = 60;
/// Bars of the page.
const BARS: usize = 30;

/// The bill for a terminal, or for Markdown; every row, and what its price rests on, where `whole` is asked for.
pub(crate) fn view(result: &RunResult, bill: &Bill, whole: bool, unicode: bool) -> View {
    let mut parts: Vec<Part> = head(result, bill, unicode).into_iter().map(Part::Words).collect();
    parts.extend(result.note.iter().map(|note| Part::Words(format!("note: {}", plain(note, unicode)))));
    parts.extend(result.warnings.iter().map(|it| Part::Warning(format!("warning: {}", plain(it, unicode)))));
    parts.push(Part::Table(items(bill, whole, unicode)));
    let shown: Vec<&Saving> = bill.savings.iter().filter(|it| whole || is_worth(bill, it)).collect();
    let few = if whole { shown.len() } else { SAVINGS.min(shown.len()) };
    if !shown.is_empty() {
        parts.push(Part::Table(savings(&shown[..few], unicode)));
    }
    if !bill.budgets.is_empty() {
        let budgets = bill.budgets.iter().map(|it| budget(it, bill, unicode));
        parts.push(Part::Judged("budgets".to_owned(), budgets.collect()));
    }
    // What is left begins with why a time is not known, and what helps: once is enough.
    let is_told = bill.explained.is_none() && bill.time().is_some() && !bill.left.is_empty();
    let mut answer = vec![if is_told { priced(bill) } else { explained(bill) }];
    answer.extend(bill.left.iter().map(|it| plain(it, unicode)));
    answer.extend(largest(bill, true));
    let unpriced = plain(&bill.unpriced_savings.join(", "), unicode);
    let known = largest(bill, false);
    answer.push(match &*unpriced {
        "" => known.unwrap_or_else(|| NO_SAVING.to_owned()),
        _ => format!("{}; not priced: {unpriced}", known.as_deref().unwrap_or("largest saving: not known")),
    });
    parts.push(Part::Answer(answer));
    View::new(title(result, bill, unicode), parts)
}

fn program(bill: &Bill, unicode: bool) -> String {
    let words = plain(&bill.program.join(" "), unicode);
    match bill.pid {
        Some(pid) => format!("{words} (process {pid})"),
        None => words,
    }
}

fn title(result: &RunResult, bill: &Bill, unicode: bool) -> String {
    let place =
        [&result.conditions.kernel, &result.machine.cpu_model].map(|it| plain(it, unicode)).join(", ");
    let cpus = counted_of(result.machine.cpus as usize, "CPU", "CPUs");
    format!("bill of {} | {place}, {cpus}", program(bill, unicode))
}

/// What the free run took, and how it was counted. Threads are those of all processes, also of children that ran before.
fn head(result: &RunResult, bill: &Bill, unicode: bool) -> Vec<String> {
    let Some(first) = bill.counted.first() else { return Vec::new() };
    let started = if bill.pid.is_some() { ("new child", "new children") } else { ("child", "children") };
    let many = |count: u64, one: &str, many: &str| {
        format!("{} {}", large(count), if count == 1 { one } else { many })
    };
    let ran = |words: &str, usage: Usage| {
        format!(
            "{words} {} wall, {} user, {} system; {}, {}; {}, {}",
            duration(usage.wall_ns as f64),
            duration(usage.user_ns as f64),
            duration(usage.system_ns as f64),
            many(usage.switches.voluntary + usage.switches.involuntary, "switch", "switches"),
            many(usage.faults.minor + usage.faults.major, "fault", "faults"),
            several(first.threads, "thread", "threads"),
            several(first.children, started.0, started.1),
        )
    };
    let mut lines = vec![match bill.free {
        Some(free) => ran("free run", free),
        None => ran("counted for", first.usage),
    }];
    let is_cut = first.ended == Ended::CutShort || result.partial && !first.complete;
    lines.push(counted(bill, first, is_cut));
    lines.extend(ended(first.ended));
    lines.extend(is_cut.then(|| "it was cut short: the bill so far".to_owned()));
    lines.into_iter().map(|line| plain(&line, unicode)).collect()
}

/// How it ended, where that is worth a word.
fn ended(ended: Ended) -> Option<String> {
    match ended {
        Ended::Exited(0) | Ended::CutShort => None,
        Ended::Exited(code) => Some(format!("it ended with code {code}")),
        Ended::Killed(signal) => Some(format!("signal {signal} ended it")),
        Ended::Running => Some("it still runs, and is not traced any more".to_owned()),
    }
}

/// How it was counted, and what that cost.
fn counted(bill: &Bill, first: &Counted, is_cut: bool) -> String {
    let way = match first.way {
        Way::Ebpf => "eBPF",
        Way::Notification => "seccomp notification",
        Way::Ptrace => "ptrace",
        Way::Unknown => "a way that this version does not know",
    };
    let mut words = format!("counted by {way}");
    // One that was cut short, or did something else, is not slower or faster.
    let is_alike = !is_cut && bill.ended_otherwise().is_none();
    if let Some(free) = bill.free.filter(|free| free.wall_ns > 0 && is_alike) {
        let slower = first.usage.wall_ns as f64 / free.wall_ns as f64;
        words.push_str(&match slower {
            slower if slower >= 2.0 => format!(", which made it {}x slower", numbers::significant(slower)),
            slower if slower >= 1.0 => format!(", {:.1} % slower than free", (slower - 1.0) * 100.0),
            slower => {
                let waits = |usage: Usage| usage.switches.voluntary + usage.faults.major;
                let slept_less = waits(free) > waits(first.usage);
                let why = if slept_less { "it slept less often" } else { "its runs differ" };
                format!(", {:.1} % faster than free: {why}", (1.0 - slower) * 100.0)
            }
        });
    }
    if let Some(share) = first.window_share {
        words.push_str(&format!(", in windows that are {} of the time", numbers::percent(share)));
    }
    if bill.counted.len() > 1 {
        words.push_str(&format!("; the first of {} counted runs", bill.counted.len()));
    }
    words
}

fn several(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", exact(count as f64), if count == 1 { one } else { many })
}

/// A count to three digits: "8.00 M", "410 k", "1 234".
fn large(count: u64) -> String {
    let value = count as f64;
    match value {
        _ if value < 1e4 => exact(value),
        _ if value < 1e6 => format!("{} k", numbers::significant(value / 1e3)),
        _ if value < 1e9 => format!("{} M", numbers::significant(value / 1e6)),
        _ => format!("{} G", numbers::significant(value / 1e9)),
    }
}

fn is_worth(bill: &Bill, saving: &Saving) -> bool {
    let ns = |it: Usage| if saving.is_of_waiting() { it.wall_ns } else { it.user_ns + it.system_ns };
    bill.known_time().is_none_or(|time| saving.saved_ns() >= ns(time) as f64 * WORTH)
}

/// What stands before a number that is at least so much.
fn at_least(is_least: bool, unicode: bool) -> &'static str {
    let sign = if unicode { "\u{2265} " } else { ">= " };
    if is_least { sign } else { "" }
}

/// What it costs altogether is at least what is told of it: without a price a kernel entry, or nothing.
fn is_least(item: &Item) -> bool {
    item.price.as_ref().is_none_or(|price| price.least)
}

fn price(item: &Item, unicode: bool) -> (String, String) {
    let Some(price) = &item.price else { return <_>::default() };
    let bound = at_least(price.least, unicode);
    let sign = if price.least || price.circumstance.is_empty() { bound } else { "~" };
    let [one, all] = [price.ns.value, item.together.value].map(duration);
    (format!("{sign}{one}"), format!("{bound}{all}"))
}

fn items(bill: &Bill, whole: bool, unicode: bool) -> Table {
    // Shares of a time that is not known would be no shares: their column is left out.
    let system = bill.explained.and(bill.time()).map(|time| time.system_ns as f64).filter(|ns| *ns > 0.0);
    let share = |least: bool, together: f64| {
        let of = |system| format!("{}{}", at_least(least, unicode), whole_percent(together / system));
        system.map_or(String::new(), of)
    };
    let shown = if whole { bill.items.len() } else { ROWS.min(bill.items.len()) };
    let rows = bill.items[..shown].iter().map(|item| {
        let (one, together) = price(item, unicode);
        let mut savings = bill.savings.iter().filter(|it| !it.is_of_waiting() && is_worth(bill, it));
        let saving = savings.find(|saving| saving.items.first() == Some(&item.key));
        let inside = item.inside_ns.filter(|_| item.price.as_ref().is_some_and(|price| price.least));
        let saving = saving.map(|it| format!("{}: {}", it.instead, duration(it.then_ns)));
        let inside = inside.map(|ns| format!("no price: {} inside", duration(ns as f64)));
        let instead = saving.or(inside).unwrap_or_default();
        let of =
            if item.price.is_some() { share(is_least(item), item.together.value) } else { String::new() };
        let mut cells =
            vec![plain(&item.words, unicode), large(item.times), one, together, of, plain(&instead, unicode)];
        if whole {
            cells.push(plain(&rests(item), unicode));
        }
        cells
    });
    let rest = &bill.items[shown..];
    let sum = rest.iter().map(|item| item.together.value).sum::<f64>();
    let others = (!rest.is_empty()).then(|| {
        let times: u64 = rest.iter().map(|item| item.times).sum();
        let words = format!("{} more (--verbose shows them)", rest.len());
        let least = rest.iter().any(is_least);
        let together = format!("{}{}", at_least(least, unicode), duration(sum));
        vec![words, large(times), String::new(), together, share(least, sum), String::new()]
    });
    let mut columns = vec![
        ("", Left),
        ("times", Right),
        ("price", Right),
        ("together", Right),
        ("share", Right),
        ("instead", Spare),
    ];
    if whole {
        columns.push(("", Below));
    }
    Table::of(columns, rows.chain(others)).without_empty()
}

/// What a price rests on.
fn rests(item: &Item) -> String {
    let Some(price) = &item.price else { return String::new() };
    let mut words = price.ids.join(", ");
    if price.least {
        words = "no price yet: at least a kernel entry".to_owned();
    }
    if !price.circumstance.is_empty() {
        words.push_str(&format!("; {}", price.circumstance));
    }
    match item.inside_ns {
        Some(inside) if item.times > 0 => {
            format!("{words}; counted inside: {} each", duration(inside as f64 / item.times as f64))
        }
        _ => words,
    }
}

fn savings(all: &[&Saving], unicode: bool) -> Table {
    let arrow = if unicode { "\u{2192}" } else { "->" };
    let most = if unicode { "\u{2264} " } else { "<= " };
    let rows = all.iter().map(|saving| {
        let words = format!("{} {arrow} {}", saving.replaced, saving.instead);
        let sign = if saving.at_most { most } else { "" };
        let of = if saving.is_of_waiting() { " waiting" } else { "" };
        let below = format!("{}. {}; oscost explain {}", capital(&saving.catch), saving.source, saving.id);
        vec![
            plain(&words, unicode),
            large(saving.times),
            duration(saving.now_ns),
            duration(saving.then_ns),
            format!("{sign}{}{of}", duration(saving.saved_ns())),
            plain(&below, unicode),
        ]
    });
    let columns = [
        ("what would be less", Left),
        ("times", Right),
        ("now", Right),
        ("then", Right),
        ("saved", Right),
        ("", Below),
    ];
    Table::of(columns, rows)
}

fn budget(budget: &Budget, bill: &Bill, unicode: bool) -> Judged {
    let (word, tone, because) = match budget.kept {
        Some(true) => ("kept", Tone::Good, ""),
        Some(false) => ("broken", Tone::Bad, ""),
        None if bill.ended_otherwise().is_some() => {
            ("unclear", Tone::Doubt, "the two runs ended differently")
        }
        None => ("unclear", Tone::Doubt, "not everything was counted"),
    };
    let text = format!("{}: {} counted", plain(&budget.asked, unicode), exact(budget.counted as f64));
    Judged { word, tone, name: String::new(), text, because: because.to_owned() }
}

fn whole_percent(share: f64) -> String {
    match share * 100.0 {
        small if small < 0.5 && small > 0.0 => "< 1 %".to_owned(),
        _ => numbers::whole_percent(share),
    }
}

fn range(share: &Estimate) -> String {
    match [share.low, share.high].map(numbers::whole_percent) {
        [_, high] if share.low.abs().max(share.high) < 100.0 => format!("{:.0} .. {high}", share.low * 100.0),
        [low, high] => format!("{low} .. {high}"),
    }
}

fn priced(bill: &Bill) -> String {
    format!("priced {}", duration(bill.items.iter().map(|item| item.together.value).sum()))
}

fn explained(bill: &Bill) -> String {
    if let Some(share) = &bill.explained {
        return format!(
            "priced {} of the system time ({})",
            numbers::whole_percent(share.value),
            range(share)
        );
    }
    let why = match bill.time() {
        Some(time) if time.system_ns > 0 => {
            let system = duration(time.system_ns as f64);
            format!("its system time, about {system}, is not known well enough to check this")
        }
        Some(_) => "its system time is too short to be known".to_owned(),
        None => "there is no system time to hold it against".to_owned(),
    };
    format!("{}; {why}", priced(bill))
}

/// What it pays altogether, where nothing would be less.
fn pays(bill: &Bill) -> String {
    let (Some(time), Some(share)) = (bill.time(), &bill.explained) else { return capital(&explained(bill)) };
    let (system, priced) = (duration(time.system_ns as f64), numbers::whole_percent(share.value));
    format!("{system} in the kernel, {priced} of it priced ({})", range(share))
}

/// The answer that most readers came for; apart from it, what would be waited less.
fn largest(bill: &Bill, is_of_waiting: bool) -> Option<String> {
    let of_kind = |it: &&Saving| it.is_of_waiting() == is_of_waiting && is_worth(bill, it);
    let saving = bill.savings.iter().find(of_kind)?;
    let cpu =
        bill.time().map(|it| (it.user_ns + it.system_ns) as f64).filter(|ns| *ns > 0.0 && !is_of_waiting);
    let of = cpu.map_or(String::new(), |cpu| format!(" of {} CPU", duration(cpu)));
    let what = if is_of_waiting { "largest saving of waiting" } else { "largest saving" };
    let most = if saving.at_most { "at most " } else { "" };
    Some(format!(
        "{what}: {} -> {}, {most}{}{of}; oscost explain {}",
        saving.replaced,
        saving.instead,
        duration(saving.saved_ns()),
        saving.id
    ))
}

/// The bill as a page.
pub(crate) fn page(named: &Named<'_>, bill: &Bill) -> Page {
    let result = named.result;
    let view = view(result, bill, true, true);
    let chip = |text: String, tone| Chip { text, tone, whole: String::new() };
    let whole = program(bill, true);
    let mut chips = vec![Chip { text: whole.chars().take(PROGRAM).collect(), tone: None, whole }];
    let facts = [&result.conditions.kernel, &result.machine.cpu_model];
    chips.extend(facts.map(|fact| Chip::fact(plain(fact, true))));
    let sure = if bill.explained.is_some() { Tone::Neutral } else { Tone::Doubt };
    chips.extend(largest(bill, false).map(|_| chip(explained(bill), Some(sure))));
    let budgets = |kept: Option<bool>| bill.budgets.iter().filter(|it| it.kept == kept).count();
    let all = counted_of(bill.budgets.len(), "budget", "budgets");
    let (text, tone) = match (budgets(Some(false)), budgets(None)) {
        (0, unclear @ 1..) => (format!("{unclear} of {all} unclear"), Tone::Doubt),
        (0, 0) => (format!("0 of {all} broken"), Tone::Good),
        (broken, _) => (format!("{broken} of {all} broken"), Tone::Bad),
    };
    if !bill.budgets.is_empty() {
        chips.push(chip(text, Some(tone)));
    }
    let heading = largest(bill, false).map_or_else(|| pays(bill), |it| capital(&it));
    let plot = bars(bill).map(|plot| View::new("Where the time goes", vec![Part::from(plot)]));
    let views = plot.into_iter().chain([View { title: "The bill".to_owned(), ..view }]);
    Page {
        title: format!("bill of {}: oscost", program(bill, true)),
        kind: "bill",
        heading,
        chips,
        cards: bill.savings.iter().take(3).filter(|it| is_worth(bill, it)).map(card).collect(),
        sections: views.map(Section::View).collect(),
        closing: format!("The bill of {}.", program(bill, true)),
        ..Page::default()
    }
}

fn card(saving: &Saving) -> Card {
    let name = plain(&format!("{} \u{2192} {}", saving.replaced, saving.instead), true);
    let of = if saving.is_of_waiting() { "waiting " } else { "" };
    let size = format!("{of}{}", if saving.at_most { "saved at most" } else { "saved" });
    let saved = duration(saving.saved_ns());
    Card { size, ..Card::of(Hue::Kernel, &saved, name, plain(&saving.catch, true)) }
}

/// A bar a row, the longest first; what has no price yet is grey.
fn bars(bill: &Bill) -> Option<Plot> {
    const GREY: &str = "Grey: no price yet, at least a kernel entry each.";
    let priced = || bill.items.iter().filter(|item| item.price.is_some()).take(BARS);
    let axis = Axis::linear("time together", "ns", priced().map(|item| item.together.value))?;
    let bars = priced().map(|item| {
        let is_least = is_least(item);
        let together = duration(item.together.value);
        let bound = if is_least { "at least " } else { "" };
        let says = format!("{}, {}: {}", item.words, several(item.times, "time", "times"), rests(item));
        RankedBar {
            name: plain(&format!("{}: {bound}{together}", item.words), true),
            value: item.together.value,
            is_grey: is_least,
            says: plain(&says, true),
        }
    });
    let row =
        |item: &Item| vec![plain(&item.words, true), exact(item.times as f64), duration(item.together.value)];
    let table = Table::new(["", "times", "together"], priced().map(row));
    // What has no price may cost more than what has one.
    let among = if bill.items.iter().any(is_least) { " of what has a price" } else { "" };
    let most = bill.items.iter().find(|item| item.price.is_some() && !is_least(item));
    let finding = most.map_or("Nothing has a price yet".to_owned(), |most| {
        format!("{} costs the most{among}: {}", plain(&most.words, true), duration(most.together.value))
    });
    let note = if priced().any(is_least) { GREY.to_owned() } else { String::new() };
    Some(Plot { note, ..Plot::of(finding, Ranked { axis, bars: bars.collect() }, table) })
}

#[cfg(test)]
mod tests {
    use oscost_results::{Conditions, Machine, Tool};

    use super::*;

    #[test]
    fn a_budget_that_nobody_could_judge_is_not_shown_as_a_good_one() {
        let at = std::time::SystemTime::UNIX_EPOCH;
        let result = RunResult::begun(at, Tool::default(), Machine::default(), Conditions::default());
        let chip = |kept: &[Option<bool>]| {
            let budgets = kept.iter().map(|&kept| Budget { kept, ..Budget::default() }).collect();
            let bill = Bill { budgets, ..Bill::default() };
            let page = page(&Named { name: "bill", result: &result }, &bill);
            page.chips.last().and_then(|chip| Some((chip.text.clone(), chip.tone?)))
        };
        let said = |words: &str, tone| Some((words.to_owned(), tone));
        assert_eq!(chip(&[Some(true)]), said("0 of 1 budget broken", Tone::Good));
        assert_eq!(chip(&[Some(true), None]), said("1 of 2 budgets unclear", Tone::Doubt));
        assert_eq!(chip(&[None, Some(false)]), said("1 of 2 budgets broken", Tone::Bad));
    }
}
