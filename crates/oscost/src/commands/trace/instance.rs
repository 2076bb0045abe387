//! An instance of ftrace of our own, and the guard that removes it however this program ends.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use oscost_sys::record_lock::{self, LockKind};
use oscost_sys::{file, process};

/// First argument of a guard.
pub const GUARD: &str = "__trace_guard";

/// Where tracefs is mounted, by itself or in debugfs.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// How names of instances begin; 128 random bits follow.
const PREFIX: &str = "oscost-";
/// Room for what one CPU records, KiB.
const ROOM: &str = "8192";
/// A guard tries so often: whoever was killed may still hold a file of the instance.
const TRIES: u32 = 400;

/// An instance; its guard removes it when this program ends. If both are killed at once, the next instance's maker does: the
/// lock tells whose maker lives.
#[derive(Debug)]
pub struct Instance {
    pub folder: PathBuf,
    guard: Child,
    _lock: File,
}

impl Instance {
    /// A new one that records functions, and is switched off. What is missing, and how to get it.
    pub fn new() -> Result<Self, String> {
        if oscost_sys::identity::effective_uid() != 0 {
            return Err("tracing is for root (sudo oscost explain --trace ID)".to_owned());
        }
        let place = PLACES.iter().map(Path::new).find(|place| place.join("available_tracers").exists());
        let Some(place) = place else {
            return Err(
                "tracefs is not mounted (mount -t tracefs tracefs /sys/kernel/tracing; the kernel needs CONFIG_FTRACE)"
                    .to_owned(),
            );
        };
        let tracers = file::text(place.join("available_tracers")).unwrap_or_default();
        if !tracers.split_whitespace().any(|tracer| tracer == "function") {
            return Err("this kernel cannot trace functions (CONFIG_FUNCTION_TRACER)".to_owned());
        }
        let instances = place.join("instances");
        sweep(&instances);
        // Nobody else's: the guard, and the next start, remove what has such a name.
        let name = oscost_sys::random::bits().map_err(|error| error.to_string())?;
        let folder = instances.join(format!("{PREFIX}{name:032x}"));
        // Before there is anything to be removed.
        let mut command = Command::new("/proc/self/exe");
        command.arg(GUARD).arg(&folder).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        process::in_own_group(&mut command);
        let mut guard =
            command.spawn().map_err(|error| format!("its guard could not be started: {error}"))?;
        let lock = match make(&folder) {
            Ok(lock) => lock,
            Err(error) => {
                // There is nothing of ours to be removed.
                let _ = guard.kill();
                let _ = guard.wait();
                return Err(format!("{} could not be made: {error}", folder.display()));
            }
        };
        let instance = Self { folder, guard, _lock: lock };
        for (file, value) in [
            ("tracing_on", "0"),
            ("buffer_size_kb", ROOM),
            ("options/function-fork", "1"),
            ("current_tracer", "function"),
        ] {
            instance.set(file, value)?;
        }
        Ok(instance)
    }

    /// Writes a setting of the instance.
    pub fn set(&self, file: &str, value: &str) -> Result<(), String> {
        put(&self.folder.join(file), value).map_err(|error| {
            format!("{} could not be set to {value}: {error}", self.folder.join(file).display())
        })
    }

    /// Removes it.
    pub fn remove(mut self) -> Result<(), String> {
        if self.end() { Ok(()) } else { Err(format!("{} was not removed: rmdir it", self.folder.display())) }
    }

    /// Waits until the guard has removed it; at once where that was done before. The work of one who was killed is done here.
    fn end(&mut self) -> bool {
        drop(self.guard.stdin.take());
        self.guard.wait().is_ok_and(|status| status.success())
            || !self.folder.exists()
            || remove(&self.folder).is_ok()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.end();
    }
}

/// Makes a folder and locks it; an older start may take it for a dead one's in between, and remove it.
fn make(folder: &Path) -> std::io::Result<File> {
    for _ in 0..8 {
        std::fs::create_dir(folder)?;
        let lock = match File::open(folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            opened => opened?,
        };
        let locked = record_lock::try_flock(lock.as_fd(), LockKind::Write) == Ok(true);
        if locked
            && std::fs::metadata(folder)
                .is_ok_and(|it| lock.metadata().is_ok_and(|own| own.ino() == it.ino()))
        {
            return Ok(lock);
        }
        let _ = std::fs::remove_dir(folder);
    }
    Err(std::io::ErrorKind::ResourceBusy.into())
}

/// Removes the instances whose makers and guards were killed at once. What a living one has is locked.
fn sweep(instances: &Path) {
    for name in oscost_sys::folder::Folder::names_at(instances).unwrap_or_default() {
        let word = name.to_str().and_then(|name| name.strip_prefix(PREFIX)).unwrap_or_default();
        if word.len() != 32 || !word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            continue;
        }
        let folder = instances.join(&name);
        let lock = File::open(&folder);
        if lock.is_ok_and(|lock| record_lock::try_flock(lock.as_fd(), LockKind::Write) == Ok(true)) {
            let _ = remove(&folder);
        }
    }
}

/// Switches an instance off and removes it.
fn remove(folder: &Path) -> std::io::Result<()> {
    let _ = put(&folder.join("tracing_on"), "0");
    let _ = put(&folder.join("current_tracer"), "nop");
    std::fs::remove_dir(folder)
}

/// Writes to a file that is there.
fn put(path: &Path, value: &str) -> std::io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
}

/// The guard's work: waits for the end of whoever started it, and removes the instance. Its exit code.
pub fn guard(folder: Option<&str>) -> u8 {
    let Some(folder) = folder.map(Path::new) else { return 2 };
    process::ignore_endings();
    // Nothing is ever sent: this is the end of whoever holds the other side.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    for _ in 0..TRIES {
        if !folder.exists() {
            return 0;
        }
        if remove(folder).is_ok() {
            return 0;
        }
        oscost_sys::clock::pause(Duration::from_millis(50));
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_start_removes_the_instances_of_the_dead_alone() {
        let instances = tempfile::tempdir().expect("a folder");
        let at = |name: &str| instances.path().join(name);
        let of = |digit: &str| at(&format!("{PREFIX}{}", digit.repeat(32)));
        let living = make(&of("a")).expect("made");
        drop(make(&of("b")).expect("made"));
        for other in ["oscost-71", "oscost-mine", "others"] {
            std::fs::create_dir(at(other)).expect("a folder");
        }
        sweep(instances.path());
        assert!(of("a").exists() && !of("b").exists());
        assert!(at("oscost-71").exists() && at("oscost-mine").exists() && at("others").exists());
        drop(living);
        sweep(instances.path());
        assert!(!of("a").exists());
    }

    #[test]
    fn an_instance_that_is_there_is_not_taken_over() {
        let instances = tempfile::tempdir().expect("a folder");
        let folder = instances.path().join("oscost-0");
        let first = make(&folder).expect("made");
        let second = make(&folder).map(drop).map_err(|error| error.kind());
        assert_eq!(second, Err(std::io::ErrorKind::AlreadyExists));
        assert!(folder.exists());
        drop(first);
    }
}
