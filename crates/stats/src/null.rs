//! The empirical null: how far figures that did not change moved between two runs, told by the figures of those runs themselves
//! (Devlin and Roeder, 1999: genomic control; Efron, 2004). METHOD.md, Verdicts on two runs.

use crate::quantile::{median, quantile, sorted};

/// Fewer figures than this say nothing of each other.
pub const FEWEST_FIGURES: usize = 12;
/// The share of the figures that is taken for unchanged, those that moved least: up to half of them may have changed.
const UNCHANGED: f64 = 0.4;
/// The square of a standard normal number that this share of such numbers is below.
const UNCHANGED_SQUARE: f64 = 0.274_996;
/// The median of the square of a standard normal number.
const MEDIAN_SQUARE: f64 = 0.454_936;
/// A scale of 12 to 40 figures is itself known to a third to a fifth, by simulation: a part of that is added.
const UNSURE: f64 = 1.1;
/// What gathers the most figures is looked for, which makes the scale around it smaller than it is: in simulations by a third of
/// 12 figures and by a sixth of 40.
const LOOKED_FOR: f64 = 1.3;
/// Errors are never made smaller than launches say: on new runs, intervals that a null had narrowed held the truth too seldom.
const LEAST: f64 = 1.0;
/// Figures of like prices move otherwise than their class if their scale is this much larger: by chance it is in less than one of
/// 70, by simulation. A scale shrunk toward the class's (Smyth, 2004) found less on the stored runs: 30 figures hold but two
/// or three neighbourhoods, which do not tell how much neighbourhoods differ.
const CLEARLY: f64 = 2.0;
/// So many figures that stay out of the kernel show that they stood still.
const FEWEST_BESIDE: usize = 3;
/// They stood still if they moved by less than this share of what the others moved.
const STOOD_STILL: f64 = 0.25;

/// By how much a figure differs between two runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moved {
    /// Logarithm of the one over the other.
    pub apart: f64,
    /// Standard error of it, from the launches of both.
    pub error: f64,
    /// Whether it enters the kernel; `None` where its calls were not counted.
    pub enters: Option<bool>,
    /// What it costs, the geometric mean of both runs, in any unit that all figures share: figures of like prices move alike.
    pub price: f64,
    /// How often it enters the kernel.
    pub calls: f64,
}

/// What all that enters the kernel moved by in common.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Common {
    Nothing,
    /// Each by one share: a logarithm.
    Share(f64),
    /// Each call by one time, as a filter of calls or a mitigation adds it.
    Call(f64),
}

impl Common {
    /// By how much it moves a figure, as a logarithm.
    fn of(self, figure: &Moved) -> f64 {
        match self {
            _ if figure.enters != Some(true) => 0.0,
            Self::Nothing => 0.0,
            Self::Share(share) => share,
            // Prices p and q are q - p = 2 sqrt(pq) sinh(ln(q / p) / 2) apart: whichever run is the first.
            Self::Call(time) => 2.0 * (time * figure.calls / (2.0 * figure.price)).asinh(),
        }
    }

    /// What would move this figure as it moved.
    fn both(figure: &Moved) -> [Self; 2] {
        let apart = 2.0 * (figure.apart / 2.0).sinh() * figure.price;
        [Self::Share(figure.apart), Self::Call(apart / figure.calls.max(1.0))]
    }
}

/// What two runs say of a figure if it did not change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Null {
    /// What its error is to be multiplied with.
    pub scale: f64,
    /// Logarithm of what this one moved by as all that enter the kernel did, beside figures outside it that stood still; 0: nothing.
    pub shift: f64,
    /// Degrees of freedom: the figures.
    pub freedom: f64,
}

