//! Everything that the documents name exists: commands, options, exit codes, sections, words, files and links.

use std::collections::BTreeSet;
use std::path::Path;

use crate::repository::{self, commands, document, entries, json, root, sources, words as allowed};

/// What the program prints for these arguments.
fn said(arguments: &[&str]) -> String {
    repository::said(arguments).unwrap_or_else(|| panic!("{arguments:?} is refused"))
}

/// Long options in a text, without what follows them.
fn options(text: &str) -> BTreeSet<String> {
    let is_part = |letter: char| letter.is_ascii_lowercase() || letter == '-';
    text.match_indices("--")
        .filter(|&(at, _)| !text[..at].ends_with(['-', '|']))
        .map(|(at, _)| text[at..].chars().take_while(|&letter| is_part(letter)).collect::<String>())
        .filter(|option| option.len() > 2 && !option.starts_with("---"))
        .collect()
}

/// What stands between backticks on one line.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// Pages that tell users what to type.
const GUIDES: &[&str] = &[
    "README.md",
    "docs/bill.md",
    "docs/choose.md",
    "docs/commands.md",
    "docs/compare-machines.md",
    "docs/from-lmbench.md",
    "docs/kernel-developers.md",
    "docs/read-a-figure.md",
    "docs/realtime-messages.md",
    "docs/result-rows.md",
    "docs/teach.md",
];

/// Lines of code blocks that call the program, without what a comment says of them.
fn typed(text: &str) -> impl Iterator<Item = &str> {
    let blocks = text.split("\n```").skip(1).step_by(2);
    let lines = blocks.flat_map(str::lines).map(|line| line.split(" #").next().unwrap_or_default());
    lines.filter(|line| line.trim_start().starts_with("oscost ")).map(str::trim)
}

#[test]
fn commands_and_options_of_the_guides_exist() {
    let commands = commands();
    let mut known = options(&said(&["--help"]));
    for command in &commands {
        known.extend(options(&said(&[command, "--help"])));
    }
    for command in ["server", "client"] {
        known.extend(options(&said(&["tick", command, "--help"])));
    }
    let mut count = 0;
    for guide in GUIDES {
        let text = document(guide);
        let prose = text.split("\n```").step_by(2).collect::<Vec<_>>().join("\n");
        let calls: Vec<&str> = code(&prose).chain(typed(&text)).collect();
        let named = calls.iter().filter_map(|code| code.strip_prefix("oscost ")?.split_whitespace().next());
        for command in named.filter(|word| word.starts_with(|letter: char| letter.is_ascii_lowercase())) {
            assert!(commands.contains(command), "{guide}: there is no command '{command}'");
            count += 1;
        }
        for option in options(&calls.join("\n")) {
            assert!(known.contains(&option), "{guide}: there is no option '{option}'");
        }
    }
    assert!(count >= 30, "only {count} calls were found");
}

/// Values of `--set` in the guides are taken by the program; so it is said of each family and document that has keys.
#[test]
fn keys_of_the_guides_exist() {
    let mut known = BTreeSet::new();
    for owner in [
        "realtime_ipc",
        "record_database",
        "cpu_pair",
        "tax",
        "tlpi",
        "apue",
        "grame",
        "ostep",
        "context-switch",
    ] {
        let page = said(&["explain", owner]);
        let keys =
            page.split("--set KEY=VALUE").nth(1).unwrap_or_else(|| panic!("{owner} has no keys: {page}"));
        known.extend(keys.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned));
    }
    let mut count = 0;
    for guide in GUIDES {
        let text = document(guide);
        for (at, _) in text.match_indices("--set ") {
            let key = text[at + "--set ".len()..].split('=').next().expect("a key");
            assert!(
                key == "KEY" || known.contains(key),
                "{guide}: no family and no document has the key '{key}'"
            );
            count += 1;
        }
    }
    assert!(count >= 5, "only {count} keys were found");
}

#[test]
fn run_has_no_more_options_than_a_screen_can_show() {
    let short = said(&["run", "-h"]);
    let listed = short.lines().filter(|line| line.trim_start().starts_with('-')).count();
    assert!((10..=24).contains(&listed), "{listed} options:\n{short}");
}

