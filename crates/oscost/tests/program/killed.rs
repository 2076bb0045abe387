//! Who is killed alone, or with everybody, at one of the calls by which a tick server begins, or while the documents' programs
//! are compiled: nothing is left.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use crate::support::{Done, Home, PROGRAM, finished, one_at_a_time, skip, within};

/// Between two of these nothing changes that others see.
const CHANGING: &str = "bind clone clone3 fcntl flock listen memfd_create mkdirat openat openat2 pipe2 socket unlinkat \
    write";
/// A PID namespace in which everybody can be killed at once. $1 is the folder to meet in, $2 who is killed with the server, the
/// rest how the server is started.
const GROUND: &str = r#"folder=$1; who=$2; shift 2
if [ "$who" = everybody ]; then
    # It stands still at its call.
    "$@" & sleep 0.5
    kill -KILL -1
    "$PROGRAM" tick server --policy other --directory "$folder" & server=$!
    # A socket may be that of the dead: only a client that is served shows that the next server is there.
    served=98
    for try in $(seq 1200); do
        "$PROGRAM" tick client --policy other --directory "$folder" --values 2 && { served=0; break; }
        sleep 0.05
    done
    [ $served = 0 ] || exit $served
    wait $server
else
    "$@"; code=$?
fi
for try in $(seq 600); do [ -e "$folder" ] || exit $code; sleep 0.1; done
echo "LEFT $(ls -A "$folder")""#;

/// The one call whose failure must leave a name: the next start removes it.
const REMOVING: &str = "unlinkat";

/// A tick server under strace, which is told `how`.
fn server(home: &Home, how: &[&str], who: &str) -> Done {
    let folder = home.path().join("meet");
    let mut command = home.other("unshare");
    command
        .args(["-U", "-r", "-m", "-p", "-f", "--mount-proc", "--kill-child", "sh", "-c", GROUND, "sh"])
        .arg(&folder)
        .args([who, "strace", "-qq"])
        .args(how)
        .args(["--", PROGRAM, "tick", "server", "--policy", "other", "--directory"])
        .arg(&folder)
        .env("PROGRAM", PROGRAM);
    finished(&mut command)
}

/// Nobody tidies up behind a server whose keeper is to be handed a descriptor.
const NO_KEEPER: [&str; 2] = ["-e", "inject=fcntl:error=EPERM"];

/// The calls by which a tick server begins, each with the how manieth of its name it is; none if they cannot be seen here.
fn calls_of_the_start(home: &Home, how: &[&str]) -> Vec<(&'static str, u32)> {
    let trace = home.path().join("trace");
    let last = ["-o", trace.to_str().expect("text"), "-e", "inject=bind:signal=KILL:when=2"];
    server(home, &[&last[..], how].concat(), "server");
    // Without a keeper its folder stays.
    let _ = fs::remove_dir_all(home.path().join("meet"));
    let text = fs::read_to_string(&trace).unwrap_or_default();
    if !text.contains("\nbind(") {
        return Vec::new();
    }
    let mut times = BTreeMap::<&str, u32>::new();
    let mut calls = Vec::new();
    for line in text.lines() {
        let Some((name, _)) = line.split_once('(') else { continue };
        let when = times.entry(name).or_default();
        *when += 1;
        // Before it looks at the folder's parent it has not begun.
        let Some(name) = CHANGING.split(' ').find(|it| *it == name) else { continue };
        if !calls.is_empty() || line.contains("O_DIRECTORY") {
            calls.push((name, *when));
        }
    }
    calls
}

#[test]
#[ignore = "longer: it kills"]
fn a_server_that_is_killed_at_any_call_of_its_start_leaves_nothing() {
    let home = Home::new();
    let calls = calls_of_the_start(&home, &[]);
    if calls.is_empty() {
        return skip("no strace, or no user namespace");
    }
    let mut killed = 0;
    for (call, when) in &calls {
        for (signal, who) in [("KILL", "server"), ("STOP", "everybody")] {
            let only = format!("trace={call}");
            let inject = format!("inject={call}:signal={signal}:when={when}");
            let done = server(&home, &["-o", "/dev/null", "-e", &only, "-e", &inject], who);
            let told = format!("{who} at {call} {when}: {done:?}");
            assert!(!done.stdout.contains("LEFT") && !home.path().join("meet").exists(), "{told}");
            assert_ne!(done.code, Some(98), "the next server does not serve: {told}");
            killed += usize::from(who == "server" && done.code == Some(137));
        }
    }
    assert!(calls.len() > 15 && killed * 4 >= calls.len() * 3, "{killed} of {calls:?}");
}

