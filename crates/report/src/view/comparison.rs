//! A comparison: surroundings, evidence that differs, the figures of each verdict, and the answer.

use std::collections::BTreeMap;

use oscost_results::RunResult;
use oscost_stats::sorting::SmallSort;

use crate::blocks::Place::{Left, Right, Spare};
use crate::blocks::{Cell, Fact, Judged, Part, Table, Tone, View};
use crate::evidence::per_operation;
use crate::judge::{Compared, Comparison, Differs, Shift, Verdict, name_of_pair, percent};
use crate::numbers;
use crate::words::{counted, grouped, plain, words};

/// Most figures that are shown of those that changed by less than anybody asked about.
const MOST_SMALL: usize = 12;
/// Ends of an interval that are this many times apart say nothing.
const MOST_WIDE: f64 = 100.0;

/// How a comparison is shown.
struct ComparisonView<'a> {
    comparison: &'a Comparison<'a>,
    unicode: bool,
    /// The other result, where its receipts are on the page: every figure is shown, and leads to its own.
    receipts: Option<&'a RunResult>,
}

/// What a reader needs to believe a change, or not to.
pub(crate) fn view(comparison: &Comparison<'_>, unicode: bool) -> View {
    ComparisonView { comparison, unicode, receipts: None }.view()
}

/// The same with every figure, each leading to its receipt in `other`.
pub(crate) fn linked(comparison: &Comparison<'_>, other: &RunResult) -> View {
    ComparisonView { comparison, unicode: true, receipts: Some(other) }.view()
}

