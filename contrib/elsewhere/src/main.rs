//! The programs of documents 002, 003 and 004 for systems on which oscost measures nothing.

#[cfg(unix)]
mod calls;
#[cfg(windows)]
mod messages;
mod session;
#[cfg(unix)]
mod sockets;
#[cfg(unix)]
mod switches;
#[cfg(unix)]
mod unix;

use std::process::ExitCode;

const USAGE: &str = "\
usage: elsewhere messages [CLIENTS]...    document 002 on Windows: PostThreadMessage
       elsewhere sockets [CLIENTS]...     document 002 on macOS and Linux: local datagram sockets
       elsewhere call                     document 003 on macOS and Linux: getpid
       elsewhere switch                   document 004 on macOS and Linux: gettimeofday, read, switches
CLIENTS are numbers from 1 to 10; by default 1 and 5. Each session takes 11 s and more.
The values go to standard output: oscost reproduce grame --with elsewhere=FILE shows them.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        #[cfg(windows)]
        ["messages", counts @ ..] => sessions(counts, messages::run),
        #[cfg(windows)]
        [session::CLIENT] => messages::attend(),
        #[cfg(unix)]
        ["sockets", counts @ ..] => sessions(counts, sockets::run),
        #[cfg(unix)]
        [session::CLIENT, own, server] => sockets::attend(own, server),
        #[cfg(unix)]
        ["call"] => calls::run(),
        #[cfg(unix)]
        ["switch"] => switches::run(),
        #[cfg(not(windows))]
        ["messages", ..] => Err("messages are of Windows".to_owned()),
        #[cfg(not(unix))]
        ["sockets" | "call" | "switch", ..] => Err("this is of macOS and Linux".to_owned()),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// A session of each number of clients, written to standard output.
fn sessions(counts: &[&str], run: fn(usize) -> Result<session::Session, String>) -> Result<(), String> {
    let counts = if counts.is_empty() { &["1", "5"] } else { counts };
    for count in counts {
        let clients = count.parse().ok().filter(|clients| (1..=10).contains(clients));
        let clients = clients.ok_or_else(|| format!("'{count}' is no number from 1 to 10\n{USAGE}"))?;
        run(clients)?.tell()?;
    }
    Ok(())
}
