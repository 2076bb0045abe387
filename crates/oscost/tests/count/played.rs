//! A simulated guest: a script replaces qemu and writes what a test wants to the machine's serial lines.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use oscost_count::frame;
use oscost_count::message::{CountOutcome, CountRow, Hello, InstructionCounts, Said};

pub const ID: &str = "syscall/getppid";

/// A folder with a false qemu and a false kernel, and a home.
pub struct Stage(tempfile::TempDir);

/// What every false qemu does first: it finds its lines, and says who it is.
const HEAD: &str = "#!/bin/sh
kernel= line= console=
for word in \"$@\"; do
  case \"$word\" in
    --version) echo 'QEMU emulator version 0.0.1 (played)'; exit 0;;
    file,id=line,path=*) line=${word#*path=};;
    file,id=console,path=*) console=${word#*path=};;
    /*/bzImage) kernel=$word;;
  esac
done
echo $$ >\"${0%/*}/pid\"
";

/// What it does at the end: as a machine that goes on running.
pub const GOES_ON: &str = "exec /bin/sleep 1000";

impl Stage {
    /// With this script as qemu; none: there is no qemu.
    pub fn new(qemu: Option<&str>) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let stage = Self(tempfile::tempdir().expect("a folder"));
        std::fs::write(stage.kernel(), false_kernel()).expect("written");
        if let Some(body) = qemu {
            let path = stage.path("qemu-system-x86_64");
            std::fs::write(&path, format!("{HEAD}{body}\n")).expect("written");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("ours");
        }
        stage
    }

    /// Whose guests say what lies in the file `said` beside their kernel.
    pub fn playing() -> Self {
        Self::new(Some(&format!("/bin/cat \"${{kernel%/*}}/said\" >$line\n{GOES_ON}")))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn kernel(&self) -> PathBuf {
        self.path("bzImage")
    }

    /// How many results are in its store.
    pub fn stored(&self) -> usize {
        let store = oscost_results::Store::at(self.path("state/oscost/runs"));
        store.runs().expect("the store can be read").len()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        oscost_sys::process::default_endings();
        let mut command = Command::new(env!("CARGO_BIN_EXE_oscost"));
        command
            .args(arguments)
            .current_dir(self.0.path())
            .env("PATH", self.0.path())
            .env("XDG_STATE_HOME", self.path("state"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("it was built")
    }

    /// Counts the id on the false kernel.
    pub fn count(&self, more: &[&str]) -> Output {
        self.run(&[&["count", ID, "--kernel", "bzImage"], more].concat())
    }

    /// Starts it, and waits until its qemu runs. The caller waits for it.
    #[expect(clippy::zombie_processes)]
    pub fn start(&self, more: &[&str]) -> (Child, u32) {
        let arguments = [&["count", ID, "--kernel", "bzImage"], more].concat();
        let child = self.command(&arguments).spawn().expect("it was built");
        let begun = Instant::now();
        loop {
            let pid = std::fs::read_to_string(self.path("pid")).unwrap_or_default();
            if let Ok(pid) = pid.trim().parse() {
                return (child, pid);
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "no qemu was started");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Whether a process has ended; one that nobody waits for is no longer there either.
pub fn has_ended(pid: u32) -> bool {
    let begun = Instant::now();
    let lives = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
    };
    while lives() {
        if begun.elapsed() > Duration::from_secs(60) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// An image that passes for a kernel of x86_64.
pub fn false_kernel() -> Vec<u8> {
    let mut bytes = vec![0; 0x4000];
    bytes[0x1fe..0x200].copy_from_slice(&[0x55, 0xaa]);
    bytes[0x202..0x206].copy_from_slice(b"HdrS");
    bytes[0x236] = 1;
    bytes
}

/// Everything that a guest says whose operation takes so many instructions.
pub fn words(instructions: u64) -> Vec<u8> {
    let batch = |iterations: u64| iterations * instructions + 18;
    let counts = InstructionCounts {
        ones: vec![batch(1); 64],
        twos: vec![batch(2); 8],
        fours: vec![batch(4); 8],
        ..InstructionCounts::default()
    };
    let machine = oscost_results::Machine { architecture: "x86_64".to_owned(), ..Default::default() };
    let tool = oscost_results::Tool { build_id: build(), ..Default::default() };
    let hello = Hello { tool, machine, conditions: Default::default() };
    let row = CountRow { id: ID.to_owned(), outcome: CountOutcome::Counted(counts), audited: None };
    let other = CountRow {
        id: "syscall/invalid".to_owned(),
        outcome: CountOutcome::Failed("it is played".to_owned()),
        audited: None,
    };
    let all = [Said::Hello(Box::new(hello)), Said::Row(Box::new(row)), Said::Row(Box::new(other)), Said::End];
    all.iter().flat_map(|said| frame::wrap(&serde_json::to_vec(said).expect("data"))).collect()
}

/// The build of the program, which is that of the guest's.
fn build() -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_oscost")).arg("--version").output().expect("it was built");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let build = said.lines().find_map(|line| line.strip_prefix("build ")).expect("a line of it");
    build.to_owned()
}

/// Puts the words of a guest into the folder of its kernel.
pub fn say(folder: &Path, instructions: u64) {
    std::fs::write(folder.join("said"), words(instructions)).expect("written");
}
