//! Settings of a family or document (`--set key=value`): keys, accepted values, and the values given.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use oscost_results::Untrusted;
use oscost_results::search::nearest;

/// One key of a family or document: a row of its table.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// What is typed before the "=".
    pub key: &'static str,
    /// What it says, in at most 20 words.
    pub what: &'static str,
    /// The values that are possible.
    pub takes: Takes,
    /// Whether it takes several values, separated by commas.
    pub many: bool,
    /// What holds where it is not given.
    pub default: &'static str,
}

/// The values that are possible.
#[derive(Debug, Clone, Copy)]
pub enum Takes {
    /// A whole number.
    Number {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// A number with a unit: "1450us".
    Time {
        /// The shortest, ns.
        least: u64,
        /// The longest, ns.
        most: u64,
    },
    /// One of these.
    Word(fn() -> Vec<&'static str>),
    /// Any text of so many bytes.
    Text {
        /// The longest.
        most: usize,
    },
    /// A file or folder.
    Path,
}

/// Values of a key, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Values {
    /// Numbers, or times in ns.
    Numbers(Vec<u64>),
    Words(Vec<&'static str>),
    Text(String),
    Path(PathBuf),
}

impl Setting {
    /// What it takes, in words.
    #[must_use]
    pub fn values(&self) -> String {
        let words = match self.takes {
            Takes::Number { least, most } if self.many => format!("whole numbers from {least} to {most}"),
            Takes::Number { least, most } => format!("a whole number from {least} to {most}"),
            Takes::Time { least, most } => {
                let range = format!("from {} to {}", duration(least), duration(most));
                if self.many { format!("times {range}") } else { format!("a time {range}") }
            }
            Takes::Word(words) => words().split_last().map_or(String::new(), |(last, first)| {
                if first.is_empty() { (*last).to_owned() } else { format!("{} or {last}", first.join(", ")) }
            }),
            Takes::Text { most } => format!("a text of 1 to {most} bytes"),
            Takes::Path => "a path".to_owned(),
        };
        if self.many { format!("{words}, several between commas") } else { words }
    }

    /// The words that it takes, for those who complete them; none where it takes no words.
    #[must_use]
    pub fn words(&self) -> Vec<&'static str> {
        match self.takes {
            Takes::Word(words) => words(),
            _ => Vec::new(),
        }
    }

    fn read(&self, text: &OsStr) -> Result<Values, String> {
        if let Takes::Path = self.takes {
            return match text.is_empty() {
                true => Err(self.refusal("", None)),
                false => Ok(Values::Path(text.into())),
            };
        }
        let lossy = text.to_string_lossy();
        let Some(text) = text.to_str() else { return Err(self.refusal(&lossy, None)) };
        if let Takes::Text { most } = self.takes {
            let fits = (1..=most).contains(&text.len());
            return fits.then(|| Values::Text(text.to_owned())).ok_or_else(|| self.refusal("", None));
        }
        let parts: Vec<&str> =
            if self.many { text.split(',').map(str::trim).collect() } else { vec![text.trim()] };
        let each = |number: &dyn Fn(&str) -> Option<u64>| {
            let number = |part: &&str| number(part).ok_or_else(|| self.refusal(part, None));
            parts.iter().map(number).collect::<Result<_, _>>().map(Values::Numbers)
        };
        match self.takes {
            Takes::Number { least, most } => {
                each(&|part| part.parse().ok().filter(|number| (least..=most).contains(number)))
            }
            Takes::Time { least, most } => {
                each(&|part| duration_ns(part).filter(|ns| (least..=most).contains(ns)))
            }
            Takes::Word(words) => {
                let words = words();
                let word = |part: &&str| {
                    let known = words.iter().copied().find(|word| word == part);
                    known.ok_or_else(|| {
                        self.refusal(part, nearest(part, words.iter().copied()).first().copied())
                    })
                };
                parts.iter().map(word).collect::<Result<_, _>>().map(Values::Words)
            }
            Takes::Text { .. } | Takes::Path => Err(self.refusal(text, None)),
        }
    }

    fn refusal(&self, part: &str, near: Option<&str>) -> String {
        let part: String = part.chars().take(100).collect();
        let near = near.map_or(String::new(), |near| format!(" (did you mean {near}?)"));
        format!("--set {}='{}'{near}: it takes {}", self.key, Untrusted::new(&part).terminal(), self.values())
    }
}

/// Keys with the values that they were given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given(Vec<(&'static str, Values)>);

impl Given {
    /// Gives a key its value.
    ///
    /// # Errors
    /// In words: it is no value of the key, or the key has one.
    pub fn set(&mut self, setting: &Setting, text: &OsStr) -> Result<(), String> {
        if self.of(setting.key).is_some() {
            let advice = if setting.many { "; several values stand between commas" } else { "" };
            return Err(format!("--set {}= is given twice{advice}", setting.key));
        }
        self.0.push((setting.key, setting.read(text)?));
        Ok(())
    }

