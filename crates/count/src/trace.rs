//! Traces single instructions from outside: cuts qemu's log into operations, and names the functions.
//!
//! docs/method/counts.md. The debugger's line stops the machine at the marks; in between qemu executes one instruction a block, and
//! writes the address of each into a pipe. Nothing stops in between: a stopped machine goes on with its timer's next tick.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use oscost_results::FunctionNode;
use oscost_sys::guest::{MARKS, QUIET_MARK};

use crate::Error;
use crate::boot::{BootRequest, Booted, hear, joined, or_stop_others};
use crate::emulator::{EmulatedMachine, EmulatorSettings};
use crate::gdb::{self, Registers};
use crate::instruction::{self, Kind, LONGEST};
use crate::log::{TraceStep, is_of_kernel};
use crate::message::mark;
use crate::symbols::{self, Symbol, SymbolPlace, Symbols};
use crate::tree::{Builder, Facts};
use crate::unusual::{self, Unusual};

/// A text that a guest shows is never longer.
const MOST_TEXT: u64 = 64 << 20;
/// Addresses closer than this are read as one piece of memory.
const NEAR: u64 = 256;

/// What was seen of one id between its marks.
#[derive(Debug)]
#[non_exhaustive]
pub struct Followed {
    /// The id.
    pub id: String,
    /// Iterations of the batch.
    pub iterations: u64,
    /// Instructions of each whole iteration, in order.
    pub each: Vec<u64>,
    /// Instructions from the reading of the clock before the batch to the one behind it.
    pub between_readings: Option<u64>,
    /// The tree of one iteration; why there is none.
    pub functions: Result<Vec<FunctionNode>, String>,
    /// Iterations that took another number, and in which functions.
    pub unusual: Vec<Unusual>,
}

/// Boots two machines at the same time: one that counts, and one in which the same ids are followed instruction by
/// instruction. To be called from the main thread: machines die with it.
///
/// # Errors
/// Where a machine cannot be started, followed, or ends; the other is ended.
pub fn count_and_follow(
    request: &BootRequest<'_>,
    seed: u32,
    interrupted: &AtomicBool,
) -> Result<Both, Error> {
    let load = request.load()?;
    let start = |seed, followed| {
        let settings = EmulatorSettings { seed, ..request.settings.clone() };
        EmulatedMachine::start(request.image, &load, &settings, followed)
    };
    let (counts, mut machine) = (start(seed, false)?, start(seed.wrapping_add(1), true)?);
    let failed = &AtomicBool::new(false);
    let stops = &[interrupted, failed];
    std::thread::scope(|scope| {
        let counted = scope.spawn(move || or_stop_others(hear(counts, stops), failed));
        let mut session = Session {
            machine: &mut machine,
            stops,
            architecture: request.image.architecture,
            registers: Registers::of(request.image.architecture),
            one_by_one: None,
        };
        let followed = session.run(request).and_then(|followed| Ok((hear(machine, stops)?, followed)));
        let followed = or_stop_others(followed, failed);
        match (joined(counted), followed) {
            (Ok(counted), Ok((stopped, followed))) => Ok(Both { counted, stopped, followed }),
            // Whoever was ended by the other's error is not the cause.
            (Err(Error::Interrupted), Err(cause)) | (Err(cause), _) | (_, Err(cause)) => Err(cause),
        }
    })
}

/// What two machines said, one of which was followed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Both {
    /// The machine that nobody stopped.
    pub counted: Booted,
    /// The machine that was followed: stops move its time.
    pub stopped: Booted,
    /// What was seen there, id by id.
    pub followed: Vec<Followed>,
}

struct Session<'a> {
    machine: &'a mut EmulatedMachine,
    stops: &'a [&'a AtomicBool],
    architecture: &'static str,
    registers: Registers,
    /// The monitor's command for one instruction a block: its name has changed.
    one_by_one: Option<&'static str>,
}

