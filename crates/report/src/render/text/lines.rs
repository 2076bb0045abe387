//! Writes lines to a terminal or a pipe: no line is wider than the page.

use std::io::{self, Write};

use super::layout::{beginning, elided, paragraph, wrap};
use super::style::Style;
use crate::blocks::Tone;
use crate::words::width;

/// No page is narrower.
const NARROWEST: usize = 20;

/// Where the lines go, and how wide they may be.
pub(crate) struct Lines<'a> {
    style: Style,
    /// A row of a table is one line.
    cuts: bool,
    out: &'a mut dyn Write,
}

impl<'a> Lines<'a> {
    /// A page of the width of `style`.
    pub fn new(style: &Style, out: &'a mut dyn Write) -> Self {
        Self { style: Style { width: style.width.max(NARROWEST), ..*style }, cuts: false, out }
    }

    /// A page on which no row of a table is broken: of what is too wide the end is left out. Sentences go on in the next line.
    pub fn of_lines(style: &Style, out: &'a mut dyn Write) -> Self {
        Self { cuts: true, ..Self::new(style, out) }
    }

    /// Whether a row of a table is one line.
    pub fn cuts(&self) -> bool {
        self.cuts
    }

    /// Columns of the page.
    pub fn width(&self) -> usize {
        self.style.width
    }

    /// One line, broken where it is wider than the page.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        let text = text.trim_end();
        if width(text) <= self.style.width {
            return writeln!(self.out, "{text}");
        }
        for part in wrap(text, self.style.width) {
            writeln!(self.out, "{part}")?;
        }
        Ok(())
    }

    /// A line of a table: broken where it is wider than the page, or cut.
    pub fn row(&mut self, text: &str) -> io::Result<()> {
        if self.cuts { self.line(&elided(text.trim_end(), self.style.width)) } else { self.line(text) }
    }

    /// One line, cut where it is wider than the page.
    pub fn cut(&mut self, text: &str) -> io::Result<()> {
        self.line(beginning(text, self.style.width))
    }

    /// A paragraph that starts with `first` and goes on `indent` columns from the left.
    pub fn paragraph(&mut self, first: &str, text: &str, indent: usize) -> io::Result<()> {
        for line in paragraph(first, text, indent, self.style.width) {
            self.line(&line)?;
        }
        Ok(())
    }

    /// A paragraph that is broken also where lines are cut: nothing of it may be lost.
    pub fn wrapped(&mut self, text: &str, indent: usize) -> io::Result<()> {
        paragraph("", text, indent, self.style.width).iter().try_for_each(|line| self.line(line))
    }

    /// Whether letters beyond ASCII may be written.
    pub fn unicode(&self) -> bool {
        self.style.unicode
    }

    /// A line of parts, some of them set off. It fits, because its maker knows the width.
    pub fn emphasised(&mut self, parts: &[(String, bool)]) -> io::Result<()> {
        let painted = parts.iter().map(
            |(text, is_set_off)| {
                if *is_set_off { self.style.set_off(text) } else { text.clone() }
            },
        );
        writeln!(self.out, "{}", painted.collect::<String>().trim_end())
    }

    /// A line in which `word` stands in the colour of its meaning.
    pub fn verdict(&mut self, before: &str, word: &str, tone: Tone, after: &str) -> io::Result<()> {
        let room = self.style.width.saturating_sub(width(before) + width(word));
        if width(after) > room {
            return self.line(&format!("{before}{word}{after}"));
        }
        writeln!(self.out, "{}", format!("{before}{}{after}", self.style.paint(word, tone)).trim_end())
    }
}