    /// The keys, in the order in which they were given.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|(key, _)| *key)
    }

    fn of(&self, key: &str) -> Option<&Values> {
        self.0.iter().find_map(|(known, values)| (*known == key).then_some(values))
    }

    /// Numbers, or times in ns; none where the key was not given.
    #[must_use]
    pub fn numbers(&self, key: &str) -> &[u64] {
        match self.of(key) {
            Some(Values::Numbers(numbers)) => numbers,
            _ => &[],
        }
    }

    /// The number, or time in ns.
    #[must_use]
    pub fn number(&self, key: &str) -> Option<u64> {
        self.numbers(key).first().copied()
    }

    /// Words; none where the key was not given.
    #[must_use]
    pub fn words(&self, key: &str) -> &[&'static str] {
        match self.of(key) {
            Some(Values::Words(words)) => words,
            _ => &[],
        }
    }

    /// The word.
    #[must_use]
    pub fn word(&self, key: &str) -> Option<&'static str> {
        self.words(key).first().copied()
    }

    /// The text.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.of(key) {
            Some(Values::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The path.
    #[must_use]
    pub fn path(&self, key: &str) -> Option<&Path> {
        match self.of(key) {
            Some(Values::Path(path)) => Some(path),
            _ => None,
        }
    }
}

const UNITS: [(&str, u64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];

/// A number with a unit ("1ms", "0.5ms", "1450us"), as ns.
#[must_use]
pub fn duration_ns(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let (_, unit) = UNITS.into_iter().find(|(name, _)| *name == &text[digits.len()..])?;
    let value: f64 = digits.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0)?;
    let ns = (value * unit as f64).round();
    // Beyond it nothing is a time here; the bounds are said elsewhere.
    (ns <= 1e15).then_some(ns as u64)
}

