//! `--set key=value`: settings of one family or document, checked against their tables.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use clap::Args;
use oscost_documents::ALL;
use oscost_families::FAMILIES;
use oscost_harness::{Given, Setting};
use oscost_results::Untrusted;
use oscost_results::search::nearest;

use crate::exit::Ended;

#[derive(Debug, Args)]
pub struct Set {
    /// Set an option of one family or document; repeat for each. 'oscost explain NAME' lists the keys
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<OsString>,
}

/// Whose keys a command takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// `oscost run`.
    Families,
    /// `oscost reproduce`.
    Documents,
}

impl Whose {
    /// Names of all that have keys, with them.
    pub fn tables(self) -> Vec<(&'static str, &'static [Setting])> {
        let mut tables: Vec<(&str, &[Setting])> = match self {
            Self::Families => FAMILIES.iter().map(|family| (family.name, family.settings)).collect(),
            Self::Documents => {
                ALL.iter().map(|document| (document.founding.name, document.settings)).collect()
            }
        };
        tables.retain(|(_, settings)| !settings.is_empty());
        tables
    }

    /// A key, and to whom it belongs.
    fn find(self, key: &str) -> Option<(&'static str, &'static Setting)> {
        let key = key.to_lowercase().replace('-', "_");
        let named = |(owner, settings): (&'static str, &'static [Setting])| {
            settings.iter().find(|setting| setting.key == key).map(|setting| (owner, setting))
        };
        self.tables().into_iter().find_map(named)
    }

    /// Name of the command.
    pub fn command(self) -> &'static str {
        match self {
            Self::Families => "run",
            Self::Documents => "reproduce",
        }
    }

    fn unknown(self, key: &str) -> Ended {
        let other = if self == Self::Families { Self::Documents } else { Self::Families };
        if let Some((owner, setting)) = other.find(key) {
            let (here, there) = (self.command(), other.command());
            return Ended::misuse(format!(
                "--set {}= belongs to 'oscost {there} {owner}'; 'oscost {here}' has no such key",
                setting.key
            ));
        }
        let tables = self.tables();
        let keys = tables.iter().flat_map(|(_, settings)| settings.iter().map(|setting| setting.key));
        let key: String = key.chars().take(100).collect();
        let advice = match nearest(&key, keys).as_slice() {
            [] => {
                let owners: Vec<&str> = tables.iter().map(|(owner, _)| *owner).collect();
                format!("'oscost explain NAME' lists the keys of {}", owners.join(", "))
            }
            near => format!("did you mean {}?", near.join(" or ")),
        };
        Ended::misuse(format!("--set {}=: there is no such key; {advice}", Untrusted::new(&key).terminal()))
    }
}

impl Set {
    /// The values that were given, checked one by one.
    ///
    /// # Errors
    /// No key and value, no key of the command, or no value of the key.
    pub fn given(&self, whose: Whose) -> Result<Given, Ended> {
        let mut given = Given::default();
        for typed in &self.set {
            let bytes = typed.as_bytes();
            let key = bytes.split(|byte| *byte == b'=').next().unwrap_or_default();
            let value = bytes.get(key.len() + 1..).map(OsStr::from_bytes);
            let key = String::from_utf8_lossy(key);
            let (_, setting) = whose.find(&key).ok_or_else(|| whose.unknown(&key))?;
            let value = value.ok_or_else(|| {
                let (key, values) = (setting.key, setting.values());
                Ended::misuse(format!("--set {key}: a value is missing, --set {key}=VALUE: {values}"))
            })?;
            given.set(setting, value).map_err(Ended::misuse)?;
        }
        Ok(given)
    }
}

