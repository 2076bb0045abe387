//! `oscost crosscheck`: simulated peers that work, fail, print rubbish or leave children behind.

use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Home, measured, processes, within};

/// A folder with programs of these names and texts (of sh).
fn peers(home: &Home, programs: &[(&str, &str)]) -> String {
    let folder = home.path().join("peers");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, text) in programs {
        let path = folder.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a program");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("its mode");
    }
    folder.display().to_string()
}

#[test]
fn what_is_not_here_is_said_with_how_to_get_it() {
    let home = Home::new();
    let folder = peers(&home, &[]);
    // Nothing can be measured: one sentence, and no table of nothing.
    for arguments in [&["--format", "json"][..], &["lmbench/lat_ctx"], &["--json", "all.json"], &[]] {
        let with = ["crosscheck", "--with", &format!("lmbench={folder}")];
        let done = home.ask(&[&with[..], arguments].concat());
        done.refused(5, "lmbench is not here").says("build it, and give --with lmbench=DIR");
        assert!(done.stdout.is_empty() && done.stderr.lines().count() == 1, "{done:?}");
    }
    home.ask(&["crosscheck", "--with", "sysbench"])
        .refused(2, "known are perf, rt-tests, stress-ng, lmbench");
    home.ask(&["crosscheck", "--with", "lmbench=/no/such/folder"]).refused(2, "is no folder");
    home.ask(&["crosscheck", "--json", "-"]).refused(2, "name a file");
    assert!(!home.path().join("all.json").exists());
    home.ask(&["crosscheck", "no/such/id"]).refused(2, "no peer measures 'no/such/id'");
}

/// It was measured for a minute beside a table of nothing.
#[test]
fn a_reproduction_beside_no_program_is_refused() {
    let home = Home::new();
    let folder = home.path().display().to_string();
    let lmbench = format!("lmbench={folder}");
    home.ask(&["reproduce", "context-switch", "--quick", "--with", &lmbench])
        .refused(5, "lmbench is not here: lat_syscall was not found");
    let call = ["reproduce", "tlpi", "--quick", "--c", &folder];
    measured(home.command(&call).env("PATH", "/nonexistent")).refused(5, "--c: no C compiler");
    if oscost_sys::program::find("cc").is_some() {
        home.ask(&call).refused(2, "there is no").says("benchmark_posix_sem.c");
    }
}

#[test]
#[ignore = "longer: it measures for long"]
fn no_program_of_the_current_folder_is_run_by_its_name() {
    let home = Home::new();
    for folder in ["", "bin"] {
        let folder = home.path().join(folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        for name in ["perf", "sh", "gzip", "qemu-system-x86_64"] {
            let text = format!("#!/bin/sh\n>{}\nexit 7\n", home.path().join("was_run").display());
            std::fs::write(folder.join(name), text).expect("a program");
            std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(0o755))
                .expect("its mode");
        }
    }
    std::fs::write(home.path().join("bzImage"), packed_kernel()).expect("a file");
    let with_path = |arguments: &[&str], path: &str| {
        let done = measured(home.command(arguments).env("PATH", path));
        assert!(!home.path().join("was_run").exists(), "{arguments:?}: {done:?}");
        done
    };
    let here = ":.:./bin:bin";
    with_path(&["crosscheck", "perf/bench_syscall_basic", "--with", "perf"], here)
        .refused(5, "perf is not here: perf was not found (Debian: apt install linux-perf)");
    let (code, said) =
        if cfg!(target_arch = "x86_64") { (5, "is not installed") } else { (2, "--guest-program") };
    with_path(&["count", "syscall/getppid", "--kernel", "bzImage"], here).refused(code, said);
    let also_there = ":.:./bin:bin:/usr/local/bin:/usr/bin:/bin";
    with_path(&["compare", "--live", "false", "false", "syscall/getppid"], also_there)
        .refused(2, "'false' ended with code 1");
    let load =
        ["run", "realtime_ipc", "--quick", "--json", "-", "--set", "transport=pipe", "--set", "clients=1"];
    let done = with_path(&[&load[..], &["--set", "load_command=sleep 0.1"]].concat(), also_there);
    assert!(matches!(done.code, Some(0 | 3)) && done.stdout.contains("realtime_ipc/pipe"), "{done:?}");
}

/// An image that passes for one of x86_64, with something packed by gzip. Linux's Documentation/arch/x86/boot.rst.
fn packed_kernel() -> Vec<u8> {
    let mut bytes = vec![0; 0x4000];
    bytes[0x1fe..0x200].copy_from_slice(&[0x55, 0xaa]);
    bytes[0x1f1] = 1;
    bytes[0x202..0x206].copy_from_slice(b"HdrS");
    bytes[0x206..0x208].copy_from_slice(&0x20f_u16.to_le_bytes());
    bytes[0x236] = 1;
    bytes[0x248..0x24c].copy_from_slice(&0x200_u32.to_le_bytes());
    bytes[0x24c..0x250].copy_from_slice(&0x100_u32.to_le_bytes());
    bytes[0x600..0x602].copy_from_slice(&[0x1f, 0x8b]);
    bytes
}

