//! What a call is called: a key for `compare`, and words for people.

use oscost_results::bill::Call;

use crate::tariff::BY_HIGHEST;

/// What tells calls from others, in one word each.
#[must_use]
pub fn key(call: &Call) -> String {
    let mut key = call.name.clone();
    if !call.on.is_empty() {
        key.push_str(&format!("/{}", call.on.replace(' ', "_")));
    }
    if let Some(size) = call.size_class {
        key.push_str(&format!("/size_{size}"));
    }
    if let Some(count) = call.count_argument {
        key.push_str(&format!("/count_{count}"));
    }
    if call.slept {
        key.push_str("/slept");
    }
    key
}

/// The same for people: "read of up to 64 bytes, pipe, that slept".
pub fn words(call: &Call) -> String {
    let mut words = call.name.clone();
    match call.size_class {
        // Of no call more is said than that it has a size beyond any class.
        Some(u64::MAX) | None => {}
        Some(1) if call.bytes == 0 => words.push_str(" of nothing"),
        Some(size) => words.push_str(&format!(" of up to {}", bytes(size))),
    }
    if let Some(count) = call.count_argument.filter(|&count| count > 1 && count < u64::MAX) {
        let parts = if BY_HIGHEST.contains(&&*call.name) { "descriptors" } else { "parts" };
        words.push_str(&format!(", up to {count} {parts}"));
    }
    if !call.on.is_empty() {
        words.push_str(&format!(", {}", call.on));
    }
    if call.slept {
        words.push_str(" that slept, its switch");
    }
    words
}

fn bytes(count: u64) -> String {
    match count {
        1 => "1 byte".to_owned(),
        0..1024 => format!("{count} bytes"),
        1024..1048576 => format!("{} KiB", count / 1024),
        1048576..1073741824 => format!("{} MiB", count / 1048576),
        _ => format!("{} GiB", count / 1073741824),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, on: &str, times: u64) -> Call {
        Call { name: name.to_owned(), on: on.to_owned(), times, ..Call::default() }
    }

    #[test]
    fn words_and_keys_tell_calls_apart() {
        let read = Call { size_class: Some(64), bytes: 30, slept: true, ..call("read", "unix stream", 1) };
        assert_eq!(key(&read), "read/unix_stream/size_64/slept");
        assert_eq!(words(&read), "read of up to 64 bytes, unix stream that slept, its switch");
        let mapped = Call { size_class: Some(4 << 20), ..call("mmap", "anonymous", 1) };
        assert_eq!(words(&mapped), "mmap of up to 4 MiB, anonymous");
        assert_eq!(key(&call("getpid", "", 1)), "getpid");
        let many = |name| words(&Call { count_argument: Some(256), ..call(name, "", 1) });
        assert_eq!(many("select"), "select, up to 256 descriptors");
        assert_eq!(many("writev"), "writev, up to 256 parts");
    }
}
