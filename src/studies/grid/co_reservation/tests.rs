//! Whole runs: against themselves under other orders of messages, and against what must hold of
//! any.

mod barrier;
mod candidates;
mod free_cpus;
mod further;
mod information;
mod interleaving;
mod partition;
mod priority;
mod watch;
mod whole_run;
mod workflows;
