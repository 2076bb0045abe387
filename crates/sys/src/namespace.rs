//! Private namespaces: a worker's kernel objects vanish with it, even if it is killed. namespaces(7), unshare(2).

use std::ffi::{CStr, CString};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use std::sync::atomic::Ordering;

use crate::memory::SharedWords;
use crate::process::Child;
use crate::{CallError, error::check, identity};

/// What a process got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Isolation {
    /// A user namespace was needed for it (the caller is not root).
    pub user_namespace: bool,
}

impl Isolation {
    /// In words, for the result.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        if self.user_namespace { "user, ipc and mount namespaces" } else { "ipc and mount namespaces" }
    }
}

/// Moves the calling process, which must have one thread, into private IPC and mount namespaces with a tmpfs of its own on
/// /dev/shm: as root directly, else inside a user namespace in which the uid and gid stay what they are (without the maps
/// mq_open fails with EOVERFLOW). With `processes` its next children also form a PID namespace, where that is granted.
///
/// It is all or nothing: [`probe`] tells beforehand which.
///
/// # Errors
/// What was refused. The caller may be halfway inside then: it must make no object, and end.
pub fn isolate(processes: bool) -> Result<Isolation, CallError> {
    let (uid, gid) = (identity::uid(), identity::gid());
    let flags = libc::CLONE_NEWIPC | libc::CLONE_NEWNS;
    let user_namespace = unshare(flags).is_err();
    if user_namespace {
        unshare(flags | libc::CLONE_NEWUSER)?;
        map_ids(uid, gid)?;
    }
    private_shm()?;
    if processes {
        // Who is in none sees it by its number.
        let _ = unshare(libc::CLONE_NEWPID);
    }
    Ok(Isolation { user_namespace })
}

fn unshare(flags: libc::c_int) -> Result<(), CallError> {
    // SAFETY: unshare touches no memory.
    check("unshare", unsafe { libc::unshare(flags) }).map(|_| ())
}

