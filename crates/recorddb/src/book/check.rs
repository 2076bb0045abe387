//! Every invariant of layout `book`, over the bytes of its two files.

use std::collections::BTreeMap;

use super::format::{self, CHAINS, FREE_LIST, HEADER, LENGTH, POINTER};
use crate::check::CheckReport;
use crate::error::Damage;

/// Where a record was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Nowhere,
    Free,
    Chain(u32),
}

/// A record of the index file.
struct Entry {
    next: u64,
    key: Vec<u8>,
    data: (u64, u64),
    place: Place,
}

/// Checks the bytes of an index file and a data file that nobody writes.
///
/// Each record stands on exactly one list: the chain of its key, or the free list if its key is blank; no list goes round
/// in a circle; no two values overlap; lengths, separators and newlines are in place. A changed byte inside a value, or
/// one inside a key that keeps its chain, is not seen: the format has no checksum.
#[must_use]
pub fn check(index: &[u8], data: &[u8]) -> CheckReport {
    let mut report = CheckReport::default();
    match records(index, &mut report) {
        Some(mut entries) => {
            lists(index, &mut entries, &mut report);
            values(data, &entries, &mut report);
        }
        None => report.damages.push(Damage::index("no header of 137 chains and a free list", 0)),
    }
    report
}

/// All records in file order, as far as they can be read. `None` without a header.
fn records(index: &[u8], report: &mut CheckReport) -> Option<BTreeMap<u64, Entry>> {
    let header = index.get(..usize::try_from(HEADER).ok()?)?;
    if header.last() != Some(&b'\n') {
        return None;
    }
    let mut entries = BTreeMap::new();
    let mut at = HEADER;
    while let Some(rest) = index.get(usize::try_from(at).ok()?..).filter(|rest| !rest.is_empty()) {
        match entry(rest, at) {
            Ok((entry, length)) => {
                entries.insert(at, entry);
                at += length;
            }
            Err(damage) => {
                report.damages.push(damage);
                break;
            }
        }
    }
    Some(entries)
}

fn entry(rest: &[u8], at: u64) -> Result<(Entry, u64), Damage> {
    let cut = Damage::index("the file ends in a record", at);
    let next: &[u8; POINTER] = rest.first_chunk().ok_or(cut)?;
    let length: &[u8; LENGTH] = rest[POINTER..].first_chunk().ok_or(cut)?;
    let next = format::pointer(next, at)?;
    let length = format::body_length(length, at)?;
    let text = rest.get(POINTER + LENGTH..POINTER + LENGTH + length).ok_or(cut)?;
    let body = format::body(text, at)?;
    let key = text[..body.key].to_vec();
    let data = (body.data_at, body.data_length as u64);
    Ok((Entry { next, key, data, place: Place::Nowhere }, (POINTER + LENGTH + length) as u64))
}

/// Follows every list. Each record is met at most once, so a circle ends at its second visit.
fn lists(index: &[u8], entries: &mut BTreeMap<u64, Entry>, report: &mut CheckReport) {
    let heads = (0..CHAINS).map(|chain| (format::chain_at(chain), Place::Chain(chain)));
    for (pointer_at, place) in std::iter::once((FREE_LIST, Place::Free)).chain(heads) {
        let mut from = pointer_at;
        let text = usize::try_from(pointer_at).ok().and_then(|at| index[at..].first_chunk());
        let mut at = match text.map(|text| format::pointer(text, pointer_at)) {
            Some(Ok(at)) => at,
            Some(Err(damage)) => {
                report.damages.push(damage);
                continue;
            }
            None => 0,
        };
        while at != 0 {
            let Some(entry) = entries.get_mut(&at) else {
                report.damages.push(Damage::index("a pointer to where no record begins", from));
                break;
            };
            if let Some(what) = misplaced(entry, place) {
                report.damages.push(Damage::index(what, at));
            }
            if entry.place != Place::Nowhere {
                break;
            }
            entry.place = place;
            (from, at) = (at, entry.next);
        }
    }
    for (at, entry) in entries.iter() {
        match entry.place {
            Place::Chain(_) => report.records += 1,
            Place::Free => report.free += 1,
            Place::Nowhere if format::is_blank(&entry.key) => {
                report.damages.push(Damage::index("a deleted record that is not on the free list", *at));
            }
            Place::Nowhere => report.lost += 1,
        }
    }
}

fn misplaced(entry: &Entry, place: Place) -> Option<&'static str> {
    match (entry.place, place) {
        (before, now) if before == now => return Some("a list that goes round in a circle"),
        (Place::Nowhere, _) => {}
        _ => return Some("a record on two lists"),
    }
    match place {
        Place::Free if !format::is_blank(&entry.key) => Some("a record with a key on the free list"),
        Place::Chain(_) if format::is_blank(&entry.key) => Some("a deleted record on a chain"),
        Place::Chain(chain) if format::chain_of(&entry.key) != chain => {
            Some("a record on the chain of another key")
        }
        _ => None,
    }
}

/// Values lie within the data file, end with a newline, and do not overlap.
fn values(data: &[u8], entries: &BTreeMap<u64, Entry>, report: &mut CheckReport) {
    let mut spans: Vec<(u64, u64, u64)> =
        entries.iter().map(|(at, entry)| (entry.data.0, entry.data.1, *at)).collect();
    spans.sort_unstable();
    let mut used = 0;
    let mut end = 0;
    for (at, length, record) in spans {
        let bytes =
            usize::try_from(at).ok().and_then(|from| data.get(from..)?.get(..usize::try_from(length).ok()?));
        match bytes {
            None => report.damages.push(Damage::index("a value behind the end of the data file", record)),
            Some([.., b'\n']) => {}
            Some(_) => report.damages.push(Damage::data("a value without its newline", at)),
        }
        if at < end {
            report.damages.push(Damage::data("two values overlap", at));
        }
        end = end.max(at + length);
        used += length;
    }
    report.lost_bytes += (data.len() as u64).saturating_sub(used);
    let mut keys: Vec<&[u8]> = entries
        .values()
        .filter(|entry| matches!(entry.place, Place::Chain(_)))
        .map(|entry| entry.key.as_slice())
        .collect();
    keys.sort_unstable();
    if keys.windows(2).any(|pair| pair[0] == pair[1]) {
        report.damages.push(Damage::index("a key that stands twice", HEADER));
    }
}
