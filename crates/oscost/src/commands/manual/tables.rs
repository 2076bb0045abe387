//! What man pages say besides options and exit codes: examples, files, variables.

/// Commands that keep what they measured.
const KEEPS: &[&str] = &["run", "count", "reproduce"];
/// Commands that read or write the store of results.
const STORE: &[&str] = &["run", "count", "reproduce", "explain", "report", "compare", "crosscheck", "doctor"];
/// Commands that start programs of others.
const STARTS: &[&str] = &["run", "count", "reproduce", "crosscheck"];
const ALL: &[&str] = &[];

/// Something that some commands share: its name, what it is, and the commands; no commands: all of them.
pub type Shared = (&'static str, &'static str, &'static [&'static str]);

/// Files.
pub const FILES: &[Shared] = &[
    (
        "$XDG_STATE_HOME/oscost/runs/*.json",
        "the stored results, one a run; @-1 is the newest. Without XDG_STATE_HOME: ~/.local/state. Nothing is kept where \
         it is /dev/null",
        STORE,
    ),
    (
        "$XDG_STATE_HOME/oscost/runs/*.journal",
        "a run that goes on; if it is killed, the next command makes a result of it, marked partial",
        KEEPS,
    ),
    (
        "$XDG_STATE_HOME/oscost/runs/core.constants",
        "how fast this machine's cores were seen to run",
        &["run", "reproduce", "crosscheck", "doctor"],
    ),
    (
        "$XDG_RUNTIME_DIR/oscost-tick",
        "the private folder in which a server and its clients meet. Without XDG_RUNTIME_DIR: /tmp/oscost-tick-UID",
        &["tick", "tick server", "tick client"],
    ),
];

/// Variables of the environment.
pub const ENVIRONMENT: &[Shared] = &[
    ("XDG_STATE_HOME, HOME", "where results are stored (see FILES)", STORE),
    ("SUDO_UID, SUDO_GID", "under sudo, to whom files belong that root writes", STORE),
    ("XDG_RUNTIME_DIR", "where server and clients meet (see FILES)", &["tick", "tick server", "tick client"]),
    ("PATH", "where programs of others are found: qemu-system, peers, loads", STARTS),
    ("NO_COLOR, CLICOLOR_FORCE", "colours never, or also where no terminal is", ALL),
    ("COLUMNS", "width of tables where standard output is no terminal", ALL),
    ("LC_ALL, LC_CTYPE, LANG", "tables are drawn in ASCII unless the locale is UTF-8", ALL),
];

/// Examples of each command: the call, and what it does.
pub const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "",
        &[
            ("oscost run --quick", "a first look, about 15 s"),
            ("oscost explain semaphore/system_v", "what a figure means, and what was counted"),
            ("oscost compare", "what changed between the last two runs"),
        ],
    ),
    (
        "run",
        &[
            ("oscost run semaphore lock", "two families"),
            ("oscost run --percentiles syscall/getppid", "the same operation one by one, with its tail"),
            (
                "oscost run realtime_ipc --set clients=1,10 --set transport=pipe,udp",
                "two ways to send, for two sizes",
            ),
            ("oscost run --format html -o run.html", "the core figures as a page for a browser"),
        ],
    ),
    (
        "reproduce",
        &[
            ("oscost reproduce tlpi", "document 000's table beside this machine's"),
            (
                "oscost reproduce apue --set children=1,4 --set lock=coarse,fine",
                "other cells than document 001 had",
            ),
        ],
    ),
    (
        "count",
        &[
            ("oscost count syscall/getppid --kernel running", "instructions of one operation on this kernel"),
            ("oscost count syscall/getppid --kernel bzImage --by-function", "in which functions they are"),
        ],
    ),
    (
        "list",
        &[
            ("oscost list mutex", "every id with this word"),
            ("oscost list --trait pollable --trait queues_payload", "what poll waits for and carries bytes"),
        ],
    ),
    (
        "explain",
        &[
            ("oscost explain getpid", "a figure: what it is the price of, and what it was here"),
            ("oscost explain realtime_ipc", "a family, with the keys of --set"),
            ("oscost explain noisy", "a mark; so also W001, tlpi/3, exit 3"),
        ],
    ),
    (
        "report",
        &[
            ("oscost report", "the newest run again"),
            ("oscost report @-1 @-2 --format html -o both.html", "two runs on one page"),
            ("oscost report @all", "every stored run, and each figure over them"),
        ],
    ),
    (
        "compare",
        &[
            ("oscost compare @-2 @-1 --fail-on slower", "code 1 if anything got slower"),
            ("oscost compare --live ./old/oscost ./new/oscost syscall/getpid", "two builds in alternation"),
            (
                "git bisect run oscost compare --bisect base.json syscall/getpid",
                "the commit that made it slower",
            ),
        ],
    ),
    (
        "crosscheck",
        &[("oscost crosscheck --with perf --with lmbench=/opt/lmbench/bin", "two peers beside our figures")],
    ),
    (
        "tick",
        &[
            ("oscost tick server --tick 1ms", "a server"),
            ("oscost tick client --values 100", "a client of it"),
        ],
    ),
    ("tick server", &[("oscost tick server --tick 1ms --directory /run/ticks", "in a folder of one's own")]),
    (
        "tick client",
        &[("oscost tick client --values 10000 --policy fifo", "10000 latencies under SCHED_FIFO")],
    ),
    (
        "doctor",
        &[
            ("oscost doctor", "what disturbs measurements here, and what to do"),
            ("oscost doctor --check && oscost run", "measure only where it is worth it"),
        ],
    ),
];

/// Exit codes that only one command has.
pub const OF_COMPARE: [&str; 3] = ["1", "125", "255"];
