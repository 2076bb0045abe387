//! The kernel inside an image of x86_64, unpacked here: an emulated machine takes seconds to do it.
//!
//! Programs of the user's system unpack. Where one is missing, or the kernel has no entry for it, the image is booted as it is.

use std::io::{Seek, SeekFrom, Write};
use std::time::Duration;

use oscost_sys::guest::memory_file;
use oscost_sys::program::{self, Heard};

use crate::elf;

/// No kernel is larger.
const MOST: usize = 512 << 20;
/// How long one may take to be unpacked.
const PATIENCE: Duration = Duration::from_secs(60);

/// How the beginning of packed data tells its format, and who unpacks it: Linux's scripts/extract-vmlinux.
const PACKERS: [(&[u8], &str, &[&str]); 7] = [
    (&[0x1f, 0x8b], "gzip", &["-dc"]),
    (&[0xfd, b'7', b'z', b'X', b'Z'], "xz", &["-dc"]),
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd", &["-dcq"]),
    (&[0x02, 0x21, 0x4c, 0x18], "lz4", &["-dcq"]),
    (b"BZh", "bzip2", &["-dc"]),
    (&[0x5d, 0, 0], "xz", &["-dc", "--format=lzma"]),
    (&[0x89, b'L', b'Z', b'O'], "lzop", &["-dc"]),
];

/// The kernel in an image, as an ELF file that a machine can be started with; none where it cannot be had.
#[must_use]
pub fn kernel(image: &[u8]) -> Option<Vec<u8>> {
    let kernel = unpack(payload(image)?)?;
    elf::has_direct_entry(&kernel).then_some(kernel)
}

/// What is packed in an image. Linux's Documentation/arch/x86/boot.rst: setup_sects, payload_offset, payload_length.
fn payload(image: &[u8]) -> Option<&[u8]> {
    let number = |at: usize| {
        let bytes = image.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    };
    let is_image = image.get(0x202..0x206)? == b"HdrS";
    // The fields are there since version 2.08 of the protocol.
    if !is_image || u16::from_le_bytes([*image.get(0x206)?, *image.get(0x207)?]) < 0x208 {
        return None;
    }
    let sectors = match *image.get(0x1f1)? {
        0 => 4,
        sectors => usize::from(sectors),
    };
    let begin = (sectors + 1) * 512 + number(0x248)?;
    image.get(begin..begin.checked_add(number(0x24c)?)?)
}

fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let heard = heard(packed, MOST)?;
    // What is cut off, or ended at its deadline, is no kernel.
    (heard.status.is_some() && heard.stdout.len() < MOST).then_some(heard.stdout)
}

/// The first bytes of what is packed, `most` of them; none where who unpacks it is missing.
pub(crate) fn head(packed: &[u8], most: usize) -> Option<Vec<u8>> {
    heard(packed, most).map(|heard| heard.stdout)
}

fn heard(packed: &[u8], most: usize) -> Option<Heard> {
    let (magic, packer, arguments) = PACKERS.iter().find(|(magic, ..)| packed.starts_with(magic))?;
    // All but gzip are followed by the length of what they hold.
    let length = if magic == &PACKERS[0].0 { packed.len() } else { packed.len().checked_sub(4)? };
    let mut input = memory_file().ok()?;
    input.write_all(&packed[..length]).ok()?;
    input.seek(SeekFrom::Start(0)).ok()?;
    let mut command = program::command(packer).ok()?;
    program::hear(command.args(*arguments).stdin(input), most, PATIENCE).ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn image(payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 0x600];
        bytes[0x1f1] = 1;
        bytes[0x202..0x206].copy_from_slice(b"HdrS");
        bytes[0x206..0x208].copy_from_slice(&0x20f_u16.to_le_bytes());
        bytes[0x248..0x24c].copy_from_slice(&0x200_u32.to_le_bytes());
        bytes[0x24c..0x250].copy_from_slice(&u32::try_from(payload.len()).expect("small").to_le_bytes());
        bytes.extend_from_slice(payload);
        bytes
    }

    #[test]
    fn the_payload_is_where_the_header_says() {
        assert_eq!(payload(&image(b"packed")), Some(&b"packed"[..]));
        let mut too_long = image(b"packed");
        too_long[0x24c] = 7;
        assert_eq!(payload(&too_long), None);
        for length in 0..0x600 {
            assert_eq!(payload(&image(b"packed")[..length]), None);
        }
    }

    #[test]
    fn what_was_packed_comes_out_or_nothing_does() {
        let mut packer = Command::new("gzip");
        let Ok(mut packer) = packer.arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
            return; // No gzip: then the image is booted as it is.
        };
        packer.stdin.take().expect("a pipe").write_all(b"a kernel").expect("written");
        let packed = packer.wait_with_output().expect("gzip").stdout;
        assert_eq!(unpack(&packed).as_deref(), Some(&b"a kernel"[..]));
        assert_eq!(unpack(b"neither"), None);
        assert_eq!(kernel(&image(&packed)), None, "it is no ELF file");
    }
}
