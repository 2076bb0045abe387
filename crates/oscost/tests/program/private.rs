//! What a result tells of its host: nothing private unless asked for, all of it listed, and nothing of it where it is anonymous.

use std::collections::BTreeSet;

use oscost_results::{RunResult, telling_parameters};
use serde_json::Value;

use crate::compare::changed;
use crate::support::Home;

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

/// Every string of a value, names of members among them.
fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(all) => all.iter().for_each(|value| strings(value, found)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            found.push(name.clone());
            strings(value, found);
        }),
        _ => {}
    }
}

/// What tells this host and its user from others, in words as they would stand in a text.
struct Secrets {
    /// Texts that may stand nowhere, not even inside another word.
    texts: Vec<String>,
    /// Words that may not stand alone: a short name may well be a part of another word.
    words: BTreeSet<String>,
}

impl Secrets {
    fn of(home: &Home) -> Self {
        let host = read("/proc/sys/kernel/hostname");
        let user = std::env::var("USER").unwrap_or_default();
        let line = read("/proc/cmdline");
        let telling = telling_parameters(&line);
        let parameters = line.split_whitespace().filter(|word| !telling.split(' ').any(|it| it == *word));
        let parameters = parameters.filter(|word| word.contains('=')).map(str::to_owned);
        // "as root" is said of remedies.
        let names = [host, user].into_iter().filter(|name| !name.is_empty() && name != "root");
        Self {
            texts: vec![home.path().to_str().expect("UTF-8").to_owned()],
            words: parameters.chain(names).chain(["Eve-of-lab17".to_owned()]).collect(),
        }
    }

    #[track_caller]
    fn are_not_in(&self, json: &str) {
        let mut all = Vec::new();
        strings(&serde_json::from_str(json).expect("JSON"), &mut all);
        assert!(all.len() > 100, "{}", all.len());
        for text in &all {
            for secret in &self.texts {
                assert!(!text.contains(secret.as_str()), "{secret:?} is in {text:?}");
            }
            let parts = text.split(|it: char| it.is_whitespace() || "()'\",;:".contains(it));
            for part in parts {
                assert!(!self.words.contains(part), "{part:?} is in {text:?}");
            }
        }
    }
}

#[test]
fn nothing_private_is_stored_unless_it_is_asked_for() {
    let home = Home::new();
    let path = home.path().join("named.json");
    let path = path.to_str().unwrap();
    home.measure(&["run", "--one-launch", "-q", "--json", path, "syscall/getppid"]).well();
    Secrets::of(&home).are_not_in(&std::fs::read_to_string(path).unwrap());
    let whole = read("/proc/cmdline");
    let of = |result: &RunResult| result.conditions.command_line.clone().unwrap_or_default();
    assert_eq!(of(&home.stored()[0]), telling_parameters(&whole));
    assert!(home.stored()[0].plan.arguments.is_empty());
    home.measure(&["run", "--one-launch", "-q", "--keep-private", "--json", path, "syscall/getppid"]).well();
    let kept = oscost_results::load(std::path::Path::new(path)).unwrap();
    assert_eq!((of(&kept).as_str(), kept.plan.arguments[5].as_str()), (&*whole, path));
}

#[test]
fn an_anonymous_result_tells_of_no_host() {
    let home = Home::new();
    let arguments = ["run", "--one-launch", "-q", "--keep-private", "--note", "by Eve-of-lab17", "syscall"];
    home.measure(&arguments).well();
    let mut stored = std::fs::read_dir(home.runs()).unwrap().map(|entry| entry.unwrap().path());
    let stored = stored.find(|path| path.extension().is_some_and(|it| it == "json")).unwrap();
    let place = home.path().join("a file").to_str().unwrap().replace(' ', "_");
    // What rare machines have: it stands in the texts of checks, warnings and figures.
    changed(&stored, &home.path().join("full.json"), &|result| {
        result.plan.directory = Some(place.clone());
        result.conditions.preload = Some(vec!["Eve-of-lab17".into()]);
        result.conditions.unknown.insert("host".into(), "Eve-of-lab17".into());
        result.warnings.push(format!("cannot lock {place}: EACCES"));
        result.figures[0].why = Some(format!("open '{place}'"));
        result.figures[0].evidence.tracer_pid = Some(4242);
        for check in &mut result.doctor {
            if ["mounts", "tracing", "network", "privileges"].contains(&check.check.as_str()) {
                check.says = format!("results ({place}) of Eve-of-lab17");
                check.remedy = Some("ask Eve-of-lab17".into());
            }
        }
    });
    let mut secrets = Secrets::of(&home);
    secrets.texts.extend([read("/proc/sys/kernel/random/boot_id"), "Eve-of-lab17".into()]);
    let anonymous = home.ask(&["report", "full.json", "--anonymous", "--format", "json"]);
    // The second line of a result is its checksum: still JSON.
    secrets.are_not_in(&anonymous.well().stdout);
    std::fs::write(home.path().join("anonymous.json"), &anonymous.stdout).unwrap();
    let (of_all, of_it) =
        (home.ask(&["report", "full.json", "--all"]), home.ask(&["report", "anonymous.json", "--all"]));
    let row = |text: &str| text.lines().find(|line| line.starts_with("  getppid ")).map(str::to_owned);
    assert_eq!(row(&of_it.well().stdout), row(&of_all.well().stdout), "the same figures");
    for format in ["text", "markdown", "html", "csv", "openmetrics"] {
        let shown = home.ask(&["report", "full.json", "--anonymous", "--format", format]);
        assert!(!shown.well().stdout.contains("Eve-of-lab17") && !shown.stdout.contains(&place), "{format}");
    }
    // Of the whole store, too: a history has notes, and names that say when.
    let begun = stored.file_stem().and_then(|name| name.to_str()).expect("a name");
    home.ask(&["report", "@all"]).well().shows("Eve-of-lab17");
    home.ask(&["report", "@all", "--anonymous"]).well().hides("Eve-of-lab17").hides(begun).shows("floor");
}

#[test]
fn what_a_result_tells_of_its_host_is_listed_with_the_reason() {
    let home = Home::new();
    home.measure(&["run", "--one-launch", "-q", "syscall/getppid"]).well();
    let listed = home.ask(&["report", "--what-is-in-it"]);
    let stored = &home.stored()[0];
    for fact in stored.host_facts() {
        assert!(listed.well().stdout.contains(&fact.name), "{}: {listed:?}", fact.name);
    }
    let boot = stored.conditions.boot_id.as_deref().unwrap();
    listed.shows(&format!("conditions.boot_id: {boot} (figures differ from"));
    assert!(listed.stdout.trim_end().ends_with("oscost report --anonymous"), "{listed:?}");
    let of_all = home.ask(&["report", "@all", "--what-is-in-it"]);
    assert_eq!(of_all.well().stdout, listed.stdout, "the store has this run alone");
    home.ask(&["report", "--what-is-in-it", "--anonymous"]).refused(2, "cannot be used with");
}
