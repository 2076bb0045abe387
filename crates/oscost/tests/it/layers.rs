//! The layers of ARCHITECTURE.md, checked against the Cargo.toml files, and where `unsafe` is allowed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::repository::{code, document, entries, root, sources};

/// What each crate may use of ours. An edge that is not here is a defect.
const LAYERS: &[(&str, &str)] = &[
    ("sys", ""),
    ("stats", ""),
    ("results", ""),
    ("harness", "sys stats results"),
    ("recorddb", "sys"),
    ("families", "harness sys stats recorddb"),
    ("documents", "families harness recorddb sys stats results"),
    ("report", "results stats"),
    ("count", "harness sys results"),
    ("bill", "sys results"),
    ("session", "harness sys stats results"),
    ("oscost", "sys stats results harness recorddb families documents report count bill session"),
];

fn manifest(path: &Path) -> String {
    fs::read_to_string(path.join("Cargo.toml")).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Crates of the workspace by the name of their directory.
fn crates() -> BTreeMap<String, PathBuf> {
    let named = entries(&root().join("crates"))
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), path));
    named.filter(|(_, path)| path.join("Cargo.toml").exists()).collect()
}

/// Lines of the sections whose name satisfies `wanted`.
fn lines(manifest: &str, wanted: impl Fn(&str) -> bool) -> Vec<&str> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            inside = wanted(name.trim_end_matches(']'));
        } else if inside && !line.is_empty() && !line.starts_with('#') {
            lines.push(line);
        }
    }
    lines
}

/// Our crates among the dependencies that are compiled into a crate. Those of its tests alone are its own affair.
fn used(manifest: &str) -> BTreeSet<&str> {
    let sections = |name: &str| {
        (name.ends_with("dependencies") || name.contains("dependencies."))
            && !name.contains("dev-dependencies")
            && !name.starts_with("workspace")
    };
    let ours = lines(manifest, sections).into_iter().filter_map(|line| line.strip_prefix("oscost-"));
    ours.map(|line| line.split(['.', ' ', '=']).next().unwrap_or(line)).collect()
}

#[test]
fn no_crate_uses_another_that_its_layer_does_not_allow() {
    for (name, path) in crates() {
        let Some((_, allowed)) = LAYERS.iter().find(|(layer, _)| *layer == name) else {
            panic!("crate {name} stands in no layer");
        };
        let text = manifest(&path);
        for other in used(&text) {
            assert!(allowed.split(' ').any(|it| it == other), "{name} must not use {other}");
        }
    }
}

#[test]
fn the_reader_of_manifests_sees_every_way_to_write_a_dependency() {
    let text = "[dependencies]\noscost-sys.workspace = true\noscost-stats = { path = \"x\" }\n# oscost-no = 1\n\
                [dev-dependencies]\noscost-report.workspace = true\n\
                [target.'cfg(unix)'.dependencies]\noscost-results = \"1\"\n[lints]\nworkspace = true\n";
    assert_eq!(used(text), ["results", "stats", "sys"].into_iter().collect());
}

/// The picture of ARCHITECTURE.md: every crate stands once, above all that it uses.
#[test]
fn every_crate_stands_above_what_it_uses() {
    let text = document("ARCHITECTURE.md");
    let drawn = text.lines().filter_map(|line| line.strip_prefix("floor ")?.split_once(' '));
    let mut floors: BTreeMap<&str, u32> = BTreeMap::new();
    for (number, names) in drawn {
        let floor = number.parse().expect("the number of a floor");
        // The name of a crate stands after two blanks or more, as its purpose does.
        for cell in names.split("  ").map(str::trim) {
            if LAYERS.iter().any(|(name, _)| *name == cell) {
                assert_eq!(floors.insert(cell, floor), None, "{cell} stands twice");
            }
        }
    }
    for (name, allowed) in LAYERS {
        for below in allowed.split_whitespace() {
            assert!(floors[name] > floors[below], "{name} does not stand above {below}");
        }
    }
}

/// Packages outside the crates are for this repository; every crate can be published, and says what it is.
#[test]
fn every_crate_can_be_published_and_nothing_else() {
    for (name, path) in crates() {
        let text = manifest(&path);
        let package = lines(&text, |name| name == "package");
        let says = |key: &str| {
            package
                .iter()
                .any(|line| line.starts_with(&format!("{key} ")) || line.starts_with(&format!("{key}.")))
        };
        for key in ["description", "version", "license", "readme", "keywords", "categories"] {
            assert!(says(key), "{name} does not say its {key}");
        }
        assert!(!says("publish"), "{name}: nothing keeps a crate from being published");
        // A package is made of its own folder: a licence that lies above it would not travel.
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let (own, whole) = (fs::read(path.join(licence)), fs::read(root().join(licence)));
            assert!(own.is_ok_and(|own| own == whole.expect("a licence")), "{name} has no {licence}");
        }
    }
    let text = manifest(&root());
    let ours: Vec<&str> = lines(&text, |name| name == "workspace.dependencies")
        .into_iter()
        .filter(|line| line.starts_with("oscost-"))
        .collect();
    assert_eq!(ours.len() + 1, crates().len(), "{ours:?}");
    // A path travels to nobody, and crates of two releases do not fit together: their interfaces are for this repository.
    let version = concat!("version = \"=", env!("CARGO_PKG_VERSION"), "\"");
    for line in ours {
        assert!(line.contains("path = ") && line.contains(version), "{line}: {version} is wanted");
    }
    let mut others = vec![root().join("examples"), root().join("fuzz")];
    others.extend(entries(&root().join("contrib")).filter(|path| path.join("Cargo.toml").exists()));
    assert!(others.len() > 3, "{others:?}");
    for path in others {
        let text = manifest(&path);
        let package = lines(&text, |name| name == "package");
        assert!(package.contains(&"publish = false"), "{}", path.display());
    }
}

