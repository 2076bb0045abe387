//! The price list of the page: a row a figure with its place on one logarithmic axis, each opening to its receipt.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::table::{class, hue, sign};
use super::{anchor, breakable, escaped, receipt, table};
use crate::blocks::Axis;
use crate::blocks::prices::{Amount, PriceChart, Priced, Sums};
use crate::blocks::screen::Judges;
use crate::numbers;

/// Decades of air at each end of the axis, so that no dot stands on the frame.
const AIR: f64 = 0.2;
/// Room of a label, "100 ns", as a share of the axis in its column of the page.
const LABEL: f64 = 0.21;
/// Height of a row's strip, in pixels of the page.
const HEIGHT: f64 = 26.0;
/// Height of a small histogram.
const SHAPE: f64 = 20.0;

/// Writes the price list of a result with this checksum.
pub(super) fn section(chart: &PriceChart, id: &str, checksum: &str, out: &mut dyn Write) -> io::Result<()> {
    let amounts = chart.rows.iter().filter_map(|row| row.sums.as_ref().ok()).flat_map(|sums| {
        [Some(&sums.quoted), sums.typical.as_ref()].into_iter().flatten().filter(|it| it.is_placed)
    });
    let axis = Axis::airy("price", "ns", AIR, amounts.flat_map(|amount| amount.ends));
    writeln!(
        out,
        "<section class=\"prices\" id=\"{id}\">\n<h2>{}</h2>{}",
        escaped(&chart.finding),
        receipt::bars(checksum)
    )?;
    key(chart, out)?;
    writeln!(out, "<div class=\"tools\">")?;
    controls(&examples(&chart.rows), out)?;
    head(axis.as_ref(), chart, out)?;
    writeln!(
        out,
        "</div>\n<p class=\"none\" role=\"status\" aria-live=\"polite\"></p>\n<ul class=\"rows\">"
    )?;
    let mut position = 0;
    let mut missing: Vec<&Priced> = Vec::new();
    for [family, name, says] in &chart.families {
        let own = || chart.rows.iter().filter(|row| row.family == *family);
        missing.extend(own().filter(|row| row.sums.is_err()));
        if own().all(|row| row.sums.is_err()) {
            continue;
        }
        heading(name, says, family, position, out)?;
        for one in own().filter(|row| row.sums.is_ok()) {
            position += 1;
            row(one, position, axis.as_ref(), checksum, out)?;
        }
    }
    if !missing.is_empty() {
        // What has no number stands last, and no row of it is taller than one with a number.
        heading("no number", "each says why", "", position, out)?;
        for one in missing {
            position += 1;
            row(one, position, axis.as_ref(), checksum, out)?;
        }
    }
    writeln!(out, "</ul>\n<details class=\"data\"><summary>The price list as a table</summary>")?;
    let name = "The price list as a table";
    table::scrolling(&chart.table, name, name, "", out)?;
    writeln!(out, "</details></section>")
}

/// What colours, marks and lines mean.
fn key(chart: &PriceChart, out: &mut dyn Write) -> io::Result<()> {
    let floor = "\u{25cf} <b>floor</b> undisturbed \u{2502} <b>typical</b> what is paid here ";
    let floor = if columns(chart)[0] == "floor" { floor } else { "" };
    write!(
        out,
        "<p class=\"key\"><span class=\"user\">\u{25cf} <b>user space</b> no system call counted</span> \
         <span class=\"kernel\">\u{25cf} <b>kernel</b> enters and returns</span> \
         <span class=\"switch\">\u{25cf} <b>switch</b> another thread runs</span> \
         <span>{floor}\u{25ac} 95 % interval</span> <span><b>bold</b> the value that compare judges</span>"
    )?;
    for (name, ns) in &chart.floors {
        write!(
            out,
            " <span><span class=\"floor-key\">\u{254e}</span> floor of {name}, {}</span>",
            escaped(&numbers::duration(*ns))
        )?;
    }
    writeln!(out, "</p>")
}

