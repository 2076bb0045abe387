//! The settings of the family, and the ids that a run then measures.

use oscost_harness::{Given, Level, Setting, Takes};
use oscost_sys::scheduling::Policy;

use super::shape::{CLIENTS, COUNTS, SIZES, Shape, TICKS_NS};
use super::{Load, MAIN, PARTNER, QUICK, SPREAD, TRANSPORTS, id_of, never_sleeps};

/// Name of the family.
pub const FAMILY: &str = "realtime_ipc";

/// Frames of a sound server's buffer, and their rate.
pub const FRAMES: Setting = Setting {
    key: "frames",
    what: "frames of a sound server's buffer: 44100 and 64 make 1.45 ms",
    takes: Takes::Number { least: 1, most: 1_000_000 },
    many: false,
    default: "none",
};
/// See [`FRAMES`].
pub const RATE: Setting = Setting {
    key: "rate",
    what: "frames per second of a sound server, whose buffer sets the tick",
    ..FRAMES
};

/// Where every latency goes, by whatever session.
pub const RAW_DIR: Setting = Setting {
    key: "raw_dir",
    what: "folder for every latency in us: one file per client, named as document 002's script does",
    takes: Takes::Path,
    many: false,
    default: "none",
};

/// The keys of the family.
pub const SETTINGS: &[Setting] = &[
    Setting {
        key: "clients",
        what: "numbers of clients",
        takes: Takes::Number { least: *CLIENTS.start() as u64, most: *CLIENTS.end() as u64 },
        many: true,
        default: "1,10; with a load 1",
    },
    Setting {
        key: "tick",
        what: "time between ticks; several values make a sweep",
        takes: Takes::Time { least: *TICKS_NS.start(), most: *TICKS_NS.end() },
        many: true,
        default: "1ms",
    },
    RATE,
    FRAMES,
    Setting {
        key: "ticks",
        what: "number of ticks that count in each launch",
        takes: Takes::Number { least: *COUNTS.start() as u64, most: *COUNTS.end() as u64 },
        many: false,
        default: "100, with --quick 50; with a load 3 s, with --quick 0.6 s",
    },
    Setting {
        key: "transport",
        what: "ways to send",
        takes: Takes::Word(|| TRANSPORTS.iter().map(|spec| spec.name).collect()),
        many: true,
        default: "eight; with --quick four, with a load two, with --thorough all",
    },
    Setting {
        key: "size",
        what: "bytes of a message, a multiple of 8",
        takes: Takes::Number { least: *SIZES.start() as u64, most: *SIZES.end() as u64 },
        many: false,
        default: "24",
    },
    Setting {
        key: "placement",
        what: "server and clients on one CPU, or the server on one and the clients on the others",
        takes: Takes::Word(|| PLACEMENTS.to_vec()),
        many: false,
        default: "both; with idle_cpu=poll spread, with a load or --quick same_cpu",
    },
    Setting {
        key: "policy",
        what: "real-time scheduling by SCHED_RR or SCHED_FIFO, or none (other)",
        takes: Takes::Word(|| POLICIES.map(|(name, _)| name).to_vec()),
        many: false,
        default: "rr",
    },
    Setting {
        key: "idle_cpu",
        what: "CPUs of clients that are idle: as the run has them, or kept awake (poll)",
        takes: Takes::Word(|| IDLE.to_vec()),
        many: true,
        default: "halt",
    },
    Setting {
        key: "load",
        what: "what keeps the machine busy in the middle half of each session",
        takes: Takes::Word(|| Load::NAMED.iter().map(Load::name).collect()),
        many: true,
        default: "none",
    },
    Setting {
        key: "load_command",
        what: "shell command as a load, restarted whenever it ends",
        takes: Takes::Text { most: Load::LONGEST_COMMAND },
        many: false,
        default: "none",
    },
    RAW_DIR,
];

/// Names of the placements, the document's first.
const PLACEMENTS: [&str; 2] = ["same_cpu", "spread"];
/// What idle CPUs do.
const IDLE: [&str; 2] = ["halt", "poll"];
/// Policies by name.
const POLICIES: [(&str, Policy); 3] =
    [("rr", Policy::RoundRobin), ("fifo", Policy::Fifo), ("other", Policy::Other)];
