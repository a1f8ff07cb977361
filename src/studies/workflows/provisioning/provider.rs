//! A provider as a broker sees it: it advertises slots or answers queries, takes reservations, and
//! runs jobs from its queue.

mod planning;

pub use planning::PlanningSite;

use bookahead_core::plan::{Piece, Slot};
use bookahead_core::scheduling::JobOutcome;
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{Job, JobId, RequestId};
use bookahead_reservations::replanning::Offer;
use bookahead_reservations::slots::{RectangleSite, SlotSource};

use super::queue_choice::WAITS_KEPT;
use super::{CopiesAtSite, Provider, ProvisioningSettings, SiteWorkload};

/// A site: a machine, its queue and its sold slots. Cloning it forks the simulation.
///
/// Every question is answered as of [`ProviderSite::now`], at the end of that second: all its
/// events have happened.
#[derive(Clone)]
pub enum ProviderSite {
    /// Its plan is a list of free rectangles, which it also sells (ALG-1; Singh 2008, chapter 4).
    /// It knows run times exactly.
    Rectangles(Box<RectangleSite>),
    /// It plans its queue anew at every event.
    Planning(Box<PlanningSite>),
}

/// Questions of a broker to a site.
#[derive(Clone, Debug, PartialEq)]
pub enum SiteQuestion {
    /// Let time pass to the end of this second. These jobs arrive on the way; one that is submitted
    /// later arrives at its submission.
    PassTo {
        /// The second.
        time: Seconds,
        /// Jobs of others.
        arrivals: Vec<Job>,
    },
    /// Let time pass to the end of this second, in which best effort sends and cancels copies of
    /// tasks. These jobs of others arrive on the way.
    PassWithCopies {
        /// The second.
        time: Seconds,
        /// Jobs of others.
        arrivals: Vec<Job>,
        /// The copies.
        copies: CopiesAtSite,
    },
    /// How long are jobs of these widths predicted to wait?
    PredictWaits {
        /// Processors of each.
        nodes: Vec<Nodes>,
        /// The quantile of the latest waits that the prediction is.
        quantile: f64,
    },
    /// Which slots are there?
    Advertise,
    /// Which starts are there, not before `start`, and at what price? (query form (19))
    QueryFrom {
        /// The earliest start.
        start: Seconds,
        /// Processors.
        nodes: Nodes,
        /// The duration.
        duration: Seconds,
    },
    /// Book a piece of an advertised slot. Pieces of one divisible slot must be bought in the order
    /// of their starts: after a sale, the part in front of the sold piece is no longer divisible
    /// (AMB-10).
    BuyPiece {
        /// The number under which it is booked.
        id: RequestId,
        /// The slot as it was advertised.
        slot: Slot,
        /// The piece.
        piece: Piece,
        /// Whether parts are sold of any slot.
        in_parts: bool,
    },
    /// Book a start that was offered, if it still costs no more.
    Reserve {
        /// The number under which it is booked.
        id: RequestId,
        /// Start.
        start: Seconds,
        /// Processors.
        nodes: Nodes,
        /// The duration.
        duration: Seconds,
        /// The externality price that was offered.
        price: NodeSeconds,
    },
    /// Can these be had together, and what does each cost beside those before it? Nothing is
    /// booked.
    PriceTogether {
        /// A number from which on none is booked.
        first: RequestId,
        /// In the order in which they would be booked.
        wanted: Vec<BookedStart>,
    },
    /// Cancel a booking that has not begun.
    Cancel(RequestId),
    /// Take back, from now on, the rest of a booking that has begun.
    GiveBackRest(RequestId),
    /// What happened to jobs since the last such question, and when is the next event?
    Report,
}

/// Processors from a start on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookedStart {
    /// Start.
    pub start: Seconds,
    /// Processors.
    pub nodes: Nodes,
    /// The duration.
    pub duration: Seconds,
}

/// The answer of a site.
#[derive(Clone, Debug, PartialEq)]
pub enum SiteAnswer {
    /// It is done.
    Done,
    /// The wanted piece or start is gone, dearer, or impossible; or the site has no such answers.
    Gone,
    /// The copies that have started, of those that were asked about.
    Started(Vec<JobId>),
    /// Predicted waits in the order of the question.
    Waits(Vec<Seconds>),
    /// Slots, disjoint, by start.
    Slots(Vec<Slot>),
    /// Offers by start.
    Offers(Vec<Offer>),
    /// Externality prices in the order of the question; `None` where what was asked for collides.
    Prices(Option<Vec<NodeSeconds>>),
    /// A report of events.
    Report(SiteReport),
}

