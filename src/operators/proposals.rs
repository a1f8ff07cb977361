//! What could be done against failures of nodes for one job (Birkenheuer 2012, §1.2.1: the
//! consultant service proposes checkpoints or migration), and what a provider can expect of it.
//!
//! Nodes fail independently, at constant rates, while the job runs; nothing else breaks its
//! promise. A provider is paid the fee where the job ends by its deadline, and pays a penalty
//! where it does not.

use bookahead_core::scheduling::daly_interval;
use serde::Serialize;

/// A job that is promised to end by a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PromisedJob {
    /// Its nodes.
    pub nodes: u32,
    /// How long it runs, in hours.
    pub hours: f64,
    /// When it has to end, in hours from its start; not before its run time is over.
    pub deadline_hours: f64,
    /// What is paid for it.
    pub fee: f64,
    /// ρ: what is paid back where it fails, in fees.
    pub penalty_ratio: f64,
    /// c: what a node-hour earns elsewhere.
    pub node_hour_price: f64,
}

/// What its nodes fail together, per hour.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JobFailureRates {
    /// Of nodes as any.
    pub any_nodes: f64,
    /// Of the most reliable ones.
    pub reliable_nodes: f64,
}

/// What measures take, in hours.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeasureTimes {
    /// Writing a checkpoint.
    pub write_hours: f64,
    /// Reading one, and starting again.
    pub read_hours: f64,
    /// Starting anew on other nodes, with what is sent there.
    pub transfer_hours: f64,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Nothing: the job fails with the first of its nodes.
    Nothing,
    /// It runs on the most reliable nodes.
    ReliableNodes,
    /// It runs twice, on other nodes (§2.2.4).
    DoubleExecution,
    /// It writes checkpoints at Daly's interval, and goes on from the last one.
    Checkpoints,
    /// It starts anew on other nodes when one of its own fails.
    Migration,
}

impl Measure {
    /// All, in the order of tables.
    pub const ALL: [Self; 5] = [
        Self::Nothing,
        Self::ReliableNodes,
        Self::DoubleExecution,
        Self::Checkpoints,
        Self::Migration,
    ];
}

/// What can be expected of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Proposal {
    /// The measure.
    pub measure: Measure,
    /// The probability that the job ends by its deadline.
    pub success: f64,
    /// Node-hours that are set aside for it beside the job's own.
    pub extra_node_hours: f64,
    /// The fee and the penalty with their probabilities, less what the extra node-hours earn
    /// elsewhere.
    pub profit: f64,
}

/// The fewest and the most steps of time in which losses are counted.
const STEPS: (usize, usize) = (2_000, 8_000);

/// The most parts that checkpoints divide a job into.
const MOST_STRETCHES: f64 = 1e6;

/// What can be expected of each measure, the greatest profit first.
///
/// Λ is the sum of the rates of the job's nodes, x its run time. Without anything it succeeds with
/// e^(−Λx), with two runs if not both fail. With checkpoints it is divided into k = ⌈x/τ⌉ equal
/// parts, τ being Daly's interval, and needs `x + C · (k − 1)`; a failure takes what was done of
/// the part and R for reading. A migrated job loses all that it did, and the transfer. Both succeed
/// if what is lost leaves them in time, and other nodes are taken to be free at once. That
/// probability is reckoned in 2,000 to 8,000 steps of the time to spare, each loss rounded up, so
/// it is rather too small. What does not fit before the deadline is left out, and so are
/// checkpoints where a step would be more than a fifth of a part. Node-hours of
/// runs that fail are not counted.
#[must_use]
pub fn proposals(job: PromisedJob, rates: JobFailureRates, times: MeasureTimes) -> Vec<Proposal> {
    let node_hours = f64::from(job.nodes) * job.hours;
    let once = |rate: f64| libm::exp(-rate * job.hours);
    let spare = job.deadline_hours - job.hours;
    let proposal = |measure: Measure| {
        let (success, extra_node_hours) = match measure {
            Measure::Nothing => (once(rates.any_nodes), 0.0),
            Measure::ReliableNodes => (once(rates.reliable_nodes), 0.0),
            Measure::DoubleExecution => {
                let fails = 1.0 - once(rates.any_nodes);
                (1.0 - fails * fails, node_hours)
            }
            Measure::Checkpoints => {
                let interval = daly_interval(times.write_hours, 1.0 / rates.any_nodes);
                let stretches = libm::ceil(job.hours / interval).clamp(1.0, MOST_STRETCHES);
                let (writes, last) = (stretches - 1.0, job.hours / stretches);
                let writing = times.write_hours * writes;
                let runs = [(last + times.write_hours, writes as u32), (last, 1)];
                let spare = spare - writing;
                let success = in_time(rates.any_nodes, &runs, times.read_hours, spare)?;
                (success, f64::from(job.nodes) * writing)
            }
            Measure::Migration => {
                let run = [(job.hours, 1)];
                let success = in_time(rates.any_nodes, &run, times.transfer_hours, spare)?;
                (success, 0.0)
            }
        };
        let kept = success - job.penalty_ratio * (1.0 - success);
        Some(Proposal {
            measure,
            success,
            extra_node_hours,
            profit: job.fee * kept - job.node_hour_price * extra_node_hours,
        })
    };
    let mut found: Vec<Proposal> = Measure::ALL.into_iter().filter_map(proposal).collect();
    found.sort_by(|one, other| other.profit.total_cmp(&one.profit));
    found
}

