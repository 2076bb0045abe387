//! Runs the system's qemu: everything goes through pipes and memory, and qemu ends when we do.
//!
//! No file is made: the archive is a file in memory, the serial lines and the log are pipes, the debugger's line is a pair of
//! sockets. So nothing remains if either side is killed, and nobody else can connect.

use std::ffi::OsString;
use std::io::{PipeReader, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use oscost_sys::{process, readiness};

use crate::Error;
use crate::console::Console;
use crate::error::call;
use crate::frame;
use crate::gdb;
use crate::image::Image;
use crate::load::{Load, path_of};
use crate::log::Log;
use crate::message::Said;

/// How long qemu may take to say its version.
const VERSION: Duration = Duration::from_secs(10);

/// How a machine is emulated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmulatorSettings {
    /// More words for the kernel's command line.
    pub append: String,
    /// qemu's model of the processor; none: everything that it can emulate.
    pub cpu_model: Option<String>,
    /// Memory in MiB.
    pub memory_mib: u32,
    /// Seed of the random numbers that the machine offers.
    pub seed: u32,
    /// How long the guest may be silent, on its console too; ten times as long may pass to the next part of its result.
    pub patience: Duration,
}

impl Default for EmulatorSettings {
    fn default() -> Self {
        Self {
            append: String::new(),
            cpu_model: None,
            memory_mib: 512,
            seed: 1,
            patience: Duration::from_secs(120),
        }
    }
}

/// Names of qemu for one instruction set, and of what it emulates.
struct Emulation {
    program: &'static str,
    package: &'static str,
    machine: &'static str,
    cpu: &'static str,
    /// What is added to a model of the processor that the user names.
    cpu_options: &'static str,
    console: &'static str,
    line: &'static str,
}

const X86_64: Emulation = Emulation {
    program: "qemu-system-x86_64",
    package: "qemu-system-x86",
    machine: "pc",
    cpu: "max",
    cpu_options: "",
    console: "ttyS0",
    line: "/dev/ttyS1",
};
/// The virtual machine's clock counts ns, so that one instruction is one step of it.
const AARCH64: Emulation = Emulation {
    program: "qemu-system-aarch64",
    package: "qemu-system-arm",
    machine: "virt,gic-version=3",
    cpu: "max,pauth-impdef=on",
    cpu_options: ",cntfrq=1000000000",
    console: "ttyAMA0",
    line: "/dev/ttyS0",
};

fn emulation(architecture: &str) -> &'static Emulation {
    if architecture == "aarch64" { &AARCH64 } else { &X86_64 }
}

/// The serial line by which a guest of this instruction set answers.
#[must_use]
pub fn line(architecture: &str) -> &'static str {
    emulation(architecture).line
}

/// What decides the counts beside the kernel: conditions of a result.
#[must_use]
pub fn conditions(image: &Image, settings: &EmulatorSettings) -> oscost_results::Emulation {
    let emulation = emulation(image.architecture);
    oscost_results::Emulation {
        emulator: version(image.architecture).unwrap_or_else(|| emulation.program.to_owned()),
        machine: emulation.machine.to_owned(),
        cpu_model: cpu(emulation, settings),
        memory_mib: settings.memory_mib,
        append: settings.append.clone(),
        image: image.path.to_string_lossy().into_owned(),
        image_checksum: image.checksum.clone(),
        configuration_checksum: image.configuration.as_ref().map(|found| found.checksum.clone()),
        unknown: serde_json::Map::default(),
    }
}

/// The model of the processor that the user had named for `emulation`; none where it was the usual one.
#[must_use]
pub fn named_cpu_model(known: &oscost_results::Emulation, architecture: &str) -> Option<String> {
    let emulation = emulation(architecture);
    let model = known.cpu_model.strip_suffix(emulation.cpu_options).unwrap_or(&known.cpu_model);
    (model != emulation.cpu).then(|| model.to_owned())
}

/// What the qemu for this instruction set says of itself first, without what a distribution adds; none where it is missing.
#[must_use]
pub fn version(architecture: &str) -> Option<String> {
    let mut command = oscost_sys::program::command(emulation(architecture).program).ok()?;
    let heard =
        oscost_sys::program::hear(command.arg("--version").stdin(Stdio::null()), 4096, VERSION).ok()?;
    let text = String::from_utf8_lossy(&heard.stdout).into_owned();
    let number = text.split_once("version ")?.1.split([' ', '\n']).next()?.to_owned();
    Some(format!("qemu {number}"))
}

