//! How an instruction changes the call chain, decoded from its bytes: x86-64 (Intel SDM volume 2) and aarch64 (Arm ARM,
//! C4).

/// What an instruction does to the chain of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It goes on behind itself, or somewhere in the same function.
    Plain,
    /// A string instruction that repeats itself.
    Repeated,
    /// It reads the clock by which the guest counts.
    Clock,
    /// It jumps: maybe into another function, which then returns to our caller.
    Jump,
    /// It calls; the call returns behind it.
    Call,
    /// It returns.
    Return,
    /// It enters the kernel.
    Enter,
    /// It leaves the kernel, or returns from an exception.
    Leave,
}

/// Bytes that are enough to tell.
pub(crate) const LONGEST: u64 = 16;

/// The kind of the instruction that `code` begins with.
pub(crate) fn kind(architecture: &str, code: &[u8]) -> Kind {
    if architecture == "aarch64" { aarch64(code) } else { x86_64(code) }
}

fn x86_64(code: &[u8]) -> Kind {
    let mut repeats = false;
    let mut rest = code;
    while let Some((&byte, tail)) = rest.split_first() {
        match byte {
            0xf2 | 0xf3 => repeats = true,
            0x66 | 0x67 | 0x2e | 0x36 | 0x3e | 0x26 | 0x64 | 0x65 | 0xf0 => {}
            _ => break,
        }
        rest = tail;
    }
    if let Some((0x40..=0x4f, tail)) = rest.split_first() {
        rest = tail;
    }
    let (first, second) = (rest.first().copied().unwrap_or(0), rest.get(1).copied().unwrap_or(0));
    match first {
        0xe8 => Kind::Call,
        0xc2 | 0xc3 | 0xca | 0xcb => Kind::Return,
        0xcf => Kind::Leave,
        0xe9 | 0xeb | 0x70..=0x7f | 0xe0..=0xe3 => Kind::Jump,
        0xff => match (second >> 3) & 7 {
            2 | 3 => Kind::Call,
            4 | 5 => Kind::Jump,
            _ => Kind::Plain,
        },
        0xcc | 0xcd => Kind::Enter,
        0x0f => match second {
            0x05 | 0x34 => Kind::Enter,
            0x07 | 0x35 => Kind::Leave,
            0x31 => Kind::Clock,
            0x80..=0x8f => Kind::Jump,
            _ => Kind::Plain,
        },
        0xa4..=0xa7 | 0xaa..=0xaf | 0x6c..=0x6f if repeats => Kind::Repeated,
        _ => Kind::Plain,
    }
}

fn aarch64(code: &[u8]) -> Kind {
    let Some(word) = code.get(..4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes) else {
        return Kind::Plain;
    };
    // Branches by register: BR, BLR, RET, ERET and their forms with a signed address.
    if word >> 25 == 0b110_1011 {
        return match (word >> 21) & 0xf {
            0 | 8 => Kind::Jump,
            1 | 9 => Kind::Call,
            2 => Kind::Return,
            4 => Kind::Leave,
            _ => Kind::Plain,
        };
    }
    // mrs xN, cntvct_el0
    if word & !0x1f == 0xd53b_e040 {
        return Kind::Clock;
    }
    match word >> 26 {
        0b10_0101 => Kind::Call,
        0b00_0101 => Kind::Jump,
        _ if word >> 24 == 0xd4 && word & 0x1f != 0 => Kind::Enter,
        // B.cond; CBZ and CBNZ; TBZ and TBNZ
        _ if word >> 25 == 0b010_1010
            || (word >> 25) & 0x3f == 0b01_1010
            || (word >> 25) & 0x3f == 0b01_1011 =>
        {
            Kind::Jump
        }
        _ => Kind::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x86_64_instructions_are_told() {
        let cases: &[(&[u8], Kind)] = &[
            (&[0xe8, 0, 0, 0, 0], Kind::Call),
            (&[0x41, 0xff, 0xd3], Kind::Call),       // call *%r11
            (&[0x2e, 0xe8, 1, 2, 3, 4], Kind::Call), // cs call
            (&[0xff, 0x15, 0, 0, 0, 0], Kind::Call), // call *x(%rip)
            (&[0xff, 0xe0], Kind::Jump),             // jmp *%rax
            (&[0xff, 0xc0], Kind::Plain),            // inc %eax
            (&[0xff, 0x75, 8], Kind::Plain),         // push
            (&[0xc3], Kind::Return),
            (&[0xf3, 0xc3], Kind::Return),            // rep ret
            (&[0x48, 0xcf], Kind::Leave),             // iretq
            (&[0x48, 0x0f, 0x07], Kind::Leave),       // sysretq
            (&[0x0f, 0x05], Kind::Enter),             // syscall
            (&[0x0f, 0x84, 0, 0, 0, 0], Kind::Jump),  // je
            (&[0x75, 0xfe], Kind::Jump),              // jne
            (&[0xf3, 0xaa], Kind::Repeated),          // rep stosb
            (&[0xf3, 0x48, 0xa5], Kind::Repeated),    // rep movsq
            (&[0x0f, 0x31], Kind::Clock),             // rdtsc
            (&[0xaa], Kind::Plain),                   // stosb
            (&[0xf3, 0x0f, 0x1e, 0xfa], Kind::Plain), // endbr64
            (&[0x0f, 0x1f, 0x40, 0], Kind::Plain),    // nop
            (&[], Kind::Plain),
            (&[0x66], Kind::Plain),
        ];
        for (code, kind) in cases {
            assert_eq!(x86_64(code), *kind, "{code:02x?}");
        }
    }

    #[test]
    fn aarch64_instructions_are_told() {
        let cases: &[(u32, Kind)] = &[
            (0x9400_0001, Kind::Call),   // bl
            (0xd63f_0020, Kind::Call),   // blr x1
            (0xd73f_0822, Kind::Call),   // blraa x1, x2
            (0x1400_0001, Kind::Jump),   // b
            (0xd61f_0020, Kind::Jump),   // br x1
            (0x5400_0041, Kind::Jump),   // b.ne
            (0xb400_0041, Kind::Jump),   // cbz x1
            (0x3600_0041, Kind::Jump),   // tbz w1
            (0xd65f_03c0, Kind::Return), // ret
            (0xd65f_0bff, Kind::Return), // retaa
            (0xd69f_03e0, Kind::Leave),  // eret
            (0xd400_0001, Kind::Enter),  // svc 0
            (0xd420_0000, Kind::Plain),  // brk: no kernel executes one in an operation
            (0xd53b_e041, Kind::Clock),  // mrs x1, cntvct_el0
            (0xd503_201f, Kind::Plain),  // nop
            (0xf940_0020, Kind::Plain),  // ldr
        ];
        for (word, kind) in cases {
            assert_eq!(aarch64(&word.to_le_bytes()), *kind, "{word:08x}");
        }
        assert_eq!(aarch64(&[1, 2]), Kind::Plain);
    }
}
