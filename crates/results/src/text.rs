//! Text that comes from outside the program. It can only be shown escaped for its destination.

use std::fmt::{self, Display, Formatter, Write};

/// Text from a result, a file name, the kernel or a command line.
///
/// It has no `Display` of its own, so it cannot reach a terminal or a page by accident: the caller says where it goes.
///
/// Nothing that moves a cursor, ends a line, rings, or turns the reading direction leaves it in any format: such a
/// character is shown as its escape (`\u{202e}`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Untrusted<'a>(&'a str);

impl<'a> Untrusted<'a> {
    /// Marks `text` as not compiled in.
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self(text)
    }

    /// For a terminal, a log or an error message: one line, printable characters only.
    #[must_use]
    pub const fn terminal(self) -> impl Display + 'a {
        Terminal(self.0)
    }

    /// For HTML, as text between tags and as value of an attribute in quotes of either kind.
    #[must_use]
    pub const fn html(self) -> impl Display + 'a {
        Html(self.0)
    }

    /// For one cell of a CSV file (RFC 4180): quoted where needed, on one line, and never a formula: a cell that a
    /// spreadsheet would calculate is preceded by an apostrophe.
    #[must_use]
    pub const fn csv(self) -> impl Display + 'a {
        Csv(self.0)
    }

    /// For Markdown (CommonMark with GitHub's tables), anywhere in a line: shown as it is, never as markup.
    #[must_use]
    pub const fn markdown(self) -> impl Display + 'a {
        Markdown(self.0)
    }

    /// For the value of a label in OpenMetrics and in Prometheus' text format, between its quotes.
    #[must_use]
    pub const fn open_metrics(self) -> impl Display + 'a {
        OpenMetrics(self.0)
    }

    /// For a terminal, of JSON that serde has written, or of text within its strings: it escapes some controls, here are the
    /// others. Every reader of JSON reads the same as before.
    #[must_use]
    pub const fn json(self) -> impl Display + 'a {
        Json(self.0)
    }
}

struct Json<'a>(&'a str);

impl fmt::Debug for Untrusted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.terminal())
    }
}

struct Terminal<'a>(&'a str);
struct Html<'a>(&'a str);
struct Csv<'a>(&'a str);
struct Markdown<'a>(&'a str);
struct OpenMetrics<'a>(&'a str);

impl Display for Terminal<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| visibly(c, f))
    }
}

impl Display for Html<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&#39;"),
            c => visibly(c, f),
        })
    }
}

impl Display for Csv<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // Some spreadsheets skip blanks before they look for a formula, and some take the full-width signs for it.
        let formula = self.0.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
            || self.0.starts_with(['\t', '\r', '\n']);
        let apostrophe = if formula { "'" } else { "" };
        // The semicolon separates cells wherever the comma is the decimal sign.
        if !self.0.contains(['"', ',', ';']) && self.0.trim() == self.0 {
            return write!(f, "{apostrophe}{}", Terminal(self.0));
        }
        write!(f, "\"{apostrophe}")?;
        for c in self.0.chars() {
            if c == '"' {
                f.write_char('"')?;
            }
            visibly(c, f)?;
        }
        f.write_char('"')
    }
}

impl Display for Markdown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // Digits at the start make a list together with the dot or bracket behind them.
        let number = self.0.len() - self.0.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let mut before = None;
        let mut rest = self.0.char_indices();
        while let Some((at, c)) = rest.next() {
            let starts = before.is_none();
            match c {
                // References rather than backslashes: they hold in every dialect, inside and outside tables.
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '|' => f.write_str("&#124;")?,
                ' ' if starts => f.write_str("&#32;")?,
                '\\' | '`' | '*' | '[' | ']' | '#' | '!' | '~' | '$' => write!(f, "\\{c}")?,
                '-' | '+' | '=' if starts => write!(f, "\\{c}")?,
                '.' | ')' if number > 0 && at == number => write!(f, "\\{c}")?,
                // Inside a word it is no markup, and ids are full of it.
                '_' if before.is_some_and(char::is_alphanumeric)
                    && rest.clone().next().is_some_and(|(_, next)| next.is_alphanumeric()) =>
                {
                    f.write_char('_')?;
                }
                '_' => f.write_str("\\_")?,
                // The backslash of an escape would itself escape in Markdown.
                c if is_hidden(c) => write!(f, "\\{}", c.escape_default())?,
                c => f.write_char(c)?,
            }
            before = Some(c);
        }
        Ok(())
    }
}

