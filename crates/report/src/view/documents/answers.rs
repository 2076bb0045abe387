//! What each founding document asks, where its answer stands among the rows, and both answers in one unit.

use oscost_results::document::{APUE, CONTEXT_SWITCH, OSTEP, TLPI};
use oscost_results::{Reproduction, RunResult};

use super::converted_interval;
use super::one_unit::OneUnit;

/// Where a document's answer stands.
enum Whereabouts {
    /// In the first of these rows of a table that was answered here; titles are told by their beginnings.
    Cell { table: &'static str, rows: &'static [&'static str], column: &'static str },
    /// One cell in another of the same row: of (table, column), to (table, column).
    Quotient {
        of: (&'static str, &'static str),
        to: (&'static str, &'static str),
        rows: &'static [&'static str],
    },
    /// In no table: the name of its place.
    Alone(&'static str),
    /// In a statement that begins so, and whose reason begins with "there A, here B".
    Stated(&'static str),
}

/// Which of this machine's two answers is the one that compares.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// The figure, which has an interval; without one the document's own program.
    Figure,
    /// The document's own program: the figure is of something else.
    Program,
}

/// A question of a document.
struct CardQuestion {
    /// In the reader's words; `{row}` is the row that was found.
    name: &'static str,
    at: Whereabouts,
    by: By,
    /// The answer as a sentence of the heading, with `{here}`, `{there}` and `{row}`; may be empty.
    finding: &'static str,
}

const fn asked(name: &'static str, at: Whereabouts, by: By) -> CardQuestion {
    CardQuestion { name, at, by, finding: "" }
}

const CYCLES: &str = "Results by cycles";
const PROGRAMS: &str = "The three programs";
const RECORDS: &str = "Figure 20.7, by nrec";
const SIZES: &[&str] = &["12 000", "6 000", "2 000"];
const OVER_NONE: &str = "Figure 20.7, clock time with locks";
const COARSE: &str = "advisory locking, coarse-grained: clock";
const FINE: &str = "advisory locking, fine-grained: clock";
const NONE: &str = "no locking: clock";
const COARSE_CHILDREN: &str = "Figure 20.8, nrec 2000, advisory locking, coarse";
const FINE_CHILDREN: &str = "Figure 20.8, nrec 2000, advisory locking, fine";
const CHILDREN: &[&str] = &["12", "11", "10", "9", "8", "7", "6", "5", "4", "3", "2"];

/// Document 000.
const OF_TLPI: &[CardQuestion] = &[
    CardQuestion {
        name: "System V time divided by POSIX time, {row} cycles",
        at: Whereabouts::Cell { table: CYCLES, rows: &["1 000 000"], column: "speed-up" },
        by: By::Figure,
        finding: "System V takes {here} POSIX's time here, {there} as published",
    },
    asked(
        "System V time divided by POSIX time, only {row} cycles",
        Whereabouts::Cell { table: CYCLES, rows: &["1 000"], column: "speed-up" },
        By::Program,
    ),
    asked(
        "POSIX, {row} cycles",
        Whereabouts::Cell { table: CYCLES, rows: &["1 000 000"], column: "POSIX time" },
        By::Program,
    ),
    asked(
        "System V, {row} cycles",
        Whereabouts::Cell { table: CYCLES, rows: &["1 000 000"], column: "System V time" },
        By::Program,
    ),
    asked("POSIX operations, in millions a second", Whereabouts::Stated("POSIX achieves"), By::Program),
    asked("System V operations, in millions a second", Whereabouts::Stated("System V's ~"), By::Program),
];

/// Document 001.
const OF_APUE: &[CardQuestion] = &[
    CardQuestion {
        name: "time with coarse locks / without locks, {row} records",
        at: Whereabouts::Cell { table: OVER_NONE, rows: SIZES, column: "coarse" },
        by: By::Figure,
        finding: "with {row} records, coarse locks take {here} the time of no locks here, {there} as published",
    },
    asked(
        "time with fine locks / without locks, {row} records",
        Whereabouts::Cell { table: OVER_NONE, rows: SIZES, column: "fine" },
        By::Figure,
    ),
    asked(
        "time with fine / with coarse locks, {row} children",
        Whereabouts::Quotient {
            of: (FINE_CHILDREN, "clock"),
            to: (COARSE_CHILDREN, "clock"),
            rows: CHILDREN,
        },
        By::Figure,
    ),
    asked(
        "{row} records, no locks",
        Whereabouts::Cell { table: RECORDS, rows: SIZES, column: NONE },
        By::Figure,
    ),
    asked(
        "{row} records, coarse locks",
        Whereabouts::Cell { table: RECORDS, rows: SIZES, column: COARSE },
        By::Figure,
    ),
    asked(
        "{row} records, fine locks",
        Whereabouts::Cell { table: RECORDS, rows: SIZES, column: FINE },
        By::Figure,
    ),
];

/// Document 003.
const OF_OSTEP: &[CardQuestion] = &[
    CardQuestion {
        name: "a call of getpid",
        at: Whereabouts::Cell {
            table: "\"A system call\" in two documents",
            rows: &["003: getpid, loop minus loop"],
            column: "price",
        },
        by: By::Figure,
        finding: "a call of getpid takes {here} here, {there} as published",
    },
    asked(
        "program 1: one getpid between two readings of a clock (on macOS in steps of 1000 ns)",
        Whereabouts::Cell { table: PROGRAMS, rows: &["1 one shot"], column: "getpid" },
        By::Program,
    ),
    asked(
        "program 2: one pass of its loop, getpid in it",
        Whereabouts::Cell { table: PROGRAMS, rows: &["2 loop, -O0 form"], column: "getpid" },
        By::Program,
    ),
    asked(
        "program 3: one pass of its loop minus one of an empty loop",
        Whereabouts::Cell { table: PROGRAMS, rows: &["3 loop minus loop, -O0 form"], column: "getpid" },
        By::Program,
    ),
    asked("program 3 divided by program 2", Whereabouts::Stated("1.855 ns, a little more"), By::Program),
    asked("a simple operation", Whereabouts::Alone("a simple operation under ideal conditions"), By::Figure),
];

/// Document 004.
const OF_CONTEXT_SWITCH: &[CardQuestion] = &[
    CardQuestion {
        name: "a switch on one CPU (there: with the same affinity tag)",
        at: Whereabouts::Cell {
            table: "The cost of a context switch (context_switch): the same",
            rows: &["20 000 in a row"],
            column: "a switch",
        },
        by: By::Figure,
        finding: "a switch on one CPU takes {here} here, {there} as published (same affinity tag)",
    },
    asked(
        "a switch, CPUs chosen by the kernel",
        Whereabouts::Cell {
            table: "The cost of a context switch (context_switch): without",
            rows: &["20 000 in a row"],
            column: "a switch",
        },
        By::Program,
    ),
    asked(
        "a read of 0 bytes",
        Whereabouts::Cell {
            table: "The cost of a system call",
            rows: &["10 000 of /dev/zero"],
            column: "minimum a read",
        },
        By::Figure,
    ),
    asked("a call of gettimeofday", Whereabouts::Stated("indicating that most calls roughly 40"), By::Figure),
    asked(
        "equal readings of the clock in a row",
        Whereabouts::Cell { table: "Precision of", rows: &["equal readings in a row"], column: "cold" },
        By::Program,
    ),
    asked(
        "steps of over 10 \u{b5}s between 100 000 readings (there: of \"many\" \u{b5}s)",
        Whereabouts::Cell { table: "Precision of", rows: &["steps of many us (over 10)"], column: "cold" },
        By::Program,
    ),
];

/// Questions by the name of their document. Document 002 has stations, and answers by itself.
const ALL: [(&str, &[CardQuestion]); 4] = [
    (TLPI.name, OF_TLPI),
    (APUE.name, OF_APUE),
    (OSTEP.name, OF_OSTEP),
    (CONTEXT_SWITCH.name, OF_CONTEXT_SWITCH),
];

/// A question with the answer there and here, in one unit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    /// The question.
    pub name: String,
    /// The document's answer with its unit.
    pub there: String,
    /// This machine's number and unit; `None` where nothing was measured that compares.
    pub here: Option<(String, String)>,
    /// What the number of this machine is: a figure with its interval, or a program that ran once.
    pub how: String,
    /// Both as a sentence; may be empty.
    pub finding: String,
}

