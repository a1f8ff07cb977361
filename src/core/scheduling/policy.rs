//! The trait that one file implements for each policy.

use super::acceptance::PROBABILITY_TOLERANCE;
use super::checkpoint::Checkpointing;
use super::cluster::{Absence, Cluster};
use super::learned::Learned;
use super::outcome::{JobOutcome, JobQuote, SuccessFactors};
use super::penalty::PenaltySettings;
use crate::plan::{NodeSet, Profile};
use crate::units::{NodeIndex, NodeSeconds, Nodes, Seconds};
use crate::workload::{Job, JobId};

/// A scheduling policy: it plans, the [`Cluster`] carries out.
///
/// A policy is called once for each event, in the order of events (see
/// [`crate::scheduling::ClusterMachine`]), with the cluster already updated: at [`Policy::ended`]
/// the job's outcome is final and its nodes are idle, at [`Policy::node_failed`] the node is down
/// and its job lost all progress and holds no node any more. It never sees a job's real runtime.
///
/// # Fixed reservations
///
/// A job with a [`crate::workload::Job::fixed_window`] is accepted or rejected for exactly that
/// window (Heine 2005, §3, option *reject*; Birkenheuer 2008, §3: neither moved nor overbooked).
/// Every policy keeps these rules:
///
/// * It is accepted if its nodes are free in the whole window in the current plan, and otherwise
///   dropped ([`crate::scheduling::Verdict::DroppedNoSlot`]). No job is moved or shortened for it,
///   there is no counter-offer, and no probability is computed: whatever the acceptance test and
///   the statistics say, it gets its nodes for its estimate. Acceptance is
///   [`Cluster::promise_reservation`].
/// * Its window belongs to it: every job that is planned or started in front of it has left its
///   nodes at its start, killed there if necessary, and no job is placed on top of it in the hope
///   of its early end. If it does end early, its nodes are free like those of any job.
/// * It is not moved, not even forward: it starts exactly at its release or never. If nodes are
///   down at that instant, it starts on others if enough are idle and not planned for another job
///   in its window; otherwise it fails at once ([`crate::scheduling::Verdict::FailedUnstartable`]),
///   whatever the restart rule.
/// * A node failure under it ends it ([`crate::scheduling::Verdict::FailedNodes`]): its window is
///   fixed, so there is no restart.
/// * It earns its fee and owes its penalty as any job.
///
/// A reservation that is submitted after its start never reaches a policy: it is dropped.
///
/// A window that was requested ([`JobId::request`]) is no such job: the policy answers every
/// request itself, and no outcome of a job tells of it.
pub trait Policy: Send {
    /// A job that fits the machine is submitted: plan it ([`Cluster::promise`] and
    /// [`Cluster::plan`]) or drop it.
    fn arrived(&mut self, cluster: &mut Cluster, job: JobId);

    /// A planned start is due: start the job, or disable it when its nodes are not there (fail it,
    /// if it is a reservation).
    fn start_due(&mut self, cluster: &mut Cluster, job: JobId);

    /// A job ended: by itself, at its estimate, or killed at the end of its window.
    fn ended(&mut self, cluster: &mut Cluster, job: JobId);

    /// A job was stopped at the end of its window that saves its work and has time left, or waits
    /// again ([`Policy::requeues_stopped`]): its nodes are idle, and it must be planned again,
    /// disabled or failed.
    fn stopped(&mut self, cluster: &mut Cluster, job: JobId) {
        cluster.fail(job);
    }

    /// Whether a job that is stopped at the end of its window before it has finished waits again:
    /// [`Policy::stopped`] then.
    fn requeues_stopped(&self) -> bool {
        false
    }

    /// The policy wanted to be asked at this instant ([`Cluster::wake_at`]): [`Policy::settled`]
    /// comes at its end.
    fn woken(&mut self) {}

    /// How jobs save their work; `None` where they do not.
    fn checkpointing(&self) -> Option<Checkpointing> {
        None
    }

    /// How the penalty grows with the lateness of a job; `None` where all is owed at once.
    fn penalty(&self) -> Option<PenaltySettings> {
        None
    }

    /// A node went down, with the job that ran on it. The victim must be planned again, disabled or
    /// failed.
    fn node_failed(&mut self, cluster: &mut Cluster, node: NodeIndex, victim: Option<JobId>);

