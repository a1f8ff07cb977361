//! The questions that a broker asks sites, and what can go wrong. They are asked over a
//! [`ServiceChannel`], so the order of questions is written once, as asynchronous code; the driver
//! of the simulation delivers the questions to the sites.

use bookahead_core::kernel::ServiceChannel;
use bookahead_core::plan::Slot;
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::JobId;
use bookahead_reservations::replanning::Offer;

use super::{ProviderSite, SiteAnswer, SiteQuestion, SiteReport};

/// Why a broker could not go on.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokerError {
    /// A site that only advertises slots was asked for prices.
    #[error("site number {site} answers no queries, which the search asks")]
    NoQueries {
        /// Index of the site.
        site: usize,
    },
    /// A site that keeps rectangles was asked to predict waits or to cancel copies of tasks.
    #[error(
        "site number {site} gives every job its place when it comes: it predicts no waits and cancels no copies of tasks, which best effort needs by its rule of queues"
    )]
    FinalPlaces {
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

/// What each of these sites offers that is asked for starts, in the order of the questions.
pub(super) async fn query(
    channel: &ServiceChannel<ProviderSite>,
    questions: Vec<(usize, SiteQuestion)>,
) -> Result<Vec<(usize, Vec<Offer>)>, BrokerError> {
    ask_all(channel, questions, |site, answer| match answer {
        SiteAnswer::Offers(offers) => Ok((site, offers)),
        SiteAnswer::Gone => Err(BrokerError::NoQueries { site }),
        _ => Err(BrokerError::Misunderstood {
            site,
            question: "offer starts",
        }),
    })
    .await
}

/// What starts cost at these sites if they are had together; `None` of a site where they collide.
pub(super) async fn prices(
    channel: &ServiceChannel<ProviderSite>,
    questions: Vec<(usize, SiteQuestion)>,
) -> Result<Vec<Option<Vec<NodeSeconds>>>, BrokerError> {
    ask_all(channel, questions, |site, answer| match answer {
        SiteAnswer::Prices(prices) => Ok(prices),
        SiteAnswer::Gone => Err(BrokerError::NoQueries { site }),
        _ => Err(BrokerError::Misunderstood {
            site,
            question: "price starts together",
        }),
    })
    .await
}

/// What each of the first `sites` advertises.
pub(super) async fn advertised(
    channel: &ServiceChannel<ProviderSite>,
    sites: usize,
) -> Result<Vec<Vec<Slot>>, BrokerError> {
    let questions = (0..sites).map(|site| (site, SiteQuestion::Advertise));
    ask_all(channel, questions.collect(), |site, answer| match answer {
        SiteAnswer::Slots(slots) => Ok(slots),
        _ => Err(BrokerError::Misunderstood {
            site,
            question: "advertise",
        }),
    })
    .await
}

/// What each of the first `sites` has to report.
pub(super) async fn reports(
    channel: &ServiceChannel<ProviderSite>,
    sites: usize,
) -> Result<Vec<SiteReport>, BrokerError> {
    let questions = (0..sites).map(|site| (site, SiteQuestion::Report));
    ask_all(channel, questions.collect(), |site, answer| match answer {
        SiteAnswer::Report(report) => Ok(report),
        _ => Err(BrokerError::Misunderstood {
            site,
            question: "report",
        }),
    })
    .await
}

/// Has time pass at a site, and says which copies have started there.
pub(super) async fn started(
    channel: &ServiceChannel<ProviderSite>,
    site: usize,
    question: SiteQuestion,
) -> Result<Vec<JobId>, BrokerError> {
    let answers = ask_all(
        channel,
        vec![(site, question)],
        |site, answer| match answer {
            SiteAnswer::Started(tasks) => Ok(tasks),
            SiteAnswer::Gone => Err(BrokerError::FinalPlaces { site }),
            _ => Err(BrokerError::Misunderstood {
                site,
                question: "cancel copies of tasks",
            }),
        },
    );
    Ok(answers.await?.concat())
}

/// How long jobs of these widths are predicted to wait at each of the first `sites`.
pub(super) async fn waits(
    channel: &ServiceChannel<ProviderSite>,
    sites: usize,
    nodes: &[Nodes],
    quantile: f64,
) -> Result<Vec<Vec<Seconds>>, BrokerError> {
    let questions = (0..sites).map(|site| {
        let nodes = nodes.to_vec();
        (site, SiteQuestion::PredictWaits { nodes, quantile })
    });
    ask_all(channel, questions.collect(), |site, answer| match answer {
        SiteAnswer::Waits(waits) => Ok(waits),
        SiteAnswer::Gone => Err(BrokerError::FinalPlaces { site }),
        _ => Err(BrokerError::Misunderstood {
            site,
            question: "predict waits",
        }),
    })
    .await
}

/// Asks sites, each once at most, before it waits for the first of them, and reads the answers.
async fn ask_all<T>(
    channel: &ServiceChannel<ProviderSite>,
    questions: Vec<(usize, SiteQuestion)>,
    read: impl Fn(usize, SiteAnswer) -> Result<T, BrokerError>,
) -> Result<Vec<T>, BrokerError> {
    let sites: Vec<usize> = questions.iter().map(|(site, _)| *site).collect();
    let answers = channel.ask_all(questions).await;
    let answers = sites.into_iter().zip(answers);
    answers.map(|(site, answer)| read(site, answer)).collect()
}

/// Has sites do something, each once at most, and says of each whether it did it: what was wanted
/// may be gone.
pub(super) async fn book_all(
    channel: &ServiceChannel<ProviderSite>,
    questions: Vec<(usize, SiteQuestion)>,
) -> Result<Vec<bool>, BrokerError> {
    ask_all(channel, questions, |site, answer| match answer {
        SiteAnswer::Done => Ok(true),
        SiteAnswer::Gone => Ok(false),
        _ => Err(BrokerError::Misunderstood {
            site,
            question: "book or cancel",
        }),
    })
    .await
}

/// The same of one site.
pub(super) async fn book(
    channel: &ServiceChannel<ProviderSite>,
    site: usize,
    question: SiteQuestion,
) -> Result<bool, BrokerError> {
    let done = book_all(channel, vec![(site, question)]).await?;
    Ok(done.contains(&true))
}
