//! Runs a program twice: free, for its own time, and counted.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use oscost_results::bill::Looks;
use oscost_sys::held::{Before, HeldProgram, Told};
use oscost_sys::tracer::{self, Fate, Stop};
use oscost_sys::usage::{self, Whose};
use oscost_sys::{clock, endings, program, reaper};

use crate::by_ebpf::{InKernel, Looker};
use crate::by_ptrace::Tracer;
use crate::rules::Table;
use crate::{BillError, Counted, Ended, Faults, Switches, Usage, Way, traced};

/// How long a program that its user interrupts may take to end before it is ended.
const GRACE: Duration = Duration::from_secs(2);

/// Runs a program with its arguments twice, with this process's environment and streams: once free, and once counted in this
/// way, or in the best that this machine allows. Whoever listens to [`endings`] gets the bill so far after the first signal.
///
/// The caller must have no children of its own meanwhile, and hear of their ends (`process::hear_of_children`).
///
/// # Errors
/// Why it cannot be run or counted.
pub fn count(program: &[OsString], way: Option<Way>) -> Result<(Usage, Counted), BillError> {
    let path = found(program)?;
    let runs = Runs { path, program, _orphans: Orphans::adopted()? };
    let table = Table::new();
    // Made before anything is loaded: what it has of this process, it gives back in its own time.
    let held = runs.held()?;
    // Loaded before anything runs: who wants it learns at once that it cannot be.
    let kernel = match way {
        None => InKernel::load(&table).ok(),
        Some(Way::Ebpf) => Some(InKernel::load(&table)?),
        Some(_) => None,
    };
    let (free, ended) = runs.free(held)?;
    // Once the program has been started to be counted, it is not started again.
    let kernel = match kernel.map(|mut kernel| kernel.attach().map(|()| kernel)).transpose() {
        Err(BillError::NoEbpf(_)) if way.is_none() => None,
        kernel => kernel?,
    };
    let counted = match kernel {
        Some(kernel) => runs.by_ebpf(kernel, &table)?,
        None => runs.by_ptrace(&table)?,
    };
    Ok((free, Counted { complete: endings::number().is_none(), free_ended: Some(ended), ..counted }))
}

/// Where the program lies.
fn found(program: &[OsString]) -> Result<PathBuf, BillError> {
    let name = program.first().ok_or(BillError::Nothing)?;
    let shown = name.to_string_lossy().into_owned();
    let path = match name.to_str() {
        Some(plain) if !plain.contains('/') => program::find(plain),
        _ => Some(PathBuf::from(name)).filter(|path| path.is_file()),
    };
    let path = path.ok_or(BillError::NotFound(shown))?;
    if oscost_sys::identity::effective_uid() != 0
        && let Some(program) = traced::other_rights(&path.to_string_lossy())
    {
        return Err(BillError::OtherRights(program));
    }
    Ok(path)
}

/// Descendants whose parents ended are this process's children as long as it lives.
struct Orphans;

impl Orphans {
    fn adopted() -> Result<Self, BillError> {
        reaper::adopt_orphans()?;
        Ok(Self)
    }
}

impl Drop for Orphans {
    fn drop(&mut self) {
        let _ = reaper::leave_orphans();
    }
}

/// A program that is run twice.
struct Runs<'a> {
    path: PathBuf,
    program: &'a [OsString],
    _orphans: Orphans,
}

/// Lets the program go.
fn let_go(held: HeldProgram, token: u64) -> Result<Told, BillError> {
    held.let_go(token).map_err(|error| gone(error.into()))
}

/// Why a held program is not to be had. A signal that this one heard may have ended it before.
fn gone(error: BillError) -> BillError {
    if endings::number().is_some() { BillError::Interrupted } else { error }
}

impl Runs<'_> {
    fn held(&self) -> Result<HeldProgram, BillError> {
        Ok(HeldProgram::start(&self.path, self.program)?)
    }

    fn not_run(&self, error: oscost_sys::CallError) -> BillError {
        BillError::NotRun { program: self.path.display().to_string(), error }
    }

    fn free(&self, held: HeldProgram) -> Result<(Usage, Ended), BillError> {
        let pid = held.pid();
        // Where nobody may look, the kernel's own times have to do.
        let looker = Looker::attach(pid).ok();
        let others = usage::own(Whose::Children)?;
        let watch = Watch::begin();
        let before = let_go(held, 0)?.before();
        let ended = ended(pid, &watch)?;
        let ended_ns = clock::now_ns();
        let before = before.map_err(|error| self.not_run(error))?;
        if endings::number().is_some() {
            return Err(BillError::Interrupted);
        }
        let used = used(&others, before, ended_ns)?;
        let used = match looker.and_then(|looker| looker.seen()) {
            Some(looks) => divided(used, looks),
            None => used,
        };
        Ok((used, ended))
    }

    /// With programs that are attached.
    fn by_ebpf(&self, mut kernel: InKernel, table: &Table) -> Result<Counted, BillError> {
        let others = usage::own(Whose::Children)?;
        let watch = Watch::begin();
        let held = self.held()?;
        let pid = held.pid();
        let before = let_go(held, kernel.token())?.before();
        let ended = ended(pid, &watch)?;
        let ended_ns = clock::now_ns();
        let usage = used(&others, before.map_err(|error| self.not_run(error))?, ended_ns)?;
        let (seen, _) = kernel.seen()?;
        Ok(seen.counted(table, Way::Ebpf, usage, ended, 1))
    }

    fn by_ptrace(&self, table: &Table) -> Result<Counted, BillError> {
        let others = usage::own(Whose::Children)?;
        let watch = Watch::begin();
        let held = self.held()?;
        let pid = held.pid();
        tracer::seize(pid, Fate::Shared).map_err(|error| gone(BillError::NoTracer(error)))?;
        let told = let_go(held, 0)?;
        let mut ended = Ended::CutShort;
        let seen = Tracer::new(table).follow(pid, |stop| {
            ended = match stop {
                Stop::Exited(code) => Ended::Exited(code),
                Stop::Killed(_) if watch.has_cut() => Ended::CutShort,
                Stop::Killed(signal) => Ended::Killed(signal),
                _ => ended,
            };
        })?;
        let ended_ns = clock::now_ns();
        let mut usage = used(&others, told.before().map_err(|error| self.not_run(error))?, ended_ns)?;
        usage.switches.voluntary = usage.switches.voluntary.saturating_sub(seen.voluntary);
        Ok(seen.counted(table, Way::Ptrace, usage, ended, 1))
    }
}

