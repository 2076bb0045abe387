//! The sender: a thread that stamps each tick once and sends it to everybody. It shares nothing with the registration but two
//! channels, so that nobody has to wait for a lock.

use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};

use crate::tick_message::{END, tick};
use oscost_sys::scheduling::Policy;
use oscost_sys::ticks::Ticks;
use oscost_sys::{CallError, clock, socket};

use super::{SENDER, take_priority};

/// What the registration wants.
pub enum Wish {
    /// Another client.
    Add { id: u64, address: socket::Path },
    /// No more for this one.
    Remove { id: u64 },
}

/// What the sender tells.
pub enum News {
    /// It was removed; this was due to it, and this found no room.
    Removed { id: u64, sent: u64, dropped: u64 },
    /// Its queue is full.
    Full { id: u64 },
    /// It has room again, after so many ticks without.
    Room { id: u64, dropped: u64 },
    /// Its socket is gone.
    Gone { id: u64, sent: u64, dropped: u64, error: CallError },
    /// So many ticks were left out because they were late.
    Late { ticks: u64 },
    /// The sender cannot go on.
    Failed(CallError),
}

struct Client {
    id: u64,
    address: socket::Path,
    sent: u64,
    dropped: u64,
    /// Drops since its queue is full.
    full: u64,
}

/// Sends until the other end of `wishes` is dropped; then everybody gets the last message.
pub fn send(
    socket: &OwnedFd,
    (period_ns, nonce, policy): (u64, u64, Policy),
    wishes: &Receiver<Wish>,
    news: &Sender<News>,
) {
    take_priority(policy, SENDER);
    let mut clients: Vec<Client> = Vec::new();
    let mut ticks = Ticks::new(0, period_ns);
    let mut sequence = 0;
    // Nobody who listens to it has gone before the sender: the registration waits for its end.
    let tell = |what: News| drop(news.send(what));
    loop {
        // Without clients the thread waits for a request; otherwise it only looks for one.
        let wish = if clients.is_empty() {
            wishes.recv().map_err(|_| TryRecvError::Disconnected)
        } else {
            wishes.try_recv()
        };
        match wish {
            Ok(Wish::Add { id, address }) => {
                if clients.is_empty() {
                    ticks = Ticks::new(clock::now_ns() + period_ns, period_ns);
                }
                clients.push(Client { id, address, sent: 0, dropped: 0, full: 0 });
                continue;
            }
            Ok(Wish::Remove { id }) => {
                if let Some(at) = clients.iter().position(|client| client.id == id) {
                    let Client { sent, dropped, .. } = clients.remove(at);
                    tell(News::Removed { id, sent, dropped });
                }
                continue;
            }
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) => {}
        }
        if let Err(error) = clock::sleep_until(ticks.due_ns()) {
            tell(News::Failed(error));
            break;
        }
        let message = tick(sequence, clock::now_ns(), nonce);
        clients.retain_mut(|client| reach(socket, &message, client, &tell));
        sequence += 1;
        let late = ticks.advance(clock::now_ns());
        if late > 0 {
            tell(News::Late { ticks: late });
        }
    }
    let last = tick(END, clock::now_ns(), nonce);
    for client in &clients {
        // Who has no room learns it from the end of the connection.
        let _ = socket::send_to(socket, &last, &client.address);
    }
}

/// Sends one message to one client; whether it is still there.
fn reach(socket: &OwnedFd, message: &[u8], client: &mut Client, tell: &impl Fn(News)) -> bool {
    client.sent += 1;
    match socket::send_to(socket, message, &client.address) {
        Ok(()) => {
            if client.full > 0 {
                tell(News::Room { id: client.id, dropped: client.full });
                client.full = 0;
            }
            true
        }
        Err(error) if matches!(error.symbol(), Some("EAGAIN" | "ENOBUFS")) => {
            client.dropped += 1;
            client.full += 1;
            if client.full == 1 {
                tell(News::Full { id: client.id });
            }
            true
        }
        Err(error) => {
            let Client { id, sent, dropped, .. } = *client;
            // This tick reached nobody.
            tell(News::Gone { id, sent: sent - 1, dropped, error });
            false
        }
    }
}
