//! Rows for other programs: one a figure and quantity, and one for each of its launches, as CSV (RFC 4180) or NDJSON.
//!
//! Both formats have the same rows and the same names. docs/result-rows.md says what each of them means.

use std::io::{self, Write};

use oscost_results::{Mark, Outline, Percentiles, RowFigure, RunResult, Status, Untrusted};

use crate::evidence::system_calls;

/// A format of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// Comma-separated values; the first line names the columns. What is not known is an empty cell.
    Csv,
    /// One JSON object a line. What is not known is no member.
    Ndjson,
}

/// Names of the columns, in their order.
const COLUMNS: &str = "id,family,status,verdict,marks,quantity,headline,value,low,high,extremes,unit,operation,call_path,\
    placement,system_calls,launches,why,remedy,revision,judged,launch,host,boot_id,cpu_model,hypervisor,\
    instance_type,kernel,libc,microcode,result_id,time,file,partial";

/// What comes before the rows of the first result.
///
/// # Errors
/// Those of `out`.
pub fn rows_header(format: RowFormat, out: &mut dyn Write) -> io::Result<()> {
    match format {
        RowFormat::Csv => write!(out, "{COLUMNS}\r\n"),
        RowFormat::Ndjson => Ok(()),
    }
}

/// Bytes of a text that a cell keeps. No path is longer, no text of oscost either, and each row repeats what tells its host.
const LONGEST_CELL: usize = 4096;

/// Writes the rows of one result, which was read from `file`. Values are in the unit of their row, unrounded. A figure
/// without numbers has one row with its state. Text of the result can be no formula, and nothing that a terminal obeys.
///
/// # Errors
/// Those of `out`.
pub fn rows(
    run: &Outline<RowFigure>,
    file: Option<&str>,
    format: RowFormat,
    out: &mut dyn Write,
) -> io::Result<()> {
    let host = host(run, file, format);
    let mut line = RowText::new(format);
    for figure in &run.figures {
        let of_figure = OfFigure::new(figure, format);
        let mut write = |row: &Row<'_>| -> io::Result<()> {
            line.begin();
            line.text.extend_from_slice(&of_figure.before);
            row.write(&mut line);
            let of = if row.launch.is_none() { &of_figure.of_estimate } else { &of_figure.of_launch };
            line.text.extend_from_slice(of);
            let judged = (!row.quantity.is_empty()).then(|| Datum::Flag(row.quantity == of_figure.judged));
            line.cell("judged", judged.unwrap_or(Datum::Absent));
            line.cell("launch", row.launch.map_or(Datum::Absent, |launch| Datum::Count(launch.into())));
            line.text.extend_from_slice(&host);
            out.write_all(line.row())
        };
        if figure.quantities.is_empty() || figure.status != Status::Measured {
            write(&Row::default())?;
            continue;
        }
        for (name, quantity) in &figure.quantities {
            let headline = *name == figure.headline;
            let unit = &quantity.unit;
            let bounds = Some((quantity.low, quantity.high, quantity.extremes));
            write(&Row { quantity: name, headline, value: quantity.value, bounds, unit, launch: None })?;
            for launch in &figure.launches {
                // A launch without a quiet window has no such value: that is no row.
                if let Some(&value) = launch.quantities.get(name) {
                    let launch = Some(launch.sequence);
                    write(&Row { quantity: name, headline, value, bounds: None, unit, launch })?;
                }
            }
        }
        for (name, estimate) in figure.percentiles.iter().flat_map(Percentiles::quantities) {
            let (value, bounds) =
                (Some(estimate.value), Some((Some(estimate.low), Some(estimate.high), true)));
            write(&Row { quantity: &name, headline: false, value, bounds, unit: "ns", launch: None })?;
        }
    }
    Ok(())
}

