//! The information service: which clusters a broker knows of, and what they last told of their
//! state (Meltzer 2005, §2, §4.1).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt;
use serde::{Deserialize, Serialize};

use bookahead_core::random::StreamSeed;
use bookahead_core::units::{Nodes, Seconds};

use super::local::ClusterId;

/// What the information service tells a broker.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct InformationSettings {
    /// How often clusters publish how many of their CPUs are free, from second 0 on; 0 for
    /// whenever a request is submitted. Publishing and looking up take no time.
    pub period: Seconds,
    /// The share of the clusters that the service knows of, in `(0, 1]`.
    pub coverage: f64,
    /// Of how many clusters a broker asks for offers first: those with most free CPUs, as
    /// published. The rest is asked once if these offer no complete candidate. `None` for all at
    /// once.
    pub probe_only: Option<u32>,
}

impl Default for InformationSettings {
    /// Every cluster is known, and asked.
    fn default() -> Self {
        Self {
            period: Seconds::ZERO,
            coverage: 1.0,
            probe_only: None,
        }
    }
}

impl InformationSettings {
    /// How many of so many clusters the service knows of: their share, rounded, and one at least.
    #[must_use]
    pub fn covered(&self, clusters: u32) -> u32 {
        let covered = libm::round(self.coverage * f64::from(clusters)) as u32;
        covered.clamp(1.min(clusters), clusters)
    }

    /// How many of so many clusters each request knows of; `None` where all are known and asked.
    pub(in crate::co_reservation) fn known_clusters(&self, clusters: u32) -> Option<u32> {
        (!self.is_default()).then(|| self.covered(clusters))
    }

    pub(in crate::co_reservation) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Leaves out what makes no difference among so many clusters, or where nothing is probed.
    pub(super) fn normalise(&mut self, clusters: u32, probes: bool) {
        if self.covered(clusters) == clusters {
            self.coverage = 1.0;
        }
        self.probe_only = self.probe_only.filter(|&most| probes && most < clusters);
        if self.probe_only.is_none() {
            self.period = Seconds::ZERO;
        }
    }
}

/// What a broker knows of clusters.
#[derive(Debug)]
pub(super) struct Information {
    covered: BTreeSet<ClusterId>,
    probe_only: Option<usize>,
    /// CPUs that were free when a cluster published its state last.
    free: BTreeMap<ClusterId, Nodes>,
}

impl Information {
    /// A service to which nothing was published yet. The covered clusters are drawn from a stream
    /// of their own, so that a wider coverage contains a narrower one.
    pub(super) fn new(settings: &InformationSettings, clusters: u32, seed: &StreamSeed) -> Self {
        let mut covered: Vec<ClusterId> = (0..clusters).map(|it| ClusterId(it as u16)).collect();
        if settings.covered(clusters) < clusters {
            let mut stream = seed.stream("information service coverage");
            covered.sort_by_cached_key(|_| stream.random::<u64>());
            covered.truncate(settings.covered(clusters) as usize);
        }
        Self {
            covered: covered.into_iter().collect(),
            probe_only: settings.probe_only.map(|most| most as usize),
            free: BTreeMap::new(),
        }
    }

    /// Whether a broker knows of this cluster.
    pub(super) fn covers(&self, cluster: ClusterId) -> bool {
        self.covered.contains(&cluster)
    }

    /// The clusters whose state is read: those that are known, where not all are asked.
    pub(super) fn publishers(&self) -> impl Iterator<Item = ClusterId> {
        let covered = self.covered.iter().copied();
        covered.filter(|_| self.probe_only.is_some())
    }

    /// A cluster tells how many of its CPUs are free.
    pub(super) fn publish(&mut self, cluster: ClusterId, free: Nodes) {
        self.free.insert(cluster, free);
    }

    /// Those of `clusters` that are asked first, and the rest. Of clusters with equally many free
    /// CPUs the lower number comes first; one that never published has none.
    pub(super) fn best_first(
        &self,
        mut clusters: Vec<ClusterId>,
    ) -> (BTreeSet<ClusterId>, BTreeSet<ClusterId>) {
        let most = self.probe_only.unwrap_or(clusters.len());
        let free = |cluster: &ClusterId| self.free.get(cluster).copied().unwrap_or_default();
        clusters.sort_by_key(|cluster| Reverse(free(cluster)));
        let rest = clusters.split_off(most.min(clusters.len()));
        (clusters.into_iter().collect(), rest.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knowing(settings: InformationSettings, clusters: u32) -> Vec<u16> {
        let service = Information::new(&settings, clusters, &StreamSeed::default());
        service.covered.iter().map(|cluster| cluster.0).collect()
    }

    fn covering(coverage: f64) -> InformationSettings {
        InformationSettings {
            coverage,
            ..InformationSettings::default()
        }
    }

    #[test]
    fn a_share_of_the_clusters_is_known_rounded_and_one_at_least() {
        for (coverage, known) in [(1.0, 4), (0.9, 4), (0.8, 3), (0.5, 2), (0.01, 1)] {
            assert_eq!(covering(coverage).covered(4), known);
            assert_eq!(knowing(covering(coverage), 4).len(), known as usize);
        }
    }

    #[test]
    fn a_wider_coverage_contains_a_narrower_one() {
        let known: Vec<Vec<u16>> = (1..=7)
            .map(|known| knowing(covering(f64::from(known) / 7.0), 7))
            .collect();
        for pair in known.windows(2) {
            assert!(pair[0].iter().all(|cluster| pair[1].contains(cluster)));
        }
    }

    #[test]
    fn the_best_by_published_cpus_are_asked_first_and_only_what_differs_is_read() {
        let mut settings = InformationSettings {
            period: Seconds(60),
            coverage: 1.0,
            probe_only: Some(2),
        };
        let mut service = Information::new(&settings, 4, &StreamSeed::default());
        let all: Vec<ClusterId> = (0..4).map(ClusterId).collect();
        for (cluster, free) in (0..).map(ClusterId).zip([50, 80, 20, 90]) {
            service.publish(cluster, Nodes(free));
        }
        let (first, rest) = service.best_first(all);
        assert_eq!(first, BTreeSet::from([ClusterId(1), ClusterId(3)]));
        assert_eq!(rest, BTreeSet::from([ClusterId(0), ClusterId(2)]));
        settings.normalise(4, true);
        assert_eq!(settings.period, Seconds(60));
        settings.normalise(2, true);
        assert!(settings.is_default());
    }
}
