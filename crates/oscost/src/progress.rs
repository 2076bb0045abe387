//! One status line on a terminal, drawn only between launches. In a pipe there is none.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use oscost_harness::Event;

/// The line.
pub struct Progress {
    bar: ProgressBar,
    launches: u32,
    figures: usize,
}

impl Progress {
    /// A line on standard error, if that is a terminal and `shown`.
    pub fn new(shown: bool) -> Self {
        let bar = ProgressBar::no_length();
        let target = if shown && std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        bar.set_draw_target(target);
        // No spinner and no ticks: a redraw while a launch runs would disturb it.
        if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
            bar.set_style(style);
        }
        Self { bar, launches: 0, figures: 0 }
    }

    /// Shows where the run is.
    pub fn show(&mut self, event: &Event<'_>) {
        match event {
            Event::Planned { figures, launches, .. } => {
                self.figures = *figures;
                self.launches = *launches;
            }
            Event::Phase(phase) => self.draw(format!("measuring {} figures: {phase}", self.figures)),
            Event::Launching { pass, group, left_ns } => {
                let left = left_ns / 1_000_000_000;
                let of = if *pass <= self.launches {
                    format!("launch {pass} of {}", self.launches)
                } else {
                    format!("launch {pass}, for what has not converged")
                };
                self.draw(format!(
                    "measuring {} figures: {of}, {group} ... at most {left} s left",
                    self.figures
                ));
            }
            Event::Found(_) | Event::Warning(_) => {}
        }
    }

    /// Shows these words.
    pub fn draw(&self, words: String) {
        self.bar.set_message(words);
        self.bar.force_draw();
    }

    /// Takes the line away.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }

    /// Tells something above the line.
    pub fn suspend(&self, tell: impl FnOnce()) {
        self.bar.suspend(tell);
    }
}