    /// A node came back.
    fn node_repaired(&mut self, cluster: &mut Cluster, node: NodeIndex);

    /// Several nodes went down at once, each with the job that was still on it when its turn came:
    /// one after the other, unless the policy can do better.
    fn nodes_failed(&mut self, cluster: &mut Cluster, failed: &[(NodeIndex, Option<JobId>)]) {
        for &(node, victim) in failed {
            self.node_failed(cluster, node, victim);
        }
    }

    /// Several nodes came back at once: one after the other, unless the policy can do better.
    fn nodes_repaired(&mut self, cluster: &mut Cluster, repaired: &[NodeIndex]) {
        for &node in repaired {
            self.node_repaired(cluster, node);
        }
    }

    /// A disabled job reached the time that was set for giving it up.
    fn give_up_due(&mut self, cluster: &mut Cluster, job: JobId) {
        cluster.fail(job);
    }

    /// The user of a running flexible job wishes to have its nodes until then, which is later than
    /// it may have them: grant it that, or as much as nobody else has been promised
    /// ([`Cluster::lengthen`]), or nothing.
    fn longer_wished(&mut self, _cluster: &mut Cluster, _job: JobId, _until: Seconds) {}

    /// The user of an accepted flexible job takes it back before its first start, or it leaves for
    /// another cluster after an interruption (it may have begun anew in this instant), or a window
    /// that was sold is given back before it has ended: forget it, and take it off the cluster
    /// ([`Cluster::withdraw`]).
    fn cancelled(&mut self, cluster: &mut Cluster, job: JobId);

    /// A job's outcome is final: what a policy may learn from. Called after the event that made it
    /// so.
    fn decided(&mut self, _outcome: &JobOutcome) {}

    /// What the policy knows of its users and of its promises, where it learns: to be kept, or to
    /// be replaced by what was learned before.
    fn learned(&mut self) -> Option<&mut Learned> {
        None
    }

    /// The policy as a seller of windows to a broker of co-reservations; `None` where it sells
    /// none.
    fn window_seller(&mut self) -> Option<&mut dyn WindowSeller> {
        None
    }

    /// The policy as one that quotes jobs to the broker of a market; `None` where it quotes none.
    fn job_quoter(&mut self) -> Option<&mut dyn JobQuoter> {
        None
    }

    /// The policy as one that can do without some of its nodes for a time; `None` where it cannot.
    fn node_lender(&mut self) -> Option<&mut dyn NodeLender> {
        None
    }

    /// All events of this instant are done (queueing policies schedule here).
    fn settled(&mut self, _cluster: &mut Cluster) {}
}

/// A policy that says what it can promise of a window of nodes, and sells it
/// ([`Policy::window_seller`]). A cluster whose parts a broker reserves needs one.
pub trait WindowSeller: Policy {
    /// What can be promised of `nodes` nodes on `[start, end)`, which does not lie in the past;
    /// `None` when they cannot be had whatever happens. Asking changes nothing.
    ///
    /// A window that a fixed reservation would get is free. Unlike such a reservation, a window may
    /// also lie over the tails of the jobs in front of it, where the policy can say what that
    /// risks: over those that start before it and whose planned end lies within it. It then starts
    /// if enough of them have ended, and is lost otherwise; no job's promise is ever broken for it.
    /// See [`WindowQuote`] for the probability.
    fn quote_window(
        &mut self,
        cluster: &Cluster,
        nodes: Nodes,
        start: Seconds,
        end: Seconds,
    ) -> Option<WindowQuote>;

    /// What becomes of the waiting jobs by their estimates if nobody else comes; `None` where the
    /// policy plans them otherwise than as a queue. Asking changes nothing.
    fn forecast(&self, _cluster: &Cluster) -> Option<Box<dyn QueueForecast>> {
        None
    }

    /// The nodes that windows may take over time if these had not been sold; `None` where the
    /// policy plans no such profile. Asking changes nothing.
    fn room_without(&self, _cluster: &Cluster, _windows: &[JobId]) -> Option<Profile> {
        None
    }

    /// Enters a fixed reservation that was just quoted, whatever its risk. `free` is that of the
    /// quote.
    fn admit_window(&mut self, cluster: &mut Cluster, job: JobId, free: bool) {
        debug_assert!(free, "only a policy that says what it risks sells tails");
        self.arrived(cluster, job);
    }
}

