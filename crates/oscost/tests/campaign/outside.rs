//! outside: every path that a run makes, opens for writing, renames, removes or mounts on is one that was named or that SECURITY.md
//! says; and no setting of the kernel is another one afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::program::{self, User};
use crate::scenarios::SCENARIOS;
use crate::space::{self, GROUND};
use crate::{Amount, Outcome, Provocation, crowd};

/// One scenario of the kills, traced to its end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outside {
    scenario: usize,
    user: User,
}

/// Calls that change what a path leads to.
const CALLS: &str = "open,openat,openat2,creat,mkdir,mkdirat,unlink,unlinkat,rmdir,rename,renameat,renameat2,link,linkat,symlink,\
    symlinkat,mknod,mknodat,truncate,chmod,fchmodat,chown,lchown,fchownat,mount,umount2,bind,swapon,setxattr,mq_open,mq_unlink";

/// Where the program may do so, and why; of users' homes and the ground only the names that a scenario gives it.
const ALLOWED: &[&str] = &[
    // The objects of a run, the ledger, and databases, each under a random name.
    "/dev/shm/",
    "/dev/mqueue/",
    // What a worker mounts for itself alone, and where it keeps mounts from spreading.
    "/dev/shm",
    "/dev/mqueue",
    // The sink and the source of what is measured.
    "/dev/null",
    // Who maps himself in a user namespace, and what is said of himself to the kernel.
    "/proc/self/",
    "/proc/thread-self/",
];

/// The same of a scenario alone.
const ALLOWED_THERE: &[(&str, &str)] = &[
    ("trace", "/sys/kernel/tracing/instances/oscost-"),
    // Its programs are compiled there, and each runs over a /tmp, /var/tmp and /proc of its own.
    ("reproduce with C", "/tmp/oscost-"),
    ("reproduce with C", "/tmp"),
    ("reproduce with C", "/var/tmp"),
    ("reproduce with C", "/proc"),
    // A PID namespace has a /proc of its own.
    ("load", "/proc"),
    ("crosscheck", "/proc"),
    ("crosscheck", "/tmp"),
    ("crosscheck", "/var/tmp"),
    // stress-ng does that, with the caller's rights, as SECURITY.md says of peers.
    ("crosscheck", "/sys/kernel/debug/clear_warn_once"),
];
/// Under a tracer it takes minutes, and `reproduce with C` goes the same ways.
const TOO_LONG: &str = "reproduce";
/// They only show.
const READERS: [&str; 2] = ["compare", "doctor"];

/// How many kinds of paths were looked at.
const PATHS: &str = "paths that were made, written or removed";

pub fn run(amount: Amount) -> Outcome {
    let outcome = Outcome::default();
    if !program::is_here("strace") {
        return outcome.skip("paths outside: strace is not installed");
    }
    let root = space::is_root();
    let mut provocations = Vec::new();
    for (scenario, it) in SCENARIOS.iter().enumerate() {
        // Two that have no end, or whose sides are other programs.
        if it.endless
            || it.slow
            || it.name == TOO_LONG
            || it.needs.is_some_and(|needs| !program::is_here(needs))
        {
            continue;
        }
        if !amount.full && !["session", "raw_dir", "report", "janitor"].contains(&it.name) {
            continue;
        }
        let users = [User::Own, User::Nobody].into_iter().filter(|_| root);
        for user in users.filter(|user| it.only.is_none_or(|only| only == *user)) {
            provocations.push(Provocation::Outside(Outside { scenario, user }));
        }
    }
    crowd::sum(crowd::all(&provocations).into_iter().chain([outcome]))
}

