//! Tests of document 001's database.

mod audited;
mod book;
mod damaged;
mod fast;
mod killed;
mod processes;
mod support;
mod turns;
