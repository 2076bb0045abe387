//! Layers and the operations under them: a layer counts the calls of the operation, and nobody else's.

#[allow(dead_code, reason = "not every test looks at everything")]
use crate::support;

use oscost_harness::{PostCondition, SeriesPlan, Sink, Subject};
use support::{in_child, skip, with_subject};

#[derive(Default)]
struct Found(Vec<PostCondition>);

impl Sink for Found {
    fn quantity(&mut self, _: &'static str, _: f64) {}
    fn observation(&mut self, _: f64) {}
    fn operations(&mut self, _: u64) {}
    fn post_condition(&mut self, found: PostCondition) {
        self.0.push(found);
    }
}

/// The process under the layer hears its orders by read, and answers by write.
#[test]
fn the_calls_by_which_orders_are_given_are_not_counted() {
    // The audit's markers are calls of close: those of open_close are counted without them.
    for (id, phase) in [("write1", 0), ("read1", 0), ("open_close", 0), ("open_close", 1)] {
        let id = &*format!("tax/seccomp/notify/on/syscall/{id}");
        let benchmark = oscost_families::resolve(id).expect(id);
        let outcome = in_child(|_| {
            with_subject(benchmark, |subject| {
                let Subject::Series(series) = subject else { return Err("it is a series".into()) };
                let mut found = Found::default();
                assert!(series.brackets(phase), "a layer marks its own phases");
                let plan = SeriesPlan { observations: Some(100), duration_ns: 1_000_000, seed: 1 };
                series.launch(&plan, &mut found).map_err(|error| error.to_string())?;
                let saw = found.0.iter().find(|it| it.name == "calls_that_the_layer_saw");
                match saw {
                    Some(saw) if saw.holds() => Ok(()),
                    other => Err(format!("{other:?}")),
                }
            })
        });
        match outcome {
            Ok(()) => {}
            Err(why) if why.contains("SKIP") => skip(id, &why),
            Err(why) => panic!("{id}: {why}"),
        }
    }
}
