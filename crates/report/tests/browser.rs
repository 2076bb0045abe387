//! The page in a real Chromium: what a reader does with it, axe's rules, and hostile text in every field.
//!
//! It needs node, Chromium, and `npm ci` in `tests/browser`; where one is missing it says SKIP.
#![allow(clippy::unwrap_used, reason = "a test may stop at once")]
#![allow(clippy::print_stdout)] // a skipped test says so

mod fixture;

use std::path::Path;
use std::process::Command;

use oscost_report::{Named, page};
use oscost_results::RunResult;
use serde_json::{Value, json};

/// What has broken pages, terminals and spreadsheets before.
const HOSTILE: [&str; 60] = [
    "<script>window.hurt++</script>",
    "<img src=x onerror=window.hurt++>",
    "\"><script>window.hurt++</script>",
    "'><script>window.hurt++</script>",
    "\" onload=\"window.hurt++",
    "' onfocus='window.hurt++' autofocus='",
    "</title><script>window.hurt++</script>",
    "</style><script>window.hurt++</script>",
    "</script><script>window.hurt++</script>",
    "</textarea><script>window.hurt++</script>",
    "--><script>window.hurt++</script>",
    "]]><script>window.hurt++</script>",
    "<svg onload=window.hurt++>",
    "<svg><script>window.hurt++</script></svg>",
    "<math><mtext><script>window.hurt++</script>",
    "<iframe srcdoc='<script>parent.hurt++</script>'>",
    "<iframe src=javascript:parent.hurt++>",
    "<a href=javascript:window.hurt++>x</a>",
    "javascript:window.hurt++",
    "<base href=//example.invalid/>",
    "<link rel=stylesheet href=//example.invalid/x.css>",
    "<meta http-equiv=refresh content=0>",
    "<object data=x>",
    "<embed src=x>",
    "<body onload=window.hurt++>",
    "<details open ontoggle=window.hurt++>",
    "<style>*{display:none}</style>",
    "<plaintext>",
    "<noscript><p title='</noscript><img src=x onerror=window.hurt++>'>",
    "<template><script>window.hurt++</script></template>",
    "<ScRiPt>window.hurt++</sCrIpT>",
    "<script\u{a0}>window.hurt++</script>",
    "<<script>window.hurt++//<</script>",
    "<!--<img src=\"--><img src=x onerror=window.hurt++//\">",
    "<![CDATA[<script>window.hurt++</script>]]>",
    "&lt;script&gt;window.hurt++&lt;/script&gt;",
    "&#60;script&#62;window.hurt++&#60;/script&#62;",
    "\\x3cscript\\x3ewindow.hurt++\\x3c/script\\x3e",
    "\\u003cscript\\u003e",
    "${window.hurt++}",
    "{{constructor.constructor('window.hurt++')()}}",
    "`-window.hurt++-`",
    "';window.hurt++;//",
    "\";window.hurt++;//",
    "url(//example.invalid/x)",
    "expression(window.hurt++)",
    "%3Cscript%3Ewindow.hurt++%3C/script%3E",
    "=cmd|' /C calc'!A0",
    "+1+cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "../../../../etc/passwd",
    "| a | b |",
    "[x](javascript:window.hurt++)",
    "![x](//example.invalid/x.png)",
    "\u{1b}[2J\u{1b}]0;title\u{7}",
    "a\u{202e}txt.exe",
    "a\u{2066}b\u{2069}c",
    "line\r\nbreak\u{2028}and\u{0}nul",
    "\u{feff}\u{200b}<b>\u{9b}31m</b>",
];

