//! Why a program could not be counted, in words that help.

use oscost_sys::CallError;
use thiserror::Error;

/// Why there is no count.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BillError {
    /// Nothing to run.
    #[error("no program is named: write it behind two dashes, as in `oscost bill -- ls -l`")]
    Nothing,
    /// There is no such program.
    #[error("{}: {}", .0, by_path(.0))]
    NotFound(String),
    /// It could not be started.
    #[error("{program} cannot be run: {error}{}", error.remedy())]
    NotRun {
        /// Its name.
        program: String,
        /// Why.
        error: CallError,
    },
    /// A program that runs with somebody else's rights.
    #[error(
        "{0} runs with rights of its own (set-uid, set-gid or file capabilities), which it loses when it is traced: it would do something else than free; run oscost as root"
    )]
    OtherRights(String),
    /// It traces processes itself.
    #[error(
        "the program traces processes itself (ptrace), and who is traced already cannot be traced twice: only counting by eBPF can do that; run oscost as root"
    )]
    Traces,
    /// This machine or sandbox does not let us trace.
    #[error("the program cannot be traced: {0}; in a container, allow ptrace (--cap-add SYS_PTRACE)")]
    NoTracer(CallError),
    /// There is no such process.
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// Its number here is not the kernel's.
    #[error(
        "process {0} cannot be watched from here: in this container processes have other numbers than in the kernel; run oscost on the host"
    )]
    OtherNumbers(u32),
    /// No program may be loaded into the kernel.
    #[error(
        "eBPF cannot count here: {0}; ptrace counts only what bill starts itself: oscost bill -- PROGRAM"
    )]
    NoEbpf(String),
    /// So many calls or threads found no place in the kernel's tables, when the program had run.
    #[error(
        "eBPF found no place for {0} calls or threads of this program, so the counts are not whole: without root it is counted by ptrace, and a running one for a shorter time (--for)"
    )]
    NoPlace(u64),
    /// It was interrupted before anything was counted.
    #[error(
        "interrupted in the free run, before anything was counted; a program that does not end is counted while it runs: oscost bill --pid PID"
    )]
    Interrupted,
    /// The system failed.
    #[error("{}{}", .0, .0.remedy())]
    System(#[from] CallError),
}

/// What is wrong with a name that no folder of PATH has.
fn by_path(name: &str) -> String {
    if std::path::Path::new(name).is_dir() {
        "this is a folder, and no program".to_owned()
    } else if name.contains('/') {
        "there is no such program; check its path".to_owned()
    } else {
        format!("there is no such program; one outside of PATH is named by its path, as in ./{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_refuses_a_call_is_named_with_its_remedy() {
        for (call, errno, limit) in [("clone", 11, "pids.max"), ("pipe2", 24, "ulimit -n")] {
            let error = CallError::new(call, errno);
            for said in [BillError::System(error), BillError::NotRun { program: "true".into(), error }] {
                let said = said.to_string();
                assert!(said.contains(call) && said.contains(limit), "{said}");
            }
        }
    }
}
