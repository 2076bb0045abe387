//! A record database that several processes share: document 001's, and a modern one.
//!
//! Records are keys with values. A [`Database`] fetches, stores and deletes them, and walks over all. How its files are
//! laid out ([`Layout`]), how their bytes are reached ([`Access`]) and how processes keep out of each other's way
//! ([`LockWay`]) are chosen when it is opened, apart from each other, so that each can be priced. [`workload`] is the
//! book's test program; [`check`](fn@check) says whether every invariant of a database is true.
//!
//! Everything it asks of the system goes through [`io::Io`] and [`lock::Locks`], and is counted there.
#![forbid(unsafe_code)]

mod between;
mod book;
mod check;
mod database;
mod error;
mod fast;
#[cfg(test)]
mod faults;
mod names;
mod open;
mod options;

pub mod driver;
pub mod io;
pub mod lock;
pub mod workload;

pub use book::check::check as check_book;
pub use book::image::BookImage;
pub use check::{CheckReport, check, check_in};
pub use database::Database;
pub use error::{Damage, Error, Refusal};
pub use fast::check::check as check_fast;
pub use lock::{Granularity, LockWay, Primitive};
pub use options::{Access, Counters, DatabaseOptions, Layout, StoreMode, Stored};
