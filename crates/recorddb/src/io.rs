//! What a way to the bytes of a file is, its calls counted, and how whole reads, writes and appends are made of them.

mod ways;

use std::io::{IoSlice, IoSliceMut};

use oscost_sys::CallError;

pub use ways::{Mapped, Positioned, SeekRead};

/// System calls of I/O that were made, by name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IoCalls {
    /// lseek.
    pub lseek: u64,
    /// read.
    pub read: u64,
    /// readv.
    pub readv: u64,
    /// pread64.
    pub pread: u64,
    /// preadv.
    pub preadv: u64,
    /// write.
    pub write: u64,
    /// writev.
    pub writev: u64,
    /// pwrite64.
    pub pwrite: u64,
    /// pwritev.
    pub pwritev: u64,
    /// ftruncate.
    pub ftruncate: u64,
    /// fallocate.
    pub fallocate: u64,
}

impl IoCalls {
    /// Names as the kernel has them, with the counts.
    #[must_use]
    pub fn by_name(&self) -> [(&'static str, u64); 11] {
        [
            ("lseek", self.lseek),
            ("read", self.read),
            ("readv", self.readv),
            ("pread64", self.pread),
            ("preadv", self.preadv),
            ("write", self.write),
            ("writev", self.writev),
            ("pwrite64", self.pwrite),
            ("pwritev", self.pwritev),
            ("ftruncate", self.ftruncate),
            ("fallocate", self.fallocate),
        ]
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.by_name().iter().map(|(_, count)| count).sum()
    }

    /// The sum of two files' calls.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            lseek: self.lseek + other.lseek,
            read: self.read + other.read,
            readv: self.readv + other.readv,
            pread: self.pread + other.pread,
            preadv: self.preadv + other.preadv,
            write: self.write + other.write,
            writev: self.writev + other.writev,
            pwrite: self.pwrite + other.pwrite,
            pwritev: self.pwritev + other.pwritev,
            ftruncate: self.ftruncate + other.ftruncate,
            fallocate: self.fallocate + other.fallocate,
        }
    }
}