/// Writes the rows of one result that is in memory, with what comes before them.
///
/// # Errors
/// Those of `out`.
pub fn rows_of(result: &RunResult, format: RowFormat, out: &mut dyn Write) -> io::Result<()> {
    rows_header(format, out)?;
    rows(&Outline::of(result), None, format, out)
}

/// What one row has for itself.
#[derive(Default)]
struct Row<'a> {
    quantity: &'a str,
    headline: bool,
    value: Option<f64>,
    /// Bounds, and whether they are extremes: an estimate's.
    bounds: Option<(Option<f64>, Option<f64>, bool)>,
    unit: &'a str,
    launch: Option<u32>,
}

impl Row<'_> {
    fn write(&self, line: &mut RowText) {
        let number = |value: Option<f64>| value.map_or(Datum::Absent, Datum::Number);
        let is_known = !self.quantity.is_empty();
        let bounds = self.bounds.filter(|_| self.value.is_some());
        line.cell("quantity", Datum::Text(self.quantity));
        line.cell("headline", if is_known { Datum::Flag(self.headline) } else { Datum::Absent });
        line.cell("value", number(self.value));
        line.cell("low", number(bounds.and_then(|bounds| bounds.0)));
        line.cell("high", number(bounds.and_then(|bounds| bounds.1)));
        line.cell("extremes", bounds.map_or(Datum::Absent, |bounds| Datum::Flag(bounds.2)));
        line.cell("unit", Datum::Text(self.unit));
    }
}

/// Cells that all rows of a figure have.
struct OfFigure<'a> {
    judged: &'a str,
    before: Vec<u8>,
    of_estimate: Vec<u8>,
    of_launch: Vec<u8>,
}

impl<'a> OfFigure<'a> {
    fn new(figure: &'a RowFigure, format: RowFormat) -> Self {
        let judged = if figure.judged.is_empty() { &figure.headline } else { &figure.judged };
        let mut before = RowText::new(format);
        before.cell("id", Datum::Text(&figure.id));
        before.cell("family", Datum::Text(&figure.family));
        before.cell("status", Datum::Text(figure.status.name()));
        before.cell("verdict", Datum::Text(figure.evidence.verdict.name()));
        before.cell("marks", Datum::Marks(&figure.marks));
        // What describes the figure stands in the rows of its estimates, once.
        let after = |whole: bool| {
            let mut cells = RowText::new(format);
            let text = |text: &'a str| if whole { Datum::Text(text) } else { Datum::Absent };
            cells.cell("operation", text(&figure.operation));
            cells.cell("call_path", text(&figure.call_path));
            cells.cell("placement", Datum::Text(&figure.placement));
            let calls = system_calls(&figure.evidence).filter(|_| whole);
            cells.cell("system_calls", calls.map_or(Datum::Absent, Datum::Number));
            let launches = Datum::Count(figure.evidence.launches.into());
            cells.cell("launches", if whole { launches } else { Datum::Absent });
            cells.cell("why", text(figure.why.as_deref().unwrap_or_default()));
            cells.cell("remedy", text(figure.remedy.as_deref().unwrap_or_default()));
            cells.cell("revision", Datum::Count(figure.revision.into()));
            cells.text
        };
        Self { judged, before: before.text, of_estimate: after(true), of_launch: after(false) }
    }
}

/// Cells that all rows of a result have.
fn host(run: &Outline<RowFigure>, file: Option<&str>, format: RowFormat) -> Vec<u8> {
    let (machine, conditions) = (&run.machine, &run.conditions);
    let mut cells = RowText::new(format);
    let mut text = |name, text: Option<&str>| cells.cell(name, text.map_or(Datum::Absent, Datum::Text));
    text("host", machine.host.as_deref());
    text("boot_id", conditions.boot_id.as_deref());
    text("cpu_model", Some(&machine.cpu_model));
    text("hypervisor", machine.hypervisor.as_deref());
    text("instance_type", machine.instance_type.as_deref());
    text("kernel", Some(&conditions.kernel));
    text("libc", Some(&run.tool.libc));
    text("microcode", conditions.microcode.as_deref());
    text("result_id", Some(&run.result_id().to_string()));
    text("time", Some(&run.started));
    text("file", file);
    cells.cell("partial", Datum::Flag(run.partial));
    cells.text
}

