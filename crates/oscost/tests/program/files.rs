//! Output files: an unwritable one is reported before measuring, and no loss is silent.

use std::fs::{self, File, OpenOptions};
use std::path::Path;
use std::process::Stdio;

use crate::outputs::{Who, on_a_full_disk};
use crate::support::{Home, PROGRAM, finished, is_root, measured, one_at_a_time, skip};

const SHORT: [&str; 3] = ["run", "--one-launch", "instrument/empty_loop"];

fn short<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SHORT[..], more].concat()
}

#[test]
fn files_that_cannot_be_written_are_found_before_measuring() {
    let home = Home::new();
    fs::write(home.path().join("file"), "old").unwrap();
    for option in ["--json", "--raw", "-o"] {
        for path in ["/no/such/directory/x", "/", "file/x"] {
            home.ask(&short(&[option, path])).refused(4, path);
        }
    }
    home.ask(&short(&["--raw", "-"])).refused(2, "name a file");
    home.ask(&short(&["--json", "-", "--format", "csv"])).refused(2, "--json - and --format both");
    home.ask(&short(&["--format", "histogram"]))
        .refused(2, "text, markdown, csv, ndjson, json, html, openmetrics");
    home.ask(&["report", "@-1", "-o", "/no/such/x"]).refused(4, "/no/such/x");
    assert!(!home.runs().exists(), "nothing was measured");
    assert_eq!(fs::read_to_string(home.path().join("file")).unwrap(), "old");
}

