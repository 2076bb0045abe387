//! What the heading of a page says: findings of the terminal's rules, in the words of the figures' titles.

use oscost_results::document::{FOUNDING_DOCUMENTS, GRAME};

use super::paid;
use crate::numbers;
use crate::view::documents::{answers, judged};
use crate::view::story::Story;
use crate::words::{capital, distinct, plain};

/// Findings that a heading has room for.
const FINDINGS: usize = 2;

/// Prices that say most of a machine, and what is done for them; ids in the order of preference.
const PRICES: [(&[&str], &str); 3] = [
    (&["syscall/getpid", "syscall/getppid"], "a system call takes"),
    (&["semaphore/system_v"], "a System V semaphore"),
    (&["context_switch/pipe/cross_cpu"], "waking another CPU"),
];

/// The findings in a sentence; with fewer than two of them a price that everybody knows, and with none several. Where even
/// these are missing, from which price to which.
pub(super) fn of_findings(story: &Story<'_>, findings: &[String]) -> String {
    if let Some(finding) = crate::view::realtime_load::finding(story) {
        return finding;
    }
    let mut told: Vec<String> = findings.iter().take(FINDINGS).map(|it| said(&titled(story, it))).collect();
    let measured = |ids: &[&str]| {
        let figures = &story.result.figures;
        let mut known = ids.iter().filter_map(|id| figures.iter().find(|figure| figure.id == *id));
        known.find_map(paid).map(|it| numbers::duration(it.value))
    };
    let prices = || PRICES.iter().filter_map(|&(ids, name)| Some(format!("{name} {}", measured(ids)?)));
    let known = prices().count();
    match told.len() {
        0 if known == PRICES.len() => {
            let all: Vec<String> = prices().collect();
            return format!("On this machine {}, {}, and {}", all[0], all[1], all[2]);
        }
        1 if known == PRICES.len() => told.extend(prices().take(1)),
        _ => {}
    }
    if !told.is_empty() {
        let begin = if story.result.plan.effort == "quick" { "At first look" } else { "On this machine" };
        return format!("{begin} {}", told.join(", and "));
    }
    let mut priced: Vec<_> =
        story.result.figures.iter().filter_map(|figure| Some((figure, paid(figure)?.value))).collect();
    priced.sort_by(|one, other| one.1.total_cmp(&other.1));
    match (priced.first(), priced.last()) {
        (Some((least, from)), Some((most, to)))
            if least.id != most.id
                && !least.operation.is_empty()
                && priced.iter().all(|(it, _)| it.operation == least.operation) =>
        {
            let operation = match crate::view::realtime_ipc::last_reached(&priced) {
                Some(sentence) => sentence,
                None => capital(&story.plain(&least.operation)),
            };
            let name = |figure: &oscost_results::Figure| short(story, &figure.id).replace('_', " ");
            format!(
                "{operation}: {} by {}, {} by {}",
                numbers::duration(*from),
                name(least),
                numbers::duration(*to),
                name(most)
            )
        }
        (Some((least, from)), Some((most, to))) if least.id != most.id => capital(&format!(
            "from {} for {} to {} for {}",
            numbers::duration(*from),
            short(story, &least.id),
            numbers::duration(*to),
            short(story, &most.id)
        )),
        (Some((only, price)), _) => {
            capital(&format!("{} for {}", numbers::duration(*price), short(story, &only.id)))
        }
        _ => match story.result.figures.len() {
            0 => "Nothing was measured".to_owned(),
            count => format!("{count} figures, none of them a price"),
        },
    }
}

/// The first answer of a document, there and here, and what became of its statements; of several documents the latter.
pub(super) fn of_documents(story: &Story<'_>) -> String {
    let result = story.result;
    let names = distinct(result.reproductions.iter().map(|row| &*row.document));
    let alone = names.len() == 1;
    let of = |name: &str| {
        let found = if !alone {
            String::new()
        } else if name == GRAME.name {
            crate::view::grame::finding(story)
        } else {
            let answers = answers(name, result);
            match answers.first() {
                Some(first) if answers.iter().any(|answer| answer.here.is_some()) => first.finding.clone(),
                Some(_) => "none of its sizes was measured in this run".to_owned(),
                None => String::new(),
            }
        };
        let parts = [story.plain(&found), judged(name, &result.reproductions)];
        let told: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        format!("{}: {}", name_of(name), told.join("; "))
    };
    names.into_iter().map(of).collect::<Vec<_>>().join("; ")
}

