//! Combines launches of single operations into percentiles. docs/method/families.md.

use oscost_results::{Account, AtQuantile, BesideBatch, FirstCallAfter, Longer, Percentiles};
use oscost_stats::fine_histogram::FineHistogram;
use oscost_stats::quantile::{median, sorted};
use oscost_stats::rare;

use crate::protocol::timed::{FirstCalls, Tally, Timed};

/// Percentiles that are told, where enough passes lie beyond.
const SHARES: [f64; 6] = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];
/// A percentile with fewer passes beyond it is none.
const FEWEST_BEYOND: f64 = 10.0;

/// What follows from launches; `None` where nothing was counted in one of them.
pub(crate) fn over_launches(launches: &[Timed], operations_per_pass: u64) -> Option<Percentiles> {
    let mut histograms = Vec::new();
    for timed in launches {
        let histogram = FineHistogram::from_parts(&timed.buckets, timed.sum_ns.into(), timed.extremes)?;
        histograms.push((histogram, timed.pair_ns));
    }
    let mut all = FineHistogram::new();
    histograms.iter().for_each(|(histogram, _)| all.merge(histogram));
    let middle = |of: fn(&Timed) -> Option<f64>| median(&sorted(launches.iter().filter_map(of).collect()));
    let pair_ns = middle(|timed| Some(timed.pair_ns))?;
    // An operation that is hardly longer than its readings may come out as less than nothing: it is then nothing.
    let less_pair = |ns: f64, pair_ns: f64| (ns - pair_ns).max(0.0);
    let passes = all.total();
    let at = |share: f64| {
        let each: Option<Vec<f64>> =
            histograms.iter().map(|(it, pair_ns)| Some(less_pair(it.quantile(share)?, *pair_ns))).collect();
        let each = sorted(each?);
        Some(AtQuantile {
            share,
            value: less_pair(all.quantile(share)?, pair_ns),
            low: *each.first()?,
            high: *each.last()?,
        })
    };
    // A share is no binary fraction: of 1 - 0.9 a little is missing.
    let told = SHARES.into_iter().filter(|share| (1.0 - share) * passes as f64 >= FEWEST_BEYOND - 1e-6);
    Some(Percentiles {
        operations_per_pass,
        passes,
        launches: u32::try_from(launches.len()).unwrap_or(u32::MAX),
        pair_ns,
        mean_ns: less_pair(all.mean()?, pair_ns),
        max_ns: less_pair(all.extremes()?.1 as f64, pair_ns),
        quantiles: told.filter_map(at).collect(),
        longer: longer(launches, passes),
        beside_batch: BesideBatch {
            alone_ns: middle(|timed| timed.alone_ns)?,
            batch_ns: middle(|timed| timed.batch_ns)?,
        },
        account: account(launches),
        first: first_calls(launches.iter().map(|timed| (&timed.first, timed.pair_ns))),
        from_ns: all.buckets().map(|(from, _)| from).collect(),
        counts: all.buckets().map(|(_, count)| count).collect(),
        unknown: serde_json::Map::default(),
    })
}

/// How often a pass takes longer than each round time that every launch watched, up to the first that none exceeded.
fn longer(launches: &[Timed], passes: u64) -> Vec<Longer> {
    let limit = launches.iter().map(|timed| timed.account.limit_ns).max().unwrap_or(0);
    let mut all = Vec::new();
    for &(than, ..) in launches.first().map_or(&[][..], |timed| &timed.longer) {
        let rows = launches.iter().filter_map(|timed| timed.longer.iter().find(|row| row.0 == than));
        let (count, events) = rows.fold((0, 0), |sum, row| (sum.0 + row.1, sum.1 + row.2));
        if than < limit {
            continue;
        }
        // A burst is one event, however many passes it holds: independent of one another are events.
        let burst = if events == 0 { 1.0 } else { count as f64 / events as f64 };
        all.push(Longer {
            than_ns: than as f64,
            passes: count,
            events,
            per_million_at_most: (rare::at_most(events) * burst / passes as f64 * 1e6).min(1e6),
        });
        if count == 0 {
            break;
        }
    }
    all
}

fn account(launches: &[Timed]) -> Account {
    let mut sum = Account::default();
    let mut tally = Tally::default();
    for timed in launches {
        let Account { elapsed_ns, passes_ns, counting_ns, looking_ns, limit_ns, gaps } =
            timed.account.clone();
        sum.elapsed_ns += elapsed_ns;
        sum.passes_ns += passes_ns;
        sum.counting_ns += counting_ns;
        sum.looking_ns += looking_ns;
        sum.limit_ns = sum.limit_ns.max(limit_ns);
        gaps.into_iter().for_each(|gaps| tally.merge(gaps));
    }
    Account { gaps: tally.into_gaps(), ..sum }
}

