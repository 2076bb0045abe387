//! A kernel of the other architecture, with a program for it: constant figures whose trees add up and come back.

use std::process::Command;

use crate::{are_constant_and_add_up, counted, skip};

#[test]
#[ignore = "it needs a kernel and a program for aarch64: .ci/full"]
fn an_arm64_kernel_is_counted_and_followed() {
    const NAME: &str = "an_arm64_kernel_is_counted_and_followed";
    let (Ok(kernel), Ok(program)) =
        (std::env::var("OSCOST_KERNEL_AARCH64"), std::env::var("OSCOST_GUEST_AARCH64"))
    else {
        return skip(NAME, "OSCOST_KERNEL_AARCH64 and OSCOST_GUEST_AARCH64 name no files");
    };
    if Command::new("qemu-system-aarch64").arg("--version").output().is_err() {
        return skip(NAME, "qemu-system-aarch64 is not installed");
    }
    let ids = ["syscall/getppid", "syscall/invalid", "semaphore/posix_named", "semaphore/system_v"];
    let mut arguments = vec!["count"];
    arguments.extend(ids);
    arguments.extend(["--kernel", &kernel, "--guest-program", &program, "--patience", "600"]);
    arguments.extend(["--by-function", "--format", "json"]);
    let result = counted(&arguments);
    assert_eq!(result.figures.len(), ids.len());
    are_constant_and_add_up(&result);
    let tree =
        result.figures.iter().find(|figure| figure.id == "syscall/getppid").and_then(|it| it.count.as_ref());
    let tree = &tree.expect("it was asked for").functions;
    let at = |wanted: &str| tree.iter().find(|node| node.name.contains(wanted)).expect(wanted);
    // A callee has come back: the kernel leaves from no deeper than it was entered.
    assert!(at("ret_to_user").depth < at("sys_getppid").depth, "{tree:?}");
    assert!(at("task_pid_nr_ns").depth > at("sys_getppid").depth, "{tree:?}");
}
