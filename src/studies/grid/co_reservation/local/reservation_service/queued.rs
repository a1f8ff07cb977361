//! Parts that wait in the queue of the cluster, like its jobs, and then for the other parts of
//! their requests (Meltzer 2005, §1).

use bookahead_core::scheduling::Policy;
use bookahead_core::units::Seconds;
use bookahead_core::workload::{FurtherCounts, Job, JobId};

use super::{Open, OpenPart, OrderKey, ReservationService};
use crate::co_reservation::local::{BegunPart, LocalService, PartOrder, Precedence, QueuedPart};

impl<P: Policy + ?Sized> ReservationService<P> {
    /// Submits a part as a job that lasts as long as its limit, until it is said when it ends.
    pub(super) fn queue_part(&mut self, now: Seconds, part: &QueuedPart) {
        self.settle(now);
        let key = (part.request, part.order);
        if self.void.contains_key(&key) || self.parts.contains_key(&key) {
            return;
        }
        let id = self.number(Open::Part(key));
        let job = Job::rigid(id, now, part.nodes, part.limit);
        let order = PartOrder {
            request: part.request,
            order: part.order,
            part: part.part,
            nodes: part.nodes,
            // Refused where files are read: a queue is one of CPUs.
            further: FurtherCounts::NONE,
            start: Seconds::FAR,
            duration: part.limit,
            pof_limit: 0.0,
            precedence: Precedence::Fixed,
        };
        self.parts.insert(key, OpenPart { id, order });
        self.waiting.insert(key);
        self.machine.submit([job.numbered(part.request.0.into())]);
        self.catch_up(now);
    }

    /// Writes down which queued parts have begun.
    pub(super) fn notice_begun(&mut self) {
        let cluster = self.machine.cluster();
        let since = |id: JobId| cluster.running_since(id);
        let begun = self.waiting.iter().filter_map(|key| {
            let at = since(self.parts.get(key)?.id)?;
            Some((*key, at))
        });
        for (key, at) in begun.collect::<Vec<(OrderKey, Seconds)>>() {
            self.waiting.remove(&key);
            if let Some(part) = self.parts.get_mut(&key) {
                part.order.start = at;
            }
            let (request, order) = key;
            self.begun.push(BegunPart { at, request, order });
        }
    }

    /// Says when a part ends that has begun.
    pub(super) fn end_part_at(&mut self, key: OrderKey, end: Seconds) {
        if self.waiting.contains(&key) {
            return;
        }
        if let Some(part) = self.parts.get_mut(&key) {
            self.machine.last_until(part.id, end);
            let order = &mut part.order;
            order.duration = order.duration.min(end - order.start);
        }
    }
}
