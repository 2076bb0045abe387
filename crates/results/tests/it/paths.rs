//! Paths that a user may name: other users' links, silent pipes, devices, endless files.
#![cfg(target_os = "linux")]

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use oscost_results::{NamedFile, check_writable, load, make_folder, write_file};

const SAMPLE: &[u8] = include_bytes!("../samples/v1.json");
/// More than a pipe holds.
const MANY: usize = 1 << 20;

fn fifo(directory: &Path, name: &str) -> PathBuf {
    let path = directory.join(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

/// Opens a pipe for both sides, so that nobody waits for the other, and never reads or writes.
fn idle(path: &Path) -> File {
    OpenOptions::new().read(true).write(true).open(path).unwrap()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
#[ignore = "longer: it waits"]
fn a_pipe_whose_other_side_does_nothing_is_given_up() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name| fifo(directory.path(), name);
    let (no_reader, lazy_reader, no_writer, lazy_writer) = (path("a"), path("b"), path("c"), path("d"));
    check_writable(&no_reader).unwrap();
    let _idle = [idle(&lazy_reader), idle(&lazy_writer)];
    let begun = Instant::now();
    let wait_for = |wait: &(dyn Fn() -> String + Sync), words: &str| {
        let said = wait();
        assert!(said.contains(words), "{said}");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_for(&|| write_file(&no_reader, b"x").unwrap_err().to_string(), "nobody has read from it");
        });
        scope.spawn(|| {
            let bytes = vec![b'x'; MANY];
            wait_for(&|| write_file(&lazy_reader, &bytes).unwrap_err().to_string(), "took nothing");
        });
        scope.spawn(|| wait_for(&|| load(&no_writer).unwrap_err().to_string(), "nobody has written to it"));
        scope.spawn(|| wait_for(&|| load(&lazy_writer).unwrap_err().to_string(), "nothing was written"));
    });
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

/// Who comes and writes nothing leaves an empty file: nobody is waited for any more.
#[test]
fn a_pipe_whose_other_side_goes_away_is_empty() {
    let directory = tempfile::tempdir().unwrap();
    let path = fifo(directory.path(), "empty");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let writer = OpenOptions::new().write(true).open(&path).unwrap();
            // The reader looks every 20 ms.
            std::thread::sleep(Duration::from_secs(1));
            drop(writer);
        });
        let said = load(&path).unwrap_err().to_string();
        assert!(!said.contains("nobody has written"), "{said}");
    });
}

#[test]
fn a_pipe_whose_other_side_works_takes_and_gives_everything() {
    let directory = tempfile::tempdir().unwrap();
    let (out, back) = (fifo(directory.path(), "out"), fifo(directory.path(), "back"));
    let bytes: Vec<u8> = (0..MANY).map(|at| (at % 251) as u8).collect();
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            let mut read = Vec::new();
            File::open(&out).unwrap().read_to_end(&mut read).unwrap();
            read
        });
        write_file(&out, &bytes).unwrap();
        assert!(reader.join().unwrap() == bytes);
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            let mut writer = OpenOptions::new().write(true).open(&back).unwrap();
            let (first, second) = SAMPLE.split_at(1000);
            writer.write_all(first).unwrap();
            std::thread::sleep(Duration::from_millis(200));
            writer.write_all(second).unwrap();
        });
        load(&back).unwrap();
    });
}

#[test]
fn devices_and_files_that_never_end_are_not_read() {
    let refused = |path: &str| load(Path::new(path)).unwrap_err().to_string();
    for device in ["/dev/zero", "/dev/null", "/dev/random", "/dev/tty"] {
        let said = refused(device);
        assert!(said.contains("not a file") || said.contains("No such"), "{device}: {said}");
    }
    // Files of /proc say that they are empty; reading this one would wait for the kernel, and take what it says.
    for pseudo in ["/proc/kmsg", "/proc/self/pagemap", "/proc/self/mem"] {
        let said = refused(pseudo);
        assert!(said.contains("it is empty") || said.contains("ermission"), "{pseudo}: {said}");
    }
}

