//! The pairs of one launch that the cards ask for.

use crate::benchmark::Benchmark;
use crate::benchmark::card::Card;
use crate::protocol::message::{Failure, Launched, PAIRED, Pair};
use crate::worker::waits::Waits;
use crate::worker::{rounds, summary};

/// Ids that a card is held against, each once.
fn partners_of(card: &Card) -> Vec<&'static str> {
    let mut partners: Vec<&str> = [card.baseline, card.subtract].into_iter().flatten().collect();
    partners.dedup();
    partners
}

/// Rounds of members against rounds of the members that their cards name: of rounds in which both sides are judged (`waits`), so
/// that a price of waits asleep is not held against one of waits awake. Nothing of a side that the launch does not count of.
pub(super) fn of_rounds(
    members: &[Option<&'static dyn Benchmark>],
    launched: &[Option<Result<Launched, Failure>>],
    batched: &[usize],
    rounds: &rounds::Rounds,
    waits: &[Waits],
    fast: &[bool],
    hop_ns: Option<f64>,
) -> Vec<Pair> {
    let card = |position: usize| {
        let index = batched[position];
        members[index].filter(|_| matches!(launched[index], Some(Ok(_)))).map(Benchmark::card)
    };
    let mut pairs = Vec::new();
    for of in 0..batched.len() {
        let Some(of_card) = card(of) else { continue };
        let partners = partners_of(of_card);
        for to in 0..batched.len() {
            let Some(to_card) = card(to) else { continue };
            if to != of && partners.contains(&to_card.id) {
                let (one, other) = (&rounds.members[of], &rounds.members[to]);
                let both = |round: usize| waits[of].is_judged(round) && waits[to].is_judged(round);
                let keep: Vec<bool> = (0..one.samples.len()).map(both).collect();
                let fast = rounds::kept(fast, &keep);
                let (ratio, difference) = summary::compare(&one.only(&keep), &other.only(&keep), &fast);
                let fast_share = fast.iter().filter(|&&fast| fast).count() as f64 / fast.len().max(1) as f64;
                pairs.push(Pair {
                    of: of_card.id.into(),
                    to: to_card.id.into(),
                    quantity: PAIRED.into(),
                    ratio,
                    difference,
                    fast_share,
                    hop_ns,
                });
            }
        }
    }
    pairs
}

/// A quantity of a series against the same quantity of the series that its card names.
pub(super) fn of_series(
    members: &[Option<&'static dyn Benchmark>],
    launched: &[Option<Result<Launched, Failure>>],
) -> Vec<Pair> {
    let cards: Vec<Option<&'static Card>> =
        members.iter().map(|member| member.map(Benchmark::card)).collect();
    let found = |index: usize| launched.get(index)?.as_ref()?.as_ref().ok();
    let mut pairs = Vec::new();
    for (of, card) in cards.iter().enumerate().filter_map(|(of, card)| Some((of, (*card)?))) {
        for to_id in partners_of(card).into_iter().filter(|&to| to != card.id) {
            let to = cards.iter().position(|card| card.is_some_and(|card| card.id == to_id));
            let Some((of_table, to_table)) = found(of).zip(to.and_then(found)) else { continue };
            for quantity in card.quantities.iter().filter(|quantity| quantity.paired) {
                let value = |launched: &Launched| launched.record.quantities.get(quantity.name).copied();
                let Some((of_value, to_value)) = value(of_table).zip(value(to_table)) else { continue };
                pairs.push(Pair {
                    of: card.id.into(),
                    to: to_id.into(),
                    quantity: quantity.name.into(),
                    ratio: (to_value != 0.0).then(|| of_value / to_value),
                    difference: Some(of_value - to_value),
                    fast_share: 1.0,
                    hop_ns: None,
                });
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of what to what, the quantity, the ratio and the difference.
    type Told = (String, String, String, Option<f64>, Option<f64>);

    /// Pairs of two series, of which the first is held against these.
    fn paired(
        baseline: Option<&'static str>,
        subtract: Option<&'static str>,
        found: [Option<(f64, f64)>; 2],
    ) -> Vec<Told> {
        use crate::benchmark::card::QuantityCard;
        use crate::figures::synthetic::{choice, launched, series};
        const QUANTITIES: &[QuantityCard] =
            &[QuantityCard::new("cost", "ns").paired(), QuantityCard::new("other", "ns")];
        let card = |id| Card { quantities: QUANTITIES, ..series(id) };
        let first = Card { baseline, subtract, ..card("a") };
        let members = [Some(choice(first).benchmark), None, Some(choice(card("b")).benchmark)];
        let launch = |found: Option<(f64, f64)>| {
            let (cost, other) = found.ok_or_else(|| Failure::new("launch", "it broke"))?;
            Ok(launched(&[("cost", cost), ("other", other)]))
        };
        let [a, b] = found.map(launch);
        of_series(&members, &[Some(a), None, Some(b)])
            .into_iter()
            .inspect(|pair| assert_eq!(pair.fast_share, 1.0, "it has no rounds"))
            .map(|pair| (pair.of, pair.to, pair.quantity, pair.ratio, pair.difference))
            .collect()
    }

    #[test]
    fn the_share_of_fast_rounds_stands_with_a_pair() {
        use crate::figures::synthetic::choice;
        let card = |id, baseline| choice(Card { id, baseline, ..Card::BATCHED }).benchmark;
        let members = [None, Some(card("a", Some("b"))), Some(card("b", None))];
        let batches = |ns: f64| rounds::Batches { samples: vec![ns; 4], ..rounds::Batches::default() };
        let rounds = rounds::Rounds { members: vec![batches(6.0), batches(2.0)], canaries: Vec::new() };
        let waits = [Waits::default(), Waits::default()];
        let fast = [true, false, true, true];
        let of = |launched: &[Option<Result<Launched, Failure>>]| {
            of_rounds(&members, launched, &[1, 2], &rounds, &waits, &fast, Some(40.0))
        };
        let done = || Some(Ok(Launched::default()));
        let failed = || Some(Err(Failure::new("verification", "it is wrong")));
        let pairs = of(&[None, done(), done()]);
        assert_eq!((pairs.len(), pairs[0].hop_ns), (1, Some(40.0)));
        assert_eq!((pairs[0].fast_share, pairs[0].ratio, pairs[0].difference), (0.75, Some(3.0), Some(4.0)));
        assert_eq!((&*pairs[0].of, &*pairs[0].to), ("a", "b"));
        // What a side did before its object was found wrong is in no ratio.
        assert_eq!(of(&[None, done(), failed()]), []);
        assert_eq!(of(&[None, failed(), done()]), []);
    }

    #[test]
    fn a_pair_is_of_rounds_in_which_both_sides_slept() {
        use crate::figures::synthetic::choice;
        let card = |id, baseline| choice(Card { id, baseline, ..Card::BATCHED }).benchmark;
        let members = [Some(card("a", Some("b"))), Some(card("b", None))];
        // What was never slept in costs another price: the first side slept in rounds 0 to 5, the other in 3 to 9.
        let side = |asleep: f64, awake: f64, slept: std::ops::Range<usize>| rounds::Batches {
            samples: (0..10).map(|round| if slept.contains(&round) { asleep } else { awake }).collect(),
            disturbed: vec![false; 10],
            sleeps: (0..10).map(|round| u64::from(slept.contains(&round))).collect(),
            ..rounds::Batches::default()
        };
        let sides = vec![side(6.0, 1.0, 0..6), side(2.0, 50.0, 3..10)];
        let rounds = rounds::Rounds { members: sides, canaries: Vec::new() };
        let waits = [0, 1].map(|position| Waits::of(&rounds.members[position], 1));
        let launched: [Option<Result<Launched, Failure>>; 2] =
            [(); 2].map(|()| Some(Ok(Launched::default())));
        let pair =
            |fast: &[bool]| of_rounds(&members, &launched, &[0, 1], &rounds, &waits, fast, None).remove(0);
        let but_one: Vec<bool> = (0..10).map(|round| round != 3).collect();
        let found = pair(&but_one);
        assert_eq!((found.ratio, found.difference, found.fast_share), (Some(3.0), Some(4.0), 2.0 / 3.0));
        let others: Vec<bool> = (0..10).map(|round| round < 3).collect();
        let slow = pair(&others);
        assert_eq!((slow.ratio, slow.fast_share), (Some(3.0), 0.0), "fast alone does not make it a pair");
        // Where nobody knows which rounds were fast, all that both slept in count.
        assert_eq!(pair(&[]).ratio, Some(3.0));
    }

    #[test]
    fn series_of_one_launch_are_held_against_each_other_where_the_card_says_so() {
        let values = [Some((6.0, 1.0)), Some((2.0, 1.0))];
        let pair = || vec![("a".to_owned(), "b".to_owned(), "cost".to_owned(), Some(3.0), Some(4.0))];
        assert_eq!(paired(Some("b"), None, values), pair());
        assert_eq!(paired(None, Some("b"), values), pair());
        assert_eq!(paired(Some("b"), Some("b"), values), pair(), "once");
        let zero = paired(Some("b"), None, [Some((6.0, 1.0)), Some((0.0, 1.0))]);
        assert_eq!((zero[0].3, zero[0].4), (None, Some(6.0)), "no ratio to nothing");
        for none in [
            paired(None, None, values),
            paired(Some("a"), None, values),
            paired(Some("c"), None, values),
            paired(Some("b"), None, [None, Some((2.0, 1.0))]),
            paired(Some("b"), None, [Some((6.0, 1.0)), None]),
        ] {
            assert_eq!(none, []);
        }
    }
}
