//! Loads that keep the machine busy beside a session: document 002's loads, plain ones, and any command.

mod command;
mod cpu;
mod memory;
mod network;
mod process;
mod start_program;
mod transfer;
mod window;

pub use process::{Busy, Loading};
pub use start_program::program;

/// A load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// A large program is started, ends, and is started again.
    StartProgram,
    /// A megabyte over loopback TCP to a file, again and again.
    Transfer,
    /// The same, each file brought to the disk.
    TransferFsync,
    /// Small datagrams to and fro over loopback.
    Network,
    /// A window is moved and drawn.
    Window,
    /// A loop that never waits.
    Cpu,
    /// Memory is taken, written and given back.
    Memory,
    /// A command for a shell, started again when it and all that it started have ended.
    Command(&'static str),
}

/// One round of a load's work. What goes wrong is said in words.
type Round = Box<dyn FnMut() -> Result<(), String>>;

/// Why a load cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lacking {
    why: String,
    remedy: String,
}

impl Lacking {
    fn new(why: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { why: why.into(), remedy: remedy.into() }
    }
}

impl Load {
    /// Longest command that an id can hold, bytes.
    pub const LONGEST_COMMAND: usize = 200;
    /// All that have a name.
    pub const NAMED: [Self; 7] = [
        Self::StartProgram,
        Self::Transfer,
        Self::TransferFsync,
        Self::Network,
        Self::Window,
        Self::Cpu,
        Self::Memory,
    ];

    /// Its name; a command has the name "command".
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::StartProgram => "start_program",
            Self::Transfer => "transfer",
            Self::TransferFsync => "transfer_fsync",
            Self::Network => "network",
            Self::Window => "window",
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Command(_) => "command",
        }
    }

    /// The load of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|load| load.name() == name)
    }

    /// The load of a command, which lives as long as the program; `None` where it is empty or too long for an id.
    #[must_use]
    pub fn command(text: &str) -> Option<Self> {
        let fits = !text.trim().is_empty() && text.len() <= Self::LONGEST_COMMAND && !text.contains('\0');
        fits.then(|| Self::Command(String::leak(text.to_owned())))
    }

    /// Its part of an id: "transfer", "command_stress-ng%20--cpu%204".
    #[must_use]
    pub fn text(&self) -> String {
        let Self::Command(command) = self else { return self.name().to_owned() };
        let mut text = "command_".to_owned();
        for byte in command.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => text.push(char::from(byte)),
                _ => text.push_str(&format!("%{byte:02X}")),
            }
        }
        text
    }

    /// The load of a part of an id; `None` where it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let Some(encoded) = text.strip_prefix("command_") else { return Self::named(text) };
        let mut bytes = Vec::new();
        let mut rest = encoded.bytes();
        while let Some(byte) = rest.next() {
            bytes.push(match byte {
                b'%' => {
                    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|it| u8::try_from(it).ok());
                    digit(rest.next()?)? * 16 + digit(rest.next()?)?
                }
                other => other,
            });
        }
        let load = Self::command(std::str::from_utf8(&bytes).ok()?)?;
        (load.text() == text).then_some(load)
    }

    /// What it does, in words for the figure.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::StartProgram => match program() {
                Some(program) => format!(
                    "{} ({:.1} MB) is started with {}, ends, and is started again",
                    program.path.display(),
                    program.bytes as f64 / 1e6,
                    program.argument
                ),
                None => "a large program is started again and again".to_owned(),
            },
            Self::Transfer => "1 MB over loopback TCP to an unnamed file, again and again".to_owned(),
            Self::TransferFsync => {
                "1 MB over loopback TCP to an unnamed file, with fsync, again and again".to_owned()
            }
            Self::Network => "datagrams of 1 kB back and forth over loopback".to_owned(),
            Self::Window => "an X11 window is moved and drawn every 2 ms".to_owned(),
            Self::Cpu => "a loop that never waits".to_owned(),
            Self::Memory => "64 MB are mapped, written and unmapped, again and again".to_owned(),
            Self::Command(command) => format!("sh -c '{command}', restarted whenever it ends"),
        }
    }

    /// Makes everything that its rounds need, in the process that will do them.
    fn prepare(self) -> Result<Round, Lacking> {
        match self {
            Self::StartProgram => start_program::prepare(),
            Self::Transfer => transfer::prepare(false),
            Self::TransferFsync => transfer::prepare(true),
            Self::Network => network::prepare(),
            Self::Window => window::prepare(),
            Self::Cpu => Ok(cpu::prepare()),
            Self::Memory => Ok(memory::prepare()),
            Self::Command(command) => Ok(command::prepare(command)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        let command = Load::command("stress-ng --cpu 4 > /dev/null; echo 'ü'").expect("a command");
        assert!(command.text().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._%".contains(&byte)));
        for load in Load::NAMED.into_iter().chain([command]) {
            assert_eq!(Load::parse(&load.text()), Some(load));
        }
    }

    #[test]
    fn what_is_no_load_is_none() {
        for text in
            ["", "pigeon", "command", "command_", "command_%", "command_%2", "command_a/b", "command_%61"]
        {
            assert_eq!(Load::parse(text), None, "{text}");
        }
        assert_eq!(Load::command(&"x".repeat(201)), None);
        assert_eq!(Load::command(" "), None);
    }
}
