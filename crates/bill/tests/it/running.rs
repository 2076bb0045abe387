//! A program that runs already is counted: this test program starts itself again as it.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use oscost_bill::{BillError, Ended, attach};

use super::counts::{TIMES, alone, times};

#[test]
#[ignore = "a body: another test starts it"]
fn works_on() {
    let until = Instant::now() + Duration::from_secs(120);
    while Instant::now() < until {
        for _ in 0..TIMES {
            // SAFETY: getppid touches no memory.
            unsafe { libc::getppid() };
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A program that works on until it is killed, at the latest when its test ends.
fn working() -> Child {
    let mut program = Command::new(std::env::current_exe().expect("this program"));
    program.args(["running::works_on", "--exact", "--ignored", "--nocapture", "--quiet"]);
    oscost_sys::process::end_with_caller(&mut program);
    program.stdout(Stdio::null()).spawn().expect("started")
}

/// How a program ends that is killed while it is counted. One that is killed before it is looked at has no count, as the kernel
/// checks the programs first: the next one has twice the time.
fn killed_while_counted(running: &mut Child) -> Ended {
    let mut after = Duration::from_secs(3);
    loop {
        let pid = running.id();
        let counted = std::thread::scope(|threads| {
            threads.spawn(|| {
                std::thread::sleep(after);
                Command::new("kill").arg(pid.to_string()).status().expect("kill")
            });
            attach(pid, Duration::from_secs(60))
        });
        if counted != Err(BillError::NoProcess(pid)) || after > Duration::from_secs(40) {
            return counted.expect("counted").ended;
        }
        running.wait().expect("it ends");
        (after, *running) = (2 * after, working());
    }
}

#[test]
fn a_running_program_is_counted_and_left_as_it_was() {
    let _alone = alone();
    let mut running = working();
    let counted = attach(running.id(), Duration::from_millis(300));
    match &counted {
        Err(error @ (BillError::NoEbpf(_) | BillError::OtherNumbers(_))) => {
            println!("SKIP a_running_program_is_counted: {error}");
        }
        counted => {
            let counted = counted.as_ref().expect("counted");
            assert!(!counted.complete && counted.ended == Ended::Running, "{counted:?}");
            let asked = times(counted, |call| call.name == "getppid");
            let slept = times(counted, |call| call.name == "clock_nanosleep" && call.slept);
            // It may be looked at from the middle of one round to the middle of another.
            assert!(slept > 0 && asked.abs_diff(slept * TIMES) <= TIMES, "{asked} in {slept}");
            // A sleep that is counted after the end of the count is counted as none.
            assert_eq!(times(counted, |call| call.name == "clock_nanosleep" && !call.slept), 0);
            // And once more, until it ends.
            assert_eq!(killed_while_counted(&mut running), Ended::Killed(15));
        }
    }
    let _ = running.kill();
    running.wait().expect("it ends");
    assert_eq!(attach(u32::MAX >> 2, Duration::ZERO), Err(BillError::NoProcess(u32::MAX >> 2)));
}
