//! Runs a benchmark in a forked child with a deadline, and returns the child's findings.

use std::io::{Read, Write};
use std::sync::{Mutex, PoisonError};

use oscost_harness::{
    Audited, Batched, Benchmark, Bound, CallError, Keeper, Participant, Placement, PostCondition, Series,
    SeriesPlan, SetUp, Sink, Subject, Unable, audit,
};
use oscost_sys::{
    affinity, namespace,
    pipe::Pipe,
    process::Child,
    readiness, semaphore,
    usage::{self, Usage, Whose},
};

/// What a series yielded.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Counted {
    pub operations: u64,
    pub quantities: Vec<(&'static str, f64)>,
    pub observations: Vec<f64>,
    pub found: Vec<PostCondition>,
}

impl Sink for Counted {
    fn quantity(&mut self, name: &'static str, value: f64) {
        self.quantities.push((name, value));
    }

    fn observation(&mut self, value: f64) {
        self.observations.push(value);
    }

    fn operations(&mut self, count: u64) {
        self.operations += count;
    }

    fn post_condition(&mut self, found: PostCondition) {
        self.found.push(found);
    }
}

impl Counted {
    /// Whether each condition held that was looked at behind the measurement.
    pub fn holds(&self) -> Result<(), String> {
        let broken = self.found.iter().find(|found| !found.holds());
        broken.map_or(Ok(()), |broken| Err(format!("{broken:?}")))
    }
}

/// Says that a test could not be made, past the capture of the test harness.
pub fn skip(name: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIP {name}: {why}");
}

/// Fails with what went wrong; what a machine lacks is said.
#[track_caller]
pub fn judged(name: &str, outcome: Result<(), String>) {
    match outcome {
        Ok(()) => {}
        Err(why) if why.contains("SKIP") || why.starts_with("unsupported") => {
            skip(name, why.strip_prefix("SKIP ").unwrap_or(&why));
        }
        Err(why) => panic!("{name}: {why}"),
    }
}

