//! Failures of nodes that an application has bought.

use rand::RngExt;

use bookahead_core::random::StreamSeed;
use bookahead_core::units::Seconds;

use super::SiteWorkload;

/// A node fails at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ProcessorFailure {
    /// When.
    pub(super) time: Seconds,
    /// Index of the site.
    pub(super) site: usize,
    /// Which of the site's processors is hit, from 0: those that run the application's tasks come
    /// first, in the order of booking.
    pub(super) processor: u32,
}

/// Node failures of all sites, in order of time and site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProcessorFailures {
    hits: Vec<ProcessorFailure>,
    next: usize,
}

impl ProcessorFailures {
    /// Every failure after `begin`. Each hits a processor of its site that is drawn from a stream
    /// of its own from the beginning of the trace on, so that the same failure hits the same
    /// processor whatever was bought and whenever.
    pub(super) fn new(sites: &[SiteWorkload], seed: &StreamSeed, begin: Seconds) -> Self {
        let mut hits = Vec::new();
        for (index, site) in sites.iter().enumerate() {
            if site.nodes.0 == 0 || site.failures.events.is_empty() {
                continue;
            }
            let mut stream = seed.stream(&format!("struck processors/{index}"));
            let failures = site.failures.events.iter().filter(|event| !event.up);
            hits.extend(failures.map(|event| ProcessorFailure {
                time: event.time,
                site: index,
                processor: stream.random_range(0..site.nodes.0),
            }));
        }
        hits.retain(|failure| failure.time > begin);
        hits.sort_by_key(|failure| (failure.time, failure.site));
        Self { hits, next: 0 }
    }

    /// The next one until `time`, which is included.
    pub(super) fn next_until(&mut self, time: Seconds) -> Option<ProcessorFailure> {
        let failure = self.hits.get(self.next).copied()?;
        let due = failure.time <= time;
        self.next += usize::from(due);
        due.then_some(failure)
    }
}
