//! What is to be said of a result, in words and in order, whatever the format: sections, rows, notes, the closing line.
//!
//! Every string that leaves this module is free of control characters; a format escapes what it alone cares for.

use oscost_results::{
    CheckState, CheckedClaim, Expectation, Figure, Mark, PairedValue, RunResult, Status, Verdict,
};

use crate::plain::plain;
use crate::style::Tone;
use crate::{numbers, picture};

/// Ratio of a paired ratio to that of the floors beyond which both are shown (METHOD.md, point 7).
const RATIOS_DIFFER: f64 = 0.02;

/// A result, and how to speak of it.
pub(crate) struct Story<'a> {
    result: &'a RunResult,
    unicode: bool,
}

/// Rows under one heading: a family, or the series of a family that quote one quantity.
pub(crate) struct Section {
    /// Name of the family in capitals, blanks for underscores.
    pub family: String,
    /// The operation, where (nearly) all rows share it.
    pub operation: Option<String>,
    /// Name of the quantity that is quoted.
    pub headline: String,
    /// Whether the rows are batched benchmarks, with floor, typical and tail.
    pub batched: bool,
    /// The figures, in the order of the result.
    pub rows: Vec<Row>,
}

/// One figure.
pub(crate) struct Row {
    /// Id without the family.
    pub name: String,
    /// How the operation is reached.
    pub call_path: String,
    /// Numbers, or why there are none.
    pub outcome: Outcome,
    /// What is noteworthy in a few words: another operation, ratios, differences, marks.
    pub notes: Vec<String>,
    /// What is noteworthy in sentences.
    pub remarks: Vec<String>,
}

/// The numbers of a measured figure, or the reason for which there are none.
pub(crate) enum Outcome {
    /// Numbers are shown.
    Measured(Numbers),
    /// The state ("unsupported", "failed", "withheld") and why.
    Withheld {
        /// One word.
        state: &'static str,
        /// Reason and remedy.
        why: String,
    },
}

/// The columns of a measured figure.
pub(crate) struct Numbers {
    /// Value of the headline with its unit.
    pub value: String,
    /// Its interval.
    pub interval: String,
    /// Median over launches of the launch median.
    pub typical: String,
    /// 99th percentile of batch means.
    pub tail: String,
    /// The distribution of all samples.
    pub picture: String,
    /// System calls per operation.
    pub calls: String,
    /// Verdict of the evidence.
    pub verdict: &'static str,
    /// How far it can be relied on.
    pub tone: Tone,
}

impl<'a> Story<'a> {
    /// Prepares to speak of `result`, in ASCII alone unless `unicode`.
    pub fn new(result: &'a RunResult, unicode: bool) -> Self {
        Self { result, unicode }
    }

    fn plain(&self, text: &str) -> String {
        plain(text, self.unicode)
    }

    /// Tool and version.
    pub fn tool(&self) -> String {
        format!("oscost {}", self.or_unknown(&self.result.tool.version))
    }

    /// Machine and conditions in one line.
    pub fn conditions(&self) -> String {
        let (machine, conditions) = (&self.result.machine, &self.result.conditions);
        let guest = machine
            .hypervisor
            .as_deref()
            .map_or(String::new(), |name| format!(" ({} guest)", self.plain(name)));
        let mut facts = vec![
            self.or_unknown(&conditions.kernel),
            self.or_unknown(&machine.cpu_model),
            format!("{} CPU{}{guest}", machine.cpus, if machine.cpus == 1 { "" } else { "s" }),
            self.or_unknown(&self.result.tool.libc),
        ];
        facts.push(match conditions.clock_step_ns {
            Some(step) => format!("clock step {}", whole_duration(step)),
            None => "clock step unknown".to_owned(),
        });
        facts.push(format!("seed {}", self.result.plan.seed));
        facts.join(", ")
    }

