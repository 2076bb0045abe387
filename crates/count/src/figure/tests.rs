//! Tests of figures of counts: the batch is taken off, and what differs is told.

use super::*;

fn counts(ones: &[u64], twos: &[u64], fours: &[u64]) -> InstructionCounts {
    InstructionCounts {
        ones: ones.to_vec(),
        twos: twos.to_vec(),
        fours: fours.to_vec(),
        ..InstructionCounts::default()
    }
}

fn card() -> Card {
    Card { id: "syscall/x", operations_per_iteration: 1, ..Card::BATCHED }
}

fn row(counts: InstructionCounts) -> CountRow {
    CountRow { id: "syscall/x".into(), outcome: CountOutcome::Counted(counts), audited: None }
}

fn followed(each: Vec<u64>, between_readings: Option<u64>) -> Followed {
    let (functions, unusual) = (Ok(Vec::new()), Vec::new());
    Followed { id: "syscall/x".into(), iterations: 5, each, between_readings, functions, unusual }
}

#[test]
fn the_batch_is_taken_off_to_the_instruction() {
    let constant = counts(&[329; 64], &[640; 8], &[1262; 8]);
    assert_eq!(Split::of(&constant), Split { frame: 18, is_sure: true });
    let row = row(constant);
    let two = Card { operations_per_iteration: 2, ..card() };
    let figure = of_rows(&two, &[&row, &row], None);
    let count = figure.count.expect("a count");
    assert_eq!((count.repeats, count.frame, count.boots), (Repeats::Constant, 18, 2));
    assert_eq!(count.values, [Counted { instructions: 311, times: 64 }]);
    let quantity = &figure.quantities[INSTRUCTIONS];
    assert_eq!((quantity.estimate.value, quantity.unit.as_str()), (155.5, "instructions"));
}

#[test]
fn a_figure_with_what_the_batch_takes_says_so_however_it_repeats() {
    let mut differ = [329; 64];
    differ[9] = 407;
    for ones in [[329; 64], differ] {
        let figure = of_rows(&card(), &[&row(counts(&ones, &[900; 8], &[5000; 8]))], None);
        assert_eq!(figure.remarks, [NOT_APART]);
        assert_eq!(figure.count.expect("a count").frame, 0);
    }
}

/// The iterations that were traced "take 18 fewer": without what the batch takes.
#[test]
fn what_was_traced_is_held_against_no_figure_with_what_the_batch_takes() {
    let counted = InstructionCounts { followed: 1573, ..counts(&[329; 64], &[900; 8], &[5000; 8]) };
    let row = row(counted);
    let figure = of_rows(&card(), &[&row, &row], Some((&followed(vec![311; 4], Some(1573)), &row)));
    assert_eq!(figure.remarks, [NOT_APART]);
    let count = figure.count.expect("a count");
    assert_eq!((count.repeats, count.why), (Repeats::Constant, None));
}

#[test]
fn a_boot_that_counted_nothing_has_no_figure() {
    let (some, none) =
        (row(counts(&[329; 64], &[640; 8], &[1262; 8])), row(counts(&[], &[640; 8], &[1262; 8])));
    for rows in [vec![&none], vec![&none, &some], vec![&some, &none]] {
        let figure = of_rows(&card(), &rows, None);
        assert_eq!((figure.status, figure.why.as_deref()), (Status::Failed, Some(NOTHING)));
        assert!(figure.quantities.is_empty());
    }
    let idle = row(InstructionCounts { idle_share: 0.5, ..counts(&[329; 64], &[640; 8], &[1262; 8]) });
    for rows in [[&some, &idle], [&idle, &some]] {
        let figure = of_rows(&card(), &rows, None);
        assert_eq!((figure.status, figure.quantities.len()), (Status::Unsupported, 0), "whichever it is");
    }
}

#[test]
fn a_rare_value_is_told_and_harms_no_frame() {
    let mut ones = [350; 64];
    ones[9] = 5350;
    let row = row(counts(&ones, &[690; 8], &[1370; 8]));
    for (operations, of) in [(1, ""), (2, "iterations of 2 operations: ")] {
        let card = Card { operations_per_iteration: operations, ..card() };
        let count = of_rows(&card, &[&row], None).count.expect("a count");
        assert_eq!((count.repeats, count.frame), (Repeats::Reproducible, 10));
        assert_eq!(count.why, Some(format!("{of}63 of 64 take 340, 1 take 5000 more")));
    }
}