/// What launches found together, with the cost of the clock pair of each; nothing where none made first calls.
fn first_calls<'a>(
    launches: impl Iterator<Item = (&'a FirstCalls, f64)> + Clone,
) -> Vec<oscost_results::FirstCalls> {
    let of = |after: FirstCallAfter, times: fn(&FirstCalls) -> &Vec<u64>| {
        let less_pair = |pair: f64| move |&ns: &u64| (ns as f64 - pair).max(0.0);
        let all =
            sorted(launches.clone().flat_map(|(it, pair)| times(it).iter().map(less_pair(pair))).collect());
        let medians = launches
            .clone()
            .filter_map(|(it, pair)| median(&sorted(times(it).iter().map(less_pair(pair)).collect())));
        let medians = sorted(medians.collect());
        Some(oscost_results::FirstCalls {
            after,
            passes: all.len() as u64,
            median_ns: median(&all)?,
            low_ns: *medians.first()?,
            high_ns: *medians.last()?,
            p90_ns: all[(all.len() - 1) * 9 / 10],
            max_ns: *all.last()?,
            line_ns: None,
            line_hot_ns: None,
        })
    };
    let middle =
        |line: fn(&FirstCalls) -> f64| median(&sorted(launches.clone().map(|(it, _)| line(it)).collect()));
    let evicted = of(FirstCallAfter::Eviction, |it| &it.evicted_ns).map(|found| oscost_results::FirstCalls {
        line_ns: middle(|it| it.line_evicted_ns),
        line_hot_ns: middle(|it| it.line_hot_ns),
        ..found
    });
    evicted.into_iter().chain(of(FirstCallAfter::Idleness, |it| &it.idle_ns)).collect()
}

#[cfg(test)]
mod tests {
    use oscost_results::{GapCause, Gaps};

    use super::*;

    fn launch(values: impl Iterator<Item = u64>, longer: Vec<(u64, u64, u64)>) -> Timed {
        let mut histogram = FineHistogram::new();
        values.for_each(|value| histogram.record(value));
        Timed {
            buckets: histogram.buckets().collect(),
            sum_ns: histogram.sum() as u64,
            extremes: histogram.extremes(),
            pair_ns: 20.0,
            alone_ns: Some(100.0),
            batch_ns: Some(98.0),
            longer,
            account: Account {
                limit_ns: 2_000,
                elapsed_ns: 10,
                passes_ns: 6,
                counting_ns: 3,
                looking_ns: 1,
                gaps: vec![Gaps {
                    cause: GapCause::Steal,
                    by: None,
                    count: 1,
                    in_passes: 1,
                    total_ns: 5,
                    longest_ns: 5,
                }],
            },
            first: FirstCalls::default(),
        }
    }

    #[test]
    fn launches_make_percentiles_with_their_spread() {
        let slow = |by: u64| launch((0..50_000).map(move |it| 120 + by + it % 10), Vec::new());
        let made = over_launches(&[slow(0), slow(10), slow(0)], 2).expect("passes");
        assert_eq!((made.passes, made.launches, made.operations_per_pass), (150_000, 3, 2));
        let median = made.quantiles[0];
        assert!((median.low - 104.0).abs() <= 1.5 && (median.high - 114.0).abs() <= 1.5, "{median:?}");
        assert!(median.low <= median.value && median.value <= median.high);
        let shares: Vec<f64> = made.quantiles.iter().map(|it| it.share).collect();
        assert_eq!(shares, [0.5, 0.9, 0.99, 0.999, 0.9999], "fewer than ten of 150 000 lie beyond p99.999");
        assert_eq!((made.max_ns, made.pair_ns), (119.0, 20.0));
        assert!((made.mean_ns - 107.833).abs() < 0.01, "{}", made.mean_ns);
        assert!((made.beside_batch.difference().expect("a share") - 2.0 / 98.0).abs() < 1e-12);
        assert_eq!(
            (made.account.elapsed_ns, made.account.gaps_ns(), made.account.gaps[0].count),
            (30, 15, 3)
        );
        let account = &made.account;
        assert_eq!((account.passes_ns, account.counting_ns, account.looking_ns), (18, 9, 3));
        assert_eq!((made.counts.iter().sum::<u64>(), made.account.limit_ns), (150_000, 2_000));
        assert_eq!(over_launches(&[], 1), None);
    }

