//! The line to qemu's gdbstub: packets, registers, memory, and words for its monitor. GDB manual, Remote Protocol.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

/// A packet is never longer: memory is read in pieces.
const MOST: usize = 1 << 20;
/// Bytes of memory in one packet.
const PIECE: u64 = 0x700;

/// One end of the line. The code that waits for the machine pushes the received bytes.
#[derive(Debug)]
pub(crate) struct Line {
    stream: UnixStream,
    bytes: Vec<u8>,
}

/// Why the debugger's line cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken(pub(crate) String);

impl Line {
    pub(crate) fn new(stream: UnixStream) -> Self {
        Self { stream, bytes: Vec::new() }
    }

    pub(crate) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    pub(crate) fn send(&mut self, content: &str) -> Result<(), Broken> {
        self.stream.write_all(&packet(content)).map_err(|error| Broken(error.to_string()))
    }

    /// Takes what has arrived. One read: it waits only where nothing has.
    pub(crate) fn receive(&mut self) -> Result<(), Broken> {
        let mut buffer = [0; 16384];
        let length = self.stream.read(&mut buffer).map_err(|error| Broken(error.to_string()))?;
        if length == 0 || self.bytes.len() > MOST {
            return Err(Broken("qemu closed the debugger's line".to_owned()));
        }
        self.bytes.extend_from_slice(&buffer[..length]);
        Ok(())
    }

    /// The next whole packet, which is acknowledged.
    pub(crate) fn next(&mut self) -> Result<Option<String>, Broken> {
        let Some((content, used)) = unpack(&self.bytes)? else { return Ok(None) };
        self.bytes.drain(..used);
        self.stream.write_all(b"+").map_err(|error| Broken(error.to_string()))?;
        Ok(Some(content))
    }
}

fn packet(content: &str) -> Vec<u8> {
    let sum = content.bytes().fold(0u8, u8::wrapping_add);
    format!("${content}#{sum:02x}").into_bytes()
}

/// The first packet of `bytes`, and how many bytes it and what precedes it take.
fn unpack(bytes: &[u8]) -> Result<Option<(String, usize)>, Broken> {
    let Some(start) = bytes.iter().position(|&byte| byte == b'$') else { return Ok(None) };
    let Some(length) = bytes[start..].iter().position(|&byte| byte == b'#') else { return Ok(None) };
    let end = start + length;
    let Some(sum) = bytes.get(end + 1..end + 3) else { return Ok(None) };
    let content = &bytes[start + 1..end];
    let reported = std::str::from_utf8(sum).ok().and_then(|text| u8::from_str_radix(text, 16).ok());
    if reported != Some(content.iter().copied().fold(0, u8::wrapping_add)) {
        return Err(Broken("a packet of qemu has a wrong checksum".to_owned()));
    }
    Ok(Some((String::from_utf8_lossy(content).into_owned(), end + 3)))
}

/// Bytes from hexadecimal digits.
pub(crate) fn bytes_of(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| (byte as char).to_digit(16);
    text.as_bytes().chunks(2).map(|pair| u8::try_from(digit(pair[0])? << 4 | digit(pair[1])?).ok()).collect()
}

/// Hexadecimal digits of a text.
pub(crate) fn digits_of(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// Pieces in which `length` bytes at `address` are read.
pub(crate) fn pieces(address: u64, length: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..length.div_ceil(PIECE)).map(move |piece| {
        let from = piece * PIECE;
        (address.wrapping_add(from), PIECE.min(length - from))
    })
}

/// Where a register is among the bytes that qemu answers to `g`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Registers {
    /// Of the first three arguments of a function.
    pub(crate) arguments: [usize; 3],
    /// Of the processor's state, where the debugger sees the kernel's memory in its mode alone.
    pub(crate) state: Option<usize>,
}

/// The state of aarch64's kernel: EL1 with its own stack, nothing may interrupt. Arm ARM, C5.2: SPSR_EL1.
const KERNEL_STATE: u32 = 0x3c5;

impl Registers {
    /// Of this instruction set: gdb's target descriptions i386:x86-64 and aarch64, general registers first.
    pub(crate) fn of(architecture: &str) -> Self {
        if architecture == "aarch64" {
            // x0 to x30, sp and pc come before it.
            Self { arguments: [0, 8, 16], state: Some(33 * 8) }
        } else {
            // rax rbx rcx rdx rsi rdi
            Self { arguments: [5 * 8, 4 * 8, 3 * 8], state: None }
        }
    }
}

/// The packet that sets all registers to these bytes. A single one can be set only by who has read the machine's description.
pub(crate) fn set_registers(bytes: &[u8]) -> String {
    bytes.iter().fold("G".to_owned(), |packet, byte| format!("{packet}{byte:02x}"))
}

/// The registers with the state of a kernel in the place of theirs.
pub(crate) fn in_kernel(bytes: &[u8], state: usize) -> Option<Vec<u8>> {
    let mut bytes = bytes.to_vec();
    bytes.get_mut(state..state + 4)?.copy_from_slice(&KERNEL_STATE.to_le_bytes());
    Some(bytes)
}

/// The 64 bits at an offset of an answer to `g`.
pub(crate) fn register(bytes: &[u8], offset: usize) -> Option<u64> {
    let part = bytes.get(offset..offset + 8)?;
    part.try_into().ok().map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_those_of_the_protocol() {
        assert_eq!(packet("g"), b"$g#67");
        assert_eq!(unpack(b"+$OK#9a").expect("whole"), Some(("OK".to_owned(), 7)));
        for length in 0..7 {
            assert_eq!(unpack(&b"+$OK#9a"[..length]).expect("not whole yet"), None);
        }
        assert!(unpack(b"$OK#9b").is_err());
    }

    #[test]
    fn memory_is_read_in_pieces_without_gap() {
        let pieces: Vec<(u64, u64)> = pieces(0x1000, 2 * PIECE + 5).collect();
        assert_eq!(pieces, [(0x1000, PIECE), (0x1000 + PIECE, PIECE), (0x1000 + 2 * PIECE, 5)]);
        assert_eq!(super::pieces(7, 0).count(), 0);
    }

    #[test]
    fn a_state_is_sent_lowest_byte_first_among_the_other_registers() {
        let bytes = in_kernel(&[0x11, 0, 0, 0, 0, 0x22], 1).expect("there is room");
        assert_eq!(set_registers(&bytes), "G11c503000022");
        assert_eq!(in_kernel(&bytes, 3), None);
    }

    #[test]
    fn hexadecimal_goes_to_and_fro() {
        assert_eq!(digits_of("log none"), "6c6f67206e6f6e65");
        assert_eq!(bytes_of("00ff7A"), Some(vec![0, 255, 0x7a]));
        assert_eq!((bytes_of("0"), bytes_of("zz"), bytes_of("é")), (None, None, None));
    }
}
