//! Figures: card, newest stored result, history, count.

use std::path::PathBuf;

use oscost_report::{compare::incomparable, count::is_count, numbers};
use oscost_results::quantity::{ASLEEP, ASLEEP_ADDS, UNSLEPT};
use oscost_results::search::Tier;
use oscost_results::{Figure, Outline, PairedValue, RunResult, Status, Store, claim_words};

use super::Explanation;
use crate::known::{Known, catalogue};
use crate::output::Talk;
use crate::{system, words};

/// So many stored runs are looked at, the newest: what takes longer is `report @all`.
const RUNS: usize = 12;
/// Name of what is judged round by round.
const PAIRED: &str = "paired";
/// So many ids are named as others.
const OTHERS: usize = 6;

/// The page of a figure; `others` were found by the same word.
pub fn page(card: &Known, others: &[&str], talk: &Talk) -> Explanation {
    let mut page = Explanation::new(format!("{}: {}", card.id, card.title)).say(sentence(card));
    let stored = outlines(talk);
    // Counts are of another machine, whose refusals say nothing of this one.
    let mut runs = stored
        .iter()
        .filter(|(_, outline)| has(outline, &card.id) || lacks(outline, &card.id))
        .filter_map(|(path, _)| oscost_results::load(path).ok())
        .filter(|result| !is_count(result));
    let newest = runs.next();
    // What failed there, or was not reached, hides nothing that an older run found.
    let is_of =
        |result: &RunResult, status| figure_of(result, card).is_some_and(|figure| figure.status == status);
    let failed = newest.as_ref().is_some_and(|it| is_of(it, Status::Failed));
    let older = if failed { runs.find(|it| is_of(it, Status::Measured)) } else { None };
    let later = older.as_ref().and(newest.as_ref()).and_then(|result| figure_of(result, card));
    let found = older.as_ref().or(newest.as_ref()).and_then(|it| Some((it, figure_of(it, card)?)));
    match found {
        Some((result, figure)) => measured(&mut page, card, result, figure),
        None => {
            let here = match stored.len() {
                0 => "nothing is stored yet".to_owned(),
                1 => "not in the only stored run".to_owned(),
                newest => format!("not in the newest {newest} stored runs"),
            };
            let measure = match system::NEEDS_LINUX {
                None => format!(": oscost run {}", card.id),
                Some(_) => "; it is measured on Linux".to_owned(),
            };
            page.fact("Here", [format!("{here}{measure}")]);
            let claims = card.claims.iter();
            page.fact(
                "Claims",
                claims.map(|(claim, expected)| format!("{}  {expected}", claim_words(claim))),
            );
        }
    }
    page.fact("Later", later.into_iter().flat_map(lack));
    page.fact("History", [history(&stored, &card.id).unwrap_or_default()]);
    page.fact("Count", [counted(&stored, &card.id)]);
    page.fact("Beware", [card.remark.clone(), contended(card)]);
    page.fact("Traits", [card.traits.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ")]);
    page.fact("See also", [see_also(card, others)]);
    page.fact("Source", [source(card)]);
    page
}

/// "One wait and one post (call path: libc; placement: one_cpu; never blocks)."
fn sentence(card: &Known) -> String {
    let mut operation = card.operation.clone();
    if let Some(first) = operation.get(..1) {
        let first = first.to_uppercase();
        operation.replace_range(..1, &first);
    }
    let blocks = if card.blocks { "participants wait for one another" } else { "never blocks" };
    format!("{operation} (call path: {}; placement: {}; {blocks}).", card.call_path, card.placement)
}

/// Outlines of the newest runs, newest first. A store that cannot be read has none, and says so.
fn outlines(talk: &Talk) -> Vec<(PathBuf, Outline)> {
    let Ok(store) = Store::of_user() else { return Vec::new() };
    let paths = match store.runs() {
        Ok(paths) => paths,
        Err(error) => {
            talk.say(format!("warning: {error}"));
            return Vec::new();
        }
    };
    // Bills have no figures.
    let mut newest = Vec::new();
    for paths in paths.rchunks(RUNS) {
        let runs = oscost_results::load_outlines_of(paths).runs.into_iter().rev();
        newest.extend(runs.filter(|(_, run)| !run.figures.is_empty()));
        if newest.len() >= RUNS {
            break;
        }
    }
    newest.truncate(RUNS);
    newest
}

fn has(outline: &Outline, id: &str) -> bool {
    // Counts are of another machine, and have a fact of their own.
    outline
        .figures
        .iter()
        .any(|figure| figure.id == id && figure.quoted().is_some_and(|(_, unit)| unit != "instructions"))
}

/// Whether a figure is there and has no number: the result says why.
fn lacks(outline: &Outline, id: &str) -> bool {
    outline.figures.iter().any(|figure| figure.id == id && figure.status != Status::Measured)
}

/// The figure of a card in a result.
fn figure_of<'a>(result: &'a RunResult, card: &Known) -> Option<&'a Figure> {
    result.figures.iter().find(|figure| figure.id == card.id)
}

