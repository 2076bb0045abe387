//! One operation on one file of one page: made and removed, opened and closed, read, written, written through.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use oscost_harness::{Benchmark, CallError, Directory, SetUp, Unable};
use oscost_sys::file_page::{self, PAGE};
use oscost_sys::file_system;
use oscost_sys::folder::Folder;

use crate::lack;

mod create_unlink;
mod fsync;
mod open_close;
mod read_4k;
mod write_4k;

pub const ALL: &[&dyn Benchmark] =
    &[&open_close::OpenClose, &create_unlink::CreateUnlink, &read_4k::Read, &write_4k::Write, &fsync::Fsync];

/// Every file has this name, in a folder of its own.
const NAME: &CStr = c"page";

/// A folder of our own, with a file of one page in it.
pub struct Place {
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
