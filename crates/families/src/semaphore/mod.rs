//! Semaphores that nobody else wants (document 000), and tokens handed over from process to process.

use oscost_harness::Benchmark;

mod eventfd;
pub mod handover;
mod posix_named;
mod posix_unnamed;
mod system_v;
mod system_v_one_call;
mod system_v_undo;

/// What stands above the rows of these figures.
const PAIR: &str = "one wait and one post";

pub const ALL: &[&dyn Benchmark] = &[
    &posix_named::PosixNamed,
    &system_v::SystemVSet,
    &posix_unnamed::PosixUnnamed,
    &system_v_one_call::SystemVOneCall,
    &system_v_undo::SystemVUndo,
    &eventfd::EventFdToken,
    &posix_named::SAME_CPU,
    &system_v::SAME_CPU,
    &posix_unnamed::SAME_CPU,
    &eventfd::SAME_CPU,
    &posix_named::CROSS_CPU,
    &system_v::CROSS_CPU,
    &posix_unnamed::CROSS_CPU,
    &eventfd::CROSS_CPU,
];
