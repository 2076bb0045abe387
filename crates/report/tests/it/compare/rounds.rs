//! `compare --live`: how many rounds are enough, and what the output says if there are fewer.

use oscost_report::compare::{Comparison, Rules, Verdict, compare_live};
use oscost_results::{Mark, RunResult, Status};

use super::{MONOTONIC, figure_mut, named, row, scaled, stored};

/// A side of so many rounds, two launches each; every launch costs so many times what the fixture's do.
fn side(rounds: u32, factor: f64) -> Vec<RunResult> {
    let launch = |number: u32| {
        let mut result = scaled(stored(), MONOTONIC, factor * (1.0 + 1e-4 * f64::from(number % 5)));
        result.figures.iter_mut().for_each(|figure| figure.launches.truncate(1));
        result
    };
    (0..2 * rounds).map(launch).collect()
}

/// B against A, in rounds.
fn judged(a: Vec<RunResult>, b: Vec<RunResult>, rules: Rules<'_>) -> Comparison<'static> {
    compare_live(&named(a), &named(b), rules)
}

fn verdict(comparison: &Comparison<'_>) -> (Verdict, String) {
    let row = row(comparison, MONOTONIC);
    (row.verdict, row.why.clone())
}

#[test]
fn six_rounds_are_enough() {
    let six = judged(side(6, 1.0), side(6, 1.5), Rules::default());
    assert_eq!(verdict(&six), (Verdict::Slower, String::new()));
    let change = row(&six, MONOTONIC).change.unwrap();
    assert!((change.change - 0.5).abs() < 1e-3 && change.low > 0.45 && change.high < 0.55, "{change:?}");
    // What no line through a round explains is added at both ends.
    assert!(change.low < 0.5 - 0.005 && change.high > 0.5 + 0.005, "{change:?}");
    assert!((row(&six, MONOTONIC).b.value / row(&six, MONOTONIC).a.value - 1.5).abs() < 1e-3);
    assert_eq!(six.narrower, "measure more rounds (--rounds)");
    let why = "5 rounds measured it on both sides, and at least 6 are needed".to_owned();
    assert_eq!(
        verdict(&judged(side(5, 1.0), side(5, 1.5), Rules::default())),
        (Verdict::Unclear, why.clone())
    );
    // A round in which one of four launches lacks it is none.
    let mut b = side(6, 1.5);
    figure_mut(&mut b[11]).launches.clear();
    let lacking = judged(side(6, 1.0), b, Rules::default());
    assert_eq!(verdict(&lacking), (Verdict::Unclear, why));
    assert!(row(&lacking, MONOTONIC).change.is_none() && row(&lacking, MONOTONIC).b.value > 0.0);
}

/// Sides that ran in turn are of one boot where neither says of which it is (gVisor has no boot_id).
#[test]
fn rounds_whose_boot_nobody_knows_are_of_one() {
    let of = |boots: [Option<&str>; 2]| {
        let [a, b] = [(1.0, boots[0]), (1.5, boots[1])].map(|(factor, boot)| {
            let mut side = side(6, factor);
            side.iter_mut().for_each(|it| it.conditions.boot_id = boot.map(str::to_owned));
            side
        });
        verdict(&judged(a, b, Rules::default())).0
    };
    assert_eq!([of([None, None]), of([Some("one"), Some("one")])], [Verdict::Slower; 2]);
    assert_eq!([of([None, Some("one")]), of([Some("one"), Some("two")])], [Verdict::Unclear; 2]);
}

#[test]
fn a_quantity_that_too_few_rounds_have_gives_way_to_the_quoted_one() {
    let without_quiet = |mut side: Vec<RunResult>, launches: usize| {
        for result in side.iter_mut().skip(1).take(launches) {
            figure_mut(result).launches[0].quantities.remove("quiet");
        }
        side
    };
    let quantity = |lacking: usize| {
        let a = without_quiet(side(7, 1.0), lacking);
        row(&judged(a, side(7, 1.5), Rules::default()), MONOTONIC).quantity.clone()
    };
    assert_eq!((quantity(1), quantity(2)), ("quiet".to_owned(), "floor".to_owned()), "one round, and two");
}

#[test]
fn noisy_launches_are_counted() {
    let (mut a, mut b) = (side(6, 1.0), side(6, 1.5));
    let noisy = |result: &mut RunResult| figure_mut(result).marks.push(Mark::Noisy);
    noisy(&mut a[0]);
    noisy(&mut a[5]);
    noisy(&mut b[3]);
    let judged = judged(a, b, Rules::default());
    assert_eq!(verdict(&judged), (Verdict::Slower, "3 noisy of 24 results".to_owned()));
}

/// A busy moment may take the first launch from a figure, and a receipt one of the later ones.
#[test]
fn a_figure_that_some_launches_lack_is_judged_by_the_others() {
    let (mut a, mut b) = (side(7, 1.0), side(8, 1.5));
    b.truncate(14);
    figure_mut(&mut a[0]).status = Status::Failed;
    b[0].figures.retain(|figure| figure.id != MONOTONIC);
    let withheld = judged(a.clone(), b.clone(), Rules::default());
    assert_eq!(verdict(&withheld), (Verdict::Slower, String::new()));
    assert!(withheld.one_sided.iter().all(|one| one.id != MONOTONIC));
    figure_mut(&mut a[1]).status = Status::Contradicted;
    figure_mut(&mut b[1]).status = Status::Contradicted;
    assert_eq!(
        verdict(&judged(a, b, Rules::default())),
        (Verdict::Slower, "2 withheld of 28 results".to_owned())
    );
}

#[test]
fn another_machine_is_not_judged_unless_that_is_asked_for() {
    let elsewhere = || {
        let mut side = side(6, 1.5);
        side.iter_mut().for_each(|result| result.machine.cpu_model = "another".into());
        side
    };
    let silent = judged(side(6, 1.0), elsewhere(), Rules::default());
    assert_eq!(verdict(&silent), (Verdict::Unclear, "another machine".to_owned()));
    let asked = judged(side(6, 1.0), elsewhere(), Rules { cross_machine: true, ..Rules::default() });
    assert_eq!(verdict(&asked).0, Verdict::Slower);
}

#[test]
fn nothing_has_no_ratio_and_one_launch_no_speed_of_the_core() {
    let nothing = |mut side: Vec<RunResult>| {
        for result in &mut side {
            result.figures.iter_mut().flat_map(|figure| &mut figure.launches).for_each(|launch| {
                launch.chain_ns = Some(0.3);
            });
            figure_mut(result).launches[0].quantities.values_mut().for_each(|value| *value = 0.0);
        }
        side
    };
    let one = judged(nothing(side(6, 1.0)), side(6, 1.0), Rules::default());
    assert_eq!(verdict(&one), (Verdict::Unclear, "a side is zero, so there is no ratio".to_owned()));
    let mut once = side(7, 1.5);
    figure_mut(&mut once[3]).launches[0].quantities.values_mut().for_each(|value| *value = 0.0);
    let once = judged(side(7, 1.0), once, Rules::default());
    assert!(row(&once, MONOTONIC).change.is_none(), "one of nothing is enough");
    let mut first = side(7, 1.0);
    figure_mut(&mut first[3]).launches[0].quantities.values_mut().for_each(|value| *value = 0.0);
    let first = judged(first, side(7, 1.5), Rules::default());
    assert_eq!(
        (verdict(&first).0, row(&first, MONOTONIC).change),
        (Verdict::Unclear, None),
        "on either side"
    );
    assert!(one.warnings.iter().all(|warning| !warning.contains("the core ran")), "{:?}", one.warnings);
    let both = judged(nothing(side(6, 1.0)), nothing(side(6, 1.0)), Rules::default());
    assert_eq!(verdict(&both).0, Verdict::Within);
}
