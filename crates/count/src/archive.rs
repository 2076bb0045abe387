//! The guest's root: one cpio archive (format "newc"), made here. Linux's Documentation/driver-api/early-userspace.

/// An archive in the making.
#[derive(Debug, Default)]
pub struct Archive {
    bytes: Vec<u8>,
    entries: u32,
    folders: std::collections::BTreeSet<String>,
}

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const DEVICE: u32 = 0o020_600;

impl Archive {
    /// Adds an empty folder, and those above it.
    pub fn folder(&mut self, path: &str) {
        let path = path.trim_matches('/');
        if path.is_empty() || !self.folders.insert(path.to_owned()) {
            return;
        }
        if let Some((above, _)) = path.rsplit_once('/') {
            self.folder(above);
        }
        self.entry(path, FOLDER, (0, 0), &[]);
    }

    /// Adds a file that can be executed, and the folders above it.
    pub fn file(&mut self, path: &str, bytes: &[u8]) {
        self.above(path);
        self.entry(path, PROGRAM, (0, 0), bytes);
    }

    /// Adds a character device, and the folders above it.
    pub fn device(&mut self, path: &str, major: u32, minor: u32) {
        self.above(path);
        self.entry(path, DEVICE, (major, minor), &[]);
    }

    /// The whole archive.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, (0, 0), &[]);
        self.bytes
    }

    fn above(&mut self, path: &str) {
        if let Some((above, _)) = path.trim_start_matches('/').rsplit_once('/') {
            self.folder(above);
        }
    }

    /// One entry: a header of 110 hexadecimal digits, the name, and the content, each filled up to 4 bytes.
    fn entry(&mut self, path: &str, mode: u32, device: (u32, u32), content: &[u8]) {
        let path = path.trim_start_matches('/');
        self.entries += 1;
        let links = if mode & 0o170_000 == 0o040_000 { 2 } else { 1 };
        let size = u32::try_from(content.len()).unwrap_or(u32::MAX);
        let name = u32::try_from(path.len() + 1).unwrap_or(u32::MAX);
        let fields = [self.entries, mode, 0, 0, links, 0, size, 0, 0, device.0, device.1, name, 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.fill();
        self.bytes.extend_from_slice(content);
        self.fill();
    }

    fn fill(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Command, Stdio};

    fn example() -> Vec<u8> {
        let mut archive = Archive::default();
        archive.device("/dev/console", 5, 1);
        archive.file("/lib/x/loader", b"12345");
        archive.file("init", b"");
        archive.folder("/dev");
        archive.finish()
    }

    #[test]
    fn the_bytes_are_those_of_the_format() {
        let bytes = example();
        assert_eq!(&bytes[..6], b"070701");
        assert_eq!(
            &bytes[14..22],
            format!("{FOLDER:08x}").as_bytes(),
            "the folder of the device comes first"
        );
        assert_eq!(bytes.len() % 4, 0);
        let text = String::from_utf8_lossy(&bytes);
        let at = |name: &str| text.find(name).unwrap_or_else(|| panic!("{name} is missing"));
        assert!(at("dev\0") < at("dev/console\0"), "a folder precedes what lies in it");
        assert_eq!(text.matches("dev\0").count(), 1, "a folder is there once");
        assert!(text.contains("12345\0\0\0"), "content is filled up to 4 bytes");
    }

    #[test]
    fn cpio_lists_what_was_put_in() {
        let Ok(mut cpio) = Command::new("cpio")
            .args(["-t", "-v", "--quiet", "--numeric-uid-gid"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
        else {
            eprintln_skip("cpio_lists_what_was_put_in: cpio is not installed");
            return;
        };
        cpio.stdin.take().expect("a pipe").write_all(&example()).expect("written");
        let listed = cpio.wait_with_output().expect("it ends");
        let text = String::from_utf8(listed.stdout).expect("text");
        assert!(listed.status.success(), "{text}");
        assert_eq!(text.lines().count(), 6, "{text}");
        assert!(text.lines().any(|line| line.starts_with("crw") && line.contains("5,   1")), "{text}");
        assert!(
            text.lines().any(|line| line.starts_with("-rwx") && line.ends_with("lib/x/loader")),
            "{text}"
        );
    }

    fn eprintln_skip(words: &str) {
        eprintln!("SKIP {words}");
    }
}
