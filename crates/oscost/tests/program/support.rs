//! Gives each test its own home directory, and runs the program in it.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{OnceLock, mpsc};
use std::time::{Duration, Instant};

use oscost_results::RunResult;
use tempfile::TempDir;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_oscost");
/// Nothing that a test waits for takes this long, on a loaded machine either.
const SILENCE: Duration = Duration::from_secs(300);

/// Where the program keeps its results in a test.
pub struct Home {
    directory: TempDir,
}

/// How the program ended, and what it said.
#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

#[track_caller]
fn has(done: &Done, stream: &str, words: &str, wanted: bool) {
    assert_eq!(stream.contains(words), wanted, "{words:?}: {done:?}");
}

/// Each fails unless it is so.
impl Done {
    /// The program ended with `code` and said `words` on standard error.
    #[track_caller]
    pub fn refused(&self, code: i32, words: &str) -> &Self {
        self.omits("panicked").omits("internal error");
        self.ends(code).says(words)
    }

    #[track_caller]
    pub fn ends(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// All went well.
    #[track_caller]
    pub fn well(&self) -> &Self {
        self.ends(0)
    }

    /// On standard output stands this.
    #[track_caller]
    pub fn shows(&self, words: &str) -> &Self {
        has(self, &self.stdout, words, true);
        self
    }

    /// On standard output this does not stand.
    #[track_caller]
    pub fn hides(&self, words: &str) -> &Self {
        has(self, &self.stdout, words, false);
        self
    }

    /// On standard error stands this.
    #[track_caller]
    pub fn says(&self, words: &str) -> &Self {
        has(self, &self.stderr, words, true);
        self
    }

    /// On standard error this does not stand.
    #[track_caller]
    pub fn omits(&self, words: &str) -> &Self {
        has(self, &self.stderr, words, false);
        self
    }
}

/// What the folders of tests begin with; the number of their process follows.
const LEFT: &str = "oscost-test-";

/// Tests that were ended in the middle leave their folders: the next ones remove them.
fn remove_what_the_dead_left() {
    for entry in std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let of =
            name.to_str().and_then(|name| name.strip_prefix(LEFT)?.split('-').next()?.parse::<u32>().ok());
        if of.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            std::fs::remove_dir_all(entry.path()).ok();
        }
    }
}

impl Home {
    pub fn new() -> Self {
        // Whoever started the tests may ignore what ends their children (nohup, a shell's background).
        oscost_sys::process::default_endings();
        static EMPTIED: OnceLock<()> = OnceLock::new();
        EMPTIED.get_or_init(remove_what_the_dead_left);
        let made = tempfile::Builder::new().prefix(&format!("{LEFT}{}-", std::process::id())).tempdir();
        Self { directory: made.expect("a temporary directory") }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn runs(&self) -> PathBuf {
        self.path().join("state/oscost/runs")
    }

    /// `program` in the environment of this home, and in no other.
    pub fn other(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path())
            .env("XDG_STATE_HOME", self.path().join("state"))
            .env("LC_ALL", "C.UTF-8")
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.other(PROGRAM);
        command.args(arguments);
        command
    }

    /// Does something that measures nothing.
    pub fn ask(&self, arguments: &[&str]) -> Done {
        finished(&mut self.command(arguments))
    }

    /// Measures: one test at a time, and after any other run on this machine.
    pub fn measure(&self, arguments: &[&str]) -> Done {
        measured(&mut self.command(arguments))
    }

    /// The stored results, the newest last.
    pub fn stored(&self) -> Vec<RunResult> {
        let store = oscost_results::Store::at(self.runs());
        let paths = store.runs().expect("the store can be read");
        paths.iter().map(|path| oscost_results::load(path).expect("a stored result is good")).collect()
    }

    /// Names of the files in the store that are no results.
    pub fn leftovers(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.runs()).expect("the store can be read");
        let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
        // What is remembered of the machine stays.
        names.filter(|name| !name.ends_with(".json") && name != "core.constants").collect()
    }
}

pub fn finished(command: &mut Command) -> Done {
    command.output().expect("the program can be started").into()
}

/// Held while one test measures. The tests of one program run in threads, those of several in processes.
pub fn one_at_a_time() -> File {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("measuring.lock");
    let file = File::create(path).expect("a lock file");
    file.lock().expect("a lock");
    file
}

/// Repeats a measurement until no other work disturbs it.
pub fn measured(command: &mut Command) -> Done {
    let _lock = one_at_a_time();
    let patience = Instant::now() + Duration::from_secs(300);
    loop {
        let done = finished(command);
        // On a terminal there is one stream.
        let is_said = |stream: &str| stream.contains("another run is measuring");
        if !(is_said(&done.stderr) || is_said(&done.stdout)) || Instant::now() > patience {
            return done;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Looks every few ms until it holds, for so many seconds at most; whether it did.
pub fn within(seconds: u64, mut holds: impl FnMut() -> bool) -> bool {
    let patience = Instant::now() + Duration::from_secs(seconds);
    loop {
        let held = holds();
        if held || Instant::now() > patience {
            return held;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// How many processes have a command line that fits; its words end with NUL.
pub fn processes(fits: impl Fn(&str) -> bool) -> usize {
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| fits(&String::from_utf8_lossy(line))).count()
}

/// A run that is going on.
pub struct Running {
    pub child: Child,
    said: String,
}

impl Running {
    /// What has been started.
    pub fn of(child: Child) -> Self {
        Self { child, said: String::new() }
    }

    /// Starts `command`, which must say what it does (`-v`), and waits until it says `words`.
    pub fn until(command: &mut Command, words: &str) -> Self {
        let patience = Instant::now() + Duration::from_secs(300);
        loop {
            let child = command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the program can be started");
            let mut running = Self::of(child);
            if running.hears(words) {
                return running;
            }
            let code = running.child.wait().expect("it ends").code();
            let busy = running.said.contains("another run is measuring");
            assert!(
                busy && Instant::now() < patience,
                "ended with {code:?} before {words:?}: {}",
                running.said
            );
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Reads what it says until it has said `words`; false where it ends before. Whoever is silent too long is killed: a test
    /// that waits for ever would end the gate without a word.
    pub fn hears(&mut self, words: &str) -> bool {
        let (heard, waits) = mpsc::channel::<()>();
        let pid = self.child.id().to_string();
        let guard = std::thread::spawn(move || {
            let silent = waits.recv_timeout(SILENCE) == Err(mpsc::RecvTimeoutError::Timeout);
            silent && Command::new("kill").args(["-KILL", &pid]).status().is_ok_and(|status| status.success())
        });
        let stderr = self.child.stderr.as_mut().expect("a pipe");
        let mut byte = [0];
        while !self.said.contains(words) && stderr.read(&mut byte).expect("readable") != 0 {
            self.said.push(char::from(byte[0]));
        }
        drop(heard);
        let silent = guard.join().expect("it ends");
        assert!(!silent, "{words:?} was not said within {SILENCE:?}: {}", self.said);
        self.said.contains(words)
    }

    pub fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args([&format!("-{signal}"), &pid]).status().expect("kill");
        assert!(status.success());
    }

    /// Waits for its end; what it says after the words that were waited for.
    pub fn end(self) -> Done {
        self.child.wait_with_output().expect("it ends").into()
    }
}

/// Whether this is root: some bad machines only root can make.
pub fn is_root() -> bool {
    oscost_sys::identity::effective_uid() == 0
}

/// Prints why the test that calls it proves nothing here.
pub fn skip(why: &str) {
    println!("SKIP {}: {why}", std::thread::current().name().unwrap_or("a test"));
}