    /// Whether the machine is fit to measure: the full sentence, and one that only names the checks.
    pub fn doctor(&self) -> (String, String) {
        let checks = &self.result.doctor;
        if checks.is_empty() {
            let unasked = "the machine was not examined (oscost doctor)".to_owned();
            return (unasked.clone(), unasked);
        }
        let disturbing: Vec<_> = checks.iter().filter(|check| check.state == CheckState::Disturbs).collect();
        let unknown = checks.iter().filter(|check| check.state == CheckState::Unknown).count();
        let mut start = "fit to measure".to_owned();
        if !disturbing.is_empty() {
            start = format!("{start}, with {}", counted(disturbing.len(), "reservation", "reservations"));
        }
        if unknown > 0 {
            start = format!("{start}, {} not possible", counted(unknown, "check", "checks"));
        }
        if disturbing.is_empty() {
            return (start.clone(), start);
        }
        let names: Vec<_> = disturbing.iter().map(|check| self.words(&check.check)).collect();
        let findings: Vec<_> = disturbing
            .iter()
            .zip(&names)
            .map(|(check, name)| format!("{name}: {}", self.clause(&check.says)))
            .collect();
        (
            format!("{start}: {} (oscost doctor)", findings.join("; ")),
            format!("{start}: {} (oscost doctor)", names.join(", ")),
        )
    }

    /// What a reader must know before the first figure: an early end, the user's note, warnings.
    pub fn warnings(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.result.partial {
            all.push(
                "partial: the run was ended before its plan was; figures rest on fewer launches".to_owned(),
            );
        }
        all.extend(self.result.note.iter().map(|note| format!("note: {}", self.plain(note))));
        all.extend(self.result.warnings.iter().map(|warning| format!("warning: {}", self.plain(warning))));
        all
    }

    /// The figures by family in the order of the result; a family's series follow, by the quantity that they quote.
    pub fn sections(&self) -> Vec<Section> {
        let mut groups: Vec<(&str, &str, Vec<&Figure>)> = Vec::new();
        let mut families: Vec<&str> = Vec::new();
        for figure in &self.result.figures {
            let headline = if figure.headline.is_empty() { "floor" } else { figure.headline.as_str() };
            if !families.contains(&figure.family.as_str()) {
                families.push(&figure.family);
            }
            match groups.iter_mut().find(|group| group.0 == figure.family && group.1 == headline) {
                Some(group) => group.2.push(figure),
                None => groups.push((&figure.family, headline, vec![figure])),
            }
        }
        // Stable: within a family batched benchmarks first, then each headline where it was first seen.
        groups
            .sort_by_key(|group| (families.iter().position(|family| *family == group.0), group.1 != "floor"));
        groups
            .into_iter()
            .map(|(family, headline, figures)| self.section(family, headline, &figures))
            .collect()
    }

    fn section(&self, family: &str, headline: &str, figures: &[&Figure]) -> Section {
        let shared = most_common(figures.iter().map(|figure| figure.operation.as_str()))
            .filter(|(_, count)| count * 2 > figures.len() && !family.is_empty())
            .map(|(operation, _)| operation);
        let rows = figures.iter().map(|figure| self.row(figure, shared)).collect();
        Section {
            family: self.words(family).to_uppercase(),
            operation: shared.map(|operation| self.plain(operation)),
            headline: self.words(headline),
            batched: headline == "floor",
            rows,
        }
    }

    fn row(&self, figure: &Figure, shared_operation: Option<&str>) -> Row {
        let measured = figure.status == Status::Measured;
        let mut notes = Vec::new();
        let mut remarks = Vec::new();
        if measured {
            notes.extend(self.own_operation(figure, shared_operation));
            notes.extend(self.ratios(figure));
            notes.extend(self.differences(figure));
            notes.extend(self.marks(figure));
            notes.extend(self.voided(figure));
            notes.extend(self.other_quantities(figure));
            remarks.extend(
                figure
                    .evidence
                    .audit_missing
                    .iter()
                    .filter(|_| self.audit_missing().is_none())
                    .map(|why| format!("system calls were not counted: {}", self.plain(why))),
            );
        }
        remarks.extend(figure.remarks.iter().map(|remark| self.plain(remark)));
        Row {
            name: self.name(figure),
            call_path: match figure.call_path.as_str() {
                "vdso" => "vDSO".to_owned(),
                other => self.plain(other),
            },
            outcome: self.outcome(figure),
            notes,
            remarks,
        }
    }

