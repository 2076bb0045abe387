//! Instructions of an operation by function and caller, as boxes and as a list.

use oscost_results::{Figure, FunctionNode};

use super::story::Story;
use crate::blocks::{Boxes, Placed, Plot, Table};
use crate::numbers::exact as number;

/// Functions deeper than this are not indented any further.
pub(super) const DEEPEST: u32 = 60;

/// One box a function, below its caller, as wide as its instructions with those of whom it calls; where they were counted.
pub(super) fn plot(story: &Story<'_>, figure: &Figure) -> Option<Plot> {
    let count = figure.count.as_ref().filter(|count| !count.functions.is_empty())?;
    let (sum, totals) = (count.sum(), count.totals());
    let all = sum.max(1) as f64;
    let nodes = || count.functions.iter().zip(&totals);
    let boxes = nodes().zip(starts(&count.functions, &totals)).map(|((node, &total), from)| Placed {
        depth: node.depth.min(DEEPEST),
        from: from as f64 / all,
        wide: total as f64 / all,
        is_dark: node.place == "kernel",
        name: story.plain(&node.name),
        says: story.plain(&label(node, total)),
    });
    let boxes: Vec<Placed> = boxes.collect();
    let row = |(node, total): (&FunctionNode, &u64)| {
        let name =
            format!("{}{}", "\u{b7} ".repeat(node.depth.min(DEEPEST) as usize), story.plain(&node.name));
        let numbers = [node.calls, node.own, *total].map(|count| number(count as f64));
        [name, story.plain(&node.place)].into_iter().chain(numbers).collect()
    };
    let sum = vec!["all together".to_owned(), String::new(), String::new(), number(sum as f64)];
    let heads = ["function", "of", "calls", "of its own", "with callees"];
    let id = story.plain(&figure.id);
    let of = of_iteration(figure);
    let finding = format!("{id}: {} instructions{of}, by function and caller", number(all));
    let boxes = Boxes { deep: boxes.iter().map(|one| one.depth).max().unwrap_or(0) + 1, boxes };
    Some(Plot::of(finding, boxes, Table::new(heads, nodes().map(row).chain([sum]))))
}

/// Whose instructions functions add up to: an iteration's, where the figure is of an operation and an iteration holds several.
pub(super) fn of_iteration(figure: &Figure) -> String {
    match figure.operations_per_iteration {
        0 | 1 => String::new(),
        several => format!(" of {several} operations"),
    }
}

/// Where each node's box begins, in instructions: callees stand side by side behind what their caller does itself.
fn starts(nodes: &[FunctionNode], totals: &[u64]) -> Vec<u64> {
    // Callers that are open: depth, and where the next callee begins.
    let mut open: Vec<(u32, u64)> = Vec::new();
    let mut first = 0;
    let mut starts = Vec::with_capacity(nodes.len());
    for (node, &total) in nodes.iter().zip(totals) {
        while open.last().is_some_and(|&(depth, _)| depth >= node.depth) {
            open.pop();
        }
        let next = open.last_mut().map_or(&mut first, |(_, next)| next);
        let here: u64 = *next;
        *next = here.saturating_add(total);
        starts.push(here);
        open.push((node.depth, here.saturating_add(node.own)));
    }
    starts
}

fn label(node: &FunctionNode, total: u64) -> String {
    let calls = if node.depth == 0 {
        String::new()
    } else {
        format!(", {} {}", number(node.calls as f64), if node.calls == 1 { "call" } else { "calls" })
    };
    format!(
        "{} ({}): {} instructions, {} of its own{calls}",
        node.name,
        node.place,
        number(total as f64),
        number(node.own as f64)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    fn nodes(of: &[(u32, u64)]) -> Vec<FunctionNode> {
        let node = |(index, &(depth, own)): (usize, &(u32, u64))| FunctionNode {
            depth,
            name: format!("<f{index}>"),
            place: "kernel".to_owned(),
            calls: 1,
            own,
            repeated: 0,
            unknown: Map::default(),
        };
        of.iter().enumerate().map(node).collect()
    }

    #[test]
    fn the_functions_of_several_operations_are_said_to_be_theirs() {
        let of = |operations: u64| {
            let figure = serde_json::from_value(serde_json::json!({
                "id": "a", "family": "", "title": "", "operation": "", "operations_per_iteration": operations,
                "call_path": "libc", "group": "", "status": "measured", "headline": "instructions",
            }));
            of_iteration(&figure.expect("a figure"))
        };
        assert_eq!([of(0), of(1), of(32)], ["", "", " of 32 operations"]);
    }

    #[test]
    fn boxes_lie_inside_their_callers_and_beside_their_neighbours() {
        let nodes = nodes(&[(0, 0), (1, 10), (2, 5), (3, 2), (2, 7), (1, 4)]);
        // The second callee of a function that did 10 itself begins behind the first one's 5 + 2.
        assert_eq!(starts(&nodes, &[28, 24, 7, 2, 7, 4]), [0, 0, 10, 15, 17, 24]);
    }
}
