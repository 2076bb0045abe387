//! Unix datagrams, each sent to the path of its client: the transport of document 002.

use std::rc::Rc;

use oscost_harness::Object;
use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::socket;
use std::os::fd::OwnedFd;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport};

use crate::lack;

/// `realtime_ipc/unix_datagram`
pub struct UnixDatagram {
    server: OwnedFd,
    clients: Vec<OwnedFd>,
    paths: Vec<Named>,
}

/// The name of a client's socket, which goes with it.
struct Named {
    address: socket::Path,
    path: String,
}

impl Drop for Named {
    fn drop(&mut self) {
        // That it is gone already is no harm. A forked participant never drops its copy: it ends by _exit.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A socket at a path of its own for every client, and one of the server without.
pub fn make(ground: &mut Ground, _: &Course, table: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    let server = socket::datagram().map_err(lack::of_descriptors)?;
    let name = oscost_sys::random::bits()?;
    let (mut clients, mut paths) = (Vec::new(), Vec::new());
    for client in 0..table.clients() {
        let name = format!("oscost-{name:032x}-{client}");
        let path = format!("/dev/shm/{name}");
        let address = socket::Path::new(&path)?;
        ground.keeper.keep(&Object::Socket(name))?;
        clients.push(socket::datagram_at(&address).map_err(lack::of_shared_memory)?);
        paths.push(Named { address, path });
    }
    Ok(Box::new(UnixDatagram { server, clients, paths }))
}

impl Transport for UnixDatagram {
    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, bytes: &[u8]) -> Outcome {
        to.each(|client| socket::send_to(&self.server, bytes, &self.paths[client].address))
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, buffer: &mut [u8]) -> Result<Got, CallError> {
        socket::receive(&self.clients[client], buffer).map(Got::Message)
    }
}
