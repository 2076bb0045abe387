//! `--generate`: man pages that formatters accept without a warning, and completions that shells run.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Home, PROGRAM, finished, skip};

/// A completion of a shell, in a file.
fn script(home: &Home, shell: &str) -> String {
    home.ask(&["--generate", &format!("complete-{shell}"), "-o", shell]).well();
    home.path().join(shell).to_str().expect("a name").to_owned()
}

/// A store with two runs, whose names alone are read.
fn with_runs() -> Home {
    let home = Home::new();
    fs::create_dir_all(home.runs()).expect("a folder");
    for name in ["2026-11-20T23-14-05Z-9f2c41d0a1b2c3d4", "2026-11-21T08-00-59Z-9f2c41d0a1b2c3d4"] {
        fs::write(home.runs().join(format!("{name}.json")), "").expect("a file");
    }
    home
}

/// Whether a program can be started here.
fn is_here(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

#[test]
fn the_verb_of_completions_knows_stored_runs_keys_and_ids() {
    let home = with_runs();
    let said = home.ask(&["complete", "--", "report", ""]).well().stdout.clone();
    assert_eq!(said, "@-1\t2026-11-21 08:00 UTC\n@-2\t2026-11-20 23:14 UTC\n@all\t2 stored runs\n");
    let said = home.ask(&["complete", "--", "run", "realtime_ipc", "--set", "place"]).well().stdout.clone();
    assert!(said.starts_with("placement=\tserver and clients"), "{said}");
    assert!(
        home.ask(&["complete", "--", "run", "semaphore/system_v"])
            .well()
            .stdout
            .contains("semaphore/system_v\t")
    );
    assert_eq!(home.ask(&["complete"]).well().stdout, "");
    assert_eq!(home.ask(&["complete", "--", "no-such-command", "--x", "\u{1b}"]).well().stdout, "");
    assert!(!home.path().join("state/oscost/runs/core.constants").exists(), "asking leaves nothing behind");
}

#[test]
fn bash_completes() {
    let home = with_runs();
    let script = script(&home, "bash");
    let folder = Path::new(PROGRAM).parent().expect("a folder").to_str().expect("a name");
    // As bash calls it: the line, the place of the cursor, and the words that it sees.
    let reply = |breaks: &str, line: &str| {
        let program = "source \"$1\"; PATH=$2:$PATH; COMP_WORDBREAKS=$3; COMP_LINE=$4; COMP_POINT=${#4}; COMP_TYPE=$5\n\
                       _oscost oscost 2>/dev/null; printf '%s\\n' \"${COMPREPLY[@]}\"";
        let ask = |kind: &str| {
            let mut bash = home.other("bash");
            bash.args(["--norc", "-c", program, "bash", &script, folder, breaks, line, kind]);
            finished(&mut bash).well().stdout.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        (ask("9"), ask("63"))
    };
    let usual = " \t\n\"'@><=;|&(:";
    for (line, expected) in [
        ("oscost run realtime_ipc --set pl", &["placement="][..]),
        // What stands before a mark that breaks words stays on the line.
        ("oscost run --set placement=", &["same_cpu", "spread"]),
        ("oscost run --set load=cpu,transfer_", &["cpu,transfer_fsync"]),
        ("oscost report @", &["@-1", "@-2", "@all"]),
        ("oscost report --format js", &["json"]),
        ("oscost reproduce tl", &["tlpi"]),
        ("oscost list --trait ", &["pollable", "queues_payload", "fair", "hands_off", "works_across_users"]),
        ("oscost run --json ", &[""]),
    ] {
        assert_eq!(reply(usual, line).0, expected, "{line}");
    }
    assert_eq!(reply(" ", "oscost run --set placement=s").0, ["placement=same_cpu", "placement=spread"]);
    assert_eq!(
        reply(usual, "oscost report ").1[0],
        "@-1  (2026-11-21 08:00 UTC)",
        "a list says what they are"
    );
}

#[test]
fn fish_completes() {
    if !is_here("fish") {
        return skip("fish is not installed");
    }
    let home = with_runs();
    let (script, folder) = (script(&home, "fish"), Path::new(PROGRAM).parent().expect("a folder"));
    let found = |line: &str| {
        let mut fish = home.other("fish");
        let program = "set -x PATH $argv[1] $PATH; source $argv[2]; complete -C $argv[3]";
        fish.args(["--no-config", "-c", program]).arg(folder).args([&script, line]);
        finished(&mut fish).well().stdout.clone()
    };
    assert_eq!(found("oscost report @-"), "@-1\t2026-11-21 08:00 UTC\n@-2\t2026-11-20 23:14 UTC\n");
    assert!(found("oscost run realtime_ipc --set plac").starts_with("placement=\t"));
    assert!(found("oscost run --set placement=s").contains("placement=spread"));
}

#[test]
fn zsh_completes() {
    if !is_here("zsh") {
        return skip("zsh is not installed");
    }
    let home = with_runs();
    let (script, folder) = (script(&home, "zsh"), Path::new(PROGRAM).parent().expect("a folder"));
    // A terminal of its own, in which keys are typed.
    let program = "zmodload zsh/zpty\n\
                   zpty -b shell zsh -f -i\n\
                   say() { zpty -w shell \"$1\"; sleep ${2:-0.3}; }\n\
                   say \"PATH=$1:\\$PATH PS1=; autoload -U compinit; compinit -u -D; setopt NO_BEEP; source $2\" 2\n\
                   zpty -w -n shell \"$3\"$'\\t'; sleep 2\n\
                   zpty -r -t shell _ 2>/dev/null; while zpty -r -t shell text; do print -rn -- $text; done\n\
                   zpty -d shell";
    let shown = |line: &str| {
        let mut zsh = home.other("zsh");
        zsh.args(["-f", "-c", program, "zsh"]).arg(folder).args([&script, line]).env("TERM", "dumb");
        finished(&mut zsh).stdout
    };
    let keys = shown("oscost run realtime_ipc --set plac");
    assert!(keys.contains("placement="), "{keys:?}");
    let runs = shown("oscost report @-");
    assert!(runs.contains("2026-11-21 08:00 UTC") && runs.contains("@-2"), "{runs:?}");
}

#[test]
fn a_page_for_each_command_without_a_warning() {
    let home = Home::new();
    assert_eq!(home.ask(&["--generate", "man", "-o", "pages"]).well().stdout, "");
    let main = home.ask(&["--generate", "man"]).well().stdout.clone();
    assert_eq!(fs::read_to_string(home.path().join("pages/oscost.1")).unwrap(), main);
    for code in ["0", "2", "3", "4", "5", "70", "129, 130, 143", "255"] {
        assert!(main.contains(&format!(".TP\n\\fB{code}\\fR\n")), "exit code {code} is not in {main}");
    }
    let names: Vec<String> = fs::read_dir(home.path().join("pages"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for command in
        ["run", "reproduce", "count", "list", "explain", "report", "compare", "crosscheck", "tick", "doctor"]
    {
        assert!(names.contains(&format!("oscost-{command}.1")), "{command}: {names:?}");
    }
    let run = fs::read_to_string(home.path().join("pages/oscost-run.1")).unwrap();
    for words in ["\\-\\-require\\-realtime", "\\-\\-set", "load_command=", "XDG_STATE_HOME"] {
        assert!(run.contains(words), "{words} is not in the page of run");
    }
    for (formatter, arguments) in
        [("groff", &["-man", "-Tutf8", "-ww", "-z"][..]), ("mandoc", &["-T", "lint", "-W", "warning"])]
    {
        if !is_here(formatter) && formatter == "groff"
            || !Path::new("/usr/bin/mandoc").exists() && formatter == "mandoc"
        {
            skip(&format!("{formatter} is not installed"));
            continue;
        }
        for name in &names {
            let done =
                finished(home.other(formatter).args(arguments).arg(home.path().join("pages").join(name)));
            assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("", ""), "{formatter}: {name}");
        }
    }
    home.ask(&["--generate", "man", "list"]).refused(2, "stands alone");
    for what in ["man", "complete-bash"] {
        home.ask(&["--generate", what, "-o", "-"]).refused(2, "name a file");
    }
    assert!(!home.path().join("-").exists());
    home.ask(&["--generate", "man", "-o", "/dev/null/x"]).refused(4, "/dev/null/x");
    home.ask(&["-o", "x"]).refused(2, "--generate");
}