/// What readers call a document.
fn name_of(name: &str) -> String {
    let known = FOUNDING_DOCUMENTS.iter().find(|document| document.name == name);
    let title = known.map_or_else(|| format!("Document {}", plain(name, true)), |it| it.title.to_owned());
    // "Document 000, TLPI 53.5: POSIX against ..." is known by the words between.
    let head = title.split(": ").next().unwrap_or(&title);
    head.split_once(", ").map_or(head, |(_, own)| own).to_owned()
}

/// The title of a figure, without what only its own family tells apart.
pub(super) fn short(story: &Story<'_>, id: &str) -> String {
    let figure = story.result.figures.iter().find(|figure| figure.id == id);
    let title = figure.map_or(id, |figure| if figure.title.is_empty() { id } else { &figure.title });
    story.plain(title.split(", ").next().unwrap_or(title))
}

/// A finding with titles for ids; ids of the same family may be short in it.
fn titled(story: &Story<'_>, finding: &str) -> String {
    let known = |id: &str| {
        let ends = ["", "/same_cpu", "/cross_cpu"];
        let figures = &story.result.figures;
        ends.iter().find_map(|end| figures.iter().find(|figure| figure.id == format!("{id}{end}")))
    };
    let mut family = "";
    let words = finding.split(' ').map(|word| {
        let (name, stop) = word.strip_suffix(';').map_or((word, ""), |name| (name, ";"));
        let figure = known(name)
            .or_else(|| (!family.is_empty()).then(|| known(&format!("{family}/{name}"))).flatten());
        match figure {
            Some(figure) => {
                family = &figure.family;
                format!("{}{stop}", short(story, &figure.id))
            }
            None => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A finding in words that need no knowledge of its rule.
fn said(finding: &str) -> String {
    let times = |number: &str| number.strip_suffix('x').map(|it| format!("{it} times"));
    let another = finding.strip_prefix("another CPU makes ").and_then(|rest| rest.rsplit_once(" cost "));
    if let Some((name, number)) = another.and_then(|(name, number)| Some((name, times(number)?))) {
        return format!("a {name} to another CPU costs {number} one on the same CPU");
    }
    let costs = finding.split_once(" costs ").and_then(|(one, rest)| {
        let (number, other) = rest.split_once(' ')?;
        Some(format!("{} costs {} as much as {}", one_of(one), times(number)?, one_of(other)))
    });
    costs.unwrap_or_else(|| finding.to_owned())
}

/// Names of figures that end in a thing of which there are many.
const THINGS: [&str; 6] = ["semaphore", "mutex", "lock", "pipe", "queue", "socket"];

/// With an article, where the name is that of a thing.
fn one_of(name: &str) -> String {
    if THINGS.iter().any(|thing| name.ends_with(thing)) { format!("a {name}") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_called_as_its_readers_call_it() {
        let names = FOUNDING_DOCUMENTS.map(|document| name_of(document.name));
        assert_eq!(names, ["TLPI 53.5", "APUE 20.9", "GRAME 2001", "OSTEP chapter 6", "Document 004"]);
        assert_eq!(name_of("another"), "Document another");
    }

    #[test]
    fn a_finding_is_said_in_whole_words() {
        let cases = [
            (
                "another CPU makes process switch cost 9.0x",
                "a process switch to another CPU costs 9.0 times one on the same CPU",
            ),
            (
                "System V semaphore costs 151x POSIX semaphore",
                "a System V semaphore costs 151 times as much as a POSIX semaphore",
            ),
            ("stat costs 12x a bare kernel entry", "stat costs 12 times as much as a bare kernel entry"),
            ("clock enters the kernel on each call", "clock enters the kernel on each call"),
        ];
        for (finding, words) in cases {
            assert_eq!(said(finding), words);
        }
    }
}
