//! Fuzz target `tick_messages`: see crates/oscost/tests/it/corpus/tick.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    oscost_fuzz::tick::messages(data);
});
