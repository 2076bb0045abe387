//! Breaking text into the lines of a terminal. Works on plain text; colour is added afterwards.

use crate::words::width;

/// Columns before what belongs to a heading.
pub(super) const INDENT: usize = 2;
/// Columns before what belongs to a row.
pub(super) const DEEP: usize = 6;
/// Between words that stay on one line if a line has room for them all.
pub(super) const GLUE: char = '\u{a0}';

/// `text` in lines of at most `room` columns, broken between words but not before a unit, nor at glue; a word longer than a line
/// is broken behind a comma, as a list of CPUs has them, or else anywhere. At least one line.
pub(crate) fn wrap(text: &str, room: usize) -> Vec<String> {
    let room = room.max(2);
    let mut lines = Vec::new();
    let mut line = String::new();
    let loose = |glued: &str| match width(glued) <= room {
        true => vec![glued.replace(GLUE, " ")],
        false => words(&glued.replace(GLUE, " ")),
    };
    for word in words(text).iter().flat_map(|word| loose(word)) {
        let word = word.as_str();
        if !line.is_empty() && width(&line) + 1 + width(word) > room {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        if width(word) <= room {
            line.push_str(word);
            continue;
        }
        for part in word.split_inclusive(',') {
            if width(part) <= room && width(&line) + width(part) > room {
                lines.push(std::mem::take(&mut line));
            }
            for letter in part.chars() {
                if width(&line) + width(letter.encode_utf8(&mut [0; 4])) > room {
                    lines.push(std::mem::take(&mut line));
                }
                line.push(letter);
            }
        }
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// The words of `text`, a unit together with the number before it.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let is_unit = matches!(
            word.trim_end_matches([',', ';', '.', ')', ']', ':']),
            "ns" | "us" | "\u{b5}s" | "ms" | "s" | "%"
        );
        match words.last_mut().filter(|last| is_unit && last.ends_with(|end: char| end.is_ascii_digit())) {
            Some(number) => {
                number.push(' ');
                number.push_str(word);
            }
            None => words.push(word.to_owned()),
        }
    }
    words
}

/// `text` wrapped into `total` columns: the first line starts with `first`, the others with `indent` spaces (less where
/// the terminal is too narrow for that).
pub(crate) fn paragraph(first: &str, text: &str, indent: usize, total: usize) -> Vec<String> {
    // What fits keeps its columns.
    if width(first) + width(text) <= total {
        return vec![format!("{first}{}", text.replace(GLUE, " ")).trim_end().to_owned()];
    }
    let indent = indent.min(total / 2);
    let room = total.saturating_sub(width(first).max(indent));
    let mut lines = wrap(text, room).into_iter();
    let mut all = vec![format!("{first}{}", lines.next().unwrap_or_default()).trim_end().to_owned()];
    all.extend(lines.map(|line| format!("{}{line}", " ".repeat(indent))));
    all
}

/// `text` in at most `room` columns: what does not fit gives way at a word to three dots, a single word inside. A number gives way
/// with what it counts.
pub(crate) fn elided(text: &str, room: usize) -> String {
    const DOTS: &str = "...";
    if width(text) <= room {
        return text.to_owned();
    }
    let kept = beginning(text, room.saturating_sub(DOTS.len()));
    // The blanks before the first word belong to it.
    let indent = text.len() - text.trim_start().len();
    let is_inside = text[kept.len()..].starts_with(|next: char| next != ' ');
    let words = kept.rfind(' ').filter(|&end| is_inside && end >= indent).map_or(kept, |end| &kept[..end]);
    let without_stop = |words: &str| words.trim_end_matches([' ', ',', ';', ':', '(']).len();
    let mut words = &words[..without_stop(words)];
    while let Some((before, number)) = words.rsplit_once(' ')
        && number.ends_with(|last: char| last.is_ascii_digit())
        && text[words.len()..].starts_with(' ')
        && !before.trim().is_empty()
    {
        words = &before[..without_stop(before)];
    }
    let words = if words.trim_start().is_empty() { kept.trim_end() } else { words };
    format!("{words}{}", &DOTS[..room.min(DOTS.len())])
}

/// A long name without its middle: what it begins and ends with tells it from others.
pub(crate) fn shortened(name: &str, room: usize) -> String {
    const DOTS: &str = "..";
    if width(name) <= room {
        return name.to_owned();
    }
    let mut tail = name.len();
    for (at, _) in name.char_indices().rev() {
        if width(&name[at..]) + DOTS.len() > room / 2 {
            break;
        }
        tail = at;
    }
    let head = beginning(name, room.saturating_sub(width(&name[tail..]) + DOTS.len()));
    format!("{head}{}{}", &DOTS[..room.min(DOTS.len())], &name[tail..])
}

/// Long names without a part, each in at most `room` columns and no two alike: those that would be are cut where they are. One
/// that cannot be told apart so stays whole: it needs a line of its own.
pub(super) fn apart(names: &[&str], room: usize) -> Vec<String> {
    let clashes = |short: &[String], at: usize| -> Vec<&str> {
        let others =
            names.iter().zip(short).filter(|(name, other)| *other == &short[at] && **name != names[at]);
        others.map(|(name, _)| *name).collect()
    };
    let short: Vec<String> = names.iter().map(|name| shortened(name, room)).collect();
    let cut = |at: usize| match clashes(&short, at) {
        alike if alike.is_empty() => short[at].clone(),
        alike => differing(names[at], &alike, room).unwrap_or_else(|| names[at].to_owned()),
    };
    let cut: Vec<String> = (0..names.len()).map(cut).collect();
    let whole = |at: usize| if clashes(&cut, at).is_empty() { cut[at].clone() } else { names[at].to_owned() };
    (0..names.len()).map(whole).collect()
}