/// ns in the largest unit that leaves a whole number: "50us".
fn duration(ns: u64) -> String {
    let whole = |(_, unit): &(&str, u64)| ns.is_multiple_of(*unit);
    UNITS.into_iter().find(whole).map_or(String::new(), |(name, unit)| format!("{}{name}", ns / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: Setting = Setting {
        key: "clients",
        what: "how many clients there are",
        takes: Takes::Number { least: 1, most: 999 },
        many: true,
        default: "1",
    };
    const TICK: Setting = Setting {
        key: "tick",
        what: "time between two messages",
        takes: Takes::Time { least: 50_000, most: 1_000_000_000 },
        many: false,
        default: "1ms",
    };
    const POLICY: Setting = Setting {
        key: "policy",
        what: "how it is scheduled",
        takes: Takes::Word(|| vec!["rr", "fifo", "other"]),
        many: false,
        default: "rr",
    };
    const COMMAND: Setting = Setting { key: "command", takes: Takes::Text { most: 9 }, ..POLICY };
    const FOLDER: Setting = Setting { key: "folder", takes: Takes::Path, ..POLICY };

    fn refused(setting: &Setting, text: &str) -> String {
        Given::default().set(setting, OsStr::new(text)).expect_err(text)
    }

    #[test]
    fn values_are_read_and_found_by_their_keys() {
        let mut given = Given::default();
        let typed =
            [(COUNT, "3, 20"), (TICK, "0.5ms"), (POLICY, "fifo"), (COMMAND, "a, b=c"), (FOLDER, "x,y")];
        for (setting, text) in &typed {
            given.set(setting, OsStr::new(text)).expect(text);
        }
        assert_eq!(given.keys().collect::<Vec<_>>(), ["clients", "tick", "policy", "command", "folder"]);
        assert_eq!(given.numbers("clients"), [3, 20]);
        let several = Setting { many: true, ..POLICY };
        let mut words = Given::default();
        words.set(&several, OsStr::new("other,rr")).expect("two words");
        assert_eq!((words.word("policy"), words.words("policy")), (Some("other"), &["other", "rr"][..]));
        assert_eq!(given.number("tick"), Some(500_000));
        assert_eq!(given.word("policy"), Some("fifo"));
        assert_eq!(given.text("command"), Some("a, b=c"));
        assert_eq!(given.path("folder"), Some(Path::new("x,y")));
        assert_eq!((given.number("policy"), given.word("other"), given.text("folder")), (None, None, None));
        let twice = given.set(&COUNT, OsStr::new("4")).expect_err("twice");
        assert_eq!(twice, "--set clients= is given twice; several values stand between commas");
    }

    #[test]
    fn what_is_no_value_is_refused_with_what_there_is() {
        for text in ["", "0", "-1", "1000", "x", "1.5", "1,,2", "99999999999999999999999"] {
            assert!(refused(&COUNT, text).contains("from 1 to 999"), "{text}");
        }
        for text in ["", "1", "ms", "-1ms", "1min", "NaNms", "1e400s", "49us", "1001ms", "1ms,2ms"] {
            assert!(refused(&TICK, text).contains("from 50us to 1s"), "{text}");
        }
        assert_eq!(
            refused(&POLICY, "fio"),
            "--set policy='fio' (did you mean fifo?): it takes rr, fifo or other"
        );
        assert!(Given::default().set(&COMMAND, OsStr::new("x")).is_ok());
        assert!(refused(&COMMAND, "").contains("1 to 9 bytes"));
        assert!(refused(&COMMAND, "0123456789").contains("1 to 9 bytes"));
        assert!(refused(&FOLDER, "").contains("a path"));
        assert!(!refused(&COUNT, "\u{1b}[31m").contains('\u{1b}'));
    }

    #[test]
    fn what_a_setting_takes_is_said_in_words() {
        assert_eq!(COUNT.values(), "whole numbers from 1 to 999, several between commas");
        assert_eq!(Setting { many: false, ..COUNT }.values(), "a whole number from 1 to 999");
        assert_eq!(TICK.values(), "a time from 50us to 1s");
        let several = Setting { many: true, ..TICK };
        assert_eq!(several.values(), "times from 50us to 1s, several between commas");
        assert_eq!((POLICY.words(), COUNT.words()), (vec!["rr", "fifo", "other"], vec![]));
        let mut given = Given::default();
        given.set(&COUNT, OsStr::new("3,20")).expect("two numbers");
        assert_eq!(given.number("clients"), Some(3), "the first one");
        // Of a text without end a part is repeated.
        let long = "x".repeat(1000);
        assert_eq!(refused(&COUNT, &long).matches('x').count(), 100);
    }

    #[test]
    fn times_have_units() {
        assert_eq!(duration_ns("1ms"), Some(1_000_000));
        assert_eq!(duration_ns("1450us"), Some(1_450_000));
        assert_eq!([duration_ns("1e15s"), duration_ns("1000001s")], [None, None]);
        assert_eq!(duration_ns("1000000s"), Some(1_000_000_000_000_000), "eleven days");
        assert_eq!([duration_ns("0s"), duration_ns("0.4ns")], [None, Some(0)]);
        assert_eq!([50_000, 1_000_000_000, 1_500_000, 7].map(duration), ["50us", "1s", "1500us", "7ns"]);
    }
}
