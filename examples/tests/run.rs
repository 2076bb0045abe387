//! The examples do what they say: one measures for real, the other reads a stored result.

use std::path::Path;
use std::process::{Command, Output};

fn run(program: &str, arguments: &[&str]) -> (Output, String) {
    let output = Command::new(program).args(arguments).output().expect("it was built");
    let text = String::from_utf8(output.stdout.clone()).expect("it prints text");
    (output, text)
}

#[test]
fn a_benchmark_from_outside_is_measured_and_proved() {
    let (output, text) = run(env!("CARGO_BIN_EXE_own_benchmark"), &[]);
    assert!(output.status.success(), "{output:?}");
    let line = text.strip_prefix("channel/send_receive: ").unwrap_or_else(|| panic!("{text}"));
    let (floor, rest) = line.split_once(" ns (").unwrap_or_else(|| panic!("{text}"));
    assert!(floor.parse::<f64>().unwrap() > 0.0, "{text}");
    let verdict = rest.trim_end().rsplit(", ").next();
    // Without seccomp and ptrace nothing can be counted, and nothing is proved.
    if verdict == Some("NoClaim") {
        println!("SKIP a_benchmark_from_outside_is_proved: system calls cannot be counted here");
    } else {
        assert_eq!(verdict, Some("Proved"), "{text}");
    }
}

#[test]
fn a_stored_result_is_read() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/results/tests/samples/v1.json");
    let (output, text) = run(env!("CARGO_BIN_EXE_read_result"), &[sample.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    assert!(
        text.lines().any(|line| line.starts_with("semaphore/posix_named\t") && line.ends_with("\tns")),
        "{text}"
    );

    let (output, _) = run(env!("CARGO_BIN_EXE_read_result"), &["/nonexistent.json"]);
    assert!(!output.status.success());
}
