//! How far unchanged figures of the stored runs moved from run to run, and how often the intervals of `compare` held the truth:
//! that nothing had changed. METHOD.md, Drift.

#![expect(clippy::print_stdout)] // its tables are of docs/measured

use crate::stored;

use std::collections::BTreeMap;

use oscost_report::Named;
use oscost_report::compare::{Comparison, Rules, compare};
use oscost_results::{Figure, Mark, near};
use oscost_stats::drift::usual;
use oscost_stats::interval::{Centre, LOWER_QUARTILE};
use stored::{Sitting, sittings};

/// The kinds of sittings in which nothing was changed between two runs.
const UNCHANGED: [&str; 7] = ["alone", "default", "disturbed", "list", "beside", "awake", "across"];
/// Those whose figures across CPUs are with both states of the other CPU.
const AWAKE: [&str; 2] = ["awake", "across"];

fn on_one_cpu(figure: &Figure) -> bool {
    matches!(&*figure.placement, "one_cpu" | "same_cpu")
}

fn disturbed(figure: &Figure) -> bool {
    [Mark::BusySibling, Mark::Shared].iter().any(|mark| figure.marks.contains(mark))
}

/// Where the launches of a figure lie in a quantity, with the error of its logarithm.
fn located(figure: &Figure, quantity: &str) -> Option<Centre> {
    let hops: Vec<Option<f64>> = figure.launches.iter().map(|launch| launch.hop_ns).collect();
    let launches = figure.launches.iter().zip(near(&hops)).filter(|(_, near)| *near);
    let values: Vec<f64> =
        launches.filter_map(|(launch, _)| launch.quantities.get(quantity).copied()).collect();
    Centre::of(&values, LOWER_QUARTILE).filter(|centre| centre.relative && centre.freedom > 0.0)
}

/// Of each figure of some sittings, the variance between successive runs that the errors of both do not explain: half of it is
/// one run's.
fn drifts(sittings: &[&Sitting], quantity: &str, of: impl Fn(&Figure) -> bool) -> Vec<f64> {
    let mut beyond: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for pair in sittings.iter().flat_map(|sitting| sitting.runs.windows(2)) {
        for before in pair[0].figures.iter().filter(|figure| of(figure)) {
            let after = pair[1].figures.iter().find(|after| after.id == before.id && of(after));
            let both = after.and_then(|after| Some((located(before, quantity)?, located(after, quantity)?)));
            let Some((before_at, after_at)) = both else { continue };
            let apart = (after_at.value / before_at.value).ln();
            let explained = before_at.error.powi(2) + after_at.error.powi(2);
            beyond.entry(&before.id).or_default().push((apart * apart - explained) / 2.0);
        }
    }
    let mean = |values: &Vec<f64>| (values.iter().sum::<f64>() / values.len() as f64).max(0.0);
    beyond.values().map(mean).collect()
}

/// A class of figures: its name, its placement and quantities as `usual` knows them, and which figures it has.
struct Class {
    name: &'static str,
    placement: &'static str,
    quantity: &'static str,
    one_cpu: bool,
}

const CLASSES: [Class; 5] = [
    Class { name: "one CPU, cycles", placement: "one_cpu", quantity: "cycles", one_cpu: true },
    Class { name: "one CPU, quiet ns", placement: "one_cpu", quantity: "quiet", one_cpu: true },
    Class { name: "one CPU, floor", placement: "one_cpu", quantity: "floor", one_cpu: true },
    Class { name: "one CPU, typical", placement: "one_cpu", quantity: "typical", one_cpu: true },
    Class { name: "across CPUs, typical", placement: "cross_cpu", quantity: "typical", one_cpu: false },
];

#[test]
fn what_is_usual_covers_what_was_found() {
    let sittings = sittings();
    println!("| sittings, figures | usual | found: root mean square, worst | figures |\n|---|---|---|---|");
    for kind in UNCHANGED {
        let of: Vec<&Sitting> = sittings.iter().filter(|sitting| sitting.is(kind)).collect();
        for (class, beside) in CLASSES.iter().flat_map(|class| [(class, false), (class, true)]) {
            let fits = |figure: &Figure| on_one_cpu(figure) == class.one_cpu && disturbed(figure) == beside;
            let found = drifts(&of, class.quantity, fits);
            if found.is_empty() {
                continue;
            }
            let placement = if AWAKE.contains(&kind) && !class.one_cpu { "awake" } else { class.placement };
            let usual = usual(placement, class.quantity, beside).share();
            let rms = (found.iter().sum::<f64>() / found.len() as f64).sqrt();
            let worst = found.iter().copied().fold(0.0, f64::max).sqrt();
            let where_ = if beside { "beside others" } else { "undisturbed" };
            println!(
                "| {kind}, {}, {where_} | {:.1} % | {:.2} %, {:.2} % | {} |",
                class.name,
                usual * 100.0,
                rms * 100.0,
                worst * 100.0,
                found.len()
            );
            // Where the other CPU sleeps no usual value fits.
            assert!(
                placement == "cross_cpu" || rms <= 1.1 * usual,
                "{kind}, {}, {where_}: {rms} of {usual}",
                class.name
            );
        }
    }
}

