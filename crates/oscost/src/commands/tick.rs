//! `oscost tick`: document 002's server and client by hand.

use crate::args::Tick;
use crate::exit::{Ended, Exit};
use crate::output::Talk;
use crate::tick;

/// Is a server or a client.
pub fn tick(options: &Tick, talk: &Talk) -> Result<Exit, Ended> {
    match options {
        Tick::Server(options) => tick::server(options, talk),
        Tick::Client(options) => tick::client(options, talk),
    }
}