/// The null of each figure of a class, in their order; `None` where there are fewer than [`FEWEST_FIGURES`].
///
/// A class is not of one piece: a state of the machine that lasts for seconds or minutes moves what touches much memory by some
/// per cent, and a reading of a clock by nothing. So a figure has the scale of those that cost about as much, where that is clearly larger.
#[must_use]
pub fn nulls(figures: &[Moved]) -> Option<Vec<Null>> {
    let (class, common) = of_class(figures)?;
    let still: Vec<Moved> =
        figures.iter().map(|figure| Moved { apart: figure.apart - common.of(figure), ..*figure }).collect();
    let of = |figure: &Moved| {
        let near = alike(&still, figure.price);
        let scale = spread(&near, Common::Nothing, UNCHANGED) / UNCHANGED_SQUARE.sqrt() * UNSURE;
        let shift = common.of(figure);
        if scale > CLEARLY * class.scale {
            Null { scale, freedom: near.len() as f64, shift }
        } else {
            Null { shift, ..class }
        }
    };
    Some(figures.iter().map(of).collect())
}

/// The figures whose prices are nearest to this one.
fn alike(figures: &[Moved], price: f64) -> Vec<Moved> {
    let away = |figure: &Moved| (figure.price / price).ln().abs();
    let mut near = figures.to_vec();
    near.sort_by(|one, other| away(one).total_cmp(&away(other)));
    near.truncate(FEWEST_FIGURES);
    near
}

/// The null of a class as a whole, and what all in it that enters the kernel moved by.
///
/// Figures that all moved by one share are one of two things. Either the core, or what else all of them share, ran at another
/// speed: then nothing is known of any of them, and the errors grow. Or all that enters the kernel costs more: then figures
/// that stay out of it stood still, and the others scatter around their common shift as they did around nothing.
fn of_class(figures: &[Moved]) -> Option<(Null, Common)> {
    if figures.len() < FEWEST_FIGURES {
        return None;
    }
    let freedom = figures.len() as f64;
    let of = |enters: bool| -> Vec<Moved> {
        figures.iter().filter(|figure| figure.enters == Some(enters)).copied().collect()
    };
    let null = |scale: f64| Null { scale: scale.max(LEAST), shift: 0.0, freedom };
    let around_nothing = spread(figures, Common::Nothing, UNCHANGED) / UNCHANGED_SQUARE.sqrt() * UNSURE;
    let (inside, outside) = (of(true), of(false));
    if around_nothing > 1.0 && inside.len() >= FEWEST_FIGURES && outside.len() >= FEWEST_BESIDE {
        let beside = spread(&outside, Common::Nothing, 0.5) / MEDIAN_SQUARE.sqrt();
        let (around, common) = inside
            .iter()
            .flat_map(Common::both)
            .map(|common| (spread(&inside, common, UNCHANGED), common))
            .min_by(|one, other| one.0.total_cmp(&other.0))?;
        let middle = |apart: Vec<f64>| median(&sorted(apart));
        let drifted = middle(outside.iter().map(|figure| figure.apart).collect())?;
        let shift = middle(inside.iter().map(|figure| common.of(figure)).collect())?;
        if drifted.abs() < STOOD_STILL * shift.abs() {
            let around = around / UNCHANGED_SQUARE.sqrt() * LOOKED_FOR;
            return Some((null(around.max(beside)), common));
        }
    }
    Some((null(around_nothing), Common::Nothing))
}

