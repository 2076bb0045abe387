//! Verdicts on runs that are stored nowhere, and on which no rule was chosen: `contrib/verdicts/table`.

use crate::{stored, stored_drift, stored_pairs};

use std::collections::BTreeSet;

use stored::{Sitting, sittings_of};

#[test]
#[ignore = "longer: it asks runs of its own"]
fn held_out_runs() {
    let Ok(path) = std::env::var("OSCOST_HELD") else {
        println!("SKIP held_out_runs: OSCOST_HELD names no file of contrib/verdicts/run");
        return;
    };
    let sittings = sittings_of(&path);
    let kinds: BTreeSet<&str> = sittings.iter().map(Sitting::kind).collect();
    let of = |kind: &str| -> Vec<&Sitting> { sittings.iter().filter(|sitting| sitting.is(kind)).collect() };
    println!("{}", stored_drift::HEAD);
    for kind in &kinds {
        for ((one_cpu, narrow), (all, hold)) in stored_drift::held(&of(kind)) {
            stored_drift::print(kind, one_cpu, narrow, all, hold);
        }
    }
    println!("{}", stored_pairs::HEAD);
    for kind in &kinds {
        stored_pairs::line(kind, &stored_pairs::successive(&of(kind)), false);
    }
}
