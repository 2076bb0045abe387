//! A process that makes a namespace and ends with it: each kind, and none, which is what the process costs without.

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, Card, Claim, Outcome, Parameter, PostCondition, Subject, Unable,
};
use oscost_sys::clock;
use oscost_sys::new_namespace::{Kind, Maker, network_namespaces};
use oscost_sys::process::Child;

use crate::lack;
use crate::row::row;

/// One process: it is made, ends, and is reaped. Whoever made it waits for its end. How often it waits besides is the kernel's
/// matter, and no bound follows from the operation: three waits in all were seen with PREEMPT_RT (Linux 6.1).
const fn claims(unshares: f64) -> [Claim; 6] {
    [
        Claim::SystemCalls(Bound::Exactly(3.0 + unshares)),
        Claim::CallsNamed(&["clone"], Bound::Exactly(1.0)),
        Claim::CallsNamed(&["unshare"], Bound::Exactly(unshares)),
        Claim::CallsNamed(&["exit"], Bound::Exactly(1.0)),
        Claim::CallsNamed(&["wait4"], Bound::Exactly(1.0)),
        Claim::VoluntarySwitches(Bound::AtLeast(0.9)),
    ]
}

const CARD: Card = Card {
    id: "container/namespace/none",
    title: "a process in no new namespace",
    operation: "one process that shares its parent's memory (CLONE_VM, CLONE_VFORK), from its start until it is reaped",
    heading: "one process",
    blocks: true,
    group: "container/namespace",
    claims: &claims(0.0),
    ..Card::BATCHED
};

/// The benchmark of a kind.
macro_rules! kind {
    ($kind:ident, $word:literal, $what:literal, $remark:literal $(, $field:ident: $value:expr)*) => {
        &row(
            &Card {
                id: concat!("container/namespace/", $word),
                title: concat!("a process in a new ", $what, " namespace"),
                operation: concat!(
                    "one process (CLONE_VM, CLONE_VFORK) that makes a ",
                    $what,
                    " namespace, from its start until it is reaped"
                ),
                claims: &claims(1.0),
                parameters: &[("namespace", Parameter::Text($word))],
                $($field: $value,)*
                baseline: Some("container/namespace/none"),
                subtract: Some("container/namespace/none"),
                remark: $remark,
                ..CARD
            },
            |_| made(Some(Kind::$kind)),
        )
    };
}

pub const ALL: &[&dyn Benchmark] = &[
    &row(&CARD, |_| made(None)),
    kind!(User, "user", "user", "the kernel frees it later, in a worker thread: the figure excludes that"),
    kind!(
        Mount,
        "mount",
        "mount",
        "it copies every mount of its maker, and takes the copies down when it ends"
    ),
    kind!(
        Net,
        "net",
        "network",
        "the kernel removes it later, in a worker thread: batches wait for that, but the figure excludes it",
        uses_up: true
    ),
    kind!(Pid, "pid", "process number", "no process starts in it: that would be a second process"),
    kind!(Ipc, "ipc", "IPC", "the kernel removes it later, in a worker thread: the figure excludes that"),
    kind!(Uts, "uts", "host name", ""),
    kind!(Cgroup, "cgroup", "control group", ""),
    kind!(Time, "time", "time", "no process starts in it: that would be a second process"),
];

fn made(kind: Option<Kind>) -> Result<Subject, Unable> {
    let mut made = Made { maker: Maker::default(), kind, own: None, before: None };
    made.maker.one(kind).map_err(lack::of_namespaces)?;
    made.own = kind.map(Kind::own).transpose()?;
    made.before = (kind == Some(Kind::Net)).then(network_namespaces).flatten();
    Ok(Subject::batched(made))
}

struct Made {
    maker: Maker,
    kind: Option<Kind>,
    /// The namespace of the measuring process.
    own: Option<std::path::PathBuf>,
    /// Network namespaces that there were; `None` for other kinds, and where nobody says.
    before: Option<u64>,
}

/// More network namespaces than before that may wait to be taken down.
const BACKLOG: u64 = 128;
/// So long their end is waited for, ns.
const PATIENCE_NS: u64 = 2_000_000_000;

impl Made {
    /// Waits until at most so many more network namespaces are left than there were.
    fn wait_for_backlog(&self, most: u64) {
        let Some(before) = self.before else { return };
        let until = clock::now_ns() + PATIENCE_NS;
        while network_namespaces().is_some_and(|now| now > before + most) && clock::now_ns() < until {
            clock::pause(std::time::Duration::from_millis(5));
        }
    }
}

impl Batched for Made {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.maker.one(self.kind)?;
        }
        Ok(())
    }

    fn arm(&mut self) -> Outcome {
        self.wait_for_backlog(BACKLOG);
        Ok(())
    }

    /// A process that makes one is in another than before; the measuring process is where it was.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let Some(kind) = self.kind else { return Ok(Vec::new()) };
        let kept = self.own.as_ref() == Some(&kind.own()?);
        Ok(vec![is_new(kind, Kind::unshare)?, PostCondition::is("own_namespace_kept", true, kept)])
    }
}

/// Whether `unshare` brings a process into another namespace of this kind.
fn is_new(kind: Kind, unshare: fn(Kind) -> Outcome) -> Result<PostCondition, CallError> {
    let child = Child::fork(|| {
        let (before, made) = (kind.own(), unshare(kind));
        // One of process numbers has no link before somebody was born into it.
        if kind == Kind::Pid {
            let _ = Child::fork(|| 0).and_then(Child::wait);
        }
        match (before, made, kind.own()) {
            (Ok(before), Ok(()), Ok(after)) => i32::from(before != after),
            _ => 2,
        }
    })?;
    let new = child.wait()?.code.unwrap_or(2);
    Ok(PostCondition::exactly("new_namespaces", 1.0, new.into()))
}

impl Drop for Made {
    fn drop(&mut self) {
        self.wait_for_backlog(BACKLOG / 4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_that_is_not_made_is_contradicted() {
        let false_claim = is_new(Kind::Uts, |_| Ok(())).expect("forked");
        assert!(!false_claim.holds(), "{false_claim:?}");
    }
}
