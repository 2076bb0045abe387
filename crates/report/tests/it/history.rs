//! The list of a store's runs, and each figure over them.

use crate::fixture;
use crate::written::{Says, flat, style, written};

use oscost_report::{Named, history, history_whole, page_of_runs};
use oscost_results::{Outline, OutlineFigure, RunResult, Status, outline_from_bytes, to_bytes};

fn outline(factor: f64, note: Option<&str>) -> Outline {
    let mut result: RunResult = fixture::result();
    result.note = note.map(str::to_owned);
    let figure = result.figures.iter_mut().find(|figure| figure.id == "clock/monotonic").unwrap();
    fixture::scale(figure, factor);
    outline_from_bytes(&to_bytes(&result).unwrap()).unwrap()
}

/// Runs by their names: run-0, run-1, and so on.
fn named(runs: impl IntoIterator<Item = Outline>) -> Vec<(String, Outline)> {
    runs.into_iter().enumerate().map(|(at, run)| (format!("run-{at}"), run)).collect()
}

fn shown(runs: &[(String, Outline)], width: usize, unicode: bool) -> String {
    written(|out| history_whole(runs, &style(width, unicode), out))
}

/// At any width a run and a figure have a line each, and of many runs the newest are listed.
#[test]
fn one_line_a_figure_and_one_screen() {
    let runs = named((0..100).map(|run| outline(1.0 + f64::from(run), None)));
    let at = |width| written(|out| history(&runs, &style(width, false), out));
    let figures = runs[0].1.figures.iter().filter(|figure| figure.quoted().is_some()).count();
    for width in [40, 60, 80, 100, 160] {
        let text = at(width);
        assert!(text.lines().all(|line| line.len() <= width), "{text}");
        // Title, how many are older, the newest runs, titles of columns, figures, a blank, the answer in full.
        let answer = text.lines().rev().take_while(|line| !line.is_empty()).count();
        assert_eq!(text.lines().count(), 2 + 12 + 1 + figures + 1 + answer, "{text}");
        flat(&text).says("range of all runs").says("from low to high; --verbose: intervals");
        text.says("run-99  ").lacks("run-87 ");
    }
    let few = |count: usize| written(|out| history(&runs[..count], &style(80, false), out));
    few(13).says("1 older ones");
    few(12).lacks("older ones");
    let text = at(100);
    let strip = text.lines().find(|line| line.starts_with("  clock/monotonic ")).unwrap();
    strip.says("@@ ").says("22.2 ns .. 2.22 us");
}

#[test]
fn a_strip_rises_where_the_figure_does() {
    let note = Some("after the update");
    let runs = named([outline(1.0, None), outline(1.5, note), outline(2.0, None)]);
    let text = shown(&runs, 100, true);
    let strip = text.lines().find(|line| line.trim_start().starts_with("clock/monotonic ")).unwrap();
    strip.says("\u{2581}\u{2584}\u{2588}").says("22.2 .. 44.4 ns");
    let still = text.lines().find(|line| line.trim_start().starts_with("syscall/getppid ")).unwrap();
    still.says("throughout");
    text.says("run-1").says("after the update");
    // The machine is said where it changes, not in every line.
    assert_eq!(text.matches("EPYC").count(), 1, "{text}");
    assert!(shown(&runs, 60, false).lines().all(|line| line.is_ascii() && line.len() <= 60));
}

#[test]
fn wide_intervals_are_told_run_by_run() {
    let mut runs = named((0..4).map(|_| outline(1.0, None)));
    let figure = |outline: &mut Outline, id: &str, half: f64, extremes: bool| {
        let figure = outline.figures.iter_mut().find(|figure| figure.id == id).unwrap();
        let floor = figure.quantities.get_mut("floor").unwrap();
        let value = floor.value.unwrap();
        (floor.low, floor.high, floor.extremes) =
            (Some(value * (1.0 - half)), Some(value * (1.0 + half)), extremes);
    };
    figure(&mut runs[1].1, "clock/monotonic", 0.034, false);
    figure(&mut runs[2].1, "clock/monotonic", 0.5, false);
    figure(&mut runs[3].1, "clock/monotonic", 0.5, true);
    let text = shown(&runs, 100, true);
    let mut lines = text.lines().skip_while(|line| !line.trim_start().starts_with("clock/monotonic "));
    let column = |line: &str, of: &str| line[..line.find(of).unwrap()].chars().count();
    let strip = column(lines.next().unwrap(), "\u{2581}\u{2581}\u{2581}\u{2581}");
    let below = lines.next().unwrap();
    assert_eq!((below.trim(), column(below, "149?")), ("149?", strip), "{text}");
    assert!(
        lines.next().unwrap().trim_start().starts_with("clock/monotonic_syscall"),
        "a narrow one needs no line"
    );
}

