//! What else differs between two results: the machine, conditions, evidence, figures on one side only.

use crate::written::{Says, style};
use oscost_report::Named;
use oscost_report::compare::{Rules, Verdict, compare, compare_sides, comparison as shown, incomparable};
use oscost_results::{Expectation, Mark, RunResult};

use super::{against, figure_mut, named, on_one_cpu, scaled, stored, verdict};

#[test]
fn another_machine_gives_no_ratio_unless_it_is_asked_for() {
    let a = stored();
    let mut b = scaled(stored(), "clock/monotonic", 1.5);
    b.machine.cpu_model = "another one".into();
    let named = |result| Named { name: "x", result };
    let silent = compare(&named(&a), &named(&b), Rules::default());
    assert!(silent.rows.iter().all(|row| row.change.is_none() && row.verdict == Verdict::Unclear));
    assert!(silent.pairs.is_empty());
    assert_eq!(silent.machine[0].what, "processor");
    let told = compare(&named(&a), &named(&b), Rules { cross_machine: true, ..Rules::default() });
    assert_eq!(verdict(&told, "clock/monotonic"), Verdict::Slower);
    assert!(told.warnings[0].contains("--cross-machine"));
}

/// A machine on which everything takes this many times as long, by its core alone: cycles stay what they were, and are judged.
pub fn of_another_core(factor: f64) -> RunResult {
    let mut result = stored();
    for figure in &mut result.figures {
        for launch in &mut figure.launches {
            launch.chain_ns = launch.chain_ns.map(|ns| ns * factor);
            launch.quantities.values_mut().for_each(|value| *value *= factor);
            // Of no scatter at all, which is chosen where it may be.
            if launch.quantities.contains_key("quiet") {
                launch.quantities.insert("cycles".into(), 400.0);
            }
        }
        if figure.judged == "quiet" {
            figure.judged = "cycles".into();
        }
    }
    result
}

/// Two machines never share a boot, and most of their figures differ. The user knows of two that are alike.
#[test]
fn a_machine_that_is_slower_in_everything_is_called_slower() {
    let a = of_another_core(1.0);
    for model in [a.machine.cpu_model.as_str(), "another one"] {
        let mut b = of_another_core(2.0);
        b.machine.cpu_model = model.into();
        b.machine.host = Some("there".into());
        b.conditions.boot_id = Some("its boot".into());
        let named = |result| Named { name: "x", result };
        let told = compare(&named(&a), &named(&b), Rules { cross_machine: true, ..Rules::default() });
        let on_one_cpu = on_one_cpu(&told);
        assert!(
            on_one_cpu.clone().all(|row| row.verdict == Verdict::Slower && row.quantity != "cycles"),
            "{model}: {:?}",
            on_one_cpu.collect::<Vec<_>>()
        );
        assert!(told.warnings[0].contains("--cross-machine"), "{:?}", told.warnings);
        let silent = compare(&named(&a), &named(&b), Rules::default());
        assert_eq!(silent.of(Verdict::Slower).count(), 0, "{model}");
    }
}

/// Each of two machines is judged by the runs that were made there, of however many boots.
#[test]
fn several_runs_of_each_machine_are_judged_as_they_were_found() {
    let side = |boots: [&str; 3], model: &str, factor: f64| {
        let runs = boots.into_iter().zip([1.0, 1.001, 0.999]).map(|(boot, scatter)| {
            let mut result = scaled(stored(), "clock/monotonic", factor * scatter);
            result.machine.cpu_model = model.into();
            result.conditions.boot_id = Some(boot.into());
            result
        });
        named(runs.collect())
    };
    let rules = Rules { cross_machine: true, ..Rules::default() };
    for (of_a, of_b) in [
        (["a", "a", "a"], ["b", "b", "b"]),
        (["a", "a", "c"], ["b", "d", "d"]),
        (["a", "c", "e"], ["b", "b", "b"]),
        (["a", "c", "e"], ["b", "d", "f"]),
    ] {
        for model in ["one", "another"] {
            let told = compare_sides(&side(of_a, "one", 1.0), &side(of_b, model, 2.0), rules).unwrap();
            assert_eq!(verdict(&told, "clock/monotonic"), Verdict::Slower, "{of_a:?} {of_b:?} {model}");
            assert!(told.warnings.iter().all(|it| !it.contains("a side")), "{:?}", told.warnings);
        }
    }
}

