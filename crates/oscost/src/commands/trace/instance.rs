//! An instance of ftrace of our own, and the guard that removes it however this program ends.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use oscost_sys::process;

/// First argument of a guard.
pub const GUARD: &str = "__trace_guard";

/// Where tracefs is mounted, by itself or in debugfs.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// Room for what one CPU records, KiB.
const ROOM: &str = "8192";
/// A guard tries so often: whoever was killed may still hold a file of the instance.
const TRIES: u32 = 400;

/// An instance; its guard removes it when this program ends.
#[derive(Debug)]
pub struct Instance {
    pub folder: PathBuf,
    guard: Child,
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
        let tracers = std::fs::read_to_string(place.join("available_tracers")).unwrap_or_default();
        if !tracers.split_whitespace().any(|tracer| tracer == "function") {
            return Err("this kernel cannot trace functions (CONFIG_FUNCTION_TRACER)".to_owned());
        }
        let folder = place.join("instances").join(format!("oscost-{}", std::process::id()));
        // Before there is anything to be removed.
        let mut command = Command::new("/proc/self/exe");
        command.arg(GUARD).arg(&folder).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        process::in_own_session(&mut command);
        let guard = command.spawn().map_err(|error| format!("its guard could not be started: {error}"))?;
        let made = std::fs::create_dir(&folder);
        let instance = Self { folder, guard };
        made.map_err(|error| format!("{} could not be made: {error}", instance.folder.display()))?;
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
        std::fs::write(self.folder.join(file), value).map_err(|error| {
            format!("{} could not be set to {value}: {error}", self.folder.join(file).display())
        })
    }

    /// Removes it.
    pub fn remove(mut self) -> Result<(), String> {
        if self.end() { Ok(()) } else { Err(format!("{} was not removed: rmdir it", self.folder.display())) }
    }

    /// Waits until the guard has removed it; at once where that was done before.
    fn end(&mut self) -> bool {
        drop(self.guard.stdin.take());
        self.guard.wait().is_ok_and(|status| status.success())
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.end();
    }
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
        let _ = std::fs::write(folder.join("tracing_on"), "0");
        let _ = std::fs::write(folder.join("current_tracer"), "nop");
        if std::fs::remove_dir(folder).is_ok() {
            return 0;
        }
        oscost_sys::clock::pause(Duration::from_millis(50));
    }
    1
}
