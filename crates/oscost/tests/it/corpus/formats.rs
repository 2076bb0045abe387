//! A result, and two against each other, in every format: what each of them may never contain.

use std::io::Result;
use std::sync::LazyLock;

use oscost_report::compare::{
    Rules, Verdict, compare, compare_live, comparison, comparison_json, comparison_markdown,
    comparison_whole, matrix, matrix_markdown,
};
use oscost_report::{
    Named, RowChoice, RowFormat, Style, count, doctor, open_metrics, page, price_list, price_list_markdown,
    reproductions, reproductions_csv, reproductions_markdown, rows_of, watch,
};
use oscost_results::{RunResult, Untrusted, from_bytes};

use super::shown;

/// Every row with everything that can be said of it.
const EVERYTHING: RowChoice = RowChoice { all: true, verbose: true, order: None };

/// A result as oscost writes it.
pub const SAMPLE: &[u8] = include_bytes!("../../../../results/tests/samples/v1.json");

pub static BASE: LazyLock<RunResult> = LazyLock::new(|| from_bytes(SAMPLE).expect("the sample is a result"));

fn written(write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out).expect("memory");
    out
}

/// Every format of a report.
pub fn render(result: &RunResult, width: usize) {
    let plain = Style { width, unicode: false, colour: false };
    shown::ascii(&written(|out| price_list(result, Some("name"), EVERYTHING, &plain, out)), width);
    shown::ascii(&written(|out| reproductions(result, &plain, out)), width);
    shown::ascii(&written(|out| doctor(&result.doctor, &plain, out)), width);
    shown::ascii(&written(|out| count::shown(result, result.note.as_deref(), &plain, out)), width);
    let unicode = Style { unicode: true, ..plain };
    shown::text(&written(|out| price_list(result, None, EVERYTHING, &unicode, out)));
    shown::text(&written(|out| reproductions(result, &unicode, out)));
    written(|out| price_list(result, None, EVERYTHING, &Style { colour: true, ..unicode }, out));
    shown::markdown(&written(|out| price_list_markdown(result, None, out)));
    shown::markdown(&written(|out| reproductions_markdown(result, out)));
    shown::csv(&written(|out| rows_of(result, RowFormat::Csv, out)));
    shown::csv(&written(|out| reproductions_csv(result, out)));
    let name = result.note.as_deref().unwrap_or("");
    let named = || Named { name, result };
    shown::page(&written(|out| page(&[named()], Some(name), out)));
    shown::page(&written(|out| page(&[Named { name: "base", result: &BASE }, named()], None, out)));
    shown::open_metrics(&written(|out| open_metrics(&[named()], out)));
    shown::open_metrics(&written(|out| open_metrics(&[named(), Named { name: "", result: &BASE }], out)));
}

/// One result against another, in every format.
pub fn compared<'a>(a: &Named<'a>, b: &Named<'a>, rules: Rules<'_>, width: usize) {
    let one = compare(a, b, rules);
    for row in &one.rows {
        if !one.machine.is_empty() && !rules.cross_machine {
            assert!(row.change.is_none(), "a ratio between two machines: {row:?}");
        }
        if matches!(row.verdict, Verdict::Slower | Verdict::Faster) {
            let change = row.change.expect("a verdict needs a change");
            let threshold = rules.threshold;
            assert!(change.low >= threshold || change.high <= -threshold, "{row:?}");
        }
    }
    let six = |of: &Named<'a>| [0; 6].map(|_| Named { name: of.name, result: of.result });
    let (live_a, live_b) = (six(a), six(b));
    let both = [one, compare_live(&live_a, &live_b, rules)];
    let plain = Style { width, unicode: false, colour: false };
    for one in &both {
        shown::ascii(&written(|out| comparison(one, &plain, out)), width);
        shown::ascii(&written(|out| comparison_whole(one, &plain, out)), width);
        shown::markdown(&written(|out| comparison_markdown(one, out)));
        let value = comparison_json(one);
        let json = Untrusted::new(&value.to_string()).json().to_string();
        shown::one_line(&json);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).expect("JSON"), value);
    }
    shown::ascii(&written(|out| matrix(&both, &plain, out)), width);
    shown::markdown(&written(|out| matrix_markdown(&both, out)));
    let changes = count::Changes::between(a.result, b.result);
    shown::ascii(&written(|out| changes.text(&plain, out)), width);
    shown::markdown(&written(|out| changes.markdown(out)));
}

/// What is said of results that are measured one after the other.
pub fn watched(results: &[&RunResult], width: usize) {
    let plain = Style { width, unicode: false, colour: false };
    let mut watched = watch::Watch::new(0.05);
    results.iter().for_each(|result| watched.add((*result).clone(), &[]));
    for show in [watch::screen, watch::newest, watch::summary] {
        shown::ascii(&written(|out| show(&watched, &plain, out)), width);
    }
}