impl ComparisonView<'_> {
    fn plain(&self, text: &str) -> String {
        plain(text, self.unicode)
    }

    fn arrow(&self) -> &'static str {
        if self.unicode { "\u{2192}" } else { "->" }
    }

    fn view(&self) -> View {
        let (comparison, arrow) = (self.comparison, self.arrow());
        let mut parts = Vec::new();
        if !comparison.rows.is_empty() {
            let mut lines = tallied(comparison);
            let unpaired = comparison.blind().1 - comparison.rows.len();
            if let Some(last) = lines.last_mut().filter(|_| unpaired > 0) {
                last.push_str(&format!(", {unpaired} not measured in both"));
            }
            parts.extend(lines.into_iter().map(Part::Words));
        }
        parts.push(Part::Facts(self.facts()));
        let warning = |text: &String| Part::Warning(format!("warning: {}", self.plain(text)));
        parts.extend(comparison.warnings.iter().map(warning));
        if !comparison.evidence.is_empty() {
            let evident = comparison.evidence.iter().map(|it| {
                let (a, b) = (per_operation(it.a), per_operation(it.b));
                let what = format!("{}: {} per operation, {a} {arrow} {b}", it.id, it.what);
                let (text, name, because) = (self.plain(&what), String::new(), String::new());
                Judged { word: "evidence", tone: Tone::Doubt, name, text, because }
            });
            parts.push(Part::Judged(String::new(), evident.collect()));
        }
        for (verdict, tone) in
            [(Verdict::Slower, Tone::Bad), (Verdict::Faster, Tone::Good), (Verdict::Unclear, Tone::Doubt)]
        {
            parts.extend(self.table(verdict.name(), tone, &comparison.of(verdict).collect::<Vec<_>>()));
        }
        parts.extend(self.within());
        for verdict in [Verdict::Slower, Verdict::Faster] {
            // What its figure says already is said once.
            let said = |row: &Compared| {
                let of = row.pair.as_ref().map(|(of, _)| of);
                comparison.of(verdict).any(|figure| Some(&figure.id) == of)
            };
            let pairs = comparison.pairs.iter().filter(|row| row.verdict == verdict && !said(row));
            let title = format!("{} beside its baseline", name_of_pair(verdict));
            parts.extend(self.table(&title, Tone::Doubt, &pairs.collect::<Vec<_>>()));
        }
        // The figures of one side only, those together of which the same is told.
        let alike =
            grouped(&comparison.one_sided, |one| (&one.a, &one.b)).into_iter().map(|((a, b), all)| {
                let of: Vec<Cell> = all.into_iter().map(|one| self.id(&one.id)).collect();
                let figures = counted(of.len(), "figure", "figures");
                let says = format!("{figures}, {} {arrow} {}", self.plain(a), self.plain(b));
                Fact { name: "differ", says, of }
            });
        let alike: Vec<Fact> = alike.collect();
        if !alike.is_empty() {
            parts.push(Part::Facts(alike));
        }
        parts.push(Part::Answer(answer(comparison)));
        let title = format!("{} {arrow} {}", self.plain(comparison.a), self.plain(comparison.b));
        View::new(title, parts)
    }

    /// What differs around the two, and by what they were judged.
    fn facts(&self) -> Vec<Fact> {
        let arrow = self.arrow();
        let fact = Fact::new;
        let differing = |name: &'static str, differs: &[Differs]| -> Vec<Fact> {
            let each = |it: &Differs| {
                fact(name, format!("{} {} {arrow} {}", it.what, self.plain(&it.a), self.plain(&it.b)))
            };
            if differs.is_empty() {
                return vec![fact(name, "the same".to_owned())];
            }
            differs.iter().map(each).collect()
        };
        let judged = judged_by(self.comparison).map(|says| fact("judged by", says));
        let machine = differing("machine", &self.comparison.machine);
        let conditions = differing("conditions", &self.comparison.conditions);
        machine.into_iter().chain(conditions).chain(judged).collect()
    }

    /// What changed by less than anybody asked about: where there is little room, the largest of what certainly changed.
    fn within(&self) -> Vec<Part> {
        let threshold = numbers::percent(self.comparison.threshold);
        let within = self.comparison.of(Verdict::Within);
        if self.receipts.is_some() {
            return self.table(&format!("within {threshold}"), Tone::Good, &within.collect::<Vec<_>>());
        }
        let small: Vec<&Compared> = within.filter(|row| row.changed).collect();
        let title = format!("changed by less than {threshold}");
        let mut parts = self.table(&title, Tone::Good, &small[..small.len().min(MOST_SMALL)]);
        if small.len() > MOST_SMALL {
            let more = format!("and {} more that changed by less", small.len() - MOST_SMALL);
            parts.push(Part::Words(more));
        }
        parts
    }

    /// Figures of one verdict under its name, and why it is theirs.
    fn table(&self, title: &str, tone: Tone, rows: &[&Compared]) -> Vec<Part> {
        if rows.is_empty() {
            return Vec::new();
        }
        let cells = |row: &&Compared| {
            let unit = self.plain(&row.unit);
            let is_shown = |value: f64| !row.contradicts_its_sides() && value.is_finite();
            let shown =
                |value: f64| if is_shown(value) { numbers::quantity(value, &unit) } else { "-".into() };
            let [a, b] = [row.a.value, row.b.value].map(shown);
            let is_open = row.verdict == Verdict::Unclear;
            let (change, interval) =
                row.change.map_or_else(<(String, String)>::default, |change| shifted(&change, is_open));
            let cells = [a, b, change, interval, words(&row.quantity, self.unicode)].map(Cell::from);
            std::iter::once(self.id(&row.id)).chain(cells).collect()
        };
        // What does not fit is dropped from the right, and the answer last.
        let columns = [
            (title, Left),
            ("before", Right),
            ("now", Right),
            ("change", Left),
            ("interval", Spare),
            ("quantity", Spare),
        ];
        let mut table = Table::of(columns, rows.iter().map(cells)).without_empty().answering(&["change"]);
        table.columns[0].tone = Some(tone);
        let open = rows.iter().any(|row| is_too_wide(row));
        let whys = whys(self.comparison, rows.iter().copied());
        let reasons = whys.into_iter().map(|(why, count)| {
            let of =
                if count == rows.len() { String::new() } else { format!(" ({count} of {})", rows.len()) };
            format!("why: {}{of}", self.plain(&why))
        });
        let advice = open.then(|| format!("try: {}", self.comparison.narrower));
        let reasons: Vec<String> = reasons.chain(advice).collect();
        let reasons = (!reasons.is_empty()).then_some(Part::Remarks(reasons));
        std::iter::once(Part::Table(table)).chain(reasons).collect()
    }

    /// An id, leading to the receipt of its figure where there is one.
    fn id(&self, id: &str) -> Cell {
        let has = |result: &RunResult| result.figures.iter().any(|figure| figure.id == id);
        let link = self.receipts.filter(|result| has(result)).map(|_| id.to_owned());
        Cell { link, ..self.plain(id).into() }
    }
}

