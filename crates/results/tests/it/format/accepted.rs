//! What oscost wrote is read for ever, and what is unknown in it is kept.

use oscost_results::{
    CheckState, Expectation, FORMAT, Judgement, Mark, Refused, Status, VERSION, Verdict, from_bytes,
    outline_from_bytes, to_bytes,
};
use serde_json::{Value, json};

use super::{V1, V2, open_sample, sample, sealed};

#[test]
fn version_1_is_read_for_ever() {
    let result = sample();
    assert_eq!((result.format.as_str(), result.version, result.partial), (FORMAT, VERSION, false));
    assert_eq!(result.estimators, 1, "its launches are still read as version 1 read them");
    assert_eq!(result.plan.seed, 13_835_058_055_282_163_712, "above 2^53, where doubles end");
    assert_eq!(result.note.as_deref(), Some("bench-7, after the move; \"quiet\" <rack 3> naïve"));
    let statuses: Vec<_> = result.figures.iter().map(|figure| figure.status).collect();
    use Status::{Contradicted, Failed, Measured, Unsupported, Withdrawn};
    // The fourth was measured beside a thread that made it dearer.
    let expected = [Measured, Measured, Measured, Withdrawn, Measured, Unsupported, Failed, Contradicted];
    assert_eq!(statuses, expected);
    let system_v = &result.figures[2];
    assert_eq!(system_v.marks, [Mark::Noisy, Mark::Bimodal, Mark::NotConverged]);
    assert_eq!(system_v.modes[1].value, 1104.5);
    assert_eq!(
        system_v.launches[0].histogram.as_ref().map(|histogram| histogram.counts.clone()),
        Some(vec![400, 80])
    );
    let hop = &result.figures[3].evidence;
    assert_eq!(hop.claims[0].expected, Expectation::Between { at_least: 0.98, at_most: 1.2 });
    assert_eq!(hop.claims[1].observed, None);
    assert_eq!(result.figures[4].quantities["dropped"].unit, "count");
    assert_eq!(result.figures[4].parameters["load"], Value::Null);
    assert_eq!(result.figures[7].evidence.verdict, Verdict::Contradicted);
    let verdicts: Vec<_> = result.figures.iter().map(|figure| figure.evidence.verdict).collect();
    use Verdict::{Checked, Unchecked};
    assert_eq!(verdicts[..5], [Checked, Checked, Checked, Checked, Unchecked], "proved, and no_claim");
    assert!(result.figures.iter().all(|figure| figure.revision == 1 && figure.judged() == figure.headline));
    assert_eq!(result.ratios[1].value, None);
    assert_eq!(result.reproductions[2].verdict, Some(Judgement::NotTestableHere));
    assert!(result.unknown.is_empty(), "the checksum is of the file, not of the result");
}

#[test]
fn what_is_written_is_read_again_and_written_the_same() {
    let bytes = to_bytes(&sample()).unwrap();
    assert_eq!(from_bytes(&bytes).unwrap(), sample());
    assert_eq!(to_bytes(&from_bytes(&bytes).unwrap()).unwrap(), bytes);
    let text = String::from_utf8(bytes).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("{"));
    assert!(lines.next().unwrap().starts_with("  \"checksum\": \"crc32:"));
    assert_eq!(lines.next(), Some("  \"format\": \"oscost-result\","));
    serde_json::from_str::<Value>(&text).unwrap();
}

/// Version 1 in today's words: every member keeps its value, but for those that say otherwise today.
#[test]
fn nothing_of_version_1_is_lost_when_it_is_written_again() {
    fn upgraded(old: &Value, new: &Value, path: &str) {
        match (old, new) {
            (Value::Object(old), Value::Object(new)) => {
                for (name, old) in old.iter().filter(|(name, _)| *name != "checksum") {
                    // What is not there says the same as an empty list, or null.
                    let new = new.get(name).unwrap_or(&Value::Null);
                    upgraded(old, new, &format!("{path}.{name}"));
                }
            }
            (Value::Array(old), Value::Array(new)) => {
                assert_eq!(old.len(), new.len(), "{path}");
                old.iter().zip(new).for_each(|(old, new)| upgraded(old, new, path));
            }
            (old, new) => {
                let expected = match (path, old.as_str()) {
                    (".version", _) => json!(VERSION),
                    (".figures.evidence.verdict", Some("proved")) => json!("checked"),
                    (".figures.evidence.verdict", Some("no_claim")) => json!("unchecked"),
                    _ => old.clone(),
                };
                assert_eq!(*new, expected, "{path}");
            }
        }
    }
    /// What was withdrawn as it was: it keeps what it said.
    fn before_it_was_withdrawn(new: &mut Value) {
        for figure in new["figures"].as_array_mut().unwrap() {
            if figure["status"] == json!("withdrawn") {
                figure["status"] = json!("measured");
                figure["why"].take();
            }
        }
        for pair in new["differences"].as_array_mut().unwrap() {
            let kept = pair["withdrawn"].take();
            for (name, value) in kept.as_object().into_iter().flatten() {
                pair[name] = value.clone();
                pair["why"].take();
            }
        }
    }
    let old: Value = serde_json::from_slice(V1).unwrap();
    let mut new: Value = serde_json::from_slice(&to_bytes(&sample()).unwrap()).unwrap();
    before_it_was_withdrawn(&mut new);
    upgraded(&old, &new, "");
    assert_eq!((&new["version"], &new["estimators"]), (&json!(2), &json!(1)));
    assert!(new["figures"].as_array().unwrap().iter().all(|figure| figure["revision"] == json!(1)));
}