    fn outcome(&self, figure: &Figure) -> Outcome {
        let state = match figure.status {
            Status::Measured => return Outcome::Measured(self.numbers(figure)),
            Status::Unsupported => "unsupported",
            Status::Failed => "failed",
            Status::Contradicted => "withheld",
        };
        let stated = figure.why.as_deref().filter(|why| !why.is_empty()).map(|why| self.plain(why));
        let counted =
            || figure.evidence.claims.iter().filter(|claim| claim.holds == Some(false)).map(contradiction);
        let mut why = match (stated, figure.status) {
            (Some(why), _) => why,
            (None, Status::Contradicted) if counted().next().is_some() => {
                self.plain(&counted().collect::<Vec<_>>().join("; "))
            }
            (None, _) => "no reason is on record".to_owned(),
        };
        if let Some(remedy) = figure.remedy.as_deref().filter(|remedy| !remedy.is_empty()) {
            why = format!("{why}; remedy: {}", self.plain(remedy));
        }
        Outcome::Withheld { state, why }
    }

    fn numbers(&self, figure: &Figure) -> Numbers {
        let value_of = |name: &str| {
            figure.quantities.get(name).map_or(String::new(), |quantity| {
                numbers::quantity(quantity.estimate.value, &self.plain(&quantity.unit))
            })
        };
        let headline = if figure.headline.is_empty() { "floor" } else { figure.headline.as_str() };
        let batched = headline == "floor";
        let quoted = figure.quantities.get(headline);
        Numbers {
            value: if quoted.is_some() { value_of(headline) } else { "no value".to_owned() },
            interval: quoted.map_or(String::new(), |quantity| {
                numbers::interval(&quantity.estimate, &self.plain(&quantity.unit), self.unicode)
            }),
            typical: if batched { value_of("typical") } else { String::new() },
            tail: if batched { value_of("batch_p99") } else { String::new() },
            picture: picture::distribution(&figure.launches, self.unicode),
            calls: system_calls(figure).map_or("?".to_owned(), per_operation),
            verdict: match figure.evidence.verdict {
                Verdict::Proved => "proved",
                Verdict::Contradicted => "contradicted",
                Verdict::NoClaim => "no claim",
            },
            tone: match figure.evidence.verdict {
                Verdict::Contradicted => Tone::Bad,
                Verdict::Proved if figure.marks.is_empty() => Tone::Good,
                _ => Tone::Doubt,
            },
        }
    }

    /// The operation, where the heading does not say it and the name does not either.
    fn own_operation(&self, figure: &Figure, shared: Option<&str>) -> Option<String> {
        let operation = figure.operation.as_str();
        (shared != Some(operation) && !operation.is_empty() && !says_itself(&figure.id, operation))
            .then(|| self.plain(operation))
    }

    fn ratios(&self, figure: &Figure) -> Vec<String> {
        let of_this = || self.result.ratios.iter().filter(|ratio| ratio.of == figure.id);
        let mut notes = Vec::new();
        for ratio in of_this() {
            let paired = of_this().find(|other| other.to == ratio.to && other.quantity == "paired");
            if ratio.quantity == "floor" && paired.is_some() {
                // The paired ratio is the one that is quoted; the floors' stands beside it only where the two disagree.
                if let (Some(floors), Some(quoted)) = (ratio.value, paired.and_then(|paired| paired.value))
                    && (floors / quoted - 1.0).abs() > RATIOS_DIFFER
                {
                    notes.push(format!(
                        "beware: {} of the floors, more than 2 % off",
                        numbers::ratio(floors, None)
                    ));
                }
                continue;
            }
            let name = self.other_name(figure, &ratio.to);
            let kind = match ratio.quantity.as_str() {
                "paired" => String::new(),
                other => format!(", {}", self.words(other)),
            };
            notes.push(match ratio.value {
                Some(value) => {
                    let bounds = ratio.low.zip(ratio.high);
                    let figure = numbers::ratio(value, None);
                    let bounds = bounds.map_or(String::new(), |(low, high)| {
                        format!(" ({} .. {})", numbers::significant(low), numbers::significant(high))
                    });
                    format!("{figure} {name}{bounds}{kind}{}", self.reservation(ratio))
                }
                None => format!("no ratio to {name}{kind}{}", self.reservation(ratio)),
            });
        }
        notes
    }

