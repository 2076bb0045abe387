//! Document 002's two programs by hand: a server and its clients that know each other by a private folder alone, so that a
//! client can run in another container, in another cgroup, or under another load.

mod client;
mod folder;
mod keeper;
mod place;
mod sender;
mod server;

pub use client::client;
pub use keeper::serve_if_asked;
pub use server::server;

use oscost_sys::scheduling::{self, Policy};

use crate::args::{Meeting, Scheduling};
use crate::exit::Ended;
use crate::output::Talk;

/// Priorities of the sender, the clients, and the registration: never where threads of the kernel live.
const SENDER: i32 = 50;
const CLIENT: i32 = 49;
const REGISTRATION: i32 = 48;

/// The policy of the options.
fn policy(meeting: &Meeting) -> Policy {
    match meeting.policy {
        Scheduling::Rr => Policy::RoundRobin,
        Scheduling::Fifo => Policy::Fifo,
        Scheduling::Other => Policy::Other,
    }
}

/// Looks whether the policy can be had, before anything has begun: says what is refused and why, or ends.
fn check_permission(meeting: &Meeting, talk: &Talk) -> Result<(), Ended> {
    if policy(meeting) == Policy::Other {
        return match meeting.require_realtime {
            true => Err(Ended::misuse("--require-realtime: --policy other is no real-time scheduling")),
            false => Ok(()),
        };
    }
    match scheduling::probe_real_time() {
        Ok(()) => scheduling::bound().map_err(Ended::unfit),
        Err(error) if meeting.require_realtime => {
            Err(Ended::unfit(format!("--require-realtime: {error}; {}", error.cause.remedy())))
        }
        Err(error) => {
            talk.say(format!("NOT REAL-TIME: {error}; {}", error.cause.remedy()));
            Ok(())
        }
    }
}

/// Takes the priority in the calling thread. Where it is refused that was said already.
fn take_priority(policy: Policy, priority: i32) {
    if policy != Policy::Other {
        let _ = scheduling::set(policy, priority);
    }
}
