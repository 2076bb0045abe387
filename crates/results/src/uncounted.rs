//! Verdicts that rest on a count which may never have been made: they read as unchecked.
//!
//! Before 0.2.0 the audit marked what it counted by a call that no kernel has. A seccomp filter that answers unknown calls
//! itself, as Docker's default profile does, hid these marks: then the audit counted nothing, and read that as no calls.
//! Nothing in such a result tells whether its filter did. CHANGELOG.md, "Evidence in containers".

use serde_json::{Map, Value, json};

use crate::{Evidence, Verdict};

/// The first version whose marks pass such a filter: major, minor.
const MENDED: (u64, u64) = (0, 2);
/// Filters are in force; proc_pid_status(5), Seccomp.
const FILTERED: u32 = 2;

/// Why the verdict does not count, in words.
const WHY: &str =
    "before oscost 0.2.0 a seccomp filter, which this run had, could hide every system call from the audit";

/// Takes back what `evidence` says of system calls, where a run of this version of oscost, and of this seccomp mode, may have
/// counted none. Where it counted any, it saw its marks.
pub(crate) fn take_back(evidence: &mut Evidence, version: &str, seccomp_mode: Option<u32>) {
    let filtered = evidence.seccomp_mode.or(seccomp_mode) == Some(FILTERED);
    let counted = evidence.system_calls.values().any(|calls| *calls > 0.0);
    if evidence.verdict != Verdict::Checked || !filtered || counted || !is_older(version) {
        return;
    }
    let mut kept = Map::new();
    for claim in &mut evidence.claims {
        let of_calls =
            claim.claim.starts_with("system_calls") || claim.claim.starts_with("other_system_calls");
        if of_calls && claim.holds.take().is_some() {
            kept.insert(claim.claim.clone(), json!(claim.observed.take()));
        }
    }
    if kept.is_empty() {
        return;
    }
    kept.insert("verdict".to_owned(), json!(evidence.verdict));
    kept.insert("audit_method".to_owned(), json!(evidence.audit_method.take()));
    evidence.verdict = Verdict::Unchecked;
    evidence.audit_missing = Some(WHY.to_owned());
    keep(&mut evidence.unknown, kept);
}

/// Where a number that was taken back stays, in the object that had it, for readers who want to know it.
pub(crate) const KEPT: &str = "withdrawn";

/// Keeps what an object said.
pub(crate) fn keep(unknown: &mut Map<String, Value>, kept: Map<String, Value>) {
    if !kept.is_empty() {
        unknown.insert(KEPT.to_owned(), Value::Object(kept));
    }
}

