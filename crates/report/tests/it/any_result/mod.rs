//! Any result can be shown: no panic, no control character, no line wider than the page, no markup from data.

mod generate;

use std::io::Write;

use generate::{result, text};
use oscost_report::compare::{
    Rules, compare, compare_live, comparison, comparison_json, comparison_markdown, comparison_whole, matrix,
    matrix_markdown,
};
use oscost_report::{
    Named, RowChoice, RowFormat, Style, count, doctor, open_metrics, page, price_list, price_list_markdown,
    reproductions, reproductions_markdown, rows_of, watch, watch::Watch,
};
use oscost_results::{RunResult, Untrusted};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Every row with everything that can be said of it.
const EVERYTHING: RowChoice = RowChoice { all: true, verbose: true, order: None };

/// What a report leaves on a page, checked for what no report may contain.
fn harmless(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Result<String, TestCaseError> {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    let shown = String::from_utf8(out).unwrap();
    let obeyed = |letter: char| letter.is_control() && letter != '\n' && letter != '\r';
    prop_assert!(!shown.contains(obeyed), "{:?}", shown);
    prop_assert!(!shown.contains(['\u{202e}', '\u{2028}', '\u{feff}']), "direction or invisible");
    Ok(shown)
}

/// Parts of a table need no end tag before the next part, or before the end of what they are in. HTML, 13.1.2.4, Optional tags.
fn ends_without_a_tag(last: &str, end: Option<&str>, next: &str) -> bool {
    let parts: &[&str] = match last {
        "td" | "th" => &["td", "th", "tr", "tbody"],
        "tr" => &["tr", "tbody"],
        "thead" | "tbody" => &["tbody"],
        _ => return false,
    };
    end.map_or_else(|| parts.contains(&next), |end| end != last)
}

fn fits_a_page_in_ascii(result: &RunResult, saved: Option<&str>, width: usize) -> Result<(), TestCaseError> {
    let style = Style { width, unicode: false, colour: false };
    for shown in [
        harmless(|out| price_list(result, saved, EVERYTHING, &style, out))?,
        harmless(|out| count::shown(result, saved, &style, out))?,
        harmless(|out| reproductions(result, &style, out))?,
        harmless(|out| doctor(&result.doctor, &style, out))?,
    ] {
        prop_assert!(shown.is_ascii());
        for line in shown.lines() {
            prop_assert!(line.len() <= width.max(20), "{width}: {line:?}");
        }
    }
    Ok(())
}

fn renders_in_unicode_and_colour(result: &RunResult, width: usize) -> Result<(), TestCaseError> {
    harmless(|out| {
        price_list(result, None, EVERYTHING, &Style { width, unicode: true, colour: false }, out)
    })?;
    harmless(|out| reproductions(result, &Style { width, unicode: true, colour: false }, out))?;
    let mut coloured = Vec::new();
    price_list(result, None, EVERYTHING, &Style { width, unicode: true, colour: true }, &mut coloured)
        .unwrap();
    Ok(())
}

fn is_markdown_without_markup_from_data(result: &RunResult) -> Result<(), TestCaseError> {
    for shown in [
        harmless(|out| price_list_markdown(result, None, out))?,
        harmless(|out| reproductions_markdown(result, out))?,
    ] {
        prop_assert!(!shown.contains('<'));
        // Each line of one table has as many cells as the line above it.
        let lines: Vec<&str> = shown.lines().collect();
        for two in lines.windows(2).filter(|two| two[0].starts_with('|') && two[1].starts_with('|')) {
            prop_assert_eq!(two[0].matches('|').count(), two[1].matches('|').count(), "{:?}", two);
        }
    }
    Ok(())
}

fn is_a_page_without_markup_from_data(name: &str, result: &RunResult) -> Result<(), TestCaseError> {
    let named = || Named { name, result };
    let shown = harmless(|out| page(&[named(), named()], out))?;
    // Every tag is one that the page is made of, and every element that opens also ends.
    let empty = ["meta", "input", "wbr", "line", "circle", "use", "path", "rect", "!doctype"];
    let body = shown.split("<script>").next().unwrap();
    let mut styles = body.split("<style>");
    let body = styles.next().unwrap().to_owned()
        + &styles.map(|style| style.split_once("</style>").unwrap().1).collect::<String>();
    // A picture has numbers that are some.
    for path in body.split(" d=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        prop_assert!(!path.contains("NaN") && !path.contains("inf"), "{}", path);
    }
    for wrong in ["NaN%", "inf%", "\"NaN\"", "\"inf\"", "\"-inf\""] {
        prop_assert!(!body.contains(wrong), "{}", wrong);
    }
    let mut open: Vec<&str> = Vec::new();
    for tag in body.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap();
        let (end, name) = (tag.strip_prefix('/'), tag.split([' ', '\n']).next().unwrap());
        while open.last().is_some_and(|last| ends_without_a_tag(last, end, name)) {
            open.pop();
        }
        match (end, name) {
            (Some(end), _) => prop_assert_eq!(open.pop(), Some(end), "{}", body),
            (None, name) if empty.contains(&name) => {}
            (None, name) => open.push(name),
        }
    }
    // The script's own element ends after the cut.
    prop_assert_eq!(open, ["html", "body"]);
    Ok(())
}

