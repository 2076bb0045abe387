//! What audits of invented operations count, and how often these are made.

use super::*;
use crate::benchmark::card::{Bound, Claim};
use crate::benchmark::{Participant, PostCondition};

/// Iterations of 25 ms until the slow ones are used up, perhaps with a partner.
struct Slow {
    slow: u64,
    partner: bool,
    batches: Vec<u64>,
}

impl Batched for Slow {
    fn batch(&mut self, iterations: u64) -> Outcome {
        std::thread::sleep(std::time::Duration::from_millis(25 * self.slow.min(iterations)));
        self.slow = self.slow.saturating_sub(iterations);
        self.batches.push(iterations);
        Ok(())
    }

    fn participants(&self) -> Vec<Participant> {
        self.partner.then(|| Participant::Process(std::process::id() as i32)).into_iter().collect()
    }
}

#[test]
fn a_slow_operation_is_counted_less_often_and_one_with_a_partner_is_not() {
    for (partner, iterations) in [(false, 20..=20), (true, 200..=200)] {
        let mut slow = Slow { slow: 1, partner, batches: Vec::new() };
        batches(&mut slow, 1, (100, 100)).unwrap();
        let counted = slow.batches[slow.batches.len() - 1];
        assert!(iterations.contains(&counted), "{partner}: {:?}", slow.batches);
    }
    // Operations of two an iteration: a first one, as many once and early, the way to the last ones, and these.
    let mut quick = Slow { slow: 0, partner: true, batches: Vec::new() };
    let Phases::Batched(made, _) = batches(&mut quick, 2, (1_000, LATE_OPERATIONS)).unwrap() else {
        panic!()
    };
    assert_eq!(quick.batches, [1, 1000, 1000, 1000, 1000, 1000, 1000]);
    assert_eq!(made.map(|made| made.operations), [2_000; 2]);
}

#[test]
fn a_series_is_launched_twice_as_long_the_second_time() {
    struct Notes(Vec<(Option<u64>, u64)>);
    impl Series for Notes {
        fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn crate::benchmark::Sink) -> Outcome {
            self.0.push((plan.observations, plan.duration_ns));
            sink.operations(self.0.len() as u64);
            Ok(())
        }
    }
    let mut notes = Notes(Vec::new());
    let Phases::Series(made) = launches(&mut notes, 50).unwrap() else { panic!() };
    assert_eq!(notes.0, [50, 50, 100].map(|count| (Some(count), 2_000_000_000)));
    assert_eq!(made.map(|made| made.operations), [2, 3], "the first one is not counted");
}

#[test]
fn calls_on_one_cpu_come_in_turn_and_on_several_each_has_its_own() {
    let calls = |count| counting::Calls::from([(1, count), (2, 1)]);
    let participants = BTreeMap::from([(7, calls(1)), (8, calls(4))]);
    assert_eq!(in_turn(&participants, Placement::SameCpu), 7);
    assert_eq!(in_turn(&participants, Placement::CrossCpu), 5);
    assert_eq!(in_turn(&BTreeMap::new(), Placement::CrossCpu), 0);
}

#[test]
fn of_what_says_that_it_cannot_be_counted_nothing_is_held_against_a_claim() {
    let stated = || vec![claims::stated(&Claim::SystemCalls(Bound::Exactly(1.0)))];
    let even = |name| vec![claims::after_operations(&PostCondition::exactly(name, 2.0, 2.0))];
    let made = |operations| Made { operations, found: even("early"), ..Made::default() };
    let longer = || Made { found: even("late"), ..made(200) };
    let counts = counting::CallCounts::default();
    let audited =
        |shorter| told("a method", Phases::Series([shorter, longer()]), &counts, stated(), Placement::OneCpu);
    let counted = audited(made(100));
    assert_eq!((counted.missing, counted.claims[0].holds), (None, Some(false)), "no call in 100 operations");
    assert_eq!(counted.claims.len(), 3, "with what was found after both");
    let batched = Phases::Batched([made(1), made(1)], even("after"));
    assert_eq!(told("a method", batched, &counts, stated(), Placement::OneCpu).claims.len(), 2);
    assert!(audited(made(200)).missing.is_some_and(|why| why.contains("as many operations for 2N")));
    let lagged = audited(Made { uncountable: Some("they lagged".to_owned()), ..made(100) });
    assert_eq!((lagged.missing.as_deref(), lagged.claims[0].holds), (Some("they lagged"), None));
}

