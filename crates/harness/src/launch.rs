//! One launch of a group, in the worker: set everybody up, run rounds or series, and put the outcome into tables.

use std::collections::BTreeMap;

use oscost_results::{Histogram, LaunchRecord};
use oscost_stats::histogram::LogHistogram;
use oscost_stats::order;
use oscost_sys::usage::{self, Usage, Whose};

use crate::benchmark::{Benchmark, Participant, Series, SeriesPlan, Sink, Subject};
use crate::card::{Card, Placement};
use crate::clock::Monotonic;
use crate::message::{Failure, Finding, LaunchPlan, Launched, Member, PAIRED, Pair};
use crate::rounds::{self, Progress, RoundPlan, Runner};
use crate::summary;
use crate::worker::{Ready, Worker};

/// Runs one launch.
pub(crate) fn group(
    worker: &mut Worker<'_>,
    members: &[Option<&'static dyn Benchmark>],
    plan: &LaunchPlan,
) -> Finding {
    let mut ready: Vec<Member<Ready>> =
        members.iter().enumerate().map(|(index, member)| worker.set_up(index, *member)).collect();
    worker.settle();
    let placement =
        members.iter().flatten().next().map_or(Placement::OneCpu, |member| member.card().placement);
    let awake = if plan.idle_poll { worker.keep_awake(placement) } else { Ok((None, Vec::new())) };
    if let Err(error) = &awake {
        let failure = Failure::new("set-up", error);
        return Finding::Launch {
            members: members.iter().map(|_| Member::Failed(failure.clone())).collect(),
            pairs: Vec::new(),
        };
    }
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
                runners.push(Runner {
                    batched: &mut **subject,
                    iterations: plan.iterations.get(index).copied().unwrap_or(1).max(1),
                    operations: ready.benchmark.card().operations_per_iteration.max(1),
                    failed: None,
                });
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
        canary_iterations: plan.canary_iterations.max(1),
        clock_pair_ns: plan.clock_pair_ns,
        seed,
    };
    let mut launched: Vec<Option<Result<Launched, Failure>>> = vec![None; members.len()];
    let mut pairs = Vec::new();
    if !runners.is_empty() {
        // Partners act in the warm-up too: their counts are divided by all the operations that were made.
        let before = partners(&participants);
        let mut indices = Indices { indices: &batched, progress: &mut progress };
        let rounds = rounds::run(&mut Monotonic, &mut runners, &round_plan, &mut indices);
        let after = partners(&participants);
        let fast = summary::fast_rounds(&rounds, plan.canary_ns);
        let speed = summary::canary_speed(&rounds);
        for (position, &index) in batched.iter().enumerate() {
            let runner = &runners[position];
            if let Some((phase, error)) = runner.failed {
                launched[index] = Some(Err(Failure::new(phase, error)));
                continue;
            }
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
            let operations = (batches.samples.len() as u64 * runner.iterations * runner.operations) as f64;
            let all_operations =
                (rounds.batches_made[position] * runner.iterations * runner.operations) as f64;
            let counts = Counts::of(&batches.used, operations, &before[index], &after[index], all_operations);
            launched[index] = Some(Ok(Launched {
                record: LaunchRecord {
                    cpu: current_cpu(),
                    iterations: runner.iterations,
                    rounds: batches.samples.len() as u64,
                    fast_share: Some(summary.fast_share),
                    clean_share: Some(summary.clean_share),
                    canary_ns: speed,
                    quantities,
                    switches: counts.switches,
                    voluntary_switches: counts.voluntary,
                    migrations: counts.migrations.map(|moved| moved + batches.migrations),
                    faults: counts.faults,
                    histogram: Some(summary.histogram),
                    ..LaunchRecord::default()
                },
                clean_sketch: summary.clean_sketch,
                samples: if plan.keep_samples { batches.samples.clone() } else { Vec::new() },
                tracks: Vec::new(),
                remarks: Vec::new(),
            }));
        }
        pairs = compare(members, &batched, &rounds, &fast);
    }
    // Who comes first has a cold machine, who comes last a warm one: neither is always the same.
    order::shuffle(&mut series, &mut order::seeded(seed, 1));
    for (index, subject) in series {
        progress.running(index);
        let before = partners(&participants[index..=index]);
        launched[index] = Some(one_series(&mut **subject, plan, seed, &participants[index], &before[0]));
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
    Finding::Launch { members, pairs }
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

fn current_cpu() -> u32 {
    oscost_sys::affinity::current().and_then(|cpu| u32::try_from(cpu).ok()).unwrap_or(u32::MAX)
}

/// What partners had used at one moment; `None` where /proc does not say.
type PartnersUsage = Option<Vec<(Usage, Option<usize>)>>;

fn partners(participants: &[Vec<Participant>]) -> Vec<PartnersUsage> {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let one = |participant: &Participant| match *participant {
        Participant::Process(pid) => usage::of(pid, pid),
        Participant::Thread(tid) => usage::of(own, tid),
    };
    participants.iter().map(|all| all.iter().map(one).collect()).collect()
}

/// Counts per operation of everybody who takes part. `None`: a partner could not be looked at.
struct Counts {
    switches: Option<f64>,
    voluntary: Option<f64>,
    migrations: Option<u64>,
    faults: Option<f64>,
}

impl Counts {
    fn of(
        own: &Usage,
        operations: f64,
        before: &PartnersUsage,
        after: &PartnersUsage,
        all_operations: f64,
    ) -> Self {
        let (Some(before), Some(after)) = (before, after) else {
            return Self { switches: None, voluntary: None, migrations: None, faults: None };
        };
        let mut partner = Usage::default();
        let mut migrations = 0;
        for ((earlier, from), (later, to)) in before.iter().zip(after) {
            let used = later.since(earlier);
            partner.voluntary_switches += used.voluntary_switches;
            partner.involuntary_switches += used.involuntary_switches;
            partner.minor_faults += used.minor_faults;
            partner.major_faults += used.major_faults;
            migrations += u64::from(from != to);
        }
        let rate = |own: u64, partner: u64| Some(own as f64 / operations + partner as f64 / all_operations);
        Self {
            switches: rate(own.switches(), partner.switches()),
            voluntary: rate(own.voluntary_switches, partner.voluntary_switches),
            migrations: Some(migrations),
            faults: rate(own.faults(), partner.faults()),
        }
    }
}

/// Takes what a series yields.
#[derive(Default)]
pub(crate) struct Collected {
    pub(crate) record: LaunchRecord,
    pub(crate) samples: Vec<f64>,
    pub(crate) operations: u64,
    pub(crate) counted: BTreeMap<String, u64>,
    histogram: LogHistogram,
    used: Usage,
    migrations: u64,
    tracks: Vec<(String, Vec<f64>)>,
    remarks: Vec<String>,
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
    fn used(&mut self, usage: &Usage, migrations: u64) {
        self.used.voluntary_switches += usage.voluntary_switches;
        self.used.involuntary_switches += usage.involuntary_switches;
        self.used.minor_faults += usage.minor_faults;
        self.used.major_faults += usage.major_faults;
        self.migrations += migrations;
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
    plan: &LaunchPlan,
    seed: u64,
    participants: &[Participant],
    before: &PartnersUsage,
) -> Result<Launched, Failure> {
    let mut sink = Collected::default();
    let series_plan = SeriesPlan { observations: None, duration_ns: plan.member_ns, seed };
    let used = usage::own(Whose::Thread);
    let cpu = oscost_sys::affinity::current();
    series.launch(&series_plan, &mut sink).map_err(|error| Failure::new("launch", error))?;
    let mut used = usage::own(Whose::Thread).since(&used);
    used.voluntary_switches += sink.used.voluntary_switches;
    used.involuntary_switches += sink.used.involuntary_switches;
    used.minor_faults += sink.used.minor_faults;
    used.major_faults += sink.used.major_faults;
    let moved = oscost_sys::affinity::current() != cpu;
    if let Some((name, _)) = sink.record.quantities.iter().find(|(_, value)| !value.is_finite()) {
        return Err(Failure::new("launch", format!("the quantity '{name}' is no number")));
    }
    let after = partners(&[participants.to_vec()]);
    let operations = sink.operations.max(1) as f64;
    let counts = Counts::of(&used, operations, before, &after[0], operations);
    let (first, buckets) = sink.histogram.counts();
    let mut record = sink.record;
    record.cpu = current_cpu();
    record.rounds = sink.operations;
    record.switches = counts.switches;
    record.voluntary_switches = counts.voluntary;
    record.migrations = counts.migrations.map(|migrations| migrations + u64::from(moved) + sink.migrations);
    record.faults = counts.faults;
    if !buckets.is_empty() {
        record.histogram = Some(Histogram { first, counts: buckets.to_vec(), ..Histogram::default() });
    }
    let (samples, tracks) =
        if plan.keep_samples { (sink.samples, sink.tracks) } else { (Vec::new(), Vec::new()) };
    Ok(Launched { record, clean_sketch: Vec::new(), samples, tracks, remarks: sink.remarks })
}
