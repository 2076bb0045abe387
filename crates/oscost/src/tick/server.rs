//! `oscost tick server`: accepts clients, reports who comes and goes, and ends with the last of them.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::tick_message::{LONGEST, Message, PERIODS_NS, VERSION};
use oscost_harness::duration_ns;
use oscost_results::Untrusted;
use oscost_sys::registration::{self, Peer};
use oscost_sys::{CallError, clock, identity, random, readiness, socket};

use super::folder::Folder;
use super::keeper::Keeper;
use super::sender::{self, News, Wish};
use super::{REGISTRATION, check_permission, policy, take_priority};
use crate::args::TickServer;
use crate::exit::{Ended, Exit};
use crate::output::Talk;
use crate::signals::Signals;

/// Most clients, and most connections that have not said yet what they want.
const MOST: usize = 999;
const MOST_UNNAMED: usize = 100;
/// A connection that says nothing is closed after this, ns.
const SILENCE_NS: u64 = 2_000_000_000;
/// Late ticks are told no more often than this, ns.
const LATE_NS: u64 = 1_000_000_000;
/// What is said of a client that ended without a word.
const VANISHED: &str = "vanished without a message (ended, or killed)";
/// How long a guest's last words are waited for, ns.
const PATIENCE_NS: u64 = 10_000_000;
/// How often news and signals are looked for, ns.
const LOOK_NS: u64 = 20_000_000;

/// Somebody at the door, or a client.
struct Guest {
    id: u64,
    connection: OwnedFd,
    peer: Peer,
    since_ns: u64,
    name: Option<String>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It has said nothing yet.
    New,
    /// It has been let in, and makes its socket.
    Accepted,
    /// It gets ticks.
    Served,
    /// It has enough; the sender has not said yet what it got.
    Leaving,
    /// It is to be forgotten.
    Over,
}

struct Server<'a> {
    folder: Folder,
    guests: Vec<Guest>,
    wishes: Sender<Wish>,
    nonce: u64,
    period_ns: u64,
    next: u64,
    served: bool,
    /// Late ticks that were not told yet, and when some were told last, ns.
    late: (u64, u64),
    talk: &'a Talk,
}

/// Serves until the last client has gone, or a signal ends it.
pub fn server(options: &TickServer, talk: &Talk) -> Result<Exit, Ended> {
    let period_ns = duration_ns(&options.tick).filter(|ns| PERIODS_NS.contains(ns)).ok_or_else(|| {
        let text = Untrusted::new(&options.tick).terminal().to_string();
        Ended::misuse(format!("'--tick {text}': use 50us to 1s, such as 1ms or 1450us"))
    })?;
    check_permission(&options.meeting, talk)?;
    // Before there is a folder: without a keeper, a signal that nobody hears would leave it.
    let signals = Signals::listen()?;
    let folder = Folder::of_server(options.meeting.directory.as_deref(), Keeper::start)?;
    if let Some(error) = folder.lacks_keeper() {
        talk.say(format!(
            "warning: if this server is killed, its folder and sockets stay until the next one starts: {error}"
        ));
    }
    let failed = |error: CallError| Ended::unfit(format!("no tick server can run here: {error}"));
    let listener = folder.listen()?;
    let socket = folder.bind_sender()?;
    let nonce = u64::try_from(random::bits().map_err(failed)? & u128::from(u64::MAX)).unwrap_or(0);
    let (wishes, wished) = channel();
    let (told, news) = channel();
    let policy = policy(&options.meeting);
    let sending = std::thread::Builder::new()
        .name("sender".to_owned())
        .spawn(move || sender::send(&socket, (period_ns, nonce, policy), &wished, &told))
        .map_err(|error| Ended::unfit(format!("the sender's thread could not be started: {error}")))?;
    take_priority(policy, REGISTRATION);
    let mut server = Server {
        folder,
        guests: Vec::new(),
        wishes,
        nonce,
        period_ns,
        next: 0,
        served: false,
        late: (0, 0),
        talk,
    };
    talk.say(format!("waiting for first client in {}", server.folder.shown()));
    let ended = loop {
        if signals.came() {
            let number = signals.number().unwrap_or_default();
            server.stop(&format!("the server was ended by signal {number}"));
            break Ok(Exit::Signal(number));
        }
        if let Err(error) = server.look(&listener, &news) {
            server.stop(&error.to_string());
            break Err(failed(error));
        }
        if server.served && server.guests.is_empty() {
            break Ok(Exit::Done);
        }
    };
    server.tell_late();
    // The sender ends when nobody can wish any more.
    let Server { folder, wishes, .. } = server;
    drop(wishes);
    let _ = sending.join();
    drop(folder);
    talk.say("done");
    ended
}