/// The probability that stretches of work, each so long and so often, lose at most `spare` hours,
/// where each is begun anew after a failure and behind a reading of `again` hours; `None` where
/// there is no time to spare, or too much of it to be reckoned.
fn in_time(rate: f64, stretches: &[(f64, u32)], again: f64, spare: f64) -> Option<f64> {
    if spare < 0.0 {
        return None;
    }
    let hours = stretches
        .iter()
        .map(|(stretch, number)| stretch * f64::from(*number));
    let undisturbed = libm::exp(-rate * hours.sum::<f64>());
    if spare == 0.0 {
        return Some(undisturbed);
    }
    let run = stretches.iter().filter(|(_, number)| *number > 0);
    let shortest = run
        .map(|(stretch, _)| *stretch)
        .fold(f64::INFINITY, f64::min);
    let steps = (libm::ceil(10.0 * spare / shortest) as usize).clamp(STEPS.0, STEPS.1);
    let step = spare / steps as f64;
    if step > shortest / 5.0 {
        return None;
    }
    let mut lost = vec![0.0; steps + 1];
    lost[0] = 1.0;
    for &(stretch, number) in stretches.iter().filter(|(_, number)| *number > 0) {
        let one = losses_of_a_stretch(rate, stretch, again, (step, steps));
        lost = together(&lost, &power(&one, number));
    }
    Some(lost.iter().sum::<f64>().clamp(undisturbed, 1.0))
}

/// By what a stretch loses, in steps: its probability. What is lost beyond the last step is left
/// out.
fn losses_of_a_stretch(
    rate: f64,
    stretch: f64,
    again: f64,
    (step, most): (f64, usize),
) -> Vec<f64> {
    // Fails after at most `length`, by the steps that it takes to fail, rounded up.
    let failing = |length: f64| -> Vec<f64> {
        let by = |end: f64| 1.0 - libm::exp(-rate * end.min(length));
        (0..=most)
            .map(|steps| match steps {
                0 => 0.0,
                _ => by(steps as f64 * step) - by((steps as f64 - 1.0) * step),
            })
            .collect()
    };
    let again_steps = libm::ceil(again / step) as usize;
    let mut losses = vec![0.0; most + 1];
    // Behind a failure: the losses until the stretch is through, reading among them.
    let retried = failing(again + stretch);
    let mut behind = vec![0.0; most + 1];
    for steps in 0..=most {
        let mut probability = 0.0;
        if steps == again_steps {
            probability += libm::exp(-rate * (again + stretch));
        }
        for failed in 1..=steps {
            probability += retried[failed] * behind[steps - failed];
        }
        behind[steps] = probability;
    }
    let first = failing(stretch);
    losses[0] = libm::exp(-rate * stretch);
    for steps in 1..=most {
        for failed in 1..=steps {
            losses[steps] += first[failed] * behind[steps - failed];
        }
    }
    losses
}

/// The losses of both, one after the other.
fn together(one: &[f64], other: &[f64]) -> Vec<f64> {
    let of = |steps: usize| {
        (0..=steps)
            .map(|first| one[first] * other[steps - first])
            .sum()
    };
    (0..one.len()).map(of).collect()
}

