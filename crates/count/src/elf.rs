//! Reads an ELF file: its loader, its libraries, and the names of its functions.

use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn, ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSymbol, SymbolKind};

/// What a program needs beside itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// The loader; none for a static program.
    pub(crate) interpreter: Option<String>,
    /// Libraries by name.
    pub(crate) libraries: Vec<String>,
    /// Folders in which they are looked for first.
    pub(crate) folders: Vec<String>,
}

/// The machine of an ELF file: "x86_64" or "aarch64".
pub(crate) fn architecture(bytes: &[u8]) -> Option<&'static str> {
    let header = FileHeader64::<Endianness>::parse(bytes).ok()?;
    match header.e_machine(header.endian().ok()?) {
        elf::EM_X86_64 => Some("x86_64"),
        elf::EM_AARCH64 => Some("aarch64"),
        _ => None,
    }
}

/// Whether a kernel says where a machine may enter it without a boot loader. Linux's arch/x86/platform/pvh/head.S: a note of
/// Xen, XEN_ELFNOTE_PHYS32_ENTRY.
pub(crate) fn has_direct_entry(bytes: &[u8]) -> bool {
    const ENTRY: u32 = 18;
    let notes = || -> Option<bool> {
        let header = FileHeader64::<Endianness>::parse(bytes).ok()?;
        let endian = header.endian().ok()?;
        for segment in header.program_headers(endian, bytes).ok()? {
            let Ok(Some(mut notes)) = segment.notes(endian, bytes) else { continue };
            while let Ok(Some(note)) = notes.next() {
                if note.name() == b"Xen" && note.n_type(endian) == ENTRY {
                    return Some(true);
                }
            }
        }
        None
    };
    architecture(bytes) == Some("x86_64") && notes().is_some()
}

/// The part of a file that is needed to run it: up to the end of its last segment. Symbols and what debuggers want come after
/// that, and are most of an unoptimised build. elf(5). What is no ELF file is left as it is.
pub(crate) fn to_run(bytes: &[u8]) -> &[u8] {
    let end = || -> Option<u64> {
        let header = FileHeader64::<Endianness>::parse(bytes).ok()?;
        let endian = header.endian().ok()?;
        let segments = header.program_headers(endian, bytes).ok()?;
        let headers = u64::try_from(std::mem::size_of_val(segments)).ok()?;
        let ends = segments.iter().map(|it| it.p_offset(endian).saturating_add(it.p_filesz(endian)));
        Some(ends.max()?.max(header.e_phoff(endian).saturating_add(headers)))
    };
    end().and_then(|end| bytes.get(..usize::try_from(end).ok()?)).unwrap_or(bytes)
}

/// What the file names that must be there before it runs.
pub(crate) fn needs(bytes: &[u8]) -> Option<Needs> {
    let header = FileHeader64::<Endianness>::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, bytes).ok()?;
    let mut needs = Needs::default();
    let file_at = |address: u64| {
        segments.iter().find_map(|segment| {
            let start = segment.p_vaddr(endian);
            let inside = segment.p_type(endian) == elf::PT_LOAD
                && (start..start.saturating_add(segment.p_filesz(endian))).contains(&address);
            inside.then(|| address - start + segment.p_offset(endian))
        })
    };
    for segment in segments {
        if let Ok(Some(name)) = segment.interpreter(endian, bytes) {
            needs.interpreter = Some(String::from_utf8_lossy(name).into_owned());
        }
        let Ok(Some(entries)) = segment.dynamic(endian, bytes) else { continue };
        let value = |tag: u32| {
            let entry = entries.iter().find(|entry| entry.tag32(endian) == Some(tag))?;
            Some(entry.d_val(endian))
        };
        let Some(strings) = value(elf::DT_STRTAB).and_then(file_at) else { continue };
        let text = |offset: u64| {
            let start = usize::try_from(strings.checked_add(offset)?).ok()?;
            let rest = bytes.get(start..)?;
            let end = rest.iter().position(|&byte| byte == 0)?;
            Some(String::from_utf8_lossy(&rest[..end]).into_owned())
        };
        for entry in entries {
            let Some(found) = text(entry.d_val(endian)) else { continue };
            match entry.tag32(endian) {
                Some(elf::DT_NEEDED) => needs.libraries.push(found),
                Some(elf::DT_RUNPATH | elf::DT_RPATH) => {
                    needs.folders.extend(found.split(':').map(str::to_owned));
                }
                _ => {}
            }
        }
    }
    Some(needs)
}

