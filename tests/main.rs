//! Tests that cross modules, one module a subject.

mod actors;
mod advise;
mod architecture;
mod broken;
mod browser;
mod calibrated_promises;
mod checkpoints;
mod cluster_excerpts;
mod convolution;
mod cross_checks;
mod documents;
mod durability;
mod every_outcome;
mod experiment_files;
mod exports;
mod first_steps;
mod fixed_reservations;
mod fuzz;
mod gantt;
mod golden_scenarios;
mod goldens;
mod history;
#[cfg(unix)]
mod hostile_folders;
mod importing;
mod invariants;
mod learning_statistics;
mod links;
mod local_clusters;
mod machine_queue;
mod machines;
mod oracles;
mod overbooked_parts;
mod packaging;
#[cfg(target_os = "linux")]
mod peers;
mod predicted_queues;
mod provisioning_sites;
mod quantities;
mod real_traces;
mod reproduce_curves;
mod reproduce_own_paper;
mod reproduce_readings;
mod reservations;
mod scripts;
mod serve;
mod shards;
#[cfg(target_os = "linux")]
mod shares_on_engines;
mod simulate;
mod simulate_stored;
mod support;
mod sweeps;
mod toy_study;
mod what_holds;
mod workflows;
