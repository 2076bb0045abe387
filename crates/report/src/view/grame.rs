//! Document 002's figures over time by number, as this machine has them: a client idle and under each load, a stack of
//! clients, the first and the last of many.

mod drawn;
mod letters;

use oscost_results::document::GRAME;
use oscost_results::quantity;
use oscost_results::{Figure, Parameter};
use oscost_stats::sorting::SmallSort;

use crate::blocks::{Part, View};
use crate::view::realtime_ipc::{self, Session, plots, plots::every};
use crate::view::story::Story;

/// A wait queue from user space, and servers inside the kernel: the counterparts of figure 31.
const QUEUES: [&str; 3] = ["kernel_module", "bpf", "poll_broadcast"];

/// Transports whose tails are drawn: the document's, and one wake-up for all.
const IN_TIME: [&str; 2] = ["unix_datagram", "futex_broadcast"];

/// The loads beside one client, the document's figures of them, and what goes on.
const SITUATIONS: [(&str, &str, &str); 4] = [
    ("", "3, 7, 11, 15, 19", "idle"),
    ("transfer", "4, 8, 12, 16, 20", "while a file is got"),
    ("start_program", "5, 9, 13, 17, 21", "while a program is started"),
    ("window", "6, 10, 14, 18, 22", "while a window is moved"),
];

/// How late the messages to the most clients are, by transport and situation.
pub(crate) fn tails(story: &Story<'_>) -> Option<Part> {
    let policy =
        |it: &Session<'_>| it.figure.parameter("policy").and_then(Parameter::text).map(str::to_owned);
    let sessions = || story.measured().filter_map(realtime_ipc::session).filter(|it| it.tick_ns == 1e6);
    let most = sessions().map(|it| it.clients).max().filter(|&most| most > 1)?;
    let all: Vec<Session<'_>> = sessions()
        .filter(|it| {
            it.clients == most && IN_TIME.contains(&it.transport) && policy(it).as_deref() != Some("fifo")
        })
        .collect();
    let name = |it: &Session<'_>| {
        let load = if it.load.is_some() { "loaded" } else { "idle" };
        let priority = if policy(it).as_deref() == Some("other") { ", no priority" } else { "" };
        let awake = it.figure.parameter("idle_cpu").is_some();
        let place = match it.placement {
            "spread" if awake => ", over CPUs kept awake",
            "spread" => ", over CPUs",
            _ => "",
        };
        format!("{}, {load}{priority}{place}", story.words(it.transport))
    };
    let all: Vec<&Session<'_>> = all.iter().collect();
    plots::tails(&format!("{most} clients in time: how many messages took longer"), &all, &name)
        .map(Part::from)
}

/// The pictures of a result that has sessions of the document.
pub(crate) fn view(story: &Story<'_>) -> Option<View> {
    let mut parts = Vec::new();
    for (load, figures, what) in SITUATIONS {
        if let Some(figure) = session(story, |clients, under| clients == 1 && under == load) {
            let comma = if load.is_empty() { "," } else { "" };
            let title = format!("Figures {figures}: one client{comma} {what}");
            parts.extend(drawn::one_client(story, figure, &title));
        }
    }
    parts.extend(drawn::histogram(story));
    let stacked = session(story, |clients, under| clients == 5 && under.is_empty())
        .or_else(|| session(story, |clients, under| (2..5).contains(&clients) && under.is_empty()));
    if let Some(figure) = stacked {
        parts.extend(drawn::stack(story, figure));
    }
    let most = as_there(story).filter(|(_, _, load)| load.is_empty()).map(|(_, clients, _)| clients).max();
    if let Some(figure) = most
        .filter(|&most| most > 1)
        .and_then(|most| session(story, |clients, under| clients == most && under.is_empty()))
    {
        let title = format!(
            "Figure 32: {} clients by sockets, the first and the last one served",
            clients_of(figure)?.0
        );
        parts.extend(drawn::first_and_last(story, figure, &title));
    }
    for name in QUEUES {
        let several = |session: &Session<'_>| {
            let plain = session.tick_ns == 1e6 && session.rest.is_empty() && session.load.is_none();
            (session.transport, session.placement) == (name, "same_cpu") && session.clients > 1 && plain
        };
        if let Some(Session { figure, .. }) = story.measured().filter_map(realtime_ipc::session).find(several)
        {
            let whose = if name == "poll_broadcast" { ", a wait queue from user space (ours)" } else { "" };
            let title = format!(
                "Figure 31: clients of {name} at 1 ms{whose}, the first and the last one by their names"
            );
            parts.extend(drawn::by_name(story, figure, &title));
        }
    }
    let named: Vec<(String, &Figure)> = sessions(story)
        .map(|(figure, ..)| {
            (figure.id.strip_prefix("grame/literal/").unwrap_or(&figure.id).to_owned(), figure)
        })
        .collect();
    parts.extend(every(story, &named));
    (!parts.is_empty()).then(|| View {
        title:
            "Its figures over time by number, as this machine has them (the curves of the document are lost)"
                .to_owned(),
        covers: Vec::new(),
        parts,
    })
}

/// What a price list says of the sessions, which are told with the document.
pub(crate) fn told_below(story: &Story<'_>) -> Option<View> {
    let covers: Vec<String> = sessions(story).map(|(figure, ..)| figure.id.clone()).collect();
    (!covers.is_empty()).then(|| View {
        title: "GRAME".to_owned(),
        parts: vec![Part::Words(format!(
            "{} sessions by document 002's own method, single runs, are told with the document",
            covers.len()
        ))],
        covers,
    })
}

