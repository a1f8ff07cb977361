//! Candidate starts of a request, and the candidates of algorithms that do not probe (Meltzer 2005,
//! Listing 1).

use rand::seq::IndexedRandom;

use bookahead_core::random::Stream;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::CoRequest;

use super::settings::{SearchSettings, StartCap};
use super::table::Candidate;
use crate::co_reservation::local::ClusterId;

/// The candidate starts of a request, rising (Meltzer 2005, §4.2.1): every
/// `max(1, minsize, slack / max_zeitfenster)` seconds from the earliest start to the last feasible
/// one, in whole seconds (Q2). [`StartCap::Capped`] keeps the first `max_zeitfenster` of them (Q1).
/// Empty when the window holds no start.
#[must_use]
pub fn candidate_starts(request: &CoRequest, settings: &SearchSettings) -> Vec<Seconds> {
    let slack = request.slack();
    if slack < Seconds::ZERO || settings.maximum_starts == 0 {
        return Vec::new();
    }
    let step = (slack.0 / i64::from(settings.maximum_starts))
        .max(settings.minimum_step.0)
        .max(1);
    let in_window = slack.0 / step + 1;
    let kept = match settings.start_cap {
        StartCap::Capped => in_window.min(i64::from(settings.maximum_starts)),
        StartCap::Literal => in_window,
    };
    (0..kept)
        .map(|index| request.earliest + Seconds(step) * index)
        .collect()
}

/// Every candidate by size alone, in the order of (start, cluster, part): the candidates of A1,
/// which sends no probes (Meltzer 2005, Listing 1). `parts` are given most CPUs first; `clusters`
/// gives each candidate cluster and the CPUs that it offers. Prices and risks are not known: both
/// are 0.
#[must_use]
pub fn unprobed_candidates(
    parts: &[Nodes],
    starts: &[Seconds],
    clusters: &[(ClusterId, Nodes)],
) -> Vec<Candidate> {
    let mut candidates = Vec::with_capacity(starts.len() * clusters.len() * parts.len());
    for &start in starts {
        for &(cluster, nodes) in clusters {
            for (part, &asked) in (0..).zip(parts) {
                if nodes >= asked {
                    candidates.push(Candidate::free(cluster, part, start));
                }
            }
        }
    }
    candidates
}

