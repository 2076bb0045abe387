//! What a run found, as the judgements ask for it.

use oscost_results::quantity;
use oscost_results::{
    Cell, CellAxis, Estimate, Figure, Judgement, PairedValue, Reproduction, Status, Verdict,
};

use crate::measured::Measured;

/// Figures and ratios of one run.
pub struct Found<'a> {
    /// All figures, those of the literal methods included.
    pub figures: &'a [Figure],
    /// Paired ratios.
    pub ratios: &'a [PairedValue],
    /// Paired differences.
    pub differences: &'a [PairedValue],
    /// Kind of file system of `--set directory=`; none: files lie in memory.
    pub file_system: Option<&'a str>,
    /// CPUs that were used.
    pub cpus: Option<usize>,
}

impl<'a> Found<'a> {
    /// What a run found that knows neither of files nor of CPUs.
    #[must_use]
    pub fn of(figures: &'a [Figure], ratios: &'a [PairedValue], differences: &'a [PairedValue]) -> Self {
        Self { figures, ratios, differences, file_system: None, cpus: None }
    }
}

/// Runs of a literal program that its statements are judged by at least: fewer have no interval of 95 %.
pub const LEAST_RUNS: usize = 6;

impl Found<'_> {
    /// The figure of this id, if it was measured.
    #[must_use]
    pub fn figure(&self, id: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.id == id && figure.status == Status::Measured)
    }

    /// What became of a figure that was not measured, why, and what can be done about it, in the words of its benchmark.
    #[must_use]
    pub fn lack(&self, id: &str) -> Option<String> {
        let figure = self.figures.iter().find(|figure| figure.id == id)?;
        if figure.status == Status::Measured {
            return None;
        }
        let words = [&figure.why, &figure.remedy].into_iter().flatten().map(String::as_str);
        Some(
            std::iter::once(figure.status.name())
                .chain(words.filter(|words| !words.is_empty()))
                .collect::<Vec<_>>()
                .join(": "),
        )
    }

    /// The quotient of two quantities of one figure, launch by launch.
    #[must_use]
    pub fn within_launches(&self, id: &str, of: &str, to: &str) -> Option<Estimate> {
        let launches = &self.figure(id)?.launches;
        let ratio = |launch: &oscost_results::LaunchRecord| {
            let (of, to) = (launch.quantities.get(of)?, launch.quantities.get(to)?);
            (*to > 0.0).then(|| of / to)
        };
        let ratios: Vec<f64> = launches.iter().filter_map(ratio).collect();
        let interval = oscost_stats::interval::over_launches(&ratios, oscost_stats::interval::MEDIAN)?;
        let oscost_stats::interval::Interval { value, low, high, extremes } = interval;
        Some(Estimate { value, low, high, extremes })
    }

    /// A quantity with the interval that it has over its launches; `None` of a single one.
    #[must_use]
    pub fn quantity(&self, id: &str, quantity: &str) -> Option<Estimate> {
        self.measured(id, quantity).map(Measured::estimate)
    }

    /// A quantity over the launches that have it; `None` where fewer than two do.
    pub(crate) fn measured(&self, id: &str, quantity: &str) -> Option<Measured> {
        let figure = self.figure(id)?;
        let runs = figure.launches.iter().filter(|launch| launch.quantities.contains_key(quantity)).count();
        Measured::over(figure.quantities.get(quantity)?.estimate, runs)
    }

    /// The floor of a measured figure, ns.
    #[must_use]
    pub fn floor(&self, id: &str) -> Option<Estimate> {
        self.quantity(id, quantity::FLOOR)
    }

    /// A number of a document's own program, however often it ran.
    #[must_use]
    pub fn literal(&self, id: &str, quantity: &str) -> Option<f64> {
        Some(self.figure(id)?.quantities.get(quantity)?.estimate.value)
    }

    /// A number of a literal program that ran often enough for an interval, each time as a fresh process; `None` where it ran
    /// once, as in the document.
    #[must_use]
    pub fn repeated(&self, id: &str, quantity: &str) -> Option<Estimate> {
        let figure = self.figure(id).filter(|figure| figure.launches.len() >= LEAST_RUNS)?;
        Some(figure.quantities.get(quantity)?.estimate)
    }

    /// How often a literal program ran, in words: what its number is of.
    #[must_use]
    pub fn runs(&self, id: &str) -> String {
        match self.figure(id).map_or(1, |figure| figure.launches.len()) {
            0 | 1 => "a single run".to_owned(),
            runs => format!("{runs} runs, their median"),
        }
    }

    /// The paired ratio of two figures.
    #[must_use]
    pub fn ratio(&self, of: &str, to: &str) -> Option<Estimate> {
        paired(self.ratios, of, to, PAIRED).map(Measured::estimate)
    }

    /// The ratio of one quantity of two series, launch by launch.
    #[must_use]
    pub fn ratio_of(&self, of: &str, to: &str, quantity: &str) -> Option<Estimate> {
        paired(self.ratios, of, to, quantity).map(Measured::estimate)
    }

    /// The paired difference of two figures, ns.
    #[must_use]
    pub(crate) fn difference(&self, of: &str, to: &str) -> Option<Measured> {
        paired(self.differences, of, to, PAIRED)
    }

    /// System calls an operation that the audit counted; `None` where it counted nothing.
    #[must_use]
    pub fn calls(&self, id: &str) -> Option<f64> {
        let evidence = &self.figures.iter().find(|figure| figure.id == id)?.evidence;
        evidence.audit_method.as_ref()?;
        Some(evidence.system_calls.values().fold(0.0, |sum, calls| sum + calls))
    }

    /// The same as an answer of the figure `id`: counted, not estimated.
    pub(crate) fn counted(&self, id: &str) -> Option<Answer<'static>> {
        Some((id.to_owned(), SYSTEM_CALLS, Some(Measured::counted(self.calls(id)?))))
    }

    /// On how many CPUs several took part, for the title of a table; empty where that is not known.
    #[must_use]
    pub fn on_cpus(&self) -> String {
        match self.cpus {
            None => String::new(),
            Some(1) => " on 1 CPU".to_owned(),
            Some(cpus) => format!(" on {cpus} CPUs"),
        }
    }

    /// Whether the claims of a figure were counted and hold.
    #[must_use]
    pub fn checked(&self, id: &str) -> bool {
        self.figure(id).is_some_and(|figure| figure.evidence.verdict == Verdict::Checked)
    }
}

