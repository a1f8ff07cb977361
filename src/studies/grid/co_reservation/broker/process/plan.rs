//! The plan of one round: which parts are sought, at which starts, on which clusters, by which
//! rules.

use std::collections::BTreeSet;

use bookahead_core::random::Stream;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{CoRequest, FurtherCounts, Preference};

use super::super::Rules;
use crate::co_reservation::local::{ClusterId, OfferedPart, PartOrder, Probe};
use crate::co_reservation::{
    Algorithm, Candidate, Order, RequestClass, RiskChoice, SearchRules, SortBy, Valuation,
    candidate_starts, rigid_candidates, unprobed_candidates,
};

/// One round.
#[derive(Clone, Debug)]
pub(in super::super) struct Plan {
    pub(super) purpose: Purpose,
    /// Places of the parts that are sought among the parts of the request, most CPUs first.
    pub(super) places: Vec<usize>,
    pub(super) starts: Vec<Seconds>,
    duration: Seconds,
    /// Clusters that are left out.
    taken: BTreeSet<ClusterId>,
}

/// Why a round is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The client has asked.
    First,
    /// One part was lost and is sought elsewhere.
    Replace,
    /// Everything was given back and is sought anew.
    Anew,
    /// Everything is held, and something better is sought.
    Better,
}

impl Plan {
    /// The first round. A rigid request has one start, the earliest.
    pub(super) fn first(rules: &Rules, request: &CoRequest) -> Self {
        let mut starts = candidate_starts(request, &rules.search);
        if rules.search.algorithm == Algorithm::Rigid {
            starts.truncate(1);
        }
        Self {
            purpose: Purpose::First,
            places: (0..request.parts.len()).collect(),
            starts,
            duration: request.duration,
            taken: BTreeSet::new(),
        }
    }

    /// The whole request once more, within the rest of its window. No start lies before messages
    /// can have gone to and fro. A rigid request has no other start.
    pub(super) fn anew(rules: &Rules, now: Seconds, request: &CoRequest) -> Self {
        let mut rest = request.clone();
        rest.earliest = rest.earliest.max(now + lead(rules));
        let mut plan = Self {
            purpose: Purpose::Anew,
            ..Self::first(rules, &rest)
        };
        if rules.search.algorithm == Algorithm::Rigid {
            plan.starts.clear();
        }
        plan
    }

    /// The whole request once more, within the rest of its window, while its present reservation is
    /// kept.
    pub(super) fn better(rules: &Rules, now: Seconds, request: &CoRequest) -> Self {
        Self {
            purpose: Purpose::Better,
            ..Self::anew(rules, now, request)
        }
    }

    /// A lost part elsewhere: at the common `start` if that is still possible, otherwise the rest
    /// of it as soon as possible; `None` when nothing of it remains.
    pub(super) fn replace(
        rules: &Rules,
        now: Seconds,
        request: &CoRequest,
        start: Seconds,
        place: usize,
        taken: BTreeSet<ClusterId>,
    ) -> Option<Self> {
        let soonest = start.max(now + lead(rules));
        let duration = start + request.duration - soonest;
        (duration > Seconds::ZERO).then(|| Self {
            purpose: Purpose::Replace,
            places: vec![place],
            starts: vec![soonest],
            duration,
            taken,
        })
    }

    /// The clusters that are asked, in order.
    pub(super) fn clusters(&self, rules: &Rules) -> Vec<ClusterId> {
        let known = rules.known().map(|(cluster, _)| cluster);
        known
            .filter(|cluster| !self.taken.contains(cluster))
            .collect()
    }

    /// The status query of this round.
    pub(super) fn probe(&self, rules: &Rules, request: &CoRequest, class: RequestClass) -> Probe {
        Probe {
            request: request.id,
            duration: self.duration,
            parts: self.nodes(request),
            further: self.further(request),
            starts: self.starts.clone(),
            filters: rules.search.algorithm.filters(),
            degrees: rules.search.sort_by == SortBy::ReservationDegree
                || request.preference.degree_weight > 0.0,
            job_mix: request.preference.mix_weight > 0.0,
            free_cpus: rules.search.record_free_cpus && self.purpose == Purpose::First,
            precedence: class.precedence(),
        }
    }

    /// Every candidate that the sizes of the clusters allow: what is known without a probe (Meltzer
    /// 2005, Listing 1).
    pub(super) fn unprobed(&self, rules: &Rules, request: &CoRequest) -> Vec<Candidate> {
        let clusters = self.clusters(rules).into_iter();
        let sizes: Vec<_> = clusters
            .map(|cluster| (cluster, rules.sizes[usize::from(cluster.0)]))
            .collect();
        let mut candidates = unprobed_candidates(&self.nodes(request), &self.starts, &sizes);
        for candidate in &mut candidates {
            candidate.pof = unprobed_pof(rules, request);
        }
        candidates
    }