#[test]
fn version_2_is_read_for_ever() {
    let result = from_bytes(V2).expect("the stored sample of version 2 is read for ever");
    assert_eq!((result.version, result.estimators), (2, 2));
    assert_eq!(
        String::from_utf8(to_bytes(&result).unwrap()).unwrap(),
        String::from_utf8(V2.to_vec()).unwrap()
    );
    let core = result.machine.core.expect("it says what its cores did at best");
    assert_eq!((core.chain_ns, core.throughput_ns, core.entry_ns), (0.2707, 0.0681, Some(68.9)));
    let conditions = &result.conditions;
    assert_eq!(conditions.boot_id.as_deref(), Some("7b0b5bb8-9b7e-4d0c-9d65-0a34d4f0a2c1"));
    assert_eq!((conditions.nice, conditions.policy.as_deref()), (Some(-5), Some("other")));
    assert_eq!(conditions.preload.as_deref(), Some(&["libfast.so".to_owned()][..]));
    assert_eq!(
        (conditions.cpu_option.as_deref(), conditions.idle_cpu.as_deref()),
        (Some("2,3"), Some("poll"))
    );
    assert_eq!((conditions.seccomp_mode, conditions.seccomp_filters), (Some(2), Some(1)));
    let figure = &result.figures[0];
    assert_eq!((figure.revision, figure.judged(), figure.headline.as_str()), (2, "quiet", "floor"));
    assert_eq!(figure.evidence.verdict, Verdict::Checked);
    let new = [Mark::Shared, Mark::BusySibling, Mark::Interposed, Mark::Filtered, Mark::Reniced];
    assert_eq!(figure.marks, new);
    let launch = &figure.launches[0];
    assert_eq!(
        (launch.chain_ns, launch.throughput_ns, launch.entry_ns),
        (Some(0.271), Some(0.0682), Some(69.1))
    );
    assert_eq!(
        (launch.windows, launch.quiet_windows, launch.foreign_share),
        (Some(12), Some(9), Some(0.004))
    );
    let how = &launch.circumstances;
    assert_eq!((how.nice, how.policy.as_deref(), how.tracer_pid), (Some(-5), Some("other"), Some(0)));
    assert_eq!((how.seccomp_mode, how.preload.as_deref()), (Some(2), Some(&["libfast.so".to_owned()][..])));
    assert_eq!(launch.quantities["cycles"], 1275.2);
    assert_eq!(result.ratios[0].launches, [15.6, 15.7, 15.5, 15.6, 15.6, 15.6]);
}

/// A later version may know more: a reader of today shows what it can.
#[test]
fn values_that_a_later_version_added_are_unknown_and_nothing_else_is() {
    let mut later = open_sample();
    later["figures"][0]["status"] = json!("simulated");
    later["figures"][1]["marks"] = json!(["noisy", "haunted", "bimodal"]);
    later["figures"][1]["evidence"]["verdict"] = json!("referenceed");
    later["doctor"][0]["state"] = json!("mends_itself");
    later["reproductions"][2]["verdict"] = json!("holds_twice");
    let result = from_bytes(&sealed(&later)).unwrap();
    assert_eq!(result.figures[0].status, Status::Unknown);
    assert_eq!(result.figures[1].marks, [Mark::Noisy, Mark::Unknown, Mark::Bimodal]);
    assert_eq!(result.figures[1].evidence.verdict, Verdict::Unknown);
    assert_eq!(result.doctor[0].state, CheckState::Unknown);
    assert_eq!(result.reproductions[2].verdict, Some(Judgement::Unknown));
    assert_eq!(result.figures[2], sample().figures[2]);
    later["figures"][0]["status"] = json!(1);
    assert!(matches!(from_bytes(&sealed(&later)), Err(Refused::NotAResult { .. })), "a number is no state");
}

/// Results without answers say in words alone where a cell stands.
#[test]
fn words_tell_where_a_cell_stands_where_a_file_has_no_answers() {
    let mut value = open_sample();
    value["reproductions"][0]["document"] = json!("grame");
    value["reproductions"][0]["cell"] = json!({"table": "x", "row": "20 000 in a row", "column": "x"});
    let at = |value: &Value| {
        let result = from_bytes(&sealed(value)).unwrap();
        result.reproductions[0].cell.as_ref().and_then(|cell| cell.axis.as_ref().map(|axis| axis.at))
    };
    assert_eq!(at(&value), Some(20_000));
    value["answers"] = json!([{"document": "grame", "key": "x", "question": "x", "unit": "ns"}]);
    assert_eq!(at(&value), None);
}