#[test]
fn a_line_has_room_for_the_newest_runs() {
    let runs = named((0..200).map(|run| outline(if run < 150 { 2.0 } else { 1.0 }, None)));
    let text = shown(&runs, 40, false);
    assert!(text.replace("\n ", "").contains("the newest 34 runs"), "{text}");
    let strip = text.lines().skip_while(|line| line.trim() != "clock/monotonic").nth(1).unwrap();
    // All of them from after the change: the figure has not moved since.
    assert_eq!(strip.trim(), ".".repeat(34));
}

/// A figure of 26 runs had the range of the two that had room on this terminal, and a figure of older ones alone was left out.
#[test]
fn ranges_and_figures_are_those_of_all_runs_at_any_width() {
    let newest = outline(1.0, None);
    let mut without = newest.clone();
    without.figures.retain(|figure| figure.id != "clock/monotonic");
    let older = [outline(1.0, None), outline(2.0, None)];
    for newest in [newest, without] {
        let runs = named(older.iter().cloned().chain(std::iter::repeat_n(newest, 40)));
        for width in [60, 100, 160] {
            let lines = written(|out| history(&runs, &style(width, false), out));
            for text in [lines, shown(&runs, width, false)] {
                flat(&text).says("22.2 .. 44.4 ns").says("clock/monotonic ");
            }
        }
    }
}

/// Three hundred lines said "0 figures, bill", and no command could be given for any of them.
#[test]
fn a_run_is_told_by_what_it_is() {
    let mut bill = fixture::of(Vec::new());
    bill.bill = Some(Box::new(oscost_results::bill::Bill {
        program: ["./pipes", "-n\u{1b}", "5"].map(str::to_owned).to_vec(),
        ..Default::default()
    }));
    bill.note = Some("before the change".to_owned());
    let bill = outline_from_bytes(&to_bytes(&bill).unwrap()).unwrap();
    let mut document = outline(1.0, None);
    document.documents.insert("context-switch".to_owned());
    let mut runs = named([outline(1.0, None), bill, document]);
    runs[0].1.partial = true;
    let whole = [100, 60].map(|width| shown(&runs, width, false));
    for text in whole.into_iter().chain([written(|out| history(&runs, &style(100, false), out))]) {
        text.says("bill of ./pipes -n\\u{1b} 5").says("before the change").says(", document 000, 003, 004");
        assert_eq!(text.matches(", document 000, 003, partial").count(), 1, "{text}");
        let columns = runs.iter().map(|(name, _)| {
            let line = text.lines().find(|line| line.trim_start().starts_with(&**name)).unwrap();
            line[2 + name.len()..].find(|letter| letter != ' ')
        });
        assert!(text.lines().any(|line| line.trim_start().starts_with("run-1  bill")), "{text}");
        assert!(columns.collect::<Vec<_>>().windows(2).all(|two| two[0] == two[1]), "{text}");
    }
}

/// Newer runs that had no number of the figure took the room of those that had one, and the advice led nowhere.
#[test]
fn a_history_of_one_id_has_room_for_the_runs_that_have_a_number_of_it() {
    type Change = fn(&mut OutlineFigure);
    let changes: [Change; 2] = [
        |figure| figure.status = Status::Failed,
        |figure| figure.quantities.values_mut().for_each(|it| it.unit = "instructions".into()),
    ];
    for change in changes {
        let mut newest = outline(1.0, None);
        newest.figures.iter_mut().filter(|figure| figure.id == "clock/monotonic").for_each(change);
        let older = [outline(1.0, None), outline(2.0, None)];
        let mut runs = named(older.into_iter().chain(std::iter::repeat_n(newest, 20)));
        let both = |runs: &[(String, Outline)]| {
            let lines = written(|out| history(runs, &style(100, false), out));
            // So wide that either has room for 20 runs.
            [lines, shown(runs, 26, false)].map(|text| flat(&text))
        };
        // The two have no room for their signs.
        both(&runs).iter().for_each(|text| _ = text.says("22.2 .. 44.4 ns").lacks(".@"));
        runs.iter_mut().for_each(|(_, run)| run.figures.retain(|figure| figure.id == "clock/monotonic"));
        for text in both(&runs) {
            text.says("22.2 .. 44.4 ns").says(".@");
        }
    }
}

