//! The page that a server inside the kernel stamps and that its clients have mapped: `bpf/tick.bpf.c` and
//! `contrib/kernel_module/oscost_tick.c` write the same one.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use oscost_harness::CallError;
use oscost_sys::mapped_file::MappedFile;

use super::table::Table;
use super::transport::Got;

/// Words: two for each entry.
const SENT: usize = 0;
const DONE: usize = 1;
const LEFT_OUT: usize = 2;
const TICKS: usize = 6;

/// The page of one session.
pub struct KernelPage {
    map: MappedFile,
}

impl KernelPage {
    /// Entries of a page for so many ticks, of 16 bytes each.
    pub const fn entries(ticks: usize) -> usize {
        TICKS / 2 + ticks
    }

    /// Maps the page for `ticks` ticks behind a descriptor.
    ///
    /// # Errors
    /// The error of mmap.
    pub fn of(fd: BorrowedFd<'_>, ticks: usize, writable: bool) -> Result<Self, CallError> {
        Ok(Self { map: MappedFile::new(fd, Self::entries(ticks) * 16, writable)? })
    }

    #[inline(always)]
    fn word(&self, index: usize) -> &AtomicU64 {
        self.map.word(index).expect("every index is one of the page's")
    }

    /// Ticks until now, and whether there will be more.
    #[inline(always)]
    pub fn counted(&self) -> Got {
        // In this order, so that a client that sees the end also sees its number.
        let done = self.word(DONE).load(Ordering::Acquire) != 0;
        let sent = self.word(SENT).load(Ordering::Acquire);
        Got::Counted { sent: usize::try_from(sent).unwrap_or(usize::MAX), done }
    }

    /// The course, for a server that reads it here: ns of CLOCK_MONOTONIC, ns, and a number.
    #[cfg(feature = "bpf")]
    pub fn plan(&self, start_ns: u64, period_ns: u64, ticks: usize) {
        for (word, value) in [(3, start_ns), (4, period_ns), (5, ticks as u64)] {
            self.word(word).store(value, Ordering::Release);
        }
    }

    /// Copies what the server noted to the table of the session, after its end.
    pub fn copy_to(&self, table: &Table) {
        let sent = usize::try_from(self.word(SENT).load(Ordering::Acquire)).unwrap_or(usize::MAX);
        let sent = sent.min(table.ticks());
        for tick in 0..sent {
            let [due, stamp] =
                [0, 1].map(|which| self.word(TICKS + 2 * tick + which).load(Ordering::Acquire));
            table.publish(tick, due, stamp);
            table.sent_by(tick, stamp);
        }
        table.finish(sent, self.word(LEFT_OUT).load(Ordering::Acquire), 0);
    }
}
