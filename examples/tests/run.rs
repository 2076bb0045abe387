//! The examples do what they say: two measure for real, and one reads a stored result.
#![expect(clippy::print_stdout, reason = "what is skipped is said")]

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use oscost_results::{Status, Verdict};

fn run(program: &str, arguments: &[&str]) -> (Output, String) {
    done(Command::new(program).args(arguments))
}

/// Runs it to its end, again and again while somebody else on this machine measures.
fn done(command: &mut Command) -> (Output, String) {
    loop {
        let output = command.output().expect("it was built");
        let text = String::from_utf8(output.stdout.clone()).expect("it prints text");
        if !text.contains("another run is measuring") {
            return (output, text);
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// Results in a store.
fn stored(directory: &Path) -> Vec<oscost_results::RunResult> {
    let runs = oscost_results::Store::at(directory).runs().expect("a store");
    runs.iter().map(|path| oscost_results::load(path).expect("a result")).collect()
}

/// One after the other: only one run measures at a time.
#[test]
fn benchmarks_from_outside_are_stored_compared_and_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    a_benchmark_of_its_own(&folder.path().join("own"));
    a_test_suite(&folder.path().join("embedded"));
}

fn a_benchmark_of_its_own(directory: &Path) {
    let argument = directory.to_str().expect("text");
    let (output, first) = run(env!("CARGO_BIN_EXE_own_benchmark"), &[argument]);
    assert!(output.status.success(), "{output:?}");
    assert!(first.contains("send_receive") && !first.contains("last -> now"), "{first}");
    let (output, second) = run(env!("CARGO_BIN_EXE_own_benchmark"), &[argument]);
    assert!(output.status.success(), "{output:?}");
    assert!(second.contains("last -> now"), "{second}");
    let page = std::fs::read_to_string(directory.join("channel.html")).expect("a page");
    assert!(page.contains("channel/send_receive"), "the page has the figure");
    let results = stored(directory);
    assert_eq!(results.len(), 2);
    for result in results {
        let [figure] = &result.figures[..] else { panic!("one figure: {result:?}") };
        assert_eq!((figure.id.as_str(), figure.status), ("channel/send_receive", Status::Measured));
        assert!(figure.quantities["floor"].estimate.value > 0.0);
        assert!(!result.partial && !result.doctor.is_empty() && !result.tool.target.is_empty());
        // Without seccomp and ptrace nothing can be counted, and nothing is checked.
        if figure.evidence.audit_method.is_none() {
            println!("SKIP a_benchmark_from_outside_is_checked: system calls cannot be counted here");
        } else {
            assert_eq!(figure.evidence.verdict, Verdict::Checked);
        }
    }
}

/// What one look at the suite came to.
enum Look {
    Done,
    /// The suite said that a neighbour kept it from an answer.
    Unclear,
}

/// Three times the work is slower, and a third of it is not, unless a neighbour shares the core all the time.
fn a_test_suite(directory: &Path) {
    let unclear = |attempt: &i32| {
        let folder = directory.join(attempt.to_string());
        std::fs::create_dir_all(&folder).expect("a folder");
        matches!(suite_in(&folder), Look::Unclear)
    };
    if (0..4).all(|attempt| unclear(&attempt)) {
        println!("SKIP a_test_suite: a neighbour shares the core all the time");
    }
}

fn suite_in(directory: &Path) -> Look {
    let suite = |passes: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_embedded"));
        done(command.arg(directory).env("EMBEDDED_PASSES", passes))
    };
    for (passes, stored_then) in [("3", 1), ("1", 2)] {
        let (output, words) = suite(passes);
        if words.contains("FAILED: unclear") {
            assert!(!output.status.success(), "{words}");
            assert_eq!(stored(directory).len(), stored_then - 1, "what is unclear is not stored");
            return Look::Unclear;
        }
        assert!(output.status.success(), "{words}");
        assert!(words.contains("it_is_right ... ok") && words.contains("it_is_not_slower ... ok"), "{words}");
        assert_eq!(stored(directory).len(), stored_then, "what passes is stored");
    }
    let (output, words) = suite("3");
    assert!(!output.status.success(), "{words}");
    assert!(words.contains("it_is_right ... ok"), "{words}");
    assert_eq!(stored(directory).len(), 2, "what is slower or unclear is not stored");
    let entries = std::fs::read_dir(directory).expect("a folder").flatten();
    let journals = entries.filter(|entry| entry.path().extension().is_some_and(|it| it == "journal"));
    assert_eq!(journals.count(), 0);
    if words.contains("FAILED: unclear") {
        return Look::Unclear;
    }
    assert!(words.contains("it_is_not_slower ... FAILED: the checksum got slower"), "{words}");
    Look::Done
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
