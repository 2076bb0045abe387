//! Where a job is measured: the CPU of the measuring thread and that of a partner, and whether idle CPUs are kept awake.

use oscost_sys::affinity;

use super::{Worker, environment};
use crate::benchmark::card::Placement;
use crate::benchmark::{Benchmark, Participant};
use crate::protocol::message::{Failure, IdleCpu};

impl Worker<'_> {
    /// Puts the measuring thread where the group's placement wants it, and says where that is. A foreign program places itself.
    pub(super) fn place(&self, members: &[Option<&'static dyn Benchmark>]) -> Result<&[usize], Failure> {
        let placement = members.iter().flatten().next().map(|member| member.card().placement);
        let cpus = match placement {
            Some(Placement::Unpinned) => &self.job.cpus,
            _ => self.job.cpus.get(..1).unwrap_or_default(),
        };
        if placement == Some(Placement::CrossCpu) {
            self.job.cpus.get(1).map_or(Ok(()), |&cpu| may_be_used(cpu))?;
        }
        if cpus.is_empty() && placement != Some(Placement::Unpinned) {
            return Ok(&[]);
        }
        affinity::pin_to_all(cpus).map(|()| cpus).map_err(|error| {
            let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
            Failure::new("environment", format!("CPU {} cannot be used: {error}", cpus.join(",")))
        })
    }

    /// The CPU that partners of a benchmark are put on: another one where it is to be, else that of the measuring thread.
    pub(super) fn cpu_of_partners(&self, benchmark: &dyn Benchmark) -> usize {
        let other = usize::from(benchmark.card().placement == Placement::CrossCpu);
        let cpus = &self.job.cpus;
        cpus.get(other).or(cpus.first()).copied().unwrap_or(0)
    }

    /// Looks where these partners are at the end: one that was moved before its launch began voids it, and no count shows that.
    pub(super) fn look_for(&mut self, partners: &[Participant], benchmark: &dyn Benchmark) {
        if !matches!(benchmark.card().placement, Placement::SameCpu | Placement::CrossCpu) {
            return;
        }
        let put = [self.cpu_of_partners(benchmark)];
        for partner in partners {
            // Of one that is gone its calls tell.
            match affinity::of_process(partner.id()) {
                Ok(now) if now != put => {
                    self.displaced = Some(environment::moved("a partner", Some(&put), Some(&now)));
                }
                _ => {}
            }
        }
    }

    /// The CPU that these members wake, if they wake another one.
    pub(crate) fn partner_cpu(&self, members: &[Option<&'static dyn Benchmark>]) -> Option<usize> {
        let wakes = members.iter().flatten().any(|member| member.card().wakes_another_cpu());
        self.job.cpus.get(1).copied().filter(|_| wakes && !self.plain)
    }

    /// Whether idle CPUs are kept awake while these members are timed.
    pub(crate) fn is_to_stay_awake(
        &self,
        members: &[Option<&'static dyn Benchmark>],
        idle_cpu: IdleCpu,
    ) -> bool {
        match idle_cpu {
            _ if members.iter().flatten().any(|member| member.card().keeps_awake) => true,
            IdleCpu::Halt => false,
            IdleCpu::Poll => true,
            IdleCpu::Both => self.partner_cpu(members).is_some(),
        }
    }
}

/// Fails where a CPU that a partner is to run on is gone: the partner would die, and nothing would say why.
fn may_be_used(cpu: usize) -> Result<(), Failure> {
    match affinity::allowed() {
        Ok(allowed) if !allowed.contains(&cpu) => Err(Failure::new(
            "environment",
            format!("CPU {cpu} cannot be used: it is offline, or not allowed"),
        )),
        // Where the kernel does not say, the partner is tried.
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use oscost_sys::memory::SharedWords;

    use super::*;
    use crate::benchmark::card::Card;
    use crate::benchmark::catalogue::Catalogue;
    use crate::figures::synthetic;
    use crate::protocol::message::{Job, Task, TaskFinding};
    use crate::worker::circumstances;

    fn on(cpus: Vec<usize>) -> Job {
        let (ids, task, refused, directory) = (vec!["a".to_owned()], Task::Clock, None, None);
        Job { ids, task, cpus, seed: 7, isolate: false, refused, directory }
    }

    /// One that wakes nobody, and one that wakes a partner on another CPU.
    fn members() -> [&'static dyn Benchmark; 2] {
        let wakes = Card { blocks: true, placement: Placement::CrossCpu, ..Card::BATCHED };
        [Card::BATCHED, wakes].map(|card| synthetic::choice(card).benchmark)
    }

    #[test]
    fn one_member_that_wants_idle_cpus_awake_is_enough() {
        let [plain, wakes] = members();
        let awake = synthetic::choice(Card { keeps_awake: true, ..Card::BATCHED }).benchmark;
        let (words, catalogue) = (SharedWords::new(1).expect("memory"), Catalogue::new(Vec::new()));
        let worker = Worker::new(&catalogue, on(vec![1, 0]), None, &words).expect("a worker");
        let stays = |members: &[Option<&'static dyn Benchmark>], idle| worker.is_to_stay_awake(members, idle);
        assert!(stays(&[Some(plain), Some(awake)], IdleCpu::Halt));
        assert!(!stays(&[Some(plain), None], IdleCpu::Halt) && !stays(&[Some(wakes)], IdleCpu::Halt));
        assert!(stays(&[Some(plain)], IdleCpu::Poll));
        assert!(stays(&[Some(plain), Some(wakes)], IdleCpu::Both) && !stays(&[Some(plain)], IdleCpu::Both));
    }

    #[test]
    fn a_partner_whose_cpu_is_gone_is_named() {
        let (words, catalogue) = (SharedWords::new(1).expect("memory"), Catalogue::new(Vec::new()));
        let own = affinity::allowed().expect("CPUs")[0];
        // No machine has so many.
        let gone = usize::MAX;
        let [plain, wakes] = members();
        let placed = |cpus: Vec<usize>, member: &'static dyn Benchmark| {
            let worker = Worker::new(&catalogue, on(cpus), None, &words).expect("a worker");
            std::thread::scope(|scope| {
                scope
                    .spawn(|| {
                        worker
                            .place(&[Some(member)])
                            .map(<[usize]>::to_vec)
                            .map_err(|failure| failure.to_string())
                    })
                    .join()
                    .expect("it ends")
            })
        };
        assert_eq!(placed(vec![own, gone], plain), Ok(vec![own]), "who has no partner needs one CPU");
        assert_eq!(placed(vec![own, own], wakes), Ok(vec![own]));
        let told = placed(vec![own, gone], wakes).expect_err("its partner cannot run");
        assert!(told.contains(&format!("CPU {gone} cannot be used")), "{told}");
    }

    #[test]
    fn a_partner_that_is_elsewhere_voids_its_launch() {
        let (words, catalogue) = (SharedWords::new(1).expect("memory"), Catalogue::new(Vec::new()));
        let (own, gone) = (affinity::allowed().expect("CPUs")[0], usize::MAX);
        let void = |cpus: [usize; 2], placement, partner| {
            let benchmark = synthetic::choice(Card { blocks: true, placement, ..Card::BATCHED }).benchmark;
            let mut worker = Worker::new(&catalogue, on(cpus.to_vec()), None, &words).expect("a worker");
            worker.look_for(&[partner], benchmark);
            worker.report(TaskFinding::Audit(Vec::new()), &circumstances::read(), None).void
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                affinity::pin_to(own).expect("pinned");
                // This thread is the partner.
                let partner = Participant::Thread(0);
                assert_eq!(void([gone, own], Placement::CrossCpu, partner), None);
                assert_eq!(void([own, gone], Placement::SameCpu, partner), None);
                for (cpus, placement) in
                    [([own, gone], Placement::CrossCpu), ([gone, own], Placement::SameCpu)]
                {
                    let words = format!("the CPUs that a partner may use changed from {gone} to {own}");
                    assert_eq!(void(cpus, placement, partner), Some(words));
                }
                assert_eq!(
                    void([gone, gone], Placement::OneCpu, partner),
                    None,
                    "nobody has put it anywhere"
                );
                assert_eq!(void([gone, gone], Placement::CrossCpu, Participant::Process(i32::MAX)), None);
            });
        });
    }

    #[test]
    fn who_is_not_pinned_has_all_cpus_and_who_needs_none_is_left_where_he_is() {
        let (words, catalogue) = (SharedWords::new(1).expect("memory"), Catalogue::new(Vec::new()));
        let all = affinity::allowed().expect("CPUs");
        let placed = |cpus: &[usize], placement: Option<Placement>| {
            let member =
                placement.map(|placement| synthetic::choice(Card { placement, ..Card::BATCHED }).benchmark);
            let worker = Worker::new(&catalogue, on(cpus.to_vec()), None, &words).expect("a worker");
            std::thread::scope(|scope| {
                let place = || {
                    let put = worker.place(&[member]).map(<[usize]>::to_vec).map_err(|it| it.to_string());
                    (put, affinity::allowed().expect("CPUs"))
                };
                scope.spawn(place).join().expect("it ends")
            })
        };
        let one = vec![all[0]];
        assert_eq!(placed(&all, Some(Placement::Unpinned)), (Ok(all.clone()), all.clone()));
        for placement in [Some(Placement::OneCpu), Some(Placement::SameCpu), Some(Placement::Spread), None] {
            assert_eq!(placed(&all, placement), (Ok(one.clone()), one.clone()), "{placement:?}");
        }
        assert_eq!(placed(&[], None), (Ok(Vec::new()), all.clone()), "a program that is not ours");
        let told = placed(&[], Some(Placement::Unpinned)).0.expect_err("nowhere to run");
        assert!(told.starts_with("environment: CPU  cannot be used"), "{told}");
    }

    #[test]
    fn the_cpu_that_is_woken_is_the_second_one_unless_nobody_is_woken() {
        let [plain, wakes] = members();
        let (words, catalogue) = (SharedWords::new(1).expect("memory"), Catalogue::new(Vec::new()));
        let woken = |cpus: Vec<usize>, member, is_plain| {
            let worker = Worker::new(&catalogue, on(cpus), None, &words).expect("a worker");
            Worker { plain: is_plain, ..worker }.partner_cpu(&[None, Some(member)])
        };
        assert_eq!((woken(vec![3, 1, 2], wakes, false), woken(vec![3, 1, 2], wakes, true)), (Some(1), None));
        assert_eq!((woken(vec![3, 1], plain, false), woken(vec![3], wakes, false)), (None, None));
    }
}
