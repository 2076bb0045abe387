//! Man pages: one for the program and one for each command, from the arguments, the tables and the list of exit codes.

mod tables;

use std::io;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::args::Arguments;
use crate::exit::MEANINGS;
use crate::known::{Key, catalogue};
use tables::{CODES, ENVIRONMENT, FILES, Shared, examples};

/// The day of the release, of CHANGELOG.md: it must be no other at each build.
const DATE: &str = "2026-12-01";

/// All pages with the names of their files, the main one first.
pub fn pages() -> Vec<(String, Vec<u8>)> {
    let mut program = Arguments::command();
    program.build();
    let mut pages = Vec::new();
    add(&program, "", &mut pages);
    pages
}

/// The page of a command, and those of the commands below it.
fn add(command: &Command, path: &str, pages: &mut Vec<(String, Vec<u8>)>) {
    let name = file(path);
    let mut text = Vec::new();
    // Nothing that is written to memory fails.
    if page(command, path, &name, &mut text).is_ok() {
        // Two breaks in a row, as clap_mangen has them before possible values, are a space: mandoc warns.
        let text = String::from_utf8_lossy(&text).replace("\n.br\n\n.br\n", "\n.sp\n");
        pages.push((format!("{name}.1"), text.into_bytes()));
    }
    for below in shown(command) {
        add(below, format!("{path} {}", below.get_name()).trim_start(), pages);
    }
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help")
}

/// "oscost-tick-server".
fn file(path: &str) -> String {
    format!("oscost {path}").trim_end().replace(' ', "-")
}

fn page(command: &Command, path: &str, name: &str, out: &mut Vec<u8>) -> io::Result<()> {
    let version = format!("oscost {}", env!("CARGO_PKG_VERSION"));
    let named = command.clone().display_name(name).bin_name(format!("oscost {path}").trim_end());
    let man = Man::new(named).title(name.to_uppercase()).date(DATE).source(version).manual("oscost");
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    let below = shown(command)
        .map(|it| (it.get_name().to_owned(), it.get_about().map_or(String::new(), ToString::to_string)));
    section("COMMANDS", below, out)?;
    for (owner, keys) in catalogue().keys_of(path) {
        section(&format!("KEYS OF {}", owner.to_uppercase()), keys.iter().map(key), out)?;
    }
    // The page of the program has commands of its own, and not every system has each of them.
    let is_here = |call: &str| {
        let of = call.split(' ').nth(1).and_then(|it| command.find_subcommand(it));
        !path.is_empty() || of.is_some_and(|it| !it.is_hide_set())
    };
    let examples = examples().filter(|[of, call, _]| *of == path && is_here(call));
    section("EXAMPLES", examples.map(|[_, call, what]| (call.to_owned(), what.to_owned())), out)?;
    let files: Vec<_> = of(FILES, path).collect();
    let none = ("none".to_owned(), "It reads and leaves no file of its own.".to_owned());
    section("FILES", if files.is_empty() { vec![none] } else { files }, out)?;
    section("ENVIRONMENT", of(ENVIRONMENT, path), out)?;
    let has_code = |code: &str| {
        let of = CODES.iter().find(|(of_some, _)| *of_some == code);
        path.is_empty() || of.is_none_or(|(_, commands)| commands.contains(&path))
    };
    let codes = MEANINGS.iter().filter(|(code, _)| has_code(code));
    section("EXIT STATUS", codes.map(|(code, meaning)| ((*code).to_owned(), (*meaning).to_owned())), out)?;
    let mut also = Roff::new();
    also.control("SH", ["SEE ALSO"]);
    also.text([roman(see_also(command, path))]);
    also.to_writer(out)
}

/// Rows of a table that hold for a command.
fn of(table: &'static [Shared], path: &str) -> impl Iterator<Item = (String, String)> {
    let holds =
        move |(_, _, commands): &&Shared| path.is_empty() || commands.is_empty() || commands.contains(&path);
    table.iter().filter(holds).map(|(name, what, _)| ((*name).to_owned(), (*what).to_owned()))
}

fn key(key: &Key) -> (String, String) {
    let Key { key, what, values, default, .. } = key;
    (format!("--set {key}="), format!("{what} ({values}; default {default})"))
}

/// The page above, or those below.
fn see_also(command: &Command, path: &str) -> String {
    let below: Vec<String> =
        shown(command).map(|it| file(format!("{path} {}", it.get_name()).trim_start())).collect();
    let above = path.rsplit_once(' ').map_or("", |(above, _)| above);
    let above = if path.is_empty() { None } else { Some(file(above)) };
    let pages: Vec<String> = above.into_iter().chain(below).map(|page| format!("{page}(1)")).collect();
    pages.join(", ")
}

