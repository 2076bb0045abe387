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
        let asked: Option<BTreeSet<&str>> = (!only.is_empty()).then(|| found.collect());
        let found = Search::of(&runs, asked.as_ref());
        if found.pair.is_some_and(|(newer, _)| Some(&newer) == found.holding.first()) || read == paths.len() {
            if asked.is_some_and(|asked| asked.is_empty()) && !ids.is_empty() {
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

/// Of each id and revision the place of the newest run that has it; a bill has its program.
type Newest<'r> = BTreeMap<(&'r str, u32), usize>;

/// What a search among runs, the newest first, found; all are places in their list.
struct Search {
    /// The newest run that has an older one to be held against, and that one.
    pair: Option<(usize, usize)>,
    /// Runs with a figure that was asked for; where none was, also bills.
    holding: Vec<usize>,
}

impl Search {
    fn of(runs: &[(usize, Outline)], asked: Option<&BTreeSet<&str>>) -> Self {
        let mut found = Self { pair: None, holding: Vec::new() };
        // By kind, machine and method, of each figure the newest run that has it: the runs are gone through once.
        let mut groups: Vec<(&Outline, Newest<'_>)> = Vec::new();
        for (place, (_, run)) in runs.iter().enumerate() {
            let is_asked = |id: &str| asked.is_none_or(|asked| asked.contains(id));
            let is_there = |it: &&OutlineFigure| it.status == Status::Measured && is_asked(&it.id);
            let program = run.bill.iter().filter(|_| asked.is_none()).filter_map(|bill| bill.program.first());
            let figures = run.figures.iter().filter(is_there).map(|it| (&*it.id, it.revision));
            let mut figures = figures.chain(program.map(|name| (&**name, 0))).peekable();
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
        let mut kinds = Vec::new();
        let newest = &runs[newer].1;
        for (place, (back, run)) in runs[..older].iter().enumerate().filter(|(place, _)| *place != newer) {
            let why = incomparable(run, newest);
            if kind(run) != kind(newest) {
                kinds.extend(why.filter(|_| kind(run) != [false; 2]));
            } else if self.holding.contains(&place) {
                let with =
                    if place < newer { "an older run".to_owned() } else { format!("@-{}", runs[newer].0) };
                let why = why.map_or_else(|| format!("{NOTHING_IN_COMMON} with {with}"), str::to_owned);
                whys.entry(why).or_default().push(format!("@-{back}"));
            }
        }
        let skipped = whys.into_iter().map(|(why, names)| {
            let more = names.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let are = if names.len() == 1 { "is" } else { "are" };
            format!("{}{more} {are} skipped: {why}", names[..names.len().min(NAMED)].join(", "))
        });
        let kinds = left_out(kinds);
        let kinds = (!kinds.is_empty()).then(|| format!("left out: {kinds}"));
        skipped.chain(kinds).collect()
    }
}

/// Whether it is a bill, and whether it holds counts: else it holds times.
fn kind(run: &Outline) -> [bool; 2] {
    [run.bill.is_some(), run.conditions.emulation.is_some()]
}

#[cfg(test)]
mod tests {
    use oscost_results::bill::Bill;

    use super::*;

    /// A run of these ids; an empty list is a bill.
    fn run(machine: &str, ids: &[&str]) -> Outline {
        let bare = oscost_results::from_bytes(include_bytes!("../../../results/tests/samples/v2.json"));
        let mut result = bare.expect("a sample");
        result.machine.cpu_model = machine.to_owned();
        let mut figure = result.figures.remove(0);
        figure.status = Status::Measured;
        let program = vec!["true".to_owned()];
        result.bill = ids.is_empty().then(|| Box::new(Bill { program, ..Bill::default() }));
        let named = |id: &&str| oscost_results::Figure { id: (*id).to_owned(), ..figure.clone() };
        result.figures = ids.iter().map(named).collect();
        let bytes = oscost_results::to_bytes(&result).expect("JSON");
        oscost_results::outline_from_bytes(&bytes).expect("a result")
    }

    #[test]
    fn a_run_of_few_ids_hides_no_older_run() {
        let (bare, one, other) = (["a", "b"], ["c"], ["d"]);
        let found = |runs: &[(&str, &[&str])], asked: Option<&[&str]>| {
            let runs: Vec<(usize, Outline)> =
                runs.iter().zip(1..).map(|((machine, ids), back)| (back, run(machine, ids))).collect();
            let asked = asked.map(|asked| asked.iter().copied().collect());
            let found = Search::of(&runs, asked.as_ref());
            let (newer, older) = found.pair?;
            Some((newer + 1, older + 1, found.passed(&runs, newer, older)))
        };
        let between = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let runs: [(&str, &[&str]); 7] =
            [("x", &bare), ("x", &one), ("y", &bare), ("x", &[]), ("x", &one), ("x", &bare), ("x", &bare)];
        let passed = between(&[
            "@-2, @-5 are skipped: no figure in common with @-1",
            "@-3 is skipped: of another machine",
            "left out: 1 bill",
        ]);
        assert_eq!(found(&runs, None), Some((1, 6, passed)));
        assert_eq!(found(&runs, Some(&["c"])), Some((2, 5, between(&["left out: 1 bill"]))));
        assert_eq!(found(&runs, Some(&["d"])), None);
        // The newest one has nothing in common with any.
        let lonely: [(&str, &[&str]); 4] = [("x", &other), ("y", &bare), ("x", &one), ("x", &one)];
        let passed = between(&[
            "@-1 is skipped: no figure in common with an older run",
            "@-2 is skipped: of another machine",
        ]);
        assert_eq!(found(&lonely, None), Some((3, 4, passed)));
        // The newest is a bill: of the same program there is an older one, whatever lies between.
        let bills: [(&str, &[&str]); 4] = [("x", &[]), ("x", &bare), ("x", &[]), ("x", &bare)];
        assert_eq!(found(&bills, None), Some((1, 3, between(&[]))));
        assert_eq!(found(&bills, Some(&["a"])), Some((2, 4, between(&["left out: 2 bills"]))));
    }
}
