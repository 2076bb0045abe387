//! The JSON schema in `docs/result.schema.json`: generated from the types, and kept in step with them.

use serde_json::{Value, json};

use crate::RunResult;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/result.schema.json");

/// The schema of the file: that of the types, and the checksum of the second line.
fn generated() -> String {
    let mut schema = schemars::schema_for!(RunResult).to_value();
    let checksum = json!({
        "description": "CRC-32 (IEEE 802.3) over all bytes after this line, which is the second of the file.",
        "type": "string",
        "pattern": "^crc32:[0-9a-f]{8}$"
    });
    schema["properties"]["checksum"] = checksum;
    schema["properties"]["format"]["const"] = json!(crate::FORMAT);
    schema["properties"]["version"]["const"] = json!(crate::VERSION);
    schema["required"].as_array_mut().unwrap().insert(0, json!("checksum"));
    serde_json::to_string_pretty(&schema).unwrap() + "\n"
}

#[test]
fn schema_is_in_step() {
    let generated = generated();
    if std::fs::read_to_string(PATH).is_ok_and(|stored| stored == generated) {
        return;
    }
    std::fs::create_dir_all(std::path::Path::new(PATH).parent().unwrap()).unwrap();
    std::fs::write(PATH, generated).unwrap();
    panic!("docs/result.schema.json was not in step with the types: it has been written anew, commit it");
}

/// Members of the sample that the schema does not name, at any depth.
fn unnamed(value: &Value, schema: &Value, root: &Value, path: &str, found: &mut Vec<String>) {
    let schema = match schema["$ref"].as_str() {
        Some(reference) => &root["$defs"][reference.rsplit('/').next().unwrap()],
        None => schema,
    };
    if let Some(choices) = schema["anyOf"].as_array() {
        // The choice with most to say about the value.
        let choice =
            choices.iter().find(|choice| !choice["$ref"].is_null() || !choice["properties"].is_null());
        return choice.iter().for_each(|choice| unnamed(value, choice, root, path, found));
    }
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let path = format!("{path}.{name}");
                match (&schema["properties"][name], &schema["additionalProperties"]) {
                    (Value::Null, Value::Object(values)) => {
                        unnamed(member, &Value::Object(values.clone()), root, &path, found);
                    }
                    (Value::Null, _)
                        if path.contains(".parameters.")
                            || path.ends_with("at_least")
                            || path.ends_with("at_most") => {}
                    (Value::Null, _) => found.push(path),
                    (known, _) => unnamed(member, known, root, &path, found),
                }
            }
        }
        Value::Array(elements) => {
            elements.iter().for_each(|element| unnamed(element, &schema["items"], root, path, found));
        }
        _ => {}
    }
}

#[test]
fn schema_names_every_member_of_the_samples() {
    let schema: Value = serde_json::from_str(&generated()).unwrap();
    let samples =
        [&include_bytes!("../tests/samples/v1.json")[..], include_bytes!("../tests/samples/v2.json")];
    for sample in samples {
        let sample: Value = serde_json::from_slice(sample).unwrap();
        let mut found = Vec::new();
        unnamed(&sample, &schema, &schema, "", &mut found);
        assert_eq!(found, Vec::<String>::new());
    }
    for required in ["checksum", "format", "version", "figures"] {
        assert!(schema["required"].as_array().unwrap().contains(&json!(required)), "{required}");
    }
}
