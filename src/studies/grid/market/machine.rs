//! The broker of a market as a machine, and its scene.

use std::sync::Arc;

use bookahead_core::failures::NodeEvent;
use bookahead_core::kernel::{Listed, Machine, Played, Questions, Scene, Step, Stopwatch};
use bookahead_core::scheduling::ClusterMachine;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::Job;
use bookahead_overbooking::registry;

use super::cluster::{MarketAnswer, MarketCluster, MarketQuestion};
use super::measured::result;
use super::{Broker, MarketInputs, MarketRun, MarketSettings};

/// What comes to a market from outside.
#[derive(Clone, Debug, Default)]
pub struct MarketInput {
    /// Jobs in order of submission.
    pub jobs: Vec<Job>,
    /// Failures and repairs of nodes in order of time, by cluster.
    pub node_events: Vec<(usize, Vec<NodeEvent>)>,
}

/// Why there can be no such market.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MarketError {
    /// The policy of the clusters is not registered.
    #[error("there is no strategy {name:?} for the clusters of a market")]
    UnknownStrategy {
        /// Its name.
        name: String,
    },
    /// The policy of the clusters cannot do without some of its nodes for a time.
    #[error(
        "clusters of a market lend nodes that are planned one by one, and the strategy {name:?} \
         plans them otherwise: take one of {}",
        registry::lending().join(", ")
    )]
    LendsNoNodes {
        /// Its name.
        name: String,
    },
    /// The policy of the clusters believes that failures follow the load.
    #[error(
        "clusters that lend nodes (`market.overflow = \"lend\"`) do not know their load: leave \
         `reliability.load_factor` out"
    )]
    LendsByLoad,
    /// The policy of the clusters quotes no jobs.
    #[error("clusters of a market compete by quotes, and the strategy {name:?} quotes no jobs")]
    QuotesNoJobs {
        /// Its name.
        name: String,
    },
}

/// The broker of a market. In each window it tells clusters of their failures and offers them the
/// jobs that come; then all of them process the rest.
pub struct Market {
    /// `None` while it is at work.
    broker: Option<Broker>,
    at_work: Option<Questions<MarketCluster, Broker>>,
    jobs: Vec<Job>,
    node_events: Vec<(usize, Vec<NodeEvent>)>,
    /// The clusters that were told of failures.
    told: Vec<usize>,
}

impl Market {
    /// The broker between two windows.
    fn broker(&self) -> Option<&Broker> {
        self.broker.as_ref()
    }
}

impl Machine for Market {
    type Input = MarketInput;
    type Output = ();
    type Service = MarketCluster;

    fn take(&mut self, input: MarketInput) {
        self.jobs = input.jobs;
        self.node_events = input.node_events;
    }

    fn advance(&mut self, until: Seconds) -> Step<MarketCluster> {
        if !self.node_events.is_empty() {
            let failing = std::mem::take(&mut self.node_events);
            self.told = failing.iter().map(|(cluster, _)| *cluster).collect();
            let questions = failing.into_iter();
            let questions = questions.map(|(it, events)| (it, MarketQuestion::Nodes(events)));
            return Step::Ask(questions.collect());
        }
        if let Some(mut broker) = self.broker.take() {
            let jobs = std::mem::take(&mut self.jobs);
            self.at_work = Some(Questions::new(async move |channel| {
                broker.work_off(&channel, jobs, until).await;
                broker
            }));
        }
        if let Some(questions) = &mut self.at_work {
            match questions.go_on() {
                Err(next) => return Step::Ask(next),
                Ok(broker) => (self.broker, self.at_work) = (Some(broker), None),
            }
        }
        Step::Reached(until)
    }

    fn answered(&mut self, answers: Vec<MarketAnswer>) {
        if let Some(questions) = &mut self.at_work {
            questions.answered(answers);
        } else if let Some(broker) = &mut self.broker {
            for (cluster, mut answer) in self.told.drain(..).zip(answers) {
                broker.providers[cluster].note(&mut answer);
            }
        }
    }

