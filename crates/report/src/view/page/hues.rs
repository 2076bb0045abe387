//! Hues of a page: a lock, a way to lock or a transport has the same one in every plot.

use std::collections::BTreeMap;

use crate::blocks::page::Section;
use crate::blocks::{Chart, Names, Part, Plot, View};

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
                    curve.hue = self.hue(chart.names, kind(&curve.kind, &curve.name), index);
                }
            }
            Chart::Rows(chart) => {
                for (index, row) in chart.rows.iter_mut().enumerate() {
                    row.hue = self.hue(chart.names, &row.name, index);
                }
            }
            Chart::Strips(chart) => {
                for (index, strip) in chart.strips.iter_mut().enumerate() {
                    strip.hue = self.hue(chart.names, kind(&strip.kind, &strip.name), index);
                }
            }
            Chart::Bars(chart) => {
                for kind in &mut chart.kinds {
                    kind.hue = self.hue(Names::Locks, &kind.key, 0);
                }
            }
            Chart::Tracks(_)
            | Chart::Trail(_)
            | Chart::Samples(_)
            | Chart::Launches(_)
            | Chart::Boxes(_)
            | Chart::Ranked(_)
            | Chart::Heat(_) => {}
        }
    }

    fn hue(&mut self, names: Names, name: &str, index: usize) -> usize {
        let known = match names {
            Names::Locks => &mut self.locks,
            Names::Transports => &mut self.transports,
            Names::One => return 0,
            Names::Own => return index,
        };
        let next = known.len();
        *known.entry(name.to_owned()).or_insert(next)
    }
}

/// What has the hue: the name by itself, unless it says more.
fn kind<'n>(kind: &'n str, name: &'n str) -> &'n str {
    if kind.is_empty() { name } else { kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_hue_wherever_it_stands() {
        let mut hues = Hues::default();
        let mut of = |names, name| hues.hue(names, name, 9);
        assert_eq!(of(Names::Locks, kind("coarse", "here: advisory locking, coarse-grained")), 0);
        assert_eq!(of(Names::Locks, kind("fine", "published: advisory locking, fine-grained")), 1);
        assert_eq!(of(Names::Locks, kind("coarse", "coarse fcntl")), 0);
        assert_eq!(of(Names::Transports, kind("unix datagram", "unix datagram, client 10, under it")), 0);
        assert_eq!(of(Names::Transports, kind("", "pipe")), 1);
        assert_eq!(of(Names::Transports, kind("", "unix datagram")), 0);
        assert_eq!(of(Names::Own, "coarse"), 9);
        assert_eq!(of(Names::One, "coarse"), 0);
    }
}
