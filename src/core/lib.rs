//! What every study of bookahead stands on: pure and synchronous.
//!
//! A [`Job`](workload::Job) asks for so many nodes for so long. A *plan* says who holds which nodes
//! when: as a [`Profile`](plan::Profile) that counts free nodes, as a [`NodePlan`](plan::NodePlan)
//! of concrete ones, or as a [`SlotList`](plan::SlotList) of what is free. A
//! [`Policy`](scheduling::Policy) answers jobs and places them; a
//! [`ClusterMachine`](scheduling::ClusterMachine) carries out what it planned while nodes fail
//! ([`FailureTrace`](failures::FailureTrace)) and jobs end earlier than they said. Machines, their
//! clients and what fails them are a [`Scene`](kernel::Scene), over which virtual time passes.
//!
//! Which policies there are, who sells slots and who asks several clusters is in the crates of the
//! families; none of them is known here, nor are actors, runtimes, databases, tables of reports or
//! the command line. Time, randomness and identifiers come in as arguments.
//!
//! ```
//! use bookahead_core::failures::FailureTrace;
//! use bookahead_core::scheduling::{Backfilling, Queue, QueueSettings, simulate_policy};
//! use bookahead_core::units::{Nodes, Seconds};
//! use bookahead_core::workload::{Job, JobId};
//!
//! // Two nodes. The second job needs both; the third is done before the first one ends.
//! let jobs = [
//!     Job::rigid(JobId(0), Seconds(0), Nodes(1), Seconds(100)),
//!     Job::rigid(JobId(1), Seconds(1), Nodes(2), Seconds(100)),
//!     Job::rigid(JobId(2), Seconds(2), Nodes(1), Seconds(90)),
//! ];
//! let easy = Queue::of(Backfilling::Aggressive, QueueSettings::default());
//! let failures = FailureTrace::default();
//! let (_, outcomes) = simulate_policy(Nodes(2), Box::new(easy), &jobs, &failures);
//! let starts: Vec<_> = outcomes.iter().map(|outcome| outcome.start).collect();
//! assert_eq!(starts, [0, 100, 2].map(|start| Some(Seconds(start))));
//! ```
//!
//! Each module below may call those above it in this list, and no other.

// Quantities that must not be mixed up: seconds, node counts, node-time, coins.
pub mod units;

// The order of events, machines and how they are driven.
pub mod kernel;

// Text of others, made fit for terminals and pages.
pub mod printable;

// Named random streams.
pub mod random;

// How much memory the records of an input may take.
pub mod memory;

// How files come about that a user asked for.
pub mod output;

// What arrives: jobs, traces, cleaning, load scaling, model generators.
pub mod workload;

// How well users estimate: distributions by class, joint and convolved.
pub mod estimates;

// How long jobs will run: predictions in the place of what users asked for.
pub mod predictions;

// Node failures: models and replayed tables.
pub mod failures;

// Who holds which nodes when.
pub mod plan;

// Policies on a plan, and the cluster that carries them out.
pub mod scheduling;
