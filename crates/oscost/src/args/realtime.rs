//! Options of `oscost run realtime_ipc`, and the ids that they stand for.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use oscost_families::realtime_ipc::{self, Load, Shape};
use oscost_harness::{Choice, Effort, Level};
use oscost_sys::scheduling::Policy;

use crate::commands::catalogue;
use crate::exit::Ended;

/// The family that these options belong to.
pub const FAMILY: &str = "realtime_ipc";

#[derive(Debug, Args)]
#[command(next_help_heading = "Real-time messages (run realtime_ipc)")]
pub struct RealTime {
    /// Numbers of clients, 1 to 999 [default: 1,10; with a load 1]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub clients: Vec<usize>,
    /// Times between ticks, 50us to 1s; several are a sweep [default: 1ms]
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with_all = ["rate", "frames"])]
    pub tick: Vec<String>,
    /// Frames a second of a sound server, whose buffer makes the tick
    #[arg(long, value_name = "HZ", requires = "frames", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub rate: Option<u64>,
    /// Frames of its buffer: 44100 and 64 make 1.45 ms
    #[arg(long, value_name = "N", requires = "rate", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub frames: Option<u64>,
    /// Ticks that count in a launch, 10 to 100000 [default: 100, with --quick 50; with a load 3 s, with --quick 0.6 s]
    #[arg(long, value_name = "N")]
    pub ticks: Option<usize>,
    /// Transports [default: eight; with --quick four, with a load two, with --thorough all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub transport: Vec<String>,
    /// Bytes of a message, 16 to 65536 in steps of 8 [default: 24]
    #[arg(long, value_name = "BYTES")]
    pub size: Option<usize>,
    /// Where server and clients run [default: both; with a load same_cpu]
    #[arg(long, value_name = "WHERE")]
    pub placement: Option<Where>,
    /// Real-time scheduling, or none
    #[arg(long, value_name = "POLICY")]
    pub policy: Option<Scheduling>,
    /// What keeps the machine busy in the middle half of each session: start_program, transfer, transfer_fsync, network,
    /// window, cpu, memory
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub load: Vec<String>,
    /// The same by a command for a shell, started again when it has ended
    #[arg(long, value_name = "CMD")]
    pub load_command: Option<String>,
    /// Write every latency to files below DIR, as document 002's bench script lays them out: us, a file a client
    #[arg(long, value_name = "DIR")]
    pub raw_dir: Option<PathBuf>,
}

/// Transports that are measured under a load where none are named: the document's, and the broadcast.
const LOADED: [&str; 2] = ["unix_datagram", "futex_broadcast"];

/// Placements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Where {
    /// All on one CPU: the document's situation
    SameCpu,
    /// The server on one, the clients on the others
    Spread,
}

/// Policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scheduling {
    /// SCHED_RR
    Rr,
    /// SCHED_FIFO
    Fifo,
    /// SCHED_OTHER: no real time
    Other,
}

