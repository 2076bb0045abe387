//! No sentence of a document has more than 30 words. Code blocks, tables and headings are not sentences.

use crate::repository::{files, root};

/// Words that a sentence may have.
const MOST: usize = 30;

/// The text of a list item, without its mark.
fn item(line: &str) -> Option<&str> {
    let unnumbered = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
    unnumbered.or_else(|| {
        let (number, text) = line.split_once(". ")?;
        number.bytes().all(|byte| byte.is_ascii_digit()).then_some(text)
    })
}

/// Paragraphs and list items, each with the number of its first line.
fn paragraphs(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut is_code, mut is_open) = (false, false);
    for (index, line) in text.lines().map(str::trim).enumerate() {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        if is_fence || is_code || line.is_empty() || line.starts_with(['#', '|']) {
            is_open = false;
            continue;
        }
        match (item(line), found.last_mut()) {
            (None, Some((_, paragraph))) if is_open => {
                paragraph.push(' ');
                paragraph.push_str(line);
            }
            (text, _) => found.push((index + 1, text.unwrap_or(line).to_owned())),
        }
        is_open = true;
    }
    found
}

/// A paragraph as it is read: code between backticks is one word, and of a link only its text counts.
fn spoken(paragraph: &str) -> String {
    let parts = paragraph.split('`').enumerate();
    let text: String = parts.map(|(place, part)| if place % 2 == 0 { part } else { "code" }).collect();
    let mut pieces = text.split("](");
    let mut read = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        read.push(']');
        read.push_str(piece.split_once(')').map_or("", |(_, rest)| rest));
    }
    read
}

/// Sentences with more than [`MOST`] words: line, number of words, text.
fn too_long(text: &str) -> Vec<(usize, usize, String)> {
    let mut found = Vec::new();
    for (line, paragraph) in paragraphs(text) {
        let mut sentence: Vec<String> = Vec::new();
        let read = spoken(&paragraph);
        let mut words = read.split_whitespace().peekable();
        while let Some(word) = words.next() {
            if word.contains(char::is_alphanumeric) {
                sentence.push(word.to_owned());
            }
            let bare = word.trim_end_matches(['"', '\'', ')', '*', ']']);
            if bare.ends_with(['.', '!', '?']) || words.peek().is_none() {
                if sentence.len() > MOST {
                    found.push((line, sentence.len(), sentence.join(" ")));
                }
                sentence.clear();
            }
        }
    }
    found
}

#[test]
fn no_sentence_of_a_document_is_longer_than_thirty_words() {
    let (root, files) = (root(), files(&root(), "md"));
    for expected in
        ["README.md", "METHOD.md", "crates/oscost/GLOSSARY.md", "contrib/statements/statements.md"]
    {
        assert!(files.contains(&root.join(expected)), "{expected} was not found: {files:?}");
    }
    let mut found = String::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a document");
        for (line, words, sentence) in too_long(&text) {
            found += &format!("{}:{line}: {words} words: {sentence}\n", file.display());
        }
    }
    assert!(found.is_empty(), "longer than {MOST} words:\n{found}");
}

/// A sentence of this many words.
fn planted(words: usize) -> String {
    format!("{}end.", "word ".repeat(words - 1))
}

#[test]
fn a_planted_sentence_is_found() {
    let lengths = |text: &str| -> Vec<(usize, usize)> {
        too_long(text).into_iter().map(|(line, words, _)| (line, words)).collect()
    };
    let (most, long) = (planted(MOST), planted(MOST + 1));
    assert_eq!(lengths(&most), [], "as long as it may be");
    assert_eq!(lengths(&format!("# A title\n\n{most} {long}\n")), [(3, 31)]);
    assert_eq!(lengths(&format!("{most}\n{most}")), [], "two sentences of one paragraph");
    assert_eq!(lengths(&format!("- short\n- {long}")), [(2, 31)], "an item of a list");
    assert_eq!(
        lengths(&format!("1. {}\n   {long}", "no end")),
        [(1, 33)],
        "an item goes on in the next line"
    );
    assert_eq!(lengths(&format!("(See the section {long})")), [(1, 34)], "no full stop before the bracket");
    assert_eq!(lengths(&format!("```\n{long}\n```\n| {long} |\n# {long}")), [], "no sentences");
    assert_eq!(lengths(&format!("`{long}` is code")), [], "code is one word");
    let linked = format!("[{}](a/path.md) {long}", "text");
    assert_eq!(lengths(&linked), [(1, 32)], "an address is not read");
    assert_eq!(lengths(&long.replace("end.", "1.02 end.")), [(1, 32)], "a decimal point ends nothing");
}
