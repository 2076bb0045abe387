//! The body of the fuzz target `tick`: packets and datagrams of a tick server and its clients.

use oscost::tick_message::{LONGEST, Message, PERIODS_NS, TICK, is_name, parse_tick, tick};
use oscost_results::Untrusted;

use super::shown;
use super::tree::Choices;

/// One packet, each of its lines as a packet, and the same bytes as datagrams.
pub fn check(data: &[u8]) {
    packet(data);
    data.split(|byte| *byte == b'\n').for_each(packet);
    datagram(data);
    data.chunks(TICK).for_each(datagram);
}

/// Messages that are made, not read: every kind, with numbers and words as the bytes say. Those that a side may send are read again
/// as they were said. Whether there was one.
pub fn messages(data: &[u8]) -> bool {
    let mut choices = Choices::of(data);
    let mut read = 0;
    while !choices.is_empty() {
        let said = match choices.below(7) {
            0 => Message::Open { version: choices.number() as u32, name: choices.text() },
            1 => Message::Accept {
                nonce: choices.number(),
                period_ns: choices.number(),
                now_ns: choices.number(),
            },
            2 => Message::Refuse(choices.text()),
            3 => Message::Ready,
            4 => Message::Close,
            5 => Message::Closed { sent: choices.number(), dropped: choices.number() },
            _ => Message::Stop(choices.text()),
        };
        let text = said.to_string();
        packet(text.as_bytes());
        let may_be_sent = text.len() <= LONGEST
            && match &said {
                Message::Open { name, .. } => is_name(name),
                Message::Accept { period_ns, .. } => PERIODS_NS.contains(period_ns),
                _ => true,
            };
        let heard = Message::parse(text.as_bytes());
        assert_eq!(heard, may_be_sent.then_some(said), "{text:?}");
        read += usize::from(may_be_sent);
        let (sequence, stamp, nonce) = (choices.number(), choices.number(), choices.number());
        datagram(&tick(sequence, stamp, nonce));
        assert_eq!(parse_tick(&tick(sequence, stamp, nonce), nonce), Some((sequence, stamp)));
    }
    read > 0
}

fn packet(data: &[u8]) {
    let Some(message) = Message::parse(data) else { return };
    // There is one way to write each, so what was heard is what was said.
    assert_eq!(message.to_string().as_bytes(), data);
    assert!(data.len() <= LONGEST);
    match message {
        // A name becomes part of a path.
        Message::Open { name, .. } => {
            assert!(is_name(&name) && !name.contains(['/', '\0']) && !name.starts_with('.'), "{name:?}");
        }
        // A period becomes a time to wait.
        Message::Accept { period_ns, .. } => assert!(PERIODS_NS.contains(&period_ns), "{period_ns}"),
        // Words are shown to people.
        Message::Refuse(why) | Message::Stop(why) => {
            shown::one_line(&Untrusted::new(&why).terminal().to_string());
        }
        Message::Ready | Message::Close | Message::Closed { .. } => {}
    }
}

fn datagram(data: &[u8]) {
    let nonce = data.last_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes));
    let heard = parse_tick(data, nonce);
    assert_eq!(heard.is_some(), data.len() == TICK);
    if let Some((sequence, stamp_ns)) = heard {
        assert_eq!(tick(sequence, stamp_ns, nonce), data);
        assert_eq!(parse_tick(data, nonce.wrapping_add(1)), None, "another server's");
    }
}