/// The events at a site since the last report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteReport {
    /// Jobs that became final since the last report, in that order.
    pub outcomes: Vec<JobOutcome>,
    /// The time of the next event, if there is any.
    pub next_event: Option<Seconds>,
    /// Waiting and running jobs, and slots that were sold and have not ended (AMB-24d).
    pub tasks_in_system: usize,
    /// Processor-time that jobs and reservations have used so far; not known of a site that keeps
    /// rectangles, and 0.
    pub used: NodeSeconds,
}

impl ProviderSite {
    /// An idle site at time 0.
    #[must_use]
    pub fn new(nodes: Nodes, settings: &ProvisioningSettings) -> Self {
        match settings.provider {
            Provider::Advertised {
                source: SlotSource::FreeRectangles,
                rules,
            } => Self::Rectangles(Box::new(RectangleSite::new(nodes, rules))),
            provider => {
                let mut site = PlanningSite::new(nodes, settings.replanning.clone(), provider);
                if settings.queue_choice.quantile().is_some() {
                    site.machine.plan().remember_waits(WAITS_KEPT);
                }
                Self::Planning(Box::new(site))
            }
        }
    }

    /// The idle site that has these jobs, at time 0.
    #[must_use]
    pub fn of(workload: &SiteWorkload, settings: &ProvisioningSettings) -> Self {
        let mut site = Self::new(workload.nodes, settings);
        if let (Self::Planning(site), Some(memory)) = (&mut site, workload.memory) {
            site.machine.count_memory(memory);
        }
        site
    }

    /// Answers a question as of now.
    pub fn answer(&mut self, question: SiteQuestion) -> SiteAnswer {
        let granted = match question {
            SiteQuestion::PassTo { time, arrivals } => {
                self.submit(arrivals);
                self.pass_to(time);
                true
            }
            SiteQuestion::PassWithCopies {
                time,
                arrivals,
                copies,
            } => {
                self.submit(arrivals);
                let started = self.pass_with_copies(time, copies);
                return started.map_or(SiteAnswer::Gone, SiteAnswer::Started);
            }
            SiteQuestion::PredictWaits { nodes, quantile } => {
                let waits = self.predicted_waits(&nodes, quantile);
                return waits.map_or(SiteAnswer::Gone, SiteAnswer::Waits);
            }
            SiteQuestion::Advertise => return SiteAnswer::Slots(self.advertised()),
            SiteQuestion::QueryFrom {
                start,
                nodes,
                duration,
            } => {
                let offers = self.offers(start, nodes, duration);
                return offers.map_or(SiteAnswer::Gone, SiteAnswer::Offers);
            }
            SiteQuestion::BuyPiece {
                id,
                slot,
                piece,
                in_parts,
            } => {
                let sold = Slot {
                    divisible: slot.divisible || in_parts,
                    ..slot
                };
                self.buy(id, &sold, piece)
            }
            SiteQuestion::Reserve {
                id,
                start,
                nodes,
                duration,
                price,
            } => self.reserve(id, start, nodes, duration, price),
            SiteQuestion::PriceTogether { first, wanted } => {
                return match self {
                    Self::Planning(site) if site.provider == Provider::Queried => {
                        SiteAnswer::Prices(site.price_together(first, &wanted))
                    }
                    Self::Planning(_) | Self::Rectangles(_) => SiteAnswer::Gone,
                };
            }
            SiteQuestion::Cancel(id) => self.cancel(id),
            SiteQuestion::GiveBackRest(id) => self.give_back_rest(id),
            SiteQuestion::Report => {
                return SiteAnswer::Report(SiteReport {
                    outcomes: self.take_job_outcomes(),
                    next_event: self.next_event(),
                    tasks_in_system: self.tasks_in_system(),
                    used: self.used(),
                });
            }
        };
        if granted {
            SiteAnswer::Done
        } else {
            SiteAnswer::Gone
        }
    }

    /// Virtual time.
    #[must_use]
    pub fn now(&self) -> Seconds {
        match self {
            Self::Rectangles(site) => site.now(),
            Self::Planning(site) => site.machine.cluster().now(),
        }
    }

    /// The widest task that it can hold.
    #[must_use]
    pub fn nodes_for_tasks(&self) -> Nodes {
        match self {
            Self::Rectangles(site) => site.nodes(),
            Self::Planning(site) => site.machine.policy().most_reserved(),
        }
    }

    /// Hands over jobs; none may be submitted in the past. Those of the same second are queued in
    /// the order given.
    pub fn submit(&mut self, jobs: impl IntoIterator<Item = Job>) {
        match self {
            Self::Rectangles(site) => site.submit(jobs),
            Self::Planning(site) => site.machine.submit(jobs),
        }
    }

    /// Processes every event before `until`, and lets time pass to the last of them.
    pub fn advance(&mut self, until: Seconds) {
        match self {
            Self::Rectangles(site) => site.advance(until),
            Self::Planning(site) => site.machine.advance(until),
        }
    }

