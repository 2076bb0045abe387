//! The pairs of CPUs that ids name (`cpu_pair/wake_up/from_2_to_5`), and which of them stand for all.

use std::collections::BTreeMap;
use std::path::Path;

use oscost_harness::{Benchmark, Card, Given, Parameter, Setting, Takes, Tier};
use oscost_sys::topology::{Shared, Topology};

use super::{cache_line, wake_up};
use crate::made::{self, words};
use crate::row::{Row, row};

/// Which pairs of CPUs a run of the family has.
pub const PAIRS: Setting = Setting {
    key: "pairs",
    what: "pairs of CPUs: a few of each distance, or all of them",
    takes: Takes::Word(|| vec![BY_DISTANCE, "all"]),
    many: false,
    default: BY_DISTANCE,
};
const BY_DISTANCE: &str = "by_distance";
/// Pairs of one distance that stand for all of it.
const OF_A_DISTANCE: usize = 3;
/// The largest number of a CPU that an id may name.
const MOST_CPU: usize = 65_535;
/// What launches of one pair may take, ms, and how many these are: what a launch needs beyond its plan comes on top.
const BUDGET_MS: u64 = 2_000;
const MOST_LAUNCHES: u64 = 30;

/// What is measured between two CPUs.
struct Kind {
    /// Card of the same between the CPUs that a run prefers.
    card: &'static Card,
    row: fn(&'static Card) -> Row,
}

const KINDS: [Kind; 2] = [
    Kind { card: &cache_line::CARD, row: |card| row(card, cache_line::hops) },
    Kind { card: &wake_up::CARD, row: wake_up::wake_ups },
];

impl Kind {
    /// First parts of its ids.
    fn path(&self) -> &'static str {
        self.card.id.trim_end_matches("/cross_cpu")
    }

    fn id_of(&self, (from, to): (usize, usize)) -> String {
        format!("{}/from_{from}_to_{to}", self.path())
    }

    fn card_of(&self, id: &str, (from, to): (usize, usize)) -> Card {
        let id = words(id.to_owned());
        let mut parameters =
            vec![("from", Parameter::Number(from as u64)), ("to", Parameter::Number(to as u64))];
        let shared = Topology::read(Path::new("/"), &[from, to]).shared(from, to);
        parameters.extend(shared.map(|shared| ("share", Parameter::Text(shared.name()))));
        let what = self.card.title.trim_end_matches(" to another CPU").trim_end_matches(" on another CPU");
        Card {
            id,
            title: words(format!("{what}, CPU {from} to CPU {to}")),
            group: id,
            cpus: made::list(vec![from, to]),
            tier: Tier::Thorough,
            budget_ms: Some(BUDGET_MS + MOST_LAUNCHES * self.card.launch_ms),
            parameters: made::list(parameters),
            remark: self.card.remark.split_once("between the two CPUs").map_or(self.card.remark, |_| ""),
            ..self.card.clone()
        }
    }
}

/// The CPUs that an id names.
fn cpus_of(part: &str) -> Option<(usize, usize)> {
    let (from, to) = part.strip_prefix("from_")?.split_once("_to_")?;
    let number = |text: &str| text.parse::<usize>().ok().filter(|&cpu| cpu <= MOST_CPU);
    let (from, to) = (number(from)?, number(to)?);
    (from != to).then_some((from, to))
}

/// The benchmark of an id that names two CPUs.
pub fn resolve(id: &str) -> Option<&'static dyn Benchmark> {
    let (path, part) = id.rsplit_once('/')?;
    let kind = KINDS.iter().find(|kind| kind.path() == path)?;
    let pair = cpus_of(part).filter(|&pair| kind.id_of(pair) == id)?;
    Some(made::once(id, || made::benchmark((kind.row)(made::card(kind.card_of(id, pair))))))
}

/// Ids of what `id` measures ("cpu_pair/wake_up/cross_cpu") between pairs of these CPUs, each in both directions. None where
/// `id` is no such one.
#[must_use]
pub fn ids(id: &str, given: &Given, cpus: &[usize]) -> Vec<String> {
    let Some(kind) = KINDS.iter().find(|kind| kind.card.id == id) else { return Vec::new() };
    let mut cpus = cpus.to_vec();
    cpus.sort_unstable();
    let pairs = match given.word(PAIRS.key) {
        None | Some(BY_DISTANCE) => by_distance(&Topology::read(Path::new("/"), &cpus), &cpus),
        Some(_) => whole(&cpus),
    };
    pairs.into_iter().flat_map(|(a, b)| [(a, b), (b, a)]).map(|pair| kind.id_of(pair)).collect()
}

/// Every pair, once.
fn whole(cpus: &[usize]) -> Vec<(usize, usize)> {
    let later = |index: usize| cpus.iter().skip(index + 1);
    cpus.iter().enumerate().flat_map(|(index, &a)| later(index).map(move |&b| (a, b))).collect()
}

