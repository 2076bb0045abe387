//! Several results side by side: what differs around them, and the verdicts of `compare`, each against the first.

use std::io::{self, Write};

use super::{Named, anchor, breakable, escaped};
use crate::compare::{Comparison, Rules, Verdict, compare};
use crate::evidence::per_operation;
use crate::numbers;

pub(super) fn sections(results: &[Named<'_>], out: &mut dyn Write) -> io::Result<()> {
    let Some((base, others)) = results.split_first() else { return Ok(()) };
    others
        .iter()
        .enumerate()
        .try_for_each(|(index, other)| section(&compare(base, other, Rules::default()), index + 2, out))
}

fn section(comparison: &Comparison<'_>, position: usize, out: &mut dyn Write) -> io::Result<()> {
    let count = |verdict| comparison.of(verdict).count();
    let title = format!(
        "{} against {}: {} slower, {} faster, {} the same, {} that cannot be told",
        comparison.b,
        comparison.a,
        count(Verdict::Slower),
        count(Verdict::Faster),
        count(Verdict::Same),
        count(Verdict::CannotTell)
    );
    writeln!(out, "<section class=\"compared\">\n<h2>{}</h2>", escaped(&title))?;
    if comparison.machine.is_empty() && comparison.conditions.is_empty() {
        writeln!(out, "<p>Machine and conditions are the same.</p>")?;
    }
    for differs in comparison.machine.iter().chain(&comparison.conditions) {
        writeln!(out, "<p>{}: {} \u{2192} {}</p>", differs.what, escaped(&differs.a), escaped(&differs.b))?;
    }
    for warning in &comparison.warnings {
        writeln!(out, "<p class=\"warning\">{}</p>", escaped(warning))?;
    }
    for evident in &comparison.evidence {
        writeln!(
            out,
            "<p class=\"warning\">{}: {} {} \u{2192} {} an operation</p>",
            escaped(&evident.id),
            escaped(&evident.what),
            per_operation(evident.a),
            per_operation(evident.b)
        )?;
    }
    writeln!(
        out,
        "<div class=\"scroll told\" tabindex=\"0\" role=\"region\" aria-label=\"Verdicts {position}\"><table><thead><tr>\
         <th scope=\"col\">figure</th><th scope=\"col\">verdict</th><th scope=\"col\">first</th><th scope=\"col\">second</th>\
         <th scope=\"col\">change</th><th scope=\"col\">because</th></tr></thead><tbody>"
    )?;
    for row in &comparison.rows {
        let (tone, sign) = match row.verdict {
            Verdict::Slower => ("bad", "+"),
            Verdict::Faster => ("good", "-"),
            Verdict::Same => ("good", "="),
            Verdict::CannotTell => ("doubt", "?"),
        };
        let change = row.change.map_or("-".to_owned(), |shift| {
            format!("{:+.1} % ({:.1} .. {:.1})", shift.change * 100.0, shift.low * 100.0, shift.high * 100.0)
        });
        writeln!(
            out,
            "<tr><th scope=\"row\"><a href=\"#{}-{position}\">{}</a></th><td class=\"{tone}\">{sign} {}</td><td>{}</td>\
             <td>{}</td><td>{change}</td><td>{}</td></tr>",
            anchor(&row.id),
            breakable(&crate::words::plain(&row.id, true)),
            row.verdict.name(),
            escaped(&numbers::quantity(row.a.value, &row.unit)),
            escaped(&numbers::quantity(row.b.value, &row.unit)),
            escaped(&row.why)
        )?;
    }
    for one in &comparison.one_sided {
        writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td class=\"doubt\">? on one side</td><td>{}</td><td>{}</td><td>-</td><td></td></tr>",
            escaped(&one.id),
            escaped(&one.a),
            escaped(&one.b)
        )?;
    }
    writeln!(out, "</tbody></table></div>\n</section>")
}
