//! One launch of a series: takes its quantities, checks them against its card, and records them.

use std::collections::BTreeMap;

use oscost_results::{CheckedClaim, Histogram, LaunchRecord};
use oscost_stats::histogram::LogHistogram;
use oscost_sys::usage::{self, Usage, Whose};

use crate::benchmark::card::Card;
use crate::benchmark::claims;
use crate::benchmark::{PostCondition, Series, SeriesPlan, Sink};
use crate::protocol::message::{Failure, LaunchPlan, Launched};
use crate::worker::circumstances::{current_cpu, of_partners};
use crate::worker::counts::{Own, PartnersUsage, partners};
use crate::worker::occupancy::{Parties, Watch};

/// Takes what a series yields.
pub(crate) struct Collected {
    pub(crate) record: LaunchRecord,
    pub(crate) samples: Vec<f64>,
    pub(crate) operations: u64,
    pub(crate) counted: BTreeMap<String, u64>,
    pub(crate) uncountable: Option<String>,
    pub(crate) post_conditions: Vec<CheckedClaim>,
    histogram: LogHistogram,
    used: Usage,
    /// Of participants that lived only within the launch; `None` where somebody's was not told.
    migrations: Option<u64>,
    tracks: Vec<(String, Vec<f64>)>,
    remarks: Vec<String>,
}

impl Default for Collected {
    fn default() -> Self {
        Self {
            record: LaunchRecord::default(),
            samples: Vec::new(),
            operations: 0,
            counted: BTreeMap::new(),
            uncountable: None,
            histogram: LogHistogram::new(),
            used: Usage::default(),
            migrations: Some(0),
            tracks: Vec::new(),
            post_conditions: Vec::new(),
            remarks: Vec::new(),
        }
    }
}

/// Values of a track that stay in the result.
const TRACK: usize = 3000;

impl Sink for Collected {
    fn quantity(&mut self, name: &'static str, value: f64) {
        self.record.quantities.insert(name.to_owned(), value);
    }
    fn observation(&mut self, value: f64) {
        self.histogram.record(value);
        self.samples.push(value);
    }
    fn operations(&mut self, count: u64) {
        self.operations = count;
    }
    fn counted(&mut self, name: &'static str, calls: u64) {
        *self.counted.entry(name.to_owned()).or_insert(0) += calls;
    }
    fn uncountable(&mut self, why: String) {
        self.uncountable = Some(why);
    }
    fn used(&mut self, usage: &Usage, migrations: Option<u64>) {
        self.used.add(usage);
        self.migrations = self.migrations.zip(migrations).map(|(sum, more)| sum + more);
    }
    fn post_condition(&mut self, found: PostCondition) {
        self.post_conditions.push(claims::after_operations(&found));
    }
    fn say(&mut self, words: String) {
        self.remarks.push(words);
    }
    fn track(&mut self, name: String, values: Vec<f64>, kept: bool) {
        if kept {
            let values = values.iter().copied().take(TRACK).collect();
            self.record.tracks.insert(name.clone(), values);
        }
        self.tracks.push((name, values));
    }
}

