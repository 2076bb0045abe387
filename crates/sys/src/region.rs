//! A region of memory whose pages are of a known size, resident or not, with guards around it. mmap(2), madvise(2), smaps.

use std::os::fd::{AsFd, AsRawFd};
use std::ptr::NonNull;

use crate::{CallError, error::check, mapping::Mapping, system_call};

/// What the region's pages are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pages {
    /// The base pages of the system, never joined to huge ones.
    Small,
    /// Transparent huge pages of 2 MiB, as far as the kernel gives them.
    Huge,
}

/// Bytes of a transparent huge page (with base pages of 4 KiB).
pub const HUGE: usize = 2 << 20;

/// Bytes of a base page. sysconf(3).
#[must_use]
pub fn page_bytes() -> usize {
    // SAFETY: sysconf touches no memory of ours.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// Private anonymous memory between two stretches without access: a mapping of its own, whatever lies around it. Unmapped on drop.
#[derive(Debug)]
pub struct Region {
    _mapping: Mapping,
    start: NonNull<u8>,
    bytes: usize,
    page: usize,
}

/// What the kernel says of a region. proc_pid_smaps(5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Smaps {
    /// Bytes that are resident.
    pub resident: u64,
    /// Bytes of them in huge pages.
    pub huge: u64,
    /// Whether it may be written.
    pub writable: bool,
}

impl Region {
    /// Maps `bytes` (whole pages) and touches none of them.
    ///
    /// # Errors
    /// ENOMEM where RLIMIT_AS, RLIMIT_DATA or the overcommit policy forbids it; EINVAL where the kernel has no huge pages.
    pub fn new(bytes: usize, pages: Pages) -> Result<Self, CallError> {
        let page = page_bytes();
        let mapped = bytes + 2 * HUGE + 2 * page;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let mapping = Mapping::new(mapped, libc::PROT_NONE, flags, None)?;
        let base: NonNull<u8> = mapping.start();
        let before = (base.addr().get() + page).next_multiple_of(HUGE) - base.addr().get();
        // SAFETY: `before` is at most a page and a huge page, so the region and a page after it lie within the mapping.
        let start = unsafe { base.add(before) };
        let region = Self { _mapping: mapping, start, bytes, page };
        region.protect(true)?;
        let advice = if pages == Pages::Huge { libc::MADV_HUGEPAGE } else { libc::MADV_NOHUGEPAGE };
        match region.advise(bytes, advice) {
            // A kernel without huge pages has small ones.
            Err(_) if pages == Pages::Small => {}
            other => other?,
        }
        Ok(region)
    }

    /// Maps the first `bytes` of a file (whole pages) `times` times, one behind the other, each privately: what is written stays here.
    /// Nothing of it is resident, as long as nobody touches it. Nobody may make the file shorter while it is mapped (SIGBUS).
    ///
    /// # Errors
    /// As [`Region::new`]; EACCES where the file is not open for reading; EINVAL where it is shorter than `bytes`.
    pub fn of_file(file: impl AsFd, bytes: usize, times: usize, writable: bool) -> Result<Self, CallError> {
        let length = crate::file::stat_of(&file)?.st_size;
        if usize::try_from(length).is_ok_and(|length| length < bytes) {
            return Err(CallError::new("mmap", libc::EINVAL));
        }
        let region = Self::new(bytes * times, Pages::Small)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE;
        for at in (0..times).map(|number| number * bytes) {
            // SAFETY: replaces a part of our own mapping, into which nobody has a reference.
            let part = unsafe {
                let part = region.start.add(at).as_ptr().cast();
                libc::mmap(part, bytes, libc::PROT_NONE, flags, file.as_fd().as_raw_fd(), 0)
            };
            if part == libc::MAP_FAILED {
                return Err(CallError::last("mmap"));
            }
        }
        // Of locked memory every page would be brought as soon as it may be used.
        region.unlock()?;
        region.protect(writable)?;
        Ok(region)
    }

    fn advise(&self, bytes: usize, advice: i32) -> Result<(), CallError> {
        // SAFETY: advice on our own mapping, whose bytes are no more; nobody holds a reference into it while self is used.
        check("madvise", unsafe { libc::madvise(self.start.as_ptr().cast(), bytes.min(self.bytes), advice) })
            .map(|_| ())
    }

