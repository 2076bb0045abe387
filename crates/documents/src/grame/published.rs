//! What document 002 published, with its place: numbers of its tables, and what its text has lost.

/// A system of one of its tables of single clients, us.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct System {
    /// As the table calls it.
    pub name: &'static str,
    /// Medium value: arithmetic mean.
    pub mean: f64,
    /// Width: 2 sd.
    pub width: f64,
    /// Amplitude of the peaks.
    pub peaks: (f64, f64),
    /// The word for their frequency.
    pub frequency: &'static str,
    /// Range when busy; `None`: "na".
    pub busy: Option<(f64, f64)>,
    /// Highest peak when busy.
    pub busy_peak: f64,
    /// The table says "more than" it.
    pub more: bool,
    /// What this machine can say of it.
    pub kind: SystemKind,
}

/// What a column of the document is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SystemKind {
    /// Linux sockets: repeated here.
    Socket,
    /// A kernel module that wakes its clients.
    Module,
    /// A system that is not Linux.
    Foreign,
}

/// The tables of single clients: section, table numbers, figures, station, rows.
pub(super) struct Single {
    /// Section and tables.
    pub place: &'static str,
    /// The station.
    pub name: &'static str,
    /// The same with its processor and its system, where the document has them beside its table.
    pub station: &'static str,
    /// Its rows.
    pub systems: &'static [System],
}