    fn differences(&self, figure: &Figure) -> Vec<String> {
        let of_this = self.result.differences.iter().filter(|difference| difference.of == figure.id);
        of_this
            .map(|difference| {
                let name = self.other_name(figure, &difference.to);
                let unit = self.plain(&difference.unit);
                match difference.value {
                    Some(value) => {
                        let bounds =
                            difference.low.zip(difference.high).map_or(String::new(), |(low, high)| {
                                format!(" ({})", numbers::range(low, high, &unit))
                            });
                        let value = numbers::quantity(value, &unit);
                        format!("{value} without {name}{bounds}{}", self.reservation(difference))
                    }
                    None => format!("no difference to {name}{}", self.reservation(difference)),
                }
            })
            .collect()
    }

    fn reservation(&self, pair: &PairedValue) -> String {
        pair.why
            .as_deref()
            .filter(|why| !why.is_empty())
            .map_or(String::new(), |why| format!(": {}", self.plain(why)))
    }

    fn marks(&self, figure: &Figure) -> Vec<String> {
        let headline =
            figure.quantities.get(if figure.headline.is_empty() { "floor" } else { &figure.headline });
        let unit = headline.map_or(String::new(), |quantity| self.plain(&quantity.unit));
        let mut notes: Vec<String> = figure
            .marks
            .iter()
            .filter(|mark| **mark != Mark::Bimodal)
            .map(|mark| match mark {
                Mark::Noisy => figure.evidence.clean_share.map_or("noisy".to_owned(), |share| {
                    format!("noisy: {:.0} % clean rounds", share * 100.0)
                }),
                Mark::NotConverged => headline
                    .and_then(|quantity| numbers::half_width(&quantity.estimate))
                    .map_or("not converged".to_owned(), |half| {
                        format!("not converged: half-width {:.*} %", usize::from(half < 0.1), half * 100.0)
                    }),
                Mark::NotRealTime => "not real-time: the priority was not granted".to_owned(),
                Mark::Bimodal => "bimodal".to_owned(),
            })
            .collect();
        if !figure.modes.is_empty() {
            let modes: Vec<_> = figure
                .modes
                .iter()
                .map(|mode| format!("{} {:.0} %", numbers::quantity(mode.value, &unit), mode.share * 100.0))
                .collect();
            notes.push(format!("bimodal: {}", modes.join(", ")));
        } else if figure.marks.contains(&Mark::Bimodal) {
            notes.push("bimodal".to_owned());
        }
        if figure.placement == "unpinned" {
            notes.push("unpinned: a mixture of placements".to_owned());
        }
        notes
    }

    fn voided(&self, figure: &Figure) -> Vec<String> {
        let evidence = &figure.evidence;
        let mut notes = Vec::new();
        if evidence.void_launches > 0 {
            let launches = counted(evidence.void_launches as usize, "launch", "launches");
            notes.push(format!("{launches} voided: the environment changed"));
        }
        if evidence.void_batches > 0 {
            notes.push(format!("{} batches voided: a call failed", evidence.void_batches));
        }
        notes
    }

    /// Everything a series yields besides the quantity in the column.
    fn other_quantities(&self, figure: &Figure) -> Vec<String> {
        if figure.headline.is_empty() || figure.headline == "floor" {
            return Vec::new();
        }
        let others = figure.quantities.iter().filter(|(name, _)| **name != figure.headline);
        others
            .map(|(name, quantity)| {
                let unit = self.plain(&quantity.unit);
                let interval = match numbers::interval(&quantity.estimate, &unit, self.unicode) {
                    interval if interval.is_empty() || interval.ends_with(" 0 %") => String::new(),
                    interval if interval.starts_with('[') => format!(" {interval}"),
                    interval => format!(" ({interval})"),
                };
                format!(
                    "{} {}{interval}",
                    self.words(name),
                    numbers::quantity(quantity.estimate.value, &unit)
                )
            })
            .collect()
    }