impl RealTime {
    /// The first option that was given, for complaints.
    fn given(&self) -> Option<&'static str> {
        [
            (!self.clients.is_empty(), "--clients"),
            (!self.tick.is_empty(), "--tick"),
            (self.rate.is_some(), "--rate"),
            (self.ticks.is_some(), "--ticks"),
            (!self.transport.is_empty(), "--transport"),
            (self.size.is_some(), "--size"),
            (self.placement.is_some(), "--placement"),
            (self.policy.is_some(), "--policy"),
            (!self.load.is_empty(), "--load"),
            (self.load_command.is_some(), "--load-command"),
            (self.raw_dir.is_some(), "--raw-dir"),
        ]
        .into_iter()
        .find_map(|(given, name)| given.then_some(name))
    }

    /// The sessions of a run of the family; `None` for another run.
    ///
    /// # Errors
    /// An option that belongs to the family, given without it; a value out of its bounds.
    pub fn choose(&self, patterns: &[String], effort: &Effort) -> Result<Option<Vec<Choice>>, Ended> {
        if !matches!(patterns, [only] if only.trim_end_matches('/') == FAMILY) {
            return match self.given() {
                Some(option)
                    if !(option == "--raw-dir" && patterns.iter().all(|it| it.starts_with(FAMILY))) =>
                {
                    Err(Ended::misuse(format!("{option} is an option of 'oscost run {FAMILY}'")))
                }
                _ => Ok(None),
            };
        }
        let catalogue = catalogue();
        let mut choices: Vec<Choice> = Vec::new();
        for id in self.ids(effort)? {
            let benchmark = catalogue.find(&id).ok_or_else(|| {
                Ended::misuse(format!("'{id}': its clients never sleep, and need --placement spread"))
            })?;
            let partner = benchmark.card().baseline.and_then(|id| catalogue.find(id));
            for benchmark in [Some(benchmark), partner].into_iter().flatten() {
                let id = benchmark.card().id;
                if !choices.iter().any(|known| known.card().id == id) {
                    choices.push(Choice { benchmark, named: !self.transport.is_empty() });
                }
            }
        }
        Ok(Some(choices))
    }

    fn ids(&self, effort: &Effort) -> Result<Vec<String>, Ended> {
        if let Some(unknown) =
            self.transport.iter().find(|name| !realtime_ipc::transports().any(|known| known == **name))
        {
            let known: Vec<&str> = realtime_ipc::transports().collect();
            let unknown = oscost_results::Untrusted::new(unknown).terminal().to_string();
            return Err(Ended::misuse(format!(
                "no transport is called '{unknown}'; there are {}",
                known.join(", ")
            )));
        }
        let loads = self.loads()?;
        let loaded = loads.iter().any(Option::is_some);
        let placements = match self.placement {
            Some(place) => vec![place == Where::Spread],
            None if loaded => vec![false],
            None if effort.level == Level::Quick && self.transport.is_empty() => vec![false],
            None => vec![false, true],
        };
        let clients = match (self.clients.is_empty(), loaded) {
            (false, _) => self.clients.clone(),
            (true, true) => vec![1],
            (true, false) => vec![1, 10],
        };
        let mut ids = Vec::new();
        for spread in placements {
            let names: Vec<&str> = match () {
                () if !self.transport.is_empty() => self.transport.iter().map(String::as_str).collect(),
                () if effort.level == Level::Thorough => realtime_ipc::transports().collect(),
                () if loaded => LOADED.to_vec(),
                () if effort.level == Level::Quick => realtime_ipc::quick_transports().to_vec(),
                () => realtime_ipc::main_transports(spread && self.placement.is_none()).to_vec(),
            };
            for (&clients, tick_ns) in
                clients.iter().flat_map(|count| self.ticks_ns().into_iter().map(move |tick| (count, tick)))
            {
                let tick_ns = tick_ns?;
                for &load in &loads {
                    let shape = self.shape(spread, clients, tick_ns, load)?;
                    for name in &names {
                        // By default one that cannot share a CPU is left out there.
                        if spread || self.placement.is_some() || !realtime_ipc::never_sleeps(name) {
                            ids.push(realtime_ipc::id_of(name, &shape));
                        }
                    }
                }
            }
        }
        Ok(ids)
    }

    /// The loads; one that is none where there is none.
    fn loads(&self) -> Result<Vec<Option<Load>>, Ended> {
        let named = |name: &String| {
            Load::named(name).map(Some).ok_or_else(|| {
                let known = Load::NAMED.map(|load| load.name()).join(", ");
                let name = oscost_results::Untrusted::new(name).terminal().to_string();
                Ended::misuse(format!("no load is called '{name}'; there are {known}, and --load-command"))
            })
        };
        let mut loads = self.load.iter().map(named).collect::<Result<Vec<_>, _>>()?;
        if let Some(command) = &self.load_command {
            let load = Load::command(command).ok_or_else(|| {
                Ended::misuse("--load-command: a command of 1 to 200 bytes; a longer one belongs in a script")
            })?;
            loads.push(Some(load));
        }
        if loads.is_empty() {
            loads.push(None);
        }
        Ok(loads)
    }

    /// Times between ticks, or what is wrong with them.
    fn ticks_ns(&self) -> Vec<Result<u64, Ended>> {
        if let (Some(rate), Some(frames)) = (self.rate, self.frames) {
            return vec![Ok((frames * 1_000_000_000 + rate / 2) / rate)];
        }
        if self.tick.is_empty() {
            return vec![Ok(1_000_000)];
        }
        self.tick
            .iter()
            .map(|text| {
                duration_ns(text).ok_or_else(|| {
                    let text = oscost_results::Untrusted::new(text).terminal().to_string();
                    Ended::misuse(format!("'--tick {text}' is no time: write 1ms, 1450us, 0.5ms"))
                })
            })
            .collect()
    }

    fn shape(&self, spread: bool, clients: usize, tick_ns: u64, load: Option<Load>) -> Result<Shape, Ended> {
        let mut shape = Shape::of(spread, clients);
        shape.tick_ns = tick_ns;
        shape.size = self.size.unwrap_or(shape.size);
        shape.ticks = self.ticks;
        shape.load = load;
        shape.policy = match self.policy {
            None | Some(Scheduling::Rr) => Policy::RoundRobin,
            Some(Scheduling::Fifo) => Policy::Fifo,
            Some(Scheduling::Other) => Policy::Other,
        };
        shape.misfit().map_or(Ok(shape), |misfit| Err(Ended::misuse(misfit)))
    }
}

