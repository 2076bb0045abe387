//! What a supervisor and its janitor do beside measuring: folders that go with whoever made them, audits of one benchmark, and
//! programs that are started by hand.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use oscost_harness::{
    Catalogue, OwnFolder, Place, Subject, Supervisor, Unable, apart, audit, measure, run_command,
};
use oscost_results::Status;

use super::{bad, choices, fail, figure, options};

pub const TESTS: [(&str, fn()); 6] = [
    ("a_command_is_run_as_its_caller_would", a_command_is_run_as_its_caller_would),
    ("a_folder_of_ones_own_goes_with_who_made_it", a_folder_of_ones_own_goes_with_who_made_it),
    (
        "files_of_a_run_lie_where_they_are_to_and_go_with_it",
        files_of_a_run_lie_where_they_are_to_and_go_with_it,
    ),
    ("one_benchmark_is_audited_without_launches", one_benchmark_is_audited_without_launches),
    ("one_benchmark_is_set_up_in_this_process", one_benchmark_is_set_up_in_this_process),
    ("who_is_started_by_hand_says_what_is_missing", who_is_started_by_hand_says_what_is_missing),
];

/// First argument by which this program makes a folder of its own, and is killed.
const KILLED: &str = "__killed_with_a_folder";

/// Whether this program was started to be killed. It says the name of its folder first.
pub fn is_killed() -> bool {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [first, parent] = &arguments[..] else { return false };
    if first != KILLED {
        return false;
    }
    let own = OwnFolder::make(Path::new(parent)).unwrap_or_else(|error| fail(&error));
    println!("{}", own.name().to_string_lossy());
    let pid = i32::try_from(std::process::id()).unwrap_or(0);
    oscost_sys::process::signal(pid, oscost_sys::process::Signal::Kill).is_ok()
}

/// A folder of this test's, which others remove if it is killed.
fn folder() -> PathBuf {
    let bits = oscost_sys::random::bits().expect("bits");
    let path = std::env::temp_dir().join(format!("oscost-test-{bits:032x}"));
    std::fs::create_dir(&path).expect("a folder");
    path
}

fn names(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).expect("our own").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Waits until somebody has removed what is in a folder.
fn is_emptied(path: &Path) -> bool {
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !names(path).is_empty() && std::time::Instant::now() < patience {
        std::thread::yield_now();
    }
    std::fs::remove_dir(path).is_ok()
}

fn supervisor() -> Supervisor {
    Supervisor::new(Arc::default()).unwrap_or_else(|error| fail(&error.to_string()))
}

/// A command of the caller's is run where he is, with his environment, limits and what he adds, and ended at its deadline.
fn a_command_is_run_as_its_caller_would() {
    let supervisor = supervisor();
    let run = |script: &str, deadline_ns: u64| {
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        let more = BTreeMap::from([("GREETING".to_owned(), "hello".to_owned())]);
        run_command(&supervisor, command, more, 1000, deadline_ns).expect("it is run")
    };
    let script = "echo $HOME; pwd -P; ulimit -S -c; ulimit -H -c; echo $GREETING; readlink /proc/self/ns/ipc";
    let own = std::process::Command::new("sh").args(["-c", script]).env("GREETING", "hello").output();
    let said = run(&format!("{script}; exit 3"), 60_000_000_000);
    assert_eq!(said.stdout, String::from_utf8_lossy(&own.expect("a shell").stdout));
    assert_eq!((said.code, run("sleep 60", 100_000_000).timed_out), (Some(3), true));
}

fn a_folder_of_ones_own_goes_with_who_made_it() {
    let parent = folder();
    let own = OwnFolder::make(&parent).unwrap_or_else(|error| fail(&error));
    assert_eq!(names(&parent), [own.name().to_string_lossy()]);
    std::fs::write(parent.join(own.name()).join("file"), "x").expect("our own");
    drop(own);
    assert_eq!(names(&parent), [""; 0]);
    assert!(OwnFolder::make(&parent.join("none")).is_err());
    let program = std::env::current_exe().expect("this program");
    let killed = Command::new(program).arg(KILLED).arg(&parent).output().expect("it starts");
    let said = String::from_utf8_lossy(&killed.stdout).into_owned();
    assert!(killed.status.code().is_none() && said.starts_with("oscost-"), "{said} {killed:?}");
    assert!(is_emptied(&parent), "its janitor removes it");
}

