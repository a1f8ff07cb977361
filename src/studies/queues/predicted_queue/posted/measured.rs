//! What is measured of classes of priority.

use bookahead_core::scheduling::measures::Measured;
use bookahead_core::units::{Nodes, Seconds};

use super::{CLASSES, Customer, PostedSettings, Posting, Unposted};
use crate::predicted_queue::{PredictedOutcome, QueueJob};

/// Jobs that have gone into classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Classed {
    posting: Posting,
    customers: Vec<Customer>,
    /// The jobs, with their classes.
    pub jobs: Vec<QueueJob>,
}

impl Classed {
    /// Jobs of a machine, whose owners have these delay costs, in the classes that are posted for
    /// them.
    ///
    /// # Errors
    /// Where nothing can be posted.
    pub fn of(
        jobs: &[QueueJob],
        machine: Nodes,
        settings: &PostedSettings,
        costs: &[f64],
    ) -> Result<Self, Unposted> {
        let customers: Vec<Customer> = (jobs.iter().zip(costs))
            .map(|(job, cost)| {
                let spans = [job.runtime, job.submission.request.max(Seconds(1))];
                Customer::of(machine, job.submission.nodes, spans, *cost)
            })
            .collect();
        let span = match (jobs.first(), jobs.last()) {
            (Some(first), Some(last)) => last.submission.submit - first.submission.submit,
            _ => Seconds::ZERO,
        };
        let hours: f64 = customers.iter().map(|customer| customer.hours).sum();
        let span = match settings.load {
            Some(load) => hours / load,
            None => span.0.max(1) as f64 / Seconds::HOUR.0 as f64,
        };
        let posting = Posting::of(&customers, span, settings.classes as usize, settings.choice)?;
        let jobs = (jobs.iter().zip(&customers))
            .map(|(job, customer)| QueueJob {
                class: posting.class_of(customer) as u8,
                ..*job
            })
            .collect();
        Ok(Self {
            posting,
            customers,
            jobs,
        })
    }
}

/// The waits of each class beside those that were posted, what is paid, and what waiting costs.
#[must_use]
pub fn class_measures(classed: &Classed, outcomes: &[PredictedOutcome]) -> Measured {
    const WAITS: [[&str; 2]; CLASSES] = [
        ["first_priority_wait_hours", "first_posted_wait_hours"],
        ["second_priority_wait_hours", "second_posted_wait_hours"],
        ["third_priority_wait_hours", "third_posted_wait_hours"],
    ];
    let mut waits = [[0.0; 2]; CLASSES];
    let (mut cost, mut paid) = (0.0, 0.0);
    let customers = classed.jobs.iter().zip(&classed.customers);
    for ((job, customer), outcome) in customers.zip(outcomes) {
        let wait = (outcome.start - job.submission.submit).0 as f64 / Seconds::HOUR.0 as f64;
        let class = usize::from(job.class);
        waits[class][0] += wait;
        waits[class][1] += 1.0;
        cost += wait * customer.hourly_cost();
        paid += classed.posting.price(class, customer.hours);
    }
    let mut measured = Measured::default();
    measured.add("waiting_cost_su", cost);
    measured.add("priority_paid_su", paid);
    for (class, [hours, jobs]) in waits.into_iter().enumerate() {
        measured.add_ratio(WAITS[class][0], hours, jobs);
        if let Some(posted) = classed.posting.board.classes.get(class) {
            measured.add(WAITS[class][1], posted.wait_hours);
        }
    }
    let [first, all] = [waits[0][1], classed.jobs.len() as f64];
    measured.add_ratio("first_priority_percent", 100.0 * first, all);
    measured
}