    /// Its size.
    #[inline(always)]
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many pages it has. The last one may be larger than what is left of the bytes.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.bytes.div_ceil(self.page)
    }

    /// Writes to page `index`, which faults if it is not there. The region must be writable.
    ///
    /// # Panics
    /// If there is no such page.
    #[inline(always)]
    pub fn write_page(&mut self, index: usize) {
        assert!(index * self.page < self.bytes, "a page of the region");
        // SAFETY: the byte lies within the mapping, to which self alone has access.
        unsafe { self.start.add(index * self.page).write_volatile(1) };
    }

    /// Reads the first byte of page `index`, which faults if it is not there.
    ///
    /// # Panics
    /// If there is no such page.
    #[inline(always)]
    #[must_use]
    pub fn read_page(&self, index: usize) -> u8 {
        assert!(index * self.page < self.bytes, "a page of the region");
        // SAFETY: the byte lies within the mapping, which can always be read.
        unsafe { self.start.add(index * self.page).read_volatile() }
    }

    /// Makes every page resident.
    ///
    /// # Errors
    /// The error of madvise, where huge pages are collapsed.
    pub fn touch(&mut self, pages: Pages) -> Result<(), CallError> {
        const COLLAPSE: i32 = 25;
        for index in 0..self.pages() {
            self.write_page(index);
        }
        // Memory in pieces yields small pages at first; Linux 6.1 joins them on demand. What is missing then is seen by `smaps`.
        if pages == Pages::Huge && self.smaps().is_some_and(|smaps| smaps.huge < self.bytes as u64) {
            let _ = self.advise(self.bytes, COLLAPSE);
        }
        Ok(())
    }

    /// Gives all pages back: the next touch of each faults again. madvise(2), MADV_DONTNEED.
    ///
    /// # Errors
    /// The error of madvise.
    pub fn drop_pages(&mut self) -> Result<(), CallError> {
        self.advise(self.bytes, libc::MADV_DONTNEED)
    }

    /// The same of the first `pages` alone.
    ///
    /// # Errors
    /// The error of madvise.
    #[inline(always)]
    pub fn drop_first(&mut self, pages: usize) -> Result<(), CallError> {
        self.advise(pages.saturating_mul(self.page), libc::MADV_DONTNEED)
    }

    /// Takes back that a worker locked its memory: locked pages are neither given back, nor protected for the same price. munlock(2).
    ///
    /// # Errors
    /// The error of munlock.
    pub fn unlock(&self) -> Result<(), CallError> {
        // SAFETY: munlock changes no byte.
        check("munlock", unsafe { libc::munlock(self.start.as_ptr().cast(), self.bytes) }).map(|_| ())
    }

    /// How many pages are resident. mincore(2).
    ///
    /// # Errors
    /// The error of mincore.
    pub fn resident_pages(&self) -> Result<usize, CallError> {
        let mut there = vec![0_u8; self.pages()];
        // SAFETY: the kernel writes one byte for each page that was begun, to a vector that has as many.
        let result = unsafe { libc::mincore(self.start.as_ptr().cast(), self.bytes, there.as_mut_ptr()) };
        check("mincore", result)?;
        Ok(there.iter().filter(|&byte| byte & 1 == 1).count())
    }

    /// Allows writing, or reading alone. mprotect(2).
    ///
    /// # Errors
    /// The error of mprotect.
    #[inline(always)]
    pub fn protect(&self, writable: bool) -> Result<(), CallError> {
        let protection = if writable { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        system_call::mprotect(self.start, self.bytes, protection)
    }

    /// What /proc says of it; `None` where it says nothing.
    #[must_use]
    pub fn smaps(&self) -> Option<Smaps> {
        let text = crate::file::text("/proc/self/smaps").ok()?;
        let (start, end) = (self.start.addr().get(), self.start.addr().get() + self.bytes);
        of_smaps(&text, &format!("{start:x}-{end:x} "))
    }

    /// Its memory as words.
    #[inline(always)]
    #[must_use]
    pub fn words(&mut self) -> &mut [u64] {
        // SAFETY: the region is zero-filled at first, aligned to pages, lives as long as self, and is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.bytes / size_of::<u64>()) }
    }
}