/// A number with a unit, as ns.
pub fn duration_ns(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "s" => 1e9,
        "ms" => 1e6,
        "us" => 1e3,
        "ns" => 1.0,
        _ => return None,
    };
    let value: f64 = digits.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0)?;
    let ns = (value * unit).round();
    // Beyond it nothing is a tick; the bounds are said elsewhere.
    (ns <= 1e15).then_some(ns as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> RealTime {
        RealTime {
            clients: Vec::new(),
            tick: Vec::new(),
            rate: None,
            frames: None,
            ticks: None,
            transport: Vec::new(),
            size: None,
            placement: None,
            policy: None,
            load: Vec::new(),
            load_command: None,
            raw_dir: None,
        }
    }

    fn chosen(options: &RealTime, effort: &Effort) -> Vec<&'static str> {
        let choices = options.choose(&[FAMILY.to_owned()], effort);
        let choices = choices.map_err(|_| ()).expect("fit").expect("the family");
        choices.iter().map(|choice| choice.card().id).collect()
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(duration_ns("1ms"), Some(1_000_000));
        assert_eq!(duration_ns("0.5ms"), Some(500_000));
        assert_eq!(duration_ns("1450us"), Some(1_450_000));
        for text in ["", "1", "ms", "-1ms", "1min", "1e400s", "NaNms"] {
            assert_eq!(duration_ns(text), None, "{text}");
        }
    }

    #[test]
    fn a_run_of_the_family_is_what_the_efforts_say() {
        let default = chosen(&options(), &Effort::DEFAULT);
        assert_eq!(default.len(), 24);
        assert_eq!(default.iter().filter(|id| id.contains("/spread/")).count(), 8);
        assert_eq!(chosen(&options(), &Effort::QUICK).len(), 8);
        let all = chosen(&options(), &Effort::THOROUGH);
        let transports = realtime_ipc::transports().count();
        assert_eq!(all.len(), 2 * (2 * transports - 1), "spin has no place on one CPU");
    }

    #[test]
    fn options_are_parts_of_ids_and_the_partner_comes_along() {
        let options = RealTime {
            clients: vec![3],
            rate: Some(44_100),
            frames: Some(64),
            transport: vec!["pipe".into()],
            placement: Some(Where::SameCpu),
            policy: Some(Scheduling::Fifo),
            ..options()
        };
        let expected = [
            "realtime_ipc/pipe/same_cpu/clients_3/tick_1451247ns/policy_fifo",
            "realtime_ipc/unix_datagram/same_cpu/clients_3/tick_1451247ns/policy_fifo",
        ];
        assert_eq!(chosen(&options, &Effort::DEFAULT), expected);
    }

    #[test]
    fn a_load_is_part_of_the_id_and_its_partner_has_it_too() {
        let options = RealTime {
            load: vec!["transfer".into(), "cpu".into()],
            load_command: Some("sleep 1".into()),
            ..options()
        };
        let found = chosen(&options, &Effort::DEFAULT);
        let end = "/same_cpu/clients_1/load_";
        let expected: Vec<String> = ["transfer", "cpu", "command_sleep%201"]
            .iter()
            .flat_map(|load| {
                ["unix_datagram", "futex_broadcast"].map(|name| format!("realtime_ipc/{name}{end}{load}"))
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |options: RealTime| options.choose(&[FAMILY.to_owned()], &Effort::DEFAULT).is_err();
        assert!(refused(RealTime { clients: vec![0], ..options() }));
        assert!(refused(RealTime { clients: vec![1000], ..options() }));
        assert!(refused(RealTime { tick: vec!["1us".into()], ..options() }));
        assert!(refused(RealTime { tick: vec!["soon".into()], ..options() }));
        assert!(refused(RealTime { size: Some(8), ..options() }));
        assert!(refused(RealTime { ticks: Some(1), ..options() }));
        assert!(refused(RealTime { transport: vec!["pigeon".into()], ..options() }));
        assert!(refused(RealTime { load: vec!["pigeon".into()], ..options() }));
        assert!(refused(RealTime { load: vec!["cpu".into()], ticks: Some(59), ..options() }));
        assert!(refused(RealTime { load_command: Some(String::new()), ..options() }));
        let spin = ["spin".to_owned()].to_vec();
        assert!(refused(RealTime { transport: spin, placement: Some(Where::SameCpu), ..options() }));
        let elsewhere = RealTime { size: Some(64), ..options() };
        assert!(elsewhere.choose(&["syscall".to_owned()], &Effort::DEFAULT).is_err());
        assert!(matches!(options().choose(&["syscall".to_owned()], &Effort::DEFAULT), Ok(None)));
    }
}
