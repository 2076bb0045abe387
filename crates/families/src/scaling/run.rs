//! One launch of an operation by several: its workers are made, conducted, and their counts become quantities.

use std::sync::{Mutex, PoisonError};

use oscost_harness::{
    Batched, Benchmark, CallError, Card, Keeper, Outcome, PostCondition, Series, SeriesPlan, SetUp, Sharing,
    Sink, Subject, Unable, quantity,
};
use oscost_stats::fairness::jain_index;
use oscost_stats::quantile::{median, sorted};
use oscost_sys::affinity;
use oscost_sys::folder::Folder;
use oscost_sys::memory::SharedWords;
use oscost_sys::process::Child;

use super::conductor::{Conductor, PATIENCE_NS, Round};
use super::worker::{Shared, failed, left, word, work};
use super::{Crowd, Objects, Workers, batched, card, misfit, unsupported};
use crate::made;

/// A benchmark of one operation by one crowd.
pub struct Scaled {
    card: &'static Card,
    inner: &'static dyn Benchmark,
    crowd: Crowd,
}

impl Scaled {
    /// The operation `inner` by this crowd, whether it fits or not.
    pub fn new(inner: &'static dyn Benchmark, crowd: Crowd) -> Self {
        Self { card: made::card(card(inner, crowd)), inner, crowd }
    }
}

impl Benchmark for Scaled {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        if let Some(why) = misfit(self.inner, self.crowd) {
            return Err(unsupported(why));
        }
        // Whoever lacks something learns it here, from one; what all share stays.
        let one = batched(self.inner, cx)?;
        let is_inherited =
            self.crowd.objects == Objects::Shared && matches!(self.inner.sharing(), Sharing::Inherited(_));
        let makes = Makes {
            inner: self.inner,
            cpus: cx.cpus.to_vec(),
            limits: cx.host_system_v_limits,
            keeper: Mutex::new(cx.keeper.another()?),
            directory: cx.directory.map(Folder::again).transpose()?,
        };
        let shared = Some(one).filter(|_| is_inherited);
        Ok(Subject::Series(Box::new(Team { makes, crowd: self.crowd, shared, phase: None })))
    }
}

/// What a worker is made with.
struct Makes {
    inner: &'static dyn Benchmark,
    cpus: Vec<usize>,
    limits: Option<[u64; 4]>,
    keeper: Mutex<Keeper>,
    directory: Option<Folder>,
}

impl Makes {
    fn cpu(&self, worker: usize) -> usize {
        self.cpus.get(worker % self.cpus.len().max(1)).copied().unwrap_or(0)
    }

    /// Sets up, pins and works, as one of the crowd.
    fn live(&self, shared: &Shared<'_>, worker: usize) -> Outcome {
        let cpu = self.cpu(worker);
        affinity::pin_to(cpu)?;
        let mut own = {
            // One at a time: some set-ups look at the whole process.
            let mut keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
            let mut cx = SetUp {
                cpu,
                partner_cpu: cpu,
                cpus: &[cpu],
                host_system_v_limits: self.limits,
                keeper: &mut keeper,
                directory: self.directory.as_ref(),
            };
            batched(self.inner, &mut cx).map_err(|unable| match unable {
                Unable::Failed(error) => error,
                Unable::Unsupported { .. } => CallError::told("setting up a worker, as one alone could be"),
            })?
        };
        work(&mut *own, shared, worker)
    }
}

struct Team {
    makes: Makes,
    crowd: Crowd,
    /// What all share, where they do.
    shared: Option<Box<dyn Batched>>,
    /// The phase of an audit that counts.
    phase: Option<usize>,
}

