//! OpenMetrics by a strict reader of its grammar, which is also that of Prometheus' older text format for gauges.

use std::collections::{BTreeMap, BTreeSet};

pub type Labels = BTreeMap<String, String>;

/// A family as it was read: type, unit, samples.
#[derive(Debug, Default)]
pub struct Family {
    pub unit: Option<String>,
    pub samples: Vec<(Labels, f64)>,
}

/// A name of ours: the grammar has more letters.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
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
pub fn read(text: &str) -> BTreeMap<String, Family> {
    let body = text.strip_suffix("# EOF\n").expect("it ends with # EOF");
    assert!(!body.lines().any(|line| line == "# EOF") && (body.is_empty() || body.ends_with('\n')));
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let mut current = String::new();
    let (mut told, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for line in body.lines() {
        assert!(!line.is_empty() && !line.contains(char::is_control), "{line:?}");
        if let Some(meta) = line.strip_prefix("# ") {
            let [kind, name, what] = meta.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            assert!(is_name(name) && name.starts_with("oscost_"), "{line}");
            if name != current {
                assert!(
                    families.insert(name.to_owned(), Family::default()).is_none(),
                    "{name} is not in one piece"
                );
                current = name.to_owned();
                told.clear();
                seen.clear();
            }
            let family = families.get_mut(name).expect("it is told");
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
        let value: f64 = value.parse().expect("a number");
        assert!(value.is_finite() && seen.insert(labels.clone()), "no number, or twice: {line}");
        families.get_mut(&current).expect("it is told").samples.push((labels, value));
    }
    families
}
