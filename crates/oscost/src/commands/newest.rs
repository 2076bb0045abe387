//! The two runs that `oscost compare` takes where nobody names any.

use std::collections::{BTreeMap, BTreeSet};

use oscost_report::compare::{NOTHING_IN_COMMON, incomparable, left_out};
use oscost_results::{Outline, OutlineFigure, RunResult, Status, Store};

use crate::exit::Ended;
use crate::output::Talk;
use crate::words;

/// Outlines that are read at first: most often the two are among them.
const FIRST: usize = 24;
/// Runs that are named where several are skipped for one reason.
const NAMED: usize = 3;

/// The newest run of the store that can be held against an older one, by figures that `only` finds, and the newest such older
/// one; what was passed by is said.
pub fn newest_pair(
    store: &Store,
    only: &[String],
    talk: &Talk,
) -> Result<(Vec<String>, Vec<RunResult>), Ended> {
    let mut paths = store.runs().map_err(Ended::misuse)?;
    paths.reverse();
    let mut runs: Vec<(usize, Outline)> = Vec::new();
    let mut read = 0;
    // Outlines are read until the newest run has its older one: as many again each time.
    let found = loop {
        let more = read.max(FIRST).min(paths.len() - read);
        let outlines = oscost_results::load_outlines_of(&paths[read..read + more]);
        outlines.unusable.iter().for_each(|error| talk.say(format!("skipped: {error}")));
        // They are in the order of their paths, without those of damaged files.
        let mut places = read..read + more;
        runs.extend(
            outlines
                .runs
                .into_iter()
                .filter_map(|(path, run)| Some((places.find(|place| paths[*place] == path)? + 1, run))),
        );
        read += more;
        let of_all = runs.iter().flat_map(|(_, run)| &run.figures);
        let ids: BTreeSet<&str> = of_all.map(|figure| figure.id.as_str()).collect();
        let found = only.iter().filter_map(|typed| words::meant(typed, &ids)).flat_map(|(_, found)| found);
        let asked: BTreeSet<&str> = if only.is_empty() { ids.clone() } else { found.collect() };
        let found = Search::of(&runs, &asked);
        if found.pair.is_some_and(|(newer, _)| Some(&newer) == found.holding.first()) || read == paths.len() {
            if asked.is_empty() && !ids.is_empty() {
                words::only(only, &ids, talk)?;
            }
            break found;
        }
    };
    let Some((newer, older)) = found.pair else {
        return Err(Ended::misuse(
            "no two stored runs can be compared: two are needed, of one machine, with a figure in common (oscost report @all)",
        ));
    };
    found.passed(&runs, newer, older).iter().for_each(|words| talk.say(words));
    let mut both = Vec::new();
    for place in [older, newer] {
        let (back, outline) = &runs[place];
        let time = outline.started.get(..16).unwrap_or_default().replace('T', " ");
        let result = oscost_results::load(&paths[back - 1]).map_err(Ended::misuse)?;
        both.push((format!("@-{back} {time}"), result));
    }
    Ok(both.into_iter().unzip())
}

/// Of each id and revision the place of the newest run that has it.
type Newest<'r> = BTreeMap<(&'r str, u32), usize>;

/// What a search among runs, the newest first, found; all are places in their list.
struct Search {
    /// The newest run that has an older one to be held against, and that one.
    pair: Option<(usize, usize)>,
    /// Runs with a figure that was asked for.
    holding: Vec<usize>,
}

