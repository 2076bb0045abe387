//! Any result can be shown: no panic, no control character, no line wider than the page, no markup from data.

#[path = "../../../../oscost/tests/it/corpus/formats.rs"]
mod formats;
#[path = "../../../../oscost/tests/it/corpus/metrics.rs"]
pub mod metrics;
#[path = "../../../../oscost/tests/it/corpus/shown.rs"]
mod shown;

use std::sync::LazyLock;

use oscost_report::Named;
use oscost_report::compare::Rules;
use oscost_results::RunResult;
use serde_json::{Value, json};

use crate::fixture;

/// The same choices for the same seed.
struct Choices(u64);

impl Choices {
    fn of(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 33) as usize % bound
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Text as nobody wrote it: controls, direction marks, markup, wide letters, nothing at all; or a word that views look for.
    fn text(&mut self) -> String {
        match self.below(4) {
            0 => self.one_of(&WORDS.split(' ').collect::<Vec<_>>()).to_owned(),
            1 => "semaphore_x/".repeat(self.below(11)),
            _ => {
                let nasty: Vec<char> = NASTY.chars().collect();
                (0..self.below(40))
                    .map(|_| match self.below(4) {
                        0 => char::from_u32(self.below(0x11_0000) as u32).unwrap_or('x'),
                        _ => self.one_of(&nasty),
                    })
                    .collect()
            }
        }
    }

    fn number(&mut self) -> f64 {
        match self.below(3) {
            0 => self.one_of(&[0.0, -0.0, f64::MAX, f64::MIN_POSITIVE, 1e-300, 1e300]),
            1 => self.below(20_000) as f64 - 1e4,
            _ => Some(f64::from_bits(self.next())).filter(|number| number.is_finite()).unwrap_or(1.5),
        }
    }

    /// Puts something else of the same kind in place of one leaf in four, and makes one list in four shorter or longer.
    fn change(&mut self, value: &mut Value) {
        let changes = self.below(4) == 0;
        match value {
            Value::String(text) if changes => *text = self.text(),
            Value::Bool(it) => *it ^= changes,
            Value::Number(number) if changes && number.is_f64() => *value = self.number().into(),
            Value::Number(_) if changes => *value = self.one_of(WHOLE).into(),
            Value::Array(all) => {
                all.iter_mut().for_each(|one| self.change(one));
                if changes && !all.is_empty() {
                    let again = all[self.below(all.len())].clone();
                    all.truncate(self.below(all.len() + 1));
                    all.extend(std::iter::repeat_n(again, self.below(3)));
                }
            }
            Value::Object(all) => all.values_mut().for_each(|one| self.change(one)),
            _ => {}
        }
    }

    /// Some of all, each perhaps twice.
    fn some(&mut self, all: &mut Value, most: usize) {
        let all = all.as_array_mut().expect("a list");
        *all = (0..self.below(most)).map(|_| all[self.below(all.len())].clone()).collect();
    }
}

const NASTY: &str = "\0\t\n\r\x1b\x7f\u{85}\u{202e}\u{2028}\u{feff}<>&\"'`=+-@;,|\\*_[]()#!~$ /.1aé漢🦀";
const WORDS: &str = " a/b floor typical ns count share ratio paired tlpi apue grame \
                     measured failed contradicted withdrawn noisy checked holds unclear one_cpu cross_cpu disturbs";
const WHOLE: &[u32] = &[0, 1, 2, 40, 255, 65_536, i32::MAX as u32];

/// A result with a figure of every kind that a view tells, and counts.
static WHOLE_RESULT: LazyLock<Value> = LazyLock::new(|| {
    let result = fixture::plotted::result(&fixture::result(), &["x"]);
    let mut value = serde_json::to_value(result).unwrap();
    let node = |depth: u32, own: u64| json!({"depth": depth, "name": "f", "place": "kernel", "calls": 1, "own": own});
    value["figures"][0]["count"] = json!({"repeats": "constant", "values": [{"instructions": 113, "times": 64}], "boots": 2,
        "frame": 9, "functions": [node(0, 4), node(1, 60), node(2, 7), node(1, 5)]});
    let reference = |at: usize| {
        json!({"id": format!("w{at}"), "revision": 1, "placement": "one_cpu", "enters_kernel": !at.is_multiple_of(3),
        "launches": {"floor": [7.0, 8.0, 9.0]}})
    };
    value["references"] = (0..16).map(reference).collect();
    value
});

/// A result of any text and any numbers, in any combination; `None` where the choices made none.
fn result(seed: u64) -> Option<RunResult> {
    let mut choices = Choices::of(seed);
    let mut value = WHOLE_RESULT.clone();
    for (member, most) in
        [("figures", 6), ("ratios", 5), ("differences", 4), ("reproductions", 10), ("answers", 5)]
    {
        choices.some(&mut value[member], most);
    }
    choices.change(&mut value);
    let mut result: RunResult = serde_json::from_value(value).ok()?;
    // No file holds these, and a run that has just ended may.
    for quantity in result.figures.iter_mut().flat_map(|figure| figure.quantities.values_mut()) {
        let it = &mut quantity.estimate;
        let number = choices.one_of(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
        match choices.below(12) {
            0 => it.value = number,
            1 => it.low = number,
            2 => it.high = number,
            _ => {}
        }
    }
    Some(result)
}

#[test]
fn any_result_is_shown_without_harm() {
    let mut shown = 0;
    for seed in 0..200 {
        // What fails says by its output which seed it was.
        println!("seed {seed}");
        let Some(result) = result(seed) else { continue };
        formats::render(&result, seed as usize * 7 % 220);
        shown += 1;
    }
    assert!(shown > 150, "{shown}");
}

#[test]
fn any_two_results_are_compared() {
    let mut compared = 0;
    for seed in 0..200 {
        println!("seed {seed}");
        let (Some(a), Some(mut b)) = (result(2 * seed), result(2 * seed + 1)) else { continue };
        let mut choices = Choices::of(seed);
        let (width, cross_machine) = (choices.below(220), choices.below(2) == 0);
        // A figure of the one in the other makes rows; machine and hypervisor of the one make verdicts.
        b.figures.extend(a.figures.iter().step_by(2).cloned());
        if !cross_machine {
            b.machine = a.machine.clone();
        }
        let past = [a.clone(), b.clone(), a.clone()];
        let names = [choices.text(), choices.text()];
        let named = [Named { name: &names[0], result: &a }, Named { name: &names[1], result: &b }];
        let rules = Rules { cross_machine, past: &past, ..Rules::default() };
        formats::compared(&named[0], &named[1], rules, width);
        formats::watched(&[&a, &b, &a], width);
        compared += 1;
    }
    assert!(compared > 100, "{compared}");
}
