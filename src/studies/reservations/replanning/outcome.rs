//! The outcome of a reservation request, and the totals of a simulation with reservations.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{COST_CLASSES, ReservationRequest};

use super::delay_costs::JobCost;
use super::pricing::Offer;

/// The complete record of one reservation request: what was asked, offered, chosen and kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReservationOutcome {
    /// What was asked.
    pub request: ReservationRequest,
    /// Granted, or why not.
    pub verdict: RequestVerdict,
    /// The start that was granted; kept to the second.
    pub start: Option<Seconds>,
    /// When the use ended, at most `start + duration`.
    pub end: Option<Seconds>,
    /// The externality price f that was paid, where prices are asked; of one that its owner
    /// cancelled, what was due for that.
    pub price: Option<NodeSeconds>,
    /// What was offered, where the request chose.
    pub offers: Vec<Offer>,
    /// Waiting jobs that were pushed to later starts, where that is recorded.
    pub displaced_jobs: Option<u32>,
    /// The sum of their delays, without weights.
    pub displaced: Option<Seconds>,
    /// When its twin job started, where it has one.
    pub twin_start: Option<Seconds>,
}

/// How a request ended.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    VariantArray,
    IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum RequestVerdict {
    /// Admitted, and started exactly at its start.
    Granted,
    /// Admitted, and cancelled before it started.
    Cancelled,
    /// Running jobs or other reservations hold its nodes.
    ConflictsWithFixed,
    /// Planned jobs hold its nodes, and they do not give way.
    ConflictsWithPlanned,
    /// It asks for more nodes than the machine has.
    TooWide,
    /// It asks for no time.
    NoDuration,
    /// It asks for a start before its submission.
    StartInThePast,
    /// Admitted, but a node failed under it, or too many were down at its start.
    Lost,
    /// It asks for a start sooner than the notice that the machine wants.
    TooShortNotice,
}

impl RequestVerdict {
    /// Every verdict, in the order of the codes in the store.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The name in the store and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The request was refused.
    #[must_use]
    pub fn is_rejected(self) -> bool {
        !matches!(self, Self::Granted | Self::Cancelled | Self::Lost)
    }
}

/// Totals over the requests of one simulation, and over the machine with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReservationTotals {
    /// Requests submitted.
    pub submitted: u64,
    /// Of those, granted (cancelled ones included).
    pub granted: u64,
    /// Of those, cancelled before they started.
    pub cancelled: u64,
    /// Σ of what was due for that.
    pub cancellation_penalties: NodeSeconds,
    /// Requests whose owners keep what they are granted.
    pub kept: KeptTotals,
    /// Refused because of running jobs or reservations.
    pub conflicts_with_fixed: u64,
    /// Refused because of planned jobs.
    pub conflicts_with_planned: u64,
    /// Refused because the request itself is impossible.
    pub impossible: u64,
    /// Whether a notice was asked for.
    pub asked_for_notice: bool,
    /// Refused because the start was asked for too late.
    pub too_short_notice: u64,
    /// Σ externality prices paid.
    pub price: NodeSeconds,
    /// Granted requests that paid a price above 0.
    pub priced: u64,
    /// Whether prices were asked.
    pub asked_for_prices: bool,
    /// Σ of the squares of the prices, SU².
    pub squared_price_su: f64,
    /// Σ (start − submission) of granted requests.
    pub wait: Seconds,
    /// Offers made, over all requests that chose.
    pub offers: u64,
    /// Whether displaced jobs were counted.
    pub displacement_known: bool,
    /// Jobs pushed to later starts.
    pub displaced_jobs: u64,
    /// Σ of their delays.
    pub displaced: Seconds,
    /// Node-time that granted requests used.
    pub used: NodeSeconds,
    /// Node-time that granted requests held, used or not.
    pub held: NodeSeconds,
    /// Node-time used by jobs and reservations from the first to the last submission of a job
    /// (A11).
    pub used_while_submitting: NodeSeconds,
    /// From the first to the last submission of a job.
    pub submitting: Seconds,
    /// Times that planning anew without a new reservation moved a job to a later start (A3), where
    /// plans are kept.
    pub anomalies: u64,
    /// Granted reservations that were lost to failures of nodes.
    pub lost: u64,
    /// Node-time of runs of jobs and reservations that ended with a failure.
    pub lost_to_failures: NodeSeconds,
    /// Jobs that ended before they had finished, for a reservation.
    pub truncated: u64,
    /// Times that a job was stopped for a reservation, and queued again.
    pub requeued: u64,
    /// Node-time of runs that were stopped for a reservation before they had finished.
    pub lost_to_preemption: NodeSeconds,
    /// Jobs that were ever stopped for a reservation.
    pub stopped: JobSums,
    /// Jobs that may be, those that were among them.
    pub preemptible: JobSums,
    /// Jobs that may not be; these three are counted where preemptible jobs are known.
    pub others: JobSums,
    /// What waiting cost, where jobs have delay costs.
    pub waiting: WaitingCosts,
}