#[test]
fn a_file_is_seen_when_it_is_finished_and_not_before() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("raw.csv");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4751)).unwrap();
    let mut file = NamedFile::create(&path).unwrap();
    file.write_whole(b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    drop(file);
    assert_eq!(fs::read(&path).unwrap(), b"old", "given up");
    let mut file = NamedFile::create(&path).unwrap();
    file.write_all(b"new").unwrap();
    file.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode, 0o751, "its permissions, and no set-user-id bit");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn links_of_others_are_not_followed_by_any_output() {
    if !is_root() {
        return println!(
            "SKIP links_of_others_are_not_followed_by_any_output: only root can make links of others"
        );
    }
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::create_dir(path("folder")).unwrap();
    fs::write(path("folder/victim"), "old").unwrap();
    for (name, target) in
        [("file", "folder/victim"), ("through", "folder"), ("new", "folder/new"), ("chain", "own")]
    {
        symlink(target, path(name)).unwrap();
    }
    symlink("file", path("own")).unwrap();
    // Root's own links lead on.
    write_file(&path("chain"), b"old").unwrap();
    for name in ["file", "through", "new"] {
        lchown(path(name), Some(65534), None).unwrap();
    }
    for name in ["file", "new", "own", "chain", "through/victim", "through/other"] {
        for refused in [
            check_writable(&path(name)).unwrap_err(),
            write_file(&path(name), b"new").unwrap_err(),
            NamedFile::create(&path(name)).map(drop).unwrap_err(),
        ] {
            assert!(refused.to_string().contains("link of user 65534 is not followed"), "{refused}");
        }
    }
    assert!(make_folder(&path("through/made")).is_err());
    assert_eq!(fs::read(path("folder/victim")).unwrap(), b"old");
    assert_eq!(fs::read_dir(path("folder")).unwrap().count(), 1);
}

#[test]
fn a_loop_of_links_ends() {
    let directory = tempfile::tempdir().unwrap();
    symlink("b", directory.path().join("a")).unwrap();
    symlink("a", directory.path().join("b")).unwrap();
    assert!(write_file(&directory.path().join("a"), b"x").is_err());
    symlink("..", directory.path().join("up")).unwrap();
    let name = directory.path().file_name().unwrap();
    write_file(&directory.path().join("up").join(name).join("up").join(name).join("c"), b"x").unwrap();
    assert_eq!(fs::read(directory.path().join("c")).unwrap(), b"x");
}

#[test]
fn descriptors_of_the_caller_are_written_to() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    use std::os::fd::AsRawFd;
    write_file(Path::new(&format!("/dev/fd/{}", writer.as_raw_fd())), b"through a pipe").unwrap();
    drop(writer);
    let mut read = String::new();
    reader.read_to_string(&mut read).unwrap();
    assert_eq!(read, "through a pipe");
    let directory = tempfile::tempdir().unwrap();
    let file = File::create(directory.path().join("file")).unwrap();
    write_file(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())), b"by its name").unwrap();
    assert_eq!(fs::read(directory.path().join("file")).unwrap(), b"by its name");
}

#[test]
fn folders_are_made_and_strays_of_killed_writers_go() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("a/b/../c");
    make_folder(&folder).unwrap();
    assert!(directory.path().join("a/b").is_dir());
    let stray = folder.join(".oscost-0123456789abcdef.tmp");
    let others = folder.join(".0123456789abcdef.tmp");
    for file in [&stray, &others] {
        fs::write(file, "half").unwrap();
    }
    check_writable(&folder.join("x")).unwrap();
    assert!(!stray.exists() && others.exists(), "only what this program named");
    assert!(make_folder(&others).is_err(), "a file is no folder");
    symlink("not/there", folder.join("dangling")).unwrap();
    assert!(make_folder(&folder.join("dangling/x")).is_err() && !folder.join("not").exists());
    symlink("../b", folder.join("there")).unwrap();
    make_folder(&folder.join("there/x/y")).unwrap();
    assert!(directory.path().join("a/b/x/y").is_dir());
    assert!(make_folder(Path::new("/proc/no")).is_err());
}
