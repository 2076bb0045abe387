//! `realtime_ipc/bpf`, loaded: the object of `tick.bpf.c`, its page and its ring in each client.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use aya::maps::{Map, MapData};
use aya::programs::{SocketFilter, TestRun, TestRunOptions};
use aya::{Ebpf, EbpfLoader, VerifierLogLevel};
use oscost_harness::{CallError, Outcome};
use oscost_sys::readiness::Edges;

use super::super::course::{Course, Ground};
use super::super::kernel_page::KernelPage;
use super::super::table::Table;
use super::super::transport::{Got, Made, Transport};
use super::lack;

/// Of clang, by `build` beside it; `.ci/run` builds it again and compares.
static OBJECT: &[u8] = aya::include_bytes_aligned!("tick.bpf.o");

/// Bytes of a tick in the ring: a head and the number of the tick.
const RECORD: usize = 16;
/// A packet for the one run that starts the timer; none is looked at.
const PACKET: [u8; 64] = [0; 64];

/// `realtime_ipc/bpf`
pub struct Bpf {
    /// The program and the map of the timer: the timer ends with the last descriptor of its map.
    loaded: Ebpf,
    ring: OwnedFd,
    page: KernelPage,
    edges: Option<Edges>,
}

/// Loads the program and makes its maps, for the ticks of this session.
pub fn make(_: &mut Ground, course: &Course, _: &Rc<Table>) -> Made {
    load(course).map(|bpf| Box::new(bpf) as Box<dyn Transport>).map_err(lack::told)
}

fn load(course: &Course) -> Result<Bpf, CallError> {
    let entries = u32::try_from(KernelPage::entries(course.ticks)).unwrap_or(u32::MAX);
    let ring = ((course.ticks + 1) * RECORD).next_power_of_two().max(4096);
    // The loader's tables draw random keys, and would end the program where there are none.
    oscost_sys::random::bits()?;
    let mut loaded = EbpfLoader::new()
        // The program touches its own types alone: whether the kernel tells of its types is all the same.
        .btf(None)
        .verifier_log_level(VerifierLogLevel::DISABLE)
        .map_max_entries("page", entries)
        .map_max_entries("ring", u32::try_from(ring).unwrap_or(u32::MAX))
        .load(OBJECT)
        .map_err(|error| lack::call_error(&error))?;
    let program = loaded.program_mut("start").ok_or(CallError::gone("the program of bpf"))?;
    let program: &mut SocketFilter = program.try_into().map_err(|error| lack::call_error(&error))?;
    program.load().map_err(|error| lack::call_error(&error))?;
    let page = KernelPage::of(descriptor(&loaded, "page")?, course.ticks, true)?;
    let ring = descriptor(&loaded, "ring")?.try_clone_to_owned();
    let ring = ring.map_err(|error| lack::call_error(&error))?;
    Ok(Bpf { loaded, ring, page, edges: None })
}

/// The descriptor of a map.
fn descriptor<'a>(loaded: &'a Ebpf, name: &'static str) -> Result<BorrowedFd<'a>, CallError> {
    match loaded.map(name) {
        Some(Map::Array(data) | Map::RingBuf(data)) => Ok(MapData::fd(data).as_fd()),
        _ => Err(CallError::gone("a map of bpf")),
    }
}

impl Transport for Bpf {
    fn enter(&mut self, _: usize) -> Outcome {
        self.edges = Some(Edges::of(&[&self.ring])?);
        Ok(())
    }

    fn start(&mut self, course: &Course) -> Outcome {
        self.page.plan(course.start_ns, course.period_ns, course.ticks);
        let program = self.loaded.program_mut("start").ok_or(CallError::gone("the program of bpf"))?;
        let program: &mut SocketFilter = program.try_into().map_err(|error| lack::call_error(&error))?;
        let mut options = TestRunOptions::new();
        options.data_in = Some(&PACKET);
        let ran = program.test_run(options).map_err(|error| lack::call_error(&error))?;
        if ran.return_value == 0 { Err(CallError::short("bpf_timer_start")) } else { Ok(()) }
    }

    #[inline(always)]
    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<Got, CallError> {
        match &self.edges {
            Some(edges) => edges.wait().map(|_| self.page.counted()),
            None => Err(CallError::gone("epoll_wait")),
        }
    }