/// The questions of a document that it has an answer to, in their order.
pub(crate) fn answers(document: &str, result: &RunResult) -> Vec<Answer> {
    let questions = ALL.iter().find(|(name, _)| *name == document).map_or(&[][..], |(_, all)| *all);
    questions.iter().filter_map(|question| answer(question, document, result)).collect()
}

/// What a row has.
struct Both {
    there: f64,
    here: Option<Here>,
}

/// A number of this machine.
#[derive(Clone, Copy)]
struct Here {
    value: f64,
    /// Of a figure; a document's own program has none.
    interval: Option<[f64; 2]>,
}

fn both(row: &Reproduction, by: By, result: &RunResult) -> Option<Both> {
    let there = row.published.filter(|it| it.is_finite())?;
    // Of a single run value and bounds are one, and that is no interval.
    let bounds = |[_, low, high]: [f64; 3]| Some([low, high]).filter(|[low, high]| low < high);
    let figure = converted_interval(row, result).map(|it| Here { value: it[0], interval: bounds(it) });
    let program = row.literal.map(|value| Here { value, interval: None });
    let here = if by == By::Figure { figure.or(program) } else { program };
    Some(Both { there, here: here.filter(|it| it.value.is_finite()) })
}

fn answer(question: &CardQuestion, document: &str, result: &RunResult) -> Option<Answer> {
    let own = || result.reproductions.iter().filter(move |row| row.document == document);
    let cell = |table: &str, name: &str, column: &str| {
        own().find(|row| {
            let of = |cell: &oscost_results::Cell| {
                cell.table.starts_with(table) && cell.row == name && cell.column == column
            };
            row.cell.as_ref().is_some_and(of)
        })
    };
    // The first that a figure answers, else the first that a program does, else the first that there is.
    let chosen = |all: Vec<(&'static str, Both, String)>| {
        let first = |is: fn(Here) -> bool| all.iter().position(|(_, both, _)| both.here.is_some_and(is));
        let place = first(|it| it.interval.is_some()).or_else(|| first(|_| true)).unwrap_or(0);
        all.into_iter().nth(place)
    };
    let (row, both, unit) = match &question.at {
        Whereabouts::Stated(begin) => {
            let row = own().find(|row| row.statement.as_ref().is_some_and(|it| it.starts_with(begin)))?;
            return stated(question, row);
        }
        Whereabouts::Alone(place) => {
            let row = own().find(|row| row.place == *place && row.cell.is_none())?;
            ("", both(row, question.by, result)?, row.unit.clone())
        }
        Whereabouts::Cell { table, rows, column } => chosen(
            rows.iter()
                .filter_map(|name| {
                    let row = cell(table, name, column)?;
                    Some((*name, both(row, question.by, result)?, row.unit.clone()))
                })
                .collect(),
        )?,
        Whereabouts::Quotient { of, to, rows } => chosen(
            rows.iter()
                .filter_map(|name| {
                    let [of, to] = [of, to].map(|(table, column)| cell(table, name, column));
                    let [of, to] = [of?, to?].map(|row| both(row, question.by, result));
                    Some((*name, quotient(&of?, &to?)?, "ratio".to_owned()))
                })
                .collect(),
        )?,
    };
    let told_in = OneUnit::of(both.there, both.here.map(|it| it.value), &unit);
    let how = match both.here {
        None => "not measured here at this size".to_owned(),
        Some(Here { interval: Some([low, high]), .. }) => {
            let [low, high] = [low, high].map(|value| told_in.ours(value));
            format!("measured, {low} .. {high}")
        }
        Some(_) => "our copy of its program".to_owned(),
    };
    let here = both.here.map(|it| (told_in.ours(it.value), told_in.name.to_owned()));
    Some(told(question, row, told_in.there(both.there), here, how))
}

