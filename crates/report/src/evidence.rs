//! What was counted, in words: system calls per operation, and a claim that did not hold.

use oscost_results::{CheckedClaim, Expectation, Figure};

use crate::numbers;

/// System calls per operation, all names together; `None` where they were not counted.
pub(crate) fn system_calls(figure: &Figure) -> Option<f64> {
    let claimed = figure.evidence.claims.iter().find(|claim| claim.claim == "system_calls");
    claimed.and_then(|claim| claim.observed).or_else(|| {
        figure.evidence.audit_method.as_ref().map(|_| figure.evidence.system_calls.values().sum())
    })
}

/// A count per operation: whole, or with the two decimals that an audit of 100 operations resolves.
pub(crate) fn per_operation(count: f64) -> String {
    // The sum of no calls at all is -0.
    let count = count + 0.0;
    if count.fract() == 0.0 || !count.is_finite() || count.abs() >= 1e6 || count.abs() < 0.005 {
        numbers::count(count)
    } else {
        format!("{count:.2}")
    }
}

/// What was claimed and what was counted instead.
pub(crate) fn contradiction(claim: &CheckedClaim) -> String {
    let (kind, names) = claim.claim.split_once(':').unwrap_or((&claim.claim, ""));
    let one = claim.expected == Expectation::Exactly(1.0);
    let what = match kind {
        "system_calls" if names.is_empty() => if one { "system call" } else { "system calls" }.to_owned(),
        "system_calls" => format!("{} of {}", if one { "call" } else { "calls" }, names.replace('|', " or ")),
        other => other.replace('_', " "),
    };
    let observed = claim.observed.map_or("could not count them".to_owned(), |observed| {
        format!(
            "counted {}",
            if observed.abs() < 1e6 { format!("{observed:.2}") } else { format!("{observed:.2e}") }
        )
    });
    let entered = match claim.expected {
        Expectation::Exactly(expected) => expected > 0.0,
        Expectation::Between { at_least, .. } => at_least > 0.0,
    };
    let meaning = if kind == "system_calls" && entered && claim.observed == Some(0.0) {
        ": answered without entering the kernel"
    } else {
        ""
    };
    format!("claims {} {what} an operation, the audit {observed}{meaning}", expectation(claim.expected))
}

/// A claim's number in words; numbers of a stored result may be of any size.
fn expectation(expected: Expectation) -> String {
    match expected {
        Expectation::Exactly(number) => numbers::count(number),
        Expectation::Between { at_least, at_most } if at_least <= 0.0 => {
            format!("at most {}", numbers::count(at_most))
        }
        Expectation::Between { at_least, at_most } if at_most == f64::MAX => {
            format!("at least {}", numbers::count(at_least))
        }
        Expectation::Between { at_least, at_most } => {
            format!("{} to {}", numbers::count(at_least), numbers::count(at_most))
        }
    }
}
