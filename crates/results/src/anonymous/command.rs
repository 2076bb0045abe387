//! The user's command of a load (`--set load_command=`): it stands in ids, and so wherever these stand.

use std::fmt;

use serde_json::Value;

use crate::{Figure, RemarkCode};

/// What stands in the place of what was taken out.
pub(super) const LEFT_OUT: &str = "(left out)";
/// What an id has before the command, which ends with its part of the id (`load_command_sleep%201`).
const COMMAND: &str = "load_command_";

/// Whether one stands in a pattern, which is spelled as its user likes.
pub(super) fn stands_in(pattern: &str) -> bool {
    pattern.to_ascii_lowercase().replace(['-', ' '], "_").contains(COMMAND)
}

/// Of a figure beside a command of the user's neither the command nor what it said when it failed.
pub(super) fn without_load(figure: &mut Figure, commands: &mut Vec<String>) {
    // The parameter is what the id has behind this.
    const PREFIX: &str = "load_";
    let load = figure.parameters.get("load").and_then(Value::as_str).map(|load| format!("{PREFIX}{load}"));
    let load = load.filter(|load| load.starts_with(COMMAND));
    if load.is_none() && !figure.id.contains(COMMAND) {
        return;
    }
    if let Some(load) = load {
        let load = without_commands(&load, commands);
        figure.parameters.insert("load".to_owned(), load.trim_start_matches(PREFIX).into());
    }
    for words in figure.why.iter_mut().chain(&mut figure.remedy) {
        LEFT_OUT.clone_into(words);
    }
    for remark in &mut figure.remarks {
        if let Some(kept) = without_words(remark) {
            *remark = kept;
        }
    }
}

/// A remark of ours with nothing but numbers in its holes.
fn without_words(remark: &str) -> Option<String> {
    let code = RemarkCode::of(remark)?;
    let is_number = |hole: &str| hole.parse::<f64>().is_ok();
    let holes = code.holes(remark)?.into_iter();
    let holes: Vec<&str> = holes.map(|hole| if is_number(hole) { hole } else { LEFT_OUT }).collect();
    let holes: Vec<&dyn fmt::Display> = holes.iter().map(|hole| hole as &dyn fmt::Display).collect();
    Some(code.with(&holes))
}

/// `text` with a fixed word in the place of each command of a load in it: of the second one with its number, so that no two figures
/// get one id.
pub(super) fn without_commands(text: &str, commands: &mut Vec<String>) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(COMMAND) {
        let (before, command) = rest.split_at(at + COMMAND.len());
        let is_of_id = |it: char| it.is_ascii_alphanumeric() || "-._%".contains(it);
        let end = command.find(|it| !is_of_id(it)).unwrap_or(command.len());
        let (command, after) = command.split_at(end);
        let known = commands.iter().position(|known| known == command);
        let place = known.unwrap_or(commands.len());
        if known.is_none() {
            commands.push(command.to_owned());
        }
        kept.push_str(before);
        kept.push_str("left_out");
        if place > 0 {
            kept.push_str(&format!("_{}", place + 1));
        }
        rest = after;
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PairedValue, Reproduction};

    #[test]
    fn a_load_is_known_by_the_id_or_by_the_parameter() {
        let why = |id: &str, load: Option<&str>| {
            let mut figure =
                Figure { id: id.to_owned(), why: Some("mallory".to_owned()), ..sample().figures[0].clone() };
            figure.parameters = load.into_iter().map(|load| ("load".to_owned(), load.into())).collect();
            without_load(&mut figure, &mut Vec::new());
            figure.why
        };
        let (with, without) = ("realtime_ipc/pipe/load_command_x", "realtime_ipc/pipe/load_cpu");
        for (id, load) in [(with, None), (without, Some("command_x")), (with, Some("command_x"))] {
            assert_eq!(why(id, load).as_deref(), Some(LEFT_OUT), "{id} {load:?}");
        }
        for load in [None, Some("cpu")] {
            assert_eq!(why(without, load).as_deref(), Some("mallory"), "{load:?}");
        }
    }

    fn sample() -> crate::RunResult {
        crate::from_bytes(include_bytes!("../../tests/samples/v2.json")).expect("a sample")
    }

    #[test]
    fn no_command_of_a_load_and_no_tracer_is_told() {
        const NAME: &str = "mallory";
        let mut whole = sample();
        let id = |command: &str| format!("realtime_ipc/pipe/same_cpu/clients_1/load_{command}/idle_poll");
        let commands = [format!("command_%2Fhome%2F{NAME}%2Fx"), format!("command_ssh%20{NAME}%40db1")];
        let ids = commands.each_ref().map(|command| id(command));
        for (command, at) in commands.iter().zip(0..) {
            let figure = &mut whole.figures[at];
            figure.id = ids[at].clone();
            figure.group = figure.id.clone();
            figure.parameters.insert("load".into(), command.as_str().into());
            figure.why = Some(format!("the load command failed: {NAME}"));
            figure.remedy = Some(NAME.to_owned());
            figure.remarks = vec![
                RemarkCode::Load.with(&[&format!("sh -c '{NAME} --token=abc', restarted whenever it ends")]),
                RemarkCode::LaunchesThrownAway.with(&[&2, &NAME]),
            ];
        }
        whole.figures[2].why = Some("a pinned participant; process 4321 traced what was measured (x)".into());
        let typed = format!("Realtime-IPC/*/Load-Command-{NAME}");
        whole.plan.patterns = vec![ids[0].clone(), typed, "lock".into()];
        let pair = |of: &String, to: &String| PairedValue {
            of: of.clone(),
            to: to.clone(),
            why: Some(format!("{of} was not measured")),
            ..PairedValue::default()
        };
        whole.ratios = vec![pair(&ids[0], &ids[1])];
        whole.differences = vec![pair(&ids[1], &ids[0])];
        let row = Reproduction { figure_id: Some(ids[1].clone()), ..Reproduction::default() };
        whole.reproductions = vec![Reproduction { because: format!("by {}", ids[1]), ..row }];
        let anonymous = whole.anonymous();
        let text = String::from_utf8(crate::to_bytes(&anonymous).expect("a result")).expect("text");
        assert!(!text.contains(NAME) && !text.contains("token") && !text.contains("4321"), "{text}");
        let [one, other] = ["command_left_out", "command_left_out_2"].map(id);
        let [first, second, traced] = &anonymous.figures[..3] else { panic!("three figures") };
        assert_eq!((&first.id, &second.id), (&one, &other), "no two share an id");
        assert_eq!(second.parameters["load"], "command_left_out_2");
        assert_eq!(first.remarks, ["load: (left out)", "2 launches were thrown away: (left out)"]);
        assert_eq!((&*anonymous.ratios[0].of, &*anonymous.ratios[0].to), (&*one, &*other));
        let because = format!("by {other}");
        let row = &anonymous.reproductions[0];
        assert_eq!((row.figure_id.as_ref(), &row.because), (Some(&other), &because));
        assert_eq!(anonymous.plan.patterns, [LEFT_OUT, LEFT_OUT, "lock"]);
        let why = "a pinned participant; a process traced what was measured (x)";
        assert_eq!(traced.why.as_deref(), Some(why));
        assert_eq!(anonymous.clone().anonymous(), anonymous, "once is enough");
    }
}