impl Session<'_> {
    fn run(&mut self, request: &BootRequest<'_>) -> Result<Vec<Followed>, Error> {
        self.ask("?")?;
        self.expect(&self.breakpoint('Z', MARKS), "OK")?;
        // Steps over a breakpoint: no interrupts, no timers.
        self.expect("Qqemu.sstep=7", "OK")?;
        let (mut kallsyms, mut maps, mut vdso) = (String::new(), String::new(), None);
        let mut followed = Vec::new();
        self.ask("c")?;
        loop {
            let [kind, number, other] = self.arguments()?;
            match kind {
                mark::KERNEL => kallsyms = self.text(number, other)?,
                mark::MAPS => {
                    maps = self.text(number, other)?;
                    vdso = self.vdso(&maps)?;
                }
                mark::BEGIN | mark::BEGIN_TOGETHER => {
                    let symbols = Symbols::new(&kallsyms, &maps, request.program, vdso.as_deref());
                    let id = usize::try_from(number).ok().and_then(|index| request.ids.get(index));
                    let id = id.cloned().ok_or_else(|| self.failed("a mark of no id"))?;
                    let together = kind == mark::BEGIN_TOGETHER;
                    followed.push(self.operations(id, other, together, &symbols)?);
                }
                mark::LAST => break,
                _ => {}
            }
            self.go_on()?;
        }
        // Nothing is watched any more.
        self.expect(&self.breakpoint('z', MARKS), "OK")?;
        self.send("D")?;
        Ok(followed)
    }

    /// From the mark at which the operations begin to the one at which they have ended.
    fn operations(
        &mut self,
        id: String,
        iterations: u64,
        together: bool,
        symbols: &Symbols,
    ) -> Result<Followed, Error> {
        self.log(if together { "exec,cpu,nochain" } else { "exec,nochain" })?;
        self.go_on()?;
        if self.arguments()?[0] != mark::END {
            return Err(self.failed("the operations did not end where they should"));
        }
        self.log("none")?;
        self.machine.drain_log()?;
        let steps = self.machine.log.take().and_then(between_marks);
        // An id without a tree has its count, and takes nothing from the others.
        let (steps, lacks) = steps.map_or_else(|why| (Vec::new(), Some(why)), |steps| (steps, None));
        let code = self.code(&steps)?;
        let switching = ["__switch_to_asm", "cpu_switch_to"];
        let switching = switching.iter().find_map(|name| symbols.kernel_function(name));
        let mut followed = read(id, iterations, &steps, symbols, &code, switching);
        if let Some(why) = lacks {
            followed.functions = Err(why);
        }
        Ok(followed)
    }

    /// Has qemu execute one instruction a block and log each, or go on at its own speed ("none").
    fn log(&mut self, what: &str) -> Result<(), Error> {
        const COMMANDS: [&str; 2] = ["one-insn-per-tb", "singlestep"];
        let word = if what == "none" { "off" } else { "on" };
        match self.one_by_one {
            Some(command) => {
                self.monitor(&format!("{command} {word}"))?;
            }
            None => {
                for command in COMMANDS {
                    if self.monitor(&format!("{command} {word}"))?.is_empty() {
                        self.one_by_one = Some(command);
                        break;
                    }
                }
                if self.one_by_one.is_none() {
                    return Err(self.failed("this qemu cannot execute single instructions"));
                }
                let path = self.machine.log.path().to_owned();
                self.monitor(&format!("logfile {path}"))?;
            }
        }
        let words = self.monitor(&format!("log {what}"))?;
        if words.is_empty() {
            Ok(())
        } else {
            Err(self.failed(&format!("qemu does not log: {}", words.trim())))
        }
    }

    /// Leaves the place where the machine stands, and waits until it stops again.
    fn go_on(&mut self) -> Result<(), Error> {
        self.ask("s")?;
        self.ask("c").map(|_| ())
    }

    fn breakpoint(&self, verb: char, address: u64) -> String {
        format!("{verb}1,{address:x},{}", if self.architecture == "aarch64" { 4 } else { 1 })
    }

    fn send(&mut self, content: &str) -> Result<(), Error> {
        match &mut self.machine.debugger {
            Some(line) => line.send(content).map_err(|broken| self.failed(&broken.0)),
            None => Err(self.failed("there is no line for a debugger")),
        }
    }

    /// The answer to a packet.
    fn ask(&mut self, content: &str) -> Result<String, Error> {
        self.send(content)?;
        self.answer()
    }

    fn answer(&mut self) -> Result<String, Error> {
        let until = self.machine.until();
        loop {
            if let Some(line) = &mut self.machine.debugger {
                match line.next() {
                    Ok(Some(answer)) => return Ok(answer),
                    Ok(None) => {}
                    Err(broken) => return Err(self.failed(&broken.0)),
                }
            }
            self.machine.listen(self.stops, until)?;
        }
    }

    fn expect(&mut self, content: &str, wanted: &str) -> Result<(), Error> {
        let answer = self.ask(content)?;
        if answer == wanted {
            Ok(())
        } else {
            Err(self.failed(&format!("qemu answers '{answer}' to '{content}'")))
        }
    }

    /// What qemu's monitor says to a command.
    fn monitor(&mut self, command: &str) -> Result<String, Error> {
        let mut answer = self.ask(&format!("qRcmd,{}", gdb::digits_of(command)))?;
        let mut words = String::new();
        loop {
            match answer.strip_prefix('O') {
                Some("K") => return Ok(words),
                Some(more) => {
                    words.push_str(&String::from_utf8_lossy(&gdb::bytes_of(more).unwrap_or_default()))
                }
                None if answer.is_empty() => {
                    return Err(self.failed("this qemu has no monitor for a debugger"));
                }
                None => return Ok(answer),
            }
            answer = self.answer()?;
        }
    }

    fn register_bytes(&mut self) -> Result<Vec<u8>, Error> {
        let answer = self.ask("g")?;
        gdb::bytes_of(&answer).ok_or_else(|| self.failed("qemu shows no registers"))
    }

    fn arguments(&mut self) -> Result<[u64; 3], Error> {
        let bytes = self.register_bytes()?;
        let [a, b, c] = self.registers.arguments.map(|offset| gdb::register(&bytes, offset));
        match (a, b, c) {
            (Some(a), Some(b), Some(c)) => Ok([a, b, c]),
            _ => Err(self.failed("qemu shows no registers")),
        }
    }

    /// Memory of the machine as its processor sees it now; shorter where a page is missing.
    fn memory(&mut self, address: u64, length: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        for (from, length) in gdb::pieces(address, length) {
            let answer = self.ask(&format!("m{from:x},{length:x}"))?;
            match gdb::bytes_of(&answer) {
                Some(piece) if !piece.is_empty() => bytes.extend_from_slice(&piece),
                _ => break,
            }
        }
        Ok(bytes)
    }

    fn text(&mut self, address: u64, length: u64) -> Result<String, Error> {
        let bytes = self.memory(address, length.min(MOST_TEXT))?;
        if bytes.len() as u64 != length {
            return Err(self.failed("the guest's memory cannot be read"));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The code that the kernel gives every process.
    fn vdso(&mut self, maps: &str) -> Result<Option<Vec<u8>>, Error> {
        let found = symbols::mappings(maps).into_iter().find(|mapping| mapping.path == "[vdso]");
        match found {
            Some(mapping) => self.memory(mapping.start, mapping.end - mapping.start).map(Some),
            None => Ok(None),
        }
    }

    /// The bytes of every instruction that was executed.
    fn code(&mut self, steps: &[TraceStep]) -> Result<BTreeMap<u64, Kind>, Error> {
        let addresses: BTreeSet<u64> = steps.iter().map(|step| step.address).collect();
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for &address in &addresses {
            match ranges.last_mut() {
                Some((_, end)) if address < *end + NEAR => *end = address + LONGEST,
                _ => ranges.push((address, address + LONGEST)),
            }
        }
        let mut memory: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        let registers = self.enter_kernel()?;
        for (start, end) in ranges {
            memory.insert(start, self.memory(start, end - start)?);
        }
        if let Some(registers) = registers {
            self.expect(&gdb::set_registers(&registers), "OK")?;
        }
        let kind = |&address: &u64| {
            let (start, bytes) = memory.range(..=address).next_back()?;
            let code = bytes.get(usize::try_from(address - start).ok()?..)?;
            Some((address, instruction::kind(self.architecture, code)))
        };
        let kinds: BTreeMap<u64, Kind> = addresses.iter().filter_map(kind).collect();
        // Without its code nothing tells a call from a return.
        let hidden = addresses.iter().any(|address| is_of_kernel(*address) && !kinds.contains_key(address));
        if hidden {
            let words = if self.architecture == "aarch64" { "kpti=off" } else { "nopti" };
            return Err(self.failed(&format!("its kernel hides its code from programs (--append {words})")));
        }
        Ok(kinds)
    }

    /// Where a processor in user mode does not see the kernel's memory: puts the standing machine into the kernel's mode. The
    /// registers that it had.
    fn enter_kernel(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let Some(state) = self.registers.state else { return Ok(None) };
        let bytes = self.register_bytes()?;
        let changed = gdb::in_kernel(&bytes, state).ok_or_else(|| self.failed("qemu shows no registers"))?;
        self.expect(&gdb::set_registers(&changed), "OK")?;
        Ok(Some(bytes))
    }

    fn failed(&self, why: &str) -> Error {
        self.machine.failed(format!("the guest cannot be followed: {why}"))
    }
}

/// What is known of the instructions of one trace.
struct Known<'a> {
    symbols: BTreeMap<u64, Symbol>,
    kinds: &'a BTreeMap<u64, Kind>,
    switching: Option<u64>,
}

