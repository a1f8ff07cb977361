//! How the jobs of the Arminius model follow each other: users submit in campaigns.
//!
//! Nothing about arrivals is published for Arminius. What stands here was measured on six public
//! logs and nowhere else, with completed jobs (status 1) that ran and have a requested time. A
//! campaign is a maximal run of jobs of one user in which each is submitted less than 20 minutes
//! after the one before (the batches of Zakay and Feitelson, "On identifying user session
//! boundaries in parallel workload logs", JSSPP 2012). Every parameter is the median over the six
//! logs.
//!
//! | | CTC | HPC2N | LANL | SDSC BLUE | SDSC SP2 | KTH | median | model |
//! |---|--:|--:|--:|--:|--:|--:|--:|--:|
//! | jobs | 60,548 | 201,993 | 90,736 | 195,582 | 43,087 | 20,523 | | 93,318 |
//! | jobs a campaign: mean | 2.39 | 5.89 | 1.72 | 2.65 | 2.24 | 2.09 | **2.319** | 2.49 |
//! | … median / P90 / P99 | 1 / 5 / 18 | 2 / 10 / 64 | 1 / 3 / 11 | 1 / 5 / 20 | 1 / 4 / 19 | 1 / 4 / 13 | 1 / 4.5 / 18.5 | 1 / 5 / 20 |
//! | … longest | 200 | 2,418 | 566 | 339 | 280 | 49 | **309.5** | 263 |
//! | … mean over jobs | 11.6 | 129.4 | 9.6 | 13.8 | 17.9 | 5.5 | 12.7 | 14.9 |
//! | campaigns of one job | 63.0 % | 46.2 % | 75.4 % | 58.5 % | 67.9 % | 63.6 % | **63.3 %** | 60.1 % |
//! | jobs in such campaigns | 26.3 % | 7.9 % | 43.7 % | 22.0 % | 30.3 % | 30.4 % | 28.3 % | 24.2 % |
//! | gap in a campaign, s: P10 | 1 | 0 | 52 | 5 | 3 | 4 | **3.5** | 4 |
//! | … P25 | 4 | 1 | 135 | 24 | 12 | 18 | **15** | 18 |
//! | … median | 33 | 7 | 333 | 154 | 108 | 84 | **96** | 111 |
//! | … P75 | 208 | 71 | 615 | 431 | 323 | 351 | **337** | 368 |
//! | … P90 | 557 | 322 | 914 | 772 | 671 | 730 | **700.5** | 742 |
//! | neighbours with equal estimate | 88.6 % | 89.2 % | 83.3 % | 93.5 % | 89.1 % | 82.7 % | 88.8 % | 68.5 % |
//! | … with equal width | 78.7 % | 91.6 % | 82.2 % | 89.1 % | 82.0 % | 70.7 % | 82.1 % | 72.3 % |
//! | … with equal executable | 43.3 % | – | 73.3 % | – | 8.0 % | – | 43.3 % | 84.1 % |
//! | … with equal estimate and width | 71.8 % | 83.4 % | 73.6 % | 85.7 % | 76.6 % | 61.0 % | 75.1 % | 63.6 % |
//! | the same by chance | 33.3 % | 22.1 % | 33.9 % | 42.2 % | 21.0 % | 11.3 % | 27.7 % | 6.8 % |
//! | hence the request is kept | 57.7 % | 78.6 % | 60.1 % | 75.2 % | 70.4 % | 56.0 % | **65.3 %** | 60.9 % |
//! | ratios of neighbours in one band | 74.3 % | 76.9 % | 56.5 % | 72.4 % | 77.1 % | 70.6 % | 73.4 % | 74.2 % |
//! | the same by chance | 42.1 % | 39.4 % | 30.0 % | 40.2 % | 40.7 % | 34.9 % | 39.8 % | 49.4 % |
//! | hence the ratio is kept | 55.6 % | 61.9 % | 37.9 % | 53.9 % | 61.4 % | 54.9 % | **55.2 %** | 48.9 % |
//! | … differ by at most 0.01 | 39.9 % | 59.7 % | 32.8 % | 48.6 % | 51.7 % | 43.9 % | 46.3 % | 59.8 % |
//! | rank correlation of their ratios | 0.80 | 0.84 | 0.67 | 0.84 | 0.79 | 0.76 | 0.80 | 0.72 |
//!
//! Bold values are parameters, the others are there to check them; "model" is the median of the
//! draws of seeds 1 to 3. "By chance" is the agreement of a job with a job of another campaign of
//! the same user; what agrees beyond it was kept, `(agreement − chance) / (1 − chance)`, because
//! the model draws anew for the user what it does not keep. The bands of ratios end at 1, 10, 45,
//! 60, 80 and 100 %, as the shapes of the model do; jobs at their limit are a band of their own.
//! Executables are no parameter: three logs lack them, and in CTC and SP2 they are 11,001 and
//! 38,735 names of jobs, not a few programs. A worker is kept with the estimate and the size.
//!
//! Measured on the model, campaigns are longer and what is kept is less than what was put in,
//! because campaigns of one user overlap (user 1 has a third of all jobs) and cannot be told apart
//! from outside. Neighbours are alike less often than in the logs: there a user's campaigns
//! resemble each other, while most users of the model share one joint table, because nothing more
//! is published about them.
//!
//! The check of the whole: the load that 1,000 consecutive jobs offer by their estimates over their
//! own span, divided by that of all evaluated jobs (the last 20,000 of a log, 60,000 of the model);
//! and the coefficient of variation of the spans.
//!
//! | | CTC | HPC2N | LANL | SDSC BLUE | SDSC SP2 | KTH | median | model | without campaigns |
//! |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
//! | relative load: median | 1.00 | 1.13 | 1.02 | 1.02 | 1.06 | 1.00 | 1.02 | 0.97 | 0.99 |
//! | … first quartile | 0.90 | 0.76 | 0.93 | 0.80 | 0.93 | 0.94 | 0.92 | 0.84 | 0.89 |
//! | … third quartile | 1.19 | 2.40 | 1.19 | 1.46 | 1.17 | 1.12 | 1.19 | 1.18 | 1.09 |
//! | variation of the spans | 0.23 | 0.80 | 0.20 | 0.32 | 0.43 | 0.27 | 0.30 | 0.10 | 0.03 |
//!
//! So campaigns triple the variation of the spans, but the logs' is three times as large again:
//! weeks, holidays and users who come and go are not modelled. The median is near 1 in all logs but
//! one: campaigns scatter the load of batteries, they do not raise it.

