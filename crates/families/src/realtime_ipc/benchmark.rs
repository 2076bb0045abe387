//! A transport with one shape of session as a benchmark: its card, its claims, its set-up.

use std::borrow::Cow;

use oscost_harness::{
    Benchmark, Bound, Card, Claim, Need, Parameter, Placement, RemarkCode, SetUp, Subject, Tier, Trait,
    Unable,
};
use oscost_sys::scheduling::Policy;
use oscost_sys::vdso;

use super::course::{Ground, Kind};
use super::load::Loading;
use super::session::Session;
use super::shape::{Shape, planned};
use super::transport::Make;
use super::{tell, tell_load};
use crate::lack;
use crate::made::{self, words};

/// The transport beside which each launch of another one is: document 002's.
pub const PARTNER: &str = "unix_datagram";

/// How often the server calls in a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rings {
    /// Once for every client.
    Each,
    /// Once for all.
    Once,
    /// Once for all, with a lock that others may hold.
    Locked,
    /// It does not.
    Never,
}

/// A transport.
pub struct Spec {
    pub name: &'static str,
    pub kind: Kind,
    pub make: Make,
    /// Calls of the server, by any of these names.
    sends: &'static [&'static str],
    rings: Rings,
    /// Calls of a client.
    receives: &'static [&'static str],
    /// Its clients never sleep.
    pub awake: bool,
    /// Its clients wait on a descriptor that poll and epoll take.
    pollable: bool,
}

impl Spec {
    pub const fn new(
        name: &'static str,
        kind: Kind,
        make: Make,
        sends: &'static [&'static str],
        rings: Rings,
        receives: &'static [&'static str],
    ) -> Self {
        Self { name, kind, make, sends, rings, receives, awake: false, pollable: false }
    }

    /// The same with clients that never sleep.
    pub const fn awake(self) -> Self {
        Self { awake: true, ..self }
    }

    /// The same, where clients wait on a descriptor that poll and epoll take beside others.
    pub const fn pollable(self) -> Self {
        Self { pollable: true, ..self }
    }

    fn traits(&self) -> Vec<Trait> {
        let by_kind = match self.kind {
            Kind::Queue => Trait::QueuesPayload,
            Kind::Wake => Trait::WakesOnly,
            Kind::Timer | Kind::Kernel => Trait::NoServerProcess,
        };
        let pollable = self.pollable.then_some(Trait::Pollable);
        let partner = (self.name == PARTNER).then_some(Trait::Partner);
        let shared = self.works_across_users().then_some(Trait::WorksAcrossUsers);
        std::iter::once(by_kind).chain(pollable).chain(partner).chain(shared).collect()
    }

    /// It has a name or an address, or lies in shared memory: no descriptor need be inherited, and no process be signalled.
    fn works_across_users(&self) -> bool {
        let inherited =
            ["pipe", "eventfd", "eventfd_broadcast", "poll_broadcast", "signal", "signal_group", "bpf"];
        matches!(self.kind, Kind::Queue | Kind::Wake) && !inherited.contains(&self.name)
    }

    /// Id of a session of this shape.
    pub fn id_of(&self, shape: &Shape) -> String {
        format!("realtime_ipc/{}/{}", self.name, shape.text())
    }

    /// What must be true of a tick. Clients that lag get several ticks with one call, or wake for nothing once: their
    /// calls are bounds. `readings`: reading the clock may be a system call here.
    fn claims(&self, shape: &Shape, readings: bool) -> Vec<Claim> {
        let clients = shape.clients as f64;
        let sends = match self.rings {
            Rings::Each => clients,
            Rings::Once | Rings::Locked => 1.0,
            Rings::Never => 0.0,
        };
        let server = f64::from(u8::from(!self.kind.is_without_server_process()));
        let receives = if self.receives.is_empty() { 0.0 } else { clients };
        let mut claims = Vec::new();
        if self.rings == Rings::Locked {
            // A woken client wants the lock that another one holds.
            claims.push(Claim::CallsNamed(self.sends, Bound::Between(0.5 * clients, 4.0 * clients + 4.0)));
        } else if self.sends == self.receives {
            let bound = Bound::Between(sends + 0.5 * receives, sends + 1.5 * receives + 0.5);
            claims.push(Claim::CallsNamed(self.sends, bound));
        } else {
            if !self.sends.is_empty() {
                claims.push(Claim::CallsNamed(self.sends, Bound::Between(0.97 * sends, 1.03 * sends)));
            }
            if !self.receives.is_empty() {
                let bound = Bound::Between(0.5 * receives, 1.2 * receives + 0.2);
                claims.push(Claim::CallsNamed(self.receives, bound));
            }
        }
        // One sleep of the server, and the drain of a counter that some of them have.
        let most =
            if self.rings == Rings::Locked { 4.0 * clients + 8.0 } else { 1.5 * (sends + receives) + 2.5 };
        // Everybody reads the clock twice at most.
        let most = most + if readings { 2.0 * (server + clients) } else { 0.0 };
        claims.push(Claim::SystemCalls(Bound::Between(0.5 * receives, most + 0.5 * clients)));
        let sleepers = server + if self.awake { 0.0 } else { clients };
        // Under a load, and not in real time, a client that lags gets several ticks with one wake-up.
        let least = match (self.rings, shape.load) {
            (_, Some(_)) => 0.3,
            (Rings::Locked, None) => 0.5,
            (_, None) => 0.8,
        };
        let most = if self.rings == Rings::Locked { 3.0 } else { 1.2 };
        claims.push(Claim::VoluntarySwitches(Bound::Between(least * sleepers, most * sleepers + 0.5)));
        claims
    }
}