#[test]
fn a_full_or_closed_standard_output_is_code_4_and_a_closed_pipe_is_none() {
    let home = Home::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/tests/samples/v1.json");
    for arguments in [
        &["list"][..],
        &["list", "--json"],
        &["--help"],
        &["--version"],
        &["--generate", "man"],
        &["complete", ""],
        &[],
        &["explain", "syscall/getppid"],
        &["explain", "noisy"],
        &["report", sample],
        &["report", sample, "--format", "csv"],
        &["compare", "--quiet", sample, sample],
        &["run", "--help"],
        &["run", "--dry-run", "instrument/empty_loop"],
        &["doctor"],
    ] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        finished(home.command(arguments).stdout(full)).refused(4, "No space left on device");
        finished(home.other("sh").args(["-c", "exec \"$0\" \"$@\" >&-", PROGRAM]).args(arguments))
            .refused(4, "it is closed");
        let read_only = File::open("/dev/null").unwrap();
        finished(home.command(arguments).stdout(read_only)).refused(4, "it is open for reading only");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = finished(home.command(arguments).stdout(writer));
        assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_dash_is_no_file_of_the_option_o() {
    let home = Home::new();
    for command in ["report", "run", "compare", "reproduce"] {
        home.ask(&[command, "-o", "-"]).refused(2, "./-");
    }
    assert!(!home.path().join("-").exists());
}

/// Another format left out what was asked for, without a word.
#[test]
fn what_a_format_has_no_place_for_is_refused() {
    let home = Home::new();
    for option in [&["--what-is-in-it"][..], &["--sort", "price"]] {
        for format in ["markdown", "csv", "ndjson", "json", "html", "openmetrics"] {
            let words = format!("{} is shown as text; for another format leave", option[0]);
            home.ask(&[&["report", "@-1", "--format", format][..], option].concat()).refused(2, &words);
        }
    }
    let words = "--spread is shown as text or markdown; for another format leave";
    home.ask(&["report", "@-1", "--spread", "--format", "html"]).refused(2, words);
}

#[test]
fn a_relative_state_directory_is_ignored_and_that_is_said() {
    let home = Home::new();
    let with =
        |state: &str, arguments: &[&str]| finished(home.command(arguments).env("XDG_STATE_HOME", state));
    for arguments in [&["report"][..], &["list"], &["compare"]] {
        let done = with("here", arguments);
        assert!(done.stderr.contains("XDG_STATE_HOME=here is ignored"), "{arguments:?}: {done:?}");
    }
    assert_eq!(with("here", &["list", "--quiet"]).well().stderr, "");
    assert_eq!(with("", &["list"]).well().stderr, "", "what is empty is as if it were not set");
    assert!(!home.path().join("here").exists());
}

#[test]
fn what_was_measured_is_stored_even_where_it_cannot_be_shown() {
    let home = Home::new();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    measured(home.command(&SHORT).stdout(full)).refused(4, "standard output");
    assert_eq!(home.stored().len(), 1);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    // A reader that closes the pipe is no error.
    measured(home.command(&SHORT).stdout(writer)).well();
    assert_eq!(home.stored().len(), 2);
}

#[test]
fn a_full_disk_is_code_4_and_leaves_old_files_as_they_are() {
    if !is_root() {
        return skip("a small file system needs root");
    }
    let home = Home::new();
    let _lock = one_at_a_time();
    let arguments = short(&["-q", "--force", "--json", "full/r.json"]);
    let done = on_a_full_disk(Who::Own, &home, "printf old >r.json", &arguments, "cat full/r.json");
    done.refused(4, "full/r.json").says("No space left");
    assert_eq!(done.stdout, "old0\n", "the old file, and nothing beside it: {done:?}");
}

#[test]
fn a_state_directory_that_cannot_be_used_is_said_before_and_after() {
    let home = Home::new();
    let done = measured(home.command(&SHORT).env("XDG_STATE_HOME", "/dev/null/state"));
    done.refused(4, "warning: the result will not be kept")
        .says("the result was not stored")
        .shows("empty_loop");
    measured(home.command(&SHORT).env_remove("XDG_STATE_HOME").env_remove("HOME"))
        .refused(4, "neither XDG_STATE_HOME nor HOME");
}

#[test]
fn json_and_samples_hold_what_the_table_shows() {
    let home = Home::new();
    fs::write(home.path().join("r.json"), "an older file").unwrap();
    let asked = ["--json", "r.json", "--raw", "r.csv", "--seed", "7", "--note", "a \u{1b}[1m note"];
    let done = home.measure(&short(&asked));
    done.well();
    assert!(done.stdout.contains("note: a ") && !done.stdout.contains('\u{1b}'), "{done:?}");
    let result = oscost_results::load(&home.path().join("r.json")).unwrap();
    assert_eq!(home.stored(), std::slice::from_ref(&result));
    assert_eq!(
        (result.plan.seed, result.note.as_deref(), result.partial),
        (7, Some("a \u{1b}[1m note"), false)
    );
    // The samples are those that the summaries were made of.
    let figure = &result.figures[0];
    let rows = fs::read_to_string(home.path().join("r.csv")).unwrap();
    let mut rows = rows.lines();
    assert_eq!(rows.next(), Some("id,launch,round,value"));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(',').collect()).collect();
    for launch in &figure.launches {
        let samples: Vec<f64> = rows
            .iter()
            .filter(|row| row[0] == figure.id && row[1] == launch.sequence.to_string())
            .map(|row| row[3].parse().unwrap())
            .collect();
        assert_eq!(samples.len() as u64, launch.rounds);
        let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
        assert!((least - launch.quantities["floor"]).abs() <= 0.0001, "{least} {:?}", launch.quantities);
    }
    // What is shown again is what was shown.
    assert_eq!(home.ask(&["report", "@-1"]).well().stdout, done.stdout);
    let json = home.ask(&["report", "@-1", "--format", "json"]);
    assert_eq!(oscost_results::from_bytes(json.well().stdout.as_bytes()).unwrap(), result);
    for (format, words) in [
        ("markdown", "### "),
        ("csv", "id,family,status"),
        ("html", "Content-Security-Policy"),
        ("openmetrics", "# EOF\n"),
    ] {
        let shown = home.ask(&["report", "@all", "--format", format]);
        shown.well().shows(words).shows("empty");
        let written = home.ask(&["report", "@all", "--format", format, "-o", "out"]);
        assert_eq!(written.well().stdout, "");
        assert_eq!(fs::read_to_string(home.path().join("out")).unwrap(), shown.stdout);
    }
    // Who asks for rows gets those of each run.
    home.ask(&["report", "@all"]).well().shows("oldest first");
    for rows in [&["--all"][..], &["--sort", "price"]] {
        home.ask(&[&["report", "@all"], rows].concat()).well().shows("empty").hides("oldest first");
    }
}

