//! The sites and the time that passes at them, as a broker sees both.

use super::link::{advertised, book};
use super::search::still_open;
use super::{
    Advertised, BrokerError, FIRST_TASK, SiteAnswer, SiteLink, SiteQuestion, SiteReport,
    SiteWorkload,
};
use crate::scheduling::JobOutcome;
use crate::units::{Nodes, Seconds};
use crate::workload::{Job, JobId, RequestId};

/// Sites in which time passes, while others submit their jobs and reservations are under way.
///
/// It is a link itself: what is asked of a site one by one, as a greedy plan does, arrives late, and starts that would be over by
/// then are not asked for.
pub(super) struct Environment<'a, L> {
    link: L,
    sites: &'a [SiteWorkload],
    /// By site, how many jobs of others have been handed over.
    handed_over: Vec<usize>,
    now: Seconds,
    latency: Seconds,
    /// Jobs of others that have ended, and when they started, by site.
    pub(super) ended: Vec<Vec<(JobId, Option<Seconds>)>>,
    /// Tasks in queues that have ended, and at which site.
    pub(super) own: Vec<(usize, JobOutcome)>,
    /// The number of the next booking.
    pub(super) next_request: u32,
}

impl<'a, L: SiteLink> Environment<'a, L> {
    /// Sites that stand at the end of the second `now`.
    pub(super) fn new(link: L, sites: &'a [SiteWorkload], now: Seconds, latency: Seconds) -> Self {
        let submitted = |site: &SiteWorkload| site.jobs.partition_point(|job| job.submit <= now);
        Self {
            link,
            sites,
            handed_over: sites.iter().map(submitted).collect(),
            now,
            latency,
            ended: vec![Vec::new(); sites.len()],
            own: Vec::new(),
            next_request: 0,
        }
    }

    /// The second at whose end all sites stand.
    pub(super) fn now(&self) -> Seconds {
        self.now
    }

    /// When a reservation that is sent now arrives.
    pub(super) fn arrival(&self) -> Seconds {
        self.now + self.latency
    }

    /// Lets time pass to the end of a second; nothing happens where it has passed.
    pub(super) async fn pass_to(&mut self, time: Seconds) -> Result<(), BrokerError<L::Error>> {
        if time <= self.now {
            return Ok(());
        }
        self.now = time;
        for site in 0..self.sites.len() {
            let jobs = &self.sites[site].jobs[self.handed_over[site]..];
            let count = jobs.partition_point(|job| job.submit <= time);
            self.handed_over[site] += count;
            let arrivals = jobs[..count].to_vec();
            let question = SiteQuestion::PassTo { time, arrivals };
            book(&mut self.link, site, question).await?;
        }
        Ok(())
    }

    /// Submits jobs of the broker's own to a queue, now or later.
    pub(super) async fn submit(
        &mut self,
        site: usize,
        arrivals: Vec<Job>,
    ) -> Result<(), BrokerError<L::Error>> {
        let time = self.now;
        let question = SiteQuestion::PassTo { time, arrivals };
        book(&mut self.link, site, question).await?;
        Ok(())
    }

    /// When the next job of others arrives.
    pub(super) fn next_arrival(&self) -> Option<Seconds> {
        let sites = self.sites.iter().zip(&self.handed_over);
        let next = sites.filter_map(|(site, count)| site.jobs.get(*count));
        next.map(|job| job.submit).min()
    }

    /// Whether all jobs of others have been handed over.
    pub(super) fn is_over(&self) -> bool {
        let sites = self.sites.iter().zip(&self.handed_over);
        sites
            .into_iter()
            .all(|(site, count)| site.jobs.len() == *count)
    }

    /// What all sites advertise, in their order. What is over before a reservation can arrive is left out, and what is over in
    /// part is cut.
    pub(super) async fn collect(&mut self) -> Result<Vec<Advertised>, BrokerError<L::Error>> {
        let arrival = self.arrival();
        let mut slots = Vec::new();
        for site in 0..self.sites.len() {
            let offered = advertised(&mut self.link, site).await?;
            slots.extend(still_open(site, offered, arrival));
        }
        Ok(slots)
    }

    /// Gives back what was booked; whether it had not begun.
    pub(super) async fn cancel(
        &mut self,
        site: usize,
        id: RequestId,
    ) -> Result<bool, BrokerError<L::Error>> {
        book(&mut self.link, site, SiteQuestion::Cancel(id)).await
    }

    /// Books without delay: the time has passed.
    pub(super) async fn book(
        &mut self,
        site: usize,
        question: SiteQuestion,
    ) -> Result<bool, BrokerError<L::Error>> {
        book(&mut self.link, site, question).await
    }

    /// What comes next at a site. What happened there to jobs is kept.
    pub(super) async fn report(
        &mut self,
        site: usize,
    ) -> Result<SiteReport, BrokerError<L::Error>> {
        match self.link.ask(site, SiteQuestion::Report).await? {
            SiteAnswer::Report(mut report) => {
                for outcome in std::mem::take(&mut report.outcomes) {
                    if outcome.job.id.0 >= FIRST_TASK {
                        self.own.push((site, outcome));
                    } else {
                        self.ended[site].push((outcome.job.id, outcome.start));
                    }
                }
                Ok(report)
            }
            _ => Err(BrokerError::Misunderstood {
                site,
                question: "report",
            }),
        }
    }

    /// A number that no booking has.
    pub(super) fn request(&mut self) -> RequestId {
        self.next_request += 1;
        RequestId(self.next_request - 1)
    }
}

impl<L: SiteLink> SiteLink for Environment<'_, L> {
    type Error = BrokerError<L::Error>;

    fn sites(&self) -> &[Nodes] {
        self.link.sites()
    }

    async fn ask(
        &mut self,
        site: usize,
        question: SiteQuestion,
    ) -> Result<SiteAnswer, Self::Error> {
        let question = match question {
            SiteQuestion::QueryFrom {
                start,
                nodes,
                duration,
            } => SiteQuestion::QueryFrom {
                start: start.max(self.arrival()),
                nodes,
                duration,
            },
            SiteQuestion::Reserve { .. } => {
                self.pass_to(self.arrival()).await?;
                question
            }
            other => other,
        };
        Ok(self.link.ask(site, question).await?)
    }
}
