//! Rules for every source, proved by reading it: it is short, it says its purpose, and what it makes public can grow.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::repository::{code, root, sources};

/// Lines of a source, at most.
const MOST_LINES: usize = 450;

/// The libraries that programs of others use.
const LIBRARIES: &[&str] = &["sys", "stats", "results", "harness", "session", "report", "recorddb", "count"];

/// Public structs that another program may write out in full, by the reason for which they need not grow.
const COMPLETE: &[(&str, &str)] = &[
    (
        "two or three values that its name defines",
        "Choice Counted DriftFound Entered Instant Interval Knee Lateness Moved Named Null Opening Pipe Range Scanned \
         SchedulingRefusal Seen SpeedUp Style Synonym Turn Window",
    ),
    (
        "a member of a stored result: it has what its version of the format has",
        "AtQuantile CoreConstants FirstCalls Gaps Longer",
    ),
    ("of version 1, which has ended", "VersionOneSide"),
    (
        "a question that must be answered in full: what is forgotten must not compile",
        "Foreign Options Setting",
    ),
    ("what a benchmark gets or answers, which its tests write out", "PostCondition SeriesPlan SetUp"),
    ("between two halves of one build", "BootRequest CountPlan CountRow Hello"),
    ("a row of one table, made and shown by one program", "Agreement Side"),
    ("what document 001's workload is made of", "Done WorkPlan"),
];

#[test]
fn every_source_is_short_and_says_its_purpose_first() {
    let folders = ["crates", "examples", "contrib", "fuzz"].into_iter();
    let found: Vec<_> = folders.flat_map(|folder| sources(&root().join(folder))).collect();
    assert!(found.len() > 600, "{}", found.len());
    for (path, text) in &found {
        let lines = text.lines().count();
        assert!(lines <= MOST_LINES, "{}: {lines} lines: which two purposes has it?", path.display());
        let first = text.lines().next().unwrap_or_default();
        let says = first.strip_prefix("//! ").is_some_and(|words| words.len() > 10);
        assert!(says, "{}: its first line must say its purpose: {first}", path.display());
    }
}

/// What the standard library answers a refused call with is its own end: a list of a folder that cannot be closed, a sleep that
/// fails, and keys of a table that cannot be drawn. `oscost_sys` has calls that say so instead.
const ENDS_US: &[&str] =
    &["fs::read_dir(", "thread::sleep(", "HashMap::new()", "HashSet::new()", "RandomState"];

/// Where they stay, by the reason.
const MAY_END_US: &[(&str, &str)] = &[
    (
        "crates/count/src/trace.rs",
        "a table of every instruction; it draws keys on the host alone, behind qemu",
    ),
    ("crates/count/src/tree.rs", "the same"),
    ("crates/results/src/place/other.rs", "other systems have nothing else"),
    ("crates/results/src/place/mod.rs", "the same; Linux has a branch of its own"),
    ("crates/results/src/killed.rs", "tests"),
];

#[test]
fn no_call_of_the_standard_library_ends_the_program_where_it_can_be_avoided() {
    let mut met = 0;
    for (path, text) in &sources(&root().join("crates")) {
        let name = path.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned();
        let is_product =
            name.contains("/src/") && !name.contains("/tests") && !name.ends_with("synthetic.rs");
        let code = code(text);
        let here = ENDS_US.iter().filter(|call| is_product && code.contains(**call));
        for call in here {
            let excused = MAY_END_US.iter().any(|(file, _)| *file == name);
            assert!(excused, "{name}: {call}: use what oscost_sys or the crate has for it");
            met += 1;
        }
    }
    assert!(met >= 3, "the search finds what it is there for: {met}");
}

/// Calls that look for words in a text.
const LOOKS: &str = "starts_with ends_with contains strip_prefix strip_suffix trim_start_matches trim_end_matches split_once \
    rsplit_once split rsplit splitn split_terminator find rfind matches match_indices";

