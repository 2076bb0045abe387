//! Fuzz target `result_tree`: see crates/oscost/tests/it/corpus/trees.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    oscost_fuzz::trees::result(data);
});
