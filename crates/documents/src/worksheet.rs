//! The sheet for a class: predict, run, reveal. What to predict and to measure is asked first, what was found stands last.

use oscost_results::{Estimate, document, quantity};

use crate::found::{Found, quotient};

/// A task of the sheet. Each is understood without the others, for which of them stand on it depends on the documents.
struct Task {
    /// Names of its documents.
    documents: &'static [&'static str],
    /// What a student predicts.
    ask: &'static str,
    /// What a student writes and runs.
    run: &'static str,
    /// What answers.
    answer: Answer,
    /// What a first program falls into.
    trap: &'static str,
}

/// What is asked for.
enum Answer {
    /// "How long?": a figure, and its quantity.
    Time(&'static str, &'static str),
    /// "How many times as long?": the floor of one figure by that of another.
    Times(&'static str, &'static str),
}

impl Answer {
    /// The figures that it takes, each with its quantity.
    fn figures(&self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::Time(id, quantity) => vec![(id, quantity)],
            Self::Times(of, to) => vec![(of, FLOOR), (to, FLOOR)],
        }
    }

    /// What was measured, and its interval.
    fn here(&self, found: &Found<'_>) -> (String, String) {
        let figures = self.figures();
        let all: Vec<Estimate> = figures.iter().filter_map(|(id, name)| found.quantity(id, name)).collect();
        if all.len() < figures.len() {
            let lacking = figures.iter().filter(|(id, name)| found.quantity(id, name).is_none());
            let lacking: Vec<&str> = lacking.map(|(id, _)| *id).collect();
            return (format!("not measured: oscost run {}", lacking.join(" ")), String::new());
        }
        match all[..] {
            [of, to] => quotient(&of, &to).map_or_else(Default::default, |ratio| {
                let value = format!("{} as long: {} and {}", by(ratio.value), ns(of.value), ns(to.value));
                (value, format!("{} .. {}", by(ratio.low), by(ratio.high)))
            }),
            [it, ..] => (ns(it.value), format!("{} .. {}", ns(it.low), ns(it.high))),
            [] => Default::default(),
        }
    }
}

const FLOOR: &str = quantity::FLOOR;
const TASKS: &[Task] = &[
    Task {
        documents: &[document::TLPI.name],
        ask: "A wait and a post on a POSIX semaphore that is free: how long?",
        run: "Exercise 53-4: a loop of sem_wait and sem_post, 10^6 times.",
        answer: Answer::Time("semaphore/posix_named", FLOOR),
        trap: "A thousand passes are over before the processor is at full speed: time a million.",
    },
    Task {
        documents: &[document::TLPI.name],
        ask: "A wait and a post on a System V semaphore that is free: how many times as long as on a POSIX one?",
        run: "Exercise 53-4: one loop around sem_wait and sem_post, and one around two calls of semop.",
        answer: Answer::Times("semaphore/system_v", "semaphore/posix_named"),
        trap: "Most of it is not the system call: an empty one costs a fraction. Subtract it.",
    },
    Task {
        documents: &[document::APUE.name],
        ask: "A lock and an unlock of a record by fcntl, which nobody else wants: how long?",
        run: "A loop of two calls of fcntl on a file that nobody else uses.",
        answer: Answer::Time("record_lock/fcntl", FLOOR),
        trap: "One process never waits. Start a second one, and the price is that of a wait.",
    },
    Task {
        documents: &[document::OSTEP.name],
        ask: "One call of getpid: how long?",
        run: "Chapter 6: a loop around getpid, 10^7 times.",
        answer: Answer::Time("syscall/getpid_libc", FLOOR),
        trap: "Under 10 ns there was no call: a compiler or a library answered. Count the calls with strace -c.",
    },
    Task {
        documents: &[document::OSTEP.name],
        ask: "The smallest difference that clock_gettime(CLOCK_MONOTONIC) can show: how long?",
        run: "Read it twice until the readings differ; keep the smallest difference.",
        answer: Answer::Time("clock/step/monotonic", quantity::STEP),
        trap: "Its unit is the nanosecond; its step need not be.",
    },
    Task {
        documents: &[document::CONTEXT_SWITCH.name],
        ask: "A read of 0 bytes of /dev/zero: how long?",
        run: "100, 1000 and 10 000 reads between two readings of gettimeofday.",
        answer: Answer::Time("syscall/read0_devzero", FLOOR),
        trap: "gettimeofday counts whole microseconds: too few reads measure its step.",
    },
    Task {
        documents: &[document::GRAME.name, document::CONTEXT_SWITCH.name],
        ask: "A message from one process to a waiting one by a pipe, on one CPU: how long?",
        run: "Two processes, two pipes, one byte each way.",
        answer: Answer::Time("context_switch/pipe/same_cpu", FLOOR),
        trap: "A round trip has two messages: halve its time.",
    },
    Task {
        documents: &[document::CONTEXT_SWITCH.name],
        ask: "A message from one process to a waiting one by a pipe, on two CPUs: how many times as long as on one CPU?",
        run: "Pin both by sched_setaffinity to one CPU, then to two, then not at all. Which of the document's three guesses fits?",
        answer: Answer::Times("context_switch/pipe/cross_cpu", "context_switch/pipe/same_cpu"),
        trap: "Without pinning the system decides anew in each run. One mean then mixes two prices.",
    },
];

