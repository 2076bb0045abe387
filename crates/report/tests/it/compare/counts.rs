//! Results of counts against one another, and results that cannot be compared.

use crate::written::{Says, fits, flat, paged, style, written};
use oscost_report::compare::incomparable;
use oscost_report::count::{Changes, CountVerdict, is_count};
use oscost_report::{Named, RowChoice, RowOrder, page, price_list};
use oscost_results::{
    Counted, Emulation, Estimate, Figure, FunctionNode, InstructionCount, Quantity, Repeats, RunResult,
    Status, outline_from_bytes, to_bytes,
};
use serde_json::Map;

use super::stored;

/// What an id of a result has: a count, or why not.
type Found<'a> = Result<u64, (Status, &'a str)>;

/// A result that counted these instructions of an iteration.
fn counted(ids: &[(&str, Found<'_>)]) -> RunResult {
    let mut result = stored();
    let template = result.figures[0].clone();
    let emulation = Emulation { emulator: "qemu 7.2".into(), memory_mib: 512, ..Emulation::default() };
    result.conditions.emulation = Some(emulation);
    let figure = |(id, found): &(&str, Found<'_>)| {
        let (id, headline) = ((*id).to_owned(), "instructions".to_owned());
        let mut figure = Figure { id, headline: headline.clone(), ..template.clone() };
        figure.quantities.clear();
        match *found {
            Ok(instructions) => {
                let value = instructions as f64;
                let estimate = Estimate { value, low: value, high: value, extremes: true };
                let quantity = Quantity { estimate, unit: "count".into(), unknown: Map::default() };
                figure.quantities.insert(headline, quantity);
                figure.count = Some(InstructionCount {
                    repeats: Repeats::Constant,
                    values: vec![Counted { instructions, times: 64 }],
                    boots: 2,
                    frame: 0,
                    why: None,
                    functions: Vec::new(),
                    unknown: Map::default(),
                });
            }
            Err((status, why)) => (figure.status, figure.why) = (status, Some(why.to_owned())),
        }
        figure
    };
    result.figures = ids.iter().map(figure).collect();
    result
}

#[test]
fn every_id_that_a_side_tried_has_its_row() {
    let failed = Err((Status::Failed, "it did not end"));
    let lacking = Err((Status::Unsupported, "no such call"));
    let before = counted(&[
        ("equal", Ok(100)),
        ("more", Ok(100)),
        ("most", Ok(100)),
        ("fewer", Ok(100)),
        ("failed", failed),
        ("first", Ok(50)),
        ("late", lacking),
        ("never", lacking),
    ]);
    let now = counted(&[
        ("equal", Ok(100)),
        ("more", Ok(103)),
        ("most", Ok(130)),
        ("fewer", Ok(90)),
        ("failed", Ok(5)),
        ("late", Ok(9)),
        ("second", failed),
        ("never", lacking),
    ]);
    let changes = Changes::between(&before, &now);
    let rows: Vec<(&str, CountVerdict, Option<f64>, Option<&str>)> = changes
        .rows
        .iter()
        .map(|row| (row.id.as_str(), row.verdict, row.difference(), row.why.as_deref()))
        .collect();
    assert_eq!(
        rows,
        [
            ("equal", CountVerdict::Equal, Some(0.0), None),
            ("more", CountVerdict::More, Some(3.0), None),
            ("most", CountVerdict::More, Some(30.0), None),
            ("fewer", CountVerdict::Fewer, Some(-10.0), None),
            ("failed", CountVerdict::Unclear, None, Some("it did not end")),
            ("first", CountVerdict::Unclear, None, Some("only the first result has it")),
            ("late", CountVerdict::Unclear, None, Some("only the second result has it")),
            ("second", CountVerdict::Unclear, None, Some("only the second result has it")),
        ]
    );
    let sides: Vec<(Option<f64>, Option<f64>)> =
        changes.rows[4..7].iter().map(|row| (row.before, row.now)).collect();
    assert_eq!(sides, [(None, Some(5.0)), (Some(50.0), None), (None, Some(9.0))]);
    let more: Vec<&str> = changes.of(CountVerdict::More).iter().map(|row| row.id.as_str()).collect();
    assert_eq!(more, ["most", "more"], "the largest difference first");
    assert_eq!(changes.differing, []);
    let ids = [("none", failed), ("varies", Ok(100))];
    let [before, mut now] = [counted(&ids), counted(&ids)];
    now.figures[1].quantities.values_mut().for_each(|quantity| quantity.estimate.value += 0.5);
    now.figures[1].count.as_mut().unwrap().repeats = Repeats::Varies;
    let changes = Changes::between(&before, &now);
    let unclear: Vec<&str> = changes.of(CountVerdict::Unclear).iter().map(|row| row.id.as_str()).collect();
    assert_eq!(unclear, ["varies", "none"], "what has no difference comes last");
}

/// Its revision was never looked at, and what the method added was called more.
#[test]
fn counts_of_two_methods_are_not_held_against_each_other() {
    let (before, mut now) = (counted(&[("syscall/x", Ok(311))]), counted(&[("syscall/x", Ok(325))]));
    now.figures[0].revision = 2;
    let changes = Changes::between(&before, &now);
    let row = &changes.rows[0];
    let why = "its method changed between revisions 1 and 2";
    assert_eq!((row.verdict, row.why.as_deref()), (CountVerdict::Unclear, Some(why)));
    assert!(row.functions.is_empty() && !changes.exceeds(0));
    let failed = counted(&[("syscall/x", Err((Status::Failed, "it did not end")))]);
    let why = Changes::between(&failed, &now).rows[0].why.clone();
    assert_eq!(why.as_deref(), Some("it did not end"), "what has no count has no method either");
}

/// A count has no launches: held against another one as prices are, no figure was measured in both.
#[test]
fn a_page_of_two_counts_says_what_became_more() {
    let shown = |before: &RunResult, now: &RunResult| {
        let named = [Named { name: "old", result: before }, Named { name: "new", result: now }];
        let page = written(|out| page(&named, None, out));
        page.lacks("No figure was measured");
        page
    };
    let (before, now) = (counted(&[("syscall/x", Ok(311))]), counted(&[("syscall/x", Ok(325))]));
    let differs = shown(&before, &now);
    differs.says("<h1>Instructions: 1 more, 0 fewer, 0 equal, 0 unclear</h1>");
    differs.says("old \u{2192} new").says("+14").lacks("not compared");
    let failed = counted(&[("syscall/x", Err((Status::Failed, "it did not end")))]);
    shown(&failed, &now).says("0 equal, 1 unclear</h1>").says("it did not end");
    let mut elsewhere = now.clone();
    elsewhere.machine.architecture = "aarch64".into();
    shown(&before, &elsewhere).says("old is not compared: instructions of another architecture");
    shown(&stored(), &now).says("old is not compared: counts of instructions are not times");
    shown(&now, &stored()).says("old is not compared: counts of instructions are not times");
}

/// They were prices of nothing, in a column that was called floor.
#[test]
fn a_page_of_a_count_says_what_was_counted() {
    let told = |found: &[(&str, Found<'_>)]| {
        let mut result = counted(found);
        result.reproductions.clear();
        paged(&result)
    };
    let two = told(&[("syscall/x", Ok(311)), ("syscall/y", Ok(291))]);
    two.says("<h1>Instructions of one operation: 291 for syscall/y to 311 for syscall/x</h1>");
    two.says("<span class=\"num\">instructions</span>").lacks(">floor</span>").lacks("<b>floor</b>");
    told(&[("syscall/x", Ok(311))]).says("<h1>Instructions of one operation: 311 for syscall/x</h1>");
    told(&[("syscall/x", Err((Status::Failed, "it did not end")))]).says("<h1>No instructions were counted");
    paged(&stored()).says("<span class=\"num\">floor</span>");
}

/// One result said that changes under 2 % are noise in its list, and under 22 % on its page: rows differ, runs do not.
#[test]
fn how_much_is_noise_is_one_number_of_a_result() {
    let mut result = stored();
    result.doctor.clear();
    let noise = |text: &str| {
        let told = flat(text).split_once("changes under ").map(|(_, rest)| rest.to_owned());
        told.and_then(|it| Some(it.split_once(" %")?.0.to_owned()))
    };
    let list = |result: &RunResult, all, order| {
        let choice = RowChoice { all, order, ..RowChoice::default() };
        written(|out| price_list(result, None, choice, &style(200, false), out))
    };
    let first = noise(&list(&result, false, None));
    assert!(first.is_some(), "{}", list(&result, false, None));
    assert_eq!(noise(&list(&result, true, Some(RowOrder::Price))), first);
    assert_eq!(noise(&paged(&result)), first);
    // Nothing but tables is left.
    result.figures.iter_mut().for_each(|figure| figure.family = "other".to_owned());
    assert_eq!(noise(&list(&result, false, None)), first);
}

/// A line a figure at every width: what moved stands behind it as far as it fits.
#[test]
fn the_screens_of_counts() {
    let mut before = counted(&[
        ("syscall/getpid", Ok(311)),
        ("syscall/read1", Ok(700)),
        ("semaphore/posix_queue/handover/same_cpu", Ok(4000)),
        ("syscall/stat", Err((Status::Failed, "the guest ended within the call"))),
    ]);
    let mut now = counted(&[
        ("syscall/getpid", Ok(325)),
        ("syscall/read1", Ok(700)),
        ("semaphore/posix_queue/handover/same_cpu", Ok(3900)),
        ("syscall/stat", Ok(1200)),
    ]);
    let functions = |names: &[&str; 4], own: [u64; 4]| {
        let node = |(name, own): (&&str, u64)| FunctionNode {
            name: (*name).to_owned(),
            place: "kernel".to_owned(),
            depth: 1,
            calls: 1,
            own,
            repeated: 0,
            unknown: Map::default(),
        };
        names.iter().zip(own).map(node).collect()
    };
    let names = ["entry_SYSCALL_64", "do_syscall_64", "__x64_sys_getpid", "__task_pid_nr_ns"];
    for (result, own) in [(&mut before, [80, 120, 20, 91]), (&mut now, [84, 125, 22, 94])] {
        result.figures[0].count.as_mut().unwrap().functions = functions(&names, own);
    }
    now.conditions.kernel = "Linux 7.0.1".into();
    let changes = Changes::between(&before, &now);
    let shown = |width| written(|out| changes.text(&style(width, false), out));
    for width in [60, 80, 100, 160] {
        insta::assert_snapshot!(format!("counts_{width}"), shown(width));
    }
    fits(shown);
    let whole = written(|out| changes.text_whole(&style(60, false), out));
    assert!(names.iter().all(|name| whole.contains(name)), "{whole}");
}

/// A hand-over is half an iteration: its functions stood there with twice what they added to it.
#[test]
fn the_changes_of_functions_add_up_to_the_difference() {
    let with = |value: u64, own: u64| {
        let mut result = counted(&[("semaphore/x/handover", Ok(value))]);
        let figure = &mut result.figures[0];
        figure.operations_per_iteration = 2;
        figure.count.as_mut().unwrap().functions = vec![FunctionNode {
            name: "schedule".to_owned(),
            place: "kernel".to_owned(),
            depth: 1,
            calls: 2,
            own,
            repeated: 0,
            unknown: Map::default(),
        }];
        result
    };
    let changes = Changes::between(&with(100, 200), &with(107, 214));
    let row = &changes.rows[0];
    let sum: f64 = row.functions.iter().map(|(_, before, now)| now - before).sum();
    assert_eq!((row.difference(), sum), (Some(7.0), 7.0));
    let shown = written(|out| changes.text_whole(&style(100, false), out));
    assert!(shown.contains("schedule +7"), "{shown}");
}

#[test]
fn what_differs_between_two_guests_is_named() {
    let (before, mut now) = (counted(&[]), counted(&[]));
    now.tool.build_id = "another".into();
    now.conditions.kernel = "Linux 99".into();
    now.conditions.emulation =
        Some(Emulation { emulator: "qemu 8".into(), memory_mib: 1024, ..Emulation::default() });
    let differing = Changes::between(&before, &now).differing;
    let names: Vec<&str> = differing.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names, ["kernel", "emulator", "memory", "program"]);
    let told = |index: usize| (differing[index].1.as_str(), differing[index].2.as_str());
    assert_eq!((told(1), told(2)), (("qemu 7.2", "qemu 8"), ("512 MiB", "1024 MiB")));
}

#[test]
fn results_that_have_nothing_to_say_of_each_other_are_told_apart() {
    let a = stored();
    assert!(is_count(&counted(&[])) && !is_count(&a));
    assert_eq!(incomparable(&a, &counted(&[])), Some("counts of instructions are not times"));
    assert_eq!(incomparable(&a, &a), None);
    let with = |change: &dyn Fn(&mut RunResult)| {
        let mut b = stored();
        change(&mut b);
        incomparable(&a, &b)
    };
    assert_eq!(with(&|b| b.machine.cpu_model = "another".into()), Some("of another machine"));
    assert_eq!(with(&|b| b.estimators = 1), Some("made by another method"));
    // In outline they say the same of themselves.
    let outline = |result: &RunResult| outline_from_bytes(&to_bytes(result).unwrap()).unwrap();
    let bill = RunResult { bill: Some(Box::default()), ..stored() };
    for other in [counted(&[]), bill, stored()] {
        assert_eq!(incomparable(&outline(&a), &outline(&other)), incomparable(&a, &other));
    }
}
