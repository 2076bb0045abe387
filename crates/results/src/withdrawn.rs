//! Figures that oscost once measured wrongly: old results show the reason instead of the number.
//!
//! Figures are withdrawn when a result is read. The file stays as it is; in the result their state is
//! [`Status::Withdrawn`], so that code that shows or compares what was measured need not know this table. CHANGELOG.md
//! (Wrong figures) has the same list for people.

use serde_json::{Map, Value};

use crate::uncounted::{keep, take_back};
use crate::{Estimate, Judgement, Outline, PairedValue, Reproduction, RowFigure, RunResult, Status};

/// Figures that were wrong up to a revision of their card.
struct Withdrawn {
    /// The id; `/…/processes_N` stands for all ids of any number of processes below what is before it.
    id: &'static str,
    /// Those of these ids in which this stands were right; empty: none.
    but: &'static str,
    /// The last revision that was wrong.
    revision: u32,
    /// Why, and by how much, in one sentence without its full stop.
    why: &'static str,
}

impl Withdrawn {
    fn is(&self, id: &str) -> bool {
        let Some((above, within)) = self.id.split_once("/…") else { return id == self.id };
        let within = within.trim_end_matches('N');
        let is_right = |below: &str| !self.but.is_empty() && below.contains(self.but);
        id.strip_prefix(above)
            .is_some_and(|below| below.starts_with('/') && below.contains(within) && !is_right(below))
    }
}

const fn wrong(id: &'static str, revision: u32, why: &'static str) -> Withdrawn {
    Withdrawn { id, but: "", revision, why }
}

const RING_SAME: &str = "each batch left its last hand-over untimed, so the figure is 4 to 15 % too low";
const RING_CROSS: &str =
    "each batch ended before the lock was handed over, so the figure is up to 500 times too low";

const BESIDE_THREADS: &str = "a thread in the same process made its calls dearer, so the figure is up to 21 % too high where \
                              context_switch/thread_pipe was measured, too";
const LINES_WERE_GONE: &str = "each batch was short beside its set, whose lines other work had taken, so the figure is up to 8 times too high";
const MADE_READY: &str =
    "what was made ready after a window was taken from it, so the figure may be thousands of times too low";
const EMPTY_LISTS: &str = "who listed after another one found the end of the folder, so the figure is partly of nothing and too low";
const WAITED_FOR_SUMS: &str = "each load waited for an addition, so the figure is up to twice too high";

/// Every figure that was wrong.
const WITHDRAWN: &[Withdrawn] = &[
    wrong("lock/shared_mutex/handover/same_cpu", 1, RING_SAME),
    wrong("lock/shared_mutex/handover/cross_cpu", 1, RING_CROSS),
    wrong("lock/robust_mutex/handover/same_cpu", 1, RING_SAME),
    wrong("lock/robust_mutex/handover/cross_cpu", 1, RING_CROSS),
    wrong("lock/pi_mutex/handover/same_cpu", 1, RING_SAME),
    wrong("lock/pi_mutex/handover/cross_cpu", 1, RING_CROSS),
    wrong("lock/rwlock_write/handover/same_cpu", 1, RING_SAME),
    wrong("lock/rwlock_write/handover/cross_cpu", 1, RING_CROSS),
    wrong("lock/futex/handover/same_cpu", 1, RING_SAME),
    wrong("lock/futex/handover/cross_cpu", 1, RING_CROSS),
    wrong("record_lock/fcntl/handover/same_cpu", 1, RING_SAME),
    wrong("record_lock/fcntl/handover/cross_cpu", 1, RING_CROSS),
    wrong("record_lock/ofd/handover/same_cpu", 1, RING_SAME),
    wrong("record_lock/ofd/handover/cross_cpu", 1, RING_CROSS),
    wrong("record_lock/flock/handover/same_cpu", 1, RING_SAME),
    wrong("record_lock/flock/handover/cross_cpu", 1, RING_CROSS),
    wrong("context_switch/pipe/same_cpu", 1, BESIDE_THREADS),
    wrong("context_switch/pipe_alone/same_cpu", 1, BESIDE_THREADS),
    wrong("context_switch/unix_stream/same_cpu", 1, BESIDE_THREADS),
    wrong("context_switch/posix_queue/same_cpu", 1, BESIDE_THREADS),
    wrong("memory/latency/size_1m/small_pages", 2, LINES_WERE_GONE),
    wrong("memory/bandwidth/read/block_16k", 2, WAITED_FOR_SUMS),
    wrong("memory/bandwidth/read/block_1m", 2, WAITED_FOR_SUMS),
    wrong("memory/latency/…/processes_N", 3, MADE_READY),
    wrong("memory/latency/…/threads_N", 3, MADE_READY),
    wrong("memory/bandwidth/…/processes_N", 3, MADE_READY),
    wrong("memory/bandwidth/…/threads_N", 3, MADE_READY),
    wrong("memory/give_back/…/processes_N", 1, MADE_READY),
    wrong("memory/give_back/…/threads_N", 1, MADE_READY),
    wrong("container/namespace/net/…/processes_N", 1, MADE_READY),
    wrong("container/namespace/net/…/threads_N", 1, MADE_READY),
    // One alone lists after nobody.
    Withdrawn { but: "/processes_1/", ..wrong("file/list/…/shared", 1, EMPTY_LISTS) },
];

