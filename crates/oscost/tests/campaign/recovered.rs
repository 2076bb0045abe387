//! The launches in the journals of killed runs: each is in the result that the next start makes of its journal.

use std::collections::BTreeMap;

use crate::program::{self, User};
use crate::{Outcome, space};

/// How many launches a journal holds, by the id of its figure.
pub type Launches = BTreeMap<String, usize>;

/// The journals of dead runs by the name of the run, read as they are written: length, CRC-32, a space each, and a record.
pub fn journals(user: User) -> BTreeMap<String, Launches> {
    let folder = program::runs(user);
    let names = space::names(&folder);
    let journals = names.iter().filter_map(|name| Some((name, name.strip_suffix(".journal")?)));
    journals
        .map(|(file, name)| {
            let bytes = std::fs::read(folder.join(file)).unwrap_or_default();
            (name.to_owned(), launches(&String::from_utf8_lossy(&bytes)))
        })
        .collect()
}

fn launches(journal: &str) -> Launches {
    let mut launches = Launches::new();
    let whole = |line: &str| {
        let (length, rest) = line.split_once(' ')?;
        let (sum, payload) = rest.split_once(' ')?;
        let is_whole = usize::from_str_radix(length, 16).ok()? == payload.len()
            && u32::from_str_radix(sum, 16).ok()? == crc32fast::hash(payload.as_bytes());
        is_whole.then(|| serde_json::from_str::<serde_json::Value>(payload).ok())?
    };
    // Beside each launch there are canaries, which are no figures.
    let is_figure = |id: &String| !id.starts_with("canary/");
    for record in journal.split_inclusive('\n').map_while(|line| whole(line.strip_suffix('\n')?)) {
        let members = record.pointer("/Launched/members").and_then(|it| it.as_array().cloned());
        for id in members
            .iter()
            .flatten()
            .filter_map(|member| member.get(0)?.as_str().map(str::to_owned))
            .filter(is_figure)
        {
            *launches.entry(id).or_default() += 1;
        }
    }
    launches
}

/// Every launch of a journal is in the result that the next start made of it.
pub fn look(user: User, journals: &BTreeMap<String, Launches>, what: &str, outcome: &mut Outcome) {
    for (name, launches) in journals.iter().filter(|(_, launches)| !launches.is_empty()) {
        outcome.count("journals with launches", 1);
        let result = match oscost_results::load(&program::runs(user).join(format!("{name}.json"))) {
            Ok(result) => result,
            Err(error) => {
                outcome.count("lost launches", launches.values().sum::<usize>() as u64);
                outcome.fail(format!("{what}: {name}: its journal became no result: {error}"));
                continue;
            }
        };
        for (id, &wanted) in launches {
            let figure = result.figures.iter().find(|figure| figure.id == *id);
            // A figure that is withheld keeps only their number.
            let found = figure.map_or(0, |figure| figure.evidence.launches as usize);
            outcome.count("launches in journals", wanted as u64);
            outcome.count("launches recovered", found as u64);
            if found < wanted {
                outcome.count("lost launches", (wanted - found) as u64);
                outcome.fail(format!("{what}: {name}: {id}: {wanted} launches, {found} of them recovered"));
            }
        }
    }
}

/// Whether launches are counted in a journal up to the first record that is not whole.
pub fn is_sharp() -> Result<(), String> {
    let line = |payload: &str| {
        format!("{:08x} {:08x} {payload}\n", payload.len(), crc32fast::hash(payload.as_bytes()))
    };
    let launched = line(r#"{"Launched":{"sequence":0,"members":[["a",{}],["b",{}]],"pairs":[]}}"#);
    let whole = format!("{}{launched}{}{launched}", line("{}"), line(r#"{"Audited":{"id":"a"}}"#));
    let counted = |text: &str| launches(text).values().sum::<usize>();
    let damaged = whole.replacen("sequence", "sequenze", 1);
    match (counted(&whole), counted(&whole[..whole.len() - 1]), counted(&damaged)) {
        (4, 2, 0) => Ok(()),
        other => Err(format!("launches in a whole, a cut and a damaged journal: {other:?}")),
    }
}
