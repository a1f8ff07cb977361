//! Whole runs: against themselves under other orders of messages, and against what must hold of
//! any.

mod barrier;
mod interleaving;
mod whole_run;
mod workflows;
