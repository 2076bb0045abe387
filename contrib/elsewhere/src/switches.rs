//! Document 004's three programs: readings of gettimeofday, reads of 0 bytes, switches through two pipes.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::AsRawFd;

use crate::unix;

const SAMPLES: usize = 100_000;
const READS: [(u32, u32); 3] = [(100, 330), (1000, 302), (10_000, 302)];
/// Switches in a row; us as published, without tags and with the same one.
const SWITCHES: [(u32, u32, u32); 3] = [(20, 49, 49), (200, 463, 505), (20_000, 39_691, 48_239)];
/// How often each is repeated; the least is printed, as in the document.
const RUNS: u32 = 100;
const RUNS_OF_SWITCHES: u32 = 10;

/// Prints each with what the document has.
pub fn run() -> Result<(), String> {
    println!("document 004 on {}", unix::system());
    readings();
    reads().map_err(|error| format!("reads: {error}"))?;
    // Tags cannot be taken back, so that what has none comes first.
    for tag in [None, Some(1)] {
        let words = match tag.map(unix::tag) {
            None => "without affinity tags".to_owned(),
            Some(Ok(())) if cfg!(target_vendor = "apple") => "the same affinity tag".to_owned(),
            Some(Ok(())) => "one CPU (no tags here)".to_owned(),
            Some(Err(why)) => format!("the same affinity tag was refused ({why})"),
        };
        for (count, untagged, tagged) in SWITCHES {
            let least =
                least(RUNS_OF_SWITCHES, || switches(count)).map_err(|error| format!("switches: {error}"))?;
            let published = if tag.is_none() { untagged } else { tagged };
            println!(
                "{count} switches in a row, {words}: {least} us, {:.2} us each (published: {published} us)",
                least as f64 / f64::from(count)
            );
        }
    }
    Ok(())
}

/// gettimeofday again and again: how long it says the same, and how far it steps.
fn readings() {
    let times: Vec<u64> = (0..SAMPLES).map(|_| unix::gettimeofday_us()).collect();
    let mut runs: Vec<usize> = times.chunk_by(|one, other| one == other).map(<[u64]>::len).collect();
    runs.sort_unstable();
    let steps = || times.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    println!(
        "equal readings in a row: {} (published: 25); steps over 10 us: {} of {SAMPLES} (published: 215); largest: {} us",
        runs[runs.len() / 2],
        steps().filter(|&step| step > 10).count(),
        steps().max().unwrap_or(0)
    );
}

fn reads() -> io::Result<()> {
    let file = File::open("/dev/zero")?;
    for (count, published) in READS {
        let least = least(RUNS, || {
            let start = unix::gettimeofday_us();
            for _ in 0..count {
                unix::read_nothing(file.as_raw_fd())?;
            }
            Ok(unix::gettimeofday_us().saturating_sub(start))
        })?;
        println!(
            "{count} reads in a row: {:.0} ns each (published: {published} ns)",
            least as f64 * 1e3 / f64::from(count)
        );
    }
    Ok(())
}

fn least(runs: u32, mut run: impl FnMut() -> io::Result<u64>) -> io::Result<u64> {
    let mut least = u64::MAX;
    for _ in 0..runs {
        least = least.min(run()?);
    }
    Ok(least)
}

/// So many switches between two children; the first writes when the other is ready. Microseconds by the first child.
fn switches(count: u32) -> io::Result<u64> {
    let ((to_other, from_one), (to_one, from_other)) = (pair()?, pair()?);
    let (mut told, mut tell) = pipe()?;
    let (mut ours, mut theirs) = ((to_one, from_one), (to_other, from_other));
    let other = unix::fork(|| {
        // Ready: the first child waits for this.
        theirs.1.write_all(b"r")?;
        (0..count / 2).try_for_each(|_| {
            theirs.0.read_exact(&mut [0])?;
            theirs.1.write_all(b"x")
        })
    })?;
    let one = unix::fork(|| {
        ours.0.read_exact(&mut [0])?;
        let start = unix::gettimeofday_us();
        for _ in 0..count / 2 {
            ours.1.write_all(b"x")?;
            ours.0.read_exact(&mut [0])?;
        }
        tell.write_all(&unix::gettimeofday_us().saturating_sub(start).to_ne_bytes())
    })?;
    unix::wait(one)?;
    unix::wait(other)?;
    let mut bytes = [0; 8];
    told.read_exact(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

fn pair() -> io::Result<(PipeReader, PipeWriter)> {
    pipe()
}