#[test]
fn hostile_names_and_notes_obey_nobody() {
    let note = "\u{1b}[2J\u{202e}\r\n<script>";
    let mut runs = vec![(note.to_owned(), outline(1.0, Some(note))), ("b".to_owned(), outline(1.1, None))];
    runs[0].1.machine.cpu_model = note.into();
    runs[0].1.figures[0].id = note.into();
    let text = shown(&runs, 80, true);
    assert!(!text.contains(|c: char| c.is_control() && c != '\n') && !text.contains('\u{202e}'), "{text}");
}

#[test]
fn one_run_has_no_history() {
    assert!(
        shown(&[("only".to_owned(), outline(1.0, None))], 80, true)
            .contains("No figure was measured in two runs")
    );
}

/// Two runs with times of a figure, and two with its instructions in between.
fn times_and_instructions() -> Vec<(String, Outline)> {
    let counted = |factor| {
        let mut outline = outline(factor, None);
        for figure in outline.figures.iter_mut().filter(|figure| figure.id == "clock/monotonic") {
            figure.quantities.values_mut().for_each(|quantity| quantity.unit = "instructions".into());
        }
        outline
    };
    named([outline(1.0, None), counted(10.0), outline(2.0, None), counted(10.0)])
}

/// A store holds counts beside times: of one id they are two lines.
#[test]
fn instructions_and_times_are_two_figures() {
    let runs = times_and_instructions();
    let text = shown(&runs, 100, true);
    let lines = text.lines().filter(|line| line.trim_start().starts_with("clock/monotonic "));
    let units: Vec<bool> = lines.map(|line| line.contains("instructions")).collect();
    assert_eq!(units, [false, true], "{text}");
}

/// A machine on which two versions of the program ran is one system.
#[test]
fn a_system_is_a_processor_and_a_kernel() {
    let heading = |change: &dyn Fn(&mut Outline)| {
        let mut runs = named((0..3).map(|_| outline(1.0, None)));
        change(&mut runs[0].1);
        let newest = fixture::result();
        let page = written(|out| page_of_runs(&runs, &[Named { name: "run-2", result: &newest }], None, out));
        page.split("<h1").nth(1).unwrap().split("</h1>").next().unwrap().to_owned()
    };
    heading(&|run| run.tool.version = "0.9.9".to_owned()).says("3 runs: ").lacks(" systems: ");
    heading(&|run| run.conditions.kernel = "Linux 99".to_owned()).says("3 runs of 2 systems: ");
    heading(&|run| run.machine.cpu_model = "another".to_owned()).says("3 runs of 2 systems: ");
}

/// On a page they are two pictures, and only that of the unit that the newest run has leads to its receipt.
#[test]
fn instructions_and_times_have_a_picture_each() {
    let newest = fixture::result();
    let whole = ["run-2", "run-3"].map(|name| Named { name, result: &newest });
    let page = written(|out| page_of_runs(&times_and_instructions(), &whole, None, out));
    let pictures = page.split("<li><span class=\"name\">").filter_map(|it| it.split("</li>").next());
    let own: Vec<&str> =
        pictures.filter(|it| it.contains("aria-label=\"clock/monotonic over the runs: ")).collect();
    let told = own.iter().map(|it| (it.contains("instructions"), it.starts_with("<a href=")));
    assert_eq!(told.collect::<Vec<_>>(), [(false, true), (true, false)], "{own:?}");
    own[0].says("22.2 .. 44.4 ns, last 44.4 ns");
}