/// What becomes of a queue if nobody else comes and everybody lasts as long as planned (Meltzer
/// 2005, §6.7.5; [`WindowSeller::forecast`]).
pub trait QueueForecast {
    /// The `number`-th instant at which a job or a window ends, from 1; [`Seconds::FAR`] where
    /// there are not so many.
    fn end(&self, number: u32) -> Seconds;

    /// When the last of the jobs ends that wait now; `None` where none does that can ever start.
    fn last_end_of_waiting(&self) -> Option<Seconds>;

    /// Whether `nodes` nodes are free over `[start, end)`, which is not past, beside what is fixed,
    /// and every waiting job would start no later than planned if they were taken.
    fn delays_nobody(&self, nodes: Nodes, start: Seconds, end: Seconds) -> bool;
}

/// A policy that says what it would promise a flexible job before it is submitted
/// ([`Policy::job_quoter`]). A cluster that competes with others for jobs needs one.
pub trait JobQuoter: Policy {
    /// What a flexible job would be promised if it arrived now; `None` when it would be dropped.
    /// Asking brings the plan to now, as every event does, and changes nothing else.
    fn quote_job(&mut self, cluster: &mut Cluster, job: &Job) -> Option<JobQuote>;

    /// What was promised of the rest of a job that was interrupted: its slot, and the probability
    /// that the rest fails in it; `None` where it waits for one. Asking changes nothing.
    fn quote_rest(&mut self, cluster: &mut Cluster, job: JobId) -> Option<JobQuote>;

    /// The node-time that the plan gives to running and planned jobs from now until `until`. Asking
    /// changes nothing.
    fn booked(&self, cluster: &Cluster, until: Seconds) -> NodeSeconds;
}

/// A policy that plans concrete nodes and can do without some of them for a time
/// ([`Policy::node_lender`]). A cluster that lends nodes, or borrows some, needs one.
pub trait NodeLender: Policy {
    /// How many of the nodes in `among` the plan leaves free throughout `[t, t + length)`, by `t`
    /// from now until `until`: each number holds until the next instant. Asking changes nothing.
    fn room(
        &mut self,
        cluster: &Cluster,
        among: &NodeSet,
        length: Seconds,
        until: Seconds,
    ) -> Vec<(Seconds, Nodes)>;

    /// The nodes that the plan leaves free on `[start, end)`, which does not lie in the past.
    /// Asking changes nothing.
    fn free_nodes(&mut self, cluster: &Cluster, start: Seconds, end: Seconds) -> NodeSet;

    /// From now on nobody is planned on these nodes while they are not here. Absences that were
    /// told before no longer hold.
    fn plan_without(&mut self, absences: Vec<Absence>);
}

/// What a policy can promise of a window of nodes and time that may be sold over the tails of jobs.
///
/// `PoS = P_available(n) · P_room · P_survives(n, end − start)`, as for a job (Birkenheuer 2012,
/// §3.3.2). `P_room` is the probability that enough tails have ended at the start, so that no job
/// that is planned or promised in the window loses a node, if the other tails last until their
/// planned ends ([`crate::estimates::probability_of_room`]). The probability that a tail has not
/// ended is `(1 − CDF(start − s)) / (1 − CDF(now − s))` for a running job, where `s` is its start
/// and the CDF that of its class. For a job that does not yet run it is `1 − CDF(start − s)` with
/// its planned start `s`, which is an upper bound because it may start earlier. A job that has
/// outlived its statistics counts as lasting until its limit. Fixed reservations and other windows
/// are certain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowQuote {
    /// The factors of the PoS; `executable` is `P_room`.
    pub success: SuccessFactors,
    /// Whether the plan has the nodes free in the whole window, so that no job need end early.
    pub free: bool,
    /// Whether the quote must pass the test: always where the window is not free, else where
    /// full-length slots are tested, too.
    pub tested: bool,
}

impl WindowQuote {
    /// A window whose nodes are free.
    pub fn free(success: SuccessFactors, tested: bool) -> Self {
        Self {
            success,
            free: true,
            tested,
        }
    }

    /// Whether the window is wanted if it may fail with probability `limit` at most. A limit of 0
    /// asks for free nodes, however sure the ends of the jobs in front may be.
    #[must_use]
    pub fn is_within(&self, limit: f64) -> bool {
        !self.tested
            || ((self.free || limit > 0.0) && self.success.pof() <= limit + PROBABILITY_TOLERANCE)
    }
}
