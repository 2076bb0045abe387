//! Who runs, on what: user, kernel, C library, and whether the environment can be trusted.

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

/// Name, release, version and architecture of the kernel. uname(2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// "Linux".
    pub name: String,
    /// Release ("6.18.44").
    pub release: String,
    /// Version line.
    pub version: String,
    /// "x86_64".
    pub architecture: String,
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
    }
}

/// The C library that this process runs with ("glibc 2.36").
#[must_use]
pub fn libc_version() -> String {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: returns a pointer to a static C string.
        let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
        format!("glibc {}", version.to_string_lossy())
    }
    #[cfg(not(target_env = "gnu"))]
    {
        format!("libc of {}", std::env::consts::OS)
    }
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
