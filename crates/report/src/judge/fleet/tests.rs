//! Small fleets, whose hosts are made value by value.

use serde_json::{Value, json};

use super::*;
use oscost_stats::order::{below, seeded};

/// A figure of 100 ns times `factor`, known within this share either way.
fn figure(id: &str, factor: f64, half: f64) -> Value {
    let value = 100.0 * factor;
    json!({
        "id": id, "status": "measured", "headline": "floor", "call_path": "libc",
        "quantities": {"floor": {
            "value": value, "low": value / (1.0 + half), "high": value * (1.0 + half), "unit": "ns",
        }},
        "evidence": {"audit_method": "ptrace", "system_calls": {"call": 1.0}},
    })
}

fn row(figure: Value) -> RowFigure {
    serde_json::from_value(figure).expect("a figure")
}

fn host(name: &str, figures: &[Value]) -> Outline<RowFigure> {
    serde_json::from_value(json!({
        "format": "oscost", "version": 3, "partial": false, "started": "2026-11-20T00:00:00Z",
        "tool": {"version": "0.3.0"}, "conditions": {"kernel": "one"},
        "machine": {"cpu_model": "one", "architecture": "x86_64", "hypervisor": null, "cpus": 4, "host": name},
        "plan": {"effort": "default"}, "figures": figures,
    }))
    .expect("a result")
}

/// A fleet of so many hosts; `of` says how far the figure of each is from the others', and how well it is known.
fn fleet(hosts: u32, of: impl Fn(u32) -> (f64, f64)) -> JudgedFleet {
    let mut fleet = Fleet::default();
    for at in 0..hosts {
        // Evenly within 1 % either way.
        let usual = f64::from(at * 7 % hosts) / f64::from(hosts) * 0.02 - 0.01;
        let (factor, half) = of(at);
        fleet.add(&host(&format!("{at}"), &[figure("a", factor * (1.0 + usual), half)]), "file");
    }
    fleet.judge()
}

fn odd(fleet: &JudgedFleet) -> Vec<&str> {
    fleet.odd.iter().map(|odd| odd.name.as_str()).collect()
}

#[test]
fn a_host_is_odd_in_a_figure_beyond_the_scale_the_tail_and_its_own_error() {
    let of = |far: &'static [u32], factor: f64, half: f64| {
        fleet(40, move |at| if far.contains(&at) { (factor, half) } else { (1.0, 1e-4) })
    };
    let one = of(&[5], 1.3, 1e-4);
    assert_eq!(odd(&one), ["5"]);
    let [finding] = &one.odd[0].findings[..] else { panic!("{:?}", one.odd) };
    assert_eq!(finding.what, OddIn::Figure("a".to_owned()));
    assert!((finding.apart - 0.3).abs() < 0.02 && finding.usual < 0.02, "{finding:?}");
    // As many as the tail has, six and more: that is how these hosts are.
    assert!(odd(&of(&[5, 9, 14, 20, 26, 31, 38], 1.3, 1e-4)).is_empty());
    assert!(odd(&of(&[5], 1.3, 0.4)).is_empty(), "it may lie anywhere");
    assert!(odd(&of(&[5], 1.02, 1e-4)).is_empty());
    let known_alike = fleet(40, |at| (if at == 5 { 1.2 } else { 1.0 }, 0.1));
    assert_eq!(odd(&known_alike), ["5"], "the scale holds the usual error already");
    let (usual, apart) = (&one.groups[0].figures[0].usual, &one.groups[0].figures[0].apart);
    assert_eq!((apart.len(), one.tests, one.groups[0].usual), (40, 40, [None; 2]));
    assert!((usual - finding.usual).abs() < 1e-12);
}

/// Hosts of two figures, which lie within 1 % either way but for these factors.
fn with_two_figures(hosts: u32, factors: impl Fn(u32) -> [f64; 2]) -> JudgedFleet {
    let mut fleet = Fleet::default();
    for at in 0..hosts {
        let usual = |step: u32| 1.0 + f64::from(at * step % hosts) / f64::from(hosts) * 0.02;
        let [a, b] = factors(at);
        let figures = [figure("a", a * usual(7), 0.0), figure("b", b * usual(11), 0.0)];
        fleet.add(&host(&format!("{at:02}"), &figures), "file");
    }
    fleet.judge()
}

