//! Failures and repairs of clusters and their nodes: exponential times, with a named stream for
//! each (Meltzer 2005, §7.4).

use bookahead_core::failures::SurvivalModel;
use bookahead_core::kernel::{Agenda, Source};
use bookahead_core::random::{Stream, StreamSeed};
use bookahead_core::units::{Nodes, Seconds};

use super::{ClusterFailureSettings, CoReservationInput, CoReservationOutput};
use crate::co_reservation::local::{ClusterId, OutageEvent};

/// What hits which cluster when.
pub type ClusterOutage = (Seconds, ClusterId, OutageEvent);

/// The outages of a simulation, drawn as they are asked for; they never end.
///
/// Every cluster and every node draws its up-times and repairs from a stream of its own, so that
/// one more cluster changes nothing for the others and all algorithms see the same failures.
#[derive(Debug)]
pub struct OutageEvents {
    sources: Vec<Failing>,
    /// What fails or comes back next; of one instant in the order of the sources.
    next: Agenda<usize>,
}

/// Something that fails and is repaired.
#[derive(Debug)]
struct Failing {
    cluster: ClusterId,
    down: OutageEvent,
    up: OutageEvent,
    is_up: bool,
    until_failure: SurvivalModel,
    until_repair: SurvivalModel,
    stream: Stream,
}

impl OutageEvents {
    /// The outages for clusters of these sizes; none at all without settings.
    #[must_use]
    pub fn new(
        settings: Option<&ClusterFailureSettings>,
        sizes: &[Nodes],
        seed: &StreamSeed,
    ) -> Self {
        let mut outages = Self {
            sources: Vec::new(),
            next: Agenda::default(),
        };
        let Some(settings) = settings else {
            return outages;
        };
        for (cluster, size) in (0..).zip(sizes) {
            let id = ClusterId(cluster);
            if let Some(mtbf) = settings.cluster_mtbf {
                outages.add(Failing {
                    cluster: id,
                    down: OutageEvent::ClusterDown,
                    up: OutageEvent::ClusterUp,
                    is_up: true,
                    until_failure: exponential(mtbf),
                    until_repair: exponential(settings.cluster_repair),
                    stream: seed.stream(&format!("cluster {cluster} failures")),
                });
            }
            let Some(mtbf) = settings.node_mtbf else {
                continue;
            };
            let width = settings.node_cpus.max(1);
            for first in (0..size.0).step_by(width as usize) {
                let count = width.min(size.0 - first);
                let node = first / width;
                outages.add(Failing {
                    cluster: id,
                    down: OutageEvent::NodesDown { first, count },
                    up: OutageEvent::NodesUp { first, count },
                    is_up: true,
                    until_failure: exponential(mtbf),
                    until_repair: exponential(settings.node_repair),
                    stream: seed.stream(&format!("cluster {cluster} node {node} failures")),
                });
            }
        }
        outages
    }

    /// Whether there are any.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Every outage before `until` that was not handed out yet, in the order of (time, cluster,
    /// cluster before nodes, node).
    pub fn before(&mut self, until: Seconds) -> Vec<ClusterOutage> {
        let mut outages = Vec::new();
        while let Some((at, index)) = self.next.pop_before(until) {
            let source = &mut self.sources[index];
            let outage = if source.is_up { source.down } else { source.up };
            outages.push((at, source.cluster, outage));
            source.is_up = !source.is_up;
            self.draw(index, at);
        }
        outages
    }

    fn add(&mut self, source: Failing) {
        self.sources.push(source);
        self.draw(self.sources.len() - 1, Seconds::ZERO);
    }

    fn draw(&mut self, index: usize, now: Seconds) {
        let source = &mut self.sources[index];
        let model = if source.is_up {
            &source.until_failure
        } else {
            &source.until_repair
        };
        // Whole seconds, and never none: nothing fails in the instant in which it came back.
        let seconds = (model.draw_hours(&mut source.stream) * 3_600.0).ceil();
        let span = if seconds < Seconds::FAR.0 as f64 {
            Seconds((seconds as i64).max(1))
        } else {
            Seconds::FAR
        };
        let at = Seconds(now.0.saturating_add(span.0).min(Seconds::FAR.0));
        if at < Seconds::FAR {
            self.next.push_ranked(at, 0, index as u64, index);
        }
    }
}

impl Source<CoReservationInput, CoReservationOutput> for OutageEvents {
    fn next_event(&self) -> Option<Seconds> {
        self.next.next_time()
    }

    fn hand_over(&mut self, until: Seconds, input: &mut CoReservationInput) {
        input.outages.extend(self.before(until));
    }

    fn keeps_going(&self) -> bool {
        false
    }
}

fn exponential(mean: Seconds) -> SurvivalModel {
    SurvivalModel::Poisson {
        rate_per_hour: 1.0 / Seconds(mean.0.max(1)).hours(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> ClusterFailureSettings {
        ClusterFailureSettings {
            cluster_mtbf: Some(Seconds(100_000)),
            cluster_repair: Seconds(10_000),
            node_mtbf: Some(Seconds(50_000)),
            node_repair: Seconds(5_000),
            node_cpus: 8,
            silent: false,
        }
    }

    fn outages(clusters: usize, until: i64, steps: i64) -> Vec<(Seconds, ClusterId, OutageEvent)> {
        let sizes = vec![Nodes(20); clusters];
        let mut outages = OutageEvents::new(Some(&settings()), &sizes, &StreamSeed::default());
        (1..=steps)
            .flat_map(|step| outages.before(Seconds(until * step / steps)))
            .collect()
    }

    #[test]
    fn outages_come_in_order_down_and_up_in_turn_and_the_last_node_is_as_wide_as_the_rest_of_the_machine()
     {
        let all = outages(1, 3_000_000, 1);
        assert!(all.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        let mut down = false;
        for (_, _, outage) in &all {
            match outage {
                OutageEvent::NodesDown { first: 16, count } => {
                    assert_eq!((*count, down), (4, false));
                    down = true;
                }
                OutageEvent::NodesUp { first: 16, count } => {
                    assert_eq!((*count, down), (4, true));
                    down = false;
                }
                _ => {}
            }
        }
        // 3,000,000 s ÷ (50,000 + 5,000) s is about 55 failures a node.
        let failures = all
            .iter()
            .filter(|(_, _, outage)| matches!(outage, OutageEvent::NodesDown { .. }))
            .count();
        assert!((120..210).contains(&failures), "{failures}");
    }

    #[test]
    fn neither_windows_nor_further_clusters_change_the_outages_of_a_cluster() {
        let alone = outages(1, 1_000_000, 1);
        assert_eq!(alone, outages(1, 1_000_000, 7));
        let mut among_three = outages(3, 1_000_000, 3);
        among_three.retain(|(_, cluster, _)| *cluster == ClusterId(0));
        assert_eq!(alone, among_three);
    }

    #[test]
    fn without_settings_nothing_ever_fails() {
        let mut none = OutageEvents::new(None, &[Nodes(8)], &StreamSeed::default());
        assert!(none.is_empty() && none.before(Seconds::FAR).is_empty());
    }
}
