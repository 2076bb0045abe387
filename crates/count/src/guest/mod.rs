//! The program inside the guest: its first process, and the processes that count.

mod counter;
mod first;
mod timer;

use oscost_harness::Catalogue;

use crate::message::Hello;

/// First argument of the first process, from the kernel's command line.
pub const ARGUMENT: &str = "__guest";
/// First argument of a process that counts one id.
pub(crate) const COUNTER: &str = "__counter";

/// Does the work of the guest, if the program was started as its first process or as one that counts; called first thing in
/// `main`. `facts` tells who runs where.
///
/// Returns the exit code, `None` for an ordinary start.
#[must_use]
pub fn serve_if_asked(catalogue: &dyn Fn() -> Catalogue, facts: &dyn Fn() -> Hello) -> Option<u8> {
    let mut arguments = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    if std::process::id() == 1 {
        // A kernel hands on words of its command line that it does not know itself, before those that are meant for us.
        return if arguments.any(|word| word == ARGUMENT) { first::serve(facts) } else { None };
    }
    match arguments.next()?.as_str() {
        ARGUMENT => first::serve(facts),
        COUNTER => Some(counter::serve(&catalogue(), arguments)),
        _ => None,
    }
}
