//! One launch of a group, in the worker: set everybody up, run rounds or series, and put the outcome into tables.

use std::collections::BTreeMap;

use oscost_results::{CheckedClaim, Circumstances, Histogram, LaunchRecord};
use oscost_stats::histogram::LogHistogram;
use oscost_stats::order;
use oscost_sys::process;
use oscost_sys::usage::{self, Usage, Whose};

use crate::benchmark::card::{Card, Placement};
use crate::benchmark::claims;
use crate::benchmark::{Benchmark, Participant, PostCondition, Series, SeriesPlan, Sink, Subject};
use crate::protocol::message::{Failure, LaunchPlan, Launched, Member, PAIRED, Pair, TaskFinding};
use crate::worker::canary::Canaries;
use crate::worker::clock::Monotonic;
use crate::worker::counts::{Own, PartnersUsage, partners};
use crate::worker::occupancy::{Parties, Watch};
use crate::worker::rounds::{self, Progress, RoundPlan, Runner};
use crate::worker::summary::{self, Witnesses};
use crate::worker::{Ready, Worker};

/// Runs one launch.
pub(crate) fn group(
    worker: &mut Worker<'_>,
    members: &[Option<&'static dyn Benchmark>],
    plan: &LaunchPlan,
) -> TaskFinding {
    let mut ready: Vec<Member<Ready>> =
        members.iter().enumerate().map(|(index, member)| worker.set_up(index, *member)).collect();
    worker.settle();
    let placement =
        members.iter().flatten().next().map_or(Placement::OneCpu, |member| member.card().placement);
    let awake = if plan.idle_poll { worker.keep_awake(placement) } else { Ok((None, Vec::new())) };
    if let Err(error) = &awake {
        let failure = Failure::new("set-up", error);
        return TaskFinding::Launch {
            members: members.iter().map(|_| Member::Failed(failure.clone())).collect(),
            pairs: Vec::new(),
            canaries: Vec::new(),
        };
    }
    let kept_awake: Vec<i32> =
        awake.iter().flat_map(|(_, spinners)| spinners).map(process::Child::pid).collect();
    let cpus = worker.job.cpus.clone();
    let seed = worker.job.seed;
    let mut progress = worker.progress();

    // Who takes part in rounds, by index among the members.
    let mut batched: Vec<usize> = Vec::new();
    let mut participants: Vec<Vec<Participant>> = vec![Vec::new(); members.len()];
    let mut runners: Vec<Runner<'_>> = Vec::new();
    let mut series: Vec<(usize, &mut Box<dyn Series>)> = Vec::new();
    for (index, member) in ready.iter_mut().enumerate() {
        let Member::Done(ready) = member else { continue };
        match &mut ready.subject {
            Subject::Batched(subject) => {
                participants[index] = subject.participants();
                batched.push(index);
                let iterations = plan.iterations.get(index).copied().unwrap_or(1);
                let operations = ready.benchmark.card().operations_per_iteration;
                runners.push(Runner::new(&mut **subject, iterations, operations));
            }
            Subject::Series(subject) => {
                participants[index] = subject.participants();
                series.push((index, subject));
            }
        }
    }
    let round_plan = RoundPlan {
        warm_up_ns: plan.warm_up_ns,
        member_ns: plan.member_ns,
        clock_pair_ns: plan.clock_pair_ns,
        seed,
    };
    let mut launched: Vec<Option<Result<Launched, Failure>>> = vec![None; members.len()];
    let mut pairs = Vec::new();
    let mut samples_of_canaries = Vec::new();
    if !runners.is_empty() {
        let everybody: Vec<Participant> = participants.iter().flatten().copied().collect();
        let parties =
            Parties { cpus: &cpus, placement, partners: &everybody, awake: &kept_awake, series: false };
        // Partners act in the warm-up too: their counts are divided by all the operations that were made.
        let before = partners(&participants);
        let mut indices = Indices { indices: &batched, progress: &mut progress };
        let mut canaries = Canaries::new(plan.core.no_entry.is_none());
        let mut canaries = canaries.runners(&plan.core);
        let watch = Watch::begin(&parties);
        let rounds = rounds::run(&mut Monotonic, &mut runners, &mut canaries, &round_plan, &mut indices);
        let foreign_share = watch.end();
        let after = partners(&participants);
        let witnesses = Witnesses::of(&rounds);
        let fast = witnesses.fast_rounds(&plan.core);
        for (position, &index) in batched.iter().enumerate() {
            let runner = &mut runners[position];
            if let Some((phase, error)) = runner.failed {
                launched[index] = Some(Err(Failure::new(phase, error)));
                continue;
            }
            let found = match runner.batched.verify() {
                Ok(found) => found,
                Err(error) => {
                    launched[index] = Some(Err(Failure::new("verification", error)));
                    continue;
                }
            };
            let card = members[index].map(Benchmark::card);
            let blocks = card.is_some_and(|card| card.blocks);
            let batches = &rounds.members[position];
            let Some(summary) = summary::summarise(batches, &fast, blocks) else {
                launched[index] = Some(Err(Failure::new("batch", "no batch fits the launch")));
                continue;
            };
            let mut quantities = summary.quantities;
            quantities
                .extend(runner.batched.same_cpu_share().map(|share| ("same_cpu_share".to_owned(), share)));
            let operations = (batches.samples.len() as u64 * runner.batch_operations()) as f64;
            let all_operations = (batches.made * runner.batch_operations()) as f64;
            let own = Own { used: batches.used, moved: batches.migrations, operations };
            let counts = own.and(&before[index], &after[index], all_operations);
            launched[index] = Some(Ok(Launched {
                record: LaunchRecord {
                    cpu: current_cpu(),
                    iterations: runner.iterations,
                    rounds: batches.samples.len() as u64,
                    fast_share: Some(summary.fast_share),
                    clean_share: summary.clean_share,
                    chain_ns: summary::best(&witnesses.chain),
                    throughput_ns: summary::best(&witnesses.throughput),
                    entry_ns: summary::best(&witnesses.entry),
                    quantities,
                    switches: counts.switches,
                    voluntary_switches: counts.voluntary,
                    migrations: counts.migrations,
                    faults: counts.faults,
                    foreign_share,
                    circumstances: of_partners(counts.tracer_pid),
                    histogram: Some(summary.histogram),
                    ..LaunchRecord::default()
                },
                clean_sketch: summary.clean_sketch,
                windows: witnesses.windows(
                    &batches.samples,
                    plan.core.no_cycles.is_none() && plan.works.get(index).copied().unwrap_or(false),
                ),
                samples: if plan.keep_samples { batches.samples.clone() } else { Vec::new() },
                tracks: Vec::new(),
                post_conditions: found.iter().map(claims::after_operations).collect(),
                remarks: Vec::new(),
            }));
        }
        pairs = compare(members, &batched, &rounds, &fast);
        if plan.keep_samples {
            let Witnesses { chain, throughput, entry } = witnesses;
            let named = [("chain", chain), ("throughput", throughput), ("entry", entry)];
            samples_of_canaries.extend(named.map(|(name, samples)| (name.to_owned(), samples)));
        }
    }
    // Who comes first has a cold machine, who comes last a warm one: neither is always the same.
    order::shuffle(&mut series, &mut order::seeded(seed, 1));
    for (index, subject) in series {
        progress.running(index);
        let before = partners(&participants[index..=index]);
        let parties = Parties {
            cpus: &cpus,
            placement,
            partners: &participants[index],
            awake: &kept_awake,
            series: true,
        };
        let card = members[index].map(Benchmark::card);
        launched[index] = Some(one_series(&mut **subject, card, plan, seed, &parties, &before[0]));
    }
    pairs.extend(compare_series(members, &launched));
    let members = ready
        .into_iter()
        .zip(launched)
        .map(|(member, launched)| match (member, launched) {
            (Member::Done(_), Some(Ok(launched))) => Member::Done(launched),
            (Member::Done(_), Some(Err(failure))) => Member::Failed(failure),
            (Member::Done(_), None) => Member::Failed(Failure::new("launch", "it was not run")),
            (other, _) => other.map(|_| Launched::default()),
        })
        .collect();
    TaskFinding::Launch { members, pairs, canaries: samples_of_canaries }
}

/// Translates the index among the batched members to the index among all.
struct Indices<'a, P> {
    indices: &'a [usize],
    progress: &'a mut P,
}

