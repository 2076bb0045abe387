//! The part of a record that the journal keeps.

use oscost_harness::{Launched, Record};

/// A record without its samples. They are many: they are not even copied.
pub(crate) fn without_samples(record: &Record) -> Record {
    let Record::Launched { sequence, members, pairs, awake } = record else { return record.clone() };
    let member = |(id, launched): &(String, Launched)| {
        // Every field by name: what a figure is made of later must not be forgotten here.
        let Launched {
            record,
            clean_sketch,
            windows,
            post_conditions,
            remarks,
            extra,
            samples: _,
            tracks: _,
        } = launched;
        let kept = Launched {
            record: record.clone(),
            clean_sketch: clean_sketch.clone(),
            windows: windows.clone(),
            post_conditions: post_conditions.clone(),
            remarks: remarks.clone(),
            extra: *extra,
            ..Launched::default()
        };
        (id.clone(), kept)
    };
    Record::Launched {
        sequence: *sequence,
        members: members.iter().map(member).collect(),
        pairs: pairs.clone(),
        awake: awake.clone(),
    }
}