#[test]
fn unsafe_code_stands_in_sys_alone() {
    for (name, path) in crates() {
        let roots: Vec<PathBuf> = ["src/lib.rs", "src/main.rs"]
            .iter()
            .map(|file| path.join(file))
            .filter(|file| file.exists())
            .collect();
        assert!(!roots.is_empty(), "crate {name} has no root");
        for file in roots {
            let forbids = fs::read_to_string(&file).unwrap().contains("#![forbid(unsafe_code)]");
            assert_eq!(forbids, name != "sys", "{}", file.display());
        }
    }
}

#[test]
fn the_lints_that_guard_unsafe_code_and_output_are_on_everywhere() {
    let workspace = manifest(&root());
    for lint in [
        "unsafe_op_in_unsafe_fn",
        "undocumented_unsafe_blocks",
        "print_stdout",
        "print_stderr",
        "unwrap_used",
        "dbg_macro",
        "todo",
    ] {
        let lints = lines(&workspace, |name| name.starts_with("workspace.lints"));
        assert!(lints.contains(&format!("{lint} = \"deny\"").as_str()), "{lint} is not denied");
    }
    for (name, path) in crates() {
        let text = manifest(&path);
        assert!(
            lines(&text, |name| name == "lints").contains(&"workspace = true"),
            "{name} has lints of its own"
        );
    }
}

/// Modules of tests, and of what only tests use.
fn is_test(path: &Path) -> bool {
    let name = |name: &str| path.ends_with(name);
    path.iter().any(|part| part == "tests")
        || ["tests.rs", "killed.rs", "known/written.rs", "results/src/schema.rs"].into_iter().any(name)
}

/// Sources of a crate, and what of each is not its tests.
fn own_sources(path: &Path) -> Vec<(PathBuf, String)> {
    let all = sources(&path.join("src")).into_iter().filter(|(path, _)| !is_test(path));
    all.map(|(path, text)| (path, code(&text).to_owned())).collect()
}

/// What the standard library does without a limit, or gives up with a panic: the crate `sys` has it with one, and with words.
#[test]
fn nothing_waits_or_reads_without_a_limit() {
    let mut looked_at = 0;
    for (name, path) in crates() {
        let found = own_sources(&path);
        looked_at += found.len();
        for (source, text) in &found {
            // A guest has nobody else's files.
            let is_guest = source.parent().is_some_and(|folder| folder.ends_with("count/src/guest"));
            for (call, instead) in [
                ("thread::sleep(", "oscost_sys::clock::pause"),
                ("thread::spawn(", "std::thread::Builder"),
                ("fs::read_to_string(", "oscost_sys::file::text"),
                ("fs::read(", "oscost_sys::file::bytes"),
                ("File::open(\"/proc", "oscost_sys::file::regular"),
                ("File::open(\"/sys", "oscost_sys::file::regular"),
            ] {
                let at =
                    text.lines().position(|line| line.contains(call) && !line.trim_start().starts_with("//"));
                let at = at.filter(|_| !(is_guest && call.starts_with("fs::")));
                assert_eq!(at, None, "{name}: {}: {call} ...: use {instead}", source.display());
            }
        }
    }
    assert!(looked_at > 200, "{looked_at}");
}

/// Who opens Internet sockets, and only to this machine. A guest brings its own loopback up.
#[test]
fn internet_sockets_are_opened_by_benchmarks_and_loads_on_loopback() {
    let mut who = BTreeSet::new();
    for (name, path) in crates() {
        for (source, text) in own_sources(&path) {
            let opens =
                ["TcpListener::", "TcpStream::connect", "UdpSocket::bind", "AF_INET", "x11rb::connect"];
            if opens.iter().any(|call| text.contains(call)) {
                let file = source.file_name().expect("a name").to_string_lossy();
                who.insert(format!("{name} {file}"));
            }
            let addresses = text.matches("Ipv4Addr::").count() + text.matches("Ipv6Addr::").count();
            let near =
                text.matches("Ipv4Addr::LOCALHOST").count() + text.matches("Ipv6Addr::LOCALHOST").count();
            assert_eq!(addresses, near, "{}: an address that is not loopback's", source.display());
        }
    }
    let known = [
        "families network.rs",
        "families transfer.rs",
        "families window.rs",
        "sys guest.rs",
        "sys loopback.rs",
        "sys socket.rs",
    ];
    assert_eq!(who, BTreeSet::from(known.map(str::to_owned)));
}
