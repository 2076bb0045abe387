//! Fuzz target `database_fast`: see crates/oscost/tests/it/corpus/database.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oscost_fuzz::database::check_fast(data));