impl<P: Progress> Progress for Indices<'_, P> {
    fn running(&mut self, index: usize) {
        self.progress.running(self.indices[index]);
    }
}

/// Paired comparisons that the cards ask for.
fn compare(
    members: &[Option<&'static dyn Benchmark>],
    batched: &[usize],
    rounds: &rounds::Rounds,
    fast: &[bool],
) -> Vec<Pair> {
    let card = |position: usize| members[batched[position]].map(Benchmark::card);
    let fast_share = fast.iter().filter(|&&fast| fast).count() as f64 / fast.len().max(1) as f64;
    let mut pairs = Vec::new();
    for of in 0..batched.len() {
        let Some(of_card) = card(of) else { continue };
        let mut partners: Vec<&str> = [of_card.baseline, of_card.subtract].into_iter().flatten().collect();
        partners.dedup();
        for to in 0..batched.len() {
            let Some(to_card) = card(to) else { continue };
            if to != of && partners.contains(&to_card.id) {
                let (ratio, difference) = summary::compare(&rounds.members[of], &rounds.members[to], fast);
                pairs.push(Pair {
                    of: of_card.id.into(),
                    to: to_card.id.into(),
                    quantity: PAIRED.into(),
                    ratio,
                    difference,
                    fast_share,
                });
            }
        }
    }
    pairs
}

/// Paired comparisons of series of one launch: a quantity of one against the same quantity of the other.
fn compare_series(
    members: &[Option<&'static dyn Benchmark>],
    launched: &[Option<Result<Launched, Failure>>],
) -> Vec<Pair> {
    let cards: Vec<Option<&'static Card>> =
        members.iter().map(|member| member.map(Benchmark::card)).collect();
    let found = |index: usize| launched.get(index)?.as_ref()?.as_ref().ok();
    let mut pairs = Vec::new();
    for (of, card) in cards.iter().enumerate().filter_map(|(of, card)| Some((of, (*card)?))) {
        let mut partners: Vec<&str> = [card.baseline, card.subtract].into_iter().flatten().collect();
        partners.dedup();
        for to_id in partners.into_iter().filter(|&to| to != card.id) {
            let to = cards.iter().position(|card| card.is_some_and(|card| card.id == to_id));
            let Some((of_table, to_table)) = found(of).zip(to.and_then(found)) else { continue };
            for quantity in card.quantities.iter().filter(|quantity| quantity.paired) {
                let value = |launched: &Launched| launched.record.quantities.get(quantity.name).copied();
                let Some((of_value, to_value)) = value(of_table).zip(value(to_table)) else { continue };
                pairs.push(Pair {
                    of: card.id.into(),
                    to: to_id.into(),
                    quantity: quantity.name.into(),
                    ratio: (to_value != 0.0).then(|| of_value / to_value),
                    difference: Some(of_value - to_value),
                    fast_share: 1.0,
                });
            }
        }
    }
    pairs
}

/// What a launch knows of its partners; the rest is the worker's, and known at its end.
fn of_partners(tracer_pid: Option<u32>) -> Circumstances {
    Circumstances { tracer_pid, ..Circumstances::default() }
}

fn current_cpu() -> u32 {
    oscost_sys::affinity::current().and_then(|cpu| u32::try_from(cpu).ok()).unwrap_or(u32::MAX)
}

/// Takes what a series yields.
pub(crate) struct Collected {
    pub(crate) record: LaunchRecord,
    pub(crate) samples: Vec<f64>,
    pub(crate) operations: u64,
    pub(crate) counted: BTreeMap<String, u64>,
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

fn one_series(
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

    #[test]
    fn a_participant_whose_cpu_nobody_looked_at_leaves_the_migrations_open() {
        let mut sink = Collected::default();
        let used = Usage { voluntary_switches: 30, ..Usage::default() };
        sink.used(&used, Some(0));
        assert_eq!(sink.migrations, Some(0));
        sink.used(&used, None);
        sink.used(&used, Some(3));
        assert_eq!((sink.migrations, sink.used.voluntary_switches), (None, 90));
    }

    /// A series that yields these quantities, one observation and two tracks.
    struct Yields(&'static [(&'static str, f64)]);

    impl Series for Yields {
        fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> crate::benchmark::Outcome {
            assert_eq!((plan.observations, plan.duration_ns, plan.seed), (None, 40, 7));
            self.0.iter().for_each(|(name, value)| sink.quantity(name, *value));
            sink.operations(10);
            sink.observation(5.0);
            sink.say("a word".to_owned());
            sink.track("long".to_owned(), vec![1.0; 3001], true);
            sink.track("short".to_owned(), vec![2.0], false);
            sink.post_condition(PostCondition::exactly("even", 2.0, 2.0));
            Ok(())
        }
    }

    fn one(quantities: &'static [(&'static str, f64)], keep_samples: bool) -> Result<Launched, Failure> {
        let plan = LaunchPlan {
            iterations: Vec::new(),
            works: Vec::new(),
            core: crate::protocol::core::Core::default(),
            clock_pair_ns: 0.0,
            warm_up_ns: 0,
            member_ns: 40,
            keep_samples,
            idle_poll: false,
        };
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

    /// Of what to what, the quantity, the ratio and the difference.
    type Told = (String, String, String, Option<f64>, Option<f64>);

    /// Pairs of two series, of which the first is held against these.
    fn paired(
        baseline: Option<&'static str>,
        subtract: Option<&'static str>,
        found: [Option<(f64, f64)>; 2],
    ) -> Vec<Told> {
        use crate::benchmark::card::QuantityCard;
        use crate::figures::synthetic::{choice, launched, series};
        const QUANTITIES: &[QuantityCard] =
            &[QuantityCard::new("cost", "ns").paired(), QuantityCard::new("other", "ns")];
        let card = |id| Card { quantities: QUANTITIES, ..series(id) };
        let first = Card { baseline, subtract, ..card("a") };
        let members = [Some(choice(first).benchmark), None, Some(choice(card("b")).benchmark)];
        let launch = |found: Option<(f64, f64)>| {
            let (cost, other) = found.ok_or_else(|| Failure::new("launch", "it broke"))?;
            Ok(launched(&[("cost", cost), ("other", other)]))
        };
        let [a, b] = found.map(launch);
        compare_series(&members, &[Some(a), None, Some(b)])
            .into_iter()
            .map(|pair| (pair.of, pair.to, pair.quantity, pair.ratio, pair.difference))
            .collect()
    }

    #[test]
    fn series_of_one_launch_are_held_against_each_other_where_the_card_says_so() {
        let values = [Some((6.0, 1.0)), Some((2.0, 1.0))];
        let pair = || vec![("a".to_owned(), "b".to_owned(), "cost".to_owned(), Some(3.0), Some(4.0))];
        assert_eq!(paired(Some("b"), None, values), pair());
        assert_eq!(paired(None, Some("b"), values), pair());
        assert_eq!(paired(Some("b"), Some("b"), values), pair(), "once");
        let zero = paired(Some("b"), None, [Some((6.0, 1.0)), Some((0.0, 1.0))]);
        assert_eq!((zero[0].3, zero[0].4), (None, Some(6.0)), "no ratio to nothing");
        for none in [
            paired(None, None, values),
            paired(Some("a"), None, values),
            paired(Some("c"), None, values),
            paired(Some("b"), None, [None, Some((2.0, 1.0))]),
            paired(Some("b"), None, [Some((6.0, 1.0)), None]),
        ] {
            assert_eq!(none, []);
        }
    }
}
