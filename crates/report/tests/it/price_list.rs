//! The reports of a realistic result: snapshots at several terminal widths, and rules that hold at every width.

use crate::fixture;
use crate::written::{Says, fits, flat, paged, style, written};

use oscost_report::{
    RowChoice, RowFormat, RowOrder, Style, doctor, numbers, price_list, price_list_markdown, reproductions,
    reproductions_markdown, rows_of,
};
use oscost_results::{Figure, Judgement, Mark, RemarkCode, Reproduction, RunResult, Status};

const SAVED: &str = "2026-11-20T23-14-05Z-9f2c41d0";

fn shown(result: &RunResult, style: Style) -> String {
    written(|out| price_list(result, Some(SAVED), RowChoice::default(), &style, out))
}

#[test]
fn the_price_list_at_several_widths() {
    for width in [60, 80, 100, 160] {
        insta::assert_snapshot!(format!("unicode_{width}"), shown(&fixture::result(), style(width, true)));
        insta::assert_snapshot!(format!("ascii_{width}"), shown(&fixture::result(), style(width, false)));
    }
}

#[test]
fn the_other_reports() {
    let result = fixture::result();
    for width in [80, 120] {
        let style = style(width, true);
        insta::assert_snapshot!(
            format!("reproductions_{width}"),
            written(|out| reproductions(&result, &style, out))
        );
        insta::assert_snapshot!(
            format!("doctor_{width}"),
            written(|out| doctor(&result.doctor, &style, out))
        );
    }
    insta::assert_snapshot!("markdown", written(|out| price_list_markdown(&result, Some(SAVED), out)));
    insta::assert_snapshot!("reproductions_markdown", written(|out| reproductions_markdown(&result, out)));
    let csv = written(|out| rows_of(&result, RowFormat::Csv, out));
    // Columns are only added, behind those that were there: docs/stability.md.
    assert!(csv.starts_with(
        "id,family,status,verdict,marks,quantity,headline,value,low,high,extremes,unit,operation,call_path,placement,\
         system_calls,launches,why,remedy,revision,judged,launch,host,boot_id,cpu_model,hypervisor,instance_type,kernel,libc,\
         microcode,result_id,time,file,partial\r\n"
    ));
    let row = "instrument/empty_loop,instrument,measured,unchecked,,floor,yes,0.272,0.2719,0.2722,no,ns,one iteration of an \
               empty loop,instruction,one_cpu,0,10,,,";
    assert!(csv.lines().any(|line| line.starts_with(row)), "{csv}");
}

#[test]
fn what_befell_a_run_is_seen_on_the_fullest_screen() {
    let mut result = fixture::result();
    result.warnings = vec!["of somebody else".to_owned(); 20];
    result.warnings.push(RemarkCode::Changed.with(&[&"the clock source", &"tsc", &"hpet"]));
    assert!(shown(&result, style(100, true)).contains("the clock source changed from tsc to hpet"));
}

#[test]
fn what_is_withheld_says_why_or_that_nobody_knows() {
    let mut result = fixture::result();
    shown(&result, style(160, false))
        .says("withheld: claims 1 system calls an operation, the audit counted 0.00");
    let figure = result.figures.iter_mut().find(|figure| figure.status == Status::Contradicted).unwrap();
    figure.why = None;
    shown(&result, style(160, false)).says("withheld: no reason is on record");
}

/// The lines of the rows: what is indented by two.
pub fn rows(shown: &str) -> Vec<&str> {
    shown.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")).collect()
}

#[test]
fn a_figure_has_one_line_with_its_price_or_its_state_at_every_width() {
    let result = fixture::result();
    for width in 40..=200 {
        for unicode in [true, false] {
            let shown = shown(&result, style(width, unicode));
            let rows = rows(&shown);
            assert_eq!(rows.len(), result.figures.len(), "{width}:\n{shown}");
            for figure in &result.figures {
                let name = figure.id[figure.family.len() + 1..].split('/').next().unwrap();
                let part = match figure.status {
                    Status::Measured => numbers::duration(figure.quantities[&figure.headline].estimate.value),
                    Status::Contradicted => "withheld".to_owned(),
                    other => other.name().to_owned(),
                };
                let row =
                    rows.iter().find(|row| row.contains(&name[..name.len().min(6)]) && row.contains(&part));
                assert!(row.is_some(), "{name}: no {part:?} at {width}:\n{shown}");
            }
        }
    }
}

