//! What a report writes, as text.

use oscost_report::{Named, RowChoice, Style, page, price_list};
use oscost_results::RunResult;

pub fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// What a text has to say, and what not.
pub trait Says {
    #[track_caller]
    fn says(&self, words: &str) -> &Self;
    #[track_caller]
    fn lacks(&self, words: &str) -> &Self;
}

impl Says for str {
    fn says(&self, words: &str) -> &Self {
        assert!(self.contains(words), "{words:?} is not said: {self}");
        self
    }

    fn lacks(&self, words: &str) -> &Self {
        assert!(!self.contains(words), "{words:?} is said: {self}");
        self
    }
}

/// Without colour.
pub fn style(width: usize, unicode: bool) -> Style {
    Style { width, unicode, colour: false }
}

/// No line is wider than the page, and none is lost: sentences go on in the next.
pub fn fits(shown: impl Fn(usize) -> String) {
    let lines = shown(400).lines().count();
    for width in 20..=200 {
        let text = shown(width);
        assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
        assert!(text.lines().count() >= lines, "{width}:\n{text}");
    }
}

/// On one line, whatever the width.
pub fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The price list of a result.
pub fn listed(result: &RunResult, width: usize, unicode: bool) -> String {
    written(|out| price_list(result, None, RowChoice::default(), &style(width, unicode), out))
}

/// The page of a result.
pub fn paged(result: &RunResult) -> String {
    written(|out| page(&[Named { name: "it", result }], None, out))
}
