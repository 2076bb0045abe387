//! Finds what else differs between two results: the machine, the conditions, and what follows from it.

use std::collections::BTreeSet;

use oscost_results::{Conditions, Figure, Machine, Mark, Outline, RunResult, Status, telling_parameters};

use super::Differs;
use super::bills::is_bill;
use super::core_speed::{ONE_SPEED, slowed};
use super::counts::is_count;
use crate::named::Named;
use crate::numbers;
use crate::words::{counted, distinct, plain};

/// Letters of a boot's name that tell it from any other.
const BOOT: usize = 8;
/// What differs from figure to figure, and is looked at there.
const OF_FIGURES: [&str; 2] = ["shared CPU", "busy sibling"];

/// A fact as it is shown; "unknown" for what was not found out.
fn told(fact: Option<&str>) -> String {
    fact.filter(|fact| !fact.is_empty()).map_or("unknown".to_owned(), |fact| plain(fact, true))
}

/// The facts of which both sides have different ones.
fn differing(facts: Vec<(&'static str, Option<String>, Option<String>)>) -> Vec<Differs> {
    let differs = |(what, a, b): (&'static str, Option<String>, Option<String>)| {
        (a != b).then(|| Differs { what, a: told(a.as_deref()), b: told(b.as_deref()) })
    };
    facts.into_iter().filter_map(differs).collect()
}

/// Hardware and hypervisor: with any difference it is another machine.
pub(super) fn machine(a: &Machine, b: &Machine) -> Vec<Differs> {
    let text = |text: &str| Some(text.to_owned());
    let number = |number: Option<u32>| number.map(|number| number.to_string());
    let mut all = differing(vec![
        ("processor", text(&a.cpu_model), text(&b.cpu_model)),
        ("instruction set", text(&a.architecture), text(&b.architecture)),
        ("hypervisor", a.hypervisor.clone(), b.hypervisor.clone()),
        ("CPUs", number(Some(a.cpus)), number(Some(b.cpus))),
        ("threads a core", number(a.threads_per_core), number(b.threads_per_core)),
    ]);
    // A kernel takes its own part of the memory: the same machine may show a little less of it.
    if let (Some(of_a), Some(of_b)) = (a.memory_bytes, b.memory_bytes)
        && of_a.abs_diff(of_b) > of_a.max(of_b) / 20
    {
        let size = |bytes: u64| format!("{} MiB", bytes >> 20);
        all.push(Differs { what: "memory", a: size(of_a), b: size(of_b) });
    }
    all
}

/// The same of all results of two sides, each held against the first.
pub(super) fn machines(a: &[Named<'_>], b: &[Named<'_>]) -> Vec<Differs> {
    let mut all: Vec<Differs> = Vec::new();
    let Some(first) = a.first() else { return all };
    for other in b.iter().chain(a) {
        for differs in machine(&first.result.machine, &other.result.machine) {
            if all.iter().all(|known| known.what != differs.what) {
                all.push(differs);
            }
        }
    }
    all
}

/// What differs between the results of one side, which is taken for one thing, in words.
pub(super) fn within(side: &[Named<'_>]) -> Option<String> {
    let (first, others) = side.split_first()?;
    let of = |other: &Named<'_>| {
        let (a, b) = (first.result, other.result);
        let differs =
            machine(&a.machine, &b.machine).into_iter().chain(conditions(a, b)).map(|differs| differs.what);
        differs.chain((a.partial != b.partial).then_some("completeness")).collect::<Vec<_>>()
    };
    let names = others.iter().flat_map(of).filter(|what| *what != "boot" && !OF_FIGURES.contains(what));
    let names = distinct(names);
    let names = names.join(", ");
    (!names.is_empty()).then(|| format!("the {} differ among themselves in {names}", first.name))
}

/// Kernel, libc, mitigations, settings and the program itself.
pub(super) fn conditions(a: &RunResult, b: &RunResult) -> Vec<Differs> {
    let (of_a, of_b) = (&a.conditions, &b.conditions);
    let text = |text: &str| Some(text.to_owned());
    let word = |number: Option<u32>| number.map(|number| number.to_string());
    let signed = |number: Option<i32>| number.map(|number| number.to_string());
    let mut all = Vec::new();
    if of_a.boot_id != of_b.boot_id {
        all.push(Differs { what: "boot", a: boot(of_a), b: boot(of_b) });
    }
    // Older results do not name it.
    if let (Some(of_a), Some(of_b)) = (&of_a.microcode, &of_b.microcode)
        && of_a != of_b
    {
        all.push(Differs { what: "microcode", a: told(Some(of_a)), b: told(Some(of_b)) });
    }
    all.extend(differing(vec![
        ("kernel", text(&of_a.kernel), text(&of_b.kernel)),
        ("kernel version", of_a.kernel_version.clone(), of_b.kernel_version.clone()),
        ("command line", parameters(of_a), parameters(of_b)),
        ("C library", text(&a.tool.libc), text(&b.tool.libc)),
        ("clock source", of_a.clock_source.clone(), of_b.clock_source.clone()),
        ("governor", of_a.governor.clone(), of_b.governor.clone()),
        ("allowed CPUs", of_a.allowed_cpus.clone(), of_b.allowed_cpus.clone()),
        ("user", word(of_a.uid), word(of_b.uid)),
        ("isolation", of_a.isolation.clone(), of_b.isolation.clone()),
        ("file system", of_a.file_system.clone(), of_b.file_system.clone()),
        ("seccomp mode", word(of_a.seccomp_mode), word(of_b.seccomp_mode)),
        ("effort", text(&a.plan.effort), text(&b.plan.effort)),
        ("oscost", text(&a.tool.version), text(&b.tool.version)),
        ("build", text(&a.tool.build_id), text(&b.tool.build_id)),
    ]));
    all.extend(mitigations(of_a.mitigations.as_deref(), of_b.mitigations.as_deref()));
    all.extend(differing(vec![
        unusual("CPU quota", NOTHING, quota(of_a), quota(of_b)),
        unusual("seccomp filters", "0", word(of_a.seccomp_filters), word(of_b.seccomp_filters)),
        unusual("nice value", "0", signed(of_a.nice), signed(of_b.nice)),
        unusual("scheduling policy", "other", of_a.policy.clone(), of_b.policy.clone()),
        unusual(
            "interposed libraries",
            NOTHING,
            listed(of_a.preload.as_ref()),
            listed(of_b.preload.as_ref()),
        ),
        unusual("--cpu", NOT_GIVEN, option(of_a.cpu_option.as_ref()), option(of_b.cpu_option.as_ref())),
        unusual("idle CPUs", "halt", of_a.idle_cpu.clone(), of_b.idle_cpu.clone()),
        ("tracer", traced(a), traced(b)),
    ]));
    let marked = |mark| (marked(a, mark), marked(b, mark));
    for (what, (a, b)) in OF_FIGURES.into_iter().zip([marked(Mark::Shared), marked(Mark::BusySibling)]) {
        if (a == 0) != (b == 0) {
            all.push(Differs { what, a: figures(a), b: figures(b) });
        }
    }
    all
}

/// The beginning of a boot's name.
fn boot(of: &Conditions) -> String {
    told(of.boot_id.as_ref().map(|boot| boot.chars().take(BOOT).collect::<String>()).as_deref())
}

/// Whether two runs were made on one machine under the same conditions, but for those named, and for how much was spent.
pub(super) fn alike(a: &RunResult, b: &RunResult, but: &[&str]) -> bool {
    let harmless = |what: &str| what == "effort" || OF_FIGURES.contains(&what) || but.contains(&what);
    machine(&a.machine, &b.machine).is_empty()
        && conditions(a, b).iter().all(|differs| harmless(differs.what))
}

/// What of a result, read whole or in outline, tells whether its figures can be held against those of another one.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    machine: &'a Machine,
    estimators: u32,
    is_count: bool,
    is_bill: bool,
}

