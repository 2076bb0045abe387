//! Shows results in a format: makes their views and writes them.

mod bill;

use std::io::{self, Write};

use oscost_results::{Check, Figure, Outline, RunResult};
use serde_json::Value;

use crate::blocks::View;
use crate::data::json;
use crate::judge::fleet::JudgedFleet;
use crate::judge::{self, Agreement, Changes, Comparison, Watch};
use crate::named::Named;
use crate::render::text::lines::Lines;
use crate::render::text::style::Style;
use crate::render::{html, markdown, text};
use crate::view;
use crate::view::screen::RowChoice;

pub use bill::{bill, bill_markdown, bill_page};

/// Writes the price list of `result`: the rows of `choice`. `saved` is the reference by which the store gives it back, if it
/// does: here, in Markdown and on a page nothing else is called saved.
///
/// # Errors
/// Those of `out`.
pub fn price_list(
    result: &RunResult,
    saved: Option<&str>,
    choice: RowChoice,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let screen = view::screen::screen(result, saved, choice, style.unicode);
    text::screen::write(&screen, &mut Lines::new(style, out))
}

/// Writes the whole price list of `result` with GitHub's tables.
///
/// # Errors
/// Those of `out`.
pub fn price_list_markdown(result: &RunResult, saved: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    markdown::prices::write(&view::prices::prices(result, saved), out)
}

/// The marks of a figure of `result`, with what is known of each: a mode of a bimodal one with its share.
#[must_use]
pub fn marks(result: &RunResult, figure: &Figure, unicode: bool) -> Vec<String> {
    view::story::Story::new(result, unicode).marks(figure)
}

/// What stands where there is no document.
const NO_DOCUMENT: &str = "No founding document was reproduced in this run.";

/// Writes what `result` says of each founding document that it was held against.
///
/// # Errors
/// Those of `out`.
pub fn reproductions(result: &RunResult, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Lines::new(style, out);
    let views = view::documents::views(result, style.unicode);
    if views.is_empty() {
        return page.paragraph("", NO_DOCUMENT, 2);
    }
    for (index, view) in views.iter().enumerate() {
        if index > 0 {
            page.line("")?;
        }
        text::blocks::view(view, &mut page)?;
    }
    Ok(())
}

/// Writes what `result` says of each founding document with GitHub's tables.
///
/// # Errors
/// Those of `out`.
pub fn reproductions_markdown(result: &RunResult, out: &mut dyn Write) -> io::Result<()> {
    let views = view::documents::views(result, true);
    if views.is_empty() {
        return writeln!(out, "{NO_DOCUMENT}");
    }
    for (index, view) in views.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        markdown::view(view, 2, out)?;
    }
    Ok(())
}