/// Access to one file. Each method makes the calls that its way needs, once: it may move fewer bytes than asked for, or
/// fail with EINTR. [`read_all`], [`write_rest`] and [`append`] are what users of it want. Faults are injected by wrapping it.
pub trait Io {
    /// Reads what stands at `at`; how many bytes there were.
    ///
    /// # Errors
    /// The error of the call.
    fn read(&mut self, at: u64, parts: &mut [IoSliceMut<'_>]) -> Result<usize, CallError>;

    /// Goes on reading where the last read ended.
    ///
    /// # Errors
    /// The error of the call.
    fn read_on(&mut self, part: &mut [u8]) -> Result<usize, CallError>;

    /// Writes over what stands at `at`; how many bytes were written.
    ///
    /// # Errors
    /// The error of the call.
    fn write(&mut self, at: u64, parts: &[IoSlice<'_>]) -> Result<usize, CallError>;

    /// Where the file ends; the next [`Io::write_on`] appends.
    ///
    /// # Errors
    /// The error of the call.
    fn end(&mut self) -> Result<u64, CallError>;

    /// Appends, after [`Io::end`]; how many bytes were written.
    ///
    /// # Errors
    /// The error of the call.
    fn write_on(&mut self, parts: &[IoSlice<'_>]) -> Result<usize, CallError>;

    /// Cuts the file to `length`, or lengthens it with zeros.
    ///
    /// # Errors
    /// The error of the call.
    fn cut(&mut self, length: u64) -> Result<(), CallError>;

    /// Makes room, which reads as zeros. Never shortens.
    ///
    /// # Errors
    /// The error of the call.
    fn make_room(&mut self, at: u64, length: u64) -> Result<(), CallError>;

    /// What was called so far.
    fn calls(&self) -> IoCalls;
}

/// Interrupted system call: tried again.
pub(crate) const EINTR: i32 = 4;
/// The number of that error, likewise: a path that names nothing.
pub(crate) const EINVAL: i32 = 22;

/// Reads until `buffer` is full or the file ends; how many bytes there were.
///
/// # Errors
/// The error of the call, but for EINTR.
#[inline]
pub fn read_all(io: &mut impl Io, at: u64, buffer: &mut [u8]) -> Result<usize, CallError> {
    let mut read = 0;
    while read < buffer.len() {
        match io.read(at + read as u64, &mut [IoSliceMut::new(&mut buffer[read..])]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.errno == EINTR => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

/// Writes all of `first` and `second`, one after the other, at `at`, where a first call has `written` already.
///
/// # Errors
/// The error of the call, but for EINTR: what was written until then stays.
#[inline]
pub fn write_rest(
    io: &mut impl Io,
    at: u64,
    first: &[u8],
    second: &[u8],
    mut written: usize,
) -> Result<(), CallError> {
    while written < first.len() + second.len() {
        let rest = (&first[written.min(first.len())..], &second[written.saturating_sub(first.len())..]);
        let to = at + written as u64;
        let result = if rest.0.is_empty() {
            io.write(to, &[IoSlice::new(rest.1)])
        } else if rest.1.is_empty() {
            io.write(to, &[IoSlice::new(rest.0)])
        } else {
            io.write(to, &[IoSlice::new(rest.0), IoSlice::new(rest.1)])
        };
        match result {
            // A write of nothing would go on for ever.
            Ok(0) => return Err(CallError::short("write")),
            Ok(more) => written += more,
            Err(error) if error.errno == EINTR => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Appends all of `first` and `second`; where they begin. What a failed append has left is cut off again.
///
/// # Errors
/// The error of the call, but for EINTR.
pub fn append(io: &mut impl Io, first: &[u8], second: &[u8], limit: u64) -> Result<Option<u64>, CallError> {
    let at = loop {
        match io.end() {
            Err(error) if error.errno == EINTR => {}
            other => break other?,
        }
    };
    if at > limit {
        return Ok(None);
    }
    let written = match io.write_on(&[IoSlice::new(first), IoSlice::new(second)]) {
        Err(error) if error.errno == EINTR => 0,
        Err(error) => return Err(error),
        Ok(written) => written,
    };
    if let Err(error) = write_rest(io, at, first, second, written) {
        // A disk that is full wrote a part: without the cut it would stand before the next record. Where even that fails,
        // the first error is the one to tell.
        let _ = io.cut(at);
        return Err(error);
    }
    Ok(Some(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_two_files_has_the_calls_of_both_by_name() {
        let one = IoCalls {
            lseek: 1,
            read: 2,
            readv: 3,
            pread: 4,
            preadv: 5,
            write: 6,
            writev: 7,
            pwrite: 8,
            pwritev: 9,
            ftruncate: 10,
            fallocate: 11,
        };
        let counts = one.plus(&one.plus(&one)).by_name().map(|(_, count)| count);
        assert_eq!(counts, std::array::from_fn(|place| 3 * (place as u64 + 1)));
        assert_eq!(one.total(), 66);
    }

    /// Two parts are one call that gathers them; what is left of one alone is a plain one.
    #[test]
    fn what_is_left_to_write_takes_the_call_for_its_parts() {
        let calls = |first: &[u8], second: &[u8], written: usize| {
            let file = oscost_sys::file::in_memory(0).expect("memory");
            let mut io = Positioned::new(std::sync::Arc::new(file.into()));
            write_rest(&mut io, 0, first, second, written).expect("room");
            let (all, mut there) = ([first, second].concat(), vec![0; 9]);
            let read = read_all(&mut io, written as u64, &mut there).expect("read");
            assert_eq!(there[..read], all[written..]);
            (io.calls().pwrite, io.calls().pwritev)
        };
        assert_eq!([calls(b"one", b"two", 0), calls(b"one", b"two", 2)], [(0, 1); 2]);
        assert_eq!([calls(b"one", b"two", 3), calls(b"one", b"two", 5), calls(b"one", b"", 0)], [(1, 0); 3]);
        assert_eq!(calls(b"one", b"two", 6), (0, 0));
    }

    /// An append at the limit is the last one: what would begin behind it is not written.
    #[test]
    fn nothing_is_appended_behind_the_limit() {
        for (length, expected) in [(6, Some(6)), (7, Some(7)), (8, None)] {
            let file = oscost_sys::file::in_memory(length).expect("memory");
            let mut io = Positioned::new(std::sync::Arc::new(file.into()));
            assert_eq!(append(&mut io, b"one", b"two", 7), Ok(expected));
            assert_eq!(io.end(), Ok(length + expected.map_or(0, |_| 6)));
        }
    }

    /// A mapping knows that its file was cut, and lengthened again.
    #[test]
    fn what_was_cut_off_is_not_read() {
        let file = oscost_sys::file::in_memory(400).expect("memory");
        let mut io = Mapped::new(std::sync::Arc::new(file.into()), 4096, true).expect("mapped");
        let mut there = [0; 400];
        for length in [400, 100, 300, 0] {
            io.cut(length as u64).expect("cut");
            assert_eq!(read_all(&mut io, 0, &mut there), Ok(length));
        }
    }
}
