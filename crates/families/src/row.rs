//! A benchmark that is a card and a set-up: what its loop needs, and the loop, are the subject's.

use std::borrow::Cow;

use oscost_harness::{Benchmark, Card, Claim, SetUp, Subject, Unable};

/// What makes the subject.
pub type Make = fn(&mut SetUp<'_>) -> Result<Subject, Unable>;

/// A card and a set-up.
pub struct Row {
    card: &'static Card,
    make: Make,
    claims: fn(&'static Card) -> Cow<'static, [Claim]>,
}

/// The benchmark of `card`, whose subject is made by `make`.
pub const fn row(card: &'static Card, make: Make) -> Row {
    Row { card, make, claims: |card| Cow::Borrowed(card.claims) }
}

impl Row {
    /// Claims that depend on this machine.
    pub const fn claims(mut self, claims: fn(&'static Card) -> Cow<'static, [Claim]>) -> Self {
        self.claims = claims;
        self
    }
}

impl Benchmark for Row {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        (self.make)(cx)
    }

    fn claims(&self) -> Cow<'static, [Claim]> {
        (self.claims)(self.card)
    }
}

/// The rows of several files as one table, of `ROWS` rows in all.
pub const fn joined<const ROWS: usize>(
    parts: &[&[&'static dyn Benchmark]],
) -> [&'static dyn Benchmark; ROWS] {
    let mut all = [parts[0][0]; ROWS];
    let (mut part, mut index, mut next) = (0, 0, 0);
    while part < parts.len() {
        if index == parts[part].len() {
            (part, index) = (part + 1, 0);
        } else {
            all[next] = parts[part][index];
            (index, next) = (index + 1, next + 1);
        }
    }
    assert!(next == ROWS, "as many rows as are told");
    all
}