/// Time without locks and what coarse ones add to it, s, as published and here: of the most records that ran repeatedly here.
pub(super) fn added_by_locks(result: &RunResult) -> Option<[[f64; 2]; 2]> {
    let at = |size: &str, column: &str| {
        let is_it = |cell: &oscost_results::Cell| {
            cell.table.starts_with(RECORDS) && cell.row == size && cell.column == column
        };
        let row = result.reproductions.iter().find(|row| row.cell.as_ref().is_some_and(is_it))?;
        let both = both(row, By::Figure, result).filter(|_| row.unit == "s")?;
        Some([both.there, both.here.filter(|it| it.interval.is_some())?.value])
    };
    let (none, coarse) = SIZES.iter().find_map(|size| Some((at(size, NONE)?, at(size, COARSE)?)))?;
    Some([0, 1].map(|which| [none[which], coarse[which] - none[which]]))
        .filter(|all| all.iter().all(|[_, added]| *added > 0.0))
}

/// One in the other; both of this machine's are of one kind, or there is none. The interval reaches from the least to the most
/// that the quotient can be within both.
fn quotient(of: &Both, to: &Both) -> Option<Both> {
    let there = of.there / to.there;
    let here = of.here.zip(to.here).and_then(|(of, to)| {
        let value = of.value / to.value;
        match (of.interval, to.interval) {
            (Some([of_low, of_high]), Some([to_low, to_high])) => {
                Some(Here { value, interval: Some([of_low / to_high, of_high / to_low]) })
            }
            (None, None) => Some(Here { value, interval: None }),
            _ => None,
        }
    });
    there.is_finite().then_some(Both { there, here: here.filter(|it| it.value.is_finite()) })
}