/// In a folder of the user's, from which a janitor removes what a worker leaves.
fn files_of_a_run_lie_where_they_are_to_and_go_with_it() {
    let parent = folder();
    // As a run left it that was killed with its janitor.
    let dead = parent.join(format!("oscost-{:032x}", oscost_sys::random::bits().expect("bits")));
    std::fs::create_dir(&dead).expect("a folder");
    let place = Place::open(&parent).unwrap_or_else(|error| fail(&error));
    let supervisor =
        Supervisor::with_files(Arc::default(), place).unwrap_or_else(|error| fail(&error.to_string()));
    assert!(!dead.exists(), "its lock is free");
    let measured = measure(&supervisor, &choices(&["files"]), &[], &options(), &mut |_| {});
    let left = names(&parent);
    for (id, is_left) in [("files/tidy", false), ("files/left", true)] {
        let figure = figure(&measured, id);
        assert_eq!(figure.status, Status::Measured, "{figure:?}");
        let named: Vec<&String> = figure.remarks.iter().filter(|it| it.starts_with("oscost-")).collect();
        assert!(
            !named.is_empty() && named.iter().all(|name| left.contains(name) == is_left),
            "{left:?} {named:?}"
        );
    }
    drop(supervisor);
    assert!(is_emptied(&parent), "all of its processes have ended");
}

fn one_benchmark_is_audited_without_launches() {
    let cpu = options().cpus[0];
    let of = |id: &str| apart::audit(&supervisor(), id, cpu, 100, 1000);
    let audited = of("known/calls_10").unwrap_or_else(|error| fail(&error));
    if let Some(missing) = audited.missing {
        return println!("SKIP one_benchmark_is_audited_without_launches: {missing}");
    }
    assert_eq!(audited.system_calls, BTreeMap::from([("getppid".to_owned(), 10.0)]));
    assert_eq!((audited.claims[0].holds, audited.calls_in_turn), (Some(true), Some(10.0)));
    assert_eq!(of("no/such"), Err("set-up: this program has no benchmark 'no/such'".to_owned()));
    assert_eq!(of("set_up/unsupported"), Err("no such thing".to_owned()));
    // The same in a process of its own, which is fit for nothing else then.
    let find = |id: &str| bad::ALL.iter().find(|it| it.card().id == id).copied().expect("it is there");
    let alone = |id: &str| {
        let catalogue = Catalogue::new(vec![find(id)]);
        let benchmark = catalogue.all()[0];
        let mut keeper = oscost_harness::Keeper::in_private_namespaces();
        let cpus = [cpu];
        let mut cx = oscost_harness::SetUp {
            cpu,
            partner_cpu: cpu,
            cpus: &cpus,
            host_system_v_limits: None,
            keeper: &mut keeper,
            directory: None,
        };
        audit(benchmark, &mut cx)
    };
    let counts = |id: &'static str, is_right: fn(Result<oscost_harness::Audited, String>) -> bool| {
        let child = oscost_sys::process::Child::fork(|| i32::from(!is_right(alone(id))));
        assert_eq!(child.expect("fork").wait().expect("it ends").code, Some(0), "{id}");
    };
    counts("known/calls_40", |it| it.is_ok_and(|it| it.system_calls.get("getppid") == Some(&40.0)));
    counts("set_up/unsupported", |it| it == Err("unsupported: no such thing (get one)".to_owned()));
    counts("fails/always", |it| it.is_err_and(|why| why.starts_with("audit: read failed")));
}

fn one_benchmark_is_set_up_in_this_process() {
    let cpu = *options().cpus.last().expect("CPUs");
    let set_up = |benchmark: &'static str, cpu: usize| {
        let found = bad::ALL.iter().find(|it| it.card().id == benchmark).expect("it is there");
        // It is pinned there for good.
        let alone = || match apart::set_up(*found, cpu) {
            Ok(Subject::Batched(mut batched)) => {
                batched.batch(1).expect("it works");
                Ok(oscost_harness::allowed_cpus().expect("CPUs"))
            }
            Ok(Subject::Series(_)) => Ok(Vec::new()),
            Err(Unable::Unsupported { why, .. }) => Err(why),
            Err(Unable::Failed(error)) => Err(error.to_string()),
        };
        std::thread::scope(|scope| scope.spawn(alone).join().expect("it ends"))
    };
    assert_eq!(set_up("known/calls_10", cpu), Ok(vec![cpu]));
    assert_eq!(set_up("series/ticks", cpu), Ok(Vec::new()));
    assert_eq!(set_up("set_up/unsupported", cpu), Err("no such thing".to_owned()));
    assert!(set_up("known/calls_10", usize::MAX).is_err_and(|why| why.starts_with("sched_setaffinity")));
}

/// Workers and janitors are this program, and end with a code of their own.
fn who_is_started_by_hand_says_what_is_missing() {
    let program = std::env::current_exe().expect("this program");
    let started = |arguments: &[&str]| {
        let by_hand =
            Command::new(&program).args(arguments).stdin(Stdio::null()).output().expect("it starts");
        (by_hand.status.code(), String::from_utf8_lossy(&by_hand.stderr).trim_end().to_owned())
    };
    let told = |words: &str| (Some(1), format!("oscost worker: {words}"));
    assert_eq!(started(&["__worker"]), told("no supervisor given: workers are started by oscost"));
    assert_eq!(started(&["__worker", "x"]), told("the supervisor is no number"));
    let own = std::process::id().to_string();
    let missing = told("no progress descriptor given: workers are started by oscost");
    assert_eq!(started(&["__worker", &own]), missing);
    assert_eq!(started(&["__janitor"]), (Some(0), String::new()));
}
