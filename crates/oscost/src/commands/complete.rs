//! `oscost complete`: completes a command line, for shells (`src/completions/`).
//!
//! A line for each: the whole word, a tab, what it is. Nothing where file names fit.

use std::collections::BTreeSet;
use std::ffi::OsString;

use clap::{Arg, ArgAction, Command, CommandFactory};
use oscost_results::search::Tier;
use oscost_results::{Store, Trait};

use super::start;
use crate::args::Arguments;
use crate::exit::{Ended, Exit};
use crate::known::catalogue;
use crate::synonyms::synonyms;
use crate::{glossary, output, system};

/// So many stored runs are offered, the newest first.
const RUNS: usize = 20;

/// A word that fits, and what it is.
type Fit = (String, String);

/// Says what fits in place of the last of `words`, which are what stands behind the program's name.
pub fn complete(words: &[OsString]) -> Result<Exit, Ended> {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let fits = fits(&words);
    output::data(|out| fits.iter().try_for_each(|(word, what)| writeln!(out, "{word}\t{what}")))?;
    Ok(Exit::Done)
}

/// What stands before the word that is typed.
struct Line<'a> {
    command: &'a Command,
    /// Words that belong to no option.
    free: Vec<&'a str>,
    /// Names of the options that were given.
    options: Vec<&'a str>,
    /// An option that wants another value, and how many it has.
    open: Option<(&'a Arg, usize)>,
    /// Behind "--" nothing is an option.
    ended: bool,
}

impl<'a> Line<'a> {
    fn read(program: &'a Command, words: &'a [String]) -> Self {
        let mut line =
            Self { command: program, free: Vec::new(), options: Vec::new(), open: None, ended: false };
        for word in words.iter().map(String::as_str) {
            match line.open {
                Some((arg, count)) => line.open = (count + 1 < values(arg)).then_some((arg, count + 1)),
                None if line.ended || !word.starts_with('-') || word == "-" => line.take(word),
                None if word == "--" => line.ended = true,
                None => line.begin(word),
            }
        }
        line
    }

    fn take(&mut self, word: &'a str) {
        match self.command.find_subcommand(word) {
            Some(command) if self.free.is_empty() => self.command = command,
            _ => self.free.push(word),
        }
    }

    fn begin(&mut self, word: &str) {
        let (name, has_value) = word.split_once('=').map_or((word, false), |(name, _)| (name, true));
        if let Some(arg) = option(self.command, name) {
            self.options.push(arg.get_id().as_str());
            self.open = (values(arg) > 0 && !has_value).then_some((arg, 0));
        }
    }

    fn has(&self, option: &str) -> bool {
        self.options.contains(&option)
    }
}

/// How many values an option takes.
fn values(arg: &Arg) -> usize {
    arg.get_num_args().map_or(0, |range| range.max_values())
}

/// The option of this name: "--quick", "-q".
fn option<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| {
        let long = name.strip_prefix("--").is_some_and(|name| arg.get_long() == Some(name));
        let short = name
            .strip_prefix('-')
            .is_some_and(|name| arg.get_short().is_some_and(|own| name == own.to_string()));
        long || short
    })
}

/// What fits in place of the last word.
fn fits(words: &[String]) -> Vec<Fit> {
    let mut program = Arguments::command();
    program.build();
    let Some((typed, before)) = words.split_last() else { return Vec::new() };
    let line = Line::read(&program, before);
    let mut fits = match line.open {
        Some((arg, count)) => with_head("", typed, |typed| of_option(&line, arg, count, typed)),
        None if !line.ended && typed.starts_with("--") && typed.contains('=') => {
            let (name, value) = typed.split_once('=').unwrap_or((typed, ""));
            option(line.command, name).map_or(Vec::new(), |arg| {
                with_head(&format!("{name}="), value, |value| of_option(&line, arg, 0, value))
            })
        }
        None if !line.ended && typed.starts_with('-') => options(&line),
        None if line.command.has_subcommands() && line.free.is_empty() => commands(line.command),
        None => free(&line, typed),
    };
    fits.retain(|(word, _)| word.starts_with(typed.as_str()));
    let mut seen = std::collections::BTreeSet::new();
    fits.retain(|(word, _)| seen.insert(word.clone()));
    fits
}

/// What fits to `typed`, with what stands before it in the same word.
fn with_head(head: &str, typed: &str, fits: impl Fn(&str) -> Vec<Fit>) -> Vec<Fit> {
    fits(typed).into_iter().map(|(word, what)| (format!("{head}{word}"), what)).collect()
}

/// The same for the last of several values between commas.
fn of_list(typed: &str, fits: impl Fn(&str) -> Vec<Fit>) -> Vec<Fit> {
    let (head, last) = typed.rfind(',').map_or(("", typed), |at| typed.split_at(at + 1));
    with_head(head, last, fits)
}

fn commands(command: &Command) -> Vec<Fit> {
    let shown = command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help");
    shown.map(|command| (command.get_name().to_owned(), about(command.get_about()))).collect()
}

