//! Real-time messages: a line a transport with its distribution and its service time against the tick, the timeline of one
//! client with its peaks, how many clients fit a period, and how cost grows with their number.

mod cadence;
pub(crate) mod plots;
mod response;

use oscost_results::{Estimate, Figure, Mark, PairedValue, Parameter, RemarkCode, Trait, quantity};
use oscost_stats::sorting::SmallSort;

use crate::blocks::{Part, Table, View};
use crate::numbers;
use crate::view::picture;
use crate::view::story::Story;
use crate::words::{counted, distinct, grouped};

/// Columns of a bar, and of a timeline.
const BAR: usize = 10;
const TIMELINE: usize = 60;
/// Clients up to which growth is taken for a straight line: the document's most.
const LINE_UNTIL: u32 = 10;
/// Off the straight line by more than this, growth has left it.
const OFF_LINE: f64 = 0.2;
/// A peak is no smaller than this above the median, ns. docs/method/families.md.
const LEAST_PEAK_NS: f64 = 100.0;

/// A measured session.
pub(crate) struct Session<'a> {
    pub figure: &'a Figure,
    pub transport: &'a str,
    pub placement: &'a str,
    pub clients: u32,
    pub tick_ns: f64,
    /// What keeps the machine busy beside it ("transfer", "command_sleep%201").
    pub load: Option<&'a str>,
    /// What else is not the default ("size_1024/policy_fifo").
    pub rest: String,
}

/// The session of a figure; `None` for a figure of something else.
pub(crate) fn session(figure: &Figure) -> Option<Session<'_>> {
    let text = |name| figure.parameter(name).and_then(Parameter::text);
    let number = |name| figure.parameter(name).and_then(Parameter::number).filter(|&number| number > 0);
    let rest = ["size", "policy", "ticks", "idle_cpu"].into_iter();
    let rest: Vec<String> =
        rest.filter_map(|name| Some(format!("{name}_{}", figure.parameter(name)?))).collect();
    Some(Session {
        figure,
        transport: text("transport")?,
        placement: text("placement")?,
        clients: u32::try_from(number("clients")?).ok()?,
        tick_ns: number("tick_ns")? as f64,
        load: text("load"),
        rest: rest.join("/"),
    })
}

impl Session<'_> {
    /// Its id without the family, and without what is the same everywhere.
    fn name(&self) -> String {
        let rest = if self.rest.is_empty() { String::new() } else { format!("/{}", self.rest) };
        format!("{}/{}/clients_{}{rest}", self.transport, self.placement, self.clients)
    }

    /// A quantity of it with its interval.
    pub fn quantity(&self, name: &str) -> Option<Estimate> {
        Some(self.figure.quantities.get(name)?.estimate)
    }

    /// A quantity of it.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.quantity(name).map(|estimate| estimate.value).filter(|value| value.is_finite())
    }

    /// A quantity as a time; empty where there is none.
    pub fn time(&self, name: &str) -> String {
        self.value(name).map_or(String::new(), numbers::duration)
    }
}

/// Messages that were sent and that a client did not get, of the whole session.
pub(crate) fn lost(session: &Session<'_>) -> f64 {
    ["dropped", "missed"].iter().filter_map(|name| session.value(name)).sum()
}

/// Messages that were lost, and ticks that a late server skipped and never sent: two things, and two columns.
pub(crate) fn lost_and_skipped(session: &Session<'_>) -> [String; 2] {
    let skipped = session.value("overruns").unwrap_or(0.0);
    [lost(session), skipped].map(|count| if count == 0.0 { "0".to_owned() } else { numbers::count(count) })
}

/// The view of all sessions of a result.
pub(crate) fn view(story: &Story<'_>) -> Option<View> {
    let sessions: Vec<Session<'_>> =
        story.measured().filter_map(session).filter(|session| session.load.is_none()).collect();
    if sessions.is_empty() {
        return None;
    }
    let mut parts = vec![Part::words(
        "A server stamps each tick and sends it to every client. Last: latency of the last client in each tick, median and 99th percentile of a launch. Next: gap between clients. Service: mean + sd of the client served last, as in document 002; the bar is its share of the tick. Server: CPU time per tick. x: last, divided by that of the unix_datagram session right beside it. Skipped: ticks that a late server did not send.",
    )];
    let situation = |it: &&Session<'_>| (it.placement.to_owned(), it.clients, it.tick_ns, it.rest.clone());
    let situations = grouped(&sessions, situation);
    // Where some transports stand beside one another, pictures of one by itself compare nothing: its numbers are in the table.
    let compares = situations.iter().any(|(_, here)| here.len() > 1);
    for ((placement, clients, tick_ns, rest), here) in situations {
        let (who, tick) = (several(clients), numbers::duration(tick_ns));
        let rest = if rest.is_empty() { String::new() } else { format!(", {rest}") };
        let heading = story.plain(&format!("{who} {}, tick {tick}{rest}", place(&placement)));
        parts.push(Part::Words(heading.clone()));
        parts.push(Part::Table(table(story, &here)));
        parts.extend(best(story, &here).map(Part::Words));
        parts.extend(response::from_due(story, &here).map(Part::Words));
        if here.len() > 1 || !compares {
            parts.extend(plots::situation(story, &heading, &here));
        }
    }
    parts.extend(placed(story, &sessions).map(Part::Words));
    parts.extend(timeline(story, &sessions));
    parts.extend(plots::service(story, &families(&sessions)));
    parts.extend(plots::load(story, &sessions));
    let told = fits(story, &sessions)
        .into_iter()
        .chain(growth(story, &sessions))
        .chain(cadence::of(story, &sessions));
    parts.extend(told.map(Part::Words));
    parts.extend(reservations(story, &sessions).map(Part::Words));
    let covers = sessions.iter().map(|session| session.figure.id.clone()).collect();
    Some(View { title: "REALTIME IPC".to_owned(), covers, parts })
}

