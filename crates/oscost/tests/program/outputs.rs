//! What the program writes, for whom, and where it does not: full disks, folders and links of others, pipes whose other side
//! does nothing. As the user of the tests and, where that is root, under sudo and as an unprivileged user.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, chown, lchown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{
    Done, Home, PROGRAM, Running, finished, is_root, measured, one_at_a_time, skip, within,
};

const ONE: [&str; 4] = ["run", "--one-launch", "--quiet", "instrument/empty_loop"];
const SESSION: [&str; 4] = ["run", "--one-launch", "--quiet", "realtime_ipc/pipe/same_cpu/clients_1"];
/// Somebody who is nobody else here.
const NOBODY: u32 = 65534;
const THIRD: u32 = 4711;

/// By whom the program is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    Own,
    Sudo,
    User,
}

/// Everybody who can be had here, each with a home.
fn everybody() -> Vec<(Who, Home)> {
    if !is_root() {
        skip("sudo and another user: only root can become one");
        return vec![(Who::Own, Home::new())];
    }
    let homes = [Who::Own, Who::Sudo, Who::User].map(|who| (who, Home::new()));
    for (who, home) in &homes[1..] {
        chown(home.path(), Some(NOBODY), Some(NOBODY)).expect("chown");
        assert!(
            *who == Who::Sudo || who.ask(home, &["--version"]).code == Some(0),
            "{PROGRAM} can be reached"
        );
    }
    homes.into()
}

impl Who {
    /// `program` in the environment of this home.
    fn other(self, home: &Home, program: &str) -> Command {
        match self {
            Self::Own => home.other(program),
            Self::Sudo => {
                let mut command = home.other(program);
                let id = NOBODY.to_string();
                command.envs([("SUDO_UID", id.as_str()), ("SUDO_GID", id.as_str()), ("HOME", "/root")]);
                command
            }
            Self::User => {
                let mut command = home.other("setpriv");
                command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--", program]);
                command
            }
        }
    }

    fn command(self, home: &Home, arguments: &[&str]) -> Command {
        let mut command = self.other(home, PROGRAM);
        command.args(arguments);
        command
    }

    fn ask(self, home: &Home, arguments: &[&str]) -> Done {
        finished(&mut self.command(home, arguments))
    }

    fn measure(self, home: &Home, arguments: &[&str]) -> Done {
        measured(&mut self.command(home, arguments))
    }

    /// Makes what the user of the home made.
    fn owns(self, path: &Path) {
        if self != Self::Own {
            lchown(path, Some(NOBODY), Some(NOBODY)).expect("lchown");
        }
    }

    /// To whom a new file belongs.
    fn uid(self) -> u32 {
        if self == Self::Own { oscost_sys::identity::effective_uid() } else { NOBODY }
    }
}

fn fifo(who: Who, path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
    who.owns(path);
}

