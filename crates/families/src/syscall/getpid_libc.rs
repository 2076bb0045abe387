//! getpid as document 003 calls it: through the wrapper of libc.

use oscost_harness::{
    Batched, Benchmark, CallError, CallPath, Card, Outcome, PostCondition, SetUp, Subject, Tier, Unable,
};
use oscost_sys::system_call;

use crate::claims;

/// `syscall/getpid_libc`
pub struct GetpidLibc;

static CARD: Card = Card {
    id: "syscall/getpid_libc",
    title: "getpid through libc",
    operation: "one getpid",
    heading: super::CALL,
    call_path: CallPath::Libc,
    group: "syscall",
    claims: &claims::named(&["getpid"], 1.0),
    baseline: Some("syscall/invalid"),
    document: Some("003"),
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for GetpidLibc {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(GetpidLibc)))
    }
}

impl Batched for GetpidLibc {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            system_call::getpid_libc();
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let (told, own) = (system_call::getpid_libc(), system_call::getpid());
        Ok(vec![PostCondition::exactly("own_process_id", 1.0, f64::from(i64::from(told) == own))])
    }
}
