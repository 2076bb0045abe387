//! Tests with real processes that are killed while they write, and with a really full disk.
//!
//! The test binary runs itself: a test below is a writer where `OSCOST_TEST_WRITER` says so, and nothing otherwise.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::place::{Directory, NewFile, PRIVATE};
use crate::{
    Journal, LockError, RunLock, RunName, RunResult, SaveError, Store, from_bytes, load, recover, to_bytes,
    write_file,
};

const WRITER: &str = "OSCOST_TEST_WRITER";
const DIRECTORY: &str = "OSCOST_TEST_DIRECTORY";

fn sample() -> RunResult {
    let mut result = from_bytes(include_bytes!("../tests/samples/v1.json")).unwrap();
    // Large enough for a kill to fall into the writing.
    result.unknown.insert("padding".to_owned(), json!("x".repeat(400_000)));
    result
}

/// The other side of the tests below.
#[test]
fn writer() {
    let (Ok(kind), Some(directory)) = (std::env::var(WRITER), std::env::var_os(DIRECTORY)) else { return };
    let store = Store::at(PathBuf::from(directory));
    let mut says = std::io::stdout();
    let mut acknowledge =
        |what: u64| says.write_all(format!("done {what}\n").as_bytes()).and_then(|()| says.flush()).unwrap();
    match kind.as_str() {
        "save" => {
            let result = sample();
            for count in 0.. {
                store.save(&RunName::now().unwrap(), &result).unwrap();
                acknowledge(count);
            }
        }
        // As on a file system without O_TMPFILE.
        "save_named" => {
            let bytes = to_bytes(&sample()).unwrap();
            let directory = store.open().unwrap();
            for count in 0.. {
                let mut new = NewFile::begin_named(&directory, PRIVATE).unwrap();
                new.file().write_all(&bytes).unwrap();
                new.publish(&format!("{}.json", RunName::now().unwrap())).unwrap();
                acknowledge(count);
            }
        }
        "replace" => {
            let bytes = to_bytes(&sample()).unwrap();
            for count in 0.. {
                write_file(&store.directory().join("named.json"), &bytes).unwrap();
                acknowledge(count);
            }
        }
        "journal" => {
            let journal = Journal::create(&store, &json!({"header": true})).unwrap();
            for count in 0_u64.. {
                journal.append(&json!({"count": count, "padding": "x".repeat(5000)})).unwrap();
                acknowledge(count);
            }
        }
        "lock" => {
            let _lock = RunLock::acquire_on(store.directory()).unwrap();
            acknowledge(0);
            std::thread::sleep(Duration::from_secs(60));
        }
        "full_disk" => full_disk(&store),
        other => panic!("no such writer: {other}"),
    }
}

fn writer_command(kind: &str, directory: &Path) -> Vec<std::ffi::OsString> {
    let mut command = vec!["env".into(), format!("{WRITER}={kind}").into()];
    let mut variable = std::ffi::OsString::from(format!("{DIRECTORY}="));
    variable.push(directory);
    command.push(variable);
    command.push(std::env::current_exe().unwrap().into());
    command.extend(["--exact", "killed::writer", "--nocapture", "--test-threads=1"].map(Into::into));
    command
}

fn start(kind: &str, directory: &Path) -> (Child, BufReader<ChildStdout>) {
    let command = writer_command(kind, directory);
    let mut child = Command::new(&command[0]).args(&command[1..]).stdout(Stdio::piped()).spawn().unwrap();
    let said = BufReader::new(child.stdout.take().unwrap());
    (child, said)
}

/// Runs a writer, kills it `after` its first acknowledgement, and returns how many it gave.
fn kill_after(kind: &str, directory: &Path, after: Duration) -> u64 {
    let (mut child, mut said) = start(kind, directory);
    let mut line = String::new();
    while !line.contains("done 0") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "the writer ended by itself");
    }
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    1 + rest.matches("done ").count() as u64
}

/// Moments of the kills: over some hundred microseconds to some milliseconds, none like another.
fn moment(kill: u32) -> Duration {
    Duration::from_micros(u64::from(kill) * 137 % 6_000)
}

#[test]
fn fifty_kills_while_saving_tear_nothing_and_leave_nothing() {
    for kind in ["save", "save_named"] {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::at(directory.path().join("runs"));
        let mut acknowledged = 0;
        for kill in 0..50 {
            acknowledged += kill_after(kind, store.directory(), moment(kill));
        }
        let strays = fs::read_dir(store.directory()).unwrap().count() - store.runs().unwrap().len();
        store.prepare().unwrap();
        let runs = store.runs().unwrap();
        for run in &runs {
            load(run).unwrap();
        }
        assert!(runs.len() as u64 >= acknowledged, "{} of {acknowledged} are there", runs.len());
        assert_eq!(fs::read_dir(store.directory()).unwrap().count(), runs.len(), "strays after the sweep");
        println!("{kind}: {} whole, 0 torn, {strays} strays before the sweep, 0 after", runs.len());
        assert!(kind == "save_named" || strays == 0, "a file without a name leaves no stray: {strays}");
    }
}

