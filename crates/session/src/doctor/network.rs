//! Network interfaces: their interrupts run on the CPUs that are measured (document 002 found its figures sensitive to
//! them).

use super::Finding;
use super::system::System;

const MATTERS: &str =
    "each packet interrupts a CPU for some us: this raises max, batch_p99, and most of all real-time figures";
/// Interfaces that are named.
const MOST_NAMED: usize = 6;

pub(super) fn check(system: &System) -> Finding {
    let Ok(names) = system.names("/sys/class/net") else {
        return Finding::unknown("/sys/class/net cannot be read", MATTERS);
    };
    let state = |name: &String| system.line(&format!("/sys/class/net/{name}/operstate")).ok();
    let states: Vec<(String, Option<String>)> = names
        .into_iter()
        // The loopback device has no interrupt.
        .filter(|name| name != "lo" && system.has(&format!("/sys/class/net/{name}/operstate")))
        .map(|name| (name.clone(), state(&name)))
        .collect();
    if let Some((name, _)) = states.iter().find(|(_, state)| state.is_none()) {
        return Finding::unknown(format!("the state of {name} cannot be read"), MATTERS);
    }
    // "unknown" is what a driver says that does not watch its link: it may carry packets.
    let up: Vec<&str> = states
        .iter()
        .filter(|(_, state)| matches!(state.as_deref(), Some("up" | "unknown")))
        .map(|(name, _)| name.as_str())
        .collect();
    let mut named = up.iter().take(MOST_NAMED).copied().collect::<Vec<_>>().join(", ");
    if up.len() > MOST_NAMED {
        named += ", ...";
    }
    Finding::fine(match up.len() {
        0 => "no interface is up".to_owned(),
        1 => format!("1 interface is up: {named}"),
        count => format!("{count} interfaces are up: {named}"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::system::recorded::*;
    use super::check;

    #[test]
    fn interfaces_that_are_up_are_counted_without_loopback() {
        let recorded = Recorded::new(&[
            ("sys/class/net/lo/operstate", "unknown\n"),
            ("sys/class/net/eth0/operstate", "up\n"),
            ("sys/class/net/e\u{1b}1/operstate", "unknown\n"),
            ("sys/class/net/eth2/operstate", "down\n"),
            ("sys/class/net/bonding_masters", "\n"),
        ]);
        check(&recorded.system).is(Fine, "2 interfaces are up: e\u{1b}1, eth0");
        let none = Recorded::new(&[("sys/class/net/lo/operstate", "unknown\n")]);
        assert_eq!(check(&none.system).says, "no interface is up");
    }

    #[test]
    fn an_interface_that_does_not_say_is_unknown() {
        let recorded = Recorded::new(&[("sys/class/net/eth0/operstate/x", "")]);
        assert_eq!(check(&recorded.system).state, Unknown);
    }
}
