//! Numbers in, numbers out: the statistics behind a figure. No clock, no files, no operating system.
//!
//! The launch is the only unit of inference: [`interval`] makes an estimate and its interval from one number a launch,
//! and [`compare`] judges two such sets, with [`drift`] between runs and the [`null`] of both. Everything that comes before
//! (within a launch: [`quantile`], [`paired`], [`modes`], [`histogram`], [`windows`]) only describes. Nothing here deletes a
//! sample; callers select by flags.
//!
//! Units are the caller's throughout: what goes in as nanoseconds comes out as nanoseconds.
#![forbid(unsafe_code)]

mod bootstrap;
pub mod clock;
pub mod compare;
pub mod crossing;
pub mod drift;
pub mod fairness;
pub mod fine_histogram;
pub mod histogram;
pub mod interval;
pub mod knee;
pub mod looks;
pub mod modes;
pub mod null;
pub mod odd;
pub mod order;
pub mod paired;
pub mod peaks;
pub mod quantile;
pub mod rare;
pub mod references;
pub mod sorting;
mod student;
pub mod version_one;
pub mod windows;