/// Of one boot there is one machine: who asks for two is told so, and nobody else is.
#[test]
fn two_machines_of_one_boot_are_told_to_be_one() {
    let mut b = stored();
    let warned = |b: &RunResult, cross_machine: bool| {
        let sides = (named(vec![stored()]), named(vec![b.clone()]));
        let told = compare(&sides.0[0], &sides.1[0], Rules { cross_machine, ..Rules::default() });
        told.warnings.iter().filter(|it| it.contains("--cross-machine")).cloned().collect::<Vec<String>>()
    };
    assert_eq!(warned(&b, false), Vec::<String>::new());
    assert_eq!(warned(&b, true).len(), 1);
    assert!(warned(&b, true)[0].starts_with("there are results of one boot on both sides"));
    b.conditions.boot_id = Some("another".into());
    assert!(warned(&b, true)[0].starts_with("judged as two machines"), "{:?}", warned(&b, true));
}

/// Another one in two facts.
fn silent_machine() -> oscost_results::Machine {
    oscost_results::Machine { cpu_model: "another one".into(), cpus: 64, ..stored().machine }
}

/// Sides of several results: each of them is looked at.
#[test]
fn one_result_of_another_machine_or_another_kernel_is_found_on_its_side() {
    let sides = |change: &dyn Fn(&mut RunResult), rules: Rules<'_>| {
        let mut after = vec![scaled(stored(), "clock/monotonic", 1.5); 3];
        change(&mut after[2]);
        let after: Vec<Named<'_>> =
            named(after).into_iter().map(|of| Named { name: "3 results after", ..of }).collect();
        compare_sides(&named(vec![stored(); 3]), &after, rules).unwrap()
    };
    let elsewhere = |b: &mut RunResult| b.machine.cpu_model = "another one".into();
    let silent = sides(&elsewhere, Rules::default());
    assert!(silent.rows.iter().all(|row| row.change.is_none() && row.verdict == Verdict::Unclear));
    assert_eq!(silent.machine[0].what, "processor");
    let asked = sides(&elsewhere, Rules { cross_machine: true, ..Rules::default() });
    assert_eq!(verdict(&asked, "clock/monotonic"), Verdict::Slower);
    let warned = |change: &dyn Fn(&mut RunResult)| sides(change, Rules::default()).warnings;
    let differ = "the 3 results after differ among themselves in";
    assert!(warned(&|b| b.conditions.kernel = "Linux 99".into()).contains(&format!("{differ} kernel")));
    assert!(warned(&|b| b.partial = true).contains(&format!("{differ} completeness")));
    let silent_of = |warnings: Vec<String>| warnings.iter().all(|it| !it.contains("among themselves"));
    assert!(silent_of(warned(&|_| ())));
    let of_figures = |b: &mut RunResult| b.figures[0].marks.extend([Mark::Shared, Mark::BusySibling]);
    assert!(silent_of(warned(&of_figures)), "what differs from figure to figure is looked at there");
    let all_elsewhere = vec![RunResult { machine: silent_machine(), ..stored() }; 3];
    let named_alike =
        compare_sides(&named(vec![stored(); 3]), &named(all_elsewhere), Rules::default()).unwrap();
    let whats: Vec<&str> = named_alike.machine.iter().map(|it| it.what).collect();
    assert_eq!(whats, ["processor", "CPUs"], "each fact once");
    let mut last_elsewhere = vec![stored(); 3];
    last_elsewhere[2].machine = silent_machine();
    let told = compare_sides(&named(last_elsewhere), &named(vec![stored(); 3]), Rules::default()).unwrap();
    let facts = (told.machine[0].a.as_str(), told.machine[0].b.as_str());
    assert_eq!(facts, ("AMD EPYC", "another one"), "each is held against the first of all");
}

