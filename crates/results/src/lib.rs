//! The files of a run: the schema of a result, its versions, and the store that keeps it.
//!
//! No measuring and no printing here: a result of another machine is read, compared and rendered from this crate alone.
//!
//! ```
//! use oscost_results::{RunName, Store, Untrusted, from_bytes, load};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let result = from_bytes(include_bytes!("../tests/samples/v1.json"))?;
//! let store = Store::at(directory.path().join("runs")); // the user's own: Store::of_user()
//! let path = store.save(&RunName::now()?, &result)?;
//! for figure in load(&path)?.figures {
//!     if let Some(floor) = figure.quantities.get("floor") {
//!         println!("{} {} ns", Untrusted::new(&figure.id).terminal(), floor.estimate.value);
//!     }
//! }
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod anonymous;
mod answer;
mod at_once;
pub mod bill;
mod collection;
mod constants;
mod count;
pub mod document;
mod error;
mod evidence;
mod figure;
mod finite;
mod format;
mod host;
mod journal;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod killed;
mod launch;
mod layout;
#[cfg(unix)]
mod lock;
mod name;
mod outline;
mod output;
mod parameter;
mod past;
mod percentiles;
mod place;
pub mod quantity;
mod reference;
mod remark;
mod reproduction;
mod result;
mod row;
#[cfg(test)]
mod schema;
pub mod search;
mod store;
mod text;
mod traits;
mod uncounted;
mod withdrawn;

pub use anonymous::telling_parameters;
pub use answer::{Answer, AnswerHere, PublishedAnswer};
pub use collection::{Collection, Gathered};
pub use count::{Counted, Emulation, FunctionNode, InstructionCount, Repeats};
pub use error::{Count, JournalError, LoadError, NoHome, PathError, ReferenceError, SaveError};
pub use evidence::{CheckedClaim, Evidence, Expectation, Verdict, claim_words};
pub use figure::{Estimate, Figure, Mark, Mode, Quantity, Status};
pub use format::{MAX_BYTES, Refused, Unwritable, from_bytes, to_bytes};
pub use host::HostFact;
pub use journal::{Journal, Recovered, recover};
pub use launch::{Circumstances, FARTHER, Histogram, LaunchRecord, near};
pub use layout::write_on_one_line;
#[cfg(unix)]
pub use lock::{LockError, RunLock};
pub use name::RunName;
pub use outline::{
    Outline, OutlineFigure, Outlines, ResultId, load_outlines, load_outlines_of, outline_from_bytes,
};
pub use output::{NamedFile, check_writable, make_folder, save_as, write_file};
pub use parameter::{Parameter, Parameters, nanoseconds, parameters_of_id};
pub use past::load_past;
pub use percentiles::{
    Account, AtQuantile, BesideBatch, FirstCallAfter, FirstCalls, GapCause, Gaps, Longer, Percentiles,
};
pub use reference::Reference;
pub use remark::RemarkCode;
pub use reproduction::{Cell, CellAxis, CellSeries, Judgement, Reproduction};
pub use result::{
    Check, CheckState, Conditions, CoreConstants, ESTIMATORS, FORMAT, Machine, PairedValue, Plan, RunResult,
    Tool, VERSION,
};
pub use row::{RowFigure, RowLaunch, rows_from_bytes};
pub use store::{Loaded, Store, is_stdin, load, load_all, load_references};
pub use text::Untrusted;
pub use traits::{Trait, older_traits};
pub use withdrawn::withdrawn;
