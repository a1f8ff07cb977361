//! The actors of a simulation of provisioning: sites that sell slots, and a broker that buys them for applications. The broker is
//! that of [`brokering::provisioning`](crate::brokering::provisioning), word by word; called directly it is
//! [`simulate_provisioning`](crate::brokering::provisioning::simulate_provisioning).

#[cfg(test)]
mod tests;

use std::sync::Arc;

use kameo::actor::ActorRef;
use kameo::message::{Context, Message};
use kameo::{Actor, Reply};

use super::{Member, SimulationError, ask};
use crate::brokering::provisioning::{
    BrokerError, ProviderSite, ProvisioningError, ProvisioningInputs, ProvisioningRun,
    ProvisioningSettings, SiteAnswer, SiteLink, SiteQuestion, provision, sites_at_begin,
};
use crate::random::StreamSeed;
use crate::units::Nodes;

/// To a site: what a broker may ask (spec `provisioning.md` §19). Time passes at a site only when it is asked to let it pass.
#[derive(Clone, Debug)]
pub struct AskSite(pub SiteQuestion);

/// Reply of a site.
#[derive(Clone, Debug, Reply)]
pub struct Answered(pub SiteAnswer);

/// To a broker: see the applications of this simulation through.
#[derive(Clone, Copy, Debug)]
pub struct ProvisionAll;

/// Reply of a broker.
#[derive(Debug, Reply)]
pub struct Provisioned(pub Result<ProvisioningRun, BrokerError<Silent>>);

/// A site did not answer: its actor has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("site number {site} did not answer")]
pub struct Silent {
    /// Index of the site.
    pub site: usize,
}

/// The actor around one site.
#[derive(Actor)]
pub struct ProviderActor {
    site: ProviderSite,
}

impl ProviderActor {
    /// The actor of a site as it is.
    #[must_use]
    pub fn new(site: ProviderSite) -> Self {
        Self { site }
    }
}

impl Message<AskSite> for ProviderActor {
    type Reply = Answered;

    async fn handle(&mut self, ask: AskSite, _: &mut Context<Self, Answered>) -> Answered {
        Answered(self.site.answer(ask.0))
    }
}

/// Sites behind actors.
#[derive(Clone)]
pub struct SitesByMessage {
    sites: Vec<ActorRef<ProviderActor>>,
    nodes: Vec<Nodes>,
}

impl SiteLink for SitesByMessage {
    type Error = Silent;

    fn sites(&self) -> &[Nodes] {
        &self.nodes
    }

    async fn ask(&mut self, site: usize, question: SiteQuestion) -> Result<SiteAnswer, Silent> {
        let answered = self.sites[site].ask(AskSite(question)).await;
        answered
            .map(|answered| answered.0)
            .map_err(|_| Silent { site })
    }
}

/// The actor around the broker.
#[derive(Actor)]
pub struct ProvisioningBroker {
    inputs: Arc<ProvisioningInputs>,
    settings: ProvisioningSettings,
    seed: StreamSeed,
    sites: SitesByMessage,
}

impl Message<ProvisionAll> for ProvisioningBroker {
    type Reply = Provisioned;

    async fn handle(&mut self, _: ProvisionAll, _: &mut Context<Self, Provisioned>) -> Provisioned {
        let sites = self.sites.clone();
        Provisioned(provision(&self.inputs, &self.settings, &self.seed, sites).await)
    }
}

/// Brings the actors up and lets the broker see its applications through.
pub(super) async fn conduct(
    inputs: &Arc<ProvisioningInputs>,
    settings: &ProvisioningSettings,
    seed: StreamSeed,
) -> Result<ProvisioningRun, SimulationError> {
    let sites = sites_at_begin(inputs)?;
    let nodes = sites.iter().map(ProviderSite::nodes).collect();
    let mut sites: Vec<Member<ProviderActor>> = sites
        .into_iter()
        .map(|site| Member::spawn("site", ProviderActor::new(site)))
        .collect();
    let link = SitesByMessage {
        sites: sites.iter().map(|site| site.actor.clone()).collect(),
        nodes,
    };
    let broker = ProvisioningBroker {
        inputs: Arc::clone(inputs),
        settings: settings.clone(),
        seed,
        sites: link,
    };
    let mut broker = Member::spawn("broker", broker);
    match ask!(broker, ProvisionAll).0 {
        Ok(run) => Ok(run),
        Err(BrokerError::Unanswered(Silent { site })) => Err(sites[site].why_stopped().await),
        Err(error) => Err(ProvisioningError::Broker(error.to_string()).into()),
    }
}
