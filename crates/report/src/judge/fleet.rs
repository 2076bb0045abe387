//! Many hosts held against one another: which are odd, in what, and by how much. docs/fleet.md.
//!
//! Hosts are compared within one machine key, the processor's model and the kernel: never by anything that was measured.

mod chances;

use std::collections::{BTreeMap, BTreeSet};

use oscost_results::{Outline, RowFigure, Status};
use oscost_stats::odd::{Bulk, Tail, rates};
use oscost_stats::sorting::SmallSort;

use crate::evidence::system_calls;
use chances::{Scales, Test, Tests, Together, findings, middle, together, weights};

/// Hosts of one key below which no host is judged: the scale of fewer is known to no better than a third.
pub const LEAST_HOSTS: usize = 8;
/// Share of the named hosts that may be false, on average.
pub const FALSE_RATE: f64 = 0.05;
/// Beyond the named hosts, others are told of up to this share of false ones: as likely odd as not.
pub const EVEN_RATE: f64 = 0.5;
/// A figure counts in the deviation of its host with no more than this, in scales: one wild figure makes no slow host.
const CLIP: f64 = 5.0;
/// Bytes of a name that are kept: no path is longer, and the names in a hostile file would fill a page.
const LONGEST_NAME: usize = 4096;
/// A share beyond which nobody asks whether a figure could have shown it: a hundred times as slow.
const MOST: f64 = 99.0;
/// Half of the width of a 95 % interval, in standard errors.
const HALF_WIDTH: f64 = 1.96;

/// Results of many hosts, as far as they are held against one another.
#[derive(Debug, Default)]
pub struct Fleet {
    /// Results that were added.
    results: usize,
    /// Results without a price, bills and counts: they are of no host here. Each boot that `count` emulates would be one.
    bare: usize,
    /// Hosts without a name, which are told by their boot or their file.
    nameless: usize,
    /// Figures that show no number, over all results.
    withheld: usize,
    /// Results of runs that ended before their plan was complete.
    partial: usize,
    series: BTreeMap<Series, u32>,
    names: Vec<Series>,
    keys: BTreeMap<(String, String), BTreeMap<String, Vec<Measured>>>,
}

/// What is comparable: a quantity of one revision of a figure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Series {
    id: String,
    revision: u32,
    /// Floors that were estimated otherwise are other numbers.
    estimators: u32,
    quantity: String,
    enters: bool,
}

/// A figure of a result: which, the logarithm of its value, and the error of that.
#[derive(Debug, Clone, Copy)]
struct Measured {
    series: u32,
    at: f64,
    error: f64,
}

/// The hosts of a fleet, judged.
#[derive(Debug)]
#[non_exhaustive]
pub struct JudgedFleet {
    /// Results, hosts, hosts that do not tell their name, figures without a number.
    pub results: usize,
    /// Hosts of all groups.
    pub hosts: usize,
    /// Results without a price, bills and counts, which are left out.
    pub bare: usize,
    /// Hosts that do not tell their name.
    pub nameless: usize,
    /// Figures without a number.
    pub withheld: usize,
    /// Results of runs that ended before their plan was complete. What they have counts.
    pub partial: usize,
    /// The groups, the largest first.
    pub groups: Vec<HostGroup>,
    /// The odd hosts, the surest first.
    pub odd: Vec<OddHost>,
    /// Hosts that lie apart and are not named, the surest first: up to half of all told of so far may be false. Behind them those
    /// with a higher rate, which lie beyond all others in one figure alone.
    pub unproved: Vec<OddHost>,
    /// Tests that were made: each host in each figure, and in all together.
    pub tests: usize,
}

/// Hosts of one machine key.
#[derive(Debug)]
#[non_exhaustive]
pub struct HostGroup {
    /// Model of the processor.
    pub cpu_model: String,
    /// Kernel.
    pub kernel: String,
    /// Its hosts.
    pub hosts: Vec<JudgedHost>,
    /// Without a figure that [`LEAST_HOSTS`] of them have there is no verdict.
    pub is_judged: bool,
    /// Figures in which its hosts were held against one another: name, typical deviation of a host as a share, deviations.
    pub figures: Vec<GroupFigure>,
    /// How far hosts usually lie apart in all figures that enter the kernel, as a share; and in the others.
    pub usual: [Option<f64>; 2],
    /// By what share one host must be slower in all figures that enter the kernel to be named in nine cases of ten; `None` where
    /// the group is too small to show any.
    pub shows: Option<f64>,
    /// The same of one figure alone, in the middle of the figures; `None` where that is more than a hundred times.
    pub shows_alone: Option<f64>,
}

