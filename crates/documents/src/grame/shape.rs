//! One session of document 002's own method, and the id that holds it.

use oscost_families::realtime_ipc::{Load, policy_name};
use oscost_harness::Parameter;
use oscost_sys::scheduling::Policy;

/// The document's usleep (10000), ns.
pub(super) const TICK_NS: u64 = 10_000_000;
/// Values that a client collects (kMaxValues), and those of them that it leaves out (kIgnoreValues).
pub(super) const TICKS: usize = 1100;
pub(super) const DISCARD: usize = 100;

/// How many clients a session can have, and how many values each.
pub(super) const CLIENTS_RANGE: std::ops::RangeInclusive<usize> = 1..=999;
pub(super) const TICKS_RANGE: std::ops::RangeInclusive<usize> = 10..=20_000;

/// One session of the document's own method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// How many clients.
    pub clients: usize,
    /// How long the server sleeps between two sendings, ns.
    pub tick_ns: u64,
    /// See [`Settings`](super::Settings).
    pub ticks: usize,
    /// See [`Settings`](super::Settings).
    pub discard: usize,
    /// See [`Settings`](super::Settings).
    pub policy: Policy,
    /// See [`Settings`](super::Settings).
    pub waits: bool,
    /// See [`Settings`](super::Settings).
    pub patient: bool,
    /// What keeps the machine busy in the middle of it.
    pub load: Option<Load>,
    /// The sender's priority is below its readers': the opposite of the document's.
    pub below: bool,
    /// A new client is served last, not first.
    pub tail: bool,
    /// Number among sessions of one kind, from 1 on.
    pub session: u32,
}

/// Priorities of the document's source: sender, listener, clients; and of a sender below them all.
pub(super) const SENDER: i32 = 99;
pub(super) const LISTENER: i32 = 97;
pub(super) const CLIENT: i32 = 98;
const BELOW: i32 = 96;

/// Beginning of the ids of sessions by the document's method.
pub const PREFIX: &str = "grame/literal/";

impl Shape {
    /// Priority of the sender.
    pub(super) fn sender(&self) -> i32 {
        if self.below { BELOW } else { SENDER }
    }

    /// The id; what is as in the document is left out.
    #[must_use]
    pub fn id(&self) -> String {
        let mut id = format!("{PREFIX}clients_{}", self.clients);
        if self.tick_ns != TICK_NS {
            // The family writes times in ids the same way.
            id.push_str(&format!("/tick_{}ns", self.tick_ns));
        }
        if self.ticks != TICKS || self.discard != DISCARD {
            id.push_str(&format!("/values_{}_{}", self.ticks, self.discard));
        }
        if let Some(policy) = policy_name(self.policy) {
            id.push_str(&format!("/policy_{policy}"));
        }
        if self.waits {
            id.push_str("/send_blocking");
        }
        if self.patient {
            id.push_str("/drop_ours");
        }
        if let Some(load) = self.load {
            id.push_str(&format!("/load_{}", load.text()));
        }
        if self.below {
            id.push_str(&format!("/sender_{BELOW}"));
        }
        if self.tail {
            id.push_str("/order_tail");
        }
        if self.session > 1 {
            id.push_str(&format!("/session_{}", self.session));
        }
        id
    }

    /// What the id says, and the period even where it is the document's.
    pub(super) fn parameters(&self) -> Vec<(&'static str, Parameter<'static>)> {
        let Self { clients, tick_ns, ticks, discard, .. } = *self;
        let values = (ticks != TICKS || discard != DISCARD).then(|| &*format!("{ticks}_{discard}").leak());
        let texts = [
            ("values", values),
            ("policy", policy_name(self.policy)),
            ("send", self.waits.then_some("blocking")),
            ("drop", self.patient.then_some("ours")),
            ("load", self.load.map(|load| &*load.text().leak())),
            ("order", self.tail.then_some("tail")),
        ];
        let session = (self.session > 1).then_some(u64::from(self.session));
        let sender = self.below.then_some(u64::from(BELOW.unsigned_abs()));
        let numbers = [
            ("clients", Some(clients as u64)),
            ("tick_ns", Some(tick_ns)),
            ("sender", sender),
            ("session", session),
        ];
        let numbers = numbers.into_iter().filter_map(|(name, it)| Some((name, Parameter::Number(it?))));
        numbers.chain(texts.into_iter().filter_map(|(name, it)| Some((name, Parameter::Text(it?))))).collect()
    }
}