pub const HEAD: &str = "| sittings, figures | level | intervals | hold 0 |\n|---|---|---|---|";

/// Of intervals of changes of figures on one CPU or not, at 90 % or more: how many there are, and how many hold 0.
type Held = BTreeMap<(bool, bool), (usize, usize)>;

/// What successive runs of sittings say, each with those before it.
pub fn held(of: &[&Sitting]) -> Held {
    let mut held = Held::new();
    for runs in of.iter().map(|sitting| &sitting.runs) {
        for (index, pair) in runs.windows(2).enumerate() {
            let [a, b] = [("a", &pair[0]), ("b", &pair[1])].map(|(name, result)| Named { name, result });
            // All are within a threshold that nothing exceeds, and none within nothing.
            for threshold in [1000.0, 0.0] {
                let rules = Rules { past: &runs[..index], threshold, ..Rules::default() };
                count(&compare(&a, &b, rules), &pair[0].figures, &mut held);
            }
        }
    }
    held
}

pub fn print(kind: &str, one_cpu: bool, narrow: bool, all: usize, hold: usize) {
    let class = if one_cpu { "one CPU" } else { "across CPUs" };
    let level = if narrow { "90 %" } else { "99 % and more" };
    println!("| {kind}, {class} | {level} | {all} | {:.1} % |", hold as f64 * 100.0 / all as f64);
}

/// What two standard errors leave out at one side.
const UNLIKELY: f64 = 0.0228;

/// The chance that so many or more of independent intervals do not hold the truth, if each does not with this one. That neighbours
/// share a run would allow more, by 8 % of the standard error at 99 % and 13 % at 90 %, by simulation; it is not asked for.
fn as_many_by_chance(all: usize, outside: usize, each: f64) -> f64 {
    let mut exactly = (1.0 - each).powi(i32::try_from(all).unwrap());
    let mut fewer = 0.0;
    for count in 0..outside {
        fewer += exactly;
        exactly *= (all - count) as f64 / (count + 1) as f64 * each / (1.0 - each);
    }
    1.0 - fewer
}

/// Nothing changed between these runs, so an interval of a change holds the truth where it holds 0.
#[test]
fn intervals_of_a_change_hold_nothing_where_nothing_changed() {
    let sittings = sittings();
    println!("{HEAD}");
    let mut whole = Held::new();
    for kind in UNCHANGED {
        let of: Vec<&Sitting> = sittings.iter().filter(|sitting| sitting.is(kind)).collect();
        for ((one_cpu, narrow), (all, hold)) in held(&of) {
            print(kind, one_cpu, narrow, all, hold);
            let (of_all, of_hold) = whole.entry((one_cpu, narrow)).or_default();
            *of_all += all;
            *of_hold += hold;
            let chance = as_many_by_chance(all, all - hold, if narrow { 0.1 } else { 0.01 });
            assert!(
                chance >= UNLIKELY,
                "{kind}, one CPU {one_cpu}, narrow {narrow}: {hold} of {all} hold 0, by chance in {chance}"
            );
        }
    }
    // Of all together no chance is given away.
    for (class, narrow) in [(true, true), (true, false), (false, true), (false, false)] {
        let (all, hold) = whole[&(class, narrow)];
        let share = hold as f64 / all as f64;
        assert!(share >= if narrow { 0.9 } else { 0.99 }, "{hold} of {all} hold 0, narrow: {narrow}");
    }
}

fn count(comparison: &Comparison<'_>, figures: &[Figure], held: &mut Held) {
    // What has a reason not to be judged, as a neighbour beside one side alone, is unclear whatever its interval holds.
    for row in comparison.rows.iter().filter(|row| row.why.is_empty()) {
        let figure = figures.iter().find(|figure| figure.id == row.id);
        if let (Some(change), Some(figure)) = (row.change, figure) {
            let (all, hold) = held.entry((on_one_cpu(figure), change.level < 0.95)).or_default();
            *all += 1;
            *hold += usize::from((change.low..=change.high).contains(&0.0));
        }
    }
}
