//! OpenMetrics by a strict reader of its grammar, which is also that of Prometheus' older text format for gauges.

use crate::fixture;
use crate::fixture::hostile;

use std::collections::{BTreeMap, BTreeSet};

use oscost_report::{Named, open_metrics};
use oscost_results::RunResult;

type Labels = BTreeMap<String, String>;

/// A family as it was read: type, unit, samples.
#[derive(Debug, Default)]
struct Family {
    unit: Option<String>,
    samples: Vec<(Labels, f64)>,
}

fn is_name(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    text.starts_with(letter) && text.chars().all(|c| letter(c) || c.is_ascii_digit())
}

/// Labels between braces, and what is behind them.
fn labels(text: &str) -> (Labels, &str) {
    let mut labels = Labels::new();
    let mut rest = text;
    loop {
        let (name, value) = rest.split_once("=\"").expect("a label has a value in quotes");
        assert!(is_name(name), "label {name:?}");
        let mut read = String::new();
        let mut letters = value.char_indices();
        let end = loop {
            match letters.next().expect("quotes are closed") {
                (at, '"') => break at,
                (_, '\\') => match letters.next().expect("an escape has a letter").1 {
                    'n' => read.push('\n'),
                    letter @ ('\\' | '"') => read.push(letter),
                    other => panic!("escape of {other:?}"),
                },
                (_, '\n') => panic!("a line ends within quotes"),
                (_, letter) => read.push(letter),
            }
        };
        assert!(labels.insert(name.to_owned(), read).is_none(), "label {name} twice");
        rest = &value[end + 1..];
        match rest.strip_prefix(',') {
            Some(next) => rest = next,
            None => return (labels, rest.strip_prefix('}').expect("labels end")),
        }
    }
}

/// Reads a whole exposition; whatever its grammar does not have is an error.
fn read(text: &str) -> BTreeMap<String, Family> {
    let body = text.strip_suffix("# EOF\n").expect("it ends with # EOF");
    assert!(!body.lines().any(|line| line == "# EOF") && (body.is_empty() || body.ends_with('\n')));
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let mut current = String::new();
    let mut told: BTreeSet<&str> = BTreeSet::new();
    for line in body.lines() {
        assert!(!line.is_empty() && !line.contains(char::is_control), "{line:?}");
        if let Some(meta) = line.strip_prefix("# ") {
            let [kind, name, what] = meta.splitn(3, ' ').collect::<Vec<_>>().try_into().unwrap();
            assert!(is_name(name), "{line}");
            if name != current {
                assert!(
                    families.insert(name.to_owned(), Family::default()).is_none(),
                    "{name} is not in one piece"
                );
                current = name.to_owned();
                told.clear();
            }
            let family = families.get_mut(name).unwrap();
            assert!(told.insert(kind) && family.samples.is_empty(), "{line}");
            match kind {
                "HELP" => assert!(!what.contains('\\'), "{line}"),
                "TYPE" => assert_eq!(what, "gauge"),
                "UNIT" => {
                    assert!(name.ends_with(&format!("_{what}")), "{line}");
                    family.unit = Some(what.to_owned());
                }
                other => panic!("{other} is no kind of metadata"),
            }
            continue;
        }
        assert!(told.contains("TYPE"), "{line} comes before its type");
        let end = line.find(['{', ' ']).expect("a sample has a value");
        assert_eq!(line[..end], current, "samples stand with their family");
        let (labels, rest) = match line[end..].strip_prefix('{') {
            Some(inside) => labels(inside),
            None => (Labels::new(), &line[end..]),
        };
        let value = rest.strip_prefix(' ').expect("a blank before the value");
        assert!(value.chars().all(|c| c.is_ascii_digit() || "+-.e".contains(c)), "no time stamp: {line}");
        let value: f64 = value.parse().unwrap();
        let family = families.get_mut(&current).unwrap();
        assert!(family.samples.iter().all(|(known, _)| *known != labels), "twice: {line}");
        family.samples.push((labels, value));
    }
    families
}

