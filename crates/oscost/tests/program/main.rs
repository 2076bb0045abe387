//! The program as its users meet it: exit codes, words, files, signals, bad machines.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)] // what is skipped is said

mod compare;
mod crosscheck;
mod doctor;
mod files;
mod grame;
mod input;
mod kept;
mod machines;
mod realtime;
mod reproduce;
mod signals;
mod support;
mod tick;
mod together;