fn controls(examples: &[&str], out: &mut dyn Write) -> io::Result<()> {
    let orders = [("position", "family"), ("price", "price"), ("doubt", "doubt"), ("name", "name")];
    let button = |(value, name): (&str, &str)| {
        let pressed = value == "position";
        format!(
            "<button type=\"button\" class=\"order\" value=\"{value}\" aria-pressed=\"{pressed}\">by {name}</button>"
        )
    };
    let orders: String = orders.map(button).concat();
    writeln!(
        out,
        "<form class=\"controls\"><label>Find <input type=\"search\" class=\"find\" size=\"22\" \
         placeholder=\"{}\"></label>\n\
         <span class=\"orders\" role=\"group\" aria-label=\"Order\">{orders}</span>\n\
         <button type=\"button\" class=\"direction\" aria-pressed=\"false\">Descending</button>\n\
         <button type=\"button\" class=\"open\">Open all receipts</button>\n\
         <button type=\"button\" class=\"save-rows\" data-name=\"price-list\">Save as SVG</button></form>",
        escaped(&examples.join(", "))
    )
}

/// Words of calls, of tags, and prices that a reader may look for: of each kind the first that finds rows, and not all of them.
const EXAMPLES: [&[&str]; 3] = [
    &["futex", "semtimedop", "getppid", "vdso", "inline", "libc"],
    &["noisy", "bimodal", "shared", "converged", "unchecked", "unsupported"],
    &[">1\u{b5}s", "<100ns", ">1ms", "<1\u{b5}s"],
];

/// What a reader may look for on this page.
fn examples(rows: &[Priced]) -> Vec<&'static str> {
    let tells = |word: &&&str| {
        let found = rows.iter().filter(|row| is_found(row, word)).count();
        found > 0 && found < rows.len()
    };
    EXAMPLES.iter().filter_map(|words| words.iter().find(tells).copied()).collect()
}

/// Whether the script of the page finds this row by this word.
fn is_found(row: &Priced, word: &str) -> bool {
    let bound = |price: &str| -> Option<f64> {
        let units = [("ns", 1.0), ("\u{b5}s", 1e3), ("ms", 1e6)];
        let (number, unit) = units.iter().find_map(|(name, ns)| Some((price.strip_suffix(name)?, ns)))?;
        Some(number.parse::<f64>().ok()? * unit)
    };
    let price = paid(row).map(|it| it.ends[1]).filter(|value| *value > 0.0);
    if let Some(most) = word.strip_prefix('<').and_then(bound) {
        return price.is_some_and(|value| value < most);
    }
    if let Some(least) = word.strip_prefix('>').and_then(bound) {
        return price.is_some_and(|value| value > least);
    }
    format!("{} {}", row.receipt.title, found_by(row)).to_lowercase().replace('-', "_").contains(word)
}

/// Words that find a row besides its id.
fn found_by(row: &Priced) -> String {
    [&*row.operation, &*row.tags.join(" "), row.evidence.1, &*row.find].join(" ")
}

/// What is paid in this row, where it has a place on the axis.
fn paid(row: &Priced) -> Option<&Amount> {
    let sums = row.sums.as_ref().ok()?;
    Some(sums.typical.as_ref().unwrap_or(&sums.quoted)).filter(|it| it.is_placed)
}

/// The heads of the columns with the axis; its lines are drawn once and used by every row.
/// What the columns of numbers hold: the floor and what is typical; or, of figures that all quote another quantity, that.
fn columns(chart: &PriceChart) -> [&str; 2] {
    let mut sums = chart.rows.iter().filter_map(|row| row.sums.as_ref().ok());
    let first = sums.next();
    let is_other = |sums: &Sums, name: &str| sums.typical.is_none() && sums.quantity == name;
    match first {
        Some(first) if is_other(first, &first.quantity) && sums.all(|it| is_other(it, &first.quantity)) => {
            [&first.quantity, ""]
        }
        _ => ["floor", "typical"],
    }
}