fn written(results: &[Named<'_>]) -> String {
    crate::written::written(|out| open_metrics(results, out))
}

fn value(families: &BTreeMap<String, Family>, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let wanted: Labels =
        labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    families.get(name)?.samples.iter().find(|(labels, _)| *labels == wanted).map(|(_, value)| *value)
}

#[test]
fn every_number_of_a_result_is_there_once() {
    let result = fixture::result();
    let families = read(&written(&[Named { name: "x", result: &result }]));
    let posix = [("id", "semaphore/posix_named"), ("quantity", "floor")];
    let [low, floor, high] = ["low_", "", "high_"]
        .map(|bound| value(&families, &format!("oscost_figure_{bound}seconds"), &posix).unwrap());
    let estimate =
        result.figures.iter().find(|figure| figure.id == posix[0].1).unwrap().quantities["floor"].estimate;
    assert!((floor - estimate.value * 1e-9).abs() < 1e-18 && low < floor && floor < high);
    assert_eq!(families["oscost_figure_seconds"].unit.as_deref(), Some("seconds"));
    let calls = [("id", "semaphore/system_v")];
    assert_eq!(value(&families, "oscost_figure_system_calls", &calls), Some(2.0));
    assert_eq!(value(&families, "oscost_figure_checked", &calls), Some(1.0));
    let state = [("id", "syscall/getpid_libc"), ("state", "contradicted")];
    assert_eq!(value(&families, "oscost_figure_state", &state), Some(1.0));
    let pair = [("of", "semaphore/system_v"), ("to", "semaphore/posix_named"), ("quantity", "paired")];
    assert_eq!(value(&families, "oscost_paired_ratio", &pair), Some(163.1));
    assert_eq!(value(&families, "oscost_result_started_seconds", &[]), Some(1_795_216_445.0));
    assert_eq!(families["oscost_figure_state"].samples.len(), result.figures.len());
    assert_eq!(families["oscost_doctor_check"].samples.len(), result.doctor.len());
    // A figure that is withheld has no numbers.
    let withheld =
        |(labels, _): &(Labels, f64)| labels.get("id").is_some_and(|id| id == "syscall/getpid_libc");
    assert!(!families["oscost_figure_seconds"].samples.iter().any(withheld));
}

#[test]
fn series_go_on_from_run_to_run_and_several_results_are_told_apart() {
    let result = fixture::result();
    let mut later = result.clone();
    later.started = "2027-01-01T00:00:00Z".into();
    later.plan.seed = 8;
    let keys = |result: &RunResult| {
        let families = read(&written(&[Named { name: "any", result }]));
        let keys = families.into_iter().flat_map(|(name, family)| {
            family.samples.into_iter().map(move |(labels, _)| (name.clone(), labels)).collect::<Vec<_>>()
        });
        keys.collect::<BTreeSet<_>>()
    };
    assert_eq!(keys(&result), keys(&later));
    let both = read(&written(&[Named { name: "a", result: &result }, Named { name: "b", result: &later }]));
    assert_eq!(value(&both, "oscost_result_duration_seconds", &[("result", "b")]), Some(52.0));
    assert_eq!(both["oscost_figure_state"].samples.len(), 2 * result.figures.len());
}

#[test]
fn hostile_text_and_numbers_stay_within_their_labels() {
    let mut result = fixture::result();
    let texts =
        ["a\"} 1\nowned 1 #", "\\", "\\\"", "\u{1b}[2J\u{202e}", "a\nb", "{}", "# EOF", "\u{0}", "é漢🦀", ""];
    for (figure, text) in result.figures.iter_mut().zip(texts.iter().cycle()) {
        figure.id = (*text).to_owned();
        figure.quantities.values_mut().for_each(|quantity| quantity.unit = (*text).to_owned());
        if let Some(quantity) = figure.quantities.values_mut().next() {
            quantity.estimate.value = f64::NAN;
            quantity.estimate.high = f64::INFINITY;
        }
    }
    result.machine.cpu_model = texts[0].to_owned();
    result.started = texts[0].to_owned();
    result.doctor[0].check = texts[0].to_owned();
    let families = read(&written(&[Named { name: texts[0], result: &result }]));
    assert!(!families.contains_key("owned"));
    let shown = r#"a"} 1\nowned 1 #"#;
    assert_eq!(families["oscost_result"].samples[0].0["cpu_model"], shown);
    assert!(!families.contains_key("oscost_result_started_seconds"));
    let ids = families["oscost_figure_state"].samples.iter().map(|(labels, _)| labels["id"].clone());
    assert!(ids.collect::<BTreeSet<_>>().contains("\\u{1b}[2J\\u{202e}"));
}

#[test]
fn every_hostile_text_in_every_field_is_a_label_or_nothing() {
    let (attacked, used) = hostile::hostile(&fixture::result());
    assert!(hostile::HOSTILE.iter().all(|text| used.iter().any(|known| known == text)));
    let known = read(&written(&[Named { name: "x", result: &fixture::result() }]));
    let mut shown = BTreeSet::new();
    // Each text also as the id of a figure, for not every field stands there.
    for text in hostile::HOSTILE {
        let mut result = attacked.clone();
        result.figures[0].id = text.to_owned();
        let families = read(&written(&[Named { name: text, result: &result }]));
        assert!(families.keys().all(|name| known.contains_key(name)), "{text}: {:?}", families.keys());
        let label = oscost_results::Untrusted::new(text).terminal().to_string();
        let ids = families["oscost_figure_state"].samples.iter().map(|(labels, _)| &labels["id"]);
        assert!(ids.into_iter().any(|id| *id == label), "{text}");
        shown.insert(label);
    }
    assert_eq!(shown.len(), hostile::HOSTILE.len());
}
