//! Simulated launches of known truth.

use oscost_stats::interval::{Interval, over_launches_stopped};
use oscost_stats::order::{self, Xoshiro256PlusPlus};

/// Launches that a run which converges makes in any case.
const PLANNED: usize = 10;

/// A source of launches: some distribution, a run of which is a row of launches.
pub struct Simulator(pub Xoshiro256PlusPlus);

impl Simulator {
    pub fn new(stream: u64) -> Self {
        Self(order::seeded(20_261_120, stream))
    }

    /// Evenly from 0 to 1, neither of them.
    pub fn uniform(&mut self) -> f64 {
        (order::below(1 << 52, &mut self.0) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// Standard normal (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// A distribution of launches around a floor of 100.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Distribution {
    /// Independent, lognormal, of this scatter.
    Lognormal(f64),
    /// Independent, of this scatter, and 20 % higher in this share of launches.
    Bimodal(f64, f64),
    /// Independent, never below the floor, with an exponential tail of this length above it: as launch minima are.
    Tailed(f64),
    /// Lognormal of this scatter, each launch correlated to the one before by 0.7.
    Autocorrelated(f64),
    /// Lognormal of this scatter, on a machine that moves evenly from a random place to a random place, both up to three
    /// times the scatter off.
    Drifting(f64),
    /// Lognormal of this scatter, with a slow wave of three times that, of any phase, a bit longer than the run.
    #[allow(dead_code, reason = "report's tests of live rounds make such runs")]
    Waving(f64),
}

impl Distribution {
    pub fn run(self, launches: usize, simulator: &mut Simulator) -> Vec<f64> {
        let (from, to) = (simulator.uniform() * 6.0 - 3.0, simulator.uniform() * 6.0 - 3.0);
        let mut before = simulator.normal();
        (0..launches)
            .map(|launch| {
                let normal = simulator.normal();
                let along = launch as f64 / launches as f64;
                match self {
                    Self::Lognormal(scatter) => 100.0 * (scatter * normal).exp(),
                    Self::Bimodal(scatter, share) => {
                        let mode = if simulator.uniform() < share { 120.0 } else { 100.0 };
                        mode * (scatter * normal).exp()
                    }
                    Self::Tailed(length) => 100.0 * (-length * simulator.uniform().ln()).exp(),
                    Self::Autocorrelated(scatter) => {
                        before = 0.7 * before + (1.0_f64 - 0.49).sqrt() * normal;
                        100.0 * (scatter * before).exp()
                    }
                    Self::Drifting(scatter) => {
                        100.0 * (scatter * (from + (to - from) * along + normal)).exp()
                    }
                    Self::Waving(scatter) => {
                        100.0 * (scatter * (3.0 * (from + 5.0 * along).sin() + normal)).exp()
                    }
                }
            })
            .collect()
    }

    /// Quantile `q` of the launches of very many runs.
    pub fn truth(self, q: f64, launches: usize, simulator: &mut Simulator) -> f64 {
        let many = (0..200_000 / launches).flat_map(|_| self.run(launches, simulator)).collect();
        oscost_stats::quantile::quantile(&oscost_stats::quantile::sorted(many), q)
            .expect("there are launches")
    }
}

/// How many launches a run makes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Plan {
    Fixed(usize),
    /// As the engine does it: 10, then one after the other until the half-width is 1 %, at most 30.
    Converging,
}

impl Plan {
    /// What the launches of a run tell, of themselves.
    pub fn interval(self, launches: &[f64], q: f64) -> Interval {
        let planned = if let Self::Fixed(planned) = self { planned } else { PLANNED };
        over_launches_stopped(launches, q, planned).expect("it worked")
    }

    /// A run, and whether it has converged.
    pub fn run(self, distribution: Distribution, q: f64, simulator: &mut Simulator) -> (Vec<f64>, bool) {
        match self {
            Self::Fixed(launches) => (distribution.run(launches, simulator), true),
            Self::Converging => {
                let mut all = distribution.run(30, simulator);
                let narrow = |count: &usize| self.interval(&all[..*count], q).half_width_share() <= 0.01;
                let enough = (PLANNED..=30).find(narrow);
                all.truncate(enough.unwrap_or(30));
                (all, enough.is_some())
            }
        }
    }
}
