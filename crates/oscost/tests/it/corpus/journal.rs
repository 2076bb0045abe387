//! The body of the fuzz target `journal`: the journal of a killed run, up to the partial result that the next run saves.

use std::sync::LazyLock;

use oscost_harness::{Catalogue, Record, rebuild};
use oscost_results::{RunName, RunResult, Status, Store, from_bytes, recover, to_bytes};

use super::{formats, shown};

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    Catalogue::new(oscost_families::all())
        .with_grid(oscost_families::grid)
        .with_resolver(oscost_families::resolve)
});

/// Lines of JSON, the header and the records: as they are, and each with a length and a checksum that fit.
pub fn check(data: &[u8]) {
    judge(data);
    measured(data);
}

/// How many measured figures follow from these lines, once each has a length and a checksum that fit.
pub fn measured(data: &[u8]) -> usize {
    let lines = data.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let sealed: Vec<Vec<u8>> = lines
        .map(|line| {
            let head = format!("{:08x} {:08x} ", line.len(), crc32fast::hash(line));
            [head.as_bytes(), line, b"\n"].concat()
        })
        .collect();
    judge(&sealed.concat())
}

fn judge(bytes: &[u8]) -> usize {
    let folder =
        tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary folder");
    let store = Store::at(folder.path().join("runs"));
    store.prepare().expect("a store");
    let name = RunName::now().expect("random bits");
    let path = store.directory().join(format!("{name}.journal"));
    std::fs::write(&path, bytes).expect("written");
    let found = recover(&store).expect("the store can be used").next();
    let Some(Ok(journal)) = found else {
        if let Some(Err(unusable)) = found {
            shown::one_line(&unusable.to_string());
        }
        assert!(!path.exists(), "what can become no result is looked at once");
        return 0;
    };
    assert_eq!(journal.name, name);
    let records = |journal: &oscost_results::Recovered| -> Vec<Record> {
        journal.records.iter().filter_map(|record| serde_json::from_value(record.clone()).ok()).collect()
    };
    let header = serde_json::from_value::<RunResult>(journal.header.clone());
    let header = header.unwrap_or_else(|_| formats::BASE.clone());
    let step = header.conditions.clock_step_ns.unwrap_or(10.0);
    let (figures, ratios, differences) =
        rebuild(&CATALOGUE, &records(&journal), step, header.machine.core.as_ref());
    let mut result = RunResult { partial: true, figures, ratios, differences, ..header };
    result.upgrade();
    let saved = match to_bytes(&result) {
        Ok(saved) => saved,
        // Numbers that no launch yields, or another version's: it stays, and that is said.
        Err(unwritable) => {
            shown::one_line(&unwritable.to_string());
            return 0;
        }
    };
    assert_eq!(from_bytes(&saved).as_ref(), Ok(&result));
    formats::render(&result, 80);
    journal.finish().expect("removed");
    assert!(!path.exists());
    result.figures.iter().filter(|figure| figure.status == Status::Measured).count()
}