/// The ratio of a session's last client to its partner's.
fn ratio<'a>(story: &'a Story<'_>, session: &Session<'_>) -> Option<&'a PairedValue> {
    let mut ratios = story.result.ratios.iter();
    ratios.find(|pair| pair.of == session.figure.id && pair.quantity == quantity::LAST_P50)
}

fn table(story: &Story<'_>, sessions: &[&Session<'_>]) -> Table {
    let heads = "transport|last|p99|shape|next|service|of the tick|server|x|lost|skipped".split('|');
    let row = |session: &&Session<'_>| {
        let load = session.value(quantity::DISPATCH_LOAD).unwrap_or(0.0);
        let against = ratio(story, session).and_then(|pair| Some((pair.value?, pair.low.zip(pair.high))));
        let [lost, skipped] = lost_and_skipped(session);
        vec![
            story.words(session.transport),
            session.time(quantity::LAST_P50),
            session.time(quantity::LAST_P99),
            picture::distribution(&session.figure.launches, story.unicode),
            session.time(quantity::NEXT_P50),
            session.time(quantity::CLIENT_SERVICE),
            format!("{} {:>6}", bar(load, story.unicode), format!("{:.1} %", load * 100.0)),
            session.time(quantity::SERVER_CPU),
            against.map_or(String::new(), |(value, bounds)| numbers::ratio(value, bounds)),
            lost,
            skipped,
        ]
    };
    Table::new(heads, sessions.iter().map(row))
}

/// A share of the tick as a bar; what is over the tick is full.
fn bar(share: f64, unicode: bool) -> String {
    let filled = ((share * BAR as f64).ceil() as usize).min(BAR);
    let (full, empty) = if unicode { ("█", "░") } else { ("#", ".") };
    format!("{}{}", full.repeat(filled), empty.repeat(BAR - filled))
}

/// The best transport that queues a payload and the best that is pollable, by their paired ratios; a ratio whose interval
/// overlaps the next one's is not ranked before it.
fn best(story: &Story<'_>, sessions: &[&Session<'_>]) -> Option<String> {
    let against = |wanted: Trait| {
        let mut found: Vec<(&str, f64, f64, f64)> = sessions
            .iter()
            .filter(|session| session.figure.has(wanted))
            .filter_map(|session| {
                if session.figure.has(Trait::Partner) {
                    return Some((session.transport, 1.0, 1.0, 1.0));
                }
                let pair = ratio(story, session)?;
                Some((session.transport, pair.value?, pair.low?, pair.high?))
            })
            .collect();
        found.small_sort_by(|one, other| one.1.total_cmp(&other.1));
        let &(name, value, low, high) = found.first()?;
        let equals: Vec<String> =
            found[1..].iter().filter(|other| other.2 <= high).map(|other| story.words(other.0)).collect();
        let apart = if equals.is_empty() { "" } else { "; not told apart from " };
        let ratio = numbers::ratio(value, (low < high).then_some((low, high)));
        Some(format!("{} ({ratio}{apart}{})", story.words(name), equals.join(", ")))
    };
    if sessions.len() < 3 {
        return None;
    }
    let (queues, pollable) = (against(Trait::QueuesPayload)?, against(Trait::Pollable)?);
    Some(format!("best that queues a payload: {queues}; best that is pollable: {pollable}"))
}

/// "1 client", "10 clients".
pub(crate) fn several(clients: u32) -> String {
    counted(clients as usize, "client", "clients")
}

/// Where participants run, in words.
pub(crate) fn place(placement: &str) -> &'static str {
    if placement == "spread" { "over several CPUs" } else { "on one CPU" }
}