/// How far this share of the figures is at most from what they moved by in common, in their errors.
fn spread(figures: &[Moved], common: Common, share: f64) -> f64 {
    let errors = figures.iter().map(|figure| match (figure.apart - common.of(figure), figure.error) {
        (0.0, 0.0) => 0.0,
        (apart, error) => apart.abs() / error,
    });
    quantile(&sorted(errors.collect()), share).unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::{below, seeded};

    /// So many figures that scatter by `scale` of their errors; every third one stays out of the kernel.
    fn figures(seed: u64, count: usize, scale: f64) -> Vec<Moved> {
        let mut source = seeded(seed, 0);
        let mut uniform = move || below(1 << 30, &mut source) as f64 / (1_u64 << 30) as f64;
        (0..count)
            .map(|index| {
                // Twelve uniform numbers less six: normal, for all that matters here.
                let normal = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
                let error = 0.001 * (1.0 + (index % 4) as f64);
                Moved {
                    apart: normal * scale * error,
                    error,
                    enters: Some(index % 3 != 0),
                    price: 1.0,
                    calls: 1.0,
                }
            })
            .collect()
    }

    fn middle(of: impl Fn(u64) -> f64) -> f64 {
        median(&sorted((0..200).map(of).collect())).unwrap()
    }

    #[test]
    fn errors_are_scaled_by_what_most_figures_moved() {
        for (scale, low, high) in [(1.0, 0.9, 1.3), (3.0, 2.7, 3.9), (0.1, LEAST, LEAST)] {
            let found = middle(|seed| of_class(&figures(seed, 30, scale)).unwrap().0.scale);
            assert!((low..=high).contains(&found), "{scale}: {found}");
        }
        assert_eq!(of_class(&figures(1, FEWEST_FIGURES - 1, 1.0)), None);
        assert_eq!(of_class(&figures(1, FEWEST_FIGURES, 1.0)).unwrap().0.freedom, 12.0);
    }

    /// Half of the figures changed, each by a share of its own: the others still tell how far unchanged ones move.
    #[test]
    fn half_of_the_figures_may_have_changed() {
        let found = middle(|seed| {
            let mut figures = figures(seed, 30, 1.0);
            figures.iter_mut().step_by(2).zip(0..).for_each(|(figure, place)| {
                figure.apart += 0.08 + 0.02 * f64::from(place);
            });
            of_class(&figures).unwrap().0.scale
        });
        assert!((1.0..4.0).contains(&found), "{found}");
    }

    #[test]
    fn all_that_enters_the_kernel_may_have_changed_by_one_share() {
        for (planted, scatter) in [(0.08_f64, 1.0), (-0.08, 1.0), (0.2, 1.0), (0.2, 3.0)] {
            let of = |seed| {
                let mut figures = figures(seed, 36, scatter);
                let inside = figures.iter_mut().filter(|figure| figure.enters == Some(true));
                inside.for_each(|figure| figure.apart += planted);
                if scatter > 1.0 {
                    // What stays out of it scatters less, and does not tell the scale.
                    let outside = figures.iter_mut().filter(|figure| figure.enters == Some(false));
                    outside.for_each(|figure| figure.apart *= 0.1);
                }
                figures
            };
            let shift = |seed| nulls(&of(seed)).unwrap()[1].shift;
            let (scale, shift) = (middle(|seed| of_class(&of(seed)).unwrap().0.scale), middle(shift));
            assert!((0.9..1.3).contains(&(scale / scatter)), "{planted}, {scatter}: {scale}");
            assert!((shift - planted).abs() < 0.003 * scatter, "{planted}, {scatter}: {shift}");
        }
    }

    #[test]
    fn three_figures_that_stood_still_are_enough_and_twelve_that_moved() {
        let shift = |inside: usize, outside: usize| {
            let mut figures = figures(1, 40, 1.0);
            for (figure, place) in figures.iter_mut().zip(0..) {
                figure.enters = Some(place < inside);
                figure.apart += if place < inside { 0.2 } else { 0.0 };
            }
            figures.truncate(inside + outside);
            nulls(&figures).unwrap()[0].shift
        };
        assert!((shift(FEWEST_FIGURES, FEWEST_BESIDE) - 0.2).abs() < 0.01);
        assert_eq!(
            [shift(FEWEST_FIGURES, FEWEST_BESIDE - 1), shift(FEWEST_FIGURES - 1, FEWEST_BESIDE)],
            [0.0; 2]
        );
    }

    /// Figures that all lie as many of their errors from the centre have that scale, as the share of figures makes it one.
    #[test]
    fn a_scale_is_the_distance_in_errors() {
        let of = |inside: (f64, f64), outside: f64| {
            let mut figures = figures(1, FEWEST_FIGURES + FEWEST_BESIDE, 1.0);
            for (figure, place) in figures.iter_mut().zip(0..) {
                let enters = place < FEWEST_FIGURES;
                let sign = if place % 2 == 0 { 1.0 } else { -1.0 };
                (figure.enters, figure.error) = (Some(enters), 0.001);
                figure.apart =
                    if enters { inside.0 + sign * inside.1 * 0.001 } else { sign * outside * 0.001 };
            }
            of_class(&figures).unwrap().0.scale
        };
        let near = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-9;
        assert!(near(of((0.0, 3.0), 3.0), 3.0 / UNCHANGED_SQUARE.sqrt() * UNSURE));
        // Around a common shift it is the larger of both: of those that moved, and of those that stood still.
        assert!(near(of((0.2, 0.0), 49.0), 49.0 / MEDIAN_SQUARE.sqrt()));
        // A quarter of what the others moved by is no standing still.
        assert!(near(of((0.2, 0.0), 50.0), 200.0 / UNCHANGED_SQUARE.sqrt() * UNSURE));
    }

    /// A filter of calls adds one time to each call: the share that a figure moves by is its own, and the time is found.
    #[test]
    fn every_call_may_have_changed_by_one_time() {
        for time in [40.0, -20.0] {
            let of = |seed| {
                let mut figures = figures(seed, 36, 1.0);
                for (figure, place) in figures.iter_mut().zip(0..) {
                    figure.price = 100.0 * 1.1_f64.powi(place);
                    figure.calls = f64::from(1 + place % 2);
                    if figure.enters == Some(true) {
                        let planted = (time * figure.calls / figure.price).ln_1p();
                        figure.apart += planted;
                        figure.price *= (planted / 2.0).exp();
                    }
                }
                nulls(&figures).unwrap()
            };
            assert!(middle(|seed| of(seed)[1].scale) < 1.6);
            let (dearest, first) = (middle(|seed| of(seed)[34].shift), middle(|seed| of(seed)[1].shift));
            assert!((first - (time * 2.0 / 110.0).ln_1p()).abs() < 0.02, "{first}");
            assert!((dearest - (time / 100.0 / 1.1_f64.powi(34)).ln_1p()).abs() < 0.003, "{dearest}");
            assert_eq!(middle(|seed| of(seed)[0].shift), 0.0, "it stays out");
        }
    }

    #[test]
    fn which_run_is_the_first_decides_nothing() {
        for (seed, planted) in [(1, 0.0), (2, 40.0), (3, -20.0), (4, 200.0)] {
            let mut figures = figures(seed, 36, 1.0);
            for (figure, place) in figures.iter_mut().zip(0..) {
                figure.price = 100.0 * 1.1_f64.powi(place);
                let time = if figure.enters == Some(true) { planted } else { 0.0 };
                figure.apart += 2.0 * (time / (2.0 * figure.price)).asinh();
            }
            let back: Vec<Moved> = figures.iter().map(|it| Moved { apart: -it.apart, ..*it }).collect();
            for (one, other) in nulls(&figures).unwrap().iter().zip(nulls(&back).unwrap()) {
                assert!((one.shift + other.shift).abs() < 1e-12 && (one.scale - other.scale).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn what_looking_for_a_centre_hides_is_given_back() {
        for count in [12, 24, 40] {
            let around = middle(|seed| {
                let mut figures = figures(seed, count, 1.0);
                for (figure, place) in figures.iter_mut().zip(0..) {
                    (figure.enters, figure.price) = (Some(true), 100.0 * 1.2_f64.powi(place));
                }
                let centres = figures.iter().flat_map(Common::both);
                centres.map(|common| spread(&figures, common, UNCHANGED)).fold(f64::INFINITY, f64::min)
                    / UNCHANGED_SQUARE.sqrt()
                    * LOOKED_FOR
            });
            assert!((0.85..1.15).contains(&around), "{count}: {around}");
        }
    }

    /// A core at another speed moves what stays out of the kernel, too; and where nothing stays out, nobody knows.
    #[test]
    fn a_shift_of_everything_is_no_change_of_the_kernel() {
        let shifted = |seed, known: bool| {
            let mut figures = figures(seed, 36, 1.0);
            for figure in &mut figures {
                figure.apart += 0.05;
                figure.enters = figure.enters.filter(|_| known);
            }
            of_class(&figures).unwrap().0
        };
        for known in [true, false] {
            assert!(middle(|seed| shifted(seed, known).scale) > 10.0);
            assert_eq!(middle(|seed| shifted(seed, known).shift), 0.0);
        }
    }

    /// A state of the machine moves what costs much, and leaves what costs little: the errors of each say how far it moves.
    #[test]
    fn a_part_of_a_class_that_moves_does_not_hide_behind_the_rest() {
        let of = |seed, moved: f64| {
            let mut figures = figures(seed, 30, 1.0);
            for (figure, place) in figures.iter_mut().zip(0..) {
                let dear = place % 5 < 2;
                figure.price = if dear { 2000.0 } else { 100.0 } + f64::from(place);
                figure.apart *= if dear { moved } else { 1.0 };
            }
            nulls(&figures).unwrap()
        };
        let scales = |moved: f64, places: &[usize]| {
            middle(|seed| {
                median(&sorted(places.iter().map(|&at| of(seed, moved)[at].scale).collect())).unwrap()
            })
        };
        let (dear, cheap) = ([0, 1, 5, 6, 25, 26], [2, 3, 4, 17, 28, 29]);
        assert!((8.0..16.0).contains(&scales(10.0, &dear)), "{}", scales(10.0, &dear));
        assert!(scales(10.0, &cheap) < 2.0);
        assert!(
            scales(1.0, &dear) < 1.5 && scales(1.0, &cheap) < 1.5,
            "where all stand still, nothing grows"
        );
        // What has a scale of its own is known by the nearest twelve.
        let apart = |moved: f64| middle(|seed| of(seed, moved)[0].freedom) == 12.0;
        assert_eq!((apart(2.0), apart(3.0)), (false, true));
        let (moved, still) = (of(1, 10.0)[0], of(1, 10.0)[2]);
        assert_eq!((moved.freedom, still.freedom), (12.0, 30.0), "each is known as well as so many tell it");
    }

    /// What all that enters the kernel moved by in common is no scatter of those that cost alike.
    #[test]
    fn a_common_shift_is_taken_off_before_like_figures_are_asked() {
        let found = middle(|seed| {
            let mut figures = figures(seed, 36, 1.0);
            for figure in figures.iter_mut().filter(|figure| figure.enters == Some(true)) {
                figure.apart += 0.2;
            }
            let nulls = nulls(&figures).unwrap();
            nulls.iter().map(|null| null.scale).fold(0.0, f64::max)
        });
        assert!(found < 2.5, "{found}");
    }

    #[test]
    fn figures_without_an_error_are_no_reason_to_stop() {
        let still = [Moved { apart: 0.0, error: 0.0, enters: Some(true), price: 1.0, calls: 1.0 }; 20];
        assert_eq!(of_class(&still).unwrap().0.scale, LEAST);
        let moved = [Moved { apart: 0.1, error: 0.0, enters: Some(true), price: 1.0, calls: 1.0 }; 20];
        assert_eq!(of_class(&moved).unwrap().0.scale, f64::INFINITY);
    }

    #[test]
    fn a_time_of_each_call_is_told_from_a_figure_of_several() {
        let of = |calls: f64| {
            let price = 100.0 * 1.8_f64.sqrt();
            let figure = Moved { apart: 1.8_f64.ln(), error: 0.01, enters: Some(true), price, calls };
            Common::both(&figure).map(|common| match common {
                Common::Share(share) => share,
                Common::Call(time) => time,
                Common::Nothing => f64::NAN,
            })
        };
        for (calls, time) in [(2.0, 40.0), (0.5, 80.0)] {
            let [share, each] = of(calls);
            assert!((share - 1.8_f64.ln()).abs() < 1e-12 && (each - time).abs() < 1e-9, "{calls}: {each}");
        }
    }
}
