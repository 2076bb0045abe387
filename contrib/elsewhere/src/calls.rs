//! Document 003's three programs: one getpid, a loop of them, and the loop minus the loop without them.

use std::hint::black_box;

use crate::unix;

const ITERATIONS: u32 = 10_000_000;

/// Prints each with what the document has.
pub fn run() -> Result<(), String> {
    println!("document 003 on {}", unix::system());
    let start = unix::monotonic();
    black_box(unix::getpid());
    let end = unix::monotonic();
    println!("Time to make a system call: {} ns (published: 0 ns)", end.1 - start.1);
    let with_call = timed(true);
    let per_call = |ns: f64| ns / f64::from(ITERATIONS);
    println!("Average time to make a system call: {:.3} ns (published: 3.120 ns)", per_call(with_call));
    let alone = timed(true) - timed(false);
    println!("Average time for system call alone: {:.3} ns (published: 1.855 ns)", per_call(alone));
    Ok(())
}

/// The loop as an unoptimised build leaves it, in ns: its variables are in memory.
fn timed(call: bool) -> f64 {
    let in_ns = |(seconds, ns): (i64, i64)| seconds as f64 * 1e9 + ns as f64;
    let (mut pid, mut pass) = (0, 0);
    let start = in_ns(unix::monotonic());
    while *black_box(&mut pass) < ITERATIONS {
        *black_box(&mut pid) = if *black_box(&call) { unix::getpid() } else { 0 };
        pass += 1;
    }
    let end = in_ns(unix::monotonic());
    black_box(pid);
    end - start
}
