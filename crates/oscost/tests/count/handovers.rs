//! Hand-overs take the same way in every boot, on a kernel that remembers what it owes to a sleeper.

use oscost_results::Repeats;

use crate::{counted, skip};

#[test]
#[ignore = "it needs a kernel of Linux 6.12 or later: .ci/full"]
fn hand_overs_have_the_same_counts_in_every_boot() {
    const NAME: &str = "hand_overs_have_the_same_counts_in_every_boot";
    let Ok(kernel) = std::env::var("OSCOST_KERNEL_LATER") else {
        return skip(NAME, "OSCOST_KERNEL_LATER names no kernel image");
    };
    if std::process::Command::new("qemu-system-x86_64").arg("--version").output().is_err() {
        return skip(NAME, "qemu-system-x86_64 is not installed");
    }
    // A hand-over by futex goes one of two ways there (docs/method/counts.md).
    let ids = ["semaphore/system_v/handover/same_cpu", "semaphore/eventfd/handover/same_cpu"];
    // Four boots: each sitting has two, with seeds of their own.
    let mut before: Option<Vec<_>> = None;
    for seed in ["1", "3"] {
        let arguments = ["count", ids[0], ids[1], "--kernel", &kernel, "--seed", seed];
        let result = counted(&[&arguments[..], &["--patience", "600", "--format", "json"]].concat());
        assert_eq!(result.figures.len(), ids.len());
        let counts = result.figures.iter().map(|figure| {
            let count = figure.count.as_ref().unwrap_or_else(|| panic!("{}: {:?}", figure.id, figure.why));
            assert_ne!(count.repeats, Repeats::Varies, "{}: {:?}", figure.id, count.why);
            (figure.id.clone(), count.values.clone())
        });
        let counts: Vec<_> = counts.collect();
        assert_eq!(*before.get_or_insert_with(|| counts.clone()), counts, "two sittings");
    }
}
