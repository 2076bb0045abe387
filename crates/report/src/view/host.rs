//! The facts about the host in a result: each with its value and the reason why it is kept.

use oscost_results::RunResult;

use crate::blocks::{Part, Place, Table, View};
use crate::words::{counted, plain};

/// The facts of a result, in its order.
pub(crate) fn view(name: &str, result: &RunResult, unicode: bool) -> View {
    let facts = result.host_facts();
    let rows = facts.iter().map(|fact| {
        let below = format!("{} ({})", plain(&fact.value, unicode), fact.why);
        vec![plain(&fact.name, unicode), below]
    });
    let table = Table::of([("", Place::Left), ("", Place::Below)], rows);
    let count = counted(facts.len(), "fact", "facts");
    let answer = format!("{count}. Without what tells one host from another: oscost report --anonymous");
    View::new(plain(name, unicode), vec![Part::Table(table), Part::Answer(vec![answer])])
}
