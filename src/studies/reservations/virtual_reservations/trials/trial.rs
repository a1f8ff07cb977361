//! One request at one instant, tried out in forks of the machine.

use serde::{Deserialize, Serialize};

use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{Job, JobId, RequestId, ReservationRequest, WantedStart};

use super::background::{Snapshot, submitted};
use super::settings::{Combination, VirtualStudySettings};
use crate::replanning::ReplanningMachine;
use crate::virtual_reservations::limits::{within_idle_limit, within_limit};
use crate::virtual_reservations::rules::{
    CombinedOutcome, VirtualSubmission, combine, normalised_cost, submission_time, virtual_cost,
    virtual_cost_bound,
};

/// What one request came to as a reservation (AR), as a virtual one (VAR) and as both (Singh 2008,
/// §6.1 to §6.4).
///
/// Costs leave out the base charge n·D; normalised ones are shares of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct VirtualTrial {
    /// T, when the request was made.
    pub asked_at: Seconds,
    /// S.
    pub wanted_start: Seconds,
    /// n.
    pub nodes: Nodes,
    /// D.
    pub duration: Seconds,
    /// T1, the padded runtime and the predicted probability; `None` if the predictor gave no
    /// submission a chance, so that nothing was submitted.
    pub submission: Option<VirtualSubmission>,
    /// T2, when the padded job started; `None` if it had not by S, or was ended before it.
    pub virtual_start: Option<Seconds>,
    /// T2 of a padded job that idled so long that the machine ended it before S.
    pub ended_idle: Option<Seconds>,
    /// T2 of the padded job that the combined scheme relied on. [`Combination::Recorded`]:
    /// `virtual_start`. [`Combination::Played`]: with the reservation beside it; `None` also where
    /// nothing was submitted because the reservation was free, and where the job would be ended for
    /// idling, which who holds a reservation knows when it starts.
    pub combined_virtual_start: Option<Seconds>,
    /// What the reservation costs beyond best effort, f + (c − 1)·n·D; `None` if it was refused.
    pub price: Option<NodeSeconds>,
    /// What the combined scheme used, at which cost.
    pub combined: CombinedOutcome,
}

impl VirtualTrial {
    /// Whether the virtual reservation started by S.
    #[must_use]
    pub fn virtual_success(&self) -> bool {
        self.virtual_cost().is_some()
    }

    /// Whether the reservation was granted: it then starts at S.
    #[must_use]
    pub fn reservation_success(&self) -> bool {
        self.price.is_some()
    }

    /// (S − T2)·n, `None` if the virtual reservation failed (Singh 2008, §6.1.1).
    #[must_use]
    pub fn virtual_cost(&self) -> Option<NodeSeconds> {
        virtual_cost(self.wanted_start, self.virtual_start, self.nodes)
    }

    /// (S − T1)·n, the most that the virtual reservation can cost once T1 is chosen; `None` if
    /// nothing was submitted (Singh 2008, §6.1.1).
    #[must_use]
    pub fn virtual_bound(&self) -> Option<NodeSeconds> {
        let submit = self.submission?.submit;
        Some(virtual_cost_bound(self.wanted_start, submit, self.nodes))
    }

    /// The virtual reservation's cost as a share of n·D (Singh 2008, eq. 22).
    #[must_use]
    pub fn normalised_virtual_cost(&self) -> Option<f64> {
        Some(self.normalised(self.virtual_cost()?))
    }

    /// (S − T1)/D; see [`virtual_bound`](Self::virtual_bound).
    #[must_use]
    pub fn normalised_virtual_bound(&self) -> Option<f64> {
        Some(self.normalised(self.virtual_bound()?))
    }

    /// The reservation's price as a share of n·D (Singh 2008, §6.3).
    #[must_use]
    pub fn normalised_price(&self) -> Option<f64> {
        Some(self.normalised(self.price?))
    }

    /// The combined scheme's cost, penalty included, as a share of n·D; `None` if it failed.
    #[must_use]
    pub fn normalised_combined_cost(&self) -> Option<f64> {
        Some(self.normalised(self.combined.extra_cost?))
    }