/// Why a figure has no number.
fn lack(figure: &Figure) -> [String; 2] {
    let why = figure.why.as_deref().unwrap_or_default();
    [format!("{}: {why}", figure.status.name()), figure.remedy.clone().unwrap_or_default()]
}

/// What a result says.
fn measured(page: &mut Explanation, card: &Known, result: &RunResult, figure: &Figure) {
    if figure.status != Status::Measured {
        page.fact("Here", lack(figure));
        if !figure.evidence.claims.is_empty() {
            page.fact("Receipt", receipt(figure));
        }
        return;
    }
    let shown = ["floor", "typical", "cycles", figure.headline.as_str(), figure.judged()];
    let shown = shown.into_iter().chain([ASLEEP, ASLEEP_ADDS, UNSLEPT]);
    // Who asks for a time that is a matter of luck wants to know the worst.
    let is_tail = |name: &&str| ["_p99", "_max", "longest_"].iter().any(|part| name.contains(part));
    let tails = figure.quantities.keys().map(String::as_str).filter(is_tail);
    let mut names: Vec<&str> = Vec::new();
    for name in shown.chain(tails.filter(|_| figure.headline != "floor")) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let values = names.iter().filter_map(|name| {
        let quantity = figure.quantities.get(*name)?;
        let interval = numbers::in_brackets(&quantity.estimate, &quantity.unit, true);
        // On one line: half of it says nothing.
        let interval = interval.replace(' ', "\u{a0}");
        let told = numbers::quantity(quantity.estimate.value, &quantity.unit);
        // "3020 cycles" is both.
        let name =
            if *name == quantity.unit { String::new() } else { format!("{} ", name.replace('_', " ")) };
        let interval = if interval.is_empty() { interval } else { format!(" {interval}") };
        Some(format!("{name}{told}{interval}"))
    });
    let launches = words::counted(figure.evidence.launches as usize, "launch");
    page.fact("Here", [values.chain([launches]).collect::<Vec<_>>().join(", ")]);
    page.fact("Marks", oscost_report::marks(result, figure, true));
    let of = |pair: &&PairedValue| pair.of == card.id;
    page.fact("Ratio", ratios(result, &card.id));
    page.fact("Without", result.differences.iter().filter(of).map(difference));
    page.fact("Receipt", receipt(figure));
    if card.id.starts_with("clock/") && figure.evidence.audit_method.is_some() {
        let calls: f64 = figure.evidence.system_calls.values().sum();
        page.fact("Clock", clock(&card.call_path, result.conditions.clock_source.as_deref(), calls));
    }
    page.fact("Why", [why(card, result, figure).unwrap_or_default()]);
    // What is so by its making is told below.
    page.fact("Remarks", figure.remarks.iter().filter(|remark| **remark != card.remark).cloned());
}

/// What answered the readings of a clock: the clock source of that run, and whether they entered the kernel, by their counted
/// calls. Where the vDSO is to answer and did not, `doctor` says more.
fn clock(call_path: &str, source: Option<&str>, calls: f64) -> Option<String> {
    let by = match (calls > 0.0, call_path) {
        (false, _) => "no reading entered the kernel",
        (true, "vdso") => {
            "the vDSO did not answer it: each reading was a system call; 'oscost doctor' says more"
        }
        (true, _) => "each reading is a system call, whatever the clock source is",
    };
    Some(format!("clock source {}; {by}", source?))
}

