//! Document 004's three programs, written from its prose: readings in a row, reads in a row, switches in a row.

use oscost_results::quantity;
use std::sync::atomic::Ordering;

use oscost_harness::{CallError, Outcome, Series, SeriesPlan, Sink, Unable};
use oscost_stats::quantile::{median, quantile, sorted};
use oscost_sys::memory::{ColdPages, SharedWords};
use oscost_sys::pipe::{self, Pipe};
use oscost_sys::process::Child;
use oscost_sys::usage::{self, Whose};
use oscost_sys::{affinity, clock, file};

/// gettimeofday_runtimes: readings in a row, kept in an array that is cold (as in the document) or was touched before.
pub struct Timestamps {
    pub touched: bool,
    pub count: u64,
}

impl Series for Timestamps {
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        let count = plan.observations.unwrap_or(self.count).max(2);
        // A timeval is 16 bytes; so is an entry here.
        let words = usize::try_from(count).unwrap_or(usize::MAX / 4).saturating_mul(2);
        let mut pages = ColdPages::new(words)?;
        let array = pages.words();
        if self.touched {
            array.fill(1);
            // Nor may the pages of the code fault.
            read(&mut array[..2]);
            usage::own(Whose::Thread)?;
        }
        let before = usage::own(Whose::Thread)?;
        read(array);
        let faults = usage::own(Whose::Thread)?.since(&before).faults();
        let times: Vec<u64> = array.chunks_exact(2).map(|entry| entry[0]).collect();
        sink.operations(count);
        sink.quantity(quantity::FAULTS, faults as f64);
        describe(&times, sink);
        Ok(())
    }
}

/// The document's loop: a reading after the other.
fn read(array: &mut [u64]) {
    for entry in array.chunks_exact_mut(2) {
        entry[0] = clock::gettimeofday_us();
    }
}

/// What the document reads off the array: runs of equal readings, and the steps between them, in ns.
fn describe(times: &[u64], sink: &mut dyn Sink) {
    let mut runs: Vec<f64> = Vec::new();
    let mut steps: Vec<f64> = Vec::new();
    let (mut run, mut over, mut far_over, mut backward) = (1u64, 0u64, 0u64, 0u64);
    for pair in times.windows(2) {
        let step = i128::from(pair[1]) - i128::from(pair[0]);
        if step == 0 {
            run += 1;
            continue;
        }
        runs.push(run as f64);
        run = 1;
        steps.push(step as f64 * 1000.0);
        over += u64::from(step > 1);
        far_over += u64::from(step > 10);
        backward += u64::from(step < 0);
    }
    let steps = sorted(steps);
    let first_and_last = times.first().zip(times.last());
    let mean = first_and_last.map_or(0.0, |(first, last)| {
        (i128::from(*last) - i128::from(*first)) as f64 * 1000.0 / (times.len() - 1) as f64
    });
    sink.quantity(quantity::EQUAL_RUN_LENGTH, mode(&runs).unwrap_or(times.len() as f64));
    sink.quantity(quantity::STEPS_OVER_1US, over as f64);
    sink.quantity(quantity::STEPS_OVER_10US, far_over as f64);
    sink.quantity(quantity::LARGEST_STEP, quantile(&steps, 1.0).unwrap_or(0.0));
    sink.quantity(quantity::SMALLEST_STEP, quantile(&steps, 0.0).unwrap_or(0.0));
    sink.quantity(quantity::BACKWARD_STEPS, backward as f64);
    sink.quantity(quantity::MEAN, mean);
    sink.quantity(quantity::FIT_DISTANCE, exponential_distance(&steps));
}

/// The commonest value.
fn mode(values: &[f64]) -> Option<f64> {
    let values = sorted(values.to_vec());
    let mut best: Option<(usize, f64)> = None;
    for group in values.chunk_by(|a, b| a == b) {
        if best.is_none_or(|(count, _)| group.len() > count) {
            best = group.first().map(|&value| (group.len(), value));
        }
    }
    best.map(|(_, value)| value)
}

/// Largest distance between the distribution of `steps` and the exponential one of the same mean beyond the minimum
/// (Kolmogorov's distance; 0 is a perfect fit, 1 none at all).
pub fn exponential_distance(steps: &[f64]) -> f64 {
    let Some(&least) = steps.first() else { return 1.0 };
    let count = steps.len() as f64;
    let mean = steps.iter().map(|step| step - least).sum::<f64>() / count;
    if mean <= 0.0 {
        return 1.0;
    }
    let mut farthest: f64 = 0.0;
    let mut below = 0usize;
    for group in steps.chunk_by(|a, b| a == b) {
        let fitted = 1.0 - (-(group[0] - least) / mean).exp();
        let before = below as f64 / count;
        below += group.len();
        farthest = farthest.max((fitted - before).abs()).max((fitted - below as f64 / count).abs());
    }
    farthest
}