/// Maps `bytes` of private anonymous memory and unmaps it, untouched. mmap(2), munmap(2).
///
/// # Errors
/// The error of mmap or munmap.
#[inline(always)]
pub fn map_and_unmap(bytes: usize) -> Result<(), CallError> {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new private mapping at an address that the kernel chooses.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(CallError::last("mmap"));
    }
    // SAFETY: unmaps what was just mapped, into which nobody has a reference.
    check("munmap", unsafe { libc::munmap(start, bytes) }).map(|_| ())
}

/// Mappings of this process; `None` where /proc does not say.
#[must_use]
pub fn mappings() -> Option<usize> {
    crate::file::text("/proc/self/maps").ok().map(|text| text.lines().count())
}

/// Bytes of anonymous memory that this process has resident; `None` where /proc does not say.
#[must_use]
pub fn private_bytes() -> Option<u64> {
    let status = crate::file::text("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

/// The mapping whose line begins with `range`.
fn of_smaps(text: &str, range: &str) -> Option<Smaps> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with(range));
    let mut found =
        Smaps { writable: lines.next()?.get(range.len()..)?.starts_with("rw"), ..Smaps::default() };
    for line in lines.take_while(|line| !line.contains('-')) {
        let kilobytes = || line.split_whitespace().nth(1)?.parse::<u64>().ok();
        match line.split(':').next() {
            Some("Rss") => found.resident = kilobytes()? << 10,
            Some("AnonHugePages") => found.huge = kilobytes()? << 10,
            _ => {}
        }
    }
    Some(found)
}

/// Bytes that this process may still make resident without being killed for it: what the machine has left, and what its
/// cgroups leave. `None` where neither says.
#[must_use]
pub fn available() -> Option<u64> {
    let meminfo = crate::file::text("/proc/meminfo").ok();
    let left = meminfo.as_deref().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
    });
    groups().map(|(limit, used)| limit.saturating_sub(used)).chain(left).min()
}

/// Bytes that the cgroups of this process let it have, with what the kernel would give back; `None` where nobody limits it.
#[must_use]
pub fn limit() -> Option<u64> {
    groups().map(|(limit, _)| limit).min()
}

