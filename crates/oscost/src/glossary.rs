//! Reads GLOSSARY.md, the one source of what words mean.

/// A row of the glossary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The words, as they stand there ("checked", "floor").
    pub words: &'static str,
    /// What they mean.
    pub meaning: &'static str,
    /// What else they may be taken for; empty where nothing is.
    pub beware: &'static str,
}

/// The page; it lies in this crate, so that the package has it.
const PAGE: &str = include_str!("../GLOSSARY.md");

/// Every row, in their order.
pub fn entries() -> impl Iterator<Item = Entry> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| ")).skip(1);
    rows.filter_map(|row| {
        let mut cells = row.trim_end().trim_end_matches('|').splitn(3, " | ");
        let (words, meaning) = (cells.next()?, cells.next()?);
        let beware = cells.next().unwrap_or_default().trim();
        Some(Entry { words: words.trim(), meaning: meaning.trim().trim_end_matches(" |"), beware })
    })
}

/// The words of every row, one by one.
pub fn words() -> impl Iterator<Item = &'static str> {
    entries().flat_map(|entry| entry.words.split(", "))
}

/// The row of a word; case, hyphens and underscores do not matter.
pub fn entry(word: &str) -> Option<Entry> {
    let plain = |text: &str| text.trim().to_lowercase().replace(['-', '_'], " ");
    let wanted = plain(word);
    entries().find(|entry| {
        plain(entry.words) == wanted || entry.words.split(", ").any(|word| plain(word) == wanted)
    })
}

#[cfg(test)]
mod tests {
    use oscost_results::{Mark, Status, Verdict};

    use super::*;

    #[test]
    fn every_row_has_words_and_a_meaning() {
        let count = PAGE.lines().filter(|line| line.starts_with("| ")).count();
        assert_eq!(entries().count(), count - 1, "all but the heads");
        assert!(entries().all(|entry| !entry.words.is_empty() && !entry.meaning.is_empty()));
        assert!(entries().all(|entry| !entry.meaning.contains('|') && !entry.beware.contains('|')));
        assert_eq!(
            entry("NOT_CONVERGED").map(|entry| entry.words),
            entry("not converged").map(|entry| entry.words)
        );
    }

    #[test]
    fn marks_states_verdicts_and_columns_are_words_of_the_glossary() {
        let marks = Mark::ALL.iter().map(|mark| mark.words());
        let states =
            [Status::Measured, Status::Unsupported, Status::Failed, Status::Contradicted, Status::Withdrawn];
        let states = states.iter().map(|status| status.name());
        let verdicts = [Verdict::Checked, Verdict::Contradicted, Verdict::Unchecked].map(Verdict::name);
        let compared = ["slower", "faster", "within", "unclear", "more", "fewer", "equal"];
        let columns =
            ["floor", "typical", "cycles", "interval", "calls", "judged by", "deviation", "throughout"];
        let of_locks = ["class", "owner changes", "blocked", "fairness", "of the ideal", "hand-over"];
        let of_bills = ["price", "together", "instead", "then", "saved"];
        let others = ["literal", "published", "post condition", "asleep", "disturbs", "can show", "skipped"];
        let columns = columns.into_iter().chain(of_locks).chain(of_bills).chain(others);
        for word in marks.chain(states).chain(verdicts).chain(compared).chain(columns) {
            assert!(entry(word).is_some(), "'{word}' is not in GLOSSARY.md");
        }
    }
}
