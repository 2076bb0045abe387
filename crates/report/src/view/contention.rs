//! Contention: what each lock costs with several workers after it, whether it hands over or lets the running one in, how
//! fairly, and where the price of a System V semaphore meets that of a POSIX one.

mod plots;

use std::collections::BTreeSet;

use oscost_results::{Estimate, Figure, Parameter, Status, Trait, quantity};
use oscost_stats::crossing::crossing;
use oscost_stats::interval::Interval;

use crate::blocks::{Part, Table, View};
use crate::numbers;
use crate::view::story::Story;
use crate::words::{distinct, enumerated, grouped};

/// Owner changes in every cell from which on a lock hands over. docs/method/families.md.
const HANDS_OVER: f64 = 0.9;
/// The pair that TLPI speaks of.
const PAIR: (&str, &str) = ("semaphore/system_v", "semaphore/posix_named");
/// Columns of the picture for the largest ratio.
const WIDEST: f64 = 40.0;

/// A cell.
struct ContentionCell<'a> {
    figure: &'a Figure,
    /// "semaphore/posix_named".
    lock: &'a str,
    /// How many, and what: (4, "processes").
    workers: (u64, &'static str),
    /// us.
    hold: u32,
    /// Think time in hold times.
    think: u64,
}

/// Workers, and their think time in hold times.
type Situation = ((u64, &'static str), u64);

/// The cells of a result, those without numbers among them.
fn cells<'a>(story: &'a Story<'_>) -> Vec<ContentionCell<'a>> {
    let figures = story.result.figures.iter();
    figures
        .filter_map(|figure| {
            let number = |name| figure.parameter(name).and_then(Parameter::number);
            let lock = figure.parameter("lock")?.text()?;
            let workers = ["processes", "threads"].into_iter().find_map(|of| Some((number(of)?, of)))?;
            let (hold, think) = (u32::try_from(number("hold_us")?).ok()?, number("think_holds")?);
            Some(ContentionCell { figure, lock, workers, hold, think })
        })
        .collect()
}

/// Whether one worker at a time has the lock: those that several may have at once, or that keep nobody apart, are no rivals.
pub(super) fn is_rival(figure: &Figure) -> bool {
    !figure.has(Trait::ExcludesNothing) && figure.quantities.contains_key(quantity::OWNER_CHANGE_SHARE)
}

impl ContentionCell<'_> {
    fn situation(&self) -> Situation {
        (self.workers, self.think)
    }

    /// Whether updates were lost, where that was counted. A lock that lost some has no quantities: its claim says so.
    fn lost_updates(&self) -> Option<bool> {
        let claimed = format!("post_condition:{}", quantity::LOST_UPDATES);
        let claim = self.figure.evidence.claims.iter().find(|it| it.claim == claimed);
        let lost = claim.and_then(|claim| claim.observed).or_else(|| self.value(quantity::LOST_UPDATES))?;
        Some(lost > 0.0)
    }

    /// Nothing keeps its workers apart.
    fn is_control(&self) -> bool {
        self.figure.has(Trait::ExcludesNothing)
    }

    fn quantity(&self, name: &str) -> Option<Estimate> {
        Some(self.figure.quantities.get(name)?.estimate)
    }

    fn value(&self, name: &str) -> Option<f64> {
        Some(self.quantity(name)?.value)
    }
}

/// What the column without a hold holds besides the lock.
const WITHOUT_HOLD: &str = "At a hold of 0 us a turn still adds to a counter under the lock and notes its holder. In plain C \
                            that made a turn 36 to 61 % longer, so no turns a second are given for these cells.";

/// The view of all contended cells of a result.
pub(crate) fn view(story: &Story<'_>) -> Option<View> {
    let all = cells(story);
    let is_measured = |cell: &&ContentionCell<'_>| cell.figure.status == Status::Measured;
    let cells: Vec<&ContentionCell<'_>> = all.iter().filter(is_measured).collect();
    if cells.is_empty() {
        return None;
    }
    let mut told_first = "Workers take a lock, hold it for a calibrated spin, and give it back; a cell is the time from one turn to the next turn of any worker: the hold time and more, unless several may hold the lock at once. Hand-off: a worker that waits gets the lock, at one switch a turn. Barging: a running worker takes it first, which is cheap and unfair."
        .to_owned();
    if cells.iter().any(|cell| cell.hold == 0) {
        told_first.push(' ');
        told_first.push_str(WITHOUT_HOLD);
        let behaves = " Classes, fairness and waits are of the other cells.";
        told_first.push_str(if cells.iter().any(|cell| cell.hold > 0) { behaves } else { "" });
    }
    let mut parts = vec![Part::Words(told_first)];
    for (situation, here) in grouped(cells.iter().copied(), |cell| cell.situation()) {
        let all_here: Vec<&ContentionCell<'_>> =
            all.iter().filter(|cell| cell.situation() == situation).collect();
        parts.extend(told(story, situation, &here, updates(story, &all_here)));
    }
    let covers = cells.iter().map(|cell| cell.figure.id.clone()).collect();
    Some(View { title: "CONTENTION".to_owned(), covers, parts })
}

fn without_control<'a>(cells: &[&'a ContentionCell<'a>]) -> Vec<&'a ContentionCell<'a>> {
    cells.iter().copied().filter(|cell| !cell.is_control()).collect()
}

