//! Turns the journals of killed runs into partial results.

use oscost_harness::{Catalogue, Record, kept_awake, rebuild};
use oscost_results::{ESTIMATORS, JournalError, Recovered, RemarkCode, RunResult, SaveError, Store, VERSION};
use serde_json::Value;

use crate::{Notice, machine};

/// Saves what the journals of dead runs hold, and says so. Nothing here keeps a new run from going on.
///
/// A journal of which no result can be made is told of once, as [`Notice::Lost`]. One that names none of the catalogue's
/// benchmarks was begun by another program: it is left for that one.
pub fn recover(store: &Store, catalogue: &Catalogue, tell: &mut dyn FnMut(Notice<'_>)) {
    let journals = match oscost_results::recover(store) {
        Ok(journals) => journals,
        Err(error) => return tell(Notice::Warning(error.to_string())),
    };
    for journal in journals {
        match journal.and_then(|journal| keep(store, catalogue, journal)) {
            Ok(None) => {}
            Ok(Some(words)) => tell(Notice::Note(words)),
            Err(error @ JournalError::Unusable { .. }) => tell(Notice::Lost(error.to_string())),
            Err(error) => tell(Notice::Warning(error.to_string())),
        }
    }
}

/// What becomes of a journal.
enum Fate {
    /// A result.
    Result(Box<RunResult>),
    /// No launch was made: it goes.
    Nothing,
    /// It stays: another program began it.
    Foreign,
}

/// Makes a result of a journal; what to say of it.
fn keep(store: &Store, catalogue: &Catalogue, journal: Recovered) -> Result<Option<String>, JournalError> {
    // A newer program left it, and will want it back.
    if journal
        .header
        .get("version")
        .and_then(Value::as_u64)
        .is_some_and(|version| version > u64::from(VERSION))
    {
        return Ok(None);
    }
    let result = match partial(catalogue, &journal) {
        Ok(Fate::Result(result)) => result,
        Ok(Fate::Nothing) => return journal.finish().map(|()| None),
        Ok(Fate::Foreign) => return Ok(None),
        Err(why) => return Err(journal.set_aside(&why)),
    };
    let name = journal.name.to_string();
    match store.save(&journal.name, &result) {
        Ok(_) => journal.finish()?,
        // What has no room now may have some later.
        Err(SaveError::Io(error)) => return Err(error.into()),
        Err(SaveError::Unwritable(why)) => return Err(journal.set_aside(&why.to_string())),
    }
    let figures = result.figures.len();
    Ok(Some(format!(
        "an earlier run was killed: {figures} figures of it are saved as {name}, marked partial"
    )))
}

/// The result of what a journal holds.
fn partial(catalogue: &Catalogue, journal: &Recovered) -> Result<Fate, String> {
    // As bytes: the program has one reader of results.
    let bytes = |part: &Value| serde_json::to_vec(part);
    let header = bytes(&journal.header).and_then(|header| serde_json::from_slice(&header));
    let mut result: RunResult = header.map_err(|error| error.to_string())?;
    // Records that this version does not know are of a newer one: what it knows is kept.
    let record = |record: &Value| serde_json::from_slice(&bytes(record).ok()?).ok();
    let records: Vec<Record> = journal.records.iter().filter_map(record).collect();
    if !records.iter().any(|record| matches!(record, Record::Launched { .. })) {
        return Ok(Fate::Nothing);
    }
    let known = |id: &str| catalogue.find(id).is_some();
    let ours = records.iter().any(|record| match record {
        Record::Audited { id, .. } => known(id),
        Record::Launched { members, .. } => members.iter().any(|(id, _)| known(id)),
        Record::Befell { ids, .. } => ids.iter().any(|id| known(id)),
    });
    if !ours {
        return Ok(Fate::Foreign);
    }
    let step = result.conditions.clock_step_ns.unwrap_or(10.0);
    let (figures, ratios, differences) = rebuild(catalogue, &records, step, result.machine.core.as_ref());
    // Whatever version began it, this one puts the figures together.
    result.upgrade();
    result.estimators = ESTIMATORS;
    result.partial = true;
    result.conditions.kept_awake = kept_awake(&records);
    // How long it measured before its last launch: when it was killed nobody knows.
    let launches = figures.iter().flat_map(|figure| &figure.launches);
    result.duration_ns = launches.map(|launch| launch.start_ns).max().unwrap_or(0);
    result.figures = figures;
    result.ratios = ratios;
    result.differences = differences;
    result.warnings.push(RemarkCode::Killed.with(&[]));
    distrust_revisions(&mut result, &machine::tool().build_id);
    result.add_codes();
    Ok(Fate::Result(Box::new(result)))
}

/// Figures of a journal are made by today's cards. If another build measured, its cards may have been of earlier revisions:
/// the first one is assumed, with which a figure is never shown or compared although it was wrong.
fn distrust_revisions(result: &mut RunResult, this_build: &str) {
    if result.tool.build_id != this_build {
        result.figures.iter_mut().for_each(|figure| figure.revision = 1);
        result.warnings.push(RemarkCode::AnotherBuild.with(&[]));
    }
}

#[cfg(test)]
mod tests {
    use oscost_harness::{Benchmark, Card, Launched, SetUp, Subject, Unable};
    use oscost_results::Journal;

    use super::*;

    struct Known;

    static CARD: Card = Card { id: "known/one", group: "known", ..Card::BATCHED };

    impl Benchmark for Known {
        fn card(&self) -> &'static Card {
            &CARD
        }

        fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
            unreachable!("nothing is measured")
        }
    }

    #[test]
    fn a_journal_of_another_program_is_left_for_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::at(folder.path());
        let sample = include_bytes!("../../results/tests/samples/v2.json");
        let head = oscost_results::from_bytes(sample).expect("a result");
        let journal = Journal::create(&store, &head).expect("a journal");
        let mut launched = Launched::default();
        launched.record.start_ns = 9_000_000_000;
        let members = vec![("known/one".to_owned(), launched)];
        journal
            .append(&Record::Launched { sequence: 0, members, pairs: Vec::new(), awake: None })
            .expect("on the disk");
        drop(journal);
        let mut told = Vec::new();
        let mut saved = |catalogue: &Catalogue| {
            recover(&store, catalogue, &mut |notice| told.push(format!("{notice:?}")));
            (told.len(), store.runs().expect("a store").len())
        };
        assert_eq!(saved(&Catalogue::new(Vec::new())), (0, 0));
        assert_eq!(saved(&Catalogue::new(vec![&Known])), (1, 1));
        assert_eq!(saved(&Catalogue::new(vec![&Known])), (1, 1), "it is gone");
        let result = oscost_results::load(&store.runs().expect("a store")[0]).expect("a result");
        assert_eq!(result.duration_ns, 9_000_000_000, "it measured for 9 s and more");
    }

    #[test]
    fn revisions_of_another_build_are_not_believed() {
        let sample = include_bytes!("../../results/tests/samples/v2.json");
        let sample = oscost_results::from_bytes(sample).expect("a result");
        let revisions = |result: &RunResult| -> Vec<u32> {
            result.figures.iter().map(|figure| figure.revision).collect()
        };
        assert!(revisions(&sample).contains(&2), "else this proves nothing");
        let mut same = sample.clone();
        distrust_revisions(&mut same, &sample.tool.build_id);
        assert_eq!(same, sample);
        let mut other = sample.clone();
        distrust_revisions(&mut other, "another");
        assert!(revisions(&other).iter().all(|&revision| revision == 1));
        assert_eq!(other.warnings.len(), sample.warnings.len() + 1);
    }
}
