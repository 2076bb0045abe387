//! LMDB: one transaction an operation.

use std::path::Path;

use heed::types::Bytes;
use heed::{Database, Env, EnvFlags, EnvOpenOptions, MdbError, PutFlags};
use oscost_recorddb::workload::Target;
use oscost_recorddb::{StoreMode, Stored};

/// An environment with one database.
pub struct Lmdb {
    environment: Env,
    records: Database<Bytes, Bytes>,
}

/// How far it goes to the disk.
#[derive(Debug, Clone, Copy)]
pub enum Durability {
    /// A commit is on the disk when it returns.
    Synchronous,
    /// MDB_NOSYNC.
    None,
    /// MDB_NOSYNC and MDB_WRITEMAP.
    NoneByMap,
}

impl Lmdb {
    /// Opens or makes the environment.
    pub fn open(directory: &Path, durability: Durability) -> Result<Self, String> {
        let open = || -> heed::Result<Self> {
            let flags = match durability {
                Durability::Synchronous => EnvFlags::empty(),
                Durability::None => EnvFlags::NO_SYNC,
                Durability::NoneByMap => EnvFlags::NO_SYNC | EnvFlags::WRITE_MAP,
            };
            let mut options = EnvOpenOptions::new();
            options.map_size(8 << 30);
            // SAFETY: the flags give up durability alone; the files are in a directory of this run, which nobody else
            // changes, and each process opens them once.
            let environment = unsafe { options.flags(flags).open(directory)? };
            let mut transaction = environment.write_txn()?;
            let records = environment.create_database(&mut transaction, None)?;
            transaction.commit()?;
            Ok(Self { environment, records })
        };
        open().map_err(|error| error.to_string())
    }
}

impl Target for Lmdb {
    type Error = String;

    fn fetch(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, String> {
        let mut fetch = || -> heed::Result<bool> {
            let transaction = self.environment.read_txn()?;
            let Some(found) = self.records.get(&transaction, key)? else { return Ok(false) };
            value.clear();
            value.extend_from_slice(found);
            Ok(true)
        };
        fetch().map_err(|error| error.to_string())
    }

    fn store(&mut self, key: &[u8], value: &[u8], how: StoreMode) -> Result<Stored, String> {
        let store = || -> heed::Result<Stored> {
            let mut transaction = self.environment.write_txn()?;
            let stored = match how {
                StoreMode::Insert => {
                    match self.records.put_with_flags(&mut transaction, PutFlags::NO_OVERWRITE, key, value) {
                        Err(heed::Error::Mdb(MdbError::KeyExist)) => return Ok(Stored::Exists),
                        other => other?,
                    }
                    Stored::Inserted { reused: false }
                }
                StoreMode::Replace | StoreMode::Either => {
                    let exists = self.records.get(&transaction, key)?.is_some();
                    if !exists && how == StoreMode::Replace {
                        return Ok(Stored::NotFound);
                    }
                    self.records.put(&mut transaction, key, value)?;
                    Stored::Replaced { in_place: false }
                }
            };
            transaction.commit()?;
            Ok(stored)
        };
        store().map_err(|error| error.to_string())
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool, String> {
        let delete = || -> heed::Result<bool> {
            let mut transaction = self.environment.write_txn()?;
            let deleted = self.records.delete(&mut transaction, key)?;
            if deleted {
                transaction.commit()?;
            }
            Ok(deleted)
        };
        delete().map_err(|error| error.to_string())
    }
}