fn head(axis: Option<&Axis>, chart: &PriceChart, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<div class=\"row head\" aria-hidden=\"true\"><span>figure</span>")?;
    match axis {
        None => write!(out, "<span></span>")?,
        Some(axis) => {
            write!(out, "<svg class=\"strip\"><symbol id=\"lines\">")?;
            let decades = axis.decades(0.0).into_iter().map(|(place, _)| ("decade", 100.0 * place));
            for (class, x) in decades.chain(chart.floors.iter().map(|(_, ns)| ("floor", x(axis, *ns)))) {
                write!(
                    out,
                    "<line class=\"{class}\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"0\" y2=\"{HEIGHT}\"/>"
                )?;
            }
            write!(out, "</symbol>")?;
            for (place, label) in axis.decades(LABEL) {
                let (x, label) = (100.0 * place, escaped(&label));
                write!(out, "<text class=\"middle\" x=\"{x:.2}%\" y=\"18\">{label}</text>")?;
            }
            write!(out, "</svg>")?;
        }
    }
    let [quoted, typical] = columns(chart).map(escaped);
    writeln!(
        out,
        "<span title=\"all samples, from 0.5 % to 99.5 %\">shape</span><span class=\"num\">{quoted}</span>\
         <span class=\"num\">{typical}</span><span>against</span><span class=\"middle\">calls</span><span>evidence</span></div>"
    )
}

fn heading(name: &str, says: &str, family: &str, position: usize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<li class=\"family\" data-family=\"{}\" data-position=\"{position}.5\"><h3>{}</h3> <em>{}</em></li>",
        escaped(family),
        escaped(name),
        escaped(says)
    )
}

fn row(
    one: &Priced,
    position: usize,
    axis: Option<&Axis>,
    checksum: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let sums = one.sums.as_ref().ok();
    let paid = paid(one);
    let [low, value, high] = paid.map_or([0.0, -1.0, 0.0], |it| it.ends);
    let width = (high - low) / value;
    let doubt = match paid {
        None => -1.0,
        // An interval that is none leaves everything open.
        Some(_) if !width.is_finite() => 1e9,
        Some(_) => width.max(0.0),
    };
    write!(
        out,
        "<li class=\"figure {}\" id=\"{}\" data-family=\"{}\" data-name=\"{}\" data-position=\"{position}\" \
         data-price=\"{value}\" data-doubt=\"{doubt:.6}\" data-find=\"{}\"",
        hue(one.hue),
        anchor(&one.id),
        escaped(&one.family),
        escaped(&one.receipt.title),
        escaped(&found_by(one)),
    )?;
    if let Some(sums) = sums {
        write!(out, " data-quoted=\"{}\"", sums.quoted.ends[1])?;
    }
    write!(
        out,
        "><details><summary class=\"row\"><span class=\"name\"><b>{}</b><small>{}</small></span>",
        breakable(&one.name),
        escaped(&one.operation)
    )?;
    match &one.sums {
        Ok(sums) => numbers_of(sums, axis, out)?,
        Err(missing) => {
            let why: String = missing.why.chars().take(160).collect();
            write!(out, "<span class=\"why\" title=\"{}\">{}</span>", escaped(&missing.why), escaped(&why))?;
        }
    }
    let tags: String =
        one.tags.iter().map(|tag| format!("<span class=\"tag\">{}</span>", escaped(tag))).collect();
    let (class, sign, word) = (class(one.evidence.0), sign(one.evidence.0), escaped(one.evidence.1));
    // A check mark alone says that all is as claimed.
    let shown = if one.sums.is_ok() { format!("<span class=\"word\">{word}</span>") } else { word.clone() };
    writeln!(out, "<span class=\"verdict {class}\" title=\"{word}\">{sign} {shown}{tags}</span></summary>")?;
    receipt::write(&one.receipt, checksum, out)?;
    writeln!(out, "</details></li>")
}

