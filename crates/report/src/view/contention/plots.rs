//! The plots of contention: the ratio of the two semaphores by hold time, and fairness beside throughput.

use oscost_results::quantity;
use oscost_stats::interval::Interval;
use oscost_stats::sorting::SmallSort;

use super::ContentionCell;
use crate::blocks::{Axis, Curve, Curves, Dot, DotRow, Names, Plot, Point, Rows, Table};
use crate::numbers;
use crate::view::story::Story;
use crate::words::enumerated;

/// The ratio of System V to POSIX by hold time; `crossed` says where it falls below the bounds.
pub(super) fn ratios(
    about: &str,
    curve: &[(f64, Interval)],
    crossed: &str,
    letters: Vec<String>,
) -> Option<Plot> {
    let (first, last) = (curve.first()?, curve.last()?);
    let [one, other] =
        [first, last].map(|(hold, ratio)| (numbers::ratio(ratio.value, None), format!("{hold:.0} us")));
    let finding = format!(
        "System V semaphores cost {} what POSIX ones do at a hold of {}, and {} at {}.",
        one.0, one.1, other.0, other.1
    );
    let holds: Vec<f64> = curve.iter().map(|(hold, _)| hold * 1000.0).collect();
    let ends = curve.iter().flat_map(|(_, ratio)| [ratio.low, ratio.high, 1.0, 2.0]);
    let points =
        curve.iter().map(|(hold, ratio)| Point { x: hold * 1000.0, y: [ratio.low, ratio.value, ratio.high] });
    let row = |(hold, ratio): &(f64, Interval)| {
        let ratios = [ratio.value, ratio.low, ratio.high].map(|it| numbers::ratio(it, None));
        std::iter::once(format!("{hold:.0} us")).chain(ratios).collect()
    };
    let chart = Curves {
        x: Axis::even("hold time, as measured", "ns", &holds),
        y: Axis::logarithmic("time a turn, System V over POSIX", "ratio", ends)?,
        curves: vec![Curve::of_dots("ratio".to_owned(), points.collect())],
        rules: vec![(1.0, "the same".to_owned()), (2.0, "2: similar below".to_owned())],
        names: Names::One,
    };
    let heads = ["hold time", "ratio", "low", "high"];
    let plot = Plot::of(finding, chart, Table::new(heads, curve.iter().map(row)));
    Some(Plot { note: crossed.to_owned(), letters, ..plot.about(about) })
}

/// A large number to three digits.
fn large(value: f64) -> String {
    numbers::count(numbers::rounded(value).round())
}

/// A lock that one worker alone may hold: low, value and high.
struct Rival<'c> {
    lock: &'c str,
    turns: [f64; 3],
    fairness: [f64; 3],
}