    fn normalised(&self, cost: NodeSeconds) -> f64 {
        normalised_cost(cost, self.nodes, self.duration)
    }
}

/// Tries the request out as of the snapshot; `jobs` is the whole trace of the snapshot.
pub(super) fn try_out(
    snapshot: &Snapshot,
    jobs: &[Job],
    settings: &VirtualStudySettings,
) -> VirtualTrial {
    let asked_at = snapshot.asked_at;
    let wanted_start = asked_at + settings.lead;
    let (nodes, duration) = (settings.nodes, settings.duration);
    let submission = submission_time(
        asked_at,
        wanted_start,
        duration,
        settings.step,
        settings.padding,
        within_limit(
            settings.limit,
            within_idle_limit(settings.idle_limit, |runtime, lead| {
                snapshot.predictor.probability(nodes, runtime, lead)
            }),
        ),
    );
    let future = &jobs[snapshot.next_job..submitted(jobs, wanted_start)];
    let play = |fork: ReplanningMachine| {
        let padded = padded_job(JobId(jobs.len() as u32), nodes, submission?);
        start_by(wanted_start, fork, future, padded)
    };
    let idles_too_long = |start: &Seconds| {
        let limit = settings.idle_limit;
        limit.is_some_and(|limit| wanted_start - *start > limit)
    };
    let started = play(snapshot.machine.clone());
    let ended_idle = started.filter(idles_too_long);
    let virtual_start = started.filter(|start| !idles_too_long(start));
    let mut reserved = snapshot.machine.clone();
    let price = reserve(&mut reserved, asked_at, wanted_start, nodes, duration);
    let booked = nodes.for_span(duration);
    let premium = NodeSeconds(settings.replanning.reserved_charge(booked).0 - booked.0);
    let combined_virtual_start = match (settings.combination, price) {
        (Combination::Recorded, _) | (Combination::Played, None) => virtual_start,
        (Combination::Played, Some(price)) if price + premium <= NodeSeconds(0) => None,
        (Combination::Played, Some(_)) => play(reserved).filter(|start| !idles_too_long(start)),
    };
    VirtualTrial {
        asked_at,
        wanted_start,
        nodes,
        duration,
        submission,
        virtual_start,
        ended_idle,
        combined_virtual_start,
        price: price.map(|price| price + premium),
        combined: combine(
            price,
            premium,
            settings.penalty_factor,
            nodes,
            wanted_start,
            combined_virtual_start,
        ),
    }
}

/// Blocks the slot in the fork if it is admitted, and says at which price (ALG-4).
fn reserve(
    fork: &mut ReplanningMachine,
    now: Seconds,
    start: Seconds,
    nodes: Nodes,
    duration: Seconds,
) -> Option<NodeSeconds> {
    let price = fork.plan().price(start, nodes, duration)?;
    fork.request([ReservationRequest {
        id: RequestId(0),
        trace_number: 0,
        user: None,
        submit: now,
        nodes,
        duration,
        runtime: duration,
        wanted: WantedStart::At(start),
    }]);
    fork.advance(now + Seconds(1));
    // A granted reservation has no outcome before it ends. Priced ones are still refused to protect
    // starving jobs.
    let granted = fork.take_reservation_outcomes().is_empty();
    granted.then_some(price)
}

fn padded_job(id: JobId, nodes: Nodes, submission: VirtualSubmission) -> Job {
    Job::rigid(id, submission.submit, nodes, submission.runtime)
}

/// When the padded job starts, if that is not after `limit`. The fork is played no further.
fn start_by(
    limit: Seconds,
    mut fork: ReplanningMachine,
    future: &[Job],
    padded: Job,
) -> Option<Seconds> {
    let id = padded.id;
    fork.submit(future.iter().cloned());
    fork.submit([padded]);
    while let Some(next) = fork.next_event().filter(|next| *next <= limit) {
        fork.advance(next + Seconds(1));
        let start = fork.cluster().running_since(id);
        if start.is_some() {
            return start;
        }
    }
    None
}
