//! Document 002 from outside: short sessions of its own method, its outputs as files, its options' ranges.

use oscost_results::{Judgement, Mark, Reproduction, Status};

use crate::support::Home;

fn column<'a>(
    rows: &'a [Reproduction],
    table: &'a str,
    column: &'a str,
) -> impl Iterator<Item = &'a Reproduction> {
    rows.iter().filter(move |row| {
        row.cell.as_ref().is_some_and(|cell| cell.table.starts_with(table) && cell.column == column)
    })
}

#[test]
#[ignore = "longer: it measures for long"]
fn real_time_messages_are_reproduced() {
    let home = Home::new();
    let options = ["--set", "clients=1,2", "--set", "ticks=30", "--set", "discard=5", "--set", "raw_dir=raw"];
    home.measure(&[&["reproduce", "grame", "--quick"][..], &options].concat()).well();
    let result = home.stored().pop().expect("the run is stored as any other");
    let sessions: Vec<_> =
        result.figures.iter().filter(|figure| figure.id.starts_with("grame/literal/clients_")).collect();
    assert!(sessions.len() >= 2, "{:?}", sessions.iter().map(|figure| &figure.id).collect::<Vec<_>>());
    let real_time = oscost_sys::scheduling::probe_real_time().is_ok();
    for figure in &sessions {
        if figure.id.contains("load_") {
            continue;
        }
        assert_eq!(
            (figure.status, figure.launches.len()),
            (Status::Measured, 1),
            "{}: {:?}",
            figure.id,
            figure.why
        );
        assert_eq!(figure.marks.contains(&Mark::NotRealTime), !real_time, "{}", figure.id);
        let counted = |name: &str| figure.quantities.get(name).map(|quantity| quantity.estimate.value);
        // Nobody was taken off, so each has its 30 values less 5, and closed.
        if counted("lost") == Some(0.0) {
            let clients = counted("opened").expect("a count");
            assert_eq!(counted("received"), Some(25.0 * clients), "{}", figure.id);
            assert_eq!(counted("closed"), Some(clients), "{}", figure.id);
        }
    }
    let rows = &result.reproductions;
    assert!(rows.iter().all(|row| row.document == "grame"));
    let means: Vec<_> =
        column(rows, "Tables 1, 2, 3", "mean").map(|row| (row.published, row.literal.is_some())).collect();
    let expected = [(Some(12.0), false), (None, false), (Some(31.0), true)];
    assert_eq!(means, expected, "the module by a module and by BPF, and the socket");
    let words = ["Windows", "Darwin", "Mach"];
    for row in rows
        .iter()
        .filter(|row| row.statement.as_ref().is_some_and(|it| words.iter().any(|word| it.starts_with(word))))
    {
        assert_eq!(row.verdict, Some(Judgement::NotTestableHere), "{:?}", row.statement);
    }
    assert!(rows.iter().any(|row| row.place.contains("Tables 13 and 14") && row.because.contains("lost")));
    // Head insertion of a wait queue stands beside, and decides nothing of the module.
    let turned = rows.iter().find(|row| row.place.contains("4.2.4, figure 31")).expect("the statement");
    let module = rows.iter().any(|row| {
        row.figure_id.as_deref().is_some_and(|id| id.contains("kernel_module")) && row.measured.is_some()
    });
    assert_eq!(turned.verdict == Some(Judgement::NotTestableHere), !module, "{}", turned.because);
    if real_time && !module {
        assert!(turned.because.contains("poll_broadcast"), "{}", turned.because);
    }
    for (folder, clients) in [("1-tasks", 1), ("2-tasks", 2)] {
        for client in 1..=clients {
            let file = |end: &str| {
                let path = home.path().join("raw").join(folder).join(format!("{client}.{end}"));
                std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
            };
            let values: Vec<i64> =
                file("out").lines().map(|line| line.parse().expect("a whole number")).collect();
            assert_eq!(values.len(), 25, "a value a line");
            let (min, max) = (values.iter().min().expect("values"), values.iter().max().expect("values"));
            let average = values.iter().sum::<i64>() / 25;
            let expected = format!(
                "Transmission summary:\ntotal msg received: 25\nmin time: {min}\nmax time: {max}\naverage: {average}\n"
            );
            assert_eq!(file("sum"), expected);
        }
    }
    // What was stored can be told again, pictures included.
    home.ask(&["report", "@-1"]).well().shows("Document 002");
    let left: Vec<_> = std::fs::read_dir("/dev/shm")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("oscost-") && name.ends_with("-server"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn options_out_of_range_are_refused_with_the_range() {
    let home = Home::new();
    for (key, values, range) in [
        ("clients", &["0", "-1", "1000", "x", "", "1,,2"][..], "from 1 to 999"),
        ("tick", &["0ms", "-1ms", "soon", "10", "2s"][..], "100us to 1s"),
        ("ticks", &["0", "-1", "x", "20001", "99999999999999999999999"][..], "from 10 to 20000"),
        ("discard", &["-1", "x"][..], "from 0 to 20000"),
        ("discard", &["164"][..], "0 to 163"),
        ("policy", &["other", ""][..], "rr or fifo"),
        ("send_mode", &["x"][..], "nonblocking or blocking"),
        ("drop_policy", &["x"][..], "document or ours"),
        ("rate", &["0", "44100"][..], "rate="),
        ("frames", &["64"][..], "frames="),
    ] {
        for value in values {
            home.ask(&["reproduce", "grame", "--quick", "--set", &format!("{key}={value}")])
                .refused(2, range);
        }
    }
    home.ask(&["reproduce", "ostep", "--set", "clients=5"])
        .refused(2, "belongs to grame, which was not chosen");
    home.ask(&["reproduce", "ostep", "--set", "raw_dir=x"])
        .refused(2, "belongs to grame, which was not chosen");
    assert!(!home.runs().exists() && !home.path().join("x").exists(), "a mistake leaves nothing behind");
}
