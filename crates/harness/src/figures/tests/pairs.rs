//! Ratios and differences of invented launches.

use oscost_results::PairedValue;

use super::*;
use crate::protocol::message::{PAIRED, Pair};

fn pair(ratio: f64, difference: f64, fast_share: f64) -> Vec<Pair> {
    let (ratio, difference) = (Some(ratio), Some(difference));
    let (of, to, quantity) = ("of".to_owned(), "to".to_owned(), PAIRED.to_owned());
    vec![Pair { of, to, quantity, ratio, difference, fast_share, hop_ns: None }]
}

/// The pairs of two members whose floors are these.
fn of_pairs(
    of: Card,
    floor_of: f64,
    floor_to: f64,
    pairs: &[Vec<Pair>],
) -> (Vec<PairedValue>, Vec<PairedValue>) {
    let members = [member(of, floors(&[floor_of; 6])), member(batched("to"), floors(&[floor_to; 6]))];
    let figures = members.each_ref().map(|member| of_member(member, &CONTEXT));
    let mut others = [pair(99.0, 99.0, 1.0), pair(99.0, 99.0, 1.0), pair(99.0, 99.0, 1.0)].concat();
    (others[0].of, others[1].to, others[2].quantity) = ("x".to_owned(), "x".to_owned(), "x".to_owned());
    paired(&figures, &members, &[pairs, &[others]].concat())
}

fn divided() -> Card {
    Card { baseline: Some("to"), subtract: Some("to"), ..batched("of") }
}

#[test]
fn pairs_are_of_launches_that_ran_fast_where_three_did() {
    let pairs = |fast: usize| -> Vec<Vec<Pair>> {
        (0..7)
            .map(|launch| if launch < fast { pair(3.0, 20.0, 0.2) } else { pair(5.0, 40.0, 0.19) })
            .collect()
    };
    let (ratios, differences) = of_pairs(divided(), 300.0, 100.0, &pairs(3));
    assert_eq!((ratios[0].value, ratios[0].launches.as_slice()), (Some(3.0), &[3.0; 3][..]));
    assert_eq!((differences[0].value, differences[0].unit.as_str()), (Some(20.0), "ns"));
    let (ratios, differences) = of_pairs(divided(), 300.0, 100.0, &pairs(2));
    assert_eq!((ratios[0].value, ratios[0].launches.len()), (Some(5.0), 7), "all of them");
    assert_eq!((differences[0].value, differences[0].launches.len()), (Some(40.0), 7));
    assert_eq!(
        (ratios[0].of.as_str(), ratios[0].to.as_str(), ratios[0].quantity.as_str()),
        ("of", "to", PAIRED)
    );
}

#[test]
fn pairs_are_of_launches_between_near_cpus() {
    let between = |hop_ns: f64, ratio: f64, fast_share: f64| {
        let mut pairs = pair(ratio, 10.0 * ratio, fast_share);
        pairs[0].hop_ns = Some(hop_ns);
        pairs
    };
    let pairs = |fast_share: f64| -> Vec<Vec<Pair>> {
        let (far, near) = (vec![between(400.0, 9.0, 1.0); 5], vec![between(100.0, 3.0, fast_share); 4]);
        [far, near].concat()
    };
    for (fast_share, words) in [(1.0, "near ones"), (0.1, "near ones, though only far ones ran fast")] {
        let (ratios, differences) = of_pairs(divided(), 300.0, 100.0, &pairs(fast_share));
        assert_eq!((ratios[0].value, ratios[0].launches.as_slice()), (Some(3.0), &[3.0; 4][..]), "{words}");
        assert_eq!((differences[0].value, differences[0].launches.len()), (Some(30.0), 4), "{words}");
    }
}

#[test]
fn the_ratio_of_the_floors_stands_beside_and_a_gap_is_said() {
    let paired = |ratio: f64| {
        let pairs: Vec<Vec<Pair>> = (0..6).map(|_| pair(ratio, 0.0, 1.0)).collect();
        of_pairs(divided(), 300.0, 100.0, &pairs).0
    };
    let near = paired(3.05);
    assert_eq!((near.len(), near[0].why.as_deref(), near[1].quantity.as_str()), (2, None, "floor"));
    assert_eq!((near[1].value, near[1].low, near[1].launches.len()), (Some(3.0), Some(3.0), 0));
    for far in [3.07, 2.9] {
        let why = paired(far)[0].why.clone().expect("a gap");
        assert!(why.starts_with("3.000x of the floors"), "{why}");
    }
    assert_eq!(paired(2.95)[0].why, None);
    // A floor of nothing divides nothing.
    let (ratios, _) = of_pairs(divided(), 300.0, 0.0, &[pair(3.0, 1.0, 1.0)]);
    assert_eq!(ratios[1].value, None);
}

#[test]
fn a_side_that_was_withheld_leaves_its_row() {
    let members = [member(divided(), floors(&[300.0; 6])), member(batched("to"), Vec::new())];
    let figures = members.each_ref().map(|member| of_member(member, &CONTEXT));
    let (ratios, differences) = paired(&figures, &members, &[pair(3.0, 20.0, 1.0)]);
    for rows in [&ratios, &differences] {
        assert_eq!(
            (rows.len(), rows[0].value, rows[0].why.as_deref()),
            (1, None, Some("to was not measured"))
        );
    }
    // Nobody is divided by what is not there, or by himself.
    let alone = [member(divided(), floors(&[300.0; 6]))];
    let figures = alone.each_ref().map(|member| of_member(member, &CONTEXT));
    assert_eq!(paired(&figures, &alone, &[]), (Vec::new(), Vec::new()));
    let own = [member(Card { baseline: Some("of"), ..batched("of") }, floors(&[300.0; 6]))];
    let figures = own.each_ref().map(|member| of_member(member, &CONTEXT));
    assert_eq!(paired(&figures, &own, &[]).0, []);
}

#[test]
fn series_are_paired_quantity_by_quantity() {
    const QUANTITIES: &[QuantityCard] =
        &[QuantityCard::new("cost", "us").paired(), QuantityCard::new("count", "count")];
    let card = |id, other| Card { baseline: other, subtract: other, quantities: QUANTITIES, ..series(id) };
    let launches = || (0..6).map(|_| launched(&[("cost", 5.0), ("count", 1.0)])).collect::<Vec<_>>();
    let members = [member(card("of", Some("to")), launches()), member(card("to", None), launches())];
    let figures = members.each_ref().map(|member| of_member(member, &CONTEXT));
    let mut pairs = vec![pair(3.0, 20.0, 1.0)];
    pairs[0][0].quantity = "cost".to_owned();
    let (ratios, differences) = paired(&figures, &members, &pairs);
    assert_eq!((ratios.len(), ratios[0].quantity.as_str(), ratios[0].value), (1, "cost", Some(3.0)));
    assert_eq!((ratios[0].unit.as_str(), differences[0].unit.as_str()), ("ratio", "us"));
    assert_eq!((differences.len(), differences[0].value), (1, Some(20.0)));
}
