//! The memory that controller, server and clients of a session share: stamps by sequence number, and who received what
//! when. Touched before the session, so that nobody faults in it.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};

use oscost_harness::CallError;
use oscost_sys::mapped_file::MappedFile;
use oscost_sys::usage::Usage;
use oscost_sys::{file, memory::SharedWords};

/// Words of the server's part.
const SERVER: usize = 32;
/// Words of each client's part: the first half is written by the client, the second by the server.
const CLIENT: usize = 32;

/// Words of the server's part.
const HEAD: usize = 0;
const DONE: usize = 16;
const SENT: usize = 17;
const OVERRUNS: usize = 18;
const CPU_NS: usize = 19;
/// Where a participant's account begins, in its part.
const ACCOUNT: usize = 24;
const CLIENT_ACCOUNT: usize = 4;
/// Words of a client's part.
const RECEIVED: usize = 0;
const GAPS: usize = 1;
const DROPPED: usize = 16;
const GONE: usize = 17;

/// What a participant says of itself at its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Account {
    /// Switches and faults of its loop.
    pub usage: Usage,
    /// Changes of its CPU; `None` where it was not told on which it was.
    pub migrations: Option<u64>,
    /// It was scheduled as it asked, before and after.
    pub as_asked: bool,
}

/// The shared memory of one session.
#[derive(Debug)]
pub struct Table {
    map: MappedFile,
    bells: SharedWords,
    clients: usize,
    ticks: usize,
}

impl Table {
    /// Memory for so many clients and ticks.
    ///
    /// # Errors
    /// The error of memfd_create, ftruncate or mmap.
    pub fn new(clients: usize, ticks: usize) -> Result<Self, CallError> {
        let words = SERVER + clients * CLIENT + (3 + clients) * ticks;
        let fd = file::in_memory((words * 8).next_multiple_of(4096) as u64)?;
        let map = MappedFile::new(fd.as_fd(), words * 8, true)?;
        let table = Self { map, bells: SharedWords::new(clients + 1)?, clients, ticks };
        table.touch();
        Ok(table)
    }

