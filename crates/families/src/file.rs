//! One operation on one file of one page: made and removed, opened and closed, read, written, written through.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::OwnedFd;

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, Card, Claim, Directory, Outcome, Parameter, PostCondition, SetUp,
    Sharing, Subject, Unable,
};
use oscost_sys::file_page::{self, PAGE};
use oscost_sys::file_system;
use oscost_sys::folder::Folder;

use crate::operation::{Operation, operation};
use crate::row::row;
use crate::{claims, lack};

const FILE: Card = Card { group: "file", ..Card::BATCHED };

const LIST: Card = Card {
    group: "file/list",
    claims: &claims::one_each(&["lseek", "_llseek"], &["getdents64"]),
    ..Card::BATCHED
};

pub const ALL: &[&dyn Benchmark] = &[
    // What making one is compared with.
    &operation(
        &Card {
            id: "file/open_close",
            title: "open and close of a file",
            operation: "one open of an existing file with O_RDONLY and O_CLOEXEC, and one close",
            claims: &claims::one_each(&["openat"], &["close"]),
            ..FILE
        },
        Place::make,
        |place| file_page::close(file_page::open(place.folder(), NAME)?),
    )
    .sharing(Sharing::Inherited("the file"))
    .verify(|place| {
        let names = place.folder().names()?.len();
        Ok(vec![PostCondition::exactly("files_in_the_folder", 1.0, names as f64)])
    })
    .remarks(|place| place.remarks()),
    &operation(
        &Card {
            id: "file/create_unlink",
            title: "making and removing a file",
            operation: "one open with O_CREAT and O_EXCL that makes an empty file, its close and its unlink",
            claims: &CREATE_UNLINK,
            baseline: Some("file/open_close"),
            // In a folder beside others', the first one had the price of what others had removed.
            revision: 2,
            remark: "far from other files: where many were removed in the last minutes, ext4 without a journal \
                     may look at each of them before it makes one",
            ..FILE
        },
        |cx| {
            let apart = Apart::make(cx)?;
            create_unlink(&apart.folder).map_err(lack::of_files)?;
            Ok(apart)
        },
        |apart| create_unlink(&apart.folder),
    )
    .verify(|apart| {
        // Nothing is left; a file is there once it is made, and it is gone once it is removed.
        let names = || apart.folder.names().map(|names| names.len() as f64);
        let left = names()?;
        file_page::close(file_page::create(&apart.folder, NAME)?)?;
        let made = names()?;
        file_page::remove(&apart.folder, NAME)?;
        Ok(vec![
            PostCondition::exactly("files_left", 0.0, left),
            PostCondition::exactly("files_made", 1.0, made),
            PostCondition::exactly("files_after_removal", 0.0, names()?),
        ])
    })
    .remarks(|apart| vec![lies_on(&apart.directory)]),
    &operation(
        &Card {
            id: "file/fstat",
            title: "fstat of an open file",
            operation: "one fstat of an open file, by its descriptor",
            claims: &claims::named(&["fstat", "newfstatat", "fstatat64", "statx"], 1.0),
            ..FILE
        },
        Place::make,
        |place| file_page::stat(&place.file),
    )
    .sharing(Sharing::Inherited("the open file"))
    .remarks(|place| place.remarks()),
    &listing::<10>(&Card {
        id: "file/list/entries_10",
        title: "reading a folder of 10 files",
        operation: "one lseek to the beginning of a folder and one getdents64 of its 10 files, with names of 9 bytes",
        parameters: &[("entries", Parameter::Number(10))],
        ..LIST
    }),
    &listing::<1000>(&Card {
        id: "file/list/entries_1000",
        title: "reading a folder of 1000 files",
        operation: "one lseek to the beginning of a folder and one getdents64 of its 1000 files, with names of 9 bytes",
        parameters: &[("entries", Parameter::Number(1000))],
        ..LIST
    }),
    &operation(
        &Card {
            id: "file/read_4k",
            title: "read of 4 KiB from the page cache",
            operation: "one pread of the same 4 KiB of a file, which lie in the page cache",
            claims: &claims::named(&["pread64"], 1.0),
            ..FILE
        },
        |cx| Ok(Cached { place: Place::make(cx)?, page: Box::new([0; PAGE]), seen: 1 }),
        |cached| file_page::read(&cached.place.file, &mut cached.page),
    )
    .sharing(Sharing::Inherited("the open file"))
    .verify(|cached| cached.verify())
    .remarks(|cached| cached.place.remarks()),
    &operation(
        &Card {
            id: "file/write_4k",
            title: "write of 4 KiB to the page cache",
            operation: "one pwrite over the same 4 KiB of a file, which lie in the page cache",
            claims: &claims::named(&["pwrite64"], 1.0),
            baseline: Some("file/read_4k"),
            ..FILE
        },
        |cx| {
            let page = Stamped::new(Place::make(cx)?);
            file_page::write(&page.place.file, &page.page).map_err(lack::of_files)?;
            Ok(page)
        },
        |page| page.write(),
    )
    .verify(|page| page.verify())
    .remarks(|page| page.place.remarks()),
    &row(&APPEND, |cx| {
        let place = Place::make(cx)?;
        Ok(Subject::batched(Appended { place, page: Box::new([1; PAGE]), pages: 0 }))
    }),
    &operation(
        &Card {
            id: "file/fsync",
            title: "write of 4 KiB and fsync",
            operation: "one pwrite over the same 4 KiB of a file, and one fsync",
            // Where a disk is waited for, others would be.
            group: "file/fsync",
            claims: &FSYNC,
            remark: "in memory (tmpfs) an fsync does nothing: name a folder on a disk with --set directory=",
            ..FILE
        },
        |cx| {
            let mut page = Stamped::new(Place::make(cx)?);
            page.write_through().map_err(lack::of_files)?;
            Ok(page)
        },
        |page| page.write_through(),
    )
    .verify(|page| page.verify())
    .remarks(|page| page.place.remarks()),
];

