//! How a broker reaches sites: by a call, or by messages between actors.

use std::future::Future;

use super::{SiteAnswer, SiteQuestion};

/// The sites that a broker talks to. What it asks and in which order is written once, as asynchronous code; with sites at hand
/// every answer is ready at once, with actors it is awaited.
pub trait SiteLink: Send {
    /// Why a site may fail to answer at all.
    type Error: Send;

    /// How many sites there are.
    fn sites(&self) -> usize;

    /// Asks a site and waits for its answer.
    fn ask(
        &mut self,
        site: usize,
        question: SiteQuestion,
    ) -> impl Future<Output = Result<SiteAnswer, Self::Error>> + Send;
}