#[test]
fn exit_codes_of_the_man_page_stand_in_the_guide() {
    let page = said(&["--generate", "man"]);
    let guide = document("docs/commands.md");
    let codes = page.split("EXIT STATUS").nth(1).expect("exit codes in the man page");
    let (mut lines, mut count) = (codes.lines(), 0);
    while lines.any(|line| line.starts_with(".TP")) {
        let code = lines.next().expect("a code").trim_start_matches("\\fB").trim_end_matches("\\fR");
        assert!(guide.contains(&format!("| {code} |")), "docs/commands.md: the exit code {code} is missing");
        count += 1;
    }
    assert!(count >= 5, "{codes}");
}

#[test]
fn sections_of_the_method_that_code_names_exist() {
    let method = document("METHOD.md");
    let headings: BTreeSet<&str> = method.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let config = ".cargo/config.toml";
    let mut sources = sources(&root().join("crates"));
    sources.push((config.into(), document(config)));
    let reference = concat!("METHOD", ".md, ");
    let mut count = 0;
    for (source, text) in sources {
        for (at, _) in text.match_indices(reference) {
            let rest = &text[at + reference.len()..];
            let named = rest.split(['.', ')', ';', ':', '\n', '`', '"']).next().expect("a name");
            for section in named.split(" and ").map(str::trim) {
                count += 1;
                assert!(headings.contains(section), "{}: METHOD.md has no '{section}'", source.display());
            }
        }
    }
    assert!(count >= 10, "only {count} references were found");
}

#[test]
fn the_glossary_has_each_word_once_and_every_word_of_a_result() {
    let glossary = document("crates/oscost/GLOSSARY.md");
    let mut words = BTreeSet::new();
    for row in glossary.lines().filter_map(|line| line.strip_prefix("| ")).skip(1) {
        let cell = row.split(" | ").next().expect("a cell");
        for word in cell.split(", ").flat_map(|word| word.split("; ")) {
            // "contradicted" is a state of a figure and the verdict that led to it.
            assert!(words.insert(word) || word == "contradicted", "'{word}' has two rows");
        }
    }
    // States, marks and verdicts as they stand in a file.
    let schema = json("docs/result.schema.json");
    for kind in ["Status", "Mark", "Verdict"] {
        let mut names = BTreeSet::new();
        allowed(&schema["$defs"][kind], &mut names);
        assert!(names.len() >= 3, "{kind}: {names:?}");
        for name in names {
            let spoken = name.replace('_', " ").replace("real time", "real-time");
            assert!(words.contains(spoken.as_str()), "GLOSSARY: '{spoken}' ({kind}) is missing");
        }
    }
}

#[test]
fn links_and_source_files_exist() {
    let mut names = Vec::new();
    for folder in ["", "docs", "docs/measured", "docs/method"] {
        let pages =
            entries(&root().join(folder)).filter(|path| path.extension().is_some_and(|it| it == "md"));
        names.extend(pages.map(|path| {
            let name = Path::new(folder).join(path.file_name().expect("a name"));
            name.to_str().expect("UTF-8").to_owned()
        }));
    }
    assert!(names.len() >= 10, "{names:?}");
    for name in &names {
        let text = document(name);
        let folder = root().join(name).parent().expect("a folder").to_owned();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.starts_with("http")) {
            assert!(folder.join(link).exists(), "{name}: no {link}");
        }
        for path in code(&text).filter(|code| code.ends_with(".rs") && code.contains('/')) {
            let from_root = root().join(path);
            let from_crates = root().join("crates").join(path);
            let is_pattern = path.contains(['{', '*', '<']);
            let from_oscost = root().join("crates/oscost").join(path);
            assert!(
                is_pattern || from_root.exists() || from_crates.exists() || from_oscost.exists(),
                "{name}: no {path}"
            );
        }
    }
}

