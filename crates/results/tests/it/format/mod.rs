//! Accepted results: everything that oscost ever wrote, and nothing else.

mod accepted;
mod refused;

use oscost_results::{RunResult, from_bytes};
use serde_json::Value;

const V1: &[u8] = include_bytes!("../../samples/v1.json");
const V2: &[u8] = include_bytes!("../../samples/v2.json");

fn sample() -> RunResult {
    from_bytes(V1).expect("the stored sample of version 1 is read for ever")
}

/// A file with this JSON and a checksum that fits: what an attacker can make.
fn sealed(value: &Value) -> Vec<u8> {
    let json = serde_json::to_string_pretty(value).expect("a value is JSON") + "\n";
    sealed_body(&json["{\n".len()..])
}

fn sealed_body(body: &str) -> Vec<u8> {
    format!("{{\n  \"checksum\": \"crc32:{:08x}\",\n{body}", crc32fast::hash(body.as_bytes())).into_bytes()
}

/// The sample as JSON without its checksum.
fn open_sample() -> Value {
    let mut value: Value = serde_json::from_slice(V1).expect("the sample is plain JSON");
    value.as_object_mut().expect("an object").remove("checksum");
    value
}
