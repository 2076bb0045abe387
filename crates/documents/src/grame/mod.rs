//! Document 002: real-time messages from one server to 1 to 10 clients, its sockets' sessions repeated literally, its
//! statements judged at 1 ms in paired launches.

mod answers;
mod client;
mod curves;
mod derive;
mod elsewhere;
mod in_time;
mod laboratory;
mod loads;
mod others;
mod published;
mod record;
mod server;
mod session;
pub(crate) mod settings;
mod shape;
mod statements;
mod tables;

pub use elsewhere::Elsewhere;
pub use session::resolve;
pub use settings::Settings;
pub use shape::PREFIX;

use oscost_families::realtime_ipc::{self, Load};
use oscost_results::quantity;
use oscost_results::{Answer, Judgement, Mark, Reproduction, document};
use oscost_stats::sorting::SmallSort;
use oscost_sys::scheduling::Policy;

use crate::Document;
use crate::found::{Found, Rows};
use crate::parameters::DocumentParameters;
use settings::{family_id, loaded_id};
use shape::Shape;

/// The document.
pub static DOCUMENT: Document = Document {
    founding: document::GRAME,
    settings: settings::SETTINGS,
    figures: &["clock/gettimeofday", HOP],
    first,
    literal,
    rows: judge,
    answers,
};

/// The document's transport, which is the partner of all others.
const SOCKET: &str = "unix_datagram";
/// A switch by a pipe on one CPU, and the pipe without the switch.
const HOP: &str = "context_switch/pipe/same_cpu";
const ALONE: &str = "context_switch/pipe_alone/same_cpu";
/// The tick by which statements are judged (section 5), and that of a sound server: 64 frames at 44 100 Hz.
const JUDGED_NS: u64 = 1_000_000;
const SOUND_NS: u64 = 1_451_247;
/// The document's loads (section 4): an ftp session, launching an application, moving a window.
const LOADS: [Load; 3] = [Load::Transfer, Load::StartProgram, Load::Window];
/// Shortest time that counts of a session with a load, ns.
const LEAST_LOADED_NS: u64 = 250_000_000;
/// Stands for its note on network mounts.
const CONTEXT: Load = Load::Network;
/// Ways by which the kernel wakes clients itself: the document's, and today's without a module.
const KERNEL_SIDE: [&str; 2] = ["kernel_module", "bpf"];
/// Where the module is loaded there is its device.
const MODULE_DEVICE: &str = "/dev/oscost_tick";
/// A plain wait queue in user space: waiters at the head, as in the document's module.
const WAIT_QUEUE: &str = "poll_broadcast";
/// Transports whose order of service is shown, besides the socket's.
const ORDERS: [&str; 4] = [WAIT_QUEUE, "futex_broadcast", "pipe", "udp"];
const ORDERS_QUICK: [&str; 2] = [WAIT_QUEUE, "futex_broadcast"];

/// Id of a session of the family at 1 ms.
fn at_1ms(transport: &str, clients: usize) -> String {
    family_id(transport, clients, JUDGED_NS, Policy::RoundRobin)
}

impl Settings {
    /// The fewest and the most clients.
    fn ends(&self) -> Vec<usize> {
        let mut ends: Vec<usize> =
            [self.clients.first(), self.clients.last()].into_iter().flatten().copied().collect();
        ends.dedup();
        ends
    }

    /// Whether there is time for a load in the middle of a session.
    fn has_time_for_loads(&self) -> bool {
        (self.ticks - self.discard) as u64 * self.tick_ns >= LEAST_LOADED_NS
    }

    fn most(&self) -> usize {
        self.clients.last().copied().unwrap_or(1)
    }

    /// Sessions that are the counterpart of a choice of the document, and what they try. One decides a statement, so it is
    /// always run.
    fn experiments(&self) -> Vec<(&'static str, Shape)> {
        let most = self.most();
        let mut all = vec![("sender below its readers", self.below(most))];
        if self.experiments {
            all.push(("new clients last", self.tail(most)));
            if most > 1 {
                all.push(("sender below its reader", self.below(1)));
            }
        }
        all
    }

    /// Transports whose order of service is shown.
    fn orders(&self) -> Vec<&'static str> {
        match (self.quick, self.sessions > 1) {
            (true, _) => ORDERS_QUICK.to_vec(),
            // With --thorough all that wait: who never sleeps has no order.
            (_, true) => realtime_ipc::transports()
                .filter(|name| {
                    *name != SOCKET && !realtime_ipc::never_sleeps(name) && !KERNEL_SIDE.contains(name)
                })
                .collect(),
            _ => ORDERS.to_vec(),
        }
    }
}

