//! The doctor's findings: state, check, what was found and what it means, and what mends it.

use std::io::{self, Write};

use oscost_results::{Check, CheckState};

use crate::layout::{left, width, wrap};
use crate::page::Page;
use crate::style::{Style, Tone};
use crate::words::{counted, plain, tally, words};

/// Columns of the state, the longest of which is "disturbs".
const STATE: usize = 8;
/// Names of checks have at most so many columns; a longer one has a line of its own.
const NAME: usize = 22;
/// The finding stands beside the name where it has so many columns, else below it.
const FINDING: usize = 36;

/// Writes one paragraph a check, and how many of them found something.
///
/// # Errors
/// Those of `out`.
pub fn doctor(checks: &[Check], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style, out);
    let names: Vec<_> = checks.iter().map(|check| words(&check.check, style.unicode)).collect();
    let name_room = names.iter().map(|name| width(name)).filter(|name| *name <= NAME).max().unwrap_or(0);
    let beside = 2 + STATE + 2 + name_room + 2;
    let indent = if beside + FINDING <= page.width() { beside } else { 6 };
    for (check, name) in checks.iter().zip(&names) {
        let (state, tone) = match check.state {
            CheckState::Fine => ("fine", Tone::Good),
            CheckState::Disturbs => ("disturbs", Tone::Bad),
            CheckState::Unknown => ("unknown", Tone::Doubt),
        };
        let mut lines = finding(check, page.width().saturating_sub(indent), style.unicode);
        let fill = " ".repeat(STATE - state.len() + 2);
        let mut after = format!("{fill}{name}");
        if indent == beside && width(name) <= name_room {
            after = format!("{fill}{}  {}", left(name, name_room), lines.remove(0));
        }
        page.verdict("  ", state, tone, &after)?;
        for line in lines {
            page.line(&format!("{}{line}", " ".repeat(indent)))?;
        }
    }
    let states =
        [(CheckState::Fine, "fine"), (CheckState::Disturbs, "disturbing"), (CheckState::Unknown, "unknown")];
    let found = tally(&states, |state| checks.iter().filter(|check| check.state == *state).count());
    let total = counted(checks.len(), "check", "checks");
    page.paragraph("", &if found.is_empty() { total } else { format!("{total}: {found}") }, 2)
}

/// What was found and what it does to which figures, in lines of `room` columns; the remedy stands behind the last line
/// where it fits, else on its own.
fn finding(check: &Check, room: usize, unicode: bool) -> Vec<String> {
    let mut text = plain(&check.says, unicode);
    if !check.matters.is_empty() {
        text = format!("{text}: {}", plain(&check.matters, unicode));
    }
    let mut lines = wrap(&text, room);
    if let Some(remedy) = check.remedy.as_deref().filter(|remedy| !remedy.is_empty()) {
        let remedy = format!("remedy: {}", plain(remedy, unicode));
        match lines.last_mut().filter(|last| width(last) + 3 + width(&remedy) <= room) {
            Some(last) => *last = format!("{last}   {remedy}"),
            None => lines.extend(wrap(&remedy, room)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, state: CheckState, says: &str, matters: &str, remedy: Option<&str>) -> Check {
        Check {
            check: name.to_owned(),
            state,
            says: says.to_owned(),
            matters: matters.to_owned(),
            remedy: remedy.map(str::to_owned),
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
}
