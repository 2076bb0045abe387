//! Libraries that interpose on this process: mapped into it although nothing that it is linked with asks for them.
//! ld.so(8) (LD_PRELOAD, LD_AUDIT, /etc/ld.so.preload), proc(5) (/proc/self/maps), elf(5).

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Entries of a list that ld.so reads, at most: a longer one is cut.
const MOST_ENTRIES: usize = 256;
/// Bytes of a table of an ELF file that are read, at most.
const MOST_BYTES: u64 = 1 << 20;

/// File names of the libraries that interpose on the calling process, in alphabetical order; empty: none. `None` where
/// /proc does not say what is mapped.
///
/// A library interposes if it is mapped and not linked, or mapped and asked for by LD_PRELOAD, LD_AUDIT or
/// /etc/ld.so.preload. What is asked for and not mapped (a program that is linked statically, a name that does not exist)
/// interposes on nothing.
#[must_use]
pub fn libraries() -> Option<Vec<String>> {
    let maps = crate::file::text("/proc/self/maps").ok()?;
    let program = std::fs::read_link("/proc/self/exe").ok()?;
    let listed = crate::file::text("/etc/ld.so.preload").unwrap_or_default();
    let asked: Vec<String> = ["LD_PRELOAD", "LD_AUDIT"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .chain([listed])
        .flat_map(|list| asked_for(&list))
        // What is mapped is named by where it really lies.
        .map(|name| match std::fs::canonicalize(&name) {
            Ok(path) if name.contains('/') => path.to_string_lossy().into_owned(),
            _ => name,
        })
        .collect();
    let program = program.to_string_lossy();
    let links = |path: &str| {
        // Of the program what runs is still to be had where a build has replaced its file.
        let path = if path == as_linked(&program) { "/proc/self/exe" } else { path };
        Links::of_file(Path::new(path))
    };
    Some(interposed(&maps, &program, &asked, links))
}

/// A path as it was when its file was mapped: that of a file which was removed or replaced since then has a mark of the kernel's.
fn as_linked(path: &str) -> &str {
    path.strip_suffix(" (deleted)").unwrap_or(path)
}

/// What one ELF object says of its links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Links {
    /// The name by which others ask for it (DT_SONAME).
    name: Option<String>,
    /// Names of what it asks for (DT_NEEDED), and of its interpreter (PT_INTERP).
    needed: Vec<String>,
}

/// Names in a list of ld.so: separated by colons or white space; `#` begins a comment in the file.
fn asked_for(list: &str) -> Vec<String> {
    let lines = list.lines().map(|line| line.split('#').next().unwrap_or_default());
    let names = lines.flat_map(|line| line.split(|c: char| c == ':' || c.is_whitespace()));
    names.filter(|name| !name.is_empty()).take(MOST_ENTRIES).map(str::to_owned).collect()
}

/// The objects in the text of a maps file whose code is mapped.
fn mapped(maps: &str) -> BTreeSet<&str> {
    maps.lines()
        .filter_map(|line| {
            // address permissions offset device inode path; the path may hold blanks.
            let mut fields = line.splitn(6, ' ');
            let permissions = fields.nth(1)?;
            let path = fields.nth(3)?.trim_start();
            (permissions.contains('x') && path.starts_with('/')).then(|| as_linked(path))
        })
        .collect()
}