const APPEND: Card = Card {
    id: "file/append_4k",
    title: "write of 4 KiB to the end of a file",
    operation: "one pwrite of 4 KiB behind the last page of a file, which grows by it",
    claims: &claims::named(&["pwrite64"], 1.0),
    baseline: Some("file/write_4k"),
    uses_up: true,
    remark: "the file is emptied before each batch, untimed",
    ..FILE
};

/// More pages than a batch writes, after which the file is emptied.
const GROWS_TO: u64 = 16384;

/// A file that grows.
struct Appended {
    place: Place,
    page: Box<[u8; PAGE]>,
    pages: u64,
}

impl Batched for Appended {
    fn arm(&mut self) -> Outcome {
        self.pages = 0;
        file_page::empty(&self.place.file)
    }

    fn most(&self) -> u64 {
        GROWS_TO
    }

    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        if iterations > GROWS_TO.saturating_sub(self.pages) {
            return Err(CallError::told("a batch has more pages than the file may have"));
        }
        for _ in 0..iterations {
            file_page::append(&self.place.file, &self.page, self.pages)?;
            self.pages += 1;
        }
        Ok(())
    }

    /// The file has as many pages as were written since it was empty.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let pages = file_page::bytes(&self.place.file)? as f64 / PAGE as f64;
        Ok(vec![PostCondition::exactly("pages_of_the_file", self.pages as f64, pages)])
    }

    fn remarks(&self) -> Vec<String> {
        self.place.remarks()
    }
}

const CREATE_UNLINK: [Claim; 6] = {
    let [_, open, close, switches, faults] = claims::one_each(&["openat"], &["close"]);
    let unlink = Claim::CallsNamed(&["unlinkat"], Bound::Exactly(1.0));
    [Claim::SystemCalls(Bound::Exactly(3.0)), open, close, unlink, switches, faults]
};

/// A process that waits for a disk may be switched away any number of times.
const FSYNC: [Claim; 3] = [
    Claim::SystemCalls(Bound::Exactly(2.0)),
    Claim::CallsNamed(&["pwrite64"], Bound::Exactly(1.0)),
    Claim::CallsNamed(&["fsync"], Bound::Exactly(1.0)),
];

/// Every file has this name, in a folder of its own.
const NAME: &CStr = c"page";

/// A folder of our own, with a file of one page in it.
struct Place {
    directory: Directory,
    file: OwnedFd,
}

impl Place {
    /// Where the user wants it, or in memory. The page is written and read once, so that it lies in the page cache.
    fn make(cx: &mut SetUp<'_>) -> Result<Self, Unable> {
        let directory = Directory::make(cx)?;
        let file = file_page::create(directory.folder(), NAME).map_err(lack::of_files)?;
        let mut page = [1; PAGE];
        file_page::write(&file, &page).map_err(lack::of_files)?;
        file_page::read(&file, &mut page)?;
        Ok(Self { directory, file })
    }

    fn folder(&self) -> &Folder {
        self.directory.folder()
    }

    fn remarks(&self) -> Vec<String> {
        vec![lies_on(&self.directory)]
    }
}

/// The file system of a folder, and where it is mounted.
fn lies_on(directory: &Directory) -> String {
    let kind = file_system::kind(directory.folder()).unwrap_or_else(|error: CallError| error.to_string());
    let point = file_system::mount_point(directory.folder());
    point.map_or_else(|| format!("on {kind}"), |point| format!("on {kind}, mounted at {point}"))
}

/// A folder in one of ours, in a part of the file system where as little as can be is made and removed.
struct Apart {
    folder: Folder,
    directory: Directory,
}

