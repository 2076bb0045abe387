//! Seeds of the corpora: files that oscost writes, and results in which every text is foreign.

use std::path::Path;

use oscost_recorddb::{Access, Database, DatabaseOptions, Layout, LockWay, StoreMode};
use serde_json::Value;

use super::{database, formats, fuzz};

/// The sample result with `text` in place of every text that is no keyword of the format.
pub fn result_of(text: &str) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(formats::SAMPLE).expect("JSON");
    replace(&mut value, "", text);
    // Small, or a fuzzer takes for ever: two figures, two launches of each.
    let figures = value["figures"].as_array_mut().expect("figures");
    figures.truncate(2);
    for figure in figures {
        figure["launches"].as_array_mut().expect("launches").truncate(2);
    }
    body(&value)
}

/// Members whose values are keywords.
const KEYWORDS: [&str; 8] = ["format", "status", "verdict", "state", "marks", "headline", "unit", "started"];

fn replace(value: &mut Value, member: &str, text: &str) {
    match value {
        Value::String(old) if !KEYWORDS.contains(&member) => text.clone_into(old),
        Value::Array(elements) => elements.iter_mut().for_each(|element| replace(element, member, text)),
        Value::Object(members) => members.iter_mut().for_each(|(name, value)| replace(value, name, text)),
        _ => {}
    }
}

/// The bytes of a result without the lines of its checksum.
fn body(value: &Value) -> Vec<u8> {
    let mut value = value.clone();
    value.as_object_mut().expect("an object").remove("checksum");
    let text = serde_json::to_string(&value).expect("JSON");
    let text = text.strip_prefix('{').expect("an object");
    format!("{text}\n").into_bytes()
}

/// Writes the files again that the databases of today make. Not a test of anything: OSCOST_SEEDS=write cargo test -p oscost
/// --test it corpus::seeds -- --ignored
#[test]
#[ignore = "writes into fuzz/corpus where OSCOST_SEEDS is set"]
fn seeds_of_the_databases() {
    if std::env::var_os("OSCOST_SEEDS").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("db");
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("read");
    let corpus = fuzz().join("corpus");
    for layout in [Layout::Book, Layout::Fast] {
        for (name, count) in [("empty", 0), ("few", 5), ("many", 60)] {
            let options = DatabaseOptions {
                layout,
                access: Access::Positioned,
                lock: LockWay::None,
                create: true,
                truncate: true,
                ..DatabaseOptions::default()
            };
            let mut database = Database::open(&path, &options).expect("made");
            fill(&mut database, count);
            drop(database);
            match layout {
                Layout::Book => {
                    let (index, data) = (read("db.idx"), read("db.dat"));
                    let length = u16::try_from(index.len()).expect("a small index").to_le_bytes();
                    put(&corpus.join("database_book").join(name), &[&length, &index[..], &data[..]].concat());
                }
                Layout::Fast => {
                    put(&corpus.join("database_fast").join(name), &database::pack(&read("db.fast")));
                }
            }
        }
    }
}

fn fill(database: &mut Database, count: usize) {
    for number in 0..count {
        let (key, value) = (format!("key{number}"), vec![b'v'; number * 7 % 50 + 1]);
        database.store(key.as_bytes(), &value, StoreMode::Insert).expect("stored");
        if number % 3 == 0 {
            database.delete(key.as_bytes()).expect("deleted");
        }
    }
}

fn put(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    std::fs::write(path, bytes).expect("written");
}