/// Locks in the order of the result.
fn locks<'a>(cells: &[&ContentionCell<'a>]) -> Vec<&'a str> {
    distinct(cells.iter().map(|cell| cell.lock))
}

/// Which locks lost updates, and whether the control shows that a loss is seen.
fn updates(story: &Story<'_>, cells: &[&ContentionCell<'_>]) -> Vec<Part> {
    let (controls, locks): (Vec<&&ContentionCell<'_>>, Vec<_>) =
        cells.iter().partition(|cell| cell.is_control());
    let wrong = locks.iter().filter(|cell| cell.lost_updates() == Some(true)).map(|cell| {
        let words = format!("{} LOST UPDATES: it does not exclude", cell.figure.id);
        Part::Words(story.plain(&words))
    });
    let mut parts: Vec<Part> = wrong.collect();
    let control = controls.iter().filter_map(|cell| cell.lost_updates()).reduce(|one, other| one || other);
    match control {
        Some(false) => parts.push(Part::words(
            "The control without a lock lost no update in a launch, so zero lost updates prove nothing here.",
        )),
        Some(true) if parts.is_empty() => {
            parts.push(Part::words("No lock lost an update; the control without a lock did."));
        }
        _ => {}
    }
    parts
}

/// The tables of one situation with what became of its updates, and the crossing where both semaphores are there.
fn told(
    story: &Story<'_>,
    ((count, of), think): Situation,
    cells: &[&ContentionCell<'_>],
    updates: Vec<Part>,
) -> Vec<Part> {
    let holds: BTreeSet<u32> = cells.iter().map(|cell| cell.hold).collect();
    let holds: Vec<u32> = holds.into_iter().collect();
    let find = |lock: &str, hold: u32| cells.iter().find(|cell| cell.lock == lock && cell.hold == hold);
    let who = format!("{count} {of}");
    let thinking = if think == 0 { "without a pause" } else { "thinking for twice the hold time" };
    let per_cpu =
        cells.iter().find_map(|cell| cell.value(quantity::WORKERS_PER_CPU)).filter(|per_cpu| *per_cpu > 1.0);
    let crowded = per_cpu.map(numbers::significant).map_or(String::new(), |per_cpu| {
        format!(", {per_cpu} workers per CPU (the holder of the lock may wait for a CPU)")
    });
    let about = story.plain(&format!("{who} {thinking}"));
    let mut parts = vec![Part::words(format!("{about}{crowded}: time per turn by hold time"))];
    let unsure =
        |estimate: Estimate| estimate.high > 1.1 * estimate.value || estimate.low < 0.9 * estimate.value;
    let time = |cell: &ContentionCell<'_>| match cell.quantity(quantity::TIME_PER_OPERATION) {
        Some(estimate) if unsure(estimate) => numbers::range(estimate.low, estimate.high, "ns"),
        Some(estimate) => numbers::duration(estimate.value),
        None => String::new(),
    };
    let rows = locks(cells).into_iter().map(|lock| {
        let times = holds.iter().map(|&hold| find(lock, hold).map_or(String::new(), |cell| time(cell)));
        std::iter::once(story.plain(lock)).chain(times).collect()
    });
    let heads = std::iter::once("hold".to_owned()).chain(holds.iter().map(|hold| format!("{hold} us")));
    parts.push(Part::Table(Table::new(heads, rows)));
    parts.push(Part::Table(behaviour(story, cells, think)));
    parts.extend(updates);
    parts.extend(crossed(story, &about, cells, &holds));
    let fairness = plots::fairness(story, &about, &without_control(cells), &holds);
    parts.extend(fairness.map(Part::from));
    parts
}

/// The cells of a lock by which it is told how it behaves: those with a hold time, where it has any.
fn held<'c, 'a>(cells: &[&'c ContentionCell<'a>], lock: &str) -> Vec<&'c ContentionCell<'a>> {
    let all = cells.iter().copied().filter(|cell| cell.lock == lock);
    let (held, without): (Vec<_>, Vec<_>) = all.partition(|cell| cell.hold > 0);
    if held.is_empty() { without } else { held }
}

/// Class, fairness and waiting of each lock, over its cells with a hold time.
fn behaviour(story: &Story<'_>, cells: &[&ContentionCell<'_>], think: u64) -> Table {
    let heads =
        ["", "class", "owner changes", "blocked", "fairness", "longest wait", "hand-over", "of the ideal"];
    let rows = locks(&without_control(cells)).into_iter().map(|lock| {
        let held = held(cells, lock);
        // Workers that think take turns whatever the lock does, and without a hold there is nothing to wait for.
        let has_class = think == 0 && held.iter().all(|cell| cell.hold > 0);
        let range = |name: &str, show: &dyn Fn(f64) -> String| {
            let (low, high) = numbers::ends(held.iter().filter_map(|cell| cell.value(name)));
            match (show(low), show(high)) {
                _ if low > high => String::new(),
                (low, high) if low == high => low,
                (low, high) => format!("{low} .. {high}"),
            }
        };
        let all = |name: &'static str| held.iter().filter_map(move |cell| cell.value(name));
        let class = match all(quantity::OWNER_CHANGE_SHARE).reduce(f64::min) {
            None => "shared",
            Some(_) if !has_class => "",
            Some(least) if least >= HANDS_OVER => "hand-off",
            Some(_) => "barging",
        };
        vec![
            story.plain(lock),
            class.to_owned(),
            range(quantity::OWNER_CHANGE_SHARE, &numbers::whole_percent),
            range(quantity::BLOCKED_SHARE, &numbers::whole_percent),
            range("fairness", &|value| format!("{value:.2}")),
            all(quantity::LONGEST_WAIT).reduce(f64::max).map_or(String::new(), numbers::duration),
            range(quantity::HANDOVER_P50, &numbers::duration),
            range(quantity::IDEAL_SHARE, &numbers::whole_percent),
        ]
    });
    Table::new(heads, rows)
}

