//! Users of single jobs: which sites each of them asks, and how evenly sites are used meanwhile.

use bookahead_core::units::{NodeSeconds, Nodes, Seconds};

use super::Broker;
use crate::provisioning::{AskedSites, BrokerError};

impl Broker<'_> {
    /// The one site that a user asks; `None` where all are asked, and for applications of nobody.
    pub(super) async fn asked_by(&mut self, number: usize) -> Result<Option<usize>, BrokerError> {
        let Some(user) = self.inputs.users.list().get(number) else {
            return Ok(None);
        };
        match self.settings.asked_sites {
            AskedSites::All => Ok(None),
            AskedSites::Home => Ok(Some(user.home)),
            AskedSites::Random => Ok(Some(user.drawn)),
            AskedSites::FewestTasks => {
                let reports = self.environment.reports().await?;
                let in_system = reports.iter().map(|report| report.tasks_in_system);
                let in_system: Vec<usize> = in_system.collect();
                let now = self.environment.now();
                let busy = self.in_transit.beside(in_system, now);
                let sizes: Vec<Nodes> = self.environment.sizes().collect();
                let nodes = user.application.tasks()[0].nodes;
                Ok(busy.least(&sizes, nodes))
            }
        }
    }

    /// What jobs and reservations have used of each site; nothing where there are no users.
    pub(super) async fn used_for_users(&mut self) -> Result<Vec<NodeSeconds>, BrokerError> {
        if self.inputs.users.is_empty() {
            return Ok(Vec::new());
        }
        let reports = self.environment.reports().await?;
        Ok(reports.iter().map(|report| report.used).collect())
    }

    /// The utilisation of each site from `begin` to now, in percent.
    pub(super) fn utilisations(
        &self,
        begin: Seconds,
        before: &[NodeSeconds],
        now: &[NodeSeconds],
    ) -> Vec<f64> {
        let span = self.environment.now() - begin;
        let used = before.iter().zip(now).zip(self.environment.sizes());
        used.map(|((before, now), nodes)| {
            let capacity = nodes.for_span(span).0.max(1);
            100.0 * (now.0 - before.0) as f64 / capacity as f64
        })
        .collect()
    }
}
