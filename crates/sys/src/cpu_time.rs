//! What CPUs did with their time until now, as /proc/stat counts it: proc_stat(5).

/// Nanoseconds of a tick there: USER_HZ is part of the ABI, 100 a second.
const TICK_NS: u64 = 10_000_000;

/// Time of some CPUs since they were started, ticks of 10 ms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// Idle, and waiting for a disk.
    pub idle: u64,
    /// Taken by the host.
    pub stolen: u64,
    /// All of it. Guest time is part of user time, and counted once.
    pub all: u64,
}

impl CpuTime {
    /// Share of the time since `earlier` in which they were idle; `None` where it is too short to tell.
    #[must_use]
    pub fn idle_share(&self, earlier: &Self) -> Option<f64> {
        let all = self.all.saturating_sub(earlier.all);
        (all > 0).then(|| self.idle.saturating_sub(earlier.idle) as f64 / all as f64)
    }

    /// Time taken by the host, ns.
    #[must_use]
    pub const fn stolen_ns(&self) -> u64 {
        self.stolen.saturating_mul(TICK_NS)
    }
}

/// Time of `cpus` together, now. `None` where /proc/stat does not say.
#[must_use]
pub fn now(cpus: &[usize]) -> Option<CpuTime> {
    of(&std::fs::read_to_string("/proc/stat").ok()?, cpus)
}

/// Time of `cpus` together in a text of /proc/stat. `None` where it does not say of any of them.
#[must_use]
pub fn of(stat: &str, cpus: &[usize]) -> Option<CpuTime> {
    let mut sum = None;
    for line in stat.lines() {
        let mut words = line.split_whitespace();
        let cpu = words.next().and_then(|name| name.strip_prefix("cpu")?.parse::<usize>().ok());
        if !cpu.is_some_and(|cpu| cpus.contains(&cpu)) {
            continue;
        }
        // user, nice, system, idle, iowait, irq, softirq, steal; what follows is part of user and nice.
        let fields: Vec<u64> = words.take(8).map_while(|word| word.parse().ok()).collect();
        let &[_, _, _, idle, waiting, _, _, stolen] = &fields[..] else { continue };
        let time: &mut CpuTime = sum.get_or_insert_default();
        time.idle = time.idle.saturating_add(idle.saturating_add(waiting));
        time.stolen = time.stolen.saturating_add(stolen);
        time.all = fields.iter().fold(time.all, |all, field| all.saturating_add(*field));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_that_of_the_cpus() {
        let before =
            "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 10 0 10 70 10 0 0 3 0 0\ncpu1 1 1 1 1 1 1 1 1 5 5\nintr 5\n";
        let after = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 15 0 10 83 12 0 0 3 0 0\ncpu1 1 1 1 1 1 1 1 1 5 5\n";
        let share = |cpus: &[usize]| of(after, cpus)?.idle_share(&of(before, cpus)?);
        assert_eq!(share(&[0]), Some(0.75));
        assert_eq!(share(&[1]), None, "no time has passed");
        assert_eq!(share(&[7]), None, "there is none");
        assert_eq!(of(before, &[0, 1]).map(|time| (time.stolen_ns(), time.all)), Some((40_000_000, 111)));
    }

    #[test]
    fn what_is_no_time_is_unknown_and_what_is_too_large_stays_the_largest() {
        for text in
            ["", "cpu0\n", "cpu0 1 2 3 4 5 6 7\n", "cpu0 1 2 3 4 5 6 7 x\n", "cpu-0 1 1 1 1 1 1 1 1\n"]
        {
            assert_eq!(of(text, &[0]), None, "{text}");
        }
        let most = format!("cpu0 {0} {0} {0} {0} {0} {0} {0} {0}\n", u64::MAX);
        let time = of(&most.repeat(2), &[0]).expect("named");
        assert_eq!((time.idle, time.stolen_ns(), time.all), (u64::MAX, u64::MAX, u64::MAX));
    }
}
