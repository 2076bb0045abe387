//! qemu's log of executed instructions: one line an instruction while it runs one at a time.
//!
//! A line of `-d exec` is "Trace CPU: HOST [BASE/ADDRESS/FLAGS/CFLAGS] SYMBOL", written before the instruction is executed;
//! `-d cpu` adds lines with all registers, of which the stack pointer is taken.

/// One executed instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceStep {
    /// Its address.
    pub address: u64,
    /// It is the program's, not the kernel's.
    pub user: bool,
    /// The stack pointer before it; 0 where it was not logged.
    pub stack: u64,
}

/// More instructions are not kept; tests have less memory.
const MOST: usize = if cfg!(test) { 1000 } else { 20_000_000 };

/// The log as it arrives.
#[derive(Debug, Default)]
pub(crate) struct Log {
    path: String,
    rest: Vec<u8>,
    /// At most [`MOST`].
    steps: Vec<TraceStep>,
    /// Why the log is not taken for whole: a line that was not understood, or too many.
    strange: Option<String>,
}

impl Log {
    pub(crate) fn at(path: String) -> Self {
        Self { path, ..Self::default() }
    }

    /// Where qemu is to write.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let Some(end) = self.rest.iter().rposition(|&byte| byte == b'\n') else { return };
        let lines: Vec<u8> = self.rest.drain(..=end).collect();
        for line in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            self.line(line);
        }
    }

    fn line(&mut self, line: &[u8]) {
        let text = std::str::from_utf8(line).unwrap_or_default();
        if let Some(step) = step(text) {
            if self.steps.len() == MOST {
                self.strange.get_or_insert_with(|| format!("qemu's log has more than {MOST} instructions"));
                return;
            }
            self.steps.push(step);
        } else if let Some(address) = taken_back(text) {
            // The instruction was found to need its input or output at the end of a block: it is executed again.
            if self.steps.last().is_some_and(|last| last.address == address) {
                self.steps.pop();
            }
        } else if text.starts_with("Stopped execution of TB chain before") {
            // Its line was written, and it was not executed: it comes again.
            self.steps.pop();
        } else if let Some(stack) = stack(text) {
            if let Some(last) = self.steps.last_mut() {
                last.stack = stack;
            }
        } else if text.starts_with("Trace") {
            let line = || text.chars().take(120).collect::<String>();
            self.strange.get_or_insert_with(|| format!("qemu's log has the line '{}'", line()));
        }
    }

    /// Takes all steps so far; what is logged next begins anew.
    ///
    /// # Errors
    /// Why they are not whole: the first line that was not understood, or that there are too many.
    pub(crate) fn take(&mut self) -> Result<Vec<TraceStep>, String> {
        let steps = std::mem::take(&mut self.steps);
        self.strange.take().map_or(Ok(steps), Err)
    }
}

fn step(line: &str) -> Option<TraceStep> {
    let inside = line.strip_prefix("Trace ")?.split_once('[')?.1.split_once(']')?.0;
    let mut parts = inside.split('/');
    let (_, address, flags) = (parts.next()?, parts.next()?, parts.next()?);
    let address = u64::from_str_radix(address, 16).ok()?;
    u64::from_str_radix(flags, 16).ok()?;
    Some(TraceStep { address, user: !is_of_kernel(address), stack: 0 })
}

/// Both x86_64 and aarch64 have the kernel in the upper half.
pub(crate) fn is_of_kernel(address: u64) -> bool {
    address >> 63 == 1
}

/// The stack pointer among the registers: "RSP=" of x86_64, "SP=" of aarch64.
fn stack(line: &str) -> Option<u64> {
    let at = line.find("SP=")?;
    let digits = line[at + 3..].split(' ').next()?;
    u64::from_str_radix(digits, 16).ok()
}

fn taken_back(line: &str) -> Option<u64> {
    let address = line.strip_prefix("cpu_io_recompile: rewound execution of TB to ")?;
    u64::from_str_radix(address.trim().trim_start_matches("0x"), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "Trace 0: 0x7fd088000100 [0000000000000000/ffffffff81c00ef0/18c0c290/ff020201] \n\
                         Trace 0: 0x7fd088000240 [0000000000000000/000055555555aef3/18c0c2b3/ff020201] main\n";

    #[test]
    fn lines_become_steps_in_pieces_of_any_size() {
        let expected = [
            TraceStep { address: 0xffff_ffff_81c0_0ef0, user: false, stack: 0 },
            TraceStep { address: 0x5555_5555_aef3, user: true, stack: 0 },
        ];
        for size in 1..LINES.len() {
            let mut log = Log::default();
            for part in LINES.as_bytes().chunks(size) {
                log.push(part);
            }
            assert_eq!(log.take().expect("understood"), expected);
        }
    }

    #[test]
    fn what_is_executed_again_counts_once() {
        let mut log = Log::default();
        log.push(LINES.as_bytes());
        log.push(b"cpu_io_recompile: rewound execution of TB to 000055555555aef3\n");
        assert_eq!(log.steps.len(), 1);
        log.push(LINES.as_bytes());
        assert_eq!(log.take().expect("understood").len(), 3);
    }

    #[test]
    fn the_stack_pointer_is_taken_from_the_registers() {
        let mut log = Log::default();
        log.push(LINES.as_bytes());
        log.push(b"RAX=0000000000000003 RBX=0000000000000000 RCX=0000000000000000 RDX=0000000000000000\n");
        log.push(b"RSI=0000000000000001 RDI=0000000000000002 RBP=0000000000000004 RSP=00007fffffffe1f8\n");
        log.push(b" X28=0000000000000001 X29=ffff800000000000 X30=ffff800000000001  SP=ffff80000a00be10\n");
        let steps = log.take().expect("understood");
        assert_eq!((steps[0].stack, steps[1].stack), (0, 0xffff_8000_0a00_be10));
    }

    #[test]
    fn what_was_too_long_leaves_nothing_to_who_comes_next() {
        let mut log = Log::default();
        for _ in 0..=MOST / 2 {
            log.push(LINES.as_bytes());
        }
        let why = log.take().expect_err("two more than are kept");
        assert_eq!(why, format!("qemu's log has more than {MOST} instructions"));
        log.push(LINES.as_bytes());
        assert_eq!(log.take().expect("whole").len(), 2);
    }

    #[test]
    fn a_line_that_is_not_understood_is_no_silent_gap() {
        let mut log = Log::default();
        log.push(b"Trace 0: garbage\n");
        assert_eq!(log.take().expect_err("reported"), "qemu's log has the line 'Trace 0: garbage'");
        let mut log = Log::default();
        log.push(b"Trace 0: 0x1 [0/zz/0/0]\n");
        assert!(log.take().is_err());
    }
}