fn cpu(emulation: &Emulation, settings: &EmulatorSettings) -> String {
    let model = settings.cpu_model.as_deref().unwrap_or(emulation.cpu);
    format!("{model}{}", emulation.cpu_options)
}

/// The kernel's command line: a console whose words tell a slow boot from a hang, one layout of memory in every boot, a clock that
/// need not be measured, no tests of cryptography at the start.
fn command_line(emulation: &Emulation, settings: &EmulatorSettings) -> String {
    let clock =
        if emulation.console == "ttyS0" { " tsc=reliable clocksource=tsc tsc_early_khz=1000000" } else { "" };
    let more = if settings.append.is_empty() { String::new() } else { format!(" {}", settings.append) };
    format!(
        "console={}{clock} panic=-1 nokaslr norandmaps randomize_kstack_offset=off cryptomgr.notests{more} -- {}",
        emulation.console,
        crate::guest::ARGUMENT,
    )
}

/// A machine that runs.
#[derive(Debug)]
pub struct EmulatedMachine {
    child: Child,
    line: PipeReader,
    console_line: PipeReader,
    console: Console,
    frames: frame::FrameReader,
    /// The debugger's line of a machine that is followed.
    pub(crate) debugger: Option<gdb::Line>,
    log_line: Option<PipeReader>,
    pub(crate) log: Log,
    patience: Duration,
    pub(crate) started: Instant,
    /// When the guest said its first word.
    pub(crate) answered: Option<Instant>,
    heard: Instant,
    ended: bool,
}

/// A pipe whose end for writing stays open over exec.
fn pipe_to_us() -> Result<(PipeReader, OwnedFd), Error> {
    let what = "a pipe from qemu";
    let (reader, writer) = std::io::pipe().map_err(call(what, "pipe2"))?;
    process::keep_over_exec(&writer).map_err(|error| Error::Call { what, error })?;
    Ok((reader, writer.into()))
}

