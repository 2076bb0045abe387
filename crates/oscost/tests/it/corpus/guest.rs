//! The body of the fuzz target `guest`: frames of a guest, as they arrive on a serial line, up to the figures of its rows.

use oscost_count::figure::of_rows;
use oscost_count::frame::{FrameReader, wrap};
use oscost_count::message::{CountOutcome, CountRow, InstructionCounts, Said};
use oscost_results::Status;

use super::shown;
use super::tree::{Choices, edit};

/// The bytes as a serial line, in pieces; and frames of rows with edits, whole and cut into pieces. Whether a figure was measured.
pub fn check(data: &[u8]) -> bool {
    line(data, data.len() / 3 + 1);
    let mut choices = Choices::of(data);
    let pieces = 1 + choices.below(90);
    let mut sent = Vec::new();
    let mut said = Vec::new();
    for part in data.chunks(24) {
        let mut row = serde_json::to_value(Said::Row(Box::new(a_row()))).expect("JSON");
        edit(&mut row, &mut Choices::of(part));
        sent.extend(wrap(row.to_string().as_bytes()));
        said.push(row);
    }
    let heard = line(&sent, pieces);
    // What was sent arrives whole, however it was cut.
    assert_eq!(heard.len(), said.len());
    for (heard, said) in heard.iter().zip(&said) {
        assert_eq!(heard, said.to_string().as_bytes());
    }
    let rows: Vec<CountRow> = heard
        .iter()
        .filter_map(|frame| match serde_json::from_slice(frame).ok()? {
            Said::Row(row) => Some(*row),
            _ => None,
        })
        .collect();
    figures(&rows)
}

/// Every whole frame of bytes that arrive in pieces; what is none ends the line.
fn line(bytes: &[u8], piece: usize) -> Vec<Vec<u8>> {
    let mut reader = FrameReader::default();
    let mut frames = Vec::new();
    for piece in bytes.chunks(piece) {
        reader.push(piece);
        loop {
            match reader.take() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(rubbish) => {
                    assert!(!rubbish.0.is_empty());
                    return frames;
                }
            }
        }
    }
    frames
}

/// Figures of these rows as those of one machine and of two.
fn figures(rows: &[CountRow]) -> bool {
    let all = oscost_families::all();
    let benchmark = all.iter().find(|it| it.card().id == "syscall/getppid").expect("it is always there");
    let card = benchmark.card();
    let mut measured = false;
    let sides = rows.chunks(2).chain(rows.chunks(1));
    for rows in sides {
        let figure = of_rows(card, &rows.iter().collect::<Vec<_>>(), None);
        let shows = figure.status == Status::Measured;
        assert_eq!(shows, figure.why.is_none(), "a figure or a reason: {figure:?}");
        assert_eq!(shows, !figure.quantities.is_empty(), "{figure:?}");
        for quantity in figure.quantities.values() {
            assert!(quantity.estimate.value.is_finite());
            assert!(
                quantity.estimate.low <= quantity.estimate.value
                    && quantity.estimate.value <= quantity.estimate.high
            );
        }
        let words = serde_json::to_string(&figure).expect("JSON");
        shown::one_line(&oscost_results::Untrusted::new(&words).terminal().to_string());
        measured |= shows;
    }
    measured
}

fn a_row() -> CountRow {
    let counts = InstructionCounts {
        ones: vec![131; 16],
        twos: vec![244; 16],
        fours: vec![470; 16],
        followed: 470,
        tick: 4_000_000,
        tick_cost: 900,
        ..InstructionCounts::default()
    };
    CountRow { id: "syscall/getppid".into(), outcome: CountOutcome::Counted(counts), audited: None }
}
