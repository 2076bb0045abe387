//! SQLite: write-ahead log, one statement an operation.

use std::path::Path;
use std::time::Duration;

use oscost_recorddb::workload::Target;
use oscost_recorddb::{StoreMode, Stored};
use rusqlite::{Connection, OptionalExtension};

/// A connection to one table of keys and values.
pub struct Sqlite(Connection);

impl Sqlite {
    /// Opens or makes the database; `synchronous` as the pragma has it.
    pub fn open(directory: &Path, synchronous: &str) -> Result<Self, String> {
        let open = || -> rusqlite::Result<Connection> {
            let connection = Connection::open(directory.join("sqlite"))?;
            connection.busy_timeout(Duration::from_secs(60))?;
            connection.query_row("PRAGMA journal_mode=WAL", [], |_| Ok(()))?;
            connection.pragma_update(None, "synchronous", synchronous)?;
            connection.execute(
                "CREATE TABLE IF NOT EXISTS records (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
                [],
            )?;
            Ok(connection)
        };
        open().map(Self).map_err(|error| error.to_string())
    }

    fn run(&self, statement: &str, parameters: &[&dyn rusqlite::ToSql]) -> Result<usize, String> {
        let run = || self.0.prepare_cached(statement)?.execute(parameters);
        run().map_err(|error| error.to_string())
    }
}

impl Target for Sqlite {
    type Error = String;

    fn fetch(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, String> {
        let mut fetch = || {
            let mut statement = self.0.prepare_cached("SELECT value FROM records WHERE key = ?1")?;
            let read = |row: &rusqlite::Row<'_>| {
                value.clear();
                value.extend_from_slice(row.get_ref(0)?.as_blob()?);
                Ok(())
            };
            statement.query_row([key], read).optional()
        };
        fetch().map(|row| row.is_some()).map_err(|error| error.to_string())
    }

    fn store(&mut self, key: &[u8], value: &[u8], how: StoreMode) -> Result<Stored, String> {
        let (statement, done, not_done) = match how {
            StoreMode::Insert => (
                "INSERT OR IGNORE INTO records VALUES (?1, ?2)",
                Stored::Inserted { reused: false },
                Stored::Exists,
            ),
            StoreMode::Replace => (
                "UPDATE records SET value = ?2 WHERE key = ?1",
                Stored::Replaced { in_place: false },
                Stored::NotFound,
            ),
            StoreMode::Either => {
                return Err("the workload does not store either way".to_owned());
            }
        };
        Ok(if self.run(statement, &[&key, &value])? > 0 { done } else { not_done })
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool, String> {
        Ok(self.run("DELETE FROM records WHERE key = ?1", &[&key])? > 0)
    }
}
