//! Any result whatever renders: no panic, no control character, no line wider than the page, no markup from data.
#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

use std::io::Write;

use oscost_report::compare::{
    Rules, compare, compare_live, comparison, comparison_json, comparison_markdown, matrix, matrix_markdown,
};
use oscost_report::{
    Named, Style, doctor, open_metrics, page, price_list, price_list_csv, price_list_markdown, reproductions,
    reproductions_markdown,
};
use oscost_results::{
    Check, CheckState, CheckedClaim, Conditions, Estimate, Evidence, Expectation, FORMAT, Figure, Histogram,
    Judgement, LaunchRecord, Machine, Mark, Mode, PairedValue, Plan, Quantity, Reproduction, RunResult,
    Status, Tool, Untrusted, VERSION, Verdict,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Text as nobody wrote it: controls, direction marks, markup, wide letters, nothing at all.
fn text() -> BoxedStrategy<String> {
    let nasty = "\0\t\n\r\x1b\x7f\u{85}\u{202e}\u{2028}\u{feff}<>&\"'`=+-@;,|\\*_[]()#!~$ /.1aé漢🦀".chars();
    let letter = prop_oneof![3 => select(nasty.collect::<Vec<_>>()), 1 => any::<char>()];
    prop_oneof![
        vec(letter, 0..40).prop_map(|letters| letters.into_iter().collect::<String>()),
        select(vec!["", "a/b", "a/c", "floor", "ns", "count", "share", "ratio", "paired", "typical", "tlpi"])
            .prop_map(str::to_owned),
        "[a-z_/]{0,120}",
    ]
    .boxed()
}

fn number() -> BoxedStrategy<f64> {
    prop_oneof![4 => any::<f64>(), 2 => -1e4..1e4, 1 => select(vec![0.0, -0.0, f64::NAN, f64::MAX, f64::MIN_POSITIVE])]
        .boxed()
}

fn estimate() -> impl Strategy<Value = Estimate> {
    (number(), number(), number(), any::<bool>()).prop_map(|(value, low, high, extremes)| Estimate {
        value,
        low,
        high,
        extremes,
    })
}

fn quantity() -> impl Strategy<Value = Quantity> {
    (estimate(), text()).prop_map(|(estimate, unit)| Quantity { estimate, unit, unknown: Default::default() })
}

fn launch() -> impl Strategy<Value = LaunchRecord> {
    let first = prop_oneof![any::<i32>(), -1000..1000_i32];
    let count = || prop_oneof![Just(0), 0..100_u64, any::<u64>()];
    let histogram = option::of((first, vec(count(), 0..9)));
    let names = select(vec!["client_1", "client_2", "client_10", "load", "x"]).prop_map(str::to_owned);
    let tracks = btree_map(names, vec(number(), 0..30), 0..4);
    (histogram, count(), option::of(number()), btree_map(text(), number(), 0..3), tracks).prop_map(
        |(histogram, iterations, canary_ns, quantities, tracks)| LaunchRecord {
            tracks,
            histogram: histogram.map(|(first, counts)| Histogram { first, counts, ..Histogram::default() }),
            iterations,
            canary_ns,
            quantities,
            ..LaunchRecord::default()
        },
    )
}

/// An id that a view tells, with whatever numbers.
fn viewed() -> impl Strategy<Value = String> {
    let number = || prop_oneof![3 => 0..12_u32, 1 => any::<u32>()];
    let transport = select(vec!["unix_datagram", "futex_broadcast", "pipe", "x"]);
    let rest = select(vec!["", "/tick_10ms", "/tick_0ms", "/size_64", "/load_cpu", "/load_x/size_64"]);
    prop_oneof![
        (transport, select(vec!["same_cpu", "spread"]), number(), rest).prop_map(
            |(transport, place, clients, rest)| format!(
                "realtime_ipc/{transport}/{place}/clients_{clients}{rest}"
            )
        ),
        (select(vec!["semaphore/system_v", "semaphore/posix_named", "lock/none", "lock/x"]), number())
            .prop_map(|(lock, hold)| format!("{lock}/contended/processes_4/hold_us_{hold}/think_0")),
        (select(vec!["none", "coarse_fcntl", "fine_fcntl"]), number()).prop_map(|(lock, processes)| format!(
            "record_database/book/seek/{lock}/processes_{processes}/x"
        )),
    ]
}

/// Quantities that views look for.
const QUANTITIES: &[&str] = &[
    "time_per_operation",
    "fairness",
    "longest_wait",
    "owner_change_share",
    "lost_updates",
    "last_p50",
    "last_p99",
    "last_max",
    "latency_max",
    "client_service",
    "dispatch_load",
    "server_cpu",
    "reversed_share",
    "range_window",
];

fn evidence() -> impl Strategy<Value = Evidence> {
    let expected = prop_oneof![
        number().prop_map(Expectation::Exactly),
        (number(), number()).prop_map(|(at_least, at_most)| Expectation::Between { at_least, at_most })
    ];
    let kind = prop_oneof![Just("system_calls".to_owned()), text()];
    let claim = (kind, expected, option::of(number()), option::of(any::<bool>())).prop_map(
        |(claim, expected, observed, holds)| CheckedClaim {
            claim,
            expected,
            observed,
            holds,
            unknown: Default::default(),
        },
    );
    let verdict = select(vec![Verdict::Proved, Verdict::Contradicted, Verdict::NoClaim]);
    let counts = (any::<u32>(), any::<u32>(), any::<u64>());
    (
        verdict,
        vec(claim, 0..3),
        option::of(text()),
        btree_map(text(), number(), 0..3),
        option::of(text()),
        option::of(number()),
        counts,
    )
        .prop_map(|(verdict, claims, audit_method, system_calls, audit_missing, clean_share, counts)| {
            Evidence {
                verdict,
                claims,
                audit_method,
                system_calls,
                audit_missing,
                clean_share,
                launches: counts.0,
                void_launches: counts.1,
                void_batches: counts.2,
                ..Evidence::default()
            }
        })
}

fn figure() -> impl Strategy<Value = Figure> {
    let names = (vec(text(), 8), option::of(viewed())).prop_map(|(mut names, id)| {
        names[0] = id.unwrap_or_else(|| names[0].clone());
        names
    });
    let known = select(QUANTITIES.to_vec()).prop_map(str::to_owned);
    let quantities = btree_map(prop_oneof![text(), known], quantity(), 0..9);
    let status = select(vec![
        Status::Measured,
        Status::Measured,
        Status::Unsupported,
        Status::Failed,
        Status::Contradicted,
    ]);
    let marks = vec(select(vec![Mark::Noisy, Mark::Bimodal, Mark::NotConverged, Mark::NotRealTime]), 0..4);
    let modes = vec((number(), number()), 0..3);
    let said = (option::of(text()), option::of(text()), vec(text(), 0..3));
    (names, status, marks, quantities, modes, vec(launch(), 0..3), evidence(), said).prop_map(
        |(names, status, marks, quantities, modes, launches, evidence, said)| {
            let [id, family, title, operation, call_path, group, placement, headline] =
                names.try_into().unwrap();
            let modes = modes.into_iter();
            Figure {
                id,
                family,
                title,
                operation,
                operations_per_iteration: 0,
                call_path,
                group,
                placement,
                document: None,
                status,
                marks,
                headline,
                quantities,
                modes: modes
                    .map(|(value, share)| Mode { value, share, unknown: Default::default() })
                    .collect(),
                parameters: Default::default(),
                launches,
                evidence,
                why: said.0,
                remedy: said.1,
                remarks: said.2,
                unknown: Default::default(),
            }
        },
    )
}

fn pair() -> impl Strategy<Value = PairedValue> {
    (vec(text(), 4), option::of(number()), option::of(number()), option::of(number()), option::of(text()))
        .prop_map(|(names, value, low, high, why)| {
            let [of, to, quantity, unit] = names.try_into().unwrap();
            PairedValue { of, to, quantity, unit, value, low, high, why, unknown: Default::default() }
        })
}

fn reproduction() -> impl Strategy<Value = Reproduction> {
    let verdict = select(vec![Judgement::Holds, Judgement::DoesNotHold, Judgement::NotTestableHere]);
    let texts = (option::of(text()), option::of(text()), option::of(text()));
    let numbers = (option::of(number()), option::of(number()), option::of(estimate()));
    // Few names, so that tables have several rows and columns.
    let name = || prop_oneof![2 => select(vec!["a", "b", "1 000", "2 000", "clock", "coarse clock", "Figure 1, coarse, by nrec", "Figure 1, fine, by nrec"]).prop_map(str::to_owned), 1 => text()];
    let cell =
        (name(), name(), name()).prop_map(|(table, row, column)| oscost_results::Cell { table, row, column });
    let more = (option::of(verdict), option::of(cell));
    let names = (vec(text(), 4), any::<bool>()).prop_map(|(mut names, known)| {
        if known {
            names[0] = "apue".to_owned();
            names[2] = "s".to_owned();
        }
        names
    });
    (names, texts, numbers, more).prop_map(|(names, texts, numbers, (verdict, cell))| {
        let [document, place, unit, because] = names.try_into().unwrap();
        Reproduction {
            document,
            place,
            cell,
            statement: texts.0,
            published: numbers.0,
            unit,
            literal: numbers.1,
            figure_id: texts.1,
            quantity: texts.2,
            measured: numbers.2,
            verdict,
            because,
            unknown: Default::default(),
        }
    })
}

fn check() -> impl Strategy<Value = Check> {
    let state = select(vec![CheckState::Fine, CheckState::Disturbs, CheckState::Unknown]);
    (vec(text(), 3), state, option::of(text())).prop_map(|(names, state, remedy)| {
        let [check, says, matters] = names.try_into().unwrap();
        Check { check, state, says, matters, remedy, unknown: Default::default() }
    })
}

fn result() -> impl Strategy<Value = RunResult> {
    let parts = (
        vec(figure(), 0..5),
        vec(pair(), 0..4),
        vec(pair(), 0..3),
        vec(reproduction(), 0..9),
        vec(check(), 0..4),
    );
    let texts = (vec(text(), 6), option::of(text()), option::of(text()), vec(text(), 0..3));
    (parts, texts, option::of(number()), any::<bool>(), any::<u32>()).prop_map(
        |(parts, texts, step, partial, cpus)| {
            let [version, libc, cpu_model, kernel, started, format] = texts.0.try_into().unwrap();
            RunResult {
                format: if format.is_empty() { FORMAT.to_owned() } else { format },
                version: VERSION,
                partial,
                started,
                duration_ns: 0,
                note: texts.1,
                tool: Tool { version, libc, ..Tool::default() },
                machine: Machine { cpu_model, hypervisor: texts.2, cpus, ..Machine::default() },
                conditions: Conditions { kernel, clock_step_ns: step, ..Conditions::default() },
                plan: Plan::default(),
                figures: parts.0,
                ratios: parts.1,
                differences: parts.2,
                reproductions: parts.3,
                doctor: parts.4,
                warnings: texts.3,
                unknown: Default::default(),
            }
        },
    )
}

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

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_result_fits_a_page_in_ascii(result in result(), width in 0_usize..220, saved in option::of(text())) {
        let style = Style { width, unicode: false, colour: false };
        for shown in [
            harmless(|out| price_list(&result, saved.as_deref(), &style, out))?,
            harmless(|out| reproductions(&result, &style, out))?,
            harmless(|out| doctor(&result.doctor, &style, out))?,
        ] {
            prop_assert!(shown.is_ascii());
            for line in shown.lines() {
                prop_assert!(line.len() <= width.max(20), "{width}: {line:?}");
            }
        }
    }

    #[test]
    fn any_result_renders_in_unicode_and_colour(result in result(), width in 0_usize..220) {
        harmless(|out| price_list(&result, None, &Style { width, unicode: true, colour: false }, out))?;
        harmless(|out| reproductions(&result, &Style { width, unicode: true, colour: false }, out))?;
        let mut coloured = Vec::new();
        price_list(&result, None, &Style { width, unicode: true, colour: true }, &mut coloured).unwrap();
    }

    #[test]
    fn any_result_is_markdown_without_markup_from_data(result in result()) {
        for shown in [
            harmless(|out| price_list_markdown(&result, None, out))?,
            harmless(|out| reproductions_markdown(&result, out))?,
        ] {
            prop_assert!(!shown.contains('<'));
            // Each line of one table has as many cells as the line above it.
            let lines: Vec<&str> = shown.lines().collect();
            for two in lines.windows(2).filter(|two| two[0].starts_with('|') && two[1].starts_with('|')) {
                prop_assert_eq!(two[0].matches('|').count(), two[1].matches('|').count(), "{:?}", two);
            }
        }
    }

    #[test]
    fn any_two_results_are_compared(a in result(), b in result(), names in vec(text(), 2), width in 0_usize..220, cross_machine in any::<bool>()) {
        // A figure of the one in the other makes rows; machine and hypervisor of the one make verdicts.
        let mut b = b;
        b.figures.extend(a.figures.iter().step_by(2).cloned());
        if !cross_machine {
            b.machine = a.machine.clone();
        }
        let rules = Rules { cross_machine };
        let named = [Named { name: &names[0], result: &a }, Named { name: &names[1], result: &b }];
        let both = [compare(&named[0], &named[1], rules), compare(&named[0], &named[0], rules)];
        let thirteen = |side: usize| std::array::from_fn::<_, 13, _>(|_| Named { ..named[side] });
        let live = compare_live(&thirteen(0), &thirteen(1), rules);
        let style = Style { width, unicode: false, colour: false };
        for shown in [
            harmless(|out| comparison(&both[0], &style, out))?,
            harmless(|out| comparison(&live, &style, out))?,
            harmless(|out| matrix(&both, &style, out))?,
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

    #[test]
    fn any_result_is_a_page_without_markup_from_data(result in result(), name in text()) {
        let named = || Named { name: &name, result: &result };
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
            match (tag.strip_prefix('/'), tag.split([' ', '\n']).next().unwrap()) {
                (Some(end), _) => prop_assert_eq!(open.pop(), Some(end), "{}", body),
                (None, name) if empty.contains(&name) => {}
                (None, name) => open.push(name),
            }
        }
        // The script's own element ends after the cut.
        prop_assert_eq!(open, ["html", "body"]);
    }

    #[test]
    fn any_result_is_open_metrics_of_whole_lines(result in result(), name in text()) {
        let named = || Named { name: &name, result: &result };
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
    }

    #[test]
    fn any_result_is_csv_of_one_shape_and_no_formula(result in result()) {
        let shown = harmless(|out| price_list_csv(&result, out))?;
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
                let formula = cell.starts_with(['=', '+', '@']) || (cell.starts_with('-') && cell.parse::<f64>().is_err());
                prop_assert!(!formula, "{cell:?}");
            }
            rows.push(cells.len());
        }
        prop_assert!(rows.iter().all(|cells| *cells == rows[0]), "{rows:?}");
    }
}
