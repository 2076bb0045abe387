//! One run at a time on a machine.

use std::collections::BTreeSet;

use crate::support::{Home, PROGRAM, Running, finished, is_root, measured, one_at_a_time, skip, within};

#[test]
#[ignore = "longer: it repeats"]
fn a_second_run_is_refused_or_marked() {
    let _lock = one_at_a_time();
    let home = Home::new();
    let first = Running::until(&mut home.command(&["run", "--thorough", "-v", "instrument"]), "launch 1 of");
    home.ask(&["run", "--quick", "instrument/empty_loop"]).refused(5, "another run is measuring");
    let words = format!("(process {})", first.child.id());
    home.ask(&["run", "--quick", "instrument/empty_loop"]).refused(5, &words);
    if is_root() {
        let mut another = home.other("setpriv");
        another.args(["--reuid=65534", "--regid=65534", "--clear-groups", PROGRAM, "run", "syscall/getppid"]);
        finished(&mut another).refused(5, "another run is measuring");
    }
    let other = Home::new();
    let forced = finished(&mut other.command(&["run", "--quick", "--force", "instrument/empty_loop"]));
    assert!(forced.well().stdout.contains("--force"), "the table says it: {forced:?}");
    assert!(other.stored()[0].warnings.iter().any(|warning| warning.contains("--force")));
    // What measures nothing is not refused.
    home.ask(&["list"]).well();
    first.signal("INT");
    assert_eq!(first.end().code, Some(130));
    // And the lock goes with its holder.
    assert!(within(60, || home.ask(&["run", "--quick", "instrument/empty_loop"]).code == Some(0)));
}

/// Names and keys of what a run makes that others could find. Each is random.
fn made(home: &Home) -> Option<BTreeSet<String>> {
    let trace = home.path().join("trace");
    let mut command = home.other("strace");
    let only = "trace=semget,msgget,mq_open,openat,openat2,mkdirat,mknodat,bind";
    command.args(["-f", "-qq", "-s", "256", "-e", only, "-o"]).arg(&trace).args(["--", PROGRAM]);
    let objects = ["semaphore/system_v", "semaphore/posix_named", "lock/system_v_message"];
    let queues = ["context_switch/posix_queue/same_cpu", "record_lock/fcntl"];
    let sockets = ["realtime_ipc/unix_datagram/same_cpu/clients_1", "realtime_ipc/fifo/same_cpu/clients_1"];
    let ran =
        measured(command.args(["run", "--quiet", "--one-launch"]).args(objects).args(queues).args(sockets));
    if !matches!(ran.code, Some(0 | 3)) {
        println!("{ran:?}");
        return None;
    }
    let text = std::fs::read_to_string(&trace).expect("a trace");
    let mut names = BTreeSet::new();
    let mut kinds = BTreeSet::new();
    let makes = ["O_CREAT", "IPC_CREAT", " mkdirat(", " mknodat(", " bind("];
    for line in text.lines().filter(|line| makes.iter().any(|word| line.contains(word))) {
        let Some((before, arguments)) = line.split_once('(') else { continue };
        let call = before.rsplit(' ').next().unwrap_or_default();
        let first = arguments.split(',').next().unwrap_or_default();
        if call.ends_with("get") && first.starts_with("0x") {
            names.insert(format!("{call} {first}"));
            kinds.insert(call);
        } else if let Some((_, name)) = arguments.split_once("oscost-") {
            let word: String = name.chars().take_while(char::is_ascii_alphanumeric).collect();
            let is_random = word.len() == 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(is_random, "{line}");
            names.insert(word);
            kinds.insert(call);
        }
    }
    let all = ["mq_open", "msgget", "semget"];
    assert!(all.iter().all(|call| kinds.contains(call)) && kinds.len() > all.len(), "{kinds:?}");
    Some(names)
}

#[test]
#[ignore = "longer: it repeats"]
fn no_two_runs_share_a_name() {
    let home = Home::new();
    if home.other("strace").arg("-V").output().is_err() {
        return skip("strace is not installed");
    }
    let (Some(one), Some(other)) = (made(&home), made(&home)) else {
        return skip("nothing can be measured under strace here");
    };
    let both: Vec<_> = one.intersection(&other).collect();
    assert!(both.is_empty() && !one.is_empty(), "{both:?}");
}