/// The words of `name` that tell it from `others`, and as much of what is around them as fits. `None` if not even they do.
fn differing(name: &str, others: &[&str], room: usize) -> Option<String> {
    const DOTS: &str = "..";
    let of_words = ['/', '_'];
    let same = |other: &str| {
        name.chars().zip(other.chars()).take_while(|(a, b)| a == b).map(|it| it.0.len_utf8()).sum()
    };
    let ends = |other: &str| -> usize {
        let pairs = name.chars().rev().zip(other.chars().rev()).take_while(|(a, b)| a == b);
        pairs.map(|it| it.0.len_utf8()).sum()
    };
    let start: usize = others.iter().map(|other| same(other)).min()?;
    let start = name[..start].rfind(of_words).map_or(0, |at| at + 1);
    let end = name.len() - others.iter().map(|other| ends(other)).min()?;
    let end = end.max(start);
    let end = name[end..].find(of_words).map_or(name.len(), |at| end + at);
    let (rest, words) = (&name[start..], &name[start..end]);
    let before = if start == 0 { "" } else { DOTS };
    if let Some(left) = room.checked_sub(before.len() + width(rest)) {
        return Some(format!("{}{before}{rest}", beginning(&name[..start], left)));
    }
    let left = room.checked_sub(before.len() + DOTS.len()).filter(|left| width(words) <= *left)?;
    Some(format!("{before}{}{DOTS}", beginning(rest, left)))
}

/// The letters of `text` that fit into `room` columns.
pub(super) fn beginning(text: &str, mut room: usize) -> &str {
    let mut end = 0;
    for (at, letter) in text.char_indices() {
        let Some(left) = room.checked_sub(width(letter.encode_utf8(&mut [0; 4]))) else { break };
        (room, end) = (left, at + letter.len_utf8());
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_where_they_can() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("one abcdefghij", 4), ["one", "abcd", "efgh", "ij"]);
        assert_eq!(wrap("it took 49.0 us, then", 12), ["it took", "49.0 us,", "then"]);
        assert_eq!(wrap("a; idle\u{a0}99\u{a0}%\u{a0}12\u{a0}us; b", 13), ["a; idle 99 %", "12 us; b"]);
        assert_eq!(wrap("a; idle\u{a0}99\u{a0}%\u{a0}12\u{a0}us; b", 16), ["a;", "idle 99 % 12 us;", "b"]);
        assert_eq!(wrap("", 10), [""]);
        assert_eq!(
            wrap("CPU 0,2-7,90-149,156-161 online", 10),
            ["CPU", "0,2-7,", "90-149,", "156-161", "online"]
        );
        assert_eq!(wrap("  a   b ", 10), ["a b"]);
    }

    #[test]
    fn wide_letters_count_two_columns() {
        assert_eq!(wrap("日本語", 4), ["日本", "語"]);
    }

    #[test]
    fn what_is_left_out_is_marked_by_dots() {
        assert_eq!(elided("twelve words", 12), "twelve words");
        assert_eq!(elided("twelve words", 11), "twelve...");
        assert_eq!(elided("twelve, words", 11), "twelve...");
        assert_eq!(elided("twelve words more", 15), "twelve words...");
        assert_eq!(elided("cycles (25 figures), floor (4 figures)", 33), "cycles (25 figures), floor...");
        assert_eq!(elided("a switch costs 12 us here", 20), "a switch costs...");
        assert_eq!(elided("needs 4, and more of it", 12), "needs 4...");
        assert_eq!(elided("12 words of a line", 8), "12...");
        assert_eq!(elided("indivisible", 9), "indivi...");
        assert_eq!(elided("  indivisible", 9), "  indi...");
        assert_eq!(shortened("posix_named/handover/cross_cpu", 20), "posix_name..ross_cpu");
        for room in 0..40 {
            assert!(width(&shortened("a/long/name/of/a/figure", room)) <= room);
            assert!(width(&elided("  some words of a line", room)) <= room);
        }
    }

    #[test]
    fn no_two_names_are_cut_alike() {
        let names = [
            "context_switch/pipe/same_cpu",
            "context_switch/thread_pipe/same_cpu",
            "context_switch/pipe_alone/same_cpu",
            "context_switch/posix_queue/same_cpu",
            "semaphore/system_v",
            "literal/switches/barrier/in_a_row_20000",
            "literal/switches/no_barrier/in_a_row_20000",
        ];
        assert_eq!(
            apart(&names, 22)[..2],
            ["context..pipe/same_cpu", "..thread_pipe/same_cpu"].map(str::to_owned)
        );
        for room in 0..50 {
            let cut = apart(&names, room);
            for (at, one) in cut.iter().enumerate() {
                assert!(width(one) <= room || *one == names[at], "{room}: {one}");
                assert!(!cut[..at].contains(one), "{room}: {one} stands for two");
            }
            assert!(room < 16 || cut.iter().all(|one| width(one) <= room), "{room}: {cut:?}");
        }
        assert_eq!(apart(&["a/long/name/twice"; 2], 10), vec![shortened("a/long/name/twice", 10); 2]);
    }

    #[test]
    fn a_paragraph_hangs() {
        assert_eq!(paragraph("x: ", "aa bb cc", 3, 8), ["x: aa bb", "   cc"]);
        assert_eq!(paragraph("  ", "aa   bb", 2, 9), ["  aa   bb"], "columns of a line that fits stay");
    }
}