use crate::random::Stream;
use crate::workload::variates::uniform;

/// Exponent of the distribution of lengths: `P(length ≥ k) = (1 + (k − 1) / SCALE)^(−EXPONENT)` up
/// to [`LONGEST`], a Pareto distribution of the second kind. Exponent and scale follow from two
/// measured numbers, the share of campaigns of one job and the mean; P90 = 4, P99 = 18 and 14.5
/// jobs a campaign over jobs come out without being asked for.
const EXPONENT: f64 = 1.700;
/// See [`EXPONENT`].
const SCALE: f64 = 1.243;
/// Longest campaign.
const LONGEST: f64 = 310.0;
/// Seconds between two jobs of a campaign: shares of the gaps, and the gaps below which they lie.
/// Linear in between.
const GAPS: [(f64, f64); 7] = [
    (0.0, 0.0),
    (0.1, 3.5),
    (0.25, 15.0),
    (0.5, 96.0),
    (0.75, 337.0),
    (0.9, 700.5),
    (1.0, 1_200.0),
];
/// Probability that a job has estimate, size and worker of the one before.
const REQUEST_KEPT: f64 = 0.653;
/// Probability that a job has the place of the one before in the distribution of ratios.
const RATIO_KEPT: f64 = 0.552;

/// Draws how many jobs a campaign has.
pub(super) fn length(stream: &mut Stream) -> usize {
    loop {
        let above = libm::pow(1.0 - uniform(stream), -1.0 / EXPONENT) - 1.0;
        let length = 1.0 + (SCALE * above).floor();
        if length <= LONGEST {
            return length as usize;
        }
    }
}