#[test]
#[ignore = "longer: it measures for long"]
fn a_peer_is_read_or_shown_and_nothing_of_it_stays() {
    let home = Home::new();
    // Two that only wait: one leaves a child that outlives its session, the other is told apart by its number.
    let mark = 200_000 + std::process::id();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port of loopback");
    let port = listener.local_addr().expect("its address").port();
    std::thread::spawn(move || {
        for (count, stream) in listener.incoming().enumerate() {
            let code = if count % 2 == 0 { "0\n" } else { "3\n" };
            let _ = stream.and_then(|mut stream| stream.write_all(code.as_bytes()));
        }
    });
    let leaves =
        format!("setsid sleep {mark} >/dev/null 2>&1 & echo 'Simple syscall: 0.1000 microseconds' >&2");
    // It fails at every other launch, as it is told: what it keeps itself vanishes with it.
    let at_times = format!(
        "exec bash -c 'read -r c </dev/tcp/127.0.0.1/{port}; echo AF_UNIX: 2.0 microseconds; exit $c'"
    );
    let programs = [
        ("lat_syscall", &*leaves),
        ("lat_pipe", "echo 'Pipe latency: 2.0 microseconds'; exit 1"),
        ("lat_unix", &*at_times),
        ("lat_sig", "echo 'lat_sig: fatal: no handler'; echo 'Signal handler overhead: 1.0 microseconds'"),
        ("lat_sem", "printf '\\033[31m<b>'; echo no figure"),
    ];
    let folder = peers(&home, &programs);
    let with = format!("lmbench={folder}");
    let done = home.measure(&["crosscheck", "--quick", "--with", &with, "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&done.well().stdout).expect("JSON");
    let row = |peer: &str| {
        let rows = json["rows"].as_array().expect("rows");
        rows.iter().find(|row| row["peer"] == format!("lmbench/{peer}")).expect("the probe").clone()
    };
    let read = row("lat_syscall_null");
    assert_eq!(read["found"]["value"], 100.0, "{read}");
    assert!(read["ours"]["value"].as_f64().is_some_and(|ns| ns > 0.0), "{read}");
    assert!(read["ratio"]["value"].as_f64().is_some_and(|ratio| ratio > 0.0), "{read}");
    let failed = row("lat_pipe")["found"]["why"].as_str().expect("why").to_owned();
    assert!(failed.contains("ended with code 1"), "an error beside a figure: {failed}");
    let sometimes = row("lat_unix");
    assert_eq!(sometimes["found"]["value"], 1000.0, "{sometimes}");
    let verdict = sometimes["verdict"].as_str().expect("verdict");
    assert!(verdict.contains("launches failed") && verdict.contains("code 3"), "{verdict}");
    let beside = row("lat_sig")["found"]["why"].as_str().expect("why").to_owned();
    assert!(beside.contains("error beside"), "{beside}");
    let rubbish = row("lat_sem")["found"]["why"].as_str().expect("why").to_owned();
    assert!(rubbish.contains("cannot be read"), "{rubbish}");
    let shown = home.measure(&["crosscheck", "--quick", "--with", &with]);
    assert!(!shown.well().stdout.contains('\u{1b}'), "what it printed is escaped");
    // Named in full, and not here: withheld, beside what is.
    let named = ["crosscheck", "--quick", "--with", &with, "lmbench/lat_syscall_null", "lmbench/lat_ctx"];
    home.measure(&named).ends(3).shows("lmbench/lat_ctx").shows("syscall/getppid");
    let gone = || processes(|line| line.contains(&mark.to_string())) == 0;
    if oscost_sys::namespace::probe() == Ok(None) {
        assert!(within(60, gone), "a child of a peer is still there");
    }
    assert!(!home.runs().exists() || home.stored().is_empty(), "peers' figures stand in no history");
}

#[test]
#[ignore = "longer: it measures for long"]
fn a_peer_that_never_tells_its_version_is_not_waited_for() {
    let home = Home::new();
    let mark = 300_000 + std::process::id();
    let text =
        format!("case $1 in --version) sleep {mark} & exec sleep {mark};; *) echo '  0.1 usecs/op';; esac");
    let folder = peers(&home, &[("perf", &text)]);
    let with = format!("perf={folder}");
    let done = home.measure(&["crosscheck", "perf/bench_syscall_basic", "--quick", "--with", &with]);
    assert!(done.well().stdout.contains("perf/bench_syscall_basic"), "{done:?}");
    let gone = || processes(|line| line.contains(&mark.to_string())) == 0;
    assert!(within(60, gone), "what it was asked for its version with is still there");
}
