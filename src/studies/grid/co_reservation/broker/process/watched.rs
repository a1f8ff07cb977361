//! Promised parts at clusters that the broker's agent watches (Meltzer 2005, §7.4).

use bookahead_core::units::Seconds;

use super::{Effect, Process, Rules};
use crate::co_reservation::AttemptFate;
use crate::co_reservation::local::{ClusterId, LostPart};

impl Process {
    /// The clusters that hold its promised parts, unless these are over.
    pub(in super::super) fn reserved_at(&self, now: Seconds) -> impl Iterator<Item = ClusterId> {
        let end = self
            .begin
            .map(|begin| begin + self.outcome.request.duration);
        let is_over = end.is_none_or(|end| end <= now);
        let promised = self.promised.iter().flatten().filter(move |_| !is_over);
        promised.map(|held| held.candidate.cluster)
    }

    /// A cluster has not answered for long: its part is taken back until that is acknowledged, and
    /// sought elsewhere as if it were lost.
    pub(in super::super) fn give_up_cluster(
        &mut self,
        rules: &Rules,
        now: Seconds,
        cluster: ClusterId,
        effects: &mut Vec<Effect>,
    ) {
        let mut promised = self.promised.iter().flatten();
        let held = promised.find(|held| held.candidate.cluster == cluster);
        let Some(order) = held.map(|held| held.order) else {
            return;
        };
        self.give_up(now, order, AttemptFate::Unreachable);
        self.cancel(rules, now, order, cluster, effects);
        let part = LostPart {
            at: now,
            request: self.outcome.request.id,
            order,
            running: self.begin.is_some_and(|begin| begin <= now),
            displaced: false,
        };
        self.lost(rules, now, cluster, part, effects);
    }
}
