//! `oscost tick client`: receives ticks until its table is full, and prints them as document 002's client does.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::tick_message::{END, LONGEST, Message, TICK, VERSION, is_name, parse_tick};
use oscost_results::Untrusted;
use oscost_sys::{CallError, clock, identity, random, registration, socket};

use super::folder::Folder;
use super::{CLIENT, check_permission, policy, take_priority};
use crate::args::TickClient;
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};
use crate::signals::Signals;

/// Patience with a server that should answer, ns.
const ANSWER_NS: u64 = 5_000_000_000;
/// Patience with a server that should tick, ns; and how often it is used up before the client gives up.
const TICK_NS: u64 = 1_000_000_000;
const PATIENCE: u32 = 10;

/// What the client's loop noted.
struct Heard {
    /// Latencies, ns.
    latencies: Vec<u64>,
    /// Messages of the server.
    received: u64,
    /// Gaps in their numbers.
    gaps: u64,
    /// Datagrams of somebody else.
    strangers: u64,
    next: Option<u64>,
}

/// Why the loop ended.
enum Over {
    /// The table is full.
    Full,
    Interrupted,
    /// The server has gone, or does nothing.
    Server(String),
}

/// Asks for ticks, prints the latencies and the summary.
pub fn client(options: &TickClient, talk: &Talk) -> Result<Exit, Ended> {
    let name = match &options.name {
        Some(name) if is_name(name) => name.clone(),
        Some(name) => {
            let name = Untrusted::new(name).terminal().to_string();
            let rule = "use 1 to 32 letters, digits, '-', '_' and '.', not beginning with a dot";
            return Err(Ended::misuse(format!("'--name {name}': {rule}")));
        }
        None => format!("{:016x}", random::bits().map_err(Ended::unfit)? & u128::from(u64::MAX)),
    };
    check_permission(&options.meeting, talk)?;
    let folder = Folder::of_client(options.meeting.directory.as_deref())?;
    let signals = Signals::listen()?;
    let connection = connect(&folder)?;
    let (nonce, period_ns) = register(&connection, &name)?;
    folder.forget(&name);
    let ticks = folder.bind_client(&name)?;
    registration::connect_to(&ticks, &folder.sender()?).map_err(Ended::unfit)?;
    registration::give_up_after(&ticks, TICK_NS.max(3 * period_ns)).map_err(Ended::unfit)?;
    let most = usize::try_from(options.values + options.ignore).unwrap_or(usize::MAX);
    // Written once before, so that no page is missing in the loop.
    let mut latencies = vec![u64::MAX; most];
    std::hint::black_box(&mut latencies);
    latencies.clear();
    let mut heard = Heard { latencies, received: 0, gaps: 0, strangers: 0, next: None };
    say(&connection, &Message::Ready).map_err(Ended::unfit)?;
    take_priority(policy(&options.meeting), CLIENT);
    let over = listen(&ticks, &connection, (nonce, most, &signals.flag()), &mut heard);
    let account = close(&connection, &ticks, nonce, &over, &mut heard);
    drop(ticks);
    folder.forget(&name);
    let signal = signals.deliver();
    let ignored = usize::try_from(options.ignore).unwrap_or(usize::MAX);
    tell(&heard, ignored, account, talk)?;
    match over {
        Over::Full => Ok(Exit::Done),
        Over::Interrupted => Ok(Exit::Signal(signal.unwrap_or_default())),
        Over::Server(why) => Err(Ended::new(Exit::Withheld, why)),
    }
}

/// The server's socket. Its owner must be the same user, or root.
fn connect(folder: &Folder) -> Result<OwnedFd, Ended> {
    let connection = registration::connect(&folder.server()?).map_err(|error| match error.symbol() {
        Some("ENOENT" | "ECONNREFUSED") => {
            Ended::unfit(format!("no tick server runs in {}; start one: oscost tick server", folder.shown()))
        }
        _ => Ended::unfit(error),
    })?;
    let (peer, own) = (registration::peer(&connection).map_err(Ended::unfit)?, identity::effective_uid());
    if peer.uid != own && peer.uid != 0 {
        return Err(Ended::unfit(format!("the server is user {}'s, not user {own}'s", peer.uid)));
    }
    registration::give_up_after(&connection, ANSWER_NS).map_err(Ended::unfit)?;
    Ok(connection)
}

fn say(connection: &OwnedFd, message: &Message) -> Result<(), CallError> {
    socket::send(connection, message.to_string().as_bytes()).map(drop)
}

/// The next message of the server; `None`: it has gone, does not answer, or says rubbish.
fn hear(connection: &OwnedFd) -> Option<Message> {
    let mut buffer = [0; LONGEST];
    let length = socket::receive(connection, &mut buffer).ok().filter(|&length| length > 0)?;
    Message::parse(&buffer[..length])
}

/// Registers under a name: the server's nonce and the time between ticks.
fn register(connection: &OwnedFd, name: &str) -> Result<(u64, u64), Ended> {
    let before = clock::now_ns();
    // Where it has gone meanwhile the answer says so.
    let _ = say(connection, &Message::Open { version: VERSION, name: name.to_owned() });
    match hear(connection) {
        Some(Message::Accept { nonce, period_ns, now_ns }) => {
            if (before..=clock::now_ns()).contains(&now_ns) {
                Ok((nonce, period_ns))
            } else {
                Err(Ended::unfit(
                    "the server uses another clock: one of the two runs in its own time namespace",
                ))
            }
        }
        Some(Message::Refuse(why) | Message::Stop(why)) => {
            let why = Untrusted::new(&why).terminal().to_string();
            Err(Ended::unfit(format!("the server refuses: {why}")))
        }
        _ => Err(Ended::unfit("the server does not answer")),
    }
}

