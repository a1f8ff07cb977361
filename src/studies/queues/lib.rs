//! Queues: machines that promise nothing when a job is submitted, and start whoever may start.
//!
//! * [`predicted_queue`]: backfilling whose plan holds *predictions* of run times in the place of
//!   what users asked for, and corrects those that jobs outlive.
//! * [`machine_queue`]: a machine as its operators configure it, with partitions, qualities of
//!   service, fair shares, limits and a calendar of windows.
//!
//! ```
//! use bookahead_core::scheduling::queue::BackfillOrder;
//! use bookahead_core::units::{Nodes, Seconds};
//! use bookahead_core::workload::{Job, JobId};
//! use bookahead_queues::predicted_queue::{
//!     PredictedQueueSettings, QueueRules, queue_jobs, simulate_predicted_queue,
//! };
//!
//! // Four nodes. Behind the job that needs all of them the shorter of the last two comes first.
//! let given = [(0, 3, 100), (0, 1, 10), (1, 4, 50), (2, 1, 80), (3, 1, 20)];
//! let jobs: Vec<Job> = (0..)
//!     .zip(given)
//!     .map(|(id, (submit, nodes, span))| {
//!         Job::rigid(JobId(id), Seconds(submit), Nodes(nodes), Seconds(span))
//!     })
//!     .collect();
//! let settings = PredictedQueueSettings {
//!     backfill: BackfillOrder::ShortestFirst,
//!     ..PredictedQueueSettings::default()
//! };
//! let jobs = queue_jobs(&jobs, Nodes(4), QueueRules::Gaussier2015);
//! let outcomes = simulate_predicted_queue(&jobs, Nodes(4), &settings).expect("a predictor");
//! let starts: Vec<_> = outcomes.iter().map(|outcome| outcome.start.0).collect();
//! assert_eq!(starts, [0, 0, 100, 150, 10]);
//! ```

// Backfilling that plans with predictions.
pub mod predicted_queue;

// A machine with partitions, shares and limits.
pub mod machine_queue;