/// How the program ended, when all that it started has ended, too.
fn ended(pid: i32, watch: &Watch) -> Result<Ended, BillError> {
    let mut ended = Ended::CutShort;
    reaper::wait_for_each(|who, code, signal| {
        if who == pid {
            ended = match (code, signal) {
                (Some(code), _) => Ended::Exited(code),
                (None, Some(signal)) if !watch.has_cut() => Ended::Killed(signal),
                _ => Ended::CutShort,
            };
        }
    })?;
    Ok(ended)
}

/// With its CPU time divided by looks. The kernel divides that of each process by its own ticks, and calls all time of one that no
/// tick met time outside.
fn divided(used: Usage, looks: Looks) -> Usage {
    let (all, made) = (used.user_ns + used.system_ns, looks.inside + looks.outside);
    if made == 0 {
        return used;
    }
    let system_ns = (all as f64 * (looks.inside as f64 / made as f64)).round() as u64;
    Usage { system_ns, user_ns: all - system_ns.min(all), looks: Some(looks), ..used }
}

/// What several runs took, in the mean; their looks are one sample of all.
#[must_use]
pub fn mean(all: &[Usage]) -> Option<Usage> {
    let count = u64::try_from(all.len()).ok().filter(|&count| count > 0)?;
    let sum = |of: fn(&Usage) -> u64| all.iter().map(of).fold(0, u64::saturating_add);
    let mean = |of: fn(&Usage) -> u64| (sum(of) + count / 2) / count;
    Some(Usage {
        wall_ns: mean(|one| one.wall_ns),
        user_ns: mean(|one| one.user_ns),
        system_ns: mean(|one| one.system_ns),
        faults: Faults { minor: mean(|one| one.faults.minor), major: mean(|one| one.faults.major) },
        switches: Switches {
            voluntary: mean(|one| one.switches.voluntary),
            involuntary: mean(|one| one.switches.involuntary),
        },
        looks: None,
    })
    .map(|one| {
        let looks = Looks {
            inside: sum(|one| one.looks.map_or(0, |looks| looks.inside)),
            outside: sum(|one| one.looks.map_or(0, |looks| looks.outside)),
        };
        divided(one, looks)
    })
}

/// What a program used from its first instruction to its end, beside children that ended earlier.
fn used(others: &usage::Usage, before: Before, ended_ns: u64) -> Result<Usage, BillError> {
    let used = usage::own(Whose::Children)?.since(others).since(&before.spent);
    Ok(Usage {
        wall_ns: ended_ns.saturating_sub(before.at_ns),
        user_ns: used.user_ns,
        system_ns: used.system_ns,
        faults: Faults { minor: used.minor_faults, major: used.major_faults },
        switches: Switches { voluntary: used.voluntary_switches, involuntary: used.involuntary_switches },
        looks: None,
    })
}

/// Ends what runs some time after its user has interrupted it, if it does not end itself.
struct Watch {
    is_over: Arc<AtomicBool>,
    has_cut: Arc<AtomicBool>,
}

impl Watch {
    fn begin() -> Self {
        let this = Self { is_over: Arc::default(), has_cut: Arc::default() };
        let (is_over, has_cut) = (Arc::clone(&this.is_over), Arc::clone(&this.has_cut));
        // Without it, a second signal still ends everything.
        let _ = std::thread::Builder::new().spawn(move || {
            let mut interrupted = None;
            while !is_over.load(Ordering::Acquire) {
                oscost_sys::clock::pause(Duration::from_millis(20));
                if endings::number().is_none() {
                    continue;
                }
                let since = interrupted.get_or_insert_with(Instant::now);
                if since.elapsed() >= GRACE && !is_over.load(Ordering::Acquire) {
                    has_cut.store(true, Ordering::Release);
                    reaper::kill_all();
                }
            }
        });
        this
    }

    fn has_cut(&self) -> bool {
        self.has_cut.load(Ordering::Acquire)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_divide_the_time_of_all_runs_together() {
        let run = |system_ns, looks| Usage { user_ns: 1000, system_ns, looks, ..Usage::default() };
        let looks = |inside, outside| Some(Looks { inside, outside });
        let all = mean(&[run(0, None), run(500, looks(3, 0)), run(400, looks(3, 2))]).expect("runs");
        assert_eq!((all.user_ns, all.system_ns, all.looks), (325, 975, looks(6, 2)));
        let unseen = mean(&[run(200, None), run(400, None)]).expect("runs");
        assert_eq!((unseen.user_ns, unseen.system_ns, unseen.looks), (1000, 300, None));
        assert_eq!(mean(&[]), None);
    }
}
