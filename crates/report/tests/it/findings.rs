//! What a screen says by itself: findings from figures that carry them, and why a row or a finding is there or not.

use crate::fixture;
use crate::written::{Says, paged, style, written};

use oscost_report::{Named, RowChoice, count, page, price_list, price_list_markdown};
use oscost_results::{
    CheckState, Emulation, Figure, Histogram, InstructionCount, Mark, Repeats, RunResult, Status,
};

fn shown(result: &RunResult, width: usize) -> String {
    written(|out| price_list(result, None, RowChoice::default(), &style(width, false), out))
}

fn rows(shown: &str) -> Vec<&str> {
    shown.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")).collect()
}

/// A quiet run of two semaphores and a pipe, of which each rule has something to say.
fn telling() -> RunResult {
    let mut result = fixture::result();
    result.figures.retain(|figure| {
        [
            "semaphore/posix_named",
            "semaphore/system_v",
            "context_switch/pipe/same_cpu",
            "context_switch/pipe/cross_cpu",
        ]
        .contains(&&*figure.id)
    });
    for figure in &mut result.figures {
        figure.marks.clear();
        for quantity in figure.quantities.values_mut() {
            let estimate = &mut quantity.estimate;
            (estimate.low, estimate.high) = (estimate.value * 0.98, estimate.value * 1.02);
        }
    }
    result
}

fn findings(result: &RunResult) -> String {
    let shown = shown(result, 120);
    let from = shown.find("Findings").unwrap();
    shown[from..shown.find("Trust").unwrap()].to_owned()
}

#[test]
fn findings_are_computed_from_figures_and_name_them() {
    let found = findings(&telling());
    found.says("semaphore/system_v costs 163x posix_named (885 ns, 5.44 ns)");
    found.says("another CPU makes context_switch/pipe cost 5.9x (14.4 us, 2.46 us; typical)");
    let mut dearer = telling();
    let typical = dearer.figures.iter_mut().find(|it| it.id.ends_with("cross_cpu")).unwrap();
    let typical = &mut typical.quantities.get_mut("typical").unwrap().estimate;
    (typical.low, typical.value, typical.high) = (28_900.0, 29_000.0, 29_100.0);
    assert!(findings(&dearer).contains("cost 12x"), "{}", findings(&dearer));
}

#[test]
fn no_finding_rests_on_a_figure_that_cannot_carry_it() {
    type Spoil = fn(&mut Figure);
    let spoils: [Spoil; 6] = [
        |figure| figure.marks = vec![Mark::Interposed],
        |figure| figure.marks = vec![Mark::Filtered],
        |figure| figure.marks = vec![Mark::Reniced],
        |figure| figure.status = Status::Contradicted,
        |figure| figure.evidence.verdict = oscost_results::Verdict::Unchecked,
        |figure| figure.quantities.get_mut("floor").unwrap().estimate.high *= 2.0,
    ];
    for (index, spoil) in spoils.into_iter().enumerate() {
        for id in ["semaphore/system_v", "semaphore/posix_named"] {
            let mut result = telling();
            spoil(result.figures.iter_mut().find(|figure| figure.id == id).unwrap());
            let found = findings(&result);
            assert!(!found.contains("posix_named"), "{index}, {id}: {found}");
            assert!(found.contains("another CPU"), "the others still carry theirs: {found}");
        }
    }
    let mut open = telling();
    open.ratios.iter_mut().for_each(|ratio| ratio.low = Some(1.1));
    assert!(!findings(&open).contains("posix_named"), "the interval leaves it open");
    let mut all = telling();
    all.figures.iter_mut().for_each(|figure| figure.marks = vec![Mark::Filtered]);
    let none = "none; 4 of 4 rows are left out (4 filtered)";
    assert!(findings(&all).contains(none), "{}", findings(&all));
    // No row says what all have, so the line that counts them does.
    let shown = shown(&all, 80);
    assert!(rows(&shown).iter().all(|row| !row.contains("filtered")), "{shown}");
    shown.says("4 rows, all checked: counted calls match the claims; 4 filtered.");
}