fn options(line: &Line<'_>) -> Vec<Fit> {
    let shown = line.command.get_arguments().filter(|arg| {
        let again = matches!(arg.get_action(), ArgAction::Append);
        !arg.is_hide_set() && !arg.is_positional() && (again || !line.has(arg.get_id().as_str()))
    });
    let name = |arg: &Arg| match (arg.get_long(), arg.get_short()) {
        (Some(long), _) => Some(format!("--{long}")),
        (None, short) => short.map(|short| format!("-{short}")),
    };
    shown.filter_map(|arg| Some((name(arg)?, about(arg.get_help())))).collect()
}

/// The first line of what clap knows of something.
fn about(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).and_then(|text| text.lines().next().map(str::to_owned)).unwrap_or_default()
}

/// What fits as a value of an option.
fn of_option(line: &Line<'_>, arg: &Arg, count: usize, typed: &str) -> Vec<Fit> {
    match (line.command.get_name(), arg.get_id().as_str()) {
        (_, "set") => keys(line, typed),
        (_, "base") => runs(),
        (_, "before" | "after") => of_list(typed, |_| runs()),
        (_, "bisect") if count == 0 => runs(),
        (_, "bisect") => patterns(typed),
        (_, "only") => of_list(typed, patterns),
        ("crosscheck", "with") => peers(),
        ("list", "trait") => plain(Trait::ASKED.iter().map(|it| it.name())),
        (_, "fail_on") => of_list(typed, |_| plain(["slower", "unclear", "more"])),
        _ => {
            let values = arg.get_possible_values();
            let shown = values.iter().filter(|value| !value.is_hide_set());
            shown.map(|value| (value.get_name().to_owned(), about(value.get_help()))).collect()
        }
    }
}

/// What fits as a word that belongs to no option.
fn free(line: &Line<'_>, typed: &str) -> Vec<Fit> {
    match line.command.get_name() {
        "run" | "count" | "list" => patterns(typed),
        "crosscheck" => patterns(typed).into_iter().chain(peers()).collect(),
        "explain" => things(typed),
        "reproduce" => documents(typed),
        "compare" if line.has("live") => patterns(typed),
        "compare" | "report" => runs(),
        _ => Vec::new(),
    }
}

fn plain<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<Fit> {
    words.into_iter().map(|word| (word.to_owned(), String::new())).collect()
}

/// Families; to what is typed also ids, parts of them, documents and words of others.
fn patterns(typed: &str) -> Vec<Fit> {
    let mut fits: Vec<Fit> =
        catalogue().families.iter().map(|it| (it.name.clone(), it.description.clone())).collect();
    if typed.is_empty() {
        return fits;
    }
    for card in catalogue().tier(Tier::Family) {
        fits.push((card.id.clone(), card.title.clone()));
        let part = card.id.split('/').nth(1).unwrap_or(&card.id);
        fits.push((part.to_owned(), format!("{}/{part}", card.family())));
    }
    fits.extend(documents(typed));
    for synonym in synonyms() {
        fits.extend(synonym.words.iter().map(|word| ((*word).to_owned(), synonym.what.to_owned())));
    }
    fits.retain(|(word, _)| !word.contains(' '));
    fits
}

/// Names of the documents, and their numbers where a number is typed.
fn documents(typed: &str) -> Vec<Fit> {
    let number = typed.starts_with('0');
    let documents = catalogue().documents.iter();
    documents.map(|it| ((if number { &it.number } else { &it.name }).clone(), it.title.clone())).collect()
}

