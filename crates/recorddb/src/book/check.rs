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

#[cfg(test)]
mod tests {
    use super::*;

    /// A record: its key, the offset and the length of its value, the record behind it.
    type Row<'a> = (&'a str, u64, u64, u64);

    /// An index whose lists begin where `heads` say, with these records; where each record begins.
    fn index(heads: impl Fn(&[u64]) -> Vec<(u64, u64)>, rows: &[Row<'_>]) -> (Vec<u8>, Vec<u64>) {
        let mut bytes = format::empty_index();
        let mut begins = Vec::new();
        for (key, data_at, data_length, next) in rows {
            begins.push(bytes.len() as u64);
            let body = format!("{key}:{data_at}:{data_length}\n");
            bytes.extend_from_slice(format!("{next:>7}{:>4}{body}", body.len()).as_bytes());
        }
        for (pointer_at, value) in heads(&begins) {
            let at = usize::try_from(pointer_at).expect("small");
            format::put_number(&mut bytes[at..at + POINTER], value);
        }
        (bytes, begins)
    }

    fn chain(key: &str) -> u64 {
        format::chain_at(format::chain_of(key.as_bytes()))
    }

    /// Records, free, lost, lost bytes, and what is damaged.
    fn found(index: &[u8], data: &[u8]) -> ((u64, u64, u64, u64), Vec<&'static str>) {
        let report = check(index, data);
        let damages = report.damages.iter().map(|damage| damage.what).collect();
        ((report.records, report.free, report.lost, report.lost_bytes), damages)
    }

    /// What is damaged where one record of key "a" has this value and stands on these lists.
    fn of_one(value: (u64, u64), data: &[u8], heads: impl Fn(u64) -> Vec<(u64, u64)>) -> Vec<&'static str> {
        found(&index(|begins| heads(begins[0]), &[("a", value.0, value.1, 0)]).0, data).1
    }

    #[test]
    fn what_stands_where_it_belongs_is_counted() {
        let heads = |begins: &[u64]| vec![(chain("a"), begins[0]), (FREE_LIST, begins[1])];
        let rows = [("a", 0, 3, 0), ("  ", 3, 2, 0), ("c", 5, 2, 0)];
        let (index, _) = index(heads, &rows);
        assert_eq!(found(&index, b"xy\nx\nz\n"), ((1, 1, 1, 0), vec![]), "nothing leads to the third one");
        assert_eq!(found(&index, b"xy\nx\nz\nlost"), ((1, 1, 1, 4), vec![]));
        assert_eq!(found(&format::empty_index(), b""), ((0, 0, 0, 0), vec![]));
    }

    #[test]
    fn lists_lead_to_records_of_their_own_once() {
        let on_chain = |at| vec![(chain("a"), at)];
        assert_eq!(of_one((0, 2), b"x\n", on_chain), Vec::<&str>::new());
        let elsewhere = |at| vec![(chain("b"), at)];
        assert_eq!(of_one((0, 2), b"x\n", elsewhere), ["a record on the chain of another key"]);
        let free = |at| vec![(FREE_LIST, at)];
        assert_eq!(of_one((0, 2), b"x\n", free), ["a record with a key on the free list"]);
        let twice = |at| vec![(chain("a"), at), (chain("b"), at)];
        assert_eq!(of_one((0, 2), b"x\n", twice), ["a record on two lists"]);
        let between = |at| vec![(chain("a"), at + 1)];
        assert_eq!(of_one((0, 2), b"x\n", between), ["a pointer to where no record begins"]);
        let header = |_| vec![(chain("a"), 7)];
        assert_eq!(of_one((0, 2), b"x\n", header), ["a pointer into the header"]);
        let circle = index(|begins| vec![(chain("a"), begins[0])], &[("a", 0, 2, HEADER)]).0;
        assert_eq!(found(&circle, b"x\n").1, ["a list that goes round in a circle"]);
        let blank = |heads: fn(&[u64]) -> Vec<(u64, u64)>| found(&index(heads, &[(" ", 0, 2, 0)]).0, b"x\n");
        assert_eq!(blank(|_| vec![]).1, ["a deleted record that is not on the free list"]);
        assert_eq!(blank(|begins| vec![(FREE_LIST, begins[0])]), ((0, 1, 0, 0), vec![]));
        let on_a_chain = blank(|begins| vec![(format::chain_at(format::chain_of(b" ")), begins[0])]);
        assert_eq!(on_a_chain.1, ["a deleted record on a chain"]);
        let same = index(|begins| vec![(chain("a"), begins[0])], &[("a", 0, 2, HEADER + 17), ("a", 2, 2, 0)]);
        assert_eq!(same.1, [HEADER, HEADER + 17], "seven, four and \"a:0:2\\n\"");
        assert_eq!(found(&same.0, b"x\ny\n").1, ["a key that stands twice"]);
        let rows = [("a", 0, 2, HEADER + 34), ("b", 2, 2, 0), ("a", 4, 2, 0)];
        let apart = index(|begins| vec![(chain("a"), begins[0]), (chain("b"), begins[1])], &rows).0;
        assert_eq!(found(&apart, b"x\ny\nz\n").1, ["a key that stands twice"], "with another between them");
    }

    #[test]
    fn values_lie_in_the_file_apart_and_end_with_a_newline() {
        let on_chain = |at| vec![(chain("a"), at)];
        assert_eq!(of_one((0, 3), b"x\n", on_chain), ["a value behind the end of the data file"]);
        assert_eq!(of_one((3, 2), b"x\n", on_chain), ["a value behind the end of the data file"]);
        assert_eq!(of_one((0, 2), b"xy", on_chain), ["a value without its newline"]);
        let both = |begins: &[u64]| vec![(chain("a"), begins[0]), (chain("b"), begins[1])];
        let apart = index(both, &[("a", 0, 2, 0), ("b", 2, 2, 0)]).0;
        assert_eq!(found(&apart, b"x\ny\n"), ((2, 0, 0, 0), vec![]));
        let turned = index(both, &[("a", 2, 2, 0), ("b", 0, 2, 0)]).0;
        assert_eq!(found(&turned, b"x\ny\n"), ((2, 0, 0, 0), vec![]), "in any order");
        let over = index(both, &[("a", 0, 3, 0), ("b", 2, 2, 0)]).0;
        assert_eq!(found(&over, b"x\n\n\n").1, ["two values overlap"]);
    }

    #[test]
    fn what_is_cut_is_damaged() {
        let whole = index(|begins| vec![(chain("a"), begins[0])], &[("a", 0, 2, 0)]).0;
        assert_eq!(whole.len() as u64, HEADER + 17);
        for length in HEADER + 1..HEADER + 17 {
            let cut = &whole[..usize::try_from(length).expect("small")];
            let damages = found(cut, b"x\n").1;
            assert_eq!(damages[0], "the file ends in a record", "{length}");
        }
        for header in [&whole[..966], b""] {
            assert_eq!(found(header, b"").1, ["no header of 137 chains and a free list"]);
        }
        let mut other = whole.clone();
        other[966] = b' ';
        assert_eq!(found(&other, b"x\n").1, ["no header of 137 chains and a free list"]);
    }
}
