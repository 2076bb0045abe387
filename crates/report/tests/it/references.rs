//! Verdicts on runs of few figures, whose references say how far figures moved: on stored runs, and on each thing that a reference
//! must not be taken for. METHOD.md, Drift.

use crate::stored::{Sitting, sittings};
use crate::stored_pairs::{Pair, line, plant, sentences, successive};

use oscost_report::compare::{Compared, Verdict};
use oscost_results::RunResult;

const ID: &str = "semaphore/system_v";

/// The runs of a kind of sitting, changed.
fn changed(kind: &str, change: impl Fn(&mut RunResult)) -> Vec<Sitting> {
    let mut of: Vec<Sitting> = sittings().iter().filter(|sitting| sitting.is(kind)).cloned().collect();
    of.iter_mut().flat_map(|sitting| &mut sitting.runs).for_each(change);
    of
}

fn pairs(sittings: &[Sitting]) -> Vec<Pair<'_>> {
    successive(&sittings.iter().collect::<Vec<_>>())
}

/// The row of an id of each pair whose second run is changed, and whether a sentence says that all moved.
fn rows(kind: &str, change: impl Fn(&mut RunResult)) -> Vec<(Compared, bool)> {
    let sittings = changed(kind, |_| {});
    let row = |pair: Pair<'_>| {
        let mut b = pair.b.clone();
        change(&mut b);
        let comparison = pair.compare(&b, 0.05, false);
        let row = comparison.rows.iter().find(|row| row.id == ID).expect("it is in all").clone();
        (row, sentences(&comparison) > 0)
    };
    pairs(&sittings).into_iter().map(row).collect()
}

/// Multiplies what fits in figures and references.
fn plant_in_all(result: &mut RunResult, factor: f64, inside: bool, outside: bool) {
    let enters = |id: &str| !id.starts_with("semaphore/posix");
    let ids = result.figures.iter().map(|figure| figure.id.clone());
    let ids: Vec<String> = ids.filter(|id| if enters(id) { inside } else { outside }).collect();
    plant(result, factor, &ids);
    for reference in &mut result.references {
        if if reference.enters_kernel { inside } else { outside } {
            reference.launches.values_mut().flatten().for_each(|value| *value *= factor);
        }
    }
}

#[test]
fn references_show_how_far_few_figures_move() {
    for kind in ["single", "singlequick", "singleheld"] {
        let [with, without] = [changed(kind, |_| {}), changed(kind, |result| result.references.clear())];
        let [with, _] = line(kind, &pairs(&with), false);
        let [without, _] = line(&format!("{kind}, references not asked"), &pairs(&without), false);
        let [same, _, small, _, ten, twenty, double] = with;
        assert!(same.figures() > 5, "{kind}: {same:?}");
        assert_eq!(same.slower + same.faster + small.faster + ten.faster, 0, "{kind}: {same:?}");
        assert_eq!(ten.within + twenty.within + double.within, 0, "{kind}: {ten:?}");
        assert!(ten.slower >= without[4].slower, "{kind}: {ten:?} {:?}", without[4]);
    }
}

#[test]
fn what_makes_every_entry_dearer_is_called_slower() {
    // +8 % misses the goal of 95 % (docs/measured/verdicts.md).
    for (factor, least) in [(1.08, 66), (1.2, 100)] {
        let rows = rows("single", |result| plant_in_all(result, factor, true, false));
        let slower = rows.iter().filter(|(row, _)| row.verdict == Verdict::Slower).count();
        println!("{factor} in all that enters the kernel: {slower} of {} slower", rows.len());
        assert!(slower * 100 >= least * rows.len(), "{factor}: {slower} of {}", rows.len());
        assert!(rows.iter().all(|(row, told)| *told && row.verdict != Verdict::Within), "{rows:?}");
    }
}

#[test]
fn where_all_moved_nothing_is_called_changed() {
    for (row, told) in rows("single", |result| plant_in_all(result, 1.08, true, true)) {
        assert!(row.verdict == Verdict::Unclear && !told, "{row:?}");
    }
}

#[test]
fn what_cannot_speak_is_not_heard() {
    let interval = |rows: Vec<(Compared, bool)>| -> Vec<String> {
        rows.iter().map(|(row, _)| format!("{:?}", row.change)).collect()
    };
    let silent = interval(rows("single", |result| result.references.clear()));
    let heard = interval(rows("single", |_| {}));
    assert_ne!(silent, heard, "else this proves nothing");
    // Each has failed in most launches of one run; each is of another method there; all are figures.
    let failed = |result: &mut RunResult| {
        result.references.iter_mut().flat_map(|it| it.launches.values_mut()).for_each(|it| it.truncate(3));
    };
    assert_eq!(interval(rows("single", failed)), silent);
    let another = |result: &mut RunResult| result.references.iter_mut().for_each(|it| it.revision += 1);
    assert_eq!(interval(rows("single", another)), silent);
    let figures = |result: &mut RunResult| {
        let figure = result.figures[0].clone();
        let ids: Vec<String> = result.references.iter().map(|reference| reference.id.clone()).collect();
        for id in ids {
            result.figures.push(oscost_results::Figure { id, launches: Vec::new(), ..figure.clone() });
        }
    };
    assert_eq!(interval(rows("single", figures)), silent);
}
