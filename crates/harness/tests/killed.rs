//! Who is killed at one of the calls that begin a run without namespaces, or that make a folder of its own, leaves nothing; nor
//! does who is refused one of them.
//!
//! strace kills this program, which is its own worker and janitor, or lets its call fail: in a user namespace in which no further
//! one is to be had, with a /dev/shm in which there is nothing else.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout)] // it is its own test harness

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use oscost_harness::{Catalogue, OwnFolder, Supervisor, serve_if_asked};

/// First arguments by which this program begins a run, or makes a folder of its own, and ends.
const BEGIN: &str = "__begin";
const OWN_FOLDER: &str = "__own_folder";
/// Between two of these nothing changes that others see.
const CHANGING: [&str; 14] = [
    "clone",
    "clone3",
    "fcntl",
    "flock",
    "linkat",
    "memfd_create",
    "mkdirat",
    "openat",
    "openat2",
    "pipe2",
    "recvfrom",
    "socketpair",
    "unlinkat",
    "write",
];
/// Where it is killed, or fails. $1 is the folder that must be empty in the end, $2 who is killed with the leader, the rest how the
/// program is started. Code 99: there is no such place here.
const GROUND: &str = r#"mount -t tmpfs none /dev/shm || exit 99
for kind in user ipc mnt pid; do echo 0 > /proc/sys/user/max_${kind}_namespaces || exit 99; done
folder=$1; who=$2; shift 2
if [ "$who" = everybody ]; then
    # It stands still at its call.
    "$@" & sleep 0.5
    kill -KILL -1
    # Who is dying has its lock still: all but this shell, the first process, must be gone.
    dying() { for it in /proc/[0-9]*; do [ $it = /proc/1 ] || { read -r _ _ state _ <$it/stat && [ "$state" != Z ] && return; }; done; false; }
    while dying; do sleep 0.01; done 2>/dev/null
    "$PROGRAM" $AGAIN || exit 98
else
    "$@"; code=$?
fi
for try in $(seq 600); do [ -z "$(ls -A $folder)" ] && exit $code; sleep 0.1; done
ls -A "$folder" | sed 's/^/LEFT /'"#;

/// A path that no other run of these tests has. It is short, as the trace is searched for it, and strace shows 32 letters of an
/// argument.
fn own_path(of: &str) -> PathBuf {
    let bits = oscost_sys::random::bits().expect("bits");
    std::env::temp_dir().join(format!("oscost-test-{of}-{:08x}", bits >> 96))
}

/// What is begun: the words that begin it, and the folder in which it leaves nothing.
struct Beginning {
    words: Vec<String>,
    folder: String,
}

struct Ended {
    code: Option<i32>,
    said: String,
}

impl Beginning {
    /// Starts it with the help of strace, which is told `how`.
    fn under(&self, how: &[String], who: &str) -> Ended {
        let program = std::env::current_exe().expect("this program");
        let done = Command::new("unshare")
            .args(["-U", "-r", "-m", "-i", "-p", "-f", "--mount-proc", "--kill-child"])
            .args(["sh", "-c", GROUND, "sh", &self.folder, who, "strace", "-qq"])
            .args(how)
            .arg("--")
            .arg(&program)
            .args(&self.words)
            .env("PROGRAM", &program)
            .env("AGAIN", self.words.join(" "))
            .output()
            .expect("unshare");
        let said = [done.stdout, done.stderr].concat();
        Ended { code: done.status.code(), said: String::from_utf8_lossy(&said).into_owned() }
    }

    /// The calls that change something, from the first on that names the folder: each with the how manieth of its name it is.
    fn calls(&self) -> Option<Vec<(String, u32)>> {
        let trace = own_path("trace");
        let traced = self.under(&["-o".into(), trace.display().to_string()], "nobody");
        let text = std::fs::read_to_string(&trace).unwrap_or_default();
        let _ = std::fs::remove_file(&trace);
        // What is begun says nothing, unless it fails, and does not end with these codes.
        let is_refused = ["unshare: ", "strace: "].iter().any(|who| traced.said.starts_with(who));
        if matches!(traced.code, Some(99 | 127)) || (traced.code == Some(1) && is_refused) {
            println!("SKIP killed: no strace, or no user namespace to be refused more in: {}", traced.said);
            return None;
        }
        assert_eq!(traced.code, Some(0), "{:?}: {}", self.words, traced.said);
        let mut times = BTreeMap::<&str, u32>::new();
        let mut calls = Vec::new();
        let mut has_begun = false;
        for line in text.lines() {
            let Some((name, _)) = line.split_once('(') else { continue };
            let when = times.entry(name).or_default();
            *when += 1;
            has_begun |= line.contains(&format!("\"{}\"", self.folder));
            if has_begun && CHANGING.contains(&name) {
                calls.push((name.to_owned(), *when));
            }
        }
        assert!(calls.len() > 15, "{text}");
        Some(calls)
    }

