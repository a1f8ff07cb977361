//! The node failures that simulations meet, and until when they need them.

use std::sync::Arc;

use super::{FailureRequest, InputError, Inputs, canonical_text};
use crate::failures::{FailureSettings, FailureSource, FailureTrace, NodeFailures};
use crate::study::SimulationSpec;
use crate::units::{NodeSeconds, Nodes, Seconds};
use crate::workload::Job;

impl Inputs {
    /// The failures that these jobs meet in a replication.
    pub fn failures_with(
        &self,
        spec: &SimulationSpec,
        jobs: &[Job],
        replication: u32,
    ) -> Result<Arc<FailureTrace>, Arc<InputError>> {
        self.failures_for(spec, jobs, replication, Seconds::ZERO)
    }

    /// The same where the last of these jobs may be over so much later than their deadlines say.
    pub fn failures_for(
        &self,
        spec: &SimulationSpec,
        jobs: &[Job],
        replication: u32,
        later: Seconds,
    ) -> Result<Arc<FailureTrace>, Arc<InputError>> {
        self.failures_until(
            spec,
            spec.workload.nodes,
            replication,
            later + by_deadlines(jobs, spec.workload.nodes),
        )
    }

    /// The same, also where they follow the load of the cluster.
    pub fn node_failures(
        &self,
        spec: &SimulationSpec,
        jobs: &[Job],
        replication: u32,
        later: Seconds,
    ) -> Result<NodeFailures, Arc<InputError>> {
        if !spec.failures.follow_load() {
            let known = self.failures_for(spec, jobs, replication, later)?;
            return Ok(NodeFailures::Known(known));
        }
        let workload_key = self.sources.workload_key(&spec.workload);
        let nodes = spec.workload.nodes;
        let request = FailureRequest {
            settings: &spec.failures,
            nodes,
            horizon: later + by_deadlines(jobs, nodes),
            seed: spec.seed,
            workload_key: &workload_key,
            replication,
        };
        let drawn = self.possible_failures.get_shared(request.key(), || {
            Ok(self.sources.failures_by_load(&request)?)
        });
        drawn.map(NodeFailures::ByLoad)
    }

    /// The failures that these jobs meet on a machine, or on several together, with so many nodes.
    pub fn failures_on(
        &self,
        spec: &SimulationSpec,
        jobs: &[Job],
        nodes: Nodes,
    ) -> Result<Arc<FailureTrace>, Arc<InputError>> {
        // As if all jobs were on one machine of the workload's size: none lasts longer on several.
        let horizon = by_deadlines(jobs, spec.workload.nodes);
        self.failures_until(spec, nodes, spec.replication, horizon)
    }

    /// The failures of so many nodes before an instant.
    pub fn failures_until(
        &self,
        spec: &SimulationSpec,
        nodes: Nodes,
        replication: u32,
        horizon: Seconds,
    ) -> Result<Arc<FailureTrace>, Arc<InputError>> {
        if spec.failures.source == FailureSource::None {
            return Ok(Arc::default());
        }
        let workload_key = self.sources.workload_key(&spec.workload);
        self.failures_of(&FailureRequest {
            settings: &spec.failures,
            nodes,
            horizon,
            seed: spec.seed,
            workload_key: &workload_key,
            replication,
        })
    }

    /// The failures before the simulation starts: those of its failure clock from 0 to the offset.
    pub fn failures_before(
        &self,
        spec: &SimulationSpec,
        replication: u32,
    ) -> Result<Arc<FailureTrace>, Arc<InputError>> {
        let settings = FailureSettings {
            offset: Seconds::ZERO,
            ..spec.failures.clone()
        };
        let workload_key = self.sources.workload_key(&spec.workload);
        self.failures_of(&FailureRequest {
            settings: &settings,
            nodes: spec.workload.nodes,
            horizon: spec.failures.offset,
            seed: spec.seed,
            workload_key: &workload_key,
            replication,
        })
    }

    /// The failures that are asked for, made once for everybody who asks for the same.
    pub fn failures_of(
        &self,
        request: &FailureRequest<'_>,
    ) -> Result<Arc<FailureTrace>, Arc<InputError>> {
        self.failures.get_shared(request.key(), || {
            let table = self.tables.get(canonical_text(request.settings), || {
                self.sources.failure_table(request.settings)
            })?;
            Ok(self.sources.failures(&table, request)?)
        })
    }
}

impl FailureRequest<'_> {
    /// Requests with the same key ask for the same.
    fn key(&self) -> String {
        let Self {
            settings,
            nodes,
            horizon,
            seed,
            workload_key,
            replication,
        } = self;
        let settings = canonical_text(settings);
        format!("{seed}|{workload_key}|{nodes}|{settings}|{replication}|{horizon}")
    }
}

/// When no job of a battery can be on the machine any more. Planned jobs end by their deadlines; a
/// queue that promises nothing works off what was submitted.
fn by_deadlines(jobs: &[Job], nodes: Nodes) -> Seconds {
    worked_off(
        jobs.iter()
            .map(|job| (job.deadline, job.estimate, job.nodes)),
        nodes,
    )
}

/// When a machine of this size has worked off jobs and reservations, each given by its earliest
/// start, its length and its width: twice the time of a packed machine after the last of them, and
/// the longest.
pub fn worked_off(
    work: impl IntoIterator<Item = (Seconds, Seconds, Nodes)>,
    nodes: Nodes,
) -> Seconds {
    let (mut last, mut longest, mut area) = (Seconds::ZERO, Seconds::ZERO, NodeSeconds(0));
    for (from, length, width) in work {
        last = last.max(from);
        longest = longest.max(length);
        area += width.for_span(length);
    }
    let packed = Seconds(area.0 / i64::from(nodes.0.max(1)));
    last + packed * 2 + longest + Seconds::HOUR
}
