//! A sleeper on another CPU: from the store and the futex call that wake it to its first reading of the clock.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use oscost_harness::{
    Bound, CallError, Card, Claim, Need, Outcome, Participant, Placement, PostCondition, QuantityCard,
    Series, SeriesPlan, SetUp, Sink, Subject, Unable, quantity,
};
use oscost_stats::quantile::{quantile, sorted};
use oscost_sys::memory::SharedWords;
use oscost_sys::process::Child;
use oscost_sys::{affinity, clock, futex, usage, vdso};

use crate::row::{Row, row};
use crate::timer::SETTLING_NS;
use crate::{claims, lack, partner};

pub(super) const CARD: Card = Card {
    id: "cpu_pair/wake_up/cross_cpu",
    revision: 2,
    title: "wake-up on another CPU",
    operation: "one FUTEX_WAKE for a process that sleeps on another CPU, until it reads the clock there",
    blocks: true,
    placement: Placement::CrossCpu,
    group: "cpu_pair/wake_up/cross_cpu",
    launch_ms: SETTLING_NS / 1_000_000,
    // One call that wakes, one that sleeps.
    claims: &[Claim::CallsNamed(&["futex"], claims::shared(2.0)), claims::NO_OTHER_CALLS],
    needs: &[Need::Cpus(2)],
    launches: Some(10),
    quantities: &[
        QuantityCard::of(quantity::LATENCY_P50),
        QuantityCard::of(quantity::LATENCY_P99),
        QuantityCard::of(quantity::CALL_P50),
    ],
    remark: "a CPU that idles longer may sleep deeper and wake later",
    ..Card::SERIES
};

/// The words: whose turn it is, the turn whose sleep begins, the turn that was woken for, when, on which CPU, and the turn whose
/// FUTEX_WAKE has come back.
const TURN: usize = 0;
const READY: usize = 1;
const ANSWER: usize = 2;
const WOKEN_AT: usize = 3;
const PLACE: usize = 4;
const CALLED: usize = 5;
/// So long the sleeper has to fall asleep at first, ns: a switch to the idle task takes a tenth of it.
const PAUSE_NS: u64 = 50_000;
/// And at last.
const LONGEST_PAUSE_NS: u64 = 2_000_000;
/// So many sleepers in succession show that the pause is long enough.
const ASLEEP: u32 = 50;
/// The sleeper does not answer for so long, and something is wrong: no busy machine keeps it from its CPU as long.
const PATIENCE_NS: u64 = 5_000_000_000;
/// Wake-ups of a launch at least, so that its 99th percentile is one.
const FEWEST: u64 = 100;

/// So large a share of the sleepers may be awake, or wake without having slept: docs/method/families.md: what that does to the
/// median.
const MOST_AWAKE: f64 = 0.1;

/// How the sleeper waits while a word has a value.
type Wait = fn(&AtomicU64, u32) -> Result<bool, CallError>;

/// Wake-ups between the CPUs of the card.
pub(super) const fn wake_ups(card: &'static Card) -> Row {
    row(card, |cx| Sleeper::start(cx, futex::wait).map(Subject::series)).claims(|card| {
        // Where reading the clock is a system call, each look at it is one.
        let known = if vdso::answers_clocks() == Some(true) { 2 } else { 1 };
        Cow::Borrowed(&card.claims[..known])
    })
}

/// The one that wakes, and the process that it wakes.
struct Sleeper {
    words: Arc<SharedWords>,
    partner: Child,
    turn: u64,
    /// So long the sleeper has to fall asleep.
    pause_ns: u64,
}

impl Sleeper {
    fn start(cx: &SetUp<'_>, wait: Wait) -> Result<Self, Unable> {
        if cx.partner_cpu == cx.cpu {
            return Err(lack::of_cpus(2, 1));
        }
        let words = Arc::new(SharedWords::new(6)?);
        let shared = Arc::clone(&words);
        let partner = partner::start(cx, true, move || {
            let tell = |word: usize, value: u64| shared.word(word).store(value, Ordering::Release);
            tell(PLACE, affinity::current().map_or(0, |cpu| cpu as u64 + 1));
            let mut turn = 0_u64;
            loop {
                tell(READY, turn + 1);
                // Without a look first: whoever is late is told so by the kernel.
                loop {
                    wait(shared.word(TURN), turn as u32)?;
                    if shared.word(TURN).load(Ordering::Acquire) != turn {
                        break;
                    }
                }
                tell(WOKEN_AT, clock::now_ns());
                turn += 1;
                tell(ANSWER, turn);
                // Else the call for this turn could come late, and wake from the next sleep for nothing.
                while shared.word(CALLED).load(Ordering::Acquire) != turn {
                    std::hint::spin_loop();
                }
            }
        })?;
        let mut sleeper = Self { words, partner, turn: 0, pause_ns: PAUSE_NS };
        sleeper.find_pause()?;
        Ok(sleeper)
    }

