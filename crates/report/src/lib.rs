//! Results of oscost to text: for people in a terminal or a pipe, for a pull request, for a spreadsheet.
//!
//! It knows results and nothing else, so that a result of another machine renders anywhere. Text that comes from a
//! result is escaped for the place where it is shown.
#![forbid(unsafe_code)]

mod agreement;
mod axis;
mod columns;
pub mod compare;
mod contention;
mod csv;
mod doctor;
mod evidence;
mod grame;
mod grid;
mod head;
mod history;
mod html;
mod layout;
mod markdown;
mod notes;
pub mod numbers;
mod open_metrics;
mod page;
mod picture;
mod plot;
mod published;
mod realtime_ipc;
mod realtime_load;
mod record_database;
mod reproduction;
mod story;
mod style;
mod text;
mod view;
mod words;

pub use agreement::{Agreement, Side, agreement, agreement_json, agreement_markdown};
pub use csv::{price_list_csv, reproductions_csv};
pub use doctor::doctor;
pub use history::history;
pub use html::{Named, page};
pub use markdown::{price_list_markdown, reproductions_markdown};
pub use open_metrics::open_metrics;
pub use reproduction::reproductions;
pub use style::Style;
pub use text::price_list;
