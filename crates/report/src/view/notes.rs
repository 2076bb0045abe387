//! Notes on one figure in a few words: another operation, ratios, differences, marks, other quantities.

use oscost_results::{Figure, Mark, PairedValue, quantity};
use std::collections::BTreeSet;

use crate::numbers;
use crate::view::story::{Story, headline};

/// Ratio of a paired ratio to that of the floors beyond which both are shown (METHOD.md, Figures).
const RATIOS_DIFFER: f64 = 0.02;

impl Story<'_> {
    /// All notes of a measured figure, whose heading says `shared_operation`.
    pub fn notes(&self, figure: &Figure, shared_operation: Option<&str>) -> Vec<String> {
        // Ratios first: they are short, and go beside the verdict where there is room.
        let mut notes = self.ratios(figure);
        notes.extend(self.differences(figure));
        notes.extend(self.own_operation(figure, shared_operation));
        notes.extend(self.marks(figure));
        notes.extend(self.other_quantities(figure));
        notes
    }

    /// The operation, where the heading does not say it and the name does not either.
    fn own_operation(&self, figure: &Figure, shared: Option<&str>) -> Option<String> {
        let operation = figure.operation.as_str();
        (shared != Some(operation) && !operation.is_empty() && !says_itself(&figure.id, operation))
            .then(|| self.plain(operation))
    }

    fn ratios(&self, figure: &Figure) -> Vec<String> {
        let of_this = || self.result.ratios.iter().filter(|ratio| ratio.of == figure.id);
        let mut notes = Vec::new();
        for ratio in of_this() {
            let paired = of_this().find(|other| other.to == ratio.to && other.quantity == "paired");
            if ratio.quantity == "floor" && paired.is_some() {
                // The paired ratio is the one that is quoted; the floors' stands beside it only where the two disagree
                // and the result does not say so itself.
                if let (Some(floors), Some(quoted)) = (ratio.value, paired.and_then(|paired| paired.value))
                    && paired.is_some_and(|paired| paired.why.is_none())
                    && (floors / quoted - 1.0).abs() > RATIOS_DIFFER
                {
                    let floors = numbers::ratio(floors, None);
                    notes.push(format!("beware: {floors} of the floors, more than 2 % off"));
                }
                continue;
            }
            let name = self.other_name(figure, &ratio.to);
            let kind = match ratio.quantity.as_str() {
                "paired" => String::new(),
                other => format!(", {}", self.words(other)),
            };
            let why = self.reservation(ratio);
            notes.push(match ratio.value {
                Some(value) => {
                    let bounds = ratio.low.zip(ratio.high).map_or(String::new(), |(low, high)| {
                        format!(" ({} .. {})", numbers::significant(low), numbers::significant(high))
                    });
                    format!("{} {name}{bounds}{kind}{why}", numbers::ratio(value, None))
                }
                None => format!("no ratio to {name}{kind}{why}"),
            });
        }
        notes
    }

    fn differences(&self, figure: &Figure) -> Vec<String> {
        let of_this = self.result.differences.iter().filter(|difference| difference.of == figure.id);
        let note = |difference: &PairedValue| {
            let (name, why) = (self.other_name(figure, &difference.to), self.reservation(difference));
            let unit = self.plain(&difference.unit);
            let Some(value) = difference.value else { return format!("no difference to {name}{why}") };
            let range = |(low, high)| format!(" ({})", numbers::range(low, high, &unit));
            let bounds = difference.low.zip(difference.high).map_or(String::new(), range);
            format!("{} without {name}{bounds}{why}", numbers::quantity(value, &unit))
        };
        of_this.map(note).collect()
    }

    fn reservation(&self, pair: &PairedValue) -> String {
        let why = pair.why.as_deref().filter(|why| !why.is_empty());
        why.map_or(String::new(), |why| format!(": {}", self.plain(why)))
    }

    /// The marks, with what is known of each.
    pub fn marks(&self, figure: &Figure) -> Vec<String> {
        let headline = figure.quantities.get(headline(figure));
        let unit = headline.map_or(String::new(), |quantity| self.plain(&quantity.unit));
        let mut notes: Vec<String> = figure
            .marks
            .iter()
            .filter(|mark| **mark != Mark::Bimodal)
            .map(|mark| match mark {
                Mark::Noisy => figure.evidence.clean_share.map_or("noisy".to_owned(), |share| {
                    format!("noisy: {} clean rounds", numbers::whole_percent(share))
                }),
                Mark::NotConverged => headline
                    .and_then(|quantity| numbers::half_width(&quantity.estimate))
                    .map_or("not converged".to_owned(), |half| {
                        format!("not converged: half-width {:.*} %", usize::from(half < 0.1), half * 100.0)
                    }),
                Mark::FewerLaunches => format!("fewer launches than planned: {}", figure.launches.len()),
                Mark::NotRealTime => "not real-time: the priority was not granted".to_owned(),
                Mark::Shared => shared(figure),
                Mark::Interposed => self.interposed(figure),
                Mark::Reniced => self.reniced(figure),
                Mark::Filtered => "filtered: every call passes a seccomp filter".to_owned(),
                other => other.words().to_owned(),
            })
            .collect();
        if !figure.modes.is_empty() {
            let modes = figure.modes.iter().map(|mode| {
                format!("{} {}", numbers::quantity(mode.value, &unit), numbers::whole_percent(mode.share))
            });
            notes.push(format!("bimodal: {}", modes.collect::<Vec<_>>().join(", ")));
        } else if figure.marks.contains(&Mark::Bimodal) {
            notes.push("bimodal".to_owned());
        }
        if figure.placement == "unpinned" {
            let share = figure.quantities.get(quantity::SAME_CPU_SHARE).map_or(String::new(), |share| {
                format!(", {} of the batches ended on one CPU", numbers::whole_percent(share.estimate.value))
            });
            notes.push(format!("unpinned: a mixture of placements{share}"));
        }
        notes
    }

    fn interposed(&self, figure: &Figure) -> String {
        let launches = figure.launches.iter().filter_map(|launch| launch.circumstances.preload.as_ref());
        let libraries: BTreeSet<&str> = launches.flatten().map(String::as_str).collect();
        let names: Vec<String> = libraries.into_iter().map(|name| self.plain(name)).collect();
        if names.is_empty() { "interposed".to_owned() } else { format!("interposed: {}", names.join(", ")) }
    }

    fn reniced(&self, figure: &Figure) -> String {
        let all = || figure.launches.iter().map(|launch| &launch.circumstances);
        let nice = all().find_map(|it| it.nice.filter(|&nice| nice != 0)).map(|nice| format!("nice {nice}"));
        let policy = all().find_map(|it| it.policy.as_deref().filter(|&policy| policy != "other"));
        let policy = policy.map(|policy| format!("policy {}", self.plain(policy)));
        let what: Vec<String> = nice.into_iter().chain(policy).collect();
        if what.is_empty() { "reniced".to_owned() } else { format!("reniced: {}", what.join(", ")) }
    }

    /// Everything a series yields besides the quantity in the column.
    fn other_quantities(&self, figure: &Figure) -> Vec<String> {
        if headline(figure) == "floor" {
            return Vec::new();
        }
        let others = figure.quantities.iter().filter(|(name, _)| **name != figure.headline);
        others
            .map(|(name, quantity)| {
                let unit = self.plain(&quantity.unit);
                let it = &quantity.estimate;
                let interval = match numbers::interval(it, &unit, self.unicode) {
                    _ if it.low == it.high => String::new(),
                    interval if it.extremes => format!(" {interval}"),
                    interval => format!(" ({interval})"),
                };
                format!("{} {}{interval}", self.words(name), numbers::quantity(it.value, &unit))
            })
            .collect()
    }
}

/// How much of the measured CPU others had, in the launch in which it was most.
fn shared(figure: &Figure) -> String {
    let most = figure.launches.iter().filter_map(|launch| launch.foreign_share).reduce(f64::max);
    most.map_or("shared".to_owned(), |share| {
        format!("shared: others had up to {} of the CPU", numbers::whole_percent(share))
    })
}

/// Whether each telling word of the operation stands in the id already ("one getppid" of `syscall/getppid`).
fn says_itself(id: &str, operation: &str) -> bool {
    let parts: Vec<_> = id.split(['/', '_']).collect();
    operation
        .split(' ')
        .all(|word| matches!(word, "one" | "a" | "an" | "and" | "call" | "of") || parts.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_that_the_id_names_is_not_said_again() {
        assert!(says_itself("syscall/getppid", "one getppid"));
        assert!(says_itself("syscall/open_close", "one open and one close"));
        assert!(!says_itself("syscall/read0_devzero", "one read of 0 bytes from /dev/zero"));
    }
}
