//! Asking many descriptors which of them can be read: the price of poll over their number, with timeout 0 and with none, where
//! the kernel prepares to wait although one can be read.

use oscost_harness::{
    Batched, Benchmark, CallError, Card, Outcome, Parameter, PostCondition, Subject, Unable,
};
use oscost_sys::readiness::{self, Polled};

use crate::row::row;
use crate::{claims, lack};

const ONE: Card = Card {
    heading: "one poll",
    group: "event/poll",
    claims: &claims::named(&["poll", "ppoll"], 1.0),
    ..Card::BATCHED
};
/// With timeout 0.
const AT_ONCE: Card = Card {
    remark: "with timeout 0 the kernel enters nobody into a queue; event/poll_may_wait is a poll as servers make it",
    ..ONE
};
/// With no timeout.
const MAY_WAIT: Card = Card {
    remark: "one is readable, so it never waits; but the kernel enters it into the queue of each descriptor before that one",
    ..ONE
};

macro_rules! polls {
    ($($id:literal, $like:ident, $may_wait:literal, $timeout:literal, $number:literal, $descriptors:literal, $baseline:expr;)*) => {
        pub const ALL: &[&dyn Benchmark] = &[$(&row(
            &Card {
                id: $id,
                title: concat!("poll of ", $descriptors, ", timeout ", $timeout),
                operation: concat!("one poll with timeout ", $timeout, " of ", $descriptors, ", the last of which is readable"),
                parameters: &[
                    ("descriptors", Parameter::Number($number)),
                    ("timeout", Parameter::Text($timeout)),
                ],
                baseline: $baseline,
                ..$like
            },
            |_| asked($number, $may_wait),
        )),*];
    };
}

polls! {
    "event/poll/descriptors_1", AT_ONCE, false, "0", 1, "1 eventfd", None;
    "event/poll/descriptors_10", AT_ONCE, false, "0", 10, "10 eventfds", Some("event/poll/descriptors_1");
    "event/poll/descriptors_100", AT_ONCE, false, "0", 100, "100 eventfds", Some("event/poll/descriptors_1");
    "event/poll/descriptors_1000", AT_ONCE, false, "0", 1000, "1000 eventfds", Some("event/poll/descriptors_1");
    "event/poll_may_wait/descriptors_1", MAY_WAIT, true, "infinite", 1, "1 eventfd", Some("event/poll/descriptors_1");
    "event/poll_may_wait/descriptors_10", MAY_WAIT, true, "infinite", 10, "10 eventfds", Some("event/poll/descriptors_10");
    "event/poll_may_wait/descriptors_100", MAY_WAIT, true, "infinite", 100, "100 eventfds", Some("event/poll/descriptors_100");
    "event/poll_may_wait/descriptors_1000", MAY_WAIT, true, "infinite", 1000, "1000 eventfds", Some("event/poll/descriptors_1000");
}

/// A poll of so many eventfds, of which the last can be read.
fn asked(descriptors: usize, may_wait: bool) -> Result<Subject, Unable> {
    let sources: Result<Vec<_>, _> = (0..descriptors).map(|_| readiness::counter()).collect();
    let polled = Polled::new(sources.map_err(|error| lack::of_many_descriptors(error, descriptors))?);
    let asked = Asked { polled, polls: 0, ready: 0 };
    asked.polled.sources().last().map(readiness::count).transpose()?;
    Ok(if may_wait { Subject::batched(MayWait(asked)) } else { Subject::batched(asked) })
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

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        self.last_alone_is_ready()
    }
}

/// The same with no timeout.
struct MayWait(Asked);

impl Batched for MayWait {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.0.ready += u64::from(self.0.polled.wait()?);
        }
        self.0.polls += iterations;
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        self.0.last_alone_is_ready()
    }
}

impl Asked {
    /// One of them was ready each time; it is the last, and the others are not ready without it.
    fn last_alone_is_ready(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let found = PostCondition::exactly("ready_descriptors", self.polls as f64, self.ready as f64);
        let last = self.polled.sources().len() - 1;
        readiness::drain(&self.polled.sources()[last])?;
        let without = self.polled.ready()?;
        readiness::count(&self.polled.sources()[last])?;
        self.polled.ready()?;
        let is_last = self.polled.was_ready(last);
        Ok(vec![
            found,
            PostCondition::exactly("ready_without_a_write", 0.0, without.into()),
            PostCondition::is("last_is_ready_after_a_write", true, is_last),
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