impl Outside {
    pub fn carry_out(&self) -> Outcome {
        let mut outcome = Outcome::default();
        let scenario = &SCENARIOS[self.scenario];
        let made = std::process::Command::new("sh").args(["-c", scenario.space]).status();
        if !made.is_ok_and(|status| status.success()) {
            return outcome.skip(format!("paths of {}: no such space can be made here", scenario.name));
        }
        let before = settings();
        let trace = program::home(self.user).join("trace").display().to_string();
        let strace = format!(
            "-f --seccomp-bpf -y -qq -e signal=none -e trace={CALLS} -o {trace} -- {}",
            program::PATH
        );
        let arguments = scenario.arguments;
        let words = if arguments.starts_with("run ") {
            arguments.replace("--quick", "--one-launch")
        } else {
            arguments.to_owned()
        };
        // What comes before the program makes what it names itself.
        let prepare = scenario.prepare.replace("\"$0\" run", "/mnt/oscost run");
        let script = format!("set -- {strace} {words}\n{prepare}\nexec \"$0\" \"$@\"");
        let done = program::run(&mut program::command(self.user, "sh", &["-c", &script, "strace"]));
        if done.code() == Some(99) {
            return outcome.skip(format!("paths of {}: it cannot be made here", scenario.name));
        }
        let what = format!("{}{}", scenario.name, self.user.words());
        // A doctor finds the tracer.
        program::ended_well(&done, &[0, 3, 5], &what, &mut outcome);
        let text = String::from_utf8_lossy(&std::fs::read(&trace).unwrap_or_default()).into_owned();
        let home = program::home(self.user);
        let paths = paths(&text, &home);
        outcome.count(PATHS, paths.len() as u64);
        if paths.is_empty() && !READERS.contains(&scenario.name) {
            outcome.fail(format!("{what}: no path was seen"));
        }
        for (path, call) in paths.iter().filter(|(path, _)| !self.may(path)) {
            outcome.wrong("paths outside", format!("{what}: {call} {}", path.display()));
        }
        let after = settings();
        for (name, was) in &before {
            let is = after.get(name).unwrap_or(&String::new()).clone();
            if *was != is {
                outcome.wrong("settings that changed", format!("{what}: {name} was {was:?} and is {is:?}"));
            }
        }
        outcome.count("settings that were compared", before.len() as u64);
        outcome
    }

    fn may(&self, path: &Path) -> bool {
        let text = path.to_string_lossy();
        let text = text.strip_prefix("/mnt/jail").unwrap_or(&text);
        if ALLOWED
            .iter()
            .any(|allowed| *allowed == text || allowed.ends_with('/') && text.starts_with(allowed))
        {
            return true;
        }
        let name = SCENARIOS[self.scenario].name;
        if ALLOWED_THERE.iter().any(|(scenario, allowed)| {
            *scenario == name && (text == *allowed || allowed.ends_with('-') && text.starts_with(allowed))
        }) {
            return true;
        }
        let home = program::home(self.user);
        Path::new(text).strip_prefix(&home).is_ok_and(|rest| {
            let first = rest.iter().next().and_then(|it| it.to_str()).unwrap_or_default();
            ["state", "raw", "raw.csv", "out.json", "page.html"].contains(&first)
                || first.is_empty()
                || first.starts_with(".oscost-")
        })
    }
}