/// Which of the mapped objects are neither the program nor linked with it, or are asked for besides.
fn interposed(
    maps: &str,
    program: &str,
    asked: &[String],
    links: impl Fn(&str) -> Option<Links>,
) -> Vec<String> {
    let program = as_linked(program);
    let objects: BTreeMap<&str, Links> =
        mapped(maps).into_iter().map(|path| (path, links(path).unwrap_or_default())).collect();
    let has_name = |path: &str, name: &str| {
        file_name(path) == file_name(name)
            || objects.get(path).is_some_and(|it| it.name.as_deref() == Some(name))
    };
    // What the program asks for, what that asks for, and so on.
    let mut linked = BTreeSet::from([program]);
    let mut open = vec![program];
    while let Some(path) = open.pop() {
        for needed in objects.get(path).into_iter().flat_map(|links| &links.needed) {
            let found = objects.keys().copied().filter(|other| has_name(other, needed));
            open.extend(found.filter(|other| linked.insert(other)));
        }
    }
    let is_asked =
        |path: &str, name: &str| if name.contains('/') { path == name } else { has_name(path, name) };
    let besides = |path: &str| path != program && asked.iter().any(|name| is_asked(path, name));
    let mut names: Vec<String> = objects
        .keys()
        .filter(|path| !linked.contains(**path) || besides(path))
        .map(|path| file_name(path).to_owned())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

impl Links {
    /// Those of a file of this machine's word size and byte order; `None` where it is not one, or cannot be read.
    fn of_file(path: &Path) -> Option<Self> {
        let file = crate::file::regular(path).ok()?;
        let read = |offset: u64, bytes: u64| {
            let mut buffer = vec![0; usize::try_from(bytes.min(MOST_BYTES)).ok()?];
            file.read_exact_at(&mut buffer, offset).ok()?;
            Some(buffer)
        };
        Self::of_elf(read)
    }

    /// Those of an object whose bytes `read` gives by offset and length. ELF of 64 bits; of 32 bits nothing is known.
    fn of_elf(read: impl Fn(u64, u64) -> Option<Vec<u8>>) -> Option<Self> {
        const LOAD: u64 = 1;
        const DYNAMIC: u64 = 2;
        const INTERPRETER: u64 = 3;
        const NEEDED: u64 = 1;
        const STRINGS: u64 = 5;
        const STRINGS_BYTES: u64 = 10;
        const NAME: u64 = 14;
        let header = read(0, 64)?;
        let little_endian = if cfg!(target_endian = "little") { 1 } else { 2 };
        if header.get(..4)? != b"\x7fELF" || header.get(4..6)? != [2, little_endian] {
            return None;
        }
        let (table, entry, count) = (word(&header, 32)?, half(&header, 54)?, half(&header, 56)?);
        let segments: Vec<Segment> = read(table, entry.checked_mul(count)?)?
            .chunks_exact(usize::try_from(entry).ok().filter(|&bytes| bytes >= 56)?)
            .filter_map(|bytes| {
                Some(Segment {
                    kind: u64::from(u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?)),
                    offset: word(bytes, 8)?,
                    address: word(bytes, 16)?,
                    bytes: word(bytes, 32)?,
                })
            })
            .collect();
        let of_kind = |kind: u64| segments.iter().find(move |segment| segment.kind == kind);
        let mut links = Self::default();
        if let Some(interpreter) = of_kind(INTERPRETER) {
            let path = read(interpreter.offset, interpreter.bytes)?;
            links.needed.push(file_name(&text(&path, 0)?).to_owned());
        }
        let Some(dynamic) = of_kind(DYNAMIC) else { return Some(links) };
        let dynamic = read(dynamic.offset, dynamic.bytes)?;
        let entries: Vec<(u64, u64)> = dynamic
            .chunks_exact(16)
            .map_while(|bytes| Some((word(bytes, 0)?, word(bytes, 8)?)))
            .take_while(|(tag, _)| *tag != 0)
            .collect();
        let value = |tag: u64| entries.iter().find(|entry| entry.0 == tag).map(|entry| entry.1);
        let (Some(address), Some(bytes)) = (value(STRINGS), value(STRINGS_BYTES)) else { return Some(links) };
        // The table is told by where it will be mapped.
        let offset = segments.iter().find_map(|segment| {
            let inside = address.checked_sub(segment.address).filter(|&inside| inside < segment.bytes)?;
            (segment.kind == LOAD).then(|| segment.offset.checked_add(inside))?
        })?;
        let strings = read(offset, bytes)?;
        links.name = value(NAME).and_then(|at| text(&strings, at));
        let needed = entries.iter().filter(|(tag, _)| *tag == NEEDED);
        links.needed.extend(needed.filter_map(|&(_, at)| text(&strings, at)));
        Some(links)
    }
}