impl EmulatedMachine {
    /// Starts a machine. It dies with the thread that started it.
    ///
    /// # Errors
    /// Where qemu is missing, or a call of this machine fails.
    pub(crate) fn start(
        image: &Image,
        load: &Load,
        settings: &EmulatorSettings,
        followed: bool,
    ) -> Result<Self, Error> {
        let emulation = emulation(image.architecture);
        let (line, line_end) = pipe_to_us()?;
        let (console_line, console_end) = pipe_to_us()?;
        let not_started = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                Error::NoEmulator { program: emulation.program.to_owned(), package: emulation.package }
            }
            _ => call("qemu could not be started", "execve")(error),
        };
        let mut command = oscost_sys::program::command(emulation.program).map_err(not_started)?;
        let mut arguments: Vec<OsString> = Vec::new();
        let mut add = |words: &[&str]| arguments.extend(words.iter().map(OsString::from));
        add(&["-accel", "tcg", "-smp", "1", "-M", emulation.machine, "-cpu", &cpu(emulation, settings)]);
        add(&["-m", &settings.memory_mib.to_string(), "-nodefaults", "-no-user-config", "-no-reboot"]);
        add(&["-display", "none", "-monitor", "none", "-icount", "shift=0,sleep=off"]);
        add(&["-seed", &settings.seed.to_string(), "-rtc", "base=2020-01-01,clock=vm"]);
        add(&["-chardev", &format!("file,id=console,path={}", path_of(&console_end))]);
        add(&["-chardev", &format!("file,id=line,path={}", path_of(&line_end))]);
        add(&["-serial", "chardev:console"]);
        if emulation.console == "ttyS0" {
            add(&["-serial", "chardev:line"]);
        } else {
            add(&["-device", "pci-serial,chardev=line"]);
        }
        add(&["-initrd", &load.archive, "-append", &command_line(emulation, settings)]);
        let mut kept: Vec<OwnedFd> = vec![line_end, console_end];
        let (mut debugger, mut log_line, mut log) = (None, None, Log::default());
        if followed {
            let what = "the debugger's line";
            let (ours, theirs) = UnixStream::pair().map_err(call(what, "socketpair"))?;
            process::keep_over_exec(&theirs).map_err(|error| Error::Call { what, error })?;
            add(&["-chardev", &format!("socket,id=debugger,fd={}", theirs.as_raw_fd())]);
            add(&["-gdb", "chardev:debugger", "-S"]);
            kept.push(theirs.into());
            let (reader, writer) = pipe_to_us()?;
            log = Log::at(path_of(&writer));
            kept.push(writer);
            (debugger, log_line) = (Some(gdb::Line::new(ours)), Some(reader));
        }
        command.args(&arguments).arg("-kernel").arg(&load.kernel);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).env_clear();
        command.env("PATH", oscost_sys::program::search_path());
        process::end_with_caller(&mut command);
        let started = Instant::now();
        let child = command.spawn().map_err(not_started)?;
        drop(kept);
        Ok(Self {
            child,
            line,
            console_line,
            console: Console::default(),
            frames: frame::FrameReader::default(),
            debugger,
            log_line,
            log,
            patience: settings.patience,
            started,
            answered: None,
            heard: started,
            ended: false,
        })
    }

    /// The next thing that the guest says.
    ///
    /// # Errors
    /// A guest that panics, ends, says nothing for too long, or sends something else.
    pub fn next(&mut self, stops: &[&AtomicBool]) -> Result<Said, Error> {
        let until = self.until();
        loop {
            if let Some(said) = self.said()? {
                return Ok(said);
            }
            self.listen(stops, until)?;
        }
    }

    /// When whatever is waited for has to be there.
    pub(crate) fn until(&self) -> Instant {
        Instant::now() + self.patience.saturating_mul(10)
    }

    fn said(&mut self) -> Result<Option<Said>, Error> {
        let frame = self.frames.take().map_err(|rubbish| {
            self.failed(format!("the guest sent something other than a result ({})", rubbish.0))
        })?;
        let Some(content) = frame else { return Ok(None) };
        serde_json::from_slice(&content)
            .map(Some)
            .map_err(|error| self.failed(format!("the guest sent something other than a result ({error})")))
    }

    /// Waits for anything from the machine, and takes it.
    pub(crate) fn listen(&mut self, stops: &[&AtomicBool], until: Instant) -> Result<(), Error> {
        if stops.iter().any(|stop| stop.load(Ordering::Relaxed)) {
            return Err(Error::Interrupted);
        }
        if self.console.panicked() {
            return Err(self.failed(panic_words(&self.console.text())));
        }
        if self.ended {
            return Err(self.death());
        }
        let silent = self.heard.elapsed() >= self.patience;
        if silent || Instant::now() >= until {
            let hint = if self.console.text().trim().is_empty() {
                " (no serial console? CONFIG_SERIAL_8250_CONSOLE, on aarch64 CONFIG_SERIAL_AMBA_PL011_CONSOLE; too little --memory?)"
            } else {
                ""
            };
            let seconds = self.patience.as_secs();
            return Err(self.failed(match silent {
                true => format!("the guest said nothing for {seconds} s{hint}"),
                false => format!("the guest gave no part of its result for {} s", 10 * seconds),
            }));
        }
        let what = "waiting for the guest";
        let mut fds: Vec<&dyn AsRawFd> = vec![&self.line, &self.console_line];
        fds.extend(self.log_line.as_ref().map(|line| line as &dyn AsRawFd));
        fds.extend(self.debugger.as_ref().map(|line| line.stream() as &dyn AsRawFd));
        let ready =
            readiness::poll_readable(&fds, 200_000_000).map_err(|error| Error::Call { what, error })?;
        if ready.contains(&true) {
            self.heard = Instant::now();
        }
        let mut buffer = [0; 65536];
        let mut taken =
            |line: &mut PipeReader| line.read(&mut buffer).map(|length| buffer[..length].to_vec());
        if ready[0] {
            let bytes = taken(&mut self.line).map_err(call(what, "read"))?;
            // The end of its pipes is the end of qemu; the console may still hold words.
            self.ended |= bytes.is_empty();
            self.answered.get_or_insert_with(Instant::now);
            self.frames.push(&bytes);
        }
        if ready[1] {
            let bytes = taken(&mut self.console_line).map_err(call(what, "read"))?;
            self.console.push(&bytes);
        }
        if let (Some(line), Some(true)) = (&mut self.log_line, ready.get(2)) {
            let bytes = taken(line).map_err(call(what, "read"))?;
            self.log.push(&bytes);
        }
        if let (Some(line), Some(true)) = (&mut self.debugger, ready.get(3))
            && line.receive().is_err()
        {
            // What happened is reported by the end of the serial line.
            self.debugger = None;
        }
        Ok(())
    }

    /// Takes what qemu has logged so far, while the machine stands.
    pub(crate) fn drain_log(&mut self) -> Result<(), Error> {
        let what = "waiting for qemu's log";
        let Some(line) = &mut self.log_line else { return Ok(()) };
        let mut buffer = [0; 65536];
        while readiness::poll_readable(&[&*line], 0).map_err(|error| Error::Call { what, error })?[0] {
            let length = line.read(&mut buffer).map_err(call(what, "read"))?;
            if length == 0 {
                break;
            }
            self.log.push(&buffer[..length]);
        }
        Ok(())
    }

    /// An error of the guest, with what its console said last.
    pub(crate) fn failed(&self, why: String) -> Error {
        Error::guest(why).with_console(self.console.last_lines())
    }

    /// Why the machine is no more.
    fn death(&mut self) -> Error {
        let mut rest = Vec::new();
        if self.console_line.read_to_end(&mut rest).is_ok() {
            self.console.push(&rest);
        }
        let mut words = String::new();
        if let Some(mut said) = self.child.stderr.take() {
            let _ = (&mut said).take(4096).read_to_string(&mut words);
        }
        let status = self.child.wait().ok();
        let said = words.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().trim();
        let text = self.console.text();
        if status.is_some_and(|status| status.code() == Some(1)) && text.is_empty() && !said.is_empty() {
            return Error::Refused(said.to_owned());
        }
        let why = if text.contains("Kernel panic") {
            panic_words(&text)
        } else {
            match status.map(|status| (status.success(), status.to_string())) {
                Some((true, _)) => "the guest ended before its result".to_owned(),
                Some((false, how)) if said.is_empty() => format!("qemu ended ({how})"),
                Some((false, how)) => format!("qemu ended ({how}): {said}"),
                None => "qemu vanished".to_owned(),
            }
        };
        self.failed(why)
    }

    /// Highest memory of the emulator so far, in KiB.
    #[must_use]
    pub fn peak_memory_kib(&self) -> Option<u64> {
        let status = oscost_sys::file::text(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().strip_suffix(" kB")?.trim().parse().ok()
    }
}

