//! Fuzz target `journal`: see crates/oscost/tests/corpus/journal.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oscost_fuzz::journal::check(data));
