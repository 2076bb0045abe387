//! Text that was not compiled in, made harmless for a terminal.

/// `text` without control, direction and other invisible characters, and in ASCII alone unless `unicode`; what cannot
/// be shown is written as its number (`\u{1b}`).
pub(crate) fn plain(text: &str, unicode: bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter == '\n' || letter == '\t' {
            shown.push(' ');
        } else if hidden(letter) || (!unicode && !letter.is_ascii()) {
            shown.extend(letter.escape_unicode());
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Whether a terminal would obey a character, or show nothing for it.
fn hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        assert_eq!(plain("a\u{1b}[31mb\r\n\u{202e}", true), "a\\u{1b}[31mb\\u{d} \\u{202e}");
        assert_eq!(plain("caf\u{e9}", true), "caf\u{e9}");
        assert_eq!(plain("caf\u{e9}", false), "caf\\u{e9}");
    }
}
