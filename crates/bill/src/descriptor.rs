//! What a number of a traced process stands for: a pipe, a socket and its family, a file. proc(5).

use std::collections::BTreeMap;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use crate::rules::{kind, socket_kind};

/// The kinds that were looked up, by table of descriptors and number, until the number is closed.
#[derive(Debug, Default)]
pub struct Descriptors(BTreeMap<(i32, i32), u8>);

impl Descriptors {
    /// The kind of what thread `tid` of process `pid` has under `number`, in its table of descriptors.
    pub fn kind(&mut self, table: i32, (pid, tid): (i32, i32), number: i32) -> u8 {
        if let Some(&known) = self.0.get(&(table, number)) {
            return known;
        }
        let found = looked_up(pid, tid, number);
        // What is closed may be opened by any call.
        if found != kind("closed") {
            self.0.insert((table, number), found);
        }
        found
    }

    /// A number may stand for something else from now on.
    pub fn forget(&mut self, table: i32, number: i32) {
        self.0.remove(&(table, number));
    }

    /// All numbers of a table may.
    pub fn forget_all(&mut self, table: i32) {
        self.0.retain(|(of, _), _| *of != table);
    }
}

fn looked_up(pid: i32, tid: i32, number: i32) -> u8 {
    let path = format!("/proc/{tid}/fd/{number}");
    let Ok(link) = std::fs::read_link(&path) else { return kind("closed") };
    let Ok(metadata) = std::fs::metadata(&path) else { return kind("other") };
    let of_type = metadata.file_type();
    if of_type.is_socket() {
        return match oscost_sys::descriptor::socket_of(pid, number) {
            Some((family, of_type)) => socket_kind(family, of_type),
            None => kind("other socket"),
        };
    }
    kind(match link.to_str().and_then(|link| link.strip_prefix("anon_inode:")) {
        Some("[eventfd]") => "eventfd",
        Some("[eventpoll]") => "epoll",
        Some("[timerfd]") => "timerfd",
        Some("[signalfd]") => "signalfd",
        Some("inotify") => "inotify",
        Some("[io_uring]") => "io_uring",
        Some("[perf_event]") => "perf event",
        Some("[pidfd]") => "pidfd",
        Some(_) => "other",
        None if link.starts_with("pidfd:") => "pidfd",
        None if of_type.is_fifo() => "pipe",
        None if of_type.is_file() => "file",
        None if of_type.is_dir() => "directory",
        None if of_type.is_char_device() && is_terminal(metadata.rdev()) => "terminal",
        None if of_type.is_char_device() || of_type.is_block_device() => "device",
        None => "other",
    })
}

/// The numbers of terminals, from Linux's list of devices: 4 (consoles, serial lines), 5 (the own one), 136 to 143 (slaves of
/// pseudo-terminals).
fn is_terminal(device: u64) -> bool {
    matches!(device >> 8 & 0xfff, 4 | 5 | 136..=143)
}
