//! The program, of which all is in the library beside it.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    oscost::main()
}
