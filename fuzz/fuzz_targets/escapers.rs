//! Fuzz target `escapers`: see crates/oscost/tests/it/corpus/escapers.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oscost_fuzz::escapers::check(data));