/// Launches a series once.
pub(super) fn one_series(
    series: &mut dyn Series,
    card: Option<&Card>,
    plan: &LaunchPlan,
    seed: u64,
    parties: &Parties<'_>,
    before: &PartnersUsage,
) -> Result<Launched, Failure> {
    let mut sink = Collected::default();
    let series_plan = SeriesPlan { observations: None, duration_ns: plan.member_ns, seed };
    let watch = Watch::begin(parties);
    let used = usage::own(Whose::Thread);
    let cpu = oscost_sys::affinity::current();
    series.launch(&series_plan, &mut sink).map_err(|error| Failure::new("launch", error))?;
    let used = used.and_then(|earlier| {
        let mut used = usage::own(Whose::Thread)?.since(&earlier);
        used.add(&sink.used);
        Ok(used)
    });
    let cpus = cpu.zip(oscost_sys::affinity::current());
    let foreign_share = watch.end();
    let moved = sink.migrations.zip(cpus).map(|(moved, (from, to))| moved + u64::from(from != to));
    if let Some((name, _)) = sink.record.quantities.iter().find(|(_, value)| !value.is_finite()) {
        return Err(Failure::new("launch", format!("the quantity '{name}' is no number")));
    }
    let named = |name: &str| card.is_none_or(|card| card.quantities.iter().any(|known| known.name == name));
    if let Some(name) = sink.record.quantities.keys().find(|name| !named(name)) {
        return Err(Failure::new(
            "launch",
            format!("the card names no quantity '{name}': a defect of the benchmark"),
        ));
    }
    let after = partners(&[parties.partners.to_vec()]);
    let operations = sink.operations.max(1) as f64;
    let counts = Own { used, moved, operations }.and(before, &after[0], operations);
    let (first, buckets) = sink.histogram.counts();
    let mut record = sink.record;
    record.cpu = current_cpu();
    record.rounds = sink.operations;
    record.switches = counts.switches;
    record.voluntary_switches = counts.voluntary;
    record.migrations = counts.migrations;
    record.faults = counts.faults;
    record.foreign_share = foreign_share;
    record.circumstances = of_partners(counts.tracer_pid);
    if !buckets.is_empty() {
        record.histogram = Some(Histogram { first, counts: buckets.to_vec(), ..Histogram::default() });
    }
    let (samples, tracks) =
        if plan.keep_samples { (sink.samples, sink.tracks) } else { (Vec::new(), Vec::new()) };
    let (post_conditions, remarks) = (sink.post_conditions, sink.remarks);
    Ok(Launched { record, samples, tracks, post_conditions, remarks, ..Launched::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::card::Placement;

    #[test]
    fn a_participant_whose_cpu_nobody_looked_at_leaves_the_migrations_open() {
        let mut sink = Collected::default();
        let used = Usage { voluntary_switches: 30, ..Usage::default() };
        sink.used(&used, Some(2));
        sink.used(&used, Some(3));
        assert_eq!(sink.migrations, Some(5));
        sink.used(&used, None);
        sink.used(&used, Some(3));
        assert_eq!((sink.migrations, sink.used.voluntary_switches), (None, 120));
    }

    /// A series that yields these quantities, one observation and two tracks.
    struct Yields(&'static [(&'static str, f64)]);

    impl Series for Yields {
        fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> crate::benchmark::Outcome {
            assert_eq!((plan.observations, plan.duration_ns, plan.seed), (None, 40, 7));
            self.0.iter().for_each(|(name, value)| sink.quantity(name, *value));
            sink.operations(10);
            sink.used(&Usage { voluntary_switches: 100, ..Usage::default() }, Some(3));
            sink.observation(5.0);
            sink.say("a word".to_owned());
            sink.track("long".to_owned(), vec![1.0; 3001], true);
            sink.track("short".to_owned(), vec![2.0], false);
            sink.post_condition(PostCondition::exactly("even", 2.0, 2.0));
            Ok(())
        }
    }

    fn plan(keep_samples: bool) -> LaunchPlan {
        LaunchPlan {
            iterations: Vec::new(),
            works: Vec::new(),
            core: crate::protocol::core::Core::default(),
            clock_pair_ns: 0.0,
            warm_up_ns: 0,
            member_ns: 40,
            keep_samples,
            idle_cpu: crate::protocol::message::IdleCpu::Halt,
            references: None,
        }
    }

    fn one(quantities: &'static [(&'static str, f64)], keep_samples: bool) -> Result<Launched, Failure> {
        let plan = plan(keep_samples);
        let parties =
            Parties { cpus: &[0], placement: Placement::OneCpu, partners: &[], awake: &[], series: true };
        let card = crate::figures::synthetic::series("a");
        one_series(&mut Yields(quantities), Some(&card), &plan, 7, &parties, &Vec::new())
    }

    #[test]
    fn a_launch_of_a_series_is_what_it_yielded() {
        let kept = one(&[("cost", 3.0)], true).expect("a launch");
        assert_eq!((kept.record.rounds, kept.record.quantities["cost"]), (10, 3.0));
        assert_eq!((kept.samples.as_slice(), kept.tracks.len()), (&[5.0][..], 2));
        assert_eq!(
            (kept.record.tracks.len(), kept.record.tracks["long"].len()),
            (1, 3000),
            "as many as stay"
        );
        assert_eq!(kept.remarks, ["a word"]);
        assert_eq!((kept.post_conditions.len(), kept.post_conditions[0].holds), (1, Some(true)));
        assert_eq!(kept.record.histogram.map(|it| it.counts.iter().sum::<u64>()), Some(1));
        assert!(kept.record.switches.is_some() && kept.record.faults.is_some(), "counted an operation");
        assert!(kept.record.voluntary_switches.is_some_and(|of_one| (10.0..90.0).contains(&of_one)));
        assert!(kept.record.migrations.is_some_and(|moved| moved >= 3));
        let bare = one(&[("cost", 3.0)], false).expect("a launch");
        assert!(bare.samples.is_empty() && bare.tracks.is_empty());
    }

    #[test]
    fn a_quantity_is_a_number_that_the_card_names() {
        let why = |quantities| one(quantities, false).expect_err("refused").to_string();
        assert_eq!(why(&[("cost", f64::NAN)]), "launch: the quantity 'cost' is no number");
        assert_eq!(why(&[("cost", f64::INFINITY)]), "launch: the quantity 'cost' is no number");
        let other = why(&[("cost", 1.0), ("price", 1.0)]);
        assert_eq!(other, "launch: the card names no quantity 'price': a defect of the benchmark");
    }

    /// It leaves its CPU for another one.
    struct Moves(usize);

    impl Series for Moves {
        fn launch(&mut self, _: &SeriesPlan, sink: &mut dyn Sink) -> crate::benchmark::Outcome {
            sink.operations(1);
            sink.used(&Usage::default(), Some(3));
            oscost_sys::affinity::pin_to(self.0)
        }
    }

    #[test]
    fn a_move_of_the_thread_is_counted_with_those_of_participants() {
        let cpus = oscost_sys::affinity::allowed().expect("CPUs");
        let launch = |from: usize, to: usize| {
            let alone = || {
                oscost_sys::affinity::pin_to(from).expect("ours");
                let parties = Parties {
                    cpus: &[from],
                    placement: Placement::OneCpu,
                    partners: &[],
                    awake: &[],
                    series: true,
                };
                let record = one_series(&mut Moves(to), None, &plan(false), 7, &parties, &Vec::new());
                let record = record.expect("a launch").record;
                (record.migrations, usize::try_from(record.cpu).ok())
            };
            std::thread::scope(|scope| scope.spawn(alone).join().expect("it ends"))
        };
        let (first, last) = (cpus[0], cpus[cpus.len() - 1]);
        assert_eq!(launch(first, first), (Some(3), Some(first)));
        assert_eq!(launch(first, last), (Some(3 + u64::from(first != last)), Some(last)));
    }
}