/// Checks every benchmark, or with `ONLY=TEXT` in the environment those with TEXT in their ids, and fails with all that are
/// broken: who adds one sees at once whether it is theirs. Those whose ids are words of `EXCEPT` are skipped.
#[track_caller]
pub fn each(
    benchmarks: Vec<&'static dyn Benchmark>,
    check: impl Fn(&'static dyn Benchmark) -> Result<(), String>,
) {
    let only = std::env::var("ONLY").unwrap_or_default();
    let is_chosen = |benchmark: &&dyn Benchmark| benchmark.card().id.contains(&only);
    assert!(oscost_families::all().iter().any(is_chosen), "ONLY={only} is part of no id");
    let except = std::env::var("EXCEPT").unwrap_or_default();
    let mut broken = Vec::new();
    for benchmark in benchmarks.into_iter().filter(is_chosen) {
        let id = benchmark.card().id;
        if except.split_whitespace().any(|it| it == id) {
            skip(id, "EXCEPT names it");
            continue;
        }
        if let Err(why) = check(benchmark) {
            match why.strip_prefix("SKIP ") {
                Some(why) => skip(id, why),
                None => broken.push(format!("{id}: {why}")),
            }
        }
    }
    assert!(
        broken.is_empty(),
        "{}\nTo check one id alone: ONLY=ID cargo test -p oscost-families --test it catalogue -- --include-ignored",
        broken.join("\n")
    );
}

/// One child at a time: what is told of two CPUs holds where nobody else has them.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs `body` in a child, in private namespaces where they can be had (which is what it is told), for at most ten minutes.
pub fn in_child(body: impl FnOnce(bool) -> Result<(), String>) -> Result<(), String> {
    // A list that another test's thread is just making would stay half made in the child, and be waited for there.
    let _ = oscost_families::all();
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Pipe { reader, writer } = Pipe::new().expect("pipe");
    let child = Child::fork(move || {
        let isolated = namespace::probe() == Ok(None) && namespace::isolate(false).is_ok();
        // What a test's thread allocates from grows by single pages, a call of mprotect each, and a worker's by 128 KiB: such calls
        // would count as those of an operation.
        drop(std::hint::black_box(vec![0_u8; 100 << 10]));
        let said = match body(isolated) {
            Ok(()) => "ok".to_owned(),
            Err(why) => why,
        };
        i32::from(std::fs::File::from(writer).write_all(said.as_bytes()).is_err())
    })
    .expect("fork");
    if !readiness::poll_readable(&[&reader], 600_000_000_000).expect("poll")[0] {
        return Err("nothing was heard of it within ten minutes".into());
    }
    let mut said = String::new();
    std::fs::File::from(reader).read_to_string(&mut said).expect("read");
    let ended = child.wait().expect("wait");
    match said.as_str() {
        "ok" => Ok(()),
        "" => Err(format!("its process ended without a word: {ended:?}")),
        why => Err(why.to_owned()),
    }
}

/// Runs `body` with what a worker would set a benchmark of this placement up with, on the CPU that it would run on.
pub fn with_set_up<T>(placement: Placement, body: impl FnOnce(&mut SetUp<'_>) -> T) -> Result<T, String> {
    let cpus = affinity::allowed().map_err(|error| error.to_string())?;
    if placement == Placement::CrossCpu && cpus.len() < 2 {
        return Err("SKIP it needs two CPUs".into());
    }
    if placement != Placement::Unpinned {
        affinity::pin_to(cpus[0]).map_err(|error| error.to_string())?;
    }
    let partner_cpu = if placement == Placement::CrossCpu { cpus[1] } else { cpus[0] };
    let mut keeper = Keeper::in_private_namespaces();
    let outcome = body(&mut SetUp {
        cpu: cpus[0],
        partner_cpu,
        cpus: &cpus,
        host_system_v_limits: semaphore::system_v_limits(),
        keeper: &mut keeper,
        directory: None,
    });
    affinity::pin_to_all(&cpus).map_err(|error| error.to_string())?;
    Ok(outcome)
}

/// Sets a benchmark up as a worker would, runs `body` on it and drops it.
pub fn with_subject<T>(
    benchmark: &dyn Benchmark,
    body: impl FnOnce(&mut Subject) -> Result<T, String>,
) -> Result<T, String> {
    with_set_up(benchmark.card().placement, |cx| match benchmark.set_up(cx) {
        Ok(mut subject) => body(&mut subject),
        Err(Unable::Unsupported { why, remedy }) => Err(format!("SKIP unsupported: {why} ({remedy})")),
        Err(Unable::Failed(error)) => Err(error.to_string()),
    })?
}

/// What the audit of a benchmark counted.
pub fn audited(benchmark: &'static dyn Benchmark) -> Result<Audited, String> {
    let audited = with_set_up(benchmark.card().placement, |cx| audit(benchmark, cx))??;
    if audited.missing.is_some() { Err("SKIP calls cannot be counted".into()) } else { Ok(audited) }
}

/// The series that a subject is.
pub fn series(subject: &mut Subject) -> Result<&mut dyn Series, String> {
    match subject {
        Subject::Series(series) => Ok(&mut **series),
        Subject::Batched(_) => Err("no series".into()),
    }
}

/// What a launch of so many observations, or of so many ms, yields.
pub fn launched(series: &mut dyn Series, observations: Option<u64>, ms: u64) -> Result<Counted, String> {
    let mut counted = Counted::default();
    let plan = SeriesPlan { observations, duration_ns: ms * 1_000_000, seed: 1 };
    series.launch(&plan, &mut counted).map_err(|error| error.to_string())?;
    Ok(counted)
}

/// What a batch uses, as a launch counts it: what is made ready before is no part of its operations.
pub fn used_by_a_batch(subject: &mut Subject, iterations: u64) -> Result<Usage, String> {
    fn batched(subject: &mut Subject) -> Result<&mut dyn Batched, String> {
        match subject {
            Subject::Batched(batched) => Ok(&mut **batched),
            Subject::Series(_) => Err("a series has no batch".to_owned()),
        }
    }
    let in_words = |error: CallError| error.to_string();
    batched(subject)?.arm().map_err(in_words)?;
    let before = usage(subject);
    batched(subject)?.batch(iterations).map_err(in_words)?;
    let used = usage(subject).since(&before);
    batched(subject)?.park().map_err(in_words)?;
    Ok(used)
}

/// What the measuring thread and its partners have used.
pub fn usage(subject: &Subject) -> Usage {
    let participants = match subject {
        Subject::Batched(batched) => batched.participants(),
        Subject::Series(series) => series.participants(),
    };
    let own = std::process::id().cast_signed();
    let mut sum = usage::own(Whose::Thread).expect("getrusage");
    for participant in participants {
        let (pid, tid) = match participant {
            Participant::Process(pid) => (pid, pid),
            Participant::Thread(tid) => (own, tid),
        };
        sum.add(&usage::of(pid, tid).expect("the partner lives").usage);
    }
    sum
}

/// Whether a count per operation lies within a claim's bound.
pub fn holds(bound: Bound, observed: f64) -> bool {
    match bound {
        Bound::Exactly(value) => (observed - value).abs() < 1e-9,
        Bound::AtMost(most) => observed <= most,
        Bound::AtLeast(least) => observed >= least,
        Bound::Between(least, most) => (least..=most).contains(&observed),
    }
}