/// The ratio of the two semaphores by hold time, as a picture, and where it falls below 2 and below 1.1.
fn crossed(story: &Story<'_>, about: &str, cells: &[&ContentionCell<'_>], holds: &[u32]) -> Vec<Part> {
    let ratio = |hold: u32| -> Option<(f64, Interval)> {
        let id = |lock: &str| {
            let cell = cells.iter().find(|cell| cell.lock == lock && cell.hold == hold)?;
            Some(cell.figure.id.as_str())
        };
        let sought = (id(PAIR.0)?, id(PAIR.1)?, quantity::TIME_PER_OPERATION);
        let mut ratios = story.result.ratios.iter();
        let paired = ratios.find(|it| (&*it.of, &*it.to, &*it.quantity) == sought)?;
        let (value, low, high) = (paired.value?, paired.low?, paired.high?);
        Some((f64::from(hold), Interval { value, low, high, extremes: false }))
    };
    let curve: Vec<(f64, Interval)> = holds.iter().filter_map(|&hold| ratio(hold)).collect();
    if curve.len() < 2 {
        return Vec::new();
    }
    let most = curve.iter().map(|(_, ratio)| ratio.value).fold(2.0, f64::max).ln();
    let bar = if story.unicode { "\u{2588}" } else { "#" };
    let lines = curve.iter().map(|(hold, ratio)| {
        // A logarithmic bar: as long on the other side of 1 for who is cheaper there.
        let length = (ratio.value.ln().abs() / most * WIDEST).round().clamp(0.0, WIDEST) as usize;
        let side = if ratio.value >= 1.0 { bar.repeat(length) } else { "-".repeat(length) };
        format!("{hold:>5} us {:>8}  {side}", numbers::ratio(ratio.value, None))
    });
    let key = "    hold     ratio  log scale; dashes: System V cheaper".to_owned();
    let letters = std::iter::once(key).chain(lines).collect();
    let bounds = [2.0, 1.1].map(|bound| below(&curve, bound));
    plots::ratios(about, &curve, &bounds.join(" "), letters).map(Part::from).into_iter().collect()
}