/// What is changed in a trace, and by which call first.
fn paths(trace: &str, home: &Path) -> BTreeMap<PathBuf, String> {
    let mut paths = BTreeMap::new();
    for line in trace.lines() {
        let Some((_, rest)) = line.split_once(' ') else { continue };
        let Some((call, arguments)) = rest.trim_start().split_once('(') else { continue };
        if !CALLS.split(',').any(|it| it == call) {
            continue;
        }
        if call.starts_with("open")
            && !["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|it| arguments.contains(it))
        {
            continue;
        }
        for path in changed(call, arguments, home) {
            paths.entry(path).or_insert_with(|| call.to_owned());
        }
    }
    paths
}

/// The paths that a call changes.
fn changed(call: &str, arguments: &str, home: &Path) -> Vec<PathBuf> {
    let named = match call {
        // Of addresses only that of a socket in a file system is a path.
        "bind" => match arguments.split_once("sun_path=\"") {
            Some((_, path)) => named(&format!("\"{path}"), home),
            None => Vec::new(),
        },
        "mq_open" | "mq_unlink" => named(arguments, Path::new("/dev/mqueue")),
        _ => named(arguments, home),
    };
    let skip = match call {
        // What is linked or mounted is not changed; of a symbolic link the first is what it says.
        "link" | "linkat" | "symlink" | "symlinkat" | "mount" => 1,
        _ => 0,
    };
    let most = if matches!(call, "rename" | "renameat" | "renameat2") { 2 } else { 1 };
    named.into_iter().skip(skip).take(most).collect()
}

/// The paths among the arguments of a call: texts, each below the folder of the descriptor before it.
fn named(arguments: &str, home: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut base = home.to_owned();
    let mut rest = arguments;
    while let Some(at) = rest.find(['<', '"']) {
        let end = if rest[at..].starts_with('<') { '>' } else { '"' };
        let inner = &rest[at + 1..];
        let Some(length) = inner.find(end) else { break };
        let text = &inner[..length];
        rest = &inner[length + 1..];
        if end == '>' {
            base = PathBuf::from(text);
        } else {
            // join takes an absolute path as it is.
            found.push(if text.is_empty() { base.clone() } else { base.join(text) });
        }
    }
    found
}

/// The settings of the kernel, but for those that are counters.
fn settings() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    below(Path::new("/proc/sys"), &mut found);
    found
}

/// They count, or are drawn anew at each reading.
const COUNTERS: &[&str] = &[
    "/proc/sys/fs/aio-nr",
    "/proc/sys/fs/dentry-state",
    "/proc/sys/fs/file-nr",
    "/proc/sys/fs/inode-nr",
    "/proc/sys/fs/inode-state",
    "/proc/sys/fs/quota",
    "/proc/sys/kernel/ns_last_pid",
    "/proc/sys/kernel/pty/nr",
    "/proc/sys/kernel/random",
    "/proc/sys/kernel/tainted",
    "/proc/sys/net/netfilter/nf_conntrack_count",
];

fn below(folder: &Path, found: &mut BTreeMap<String, String>) {
    let names: BTreeSet<String> = space::names(folder).into_iter().collect();
    for path in names.into_iter().map(|name| folder.join(name)) {
        if COUNTERS.iter().any(|counter| path.starts_with(counter)) {
            continue;
        }
        if path.is_dir() {
            below(&path, found);
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            found.insert(path.display().to_string(), text);
        }
    }
}

/// Whether a changed path is seen in a trace, and one that is only read is not.
pub fn is_sharp() -> Result<(), String> {
    let trace = r#"7 openat(AT_FDCWD</mnt/home>, "read", O_RDONLY) = 3</mnt/home/read>
7 openat(5</etc>, "written", O_WRONLY|O_CREAT <unfinished ...>
8 renameat2(5</a>, "one", 6</b>, "two", 0) = 0
8 linkat(AT_FDCWD</x>, "/proc/self/fd/7", 6</b>, "three", AT_SYMLINK_FOLLOW) = 0
8 mount("none", "/four", "tmpfs", 0, NULL) = 0
8 unlink("five") = -1 ENOENT (No such file or directory)
8 read(5</etc>, "x", 1) = 1
8 bind(5<socket:[7]>, {sa_family=AF_INET, sin_addr=inet_addr("127.0.0.1")}, 16) = 0
8 bind(5<socket:[7]>, {sa_family=AF_UNIX, sun_path="/six"}, 16) = 0
8 bind(5<socket:[7]>, {sa_family=AF_UNIX, sun_path=@"seven"}, 16) = 0
8 mq_unlink("eight") = 0
"#;
    let seen: Vec<PathBuf> = paths(trace, Path::new(GROUND)).into_keys().collect();
    let wanted =
        ["/a/one", "/b/three", "/b/two", "/dev/mqueue/eight", "/etc/written", "/four", "/mnt/five", "/six"];
    let wanted = wanted.map(PathBuf::from);
    if seen == wanted { Ok(()) } else { Err(format!("paths of a trace: {seen:?}")) }
}