    /// The order for a candidate of this round, beside parts that are not there with probability
    /// `others`.
    pub(super) fn order(
        &self,
        rules: &Rules,
        request: &CoRequest,
        order: u32,
        candidate: &Candidate,
        others: f64,
        class: RequestClass,
    ) -> PartOrder {
        let place = self.places[usize::from(candidate.part)];
        let part = request.largest_first()[place];
        let pof_limit = if rules.search.algorithm.row().probes {
            pof_limit(rules, others)
        } else {
            candidate.pof
        };
        PartOrder {
            request: request.id,
            order,
            part: place as u16,
            nodes: request.parts[part],
            further: request.further_of(part),
            start: candidate.start,
            duration: self.duration,
            pof_limit,
            precedence: class.precedence(),
        }
    }

    fn nodes(&self, request: &CoRequest) -> Vec<Nodes> {
        let order = request.largest_first();
        self.places
            .iter()
            .map(|&place| request.parts[order[place]])
            .collect()
    }

    fn further(&self, request: &CoRequest) -> Vec<FurtherCounts> {
        if request.further.is_empty() {
            return Vec::new();
        }
        let order = request.largest_first();
        let places = self.places.iter();
        places
            .map(|&place| request.further_of(order[place]))
            .collect()
    }
}

/// The one candidate of a rigid request.
pub(super) fn drawn(rules: &Rules, request: &CoRequest, stream: &mut Stream) -> Vec<Candidate> {
    let clusters: Vec<_> = rules.known().collect();
    let mut drawn = rigid_candidates(request, &clusters, stream);
    for candidate in &mut drawn {
        candidate.pof = unprobed_pof(rules, request);
    }
    drawn
}

/// The risk of a part whose cluster was not asked: the highest that it may have. Of a client's
/// limit, every part gets the same share.
fn unprobed_pof(rules: &Rules, request: &CoRequest) -> f64 {
    let Some(risk) = &rules.risk else {
        return 0.0;
    };
    match risk.choice {
        RiskChoice::ExpectedCost => risk.pof_max,
        RiskChoice::Limit { pof } => {
            let share = 1.0 - libm::pow(1.0 - pof, 1.0 / request.parts.len().max(1) as f64);
            // Rounded down, so that all parts together keep to the limit.
            risk.pof_max.min(share * (1.0 - 1e-9))
        }
    }
}

/// How long it takes until an order can be there when probes go first: query, answer, order.
fn lead(rules: &Rules) -> Seconds {
    rules.latency
        * if rules.search.algorithm.row().probes {
            3
        } else {
            1
        }
}

/// What a cluster offers, as the search sees it: ordered by price, by price + PoF × penalty where
/// risk is weighed, or by how far the cluster would be reserved.
pub(super) fn candidate(
    rules: &Rules,
    cluster: ClusterId,
    large_share: f64,
    offered: OfferedPart,
) -> Candidate {
    let OfferedPart {
        part,
        start,
        cost,
        pof,
        degree,
    } = offered;
    let expected = match &rules.risk {
        _ if rules.search.sort_by == SortBy::ReservationDegree => degree,
        Some(risk) if risk.choice == RiskChoice::ExpectedCost => {
            cost + pof * risk.penalty_ratio * cost
        }
        _ => cost,
    };
    Candidate {
        cluster,
        part,
        start,
        cost,
        pof,
        expected,
        large_share,
        degree,
    }
}

/// The row of the algorithm. A broker that balances reservations takes the least sum of degrees
/// first, whatever the client prefers. One that weighs risk takes the least expected cost first;
/// under A5 the client's weights apply to it.
pub(super) fn search_rules(rules: &Rules, request: &CoRequest) -> SearchRules {
    let row = rules.search.algorithm.row();
    let choice = rules.risk.as_ref().map(|risk| risk.choice);
    let by_degree = row.probes && rules.search.sort_by == SortBy::ReservationDegree;
    let by_expected_cost = choice == Some(RiskChoice::ExpectedCost) && row.order != Order::Value;
    let least_first = by_degree || by_expected_cost;
    let least = Preference {
        cost_weight: 1.0,
        start_weight: 0.0,
        mix_weight: 0.0,
        degree_weight: 0.0,
    };
    SearchRules {
        order: if least_first { Order::Value } else { row.order },
        repair: row.repair,
        valuation: if least_first {
            Valuation::Weighted(least)
        } else if row.order == Order::Value && rules.search.sort_by == SortBy::Staged {
            Valuation::Staged
        } else {
            Valuation::Weighted(request.preference)
        },
        start_tolerance: rules.search.start_tolerance,
        cost_tolerance: rules.search.cost_tolerance,
        memoise: rules.search.memoise,
        pof_limit: match choice {
            Some(RiskChoice::Limit { pof }) => Some(pof),
            _ => None,
        },
    }
}

/// The highest PoF at which a part is still wanted: what a cluster may offer at most, and no more
/// than what the other parts leave of the client's limit.
fn pof_limit(rules: &Rules, others: f64) -> f64 {
    let Some(risk) = &rules.risk else {
        return 0.0;
    };
    match risk.choice {
        RiskChoice::ExpectedCost => risk.pof_max,
        RiskChoice::Limit { pof } => {
            // A limit that is met exactly is not missed by a rounding.
            let left = 1.0 - (1.0 - pof) / (1.0 - others) + 1e-9;
            risk.pof_max.min(left).max(0.0)
        }
    }
}