/// A function of a file: where it starts in the file's own addresses, its size (0: unknown), its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) name: String,
}

/// Functions of the file, of both symbol tables. Names of Rust are made readable, without their hash.
pub(crate) fn functions(bytes: &[u8]) -> Vec<Function> {
    let Ok(file) = ElfFile64::<Endianness>::parse(bytes) else { return Vec::new() };
    let all = file.symbols().chain(file.dynamic_symbols());
    let mut found: Vec<Function> = all
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
        .filter_map(|symbol| {
            let name = symbol.name().ok().filter(|name| !name.is_empty())?;
            let name = format!("{:#}", rustc_demangle::demangle(name));
            Some(Function { address: symbol.address(), size: symbol.size(), name })
        })
        .collect();
    // Of several names of one place the public one: it has no leading underscore, and is short.
    let plainness = |name: &str| (name.starts_with('_'), name.len());
    found.sort_by(|a, b| {
        (a.address, plainness(&a.name), &a.name).cmp(&(b.address, plainness(&b.name), &b.name))
    });
    found.dedup_by_key(|function| function.address);
    found
}

/// The address of the file's own at which code lies whose mapping begins at file offset `offset`.
pub(crate) fn address_of_offset(bytes: &[u8], offset: u64) -> Option<u64> {
    let header = FileHeader64::<Endianness>::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, bytes).ok()?;
    // Two segments may share a page of the file: the code's is meant.
    let is_code = |segment: &&elf::ProgramHeader64<Endianness>| {
        segment.p_type(endian) == elf::PT_LOAD && segment.p_flags(endian) & elf::PF_X != 0
    };
    segments.iter().filter(is_code).find_map(|segment| {
        let start = segment.p_offset(endian);
        // A mapping begins at the page that the segment begins in.
        let page = start & !0xfff;
        let inside = (page..start.saturating_add(segment.p_filesz(endian)).max(page + 1)).contains(&offset);
        inside.then(|| (segment.p_vaddr(endian) & !0xfff) + (offset - page))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Vec<u8> {
        std::fs::read("/proc/self/exe").expect("this test")
    }

    #[test]
    fn the_test_itself_names_its_loader_and_libraries() {
        let bytes = own();
        assert_eq!(architecture(&bytes), Some(std::env::consts::ARCH));
        let needs = needs(&bytes).expect("an ELF file");
        if needs.interpreter.is_some() {
            assert!(needs.libraries.iter().any(|name| name.starts_with("libc.")), "{needs:?}");
        }
    }

    /// What is left of this test without its symbols runs as well.
    #[test]
    fn a_program_runs_without_what_comes_after_its_segments() {
        let bytes = own();
        let part = to_run(&bytes);
        assert!(part.len() < bytes.len(), "a test has symbols");
        assert_eq!(to_run(&[part, b"more"].concat()), part);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("test");
        std::fs::write(&path, part).expect("written");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&path, mode).expect("its owner's");
        // A child that another test forks holds the file open for writing until it calls exec.
        let busy = std::io::ErrorKind::ExecutableFileBusy;
        let start = || match std::process::Command::new(&path).arg("--list").output() {
            Err(error) if error.kind() == busy => None,
            outcome => Some(outcome.expect("it starts")),
        };
        let listed = std::iter::from_fn(|| Some(start())).flatten().next().expect("it starts at last");
        assert!(listed.status.success() && listed.stdout.starts_with(b"archive::"), "{listed:?}");
    }

    #[test]
    fn functions_have_readable_names() {
        let functions = functions(&own());
        let found = functions.iter().any(|function| function.name.contains("functions_have_readable_names"));
        assert!(found, "{} functions", functions.len());
        assert!(functions.windows(2).all(|pair| pair[0].address < pair[1].address));
    }

    #[test]
    fn what_is_no_elf_file_needs_nothing_and_harms_nobody() {
        let bytes = own();
        for rubbish in [&b""[..], b"\x7fELF", &bytes[..200], &[0xff; 4096]] {
            assert!(needs(rubbish).unwrap_or_default().libraries.is_empty());
            assert!(!has_direct_entry(rubbish));
            assert!(functions(rubbish).is_empty());
            assert_eq!(to_run(rubbish), rubbish);
            let _ = address_of_offset(rubbish, 0);
        }
    }
}
