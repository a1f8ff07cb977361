//! Orders that are taken back.

use bookahead_core::units::Seconds;

use super::{Effect, Process, Rules, Stage, Wait, Waiting};
use crate::co_reservation::AttemptFate;
use crate::co_reservation::local::ClusterId;
use crate::co_reservation::messages::Instruction;

impl Process {
    /// Takes an order back until that is acknowledged.
    pub(super) fn cancel(
        &mut self,
        rules: &Rules,
        now: Seconds,
        order: u32,
        cluster: ClusterId,
        effects: &mut Vec<Effect>,
    ) {
        self.outcome.messages.cancelled += 1;
        self.give_up(now, order, AttemptFate::Cancelled);
        self.cancelling.insert(order, cluster);
        self.send_cancel(rules, now, order, cluster, effects);
    }

    /// An order is taken back, or its part is lost.
    pub(super) fn give_up(&mut self, now: Seconds, order: u32, fate: AttemptFate) {
        let attempt = &mut self.outcome.attempts[order as usize];
        attempt.given_up = Some(now);
        if attempt.fate == AttemptFate::Reserved {
            attempt.fate = fate;
        }
    }

    pub(super) fn send_cancel(
        &self,
        rules: &Rules,
        now: Seconds,
        order: u32,
        cluster: ClusterId,
        effects: &mut Vec<Effect>,
    ) {
        let request = self.outcome.request.id;
        effects.push(Effect::Send(
            cluster,
            Instruction::Cancel { request, order },
        ));
        self.wake(rules, now, Wait::Cancel(order), effects);
    }

    /// A cancellation is acknowledged, or `unanswered` by a cluster: the request goes on either
    /// way.
    pub(super) fn cancelled(
        &mut self,
        rules: &Rules,
        now: Seconds,
        order: u32,
        unanswered: Option<ClusterId>,
        effects: &mut Vec<Effect>,
    ) {
        match &mut self.stage {
            Stage::Searching(searching) => {
                if !matches!(searching.waiting, Some(Waiting::Cancel(waiting)) if waiting == order)
                {
                    return;
                }
                searching.waiting = None;
                searching.gone.extend(unanswered);
                self.proceed(rules, now, effects);
            }
            Stage::GivingBack { outstanding } => {
                let is_free = outstanding.remove(&order) && outstanding.is_empty();
                if is_free && rules.search.algorithm.row().queues {
                    self.queue_parts(rules, now, effects);
                } else if is_free {
                    let plan = self.plan_anew(rules, now);
                    self.seek(rules, now, plan, effects);
                }
            }
            Stage::Probing { .. } | Stage::Queueing(_) | Stage::Settled => {}
        }
    }
}
