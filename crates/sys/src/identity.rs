//! Who runs, and on what: user, kernel, C library, and whether the environment can be trusted.

use std::ffi::CStr;

/// Real user id.
#[must_use]
pub fn uid() -> u32 {
    // SAFETY: takes no argument and cannot fail.
    unsafe { libc::getuid() }
}

/// Effective user id.
#[must_use]
pub fn effective_uid() -> u32 {
    // SAFETY: takes no argument and cannot fail.
    unsafe { libc::geteuid() }
}

/// Real group id.
#[must_use]
pub fn gid() -> u32 {
    // SAFETY: takes no argument and cannot fail.
    unsafe { libc::getgid() }
}

/// Name, release, version and architecture of the kernel, and the name of its host. uname(2).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kernel {
    /// "Linux".
    pub name: String,
    /// Release ("6.18.44").
    pub release: String,
    /// Version line.
    pub version: String,
    /// "x86_64".
    pub architecture: String,
    /// Name of the host, as it calls itself.
    pub host: String,
}

impl Kernel {
    /// Whether its spin locks sleep: PREEMPT_RT, which its version line names. Linux's Documentation/locking/locktypes.rst.
    #[must_use]
    pub fn spin_locks_sleep(&self) -> bool {
        self.version.contains("PREEMPT_RT") || self.version.contains("PREEMPT RT")
    }
}

/// The running kernel.
#[must_use]
pub fn kernel() -> Kernel {
    // SAFETY: an all-zero utsname is valid: empty C strings.
    let mut name: libc::utsname = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one utsname to a local variable; it fails only for a bad pointer.
    unsafe { libc::uname(&raw mut name) };
    let text = |field: &[libc::c_char]| {
        // SAFETY: the kernel ends each field with a zero byte inside the array.
        unsafe { CStr::from_ptr(field.as_ptr()) }.to_string_lossy().into_owned()
    };
    Kernel {
        name: text(&name.sysname),
        release: text(&name.release),
        version: text(&name.version),
        architecture: text(&name.machine),
        host: text(&name.nodename),
    }
}

/// The C library that this process runs with: "glibc 2.36", or "glibc 2.36 (inside the program)" of a static program, which
/// does not use the one of the machine. musl tells no version.
#[must_use]
pub fn libc_version() -> String {
    #[cfg(target_env = "gnu")]
    let library = {
        // SAFETY: returns a pointer to a static C string.
        let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
        format!("glibc {}", version.to_string_lossy())
    };
    #[cfg(target_env = "musl")]
    let library = "musl".to_owned();
    #[cfg(not(any(target_env = "gnu", target_env = "musl")))]
    let library = format!("libc of {}", std::env::consts::OS);
    told(&library, cfg!(target_feature = "crt-static"))
}

/// A C library, and whether it is part of the program.
fn told(library: &str, is_static: bool) -> String {
    if is_static { format!("{library} (inside the program)") } else { library.to_owned() }
}

