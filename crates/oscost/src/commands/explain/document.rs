//! Founding documents and their statements.

use oscost_documents::{ALL, Document, DocumentParameters, Found};

use super::Explanation;

/// The page of a document or of one of its statements ("tlpi", "000", "tlpi/3"); `None` where it is neither.
pub fn page(thing: &str) -> Option<Explanation> {
    let thing = thing.to_lowercase();
    let (name, number) =
        thing.split_once('/').map_or((thing.as_str(), None), |(name, rest)| (name, Some(rest)));
    let document =
        ALL.iter().find(|document| document.founding.number == name || document.founding.name == name)?;
    match number {
        None => Some(whole(document)),
        Some(number) => statement(document, number.parse().ok()?),
    }
}

/// What a document has in place of a statement that it does not have: "tlpi has the statements tlpi/1 to tlpi/14".
pub fn missing(thing: &str) -> Option<String> {
    let (name, _) = thing.split_once('/')?;
    let name = name.to_lowercase();
    let document =
        ALL.iter().find(|document| document.founding.number == name || document.founding.name == name)?;
    Some(format!("{name} has the statements {name}/1 to {name}/{}", statements(document).len()))
}

/// Statements in their order, each with its place and whether it is ours.
fn statements(document: &Document) -> Vec<(String, String, bool)> {
    // Judged from nothing: what is stated does not depend on what was measured.
    let rows = (document.judge)(&Found::of(&[], &[], &[]), &DocumentParameters::default());
    rows.into_iter().filter_map(|row| Some((row.place, row.statement?, row.ours))).collect()
}

fn whole(document: &Document) -> Explanation {
    let founding = document.founding;
    let mut page = Explanation::new(founding.title);
    page.fact("Measure", [format!("oscost reproduce {}", founding.name)]);
    page.fact("Figures", [format!("oscost run {}: the figures that answer it", founding.number)]);
    page.fact("Set", super::keys(&format!("oscost reproduce {}", founding.name), document.settings));
    let shown = statements(document).into_iter().enumerate();
    page.fact(
        "States",
        shown.map(|(at, (_, words, _))| {
            super::super::list::cut(&format!("{}/{} {words}", founding.name, at + 1), 70)
        }),
    );
    page
}

fn statement(document: &Document, number: usize) -> Option<Explanation> {
    let (place, words, ours) = statements(document).into_iter().nth(number.checked_sub(1)?)?;
    let founding = document.founding;
    let quoted = if ours { words } else { format!("\"{words}\"") };
    let mut page = Explanation::new(format!("{}/{number} of {}", founding.name, founding.title)).say(quoted);
    page.fact("Place", [place]);
    page.fact("Whose", [if ours { "ours: the document does not say it".to_owned() } else { String::new() }]);
    page.fact("Here", [format!("oscost reproduce {} judges it", founding.name)]);
    Some(page)
}
