//! Links from the head of a document's section to each of its tables and figures, by the document's own numbers.

use std::collections::BTreeMap;

use crate::blocks::{Entry, Mark, Part, View};

/// Kinds of what a document numbers, as its titles here begin.
const KINDS: [&str; 2] = ["Table", "Figure"];
/// Most numbers of one range: a result that says more has no document behind it.
const MOST: u32 = 100;
/// Most letters of what a line of the list says of its place.
const ABOUT: usize = 72;

/// Adds marks before the parts that show a numbered table or figure, and the list of all of them before the statements, or below what
/// comes first.
pub(super) fn marked(mut view: View, document: &str) -> View {
    let mut found = BTreeMap::new();
    each(&view, &mut Vec::new(), &mut |path, part| collect(path, part, &mut found));
    let mut places: BTreeMap<Vec<usize>, Vec<Mark>> = BTreeMap::new();
    let mut all: Vec<(Vec<usize>, Entry)> = Vec::new();
    for (number, Spot { path, about, .. }) in found {
        let name = format!("{document}-{}", number.text().to_lowercase().replace([' ', '.'], "-"));
        let mark = Mark { text: number.text(), name };
        places.entry(path.clone()).or_default().push(mark.clone());
        match all.iter_mut().find(|(there, entry)| *there == path && entry.about == about) {
            Some((_, entry)) => entry.marks.push(mark),
            None => all.push((path, Entry { marks: vec![mark], about })),
        }
    }
    let mut all: Vec<Entry> = all.into_iter().map(|(_, entry)| entry).collect();
    if all.is_empty() {
        // The titles of all tables, where the document numbers none.
        let mut titles = Vec::new();
        each(&view, &mut Vec::new(), &mut |path, part| match part {
            Part::Table(table) if !table.title.is_empty() => {
                titles.push((path.to_vec(), table.title.clone()))
            }
            _ => {}
        });
        for (index, (path, title)) in titles.into_iter().enumerate() {
            let mark = Mark { text: short(&title), name: format!("{document}-table-{}", index + 1) };
            places.entry(path).or_default().push(mark.clone());
            all.push(Entry { marks: vec![mark], about: String::new() });
        }
    }
    if all.is_empty() {
        return view;
    }
    // From the last to the first: what is put in moves only what follows.
    for (path, marks) in places.into_iter().rev() {
        put(&mut view, &path, marks);
    }
    let head = |part: &Part| matches!(part, Part::Words(_) | Part::Warning(_) | Part::Facts(_));
    let statements = view.parts.iter().position(|part| matches!(part, Part::Judged(..)));
    let below = || view.parts.iter().take_while(|part| head(part)).count();
    view.parts.insert(statements.unwrap_or_else(below), Part::Index(all));
    view
}

/// Number of a table or a figure. Ordered as a document has them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Number {
    /// Position in [`KINDS`].
    kind: usize,
    /// "20.7" is 20 and 7.
    parts: Vec<u32>,
}

impl Number {
    fn text(&self) -> String {
        let parts: Vec<String> = self.parts.iter().map(u32::to_string).collect();
        format!("{} {}", KINDS[self.kind], parts.join("."))
    }
}

/// Where a number is shown.
struct Spot {
    /// How good that is: a plot is better than a table, a table than a row of a list.
    rank: usize,
    path: Vec<usize>,
    /// What is shown there.
    about: String,
}

/// Where each number is shown best.
fn collect(path: &[usize], part: &Part, found: &mut BTreeMap<Number, Spot>) {
    let mut meets = |title: &str, says: &str, rank: usize| {
        let (numbers, rest) = numbers(title);
        let about = Some(about(rest)).filter(|it| !it.is_empty()).unwrap_or_else(|| short(says));
        for number in numbers {
            if found.get(&number).is_none_or(|best| rank < best.rank) {
                found.insert(number, Spot { rank, path: path.to_vec(), about: about.clone() });
            }
        }
    };
    match part {
        Part::Plot(plot) => [&plot.about, &plot.finding].into_iter().for_each(|title| meets(title, "", 0)),
        Part::Table(table) if table.title.is_empty() => {
            for row in &table.rows {
                let text = |index: usize| row.get(index).map_or("", |cell| &*cell.text);
                meets(text(0), text(1), 2);
            }
        }
        Part::Table(table) => meets(&table.title, "", 1),
        _ => {}
    }
}

