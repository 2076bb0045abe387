//! Fuzz target `tick`: see crates/oscost/tests/it/corpus/tick.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oscost_fuzz::tick::check(data));