/// A figure over the hosts of a group.
#[derive(Debug)]
#[non_exhaustive]
pub struct GroupFigure {
    /// Id of the figure.
    pub id: String,
    /// The quantity that is compared.
    pub quantity: String,
    /// Standard deviation of a usual host, as a share.
    pub usual: f64,
    /// Deviation of each host that has the figure from the group's median, as a share.
    pub apart: Vec<f64>,
}

/// A host of a group.
#[derive(Debug)]
#[non_exhaustive]
pub struct JudgedHost {
    /// Its name, or what it is told by.
    pub name: String,
    /// Median deviation of its figures that enter the kernel, as a share; and of the others.
    pub apart: [Option<f64>; 2],
    /// Whether it has a figure that it was tested by.
    pub is_judged: bool,
}

/// A host that is odd.
#[derive(Debug)]
#[non_exhaustive]
pub struct OddHost {
    /// Its name.
    pub name: String,
    /// Index of its group.
    pub group: usize,
    /// Share of the hosts named up to this one that may be false, on average.
    pub rate: f64,
    /// In what, the surest first.
    pub findings: Vec<OddFinding>,
}

/// In what a host is odd.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OddFinding {
    /// In what.
    pub what: OddIn,
    /// Deviation from the group's median, as a share: 0.05 is slower by 5 %.
    pub apart: f64,
    /// Standard deviation of a usual host, as a share.
    pub usual: f64,
}

/// What a host can be odd in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OddIn {
    /// All figures that enter the kernel: so many.
    Kernel(usize),
    /// All figures that do not: so many.
    User(usize),
    /// One figure, by its id.
    Figure(String),
}

impl Fleet {
    /// Adds a result, which was read from `file`.
    pub fn add(&mut self, run: &Outline<RowFigure>, file: &str) {
        if run.figures.is_empty() || run.conditions.emulation.is_some() {
            self.bare += 1;
            return;
        }
        self.results += 1;
        let named = run.machine.host.as_deref().filter(|name| !name.is_empty());
        let told = named.or(run.conditions.boot_id.as_deref()).unwrap_or(file);
        self.nameless += usize::from(named.is_none());
        self.partial += usize::from(run.partial);
        let mut all = Vec::new();
        for figure in &run.figures {
            self.withheld += usize::from(figure.status != Status::Measured);
            all.extend(measured(figure, run.estimators).map(|(series, at, error)| {
                let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
                let series = *self.series.entry(series).or_insert_with_key(|series| {
                    self.names.push(series.clone());
                    next
                });
                Measured { series, at, error }
            }));
        }
        let key = (short(&run.machine.cpu_model), short(&run.conditions.kernel));
        self.keys.entry(key).or_default().entry(short(told)).or_default().extend(all);
    }