/// Waiting costs, nodes · delay cost · wait, in service units (Singh 2008, §2.1.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WaitingCosts {
    /// Jobs whose owners state the costs that they have.
    pub truthful: CostSums,
    /// Jobs whose owners state others.
    pub misstating: CostSums,
    /// Granted reservations, which have the costs of the jobs that they were made from.
    pub reservations: CostSums,
    /// Of those, those of owners who state the truth: what waiting, the price and booked time that
    /// is not used cost them.
    pub truthful_requests: CostSums,
    /// Those of owners who do not.
    pub misstating_requests: CostSums,
    /// Jobs by the class of their costs, where there are classes.
    pub classes: [JobSums; COST_CLASSES],
}

/// Sums over what has waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CostSums {
    /// How many.
    pub count: u64,
    /// What it cost.
    pub cost_su: f64,
}

impl CostSums {
    fn add(&mut self, nodes: Nodes, cost: f64, wait: Seconds) {
        self.count += 1;
        self.cost_su += cost * nodes.for_span(wait).coins().0;
    }
}

impl WaitingCosts {
    pub(super) fn count_job(
        &mut self,
        nodes: Nodes,
        cost: &JobCost,
        wait: Seconds,
        bounded_slowdown: f64,
    ) {
        let sums = match cost.misstates {
            true => &mut self.misstating,
            false => &mut self.truthful,
        };
        sums.add(nodes, cost.cost, wait);
        if let Some(class) = cost.class {
            self.classes[class].add(wait, bounded_slowdown);
        }
    }

    pub(super) fn count_reservation(&mut self, outcome: &ReservationOutcome, cost: &JobCost) {
        if let (Some(start), Some(_)) = (outcome.start, outcome.end) {
            let request = &outcome.request;
            let wait = start - request.submit;
            self.reservations.add(request.nodes, cost.cost, wait);
            let sums = match cost.misstates {
                true => &mut self.misstating_requests,
                false => &mut self.truthful_requests,
            };
            sums.add(request.nodes, cost.cost, wait);
            let unused = request.duration - request.runtime.min(request.duration);
            let paid = request.nodes.for_span(unused) + outcome.price.unwrap_or_default();
            sums.cost_su += paid.coins().0;
        }
    }

    /// What waiting cost everybody.
    #[must_use]
    pub fn total_su(&self) -> f64 {
        self.truthful.cost_su + self.misstating.cost_su + self.reservations.cost_su
    }
}

/// Sums over jobs that are over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobSums {
    /// How many.
    pub jobs: u64,
    /// Σ (last start − submission).
    pub wait: Seconds,
    /// Σ bounded slowdown of the last run.
    pub bounded_slowdown: f64,
}

impl JobSums {
    pub(super) fn add(&mut self, wait: Seconds, bounded_slowdown: f64) {
        self.jobs += 1;
        self.wait += wait;
        self.bounded_slowdown += bounded_slowdown;
    }
}

/// Requests whose owners keep what they are granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptTotals {
    /// How many.
    pub submitted: u64,
    /// Of those, refused.
    pub rejected: u64,
}

impl KeptTotals {
    pub(super) fn count(&mut self, outcome: &ReservationOutcome) {
        self.submitted += 1;
        self.rejected += u64::from(outcome.verdict.is_rejected());
    }
}

impl ReservationTotals {
    pub(super) fn count(&mut self, outcome: &ReservationOutcome) {
        self.submitted += 1;
        self.offers += outcome.offers.len() as u64;
        match outcome.verdict {
            RequestVerdict::Granted => self.granted += 1,
            RequestVerdict::Cancelled => {
                self.granted += 1;
                self.cancelled += 1;
            }
            RequestVerdict::Lost => {
                self.granted += 1;
                self.lost += 1;
            }
            RequestVerdict::ConflictsWithFixed => self.conflicts_with_fixed += 1,
            RequestVerdict::ConflictsWithPlanned => self.conflicts_with_planned += 1,
            RequestVerdict::TooShortNotice => self.too_short_notice += 1,
            RequestVerdict::TooWide
            | RequestVerdict::NoDuration
            | RequestVerdict::StartInThePast => self.impossible += 1,
        }
        if outcome.verdict == RequestVerdict::Cancelled {
            self.cancellation_penalties += outcome.price.unwrap_or_default();
        } else if let Some(price) = outcome.price {
            self.asked_for_prices = true;
            self.price += price;
            self.squared_price_su += price.coins().0 * price.coins().0;
            self.priced += u64::from(price > NodeSeconds(0));
        }
        self.displacement_known |= outcome.displaced_jobs.is_some();
        self.displaced_jobs += u64::from(outcome.displaced_jobs.unwrap_or(0));
        self.displaced += outcome.displaced.unwrap_or(Seconds::ZERO);
        if let (Some(start), Some(end)) = (outcome.start, outcome.end) {
            let request = &outcome.request;
            self.wait += start - request.submit;
            self.used += request.nodes.for_span(end - start);
            self.held += request.nodes.for_span(request.duration);
        }
    }

    /// Refused requests.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.submitted - self.granted
    }
}
