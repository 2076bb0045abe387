//! A result as bytes: plain JSON whose second line is a checksum over all bytes after it.
//!
//! ```text
//! {
//!   "checksum": "crc32:89abcdef",
//!   "format": "oscost-result",
//!   …
//! ```
//! The checksum is compared as text and before anything is parsed. Every older [`VERSION`] is read for ever, and is then
//! an object of today's: its words are today's, and `estimators` still says how its launches are to be read. Members
//! that a later minor version added are kept. A status, mark, verdict or judgement that it added is read as unknown.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{FORMAT, RunResult, Untrusted, VERSION, finite, layout, withdrawn::withdraw};

/// A result is never longer, in bytes: a longer file is neither read nor written.
pub const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A figure takes more bytes in any file that oscost wrote. Whoever puts more figures into a file wants a reader's memory.
const LEAST_FIGURE_BYTES: u64 = 256;
/// A file with more figures is no result of oscost, and is not read to its end.
const MOST_FIGURES: usize = (MAX_BYTES / LEAST_FIGURE_BYTES) as usize;

const FIRST_LINE: &str = "{\n";
const CHECKSUM_KEY: &str = "checksum";
/// The header is `FIRST_LINE`, `LABEL`, eight lower-case hexadecimal digits, `END_OF_LABEL`.
const LABEL: &str = "  \"checksum\": \"crc32:";
const END_OF_LABEL: &str = "\",\n";
const HEADER_BYTES: usize = FIRST_LINE.len() + LABEL.len() + 8 + END_OF_LABEL.len();

/// Why a result cannot become a file: a defect of the program that made it, or the journal of another version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unwritable {
    /// A number is NaN or infinite, which JSON cannot hold.
    #[error("{path} is not a finite number: this is a defect of oscost, nothing was written")]
    NotFinite {
        /// Where it is (`figures[3].quantities.floor.value`).
        path: String,
    },
    /// The result is larger than any reader accepts.
    #[error(
        "the result has {bytes} bytes, more than the {MAX_BYTES} that are read again: nothing was written"
    )]
    TooLarge {
        /// Its size.
        bytes: u64,
    },
    /// It calls itself something that no reader of this version takes.
    #[error("the result would not be read again: {reason}; nothing was written")]
    Unreadable {
        /// What a reader would say.
        reason: String,
    },
    /// A value has no form in JSON.
    #[error(
        "the result cannot be written as JSON ({reason}): this is a defect of oscost, nothing was written"
    )]
    NoJson {
        /// serde_json's words.
        reason: String,
    },
}

/// Why bytes are no result that can be used. The texts are safe for a terminal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// Something else than a result.
    #[error("not an oscost result ({reason}); name a file that `oscost run` left")]
    NotAResult {
        /// What tells.
        reason: String,
    },
    /// A result once, but not as it was written.
    #[error("damaged: {reason}; nothing of it can be believed, take another copy or measure again")]
    Damaged {
        /// What tells.
        reason: String,
    },
    /// Written by a later major version.
    #[error("format version {version}, and this oscost reads versions up to {VERSION}; use a newer oscost")]
    Newer {
        /// Its version.
        version: u64,
    },
    /// Larger than any result.
    #[error("larger than the {MAX_BYTES} bytes that a result may have; it was not read")]
    TooLarge,
}

/// The bytes of the file that holds `result`, as saved and as printed by `--json -`. What is written is of today's
/// [`VERSION`].
///
/// # Errors
/// [`Unwritable`] if they would not be read again.
pub fn to_bytes(result: &RunResult) -> Result<Vec<u8>, Unwritable> {
    newest(&result.format, u64::from(result.version))
        .map_err(|refused| Unwritable::Unreadable { reason: refused.to_string() })?;
    if result.version != VERSION {
        let reason = format!("it says version {}, and its words are of version {VERSION}", result.version);
        return Err(Unwritable::Unreadable { reason });
    }
    if let Some(path) = finite::not_finite(result) {
        return Err(Unwritable::NotFinite { path });
    }
    let mut json = layout::lines(result).map_err(|error| Unwritable::NoJson { reason: error.to_string() })?;
    json.push(b'\n');
    let body = &json[FIRST_LINE.len()..];
    let mut bytes = Vec::with_capacity(HEADER_BYTES + body.len());
    bytes.extend_from_slice(header(body).as_bytes());
    bytes.extend_from_slice(body);
    match bytes.len() as u64 {
        size if size > MAX_BYTES => Err(Unwritable::TooLarge { bytes: size }),
        _ => Ok(bytes),
    }
}

/// `part` as members, lists and numbers.
pub(crate) fn value(part: &impl Serialize) -> serde_json::Result<serde_json::Value> {
    serde_json::from_slice(&layout::lines(part)?)
}