/// Fails where a value was given to what was not chosen. Several may have one key: one of them must be chosen.
pub fn refuse_unchosen(given: &Given, whose: Whose, chosen: impl Fn(&str) -> bool) -> Result<(), Ended> {
    for (owner, setting) in given.keys().filter_map(|key| whose.find(key)) {
        let has = |settings: &[Setting]| settings.iter().any(|it| it.key == setting.key);
        let owners = whose.tables().into_iter().filter(|(_, settings)| has(settings));
        let owners: Vec<&str> = owners.map(|(owner, _)| owner).collect();
        if !owners.iter().any(|owner| chosen(owner)) {
            return Err(Ended::misuse(format!(
                "--set {}= belongs to {}, which was not chosen: oscost {} {owner}",
                setting.key,
                owners.join(" or "),
                whose.command()
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use oscost_harness::Takes;

    use super::*;

    fn given(whose: Whose, set: &[&str]) -> Result<Given, String> {
        let set = Set { set: set.iter().map(OsString::from).collect() };
        set.given(whose).map_err(|ended| ended.to_string())
    }

    #[test]
    fn each_key_means_one_thing_in_a_command_and_says_what_it_is_in_few_words() {
        for whose in [Whose::Families, Whose::Documents] {
            let mut keys = BTreeSet::new();
            for (owner, settings) in whose.tables() {
                for setting in settings {
                    // Two families may have one key, if it means the same.
                    let first = whose.find(setting.key).map(|(_, first)| (first.what, first.default));
                    assert_eq!(first, Some((setting.what, setting.default)), "{owner}: {}", setting.key);
                    keys.insert(setting.key);
                    let is_plain = setting.key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
                    assert!(is_plain, "{}", setting.key);
                    let words = setting.what.split_whitespace().count();
                    assert!((1..=20).contains(&words), "{}: {words} words", setting.key);
                    assert!(!setting.default.is_empty() && !setting.values().is_empty(), "{}", setting.key);
                    let has_words = matches!(setting.takes, Takes::Word(_));
                    assert_eq!(has_words, !setting.words().is_empty(), "{}", setting.key);
                }
            }
            assert!(keys.len() >= 10, "{keys:?}");
        }
    }

    #[test]
    fn keys_are_found_as_people_type_them() {
        let found = given(Whose::Documents, &["Send-Mode=blocking", "clients=3,4"]).expect("keys");
        assert_eq!((found.word("send_mode"), found.numbers("clients")), (Some("blocking"), &[3, 4][..]));
        let command = given(Whose::Families, &["load_command=a=b,c"]).expect("a command");
        assert_eq!(command.text("load_command"), Some("a=b,c"));
    }

    #[test]
    fn what_is_wrong_is_told_with_a_way_out() {
        for (whose, typed, words) in [
            (Whose::Families, "cleints=3", "did you mean clients?"),
            (Whose::Families, "qqqq=3", "realtime_ipc, record_database"),
            (Whose::Families, "=3", "no such key"),
            (Whose::Families, "nrec=3", "belongs to 'oscost reproduce apue'"),
            (Whose::Documents, "transport=pipe", "belongs to 'oscost run realtime_ipc'"),
            (Whose::Families, "clients", "a value is missing"),
            (Whose::Families, "clients=0", "from 1 to 999"),
            (Whose::Families, "transport=pipes", "did you mean pipe?"),
        ] {
            let refused = given(whose, &[typed]).expect_err(typed);
            assert!(refused.contains(words), "{typed}: {refused}");
        }
        assert!(given(Whose::Families, &["clients=1", "clients=2"]).is_err_and(|why| why.contains("twice")));
        let clients = given(Whose::Families, &["clients=1"]).expect("a key");
        let refused =
            refuse_unchosen(&clients, Whose::Families, |owner| owner == "syscall").expect_err("not chosen");
        assert_eq!(
            refused.to_string(),
            "--set clients= belongs to realtime_ipc, which was not chosen: oscost run realtime_ipc"
        );
        assert!(refuse_unchosen(&clients, Whose::Families, |owner| owner == "realtime_ipc").is_ok());
    }
}
