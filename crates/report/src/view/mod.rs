//! Views: turn results into blocks, whatever the format.

pub(crate) mod agreement;
pub(crate) mod bill;
pub(crate) mod bill_changes;
pub(crate) mod comparison;
mod contention;
pub(crate) mod counts;
mod cpu_pair;
pub(crate) mod doctor;
pub(crate) mod documents;
pub(crate) mod fleet;
mod functions;
mod gallery;
mod grame;
mod grid;
mod head;
pub(crate) mod history;
pub(crate) mod host;
pub(crate) mod matrix;
mod notes;
pub(crate) mod page;
mod percentiles;
mod picture;
pub(crate) mod prices;
mod published;
mod realtime_ipc;
mod realtime_load;
mod receipt;
mod record_database;
mod scaling;
pub(crate) mod screen;
mod series;
pub(crate) mod spread;
pub mod story;
pub(crate) mod watch;

use crate::blocks::View;
use story::Story;

/// Makes the view of a family, where the result has something of it.
type Make = fn(&Story<'_>) -> Option<View>;

/// The views, in the order of the price list.
const VIEWS: &[Make] = &[
    series::view,
    scaling::view,
    cpu_pair::view,
    contention::view,
    record_database::view,
    published::view,
    realtime_ipc::view,
    realtime_load::view,
    grame::told_below,
    percentiles::view,
];

/// Every view of a result.
fn of(story: &Story<'_>) -> Vec<View> {
    VIEWS.iter().filter_map(|make| make(story)).collect()
}