/// A fleet of hosts with so many figures, each of which deviates by what `of` makes of an even number from 0 to 1. Host 04 is slow
/// in one figure, by this factor.
fn drawn(hosts: u32, figures: u32, seed: u64, factor: f64, of: impl Fn(f64) -> f64) -> JudgedFleet {
    let mut generator = seeded(seed, 91);
    let mut even = || 1.0 - below(1 << 20, &mut generator) as f64 / f64::from(1 << 20);
    let mut fleet = Fleet::default();
    for at in 0..hosts {
        let figures: Vec<Value> = (0..figures)
            .map(|number| {
                let slow = if at == 4 && number == 3 { factor } else { 1.0 };
                figure(&format!("{number:02}"), slow * of(even()).exp(), 0.0)
            })
            .collect();
        fleet.add(&host(&format!("{at:02}"), &figures), "file");
    }
    fleet.judge()
}

/// A deviation of up to 1 % either way, and of one host in ten one beyond: the longer, the larger this power is.
fn tailed(tail: f64) -> impl Fn(f64) -> f64 {
    move |even| {
        let sign = if even * 1000.0 % 2.0 < 1.0 { 1.0 } else { -1.0 };
        sign * if even < 0.1 { 0.01 * (0.1 / even).powf(tail) } else { 0.01 * (1.0 - even) }
    }
}

/// Of 60 hosts one whose stat cost five times as much was "0.6 % slower", the mean of all, and of 20 it was nowhere.
#[test]
fn a_host_far_beyond_all_others_in_one_figure_is_told_by_it_in_fleets_of_any_size() {
    for (hosts, draws) in [(20, 40), (60, 20), (200, 4)] {
        for seed in 0..draws {
            let fleet = drawn(hosts, 28, seed, 5.0, tailed(0.0));
            let told = fleet.odd.iter().chain(&fleet.unproved).find(|odd| odd.name == "04").expect("told");
            assert_eq!(told.findings[0].what, OddIn::Figure("03".to_owned()), "{hosts}, {seed}: {told:?}");
            assert!((told.findings[0].apart - 4.0).abs() < 0.2, "{told:?}");
        }
    }
}

/// Without a slow host hardly any is told by one figure alone where figures have no tails, and with tails of any length not more
/// than the rate of each figure makes it.
#[test]
fn few_are_told_by_one_figure_alone_where_none_is_slow() {
    for (tail, most) in [(0.0, 0.0), (0.3, 1.0), (1.0, 1.0), (2.0, 1.0)] {
        for (hosts, draws) in [(20, 40), (60, 15)] {
            let alone = |seed| {
                let fleet = drawn(hosts, 28, seed, 1.0, tailed(tail));
                fleet.unproved.iter().filter(|odd| odd.rate > EVEN_RATE).count()
            };
            let told = (0..draws).map(alone).sum::<usize>() as f64;
            let expected = most * FALSE_RATE * 28.0 * draws as f64;
            assert!(told <= expected, "{hosts} hosts, {tail}: {told} of {expected} in {draws}");
        }
    }
}

/// What a fleet says it shows of one figure alone is named, and what is a good deal less is not.
#[test]
fn what_one_figure_alone_shows_is_named() {
    let shows = |hosts: u32| drawn(hosts, 28, 1, 1.0, tailed(0.0)).groups[0].shows_alone;
    assert_eq!(shows(8), None, "of so few no figure names any");
    let share = shows(200).expect("200 hosts show something");
    let named = |share: f64| {
        (0..10).filter(|&seed| odd(&drawn(200, 28, seed, 1.0 + share, tailed(0.0))).contains(&"04")).count()
    };
    let (far, near) = (named(2.0 * share), named(share / 4.0));
    assert!(far >= 8 && near <= 2, "{far} {near} of 10 at {share}");
}

