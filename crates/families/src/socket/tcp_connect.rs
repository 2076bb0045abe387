//! Making a TCP connection over the loopback device, accepting it, and closing both ends.

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, Card, Claim, Outcome, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::loopback::Listener;

use crate::lack;

/// `socket/tcp_connect`
pub struct TcpConnect;

/// The handshake is over when connect returns, unless the kernel puts its part in it off to a thread of its own.
const CLAIMS: [Claim; 6] = [
    Claim::SystemCalls(Bound::Exactly(5.0)),
    Claim::CallsNamed(&["socket"], Bound::Exactly(1.0)),
    Claim::CallsNamed(&["connect"], Bound::Exactly(1.0)),
    Claim::CallsNamed(&["accept4"], Bound::Exactly(1.0)),
    Claim::CallsNamed(&["close"], Bound::Exactly(2.0)),
    Claim::VoluntarySwitches(Bound::AtMost(0.05)),
];

static CARD: Card = Card {
    id: "socket/tcp_connect",
    title: "TCP connection made and closed",
    operation: "one connect to a listener of the same process, its accept and both closes",
    group: "socket/connect",
    claims: &CLAIMS,
    remark: "the accepted end closes first and resets (SO_LINGER 0): no port is left in TIME_WAIT",
    ..Card::BATCHED
};

impl Benchmark for TcpConnect {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let listener = Listener::new().map_err(lack::of_loopback)?;
        listener.connect_close().map_err(lack::of_loopback)?;
        Ok(Subject::Batched(Box::new(Connections(listener))))
    }
}

struct Connections(Listener);

impl Batched for Connections {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.0.connect_close()?;
        }
        Ok(())
    }

    /// No connection waits that nobody accepted; one that is made carries a byte, and its ends are each other's.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let waiting = f64::from(u8::from(self.0.is_asked()?));
        let (bytes, paired) = self.0.carries()?;
        Ok(vec![
            PostCondition::exactly("connections_waiting", 0.0, waiting),
            PostCondition::exactly("bytes_through_a_connection", 1.0, bytes as f64),
            PostCondition::exactly("ends_of_one_connection", 1.0, f64::from(u8::from(paired))),
        ])
    }
}
