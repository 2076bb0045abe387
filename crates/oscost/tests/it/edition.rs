//! What an edition had is still there: commands, options, their values, exit codes, codes of warnings, keys, ids, and members of a result.

use std::collections::{BTreeMap, BTreeSet};

use crate::repository::{commands, document, json, said, words};

/// What 0.2.0 had: a line holds a kind, for most kinds what it is of, and names.
const EDITION: &str = include_str!("edition_0_2_0.txt");

/// What has another name or is gone since: how [`names`] writes it, and what CHANGELOG.md says of it, word for word.
const RENAMED: &[(&str, &str)] = &[];

/// "a/{b,c}" is "a/b" and "a/c".
fn spread(pattern: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    for (place, segment) in pattern.split('/').enumerate() {
        let inner = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let parts: Vec<&str> = inner.unwrap_or(segment).split(',').collect();
        let slash = if place == 0 { "" } else { "/" };
        found = found
            .iter()
            .flat_map(|begin| parts.iter().map(move |part| format!("{begin}{slash}{part}")))
            .collect();
    }
    found
}

/// Each thing of the list by itself: "option run --quick", "value run --format text", "code 3", "id lock/futex".
fn names(list: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let kind = words.next().expect("a kind");
        let of = match kind {
            "option" | "key" | "member" | "word" => 1,
            "value" => 2,
            _ => 0,
        };
        let of: Vec<&str> = words.by_ref().take(of).collect();
        let owner = [&[kind], &of[..]].concat().join(" ");
        for word in words {
            match (kind, word.split_once(':')) {
                ("key", Some((key, values))) => {
                    found.extend(values.split(',').map(|value| format!("{owner} {key}={value}")));
                }
                ("id", _) => found.extend(spread(word).into_iter().map(|id| format!("{owner} {id}"))),
                _ => found.push(format!("{owner} {word}")),
            }
        }
    }
    found
}

/// The part of a page of help that belongs to each option, under its long and its short name.
fn options(page: &str) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut open: Vec<String> = Vec::new();
    for line in page.split("\nOptions:\n").nth(1).unwrap_or_default().lines() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if text.starts_with('-') && !text.starts_with("- ") && indent <= 6 {
            let named = text.split([' ', ',']).filter(|word| word.starts_with('-'));
            open = named.map(str::to_owned).collect();
        }
        for name in &open {
            let part = found.entry(name.clone()).or_default();
            part.push_str(text);
            part.push('\n');
        }
    }
    found
}

/// What stands in an option's part of the help as one of its values.
fn values(part: &str) -> BTreeSet<String> {
    let listed = part.lines().filter_map(|line| line.strip_prefix("- "));
    let mut found: BTreeSet<String> =
        listed.filter_map(|line| line.split(':').next()).map(|name| name.trim().to_owned()).collect();
    let line = part.replace('\n', " ");
    if let Some(inline) = line.split("[possible values: ").nth(1).and_then(|rest| rest.split(']').next()) {
        found.extend(inline.split(", ").map(str::to_owned));
    }
    found
}