/// What the rounds of two figures make together.
const PAIRED: &str = "paired";

fn paired(pairs: &[PairedValue], of: &str, to: &str, quantity: &str) -> Option<Measured> {
    let pair = pairs.iter().find(|pair| pair.of == of && pair.to == to && pair.quantity == quantity)?;
    let estimate = Estimate { value: pair.value?, low: pair.low?, high: pair.high?, extremes: false };
    Measured::over(estimate, pair.launches.len())
}

/// Rows of one document.
pub(crate) struct Rows {
    document: &'static str,
    pub(crate) rows: Vec<Reproduction>,
}

/// Id of a figure, its quantity, and value and interval of that where it was measured.
pub(crate) type Answer<'a> = (String, &'a str, Option<Measured>);

/// A published value, or `None` where the document has none at that place.
#[derive(Default)]
pub(crate) struct Value<'a> {
    pub(crate) place: String,
    pub(crate) cell: Option<Cell>,
    pub(crate) unit: &'a str,
    pub(crate) published: Option<f64>,
    pub(crate) literal: Option<f64>,
    /// Published, literal and measured in words, where a cell has no number or more than one.
    pub(crate) words: [Option<String>; 3],
    pub(crate) answer: Option<Answer<'a>>,
    pub(crate) because: String,
}

impl Value<'_> {
    /// A value in a table.
    pub(crate) fn in_table<'a>(table: &str, row: &str, column: &str, unit: &'a str) -> Value<'a> {
        let cell = Cell {
            table: table.to_owned(),
            row: row.to_owned(),
            column: column.to_owned(),
            ..Cell::default()
        };
        Value { cell: Some(cell), ..Value::at(format!("{table}: {row}, {column}"), unit) }
    }

    /// The same in a row that stands for a number of something.
    pub(crate) fn on_axis(self, at: u64, counts: &str) -> Self {
        let axis = CellAxis { at, counts: counts.to_owned(), ..CellAxis::default() };
        self.with_cell(|cell| cell.axis = Some(axis))
    }

    /// The same where the document had a curve, which its text has lost.
    pub(crate) fn lost(self) -> Self {
        self.with_cell(|cell| cell.axis.iter_mut().for_each(|axis| axis.lost = true))
    }

    /// The same whose plot has a shorter title than its table.
    pub(crate) fn called(self, title: &str) -> Self {
        let short = |axis: &mut CellAxis| axis.short_title = Some(title.to_owned());
        self.with_cell(|cell| cell.axis.iter_mut().for_each(short))
    }

    /// Changes the cell of a value in a table.
    pub(crate) fn with_cell(mut self, change: impl FnOnce(&mut Cell)) -> Self {
        if let Some(cell) = &mut self.cell {
            change(cell);
        }
        self
    }

    /// A row with a place and a unit, and nothing in it.
    pub(crate) fn at(place: impl Into<String>, unit: &str) -> Value<'_> {
        Value { place: place.into(), unit, ..Value::default() }
    }
}