/// Writes the maps of a new user namespace: the ids outside are the ids inside. user_namespaces(7).
fn map_ids(uid: u32, gid: u32) -> Result<(), CallError> {
    let put = |path: &str, text: String| {
        std::fs::write(path, text).map_err(|error| CallError::new(MAPPING, error.raw_os_error().unwrap_or(0)))
    };
    put("/proc/self/setgroups", "deny".into())?;
    put("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    put("/proc/self/gid_map", format!("{gid} {gid} 1"))
}

/// The steps of [`isolate`] that can be refused.
const MAPPING: &str = "mapping the user in a user namespace";
const STEPS: [&str; 3] = ["unshare", MAPPING, "mount"];

/// Mounts a tmpfs of our own on /dev/shm; no mount of ours is seen outside. Where there is no /dev/shm nothing can be left
/// in it.
fn private_shm() -> Result<(), CallError> {
    mount(None, c"/", None, libc::MS_REC | libc::MS_PRIVATE, None)?;
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    match mount(Some(c"oscost"), c"/dev/shm", Some(c"tmpfs"), flags, Some(c"mode=1777")) {
        Err(error) if error.errno == libc::ENOENT => Ok(()),
        mounted => mounted,
    }
}

/// Mounts a fresh /proc in a new PID namespace, so that its processes see each other only.
///
/// # Errors
/// The error of mount.
pub fn mount_proc() -> Result<(), CallError> {
    mount(Some(c"proc"), c"/proc", Some(c"proc"), libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC, None)
}

/// Writes to `folder` vanish with this mount namespace; what lies there can be read. An overlay whose upper layer is in
/// memory; it needs a /proc and a /dev/shm to mount on. Linux's Documentation/filesystems/overlayfs.rst.
///
/// # Errors
/// The error of mount, mkdir or umount2; then writes go where they always go.
pub fn write_apart(folder: &CStr) -> Result<(), CallError> {
    const LAYERS: &str = "/dev/shm";
    let made = |result: std::io::Result<()>| {
        result.map_err(|error| CallError::new("mkdir", error.raw_os_error().unwrap_or(0)))
    };
    mount(
        Some(c"oscost"),
        c"/dev/shm",
        Some(c"tmpfs"),
        libc::MS_NOSUID | libc::MS_NODEV,
        Some(c"mode=0755"),
    )?;
    let layered = made(std::fs::create_dir(format!("{LAYERS}/upper")))
        .and_then(|()| made(std::fs::create_dir(format!("{LAYERS}/work"))))
        .and_then(|()| {
            made(std::fs::set_permissions(format!("{LAYERS}/upper"), Permissions::from_mode(0o1777)))
        })
        .and_then(|()| overlay(folder, LAYERS));
    // The overlay holds what it needs of the layers' file system; nobody else shall see them.
    // SAFETY: the path is a C string constant.
    let gone = check("umount2", unsafe { libc::umount2(c"/dev/shm".as_ptr(), libc::MNT_DETACH) });
    layered.and(gone.map(|_| ()))
}

/// Mounts the overlay: in a user namespace it keeps its marks in attributes that anybody may write.
fn overlay(folder: &CStr, layers: &str) -> Result<(), CallError> {
    let lower = folder.to_string_lossy();
    let options = format!("lowerdir={lower},upperdir={layers}/upper,workdir={layers}/work");
    let attempt = |options: String| {
        let options = CString::new(options).map_err(|_| CallError::new("mount", libc::EINVAL))?;
        mount(Some(c"oscost"), folder, Some(c"overlay"), libc::MS_NOSUID | libc::MS_NODEV, Some(&options))
    };
    attempt(options.clone()).or_else(|_| attempt(format!("{options},userxattr")))
}

fn mount(
    source: Option<&CStr>,
    target: &CStr,
    kind: Option<&CStr>,
    flags: libc::c_ulong,
    data: Option<&CStr>,
) -> Result<(), CallError> {
    let pointer = |text: Option<&CStr>| text.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: every pointer is null or a C string that lives through the call.
    let result =
        unsafe { libc::mount(pointer(source), target.as_ptr(), pointer(kind), flags, pointer(data).cast()) };
    check("mount", result).map(|_| ())
}

/// Mounts a tmpfs with the option that asks for mandatory locks, in the private mount namespace of the caller.
#[cfg(test)]
pub(crate) fn mount_mand(path: &std::path::Path) -> Result<(), CallError> {
    let path = crate::file::c_path(path)?;
    mount(Some(c"oscost"), &path, Some(c"tmpfs"), libc::MS_MANDLOCK, Some(c"mode=1777"))
}

/// Mounts the file system of the POSIX queues, in the private mount and IPC namespaces of the caller.
#[cfg(test)]
pub(crate) fn mount_queues(path: &std::path::Path) -> Result<(), CallError> {
    mount(Some(c"oscost"), &crate::file::c_path(path)?, Some(c"mqueue"), 0, None)
}

/// Whether processes can be isolated here: tried in a child, which changes nothing for the caller. `Some`: what is refused.
///
/// # Errors
/// The error of mmap, fork or wait.
pub fn probe() -> Result<Option<CallError>, CallError> {
    let refused = SharedWords::new(2)?;
    let child = Child::fork(|| match isolate(false) {
        Ok(_) => 0,
        Err(error) => {
            let step = STEPS.iter().position(|step| *step == error.call).unwrap_or(0);
            refused.word(0).store(step as u64, Ordering::Relaxed);
            refused.word(1).store(error.errno.cast_unsigned().into(), Ordering::Relaxed);
            1
        }
    })?;
    Ok(match child.wait()?.code {
        Some(0) => None,
        Some(_) => {
            let step = usize::try_from(refused.word(0).load(Ordering::Relaxed)).unwrap_or(0);
            let errno = i32::try_from(refused.word(1).load(Ordering::Relaxed)).unwrap_or(0);
            Some(CallError::new(STEPS.get(step).copied().unwrap_or(STEPS[0]), errno))
        }
        None => Some(CallError::told("whoever asks for namespaces is killed")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::code_of;

    #[test]
    fn isolation_stays_in_the_process_that_asked_for_it() {
        let own = std::fs::read_link("/proc/self/ns/ipc").expect("proc");
        let code = code_of(|| {
            let isolated = isolate(false).is_ok();
            let inside = std::fs::read_link("/proc/self/ns/ipc").ok();
            i32::from(isolated && inside.as_ref() == Some(&own))
        });
        assert_eq!(code, Some(0));
        assert_eq!(std::fs::read_link("/proc/self/ns/ipc").expect("proc"), own);
    }

    /// Each step is refused, as sandboxes do it: the probe says so, and that it was refused altogether.
    #[test]
    fn halfway_is_refused_and_told() {
        let in_child = |prepare: fn() -> bool, expected: &'static str| {
            code_of(move || match prepare().then(probe) {
                Some(Ok(Some(error))) if error.call == expected => 0,
                Some(_) => 1,
                None => 2,
            })
        };
        if probe() != Ok(None) {
            return println!("SKIP halfway_is_refused_and_told: no namespaces here");
        }
        let refuse_mount = || refuse(libc::SYS_mount);
        assert_eq!(in_child(refuse_mount, "mount"), Some(0));
        let refuse_unshare = || refuse(libc::SYS_unshare);
        assert_eq!(in_child(refuse_unshare, "unshare"), Some(0));
        if identity::effective_uid() != 0 {
            return println!("SKIP maps that are refused: to make /proc read-only needs root");
        }
        let read_only_proc = || {
            unshare(libc::CLONE_NEWNS).is_ok()
                && mount(None, c"/", None, libc::MS_REC | libc::MS_PRIVATE, None).is_ok()
                && mount(None, c"/proc", None, libc::MS_REMOUNT | libc::MS_BIND | libc::MS_RDONLY, None)
                    .is_ok()
                && become_nobody()
        };
        assert_eq!(in_child(read_only_proc, MAPPING), Some(0));
    }

    /// From here on the call fails with EPERM, as in a sandbox.
    fn refuse(call: libc::c_long) -> bool {
        let step = |code: u32, k: u32, jf: u8| libc::sock_filter { code: code as u16, jt: 0, jf, k };
        let mut filter = [
            // The number of the call is the first word.
            step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
            step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, u32::try_from(call).expect("small"), 1),
            step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | 1, 0),
            step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0),
        ];
        let program = libc::sock_fprog { len: 4, filter: filter.as_mut_ptr() };
        // SAFETY: the kernel reads a program of four steps, which lives through the call.
        unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
        }
    }

    fn become_nobody() -> bool {
        const NOBODY: u32 = 65534;
        // SAFETY: setresgid and setresuid touch no memory.
        unsafe {
            libc::setresgid(NOBODY, NOBODY, NOBODY) == 0 && libc::setresuid(NOBODY, NOBODY, NOBODY) == 0
        }
    }
}
