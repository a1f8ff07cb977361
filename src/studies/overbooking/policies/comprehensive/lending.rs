//! Nodes that are lent and borrowed (Birkenheuer 2012, §1.2.2): while a node is not here, its place
//! in the plan is taken.

use bookahead_core::plan::{NodeSet, Reservation};
use bookahead_core::scheduling::{Absence, Cluster, NodeLender};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::JobId;

use super::Comprehensive;

impl Comprehensive {
    /// Whether this stands in the plan for nodes that are not here.
    pub(super) fn is_absence(&self, job: JobId) -> bool {
        (0..self.absences).any(|number| JobId::of_absence(number) == job)
    }
}

impl NodeLender for Comprehensive {
    fn room(
        &mut self,
        cluster: &Cluster,
        among: &NodeSet,
        length: Seconds,
        until: Seconds,
    ) -> Vec<(Seconds, Nodes)> {
        self.refresh(cluster.now());
        let now = (cluster.now(), cluster.up());
        self.plan.room(now, among, length, until)
    }

    fn free_nodes(&mut self, cluster: &Cluster, start: Seconds, end: Seconds) -> NodeSet {
        self.refresh(cluster.now());
        let usable = Some((cluster.now(), cluster.up()));
        self.plan.free_throughout(start, end, usable)
    }

    fn plan_without(&mut self, absences: Vec<Absence>) {
        for number in 0..self.absences {
            let job = JobId::of_absence(number);
            self.plan.remove(job);
            self.completions.remove(job);
        }
        self.absences = 0;
        for Absence { nodes, start, end } in absences {
            let job = JobId::of_absence(self.absences);
            self.absences += 1;
            if self.overbooks {
                self.expect_at(job, end);
            }
            self.plan.insert(Reservation {
                job,
                nodes,
                start,
                end,
            });
        }
    }
}
