//! Verdicts on two results: changes that are found, the threshold, and what noise and few launches hide.

use crate::written::{Says, style, written};
use oscost_report::Named;
use oscost_report::compare::{Compared, Rules, Verdict, compare, comparison, name_of_pair};
use oscost_results::{Mark, RunResult, Status};

use super::{MONOTONIC, against, figure_mut, on_one_cpu, row, scaled, stored, verdict};

#[test]
fn a_result_is_within_itself() {
    let result = stored();
    let comparison = against(&result, &result);
    assert!(
        comparison.machine.is_empty() && comparison.conditions.is_empty() && comparison.warnings.is_empty()
    );
    assert!(comparison.one_sided.is_empty(), "{:?}", comparison.one_sided);
    let same = |row: &Compared| row.verdict == Verdict::Within && !row.changed;
    assert!(
        on_one_cpu(&comparison).count() > 5 && on_one_cpu(&comparison).all(same),
        "{:?}",
        comparison.rows
    );
    assert_eq!(comparison.of(Verdict::Slower).count() + comparison.of(Verdict::Faster).count(), 0);
}

#[test]
fn a_change_is_found_and_nothing_else() {
    let a = stored();
    for (factor, expected) in
        [(1.12, Verdict::Slower), (0.88, Verdict::Faster), (2.0, Verdict::Slower), (40.0, Verdict::Slower)]
    {
        let b = scaled(stored(), MONOTONIC, factor);
        let comparison = against(&a, &b);
        assert_eq!(verdict(&comparison, MONOTONIC), expected, "{factor}");
        assert_eq!(comparison.rows[0].id, MONOTONIC, "the largest change comes first");
        let others = || on_one_cpu(&comparison).filter(|row| row.id != MONOTONIC);
        assert!(others().count() > 5 && others().all(|row| row.verdict == Verdict::Within));
    }
}

/// The threshold is the user's; what certainly changed, but by less, is said.
#[test]
fn the_threshold_is_the_question() {
    let (a, b) = (stored(), scaled(stored(), MONOTONIC, 1.08));
    let asked = |threshold| {
        let named = |result| Named { name: "x", result };
        let comparison = compare(&named(&a), &named(&b), Rules { threshold, ..Rules::default() });
        let row = row(&comparison, MONOTONIC);
        (row.verdict, row.changed)
    };
    assert_eq!(asked(0.15), (Verdict::Within, true));
    assert_eq!(asked(0.01), (Verdict::Slower, true));
    let named = |result| Named { name: "x", result };
    let small = compare(&named(&a), &named(&b), Rules { threshold: 0.15, ..Rules::default() });
    let shown = written(|out| comparison(&small, &style(100, false), out));
    shown.says("changed by less than 15 %").says("+8.0 %  +5.4 .. +11 %");
}

/// No width and no mark vetoes a verdict: what takes 40 times as long is slower, however it scatters.
#[test]
fn noise_hides_no_large_change() {
    let a = stored();
    let mut b = scaled(stored(), MONOTONIC, 40.0);
    for (launch, factor) in
        figure_mut(&mut b).launches.iter_mut().zip([1.0, 1.9, 1.3, 2.6, 1.1].iter().cycle())
    {
        launch.quantities.values_mut().for_each(|value| *value *= factor);
    }
    figure_mut(&mut b).marks.push(Mark::Noisy);
    assert_eq!(verdict(&against(&a, &b), MONOTONIC), Verdict::Slower);
    let again = scaled(b.clone(), MONOTONIC, 1.01);
    let comparison = against(&b, &again);
    assert_eq!(
        verdict(&comparison, MONOTONIC),
        Verdict::Unclear,
        "launches that scatter by half show no 1 %"
    );
}