/// Whether the kernel says that this program was started with more privilege than its caller has (set-user-ID, file
/// capabilities): then nothing of the environment can be trusted. getauxval(3), AT_SECURE.
#[must_use]
pub fn is_elevated() -> bool {
    // SAFETY: getauxval reads the auxiliary vector.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Path of the program as it was started, where there is no /proc/self/exe. getauxval(3), AT_EXECFN.
#[must_use]
pub fn started_as() -> Option<std::path::PathBuf> {
    // SAFETY: getauxval reads the auxiliary vector.
    let pointer = unsafe { libc::getauxval(libc::AT_EXECFN) } as *const libc::c_char;
    if pointer.is_null() {
        return None;
    }
    // SAFETY: AT_EXECFN points to a C string on the initial stack, which lives as long as the process.
    let text = unsafe { CStr::from_ptr(pointer) };
    use std::os::unix::ffi::OsStrExt;
    Some(std::ffi::OsStr::from_bytes(text.to_bytes()).into())
}

/// Path by which the running program can be started again: its own, whatever has become of its name since; without /proc as
/// it was started.
#[must_use]
pub fn own_program() -> Option<std::path::PathBuf> {
    let own = std::path::PathBuf::from("/proc/self/exe");
    if own.exists() { Some(own) } else { started_as().and_then(|path| path.canonicalize().ok()) }
}

/// Identity of the running program's build, as its linker wrote it (the note NT_GNU_BUILD_ID; ld --build-id). `None` where
/// the linker wrote none. dl_iterate_phdr(3), elf(5).
#[must_use]
pub fn build_id() -> Option<Vec<u8>> {
    unsafe extern "C" fn first_object(
        object: *mut libc::dl_phdr_info,
        _size: libc::size_t,
        found: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: libc passes a valid description of a loaded object, whose headers live as long as the object.
        let (object, headers) = unsafe {
            let object = &*object;
            (object, std::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum)))
        };
        // SAFETY: the pointer that `build_id` passes below is to its own variable, which nobody else uses meanwhile.
        let found = unsafe { &mut *found.cast::<Option<Vec<u8>>>() };
        for header in headers.iter().filter(|header| header.p_type == libc::PT_NOTE) {
            let start = object.dlpi_addr.wrapping_add(header.p_vaddr) as *const u8;
            let bytes = usize::try_from(header.p_filesz).unwrap_or(0);
            // SAFETY: a note segment of a loaded object is mapped readable, and as long as its header says.
            let notes = unsafe { std::slice::from_raw_parts(start, bytes) };
            if let Some(id) = id_in_notes(notes) {
                *found = Some(id.to_vec());
                break;
            }
        }
        // The first object is the program itself: stop there.
        1
    }
    let mut found: Option<Vec<u8>> = None;
    // SAFETY: the callback has the declared type, and `found` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(first_object), (&raw mut found).cast()) };
    found
}

/// The build id in a segment of notes: name size, description size, type, name, description, each padded to 4 bytes.
fn id_in_notes(mut notes: &[u8]) -> Option<&[u8]> {
    const NT_GNU_BUILD_ID: usize = 3;
    loop {
        let word = |index: usize| -> Option<usize> {
            let bytes = notes.get(index * 4..index * 4 + 4)?;
            usize::try_from(u32::from_ne_bytes(bytes.try_into().ok()?)).ok()
        };
        let (name_bytes, id_bytes, kind) = (word(0)?, word(1)?, word(2)?);
        let id_start = 12_usize.checked_add(name_bytes.checked_next_multiple_of(4)?)?;
        let end = id_start.checked_add(id_bytes.checked_next_multiple_of(4)?)?;
        if kind == NT_GNU_BUILD_ID && notes.get(12..12 + name_bytes)? == b"GNU\0" {
            return notes.get(id_start..id_start + id_bytes);
        }
        notes = notes.get(end..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(name: &[u8], kind: u32, description: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [name.len() as u32, description.len() as u32, kind] {
            bytes.extend(word.to_ne_bytes());
        }
        for part in [name, description] {
            bytes.extend(part);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    #[test]
    fn a_static_program_says_where_its_library_is() {
        assert_eq!(told("glibc 2.36", false), "glibc 2.36");
        assert_eq!(told("glibc 2.36", true), "glibc 2.36 (inside the program)");
        // What maps no C library of the machine has it inside.
        let maps = std::fs::read_to_string("/proc/self/maps").expect("the maps of this process");
        let is_mapped = ["/libc.so", "/libc-", "/ld-musl"].iter().any(|name| maps.contains(name));
        assert_eq!(libc_version().ends_with(" (inside the program)"), !is_mapped, "{maps}");
    }

    #[test]
    fn the_build_id_is_found_among_other_notes() {
        let mut notes = note(b"GNU\0", 1, &[0; 16]);
        notes.extend(note(b"Go\0", 3, &[9; 5]));
        notes.extend(note(b"GNU\0", 3, &[1, 2, 3, 4, 5, 6, 7]));
        assert_eq!(id_in_notes(&notes), Some(&[1, 2, 3, 4, 5, 6, 7][..]));
    }

    #[test]
    fn notes_cut_anywhere_are_no_build_id() {
        let notes = note(b"GNU\0", 3, &[7; 8]);
        for end in 0..notes.len() {
            assert_eq!(id_in_notes(&notes[..end]), None, "cut at {end}");
        }
        assert_eq!(id_in_notes(&[0xff; 64]), None);
    }
}