/// Values of one client as letters, a column the highest of its ticks, and its peaks; then every value of every client.
fn timeline(story: &Story<'_>, sessions: &[Session<'_>]) -> Vec<Part> {
    let most = sessions.iter().max_by_key(|session| (session.figure.has(Trait::Partner), session.clients));
    let Some(session) = most else { return Vec::new() };
    let all: Vec<&Session<'_>> = sessions.iter().collect();
    let messages = plots::messages(story, &all, session);
    let Some(values) = plots::last_client(session) else { return messages.into_iter().collect() };
    let Some(told) = plots::told(&values) else { return messages.into_iter().collect() };
    let highest = values.iter().copied().fold(0.0, f64::max);
    let columns = values.chunks(values.len().div_ceil(TIMELINE).max(1));
    let heights: Vec<f64> =
        columns.map(|chunk| chunk.iter().copied().fold(0.0, f64::max) / highest.max(1.0)).collect();
    let heading = format!(
        "one launch of {}, its last client tick by tick, to {}: {told}",
        story.words(&session.name()),
        numbers::duration(highest)
    );
    let letters = vec![picture::draw(&heights, story.unicode)];
    plots::trail(heading, values, Vec::new(), letters).into_iter().chain(messages).collect()
}

/// Sessions of one transport on one CPU at one tick, by their number of clients.
fn families<'a>(sessions: &'a [Session<'a>]) -> Vec<Vec<&'a Session<'a>>> {
    let key = |it: &&'a Session<'a>| (it.transport, it.placement, it.tick_ns.to_bits(), it.rest.clone());
    let of = |(_, mut family): (_, Vec<&'a Session<'a>>)| {
        family.small_sort_by_key(|session| session.clients);
        family.dedup_by_key(|session| session.clients);
        family
    };
    grouped(sessions, key).into_iter().map(of).filter(|family| family.len() > 1).collect()
}

/// The families on one CPU, each with its name: the transport, and the tick and the rest where these differ among them.
fn on_one_cpu<'f, 'a>(
    story: &Story<'_>,
    families: &'f [Vec<&'a Session<'a>>],
) -> Vec<(String, &'f [&'a Session<'a>])> {
    let here: Vec<_> = families.iter().filter(|family| family[0].placement == "same_cpu").collect();
    let has_ticks = distinct(here.iter().map(|family| family[0].tick_ns.to_bits())).len() > 1;
    let has_rests = distinct(here.iter().map(|family| &family[0].rest)).len() > 1;
    let named = here.into_iter().map(|family| {
        let first = family[0];
        let tick = has_ticks.then(|| format!("tick {}", numbers::duration(first.tick_ns)));
        let rest = (has_rests && !first.rest.is_empty()).then(|| story.words(&first.rest));
        let more: Vec<String> = tick.into_iter().chain(rest).collect();
        let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join(", ")) };
        (format!("{}{more}", story.words(first.transport)), family.as_slice())
    });
    named.collect()
}

/// How many clients fit the period, by the line through the fewest and the most that were measured.
fn fits(story: &Story<'_>, sessions: &[Session<'_>]) -> Option<String> {
    let fit = |family: &[&Session<'_>], name: &str| -> Option<f64> {
        let (few, many) = (family.first()?, family.last()?);
        let slope = (many.value(name)? - few.value(name)?) / f64::from(many.clients - few.clients);
        let count = f64::from(few.clients) + (few.tick_ns - few.value(name)?) / slope;
        // A line that does not rise has no end.
        (slope > 0.0).then_some(count)
    };
    // A tick that is too short for the first has no beginning.
    let shown = |count: f64| {
        if count >= 1.0 { numbers::count(numbers::rounded(count.floor()).floor()) } else { "none".to_owned() }
    };
    let told: Vec<String> = on_one_cpu(story, &families(sessions))
        .into_iter()
        .filter_map(|(name, family)| {
            let (p99, most) = (fit(family, quantity::LAST_P99)?, fit(family, quantity::LAST_MAX));
            // Where the maximum fits, the 99th percentile does.
            let most = most.map_or("?".to_owned(), |most| shown(most.min(p99)));
            Some(format!("{name} {} ({most})", shown(p99)))
        })
        .collect();
    let what = "clients that fit a tick on one CPU by the 99th percentile (by the maximum), extrapolated";
    (!told.is_empty()).then(|| format!("{what}: {}", told.join(", ")))
}