/// Calls `told` with each part of a view and of the views in it, and where it stands.
fn each(view: &View, path: &mut Vec<usize>, told: &mut dyn FnMut(&[usize], &Part)) {
    for (index, part) in view.parts.iter().enumerate() {
        path.push(index);
        told(path, part);
        if let Part::View(inner) = part {
            each(inner, path, told);
        }
        path.pop();
    }
}

/// What a title says after its numbers, without where the document has them: "(4.1.1): one client" is "one client".
fn about(rest: &str) -> String {
    let rest = match rest.split_once(')') {
        Some((place, rest)) if place.trim_start().starts_with('(') => rest,
        _ => rest,
    };
    short(rest.trim_start_matches([':', ',', ' ']))
}

/// As many whole words as have room in a line of the list.
fn short(rest: &str) -> String {
    if rest.chars().count() <= ABOUT {
        return rest.to_owned();
    }
    let short: String = rest.chars().take(ABOUT).collect();
    let whole_words = short.rsplit_once(' ').map_or(&*short, |(words, _)| words);
    format!("{} ...", whole_words.trim_end_matches([',', ':', '(']).trim_end())
}

/// Puts `marks` before the part at `path`.
fn put(view: &mut View, path: &[usize], marks: Vec<Mark>) {
    match path {
        [] => {}
        [index] => view.parts.insert(*index, Part::Marks(marks)),
        [index, rest @ ..] => {
            if let Some(Part::View(inner)) = view.parts.get_mut(*index) {
                put(inner, rest, marks);
            }
        }
    }
}