/// read_system_call: `count` reads of 0 bytes in a row by the time of day, again and again; the fewest ns a read.
///
/// Through libc, as a program reads. With the instruction in the loop, the first run is a quarter faster than all later ones, for what
/// the processor foresees behind the loop ([`system_call`](oscost_sys::system_call)).
pub struct Reads {
    device: std::os::fd::OwnedFd,
    count: u64,
}

/// Runs of each literal loop of reads.
const READ_RUNS: usize = 300;
/// A run is near the minimum within this share of it, or one step of the clock.
const NEAR: f64 = 0.05;

impl Reads {
    pub fn new(count: u64) -> Result<Self, Unable> {
        Ok(Self { device: file::open(c"/dev/zero", file::OpenAccess::Read)?, count })
    }
}

impl Series for Reads {
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        let (count, runs) = match plan.observations {
            Some(reads) => (reads, 1),
            None => (self.count, READ_RUNS),
        };
        let mut totals = Vec::with_capacity(runs);
        for _ in 0..runs {
            let start = clock::gettimeofday_us();
            for _ in 0..count {
                pipe::read(&self.device, &mut [])?;
            }
            let end = clock::gettimeofday_us();
            totals.push((i128::from(end) - i128::from(start)) as f64);
        }
        let totals = sorted(totals);
        let least = quantile(&totals, 0.0).unwrap_or(0.0);
        let near = totals.iter().filter(|&&total| total <= least + (least * NEAR).max(1.0)).count();
        sink.operations(count * runs as u64);
        sink.quantity(quantity::MINIMUM, least * 1000.0 / count as f64);
        sink.quantity(quantity::NEAR_MINIMUM, near as f64 / totals.len().max(1) as f64);
        Ok(())
    }
}

/// context_switch: two children, two pipes, `count` switches in a row by the time of day, once a pair of children.
pub struct Switches {
    /// The same affinity tag for both: one CPU.
    pub cpu: Option<usize>,
    /// The first writer waits until the other side is ready.
    pub barrier: bool,
    pub count: u64,
}

/// How often the literal program is run, and how many pairs of children each run has: what it prints is the minimum over
/// them. Fewer where each is long.
const SWITCH_OUTPUTS: [usize; 2] = [5, 6];
const LONG_OUTPUTS: [usize; 2] = [4, 2];
/// From so many switches in a row on a run is long.
const LONG: u64 = 10_000;

/// Words that the children share with us: start and end of the first one's clock, and the CPU that each ended on.
const ELAPSED: usize = 0;
const CPUS: [usize; 2] = [1, 2];

impl Switches {
    /// One run of the program: elapsed us, and whether both children ended on one CPU.
    fn once(&self, count: u64) -> Result<(f64, bool), CallError> {
        let words = SharedWords::new(3)?;
        let (there, back, ready) = (Pipe::new()?, Pipe::new()?, Pipe::new()?);
        // Each child closes the other's ends: one that dies is then the end of the other's stream.
        let mut of_first = Some((there.writer, back.reader, ready.reader));
        let mut of_second = Some((there.reader, back.writer, ready.writer));
        let place = || match self.cpu {
            Some(cpu) => affinity::pin_to(cpu),
            None => Ok(()),
        };
        let told = |index: usize| {
            let cpu = affinity::current().map_or(u64::MAX, |cpu| cpu as u64);
            words.word(CPUS[index]).store(cpu, Ordering::Release);
        };
        let first = Child::fork(|| {
            drop(of_second.take());
            let Some((there, back, ready)) = &of_first else { return 1 };
            let work = || -> Outcome {
                place()?;
                if self.barrier {
                    pipe::read_byte(ready)?;
                }
                let start = clock::gettimeofday_us();
                for _ in 0..count.div_ceil(2) {
                    pipe::write_byte(there)?;
                    pipe::read_byte(back)?;
                }
                let elapsed = clock::gettimeofday_us().wrapping_sub(start);
                words.word(ELAPSED).store(elapsed, Ordering::Release);
                told(0);
                Ok(())
            };
            i32::from(work().is_err())
        })?;
        let second = Child::fork(|| {
            drop(of_first.take());
            let Some((there, back, ready)) = &of_second else { return 1 };
            let work = || -> Outcome {
                place()?;
                if self.barrier {
                    pipe::write_byte(ready)?;
                }
                for _ in 0..count.div_ceil(2) {
                    pipe::read_byte(there)?;
                    pipe::write_byte(back)?;
                }
                told(1);
                Ok(())
            };
            i32::from(work().is_err())
        })?;
        drop((of_first, of_second));
        let ended = [first.wait()?, second.wait()?];
        if ended.iter().any(|ended| ended.code != Some(0)) {
            return Err(CallError::new("a child of the literal program", 5));
        }
        let cpus = CPUS.map(|word| words.word(word).load(Ordering::Acquire));
        Ok((words.word(ELAPSED).load(Ordering::Acquire) as f64, cpus[0] == cpus[1]))
    }
}

