//! Finds the figures that a user's words mean, and says so if a word was not a full id.

use std::collections::BTreeSet;

use oscost_harness::{Choice, Matched, Tier, lacking};
use oscost_results::search::{Pattern, Way, nearest};
use oscost_results::{RunResult, Status};

use crate::commands::catalogue;
use crate::exit::{Ended, Exit};
use crate::output::Talk;
use crate::synonyms::SYNONYMS;

/// A pattern that finds so many figures of the thorough tier alone is measured at any effort.
const FEW: usize = 24;
/// So many ids are named one by one; of more, the families with their numbers.
const NAMED: usize = 4;

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

/// Those of `ids`, which results hold, that the patterns find; what words found is said.
pub fn only(patterns: &[String], ids: &BTreeSet<&str>, talk: &Talk) -> Result<BTreeSet<String>, Ended> {
    let mut all = BTreeSet::new();
    for typed in patterns {
        let pattern = Pattern::new(typed, SYNONYMS);
        let (way, found) =
            pattern.search(ids.iter().copied(), |id| *id).ok_or_else(|| not_in_results(typed, ids))?;
        // "lock" is a family, also where a result holds clocks alone.
        let means = |choice: &&Choice| pattern.finds(choice.card().id) == Some(Way::Beginning);
        if matches!(way, Way::Parts | Way::Word | Way::Part)
            && catalogue().tier(Tier::Thorough).iter().any(|it| means(&it))
        {
            return Err(not_in_results(typed, ids));
        }
        if let Some(words) = told(typed, way, &found) {
            talk.say(words);
        }
        all.extend(found.into_iter().map(str::to_owned));
    }
    Ok(all)
}

/// Why a pattern finds nothing in results that hold `ids`: it is there to be measured, or what may have been meant.
fn not_in_results(typed: &str, ids: &BTreeSet<&str>) -> Ended {
    let shown = oscost_results::Untrusted::new(typed).terminal().to_string();
    match catalogue().look_up(&[typed.to_owned()], Tier::Thorough) {
        Ok(found) => {
            let found: Vec<&str> = found.iter().flat_map(self::ids).collect();
            Ended::misuse(format!(
                "'{shown}' finds {}; none of them was measured there: oscost run {shown}",
                listed(&found)
            ))
        }
        Err(mut miss) => {
            let parts = ids.iter().flat_map(|id| id.split('/').chain(std::iter::once(*id)));
            let near: Vec<&str> = parts.chain(miss.nearest.iter().map(String::as_str)).collect();
            miss.nearest = nearest(typed, near).into_iter().map(str::to_owned).collect();
            Ended::misuse(miss)
        }
    }
}

/// Why nothing of what was found has numbers in any of these results; `None` where something has.
pub fn nothing_measured<'r>(
    found: &BTreeSet<String>,
    results: impl Iterator<Item = &'r RunResult>,
) -> Option<String> {
    let figures = results.flat_map(|result| &result.figures).filter(|figure| found.contains(&figure.id));
    let mut first = None;
    for figure in figures {
        if figure.status != Status::Unsupported {
            return None;
        }
        first.get_or_insert(figure);
    }
    let first = first?;
    let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let why = text(&first.why).unwrap_or_else(|| "no reason is on record".to_owned());
    let remedy = text(&first.remedy).map_or(String::new(), |remedy| format!("; {remedy}"));
    let count = match found.len() {
        1 => "cannot be measured there".to_owned(),
        many => format!("and {} more cannot be measured there", many - 1),
    };
    Some(format!("{} {count}: {why}{remedy}", first.id))
}

fn ids(found: &Matched) -> Vec<&'static str> {
    found.choices.iter().map(|choice| choice.card().id).collect()
}