    /// Holds the hosts against one another.
    #[must_use]
    pub fn judge(&self) -> JudgedFleet {
        let mut tests = BTreeMap::new();
        let mut scales = Vec::new();
        let mut keys: Vec<_> = self.keys.iter().collect();
        keys.small_sort_by_key(|(_, hosts)| std::cmp::Reverse(hosts.len()));
        let mut groups = Vec::new();
        for (at, ((model, kernel), hosts)) in keys.into_iter().enumerate() {
            let (group, of_group) = self.group(at, model, kernel, hosts, &mut tests);
            groups.push(group);
            scales.push(of_group);
        }
        let rate = FALSE_RATE / tests.len().max(1) as f64;
        for (group, scales) in groups.iter_mut().zip(scales) {
            group.shows = scales.together.as_ref().and_then(|it| it.shows(rate));
            group.shows_alone = scales.shows_alone(rate);
        }
        let tests_made: usize = tests.values().map(Vec::len).sum();
        let is_alone = |test: &Test| test.alone * tests_made as f64 <= FALSE_RATE;
        // Each host by the surest of its tests, as Simes corrects it for their number; then the hosts among one another. Tests
        // of all figures together weigh more than those of single ones (Genovese, Roeder and Wasserman, Biometrika 93, 2006).
        let mut hosts = Vec::new();
        for (place, tests) in &tests {
            let weight = weights(tests);
            let adjusted = rates(
                &tests
                    .iter()
                    .map(|test| test.chance / weight[usize::from(test.is_single())])
                    .collect::<Vec<_>>(),
            );
            let surest = adjusted.iter().copied().fold(1.0, f64::min);
            hosts.push((*place, adjusted, surest));
        }
        let of_hosts = rates(&hosts.iter().map(|host| host.2).collect::<Vec<f64>>());
        // Up to a rate; whether those too that lie beyond all others in one figure.
        let of_rate = |from: f64, to: f64, with_alone: bool| {
            let lies_alone = |test: &Test| with_alone && is_alone(test);
            let is_told = |place: &(usize, usize), rate: f64| {
                rate > from && (rate <= to || tests[place].iter().any(lies_alone))
            };
            let told = of_hosts.iter().filter(|rate| **rate <= to).count();
            // Tests of hosts that were chosen for them (Benjamini and Bogomolov, JRSS B 76, 2014).
            let level = to * told as f64 / hosts.len().max(1) as f64;
            let told = hosts.iter().zip(&of_hosts).filter(|(host, rate)| is_told(&host.0, **rate));
            let mut odd: Vec<OddHost> = told
                .map(|((place, adjusted, _), &rate)| {
                    let findings =
                        findings(&tests[place], adjusted, |test, rate| rate <= level || lies_alone(test));
                    let &(group, host) = place;
                    OddHost { name: groups[group].hosts[host].name.clone(), group, rate, findings }
                })
                .filter(|odd| !odd.findings.is_empty())
                .collect();
            odd.small_sort_by(|one, other| one.rate.total_cmp(&other.rate));
            odd
        };
        let (odd, unproved) = (of_rate(-1.0, FALSE_RATE, false), of_rate(FALSE_RATE, EVEN_RATE, true));
        JudgedFleet {
            results: self.results,
            // A host that ran two kernels is in two groups.
            hosts: groups
                .iter()
                .flat_map(|group| &group.hosts)
                .map(|host| host.name.as_str())
                .collect::<BTreeSet<&str>>()
                .len(),
            bare: self.bare,
            nameless: self.nameless,
            withheld: self.withheld,
            partial: self.partial,
            groups,
            odd,
            unproved,
            tests: tests_made,
        }
    }

