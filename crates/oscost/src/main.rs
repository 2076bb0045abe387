//! The program: reads its arguments, runs one command, and ends with an exit code.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod crosscheck;
mod exit;
mod glossary;
mod output;
mod progress;
mod raw_dir;
mod session;
mod signals;
mod synonyms;
mod tick;
mod words;

use std::cell::RefCell;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use exit::{Ended, Exit};

/// No allocation that fails ends the program by a signal.
#[global_allocator]
static MEMORY: oscost_sys::allocator::OrEnd = oscost_sys::allocator::OrEnd::new(Exit::Unfit.code());

thread_local! {
    /// Where the last panic was.
    static PANICKED_AT: RefCell<Option<String>> = const { RefCell::new(None) };
}

fn main() -> ExitCode {
    if oscost_sys::identity::is_elevated() {
        let refusal = "oscost: refused, because the program has more privilege than its caller (set-user-ID or file capabilities): run it as the user who wants the figures";
        let _ = writeln!(std::io::stderr(), "{refusal}");
        return in_bisection(Exit::Unfit).into();
    }
    MEMORY.set_code(in_bisection(Exit::Unfit).code());
    oscost_sys::process::outlive_file_limit();
    // A program that measures is its own worker; nothing else may happen before.
    if let Some(code) = oscost_harness::serve_if_asked(&commands::catalogue) {
        return ExitCode::from(code);
    }
    if tick::serve_if_asked() {
        return ExitCode::SUCCESS;
    }
    // And it is what runs in an emulated machine that counts.
    if let Some(code) = oscost_count::guest::serve_if_asked(&commands::catalogue, &commands::count::hello) {
        return ExitCode::from(code);
    }
    if let Some(code) = commands::explain::trace::serve_if_asked() {
        return ExitCode::from(code);
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
            if !ended.is_silent() {
                // If standard error is gone, there is nowhere to report it.
                let _ = write!(anstream::stderr(), "{}", output::harmless(&format!("oscost: {ended}")));
            }
            in_bisection(ended.exit).into()
        }
    }
}

/// The exit code as `git bisect run` must get it, however early the program ends: arguments that cannot be understood are no
/// bad commit.
fn in_bisection(exit: Exit) -> Exit {
    if std::env::args_os().any(|argument| argument == "--bisect") { exit.of_bisection() } else { exit }
}

/// Whether the command times something, and would wait for ever by a clock that does not advance.
fn times(command: &args::Command) -> bool {
    use args::Command::{Complete, List, Report};
    !matches!(command, List(_) | Report(_) | Complete { .. })
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
    if times(&command) && !oscost_sys::clock::advances() {
        return Err(Ended::new(Exit::Unfit, oscost_session::Error::StandingClock.to_string()));
    }
    let talk = output::Talk::new(&arguments.common);
    match command {
        args::Command::Run(options) => commands::run::run(&options, &talk),
        args::Command::Reproduce(options) => commands::reproduce::reproduce(&options, &talk),
        args::Command::List(options) => commands::list::list(&options, &talk),
        args::Command::Explain(options) => commands::explain::explain(&options, &talk),
        args::Command::Report(options) => commands::report::report(&options, &talk),
        args::Command::Count(options) => commands::count::count(&options, &talk),
        args::Command::Compare(options) => commands::compare::run(&options, &talk),
        args::Command::Crosscheck(options) => commands::crosscheck::crosscheck(&options, &talk),
        args::Command::Tick(options) => commands::tick::tick(&options, &talk),
        args::Command::Doctor(options) => commands::doctor::doctor(&options, &talk),
        args::Command::Complete { words } => commands::complete::complete(&words),
    }
}
