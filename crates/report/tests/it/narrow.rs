//! Screens with little room: what they may not leave out.

use std::collections::BTreeSet;

use crate::price_list::{of_figures, rows};
use crate::written::{Says, listed};

/// What `typical` is worth stands on the fullest screen, and takes no room that there is not.
#[test]
fn a_core_that_was_slow_is_told_on_every_screen() {
    let mut result = of_figures(40);
    let words = "the core ran up to 12 % slower in some launches (in 7 of 9 groups; its frequency, or a busy sibling). Floors \
                 that reached full speed are right; typical values may be that much too high";
    result.warnings = vec![words.to_owned()];
    for width in [60, 80, 100, 120, 200] {
        let shown = listed(&result, width, true);
        let line = shown
            .lines()
            .find(|line| line.contains("warning:"))
            .unwrap_or_else(|| panic!("{width}: {shown}"));
        assert!(line.contains("too high") || line.contains("that much"), "{width}: {line}");
        line.says("typical ");
        assert!(shown.lines().count() <= rows(&shown).len() + 15, "{width}: {shown}");
    }
}

/// Rows that look alike are told apart by what is left of their ids.
#[test]
fn no_two_rows_are_called_alike() {
    let mut result = of_figures(12);
    let parts = ["unpinned/barrier", "unpinned/no_barrier", "same_cpu/barrier", "same_cpu/no_barrier"];
    for (at, figure) in result.figures.iter_mut().enumerate() {
        let count = ["20", "200", "20000"][at / 4];
        figure.family = "context-switch".to_owned();
        figure.id = format!("context-switch/literal/switches/{}/in_a_row_{count}", parts[at % 4]);
    }
    for width in 60..=120 {
        let shown = listed(&result, width, true);
        let names: Vec<&str> =
            rows(&shown).into_iter().filter_map(|row| row.split_whitespace().next()).collect();
        let apart: BTreeSet<&&str> = names.iter().collect();
        assert_eq!((names.len(), apart.len()), (12, 12), "{width}: {shown}");
    }
}