impl Rows {
    pub(crate) fn of(document: &'static str) -> Self {
        Self { document, rows: Vec::new() }
    }

    /// Adds a value.
    pub(crate) fn value(&mut self, value: Value<'_>) {
        let (figure_id, quantity, measured) = match value.answer {
            Some((id, quantity, measured)) => (Some(id), Some(quantity.to_owned()), measured),
            None => (None, None, None),
        };
        let [published_words, literal_words, measured_words] = value.words;
        self.rows.push(Reproduction {
            document: self.document.to_owned(),
            place: value.place,
            cell: value.cell,
            published: value.published,
            unit: value.unit.to_owned(),
            literal: value.literal,
            published_words,
            literal_words,
            measured_words,
            figure_id,
            quantity,
            measured: measured.map(Measured::estimate),
            because: value.because,
            ..Reproduction::default()
        });
    }

    /// Adds a value whose number here is computed from figures and is no quantity of one.
    pub(crate) fn computed(&mut self, value: Value<'_>, measured: Option<Estimate>) {
        self.value(value);
        if let Some(row) = self.rows.last_mut() {
            row.measured = measured;
        }
    }

    /// Adds words alone.
    pub(crate) fn note(&mut self, place: impl Into<String>, because: impl Into<String>) {
        self.value(Value { because: because.into(), ..Value::at(place, "") });
    }

    /// Adds what is done otherwise than by the document's own method: what, and how.
    pub(crate) fn deviations(&mut self, all: &[(&str, &str)]) {
        for (what, how) in all {
            self.note(format!("differs: {what}"), *how);
        }
    }

    /// Names the figure that decides the statement added last.
    pub(crate) fn by(&mut self, id: &str, quantity: &str, measured: Option<Estimate>) {
        if let Some(row) = self.rows.last_mut() {
            row.figure_id = Some(id.to_owned());
            row.quantity = Some(quantity.to_owned());
            row.measured = measured;
        }
    }

    /// Names the system calls of a figure as what decides the statement added last.
    pub(crate) fn by_count(&mut self, found: &Found<'_>, id: &str) {
        if let Some((id, quantity, counted)) = found.counted(id) {
            self.by(&id, quantity, counted.map(Measured::estimate));
        }
    }

    /// Adds a statement and its judgement.
    pub(crate) fn statement(&mut self, place: &str, words: Words<'_>, (verdict, because): Judged) {
        let (statement, ours) = match words {
            Quoted(statement) => (statement, false),
            Ours(statement) => (statement, true),
        };
        self.rows.push(Reproduction {
            document: self.document.to_owned(),
            place: place.to_owned(),
            statement: Some(statement.to_owned()),
            ours,
            verdict: Some(verdict),
            because,
            ..Reproduction::default()
        });
    }
}

/// Whose words a statement is. Those of a document are verbatim: `contrib/statements/check` holds them against its text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Words<'a> {
    /// The document's, with " ... " where some are left out.
    Quoted(&'a str),
    /// Ours, beside it.
    Ours(&'a str),
}

pub(crate) use Words::{Ours, Quoted};

/// A judgement and the numbers that decide.
pub(crate) type Judged = (Judgement, String);

/// Quantities of what was counted, and not timed.
pub(crate) const SYSTEM_CALLS: &str = "system_calls";
pub(crate) const WAITS_COUNTED: &str = "voluntary_switches";

/// Whether what decides a row was counted: such a verdict needs no interval.
pub(crate) fn is_counted(row: &Reproduction) -> bool {
    matches!(row.quantity.as_deref(), Some(SYSTEM_CALLS | WAITS_COUNTED))
}

/// Judged where everything needed was measured, else not testable. Why stands in [`Document::judge`](crate::Document::judge).
pub(crate) fn judged(numbers: Option<Judged>) -> Judged {
    numbers.unwrap_or_else(|| (Judgement::NotTestableHere, String::new()))
}

/// A count as people read it: digits in groups of three.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok());
    groups.collect::<Vec<_>>().join(" ")
}

