//! Who goes into which class, and what is posted for that: the shares of classes that bring about
//! themselves.

use super::theory::{Board, ClassLoad, posted};
use super::{ClassChoice, Customer};

/// By how much, as a share, posted waits may differ from those that the choices bring about.
const TOLERANCE: f64 = 0.02;

/// How often shares are averaged with those that users choose.
const ROUNDS: u32 = 10_000;

/// How many jobs stand at most between two cuts that are tried, as a share of all.
const CUTS: usize = 64;

/// Why nothing is posted.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum Unposted {
    /// The jobs offer more than the machine has.
    #[error(
        "prices of classes cannot be posted for a load of {load:.2}: set `queue.posted_load` below 1"
    )]
    Overloaded {
        /// What they offer, where 1 is the whole machine.
        load: f64,
    },
    /// No shares of the classes bring about themselves.
    #[error(
        "prices of {classes} classes do not settle: posted waits stay {percent:.1} % from those that \
         the choices bring about; try fewer `queue.classes`, another `queue.posted_load` or \
         log-normal delay costs"
    )]
    Unsettled {
        /// How many classes.
        classes: usize,
        /// The largest difference of a wait in the last round.
        percent: f64,
    },
}

/// What is posted for jobs, and by what they go into classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Posting {
    /// What is posted.
    pub board: Board,
    rule: Rule,
}

#[derive(Clone, Debug, PartialEq)]
enum Rule {
    /// By the least price and waiting cost.
    Price,
    /// By the delay cost of a node and hour alone: the least of each class but the last.
    Cost(Vec<f64>),
    /// The first one.
    Free,
}

impl Posting {
    /// What is posted for `classes` classes where jobs like these come within this many hours.
    ///
    /// # Errors
    /// Where the load leaves no time, or shares do not settle.
    pub fn of(
        customers: &[Customer],
        span_hours: f64,
        classes: usize,
        choice: ClassChoice,
    ) -> Result<Self, Unposted> {
        let market = Market {
            customers,
            span_hours,
            classes,
        };
        let (board, rule) = match choice {
            _ if customers.is_empty() => (Board::default(), Rule::Free),
            ClassChoice::Posted => (market.settled()?, Rule::Price),
            ClassChoice::Assigned => {
                let (board, cuts) = market.cut_by_cost()?;
                (board, Rule::Cost(cuts))
            }
            ClassChoice::Free => (Board::default(), Rule::Free),
        };
        Ok(Self { board, rule })
    }

    /// The class of a job, from 0.
    #[must_use]
    pub fn class_of(&self, customer: &Customer) -> usize {
        match &self.rule {
            Rule::Price => chosen(&self.board, customer),
            Rule::Cost(least) => (least.iter())
                .position(|least| customer.unit_cost >= *least)
                .unwrap_or(least.len()),
            Rule::Free => 0,
        }
    }

    /// What a job of this many hours of the whole machine pays in its class, in service units.
    #[must_use]
    pub fn price(&self, class: usize, hours: f64) -> f64 {
        match self.rule {
            Rule::Price => self.board.price(class, hours),
            Rule::Cost(_) | Rule::Free => 0.0,
        }
    }
}

/// The class with the least price and waiting cost, the first of equal ones. What the square of a
/// job's length costs is the same in all.
fn chosen(board: &Board, customer: &Customer) -> usize {
    let (mut best, mut least) = (0, f64::INFINITY);
    for (place, class) in board.classes.iter().enumerate() {
        let wait = customer.hourly_cost() * class.wait_hours;
        let total = class.hour_price * customer.expected_hours + wait;
        if total < least {
            (best, least) = (place, total);
        }
    }
    best
}

/// The jobs that prices are posted for.
struct Market<'a> {
    customers: &'a [Customer],
    span_hours: f64,
    classes: usize,
}