/// What can be explained; words of the glossary that are one word.
fn things(typed: &str) -> Vec<Fit> {
    let mut fits = patterns(typed);
    fits.extend(documents(typed));
    if !typed.is_empty() {
        fits.extend(plain(glossary::words()));
    }
    fits.retain(|(word, _)| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-/".contains(&byte)));
    fits
}

fn peers() -> Vec<Fit> {
    plain(system::peers())
}

/// Stored runs with the time at which they began.
fn runs() -> Vec<Fit> {
    let runs = Store::of_user().ok().and_then(|store| store.runs().ok()).unwrap_or_default();
    let newest = runs.iter().rev().take(RUNS).enumerate().map(|(at, path)| {
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let begun = start::started(name).map(|time| time.strftime("%Y-%m-%d %H:%M UTC").to_string());
        (format!("@-{}", at + 1), begun.unwrap_or_default())
    });
    let mut fits: Vec<Fit> = newest.collect();
    if !fits.is_empty() {
        fits.push(("@all".to_owned(), format!("{} stored runs", runs.len())));
    }
    fits
}

/// Keys of what is named on the line, or of all; behind the "=" their words.
fn keys(line: &Line<'_>, typed: &str) -> Vec<Fit> {
    let mut tables = catalogue().keys_of(line.command.get_name());
    let is_named = |owner: &str| line.free.iter().any(|word| word.split('/').next() == Some(owner));
    if tables.iter().any(|(owner, _)| is_named(owner)) {
        tables.retain(|(owner, _)| is_named(owner));
    }
    let mut keys = tables.into_iter().flat_map(|(_, keys)| keys);
    let Some((key, value)) = typed.split_once('=') else {
        // Two families may have one key.
        let mut seen = BTreeSet::new();
        let new = keys.filter(|it| seen.insert(&it.key));
        return new.map(|it| (format!("{}=", it.key), it.what.clone())).collect();
    };
    let Some(known) = keys.find(|it| it.key == key) else { return Vec::new() };
    let words = |_: &str| plain(known.words.iter().map(String::as_str));
    with_head(
        &format!("{key}="),
        value,
        |value| {
            if known.many { of_list(value, words) } else { words(value) }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words that fit to the end of a line, without what they are.
    fn at(line: &str) -> Vec<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        fits(&words).into_iter().map(|(word, _)| word).collect()
    }

    /// Long options of a command and of those below it are completed, and stand on its man page.
    fn documented(command: &Command, path: &str, pages: &[(String, Vec<u8>)]) -> usize {
        let name = format!("oscost {path}").trim_end().replace(' ', "-") + ".1";
        let (_, page) = pages.iter().find(|(known, _)| *known == name).expect(&name);
        let page = String::from_utf8_lossy(page);
        let shown = |arg: &&Arg| !arg.is_hide_set() && !arg.is_positional();
        let names: Vec<&str> = command.get_arguments().filter(shown).filter_map(Arg::get_long).collect();
        for name in &names {
            let typed = format!("{path} --{name}");
            assert!(at(typed.trim_start()).contains(&format!("--{name}")), "{typed} is not completed");
            assert!(page.contains(&format!("\\-\\-{}", name.replace('-', "\\-"))), "{typed} is on no page");
        }
        let below = command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help");
        let below = below.map(|it| documented(it, format!("{path} {}", it.get_name()).trim_start(), pages));
        names.len() + below.sum::<usize>()
    }

    #[test]
    fn every_option_is_completed_and_stands_on_a_man_page() {
        let mut program = Arguments::command();
        program.build();
        let count = documented(&program, "", &crate::commands::manual::pages());
        assert!(count >= 100, "{count} options");
    }

    #[test]
    fn each_place_of_a_line_has_its_words() {
        for (line, expected) in [
            ("re", &["reproduce", "report"][..]),
            ("tick ", &["server", "client"]),
            ("run futex_b", &["futex_broadcast"]),
            ("run mute", &["mutex"]),
            ("explain not", &[]),
            ("explain floo", &["floor", "floor_less_loop"]),
            ("reproduce ", &["tlpi", "apue", "grame", "ostep", "context-switch"]),
            ("reproduce 00", &["000", "001", "002", "003", "004"]),
            ("report --format=h", &["--format=html"]),
            ("run --idle-cpu ", &["halt", "poll", "both"]),
            ("list --trait poll", &["pollable"]),
            ("crosscheck --with ", &["perf", "rt-tests", "stress-ng", "lmbench", "unixbench", "osbench"]),
            ("compare --fail-on slower,un", &["slower,unclear"]),
            ("run --set dir", &["directory="]),
            ("run record_database --set ", &["directory="]),
            ("run realtime_ipc --set pl", &["placement="]),
            ("run realtime_ipc --set placement=s", &["placement=same_cpu", "placement=spread"]),
            ("run --set load=cpu,tr", &["load=cpu,transfer", "load=cpu,transfer_fsync"]),
            ("reproduce grame --set send", &["send_mode="]),
            ("reproduce --set single=", &["single=yes", "single=no"]),
            ("--generate complete-", &["complete-bash", "complete-zsh", "complete-fish"]),
            ("run --json ", &[]),
            ("run --thor", &["--thorough"]),
            ("run -- --thor", &[]),
        ] {
            assert_eq!(at(line), expected, "{line}");
        }
        for (line, expected) in [
            ("run sema", "semaphore"),
            ("run semaphore/posix_n", "semaphore/posix_named"),
            ("run lat_sysc", "lat_syscall"),
            ("explain semaphore/posix_n", "semaphore/posix_named"),
            ("compare --live a b semaphore/posix_n", "semaphore/posix_named"),
            ("compare --bisect @-1 semaphore/posix_n", "semaphore/posix_named"),
        ] {
            assert_eq!(at(line).first().map(String::as_str), Some(expected), "{line}");
        }
    }

    #[test]
    fn every_family_and_what_was_given_once_is_known() {
        assert_eq!(at("run ").len(), catalogue().families.len());
        assert!(!at("run --quick --").contains(&"--quick".to_owned()));
        assert!(at("run --set a=b --").contains(&"--set".to_owned()), "again for each key");
        let hidden = at("");
        assert!(hidden.contains(&"run".to_owned()) && !hidden.contains(&"complete".to_owned()), "{hidden:?}");
    }
}
