//! The head and the end of a result: who measured, where, on how fit a machine; and a summary.

use oscost_results::{CheckState, Estimate, Figure, Mark, Status, Verdict};

use crate::numbers;
use crate::view::story::{Story, headline};
use crate::words::{counted, tally};

impl Story<'_> {
    /// Tool and version.
    pub fn tool(&self) -> String {
        format!("oscost {}", self.or_unknown(&self.result.tool.version))
    }

    /// Kernel, processor, CPUs and C library.
    pub fn place(&self) -> Vec<String> {
        let (machine, conditions) = (&self.result.machine, &self.result.conditions);
        let guest = machine.hypervisor.as_deref();
        let guest = guest.map_or(String::new(), |name| format!(" ({} guest)", self.plain(name)));
        vec![
            self.or_unknown(&conditions.kernel),
            self.or_unknown(&machine.cpu_model),
            format!("{}{guest}", counted(machine.cpus as usize, "CPU", "CPUs")),
            self.or_unknown(&self.result.tool.libc),
        ]
    }

    /// Machine and conditions in one line.
    pub fn conditions(&self) -> String {
        let conditions = &self.result.conditions;
        let mut facts = self.place();
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
        let unknown = match unknown {
            0 => String::new(),
            count => format!("; {}", counted(count, "check was not possible", "checks were not possible")),
        };
        if disturbing.is_empty() {
            let fit = format!("fit to measure{unknown}");
            return (fit.clone(), fit);
        }
        let names: Vec<_> = disturbing.iter().map(|check| self.words(&check.check)).collect();
        let found = disturbing.iter().zip(&names);
        let findings: Vec<_> =
            found.map(|(check, name)| format!("{name}: {}", self.clause(&check.says))).collect();
        let reservations = counted(disturbing.len(), "reservation", "reservations");
        let unfit = disturbing.iter().zip(&names).filter(|(check, _)| check.unfit);
        let unfit: Vec<_> = unfit.map(|(_, name)| name.as_str()).collect();
        let fitness = match &unfit[..] {
            [] => format!("fit to measure, with {reservations}"),
            names => format!("unfit to measure: {}; {reservations}", names.join(", ")),
        };
        let told = |what: &str| format!("{fitness}: {what}{unknown} (oscost doctor)");
        (told(&findings.join("; ")), told(&names.join(", ")))
    }

    /// What a reader must know before the first figure: an early end, the user's note, warnings.
    pub fn warnings(&self) -> Vec<String> {
        let mut all = self.notices();
        all.extend(self.result.warnings.iter().map(|warning| format!("warning: {}", self.plain(warning))));
        all
    }

    /// An early end, and the user's note.
    pub fn notices(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.result.partial {
            all.push("partial: the run ended early; figures use the launches that it had".to_owned());
        }
        all.extend(self.result.note.iter().map(|note| format!("note: {}", self.plain(note))));
        all
    }

    /// Footnotes: what holds for several rows.
    pub fn footnotes(&self) -> Vec<String> {
        let mut all = Vec::new();
        if let Some(why) = self.audit_missing {
            all.push(format!("System calls were not counted: {}", self.plain(why)));
        }
        let quoted =
            |figure: &Figure| figure.quantities.get(headline(figure)).map(|quantity| quantity.estimate);
        let bracketed = |estimate: Estimate| estimate.extremes && estimate.low != estimate.high;
        if self.result.figures.iter().filter_map(quoted).any(bracketed) {
            all.push("[low .. high]: smallest and largest of fewer than 6 launches, no interval.".to_owned());
        }
        all
    }

    /// How many figures there are, of which verdict, what was withheld, and by which reference the store gives the result back.
    pub fn closing(&self, saved: Option<&str>) -> String {
        let figures = &self.result.figures;
        let measured: Vec<_> = figures.iter().filter(|figure| figure.status == Status::Measured).collect();
        let verdicts = [Verdict::Checked, Verdict::Contradicted, Verdict::Unchecked, Verdict::Unknown]
            .map(|verdict| (verdict, verdict.name()));
        let marks = Mark::ALL.map(|mark| (mark, mark.words()));
        let states =
            [Status::Contradicted, Status::Withdrawn, Status::Failed, Status::Unsupported, Status::Unknown]
                .map(|state| (state, state.name()));
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

    /// The first clause of a finding.
    pub fn clause(&self, says: &str) -> String {
        self.plain(first_clause(says)).trim().to_owned()
    }

    fn or_unknown(&self, text: &str) -> String {
        if text.is_empty() { "unknown".to_owned() } else { self.plain(text) }
    }
}

/// Up to the first colon, semicolon or full stop that is not in brackets.
fn first_clause(says: &str) -> &str {
    let mut depth = 0_u32;
    for (at, letter) in says.char_indices() {
        let rest = says.get(at..).unwrap_or("");
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ';' | ':' if depth == 0 => return says.get(..at).unwrap_or(says),
            '.' if depth == 0 && rest.starts_with(". ") => return says.get(..at).unwrap_or(says),
            _ => {}
        }
    }
    says
}

/// A duration that is usually whole nanoseconds: `10 ns`.
fn whole_duration(ns: f64) -> String {
    if ns.fract() == 0.0 && (0.0..1000.0).contains(&ns) {
        format!("{ns:.0} ns")
    } else {
        numbers::duration(ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_does_not_end_in_brackets() {
        let whole = "slower in some launches (in 2 of 9 groups; a sibling)";
        assert_eq!(first_clause(&format!("{whole}. Floors are right; others are not")), whole);
        assert_eq!(first_clause("a quota; more"), "a quota");
        assert_eq!(first_clause("1.5 MB here"), "1.5 MB here");
        assert_eq!(first_clause("never closed (so; what"), "never closed (so; what");
    }
}
