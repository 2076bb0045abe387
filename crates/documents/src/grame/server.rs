//! The document's server (server.c): a listener that opens and closes clients, a sender that stamps once and sends to
//! everybody, newest client first, then sleeps. Its mistakes are not repeated: the list has a lock, lengths are checked.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use oscost_harness::{CallError, Outcome};
use oscost_sys::scheduling::{self, Policy};
use oscost_sys::{affinity, clock, socket};

use super::record::{Count, Record};
use super::shape::{LISTENER, Shape};

/// Types of a message: open and close by a client, the time by the server.
pub(super) const OPEN: u32 = 1;
pub(super) const CLOSE: u32 = 2;
pub(super) const TIME: u32 = 3;
/// Bytes of a message: a type, and a time in seconds and us.
pub(super) const MESSAGE: usize = 24;

/// How often wait_first and wait_end look, and how often at most for a first client.
const POLL: Duration = Duration::from_millis(100);
const POLLS: u32 = 50;

/// A message as it is sent.
pub(super) fn message(kind: u32, time_us: u64) -> [u8; MESSAGE] {
    let mut bytes = [0; MESSAGE];
    bytes[..4].copy_from_slice(&kind.to_ne_bytes());
    bytes[8..16].copy_from_slice(&(time_us / 1_000_000).to_ne_bytes());
    bytes[16..].copy_from_slice(&(time_us % 1_000_000).to_ne_bytes());
    bytes
}

/// Type and time (us) of a message; `None` for anything of another length.
pub(super) fn read(bytes: &[u8]) -> Option<(u32, u64)> {
    let word = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    if bytes.len() != MESSAGE {
        return None;
    }
    let kind = u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?);
    Some((kind, word(8)?.checked_mul(1_000_000)?.checked_add(word(16)?)?))
}

/// Takes a priority where that is granted; whether it was.
pub(super) fn prioritise(policy: Policy, priority: i32) -> bool {
    policy == Policy::Other
        || (scheduling::set_bounded(policy, priority).is_ok()
            && scheduling::get() == Ok(Some((policy, priority))))
}

/// The sockets of a server: one that listens at its path, one that sends.
pub(super) struct ServerSockets {
    pub(super) listening: OwnedFd,
    pub(super) sending: OwnedFd,
}

type List = Mutex<Vec<socket::Path>>;

/// What the threads of a server share.
struct Service<'a> {
    record: &'a Record,
    sockets: &'a ServerSockets,
    shape: &'a Shape,
    /// Clients of this session; whoever else opens is a stranger.
    known: &'a [socket::Path],
    list: List,
    over: AtomicBool,
}

/// Serves from the first client that opens until the last one is gone, in the server's process.
///
/// # Errors
/// The call that failed; ETIMEDOUT where nobody opens.
pub(super) fn serve(
    record: &Record,
    sockets: &ServerSockets,
    shape: &Shape,
    cpu: usize,
    (own, known): (&socket::Path, &[socket::Path]),
) -> Outcome {
    affinity::pin_to(cpu)?;
    record.touch();
    let list = Mutex::new(Vec::with_capacity(known.len()));
    let service = Service { record, sockets, shape, known, list, over: AtomicBool::new(false) };
    let of_std = |error: std::io::Error| CallError::new("pthread_create", error.raw_os_error().unwrap_or(0));
    std::thread::scope(|scope| {
        std::thread::Builder::new().spawn_scoped(scope, || service.listen()).map_err(of_std)?;
        let served = (|| {
            let mut polls = 0;
            while lock(&service.list).is_empty() {
                if polls == POLLS {
                    return Err(CallError::no_answer("the first client"));
                }
                polls += 1;
                oscost_sys::clock::pause(POLL);
            }
            let sender =
                std::thread::Builder::new().spawn_scoped(scope, || service.send()).map_err(of_std)?;
            while !lock(&service.list).is_empty() && !sender.is_finished() {
                oscost_sys::clock::pause(POLL);
            }
            Ok(())
        })();
        service.over.store(true, Ordering::Release);
        // Any message wakes the listener, which sees that it is over.
        let woken = socket::send_to_patiently(&sockets.sending, &message(CLOSE, 0), own);
        served.and(woken)?;
        affinity::still_on(cpu)
    })
}

