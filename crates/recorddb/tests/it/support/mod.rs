//! A directory of a test, gone when the test is.
#![allow(dead_code)] // each test file uses a part

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use oscost_recorddb::workload::{WorkPlan, Workload};
use oscost_recorddb::{Access, DatabaseOptions, Granularity, Layout, LockWay, Primitive};

pub struct Directory(PathBuf);

impl Directory {
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let unique = oscost_sys::random::bits().expect("getrandom");
        let name = format!("recorddb-{unique:032x}-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("mkdir");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn plan(records: u32) -> WorkPlan {
    WorkPlan { workload: Workload::Figure, records, seed: 7, child: 0 }
}

/// Held by a test that forks or opens: a child of another test would inherit this one's descriptors, and with them its
/// presence.
pub fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// [`alone`], with a folder and a database's path in it.
pub fn place() -> (std::sync::MutexGuard<'static, ()>, Directory, PathBuf) {
    let (alone, directory) = (alone(), Directory::new());
    let path = directory.file("db");
    (alone, directory, path)
}

pub const MUTEX: LockWay = LockWay::By(Primitive::RobustMutex, Granularity::Fine);

/// A new database of layout `fast`, mapped.
pub fn fast() -> DatabaseOptions {
    DatabaseOptions {
        layout: Layout::Fast,
        access: Access::Mapped,
        lock: MUTEX,
        create: true,
        ..DatabaseOptions::default()
    }
}