    /// Wakes until sleepers are asleep when they are woken: the pause grows.
    fn find_pause(&mut self) -> Outcome {
        let mut asleep = 0;
        while asleep < ASLEEP && self.pause_ns < LONGEST_PAUSE_NS {
            if self.wake()?.2 {
                asleep += 1;
            } else {
                asleep = 0;
                self.pause_longer();
            }
        }
        Ok(())
    }

    fn pause_longer(&mut self) {
        self.pause_ns = (2 * self.pause_ns).min(LONGEST_PAUSE_NS);
    }

    fn word(&self, word: usize) -> u64 {
        self.words.word(word).load(Ordering::Acquire)
    }

    /// Waits until the sleeper has got so far.
    fn until(&self, word: usize, turn: u64) -> Outcome {
        let end = clock::now_ns() + PATIENCE_NS;
        while self.word(word) != turn {
            if clock::now_ns() > end {
                return Err(CallError::no_answer("a sleeper on another CPU"));
            }
            std::hint::spin_loop();
        }
        Ok(())
    }

    /// One wake-up: its latency, what the call took, ns, and whether somebody slept.
    fn wake(&mut self) -> Result<(f64, f64, bool), CallError> {
        self.until(READY, self.turn + 1)?;
        let asleep_at = clock::now_ns() + self.pause_ns;
        while clock::now_ns() < asleep_at {
            std::hint::spin_loop();
        }
        self.turn += 1;
        let start = clock::now_ns();
        self.words.word(TURN).store(self.turn, Ordering::Release);
        let woken = futex::wake(self.words.word(TURN), 1)?;
        let call = clock::now_ns() - start;
        self.words.word(CALLED).store(self.turn, Ordering::Release);
        self.until(ANSWER, self.turn)?;
        Ok((self.word(WOKEN_AT).saturating_sub(start) as f64, call as f64, woken == 1))
    }

    /// How often the sleeper has given its CPU away, as the kernel counts it.
    fn sleeps(&self) -> Option<u64> {
        let pid = self.partner.pid();
        usage::of(pid, pid).map(|seen| seen.usage.voluntary_switches)
    }
}