/// Draws the seconds between two jobs of a campaign.
pub(super) fn gap(stream: &mut Stream) -> f64 {
    let share = uniform(stream);
    let upper = GAPS.partition_point(|(end, _)| *end <= share);
    let ((start, low), (end, high)) = (GAPS[upper - 1], GAPS[upper]);
    low + (high - low) * (share - start) / (end - start)
}

/// Draws whether a job has the request of the one before.
pub(super) fn keeps_request(stream: &mut Stream) -> bool {
    uniform(stream) < REQUEST_KEPT
}

/// Draws whether a job has the place of the one before in the distribution of ratios.
pub(super) fn keeps_ratio(stream: &mut Stream) -> bool {
    uniform(stream) < RATIO_KEPT
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::random::stream;

    /// `P(length = k)` for k = 1, 2, …, from the formula and not from draws.
    fn lengths() -> Vec<f64> {
        let at_least = |length: f64| (1.0 + (length - 1.0) / SCALE).powf(-EXPONENT);
        let all = 1.0 - at_least(LONGEST + 1.0);
        (1..=LONGEST as usize)
            .map(|length| (at_least(length as f64) - at_least(length as f64 + 1.0)) / all)
            .collect()
    }

    /// By how much the variance of a mean over jobs exceeds that of independent jobs, where jobs of
    /// a campaign that are `lag` jobs apart correlate by `kept^lag`: 1 + 2 / E(L) · Σ P(L) Σ (L −
    /// lag) · kept^lag.
    pub(in super::super) fn design_effect(kept: f64) -> f64 {
        let (mut jobs, mut pairs) = (0.0, 0.0);
        for (share, length) in lengths().into_iter().zip(1..) {
            jobs += share * f64::from(length);
            pairs += share
                * (1..length)
                    .map(|lag| f64::from(length - lag) * kept.powi(lag))
                    .sum::<f64>();
        }
        1.0 + 2.0 * pairs / jobs
    }

    #[test]
    fn campaigns_have_the_measured_lengths_and_gaps() {
        let shares = lengths();
        let mean: f64 = shares.iter().zip(1..).map(|(p, k)| p * f64::from(k)).sum();
        // Exponent and scale have three decimals, which moves the mean by up to 0.002.
        assert!((shares[0] - 0.633).abs() < 0.0005, "{}", shares[0]);
        assert!((mean - 2.319).abs() < 0.002, "{mean}");
        let count = 100_000;
        let mut draws = stream(1, "campaigns", 0, "test");
        let drawn: Vec<usize> = (0..count).map(|_| length(&mut draws)).collect();
        for (least, share) in [
            (2, 1.0 - shares[0]),
            (5, shares[4..].iter().sum()),
            (19, shares[18..].iter().sum()),
        ] {
            let found = drawn.iter().filter(|length| **length >= least).count() as f64;
            let error = (share * (1.0 - share) / f64::from(count)).sqrt();
            assert!(
                (found / f64::from(count) - share).abs() < 4.0 * error,
                "{least}: {found} against {share}"
            );
        }
        assert!(drawn.iter().all(|length| (1..=310).contains(length)));
        let gaps: Vec<f64> = (0..count).map(|_| gap(&mut draws)).collect();
        for (share, end) in GAPS {
            let found = gaps.iter().filter(|gap| **gap < end).count() as f64 / f64::from(count);
            let error = (share * (1.0 - share) / f64::from(count)).sqrt();
            assert!(
                (found - share).abs() <= 4.0 * error,
                "{found} below {end} s"
            );
        }
    }
}
