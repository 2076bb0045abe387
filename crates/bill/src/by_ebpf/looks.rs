//! Looks at a run that nobody counts: whether its threads are in the kernel. The kernel's own times of short processes do not say.

use aya::maps::Array;
use aya::programs::perf_event::{PerfEvent, PerfEventConfig, PerfEventScope, SamplePolicy, SoftwareEvent};
use aya::{Ebpf, util};
use oscost_results::bill::Looks;

use super::{PROGRAMS, entered, lack, missing, opened, refuse_other_numbers, traced, types_of_the_kernel};
use crate::BillError;

/// Between two looks at a CPU, ns: each costs it about 10 us in a virtual machine.
const EACH_NS: u64 = 500_000;
/// The programs that know who belongs to the run.
const WHO: [&str; 4] = ["started", "executed", "ended", "freed"];

/// The program that looks, loaded; it goes with this process.
#[derive(Debug)]
pub struct Looker(Ebpf);

impl Looker {
    /// Looks at every CPU whether a thread of this process, which waits for its first instruction, or of whomever it starts runs there.
    /// A timer of each process would begin anew with each, and never meet a short one.
    ///
    /// # Errors
    /// Why this machine or user may not.
    pub fn attach(pid: i32) -> Result<Self, BillError> {
        refuse_other_numbers(pid.unsigned_abs())?;
        let btf = types_of_the_kernel()?;
        let mut loaded = opened(Some(&btf))?;
        for (name, tracepoint) in PROGRAMS.iter().filter(|(name, _)| WHO.contains(name)) {
            let program = traced(&mut loaded, name)?;
            program.load(tracepoint, &btf).map_err(|error| lack(&error))?;
            program.attach().map_err(|error| lack(&error))?;
        }
        entered(&mut loaded, pid)?;
        let program = loaded.program_mut("looked").ok_or_else(|| missing("looked"))?;
        let program: &mut PerfEvent = program.try_into().map_err(|error| lack(&error))?;
        program.load().map_err(|error| lack(&error))?;
        for cpu in util::online_cpus().map_err(|(_, error)| lack(&error))? {
            let (clock, every) = (SoftwareEvent::CpuClock, SamplePolicy::Period(EACH_NS));
            let scope = PerfEventScope::AllProcessesOneCpu { cpu };
            program
                .attach(PerfEventConfig::Software(clock), scope, every, false)
                .map_err(|error| lack(&error))?;
        }
        Ok(Self(loaded))
    }

    /// How often they were in the kernel, and how often outside; `None` where that is not told.
    pub fn seen(&self) -> Option<Looks> {
        let counts: Array<_, u64> = Array::try_from(self.0.map("looks")?).ok()?;
        Some(Looks { inside: counts.get(&0, 0).ok()?, outside: counts.get(&1, 0).ok()? })
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const INSIDE: &str = "OSCOST_TEST_INSIDE";

    #[test]
    #[ignore = "a body: another test starts it"]
    fn nobody_is_looked_at() {
        let attached = std::env::var_os(INSIDE).map(|_| Looker::attach(std::process::id().cast_signed()));
        assert!(matches!(attached, None | Some(Err(BillError::OtherNumbers(_)))), "{attached:?}");
    }

    /// The kernel knows a process by its number in the first namespace: by another one it looked at somebody else.
    #[test]
    fn where_processes_have_other_numbers_nobody_is_looked_at() {
        let inside = |arguments: &[&str]| {
            let mut command = Command::new("unshare");
            command.args(["--pid", "--fork"]).args(arguments).env(INSIDE, "").output().ok()
        };
        if !inside(&["true"]).is_some_and(|output| output.status.success()) {
            println!("SKIP where_processes_have_other_numbers: no namespace of processes");
            return;
        }
        let own = std::env::current_exe().expect("this program");
        let body = "by_ebpf::looks::tests::nobody_is_looked_at";
        let output = inside(&[own.to_str().expect("UTF-8"), body, "--exact", "--ignored"]).expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
}