impl<'a> From<&'a RunResult> for Origin<'a> {
    fn from(result: &'a RunResult) -> Self {
        let (machine, estimators) = (&result.machine, result.estimators);
        Self { machine, estimators, is_count: is_count(result), is_bill: is_bill(result) }
    }
}

impl<'a> From<&'a Outline> for Origin<'a> {
    fn from(run: &'a Outline) -> Self {
        let (is_count, is_bill) = (run.conditions.emulation.is_some(), run.bill.is_some());
        Self { machine: &run.machine, estimators: run.estimators, is_count, is_bill }
    }
}

/// Why figures of two results would say different things even of the same operations: in a few words.
#[must_use]
pub fn incomparable<'a>(a: impl Into<Origin<'a>>, b: impl Into<Origin<'a>>) -> Option<&'static str> {
    let (a, b) = (a.into(), b.into());
    if let Some(why) = other_kind(a, b) {
        Some(why)
    } else if !machine(a.machine, b.machine).is_empty() {
        Some("of another machine")
    } else if a.estimators != b.estimators {
        Some("made by another method")
    } else {
        None
    }
}

/// Why two results have nothing to say of each other on a page. Prices of two machines, or of two methods, stand side by side
/// there without a verdict.
pub(crate) fn apart(a: &RunResult, b: &RunResult) -> Option<&'static str> {
    // A count that failed has a row that says so.
    let is_told =
        |it: &Figure| it.status == Status::Measured || is_count(a) && it.status != Status::Unsupported;
    let told: BTreeSet<&str> = a.figures.iter().filter(|it| is_told(it)).map(|it| it.id.as_str()).collect();
    let has_common = || b.figures.iter().any(|it| is_told(it) && told.contains(it.id.as_str()));
    other_kind(a.into(), b.into()).or_else(|| (!is_bill(a) && !has_common()).then_some(NOTHING_IN_COMMON))
}

