//! `oscost list`: lists what can be measured, from the cards.

use std::io::Write;

use oscost_results::Trait;
use oscost_results::search::{Tier, Way};
use serde_json::json;

use crate::args::List;
use crate::exit::{Ended, Exit};
use crate::known::{Known, KnownFamily, catalogue};
use crate::output::{self, Talk};
use crate::{system, words};

/// Lists the cards. Reading them runs nothing; what a machine lacks beyond CPUs is found by running.
pub fn list(options: &List, talk: &Talk) -> Result<Exit, Ended> {
    let catalogue = catalogue();
    // A trait is asked for to choose among everything.
    let most = if options.all || !options.r#trait.is_empty() { Tier::Thorough } else { Tier::Family };
    let mut cards = if options.patterns.is_empty() {
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
            if let Some(words) = words::told(&found.pattern, found.way, &found.ids()) {
                talk.say(words);
            }
        }
        let mut cards: Vec<&Known> = Vec::new();
        for card in found.into_iter().flat_map(|found| found.cards) {
            if !cards.iter().any(|known| known.id == card.id) {
                cards.push(card);
            }
        }
        cards
    };
    cards.retain(|card| options.r#trait.iter().all(|wanted| card.traits.contains(wanted)));
    if options.json {
        let cards: Vec<_> = cards.iter().map(|card| card_json(card)).collect();
        output::data(|out| output::json(&cards, out))?;
        return Ok(Exit::Done);
    }
    if cards.is_empty() {
        return Err(Ended::misuse(
            "no figure found has these traits; without a pattern, 'oscost list --trait NAME' lists all that have one",
        ));
    }
    if let Some(why) = system::NEEDS_LINUX {
        talk.say(why);
    }
    let width = talk.style().width;
    output::data(|out| {
        if !options.r#trait.is_empty() {
            by_trait(&cards, width, out)
        } else if options.patterns.is_empty() && !options.all {
            screen(&catalogue.families, &cards, width, out)
        } else {
            let width = output::told_width().unwrap_or(usize::MAX);
            cards.iter().try_for_each(|card| line(card, width, out))
        }
    })?;
    Ok(Exit::Done)
}

/// One line a figure, so that it can be searched; where a width is told, what does not fit goes on below.
fn line(card: &Known, width: usize, out: &mut dyn Write) -> std::io::Result<()> {
    let lack = card.lack.as_ref().map_or(String::new(), |(why, _)| format!("[unsupported here: {why}] "));
    let text = format!("{:<36} {lack}{}", format!("{}{}", card.id, star(card)), card.operation);
    if text.chars().count() <= width {
        return writeln!(out, "{text}");
    }
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    writeln!(out, "{}", words[0])?;
    let below = wrapped(&words[1..], width.saturating_sub(4));
    below.iter().try_for_each(|line| writeln!(out, "    {line}"))
}

/// Core and families: one screen.
fn screen(
    families: &[KnownFamily],
    cards: &[&Known],
    width: usize,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let mut said = 0;
    for family in families {
        let cards: Vec<&Known> = cards.iter().copied().filter(|card| card.family() == family.name).collect();
        said += cards.len();
        writeln!(out, "{}", cut(&format!("{}: {}", family.name, family.description), width))?;
        let names = wrapped(&names(&cards), width.saturating_sub(2));
        names.iter().try_for_each(|line| writeln!(out, "  {line}"))?;
    }
    let end = format!(
        "{said} figures. *: part of a bare run. /x 4: four ids go on with /x. /... 3: there are three more. 'oscost list WORD' lists ids, --all every one."
    );
    wrapped(&end.split(' ').map(str::to_owned).collect::<Vec<_>>(), width)
        .iter()
        .try_for_each(|line| writeln!(out, "{line}"))
}

/// Second parts of the ids, each once, with a star where a bare run has it; then what stands behind them, counted.
fn names(cards: &[&Known]) -> Vec<String> {
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
fn by_trait(cards: &[&Known], width: usize, out: &mut dyn Write) -> std::io::Result<()> {
    let mut rows: Vec<(String, usize, &[Trait])> = Vec::new();
    for card in cards {
        let name: String = card.id.split('/').take(2).collect::<Vec<_>>().join("/");
        match rows.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, count, _)) => *count += 1,
            None => rows.push((name, 1, &card.traits)),
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

fn star(card: &Known) -> &'static str {
    if card.tier == Tier::Core { "*" } else { "" }
}

fn card_json(card: &Known) -> serde_json::Value {
    let lack = card.lack.as_ref();
    json!({
        "id": card.id,
        "title": card.title,
        "operation": card.operation,
        "operations_per_iteration": card.operations_per_iteration,
        "call_path": card.call_path,
        "blocks": card.blocks,
        "placement": card.placement,
        "group": card.group,
        "baseline": card.baseline,
        "subtract": card.subtract,
        "tier": card.tier.name(),
        "traits": card.traits,
        "document": card.document,
        "headline": card.headline,
        "unsupported": lack.map(|(why, _)| why.as_str()).or(system::NEEDS_LINUX),
        "remedy": lack.map(|(_, remedy)| remedy),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_screen_is_one_and_never_too_wide() {
        let (families, cards) = (&catalogue().families, catalogue().tier(Tier::Family));
        // A heading and two or three lines a family.
        for (width, lines) in [(60, 4), (80, 4), (100, 3), (160, 3)] {
            let most = lines * families.len();
            let mut text = Vec::new();
            screen(families, &cards, width, &mut text).expect("memory");
            let text = String::from_utf8(text).expect("text");
            assert!(text.lines().count() <= most, "{width} columns: {} lines\n{text}", text.lines().count());
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width} columns:\n{text}");
            assert!(text.contains("posix_named*") && text.contains("/handover"), "{text}");
        }
    }

    #[test]
    fn a_figure_that_does_not_fit_goes_on_below_and_loses_nothing() {
        for width in [60, 80, 100, usize::MAX] {
            for card in catalogue().tier(Tier::Thorough) {
                let mut text = Vec::new();
                line(card, width, &mut text).expect("memory");
                let text = String::from_utf8(text).expect("text");
                let is_id = |line: &str| line.trim_end_matches('*') == card.id;
                assert!(
                    text.lines().all(|line| line.chars().count() <= width || is_id(line)),
                    "{width}: {text}"
                );
                let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(said.starts_with(&card.id) && said.ends_with(&card.operation), "{width}: {text}");
            }
        }
    }

    #[test]
    fn a_line_is_cut_where_it_does_not_fit() {
        assert_eq!(cut("abcdefgh", 8), "abcdefgh");
        assert_eq!(cut("abcdefghi", 8), "abcde...");
        assert_eq!(wrapped(&["ab", "cd", "ef"].map(str::to_owned), 5), ["ab cd", "ef"]);
    }
}
