//! The body of the fuzz target `results`: bytes to a result, to every format, to comparisons.

use std::sync::LazyLock;

use oscost_report::compare::{
    Rules, Verdict, compare, compare_live, compare_sides, comparison, comparison_json, comparison_markdown,
    matrix, matrix_markdown,
};
use oscost_report::{
    Named, RowChoice, RowFormat, Style, doctor, history, open_metrics, page, price_list, price_list_markdown,
    reproductions, reproductions_csv, reproductions_markdown, rows_of,
};
use oscost_results::{RunResult, Untrusted, from_bytes, outline_from_bytes, to_bytes};

use super::shown;

/// Every row with everything that can be said of it.
const EVERYTHING: RowChoice = RowChoice { all: true, verbose: true, order: None };

/// A result as oscost writes it.
pub const SAMPLE: &[u8] = include_bytes!("../../../../results/tests/samples/v1.json");

static BASE: LazyLock<RunResult> = LazyLock::new(|| from_bytes(SAMPLE).expect("the sample is a result"));

/// Bytes as they are, and as one would write them who knows how to make the checksum.
pub fn check(data: &[u8]) {
    judge(data);
    judge(&sealed(data));
}

/// Whether the bytes are a result, but for their checksum.
pub fn is_result(data: &[u8]) -> bool {
    from_bytes(&sealed(data)).is_ok()
}

/// The bytes with a checksum that fits, in place of theirs if they have one.
pub fn sealed(data: &[u8]) -> Vec<u8> {
    let mut body = data.strip_prefix(b"{\n").unwrap_or(data);
    if body.starts_with(b"  \"checksum\"") {
        body = body.iter().position(|byte| *byte == b'\n').map_or(&[][..], |end| &body[end + 1..]);
    }
    let mut sealed = format!("{{\n  \"checksum\": \"crc32:{:08x}\",\n", crc32fast::hash(body)).into_bytes();
    sealed.extend_from_slice(body);
    sealed
}

fn judge(bytes: &[u8]) {
    let result = match from_bytes(bytes) {
        Ok(result) => result,
        Err(refused) => return shown::one_line(&refused.to_string()),
    };
    let outline = outline_from_bytes(bytes).expect("what is a result has an outline");
    assert_eq!(outline.figures.len(), result.figures.len());
    let again = to_bytes(&result).expect("what was read is written again");
    assert_eq!(from_bytes(&again).as_ref(), Ok(&result), "what was written is read again");

    let width = [0, 40, 80, 120, 200][bytes.len() % 5];
    render(&result, width);
    let mut out = Vec::new();
    let runs = [(result.tool.version.clone(), outline)];
    history(&runs, &Style { width, unicode: false, colour: false }, &mut out).expect("memory");
    shown::ascii(&out, width);
    let name = result.note.clone().unwrap_or_default();
    let own = Named { name: &name, result: &result };
    let base = Named { name: "base", result: &BASE };
    // Somebody who writes the store also writes the past runs.
    let past = [result.clone(), BASE.clone(), RunResult { started: String::new(), ..result.clone() }];
    for cross_machine in [false, true] {
        let rules = Rules { cross_machine, past: &past, ..Rules::default() };
        compared(&base, &own, rules, width);
        compared(&own, &base, rules, width);
    }
    for sides in [[&[own, base], &[own, own]], [&[own, own], &[own, own]]] {
        let [a, b] = sides;
        let several = compare_sides(a, b, Rules::default()).expect("neither side is empty");
        let mut out = Vec::new();
        comparison(&several, &Style { width, unicode: false, colour: false }, &mut out).expect("memory");
        shown::ascii(&out, width);
    }
    let same = compare(&own, &own, Rules::default());
    assert_eq!(same.of(Verdict::Slower).count() + same.of(Verdict::Faster).count(), 0, "{same:?}");
}

/// Every format of a report.
pub fn render(result: &RunResult, width: usize) {
    let plain = Style { width, unicode: false, colour: false };
    let written = |write: &dyn Fn(&mut Vec<u8>) -> std::io::Result<()>| {
        let mut out = Vec::new();
        write(&mut out).expect("memory");
        out
    };
    shown::ascii(&written(&|out| price_list(result, Some("name"), EVERYTHING, &plain, out)), width);
    shown::ascii(&written(&|out| reproductions(result, &plain, out)), width);
    shown::ascii(&written(&|out| doctor(&result.doctor, &plain, out)), width);
    let unicode = Style { unicode: true, ..plain };
    shown::text(&written(&|out| price_list(result, None, EVERYTHING, &unicode, out)));
    shown::text(&written(&|out| reproductions(result, &unicode, out)));
    shown::markdown(&written(&|out| price_list_markdown(result, None, out)));
    shown::markdown(&written(&|out| reproductions_markdown(result, out)));
    shown::csv(&written(&|out| rows_of(result, RowFormat::Csv, out)));
    shown::csv(&written(&|out| reproductions_csv(result, out)));
    let name = result.note.as_deref().unwrap_or("");
    let named = || Named { name, result };
    shown::page(&written(&|out| page(&[named()], out)));
    shown::page(&written(&|out| page(&[Named { name: "base", result: &BASE }, named()], out)));
    shown::open_metrics(&written(&|out| open_metrics(&[named()], out)));
    shown::open_metrics(&written(&|out| open_metrics(&[named(), Named { name: "", result: &BASE }], out)));
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
    let three = |of: &Named<'a>| [0; 3].map(|_| Named { name: of.name, result: of.result });
    let (live_a, live_b) = (three(a), three(b));
    let live = compare_live(&live_a, &live_b, rules);
    let plain = Style { width, unicode: false, colour: false };
    for one in [&one, &live] {
        let mut out = Vec::new();
        comparison(one, &plain, &mut out).expect("memory");
        shown::ascii(&out, width);
        let mut out = Vec::new();
        comparison_markdown(one, &mut out).expect("memory");
        shown::markdown(&out);
        let value = comparison_json(one);
        let json = Untrusted::new(&value.to_string()).json().to_string();
        shown::one_line(&json);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).expect("JSON"), value);
    }
    let both = [one, live];
    let mut out = Vec::new();
    matrix(&both, &plain, &mut out).expect("memory");
    shown::ascii(&out, width);
    let mut out = Vec::new();
    matrix_markdown(&both, &mut out).expect("memory");
    shown::markdown(&out);
}
