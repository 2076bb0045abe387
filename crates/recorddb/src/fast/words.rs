//! Words of a file, read and written by each kind of I/O.

use std::fs::File;
use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use oscost_sys::CallError;
use oscost_sys::mapped_file::MappedFile;

use super::format::damage;
use crate::error::Error;
use crate::io::{self, EINTR, Io, IoCalls, Positioned};

/// Access to words. A store happens after all stores before it, as another process sees it.
pub(crate) trait Words {
    /// The word at index `at`.
    fn load(&mut self, at: u64) -> Result<u64, Error>;
    /// Sets it.
    fn store(&mut self, at: u64, word: u64) -> Result<(), Error>;
    /// Words from `at` on.
    fn read(&mut self, at: u64, words: &mut [u64]) -> Result<(), Error>;
    /// Sets them, in order.
    fn write(&mut self, at: u64, words: &[u64]) -> Result<(), Error>;
    /// Makes the file hold `end` words.
    fn make_room(&mut self, end: u64) -> Result<(), Error>;
    /// Calls that were made.
    fn calls(&self) -> IoCalls;
}

/// Operation not supported: what fallocate says where the file system cannot.
const EOPNOTSUPP: i32 = 95;

/// Lengthens a file to hold `end` words, and some more, so that it is seldom done. What is added reads as zeros.
fn lengthen(io: &mut impl Io, known: &mut u64, end: u64) -> Result<(), Error> {
    let wanted = end * 8;
    if wanted <= *known {
        return Ok(());
    }
    *known = retry(|| io.end())?;
    if wanted <= *known {
        return Ok(());
    }
    let from = *known;
    let needed = wanted - from;
    let step = needed.max((wanted / 4).clamp(256 << 10, 32 << 20));
    let mut room = |length: u64| retry(|| io.make_room(from, length));
    let made = match room(step) {
        Ok(()) => step,
        // The disk may hold what is needed, if not more.
        Err(_) => match room(needed) {
            Ok(()) => needed,
            Err(error) if error.errno == EOPNOTSUPP => {
                io::write_rest(io, from, &vec![0; usize::try_from(needed).unwrap_or(0)], &[], 0)?;
                needed
            }
            Err(error) => return Err(error.into()),
        },
    };
    *known = from + made;
    Ok(())
}

fn retry<T>(mut call: impl FnMut() -> Result<T, CallError>) -> Result<T, CallError> {
    loop {
        match call() {
            Err(error) if error.errno == EINTR => {}
            other => return other,
        }
    }
}

/// Words of a shared mapping.
#[derive(Debug)]
pub(crate) struct MappedWords {
    map: Arc<MappedFile>,
    file: Positioned,
    /// Bytes that the file is known to have.
    known: u64,
}

impl MappedWords {
    /// Words of `file`, which `map` maps and which has `known` bytes.
    pub fn new(map: Arc<MappedFile>, file: Arc<File>, known: u64) -> Self {
        Self { map, file: Positioned::new(file), known }
    }

    /// That the file has these words: a damaged pointer is an error, and no SIGBUS. Its length is asked for only where
    /// another process may have lengthened it.
    #[inline(always)]
    fn inside(&mut self, at: u64, count: usize) -> Result<(), Error> {
        let end = at.saturating_add(count as u64).saturating_mul(8);
        if end <= self.known { Ok(()) } else { self.look_again(at, end) }
    }

    #[cold]
    fn look_again(&mut self, at: u64, end: u64) -> Result<(), Error> {
        self.known = retry(|| self.file.end())?;
        if end <= self.known { Ok(()) } else { Err(outside(at)) }
    }
}