/// The probability that at least one of independent parts is not there.
pub(super) fn pof_of_all(pofs: impl Iterator<Item = f64>) -> f64 {
    1.0 - pofs.map(|pof| 1.0 - pof).product::<f64>()
}

/// The stream that shuffles the candidates of a request (Q25); of a later round, one of its own.
pub(super) fn shuffle_stream(rules: &Rules, request: &CoRequest, round: u32) -> Stream {
    let number = request.id.0;
    let name = match round {
        1 => format!("co-request {number} shuffle"),
        _ => format!("co-request {number} shuffle {round}"),
    };
    rules.seed.stream(&name)
}

/// How many clusters are large enough for each part, most CPUs first. All have the same beside
/// CPUs.
pub(super) fn fitting(rules: &Rules, request: &CoRequest, order: &[usize]) -> Vec<u64> {
    let large = |part: &usize| {
        let known = rules.known();
        known
            .filter(|&(_, size)| {
                size >= request.parts[*part] && request.further_of(*part).fits(rules.further)
            })
            .count() as u64
    };
    order.iter().map(large).collect()
}

/// Whether the parts fit on clusters of their own, were all of them empty. Since a cluster that
/// holds a part holds every smaller one, it is enough to count.
pub(super) fn has_room(rules: &Rules, request: &CoRequest, order: &[usize]) -> bool {
    let fitting = fitting(rules, request, order);
    !fitting.is_empty() && (1..).zip(&fitting).all(|(placed, &large)| large >= placed)
}

#[cfg(test)]
mod tests {
    use bookahead_core::random::StreamSeed;
    use bookahead_core::workload::CoRequestId;

    use super::*;
    use crate::co_reservation::information::Information;
    use crate::co_reservation::{InformationSettings, SearchSettings};

    fn further(licences: u32, storage_gb: u32) -> FurtherCounts {
        FurtherCounts {
            licences,
            storage_gb,
        }
    }

    fn rules(sizes: &[u32]) -> Rules {
        Rules {
            sizes: sizes.iter().map(|&size| Nodes(size)).collect(),
            further: further(2, 100),
            search: SearchSettings::default(),
            latency: Seconds::ZERO,
            timeout: Seconds(60),
            renegotiate: false,
            misses: None,
            second_thoughts: None,
            risk: None,
            information: Information::new(
                &InformationSettings::default(),
                sizes.len() as u32,
                &StreamSeed::default(),
            ),
            seed: StreamSeed::default(),
        }
    }

    fn request(parts: &[u32]) -> CoRequest {
        CoRequest {
            id: CoRequestId(0),
            trace_number: 0,
            user: None,
            submit: Seconds(0),
            earliest: Seconds(0),
            deadline: Seconds(10),
            duration: Seconds(10),
            parts: parts.iter().map(|&nodes| Nodes(nodes)).collect(),
            further: Vec::new(),
            preference: Preference::default(),
            task: None,
        }
    }

    #[test]
    fn clusters_that_are_too_small_for_a_part_do_not_count_for_it() {
        let request = request(&[4, 8]);
        let order = request.largest_first();
        assert_eq!(fitting(&rules(&[10, 4, 4]), &request, &order), [1, 3]);
        assert!(has_room(&rules(&[10, 4, 4]), &request, &order));
    }

    #[test]
    fn two_large_parts_need_two_large_clusters() {
        let request = request(&[8, 8]);
        let order = request.largest_first();
        assert!(!has_room(&rules(&[10, 4, 4]), &request, &order));
        assert!(has_room(&rules(&[10, 4, 9]), &request, &order));
    }

    #[test]
    fn a_part_that_needs_more_than_a_cluster_has_beside_cpus_fits_nowhere() {
        let mut request = request(&[4, 8]);
        let order = request.largest_first();
        request.further = vec![further(2, 100), further(0, 0)];
        assert_eq!(fitting(&rules(&[10, 10]), &request, &order), [2, 2]);
        for too_much in [further(3, 100), further(2, 101)] {
            request.further = vec![too_much, further(0, 0)];
            assert_eq!(fitting(&rules(&[10, 10]), &request, &order), [2, 0]);
            assert!(!has_room(&rules(&[10, 10]), &request, &order));
        }
    }

    #[test]
    fn what_a_limit_leaves_to_a_part_depends_on_the_others() {
        let mut rules = rules(&[10]);
        rules.risk = Some(crate::co_reservation::RiskSettings {
            choice: RiskChoice::Limit { pof: 0.19 },
            penalty_ratio: 1.0,
            pof_max: 0.15,
            strategy: "heuristic-overbooking".to_owned(),
            reliability: None,
            policy: None,
        });
        assert_eq!(pof_limit(&rules, 0.0), 0.15);
        assert!((pof_limit(&rules, 0.1) - 0.1).abs() < 1e-8);
        assert_eq!(pof_limit(&rules, 0.3), 0.0);
        // Not asked: both parts get the same share of the limit.
        let share = unprobed_pof(&rules, &request(&[1, 1]));
        assert!((share - 0.1).abs() < 1e-8 && share < 0.1);
    }
}
