//! The doctor's findings: state, check, finding, consequence and remedy.

use oscost_results::{Check, CheckState};

use crate::blocks::{Judged, Part, Tone, View};
use crate::words::{counted, plain, tally, words};

/// What each check found, and how many of them found something.
pub(crate) fn view(checks: &[Check], unicode: bool) -> View {
    let judged = |check: &Check| {
        let (word, tone) = match check.state {
            CheckState::Fine => ("fine", Tone::Good),
            CheckState::Disturbs => ("disturbs", Tone::Bad),
            CheckState::Unknown => ("unknown", Tone::Doubt),
        };
        let mut text = plain(&check.says, unicode);
        if !check.matters.is_empty() {
            text = format!("{text}: {}", plain(&check.matters, unicode));
        }
        let remedy = check.remedy.as_deref().filter(|remedy| !remedy.is_empty());
        let because = remedy.map_or(String::new(), |remedy| format!("remedy: {}", plain(remedy, unicode)));
        Judged { word, tone, name: words(&check.check, unicode), text, because }
    };
    let states =
        [(CheckState::Fine, "fine"), (CheckState::Disturbs, "disturbing"), (CheckState::Unknown, "unknown")];
    let found = tally(&states, |state| checks.iter().filter(|check| check.state == *state).count());
    let total = counted(checks.len(), "check", "checks");
    let title = if found.is_empty() { total } else { format!("{total}: {found}") };
    let judged = checks.iter().map(judged).collect();
    View::new("", vec![Part::Judged(String::new(), judged), Part::Answer(vec![title])])
}
