//! `oscost list`: what can be measured here, from the cards.

use std::io::Write;

use oscost_harness::{Card, Choice, Tier, lacking};
use serde_json::json;

use super::catalogue;
use crate::args::List;
use crate::exit::{Ended, Exit};
use crate::output;

/// Lists the cards. Reading them runs nothing; what a machine lacks beyond CPUs is found by running.
pub fn list(options: &List) -> Result<Exit, Ended> {
    let catalogue = catalogue();
    let choices = if options.patterns.is_empty() {
        catalogue.tier(Tier::Thorough)
    } else {
        catalogue.select(&options.patterns, Tier::Thorough).map_err(Ended::misuse)?
    };
    let cpus = oscost_sys::affinity::allowed().map_or(1, |cpus| cpus.len());
    if options.json {
        let cards: Vec<_> = choices.iter().map(|choice| card_json(choice, cpus)).collect();
        output::data(|out| {
            serde_json::to_writer_pretty(&mut *out, &cards)?;
            writeln!(out)
        })?;
    } else {
        let width = output::terminal_width();
        output::data(|out| choices.iter().try_for_each(|choice| line(choice, cpus, width, out)))?;
    }
    Ok(Exit::Done)
}

/// One line a benchmark, so that it can be searched; in a terminal that is too narrow the operation stands below.
fn line(choice: &Choice, cpus: usize, width: Option<usize>, out: &mut dyn Write) -> std::io::Result<()> {
    let card = choice.card();
    let start = format!("{:<46} {:<12} {:<9}", card.id, card.call_path.name(), tier(card));
    let mut end = card.operation.to_owned();
    if let Some((why, remedy)) = lacking(choice, cpus) {
        end.push_str(&format!(" [unsupported here: {why}; {remedy}]"));
    }
    match width {
        Some(width) if start.len() + 1 + end.len() > width => {
            writeln!(out, "{}\n      {end}", start.trim_end())
        }
        _ => writeln!(out, "{start} {end}"),
    }
}

fn tier(card: &Card) -> &'static str {
    match card.tier {
        Tier::Core => "core",
        Tier::Family => "family",
        Tier::Thorough => "thorough",
        Tier::Hidden => "hidden",
    }
}

fn card_json(choice: &Choice, cpus: usize) -> serde_json::Value {
    let card = choice.card();
    let lacking = lacking(choice, cpus);
    json!({
        "id": card.id,
        "title": card.title,
        "operation": card.operation,
        "operations_per_iteration": card.operations_per_iteration,
        "call_path": card.call_path.name(),
        "blocks": card.blocks,
        "placement": card.placement.name(),
        "group": card.group,
        "baseline": card.baseline,
        "subtract": card.subtract,
        "tier": tier(card),
        "document": card.document,
        "headline": card.headline(),
        "unsupported": lacking.as_ref().map(|(why, _)| why),
        "remedy": lacking.as_ref().map(|(_, remedy)| remedy),
    })
}