/// The sample with its fourth figure as one that was wrong, and everything made of it.
fn wrong_sample(revision: Option<u32>) -> (Value, String) {
    let id = "lock/shared_mutex/handover/cross_cpu";
    let mut value = open_sample();
    let old = value["figures"][3]["id"].as_str().expect("an id").to_owned();
    let text = value.to_string().replace(&format!("\"{old}\""), &format!("\"{id}\""));
    value = serde_json::from_str(&text).expect("JSON again");
    if let Some(revision) = revision {
        value["figures"][3]["revision"] = json!(revision);
    }
    value["reproductions"][0]["figure_id"] = json!(id);
    value["reproductions"][0]["verdict"] = json!("holds");
    value["reproductions"][0]["measured"] = json!({"value": 713.25, "low": 700.0, "high": 731.5});
    (value, id.to_owned())
}

#[test]
fn what_was_wrong_is_withdrawn_by_reading_it() {
    let (value, id) = wrong_sample(None);
    let result = from_bytes(&sealed(&value)).unwrap();
    let figure = &result.figures[3];
    assert_eq!((figure.id.as_str(), figure.status), (id.as_str(), Status::Withdrawn));
    assert!(figure.why.as_ref().unwrap().contains("too low"), "{:?}", figure.why);
    assert_eq!(
        figure.quantities.len(),
        sample().figures[3].quantities.len(),
        "the file still says what was shown"
    );
    // Whatever was made of it.
    assert!(!result.differences.is_empty() && result.differences[0].of == id);
    assert_eq!((result.differences[0].value, result.differences[0].low), (None, None));
    assert_eq!(result.differences[0].why.as_deref(), Some(&*format!("{id} was withdrawn")));
    assert_eq!(
        result.differences[0].unknown["withdrawn"],
        json!({"value": 713.25, "low": 700.0, "high": 731.5})
    );
    let row = &result.reproductions[0];
    assert_eq!((row.measured, row.verdict), (None, Some(Judgement::NotTestableHere)));
    assert_eq!(row.unknown["withdrawn"]["verdict"], json!("holds"));
    // Nothing else.
    assert_eq!(result.figures[2], sample().figures[2]);
    assert_eq!(result.ratios, sample().ratios);
    // Twice is as once, and the outline says the same.
    let bytes = to_bytes(&result).unwrap();
    assert_eq!(from_bytes(&bytes).unwrap(), result);
    for bytes in [&bytes, &sealed(&value)] {
        let outline = outline_from_bytes(bytes).unwrap();
        assert_eq!((outline.figures[3].status, outline.figures[3].quoted()), (Status::Withdrawn, None));
        assert!(outline.figures[2].quoted().is_some());
    }
}

#[test]
fn the_next_revision_stands_and_so_does_what_was_not_measured() {
    let (value, _) = wrong_sample(Some(2));
    let result = from_bytes(&sealed(&value)).unwrap();
    assert_eq!((result.figures[3].status, result.differences[0].value), (Status::Measured, Some(713.25)));
    assert_eq!(outline_from_bytes(&sealed(&value)).unwrap().figures[3].status, Status::Measured);
    let (mut value, _) = wrong_sample(Some(1));
    value["figures"][3]["status"] = json!("unsupported");
    value["figures"][3]["why"] = json!("one CPU");
    let result = from_bytes(&sealed(&value)).unwrap();
    assert_eq!(result.figures[3].status, Status::Unsupported, "it never was a number");
    assert_eq!(result.figures[3].why.as_deref(), Some("one CPU"));
}

#[test]
fn members_of_later_versions_are_kept_at_every_depth() {
    let mut later = open_sample();
    // Every object but those whose keys are data, and the two-number values that are closed.
    fn add(value: &mut Value, key: &str, count: &mut usize) {
        match value {
            Value::Object(members) => {
                for (name, member) in members.iter_mut() {
                    add(member, name, count);
                }
                if !["quantities", "system_calls", "parameters", "expected", "measured"].contains(&key) {
                    members.insert("a_later_member".to_owned(), json!({"deep": [1, 2.5, null, "x"]}));
                    *count += 1;
                }
            }
            Value::Array(elements) => elements.iter_mut().for_each(|element| add(element, key, count)),
            _ => {}
        }
    }
    let mut count = 0;
    add(&mut later, "", &mut count);
    assert!(count > 70, "{count}");
    let result = from_bytes(&sealed(&later)).unwrap();
    let again: Value = serde_json::from_slice(&to_bytes(&result).unwrap()).unwrap();
    assert_eq!(again.to_string().matches("a_later_member").count(), count);
}
