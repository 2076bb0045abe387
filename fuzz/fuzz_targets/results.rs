//! Fuzz target `results`: see crates/oscost/tests/corpus/results.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oscost_fuzz::results::check(data));
