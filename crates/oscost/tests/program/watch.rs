//! `run --watch` in a pipe: a line a figure and run, until a signal or its reader ends it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Home, Running, measured, one_at_a_time};

/// A watch that is going on, and the lines that it has written up to the one that begins with `until`.
fn watching(home: &Home, arguments: &[&str], until: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let patience = Instant::now() + Duration::from_secs(300);
    loop {
        let mut command = home.command(&[&["run", "--watch"], arguments].concat());
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program can be started");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        while lines.read_line(&mut line).expect("text") > 0 {
            if line.starts_with(until) {
                return (child, lines);
            }
            line.clear();
        }
        // Another test program measures.
        let code = child.wait().expect("it ends").code();
        assert!(code == Some(5) && Instant::now() < patience, "ended with {code:?}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
#[ignore = "longer: it interrupts"]
fn two_runs_in_a_pipe_then_ctrl_c() {
    let _lock = one_at_a_time();
    let home = Home::new();
    let id = "syscall/getppid";
    let (mut child, mut lines) = watching(&home, &["--json", "last.json", id], &format!("2  {id}  "));
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().expect("kill").success());
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut lines, &mut rest).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(0), "{rest}");
    assert!(rest.contains(" runs in ") && !rest.contains('\u{1b}'), "{rest:?}");
    assert!(!home.runs().exists() || home.stored().is_empty(), "nothing is stored");
    let last = oscost_results::load(&home.path().join("last.json")).expect("the last whole run");
    assert!(!last.partial && last.figures.iter().any(|figure| figure.id == id));
}

#[test]
#[ignore = "longer: it interrupts"]
fn a_watch_that_is_stopped_in_its_first_run_has_nothing_to_show() {
    let _lock = one_at_a_time();
    let home = Home::new();
    // Of so many that the first run goes on for long.
    let running =
        Running::until(&mut home.command(&["run", "--watch", "-v", "syscall"]), "phase: calibration");
    running.signal("INT");
    let done = running.end();
    let told = done.stdout.starts_with("0 runs in ") && done.stdout.ends_with(" s, 0 changes\n");
    assert!(done.code == Some(130) && told, "{done:?}");
}

/// As `head` goes, once it has its lines.
#[test]
fn a_watch_whose_reader_has_gone_ends_and_keeps_its_last_run() {
    let home = Home::new();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let arguments = ["run", "--watch", "--json", "last.json", "instrument/empty_loop"];
    measured(home.command(&arguments).stdout(writer)).well();
    let last = oscost_results::load(&home.path().join("last.json")).expect("the run that was shown");
    assert!(!last.partial);
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let home = Home::new();
    home.ask(&["run", "--watch"]).refused(2, "required");
    home.ask(&["run", "--watch", "--dry-run", "getpid"]).refused(2, "cannot be used with");
    home.ask(&["run", "--watch", "--json", "-", "getpid"]).refused(2, "name a file for --json");
    assert!(!home.runs().exists());
}
