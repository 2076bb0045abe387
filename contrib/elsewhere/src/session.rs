//! A session of document 002: what a client keeps, how it tells its server, and the form in which all values are written.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

/// First argument of a client, which the server starts.
pub const CLIENT: &str = "__client";
/// Values that a client collects, and those of them that do not count, as in the document.
pub const VALUES: usize = 1100;
pub const DISCARD: usize = 100;
/// How long the server sleeps between two sendings, ms.
pub const TICK_MS: u64 = 10;
/// The first line of what is written.
const HEAD: &str = "oscost elsewhere 1";

/// One message as a client had it: its number, and ns from its stamp to its reader.
pub struct Value {
    pub sequence: u64,
    pub latency_ns: u64,
}

/// All values of a session.
pub struct Session {
    /// The system, as it calls itself.
    pub system: String,
    /// By which way messages go.
    pub way: &'static str,
    /// What the priority was, or that it was refused.
    pub priority: String,
    /// Messages that the system refused to take.
    pub refused: u64,
    /// Values of each client, the first ones left out.
    pub clients: Vec<Vec<Value>>,
}

impl Session {
    /// Writes the values for `oscost reproduce grame --with elsewhere=FILE`, and the document's summary for people.
    pub fn tell(&self) -> Result<(), String> {
        let mut text = format!(
            "{HEAD}\nsystem {}\nway {}\npriority {}\nrefused {}\nclients {}\n",
            self.system,
            self.way,
            self.priority,
            self.refused,
            self.clients.len()
        );
        for (client, values) in self.clients.iter().enumerate() {
            for value in values {
                text += &format!("{client} {} {}\n", value.sequence, value.latency_ns);
            }
            let of = |pick: fn(&[u64]) -> Option<u64>| {
                let all: Vec<u64> = values.iter().map(|value| value.latency_ns).collect();
                pick(&all).unwrap_or(0) as f64 / 1e3
            };
            eprintln!(
                "client {client}: total msg received: {}, min time: {:.1} us, max time: {:.1} us, average: {:.1} us",
                values.len(),
                of(|all| all.iter().min().copied()),
                of(|all| all.iter().max().copied()),
                of(|all| Some(all.iter().sum::<u64>() / (all.len() as u64).max(1)))
            );
        }
        std::io::stdout().write_all(text.as_bytes()).map_err(|error| error.to_string())
    }
}

/// A client's process, seen by its server. Its standard input stays open as long as the server lives.
pub struct Client {
    child: Child,
    told: BufReader<ChildStdout>,
}

impl Client {
    /// Starts this program as a client with these arguments; it says one line when it is ready, which is returned.
    pub fn start(arguments: &[&str]) -> Result<(Self, String), String> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut child = Command::new(own)
            .arg(CLIENT)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("a client: {error}"))?;
        let told = child.stdout.take().ok_or("a client without an output")?;
        let mut client = Self { child, told: BufReader::new(told) };
        let ready = client.line()?.ok_or("a client ended before it was ready")?;
        Ok((client, ready))
    }

    fn line(&mut self) -> Result<Option<String>, String> {
        let mut line = String::new();
        match self.told.read_line(&mut line) {
            Ok(0) => Ok(None),
            Ok(_) => Ok(Some(line.trim().to_owned())),
            Err(error) => Err(format!("a client: {error}")),
        }
    }

    /// What it kept, when it is through.
    pub fn values(mut self) -> Result<Vec<Value>, String> {
        let mut values = Vec::new();
        while let Some(line) = self.line()? {
            let numbers = line.split_once(' ').and_then(|(sequence, latency)| {
                Some(Value { sequence: sequence.parse().ok()?, latency_ns: latency.parse().ok()? })
            });
            values.push(numbers.ok_or_else(|| format!("a client said '{line}'"))?);
        }
        match self.child.wait() {
            Ok(status) if status.success() => Ok(values),
            Ok(status) => Err(format!("a client ended with {status}")),
            Err(error) => Err(format!("a client: {error}")),
        }
    }
}

/// Ends this client when its server is gone.
pub fn die_with_server() {
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(1);
    });
}

/// Tells the server that this client is ready, and under which name it is reached.
pub fn say_ready(name: &str) -> Result<(), String> {
    let mut out = std::io::stdout();
    writeln!(out, "{name}").and_then(|()| out.flush()).map_err(|error| error.to_string())
}

/// Tells the server what counts of the values.
pub fn say_values(values: &[Value]) -> Result<(), String> {
    let counted = values.iter().skip(DISCARD);
    let text: String = counted.map(|value| format!("{} {}\n", value.sequence, value.latency_ns)).collect();
    std::io::stdout().write_all(text.as_bytes()).map_err(|error| error.to_string())
}
