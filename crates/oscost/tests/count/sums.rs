//! Two instruments that share nothing agree on every id of the core list: the guest's clock, and the trace by function.

use oscost_results::{Repeats, from_bytes};

use crate::{command, kernel};

/// What depends on where objects lie, or on what RCU defers. What switches depends on the scheduler's past, and all else is constant
/// (docs/method/counts.md).
const DEPEND: [&str; 2] = ["syscall/open_close", "syscall/stat"];

#[test]
#[ignore = "it counts the whole core list: .ci/full"]
fn every_constant_figure_is_the_sum_of_its_functions() {
    let Some(kernel) = kernel("every_constant_figure_is_the_sum_of_its_functions") else { return };
    let arguments = ["count", "--kernel", &kernel, "--by-function", "--format", "json", "--patience", "600"];
    // Code 3: a row is withheld, and says why.
    let output = command(&arguments).output().expect("it was built");
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&output.stderr));
    let result = from_bytes(&output.stdout).expect("a result");
    let mut constant = 0;
    for figure in &result.figures {
        let Some(count) = &figure.count else { continue };
        let disagree = figure.remarks.iter().find(|remark| remark.contains("disagree"));
        assert_eq!(disagree, None, "{}", figure.id);
        if count.repeats == Repeats::Constant {
            let value = figure.quantities["instructions"].estimate.value;
            assert_eq!(count.sum() as f64, value * figure.operations_per_iteration as f64, "{}", figure.id);
            constant += 1;
        } else {
            assert!(count.sum() > 0 && count.why.is_some(), "{}: a tree and a reason", figure.id);
            let depends = figure.id.ends_with("/same_cpu") || DEPEND.contains(&figure.id.as_str());
            assert!(depends, "{}: {:?}", figure.id, count.why);
        }
    }
    // Fifteen readings and calls, and four semaphores.
    assert!(constant >= 19, "{constant}");
}
