//! An end of a connected socket that sends one byte and receives one, and counts what is as it was sent.

use std::marker::PhantomData;
use std::os::fd::OwnedFd;

use oscost_harness::{CallError, Outcome, SetUp, Unable};
use oscost_sys::socket;

use crate::alternation::{Counts, End};

/// A way to make two sockets that are connected to each other.
pub trait Sockets: 'static {
    /// Makes them.
    fn pair() -> Result<[OwnedFd; 2], Unable>;
}

/// An end. Each byte is the lowest of the number of its turn.
pub struct Connected<S> {
    socket: OwnedFd,
    counts: Counts,
    kind: PhantomData<fn() -> S>,
}

impl<S: Sockets> End for Connected<S> {
    const WHAT: [&'static str; 2] = ["bytes_at_the_receiver", "bytes_back"];

    fn pair(_: &mut SetUp<'_>) -> Result<(Self, Self), Unable> {
        let [near, far] = S::pair()?;
        let end = |socket| Self { socket, counts: Counts::default(), kind: PhantomData };
        Ok((end(near), end(far)))
    }

    #[inline(always)]
    fn send(&mut self) -> Outcome {
        match socket::send(&self.socket, &[self.counts.given as u8])? {
            1 => self.counts.given += 1,
            _ => return Err(CallError::short("sendto")),
        }
        Ok(())
    }

    #[inline(always)]
    fn receive(&mut self) -> Outcome {
        let mut byte = [0];
        loop {
            match socket::receive(&self.socket, &mut byte) {
                Ok(0) => return Err(CallError::gone("recvfrom")),
                Ok(_) => break,
                Err(error) if error.symbol() == Some("EINTR") => {}
                Err(error) => return Err(error),
            }
        }
        self.counts.taken += u64::from(byte[0] == self.counts.taken as u8);
        Ok(())
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oscost_harness::PostCondition;

    struct Unix;

    impl Sockets for Unix {
        fn pair() -> Result<[OwnedFd; 2], Unable> {
            Ok(socket::pair(socket::SocketKind::Stream)?)
        }
    }

    #[test]
    fn bytes_that_are_not_those_that_were_sent_are_contradicted() {
        let [near, far] = Unix::pair().unwrap_or_else(|_| panic!("a pair"));
        let end = |socket| Connected::<Unix> { socket, counts: Counts::default(), kind: PhantomData };
        let (mut near, mut far) = (end(near), end(far));
        near.send().and_then(|()| far.receive()).expect("sent");
        // A byte of another turn, as one that is made up where none was sent would be.
        near.counts.given = 7;
        near.send().and_then(|()| far.receive()).expect("sent");
        let (given, taken) = (2.0, far.counts().taken as f64);
        assert!(!PostCondition::exactly("bytes_at_the_receiver", given, taken).holds(), "{taken}");
    }
}
