//! Finds the ids that a word means, the same way in every command.
//!
//! Case does not matter, and a hyphen or a space is an underscore. The first way that finds anything counts: the id itself, the beginning
//! of ids up to a slash, a pattern with `*`, a word of another tool or document, a part of ids that begins a word, any part.
//! A word of another tool finds the ids, too, in which it begins a word: none of them is hidden by it.

mod look_up;

pub use look_up::{Listing, NoMatch, Tier, WrongNumber};

/// Words that other tools and documents use, and the ids that are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Synonym {
    /// The words.
    pub words: &'static [&'static str],
    /// Whose they are, and what they mean there.
    pub what: &'static str,
    /// Ids, beginnings of ids with a slash at the end, and patterns with `*`; empty where nothing here is its counterpart.
    pub ids: &'static [&'static str],
}

impl Synonym {
    /// Whether it means `id`, and not only stands in it.
    #[must_use]
    pub fn means(&self, id: &str) -> bool {
        let means = |it: &str| match it.split_once('*') {
            Some((first, others)) => glob(first, others, id),
            None => it.strip_suffix('/').map_or(it == id, |beginning| begins(beginning, id)),
        };
        self.ids.iter().any(|it| means(it))
    }
}

/// How a pattern found what it found, the best way first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// It is the id.
    Id,
    /// The ids begin with it: a family, or all below an id.
    Beginning,
    /// By `*`.
    Star,
    /// It is a word of somebody else's.
    Synonym(&'static Synonym),
    /// It is several whole parts of the ids, one after another.
    Parts,
    /// It begins a word of the ids.
    Word,
    /// It stands somewhere in the ids.
    Part,
}

/// A pattern, ready to be looked for.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    synonym: Option<&'static Synonym>,
}

impl Pattern {
    /// The pattern that a user typed; `synonyms` are the words of others that are known.
    #[must_use]
    pub fn new(text: &str, synonyms: &'static [Synonym]) -> Self {
        let text = plain(text);
        let known = |synonym: &&Synonym| synonym.words.iter().any(|word| plain(word) == text);
        Self { synonym: synonyms.iter().find(known), text }
    }

    /// As ids are spelled.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The word of somebody else's that it is, even where nothing here is meant by it.
    #[must_use]
    pub fn synonym(&self) -> Option<&'static Synonym> {
        self.synonym
    }

    /// How it finds `id`, the best way; `None` where it does not.
    #[must_use]
    pub fn finds(&self, id: &str) -> Option<Way> {
        let text = self.text.as_str();
        if text.is_empty() {
            return None;
        }
        // A document's own ids begin with its name, hyphens and all: they belong to no family that is spelled almost so.
        let of_document = id.split('/').next().is_some_and(|first| first.contains('-'));
        // Commands in ids keep their hyphens and capitals.
        let id = &*plain(id);
        if text == id {
            return Some(Way::Id);
        }
        if begins(text, id) && (!of_document || text.contains('/')) {
            return Some(Way::Beginning);
        }
        if let Some((first, others)) = text.split_once('*') {
            return glob(first, others, id).then_some(Way::Star);
        }
        if let Some(synonym) = self.synonym.filter(|synonym| synonym.means(id)) {
            return Some(Way::Synonym(synonym));
        }
        let mut places = id.match_indices(text).map(|(at, _)| at).peekable();
        places.peek()?;
        if text.contains('/') && format!("/{id}/").contains(&format!("/{text}/")) {
            return Some(Way::Parts);
        }
        let word = places.any(|at| at == 0 || id[..at].ends_with(['/', '_']));
        Some(if word { Way::Word } else { Way::Part })
    }

    /// Of `items` those that it finds by the best way of all, in their order. A synonym's ids and those that hold it as a word are
    /// found by one way: [`Synonym::means`] tells them apart.
    pub fn search<T>(
        &self,
        items: impl IntoIterator<Item = T>,
        id: impl Fn(&T) -> &str,
    ) -> Option<(Way, Vec<T>)> {
        let mut best: Option<(Way, Vec<T>)> = None;
        // A family that ends with the word is another thing, and has its own name: realtime_ipc is not ipc.
        let end = format!("_{}", self.text);
        let is_other = |id: &str| id.split('/').next().is_some_and(|family| family.ends_with(&end));
        for item in items {
            let way = match (self.finds(id(&item)), self.synonym) {
                (None, _) => continue,
                (Some(Way::Parts | Way::Word), Some(synonym)) if !is_other(id(&item)) => {
                    Way::Synonym(synonym)
                }
                (Some(way), _) => way,
            };
            match &mut best {
                Some((known, found)) if *known == way => found.push(item),
                Some((known, _)) if *known < way => {}
                _ => best = Some((way, vec![item])),
            }
        }
        best
    }
}

/// `text` as ids are spelled.
fn plain(text: &str) -> String {
    text.trim().trim_end_matches('/').to_ascii_lowercase().replace(['-', ' '], "_")
}