/// What a cell holds.
enum Datum<'a> {
    Absent,
    /// Empty text is not known.
    Text(&'a str),
    Marks(&'a [Mark]),
    Number(f64),
    Count(u64),
    Flag(bool),
}

/// Cells of a line, each with what separates it from the one before.
struct RowText {
    format: RowFormat,
    text: Vec<u8>,
}

impl RowText {
    fn new(format: RowFormat) -> Self {
        Self { format, text: Vec::new() }
    }

    /// A new line in the place of the old one.
    fn begin(&mut self) {
        self.text.clear();
    }

    /// The line, whole.
    fn row(&mut self) -> &[u8] {
        match self.format {
            RowFormat::Csv => {
                self.text.extend_from_slice(b"\r\n");
                &self.text[1..]
            }
            RowFormat::Ndjson => {
                // The first member has no comma before it.
                self.text[0] = b'{';
                self.text.extend_from_slice(b"}\n");
                &self.text
            }
        }
    }

    fn cell(&mut self, name: &str, cell: Datum<'_>) {
        let done = match self.format {
            RowFormat::Csv => csv(&cell, &mut self.text),
            RowFormat::Ndjson => ndjson(name, &cell, &mut self.text),
        };
        // A Vec has room until there is none at all.
        debug_assert!(done.is_ok());
    }
}

fn csv(cell: &Datum<'_>, out: &mut Vec<u8>) -> io::Result<()> {
    out.push(b',');
    match cell {
        Datum::Absent => Ok(()),
        Datum::Text(text) => write!(out, "{}", Untrusted::new(shortened(text)).csv()),
        Datum::Marks(marks) => write!(out, "{}", once(marks).join(" ")),
        Datum::Number(value) => write_number(*value, out),
        Datum::Count(count) => write!(out, "{count}"),
        Datum::Flag(flag) => write!(out, "{}", if *flag { "yes" } else { "no" }),
    }
}

fn ndjson(name: &str, cell: &Datum<'_>, out: &mut Vec<u8>) -> io::Result<()> {
    if matches!(cell, Datum::Absent | Datum::Text(""))
        || matches!(cell, Datum::Number(value) if !value.is_finite())
    {
        return Ok(());
    }
    write!(out, ",\"{name}\":")?;
    match cell {
        Datum::Absent => Ok(()),
        Datum::Text(text) => {
            let quoted = serde_json::to_string(shortened(text))?;
            write!(out, "{}", Untrusted::new(&quoted).json())
        }
        Datum::Marks(marks) => Ok(serde_json::to_writer(out, &once(marks))?),
        // The sum of no calls at all is -0.
        Datum::Number(value) => Ok(serde_json::to_writer(out, &(value + 0.0))?),
        Datum::Count(count) => write!(out, "{count}"),
        Datum::Flag(flag) => write!(out, "{flag}"),
    }
}

/// Names of the marks, each once: a file may repeat one a million times, and each row has all of them.
fn once(marks: &[Mark]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for name in marks.iter().map(|mark| mark.name()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The text, or as much of it as a cell keeps.
fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_CELL)]
}

/// A number with all its digits.
fn write_number(value: f64, out: &mut Vec<u8>) -> io::Result<()> {
    // The sum of no calls at all is -0.
    let value = value + 0.0;
    if value != 0.0 && !(1e-9..1e15).contains(&value.abs()) {
        write!(out, "{value:e}")
    } else {
        write!(out, "{value}")
    }
}

/// A cell of a number.
pub(crate) fn number(value: f64) -> String {
    let mut text = Vec::new();
    let written = write_number(value, &mut text);
    debug_assert!(written.is_ok());
    String::from_utf8(text).unwrap_or_default()
}
