//! `oscost` alone: says what it is, gives one example per command, and lists what is stored.

use jiff::Timestamp;
use oscost_results::Store;

use crate::exit::{Ended, Exit};
use crate::known::catalogue;
use crate::output;
use crate::system::{COMMANDS, TITLE};

/// Width of the column of commands.
const COLUMN: usize = 32;
/// Lines are broken here at the latest, where there is no terminal that says.
const WIDTH: usize = 100;

/// Shows the start screen.
pub fn start() -> Result<Exit, Ended> {
    let width = output::told_width().unwrap_or(WIDTH).clamp(20, WIDTH);
    let stored = stored();
    output::data(|out| {
        writeln!(out, "{}\n", cut(TITLE, width))?;
        for (command, question) in COMMANDS {
            writeln!(out, "{}", cut(&format!("  {command:<COLUMN$}{question}"), width))?;
        }
        writeln!(out)?;
        let mut line = "Families:".to_owned();
        for family in catalogue().families.iter().map(|family| &family.name) {
            if line.len() + 1 + family.len() > width {
                writeln!(out, "{line}")?;
                " ".clone_into(&mut line);
            }
            line.push(' ');
            line.push_str(family);
        }
        writeln!(out, "{line}")?;
        for line in [stored.as_str(), "oscost --help says everything."] {
            writeln!(out, "{}", cut(line, width))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// What is too wide loses its end. The text is ASCII.
fn cut(text: &str, width: usize) -> &str {
    text.get(..width).unwrap_or(text)
}

/// How many runs are stored, and how old the newest is.
fn stored() -> String {
    let runs = match Store::of_user() {
        Err(_) => return "Nothing can be stored here: neither HOME nor XDG_STATE_HOME is set.".to_owned(),
        Ok(store) if store.is_nowhere() => {
            return "Nothing is stored: XDG_STATE_HOME is /dev/null.".to_owned();
        }
        Ok(store) => match store.runs() {
            Err(_) => return "The stored runs cannot be read: oscost report says why.".to_owned(),
            Ok(runs) => runs,
        },
    };
    let Some(newest) = runs.last() else { return "Stored here: nothing yet.".to_owned() };
    let name = newest.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let age = started(name).map_or(String::new(), |started| {
        format!(
            ", newest {} ago (@-1)",
            age(Timestamp::now().as_second().saturating_sub(started.as_second()))
        )
    });
    format!("Stored here: {} run{}{age}.", runs.len(), if runs.len() == 1 { "" } else { "s" })
}

/// When a run was started, of its name: "2026-11-20T23-14-05Z-9f2c".
pub fn started(name: &str) -> Option<Timestamp> {
    let (day, rest) = name.split_once('T')?;
    let time = rest.split_once('Z')?.0.replace('-', ":");
    format!("{day}T{time}Z").parse().ok()
}

/// Seconds in the largest unit that leaves a whole number.
fn age(seconds: i64) -> String {
    let units = [("day", 86_400), ("hour", 3600), ("minute", 60)];
    let (name, count) = units
        .into_iter()
        .map(|(name, length)| (name, seconds / length))
        .find(|(_, count)| *count > 0)
        .unwrap_or(("second", seconds.max(0)));
    format!("{count} {name}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_age_of_a_run_is_that_of_its_name() {
        let run = started("2026-11-20T23-14-05Z-9f2c41d0").expect("a name of the store");
        assert_eq!(run.to_string(), "2026-11-20T23:14:05Z");
        assert_eq!(started("result"), None);
        let ages = [0, 59, 60, 3599, 7200, 86_400 * 3].map(age);
        assert_eq!(ages, ["0 seconds", "59 seconds", "1 minute", "59 minutes", "2 hours", "3 days"]);
    }

    #[test]
    fn every_line_fits_a_terminal_of_eighty_columns() {
        for (command, question) in COMMANDS {
            assert!(command.len() < COLUMN && 2 + COLUMN + question.len() <= 80, "{command}");
        }
    }
}
