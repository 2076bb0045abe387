//! Kernel images: their architecture, their release, and whether their configuration has all that counting needs.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use oscost_sys::file;

use crate::{Error, elf, unpack};

/// A kernel that can be booted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Image {
    /// The file.
    pub path: PathBuf,
    /// Instruction set: "x86_64" or "aarch64".
    pub architecture: &'static str,
    /// CRC-32 of the file, in hexadecimal.
    pub checksum: String,
    /// The configuration, where one lies beside it.
    pub configuration: Option<Configuration>,
}

/// The file by which a kernel was configured.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Configuration {
    /// The file.
    pub path: PathBuf,
    /// CRC-32 of the file, in hexadecimal.
    pub checksum: String,
}

/// A kernel image larger than this is none.
const MOST: u64 = 512 << 20;
/// A configuration is smaller than this.
const MOST_CONFIGURATION: u64 = 4 << 20;

/// The word for the kernel that runs here.
pub const RUNNING: &str = "running";

impl Image {
    /// The kernel at `path`, or the running one's.
    ///
    /// # Errors
    /// Where there is no kernel, or its configuration lacks what counting needs.
    pub fn find(kernel: &Path) -> Result<Self, Error> {
        let path = if kernel == Path::new(RUNNING) { running()? } else { kernel.to_owned() };
        let bytes = read(&path, MOST)?;
        let architecture = architecture(&bytes).ok_or_else(|| Error::File {
            path: path.clone(),
            why: "is no kernel image for x86_64 (bzImage, vmlinuz, vmlinux with CONFIG_PVH) or aarch64 (Image, vmlinuz)"
                .to_owned(),
        })?;
        if is_cut_short(&bytes) {
            let why = "is cut short: its header announces more than there is".to_owned();
            return Err(Error::File { path, why });
        }
        let configuration = match beside(&path, release(&bytes).as_deref()) {
            Some(file) => {
                let text = read(&file, MOST_CONFIGURATION)?;
                let lacking = lacking(&String::from_utf8_lossy(&text), architecture);
                if !lacking.is_empty() {
                    let why = format!("the kernel lacks {} (by {})", lacking.join(", "), file.display());
                    return Err(Error::File { path, why });
                }
                Some(Configuration { path: file, checksum: checksum(&text) })
            }
            None => None,
        };
        Ok(Self { path, architecture, checksum: checksum(&bytes), configuration })
    }

    /// The kernel in the image, where it can be unpacked here and booted so.
    ///
    /// # Errors
    /// Where the file can no longer be read.
    pub(crate) fn kernel(&self) -> Result<Option<Vec<u8>>, Error> {
        Ok(unpack::kernel(&read(&self.path, MOST)?))
    }
}

fn checksum(bytes: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(bytes))
}

fn read(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    file::bytes(path, most).map_err(|error| {
        let why = match error.kind() {
            ErrorKind::InvalidInput => "is no kernel image".to_owned(),
            ErrorKind::FileTooLarge => {
                let hint =
                    if most == MOST { " (a vmlinux: strip it, or take the bzImage or Image)" } else { "" };
                format!("is larger than {} MiB{hint}", most >> 20)
            }
            _ => format!("cannot be read: {error}"),
        };
        Error::File { path: path.to_owned(), why }
    })
}

/// The image of the kernel that runs here, where distributions put it.
fn running() -> Result<PathBuf, Error> {
    let release = oscost_sys::identity::kernel().release;
    let places = [
        format!("/boot/vmlinuz-{release}"),
        format!("/lib/modules/{release}/vmlinuz"),
        format!("/usr/lib/modules/{release}/vmlinuz"),
        format!("/boot/Image-{release}"),
    ];
    places.iter().map(PathBuf::from).find(|path| file::regular(path).is_ok()).ok_or_else(|| Error::File {
        path: PathBuf::from(RUNNING),
        why: format!("the image of Linux {release} cannot be read here: looked for {}", places.join(", ")),
    })
}

/// The machine that the image is for, by what boot loaders look at.
fn architecture(bytes: &[u8]) -> Option<&'static str> {
    let holds = |at: usize, magic: &[u8]| bytes.get(at..at + magic.len()) == Some(magic);
    // Linux's Documentation/arch/x86/boot.rst: the signature of the boot sector, and that of its header.
    if holds(0x1fe, &[0x55, 0xaa]) && holds(0x202, b"HdrS") {
        // Bit 0 of xloadflags: the kernel is one of 64 bits.
        let wide = bytes.get(0x236).is_some_and(|flags| flags & 1 == 1);
        return wide.then_some("x86_64");
    }
    if elf::has_direct_entry(bytes) {
        return Some("x86_64");
    }
    // Linux's Documentation/arch/arm64/booting.rst; a compressed Image; one that unpacks itself under EFI.
    let arm = holds(ARM_AT, ARM)
        || (holds(0, &[0x1f, 0x8b]) && is_packed_arm(bytes))
        || (holds(4, b"zimg") && pe_machine(bytes) == Some(PE_ARM));
    arm.then_some("aarch64")
}

