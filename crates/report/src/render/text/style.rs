//! The style of the output: width, letters, colour.

use anstyle::{AnsiColor, Style as Paint};

use crate::blocks::Tone;

/// How a report for a terminal or a pipe is to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal; in a pipe a width of the caller's choice. Fewer than 20 are taken for 20.
    pub width: usize,
    /// Whether letters beyond ASCII may be written: pictures in block characters, `±`, names as they are.
    pub unicode: bool,
    /// Whether verdicts are coloured. The words alone say the same.
    pub colour: bool,
}

impl Style {
    /// `word` in the colour of its meaning.
    pub(crate) fn paint(&self, word: &str, tone: Tone) -> String {
        if !self.colour {
            return word.to_owned();
        }
        let colour = match tone {
            Tone::Good => AnsiColor::Green,
            Tone::Doubt => AnsiColor::Yellow,
            Tone::Bad => AnsiColor::Red,
            Tone::Neutral => return word.to_owned(),
        };
        let paint = Paint::new().fg_color(Some(colour.into()));
        format!("{paint}{word}{paint:#}")
    }

    /// `word` in bold, where colours are used.
    pub(crate) fn set_off(&self, word: &str) -> String {
        let paint = Paint::new().bold();
        if self.colour { format!("{paint}{word}{paint:#}") } else { word.to_owned() }
    }
}
