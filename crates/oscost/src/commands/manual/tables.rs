//! Content of man pages besides options and exit codes: examples, files, variables.

/// Commands that keep what they measured.
const KEEPS: &[&str] = &["run", "count", "reproduce"];
/// Commands that read or write the store of results.
const STORE: &[&str] =
    &["run", "count", "bill", "reproduce", "explain", "report", "compare", "crosscheck", "doctor"];
/// Commands that start programs of others.
const STARTS: &[&str] = &["run", "count", "bill", "reproduce", "crosscheck"];
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
        KEEPS,
    ),
    (
        "$XDG_STATE_HOME/oscost/runs/core.constants",
        "the best speed seen of this machine's cores",
        &["run", "reproduce", "crosscheck", "doctor"],
    ),
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
    ("COLUMNS", "width of tables if standard output is not a terminal", ALL),
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
            ("oscost run --percentiles syscall/getppid", "single operations, with percentiles up to p99.999"),
            (
                "oscost run realtime_ipc --set clients=1,10 --set transport=pipe,udp",
                "two ways to send, to one client and to ten",
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
                "combinations that document 001 did not have",
            ),
        ],
    ),
    (
        "count",
        &[
            ("oscost count syscall/getppid --kernel running", "instructions of one operation on this kernel"),
            ("oscost count syscall/getppid --kernel bzImage --by-function", "the same by function"),
        ],
    ),
    (
        "bill",
        &[
            ("oscost bill -- sqlite3 data.db .dump", "what a program pays, and what would be less"),
            (
                "oscost bill --budget calls<=1200 --budget semop=0 -- ./program",
                "code 1 if it makes more calls than that",
            ),
        ],
    ),
    (
        "list",
        &[
            ("oscost list mutex", "every id that contains this word"),
            (
                "oscost list --trait pollable --trait queues_payload",
                "messages that carry bytes and that poll can wait for",
            ),
        ],
    ),
    (
        "explain",
        &[
            ("oscost explain getpid", "a figure: its operation, and what it cost here"),
            ("oscost explain realtime_ipc", "a family, with the keys of --set"),
            ("oscost explain noisy", "a mark; other things are W001, tlpi/3, exit 3"),
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
                "find the commit that made it slower",
            ),
        ],
    ),
    (
        "crosscheck",
        &[(
            "oscost crosscheck --with perf --with lmbench=/opt/lmbench/bin",
            "our figures beside those of two other tools",
        )],
    ),
    (
        "tick",
        &[
            ("oscost tick server --tick 1ms", "a server that sends every millisecond"),
            ("oscost tick client --values 100", "a client that prints 100 latencies"),
        ],
    ),
    (
        "tick server",
        &[(
            "oscost tick server --tick 1ms --directory /run/ticks",
            "a server that meets its clients in another folder",
        )],
    ),
    (
        "tick client",
        &[("oscost tick client --values 10000 --policy fifo", "10000 latencies under SCHED_FIFO")],
    ),
    (
        "doctor",
        &[
            ("oscost doctor", "what disturbs measurements here, and what to do"),
            ("oscost doctor --check && oscost run", "measure only if the machine is fit"),
        ],
    ),
];

/// Exit codes that only one command has.
pub const OF_COMPARE: [&str; 3] = ["1", "125", "255"];