/// What the crates that show and judge results may look for, and why that is no sentence of another crate. The list only shrinks: what a view
/// needs of a title, a statement, a reason, a finding or a warning is a member of the result.
const MAY_LOOK: [(&str, &str, &str); 28] = [
    ("apue/cell.rs", "strip_prefix(FAMILY)", "parts of an id"),
    ("apue/cell.rs", "strip_prefix(SINGLE)", "parts of an id"),
    ("apue/cell.rs", "strip_prefix(REPEATED)", "parts of an id"),
    ("grame/mod.rs", "starts_with(PREFIX)", "parts of an id"),
    ("grame/mod.rs", "starts_with(\"realtime_ipc/\")", "parts of an id"),
    ("grame/settings.rs", "strip_prefix(PREFIX)", "parts of an id"),
    ("grame/settings.rs", "strip_prefix(\"clients_\")", "parts of an id"),
    ("grame/settings.rs", "strip_suffix(\"ns\")", "parts of an id"),
    ("literal.rs", "starts_with(PREFIX)", "parts of an id"),
    ("grame/elsewhere.rs", "starts_with(\"Darwin\")", "names of systems, as uname has them"),
    ("evidence.rs", "starts_with(\"system_calls\")", "names of claims, which are ids"),
    ("evidence.rs", "strip_prefix(\"system_calls_by_chance:\")", "names of claims, which are ids"),
    ("view/documents.rs", "starts_with(\"/literal/\")", "parts of an id"),
    ("view/documents.rs", "starts_with(\"/paired/\")", "parts of an id"),
    ("view/grame.rs", "strip_prefix(\"grame/literal/\")", "parts of an id"),
    ("view/grame.rs", "strip_prefix(\"client_\")", "names of tracks, which are ids"),
    ("view/realtime_ipc/plots/mod.rs", "strip_prefix(\"client_\")", "names of tracks, which are ids"),
    ("view/screen/findings.rs", "strip_suffix(\"/same_cpu\")", "parts of an id"),
    ("view/screen/findings.rs", "strip_suffix(\"/cross_cpu\")", "parts of an id"),
    ("judge/surroundings.rs", "split(\"; \")", "the list of mitigations, as results have it"),
    ("view/story.rs", "split(\", \")", "a title is cut, and nothing is found by it"),
    ("view/head.rs", "starts_with(\". \")", "a sentence is cut, and nothing is found by it"),
    ("view/page/over.rs", "contains(\"..\")", "brackets around an interval that was just written"),
    ("render/html/page.rs", "split(\": \")", "a heading is cut for the list of parts"),
    ("render/html/plots/mod.rs", "strip_suffix(\".0\")", "digits of a number"),
    ("render/html/mod.rs", "contains(\" us\")", "letters of a unit"),
    ("render/html/mod.rs", "find(\" us\")", "letters of a unit"),
    ("render/html/mod.rs", "ends_with(\" in\")", "letters of a unit"),
];

/// Members of a result that hold sentences: nothing is decided by what one of them is.
const SENTENCES: [&str; 5] = ["statement", "because", "why", "remedy", "remarks"];

/// Calls in a source that look for a text that is written in them or in a constant, and comparisons of sentences.
fn looks(code: &str) -> Vec<String> {
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.map(str::trim).collect::<Vec<_>>().join("").replace("(&\"", "(\"");
    let mut found = Vec::new();
    for call in LOOKS.split(' ') {
        let begins = format!(".{call}(\"");
        found.extend(code.match_indices(&begins).map(|(at, begin)| {
            let rest = &code[at + begin.len()..];
            let end = rest.find('"').unwrap_or(rest.len());
            format!("{call}(\"{}\")", &rest[..end])
        }));
        let begins = format!(".{call}(");
        found.extend(code.match_indices(&begins).filter_map(|(at, begin)| {
            let rest = &code[at + begin.len()..];
            let end = rest.find(|letter: char| !letter.is_alphanumeric() && !"_:".contains(letter))?;
            let name = rest[..end].rsplit("::").next().filter(|_| rest[end..].starts_with(')'))?;
            let is_constant = name.len() > 1 && !name.contains(|letter: char| letter.is_lowercase());
            is_constant.then(|| format!("{call}({name})"))
        }));
    }
    for sentence in SENTENCES {
        for is in ["==", "!="] {
            let is_compared = [format!(".{sentence} {is}"), format!(".{sentence}.as_deref() {is} Some(\"")];
            found.extend(is_compared.into_iter().filter(|it| code.contains(it)));
        }
    }
    found
}

/// A view that finds data by the words of a sentence shows something else as soon as somebody mends the sentence.
#[test]
fn what_is_shown_is_not_found_by_words() {
    let mut met: Vec<(String, String)> = Vec::new();
    for folder in ["crates/report/src", "crates/documents/src"].map(|folder| root().join(folder)) {
        for (path, text) in &sources(&folder) {
            let file = path.strip_prefix(&folder).expect("below it").to_string_lossy().into_owned();
            if !file.contains("test") {
                met.extend(looks(code(text)).into_iter().map(|call| (file.clone(), call)));
            }
        }
    }
    for (file, call) in &met {
        let may = MAY_LOOK.iter().any(|(known, allowed, _)| known == file && allowed == call);
        assert!(may, "{file}: {call}: carry it as a member of the result, and match on that");
    }
    for (file, call, _) in MAY_LOOK {
        let is_there = met.iter().any(|(known, allowed)| known == file && allowed == call);
        assert!(is_there, "{file} does not look for {call} any more: take it off the list");
    }
}

