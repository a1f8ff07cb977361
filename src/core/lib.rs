//! The domain of bookahead: pure and synchronous.
//!
//! Nothing here knows of actors, runtimes, databases, tables of reports or the command line. Time,
//! randomness and identifiers come in as arguments. Each module below may call those above it in
//! this list, and no other.

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
