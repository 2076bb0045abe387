//! Ratios and differences of the members of a group, launch by launch. METHOD.md, Figures.

use oscost_results::{Estimate, Figure, PairedValue, Status, near};
use oscost_stats::interval::MEDIAN;
use serde_json::Map;

use super::member::MemberState;
use crate::benchmark::card::OverLaunches;
use crate::protocol::message::{PAIRED, Pair};

use super::quantities::estimate;
use super::{CLEAN, FEW};

/// The paired ratio and the floors' ratio should agree to this.
const RATIOS_AGREE: f64 = 0.02;

/// Ratios and differences of one group. A side that was withheld leaves the row, with the reason.
pub(crate) fn paired(
    figures: &[Figure],
    members: &[MemberState],
    pairs: &[Vec<Pair>],
) -> (Vec<PairedValue>, Vec<PairedValue>) {
    let (mut ratios, mut differences) = (Vec::new(), Vec::new());
    let figure = |id: &str| figures.iter().find(|figure| figure.id == id);
    let over = |of: &str, to: &str, quantity: &str, value: fn(&Pair) -> Option<f64>| {
        let is_asked = |pair: &&Pair| pair.of == of && pair.to == to && pair.quantity == quantity;
        let all: Vec<&Pair> = pairs.iter().flatten().filter(is_asked).collect();
        // The launches that count are those of the figures: between CPUs that were near to each other.
        let hops: Vec<Option<f64>> = all.iter().map(|pair| pair.hop_ns).collect();
        let counted: Vec<&Pair> =
            all.into_iter().zip(near(&hops)).filter_map(|(pair, near)| near.then_some(pair)).collect();
        let is_fast = |pair: &&&Pair| pair.fast_share >= CLEAN;
        let mut values: Vec<f64> = counted.iter().filter(is_fast).filter_map(|pair| value(pair)).collect();
        if values.len() < FEW {
            values = counted.iter().filter_map(|pair| value(pair)).collect();
        }
        Some((estimate(&values, OverLaunches::Median, MEDIAN, usize::MAX)?, values))
    };
    type Found = Option<(Estimate, Vec<f64>)>;
    let value = |of: &str, to: &str, quantity: &str, unit: &str, found: Found, why: Option<String>| {
        let (estimate, launches) =
            found.map_or((None, Vec::new()), |(estimate, launches)| (Some(estimate), launches));
        PairedValue {
            of: of.to_owned(),
            to: to.to_owned(),
            quantity: quantity.to_owned(),
            unit: unit.to_owned(),
            value: estimate.map(|estimate| estimate.value),
            low: estimate.map(|estimate| estimate.low),
            high: estimate.map(|estimate| estimate.high),
            launches,
            why,
            unknown: Map::default(),
        }
    };
    for member in members {
        let card = member.choice.card();
        let withheld = |to: &str| -> Option<String> {
            [card.id, to].into_iter().find_map(|id| {
                let status = figure(id)?.status;
                (status != Status::Measured).then(|| format!("{id} was not measured"))
            })
        };
        let floor = |id: &str| Some(figure(id)?.quantities.get("floor")?.estimate.value);
        if let Some(to) = card.baseline.filter(|&to| to != card.id && figure(to).is_some()) {
            match withheld(to) {
                Some(why) => ratios.push(value(card.id, to, PAIRED, "ratio", None, Some(why))),
                None if !card.quantities.is_empty() => {
                    for quantity in card.quantities.iter().filter(|quantity| quantity.paired) {
                        let ratio = over(card.id, to, quantity.name, |pair| pair.ratio);
                        ratios.push(value(card.id, to, quantity.name, "ratio", ratio, None));
                    }
                }
                None => {
                    let paired = over(card.id, to, PAIRED, |pair| pair.ratio);
                    let floors = match (floor(card.id), floor(to)) {
                        (Some(of), Some(to)) if to != 0.0 => Some(of / to),
                        _ => None,
                    };
                    let warning = match (&paired, floors) {
                        (Some((paired, _)), Some(floors))
                            if (floors / paired.value - 1.0).abs() > RATIOS_AGREE =>
                        {
                            Some(format!(
                                "{floors:.3}x of the floors, so one of the two often ran in a slower mode"
                            ))
                        }
                        _ => None,
                    };
                    ratios.push(value(card.id, to, PAIRED, "ratio", paired, warning));
                    let floors = floors.map(|ratio| {
                        (Estimate { value: ratio, low: ratio, high: ratio, extremes: true }, Vec::new())
                    });
                    ratios.push(value(card.id, to, "floor", "ratio", floors, None));
                }
            }
        }
        if let Some(to) = card.subtract.filter(|to| figure(to).is_some()) {
            match withheld(to) {
                Some(why) => differences.push(value(card.id, to, PAIRED, "ns", None, Some(why))),
                None if !card.quantities.is_empty() => {
                    for quantity in card.quantities.iter().filter(|quantity| quantity.paired) {
                        let difference = over(card.id, to, quantity.name, |pair| pair.difference);
                        differences.push(value(card.id, to, quantity.name, quantity.unit, difference, None));
                    }
                }
                None => {
                    let difference = over(card.id, to, PAIRED, |pair| pair.difference);
                    differences.push(value(card.id, to, PAIRED, "ns", difference, None));
                }
            }
        }
    }
    (ratios, differences)
}