/// Whether a condition holds.
pub(crate) fn holds_if(condition: bool) -> Judgement {
    if condition { Judgement::Holds } else { Judgement::DoesNotHold }
}

/// Whether an interval lies within bounds: it holds inside, does not hold outside, and is unclear across an edge.
pub(crate) fn within(estimate: &Estimate, least: f64, most: f64) -> Judgement {
    if estimate.low >= least && estimate.high <= most {
        Judgement::Holds
    } else if estimate.high < least || estimate.low > most {
        Judgement::DoesNotHold
    } else {
        Judgement::Unclear
    }
}

/// Whether one is more than the other: unclear where their intervals meet.
pub(crate) fn more(one: &Estimate, other: &Estimate) -> Judgement {
    if one.low > other.high {
        Judgement::Holds
    } else if one.high < other.low {
        Judgement::DoesNotHold
    } else {
        Judgement::Unclear
    }
}

/// An estimate of a quotient of two figures that were not paired: the widest that their intervals allow.
pub(crate) fn quotient(of: &Estimate, to: &Estimate) -> Option<Estimate> {
    (to.low > 0.0).then(|| Estimate {
        value: of.value / to.value,
        low: of.low / to.high,
        high: of.high / to.low,
        extremes: of.extremes || to.extremes,
    })
}

/// Of a sentence that speaks of several things: where some hold and others do not, it holds in part.
pub(crate) fn of_parts(parts: &[Judgement]) -> Judgement {
    let all = |judgement| parts.iter().all(|part| *part == judgement);
    match (parts.contains(&Judgement::Holds), parts.contains(&Judgement::DoesNotHold)) {
        (true, true) => Judgement::HoldsInPart,
        (true, false) if all(Judgement::Holds) => Judgement::Holds,
        (false, true) if all(Judgement::DoesNotHold) => Judgement::DoesNotHold,
        _ => Judgement::Unclear,
    }
}

/// A figure of the document's machine beside this one's: no rule, so nothing to judge.
pub(crate) fn beside(there: &str, here: Option<String>) -> Judged {
    here.map_or_else(|| judged(None), |here| (Judgement::ItsMachine, format!("there {there}, here {here}")))
}

/// Numbers of single runs: shown, for without an interval there is no verdict.
pub(crate) fn shown(words: Option<String>) -> Judged {
    words.map_or_else(
        || judged(None),
        |words| (Judgement::NotJudged, format!("{words}; fewer than {LEAST_RUNS} runs, so no verdict")),
    )
}

/// Judged where the literal programs ran often enough for intervals; else their single runs are shown.
pub(crate) fn judged_or_shown(repeated: Option<Judged>, single: Option<String>) -> Judged {
    repeated.unwrap_or_else(|| shown(single))
}

/// "26.78 ns (26.76 .. 26.81)": `scale` times an estimate, with as many decimals more as its interval needs to show its width.
/// What has none is a number alone.
pub(crate) fn ranged(estimate: &Estimate, scale: f64, decimals: usize, unit: &str) -> String {
    let [value, low, high] = [estimate.value, estimate.low, estimate.high].map(|it| it * scale);
    let shown = |it: f64, decimals: usize| format!("{it:.decimals$}");
    match (decimals..decimals + 4).find(|&decimals| shown(low, decimals) != shown(high, decimals)) {
        Some(decimals) => {
            let [value, low, high] = [value, low, high].map(|it| shown(it, decimals));
            format!("{value}{unit} ({low} .. {high})")
        }
        None => format!("{}{unit}", shown(value, decimals)),
    }
}

/// "163.0x (161.2 .. 164.1)".
pub(crate) fn times(estimate: &Estimate) -> String {
    ranged(estimate, 1.0, 1, "x")
}

/// "1.02x (1.00 .. 1.04)": where a hundredth decides.
pub(crate) fn times_to_hundredths(estimate: &Estimate) -> String {
    ranged(estimate, 1.0, 2, "x")
}

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) mod test;
