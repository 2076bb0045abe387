//! What a folder lies on: the kind of file system, and one option of its mount. fstatfs(2), fstatvfs(3).

use std::os::fd::{AsFd, AsRawFd};

use crate::{CallError, error::check};

/// Kinds by their number in statfs(2), under the names that mount(8) knows.
const KINDS: &[(u64, &str)] = &[
    (0x0102_1994, "tmpfs"),
    (0x8584_58f6, "ramfs"),
    (0xef53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0xf2f5_2010, "f2fs"),
    (0x2fc1_2fc1, "zfs"),
    (0xca45_1a4e, "bcachefs"),
    (0x794c_7630, "overlay"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "fuse"),
    (0x6969, "nfs"),
    (0xff53_4d42, "cifs"),
    (0x4d44, "vfat"),
];

/// The kind of file system that a file or folder lies on ("ext4" is ext2, ext3 or ext4: they share a number), or its number.
///
/// # Errors
/// The error of fstatfs.
#[allow(clippy::unnecessary_cast)] // the type differs between C libraries; the number has 32 bits
pub fn kind(fd: impl AsFd) -> Result<String, CallError> {
    let mut found = std::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the kernel writes one statfs to a local variable.
    check("fstatfs", unsafe { libc::fstatfs(fd.as_fd().as_raw_fd(), found.as_mut_ptr()) })?;
    // SAFETY: the call succeeded, and filled it.
    let number = unsafe { found.assume_init() }.f_type as u64 & 0xffff_ffff;
    let known = KINDS.iter().find(|(known, _)| *known == number);
    Ok(known.map_or_else(|| format!("file system {number:#x}"), |(_, name)| (*name).to_owned()))
}

/// Where what a file or folder lies on is mounted, by its mark in /proc/self/mountinfo; `None` where nobody says. statx(2).
#[must_use]
pub fn mount_point(fd: impl AsFd) -> Option<String> {
    // SAFETY: an all-zero statx is valid.
    let mut found: libc::statx = unsafe { std::mem::zeroed() };
    let (fd, flags) = (fd.as_fd().as_raw_fd(), libc::AT_EMPTY_PATH);
    // SAFETY: the path is a C string, and the kernel writes one statx to a local variable.
    let asked = unsafe { libc::statx(fd, c"".as_ptr(), flags, libc::STATX_MNT_ID, &raw mut found) };
    if asked == -1 || found.stx_mask & libc::STATX_MNT_ID == 0 {
        return None;
    }
    mounted_at(&crate::file::text("/proc/self/mountinfo").ok()?, found.stx_mnt_id)
}

/// The fifth word of the line that begins with this number. proc_pid_mountinfo(5).
fn mounted_at(table: &str, mount: u64) -> Option<String> {
    let mut lines = table.lines().map(|line| line.split(' '));
    let mut line = lines.find(|line| line.clone().next().is_some_and(|id| id.parse() == Ok(mount)))?;
    line.nth(4).map(str::to_owned)
}

/// Whether the mount that a file or folder lies on has the option `mand`. It says nothing of what the kernel does.
///
/// # Errors
/// The error of fstatvfs.
pub fn is_mounted_mand(fd: impl AsFd) -> Result<bool, CallError> {
    let mut found = std::mem::MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the C library writes one statvfs to a local variable.
    check("fstatvfs", unsafe { libc::fstatvfs(fd.as_fd().as_raw_fd(), found.as_mut_ptr()) })?;
    // SAFETY: the call succeeded, and filled it.
    let flags = unsafe { found.assume_init() }.f_flag;
    Ok(flags & libc::ST_MANDLOCK != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;
    use std::path::Path;

    #[test]
    fn a_mount_point_is_the_fifth_word_of_its_line() {
        let table = "21 1 0:5 / / rw - ext4 /dev/vda rw\n22 21 0:6 / /dev/shm rw - tmpfs tmpfs rw\n";
        assert_eq!(mounted_at(table, 22).as_deref(), Some("/dev/shm"));
        assert_eq!(mounted_at(table, 2), None);
        let proc = Folder::open(Path::new("/proc")).expect("opened");
        assert!(mount_point(&proc).is_none_or(|point| point == "/proc"));
    }

    #[test]
    fn kinds_are_told_by_name_or_number() {
        let kind = |path: &str| Folder::open(Path::new(path)).and_then(kind);
        if std::fs::read_to_string("/proc/mounts").is_ok_and(|it| it.contains(" /dev/shm tmpfs ")) {
            assert_eq!(kind("/dev/shm").as_deref(), Ok("tmpfs"));
        } else {
            println!("SKIP kinds_are_told_by_name: no tmpfs on /dev/shm");
        }
        assert_eq!(kind("/proc").as_deref(), Ok("file system 0x9fa0"));
    }
}
