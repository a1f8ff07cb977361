//! Delay costs: what it is worth to the owner of a job to start earlier (Singh 2008, §2.1.3).
//!
//! A delay cost h is money for one time unit earlier, here service units for each node and hour;
//! the waiting cost of a job is nodes · h · wait. The thesis prices a delay by the nodes of the job
//! alone, which is h = 1. Owners state their costs, and may state others than they have, or another
//! length or trade-off (§8.1).

mod statements;

use serde::{Deserialize, Serialize};

use bookahead_core::random::Stream;
use bookahead_core::workload::{
    CostSpread, DELAY_COSTS_STREAM, Job, JobId, RequestId, ReservationRequest,
};
use rand::RngExt;

/// The name of the stream that says whose costs are stated wrongly.
pub const MISSTATING_STREAM: &str = "misstated delay costs";

/// Which costs the price of a reservation counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PricedCosts {
    /// Those that owners of waiting jobs state.
    #[default]
    Stated,
    /// None: a delay counts by the nodes of the job.
    Width,
}

/// Delay costs of jobs, and what is stated of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelayCostSettings {
    /// The true costs.
    pub spread: CostSpread,
    /// Which costs prices count.
    pub priced: PricedCosts,
    /// How many of the jobs, in percent, state another cost than they have.
    pub misstating_percent: f64,
    /// Their statement, as a multiple of their true cost.
    pub misstated_factor: f64,
    /// The length that they state for their jobs and reservations, as a multiple of the one that
    /// they would state otherwise; at least 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub misstated_length_factor: f64,
    /// The α by which their reservations choose; `None` where it is that of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misstated_alpha: Option<f64>,
}

fn one() -> f64 {
    1.0
}

fn is_one(factor: &f64) -> bool {
    *factor == 1.0
}

impl DelayCostSettings {
    /// The same without a misstatement that nothing reads; `is_priced` where delays have a price,
    /// `is_chosen` where requests choose their start.
    #[must_use]
    pub fn normalised(self, is_priced: bool, is_chosen: bool) -> Self {
        let priced = match is_priced {
            true => self.priced,
            false => PricedCosts::default(),
        };
        let somebody_misstates = self.misstating_percent > 0.0;
        let is_stated = is_priced && priced == PricedCosts::Stated;
        let factor = |factor, is_read| match is_read && somebody_misstates {
            true => factor,
            false => 1.0,
        };
        Self {
            priced,
            misstated_factor: factor(self.misstated_factor, is_stated),
            misstated_length_factor: factor(self.misstated_length_factor, true),
            misstated_alpha: (self.misstated_alpha)
                .filter(|_| is_priced && is_chosen && somebody_misstates),
            ..self
        }
    }
}

/// The delay costs of the jobs and requests of a simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobCosts {
    jobs: Vec<JobCost>,
    requests: Vec<JobCost>,
    stated: Vec<f64>,
}

/// The delay cost of one job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobCost {
    /// What a node and an hour of waiting cost its owner, in service units.
    pub cost: f64,
    /// Which class it is of, where there are classes.
    pub class: Option<usize>,
    /// Whether its owner is one of those who state something else than the truth.
    pub misstates: bool,
}

impl JobCosts {
    /// Draws the costs of these jobs and of those that requests were made from, both with ids from
    /// 0, 1, 2, …; `stream` gives the stream of a name.
    ///
    /// Costs belong to numbers of the trace, so a job has the same one whether it waits or asks for
    /// a reservation. A larger share of misstating jobs contains the smaller one.
    #[must_use]
    pub fn drawn(
        settings: &DelayCostSettings,
        jobs: &[Job],
        requests: &[ReservationRequest],
        stream: impl Fn(&str) -> Stream,
    ) -> Self {
        let of_jobs = jobs.iter().map(|job| job.trace_number);
        let of_requests = requests.iter().map(|request| request.trace_number);
        let mut numbers: Vec<i64> = of_jobs.chain(of_requests).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let (mut costs, mut draws) = (stream(DELAY_COSTS_STREAM), stream(MISSTATING_STREAM));
        let drawn: Vec<JobCost> = numbers
            .iter()
            .map(|_| {
                let (cost, class) = settings.spread.draw(&mut costs);
                JobCost {
                    cost,
                    class,
                    misstates: 100.0 * draws.random::<f64>() < settings.misstating_percent,
                }
            })
            .collect();
        let of = |number: i64| drawn[numbers.partition_point(|other| *other < number)];
        let jobs: Vec<JobCost> = jobs.iter().map(|job| of(job.trace_number)).collect();
        let stated = |job: &JobCost| match job.misstates {
            true => job.cost * settings.misstated_factor,
            false => job.cost,
        };
        Self {
            stated: match settings.priced {
                PricedCosts::Stated => jobs.iter().map(stated).collect(),
                PricedCosts::Width => Vec::new(),
            },
            requests: requests.iter().map(|it| of(it.trace_number)).collect(),
            jobs,
        }
    }

    /// Statements alone, for tests of prices.
    #[cfg(test)]
    pub(super) fn stated(costs: &[(JobId, f64)]) -> Self {
        let jobs = costs.iter().map(|(job, _)| job.0 as usize + 1).max();
        let mut stated = vec![1.0; jobs.unwrap_or(0)];
        for (job, cost) in costs {
            stated[job.0 as usize] = *cost;
        }
        Self {
            stated,
            ..Self::default()
        }
    }

    /// The cost of a job; `None` of one beyond those that were drawn.
    #[must_use]
    pub fn of_job(&self, job: JobId) -> Option<JobCost> {
        self.jobs.get(job.0 as usize).copied()
    }

    /// The cost of the job that a request was made from.
    #[must_use]
    pub fn of_request(&self, request: RequestId) -> Option<JobCost> {
        self.requests.get(request.0 as usize).copied()
    }

    /// What prices count for each job, by id; empty where they count nodes alone.
    #[must_use]
    pub fn priced(&self) -> &[f64] {
        &self.stated
    }
}

#[cfg(test)]
mod tests;
