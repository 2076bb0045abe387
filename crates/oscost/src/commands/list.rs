//! `oscost list`: lists what can be measured here, from the cards.

use std::io::Write;

use oscost_families::FAMILIES;
use oscost_harness::{Card, Choice, Tier, Trait, lacking};
use oscost_results::search::Way;
use serde_json::json;

use super::catalogue;
use crate::args::List;
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};
use crate::words;

/// Lists the cards. Reading them runs nothing; what a machine lacks beyond CPUs is found by running.
pub fn list(options: &List, talk: &Talk) -> Result<Exit, Ended> {
    let catalogue = catalogue();
    // A trait is asked for to choose among everything.
    let most = if options.all || !options.r#trait.is_empty() { Tier::Thorough } else { Tier::Family };
    let mut choices = if options.patterns.is_empty() {
        catalogue.tier(most)
    } else {
        let found = match catalogue.look_up(&options.patterns, most) {
            // What is found above is what was asked for.
            Err(miss) if miss.above > 0 => catalogue.look_up(&options.patterns, Tier::Thorough),
            Ok(listed) if listed.iter().any(|found| found.way == Way::Parts) => {
                catalogue.look_up(&options.patterns, Tier::Thorough)
            }
            found => found,
        };
        let found = found.map_err(Ended::misuse)?;
        for found in &found {
            let ids: Vec<&str> = found.choices.iter().map(|choice| choice.card().id).collect();
            if let Some(words) = words::told(&found.pattern, found.way, &ids) {
                talk.say(words);
            }
        }
        let mut choices: Vec<Choice> = Vec::new();
        for choice in found.into_iter().flat_map(|found| found.choices) {
            if !choices.iter().any(|known| known.card().id == choice.card().id) {
                choices.push(choice);
            }
        }
        choices
    };
    choices.retain(|choice| options.r#trait.iter().all(|wanted| choice.card().traits.contains(wanted)));
    let cpus = oscost_sys::affinity::allowed().unwrap_or_else(|_| vec![0]);
    if options.json {
        let cards: Vec<_> = choices.iter().map(|choice| card_json(choice, &cpus)).collect();
        output::data(|out| output::json(&cards, out))?;
        return Ok(Exit::Done);
    }
    if choices.is_empty() {
        return Err(Ended::misuse(
            "no figure found has these traits; without a pattern, 'oscost list --trait NAME' lists all that have one",
        ));
    }
    let width = talk.style().width;
    output::data(|out| {
        if !options.r#trait.is_empty() {
            by_trait(&choices, width, out)
        } else if options.patterns.is_empty() && !options.all {
            screen(&choices, width, out)
        } else {
            let width = output::terminal_width().unwrap_or(usize::MAX);
            choices.iter().try_for_each(|choice| line(choice, &cpus, width, out))
        }
    })?;
    Ok(Exit::Done)
}

/// One line a figure, so that it can be searched; what does not fit a terminal is cut.
fn line(choice: &Choice, cpus: &[usize], width: usize, out: &mut dyn Write) -> std::io::Result<()> {
    let card = choice.card();
    let lack = lacking(choice, cpus).map_or(String::new(), |(why, _)| format!("[unsupported here: {why}] "));
    let text = format!("{:<36} {lack}{}", format!("{}{}", card.id, star(card)), card.operation);
    writeln!(out, "{}", cut(&text, width))
}

/// Core and families: one screen.
fn screen(choices: &[Choice], width: usize, out: &mut dyn Write) -> std::io::Result<()> {
    let mut said = 0;
    for family in FAMILIES {
        let cards: Vec<&Card> =
            choices.iter().map(Choice::card).filter(|card| card.family() == family.name).collect();
        said += cards.len();
        writeln!(out, "{}", cut(&format!("{}: {}", family.name, family.description), width))?;
        let names = wrapped(&names(&cards), width.saturating_sub(2));
        names.iter().try_for_each(|line| writeln!(out, "  {line}"))?;
    }
    let end = format!(
        "{said} figures. *: part of a bare run. /x 4: four ids end in /x. 'oscost list WORD' lists ids, --all every one."
    );
    wrapped(&end.split(' ').map(str::to_owned).collect::<Vec<_>>(), width)
        .iter()
        .try_for_each(|line| writeln!(out, "{line}"))
}

