//! One status line on a terminal, drawn only between launches. In a pipe there is none.

use std::io::Write;

use oscost_harness::Event;
use oscost_sys::terminal;

/// Puts the cursor at the beginning of its line, and clears that.
const CLEARED: &str = "\r\x1b[K";

/// The line.
pub struct Progress {
    /// Whether there is a line at all, and what is in it.
    shown: bool,
    words: Option<String>,
    launches: u32,
    figures: usize,
}

impl Progress {
    /// A line on standard error, if that is a terminal and `shown`.
    pub fn new(shown: bool) -> Self {
        let shown = shown && terminal::columns_of(&std::io::stderr()).is_some();
        Self { shown, words: None, launches: 0, figures: 0 }
    }

    fn what(&self) -> String {
        let several = if self.figures == 1 { "" } else { "s" };
        format!("measuring {} figure{several}", self.figures)
    }

    /// Shows where the run is.
    pub fn show(&mut self, event: &Event<'_>) {
        match event {
            Event::Planned { figures, launches, .. } => {
                self.figures = *figures;
                self.launches = *launches;
            }
            Event::Phase(phase) => self.draw(format!("{}: {phase}", self.what())),
            Event::Launching { pass, group, left_ns, most_ns } => {
                let [left, most] = [left_ns, most_ns].map(|ns| ns / 1_000_000_000);
                let of = if *pass <= self.launches {
                    format!("launch {pass} of {}", self.launches)
                } else {
                    format!("launch {pass}, for what has not converged")
                };
                self.draw(format!("{}: {of}, {group} ... about {left} s left, at most {most}", self.what()));
            }
            Event::Found(_) | Event::Warning(_) => {}
        }
    }

    /// Shows these words.
    pub fn draw(&mut self, words: String) {
        if self.shown {
            self.words = Some(words);
            self.put();
        }
    }

    /// Takes the line away.
    pub fn end(&mut self) {
        if self.words.take().is_some() {
            self.put();
        }
    }

    /// Tells something above the line.
    pub fn suspend(&mut self, tell: impl FnOnce()) {
        let words = self.words.clone();
        self.end();
        tell();
        if let Some(words) = words {
            self.draw(words);
        }
    }

    /// What is to be in the line now, as far as there is room: a line that is broken could not be cleared.
    fn put(&self) {
        let mut stream = std::io::stderr();
        let columns = terminal::columns_of(&stream).unwrap_or(0);
        let fits: String =
            self.words.iter().flat_map(|words| words.chars()).take(columns.saturating_sub(1)).collect();
        // Nobody is harmed who does not see it.
        let _ = stream.write_all(format!("{CLEARED}{fits}").as_bytes());
    }
}

/// Whatever ends it, nothing stays of it.
impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}
