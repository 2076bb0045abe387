//! Load `load_command=`: runs the user's shell command, and restarts it when all its processes have ended.

use std::process::Stdio;

use oscost_sys::{program, reaper};

use super::Round;

/// Nothing to make: what the command lacks it says itself.
pub fn prepare(command: &'static str) -> Round {
    Box::new(move || {
        let mut shell = program::command("sh").map_err(|error| format!("sh cannot be started: {error}"))?;
        shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let output = shell.spawn().map_err(|error| format!("sh cannot be started: {error}"))?;
        let said = first_line(output)?;
        // What it left in the background is part of it: else each round would leave more.
        reaper::wait_for_all().map_err(|error| error.to_string())?;
        match said {
            Ended { ok: true, .. } => Ok(()),
            Ended { how, line, .. } if line.is_empty() => Err(format!("the command ended with {how}")),
            Ended { how, line, .. } => Err(format!("the command ended with {how}: {line}")),
        }
    })
}

struct Ended {
    ok: bool,
    how: String,
    line: String,
}

/// Waits for the shell; the beginning of the first line that it complained with.
fn first_line(mut shell: std::process::Child) -> Result<Ended, String> {
    use std::io::Read;
    let mut text = Vec::new();
    if let Some(stderr) = shell.stderr.take() {
        let mut stderr = std::io::BufReader::new(stderr);
        // Read to its end, so that nobody waits for room; kept is the beginning.
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stderr.read(&mut buffer) {
            let room = 200usize.saturating_sub(text.len());
            text.extend_from_slice(&buffer[..count.min(room)]);
        }
    }
    let status = shell.wait().map_err(|error| format!("the command was lost: {error}"))?;
    let line = String::from_utf8_lossy(&text).lines().next().unwrap_or_default().trim().to_owned();
    Ok(Ended { ok: status.success(), how: status.to_string().replace("exit status:", "exit code"), line })
}
