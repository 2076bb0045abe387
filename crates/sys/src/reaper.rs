//! Adopts orphaned descendants, and waits until none is left. prctl(2), wait(2).

use crate::process::{Signal, signal};
use crate::{CallError, error::check};

/// Descendants whose parent ends become children of the caller instead of the system's. prctl(2),
/// PR_SET_CHILD_SUBREAPER.
///
/// # Errors
/// The error of prctl.
pub fn adopt_orphans() -> Result<(), CallError> {
    // SAFETY: prctl with these arguments touches no memory.
    check("prctl", unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }).map(|_| ())
}

/// Undoes [`adopt_orphans`].
///
/// # Errors
/// The error of prctl.
pub fn leave_orphans() -> Result<(), CallError> {
    // SAFETY: prctl with these arguments touches no memory.
    check("prctl", unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }).map(|_| ())
}

/// Waits until the caller has no child left, its own and adopted ones. wait4(2).
///
/// # Errors
/// Any error of waitpid but ECHILD, which is the end, and EINTR.
pub fn wait_for_all() -> Result<(), CallError> {
    wait_for_each(|_, _, _| {})
}

/// The same, and `told` hears of each: its number, its exit code, or the signal that ended it.
///
/// # Errors
/// As of [`wait_for_all`].
pub fn wait_for_each(mut told: impl FnMut(i32, Option<i32>, Option<i32>)) -> Result<(), CallError> {
    loop {
        let mut status = 0;
        // SAFETY: the kernel writes a status to a local variable.
        let result = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL) };
        if result == -1 {
            let error = CallError::last("wait4");
            match error.errno {
                libc::ECHILD => return Ok(()),
                libc::EINTR => {}
                _ => return Err(error),
            }
        } else {
            let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
            told(result, code, libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)));
        }
    }
}

/// Kills every child of the caller, and whom it adopts by that, until nobody is left. Needs [`adopt_orphans`] and /proc to
/// find those who were adopted; without /proc it waits for them.
///
/// # Errors
/// The error of waitpid.
pub fn end_all() -> Result<(), CallError> {
    loop {
        if children().is_empty() {
            return wait_for_all();
        }
        kill_all();
        // SAFETY: without a status the kernel writes nothing.
        unsafe { libc::waitpid(-1, std::ptr::null_mut(), 0) };
    }
}

/// Kills every child that the caller has now. Whom they leave behind is adopted, and is its child a moment later.
pub fn kill_all() {
    for pid in children() {
        // Who has ended already waits to be waited for.
        let _ = signal(pid, Signal::Kill);
    }
}

/// The children of processes, as /proc tells: by their lists, which not every kernel has (CONFIG_PROC_CHILDREN), or by looking at
/// everybody, once for all processes that are asked about.
#[derive(Debug, Default)]
pub struct Children {
    everybody: Option<Vec<(i32, u32)>>,
}

impl Children {
    /// Those of one process; empty where it has none, or is gone.
    pub fn of(&mut self, pid: i32) -> Vec<i32> {
        listed(&pid.to_string())
            .unwrap_or_else(|| by_parent(self.everybody.get_or_insert_with(everybody), pid))
    }
}

/// Those of the caller, whatever its number is in the namespace that /proc is of.
fn children() -> Vec<i32> {
    listed("self").unwrap_or_else(|| by_parent(&everybody(), std::process::id().cast_signed()))
}

/// The children in the lists of a process's threads: none of a process that is gone, and `None` where there are no lists.
fn listed(process: &str) -> Option<Vec<i32>> {
    let threads = crate::folder::Folder::names_at(format!("/proc/{process}/task")).unwrap_or_default();
    if threads.is_empty() {
        return Some(Vec::new());
    }
    let path =
        |thread: &std::ffi::OsString| Some(format!("/proc/{process}/task/{}/children", thread.to_str()?));
    let lists: Vec<String> =
        threads.iter().filter_map(path).filter_map(|path| crate::file::text(path).ok()).collect();
    let words = lists.iter().flat_map(|list| list.split_whitespace());
    (!lists.is_empty()).then(|| words.filter_map(|word| word.parse().ok()).collect())
}

/// Every process, and its parent.
fn everybody() -> Vec<(i32, u32)> {
    let names = crate::folder::Folder::names_at("/proc").unwrap_or_default();
    let pids = names.into_iter().filter_map(|name| name.to_str()?.parse().ok());
    pids.filter_map(|pid| Some((pid, parent_of(pid)?))).collect()
}

fn by_parent(everybody: &[(i32, u32)], parent: i32) -> Vec<i32> {
    everybody.iter().filter(|(_, of)| *of == parent.unsigned_abs()).map(|(pid, _)| *pid).collect()
}

/// The parent of a process: the second field after its name, which may hold anything (proc_pid_stat(5)).
fn parent_of(pid: i32) -> Option<u32> {
    let stat = crate::file::text(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Child;

    #[test]
    fn a_parent_is_read_whatever_the_name_of_its_child() {
        let own = i32::try_from(std::process::id()).expect("a pid");
        assert_eq!(parent_of(own), Some(crate::process::parent_id()));
        assert_eq!(parent_of(-1), None);
        let child = Child::fork(|| {
            std::thread::sleep(std::time::Duration::from_secs(100));
            0
        })
        .expect("fork");
        assert_eq!(parent_of(child.pid()), Some(std::process::id()));
        // Of this test program others fork, too.
        let mut gone = Children::default();
        assert!(gone.of(i32::MAX).is_empty() && gone.everybody.is_none(), "nobody is looked at for it");
        let children_of = |pid| Children::default().of(pid);
        for children in [children_of(own), children(), by_parent(&everybody(), own)] {
            assert!(children.contains(&child.pid()), "{children:?}");
        }
        assert!(by_parent(&everybody(), child.pid()).is_empty() && children_of(child.pid()).is_empty());
    }

    #[test]
    fn an_orphan_that_left_its_session_is_ended_too() {
        let pipe = crate::pipe::Pipe::new().expect("pipe");
        let child = Child::fork(|| {
            let run = || -> Result<(), CallError> {
                adopt_orphans()?;
                let parent = Child::fork(|| {
                    let orphan = Child::fork(|| {
                        let _ = crate::process::new_session();
                        std::thread::sleep(std::time::Duration::from_secs(100));
                        0
                    });
                    // Forgotten, not dropped: the drop would end it.
                    std::mem::forget(orphan);
                    std::thread::sleep(std::time::Duration::from_secs(100));
                    0
                })?;
                std::mem::forget(parent);
                std::thread::sleep(std::time::Duration::from_millis(50));
                end_all()
            };
            i32::from(run().is_err())
        })
        .expect("fork");
        assert_eq!(child.wait_at_most(60_000_000_000).expect("in time").code, Some(0));
        // Everybody has closed his copy.
        drop(pipe.writer);
        let end = crate::pipe::read(&pipe.reader, &mut [0; 1]).expect("read");
        assert_eq!(end, 0);
    }
}