/// Whether `id` begins with `beginning`, up to a slash or its end.
fn begins(beginning: &str, id: &str) -> bool {
    id.strip_prefix(beginning).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether `text` is `first` and the parts of `others` in order with anything between them: each as early as it can be, the last
/// at the end.
fn glob(first: &str, others: &str, text: &str) -> bool {
    let (between, last) = others.rsplit_once('*').unwrap_or(("", others));
    let Some(rest) = text.strip_prefix(first) else { return false };
    let rest = between.split('*').try_fold(rest, |rest, part| rest.split_once(part).map(|(_, rest)| rest));
    rest.is_some_and(|rest| rest.ends_with(last))
}

/// At most three of `words` that `typed` may have been meant to be, nearest first, each once.
#[must_use]
pub fn nearest<'a>(typed: &str, words: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let typed = plain(typed);
    let most = (typed.chars().count() / 3).clamp(1, 3);
    let far = |word: &'a str| (distance(&typed, &plain(word)), word.len(), word);
    let mut near: Vec<_> =
        words.into_iter().map(far).filter(|&(far, length, _)| far <= most && far < length).collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(3).map(|(_, _, word)| word).collect()
}

/// At most three of `words` of which `typed` may be short, the shortest first, each once: those that have its letters in its
/// order, part by part ("semaphore/sysv" of "semaphore/system_v").
#[must_use]
pub fn abbreviated<'a>(typed: &str, words: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let typed = plain(typed);
    if typed.chars().count() < SHORTEST {
        return Vec::new();
    }
    // Three letters are somewhere in every long word: "foo" is not short for "fault_anonymous".
    let holds_enough = |word: &str| typed.len() * LEAST_SHARE >= word.len();
    let words = words.into_iter().filter(|word| holds_enough(word) && is_short_for(&typed, word));
    let mut long: Vec<(usize, &str)> = words.map(|word| (word.len(), word)).collect();
    long.sort_unstable();
    long.dedup();
    long.into_iter().take(3).map(|(_, word)| word).collect()
}

/// Fewer letters than this are in nearly every word.
const SHORTEST: usize = 3;
/// One letter of so many.
const LEAST_SHARE: usize = 4;

/// Whether each part of `typed` begins as the part of `word` at its place, and its letters are there in its order.
fn is_short_for(typed: &str, word: &str) -> bool {
    let is_part = |(typed, word): (&str, &str)| {
        let mut letters = word.chars();
        typed.chars().next() == word.chars().next()
            && typed.chars().all(|letter| letters.any(|other| other == letter))
    };
    typed.split('/').count() == word.split('/').count() && typed.split('/').zip(word.split('/')).all(is_part)
}

