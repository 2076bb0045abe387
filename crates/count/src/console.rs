//! The guest's console: keeps its last lines, without terminal control characters.

/// Lines that are shown when a guest gives no result.
const LINES: usize = 12;
/// What is kept of a console, in bytes.
const KEPT: usize = 64 << 10;

/// The end of a console.
#[derive(Debug, Default)]
pub(crate) struct Console {
    bytes: Vec<u8>,
}

impl Console {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let excess = self.bytes.len().saturating_sub(2 * KEPT);
        if excess > 0 {
            self.bytes.drain(..self.bytes.len() - KEPT);
        }
    }

    /// Everything that is kept, as text.
    pub(crate) fn text(&self) -> String {
        harmless(&String::from_utf8_lossy(&self.bytes))
    }

    /// The last lines that are not empty. What a kernel prints after the reason of its panic is left out.
    pub(crate) fn last_lines(&self) -> Vec<String> {
        let text = self.text();
        let mut lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        if let Some(panic) = lines.iter().position(|line| line.contains("Kernel panic - not syncing")) {
            lines.truncate(panic + 1);
        }
        lines[lines.len().saturating_sub(LINES)..]
            .iter()
            .map(|line| line.chars().take(160).collect())
            .collect()
    }

    /// Whether the kernel has given up.
    pub(crate) fn panicked(&self) -> bool {
        let text = String::from_utf8_lossy(&self.bytes);
        // The last line of a panic: what came before it has arrived then.
        text.contains("---[ end Kernel panic")
    }
}

/// Text without escape sequences and control characters; lines stay.
fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => {
                if letters.peek() == Some(&'[') {
                    letters.next();
                    while letters.next_if(|next| !('@'..='~').contains(next)).is_some() {}
                }
                letters.next();
            }
            '\n' => out.push('\n'),
            '\t' => out.push(' '),
            letter if letter.is_control() => {}
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_dropped_and_lines_kept() {
        assert_eq!(harmless("\u{1b}c\u{1b}[?7l\u{1b}[2Jone\r\ntwo\u{7}\tthree"), "one\ntwo three");
        let mut console = Console::default();
        for line in 0..40 {
            console.push(format!("line {line}\r\n\r\n").as_bytes());
        }
        let lines = console.last_lines();
        assert_eq!((lines.len(), lines[0].as_str(), lines[11].as_str()), (12, "line 28", "line 39"));
        assert!(!console.panicked());
        console.push(b"[1.0] Kernel panic - not syncing: No working init found.\n[1.1] RAX: 0000\n");
        assert!(!console.panicked(), "the last words are still to come");
        console.push(b"---[ end Kernel panic - not syncing: No working init found. ]---");
        assert!(console.panicked());
        let lines = console.last_lines();
        assert_eq!((lines.len(), lines[11].ends_with("No working init found.")), (12, true), "{lines:?}");
    }

    #[test]
    fn a_console_without_end_fills_no_memory() {
        let mut console = Console::default();
        for _ in 0..100 {
            console.push(&[b'x'; 10_000]);
        }
        assert!(console.bytes.len() <= 2 * KEPT);
    }
}
