//! What is damaged, hostile, too large or of another program is refused, in words.

use oscost_results::{
    Figure, MAX_BYTES, Refused, RunResult, Unwritable, VERSION, from_bytes, load, rows_from_bytes, to_bytes,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{V1, open_sample, sample, sealed, sealed_body};

#[test]
fn a_cut_at_every_byte_is_refused_as_damage() {
    for length in 0..V1.len() {
        match from_bytes(&V1[..length]) {
            Err(Refused::Damaged { reason }) => assert!(!reason.is_empty()),
            other => panic!("cut to {length} bytes: {other:?}"),
        }
    }
    assert_eq!(from_bytes(b""), Err(Refused::Damaged { reason: "it is empty".to_owned() }));
    let cut = from_bytes(&V1[..10]).unwrap_err().to_string();
    assert!(cut.contains("it ends within its first two lines"), "{cut}");
    let cut = from_bytes(&V1[..V1.len() - 1]).unwrap_err().to_string();
    assert!(cut.contains("its end is missing"), "{cut}");
    // A loss of power may leave zeros: in place of all of a file, or of its end.
    let zeros = from_bytes(&[0; 100]).unwrap_err().to_string();
    assert!(zeros.contains("zeros alone"), "{zeros}");
    let zeroed = from_bytes(&[&V1[..V1.len() - 100], &[0; 100]].concat()).unwrap_err().to_string();
    assert!(!zeroed.contains("zeros alone"), "{zeroed}");
}

#[test]
fn a_flip_of_every_bit_is_refused_as_damage() {
    let mut bytes = V1.to_vec();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            let read = from_bytes(&bytes);
            assert!(matches!(read, Err(Refused::Damaged { .. })), "bit {bit} of byte {at}: {read:?}");
            bytes[at] ^= 1 << bit;
        }
    }
    assert_eq!(bytes, V1);
}

#[test]
fn a_file_that_another_program_rewrote_is_told_from_other_files() {
    let compact = serde_json::to_vec(&serde_json::from_slice::<Value>(V1).unwrap()).unwrap();
    assert!(
        matches!(from_bytes(&compact), Err(Refused::Damaged { reason }) if reason.contains("another program"))
    );
    let mut dos = String::from_utf8(V1.to_vec()).unwrap().replace('\n', "\r\n").into_bytes();
    assert!(
        matches!(from_bytes(&dos), Err(Refused::Damaged { reason }) if reason.contains("another program"))
    );
    dos.clear();
    // One byte of the first two lines is another one: before the digits, among them, or behind them.
    let end = V1.iter().skip(2).position(|&byte| byte == b'\n').unwrap();
    for at in [0, end - 3, end + 1] {
        let mut changed = V1.to_vec();
        changed[at] = b' ';
        assert!(
            matches!(from_bytes(&changed), Err(Refused::Damaged { reason }) if reason.contains("another program")),
            "byte {at}"
        );
    }
    let text = b"a text that is longer than the name of the format\n";
    for other in [&b"\x7fELF\x02\x01"[..], b"{}", b"{\"a\": 1}\n", b"[]", b"\xff\xfe", b"null", b" ", text] {
        assert!(matches!(from_bytes(other), Err(Refused::NotAResult { .. })), "{other:?}");
    }
    let mut followed = V1.to_vec();
    followed.push(b'\n');
    assert!(matches!(from_bytes(&followed), Err(Refused::Damaged { .. })));
}

