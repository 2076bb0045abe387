//! Fuzz target `results`: see crates/oscost/tests/it/corpus/results.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oscost_fuzz::results::check(data));
