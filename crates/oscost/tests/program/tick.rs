//! Tick servers and clients by hand: real processes that are killed, stopped, doubled and talked to by strangers; nobody hangs,
//! nobody else is disturbed, and both sides say what happened.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use oscost_sys::{registration, socket};

use crate::support::{Done, Home, Running, finished, is_root, skip, within};

/// A folder to meet in, which the server makes, and the programs in it.
struct Meeting {
    home: Home,
}

impl Meeting {
    fn new() -> Self {
        Self { home: Home::new() }
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("meet")
    }

    fn command(&self, who: &str, options: &[&str]) -> Command {
        let mut command = self.home.command(&["tick", who, "--directory"]);
        command.arg(self.folder()).args(options);
        command
    }

    fn server(&self) -> Running {
        Running::until(&mut self.command("server", &["--tick", "1ms"]), "waiting for first client")
    }

    /// A client that goes on until it is told otherwise, and has begun.
    fn client(&self, server: &mut Running, name: &str, options: &[&str]) -> Running {
        let mut command = self.command("client", &[&["--name", name], options].concat());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let child = command.spawn().expect("the program can be started");
        assert!(server.hears(&format!("{name} (process {}): open", child.id())), "{name} is let in");
        Running::of(child)
    }

    /// Whether the folder goes.
    fn is_gone(&self) -> bool {
        within(60, || !self.folder().exists())
    }

    fn address(&self, name: &str) -> socket::Path {
        socket::Path::new(self.folder().join(name).to_str().expect("text")).expect("a short path")
    }
}

const FOREVER: &[&str] = &["--values", "1000000"];

/// The numbers of a line like "sent 12 = received 12 + dropped 0 + missed 0".
fn account(done: &Done) -> Vec<u64> {
    let line = done.stderr.lines().find(|line| line.starts_with("sent ")).unwrap_or_default();
    line.split(' ').filter_map(|word| word.parse().ok()).collect()
}

/// Ends a client that would go on, and looks at its account; what was dropped.
fn ended_by_us(client: Running) -> u64 {
    client.signal("INT");
    let client = client.end();
    assert_eq!(client.code, Some(130), "{client:?}");
    let [sent, received, dropped, missed] = account(&client)[..] else { panic!("{client:?}") };
    assert_eq!((sent, missed), (received + dropped, 0), "{client:?}");
    dropped
}

#[test]
fn both_print_what_the_document_prints() {
    let meeting = Meeting::new();
    let server = meeting.server();
    let client = finished(&mut meeting.command("client", &["--values", "50", "--ignore", "10"]));
    client.well();
    let values: Vec<u64> = client.stdout.lines().map(|line| line.parse().expect("a number of us")).collect();
    assert_eq!(values.len(), 50);
    let said: Vec<&str> = client.stderr.lines().filter(|line| !line.starts_with("NOT REAL-TIME")).collect();
    let (min, max) = (values.iter().min().expect("values"), values.iter().max().expect("values"));
    let expected = [
        "Transmission summary:",
        "total msg received: 50",
        &format!("min time: {min}"),
        &format!("max time: {max}"),
    ];
    assert_eq!(said[..4], expected, "{client:?}");
    assert!(said[4].starts_with("average: "), "{client:?}");
    let [sent, received, dropped, missed] = account(&client)[..] else { panic!("{client:?}") };
    assert_eq!((sent, missed), (received + dropped, 0), "{client:?}");
    assert!(received >= 60);
    // The last client ends the server.
    let server = server.end();
    server.well();
    for words in ["server is running", &format!("closed; sent {sent}, dropped {dropped}"), "done"] {
        server.says(words);
    }
    assert!(!meeting.folder().exists(), "what the server made is gone");
}

#[test]
#[ignore = "longer: it kills"]
fn a_killed_client_is_told_and_disturbs_nobody() {
    let meeting = Meeting::new();
    let mut server = meeting.server();
    let killed = meeting.client(&mut server, "killed", FOREVER);
    let other = meeting.client(&mut server, "other", &["--values", "500"]);
    killed.signal("KILL");
    killed.end();
    assert!(server.hears("vanished"), "a killed client is told");
    let other = other.end();
    assert_eq!(other.well().stdout.lines().count(), 500);
    let [sent, received, dropped, missed] = account(&other)[..] else { panic!("{other:?}") };
    assert_eq!((sent, missed), (received + dropped, 0));
    server.end().well();
    assert!(!meeting.folder().exists());
}