/// Ratios to baselines: by rounds where there is one, which is what a row shows.
fn ratios(result: &RunResult, id: &str) -> Vec<String> {
    let of: Vec<&PairedValue> = result.ratios.iter().filter(|pair| pair.of == id).collect();
    let is_paired = |pair: &&PairedValue| pair.quantity == PAIRED && pair.value.is_some();
    let has = |to: &str| of.iter().any(|pair| is_paired(pair) && pair.to == to);
    of.iter().filter(|pair| is_paired(pair) || !has(&pair.to)).map(|pair| ratio(pair)).collect()
}

/// A ratio to a baseline, or why there is none.
fn ratio(pair: &PairedValue) -> String {
    let by = if pair.quantity == PAIRED {
        "round by round".to_owned()
    } else {
        format!("by {}", pair.quantity.replace('_', " "))
    };
    match pair.value {
        Some(value) => {
            let why = pair.why.as_deref().map_or(String::new(), |why| format!("; {why}"));
            format!("{} of {}, {by}{why}", numbers::ratio(value, pair.low.zip(pair.high)), pair.to)
        }
        None => format!("none to {}, {by}: {}", pair.to, pair.why.as_deref().unwrap_or("no value")),
    }
}

/// What is left without another figure, or why that is not known.
fn difference(pair: &PairedValue) -> String {
    match (pair.value, pair.low.zip(pair.high)) {
        (Some(value), _) if value <= 0.0 => {
            format!("nothing is left without {}: the difference is smaller than its own error", pair.to)
        }
        (Some(value), bounds) => {
            let range = bounds
                .map_or(String::new(), |(low, high)| format!(" ({})", numbers::range(low, high, &pair.unit)));
            format!("{} without {}{range}", numbers::quantity(value, &pair.unit), pair.to)
        }
        (None, _) => format!("not known without {}: {}", pair.to, pair.why.as_deref().unwrap_or("no value")),
    }
}

/// What was counted, beside the claims.
fn receipt(figure: &Figure) -> Vec<String> {
    let evidence = &figure.evidence;
    let how = match (&evidence.audit_method, &evidence.audit_missing) {
        (Some(method), _) => format!("counted by {method}: {}", evidence.verdict.name()),
        (None, Some(why)) => format!("{}: {why}", evidence.verdict.name()),
        (None, None) => evidence.verdict.name().to_owned(),
    };
    let claims = evidence.claims.iter().map(|claim| {
        let name = claim_words(&claim.claim);
        let seen = claim.observed.map_or_else(|| "not counted".to_owned(), numbers::exact);
        format!("{name}  {seen}, claimed {}", claim.expected)
    });
    let fractions = evidence.system_calls.iter().filter_map(|(name, &count)| fraction(name, count));
    std::iter::once(how).chain(claims).chain(fractions).collect()
}

/// What a count that is not whole says: not every operation makes the call.
fn fraction(name: &str, count: f64) -> Option<String> {
    let (whole, rest) = (count.trunc(), count.fract());
    if !(0.0005..0.9995).contains(&rest) || count > 1e6 {
        return None;
    }
    let of = |share: f64| match 1.0 / share {
        many if many >= 1.95 => format!("1 operation of about {many:.0}"),
        _ => format!("{:.0} operations of 100", share * 100.0),
    };
    let count = numbers::exact(count);
    Some(if whole > 0.0 {
        format!("{count} {name}: {whole:.0} in every operation, one more in {}", of(rest))
    } else {
        format!("{count} {name}: one in {}", of(rest))
    })
}

/// What of a price is the kernel entries'.
pub(super) fn why(card: &Known, result: &RunResult, figure: &Figure) -> Option<String> {
    let calls: f64 = figure.evidence.system_calls.values().sum();
    // Where it was not measured beside the others, the canary of the figure's own launches made it.
    let beside = result.figures.iter().find(|it| it.id == "syscall/invalid");
    let beside = beside.and_then(|it| it.quantities.get("floor")).map(|floor| floor.estimate.value);
    let canary = figure.launches.iter().filter_map(|launch| launch.entry_ns).min_by(f64::total_cmp);
    let entry = beside.or(canary)?;
    let floor = figure.quantities.get("floor")?.estimate.value;
    let entries = calls.round() * entry;
    if figure.id == "syscall/invalid" || entries <= 0.0 || entries >= floor {
        return None;
    }
    let plural = if calls.round() == 1.0 { "entry is" } else { "entries are" };
    let count = format!(": oscost count {} --kernel running --by-function", card.id);
    Some(format!(
        "{} bare kernel {plural} {} of its floor; {} remain{}",
        numbers::count(calls.round()),
        numbers::duration(entries),
        numbers::duration(floor - entries),
        if card.countable { &count } else { "" }
    ))
}