/// Sessions of one shape over one transport, as a benchmark.
pub struct RealTimeIpc {
    spec: &'static Spec,
    shape: Shape,
    card: &'static Card,
}

impl RealTimeIpc {
    /// Made for as long as the program lives: ids are few, and each is made once.
    pub fn leaked(spec: &'static Spec, shape: Shape, tier: Tier) -> &'static dyn Benchmark {
        let id = words(spec.id_of(&shape));
        let partner = match (spec.name == PARTNER, shape.policy) {
            // Whether another policy makes a difference is asked of neighbours, too.
            (true, Policy::Fifo) => Some(Shape { policy: Policy::RoundRobin, ..shape }),
            (true, _) => None,
            // Who wakes carries nothing, so that the partner beside it is as small as it can be.
            (false, _) if spec.kind != Kind::Queue => Some(Shape { size: 24, ..shape }),
            (false, _) => Some(shape),
        };
        let partner = partner.map(|shape| words(format!("realtime_ipc/{PARTNER}/{}", shape.text())));
        let clients = shape.clients;
        let (plural, each) = match clients {
            1 => ("", "one client".to_owned()),
            many => ("s", format!("each of {many} clients")),
        };
        let tick = shape.tick_ns as f64 / 1e3;
        let place = match (shape.spread, shape.awake) {
            (false, _) => "one CPU",
            (true, false) => "spread",
            (true, true) => "spread, CPUs kept awake",
        };
        let session_ns = planned(&shape, false).1 as u64 * shape.tick_ns;
        let under = if shape.load.is_some() { ", under load" } else { "" };
        let (launches, quantities, remark) = match shape.load {
            None => (8, tell::QUANTITIES, ""),
            Some(load) => {
                let quantities = [tell::QUANTITIES, tell_load::QUANTITIES].concat();
                (6, &*Vec::leak(quantities), words(RemarkCode::Load.with(&[&load.words()])))
            }
        };
        let mut parameters = vec![("transport", Parameter::Text(spec.name))];
        parameters.extend(shape.parameters());
        let card = Card {
            id,
            title: words(format!("{}, {clients} client{plural}, {place}{under}", spec.name)),
            operation: words(match spec.kind {
                Kind::Timer => format!("one tick of {each}, without a server, every {tick} us"),
                Kind::Kernel => format!("one tick: the kernel's own server wakes {each}, every {tick} us"),
                Kind::Wake => format!("one tick: the server wakes {each}, every {tick} us"),
                Kind::Queue => {
                    let size = shape.size;
                    format!("one tick: a message of {size} bytes from the server to {each}, every {tick} us")
                }
            }),
            blocks: true,
            placement: if shape.spread { Placement::Spread } else { Placement::SameCpu },
            keeps_awake: shape.awake,
            group: id,
            claims: made::list(spec.claims(&shape, false)),
            needs: if shape.spread { &[Need::Cpus(2)] } else { &[] },
            baseline: partner,
            tier,
            document: (spec.name == PARTNER && !shape.spread).then_some("002"),
            launch_ms: (session_ns / 1_000_000).saturating_sub(20),
            launches: Some(launches),
            quantities,
            parameters: parameters.leak(),
            traits: spec.traits().leak(),
            remark,
            ..Card::SERIES
        };
        made::benchmark(Self { spec, shape, card: made::card(card) })
    }
}

impl Benchmark for RealTimeIpc {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn claims(&self) -> Cow<'static, [Claim]> {
        match vdso::answers_clocks() {
            Some(true) => Cow::Borrowed(self.card.claims),
            _ => Cow::Owned(self.spec.claims(&self.shape, true)),
        }
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let Shape { clients, spread, .. } = self.shape;
        if self.spec.awake && clients >= cx.cpus.len() {
            return Err(Unable::Unsupported {
                why: format!(
                    "{clients} clients that never sleep and a server need {} CPUs, and {} may be used",
                    clients + 1,
                    cx.cpus.len()
                ),
                remedy: "fewer clients, or more CPUs (taskset, cpuset, --cpu)".to_owned(),
            });
        }
        if self.spec.kind != Kind::Queue && self.shape.size != 24 {
            return Err(Unable::Unsupported {
                why: format!("{} wakes its clients and carries no payload", self.spec.name),
                remedy: "leave --set size= out, or name a transport that queues messages".to_owned(),
            });
        }
        if self.spec.name == "system_v_semaphore" {
            lack::of_system_v_limits(cx, clients as u64)?;
        }
        if let Some(load) = self.shape.load {
            // What it lacks is said before anything is measured.
            Loading::ready(load, &cx.cpus[..1])?;
        }
        let others = if spread { &cx.cpus[1..] } else { &cx.cpus[..1] };
        let cpus = std::iter::once(cx.cpu).chain((0..clients).map(|client| others[client % others.len()]));
        let mut session = Session {
            make: self.spec.make,
            kind: self.spec.kind,
            shape: self.shape,
            // Real time would end, or be ended by, who never sleeps.
            policy: if self.spec.awake { Policy::Other } else { self.shape.policy },
            cpus: cpus.collect(),
            // The document's machines had one CPU: there the load is on it, too.
            load_cpus: if spread { cx.cpus.to_vec() } else { vec![cx.cpu] },
            ground: Ground { keeper: cx.keeper.another()? },
        };
        session.try_transport()?;
        Ok(Subject::Series(Box::new(session)))
    }
}