impl Series for Switches {
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        let (count, [outputs, pairs]) = match plan.observations {
            Some(switches) => (switches, [1, 1]),
            None => (self.count, if self.count >= LONG { LONG_OUTPUTS } else { SWITCH_OUTPUTS }),
        };
        let runs = outputs * pairs;
        let mut totals = Vec::with_capacity(runs);
        let mut printed = Vec::with_capacity(outputs);
        let mut shared = 0usize;
        for _ in 0..outputs {
            let mut least = f64::INFINITY;
            for _ in 0..pairs {
                let (total, same_cpu) = self.once(count)?;
                totals.push(total);
                least = least.min(total);
                shared += usize::from(same_cpu);
            }
            printed.push(least);
        }
        let (totals, printed) = (sorted(totals), sorted(printed));
        let end = |values: &[f64], q: f64| quantile(values, q).unwrap_or(0.0);
        let (least, most) = (end(&printed, 0.0), end(&printed, 1.0));
        sink.operations(count * runs as u64);
        sink.quantity(quantity::MINIMUM, least * 1000.0);
        sink.quantity(quantity::MEDIAN, median(&totals).unwrap_or(0.0) * 1000.0);
        sink.quantity(quantity::SPREAD, if least > 0.0 { most / least - 1.0 } else { 0.0 });
        sink.quantity(quantity::SHARED_CPU, shared as f64 / runs as f64);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[derive(Default)]
    struct Kept(BTreeMap<&'static str, f64>);
    impl Sink for Kept {
        fn quantity(&mut self, name: &'static str, value: f64) {
            self.0.insert(name, value);
        }
        fn observation(&mut self, _: f64) {}
        fn operations(&mut self, _: u64) {}
    }

    #[test]
    fn a_scripted_clock_is_described_exactly() {
        // 25 equal readings a us, one gap of 50 us, one step back.
        let mut times: Vec<u64> = (0..1000u64).map(|index| 1_000_000 + index / 25).collect();
        times.extend((0..50u64).map(|index| 1_000_090 + index / 25));
        times.push(1_000_104); // 13 us on
        times.push(1_000_088);
        let mut kept = Kept::default();
        describe(&times, &mut kept);
        assert_eq!(kept.0["equal_run_length"], 25.0);
        assert_eq!((kept.0["steps_over_1us"], kept.0["steps_over_10us"]), (2.0, 2.0));
        assert_eq!(kept.0["largest_step"], 51_000.0);
        assert_eq!(kept.0["backward_steps"], 1.0);
        assert_eq!(kept.0["smallest_step"], -16_000.0);
    }

    #[test]
    fn the_fit_tells_an_exponential_from_a_constant() {
        let exponential: Vec<f64> =
            (0..10_000).map(|index| -(1.0 - (f64::from(index) + 0.5) / 10_000.0).ln() * 40.0 + 7.0).collect();
        assert!(exponential_distance(&exponential) < 0.01);
        let mut mostly_one: Vec<f64> = vec![1000.0; 9990];
        mostly_one.extend([50_000.0; 10]);
        assert!(exponential_distance(&mostly_one) > 0.9);
        assert_eq!(exponential_distance(&[]), 1.0);
        assert_eq!(exponential_distance(&[5.0, 5.0]), 1.0);
    }

    #[test]
    fn a_run_of_switches_really_alternates() {
        for barrier in [true, false] {
            let cpus = affinity::allowed().expect("affinity");
            let switches = Switches { cpu: cpus.first().copied(), barrier, count: 20 };
            let (elapsed, same_cpu) = switches.once(20).expect("pipes");
            assert!(elapsed >= 0.0 && same_cpu);
        }
    }
}
