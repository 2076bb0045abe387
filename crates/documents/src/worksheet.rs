//! The sheet for a class: predict, run, reveal. What to predict and to measure is asked first, what was found stands last.

use oscost_results::{document, quantity};

use crate::found::Found;

/// A task of the sheet.
struct Task {
    /// Name of its document.
    document: &'static str,
    /// What a student predicts.
    ask: &'static str,
    /// What a student writes and runs.
    run: &'static str,
    /// The figure that answers, and its quantity.
    figure: (&'static str, &'static str),
    /// What a first program falls into.
    trap: &'static str,
}

const FLOOR: &str = quantity::FLOOR;
const TASKS: &[Task] = &[
    Task {
        document: document::TLPI.name,
        ask: "A wait and a post on a POSIX semaphore that is free: how long?",
        run: "Exercise 53-4: a loop of sem_wait and sem_post, 10^6 times.",
        figure: ("semaphore/posix_named", FLOOR),
        trap: "A thousand passes are over before the processor is at full speed: time a million.",
    },
    Task {
        document: document::TLPI.name,
        ask: "The same on a System V semaphore: how many times as long?",
        run: "The same loop around semop.",
        figure: ("semaphore/system_v", FLOOR),
        trap: "Most of it is not the system call: an empty one costs a fraction. Subtract it.",
    },
    Task {
        document: document::APUE.name,
        ask: "A lock and an unlock of a record by fcntl: how long?",
        run: "A loop of two calls of fcntl on a file that nobody else uses.",
        figure: ("record_lock/fcntl", FLOOR),
        trap: "One process never waits. Start a second one, and the price is that of a wait.",
    },
    Task {
        document: document::GRAME.name,
        ask: "A message from one process to a waiting one by a pipe, on one CPU: how long?",
        run: "Two processes, two pipes, one byte each way.",
        figure: ("context_switch/pipe/same_cpu", FLOOR),
        trap: "A round trip has two hops. On two CPUs it may be slower, not faster.",
    },
    Task {
        document: document::OSTEP.name,
        ask: "One call of getpid: how long?",
        run: "Chapter 6: a loop around getpid, 10^7 times.",
        figure: ("syscall/getpid_libc", FLOOR),
        trap: "Under 10 ns there was no call: a compiler or a library answered. Count the calls with strace -c.",
    },
    Task {
        document: document::OSTEP.name,
        ask: "The smallest difference that clock_gettime(CLOCK_MONOTONIC) can show: how long?",
        run: "Read it twice until the readings differ; keep the smallest difference.",
        figure: ("clock/step/monotonic", quantity::STEP),
        trap: "Its unit is the nanosecond; its step need not be.",
    },
    Task {
        document: document::CONTEXT_SWITCH.name,
        ask: "A read of 0 bytes of /dev/zero: how long?",
        run: "100, 1000 and 10 000 reads between two readings of gettimeofday.",
        figure: ("syscall/read0_devzero", FLOOR),
        trap: "gettimeofday counts whole microseconds: too few reads measure its step.",
    },
    Task {
        document: document::CONTEXT_SWITCH.name,
        ask: "The same hop where the two processes are on two CPUs: longer or shorter than on one?",
        run: "Pin them by sched_setaffinity, then do not. Which of the document's three guesses fits?",
        figure: ("context_switch/pipe/cross_cpu", FLOOR),
        trap: "Without pinning the system decides anew in each run. One mean then mixes two prices.",
    },
];

/// The sheet of the documents with these names, in Markdown: two tables to fill in and to fold, the answers last.
#[must_use]
pub fn worksheet(names: &[&str], found: &Found<'_>) -> String {
    let tasks: Vec<&Task> = TASKS.iter().filter(|task| names.contains(&task.document)).collect();
    let mut sheet = String::from(
        "## Worksheet: predict, run, reveal\n\n| no. | question | your prediction | what you run | your figure |\n|---|---|---|---|---|\n",
    );
    for (number, task) in (1..).zip(&tasks) {
        sheet.push_str(&format!("| {number} | {} | | {} | |\n", task.ask, task.run));
    }
    sheet.push_str(
        "\nFold here.\n\n| no. | measured here | interval | id | the trap |\n|---|---|---|---|---|\n",
    );
    for (number, task) in (1..).zip(&tasks) {
        let (id, quantity) = task.figure;
        let (value, interval) = found.quantity(id, quantity).map_or_else(
            || (format!("not measured: oscost run {id}"), String::new()),
            |it| (ns(it.value), format!("{} .. {}", ns(it.low), ns(it.high))),
        );
        sheet.push_str(&format!("| {number} | {value} | {interval} | {id} | {} |\n", task.trap));
    }
    sheet
}

fn ns(value: f64) -> String {
    if value < 1000.0 { format!("{value:.1} ns") } else { format!("{:.2} us", value / 1000.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ALL;
    use crate::found::test::figure;

    #[test]
    fn every_document_asks_something_that_its_run_answers() {
        for document in ALL {
            let own: Vec<&Task> =
                TASKS.iter().filter(|task| task.document == document.founding.name).collect();
            assert!(!own.is_empty(), "{}", document.founding.name);
            for task in own {
                assert!(document.figures.contains(&task.figure.0), "{}", task.figure.0);
            }
        }
    }

    #[test]
    fn questions_come_first_and_answers_behind_the_fold() {
        let figures = [figure("syscall/getpid_libc", FLOOR, 137.04, None)];
        let sheet = worksheet(&["ostep"], &Found::of(&figures, &[], &[]));
        let (before, behind) = sheet.split_once("Fold here.").expect("a fold");
        assert!(before.contains("| 1 | One call of getpid: how long? | |") && !before.contains("137"));
        assert!(behind.contains("| 1 | 137.0 ns | 136.4 ns .. 137.7 ns | syscall/getpid_libc |"), "{behind}");
        assert!(behind.contains("not measured: oscost run clock/step/monotonic"));
        assert!(!sheet.contains("semop"), "the tasks of other documents");
    }
}