#[test]
fn no_operation_makes_less_than_no_calls() {
    let calls = |calls: &[(i64, u64)]| calls.iter().copied().collect::<counting::Calls>();
    let counted = more(&calls(&[(0, 50), (1, 100)]), &calls(&[(0, 40), (1, 200), (2, 3)]));
    assert_eq!(counted, calls(&[(1, 100), (2, 3)]));
}

#[test]
fn calls_have_names_and_what_is_no_call_is_invalid() {
    let calls = counting::Calls::from([(-1, 1), (oscost_sys::system_call::INVALID, 3), (99_999, 2)]);
    let rates = rates(&calls, 2.0);
    let told: Vec<(&str, f64)> = rates.iter().map(|(name, rate)| (name.as_str(), *rate)).collect();
    assert_eq!(told, [("invalid", 2.0), ("number 99999", 1.0)]);
}

/// 50 iterations of 25 ms are no way to the hundredth operation: 4 ms are.
#[test]
fn the_way_to_late_operations_has_its_time() {
    let mut slow = Slow { slow: u64::MAX, partner: true, batches: Vec::new() };
    batches(&mut slow, 2, (1, 100)).unwrap();
    assert!(slow.batches.len() <= 5, "{:?}", slow.batches);
}

#[test]
fn what_a_series_counted_more_in_the_longer_launch_is_claimed_of_its_operations() {
    let made = |operations, counted: &[(&str, u64)]| {
        let counted = counted.iter().map(|&(name, calls)| (name.to_owned(), calls)).collect();
        Made { operations, counted, ..Made::default() }
    };
    let phases = Phases::Series([made(100, &[("read", 70)]), made(200, &[("read", 370), ("write", 50)])]);
    let audited = told("a method", phases, &counting::CallCounts::default(), Vec::new(), Placement::OneCpu);
    let claims = [claims::own_count("read", 3.0), claims::own_count("write", 0.5)];
    let expected =
        |claims: &[CheckedClaim]| claims.iter().map(|it| (it.claim.clone(), it.expected)).collect::<Vec<_>>();
    assert_eq!(expected(&audited.claims), expected(&claims));
    assert_eq!((audited.missing, audited.calls_in_turn), (None, None));
    let one_more = Phases::Series([made(100, &[]), made(101, &[])]);
    let counts = counting::CallCounts::default();
    assert_eq!(told("a method", one_more, &counts, Vec::new(), Placement::OneCpu).missing, None);
}

/// An iteration holds as many operations as its card says.
#[test]
fn operations_are_those_of_the_card() {
    struct Noted(std::rc::Rc<std::cell::RefCell<Vec<u64>>>);
    impl Batched for Noted {
        fn batch(&mut self, iterations: u64) -> Outcome {
            self.0.borrow_mut().push(iterations);
            Ok(())
        }
        fn participants(&self) -> Vec<Participant> {
            vec![Participant::Process(1)]
        }
    }
    let noted = std::rc::Rc::default();
    let card =
        crate::benchmark::card::Card { operations_per_iteration: 4, ..crate::benchmark::card::Card::BATCHED };
    let benchmark = crate::figures::synthetic::choice(card).benchmark;
    let mut set_up = || {
        let subject = Subject::batched(Noted(std::rc::Rc::clone(&noted)));
        Member::Done(Ready { benchmark, subject })
    };
    let Member::Done(Phases::Batched(made, _)) = bracketed(&mut set_up, (100, 1)) else { panic!("batches") };
    assert_eq!((made.map(|it| it.operations), noted.take()), ([200; 2], vec![1, 50, 50, 50]));
}
