//! Fleets: which hosts are named odd, by which key they are compared, and what the page and the screen say of them.

use crate::fixture;
use crate::written::{Says, style, written};

use oscost_report::fleet::{Fleet, JudgedFleet, OddIn};
use oscost_results::{Figure, Outline, RowFigure, RunResult, Status};
use oscost_stats::order::{below, seeded};

/// A host of a fleet.
struct Host {
    name: String,
    kernel: &'static str,
    /// Its price of what enters the kernel, against others.
    factor: f64,
}

/// The figures of a host: ten that enter the kernel, and five that do not. Each deviates by up to 2 %, evenly.
fn result(host: &Host, seed: u64) -> Outline<RowFigure> {
    let mut result: RunResult = fixture::result();
    let template = result.figures.iter().find(|figure| figure.id == "clock/monotonic").unwrap().clone();
    let mut generator = seeded(seed, 5);
    result.figures = (0..15)
        .map(|at| {
            let enters = at < 10;
            let mut figure: Figure = template.clone();
            figure.id = format!("syscall/number_{at}");
            figure.status = Status::Measured;
            figure.headline = "floor".to_owned();
            figure.judged = String::new();
            figure.evidence.claims.clear();
            figure.evidence.audit_method = Some("ptrace".to_owned());
            figure.evidence.system_calls.clear();
            if enters {
                figure.evidence.system_calls.insert("call".to_owned(), 1.0);
            }
            let apart = below(40_001, &mut generator) as f64 / 1e6 - 0.02;
            let value =
                100.0 * (1.0 + f64::from(at)) * (1.0 + apart) * if enters { host.factor } else { 1.0 };
            let estimate = &mut figure.quantities.get_mut("floor").unwrap().estimate;
            (estimate.value, estimate.low, estimate.high) = (value, value * 0.999, value * 1.001);
            figure
        })
        .collect();
    result.machine.host = Some(host.name.clone()).filter(|name| !name.is_empty());
    result.conditions.kernel = host.kernel.to_owned();
    result.conditions.boot_id = Some(format!("boot {seed}"));
    result.plan.seed = seed;
    Outline::of(&result)
}

fn host(at: usize, factor: f64) -> Host {
    Host { name: format!("node{at}"), kernel: "Linux 6.1", factor }
}

fn judged(hosts: &[Host]) -> JudgedFleet {
    let mut fleet = Fleet::default();
    for (host, seed) in hosts.iter().zip(0..) {
        fleet.add(&result(host, seed), "file");
    }
    fleet.judge()
}

fn names(fleet: &JudgedFleet) -> Vec<&str> {
    fleet.odd.iter().map(|odd| odd.name.as_str()).collect()
}

#[test]
fn a_slow_host_is_named_with_what_it_is_slow_in() {
    let mut hosts: Vec<Host> = (0..200).map(|at| host(at, 1.0)).collect();
    assert!(names(&judged(&hosts)).is_empty());
    hosts[17].factor = 1.05;
    hosts[42].factor = 0.95;
    let fleet = judged(&hosts);
    let mut named = names(&fleet);
    named.sort_unstable();
    assert_eq!(named, ["node17", "node42"]);
    assert!(fleet.unproved.iter().all(|odd| odd.rate > 0.05), "{:?}", fleet.unproved);
    for (odd, apart) in fleet.odd.iter().map(|odd| (odd, if odd.name == "node17" { 0.05 } else { -0.05 })) {
        let first = &odd.findings[0];
        assert_eq!(first.what, OddIn::Kernel(10));
        assert!((first.apart - apart).abs() < 0.015 && odd.rate <= 0.05, "{odd:?}");
        assert!(odd.findings.iter().all(|it| !matches!(it.what, OddIn::User(_))), "{odd:?}");
    }
}