impl Server<'_> {
    /// Waits for a while, and does what there is to do. Only what stops the server itself is an error.
    fn look(&mut self, listener: &OwnedFd, news: &Receiver<News>) -> Result<(), CallError> {
        let mut fds: Vec<&dyn AsRawFd> = vec![listener];
        fds.extend(self.guests.iter().map(|guest| &guest.connection as &dyn AsRawFd));
        let readable = readiness::poll_readable(&fds, LOOK_NS)?;
        for news in news.try_iter() {
            self.hear_sender(&news)?;
        }
        if self.late.0 > 0 && clock::now_ns() > self.late.1 + LATE_NS {
            self.tell_late();
        }
        for (index, _) in readable[1..].iter().enumerate().filter(|(_, readable)| **readable) {
            self.hear(index);
        }
        let now = clock::now_ns();
        for guest in &mut self.guests {
            if matches!(guest.state, State::New | State::Accepted) && now > guest.since_ns + SILENCE_NS {
                self.talk.say(format!("{}: sent nothing, and is disconnected", guest.shown()));
                guest.state = State::Over;
            }
        }
        for name in
            self.guests.iter().filter(|guest| guest.state == State::Over).filter_map(|it| it.name.as_ref())
        {
            self.folder.forget(name);
        }
        self.guests.retain(|guest| guest.state != State::Over);
        if readable[0] {
            self.let_in(listener)?;
        }
        Ok(())
    }

    /// Somebody connects.
    fn let_in(&mut self, listener: &OwnedFd) -> Result<(), CallError> {
        let connection = match registration::accept(listener) {
            Ok(connection) => connection,
            // It went again; or there is no room now, and maybe later.
            Err(error) if matches!(error.symbol(), Some("EAGAIN" | "EINTR")) => return Ok(()),
            Err(error) if matches!(error.symbol(), Some("EMFILE" | "ENFILE" | "ENOBUFS" | "ENOMEM")) => {
                self.talk.say(format!("a client could not be accepted: {error}"));
                oscost_sys::clock::pause(std::time::Duration::from_nanos(LOOK_NS));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let Ok(peer) = registration::peer(&connection) else { return Ok(()) };
        let (id, own) = (self.next, identity::effective_uid());
        self.next += 1;
        let mut guest =
            Guest { id, connection, peer, since_ns: clock::now_ns(), name: None, state: State::New };
        let unnamed = self.guests.iter().filter(|guest| guest.name.is_none()).count();
        if peer.uid != own && peer.uid != 0 {
            self.refuse(&mut guest, &format!("user {} is not user {own}, who started the server", peer.uid));
            hear_out(&guest);
        } else if self.guests.len() >= MOST || unnamed >= MOST_UNNAMED {
            self.refuse(&mut guest, "no more clients can be served");
            hear_out(&guest);
        } else {
            self.guests.push(guest);
        }
        Ok(())
    }

    /// A guest says something, or has gone.
    fn hear(&mut self, index: usize) {
        let mut buffer = [0; LONGEST];
        let Some(guest) = self.guests.get_mut(index) else { return };
        if guest.state == State::Over {
            return;
        }
        let got = match registration::receive_now(&guest.connection, &mut buffer) {
            Err(error) if matches!(error.symbol(), Some("EAGAIN" | "EINTR")) => return,
            // A reset is an end, too.
            Err(_) | Ok(0) => return self.lose(index),
            Ok(length) => buffer.get(..length).and_then(Message::parse),
        };
        let state = guest.state;
        match (state, got) {
            (State::New, Some(Message::Open { version, name })) => self.open(index, version, &name),
            (State::Accepted, Some(Message::Ready)) => self.serve(index),
            (State::Served, Some(Message::Close)) => {
                guest.state = State::Leaving;
                // The sender lives as long as its wishes are heard.
                let _ = self.wishes.send(Wish::Remove { id: guest.id });
            }
            (_, _) => {
                let words = format!("{}: sent an unknown message, and is disconnected", guest.shown());
                self.talk.say(words);
                let _ = self.wishes.send(Wish::Remove { id: guest.id });
                tell(guest, &Message::Refuse("this is not a message of a tick client".to_owned()));
                guest.state = State::Over;
            }
        }
    }

    fn open(&mut self, index: usize, version: u32, name: &str) {
        let mut known = None;
        for guest in self.guests.iter_mut().filter(|guest| guest.name.as_deref() == Some(name)) {
            if guest.state == State::Over {
                // Before the new one has its socket there.
                self.folder.forget(name);
                guest.name = None;
            } else {
                known = Some(guest.shown());
            }
        }
        let why = match known {
            _ if version != VERSION => Some(format!("the server speaks version {VERSION}, not {version}")),
            Some(known) => Some(format!("another client has this name already: {known}")),
            None => None,
        };
        let (nonce, period_ns) = (self.nonce, self.period_ns);
        let Some(guest) = self.guests.get_mut(index) else { return };
        match why {
            Some(why) => {
                self.talk
                    .say(format!("{} asked for the name '{name}', and is refused: {why}", guest.shown()));
                tell(guest, &Message::Refuse(why));
                guest.state = State::Over;
            }
            None => {
                guest.name = Some(name.to_owned());
                guest.state = State::Accepted;
                guest.since_ns = clock::now_ns();
                tell(guest, &Message::Accept { nonce, period_ns, now_ns: clock::now_ns() });
            }
        }
    }

    fn serve(&mut self, index: usize) {
        let Some(guest) = self.guests.get_mut(index) else { return };
        let address = guest.name.as_ref().and_then(|name| self.folder.client(name).ok());
        let Some(address) = address else {
            guest.state = State::Over;
            return;
        };
        guest.state = State::Served;
        let _ = self.wishes.send(Wish::Add { id: guest.id, address });
        self.talk.say(format!("{}: open", guest.shown()));
        if !self.served {
            self.served = true;
            self.talk.say("server is running");
        }
    }

    /// A guest has gone without a word.
    fn lose(&mut self, index: usize) {
        let Some(guest) = self.guests.get_mut(index) else { return };
        if matches!(guest.state, State::Served | State::Leaving) {
            self.talk.say(format!("{}: {VANISHED}", guest.shown()));
            let _ = self.wishes.send(Wish::Remove { id: guest.id });
        }
        guest.state = State::Over;
    }

    fn hear_sender(&mut self, news: &News) -> Result<(), CallError> {
        let find = |id: u64| self.guests.iter().position(|guest| guest.id == id);
        match news {
            News::Removed { id, sent, dropped } => {
                let Some(guest) = find(*id).map(|index| &mut self.guests[index]) else { return Ok(()) };
                self.talk.say(format!("{}: closed; sent {sent}, dropped {dropped}", guest.shown()));
                tell(guest, &Message::Closed { sent: *sent, dropped: *dropped });
                guest.state = State::Over;
            }
            News::Gone { id, sent, dropped, error } => {
                let Some(guest) = find(*id).map(|index| &mut self.guests[index]) else { return Ok(()) };
                // Who is killed loses its socket and its connection, and the sender may be the first to find out.
                let what = match has_ended(guest) {
                    true => VANISHED.to_owned(),
                    false => format!("its socket is gone ({error})"),
                };
                self.talk.say(format!("{}: {what}; sent {sent}, dropped {dropped}", guest.shown()));
                tell(guest, &Message::Stop("its socket is gone".to_owned()));
                guest.state = State::Over;
            }
            News::Full { id } => {
                if let Some(index) = find(*id) {
                    let who = self.guests[index].shown();
                    self.talk.say(format!("{who}: does not read, and its queue is full: ticks are dropped"));
                }
            }
            News::Room { id, dropped } => {
                if let Some(index) = find(*id) {
                    self.talk.say(format!("{}: reads again; {dropped} dropped", self.guests[index].shown()));
                }
            }
            News::Late { ticks } => self.late.0 += ticks,
            News::Failed(error) => return Err(*error),
        }
        Ok(())
    }

    fn refuse(&self, guest: &mut Guest, why: &str) {
        self.talk.say(format!("{} is refused: {why}", guest.shown()));
        tell(guest, &Message::Refuse(why.to_owned()));
        guest.state = State::Over;
    }

    fn tell_late(&mut self) {
        if self.late.0 > 0 {
            self.talk.say(format!("late: {} ticks were left out", self.late.0));
            self.late = (0, clock::now_ns());
        }
    }

    /// Tells everybody that it is over.
    fn stop(&mut self, why: &str) {
        self.talk.say(why);
        for guest in &mut self.guests {
            tell(guest, &Message::Stop(why.to_owned()));
        }
    }
}

/// Takes what somebody who was refused is just saying: with that unread, the end of the connection would be a reset, and the
/// refusal would be lost.
fn hear_out(guest: &Guest) {
    if readiness::poll_readable(&[&guest.connection], PATIENCE_NS).is_ok_and(|readable| readable[0]) {
        let _ = registration::receive_now(&guest.connection, &mut [0; LONGEST]);
    }
}

/// Whether its connection has come to its end.
fn has_ended(guest: &Guest) -> bool {
    if !readiness::poll_readable(&[&guest.connection], PATIENCE_NS).is_ok_and(|readable| readable[0]) {
        return false;
    }
    match registration::receive_now(&guest.connection, &mut [0; LONGEST]) {
        Ok(length) => length == 0,
        Err(error) => !matches!(error.symbol(), Some("EAGAIN" | "EINTR")),
    }
}

impl Guest {
    /// For people: name and process.
    fn shown(&self) -> String {
        match (&self.name, self.peer.pid) {
            (Some(name), 0) => name.clone(),
            (Some(name), pid) => format!("{name} (process {pid})"),
            (None, 0) => "somebody".to_owned(),
            (None, pid) => format!("process {pid}"),
        }
    }
}

/// Says something to a guest. Who does not read it, or has gone, is found elsewhere.
fn tell(guest: &Guest, message: &Message) {
    let mut text = message.to_string().into_bytes();
    text.truncate(LONGEST);
    let _ = socket::send(&guest.connection, &text);
}