/// Writes one self-contained page about `results`, oldest first, of which the newest was `saved`. It asks nothing of a network.
///
/// # Errors
/// Those of `out`.
pub fn page(results: &[Named<'_>], saved: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    html::page::write(&view::page::page(results, saved), out)
}

/// Writes one page about the `runs` of a store, oldest first, of which the last ones are `whole` and the newest was `saved`.
///
/// # Errors
/// Those of `out`.
pub fn page_of_runs(
    runs: &[(String, Outline)],
    whole: &[Named<'_>],
    saved: Option<&str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    html::page::write(&view::page::page_of_runs(runs, whole, saved), out)
}

/// Writes what `result`, called `name`, tells of its host, and why each fact is kept.
///
/// # Errors
/// Those of `out`.
pub fn host_facts(name: &str, result: &RunResult, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    to_text(&view::host::view(name, result, style.unicode), style, out)
}

fn to_text(view: &View, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    text::blocks::view(view, &mut Lines::new(style, out))
}

/// The same with a line a row: of what is too wide the end is left out.
fn to_lines(view: &View, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    text::blocks::view(view, &mut Lines::of_lines(style, out))
}

/// Writes the doctor's findings, and how many of them there are.
///
/// # Errors
/// Those of `out`.
pub fn doctor(checks: &[Check], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    to_text(&view::doctor::view(checks, style.unicode), style, out)
}

/// Writes the newest of `runs`, which are named and oldest first, and what became of each figure over them: one line each.
///
/// # Errors
/// Those of `out`.
pub fn history(runs: &[(String, Outline)], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Lines::of_lines(style, out);
    text::blocks::view(&view::history::lines(runs, page.width(), style.unicode), &mut page)
}

/// Writes every one of `runs`, and what became of each figure and its interval over them.
///
/// # Errors
/// Those of `out`.
pub fn history_whole(runs: &[(String, Outline)], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Lines::new(style, out);
    text::blocks::view(&view::history::view(runs, page.width(), style.unicode), &mut page)
}

/// Writes how far `runs`, oldest first, lie apart in what is judged: one line a figure.
///
/// # Errors
/// Those of `out`.
pub fn spread(runs: &[Named<'_>], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    to_lines(&view::spread::view(&judge::spread::spread(runs), style.unicode, false), style, out)
}

/// Writes the same with the name of each run that is left out.
///
/// # Errors
/// Those of `out`.
pub fn spread_whole(runs: &[Named<'_>], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    to_lines(&view::spread::view(&judge::spread::spread(runs), style.unicode, true), style, out)
}

/// Writes the same with one of GitHub's tables.
///
/// # Errors
/// Those of `out`.
pub fn spread_markdown(runs: &[Named<'_>], whole: bool, out: &mut dyn Write) -> io::Result<()> {
    markdown::view(&view::spread::view(&judge::spread::spread(runs), true, whole), 3, out)
}

/// Writes our figures beside those of other tools.
///
/// # Errors
/// Those of `out`.
pub fn agreement(rows: &[Agreement], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    to_text(&view::agreement::view(rows, style.unicode), style, out)
}

/// Writes our figures beside those of other tools with GitHub's tables.
///
/// # Errors
/// Those of `out`.
pub fn agreement_markdown(rows: &[Agreement], out: &mut dyn Write) -> io::Result<()> {
    markdown::view(&view::agreement::view(rows, true), 3, out)
}

/// Writes a comparison: one line a figure, and of what is longer the beginning.
///
/// # Errors
/// Those of `out`.
pub fn comparison(comparison: &Comparison<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    to_lines(&view::comparison::view(comparison, style.unicode), style, out)
}

/// Writes all of a comparison, on as many lines as that takes.
///
/// # Errors
/// Those of `out`.
pub fn comparison_whole(comparison: &Comparison<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    to_text(&view::comparison::view(comparison, style.unicode), style, out)
}

/// Writes a comparison with GitHub's tables.
///
/// # Errors
/// Those of `out`.
pub fn comparison_markdown(comparison: &Comparison<'_>, out: &mut dyn Write) -> io::Result<()> {
    markdown::view(&view::comparison::view(comparison, true), 3, out)
}

/// Writes all figures that are watched, as they are now.
///
/// # Errors
/// Those of `out`.
pub fn watch_screen(watch: &Watch, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    to_lines(&view::watch::screen(watch, style.unicode), style, out)
}

/// Writes the newest run of what is watched, one line a figure.
///
/// # Errors
/// Those of `out`.
pub fn watch_run(watch: &Watch, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    lines(&view::watch::newest(watch, style.unicode), style, out)
}

/// Writes what came of watching: runs, and every change.
///
/// # Errors
/// Those of `out`.
pub fn watch_summary(watch: &Watch, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    lines(&view::watch::summary(watch, style.unicode), style, out)
}

fn lines(all: &[String], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Lines::of_lines(style, out);
    all.iter().try_for_each(|line| page.line(&text::layout::elided(line, style.width)))
}

/// Writes comparisons that share their base as one table: one line a figure, and as many columns as fit.
///
/// # Errors
/// Those of `out`.
pub fn matrix(comparisons: &[Comparison<'_>], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    to_lines(&view::matrix::view(comparisons, style.unicode, true), style, out)
}

/// Writes all columns of comparisons that share their base, on as many lines as that takes.
///
/// # Errors
/// Those of `out`.
pub fn matrix_whole(comparisons: &[Comparison<'_>], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    to_text(&view::matrix::view(comparisons, style.unicode, false), style, out)
}

/// Writes comparisons that share their base as one table of GitHub's.
///
/// # Errors
/// Those of `out`.
pub fn matrix_markdown(comparisons: &[Comparison<'_>], out: &mut dyn Write) -> io::Result<()> {
    markdown::view(&view::matrix::view(comparisons, true, false), 3, out)
}

/// Writes a result of counts, saved as `saved`: trees where it has them, else the price list.
///
/// # Errors
/// Those of `out`.
pub fn counts(result: &RunResult, saved: Option<&str>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    to_text(&view::counts::view(result, saved, style.unicode), style, out)
}

impl JudgedFleet {
    /// For a terminal: the odd hosts, the first of them unless `all` are asked for, and the groups.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn text(&self, all: bool, style: &Style, out: &mut dyn Write) -> io::Result<()> {
        to_lines(&view::fleet::view(self, all, style.unicode), style, out)
    }

    /// As tables of Markdown.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn markdown(&self, all: bool, out: &mut dyn Write) -> io::Result<()> {
        markdown::view(&view::fleet::view(self, all, true), 2, out)
    }

    /// As one self-contained page.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn page(&self, out: &mut dyn Write) -> io::Result<()> {
        html::page::write(&view::fleet::page(self), out)
    }
}

impl Changes {
    /// For a terminal: one line a figure, and of what is longer the beginning.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn text(&self, style: &Style, out: &mut dyn Write) -> io::Result<()> {
        to_lines(&view::counts::changes(self, style.unicode), style, out)
    }

    /// For a terminal, every function that moved, on as many lines as that takes.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn text_whole(&self, style: &Style, out: &mut dyn Write) -> io::Result<()> {
        to_text(&view::counts::changes(self, style.unicode), style, out)
    }

    /// As tables of Markdown.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        markdown::view(&view::counts::changes(self, true), 3, out)
    }

    /// As data.
    #[must_use]
    pub fn json(&self) -> Value {
        json::changes(self)
    }
}

#[cfg(test)]
mod tests {
    use oscost_results::{CheckState, Estimate};

    use super::*;
    use crate::data::json::agreement_json;
    use crate::judge::Side;

    fn check(name: &str, state: CheckState, says: &str, matters: &str, remedy: Option<&str>) -> Check {
        Check {
            check: name.to_owned(),
            state,
            says: says.to_owned(),
            matters: matters.to_owned(),
            remedy: remedy.map(str::to_owned),
            unfit: false,
            unknown: serde_json::Map::new(),
        }
    }

    fn shown(checks: &[Check], width: usize) -> String {
        let mut out = Vec::new();
        doctor(checks, &Style { width, unicode: false, colour: false }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn examples() -> Vec<Check> {
        let matters = "floors hold, typical and tail do not";
        vec![
            check("clock_source", CheckState::Fine, "tsc; true step 10 ns", "", None),
            check("gaps", CheckState::Disturbs, "CPU 2 loses 3.1 %", matters, Some("--cpu 0,1,3")),
            check("frequency", CheckState::Unknown, "no cpufreq here", "", None),
        ]
    }

    #[test]
    fn one_line_a_check_where_there_is_room() {
        assert_eq!(
            shown(&examples(), 100),
            "  fine      clock source  tsc; true step 10 ns
  disturbs  gaps          CPU 2 loses 3.1 %: floors hold, typical and tail do not
                          remedy: --cpu 0,1,3
  unknown   frequency     no cpufreq here
3 checks: 1 fine, 1 disturbing, 1 unknown
"
        );
        assert!(shown(&examples(), 120).contains("tail do not   remedy: --cpu 0,1,3\n"));
    }

    #[test]
    fn findings_stand_below_in_a_narrow_terminal() {
        assert_eq!(
            shown(&examples(), 40),
            "  fine      clock source
      tsc; true step 10 ns
  disturbs  gaps
      CPU 2 loses 3.1 %: floors hold,
      typical and tail do not
      remedy: --cpu 0,1,3
  unknown   frequency
      no cpufreq here
3 checks: 1 fine, 1 disturbing, 1
  unknown
"
        );
        assert_eq!(shown(&[], 40), "0 checks\n");
    }

    #[test]
    fn a_crosscheck_is_harmless_in_every_format() {
        let quoted = Estimate { value: 114.0, low: 104.0, high: 124.0, extremes: false };
        let side = Side { quoted, best: 104.0, spread: 0.2, seconds: 1.5, launches: 7 };
        let row = |found| Agreement {
            peer: "perf/x".into(),
            version: "perf version 6.1 \u{1b}[31m".into(),
            measures: "a thing".into(),
            conversion: "x 1000".into(),
            found,
            ours: ("syscall/getppid".into(), Ok(side)),
            ratio: None,
            failures: String::new(),
            step: 0.0,
            differs: judge::Reason::either("a mean"),
        };
        let rows = [row(Ok(Side { best: 130.0, ..side })), row(Err("\u{202e}<script>".into()))];
        let mut text = Vec::new();
        agreement(&rows, &Style { width: 80, unicode: true, colour: false }, &mut text).unwrap();
        agreement_markdown(&rows, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
        assert!(text.contains("perf/x") && text.contains("114 ns") && text.contains("7 rounds"), "{text}");
        let json = agreement_json(&rows);
        assert_eq!(json["rows"][0]["verdict"], "differs: a mean");
        assert_eq!(json["rows"][1]["found"]["why"], "\u{202e}<script>");
    }
}