/// One launch tells nothing, two hardly more; five of them show what is twice as much.
#[test]
fn few_launches_show_large_changes_alone() {
    let a = stored();
    for (launches, expected) in [(1, Verdict::Unclear), (5, Verdict::Slower)] {
        let mut b = scaled(stored(), MONOTONIC, 2.0);
        figure_mut(&mut b).launches.truncate(launches);
        assert_eq!(verdict(&against(&a, &b), MONOTONIC), expected, "{launches}");
    }
}

/// Numbers, interval and verdict of a row are of one quantity, the one that its card lets judge.
#[test]
fn a_row_speaks_of_one_quantity() {
    let quiet = |floor: f64, quiet: f64| {
        let mut result = scaled(stored(), MONOTONIC, floor);
        let figure = figure_mut(&mut result);
        for launch in &mut figure.launches {
            launch.quantities.insert("quiet".into(), quiet * (1.0 + f64::from(launch.sequence % 4) * 1e-4));
        }
        result
    };
    let (a, b) = (quiet(1.0, 20.0), quiet(0.8, 30.0));
    let comparison = against(&a, &b);
    let row = row(&comparison, MONOTONIC);
    assert_eq!((row.verdict, &*row.quantity), (Verdict::Slower, "quiet"), "the floor fell meanwhile");
    let change = row.change.unwrap().change;
    assert!(
        (row.b.value / row.a.value - 1.0 - change).abs() < 1e-12 && (change - 0.5).abs() < 1e-3,
        "{row:?}"
    );
    // A side without it is held against the other by what is quoted.
    let mut bare = stored();
    for launch in &mut figure_mut(&mut bare).launches {
        launch.quantities.remove("quiet");
    }
    let comparison = against(&bare, &a);
    assert_eq!(comparison.rows.iter().find(|row| row.id == MONOTONIC).unwrap().quantity, "floor");
}

/// A figure on one CPU with these launches, of which cycles are named.
fn in_cycles(cycles: &[f64], floor: &[f64]) -> RunResult {
    let mut result = stored();
    let figure = figure_mut(&mut result);
    figure.judged = "cycles".into();
    let first = figure.launches[0].clone();
    figure.launches = cycles
        .iter()
        .zip(floor)
        .map(|(cycles, floor)| {
            let mut launch = first.clone();
            launch.quantities =
                [("cycles", *cycles), ("floor", *floor)].map(|(name, value)| (name.to_owned(), value)).into();
            launch
        })
        .collect();
    result
}

/// The launches of getpid through libc take 510 cycles or 553, whatever the run.
#[test]
fn two_modes_are_judged_by_the_median_where_a_quarter_of_the_launches_is_fast() {
    let side = |fast: usize| {
        let cycles: Vec<f64> =
            (0..20).map(|launch| if launch < fast { 510.0 } else { 553.0 } + (launch % 3) as f64).collect();
        in_cycles(&cycles, &cycles)
    };
    let (a, b) = (side(4), side(6));
    let comparison = against(&a, &b);
    let row = row(&comparison, MONOTONIC);
    assert_eq!(row.verdict, Verdict::Within, "{row:?}");
    assert!(row.a.value > 550.0 && row.b.value > 550.0, "{row:?}");
}

/// Floors of ten launches may agree by chance on the slower of two modes. In cycles, of which some launches are faster, too,
/// nothing changed.
#[test]
fn what_was_taken_for_its_narrow_interval_does_not_overrule_what_the_card_names() {
    let slow = [148.3, 148.4, 148.9, 148.4, 148.1, 148.6, 148.6, 148.0, 148.6, 148.3];
    let fast = [134.1, 134.0, 136.6, 134.7, 134.3, 134.7, 134.8, 134.2, 135.7, 134.8];
    let a = in_cycles(&[553.0, 554.0, 554.0, 553.0, 552.0, 551.0, 553.0, 552.0, 553.0, 553.0], &slow);
    let only = std::iter::once(MONOTONIC.to_owned()).collect();
    let told = |cycles: [f64; 10]| {
        let b = in_cycles(&cycles, &fast);
        let [a, b] = [&a, &b].map(|result| Named { name: "x", result });
        let comparison = compare(&a, &b, Rules { threshold: 0.03, only: Some(&only), ..Rules::default() });
        let row = row(&comparison, MONOTONIC);
        assert_eq!(row.quantity, "floor");
        (row.verdict, row.why.contains("in cycles"))
    };
    let stay = [552.0, 551.0, 550.0, 510.0, 552.0, 555.0, 510.0, 553.0, 556.0, 555.0];
    assert_eq!(told(stay), (Verdict::Unclear, true));
    assert_eq!(told(stay.map(|cycles| cycles * 0.9)), (Verdict::Faster, false), "both moved");
}

