//! Where a new job is placed: at full length, shortened, or on top of its predecessors.

use super::Shortening;
use super::judgement::Judgement;
use crate::policies::overbooking_2008::{
    AnchorPoint, AnchorPredecessor, PlacementKind, ShortenedPlacement, ShorteningRequest,
    place_shortened, shortened_duration,
};
use bookahead_core::plan::NodeSet;
use bookahead_core::scheduling::Cluster;
use bookahead_core::units::Seconds;
use bookahead_core::workload::Job;

/// A place for a new job.
pub(super) struct Slot {
    pub(super) placement: ShortenedPlacement,
    pub(super) nodes: NodeSet,
    /// `t_s`, from which on the nodes are the job's own.
    pub(super) anchor: Seconds,
    /// The end of the reservation: that of the slot, but not after the deadline nor more than the
    /// estimate from the anchor.
    pub(super) end: Seconds,
    pub(super) predecessors: u32,
}

impl Shortening {
    pub(super) fn place(&self, cluster: &Cluster, job: &Job, judged: Judgement) -> Option<Slot> {
        if !judged.promising {
            let longer = (judged.full > job.estimate)
                .then(|| self.place_full(cluster, job, judged.full))
                .flatten();
            return longer.or_else(|| self.place_full(cluster, job, job.estimate));
        }
        let from = cluster.now().max(job.release);
        let usable = Some((cluster.now(), cluster.up()));
        let request = ShorteningRequest {
            estimate: job.estimate,
            nodes: job.nodes,
            release: from,
            deadline: job.deadline,
            fixed: false,
            promising: true,
        };
        let starts = self.plan.candidate_starts(from, job.deadline - Seconds(1));
        let mut sweep = self.plan.sweep();
        starts.into_iter().find_map(|start| {
            let (nodes, slot_end) = sweep.longest_free(start, job.nodes, usable)?;
            let mut anchor = AnchorPoint {
                start,
                // At least this many; more make no difference.
                free: job.nodes,
                slot_end,
                predecessors: Vec::new(),
            };
            let search = |anchor: &AnchorPoint| {
                place_shortened(std::slice::from_ref(anchor), &request, judged.max_pof)
            };
            let placement = search(&anchor).or_else(|| {
                // As much must be gained that even the shortened duration ends in time.
                let needed = start + shortened_duration(job.estimate, judged.max_pof)
                    - slot_end.min(job.deadline);
                anchor.predecessors = self.direct_predecessors(&nodes, from, start, needed)?;
                search(&anchor)
            })?;
            let nodes = match placement.kind {
                // Some n nodes stay free for the whole estimate; the lowest-numbered such are
                // taken.
                PlacementKind::FullLength => {
                    self.plan
                        .first_full(&[start], job.nodes, job.estimate, usable)?
                        .1
                }
                PlacementKind::Shortened | PlacementKind::OnPredecessors => nodes,
            };
            Some(Slot {
                placement,
                nodes,
                anchor: start,
                end: slot_end.min(job.deadline).min(start + job.estimate),
                predecessors: anchor.predecessors.len() as u32,
            })
        })
    }

    /// The first slot of this length, on the lowest-numbered nodes.
    pub(super) fn place_full(&self, cluster: &Cluster, job: &Job, length: Seconds) -> Option<Slot> {
        let from = cluster.now().max(job.release);
        let usable = Some((cluster.now(), cluster.up()));
        let starts = self.plan.candidate_starts(from, job.deadline - length);
        let (start, nodes) = self.plan.first_full(&starts, job.nodes, length, usable)?;
        let end = start + length;
        Some(Slot {
            placement: ShortenedPlacement {
                anchor: 0,
                start,
                end,
                kind: PlacementKind::FullLength,
            },
            nodes,
            anchor: start,
            end,
            predecessors: 0,
        })
    }

    /// The jobs whose reservation ends exactly at `anchor` on one of `nodes`, with what may
    /// be cut of them. Nodes on which none ends then cannot be had before their last reservation
    /// ends: that limits the cut of all. `None` if there is none, or if less than `needed` can be
    /// gained.
    fn direct_predecessors(
        &self,
        nodes: &NodeSet,
        from: Seconds,
        anchor: Seconds,
        needed: Seconds,
    ) -> Option<Vec<AnchorPredecessor>> {
        if anchor - from < needed {
            return None;
        }
        let mut others = nodes.clone();
        let mut overbookable = Vec::new();
        for reservation in self.plan.reservations() {
            if reservation.end == anchor && reservation.nodes.intersects(nodes) {
                let each = self.bookings.get(&reservation.job)?.overbookable();
                if each < needed {
                    return None;
                }
                others.subtract(&reservation.nodes);
                overbookable.push(each);
            }
        }
        if overbookable.is_empty() {
            return None;
        }
        let free_from = self
            .plan
            .reservations()
            .iter()
            .filter(|reservation| {
                reservation.end > from
                    && reservation.end < anchor
                    && reservation.nodes.intersects(&others)
            })
            .map(|reservation| reservation.end)
            .max()
            .unwrap_or(from);
        let predecessors = overbookable.into_iter().map(|each| AnchorPredecessor {
            overbookable: each.min(anchor - free_from),
            fixed: false,
        });
        Some(predecessors.collect())
    }
}
