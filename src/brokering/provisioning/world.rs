//! The sites and the time that passes at them, as a broker sees both.

use super::link::{advertised, book};
use super::{
    Advertised, BrokerError, SiteAnswer, SiteLink, SiteQuestion, SiteReport, SiteWorkload,
};
use crate::units::{Nodes, Seconds};
use crate::workload::{Job, RequestId};

/// Sites in which time passes, while others submit their jobs and reservations are under way.
///
/// It is a link itself: what is asked of a site one by one, as a greedy plan does, arrives late, and starts that would be over by
/// then are not asked for.
pub(super) struct World<'a, L> {
    link: L,
    sites: &'a [SiteWorkload],
    /// By site, how many jobs of others have been handed over.
    handed_over: Vec<usize>,
    now: Seconds,
    latency: Seconds,
    /// The number of the next booking.
    pub(super) next_request: u32,
}

impl<'a, L: SiteLink> World<'a, L> {
    /// Sites that stand at the end of the second `now`.
    pub(super) fn new(link: L, sites: &'a [SiteWorkload], now: Seconds, latency: Seconds) -> Self {
        let submitted = |site: &SiteWorkload| site.jobs.partition_point(|job| job.submit <= now);
        Self {
            link,
            sites,
            handed_over: sites.iter().map(submitted).collect(),
            now,
            latency,
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
        self.pass_with(time, |_| Vec::new()).await
    }

    /// The same, where the broker submits jobs of its own, by site.
    pub(super) async fn pass_with(
        &mut self,
        time: Seconds,
        mut own: impl FnMut(usize) -> Vec<Job> + Send,
    ) -> Result<(), BrokerError<L::Error>> {
        if time <= self.now {
            return Ok(());
        }
        self.now = time;
        for site in 0..self.sites.len() {
            let jobs = &self.sites[site].jobs[self.handed_over[site]..];
            let count = jobs.partition_point(|job| job.submit <= time);
            self.handed_over[site] += count;
            let mut arrivals = jobs[..count].to_vec();
            arrivals.extend(own(site));
            let question = SiteQuestion::PassTo { time, arrivals };
            book(&mut self.link, site, question).await?;
        }
        Ok(())
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
            slots.extend(offered.into_iter().map(|mut slot| {
                slot.start = slot.start.max(arrival);
                Advertised { site, slot }
            }));
        }
        slots.retain(|offered| offered.slot.end > offered.slot.start);
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

    /// What happened to jobs at a site since the last such question, and what comes next.
    pub(super) async fn report(
        &mut self,
        site: usize,
    ) -> Result<SiteReport, BrokerError<L::Error>> {
        match self.link.ask(site, SiteQuestion::Report).await? {
            SiteAnswer::Report(report) => Ok(report),
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

impl<L: SiteLink> SiteLink for World<'_, L> {
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