/// The least and the most of the newest runs, on the machine of the newest that has a number.
fn history(stored: &[(PathBuf, Outline)], id: &str) -> Option<String> {
    let (_, newest) = stored.iter().find(|(_, outline)| has(outline, id))?;
    let figures = || {
        let runs = stored.iter().filter(|(_, run)| has(run, id) && incomparable(newest, run).is_none());
        runs.filter_map(|(_, run)| run.figures.iter().find(|figure| figure.id == id))
    };
    // Another revision is another method: the newest is shown, and nothing beside it.
    let revision = figures().map(|figure| figure.revision).max()?;
    let quoted: Vec<_> = figures()
        .filter(|figure| figure.revision == revision)
        .filter_map(|figure| {
            figure.quoted().map(|(estimate, unit)| (estimate.value, unit, figure.headline.as_str()))
        })
        .collect();
    let &(_, unit, headline) = quoted.first()?;
    let shown = quoted.iter().filter(|(_, other, name)| (*other, *name) == (unit, headline));
    let values: Vec<f64> = shown.map(|(value, ..)| *value).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (values.len() > 1).then(|| {
        let range = numbers::range(low, high, unit);
        let of = if stored.len() < RUNS { String::new() } else { format!(" of the newest {RUNS}") };
        format!("{} {range} over {} runs{of}", headline.replace('_', " "), values.len())
    })
}

/// The newest count of instructions.
fn counted(stored: &[(PathBuf, Outline)], id: &str) -> String {
    let of_id = |outline: &Outline| outline.figures.iter().any(|figure| figure.id == id);
    let counts = stored.iter().filter(|(_, outline)| of_id(outline) && !has(outline, id));
    let result = counts.filter_map(|(path, _)| oscost_results::load(path).ok()).find(is_count);
    let told = result.as_ref().and_then(|result| {
        let figure = result.figures.iter().find(|figure| figure.id == id)?;
        let first = figure.count.as_ref()?.values.first()?;
        Some(format!("{} instructions on {}", first.instructions, result.conditions.kernel))
    });
    told.unwrap_or_default()
}

/// Where the price is another one.
fn contended(card: &Known) -> String {
    let handover = catalogue()
        .tier(Tier::Family)
        .into_iter()
        .map(|it| it.id.as_str())
        .find(|id| id.strip_prefix(card.id.as_str()).is_some_and(|rest| rest.starts_with("/handover")));
    handover.map_or_else(String::new, |id| {
        let name = id.rsplit_once('/').map_or(id, |(start, _)| start);
        format!("the price differs if others wait for it: oscost run {name}")
    })
}

/// Neighbours, and the document.
fn see_also(card: &Known, others: &[&str]) -> String {
    let listed = catalogue().tier(Tier::Family);
    let siblings =
        listed.into_iter().filter(|it| it.group == card.group && it.id != card.id).map(|it| it.id.as_str());
    let mut names: Vec<&str> = others.iter().copied().take(OTHERS).collect();
    for id in siblings.take(OTHERS) {
        if names.len() < OTHERS && !names.contains(&id) {
            names.push(id);
        }
    }
    let more = others.len().saturating_sub(OTHERS);
    let mut text = names.join(", ");
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    if let Some(document) = card.document.as_deref().and_then(|number| catalogue().document(number)) {
        let gap = if text.is_empty() { "" } else { " | " };
        text.push_str(&format!("{gap}oscost reproduce {}", document.name));
    }
    text
}

/// Where the benchmark is: in the table of its family, in a file of its own, or in a folder.
fn source(card: &Known) -> String {
    format!("{}, revision {}", place(card), card.revision)
}

