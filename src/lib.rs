//! bookahead: a laboratory for planning-based resource management, in which clusters promise start times instead of
//! queueing.
//!
//! # The nouns
//!
//! * A **job** asks for a number of nodes for an **estimate** of time, between its release and its deadline. How long it really
//!   runs is known to the simulator only.
//! * A **plan** says which job holds how many, or which, nodes when. The **profile** is a plan that only counts nodes: free
//!   nodes as a step function of time.
//! * A **gap** is free space in a plan. A **slot** is what a gap offers one job: a start, an end, nodes. A slot is full-length if it
//!   holds the estimate; one that is shorter is **overbooked**.
//! * A **reservation** is a job's place in the plan, nodes and an interval. (Reservations that customers ask for as such are
//!   planned for a later version.)
//! * **PoS** is the probability of success of an overbooked slot: nodes there at the start, job done before the slot ends, no
//!   node lost on the way. **PoF** = 1 − PoS. **Risk** is PoF × penalty, against the opportunity PoS × fee.
//! * An **estimate class** is a group of jobs (by estimate, by nodes, by user …) with one learned distribution of run time ÷
//!   estimate.
//! * A **battery** is a block of consecutive jobs that starts on an empty machine: one replication.
//! * A **simulation** is one battery under one policy: one schedule. A **point** is a combination of axis values and a
//!   replication; it reads its totals off a simulation, which it may share with others. A **sweep** is all points of an
//!   experiment file.
//!
//! # An example
//!
//! Two jobs of two hours want all four nodes. The second has five hours until its deadline, so it is promised the time after
//! the first. The first ends after half an hour; conservative backfilling keeps what it promised, heuristic planning plans
//! anew and starts the second job early.
//!
//! ```
//! use bookahead::failures::FailureTrace;
//! use bookahead::scheduling::{PolicySettings, simulate};
//! use bookahead::units::{Nodes, Seconds};
//! use bookahead::workload::{Job, JobId};
//!
//! let job = |id: u32, runtime: i64| Job {
//!     id: JobId(id),
//!     trace_number: 0,
//!     submit: Seconds::ZERO,
//!     release: Seconds::ZERO,
//!     estimate: Seconds::HOUR * 2,
//!     runtime: Seconds(runtime),
//!     deadline: Seconds::HOUR * 5,
//!     nodes: Nodes(4),
//!     user: None,
//!     application: None,
//! };
//! let jobs = [job(0, 1_800), job(1, 3_600)];
//! let start_of_second = |strategy: &str| {
//!     let settings = PolicySettings { strategy: strategy.to_owned(), ..PolicySettings::default() };
//!     let nobody_fails = FailureTrace { events: Vec::new() };
//!     let (metrics, outcomes) = simulate(Nodes(4), &settings, None, &jobs, &nobody_fails)?;
//!     assert_eq!(metrics.successful, 2);
//!     outcomes[1].start
//! };
//! assert_eq!(start_of_second("conservative-backfilling"), Some(Seconds(7_200)));
//! assert_eq!(start_of_second("heuristic-planning"), Some(Seconds(1_800)));
//! ```
//!
//! # The rooms
//!
//! Each calls only rooms above it in this list, with one exception: [`sweep`] hands its results to [`store`]. `tests/architecture.rs`
//! holds that. The first five are the domain: pure and deterministic, without clock, thread, actor or database.
//!
//! * [`workload`]: what arrives.
//! * [`estimates`]: how well users estimate.
//! * [`failures`]: which nodes fail when.
//! * [`plan`]: who holds which nodes when.
//! * [`scheduling`]: policies on a plan.
//! * [`simulation`]: the actors around the domain's state machines.
//! * [`sweep`]: experiment files, points, and the coordinator that shards them over threads.
//! * [`store`]: the SQLite file.
//! * [`report`]: tables, intervals, plots and score cards, from the store alone.
//! * [`cli`]: one file a subcommand.
//!
//! Beside them, for everybody: [`units`] and [`random`].

pub mod cli;
pub mod estimates;
pub mod failures;
pub mod plan;
pub mod random;
pub mod report;
pub mod scheduling;
pub mod simulation;
pub mod store;
pub mod sweep;
pub mod units;
pub mod workload;
