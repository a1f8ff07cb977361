//! A request that is a task of a workflow: what comes of it for the others, and giving it back
//! because of them.

use bookahead_core::units::Seconds;
use bookahead_core::workload::{CoRequest, CoRequestId};

use super::plan::Plan;
use super::{Effect, Process, Rules, Stage, Waiting};
use crate::co_reservation::CoVerdict;

/// What came of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum News {
    /// All its parts are reserved.
    Granted,
    /// It was refused, or a part of it was lost and not found elsewhere; its workflow.
    Failed(CoRequestId),
}

impl Process {
    /// A task that is not sought, because another one of its workflow failed.
    pub(in super::super) fn abandoned(rules: &Rules, now: Seconds, request: CoRequest) -> Self {
        let plan = Plan::first(rules, &request);
        let mut process = Self::new(rules, now, request, &plan);
        process.outcome.verdict = CoVerdict::Abandoned;
        process
    }

    /// What came of the task since the last call.
    pub(in super::super) fn take_news(&mut self) -> Option<News> {
        self.news.take()
    }

    /// When the task ends, as promised; `None` where it is not granted.
    pub(in super::super) fn promised_end(&self) -> Option<Seconds> {
        let begin = self.begin.filter(|_| !self.promised.is_empty())?;
        Some(begin + self.outcome.request.duration)
    }

    /// Something came of the request; nobody is told unless it is a task.
    pub(super) fn tell(&mut self, is_granted: bool) {
        let task = self.outcome.request.task.as_ref();
        self.news = task.map(|task| {
            if is_granted {
                News::Granted
            } else {
                News::Failed(task.workflow)
            }
        });
    }

    /// Another task of the workflow failed: this one is given back unless it may have begun before
    /// its cancellation arrives. One that was refused or lost itself keeps its verdict.
    pub(in super::super) fn abandon(
        &mut self,
        rules: &Rules,
        now: Seconds,
        effects: &mut Vec<Effect>,
    ) {
        let is_granted = self.outcome.verdict == CoVerdict::Granted;
        let is_sought = !is_granted && !matches!(self.stage, Stage::Settled);
        let soon = now + rules.latency;
        let has_begun = self.begin.is_some_and(|begin| begin <= soon);
        let is_broken = self.promised.iter().any(Option::is_none) && self.to_replace.is_empty();
        if has_begun || is_broken || !(is_granted || is_sought) {
            return;
        }
        let mut parts: Vec<_> = self.promised.drain(..).flatten().collect();
        if let Stage::Searching(searching) = std::mem::replace(&mut self.stage, Stage::Settled) {
            parts.extend(searching.held);
            // It may be granted all the same: it is taken back until that is acknowledged.
            if let Some(Waiting::Reserve(pending)) = searching.waiting {
                parts.push(pending);
            }
        }
        for part in parts {
            self.cancel(rules, now, part.order, part.candidate.cluster, effects);
        }
        self.to_replace.clear();
        self.begin = None;
        let outcome = &mut self.outcome;
        outcome.verdict = CoVerdict::Abandoned;
        if is_sought {
            outcome.answered = now;
        }
        outcome.start = None;
        outcome.clusters.clear();
        outcome.cost = None;
        outcome.pof = 0.0;
    }

    /// Tasks are sought from its promised end on.
    pub(in super::super) fn be_followed(&mut self) {
        self.is_followed = true;
    }

    /// The whole request once more. A task that others follow must end by its promised end.
    pub(super) fn plan_anew(&self, rules: &Rules, now: Seconds) -> Plan {
        let request = &self.outcome.request;
        match self.begin.filter(|_| self.is_followed) {
            None => Plan::anew(rules, now, request),
            Some(begin) => {
                let mut rest = request.clone();
                rest.deadline = begin + request.duration;
                Plan::anew(rules, now, &rest)
            }
        }
    }
}