/// What others do beside a run makes prices uncertain by per cents, and a difference of 163 times stays one.
#[test]
fn noise_hides_no_large_difference() {
    for mark in [Mark::Noisy, Mark::Shared, Mark::Bimodal, Mark::BusySibling] {
        let mut result = telling();
        result.figures.iter_mut().for_each(|figure| figure.marks = vec![mark]);
        assert!(findings(&result).contains("semaphore/system_v costs 163x posix_named"), "{mark:?}");
        let at = |low: f64, result: &RunResult| {
            let mut result = result.clone();
            result.ratios.iter_mut().for_each(|ratio| ratio.low = Some(low));
            findings(&result).contains("posix_named")
        };
        assert!(!at(3.0, &result) && at(5.0, &result), "{mark:?}: twice as far apart as without noise");
        assert!(at(3.0, &telling()));
    }
}

/// A count that was not taken is no wrong one.
#[test]
fn a_page_tells_wrong_counts_from_missing_ones() {
    let mut result = telling();
    result.figures[0].status = Status::Contradicted;
    result.figures[1].evidence.verdict = oscost_results::Verdict::Unchecked;
    let text = written(|out| page(&[Named { name: "x", result: &result }], None, out));
    text.says("counts of calls and switches: 2 confirmed, 1 wrong, 1 unchecked</li>");
}

/// What has no number is neither a wrong count nor one that was not taken: the terminal says the same.
#[test]
fn a_page_tells_what_has_no_number_from_what_is_unchecked() {
    for status in [Status::Unsupported, Status::Failed, Status::Withdrawn, Status::Unknown] {
        let mut result = telling();
        result.figures[0].status = status;
        let text = written(|out| page(&[Named { name: "x", result: &result }], None, out));
        text.says("counts of calls and switches: 3 confirmed, 1 without a number</li>");
        shown(&result, 120).says("4 rows: 3 checked, 1 without a number.");
    }
}

/// A quick run has intervals and findings, and its page must not deny them.
#[test]
fn a_page_of_a_quick_run_says_what_it_lacks() {
    let mut result = telling();
    result.reproductions.clear();
    result.plan.effort = "quick".to_owned();
    let text = written(|out| page(&[Named { name: "x", result: &result }], None, out));
    text.says("At first look").says("title=\"a quick run makes fewer and shorter launches");
    text.lacks("too few launches");
}

/// What the doctor calls unfit was shown as fit, with reservations.
#[test]
fn an_unfit_machine_is_called_so_wherever_that_is_told() {
    let mut result = fixture::result();
    let disturbing = |result: &RunResult| {
        let all = result.doctor.iter().filter(|check| check.state == CheckState::Disturbs);
        all.map(|check| check.check.replace('_', " ")).collect::<Vec<_>>()
    };
    assert_eq!(disturbing(&result), ["gaps", "idle cpus"]);
    result.doctor.iter_mut().find(|check| check.check == "gaps").unwrap().unfit = true;
    let markdown = written(|out| price_list_markdown(&result, None, out));
    for text in [markdown, paged(&result)] {
        text.says("unfit to measure: gaps; 2 reservations: gaps: ").lacks("fit to measure, with");
    }
    shown(&result, 120).says("unfit to measure (gaps), disturbed (idle cpus)");
    paged(&result).says("unfit to measure (gaps), disturbed (idle cpus)");
    result.doctor.retain(|check| check.check != "idle_cpus");
    shown(&result, 120).says("unfit to measure (gaps)").lacks("disturbed");
}

/// A name that the store does not know was said to be one that it was saved as, and another one than was asked for.
#[test]
fn saved_is_what_the_store_gives_back() {
    let prices = telling();
    let mut counts = telling();
    counts.conditions.emulation = Some(Emulation::default());
    let told = |saved: Option<&str>| {
        let (list, named) = (RowChoice::default(), [Named { name: "of-a-file", result: &prices }]);
        [
            written(|out| price_list(&prices, saved, list, &style(120, false), out)),
            written(|out| count::shown(&counts, saved, &style(120, false), out)),
            written(|out| price_list_markdown(&prices, saved, out)),
            written(|out| page(&named, saved, out)),
        ]
    };
    for text in told(None) {
        text.lacks("Saved as");
    }
    for text in told(Some("2026-11-20T23-14-05Z-9f2c41d0")) {
        text.says("Saved as 2026-11-20T23-14-05Z-9f2c41d0.");
    }
    told(Some("@-3"))[1].says("Saved as @-3.");
}

