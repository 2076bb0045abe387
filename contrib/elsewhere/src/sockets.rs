//! Document 002 on macOS and Linux: a server sends a datagram to the local socket of each client.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::time::Duration;

use crate::session::{
    Client, DISCARD, Session, TICK_MS, VALUES, Value, die_with_server, say_ready, say_values,
};
use crate::unix;

/// A folder for the sockets, which goes with the session.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn words(error: std::io::Error) -> String {
    error.to_string()
}

/// A session of so many clients: their processes, and this one as the server.
pub fn run(clients: usize) -> Result<Session, String> {
    let folder = Folder(std::env::temp_dir().join(format!("oscost-elsewhere-{}", std::process::id())));
    DirBuilder::new().mode(0o700).create(&folder.0).map_err(words)?;
    // The server only sends, so that nobody needs its name.
    let socket = UnixDatagram::unbound().map_err(words)?;
    socket.set_nonblocking(true).map_err(words)?;
    let mut started = Vec::new();
    // The document's list has the newest client first.
    for client in 0..clients {
        let path = folder.0.join(client.to_string());
        let name = path.to_str().ok_or("a folder for temporary files whose name is no text")?;
        let (client, _) = Client::start(&[name, "-"])?;
        started.insert(0, (client, path));
    }
    let priority = unix::real_time(0);
    let mut refused = 0;
    for sequence in 0..VALUES as u64 {
        let mut message = [0; 16];
        message[..8].copy_from_slice(&sequence.to_ne_bytes());
        message[8..].copy_from_slice(&unix::gettimeofday_us().to_ne_bytes());
        for (_, path) in &started {
            refused += u64::from(socket.send_to(&message, path).is_err());
        }
        std::thread::sleep(Duration::from_millis(TICK_MS));
    }
    // An empty message ends a client.
    for (_, path) in &started {
        let _ = socket.send_to(&[], path);
    }
    let values = started.into_iter().rev().map(|(client, _)| client.values());
    Ok(Session {
        system: unix::system(),
        way: "sockets",
        priority,
        refused,
        clients: values.collect::<Result<_, _>>()?,
    })
}

/// A client at this path: reads until the server ends it.
pub fn attend(own: &str, _: &str) -> Result<(), String> {
    die_with_server();
    let socket = UnixDatagram::bind(own).map_err(words)?;
    let mut values: Vec<Value> = Vec::with_capacity(VALUES);
    unix::real_time(1);
    say_ready(own)?;
    let mut message = [0; 16];
    while socket.recv(&mut message).map_err(words)? == message.len() {
        let end = unix::gettimeofday_us();
        let (sequence, stamp) = message.split_at(8);
        let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_ne_bytes);
        if values.len() < VALUES {
            values.push(Value {
                sequence: number(sequence),
                latency_ns: end.saturating_sub(number(stamp)) * 1000,
            });
        }
    }
    if values.len() <= DISCARD {
        return Err(format!("a client got {} messages", values.len()));
    }
    say_values(&values)
}
