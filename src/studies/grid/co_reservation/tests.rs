//! Whole runs: against themselves under other orders of messages, and against what must hold of
//! any.

mod interleaving;
mod whole_run;