#[test]
fn hosts_are_compared_within_their_model_and_kernel_alone() {
    // The new kernel is slower by half: that makes no host of it odd. One of the old kernel that is as slow is.
    let mut hosts: Vec<Host> = (0..60)
        .map(|at| if at % 3 == 0 { Host { kernel: "Linux 6.12", ..host(at, 1.5) } } else { host(at, 1.0) })
        .collect();
    hosts[1].factor = 1.5;
    let fleet = judged(&hosts);
    assert_eq!((fleet.groups.len(), names(&fleet)), (2, vec!["node1"]));
    assert_eq!(fleet.groups.iter().map(|group| group.hosts.len()).collect::<Vec<_>>(), [40, 20]);
    // Seven of a key have no verdict, whatever they show.
    let mut few: Vec<Host> = (0..7).map(|at| host(at, 1.0)).collect();
    few[3].factor = 9.0;
    let fleet = judged(&few);
    assert!(names(&fleet).is_empty() && !fleet.groups[0].is_judged);
    // Of nobody it was said that none is odd, and how few alarms may be false.
    let chip =
        |fleet: &JudgedFleet, text: &str| written(|out| fleet.page(out)).contains(&format!("{text}</li>"));
    assert!(
        chip(&fleet, "no verdict") && !chip(&fleet, "odd hosts") && !chip(&fleet, "false alarms or fewer")
    );
    text(&fleet, false, 200).lacks("false alarm").lacks("false discovery");
    written(|out| fleet.page(out)).says("of one processor model and kernel. Intervals");
    assert!(chip(&judged(&hosts), "odd host") && !chip(&judged(&hosts), "no verdict"));
}

/// A host that is slow in one figure alone was called slower by the mean of all of them. Results without a figure are told.
#[test]
fn a_host_that_is_slow_in_one_figure_is_shown_with_that_figure() {
    let mut fleet = Fleet::default();
    for (at, seed) in (0..60).zip(0..) {
        let mut result = result(&host(at, 1.0), seed);
        let figure = result.figures.iter_mut().find(|it| it.id == "syscall/number_3" && at == 7);
        for it in figure.into_iter().flat_map(|it| it.quantities.values_mut()) {
            [&mut it.value, &mut it.low, &mut it.high].into_iter().flatten().for_each(|it| *it *= 5.0);
        }
        fleet.add(&result, "file");
    }
    let (mut bill, mut count) = (result(&host(99, 1.0), 99), result(&host(98, 1.0), 98));
    bill.figures.clear();
    fleet.add(&bill, "bill");
    let emulation = serde_json::json!({"emulator": "qemu", "machine": "q35", "cpu_model": "qemu64", "memory_mib": 256, "image": "k", "image_checksum": "0"});
    count.conditions.emulation = serde_json::from_value(emulation).ok();
    assert!(count.conditions.emulation.is_some());
    fleet.add(&count, "count");
    let fleet = fleet.judge();
    let told = fleet.odd.iter().chain(&fleet.unproved).find(|odd| odd.name == "node7");
    assert_eq!(told.map(|it| &it.findings[0].what), Some(&OddIn::Figure("syscall/number_3".to_owned())));
    for shown in [text(&fleet, false, 200), written(|out| fleet.page(out))] {
        shown.says("node7").says("syscall/number_3").says("in one figure alone");
        shown.says("2 results have no price, as bills and counts have none: left out");
        shown.says("60 hosts").lacks("61 hosts");
    }
    text(&fleet, false, 200).says("node7 (syscall/number_3 4");
}

/// What lies apart and is not proved is told, with what the fleet could show; and a group that can show nothing says so.
#[test]
fn a_fleet_says_what_it_could_not_show() {
    let shows = |count: usize| {
        let hosts: Vec<Host> = (0..count).map(|at| host(at, 1.0)).collect();
        judged(&hosts).groups[0].shows
    };
    let few = shows(12).expect("12 hosts show something");
    let many = shows(200).expect("200 hosts show something");
    assert!(few > many && many > 0.005 && many < 0.05, "{few} {many}");
    assert_eq!(shows(7), None);
    // A host that is slower by what is said to be shown is named in most fleets, and one at a third of it in none or few.
    let found = |share: f64| {
        let named = (0..20_u64).filter(|draw| {
            let mut fleet = Fleet::default();
            for (at, seed) in (0..40).zip(1000 * draw..) {
                let factor = if at == 3 { 1.0 + share } else { 1.0 };
                fleet.add(&result(&host(at, factor), seed), "file");
            }
            names(&fleet.judge()).contains(&"node3")
        });
        named.count()
    };
    let share = shows(40).expect("40 hosts show something");
    let (far, near) = (found(share), found(share / 3.0));
    // Of 20 fleets 18 are expected; 13 or fewer have a chance of 0.002.
    assert!(far >= 14 && near <= 6, "{far} {near} of 20 at {share}");

    let mut hosts: Vec<Host> = (0..40).map(|at| host(at, 1.0)).collect();
    hosts[3].factor = 1.0 + share / 2.0;
    // From a difference that is hidden to one that is proved, there is one that is told as not proved.
    let told = (0..40_u32).find_map(|step| {
        hosts[3].factor = 1.0 + share * f64::from(step) / 40.0;
        let fleet = judged(&hosts);
        (fleet.odd.is_empty() && fleet.unproved.iter().any(|it| it.name == "node3")).then_some(fleet)
    });
    let fleet = told.expect("some difference is told and not proved");
    let shown = text(&fleet, false, 200);
    for words in ["is proved odd, and ", "may be odd, not proved: ", "what can be shown: a host"] {
        shown.says(words);
    }
    let mut page = Vec::new();
    fleet.page(&mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("Apart, but not proved odd") && !page.contains("No host stands apart"));
    assert!(!page.contains("class=\"chip good\""), "nothing is well as long as a host may be odd");

    let few: Vec<Host> = (0..7).map(|at| host(at, 1.0)).collect();
    let few = judged(&few);
    assert!(text(&few, false, 200).contains(
        "No verdict: it takes 8 hosts with a model, a kernel and a figure in common, and results of 7 hosts were read"
    ));
    // One figure alone is another matter, and few hosts prove nothing by it.
    text(&few, false, 200)
        .says("what can be shown in one figure alone, in half of the figures: no difference");
    // Where nobody is judged nothing is drawn, and nobody is counted among those that lie apart or do not.
    let page = written(|out| few.page(out));
    page.says("No verdict: ").lacks("usual deviations apart").lacks("Figures of each group").lacks("<figure");
}