/// The first, the middle and the last pair of each distance; those of an unknown distance are one more kind.
fn by_distance(topology: &Topology, cpus: &[usize]) -> Vec<(usize, usize)> {
    let mut kinds: BTreeMap<Option<Shared>, Vec<(usize, usize)>> = BTreeMap::new();
    for (a, b) in whole(cpus) {
        kinds.entry(topology.shared(a, b)).or_default().push((a, b));
    }
    let few = |pairs: Vec<(usize, usize)>| {
        let last = pairs.len() - 1;
        let mut chosen: Vec<usize> =
            (0..OF_A_DISTANCE).map(|place| last * place / (OF_A_DISTANCE - 1)).collect();
        chosen.dedup();
        chosen.into_iter().map(move |index| pairs[index]).collect::<Vec<_>>()
    };
    kinds.into_values().flat_map(few).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oscost_harness::{Choice, Effort, estimate_ns};

    #[test]
    fn an_id_names_two_cpus() {
        for id in ["cpu_pair/wake_up/from_2_to_5", "cpu_pair/cache_line/from_5_to_2"] {
            let card = resolve(id).expect("a pair").card();
            assert_eq!((card.id, card.group, card.cpus.len()), (id, id, 2));
        }
        let card = resolve("cpu_pair/wake_up/from_2_to_5").expect("a pair").card();
        assert_eq!((card.title, card.cpus), ("wake-up, CPU 2 to CPU 5", &[2, 5][..]));
        for none in ["from_2_to_2", "from_2_to_70000", "from_02_to_5", "from_2", "from_a_to_b", "cross_cpu"] {
            assert!(resolve(&format!("cpu_pair/wake_up/{none}")).is_none(), "{none}");
        }
    }

    /// 512 CPUs: two sockets of eight nodes in all, caches of eight cores, two threads each.
    fn machine_of_512() -> std::path::PathBuf {
        let name = format!("oscost-512-{:x}", oscost_sys::random::bits().expect("bits"));
        let root = std::env::temp_dir().join(name);
        for cpu in 0..512 {
            let core = cpu % 256;
            let folder = root.join(format!("sys/devices/system/cpu/cpu{cpu}"));
            for part in ["topology", "cache/index3", &format!("node{}", core / 32)] {
                std::fs::create_dir_all(folder.join(part)).expect("a folder");
            }
            let write = |file: &str, text: String| std::fs::write(folder.join(file), text).expect("a file");
            write("topology/thread_siblings_list", format!("{core},{}", core + 256));
            write("cache/index3/level", "3".to_owned());
            let first = core / 8 * 8;
            write(
                "cache/index3/shared_cpu_list",
                format!("{first}-{},{}-{}", first + 7, first + 256, first + 263),
            );
        }
        root
    }

    #[test]
    fn pairs_of_512_cpus_take_less_than_five_minutes() {
        let (root, cpus) = (machine_of_512(), (0..512).collect::<Vec<usize>>());
        let topology = Topology::read(&root, &cpus);
        std::fs::remove_dir_all(&root).expect("it was there");
        let pairs = by_distance(&topology, &cpus);
        let of = |shared| pairs.iter().filter(|&&(a, b)| topology.shared(a, b) == Some(shared)).count();
        assert_eq!(Shared::ALL.map(of), [OF_A_DISTANCE; 4], "{pairs:?}");
        let ids = pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
        let choices: Vec<Choice> = ids
            .flat_map(|pair| KINDS.iter().map(move |kind| kind.id_of(pair)))
            .map(|id| Choice { benchmark: resolve(&id).expect("a pair"), named: false })
            .collect();
        assert_eq!(choices.len(), 48);
        let ns = estimate_ns(&choices, &Effort::DEFAULT);
        assert!(ns <= 300_000_000_000, "{ns}");
        // All of them are asked for by name alone.
        assert_eq!(whole(&cpus).len(), 512 * 511 / 2);
    }

    #[test]
    fn few_cpus_have_few_pairs() {
        let none = Topology::default();
        assert!(by_distance(&none, &[3]).is_empty());
        assert_eq!(by_distance(&none, &[0, 1]), [(0, 1)]);
        assert_eq!(by_distance(&none, &[0, 1, 2]), [(0, 1), (0, 2), (1, 2)]);
        assert_eq!(ids("cpu_pair/wake_up/cross_cpu", &Given::default(), &[0]), [""; 0]);
        let both = ["cpu_pair/wake_up/from_0_to_1", "cpu_pair/wake_up/from_1_to_0"];
        assert_eq!(ids("cpu_pair/wake_up/cross_cpu", &Given::default(), &[1, 0]), both);
        assert_eq!(ids("futex/wake_one/cross_cpu", &Given::default(), &[0, 1]), [""; 0]);
    }
}
