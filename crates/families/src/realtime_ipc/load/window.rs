//! Load `window`: an X11 window is moved about and drawn, as document 002 has it done by hand.

use super::{Lacking, Round};

/// Without the feature there is no X11.
#[cfg(not(feature = "window"))]
pub fn prepare() -> Result<Round, Lacking> {
    Err(Lacking::new(
        "this oscost was built without the feature window",
        "cargo build --release --locked, with the default features",
    ))
}

/// Connects to the display, and shows a window.
#[cfg(feature = "window")]
pub fn prepare() -> Result<Round, Lacking> {
    x11::prepare()
}

#[cfg(feature = "window")]
mod x11 {
    use std::io;
    use std::net::{Ipv4Addr, Ipv6Addr, TcpStream};
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    use x11rb::connection::Connection;
    use x11rb::protocol::xproto::{
        ConfigureWindowAux, ConnectionExt, CreateGCAux, CreateWindowAux, Rectangle, WindowClass,
    };
    use x11rb::reexports::x11rb_protocol::parse_display::{ConnectAddress, parse_display};
    use x11rb::reexports::x11rb_protocol::xauth;
    use x11rb::rust_connection::{DefaultStream, RustConnection};

    use super::{Lacking, Round};

    /// Size of the window, and how far it is moved about.
    const SIZE: (u16, u16) = (800, 600);
    const WAY: i32 = 100;
    /// Between two moves.
    const PAUSE: Duration = Duration::from_millis(2);

    pub fn prepare() -> Result<Round, Lacking> {
        let display = std::env::var("DISPLAY").unwrap_or_default();
        if !is_here(&display) {
            return Err(Lacking::new(
                format!("DISPLAY={display} is of another machine, and no load opens a connection to one"),
                "set DISPLAY to one of this machine (DISPLAY=:0), or start one: Xvfb :99 -noreset & DISPLAY=:99",
            ));
        }
        // A connection's table draws random keys, and would end the program where there are none.
        oscost_sys::random::bits().map_err(|error| {
            Lacking::new(format!("no display can be reached: {error}"), "allow getrandom in the sandbox")
        })?;
        let (connection, screen) = connected().map_err(|error| {
            Lacking::new(
                format!("no display can be reached: {error}"),
                "set DISPLAY (and XAUTHORITY), or start one: Xvfb :99 -noreset & DISPLAY=:99",
            )
        })?;
        let lacks = |error: String| {
            Lacking::new(format!("the display shows no window: {error}"), "try another display")
        };
        let (window, paint) = show(&connection, screen).map_err(lacks)?;
        let mut step = 0;
        Ok(Box::new(move || {
            step += 1;
            draw(&connection, window, paint, step)
                .map_err(|error| format!("the display is gone: {error}"))?;
            oscost_sys::clock::pause(PAUSE);
            Ok(())
        }))
    }

    /// A connection to the display of the environment, and the number of its screen. As [`x11rb::connect`] makes it, but nobody
    /// is asked for the address of a host: [`is_here`] knows them all, and the C library's search for one is 0.3 MB of a static
    /// program.
    fn connected() -> Result<(RustConnection, usize), Box<dyn std::error::Error>> {
        let display = parse_display(None)?;
        let mut refused = None;
        for place in display.connect_instruction() {
            match stream_to(&place) {
                Ok((stream, (family, address))) => {
                    let known = xauth::get_auth(family, &address, display.display);
                    let (name, data) = known.ok().flatten().unwrap_or_default();
                    let screen = usize::from(display.screen);
                    let connection =
                        RustConnection::connect_to_stream_with_auth_info(stream, screen, name, data)?;
                    return Ok((connection, screen));
                }
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.map_or_else(|| "it is nowhere".into(), Into::into))
    }

    fn stream_to(place: &ConnectAddress<'_>) -> io::Result<(DefaultStream, (xauth::Family, Vec<u8>))> {
        match place {
            ConnectAddress::Hostname(host, port) if host.contains("::1") => {
                DefaultStream::from_tcp_stream(TcpStream::connect((Ipv6Addr::LOCALHOST, *port))?)
            }
            ConnectAddress::Hostname(_, port) => {
                DefaultStream::from_tcp_stream(TcpStream::connect((Ipv4Addr::LOCALHOST, *port))?)
            }
            ConnectAddress::Socket(path) => DefaultStream::from_unix_stream(UnixStream::connect(path)?),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Whether a display is reached by a socket of this machine, or over loopback (ssh forwards one so). X(7), DISPLAY NAMES:
    /// `protocol/host:number`, or the path of a socket.
    fn is_here(display: &str) -> bool {
        if display.starts_with("unix:") || display.starts_with('/') && std::path::Path::new(display).exists()
        {
            return true;
        }
        let Some((place, _)) = display.rsplit_once(':') else { return true };
        let (protocol, host) = place.rsplit_once('/').unwrap_or(("", place));
        protocol == "unix" || ["", "localhost", "127.0.0.1", "::1", "[::1]"].contains(&host)
    }

    fn show(connection: &RustConnection, screen: usize) -> Result<(u32, u32), String> {
        let make = || -> Result<(u32, u32), Box<dyn std::error::Error>> {
            let screen = &connection.setup().roots[screen];
            let (window, paint) = (connection.generate_id()?, connection.generate_id()?);
            let looks = CreateWindowAux::new().background_pixel(screen.white_pixel).override_redirect(1);
            connection
                .create_window(
                    x11rb::COPY_DEPTH_FROM_PARENT,
                    window,
                    screen.root,
                    0,
                    0,
                    SIZE.0,
                    SIZE.1,
                    0,
                    WindowClass::INPUT_OUTPUT,
                    0,
                    &looks,
                )?
                .check()?;
            connection
                .create_gc(paint, window, &CreateGCAux::new().foreground(screen.black_pixel))?
                .check()?;
            connection.map_window(window)?.check()?;
            Ok((window, paint))
        };
        make().map_err(|error| error.to_string())
    }

    /// Moves the window to and fro, fills it, clears it, and waits until the server has done so.
    fn draw(connection: &RustConnection, window: u32, paint: u32, step: i32) -> Result<(), String> {
        let make = || -> Result<(), Box<dyn std::error::Error>> {
            let way = step % (2 * WAY);
            let at = if way < WAY { way } else { 2 * WAY - way };
            connection.configure_window(window, &ConfigureWindowAux::new().x(at).y(at / 2))?;
            let whole = Rectangle { x: 0, y: 0, width: SIZE.0, height: SIZE.1 };
            connection.poly_fill_rectangle(window, paint, &[whole])?;
            connection.clear_area(false, window, 0, 0, SIZE.0, SIZE.1)?;
            connection.get_input_focus()?.reply()?;
            Ok(())
        };
        make().map_err(|error| error.to_string())
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn only_a_display_of_this_machine_is_connected_to() {
            for here in [
                "",
                ":0",
                ":99.1",
                "unix:0",
                "unix/host:0",
                "localhost:10.0",
                "127.0.0.1:1",
                "[::1]:1",
                "/dev/null",
            ] {
                assert!(super::is_here(here), "{here}");
            }
            for there in [
                "host:0",
                "10.0.0.1:0.0",
                "tcp/host:0",
                "tcp/10.0.0.1:0",
                "/no/such/host:0",
                "localhost.example:0",
                "fe80::1:0",
            ] {
                assert!(!super::is_here(there), "{there}");
            }
        }
    }
}