fn place(card: &Known) -> String {
    let mut parts = card.id.split('/');
    let (family, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    match (family, name) {
        ("realtime_ipc" | "record_database", _) => format!("crates/families/src/{family}"),
        ("event", "poll_may_wait") => "crates/families/src/event/poll.rs".to_owned(),
        ("memory", "fault_file" | "fault_copy") => "crates/families/src/memory/fault_mapped.rs".to_owned(),
        ("memory", "give_back_file") => "crates/families/src/memory/give_back.rs".to_owned(),
        ("clock", "step") => format!("crates/families/src/{family}/{name}"),
        ("instrument", "empty_loop") => format!("crates/families/src/{family}/{name}.rs"),
        ("file" | "io_uring" | "signal" | "syscall" | "thread" | "timer", _) => {
            format!("crates/families/src/{family}.rs")
        }
        ("clock" | "instrument" | "lock" | "record_lock" | "semaphore" | "socket", _)
        | ("process", "posix_spawn" | "exec_static") => {
            format!("crates/families/src/{family}/mod.rs")
        }
        _ => format!("crates/families/src/{family}/{name}.rs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_clock_is_told_with_its_source_and_the_remedy() {
        let slow = clock("vdso", Some("hpet"), 1.0).unwrap_or_default();
        assert!(slow.contains("clock source hpet") && slow.contains("oscost doctor"), "{slow}");
        let fast = clock("vdso", Some("tsc"), 0.0).unwrap_or_default();
        assert_eq!(fast, "clock source tsc; no reading entered the kernel");
        assert!(clock("libc", Some("tsc"), 1.0).is_some_and(|it| !it.contains("doctor")));
        assert_eq!(clock("vdso", None, 0.0), None);
    }

    #[test]
    fn every_benchmark_is_where_it_is_said_to_be() {
        let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        for card in catalogue().tier(Tier::Thorough) {
            assert!(root.join(place(card)).exists(), "{}: {}", card.id, place(card));
        }
    }

    #[test]
    fn a_fraction_of_a_call_says_how_many_operations_make_it() {
        let said = |count| fraction("futex", count);
        assert_eq!(said(0.0), None);
        assert_eq!(said(2.0), None);
        assert_eq!(said(0.02).as_deref(), Some("0.02 futex: one in 1 operation of about 50"));
        assert_eq!(
            said(1.25).as_deref(),
            Some("1.25 futex: 1 in every operation, one more in 1 operation of about 4")
        );
        assert_eq!(said(0.75).as_deref(), Some("0.75 futex: one in 75 operations of 100"));
    }

    #[test]
    fn a_history_has_one_method_and_counts_the_runs_that_it_shows() {
        const ID: &str = "semaphore/system_v";
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/tests/samples/v1.json");
        let sample = oscost_results::from_bytes(&std::fs::read(sample).expect("a file")).expect("a result");
        let run = |revision, headline: &str, ns: f64| {
            let mut result = sample.clone();
            let figure = result.figures.iter_mut().find(|it| it.id == ID).expect("it is there");
            (figure.revision, figure.headline) = (revision, headline.to_owned());
            let mut quantity = figure.quantities["floor"].clone();
            (quantity.estimate.low, quantity.estimate.value, quantity.estimate.high) = (ns, ns, ns);
            figure.quantities.insert(headline.to_owned(), quantity);
            let bytes = oscost_results::to_bytes(&result).expect("data");
            (PathBuf::new(), oscost_results::outline_from_bytes(&bytes).expect("an outline"))
        };
        let told = |runs: &[(PathBuf, Outline)]| history(runs, ID);
        let [new, newer] = [810.0, 820.0].map(|ns| run(99, "floor", ns));
        let (old, other) = (run(98, "floor", 300.0), run(99, "typical", 500.0));
        let mut elsewhere = run(99, "floor", 400.0);
        elsewhere.1.machine.cpu_model = "another".to_owned();
        let all = [newer.clone(), new, old.clone(), other, elsewhere.clone()];
        assert_eq!(told(&all).as_deref(), Some("floor 810 .. 820 ns over 2 runs"));
        assert_eq!(told(&[elsewhere, newer.clone()]), None, "one run of its machine has no history");
        assert_eq!(told(&[newer, old]), None, "one run of its method has no history");
    }
}
