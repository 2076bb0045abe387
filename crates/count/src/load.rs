//! Unnamed files in memory from which machines start, and the paths by which qemu opens them.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use crate::Error;
use crate::error::call;
use crate::image::Image;

/// A kernel and the archive for its guest; several machines share them.
#[derive(Debug)]
pub(crate) struct Load {
    /// The unpacked kernel, or else the image.
    pub(crate) kernel: PathBuf,
    pub(crate) archive: String,
    /// They are there as long as these.
    _files: Vec<File>,
}

impl Load {
    /// The kernel of `image`, and the archive.
    ///
    /// # Errors
    /// Where the image can no longer be read, or a call of this machine fails.
    pub(crate) fn new(image: &Image, archive: &[u8]) -> Result<Self, Error> {
        let archive = in_memory("the archive for the guest", archive)?;
        let path = path_of(&archive);
        let (kernel, file) = match image.kernel()? {
            Some(kernel) => {
                let file = in_memory("the kernel for the guest", &kernel)?;
                (PathBuf::from(path_of(&file)), Some(file))
            }
            // No option can be mistaken for an absolute path.
            None => (std::path::absolute(&image.path).unwrap_or_else(|_| image.path.clone()), None),
        };
        Ok(Self { kernel, archive: path, _files: [archive].into_iter().chain(file).collect() })
    }
}

/// A file that stays open over exec.
fn in_memory(what: &'static str, content: &[u8]) -> Result<File, Error> {
    let mut memory = oscost_sys::guest::memory_file().map_err(|error| Error::Call { what, error })?;
    memory.write_all(content).map_err(call(what, "write"))?;
    Ok(memory)
}

/// The path in a program that was started with `fd` open.
pub(crate) fn path_of(fd: &impl AsRawFd) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}
