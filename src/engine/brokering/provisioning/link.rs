//! How a broker reaches sites: by a call, or by messages between actors.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::{ProviderSite, SiteAnswer, SiteQuestion};
use crate::plan::Slot;
use crate::scheduling::reserving::Offer;
use crate::units::{Nodes, Seconds};

/// The sites that a broker talks to. What it asks and in which order is written once, as asynchronous code; with sites at hand
/// every answer is ready at once, with actors it is awaited.
pub trait SiteLink: Send {
    /// Why a site may fail to answer at all.
    type Error: Send;

    /// The processors of each site, in the order of their indices.
    fn sites(&self) -> &[Nodes];

    /// Asks a site and waits for its answer.
    fn ask(
        &mut self,
        site: usize,
        question: SiteQuestion,
    ) -> impl Future<Output = Result<SiteAnswer, Self::Error>> + Send;
}

/// Why a broker could not go on.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokerError<E> {
    /// A site did not answer.
    #[error(transparent)]
    Unanswered(#[from] E),
    /// A site that only advertises slots was asked for prices.
    #[error("site number {site} answers no queries: a greedy search needs sites that do")]
    NoQueries {
        /// Index of the site.
        site: usize,
    },
    /// A site answered something else.
    #[error(
        "site number {site} was asked to {question} and answered something else; this is a defect of the site"
    )]
    Misunderstood {
        /// Index of the site.
        site: usize,
        /// What it was asked to do.
        question: &'static str,
    },
    /// Jobs of others have no start that could be compared.
    #[error(
        "site number {site}: {jobs} job(s) of others that start without the applications had not ended ten years after the last submission, so what the applications did to them is not known; leave out jobs that run so long, or do not commit the plans"
    )]
    Endless {
        /// Index of the site.
        site: usize,
        /// How many.
        jobs: u64,
    },
    /// A choice of slots that the search valued could not be valued or divided among the tasks again.
    #[error(
        "application number {submission}: the plan that the search chose cannot be laid out on the slots it was searched on; this is a defect of the broker"
    )]
    Misplanned {
        /// Number of the application.
        submission: u32,
    },
}

impl<E> BrokerError<BrokerError<E>> {
    /// The same where a link is itself a broker's.
    pub(super) fn flat(self) -> BrokerError<E> {
        match self {
            Self::Unanswered(error) => error,
            Self::NoQueries { site } => BrokerError::NoQueries { site },
            Self::Misunderstood { site, question } => BrokerError::Misunderstood { site, question },
            Self::Endless { site, jobs } => BrokerError::Endless { site, jobs },
            Self::Misplanned { submission } => BrokerError::Misplanned { submission },
        }
    }
}

/// Sites in the same thread: a question is a call.
pub struct SitesAtHand {
    sites: Vec<ProviderSite>,
    nodes: Vec<Nodes>,
}

impl SitesAtHand {
    /// Sites that stand at the same instant.
    #[must_use]
    pub fn new(sites: Vec<ProviderSite>) -> Self {
        let nodes = sites.iter().map(ProviderSite::nodes).collect();
        Self { sites, nodes }
    }
}

impl SiteLink for SitesAtHand {
    type Error = Infallible;

    fn sites(&self) -> &[Nodes] {
        &self.nodes
    }

    async fn ask(&mut self, site: usize, question: SiteQuestion) -> Result<SiteAnswer, Infallible> {
        Ok(self.sites[site].answer(question))
    }
}

/// The value of a future that waits for nothing, as those of a broker over [`SitesAtHand`] are.
///
/// # Panics
///
/// When it does wait: nobody would ever wake it.
pub fn at_once<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("a question to a site at hand is answered by the call"),
    }
}

pub(super) async fn query<L: SiteLink>(
    link: &mut L,
    site: usize,
    start: Seconds,
    nodes: Nodes,
    duration: Seconds,
) -> Result<Vec<Offer>, BrokerError<L::Error>> {
    let question = SiteQuestion::QueryFrom {
        start,
        nodes,
        duration,
    };
    match link.ask(site, question).await? {
        SiteAnswer::Offers(offers) => Ok(offers),
        SiteAnswer::Gone => Err(BrokerError::NoQueries { site }),
        _ => Err(BrokerError::Misunderstood {
            site,
            question: "offer starts",
        }),
    }
}

pub(super) async fn advertised<L: SiteLink>(
    link: &mut L,
    site: usize,
) -> Result<Vec<Slot>, BrokerError<L::Error>> {
    match link.ask(site, SiteQuestion::Advertise).await? {
        SiteAnswer::Slots(slots) => Ok(slots),
        _ => Err(BrokerError::Misunderstood {
            site,
            question: "advertise",
        }),
    }
}

/// Whether the site did it: what was wanted may be gone.
pub(super) async fn book<L: SiteLink>(
    link: &mut L,
    site: usize,
    question: SiteQuestion,
) -> Result<bool, BrokerError<L::Error>> {
    match link.ask(site, question).await? {
        SiteAnswer::Done => Ok(true),
        SiteAnswer::Gone => Ok(false),
        _ => Err(BrokerError::Misunderstood {
            site,
            question: "book or cancel",
        }),
    }
}
