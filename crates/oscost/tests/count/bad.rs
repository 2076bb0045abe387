//! Bad input of `count`: each has its message and its exit code, and no qemu is left behind.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::played::{GOES_ON, ID, Stage, false_kernel, has_ended, say};

fn refused(output: &Output, code: i32, words: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    for word in words {
        assert!(said.contains(word), "'{word}' is missing: {said}");
    }
}

#[test]
fn what_is_no_kernel_is_misuse_with_its_name() {
    let stage = Stage::new(None);
    std::fs::write(stage.path("rubbish"), vec![7; 5000]).expect("written");
    std::fs::write(stage.path("empty"), b"").expect("written");
    let rubbish = stage.path("rubbish");
    for path in ["rubbish", rubbish.to_str().expect("text"), "empty", "/nowhere/bzImage", "/", "/dev/zero"] {
        refused(&stage.run(&["count", ID, "--kernel", path]), 2, &[path]);
    }
    // Nobody waits for a pipe's other side, and nothing without an end is read.
    let made = Command::new("mkfifo").arg(stage.path("pipe")).status();
    assert!(made.is_ok_and(|status| status.success()));
    for file in ["pipe", "/dev/zero"] {
        for option in ["--kernel", "--guest-program", "--initrd-add"] {
            let begun = Instant::now();
            let mut command = stage.command(&["count", ID, option, file]);
            if option != "--kernel" {
                command.args(["--kernel", "bzImage"]);
            }
            let mut child = command.spawn().expect("it was built");
            while child.try_wait().expect("ours").is_none() {
                if begun.elapsed() > Duration::from_secs(60) {
                    child.kill().expect("ours");
                    panic!("{option} {file} is waited for, or read without an end");
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            refused(&child.wait_with_output().expect("ours"), 2, &[file]);
        }
    }
    refused(&stage.run(&["count", "nothing/such", "--kernel", "bzImage"]), 2, &["nothing/such"]);
    let three = ["count", ID, "--kernel", "bzImage", "--kernel", "bzImage", "--kernel", "bzImage"];
    refused(&stage.run(&three), 2, &["at most twice"]);
    refused(&stage.count(&["--format", "folded"]), 2, &["--by-function"]);
    // No clock reaches so far.
    for patience in ["0", "86401", "18446744073709551615"] {
        refused(&stage.count(&["--patience", patience]), 2, &["1..=86400"]);
    }
}

#[test]
fn without_qemu_the_package_is_named() {
    let stage = Stage::new(None);
    refused(&stage.count(&[]), 5, &["qemu-system-x86_64 is not installed", "apt install qemu-system-x86"]);
}

#[test]
fn a_missing_option_is_found_before_anything_is_started() {
    let stage = Stage::new(None);
    std::fs::write(stage.path("config"), "CONFIG_TTY=y\n").expect("written");
    refused(&stage.count(&[]), 2, &["CONFIG_BLK_DEV_INITRD (an initial root)", "CONFIG_SERIAL_8250_CONSOLE"]);
}

#[test]
fn a_kernel_of_another_architecture_needs_a_program_for_it() {
    let stage = Stage::new(None);
    let mut image = vec![0; 0x4000];
    image[0x38..0x3c].copy_from_slice(b"ARM\x64");
    std::fs::write(stage.path("Image"), image).expect("written");
    let output = stage.run(&["count", ID, "--kernel", "Image"]);
    let words = if cfg!(target_arch = "aarch64") { "is not installed" } else { "--guest-program" };
    refused(&output, 2, &[words]);
    let output = stage.run(&["count", ID, "--kernel", "Image", "--guest-program", "config"]);
    refused(&output, 2, &["config"]);
}

#[test]
fn a_hang_is_told_with_the_last_lines() {
    let stage = Stage::new(Some(&format!("printf '[ 0.1] booting\\n' >$console\n{GOES_ON}")));
    refused(&stage.count(&["--patience", "1"]), 3, &["the guest said nothing for 1 s", "  | [ 0.1] booting"]);
    let silent = Stage::new(Some(GOES_ON));
    let output = silent.count(&["--patience", "1"]);
    refused(&output, 3, &["CONFIG_SERIAL_8250_CONSOLE", "its console is empty"]);
}

/// Two machines are started: nobody waits for the silence of the one, where the other has failed.
#[test]
fn an_error_of_one_machine_ends_the_other() {
    for (seed, more) in [(1, &[][..]), (2, &[][..]), (1, &["--by-function"][..])] {
        let fails = format!("case \"$*\" in *'-seed {seed} '*) printf 'login: ' >$line;; esac");
        let stage = Stage::new(Some(&format!("{fails}\n{GOES_ON}")));
        let begun = Instant::now();
        let output = stage.count(&[&["--patience", "900"], more].concat());
        refused(&output, 3, &["the guest sent something other than a result"]);
        assert!(begun.elapsed() < Duration::from_secs(600), "{seed} {more:?}: it was waited for");
    }
}

#[test]
fn a_panic_is_told_with_its_reason_at_once() {
    let panic = "printf 'x\\nKernel panic - not syncing: VFS: Unable to mount root fs\\n---[ end Kernel panic\\n' >$console";
    let stage = Stage::new(Some(&format!("{panic}\n{GOES_ON}")));
    refused(
        &stage.count(&[]),
        3,
        &["the kernel panicked: VFS: Unable to mount root fs", "CONFIG_BLK_DEV_INITRD"],
    );
}

#[test]
fn rubbish_is_no_result() {
    let frame = "\\n@oscost 2 00000000\\n{}\\n";
    for (said, words) in [
        ("login: ", "no frame: \"login:\""),
        (frame, "a frame whose checksum is wrong"),
        ("\\n@oscost 99999999 00000000\\n", "a frame that is too long"),
    ] {
        let stage = Stage::new(Some(&format!("printf '{said}' >$line\n{GOES_ON}")));
        refused(&stage.count(&[]), 3, &["the guest sent something other than a result", words]);
    }
}

#[test]
fn what_was_counted_on_the_first_kernel_is_stored_whatever_the_second_does() {
    let stage = Stage::playing();
    for folder in ["good", "bad"] {
        std::fs::create_dir(stage.path(folder)).expect("a folder");
        std::fs::write(stage.path(folder).join("bzImage"), false_kernel()).expect("written");
    }
    say(&stage.path("good"), 311);
    std::fs::write(stage.path("bad/said"), "no frame\n").expect("written");
    let two = ["count", ID, "--kernel", "good/bzImage", "--kernel", "bad/bzImage"];
    refused(&stage.run(&two), 3, &["something other than a result", "good/bzImage is stored as "]);
    assert_eq!(stage.stored(), 1);
    // A file holds one kernel.
    refused(&stage.run(&[&two[..], &["--json", "both.json"]].concat()), 2, &["count each with --json FILE"]);
    assert_eq!((stage.stored(), stage.path("both.json").exists()), (1, false));
}

#[test]
fn a_qemu_that_dies_is_told() {
    let stage = Stage::new(Some("kill -9 $$"));
    refused(&stage.count(&[]), 3, &["qemu ended (signal: 9"]);
    let stage = Stage::new(Some("echo 'qemu: no such machine' >&2; exit 1"));
    refused(
        &stage.count(&[]),
        2,
        &["qemu could not start the machine: qemu: no such machine", "--cpu-model"],
    );
    // What ends later is the guest's.
    let stage = Stage::new(Some("printf '[ 0.1] booting\\n' >$console; echo 'qemu: no memory' >&2; exit 1"));
    refused(&stage.count(&[]), 3, &["qemu ended (exit status: 1): qemu: no memory", "  | [ 0.1] booting"]);
    let stage = Stage::new(Some("exit 0"));
    refused(&stage.count(&[]), 3, &["the guest ended before its result"]);
}

#[test]
fn whoever_ends_us_ends_qemu() {
    let stage = Stage::new(Some(GOES_ON));
    for (signal, code) in [("KILL", None), ("INT", Some(130)), ("TERM", Some(143)), ("HUP", Some(129))] {
        let _ = std::fs::remove_file(stage.path("pid"));
        let (mut child, qemu) = stage.start(&[]);
        let sent = Command::new("/bin/kill").args([format!("-{signal}"), child.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()));
        let status = child.wait().expect("our child");
        assert_eq!(status.code(), code, "{signal}");
        assert!(has_ended(qemu), "{signal}: qemu was left behind");
    }
}

#[test]
fn no_space_is_an_error_and_the_table_is_shown() {
    let stage = Stage::playing();
    say(&stage.path(""), 311);
    let mut command = stage.command(&["count", ID, "--kernel", "bzImage"]);
    let output = command.env("XDG_STATE_HOME", "/dev/null/nowhere").output().expect("it was built");
    assert!(String::from_utf8_lossy(&output.stdout).contains("getppid"), "{output:?}");
    refused(&output, 4, &["the result was not stored"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let output = stage.command(&["count", ID, "--kernel", "bzImage"]).stdout(Stdio::from(full)).output();
    refused(&output.expect("it was built"), 4, &["No space left"]);
    refused(&stage.count(&["--json", "/nowhere/x"]), 4, &["/nowhere"]);
}
