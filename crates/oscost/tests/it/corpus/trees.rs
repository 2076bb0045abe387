//! The bodies of the fuzz targets whose inputs are edits of a tree: results, comparisons, pages, counts, and journals.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use oscost_report::count::{Changes, CountVerdict, folded, is_count, shown as counts};
use oscost_report::{Named, Style, open_metrics, page};
use oscost_results::{Emulation, InstructionCount, RunResult, from_bytes, to_bytes};
use serde_json::{Value, json};

use super::tree::{Choices, edit};
use super::{formats, journal, results, shown};

static SAMPLE: LazyLock<Value> = LazyLock::new(|| {
    let mut sample: Value = serde_json::from_slice(formats::SAMPLE).expect("JSON");
    // Small, or a fuzzer takes for ever: some figures, two launches of each.
    let figures = sample["figures"].as_array_mut().expect("figures");
    figures.truncate(4);
    for figure in figures {
        figure["launches"].as_array_mut().expect("launches").truncate(2);
    }
    sample
});

/// The bytes of a tree as a result has them behind its checksum.
fn bytes(mut tree: Value) -> Vec<u8> {
    if let Some(members) = tree.as_object_mut() {
        members.remove("checksum");
    }
    let text = tree.to_string();
    format!("{}\n", text.strip_prefix('{').unwrap_or(&text)).into_bytes()
}

/// A sample with edits, if it is still a result.
fn edited(sample: &Value, choices: &mut Choices<'_>) -> Option<RunResult> {
    let mut tree = sample.clone();
    edit(&mut tree, choices);
    from_bytes(&results::sealed(&bytes(tree))).ok()
}

/// A result with edits, read, written, and shown in every format.
pub fn result(data: &[u8]) -> bool {
    let mut tree = SAMPLE.clone();
    edit(&mut tree, &mut Choices::of(data));
    let bytes = bytes(tree);
    results::check(&bytes);
    results::is_result(&bytes)
}

/// Two results with edits against each other, in both orders.
pub fn compare(data: &[u8]) -> bool {
    let mut choices = Choices::of(data);
    let half = data.len() / 2;
    let mut first = Choices::of(&data[..half]);
    let (Some(one), Some(other)) =
        (edited(&SAMPLE, &mut first), edited(&SAMPLE, &mut Choices::of(&data[half..])))
    else {
        return false;
    };
    let width = [0, 40, 80, 120, 200][choices.below(5)];
    let (one, other) = (Named { name: "one", result: &one }, Named { name: "other", result: &other });
    for cross_machine in [false, true] {
        let rules = oscost_report::compare::Rules { cross_machine, ..Default::default() };
        formats::compared(&one, &other, rules, width);
        formats::compared(&other, &one, rules, width);
    }
    true
}

/// One to four results with edits on one page, and as samples of a monitor.
pub fn pages(data: &[u8]) -> bool {
    let count = 1 + data.first().map_or(0, |&byte| usize::from(byte) % 4);
    let part = data.len().div_ceil(count).max(1);
    let all: Vec<RunResult> =
        data.chunks(part).filter_map(|part| edited(&SAMPLE, &mut Choices::of(part))).collect();
    let name = |result: &RunResult| result.note.clone().unwrap_or_default();
    let names: Vec<String> = all.iter().map(name).collect();
    let named = || all.iter().zip(&names).map(|(result, name)| Named { name, result }).collect::<Vec<_>>();
    if all.is_empty() {
        return false;
    }
    let mut out = Vec::new();
    page(&named(), None, &mut out).expect("memory");
    shown::page(&out);
    let mut out = Vec::new();
    open_metrics(&named(), &mut out).expect("memory");
    shown::open_metrics(&out);
    true
}

/// The sample as a result of counts, with a tree of functions.
static COUNTED: LazyLock<Value> = LazyLock::new(|| {
    let mut result = from_bytes(formats::SAMPLE).expect("the sample is a result");
    result.figures.truncate(3);
    let emulation = Emulation { emulator: "qemu 7.2".into(), memory_mib: 512, ..Emulation::default() };
    result.conditions.emulation = Some(emulation);
    let node = |depth: u32, name: &str, place: &str, own: u64| json!({"depth": depth, "name": name, "place": place, "calls": 1, "own": own});
    let functions = json!([
        node(0, "oscost", "process", 4),
        node(1, "entry_SYSCALL_64", "kernel", 60),
        node(2, "do_syscall_64", "kernel", 30),
        node(3, "__x64_sys_getppid", "kernel", 12),
        node(1, "syscall", "library", 7),
    ]);
    let count = json!({"repeats": "constant", "values": [{"instructions": 113, "times": 64}], "boots": 2,
        "frame": 9, "functions": functions});
    for figure in &mut result.figures {
        let count = serde_json::from_value::<InstructionCount>(count.clone());
        figure.count = Some(count.expect("a count"));
        figure.launches.clear();
        let headline = std::mem::replace(&mut figure.headline, "instructions".to_owned());
        figure.quantities = figure
            .quantities
            .remove(&headline)
            .into_iter()
            .map(|it| ("instructions".to_owned(), it))
            .collect();
    }
    let text = to_bytes(&result).expect("it is written");
    serde_json::from_slice(&text).expect("JSON")
});

/// Results of counts with edits, shown, folded, and held against each other.
pub fn count(data: &[u8]) -> bool {
    let half = data.len() / 2;
    let sides = [&data[..half], &data[half..]];
    let sides = sides.map(|side| edited(&COUNTED, &mut Choices::of(side)));
    let [Some(before), Some(now)] = &sides else { return false };
    for result in [before, now] {
        for (width, unicode) in [(0, false), (80, false), (40, true)] {
            let mut out = Vec::new();
            let style = Style { width, unicode, colour: false };
            counts(result, result.note.as_deref(), &style, &mut out).expect("memory");
            shown::text(&out);
        }
        let mut out = Vec::new();
        folded(result, &mut out).expect("memory");
        let text = shown::text(&out);
        for line in text.lines() {
            let (_, number) = line.rsplit_once(' ').expect("a stack and its instructions");
            assert!(number.parse::<u64>().is_ok(), "{line:?}");
        }
        formats::render(result, 80);
    }
    let ids: BTreeSet<&str> = before.figures.iter().map(|figure| figure.id.as_str()).collect();
    // Of two figures with one id nobody can say which is meant.
    if ids.len() == before.figures.len() {
        assert!(!Changes::between(before, before).exceeds(0), "a result differs from itself");
    }
    let changes = Changes::between(before, now);
    let rows = [CountVerdict::More, CountVerdict::Fewer].map(|verdict| changes.of(verdict).len());
    assert!(rows.iter().sum::<usize>() <= changes.rows.len());
    is_count(before)
}

/// A header and records of a killed run, each with edits.
pub fn journals(data: &[u8]) -> bool {
    let mut choices = Choices::of(data);
    let text = [BATCHED, SERIES][choices.below(2)];
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    let share = data.len() / lines.len().max(1);
    for (number, line) in lines.iter_mut().enumerate() {
        let part = data.get(number * share..(number + 1) * share).unwrap_or_default();
        edit(line, &mut Choices::of(part));
    }
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    journal::measured(text.join("\n").as_bytes()) > 0
}

const BATCHED: &str = include_str!("../../../../../fuzz/corpus/journal/batched");
const SERIES: &str = include_str!("../../../../../fuzz/corpus/journal/series");