/// Transports that are measured under a load where none are named: the document's, and the broadcast.
const LOADED: [&str; 2] = [PARTNER, "futex_broadcast"];

/// The tick that rate and frames make together, ns; `None` where neither is given.
///
/// # Errors
/// One without the other, or beside `tick`.
pub fn sound_tick_ns(given: &Given) -> Result<Option<u64>, String> {
    match (given.number("rate"), given.number("frames")) {
        (Some(rate), Some(frames)) if given.number("tick").is_none() => {
            Ok(Some((frames * 1_000_000_000 + rate / 2) / rate))
        }
        (Some(_), Some(_)) => {
            Err("--set tick= and --set rate= with frames= both set the tick: give only one of them"
                .to_owned())
        }
        (None, None) => Ok(None),
        _ => Err("--set rate= and frames= need each other: 44100 and 64 make a tick of 1.45 ms".to_owned()),
    }
}

/// The ids of a run of the family.
///
/// # Errors
/// In words: values that do not go together.
pub fn ids(given: &Given, level: Level) -> Result<Vec<String>, String> {
    let loads = loads(given)?;
    let loaded = loads.iter().any(Option::is_some);
    let (placement, transports) = (given.word("placement"), given.words("transport"));
    let awake: Vec<bool> = match given.words("idle_cpu") {
        [] => vec![false],
        idle => idle.iter().map(|idle| *idle == "poll").collect(),
    };
    let placements = match placement {
        Some(place) => vec![place == "spread"],
        None if awake.contains(&true) => vec![true],
        None if loaded => vec![false],
        None if level == Level::Quick && transports.is_empty() => vec![false],
        None => vec![false, true],
    };
    if let ([false], Some(awake)) = (placements.as_slice(), transports.iter().find(|name| never_sleeps(name)))
    {
        return Err(format!("{awake}: its clients never sleep, and need --set placement=spread"));
    }
    let clients = match given.numbers("clients") {
        [] if loaded => &[1],
        [] => &[1, 10][..],
        clients => clients,
    };
    let sound = sound_tick_ns(given)?.map(|tick| vec![tick]);
    let ticks = sound.unwrap_or_else(|| match given.numbers("tick") {
        [] => vec![1_000_000],
        ticks => ticks.to_vec(),
    });
    let mut ids = Vec::new();
    for spread in placements {
        let names: Vec<&str> = match transports {
            [] if level == Level::Thorough => TRANSPORTS.iter().map(|spec| spec.name).collect(),
            [] if loaded => LOADED.to_vec(),
            [] if level == Level::Quick => QUICK.to_vec(),
            [] if spread && placement.is_none() => SPREAD.to_vec(),
            [] => MAIN.to_vec(),
            transports => transports.to_vec(),
        };
        for (&clients, &tick_ns) in
            clients.iter().flat_map(|count| ticks.iter().map(move |tick| (count, tick)))
        {
            for (&load, &awake) in loads.iter().flat_map(|load| awake.iter().map(move |awake| (load, awake)))
            {
                let shape = Shape { awake, ..shape(given, spread, clients, tick_ns, load) };
                shape.misfit().map_or(Ok(()), Err)?;
                // By default one that cannot share a CPU is left out there.
                let fitting = names.iter().filter(|name| spread || !never_sleeps(name));
                ids.extend(fitting.map(|name| id_of(name, &shape)));
            }
        }
    }
    Ok(ids)
}

/// The loads; one that is none where there is none.
fn loads(given: &Given) -> Result<Vec<Option<Load>>, String> {
    let mut loads: Vec<Option<Load>> = given.words("load").iter().map(|name| Load::named(name)).collect();
    if let Some(command) = given.text("load_command") {
        let load = Load::command(command).ok_or("--set load_command= needs a shell command")?;
        loads.push(Some(load));
    }
    if loads.is_empty() {
        loads.push(None);
    }
    Ok(loads)
}