fn lock(list: &List) -> std::sync::MutexGuard<'_, Vec<socket::Path>> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Service<'_> {
    /// The listener: a new client goes to the head of the list, or to its tail where that is tried.
    fn listen(&self) {
        let Self { record, sockets, known, .. } = self;
        prioritise(self.shape.policy, LISTENER);
        let mut buffer = [0; MESSAGE + 1];
        while let Ok((length, from)) = socket::receive_from(&sockets.listening, &mut buffer) {
            if self.over.load(Ordering::Acquire) {
                break;
            }
            let from = from.filter(|from| known.contains(from));
            let kind = read(buffer.get(..length).unwrap_or_default()).map(|(kind, _)| kind);
            let mut list = lock(&self.list);
            match (kind, from) {
                (Some(OPEN), Some(from)) if !list.contains(&from) => {
                    let place = if self.shape.tail { list.len() } else { 0 };
                    list.insert(place, from);
                    record.count(Count::Opened, 1);
                }
                (Some(CLOSE), Some(from)) => {
                    let before = list.len();
                    list.retain(|client| *client != from);
                    record.count(Count::Closed, (before - list.len()) as u64);
                }
                _ => record.count(Count::Refused, 1),
            }
        }
    }

    /// The sender: never more loops than there is room for, whoever does not close.
    fn send(&self) {
        let Self { record, sockets, shape, .. } = self;
        let granted = prioritise(shape.policy, shape.sender());
        let sleep = Duration::from_nanos(shape.tick_ns);
        let mut gone = Vec::with_capacity(8);
        for _ in 0..record.ticks() {
            let stamp_us = clock::gettimeofday_us();
            let bytes = message(TIME, stamp_us);
            {
                let mut list = lock(&self.list);
                if list.is_empty() {
                    break;
                }
                for client in list.iter() {
                    let sent = if shape.waits {
                        socket::send_to_patiently(&sockets.sending, &bytes, client)
                    } else {
                        socket::send_to(&sockets.sending, &bytes, client)
                    };
                    match sent {
                        Ok(()) => {}
                        Err(error)
                            if shape.patient && matches!(error.symbol(), Some("EAGAIN" | "ENOBUFS")) =>
                        {
                            record.count(Count::Dropped, 1);
                        }
                        Err(_) => gone.push(*client),
                    }
                }
                if !gone.is_empty() {
                    list.retain(|client| !gone.contains(client));
                    record.count(Count::Lost, gone.len() as u64);
                    gone.clear();
                }
                record.sent(stamp_us, clock::gettimeofday_us());
            }
            oscost_sys::clock::pause(sleep);
        }
        let kept =
            shape.policy == Policy::Other || scheduling::get() == Ok(Some((shape.policy, shape.sender())));
        record.count(Count::Granted, u64::from(granted && kept));
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;
    use std::path::PathBuf;

    use super::super::client::attend;
    use super::super::settings::Settings;
    use super::*;

    /// A server's and clients' sockets in a folder of their own, which goes with them.
    struct Ground {
        folder: PathBuf,
        sockets: ServerSockets,
        own: socket::Path,
        clients: Vec<(OwnedFd, socket::Path)>,
    }

    impl Ground {
        fn new(clients: usize) -> Self {
            // Numbers of processes come again where a container's /tmp is kept or shared.
            // Short: the path of a socket has 107 letters.
            let name = format!("oscost-grame-{:x}", oscost_sys::random::bits().expect("bits") >> 88);
            let folder = std::env::temp_dir().join(name);
            std::fs::create_dir(&folder).expect("a folder");
            let path = |name: &str| {
                socket::Path::new(folder.join(name).to_str().expect("text")).expect("a short path")
            };
            let own = path("server");
            let listening = socket::datagram_at(&own).expect("a socket");
            let sending = socket::datagram().expect("a socket");
            let clients = (0..clients)
                .map(|client| {
                    let path = path(&client.to_string());
                    (socket::datagram_at(&path).expect("a socket"), path)
                })
                .collect();
            Self { folder, sockets: ServerSockets { listening, sending }, own, clients }
        }

        fn known(&self) -> Vec<socket::Path> {
            self.clients.iter().map(|(_, path)| *path).collect()
        }
    }

    impl Drop for Ground {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }

    /// A session without real time, 1 ms apart.
    fn shape(clients: usize, patient: bool) -> Shape {
        Shape { tick_ns: 1_000_000, policy: Policy::Other, patient, ..Settings::default().shape(clients, 1) }
    }

    fn cpu() -> usize {
        affinity::allowed().expect("CPUs")[0]
    }

    #[test]
    fn every_client_gets_its_values_and_strangers_disturb_nobody() {
        let ground = Ground::new(3);
        // Whoever comes late to its queue on a loaded machine is kept.
        let (shape, known) = (shape(2, true), ground.known());
        let record = Record::new(2, 30, 5000).expect("memory");
        std::thread::scope(|scope| {
            let server =
                scope.spawn(|| serve(&record, &ground.sockets, &shape, cpu(), (&ground.own, &known[..2])));
            let stranger = &ground.clients[2].0;
            // Whoever is not expected, what is no message, and a client that opens twice.
            for bytes in [&message(OPEN, 0)[..], b"x", &[0; 200]] {
                socket::send_to_patiently(stranger, bytes, &ground.own).expect("sent");
            }
            socket::send_to_patiently(&ground.clients[0].0, &message(OPEN, 0), &ground.own).expect("sent");
            let attend = |client: usize| {
                attend(&record, &ground.clients[client].0, &ground.own, &shape, (client, cpu()))
            };
            let clients = [0, 1].map(|client| scope.spawn(move || attend(client)));
            for client in clients {
                client.join().expect("no panic").expect("attended");
            }
            server.join().expect("no panic").expect("served");
        });
        let counted = |what: Count| record.counted(what);
        assert_eq!([Count::Opened, Count::Closed, Count::Lost].map(counted), [2, 2, 0]);
        assert_eq!(counted(Count::Refused), 4, "three of a stranger, and one open too many");
        for client in [0, 1] {
            let values = record.of(client, 0);
            assert_eq!(values.len(), 30);
            assert!(values.is_sorted_by_key(|value| value.stamp_us), "one stamp a tick, in order");
        }
        // Both were sent the same stamps as long as both were there.
        let stamps =
            |client: usize| record.of(client, 0).iter().map(|value| value.stamp_us).collect::<Vec<_>>();
        let both = stamps(0).into_iter().filter(|stamp| stamps(1).contains(stamp)).count();
        assert!(both > 0, "no tick went to both");
    }

    #[test]
    fn a_client_that_does_not_read_is_taken_off_or_kept() {
        for patient in [false, true] {
            let ground = Ground::new(1);
            let (shape, known) = (shape(1, patient), ground.known());
            // The sender's buffer is full after some 280 messages, however long the kernel lets a queue be.
            let record = Record::new(1, 10, 2000).expect("memory");
            std::thread::scope(|scope| {
                let server =
                    scope.spawn(|| serve(&record, &ground.sockets, &shape, cpu(), (&ground.own, &known)));
                socket::send_to_patiently(&ground.clients[0].0, &message(OPEN, 0), &ground.own)
                    .expect("sent");
                // Its queue is full before the server has no room for further loops.
                server.join().expect("no panic").expect("served");
            });
            let (lost, dropped) = (record.counted(Count::Lost), record.counted(Count::Dropped));
            if patient {
                assert!(lost == 0 && dropped > 0, "{lost} lost, {dropped} dropped");
            } else {
                assert_eq!((lost, dropped), (1, 0));
            }
        }
    }

    #[test]
    fn a_client_that_is_gone_is_taken_off_whatever_the_policy() {
        for patient in [false, true] {
            let mut ground = Ground::new(1);
            let (shape, known) = (shape(1, patient), ground.known());
            let record = Record::new(1, 10, 100_000).expect("memory");
            socket::send_to_patiently(&ground.clients[0].0, &message(OPEN, 0), &ground.own).expect("sent");
            ground.clients.clear();
            serve_in_thread(&record, &ground, &shape, &known).expect("served");
            assert_eq!(record.counted(Count::Lost), 1);
        }
    }

    fn serve_in_thread(record: &Record, ground: &Ground, shape: &Shape, known: &[socket::Path]) -> Outcome {
        let serve = || serve(record, &ground.sockets, shape, cpu(), (&ground.own, known));
        std::thread::scope(|scope| scope.spawn(serve).join().expect("no panic"))
    }

    #[test]
    fn messages_are_read_as_they_are_written_and_nothing_else_is() {
        assert_eq!(read(&message(TIME, 1_234_567_890_123)), Some((TIME, 1_234_567_890_123)));
        for bytes in [&[][..], &[0; MESSAGE - 1], &[0; MESSAGE + 1], &[0xff; MESSAGE]] {
            assert_eq!(read(bytes), None, "{bytes:?}");
        }
    }
}