impl Display for OpenMetrics<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '\\' | '"' => write!(f, "\\{c}"),
            // The backslash of an escape would itself escape there.
            c if is_hidden(c) => write!(f, "\\{}", c.escape_default()),
            c => f.write_char(c),
        })
    }
}

impl Display for Json<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            // Between the values; inside of one serde has escaped it.
            '\n' => f.write_char(c),
            c if is_hidden(c) => {
                c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(f, "\\u{unit:04x}"))
            }
            c => f.write_char(c),
        })
    }
}

/// Writes `c`, or its escape if it would not be seen for what it is.
fn visibly(c: char, f: &mut Formatter<'_>) -> fmt::Result {
    if is_hidden(c) { write!(f, "{}", c.escape_default()) } else { f.write_char(c) }
}

/// Controls (C0, DEL, C1), line and paragraph separators, and what has no width or turns the text (Unicode 17,
/// Bidi_Control and Default_Ignorable_Code_Point, but the selectors of variants, which belong to the letter before), and the
/// annotations.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Text rich in what matters to any of the formats.
    fn hostile() -> impl Strategy<Value = String> {
        let nasty = prop::sample::select(
            "\0\x07\x08\t\n\r\x1b\x7f\u{85}\u{9b}\u{202e}\u{2066}\u{200f}\u{2028}\u{feff}<>&\"'`=+-@＝;,|\\*_[]()#!~$ .1aé漢🦀"
                .chars()
                .collect::<Vec<_>>(),
        );
        prop::collection::vec(prop_oneof![3 => nasty, 1 => any::<char>()], 0..24)
            .prop_map(|chars| chars.into_iter().collect())
    }

    fn harmless(shown: &str) -> bool {
        !shown.chars().any(is_hidden)
    }

    /// What a browser makes of the references that we write.
    fn browser(html: &str) -> String {
        let html =
            html.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
        html.replace("&#32;", " ").replace("&#124;", "|").replace("&amp;", "&")
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_way_out_moves_a_cursor_or_turns_text(text in hostile()) {
            let text = Untrusted::new(&text);
            prop_assert!(harmless(&text.terminal().to_string()));
            prop_assert!(harmless(&text.html().to_string()));
            prop_assert!(harmless(&text.csv().to_string()));
            prop_assert!(harmless(&text.markdown().to_string()));
            prop_assert!(harmless(&text.open_metrics().to_string()));
            let debug = format!("{text:?}");
            prop_assert!(harmless(&debug));
        }

        #[test]
        fn printable_text_is_unchanged_on_a_terminal(text in "[ -~éß漢🦀]{0,24}") {
            prop_assert_eq!(Untrusted::new(&text).terminal().to_string(), text);
        }

        #[test]
        fn html_has_no_markup_and_reads_back_as_shown(text in hostile()) {
            let text = Untrusted::new(&text);
            let html = text.html().to_string();
            prop_assert!(!html.contains(['<', '>', '"', '\'']));
            prop_assert_eq!(browser(&html), text.terminal().to_string());
        }

        #[test]
        fn csv_is_one_cell_and_no_formula(text in hostile()) {
            let shown = Untrusted::new(&text).terminal().to_string();
            let csv = Untrusted::new(&text).csv().to_string();
            let cell = match csv.strip_prefix('"') {
                Some(quoted) => {
                    let inner = quoted.strip_suffix('"').expect("a quoted cell ends with its quote");
                    prop_assert!(!inner.replace("\"\"", "").contains('"'));
                    inner.replace("\"\"", "\"")
                }
                None => {
                    prop_assert!(!csv.contains(['"', ',', ';', '\n', '\r']));
                    csv
                }
            };
            prop_assert!(!cell.trim_start().starts_with(['=', '+', '-', '@', '\t', '＝', '＋', '－', '＠']));
            prop_assert_eq!(cell.strip_prefix('\'').filter(|_| !shown.starts_with('\'')).unwrap_or(&cell), shown);
        }

        #[test]
        fn a_label_reads_back_as_shown(text in hostile()) {
            let label = Untrusted::new(&text).open_metrics().to_string();
            let mut read = String::new();
            let mut chars = label.chars();
            while let Some(c) = chars.next() {
                prop_assert!(c != '"' && c != '\n');
                if c == '\\' {
                    let escaped = chars.next().expect("no backslash ends a label");
                    prop_assert!(escaped == '\\' || escaped == '"');
                    read.push(escaped);
                } else {
                    read.push(c);
                }
            }
            prop_assert_eq!(read, Untrusted::new(&text).terminal().to_string());
        }

        #[test]
        fn markdown_reads_back_as_shown(text in hostile()) {
            let text = Untrusted::new(&text);
            let markdown = text.markdown().to_string();
            prop_assert!(!markdown.contains(['<', '>', '|']));
            // Every character that can be markup is preceded by an odd number of backslashes.
            let mut read = String::new();
            let mut chars = markdown.chars();
            while let Some(c) = chars.next() {
                match c {
                    '\\' => read.push(chars.next().expect("no backslash ends the text")),
                    '`' | '*' | '[' | ']' | '!' | '~' | '$' => prop_assert!(false, "bare {c}"),
                    '#' if !read.ends_with('&') => prop_assert!(false, "bare #"),
                    c => read.push(c),
                }
            }
            prop_assert_eq!(browser(&read), text.terminal().to_string());
        }
    }

    #[test]
    fn known_attacks_are_shown_not_done() {
        let title = Untrusted::new("\x1b]0;owned\x07\x1b[31mred\r\u{202e}txt");
        assert_eq!(title.terminal().to_string(), r"\u{1b}]0;owned\u{7}\u{1b}[31mred\r\u{202e}txt");
        let script = Untrusted::new(r#"<script>alert('1')</script> " onload="x"#);
        assert_eq!(
            script.html().to_string(),
            "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &quot; onload=&quot;x"
        );
        assert_eq!(Untrusted::new("=cmd|' /C calc'!A0").csv().to_string(), "'=cmd|' /C calc'!A0");
        assert_eq!(Untrusted::new("\t=1").csv().to_string(), "\"'\\t=1\"");
        assert_eq!(Untrusted::new("a, \"b\"").csv().to_string(), "\"a, \"\"b\"\"\"");
        assert_eq!(Untrusted::new("semaphore/posix_named").csv().to_string(), "semaphore/posix_named");
    }

    #[test]
    fn markdown_keeps_ids_readable_and_markup_inert() {
        let shown = |text| Untrusted::new(text).markdown().to_string();
        assert_eq!(shown("semaphore/posix_named"), "semaphore/posix_named");
        assert_eq!(shown("_a_ **b** [c](d) `e` | f"), r"\_a\_ \*\*b\*\* \[c\](d) \`e\` &#124; f");
        assert_eq!(shown("<img src=x>"), "&lt;img src=x&gt;");
        assert_eq!(shown("- a"), r"\- a");
        assert_eq!(shown("12. a 3.4"), r"12\. a 3.4");
        assert_eq!(shown(".5 (a) 1) 2"), ".5 (a) 1) 2", "no digits before it, no list");
        assert_eq!(shown("1) a"), r"1\) a");
        assert_eq!(shown("    code"), "&#32;   code");
        assert_eq!(shown("\u{202e}"), r"\\u{202e}");
    }

    #[test]
    fn a_message_for_programmers_quotes_what_a_terminal_may_show() {
        assert_eq!(format!("{:?}", Untrusted::new("a\u{1b}b")), r#""a\u{1b}b""#);
    }

    #[test]
    fn a_cell_that_begins_as_a_formula_may_begins_with_an_apostrophe() {
        let csv = |text: &str| Untrusted::new(text).csv().to_string().replace('"', "");
        for text in ["=1", " =1", "+1", "-1", "@a", "\t1", "\r1", "\n1"] {
            assert!(csv(text).starts_with('\''), "{text:?}: {}", csv(text));
        }
        for text in ["1", "a=1", "1\t", "1\r", "1\n"] {
            assert!(!csv(text).contains('\''), "{text:?}: {}", csv(text));
        }
    }
}
