//! Load `network`: sends datagrams back and forth over loopback, without end.

use std::net::{Ipv4Addr, UdpSocket};

use super::{Lacking, Round};

/// Bytes of a datagram, and datagrams of a round.
const BYTES: usize = 1024;
const BURST: usize = 64;

/// Two sockets that are connected.
pub fn prepare() -> Result<Round, Lacking> {
    let make = || -> std::io::Result<[UdpSocket; 2]> {
        let near = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let far = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        near.connect(far.local_addr()?)?;
        far.connect(near.local_addr()?)?;
        near.send(&[0; BYTES])?;
        far.recv(&mut [0; BYTES])?;
        near.set_nonblocking(true)?;
        far.set_nonblocking(true)?;
        Ok([near, far])
    };
    let [near, far] = make().map_err(|error| {
        Lacking::new(format!("no datagram over loopback: {error}"), "ip link set lo up, or another load")
    })?;
    Ok(Box::new(move || {
        let mut buffer = [0; BYTES];
        for (one, other) in [(&near, &far), (&far, &near)] {
            // A full queue drops, and an empty one has nothing: both are what a busy network does.
            for _ in 0..BURST {
                let _ = one.send(&buffer);
            }
            while other.recv(&mut buffer).is_ok() {}
        }
        Ok(())
    }))
}
