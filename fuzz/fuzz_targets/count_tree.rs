//! Fuzz target `count_tree`: see crates/oscost/tests/it/corpus/trees.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    oscost_fuzz::trees::count(data);
});
