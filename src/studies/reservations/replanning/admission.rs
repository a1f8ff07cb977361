//! Admission of reservations, with start and price: one plan, six rules (Heine 2005, §3; Singh
//! 2008, chapters 3 and 5).

use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{JobId, ReservationRequest, WantedStart};

use super::outcome::RequestVerdict;
use super::policy::Replanning;
use super::pricing::Offer;
use super::settings::Admission;
use crate::selection::choose;

/// The answer to a request.
pub(super) struct Decision {
    pub(super) verdict: RequestVerdict,
    /// The start, where it is granted.
    pub(super) start: Option<Seconds>,
    /// The externality price, where prices are asked.
    pub(super) price: Option<NodeSeconds>,
    pub(super) offers: Vec<Offer>,
    /// Running jobs that are stopped at its start.
    pub(super) stopped: Vec<JobId>,
}

impl Decision {
    fn refused(verdict: RequestVerdict) -> Self {
        Self {
            verdict,
            start: None,
            price: None,
            offers: Vec::new(),
            stopped: Vec::new(),
        }
    }
}

/// Answers a request as of now. Nothing is booked yet.
pub(super) fn decide(plan: &mut Replanning, request: &ReservationRequest) -> Decision {
    if request.nodes > plan.most_reserved() {
        return Decision::refused(RequestVerdict::TooWide);
    }
    if request.duration <= Seconds::ZERO {
        return Decision::refused(RequestVerdict::NoDuration);
    }
    let soonest = plan.now() + plan.notice(request.nodes);
    match request.wanted {
        WantedStart::At(start) if start < plan.now() => {
            Decision::refused(RequestVerdict::StartInThePast)
        }
        WantedStart::At(start) if start < soonest => {
            Decision::refused(RequestVerdict::TooShortNotice)
        }
        WantedStart::At(start) => at(plan, request, start),
        WantedStart::From { earliest, alpha } => from(plan, request, earliest.max(soonest), alpha),
    }
}

fn at(plan: &mut Replanning, request: &ReservationRequest, start: Seconds) -> Decision {
    let end = start + request.duration;
    let wanted = plan.of_reservation(request.nodes);
    if plan.settings().admission.preempts() {
        return match plan.stopped_for(start, end, request.nodes) {
            Err(verdict) => Decision::refused(verdict),
            Ok(stopped) => Decision {
                verdict: RequestVerdict::Granted,
                start: Some(start),
                price: None,
                offers: Vec::new(),
                stopped,
            },
        };
    }
    if !plan.fixed().is_free(start, end, wanted) {
        return Decision::refused(RequestVerdict::ConflictsWithFixed);
    }
    let admission = plan.settings().admission;
    let in_the_way = if admission.moves() {
        pushes_away_others(plan, start, end, request.nodes)
    } else {
        !plan.leaves_free(start, end, request.nodes)
    };
    if in_the_way {
        return Decision::refused(RequestVerdict::ConflictsWithPlanned);
    }
    let price = match admission {
        Admission::MovePrice => plan.price(start, request.nodes, request.duration),
        Admission::Holes
        | Admission::Reject
        | Admission::Move
        | Admission::Truncate
        | Admission::Requeue => None,
    };
    Decision {
        verdict: RequestVerdict::Granted,
        start: Some(start),
        price,
        offers: Vec::new(),
        stopped: Vec::new(),
    }
}

/// Whether the slot takes the place of a job that the guard protects, or delays one that no
/// reservation may delay.
fn pushes_away_others(plan: &mut Replanning, start: Seconds, end: Seconds, nodes: Nodes) -> bool {
    !fits_beside_starving_jobs(plan, start, end, nodes)
        || plan.delays_undelayed_job(start, end, nodes)
}

/// Whether the slot leaves the planned places of those who have waited longer than the guard alone.
/// They come first in the order of planning.
fn fits_beside_starving_jobs(
    plan: &Replanning,
    start: Seconds,
    end: Seconds,
    nodes: Nodes,
) -> bool {
    let Some(guard) = plan.settings().starvation_guard else {
        return true;
    };
    let now = plan.now();
    let mut starving: Vec<_> = plan
        .queue()
        .iter()
        .filter(|waiting| now - waiting.since >= guard)
        .copied()
        .collect();
    if starving.is_empty() {
        return true;
    }
    starving.sort_by_key(|waiting| (waiting.since, waiting.job));
    let mut free = plan.fixed().clone();
    free.plan_queue(now, &starving, plan.settings().backfilling);
    free.is_free(start, end, plan.of_reservation(nodes))
}

fn from(
    plan: &mut Replanning,
    request: &ReservationRequest,
    earliest: Seconds,
    alpha: f64,
) -> Decision {
    let (nodes, duration) = (request.nodes, request.duration);
    let admission = plan.settings().admission;
    let offers = match admission {
        Admission::MovePrice => {
            let mut offers = plan.offers(earliest, nodes, duration);
            offers.retain(|offer| {
                let end = offer.start + duration;
                !pushes_away_others(plan, offer.start, end, nodes)
            });
            offers
        }
        // A request that chooses always finds a start for which no job has to give way.
        Admission::Move
        | Admission::Holes
        | Admission::Reject
        | Admission::Truncate
        | Admission::Requeue => {
            let instants = plan.candidate_instants();
            let earliest = earliest.max(plan.now());
            let wanted = plan.of_reservation(nodes);
            let free = |start: Seconds, plan: &mut Replanning| {
                let end = start + duration;
                let free = if admission.moves() {
                    plan.fixed()
                } else {
                    plan.planned().1
                };
                free.is_free(start, end, wanted)
                    && (!admission.moves() || !pushes_away_others(plan, start, end, nodes))
            };
            std::iter::once(earliest)
                .chain(instants.into_iter().filter(|start| *start > earliest))
                .filter(|start| free(*start, plan))
                .map(|start| Offer {
                    start,
                    price: NodeSeconds(0),
                })
                .collect()
        }
    };
    let values = offers
        .iter()
        .map(|offer| (offer.price.0 as f64, offer.start.0 as f64));
    let Some(chosen) = choose(values, alpha) else {
        return Decision::refused(RequestVerdict::ConflictsWithFixed);
    };
    let Offer { start, price } = offers[chosen];
    Decision {
        verdict: RequestVerdict::Granted,
        start: Some(start),
        price: (admission == Admission::MovePrice).then_some(price),
        offers,
        stopped: Vec::new(),
    }
}
