//! The body of the fuzz target `escapers`: any text, through every way out of `Untrusted`.

use oscost_results::Untrusted;

use super::shown;

/// The text as a whole, and each of its lines.
pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    escaped(&text);
    text.lines().for_each(escaped);
}

fn escaped(text: &str) {
    let untrusted = Untrusted::new(text);
    let terminal = untrusted.terminal().to_string();
    shown::one_line(&terminal);
    if !text.contains(shown::is_obeyed) {
        assert_eq!(terminal, text, "what can be shown is shown as it is");
    }
    html(&untrusted.html().to_string(), &terminal);
    csv(&untrusted.csv().to_string(), &terminal);
    label(&untrusted.open_metrics().to_string(), &terminal);
    markdown(&untrusted.markdown().to_string(), &terminal);
    let json = serde_json::to_string(text).expect("text");
    let shown_json = Untrusted::new(&json).json().to_string();
    shown::one_line(&shown_json);
    assert_eq!(serde_json::from_str::<String>(&shown_json).expect("still JSON"), text);
    shown::one_line(&format!("{untrusted:?}"));
}

/// What a browser makes of the references that are written.
fn browser(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, after)) = rest.split_once('&') {
        text.push_str(before);
        let (name, after) = after.split_once(';').expect("a reference ends");
        text.push(match name {
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#39" => '\'',
            "#32" => ' ',
            "#124" => '|',
            "amp" => '&',
            other => panic!("no reference of ours: {other:?}"),
        });
        rest = after;
    }
    text + rest
}

fn html(html: &str, terminal: &str) {
    shown::one_line(html);
    assert!(!html.contains(['<', '>', '"', '\'']), "{html:?}");
    assert_eq!(browser(html), terminal);
}

fn csv(csv: &str, terminal: &str) {
    shown::one_line(csv);
    let cell = match csv.strip_prefix('"') {
        Some(quoted) => {
            let inner = quoted.strip_suffix('"').expect("a quoted cell ends with its quote");
            assert!(!inner.replace("\"\"", "").contains('"'), "{csv:?}");
            inner.replace("\"\"", "\"")
        }
        None => {
            assert!(!csv.contains(['"', ',', ';']), "{csv:?}");
            csv.to_owned()
        }
    };
    let formula = cell.trim_start().starts_with(['=', '+', '-', '@', '\t', '＝', '＋', '－', '＠']);
    assert!(!formula, "{csv:?}");
    assert!(cell == terminal || cell.strip_prefix('\'') == Some(terminal), "{csv:?}");
}

fn label(label: &str, terminal: &str) {
    shown::one_line(label);
    let mut read = String::new();
    let mut letters = label.chars();
    while let Some(letter) = letters.next() {
        assert!(letter != '"', "{label:?}");
        if letter == '\\' {
            let escaped = letters.next().expect("no backslash ends a label");
            assert!(escaped == '\\' || escaped == '"', "{label:?}");
            read.push(escaped);
        } else {
            read.push(letter);
        }
    }
    assert_eq!(read, terminal);
}

fn markdown(markdown: &str, terminal: &str) {
    shown::one_line(markdown);
    assert!(!markdown.contains(['<', '>', '|']), "{markdown:?}");
    let mut read = String::new();
    let mut letters = markdown.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => read.push(letters.next().expect("no backslash ends the text")),
            '`' | '*' | '[' | ']' | '!' | '~' | '$' => panic!("bare {letter}: {markdown:?}"),
            '#' if !read.ends_with('&') => panic!("bare #: {markdown:?}"),
            letter => read.push(letter),
        }
    }
    assert_eq!(browser(&read), terminal);
}
