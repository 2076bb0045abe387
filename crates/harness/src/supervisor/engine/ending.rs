//! The end of a run: makes the figures, and reports once what affected all of them.

use oscost_results::{Figure, PairedValue, RemarkCode};
use oscost_stats::sorting::SmallSort;
use oscost_sys::time_source;

use crate::benchmark::catalogue::Choice;
use crate::figures;
use crate::figures::member::Fate;
use crate::protocol::message::{Failure, IdleCpu};
use crate::supervisor::foreign::Contestant;
use crate::supervisor::group::{self, GroupState};
use crate::worker::environment::Environment;

use super::{Engine, Measured};

impl Engine<'_> {
    pub(super) fn finish(
        &mut self,
        choices: &[Choice],
        groups: Vec<GroupState>,
        contestants: &[Contestant<'_>],
        partial: bool,
    ) -> Measured {
        let facts = self.clock_facts();
        let mut figures: Vec<Figure> = Vec::new();
        let (mut ratios, mut differences) = (Vec::new(), Vec::new());
        self.warn_of_speed(&groups);
        if let Some(why) = &self.core.no_cycles {
            self.warnings.push(RemarkCode::NoCycles.with(&[why]));
        }
        if let Some(why) = &self.core.no_entry {
            self.warnings.push(RemarkCode::NoKernelEntry.with(&[why]));
        }
        let stopped_by_quota = !self.interrupted && self.is_stopped_by_quota();
        if partial && !self.interrupted && self.left() == 0 {
            let (why, remedy) = if stopped_by_quota {
                (", stopped by a CPU quota again and again", "measure outside the quota (oscost doctor)")
            } else {
                ("", "measure when the machine is idle, or fewer ids")
            };
            let seconds = (self.since_ns + self.options.effort.deadline_ns) / super::SECOND;
            self.warnings.push(RemarkCode::CutOff.with(&[&seconds, &why, &remedy]));
        }
        if self.quota_unknown {
            self.warnings.push(
                "whether a CPU quota stopped launches could not be read (cpu.stat of the control group): such stops are in \
                 batch_p99 and max, and no mark says so"
                    .to_owned(),
            );
        }
        let mut groups = groups;
        group::pool(&mut groups);
        if self.wrong_clock.is_none() {
            let now = Environment::read(&self.options.cpus);
            self.wrong_clock = self.began.wrong_until(&now, &time_source::counter_hz());
        }
        if let Some(wrong_clock) = &self.wrong_clock {
            // Whatever was timed was timed by it.
            for member in groups.iter_mut().flat_map(|group| &mut group.members) {
                member.outcome = Fate::Failed(Failure::new("environment", wrong_clock));
            }
        }
        for group in groups {
            let context = figures::Context {
                planned: group.planned(&self.options.effort),
                void_launches: group.void,
                void_reason: group.void_reason.as_deref(),
                clock_step_ns: facts.step_ns,
                interrupted: partial,
                stopped_by_quota,
                cycles: self.core.no_cycles.is_none(),
                best: self.best,
            };
            let made: Vec<Figure> =
                group.members.iter().map(|member| figures::of_member(member, &context)).collect();
            let (more_ratios, more_differences) = figures::paired(&made, &group.members, &group.pairs);
            // Guests of several groups stand beside each other more than once.
            for (pairs, more) in [(&mut ratios, more_ratios), (&mut differences, more_differences)] {
                for pair in more {
                    if !pairs.iter().any(|known| is_same(known, &pair)) {
                        pairs.push(pair);
                    }
                }
            }
            let known = |made: &Figure| figures.iter().any(|figure: &Figure| figure.id == made.id);
            let new: Vec<Figure> = made.into_iter().filter(|made| !known(made)).collect();
            figures.extend(new);
        }
        let position = |id: &str| choices.iter().position(|choice| choice.card().id == id);
        figures.small_sort_by_key(|figure| position(&figure.id));
        ratios.small_sort_by_key(|pair| position(&pair.of));
        differences.small_sort_by_key(|pair| position(&pair.of));
        figures.extend(contestants.iter().map(Contestant::figure));
        match &self.awake {
            Some(Ok(how)) if self.options.idle_cpu == IdleCpu::Poll => {
                self.warnings.push(RemarkCode::KeptAwake.with(&[how]));
            }
            Some(Err(why)) => self.warnings.push(RemarkCode::NotKeptAwake.with(&[why])),
            Some(Ok(_)) | None => {}
        }
        let cycles = self.core.no_cycles.is_none();
        let references = self.references.iter().flat_map(|references| references.results(cycles)).collect();
        Measured {
            figures,
            ratios,
            differences,
            references,
            partial,
            start_ns: self.start_ns.saturating_sub(self.since_ns),
            launches: self.sequence,
            wrong_clock: self.wrong_clock.take(),
            clock: self.clock,
            core: self.best.constants(),
            isolation: self.isolation.take(),
            kept_awake: self.awake.take(),
            warnings: std::mem::take(&mut self.warnings),
        }
    }

    /// A core whose speed moved during the run moved every figure: that is said once, not beside each of them.
    fn warn_of_speed(&mut self, groups: &[GroupState]) {
        let slowed: Vec<(&str, f64)> = groups
            .iter()
            .filter_map(|group| {
                let slowdowns = group.members.iter().filter_map(|member| figures::slowdown(&member.launched));
                Some((group.name, slowdowns.reduce(f64::max)?))
            })
            .collect();
        let Some(most) = slowed.iter().map(|group| group.1).reduce(f64::max) else { return };
        let most = format!("{:.0}", most * 100.0);
        self.warnings.push(RemarkCode::CoreSpeedMoved.with(&[&most, &slowed.len(), &groups.len()]));
    }
}

/// Whether two say the same of the same two figures.
fn is_same(one: &PairedValue, other: &PairedValue) -> bool {
    (&one.of, &one.to, &one.quantity) == (&other.of, &other.to, &other.quantity)
}
