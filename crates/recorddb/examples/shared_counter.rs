//! Two processes count visitors in one database, and lose none: `cargo run -p oscost-recorddb --example shared_counter`.
#![forbid(unsafe_code)]

use std::error::Error;
use std::io::Write;
use std::path::Path;

use oscost_recorddb::{
    Access, Database, DatabaseOptions, Granularity, Layout, LockWay, Primitive, StoreMode, check,
};
use oscost_sys::process::Child;

/// Every visitor is a record of their own: a fetch and a store are two operations, and others may come in between.
fn count(path: &Path, name: &str) -> Result<(), oscost_recorddb::Error> {
    let options = DatabaseOptions {
        layout: Layout::Fast,
        access: Access::Mapped,
        lock: LockWay::By(Primitive::RobustMutex, Granularity::Fine),
        create: true,
        ..DatabaseOptions::default()
    };
    let mut database = Database::open(path, &options)?;
    for visitor in 0..1000 {
        database.store(format!("{name} {visitor}").as_bytes(), b"was here", StoreMode::Insert)?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::temp_dir().join(format!("shared-counter-{:032x}", oscost_sys::random::bits()?));
    std::fs::create_dir(&directory)?;
    let path = directory.join("visitors");
    let child = Child::fork(|| i32::from(count(&path, "north").is_err()))?;
    count(&path, "south")?;
    let ended = child.wait()?;
    let report = check(&path, Layout::Fast)?;
    std::fs::remove_dir_all(&directory)?;
    writeln!(
        std::io::stdout(),
        "{} visitors; {}; the other process ended with {:?}",
        report.records,
        if report.is_clean() { "every invariant holds" } else { "the database is damaged" },
        ended.code
    )?;
    Ok(())
}
