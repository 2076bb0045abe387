//! The three ways to the bytes of a file: by its offset, by position, by a mapping.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use oscost_sys::mapped_file::MappedFile;
use oscost_sys::{CallError, positioned};

use super::{Io, IoCalls};
use crate::between;

fn error(call: &'static str, error: &io::Error) -> CallError {
    // Without an error number it is what std makes of a write of nothing: EIO says it as well as any.
    error.raw_os_error().map_or(CallError::short(call), |errno| CallError::new(call, errno))
}

/// lseek + read, readv, write, writev: as the book does it.
#[derive(Debug)]
pub struct SeekRead {
    file: Arc<File>,
    calls: IoCalls,
}

impl SeekRead {
    /// Access to `file`, whose offset nobody else may move.
    #[must_use]
    pub fn new(file: Arc<File>) -> Self {
        Self { file, calls: IoCalls::default() }
    }

    #[inline]
    fn seek(&mut self, to: SeekFrom) -> Result<u64, CallError> {
        self.calls.lseek += 1;
        between::io(|| (&*self.file).seek(to)).map_err(|failed| error("lseek", &failed))
    }
}

impl Io for SeekRead {
    fn read(&mut self, at: u64, parts: &mut [IoSliceMut<'_>]) -> Result<usize, CallError> {
        self.seek(SeekFrom::Start(at))?;
        if let [part] = parts {
            return self.read_on(part);
        }
        self.calls.readv += 1;
        between::io(|| (&*self.file).read_vectored(parts)).map_err(|failed| error("readv", &failed))
    }

    fn read_on(&mut self, part: &mut [u8]) -> Result<usize, CallError> {
        self.calls.read += 1;
        between::io(|| (&*self.file).read(part)).map_err(|failed| error("read", &failed))
    }

    fn write(&mut self, at: u64, parts: &[IoSlice<'_>]) -> Result<usize, CallError> {
        self.seek(SeekFrom::Start(at))?;
        self.write_on(parts)
    }

    fn end(&mut self) -> Result<u64, CallError> {
        self.seek(SeekFrom::End(0))
    }

    fn write_on(&mut self, parts: &[IoSlice<'_>]) -> Result<usize, CallError> {
        if let [part] = parts {
            self.calls.write += 1;
            return between::io(|| (&*self.file).write(part)).map_err(|failed| error("write", &failed));
        }
        self.calls.writev += 1;
        between::io(|| (&*self.file).write_vectored(parts)).map_err(|failed| error("writev", &failed))
    }

    fn cut(&mut self, length: u64) -> Result<(), CallError> {
        self.calls.ftruncate += 1;
        between::io(|| self.file.set_len(length)).map_err(|failed| error("ftruncate", &failed))
    }

    fn make_room(&mut self, at: u64, length: u64) -> Result<(), CallError> {
        self.calls.fallocate += 1;
        between::io(|| positioned::make_room(self.file.as_fd(), at, length))
    }

    fn calls(&self) -> IoCalls {
        self.calls
    }
}

/// pread64, preadv, pwrite64, pwritev: no offset to move.
#[derive(Debug)]
pub struct Positioned {
    file: Arc<File>,
    next: u64,
    calls: IoCalls,
}

impl Positioned {
    /// Access to `file`.
    #[must_use]
    pub fn new(file: Arc<File>) -> Self {
        Self { file, next: 0, calls: IoCalls::default() }
    }

    #[inline]
    fn moved(&mut self, at: u64, bytes: usize) -> usize {
        self.next = at + bytes as u64;
        bytes
    }
}

impl Io for Positioned {
    fn read(&mut self, at: u64, parts: &mut [IoSliceMut<'_>]) -> Result<usize, CallError> {
        if let [part] = parts {
            self.next = at;
            return self.read_on(part);
        }
        self.calls.preadv += 1;
        let read = between::io(|| positioned::read(self.file.as_fd(), at, parts))?;
        Ok(self.moved(at, read))
    }

    fn read_on(&mut self, part: &mut [u8]) -> Result<usize, CallError> {
        self.calls.pread += 1;
        let read =
            between::io(|| self.file.read_at(part, self.next)).map_err(|failed| error("pread", &failed))?;
        Ok(self.moved(self.next, read))
    }

    fn write(&mut self, at: u64, parts: &[IoSlice<'_>]) -> Result<usize, CallError> {
        self.next = at;
        self.write_on(parts)
    }

    fn end(&mut self) -> Result<u64, CallError> {
        self.calls.lseek += 1;
        self.next =
            between::io(|| (&*self.file).seek(SeekFrom::End(0))).map_err(|failed| error("lseek", &failed))?;
        Ok(self.next)
    }

    fn write_on(&mut self, parts: &[IoSlice<'_>]) -> Result<usize, CallError> {
        let written = if let [part] = parts {
            self.calls.pwrite += 1;
            between::io(|| self.file.write_at(part, self.next)).map_err(|failed| error("pwrite", &failed))?
        } else {
            self.calls.pwritev += 1;
            between::io(|| positioned::write(self.file.as_fd(), self.next, parts))?
        };
        Ok(self.moved(self.next, written))
    }

    fn cut(&mut self, length: u64) -> Result<(), CallError> {
        self.calls.ftruncate += 1;
        between::io(|| self.file.set_len(length)).map_err(|failed| error("ftruncate", &failed))
    }

    fn make_room(&mut self, at: u64, length: u64) -> Result<(), CallError> {
        self.calls.fallocate += 1;
        between::io(|| positioned::make_room(self.file.as_fd(), at, length))
    }

    fn calls(&self) -> IoCalls {
        self.calls
    }
}

/// A shared mapping: bytes that are there are read and written in memory; appending is a pwrite. Who shortens the file
/// under it ends the process by SIGBUS.
#[derive(Debug)]
pub struct Mapped {
    under: Positioned,
    map: MappedFile,
    length: u64,
}

impl Mapped {
    /// Maps the first `limit` bytes of `file`, whether or not they exist yet.
    ///
    /// # Errors
    /// The error of mmap or lseek.
    pub fn new(file: Arc<File>, limit: usize, writable: bool) -> Result<Self, CallError> {
        let map = MappedFile::new(file.as_fd(), limit, writable)?;
        let mut under = Positioned::new(file);
        let length = under.end()?;
        Ok(Self { under, map, length })
    }

    /// How many of `wanted` bytes at `at` exist. Asks for the length of the file only where it may have grown.
    #[inline]
    fn existing(&mut self, at: u64, wanted: usize) -> Result<usize, CallError> {
        let end = at.saturating_add(wanted as u64);
        if end > self.length {
            let next = self.under.next;
            self.length = self.under.end()?;
            self.under.next = next;
        }
        let existing = self.length.saturating_sub(at).min(wanted as u64);
        Ok(usize::try_from(existing).unwrap_or(0))
    }

    #[inline]
    fn copy_out(&mut self, at: u64, part: &mut [u8]) -> Result<usize, CallError> {
        let existing = self.existing(at, part.len())?;
        let first = usize::try_from(at).unwrap_or(usize::MAX);
        let bytes = self.map.bytes(first, existing).ok_or(CallError::new("mmap", EFBIG))?;
        for (to, from) in part.iter_mut().zip(bytes) {
            *to = from.load(Ordering::Relaxed);
        }
        Ok(existing)
    }
}

/// File too large: the error number for an offset outside the mapping.
const EFBIG: i32 = 27;

impl Io for Mapped {
    fn read(&mut self, at: u64, parts: &mut [IoSliceMut<'_>]) -> Result<usize, CallError> {
        let mut read = 0;
        for part in parts {
            let copied = self.copy_out(at + read as u64, part)?;
            read += copied;
            if copied < part.len() {
                break;
            }
        }
        Ok(self.under.moved(at, read))
    }

    fn read_on(&mut self, part: &mut [u8]) -> Result<usize, CallError> {
        let at = self.under.next;
        let read = self.copy_out(at, part)?;
        Ok(self.under.moved(at, read))
    }

    fn write(&mut self, at: u64, parts: &[IoSlice<'_>]) -> Result<usize, CallError> {
        let wanted = parts.iter().map(|part| part.len()).sum();
        if self.existing(at, wanted)? < wanted {
            return self.under.write(at, parts);
        }
        let first = usize::try_from(at).unwrap_or(usize::MAX);
        let bytes = self.map.bytes(first, wanted).ok_or(CallError::new("mmap", EFBIG))?;
        for (to, from) in bytes.iter().zip(parts.iter().flat_map(|part| part.iter())) {
            to.store(*from, Ordering::Relaxed);
        }
        Ok(self.under.moved(at, wanted))
    }

    fn end(&mut self) -> Result<u64, CallError> {
        self.length = self.under.end()?;
        Ok(self.length)
    }

    fn write_on(&mut self, parts: &[IoSlice<'_>]) -> Result<usize, CallError> {
        self.under.write_on(parts)
    }

    fn cut(&mut self, length: u64) -> Result<(), CallError> {
        self.length = self.length.min(length);
        self.under.cut(length)
    }

    fn make_room(&mut self, at: u64, length: u64) -> Result<(), CallError> {
        self.under.make_room(at, length)
    }

    fn calls(&self) -> IoCalls {
        self.under.calls()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 8192;

    fn file(bytes: u64) -> Arc<File> {
        Arc::new(oscost_sys::file::in_memory(bytes).expect("memory").into())
    }

    /// One use of each method, of one part and of two: what it answers, and what the file holds then.
    fn used(file: &File, io: &mut impl Io) -> IoCalls {
        let holds = |expected: &[u8]| {
            let mut bytes = vec![0; expected.len() + 1];
            let length = file.read_at(&mut bytes, 0).expect("read");
            assert_eq!(&bytes[..length], expected);
        };
        assert_eq!(io.write_on(&[IoSlice::new(b"ab")]), Ok(2));
        assert_eq!(io.write_on(&[IoSlice::new(b"cd"), IoSlice::new(b"ef")]), Ok(4));
        holds(b"abcdef");
        assert_eq!(io.write(1, &[IoSlice::new(b"BC")]), Ok(2));
        assert_eq!(io.write(3, &[IoSlice::new(b"D"), IoSlice::new(b"EF")]), Ok(3));
        holds(b"aBCDEF");
        assert_eq!((io.end(), io.write_on(&[IoSlice::new(b"g")])), (Ok(6), Ok(1)));
        assert_eq!(io.write(6, &[IoSlice::new(b"Gh")]), Ok(2));
        holds(b"aBCDEFGh");
        let (mut one, mut two) = ([0; 2], [0; 3]);
        assert_eq!(io.read(1, &mut [IoSliceMut::new(&mut one)]), Ok(2));
        assert_eq!((io.read_on(&mut two), &one, &two), (Ok(3), b"BC", b"DEF"));
        assert_eq!(io.read(0, &mut [IoSliceMut::new(&mut one), IoSliceMut::new(&mut two)]), Ok(5));
        assert_eq!((io.read_on(&mut two), &one, &two), (Ok(3), b"aB", b"FGh"));
        assert_eq!(io.read_on(&mut one), Ok(0), "the end");
        assert_eq!(io.read(7, &mut [IoSliceMut::new(&mut one), IoSliceMut::new(&mut two)]), Ok(1));
        assert_eq!(io.read(9, &mut [IoSliceMut::new(&mut one)]), Ok(0));
        assert_eq!(io.cut(2), Ok(()));
        holds(b"aB");
        assert_eq!(io.make_room(2, 2), Ok(()));
        holds(b"aB\0\0");
        io.calls()
    }

    #[test]
    fn every_way_reads_and_writes_the_same_by_calls_of_its_own() {
        let (empty, none) = (file(0), IoCalls::default());
        let calls = used(&empty, &mut SeekRead::new(Arc::clone(&empty)));
        let pairs = IoCalls { write: 4, writev: 2, read: 5, readv: 2, ..none };
        assert_eq!(calls, IoCalls { lseek: 8, ftruncate: 1, fallocate: 1, ..pairs });

        let empty = file(0);
        let calls = used(&empty, &mut Positioned::new(Arc::clone(&empty)));
        let pairs = IoCalls { pwrite: 4, pwritev: 2, pread: 5, preadv: 2, ..none };
        assert_eq!(calls, IoCalls { lseek: 1, ftruncate: 1, fallocate: 1, ..pairs });

        // What is there is written in memory, as all is read. The length is asked for at first, for a write and for reads behind
        // the known end, and by who wants to know.
        let empty = file(0);
        let calls = used(&empty, &mut Mapped::new(Arc::clone(&empty), LIMIT, true).expect("mapped"));
        let asked = 1 + 1 + 1 + 1 + 4;
        assert_eq!(
            calls,
            IoCalls { lseek: asked, pwrite: 3, pwritev: 1, ftruncate: 1, fallocate: 1, ..none }
        );
    }

    /// A mapping sees what others append, up to the end of it and no further; who asks for more writes on where it was.
    #[test]
    fn a_mapping_ends_where_it_was_made_to_end() {
        let file = file(100);
        let mut io = Mapped::new(Arc::clone(&file), LIMIT, true).expect("mapped");
        assert_eq!((io.end(), io.write_on(&[IoSlice::new(b"abc")])), (Ok(100), Ok(3)));
        file.set_len(2 * LIMIT as u64).expect("longer");
        let mut four = [1; 4];
        assert_eq!(io.read(LIMIT as u64 - 4, &mut [IoSliceMut::new(&mut four)]), Ok(4));
        assert_eq!((io.read_on(&mut four[..1]).map_err(|error| error.errno), four), (Err(27), [0; 4]));
        let behind = io.write(LIMIT as u64 - 1, &[IoSlice::new(b"xy")]);
        assert_eq!(behind.map_err(|error| error.errno), Err(27), "too large");
        let mut io = Mapped::new(Arc::clone(&file), LIMIT, true).expect("mapped");
        (io.length, io.under.next) = (100, 103);
        assert!(io.read(LIMIT as u64 - 1, &mut [IoSliceMut::new(&mut four)]).is_err());
        assert_eq!(io.write_on(&[IoSlice::new(b"d")]), Ok(1));
        file.read_exact_at(&mut four, 100).expect("read");
        assert_eq!(&four, b"abcd");
    }
}
