//! The beginning of a round: clusters are probed, and the search over their offers is set up.

use std::collections::BTreeSet;

use super::plan::{self, Plan, Purpose};
use super::{Effect, Process, Rules, Searching, Stage, Wait};
use crate::co_reservation::local::{ClusterId, OfferedPart, ProbeAnswer};
use crate::co_reservation::messages::Instruction;
use crate::co_reservation::{Algorithm, FreeCpus, ProbeCounts, Search};
use bookahead_core::units::Seconds;

impl Process {
    /// Begins a round: probes every cluster, or goes straight to the search where the algorithm
    /// does not probe.
    pub(super) fn seek(
        &mut self,
        rules: &Rules,
        now: Seconds,
        plan: Plan,
        effects: &mut Vec<Effect>,
    ) {
        self.rounds += 1;
        let clusters = plan.clusters(rules);
        if !rules.search.algorithm.row().probes || clusters.is_empty() {
            let offered = plan.unprobed(rules, &self.outcome.request);
            self.stage = Stage::Probing {
                plan,
                outstanding: BTreeSet::new(),
                rest: BTreeSet::new(),
                offered,
            };
            self.search(rules, now, effects);
            return;
        }
        let (outstanding, rest) = rules.information.best_first(clusters);
        self.stage = Stage::Probing {
            plan,
            outstanding,
            rest,
            offered: Vec::new(),
        };
        self.ask(rules, now, effects);
    }

    /// Sends a probe to each cluster whose answer is to be waited for.
    fn ask(&mut self, rules: &Rules, now: Seconds, effects: &mut Vec<Effect>) {
        let Stage::Probing {
            plan, outstanding, ..
        } = &self.stage
        else {
            return;
        };
        self.outcome.messages.probed_clusters += outstanding.len() as u32;
        let probe = plan.probe(rules, &self.outcome.request, self.outcome.class);
        for &cluster in outstanding {
            self.outcome.messages.probes += probe.parts.len() as u32;
            let round = self.rounds;
            let probe = probe.clone();
            effects.push(Effect::Send(cluster, Instruction::Probe { round, probe }));
        }
        self.wake(rules, now, Wait::Probes(self.rounds), effects);
    }

    pub(super) fn probed(
        &mut self,
        rules: &Rules,
        now: Seconds,
        from: ClusterId,
        round: u32,
        answer: ProbeAnswer,
        effects: &mut Vec<Effect>,
    ) {
        let factor = self.price_factor(rules);
        let Stage::Probing {
            plan,
            outstanding,
            offered,
            ..
        } = &mut self.stage
        else {
            return;
        };
        if round != self.rounds || !outstanding.remove(&from) {
            return;
        }
        if plan.purpose == Purpose::First {
            self.outcome.probes.push(ProbeCounts {
                cluster: from,
                at: answer.at,
                counts: answer.counts,
                backlog_now: answer.backlog_now,
                backlog_earliest: answer.backlog_earliest,
            });
            let free = plan.starts.iter().zip(&answer.free_cpus);
            let free = free.map(|(&start, &free)| FreeCpus {
                cluster: from,
                start,
                free,
            });
            self.outcome.free_cpus.extend(free);
        }
        let candidates = answer.offered.iter();
        // Clusters that have not answered yet will hardly offer much more.
        offered.reserve(candidates.len() * (outstanding.len() + 1));
        offered.extend(candidates.map(|&part| {
            let cost = part.cost * factor;
            let offered = OfferedPart { cost, ..part };
            plan::candidate(rules, from, answer.large_share, offered)
        }));
        if outstanding.is_empty() {
            self.search(rules, now, effects);
        }
    }

    /// All answers that will come are there: the search for a complete candidate begins. Where
    /// there is none and not every cluster was asked, the others are, once.
    pub(super) fn search(&mut self, rules: &Rules, now: Seconds, effects: &mut Vec<Effect>) {
        let Stage::Probing {
            plan,
            rest,
            offered,
            ..
        } = std::mem::replace(&mut self.stage, Stage::Settled)
        else {
            return;
        };
        // In the order of clusters, whichever answered first: the draw alone decides the order of
        // candidates.
        self.outcome.probes.sort_by_key(|probe| probe.cluster);
        (self.outcome.free_cpus).sort_by_key(|it| (it.cluster, it.start));
        let mut candidates = offered;
        candidates.sort_by_key(|candidate| candidate.cluster);
        let request = &self.outcome.request;
        let mut stream = plan::shuffle_stream(rules, request, self.rounds);
        if plan.purpose == Purpose::First && rules.search.algorithm == Algorithm::Rigid {
            candidates = plan::drawn(rules, request, &mut stream);
        }
        let offered = if rest.is_empty() {
            Vec::new()
        } else {
            candidates.clone()
        };
        let mut search = Search::new(
            plan::search_rules(rules, request),
            plan.places.len(),
            candidates,
            &mut stream,
        );
        if !rest.is_empty() && search.candidates() == 0.0 {
            self.rounds += 1;
            self.outcome.messages.second_rounds += 1;
            self.stage = Stage::Probing {
                plan,
                outstanding: rest,
                rest: BTreeSet::new(),
                offered,
            };
            self.ask(rules, now, effects);
            return;
        }
        if plan.purpose == Purpose::First {
            self.outcome.candidates = search.candidates();
            self.outcome.bounds = search.bounds();
        }
        self.stage = Stage::Searching(Box::new(Searching {
            plan,
            search,
            held: Vec::new(),
            waiting: None,
            gone: Vec::new(),
        }));
        self.proceed(rules, now, effects);
    }
}