/// A section of terms and what they are; none where there are none.
fn section(
    title: &str,
    rows: impl IntoIterator<Item = (String, String)>,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let mut rows = rows.into_iter().peekable();
    if rows.peek().is_none() {
        return Ok(());
    }
    let mut section = Roff::new();
    section.control("SH", [title]);
    for (term, what) in rows {
        section.control("TP", []);
        section.text([bold(term)]);
        section.text([roman(what)]);
    }
    section.to_writer(out)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::set::Whose;
    use crate::args::{Command, MeasuringCommand};

    /// Words of the first call, as a shell splits them.
    fn words(call: &str) -> Vec<&str> {
        let words = call.split(' ').map(word).collect::<Vec<_>>().into_iter();
        words.take_while(|word| *word != "&&").skip_while(|word| *word != "oscost").collect()
    }

    /// What a shell makes of a word. Outside of quotes nothing may mean something to it.
    fn word(typed: &str) -> &str {
        if let Some(quoted) = typed.strip_prefix('\'').and_then(|typed| typed.strip_suffix('\'')) {
            return quoted;
        }
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./,=@".contains(letter);
        assert!(typed == "&&" || typed.chars().all(is_plain), "{typed}: quote it, or a shell reads it");
        typed
    }

    #[test]
    fn every_command_has_a_page_with_all_its_sections() {
        let pages = pages();
        assert!(pages.len() >= 13, "{}", pages.len());
        assert_eq!(pages[0].0, "oscost.1");
        for (name, text) in pages {
            let text = String::from_utf8(text).expect("text");
            for title in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "FILES", "ENVIRONMENT"] {
                assert!(text.contains(&format!("\n.SH {title}\n")), "{name} has no {title}");
            }
            assert!(text.contains(".SH \"EXIT STATUS\"") && text.contains(".SH \"SEE ALSO\""), "{name}");
        }
    }

    #[test]
    fn a_page_has_the_exit_codes_and_files_of_its_command() {
        let pages = pages();
        for (command, words, expected) in [
            ("bill", "\n\\fB1\\fR\n", true),
            ("compare", "\n\\fB1\\fR\n", true),
            ("run", "\n\\fB1\\fR\n", false),
            ("bill", "\n\\fB125\\fR\n", false),
            ("count", "runs/*.json", true),
            ("count", "runs/*.journal", false),
            ("bill", "runs/*.journal", true),
            ("crosscheck", "runs/*.journal", true),
            ("bill", "core.constants", true),
            ("doctor", "core.constants", false),
        ] {
            let name = format!("oscost-{command}.1");
            let page = pages.iter().find(|(page, _)| *page == name).expect("its page");
            let text = String::from_utf8_lossy(&page.1);
            assert_eq!(text.contains(words), expected, "{command}, {words:?}: {text}");
        }
        let known: Vec<&String> = pages.iter().map(|(name, _)| name).collect();
        let shared = FILES.iter().chain(ENVIRONMENT).map(|(_, _, commands)| *commands);
        for command in shared.chain(CODES.iter().map(|(_, commands)| *commands)).flatten() {
            assert!(known.contains(&&format!("{}.1", file(command))), "{command} has no page");
        }
    }

    #[test]
    fn what_a_shell_reads_is_quoted() {
        assert_eq!(words("git run oscost bill 'calls<=9' && oscost list"), ["oscost", "bill", "calls<=9"]);
        for bare in ["calls<=9", "pipe*", "$HOME", "~", "'a", "a|b", "&", "#a"] {
            assert!(std::panic::catch_unwind(|| word(bare)).is_err(), "{bare}");
        }
    }

    #[test]
    fn every_example_is_a_call_that_the_program_takes() {
        let mut count = 0;
        for [command, call, what] in examples() {
            let arguments = Arguments::try_parse_from(words(call));
            assert!(arguments.is_ok(), "{call}: {:?}", arguments.err());
            assert!(words(call).join(" ").starts_with(format!("oscost {command}").trim_end()), "{call}");
            assert!(what.split(' ').count() <= 20, "{call}: {what}");
            if let Some(Command::System(MeasuringCommand::Run(run))) =
                arguments.ok().and_then(|it| it.command)
            {
                assert!(run.set.given(Whose::Families).is_ok(), "{call}");
            }
            count += 1;
        }
        assert!(count >= 25, "{count} examples");
    }
}