/// Versions in a text behind the program's name, as the artefacts of a release have it: `oscost-0.3.6`, `oscost_0.3.6`, `oscost:0.3.6`.
fn versions(text: &str) -> Vec<&str> {
    let behind = ["oscost-", "oscost_", "oscost:"].into_iter().flat_map(|name| text.split(name).skip(1));
    let number = |rest: &str| {
        rest.find(|letter: char| letter != '.' && !letter.is_ascii_digit()).unwrap_or(rest.len())
    };
    behind
        .map(|rest| rest[..number(rest)].trim_end_matches('.'))
        .filter(|version| !version.is_empty())
        .collect()
}

#[test]
fn files_and_changes_have_the_version_of_this_release() {
    let version = env!("CARGO_PKG_VERSION");
    for (page, least) in [("README.md", 5), ("docs/platforms.md", 2), ("docs/ci.md", 2)] {
        let text = document(page);
        let named = versions(&text);
        assert!(named.len() >= least, "{page}: {named:?}");
        assert!(
            named.iter().all(|named| *named == version),
            "{page} names files of another release: {named:?}"
        );
    }
    let changes = document("CHANGELOG.md");
    let newest = changes
        .lines()
        .find(|line| line.starts_with("## ") && *line != "## [Unreleased]")
        .expect("a heading");
    let date = newest
        .strip_prefix(&format!("## [{version}] - "))
        .unwrap_or_else(|| panic!("the newest is {newest}"));
    let shape: String =
        date.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect();
    assert_eq!(shape, "0000-00-00", "the day of the release: {newest}");
    let page = said(&["--generate", "man"]);
    assert!(page.contains(&format!(".TH OSCOST 1 {date} \"oscost {version}\"")), "the man page is of {date}");
    assert_eq!(versions("oscost-1.2.3.tar.gz oscost_1.2.3_amd64.deb oscost:1.2.3. oscost-run"), ["1.2.3"; 3]);
}

#[test]
fn the_example_of_the_guide_is_a_real_row() {
    let guide = document("docs/add-a-benchmark.md");
    let shown = guide.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next());
    let shown = shown.expect("an example");
    assert!(shown.contains("syscall/getppid"), "{shown}");
    assert!(document("crates/families/src/syscall.rs").contains(shown), "no row of the table is\n{shown}");
}

/// The screen that README.md shows, beside the one that the tests of `report` hold the program to.
#[test]
fn the_session_of_the_readme_looks_as_the_program_does() {
    let screen = document("crates/report/tests/it/snapshots/it__price_list__unicode_100.snap");
    let screen = screen.splitn(3, "---\n").nth(2).expect("a screen behind its head");
    let readme = document("README.md");
    let section = readme.split("## A real session").nth(1).expect("the section");
    let sample = section.split("```").nth(1).expect("the sample").trim_start();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let line = |text: &str, at: usize| text.lines().nth(at).map(str::to_owned).expect("a line");
    assert_eq!(words(&line(sample, 1)), words(&line(screen, 1)), "titles of the columns");
    assert_eq!(
        line(sample, 0).matches(" | ").count(),
        line(screen, 0).matches(" | ").count(),
        "facts of the run"
    );
    // Labels of the last lines, in their order.
    let labels = |text: &str| -> Vec<String> {
        let last = text.lines().skip_while(|line| !line.is_empty()).filter(|line| !line.starts_with(' '));
        last.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
    };
    assert_eq!(labels(sample), labels(screen));
    // Numbers end where their titles do.
    let titles = line(sample, 1);
    let end = |word: &str| titles[..titles.find(word).expect("a title") + word.len()].chars().count();
    let rows: Vec<Vec<char>> = sample
        .lines()
        .filter(|line| line.starts_with("  ") && *line != titles)
        .take_while(|line| !line.is_empty())
        .map(|line| line.chars().collect())
        .collect();
    assert!(rows.len() >= 6, "{sample}");
    for row in rows {
        let (floor, calls) = (end("floor"), end("calls"));
        assert!(row[floor - 1] == 's' && row[floor] != 's' && row[calls - 1].is_ascii_digit(), "{row:?}");
    }
}