/// Everything that there is now, written as [`names`] writes it.
fn today() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut commands = commands();
    commands.extend(["tick/server", "tick/client"].map(str::to_owned));
    found.extend(commands.iter().map(|command| format!("command {command}")));
    for command in commands.iter().map(String::as_str).chain(["oscost"]) {
        let named = command.split('/').filter(|word| *word != "oscost").chain(["--help"]);
        let page = said(&named.collect::<Vec<_>>()).unwrap_or_else(|| panic!("{command} has no help"));
        for (option, part) in options(&page) {
            found.insert(format!("option {command} {option}"));
            found.extend(values(&part).iter().map(|value| format!("value {command} {option} {value}")));
        }
    }
    let page = said(&["--generate", "man"]).expect("a man page");
    let codes = page.split("EXIT STATUS").nth(1).expect("exit codes");
    let bold = codes.split("\\fB").skip(1).filter_map(|rest| rest.split("\\fR").next());
    found.extend(bold.flat_map(|codes| codes.split(", ")).map(|code| format!("code {code}")));
    // What the program of x86_64 says of itself, and a test of its own holds to the program.
    let known = json("crates/oscost/src/known/known.json");
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
    for owner in ["families", "documents"].iter().flat_map(|kind| known[kind].as_array().expect("a list")) {
        for key in owner["keys"].as_array().expect("keys") {
            let name = format!("key {} {}", text(&owner["name"]), text(&key["key"]));
            let values = key["words"].as_array().expect("words");
            found.extend(values.iter().map(|value| format!("{name}={}", text(value))));
            found.insert(name);
        }
    }
    found.extend(
        known["cards"].as_array().expect("cards").iter().map(|card| format!("id {}", text(&card["id"]))),
    );
    let schema = json("docs/result.schema.json");
    let types = schema["$defs"].as_object().expect("types").iter().map(|(name, of)| (name.as_str(), of));
    for (name, of) in types.chain([("Result", &schema)]) {
        if let Some(members) = of["properties"].as_object() {
            found.extend(members.keys().map(|member| format!("member {name} {member}")));
        } else {
            let mut allowed = BTreeSet::new();
            words(of, &mut allowed);
            found.extend(allowed.iter().map(|word| format!("word {name} {word}")));
        }
    }
    found
}

#[test]
fn all_that_an_edition_had_is_there_or_was_renamed() {
    let now = today();
    let changes = document("CHANGELOG.md");
    let had = names(EDITION);
    let renamed = |name: &str| RENAMED.iter().any(|(old, _)| *old == name);
    let is_there = |name: &str| match name.strip_prefix("warning ") {
        Some(code) => said(&["explain", code]).is_some(),
        None => now.contains(name),
    };
    let gone: Vec<&String> = had.iter().filter(|name| !renamed(name) && !is_there(name)).collect();
    assert!(gone.is_empty(), "0.2.0 had, and this program has not: {gone:#?}");
    for (old, why) in RENAMED {
        assert!(had.iter().any(|name| name == old), "0.2.0 had no '{old}'");
        assert!(!is_there(old), "'{old}' is there: it was not renamed");
        assert!(changes.contains(why), "CHANGELOG.md does not say of '{old}': {why}");
    }
}

#[test]
fn the_list_of_an_edition_is_read_as_it_is_written() {
    let list = "# no name\noption run --all -o\nvalue run --format text csv\nkey tax on kind:a,b\nid clock/{tsc,time}/x\ncode 0 3";
    let expected = [
        "option run --all",
        "option run -o",
        "value run --format text",
        "value run --format csv",
        "key tax on",
        "key tax kind=a",
        "key tax kind=b",
        "id clock/tsc/x",
        "id clock/time/x",
        "code 0",
        "code 3",
    ];
    assert_eq!(names(list), expected);
    let had = names(EDITION);
    for (kind, least) in [
        ("id", 1991),
        ("option", 170),
        ("value", 60),
        ("member", 250),
        ("code", 12),
        ("warning", 19),
        ("key", 80),
    ] {
        let count = had.iter().filter(|name| name.split(' ').next() == Some(kind)).count();
        assert!(count >= least, "{count} of {kind}");
    }
    let page = "Usage\n\nOptions:\n      --format <F>\n          Format\n\n          - text\n          - csv: rows\n\n  -o <FILE>  Out\n  -q, --quiet  \
                Less [possible values: a,\n                b]\n";
    let read = options(page);
    assert_eq!(read.keys().collect::<Vec<_>>(), ["--format", "--quiet", "-o", "-q"]);
    assert_eq!(values(&read["--format"]).into_iter().collect::<Vec<_>>(), ["csv", "text"]);
    assert_eq!(values(&read["-q"]).into_iter().collect::<Vec<_>>(), ["a", "b"]);
}