fn numbers_of(sums: &Sums, axis: Option<&Axis>, out: &mut dyn Write) -> io::Result<()> {
    strip(sums, axis, out)?;
    write!(out, "{}", shape(&sums.shape))?;
    let name = if sums.typical.is_none() { &*sums.quantity } else { "floor" };
    amount(&sums.quoted, "value", name, (Judges::Floor, sums.judged), out)?;
    match &sums.typical {
        Some(typical) => {
            amount(typical, "value typical", "typical", (Judges::Typical, sums.judged), out)?;
        }
        None => write!(out, "<span class=\"value typical\"></span>")?,
    }
    match &sums.ratio {
        Some((times, what)) => {
            let [times, number, what] = [times.as_str(), times.trim_end_matches('x'), what].map(escaped);
            write!(
                out,
                "<span class=\"ratio\" title=\"{times} {what}\"><b>{number}\u{d7}</b> <small>{what}</small></span>"
            )?;
        }
        None => write!(out, "<span class=\"ratio\"></span>")?,
    }
    let calls = escaped(&sums.calls);
    write!(out, "<span class=\"calls\" title=\"system calls an operation, counted\">{calls}</span>")
}

/// A number with its interval; the judged one stands out. Cycles have no column, so the others tell that they are judged.
fn amount(
    amount: &Amount,
    class: &str,
    name: &str,
    (own, judged): (Judges, Option<Judges>),
    out: &mut dyn Write,
) -> io::Result<()> {
    let (tag, judged) = match judged {
        Some(Judges::Cycles) => ("span", "; compare judges the cycles"),
        Some(judged) if judged == own => ("b", ", judged by compare"),
        _ => ("span", ""),
    };
    let [name, text, interval] = [name, &amount.text, &amount.interval].map(escaped);
    write!(
        out,
        "<span class=\"{class}\" title=\"{name}{judged}\"><{tag}>{text}</{tag}> <small>{interval}</small></span>"
    )
}

/// The figure on the axis: its interval, the floor as a dot, what is paid here as a tick.
fn strip(sums: &Sums, axis: Option<&Axis>, out: &mut dyn Write) -> io::Result<()> {
    let Some(axis) = axis.filter(|_| sums.quoted.is_placed) else {
        return write!(out, "<span class=\"strip\"></span>");
    };
    let y = HEIGHT / 2.0;
    let [low, dot, high] = sums.quoted.ends.map(|end| x(axis, end));
    let says = format!("{} {}", sums.quoted.text, sums.quoted.interval);
    write!(
        out,
        "<svg class=\"strip\" aria-hidden=\"true\"><title>{}{}</title><use href=\"#lines\" width=\"100%\" \
         height=\"{HEIGHT}\"/><line class=\"interval\" x1=\"{low:.2}%\" x2=\"{high:.2}%\" y1=\"{y}\" y2=\"{y}\"/>",
        escaped(&says),
        sums.typical
            .as_ref()
            .map_or(String::new(), |it| escaped(&format!("; typical {} {}", it.text, it.interval))),
    )?;
    if let Some(typical) = sums.typical.as_ref().filter(|it| it.is_placed) {
        let [low, x, high] = typical.ends.map(|end| x(axis, end));
        write!(
            out,
            "<line class=\"interval\" x1=\"{low:.2}%\" x2=\"{high:.2}%\" y1=\"{y}\" y2=\"{y}\"/>\
             <line class=\"tick\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"{}\" y2=\"{}\"/>",
            y - 8.0,
            y + 8.0
        )?;
    }
    write!(out, "<circle class=\"dot\" cx=\"{dot:.2}%\" cy=\"{y}\" r=\"4.5\"/></svg>")
}

/// Place of a value on the axis, in per cent of the room that the page has for it.
fn x(axis: &Axis, value: f64) -> f64 {
    100.0 * axis.place(value)
}

/// The distribution in a row.
fn shape(heights: &[f64]) -> String {
    if heights.is_empty() {
        return "<span class=\"shape\"></span>".to_owned();
    }
    let wide = 3 * heights.len();
    let mut path = String::new();
    let seen = heights.iter().enumerate().filter(|(_, height)| height.is_finite() && **height > 0.0);
    for (index, height) in seen {
        // What is rare is seen, too; writing to a string cannot fail.
        let _ = write!(path, "M{} {SHAPE}v-{:.1}", 3 * index + 1, (height.sqrt() * SHAPE).max(1.0));
    }
    format!(
        "<svg class=\"shape\" viewBox=\"0 0 {wide} {SHAPE}\" aria-hidden=\"true\"><path d=\"{path}\"/></svg>"
    )
}