/// What fits on a line stands on it, and what does not stands below it, whole.
#[test]
fn a_run_and_a_figure_have_one_line_wherever_it_fits() {
    let mut runs = named([outline(1.0, Some("a note")), outline(2.0, None)]);
    for figure in runs.iter_mut().flat_map(|(_, run)| &mut run.figures) {
        for it in figure.quantities.values_mut() {
            (it.low, it.high) = (it.value.map(|value| value * 0.966), it.value.map(|value| value * 1.034));
        }
    }
    let wide = shown(&runs, 300, false);
    let line = |start: &str| wide.lines().find(|line| line.starts_with(start)).unwrap();
    let (run, figure) = (line("  run-0  "), line("  clock/monotonic  "));
    let strips = wide.lines().filter_map(|line| line.find("  ..  ").or(line.find("  .@  ")));
    let longest = runs[0].1.figures.iter().filter(|it| it.quoted().is_some()).map(|it| it.id.len()).max();
    assert!(
        strips.clone().count() > 5 && strips.clone().all(|at| Some(at) == longest.map(|it| it + 2)),
        "{wide}"
    );
    let short = run.split("  a note; ").next().unwrap();
    assert!(short.len() + 20 < run.len() && figure.contains("  .@  22.2 .. 44.4 ns; last"), "{wide}");
    for width in 26..=200 {
        let text = shown(&runs, width, false);
        let has = |line: &str| text.lines().any(|it| it == line);
        assert_eq!(has(run), run.len() <= width, "{width}: {text}");
        assert_eq!(has(short), (short.len()..run.len()).contains(&width), "{width}: {text}");
        assert_eq!(has("  run-0"), width < short.len(), "{width}: {text}");
        assert_eq!(has(figure), figure.len() <= width, "{width}: {text}");
        assert_eq!(has("  clock/monotonic"), width < figure.len(), "{width}: {text}");
        let mut lines = text.lines().skip_while(|line| !line.contains(".@"));
        let strip = lines.next().unwrap();
        let column = if figure.len() <= width { figure.find(".@") } else { Some(6) };
        assert_eq!((strip.find(".@"), lines.next().unwrap().find("44")), (column, column), "{width}: {text}");
        let place = run.split("  a note").nth(1).unwrap();
        flat(&text).says(&flat(&format!("a note{}", if run.len() <= width { place } else { "" })));
    }
}

/// A sign a run as far as there is room, and nothing is said of newer runs where all have one.
#[test]
fn a_sign_a_run_where_all_have_room() {
    let lines = |runs: &[(String, Outline)]| written(|out| history(runs, &style(80, false), out));
    let runs = named((0..17).map(|run| outline(1.0 + f64::from(run), None)));
    let of = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("  clock/monotonic ")).unwrap();
        line.split("  ").find(|part| part.ends_with('@')).map(|signs| signs.trim().len())
    };
    let (all, cut) = (lines(&runs[..16]), lines(&runs));
    assert_eq!((of(&all), of(&cut)), (Some(16), Some(16)), "a fifth of the page");
    flat(&all).lacks("the newest").says("one sign a run that measured it, from low to high");
    flat(&cut).says("one sign a run that measured it, the newest 16, from low to high");
    let whole = |runs| flat(&shown(runs, 23, false));
    whole(&runs).says("measured it, from the lowest");
    flat(&shown(&runs, 22, false)).says("measured it, the newest 16 runs, from the lowest");
    // Of one id alone the runs that lack it take no room where there is none to spare.
    let only = |count: usize| {
        let mut runs = named((0..count).map(|run| outline(if run == 0 { 1.0 } else { 2.0 }, None)));
        for (at, (_, run)) in runs.iter_mut().enumerate() {
            run.figures.retain(|figure| figure.id == "clock/monotonic");
            let figure = run.figures.iter_mut().filter(|_| (1..count - 1).contains(&at));
            figure.for_each(|figure| figure.status = Status::Failed);
        }
        lines(&runs)
    };
    only(16).says(&format!(" .{}@ ", " ".repeat(14)));
    only(17).says(" .@ ");
    // Another revision is another method.
    let mut revised = named((0..4).map(|run| outline(1.0 + f64::from(run), None)));
    for (_, run) in &mut revised[1..3] {
        run.figures.iter_mut().for_each(|figure| figure.revision += 1);
    }
    flat(&lines(&revised)).says("clock/monotonic .@ 44.4 .. 66.6 ns").lacks("22.2");
}

/// A program of a few words lines up with what other runs are, and one of many does not push them away.
#[test]
fn a_long_program_widens_no_column() {
    let note = |letters: usize| {
        let mut bill = fixture::of(Vec::new());
        bill.bill = Some(Box::new(oscost_results::bill::Bill {
            program: vec!["x".repeat(letters - "bill of ".len())],
            ..Default::default()
        }));
        let bill = outline_from_bytes(&to_bytes(&bill).unwrap()).unwrap();
        let runs = named([outline(1.0, Some("a note")), bill, outline(1.0, None)]);
        let at = |text: String| text.lines().find_map(|line| line.find("a note"));
        [at(shown(&runs, 300, false)), at(written(|out| history(&runs, &style(300, false), out)))]
    };
    let short = note(20);
    let widest = "  run-0  ".len() + 48 + 2;
    assert!(short.iter().all(|it| it.is_some_and(|at| at < widest)), "{short:?}");
    assert_eq!((note(49), note(400)), (short, short));
    assert!(note(48).iter().all(|it| *it == Some(widest) || *it == Some(widest + 1)), "{:?}", note(48));
}
