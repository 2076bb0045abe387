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

/// The row of a word; case, hyphens and underscores do not matter. Of a column ("usual, kernel") what it begins with.
pub fn entry(word: &str) -> Option<Entry> {
    let plain = |text: &str| text.trim().to_lowercase().replace(['-', '_'], " ");
    let called = |wanted: &str| {
        entries().find(|entry| {
            plain(entry.words) == wanted || entry.words.split(", ").any(|word| plain(word) == wanted)
        })
    };
    let wanted = plain(word);
    called(&wanted).or_else(|| called(wanted.split_once(", ")?.0))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

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

    /// The sources of the views, without their tests.
    fn views(folder: &Path, all: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                views(&path, all);
            } else {
                let text = std::fs::read_to_string(path).expect("a source");
                all.extend(text.split("#[cfg(test)]").next().map(str::to_owned));
            }
        }
    }

    /// Headings of columns: in lists of heads, and beside the place where the cells of one stand.
    fn heads(source: &str) -> BTreeSet<&str> {
        let mut heads = BTreeSet::new();
        for place in ["Left)", "Right)", "Spare)", "Below)"] {
            let before = source.split(place).map(|text| text.trim_end_matches("Place::"));
            let head = before.filter_map(|text| text.strip_suffix("\", ")?.rsplit('"').next());
            heads.extend(head);
        }
        for (start, end) in [("heads =", ';'), ("HEADS:", ';'), ("heads.extend(", ';'), ("Table::new([", ']')]
        {
            for list in source.split(start).skip(1).filter_map(|list| list.split(end).next()) {
                let texts = list.split('"').skip(1).step_by(2).filter(|text| !text.contains('{'));
                heads.extend(texts.flat_map(|text| text.split('|')));
            }
        }
        heads
    }

    /// `oscost explain` promises every column: a new one needs a word here.
    #[test]
    fn every_column_of_a_view_is_a_word() {
        let mut sources = Vec::new();
        views(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../report/src/view")), &mut sources);
        let all: BTreeSet<&str> = sources.iter().flat_map(|text| heads(text)).collect();
        assert!(all.len() > 80, "{all:?}");
        assert!(["change", "of the tick", "odd", "efficiency"].iter().all(|it| all.contains(it)), "{all:?}");
        let is_quantity = |head: &str| {
            oscost_results::quantity::ALL.iter().any(|known| known.name == head.replace(' ', "_"))
        };
        // "lock" is a family.
        let is_known = |head: &str| entry(head).is_some() || is_quantity(head) || head == "lock";
        // "99 %" is a number, "literal here" is literal.
        let is_number = |head: &str| head.starts_with(|first: char| first.is_ascii_digit());
        let plain =
            |head: &str| head.trim_end_matches(" in all").trim_end_matches(" here").replace("store: ", "");
        let unknown: Vec<&&str> = all
            .iter()
            .filter(|head| !head.is_empty() && !is_number(head) && !is_known(head) && !is_known(&plain(head)))
            .collect();
        assert!(unknown.is_empty(), "GLOSSARY.md has no word for the columns {unknown:?}");
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
        let labels =
            ["priced", "shape", "path", "counted inside", "not got", "worst", "left out", "differ", "vary"];
        let others = ["literal", "published", "post condition", "asleep", "disturbs", "can show", "skipped"];
        let columns = columns.into_iter().chain(of_locks).chain(of_bills).chain(labels).chain(others);
        for word in marks.chain(states).chain(verdicts).chain(compared).chain(columns) {
            assert!(entry(word).is_some(), "'{word}' is not in GLOSSARY.md");
        }
    }
}