impl Series for Team {
    fn brackets(&mut self, phase: usize) -> bool {
        self.phase = Some(phase);
        true
    }

    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        let workers = self.crowd.workers as usize;
        let words = SharedWords::new(word::WORKERS + workers * left::WORDS)?;
        let shared = Shared { words: &words };
        let rounds = match self.crowd.of {
            Workers::Processes => self.processes(&shared, plan)?,
            Workers::Threads => self.threads(&shared, plan)?,
        };
        let per_iteration = self.makes.inner.card().operations_per_iteration.max(1);
        match rounds {
            Conducted::Counted(iterations) => sink.operations(iterations * per_iteration),
            Conducted::Timed(rounds) => {
                let cpus = self.makes.cpus.len().max(1);
                if workers > cpus {
                    sink.say(format!("{workers} {} share {cpus} CPUs", self.crowd.of.name()));
                }
                sink.quantity(quantity::WORKERS_PER_CPU, workers as f64 / cpus as f64);
                tell(&rounds, per_iteration as f64, sink)?;
            }
        }
        let broken = |worker| shared.left(worker, left::BROKEN).load(std::sync::atomic::Ordering::Acquire);
        let broken = (0..workers).map(broken).sum::<u64>();
        sink.post_condition(PostCondition::exactly("conditions_broken_by_workers", 0.0, broken as f64));
        if let Some(all) = &mut self.shared {
            // What the workers did to it, they did in their own copies of what this process knows of it.
            all.arm()?;
            all.batch(1)?;
            all.park()?;
            all.verify()?.into_iter().for_each(|found| sink.post_condition(found));
        }
        Ok(())
    }
}

/// What came of a launch.
enum Conducted {
    /// An audit: so many iterations of all workers.
    Counted(u64),
    Timed(Vec<Round>),
}

impl Team {
    fn conduct(
        &self,
        shared: &Shared<'_>,
        plan: &SeriesPlan,
        alive: &mut dyn FnMut() -> bool,
    ) -> Result<Conducted, CallError> {
        let workers = self.crowd.workers as usize;
        let least_iterations = self.makes.inner.card().least_iterations();
        let cpus = self.makes.cpus.len().max(1);
        let mut conductor = Conductor { shared, workers, cpus, least_iterations, alive };
        conductor.ready()?;
        let conducted = match plan.observations {
            Some(observations) => Conducted::Counted(
                conductor.counted(observations, self.phase)? * u64::from(self.crowd.workers),
            ),
            None => Conducted::Timed(conductor.timed(plan.seed)?),
        };
        // What all share is looked at by one, who made it.
        if self.shared.is_none() {
            conductor.verify()?;
        }
        Ok(conducted)
    }

    fn processes(&mut self, shared: &Shared<'_>, plan: &SeriesPlan) -> Result<Conducted, CallError> {
        let mut children = Vec::with_capacity(self.crowd.workers as usize);
        for worker in 0..self.crowd.workers as usize {
            let (makes, inherited) = (&self.makes, &mut self.shared);
            let child = Child::fork(|| {
                let outcome = match inherited {
                    Some(all) => {
                        affinity::pin_to(makes.cpu(worker)).and_then(|()| work(&mut **all, shared, worker))
                    }
                    None => makes.live(shared, worker),
                };
                outcome.map_or_else(|error| failed(shared, worker, error), |()| 0)
            });
            // The limit counts all processes of the user, not only these.
            children.push(child.map_err(|error| match error.symbol() {
                Some("EAGAIN") => CallError::new("fork, of which RLIMIT_NPROC allows no more,", error.errno),
                _ => error,
            })?);
        }
        let conducted = self.conduct(shared, plan, &mut || !children.iter().any(Child::has_ended))?;
        shared.dismiss()?;
        for child in children {
            child.wait_at_most(PATIENCE_NS).map_err(|_| CallError::no_answer("the end of a worker"))?;
        }
        Ok(conducted)
    }