impl Market<'_> {
    fn loads(&self, mut class_of: impl FnMut(&Customer) -> usize) -> Vec<ClassLoad> {
        let mut loads = vec![ClassLoad::default(); self.classes];
        for customer in self.customers {
            let class = &mut loads[class_of(customer)];
            class.load += customer.hours / self.span_hours;
            class.cost += customer.hourly_cost() / self.span_hours;
        }
        loads
    }

    fn posted(&self, loads: &[ClassLoad]) -> Result<Board, Unposted> {
        let squares: f64 = (self.customers.iter())
            .map(|customer| customer.hours * customer.hours)
            .sum();
        posted(squares / 2.0 / self.span_hours, loads).ok_or_else(|| Unposted::Overloaded {
            load: loads.iter().map(|class| class.load).sum(),
        })
    }

    /// Posts for shares, averages them with those that users choose, and begins anew until what is
    /// posted is what comes of it.
    fn settled(&self) -> Result<Board, Unposted> {
        let mut loads = self.equal_loads();
        let mut difference = 0.0;
        for round in 1..=ROUNDS {
            let board = self.posted(&loads)?;
            let chosen = self.loads(|customer| chosen(&board, customer));
            let brought_about = self.posted(&chosen)?;
            difference = (board.classes.iter().zip(&brought_about.classes))
                .map(|(posted, real)| (posted.wait_hours / real.wait_hours - 1.0).abs())
                .fold(0.0, f64::max);
            if difference <= TOLERANCE {
                return Ok(board);
            }
            let step = 1.0 / f64::from(round + 1);
            for (class, other) in loads.iter_mut().zip(&chosen) {
                class.load += step * (other.load - class.load);
                class.cost += step * (other.cost - class.cost);
            }
        }
        Err(Unposted::Unsettled {
            classes: self.classes,
            percent: 100.0 * difference,
        })
    }

    /// Who loses most by an hour of waiting for each hour of service in front, and as much load in
    /// each class.
    fn equal_loads(&self) -> Vec<ClassLoad> {
        let mut order: Vec<&Customer> = self.customers.iter().collect();
        let urgency = |customer: &Customer| customer.hourly_cost() / customer.expected_hours;
        order.sort_by(|one, other| urgency(other).total_cmp(&urgency(one)));
        let all: f64 = order.iter().map(|customer| customer.hours).sum();
        let mut loads = vec![ClassLoad::default(); self.classes];
        let mut before = 0.0;
        for customer in order {
            let class = (before / all * self.classes as f64) as usize;
            let class = &mut loads[class.min(self.classes - 1)];
            class.load += customer.hours / self.span_hours;
            class.cost += customer.hourly_cost() / self.span_hours;
            before += customer.hours;
        }
        loads
    }

    /// The cuts between delay costs by which everybody's waiting costs are least in theory: the
    /// least cost of each class but the last.
    fn cut_by_cost(&self) -> Result<(Board, Vec<f64>), Unposted> {
        let mut costs: Vec<f64> = (self.customers.iter())
            .map(|customer| customer.unit_cost)
            .collect();
        costs.sort_by(|one, other| other.total_cmp(one));
        let mut tried: Vec<f64> = (1..=CUTS)
            .filter_map(|part| {
                costs
                    .get((costs.len() * part).div_ceil(CUTS).max(1) - 1)
                    .copied()
            })
            .collect();
        tried.dedup();
        let mut best: Option<(f64, Board, Vec<f64>)> = None;
        let mut cuts = vec![0_usize; self.classes - 1];
        loop {
            let least: Vec<f64> = cuts.iter().map(|&cut| tried[cut]).collect();
            let loads = self.loads(|customer| {
                let class = least.iter().position(|least| customer.unit_cost >= *least);
                class.unwrap_or(least.len())
            });
            let board = self.posted(&loads)?;
            let cost = (loads.iter().zip(&board.classes))
                .map(|(load, class)| load.cost * class.wait_hours)
                .sum();
            if best.as_ref().is_none_or(|(least, _, _)| cost < *least) {
                best = Some((cost, board, least));
            }
            // The next cuts in order, each not before the one in front of it.
            let Some(place) = cuts.iter().rposition(|&cut| cut + 1 < tried.len()) else {
                break;
            };
            let next = cuts[place] + 1;
            cuts[place..].fill(next);
        }
        let (_, board, least) = best.unwrap_or_else(|| unreachable!("one cut was tried"));
        Ok((board, least))
    }
}
