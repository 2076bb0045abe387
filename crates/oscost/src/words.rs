//! Says which figures a user's words mean, and finds them in results.

use std::collections::BTreeSet;

use oscost_results::search::{Pattern, Tier, Way, nearest};
use oscost_results::{RunResult, Status};

use crate::exit::Ended;
use crate::known::{Matched, catalogue};
use crate::output::Talk;
use crate::synonyms::synonyms;

/// So many ids are named one by one; of more, the families with their numbers.
const NAMED: usize = 4;

/// Those of `ids`, which results hold, that the patterns find; what words found is said.
pub fn only(patterns: &[String], ids: &BTreeSet<&str>, talk: &Talk) -> Result<BTreeSet<String>, Ended> {
    let mut all = BTreeSet::new();
    for typed in patterns {
        let (way, found) = meant(typed, ids).ok_or_else(|| not_in_results(typed, ids))?;
        if let Some(words) = told(typed, way, &found) {
            talk.say(words);
        }
        all.extend(found.into_iter().map(str::to_owned));
    }
    Ok(all)
}

/// Those of `ids`, which results hold, that one pattern finds, and how.
pub fn meant<'i>(typed: &str, ids: &BTreeSet<&'i str>) -> Option<(Way, Vec<&'i str>)> {
    let pattern = Pattern::new(typed, synonyms());
    let (way, found) = pattern.search(ids.iter().copied(), |id| *id)?;
    // "lock" is a family, also where a result holds clocks alone.
    let means = |id: &str| pattern.finds(id) == Some(Way::Beginning);
    let is_word = matches!(way, Way::Synonym(_) | Way::Parts | Way::Word | Way::Part);
    let is_other = is_word && catalogue().tier(Tier::Thorough).iter().any(|card| means(&card.id));
    (!is_other).then_some((way, found))
}

/// Why a pattern finds nothing in results that hold `ids`: it is there to be measured, or what may have been meant.
fn not_in_results(typed: &str, ids: &BTreeSet<&str>) -> Ended {
    let shown = oscost_results::Untrusted::new(typed).terminal().to_string();
    match catalogue().look_up(&[typed.to_owned()], Tier::Thorough) {
        Ok(found) => {
            let found: Vec<&str> = found.iter().flat_map(Matched::ids).collect();
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

/// What a pattern found, where that is not plain from it.
pub fn told(typed: &str, way: Way, ids: &[&str]) -> Option<String> {
    let typed = oscost_results::Untrusted::new(typed).terminal().to_string();
    let whose = match way {
        Way::Beginning => {
            // A document may be called as a family is.
            let synonym = Pattern::new(&typed, synonyms()).synonym()?;
            let number = synonym.words.first()?;
            return Some(format!(
                "'{typed}' stands for the ids that begin with it; for {}, type '{number}'",
                synonym.what
            ));
        }
        Way::Id | Way::Star => return None,
        Way::Synonym(synonym) => {
            let (meant, others): (Vec<&str>, Vec<&str>) = ids.iter().partition(|id| synonym.means(id));
            let finds = |others: &[&str]| format!("'{typed}' finds {}", listed(others));
            return Some(match (&meant[..], &others[..]) {
                ([], others) => finds(others),
                (meant, []) => format!("'{typed}' is {}: {}", synonym.what, listed(meant)),
                (meant, others) => {
                    format!("{}; it also is {}: {}", finds(others), synonym.what, listed(meant))
                }
            });
        }
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

/// "1 figure", "2 launches".
pub fn counted(number: usize, what: &str) -> String {
    let end = match number {
        1 => "",
        _ if what.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{number} {what}{end}")
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
            told(typed, found.way, &found.ids())
        };
        assert_eq!(
            found("getpid").as_deref(),
            Some("'getpid' finds 2 figures: syscall/getpid, syscall/getpid_libc")
        );
        assert_eq!(
            found("lat_ctx").as_deref(),
            Some(
                "'lat_ctx' is lmbench's switch between processes, or the calls that it subtracts: 6 figures: context_switch 6"
            )
        );
        let stream = found("stream").expect("what it is, and what holds it");
        let held = "'stream' finds 1 figure: context_switch/unix_stream/same_cpu; it also is the bandwidth of memory: ";
        assert!(stream.starts_with(held), "{stream}");
        let both = found("context-switch").expect("two meanings");
        assert!(both.contains("for document 004, type '004'"), "{both}");
        for plain in ["syscall", "syscall/getpid", "*/same_cpu", "getpid_libc"] {
            assert_eq!(found(plain), None, "{plain}");
        }
    }

    #[test]
    fn a_number_that_no_id_has_is_answered_with_those_that_ids_have() {
        let miss = |typed: &str| {
            catalogue().look_up(&[typed.to_owned()], Tier::Family).err().expect("no id").to_string()
        };
        let full = miss("processes_4/hold_us_33/think_0");
        assert!(
            full.contains("need a full id, as ") && full.ends_with("/processes_4/hold_us_33/think_0"),
            "{full}"
        );
        for (end, wrong) in [
            (
                "processes_4/hold_us_7/think_3_holds",
                "think_3_holds does not fit; listed ids have think_ with 0, 2_holds",
            ),
            (
                "processes_4/hold_us_10001/think_0",
                "hold_us_10001 does not fit; listed ids have hold_us_ with 0, 1, 3, ",
            ),
            (
                "processes_65/hold_us_7/think_0",
                "processes_65 does not fit; listed ids have processes_ with 1, 2, 4, ",
            ),
        ] {
            let told = miss(&format!("semaphore/system_v/contended/{end}"));
            assert!(told.contains(wrong), "{told}");
        }
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
}