/// The result in `bytes`, of this or any older version. Figures that are known to be wrong are withdrawn in it.
///
/// # Errors
/// [`Refused`] with the reason, whatever the bytes are.
pub fn from_bytes(bytes: &[u8]) -> Result<RunResult, Refused> {
    let mut result: RunResult = whole(bytes, |result: &RunResult| (&result.format, result.version.into()))?;
    result.unknown.remove(CHECKSUM_KEY);
    result.upgrade();
    // Documents that were reproduced have been asked something since results have answers.
    if result.answers.is_empty() {
        crate::reproduction::older::told(&mut result.reproductions);
    }
    withdraw(&mut result);
    Ok(result)
}

/// What `bytes` hold; `head` tells its format and version.
pub(crate) fn whole<T: serde::de::DeserializeOwned>(
    bytes: &[u8],
    head: impl Fn(&T) -> (&str, u64),
) -> Result<T, Refused> {
    match checked::<T>(bytes) {
        Ok(found) => {
            let (format, version) = head(&found);
            newest(format, version).map(|()| found)
        }
        // A newer version may look different: that it is newer tells the reader more than what looks different.
        Err(reason) => {
            checked::<Head>(bytes).and_then(|head| newest(&head.format, head.version)).and(Err(reason))
        }
    }
}

/// What `bytes` hold, once their length and checksum are right: the file is then as somebody wrote it, though not
/// necessarily oscost.
fn checked<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, Refused> {
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Refused::TooLarge);
    }
    check_sum(bytes)?;
    serde_json::from_slice(bytes).map_err(|error| not_a_result(&error))
}

/// The figures of a result, as long as they are not more than a file of oscost can hold.
pub(crate) fn figures<'de, D: Deserializer<'de>, F: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<F>, D::Error> {
    struct Figures<F>(PhantomData<F>);
    impl<'de, F: Deserialize<'de>> Visitor<'de> for Figures<F> {
        type Value = Vec<F>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "at most {MOST_FIGURES} figures")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Vec<F>, A::Error> {
            let mut figures = Vec::new();
            while let Some(figure) = all.next_element()? {
                if figures.len() == MOST_FIGURES {
                    return Err(A::Error::invalid_length(MOST_FIGURES + 1, &self));
                }
                figures.push(figure);
            }
            Ok(figures)
        }
    }
    deserializer.deserialize_seq(Figures(PhantomData))
}

/// Refuses what is no result, and what is newer than this reader.
fn newest(format: &str, version: u64) -> Result<(), Refused> {
    if format != FORMAT {
        let reason = format!("its format is \"{}\"", Untrusted::new(format).terminal());
        return Err(Refused::NotAResult { reason });
    }
    match version {
        0 => Err(Refused::NotAResult { reason: "there is no version 0".to_owned() }),
        version if version <= u64::from(VERSION) => Ok(()),
        version => Err(Refused::Newer { version }),
    }
}

/// The two members that every version has.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u64,
}

/// The first two lines of a file with this body.
fn header(body: &[u8]) -> String {
    format!("{FIRST_LINE}{LABEL}{:08x}{END_OF_LABEL}", crc32fast::hash(body))
}

/// Compares the header with the one that the body asks for.
fn check_sum(bytes: &[u8]) -> Result<(), Refused> {
    let damaged = |reason: &str| Err(Refused::Damaged { reason: reason.to_owned() });
    if bytes.is_empty() {
        return damaged("it is empty");
    }
    if bytes.iter().all(|byte| *byte == 0) {
        return damaged("it holds zeros alone, as a loss of power leaves a file");
    }
    let (head, body) = bytes.split_at(bytes.len().min(HEADER_BYTES));
    let expected = header(body);
    if head == expected.as_bytes() {
        return Ok(());
    }
    let start = format!("{FIRST_LINE}{LABEL}");
    if head.len() < HEADER_BYTES && start.as_bytes().starts_with(&head[..head.len().min(start.len())]) {
        return damaged("it ends within its first two lines");
    }
    let labelled = head.starts_with(start.as_bytes()) && head.ends_with(END_OF_LABEL.as_bytes());
    if labelled && head[start.len()..start.len() + 8].iter().all(u8::is_ascii_hexdigit) {
        return if body.ends_with(b"\n}\n") {
            damaged("its checksum does not fit: it was changed after it was written")
        } else {
            damaged("its checksum does not fit, and its end is missing")
        };
    }
    if bytes.windows(FORMAT.len()).any(|window| window == FORMAT.as_bytes()) {
        return damaged("its second line is not the checksum that oscost wrote; another program rewrote it");
    }
    Err(Refused::NotAResult { reason: "its second line is no checksum".to_owned() })
}

/// serde_json quotes the file in its messages.
fn not_a_result(error: &serde_json::Error) -> Refused {
    Refused::NotAResult { reason: Untrusted::new(&error.to_string()).terminal().to_string() }
}
