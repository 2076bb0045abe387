//! One launch of a group, in the worker: sets up the members, runs rounds or series, and tabulates the outcome.

use oscost_results::{LaunchRecord, quantity};
use oscost_stats::order;
use oscost_sys::distance;

use crate::benchmark::card::{Claim, Placement};
use crate::benchmark::claims;
use crate::benchmark::{Benchmark, Participant, Series, Subject};
use crate::protocol::message::{
    ASLEEP_PART, Failure, IdleCpu, LaunchPlan, Launched, Member, SETTLING_NS, TaskFinding,
};
use crate::worker::awake::Awake;
use crate::worker::canary::Canaries;
use crate::worker::circumstances::{current_cpu, of_partners};
use crate::worker::clock::Monotonic;
use crate::worker::counts::{Own, partners};
use crate::worker::occupancy::{Parties, Watch, worst};
use crate::worker::paired;
use crate::worker::rounds::{self, Progress, RoundPlan, Runner};
use crate::worker::series::one_series;
use crate::worker::summary::{self, CanaryTimes};
use crate::worker::waits::{Waits, while_asleep};
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
    let stays_awake = worker.is_to_stay_awake(members, plan.idle_cpu);
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
                let card = ready.benchmark.card();
                let runner = Runner::new(&mut **subject, iterations, card.operations_per_iteration);
                // What partners do is divided by the iterations of the timed batches. An entry to the kernel is held against
                // entries of canaries, which nobody rehearses.
                let alone = participants[index].is_empty() && !card.uses_up;
                let enters = ready.benchmark.claims().iter().any(Claim::needs_calls);
                runners.push(if alone && !enters { runner.rehearsed() } else { runner });
            }
            Subject::Series(subject) => {
                participants[index] = subject.participants();
                series.push((index, subject));
            }
        }
    }
    let mut round_plan = RoundPlan {
        warm_up_ns: plan.warm_up_ns,
        member_ns: plan.member_ns,
        clock_pair_ns: plan.clock_pair_ns,
        seed,
    };
    let wakes = |index: usize| members[index].is_some_and(|member| member.card().wakes_another_cpu());
    let mut canaries = Canaries::new(plan.core.no_entry.is_none());
    let mut canaries = canaries.runners(&plan.core);
    let everybody: Vec<Participant> = participants.iter().flatten().copied().collect();
    let parties = |awake| Parties { cpus: &cpus, placement, partners: &everybody, awake, series: false };
    let mut asleep: Vec<Option<f64>> = vec![None; runners.len()];
    // What others had in each part of the launch.
    let mut shares: Vec<Option<f64>> = Vec::new();
    let two_states = plan.idle_cpu == IdleCpu::Both && worker.partner_cpu(members).is_some();
    if two_states {
        let least =
            |index: &usize| Some(members[*index].filter(|_| wakes(*index))?.card().least_iterations());
        let iterations: Vec<Option<u64>> = batched.iter().map(least).collect();
        let part = RoundPlan { member_ns: plan.member_ns / ASLEEP_PART, ..round_plan };
        let mut indices = Indices { indices: &batched, progress: &mut progress };
        let watch = Watch::begin(&parties(&[]));
        asleep = while_asleep(&mut runners, &iterations, &mut canaries, &plan.core, &part, &mut indices);
        shares.push(watch.end());
        round_plan.warm_up_ns = SETTLING_NS;
    }
    let awake = if stays_awake { worker.keep_awake(members) } else { Some(Awake::default()) };
    if awake.is_none() {
        // What follows is the price of the same state once more.
        asleep.fill(None);
    }
    let awake = awake.unwrap_or_default();
    let kept_awake = awake.pids();
    // Time in which the kernel lets an idle CPU poll is in no account: then who else is there was looked for while it slept.
    let is_watched = !two_states || !awake.polls();
    let mut launched: Vec<Option<Result<Launched, Failure>>> = vec![None; members.len()];
    let mut pairs = Vec::new();
    let mut samples_of_canaries = Vec::new();
    if !runners.is_empty() {
        // A host may move the CPUs of a guest between two launches.
        let hop_ns = worker.partner_cpu(members).and_then(|cpu| distance::from_here(cpu).ok().flatten());
        // Partners act in the warm-up too: their counts are divided by all the operations that were made.
        let before = partners(&participants);
        let mut indices = Indices { indices: &batched, progress: &mut progress };
        let watch = is_watched.then(|| Watch::begin(&parties(&kept_awake)));
        let rounds = rounds::run(&mut Monotonic, &mut runners, &mut canaries, &round_plan, &mut indices);
        shares.extend(watch.map(Watch::end));
        let foreign_share = worst(shares.into_iter());
        let after = partners(&participants);
        for &index in &batched {
            if let Some(member) = members[index] {
                worker.look_for(&participants[index], member);
            }
        }
        let canary_times = CanaryTimes::of(&rounds);
        let fast = canary_times.fast_rounds(&plan.core);
        let waits_of = |(position, &index): (usize, &usize)| {
            let of = || Waits::of(&rounds.members[position], runners[position].iterations);
            wakes(index).then(of).unwrap_or_default()
        };
        let waits: Vec<Waits> = batched.iter().enumerate().map(waits_of).collect();
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
            let (batches, waits) = (&rounds.members[position], &waits[position]);
            let judged = waits.judged(batches, &fast);
            let Some(summary) = summary::summarise(&judged.0, &judged.1, blocks) else {
                launched[index] = Some(Err(Failure::new("batch", "no batch fits the launch")));
                continue;
            };
            let mut quantities = summary.quantities;
            quantities.extend(waits.unslept(batches).map(|price| (quantity::UNSLEPT.to_owned(), price)));
            if let (Some(asleep), Some(&typical)) = (asleep[position], quantities.get(quantity::TYPICAL)) {
                quantities.insert(quantity::ASLEEP.to_owned(), asleep);
                quantities.insert(quantity::ASLEEP_ADDS.to_owned(), asleep - typical);
            }
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
                    chain_ns: summary::best(&canary_times.chain),
                    throughput_ns: summary::best(&canary_times.throughput),
                    entry_ns: summary::best(&canary_times.entry),
                    hop_ns,
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
                windows: canary_times.windows(
                    &batches.samples,
                    plan.core.no_cycles.is_none() && plan.works.get(index).copied().unwrap_or(false),
                ),
                samples: if plan.keep_samples { batches.samples.clone() } else { Vec::new() },
                tracks: Vec::new(),
                post_conditions: found.iter().map(claims::after_operations).collect(),
                remarks: runner.batched.remarks(),
                extra: false,
            }));
        }
        pairs = paired::of_rounds(members, &launched, &batched, &rounds, &waits, &fast, hop_ns);
        if plan.keep_samples {
            let CanaryTimes { chain, throughput, entry } = canary_times;
            let named = [("chain", chain), ("throughput", throughput), ("entry", entry)];
            samples_of_canaries.extend(named.map(|(name, samples)| (name.to_owned(), samples)));
        }
    }
    // Who comes first has a cold machine, who comes last a warm one: neither is always the same.
    order::shuffle(&mut series, &mut order::seeded(seed, 1));
    for (index, subject) in series {
        progress.running(index);
        if let Err(error) = subject.settle() {
            launched[index] = Some(Err(Failure::new("launch", error)));
            continue;
        }
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
    pairs.extend(paired::of_series(members, &launched));
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
    TaskFinding::Launch { members, pairs, canaries: samples_of_canaries, references: Vec::new() }
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
