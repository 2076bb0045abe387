//! Results of oscost to text: for people in a terminal or a pipe, for a pull request, for a spreadsheet.
//!
//! It knows results and nothing else, so that a result of another machine renders anywhere. Text that comes from a
//! result is escaped for the place where it is shown.
#![forbid(unsafe_code)]

mod columns;
mod layout;
pub mod numbers;
mod page;
mod picture;
mod plain;
mod story;
mod style;
mod text;

pub use style::Style;
pub use text::price_list;
