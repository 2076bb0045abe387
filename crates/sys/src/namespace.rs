//! Private namespaces: kernel objects of a worker vanish with it, whoever is killed how. namespaces(7), unshare(2).

use std::ffi::{CStr, CString};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use crate::{CallError, error::check, identity};

/// What a worker got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Isolation {
    /// Private IPC and mount namespaces are in force.
    pub private: bool,
    /// A user namespace was needed for it (the caller is not root).
    pub user_namespace: bool,
    /// /dev/shm is a private tmpfs: named semaphores vanish too.
    pub private_shm: bool,
    /// What was refused, if anything.
    pub refused: Option<CallError>,
}

impl Isolation {
    /// In words, for the result.
    #[must_use]
    pub fn describe(&self) -> String {
        match (self.private, self.user_namespace, self.private_shm) {
            (true, false, true) => "ipc and mount namespaces".into(),
            (true, true, true) => "user, ipc and mount namespaces".into(),
            (true, _, false) => "ipc and mount namespaces, without a private /dev/shm".into(),
            (false, ..) => match self.refused {
                Some(error) => format!("janitor ({error})"),
                None => "janitor".into(),
            },
        }
    }
}

/// Moves the calling process, which must have one thread, into private IPC and mount namespaces with a tmpfs of its own on
/// /dev/shm: as root directly, else inside a user namespace in which the uid and gid stay what they are (without the maps
/// mq_open fails with EOVERFLOW). With `processes` its next children also form a PID namespace.
#[must_use]
pub fn isolate(processes: bool) -> Isolation {
    let pid = if processes { libc::CLONE_NEWPID } else { 0 };
    let flags = libc::CLONE_NEWIPC | libc::CLONE_NEWNS | pid;
    // SAFETY: unshare touches no memory.
    let direct = check("unshare", unsafe { libc::unshare(flags) });
    let user_namespace = direct.is_err();
    if direct.is_err() {
        let (uid, gid) = (identity::uid(), identity::gid());
        // SAFETY: unshare touches no memory.
        if let Err(error) = check("unshare", unsafe { libc::unshare(flags | libc::CLONE_NEWUSER) }) {
            return Isolation {
                private: false,
                user_namespace: false,
                private_shm: false,
                refused: Some(error),
            };
        }
        if let Err(error) = map_ids(uid, gid) {
            return Isolation {
                private: true,
                user_namespace: true,
                private_shm: false,
                refused: Some(error),
            };
        }
    }
    let mounted = private_shm();
    Isolation { private: true, user_namespace, private_shm: mounted.is_ok(), refused: mounted.err() }
}

/// Writes the maps of a new user namespace: the ids outside are the ids inside. user_namespaces(7).
fn map_ids(uid: u32, gid: u32) -> Result<(), CallError> {
    let put = |path: &str, text: String| {
        std::fs::write(path, text).map_err(|error| CallError::new("write", error.raw_os_error().unwrap_or(0)))
    };
    put("/proc/self/setgroups", "deny".into())?;
    put("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    put("/proc/self/gid_map", format!("{gid} {gid} 1"))
}

/// Mounts a tmpfs of our own on /dev/shm; no mount of ours is seen outside.
fn private_shm() -> Result<(), CallError> {
    mount(None, c"/", None, libc::MS_REC | libc::MS_PRIVATE, None)?;
    mount(
        Some(c"oscost"),
        c"/dev/shm",
        Some(c"tmpfs"),
        libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC,
        Some(c"mode=1777"),
    )
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
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes())
        .map_err(|_| CallError::new("mount", libc::EINVAL))?;
    mount(Some(c"oscost"), &path, Some(c"tmpfs"), libc::MS_MANDLOCK, Some(c"mode=1777"))
}

/// Whether workers can be isolated here: tried in a child, which changes nothing for the caller.
///
/// # Errors
/// The error of fork or wait.
pub fn probe() -> Result<bool, CallError> {
    let child = crate::process::Child::fork(|| i32::from(!isolate(false).private))?;
    Ok(child.wait()?.code == Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isolation_stays_in_the_process_that_asked_for_it() {
        let own = std::fs::read_link("/proc/self/ns/ipc").expect("proc");
        let child = crate::process::Child::fork(|| {
            let isolation = isolate(false);
            let inside = std::fs::read_link("/proc/self/ns/ipc").ok();
            i32::from(isolation.private && inside == std::fs::read_link("/proc/1/ns/ipc").ok())
        })
        .expect("fork");
        assert_eq!(child.wait().expect("wait").code, Some(0));
        assert_eq!(std::fs::read_link("/proc/self/ns/ipc").expect("proc"), own);
    }
}
