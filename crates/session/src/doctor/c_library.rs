//! Which C library is measured: the machine's, or the one inside a static program.

use super::Finding;
use super::system::System;

const MATTERS: &str =
    "figures of calls through the C library (semaphores, mutexes, threads) are those of one library";

pub(super) fn check(system: &System) -> Finding {
    match &system.measured.c_library {
        Some(library) if library.ends_with(")") => {
            Finding::fine(format!("{library}: what is measured, whichever this machine has"))
        }
        Some(library) => Finding::fine(format!("{library}, of this machine")),
        None => Finding::unknown("it was not asked", MATTERS),
    }
}

#[cfg(test)]
mod tests {
    use super::super::system::recorded::Recorded;
    use super::check;

    #[test]
    fn a_static_program_measures_its_own() {
        let says = |library: &str| {
            check(&Recorded::new(&[]).with(|measured| measured.c_library = Some(library.to_owned())).system)
                .says
        };
        assert_eq!(says("glibc 2.36"), "glibc 2.36, of this machine");
        assert_eq!(
            says("musl (inside the program)"),
            "musl (inside the program): what is measured, whichever this machine has"
        );
    }
}
