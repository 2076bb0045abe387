//! The founding documents: the name, the number and the title of each.

/// A founding document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundingDocument {
    /// Name on the command line and in results.
    pub name: &'static str,
    /// Number ("000").
    pub number: &'static str,
    /// What its readers call it.
    pub known_as: &'static str,
    /// Number, and what it is about.
    pub title: &'static str,
    /// Whose measurements it has, and on what machines.
    pub source: &'static str,
}

/// The founding documents, in their order.
pub const FOUNDING_DOCUMENTS: [FoundingDocument; 5] = [TLPI, APUE, GRAME, OSTEP, CONTEXT_SWITCH];

/// Document 000.
pub const TLPI: FoundingDocument = FoundingDocument {
    name: "tlpi",
    number: "000",
    known_as: "TLPI 53.5",
    title: "Document 000, TLPI 53.5: POSIX against System V semaphores, uncontended",
    source: "a reader's test of section 53.5 of The Linux Programming Interface, on a machine that is not named",
};
/// Document 001.
pub const APUE: FoundingDocument = FoundingDocument {
    name: "apue",
    number: "001",
    known_as: "APUE 20.9",
    title: "Document 001, APUE 20.9: the cost of record locking in a small database",
    source: "the book Advanced Programming in the UNIX Environment, section 20.9",
};
/// Document 002.
pub const GRAME: FoundingDocument = FoundingDocument {
    name: "grame",
    number: "002",
    known_as: "GRAME 2001",
    title: "Document 002, GRAME 2001: real-time message latency, one server and its clients",
    source: "a technical report of GRAME from 2001, on PCs and Macs of that year",
};
/// Document 003.
pub const OSTEP: FoundingDocument = FoundingDocument {
    name: "ostep",
    number: "003",
    known_as: "OSTEP chapter 6",
    title: "Document 003, OSTEP chapter 6: the cost of a system call, the resolution of clocks",
    source: "a reader's notes on chapter 6 of OSTEP, measured on a Mac with an M2 Max",
};
/// Document 004.
pub const CONTEXT_SWITCH: FoundingDocument = FoundingDocument {
    name: "context-switch",
    number: "004",
    known_as: "Document 004",
    title: "Document 004: gettimeofday, a read of 0 bytes, the context switch",
    source: "one reader's measurements on a MacBook Pro of 2015",
};