#[test]
fn what_another_boot_counted_is_told() {
    let mut other = [350; 64];
    other[9] = 407;
    let (one, other) =
        (row(counts(&[350; 64], &[690; 8], &[1370; 8])), row(counts(&other, &[690; 8], &[1370; 8])));
    let count = of_rows(&card(), &[&one, &other], None).count.expect("a count");
    assert_eq!(
        count.why.as_deref(),
        Some("64 of 64 take 340; boots differ, in another 63 of 64 take 340, 1 take 57 more")
    );
}

#[test]
fn boots_that_differ_by_the_same_everywhere_are_told_so() {
    let boot = |more: u64, rare: u64| {
        let mut ones = [350 + more; 64];
        ones[9] = 5350 + rare;
        row(counts(&ones, &[690 + 2 * more; 8], &[1370 + 4 * more; 8]))
    };
    let why = |other: CountRow| {
        of_rows(&card(), &[&boot(0, 0), &other], None).count.and_then(|count| count.why).expect("a reason")
    };
    assert_eq!(
        why(boot(3, 3)),
        "63 of 64 take 340, 1 take 5000 more; boots differ, in another each takes 3 more"
    );
    assert!(why(boot(3, 4)).ends_with("in another 0 of 64 take 340, 63 take 3 more, 1 take 5004 more"));
    let (one, fewer) = (boot(3, 3), boot(0, 0));
    let count = of_rows(&card(), &[&one, &fewer], None).count.expect("a count");
    assert!(count.why.expect("a reason").ends_with("in another each takes 3 fewer"));
}

#[test]
fn a_period_is_seen() {
    let ones: Vec<u64> = (0..64).map(|index| if index % 8 == 3 { 900 } else { 100 }).collect();
    let figure = of_rows(&card(), &[&row(counts(&ones, &[190; 8], &[370; 8]))], None);
    let why = figure.count.and_then(|count| count.why).expect("a reason");
    assert!(why.ends_with("; one of these comes every 8 iterations"), "{why}");
}

#[test]
fn two_values_that_mix_still_have_one_frame() {
    // Values 12 757 and 12 771 with a frame of 56, as on a real kernel.
    let (a, b) = (12_757, 12_771);
    let ones: Vec<u64> = (0..64).map(|index| 56 + if index % 2 == 0 { a } else { b }).collect();
    let counted = counts(&ones, &[56 + a + b; 8], &[56 + 2 * a + 2 * b, 56 + 3 * a + b, 56 + a + 3 * b]);
    assert_eq!(Split::of(&counted), Split { frame: 56, is_sure: true });
}

#[test]
fn boots_that_differ_vary() {
    let (one, other) =
        (row(counts(&[50; 64], &[90; 8], &[170; 8])), row(counts(&[51; 64], &[92; 8], &[174; 8])));
    let count = of_rows(&card(), &[&one, &other], None).count.expect("a count");
    assert_eq!(count.repeats, Repeats::Varies);
    assert!(count.why.expect("a reason").contains("boots differ"));
}

#[test]
fn instruments_that_disagree_are_told() {
    let mut counted = counts(&[329; 64], &[640; 8], &[1262; 8]);
    counted.followed = 1573;
    let mut later = counted.clone();
    later.followed = 1579;
    let row = row(counted);
    let remarks = |followed: &Followed| of_rows(&card(), &[&row], Some((followed, &row))).remarks;
    assert!(remarks(&followed(vec![311; 4], Some(1573))).is_empty());
    assert_eq!(remarks(&followed(vec![311, 312, 311, 311], Some(1573))).len(), 1);
    assert_eq!(remarks(&followed(vec![311; 4], Some(1574))).len(), 1);

    // Both saw six more: the operation is another one at another time, and no instrument is wrong.
    let (later, each) = (self::row(later), followed(vec![311, 317, 311, 311], Some(1579)));
    let figure = of_rows(&card(), &[&row], Some((&each, &later)));
    let count = figure.count.expect("a count");
    assert_eq!(count.repeats, Repeats::Varies);
    assert_eq!(
        count.why.as_deref(),
        Some("64 of 64 take 311; iterations that were traced later take 6 more")
    );
    assert!(!figure.remarks.iter().any(|remark| remark.contains("disagree")), "{:?}", figure.remarks);
}