/// What a pattern found, where that is not plain from it.
pub fn told(typed: &str, way: Way, ids: &[&str]) -> Option<String> {
    let typed = oscost_results::Untrusted::new(typed).terminal().to_string();
    let whose = match way {
        Way::Beginning => {
            // A document may be called as a family is.
            let synonym = Pattern::new(&typed, SYNONYMS).synonym()?;
            let number = synonym.words.first()?;
            return Some(format!(
                "'{typed}' stands for the ids that begin with it; for {}, type '{number}'",
                synonym.what
            ));
        }
        Way::Id | Way::Star => return None,
        Way::Synonym(synonym) => format!(" is {}:", synonym.what),
        Way::Parts | Way::Word | Way::Part if ids.len() == 1 => return None,
        Way::Parts | Way::Word | Way::Part => " finds".to_owned(),
    };
    Some(format!("'{typed}'{whose} {}", listed(ids)))
}

/// "2 figures: a, b"; of many the families: "24 figures: semaphore 10, lock 14".
pub fn listed(ids: &[&str]) -> String {
    let names = if ids.len() <= NAMED {
        ids.join(", ")
    } else {
        let mut families: Vec<(&str, usize)> = Vec::new();
        for id in ids {
            let family = id.split('/').next().unwrap_or(id);
            match families.iter_mut().find(|(known, _)| *known == family) {
                Some((_, count)) => *count += 1,
                None => families.push((family, 1)),
            }
        }
        families.iter().map(|(family, count)| format!("{family} {count}")).collect::<Vec<_>>().join(", ")
    };
    format!("{} {}: {names}", ids.len(), if ids.len() == 1 { "figure" } else { "figures" })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn a_word_that_finds_several_says_what_and_how_many() {
        let found = |typed: &str| {
            let found =
                catalogue().look_up(&[typed.to_owned()], Tier::Family).map_err(|miss| miss.to_string());
            let found = found.expect("found").remove(0);
            told(typed, found.way, &ids(&found))
        };
        assert_eq!(
            found("getpid").as_deref(),
            Some("'getpid' finds 2 figures: syscall/getpid, syscall/getpid_libc")
        );
        assert_eq!(
            found("lat_ctx").as_deref(),
            Some("'lat_ctx' is lmbench's switch between processes: 6 figures: context_switch 6")
        );
        let both = found("context-switch").expect("two meanings");
        assert!(both.contains("for document 004, type '004'"), "{both}");
        for plain in ["syscall", "syscall/getpid", "*/same_cpu", "getpid_libc"] {
            assert_eq!(found(plain), None, "{plain}");
        }
    }

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
        let many = choose("lock/*/hold_us_3/*").err().expect("every number of processes");
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
    fn a_number_that_no_id_has_is_answered_with_those_that_ids_have() {
        let miss = |typed: &str| {
            catalogue().look_up(&[typed.to_owned()], Tier::Family).err().expect("no id").to_string()
        };
        let holds = miss("processes_4/hold_us_33/think_0");
        assert!(holds.contains("no hold_us_33, but hold_us_ with 0, 1, 3, 10, 30, 100, 300"), "{holds}");
        let workers = miss("lock/mutex/contended/processes_4711/hold_us_3/think_0");
        assert!(workers.contains("no processes_4711, but processes_ with 1, 2, 4"), "{workers}");
        assert!(miss("zzz_4711").ends_with("'oscost list' shows what there is"), "{}", miss("zzz_4711"));
    }

    #[test]
    fn a_family_is_not_found_inside_another_name() {
        let arguments = crate::args::Arguments::parse_from(["oscost", "-q", "list"]);
        let talk = Talk::new(&arguments.common);
        let only = |typed: &str, ids: &[&str]| {
            super::only(&[typed.to_owned()], &ids.iter().copied().collect(), &talk)
                .map_err(|ended| ended.to_string())
        };
        let clocks = ["clock/monotonic", "syscall/getpid_libc"];
        let missing = only("lock", &clocks).expect_err("no lock was measured");
        assert!(missing.contains("none of them was measured there"), "{missing}");
        assert!(only("clock", &clocks).is_ok() && only("getpid", &clocks).is_ok());
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