#[test]
fn runs_of_a_host_are_one_host_and_hosts_without_a_name_are_told_by_their_boot() {
    let mut hosts: Vec<Host> = (0..20).map(|at| host(at % 10, 1.0)).collect();
    hosts.push(Host { name: String::new(), ..host(0, 1.0) });
    let fleet = judged(&hosts);
    assert_eq!((fleet.results, fleet.hosts, fleet.nameless), (21, 11, 1));
    assert!(fleet.groups[0].hosts.iter().any(|host| host.name == "boot 20"));
    let nothing = Fleet::default().judge();
    assert_eq!((nothing.hosts, nothing.odd.len(), nothing.groups.len()), (0, 0, 0));
}

fn text(fleet: &JudgedFleet, all: bool, width: usize) -> String {
    written(|out| fleet.text(all, &style(width, false), out))
}

#[test]
fn the_first_screen_names_the_odd_hosts_and_how_sure_that_is() {
    let mut hosts: Vec<Host> = (0..1000).map(|at| host(at, 1.0)).collect();
    hosts[7] = Host { name: "<b>seven\u{1b}[31m".to_owned(), ..host(7, 1.06) };
    let fleet = judged(&hosts);
    assert_eq!(fleet.odd.len(), 1, "{:?}", names(&fleet));
    let mut page = Vec::new();
    fleet.page(&mut page).unwrap();
    assert!(page.len() < 5_000_000, "{}", page.len());
    let page = String::from_utf8(page).unwrap();
    let body = &page[page.find("<body>").unwrap()..];
    let first = &body[..body.find("<main").unwrap()];
    for words in [
        "1 of 1000 hosts is odd: &lt;b&gt;seven",
        "apart, not proved",
        "% slower)",
        "false alarms",
        "all 10 figures that enter the kernel",
    ] {
        first.says(words);
    }
    assert!(!page.contains("<b>seven") && !page.contains('\u{1b}'));
    for width in [40, 80, 120] {
        let shown = text(&fleet, false, width);
        shown.says("1 of 1000 hosts is odd").says("how sure");
        assert!(!shown.contains('\u{1b}'), "{shown}");
    }
    let mut markdown = Vec::new();
    fleet.markdown(false, &mut markdown).unwrap();
    assert!(String::from_utf8(markdown).unwrap().contains("1 of 1000 hosts is odd"));
}

#[test]
fn few_are_shown_unless_all_are_asked_for() {
    let hosts: Vec<Host> = (0..1000).map(|at| host(at, if at % 40 == 0 { 1.08 } else { 1.0 })).collect();
    let fleet = judged(&hosts);
    assert_eq!(fleet.odd.len(), 25, "{:?}", names(&fleet));
    let rows =
        |all| text(&fleet, all, 120).lines().filter(|line| line.trim_start().starts_with("node")).count();
    assert_eq!((rows(false), rows(true)), (20, 25));
    assert!(text(&fleet, false, 120).contains("5 odd hosts more: --all shows them"));
}
