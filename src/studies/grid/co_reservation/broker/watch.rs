//! An agent that watches the clusters at which something is reserved (Meltzer 2005, §7.4).

use std::collections::BTreeSet;

use bookahead_core::units::Seconds;
use bookahead_core::workload::CoRequestId;

use super::Broker;
use crate::co_reservation::local::ClusterId;

impl Broker {
    /// The clusters that are to be polled: those that hold parts of granted requests which are not
    /// over. Of others no missed poll is remembered.
    pub fn watched(&mut self, now: Seconds) -> BTreeSet<ClusterId> {
        let processes = self.processes.values();
        let watched: BTreeSet<_> = processes.flat_map(|it| it.reserved_at(now)).collect();
        self.missed.retain(|cluster, _| watched.contains(cluster));
        watched
    }

    /// A cluster answered a poll or missed it. After so many misses in a row, what it holds is
    /// given up and sought elsewhere.
    pub fn polled(&mut self, now: Seconds, cluster: ClusterId, answers: bool) {
        if answers {
            self.missed.remove(&cluster);
            return;
        }
        let missed = self.missed.entry(cluster).or_default();
        *missed += 1;
        if self.rules.misses.is_none_or(|most| *missed < most) {
            return;
        }
        let processes = self.processes.iter();
        let holding = processes.filter(|(_, it)| it.reserved_at(now).any(|it| it == cluster));
        for id in holding.map(|(id, _)| *id).collect::<Vec<CoRequestId>>() {
            let begun = self.stopwatch.begin();
            if let Some(process) = self.processes.get_mut(&id) {
                process.give_up_cluster(&self.rules, now, cluster, &mut self.effects);
            }
            self.follow(now, id);
            self.spend(id, begun);
        }
    }
}