/// One more call fails, or a signal tells it to end there.
#[test]
#[ignore = "longer: it kills"]
fn a_server_without_a_keeper_that_fails_or_is_told_to_end_leaves_nothing() {
    let home = Home::new();
    let calls = calls_of_the_start(&home, &NO_KEEPER);
    if calls.is_empty() {
        return skip("no strace, or no user namespace");
    }
    // Its folder cannot be listed either.
    let how = ["pipe2:error=EMFILE", "getdents64:error=EACCES", "listen:signal=TERM"]
        .map(|it| format!("inject={it}"));
    let how: Vec<&str> = how.iter().flat_map(|it| ["-e", it.as_str()]).chain(["-o", "/dev/null"]).collect();
    let done = server(&home, &how, "server");
    assert!(
        !home.path().join("meet").exists() && done.code == Some(143),
        "its folder cannot be listed: {done:?}"
    );
    let mut ended = [0, 0];
    for (call, when) in calls.iter().filter(|(call, _)| !["fcntl", REMOVING].contains(call)) {
        for (index, what) in ["error=EPERM", "signal=TERM"].into_iter().enumerate() {
            let inject = format!("inject={call}:{what}:when={when}");
            // One that goes on after an error is told to end at its second socket; none goes on without a socket. A second signal
            // would end it at once.
            let goes_on = index == 0 && *call != "bind";
            let last = if goes_on { "inject=bind:signal=TERM:when=2" } else { &inject };
            let how = ["-o", "/dev/null", "-e", &inject, "-e", last];
            let done = server(&home, &[&how[..], &NO_KEEPER].concat(), "server");
            let told = format!("{what} at {call} {when}: {done:?}");
            assert!(!done.stdout.contains("LEFT") && !home.path().join("meet").exists(), "{told}");
            ended[index] += usize::from(matches!(done.code, Some(5 | 143)));
        }
    }
    assert!(ended.iter().all(|it| it * 2 >= calls.len()), "{ended:?} of {calls:?}");
}

#[test]
#[ignore = "longer: it kills"]
fn programs_that_are_being_compiled_go_with_whoever_is_killed() {
    let _lock = one_at_a_time();
    let home = Home::new();
    let (place, tools) = (home.path().join("tmp"), home.path().join("bin"));
    for folder in [&place, &tools] {
        fs::create_dir(folder).expect("a folder");
    }
    fs::write(home.path().join("system_call_1.c"), "int main(void) { return 0; }\n").expect("a program");
    // What it started writes when it is dead, and goes on in a session of its own.
    let script =
        "#!/bin/sh\n(sleep 0.5; : > \"$TMPDIR/late\") &\nsetsid sleep 100 & echo $! > \"$HOME/pid\"\nwait\n";
    fs::write(tools.join("cc"), script).expect("a compiler");
    fs::set_permissions(tools.join("cc"), fs::Permissions::from_mode(0o755)).expect("its mode");
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = home.command(&["reproduce", "ostep", "--quick", "--force", "--c", "."]);
    let mut child = command.env("PATH", path).env("TMPDIR", &place).spawn().expect("it starts");
    let names = || fs::read_dir(&place).expect("a folder").count();
    let pid = || fs::read_to_string(home.path().join("pid")).unwrap_or_default().trim().to_owned();
    let begun = within(60, || names() > 0 && !pid().is_empty());
    child.kill().expect("a kill");
    child.wait().expect("it ends");
    assert!(begun, "no folder for programs");
    // Who has ended and is not waited for has no command line any more.
    let goes_on = || fs::read(format!("/proc/{}/cmdline", pid())).is_ok_and(|words| !words.is_empty());
    assert!(within(60, || !goes_on()), "what the compiler started goes on");
    assert!(within(60, || names() == 0), "the folder stays");
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(names(), 0, "it came again");
}