impl Facts for Known<'_> {
    fn symbol(&self, address: u64) -> &Symbol {
        // Every address of the trace was looked up before.
        &self.symbols[&address]
    }
    fn kind(&self, address: u64) -> Kind {
        self.kinds.get(&address).copied().unwrap_or(Kind::Plain)
    }
    fn switch_function(&self) -> Option<u64> {
        self.switching
    }
}

/// The steps between the first passing of the quiet mark and the last.
fn between_marks(mut steps: Vec<TraceStep>) -> Result<Vec<TraceStep>, String> {
    let is_mark = |step: &TraceStep| step.address == QUIET_MARK;
    let ends = steps.iter().position(is_mark).zip(steps.iter().rposition(is_mark));
    let (first, last) = ends.filter(|(first, last)| first < last).ok_or("qemu's log lacks the marks")?;
    steps.truncate(last);
    Ok(steps.split_off(first))
}

/// Cuts a trace into iterations, and makes the tree of one.
fn read(
    id: String,
    iterations: u64,
    steps: &[TraceStep],
    symbols: &Symbols,
    kinds: &BTreeMap<u64, Kind>,
    switching: Option<u64>,
) -> Followed {
    let mut known = BTreeMap::new();
    for step in steps {
        known.entry(step.address).or_insert_with(|| symbols.find(step.address));
    }
    let facts = Known { symbols: known, kinds, switching };
    let heads = heads(steps, iterations, &facts);
    let each: Vec<u64> = heads.windows(2).map(|pair| (pair[1] - pair[0]) as u64).collect();
    let tree = |iteration: usize| {
        let mut builder = Builder::new(&facts);
        for (index, &step) in steps.iter().enumerate() {
            builder.step(step, (heads[iteration]..heads[iteration + 1]).contains(&index));
        }
        builder.finish()
    };
    // The first iteration teaches who waits where; of the whole ones behind it, one that takes what most take.
    let usual = |wanted: &usize| each.iter().filter(|&&other| other == each[*wanted]).count();
    let chosen = (1..each.len()).rev().max_by_key(usual);
    let (functions, unusual) = match chosen.map(|chosen| (tree(chosen), each[chosen])) {
        Some((functions, usual)) => {
            let unusual = unusual::find(&each, usual, &functions, &tree);
            (Ok(functions), unusual)
        }
        None => (Err("its iterations cannot be told apart in the trace".to_owned()), Vec::new()),
    };
    let between_readings = between_readings(steps, &facts);
    Followed { id, iterations, each, between_readings, functions, unusual }
}

