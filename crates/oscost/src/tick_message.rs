//! What `oscost tick server` and its clients say to each other when they meet and part: one packet, one line of text; and the
//! tick itself. Whatever is not exactly one of these is nothing.

use std::fmt;

/// Version of the two sides' language.
pub const VERSION: u32 = 1;
/// Longest packet, bytes.
pub const LONGEST: usize = 256;
/// Bytes of a tick: as many as document 002's message has.
pub const TICK: usize = 24;
/// Times that may lie between two ticks, ns: 50 us to 1 s.
pub const PERIODS_NS: std::ops::RangeInclusive<u64> = 50_000..=1_000_000_000;
/// Sequence number of the message after the last tick.
pub const END: u64 = u64::MAX;

/// A packet between client and server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Client: it wants ticks, and is called so.
    Open {
        /// [`VERSION`] of the client.
        version: u32,
        /// Its name.
        name: String,
    },
    /// Server: it will have them.
    Accept {
        /// What every tick will carry.
        nonce: u64,
        /// Time between ticks, ns.
        period_ns: u64,
        /// The server's clock, ns of CLOCK_MONOTONIC.
        now_ns: u64,
    },
    /// Server: it will not, and why.
    Refuse(String),
    /// Client: its socket is there.
    Ready,
    /// Client: it has enough.
    Close,
    /// Server: what it sent, and what a full queue refused.
    Closed {
        /// Ticks that were due to this client.
        sent: u64,
        /// Those that found no room.
        dropped: u64,
    },
    /// Server: it ends, and why.
    Stop(String),
}

/// Whether a client may be called so: letters, digits, dot, dash and underscore, at most 32, the first no dot. Names are
/// parts of paths.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=32).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(allowed)
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { version, name } => write!(f, "open {version} {name}"),
            Self::Accept { nonce, period_ns, now_ns } => write!(f, "accept {nonce} {period_ns} {now_ns}"),
            Self::Refuse(why) => write!(f, "refuse {why}"),
            Self::Ready => f.write_str("ready"),
            Self::Close => f.write_str("close"),
            Self::Closed { sent, dropped } => write!(f, "closed {sent} {dropped}"),
            Self::Stop(why) => write!(f, "stop {why}"),
        }
    }
}

impl Message {
    /// The message of a packet; `None` for anything else.
    #[must_use]
    pub fn parse(packet: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(packet).ok().filter(|text| text.len() <= LONGEST)?;
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let numbers = || rest.split(' ').map(|word| word.parse().ok()).collect::<Option<Vec<u64>>>();
        let message = match word {
            "open" => {
                let (version, name) = rest.split_once(' ').filter(|(_, name)| is_name(name))?;
                Self::Open { version: version.parse().ok()?, name: name.to_owned() }
            }
            "accept" => match numbers()?[..] {
                [nonce, period_ns, now_ns] if PERIODS_NS.contains(&period_ns) => {
                    Self::Accept { nonce, period_ns, now_ns }
                }
                _ => return None,
            },
            "refuse" => Self::Refuse(rest.to_owned()),
            "ready" => Self::Ready,
            "close" => Self::Close,
            "closed" => match numbers()?[..] {
                [sent, dropped] => Self::Closed { sent, dropped },
                _ => return None,
            },
            "stop" => Self::Stop(rest.to_owned()),
            _ => return None,
        };
        // One way to write each: "+1", "007" and words after the last one are none.
        (message.to_string() == text).then_some(message)
    }
}

/// The bytes of a tick.
#[inline(always)]
#[must_use]
pub fn tick(sequence: u64, stamp_ns: u64, nonce: u64) -> [u8; TICK] {
    let mut bytes = [0; TICK];
    bytes[..8].copy_from_slice(&sequence.to_ne_bytes());
    bytes[8..16].copy_from_slice(&stamp_ns.to_ne_bytes());
    bytes[16..].copy_from_slice(&nonce.to_ne_bytes());
    bytes
}

/// Sequence number and stamp of a tick of the server that gave this nonce; `None` for a stranger's datagram.
#[inline(always)]
#[must_use]
pub fn parse_tick(bytes: &[u8], nonce: u64) -> Option<(u64, u64)> {
    let bytes: &[u8; TICK] = bytes.try_into().ok()?;
    let word = |at: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[at..at + 8]);
        u64::from_ne_bytes(word)
    };
    (word(16) == nonce).then(|| (word(0), word(8)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Message> {
        vec![
            Message::Open { version: VERSION, name: "tclient_0".into() },
            Message::Accept { nonce: u64::MAX, period_ns: 1_000_000, now_ns: 7 },
            Message::Refuse("there is one called so".into()),
            Message::Ready,
            Message::Close,
            Message::Closed { sent: 1100, dropped: 0 },
            Message::Stop("it was asked to".into()),
        ]
    }

    #[test]
    fn what_is_said_is_what_is_heard() {
        for message in all() {
            assert_eq!(Message::parse(message.to_string().as_bytes()), Some(message));
        }
        assert_eq!(parse_tick(&tick(3, 4, 5), 5), Some((3, 4)));
        assert_eq!(parse_tick(&tick(3, 4, 5), 6), None);
        assert_eq!(parse_tick(&tick(3, 4, 5)[..23], 5), None);
    }

    #[test]
    fn anything_else_is_nothing() {
        for text in [
            "",
            "open",
            "open 1",
            "open 1 ",
            "open 1 ../x",
            "open 1 .x",
            "open 1 a b",
            "open +1 a",
            "open 4294967296 a",
            "accept 1 2",
            "accept 1 2 3 4",
            "accept 01 2 3",
            "accept -1 2 3",
            "accept 1 2 3",
            "accept 1 18446744073709551615 3",
            "ready ",
            "ready now",
            "closed 1",
            "Close",
        ] {
            assert_eq!(Message::parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Message::parse(&[0xff, 0xfe]), None);
        assert_eq!(Message::parse(format!("stop {}", "x".repeat(LONGEST)).as_bytes()), None);
        assert!(!is_name(&"x".repeat(33)));
    }

    #[test]
    fn a_cut_or_flipped_packet_stops_nobody() {
        for text in all().iter().map(ToString::to_string) {
            let bytes = text.as_bytes();
            for cut in 0..bytes.len() {
                let _ = Message::parse(&bytes[..cut]);
            }
            for bit in 0..bytes.len() * 8 {
                let mut flipped = bytes.to_vec();
                flipped[bit / 8] ^= 1 << (bit % 8);
                if let Some(message) = Message::parse(&flipped) {
                    assert_eq!(message.to_string().as_bytes(), flipped);
                }
            }
        }
    }
}
