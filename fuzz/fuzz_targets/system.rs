//! Fuzz target `system`: see crates/oscost/tests/it/corpus/system.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oscost_fuzz::system::check(data));
