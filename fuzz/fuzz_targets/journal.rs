//! Fuzz target `journal`: see crates/oscost/tests/it/corpus/journal.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oscost_fuzz::journal::check(data));
