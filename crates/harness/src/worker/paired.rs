//! The pairs of one launch that the cards ask for.

use crate::benchmark::Benchmark;
use crate::benchmark::card::Card;
use crate::protocol::message::{Failure, Launched, PAIRED, Pair};
use crate::worker::{rounds, summary};

/// Ids that a card is held against, each once.
fn partners_of(card: &Card) -> Vec<&'static str> {
    let mut partners: Vec<&str> = [card.baseline, card.subtract].into_iter().flatten().collect();
    partners.dedup();
    partners
}

/// Rounds of members against rounds of the members that their cards name.
pub(super) fn of_rounds(
    members: &[Option<&'static dyn Benchmark>],
    batched: &[usize],
    rounds: &rounds::Rounds,
    fast: &[bool],
) -> Vec<Pair> {
    let card = |position: usize| members[batched[position]].map(Benchmark::card);
    let fast_share = fast.iter().filter(|&&fast| fast).count() as f64 / fast.len().max(1) as f64;
    let mut pairs = Vec::new();
    for of in 0..batched.len() {
        let Some(of_card) = card(of) else { continue };
        let partners = partners_of(of_card);
        for to in 0..batched.len() {
            let Some(to_card) = card(to) else { continue };
            if to != of && partners.contains(&to_card.id) {
                let (ratio, difference) = summary::compare(&rounds.members[of], &rounds.members[to], fast);
                pairs.push(Pair {
                    of: of_card.id.into(),
                    to: to_card.id.into(),
                    quantity: PAIRED.into(),
                    ratio,
                    difference,
                    fast_share,
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
        let pairs = of_rounds(&members, &[1, 2], &rounds, &[true, false, true, true]);
        assert_eq!(pairs.len(), 1);
        assert_eq!((pairs[0].fast_share, pairs[0].ratio, pairs[0].difference), (0.75, Some(3.0), Some(4.0)));
        assert_eq!((&*pairs[0].of, &*pairs[0].to), ("a", "b"));
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