/// Why rows are unclear, and how many for each reason; the order is that of the rows.
pub(super) fn whys<'r>(
    comparison: &Comparison<'_>,
    rows: impl Iterator<Item = &'r Compared>,
) -> Vec<(String, usize)> {
    let threshold = numbers::percent(comparison.threshold);
    let why = |row: &&Compared| match is_too_wide(row) {
        true if row.change.is_some_and(|change| is_unknown(&change)) => {
            "too few launches, or too scattered".to_owned()
        }
        true => format!("the change may be more than {threshold}, and may be less"),
        false => row.why.clone(),
    };
    let reasons = grouped(rows, why).into_iter().filter(|(why, _)| !why.is_empty());
    reasons.map(|(why, rows)| (why, rows.len())).collect()
}

/// What a gate must know: the last lines.
fn answer(comparison: &Comparison<'_>) -> Vec<String> {
    let mut answer = Vec::new();
    if comparison.rows.is_empty() {
        answer.push("No figure was measured in both.".to_owned());
    }
    let unasked = comparison.of(Verdict::Slower).filter(|row| row.baseline_only).count();
    if unasked > 0 {
        let what = counted(unasked, "slower figure is a baseline", "slower figures are baselines");
        answer.push(format!("{what} that nobody asked for, which --fail-on slower ignores."));
    }
    let (blind, all) = comparison.blind();
    if blind > 0 && !comparison.rows.is_empty() {
        answer.push(format!("{blind} of {} could not be judged.", counted(all, "figure", "figures")));
    }
    answer
}

/// The quantities that were judged, the most frequent first.
fn judged_by(comparison: &Comparison<'_>) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in comparison.rows.iter().filter(|row| row.change.is_some()) {
        *counts.entry(&row.quantity).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.small_sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let each: Vec<String> = counts
        .iter()
        .map(|(name, count)| format!("{} ({})", words(name, false), counted(*count, "figure", "figures")))
        .collect();
    (!each.is_empty()).then(|| each.join(", "))
}

/// How many figures have which verdict, the largest group first. Where most are unclear, nothing slower is no answer.
pub(super) fn tallied(comparison: &Comparison<'_>) -> Vec<String> {
    let threshold = numbers::percent(comparison.threshold);
    let all = comparison.rows.len();
    let named = [
        (Verdict::Slower, "slower".to_owned()),
        (Verdict::Faster, "faster".to_owned()),
        (Verdict::Within, format!("within {threshold}")),
        (Verdict::Unclear, "unclear".to_owned()),
    ];
    let mut groups = named.map(|(verdict, name)| (comparison.of(verdict).count(), verdict, name));
    groups.small_sort_by_key(|(count, ..)| std::cmp::Reverse(*count));
    let group = |(count, _, name): &(usize, Verdict, String)| format!("{count} {name}");
    let told = |groups: &[_]| groups.iter().map(group).collect::<Vec<_>>().join(", ");
    if groups[0].1 == Verdict::Unclear && groups[0].0 * 2 > all {
        let unclear = groups[0].0;
        return vec![format!("{unclear} of {all} unclear: these runs cannot answer"), told(&groups[1..])];
    }
    vec![told(&groups[..])]
}

/// Whether the width of its interval is all that keeps a row from an answer.
fn is_too_wide(row: &Compared) -> bool {
    row.verdict == Verdict::Unclear && row.change.is_some() && row.why.is_empty()
}

/// Whether the interval of a change says nothing: one launch has none, and launches may scatter too far.
pub(super) fn is_unknown(change: &Shift) -> bool {
    !change.high.is_finite() || 1.0 + change.high > MOST_WIDE * (1.0 + change.low)
}

/// A bound of a change in per cent: a decimal where it says something.
fn bound(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() < 9.95 { format!("{percent:+.1}") } else { format!("{percent:+.0}") }
}

/// A change, and the interval by which it was judged; where that is open, the interval alone.
fn shifted(change: &Shift, is_open: bool) -> (String, String) {
    if is_unknown(change) {
        return ("unknown".to_owned(), String::new());
    }
    let interval = format!("{} .. {} %", bound(change.low), bound(change.high));
    if is_open { (interval, String::new()) } else { (percent(change.change), interval) }
}
