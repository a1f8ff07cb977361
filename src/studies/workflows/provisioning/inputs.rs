//! What a simulation of provisioning reads: sites, the application, and what all simulations of
//! these sites share.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bookahead_core::failures::FailureTrace;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::Job;
use bookahead_core::workload::workflows::Workflow;
use bookahead_reservations::replanning::MachineMemory;

use super::slot_lifetimes::{LOOKS, SlotsLeft};
use super::{Application, Background, BestEffortRun, Genetic, PlanValue, ScheduleCost, Users};

/// A site and its own jobs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteWorkload {
    /// Its name for people.
    pub label: String,
    /// Its processors.
    pub nodes: Nodes,
    /// The jobs of others, by submission, with ids from 0.
    pub jobs: Arc<[Job]>,
    /// How they were brought to the load that was asked for.
    pub load: SiteLoad,
    /// Its node failures.
    pub failures: Arc<FailureTrace>,
    /// Its memory, and what each processor of a task takes of it; `None` where nobody counts it.
    pub memory: Option<MachineMemory>,
}

impl SiteWorkload {
    /// The same site where each processor is sold in so many shares (Singh 2008, §3); its own jobs
    /// hold whole processors.
    #[must_use]
    pub fn in_shares(mut self, shares: u32) -> Self {
        if shares == 1 {
            return self;
        }
        self.nodes.0 *= shares;
        let wider = |job: &Job| Job {
            nodes: Nodes(job.nodes.0.saturating_mul(shares)),
            ..job.clone()
        };
        self.jobs = self.jobs.iter().map(wider).collect();
        self
    }

    /// The widest task that it can hold beside nothing else.
    #[must_use]
    pub fn nodes_for_tasks(&self) -> Nodes {
        (self.memory).map_or(self.nodes, |memory| memory.most_reserved(self.nodes))
    }

    /// The jobs that are submitted after the second `now`.
    #[must_use]
    pub fn arrivals_after(&self, now: Seconds) -> &[Job] {
        let count = self.jobs.partition_point(|job| job.submit <= now);
        &self.jobs[count..]
    }
}

/// How busy a site's own jobs keep it (AMB-15, AMB-19).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SiteLoad {
    /// What was asked for, in percent; `None` for the trace as it is.
    pub wanted_percent: Option<f64>,
    /// What they come to under the queue's own scheduler, in percent of the window.
    pub utilisation_percent: f64,
    /// How many jobs of the second copy were submitted too, in percent.
    pub copied_percent: f64,
    /// How many jobs of the first copy were kept, in percent.
    pub kept_percent: f64,
    /// The window of measurement, after both copies have begun: instants lie in its middle 80 %
    /// (AMB-22).
    pub window: (Seconds, Seconds),
}

/// Read-only inputs of one simulation.
#[derive(Clone)]
pub struct ProvisioningInputs {
    /// The sites, in the order of their indices.
    pub sites: Arc<[SiteWorkload]>,
    /// The workflow as it was made or read.
    pub workflow: Arc<Workflow>,
    /// The workflow as planners of these sites see it: each task runs as long as it is booked for.
    pub application: Arc<Application>,
    /// By submission, how long its tasks really run; empty where that is what planners see.
    pub real: Vec<Arc<Application>>,
    /// Who submits a single job each, in the place of the application.
    pub users: Users,
    /// The sites at every submission instant.
    pub background: Arc<Background>,
    /// Which of the instants of the background this simulation submits at, in order of time: one
    /// where plans are discarded. Users submit after the first.
    pub instants: Vec<usize>,
    /// Best effort from each of them.
    pub best_effort: Vec<Arc<BestEffortRun>>,
    /// What the genetic search found on the slots of the instant, for every α at once; `None` for
    /// other searches, and where sites are not as they were.
    pub searched: Option<Arc<Genetic>>,
    /// What is left later of the slots that the sites advertise at each of these instants; empty
    /// where nobody asks.
    pub slots_left: Vec<Arc<[SlotsLeft; LOOKS.len()]>>,
    /// The tasks of each application where several are submitted as one; else empty.
    pub parts: Vec<Range<usize>>,
    /// By submission, what each of them costs and takes alone; `None` where it does not end.
    pub alone: Vec<Vec<Option<PlanValue>>>,
    /// By submission, the application whose plans are judged by something else than their last
    /// end; empty where they are not.
    pub judged: Vec<Arc<Application>>,
    /// Whether every start that sites offer is kept with its price: there are many.
    pub keep_prices: bool,
}

impl ProvisioningInputs {
    /// The failures of nodes at all sites since the first submission, with their repairs; nodes are
    /// numbered one site after the other.
    #[must_use]
    pub fn failures(&self) -> FailureTrace {
        let instants = (self.instants.iter()).filter_map(|at| self.background.instants.get(*at));
        let Some(first) = instants.min() else {
            return FailureTrace::default();
        };
        // Failures of the second of the submission strike before it.
        let since = *first + Seconds(1);
        let sites = self.sites.iter();
        let failures = sites.map(|site| (site.nodes, site.failures.beginning_within(since..)));
        FailureTrace::of_machines(failures)
    }

    /// The application of a submission as planners see it.
    #[must_use]
    pub fn planned(&self, submission: usize) -> &Application {
        let user = self.users.list().get(submission);
        let judged = || self.judged.get(submission).unwrap_or(&self.application);
        user.map_or_else(judged, |user| &user.application)
    }

    /// From now on plans for several applications are judged by this; each was carried out alone.
    pub fn judge_by(&mut self, by: ScheduleCost) {
        if by.is_default() || self.parts.is_empty() {
            return;
        }
        let judged = self.alone.iter().map(|alone| {
            let alone = alone.iter().map(|value| value.map(|value| value.makespan));
            let alone: Vec<Option<Seconds>> = alone.collect();
            Arc::new(Application::clone(&self.application).judged_by(by, &self.parts, &alone))
        });
        self.judged = judged.collect();
    }

    /// The application of a submission with the run times that its tasks really have.
    #[must_use]
    pub fn real(&self, submission: usize) -> &Application {
        let real = self.real.get(submission).map(Arc::as_ref);
        real.unwrap_or_else(|| self.planned(submission))
    }

    /// When each submission is made, in order of time.
    #[must_use]
    pub fn submissions(&self) -> Vec<Seconds> {
        if !self.users.is_empty() {
            let users = self.users.list().iter();
            return users.map(|user| user.submitted).collect();
        }
        let instants = self.instants.iter();
        instants.map(|&at| self.background.instants[at]).collect()
    }
}

impl fmt::Debug for ProvisioningInputs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ProvisioningInputs")
            .field("sites", &self.sites.len())
            .field("workflow", &self.workflow.name())
            .field("instants", &self.instants)
            .finish_non_exhaustive()
    }
}
