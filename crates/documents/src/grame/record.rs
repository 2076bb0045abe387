//! What server and clients of one session write down, in memory that they share: the clients' tables of latencies, as in
//! the document, and beside each value the time stamp that it came with.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};

use oscost_harness::CallError;
use oscost_sys::file;
use oscost_sys::mapped_file::MappedFile;

/// Words of the server's part and of each client's, before their series.
const HEAD: usize = 16;

/// What the server counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    /// Sending loops.
    Ticks,
    /// Messages that a full queue refused, where its client is kept.
    Dropped,
    /// Clients that were taken off the list because a send failed.
    Lost,
    /// Open messages of new clients.
    Opened,
    /// Close messages of known clients.
    Closed,
    /// Messages of unknown type, open messages of open clients, messages of strangers.
    Refused,
    /// The sender's priority was granted, and kept.
    Granted,
}

/// One value of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientValue {
    /// Time stamp of the message, us since 1970.
    pub stamp_us: u64,
    /// Time of its reading less the stamp, us; negative where the clock was set back between.
    pub latency_us: i64,
}

/// The memory of one session.
pub(super) struct Record {
    map: MappedFile,
    clients: usize,
    values: usize,
    ticks: usize,
}

impl Record {
    /// Memory for so many clients with so many values each, and so many loops of the server; touched.
    ///
    /// # Errors
    /// The error of memfd_create, ftruncate or mmap.
    pub(super) fn new(clients: usize, values: usize, ticks: usize) -> Result<Self, CallError> {
        let words = HEAD + 2 * ticks + clients * (HEAD + 2 * values);
        let fd = file::in_memory((words * 8).next_multiple_of(4096) as u64)?;
        let map = MappedFile::new(fd.as_fd(), words * 8, true)?;
        let record = Self { map, clients, values, ticks };
        record.touch();
        Ok(record)
    }

    /// Touches every page in the calling process.
    pub(super) fn touch(&self) {
        for index in (0..self.map.len_words()).step_by(512) {
            self.word(index).fetch_add(0, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn word(&self, index: usize) -> &AtomicU64 {
        self.map.word(index).expect("every index is one of the record's")
    }

    fn client(&self, client: usize) -> usize {
        HEAD + 2 * self.ticks + client * (HEAD + 2 * self.values)
    }

    /// Values that a client has room for.
    pub(super) fn values(&self) -> usize {
        self.values
    }

    /// Loops that the server has room for.
    pub(super) fn ticks(&self) -> usize {
        self.ticks
    }

    /// Adds to a count of the server.
    #[inline(always)]
    pub(super) fn count(&self, what: Count, more: u64) {
        self.word(what as usize).fetch_add(more, Ordering::AcqRel);
    }

    /// A count of the server.
    pub(super) fn counted(&self, what: Count) -> u64 {
        self.word(what as usize).load(Ordering::Acquire)
    }

    /// The server has sent to everybody.
    #[inline(always)]
    pub(super) fn sent(&self, stamp_us: u64, end_us: u64) {
        let tick = self.counted(Count::Ticks) as usize;
        if tick < self.ticks {
            self.word(HEAD + 2 * tick).store(stamp_us, Ordering::Relaxed);
            self.word(HEAD + 2 * tick + 1).store(end_us, Ordering::Relaxed);
        }
        self.count(Count::Ticks, 1);
    }

    /// Durations of the sending loops, us, by their stamps.
    pub(super) fn loops(&self) -> Vec<(u64, u64)> {
        let ticks = (self.counted(Count::Ticks) as usize).min(self.ticks);
        let word = |index: usize| self.word(index).load(Ordering::Relaxed);
        (0..ticks)
            .map(|tick| (word(HEAD + 2 * tick), word(HEAD + 2 * tick + 1)))
            .map(|(stamp, end)| (stamp, end.saturating_sub(stamp)))
            .collect()
    }

    /// Client `client` stores its next value, as long as it has room.
    #[inline(always)]
    pub(super) fn store(&self, client: usize, number: usize, value: ClientValue) {
        if number < self.values {
            let at = self.client(client) + HEAD + 2 * number;
            self.word(at).store(value.stamp_us, Ordering::Relaxed);
            self.word(at + 1).store(value.latency_us.cast_unsigned(), Ordering::Relaxed);
        }
    }

    /// Client `client` has ended with so many values, and was scheduled as it asked or not.
    pub(super) fn leave(&self, client: usize, count: usize, granted: bool) {
        let at = self.client(client);
        self.word(at + 1).store(u64::from(granted), Ordering::Relaxed);
        self.word(at).store(count as u64, Ordering::Release);
    }

    /// Whether client `client` was scheduled as it asked.
    pub(super) fn was_granted(&self, client: usize) -> bool {
        self.word(self.client(client) + 1).load(Ordering::Relaxed) != 0
    }

    /// The values of client `client`, from number `discard` on.
    pub(super) fn of(&self, client: usize, discard: usize) -> Vec<ClientValue> {
        let at = self.client(client);
        let count = (self.word(at).load(Ordering::Acquire) as usize).min(self.values);
        let word = |index: usize| self.word(at + HEAD + index).load(Ordering::Relaxed);
        (discard..count)
            .map(|number| ClientValue {
                stamp_us: word(2 * number),
                latency_us: word(2 * number + 1).cast_signed(),
            })
            .collect()
    }

    /// Number of clients.
    pub(super) fn clients(&self) -> usize {
        self.clients
    }
}