/// Where an Image of arm64 has its magic number.
const ARM_AT: usize = 0x38;
const ARM: &[u8] = b"ARM\x64";
/// The word for arm64 in the header of a program for EFI.
const PE_ARM: u16 = 0xaa64;

/// Whether packed data is an Image; where nobody can unpack it here, qemu will see.
fn is_packed_arm(bytes: &[u8]) -> bool {
    let head = unpack::head(bytes, ARM_AT + ARM.len());
    head.is_none_or(|head| head.get(ARM_AT..) == Some(ARM))
}

/// The machine of a program for EFI: its header is where the word at 0x3c says, and names it behind "PE\0\0".
fn pe_machine(bytes: &[u8]) -> Option<u16> {
    let header = u32::from_le_bytes(bytes.get(0x3c..0x40)?.try_into().ok()?);
    let at = usize::try_from(header).ok()?.checked_add(4)?;
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

/// Whether an x86 image is shorter than its header says: sectors of the setup and the boot sector, then units of 16 bytes.
/// Linux's Documentation/arch/x86/boot.rst, setup_sects and syssize.
fn is_cut_short(bytes: &[u8]) -> bool {
    let header = || {
        let magic = bytes.get(0x202..0x206)? == b"HdrS";
        let units = u32::from_le_bytes(bytes.get(0x1f4..0x1f8)?.try_into().ok()?);
        let sectors = u64::from(*bytes.get(0x1f1)?);
        magic.then(|| 512 * (sectors + 1) + 16 * u64::from(units))
    };
    header().is_some_and(|announced| (bytes.len() as u64) < announced)
}

/// The release that an x86 image names in its header ("6.1.0-56-amd64").
fn release(bytes: &[u8]) -> Option<String> {
    if bytes.get(0x202..0x206)? != b"HdrS" {
        return None;
    }
    let offset = u16::from_le_bytes([*bytes.get(0x20e)?, *bytes.get(0x20f)?]);
    let text = bytes.get(usize::from(offset) + 0x200..)?;
    let text: Vec<u8> = text.iter().copied().take(200).take_while(|&byte| byte > b' ').collect();
    String::from_utf8(text).ok().filter(|text| !text.is_empty())
}

/// The configuration that belongs to the image: of a package, or of a build tree.
fn beside(image: &Path, release: Option<&str>) -> Option<PathBuf> {
    let folder = image.parent()?;
    let name = image.file_name()?.to_string_lossy();
    let mut places = Vec::new();
    if let Some((_, version)) = name.split_once('-') {
        places.push(folder.join(format!("config-{version}")));
    }
    if let Some(release) = release {
        places.push(folder.join(format!("config-{release}")));
    }
    // arch/x86/boot/bzImage, arch/arm64/boot/Image; vmlinux
    places.extend(folder.ancestors().nth(3).map(|tree| tree.join(".config")));
    places.push(folder.join(".config"));
    places.push(folder.join("config"));
    places.into_iter().find(|path| path.is_file())
}

/// Options that are needed and not built in, with what they are for.
fn lacking(configuration: &str, architecture: &str) -> Vec<String> {
    let console = match architecture {
        "x86_64" => ("SERIAL_8250_CONSOLE", "a serial console"),
        _ => ("SERIAL_AMBA_PL011_CONSOLE", "a serial console"),
    };
    let needed = [
        ("BLK_DEV_INITRD", "an initial root"),
        ("BINFMT_ELF", "programs"),
        ("PROC_FS", "/proc"),
        ("TTY", "serial lines"),
        ("SERIAL_8250", "the line of the result"),
        ("PRINTK", "words on the console"),
        ("FUTEX", "the program's locks"),
        ("EPOLL", "the program's waits"),
        console,
    ];
    let has = |option: &str| {
        let line = format!("CONFIG_{option}=y");
        configuration.lines().any(|known| known.trim_end() == line)
    };
    let missing = needed.iter().filter(|(option, _)| !has(option));
    missing.map(|(option, what)| format!("CONFIG_{option} ({what})")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bz_image(flags: u8) -> Vec<u8> {
        let mut bytes = vec![0; 0x1000];
        bytes[0x1fe..0x200].copy_from_slice(&[0x55, 0xaa]);
        bytes[0x202..0x206].copy_from_slice(b"HdrS");
        bytes[0x20e..0x210].copy_from_slice(&0x300u16.to_le_bytes());
        bytes[0x236] = flags;
        bytes[0x500..0x50e].copy_from_slice(b"6.1.0-1 (build");
        bytes
    }

    #[test]
    fn images_are_told_by_what_boot_loaders_look_at() {
        assert_eq!(architecture(&bz_image(1)), Some("x86_64"));
        assert_eq!(architecture(&bz_image(0)), None, "a kernel of 32 bits");
        assert_eq!(release(&bz_image(1)).as_deref(), Some("6.1.0-1"));
        let mut image = vec![0; 0x40];
        image[0x38..0x3c].copy_from_slice(b"ARM\x64");
        assert_eq!(architecture(&image), Some("aarch64"));
        assert_eq!(architecture(b"#!/bin/sh"), None);
        assert_eq!(architecture(&std::fs::read("/proc/self/exe").expect("this test")), None);
        for length in 0..0x240 {
            let _ = (architecture(&bz_image(1)[..length]), release(&bz_image(1)[..length]));
        }
    }

    /// Any gzip file and any kernel for EFI was one for aarch64, and a program for it was asked for.
    #[test]
    fn what_is_packed_is_told_by_what_it_holds() {
        let efi = |machine: u16| {
            let mut bytes = vec![0; 0x80];
            bytes[..8].copy_from_slice(b"MZ\0\0zimg");
            bytes[0x3c] = 0x40;
            bytes[0x40..0x44].copy_from_slice(b"PE\0\0");
            bytes[0x44..0x46].copy_from_slice(&machine.to_le_bytes());
            bytes
        };
        assert_eq!(architecture(&efi(PE_ARM)), Some("aarch64"));
        assert_eq!(architecture(&efi(0x5064)), None, "RISC-V");
        for length in 0..0x46 {
            let _ = architecture(&efi(PE_ARM)[..length]);
        }
        let folder = tempfile::tempdir().expect("a folder");
        let packed = |content: &[u8]| {
            let path = folder.path().join("file");
            std::fs::write(&path, content).expect("written");
            std::process::Command::new("gzip").arg("-c").arg(&path).output().ok().map(|output| output.stdout)
        };
        let mut image = vec![0; 0x1000];
        image[0x38..0x3c].copy_from_slice(ARM);
        // No gzip: then qemu sees what it is.
        let (Some(arm), Some(text)) = (packed(&image), packed(b"a text")) else { return };
        assert_eq!(architecture(&arm), Some("aarch64"));
        assert_eq!(architecture(&text), None);
    }

    #[test]
    fn what_is_too_large_is_told_so() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("vmlinux");
        std::fs::write(&path, [0; 11]).expect("written");
        let error = read(&path, 10).expect_err("too large").to_string();
        assert!(error.contains("is larger than 0 MiB"), "{error}");
    }

    #[test]
    fn an_image_that_was_not_copied_whole_is_told() {
        let mut image = bz_image(1);
        // One sector of setup behind the boot sector, and the rest.
        image[0x1f1] = 1;
        image[0x1f4..0x1f8].copy_from_slice(&(0xc00_u32 / 16).to_le_bytes());
        assert!(!is_cut_short(&image));
        assert!(is_cut_short(&image[..0xfff]));
        assert!(!is_cut_short(b"ARM"), "what has no such header announces nothing");
    }

    #[test]
    fn a_missing_option_is_named_with_its_purpose() {
        let all = "CONFIG_BLK_DEV_INITRD=y\nCONFIG_BINFMT_ELF=y\nCONFIG_PROC_FS=y\nCONFIG_TTY=y\nCONFIG_SERIAL_8250=y\n\
                   CONFIG_PRINTK=y\nCONFIG_FUTEX=y\nCONFIG_EPOLL=y\nCONFIG_SERIAL_8250_CONSOLE=y\n";
        assert!(lacking(all, "x86_64").is_empty());
        assert_eq!(lacking(all, "aarch64"), ["CONFIG_SERIAL_AMBA_PL011_CONSOLE (a serial console)"]);
        let module = all.replace("SERIAL_8250=y", "SERIAL_8250=m");
        assert_eq!(lacking(&module, "x86_64"), ["CONFIG_SERIAL_8250 (the line of the result)"]);
    }

    #[test]
    fn the_configuration_of_a_package_and_of_a_tree_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let image = folder.path().join("vmlinuz-6.1.0-1");
        std::fs::write(&image, bz_image(1)).expect("written");
        std::fs::write(folder.path().join("config-6.1.0-1"), "CONFIG_TTY=y\n").expect("written");
        let error = Image::find(&image).expect_err("options are missing").to_string();
        assert!(error.contains("lacks CONFIG_BLK_DEV_INITRD (an initial root), "), "{error}");
        std::fs::remove_file(folder.path().join("config-6.1.0-1")).expect("removed");
        let found = Image::find(&image).expect("a kernel");
        assert_eq!((found.architecture, found.configuration), ("x86_64", None));
        let boot = folder.path().join("arch/x86/boot");
        std::fs::create_dir_all(&boot).expect("folders");
        std::fs::write(boot.join("bzImage"), bz_image(1)).expect("written");
        std::fs::write(folder.path().join(".config"), "").expect("written");
        assert!(Image::find(&boot.join("bzImage")).is_err());
    }

    #[test]
    fn what_is_no_kernel_is_refused_by_name() {
        for path in ["/proc/self/exe", "/dev/null", "/", "/nowhere/vmlinuz"] {
            let error = Image::find(Path::new(path)).expect_err("no kernel").to_string();
            assert!(error.starts_with(path), "{error}");
        }
    }
}