    fn next_event(&self) -> Option<Seconds> {
        let providers = self.broker().into_iter().flat_map(|it| &it.providers);
        let busy = providers.filter(|provider| !provider.is_idle);
        let of_clusters = busy.filter_map(|provider| provider.next_event);
        let of_list = self.broker().and_then(Broker::next_list_event);
        let of_book = self.broker().and_then(|it| it.book.next_clearing());
        of_clusters.chain(of_list).chain(of_book).min()
    }

    fn is_idle(&self) -> bool {
        let all_idle = |broker: &Broker| {
            broker.list.is_empty()
                && broker.book.is_empty()
                && broker.providers.iter().all(|it| it.is_idle)
        };
        self.broker().is_some_and(all_idle)
    }

    fn hand_out(&mut self) {}

    fn time_decisions(&mut self, stopwatch: &Stopwatch) {
        if let Some(broker) = &mut self.broker {
            broker.stopwatch = stopwatch.clone();
        }
    }
}

/// A broker, the clusters that it asks, the client that submits the jobs, and what fails at each
/// cluster when. Quotes, delegations and the outcomes of jobs are kept where that is wanted.
///
/// # Errors
///
/// When the policy of the clusters is not registered, or quotes no jobs.
pub fn market_scene(
    settings: &MarketSettings,
    inputs: &MarketInputs,
    keep_outcomes: bool,
) -> Result<Scene<Market>, MarketError> {
    let name = &settings.policy.strategy;
    let Some(strategy) = registry::strategy(name) else {
        return Err(MarketError::UnknownStrategy { name: name.clone() });
    };
    let places = settings.places(inputs.nodes);
    if places.0 > 0 && settings.policy.reliability.rate.load.is_some() {
        return Err(MarketError::LendsByLoad);
    }
    let market = Market {
        broker: Some(Broker::new(settings, inputs, keep_outcomes)),
        at_work: None,
        jobs: Vec::new(),
        node_events: Vec::new(),
        told: Vec::new(),
    };
    let mut scene = Scene::new("broker", market);
    scene.service_name = "cluster";
    let cluster = |number| {
        let nodes = Nodes(inputs.nodes.0 + places.0);
        let mut policy = (strategy.build)(nodes, &settings.policy, inputs.estimates.clone());
        if policy.job_quoter().is_none() {
            return Err(MarketError::QuotesNoJobs { name: name.clone() });
        }
        if places.0 > 0 && policy.node_lender().is_none() {
            return Err(MarketError::LendsNoNodes { name: name.clone() });
        }
        let mut machine = ClusterMachine::new(nodes, policy);
        if places.0 > 0 {
            machine.make_places(inputs.nodes);
        }
        if settings.migration.is_some() {
            machine.record_interruptions();
        }
        Ok(MarketCluster {
            machine,
            stopwatch: Stopwatch::default(),
            horizon: settings.horizon(),
            storage: settings.migration.map(|it| it.storage).unwrap_or_default(),
            speed: settings.speed_of(number),
        })
    };
    scene.services = (0..settings.clusters)
        .map(cluster)
        .collect::<Result<_, _>>()?;
    let submit = |input: &mut MarketInput, jobs: &[Job]| input.jobs.extend_from_slice(jobs);
    let jobs = Arc::clone(&inputs.jobs);
    scene = scene.with("client", Listed::new(jobs, |job: &Job| job.submit, submit));
    let failing = inputs.failures.iter().take(settings.clusters as usize);
    for (cluster, failures) in failing.enumerate() {
        let inject = move |input: &mut MarketInput, events: &[NodeEvent]| {
            input.node_events.push((cluster, events.to_vec()));
        };
        let events = failures.events.clone();
        let injector = Listed::new(events, |event: &NodeEvent| event.time, inject);
        scene = scene.with("failure injector", injector.beside());
    }
    Ok(scene)
}

impl MarketRun {
    /// What a [`market_scene`] came to.
    #[must_use]
    pub fn of(played: Played<Market>) -> Self {
        let Some(broker) = played.machine.broker else {
            unreachable!("a scene is played until its machine has worked off its last window");
        };
        result(broker, &played.services)
    }
}