    fn stamps(&self, table: &Table) {
        self.page.copy_to(table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oscost_sys::pipe::{self, Pipe};
    use oscost_sys::process::{self, Child, Signal};
    use oscost_sys::{clock, readiness, scheduling::Policy};

    fn course(ticks: usize) -> Course {
        Course {
            start_ns: clock::now_ns() + 1_000_000,
            period_ns: 1_000_000,
            ticks,
            size: 24,
            policy: Policy::Other,
            priorities: (0, 0),
            kind: super::super::super::course::Kind::Kernel,
        }
    }

    /// Number of the program in the kernel.
    fn number(bpf: &Bpf) -> u32 {
        let program = bpf.loaded.program("start").expect("named");
        let program: &SocketFilter = program.try_into().expect("a filter");
        program.info().expect("its own program").id()
    }

    /// Loaded for so many ticks; `None`, with a SKIP, where nobody may.
    fn loaded(name: &str, ticks: usize) -> Option<Bpf> {
        match load(&course(ticks)) {
            Ok(bpf) => Some(bpf),
            Err(error) => {
                println!("SKIP {name}: {error}");
                None
            }
        }
    }

    fn is_gone(id: u32) -> bool {
        // The kernel frees a program some time after its last descriptor.
        (0..60_000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            !aya::programs::loaded_programs().filter_map(Result::ok).any(|program| program.id() == id)
        })
    }

    #[test]
    fn ticks_follow_the_schedule_and_a_late_one_is_left_out() {
        let Some(mut bpf) = loaded("ticks_follow_the_schedule_and_a_late_one_is_left_out", 20) else {
            return;
        };
        // Its beginning has passed by 5.5 ticks: five are left out at once.
        let course = Course { start_ns: clock::now_ns() - 5_500_000, ..course(20) };
        bpf.start(&course).expect("started");
        let begun = std::time::Instant::now();
        while !matches!(bpf.page.counted(), Got::Counted { done: true, .. }) {
            assert!(begun.elapsed().as_secs() < 60, "{:?}", bpf.page.counted());
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert_eq!(bpf.page.counted(), Got::Counted { sent: 20, done: true });
        let table = Table::new(1, 20).expect("a table");
        bpf.stamps(&table);
        assert_eq!((table.sent(), table.is_done()), (20, true));
        assert!(table.overruns() >= 5, "{}", table.overruns());
        let (mut number, mut left_out) = (0, 0);
        for tick in 0..20 {
            let [due, stamp, _] = table.tick(tick);
            assert_eq!(due, course.start_ns + number * course.period_ns, "tick {tick}");
            assert!(stamp >= due, "tick {tick} is stamped before it is due");
            let late = (stamp - due) / course.period_ns;
            (number, left_out) = (number + 1 + late, left_out + late);
        }
        assert_eq!(table.overruns(), left_out);
    }

    #[test]
    fn nothing_of_it_stays_in_the_kernel() {
        let Some(mut bpf) = loaded("nothing_of_it_stays_in_the_kernel", 100) else { return };
        let id = number(&bpf);
        bpf.start(&course(100)).expect("started");
        drop(bpf);
        assert!(is_gone(id), "the program outlives its descriptor");
        let told = Pipe::new().expect("pipe");
        let child = Child::fork(|| {
            let Ok(mut bpf) = load(&course(10_000)) else { return 1 };
            let id = number(&bpf);
            let started = bpf.start(&course(10_000)).is_ok();
            let _ = pipe::write(&told.writer, &id.to_ne_bytes());
            std::thread::sleep(std::time::Duration::from_secs(20));
            i32::from(!started)
        })
        .expect("fork");
        let mut id = [0; 4];
        let answered = readiness::poll_readable(&[&told.reader], 10_000_000_000).expect("poll");
        assert!(answered[0], "the child loads it");
        assert_eq!(pipe::read(&told.reader, &mut id), Ok(4));
        process::signal(child.pid(), Signal::Kill).expect("killed");
        child.wait().expect("it ends");
        assert!(is_gone(u32::from_ne_bytes(id)), "the program outlives its process");
    }
}