#[test]
fn no_mark_is_left_out_without_a_sign_and_none_gives_way_to_a_note() {
    let mut result = fixture::result();
    let figure = result.figures.iter_mut().find(|figure| figure.id.ends_with("/cross_cpu")).unwrap();
    figure.marks = vec![Mark::Noisy, Mark::Bimodal];
    let floor = numbers::duration(figure.quantities[&figure.headline].estimate.value);
    for width in 40..=200 {
        let shown = shown(&result, style(width, false));
        let row = rows(&shown).into_iter().find(|row| row.contains(&floor)).unwrap();
        let whole = row.find("noisy; bimodal");
        assert!(whole.is_some() || row.ends_with("..."), "{width}: {row}");
        assert!(row.find(" asleep").is_none_or(|note| whole.is_some_and(|marks| marks < note)), "{row}");
    }
}

#[test]
fn no_line_is_wider_than_the_page_and_none_is_broken() {
    fits(|width| shown(&fixture::result(), style(width, true)));
}

/// A result of `count` figures in families of nine.
pub fn of_figures(count: usize) -> RunResult {
    let mut result = fixture::result();
    let monotonic = result.figures.iter().find(|figure| figure.id == "clock/monotonic").cloned().unwrap();
    let figure = |number: usize| {
        let family = format!("family_{}", number / 9);
        Figure { id: format!("{family}/{number}"), family, ..monotonic.clone() }
    };
    result.figures = (0..count).map(figure).collect();
    result.ratios.clear();
    result.differences.clear();
    result.warnings = vec!["one: and more".to_owned(), "two; and more".to_owned()];
    result
}

#[test]
fn a_run_of_the_core_is_one_screen() {
    for count in [1, 9, 24, 40, 200, 400] {
        let result = of_figures(count);
        for width in [60, 80, 100] {
            let shown = shown(&result, style(width, true));
            let (rows, lines) = (rows(&shown).len(), shown.lines().count());
            assert!(lines <= rows + 15 && lines <= 55, "{rows} rows, {lines} lines:\n{shown}");
            assert_eq!(rows, count.min(rows));
            assert!(rows == count || rows >= 25, "{rows} of {count}");
            let more = format!("{} more: oscost report --all", count - rows);
            assert_eq!(shown.contains(&more), count > rows, "{shown}");
        }
        let all = RowChoice { all: true, ..RowChoice::default() };
        let all = written(|out| price_list(&result, None, all, &style(100, true), out));
        assert_eq!(rows(&all).len(), count);
        let mut named = result.clone();
        named.plan.patterns = vec!["family_1".to_owned()];
        assert_eq!(rows(&shown(&named, style(100, true))).len(), count, "what was asked for is shown");
    }
}

