//! A list of jobs that their homes could not place, from which underused clusters take
//! (Birkenheuer 2012, §1.2.2).
//!
//! Clusters look at the list at every multiple of an interval, in the order of their numbers, and
//! through the list in the order of publication. One whose next hours are booked less than the
//! limit takes every job to which it can give a slot of full length that the customer wants. The
//! jobs that are submitted in an instant come before those of the list. A job leaves the list when
//! it could no longer end in time at full length; then all clusters are asked in the order of
//! [`super::home`].

use bookahead_core::kernel::ServiceChannel;
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::units::Seconds;
use bookahead_core::workload::Job;

use super::{Broker, MarketCluster, Offer, Overflow, choose};

/// A job on the list.
struct Published {
    job: Job,
    home: usize,
    /// The last instant in which it could start at full length.
    until: Seconds,
}

/// The list, and what came of it.
#[derive(Default)]
pub(super) struct JobList {
    /// In order of publication.
    jobs: Vec<Published>,
    /// When clusters looked at it last.
    polled: Option<Seconds>,
    published: u64,
    taken: u64,
    /// How long those were on it, in hours.
    hours: f64,
}

impl JobList {
    /// When it is worked on next: clusters look at it, or a job leaves it.
    pub(super) fn next_event(&self, every: Seconds) -> Option<Seconds> {
        let after = |time: Seconds| Seconds((time.0.div_euclid(every.0) + 1) * every.0);
        let event = |listed: &Published| {
            let first = after(listed.job.submit - Seconds(1));
            let next = self.polled.map_or(first, |polled| first.max(after(polled)));
            next.min(listed.until)
        };
        self.jobs.iter().map(event).min()
    }

    /// Whether nothing is on it.
    pub(super) fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }
}

impl Broker {
    /// How often clusters look at the list, and below which occupancy they take from it; `None`
    /// where there is none.
    fn list_rule(&self) -> Option<(Seconds, f64)> {
        match self.settings.home?.overflow {
            Overflow::List { every, below, .. } => Some((every, below)),
            Overflow::Ask | Overflow::Stay | Overflow::Barter { .. } | Overflow::Lend { .. } => {
                None
            }
        }
    }

    /// When the list is worked on next.
    pub(super) fn next_list_event(&self) -> Option<Seconds> {
        self.list.next_event(self.list_rule()?.0)
    }

    /// Publishes a job that was just submitted, and says whether it did: not one that could no
    /// longer start later and end in time.
    pub(super) fn publish(&mut self, job: &Job, home: usize) -> bool {
        let until = job.deadline - job.estimate;
        if until <= job.submit {
            return false;
        }
        let job = job.clone();
        self.list.jobs.push(Published { job, home, until });
        self.list.published += 1;
        true
    }

    /// Lets clusters take from the list whenever they look at it before `until`.
    pub(super) async fn work_off_list(
        &mut self,
        channel: &ServiceChannel<MarketCluster>,
        until: Seconds,
    ) {
        let Some((every, below)) = self.list_rule() else {
            return;
        };
        while let Some(now) = self.next_list_event().filter(|&now| now < until) {
            if self.settings.migration.is_some() {
                self.migrate_before(channel, now + Seconds(1)).await;
            }
            self.settle(channel, now).await;
            if now.0.rem_euclid(every.0) == 0 {
                self.list.polled = Some(now);
                for number in 0..self.providers.len() {
                    self.take_from_list(channel, number, below, now).await;
                }
            }
            while let Some(place) = self.list.jobs.iter().position(|it| it.until <= now) {
                let listed = self.list.jobs.remove(place);
                self.ask_all_for(channel, listed, now).await;
            }
        }
    }

    /// Lets a cluster take from the list while it is underused.
    async fn take_from_list(
        &mut self,
        channel: &ServiceChannel<MarketCluster>,
        number: usize,
        below: f64,
        now: Seconds,
    ) {
        let mut place = 0;
        while place < self.list.jobs.len() && self.occupancy(number) < below {
            let job = self.list.jobs[place].job.clone();
            let offers = self.quotes(channel, &job, |it| it == number).await;
            let full: Vec<Offer> = (offers.iter())
                .filter(|it| !it.overbooked)
                .copied()
                .collect();
            let Some(best) = choose(&full, self.settings.rule, &mut self.ties) else {
                place += 1;
                continue;
            };
            let listed = self.list.jobs.remove(place);
            self.list.taken += 1;
            self.list.hours += (now - job.submit).hours();
            self.keep_quotes(&job, &offers, Some(best));
            self.delegate(channel, best, job, Some(listed.home), now)
                .await;
        }
    }

    /// Asks all clusters for a job that nobody took from the list.
    async fn ask_all_for(
        &mut self,
        channel: &ServiceChannel<MarketCluster>,
        listed: Published,
        now: Seconds,
    ) {
        let Published { job, home, .. } = listed;
        let offers = self.quotes(channel, &job, |_| true).await;
        let best = self.choose_in_order(&offers, home);
        self.keep_quotes(&job, &offers, best);
        if let Some(best) = best {
            self.delegate(channel, best, job, Some(home), now).await;
        }
    }

    /// The share of its nodes that a cluster has booked within the horizon, as it last said.
    fn occupancy(&self, number: usize) -> f64 {
        let provider = &self.providers[number];
        let booked = provider.booked.map_or(0.0, |it| it.0 as f64);
        let capacity = (self.settings.horizon()).map(|it| provider.nodes.for_span(it).0 as f64);
        booked / capacity.unwrap_or(1.0)
    }

    /// What the list did; nothing where there is none.
    pub(super) fn list_measures(&self) -> Measured {
        let mut measured = Measured::default();
        if self.list_rule().is_none() {
            return measured;
        }
        let (published, taken) = (self.list.published as f64, self.list.taken as f64);
        measured.add_ratio(
            "market_listed_percent",
            100.0 * published,
            self.submitted as f64,
        );
        measured.add_ratio("market_list_taken_percent", 100.0 * taken, published);
        measured.add_ratio("market_list_hours", self.list.hours, taken);
        measured
    }
}
