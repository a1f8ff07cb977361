//! Customers who leave a provider that offers them a late end (Birkenheuer 2012, §5.1.1).
//!
//! The thesis gives each job a deadline at twice its estimate, and says that a customer would
//! rather go elsewhere than wait for a late end; it prints no rule. Here an offer that ends at `e`,
//! made at `o` for a job of estimate `x` and deadline `d`, is refused with probability
//!
//! ```text
//! (e − o − x) / (d − o − x)
//! ```
//!
//! so never if it ends as early as the job can, always if it ends at the deadline. Each customer
//! has one number, drawn beforehand, so that all policies meet the same ones.

use std::sync::Arc;

use rand::RngExt;

use crate::random::Stream;
use crate::units::Seconds;
use crate::workload::Job;

/// The customers of a list of jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Customers {
    /// By job: whose offer is refused with a probability above this number leaves.
    draws: Arc<[f64]>,
}

impl Customers {
    /// The random stream that they are drawn from: one number a job, in their order.
    pub const STREAM: &str = "late-offers";

    /// The customers of so many jobs, with ids from 0.
    #[must_use]
    pub fn drawn(jobs: usize, stream: &mut Stream) -> Self {
        Self::of((0..jobs).map(|_| stream.random()).collect())
    }

    /// Customers as they are given: one number from 0 to 1 a job.
    #[must_use]
    pub fn of(draws: Vec<f64>) -> Self {
        Self {
            draws: draws.into(),
        }
    }

    /// Whether the customer of a job leaves when it is offered this end. Nobody leaves who was not
    /// drawn.
    #[must_use]
    pub fn refuse(&self, job: &Job, end: Seconds) -> bool {
        let draw = self.draws.get(job.id.0 as usize);
        draw.is_some_and(|draw| *draw < refusal(job, end))
    }
}

/// The probability that the customer of a job leaves when it is offered this end, in `[0, 1]`.
#[must_use]
pub fn refusal(job: &Job, end: Seconds) -> f64 {
    let soonest = job.submit + job.estimate;
    let late = (end - soonest).max(Seconds::ZERO);
    if late == Seconds::ZERO {
        return 0.0;
    }
    let laxity = job.deadline - soonest;
    if late >= laxity {
        return 1.0;
    }
    late.0 as f64 / laxity.0 as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;
    use crate::units::Nodes;
    use crate::workload::JobId;

    fn job(id: u32, laxity: i64) -> Job {
        Job::rigid(JobId(id), Seconds(10), Nodes(1), Seconds(100)).due_by(Seconds(110 + laxity))
    }

    #[test]
    fn an_end_is_refused_in_proportion_to_the_laxity_that_it_uses() {
        let refused = |end| refusal(&job(0, 200), Seconds(end));
        // A slot that is shorter than the estimate may end before the job could.
        let ends = [60, 110, 160, 210, 310, 400];
        assert_eq!(ends.map(refused), [0.0, 0.0, 0.25, 0.5, 1.0, 1.0]);
        assert_eq!(refusal(&job(0, 0), Seconds(110)), 0.0);
        assert_eq!(refusal(&job(0, 0), Seconds(111)), 1.0);
        let patient = job(0, 0).due_by(Seconds::FAR);
        assert!(refusal(&patient, Seconds(1_000_000)) < 1e-6);
    }

    #[test]
    fn a_customer_who_refuses_an_end_refuses_every_later_one() {
        let customers = Customers::of(vec![0.25, 0.5]);
        let refused = |id, end| customers.refuse(&job(id, 200), Seconds(end));
        assert_eq!(
            [160, 161, 310].map(|end| refused(0, end)),
            [false, true, true]
        );
        assert_eq!(
            [160, 161, 211].map(|end| refused(1, end)),
            [false, false, true]
        );
        assert!(!refused(2, 310));
    }

    #[test]
    fn so_many_leave_as_the_probability_says() {
        let mut stream = random::stream(1, "customers", 0, Customers::STREAM);
        let customers = Customers::drawn(10_000, &mut stream);
        let left = (0..10_000).filter(|id| customers.refuse(&job(*id, 200), Seconds(160)));
        let share = left.count() as f64 / 10_000.0;
        // Four standard errors.
        assert!((share - 0.25).abs() < 4.0 * 0.00433, "{share}");
    }
}