/// An index that a mapping may have, or none.
#[inline(always)]
fn index(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

#[inline(always)]
fn outside(at: u64) -> Error {
    damage("a word outside the file", at).into()
}

impl Words for MappedWords {
    #[inline]
    fn load(&mut self, at: u64) -> Result<u64, Error> {
        self.inside(at, 1)?;
        Ok(self.map.word(index(at)).ok_or(outside(at))?.load(Ordering::Acquire))
    }

    #[inline]
    fn store(&mut self, at: u64, word: u64) -> Result<(), Error> {
        self.inside(at, 1)?;
        self.map.word(index(at)).ok_or(outside(at))?.store(word, Ordering::Release);
        Ok(())
    }

    #[inline]
    fn read(&mut self, at: u64, words: &mut [u64]) -> Result<(), Error> {
        self.inside(at, words.len())?;
        let from = self.map.words(index(at), words.len()).ok_or(outside(at))?;
        for (to, from) in words.iter_mut().zip(from) {
            *to = from.load(Ordering::Relaxed);
        }
        Ok(())
    }

    #[inline]
    fn write(&mut self, at: u64, words: &[u64]) -> Result<(), Error> {
        self.inside(at, words.len())?;
        let to = self.map.words(index(at), words.len()).ok_or(outside(at))?;
        for (to, from) in to.iter().zip(words) {
            to.store(*from, Ordering::Relaxed);
        }
        Ok(())
    }

    fn make_room(&mut self, end: u64) -> Result<(), Error> {
        if index(end) > self.map.len_words() {
            return Err(Error::Full("the file is larger than what is mapped of it"));
        }
        lengthen(&mut self.file, &mut self.known, end)
    }

    fn calls(&self) -> IoCalls {
        self.file.calls()
    }
}

/// Words read and written by calls.
#[derive(Debug)]
pub(crate) struct FileWords<I> {
    io: I,
    known: u64,
    bytes: Vec<u8>,
}

impl<I: Io> FileWords<I> {
    /// Words of the file behind `io`, which has `known` bytes.
    pub fn new(io: I, known: u64) -> Self {
        Self { io, known, bytes: Vec::new() }
    }
}

impl<I: Io> Words for FileWords<I> {
    fn load(&mut self, at: u64) -> Result<u64, Error> {
        let mut word = [0];
        self.read(at, &mut word)?;
        Ok(word[0])
    }

    fn store(&mut self, at: u64, word: u64) -> Result<(), Error> {
        self.write(at, &[word])
    }

    fn read(&mut self, at: u64, words: &mut [u64]) -> Result<(), Error> {
        let position = at.checked_mul(8).ok_or(outside(at))?;
        self.bytes.resize(words.len() * 8, 0);
        if io::read_all(&mut self.io, position, &mut self.bytes)? < self.bytes.len() {
            return Err(outside(at));
        }
        for (word, bytes) in words.iter_mut().zip(self.bytes.as_chunks::<8>().0) {
            *word = u64::from_ne_bytes(*bytes);
        }
        Ok(())
    }

    fn write(&mut self, at: u64, words: &[u64]) -> Result<(), Error> {
        let position = at.checked_mul(8).ok_or(outside(at))?;
        self.bytes.clear();
        self.bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        let written = match self.io.write(position, &[IoSlice::new(&self.bytes)]) {
            Err(error) if error.errno == EINTR => 0,
            other => other?,
        };
        Ok(io::write_rest(&mut self.io, position, &self.bytes, &[], written)?)
    }

    fn make_room(&mut self, end: u64) -> Result<(), Error> {
        lengthen(&mut self.io, &mut self.known, end)
    }

    fn calls(&self) -> IoCalls {
        self.io.calls()
    }
}

/// Words in memory: what the checker reads.
#[derive(Debug)]
pub(crate) struct MemoryWords(pub Vec<u64>);

impl Words for MemoryWords {
    fn load(&mut self, at: u64) -> Result<u64, Error> {
        self.0.get(index(at)).copied().ok_or(outside(at))
    }

    fn store(&mut self, at: u64, word: u64) -> Result<(), Error> {
        *self.0.get_mut(index(at)).ok_or(outside(at))? = word;
        Ok(())
    }

    fn read(&mut self, at: u64, words: &mut [u64]) -> Result<(), Error> {
        let from = index(at);
        let found = self.0.get(from..from.saturating_add(words.len())).ok_or(outside(at))?;
        words.copy_from_slice(found);
        Ok(())
    }

    fn write(&mut self, at: u64, words: &[u64]) -> Result<(), Error> {
        let from = index(at);
        let found = self.0.get_mut(from..from.saturating_add(words.len())).ok_or(outside(at))?;
        found.copy_from_slice(words);
        Ok(())
    }

    fn make_room(&mut self, end: u64) -> Result<(), Error> {
        self.0.resize(index(end).max(self.0.len()), 0);
        Ok(())
    }

    fn calls(&self) -> IoCalls {
        IoCalls::default()
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    /// A file grows by a quarter of what is wanted of it, and by 256 KiB at least; what is mapped of it ends where the mapping ends.
    #[test]
    fn a_file_grows_in_steps_and_within_what_is_mapped() {
        const LEAST: u64 = 256 << 10;
        let file = Arc::new(File::from(oscost_sys::file::in_memory(0).expect("memory")));
        let mut words = FileWords::new(Positioned::new(Arc::clone(&file)), 0);
        let mut grown = |end: u64| {
            words.make_room(end).expect("room");
            file.metadata().expect("a length").len()
        };
        assert_eq!((grown(1), grown(LEAST / 8)), (LEAST, LEAST), "it is there already");
        assert_eq!(grown(LEAST / 8 + 1), 2 * LEAST);
        assert_eq!(grown(1 << 20), 8 << 20, "no more than is wanted, where that is more than a step");
        assert_eq!(grown((1 << 20) + 1), (8 << 20) + ((8 << 20) + 8) / 4);

        let length = file.metadata().expect("a length").len();
        let bytes = usize::try_from(length).expect("small");
        let map = Arc::new(MappedFile::new(file.as_fd(), bytes, true).expect("mapped"));
        let whole = map.len_words() as u64;
        let mut words = MappedWords::new(map, Arc::clone(&file), length);
        assert_eq!(words.make_room(whole), Ok(()));
        assert!(matches!(words.make_room(whole + 1), Err(Error::Full(_))));
    }

    /// Every way to the words of a file has those that are there, to the last one, and no other.
    #[test]
    fn the_last_word_is_there_and_none_behind_it() {
        let file = Arc::new(File::from(oscost_sys::file::in_memory(32).expect("memory")));
        let map = Arc::new(MappedFile::new(file.as_fd(), 1 << 16, true).expect("mapped"));
        let mut mapped = MappedWords::new(map, Arc::clone(&file), 32);
        let mut by_calls = FileWords::new(Positioned::new(file), 32);
        let mut memory = MemoryWords(vec![0; 4]);
        fn holds(words: &mut impl Words) {
            assert_eq!(words.write(1, &[5, 6, 7]), Ok(()));
            let mut read = [1; 4];
            assert_eq!((words.read(0, &mut read), read), (Ok(()), [0, 5, 6, 7]));
            assert_eq!((words.store(3, 8), words.load(3)), (Ok(()), Ok(8)));
            let outside = |at| Err(super::outside(at));
            assert_eq!((words.load(4), words.read(1, &mut read)), (Err(super::outside(4)), outside(1)));
            assert_eq!(words.load(u64::MAX), Err(super::outside(u64::MAX)));
        }
        holds(&mut mapped);
        holds(&mut by_calls);
        holds(&mut memory);
        for end in [words_outside(&mut mapped), words_outside(&mut memory)] {
            assert_eq!(
                end,
                [Err(outside(4)), Err(outside(2))],
                "what a file has is not lengthened by a write"
            );
        }
    }

    /// A disk that makes room, or says by plan why not.
    #[derive(Default)]
    struct Disk {
        length: u64,
        /// What the next calls that make room say, the last one first.
        errors: Vec<i32>,
        /// What was asked for: where, and how much.
        rooms: Vec<(u64, u64)>,
        /// Asked for its length so often.
        ends: u64,
    }

    impl Io for Disk {
        fn read(&mut self, _: u64, _: &mut [std::io::IoSliceMut<'_>]) -> Result<usize, CallError> {
            Ok(0)
        }
        fn read_on(&mut self, _: &mut [u8]) -> Result<usize, CallError> {
            Ok(0)
        }
        fn write(&mut self, at: u64, parts: &[IoSlice<'_>]) -> Result<usize, CallError> {
            let written = parts.iter().map(|part| part.len()).sum();
            self.length = self.length.max(at + written as u64);
            Ok(written)
        }
        fn end(&mut self) -> Result<u64, CallError> {
            self.ends += 1;
            Ok(self.length)
        }
        fn write_on(&mut self, _: &[IoSlice<'_>]) -> Result<usize, CallError> {
            Ok(0)
        }
        fn cut(&mut self, _: u64) -> Result<(), CallError> {
            Ok(())
        }
        fn make_room(&mut self, at: u64, length: u64) -> Result<(), CallError> {
            self.rooms.push((at, length));
            match self.errors.pop() {
                Some(errno) => Err(CallError::new("fallocate", errno)),
                None => {
                    self.length = self.length.max(at + length);
                    Ok(())
                }
            }
        }
        fn calls(&self) -> IoCalls {
            IoCalls::default()
        }
    }

    /// A disk of `length` bytes that is known to have `known` of them, made to hold `end` words: what it was asked for, and what it
    /// is known to have, if it holds them.
    fn asked(known: u64, length: u64, end: u64, errors: &[i32]) -> (Vec<(u64, u64)>, u64, Option<u64>) {
        let mut disk = Disk { length, errors: errors.to_vec(), ..Disk::default() };
        let mut knows = known;
        let made = lengthen(&mut disk, &mut knows, end);
        assert!(made.is_err() || disk.length == knows && knows >= end * 8 || disk.ends == 0);
        (disk.rooms, disk.ends, made.is_ok().then_some(knows))
    }

    #[test]
    fn room_is_made_once_for_what_is_missing_and_a_quarter_of_all() {
        const KIB: u64 = 1 << 10;
        const MIB: u64 = 1 << 20;
        let none = Vec::new;
        assert_eq!(asked(80, 80, 10, &[]), (none(), 0, Some(80)), "it is known to be there");
        assert_eq!(asked(72, 80, 10, &[]), (none(), 1, Some(80)), "somebody else has made it");
        assert_eq!(asked(72, 80, 11, &[]), (vec![(80, 256 * KIB)], 1, Some(80 + 256 * KIB)));
        let of_four = |more| (4 * MIB + more * MIB, vec![(4 * MIB, more * MIB)]);
        let (all, room) = of_four(12);
        assert_eq!(asked(4 * MIB, 4 * MIB, 2 * MIB, &[]), (room, 1, Some(all)), "what is needed is more");
        let (all, room) = of_four(1);
        let (rooms, _, known) = asked(4 * MIB, 4 * MIB, MIB / 2 + 1, &[]);
        assert_eq!((rooms, known), (vec![(room[0].0, room[0].1 + 2)], Some(all + 2)), "a quarter of all");
        let (rooms, _, known) = asked(0, 400 * MIB, 50 * MIB + 1, &[]);
        assert_eq!((rooms, known), (vec![(400 * MIB, 32 * MIB)], Some(432 * MIB)), "and 32 MiB at most");
    }

    #[test]
    fn what_is_needed_is_made_where_no_more_can_be_had() {
        let both = |needed| vec![(80, 256 << 10), (80, needed)];
        assert_eq!(asked(0, 80, 12, &[28]), (both(16), 1, Some(96)));
        assert_eq!(asked(0, 80, 12, &[28, 28]), (both(16), 1, None));
        assert_eq!(asked(0, 80, 12, &[EOPNOTSUPP, 95]), (both(16), 1, Some(96)), "zeros are written");
        let three = vec![(80, 256 << 10), (80, 256 << 10), (80, 16), (80, 16)];
        assert_eq!(asked(0, 80, 12, &[EINTR, 28, EINTR]), (three, 1, Some(96)), "signals are waited through");
        // A file that ends within a word.
        let rooms = vec![(87, 256 << 10), (87, 1)];
        assert_eq!(asked(0, 87, 11, &[95, 95]), (rooms, 1, Some(88)), "the last byte, too");
    }

    /// What others have made is seen when it is looked for, and not asked for before.
    #[test]
    fn a_mapping_of_words_sees_what_others_made() {
        let file = Arc::new(File::from(oscost_sys::file::in_memory(32).expect("memory")));
        let map = Arc::new(MappedFile::new(file.as_fd(), 1 << 16, true).expect("mapped"));
        let mut words = MappedWords::new(map, Arc::clone(&file), 32);
        assert_eq!((words.load(3), words.calls().lseek), (Ok(0), 0));
        assert_eq!((words.load(4), words.calls().lseek), (Err(outside(4)), 1));
        file.set_len(40).expect("longer");
        assert_eq!((words.load(4), words.load(4), words.calls().lseek), (Ok(0), Ok(0), 2));
        assert_eq!((words.load(5), words.known), (Err(outside(5)), 40));
    }

    fn words_outside(words: &mut impl Words) -> [Result<(), Error>; 2] {
        [words.store(4, 1), words.write(2, &[1; 3])]
    }
}
