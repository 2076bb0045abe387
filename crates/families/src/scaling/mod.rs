//! Any operation by several processes or threads at once (`--processes 1,2,4`): what it is of, its card and its id.
//!
//! An id is that of the operation with two parts more: `syscall/read1/processes_4/private`.

mod conductor;
mod run;
mod worker;

use oscost_harness::{
    Benchmark, Bound, Card, Claim, Parameter, Placement, QuantityCard, SetUp, Sharing, Subject, Tier, Unable,
    quantity,
};

use crate::made::{self, words};
use run::Scaled;

/// So many workers at most.
pub const MOST_WORKERS: u32 = 64;
/// So much memory may the workers hold together, bytes.
const MOST_BYTES: u64 = 512 << 20;

/// What the workers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workers {
    /// Processes of one thread.
    Processes,
    /// Threads of one process.
    Threads,
}

impl Workers {
    /// Their name in ids and parameters.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Processes => "processes",
            Self::Threads => "threads",
        }
    }
}

/// Whose the objects of the operation are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objects {
    /// Each worker sets up its own.
    Private,
    /// One for all.
    Shared,
}

impl Objects {
    const fn name(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Shared => "shared",
        }
    }
}

/// The parameters of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crowd {
    /// How many.
    pub workers: u32,
    /// What they are.
    pub of: Workers,
    /// Whose the objects are.
    pub objects: Objects,
}

impl Crowd {
    /// The operation that an id names, and by whom it is made.
    fn of_id(id: &str) -> Option<(&str, Self)> {
        let (rest, objects) = id.rsplit_once('/')?;
        let objects = [Objects::Private, Objects::Shared].into_iter().find(|it| it.name() == objects)?;
        let (inner, workers) = rest.rsplit_once('/')?;
        let (of, count) = workers.split_once('_')?;
        let of = [Workers::Processes, Workers::Threads].into_iter().find(|it| it.name() == of)?;
        let workers = count.parse().ok().filter(|workers| (1..=MOST_WORKERS).contains(workers))?;
        let crowd = Self { workers, of, objects };
        (crowd.id(inner) == id).then_some((inner, crowd))
    }

    /// The id of the operation `inner` by these workers.
    fn id(self, inner: &str) -> String {
        format!("{inner}/{}_{}/{}", self.of.name(), self.workers, self.objects.name())
    }

    /// "4 processes".
    fn words(self) -> String {
        let name = self.of.name();
        match (self.workers, self.of) {
            (1, Workers::Processes) => "1 process".to_owned(),
            (1, Workers::Threads) => "1 thread".to_owned(),
            (count, _) => format!("{count} {name}"),
        }
    }
}

/// Ids of the operation `inner` by so many workers, with objects of their own and with one for all, whatever it has.
#[must_use]
pub fn ids(inner: &str, of: Workers, counts: &[u32]) -> Vec<String> {
    let Some(benchmark) = crate::listed(inner) else { return Vec::new() };
    let both = [Objects::Private, Objects::Shared];
    let objects: &[Objects] = match benchmark.sharing() {
        Sharing::Own => &both[..1],
        // Threads have no object that a parent left them.
        Sharing::Inherited(_) if of == Workers::Threads => &both[..1],
        Sharing::Inherited(_) => &both,
        Sharing::Always(_) => &both[1..],
    };
    let crowds =
        objects.iter().flat_map(|&objects| counts.iter().map(move |&workers| Crowd { workers, of, objects }));
    crowds.map(|crowd| crowd.id(inner)).collect()
}

/// The benchmark of an id that says by how many it is made.
pub fn resolve(id: &str) -> Option<&'static dyn Benchmark> {
    let (inner, crowd) = Crowd::of_id(id)?;
    let inner = crate::listed(inner)?;
    Some(made::once(id, || by(inner, crowd)))
}

