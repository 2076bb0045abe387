//! Our figures beside those of other tools: what each measures, converted, as ratios, and why they differ where they do.

use crate::blocks::{Part, Table, View};
use crate::judge::{Agreement, Side};
use crate::numbers;
use crate::words::{counted, plain};

/// What each peer measures, converted, as ratios, and why they differ where they do.
pub(crate) fn view(rows: &[Agreement], unicode: bool) -> View {
    let heads = [
        "",
        "peer",
        "ours",
        "peer / ours",
        "best / best",
        "spread peer",
        "spread ours",
        "s in all, peer",
        "s in all, ours",
    ];
    let cells = |row: &Agreement| -> Vec<String> {
        let peer = row.found.as_ref().ok();
        let ours = row.ours.1.as_ref().ok();
        let value =
            |side: Option<&Side>| side.map_or("-".to_owned(), |side| numbers::duration(side.quoted.value));
        let spread = |side: Option<&Side>| side.map_or(String::new(), |side| numbers::percent(side.spread));
        let seconds = |side: Option<&Side>| side.map_or(String::new(), |side| format!("{:.1}", side.seconds));
        vec![
            plain(&row.peer, unicode),
            value(peer),
            value(ours),
            row.ratio.map_or(String::new(), |it| numbers::ratio(it.value, Some((it.low, it.high)))),
            row.best().map_or(String::new(), |best| format!("{best:.2}x")),
            spread(peer),
            spread(ours),
            seconds(peer),
            seconds(ours),
        ]
    };
    let mut parts = vec![
        Part::words(
            "Peer: median of its launches, converted; ours: the headline. The ratio is over launches of one rotation. Agreement compares the smallest launches (5 %); beyond, nothing can be told where the interval of the ratio holds 1. Spread: the largest launch divided by the smallest, minus 1. Seconds: all launches, each from its start to the next.",
        ),
        Part::Table(Table::new(heads, rows.iter().map(cells))),
    ];
    for row in rows {
        let version = if row.version.is_empty() { String::new() } else { format!(" ({})", row.version) };
        let rounds = row
            .found
            .as_ref()
            .map_or(String::new(), |side| format!(", {}", counted(side.launches, "round", "rounds")));
        let words = format!(
            "{}{version}: {}; {}; beside {}{rounds}. {}",
            row.peer,
            row.measures,
            row.conversion,
            row.ours.0,
            row.verdict()
        );
        parts.push(Part::Words(plain(&words, unicode)));
    }
    View::new("CROSSCHECK", parts)
}

#[cfg(test)]
mod tests {
    use oscost_results::Estimate;

    use super::*;
    use crate::judge::Reason;

    #[test]
    fn a_spread_is_what_the_words_above_it_say() {
        let quoted = Estimate { value: 110.0, low: 104.0, high: 124.0, extremes: false };
        let row = Agreement {
            peer: "perf/x".to_owned(),
            version: String::new(),
            measures: String::new(),
            conversion: String::new(),
            found: Ok(Side { quoted, best: 100.0, spread: 125.0 / 100.0 - 1.0, seconds: 1.5, launches: 7 }),
            ours: ("syscall/getppid".to_owned(), Err("not measured".to_owned())),
            ratio: None,
            failures: String::new(),
            step: 0.0,
            differs: Reason::NONE,
        };
        let parts = view(&[row], true).parts;
        let [Part::Words(words), Part::Table(table), ..] = &parts[..] else { panic!("words and a table") };
        assert!(words.contains("the largest launch divided by the smallest, minus 1."), "{words}");
        assert_eq!(table.rows[0][5].text, "25 %");
    }
}