impl Apart {
    fn make(cx: &mut SetUp<'_>) -> Result<Self, Unable> {
        let directory = Directory::make(cx)?;
        // Where it cannot be, all parts may be alike.
        directory.folder().scatter();
        let folder = directory.folder().make_folder(OsStr::new("apart")).map_err(lack::of_files)?;
        Ok(Self { folder, directory })
    }
}

#[inline(always)]
fn create_unlink(folder: &Folder) -> Outcome {
    file_page::close(file_page::create(folder, NAME)?)?;
    file_page::remove(folder, NAME)
}

/// A folder with files, and room for all its entries.
struct Listed {
    directory: Directory,
    entries: Vec<u64>,
    /// Bytes of the entries that were read last.
    bytes: usize,
    files: usize,
}

/// Bytes of an entry: its head, a name of 9 bytes and their end, in words; and those of "." and "..".
const ENTRY: usize = 32;
const DOTS: usize = 48;

/// The benchmark of a folder of so many files. Nobody inherits the folder: all would move the one place in it, and read nothing.
const fn listing<const FILES: usize>(
    card: &'static Card,
) -> Operation<Listed, impl Fn(&mut Listed) -> Outcome + Copy> {
    operation(
        card,
        |cx| {
            let directory = Directory::make(cx)?;
            for number in 0..FILES {
                let name = CString::new(format!("file-{number:04}")).expect("a name without a zero byte");
                file_page::create(directory.folder(), &name).map_err(lack::of_files)?;
            }
            Ok(Listed {
                directory,
                entries: vec![0; (ENTRY * FILES + DOTS) / 8 + 64],
                bytes: 0,
                files: FILES,
            })
        },
        |listed: &mut Listed| {
            listed.bytes = file_page::list(listed.directory.folder(), &mut listed.entries)?;
            Ok(())
        },
    )
    .verify(|listed| {
        let entries = (listed.bytes - DOTS.min(listed.bytes)) / ENTRY;
        Ok(vec![PostCondition::exactly("files_listed", listed.files as f64, entries as f64)])
    })
    .remarks(|listed| vec![lies_on(&listed.directory)])
}

/// A page that is read again and again.
struct Cached {
    place: Place,
    page: Box<[u8; PAGE]>,
    /// What the page is full of.
    seen: u8,
}

impl Cached {
    /// What was read is what the file holds; it is in the page cache; and what is written next is read next.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let equal = |page: &[u8; PAGE], byte| page.iter().filter(|&&it| it == byte).count() as f64;
        let found = equal(&self.page, self.seen);
        let cached = file_page::is_cached(&self.place.file)?;
        self.seen = self.seen.wrapping_add(1);
        file_page::write(&self.place.file, &[self.seen; PAGE])?;
        file_page::read(&self.place.file, &mut self.page)?;
        Ok(vec![
            PostCondition::exactly("bytes_read_as_written", PAGE as f64, found),
            PostCondition::exactly("bytes_read_as_rewritten", PAGE as f64, equal(&self.page, self.seen)),
            PostCondition::is("pages_in_the_page_cache", true, cached),
        ])
    }
}

/// A page whose first bytes say which write it was.
struct Stamped {
    place: Place,
    page: Box<[u8; PAGE]>,
    writes: u64,
}

impl Stamped {
    fn new(place: Place) -> Self {
        Self { place, page: Box::new([0; PAGE]), writes: 0 }
    }

    #[inline(always)]
    fn write(&mut self) -> Outcome {
        self.writes += 1;
        self.page[..8].copy_from_slice(&self.writes.to_ne_bytes());
        file_page::write(&self.place.file, &self.page)
    }

    #[inline(always)]
    fn write_through(&mut self) -> Outcome {
        self.write()?;
        file_page::write_through(&self.place.file)
    }

    /// The file has the stamp of the last write; asked by reading it.
    fn verify(&self) -> Result<Vec<PostCondition>, CallError> {
        let mut page = [0; PAGE];
        file_page::read(&self.place.file, &mut page)?;
        let found = page.first_chunk().map_or(0, |stamp| u64::from_ne_bytes(*stamp));
        let cached = file_page::is_cached(&self.place.file)?;
        Ok(vec![
            PostCondition::exactly("writes_in_the_file", self.writes as f64, found as f64),
            PostCondition::is("pages_in_the_page_cache", true, cached),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::with_set_up;

    #[test]
    fn writes_that_never_reach_the_file_are_contradicted() {
        let mut page = match with_set_up(&[0], Place::make) {
            Ok(place) => Stamped::new(place),
            Err(_) => return println!("SKIP writes_that_never_reach_the_file: no folder in memory"),
        };
        page.write().expect("written");
        assert!(page.verify().expect("read").iter().all(PostCondition::holds));
        // The operation without its essential call.
        page.writes += 1;
        let found = page.verify().expect("read");
        assert!(found.iter().any(|it| it.name == "writes_in_the_file" && !it.holds()), "{found:?}");
    }
}