#[test]
fn calls_that_look_for_words_are_seen() {
    let source = "if a.starts_with(\"x\") {}\n// b.contains(\"no\")\nlet c = d\n    .split_once(\n        \"y\",\n    );\n";
    assert_eq!(looks(source), ["starts_with(\"x\")", "split_once(\"y\")"]);
    let by_name = "a.starts_with(words::COUNTED) || row.because == WHY || b.contains(name)";
    assert_eq!(looks(by_name), ["starts_with(COUNTED)", ".because =="]);
}

/// A public struct of a source of which every field is public.
#[derive(Debug, PartialEq, Eq)]
struct Open<'s> {
    name: &'s str,
    /// A new field would be a change to nobody.
    grows: bool,
}

/// Public structs with public fields alone. One grows if it is `non_exhaustive`, or has a whole value to begin with: `Default`
/// or a constant. One that keeps unknown members is a part of a stored result.
fn open_structs(source: &str) -> Vec<Open<'_>> {
    let code = code(source);
    let lines: Vec<&str> = code.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(rest) = line.strip_prefix("pub struct ").filter(|_| line.ends_with('{')) else { continue };
        let name = rest.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
        let body = || lines[at + 1..].iter().take_while(|line| **line != "}").filter(|line| is_field(line));
        if body().count() == 0 || !body().all(|field| field.trim_start().starts_with("pub ")) {
            continue;
        }
        let above =
            || lines[..at].iter().rev().take_while(|line| line.starts_with("#[") || line.starts_with("///"));
        let marked = above().any(|line| line.contains("non_exhaustive") || line.contains("Default"));
        let begins = [format!("Default for {name}"), format!(": {name} = {name} {{")];
        let stored = body().any(|field| field.trim() == "pub unknown: Map<String, Value>,");
        let constant = code.contains(&format!("impl {name} {{")) && code.contains(": Self = Self {");
        let grows = marked || stored || constant || begins.iter().any(|words| code.contains(words.as_str()));
        found.push(Open { name, grows });
    }
    found
}

/// Whether a line within a struct is a field: not its documentation, and not the rest of a long type.
fn is_field(line: &str) -> bool {
    let bare = line.trim_start();
    line.len() - bare.len() == 4
        && bare.ends_with(',')
        && bare.contains(": ")
        && !bare.starts_with(['/', '#'])
}

#[test]
fn public_structs_can_grow_or_are_complete() {
    let mut open: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let mut looked_at = 0;
    for library in LIBRARIES {
        let folder = root().join("crates").join(library).join("src");
        let public = fs::read_to_string(folder.join("lib.rs")).expect("lib.rs");
        for (path, text) in &sources(&folder) {
            let inside = path.strip_prefix(&folder).expect("below it");
            let module = inside.iter().next().unwrap_or_default().to_string_lossy();
            let is_public = public.contains(&format!("pub mod {};", module.trim_end_matches(".rs")));
            for it in open_structs(text) {
                let named =
                    public.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == it.name);
                looked_at += usize::from(is_public || named);
                if (is_public || named) && !it.grows {
                    open.entry(it.name.to_owned()).or_default().push(path.clone());
                }
            }
        }
    }
    assert!(looked_at > 60, "{looked_at}");
    let complete: Vec<&str> = COMPLETE.iter().flat_map(|(_, names)| names.split(' ')).collect();
    for (name, places) in &open {
        assert!(complete.contains(&name.as_str()), "{name} cannot grow, and no reason says why: {places:?}");
    }
    for name in complete {
        assert!(open.contains_key(name), "{name} grows by now, or is gone: it is no exception any more");
    }
}

#[test]
fn structs_are_read_as_they_are_written() {
    let source = "/// One.\n#[derive(Debug)]\n#[non_exhaustive]\npub struct One {\n    /// A.\n    pub a: u8,\n}\n\
                  #[derive(Default)]\npub struct Two {\n    pub a: u8,\n}\npub struct Three {\n    pub a: u8,\n}\n\
                  pub struct Four {\n    pub a: u8,\n    b: u8,\n}\npub struct Five {\n    pub unknown: Map<String, Value>,\n}\n";
    let found: Vec<_> = open_structs(source).into_iter().map(|it| (it.name, it.grows)).collect();
    assert_eq!(found, [("One", true), ("Two", true), ("Three", false), ("Five", true)]);
}
