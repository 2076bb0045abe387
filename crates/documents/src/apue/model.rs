//! What CPU time goes to: a price for each record visited, each call of locking and each operation, fitted to this run.

/// A cell as it was measured: the counts of the book's program, and its CPU time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub visits: f64,
    pub lock_calls: f64,
    pub operations: f64,
    pub cpu_ns: f64,
    /// Records of the cell: with one number of them, visits and operations cannot be told apart.
    pub nrec: u32,
}

/// Prices, ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Model {
    pub visit_ns: f64,
    pub lock_call_ns: f64,
    /// What is left of an operation: its pointers and its value. 0 where it was not to be told apart.
    pub operation_ns: f64,
}

impl Model {
    /// The prices with the smallest relative errors (least squares); `None` where there is too little to tell them.
    pub fn fit(points: &[Point]) -> Option<Self> {
        let several = points.iter().any(|point| Some(point.nrec) != points.first().map(|first| first.nrec));
        let of = |columns: usize| -> Option<[f64; 3]> {
            let mut sums = [[0.0; 4]; 3];
            for point in points {
                let row =
                    [point.visits, point.lock_calls, point.operations].map(|count| count / point.cpu_ns);
                for i in 0..columns {
                    for j in 0..columns {
                        sums[i][j] += row[i] * row[j];
                    }
                    sums[i][3] += row[i];
                }
            }
            solve(sums, columns)
        };
        // A price below nothing is none.
        let prices = of(3).filter(|prices| several && prices[2] >= 0.0).or_else(|| of(2))?;
        let [visit_ns, lock_call_ns, operation_ns] = prices;
        Some(Self { visit_ns, lock_call_ns, operation_ns })
    }

    /// How many prices were fitted.
    pub fn prices(&self) -> usize {
        2 + usize::from(self.operation_ns != 0.0)
    }

    /// CPU time by these prices, ns.
    pub fn cpu_ns(&self, point: &Point) -> f64 {
        self.visit_ns * point.visits
            + self.lock_call_ns * point.lock_calls
            + self.operation_ns * point.operations
    }
}

/// Solves the first `columns` of three equations whose right side stands last; the others are 0.
fn solve(mut sums: [[f64; 4]; 3], columns: usize) -> Option<[f64; 3]> {
    for pivot in 0..columns {
        let best = (pivot..columns).max_by(|&a, &b| sums[a][pivot].abs().total_cmp(&sums[b][pivot].abs()))?;
        sums.swap(pivot, best);
        let own = sums[pivot];
        if own[pivot].abs() < 1e-30 {
            return None;
        }
        for (number, row) in sums.iter_mut().enumerate().take(columns) {
            if number != pivot {
                let factor = row[pivot] / own[pivot];
                row.iter_mut().zip(own).for_each(|(value, own)| *value -= factor * own);
            }
        }
    }
    let mut found = [0.0; 3];
    for (number, value) in found.iter_mut().enumerate().take(columns) {
        *value = sums[number][3] / sums[number][number];
    }
    found.iter().all(|value| value.is_finite()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(nrec: u32, visits: f64, lock_calls: f64, operations: f64, prices: [f64; 3]) -> Point {
        let cpu_ns = prices[0] * visits + prices[1] * lock_calls + prices[2] * operations;
        Point { visits, lock_calls, operations, cpu_ns, nrec }
    }

    #[test]
    fn known_prices_are_found_again() {
        let prices = [1450.0, 610.0, 2500.0];
        let points: Vec<Point> = [(500, 4e4, 1.1e4), (2000, 5.9e5, 4.3e4), (6000, 4.6e6, 1.3e5)]
            .into_iter()
            .flat_map(|(nrec, visits, operations)| {
                [0.0, 2.0, 2.6].map(|calls| point(nrec, visits, calls * operations, operations, prices))
            })
            .collect();
        let model = Model::fit(&points).expect("enough points");
        for (found, known) in [model.visit_ns, model.lock_call_ns, model.operation_ns].into_iter().zip(prices)
        {
            assert!((found / known - 1.0).abs() < 1e-6, "{found} for {known}");
        }
        assert!(points.iter().all(|point| (model.cpu_ns(point) / point.cpu_ns - 1.0).abs() < 1e-6));
    }

    #[test]
    fn of_one_number_of_records_two_prices_are_told() {
        let points = [0.0, 2.0, 2.6].map(|calls| point(500, 4e4, calls * 1.1e4, 1.1e4, [1450.0, 610.0, 0.0]));
        let model = Model::fit(&points).expect("enough points");
        assert!((model.visit_ns - 1450.0).abs() < 1e-3 && (model.lock_call_ns - 610.0).abs() < 1e-3);
        assert_eq!(model.operation_ns, 0.0);
    }

    #[test]
    fn too_little_tells_nothing() {
        assert_eq!(Model::fit(&[]), None);
        assert_eq!(
            Model::fit(&[point(500, 4e4, 0.0, 1.1e4, [1450.0, 0.0, 0.0])]),
            None,
            "no call of locking"
        );
    }

    #[test]
    fn what_an_operation_costs_is_a_third_price() {
        let of = |operation_ns| Model { visit_ns: 1.0, lock_call_ns: 2.0, operation_ns };
        assert_eq!([0.0, 0.5].map(|ns| of(ns).prices()), [2, 3]);
        let point = point(500, 100.0, 10.0, 1.0, [0.0; 3]);
        assert_eq!([0.0, 0.5].map(|ns| of(ns).cpu_ns(&point)), [120.0, 120.5]);
    }

    #[test]
    fn an_operation_never_costs_less_than_nothing() {
        for (planted, told) in [(-500.0, 0.0), (0.9, 0.9)] {
            let points = [(500, 4e4, 0.0), (500, 4e4, 2.0), (2000, 5.9e5, 2.0), (6000, 4.6e6, 2.6)]
                .map(|(nrec, visits, calls)| point(nrec, visits, calls * 1e4, 1e4, [1450.0, 610.0, planted]));
            let model = Model::fit(&points).expect("enough points");
            assert!((model.operation_ns - told).abs() < 1e-3, "{planted}: {}", model.operation_ns);
        }
    }

    #[test]
    fn equations_are_solved_in_an_order_that_can_be() {
        let turned = [[0.0, 1.0, 0.0, 2.0], [1.0, 0.0, 0.0, 3.0], [0.0; 4]];
        assert_eq!(solve(turned, 2), Some([3.0, 2.0, 0.0]));
        let one = |factor: f64, right: f64| [[factor, 0.0, 0.0, right], [0.0; 4], [0.0; 4]];
        assert_eq!(solve(one(1e-30, 1e-30), 1), Some([1.0, 0.0, 0.0]));
        assert_eq!(solve(one(1.2e-30, 1.2e-30), 1), Some([1.0, 0.0, 0.0]));
        assert_eq!(solve(one(9e-31, 1.0), 1), None, "next to nothing is not divided by");
        assert_eq!(solve(one(1e-29, 1e300), 1), None, "no price is infinite");
    }
}