fn is_open_metrics_of_whole_lines(name: &str, result: &RunResult) -> Result<(), TestCaseError> {
    let named = || Named { name, result };
    for shown in [
        harmless(|out| open_metrics(&[named()], out))?,
        harmless(|out| open_metrics(&[named(), named()], out))?,
    ] {
        let mut series = std::collections::BTreeSet::new();
        for line in shown.strip_suffix("# EOF\n").unwrap().lines().filter(|line| !line.starts_with("# ")) {
            let (labels, value) = line.rsplit_once(' ').unwrap();
            prop_assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{}", line);
            prop_assert!(labels.starts_with("oscost_") && series.insert(labels), "{}", line);
        }
    }
    Ok(())
}

fn is_csv_of_one_shape_and_no_formula(result: &RunResult) -> Result<(), TestCaseError> {
    let shown = harmless(|out| rows_of(result, RowFormat::Csv, out))?;
    let mut rows = Vec::new();
    for line in shown.strip_suffix("\r\n").unwrap().split("\r\n") {
        let mut cells = vec![String::new()];
        let mut quoted = false;
        let mut letters = line.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '"' if quoted && letters.next_if_eq(&'"').is_some() => cells.last_mut().unwrap().push('"'),
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                letter => cells.last_mut().unwrap().push(letter),
            }
        }
        prop_assert!(!quoted);
        for cell in &cells {
            let formula =
                cell.starts_with(['=', '+', '@']) || (cell.starts_with('-') && cell.parse::<f64>().is_err());
            prop_assert!(!formula, "{cell:?}");
        }
        rows.push(cells.len());
    }
    prop_assert!(rows.iter().all(|cells| *cells == rows[0]), "{rows:?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    /// Making a result takes longer than showing it: each is shown in every format.
    #[test]
    fn any_result_is_shown_without_harm(result in result(), name in text(), saved in option::of(text()), width in 0_usize..220) {
        fits_a_page_in_ascii(&result, saved.as_deref(), width)?;
        renders_in_unicode_and_colour(&result, width)?;
        is_markdown_without_markup_from_data(&result)?;
        is_a_page_without_markup_from_data(&name, &result)?;
        is_open_metrics_of_whole_lines(&name, &result)?;
        is_csv_of_one_shape_and_no_formula(&result)?;
    }

    #[test]
    fn any_two_results_are_compared(a in result(), b in result(), names in vec(text(), 2), width in 0_usize..220, cross_machine in any::<bool>()) {
        // A figure of the one in the other makes rows; machine and hypervisor of the one make verdicts.
        let mut b = b;
        b.figures.extend(a.figures.iter().step_by(2).cloned());
        if !cross_machine {
            b.machine = a.machine.clone();
        }
        let past = [a.clone(), b.clone(), a.clone()];
        let rules = Rules { cross_machine, past: &past, ..Rules::default() };
        let named = [Named { name: &names[0], result: &a }, Named { name: &names[1], result: &b }];
        let both = [compare(&named[0], &named[1], rules), compare(&named[0], &named[0], rules)];
        let thirteen = |side: usize| std::array::from_fn::<_, 13, _>(|_| Named { ..named[side] });
        let live = compare_live(&thirteen(0), &thirteen(1), rules);
        let style = Style { width, unicode: false, colour: false };
        let mut watched = Watch::new(0.05);
        [&a, &b, &a].into_iter().for_each(|result| watched.add(result.clone(), &past));
        for shown in [
            harmless(|out| comparison(&both[0], &style, out))?,
            harmless(|out| comparison_whole(&both[0], &style, out))?,
            harmless(|out| comparison(&live, &style, out))?,
            harmless(|out| watch::screen(&watched, &style, out))?,
            harmless(|out| watch::newest(&watched, &style, out))?,
            harmless(|out| watch::summary(&watched, &style, out))?,
            harmless(|out| matrix(&both, &style, out))?,
            harmless(|out| count::Changes::between(&a, &b).text(&style, out))?,
        ] {
            prop_assert!(shown.is_ascii());
            for line in shown.lines() {
                prop_assert!(line.len() <= width.max(20), "{width}: {line:?}");
            }
        }
        for shown in [
            harmless(|out| comparison_markdown(&both[0], out))?,
            harmless(|out| comparison_markdown(&live, out))?,
            harmless(|out| matrix_markdown(&both, out))?,
            harmless(|out| count::Changes::between(&a, &b).markdown(out))?,
        ] {
            prop_assert!(!shown.contains('<'));
            let lines: Vec<&str> = shown.lines().collect();
            for two in lines.windows(2).filter(|two| two[0].starts_with('|') && two[1].starts_with('|')) {
                let cells = |line: &str| line.replace("\\|", "").matches('|').count();
                prop_assert_eq!(cells(two[0]), cells(two[1]), "{:?}", two);
            }
        }
        let value = comparison_json(&both[0]);
        let json = harmless(|out| write!(out, "{}", Untrusted::new(&value.to_string()).json()))?;
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap(), value);
    }

}