#[test]
fn what_does_not_fit_is_dropped_from_the_right() {
    let result = fixture::result();
    let titles = |width| {
        let shown = shown(&result, style(width, false));
        let line = shown.lines().find(|line| line.contains(" floor ")).unwrap().to_owned();
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let all = ["floor", "+/-", "typical", "+/-", "~cycles", "calls"];
    let most = titles(160);
    let mut before = 0;
    for width in 40..=160 {
        let shown = titles(width);
        assert_eq!(shown[..], most[..shown.len()], "{width}");
        assert!(shown.len() >= before, "{width}");
        before = shown.len();
    }
    assert!(most.iter().all(|title| all.contains(&&**title)), "{most:?}");
}

#[test]
fn a_ratio_is_what_the_numbers_of_its_rows_say() {
    let mut result = fixture::result();
    // What the rounds say by themselves is another number: it is not shown beside these.
    result.ratios.iter_mut().for_each(|ratio| ratio.value = ratio.value.map(|value| value * 1.3));
    let shown = shown(&result, style(160, true));
    let number = |id: &str| {
        result.figures.iter().find(|figure| figure.id == id).unwrap().quantities["floor"].estimate.value
    };
    let expected = number("semaphore/system_v") / number("semaphore/posix_named");
    assert!(shown.contains(&format!("{expected:.0}x posix_named")), "{expected}: {shown}");
    let clock = number("clock/monotonic_syscall") / number("clock/monotonic");
    assert!(shown.contains(&format!("{clock:.1}x monotonic")), "{clock}: {shown}");
}

fn only(result: &RunResult, change: impl Fn(&mut Figure)) -> String {
    let mut result = result.clone();
    result.figures.retain(|figure| figure.id == "semaphore/system_v");
    result.figures.iter_mut().for_each(change);
    shown(&result, style(160, false))
}

/// The numbers that four new users saw and that cannot be: a negative price, calls of -0.06, a half-width of 1099 %.
#[test]
fn what_cannot_be_is_never_printed_and_the_row_says_why() {
    let result = fixture::result();
    let set = |figure: &mut Figure, name: &str, [low, value, high]: [f64; 3]| {
        let estimate = &mut figure.quantities.get_mut(name).unwrap().estimate;
        (estimate.low, estimate.value, estimate.high) = (low, value, high);
    };
    let negative = only(&result, |figure| set(figure, "floor", [-4.0, -3.2, -2.0]));
    negative.says("no price: it came out at nothing or below").lacks("-3.2");
    let typical = only(&result, |figure| set(figure, "typical", [-4.0, -3.2, -2.0]));
    typical.lacks("-3.2");
    let calls = only(&result, |figure| {
        figure.evidence.claims[0].observed = Some(-0.06);
        figure.evidence.system_calls.insert("semop".into(), -0.06);
    });
    calls.says("calls came out below 0").lacks("-0.06");
    let wide = only(&result, |figure| set(figure, "floor", [500.0, 885.0, 10_611.0]));
    wide.says("500 ns .. 10.6 us").lacks("1099");
    let scattered = only(&result, |figure| set(figure, "floor", [1.0, 885.0, 10_611.0]));
    scattered.says("too scattered for an interval");
    let none = only(&result, |figure| set(figure, "floor", [1.0, f64::NAN, 3.0]));
    none.says("no value: it is no finite number");
    let mut below = result.clone();
    below.differences[0].value = Some(-12.0);
    shown(&below, style(160, false)).says("nothing left without pipe_alone").lacks("-12");
}

/// A price across CPUs is that of a CPU that is awake; what a sleeping one adds stands beside it.
#[test]
fn what_a_sleeping_cpu_adds_stands_in_the_row() {
    let result = fixture::result();
    let row = |[low, value, high]: [f64; 3]| {
        only(&result, |figure| {
            let mut adds = figure.quantities["floor"].clone();
            (adds.estimate.low, adds.estimate.value, adds.estimate.high) = (low, value, high);
            figure.quantities.insert("asleep_adds".into(), adds);
        })
    };
    row([5150.0, 17_020.0, 56_240.0]).says("+17.0 us asleep (5.15 .. 56.2 us)");
    row([849.0, 849.0, 849.0]).says("+849 ns asleep (no interval)");
    for nothing in [[-3.0, -1.0, 1.0], [-630.0, 77.0, 377.0]] {
        row(nothing).lacks("asleep");
    }
}

/// The judged quantity is set off, one in a row at most.
#[test]
fn the_judged_quantity_is_marked() {
    let mut result = fixture::result();
    for (id, judged) in
        [("clock/monotonic", "typical"), ("semaphore/system_v", "floor"), ("syscall/getppid", "p5")]
    {
        result.figures.iter_mut().find(|figure| figure.id == id).unwrap().judged = judged.to_owned();
    }
    let shown = shown(&result, style(100, true));
    let row = |name: &str| rows(&shown).into_iter().find(|row| row.starts_with(name)).unwrap().to_owned();
    assert!(row("  monotonic ").contains("22.6 ns*"), "{shown}");
    assert!(row("  system_v ").contains("885 ns*"), "{shown}");
    assert!(!row("  getppid ").contains('*'), "{shown}");
    assert!(rows(&shown).iter().all(|row| row.matches('*').count() <= 1), "{shown}");
}

/// On a page it is bold and says so; cycles have no column there.
#[test]
fn a_page_calls_nothing_judged_but_what_is() {
    let page = |id: &str, judged: &str| {
        let mut figures = fixture::result().figures;
        figures.retain(|figure| figure.id == id);
        figures[0].judged = judged.to_owned();
        paged(&fixture::of(figures))
    };
    let monotonic = |judged| page("clock/monotonic", judged);
    let [floor, typical] = ["floor", "typical"].map(|it| format!("title=\"{it}, judged by compare\"><b>"));
    monotonic("typical").says(&typical).lacks("floor, judged");
    monotonic("floor").says(&floor).lacks("typical, judged");
    let cycles = "title=\"typical; compare judges the cycles\"><span>";
    monotonic("cycles").says(cycles).lacks(", judged by compare");
    monotonic("p5").lacks(", judged by compare");
    page("clock/step/gettimeofday", "step").says("title=\"step, judged by compare\"><b>");
    page("clock/step/gettimeofday", "equal_run").lacks(", judged by compare");
}

#[test]
fn rows_are_sorted_across_families() {
    let result = fixture::result();
    let by = |order| {
        let choice = RowChoice { order: Some(order), ..RowChoice::default() };
        written(|out| price_list(&result, None, choice, &style(160, true), out))
    };
    let names = |shown: &str| -> Vec<String> {
        rows(shown).iter().map(|row| row.split_whitespace().next().unwrap().to_owned()).collect()
    };
    let name = names(&by(RowOrder::Name));
    assert!(name.is_sorted() && name.contains(&"clock/monotonic".to_owned()), "{name:?}");
    assert_eq!(names(&by(RowOrder::Price))[0], "semaphore/system_v/contended/processes_4/hold_us_100");
    assert_eq!(names(&by(RowOrder::Interval))[0], "context_switch/pipe/cross_cpu");
    // What was found does not hang on the order of the rows.
    let found = |shown: &str| shown[shown.find("Findings").expect("findings")..].to_owned();
    let orders = [RowOrder::Name, RowOrder::Price, RowOrder::Interval].map(|order| found(&by(order)));
    assert!(orders.iter().all(|it| *it == orders[0]), "{orders:?}");
}

#[test]
fn everything_is_said_below_the_rows_where_that_is_asked_for() {
    let choice = RowChoice { verbose: true, ..RowChoice::default() };
    let shown = written(|out| price_list(&fixture::result(), None, choice, &style(100, true), out));
    shown.says("noisy: 18 % clean rounds");
    insta::assert_snapshot!("verbose_100", shown);

    let words = "the core ran up to 12 % slower in some launches (in 7 of 9 groups; its frequency, or a busy sibling). Floors \
                 that reached full speed are right; typical values may be that much too high";
    let mut result = fixture::result();
    result.warnings = vec![words.to_owned()];
    for (verbose, columns, whole) in [(true, 80, true), (false, 80, false), (false, 250, true)] {
        let choice = RowChoice { verbose, ..RowChoice::default() };
        let shown = written(|out| price_list(&result, None, choice, &style(columns, true), out));
        let flat = flat(&shown);
        assert_eq!(flat.contains(&format!("warning: {words}")), whole, "{columns}, {verbose}: {shown}");
    }
}

#[test]
fn ascii_is_ascii() {
    assert!(shown(&fixture::result(), style(100, false)).is_ascii());
}

#[test]
fn colour_adds_nothing_but_colour() {
    let result = fixture::result();
    let plain = shown(&result, style(100, true));
    let coloured = shown(&result, Style { colour: true, ..style(100, true) });
    assert!(!plain.contains('\u{1b}'));
    assert!(coloured.contains("\u{1b}[31mfailed\u{1b}[0m") && coloured.contains("\u{1b}[1m885 ns\u{1b}[0m"));
    insta::assert_snapshot!("colour_100", coloured.replace('\u{1b}', "ESC"));
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        stripped.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    stripped.push_str(rest);
    assert_eq!(stripped, plain);
}

#[test]
fn a_partial_result_says_so_first_and_warnings_stand_beside_the_trust() {
    let mut result = fixture::result();
    result.partial = true;
    result.note = Some("after the upgrade".to_owned());
    result.warnings = vec!["another run was measuring (--force)".to_owned()];
    result.figures.truncate(3);
    let shown = shown(&result, style(100, true));
    let (before, after) = shown.split_once(" floor ").unwrap();
    assert!(before.contains("partial: the run ended early"));
    assert!(before.contains("note: after the upgrade"));
    after.says("warning: another run was measuring (--force)");
}

#[test]
fn what_was_not_counted_is_said_once() {
    let mut result = fixture::result();
    result.figures.retain(|figure| figure.status == Status::Measured);
    for figure in &mut result.figures {
        figure.evidence.audit_missing = Some("seccomp and ptrace are refused".to_owned());
    }
    let all = shown(&result, style(100, true));
    assert_eq!(all.matches("seccomp and ptrace are refused").count(), 1);
    result.figures[0].evidence.audit_missing = None;
    let markdown = written(|out| price_list_markdown(&result, None, out));
    assert_eq!(markdown.matches("seccomp and ptrace are refused").count(), result.figures.len() - 1);
}

#[test]
fn an_empty_result_is_told_as_such() {
    let mut result = fixture::result();
    result.figures.clear();
    result.doctor.clear();
    result.reproductions.clear();
    let shown = shown(&result, style(100, true));
    shown.says("Nothing was measured.");
    shown.says("not examined; oscost doctor");
    let reproduced = written(|out| reproductions(&result, &style(100, true), out));
    assert_eq!(reproduced, "No founding document was reproduced in this run.\n");
}

#[test]
fn statements_of_ours_stand_apart_and_each_judgement_has_its_word() {
    let mut result = fixture::result();
    let row = result.reproductions.iter().find(|row| row.statement.is_some()).cloned().expect("a statement");
    let said = |words: &str, verdict: Judgement, ours: bool| Reproduction {
        statement: Some(words.into()),
        verdict: Some(verdict),
        ours,
        ..row.clone()
    };
    result.reproductions = vec![
        said("theirs", Judgement::HoldsInPart, false),
        said("a number", Judgement::ItsMachine, false),
        said("a single run", Judgement::NotJudged, false),
        said("between", Judgement::Unclear, false),
        said("of a later version", Judgement::Unknown, false),
        said("beside it", Judgement::Holds, true),
    ];
    let shown = written(|out| reproductions(&result, &style(200, true), out));
    for words in [
        "holds in part     \"theirs\"",
        "machine's figure  \"a number\"",
        "not judged        \"a single run\"",
    ] {
        shown.says(words);
    }
    shown.says(" beside it (").lacks("\"beside it\"");
    let tally = "5 statements: 1 holds in part, 1 unclear, 1 machine's figure, 1 not judged, 1 unknown. 1 sentence of ours beside \
                 them: 1 holds";
    assert!(shown.contains(tally), "{shown}");
}

#[test]
fn marks_for_how_a_figure_was_measured_say_what_it_was() {
    let mut result = fixture::result();
    let figure = result.figures.iter_mut().find(|figure| figure.status == Status::Measured).unwrap();
    figure.marks = vec![Mark::Shared, Mark::Interposed, Mark::Filtered, Mark::Reniced];
    let told = |result: &RunResult| {
        let choice = RowChoice { verbose: true, ..RowChoice::default() };
        let shown = written(|out| price_list(result, None, choice, &style(200, true), out));
        flat(&shown)
    };
    let mut launch = figure.launches.first().cloned().unwrap_or_default();
    launch.foreign_share = Some(0.02);
    let mut other = launch.clone();
    other.foreign_share = Some(0.34);
    other.circumstances.nice = Some(-5);
    other.circumstances.policy = Some("batch".into());
    other.circumstances.preload = Some(vec!["libfake.so".into()]);
    figure.launches = vec![launch, other];
    for words in [
        "shared: others had up to 34 % of the CPU",
        "interposed: libfake.so",
        "filtered: every call passes a seccomp filter",
        "reniced: nice -5, policy batch",
    ] {
        told(&result).says(words);
    }
    result.figures.iter_mut().for_each(|figure| figure.launches.clear());
    told(&result).says("shared").says("interposed").says("reniced");
}
