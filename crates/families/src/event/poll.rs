//! Asking many descriptors which of them can be read, with timeout 0: the price of poll that may not wait, over their number.

use oscost_harness::{
    Batched, Benchmark, CallError, Card, Outcome, Parameter, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::readiness::{self, Polled};

use crate::{claims, lack};

/// A poll of so many eventfds, of which the last can be read.
pub struct Poll {
    card: &'static Card,
    descriptors: usize,
}

/// `event/poll/descriptors_1`
pub static DESCRIPTORS_1: Poll = Poll { card: &CARD_1, descriptors: 1 };
/// `event/poll/descriptors_10`
pub static DESCRIPTORS_10: Poll = Poll { card: &CARD_10, descriptors: 10 };
/// `event/poll/descriptors_100`
pub static DESCRIPTORS_100: Poll = Poll { card: &CARD_100, descriptors: 100 };
/// `event/poll/descriptors_1000`
pub static DESCRIPTORS_1000: Poll = Poll { card: &CARD_1000, descriptors: 1000 };

const CARD_1: Card = Card {
    id: "event/poll/descriptors_1",
    title: "poll of 1 descriptor, timeout 0",
    operation: "one poll with timeout 0 of 1 eventfd, which is readable",
    heading: "one poll",
    group: "event/poll",
    claims: &claims::named(&["poll", "ppoll"], 1.0),
    remark: "a poll that may wait enters itself into the queue of each descriptor before the ready one, and costs more",
    parameters: &[("descriptors", Parameter::Number(1))],
    ..Card::BATCHED
};
const CARD_10: Card = Card {
    id: "event/poll/descriptors_10",
    title: "poll of 10 descriptors, timeout 0",
    operation: "one poll with timeout 0 of 10 eventfds, of which one is readable",
    parameters: &[("descriptors", Parameter::Number(10))],
    baseline: Some("event/poll/descriptors_1"),
    ..CARD_1
};
const CARD_100: Card = Card {
    id: "event/poll/descriptors_100",
    title: "poll of 100 descriptors, timeout 0",
    operation: "one poll with timeout 0 of 100 eventfds, of which one is readable",
    parameters: &[("descriptors", Parameter::Number(100))],
    ..CARD_10
};
const CARD_1000: Card = Card {
    id: "event/poll/descriptors_1000",
    title: "poll of 1000 descriptors, timeout 0",
    operation: "one poll with timeout 0 of 1000 eventfds, of which one is readable",
    parameters: &[("descriptors", Parameter::Number(1000))],
    ..CARD_10
};

impl Benchmark for Poll {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let sources: Result<Vec<_>, _> = (0..self.descriptors).map(|_| readiness::counter()).collect();
        let polled =
            Polled::new(sources.map_err(|error| lack::of_many_descriptors(error, self.descriptors))?);
        let asked = Asked { polled, polls: 0, ready: 0 };
        asked.polled.sources().last().map(readiness::count).transpose()?;
        Ok(Subject::Batched(Box::new(asked)))
    }
}

struct Asked {
    polled: Polled,
    polls: u64,
    /// Sum of what polls found ready.
    ready: u64,
}

impl Batched for Asked {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.ready += u64::from(self.polled.ready()?);
        }
        self.polls += iterations;
        Ok(())
    }

    /// One of them was ready each time; it is the last, and the others are not ready without it.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let found = PostCondition::exactly("ready_descriptors", self.polls as f64, self.ready as f64);
        let last = self.polled.sources().len() - 1;
        readiness::drain(&self.polled.sources()[last])?;
        let without = self.polled.ready()?;
        readiness::count(&self.polled.sources()[last])?;
        self.polled.ready()?;
        let is_last = f64::from(u8::from(self.polled.was_ready(last)));
        Ok(vec![
            found,
            PostCondition::exactly("ready_without_a_write", 0.0, without.into()),
            PostCondition::exactly("last_is_ready_after_a_write", 1.0, is_last),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poll_of_descriptors_of_which_none_is_ready_is_contradicted() {
        let polled = Polled::new(vec![readiness::counter().expect("an eventfd")]);
        let mut asked = Asked { polled, polls: 0, ready: 0 };
        asked.batch(10).expect("polled");
        let found = asked.verify().expect("looked at");
        assert!(found.iter().any(|it| it.name == "ready_descriptors" && !it.holds()), "{found:?}");
    }
}