#[test]
#[ignore = "longer: it kills"]
fn a_killed_server_ends_its_clients_and_the_next_one_works() {
    let meeting = Meeting::new();
    let mut server = meeting.server();
    let client = meeting.client(&mut server, "client", FOREVER);
    std::thread::sleep(Duration::from_millis(300));
    server.signal("KILL");
    server.end();
    let begun = Instant::now();
    let client = client.end();
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    // Said at the end of the connection, and not after a silence, which is told in other words.
    client.refused(3, "the server vanished without a message");
    assert!(client.stdout.lines().count() > 10, "what it had is printed");
    assert!(meeting.is_gone(), "its keeper has tidied up");
    finished(&mut meeting.command("client", &[])).refused(5, "no tick server: there is no");
    let server = meeting.server();
    finished(&mut meeting.command("client", &["--values", "20"])).well();
    server.end().well();
    assert!(meeting.is_gone());
}

#[test]
fn a_signal_is_said_to_the_other_side() {
    let meeting = Meeting::new();
    let mut server = meeting.server();
    let first = meeting.client(&mut server, "first", FOREVER);
    let second = meeting.client(&mut server, "second", FOREVER);
    std::thread::sleep(Duration::from_millis(200));
    ended_by_us(first);
    server.signal("TERM");
    second.end().refused(3, "the server was ended by signal 15");
    let server = server.end();
    assert_eq!(server.code, Some(143), "{server:?}");
    assert!(!meeting.folder().exists());
}

#[test]
#[ignore = "longer: it kills"]
fn the_same_client_twice_is_refused_and_the_first_goes_on() {
    let meeting = Meeting::new();
    let mut server = meeting.server();
    let mut first = meeting.client(&mut server, "twin", FOREVER);
    finished(&mut meeting.command("client", &["--name", "twin"]))
        .refused(5, "another client has this name already: twin (process");
    assert!(server.hears("asked for the name 'twin', and is refused"), "the server says it, too");
    assert!(first.child.try_wait().expect("its state").is_none(), "the first goes on");
    ended_by_us(first);
    server.end().well();
    let meeting = Meeting::new();
    let mut one = meeting.server();
    finished(&mut meeting.command("server", &[])).refused(5, "a tick server is running in");
    meeting.client(&mut one, "last", &["--values", "10"]).end().well();
    one.end().well();
}

#[test]
fn a_stopped_client_has_a_full_queue_and_accounts_for_it() {
    let meeting = Meeting::new();
    let mut server = meeting.server();
    let stopped = meeting.client(&mut server, "stopped", FOREVER);
    let other = meeting.client(&mut server, "other", &["--values", "700"]);
    stopped.signal("STOP");
    assert!(server.hears("stopped (process"), "it is named");
    assert!(server.hears("its queue is full"), "a full queue is told");
    std::thread::sleep(Duration::from_millis(100));
    stopped.signal("CONT");
    assert!(server.hears("reads again"), "so is its end");
    assert!(ended_by_us(stopped) > 20, "a full queue takes nothing");
    let other = other.end();
    assert_eq!(other.well().stdout.lines().count(), 700);
    server.end().well();
}

#[test]
#[ignore = "longer: it kills"]
fn a_stopped_server_is_waited_for_but_not_for_ever() {
    let meeting = Meeting::new();
    let mut server = meeting.server();
    let patient = meeting.client(&mut server, "patient", FOREVER);
    server.signal("STOP");
    std::thread::sleep(Duration::from_millis(1500));
    server.signal("CONT");
    std::thread::sleep(Duration::from_millis(100));
    server.signal("STOP");
    // Somebody new finds a door behind which nobody answers.
    let begun = Instant::now();
    finished(&mut meeting.command("client", &[])).refused(5, "the server does not answer");
    patient.end().refused(3, "the server is alive but sends nothing");
    assert!(begun.elapsed() < Duration::from_secs(25), "{:?}", begun.elapsed());
    server.signal("CONT");
    server.end().well();
}