/// Why the figure `id` of this revision of its card is wrong; `None` where nothing is known against it.
#[must_use]
pub fn withdrawn(id: &str, revision: u32) -> Option<&'static str> {
    WITHDRAWN.iter().find(|entry| revision <= entry.revision && entry.is(id)).map(|entry| entry.why)
}

/// Withdraws what is wrong in a result that was read: figures, and whatever was made of them, and verdicts without a count.
pub(crate) fn withdraw(result: &mut RunResult) {
    let mut wrong = Vec::new();
    for figure in &mut result.figures {
        take_back(&mut figure.evidence, &result.tool.version, result.conditions.seccomp_mode);
        if let Some(why) = withdrawn(&figure.id, figure.revision)
            && matches!(figure.status, Status::Measured | Status::Withdrawn)
        {
            figure.status = Status::Withdrawn;
            figure.why = Some(why.to_owned());
            wrong.push(figure.id.clone());
        }
    }
    if wrong.is_empty() {
        return;
    }
    let is_wrong = |id: &str| wrong.iter().any(|wrong| wrong == id);
    for pair in result.ratios.iter_mut().chain(&mut result.differences) {
        let side = [&pair.of, &pair.to].into_iter().find(|id| is_wrong(id)).cloned();
        if let Some(id) = side {
            withdraw_pair(pair, &id);
        }
    }
    for row in &mut result.reproductions {
        if let Some(id) = row.figure_id.clone().filter(|id| is_wrong(id)) {
            withdraw_row(row, &id);
        }
    }
    for answer in &mut result.answers {
        if answer.figure_id.as_deref().is_some_and(is_wrong) {
            answer.here = None;
        }
    }
}

/// The same of an outline.
pub(crate) fn withdraw_outline(outline: &mut Outline) {
    for figure in &mut outline.figures {
        if figure.status == Status::Measured && withdrawn(&figure.id, figure.revision).is_some() {
            figure.status = Status::Withdrawn;
        }
    }
}

/// The same of a result that is to be rows.
pub(crate) fn withdraw_rows(outline: &mut Outline<RowFigure>) {
    for figure in &mut outline.figures {
        take_back(&mut figure.evidence, &outline.tool.version, outline.conditions.seccomp_mode);
        if let Some(why) = withdrawn(&figure.id, figure.revision)
            && matches!(figure.status, Status::Measured | Status::Withdrawn)
        {
            figure.status = Status::Withdrawn;
            figure.why = Some(why.to_owned());
        }
    }
}

/// A ratio or difference with a wrong side has no value.
fn withdraw_pair(pair: &mut PairedValue, id: &str) {
    let kept = [("value", pair.value.take()), ("low", pair.low.take()), ("high", pair.high.take())];
    let mut kept: Map<String, Value> =
        kept.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))).collect();
    let launches = std::mem::take(&mut pair.launches);
    if !launches.is_empty() {
        kept.insert("launches".to_owned(), launches.into());
    }
    keep(&mut pair.unknown, kept);
    pair.why = Some(format!("{id} was withdrawn"));
}

