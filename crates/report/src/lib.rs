//! Results of oscost to text: for people in a terminal or a pipe, for a pull request, for a spreadsheet.
//!
//! It knows results and nothing else, so that a result of another machine renders anywhere. Text that comes from a
//! result is escaped for the place where it is shown. What is shown is made of blocks: `view` makes them, `render` writes
//! them, and neither knows the other; `show` puts the two together. `data` is for other programs and needs neither.
#![forbid(unsafe_code)]

mod blocks;
mod data;
mod evidence;
mod judge;
mod named;
pub mod numbers;
mod render;
mod show;
mod view;
mod words;

pub use data::csv::reproductions_csv;
pub use data::json::agreement_json;
pub use data::open_metrics::open_metrics;
pub use data::rows::{RowFormat, rows, rows_header, rows_of};
pub use judge::{Agreement, Reason, Side};
pub use named::Named;
pub use render::text::style::Style;
pub use show::{
    agreement, agreement_markdown, doctor, history, history_whole, host_facts, marks, page, page_of_runs,
    price_list, price_list_markdown, reproductions, reproductions_markdown, spread, spread_markdown,
    spread_whole,
};
pub use view::screen::{RowChoice, RowOrder};

/// Results against one another. METHOD.md, Comparing.
pub mod compare {
    pub use crate::data::json::comparison_json;
    pub use crate::judge::{
        Compared, Comparison, Differs, Evident, LiveLook, OneSided, Origin, Rules, Shift, THRESHOLD, Verdict,
        compare, compare_live, compare_sides, incomparable, left_out, look_live, name_of_pair,
    };
    pub use crate::show::{
        comparison, comparison_markdown, comparison_whole, matrix, matrix_markdown, matrix_whole,
    };
}

/// Many hosts held against one another. docs/fleet.md.
pub mod fleet {
    pub use crate::judge::fleet::{
        FALSE_RATE, Fleet, GroupFigure, HostGroup, JudgedFleet, JudgedHost, LEAST_HOSTS, OddFinding, OddHost,
        OddIn,
    };
}

/// Figures that are measured again and again.
pub mod watch {
    pub use crate::judge::Watch;
    pub use crate::show::{watch_run as newest, watch_screen as screen, watch_summary as summary};
}

/// The bills of programs.
pub mod bill {
    pub use crate::judge::{BillChange, BillChanges, is_bill};
    pub use crate::show::{bill as shown, bill_markdown as markdown, bill_page as page};
}

/// Counts of instructions.
pub mod count {
    pub use crate::data::folded::folded;
    pub use crate::judge::{Changes, CountChange, CountVerdict, is_count};
    pub use crate::show::counts as shown;
}