fn shape(given: &Given, spread: bool, clients: u64, tick_ns: u64, load: Option<Load>) -> Shape {
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let mut shape = Shape::of(spread, count(clients));
    shape.tick_ns = tick_ns;
    shape.size = given.number("size").map_or(shape.size, count);
    shape.ticks = given.number("ticks").map(count);
    shape.load = load;
    if let Some(policy) = given.word("policy") {
        shape.policy = POLICIES.into_iter().find(|(name, _)| *name == policy).map_or(shape.policy, |it| it.1);
    }
    shape
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn given(settings: &[(&str, &str)]) -> Given {
        let mut given = Given::default();
        for (key, text) in settings {
            let setting = SETTINGS.iter().find(|setting| setting.key == *key).expect("a key");
            given.set(setting, OsStr::new(text)).expect("a value");
        }
        given
    }

    fn chosen(settings: &[(&str, &str)], level: Level) -> Vec<String> {
        ids(&given(settings), level).expect("they fit")
    }

    #[test]
    fn a_run_of_the_family_is_what_the_efforts_say() {
        let default = chosen(&[], Level::Default);
        assert_eq!(default.len(), 24);
        assert_eq!(default.iter().filter(|id| id.contains("/spread/")).count(), 8);
        assert_eq!(chosen(&[], Level::Quick).len(), 8);
        let all = chosen(&[], Level::Thorough);
        assert_eq!(all.len(), 2 * (2 * TRANSPORTS.len() - 1), "spin has no place on one CPU");
    }

    #[test]
    fn settings_are_parts_of_ids() {
        let settings = [
            ("clients", "3"),
            ("rate", "44100"),
            ("frames", "64"),
            ("transport", "pipe"),
            ("placement", "same_cpu"),
            ("policy", "fifo"),
        ];
        let expected = ["realtime_ipc/pipe/same_cpu/clients_3/tick_1451247ns/policy_fifo"];
        assert_eq!(chosen(&settings, Level::Default), expected);
        let sweep = chosen(&[("tick", "1ms,2ms"), ("transport", "pipe"), ("size", "64")], Level::Quick);
        assert_eq!(sweep.len(), 8);
        assert!(
            sweep.contains(&"realtime_ipc/pipe/spread/clients_10/tick_2ms/size_64".to_owned()),
            "{sweep:?}"
        );
    }

    #[test]
    fn clients_on_other_cpus_are_asked_for_asleep_and_awake() {
        let found =
            chosen(&[("idle_cpu", "halt,poll"), ("transport", "pipe"), ("clients", "5")], Level::Quick);
        let asleep = "realtime_ipc/pipe/spread/clients_5";
        assert_eq!(found, [asleep.to_owned(), format!("{asleep}/idle_poll")]);
    }

    #[test]
    fn a_load_is_part_of_the_id() {
        let found = chosen(&[("load", "transfer,cpu"), ("load_command", "sleep 1")], Level::Default);
        let expected: Vec<String> = ["transfer", "cpu", "command_sleep%201"]
            .iter()
            .flat_map(|load| LOADED.map(|name| format!("realtime_ipc/{name}/same_cpu/clients_1/load_{load}")))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        for (settings, words) in [
            (&[("size", "17")][..], "in steps of 8"),
            (&[("load", "cpu"), ("ticks", "59")], "at least 60"),
            (&[("load_command", " ")], "a shell command"),
            (&[("transport", "spin"), ("placement", "same_cpu")], "never sleep"),
            (&[("transport", "pipe,spin"), ("load", "cpu")], "never sleep"),
            (&[("idle_cpu", "poll"), ("placement", "same_cpu")], "placement=spread"),
            (&[("rate", "44100")], "frames="),
            (&[("rate", "44100"), ("frames", "64"), ("tick", "1ms")], "tick="),
            (&[("clients", "999"), ("ticks", "100000")], "too many"),
            (
                &[("clients", "999"), ("tick", "50us"), ("load", "cpu")],
                "62001 ticks, 2000 of which are discarded, for 999 clients",
            ),
        ] {
            let refused = ids(&given(settings), Level::Default).expect_err(words);
            assert!(refused.contains(words), "{refused}");
        }
    }
}