fn told(
    question: &CardQuestion,
    row: &str,
    there: String,
    here: Option<(String, String)>,
    how: String,
) -> Answer {
    let filled = here.as_ref().map_or(String::new(), |(number, unit)| {
        let here = format!("{number} {unit}");
        question.finding.replace("{here}", here.trim()).replace("{there}", &there).replace("{row}", row)
    });
    Answer { name: question.name.replace("{row}", row), there, here, how, finding: filled }
}

/// The numbers of "there A, here B", where both are told in one unit.
fn stated(question: &CardQuestion, row: &Reproduction) -> Option<Answer> {
    let (there, rest) = row.because.strip_prefix("there ")?.split_once(", here ")?;
    let bare = there.trim_start_matches(['~', '<', '>']);
    let ((_, unit), (number, own)) = (parted(bare), parted(rest));
    if number.is_empty() || unit != own || unit.is_empty() {
        return None;
    }
    let interval = rest.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(inside, _)| inside);
    let how = match interval.filter(|it| it.contains(" .. ")) {
        _ if rest.contains("single run") => "our copy of its program".to_owned(),
        Some(interval) => format!("measured, {interval}"),
        None => "measured".to_owned(),
    };
    Some(told(question, "", there.to_owned(), Some((number, own)), how))
}

/// The number that a text begins with, and the unit behind it; intervals and remarks follow them.
fn parted(text: &str) -> (String, String) {
    let is_digits = |word: &str| word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_digit());
    let begins = |word: &str| word.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-');
    let words = text.split(' ').enumerate();
    // Thousands stand apart.
    let number = words.take_while(|(at, word)| if *at == 0 { begins(word) } else { is_digits(word) });
    let number: Vec<&str> = number.map(|(_, word)| word.trim_end_matches([',', ';'])).collect();
    let unit = text.split(' ').nth(number.len()).unwrap_or_default().trim_end_matches([',', ';']);
    let is_unit = ["ns", "us", "ms", "s", "%", "M/s"].contains(&unit);
    (number.join(" "), if is_unit { unit.to_owned() } else { String::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(because: &str) -> Reproduction {
        let row = serde_json::json!({"document": "tlpi", "place": "", "unit": "", "statement": "x", "because": because});
        serde_json::from_value(row).expect("a row")
    }

    #[test]
    fn a_quotient_has_an_interval_where_both_have_one() {
        let of = |value: f64, interval| Both { there: value, here: Some(Here { value, interval }) };
        let figure = |value: f64| of(value, Some([value * 0.9, value * 1.1]));
        let both = quotient(&figure(6.0), &figure(3.0)).and_then(|it| it.here).expect("a quotient");
        let [low, high] = both.interval.expect("an interval");
        assert!((both.value - 2.0).abs() < 1e-9, "{}", both.value);
        assert!(
            (low - 2.0 * 0.9 / 1.1).abs() < 1e-9 && (high - 2.0 * 1.1 / 0.9).abs() < 1e-9,
            "{low} {high}"
        );
        let mixed = quotient(&figure(6.0), &of(3.0, None)).expect("there are both");
        assert!(mixed.here.is_none(), "a figure and a single run are of two kinds");
        let programs = quotient(&of(6.0, None), &of(3.0, None)).and_then(|it| it.here).expect("a quotient");
        assert!(programs.interval.is_none());
    }

    #[test]
    fn a_statement_answers_where_both_numbers_have_one_unit() {
        let of = |because| {
            let answer = stated(&asked("q", Whereabouts::Stated("x"), By::Figure), &row(because))?;
            Some(format!("{} | {:?} | {}", answer.there, answer.here?, answer.how))
        };
        let m = |there: &str, number: &str, unit: &str, how: &str| {
            Some(format!("{there} | {:?} | {how}", (number, unit)))
        };
        assert_eq!(
            of("there 40 ns, here 22.6 ns (22.5 .. 22.7)"),
            m("40 ns", "22.6", "ns", "measured, 22.5 .. 22.7")
        );
        assert_eq!(
            of("there 59 %, here 165 % in a single run"),
            m("59 %", "165", "%", "our copy of its program")
        );
        assert_eq!(
            of("there 220 M/s, here 187.0 M/s (1 .. 2)"),
            m("220 M/s", "187.0", "M/s", "measured, 1 .. 2")
        );
        assert_eq!(of("there ~2 us, here 2.24 us (2 .. 3)"), m("~2 us", "2.24", "us", "measured, 2 .. 3"));
        for other in [
            "there 215 of 100 000, here 16 of 100 000 over 10 us in a single run",
            "there 33 to 48x, here 56.3x (55.0 .. 57.6), paired",
            "there 300 ns, here a read of 0 bytes costs 139 ns",
            "there 50 us, here 8.1 ms",
            "there up to 20 %, here the minimum varies by 10 %",
            "its true step is 1000 ns",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