/// With a bill, which has no figure, seven hosts had a clean answer of no tests at all. So had they with a host of failures.
#[test]
fn what_has_no_number_makes_no_verdict() {
    let failed = json!({"id": "a", "status": "failed"});
    let with = |hosts: u32, last: &[Value]| {
        let mut fleet = Fleet::default();
        for at in 0..hosts {
            let figures = [figure("a", 1.0 + f64::from(at * 5 % hosts) / 1000.0, 0.0)];
            fleet.add(&host(&format!("{at}"), &figures), "file");
        }
        fleet.add(&host("last", last), "file");
        fleet.judge()
    };
    let bill = with(7, &[]);
    assert_eq!((bill.results, bill.hosts, bill.bare, bill.tests), (7, 7, 1, 0));
    let failures = with(7, std::slice::from_ref(&failed));
    assert_eq!((failures.results, failures.hosts, failures.bare, failures.tests), (8, 8, 0, 0));
    assert!(!bill.groups[0].is_judged && !failures.groups[0].is_judged);
    let enough = with(8, &[failed]);
    let without: Vec<_> = enough.groups[0].hosts.iter().filter(|host| !host.is_judged).collect();
    assert!(enough.groups[0].is_judged && without.len() == 1 && without[0].name == "last", "{without:?}");
}

#[test]
fn the_surest_of_the_odd_comes_first() {
    let two = with_two_figures(40, |at| match at {
        3 => [1.3, 1.0],
        5 => [1.0, 10.0],
        _ => [1.0; 2],
    });
    assert_eq!(odd(&two), ["05", "03"]);
    assert!(two.odd[0].rate < two.odd[1].rate && two.odd[1].rate <= FALSE_RATE, "{:?}", two.odd);
}

/// A group shows what [`Together`] says of the deviations that it tells, at the rate of false alarms over all hosts.
#[test]
fn what_a_group_shows_is_held_to_the_rate_over_all_hosts() {
    let judged = with_two_figures(20, |_| [1.0; 2]);
    let group = &judged.groups[0];
    assert_eq!((judged.tests, group.figures.len()), (3 * 20, 2), "each host in both figures, and together");
    let scales: Vec<f64> = group.figures.iter().map(|it| it.usual.ln_1p()).collect();
    let score = |host: usize| -> f64 {
        let own = group.figures.iter().zip(&scales).map(|(it, scale)| it.apart[host].ln_1p() / scale);
        own.sum::<f64>() / 2.0
    };
    let bulk = Bulk::of((0..20).map(score)).expect("hosts");
    let expected = Together { bulk, scales, kinds: 1 }.shows(FALSE_RATE / 20.0).expect("a share");
    assert!((group.shows.expect("a share") / expected - 1.0).abs() < 1e-6, "{:?} {expected}", group.shows);
}

#[test]
fn a_figure_of_a_host_is_the_logarithm_of_what_is_judged_and_its_error() {
    let of = |change: &dyn Fn(&mut Value)| {
        let mut figure = figure("a", 1.0, 0.0196);
        change(&mut figure);
        measured(&row(figure), 1)
    };
    let (series, at, error) = of(&|_| ()).expect("measured");
    assert_eq!(
        (series.id.as_str(), series.revision, series.quantity.as_str(), series.enters),
        ("a", 1, "floor", true)
    );
    assert!((at - 100_f64.ln()).abs() < 1e-12 && (error - 1.0196_f64.ln() / HALF_WIDTH).abs() < 1e-12);
    let floor = |name: &'static str, value: f64| {
        of(&move |figure| figure["quantities"]["floor"][name] = json!(value))
            .map(|(_, at, error)| (at, error))
    };
    assert_eq!(floor("low", 0.0), Some((at, 0.0)), "without an end there is no error");
    assert_eq!(floor("low", 200.0), Some((at, 0.0)), "nor upside down");
    assert_eq!([floor("value", 0.0), floor("value", -1.0)], [None; 2]);
    let mut endless = row(figure("a", 1.0, 0.1));
    endless.quantities.get_mut("floor").expect("there").value = Some(f64::INFINITY);
    assert!(measured(&endless, 1).is_none());
    assert!(of(&|figure| figure["status"] = json!("failed")).is_none());
    assert!(of(&|figure| figure["judged"] = json!("quiet")).is_none(), "what is judged is not there");
    let judged = of(&|figure| {
        figure["judged"] = json!("quiet");
        figure["quantities"]["quiet"] = figure["quantities"]["floor"].clone();
    });
    assert_eq!(judged.map(|it| it.0.quantity).as_deref(), Some("quiet"));
    let enters = |change: &dyn Fn(&mut Value)| of(change).expect("measured").0.enters;
    let calls = |count: f64| enters(&move |figure| figure["evidence"]["system_calls"]["call"] = json!(count));
    assert_eq!([calls(0.5), calls(0.49)], [true, false]);
    let uncounted = |path: &'static str| {
        enters(&move |figure| (figure["evidence"], figure["call_path"]) = (json!({}), json!(path)))
    };
    assert_eq!(["libc", "vdso", "user space", "instruction"].map(uncounted), [true, false, false, false]);
}