#[test]
fn fifty_kills_while_replacing_leave_the_old_or_the_new() {
    let directory = tempfile::tempdir().unwrap();
    for kill in 0..50 {
        kill_after("replace", directory.path(), moment(kill));
        load(&directory.path().join("named.json")).unwrap();
    }
}

#[test]
fn a_journal_holds_whatever_append_returned_for() {
    for kill in 0..20 {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::at(directory.path());
        let acknowledged = kill_after("journal", directory.path(), moment(kill));
        let recovered: Vec<_> = recover(&store).unwrap().map(Result::unwrap).collect();
        assert_eq!(recovered.len(), 1);
        assert_eq!(recovered[0].header, json!({"header": true}));
        let counts: Vec<_> = recovered[0].records.iter().map(|record| record["count"].as_u64()).collect();
        let expected: Vec<_> = (0..counts.len() as u64).map(Some).collect();
        assert_eq!(counts, expected);
        assert!(counts.len() as u64 >= acknowledged, "{} of {acknowledged}", counts.len());
        for journal in recovered {
            journal.finish().unwrap();
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_lock_dies_with_its_holder() {
    let directory = tempfile::tempdir().unwrap();
    let (mut child, mut said) = start("lock", directory.path());
    let mut line = String::new();
    while !line.contains("done 0") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "the holder ended by itself");
    }
    let refused = RunLock::acquire_on(directory.path()).unwrap_err();
    assert!(
        matches!(refused, LockError::Busy { pid } if pid.is_none_or(|pid| pid == child.id())),
        "{refused}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    RunLock::acquire_on(directory.path()).unwrap();
}

#[test]
fn a_living_writers_files_are_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::at(directory.path());
    let held = store.open().unwrap();
    let mut temporary = NewFile::begin_named(&held, PRIVATE).unwrap();
    temporary.file().write_all(b"half").unwrap();
    let journal = Journal::create(&store, &1).unwrap();
    store.prepare().unwrap();
    assert!(recover(&store).unwrap().next().is_none());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    temporary.publish("whole").unwrap();
    journal.finish().unwrap();
    assert_eq!(fs::read(directory.path().join("whole")).unwrap(), b"half");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

/// Runs on a file system of 1 MiB that nobody else sees.
fn full_disk(store: &Store) {
    let result = sample();
    let named = store.directory().join("named.json");
    write_file(&named, b"old and good").unwrap();
    let journal = Journal::create(store, &"header").unwrap();
    journal.append(&0).unwrap();
    let error = loop {
        match store.save(&RunName::now().unwrap(), &result) {
            Ok(_) => {}
            Err(SaveError::Io(error)) => break error,
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(error.source.kind(), std::io::ErrorKind::StorageFull, "{error}");
    assert!(error.to_string().contains(&*store.directory().to_string_lossy()), "{error}");
    let before: Vec<_> = store.runs().unwrap().iter().map(|run| fs::read(run).unwrap()).collect();
    assert!(!before.is_empty());
    assert!(write_file(&named, &vec![b'x'; 900_000]).is_err());
    assert_eq!(fs::read(&named).unwrap(), b"old and good");
    // The last free page goes; then the journal, too, can take no more, and loses nothing.
    assert!(fs::write(store.directory().join("filler"), vec![0; 2_000_000]).is_err());
    assert!(journal.append(&"x".repeat(100_000)).is_err());
    fs::remove_file(store.directory().join("filler")).unwrap();
    journal.append(&1).unwrap();
    drop(journal);
    let recovered: Vec<_> = recover(store).unwrap().map(Result::unwrap).collect();
    assert_eq!(recovered[0].records, [json!(0), json!(1)]);
    let after: Vec<_> = store.runs().unwrap().iter().map(|run| fs::read(run).unwrap()).collect();
    assert_eq!(before, after);
    store.prepare().unwrap();
    let names = fs::read_dir(store.directory()).unwrap().count();
    assert_eq!(names, before.len() + 2, "runs, the named file and the journal");
    println!("full disk checked");
}

#[test]
fn a_full_disk_costs_no_old_file() {
    let directory = tempfile::tempdir().unwrap();
    let mount = "mount -t tmpfs -o size=1m,mode=700 tmpfs \"$0\" && exec \"$@\"";
    for namespace in [&["-m"][..], &["-U", "-r", "-m"][..]] {
        let mut trial = Command::new("unshare");
        trial.args(namespace).args(["sh", "-c", mount]).arg(directory.path()).arg("true");
        if !trial.output().is_ok_and(|output| output.status.success()) {
            continue;
        }
        let mut test = Command::new("unshare");
        test.args(namespace).args(["sh", "-c", mount]).arg(directory.path());
        let output = test.args(writer_command("full_disk", directory.path())).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.contains("full disk checked"),
            "{said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        return;
    }
    println!("SKIP a_full_disk_costs_no_old_file: no mount namespace can be had here");
}

#[test]
fn a_file_gets_a_name_without_proc_and_without_privilege() {
    let directory = tempfile::tempdir().unwrap();
    let held = Directory::make(directory.path(), 0o700, None).unwrap();
    let mut new = NewFile::begin(&held, 0o640).unwrap();
    new.file().write_all(b"bytes").unwrap();
    new.named_copy().unwrap().publish("name").unwrap();
    assert_eq!(fs::read(directory.path().join("name")).unwrap(), b"bytes");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}
