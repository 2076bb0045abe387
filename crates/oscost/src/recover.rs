//! What runs that were killed had measured: their journals become partial results.

use oscost_harness::{Record, rebuild};
use oscost_results::{Recovered, RunResult, Store};

use crate::commands::catalogue;
use crate::output::Talk;

/// Saves what the journals of dead runs hold, and says so. Nothing here keeps a new run from going on.
pub fn recover(store: &Store, talk: &Talk) {
    let journals = match oscost_results::recover(store) {
        Ok(journals) => journals,
        Err(error) => return talk.say(format!("warning: {error}")),
    };
    for journal in journals {
        let name = journal.name.to_string();
        match save(store, &journal) {
            Ok(0) => {}
            Ok(figures) => {
                talk.say(format!(
                    "an earlier run was killed: {figures} figures of it are saved as {name}, marked partial"
                ));
            }
            Err(error) => {
                talk.say(format!("warning: the journal of a killed run cannot be used: {error}"));
                continue;
            }
        }
        if let Err(error) = journal.finish() {
            talk.say(format!("warning: {error}"));
        }
    }
}

/// How many figures were saved.
fn save(store: &Store, journal: &Recovered) -> Result<usize, String> {
    let mut result: RunResult =
        serde_json::from_value(journal.header.clone()).map_err(|error| error.to_string())?;
    // Records that this version does not know are of a newer one: what it knows is kept.
    let records: Vec<Record> =
        journal.records.iter().filter_map(|record| serde_json::from_value(record.clone()).ok()).collect();
    let launched = records.iter().any(|record| matches!(record, Record::Launched { .. }));
    if !launched {
        return Ok(0);
    }
    let step = result.conditions.clock_step_ns.unwrap_or(10.0);
    let (figures, ratios, differences) = rebuild(&catalogue(), &records, step);
    result.partial = true;
    result.figures = figures;
    result.ratios = ratios;
    result.differences = differences;
    result
        .warnings
        .push("the run was killed: figures rest on the launches that its journal holds".to_owned());
    let count = result.figures.len();
    store.save(&journal.name, &result).map_err(|error| error.to_string())?;
    Ok(count)
}