/// The limit of each cgroup of this process that has one, and what it uses without the files' pages that the kernel would give back.
fn groups() -> impl Iterator<Item = (u64, u64)> {
    let groups = crate::file::text("/proc/self/cgroup").unwrap_or_default();
    // Version 2, and 1: how a line names the group, where groups lie, the files of limit and use, and how the counts begin that
    // are of the groups below, too.
    let versions = [
        ("::", "/sys/fs/cgroup", "memory.max", "memory.current", ""),
        (":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
    ];
    versions.into_iter().flat_map(move |(name, root, limit, used, counts)| {
        let path = groups.lines().find_map(|line| line.split_once(name)).map_or("", |(_, path)| path);
        let folder = std::path::Path::new(root).join(path.trim_start_matches('/'));
        let number = |folder: &std::path::Path, file: &str| {
            crate::file::text(folder.join(file)).ok()?.trim().parse::<u64>().ok()
        };
        let both = |folder: &std::path::Path| {
            let (limit, used) = (number(folder, limit)?, number(folder, used)?);
            let stat = crate::file::text(folder.join("memory.stat")).unwrap_or_default();
            Some((limit, used.saturating_sub(of_files(&stat, counts))))
        };
        folder.ancestors().take_while(|folder| folder.starts_with(root)).filter_map(both).collect::<Vec<_>>()
    })
}

/// Bytes of files' pages in a text of memory.stat, which go before anybody is killed; 0 where it does not say.
fn of_files(stat: &str, counts: &str) -> u64 {
    let is_of_files = |name: &str| {
        name.strip_prefix(counts).is_some_and(|name| ["active_file", "inactive_file"].contains(&name))
    };
    let bytes = |line: &str| {
        let (name, bytes) = line.split_once(' ')?;
        bytes.trim().parse::<u64>().ok().filter(|_| is_of_files(name))
    };
    stat.lines().filter_map(bytes).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_there_when_touched_and_gone_when_dropped() {
        let page = page_bytes();
        let mut region = Region::new(16 * page, Pages::Small).expect("mmap");
        assert_eq!(region.resident_pages(), Ok(0));
        region.write_page(3);
        assert_eq!(region.resident_pages(), Ok(1));
        region.touch(Pages::Small).expect("touched");
        assert_eq!(region.resident_pages(), Ok(16));
        let smaps = region.smaps().expect("smaps");
        assert_eq!(smaps, Smaps { resident: 16 * page as u64, huge: 0, writable: true });
        region.protect(false).expect("mprotect");
        assert_eq!(region.smaps().map(|smaps| smaps.writable), Some(false));
        region.protect(true).expect("mprotect");
        region.drop_pages().expect("madvise");
        assert_eq!((region.resident_pages(), region.words()[0]), (Ok(0), 0));
    }

    #[test]
    fn a_page_that_is_begun_is_a_page() {
        let page = page_bytes();
        let mut region = Region::new(page + page / 2, Pages::Small).expect("mmap");
        assert_eq!(region.pages(), 2);
        region.touch(Pages::Small).expect("touched");
        assert_eq!(region.resident_pages(), Ok(2));
    }

    #[test]
    fn what_is_written_over_a_file_stays_in_the_region() {
        let page = page_bytes();
        let file = crate::file::in_memory(2 * page as u64).expect("a file");
        let mut region = Region::of_file(&file, 2 * page, 3, true).expect("mapped");
        assert_eq!((region.pages(), region.read_page(5)), (6, 0));
        region.write_page(4);
        assert_eq!([0, 2, 4].map(|index| region.read_page(index)), [0, 0, 1]);
        region.drop_pages().expect("madvise");
        assert_eq!(region.read_page(4), 0);
        let beyond = Region::of_file(&file, 3 * page, 1, false).map(drop);
        assert_eq!(
            beyond,
            Err(CallError::new("mmap", libc::EINVAL)),
            "a page that the file has not would end the program"
        );
    }

    #[test]
    fn huge_pages_are_huge_where_there_are_any() {
        let Ok(mut region) = Region::new(2 * HUGE, Pages::Huge) else {
            return println!("SKIP huge_pages_are_huge_where_there_are_any: the kernel has none");
        };
        region.touch(Pages::Huge).expect("touched");
        let smaps = region.smaps().expect("smaps");
        assert_eq!(smaps.resident, 2 * HUGE as u64);
        assert!(smaps.huge.is_multiple_of(HUGE as u64) && smaps.huge <= smaps.resident, "{smaps:?}");
    }

    #[test]
    fn a_mapping_is_read_by_its_own_lines() {
        let text = "1000-2000 rw-p 00000000 00:00 0\nRss:       4 kB\nAnonHugePages:  0 kB\n\
                    2000-9000 r--p 00000000 00:00 0 [x-y]\nRss:     28 kB\nAnonHugePages:  8 kB\nVmFlags: rd\n";
        let found = of_smaps(text, "2000-9000 ");
        assert_eq!(found, Some(Smaps { resident: 28 << 10, huge: 8 << 10, writable: false }));
        assert_eq!(of_smaps(text, "1000-2000 ").map(|smaps| smaps.resident), Some(4 << 10));
        assert_eq!(of_smaps(text, "3000-9000 "), None);
    }

    #[test]
    fn pages_of_files_are_none_that_a_group_cannot_have() {
        let text = "anon 10\nfile 9000\nshmem 7\ninactive_anon 1\nactive_anon 2\n\
                    inactive_file 4000\nactive_file 300\nunevictable 5\n";
        assert_eq!((of_files(text, ""), of_files(text, "total_")), (4300, 0));
        // Version 1 counts a group, and then the group with those below it.
        let first = "cache 9000\ninactive_file 40\nactive_file 3\n";
        let text = format!("{first}total_cache 9000\ntotal_inactive_file 4000\ntotal_active_file 300\n");
        assert_eq!(of_files(&text, "total_"), 4300);
        for silent in ["", "inactive_file\n", "inactive_file many\nactive_file -1\n"] {
            assert_eq!(of_files(silent, ""), 0, "{silent}");
        }
    }

    #[test]
    fn something_is_available_and_mappings_are_counted() {
        assert!(
            available().is_some_and(|bytes| bytes > 1 << 20 && limit().is_none_or(|limit| bytes <= limit))
        );
        assert!(mappings().is_some_and(|count| count > 3));
        map_and_unmap(page_bytes()).expect("mapped and unmapped");
    }
}
