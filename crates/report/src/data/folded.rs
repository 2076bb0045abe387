//! Counts by function, for tools that draw stacks.

use std::io::{self, Write};

use oscost_results::{RunResult, Untrusted};

/// One line a stack: "id;process;function;function instructions", as flamegraph, inferno and speedscope read it.
///
/// # Errors
/// Of writing.
pub fn folded(result: &RunResult, out: &mut dyn Write) -> io::Result<()> {
    for figure in &result.figures {
        let Some(count) = &figure.count else { continue };
        let mut stack: Vec<String> = Vec::new();
        for node in &count.functions {
            stack.truncate(node.depth as usize);
            // A semicolon separates, a line end ends: neither may stand in a name.
            stack.push(Untrusted::new(&node.name).terminal().to_string().replace([';', '\n'], ":"));
            if node.own > 0 {
                writeln!(out, "{};{} {}", Untrusted::new(&figure.id).terminal(), stack.join(";"), node.own)?;
            }
        }
    }
    Ok(())
}
