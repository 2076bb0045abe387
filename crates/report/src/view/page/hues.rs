//! Hues of a page: a lock, a way to lock or a transport has the same one in every plot.

use std::collections::BTreeMap;

use crate::blocks::page::Section;
use crate::blocks::plot::{Chart, Names, Plot};
use crate::blocks::{Part, View};

/// Names that have a hue already, in the order of their appearance.
#[derive(Default)]
struct Hues {
    locks: BTreeMap<String, usize>,
    transports: BTreeMap<String, usize>,
}

/// Gives everything with a name in the plots of `sections` its hue.
pub(super) fn assign(sections: &mut [Section]) {
    let mut hues = Hues::default();
    for section in sections {
        if let Section::View(view) = section {
            hues.of_view(view);
        }
    }
}

impl Hues {
    fn of_view(&mut self, view: &mut View) {
        for part in &mut view.parts {
            match part {
                Part::Plot(plot) => self.of_plot(plot),
                Part::View(inner) => self.of_view(inner),
                _ => {}
            }
        }
    }

    fn of_plot(&mut self, plot: &mut Plot) {
        match &mut plot.chart {
            Chart::Curves(chart) => {
                for (index, curve) in chart.curves.iter_mut().enumerate() {
                    curve.hue = self.hue(chart.names, &curve.name, index);
                }
            }
            Chart::Rows(chart) => {
                for (index, row) in chart.rows.iter_mut().enumerate() {
                    row.hue = self.hue(chart.names, &row.name, index);
                }
            }
            Chart::Strips(chart) => {
                for (index, strip) in chart.strips.iter_mut().enumerate() {
                    strip.hue = self.hue(chart.names, &strip.name, index);
                }
            }
            Chart::Bars(chart) => {
                for (name, hue) in &mut chart.kinds {
                    *hue = self.hue(Names::Locks, name, 0);
                }
            }
            Chart::Tracks(_)
            | Chart::Trail(_)
            | Chart::Samples(_)
            | Chart::Launches(_)
            | Chart::Boxes(_)
            | Chart::Heat(_) => {}
        }
    }

    fn hue(&mut self, names: Names, name: &str, index: usize) -> usize {
        let (known, name) = match names {
            Names::Locks => (&mut self.locks, lock(name)),
            Names::Transports => (&mut self.transports, name.split(", ").next().unwrap_or(name)),
            Names::One => return 0,
            Names::Own => return index,
        };
        let next = known.len();
        *known.entry(name.to_owned()).or_insert(next)
    }
}

/// A way to lock has one name, whoever tells of it: the book ("advisory locking, coarse-grained") or a figure ("coarse fcntl").
fn lock(name: &str) -> &str {
    let name = name.split_once(": ").map_or(name, |(_, name)| name);
    if name.starts_with("no locking") {
        return "none";
    }
    let grains = ["mandatory", "coarse", "fine"];
    grains.into_iter().find(|grain| name.contains(grain)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_hue_wherever_it_stands() {
        let mut hues = Hues::default();
        let mut of = |names, name| hues.hue(names, name, 9);
        assert_eq!(of(Names::Locks, "here: advisory locking, coarse-grained"), 0);
        assert_eq!(of(Names::Locks, "published: advisory locking, fine-grained"), 1);
        assert_eq!(of(Names::Locks, "published: mandatory locking, fine-grained"), 2);
        assert_eq!(of(Names::Locks, "coarse fcntl"), 0);
        assert_eq!(of(Names::Locks, "no locking"), of(Names::Locks, "none"));
        assert_eq!(of(Names::Transports, "unix datagram, client 10, under it"), 0);
        assert_eq!(of(Names::Transports, "pipe"), 1);
        assert_eq!(of(Names::Transports, "unix datagram"), 0);
        assert_eq!(of(Names::Own, "coarse"), 9);
        assert_eq!(of(Names::One, "coarse"), 0);
    }
}
