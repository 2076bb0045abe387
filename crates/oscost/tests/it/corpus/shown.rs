//! Characters and sequences that no output may contain, whatever the source of its text.

use std::sync::Mutex;

use super::metrics::read;

/// Characters that a terminal or a browser would obey instead of showing: controls, direction marks, what has no width.
pub fn is_obeyed(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
}

/// Text of one line.
pub fn one_line(text: &str) {
    assert!(!text.contains(is_obeyed), "{text:?}");
}

/// Text of several lines, as it was written.
pub fn text(out: &[u8]) -> &str {
    let text = std::str::from_utf8(out).expect("what is shown is UTF-8");
    let stray = |letter: char| is_obeyed(letter) && letter != '\n' && letter != '\r';
    // Nearly all is printable ASCII, of which a byte is judged ten times as fast.
    let is_plain = text.is_ascii() && out.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n'));
    assert!(is_plain || !text.contains(stray), "{text:?}");
    assert!(is_plain || !text.replace("\r\n", "").contains('\r'), "{text:?}");
    for (word, last) in [("inf", 'f'), ("NaN", 'N')] {
        let ends = text.match_indices(last).map(|(at, _)| text.split_at(at + 1));
        let no_share = ends
            .filter(|(to, _)| to.ends_with(word))
            .any(|(_, from)| [" %", "&nbsp;%", "\u{a0}%"].into_iter().any(|unit| from.starts_with(unit)));
        assert!(!no_share, "a share that is no number: {text:?}");
    }
    text
}

/// Text in ASCII, no line of which is wider than the page.
pub fn ascii(out: &[u8], width: usize) {
    let text = text(out);
    assert!(text.is_ascii(), "{text:?}");
    for line in text.lines() {
        assert!(line.len() <= width.max(20), "{width}: {line:?}");
    }
}

/// Markdown: no tag, and each line of a table has as many cells as the line above it.
pub fn markdown(out: &[u8]) {
    let text = text(out);
    assert!(!text.contains('<'), "{text:?}");
    let lines: Vec<&str> = text.lines().collect();
    for two in lines.windows(2).filter(|two| two[0].starts_with('|') && two[1].starts_with('|')) {
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        assert_eq!(cells(two[0]), cells(two[1]), "{two:?}");
    }
}

/// CSV as RFC 4180 has it: rows of one shape, and no cell that a spreadsheet would calculate.
pub fn csv(out: &[u8]) {
    let text = text(out);
    let mut columns = None;
    for line in text.strip_suffix("\r\n").expect("a last line's end").split("\r\n") {
        let mut cells = vec![String::new()];
        let mut quoted = false;
        let mut letters = line.chars().peekable();
        while let Some(letter) = letters.next() {
            let cell = cells.last_mut().expect("one at least");
            match letter {
                '"' if quoted && letters.next_if_eq(&'"').is_some() => cell.push('"'),
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                letter => cell.push(letter),
            }
        }
        assert!(!quoted, "{line:?}");
        for cell in &cells {
            let minus = cell.starts_with('-') && cell.parse::<f64>().is_err();
            assert!(!minus && !cell.starts_with(['=', '+', '@']), "{cell:?}");
        }
        assert_eq!(*columns.get_or_insert(cells.len()), cells.len(), "{line:?}");
    }
}

/// A page: every element ends where it has to, every table has a name, no attribute is a handler, no link leaves the page.
pub fn page(out: &[u8]) {
    let whole = std::str::from_utf8(out).expect("what is shown is UTF-8");
    const EMPTY: [&str; 9] =
        ["meta", "input", "wbr", "line", "circle", "use", "path", "!doctype", "polyline"];
    let mut open: Vec<&str> = Vec::new();
    let (mut rest, mut begun, mut shown) = (whole, whole, String::new());
    while let Some((_, from)) = rest.split_once('<') {
        let (tag, after) = from.split_once('>').expect("a tag ends");
        rest = after;
        let (name, attributes) = tag.split_once([' ', '\n']).unwrap_or((tag, ""));
        if let Some(end) = tag.strip_prefix('/') {
            while open.last().is_some_and(|last| *last != end && IMPLIED.contains(last)) {
                open.pop();
            }
            assert_eq!(open.pop(), Some(end), "{tag:?}");
            continue;
        }
        let name = name.trim_end_matches('/');
        while open.last().is_some_and(|last| ends_before(last, name)) {
            open.pop();
        }
        assert!(
            name == "!doctype" || name.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            "no tag of ours: {tag:?}"
        );
        attributes_of(attributes.trim_end_matches('/'));
        if name == "table" {
            let label = attributes.strip_prefix("aria-label=\"").is_some_and(|value| !value.starts_with('"'));
            assert!(label || rest.starts_with("<caption>"), "a table without a name: {tag:?}");
        }
        match name {
            // The page's own, named by its hash in the policy: text up to its end.
            "script" | "style" => {
                let (own, after) = rest.split_once(&format!("</{name}>")).expect("it ends");
                looked_at_once(own);
                shown.push_str(&begun[..begun.len() - rest.len()]);
                (rest, begun) = (after, after);
            }
            name if EMPTY.contains(&name) || tag.ends_with('/') => {}
            name => open.push(name),
        }
    }
    shown.push_str(begun);
    text(shown.as_bytes());
    // html and body need no end tags.
    assert!(open.iter().all(|name| ["html", "body", "head"].contains(name)), "{open:?}");
}

/// A script or a style: most of every page, and the same in all of them.
fn looked_at_once(own: &str) {
    static KNOWN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let known = KNOWN.lock().is_ok_and(|known| known.iter().any(|it| it == own));
    if !known {
        text(own.as_bytes());
        KNOWN.lock().expect("nobody panics with it").push(own.to_owned());
    }
}

/// Parts of a table, whose end tags may be left out. HTML, 13.1.2.4, Optional tags.
const IMPLIED: [&str; 5] = ["td", "th", "tr", "thead", "tbody"];

/// Whether an element without an end tag ends where one called `next` begins.
fn ends_before(last: &str, next: &str) -> bool {
    match last {
        "td" | "th" => ["td", "th", "tr", "tbody"].contains(&next),
        "tr" => ["tr", "tbody"].contains(&next),
        "thead" => next == "tbody",
        _ => false,
    }
}

fn attributes_of(mut text: &str) {
    loop {
        text = text.trim_start();
        if text.is_empty() {
            return;
        }
        let end = text.find([' ', '=', '\n']).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        assert!(!name.starts_with("on"), "a handler: {text:?}");
        let Some(value) = rest.strip_prefix('=') else {
            text = rest;
            continue;
        };
        let (value, rest) = match value.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').expect("a quoted value ends"),
            None => value.split_once([' ', '\n']).unwrap_or((value, "")),
        };
        assert!(
            !["href", "src", "xlink:href", "action"].contains(&name) || value.starts_with('#'),
            "a link that leaves the page: {value:?}"
        );
        let is_number =
            !value.split([' ', ',']).any(|it| ["NaN", "inf", "-inf", "NaN%", "inf%"].contains(&it));
        assert!(is_number || ["title", "value", "data-text"].contains(&name), "{name}: {value:?}");
        text = rest;
    }
}

/// OpenMetrics: families and samples by the grammar, each once, with finite numbers.
pub fn open_metrics(out: &[u8]) {
    for (name, family) in read(text(out)) {
        assert!(!family.samples.is_empty(), "{name} has no sample");
        assert!(family.unit.is_none_or(|unit| ["seconds", "ratio"].contains(&&*unit)), "{name}");
    }
}