    /// Touches every page in the calling process.
    pub fn touch(&self) {
        for index in (0..self.map.len_words()).step_by(512) {
            self.word(index).fetch_add(0, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn word(&self, index: usize) -> &AtomicU64 {
        self.map.word(index).expect("every index is one of the table's")
    }

    #[inline(always)]
    fn get(&self, index: usize) -> u64 {
        self.word(index).load(Ordering::Acquire)
    }

    #[inline(always)]
    fn set(&self, index: usize, value: u64) {
        self.word(index).store(value, Ordering::Release);
    }

    #[inline(always)]
    fn client(&self, client: usize, what: usize) -> usize {
        SERVER + client * CLIENT + what
    }

    #[inline(always)]
    fn series(&self, which: usize, tick: usize) -> usize {
        SERVER + self.clients * CLIENT + which * self.ticks + tick
    }

    /// Number of clients.
    #[inline(always)]
    pub fn clients(&self) -> usize {
        self.clients
    }

    /// Most ticks of the session.
    #[inline(always)]
    pub fn ticks(&self) -> usize {
        self.ticks
    }

    /// A word that everybody can sleep on: it changes with every tick, and at the end.
    #[inline(always)]
    pub fn bell(&self) -> &AtomicU64 {
        self.bells.word(0)
    }

    /// A word that one client can sleep on.
    #[inline(always)]
    pub fn bell_of(&self, client: usize) -> &AtomicU64 {
        self.bells.word(1 + client)
    }

    /// How many ticks have been published.
    #[inline(always)]
    pub fn head(&self) -> usize {
        usize::try_from(self.get(HEAD)).unwrap_or(usize::MAX).min(self.ticks)
    }

    /// The server is about to send tick `tick`.
    #[inline(always)]
    pub fn publish(&self, tick: usize, due_ns: u64, stamp_ns: u64) {
        self.set(self.series(0, tick), due_ns);
        self.set(self.series(1, tick), stamp_ns);
        self.set(HEAD, tick as u64 + 1);
    }

    /// The server has sent tick `tick` to everybody.
    #[inline(always)]
    pub fn sent_by(&self, tick: usize, now_ns: u64) {
        self.set(self.series(2, tick), now_ns);
    }

    /// Client `client` has got tick `tick`.
    #[inline(always)]
    pub fn receive(&self, client: usize, tick: usize, now_ns: u64) {
        if tick < self.ticks {
            self.set(self.series(3 + client, tick), now_ns);
            self.word(self.client(client, RECEIVED)).fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Client `client` has seen that `ticks` ticks passed it by.
    #[inline(always)]
    pub fn miss(&self, client: usize, ticks: u64) {
        self.word(self.client(client, GAPS)).fetch_add(ticks, Ordering::Relaxed);
    }

    /// The queue of client `client` was full.
    #[inline(always)]
    pub fn drop_for(&self, client: usize) {
        self.word(self.client(client, DROPPED)).fetch_add(1, Ordering::Relaxed);
    }

    /// Client `client` is gone.
    pub fn lose(&self, client: usize) {
        self.set(self.client(client, GONE), 1);
    }

    /// Whether client `client` is gone.
    #[inline(always)]
    pub fn is_gone(&self, client: usize) -> bool {
        self.get(self.client(client, GONE)) != 0
    }

    /// The server has sent its last tick.
    pub fn finish(&self, sent: usize, overruns: u64, cpu_ns: u64) {
        self.set(SENT, sent as u64);
        self.set(OVERRUNS, overruns);
        self.set(CPU_NS, cpu_ns);
        self.set(DONE, 1);
    }

    /// Whether the server has sent its last tick.
    #[inline(always)]
    pub fn is_done(&self) -> bool {
        self.get(DONE) != 0
    }

    /// Ticks that the server sent.
    pub fn sent(&self) -> usize {
        usize::try_from(self.get(SENT)).unwrap_or(usize::MAX).min(self.ticks)
    }

    /// Ticks that the server left out because it was late.
    pub fn overruns(&self) -> u64 {
        self.get(OVERRUNS)
    }

    /// CPU time of the server's loop, ns.
    pub fn cpu_ns(&self) -> u64 {
        self.get(CPU_NS)
    }

    /// (due, stamp, end of the send loop) of a tick, ns.
    pub fn tick(&self, tick: usize) -> [u64; 3] {
        [0, 1, 2].map(|which| self.get(self.series(which, tick)))
    }

    /// When client `client` had tick `tick`, ns; `None`: never.
    pub fn received(&self, client: usize, tick: usize) -> Option<u64> {
        Some(self.get(self.series(3 + client, tick))).filter(|&ns| ns != 0)
    }

    /// (received, gaps, dropped) of a client, as it and the server counted them.
    pub fn counts(&self, client: usize) -> [u64; 3] {
        [RECEIVED, GAPS, DROPPED].map(|what| self.get(self.client(client, what)))
    }

    /// How often client `client` got ticks: those that it got at once have one time.
    pub fn receptions(&self, client: usize) -> usize {
        let mut last = None;
        (0..self.sent())
            .filter_map(|tick| self.received(client, tick))
            .filter(|&ns| last.replace(ns) != Some(ns))
            .count()
    }

    /// A number that grows as long as ticks are sent to somebody and come to somebody.
    pub fn progress(&self) -> u64 {
        let received = (0..self.clients).map(|client| self.counts(client)[0]);
        self.head() as u64 + received.sum::<u64>() + u64::from(self.is_done())
    }

    fn account_at(&self, of: Option<usize>) -> usize {
        of.map_or(ACCOUNT, |client| self.client(client, CLIENT_ACCOUNT))
    }

    /// A participant (the server without a number) leaves its account.
    pub fn leave(&self, of: Option<usize>, account: &Account) {
        let Account { usage, migrations, as_asked } = account;
        let values = [
            usage.voluntary_switches,
            usage.involuntary_switches,
            usage.minor_faults,
            usage.major_faults,
            migrations.map_or(0, |migrations| migrations + 1),
            u64::from(*as_asked),
        ];
        for (offset, value) in values.into_iter().enumerate() {
            self.set(self.account_at(of) + offset, value);
        }
    }

    /// The account of a participant.
    pub fn account(&self, of: Option<usize>) -> Account {
        let at = |offset: usize| self.get(self.account_at(of) + offset);
        Account {
            usage: Usage {
                voluntary_switches: at(0),
                involuntary_switches: at(1),
                minor_faults: at(2),
                major_faults: at(3),
                ..Usage::default()
            },
            migrations: at(4).checked_sub(1),
            as_asked: at(5) != 0,
        }
    }
}