/// The operation `inner` by `crowd`, whatever family it is of.
#[must_use]
pub fn by(inner: &'static dyn Benchmark, crowd: Crowd) -> &'static dyn Benchmark {
    made::benchmark(Scaled::new(inner, crowd))
}

/// What a launch yields. docs/method/families.md.
const QUANTITIES: &[QuantityCard] = &[
    QuantityCard::of(quantity::TIME_PER_OPERATION),
    QuantityCard::of(quantity::ALONE),
    QuantityCard::of(quantity::EFFICIENCY),
    QuantityCard::of(quantity::FAIRNESS),
    QuantityCard::of(quantity::WORKERS_PER_CPU),
];
/// What a launch takes besides the plan's time, ms.
const LAUNCH_MS: u64 = 150;
/// Operations that much is made ready for. Their first windows had it taken from them where it lay behind their ends, and their first
/// batches held too few iterations: the prices came out too low.
const MADE_READY: [&str; 3] = ["memory/latency/", "memory/bandwidth/", "container/namespace/net/"];

/// The card of `inner` by a crowd.
fn card(inner: &'static dyn Benchmark, crowd: Crowd) -> Card {
    let its = inner.card();
    let id = words(crowd.id(its.id));
    let objects = match (inner.sharing(), crowd.objects) {
        (_, Objects::Private) => String::new(),
        (Sharing::Inherited(what) | Sharing::Always(what), Objects::Shared) => format!(", all on {what}"),
        (_, Objects::Shared) => ", all on one object".to_owned(),
    };
    let mut parameters = vec![
        ("of", Parameter::Text(its.id)),
        (crowd.of.name(), Parameter::Number(crowd.workers.into())),
        ("objects", Parameter::Text(crowd.objects.name())),
    ];
    // What tells its like apart tells these apart too.
    parameters.extend(its.parameters.iter().filter(|(name, _)| *name != crowd.of.name()));
    Card {
        id,
        revision: its.revision + u32::from(MADE_READY.iter().any(|of| id.starts_with(of))),
        title: words(format!("{} by {}", its.title, crowd.words())),
        operation: words(format!("{}, by {} at once{objects}", its.operation, crowd.words())),
        heading: words(format!("{}, by several at once", its.operation)),
        call_path: its.call_path,
        placement: Placement::Spread,
        group: id,
        claims: made::list(claims_of(&inner.claims())),
        tier: Tier::Thorough,
        launches: Some(8),
        launch_ms: LAUNCH_MS + its.launch_ms * u64::from(crowd.workers),
        quantities: QUANTITIES,
        parameters: made::list(parameters),
        // It is about one that works alone: "no other process wants the CPU here".
        remark: if crowd.workers > 1 { "" } else { its.remark },
        ..Card::SERIES
    }
}

/// Its claims about system calls, which hold for each of the workers. How often one sleeps is no part of an operation that others
/// hinder.
fn claims_of(own: &[Claim]) -> Vec<Claim> {
    let is_about_calls = |claim: &&Claim| {
        let named = matches!(claim, Claim::CallsNamed(..) | Claim::CallsByChance(_));
        named || matches!(claim, Claim::OtherCalls(_) | Claim::SystemCalls(_))
    };
    own.iter().filter(is_about_calls).copied().collect()
}

/// Is one call for all of a batch? Several workers make batches as they find time, and only their iterations are counted.
fn calls_once_a_batch(claims: &[Claim]) -> bool {
    let is_so = |claim: &Claim| matches!(claim, Claim::SystemCalls(Bound::Between(least, most)) if *least > 0.0 && *most < 1.0);
    claims.iter().any(is_so)
}

/// Why it cannot be made by such workers, where it cannot.
fn misfit(inner: &dyn Benchmark, crowd: Crowd) -> Option<String> {
    let card = inner.card();
    let held = card.parameters.iter().filter(|(name, _)| name.ends_with("_bytes"));
    let held: u64 = held.filter_map(|(_, value)| value.number()).sum::<u64>() * u64::from(crowd.workers);
    let why = match (card, inner.sharing()) {
        (Card { placement: Placement::OneCpu, .. }, _) if inner.listens() => "it listens to its own calls",
        (Card { quantities: [_, ..], .. }, _) => "it times itself, and has no batches",
        (Card { changes_process: Some(how), .. }, _) if crowd.of == Workers::Threads => {
            return Some(format!("threads cannot make it at once: {how}"));
        }
        _ if calls_once_a_batch(&inner.claims()) => {
            "one call is for all of a batch, and calls of batches are not counted of several"
        }
        (Card { placement: Placement::OneCpu, .. }, sharing) => match (sharing, crowd.of, crowd.objects) {
            (Sharing::Own, _, Objects::Shared) => "it has no object to share",
            (Sharing::Inherited(_), Workers::Threads, Objects::Shared) => {
                "its object is handed on by fork, to processes alone"
            }
            (Sharing::Always(_), _, Objects::Private) => "all of its objects are the same one",
            _ if held > MOST_BYTES => {
                return Some(format!(
                    "{} would hold {} MiB, and more than {} MiB is not taken",
                    crowd.words(),
                    held >> 20,
                    MOST_BYTES >> 20
                ));
            }
            _ => return None,
        },
        _ => "its placement is for partners",
    };
    Some(format!("it cannot be made by {} at once: {why}", crowd.words()))
}

/// What refuses a misfit.
fn unsupported(why: String) -> Unable {
    Unable::Unsupported {
        why,
        remedy: "name operations of one process, with few bytes of memory each".into(),
    }
}

/// What a worker works with, its own or everybody's.
fn batched(inner: &dyn Benchmark, cx: &mut SetUp<'_>) -> Result<Box<dyn oscost_harness::Batched>, Unable> {
    match inner.set_up(cx)? {
        Subject::Batched(batched) if batched.participants().is_empty() => Ok(batched),
        _ => Err(unsupported("it has partners of its own, or no batches".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_by_how_many_and_on_what() {
        let id = "syscall/read1/processes_4/shared";
        let card = resolve(id).expect("it is found").card();
        assert_eq!((card.id, card.group, card.family()), (id, id, "syscall"));
        let parameters = [
            ("of", Parameter::Text("syscall/read1")),
            ("processes", Parameter::Number(4)),
            ("objects", Parameter::Text("shared")),
        ];
        assert_eq!(card.parameters, parameters);
        assert!(
            card.operation.ends_with("by 4 processes at once, all on the open file"),
            "{}",
            card.operation
        );
        for none in ["processes_0/private", "processes_65/private", "processes_04/private", "processes_4/own"]
        {
            assert!(resolve(&format!("syscall/read1/{none}")).is_none(), "{none}");
        }
        assert!(resolve("syscall/nothing/threads_2/private").is_none());
        // An id of the family futex has such a part of its own.
        assert!(resolve("futex/hash/threads_2/private").is_none());
        let one = Crowd { workers: 1, of: Workers::Processes, objects: Objects::Private };
        assert_eq!(one.words(), "1 process");
        assert_eq!(Crowd { of: Workers::Threads, ..one }.words(), "1 thread");
    }

    #[test]
    fn what_is_said_of_several_is_true_of_several() {
        let card = |inner: &str, workers: &str| Some(resolve(&format!("{inner}/{workers}/private"))?.card());
        let mut scaling = 0;
        for inner in crate::FAMILIES.iter().flat_map(|family| family.benchmarks) {
            for workers in ["processes_4", "threads_2"] {
                let Some(card) = card(inner.card().id, workers) else { continue };
                scaling += 1;
                assert_eq!(card.remark, "", "{}", card.id);
                assert!(!card.operation.contains("no other "), "{}: {}", card.id, card.operation);
            }
        }
        assert!(scaling > 100, "else this proves nothing: {scaling}");
        let barrier = card("syscall/membarrier", "threads_2").expect("it is found");
        assert!(!format!("{} {}", barrier.title, barrier.operation).contains("one thread"));
        // One worker is as alone as the operation is without it.
        let one = card("syscall/sched_yield", "processes_1").expect("it is found");
        assert!(one.remark.contains("no other process"), "{}", one.remark);
    }

    /// Results of windows that were wrong are not held against others.
    #[test]
    fn what_much_is_made_ready_for_has_a_revision_of_its_own() {
        for (inner, raised) in [
            ("memory/latency/size_64m/small_pages", 1),
            ("container/namespace/net", 1),
            ("syscall/getppid", 0),
        ] {
            let own = crate::listed(inner).expect("it is there").card().revision;
            let card = resolve(&format!("{inner}/processes_2/private")).expect("it is found").card();
            assert_eq!(card.revision, own + raised, "{inner}");
        }
    }

    #[test]
    fn ids_are_made_of_what_can_be_shared() {
        let of = |id, workers| ids(id, workers, &[1, 2]);
        let own = ["syscall/getppid/threads_1/private", "syscall/getppid/threads_2/private"];
        assert_eq!(of("syscall/getppid", Workers::Threads), own);
        assert_eq!(of("syscall/read1", Workers::Processes).len(), 4);
        assert_eq!(of("syscall/read1", Workers::Threads).len(), 2);
        assert_eq!(of("syscall/stat", Workers::Processes)[0], "syscall/stat/processes_1/shared");
        // What forks inherit has one place, which each of them would move: only the first to list would find the files.
        let listing = of("file/list/entries_10", Workers::Processes);
        assert!(listing.len() == 2 && listing.iter().all(|id| id.ends_with("/private")), "{listing:?}");
        assert!(of("syscall/nothing", Workers::Processes).is_empty());
    }

    #[test]
    fn what_cannot_be_made_by_several_says_why() {
        for (id, why) in [
            ("context_switch/pipe/same_cpu/processes_2/private", "partners"),
            // Nobody is beside it: it is placed as what it is subtracted from.
            ("context_switch/pipe_alone/same_cpu/processes_2/private", "its placement"),
            ("file/list/entries_10/processes_2/shared", "no object to share"),
            ("futex/hash/threads_2/private/processes_2/private", "times itself"),
            ("syscall/getppid/processes_2/shared", "no object to share"),
            ("syscall/stat/processes_2/private", "the same one"),
            ("syscall/read1/threads_2/shared", "handed on by fork"),
            ("process/fork/resident_256m/small_pages/processes_4/private", "1024 MiB"),
            ("memory/give_back/processes_2/private", "for all of a batch"),
            ("memory/give_back_file/threads_2/private", "for all of a batch"),
            ("signal/deliver/threads_2/private", "a handler is installed"),
        ] {
            let (inner, crowd) = Crowd::of_id(id).expect("an id");
            let said = misfit(crate::listed(inner).expect("it is there"), crowd).expect(id);
            assert!(said.contains(why), "{id}: {said}");
        }
    }
}