/// Whether a version of oscost is older than the mended one. What is no version is none of ours, and not judged.
fn is_older(version: &str) -> bool {
    let mut numbers = version.split('.').map(str::parse::<u64>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) < MENDED,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RunResult, Status, rows_from_bytes, to_bytes};

    /// A result of version 1 whose processes had this seccomp mode.
    fn old(version: &str, mode: Option<u32>, of_figures: bool) -> (RunResult, RunResult) {
        let mut result = crate::from_bytes(include_bytes!("../tests/samples/v1.json")).unwrap();
        version.clone_into(&mut result.tool.version);
        result.conditions.seccomp_mode = mode;
        for figure in &mut result.figures {
            figure.evidence.seccomp_mode = mode.filter(|_| of_figures);
        }
        let read = crate::from_bytes(&to_bytes(&result).unwrap()).unwrap();
        (result, read)
    }

    #[test]
    fn what_counted_no_call_under_a_filter_is_unchecked_and_says_why() {
        for of_figures in [true, false] {
            let (before, read) = old("0.1.0", Some(2), of_figures);
            let mut seen = [0, 0];
            for (before, after) in before.figures.iter().zip(&read.figures) {
                let (was, is) = (&before.evidence, &after.evidence);
                let of_calls = |evidence: &Evidence| {
                    let claims = evidence.claims.iter().filter(|claim| claim.claim.contains("system_calls"));
                    claims.map(|claim| (claim.observed, claim.holds)).collect::<Vec<_>>()
                };
                if was.verdict != Verdict::Checked || !was.system_calls.is_empty() || of_calls(was).is_empty()
                {
                    assert_eq!(was, is, "{}: it was not checked, or its calls were seen", before.id);
                    seen[0] += usize::from(was.verdict == Verdict::Checked);
                    continue;
                }
                seen[1] += 1;
                assert_eq!((is.verdict, is.audit_missing.as_deref()), (Verdict::Unchecked, Some(WHY)));
                assert_eq!(
                    (after.status, is.audit_method.as_deref()),
                    (Status::Measured, None),
                    "its price holds"
                );
                assert!(of_calls(is).iter().all(|claim| *claim == (None, None)), "{is:?}");
                let others = |evidence: &Evidence| {
                    let claims = evidence.claims.iter().filter(|claim| !claim.claim.contains("system_calls"));
                    claims.cloned().collect::<Vec<_>>()
                };
                assert_eq!(others(is), others(was), "what launches counted, they counted");
                assert_eq!(is.unknown["withdrawn"]["verdict"], "checked");
            }
            assert!(seen[0] > 0 && seen[1] > 1, "both kinds are in the sample: {seen:?}");
            assert_eq!(crate::from_bytes(&to_bytes(&read).unwrap()).unwrap(), read, "twice is as once");
            // Rows say the same, whether they were read whole or not.
            let rows = rows_from_bytes(&to_bytes(&before).unwrap()).unwrap();
            for (row, figure) in rows.figures.iter().zip(&read.figures) {
                assert_eq!(row.evidence, figure.evidence);
            }
        }
    }

    #[test]
    fn without_a_filter_or_from_0_2_0_on_it_stays_as_it_is() {
        for (version, mode) in [("0.1.0", Some(0)), ("0.1.0", None), ("0.2.0", Some(2)), ("1.0.0", Some(2))] {
            let (before, read) = old(version, mode, true);
            for (before, after) in before.figures.iter().zip(&read.figures) {
                assert_eq!(before.evidence, after.evidence, "{version} {mode:?}");
            }
        }
    }

    #[test]
    fn what_counted_a_call_in_some_operations_saw_its_marks() {
        let (before, _) = old("0.1.0", Some(2), true);
        let is_one = |figure: &&crate::Figure| {
            figure.evidence.verdict == Verdict::Checked && figure.evidence.system_calls.is_empty()
        };
        let mut evidence = before.figures.iter().find(is_one).unwrap().evidence.clone();
        evidence.system_calls.insert("futex".to_owned(), 0.01);
        let was = evidence.clone();
        take_back(&mut evidence, "0.1.0", Some(2));
        assert_eq!(evidence, was);
        evidence.system_calls.insert("futex".to_owned(), 0.0);
        let names = ["system_calls", "system_calls_by_chance", "other_system_calls", "switches"];
        let claim = evidence.claims[0].clone();
        evidence.claims = names
            .map(|name| crate::CheckedClaim { claim: name.to_owned(), holds: Some(true), ..claim.clone() })
            .to_vec();
        take_back(&mut evidence, "0.1.0", Some(2));
        assert_eq!(evidence.verdict, Verdict::Unchecked);
        let held: Vec<Option<bool>> = evidence.claims.iter().map(|claim| claim.holds).collect();
        assert_eq!(held, [None, None, None, Some(true)]);
    }

    #[test]
    fn versions_are_compared_by_number() {
        for older in ["0.1.0", "0.0.9", "0.1.99-rc1", "0.1"] {
            assert!(is_older(older), "{older}");
        }
        for newer in ["0.2.0", "0.10.0", "1.0.0", "", "1", "x.1", "0.x"] {
            assert!(!is_older(newer), "{newer}");
        }
    }
}
