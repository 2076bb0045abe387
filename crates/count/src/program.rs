//! The program for the guest, with its loader and libraries, found by reading ELF.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use oscost_sys::file;

use crate::{Error, archive::Archive, elf};

/// No program and no library is larger, bytes.
const MOST: u64 = 512 << 20;

/// Where a loader looks when nothing else is said.
const FOLDERS: [&str; 8] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];

/// A program with everything that it needs to run.
#[derive(Debug)]
pub struct GuestProgram {
    /// Instruction set: "x86_64" or "aarch64".
    pub architecture: &'static str,
    /// Contents by the path in the guest. The program itself is `/init`.
    files: BTreeMap<String, Vec<u8>>,
}

/// Path of the program in the guest.
pub const PATH: &str = "/init";

impl GuestProgram {
    /// Reads the program at `path`, its loader and its libraries.
    ///
    /// # Errors
    /// Where it is no program, or a library of it is missing.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let wrong = |why: String| Error::File { path: path.to_owned(), why };
        let bytes = file::bytes(path, MOST).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let architecture = elf::architecture(&bytes).ok_or_else(|| {
            wrong("is not a program for x86_64 or aarch64: name a build of oscost".to_owned())
        })?;
        let needs = elf::needs(&bytes).unwrap_or_default();
        let mut files = BTreeMap::new();
        let mut wanted: Vec<(String, Vec<String>)> =
            needs.libraries.into_iter().map(|name| (name, needs.folders.clone())).collect();
        if let Some(loader) = needs.interpreter {
            let content = file::bytes(&loader, MOST)
                .map_err(|error| wrong(format!("its loader {loader} cannot be read: {error}")))?;
            files.insert(loader, content);
        }
        let own_folder =
            path.parent().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
        while let Some((name, folders)) = wanted.pop() {
            if files.keys().any(|known| known.rsplit('/').next() == Some(name.as_str())) {
                continue;
            }
            let folders = folders.iter().map(|folder| folder.replace("$ORIGIN", &own_folder));
            let found = folders
                .chain(FOLDERS.map(str::to_owned))
                .map(|folder| PathBuf::from(folder).join(&name))
                .find_map(|place| {
                    let content = file::bytes(&place, MOST).ok()?;
                    (elf::architecture(&content) == Some(architecture)).then_some((place, content))
                });
            let Some((place, content)) = found else {
                return Err(wrong(format!("its library {name} was not found: link the program statically")));
            };
            let more = elf::needs(&content).unwrap_or_default();
            wanted.extend(more.libraries.into_iter().map(|name| (name, more.folders.clone())));
            files.insert(place.to_string_lossy().into_owned(), content);
        }
        files.insert(PATH.to_owned(), bytes);
        Ok(Self { architecture, files })
    }

    /// Puts everything that is needed to run into an archive, beside the devices that the first process needs before /dev is
    /// mounted. Symbols stay here: a guest has no room for those of an unoptimised build.
    #[must_use]
    pub fn archive(&self, more: &[(String, Vec<u8>)]) -> Vec<u8> {
        let mut archive = Archive::default();
        for folder in ["dev", "proc", "sys", "tmp", "root"] {
            archive.folder(folder);
        }
        for (path, major, minor) in [
            ("console", 5, 1),
            ("null", 1, 3),
            ("zero", 1, 5),
            ("urandom", 1, 9),
            ("ttyS0", 4, 64),
            ("ttyS1", 4, 65),
        ] {
            archive.device(&format!("dev/{path}"), major, minor);
        }
        for (path, content) in &self.files {
            archive.file(path, elf::to_run(content));
        }
        for (path, content) in more {
            archive.file(path, content);
        }
        archive.finish()
    }

    /// The file of this path in the guest: where the names of its functions are.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_comes_with_what_it_is_linked_with() {
        let program = GuestProgram::read(Path::new("/proc/self/exe")).expect("this test");
        assert!(program.file(PATH).is_some());
        let linked = program.files.keys().any(|path| path.contains("/libc.so"));
        let loader = program.files.keys().any(|path| path.contains("/ld-"));
        assert_eq!(linked, loader, "{:?}", program.files.keys());
        let archive = program.archive(&[("plan".to_owned(), b"x".to_vec())]);
        let needed: usize = program.files.values().map(|file| elf::to_run(file).len()).sum();
        assert!(archive.len() > needed && archive.len() < needed + 10_000, "{} and {needed}", archive.len());
    }

    #[test]
    fn what_is_no_program_is_named() {
        let error = GuestProgram::read(Path::new("/proc/self/maps")).expect_err("no program");
        assert!(error.to_string().starts_with("/proc/self/maps: is not a program"), "{error}");
    }
}