    /// The reason for which nothing was counted, where it is the same for every measured figure of several.
    fn audit_missing(&self) -> Option<&'a str> {
        let mut measured = self.result.figures.iter().filter(|figure| figure.status == Status::Measured);
        let first = measured.next()?.evidence.audit_missing.as_deref()?;
        let mut others = measured.map(|figure| figure.evidence.audit_missing.as_deref()).peekable();
        (others.peek().is_some() && others.all(|reason| reason == Some(first))).then_some(first)
    }

    /// Footnotes: what holds for several rows.
    pub fn footnotes(&self) -> Vec<String> {
        let mut all = Vec::new();
        if let Some(why) = self.audit_missing() {
            all.push(format!("System calls were not counted: {}", self.plain(why)));
        }
        let quoted =
            |figure: &Figure| figure.quantities.get(&figure.headline).map(|quantity| quantity.estimate);
        let bracketed =
            |estimate: oscost_results::Estimate| estimate.extremes && estimate.low != estimate.high;
        if self.result.figures.iter().filter_map(quoted).any(bracketed) {
            all.push("[low .. high]: smallest and largest of fewer than 6 launches, no interval.".to_owned());
        }
        all
    }

    /// How many figures there are, of which verdict, and what was withheld.
    pub fn closing(&self, saved: Option<&str>) -> String {
        let figures = &self.result.figures;
        let measured: Vec<_> = figures.iter().filter(|figure| figure.status == Status::Measured).collect();
        let verdicts = [
            (Verdict::Proved, "proved"),
            (Verdict::Contradicted, "contradicted"),
            (Verdict::NoClaim, "no claim"),
        ];
        let marks = [
            (Mark::Noisy, "noisy"),
            (Mark::Bimodal, "bimodal"),
            (Mark::NotConverged, "not converged"),
            (Mark::NotRealTime, "not real-time"),
        ];
        let states = [
            (Status::Contradicted, "contradicted"),
            (Status::Failed, "failed"),
            (Status::Unsupported, "unsupported"),
        ];
        let by_verdict = tally(&verdicts, |verdict| {
            measured.iter().filter(|figure| figure.evidence.verdict == *verdict).count()
        });
        let by_mark =
            tally(&marks, |mark| measured.iter().filter(|figure| figure.marks.contains(mark)).count());
        let by_state =
            tally(&states, |state| figures.iter().filter(|figure| figure.status == *state).count());

        let mut line = counted(figures.len(), "figure", "figures");
        if !by_verdict.is_empty() {
            line = format!("{line}: {by_verdict}");
        }
        if !by_mark.is_empty() {
            line = format!("{line}; {}", by_mark.replacen(' ', " of them ", 1));
        }
        line.push_str(". ");
        line.push_str(&match figures.len() - measured.len() {
            0 if figures.is_empty() => "Nothing was measured.".to_owned(),
            0 => "Nothing withheld.".to_owned(),
            _ => format!("Withheld: {by_state}."),
        });
        if self.result.partial {
            line.push_str(" Partial: the run was ended early.");
        }
        if let Some(name) = saved {
            line.push_str(&format!(" Saved as {}.", self.plain(name)));
        }
        line
    }

    /// Id without the family.
    fn name(&self, figure: &Figure) -> String {
        let name = without_family(&figure.id, &figure.family);
        if name.is_empty() { "(no name)".to_owned() } else { self.plain(name) }
    }

    /// Id of another figure as it is called beside this one.
    fn other_name(&self, figure: &Figure, id: &str) -> String {
        self.plain(without_family(id, &figure.family))
    }

    /// A name of the schema in words: blanks for underscores.
    fn words(&self, name: &str) -> String {
        self.plain(name).replace('_', " ")
    }

    /// The first clause of a finding.
    fn clause(&self, says: &str) -> String {
        let end = says.find([';', ':']).or_else(|| says.find(". ")).unwrap_or(says.len());
        self.plain(says.get(..end).unwrap_or(says)).trim().to_owned()
    }

    fn or_unknown(&self, text: &str) -> String {
        if text.is_empty() { "unknown".to_owned() } else { self.plain(text) }
    }
}

