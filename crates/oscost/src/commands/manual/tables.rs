//! Content of man pages besides options and exit codes: examples, files, variables.

use crate::table::rows;

/// Commands that measure in a session, with a journal; compare does so with --bisect.
const SESSIONS: &[&str] = &["run", "bill", "reproduce", "crosscheck", "compare"];
/// Commands that read or write the store of results, or look on which file system it lies.
const STORE: &[&str] =
    &["run", "count", "bill", "reproduce", "explain", "report", "compare", "crosscheck", "doctor"];
/// Commands that start programs of others.
const STARTS: &[&str] = &["run", "count", "compare", "bill", "reproduce", "crosscheck"];
const ALL: &[&str] = &[];

/// Something that some commands share: its name, what it is, and the commands; no commands: all of them.
pub type Shared = (&'static str, &'static str, &'static [&'static str]);

/// Files.
pub const FILES: &[Shared] = &[
    (
        "$XDG_STATE_HOME/oscost/runs/*.json",
        "the stored results, one per run; @-1 is the newest. Without XDG_STATE_HOME: ~/.local/state. If it is /dev/null, \
         nothing is kept",
        STORE,
    ),
    (
        "$XDG_STATE_HOME/oscost/runs/*.journal",
        "a run in progress; if it is killed, the next command turns this into a result, marked partial",
        SESSIONS,
    ),
    ("$XDG_STATE_HOME/oscost/runs/core.constants", "the best speed seen of this machine's cores", SESSIONS),
    (
        "$XDG_RUNTIME_DIR/oscost-tick",
        "the private folder where a server and its clients meet. Without XDG_RUNTIME_DIR: /tmp/oscost-tick-UID",
        &["tick", "tick server", "tick client"],
    ),
];

/// Variables of the environment.
pub const ENVIRONMENT: &[Shared] = &[
    ("XDG_STATE_HOME, HOME", "where results are stored (see FILES)", STORE),
    ("SUDO_UID, SUDO_GID", "under sudo: the owner of the files that root writes", STORE),
    ("XDG_RUNTIME_DIR", "where server and clients meet (see FILES)", &["tick", "tick server", "tick client"]),
    ("PATH", "where other programs are found: qemu-system, peers, loads", STARTS),
    ("NO_COLOR, CLICOLOR_FORCE", "never use colours; or use them even without a terminal", ALL),
    ("COLUMNS", "width of the output if standard output is not a terminal", ALL),
    ("LC_ALL, LC_CTYPE, LANG", "tables are drawn in ASCII unless the locale is UTF-8", ALL),
];

/// Examples: the command, a call, and what it does.
pub fn examples() -> impl Iterator<Item = [&'static str; 3]> {
    rows(include_str!("examples.txt"))
}

/// Exit codes that not every command has, with those that have them.
pub const CODES: &[(&str, &[&str])] =
    &[("1", &["compare", "bill"]), ("125", &["compare"]), ("255", &["compare"])];
