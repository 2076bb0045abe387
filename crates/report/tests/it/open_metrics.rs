//! What OpenMetrics has of a result, by the strict reader of the corpora.

use crate::any_result::metrics::{Family, Labels, read};
use crate::fixture;

use std::collections::{BTreeMap, BTreeSet};

use oscost_report::{Named, open_metrics};
use oscost_results::{RunResult, Untrusted};

fn written(results: &[Named<'_>]) -> String {
    crate::written::written(|out| open_metrics(results, out))
}

fn value(families: &BTreeMap<String, Family>, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let wanted: Labels =
        labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    families.get(name)?.samples.iter().find(|(labels, _)| *labels == wanted).map(|(_, value)| *value)
}

#[test]
fn every_number_of_a_result_is_there_once() {
    let result = fixture::result();
    let families = read(&written(&[Named { name: "x", result: &result }]));
    let posix = [("id", "semaphore/posix_named"), ("quantity", "floor")];
    let [low, floor, high] = ["low_", "", "high_"]
        .map(|bound| value(&families, &format!("oscost_figure_{bound}seconds"), &posix).unwrap());
    let estimate =
        result.figures.iter().find(|figure| figure.id == posix[0].1).unwrap().quantities["floor"].estimate;
    assert!((floor - estimate.value * 1e-9).abs() < 1e-18 && low < floor && floor < high);
    assert_eq!(families["oscost_figure_seconds"].unit.as_deref(), Some("seconds"));
    let calls = [("id", "semaphore/system_v")];
    assert_eq!(value(&families, "oscost_figure_system_calls", &calls), Some(2.0));
    assert_eq!(value(&families, "oscost_figure_checked", &calls), Some(1.0));
    let state = [("id", "syscall/getpid_libc"), ("state", "contradicted")];
    assert_eq!(value(&families, "oscost_figure_state", &state), Some(1.0));
    let pair = [("of", "semaphore/system_v"), ("to", "semaphore/posix_named"), ("quantity", "paired")];
    assert_eq!(value(&families, "oscost_paired_ratio", &pair), Some(163.1));
    assert_eq!(value(&families, "oscost_result_started_seconds", &[]), Some(1_795_216_445.0));
    assert_eq!(families["oscost_figure_state"].samples.len(), result.figures.len());
    assert_eq!(families["oscost_doctor_check"].samples.len(), result.doctor.len());
    // A figure that is withheld has no numbers.
    let withheld =
        |(labels, _): &(Labels, f64)| labels.get("id").is_some_and(|id| id == "syscall/getpid_libc");
    assert!(!families["oscost_figure_seconds"].samples.iter().any(withheld));
}

#[test]
fn series_go_on_from_run_to_run_and_several_results_are_told_apart() {
    let result = fixture::result();
    let mut later = result.clone();
    later.started = "2027-01-01T00:00:00Z".into();
    later.plan.seed = 8;
    let keys = |result: &RunResult| {
        let families = read(&written(&[Named { name: "any", result }]));
        let keys = families.into_iter().flat_map(|(name, family)| {
            family.samples.into_iter().map(move |(labels, _)| (name.clone(), labels)).collect::<Vec<_>>()
        });
        keys.collect::<BTreeSet<_>>()
    };
    assert_eq!(keys(&result), keys(&later));
    let both = read(&written(&[Named { name: "a", result: &result }, Named { name: "b", result: &later }]));
    assert_eq!(value(&both, "oscost_result_duration_seconds", &[("result", "b")]), Some(52.0));
    assert_eq!(both["oscost_figure_state"].samples.len(), 2 * result.figures.len());
}

#[test]
fn hostile_text_and_numbers_stay_within_their_labels() {
    let mut result = fixture::result();
    let texts =
        ["a\"} 1\nowned 1 #", "\\", "\\\"", "\u{1b}[2J\u{202e}", "a\nb", "{}", "# EOF", "\u{0}", "é漢🦀", ""];
    for (figure, text) in result.figures.iter_mut().zip(texts.iter().cycle()) {
        figure.id = (*text).to_owned();
        figure.quantities.values_mut().for_each(|quantity| quantity.unit = (*text).to_owned());
        if let Some(quantity) = figure.quantities.values_mut().next() {
            quantity.estimate.value = f64::NAN;
            quantity.estimate.high = f64::INFINITY;
        }
    }
    result.machine.cpu_model = texts[0].to_owned();
    result.started = texts[0].to_owned();
    result.doctor[0].check = texts[0].to_owned();
    let families = read(&written(&[Named { name: texts[0], result: &result }]));
    assert!(!families.contains_key("owned"));
    let shown = r#"a"} 1\nowned 1 #"#;
    assert_eq!(families["oscost_result"].samples[0].0["cpu_model"], shown);
    assert!(!families.contains_key("oscost_result_started_seconds"));
    let ids = families["oscost_figure_state"].samples.iter().map(|(labels, _)| labels["id"].clone());
    let told = result.figures.iter().map(|it| Untrusted::new(&it.id).terminal().to_string());
    assert_eq!(ids.collect::<BTreeSet<_>>(), told.collect::<BTreeSet<_>>());
}