/// A part of an ELF file that is mapped, or says something.
struct Segment {
    kind: u64,
    offset: u64,
    address: u64,
    bytes: u64,
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

/// The text that begins there, up to its zero byte.
fn text(bytes: &[u8], at: u64) -> Option<String> {
    let rest = bytes.get(usize::try_from(at).ok()?..)?;
    let end = rest.iter().position(|&byte| byte == 0)?;
    Some(String::from_utf8_lossy(&rest[..end]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
55d0c000-55d1 r--p 00000000 fe:01 12 /opt/a b/oscost
55d1c000-55d2 r-xp 00000000 fe:01 12 /opt/a b/oscost
7f00-7f01 r-xp 00000000 fe:01 13                         /usr/lib/libc-2.31.so
7f01-7f02 r-xp 00000000 fe:01 14                         /usr/lib/ld-2.31.so
7f02-7f03 r-xp 00000000 fe:01 15                         /home/u/libfast.so (deleted)
7f03-7f04 r-xp 00000000 fe:01 16                         /usr/lib/libhelps.so.1
7f04-7f05 r--p 00000000 fe:01 17                         /usr/lib/locale/C.utf8/LC_CTYPE
7f05-7f06 r-xp 00000000 00:00 0                          [vdso]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]
";

    fn links(path: &str) -> Option<Links> {
        let links = |name: &str, needed: &[&str]| Links {
            name: Some(name.to_owned()),
            needed: needed.iter().map(|it| (*it).to_owned()).collect(),
        };
        Some(match file_name(path) {
            "oscost" => links("oscost", &["ld-linux.so.2", "libc.so.6"]),
            "libc-2.31.so" => links("libc.so.6", &["ld-linux.so.2"]),
            "ld-2.31.so" => links("ld-linux.so.2", &[]),
            "libhelps.so.1" => links("libhelps.so.1", &[]),
            // A file that is gone says nothing.
            _ => return None,
        })
    }

    #[test]
    fn what_is_mapped_and_not_linked_interposes() {
        assert_eq!(interposed(MAPS, "/opt/a b/oscost", &[], links), ["libfast.so", "libhelps.so.1"]);
        // A library that is linked has the libraries that it asks for.
        let helped = |path: &str| {
            let mut links = links(path)?;
            if path.contains("libc-") {
                links.needed.push("libhelps.so.1".to_owned());
            }
            Some(links)
        };
        assert_eq!(interposed(MAPS, "/opt/a b/oscost", &[], helped), ["libfast.so"]);
    }

    /// A build replaces the program during its run, and an update the library.
    #[test]
    fn what_was_replaced_meanwhile_is_linked_all_the_same() {
        let maps = MAPS.replace("oscost\n", "oscost (deleted)\n").replace("2.31.so\n", "2.31.so (deleted)\n");
        assert_eq!(
            maps.matches("(deleted)").count(),
            5,
            "the program twice, two libraries, and one of before"
        );
        let found = |asked: &[String]| interposed(&maps, "/opt/a b/oscost (deleted)", asked, links);
        assert_eq!(found(&[]), ["libfast.so", "libhelps.so.1"]);
        let asked = asked_for("/usr/lib/libc-2.31.so");
        assert_eq!(found(&asked), ["libc-2.31.so", "libfast.so", "libhelps.so.1"]);
    }

    #[test]
    fn what_is_linked_and_asked_for_besides_interposes() {
        let asked = asked_for("/elsewhere/libc-2.31.so:not_there.so");
        let found = interposed(MAPS, "/opt/a b/oscost", &asked, links);
        assert_eq!(
            found,
            ["libfast.so", "libhelps.so.1"],
            "another file of the name: not the one that is mapped"
        );
        for asked in ["libc.so.6", "/usr/lib/libc-2.31.so"] {
            let found = interposed(MAPS, "/opt/a b/oscost", &asked_for(asked), links);
            assert_eq!(found, ["libc-2.31.so", "libfast.so", "libhelps.so.1"], "{asked}");
        }
    }

    #[test]
    fn lists_of_the_loader_are_read_as_it_reads_them() {
        assert_eq!(
            asked_for("/a/x.so:y.so z.so\n# a comment\n\tw.so # q.so\n"),
            ["/a/x.so", "y.so", "z.so", "w.so"]
        );
        assert!(asked_for("").is_empty() && asked_for(" :: \n").is_empty());
    }

    #[test]
    fn this_program_is_linked_with_everything_that_is_mapped() {
        let found = libraries().expect("/proc says what is mapped");
        // A sandbox may preload something of its own: then it is asked for.
        if std::env::var_os("LD_PRELOAD").is_none() && !Path::new("/etc/ld.so.preload").exists() {
            assert_eq!(found, Vec::<String>::new());
        } else {
            println!("SKIP this_program_is_linked_with_everything: something is preloaded here");
        }
    }

    #[test]
    fn the_links_of_this_program_are_read_and_cut_anywhere_harm_nobody() {
        let bytes = std::fs::read("/proc/self/exe").expect("the program");
        let part = |length: usize| {
            let bytes = &bytes[..length];
            Links::of_elf(|offset, count| {
                let start = usize::try_from(offset).ok()?;
                Some(bytes.get(start..start.checked_add(usize::try_from(count).ok()?)?)?.to_vec())
            })
        };
        let whole = part(bytes.len()).expect("an ELF file of this machine");
        let dynamic = mapped(&std::fs::read_to_string("/proc/self/maps").expect("maps")).len() > 1;
        assert_eq!(whole.needed.iter().any(|name| name.starts_with("libc.")), dynamic, "{whole:?}");
        assert_eq!(Links::of_file(Path::new("/proc/self/exe")).as_ref(), Some(&whole));
        assert_eq!(part(63), None);
        for length in (64..bytes.len()).step_by(bytes.len() / 512) {
            if let Some(links) = part(length) {
                assert!(links.needed.iter().all(|name| whole.needed.contains(name)), "{length}");
            }
        }
    }
}
