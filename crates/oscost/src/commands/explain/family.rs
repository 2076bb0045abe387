//! Explains a family: its operations, its figures, its keys.

use oscost_families::FAMILIES;
use oscost_harness::{Choice, Tier};

use super::Explanation;
use crate::commands::catalogue;

/// The page of a family; `None` where it is none.
pub fn page(thing: &str) -> Option<Explanation> {
    let typed = thing.trim_end_matches('/').to_lowercase().replace('-', "_");
    let family = FAMILIES.iter().find(|family| family.name == typed)?;
    let all = catalogue().tier(Tier::Thorough);
    let cards: Vec<_> = all.iter().map(Choice::card).filter(|card| card.family() == family.name).collect();
    let core: Vec<&str> = cards.iter().filter(|card| card.tier == Tier::Core).map(|card| card.id).collect();
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
    page.fact("Set", super::keys(&format!("oscost run {}", family.name), family.settings));
    Some(page)
}