#[test]
fn evidence_conditions_and_one_sided_figures_are_named() {
    let a = stored();
    let mut b = stored();
    let figure = figure_mut(&mut b);
    figure.evidence.system_calls.insert("clock_gettime".into(), 1.0);
    b.conditions.kernel = "Linux 99".into();
    b.tool.build_id = "another".into();
    b.figures.retain(|figure| figure.id != "clock/monotonic_syscall");
    let comparison = against(&a, &b);
    let evident = &comparison.evidence[0];
    assert_eq!(
        (&*evident.id, &*evident.what, evident.a, evident.b),
        ("clock/monotonic", "calls of clock_gettime", 0.0, 1.0)
    );
    assert!(comparison.conditions.iter().any(|it| it.what == "kernel" && it.b == "Linux 99"));
    assert!(comparison.warnings.iter().any(|warning| warning.contains("builds differ")));
    assert!(
        comparison.one_sided.iter().any(|one| one.id == "clock/monotonic_syscall" && one.b == "not there")
    );
}

/// musl's semaphores are not glibc's: what costs more is judged, and nobody is left to think that the machine changed.
#[test]
fn another_c_library_is_named_wherever_figures_are_judged() {
    let a = stored();
    let of = |libc: &str| {
        let mut b = scaled(stored(), "clock/monotonic", 1.5);
        b.tool.libc = libc.into();
        b
    };
    assert_eq!(a.tool.libc, "glibc 2.36");
    for libc in ["musl (inside the program)", "glibc 2.41", "glibc 2.36 (inside the program)"] {
        let b = of(libc);
        let comparison = against(&a, &b);
        let named = |what: &str| comparison.conditions.iter().find(|it| it.what == what);
        let differs = named("C library").unwrap_or_else(|| panic!("{:?}", comparison.conditions));
        assert_eq!((differs.a.as_str(), differs.b.as_str()), ("glibc 2.36", libc));
        assert_eq!(verdict(&comparison, "clock/monotonic"), Verdict::Slower, "METHOD.md: it is judged");
        let warning = comparison.warnings.iter().find(|it| it.starts_with("the C libraries differ"));
        let warning = warning.unwrap_or_else(|| panic!("{:?}", comparison.warnings));
        assert!(
            warning.contains(libc) && warning.contains("semaphores") && warning.contains("no regression")
        );
        // Every format shows it.
        let mut screen = Vec::new();
        shown(&comparison, &style(200, false), &mut screen).unwrap();
        String::from_utf8(screen).unwrap().says("C libraries differ").says("C library");
    }
    let alike = of("glibc 2.36");
    let same = against(&a, &alike);
    assert!(same.conditions.iter().all(|it| it.what != "C library"));
    assert!(!same.warnings.iter().any(|it| it.contains("C libraries")));
    assert_eq!(incomparable(&a, &of("musl")), None, "it is shown as what users change");
}

/// An audit of what blocks counts a little more or less each time; a call more is still seen.
#[test]
fn counts_inside_claimed_bounds_are_no_news() {
    let with = |futexes: f64| {
        let mut result = stored();
        let figure =
            result.figures.iter_mut().find(|figure| figure.id == "context_switch/pipe/same_cpu").unwrap();
        figure.evidence.audit_method = Some("seccomp user notification".into());
        figure.evidence.system_calls.insert("futex".into(), futexes);
        figure.evidence.claims[0].expected = Expectation::Between { at_least: 1.9, at_most: 2.1 };
        result
    };
    let seen = |a, b| against(&with(a), &with(b)).evidence.len();
    assert_eq!([seen(1.93, 2.05), seen(1.0, 2.0), seen(0.0, 1.0)], [0, 1, 1]);
    // A bound that leaves more open leaves more unsaid: this was told as a change once.
    let open = |futexes: f64| {
        let mut result = with(futexes);
        let figure =
            result.figures.iter_mut().find(|figure| figure.id == "context_switch/pipe/same_cpu").unwrap();
        let mut claim = figure.evidence.claims[0].clone();
        claim.claim = "system_calls:futex".into();
        claim.expected = Expectation::Between { at_least: 0.0, at_most: 1.0 };
        figure.evidence.claims.push(claim);
        figure.evidence.claims[0].expected = Expectation::Between { at_least: 1.0, at_most: 4.0 };
        result
    };
    let seen = |a, b| against(&open(a), &open(b)).evidence.len();
    assert_eq!([seen(-0.07, 0.52), seen(0.0, 1.0), seen(0.0, 1.5)], [0, 0, 1]);
    let exactly = |calls: f64| {
        let mut result = stored();
        figure_mut(&mut result).evidence.system_calls.insert("clock_gettime".into(), calls);
        result
    };
    assert_eq!(against(&exactly(1.0), &exactly(1.01)).evidence.len(), 1, "one call in a hundred operations");
}