    fn threads(&self, shared: &Shared<'_>, plan: &SeriesPlan) -> Result<Conducted, CallError> {
        let makes = &self.makes;
        std::thread::scope(|scope| {
            let mut started = Ok(());
            for worker in 0..self.crowd.workers as usize {
                let thread = std::thread::Builder::new().spawn_scoped(scope, move || {
                    makes.live(shared, worker).map_or_else(|error| failed(shared, worker, error), |()| 0)
                });
                if let Err(error) = thread {
                    let errno = error.raw_os_error().unwrap_or(0);
                    started = Err(CallError::new("clone, of which RLIMIT_NPROC allows no more,", errno));
                    break;
                }
            }
            let conducted = started.and_then(|()| self.conduct(shared, plan, &mut || true));
            // Those that wait for orders must not wait for ever.
            shared.dismiss()?;
            conducted
        })
    }
}

/// Puts rounds into quantities: rates are iterations a ns.
fn tell(rounds: &[Round], per_iteration: f64, sink: &mut dyn Sink) -> Outcome {
    let middle = |of: &dyn Fn(&Round) -> f64| median(&sorted(rounds.iter().map(of).collect())).unwrap_or(0.0);
    let together = middle(&Round::together);
    let alone = middle(&|round| round.alone);
    if rounds.iter().any(|round| round.alone <= 0.0 || round.together() <= 0.0) {
        return Err(CallError::told("counting operations within a window, of which none ended there"));
    }
    let made: u64 = rounds.iter().flat_map(|round| &round.made).sum();
    sink.operations((made as f64 * per_iteration) as u64);
    sink.quantity(quantity::TIME_PER_OPERATION, 1.0 / (together * per_iteration));
    sink.quantity(quantity::ALONE, 1.0 / (alone * per_iteration));
    sink.quantity(quantity::EFFICIENCY, middle(&Round::efficiency));
    let workers = rounds.first().map_or(0, |round| round.rates.len());
    let of_all: Vec<f64> =
        (0..workers).map(|worker| rounds.iter().map(|round| round.rates[worker]).sum()).collect();
    if let Some(fairness) = jain_index(&of_all) {
        sink.quantity(quantity::FAIRNESS, fairness);
    }
    let each = rounds.iter().flat_map(|round| &round.rates).filter(|&&rate| rate > 0.0);
    each.for_each(|rate| sink.observation(1.0 / (rate * per_iteration)));
    let worked = of_all.iter().filter(|&&rate| rate > 0.0).count();
    sink.post_condition(PostCondition::exactly("workers_that_worked", workers as f64, worked as f64));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::Seen;

    fn round(alone: f64, rates: &[f64]) -> Round {
        Round { alone, rates: rates.to_vec(), made: rates.iter().map(|rate| (rate * 1e4) as u64).collect() }
    }

    #[test]
    fn who_hinders_nobody_is_efficient_and_who_takes_turns_is_not() {
        let mut free = Seen::default();
        tell(&[round(0.1, &[0.1; 4]), round(0.2, &[0.2; 4]), round(0.1, &[0.1; 4])], 2.0, &mut free)
            .expect("rates");
        // Two operations an iteration: 4 workers make 0.8 operations a ns together, one 0.2.
        assert_eq!(
            (free.quantities[quantity::TIME_PER_OPERATION], free.quantities[quantity::ALONE]),
            (1.25, 5.0)
        );
        assert_eq!((free.quantities[quantity::EFFICIENCY], free.quantities[quantity::FAIRNESS]), (1.0, 1.0));
        assert!(free.conditions.iter().all(PostCondition::holds));
        let mut serial = Seen::default();
        tell(&[round(0.1, &[0.025; 4])], 1.0, &mut serial).expect("rates");
        assert_eq!(serial.quantities[quantity::EFFICIENCY], 0.25);
        assert_eq!((serial.quantities[quantity::TIME_PER_OPERATION], serial.operations), (10.0, 1000));
    }

    #[test]
    fn a_worker_that_never_worked_is_found() {
        let mut told = Seen::default();
        tell(&[round(0.1, &[0.2, 0.0])], 1.0, &mut told).expect("rates");
        assert!(told.is_broken("workers_that_worked"));
        assert_eq!(told.quantities[quantity::FAIRNESS], 0.5);
        assert!(tell(&[round(0.0, &[0.2])], 1.0, &mut told).is_err(), "one alone made nothing");
    }
}
