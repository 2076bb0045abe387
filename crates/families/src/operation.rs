//! A benchmark whose loop holds one call: its card, what the call is made on, and the call.

use std::borrow::Cow;

use oscost_harness::{
    Batched, Benchmark, CallError, Card, Claim, Outcome, PostCondition, SetUp, Sharing, Subject, Unable,
};

/// What acquires the objects of a call.
type Make<T> = fn(&mut SetUp<'_>) -> Result<T, Unable>;
/// What looks at them after the batches.
type Verify<T> = fn(&mut T) -> Result<Vec<PostCondition>, CallError>;
/// What a reader should know of them.
type Remarks<T> = fn(&T) -> Vec<String>;

/// A call on a `T`. The type of the call is its own, so that each benchmark has a loop with nothing in it but the call.
pub struct Operation<T, F> {
    card: &'static Card,
    make: Make<T>,
    call: F,
    sharing: Sharing,
    claims: Option<fn() -> Cow<'static, [Claim]>>,
    verify: Verify<T>,
    remarks: Remarks<T>,
}

/// The benchmark of `card`, which makes `call` on what `make` has acquired.
pub const fn operation<T, F>(card: &'static Card, make: Make<T>, call: F) -> Operation<T, F>
where
    F: Fn(&mut T) -> Outcome,
{
    let (verify, remarks): (Verify<T>, Remarks<T>) = (|_| Ok(Vec::new()), |_| Vec::new());
    Operation { card, make, call, sharing: Sharing::Own, claims: None, verify, remarks }
}

/// For calls that need no object.
pub fn nothing(_: &mut SetUp<'_>) -> Result<(), Unable> {
    Ok(())
}

impl<T, F> Operation<T, F> {
    /// Whose the objects are.
    pub const fn sharing(mut self, sharing: Sharing) -> Self {
        self.sharing = sharing;
        self
    }

    /// Claims that depend on this machine.
    pub const fn claims(mut self, claims: fn() -> Cow<'static, [Claim]>) -> Self {
        self.claims = Some(claims);
        self
    }

    /// Post-conditions of the objects.
    pub const fn verify(mut self, verify: Verify<T>) -> Self {
        self.verify = verify;
        self
    }

    /// What a reader of the figure should know of the objects.
    pub const fn remarks(mut self, remarks: Remarks<T>) -> Self {
        self.remarks = remarks;
        self
    }
}

impl<T, F> Benchmark for Operation<T, F>
where
    T: 'static,
    F: Fn(&mut T) -> Outcome + Copy + Sync + 'static,
{
    fn card(&self) -> &'static Card {
        self.card
    }

    fn sharing(&self) -> Sharing {
        self.sharing
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let on = (self.make)(cx)?;
        Ok(Subject::Batched(Box::new(Calls {
            on,
            call: self.call,
            verify: self.verify,
            remarks: self.remarks,
        })))
    }

    fn claims(&self) -> Cow<'static, [Claim]> {
        self.claims.map_or(Cow::Borrowed(self.card.claims), |claims| claims())
    }
}

struct Calls<T, F> {
    on: T,
    call: F,
    verify: Verify<T>,
    remarks: Remarks<T>,
}

impl<T, F: Fn(&mut T) -> Outcome> Batched for Calls<T, F> {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            (self.call)(&mut self.on)?;
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        (self.verify)(&mut self.on)
    }

    fn remarks(&self) -> Vec<String> {
        (self.remarks)(&self.on)
    }
}