    fn leaves_nothing(&self) {
        let Some(calls) = self.calls() else { return };
        let mut killed = 0;
        for (call, when) in &calls {
            let only = format!("trace={call}");
            let inject = |what: &str| {
                let inject = format!("inject={call}:{what}:when={when}");
                ["-o", "/dev/null", "-e", &only, "-e", &inject].map(str::to_owned).to_vec()
            };
            for (what, who) in
                [("signal=KILL", "leader"), ("signal=STOP", "everybody"), ("error=ENOSPC", "nobody")]
            {
                let ended = self.under(&inject(what), who);
                assert!(!ended.said.contains("LEFT"), "{who}: {what} at {call} {when}: {}", ended.said);
                assert_ne!(ended.code, Some(98), "the next start: {call} {when}: {}", ended.said);
                killed += u32::from(who == "leader" && ended.code == Some(137));
            }
        }
        assert!(killed as usize * 4 >= calls.len() * 3, "{killed} of {} were killed", calls.len());
    }
}

fn a_beginning_that_is_killed_or_refused_leaves_nothing() {
    Beginning { words: vec![BEGIN.into()], folder: "/dev/shm".into() }.leaves_nothing();
}

fn a_folder_of_ones_own_goes_with_whoever_is_killed() {
    let folder = own_path("own");
    std::fs::create_dir(&folder).expect("a folder");
    let path = folder.display().to_string();
    Beginning { words: vec![OWN_FOLDER.into(), path.clone()], folder: path }.leaves_nothing();
    std::fs::remove_dir(&folder).expect("an empty folder");
}

/// Makes a folder, and has another program write into it, which goes on for a while.
fn own_folder(parent: &Path) -> Result<(), String> {
    let own = OwnFolder::make(parent)?;
    let file = parent.join(own.name()).join("late");
    let script = "echo early > \"$0.early\"; sleep 0.2; echo late > \"$0\"";
    let status = Command::new("sh").args(["-c", script]).arg(file).status();
    status.map(|_| ()).map_err(|error| error.to_string())
}

/// What is begun tells why it cannot be.
fn ended(begun: Result<(), String>) -> ExitCode {
    if let Err(error) = &begun {
        println!("it does not begin: {error}");
    }
    u8::from(begun.is_err()).into()
}

fn main() -> ExitCode {
    if let Some(code) = serve_if_asked(&|| Catalogue::new(Vec::new())) {
        return code.into();
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some(BEGIN) => {
            return ended(Supervisor::new(Arc::default()).map(drop).map_err(|error| error.to_string()));
        }
        Some(OWN_FOLDER) => return ended(own_folder(Path::new(&arguments[1]))),
        _ => {}
    }
    let tests: [(&str, fn()); 2] = [
        (
            "a_beginning_that_is_killed_or_refused_leaves_nothing",
            a_beginning_that_is_killed_or_refused_leaves_nothing,
        ),
        (
            "a_folder_of_ones_own_goes_with_whoever_is_killed",
            a_folder_of_ones_own_goes_with_whoever_is_killed,
        ),
    ];
    if arguments.iter().any(|word| word == "--list") {
        tests.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    if !arguments.iter().any(|word| word == "--ignored" || word == "--include-ignored") {
        println!("longer, because it kills: cargo test -p oscost-harness --test killed -- --ignored");
        return ExitCode::SUCCESS;
    }
    let wanted = |name: &str| {
        let mut filters = arguments.iter().filter(|word| !word.starts_with('-')).peekable();
        filters.peek().is_none() || filters.any(|filter| name.contains(filter.as_str()))
    };
    let (mut passed, mut failed) = (0, 0);
    for (name, test) in tests.into_iter().filter(|(name, _)| wanted(name)) {
        let ok = std::panic::catch_unwind(test).is_ok();
        *(if ok { &mut passed } else { &mut failed }) += 1;
        println!("test {name} ... {}", if ok { "ok" } else { "FAILED" });
    }
    let all = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {all}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out");
    u8::from(failed > 0).into()
}
