//! `oscost run --jitter`: hosts that an engine starts at once do not measure at once.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use oscost_sys::{clock, file, identity};

use crate::output::Talk;

/// Waits a part of `most` seconds, which this host draws for this boot. A signal ends the program meanwhile, as nothing listens
/// yet and nothing is held.
pub fn wait(most: u32, talk: &Talk) {
    let boot = file::text("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let waits = part(most, &identity::kernel().host, &boot);
    talk.say(format!("waits {:.1} s of at most {most} s before it measures (--jitter)", waits.as_secs_f64()));
    clock::pause(waits);
}

/// The part of `most` seconds that the host of this name waits in this boot: evenly spread over hosts, and over hosts that share
/// a name, too.
fn part(most: u32, host: &str, boot: &str) -> Duration {
    let mut hasher = DefaultHasher::new();
    (host, boot).hash(&mut hasher);
    // The upper bits, as a number from 0 to 1.
    let share = (hasher.finish() >> 11) as f64 / (1_u64 << 53) as f64;
    Duration::from_secs_f64(f64::from(most) * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_waits_the_same_again_and_its_neighbours_otherwise() {
        assert_eq!(part(60, "node1", "a"), part(60, "node1", "a"));
        assert_eq!(part(0, "node1", "a"), Duration::ZERO);
        for other in [part(60, "node2", "a"), part(60, "node1", "b")] {
            assert_ne!(other, part(60, "node1", "a"));
        }
    }

    /// 1000 even draws leave a tenth of the time with 100 ± 9.5: 60 and 140 are four times that away.
    #[test]
    fn a_fleet_is_spread_over_the_time() {
        let mut tenths = [0; 10];
        for host in 0..1000 {
            let waits = part(100, &format!("node{host}"), "");
            assert!(waits < Duration::from_secs(100));
            tenths[(waits.as_secs_f64() / 10.0) as usize] += 1;
        }
        assert!(tenths.iter().all(|&hosts| (60..=140).contains(&hosts)), "{tenths:?}");
    }
}