/// The measured loop: waits, reads the clock, notes. Nothing is allocated or said in it.
fn listen(
    ticks: &OwnedFd,
    connection: &OwnedFd,
    (nonce, most, interrupted): (u64, usize, &AtomicBool),
    heard: &mut Heard,
) -> Over {
    let mut silent = 0;
    let mut buffer = [0; TICK + 1];
    while heard.latencies.len() < most {
        // A signal between two waits interrupts none, and ticks may come for ever.
        if interrupted.load(Ordering::Relaxed) {
            return Over::Interrupted;
        }
        let got = socket::receive(ticks, &mut buffer);
        let now_ns = clock::now_ns();
        match got {
            Ok(length) => {
                silent = 0;
                match parse_tick(&buffer[..length], nonce) {
                    Some((END, _)) => return server_ended(connection),
                    Some((sequence, stamp_ns)) => {
                        heard.note(sequence);
                        heard.latencies.push(now_ns.saturating_sub(stamp_ns));
                    }
                    None => heard.strangers += 1,
                }
            }
            Err(_) if interrupted.load(Ordering::Relaxed) => return Over::Interrupted,
            Err(error) if matches!(error.symbol(), Some("EAGAIN" | "EINTR")) => {
                silent += 1;
                if has_left(connection) {
                    return server_ended(connection);
                }
                if silent == PATIENCE {
                    return Over::Server("the server is alive but sends nothing: giving up".to_owned());
                }
            }
            Err(_) => return server_ended(connection),
        }
    }
    Over::Full
}

impl Heard {
    #[inline(always)]
    fn note(&mut self, sequence: u64) {
        self.gaps += self.next.map_or(0, |next| sequence.saturating_sub(next));
        self.next = Some(sequence.saturating_add(1));
        self.received += 1;
    }
}

/// Whether the server's end of the connection is closed, or it has said something.
fn has_left(connection: &OwnedFd) -> bool {
    oscost_sys::readiness::poll_readable(&[connection], 0).is_ok_and(|readable| readable[0])
}

fn server_ended(connection: &OwnedFd) -> Over {
    let why = match hear(connection) {
        Some(Message::Stop(why) | Message::Refuse(why)) => Untrusted::new(&why).terminal().to_string(),
        _ => "the server vanished without a message (killed?)".to_owned(),
    };
    Over::Server(why)
}

/// Takes leave: what the server says that it sent, and what it dropped. What it sent meanwhile still counts as received.
fn close(
    connection: &OwnedFd,
    ticks: &OwnedFd,
    nonce: u64,
    over: &Over,
    heard: &mut Heard,
) -> Option<(u64, u64)> {
    if matches!(over, Over::Server(_)) {
        return None;
    }
    say(connection, &Message::Close).ok()?;
    let account = loop {
        match hear(connection)? {
            Message::Closed { sent, dropped } => break (sent, dropped),
            Message::Stop(_) => return None,
            _ => {}
        }
    };
    let mut buffer = [0; TICK + 1];
    while let Ok(length @ 1..) = registration::receive_now(ticks, &mut buffer) {
        if let Some((sequence, _)) = buffer.get(..length).and_then(|bytes| parse_tick(bytes, nonce)) {
            heard.note(sequence);
        }
    }
    Some(account)
}

/// The document's outputs: the values in us, one a line, and the summary; then the account.
fn tell(heard: &Heard, ignored: usize, account: Option<(u64, u64)>, talk: &Talk) -> Result<(), Ended> {
    let us = |ns: &u64| (ns + 500) / 1000;
    let values = heard.latencies.get(ignored..).unwrap_or_default();
    let written = output::data(|out| values.iter().try_for_each(|ns| writeln!(out, "{}", us(ns))));
    talk.say("Transmission summary:");
    talk.say(format!("total msg received: {}", values.len()));
    if let (Some(min), Some(max)) = (values.iter().min(), values.iter().max()) {
        let average = values.iter().sum::<u64>() / values.len() as u64;
        for (name, ns) in [("min time", min), ("max time", max), ("average", &average)] {
            talk.say(format!("{name}: {}", us(ns)));
        }
    }
    let received = heard.received;
    match account {
        Some((sent, dropped)) => {
            let missed = sent.saturating_sub(received + dropped);
            talk.say(format!("sent {sent} = received {received} + dropped {dropped} + missed {missed}"));
            if received + dropped > sent {
                talk.say("warning: more was received and dropped than the server sent");
            }
        }
        None => talk.say(format!("received {received}, gaps {}; the server says no more", heard.gaps)),
    }
    if heard.strangers > 0 {
        talk.say(format!("ignored datagrams from strangers: {}", heard.strangers));
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tick_message::tick;
    use oscost_sys::socket::SocketKind;

    /// A signal that came while the loop was not waiting ends it all the same, however many ticks there are.
    #[test]
    fn a_signal_between_two_ticks_is_not_lost() {
        let [ticks, sender] = socket::pair(SocketKind::Datagram).unwrap();
        let [connection, _server] = socket::pair(SocketKind::Datagram).unwrap();
        for sequence in 0..3 {
            socket::send(&sender, &tick(sequence, clock::now_ns(), 7)).unwrap();
        }
        let mut heard = Heard { latencies: Vec::new(), received: 0, gaps: 0, strangers: 0, next: None };
        let over = listen(&ticks, &connection, (7, 3, &AtomicBool::new(true)), &mut heard);
        assert!(matches!(over, Over::Interrupted) && heard.latencies.is_empty());
        let over = listen(&ticks, &connection, (7, 3, &AtomicBool::new(false)), &mut heard);
        assert!(matches!(over, Over::Full) && heard.received == 3 && heard.gaps == 0);
    }
}
