//! The program as its users meet it: exit codes, words, files, signals, bad machines.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout)] // what is skipped is said

mod bill;
mod bill_savings;
mod bisect;
mod compare;
mod conditions;
mod crosscheck;
mod doctor;
mod explain;
mod files;
mod filter;
mod fleet;
mod generated;
mod grame;
mod input;
mod kept;
mod killed;
mod machines;
mod old_kernel;
mod only;
mod outputs;
mod percentiles;
mod plain;
mod private;
mod realtime;
mod reproduce;
mod rows;
mod signals;
mod support;
mod tick;
mod together;
mod trace;
mod watch;
