//! Compares two results of counts: more, fewer or equal, and the functions that changed.

use std::collections::BTreeMap;

use oscost_results::{Figure, InstructionCount, Repeats, RunResult, Status};
use oscost_stats::sorting::SmallSort;

use super::quantity::refusal;

/// Two results of counts, compared.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Changes {
    /// What differs between the guests beside their kernels' code: what, before, now.
    pub differing: Vec<(&'static str, String, String)>,
    /// Every id that a side counted, in the order of the first result.
    pub rows: Vec<CountChange>,
}

/// How two counts of one id differ.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CountChange {
    /// The id.
    pub id: String,
    /// Instructions before and now; none where a side has no count.
    pub before: Option<f64>,
    /// See `before`.
    pub now: Option<f64>,
    /// The verdict.
    pub verdict: CountVerdict,
    /// Functions whose own instructions of an operation changed, the largest change first: name, before, now.
    pub functions: Vec<(String, f64, f64)>,
    /// Why there is no verdict, or what else differs.
    pub why: Option<String>,
}

/// The verdict on two counts. Any difference is one; there is no interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountVerdict {
    /// It takes more instructions.
    More,
    /// It takes fewer.
    Fewer,
    /// Every count came as often as before.
    Equal,
    /// A side has no count, varies from boot to boot, or alone holds the instructions of its batch.
    Unclear,
}

impl CountVerdict {
    /// In the order in which rows are shown.
    pub(crate) const ALL: [Self; 4] = [Self::More, Self::Fewer, Self::Unclear, Self::Equal];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::More => "more",
            Self::Fewer => "fewer",
            Self::Equal => "equal",
            Self::Unclear => "unclear",
        }
    }
}

impl CountChange {
    /// Instructions that an operation takes more now; negative where it takes fewer.
    #[must_use]
    pub fn difference(&self) -> Option<f64> {
        self.before.zip(self.now).map(|(before, now)| now - before)
    }

    fn of(old: &Figure, new: &Figure) -> Self {
        let (before, now) = (value(old), value(new));
        let sides = before.zip(old.count.as_ref()).zip(now.zip(new.count.as_ref()));
        // A method that changed explains any difference, and hides what else changed.
        let refused = refusal(&[old, new], &old.headline).filter(|_| sides.is_some());
        let (verdict, functions, why) = match sides {
            _ if refused.is_some() => (CountVerdict::Unclear, Vec::new(), refused),
            Some(((before, a), (now, b))) => {
                let (verdict, why) = judged((before, a), (now, b));
                let operations = [old, new].map(|figure| figure.operations_per_iteration.max(1));
                (verdict, moved(a, b, operations), why)
            }
            None => {
                let reason = |figure: &Figure| figure.why.clone().filter(|_| value(figure).is_none());
                let why = reason(old).or_else(|| reason(new));
                let why = why.unwrap_or_else(|| "a side has no count".to_owned());
                (CountVerdict::Unclear, Vec::new(), Some(why))
            }
        };
        Self { id: old.id.clone(), before, now, verdict, functions, why }
    }

    fn of_one_side(figure: &Figure, is_first: bool) -> Self {
        let own = value(figure);
        let (before, now, side) = if is_first { (own, None, "first") } else { (None, own, "second") };
        let why = Some(format!("only the {side} result has it"));
        let (id, verdict) = (figure.id.clone(), CountVerdict::Unclear);
        Self { id, before, now, verdict, functions: Vec::new(), why }
    }
}

fn judged(
    (before, a): (f64, &InstructionCount),
    (now, b): (f64, &InstructionCount),
) -> (CountVerdict, Option<String>) {
    if [a, b].iter().any(|count| matches!(count.repeats, Repeats::Varies | Repeats::Unknown)) {
        return (CountVerdict::Unclear, Some("it varies from boot to boot".to_owned()));
    }
    // What one figure holds of the batch, the other does not. A frame that was found holds a reading of the clock: it is not 0.
    if (a.frame == 0) != (b.frame == 0) {
        let why = "the batch's own instructions are in one of them";
        return (CountVerdict::Unclear, Some(why.to_owned()));
    }
    let towards = |is_more| if is_more { CountVerdict::More } else { CountVerdict::Fewer };
    if (before - now).abs() > 0.0 {
        return (towards(now > before), None);
    }
    if a.values == b.values {
        return (CountVerdict::Equal, None);
    }
    let sum = |count: &InstructionCount| -> u128 {
        count.values.iter().map(|value| u128::from(value.instructions) * u128::from(value.times)).sum()
    };
    let times =
        |count: &InstructionCount| -> u128 { count.values.iter().map(|value| u128::from(value.times)).sum() };
    // Means as fractions: nothing is rounded.
    let (old, new) = (sum(a) * times(b), sum(b) * times(a));
    let verdict = if old == new { CountVerdict::Unclear } else { towards(new > old) };
    (verdict, Some("the usual count is the same, rarer ones differ".to_owned()))
}

