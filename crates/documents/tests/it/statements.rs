//! The list of statements in contrib/statements/statements.md, and the statements of the program: each is in the other.

use oscost_documents::{ALL, DocumentParameters, Found};

/// Words with single blanks between them.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The sentences of the document of this number that the list has as rows of the program.
fn listed(page: &str, number: &str) -> Vec<String> {
    let of_line = |line: &str| {
        let cells: Vec<&str> = line.strip_prefix("| ")?.split(" | ").collect();
        let [key, words, _, _, place] = cells[..] else { return None };
        (key.split('.').next() == Some(number) && place.starts_with("row")).then(|| plain(words))
    };
    page.lines().filter_map(of_line).collect()
}

#[test]
fn every_sentence_that_the_list_has_as_a_row_is_one_and_no_other_is() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contrib/statements/statements.md");
    let page = std::fs::read_to_string(path).expect("contrib/statements/statements.md");
    for document in ALL {
        let rows = document.judge(&Found::of(&[], &[], &[]), &DocumentParameters::default());
        let theirs = rows.iter().filter(|row| !row.ours);
        let mut stated: Vec<String> = theirs.filter_map(|row| row.statement.as_deref()).map(plain).collect();
        let mut listed = listed(&page, document.founding.number);
        assert!(listed.len() >= 9, "{}: {}", document.founding.name, listed.len());
        stated.sort_unstable();
        listed.sort_unstable();
        assert_eq!(stated, listed, "{}", document.founding.name);
    }
}

#[test]
fn our_own_sentences_stand_beside_theirs() {
    let ours: Vec<(&str, usize)> = ALL
        .iter()
        .map(|document| {
            let rows = document.judge(&Found::of(&[], &[], &[]), &DocumentParameters::default());
            (document.founding.name, rows.iter().filter(|row| row.ours).count())
        })
        .collect();
    assert_eq!(ours, [("tlpi", 0), ("apue", 3), ("grame", 1), ("ostep", 0), ("context-switch", 0)]);
}
