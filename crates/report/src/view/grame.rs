//! Document 002's figures over time by number, as this machine has them: a client idle and under each load, a stack of
//! clients, the first and the last of many.

use oscost_results::document::GRAME;
use oscost_results::quantity;
use oscost_results::{Figure, Parameter};

use crate::blocks::{Part, View};
use crate::numbers;
use crate::view::realtime_ipc::{self, Session, plots::every};
use crate::view::story::Story;

/// A wait queue from user space, and servers inside the kernel: the counterparts of figure 31.
const QUEUES: [&str; 3] = ["kernel_module", "bpf", "poll_broadcast"];
/// Columns of a picture.
const COLUMNS: usize = 66;
/// Rows of a picture on a linear axis.
const ROWS: usize = 12;
/// Most rows of one on a logarithmic axis, and rows for a factor of two where there are few of those.
const MOST_ROWS: i32 = 16;
const FINE: i32 = 3;

/// The pictures of a result that has sessions of the document.
pub(crate) fn view(story: &Story<'_>) -> Option<View> {
    let mut parts = Vec::new();
    for (load, title) in [
        ("", "Figures 3, 7, 11, 15, 19: one client, idle"),
        ("transfer", "Figures 4, 8, 12, 16, 20: one client while a file is got"),
        ("start_program", "Figures 5, 9, 13, 17, 21: one client while a program is started"),
        ("window", "Figures 6, 10, 14, 18, 22: one client while a window is moved"),
    ] {
        if let Some(figure) = session(story, |clients, under| clients == 1 && under == load) {
            parts.extend(one_client(story, figure, title));
        }
    }
    let stacked = session(story, |clients, under| clients == 5 && under.is_empty())
        .or_else(|| session(story, |clients, under| (2..5).contains(&clients) && under.is_empty()));
    if let Some(figure) = stacked {
        parts.extend(stack(story, figure));
    }
    let most = sessions(story).filter(|(_, _, load)| load.is_empty()).map(|(_, clients, _)| clients).max();
    if let Some(figure) = most
        .filter(|&most| most > 1)
        .and_then(|most| session(story, |clients, under| clients == most && under.is_empty()))
    {
        let title = format!(
            "Figure 32: {} clients by sockets, first (f) and last (l) one served, 60 values in a row",
            clients_of(figure)?.0
        );
        parts.extend(first_and_last(story, figure, &title));
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
                "Figure 31: clients of {name} at 1 ms{whose}, the first (f) and the last (l) one by their names, 60 values in a row"
            );
            parts.extend(by_name(story, figure, &title));
        }
    }
    let named: Vec<(String, &Figure)> = sessions(story)
        .map(|(figure, ..)| {
            (figure.id.strip_prefix("grame/literal/").unwrap_or(&figure.id).to_owned(), figure)
        })
        .collect();
    parts.extend(every(story, &named));
    (!parts.is_empty()).then(|| View {
        title: "Its figures over time by number, as this machine has them (the curves of the document are lost): us up, time to the \
                right; . few values of a column, : some, # most"
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

/// Of several sessions of one kind that with the median service time, as in the tables.
fn session<'a>(story: &'a Story<'_>, is: impl Fn(u32, &str) -> bool) -> Option<&'a Figure> {
    let mut found: Vec<(f64, &Figure)> = sessions(story)
        .filter(|(_, clients, load)| is(*clients, load))
        .filter_map(|(figure, ..)| {
            Some((figure.quantities.get(quantity::CLIENT_SERVICE)?.estimate.value, figure))
        })
        .collect();
    found.sort_by(|one, other| one.0.total_cmp(&other.0));
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
    found.sort_by_key(|(number, _)| *number);
    found
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// One client over time, on a logarithmic axis.
fn one_client(story: &Story<'_>, figure: &Figure, title: &str) -> Vec<Part> {
    let Some((_, values)) = tracks(figure).into_iter().next() else { return Vec::new() };
    let axis = Edges::logarithmic(&values);
    let mut lines = plot(&[('#', &values)], &axis, true);
    let launch = figure.launches.iter().find_map(|launch| launch.tracks.get("load"));
    if let Some([start, end]) = launch.map(Vec::as_slice) {
        let column = |index: &f64| ((index / values.len() as f64 * COLUMNS as f64) as usize).min(COLUMNS);
        let (start, end) = (column(start), column(end));
        lines.push(format!(
            "{:>LABEL$} {}{}",
            "load",
            " ".repeat(start),
            "=".repeat(end.saturating_sub(start).max(1))
        ));
    }
    let highest = values.iter().copied().fold(0.0, f64::max);
    let heading = format!("{title}: to {}", numbers::duration(highest * 1e3));
    vec![Part::Words(story.plain(&heading)), Part::Picture(lines)]
}

/// A few clients, each by its digit.
fn stack(story: &Story<'_>, figure: &Figure) -> Vec<Part> {
    let tracks = tracks(figure);
    if tracks.len() < 2 {
        return Vec::new();
    }
    let letters: Vec<(char, &[f64])> = tracks
        .iter()
        .filter_map(|(number, values)| Some((char::from_digit(*number, 36)?, values.as_slice())))
        .collect();
    // Peaks would press the stack together: they stand at the upper edge.
    let all: Vec<f64> = tracks.iter().flat_map(|(_, values)| values.iter().copied()).collect();
    let lines = plot(&letters, &Edges::linear(&all), false);
    let heading =
        format!("Figure 23: {} clients by sockets, each by its number, medians of columns", tracks.len());
    vec![Part::Words(story.plain(&heading)), Part::Picture(lines)]
}

/// The clients that are served first and last, value by value.
fn first_and_last(story: &Story<'_>, figure: &Figure, title: &str) -> Vec<Part> {
    let mut tracks = tracks(figure);
    tracks.sort_by(|one, other| mean(&one.1).total_cmp(&mean(&other.1)));
    let (Some(first), Some(last)) = (tracks.first(), tracks.last()) else { return Vec::new() };
    ends(story, &first.1, &last.1, title)
}

/// The clients with the lowest and the highest number, value by value.
fn by_name(story: &Story<'_>, figure: &Figure, title: &str) -> Vec<Part> {
    let tracks = tracks(figure);
    let (Some(first), Some(last)) = (tracks.first(), tracks.last()) else { return Vec::new() };
    ends(story, &first.1, &last.1, title)
}

fn ends(story: &Story<'_>, first: &[f64], last: &[f64], title: &str) -> Vec<Part> {
    let cut = |values: &[f64]| values.iter().copied().take(60).collect::<Vec<f64>>();
    let (first, last) = (cut(first), cut(last));
    let all = [&first[..], &last].concat();
    let lines = plot(&[('f', &first), ('l', &last)], &Edges::linear(&all), false);
    vec![Part::Words(story.plain(title)), Part::Picture(lines)]
}

/// Columns of an axis' labels.
const LABEL: usize = 10;

/// What the rows of a picture stand for: their lower edges, us, from below.
struct Edges {
    edges: Vec<f64>,
}

impl Edges {
    /// Factors of two, or parts of them where there are few.
    fn logarithmic(values: &[f64]) -> Self {
        let positive = || values.iter().copied().filter(|value| *value > 0.0);
        let least = positive().fold(f64::MAX, f64::min).clamp(1.0, 1e9);
        let most = positive().fold(1.0, f64::max).clamp(least, 1e9);
        let (from, to) = (least.log2().floor() as i32, most.log2().floor() as i32 + 1);
        let fine = if (to - from) * FINE <= MOST_ROWS { FINE } else { 1 };
        let edge = |step: i32| 2f64.powf(f64::from(from) + f64::from(step) / f64::from(fine));
        let edges: Vec<f64> = (0..(to - from) * fine).map(edge).collect();
        // Rows that no value reaches, at the top and at the bottom, say nothing.
        let lowest = edges.iter().rposition(|edge| *edge <= least).unwrap_or(0);
        let highest = edges.iter().rposition(|edge| *edge <= most).unwrap_or(0);
        Self { edges: edges[lowest..=highest].to_vec() }
    }

    /// Equal steps from the least value to the 99th percentile.
    fn linear(values: &[f64]) -> Self {
        let mut ordered = values.to_vec();
        ordered.sort_by(f64::total_cmp);
        let least = ordered.first().copied().unwrap_or(0.0);
        let most = oscost_stats::quantile::quantile(&ordered, 0.99).unwrap_or(least).max(least);
        let step = ((most - least) / (ROWS - 1) as f64).max(0.1);
        Self { edges: (0..ROWS).map(|row| least + step * row as f64).collect() }
    }

    fn row(&self, value: f64) -> usize {
        self.edges.iter().rposition(|edge| *edge <= value).unwrap_or(0)
    }
}

/// Series side by side over time: of one series how many of a column's values lie in a row, of several the median of each.
fn plot(series: &[(char, &[f64])], axis: &Edges, shades: bool) -> Vec<String> {
    let longest = series.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
    let columns = longest.min(COLUMNS);
    let mut cells = vec![vec![' '; columns]; axis.edges.len()];
    for (letter, values) in series {
        for column in 0..columns {
            let part = &values[(column * values.len() / columns).min(values.len())
                ..((column + 1) * values.len() / columns).min(values.len())];
            if shades {
                let mut counts = vec![0usize; axis.edges.len()];
                part.iter().for_each(|value| counts[axis.row(*value)] += 1);
                for (row, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                    cells[row][column] = match count as f64 / part.len() as f64 {
                        few if few < 0.15 => '.',
                        some if some < 0.5 => ':',
                        _ => *letter,
                    };
                }
            } else {
                let mut ordered = part.to_vec();
                ordered.sort_by(f64::total_cmp);
                if let Some(middle) = ordered.get(ordered.len() / 2) {
                    let cell = &mut cells[axis.row(*middle)][column];
                    *cell = if *cell == ' ' { *letter } else { '*' };
                }
            }
        }
    }
    let rows = axis.edges.iter().zip(cells).rev();
    let rows = rows.map(|(edge, cells)| {
        let label = numbers::significant(*edge);
        format!("{label:>LABEL$} |{}", cells.into_iter().collect::<String>().trim_end())
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logarithmic_axis_has_the_rows_that_values_reach() {
        let wide = Edges::logarithmic(&[10.0, 5000.0]);
        assert_eq!(wide.edges, [8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0]);
        let narrow = Edges::logarithmic(&[16.0, 31.0]);
        assert_eq!(narrow.edges.len(), 3);
        assert_eq!((narrow.row(16.0), narrow.row(31.0), narrow.row(0.0)), (0, 2, 0));
        assert_eq!(Edges::logarithmic(&[]).edges.len(), 1);
        assert_eq!(Edges::logarithmic(&[-5.0, 0.0]).edges.len(), 1);
        assert_eq!(Edges::logarithmic(&[f64::MAX, f64::MIN_POSITIVE]).edges.len(), 30);
    }

    #[test]
    fn two_levels_alternate_in_the_picture() {
        let first: Vec<f64> = (0..6).map(|tick| if tick % 2 == 0 { 10.0 } else { 32.0 }).collect();
        let last: Vec<f64> = (0..6).map(|tick| if tick % 2 == 0 { 32.0 } else { 10.0 }).collect();
        let lines = plot(&[('f', &first), ('l', &last)], &Edges::linear(&[10.0, 32.0]), false);
        assert_eq!(lines.len(), ROWS);
        assert!(lines[0].ends_with("|lflflf"), "{lines:?}");
        assert!(lines[ROWS - 1].ends_with("|flflfl"), "{lines:?}");
    }

    #[test]
    fn of_one_series_the_share_of_a_column_shows() {
        let mut values = vec![10.0; 660];
        values[0] = 40.0;
        let lines = plot(&[('#', &values)], &Edges::logarithmic(&values), true);
        assert!(lines[0].ends_with("|."), "{lines:?}");
        assert!(lines.last().is_some_and(|line| line.ends_with(&"#".repeat(COLUMNS))), "{lines:?}");
    }
}