/// System calls per operation, all names together; `None` where they were not counted.
pub(crate) fn system_calls(figure: &Figure) -> Option<f64> {
    let claimed = figure.evidence.claims.iter().find(|claim| claim.claim == "system_calls");
    claimed.and_then(|claim| claim.observed).or_else(|| {
        figure.evidence.audit_method.as_ref().map(|_| figure.evidence.system_calls.values().sum())
    })
}

/// A count per operation: whole, or with the two decimals that an audit of 100 operations resolves.
fn per_operation(count: f64) -> String {
    // The sum of no calls at all is -0.
    let count = count + 0.0;
    if count.fract() == 0.0 || !count.is_finite() || count.abs() >= 1e6 || count.abs() < 0.005 {
        numbers::count(count)
    } else {
        format!("{count:.2}")
    }
}

/// What was claimed and what was counted instead.
fn contradiction(claim: &CheckedClaim) -> String {
    let (kind, names) = claim.claim.split_once(':').unwrap_or((&claim.claim, ""));
    let one = claim.expected == Expectation::Exactly(1.0);
    let what = match kind {
        "system_calls" if names.is_empty() => if one { "system call" } else { "system calls" }.to_owned(),
        "system_calls" => format!("{} of {}", if one { "call" } else { "calls" }, names.replace('|', " or ")),
        other => other.replace('_', " "),
    };
    let observed = claim.observed.map_or("could not count them".to_owned(), |observed| {
        format!(
            "counted {}",
            if observed.abs() < 1e6 { format!("{observed:.2}") } else { format!("{observed:.2e}") }
        )
    });
    let entered = match claim.expected {
        Expectation::Exactly(expected) => expected > 0.0,
        Expectation::Between { at_least, .. } => at_least > 0.0,
    };
    let meaning = if kind == "system_calls" && entered && claim.observed == Some(0.0) {
        ": answered without entering the kernel"
    } else {
        ""
    };
    format!("claims {} {what} an operation, the audit {observed}{meaning}", expectation(claim.expected))
}

/// A claim's number in words; numbers of a stored result may be of any size.
fn expectation(expected: Expectation) -> String {
    match expected {
        Expectation::Exactly(number) => numbers::count(number),
        Expectation::Between { at_least, at_most } if at_least <= 0.0 => {
            format!("at most {}", numbers::count(at_most))
        }
        Expectation::Between { at_least, at_most } if at_most == f64::MAX => {
            format!("at least {}", numbers::count(at_least))
        }
        Expectation::Between { at_least, at_most } => {
            format!("{} to {}", numbers::count(at_least), numbers::count(at_most))
        }
    }
}

/// An id without the family in front of it.
fn without_family<'a>(id: &'a str, family: &str) -> &'a str {
    id.strip_prefix(family).and_then(|rest| rest.strip_prefix('/')).unwrap_or(id)
}

/// Whether each telling word of the operation stands in the id already ("one getppid" of `syscall/getppid`).
fn says_itself(id: &str, operation: &str) -> bool {
    let parts: Vec<_> = id.split(['/', '_']).collect();
    operation
        .split(' ')
        .all(|word| matches!(word, "one" | "a" | "an" | "and" | "call" | "of") || parts.contains(&word))
}

/// The most frequent of some texts, and how often it occurs; of equals the first.
fn most_common<'a>(texts: impl Iterator<Item = &'a str>) -> Option<(&'a str, usize)> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for text in texts {
        match counts.iter_mut().find(|(other, _)| *other == text) {
            Some((_, count)) => *count += 1,
            None => counts.push((text, 1)),
        }
    }
    counts.into_iter().rev().max_by_key(|(_, count)| *count).filter(|(text, _)| !text.is_empty())
}

/// "3 proved, 1 no claim": the names that count at all.
fn tally<T>(names: &[(T, &str)], count: impl Fn(&T) -> usize) -> String {
    let counts = names.iter().map(|(key, name)| (count(key), name)).filter(|(count, _)| *count > 0);
    counts.map(|(count, name)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}

/// "1 figure", "2 figures".
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A duration that is usually whole nanoseconds: `10 ns`.
fn whole_duration(ns: f64) -> String {
    if ns.fract() == 0.0 && (0.0..1000.0).contains(&ns) {
        format!("{ns:.0} ns")
    } else {
        numbers::duration(ns)
    }
}
