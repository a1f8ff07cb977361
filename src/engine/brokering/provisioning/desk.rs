//! What a broker asks of sites, and what can go wrong. What it asks and in which order is written
//! once, as asynchronous code at a desk; whoever drives it has the sites answer.

use super::{ProviderSite, SiteAnswer, SiteQuestion};
use crate::kernel::Desk;
use crate::plan::Slot;
use crate::scheduling::replanning::Offer;
use crate::units::{Nodes, Seconds};

/// Why a broker could not go on.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokerError {
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
        "site number {site}: {jobs} of the jobs of others that start without the applications had not ended ten years after the last submission, so what the applications did to them is not known; leave out jobs that run so long, or do not commit the plans"
    )]
    Endless {
        /// Index of the site.
        site: usize,
        /// How many.
        jobs: u64,
    },
    /// A choice of slots that the search valued could not be valued or divided among the tasks
    /// again.
    #[error(
        "application number {submission}: the plan that the search chose cannot be laid out on the slots it was searched on; this is a defect of the broker"
    )]
    Misplanned {
        /// Number of the application.
        submission: u32,
    },
}

pub(super) async fn query(
    desk: &Desk<ProviderSite>,
    site: usize,
    start: Seconds,
    nodes: Nodes,
    duration: Seconds,
) -> Result<Vec<Offer>, BrokerError> {
    let question = SiteQuestion::QueryFrom {
        start,
        nodes,
        duration,
    };
    match desk.ask(site, question).await {
        SiteAnswer::Offers(offers) => Ok(offers),
        SiteAnswer::Gone => Err(BrokerError::NoQueries { site }),
        _ => Err(BrokerError::Misunderstood {
            site,
            question: "offer starts",
        }),
    }
}

pub(super) async fn advertised(
    desk: &Desk<ProviderSite>,
    site: usize,
) -> Result<Vec<Slot>, BrokerError> {
    match desk.ask(site, SiteQuestion::Advertise).await {
        SiteAnswer::Slots(slots) => Ok(slots),
        _ => Err(BrokerError::Misunderstood {
            site,
            question: "advertise",
        }),
    }
}

/// Whether the site did it: what was wanted may be gone.
pub(super) async fn book(
    desk: &Desk<ProviderSite>,
    site: usize,
    question: SiteQuestion,
) -> Result<bool, BrokerError> {
    match desk.ask(site, question).await {
        SiteAnswer::Done => Ok(true),
        SiteAnswer::Gone => Ok(false),
        _ => Err(BrokerError::Misunderstood {
            site,
            question: "book or cancel",
        }),
    }
}
