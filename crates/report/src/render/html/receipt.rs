//! A receipt on the page: items, claims, total, checksum; beside it spread and launches.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::table::{class, sign};
use super::{anchor, blocks, breakable, escaped};
use crate::blocks::receipt::{Item, Receipt};

/// Writes the receipt of a figure; the result that it is of has this checksum.
pub(super) fn write(receipt: &Receipt, checksum: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<div class=\"receipt\"><div class=\"paper\"><table><caption><span>Receipt</span> {}<small>{}</small>\
         </caption>",
        breakable(&receipt.title),
        escaped(&receipt.says)
    )?;
    for (items, name) in [(&receipt.items, "items"), (&receipt.claims, "claims"), (&receipt.totals, "totals")]
    {
        if items.is_empty() {
            continue;
        }
        write!(out, "<tbody class=\"{name}\">")?;
        for (index, item) in items.iter().enumerate() {
            line(item, if name == "totals" && index == 0 { "Total: " } else { "" }, out)?;
        }
    }
    writeln!(out, "</table>")?;
    receipt.foot.iter().try_for_each(|it| writeln!(out, "<p>{}</p>", escaped(it)))?;
    if !checksum.is_empty() {
        writeln!(
            out,
            "<svg class=\"bars\" aria-hidden=\"true\"><use href=\"#bars\" width=\"100%\" height=\"24\"/></svg><p>{}</p>",
            escaped(checksum)
        )?;
    }
    writeln!(
        out,
        "</div><div class=\"beside\"><p class=\"copy\"><button type=\"button\" data-link=\"{}\">Copy link</button> \
         <button type=\"button\" class=\"markdown\">Copy as Markdown</button> <button type=\"button\" \
         data-copy=\"{command}\">Copy: <code>{command}</code></button></p>",
        anchor(&receipt.title),
        command = escaped(&receipt.command),
    )?;
    if !receipt.notes.is_empty() {
        writeln!(out, "<p>{}.</p>", escaped(receipt.notes.join("; ").trim_end_matches('.')))?;
    }
    blocks::parts(&receipt.beside, "", out)?;
    writeln!(out, "</div></div>")
}

fn line(item: &Item, before: &str, out: &mut dyn Write) -> io::Result<()> {
    let mark = item.tone.map_or(String::new(), |tone| {
        let says = match tone {
            crate::blocks::Tone::Good => "holds",
            crate::blocks::Tone::Doubt => "not counted",
            crate::blocks::Tone::Bad => "does not hold",
            crate::blocks::Tone::Neutral => "not judged",
        };
        format!(
            " <span class=\"{}\" title=\"{says}\">{}<span class=\"word\">{says}</span></span>",
            class(tone),
            sign(tone)
        )
    });
    writeln!(out, "<tr><th>{before}{}<td>{}{mark}", escaped(&item.name), escaped(&item.amount))
}

/// The checksum as bars: once on a page, for every receipt.
pub(super) fn bars(checksum: &str) -> String {
    let mut path = String::new();
    let mut x = 0;
    for byte in checksum.bytes().rev().take(12) {
        for bit in [0, 2, 4, 6] {
            let wide = 1 + u32::from(byte >> bit & 3);
            // Writing to a string cannot fail.
            let _ = write!(path, "M{x} 0h{}v24h-{}z", wide.min(3), wide.min(3));
            x += wide + 2;
        }
    }
    format!(
        "<svg hidden width=\"0\" height=\"0\" aria-hidden=\"true\"><symbol id=\"bars\" viewBox=\"0 0 {} 24\" \
         preserveAspectRatio=\"none\"><path d=\"{path}\"/></symbol></svg>",
        x.max(1)
    )
}