/// Functions whose own instructions of an operation changed, by name, the largest change first. Their trees are of an iteration,
/// which holds so many operations before and now.
fn moved(before: &InstructionCount, now: &InstructionCount, operations: [u64; 2]) -> Vec<(String, f64, f64)> {
    if before.functions.is_empty() || now.functions.is_empty() {
        return Vec::new();
    }
    let mut own: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (side, count) in [before, now].into_iter().enumerate() {
        for node in count.functions.iter().filter(|node| node.depth > 0) {
            own.entry(&node.name).or_default()[side] += node.own;
        }
    }
    let an_operation = |(name, own): (&str, [u64; 2])| {
        let [before, now] = [0_usize, 1].map(|side| own[side] as f64 / operations[side] as f64);
        (name.to_owned(), before, now)
    };
    let change = |(_, before, now): &(String, f64, f64)| (now - before).abs();
    let mut moved: Vec<_> = own.into_iter().map(an_operation).filter(|one| change(one) > 0.0).collect();
    moved.small_sort_by(|one, other| change(other).total_cmp(&change(one)).then_with(|| one.0.cmp(&other.0)));
    moved
}

/// What differs between two guests beside their kernels' code.
fn differing(before: &RunResult, now: &RunResult) -> Vec<(&'static str, String, String)> {
    let (a, b) = (before.conditions.emulation.clone(), now.conditions.emulation.clone());
    let (a, b) = (a.unwrap_or_default(), b.unwrap_or_default());
    let some = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let all = [
        ("kernel", before.conditions.kernel.clone(), now.conditions.kernel.clone()),
        ("kernel image", a.image_checksum, b.image_checksum),
        ("configuration", some(&a.configuration_checksum), some(&b.configuration_checksum)),
        ("command line", some(&before.conditions.command_line), some(&now.conditions.command_line)),
        ("architecture", before.machine.architecture.clone(), now.machine.architecture.clone()),
        ("emulator", a.emulator, b.emulator),
        ("machine", a.machine, b.machine),
        ("processor model", a.cpu_model, b.cpu_model),
        ("memory", format!("{} MiB", a.memory_mib), format!("{} MiB", b.memory_mib)),
        ("program", before.tool.build_id.clone(), now.tool.build_id.clone()),
    ];
    all.into_iter().filter(|(_, before, now)| before != now).collect()
}

impl Changes {
    /// Compares two results of counts, id by id. What neither side could count is left out.
    #[must_use]
    pub fn between(before: &RunResult, now: &RunResult) -> Self {
        let find = |result: &'_ RunResult, id: &str| result.figures.iter().position(|figure| figure.id == id);
        let tried = |figure: &&Figure| figure.status != Status::Unsupported;
        let old = before.figures.iter().filter(tried).map(|old| match find(now, &old.id) {
            Some(index) => CountChange::of(old, &now.figures[index]),
            None => CountChange::of_one_side(old, true),
        });
        let is_new =
            |figure: &&Figure| find(before, &figure.id).is_none_or(|index| !tried(&&before.figures[index]));
        let new = now.figures.iter().filter(tried).filter(is_new);
        let rows = old.chain(new.map(|figure| CountChange::of_one_side(figure, false))).collect();
        Self { differing: differing(before, now), rows }
    }

    /// Rows of one verdict, the largest difference first.
    #[must_use]
    pub fn of(&self, verdict: CountVerdict) -> Vec<&CountChange> {
        let mut rows: Vec<&CountChange> = self.rows.iter().filter(|row| row.verdict == verdict).collect();
        let size = |row: &CountChange| row.difference().unwrap_or(0.0).abs();
        rows.small_sort_by(|a, b| size(b).total_cmp(&size(a)));
        rows
    }

    /// Whether a row takes more instructions than before by more than `most`.
    #[must_use]
    pub fn exceeds(&self, most: u64) -> bool {
        self.rows.iter().any(|row| {
            let difference = row.difference().unwrap_or(0.0);
            row.verdict == CountVerdict::More && (most == 0 || difference > most as f64)
        })
    }
}

/// What was counted of a figure.
pub(crate) fn value(figure: &Figure) -> Option<f64> {
    let quantity = figure.quantities.get(&figure.headline)?;
    (figure.status == Status::Measured).then_some(quantity.estimate.value)
}