/// Which lock is the fastest, and which the fairest; several where their intervals overlap with the best one's.
fn compared(rivals: &[Rival<'_>]) -> Option<String> {
    let fastest = leaders(rivals, |rival| rival.turns)?;
    let fairest = leaders(rivals, |rival| rival.fairness)?;
    let turns = |rival: &Rival<'_>| format!("{} turns a second", large(rival.turns[1]));
    // A lock alone is compared with nothing.
    if let [alone] = rivals {
        return Some(format!("{}: {}, fairness {:.2}", alone.lock, turns(alone), alone.fairness[1]));
    }
    Some(match (&fastest[..], &fairest[..]) {
        ([fast], [fair]) if fast.lock == fair.lock => {
            format!("{} is both the fastest ({}) and the fairest", fast.lock, turns(fast))
        }
        ([fast], [fair]) => {
            let one =
                format!("{} is the fastest ({}, fairness {:.2})", fast.lock, turns(fast), fast.fairness[1]);
            format!("{one}, {} the fairest ({:.2}, {})", fair.lock, fair.fairness[1], turns(fair))
        }
        (fast, fair) => {
            let fast = match fast {
                [one] => format!("{} is the fastest ({})", one.lock, turns(one)),
                many => format!("{} are the fastest, with intervals that overlap", listed(many)),
            };
            let fair = match fair {
                [one] => format!("{} is the fairest ({:.2})", one.lock, one.fairness[1]),
                many => format!("{} are the fairest, with intervals that overlap", listed(many)),
            };
            format!("{fast}; {fair}")
        }
    })
}

/// The best rival, and those whose intervals overlap with its own; the best one first. `None` without rivals.
fn leaders<'r, 'c>(
    rivals: &'r [Rival<'c>],
    of: impl Fn(&Rival<'c>) -> [f64; 3],
) -> Option<Vec<&'r Rival<'c>>> {
    let best = rivals.iter().max_by(|one, other| of(one)[1].total_cmp(&of(other)[1]))?;
    let [low, ..] = of(best);
    let mut leaders: Vec<&Rival<'c>> =
        rivals.iter().filter(|rival| rival.lock == best.lock || of(rival)[2] >= low).collect();
    leaders.small_sort_by(|one, other| of(other)[1].total_cmp(&of(one)[1]));
    Some(leaders)
}

/// "a, b and c"; of many the first ones and a number.
fn listed(rivals: &[&Rival<'_>]) -> String {
    const NAMED: usize = 3;
    let names: Vec<&str> = rivals.iter().map(|rival| rival.lock).collect();
    match names.len() {
        ..=NAMED => enumerated(&names),
        all => format!("{} and {} more", names[..NAMED].join(", "), all - NAMED),
    }
}

/// Hold times at which at least half of the locks were measured: the shortest, and the longest if it is another one. Without a
/// hold, what is counted under the lock is a third of a turn, so turns a second would be no property of the lock.
fn common<'c>(cells: &[&'c ContentionCell<'c>], locks: &[&str], holds: &[u32]) -> Vec<u32> {
    let measured = |hold: u32| cells.iter().filter(|cell| cell.hold == hold).count();
    let common: Vec<u32> =
        holds.iter().copied().filter(|&hold| hold > 0 && measured(hold) * 2 >= locks.len()).collect();
    let mut ends: Vec<u32> = common.first().into_iter().chain(common.last()).copied().collect();
    ends.dedup();
    ends
}

/// How often each lock changes hands, and how evenly among the workers.
pub(super) fn fairness(
    story: &Story<'_>,
    about: &str,
    cells: &[&ContentionCell<'_>],
    holds: &[u32],
) -> Option<Plot> {
    let locks = super::locks(cells);
    let holds = common(cells, &locks, holds);
    let find = |lock: &str, hold: u32| cells.iter().find(|cell| cell.lock == lock && cell.hold == hold);
    let turns = |cell: &ContentionCell<'_>| {
        let time = cell.quantity(quantity::TIME_PER_OPERATION)?;
        let turns = [time.high, time.value, time.low].map(|ns| 1e9 / ns);
        turns.iter().all(|turns| turns.is_finite() && *turns > 0.0).then_some(turns)
    };
    let fair = |cell: &ContentionCell<'_>| {
        let estimate = cell.quantity(quantity::FAIRNESS)?;
        Some([estimate.low, estimate.value, estimate.high])
    };
    let mut rows = Vec::new();
    let mut table = Vec::new();
    for &lock in &locks {
        let mut dots = Vec::new();
        for (kind, &hold) in holds.iter().enumerate() {
            let Some(cell) = find(lock, hold) else { continue };
            let (Some(turns), Some(fair)) = (turns(cell), fair(cell)) else { continue };
            dots.push(Dot { panel: 0, kind, x: turns });
            dots.push(Dot { panel: 1, kind, x: fair });
            table.push(vec![
                story.plain(lock),
                format!("{hold} us"),
                large(turns[1]),
                format!("{:.2}", fair[1]),
                cell.value(quantity::LONGEST_WAIT).map_or(String::new(), numbers::duration),
            ]);
        }
        if !dots.is_empty() {
            rows.push(DotRow { name: story.plain(lock), dots, hue: 0 });
        }
    }
    let hold = *holds.first()?;
    let rivals: Vec<Rival<'_>> = locks
        .iter()
        .filter_map(|&lock| find(lock, hold))
        .filter(|cell| super::is_rival(cell.figure))
        .filter_map(|cell| Some(Rival { lock: cell.lock, turns: turns(cell)?, fairness: fair(cell)? }))
        .collect();
    let compared = compared(&rivals)?;
    // Of the cells that the table of each lock's waits is of.
    let longest = locks
        .iter()
        .flat_map(|lock| super::held(cells, lock))
        .filter_map(|cell| Some((cell, cell.value(quantity::LONGEST_WAIT)?)))
        .max_by(|one, other| one.1.total_cmp(&other.1));
    let longest = longest.map_or(String::new(), |(cell, wait)| {
        let wait = numbers::duration(wait);
        format!("The longest wait that was timed was {wait} ({}, hold {} us).", cell.lock, cell.hold)
    });
    let finding = format!("Of locks held for {hold} us {compared}.");
    let all = |panel: usize| rows.iter().flat_map(|row| &row.dots).filter(move |dot| dot.panel == panel);
    let chart = Rows {
        panels: vec![
            Axis::logarithmic("turns a second", "count", all(0).flat_map(|dot| dot.x))?,
            Axis::between("fairness: 1 all the same", "", 0.0, 1.0),
        ],
        kinds: holds.iter().map(|hold| format!("hold {hold} us")).collect(),
        rows,
        names: Names::Locks,
    };
    let heads = ["lock", "hold time", "turns a second", "fairness", "longest wait"];
    let plot = Plot::of(story.plain(&finding), chart, Table::new(heads, table));
    Some(Plot { note: story.plain(&longest), ..plot.about(about) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rival(lock: &'static str, turns: [f64; 3], fairness: [f64; 3]) -> Rival<'static> {
        Rival { lock, turns, fairness }
    }

    #[test]
    fn no_lock_is_the_fastest_of_those_whose_intervals_overlap() {
        let said = |rivals: &[Rival<'_>]| compared(rivals).expect("rivals");
        let mutex = || rival("mutex", [95.0, 100.0, 105.0], [0.80, 0.82, 0.84]);
        let slow = || rival("system_v", [49.0, 50.0, 51.0], [0.98, 0.99, 1.0]);
        assert_eq!(
            said(&[mutex(), slow()]),
            "mutex is the fastest (100 turns a second, fairness 0.82), system_v the fairest (0.99, 50 turns a second)"
        );
        let alike = rival("spin", [90.0, 97.0, 104.0], [0.1, 0.2, 0.3]);
        assert_eq!(
            said(&[alike, slow(), mutex()]),
            "mutex and spin are the fastest, with intervals that overlap; system_v is the fairest (0.99)"
        );
        let many = ["a", "b", "c", "d", "e"].map(|lock| rival(lock, [1.0, 2.0, 3.0], [0.5, 0.5, 0.5]));
        let words = said(&many);
        assert!(words.contains("and 2 more are the fastest"), "{words}");
        assert_eq!(said(&[mutex()]), "mutex: 100 turns a second, fairness 0.82");
        let best = rival("futex", [195.0, 200.0, 205.0], [0.98, 0.99, 1.0]);
        let behind = rival("system_v", [49.0, 50.0, 51.0], [0.5, 0.6, 0.7]);
        assert_eq!(said(&[behind, best]), "futex is both the fastest (200 turns a second) and the fairest");
        assert_eq!(compared(&[]), None);
    }
}