/// A result that is not stored: the same code and words whatever the reason is, said even quietly.
#[test]
#[ignore = "longer: it waits"]
fn a_result_that_is_not_stored_is_said_even_quietly() {
    for (who, home) in everybody() {
        let folder = home.path().join("state/oscost");
        fs::create_dir_all(&folder).unwrap();
        who.owns(&home.path().join("state"));
        who.owns(&folder);
        let runs = home.runs();
        let refused = |what: &str, words: &str| {
            let done = who.measure(&home, &ONE);
            done.refused(4, "the result was not stored");
            assert!(done.stderr.contains(words), "{who:?}, {what}: {done:?}");
            assert!(done.stdout.contains("empty_loop"), "shown all the same: {who:?}, {what}: {done:?}");
            let json = who.measure(&home, &[&ONE[..], &["--json", "r.json"]].concat());
            json.refused(4, "the result was not stored");
            assert!(oscost_results::load(&home.path().join("r.json")).is_ok(), "{who:?}, {what}: {json:?}");
        };
        fs::write(&runs, "a file").unwrap();
        refused("a file", "Not a directory");
        fs::remove_file(&runs).unwrap();
        fifo(who, &runs);
        refused("a pipe", "Not a directory");
        fs::remove_file(&runs).unwrap();
        symlink("/no/such/folder", &runs).unwrap();
        who.owns(&runs);
        refused("a link to nothing", if who == Who::Sudo { "is not followed" } else { "No such file" });
        assert!(!Path::new("/no").exists());
        fs::remove_file(&runs).unwrap();
        if is_root() {
            fs::create_dir(&runs).unwrap();
            chown(&runs, Some(THIRD), None).unwrap();
            fs::set_permissions(&runs, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
            refused("another user's", "belongs to user 4711");
        }
        // Who says so wants nothing to be kept.
        let done = measured(who.command(&home, &ONE).env("XDG_STATE_HOME", "/dev/null"));
        assert_eq!(done.well().stderr, "", "{who:?}");
    }
}

/// Runs in a mount namespace with a full file system of 64 KiB on `full`, in which `old` was made before.
pub fn on_a_full_disk(who: Who, home: &Home, old: &str, arguments: &[&str], look: &str) -> Done {
    let script = format!(
        "mount -t tmpfs -o size=64k,mode=1777 oscost-test full && cd full && {old} && cd .. && \
         {{ dd if=/dev/zero of=full/filler bs=4k 2>/dev/null || :; }}; \
         \"$@\" >out; code=$?; {look}; find full -name '.*' -o -name '*.tmp' | wc -l; exit $code"
    );
    let command = who.command(home, arguments);
    let mut inside = home.other("unshare");
    inside.args(["-m", "sh", "-c", &script, "sh"]).arg(command.get_program()).args(command.get_args());
    let variables = command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    inside.envs(variables.collect::<Vec<_>>());
    let _ = fs::create_dir(home.path().join("full"));
    finished(&mut inside)
}

#[test]
#[ignore = "longer: it waits"]
fn a_full_disk_costs_no_old_sample() {
    if !is_root() {
        return skip("a small file system needs root");
    }
    for (who, home) in everybody() {
        let _lock = one_at_a_time();
        let raw = [&ONE[..], &["--force", "--raw", "full/r.csv"]].concat();
        let done = on_a_full_disk(who, &home, "printf old >r.csv; chmod 666 r.csv", &raw, "cat full/r.csv");
        done.refused(4, "full/r.csv");
        assert_eq!(done.stdout, "old0\n", "the old file, and nothing beside it: {who:?}: {done:?}");
        let raw_dir = [&SESSION[..], &["--force", "--set", "raw_dir=full/d"]].concat();
        let tasks = "d/pipe/same_cpu/1-tasks";
        let old = format!("mkdir -p {tasks} && printf old >{tasks}/1.out && chmod -R 777 d");
        let done = on_a_full_disk(who, &home, &old, &raw_dir, &format!("cat full/{tasks}/*"));
        done.refused(4, "No space left");
        assert_eq!(done.stdout, "old0\n", "{who:?}: {done:?}");
    }
}

#[test]
fn what_is_written_belongs_to_who_wanted_it() {
    for (who, home) in everybody() {
        let all = ["--set", "raw_dir=a/dir", "--raw", "raw.csv", "--json", "r.json"];
        who.measure(&home, &[&SESSION[..], &all].concat()).well();
        let tasks = "a/dir/pipe/same_cpu/1-tasks";
        let files =
            ["a", "a/dir", tasks, &format!("{tasks}/1.out"), &format!("{tasks}/1.sum"), "raw.csv", "r.json"];
        for name in files.map(|name| home.path().join(name)).into_iter().chain([home.runs()]) {
            assert_eq!(fs::metadata(&name).unwrap().uid(), who.uid(), "{who:?}: {}", name.display());
        }
        assert!(
            fs::read_to_string(home.path().join("raw.csv")).unwrap().starts_with("id,launch,round,value\n")
        );
    }
}

#[test]
fn a_file_of_another_that_cannot_be_replaced_is_told_before_anything_is_measured() {
    if !is_root() {
        return skip("only root can make files of others");
    }
    for (who, home) in everybody().into_iter().filter(|(who, _)| *who == Who::User) {
        // As /tmp is.
        let (folder, file) = (home.path().join("sticky"), home.path().join("sticky/r.json"));
        fs::create_dir(&folder).unwrap();
        fs::write(&file, "old").unwrap();
        chown(&file, Some(THIRD), None).unwrap();
        for (path, mode) in [(&folder, 0o1777), (&file, 0o666)] {
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        }
        for output in ["--json", "--raw", "-o"] {
            let done = who.ask(&home, &[&ONE[..], &[output, "sticky/r.json"]].concat());
            done.refused(4, "the file is user 4711's, and only its owner may replace it");
            assert!(!home.runs().exists(), "nothing was measured: {output}");
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        // In a folder where everybody may rename everything it can.
        fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        who.measure(&home, &[&ONE[..], &["--json", "sticky/r.json"]].concat()).well();
        assert!(oscost_results::load(&file).is_ok());
    }
}

#[test]
#[ignore = "longer: it waits"]
fn no_link_of_another_leads_an_output_away() {
    if !is_root() {
        return skip("only root can make links of others");
    }
    let victims = tempfile::tempdir().unwrap();
    let victim = victims.path().join("victim");
    for (who, home) in everybody() {
        let tasks = home.path().join("dir/pipe/same_cpu/1-tasks");
        fs::create_dir_all(&tasks).unwrap();
        for folder in tasks.ancestors().take_while(|folder| *folder != home.path()) {
            who.owns(folder);
        }
        // Root meets links of a third user, and who acts for a user those of that user, too.
        let other = if who == Who::Sudo { NOBODY } else { THIRD };
        for link in [home.path().join("out"), tasks.join("1.out")] {
            symlink(&victim, &link).unwrap();
            lchown(&link, Some(other), None).unwrap();
        }
        who.ask(&home, &ONE);
        let tried = [
            [&ONE[..], &["--json", "out"]].concat(),
            [&ONE[..], &["--raw", "out"]].concat(),
            [&ONE[..], &["-o", "out"]].concat(),
            [&SESSION[..], &["--set", "raw_dir=dir"]].concat(),
        ];
        for arguments in tried {
            fs::write(&victim, "old").unwrap();
            who.measure(&home, &arguments)
                .refused(4, &format!("the symbolic link of user {other} is not followed"));
            assert_eq!(fs::read_to_string(&victim).unwrap(), "old", "{who:?}: {arguments:?}");
        }
        who.measure(&home, &ONE).well();
        who.ask(&home, &["report", "@-1", "-o", "out"]).refused(4, "is not followed");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "old", "{who:?}");
    }
}

#[test]
#[ignore = "longer: it waits"]
fn pipes_whose_other_side_does_nothing_are_given_up() {
    for (who, home) in everybody() {
        fifo(who, &home.path().join("pipe"));
        who.measure(&home, &ONE).well();
        for option in ["--json", "--raw", "-o"] {
            let run = [&ONE[..], &["--force", option, "pipe"]].concat();
            who.ask(&home, &run).refused(4, "nobody has read from it");
        }
        who.ask(&home, &["report", "@-1", "-o", "pipe"]).refused(4, "nobody has read from it");
        who.ask(&home, &["report", "pipe"]).refused(2, "nobody has written to it");
        who.ask(&home, &["compare", "pipe", "pipe"]).refused(2, "nobody has written to it");
        fifo(who, &home.runs().join("9999-11-20T23-14-05Z-9f2c41d0a1b2c3d4.json"));
        fifo(who, &home.runs().join("2026-11-20T23-14-05Z-9f2c41d0a1b2c3d4.journal"));
        symlink("/dev/zero", home.runs().join("9999-11-20T23-14-06Z-9f2c41d0a1b2c3d4.json")).unwrap();
        let constants = home.runs().join("core.constants");
        let _ = fs::remove_file(&constants);
        fifo(who, &constants);
        who.ask(&home, &[&ONE[..], &["--force"]].concat()).well();
        for format in ["text", "csv"] {
            let all = who.ask(&home, &["report", "@all", "--format", format]);
            assert_eq!(all.well().stderr.matches("not a file").count(), 2, "{who:?}: {all:?}");
            assert!(all.stdout.contains("empty_loop"), "the others are shown: {who:?}: {all:?}");
        }
        who.ask(&home, &["report", "@-2"]).refused(2, "not a file");
    }
}

/// More than a pipe holds, and nobody reads it.
fn unread(home: &Home, who: Who, more: &[&str]) -> Command {
    let mut command = who.command(home, &["run", "--json", "-", "-v", "--force"]);
    command.args(more).args(["syscall", "semaphore/posix_named", "semaphore/system_v"]);
    command
}

#[test]
#[ignore = "longer: it waits"]
fn the_first_signal_ends_a_program_that_nobody_reads() {
    for (who, home) in everybody() {
        let _lock = one_at_a_time();
        // While it measures: the result is saved, and then shown to nobody.
        let files = |name: &'static str| ["--raw", name, "-o", "list.txt"];
        let long = [&["--thorough"][..], &files("long.csv")].concat();
        let running = Running::until(&mut unread(&home, who, &long), "launch 2 of");
        ended(running, &home, who, 1);
        // While it shows what it measured.
        let short = [&["--one-launch"][..], &files("short.csv")].concat();
        let running = Running::until(&mut unread(&home, who, &short), "launch 1 of");
        assert!(within(300, || home.stored().len() == 2), "{who:?}: nothing is stored");
        std::thread::sleep(Duration::from_millis(300));
        ended(running, &home, who, 2);
        for file in ["long.csv", "short.csv", "list.txt"] {
            let written = fs::metadata(home.path().join(file)).is_ok_and(|it| it.len() > 0);
            assert!(written, "{who:?}: {file} was named, and waits for a reader of standard output");
        }
    }
}

/// Sends one signal; the program ends by it, although its output is full, and what it measured is stored.
fn ended(mut running: Running, home: &Home, who: Who, stored: usize) {
    assert!(running.child.try_wait().expect("its state").is_none(), "{who:?}: it should wait for a reader");
    running.signal("INT");
    if !within(60, || running.child.try_wait().expect("its state").is_some()) {
        running.child.kill().expect("it runs");
        panic!("{who:?}: it outlives the first signal");
    }
    assert_eq!(running.child.wait().expect("it ended").code(), Some(130), "{who:?}");
    assert_eq!(home.stored().len(), stored, "{who:?}");
    assert_eq!(home.leftovers(), Vec::<String>::new());
}

/// What is measured and stored may still be on its way into other files. A signal ends the wait for a pipe, and costs no other file.
#[test]
fn a_signal_costs_no_file_that_is_being_written() {
    let home = Home::new();
    let path = home.path().join("pipe");
    fifo(Who::Own, &path);
    let both = fs::File::options().read(true).write(true).open(&path).unwrap();
    let holds = rustix::pipe::fcntl_setpipe_size(&both, 1).unwrap();
    let _lock = one_at_a_time();
    let mut command = home.command(&["run", "--one-launch", "-v", "--force", "--json", "pipe"]);
    // A result that is larger than this pipe, and what is written after it.
    command.args(["--raw", "raw.csv", "-o", "list.txt", "syscall", "semaphore/posix_named"]);
    let running = Running::until(&mut command, "launch 1 of");
    let mut pipe = fs::File::open(&path).unwrap();
    let mut result = vec![0; 1];
    pipe.read_exact(&mut result).unwrap();
    drop(both);
    running.signal("INT");
    pipe.read_to_end(&mut result).unwrap();
    let end = running.end();
    match end.code {
        Some(4) => assert!(end.stderr.contains("a signal ended the wait for it"), "{}", end.stderr),
        // It did not wait in that moment.
        code => assert!(code == Some(130) && oscost_results::from_bytes(&result).is_ok(), "{code:?}"),
    }
    assert!(result.len() >= holds, "{} bytes", result.len());
    for file in ["raw.csv", "list.txt"] {
        assert!(fs::metadata(home.path().join(file)).is_ok_and(|it| it.len() > 0), "{file}");
    }
}

/// While a result waits for its reader, others may measure.
#[test]
#[ignore = "longer: it waits"]
fn nobody_has_to_wait_for_a_reader_but_who_writes() {
    let home = Home::new();
    let lock = one_at_a_time();
    let mut command = home.command(&["run", "--json", "-", "-q", "--one-launch"]);
    command.args(["syscall", "semaphore/posix_named"]).stdout(Stdio::piped());
    let mut waiting = command.spawn().unwrap();
    let is_result = |it: fs::DirEntry| it.path().extension().is_some_and(|it| it == "json");
    assert!(within(300, || {
        // Somebody else on this machine is measuring.
        if waiting.try_wait().unwrap().is_some() {
            waiting = command.spawn().unwrap();
        }
        home.runs().read_dir().is_ok_and(|entries| entries.flatten().any(is_result))
    }));
    drop(lock);
    home.measure(&ONE).well();
    assert!(waiting.try_wait().unwrap().is_none(), "it should wait for a reader");
    waiting.kill().unwrap();
    waiting.wait().unwrap();
}

/// What a note of somebody says reaches no terminal and no log as it is, in no way out of JSON.
#[test]
fn json_hides_nothing() {
    let home = Home::new();
    let note = "a\u{9b}31mb\u{202e}c\u{2028}d\u{7f}e\u{ad}f\u{1b}[2Jg";
    let run = [&ONE[..], &["--note", note, "--json"]].concat();
    let out = home.measure(&[&run[..], &["-"]].concat());
    home.measure(&[&run[..], &["r.json"]].concat()).well();
    let file = fs::read_to_string(home.path().join("r.json")).unwrap();
    let stored =
        fs::read_to_string(oscost_results::Store::at(home.runs()).runs().unwrap().remove(0)).unwrap();
    let shown = home.ask(&["report", "r.json", "--format", "json"]);
    let bad = |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{2028}\u{ad}".contains(c));
    for (json, what) in
        [(&out.well().stdout, "-"), (&file, "FILE"), (&stored, "store"), (&shown.well().stdout, "report")]
    {
        assert!(!json.contains(bad), "{what}: {:?}", json.chars().find(|&c| bad(c)));
        let result = oscost_results::from_bytes(json.as_bytes()).unwrap();
        assert_eq!(result.note.as_deref(), Some(note), "{what}: and it is read as it was");
    }
}

#[test]
#[ignore = "longer: it waits"]
fn a_pipe_of_the_shell_takes_and_gives_results() {
    let home = Home::new();
    home.measure(&ONE).well();
    let mut report = home.command(&["report", "/dev/stdin", "--format", "csv"]);
    let mut child =
        report.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let bytes = fs::read(oscost_results::Store::at(home.runs()).runs().unwrap().remove(0)).unwrap();
    let (first, second) = bytes.split_at(100);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(first).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    stdin.write_all(second).unwrap();
    drop(stdin);
    let done: Done = child.wait_with_output().unwrap().into();
    done.well().shows("instrument/empty_loop");
    let written = home.ask(&["report", "@-1", "--format", "csv", "-o", "/dev/stdout"]);
    // Only the name of the file differs, which the last cell but one is.
    let nameless = |text: &str| text.replace(",/dev/stdin,", ",,");
    assert_eq!(written.well().stdout, nameless(&done.stdout));
}

/// On a terminal one line says where the run is. It is no wider than the terminal, and goes.
#[test]
fn the_line_of_a_run_fits_its_terminal_and_goes() {
    let home = Home::new();
    if home.other("script").arg("--version").output().is_err() {
        return skip("no script(1)");
    }
    let script = format!("stty cols 30; exec '{PROGRAM}' run --one-launch syscall/getppid");
    let done = measured(home.other("script").args(["-qec", &script, "/dev/null"]));
    let lines: Vec<&str> = done.stdout.split("\r\x1b[K").skip(1).collect();
    let shown: Vec<&&str> = lines.iter().filter(|line| line.starts_with("measuring")).collect();
    assert_eq!(shown.iter().map(|line| line.len()).max(), Some(29), "{done:?}");
    assert!(lines.last().is_some_and(|line| line.starts_with("oscost ") || line.is_empty()), "{done:?}");
}
