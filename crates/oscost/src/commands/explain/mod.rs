//! `oscost explain`: what a thing means.

mod document;
mod family;
mod figure;
mod word;

use std::fmt::Write as _;

use oscost_results::search::{Tier, Way, abbreviated, nearest};

use crate::args::Explain;
use crate::exit::{Ended, Exit};
use crate::known::{Key, catalogue};
use crate::output::{self, Talk};
use crate::{checks, glossary, system, words};

/// Width of the names of facts.
const NAMES: usize = 9;

/// Width of the keys of `--set`.
const KEYS: usize = 14;

/// Explains what was typed.
pub fn explain(options: &Explain, talk: &Talk) -> Result<Exit, Ended> {
    let thing = options.thing.join(" ");
    if options.trace {
        return system::trace(&thing);
    }
    let page = page(&thing, talk)?;
    // It names commands that measure.
    if let Some(why) = system::NEEDS_LINUX {
        talk.say(why);
    }
    let style = talk.style();
    let text = page.text(style.width).replace('\u{a0}', " ");
    let text = if style.unicode { text } else { text.replace('\u{b1}', "+-") };
    output::data(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}

/// The page of a thing: an id or family, a document or statement, a word; then what an id contains.
fn page(thing: &str, talk: &Talk) -> Result<Explanation, Ended> {
    if thing.starts_with('@') {
        let shown = oscost_results::Untrusted::new(thing).terminal().to_string();
        return Err(Ended::misuse(format!("'{shown}' is a stored result: oscost report {shown}")));
    }
    if let Some(page) = document::page(thing) {
        return Ok(page);
    }
    if let Some(page) = family::page(thing) {
        return Ok(page);
    }
    let catalogue = catalogue();
    let found = catalogue.look_up(&[thing.to_owned()], Tier::Thorough);
    if let Ok(found) = &found
        && found[0].way == Way::Id
    {
        return Ok(figure::page(found[0].cards[0], &[], talk));
    }
    if let Some(mut page) = word::page(thing) {
        // A column may be called as ids are.
        let ids = found.ok().and_then(|found| words::told(thing, found[0].way, &found[0].ids()));
        page.fact("Ids", ids);
        return Ok(page);
    }
    // A check comes before ids that have the word somewhere inside.
    let is_id = found.as_ref().is_ok_and(|found| !matches!(found[0].way, Way::Part | Way::Synonym(_)));
    if let Some(check) = checks::named(thing).filter(|_| !is_id) {
        return Ok(word::check(check));
    }
    match found {
        Ok(found) => {
            let found = &found[0];
            let ids = found.ids();
            if let Some(words) = words::told(thing, found.way, &ids) {
                talk.say(words);
            }
            let card = found.cards[best(thing, found.way, &ids)];
            let others: Vec<&str> = ids.into_iter().filter(|id| *id != card.id.as_str()).collect();
            Ok(figure::page(card, &others, talk))
        }
        Err(miss) if miss.elsewhere.is_some() => Err(Ended::misuse(miss)),
        Err(miss) => {
            if let Some(page) = word::command(thing).or_else(|| word::mentioned(thing)) {
                return Ok(page);
            }
            if miss.numbers.is_some() {
                return Err(Ended::misuse(miss));
            }
            let mut words = miss.nearest.clone();
            words.extend(glossary::words().map(str::to_owned));
            let mut near = nearest(thing, words.iter().map(String::as_str));
            if near.is_empty() {
                near = abbreviated(thing, miss.nearest.iter().map(String::as_str));
            }
            let shown = oscost_results::Untrusted::new(thing).terminal().to_string();
            let advice = match document::missing(thing).or_else(|| word::missing(thing)) {
                Some(known) => known,
                None if near.is_empty() => {
                    "'oscost list' shows the ids, 'oscost explain glossary' the words".to_owned()
                }
                None => format!("did you mean {}?", near.join(" or ")),
            };
            Err(Ended::misuse(format!("nothing is called '{shown}'; {advice}")))
        }
    }
}

/// Of ids that a word found, the one that is explained: a part of it is the word, or it is meant by a word of others, and it is
/// short.
fn best(thing: &str, way: Way, ids: &[&str]) -> usize {
    let word = thing.to_lowercase().replace('-', "_");
    let is_meant = |id: &str| !matches!(way, Way::Synonym(synonym) if !synonym.means(id));
    let rank = |id: &str| (!id.split('/').any(|part| part == word), !is_meant(id), id.split('/').count());
    (0..ids.len()).min_by_key(|&at| rank(ids[at])).unwrap_or(0)
}

/// What is shown: a title, sentences, and facts with names.
#[derive(Debug, Default)]
struct Explanation {
    title: String,
    sentences: Vec<String>,
    facts: Vec<(&'static str, Vec<String>)>,
}

impl Explanation {
    fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    fn say(mut self, sentence: impl Into<String>) -> Self {
        self.sentences.push(sentence.into());
        self
    }

    /// Adds a fact, unless it has no lines.
    fn fact(&mut self, name: &'static str, lines: impl IntoIterator<Item = String>) {
        let lines: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
        if !lines.is_empty() {
            self.facts.push((name, lines));
        }
    }

    /// The page, no line wider than `width`.
    fn text(&self, width: usize) -> String {
        let mut text = String::new();
        for line in std::iter::once(&self.title).chain(&self.sentences) {
            lines(&mut text, "", line, width);
        }
        if !self.facts.is_empty() {
            text.push('\n');
        }
        for (name, facts) in &self.facts {
            for (at, fact) in facts.iter().enumerate() {
                let name = if at == 0 { *name } else { "" };
                lines(&mut text, &format!("{name:<NAMES$}"), fact, width);
            }
        }
        text
    }
}

/// Keys of `--set`, a line each, below the call that takes them.
fn keys(command: &str, keys: &[Key]) -> Vec<String> {
    if keys.is_empty() {
        return Vec::new();
    }
    let of = |key: &Key| {
        let Key { key, what, values, default, .. } = key;
        format!("{key:<KEYS$}{what} ({values}; default {default})")
    };
    std::iter::once(format!("{command} --set KEY=VALUE, again for each key"))
        .chain(keys.iter().map(of))
        .collect()
}

/// Writes `words` behind `start`, and the lines that follow below its beginning.
pub fn lines(text: &mut String, start: &str, words: &str, width: usize) {
    let words = oscost_results::Untrusted::new(words).terminal().to_string();
    let room = width.saturating_sub(start.len()).max(20);
    let mut line = String::new();
    let mut start = start.to_owned();
    // Blanks between words are kept: numbers stand below one another.
    for word in words.split_inclusive(' ') {
        if !line.is_empty() && line.chars().count() + word.trim_end().chars().count() > room {
            let _ = writeln!(text, "{}", format!("{start}{line}").trim_end());
            start = " ".repeat(start.len());
            line.clear();
        }
        line.push_str(word);
    }
    let _ = writeln!(text, "{}", format!("{start}{line}").trim_end());
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::set::Whose;

    fn talk() -> Talk {
        let arguments = crate::args::Arguments::try_parse_from(["oscost", "-q", "list"]).expect("arguments");
        Talk::new(&arguments.common)
    }

    fn explained(thing: &str) -> String {
        page(thing, &talk()).map_err(|ended| ended.to_string()).expect(thing).text(80)
    }

    /// What is uncountable was to be counted, by the page of every id.
    #[test]
    fn nobody_is_told_to_count_what_cannot_be_counted() {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/tests/samples/v1.json");
        let result = oscost_results::from_bytes(&std::fs::read(sample).expect("a file")).expect("a result");
        let of_calls =
            |figure: &&oscost_results::Figure| figure.evidence.system_calls.contains_key("semtimedop");
        let mut figure = result.figures.iter().find(of_calls).expect("a figure of calls").clone();
        figure.launches.iter_mut().for_each(|launch| launch.entry_ns = Some(1.0));
        let mut countable = 0;
        for card in catalogue().tier(Tier::Thorough) {
            let why = super::figure::why(card, &result, &figure).expect("entries are a part of it");
            assert_eq!(why.contains("oscost count"), card.countable, "{}: {why}", card.id);
            assert!(!card.countable || !card.id.ends_with("/cross_cpu"), "{}", card.id);
            countable += usize::from(card.countable);
        }
        assert!(countable > 50, "{countable}");
    }

    #[test]
    fn things_of_every_kind_are_explained() {
        for (thing, words) in [
            ("semaphore/system_v", "semaphore/system_v: "),
            ("system-v", "semaphore/system_v: "),
            ("getpid", "syscall/getpid: "),
            ("mutex", "lock/mutex: "),
            ("semaphore", "semaphore: "),
            ("realtime_ipc", "realtime_ipc: "),
            ("tlpi", "Document 000"),
            ("004", "Document 004"),
            ("ostep/1", "Document 003"),
            ("noisy", "under 20 % clean rounds"),
            ("bimodal", "two modes"),
            ("not_converged", "not converged"),
            ("floor", "lower quartile"),
            ("calls", "system calls"),
            ("~cycles", "Cost in core cycles"),
            ("*", "the quantity that `compare` uses"),
            ("+/-", "95 % over launches"),
            ("W001", "the core ran up to ... % slower"),
            ("w104", "quota"),
            ("exit 3", "withheld"),
            ("exit code 130", "SIGINT"),
            ("exit 137", "signal 9 ended"),
            ("3", "withheld"),
            ("launch", "unit of inference"),
            ("answered without entering the kernel", "W101"),
            ("negative", "below zero"),
            ("clock source", "'oscost doctor' looks"),
            ("smt", "Hyper-threading"),
            ("CPU governor", "cpupower"),
            ("frequency governor", "cpupower"),
            ("turbo", "cpupower"),
            ("isolcpus", "gaps: "),
            ("quota", "cpu.max"),
            ("ipc", "`oscost run ipc`"),
            ("jitter", "gaps: "),
            ("steal", "gaps: "),
            ("KPTI", "mitigations: "),
            ("halt_poll_ns", "idle cpus: "),
            ("glossary", "bimodal: "),
            ("page fault", "memory/fault_anonymous: "),
            ("thread creation", "thread/create_join: "),
            ("std::mutex", "mutex, uncontended"),
            ("hugepages", "memory/latency/"),
            ("hyperthreading", "smt: "),
            ("baseline only", "divides by"),
            ("p99", "hundredths"),
            ("hands off", "longest"),
            ("?", "threshold"),
            ("times", "how often the program did it"),
            ("times", "clock/process_cputime"),
            ("share", "in a bill"),
            ("usual, kernel", "hosts of the group"),
            ("~", "chain"),
        ] {
            let text = explained(thing);
            assert!(text.contains(words), "{thing}: {words:?} is not in\n{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
    }

    /// Before anything was measured what will be counted, afterwards what was counted of it.
    #[test]
    fn an_id_is_explained_with_its_claims() {
        let text = explained("semaphore/system_v");
        assert!(
            text.contains(" system calls  2") && text.contains(" system calls semop or semtimedop  2"),
            "{text}"
        );
    }

    #[test]
    fn families_and_documents_list_all_their_keys() {
        let mut count = 0;
        for whose in [Whose::Families, Whose::Documents] {
            for (name, settings) in whose.tables() {
                let text = explained(name);
                assert!(text.contains("--set KEY=VALUE"), "{text}");
                for setting in settings {
                    let line = text.lines().find(|line| line.trim_start().starts_with(setting.key));
                    assert!(line.is_some_and(|line| line.len() <= 80), "{}: {text}", setting.key);
                    count += 1;
                }
            }
        }
        assert!(count >= 30, "{count} keys");
    }

    #[test]
    fn what_is_unknown_says_what_may_have_been_meant() {
        let miss = |thing: &str| page(thing, &talk()).map(|_| ()).expect_err(thing).to_string();
        assert!(miss("flor").contains("did you mean floor"), "{}", miss("flor"));
        assert!(miss("getpdi").contains("getpid"), "{}", miss("getpdi"));
        let short = miss("semaphore/sysv");
        assert!(short.contains("did you mean semaphore/system_v or "), "{short}");
        assert!(miss("qqqqqqqq").contains("oscost list"), "{}", miss("qqqqqqqq"));
        assert!(miss("tlpi/99").contains("tlpi/1 to tlpi/"), "{}", miss("tlpi/99"));
        assert!(miss("@-1").ends_with("oscost report @-1"), "{}", miss("@-1"));
        assert!(miss("lat_http").contains("lmbench"), "{}", miss("lat_http"));
        let codes = "oscost ends with 0, 1, 2, 3, 4, 5, 70, 125, 129, 130, 143, 255";
        for code in ["exit 99", "exit code 300", "code 193"] {
            assert!(miss(code).ends_with(codes), "{}", miss(code));
        }
    }

    #[test]
    fn lines_are_broken_between_words() {
        let mut page =
            Explanation::new("A title").say("One sentence that is longer than a line has room for.");
        page.fact("Here", ["a fact that is longer than the line".to_owned(), String::new()]);
        page.fact("Never", []);
        let expected = "A title\nOne sentence that is longer\nthan a line has room for.\n\nHere     a fact that is\n         longer than the line\n";
        assert_eq!(page.text(29), expected);
    }
}
