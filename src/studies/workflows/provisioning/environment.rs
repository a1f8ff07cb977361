//! The sites and their time, as a broker sees them.

use bookahead_core::kernel::ServiceChannel;
use bookahead_core::scheduling::JobOutcome;
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{Job, JobId, RequestId};
use bookahead_reservations::replanning::{Offer, ReplanningSettings};

use super::network::Links;
use super::questions::{advertised, book, book_all, prices, query, reports, started, waits};
use super::search::still_open;
use super::{
    Advertised, BookedStart, BrokerError, CopiesAtSite, FIRST_TASK, ProviderSite, SiteQuestion,
    SiteReport, SiteWorkload, Users,
};

/// Sites in which time passes, while others submit their jobs and reservations are under way.
pub(super) struct Environment<'a> {
    channel: ServiceChannel<ProviderSite>,
    sites: &'a [SiteWorkload],
    /// Whose jobs enter no queue.
    users: &'a Users,
    /// The one site that is asked for starts; `None` where all are.
    pub(super) asked: Option<usize>,
    /// How sites charge for what they sell by queries.
    pub(super) charges: ReplanningSettings,
    /// What is reserved of the bandwidth between them.
    pub(super) links: Links,
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

impl<'a> Environment<'a> {
    /// Sites that stand at the end of the second `now`, asked at this desk.
    pub(super) fn new(
        channel: ServiceChannel<ProviderSite>,
        (sites, users): (&'a [SiteWorkload], &'a Users),
        now: Seconds,
        latency: Seconds,
    ) -> Self {
        let submitted = |site: &SiteWorkload| site.jobs.partition_point(|job| job.submit <= now);
        Self {
            channel,
            sites,
            users,
            asked: None,
            charges: ReplanningSettings::default(),
            links: Links::default(),
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
    pub(super) async fn pass_to(&mut self, time: Seconds) -> Result<(), BrokerError> {
        if time <= self.now {
            return Ok(());
        }
        self.now = time;
        let mut questions = Vec::with_capacity(self.sites.len());
        for site in 0..self.sites.len() {
            let arrivals = self.arrivals_until(site, time);
            questions.push((site, SiteQuestion::PassTo { time, arrivals }));
        }
        book_all(&self.channel, questions).await?;
        Ok(())
    }

    /// Lets time pass at a site to the end of a second, in which copies of tasks arrive and are
    /// cancelled; returns which of those that are watched have started.
    pub(super) async fn pass_with_copies(
        &mut self,
        site: usize,
        time: Seconds,
        copies: CopiesAtSite,
    ) -> Result<Vec<JobId>, BrokerError> {
        self.now = self.now.max(time);
        let question = SiteQuestion::PassWithCopies {
            time,
            arrivals: self.arrivals_until(site, time),
            copies,
        };
        started(&self.channel, site, question).await
    }

    /// How long jobs of these widths are predicted to wait at all sites, in their order.
    pub(super) async fn predicted_waits(
        &self,
        nodes: &[Nodes],
        quantile: f64,
    ) -> Result<Vec<Vec<Seconds>>, BrokerError> {
        waits(&self.channel, self.sites.len(), nodes, quantile).await
    }

    /// The jobs of others that enter the queue of a site until the end of a second and have not
    /// been handed over.
    fn arrivals_until(&mut self, site: usize, time: Seconds) -> Vec<Job> {
        let handed_over = &mut self.handed_over[site];
        let jobs = &self.sites[site].jobs[*handed_over..];
        let count = jobs.partition_point(|job| job.submit <= time);
        *handed_over += count;
        let queued = jobs[..count].iter();
        let queued = queued.filter(|job| !self.users.reserves(site, job.id));
        queued.cloned().collect()
    }

    /// Submits jobs of the broker's own to a queue, now or later.
    pub(super) async fn submit(
        &mut self,
        site: usize,
        arrivals: Vec<Job>,
    ) -> Result<(), BrokerError> {
        let time = self.now;
        let question = SiteQuestion::PassTo { time, arrivals };
        book(&self.channel, site, question).await?;
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

    /// What all sites advertise, in their order. What is over before a reservation can arrive is
    /// left out, and what is over in part is cut.
    pub(super) async fn collect(&mut self) -> Result<Vec<Advertised>, BrokerError> {
        let arrival = self.arrival();
        let mut slots = Vec::new();
        let offered = advertised(&self.channel, self.sites.len()).await?;
        for (site, offered) in offered.into_iter().enumerate() {
            slots.extend(still_open(site, offered, arrival));
        }
        Ok(slots)
    }

    /// Gives back what was booked; whether it had not begun.
    pub(super) async fn cancel(&mut self, site: usize, id: RequestId) -> Result<bool, BrokerError> {
        book(&self.channel, site, SiteQuestion::Cancel(id)).await
    }

    /// Gives back, from now on, the rest of what was booked and has begun.
    pub(super) async fn give_back_rest(
        &mut self,
        site: usize,
        id: RequestId,
    ) -> Result<(), BrokerError> {
        book(&self.channel, site, SiteQuestion::GiveBackRest(id)).await?;
        Ok(())
    }

    /// Books without delay: the time has passed.
    pub(super) async fn book(
        &mut self,
        site: usize,
        question: SiteQuestion,
    ) -> Result<bool, BrokerError> {
        book(&self.channel, site, question).await
    }

    /// What comes next at the sites, in their order. What happened there to jobs is kept.
    pub(super) async fn reports(&mut self) -> Result<Vec<SiteReport>, BrokerError> {
        let mut reports = reports(&self.channel, self.sites.len()).await?;
        for (site, report) in reports.iter_mut().enumerate() {
            for outcome in std::mem::take(&mut report.outcomes) {
                if outcome.job.id.0 >= FIRST_TASK {
                    self.own.push((site, outcome));
                } else {
                    self.ended[site].push((outcome.job.id, outcome.start));
                }
            }
        }
        Ok(reports)
    }

    /// A number that no booking has.
    pub(super) fn request(&mut self) -> RequestId {
        self.next_request += 1;
        RequestId(self.next_request - 1)
    }

    /// The processors of each site.
    pub(super) fn sizes(&self) -> impl Iterator<Item = Nodes> + use<'a> {
        self.sites.iter().map(|site| site.nodes)
    }

    /// The widest task that each site can hold.
    pub(super) fn nodes_for_tasks(&self) -> impl Iterator<Item = Nodes> + use<'a> {
        self.sites.iter().map(SiteWorkload::nodes_for_tasks)
    }

    /// Starts with their prices on `nodes` processors: at which of these sites, from when on, for
    /// how long. Sites that are not asked have none. Starts that would be over when a reservation
    /// arrives are not asked for.
    pub(super) async fn query(
        &self,
        nodes: Nodes,
        places: impl Iterator<Item = (usize, Seconds, Seconds)>,
    ) -> Result<Vec<(usize, Vec<Offer>)>, BrokerError> {
        let arrival = self.arrival();
        let places = places.filter(|(site, ..)| self.asked.is_none_or(|asked| asked == *site));
        let questions = places.map(|(site, earliest, duration)| {
            let question = SiteQuestion::QueryFrom {
                start: earliest.max(arrival),
                nodes,
                duration,
            };
            (site, question)
        });
        query(&self.channel, questions.collect()).await
    }

    /// What starts cost, by site, if all of them are had, each beside those before it; `None` where
    /// some cannot be had together.
    pub(super) async fn price_together(
        &self,
        wanted: Vec<Vec<BookedStart>>,
    ) -> Result<Option<Vec<Vec<NodeSeconds>>>, BrokerError> {
        let first = RequestId(self.next_request);
        let questions = wanted
            .into_iter()
            .map(|wanted| SiteQuestion::PriceTogether { first, wanted });
        let answers = prices(&self.channel, questions.enumerate().collect()).await?;
        Ok(answers.into_iter().collect())
    }

    /// Books a start that was offered, when the reservation arrives.
    pub(super) async fn reserve(
        &mut self,
        site: usize,
        question: SiteQuestion,
    ) -> Result<bool, BrokerError> {
        self.pass_to(self.arrival()).await?;
        self.book(site, question).await
    }
}
