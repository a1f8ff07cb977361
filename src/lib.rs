//! bookahead: a laboratory for planning-based resource management.
//!
//! A machine that *plans* promises each job a start time when it is submitted, or rejects it. These
//! are the nouns:
//!
//! * A [`Job`](workload::Job) is a rigid parallel request: so many nodes for so long, between its
//!   release and its deadline. Its *estimate* is what the user asked for and pays; its *runtime* is
//!   known to the simulator only.
//! * A *plan* says who holds which nodes when: as a [`Profile`](plan::Profile) that counts free
//!   nodes, or as a [`NodePlan`](plan::NodePlan) of concrete ones. A *gap* or *slot* is a time at
//!   which enough nodes are free, until they are not; a [`Reservation`](plan::Reservation) is a
//!   slot that was given away.
//! * A [`Policy`](scheduling::Policy) accepts or rejects jobs and places them; a
//!   [`ClusterMachine`](scheduling::ClusterMachine) carries out what it planned.
//! * *Overbooking* gives a job a slot shorter than its estimate. The *probability of success* (PoS)
//!   says how likely it ends in time on nodes that stay up, learned from how well users of its
//!   *class* estimated before; PoF is 1 − PoS, the *risk* PoF × penalty.
//! * A *reservation request* ([`ReservationRequest`](workload::ReservationRequest)) wants nodes at
//!   a fixed start, or at one that it chooses from
//!   [`Offer`](bookahead_reservations::replanning::Offer)s: an *offer* is a start with its price.
//!   The *price* is the delay that the slot inflicts on waiting jobs, delay × nodes. A
//!   [`ReplanningMachine`](bookahead_reservations::replanning::ReplanningMachine) grants or
//!   refuses.
//! * A *battery* is a block of consecutive jobs that is simulated on an empty machine; a *sweep*
//!   simulates many, along axes of settings; a *point* is one combination of settings and one
//!   battery, read off one simulation.
//!
//! A whole simulation is one call:
//!
//! ```
//! use bookahead::failures::FailureTrace;
//! use bookahead::scheduling::{Verdict, simulate_policy};
//! use bookahead::units::{Nodes, Seconds};
//! use bookahead::workload::{Job, JobId};
//! use bookahead_overbooking::policies::{Heuristic, HeuristicSettings};
//!
//! // Both jobs want the whole machine of two nodes for eight hours, within sixteen.
//! let hour = Seconds::HOUR;
//! let job = |id, submit: i64, runtime: i64| {
//!     Job::rigid(JobId(id), hour * submit, Nodes(2), hour * 8)
//!         .running_for(hour * runtime)
//!         .due_by(hour * (submit + 16))
//! };
//! let planning = Heuristic::planning(Nodes(2), HeuristicSettings::default());
//! let jobs = [job(0, 0, 2), job(1, 1, 8)];
//! let (metrics, outcomes) =
//!     simulate_policy(Nodes(2), Box::new(planning), &jobs, &FailureTrace::default());
//!
//! // The second is promised hour 8, and starts at hour 2, when the first has ended early.
//! assert_eq!(outcomes[1].promise.unwrap().start, hour * 8);
//! assert_eq!(outcomes[1].start, Some(hour * 2));
//! assert_eq!(outcomes[1].verdict, Verdict::SuccessfulFinished);
//! assert_eq!(metrics.gain(1.0).0, 32.0);
//! ```
//!
//! The project has one direction: the core (what all studies stand on), the laboratory (actors,
//! sweeps, store) and reports know no study; families bring their studies along, and the command
//! line hands over the list of them. The crates are offered here under one roof.

pub use bookahead_core::{
    estimates, failures, kernel, output, plan, predictions, random, scheduling, units, workload,
};
pub use bookahead_lab::keys::ours;
pub use bookahead_lab::{actors, store, study, sweep};
pub use bookahead_operators::{advice, foreign};
pub use bookahead_papers::{findings, reproduction};
pub use bookahead_queues::machine_queue::machines;
pub use bookahead_report as report;
pub use bookahead_studies as studies;

// One file a subcommand.
pub mod cli;