fn literal(parameters: &DocumentParameters) -> Vec<String> {
    let settings = &parameters.grame;
    let mut ids = Vec::new();
    for &clients in &settings.clients {
        ids.extend((1..=settings.sessions).map(|session| settings.shape(clients, session).id()));
    }
    let experiments = settings.experiments();
    ids.extend(experiments.iter().map(|(_, shape)| shape.id()));
    // The first one is of the price list.
    ids.extend(first(parameters).into_iter().skip(1));
    ids.extend(in_time::ids(settings));
    // The curve over all of them is that at 1 ms; the sound server's tick is told of its ends.
    let sound = if settings.sessions > 1 { settings.clients.clone() } else { settings.ends() };
    ids.extend(sound.into_iter().map(|clients| family_id(SOCKET, clients, SOUND_NS, Policy::RoundRobin)));
    for load in LOADS.into_iter().filter(|_| settings.has_time_for_loads()) {
        ids.extend((1..=settings.sessions).map(|session| settings.loaded(load, session).id()));
    }
    ids
}

/// A hop of the price list, then the sessions of the family that statements rest on.
fn first(parameters: &DocumentParameters) -> Vec<String> {
    let settings = &parameters.grame;
    let mut ids = vec![HOP.to_owned()];
    ids.extend(settings.clients.iter().map(|&clients| at_1ms(SOCKET, clients)));
    ids.extend(
        settings.ends().into_iter().map(|clients| family_id(SOCKET, clients, JUDGED_NS, Policy::Fifo)),
    );
    ids.extend(settings.orders().into_iter().map(|name| at_1ms(name, settings.most())));
    ids.extend(LOADS.into_iter().chain([CONTEXT]).map(|load| loaded_id(load, settings)));
    for name in KERNEL_SIDE {
        // Without the module two figures say so as well as seven.
        let there = name == KERNEL_SIDE[0] && std::path::Path::new(MODULE_DEVICE).exists();
        let counts = if there { settings.clients.clone() } else { settings.ends() };
        ids.extend(counts.into_iter().map(|clients| at_1ms(name, clients)));
    }
    ids
}

/// Id of the session of so many clients that is shown: of several the one with the median service time.
fn shown_session(found: &Found<'_>, settings: &Settings, clients: usize) -> String {
    median_session(found, settings, |session| settings.shape(clients, session))
}

/// The same of a session under a load.
fn shown_loaded(found: &Found<'_>, settings: &Settings, load: Load) -> String {
    median_session(found, settings, |session| settings.loaded(load, session))
}

fn median_session(found: &Found<'_>, settings: &Settings, shape: impl Fn(u32) -> Shape) -> String {
    let mut sessions: Vec<(f64, String)> = (1..=settings.sessions)
        .map(|session| shape(session).id())
        .filter_map(|id| Some((found.literal(&id, quantity::CLIENT_SERVICE)?, id)))
        .collect();
    sessions.small_sort_by(|one, other| one.0.total_cmp(&other.0));
    let middle = sessions.len().saturating_sub(1) / 2;
    sessions.into_iter().nth(middle).map_or_else(|| shape(1).id(), |(_, id)| id)
}

fn answers(found: &Found<'_>, parameters: &DocumentParameters) -> Vec<Answer> {
    answers::answers(found, &parameters.grame)
}

fn judge(found: &Found<'_>, parameters: &DocumentParameters) -> Vec<Reproduction> {
    let settings = &parameters.grame;
    let mut rows = Rows::of(DOCUMENT.founding.name);
    in_time::table(found, settings, &mut rows);
    tables::method(found, settings, &mut rows);
    tables::single_clients(found, settings, &mut rows);
    others::tell(settings, &mut rows);
    laboratory::tell(settings, &mut rows);
    loads::tell(found, settings, &mut rows);
    curves::over_clients(found, settings, &mut rows);
    tables::kernel_side(found, settings, &mut rows);
    tables::orders(found, settings, &mut rows);
    curves::experiments(found, settings, &mut rows);
    tables::outputs(found, settings, &mut rows);
    tables::not_measured(&mut rows);
    statements::statements(found, settings, &mut rows);
    let (refused, shared) = (marked(found, Mark::NotRealTime) > 0.0, marked(found, Mark::Shared) > 0.5);
    let told = [(refused, "not real-time"), (shared, "others had its CPUs")];
    let told: Vec<&str> = told.into_iter().filter_map(|(is, words)| is.then_some(words)).collect();
    if !told.is_empty() {
        let measured = |row: &&mut Reproduction| {
            use Judgement::{DoesNotHold, Holds, HoldsInPart, NotJudged, Unclear};
            matches!(row.verdict, Some(Holds | HoldsInPart | DoesNotHold | Unclear | NotJudged))
                && row.place != tables::ARITHMETIC
        };
        for row in rows.rows.iter_mut().filter(measured) {
            row.because = format!("{}: {}", told.join(", "), row.because);
            // What is said of priorities is tried only where they are granted.
            if refused && row.place == statements::PRIORITIES {
                row.verdict = Some(Judgement::NotTestableHere);
            }
        }
    }
    rows.rows
}

/// The share of the sessions with this mark.
fn marked(found: &Found<'_>, mark: Mark) -> f64 {
    let sessions = || {
        let is_session = |id: &str| id.starts_with(PREFIX) || id.starts_with("realtime_ipc/");
        found.figures.iter().filter(move |figure| is_session(&figure.id))
    };
    sessions().filter(|figure| figure.marks.contains(&mark)).count() as f64 / sessions().count().max(1) as f64
}

#[cfg(test)]
mod tests;
