//! Fuzz target `guest`: see crates/oscost/tests/it/corpus/guest.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    oscost_fuzz::guest::check(data);
});