/// The losses of so many stretches, at least one.
fn power(one: &[f64], number: u32) -> Vec<f64> {
    if number <= 1 {
        return one.to_vec();
    }
    let half = power(one, number / 2);
    let all = together(&half, &half);
    match number % 2 {
        0 => all,
        _ => together(&all, one),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NO_TIME: MeasureTimes = MeasureTimes {
        write_hours: 0.1,
        read_hours: 0.0,
        transfer_hours: 0.0,
    };

    /// Of 64 nodes one fails within a day with the probability that they have at the rates of the
    /// 2012 thesis, 0.195281.
    fn rate_of_64() -> f64 {
        -libm::log(1.0 - 0.195_281) / 24.0
    }

    fn job(deadline_hours: f64, node_hour_price: f64) -> PromisedJob {
        PromisedJob {
            nodes: 64,
            hours: 24.0,
            deadline_hours,
            fee: 1_536.0,
            penalty_ratio: 4.0,
            node_hour_price,
        }
    }

    fn of(measure: Measure, found: &[Proposal]) -> Option<Proposal> {
        found.iter().copied().find(|it| it.measure == measure)
    }

    /// 64 nodes for 24 hours, a fee of 1,536 and a penalty of four fees: of nothing 36.24 are
    /// expected, of two runs 1,243.13 less 1,536 c. They are even where c is 0.7857.
    #[test]
    fn two_runs_pay_up_to_a_price_of_a_node_hour() {
        let rates = JobFailureRates {
            any_nodes: rate_of_64(),
            reliable_nodes: rate_of_64() / 2.0,
        };
        let found = proposals(job(24.0, 0.1), rates, NO_TIME);
        let nothing = of(Measure::Nothing, &found).unwrap();
        assert!((nothing.success - (1.0 - 0.195_281)).abs() < 1e-12);
        assert!((nothing.profit - 36.24).abs() < 0.005, "{nothing:?}");
        let double = of(Measure::DoubleExecution, &found).unwrap();
        assert!(
            (double.profit - (1_243.13 - 153.6)).abs() < 0.005,
            "{double:?}"
        );
        assert_eq!(found[0].measure, Measure::DoubleExecution);
        // Half the rate: the root of the chance of nothing.
        let reliable = of(Measure::ReliableNodes, &found).unwrap();
        assert!((reliable.success - nothing.success.sqrt()).abs() < 1e-12);
        // Without time to spare a migrated job has nothing of it, and no checkpoint fits.
        let migrated = of(Measure::Migration, &found).unwrap();
        assert!((migrated.success - nothing.success).abs() < 1e-12);
        assert_eq!(of(Measure::Checkpoints, &found), None);
        let better = |price| {
            let found = proposals(job(24.0, price), rates, NO_TIME);
            let profit = |measure| of(measure, &found).unwrap().profit;
            profit(Measure::DoubleExecution) > profit(Measure::Nothing)
        };
        assert!(better(0.785) && !better(0.787));
    }

    /// A run of L hours that may lose s < L hours, and takes no time to start anew, is in time
    /// with e^(−ΛL) (1 + Λs): failures behind one another make a Poisson process until there is no
    /// time for a whole run any more.
    #[test]
    fn a_run_that_starts_anew_is_in_time_as_by_hand() {
        let rate = 0.05;
        let exact = libm::exp(-rate * 10.0) * (1.0 + rate * 4.0);
        let found = in_time(rate, &[(10.0, 1)], 0.0, 4.0).unwrap();
        assert!(
            found <= exact && exact - found < 2e-3 * rate,
            "{found} {exact}"
        );
        // An hour to start anew is an hour less to lose, and may fail as well.
        let slower = in_time(rate, &[(10.0, 1)], 1.0, 4.0).unwrap();
        let exact = libm::exp(-rate * 10.0) * (1.0 + rate * 3.0 * libm::exp(-rate));
        assert!((slower - exact).abs() < 2e-2, "{slower} {exact}");
        assert!(slower < found);
        assert_eq!(in_time(rate, &[(10.0, 1)], 0.0, -0.1), None);
        // Of 1,601 parts no step is a fifth any more.
        assert!(in_time(rate, &[(1.0, 1)], 0.0, 1_600.0).is_some());
        assert_eq!(in_time(rate, &[(1.0, 1)], 0.0, 1_601.0), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Stretches that may lose less than one of them: e^(−kΛL) Σ C(k, j) (Λs)^j / j!, from
        /// below.
        #[test]
        fn stretches_are_in_time_as_by_the_formula(
            rate in 0.001..0.2_f64, number in 1_u32..12, share in 0.05..0.95_f64,
        ) {
            let (stretch, spare) = (5.0, 5.0 * share);
            let mut term = 1.0;
            let mut sum = 1.0;
            for j in 1..=number {
                term *= f64::from(number - j + 1) / f64::from(j) * rate * spare / f64::from(j);
                sum += term;
            }
            let exact = libm::exp(-rate * stretch * f64::from(number)) * sum;
            let found = in_time(rate, &[(stretch, number)], 0.0, spare).unwrap();
            prop_assert!(found <= exact + 1e-9, "{found} {exact}");
            prop_assert!(exact - found < 0.01 * exact, "{found} {exact}");
        }

        /// More time never harms, and nothing is certain.
        #[test]
        fn more_time_is_never_worse(
            rate in 0.001..0.5_f64, hours in 1.0..40.0_f64, spare in 0.0..40.0_f64,
        ) {
            let chance = |spare| in_time(rate, &[(hours, 1)], 0.5, spare).unwrap();
            let (less, more) = (chance(spare), chance(spare + 1.0));
            prop_assert!(less <= more + 5e-3, "{less} {more}");
            prop_assert!(more <= 1.0 && less >= libm::exp(-rate * hours) - 1e-12);
        }
    }
}
