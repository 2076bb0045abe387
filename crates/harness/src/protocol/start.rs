//! How a worker is started, and the shared word that names the running member.

/// First argument by which the program is started as a worker.
pub const WORKER_ARGUMENT: &str = "__worker";

/// Value of the progress word while member `index` is set up; while it runs, the word is the index plus one.
pub(crate) const SETTING_UP: u64 = 1 << 32;