impl Series for Sleeper {
    fn settle(&mut self) -> Outcome {
        let until = clock::now_ns() + SETTLING_NS;
        while clock::now_ns() < until {
            self.wake()?;
        }
        Ok(())
    }

    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        let until = clock::now_ns() + plan.duration_ns;
        let before = self.sleeps();
        let (mut made, mut awake, mut latencies, mut calls) = (0_u64, 0_u32, Vec::new(), Vec::new());
        while plan.observations.map_or(made < FEWEST || clock::now_ns() < until, |count| made < count) {
            let (latency, call, slept) = self.wake()?;
            calls.push(call);
            made += 1;
            awake += u32::from(!slept);
            latencies.push(latency);
            // Whoever counts calls from outside makes each of them take longer. All sleeps that are timed are alike.
            if !slept && plan.observations.is_some() {
                self.pause_longer();
            }
        }
        // After its last answer it goes to sleep once more.
        self.until(READY, self.turn + 1)?;
        latencies.iter().for_each(|&ns| sink.observation(ns));
        sink.operations(made);
        let latencies = sorted(latencies);
        let of = |share| quantile(&latencies, share).unwrap_or(0.0);
        sink.quantity(quantity::LATENCY_P50, of(0.5));
        sink.quantity(quantity::LATENCY_P99, of(0.99));
        sink.quantity(quantity::CALL_P50, quantile(&sorted(calls), 0.5).unwrap_or(0.0));
        // The median is that of sleepers that were woken, even where others had the sleeper's CPU now and then.
        let share = f64::from(awake) / made as f64;
        sink.post_condition(PostCondition::new("found_awake", Bound::AtMost(MOST_AWAKE), share));
        if let Some((before, after)) = before.zip(self.sleeps()) {
            let (least, slept) = (Bound::AtLeast(1.0 - MOST_AWAKE), (after - before) as f64 / made as f64);
            sink.post_condition(PostCondition::new("sleeps_a_wake_up", least, slept));
        }
        let own = affinity::current().map_or(0, |cpu| cpu as u64 + 1);
        sink.post_condition(PostCondition::is("on_another_cpu", true, self.word(PLACE) != own));
        sink.say(format!("the sleeper slept for about {} us", self.pause_ns / 1000));
        Ok(())
    }

    fn participants(&self) -> Vec<Participant> {
        vec![Participant::Process(self.partner.pid())]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use super::*;
    use crate::seen::{Seen, with_set_up};

    /// A sleeper that waits like this. `None` on one CPU.
    fn started(wait: Wait) -> Option<Sleeper> {
        let [cpu, partner_cpu, ..] = affinity::allowed().expect("CPUs")[..] else {
            println!("SKIP started: one CPU");
            return None;
        };
        let started = with_set_up(&[cpu, partner_cpu], |cx| Sleeper::start(cx, wait));
        Some(started.expect("a partner"))
    }

    /// What is found of it.
    fn found(wait: Wait) -> Option<Seen> {
        let (mut sleeper, mut found) = (started(wait)?, Seen::default());
        let plan = SeriesPlan { observations: Some(200), duration_ns: 1_000_000_000, seed: 1 };
        sleeper.launch(&plan, &mut found).expect("nothing fails");
        Some(found)
    }

    /// From the hundredth turn on it is awake. The set-up has found a pause by then, or the longest one.
    #[test]
    fn a_timed_launch_keeps_its_pause_and_says_it() {
        let soon_awake = |word: &AtomicU64, turn: u32| {
            if turn < 100 {
                return futex::wait(word, turn);
            }
            while word.load(Ordering::Acquire) as u32 == turn {
                std::hint::spin_loop();
            }
            Ok(false)
        };
        let Some(mut sleeper) = started(soon_awake) else { return };
        let (pause_ns, mut found) = (sleeper.pause_ns, Seen::default());
        let mut launch = |sleeper: &mut Sleeper, observations| {
            let plan = SeriesPlan { observations, duration_ns: 1, seed: 1 };
            sleeper.launch(&plan, &mut found).expect("nothing fails");
            sleeper.pause_ns
        };
        assert_eq!(launch(&mut sleeper, None), pause_ns, "a hundred wake-ups, most in vain");
        assert_eq!(launch(&mut sleeper, Some(100)), LONGEST_PAUSE_NS, "an audit slows its sleeper");
        assert_eq!(found.said[0], format!("the sleeper slept for about {} us", pause_ns / 1000));
    }

    /// Those awake answer sooner. With a share `a` of them, the median of all is the sleepers' quantile (0.5 - a) / (1 - a). It must
    /// lie among the ranks between which the median of so few wake-ups lies anyway, 95 % of the time.
    #[test]
    fn few_awake_move_the_median_less_than_chance_does() {
        let rank = (0.5 - MOST_AWAKE) / (1.0 - MOST_AWAKE);
        let chance = 1.96 * (0.25 / FEWEST as f64).sqrt();
        assert!(0.5 - rank < chance, "{rank} {chance}");
        assert!((0.5 - rank - 0.0556).abs() < 1e-3 && (chance - 0.098).abs() < 1e-3);
    }

    /// Every other time the sleeper is awake, and soon in its next sleep: the call that was meant for the one before must not end it.
    #[test]
    fn a_late_call_wakes_nobody_from_the_next_sleep() {
        static VAIN: OnceLock<SharedWords> = OnceLock::new();
        let vain = VAIN.get_or_init(|| SharedWords::new(1).expect("memory"));
        let every_other = |word: &AtomicU64, turn: u32| {
            let is_due = || word.load(Ordering::Acquire) as u32 != turn;
            if turn % 2 == 1 {
                while !is_due() {
                    std::hint::spin_loop();
                }
                return Ok(false);
            }
            let slept = futex::wait(word, turn)?;
            if slept && !is_due() {
                VAIN.get().expect("it was made").word(0).fetch_add(1, Ordering::Relaxed);
            }
            Ok(slept)
        };
        if found(every_other).is_some() {
            assert_eq!(vain.word(0).load(Ordering::Relaxed), 0, "sleeps that ended for nothing");
        }
    }

    #[test]
    fn a_sleeper_that_spins_is_contradicted() {
        let Some(spins) = found(|_, _| Ok(true)) else { return };
        assert!(spins.is_broken("found_awake") && spins.is_broken("sleeps_a_wake_up"), "{spins:?}");
        let honest = found(futex::wait).expect("two CPUs");
        let slept = honest.conditions.iter().find(|it| it.name == "sleeps_a_wake_up").expect("it is counted");
        assert!(slept.holds(), "{honest:?}");
    }
}
