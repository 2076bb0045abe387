//! The rooms inside harness and report, as ARCHITECTURE.md draws them, proved from the sources: which room may use which, and
//! that there is no circle among them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of a crate, each below all that use it, with what it may use of the others.
type Rooms = &'static [(&'static str, &'static [&'static str])];

/// One folder a process, and what the two share below them. The supervisor takes from the worker what both read (the
/// environment, the clock): the worker's other modules are private to it.
const HARNESS: Rooms = &[
    ("protocol", &[]),
    ("benchmark", &["protocol"]),
    ("worker", &["benchmark", "protocol"]),
    ("figures", &["benchmark", "protocol"]),
    ("supervisor", &["benchmark", "figures", "protocol", "worker"]),
];

/// Views and renderers know blocks and not each other; what is for other programs knows neither.
const REPORT: Rooms = &[
    ("named", &[]),
    ("words", &[]),
    ("numbers", &[]),
    ("evidence", &["numbers"]),
    ("blocks", &["numbers"]),
    ("judge", &["evidence", "named", "numbers", "words"]),
    ("view", &["blocks", "evidence", "judge", "named", "numbers", "words"]),
    ("render", &["blocks", "numbers", "words"]),
    ("data", &["evidence", "judge", "named"]),
    ("show", &["blocks", "data", "judge", "named", "render", "view"]),
];

/// Names below the root of the crate that a source uses: by `crate::`, or by climbing `depth` modules up to it.
fn named(source: &str, depth: usize) -> BTreeSet<String> {
    let code: String =
        source.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n");
    let climb = "super::".repeat(depth);
    let ways = code.match_indices("crate::").chain(code.match_indices(&*climb));
    let mut found = BTreeSet::new();
    for (start, way) in ways.filter(|(start, way)| *way != climb || !code[..*start].ends_with("super::")) {
        let Some(group) = code[start + way.len()..].strip_prefix('{') else {
            found.insert(identifier(&code[start + way.len()..]).to_owned());
            continue;
        };
        let mut open = 0;
        for (at, letter) in group.char_indices() {
            let before = group[..at].trim_end();
            if open == 0 && !letter.is_whitespace() && (before.is_empty() || before.ends_with(',')) {
                found.insert(identifier(&group[at..]).to_owned());
            }
            match letter {
                '{' => open += 1,
                '}' if open == 0 => break,
                '}' => open -= 1,
                _ => {}
            }
        }
    }
    found
}

/// The identifier at the beginning of a path.
fn identifier(path: &str) -> &str {
    let end = path.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(path.len());
    &path[..end]
}

/// Checks the sources of a room below `path`, whose modules lie `depth` below the root; says how many there are.
fn check(rooms: Rooms, room: &str, allowed: &[&str], path: &Path, depth: usize) -> usize {
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path());
        return entries.map(|entry| check(rooms, room, allowed, &entry, depth + 1)).sum();
    }
    if path.extension().is_none_or(|it| it != "rs") {
        return 0;
    }
    let text = fs::read_to_string(path).expect("a source");
    // Tests put things together as they need.
    let code = &text[..text.find("#[cfg(test)]\nmod ").unwrap_or(text.len())];
    let depth = if path.ends_with("mod.rs") { depth - 1 } else { depth };
    for other in named(code, depth) {
        // A name that lib.rs hands on would hide the room that it comes from.
        let is_room = rooms.iter().any(|(known, _)| *known == other);
        assert!(is_room, "{} must name the room of {other}", path.display());
        let may = other == room || allowed.contains(&&*other);
        assert!(may, "{} must not name {other}", path.display());
    }
    1
}

/// Holds a crate against its rooms; says how many sources were read.
fn held(name: &str, rooms: Rooms) -> usize {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
    let mut looked_at = 0;
    for (index, (room, allowed)) in rooms.iter().enumerate() {
        let is_below = |other: &&str| rooms[..index].iter().any(|(below, _)| below == other);
        assert!(allowed.iter().all(is_below), "{name}: {room} may use what is not below it: a circle");
        let places: Vec<PathBuf> = [sources.join(room), sources.join(format!("{room}.rs"))].into();
        assert!(places.iter().any(|place| place.exists()), "{name} has no {room}");
        let found = places.iter().filter(|place| place.exists());
        looked_at += found.map(|place| check(rooms, room, allowed, place, 1)).sum::<usize>();
    }
    for entry in fs::read_dir(&sources).expect("src").map(|entry| entry.expect("an entry").path()) {
        let file = entry.file_stem().expect("a name").to_string_lossy().into_owned();
        let known = file == "lib" || rooms.iter().any(|(room, _)| *room == file);
        assert!(known, "{name}: {file} stands in no room");
    }
    looked_at
}

#[test]
fn worker_and_supervisor_are_two_rooms_above_what_they_share() {
    let looked_at = held("harness", HARNESS);
    assert!(looked_at > 50, "{looked_at}");
}

#[test]
fn views_and_renderers_do_not_know_each_other() {
    let looked_at = held("report", REPORT);
    assert!(looked_at > 70, "{looked_at}");
}

#[test]
fn the_reader_of_sources_sees_every_way_to_name_a_part() {
    let source = "use crate::render::text;\nuse crate::{numbers, view::{a, b}, data};\n// crate::no\n\
                  use super::super::{judge, words};\nfn f() { super::show(); super::super::blocks::x() }\n";
    let all = named(source, 2);
    let expected = ["blocks", "data", "judge", "numbers", "render", "view", "words"];
    assert_eq!(all.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}