/// Whoever shares the CPU moves what is typical, and not the floor.
#[test]
fn a_change_beside_others_is_one_of_the_floor_too() {
    let side = |floor: f64, quiet: f64, mark: Option<Mark>| {
        let mut result = scaled(stored(), MONOTONIC, floor);
        let figure = figure_mut(&mut result);
        figure.marks.extend(mark);
        figure.launches.iter_mut().for_each(|launch| {
            launch.quantities.entry("quiet".into()).and_modify(|it| *it *= quiet);
        });
        result
    };
    let told = |floor: f64, quiet: f64, mark: Option<Mark>| {
        let (a, b) = (stored(), side(floor, quiet, mark));
        let comparison = against(&a, &b);
        let row = row(&comparison, MONOTONIC);
        assert_eq!(row.quantity, "quiet");
        (row.verdict, row.why.contains("the floor changed by less"))
    };
    for quiet in [0.6, 1.6] {
        assert_eq!(told(1.0, quiet, Some(Mark::Shared)), (Verdict::Unclear, true), "{quiet}");
        assert_ne!(told(1.0, quiet, None).0, Verdict::Unclear, "nobody shared it");
    }
    assert_eq!(told(1.6, 1.0, Some(Mark::Shared)), (Verdict::Slower, false), "both moved");
}

/// Cycles are the cost of what follows the core, time of what does not; where launches do not tell which it is, a change must
/// be one in both.
#[test]
fn the_speed_of_the_core_is_no_change() {
    // Launches of a core that moves by `moves` from launch to launch, of a figure that follows it or not.
    let result = |cycle: f64, moves: f64, follows: bool, cost: f64| {
        let mut result = stored();
        let figure = figure_mut(&mut result);
        figure.judged = "cycles".into();
        for launch in &mut figure.launches {
            let cycle = cycle * (1.0 + moves * f64::from(launch.sequence % 3));
            let scatter = 1.0 + 1e-4 * f64::from(launch.sequence % 4);
            let ns = scatter * cost * if follows { cycle } else { 1.0 };
            launch.chain_ns = Some(0.27 * cycle);
            launch.quantities.insert("quiet".into(), ns);
            launch.quantities.insert("cycles".into(), ns / (0.27 * cycle));
        }
        result
    };
    for moves in [0.0, 0.03] {
        for (b, expected) in [
            (result(1.1, moves, true, 100.0), Verdict::Within),
            (result(0.9, moves, true, 100.0), Verdict::Within),
            (result(1.1, moves, true, 130.0), Verdict::Slower),
            (result(0.9, moves, true, 80.0), Verdict::Faster),
        ] {
            let a = result(1.0, moves, true, 100.0);
            let comparison = against(&a, &b);
            assert_eq!(
                verdict(&comparison, MONOTONIC),
                expected,
                "{moves}: {:?}",
                row(&comparison, MONOTONIC)
            );
        }
    }
    // A memory takes as long on a faster core: more cycles, and no change.
    let memory = |cycle, moves| {
        let (a, b) = (result(1.0, moves, false, 100.0), result(cycle, moves, false, 100.0));
        let comparison = against(&a, &b);
        let row = row(&comparison, MONOTONIC);
        (row.verdict, row.quantity.clone(), row.why.clone())
    };
    assert_eq!(memory(0.8, 0.03), (Verdict::Within, "quiet".into(), String::new()), "the launches show it");
    let (verdict, quantity, why) = memory(0.8, 0.0);
    assert_eq!((verdict, &*quantity), (Verdict::Unclear, "cycles"), "the launches do not");
    assert!(why.starts_with("in ns it is +0.0 %"), "{why}");
}

