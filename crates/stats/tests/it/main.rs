//! Properties of the statistics, on simulated data.

mod distributions;