    /// The hosts of one key; adds a test for each host in each figure, and in all of a kind.
    fn group(
        &self,
        at: usize,
        model: &str,
        kernel: &str,
        hosts: &BTreeMap<String, Vec<Measured>>,
        tests: &mut Tests,
    ) -> (HostGroup, Scales) {
        // Of each figure, the hosts that have it: index, logarithm, error.
        let mut of_figures: BTreeMap<u32, Vec<(usize, f64, f64)>> = BTreeMap::new();
        for (host, measured) in hosts.values().enumerate() {
            for (series, at, error) in over_runs(measured) {
                of_figures.entry(series).or_default().push((host, at, error));
            }
        }
        // Of each host and kind, the deviations of its figures: in scales, and as they are.
        let mut deviations: [Vec<Vec<(f64, f64)>>; 2] =
            [vec![Vec::new(); hosts.len()], vec![Vec::new(); hosts.len()]];
        let mut figures = Vec::new();
        let (mut scales, mut singles) = (Vec::new(), Vec::new());
        for (series, values) in of_figures.iter().filter(|(_, values)| values.len() >= LEAST_HOSTS) {
            let series = &self.names[*series as usize];
            let bulks = (Bulk::of(values.iter().map(|it| it.1)), Bulk::of(values.iter().map(|it| it.2)));
            let (Some(bulk), Some(errors)) = bulks else { continue };
            let tail = Tail::of(values.iter().map(|it| it.1 - bulk.centre));
            for &(host, value, error) in values {
                // The scale holds the usual error already.
                let more = (error * error - errors.centre * errors.centre).max(0.0).sqrt();
                let apart = value - bulk.centre;
                let scale = bulk.scale.hypot(more);
                if scale > 0.0 {
                    let kind = usize::from(!series.enters);
                    deviations[kind][host].push(((apart / scale).clamp(-CLIP, CLIP), apart));
                }
                let finding = OddFinding {
                    what: OddIn::Figure(series.id.clone()),
                    apart: apart.exp_m1(),
                    usual: bulk.scale.exp_m1(),
                };
                // One figure of many hosts has a long tail: what others do there, too, is not odd.
                let (of_bulk, of_tail) = (bulk.chance(value, more), tail.chance(apart, more));
                // Not corrected for the other figures, or few hosts would have nothing to say of one figure, however slow it is.
                let is_beyond = of_tail * values.len() as f64 <= FALSE_RATE;
                let alone = if is_beyond { of_bulk } else { 1.0 };
                tests.entry((at, host)).or_default().push(Test {
                    chance: of_bulk.max(of_tail),
                    alone,
                    finding,
                });
            }
            singles.push((bulk, tail));
            if series.enters && bulk.scale > 0.0 {
                scales.push(bulk.scale);
            }
            figures.push(GroupFigure {
                id: series.id.clone(),
                quantity: series.quantity.clone(),
                usual: bulk.scale.exp_m1(),
                apart: values.iter().map(|it| (it.1 - bulk.centre).exp_m1()).collect(),
            });
        }
        let is_judged = !figures.is_empty();
        let mut usual = [None, None];
        let mut bulks = [None, None];
        if is_judged {
            for (kind, of_hosts) in deviations.iter().enumerate() {
                (usual[kind], bulks[kind]) = together(at, kind, of_hosts, tests).unzip();
            }
        }
        let kinds = bulks.iter().flatten().count();
        let together = bulks[0].map(|bulk| Together { bulk, scales, kinds });
        let apart = |kind: usize, host: usize| middle(&deviations[kind][host]).map(f64::exp_m1);
        let hosts = hosts.keys().enumerate().map(|(host, name)| JudgedHost {
            name: name.clone(),
            apart: [apart(0, host), apart(1, host)],
            is_judged: tests.contains_key(&(at, host)),
        });
        let group = HostGroup {
            cpu_model: model.to_owned(),
            kernel: kernel.to_owned(),
            hosts: hosts.collect(),
            is_judged,
            figures,
            usual,
            shows: None,
            shows_alone: None,
        };
        (group, Scales { together, singles })
    }
}

/// A name, or as much of it as a reader bears.
fn short(name: &str) -> String {
    name[..name.floor_char_boundary(LONGEST_NAME)].to_owned()
}

/// The quantity of a figure that hosts are compared by.
fn measured(figure: &RowFigure, estimators: u32) -> Option<(Series, f64, f64)> {
    if figure.status != Status::Measured {
        return None;
    }
    let judged = if figure.judged.is_empty() { &figure.headline } else { &figure.judged };
    let quantity = figure.quantities.get(judged)?;
    let (value, low, high) = (quantity.value?, quantity.low?, quantity.high?);
    if !(value > 0.0 && value.is_finite()) {
        return None;
    }
    let error = if low > 0.0 && high.is_finite() { (high / low).ln() / (2.0 * HALF_WIDTH) } else { 0.0 };
    let in_user_space = matches!(&*figure.call_path, "vdso" | "user space" | "instruction");
    let enters = system_calls(&figure.evidence).map_or(!in_user_space, |calls| calls >= 0.5);
    let (id, revision, quantity) = (short(&figure.id), figure.revision, judged.clone());
    let series = Series { id, revision, estimators, quantity, enters };
    Some((series, value.ln(), error.max(0.0)))
}

/// Each figure of a host once: the median over its runs.
fn over_runs(measured: &[Measured]) -> Vec<(u32, f64, f64)> {
    let mut of_series: BTreeMap<u32, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for it in measured {
        let (at, errors) = of_series.entry(it.series).or_default();
        at.push(it.at);
        errors.push(it.error);
    }
    let median = |values: Vec<f64>| Bulk::of(values).map(|bulk| bulk.centre);
    let all = of_series.into_iter();
    all.filter_map(|(series, (at, errors))| Some((series, median(at)?, median(errors)?))).collect()
}

#[cfg(test)]
mod tests;
