//! The program: reads its arguments, runs one command, and ends with an exit code. It is a library so that its code can be built
//! for its size, and the loops that are linked to it for their speed (Cargo.toml, profile dist).
#![forbid(unsafe_code)]

mod args;
mod checks;
mod commands;
mod exit;
mod glossary;
mod known;
mod output;
mod synonyms;
mod system;
mod table;
pub mod tick_message;
mod words;

// What measures.
#[cfg(target_os = "linux")]
mod choose;
#[cfg(target_os = "linux")]
mod crosscheck;
#[cfg(target_os = "linux")]
mod progress;
#[cfg(target_os = "linux")]
mod raw_dir;
#[cfg(target_os = "linux")]
mod session;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod tick;

use std::cell::RefCell;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use exit::{Ended, Exit, in_bisection};

thread_local! {
    /// Where the last panic was.
    static PANICKED_AT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Does what the arguments of this process say.
#[must_use]
pub fn main() -> ExitCode {
    if let Some(code) = system::begin() {
        return code;
    }
    // What a panic says is for developers: the user is told below.
    std::panic::set_hook(Box::new(|panic| {
        PANICKED_AT.set(panic.location().map(|at| format!(" ({}:{})", at.file(), at.line())));
    }));
    let ended = std::panic::catch_unwind(run).unwrap_or_else(|panic| {
        let words = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no words");
        Err(Ended::new(
            Exit::Internal,
            format!(
                "internal error: {words}{}; please report it, with what 'oscost --version' says",
                PANICKED_AT.take().unwrap_or_default()
            ),
        ))
    });
    match ended {
        Ok(exit) => in_bisection(exit).into(),
        Err(ended) => {
            // If standard error is gone, there is nowhere to report it.
            let _ = write!(anstream::stderr(), "{}", output::harmless(&format!("oscost: {ended}")));
            in_bisection(ended.exit).into()
        }
    }
}

fn run() -> Result<Exit, Ended> {
    let arguments = match args::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            // The message quotes the arguments. It has colours unless what it quotes could pass for them.
            let plain = error.render().to_string();
            let words = output::harmless(&args::with_suggestion(&error, plain.clone()));
            let coloured = if words == plain { error.render().ansi().to_string() } else { words };
            let _ = write!(anstream::stderr(), "{coloured}");
            return Ok(Exit::Misuse);
        }
        // --help and --version.
        Err(error) => {
            return output::data(|out| write!(out, "{}", error.render())).map(|()| Exit::Done);
        }
    };
    let command = match (arguments.command, arguments.generate) {
        (None, None) => return commands::start::start(),
        (None, Some(what)) => return commands::generate::generate(what, arguments.output.as_deref()),
        (Some(_), Some(_)) => {
            return Err(Ended::misuse("--generate stands alone: it does not go with a command"));
        }
        (Some(command), None) => command,
    };
    let talk = output::Talk::new(&arguments.common);
    if !matches!(command, args::Command::Complete { .. }) {
        tell_of_an_ignored_state_home(&talk);
    }
    match command {
        args::Command::System(command) => system::run(&command, &talk),
        args::Command::List(options) => commands::list::list(&options, &talk),
        args::Command::Explain(options) => commands::explain::explain(&options, &talk),
        args::Command::Report(options) => commands::report::report(&options, &talk),
        args::Command::Compare(options) => commands::compare::run(&options, &talk),
        args::Command::Complete { words } => commands::complete::complete(&words),
    }
}

/// The store ignores a relative XDG_STATE_HOME, as its specification says: who set it is told.
fn tell_of_an_ignored_state_home(talk: &output::Talk) {
    let set = std::env::var_os("XDG_STATE_HOME").map(std::path::PathBuf::from);
    if let Some(path) = set.filter(|path| path.is_relative() && !path.as_os_str().is_empty()) {
        let path = path.display();
        talk.say(format!(
            "warning: XDG_STATE_HOME={path} is ignored, as it does not begin with '/': results are below HOME"
        ));
    }
}