const fn system(
    name: &'static str,
    kind: SystemKind,
    (mean, width): (f64, f64),
    (peaks, frequency): ((f64, f64), &'static str),
    busy: Option<(f64, f64)>,
    busy_peak: f64,
) -> System {
    System { name, mean, width, peaks, frequency, busy, busy_peak, more: false, kind }
}

const P350_SOCKET: (f64, f64) = (31.0, 12.0);

/// Tables 1 to 12 of section 4.1. Two tables of section 3 and two of 4.1.1 are both numbered 1 and 2.
pub(super) const SINGLE: [Single; 4] = [
    Single {
        place: "Tables 1, 2, 3 (4.1.1, figures 3 to 6)",
        name: "P350",
        station: "P350: Pentium II 350 MHz, Linux 2.4.3",
        systems: &[
            system(
                "module",
                SystemKind::Module,
                (12.0, 8.0),
                ((32.0, 40.0), "low"),
                Some((25.0, 40.0)),
                71.0,
            ),
            system(
                "socket",
                SystemKind::Socket,
                P350_SOCKET,
                ((60.0, 80.0), "low"),
                Some((40.0, 80.0)),
                111.0,
            ),
        ],
    },
    Single {
        place: "Tables 4, 5, 6 (4.1.2, figures 7 to 10)",
        name: "P350",
        station: "P350",
        systems: &[
            system(
                "linux",
                SystemKind::Socket,
                P350_SOCKET,
                ((60.0, 80.0), "low"),
                Some((40.0, 80.0)),
                111.0,
            ),
            System {
                more: true,
                ..system(
                    "windows 2000",
                    SystemKind::Foreign,
                    (17.0, 14.0),
                    ((60.0, 80.0), "medium"),
                    None,
                    8000.0,
                )
            },
        ],
    },
    Single {
        place: "Tables 7, 8, 9 (4.1.3, figures 11 to 14)",
        name: "P700",
        station: "P700: Duron 700 MHz, Linux 2.2.15",
        systems: &[
            system("linux", SystemKind::Socket, (11.0, 5.0), ((25.0, 35.0), "low"), Some((25.0, 30.0)), 96.0),
            System {
                more: true,
                ..system(
                    "windows 98",
                    SystemKind::Foreign,
                    (40.0, 15.0),
                    ((55.0, 90.0), "medium"),
                    Some((80.0, 120.0)),
                    4000.0,
                )
            },
        ],
    },
    Single {
        place: "Tables 10, 11, 12 (4.1.4, figures 15 to 18)",
        name: "Mac350",
        station: "Mac350: PowerPC G4 350 MHz, Linux PPC 2.2.15, Darwin 1.3",
        systems: &[
            system(
                "Darwin socket",
                SystemKind::Foreign,
                (131.0, 29.0),
                ((175.0, 245.0), "frequent"),
                Some((240.0, 300.0)),
                639.0,
            ),
            system(
                "Linux socket",
                SystemKind::Socket,
                (16.0, 3.0),
                ((25.0, 35.0), "low"),
                Some((40.0, 65.0)),
                90.0,
            ),
            system(
                "Mach msg",
                SystemKind::Foreign,
                (41.0, 11.0),
                ((60.0, 90.0), "low"),
                Some((50.0, 100.0)),
                261.0,
            ),
        ],
    },
];

/// Where table 15 was measured.
pub(super) const NEXT_STATION: &str = "Mac350";

/// Table 15: next latency times on Mac350, us, and what the column is here.
pub(super) const NEXT: [(&str, f64, SystemKind); 3] = [
    ("linux ppc", 10.0, SystemKind::Socket),
    ("darwin", 36.0, SystemKind::Foreign),
    ("mach", 23.0, SystemKind::Foreign),
];

/// Priorities of table 2 (section 3.1).
pub(super) const PRIORITIES: [(&str, f64); 2] = [("sender thread", 99.0), ("reader threads", 98.0)];

/// Factors by which 4.1.5 reduces its figures to P700's clock: 350/700 and 400/700.
pub(super) const REDUCED: [(&str, f64); 2] = [("P350 (Windows 2000)", 0.5), ("P400 (NT 4.0)", 0.571)];

/// What the document shows before its first measurement.
pub(super) const BEFORE: [(&str, &str); 2] = [
    (
        "Table 1 (3)",
        "its machines: P700 is a Duron 700 MHz with Linux 2.2.15 and Windows 98, P350 a Pentium II 350 MHz with Linux 2.4.3 and \
         Windows 2000, P400 a Pentium II 400 MHz with Windows NT 4.0 (128 MB each), Mac350 a PowerPC G4 350 MHz with Darwin 1.3 \
         and Linux PPC 2.2.15 (192 MB)",
    ),
    (
        "Figures 1 and 2 (2)",
        "what server and clients do, in pseudo code: our copy does the same, but for what \"differs\" says",
    ),
];

/// What the text of the document has lost.
pub(super) const LOST: [(&str, &str); 5] = [
    (
        "Tables 13 and 14 (4.2.1, 4.2.2)",
        "next latency times on P350 and P700: lost in the text, and not invented",
    ),
    (
        "Figures 3 to 22 (4.1)",
        "curves over 10 s, of figures 4 and 10 even the captions: lost; this machine's counterparts are drawn",
    ),
    (
        "Figures 23 to 33 (4.2)",
        "curves over clients and over time, some captions too: lost; counterparts are drawn",
    ),
    ("Figures 34 to 36 (5)", "service time in % of a 1 ms tick: the curves are lost; counterparts are drawn"),
    (
        "slips of the text",
        "tables 1 and 2 are numbered twice, figure 26 is said to be of Windows 2000 (its caption and section say 98), 4.1.3 ends \
         with Windows 95 (it measured 98): noted, not repeated",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_the_documents() {
        let of = |place: &str, name: &str| {
            let single = SINGLE.iter().find(|single| single.place.starts_with(place)).expect("a table");
            *single.systems.iter().find(|system| system.name == name).expect("a row")
        };
        // Tables 1 to 3, 5, 9, 10 to 12, spot checks.
        let module = of("Tables 1,", "module");
        assert_eq!(
            (module.width, module.mean, module.peaks, module.busy_peak),
            (8.0, 12.0, (32.0, 40.0), 71.0)
        );
        assert_eq!(of("Tables 4,", "linux"), System { name: "linux", ..of("Tables 1,", "socket") });
        let windows = of("Tables 4,", "windows 2000");
        assert_eq!((windows.busy, windows.busy_peak, windows.more), (None, 8000.0, true));
        assert_eq!(of("Tables 7,", "windows 98").busy, Some((80.0, 120.0)));
        let darwin = of("Tables 10,", "Darwin socket");
        assert_eq!((darwin.mean, darwin.frequency, darwin.busy_peak), (131.0, "frequent", 639.0));
        assert_eq!(of("Tables 10,", "Mach msg").peaks, (60.0, 90.0));
        assert_eq!(NEXT.map(|(_, us, _)| us), [10.0, 36.0, 23.0]);
        // Every table has one row that can be repeated here.
        for single in &SINGLE {
            assert_eq!(single.systems.iter().filter(|system| system.kind == SystemKind::Socket).count(), 1);
            assert!(single.systems.iter().all(|system| system.mean > 0.0 && system.peaks.0 < system.peaks.1));
        }
        // "between 2 and 3 times more efficient" is what tables 1 and 4 give.
        let ratio = P350_SOCKET.0 / module.mean;
        assert!((2.0..3.0).contains(&ratio), "{ratio}");
    }
}