#[test]
#[ignore = "longer: it measures for long"]
fn a_run_is_told_in_the_formats_of_a_report() {
    let home = Home::new();
    let written = home.measure(&short(&["--format", "html", "-o", "run.html", "--json", "-"]));
    let result =
        oscost_results::from_bytes(written.well().stdout.as_bytes()).expect("the result beside the page");
    assert_eq!(home.stored(), [result]);
    let again = home.ask(&["report", "@-1", "--format", "html"]);
    assert_eq!(fs::read_to_string(home.path().join("run.html")).unwrap(), again.well().stdout);
    let shown = home.measure(&short(&["--format", "csv"]));
    assert_eq!(shown.well().stdout, home.ask(&["report", "@-1", "--format", "csv"]).well().stdout);
    let table = home.measure(&short(&["-o", "table"]));
    assert_eq!(table.well().stdout, "");
    assert!(fs::read_to_string(home.path().join("table")).unwrap().contains("empty_loop"));
}

#[test]
fn json_on_standard_output_is_the_result_and_nothing_else() {
    let home = Home::new();
    let done = home.measure(&short(&["--json", "-"]));
    let result =
        oscost_results::from_bytes(done.well().stdout.as_bytes()).expect("JSON with a valid checksum");
    assert_eq!(home.stored(), std::slice::from_ref(&result));
    assert_eq!(result.figures[0].id, "instrument/empty_loop");
    assert_eq!(result.doctor.len(), 21, "what the doctor said goes with it");
    // A cut result is refused.
    fs::write(home.path().join("cut.json"), &done.stdout[..done.stdout.len() / 2]).unwrap();
    home.ask(&["report", "cut.json"]).refused(2, "damaged");
}

#[test]
fn colour_and_characters_are_as_asked_for() {
    let home = Home::new();
    home.measure(&SHORT).well();
    let shown = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = home.command(&["report", "@-1"]);
        command.args(arguments).envs(variables.iter().copied()).stdout(Stdio::piped());
        finished(&mut command).well().stdout.clone()
    };
    let colour = '\u{1b}';
    assert!(!shown(&[], &[]).contains(colour), "a pipe stays plain");
    assert!(shown(&["--color", "always"], &[("NO_COLOR", "1")]).contains(colour));
    assert!(shown(&[], &[("CLICOLOR_FORCE", "1")]).contains(colour));
    assert!(!shown(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]).contains(colour));
    assert!(!shown(&[], &[]).is_ascii());
    assert!(shown(&["--ascii"], &[]).is_ascii());
    assert!(shown(&[], &[("LC_ALL", "C")]).is_ascii());
    assert!(shown(&[], &[("LC_ALL", ""), ("LANG", "de_DE.ISO-8859-1")]).is_ascii());
    assert!(!shown(&[], &[("LC_ALL", ""), ("LANG", "de_DE.UTF-8")]).is_ascii());
    for width in ["40", "80", "100", "160"] {
        let text = shown(&["--ascii"], &[("COLUMNS", width)]);
        let most: usize = width.parse().unwrap();
        assert!(text.lines().all(|line| line.len() <= most), "{width}:\n{text}");
    }
    // What is no width is as if nobody had said one.
    for none in ["0", "", "-1", "x", "99999999999999999999"] {
        assert_eq!(shown(&["--ascii"], &[("COLUMNS", none)]), shown(&["--ascii"], &[]), "{none}");
    }
}

#[test]
#[ignore = "longer: it measures for long"]
fn a_fifo_takes_the_result() {
    let home = Home::new();
    let status = home.other("mkfifo").arg("pipe").status().expect("mkfifo");
    assert!(status.success());
    let path = home.path().join("pipe");
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut File::open(path).unwrap(), &mut text).unwrap();
        text
    });
    home.measure(&short(&["--json", "pipe"])).well();
    assert!(oscost_results::from_bytes(&reader.join().unwrap()).is_ok());
}