/// Second parts of the ids, each once, with a star where a bare run has it; then what stands behind them, counted.
fn names(cards: &[&Card]) -> Vec<String> {
    let mut names: Vec<(&str, bool)> = Vec::new();
    let mut behind: Vec<(&str, usize)> = Vec::new();
    for card in cards {
        let mut parts = card.id.split('/').skip(1);
        let Some(name) = parts.next() else { continue };
        let core = card.tier == Tier::Core;
        match names.iter_mut().find(|(known, _)| *known == name) {
            Some((_, starred)) => *starred |= core,
            None => names.push((name, core)),
        }
        let Some(next) = parts.next() else { continue };
        match behind.iter_mut().find(|(known, _)| *known == next) {
            Some((_, count)) => *count += 1,
            None => behind.push((next, 1)),
        }
    }
    let star = |core: bool| if core { "*" } else { "" };
    let names = names.into_iter().map(|(name, core)| format!("{name}{}", star(core)));
    // Parameters that are many would be a list of their own.
    let (often, rare): (Vec<_>, Vec<_>) = behind.into_iter().partition(|(_, count)| *count > 1);
    let often = often.into_iter().map(|(next, count)| format!("/{next} {count}"));
    let rare = if rare.is_empty() { None } else { Some(format!("/... {}", rare.len())) };
    names.chain(often).chain(rare).collect()
}

/// One line a lock or transport: its name, how many figures it has, and its traits.
fn by_trait(choices: &[Choice], width: usize, out: &mut dyn Write) -> std::io::Result<()> {
    let mut rows: Vec<(String, usize, &[Trait])> = Vec::new();
    for card in choices.iter().map(Choice::card) {
        let name: String = card.id.split('/').take(2).collect::<Vec<_>>().join("/");
        match rows.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, count, _)) => *count += 1,
            None => rows.push((name, 1, card.traits)),
        }
    }
    for (name, count, traits) in rows {
        let traits: Vec<&str> =
            traits.iter().filter(|it| Trait::ASKED.contains(it)).map(|it| it.name()).collect();
        writeln!(out, "{}", cut(&format!("{name:<36} {count:>4}  {}", traits.join(", ")), width))?;
    }
    writeln!(out, "{}", cut("name, figures, traits; 'oscost run NAME' measures one of them", width))
}

/// Words in lines of `width`, two blanks between them.
fn wrapped(words: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.clone()),
        }
    }
    lines
}

/// The beginning of `text` that fits.
pub fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

fn star(card: &Card) -> &'static str {
    if card.tier == Tier::Core { "*" } else { "" }
}

fn tier(card: &Card) -> &'static str {
    match card.tier {
        Tier::Core => "core",
        Tier::Family => "family",
        Tier::Thorough => "thorough",
        Tier::Hidden => "hidden",
    }
}

fn card_json(choice: &Choice, cpus: &[usize]) -> serde_json::Value {
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
        "traits": card.traits,
        "document": card.document,
        "headline": card.headline(),
        "unsupported": lacking.as_ref().map(|(why, _)| why),
        "remedy": lacking.as_ref().map(|(_, remedy)| remedy),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_screen_is_one_and_never_too_wide() {
        let choices = catalogue().tier(Tier::Family);
        // A heading and two or three lines a family.
        for (width, lines) in [(60, 4), (80, 4), (100, 3), (160, 3)] {
            let most = lines * FAMILIES.len();
            let mut text = Vec::new();
            screen(&choices, width, &mut text).expect("memory");
            let text = String::from_utf8(text).expect("text");
            assert!(text.lines().count() <= most, "{width} columns: {} lines\n{text}", text.lines().count());
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width} columns:\n{text}");
            assert!(text.contains("posix_named*") && text.contains("/handover"), "{text}");
        }
    }

    #[test]
    fn a_line_is_cut_where_it_does_not_fit() {
        assert_eq!(cut("abcdefgh", 8), "abcdefgh");
        assert_eq!(cut("abcdefghi", 8), "abcde...");
        assert_eq!(wrapped(&["ab", "cd", "ef"].map(str::to_owned), 5), ["ab cd", "ef"]);
    }
}
