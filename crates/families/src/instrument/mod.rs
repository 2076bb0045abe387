//! The cost of measuring itself, and checks that a known cost is found.

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