#[test]
fn a_newer_version_is_refused_and_so_is_another_format() {
    let mut newer = open_sample();
    newer["version"] = json!(VERSION + 1);
    newer["figures"] = json!("of a form that nobody knows yet");
    assert_eq!(from_bytes(&sealed(&newer)), Err(Refused::Newer { version: u64::from(VERSION) + 1 }));
    newer["version"] = json!(u64::MAX);
    assert_eq!(from_bytes(&sealed(&newer)), Err(Refused::Newer { version: u64::MAX }));
    for nonsense in [json!(0), json!(-1), json!(1.5), json!("1"), json!(null)] {
        newer["version"] = nonsense;
        assert!(matches!(from_bytes(&sealed(&newer)), Err(Refused::NotAResult { .. })));
    }
    let mut other = open_sample();
    other["format"] = json!("\u{1b}]0;owned\u{7}");
    let refused = from_bytes(&sealed(&other)).unwrap_err();
    assert!(matches!(refused, Refused::NotAResult { .. }));
    assert!(refused.to_string().contains(r"\u{1b}]0;owned\u{7}"), "{refused}");
}

#[test]
fn what_a_hostile_file_says_reaches_no_terminal() {
    let mut hostile = open_sample();
    hostile["figures"][0]["launches"][0]["cpu"] = json!("\u{1b}[31m\u{202e}\n");
    let refused = from_bytes(&sealed(&hostile)).unwrap_err().to_string();
    assert!(!refused.chars().any(|c| c.is_control() || c == '\u{202e}'), "{refused:?}");
}

#[test]
fn depth_is_bounded() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(200_000), close.repeat(200_000));
        let body = format!(
            "  \"format\": \"oscost-result\",\n  \"version\": 1,\n  \"a_later_member\": {deep}\n}}\n"
        );
        let refused = from_bytes(&sealed_body(&body)).unwrap_err().to_string();
        assert!(refused.contains("recursion limit"), "{refused}");
    }
}