/// Runs of one host are one value: the one in the middle.
#[test]
fn a_host_has_the_median_of_its_runs() {
    let run = |series: u32, at: f64, error: f64| Measured { series, at, error };
    let runs = [run(1, 3.0, 0.1), run(0, 5.0, 0.2), run(1, 9.0, 0.4), run(1, 4.0, 0.3)];
    assert_eq!(over_runs(&runs), [(0, 5.0, 0.2), (1, 4.0, 0.3)]);
    let mut fleet = Fleet::default();
    for (name, factor) in [("one", 1.0), ("one", 3.0), ("", 2.0)] {
        fleet.add(&host(name, &[figure("a", factor, 0.1), json!({"id": "b", "status": "failed"})]), "file");
    }
    let judged = fleet.judge();
    assert_eq!((judged.results, judged.hosts, judged.nameless, judged.withheld), (3, 2, 1, 3));
    let mut names: Vec<&str> = judged.groups[0].hosts.iter().map(|host| host.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["file", "one"], "a host without a name or a boot is told by its file");
}

/// Floors that another version estimated are other numbers: whoever has them is no odd host.
#[test]
fn results_of_two_methods_are_not_held_against_each_other() {
    let odd_hosts = |estimators: u32| {
        let mut fleet = Fleet::default();
        for at in 0..40 {
            let usual = 1.0 + f64::from(at * 7 % 40) / 2000.0;
            let (factor, of) = if at == 5 { (1.3, estimators) } else { (usual, 1) };
            let mut host = host(&at.to_string(), &[figure("a", factor, 1e-4)]);
            host.estimators = of;
            fleet.add(&host, "file");
        }
        fleet.judge().odd.len()
    };
    assert_eq!([odd_hosts(1), odd_hosts(2)], [1, 0]);
}

#[test]
fn names_are_cut_between_letters() {
    let long = "é".repeat(LONGEST_NAME);
    assert_eq!((short("node"), short(&long).len()), ("node".to_owned(), LONGEST_NAME));
    assert_eq!(short(&format!("x{long}")).len(), LONGEST_NAME - 1);
}

