//! `oscost report --format ndjson|csv`: rows of folders of results; and `run --jitter`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use oscost_results::{MAX_BYTES, RunResult, Status, from_bytes, to_bytes};
use serde_json::{Map, Value};

use crate::outputs::{Who, on_a_full_disk};
use crate::support::{Done, Home, is_root, skip};

/// Results of both versions of the format, as they were stored.
const SAMPLES: [&[u8]; 2] = [
    include_bytes!("../../../results/tests/samples/v1.json"),
    include_bytes!("../../../results/tests/samples/v2.json"),
];

pub fn put(home: &Home, name: &str, sample: usize, change: impl Fn(&mut RunResult)) {
    let mut result = from_bytes(SAMPLES[sample]).expect("a sample");
    change(&mut result);
    let path = home.path().join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, to_bytes(&result).expect("a result")).expect("a file");
}

fn ndjson(done: &Done) -> Vec<Map<String, Value>> {
    done.stdout.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

/// Rows of CSV as NDJSON has them: without empty cells, flags and numbers as text.
fn csv(done: &Done) -> Vec<BTreeMap<String, String>> {
    let cells = |line: &str| -> Vec<String> {
        let mut cells = vec![String::new()];
        let mut quoted = false;
        for letter in line.chars() {
            match letter {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                other => cells.last_mut().expect("a first cell").push(other),
            }
        }
        cells
    };
    let mut lines = done.stdout.split_terminator("\r\n");
    let heads = cells(lines.next().expect("a heading"));
    lines
        .map(|line| {
            let row = cells(line);
            assert_eq!(row.len(), heads.len(), "{line}");
            heads.iter().cloned().zip(row).filter(|(_, cell)| !cell.is_empty()).collect()
        })
        .collect()
}

fn text(value: &Value) -> String {
    match value {
        Value::Bool(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Value::Array(all) => all.iter().map(text).collect::<Vec<_>>().join(" "),
        Value::String(text) => text.clone(),
        // Both are read back as the same number.
        number => number.as_f64().expect("a number").to_string(),
    }
}

#[test]
fn both_formats_have_the_same_rows_of_results_of_every_version() {
    let home = Home::new();
    put(&home, "fleet/a/v1.json", 0, |_| ());
    put(&home, "fleet/b/v2.json", 1, |it| {
        it.partial = true;
        it.machine.host = Some("node \"1\"".to_owned());
        it.figures[0].status = Status::Failed;
        it.figures[0].why = Some("open: EACCES".to_owned());
    });
    let json = home.ask(&["report", "fleet", "--format", "ndjson"]);
    let rows = ndjson(json.well());
    assert_eq!(json.stderr, "");
    let cells = csv(home.ask(&["report", "fleet", "--format", "csv"]).well());
    assert_eq!(rows.len(), cells.len());
    for (row, cells) in rows.iter().zip(&cells) {
        let of_json: BTreeMap<String, String> = row
            .iter()
            .map(|(name, value)| (name.clone(), text(value)))
            .filter(|it| !it.1.is_empty())
            .collect();
        let numbers = |(name, cell): (&String, &String)| {
            let value = row.get(name).filter(|value| value.is_number());
            (name.clone(), value.map_or(cell.clone(), |_| cell.parse::<f64>().unwrap().to_string()))
        };
        let of_csv: BTreeMap<String, String> = cells.iter().map(numbers).collect();
        // The reader above drops the doubled quotes of a cell.
        let plain = |map: &BTreeMap<String, String>| -> BTreeMap<String, String> {
            map.iter().map(|(name, cell)| (name.clone(), cell.replace('"', ""))).collect()
        };
        assert_eq!(plain(&of_json), plain(&of_csv));
    }
    // Every launch and every estimate of what was measured, and a row for each figure that was not.
    let mut expected = 0;
    for name in ["fleet/a/v1.json", "fleet/b/v2.json"] {
        let result = oscost_results::load(&home.path().join(name)).unwrap();
        for figure in &result.figures {
            let values = figure.quantities.keys().map(|name| {
                1 + figure.launches.iter().filter(|launch| launch.quantities.contains_key(name)).count()
            });
            let alone = figure.percentiles.as_ref().map_or(0, |it| it.quantities().len());
            let measured = figure.status == Status::Measured && !figure.quantities.is_empty();
            expected += if measured { values.sum::<usize>() + alone } else { 1 };
        }
    }
    assert_eq!(rows.len(), expected);
    let failed: Vec<_> =
        rows.iter().filter(|row| row["status"] == "failed" && row["partial"] == true).collect();
    assert!(failed.iter().any(|row| row["why"] == "open: EACCES"), "{failed:?}");
    for row in rows.iter().filter(|row| row["status"] != "measured") {
        assert!(!row.contains_key("value") && !row.contains_key("low"), "no number is no 0: {row:?}");
    }
    assert!(rows.iter().any(|row| row.get("host").is_some_and(|host| host == "node \"1\"")));
    assert!(
        rows.iter().any(|row| !row.contains_key("host")),
        "a host without a name is no reason to lose it"
    );
}

#[test]
fn what_cannot_be_used_is_counted_and_costs_no_other() {
    let home = Home::new();
    put(&home, "fleet/one.json", 1, |_| ());
    put(&home, "fleet/two.json", 1, |it| it.plan.seed += 1);
    fs::copy(home.path().join("fleet/one.json"), home.path().join("fleet/three.json")).unwrap();
    let alone = ndjson(home.ask(&["report", "fleet/one.json", "--format", "ndjson"]).well()).len();
    // As large as a result may be, and nothing but brackets; and larger.
    let mut hostile = b"{\n  \"checksum\": \"crc32:00000000\",\n".to_vec();
    hostile.resize(MAX_BYTES as usize, b'[');
    fs::write(home.path().join("fleet/hostile.json"), hostile).unwrap();
    File::create(home.path().join("fleet/large.json")).unwrap().set_len(MAX_BYTES + 1).unwrap();
    fs::write(home.path().join("fleet/other.json"), "{}").unwrap();
    fs::write(home.path().join("fleet/notes.txt"), "").unwrap();
    symlink("one.json", home.path().join("fleet/link.json")).unwrap();
    Command::new("mkfifo").arg(home.path().join("fleet/pipe.json")).status().unwrap();
    let done = home.ask(&["report", "fleet", "--format", "ndjson"]);
    assert_eq!((done.code, ndjson(&done).len()), (Some(2), 2 * alone), "{}", done.stderr);
    for words in [
        "hostile.json: damaged",
        "large.json: larger than",
        "other.json: not an oscost result",
        "2 results were read; left out: 1 copy of a run that was read before, 3 that cannot be used, 3 links and files",
    ] {
        assert!(done.stderr.contains(words), "{words}: {}", done.stderr);
    }
    home.ask(&["report", "nowhere", "--format", "csv"]).refused(2, "cannot read nowhere");
    fs::create_dir(home.path().join("empty")).unwrap();
    let empty = home.ask(&["report", "empty", "--format", "ndjson"]);
    assert_eq!(empty.well().stdout, "");
    assert!(empty.stderr.contains("there is no result in empty"), "{}", empty.stderr);
    home.ask(&["report", "--fleet", "empty"]).refused(2, "there is no result in empty");
}

/// Of two files of one name the prices of the second one vanished from OpenMetrics, and the rest was told as of the first.
#[test]
fn files_of_one_name_are_told_apart_in_a_report() {
    let home = Home::new();
    put(&home, "a/run.json", 1, |_| ());
    put(&home, "b/run.json", 1, |it| it.plan.seed += 1);
    let both =
        |format: &str| home.ask(&["report", "a/run.json", "b/run.json", "--format", format, "--ascii"]);
    both("openmetrics")
        .well()
        .shows("{result=\"a/run\",id=")
        .shows("{result=\"b/run\",id=")
        .hides("result=\"run\"");
    both("html").well().shows("a/run").shows("b/run").hides("Saved as");
    // Which of them it is stands above each, and neither is in the store.
    both("text").well().shows("a/run\n").shows("b/run\n").hides("Saved as");
    both("markdown").well().shows("# a/run\n").shows("# b/run\n").hides("Saved as");
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    if !is_root() {
        return skip("a small file system needs root");
    }
    let home = Home::new();
    (0..40).for_each(|seed| put(&home, &format!("fleet/{seed}.json"), 1, |it| it.plan.seed = seed));
    let arguments = ["report", "fleet", "--format", "ndjson", "-o", "full/rows"];
    let done = on_a_full_disk(Who::Own, &home, "printf old >rows", &arguments, "cat full/rows");
    done.refused(4, "No space left on device");
    assert_eq!(done.stdout, "old0\n");
    let whole = home.ask(&["report", "fleet", "--format", "ndjson", "-o", "rows"]);
    assert_eq!(whole.well().stdout, "");
    assert!(fs::read_to_string(home.path().join("rows")).unwrap().lines().count() > 40);
}

/// Whoever waits a day is not told afterwards that the command was wrong.
#[test]
fn what_is_wrong_with_a_run_is_told_before_it_waits() {
    let home = Home::new();
    for (code, arguments) in [
        (2, &["--raw", "-", "syscall/getppid"][..]),
        (4, &["--raw", "/dev/null/x", "syscall/getppid"]),
        (2, &["--watch", "--json", "-", "syscall/getppid"]),
        (2, &["--watch", "--set", "raw_dir=x", "realtime_ipc"]),
        (4, &["--set", "raw_dir=/dev/null/x", "realtime_ipc"]),
        (2, &["--plain", "--set", "directory=.", "record_database"]),
    ] {
        home.ask(&[&["run", "--jitter", "1"], arguments].concat()).ends(code).omits("waits");
    }
}

/// An engine that starts again what ended with a code would start it for ever.
#[test]
fn what_may_be_withheld_may_all_be_unsupported() {
    let home = Home::new();
    let cpu = oscost_sys::affinity::allowed().unwrap()[0].to_string();
    let run = ["run", "--one-launch", "--cpu", &cpu, "context_switch/pipe/cross_cpu"];
    home.measure(&run).refused(3, "needs 2 CPUs");
    home.measure(&[&run[..], &["--allow-withheld"]].concat()).well().shows("needs 2 CPUs");
    let figures = home.stored().remove(0).figures;
    assert!(figures.iter().all(|figure| figure.status == Status::Unsupported), "{figures:?}");
}

#[test]
fn a_run_waits_its_part_and_a_signal_ends_the_waiting() {
    let home = Home::new();
    home.ask(&["run", "--jitter", "0", "--cpu", "x"]).refused(2, "--cpu");
    home.ask(&["run", "--jitter", "86401"]).refused(2, "--jitter");
    // A day: that the part of this host is less than a minute has a chance of 1 in 1440, and then the run is refused as above.
    let mut waiting = home
        .command(&["run", "--jitter", "86400", "syscall/getppid"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut said = [0; 6];
    std::io::Read::read_exact(waiting.stderr.as_mut().unwrap(), &mut said).unwrap();
    assert_eq!(&said, b"waits ");
    let begun = Instant::now();
    Command::new("kill").args(["-INT", &waiting.id().to_string()]).status().unwrap();
    let status = waiting.wait().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(60), "{status:?}");
    assert!(!status.success());
    assert!(!home.runs().exists(), "nothing was measured");
}
