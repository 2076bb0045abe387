//! Links from the head of a document's section to each of its tables and figures, by the document's own numbers.

use std::collections::BTreeMap;

use crate::blocks::{Mark, Part, View};

/// Kinds of what a document numbers, as its titles here begin.
const KINDS: [&str; 2] = ["Table", "Figure"];
/// Most numbers of one range: a result that says more has no document behind it.
const MOST: u32 = 100;

/// Adds marks before the parts that show a numbered table or figure, and the list of all of them below what comes first.
pub(super) fn marked(mut view: View, document: &str) -> View {
    let mut found = BTreeMap::new();
    collect(&view, &mut Vec::new(), &mut found);
    if found.is_empty() {
        return view;
    }
    let mut places: BTreeMap<Vec<usize>, Vec<Mark>> = BTreeMap::new();
    let mut all = Vec::new();
    for (number, (_, path)) in found {
        let name = format!("{document}-{}", number.text().to_lowercase().replace([' ', '.'], "-"));
        let mark = Mark { text: number.text(), name };
        places.entry(path).or_default().push(mark.clone());
        all.push(mark);
    }
    // From the last to the first: what is put in moves only what follows.
    for (path, marks) in places.into_iter().rev() {
        put(&mut view, &path, marks);
    }
    let head = |part: &Part| matches!(part, Part::Words(_) | Part::Warning(_) | Part::Facts(_));
    let below = view.parts.iter().take_while(|part| head(part)).count();
    view.parts.insert(below, Part::Index(all));
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

/// Where each number is shown best, with how good that is: a plot is better than a table, a table than a row of a list.
fn collect(view: &View, path: &mut Vec<usize>, found: &mut BTreeMap<Number, (usize, Vec<usize>)>) {
    for (index, part) in view.parts.iter().enumerate() {
        path.push(index);
        let mut meets = |title: &str, rank: usize| {
            for number in numbers(title) {
                let best = found.entry(number).or_insert_with(|| (rank, path.clone()));
                if rank < best.0 {
                    *best = (rank, path.clone());
                }
            }
        };
        match part {
            Part::Plot(plot) => [&plot.about, &plot.finding].into_iter().for_each(|title| meets(title, 0)),
            Part::Table(table) if table.title.is_empty() => {
                table.rows.iter().filter_map(|row| row.first()).for_each(|cell| meets(&cell.text, 2));
            }
            Part::Table(table) => meets(&table.title, 1),
            _ => {}
        }
        if let Part::View(inner) = part {
            collect(inner, path, found);
        }
        path.pop();
    }
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

/// The numbers that a title begins with: "Figures 24 to 26 and 33 over clients" has four.
fn numbers(title: &str) -> Vec<Number> {
    let Some((kind, rest)) = KINDS.iter().enumerate().find_map(|(kind, name)| {
        let rest = title.strip_prefix(name)?;
        Some((kind, rest.strip_prefix('s').unwrap_or(rest).strip_prefix(' ')?))
    }) else {
        return Vec::new();
    };
    let mut found: Vec<Number> = Vec::new();
    let mut is_range = false;
    for word in rest.split(' ') {
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
                    break;
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Table;

    fn texts(title: &str) -> Vec<String> {
        numbers(title).iter().map(Number::text).collect()
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
    fn every_number_leads_to_one_place() {
        let table = |title: &str| Part::Table(Table { title: title.to_owned(), ..Table::default() });
        let inner = View { parts: vec![table("Figure 7: of two")], ..View::default() };
        let parts = vec![
            Part::Words("what it comes to".to_owned()),
            table("Tables 2 and 10"),
            Part::View(Box::new(inner)),
            table("Figures 7 and 8"),
        ];
        let view = marked(View { parts, ..View::default() }, "grame");
        let Part::Index(all) = &view.parts[1] else { panic!("no list below the words") };
        let texts: Vec<&str> = all.iter().map(|mark| &*mark.text).collect();
        assert_eq!(texts, ["Table 2", "Table 10", "Figure 7", "Figure 8"]);
        assert_eq!(all[2].name, "grame-figure-7");
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
    fn a_section_without_numbers_stays_as_it_is() {
        let view = marked(View { parts: vec![Part::Words(String::new())], ..View::default() }, "tlpi");
        assert_eq!(view.parts.len(), 1);
    }
}