/// The kernel's own reason, and the option that is missing where it says so.
fn panic_words(console: &str) -> String {
    let reason =
        console.lines().find_map(|line| line.split_once("Kernel panic - not syncing: ")).map(|found| found.1);
    let reason = reason.unwrap_or("without naming a reason").trim_end();
    let missing = if reason.contains("Unable to mount root fs") {
        " (no initial root? CONFIG_BLK_DEV_INITRD)"
    } else if reason.contains("No working init found") {
        " (programs cannot be run? CONFIG_BINFMT_ELF)"
    } else if reason.contains("Attempted to kill init") {
        " (the program in the guest ended: is --guest-program a build of oscost, and has --cpu-model all that it needs?)"
    } else {
        ""
    };
    format!("the kernel panicked: {reason}{missing}")
}

impl Drop for EmulatedMachine {
    fn drop(&mut self) {
        // It may be gone already; either way it is waited for, so that no zombie stays.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_panic_is_told_with_the_missing_option() {
        let console = "x\nKernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)\ny";
        assert!(panic_words(console).ends_with("(0,0) (no initial root? CONFIG_BLK_DEV_INITRD)"));
        assert_eq!(panic_words("Kernel panic - not syncing: sysrq"), "the kernel panicked: sysrq");
        let killed = "Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000200";
        assert!(panic_words(killed).contains("is --guest-program a build of oscost"));
    }

    #[test]
    fn the_command_line_fixes_the_layout_of_memory() {
        let settings = EmulatorSettings { append: "mitigations=off".into(), ..EmulatorSettings::default() };
        let line = command_line(&X86_64, &settings);
        for word in ["nokaslr", "norandmaps", "clocksource=tsc", "console=ttyS0", " mitigations=off -- "] {
            assert!(line.contains(word), "{line}");
        }
        assert!(!command_line(&AARCH64, &settings).contains("tsc"));
        assert!(cpu(&AARCH64, &settings).ends_with("cntfrq=1000000000"));
    }
}
