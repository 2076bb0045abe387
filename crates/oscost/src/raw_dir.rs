//! Every latency of real-time messages as files, as document 002's bench script lays them out: `<n>-tasks/<k>.out` with a
//! value a line in us, `<k>.sum` with the summary.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use oscost_documents::grame::PREFIX;
use oscost_families::realtime_ipc::FAMILY;
use oscost_harness::Launched;
use oscost_results::{NamedFile, PathError, make_folder};
use oscost_sys::usage::{Limit, limit, limit_of};

use crate::exit::Ended;

/// The files, written when the run is over.
pub struct RawDir {
    directory: PathBuf,
    /// By the path of the id without the family, and client.
    clients: BTreeMap<(PathBuf, String), Vec<f64>>,
}

impl RawDir {
    /// Files below `directory`, which is made if it does not exist.
    pub fn new(directory: &Path) -> Result<Self, Ended> {
        make_folder(directory).map_err(Ended::unwritable)?;
        Ok(Self { directory: directory.to_owned(), clients: BTreeMap::new() })
    }

    /// Keeps the values of a launch.
    pub fn keep(&mut self, id: &str, launched: &Launched) {
        let Some(path) = id.strip_prefix(FAMILY).and_then(|rest| rest.strip_prefix('/')).and_then(folder)
        else {
            return;
        };
        for (client, values) in &launched.tracks {
            let Some(number) = client.strip_prefix("client_") else { continue };
            self.clients.entry((path.clone(), number.to_owned())).or_default().extend(values);
        }
    }

    /// Keeps the values of a session of document 002's own method: by clients in a folder of their number, under a load by the
    /// load's name. Of several sessions of one kind each but the first has a folder of its own, and so has an
    /// experiment.
    pub fn keep_session(&mut self, id: &str, launched: &Launched) {
        let Some(parts) = id.strip_prefix(PREFIX) else { return };
        let parts: Vec<&str> = parts.split('/').collect();
        let Some(count) = parts.first().and_then(|part| part.strip_prefix("clients_")) else { return };
        let session: PathBuf = parts
            .iter()
            .filter(|part| ["session_", "sender_", "order_"].iter().any(|kind| part.starts_with(kind)))
            .collect();
        let load = parts.iter().find_map(|part| part.strip_prefix("load_"));
        for (client, values) in &launched.tracks {
            let Some(number) = client.strip_prefix("client_") else { continue };
            let (folder, name) = match load {
                Some(load) => (session.clone(), load),
                None => (session.join(format!("{count}-tasks")), number),
            };
            self.clients.insert((folder, name.to_owned()), values.clone());
        }
    }

    /// Writes all files. Each is complete and on the disk before the first one gets its name: where there is no room for all
    /// of them, every older file is as it was.
    pub fn finish(self) -> Result<(), Ended> {
        // A session of 999 clients has more files than some users may have open at first.
        if let Ok((soft, hard)) = limit_of(Limit::OpenFiles)
            && soft < hard
        {
            // Where that is refused, opening one too many says so.
            let _ = limit(Limit::OpenFiles, hard, hard);
        }
        self.write().map_err(Ended::unwritable)
    }

    fn write(&self) -> Result<(), PathError> {
        let mut written = Vec::new();
        let mut made = None;
        for ((folder, client), values) in &self.clients {
            let path = self.directory.join(folder);
            if made != Some(folder) {
                make_folder(&path)?;
                made = Some(folder);
            }
            let us: Vec<i64> = values.iter().map(|ns| (ns / 1000.0).round() as i64).collect();
            for (ending, text) in [("out", lines(&us)), ("sum", summary(&us))] {
                let mut file = NamedFile::create(&path.join(format!("{client}.{ending}")))?;
                file.write_whole(text.as_bytes())?;
                written.push(file);
            }
        }
        written.into_iter().try_for_each(NamedFile::finish)
    }
}

/// "pipe/same_cpu/clients_10/tick_10ms" lies in "pipe/same_cpu/tick_10ms/10-tasks".
fn folder(path: &str) -> Option<PathBuf> {
    let mut parts: Vec<&str> = path.split('/').collect();
    let clients = parts.iter().position(|part| part.starts_with("clients_"))?;
    let count = parts.remove(clients).strip_prefix("clients_")?.to_owned();
    Some(parts.iter().collect::<PathBuf>().join(format!("{count}-tasks")))
}

fn lines(us: &[i64]) -> String {
    us.iter().map(|value| format!("{value}\n")).collect()
}

fn summary(us: &[i64]) -> String {
    let mut text = format!("Transmission summary:\ntotal msg received: {}\n", us.len());
    if let (Some(min), Some(max)) = (us.iter().min(), us.iter().max()) {
        let average = us.iter().sum::<i64>() / us.len() as i64;
        text += &format!("min time: {min}\nmax time: {max}\naverage: {average}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_laid_out_as_by_the_script() {
        let directory = tempfile::tempdir().expect("a folder");
        let Ok(mut raw) = RawDir::new(directory.path()) else { panic!("a writable folder") };
        let launched = Launched {
            tracks: vec![("client_2".to_owned(), vec![31_400.0, 12_600.0])],
            ..Launched::default()
        };
        raw.keep("realtime_ipc/pipe/same_cpu/clients_10", &launched);
        raw.keep("syscall/getppid", &launched);
        assert!(raw.finish().is_ok());
        let read = |name: &str| {
            std::fs::read_to_string(directory.path().join("pipe/same_cpu/10-tasks").join(name))
                .expect("a file")
        };
        assert_eq!(read("2.out"), "31\n13\n");
        let expected =
            "Transmission summary:\ntotal msg received: 2\nmin time: 13\nmax time: 31\naverage: 22\n";
        assert_eq!(read("2.sum"), expected);
    }
}
