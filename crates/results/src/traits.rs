//! Traits of a figure: permanent properties of its benchmark.
//!
//! A card states them, and a result carries them. Of older results [`OLDER`] knows them.

use serde::{Deserialize, Serialize};

use crate::{Figure, parameters_of_id};

/// What a benchmark is by its making.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Trait {
    /// A transport that queues messages with a payload.
    QueuesPayload,
    /// A transport that wakes its receivers and carries nothing.
    WakesOnly,
    /// A transport whose receiver is a descriptor that poll and epoll take beside others.
    Pollable,
    /// A transport without a server process: its stamps are not those of a process that the scheduler woke.
    NoServerProcess,
    /// The transport beside which each launch of another one is.
    Partner,
    /// A lock that its owner gives to the one that waits for it: nobody else can take it first.
    HandsOff,
    /// The process that waits longest is next, even if others arrive later.
    Fair,
    /// Processes of different users can share it, if its permissions say so.
    WorksAcrossUsers,
    /// A control: it keeps nobody apart.
    ExcludesNothing,
    /// It stands for the price of a pass of a loop.
    LoopPass,
    /// It stands for the price of a kernel entry.
    KernelEntry,
    /// A trait of a later version.
    #[serde(other)]
    Unknown,
}

impl Trait {
    /// The prices below which nothing of their kind can be, from the least on.
    pub const PHYSICAL_FLOORS: [Self; 2] = [Self::LoopPass, Self::KernelEntry];

    /// Those that a user chooses by.
    pub const ASKED: [Self; 5] =
        [Self::Pollable, Self::QueuesPayload, Self::Fair, Self::HandsOff, Self::WorksAcrossUsers];

    /// Name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::QueuesPayload => "queues_payload",
            Self::WakesOnly => "wakes_only",
            Self::Pollable => "pollable",
            Self::NoServerProcess => "no_server_process",
            Self::Partner => "partner",
            Self::HandsOff => "hands_off",
            Self::Fair => "fair",
            Self::WorksAcrossUsers => "works_across_users",
            Self::ExcludesNothing => "excludes_nothing",
            Self::LoopPass => "loop_pass",
            Self::KernelEntry => "kernel_entry",
            Self::Unknown => "unknown",
        }
    }

    /// What such a price is the price of; empty for every other trait.
    #[must_use]
    pub fn floor_of(self) -> &'static str {
        match self {
            Self::LoopPass => "a pass of the empty loop",
            Self::KernelEntry => "a kernel entry",
            _ => "",
        }
    }
}

impl Figure {
    /// Whether it has this trait.
    #[must_use]
    pub fn has(&self, wanted: Trait) -> bool {
        self.traits.as_deref().unwrap_or_else(|| older_traits(&self.id)).contains(&wanted)
    }
}

/// The traits of the figure with this id in a result that was written before figures stated them.
#[must_use]
pub fn older_traits(id: &str) -> &'static [Trait] {
    let parameters = parameters_of_id(id).into_iter();
    let name =
        parameters.filter(|(name, _)| ["transport", "lock"].contains(name)).find_map(|(_, it)| it.text());
    let name = name.unwrap_or(id);
    OLDER.iter().find(|(names, _)| names.contains(&name)).map_or(&[], |(_, traits)| traits)
}

/// Transports, contended locks and ids of older results, with their traits. Nothing is added here: cards state theirs.
const OLDER: [(&[&str], &[Trait]); 10] = {
    use Trait::{
        ExcludesNothing, KernelEntry, LoopPass, NoServerProcess, Partner, Pollable, QueuesPayload, WakesOnly,
    };
    [
        (&["unix_datagram"], &[QueuesPayload, Pollable, Partner]),
        (
            &[
                "unix_datagram_connected",
                "unix_seqpacket",
                "unix_stream",
                "pipe",
                "fifo",
                "posix_queue",
                "udp",
                "tcp",
            ],
            &[QueuesPayload, Pollable],
        ),
        (&["system_v_queue"], &[QueuesPayload]),
        (&["eventfd", "eventfd_broadcast", "poll_broadcast"], &[WakesOnly, Pollable]),
        (
            &[
                "futex_broadcast",
                "futex_each",
                "posix_semaphore",
                "system_v_semaphore",
                "condition_variable",
                "signal",
                "signal_group",
                "spin",
            ],
            &[WakesOnly],
        ),
        (&["timerfd_each", "timerfd_pair", "bpf"], &[NoServerProcess, Pollable]),
        (&["nanosleep_each", "kernel_module"], &[NoServerProcess]),
        (&["lock/none"], &[ExcludesNothing]),
        (&["instrument/empty_loop"], &[LoopPass]),
        (&["syscall/invalid"], &[KernelEntry]),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(id: &str, traits: Option<Vec<Trait>>) -> Figure {
        let figure = serde_json::json!({
            "id": id, "family": "", "title": "", "operation": "", "operations_per_iteration": 1, "call_path": "libc",
            "group": "", "status": "measured", "traits": traits,
        });
        serde_json::from_value(figure).unwrap()
    }

    #[test]
    fn what_a_figure_states_counts_and_an_older_one_is_known_by_its_id() {
        let old = figure("realtime_ipc/unix_datagram/one_cpu/clients_1", None);
        assert!(old.has(Trait::Partner) && old.has(Trait::QueuesPayload) && !old.has(Trait::WakesOnly));
        let new = figure(&old.id, Some(vec![Trait::WakesOnly]));
        assert!(new.has(Trait::WakesOnly) && !new.has(Trait::Partner));
        assert!(!figure(&old.id, Some(Vec::new())).has(Trait::Partner), "it states that it has none");
    }

    #[test]
    fn older_traits_are_those_of_a_transport_a_lock_or_an_id() {
        assert_eq!(older_traits("realtime_ipc/spin/spread/clients_2"), [Trait::WakesOnly]);
        assert_eq!(older_traits("lock/none/contended/threads_2/hold_us_1/think_0"), [Trait::ExcludesNothing]);
        assert_eq!(older_traits("syscall/invalid"), [Trait::KernelEntry]);
        assert_eq!(older_traits("syscall/getppid"), []);
        for (names, traits) in OLDER {
            assert!(!traits.is_empty() && names.iter().all(|name| !name.is_empty()));
        }
    }

    #[test]
    fn a_physical_floor_says_what_it_is_the_price_of() {
        assert!(Trait::PHYSICAL_FLOORS.iter().all(|floor| !floor.floor_of().is_empty()));
        assert_eq!(Trait::Pollable.floor_of(), "");
    }
}