    /// Lets time pass to the end of the second `time`.
    pub fn pass_to(&mut self, time: Seconds) {
        match self {
            Self::Rectangles(site) => site.pass_to(time),
            Self::Planning(site) => {
                site.machine.wait_until(time);
                site.machine.advance(time + Seconds(1));
            }
        }
    }

    /// Lets time pass to the end of the second `time`, in which copies of tasks arrive and are
    /// cancelled; returns which of those that are watched have started. `None` from a site that
    /// keeps rectangles, where every job keeps its place.
    pub fn pass_with_copies(&mut self, time: Seconds, copies: CopiesAtSite) -> Option<Vec<JobId>> {
        match self {
            Self::Rectangles(_) => None,
            Self::Planning(site) => Some(site.pass_with_copies(time, copies)),
        }
    }

    /// How long jobs of these widths are predicted to wait: for each, this quantile of the latest
    /// waits in its node bin, and 0 where no job of it has started yet. `None` from a site that
    /// remembers no waits.
    #[must_use]
    pub fn predicted_waits(&self, nodes: &[Nodes], quantile: f64) -> Option<Vec<Seconds>> {
        match self {
            Self::Rectangles(_) => None,
            Self::Planning(site) => {
                let wait = |&nodes| site.machine.policy().predicted_wait(nodes, quantile);
                nodes.iter().map(wait).collect()
            }
        }
    }

    /// The time of the next event, if there is any.
    #[must_use]
    pub fn next_event(&self) -> Option<Seconds> {
        match self {
            Self::Rectangles(site) => site.next_event(),
            Self::Planning(site) => site.machine.next_event(),
        }
    }

    /// Jobs that became final since the last call, in that order.
    pub fn take_job_outcomes(&mut self) -> Vec<JobOutcome> {
        match self {
            Self::Rectangles(site) => site.take_job_outcomes(),
            Self::Planning(site) => site.machine.take_outcomes(),
        }
    }

    /// Waiting and running jobs, and slots that were sold and have not ended (AMB-24d).
    #[must_use]
    pub fn tasks_in_system(&self) -> usize {
        match self {
            Self::Rectangles(site) => site.tasks_in_system(),
            Self::Planning(site) => site.machine.policy().tasks_in_system(),
        }
    }

    fn used(&mut self) -> NodeSeconds {
        match self {
            Self::Rectangles(_) => NodeSeconds(0),
            Self::Planning(site) => site.machine.plan().used(),
        }
    }

    /// The slots that are advertised now: disjoint, by start (Singh 2008, chapter 3). Empty for a
    /// site that answers queries.
    pub fn advertised(&mut self) -> Vec<Slot> {
        match self {
            Self::Rectangles(site) => site.advertised(),
            Self::Planning(site) => site.advertised(),
        }
    }

    /// Every start from `earliest` on with its price (query form (19)); `None` from a site that
    /// does not answer queries.
    pub fn offers(
        &mut self,
        earliest: Seconds,
        nodes: Nodes,
        duration: Seconds,
    ) -> Option<Vec<Offer>> {
        match self {
            Self::Rectangles(_) => None,
            Self::Planning(site) => site.offers(earliest, nodes, duration),
        }
    }

    /// Books a piece of an advertised slot; returns whether it was still available. A slot that was
    /// advertised as a whole may be passed as divisible; then parts of it are sold.
    pub fn buy(&mut self, id: RequestId, slot: &Slot, piece: Piece) -> bool {
        match self {
            Self::Rectangles(site) => site.buy(id, slot, piece),
            Self::Planning(site) => site.buy(id, slot, piece),
        }
    }

    /// Books a start that was offered at this price; returns whether it was still available for no
    /// more.
    pub fn reserve(
        &mut self,
        id: RequestId,
        start: Seconds,
        nodes: Nodes,
        duration: Seconds,
        price: NodeSeconds,
    ) -> bool {
        match self {
            Self::Rectangles(_) => false,
            Self::Planning(site) => site.reserve(id, start, nodes, duration, price),
        }
    }

    /// Cancels the booking with this number if it has not begun; returns whether there was one.
    pub fn cancel(&mut self, id: RequestId) -> bool {
        match self {
            Self::Rectangles(site) => site.cancel(id),
            Self::Planning(site) => site.cancel(id),
        }
    }

    /// Takes back, from now on, the rest of the booking with this number if it has begun; returns
    /// whether there was one. Others may have it.
    pub fn give_back_rest(&mut self, id: RequestId) -> bool {
        match self {
            Self::Rectangles(site) => site.give_back_rest(id),
            Self::Planning(site) => site.give_back_rest(id),
        }
    }
}

#[cfg(test)]
mod tests;