    #[test]
    fn what_was_never_seen_has_a_bound() {
        let rows =
            |passes, events| vec![(1_000, 9, 9), (2_000, passes, events), (20_000, 0, 0), (50_000, 0, 0)];
        let timed = |passes, events| launch((0..500_000).map(|_| 120), rows(passes, events));
        let mut other = timed(0, 0);
        other.account.limit_ns = 1_000;
        let made = over_launches(&[timed(0, 0), other], 1).expect("passes");
        // Below the limit nobody watched; beyond the first that none exceeded nothing is to be said.
        assert_eq!(made.longer.iter().map(|it| it.than_ns).collect::<Vec<_>>(), [2_000.0]);
        assert!((made.longer[0].per_million_at_most - 2.996).abs() < 0.001, "never in a million: at most 3");
        let made = over_launches(&[timed(40, 1), timed(0, 0)], 1).expect("passes");
        assert_eq!((made.longer[0].passes, made.longer[0].events), (40, 1));
        // One burst of forty: at most 4.744 such bursts.
        assert!((made.longer[0].per_million_at_most - 4.7439 * 40.0).abs() < 0.01);
        let made = over_launches(&[timed(40, 40), timed(0, 0)], 1).expect("passes");
        assert!(made.longer[0].per_million_at_most < 54.0, "the same forty, one by one");
    }

    #[test]
    fn a_pass_that_is_shorter_than_its_readings_is_nothing() {
        let made = over_launches(&[launch((0..1000).map(|_| 15), Vec::new())], 1).expect("passes");
        assert_eq!((made.quantiles[0].value, made.mean_ns, made.max_ns), (0.0, 0.0, 0.0));
        // Rows are those of the first launch: a time that another one did not watch has no counts of it.
        let rows = vec![(10_000, 1000, 1), (20_000, 1, 1)];
        let [one, other] =
            [rows.clone(), rows[..1].to_vec()].map(|rows| launch((0..1000).map(|_| 120), rows));
        let made = over_launches(&[one, other], 1).expect("passes");
        let told: Vec<(f64, u64)> = made.longer.iter().map(|it| (it.than_ns, it.passes)).collect();
        assert_eq!(told, [(10_000.0, 2000), (20_000.0, 1)]);
        assert_eq!(made.longer[0].per_million_at_most, 1e6, "no more than all");
    }

    #[test]
    fn first_calls_are_put_together() {
        let launch = |evicted: &[u64]| FirstCalls {
            evicted_ns: evicted.to_vec(),
            idle_ns: Vec::new(),
            line_hot_ns: 1.0,
            line_evicted_ns: 90.0,
        };
        let (one, other) = (launch(&[120, 130, 140]), launch(&[150, 160, 170]));
        let found = first_calls([(&one, 20.0), (&other, 20.0)].into_iter());
        assert_eq!(found.len(), 1, "nothing was idle: {found:?}");
        let it = &found[0];
        assert_eq!((it.after, it.passes), (FirstCallAfter::Eviction, 6));
        assert_eq!((it.median_ns, it.low_ns, it.high_ns), (125.0, 110.0, 140.0));
        assert_eq!((it.p90_ns, it.max_ns), (140.0, 150.0));
        assert_eq!((it.line_hot_ns, it.line_ns), (Some(1.0), Some(90.0)));
        assert!(it.evicts(), "ninety times as long as a line that was just read");
        let eleven = launch(&(120..131).collect::<Vec<u64>>());
        assert_eq!(first_calls(std::iter::once((&eleven, 20.0)))[0].p90_ns, 109.0);
        assert_eq!(first_calls(std::iter::once((&launch(&[10]), 20.0)))[0].median_ns, 0.0);
        assert_eq!(first_calls(std::iter::empty()), Vec::new());
    }

    #[test]
    fn a_percentile_has_ten_passes_beyond_it() {
        let shares = |passes: u64| -> Vec<f64> {
            let made = over_launches(&[launch((0..passes).map(|_| 120), Vec::new())], 1).expect("passes");
            made.quantiles.iter().map(|it| it.share).collect()
        };
        assert_eq!((shares(19), shares(20), shares(99)), (vec![], vec![0.5], vec![0.5]));
        assert_eq!((shares(100), shares(999)), (vec![0.5, 0.9], vec![0.5, 0.9]));
        let told = |passes: u64| shares(passes).len();
        assert_eq!((told(1000), told(10_000), told(100_000)), (3, 4, 5));
        assert_eq!((told(99_999), told(999_999), told(1_000_000)), (4, 5, 6));
    }
}
