//! Load `start_program`: the largest of some well-known programs is started, ends at once, and is started again.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use super::{Lacking, Round};

/// Programs that are large where they are, and end at once with this argument.
const KNOWN: &[(&str, &str)] = &[
    ("clang", "--version"),
    ("rustc", "--version"),
    ("gdb", "--version"),
    ("node", "--version"),
    ("qemu-system-x86_64", "--version"),
    ("go", "version"),
    ("php", "--version"),
    ("ruby", "--version"),
    ("emacs", "--version"),
    ("vim", "--version"),
    ("cmake", "--version"),
    ("python3", "--version"),
    ("perl", "--version"),
    ("git", "--version"),
    ("gcc", "--version"),
    ("openssl", "version"),
    ("bash", "--version"),
    ("busybox", "--help"),
];

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// Size of its file.
    pub bytes: u64,
    /// What it is started with.
    pub argument: &'static str,
}

/// The largest of the known programs on this machine. Scripts that stand for a program do not count.
#[must_use]
pub fn program() -> Option<&'static Program> {
    static FOUND: LazyLock<Option<Program>> = LazyLock::new(|| {
        let folders = oscost_sys::program::folders();
        let found = KNOWN.iter().filter_map(|&(name, argument)| {
            let path = folders.iter().map(|folder| folder.join(name)).find(|path| is_program(path))?;
            let bytes = std::fs::metadata(&path).ok()?.len();
            Some(Program { path, bytes, argument })
        });
        found.max_by_key(|program| program.bytes)
    });
    FOUND.as_ref()
}

fn is_program(path: &std::path::Path) -> bool {
    use std::io::Read;
    let runs = std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0);
    let mut magic = [0; 4];
    runs && std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
        && magic == *b"\x7fELF"
}

/// Finds the program.
pub fn prepare() -> Result<Round, Lacking> {
    let Some(program) = program() else {
        let names: Vec<&str> = KNOWN.iter().map(|known| known.0).collect();
        return Err(Lacking::new(
            format!("none of the programs that this load starts is here: {}", names.join(", ")),
            "install one of them, or use --set load_command=",
        ));
    };
    Ok(Box::new(move || {
        let status = Command::new(&program.path)
            .arg(program.argument)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", "/nonexistent")
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        // How it ends is its own affair: it was started.
        status.map(drop).map_err(|error| format!("{} cannot be started: {error}", program.path.display()))
    }))
}
