//! The checks of `oscost doctor` in words, so that `explain` finds them by any word that people have for their subject.

use crate::table::rows;

/// A check: its name, what it looks at, and what mends it.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// As results have it ("cgroup_quota").
    pub name: &'static str,
    /// What else it is called, where figures are found by that word, too.
    pub also: &'static str,
    /// What it looks at, by all its usual names.
    pub looks: &'static str,
    /// What mends it.
    pub remedy: &'static str,
}

/// Every check, in the order of `oscost doctor`.
pub fn checks() -> impl Iterator<Item = About> {
    rows(include_str!("checks.txt")).map(|[names, looks, remedy]| {
        let (name, also) = names.split_once(' ').unwrap_or((names, ""));
        About { name, also, looks, remedy }
    })
}

/// The check of this name; case, spaces and hyphens do not matter, and a word of a name of two is enough.
pub fn named(thing: &str) -> Option<About> {
    let wanted = thing.trim().to_lowercase().replace([' ', '-'], "_");
    let whole = checks()
        .find(|check| check.name == wanted || check.also.split_whitespace().any(|also| also == wanted));
    whole.or_else(|| checks().find(|check| check.name.split('_').any(|part| part == wanted)))
}

/// Whether `text` has this word, or all of these words, as whole words. Case and hyphens do not matter.
pub fn mentions(text: &str, wanted: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        // A word with a hyphen is found by its parts, and as one.
        let joined = text.replace('-', "");
        let words =
            [text, &joined].map(|text| text.split(|letter: char| !letter.is_alphanumeric() && letter != '_'));
        let words = words.into_iter().flatten();
        words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let (text, wanted) = (words(text), words(wanted));
    !wanted.is_empty() && wanted.iter().all(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whole() {
        assert!(
            mentions("Turbo, boost (C-states)", "turbo") && mentions("Turbo, boost (C-states)", "c-states")
        );
        assert!(mentions("the frequency governor of a CPU", "cpu governor"));
        assert!(!mentions("turboprop", "turbo") && !mentions("a", " ") && !mentions("a b", "a c"));
        assert_eq!(named("Clock Source").map(|check| check.name), Some("clock_source"));
        assert_eq!(named("quota").map(|check| check.name), Some("cgroup_quota"));
        assert!(named("").is_none() && named("nothing").is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn every_check_of_doctor_is_there_in_its_order() {
        let made =
            oscost_session::doctor::examine_system(&oscost_session::doctor::system::System::unmeasured());
        let made: Vec<&str> = made.iter().map(|check| check.check.as_str()).collect();
        assert_eq!(made, checks().map(|check| check.name).collect::<Vec<_>>());
        for check in checks() {
            assert!(check.looks.ends_with('.') && check.remedy.ends_with('.'), "{}", check.name);
        }
    }
}
