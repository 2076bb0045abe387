//! Boots one kernel several times with the same plan, in parallel, and collects the guests' answers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use crate::Error;
use crate::emulator::{self, EmulatedMachine, EmulatorSettings};
use crate::image::Image;
use crate::load::Load;
use crate::message::{CountPlan, CountRow, Hello, PLAN, Said};
use crate::program::GuestProgram;

/// What is to be counted, where, by which program.
#[derive(Debug, Clone, Copy)]
pub struct BootRequest<'a> {
    /// The kernel.
    pub image: &'a Image,
    /// The program in the guest.
    pub program: &'a GuestProgram,
    /// More files for the guest: path and content.
    pub files: &'a [(String, Vec<u8>)],
    /// How the machine is emulated.
    pub settings: &'a EmulatorSettings,
    /// Ids in the order in which they are counted.
    pub ids: &'a [String],
    /// Operations counted one by one.
    pub operations: u32,
    /// Whether the audit counts system calls too.
    pub audit: bool,
    /// Iterations that are followed instruction by instruction; 0: none.
    pub followed: u32,
}

/// What one guest said.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Booted {
    /// Facts of the guest.
    pub hello: Hello,
    /// A row an id, in the order of the plan.
    pub rows: Vec<CountRow>,
    /// From the start of the emulator to the first word of the guest.
    pub boot: Duration,
    /// From the start of the emulator to the last word.
    pub whole: Duration,
    /// Highest memory of the emulator, KiB.
    pub peak_memory_kib: Option<u64>,
}

impl BootRequest<'_> {
    /// What its machines are started with.
    ///
    /// # Errors
    /// Where the program is not for the kernel's machine, or a call fails.
    pub(crate) fn load(&self) -> Result<Load, Error> {
        if self.program.architecture != self.image.architecture {
            return Err(Error::File {
                path: self.image.path.clone(),
                why: format!(
                    "is a kernel for {}, and the program for the guest is one for {}: name one by --guest-program",
                    self.image.architecture, self.program.architecture
                ),
            });
        }
        let plan = CountPlan {
            ids: self.ids.to_vec(),
            operations: self.operations,
            audit: self.audit,
            followed: self.followed,
            line: emulator::line(self.image.architecture).to_owned(),
        };
        let plan = serde_json::to_vec(&plan).unwrap_or_default();
        let files: Vec<(String, Vec<u8>)> =
            self.files.iter().cloned().chain([(PLAN.to_owned(), plan)]).collect();
        Load::new(self.image, &self.program.archive(&files))
    }

    /// Boots one machine for each seed, at the same time. To be called from the main thread: machines die with it.
    ///
    /// # Errors
    /// The first machine's that fails; the others are ended.
    pub fn boot(&self, seeds: &[u32], interrupted: &AtomicBool) -> Result<Vec<Booted>, Error> {
        let load = self.load()?;
        let machines: Vec<EmulatedMachine> = seeds
            .iter()
            .map(|&seed| {
                let settings = EmulatorSettings { seed, ..self.settings.clone() };
                EmulatedMachine::start(self.image, &load, &settings, false)
            })
            .collect::<Result<_, _>>()?;
        drop(load);
        let failed = &AtomicBool::new(false);
        let stops = &[interrupted, failed];
        let mut heard: Vec<Result<Booted, Error>> = std::thread::scope(|scope| {
            let heard: Vec<_> = machines
                .into_iter()
                .map(|machine| scope.spawn(move || or_stop_others(hear(machine, stops), failed)))
                .collect();
            heard.into_iter().map(joined).collect()
        });
        // Whoever was ended by another's error is not the cause.
        heard.sort_by_key(|one| matches!(one, Err(Error::Interrupted)));
        heard.into_iter().collect()
    }
}

/// What the thread of a machine came to.
pub(crate) fn joined<T>(thread: ScopedJoinHandle<'_, Result<T, Error>>) -> Result<T, Error> {
    thread.join().unwrap_or_else(|_| Err(Error::guest("listening to the guest failed")))
}

/// What a machine came to; an error ends those that were started beside it, as their counts would be for nothing.
pub(crate) fn or_stop_others<T>(came: Result<T, Error>, failed: &AtomicBool) -> Result<T, Error> {
    if came.is_err() {
        failed.store(true, Ordering::Relaxed);
    }
    came
}

/// Everything that one guest says, until it has said it or one of `stops` is set.
pub(crate) fn hear(mut machine: EmulatedMachine, stops: &[&AtomicBool]) -> Result<Booted, Error> {
    let Said::Hello(hello) = machine.next(stops)? else {
        return Err(machine.failed("the guest did not say who it is".to_owned()));
    };
    let boot = machine.answered.unwrap_or_else(Instant::now) - machine.started;
    let mut rows = Vec::new();
    loop {
        match machine.next(stops)? {
            Said::Row(row) => rows.push(*row),
            Said::End => {
                let peak_memory_kib = machine.peak_memory_kib();
                return Ok(Booted {
                    hello: *hello,
                    rows,
                    boot,
                    whole: machine.started.elapsed(),
                    peak_memory_kib,
                });
            }
            Said::Broken(why) => return Err(machine.failed(format!("the guest cannot count: {why}"))),
            Said::Hello(_) => return Err(machine.failed("the guest began anew".to_owned())),
        }
    }
}
