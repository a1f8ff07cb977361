//! Queues of machines.

pub mod machine_queue;
pub mod predicted_queue;
