//! Explains a family: its operations, its figures, its keys.

use oscost_results::search::Tier;

use super::Explanation;
use crate::known::catalogue;

/// The page of a family; `None` where it is none.
pub fn page(thing: &str) -> Option<Explanation> {
    let typed = thing.trim_end_matches('/').to_lowercase().replace('-', "_");
    let family = catalogue().families.iter().find(|family| family.name == typed)?;
    let mut cards = catalogue().tier(Tier::Thorough);
    cards.retain(|card| card.family() == family.name);
    let core: Vec<&str> =
        cards.iter().filter(|card| card.tier == Tier::Core).map(|card| card.id.as_str()).collect();
    let listed = cards.iter().filter(|card| card.tier != Tier::Thorough).count();
    let mut page = Explanation::new(format!("{}: {}", family.name, family.description));
    page.fact("Figures", [format!(
        "{listed} are measured by 'oscost run {name}', {} in all with --thorough; 'oscost list {name}' names them",
        cards.len(),
        name = family.name
    )]);
    page.fact(
        "Core",
        [if core.is_empty() { String::new() } else { format!("a bare run has {}", core.join(", ")) }],
    );
    page.fact("Set", super::keys(&format!("oscost run {}", family.name), &family.keys));
    Some(page)
}