/// What does not enter the kernel is another kind, and nothing is said of a kind that nobody has.
#[test]
fn a_host_is_odd_in_all_that_stays_out_of_the_kernel() {
    let mut fleet = Fleet::default();
    for at in 0..40_u32 {
        let usual = |step: u32| 1.0 + f64::from(at * step % 40) / 40.0 * 0.02;
        let slow = if at == 6 { 1.5 } else { 1.0 };
        let figures = [("a", 7), ("b", 11), ("c", 13)].map(|(id, step)| {
            let mut figure = figure(id, slow * usual(step), 0.0);
            (figure["evidence"], figure["call_path"]) = (json!({}), json!("vdso"));
            figure
        });
        let mut run = host(&format!("{at:02}"), &figures);
        run.partial = at < 3;
        run.conditions.kernel = if at == 39 { "two" } else { "one" }.to_owned();
        fleet.add(&run, "file");
        if at == 0 {
            run.conditions.kernel = "two".to_owned();
            fleet.add(&run, "file");
        }
    }
    let judged = fleet.judge();
    assert_eq!((judged.results, judged.hosts, judged.partial), (41, 40, 4), "one ran two kernels");
    assert_eq!((judged.withheld, judged.nameless, judged.bare), (0, 0, 0));
    let of_groups: Vec<(&str, usize)> =
        judged.groups.iter().map(|it| (it.kernel.as_str(), it.hosts.len())).collect();
    assert_eq!(of_groups, [("one", 39), ("two", 2)]);
    assert_eq!(odd(&judged), ["06"]);
    let (odd, group) = (&judged.odd[0], &judged.groups[0]);
    assert_eq!((odd.group, &odd.findings[0].what, odd.findings.len()), (0, &OddIn::User(3), 4), "{odd:?}");
    assert!((odd.findings[0].apart - 0.5).abs() < 0.03, "{odd:?}");
    assert!(group.usual[0].is_none() && group.usual[1].is_some_and(|it| it > 0.0 && it < 0.02), "{group:?}");
    assert!(group.shows.is_none(), "nothing enters the kernel");
    let host = &group.hosts[6];
    assert_eq!((host.name.as_str(), host.apart[0], host.is_judged), ("06", None, true));
    assert_eq!(host.apart[1], Some(odd.findings[0].apart));
    let figure = &group.figures[0];
    assert_eq!((figure.id.as_str(), figure.quantity.as_str(), figure.apart.len()), ("a", "floor", 39));
    assert!(figure.apart[6] > 0.45 && judged.tests == 4 * 39, "{figure:?}");
    assert!(judged.groups[1].usual == [None; 2] && judged.groups[1].figures.is_empty());
}

/// Whoever lies beyond all others in one figure is told where that is rare over all tests, whatever the rate among hosts.
#[test]
fn a_host_alone_in_one_figure_is_told_by_the_chance_of_its_scale() {
    let (mut told_of, mut silent) = (0, 0);
    for step in 0..40 {
        let judged = drawn(20, 28, 3, 1.02 + f64::from(step) * 0.01, tailed(0.0));
        let figure = judged.groups[0].figures.iter().find(|it| it.id == "03").expect("there");
        let logs: Vec<f64> = figure.apart.iter().map(|it| it.ln_1p()).collect();
        let (bulk, tail) = (Bulk::of(logs.iter().copied()).expect("hosts"), Tail::of(logs.iter().copied()));
        let is_alone = tail.chance(logs[4], 0.0) * 20.0 <= FALSE_RATE
            && bulk.chance(logs[4], 0.0) * judged.tests as f64 <= FALSE_RATE;
        let all = judged.odd.iter().chain(&judged.unproved);
        let told: Vec<&OddHost> = all.filter(|odd| odd.name == "04").collect();
        if told.iter().all(|odd| odd.rate > EVEN_RATE) {
            assert_eq!(told.len(), usize::from(is_alone), "{step}: {told:?}");
            *if is_alone { &mut told_of } else { &mut silent } += 1;
        }
        assert_eq!(judged.tests, 29 * 20);
        let rates = |all: &[OddHost]| all.iter().map(|odd| odd.rate).collect::<Vec<f64>>();
        let (odd, unproved) = (rates(&judged.odd), rates(&judged.unproved));
        assert!(odd.iter().all(|rate| *rate <= FALSE_RATE) && unproved.iter().all(|rate| *rate > FALSE_RATE));
        assert!(odd.is_sorted() && unproved.is_sorted(), "{odd:?} {unproved:?}");
    }
    assert!(told_of > 0 && silent > 0, "{told_of} {silent}");
}