/// A statement that was judged by a wrong figure is not judged.
fn withdraw_row(row: &mut Reproduction, id: &str) {
    let mut kept = Map::new();
    if let Some(Estimate { value, low, high, .. }) = row.measured.take() {
        kept.extend(
            [("value", value), ("low", low), ("high", high)].map(|(name, it)| (name.to_owned(), it.into())),
        );
    }
    if let Some(verdict) = row.verdict.as_mut().filter(|verdict| **verdict != Judgement::NotTestableHere) {
        kept.insert("verdict".to_owned(), verdict.name().into());
        *verdict = Judgement::NotTestableHere;
    }
    if !kept.is_empty() {
        kept.insert("because".to_owned(), std::mem::take(&mut row.because).into());
        row.because = format!("{id} was withdrawn");
    }
    keep(&mut row.unknown, kept);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uncounted::KEPT;

    #[test]
    fn every_entry_is_found_by_its_id_and_revision_and_by_no_other() {
        for entry in WITHDRAWN {
            let id = entry.id;
            assert_eq!(withdrawn(id, entry.revision), Some(entry.why), "{id}");
            assert_eq!(withdrawn(id, 0), Some(entry.why));
            assert_eq!(withdrawn(id, entry.revision + 1), None, "{id}: the next revision is right");
            assert_eq!(withdrawn(&format!("a/{id}"), 1), None);
            let one_sentence =
                !entry.why.is_empty() && !entry.why.ends_with('.') && !entry.why.contains(". ");
            assert!(one_sentence, "{}", entry.why);
        }
        for id in
            ["memory/give_back/processes_2/private", "memory/latency/size_64m/small_pages/threads_4/shared"]
        {
            assert_eq!(withdrawn(id, 1), Some(MADE_READY), "{id}");
        }
        for id in ["memory/give_back_file/processes_2/private", "memory/give_back", "file/list/entries_10"] {
            assert_eq!(withdrawn(id, 1), None, "{id}");
        }
        let listed = |count: u32| withdrawn(&format!("file/list/entries_10/processes_{count}/shared"), 1);
        assert_eq!([1, 2, 10].map(listed), [None, Some(EMPTY_LISTS), Some(EMPTY_LISTS)], "one lists alone");
        assert_eq!(withdrawn("lock/shared_mutex", 1), None);
        assert_eq!(withdrawn("lock/shared_mutex/handover/same_cpu/x", 1), None);
        assert_eq!(withdrawn("lock/pipe_token/handover/same_cpu", 1), None, "a token's batches were whole");
    }

    /// Sixteen ids had the ring: eight locks in two placements.
    #[test]
    fn the_changelog_lists_them_all() {
        let changelog = concat!(env!("CARGO_MANIFEST_DIR"), "/../../CHANGELOG.md");
        let changelog = std::fs::read_to_string(changelog).unwrap();
        let sections = changelog.split("### Wrong figures").skip(1);
        let section: String = sections.map(|text| text.split("\n## ").next().unwrap()).collect();
        for entry in WITHDRAWN {
            // The rings are named once, and their two endings.
            let ring = entry.id.find("/handover/").filter(|_| [RING_SAME, RING_CROSS].contains(&entry.why));
            let (id, ending) = entry.id.split_at(ring.unwrap_or(entry.id.len()));
            let named = |words: &str| words.is_empty() || section.contains(&format!("`{words}`"));
            assert!(named(id) && named(ending), "{} is not in it", entry.id);
        }
        assert_eq!(WITHDRAWN.iter().filter(|entry| [RING_SAME, RING_CROSS].contains(&entry.why)).count(), 16);
    }

    const WRONG: &str = "lock/futex/handover/cross_cpu";

    #[test]
    fn a_pair_with_a_wrong_side_keeps_what_it_said_and_has_no_value() {
        let pair = |of: &str, to: &str| PairedValue {
            of: of.to_owned(),
            to: to.to_owned(),
            quantity: "paired".to_owned(),
            unit: "ratio".to_owned(),
            value: Some(2.0),
            low: Some(1.0),
            high: Some(3.0),
            launches: vec![1.5, 2.5],
            ..PairedValue::default()
        };
        let mut result = crate::from_bytes(include_bytes!("../tests/samples/v1.json")).unwrap();
        result.figures[0].id = WRONG.to_owned();
        result.figures[0].status = Status::Measured;
        result.ratios = vec![pair(WRONG, "a"), pair("a", WRONG), pair("a", "b")];
        withdraw(&mut result);
        for pair in &result.ratios[..2] {
            assert_eq!((pair.value, pair.low, pair.high, pair.launches.len()), (None, None, None, 0));
            assert_eq!(pair.why.as_deref(), Some(&*format!("{WRONG} was withdrawn")));
            let kept = serde_json::json!({"value": 2.0, "low": 1.0, "high": 3.0, "launches": [1.5, 2.5]});
            assert_eq!(pair.unknown[KEPT], kept);
        }
        assert_eq!(result.ratios[2], pair("a", "b"));
        let once = result.clone();
        withdraw(&mut result);
        assert_eq!(result, once, "twice is as once");
    }

    #[test]
    fn a_row_by_a_wrong_figure_is_not_testable_and_says_why() {
        let mut result = crate::from_bytes(include_bytes!("../tests/samples/v1.json")).unwrap();
        result.figures[0].id = WRONG.to_owned();
        result.figures[0].status = Status::Measured;
        let row = |figure: &str, verdict| Reproduction {
            figure_id: Some(figure.to_owned()),
            measured: Some(Estimate { value: 2.0, low: 1.0, high: 3.0, extremes: false }),
            verdict: Some(verdict),
            because: "they differ".to_owned(),
            ..result.reproductions[0].clone()
        };
        let rows = [
            row(WRONG, Judgement::Holds),
            row(WRONG, Judgement::NotTestableHere),
            row("another", Judgement::Holds),
        ];
        result.reproductions = rows.to_vec();
        let here = Some(crate::AnswerHere::Literal { value: 1.0 });
        result.answers = [WRONG, "another"]
            .map(|id| crate::Answer { figure_id: Some(id.to_owned()), here, ..crate::Answer::default() })
            .to_vec();
        withdraw(&mut result);
        assert_eq!(result.answers.iter().map(|answer| answer.here).collect::<Vec<_>>(), [None, here]);
        let [judged, untested, other] = &result.reproductions[..] else { panic!("three rows") };
        assert_eq!(judged.verdict, Some(Judgement::NotTestableHere));
        assert_eq!(judged.because, format!("{WRONG} was withdrawn"));
        let estimate = serde_json::json!({"value": 2.0, "low": 1.0, "high": 3.0, "because": "they differ"});
        assert_eq!(untested.unknown[KEPT], estimate, "it had no verdict to lose");
        let mut all = estimate;
        all["verdict"] = "holds".into();
        assert_eq!((judged.measured, &judged.unknown[KEPT]), (None, &all));
        assert_eq!(other, &rows[2], "nothing was said by it");
    }
}
