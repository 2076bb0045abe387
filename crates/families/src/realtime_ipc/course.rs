//! What everybody in a session knows from its beginning, and what transports are made of.

use oscost_harness::Keeper;
use oscost_sys::scheduling::Policy;

/// How a client learns which ticks a wake-up is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A message arrives, and says it.
    Queue,
    /// It is woken, and looks at the stamps in shared memory.
    Wake,
    /// A timer of its own wakes it; there is no server.
    Timer,
    /// The server is inside the kernel: it wakes, and has counted and stamped the ticks itself.
    Kernel,
}

impl Kind {
    /// Nobody sends: a timer of each client's, or the kernel's, does.
    pub const fn is_without_server_process(self) -> bool {
        matches!(self, Self::Timer | Self::Kernel)
    }
}

/// The ticks of a session, and how its participants run.
#[derive(Debug, Clone, Copy)]
pub struct Course {
    /// The first tick is due then, ns of CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// Time between ticks, ns.
    pub period_ns: u64,
    /// Ticks of the session.
    pub ticks: usize,
    /// Bytes of a message.
    pub size: usize,
    /// Scheduling of the participants.
    pub policy: Policy,
    /// Priorities of server and clients.
    pub priorities: (i32, i32),
    /// How clients learn of ticks.
    pub kind: Kind,
}

impl Course {
    /// Ticks that were due until `now_ns`.
    #[inline(always)]
    pub fn ticks_until(&self, now_ns: u64) -> usize {
        let Some(passed) = now_ns.checked_sub(self.start_ns) else { return 0 };
        usize::try_from(passed / self.period_ns + 1).unwrap_or(usize::MAX).min(self.ticks)
    }
}

/// What transports are made of besides the session itself.
pub struct Ground {
    /// Where objects that outlive a process are declared.
    pub keeper: Keeper,
}