/// The numbers that a title begins with, and the rest of it: "Figures 24 to 26 and 33 over clients" has four.
fn numbers(title: &str) -> (Vec<Number>, &str) {
    let Some((kind, rest)) = KINDS.iter().enumerate().find_map(|(kind, name)| {
        let rest = title.strip_prefix(name)?;
        Some((kind, rest.strip_prefix('s').unwrap_or(rest).strip_prefix(' ')?))
    }) else {
        return (Vec::new(), title);
    };
    let mut found: Vec<Number> = Vec::new();
    let mut is_range = false;
    let mut left = rest;
    for word in rest.split(' ') {
        let after = left.get(word.len()..).map_or("", |after| after.strip_prefix(' ').unwrap_or(after));
        match word {
            "to" => is_range = true,
            "and" => {}
            word => {
                let digits = word.trim_end_matches([',', ':']);
                let Ok(parts) = digits.split('.').map(str::parse).collect::<Result<Vec<u32>, _>>() else {
                    break;
                };
                if let (true, Some(Number { parts: from, .. })) = (is_range, found.last()) {
                    let (from, to) = (from[0], parts[0]);
                    let to = to.min(from.saturating_add(MOST));
                    found.extend((from..to).skip(1).map(|number| Number { kind, parts: vec![number] }));
                }
                is_range = false;
                found.push(Number { kind, parts });
                if word.ends_with(':') {
                    left = after;
                    break;
                }
            }
        }
        left = after;
    }
    (found, left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Table;

    fn texts(title: &str) -> Vec<String> {
        numbers(title).0.iter().map(Number::text).collect()
    }

    #[test]
    fn a_title_begins_with_its_numbers() {
        assert_eq!(
            texts("Figures 24 to 26 and 33 over the number of clients"),
            ["Figure 24", "Figure 25", "Figure 26", "Figure 33"]
        );
        assert_eq!(
            texts("Tables 1, 2, 3 (4.1.1, figures 3 to 6): one client"),
            ["Table 1", "Table 2", "Table 3"]
        );
        assert_eq!(texts("Figure 20.7, by nrec"), ["Figure 20.7"]);
        assert_eq!(texts("Figure 32: 10 clients by sockets"), ["Figure 32"]);
        assert!(texts("Figures 1 to 4000000000").len() < 200);
        assert_eq!(texts("Figures 4294967295 to 4294967295").len(), 2);
        for none in ["An operation here (ours)", "Figures", "Tables of a document", "Tablecloth 3", ""] {
            assert_eq!(texts(none), [""; 0], "{none}");
        }
    }

    #[test]
    fn what_follows_the_numbers_is_what_is_shown() {
        for (title, says) in [
            ("Figures 24 to 26 and 33 over the number of clients", "over the number of clients"),
            ("Tables 1, 2, 3 (4.1.1, figures 3 to 6): one client, P350: Linux", "one client, P350: Linux"),
            ("Figure 20.7, by nrec", "by nrec"),
            ("Figure 23: 5 clients, 83 µs", "5 clients, 83 µs"),
            ("Figure 7: 5: 6", "5: 6"),
            ("Table 13", ""),
        ] {
            assert_eq!(about(numbers(title).1), says, "{title}");
        }
        let long = about(&"word, ".repeat(20));
        assert!(long.ends_with("word ...") && long.chars().count() <= ABOUT + 4, "{long}");
        assert_eq!(about("(no end"), "(no end");
    }

    #[test]
    fn every_number_leads_to_one_place() {
        let table = |title: &str| Part::Table(Table { title: title.to_owned(), ..Table::default() });
        let inner = View { parts: vec![table("Figure 7: of two")], ..View::default() };
        let parts = vec![
            Part::words("what it comes to"),
            table("Tables 2 and 10"),
            Part::View(Box::new(inner)),
            table("Figures 7 and 8"),
        ];
        let view = marked(View { parts, ..View::default() }, "grame");
        let Part::Index(all) = &view.parts[1] else { panic!("no list below the words") };
        let texts = |entry: &Entry| entry.marks.iter().map(|mark| mark.text.clone()).collect::<Vec<_>>();
        assert_eq!(
            all.iter().map(texts).collect::<Vec<_>>(),
            [vec!["Table 2", "Table 10"], vec!["Figure 7"], vec!["Figure 8"]]
        );
        assert_eq!(all[1].marks[0].name, "grame-figure-7");
        assert_eq!(all[1].about, "of two");
        let marks = |part: &Part| match part {
            Part::Marks(marks) => marks.iter().map(|mark| mark.text.clone()).collect(),
            _ => Vec::new(),
        };
        assert_eq!(marks(&view.parts[2]), ["Table 2", "Table 10"]);
        let Part::View(inner) = &view.parts[4] else { panic!("the view moved") };
        assert_eq!(marks(&inner.parts[0]), ["Figure 7"]);
        assert_eq!(marks(&view.parts[5]), ["Figure 8"], "the first of two places has the name");
    }

    #[test]
    fn without_numbers_every_title_is_a_place() {
        let table = |title: &str| Part::Table(Table { title: title.to_owned(), ..Table::default() });
        let view =
            marked(View { parts: vec![table("Results by cycles"), table("")], ..View::default() }, "tlpi");
        let Part::Index(all) = &view.parts[0] else { panic!("no list") };
        assert_eq!(all.len(), 1);
        assert_eq!((&*all[0].marks[0].text, &*all[0].marks[0].name), ("Results by cycles", "tlpi-table-1"));
        assert!(matches!(&view.parts[1], Part::Marks(marks) if marks[0].name == "tlpi-table-1"));
    }

    #[test]
    fn a_section_without_tables_stays_as_it_is() {
        let view = marked(View { parts: vec![Part::Words(String::new())], ..View::default() }, "tlpi");
        assert_eq!(view.parts.len(), 1);
    }
}