/// Ratios and differences of one run's rounds are compared with those of another's.
#[test]
fn pairs_are_compared_too() {
    let with = |ratio: f64| {
        let mut result = stored();
        for pair in &mut result.ratios {
            if pair.of == "clock/monotonic_syscall" && pair.quantity == "paired" {
                pair.launches = (0..10).map(|launch| ratio * (1.0 + 1e-4 * f64::from(launch % 5))).collect();
            }
        }
        result
    };
    let (a, b) = (with(8.0), with(12.0));
    let comparison = against(&a, &b);
    let [pair] = &comparison.pairs[..] else { panic!("{:?}", comparison.pairs) };
    assert_eq!(pair.id, "clock/monotonic_syscall to clock/monotonic");
    assert_eq!((pair.verdict, name_of_pair(pair.verdict)), (Verdict::Slower, "higher"));
    assert_eq!(comparison.of(Verdict::Slower).count(), 0, "a ratio is no figure that got slower");
    // A figure whose own launches scatter too widely is judged by its ratio to what stood still.
    let wide = |mut result: RunResult| {
        let figure = result.figures.iter_mut().find(|figure| figure.id == "clock/monotonic_syscall").unwrap();
        for (launch, factor) in figure.launches.iter_mut().zip([1.0, 3.0].into_iter().cycle()) {
            launch.quantities.values_mut().for_each(|value| *value *= factor);
        }
        result
    };
    let (wide_a, wide_b) = (wide(with(8.0)), wide(with(12.0)));
    let comparison = against(&wide_a, &wide_b);
    let figure = row(&comparison, "clock/monotonic_syscall");
    assert_eq!(figure.verdict, Verdict::Slower, "{figure:?}");
    assert!(figure.why.starts_with("judged by its ratio to clock/monotonic,"), "{figure:?}");
    // The CPUs of one of its figures moved apart between the runs, which moves what passes between them.
    for (apart, judged) in [(33.5, Verdict::Slower), (160.0, Verdict::Unclear)] {
        let [a, b] = [(with(8.0), 33.0), (with(12.0), apart)].map(|(mut result, hop)| {
            figure_mut(&mut result).launches.iter_mut().for_each(|launch| launch.hop_ns = Some(hop));
            result
        });
        let comparison = against(&a, &b);
        let pair = &comparison.pairs[0];
        assert_eq!((pair.verdict, pair.why.contains("equally near")), (judged, judged == Verdict::Unclear));
        assert_eq!(pair.change.is_some(), judged == Verdict::Slower);
    }
    // One of its figures was made otherwise.
    let mut b = with(12.0);
    figure_mut(&mut b).revision = 2;
    assert!(against(&a, &b).pairs.is_empty());
}

/// Figures that could not be judged are counted, whichever side lacks them.
#[test]
fn what_could_not_be_judged_is_counted() {
    let (a, mut b) = (stored(), stored());
    let all = against(&a, &b).rows.len();
    let before = against(&a, &b).blind();
    figure_mut(&mut b).status = Status::Failed;
    let failed = against(&a, &b);
    assert_eq!(failed.rows.len(), all - 1);
    assert_eq!(failed.blind(), (before.0 + 1, before.1));
    let shown = written(|out| comparison(&failed, &style(100, false), out));
    let last = shown.lines().last().unwrap();
    assert_eq!(last, format!("{} of {} figures could not be judged.", before.0 + 1, before.1));
}