#[test]
fn a_file_cannot_ask_for_the_memory_of_a_million_figures() {
    // The shortest figure that oscost can write: so many fit into a file, and no more are read.
    let bytes = |figures: usize| {
        let all = vec![Figure::default(); figures];
        to_bytes(&RunResult { figures: all, ..sample() }).unwrap().len()
    };
    let shortest = (bytes(1001) - bytes(1)) / 1000;
    assert!(shortest >= 256, "{shortest}");
    let with = |figures: usize| {
        let mut value = open_sample();
        let figure = json!({"id": "", "status": "measured", "family": "", "title": "", "operation": "",
            "operations_per_iteration": 1, "call_path": "", "group": ""});
        value["figures"] = Value::Array(vec![figure; figures]);
        let text = serde_json::to_string(&value).unwrap();
        sealed_body(&format!("{}\n", &text[1..]))
    };
    let most = MAX_BYTES as usize / 256;
    assert!(from_bytes(&with(most)).is_ok() && rows_from_bytes(&with(most)).is_ok());
    let more = with(most + 1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("more.json");
    std::fs::write(&path, &more).unwrap();
    let past = oscost_results::load_past(&[path]).remove(0).map(|_| ()).map_err(|error| error.to_string());
    assert!(past.unwrap_err().contains("at most 65536 figures"));
    for refused in [from_bytes(&more).map(|_| ()), rows_from_bytes(&more).map(|_| ())] {
        let said = refused.unwrap_err().to_string();
        assert!(said.contains("at most 65536 figures"), "{said}");
    }
}

#[test]
fn numbers_are_finite_when_read() {
    let text = String::from_utf8(V1.to_vec()).unwrap();
    let body = text.splitn(3, '\n').nth(2).unwrap();
    for infinite in ["1e999", "-1e999", "NaN", "Infinity", "null", "\"1\""] {
        let forged = body.replacen("\"value\": 21.37", &format!("\"value\": {infinite}"), 1);
        assert_ne!(forged, body);
        let read = from_bytes(&sealed_body(&forged));
        assert!(matches!(read, Err(Refused::NotAResult { .. })), "{infinite}: {read:?}");
    }
    let largest = body.replacen("\"value\": 21.37", "\"value\": 1.7976931348623157e308", 1);
    let read = from_bytes(&sealed_body(&largest)).unwrap();
    assert_eq!(read.figures[0].quantities["floor"].estimate.value, f64::MAX);
}

#[test]
fn numbers_are_finite_when_written() {
    let mut result = sample();
    result.figures[3].launches[2].quantities.insert("floor".to_owned(), f64::NAN);
    let path = "figures[3].launches[2].quantities.floor".to_owned();
    assert_eq!(to_bytes(&result), Err(Unwritable::NotFinite { path }));
    let mut result = sample();
    result.conditions.cpu_quota = Some(f64::INFINITY);
    assert_eq!(to_bytes(&result), Err(Unwritable::NotFinite { path: "conditions.cpu_quota".to_owned() }));
}

#[test]
fn what_would_not_be_read_is_not_written() {
    let mut result = sample();
    for version in [VERSION + 1, VERSION - 1] {
        result.version = version;
        let refused = to_bytes(&result).unwrap_err();
        assert!(matches!(refused, Unwritable::Unreadable { .. }), "{refused}");
    }
    result.version = VERSION;
    "\u{1b}[31m".clone_into(&mut result.format);
    let refused = to_bytes(&result).unwrap_err().to_string();
    assert!(refused.contains(r"\u{1b}[31m") && !refused.contains('\u{1b}'), "{refused}");
}

#[test]
fn size_is_bounded_both_ways() {
    let mut result = sample();
    result.note = Some("x".repeat(MAX_BYTES as usize));
    assert!(matches!(to_bytes(&result), Err(Unwritable::TooLarge { .. })));
    assert_eq!(from_bytes(&vec![b' '; MAX_BYTES as usize + 1]), Err(Refused::TooLarge));
    // Just as large as may be is no larger.
    let with = |note: usize| to_bytes(&RunResult { note: Some("x".repeat(note)), ..sample() });
    let room = MAX_BYTES as usize - with(0).unwrap().len();
    let largest = with(room).unwrap();
    assert_eq!((largest.len() as u64, from_bytes(&largest).is_ok()), (MAX_BYTES, true));
    assert_eq!(with(room + 1), Err(Unwritable::TooLarge { bytes: MAX_BYTES + 1 }));
    // A file that is never read: it holds 1 TiB of nothing.
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("huge.json");
    std::fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let refused = load(&path).unwrap_err().to_string();
    assert!(refused.contains("larger than") && refused.contains("huge.json"), "{refused}");
    // One that grows while it is read cannot be made here; one byte more than is allowed can.
    let path = directory.path().join("long.json");
    std::fs::write(&path, vec![b' '; MAX_BYTES as usize + 1]).unwrap();
    assert!(load(&path).unwrap_err().to_string().contains("larger than"));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,4}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_are_a_result_by_chance(bytes in prop::collection::vec(any::<u8>(), 0..4096)) {
        prop_assert!(from_bytes(&bytes).is_err());
    }

    #[test]
    fn any_member_replaced_by_anything_ends_in_words_or_in_a_result(
        pick in any::<prop::sample::Index>(), key in any::<prop::sample::Index>(), with in any_json(),
    ) {
        let mut forged = open_sample();
        let figure = pick.index(forged["figures"].as_array().map_or(0, Vec::len));
        let figure = forged["figures"][figure].as_object_mut().expect("an object");
        let key = figure.keys().nth(key.index(figure.len())).cloned().expect("not empty");
        figure.insert(key, with);
        match from_bytes(&sealed(&forged)) {
            Ok(result) => prop_assert_eq!(from_bytes(&to_bytes(&result).expect("finite")), Ok(result)),
            Err(refused) => prop_assert!(!refused.to_string().is_empty()),
        }
    }

    #[test]
    fn every_finite_number_survives_to_the_last_bit(value in any::<f64>().prop_filter("finite", |value| value.is_finite())) {
        let mut result = sample();
        result.conditions.load_average = Some(value);
        let read = from_bytes(&to_bytes(&result).expect("finite")).expect("just written");
        prop_assert_eq!(read.conditions.load_average.map(f64::to_bits), Some(value.to_bits()));
    }
}
