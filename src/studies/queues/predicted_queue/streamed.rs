//! The queue behind the interface of engines that take jobs one by one. Predictions depend on the
//! jobs that have ended, so jobs are kept until the last one has come: memory grows with the trace.

use std::sync::Arc;

use bookahead_core::predictions::Submission;
use bookahead_core::scheduling::stream::{Listener, StreamRequest, StreamScheduler};
use bookahead_core::units::Nodes;

use super::machine::{PredictedQueueMachine, UnknownPredictor, simulate_predicted_queue};
use super::{PredictedOutcome, PredictedQueueSettings, QueueJob};

/// The queue as an engine.
pub struct PredictedStream {
    nodes: Nodes,
    settings: PredictedQueueSettings,
    requests: Vec<StreamRequest>,
}

impl PredictedStream {
    /// An empty machine.
    ///
    /// # Errors
    /// Where there is no predictor of the name.
    pub fn new(nodes: Nodes, settings: PredictedQueueSettings) -> Result<Self, UnknownPredictor> {
        // What is wrong is known before jobs are read.
        PredictedQueueMachine::new(nodes, &settings)?;
        Ok(Self {
            nodes,
            settings,
            requests: Vec::new(),
        })
    }

    fn outcomes(&self) -> Vec<PredictedOutcome> {
        let jobs: Arc<[QueueJob]> = (self.requests.iter().zip(0..))
            .map(|(request, index)| QueueJob {
                submission: Submission {
                    index,
                    submit: request.submit,
                    request: request.estimate,
                    nodes: request.nodes,
                    user: request.user,
                },
                runtime: request.runtime,
                class: 0,
            })
            .collect();
        simulate_predicted_queue(&jobs, self.nodes, &self.settings).unwrap_or_default()
    }
}

impl StreamScheduler for PredictedStream {
    fn submit(&mut self, request: StreamRequest, _listener: &mut impl Listener) {
        self.requests.push(request);
    }

    fn finish(&mut self, listener: &mut impl Listener) {
        for (request, outcome) in self.requests.iter().zip(self.outcomes()) {
            listener.started(request, outcome.start);
        }
    }
}
