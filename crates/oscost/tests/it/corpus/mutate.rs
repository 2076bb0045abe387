//! Deterministic mutations of a file: cuts, flipped bits, splices, and random numbers.

/// As many different mutations of `data` as asked for; the same ones each time.
pub fn mutations(data: &[u8], count: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut state = data.iter().fold(0x9e37_79b9_7f4a_7c15_u64, |state, byte| {
        (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut below = move |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).expect("31 bits") % bound.max(1)
    };
    (0..count).map(move |number| {
        let mut mutated = data.to_vec();
        for _ in 0..=number % 3 {
            mutate(&mut mutated, &mut below);
        }
        mutated
    })
}

/// What programs trip over: ends of ranges, and what ends or begins something in a text.
const AWKWARD: &[&[u8]] = &[
    b"",
    b"0",
    b"-1",
    b"1e308",
    b"18446744073709551615",
    b"9223372036854775808",
    b"\0",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\x80",
    b"\n",
    b" ",
    b"\"",
    b"\\",
    b"</script>",
    b"\x1b[31m",
    "\u{202e}".as_bytes(),
    b"=1+1",
    b"null",
    b"[",
];

fn mutate(data: &mut Vec<u8>, below: &mut impl FnMut(usize) -> usize) {
    let length = data.len();
    let at = below(length + 1);
    match below(5) {
        0 => data.truncate(at),
        1 if at < length => data[at] ^= 1 << below(8),
        2 => {
            let from = below(length + 1);
            let part = data[from..(from + below(64)).min(length)].to_vec();
            data.splice(at..at, part);
        }
        3 => drop(data.drain(at..(at + below(64)).min(length))),
        _ => {
            let end = (at + below(9)).min(length);
            data.splice(at..end, AWKWARD[below(AWKWARD.len())].iter().copied());
        }
    }
}