/// What differs around two results, by name.
fn differences(change: impl Fn(&mut RunResult)) -> Vec<String> {
    let (a, mut b) = (stored(), stored());
    change(&mut b);
    let comparison = against(&a, &b);
    comparison
        .conditions
        .iter()
        .map(|differs| format!("{}: {} -> {}", differs.what, differs.a, differs.b))
        .collect()
}

#[test]
fn how_the_program_was_run_is_told_where_it_differs() {
    let preload = |libraries: &[&str]| Some(libraries.iter().map(|&it| it.to_owned()).collect());
    let told = differences(|b| {
        b.conditions.nice = Some(5);
        b.conditions.policy = Some("batch".into());
        b.conditions.preload = preload(&["libfake.so", "libm.so.6"]);
        b.conditions.seccomp_filters = Some(2);
        b.conditions.cpu_option = Some("1".into());
        b.conditions.idle_cpu = Some("poll".into());
        b.figures[0].evidence.tracer_pid = Some(0);
        b.figures[1].evidence.tracer_pid = Some(7);
        b.figures[2].evidence.tracer_pid = Some(1);
        b.figures[0].marks.push(Mark::Shared);
    });
    assert_eq!(
        told,
        [
            "seccomp filters: unknown -> 2",
            "nice value: unknown -> 5",
            "scheduling policy: unknown -> batch",
            "interposed libraries: unknown -> libfake.so, libm.so.6",
            "--cpu: not given -> 1",
            "idle CPUs: unknown -> poll",
            "tracer: unknown -> process 7",
            "shared CPU: 0 figures -> 1 figure",
        ]
    );
    let usual = differences(|b| {
        b.conditions.nice = Some(0);
        b.conditions.policy = Some("other".into());
        b.conditions.preload = preload(&[]);
        b.conditions.seccomp_filters = Some(0);
        b.conditions.idle_cpu = Some("halt".into());
        b.figures[0].evidence.tracer_pid = Some(0);
    });
    assert_eq!(
        usual,
        Vec::<String>::new(),
        "an older result does not tell these: the usual is no difference"
    );
}

/// A kernel takes a little of the memory for itself: the same machine may show up to a twentieth less.
#[test]
fn a_little_memory_makes_no_other_machine() {
    let machines = |of_a: Option<u64>, of_b: Option<u64>| {
        let (mut a, mut b) = (stored(), stored());
        (a.machine.memory_bytes, b.machine.memory_bytes) = (of_a, of_b);
        let told = against(&a, &b).machine;
        told.into_iter()
            .map(|differs| format!("{}: {} -> {}", differs.what, differs.a, differs.b))
            .collect::<Vec<_>>()
    };
    let mib = |mib: u64| Some(mib << 20);
    let none = Vec::<String>::new();
    for (a, b) in [(mib(2000), mib(1900)), (mib(1900), mib(2000)), (mib(2000), None), (None, mib(2000))] {
        assert_eq!(machines(a, b), none, "{a:?} {b:?}");
    }
    assert_eq!(machines(mib(2000), mib(1899)), ["memory: 2000 MiB -> 1899 MiB"]);
    assert_eq!(machines(mib(1000), mib(2000)), ["memory: 1000 MiB -> 2000 MiB"]);
}

#[test]
fn a_core_of_another_speed_is_told_with_its_direction() {
    let warned = |speed: f64| {
        let (a, mut b) = (stored(), stored());
        for launch in b.figures.iter_mut().flat_map(|figure| &mut figure.launches) {
            launch.chain_ns = launch.chain_ns.map(|ns| ns * speed);
        }
        against(&a, &b).warnings
    };
    assert_eq!(warned(1.05), ["the core ran 5.0 % slower in after"]);
    assert_eq!(warned(0.95), ["the core ran 5.0 % faster in after"]);
    assert_eq!(warned(1.009), Vec::<String>::new());
    let partial = |of_a: bool| {
        let (mut a, mut b) = (stored(), stored());
        (a.partial, b.partial) = (of_a, !of_a);
        against(&a, &b).warnings
    };
    let ended = |name: &str| [format!("{name}: ended early, so figures rest on fewer launches")];
    assert_eq!((&partial(true)[..], &partial(false)[..]), (&ended("before")[..], &ended("after")[..]));
}
