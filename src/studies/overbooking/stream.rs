//! Any registered policy behind the interface of engines that take jobs one by one. The machine
//! with its nodes plans for all jobs that it knows, so all jobs are kept until the last one has
//! come: memory grows with the trace.

use bookahead_core::failures::FailureTrace;
use bookahead_core::scheduling::PolicySpec;
use bookahead_core::scheduling::stream::{Listener, StreamRequest, StreamScheduler};
use bookahead_core::units::Nodes;
use bookahead_core::workload::{Job, JobId};

use crate::direct::simulate;

/// A policy of the registry as an engine, without deadlines and failures.
pub struct RegisteredStream {
    nodes: Nodes,
    settings: PolicySpec,
    requests: Vec<StreamRequest>,
}

impl RegisteredStream {
    /// An empty machine with the policy of this name. One that overbooks has no statistics here,
    /// and shortens nothing.
    #[must_use]
    pub fn new(nodes: Nodes, strategy: &str) -> Self {
        Self {
            nodes,
            settings: PolicySpec::named(strategy),
            requests: Vec::new(),
        }
    }
}

impl StreamScheduler for RegisteredStream {
    fn submit(&mut self, request: StreamRequest, _listener: &mut impl Listener) {
        self.requests.push(request);
    }

    fn finish(&mut self, listener: &mut impl Listener) {
        let jobs: Vec<Job> = (self.requests.iter().zip(0..))
            .map(|(request, index)| {
                Job::rigid(
                    JobId(index),
                    request.submit,
                    request.nodes,
                    request.estimate,
                )
                .running_for(request.runtime)
                .of_user(i64::from(request.user.0))
            })
            .collect();
        let failures = FailureTrace::default();
        let result = simulate(self.nodes, &self.settings, None, &jobs, &failures);
        let outcomes = result.map(|(_, outcomes)| outcomes).unwrap_or_default();
        for (request, outcome) in self.requests.iter().zip(outcomes) {
            match outcome.start {
                Some(start) => listener.started(request, start),
                None => listener.refused(request),
            }
        }
    }
}

#[cfg(test)]
mod tests;
