//! The launch of windows in this process: which ways to lock take part, and what was found of each.

use std::sync::{Mutex, MutexGuard, PoisonError};

use oscost_recorddb::driver::Done;
use oscost_recorddb::workload::WorkPlan;

use super::cell::Cell;

/// Who takes part, and what was found of those who have not asked for it yet.
pub(super) struct Launch {
    pub(super) ways: Vec<Cell>,
    pub(super) found: Vec<(WorkPlan, Cell, Done)>,
}

static LAUNCH: Mutex<Launch> = Mutex::new(Launch { ways: Vec::new(), found: Vec::new() });

/// A panic elsewhere leaves the lists whole.
pub(super) fn launch() -> MutexGuard<'static, Launch> {
    LAUNCH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes part in the launch of this process, as long as it is there.
pub(super) struct InTurn(Cell);

impl InTurn {
    pub(super) fn with(cell: Cell) -> Self {
        launch().ways.push(cell);
        Self(cell)
    }
}

impl Drop for InTurn {
    fn drop(&mut self) {
        let mut launch = launch();
        launch.found.clear();
        if let Some(own) = launch.ways.iter().position(|cell| *cell == self.0) {
            launch.ways.remove(own);
        }
    }
}