impl Search {
    fn of(runs: &[(usize, Outline)], asked: &BTreeSet<&str>) -> Self {
        let mut found = Self { pair: None, holding: Vec::new() };
        // By machine and method, of each figure the newest run that has it: the runs are gone through once.
        let mut groups: Vec<(&Outline, Newest<'_>)> = Vec::new();
        for (place, (_, run)) in runs.iter().enumerate().filter(|(_, (_, run))| is_run(run)) {
            let is_asked = |it: &&OutlineFigure| it.status == Status::Measured && asked.contains(&*it.id);
            let mut figures = run.figures.iter().filter(is_asked).map(|it| (&*it.id, it.revision)).peekable();
            if figures.peek().is_none() {
                continue;
            }
            found.holding.push(place);
            let of_run = groups.iter().position(|(first, _)| incomparable(*first, run).is_none());
            let group = of_run.unwrap_or_else(|| {
                groups.push((run, BTreeMap::new()));
                groups.len() - 1
            });
            for figure in figures {
                let newest = *groups[group].1.entry(figure).or_insert(place);
                if newest < place {
                    found.pair = Some(found.pair.map_or((newest, place), |pair| pair.min((newest, place))));
                }
            }
        }
        found
    }

    /// What stands before the two in the list, or between them, and why it is not taken: a line a reason.
    fn passed(&self, runs: &[(usize, Outline)], newer: usize, older: usize) -> Vec<String> {
        let mut whys: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for &place in self.holding.iter().filter(|place| **place < older && **place != newer) {
            let with = if place < newer { "an older run".to_owned() } else { format!("@-{}", runs[newer].0) };
            let why = incomparable(&runs[place].1, &runs[newer].1).map(str::to_owned);
            let why = why.unwrap_or_else(|| format!("{NOTHING_IN_COMMON} with {with}"));
            whys.entry(why).or_default().push(format!("@-{}", runs[place].0));
        }
        let skipped = whys.into_iter().map(|(why, names)| {
            let more = names.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let are = if names.len() == 1 { "is" } else { "are" };
            format!("{}{more} {are} skipped: {why}", names[..names.len().min(NAMED)].join(", "))
        });
        let others = runs[..older].iter().map(|(_, run)| run).filter(|run| !is_run(run));
        let kinds = left_out(others.filter_map(|run| incomparable(run, &runs[newer].1)));
        let kinds = (!kinds.is_empty()).then(|| format!("left out: {kinds}"));
        skipped.chain(kinds).collect()
    }
}

/// Whether it holds times: neither a bill nor a count.
fn is_run(run: &Outline) -> bool {
    run.bill.is_none() && run.conditions.emulation.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of these ids; an empty list is a bill.
    fn run(machine: &str, ids: &[&str]) -> Outline {
        let bare = oscost_results::from_bytes(include_bytes!("../../../results/tests/samples/v2.json"));
        let mut result = bare.expect("a sample");
        result.machine.cpu_model = machine.to_owned();
        let mut figure = result.figures.remove(0);
        figure.status = Status::Measured;
        result.bill = ids.is_empty().then(Box::default);
        let named = |id: &&str| oscost_results::Figure { id: (*id).to_owned(), ..figure.clone() };
        result.figures = ids.iter().map(named).collect();
        let bytes = oscost_results::to_bytes(&result).expect("JSON");
        oscost_results::outline_from_bytes(&bytes).expect("a result")
    }

    #[test]
    fn a_run_of_few_ids_hides_no_older_run() {
        let (bare, one, other) = (["a", "b"], ["c"], ["d"]);
        let found = |runs: &[(&str, &[&str])], asked: &[&str]| {
            let runs: Vec<(usize, Outline)> =
                runs.iter().zip(1..).map(|((machine, ids), back)| (back, run(machine, ids))).collect();
            let found = Search::of(&runs, &asked.iter().copied().collect());
            let (newer, older) = found.pair?;
            Some((newer + 1, older + 1, found.passed(&runs, newer, older)))
        };
        let all = ["a", "b", "c", "d"];
        let between = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let runs: [(&str, &[&str]); 7] =
            [("x", &bare), ("x", &one), ("y", &bare), ("x", &[]), ("x", &one), ("x", &bare), ("x", &bare)];
        let passed = between(&[
            "@-2, @-5 are skipped: no figure in common with @-1",
            "@-3 is skipped: of another machine",
            "left out: 1 bill",
        ]);
        assert_eq!(found(&runs, &all), Some((1, 6, passed)));
        assert_eq!(found(&runs, &["c"]), Some((2, 5, between(&["left out: 1 bill"]))));
        assert_eq!(found(&runs, &["d"]), None);
        // The newest one has nothing in common with any.
        let lonely: [(&str, &[&str]); 4] = [("x", &other), ("y", &bare), ("x", &one), ("x", &one)];
        let passed = between(&[
            "@-1 is skipped: no figure in common with an older run",
            "@-2 is skipped: of another machine",
        ]);
        assert_eq!(found(&lonely, &all), Some((3, 4, passed)));
    }
}
