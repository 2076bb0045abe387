//! Generates arbitrary results: any text in any field, any number, any combination.

use oscost_results::{
    Answer, AnswerHere, CellAxis, CellSeries, Check, CheckState, CheckedClaim, Conditions, Counted,
    ESTIMATORS, Estimate, Evidence, Expectation, FORMAT, Figure, FunctionNode, Histogram, InstructionCount,
    Judgement, LaunchRecord, Machine, Mark, Mode, PairedValue, Plan, PublishedAnswer, Quantity, Repeats,
    Reproduction, RunResult, Status, Tool, VERSION, Verdict, Witness,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Text as nobody wrote it: controls, direction marks, markup, wide letters, nothing at all.
pub fn text() -> BoxedStrategy<String> {
    let nasty = "\0\t\n\r\x1b\x7f\u{85}\u{202e}\u{2028}\u{feff}<>&\"'`=+-@;,|\\*_[]()#!~$ /.1aé漢🦀".chars();
    let letter = prop_oneof![3 => select(nasty.collect::<Vec<_>>()), 1 => any::<char>()];
    prop_oneof![
        vec(letter, 0..40).prop_map(|letters| letters.into_iter().collect::<String>()),
        select(vec!["", "a/b", "a/c", "floor", "ns", "count", "share", "ratio", "paired", "typical", "tlpi"])
            .prop_map(str::to_owned),
        "[a-z_/]{0,120}",
    ]
    .boxed()
}

fn number() -> BoxedStrategy<f64> {
    prop_oneof![4 => any::<f64>(), 2 => -1e4..1e4, 1 => select(vec![0.0, -0.0, f64::NAN, f64::MAX, f64::MIN_POSITIVE])]
        .boxed()
}

fn estimate() -> impl Strategy<Value = Estimate> {
    (number(), number(), number(), any::<bool>()).prop_map(|(value, low, high, extremes)| Estimate {
        value,
        low,
        high,
        extremes,
    })
}

fn quantity() -> impl Strategy<Value = Quantity> {
    (estimate(), text()).prop_map(|(estimate, unit)| Quantity { estimate, unit, unknown: Default::default() })
}

fn launch() -> impl Strategy<Value = LaunchRecord> {
    let first = prop_oneof![any::<i32>(), -1000..1000_i32];
    let count = || prop_oneof![Just(0), 0..100_u64, any::<u64>()];
    let histogram = option::of((first, vec(count(), 0..9)));
    let names = select(vec!["client_1", "client_2", "client_10", "load", "x"]).prop_map(str::to_owned);
    let tracks = btree_map(names, vec(number(), 0..30), 0..4);
    (histogram, count(), option::of(number()), btree_map(text(), number(), 0..3), tracks).prop_map(
        |(histogram, iterations, canary_ns, quantities, tracks)| LaunchRecord {
            tracks,
            histogram: histogram.map(|(first, counts)| Histogram { first, counts, ..Histogram::default() }),
            iterations,
            canary_ns,
            quantities,
            ..LaunchRecord::default()
        },
    )
}

/// An id that a view tells, with whatever numbers.
fn viewed() -> impl Strategy<Value = String> {
    let number = || prop_oneof![3 => 0..12_u32, 1 => any::<u32>()];
    let transport = select(vec!["unix_datagram", "futex_broadcast", "pipe", "x"]);
    let rest = select(vec!["", "/tick_10ms", "/tick_0ms", "/size_64", "/load_cpu", "/load_x/size_64"]);
    prop_oneof![
        (transport, select(vec!["same_cpu", "spread"]), number(), rest).prop_map(
            |(transport, place, clients, rest)| format!(
                "realtime_ipc/{transport}/{place}/clients_{clients}{rest}"
            )
        ),
        (select(vec!["semaphore/system_v", "semaphore/posix_named", "lock/none", "lock/x"]), number())
            .prop_map(|(lock, hold)| format!("{lock}/contended/processes_4/hold_us_{hold}/think_0")),
        (select(vec!["none", "coarse_fcntl", "fine_fcntl"]), number()).prop_map(|(lock, processes)| format!(
            "record_database/book/seek/{lock}/processes_{processes}/x"
        )),
    ]
}

/// Quantities that views look for.
const QUANTITIES: &[&str] = &[
    "time_per_operation",
    "fairness",
    "longest_wait",
    "owner_change_share",
    "lost_updates",
    "last_p50",
    "last_p99",
    "last_max",
    "latency_max",
    "client_service",
    "dispatch_load",
    "server_cpu",
    "reversed_share",
    "range_window",
];

fn evidence() -> impl Strategy<Value = Evidence> {
    let expected = prop_oneof![
        number().prop_map(Expectation::Exactly),
        (number(), number()).prop_map(|(at_least, at_most)| Expectation::Between { at_least, at_most })
    ];
    let kind = prop_oneof![Just("system_calls".to_owned()), text()];
    let claim = (kind, expected, option::of(number()), option::of(any::<bool>())).prop_map(
        |(claim, expected, observed, holds)| CheckedClaim {
            claim,
            expected,
            observed,
            holds,
            unknown: Default::default(),
        },
    );
    let verdict = select(vec![Verdict::Checked, Verdict::Contradicted, Verdict::Unchecked, Verdict::Unknown]);
    let counts = (any::<u32>(), any::<u32>(), any::<u64>());
    (
        verdict,
        vec(claim, 0..3),
        option::of(text()),
        btree_map(text(), number(), 0..3),
        option::of(text()),
        option::of(number()),
        counts,
    )
        .prop_map(|(verdict, claims, audit_method, system_calls, audit_missing, clean_share, counts)| {
            Evidence {
                verdict,
                claims,
                audit_method,
                system_calls,
                audit_missing,
                clean_share,
                launches: counts.0,
                void_launches: counts.1,
                void_batches: counts.2,
                ..Evidence::default()
            }
        })
}

/// Trees of any shape: depths that no tree has, sums that no number holds.
fn counted() -> impl Strategy<Value = InstructionCount> {
    let own = prop_oneof![3 => 0_u64..5000, 1 => any::<u64>()];
    let node = (prop_oneof![3 => 0_u32..6, 1 => any::<u32>()], vec(text(), 2), own, any::<u64>());
    let node = node.prop_map(|(depth, names, own, calls)| {
        let [name, place] = names.try_into().unwrap();
        FunctionNode { depth, name, place, calls, own, repeated: own / 2, unknown: Default::default() }
    });
    let values = vec((any::<u64>(), any::<u32>()), 0..4);
    let values = values.prop_map(|values| {
        values.into_iter().map(|(instructions, times)| Counted { instructions, times }).collect()
    });
    let repeats = select(vec![Repeats::Constant, Repeats::Reproducible, Repeats::Varies, Repeats::Unknown]);
    (repeats, values, vec(node, 0..9), option::of(text())).prop_map(|(repeats, values, functions, why)| {
        InstructionCount { repeats, values, boots: 2, frame: 0, why, functions, unknown: Default::default() }
    })
}

fn figure() -> impl Strategy<Value = Figure> {
    let names = (vec(text(), 8), option::of(viewed())).prop_map(|(mut names, id)| {
        if let Some(id) = id {
            // A view is of a family.
            names[1] = id.split('/').next().unwrap_or_default().to_owned();
            names[0] = id;
        }
        names
    });
    let known = select(QUANTITIES.to_vec()).prop_map(str::to_owned);
    let quantities = btree_map(prop_oneof![text(), known], quantity(), 0..9);
    let status = select(vec![
        Status::Measured,
        Status::Measured,
        Status::Unsupported,
        Status::Failed,
        Status::Contradicted,
        Status::Withdrawn,
        Status::Unknown,
    ]);
    let marks = vec(select(Mark::ALL.into_iter().chain([Mark::Unknown]).collect::<Vec<_>>()), 0..4);
    let modes = vec((number(), number()), 0..3);
    let said = (option::of(text()), option::of(text()), vec(text(), 0..3), option::of(counted()));
    (names, status, marks, quantities, modes, vec(launch(), 0..3), evidence(), said).prop_map(
        |(names, status, marks, quantities, modes, launches, evidence, said)| {
            let [id, family, title, operation, call_path, group, placement, headline] =
                names.try_into().unwrap();
            let modes = modes.into_iter();
            Figure {
                id,
                revision: 1,
                family,
                title,
                heading: String::new(),
                operation,
                operations_per_iteration: 0,
                call_path,
                group,
                placement,
                document: None,
                status,
                marks,
                headline,
                judged: String::new(),
                quantities,
                modes: modes
                    .map(|(value, share)| Mode { value, share, unknown: Default::default() })
                    .collect(),
                parameters: Default::default(),
                traits: None,
                launches,
                count: said.3,
                percentiles: None,
                evidence,
                why: said.0,
                remedy: said.1,
                remarks: said.2,
                remark_codes: Vec::new(),
                unknown: Default::default(),
            }
        },
    )
}

fn pair() -> impl Strategy<Value = PairedValue> {
    (vec(text(), 4), option::of(number()), option::of(number()), option::of(number()), option::of(text()))
        .prop_map(|(names, value, low, high, why)| {
            let [of, to, quantity, unit] = names.try_into().unwrap();
            PairedValue { of, to, quantity, unit, value, low, high, why, ..PairedValue::default() }
        })
}

fn reproduction() -> impl Strategy<Value = Reproduction> {
    let verdict = select(vec![
        Judgement::Holds,
        Judgement::HoldsInPart,
        Judgement::DoesNotHold,
        Judgement::Unclear,
        Judgement::NotTestableHere,
        Judgement::ItsMachine,
        Judgement::NotJudged,
        Judgement::Unknown,
    ]);
    let texts = (option::of(text()), option::of(text()), option::of(text()), vec(option::of(text()), 3));
    let numbers = (option::of(number()), option::of(number()), option::of(estimate()));
    // Few names, so that tables have several rows and columns.
    let name =
        || prop_oneof![2 => select(vec!["a", "b", "1 000", "clock"]).prop_map(str::to_owned), 1 => text()];
    let axis = option::of((0_u64..4, name(), any::<bool>()).prop_map(|(at, counts, lost)| CellAxis {
        at,
        counts,
        lost,
    }));
    let key = select(vec!["none", "coarse", "fine"]).prop_map(str::to_owned);
    let series = option::of(
        (prop_oneof![2 => key, 1 => text()], name()).prop_map(|(key, title)| CellSeries { key, title }),
    );
    let heading = option::of((name(), name()).prop_map(|(above, below)| [above, below]));
    let cell = (name(), name(), name(), heading, axis, series).prop_map(
        |(table, row, column, heading, axis, series)| oscost_results::Cell {
            table,
            row,
            column,
            heading,
            axis,
            series,
        },
    );
    let more = (option::of(verdict), option::of(cell), any::<bool>());
    let names = (vec(text(), 4), any::<bool>()).prop_map(|(mut names, known)| {
        if known {
            names[0] = "apue".to_owned();
            names[2] = "s".to_owned();
        }
        names
    });
    (names, texts, numbers, more).prop_map(|(names, texts, numbers, (verdict, cell, ours))| {
        let [document, place, unit, because] = names.try_into().unwrap();
        let [published_words, literal_words, measured_words] = texts.3.try_into().unwrap();
        Reproduction {
            document,
            place,
            cell,
            statement: texts.0,
            ours,
            published: numbers.0,
            unit,
            literal: numbers.1,
            published_words,
            literal_words,
            measured_words,
            figure_id: texts.1,
            quantity: texts.2,
            measured: numbers.2,
            verdict,
            because,
            unknown: Default::default(),
        }
    })
}

/// A question of a document; some are those that pictures ask for.
fn answer() -> impl Strategy<Value = Answer> {
    let document = prop_oneof![select(vec!["grame", "tlpi"]).prop_map(str::to_owned), text()];
    let key = prop_oneof![select(vec!["mean", "busy_peak"]).prop_map(str::to_owned), text()];
    let published = (number(), text()).prop_map(|(value, station)| PublishedAnswer { value, station });
    let measured =
        estimate().prop_map(|it| AnswerHere::Measured { value: it.value, low: it.low, high: it.high });
    let literal = number().prop_map(|value| AnswerHere::Literal { value });
    let here = option::of(prop_oneof![measured, literal, Just(AnswerHere::Unknown)]);
    (document, key, vec(text(), 5), vec(published, 0..3), here).prop_map(
        |(document, key, texts, published, here)| {
            let [question, unit, finding, why, remark] = texts.try_into().unwrap();
            let finding = format!("{finding} {{here}} {{there}}");
            let bare = Answer { document, key, question, unit, ..Answer::default() };
            Answer { published, here, finding, why, remark, ..bare }
        },
    )
}

fn check() -> impl Strategy<Value = Check> {
    let state = select(vec![CheckState::Fine, CheckState::Disturbs, CheckState::Unknown]);
    (vec(text(), 3), state, option::of(text())).prop_map(|(names, state, remedy)| {
        let [check, says, matters] = names.try_into().unwrap();
        Check { check, state, says, matters, unfit: false, remedy, unknown: Default::default() }
    })
}

/// Few ids, so that two results have some of them in common, and enough of them for what they say.
fn witnesses() -> impl Strategy<Value = Vec<Witness>> {
    let values = vec(number(), 0..6);
    let one = (0_u8..12, select(vec!["one_cpu", "cross_cpu"]), any::<bool>(), values).prop_map(
        |(id, placement, enters_kernel, values)| Witness {
            id: format!("w{id}"),
            placement: placement.to_owned(),
            enters_kernel,
            launches: [("floor".to_owned(), values)].into(),
            ..Witness::default()
        },
    );
    vec(one, 0..16)
}

pub fn result() -> impl Strategy<Value = RunResult> {
    let parts = (
        vec(figure(), 0..5),
        vec(pair(), 0..4),
        vec(pair(), 0..3),
        vec(reproduction(), 0..9),
        vec(check(), 0..4),
        vec(answer(), 0..4),
        witnesses(),
    );
    let texts = (vec(text(), 6), option::of(text()), option::of(text()), vec(text(), 0..3));
    (parts, texts, option::of(number()), any::<bool>(), any::<u32>()).prop_map(
        |(parts, texts, step, partial, cpus)| {
            let [version, libc, cpu_model, kernel, started, format] = texts.0.try_into().unwrap();
            RunResult {
                format: if format.is_empty() { FORMAT.to_owned() } else { format },
                version: VERSION,
                estimators: ESTIMATORS,
                partial,
                started,
                duration_ns: 0,
                note: texts.1,
                tool: Tool { version, libc, ..Tool::default() },
                machine: Machine { cpu_model, hypervisor: texts.2, cpus, ..Machine::default() },
                conditions: Conditions { kernel, clock_step_ns: step, ..Conditions::default() },
                plan: Plan::default(),
                figures: parts.0,
                ratios: parts.1,
                differences: parts.2,
                witnesses: parts.6,
                reproductions: parts.3,
                bill: None,
                answers: parts.5,
                doctor: parts.4,
                warnings: texts.3,
                warning_codes: Vec::new(),
                unknown: Default::default(),
            }
        },
    )
}