/// Where the ratio falls below `bound`, in words that hold for every cell.
fn below(curve: &[(f64, Interval)], bound: f64) -> String {
    let found = crossing(curve, bound);
    let sides: [fn(&Interval, f64) -> bool; 3] = [
        |ratio, bound| ratio.low > bound,
        |ratio, bound| ratio.high < bound,
        |ratio, bound| ratio.low <= bound && bound <= ratio.high,
    ];
    let [over, under, open] = sides.map(|is_there| {
        let holds = curve.iter().filter(|(_, ratio)| is_there(ratio, bound));
        holds.map(|(hold, _)| format!("{hold:.0}")).collect::<Vec<_>>()
    });
    // It may come back: then no bracket is true of what lies between.
    let between = |hold: f64| {
        found.above.is_none_or(|above| hold > above) && found.below.is_none_or(|below| hold < below)
    };
    let is_falling = curve.iter().filter(|(hold, _)| between(*hold)).all(|(_, ratio)| sides[2](ratio, bound));
    let at = |x: f64| {
        let point = curve.iter().find(|(hold, _)| *hold == x);
        let ratio = point.map_or(String::new(), |(_, it)| numbers::ratio(it.value, Some((it.low, it.high))));
        format!("{x:.0} us ({ratio})")
    };
    match (found.above, found.below) {
        _ if !is_falling => {
            let all = [("is above", over), ("is below", under), ("may be above or below", open)];
            let told = all.iter().filter(|(_, holds)| !holds.is_empty());
            let told =
                told.map(|(side, holds)| format!("{side} {bound} at a hold of {} us", enumerated(holds)));
            format!("The ratio {}.", told.collect::<Vec<_>>().join("; it "))
        }
        (Some(_), _) if under.is_empty() && open.is_empty() => {
            format!("The ratio is above {bound} at every hold.")
        }
        (_, Some(_)) if over.is_empty() && open.is_empty() => {
            format!("The ratio is below {bound} at every hold.")
        }
        (Some(above), Some(below)) => {
            format!("The ratio falls below {bound} between a hold of {} and {}.", at(above), at(below))
        }
        (Some(above), None) => format!(
            "The ratio is above {bound} up to a hold of {}. For longer ones every interval holds {bound}.",
            at(above)
        ),
        (None, Some(below)) => format!(
            "The ratio is below {bound} from a hold of {} on. For shorter ones every interval holds {bound}.",
            at(below)
        ),
        (None, None) => format!("Whether the ratio is above or below {bound} cannot be told at any hold."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_refutes_what_is_said_of_a_bound() {
        let said = |ends: &[(f64, f64)]| {
            let point = |(at, &(low, high)): (usize, &(f64, f64))| {
                (at as f64, Interval { value: f64::midpoint(low, high), low, high, extremes: false })
            };
            below(&ends.iter().enumerate().map(point).collect::<Vec<_>>(), 2.0)
        };
        let (over, under, open) = ((2.5, 3.5), (1.1, 1.6), (1.1, 2.4));
        assert_eq!(
            said(&[over, over, under, under, open]),
            "The ratio is above 2 at a hold of 0 and 1 us; it is below 2 at a hold of 2 and 3 us; it may be above or \
             below 2 at a hold of 4 us."
        );
        assert_eq!(
            said(&[over, under, over, under]),
            "The ratio is above 2 at a hold of 0 and 2 us; it is below 2 at a hold of 1 and 3 us."
        );
        assert_eq!(
            said(&[over, open]),
            "The ratio is above 2 up to a hold of 0 us (3.00x (2.50 .. 3.50)). For longer ones every interval holds 2."
        );
        assert_eq!(
            said(&[open, under]),
            "The ratio is below 2 from a hold of 1 us (1.35x (1.10 .. 1.60)) on. For shorter ones every interval holds 2."
        );
        assert_eq!(said(&[under, under]), "The ratio is below 2 at every hold.");
        assert_eq!(said(&[over, over]), "The ratio is above 2 at every hold.");
        assert!(said(&[under, over]).starts_with("The ratio is above 2 at a hold of 1 us; it is below"));
        assert!(said(&[over, open, under]).starts_with("The ratio falls below 2 between"));
        assert_eq!(said(&[open, open]), "Whether the ratio is above or below 2 cannot be told at any hold.");
    }
}
