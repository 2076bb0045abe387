//! Compares counts, and runs a real `git bisect run` over simulated kernels.

use std::path::Path;
use std::process::{Command, Output};

use crate::played::{ID, Stage, false_kernel, say};

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A stage with `a.json`, a count of 311, and `b.json`, one of 312.
fn two() -> Stage {
    let stage = Stage::playing();
    for (name, instructions) in [("a.json", 311), ("b.json", 312)] {
        say(&stage.path(""), instructions);
        let output = stage.run(&["count", ID, "syscall/invalid", "--kernel", "bzImage", "--json", name]);
        // The played guest withholds the other row.
        assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    }
    stage
}

/// A count is divided by nothing: what a run would measure beside it is no row of it.
#[test]
fn only_what_was_asked_for_is_counted() {
    let stage = two();
    let output = stage.count(&["--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "the other row would be withheld: {}", said(&output));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).expect("data");
    let ids: Vec<&str> =
        result["figures"].as_array().into_iter().flatten().filter_map(|row| row["id"].as_str()).collect();
    assert_eq!(ids, [ID]);
}

#[test]
fn one_instruction_is_a_difference() {
    let stage = two();
    let code = |arguments: &[&str]| stage.run(&[&["compare"], arguments].concat()).status.code();
    let more = said(&stage.run(&["compare", "a.json", "b.json"]));
    assert!(more.contains("1 more, 0 fewer, 0 equal") && more.contains("+1"), "{more}");
    let fewer = said(&stage.run(&["compare", "b.json", "a.json"]));
    assert!(fewer.contains("0 more, 1 fewer") && fewer.contains("-1"), "{fewer}");
    assert!(said(&stage.run(&["compare", "a.json", "a.json"])).contains("0 more, 0 fewer, 1 equal"));
    assert_eq!(code(&["a.json", "b.json"]), Some(0));
    assert_eq!(code(&["a.json", "b.json", "--fail-on", "more"]), Some(1));
    assert_eq!(code(&["a.json", "b.json", "--fail-on", "more:0"]), Some(1));
    assert_eq!(code(&["a.json", "b.json", "--fail-on", "more:1"]), Some(0));
    assert_eq!(code(&["b.json", "a.json", "--fail-on", "more:0"]), Some(0));
    assert_eq!(code(&["a.json", "a.json", "--fail-on", "unclear"]), Some(3), "the other row was withheld");
    assert_eq!(code(&["a.json", "b.json", "--fail-on", "slower"]), Some(2));
    assert_eq!(code(&["a.json", "b.json", "a.json"]), Some(2));
    assert_eq!(code(&["a.json", "b.json", "--threshold", "5%"]), Some(2), "no share of a count is allowed");
    let json = stage.run(&["compare", "a.json", "b.json", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("data");
    let row = json["figures"].as_array().and_then(|rows| rows.iter().find(|row| row["id"] == ID));
    assert_eq!(row.map(|row| (&row["verdict"], &row["change"])), Some((&"more".into(), &1.0.into())));
    let table = said(&stage.run(&["compare", "a.json", "b.json", "--format", "markdown"]));
    assert!(table.contains("| 311 | 312 | more | +1 |"), "{table}");
    let shown = said(&stage.run(&["report", "a.json"]));
    assert!(shown.contains("instructions of one operation") && shown.contains("311"), "{shown}");
}

fn git(repository: &Path, arguments: &[&str]) -> Output {
    let identity = ["-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=main"];
    let mut command = Command::new("git");
    command.args(identity).args(arguments).current_dir(repository);
    let output = command.env("GIT_CONFIG_NOSYSTEM", "1").output().expect("git");
    assert!(output.status.success(), "git {arguments:?}: {}", said(&output));
    output
}

/// Eight commits of a kernel: the fifth takes one instruction more, the third does not boot.
#[test]
fn git_finds_the_commit_that_took_one_instruction_more() {
    if Command::new("git").arg("--version").output().is_err() {
        crate::skip("git_finds_the_commit_that_took_one_instruction_more", "git is not installed");
        return;
    }
    let stage = two();
    let repository = stage.path("linux");
    std::fs::create_dir(&repository).expect("a folder");
    git(&repository, &["init", "-q"]);
    std::fs::write(repository.join("bzImage"), false_kernel()).expect("written");
    for number in 1..=8 {
        match number {
            3 => std::fs::write(repository.join("said"), "no frame").expect("written"),
            _ => say(&repository, if number < 5 { 311 } else { 312 }),
        }
        std::fs::write(repository.join("number"), number.to_string()).expect("written");
        git(&repository, &["add", "."]);
        git(&repository, &["commit", "-q", "-m", &format!("commit {number}")]);
    }
    git(&repository, &["bisect", "start", "HEAD", "HEAD~7"]);
    let path = std::env::var("PATH").unwrap_or_default();
    let step = format!(
        "PATH='{}':\"$PATH\" XDG_STATE_HOME='{}' '{}' compare --bisect '{}' {ID} --kernel bzImage",
        stage.path("").display(),
        stage.path("state").display(),
        env!("CARGO_BIN_EXE_oscost"),
        stage.path("a.json").display(),
    );
    let mut command = Command::new("git");
    command.args(["bisect", "run", "sh", "-c", &step]).current_dir(&repository).env("PATH", path);
    let found = said(&command.output().expect("git"));
    assert!(found.contains("is the first bad commit") && found.contains("commit 5"), "{found}");
}

/// Their own instructions were blamed on whichever commit came first.
#[test]
fn a_base_of_another_program_or_qemu_ends_the_bisection() {
    let stage = two();
    let bytes = std::fs::read(stage.path("a.json")).expect("a file");
    let base = oscost_results::from_bytes(&bytes).expect("a result");
    let refused = |base: &oscost_results::RunResult, words: &str| {
        oscost_results::save_as(&stage.path("other.json"), base).expect("written");
        let output = stage.run(&["compare", "--bisect", "other.json", ID, "--kernel", "bzImage"]);
        assert_eq!(output.status.code(), Some(255), "{}", said(&output));
        assert!(said(&output).contains(words), "{}", said(&output));
    };
    let mut other = base.clone();
    other.tool.build_id = "another".to_owned();
    refused(&other, "was counted by another program (build another");
    let mut other = base;
    other.conditions.emulation.as_mut().expect("it was counted").emulator = "qemu 9".to_owned();
    refused(&other, "was counted by another emulator (qemu 9, and this is qemu 0.0.1)");
}

#[test]
fn what_has_no_answer_ends_the_bisection() {
    let stage = two();
    let step = |arguments: &[&str]| {
        let output = stage.run(&[&["compare", "--bisect"], arguments].concat());
        (output.status.code(), said(&output))
    };
    assert_eq!(step(&["a.json", ID, "--kernel", "bzImage"]).0, Some(1));
    assert_eq!(step(&["b.json", ID, "--kernel", "bzImage"]).0, Some(0));
    let told = |arguments: &[&str], code: i32, words: &str| {
        let (ended, said) = step(arguments);
        assert_eq!(ended, Some(code), "{said}");
        assert!(said.contains(words), "{said}");
    };
    told(&["a.json", "syscall/stat", "--kernel", "bzImage"], 255, "has no count of 'syscall/stat'");
    told(&["a.json", "syscall/invalid", "--kernel", "bzImage"], 255, "has no count of 'syscall/invalid'");
    told(&["a.json", ID, "--kernel", "/nowhere"], 255, "/nowhere");
    told(&["a.json", ID], 255, "a holds counts: add --kernel");
    told(&["a.json", ID, "--kernel", "bzImage", "--threshold", "10%"], 255, "--threshold is for times");
    std::fs::write(stage.path("said"), "rubbish").expect("written");
    told(&["a.json", ID, "--kernel", "bzImage"], 125, "something other than a result");
    std::fs::remove_file(stage.path("qemu-system-x86_64")).expect("it is there");
    told(&["a.json", ID, "--kernel", "bzImage"], 255, "apt install qemu-system-x86");
}