/// Why a count of instructions is not held against a run.
pub(super) const COUNT: &str = "counts of instructions are not times";
/// Why a bill is not.
pub(super) const BILL: &str = "a bill is no price list";
/// What is said of a result without a figure that another one has.
pub(super) const NOTHING_IN_COMMON: &str = "no figure in common";

/// Why two results hold things of different kinds.
fn other_kind(a: Origin<'_>, b: Origin<'_>) -> Option<&'static str> {
    if a.is_count != b.is_count {
        Some(COUNT)
    } else if a.is_bill != b.is_bill {
        Some(BILL)
    } else if a.is_count && a.machine.architecture != b.machine.architecture {
        Some("instructions of another architecture")
    } else {
        None
    }
}

/// What a list without entries says.
const NOTHING: &str = "none";
/// What an option that was not given says.
const NOT_GIVEN: &str = "not given";

/// A fact that results of older versions do not tell: unknown beside the usual is no difference to speak of.
fn unusual(
    what: &'static str,
    usual: &str,
    a: Option<String>,
    b: Option<String>,
) -> (&'static str, Option<String>, Option<String>) {
    match (&a, &b) {
        (None, Some(known)) | (Some(known), None) if known == usual => (what, None, None),
        _ => (what, a, b),
    }
}

/// Of the kernel's command line what moves figures: all that is kept of it, unless somebody asks for the rest.
fn parameters(of: &Conditions) -> Option<String> {
    let told = telling_parameters(of.command_line.as_deref()?);
    Some(if told.is_empty() { NOTHING.to_owned() } else { told })
}

/// The quota in CPUs; what could not be read is not "none".
fn quota(of: &Conditions) -> Option<String> {
    of.cpu_quota.map(numbers::published).or_else(|| of.cpu_quota_known.then(|| NOTHING.to_owned()))
}

fn listed(names: Option<&Vec<String>>) -> Option<String> {
    names.map(|names| if names.is_empty() { NOTHING.to_owned() } else { names.join(", ") })
}

fn option(value: Option<&String>) -> Option<String> {
    Some(value.map_or(NOT_GIVEN, String::as_str).to_owned())
}

