//! The body of the fuzz target `results`: bytes to a result, to every format, to comparisons.

use oscost_report::compare::{Rules, Verdict, compare, compare_sides, comparison};
use oscost_report::{Named, Style, history};
use oscost_results::{RunResult, from_bytes, outline_from_bytes, to_bytes};

use super::formats::{BASE, compared, render, watched};
use super::shown;

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
    watched(&[&result, &BASE], width);
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
