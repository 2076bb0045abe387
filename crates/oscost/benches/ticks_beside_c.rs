//! What a tick costs the server besides its transport's calls; and the median latency of `realtime_ipc/unix_datagram` to one
//! client beside a bare C server and client, launch by launch.
//!
//! `cargo bench --bench ticks_beside_c`, on a quiet machine as a user who may have SCHED_RR. It needs a C compiler (`cc`).
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout)] // a bench reports to standard output

use std::collections::BTreeMap;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use oscost_harness::{
    Catalogue, Effort, Foreign, IdleCpu, Options, Supervisor, Tier, measure, preferred, serve_if_asked,
};
use oscost_stats::interval::{MEDIAN, over_launches};

const ID: &str = "realtime_ipc/unix_datagram/same_cpu/clients_1/ticks_100";
const EFFORT: Effort = Effort { launches: 24, most_launches: 24, ..Effort::THOROUGH };

fn catalogue() -> Catalogue {
    Catalogue::new(oscost_families::all()).with_resolver(oscost_families::resolve)
}

fn main() -> ExitCode {
    if let Some(code) = serve_if_asked(&catalogue) {
        return code.into();
    }
    for clients in [1, 10, 100] {
        match oscost_families::realtime_ipc::own_cost(clients) {
            Ok(ns) => println!(
                "the server's own cost a tick, {clients} clients: {ns:.1} ns, two clock readings included"
            ),
            Err(error) => println!("SKIP the server's own cost: {error}"),
        }
    }
    if let Err(why) = compare() {
        println!("SKIP ticks_beside_c: {why}");
    }
    ExitCode::SUCCESS
}

fn compare() -> Result<(), String> {
    oscost_sys::scheduling::probe_real_time().map_err(|refusal| refusal.to_string())?;
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let program = directory.path().join("ticks_beside_c");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/ticks_beside_c.c");
    let compiled = Command::new("cc").args(["-O2", "-o"]).arg(&program).arg(source).status();
    if !compiled.is_ok_and(|status| status.success()) {
        return Err("no C compiler 'cc'".into());
    }
    let cpus = preferred(oscost_sys::affinity::allowed().map_err(|error| error.to_string())?);
    let contestant = Foreign {
        id: "c/ticks".into(),
        title: "server and client in C".into(),
        operation: "one tick".into(),
        headline: ("last_p50".into(), "ns".into()),
        command: vec![program.display().to_string()],
        environment: BTreeMap::new(),
        cpus: cpus.first().copied().into_iter().collect(),
        deadline_ns: 5_000_000_000,
        contained: oscost_harness::Contained::No,
        reader: |output| {
            let median = output.stdout.trim().parse().map_err(|_| format!("{output:?}"))?;
            Ok(BTreeMap::from([("last_p50".to_owned(), median)]))
        },
    };
    let choices = catalogue().select(&[ID.to_owned()], Tier::Family).map_err(|error| error.to_string())?;
    let options = Options {
        effort: EFFORT,
        seed: 1,
        cpus,
        spread_cpus: Vec::new(),
        core: None,
        idle_cpu: IdleCpu::Halt,
        references: Vec::new(),
        keep_samples: false,
        expected_ns: std::collections::BTreeMap::new(),
        first: Vec::new(),
    };
    let supervisor = Supervisor::new(Arc::default()).map_err(|error| error.to_string())?;
    let measured = measure(&supervisor, &choices, &[contestant], &options, &mut |_| {});
    let medians = |id: &str| -> Vec<f64> {
        let figure = measured.figures.iter().find(|figure| figure.id == id);
        let launches = figure.map_or(&[][..], |figure| &figure.launches);
        launches.iter().filter_map(|launch| launch.quantities.get("last_p50").copied()).collect()
    };
    let (ours, c) = (medians(ID), medians("c/ticks"));
    if ours.len() != c.len() {
        return Err(format!("{} launches of ours and {} in C: no pairs", ours.len(), c.len()));
    }
    let ratios: Vec<f64> = ours.iter().zip(&c).map(|(ours, c)| ours / c).collect();
    let told = |values: &[f64]| {
        over_launches(values, MEDIAN)
            .map_or("none".to_owned(), |it| format!("{:.3} ({:.3} .. {:.3})", it.value, it.low, it.high))
    };
    println!("{} pairs, median latency: oscost {} ns, C {} ns", ratios.len(), told(&ours), told(&c));
    println!("ratio {}", told(&ratios));
    Ok(())
}
