//! Founding documents and their statements.

use super::Explanation;
use crate::known::{KnownDocument, catalogue};

/// The page of a document or of one of its statements ("tlpi", "000", "tlpi/3"); `None` where it is neither.
pub fn page(thing: &str) -> Option<Explanation> {
    let thing = thing.to_lowercase();
    let (name, number) =
        thing.split_once('/').map_or((thing.as_str(), None), |(name, rest)| (name, Some(rest)));
    let document = catalogue().document(name)?;
    match number {
        None => Some(whole(document)),
        Some(number) => statement(document, number.parse().ok()?),
    }
}

/// What a document has in place of a statement that it does not have: "tlpi has the statements tlpi/1 to tlpi/14".
pub fn missing(thing: &str) -> Option<String> {
    let (name, _) = thing.split_once('/')?;
    let name = name.to_lowercase();
    let statements = catalogue().document(&name)?.statements.len();
    Some(format!("{name} has the statements {name}/1 to {name}/{statements}"))
}

fn whole(document: &KnownDocument) -> Explanation {
    let name = &document.name;
    let mut page = Explanation::new(&document.title);
    page.fact("Measure", [format!("oscost reproduce {name}")]);
    page.fact("Figures", [format!("oscost run {}: the figures that answer it", document.number)]);
    page.fact("Set", super::keys(&format!("oscost reproduce {name}"), &document.keys));
    let shown = document.statements.iter().enumerate();
    page.fact(
        "States",
        shown.map(|(at, it)| super::super::list::cut(&format!("{name}/{} {}", at + 1, it.words), 70)),
    );
    page
}

fn statement(document: &KnownDocument, number: usize) -> Option<Explanation> {
    let stated = document.statements.get(number.checked_sub(1)?)?;
    let KnownDocument { name, title, .. } = document;
    let quoted = if stated.ours { stated.words.clone() } else { format!("\"{}\"", stated.words) };
    let mut page = Explanation::new(format!("{name}/{number} of {title}")).say(quoted);
    page.fact("Place", [stated.place.clone()]);
    let whose = if stated.ours { "ours: the document does not say it" } else { "" };
    page.fact("Whose", [whose.to_owned()]);
    page.fact("Here", [format!("oscost reproduce {name} judges it")]);
    Some(page)
}
