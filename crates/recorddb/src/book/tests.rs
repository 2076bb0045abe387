//! Where the locks of the book lie, and what it says of files that were put together by hand.

use std::fs::File;
use std::sync::Arc;

use super::*;
use crate::error::Refusal;
use crate::io::Positioned;
use crate::lock::SystemLocks;

/// A database over these bytes of an index and of data.
fn book(index: &[u8], data: &[u8]) -> Book<Positioned, SystemLocks> {
    let file = |bytes: &[u8]| {
        let file: Arc<File> = Arc::new(oscost_sys::file::in_memory(0).expect("memory").into());
        let mut io = Positioned::new(file);
        io::write_rest(&mut io, 0, bytes, &[], 0).expect("room");
        io
    };
    Book::new(file(index), file(data), Guard::new(None, SystemLocks::None, false), true)
}

/// An index whose chain of "key" begins with these records of that key, one after the other: each leads to the next, the last to `end`.
fn chained(records: u64, end: u64) -> Vec<u8> {
    let mut index = format::empty_index();
    let at = usize::try_from(format::chain_at(format::chain_of(b"key"))).expect("small");
    format::put_number(&mut index[at..][..POINTER], HEADER);
    for number in 1..=records {
        let next = if number == records { end } else { index.len() as u64 + 19 };
        index.extend_from_slice(format!("{next:>7}   8key:0:3\n").as_bytes());
    }
    index
}

fn what<T>(result: Result<T, Error>) -> Option<(&'static str, u64)> {
    match result {
        Ok(_) => None,
        Err(Error::Damaged(damage)) => Some((damage.what, damage.at)),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn every_lock_has_a_place_and_a_number_of_its_own() {
    use LockId::{Chain, Creation, DataAppend, FreeList, IndexAppend, Whole};
    for (id, place, counted) in [
        (Chain(0), (0, 7, 1), 0),
        (Chain(136), (0, 959, 1), 136),
        (FreeList, (0, 0, 1), 137),
        (DataAppend, (1, 0, 0), 138),
        (IndexAppend, (0, 967, 0), 139),
        (Creation, (0, 0, 0), 140),
        (Whole, (0, 0, 1), 141),
    ] {
        let (file, bytes) = range(id);
        assert_eq!(((file, bytes.start, bytes.length), number(id)), (place, counted), "{id:?}");
    }
}

/// A list is given up where it is longer than any index: not one record sooner, and not later.
#[test]
fn a_list_that_goes_round_is_left_after_as_many_records_as_an_index_holds() {
    let mut circle = book(&chained(1, HEADER), b"v\n");
    let found = what(circle.find(b"yek", format::chain_of(b"key")));
    let first = format::chain_at(format::chain_of(b"key"));
    assert_eq!(found, Some(("a list that goes round in a circle", first)));
    assert_eq!(circle.counters().visits, MAX_RECORDS + 1);
}

#[test]
fn a_pointer_of_seven_digits_is_written_whole() {
    let mut book = book(&format::empty_index(), b"");
    for value in [MAX_OFFSET, HEADER, 0, 1_000_000] {
        book.put_pointer(FREE_LIST, value).expect("room");
        assert_eq!(book.pointer(FREE_LIST), Ok(value));
    }
}

#[test]
fn files_that_were_cut_are_told_where_they_end() {
    let index = chained(1, 0);
    let fetched = |index: &[u8], data: &[u8]| {
        let mut value = b"before".to_vec();
        let found = book(index, data).fetch(b"key", &mut value);
        what(found.map(|found| assert!(found && value == b"xy")))
    };
    assert_eq!(fetched(&index, b"xy\n"), None);
    let record = usize::try_from(HEADER).expect("small");
    for length in record + 1..index.len() {
        let told = fetched(&index[..length], b"xy\n");
        assert_eq!(told, Some(("the file ends in a record", HEADER)), "{length} bytes");
    }
    let chain = usize::try_from(format::chain_at(format::chain_of(b"key"))).expect("small");
    let behind = Some(("a pointer behind the end of the file", chain as u64));
    assert_eq!(fetched(&index[..record], b"xy\n"), behind);
    assert_eq!(fetched(&index[..chain + 6], b""), Some(("the file ends in a pointer", chain as u64)));
    assert_eq!(fetched(&index, b"xy"), Some(("the file ends in a value", 0)));
    assert_eq!(fetched(&index, b"xyz"), Some(("a value without its newline", 0)));
}

#[test]
fn an_index_has_a_whole_header_with_its_newline() {
    let whole = format::empty_index();
    let other = Err(Error::Refused(Refusal::OtherFile));
    let mut without_newline = whole.clone();
    *without_newline.last_mut().expect("a header") = b' ';
    assert_eq!(book(&whole, b"").look(), Ok(()));
    assert_eq!(book(&without_newline, b"").look(), other);
    for length in [0, 1, 7, 959, 966] {
        assert_eq!(book(&whole[..length], b"").look(), other, "{length} bytes");
    }
}

#[test]
fn who_opened_it_for_reading_is_refused_before_anything_is_looked_at() {
    let mut book = book(b"", b"");
    book.writable = false;
    let refused = Error::Refused(Refusal::ReadOnly);
    assert_eq!(book.store(b"key", b"value", StoreMode::Either), Err(refused));
    assert_eq!(book.delete(b"key"), Err(refused));
    assert_eq!(book.counters(), Counters::default());
}
