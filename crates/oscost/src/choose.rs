//! Chooses what a command measures by the user's words, and says so if a word was not a full id.

use std::collections::BTreeSet;

use oscost_harness::{Choice, Matched, Tier, lacking};
use oscost_results::search::Way;

use crate::commands::catalogue;
use crate::exit::{Ended, Exit};
use crate::output::Talk;
use crate::words::told;

/// A pattern that finds so many figures of the thorough tier alone is measured at any effort.
const FEW: usize = 24;
/// The choice of a run: patterns with their baselines, a tier, or everything. Says what words found.
pub fn choose(patterns: &[String], all: bool, thorough: bool, talk: &Talk) -> Result<Vec<Choice>, Ended> {
    let most = if thorough { Tier::Thorough } else { Tier::Family };
    if patterns.is_empty() {
        return Ok(catalogue().tier(if all { most } else { Tier::Core }));
    }
    find(patterns, most, talk).map(|found| catalogue().chosen(&found))
}

/// What patterns find and nothing else, or the core tier: for a command that divides by no baseline.
pub fn choose_alone(patterns: &[String], talk: &Talk) -> Result<Vec<Choice>, Ended> {
    if patterns.is_empty() {
        return Ok(catalogue().tier(Tier::Core));
    }
    let found = find(patterns, Tier::Family, talk)?;
    let asked: BTreeSet<&str> = found.iter().flat_map(ids).collect();
    let chosen = catalogue().chosen(&found);
    Ok(chosen.into_iter().filter(|choice| asked.contains(choice.card().id)).collect())
}

/// What each pattern finds; says so where it is not plain.
fn find(patterns: &[String], most: Tier, talk: &Talk) -> Result<Vec<Matched>, Ended> {
    let catalogue = catalogue();
    let found = match catalogue.look_up(patterns, most) {
        // What names a few of them alone means them: the tier is there so that a family is not hundreds.
        Err(miss) if patterns.len() == 1 && (1..=FEW).contains(&miss.above) => {
            catalogue.look_up(patterns, Tier::Thorough)
        }
        // So do whole parts of an id: "processes_4/hold_us_3/think_0" asks for every lock, not for the listed ones.
        Ok(listed) if patterns.len() == 1 && listed[0].way == Way::Parts => {
            let all = catalogue.look_up(patterns, Tier::Thorough);
            all.map(|all| if all[0].choices.len() <= FEW { all } else { listed })
        }
        found => found,
    };
    let found = found.map_err(Ended::misuse)?;
    for found in &found {
        if let Some(words) = told(&found.pattern, found.way, &ids(found)) {
            talk.say(words);
        }
    }
    Ok(found)
}

/// Fails where not one of what the patterns found can be measured on so many CPUs.
pub fn refuse_what_is_unsupported(choices: &[Choice], cpus: &[usize]) -> Result<(), Ended> {
    // What comes along as a baseline was not asked for.
    let named: Vec<Choice> = choices.iter().filter(|choice| choice.named).copied().collect();
    let choices = if named.is_empty() { choices } else { &named };
    let lacks: Vec<_> = choices.iter().map(|choice| lacking(choice, cpus)).collect();
    match lacks.first() {
        Some(Some((why, remedy))) if lacks.iter().all(Option::is_some) => {
            let count = match choices {
                [one] => one.card().id.to_owned(),
                many => format!(
                    "{} figures were chosen, and none can be measured here: {}",
                    many.len(),
                    many[0].card().id
                ),
            };
            Err(Ended::new(Exit::Withheld, format!("{count} {why}; {remedy}")))
        }
        _ => Ok(()),
    }
}

fn ids(found: &Matched) -> Vec<&'static str> {
    found.choices.iter().map(|choice| choice.card().id).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn a_few_figures_of_the_thorough_tier_are_measured_by_a_pattern_and_many_are_not() {
        let arguments = crate::args::Arguments::parse_from(["oscost", "-q", "list"]);
        let choose = |pattern: &str| {
            super::choose(&[pattern.to_owned()], false, false, &Talk::new(&arguments.common))
                .map_err(|ended| ended.to_string())
        };
        let locks = choose("lock/*/contended/processes_4/hold_us_3/think_0").expect("a few");
        let asked = |choice: &&Choice| choice.card().id.ends_with("/processes_4/hold_us_3/think_0");
        assert!((2..=FEW).contains(&locks.iter().filter(asked).count()), "{}", locks.len());
        // Whole parts of an id mean the same, in every family, and no other hold time that begins with a 3.
        let parts = choose("processes_4/hold_us_3/think_0").expect("a few");
        assert!((locks.len() + 3..=FEW).contains(&parts.iter().filter(asked).count()), "{}", parts.len());
        assert!(parts.iter().all(|choice| !choice.card().id.contains("hold_us_30")), "{}", parts.len());
        let many = choose("lock/*/hold_us_3/*").expect_err("every number of processes");
        assert!(many.contains("add --thorough"), "{many}");
    }

    #[test]
    fn what_is_chosen_alone_comes_without_baselines() {
        let arguments = crate::args::Arguments::parse_from(["oscost", "-q", "list"]);
        let talk = Talk::new(&arguments.common);
        let patterns = ["syscall/getpid".to_owned(), "eventfd".to_owned()];
        let ids = |choices: Result<Vec<Choice>, Ended>| -> Vec<&str> {
            let choices = choices.map_err(|ended| ended.to_string()).expect("found");
            choices.iter().map(|choice| choice.card().id).collect()
        };
        let with = ids(choose(&patterns, false, false, &talk));
        assert!(with.contains(&"syscall/invalid"), "what getpid is divided by: {with:?}");
        let alone = ids(choose_alone(&patterns, &talk));
        assert!(alone.contains(&"syscall/getpid") && alone.contains(&"semaphore/eventfd"), "{alone:?}");
        assert!(!alone.contains(&"syscall/invalid"), "{alone:?}");
        assert!(alone.iter().all(|id| *id == "syscall/getpid" || id.contains("eventfd")), "{alone:?}");
        assert_eq!(ids(choose_alone(&[], &talk)), ids(choose(&[], false, false, &talk)));
    }

    #[test]
    fn what_needs_more_cpus_than_there_are_is_refused_before_it_is_measured() {
        let choose = |pattern: &str| {
            catalogue().select(&[pattern.to_owned()], Tier::Family).map_err(|_| ()).expect("found")
        };
        let refused =
            refuse_what_is_unsupported(&choose("context_switch/*/cross_cpu"), &[0]).expect_err("one CPU");
        assert_eq!(refused.exit, Exit::Withheld);
        assert!(refused.to_string().contains("needs 2 CPUs"), "{refused}");
        assert!(refuse_what_is_unsupported(&choose("context_switch"), &[0]).is_ok(), "some can be measured");
        assert!(refuse_what_is_unsupported(&choose("context_switch"), &[0, 1]).is_ok());
    }
}
