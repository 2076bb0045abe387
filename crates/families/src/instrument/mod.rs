//! What measuring costs, and whether a known cost is found again.

use oscost_harness::Benchmark;

mod clock_pair;
mod empty_loop;
mod known_cost;

pub const ALL: &[&dyn Benchmark] = &[
    &empty_loop::EmptyLoop,
    &clock_pair::ClockPair,
    &known_cost::KnownCost::<1>,
    &known_cost::KnownCost::<2>,
    &known_cost::KnownCost::<4>,
];