/// Who is told, at which rate and in what, reckoned from the deviations that a fleet shows: `from` and `to` are rates.
fn reckoned(judged: &JudgedFleet, from: f64, to: f64) -> Vec<(String, f64, Vec<OddIn>)> {
    let (group, mut tests) = (&judged.groups[0], Tests::new());
    let count = group.hosts.len();
    let mut deviations = vec![Vec::new(); count];
    for figure in &group.figures {
        let logs: Vec<f64> = figure.apart.iter().map(|it| it.ln_1p()).collect();
        let (bulk, tail) = (Bulk::of(logs.iter().copied()).expect("hosts"), Tail::of(logs.iter().copied()));
        for (host, &apart) in logs.iter().enumerate() {
            let (of_bulk, of_tail) = (bulk.chance(apart, 0.0), tail.chance(apart, 0.0));
            let alone = if of_tail <= FALSE_RATE / count as f64 { of_bulk } else { 1.0 };
            let finding = OddFinding { what: OddIn::Figure(figure.id.clone()), apart, usual: 0.0 };
            let chance = of_bulk.max(of_tail);
            tests.entry((0, host)).or_default().push(Test { chance, alone, finding });
            deviations[host].push(((apart / bulk.scale).clamp(-CLIP, CLIP), apart));
        }
    }
    together(0, 0, &deviations, &mut tests);
    let adjusted: Vec<Vec<f64>> = tests
        .values()
        .map(|of| {
            let [all, single] = weights(of);
            let chance = |test: &Test| test.chance / if test.is_single() { single } else { all };
            rates(&of.iter().map(chance).collect::<Vec<_>>())
        })
        .collect();
    let least = |of: &Vec<f64>| of.iter().copied().fold(1.0, f64::min);
    let of_hosts = rates(&adjusted.iter().map(least).collect::<Vec<_>>());
    let level = to * of_hosts.iter().filter(|rate| **rate <= to).count() as f64 / count as f64;
    let lies_alone = |test: &Test| from > 0.0 && test.alone <= FALSE_RATE / judged.tests as f64;
    let mut all = Vec::new();
    for ((host, of), rate) in tests.values().enumerate().zip(of_hosts) {
        if rate > from && (rate <= to || of.iter().any(lies_alone)) {
            let found = findings(of, &adjusted[host], |test, rate| rate <= level || lies_alone(test));
            let found: Vec<OddIn> = found.into_iter().map(|it| it.what).collect();
            all.push((group.hosts[host].name.clone(), rate, found));
        }
    }
    all.retain(|it| !it.2.is_empty());
    all.sort_by(|one, other| one.1.total_cmp(&other.1));
    all
}

#[test]
fn what_is_told_of_hosts_follows_from_what_is_shown_of_them() {
    let (mut named, mut apart) = (0, 0);
    for step in 0..24 {
        let judged = drawn(24, 6, step, 1.03 + 0.02 * step as f64, tailed(0.3));
        for (told, (from, to)) in
            [(&judged.odd, (-1.0, FALSE_RATE)), (&judged.unproved, (FALSE_RATE, EVEN_RATE))]
        {
            let expected = reckoned(&judged, from, to);
            let whats = |odd: &OddHost| odd.findings.iter().map(|it| it.what.clone()).collect::<Vec<_>>();
            let found: Vec<_> = told.iter().map(|odd| (odd.name.clone(), whats(odd))).collect();
            let names: Vec<_> = expected.iter().map(|it| (it.0.clone(), it.2.clone())).collect();
            assert_eq!(found, names, "{step}");
            let near = told.iter().zip(&expected).all(|(odd, it)| (odd.rate / it.1 - 1.0).abs() < 1e-6);
            assert!(near, "{step}: {told:?} {expected:?}");
            *if from < 0.0 { &mut named } else { &mut apart } += told.len();
        }
    }
    assert!(named > 5 && apart > 5, "{named} {apart}: else this proves nothing");
}

#[test]
fn where_all_hosts_are_alike_nothing_is_apart() {
    let mut fleet = Fleet::default();
    for at in 0..10 {
        fleet.add(&host(&format!("{at}"), &[figure("a", 1.0, 0.0), figure("b", 2.0, 0.0)]), "file");
    }
    let judged = fleet.judge();
    let group = &judged.groups[0];
    assert!(group.is_judged && group.usual == [None; 2] && group.shows.is_none(), "{group:?}");
    assert!(group.hosts.iter().all(|host| host.apart == [None; 2] && host.is_judged), "{group:?}");
    assert!(group.figures.iter().all(|it| it.usual == 0.0 && it.apart == [0.0; 10]), "{group:?}");
    assert!(judged.odd.is_empty() && judged.unproved.is_empty() && judged.tests == 20, "{judged:?}");
}
