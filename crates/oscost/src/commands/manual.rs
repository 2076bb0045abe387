//! `oscost completions` and `oscost man`, from the arguments and the list of exit codes.

use clap::CommandFactory;
use clap_mangen::roff::{Roff, roman};

use crate::args::Arguments;
use crate::exit::{Ended, Exit, MEANINGS};
use crate::output;

/// Prints completions for a shell.
pub fn completions(shell: clap_complete::Shell) -> Result<Exit, Ended> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "oscost", &mut text);
    output::data(|out| out.write_all(&text)).map(|()| Exit::Done)
}

/// Prints the man page: every command, every option, and the exit codes.
pub fn man() -> Result<Exit, Ended> {
    let command = Arguments::command();
    let page = clap_mangen::Man::new(command.clone());
    output::data(|out| {
        page.render_title(out)?;
        page.render_name_section(out)?;
        page.render_synopsis_section(out)?;
        page.render_description_section(out)?;
        page.render_options_section(out)?;
        for subcommand in command.get_subcommands() {
            let mut section = Roff::new();
            section.control("SH", [format!("OSCOST {}", subcommand.get_name().to_uppercase()).as_str()]);
            section.to_writer(out)?;
            let page = clap_mangen::Man::new(subcommand.clone());
            page.render_description_section(out)?;
            page.render_options_section(out)?;
        }
        let mut codes = Roff::new();
        codes.control("SH", ["EXIT STATUS"]);
        for (code, meaning) in MEANINGS {
            codes.control("TP", []);
            codes.text([roman(*code)]);
            codes.text([roman(*meaning)]);
        }
        codes.to_writer(out)
    })?;
    Ok(Exit::Done)
}