/// (clients, load) of a session of the document.
fn clients_of(figure: &Figure) -> Option<(u32, &str)> {
    if figure.family != GRAME.name {
        return None;
    }
    let clients = figure.parameter("clients")?.number()?;
    Some((u32::try_from(clients).ok()?, figure.parameter("load").and_then(Parameter::text).unwrap_or("")))
}

fn sessions<'a>(story: &'a Story<'_>) -> impl Iterator<Item = (&'a Figure, u32, &'a str)> {
    story.measured().filter_map(|figure| clients_of(figure).map(|(clients, load)| (figure, clients, load)))
}

/// Without the experiments, whose sender or whose order of service is another than the document's.
fn as_there<'a>(story: &'a Story<'_>) -> impl Iterator<Item = (&'a Figure, u32, &'a str)> {
    let is_experiment = |figure: &Figure| ["sender", "order"].iter().any(|it| figure.parameter(it).is_some());
    sessions(story).filter(move |&(figure, ..)| !is_experiment(figure))
}

/// Of several sessions of one kind that with the median service time, as in the tables.
fn session<'a>(story: &'a Story<'_>, is: impl Fn(u32, &str) -> bool) -> Option<&'a Figure> {
    let mut found: Vec<(f64, &Figure)> = as_there(story)
        .filter(|(_, clients, load)| is(*clients, load))
        .filter_map(|(figure, ..)| {
            Some((figure.quantities.get(quantity::CLIENT_SERVICE)?.estimate.value, figure))
        })
        .collect();
    found.small_sort_by(|one, other| one.0.total_cmp(&other.0));
    let middle = found.len().saturating_sub(1) / 2;
    found.get(middle).map(|(_, figure)| *figure)
}

/// Finite values of the clients, us, by number.
fn tracks(figure: &Figure) -> Vec<(u32, Vec<f64>)> {
    let launch = figure.launches.iter().find(|launch| !launch.tracks.is_empty());
    let tracks = launch.into_iter().flat_map(|launch| &launch.tracks);
    let mut found: Vec<(u32, Vec<f64>)> = tracks
        .filter_map(|(name, values)| {
            let number = name.strip_prefix("client_")?.parse().ok()?;
            let us: Vec<f64> = values.iter().map(|ns| ns / 1e3).filter(|us| us.is_finite()).collect();
            (!us.is_empty()).then_some((number, us))
        })
        .collect();
    found.small_sort_by_key(|(number, _)| *number);
    found
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use oscost_results::{Conditions, Estimate, LaunchRecord, Machine, Quantity, RunResult, Status, Tool};

    use super::*;
    use crate::blocks::plot::Plot;

    /// A session of one client: its service time and its latencies, us, and between which of them a load was on.
    fn of_one(rest: &str, service_us: f64, us: &[f64], load: Option<[f64; 2]>) -> Figure {
        let mut launch = LaunchRecord::default();
        launch.tracks.insert("client_1".to_owned(), us.iter().map(|us| us * 1e3).collect());
        launch.tracks.extend(load.map(|marks| ("load".to_owned(), marks.to_vec())));
        let ns = service_us * 1e3;
        let estimate = Estimate { value: ns, low: ns, high: ns, extremes: true };
        let service = Quantity { estimate, unit: "ns".to_owned(), unknown: serde_json::Map::default() };
        Figure {
            id: format!("grame/literal/clients_1{rest}"),
            family: GRAME.name.to_owned(),
            status: Status::Measured,
            quantities: [(quantity::CLIENT_SERVICE.to_owned(), service)].into(),
            launches: vec![launch],
            ..Figure::default()
        }
    }

    fn plots(figures: Vec<Figure>) -> Vec<Plot> {
        let at = std::time::SystemTime::UNIX_EPOCH;
        let mut result = RunResult::begun(at, Tool::default(), Machine::default(), Conditions::default());
        result.figures = figures;
        let parts = view(&Story::new(&result, true)).map_or(Vec::new(), |view| view.parts);
        let plots = parts.into_iter().filter_map(|part| match part {
            Part::Plot(plot) => Some(*plot),
            _ => None,
        });
        plots.collect()
    }

    /// A session with a load is idle for half of its time, and that half was told as under the load.
    #[test]
    fn what_is_told_of_a_load_is_of_the_time_in_which_it_was_on() {
        let us: Vec<f64> = (0..100).map(|at| if (40..90).contains(&at) { 60.0 } else { 20.0 }).collect();
        let loaded = of_one("/load_transfer", 60.0, &us, Some([40.0, 90.0]));
        let plots = plots(vec![of_one("", 20.0, &[20.0; 100], None), loaded]);
        let title = "Half of the messages took less than ";
        let histogram = plots.iter().find(|plot| plot.finding.starts_with(title)).expect("a histogram");
        assert!(histogram.finding.contains(" to 60.0 us,"), "{}", histogram.finding);
        let values: Vec<&str> = histogram.table.rows.iter().map(|row| &*row[1].text).collect();
        assert_eq!(values, ["100", "50"]);
    }

    #[test]
    fn an_experiment_is_not_drawn_as_the_documents_session() {
        let below = of_one("/sender_96", 20.0, &[20.0; 100], None);
        let own = of_one("", 30.0, &[30.0; 100], None);
        for figures in [vec![below.clone(), own.clone()], vec![own, below]] {
            let plots = plots(figures);
            let title = "Figures 3, 7, 11, 15, 19: one client, idle: 30.0 us in the middle";
            assert!(plots[0].finding.starts_with(title), "{}", plots[0].finding);
        }
    }
}
