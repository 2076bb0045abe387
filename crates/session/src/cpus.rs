//! The CPUs that a session uses, in order.

use std::collections::BTreeSet;

use oscost_harness::preferred;
use oscost_sys::{affinity, cpu_list, distance};

use crate::Error;

/// Most CPUs whose distance is measured: each takes some milliseconds.
const MOST_DISTANCES: usize = 16;

/// CPUs to use, in order of preference: those of `list` ("2", "3,1", "2-5"), or all that are allowed, the first one last.
///
/// # Errors
/// The list is none, or names a CPU on which this process may not run.
pub fn cpus(list: Option<&str>) -> Result<Vec<usize>, Error> {
    let allowed = affinity::allowed().map_err(Error::NoCpus)?;
    let Some(list) = list else { return Ok(preferred(allowed)) };
    let refused = |why: String| Error::Cpus { list: list.to_owned(), why };
    let wanted =
        in_order(list).ok_or_else(|| refused(" is no list of CPUs: write 2, or 3,1, or 2-5".to_owned()))?;
    match wanted.iter().find(|cpu| !allowed.contains(cpu)) {
        None => Ok(wanted),
        Some(cpu) => {
            let allowed = cpu_list::format(&allowed);
            Err(refused(format!(": this process may not run on CPU {cpu}; it may on {allowed}")))
        }
    }
}

/// CPUs of a list in the order in which they were given, each once; `None` where it is no list.
fn in_order(list: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in list.split(',') {
        cpus.extend(cpu_list::parse(part).filter(|part| !part.is_empty())?);
    }
    let mut seen = BTreeSet::new();
    cpus.retain(|&cpu| seen.insert(cpu));
    Some(cpus)
}

/// The CPUs with the first one in front and the others by the time that a cache line takes from it, in ns: the nearest
/// first; last those of which that is not known.
pub(crate) fn by_distance(cpus: &[usize]) -> Vec<(usize, Option<f64>)> {
    let Some((&first, others)) = cpus.split_first() else { return Vec::new() };
    let mut measured: Vec<(usize, Option<f64>)> = others
        .iter()
        .enumerate()
        .map(|(index, &cpu)| {
            let ns = if index < MOST_DISTANCES { distance::between(first, cpu) } else { Ok(None) };
            (cpu, ns.ok().flatten())
        })
        .collect();
    measured.sort_by(|one, other| match (one.1, other.1) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        (one, other) => other.is_some().cmp(&one.is_some()),
    });
    std::iter::once((first, Some(0.0))).chain(measured).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_keep_the_order_in_which_they_were_named() {
        assert_eq!(in_order("3,1"), Some(vec![3, 1]));
        assert_eq!(in_order("2-4,3,0"), Some(vec![2, 3, 4, 0]));
        for none in ["", "x", "1,", "4-2x"] {
            assert_eq!(in_order(none), None, "{none}");
        }
    }

    #[test]
    fn a_cpu_that_is_not_allowed_is_named_with_those_that_are() {
        let error = cpus(Some("4095")).expect_err("no machine of ours has it").to_string();
        assert!(error.starts_with("'4095': this process may not run on CPU 4095; it may on "), "{error}");
        assert!(cpus(Some("x")).is_err_and(|error| error.to_string().starts_with("'x' is no list")));
        assert!(cpus(None).is_ok_and(|cpus| !cpus.is_empty()));
    }
}