/// Sentences of a section of bullets, without emphasis and without the addresses of links.
fn sentences(section: &str) -> Vec<String> {
    let mut bullets: Vec<String> = Vec::new();
    for line in section.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.strip_prefix("- ") {
            Some(begin) => bullets.push(begin.to_owned()),
            None => {
                let last = bullets.last_mut().expect("a section begins with a bullet");
                last.push(' ');
                last.push_str(line);
            }
        }
    }
    let bare = |bullet: String| {
        let mut text = bullet.replace("**", "");
        while let Some(at) = text.find("](") {
            let end = at + text[at..].find(')').expect("an address ends");
            let begin = text[..at].rfind('[').expect("a link begins");
            text = format!("{}{}{}", &text[..begin], &text[begin + 1..at], &text[end + 1..]);
        }
        text
    };
    let split = |bullet: String| -> Vec<String> {
        bullet.split(". ").map(|part| part.trim_end_matches('.').to_owned()).collect()
    };
    bullets.into_iter().map(bare).flat_map(split).collect()
}

/// The rows of a table of two columns.
fn rows(part: &str) -> Vec<(&str, &str)> {
    let lines = part.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    lines
        .filter(|line| !line.is_empty())
        .map(|line| {
            let cells = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |"));
            cells.and_then(|cells| cells.split_once(" | ")).expect("a row of two cells")
        })
        .collect()
}

/// Each sentence of the promises has its row in crates/oscost/tests/promises.md, and each test and space that a row names exists.
#[test]
fn every_promise_names_tests_that_exist() {
    let security = document("SECURITY.md");
    let (_, rest) = security.split_once("## What is promised\n").expect("the section");
    let (promised, _) =
        rest.split_once("\n[crates/oscost/tests/promises.md]").expect("the link below the promises");
    let page = document("crates/oscost/tests/promises.md");
    let parts: Vec<&str> = page.split("\n## ").collect();
    let [sums, parties, readme] = &parts[..] else {
        panic!("crates/oscost/tests/promises.md has {} parts", parts.len())
    };
    let (promises, parties, readme) = (rows(sums), rows(parties), rows(readme));
    let written: Vec<String> =
        promises.iter().map(|(sentence, _)| sentence.trim_end_matches('.').to_owned()).collect();
    assert_eq!(
        written,
        sentences(promised),
        "crates/oscost/tests/promises.md has the sentences of SECURITY.md"
    );
    // Each part of the table before, and nothing that neither page says.
    let (before, _) = security.split_once("\n## What is promised").expect("the section");
    let privileges = before.split("\n## ").nth(1).expect("the section of privileges");
    let named: Vec<&str> = parties.iter().map(|(part, _)| *part).collect();
    for line in privileges.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| part |")) {
        let part = line.trim_start_matches("| ").split(" | ").next().expect("a part");
        assert!(named.contains(&part), "crates/oscost/tests/promises.md has no row for '{part}'");
    }
    let started = document("README.md");
    for (text, rows) in [(privileges, &parties), (started.as_str(), &readme)] {
        for (words, _) in rows {
            assert!(
                text.contains(words),
                "crates/oscost/tests/promises.md has '{words}', and the page that it is of does not"
            );
        }
    }
    let rows: Vec<(&str, &str)> = promises.into_iter().chain(parties).chain(readme).collect();
    let text: String = sources(&root().join("crates")).into_iter().map(|(_, text)| text).collect();
    let spaces = document("crates/oscost/tests/campaign/main.rs");
    let mut without = 0;
    for (sentence, shown) in &rows {
        if let Some(why) = shown.strip_prefix("no test: ") {
            assert!(why.len() > 20, "{sentence}: {why}");
            without += 1;
            continue;
        }
        for name in shown.split('`').skip(1).step_by(2) {
            let there = match name.strip_prefix("campaign ") {
                Some(space) => spaces.contains(&format!("(\"{space}\", {space}::run)")),
                None => text.contains(&format!("fn {name}()")),
            };
            assert!(there, "{sentence}: there is no {name}");
        }
        assert!(shown.contains('`'), "{sentence}: {shown}");
    }
    assert!(without * 8 < rows.len(), "{without} of {} promises without a test", rows.len());
}