#[test]
fn a_page_of_a_thousand_results_has_their_history_and_the_receipts_of_one() {
    let home = Home::new();
    let folder = home.path().join("results");
    fs::create_dir(&folder).unwrap();
    let sample = include_bytes!("../../../results/tests/samples/v1.json");
    let mut result = oscost_results::from_bytes(sample).unwrap();
    let ids: Vec<String> = result.figures.iter().map(|figure| figure.id.clone()).collect();
    for run in 0..1000_u32 {
        result.started = format!("2026-01-{:02}T{:02}:{:02}:00Z", 1 + run / 100, run / 10 % 10, run % 10);
        for quantity in result.figures.iter_mut().flat_map(|figure| figure.quantities.values_mut()) {
            // Every figure moves by more than 2 %, up and down.
            let by = if run % 2 == 0 { 1.05 } else { 1.0 / 1.05 };
            let it = &mut quantity.estimate;
            (it.low, it.value, it.high) = (it.low * by, it.value * by, it.high * by);
        }
        // The names say nothing of the order.
        let name = folder.join(format!("{:04}.json", run * 7 % 1000));
        fs::write(name, oscost_results::to_bytes(&result).unwrap()).unwrap();
    }
    let page = home.ask(&["report", "results", "--format", "html"]);
    let text = &page.well().stdout;
    assert!(text.contains("1000 runs"), "{}", &text[..2000]);
    assert!(text.len() <= 5_000_000, "{} bytes", text.len());
    assert_eq!(text.matches("<div class=\"receipt\">").count(), ids.len());
    let newest = text.split("<footer>").nth(1).unwrap();
    let last = oscost_results::to_bytes(&result).unwrap();
    let checksum = String::from_utf8_lossy(&last[..60]).split('"').nth(3).unwrap().to_owned();
    assert!(newest.contains(&checksum), "the newest by its time, not by its name: {newest}");
    // An engine puts the results of each host into a folder of its own.
    let host = home.path().join("fleet/host");
    fs::create_dir_all(&host).unwrap();
    let files: Vec<String> = (0..13).map(|name| format!("fleet/host/{name:04}.json")).collect();
    for file in &files {
        fs::copy(folder.join(Path::new(file).file_name().unwrap()), home.path().join(file)).unwrap();
    }
    let mut named = vec!["report", "--format", "html"];
    named.extend(files.iter().map(String::as_str));
    assert!(home.ask(&named).well().stdout.contains("13 runs"));
    fs::write(host.join("0003.json"), "damaged").unwrap();
    home.ask(&named).refused(2, "0003.json");
    // The page is there, and whoever looks at the code alone learns that something was left out.
    let arguments = ["report", "fleet/host", "--format", "html", "--quiet"];
    let rest = home.ask(&arguments);
    assert!(rest.code == Some(2) && rest.stdout.contains("12 runs"), "{:?}", rest.code);
    assert!(rest.stderr.contains("0003.json"), "{}", rest.stderr);
    // So does one whose reader has gone, also where rows are written before the damaged file is read.
    for format in ["html", "ndjson", "csv"] {
        let arguments = ["report", "fleet/host", "--format", format, "--quiet"];
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        finished(home.command(&arguments).stdout(writer)).ends(2);
    }
    fs::remove_file(host.join("0003.json")).unwrap();
    assert!(home.ask(&["report", "fleet", "--format", "html"]).well().stdout.contains("12 runs"));
    home.ask(&["report", "fleet"]).refused(2, "fleet is a folder: add --fleet");
    fs::create_dir(home.path().join("empty")).unwrap();
    home.ask(&["report", "empty", "--format", "html"]).refused(2, "there is no result in empty");
    home.ask(&["report", "/dev/null", "--only", "syscall", "--format", "csv"]).refused(2, "can be read once");
}
