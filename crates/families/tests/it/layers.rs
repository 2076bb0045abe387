//! Layers and the operations under them: a layer counts the calls of the operation, and nobody else's.

use crate::support;

use support::{in_child, judged, launched, series, with_subject};

/// The process under the layer hears its orders by read, and answers by write.
#[test]
fn the_calls_by_which_orders_are_given_are_not_counted() {
    // The audit's markers are calls of close: those of open_close are counted without them.
    for (id, phase) in [("write1", 0), ("read1", 0), ("open_close", 0), ("open_close", 1)] {
        let id = &*format!("tax/seccomp/notify/on/syscall/{id}");
        let benchmark = oscost_families::resolve(id).expect(id);
        let outcome = in_child(|_| {
            with_subject(benchmark, |subject| {
                let series = series(subject)?;
                assert!(series.brackets(phase), "a layer marks its own phases");
                let counted = launched(series, Some(100), 1)?;
                let saw = counted.found.iter().find(|it| it.name == "calls_that_the_layer_saw");
                match saw {
                    Some(saw) if saw.holds() => Ok(()),
                    other => Err(format!("{other:?}")),
                }
            })
        });
        judged(id, outcome);
    }
}
