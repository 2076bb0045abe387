//! Lines on their way to a terminal or a pipe: none is wider than the page.

use std::io::{self, Write};

use crate::layout::{paragraph, width, wrap};
use crate::style::{Style, Tone};

/// No page is narrower.
const NARROWEST: usize = 20;

/// Where the lines go, and how wide they may be.
pub(crate) struct Page<'a> {
    style: Style,
    out: &'a mut dyn Write,
}

impl<'a> Page<'a> {
    /// A page of the width of `style`.
    pub fn new(style: &Style, out: &'a mut dyn Write) -> Self {
        Self { style: Style { width: style.width.max(NARROWEST), ..*style }, out }
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

    /// A paragraph that starts with `first` and goes on `indent` columns from the left.
    pub fn paragraph(&mut self, first: &str, text: &str, indent: usize) -> io::Result<()> {
        for line in paragraph(first, text, indent, self.style.width) {
            self.line(&line)?;
        }
        Ok(())
    }

    /// A line in which `word` stands in the colour of its meaning.
    pub fn verdict(&mut self, before: &str, word: &str, tone: Tone, after: &str) -> io::Result<()> {
        if width(before) + width(word) + width(after) > self.style.width {
            return self.line(&format!("{before}{word}{after}"));
        }
        writeln!(self.out, "{}", format!("{before}{}{after}", self.style.paint(word, tone)).trim_end())
    }

    /// A paragraph that begins with a coloured word and goes on `indent` columns from the left.
    pub fn told(
        &mut self,
        before: &str,
        word: &str,
        tone: Tone,
        text: &str,
        indent: usize,
    ) -> io::Result<()> {
        let lines = paragraph(before, &format!("{word}{text}"), indent, self.style.width);
        for (index, line) in lines.iter().enumerate() {
            match line.strip_prefix(before).and_then(|rest| rest.strip_prefix(word)) {
                Some(rest) if index == 0 => self.verdict(before, word, tone, rest)?,
                _ => self.line(line)?,
            }
        }
        Ok(())
    }
}