/// Puts a hostile text into every field of text that may hold any.
fn hostile(result: &RunResult) -> (RunResult, Vec<String>) {
    let mut value = serde_json::to_value(result).unwrap();
    let mut places = Vec::new();
    fn walk(value: &Value, path: &str, places: &mut Vec<String>) {
        match value {
            Value::String(_) => places.push(path.to_owned()),
            Value::Array(all) => {
                all.iter().enumerate().for_each(|(index, one)| walk(one, &format!("{path}/{index}"), places));
            }
            Value::Object(all) => all.iter().for_each(|(key, one)| {
                walk(one, &format!("{path}/{}", key.replace('~', "~0").replace('/', "~1")), places);
            }),
            _ => {}
        }
    }
    walk(&value, "", &mut places);
    let mut used = Vec::new();
    for (index, place) in places.iter().enumerate() {
        let before = value.pointer(place).unwrap().clone();
        let text = HOSTILE[index % HOSTILE.len()];
        *value.pointer_mut(place).unwrap() = Value::String(text.to_owned());
        // Names that a result cannot do without (states, the format) refuse it: those stay.
        if serde_json::from_value::<RunResult>(value.clone()).is_err() || place == "/format" {
            *value.pointer_mut(place).unwrap() = before;
        } else {
            used.push(text.to_owned());
        }
    }
    (serde_json::from_value(value).unwrap(), used)
}

/// The letters of a text that stay as they are on a page.
fn visible(text: &str) -> String {
    oscost_results::Untrusted::new(text).terminal().to_string()
}

fn write(folder: &Path, name: &str, result: &RunResult) -> String {
    let mut out = Vec::new();
    page(&[Named { name, result }], &mut out).unwrap();
    std::fs::write(folder.join(format!("{name}.html")), &out).unwrap();
    String::from_utf8(out).unwrap()
}

fn found(program: &str) -> Option<String> {
    let paths = std::env::var_os("PATH")?;
    let file = std::env::split_paths(&paths).map(|path| path.join(program)).find(|file| file.is_file())?;
    Some(file.to_string_lossy().into_owned())
}

#[test]
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
    page(&[Named { name: "before", result: &result }, Named { name: "after", result: &later }], &mut two)
        .unwrap();
    std::fs::write(folder.path().join("two.html"), two).unwrap();
    let (attacked, used) = hostile(&result);
    let shown = write(folder.path(), "hostile", &attacked);
    let mut texts: Vec<String> = used.iter().map(|text| visible(text)).collect();
    texts.sort_unstable();
    texts.dedup();
    assert!(texts.len() >= HOSTILE.len(), "every hostile text stands somewhere");
    let find = "semaphore/";
    let facts = json!({
        "figures": result.figures.len(),
        "find": find,
        "found": result.figures.iter().filter(|figure| figure.id.contains(find)).count(),
        "family": "semaphore",
        "family_figures": result.figures.iter().filter(|figure| figure.family == "semaphore").count(),
        "scripts": shown.matches("<script>").count(),
        "shown": texts.into_iter().filter(|text| shown_at_all(&shown, text)).collect::<Vec<_>>(),
    });
    assert!(facts["shown"].as_array().unwrap().len() >= 55, "{}", facts["shown"]);
    std::fs::write(folder.path().join("facts.json"), facts.to_string()).unwrap();
    let output =
        Command::new(node).arg(own.join("page.mjs")).arg(folder.path()).arg(chromium).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

/// Whether the page shows the field at all: not every field of a result stands on it.
fn shown_at_all(page: &str, text: &str) -> bool {
    page.contains(&oscost_results::Untrusted::new(text).html().to_string())
}

/// The policy names the styles and the script that the page has, by their SHA-256.
#[test]
fn the_policy_fits_the_page() {
    let mut out = Vec::new();
    page(&[Named { name: "x", result: &fixture::result() }], &mut out).unwrap();
    let shown = String::from_utf8(out).unwrap();
    for (begin, end, directive) in
        [("<style>", "</style>", "style-src"), ("<script>", "</script>", "script-src")]
    {
        let text = shown.split(begin).nth(1).unwrap().split(end).next().unwrap();
        let hash = sha256(text.as_bytes());
        assert!(
            shown.contains(&format!("{directive} 'sha256-{hash}'")),
            "{directive}: write {hash} into the .sha256 file"
        );
    }
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