/// Start and slope of the straight line through a quantity of the sessions with at most [`LINE_UNTIL`] clients, by least
/// squares; through the first two where there are no two such.
fn straight(family: &[&Session<'_>], name: &str) -> Option<(f64, f64)> {
    let few = family.iter().filter(|session| session.clients <= LINE_UNTIL).count().max(2);
    let points: Vec<(f64, f64)> = family
        .iter()
        .take(few)
        .filter_map(|session| Some((f64::from(session.clients), session.value(name)?)))
        .collect();
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let spread: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let slope = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>() / spread;
    slope.is_finite().then_some((y - slope * x, slope))
}

/// What each further client adds, and where growth leaves the line.
fn growth(story: &Story<'_>, sessions: &[Session<'_>]) -> Option<String> {
    let told: Vec<String> = on_one_cpu(story, &families(sessions))
        .into_iter()
        .filter_map(|(name, family)| {
            let line = |quantity: &str| straight(family, quantity);
            let (start, service) = line(quantity::CLIENT_SERVICE)?;
            let server = line(quantity::SERVER_CPU).map(|(_, slope)| slope).filter(|slope| *slope >= 0.0);
            let leaves = family.iter().filter(|session| session.clients > LINE_UNTIL).find(|session| {
                let on_line = start + service * f64::from(session.clients);
                let value = session.value(quantity::CLIENT_SERVICE);
                value.is_some_and(|value| (value / on_line - 1.0).abs() > OFF_LINE)
            });
            let beyond = family.last().is_some_and(|last| last.clients > LINE_UNTIL);
            let leaves = match (leaves, beyond) {
                (Some(session), _) => format!(", off the line at {}", session.clients),
                (None, true) => ", on the line".to_owned(),
                (None, false) => String::new(),
            };
            let server = server
                .map_or(String::new(), |server| format!(" + {} of the server", numbers::duration(server)));
            Some(format!("{name} {}{server}{leaves}", numbers::duration(service)))
        })
        .collect();
    (!told.is_empty())
        .then(|| format!("each further client adds to the service time on one CPU: {}", told.join("; ")))
}

/// Where those who are spread were: the server's CPU, then the clients' in turn, with the time of a cache line from the server's.
fn placed(story: &Story<'_>, sessions: &[Session<'_>]) -> Option<String> {
    sessions.iter().find(|session| session.placement == "spread")?;
    let cpus = story.result.conditions.unknown.get("spread_cpus")?.as_array()?;
    let (first, others) = cpus.split_first()?;
    let others: Vec<String> = others
        .iter()
        .filter_map(|cpu| {
            let ns = cpu.get("ns").and_then(serde_json::Value::as_f64).map(numbers::duration);
            Some(format!("{} ({})", cpu.get(quantity::CPU)?.as_u64()?, ns.as_deref().unwrap_or("?")))
        })
        .collect();
    Some(format!(
        "over several CPUs: the server on CPU {}, the clients in turn on those whose cache line takes least from it: {}",
        first.get(quantity::CPU)?.as_u64()?,
        others.join(", ")
    ))
}

/// What the prices of sessions of one shape are: how long until the last client has a message.
pub(crate) fn last_reached(priced: &[(&Figure, f64)]) -> Option<String> {
    let sessions: Vec<Session<'_>> =
        priced.iter().map(|(figure, _)| session(figure)).collect::<Option<_>>()?;
    let clients = sessions.first()?.clients;
    let is_last = |it: &Session<'_>| it.clients == clients && it.figure.headline == quantity::LAST_P50;
    let whom = if clients == 1 { "its client".to_owned() } else { format!("the last of {clients} clients") };
    sessions.iter().all(is_last).then(|| format!("Until a message reaches {whom}"))
}

/// In how many sessions the priority was refused, and why.
pub(crate) fn not_real_time(story: &Story<'_>, sessions: &[Session<'_>], marked: usize) -> String {
    let mut remarks = sessions.iter().flat_map(|session| &session.figure.remarks);
    let why = remarks.find_map(|remark| RemarkCode::NotRealTime.holes(remark)?.pop());
    let why = why.unwrap_or("oscost doctor says why and what to do");
    story.plain(&format!(
        "NOT REAL-TIME: the priority was refused in {marked} of {} sessions: {why}",
        sessions.len()
    ))
}

/// What limits the figures.
fn reservations(story: &Story<'_>, sessions: &[Session<'_>]) -> impl Iterator<Item = String> + use<> {
    let marked = sessions.iter().filter(|session| session.figure.marks.contains(&Mark::NotRealTime)).count();
    let not_real_time = (marked > 0).then(|| not_real_time(story, sessions, marked));
    let mut reversed: Vec<String> = sessions
        .iter()
        .filter(|session| session.value(quantity::REVERSED_SHARE).is_some_and(|share| share > 0.5))
        .map(|session| story.words(session.transport))
        .collect();
    reversed.dedup();
    let names = reversed.join(", ");
    let reversed =
        format!("served in reversed order from tick to tick: {names} (a wait queue is served from its head)");
    not_real_time.into_iter().chain((!names.is_empty()).then_some(reversed))
}
