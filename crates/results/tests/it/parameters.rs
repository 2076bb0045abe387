//! Parameters of figures: stated by a result, or derived from an older id.

use oscost_results::{Figure, Parameter, parameters_of_id};
use serde_json::{Value, json};

const SESSION: &str = "realtime_ipc/pipe/same_cpu/clients_10/size_64/load_command_sleep%201";

fn figure(id: &str, parameters: Value) -> Figure {
    serde_json::from_value(json!({
        "id": id, "family": "", "title": "", "operation": "", "operations_per_iteration": 1, "call_path": "",
        "group": "", "status": "measured", "parameters": parameters
    }))
    .unwrap()
}

#[test]
fn every_form_of_an_id_is_read() {
    let read = |id| {
        let parameters = parameters_of_id(id).into_iter();
        parameters.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
    };
    for (id, expected) in [
        (
            SESSION,
            "transport pipe, placement same_cpu, clients 10, size 64, load command_sleep%201, tick_ns 1000000",
        ),
        (
            "realtime_ipc/spin/spread/clients_1/tick_1450us/policy_fifo/ticks_90",
            "transport spin, placement spread, clients 1, tick_ns 1450000, policy fifo, ticks 90",
        ),
        (
            "grame/literal/clients_5/values_330_30/send_blocking/drop_ours/session_2",
            "clients 5, values 330_30, send blocking, drop ours, session 2, tick_ns 10000000",
        ),
        (
            "lock/spin/contended/threads_4/hold_us_100/think_2_holds",
            "lock lock/spin, threads 4, hold_us 100, think_holds 2",
        ),
        (
            "lock/spin/contended/processes_2/hold_us_0/think_0",
            "lock lock/spin, processes 2, hold_us 0, think_holds 0",
        ),
        (
            "record_database/book/seek/fine_fcntl/processes_4/nrec_500/workload_text",
            "layout book, access seek, locking fine, primitive fcntl, processes 4, nrec 500, workload text",
        ),
        (
            "apue/literal/fast/mapped/none/processes_1/nrec_9",
            "layout fast, access mapped, locking none, processes 1, nrec 9",
        ),
        ("tlpi/literal/system_v/operations_1000", "operations 1000"),
        (
            "realtime_ipc/pipe/same_cpu/clients_1/tick_5ms",
            "transport pipe, placement same_cpu, clients 1, tick_ns 5000000",
        ),
        (
            "realtime_ipc/pipe/same_cpu/clients_1/tick_700ns",
            "transport pipe, placement same_cpu, clients 1, tick_ns 700",
        ),
        ("semaphore/posix_named/handover/same_cpu", ""),
        ("syscall/getppid", ""),
        ("", ""),
        // Nothing that oscost wrote.
        ("realtime_ipc/pipe/same_cpu/clients_x", ""),
        ("realtime_ipc/pipe/same_cpu/clients_1/tick_5h", ""),
        ("realtime_ipc/pipe/same_cpu/clients_1/tick_99999999999999999999ms", ""),
        ("realtime_ipc/pipe/same_cpu/clients_1/size_8/x", ""),
        ("lock/spin/contended/threads_-4/hold_us_1/think_0", ""),
    ] {
        assert_eq!(read(id), expected, "{id}");
    }
}

#[test]
fn what_a_result_states_counts_and_the_id_only_where_it_states_nothing() {
    let old = figure(SESSION, json!({}));
    assert_eq!(old.parameter("clients"), Some(Parameter::Number(10)));
    assert_eq!(old.parameter("load"), Some(Parameter::Text("command_sleep%201")));
    assert_eq!(old.parameter("policy"), None);
    let new = figure(SESSION, json!({"clients": 3, "policy": "fifo", "load": null, "size": -1}));
    assert_eq!(new.parameter("clients").and_then(Parameter::number), Some(3));
    assert_eq!(new.parameter("policy").and_then(Parameter::text), Some("fifo"));
    for none in ["load", "size", "transport"] {
        assert_eq!(new.parameter(none), None, "{none}");
    }
}