/// The sheet of the documents with these names, in Markdown: two tables to fill in and to fold, the answers last.
#[must_use]
pub fn worksheet(names: &[&str], found: &Found<'_>) -> String {
    let is_asked = |task: &&Task| task.documents.iter().any(|name| names.contains(name));
    let tasks: Vec<&Task> = TASKS.iter().filter(is_asked).collect();
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
        let (value, interval) = task.answer.here(found);
        let ids: Vec<&str> = task.answer.figures().into_iter().map(|(id, _)| id).collect();
        let ids = ids.join(" by ");
        sheet.push_str(&format!("| {number} | {value} | {interval} | {ids} | {} |\n", task.trap));
    }
    sheet
}

fn ns(value: f64) -> String {
    if value < 1000.0 { format!("{value:.1} ns") } else { format!("{:.2} us", value / 1000.0) }
}

/// A ratio: two digits, or whole.
fn by(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.1}x") } else { format!("{ratio:.0}x") }
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
                TASKS.iter().filter(|task| task.documents.contains(&document.founding.name)).collect();
            assert!(!own.is_empty(), "{}", document.founding.name);
            for (id, _) in own.iter().flat_map(|task| task.answer.figures()) {
                assert!(document.figures.contains(&id), "{id}");
            }
        }
    }

    #[test]
    fn every_question_stands_alone_and_asks_for_what_is_told() {
        for task in TASKS {
            let asked = task.ask;
            assert!(
                !asked.contains("The same") && !asked.contains(" or "),
                "{asked}: by itself, and one number"
            );
            let end = match task.answer {
                Answer::Time(..) => ": how long?",
                Answer::Times(..) => "?",
            };
            let asks_times = asked.contains(": how many times as long as ");
            assert!(asked.ends_with(end) && asks_times == (end == "?"), "{asked}");
            let twice = TASKS.iter().filter(|other| other.ask == asked).count();
            assert_eq!(twice, 1, "{asked}");
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

    #[test]
    fn how_many_times_is_told_with_both_prices() {
        let ids = ["context_switch/pipe/cross_cpu", "context_switch/pipe/same_cpu"];
        let figures = [figure(ids[0], FLOOR, 6990.0, None), figure(ids[1], FLOOR, 2080.0, None)];
        let told = |figures: &[_]| worksheet(&["context-switch"], &Found::of(figures, &[], &[]));
        let row = "| 3 | 3.4x as long: 6.99 us and 2.08 us | 3.3x .. 3.4x | context_switch/pipe/cross_cpu by context_switch/pipe/same_cpu |";
        assert!(told(&figures).contains(row), "{}", told(&figures));
        let lacks = "| 3 | not measured: oscost run context_switch/pipe/same_cpu |  |";
        assert!(told(&figures[..1]).contains(lacks), "{}", told(&figures[..1]));
        let both = worksheet(&["grame", "context-switch"], &Found::of(&figures, &[], &[]));
        assert_eq!(both.matches("on one CPU: how long?").count(), 1, "asked once for both documents");
    }
}