#[test]
fn strangers_are_heard_by_nobody() {
    let meeting = Meeting::new();
    let mut server = meeting.server();
    // It goes on for as long as anybody tries.
    let client = meeting.client(&mut server, "client", FOREVER);
    // A datagram to the client: its socket listens to the server alone.
    let stranger = socket::datagram().expect("a socket");
    let sent = socket::send_to(&stranger, &[7; 24], &meeting.address("client-client"));
    assert_eq!(sent.err().and_then(|error| error.symbol()), Some("EPERM"));
    // A datagram to the sender, which reads nothing; and rubbish at the door, of every length.
    for _ in 0..100 {
        let _ = socket::send_to(&stranger, &[7; 24], &meeting.address("sender"));
    }
    for packet in [&b"x"[..], &[0xff; 4000], b"open 1 ../../etc", b"ready", b"closed 1 1", b"open 2 newer"] {
        let connection = registration::connect(&meeting.address("server")).expect("a door");
        socket::send(&connection, packet).expect("sent");
        registration::give_up_after(&connection, 60_000_000_000).expect("set");
        let mut buffer = [0; 256];
        let length = socket::receive(&connection, &mut buffer).expect("an answer");
        assert!(buffer[..length].starts_with(b"refuse "), "{:?}", String::from_utf8_lossy(&buffer[..length]));
    }
    // Who says nothing at all holds nobody up.
    let silent: Vec<_> =
        (0..130).map(|_| registration::connect(&meeting.address("server")).expect("a door")).collect();
    for words in ["sent an unknown message", "the server speaks version 1, not 2", "no more clients can be"] {
        assert!(server.hears(words), "{words}");
    }
    drop(silent);
    ended_by_us(client);
    assert!(!server.end().well().stderr.contains("panicked"));
}

#[test]
fn another_user_is_not_let_in() {
    if !is_root() {
        return skip("only root can be another user");
    }
    let meeting = Meeting::new();
    let mut server = meeting.server();
    // As if somebody had opened what was private when the server looked.
    let open = |path: &Path| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(path, mode).expect("opened");
    };
    [meeting.home.path(), &meeting.folder(), &meeting.folder().join("server")].into_iter().for_each(open);
    let script = "use Socket; $SIG{PIPE} = 'IGNORE'; socket(S, AF_UNIX, SOCK_SEQPACKET, 0) and connect(S, pack_sockaddr_un($ARGV[0])) or die $!;
        send(S, 'open 1 thief', 0); recv(S, $answer, 256, 0); print $answer";
    let mut perl = Command::new("perl");
    perl.args(["-e", script]).arg(meeting.folder().join("server")).uid(65_534).gid(65_534);
    match perl.output() {
        Ok(output) => {
            let answer = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(answer, "refuse user 65534 is not user 0, who started the server", "{output:?}");
            assert!(server.hears("is refused: user 65534 is not user 0"));
        }
        Err(error) => skip(&format!("no perl: {error}")),
    }
    server.signal("INT");
    assert_eq!(server.end().code, Some(130));
}

#[test]
fn real_time_that_is_refused_is_said_with_its_cause() {
    let home = Home::new();
    let mut command = home.command(&["tick", "server", "--require-realtime", "--directory"]);
    command.arg(home.path().join("meet"));
    if is_root() {
        command.uid(65_534).gid(65_534);
    }
    let done = finished(&mut command);
    if done.stderr.contains("cannot be made") {
        return skip("this user may");
    }
    done.refused(5, "--require-realtime: sched_setscheduler failed").says("RLIMIT_RTPRIO");
    home.ask(&["tick", "client", "--policy", "other", "--require-realtime"])
        .refused(2, "no real-time scheduling");
}

#[test]
fn what_cannot_be_is_refused_at_once() {
    let home = Home::new();
    home.ask(&["tick"]).refused(2, "Usage");
    home.ask(&["tick", "server", "--tick", "1us"]).refused(2, "use 50us to 1s");
    home.ask(&["tick", "client", "--name", "../x"]).refused(2, "1 to 32 letters");
    home.ask(&["tick", "client", "--values", "0"]).refused(2, "--values");
    home.ask(&["tick", "client", "--directory", "/nonexistent"]).refused(5, "no tick server");
    home.ask(&["tick", "server", "--directory", "/nonexistent/x"]).refused(5, "cannot be made");
    home.ask(&["tick", "server", "--directory", "/"]).refused(5, "needs a name of its own");
    home.ask(&["tick", "server", "--directory", "/dev/null"]).refused(5, "ENOTDIR");
}
