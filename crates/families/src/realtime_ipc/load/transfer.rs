//! Load `transfer`: document 002's file from a server on this machine: a megabyte over loopback TCP to a file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use super::{Lacking, Round};

/// Bytes of the file.
const BYTES: usize = 1 << 20;
const CHUNK: usize = 1 << 16;

/// Listens, and makes the file, which has no name.
pub fn prepare(fsync: bool) -> Result<Round, Lacking> {
    let lacks = |error: std::io::Error| {
        Lacking::new(
            format!("no TCP connection over loopback: {error}"),
            "ip link set lo up, or another load",
        )
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(lacks)?;
    let address = listener.local_addr().map_err(lacks)?;
    TcpStream::connect(address).map_err(lacks)?;
    listener.accept().map_err(lacks)?;
    let folder = std::env::temp_dir();
    let mut file = oscost_sys::file::unnamed(&folder).map(File::from).map_err(|error| {
        Lacking::new(
            format!("no file without a name can be made in {}: {error}", folder.display()),
            "set TMPDIR to a folder that can be written, and whose file system knows O_TMPFILE (tmpfs, ext4, xfs, btrfs)",
        )
    })?;
    Ok(Box::new(move || {
        transfer(&listener, &mut file)
            .and_then(|()| if fsync { file.sync_all() } else { Ok(()) })
            .map_err(|error| format!("a transfer failed: {error}"))
    }))
}

/// One connection, one file.
fn transfer(listener: &TcpListener, file: &mut File) -> std::io::Result<()> {
    let address = listener.local_addr()?;
    let sender = std::thread::Builder::new().spawn(move || -> std::io::Result<()> {
        let mut stream = TcpStream::connect(address)?;
        let chunk = [b'x'; CHUNK];
        (0..BYTES / CHUNK).try_for_each(|_| stream.write_all(&chunk))
    })?;
    let (mut stream, _) = listener.accept()?;
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    let mut buffer = vec![0; CHUNK];
    loop {
        match stream.read(&mut buffer)? {
            0 => break,
            count => file.write_all(&buffer[..count])?,
        }
    }
    sender.join().unwrap_or_else(|_| Err(std::io::ErrorKind::Other.into()))
}