/// Rows without a number, and words of a newer version, were in the sum and in no part of it.
#[test]
fn the_rows_of_a_count_add_up() {
    let mut result = telling();
    result.conditions.emulation = Some(Emulation::default());
    let repeats = [Repeats::Constant, Repeats::Unknown, Repeats::Constant, Repeats::Varies];
    for (figure, repeats) in result.figures.iter_mut().zip(repeats) {
        figure.count = Some(InstructionCount {
            repeats,
            values: Vec::new(),
            boots: 2,
            frame: 0,
            why: None,
            functions: Vec::new(),
            unknown: serde_json::Map::default(),
        });
    }
    result.figures[2].status = Status::Failed;
    written(|out| count::shown(&result, None, &style(120, false), out))
        .says("4 rows: 1 constant, 0 reproducible, 1 vary, 1 unknown, 1 withheld (2 boots)");
}

/// A row that nobody typed says why it is there; a word that is no part of an id leaves that open.
#[test]
fn a_baseline_that_was_not_asked_for_says_so() {
    let row = |patterns: &[&str]| {
        let mut result = telling();
        result.reproductions.clear();
        result.plan.patterns = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        let shown = shown(&result, 120);
        rows(&shown).into_iter().find(|row| row.trim_start().starts_with("posix_named")).unwrap().to_owned()
    };
    assert!(row(&["semaphore/system_v"]).contains("baseline only"), "{}", row(&["semaphore/system_v"]));
    for asked in [&["semaphore"][..], &["semaphore/system_v", "posix-named"], &["sem_sysv"], &[]] {
        assert!(!row(asked).contains("baseline only"), "{asked:?}: {}", row(asked));
    }
}

/// The reason stood in the JSON alone, behind a number and "here".
#[test]
fn a_count_says_why_an_id_has_none() {
    let mut result = telling();
    result.conditions.emulation = Some(Emulation::default());
    let told = |result: &RunResult| written(|out| count::shown(result, None, &style(200, false), out));
    let mut lacks = |index: usize, why: &str| {
        result.figures[index].status = Status::Unsupported;
        result.figures[index].why = Some(why.to_owned());
        told(&result)
    };
    let alone = format!("{} cannot be counted: it sleeps", telling().figures[0].id);
    lacks(0, "it sleeps").says(&alone);
    lacks(1, "it sleeps").says("2 cannot be counted: it sleeps; ").lacks(&alone);
    lacks(2, "it needs several CPUs");
    // Nothing is left: no sum of nothing.
    lacks(3, "it needs several CPUs").says("2 cannot be counted: it needs several CPUs; ").lacks("0 rows");
}

/// A bucket knows its value only roughly: "all below 1.31 us" stood beside a worst sample of 1.32 us.
#[test]
fn no_share_of_a_distribution_lies_beside_its_worst_sample() {
    for (worst, told) in [(1320.0, "1.32"), (1302.0, "1.30")] {
        let mut result = fixture::result();
        result.figures.truncate(1);
        for launch in &mut result.figures[0].launches {
            launch.histogram = None;
            launch.quantities.remove("max");
        }
        let first = &mut result.figures[0].launches[0];
        first.histogram = Some(Histogram { first: 331, counts: vec![1], unknown: Default::default() });
        first.quantities.insert("max".to_owned(), worst);
        let page = paged(&result);
        page.says(&format!("the worst is {told}"));
        assert!(page.matches(told).count() > 2, "in the finding, in its label, and in the table");
        assert_eq!(page.contains("1.31"), worst > 1313.7, "the middle of their bucket");
    }
}
