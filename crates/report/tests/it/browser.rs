//! The page in a real Chromium and a real Firefox: what a reader does with it, axe's rules, and hostile text in every field.
//!
//! It needs node, Chromium, and `npm ci` in `tests/browser`; where one is missing it says SKIP.

use crate::fixture;

use std::path::Path;
use std::process::Command;

use oscost_report::{Named, numbers, page};
use oscost_results::{RunResult, Status};
use serde_json::json;

use crate::fixture::hostile::{HOSTILE, hostile};
use crate::fixture::plotted;

/// The letters of a text that stay as they are on a page.
fn visible(text: &str) -> String {
    oscost_results::Untrusted::new(text).terminal().to_string()
}

fn write(folder: &Path, name: &str, result: &RunResult) -> String {
    let mut out = Vec::new();
    page(&[Named { name, result }], None, &mut out).unwrap();
    std::fs::write(folder.join(format!("{name}.html")), &out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Id, what is quoted, and how that reads, of every figure with a number, as the result has it.
fn quoted(result: &RunResult) -> Vec<serde_json::Value> {
    let measured = result.figures.iter().filter(|figure| figure.status == Status::Measured);
    measured
        .map(|figure| {
            let quantity = &figure.quantities[&figure.headline];
            let value = quantity.estimate.value;
            json!([figure.id, value, numbers::quantity(value, &quantity.unit).replace(" us", " \u{b5}s")])
        })
        .collect()
}

fn found(program: &str) -> Option<String> {
    let paths = std::env::var_os("PATH")?;
    let file = std::env::split_paths(&paths).map(|path| path.join(program)).find(|file| file.is_file())?;
    Some(file.to_string_lossy().into_owned())
}

/// Two results beside a page of them, and what a reader must find there.
fn three(folder: &Path, result: &RunResult) {
    let mut slower = result.clone();
    slower.figures.iter_mut().for_each(|figure| fixture::scale(figure, 2.0));
    let mut out = Vec::new();
    let named = [("one", result), ("two", result), ("three", &slower)];
    page(&named.map(|(name, result)| Named { name, result }), None, &mut out).unwrap();
    std::fs::write(folder.join("three.html"), out).unwrap();
}

/// A fleet of 40 hosts, one of them slower by a fifth.
fn fleet(folder: &Path, result: &RunResult) {
    let mut fleet = oscost_report::fleet::Fleet::default();
    for at in 0..40_u64 {
        let mut generator = oscost_stats::order::seeded(at, 5);
        let mut host = result.clone();
        host.machine.host = Some(format!("node{at}"));
        for figure in &mut host.figures {
            // Up to 2 %, drawn for each figure of each host: no host is slower in all of them.
            let apart = oscost_stats::order::below(40_001, &mut generator) as f64 / 1e6 - 0.02;
            fixture::scale(figure, (1.0 + apart) * if at == 7 { 1.2 } else { 1.0 });
        }
        fleet.add(&oscost_results::Outline::of(&host), "file");
    }
    let mut out = Vec::new();
    fleet.judge().page(&mut out).unwrap();
    std::fs::write(folder.join("fleet.html"), out).unwrap();
}

/// What a reader must find on the pages of a result.
fn facts(result: &RunResult, shown: &str) -> serde_json::Value {
    let find = "semaphore/";
    json!({
        "figures": result.figures.len(),
        "find": find,
        "found": result.figures.iter().filter(|figure| figure.id.contains(find)).count(),
        "quoted": quoted(result),
        "scripts": shown.matches("<script>").count(),
    })
}

#[test]
#[ignore = "longer: it drives a browser"]
fn a_reader_in_firefox() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    let Some(node) = found("node") else {
        return println!("SKIP a_reader_in_firefox: node is not installed");
    };
    let Some(firefox) = found("firefox-esr").or_else(|| found("firefox")) else {
        return println!("SKIP a_reader_in_firefox: Firefox is not installed");
    };
    let folder = tempfile::tempdir().unwrap();
    let result = fixture::result();
    write(folder.path(), "page", &result);
    three(folder.path(), &result);
    let shown = write(folder.path(), "hostile", &hostile(&result).0);
    std::fs::write(folder.path().join("facts.json"), facts(&result, &shown).to_string()).unwrap();
    let output =
        Command::new(node).arg(own.join("firefox.mjs")).arg(folder.path()).arg(firefox).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    if output.status.code() == Some(3) {
        return println!("SKIP a_reader_in_firefox: {}", said.trim());
    }
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[ignore = "longer: it drives a browser"]
fn a_reader_in_chromium() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    let Some(node) = found("node") else {
        return println!("SKIP a_reader_in_chromium: node is not installed");
    };
    let Some(chromium) = found("chromium").or_else(|| found("google-chrome")) else {
        return println!("SKIP a_reader_in_chromium: Chromium is not installed");
    };
    if !own.join("node_modules/playwright-core").exists() {
        return println!("SKIP a_reader_in_chromium: run 'npm ci' in crates/report/tests/browser");
    }
    let folder = tempfile::tempdir().unwrap();
    let result = fixture::result();
    write(folder.path(), "page", &result);
    let mut later = result.clone();
    later.conditions.kernel = "Linux 99".into();
    let mut two = Vec::new();
    let named = [Named { name: "before", result: &result }, Named { name: "after", result: &later }];
    page(&named, None, &mut two).unwrap();
    std::fs::write(folder.path().join("two.html"), two).unwrap();
    three(folder.path(), &result);
    fleet(folder.path(), &result);
    let every = plotted::result(&result, &[]);
    write(folder.path(), "plots", &every);
    write(folder.path(), "attacked_plots", &plotted::result(&hostile(&result).0, &HOSTILE));
    let large = plotted::large(&result);
    let ticks = |result: &RunResult| -> usize {
        let launches = result.figures.iter().flat_map(|figure| &figure.launches);
        launches.flat_map(|launch| launch.tracks.values()).map(Vec::len).sum()
    };
    assert_eq!((large.figures.len(), ticks(&large)), (100, 100_000));
    let size = write(folder.path(), "large", &large).len();
    assert!(size <= 1_600_000, "{size} bytes");
    println!("the page of 100 figures and 100 000 ticks has {size} bytes");
    // Whatever a page of that size costs by itself: words, no more.
    let words = "word ".repeat(99);
    let bare =
        format!("<!doctype html><title>bare</title>{}", format!("<p>{words}</p>\n").repeat(size / 503));
    std::fs::write(folder.path().join("bare.html"), bare).unwrap();
    let (attacked, used) = hostile(&result);
    let shown = write(folder.path(), "hostile", &attacked);
    let mut texts: Vec<String> = used.iter().map(|text| visible(text)).collect();
    texts.sort_unstable();
    texts.dedup();
    assert!(texts.len() >= HOSTILE.len(), "every hostile text stands somewhere");
    let mut facts = facts(&result, &shown);
    facts["every"] = json!(HOSTILE.map(visible).to_vec());
    facts["shown"] = json!(texts.into_iter().filter(|text| shown_at_all(&shown, text)).collect::<Vec<_>>());
    assert!(facts["shown"].as_array().unwrap().len() >= 55, "{}", facts["shown"]);
    std::fs::write(folder.path().join("facts.json"), facts.to_string()).unwrap();
    // On two CPUs, where they can be chosen.
    let two = |program: &str| {
        let mut command = Command::new("taskset");
        command.args(["--cpu-list", "0,1", program]);
        command
    };
    let may = two("true").output().is_ok_and(|output| output.status.success());
    let mut command = if may { two(&node) } else { Command::new(node) };
    let output = command.arg(own.join("page.mjs")).arg(folder.path()).arg(chromium).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

/// Whether the page shows the field at all: not every field of a result stands on it.
fn shown_at_all(page: &str, text: &str) -> bool {
    page.contains(&oscost_results::Untrusted::new(text).html().to_string())
}

/// The policy names the styles and the scripts that the page has, by their SHA-256, and no others.
#[test]
fn the_policy_fits_the_page() {
    let result = fixture::result();
    for result in [plotted::result(&result, &[]), result] {
        let mut out = Vec::new();
        page(&[Named { name: "x", result: &result }], None, &mut out).unwrap();
        let shown = String::from_utf8(out).unwrap();
        for (begin, end, directive) in
            [("<style>", "</style>", "style-src"), ("<script>", "</script>", "script-src")]
        {
            let elements = shown.split(begin).skip(1).map(|rest| rest.split(end).next().unwrap());
            let hashes: Vec<String> =
                elements.map(|text| format!("'sha256-{}'", sha256(text.as_bytes()))).collect();
            let expected = format!("{directive} {};", hashes.join(" "));
            let listed = shown.split(directive).nth(1).unwrap().split(';').next().unwrap();
            let mut listed: Vec<&str> = listed.split(' ').skip(1).collect();
            listed.sort_unstable();
            let mut hashes: Vec<&str> = hashes.iter().map(String::as_str).collect();
            hashes.sort_unstable();
            assert_eq!(listed, hashes, "{expected}: write them into the .sha256 files");
        }
    }
}

/// Making the page takes no longer than a fixed multiple of reading the result that it is made of.
#[test]
fn the_page_is_made_quickly() {
    let large = plotted::large(&fixture::result());
    let bytes = oscost_results::to_bytes(&large).unwrap();
    let fastest = |work: &dyn Fn() -> usize| {
        let times = (0..5).map(|_| {
            let start = std::time::Instant::now();
            assert!(work() > 0);
            start.elapsed()
        });
        times.min().unwrap()
    };
    let read = fastest(&|| serde_json::from_slice::<RunResult>(&bytes).unwrap().figures.len());
    let made = fastest(&|| {
        let mut out = Vec::new();
        page(&[Named { name: "x", result: &large }], None, &mut out).unwrap();
        out.len()
    });
    println!("reading {} bytes takes {read:?}, making the page of them {made:?}", bytes.len());
    assert!(made < 20 * read, "{made:?} against {read:?} for reading");
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(bytes);
    // Base64 by hand: one use, three lines.
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in digest.chunks(3) {
        let bits =
            three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..=three.len() {
            text.push(char::from(letters[(bits >> (18 - 6 * place) & 63) as usize]));
        }
        text.extend(std::iter::repeat_n('=', 3 - three.len()));
    }
    text
}