/// Who traced a launch of the result; `None` where nobody did, or nobody knows.
fn traced(result: &RunResult) -> Option<String> {
    let pids = result.figures.iter().filter_map(|figure| figure.evidence.tracer_pid);
    pids.max().filter(|&pid| pid > 0).map(|pid| format!("process {pid}"))
}

/// Figures with this mark.
fn marked(result: &RunResult, mark: Mark) -> usize {
    result.figures.iter().filter(|figure| figure.marks.contains(&mark)).count()
}

fn figures(count: usize) -> String {
    counted(count, "figure", "figures")
}

/// Only the mitigations that differ: each is a `name: state`, joined by "; ".
fn mitigations(a: Option<&str>, b: Option<&str>) -> Option<Differs> {
    if a == b {
        return None;
    }
    let parts = |all: Option<&str>| -> Vec<String> {
        all.unwrap_or("").split("; ").filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let (of_a, of_b) = (parts(a), parts(b));
    let only = |these: &[String], those: &[String]| {
        let only: Vec<&str> = these.iter().filter(|part| !those.contains(part)).map(String::as_str).collect();
        told(Some(&only.join("; ")))
    };
    Some(Differs { what: "mitigations", a: only(&of_a, &of_b), b: only(&of_b, &of_a) })
}

/// By how much the core ran slower in all results of `b` together, where that is another speed.
pub(super) fn core_speed(a: &[Named<'_>], b: &[Named<'_>]) -> Option<f64> {
    let [a, b] = [a, b].map(|side| side.iter().map(|named| named.result).collect::<Vec<_>>());
    slowed(&a, &b).filter(|slowed| slowed.abs() > ONE_SPEED)
}

/// "5.0 % slower".
pub(super) fn how_fast(slowed: f64) -> String {
    format!("{:.1} % {}", slowed.abs() * 100.0, if slowed > 0.0 { "slower" } else { "faster" })
}

/// What is told who asked for two machines where there is one.
pub(super) const ONE_BOOT: &str = "there are results of one boot on both sides, so all is judged as one machine (--cross-machine says nothing here)";

/// What a reader must know before the first figure.
pub(super) fn warnings([a, b]: [&Named<'_>; 2], other_machine: bool, cross_machine: bool) -> Vec<String> {
    let names = [a.name, b.name];
    let (a, b) = (a.result, b.result);
    let mut all = Vec::new();
    let machines = match (other_machine, cross_machine) {
        (true, true) => Some(
            "the machines differ, which may explain a change (--cross-machine); another boot of either places code and data elsewhere",
        ),
        (true, false) => Some(
            "the machines differ: figures stand side by side, without ratios or verdicts (--cross-machine gives them)",
        ),
        (false, true) => Some(
            "judged as two machines, which are alike (--cross-machine); another boot of either places code and data elsewhere",
        ),
        (false, false) => None,
    };
    all.extend(machines.map(str::to_owned));
    if a.tool.build_id != b.tool.build_id {
        let what = "the builds differ: code lies elsewhere in memory, which alone can change a cost (METHOD.md, Loops)";
        all.push(what.to_owned());
    }
    if a.tool.libc != b.tool.libc {
        all.push(format!(
            "the C libraries differ ({}, {}): semaphores, mutexes, threads and other calls through them are other code, so a \
             change of such a figure is no regression by itself",
            told(Some(&a.tool.libc)),
            told(Some(&b.tool.libc)),
        ));
    }
    if (a.estimators, b.estimators) == (1, 1) {
        let what = "both results are of version 1, and are judged by version 1's rule (METHOD.md, Comparing)";
        all.push(what.to_owned());
    }
    for (result, name) in [a, b].into_iter().zip(names) {
        if result.partial {
            all.push(format!("{name}: ended early, so figures rest on fewer launches"));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(differs: &[Differs]) -> Vec<(&str, &str, &str)> {
        differs.iter().map(|it| (it.what, it.a.as_str(), it.b.as_str())).collect()
    }

    #[test]
    fn mitigations_are_told_by_what_differs_of_them() {
        let told = |a, b| mitigations(a, b).map(|it| (it.a, it.b));
        let pair = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(told(Some("l1tf: on; mds: on"), Some("l1tf: on; mds: on")), None);
        assert_eq!(told(Some("l1tf: on; mds: on"), Some("l1tf: on; mds: off")), pair("mds: on", "mds: off"));
        assert_eq!(told(Some("l1tf: on; mds: on"), Some("l1tf: on")), pair("mds: on", "unknown"));
        assert_eq!(told(None, Some("l1tf: on; mds: on")), pair("unknown", "l1tf: on; mds: on"));
    }

    #[test]
    fn what_is_unknown_on_a_side_differs_only_from_the_unusual() {
        let told = |a: Option<&str>, b: Option<&str>| {
            !differing(vec![unusual("x", "none", a.map(str::to_owned), b.map(str::to_owned))]).is_empty()
        };
        assert!(!told(None, None) && !told(Some("none"), None) && !told(None, Some("none")));
        assert!(told(Some("2"), None) && told(None, Some("2")) && told(Some("2"), Some("none")));
        assert!(!told(Some("2"), Some("2")));
    }

    #[test]
    fn empty_is_unknown() {
        let fact = |a: &str, b: &str| ("x", Some(a.to_owned()), Some(b.to_owned()));
        let told = differing(vec![fact("", "b\u{e9}\n"), fact("a", "a")]);
        assert_eq!(facts(&told), [("x", "unknown", "b\u{e9}\\n")]);
    }

    #[test]
    fn a_quota_that_could_not_be_read_is_not_none() {
        let of = |cpu_quota, cpu_quota_known| {
            quota(&Conditions { cpu_quota, cpu_quota_known, ..Conditions::default() })
        };
        assert_eq!(of(Some(1.5), true).as_deref(), Some("1.5"));
        assert_eq!(of(None, true).as_deref(), Some("none"));
        assert_eq!(of(None, false), None);
    }

    #[test]
    fn a_boot_is_told_by_eight_letters() {
        let boot_id = Some("7b0b5bb8-9b7e".to_owned());
        assert_eq!(boot(&Conditions { boot_id, ..Conditions::default() }), "7b0b5bb8");
        assert_eq!(boot(&Conditions::default()), "unknown");
    }

    #[test]
    fn results_without_a_figure_in_common_have_nothing_to_say_of_each_other() {
        let figure = |id: &str, status: &str| -> Figure {
            serde_json::from_value(serde_json::json!({
                "id": id, "family": "", "title": "", "operation": "", "operations_per_iteration": 1,
                "call_path": "libc", "group": "", "status": status,
            }))
            .expect("a figure")
        };
        let of = |status: &str, is_counted: bool, has_bill: bool| {
            let begun = std::time::UNIX_EPOCH;
            let mut result =
                RunResult::begun(begun, Default::default(), Machine::default(), Default::default());
            result.figures = vec![figure("a", status), figure(status, "measured")];
            result.conditions.emulation = is_counted.then(Default::default);
            result.bill = has_bill.then(Default::default);
            result
        };
        let told = |status: &str, is_counted: bool, has_bill: bool| {
            let (a, b) = (of("measured", is_counted, has_bill), of(status, is_counted, has_bill));
            assert_eq!(apart(&a, &b), apart(&b, &a));
            apart(&a, &b)
        };
        assert_eq!(
            (told("measured", false, false), told("failed", false, false)),
            (None, Some(NOTHING_IN_COMMON))
        );
        assert_eq!((told("failed", true, false), told("failed", false, true)), (None, None));
        assert_eq!(told("unsupported", true, false), Some(NOTHING_IN_COMMON));
        let (times, counts, bill) =
            (of("measured", false, false), of("measured", true, false), of("measured", false, true));
        assert_eq!((apart(&times, &counts), apart(&bill, &times)), (Some(COUNT), Some(BILL)));
    }
}