/// Where each iteration begins: the first instruction of the program that is executed once in each, and in no other place.
fn heads(steps: &[TraceStep], iterations: u64, facts: &Known<'_>) -> Vec<usize> {
    let mut times: BTreeMap<u64, u64> = BTreeMap::new();
    for step in steps.iter().filter(|step| step.user) {
        *times.entry(step.address).or_default() += 1;
    }
    let head = steps.iter().find(|step| {
        step.user
            && times.get(&step.address) == Some(&iterations)
            && facts.symbols[&step.address].place == SymbolPlace::Program
    });
    let Some(head) = head else { return Vec::new() };
    steps
        .iter()
        .enumerate()
        .filter(|(_, step)| step.address == head.address)
        .map(|(index, _)| index)
        .collect()
}

/// Instructions from the program's first reading of the clock to its last: what the guest's own clock showed.
fn between_readings(steps: &[TraceStep], facts: &Known<'_>) -> Option<u64> {
    let reads = |step: &TraceStep| {
        step.user
            && facts.kind(step.address) == Kind::Clock
            && facts.symbols[&step.address].place == SymbolPlace::Program
    };
    let (first, last) = (steps.iter().position(reads)?, steps.iter().rposition(reads)?);
    (first < last).then(|| (last - first) as u64)
}
