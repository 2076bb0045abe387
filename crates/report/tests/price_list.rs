//! The price list of a realistic result, as it stands in terminals of several widths.
#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod fixture;

use oscost_report::{Style, price_list};
use oscost_results::RunResult;

fn shown(result: &RunResult, width: usize, unicode: bool) -> String {
    let mut out = Vec::new();
    let style = Style { width, unicode, colour: false };
    price_list(result, Some("2026-11-20T23-14-05Z-9f2c41d0"), &style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn at_several_widths() {
    for width in [60, 80, 100, 160] {
        insta::assert_snapshot!(format!("unicode_{width}"), shown(&fixture::result(), width, true));
        insta::assert_snapshot!(format!("ascii_{width}"), shown(&fixture::result(), width, false));
    }
}
