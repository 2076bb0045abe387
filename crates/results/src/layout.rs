//! How JSON is written: a result with one member per line and lists of numbers on one line, all else on one line.
//!
//! serde_json's pretty printer gives each number of a histogram its own line, and so most of a file to blanks. One formatter
//! and one kind of writer serve both: with two, the program would have the code of every type twice.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Result, Serializer};

use crate::Untrusted;

/// `part` in lines.
pub(crate) fn lines(part: &impl Serialize) -> Result<Vec<u8>> {
    let mut json = Vec::new();
    written(part, &mut json, Layout::default())?;
    Ok(json)
}

/// Writes `part` on one line, without an end.
///
/// # Errors
/// `out` took no more, or `part` has a key that is no text.
pub fn write_on_one_line(part: &impl Serialize, out: &mut dyn Write) -> Result<()> {
    written(part, out, Layout { flat: true, ..Layout::default() })
}

fn written(part: &impl Serialize, out: &mut dyn Write, layout: Layout) -> Result<()> {
    part.serialize(&mut Serializer::with_formatter(out, layout))
}

/// Two blanks a level; an element of a list has its own line if it is no number, truth value or null.
#[derive(Default)]
struct Layout {
    /// All on one line, as serde_json writes it.
    flat: bool,
    /// Lists and objects around the current place: whether their members have lines of their own.
    open: Vec<bool>,
    /// An element of a list is about to be written.
    element: bool,
}

impl Layout {
    fn line<W: Write + ?Sized>(&self, writer: &mut W) -> io::Result<()> {
        if self.flat {
            return Ok(());
        }
        writer.write_all(b"\n")?;
        (0..self.open.len()).try_for_each(|_| writer.write_all(b"  "))
    }

    /// Gives the element that begins here a line of its own.
    fn element_line<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        if !std::mem::take(&mut self.element) {
            return Ok(());
        }
        if let Some(lines) = self.open.last_mut() {
            *lines = true;
        }
        self.line(writer)
    }

    fn close<W: Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        if self.open.pop() == Some(true) {
            self.line(writer)?;
        }
        writer.write_all(bracket)
    }
}

impl Formatter for Layout {
    fn begin_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.element_line(writer)?;
        self.open.push(false);
        writer.write_all(b"[")
    }

    fn end_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.element = true;
        if first { Ok(()) } else { writer.write_all(b",") }
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.element = false;
        Ok(())
    }

    fn begin_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.element_line(writer)?;
        self.open.push(false);
        writer.write_all(b"{")
    }

    fn end_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if let Some(lines) = self.open.last_mut() {
            *lines = true;
        }
        if !first {
            writer.write_all(b",")?;
        }
        self.line(writer)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(if self.flat { b":" } else { b": " })
    }

    fn begin_string<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.element_line(writer)?;
        writer.write_all(b"\"")
    }

    /// What a terminal would obey, or nobody would see, is written as its escape.
    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if self.flat {
            return writer.write_all(fragment.as_bytes());
        }
        write!(writer, "{}", Untrusted::new(fragment).json())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn laid_out(value: &Value) -> String {
        String::from_utf8(lines(value).expect("a vector takes everything")).expect("JSON is text")
    }

    #[test]
    fn numbers_share_a_line_and_all_else_has_its_own() {
        let value =
            json!({"a": [1, 2.5, null], "b": ["x", "y"], "c": [], "d": {}, "e": [{"f": [true]}, [0]]});
        let expected = r#"{
  "a": [1,2.5,null],
  "b": [
    "x",
    "y"
  ],
  "c": [],
  "d": {},
  "e": [
    {
      "f": [true]
    },
    [0]
  ]
}"#;
        assert_eq!(laid_out(&value), expected);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z\"\\\\]{0,3}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn layout_changes_no_value_and_shows_every_character(value in any_json()) {
            let text = laid_out(&value);
            prop_assert!(!text.chars().any(|c| c != '\n' && crate::text::is_hidden(c)), "{:?}", text);
            prop_assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(value));
        }

        #[test]
        fn one_line_is_as_serde_json_writes_it(value in any_json()) {
            let mut bytes = Vec::new();
            write_on_one_line(&value, &mut bytes).expect("a vector takes everything");
            prop_assert_eq!(bytes, serde_json::to_vec(&value).expect("a value"));
        }
    }

    #[test]
    fn what_a_terminal_obeys_is_escaped_in_keys_and_values() {
        let value = json!({"\u{9b}k": "a\u{202e}b\u{2028}c\u{7f}d\u{e0041}e\u{1b}é漢🦀"});
        let expected = "{\n  \"\\u009bk\": \"a\\u202eb\\u2028c\\u007fd\\udb40\\udc41e\\u001bé漢🦀\"\n}";
        assert_eq!(laid_out(&value), expected);
    }
}
