//! Reads a stored result and prints what was measured, as columns of text.
//!
//! `cargo run -p oscost-examples --bin read_result -- @-1`: a file, or `@-1` for the newest stored run. It uses
//! oscost-results alone, which builds wherever Rust does: a result is read where nothing can be measured.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr)] // an example talks to its reader

use std::process::ExitCode;

use oscost_results::{Status, Untrusted, load_references};

fn main() -> ExitCode {
    let reference = std::env::args().nth(1).unwrap_or_else(|| "@-1".to_owned());
    let loaded = match load_references(&[reference]) {
        Ok(loaded) => loaded,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    for (_, result) in &loaded.results {
        for figure in &result.figures {
            // What is in a file may have been written by anybody: text is escaped for where it goes.
            let id = Untrusted::new(&figure.id).terminal();
            match figure.quantities.get(&figure.headline) {
                Some(headline) if figure.status == Status::Measured => {
                    let unit = Untrusted::new(&headline.unit).terminal();
                    println!("{id}\t{}\t{unit}", headline.estimate.value);
                }
                _ => {
                    let why = figure.why.as_deref().unwrap_or("no reason is given");
                    println!("{id}\t{:?}\t{}", figure.status, Untrusted::new(why).terminal());
                }
            }
        }
    }
    ExitCode::SUCCESS
}