/// Whether a result holds counts.
#[must_use]
pub fn is_count(result: &RunResult) -> bool {
    result.conditions.emulation.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oscost_results::{Counted, FunctionNode};
    use serde_json::Map;

    fn count(values: &[(u64, u32)], functions: &[(&str, u64)]) -> InstructionCount {
        let node = |&(name, own): &(&str, u64)| FunctionNode {
            depth: 1,
            name: name.to_owned(),
            place: "kernel".to_owned(),
            calls: 1,
            own,
            repeated: 0,
            unknown: Map::default(),
        };
        let values = values.iter().map(|&(instructions, times)| Counted { instructions, times }).collect();
        let functions = functions.iter().map(node).collect();
        let repeats = Repeats::Constant;
        InstructionCount {
            repeats,
            values,
            boots: 2,
            frame: 0,
            why: None,
            functions,
            unknown: Map::default(),
        }
    }

    #[test]
    fn one_instruction_is_a_difference_and_its_function_is_named() {
        let (a, b) =
            (count(&[(311, 64)], &[("a", 300), ("b", 11)]), count(&[(312, 64)], &[("a", 300), ("b", 12)]));
        assert_eq!(judged((311.0, &a), (312.0, &b)), (CountVerdict::More, None));
        assert_eq!(judged((312.0, &b), (311.0, &a)), (CountVerdict::Fewer, None));
        assert_eq!(judged((311.0, &a), (311.0, &a)), (CountVerdict::Equal, None));
        assert_eq!(moved(&a, &b, [1, 1]), [("b".to_owned(), 11.0, 12.0)]);
        assert!(moved(&a, &a, [1, 1]).is_empty());
    }

    #[test]
    fn rarer_counts_decide_where_the_usual_one_is_the_same() {
        let (a, b) = (count(&[(100, 60), (900, 4)], &[]), count(&[(100, 59), (900, 5)], &[]));
        assert_eq!(judged((100.0, &a), (100.0, &b)).0, CountVerdict::More);
        assert_eq!(judged((100.0, &b), (100.0, &a)).0, CountVerdict::Fewer);
    }

    #[test]
    fn what_varies_has_no_verdict() {
        let (a, mut b) = (count(&[(100, 64)], &[]), count(&[(200, 64)], &[]));
        b.repeats = Repeats::Varies;
        assert_eq!(judged((100.0, &a), (200.0, &b)).0, CountVerdict::Unclear);
        b.repeats = Repeats::Unknown;
        assert_eq!(judged((200.0, &b), (100.0, &a)).0, CountVerdict::Unclear);
    }

    /// An operation of 150 in a frame of 1000, and of 1001, which is not told apart: it took "1001 more".
    #[test]
    fn a_count_with_the_batch_in_it_and_one_without_have_no_verdict() {
        let with_frame = |value, frame| InstructionCount { frame, ..count(&[(value, 64)], &[]) };
        let (apart, not_apart) = (with_frame(150, 1000), with_frame(1151, 0));
        let why = Some("the batch's own instructions are in one of them".to_owned());
        assert_eq!(judged((150.0, &apart), (1151.0, &not_apart)), (CountVerdict::Unclear, why.clone()));
        assert_eq!(judged((1151.0, &not_apart), (150.0, &apart)), (CountVerdict::Unclear, why));
        // A frame that grew is none of the operation.
        let other = with_frame(150, 990);
        assert_eq!(judged((150.0, &apart), (150.0, &other)), (CountVerdict::Equal, None));
    }

    #[test]
    fn a_gate_lets_pass_what_it_allows() {
        let row = |before: f64, now: f64, verdict| CountChange {
            id: "syscall/x".to_owned(),
            before: Some(before),
            now: Some(now),
            verdict,
            functions: Vec::new(),
            why: None,
        };
        let of = |rows| Changes { differing: Vec::new(), rows };
        let five = of(vec![row(100.0, 105.0, CountVerdict::More), row(100.0, 90.0, CountVerdict::Fewer)]);
        assert!(five.exceeds(0) && five.exceeds(4) && !five.exceeds(5));
        assert!(!of(vec![row(1.0, 1.0, CountVerdict::Equal)]).exceeds(0));
        assert!(of(vec![row(1.0, 1.0, CountVerdict::More)]).exceeds(0), "rarer counts grew");
        assert!(!of(vec![row(1.0, 99.0, CountVerdict::Unclear)]).exceeds(0));
    }

    #[test]
    fn other_counts_of_one_mean_are_no_direction() {
        let (a, b) = (count(&[(100, 60), (900, 4)], &[]), count(&[(100, 60), (700, 2), (1100, 2)], &[]));
        let why = Some("the usual count is the same, rarer ones differ".to_owned());
        assert_eq!(judged((100.0, &a), (100.0, &b)), (CountVerdict::Unclear, why.clone()));
        // Twice as many operations of the same counts are the same mean, too.
        let twice = count(&[(100, 120), (900, 8)], &[]);
        assert_eq!(judged((100.0, &a), (100.0, &twice)), (CountVerdict::Unclear, why));
    }

    #[test]
    fn functions_that_moved_are_told_the_largest_change_first_and_processes_are_none() {
        let mut a = count(&[], &[("p", 100), ("a", 10), ("b", 20), ("a", 5), ("c", 7)]);
        let mut b = count(&[], &[("p", 900), ("a", 12), ("b", 40), ("d", 3), ("c", 7)]);
        for side in [&mut a, &mut b] {
            side.functions[0].depth = 0;
        }
        let of = |name: &str, before: f64, now: f64| (name.to_owned(), before, now);
        assert_eq!(moved(&a, &b, [1, 1]), [of("b", 20.0, 40.0), of("a", 15.0, 12.0), of("d", 0.0, 3.0)]);
        let none = count(&[], &[]);
        let of_two = |one, other| moved(one, other, [1, 1]);
        assert!(of_two(&a, &none).is_empty() && of_two(&none, &a).is_empty(), "not asked for on a side");
    }
}