/// The one candidate of the rigid baseline: at the earliest start, on distinct clusters of
/// sufficient size, drawn so that every such choice is equally likely. One entry a part, largest
/// first; empty where no choice is possible or the window holds no start.
#[must_use]
pub fn rigid_candidates(
    request: &CoRequest,
    clusters: &[(ClusterId, Nodes)],
    stream: &mut Stream,
) -> Vec<Candidate> {
    if request.slack() < Seconds::ZERO {
        return Vec::new();
    }
    let mut free = clusters.to_vec();
    let order = request.largest_first();
    let mut drawn = Vec::with_capacity(order.len());
    for (part, &asked) in order.iter().enumerate() {
        // A cluster that holds a larger part could hold this one, so the number of choices does not
        // depend on earlier ones: a fair draw for each part is a fair draw of all.
        let fits = |&place: &usize| free[place].1 >= request.parts[asked];
        let places: Vec<usize> = (0..free.len()).filter(fits).collect();
        let Some(&place) = places.choose(stream) else {
            return Vec::new();
        };
        let (cluster, _) = free.remove(place);
        drawn.push(Candidate::free(cluster, part as u16, request.earliest));
    }
    drawn
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bookahead_core::random::stream;
    use bookahead_core::workload::{CoRequestId, Preference};

    use super::*;

    fn request(slack: i64, parts: &[u32]) -> CoRequest {
        CoRequest {
            id: CoRequestId(0),
            trace_number: 1,
            user: None,
            submit: Seconds(0),
            earliest: Seconds(1_000),
            deadline: Seconds(1_000 + 3_600 + slack),
            duration: Seconds(3_600),
            parts: parts.iter().map(|&nodes| Nodes(nodes)).collect(),
            further: Vec::new(),
            preference: Preference::default(),
            task: None,
        }
    }

    fn settings(minimum_step: i64, maximum_starts: u32, start_cap: StartCap) -> SearchSettings {
        SearchSettings {
            minimum_step: Seconds(minimum_step),
            maximum_starts,
            start_cap,
            ..SearchSettings::default()
        }
    }

    #[test]
    fn t2_the_starts_of_the_example_request() {
        let request = CoRequest {
            earliest: Seconds(1_088_764_000),
            deadline: Seconds(1_088_800_000),
            ..request(0, &[100, 50])
        };
        assert_eq!(request.slack(), Seconds(32_400));
        let capped = [1_088_764_000, 1_088_774_800, 1_088_785_600].map(Seconds);
        assert_eq!(
            candidate_starts(&request, &settings(1, 3, StartCap::Capped)),
            capped
        );
        let literal = candidate_starts(&request, &settings(1, 3, StartCap::Literal));
        assert_eq!(literal[..3], capped);
        assert_eq!(literal[3..], [Seconds(1_088_796_400)]);
    }

    #[test]
    fn t9_how_many_starts_there_are() {
        for (step, most, slack, capped, literal) in [
            (300, 20, 0, 1, 1),
            (300, 20, 600, 3, 3),
            (300, 20, 1_800, 7, 7),
            (300, 20, 3_600, 13, 13),
            (300, 20, 21_600, 20, 21),
            (300, 20, 86_400, 20, 21),
            (1, 1, 600, 1, 2),
            (1, 3, 600, 3, 4),
            (1, 200, 600, 200, 201),
        ] {
            let count =
                |cap| candidate_starts(&request(slack, &[1]), &settings(step, most, cap)).len();
            assert_eq!(count(StartCap::Capped), capped, "({step},{most}) {slack}");
            assert_eq!(count(StartCap::Literal), literal, "({step},{most}) {slack}");
        }
    }

    #[test]
    fn a_window_that_is_too_short_holds_no_start() {
        let settings = settings(300, 20, StartCap::Capped);
        assert!(candidate_starts(&request(-1, &[1]), &settings).is_empty());
        let clusters = [(ClusterId(0), Nodes(10))];
        let mut stream = stream(1, "rigid", 0, "test");
        assert!(rigid_candidates(&request(-1, &[1]), &clusters, &mut stream).is_empty());
    }

    #[test]
    fn without_a_probe_only_size_counts() {
        let clusters = [(ClusterId(3), Nodes(40)), (ClusterId(5), Nodes(60))];
        let starts = [Seconds(0), Seconds(9)];
        let found: Vec<_> = unprobed_candidates(&[Nodes(50), Nodes(30)], &starts, &clusters)
            .iter()
            .map(|candidate| (candidate.start.0, candidate.cluster.0, candidate.part))
            .collect();
        assert_eq!(
            found,
            [
                (0, 3, 1),
                (0, 5, 0),
                (0, 5, 1),
                (9, 3, 1),
                (9, 5, 0),
                (9, 5, 1)
            ]
        );
    }

    #[test]
    fn every_rigid_choice_is_equally_likely() {
        let clusters = [
            (ClusterId(0), Nodes(50)),
            (ClusterId(1), Nodes(30)),
            (ClusterId(2), Nodes(50)),
            (ClusterId(3), Nodes(10)),
        ];
        let mut counts = BTreeMap::new();
        let mut stream = stream(1, "rigid", 0, "test");
        for _ in 0..4_000 {
            let drawn = rigid_candidates(&request(0, &[20, 40]), &clusters, &mut stream);
            assert!(drawn.iter().all(|part| part.start == Seconds(1_000)));
            let places: Vec<u16> = drawn.iter().map(|part| part.cluster.0).collect();
            *counts.entry(places).or_insert(0) += 1;
        }
        let places: Vec<_> = counts.keys().cloned().collect();
        assert_eq!(places, [[0, 1], [0, 2], [2, 0], [2, 1]]);
        // Mean 1,000, standard deviation 27.
        assert!(counts.values().all(|&count| (880..1_120).contains(&count)));
        let too_many = request(0, &[20, 40, 40, 40]);
        assert!(rigid_candidates(&too_many, &clusters, &mut stream).is_empty());
    }
}
