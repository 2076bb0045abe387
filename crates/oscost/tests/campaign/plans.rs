//! plans: what is run while one of its calls is refused (`refuse.rs`), and in which processes that call fails.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::program::{self, User};

/// What is run.
pub struct Plan {
    pub arguments: &'static str,
    pub user: User,
    /// In whom each of its calls fails.
    pub who: &'static [Who],
}

const fn plan(arguments: &'static str, who: &'static [Who]) -> Plan {
    Plan { arguments, user: User::Own, who }
}

const OFTEN: &[Who] = &[Who::All, Who::All, Who::One(1), Who::One(2)];
const SOME: &[Who] = &[Who::All, Who::One(1), Who::One(2)];
/// For what takes seconds.
const SELDOM: &[Who] = &[Who::All];
const PLAIN: &str = "run syscall/getppid semaphore/posix_named semaphore/system_v";

/// To one launch: one at least of every family whose calls differ, of the other users, and what reads results.
pub const PLANS: &[Plan] = &[
    plan(PLAIN, OFTEN),
    plan("run context_switch/pipe/same_cpu lock/robust_mutex record_lock/fcntl", OFTEN),
    plan("run realtime_ipc/unix_datagram/same_cpu/clients_1", OFTEN),
    plan("run file/create_unlink socket/udp_round_trip event/epoll_wake/same_cpu", OFTEN),
    plan("run process/posix_spawn thread signal/deliver", OFTEN),
    plan("report @-1", OFTEN),
    plan("compare @-1 @-1", OFTEN),
    plan("reproduce ostep", &[Who::All, Who::One(1), Who::One(2)]),
    plan("run instrument/empty_loop clock/monotonic clock/step/monotonic timer", SOME),
    plan("run memory/mmap_munmap cpu_pair/cache_line io_uring/nop futex/wake_one/same_cpu", SELDOM),
    plan("run container/namespace/user tax/seccomp/allow_1 tax/bpf/uprobe", SELDOM),
    plan(
        "run semaphore/system_v/contended/processes_4/hold_us_1/think_0 record_database/book/seek/fine_fcntl/processes_1/nrec_500 record_database/fast/mapped/fine_mutex/processes_1/nrec_500",
        SELDOM,
    ),
    plan(TICK, SOME),
    Plan { user: User::Nobody, ..plan(PLAIN, SOME) },
    Plan { user: User::Sudo, ..plan("run syscall/getppid lock/system_v_message", SOME) },
];

/// It takes as long as ten of the others: of its calls only those fail that no plan before makes.
pub const REPRODUCE: &str = "reproduce";
/// A server and a client; both are told to end.
pub const TICK: &str = "tick";
const TICKS: &str = "\"$0\" tick server --policy other --tick 1ms & server=$!; sleep 0.3
timeout -k 1 3 \"$0\" tick client --policy other --values 20; kill -TERM $server; wait $server";

/// In whom a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Who {
    /// In every process.
    All,
    /// In the how manieth process that makes it.
    One(u32),
    /// In all but so many calls of all processes together.
    Later(u32),
}

/// What is run as a user before anything is refused.
pub fn undisturbed(user: User) -> Plan {
    Plan { user, ..plan(PLAIN, SOME) }
}

impl Plan {
    pub fn is_run(&self) -> bool {
        self.arguments.starts_with("run ")
    }

    /// The words of a shell or of the program behind another program.
    pub fn command(&self) -> Vec<&'static str> {
        let words: Vec<&str> = self.arguments.split(' ').collect();
        let rest: &[&str] = match words[0] {
            TICK => return vec!["sh", "-c", TICKS, program::PATH],
            "run" => &["--force", "--quiet", "--one-launch", "--json", "out.json"],
            REPRODUCE => &["--force", "--quick", "--json", "out.json"],
            _ => &[],
        };
        [&[program::PATH], &words[..], rest].concat()
    }

    /// The file that it is asked for.
    pub fn out(&self) -> PathBuf {
        program::home(self.user).join("out.json")
    }

    pub fn words(&self) -> String {
        format!("{}{}", self.arguments, self.user.words())
    }
}
