//! What a run had no time for: what it takes here, and what runs it all the same.

use oscost_results::{Figure, Reproduction, Status};

use crate::found::{Found, Rows};
use crate::{Document, apue};

/// What a literal method takes on this machine, ns, by the figures that were measured before it: a run of document 001 takes what
/// its windows say. `None` where nothing tells.
#[must_use]
pub fn expected_ns(figures: &[Figure], id: &str) -> Option<u64> {
    let windows = apue::repeated_id(id)?;
    let figure = figures.iter().find(|figure| figure.id == windows && figure.status == Status::Measured)?;
    let clock = figure.quantities.get(oscost_results::quantity::CLOCK)?.estimate.value;
    // A launch also reads the database through at the end.
    Some((clock * 1.1) as u64)
}

/// The literal methods of a document that were left out for want of time, a row for each time that they take.
#[must_use]
pub fn left_out(document: &Document, found: &Found<'_>) -> Vec<Reproduction> {
    let mut told: Vec<(String, Vec<&str>)> = Vec::new();
    let literal = format!("{}/literal/", document.founding.name);
    for figure in found.figures.iter().filter(|it| it.status == Status::Unsupported) {
        let (Some(what), Some(why), Some(remedy)) =
            (figure.id.strip_prefix(&literal), &figure.why, figure.remedy.as_deref())
        else {
            continue;
        };
        // What this machine lacks was seen before anything was counted.
        if figure.evidence.audit_method.is_some() {
            let why = format!("{why}; {remedy} runs it");
            match told.iter_mut().find(|(known, _)| *known == why) {
                Some((_, all)) => all.push(what),
                None => told.push((why, vec![what])),
            }
        }
    }
    let mut rows = Rows::of(document.founding.name);
    for (why, all) in told {
        rows.note("not run", format!("literal, {}: {why}", all.join(", ")));
    }
    rows.rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::test::{figure, set};

    #[test]
    fn a_literal_run_takes_what_its_windows_say_and_what_did_not_fit_is_told() {
        let way = "book/seek/fine_fcntl/processes_1/nrec_12000";
        let mut windows = figure(&format!("apue/{way}"), "cpu", 1.0, None);
        set(&mut windows, "clock", 2e10);
        let literal = format!("apue/literal/{way}");
        assert_eq!(expected_ns(&[windows.clone()], &literal), Some(22_000_000_000));
        assert_eq!(expected_ns(&[], &literal), None);
        assert_eq!(expected_ns(&[windows], "tlpi/literal/system_v/operations_1000"), None);
        let mut left = figure(&literal, "cpu", 1.0, None);
        left.status = Status::Unsupported;
        left.why = Some("it takes about 66 s here, and 40 s were left".into());
        left.remedy = Some("--thorough".into());
        let mut lacking = left.clone();
        lacking.remedy = Some("another kernel".into());
        left.evidence.audit_method = Some("ptrace".into());
        let other = Figure { id: literal.replace("fine", "coarse"), ..left.clone() };
        let figures = [left, lacking, other];
        let rows = left_out(&apue::DOCUMENT, &Found::of(&figures, &[], &[]));
        assert_eq!(rows.len(), 1);
        assert!(rows[0].because.contains("/fine_fcntl/") && rows[0].because.contains("/coarse_fcntl/"));
        assert!(rows[0].because.contains("66 s here") && rows[0].because.ends_with("--thorough runs it"));
    }
}
