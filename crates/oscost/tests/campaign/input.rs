//! input: a result file cut at every byte, with zeros from there, and with every bit flipped, and hostile text where the program reads. Everything is
//! refused with a reason.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Amount, Outcome, program, state};

/// A result file as the program makes it.
fn a_result(home: &Path) -> Option<Vec<u8>> {
    let done = asked(home, &["run", "--force", "--quiet", "--one-launch", "syscall/getppid", "--json", "-"]);
    Some(done.1).filter(|bytes| oscost_results::from_bytes(bytes).is_ok())
}

/// Exit code, standard output, standard error.
fn asked(home: &Path, arguments: &[&str]) -> (Option<i32>, Vec<u8>, String) {
    // Nothing here may take long; what does is ended with code 124.
    let done = Command::new("timeout")
        .args(["-k", "1", "30", program::BUILT])
        .args(arguments)
        .env("HOME", home)
        .env("XDG_STATE_HOME", home)
        .current_dir(home)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (done.status.code(), done.stdout, String::from_utf8_lossy(&done.stderr).into_owned())
}

pub fn run(amount: Amount) -> Outcome {
    state::once(&state::keys(&["input"])[0], || alone(amount))
}

fn alone(amount: Amount) -> Outcome {
    let mut outcome = Outcome::default();
    let home = tempfile::tempdir().unwrap();
    let Some(good) = a_result(home.path()) else {
        return outcome.failed("no result to damage");
    };
    // In this process: starting the program for each would take hours.
    let step = if amount.full { 1 } else { 13 };
    let mut refused = |bytes: &[u8], what: &dyn Fn() -> String, name: &str| {
        outcome.count(name, 1);
        if oscost_results::from_bytes(bytes).is_ok() {
            outcome.fail(format!("accepted: {}", what()));
        }
    };
    // The last line end alone carries nothing.
    for length in (0..good.len() - 1).step_by(step) {
        refused(&good[..length], &|| format!("cut at {length}"), "results cut");
    }
    // A loss of power may leave the length of a file without its bytes.
    let mut bytes = good.clone();
    for length in (0..good.len() - 1).rev().step_by(step) {
        bytes[length..].fill(0);
        refused(&bytes, &|| format!("zeros from {length}"), "results with a zeroed end");
    }
    bytes.copy_from_slice(&good);
    for bit in (0..(good.len() - 1) * 8).step_by(step) {
        bytes[bit / 8] ^= 1 << (bit % 8);
        refused(&bytes, &|| format!("bit {bit} flipped"), "results with a flipped bit");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    let file = home.path().join("damaged.json");
    let name = file.display().to_string();
    for sample in 0..20 {
        let length = good.len() * sample / 20;
        std::fs::write(&file, &good[..length]).unwrap();
        for arguments in [&["report", &name][..], &["compare", &name, &name]] {
            let (code, _, said) = asked(home.path(), arguments);
            outcome.count("damaged files given to a command", 1);
            if code != Some(2) || said.trim().is_empty() || said.contains("panicked") {
                outcome.fail(format!("{arguments:?} cut at {length}: {code:?}: {said}"));
            }
        }
    }
    for hostile in HOSTILE {
        for arguments in [
            &["report", hostile][..],
            &["compare", hostile, hostile],
            &["run", "--dry-run", hostile],
            &["list", hostile],
            &["doctor", "--cpu", hostile],
            &["run", "--note", hostile, "no/such/id"],
            &["reproduce", "no-such-document", hostile],
            &["crosscheck", "--with", hostile],
            &["run", "--dry-run", "realtime_ipc", "--set", hostile],
            &["run", "--dry-run", "realtime_ipc", "--set", &format!("transport={hostile}")],
            &["run", "--dry-run", "--cpu", hostile, "syscall/getppid"],
        ] {
            let (code, out, said) = asked(home.path(), arguments);
            outcome.count("hostile arguments", 1);
            let shown = String::from_utf8_lossy(&out).into_owned() + &said;
            if !matches!(code, Some(0 | 2)) || shown.contains("panicked") {
                outcome.fail(format!("{arguments:?}: {code:?}: {said}"));
            }
            if shown.chars().any(|letter| letter != '\n' && (letter.is_control() || is_turning(letter))) {
                outcome.fail(format!("{arguments:?}: control characters reach the terminal"));
            }
        }
    }
    outcome
}

/// Letters that turn the direction of others around.
fn is_turning(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

const HOSTILE: &[&str] = &[
    "",
    "-",
    "--",
    "@",
    "@-0",
    "@-99999999999999999999",
    "@all\u{1b}[31m",
    "\u{1b}]0;title\u{7}",
    "\u{202e}gnp.exe",
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "../../../../etc/passwd",
    "/dev/zero",
    "/dev/full",
    "/proc/self/mem",
    "\u{feff}",
    "0x10",
    "1e999",
    "-1",
    "18446744073709551616",
    "a\nb",
    "****************************",
];