/// Edit distance in characters, two neighbours that changed places counting once.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i];
        for j in 1..=b.len() {
            let replaced = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: [&str; 9] = [
        "clock/monotonic",
        "syscall/getpid",
        "syscall/getpid_libc",
        "syscall/read1",
        "context_switch/thread_pipe/same_cpu",
        "semaphore/system_v",
        "semaphore/system_v/handover/same_cpu",
        "lock/robust_mutex",
        "lock/semaphore_like",
    ];
    static SYNONYMS: [Synonym; 5] = [
        Synonym { words: &["lat_ctx", "context-switch"], what: "lmbench's", ids: &["context_switch/"] },
        Synonym { words: &["sem_post"], what: "libc's", ids: &["semaphore/system_v/"] },
        Synonym { words: &["fork"], what: "lmbench's", ids: &[] },
        Synonym { words: &["null call"], what: "lmbench's", ids: &["syscall/getpid"] },
        Synonym { words: &["sem"], what: "stress-ng's", ids: &["lock/*_mutex"] },
    ];

    fn found(text: &str) -> Option<(Way, Vec<&'static str>)> {
        Pattern::new(text, &SYNONYMS).search(IDS, |id| id)
    }

    #[test]
    fn a_word_is_one_wherever_else_its_letters_are() {
        let way = |id| Pattern::new("lock", &[]).finds(id);
        let ids = ["cpu/lock_of_clock", "cpu/clock_lock", "cpu/clock", "cpu/robust_lock", "cpu/read"];
        let ways = [Some(Way::Word), Some(Way::Word), Some(Way::Part), Some(Way::Word), None];
        assert_eq!(ids.map(way), ways);
    }

    #[test]
    fn words_are_found_by_the_best_way() {
        let pids = vec!["syscall/getpid", "syscall/getpid_libc"];
        let semaphores = vec!["semaphore/system_v", "semaphore/system_v/handover/same_cpu"];
        for (text, way, ids) in [
            ("syscall/getpid", Way::Id, vec!["syscall/getpid"]),
            ("Syscall/GetPid/", Way::Id, vec!["syscall/getpid"]),
            ("semaphore/system-v", Way::Id, vec!["semaphore/system_v"]),
            ("semaphore", Way::Beginning, semaphores.clone()),
            ("context-switch", Way::Beginning, vec!["context_switch/thread_pipe/same_cpu"]),
            ("*/same_cpu", Way::Star, vec!["context_switch/thread_pipe/same_cpu", semaphores[1]]),
            ("s*pid", Way::Star, vec!["syscall/getpid"]),
            ("lat_ctx", Way::Synonym(&SYNONYMS[0]), vec!["context_switch/thread_pipe/same_cpu"]),
            ("SEM_POST", Way::Synonym(&SYNONYMS[1]), semaphores.clone()),
            ("null-call", Way::Synonym(&SYNONYMS[3]), vec!["syscall/getpid"]),
            // What it means, and what holds it as a word.
            (
                "sem",
                Way::Synonym(&SYNONYMS[4]),
                vec![semaphores[0], semaphores[1], "lock/robust_mutex", "lock/semaphore_like"],
            ),
            ("getpid", Way::Word, pids.clone()),
            ("SYSTEM-V", Way::Word, semaphores),
            ("mutex", Way::Word, vec!["lock/robust_mutex"]),
            ("clo", Way::Word, vec!["clock/monotonic"]),
            ("system_v/handover", Way::Parts, vec!["semaphore/system_v/handover/same_cpu"]),
            ("m_v/hand", Way::Part, vec!["semaphore/system_v/handover/same_cpu"]),
            ("read", Way::Word, vec!["syscall/read1"]),
            ("tpid", Way::Part, pids),
        ] {
            assert_eq!(found(text), Some((way, ids)), "{text}");
        }
    }

    /// Runs of a document hold what its own program printed, and a family of the same name has none of it.
    #[test]
    fn a_family_has_none_of_a_documents_own_ids() {
        let ids = ["context-switch/literal/read0", IDS[4]];
        let found = |text| Pattern::new(text, &SYNONYMS).search(ids, |id| id);
        for family in ["context_switch", "context-switch", "context_switch/"] {
            assert_eq!(found(family), Some((Way::Beginning, vec![IDS[4]])), "{family}");
        }
        assert_eq!(found(ids[0]), Some((Way::Id, vec![ids[0]])));
        assert_eq!(found("context-switch/literal"), Some((Way::Beginning, vec![ids[0]])));
    }

    #[test]
    fn what_means_nothing_finds_nothing() {
        for text in ["", "/", "zzz", "fork", "getpid*x"] {
            assert_eq!(found(text), None, "{text:?}");
        }
        // Nobody waits for a pattern of many parts.
        assert_eq!(found(&"*e".repeat(200)), None);
        assert_eq!(Pattern::new("FORK", &SYNONYMS).synonym(), Some(&SYNONYMS[2]));
    }

    #[test]
    fn typos_are_near_and_other_words_are_not() {
        let commands = ["run", "list", "report", "compare", "count"];
        assert_eq!(nearest("rnu", commands), ["run"]);
        assert_eq!(nearest("reprot", commands), ["report"]);
        assert_eq!(nearest("compair", commands), ["compare"]);
        assert!(nearest("zebra", commands).is_empty());
        assert!(nearest("cpu", ["cab"]).is_empty(), "a typo of two letters of three is none");
        assert!(nearest("", ["x"]).is_empty(), "one letter too few is no typo of one letter");
        assert_eq!(nearest("getpdi", ["getpid", "getpid", "getppid"]), ["getpid", "getppid"]);
        assert_eq!(nearest("semaphore", ["semaphorexy", "semaphorex"]), ["semaphorex", "semaphorexy"]);
    }

    #[test]
    fn short_forms_are_those_of_words_with_their_letters() {
        assert_eq!(abbreviated("semaphore/sysv", IDS), ["semaphore/system_v"]);
        assert_eq!(abbreviated("clk/mono", IDS), ["clock/monotonic"]);
        // The shortest first, each once.
        let words = ["system_voice", "system_v", "system_voice", "sys_v"];
        assert_eq!(abbreviated("sysv", words), ["sys_v", "system_v", "system_voice"]);
        let none: [&str; 0] = [];
        assert_eq!(abbreviated("zz/sysv", IDS), none, "another family");
        assert_eq!(abbreviated("semaphore/vsys", IDS), none, "another order");
        assert_eq!(abbreviated("semaphore/sysz", IDS), none, "a letter that is not there");
        assert_eq!(abbreviated("semaphore", IDS), none, "a family is no short form of an id");
        assert_eq!(abbreviated("sl", ["syscall"]), none, "two letters are of too many words");
        let four = ["foo_4444", "foo_1", "foo_333", "foo_22"];
        assert_eq!(abbreviated("foo", four), ["foo_1", "foo_22", "foo_333"], "three are enough");
        assert_eq!(abbreviated("foo", ["fault_anonymous"]), none, "three of fifteen letters");
        assert_eq!(
            abbreviated("fau", ["fault_on_use", "fault_at_once"]),
            ["fault_on_use"],
            "one of four is enough"
        );
    }

    #[test]
    fn distance_counts_changes_and_neighbours_that_changed_places() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!([distance("rnu", "run"), distance("ab", "ba"), distance("abcd", "badc")], [1, 1, 2]);
        assert_eq!(distance("abc", "abc"), 0);
    }
}
