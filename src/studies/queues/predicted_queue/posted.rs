//! Classes of priority at posted prices (Singh 2008, §2.1.3; Mendelson and Whang 1990).
//!
//! A queue has classes, of which a job of an earlier one goes before all jobs of later ones.
//! What is posted for each, an expected wait and a price, follows from the jobs that are
//! expected as if the machine were one server that stops nobody. The price of a class is the
//! waiting cost that a job in it adds to all. Each owner chooses the class with the least price
//! and waiting cost, and what is posted is what their choices bring about.

mod measured;
mod shares;
mod theory;

use serde::{Deserialize, Serialize};

pub use measured::{Classed, class_measures};
pub use shares::{Posting, Unposted};
pub use theory::{Board, ClassLoad, PostedClass, posted};

use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::CostSpread;

/// How many classes there are at most: each has measures of its own.
pub const CLASSES: usize = 3;

/// `queue.class_choice`: who decides on the class of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassChoice {
    /// Its owner, by price and expected wait.
    #[default]
    Posted,
    /// Somebody who knows its delay cost: classes are cut where the waiting cost of all is least.
    Assigned,
    /// Its owner, who pays nothing and so takes the first one.
    Free,
}

/// Classes of priority, and who goes into which.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PostedSettings {
    /// How many, from 2 to [`CLASSES`].
    pub classes: u32,
    /// Who decides on the class of a job.
    pub choice: ClassChoice,
    /// The load that is posted for; `None`: that of the jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// What waiting costs the owners of jobs.
    pub costs: CostSpread,
}

/// A job as what it brings to a machine that is taken for one server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Customer {
    /// Hours of the whole machine that it takes.
    pub hours: f64,
    /// Hours of the whole machine that its owner expects it to take.
    pub expected_hours: f64,
    /// Its nodes.
    pub nodes: Nodes,
    /// h: what an hour of waiting costs for each node, in service units.
    pub unit_cost: f64,
}

impl Customer {
    /// A job of a machine.
    #[must_use]
    pub fn of(machine: Nodes, nodes: Nodes, [runtime, estimate]: [Seconds; 2], cost: f64) -> Self {
        let hours = |span: Seconds| {
            f64::from(nodes.0) / f64::from(machine.0) * span.0 as f64 / Seconds::HOUR.0 as f64
        };
        Self {
            hours: hours(runtime),
            expected_hours: hours(estimate),
            nodes,
            unit_cost: cost,
        }
    }

    /// What an hour of waiting costs its owner, in service units.
    #[must_use]
    pub fn hourly_cost(&self) -> f64 {
        f64::from(self.nodes.0) * self.unit_cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 200 jobs to whose owners an hour costs 3 SU and 400 to whom it costs 1, within 1000 h; half
    /// of each take 2 h and the others nothing, so that the mean is 1 h and E[S²] = 2, as of
    /// exponential ones. All owners expect 1 h.
    fn of_the_vector() -> Vec<Customer> {
        (0..600)
            .map(|place| Customer {
                hours: f64::from(place % 2) * 2.0,
                expected_hours: 1.0,
                nodes: Nodes(1),
                unit_cost: if place % 6 < 2 { 3.0 } else { 1.0 },
            })
            .collect()
    }

    fn posting(choice: ClassChoice) -> Posting {
        Posting::of(&of_the_vector(), 1000.0, 2, choice).unwrap()
    }

    fn waits(posting: &Posting) -> Vec<f64> {
        let classes = &posting.board.classes;
        classes.iter().map(|class| class.wait_hours).collect()
    }

    fn counts(customers: &[Customer], posting: &Posting) -> [usize; 2] {
        let mut counts = [0; 2];
        for customer in customers {
            counts[posting.class_of(customer)] += 1;
        }
        counts
    }

    #[test]
    fn a_job_of_half_the_nodes_takes_half_as_many_hours_of_the_machine() {
        let spans = [Seconds(3600), Seconds(7200)];
        let customer = Customer::of(Nodes(8), Nodes(4), spans, 0.5);
        assert_eq!((customer.hours, customer.expected_hours), (0.5, 1.0));
        assert_eq!(customer.hourly_cost(), 2.0);
    }

    /// Waits of 0.75 and 1.875 h, prices of an hour that differ by 1.5 SU: who loses 3 an hour
    /// saves 3.375 by them, who loses 1 saves 1.125.
    #[test]
    fn owners_choose_the_classes_of_the_vector() {
        let posting = posting(ClassChoice::Posted);
        for (found, expected) in waits(&posting).iter().zip([0.75, 1.875]) {
            assert!((found / expected - 1.0).abs() < 0.03, "{posting:?}");
        }
        for customer in of_the_vector() {
            let expected = usize::from(customer.unit_cost < 2.0);
            assert_eq!(posting.class_of(&customer), expected);
        }
        // 3.375 + 2 · 2²/2 for two hours in the first class, 1.5 less for each hour in the second.
        let saved = posting.price(0, 2.0) - posting.price(1, 2.0);
        assert!((saved - 3.0).abs() < 0.1, "{saved}");
    }

    #[test]
    fn the_cut_that_is_cheapest_for_all_is_between_the_two_costs() {
        let posting = posting(ClassChoice::Assigned);
        let found = waits(&posting);
        assert!((found[0] - 0.75).abs() < 1e-9 && (found[1] - 1.875).abs() < 1e-9);
        assert_eq!(counts(&of_the_vector(), &posting), [200, 400]);
        assert_eq!(posting.price(0, 5.0), 0.0);
    }

    #[test]
    fn where_it_costs_nothing_everybody_is_in_the_first_class() {
        let posting = posting(ClassChoice::Free);
        assert_eq!(posting.price(0, 2.0), 0.0);
        assert_eq!(counts(&of_the_vector(), &posting), [600, 0]);
    }

    #[test]
    fn nothing_is_posted_where_nobody_comes() {
        for choice in [
            ClassChoice::Posted,
            ClassChoice::Assigned,
            ClassChoice::Free,
        ] {
            let posting = Posting::of(&[], 1.0, 3, choice).unwrap();
            assert_eq!(posting.board, Board::default());
        }
    }

    #[test]
    fn what_cannot_be_posted_is_refused() {
        let overloaded = Posting::of(&of_the_vector(), 500.0, 2, ClassChoice::Posted).unwrap_err();
        let said = overloaded.to_string();
        assert!(said.contains("a load of 1.20") && said.contains("queue.posted_load"));
        // Equal owners all choose the same class, whatever is posted.
        let equal: Vec<Customer> = (of_the_vector().into_iter())
            .map(|customer| Customer {
                unit_cost: 1.0,
                ..customer
            })
            .collect();
        let unsettled = Posting::of(&equal, 1000.0, 2, ClassChoice::Posted).unwrap_err();
        assert!(matches!(unsettled, Unposted::Unsettled { classes: 2, .. }));
        assert!(unsettled.to_string().contains("log-normal"), "{unsettled}");
    }
}
