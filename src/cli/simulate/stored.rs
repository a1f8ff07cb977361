//! The jobs of a simulation in a store: a run of one point, whose outcomes are written as they
//! become known.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::predicted::name;
use super::shape::Shape;
use super::source::Source;
use super::{Estimates, PolicyName, SimulateArguments, SimulateError};
use crate::cli::studies;
use crate::failures::{FailureSettings, FailureSource};
use crate::scheduling::stream::StreamRequest;
use crate::scheduling::{JobOutcome, PolicySpec, Promise, Verdict};
use crate::store::{OutcomeStream, RunId, Store, WorkloadHash};
use crate::studies::{policy_alone, predicting_queue};
use crate::sweep::{
    JobsHash, Point, PointAxes, RESULT_FORMAT, RunInput, Seen, SimulationSpec, Sweep, digest,
};
use crate::units::{Nodes, Seconds};
use crate::workload::{Compression, Job, Origin, WholeTrace, WorkloadSettings, WorkloadSource};

/// Keeps what becomes of every job. In memory are the jobs from the first one on that is not
/// decided.
pub(super) struct StoredJobs {
    store: PathBuf,
    run: RunId,
    /// `None` where the store has this simulation already.
    stream: Option<OutcomeStream>,
    /// Jobs from the first undecided one on; those behind it that are decided have left a gap.
    open: VecDeque<Option<Job>>,
    /// Index of the first open job.
    first: u64,
    decided: Vec<JobOutcome>,
}

impl StoredJobs {
    /// Reads the jobs once, to know what they are, and begins a run.
    pub(super) fn create(
        path: &Path,
        source: &Source,
        arguments: &SimulateArguments,
        shape: &Shape,
    ) -> Result<Self, SimulateError> {
        let mut shape = shape.clone();
        let (mut workload, mut seen) = (WorkloadHash::default(), JobsHash::default());
        for job in source.jobs()?.take(arguments.most()) {
            let job = shape.submitted(job?);
            let job = shape.stored(&job);
            workload.add(&job);
            seen.add(&job);
        }
        let sweep = sweep(source, arguments, &shape, workload.clone().finish());
        let store = Store::open(studies(), path)?.with_durability(arguments.durability.into())?;
        let (run, stream) =
            store.stream_outcomes(&sweep, &source.name(), workload, Seen::jobs_alone(seen))?;
        Ok(Self {
            store: path.to_owned(),
            run,
            stream,
            open: VecDeque::new(),
            first: 0,
            decided: Vec::new(),
        })
    }

    /// What the open jobs and the outcomes that are not written yet take.
    pub(super) fn bytes(&self) -> u64 {
        let open = self.open.len() * size_of::<Option<Job>>();
        (open + self.decided.len() * size_of::<JobOutcome>()) as u64
    }

    /// A job that will be scheduled; in order of their indices.
    pub(super) fn submitted(&mut self, job: Job) {
        self.open.push_back(Some(job));
    }

    /// A job that is wider than the machine.
    pub(super) fn too_wide(&mut self, job: Job) {
        self.decided.push(JobOutcome::unpromised(job, None));
    }

    /// What became of a job: its start, or nothing.
    pub(super) fn decided(&mut self, request: &StreamRequest, start: Option<Seconds>) {
        let place = (request.index - self.first) as usize;
        let Some(job) = self.open.get_mut(place).and_then(Option::take) else {
            return;
        };
        while let Some(None) = self.open.front() {
            self.open.pop_front();
            self.first += 1;
        }
        let promised = job.fixed_window().filter(|_| start.is_some());
        let ran = start.map(|start| (start, start + request.runtime));
        let mut outcome = JobOutcome::unpromised(job, ran);
        outcome.promise = promised.map(|(start, end)| Promise::certain(start, end));
        if start.is_none() {
            outcome.verdict = Verdict::DroppedNoSlot;
        }
        self.decided.push(outcome);
    }

    /// Writes the jobs whose fate is known.
    pub(super) fn write_known(&mut self) -> Result<(), SimulateError> {
        for outcome in self.decided.drain(..) {
            if let Some(stream) = &mut self.stream {
                stream.write(outcome)?;
            }
        }
        Ok(())
    }

    /// Completes the run, and says where it is.
    pub(super) fn finish(mut self, machine: Nodes, wall: Duration) -> Result<(), SimulateError> {
        self.write_known()?;
        let had_it = self.stream.is_none();
        if let Some(stream) = self.stream {
            stream.finish(machine, wall)?;
        }
        let (run, store) = (self.run.0, self.store.display());
        let remark = if had_it {
            "; the store had this simulation already"
        } else {
            ""
        };
        crate::cli::say(format_args!("run {run} is in {store}{remark}"));
        Ok(())
    }
}

/// The run as the store knows it. Its identity is its own: what experiment files ask for is
/// computed by another engine.
fn sweep(source: &Source, arguments: &SimulateArguments, shape: &Shape, workload: String) -> Sweep {
    let spec = specification(source, arguments, shape);
    let identity = json!({
        "format": RESULT_FORMAT,
        "simulate": spec,
        "content": workload,
    });
    let id = digest(&identity.to_string());
    Sweep {
        name: format!("simulate-{}-{}", source.stem(), arguments.policy().label()),
        description: format!(
            "bookahead simulate: {} under {}",
            source.name(),
            arguments.policy().name()
        ),
        source: None,
        text: configuration(source, arguments, shape.machine),
        seed: arguments.seed,
        replications: 1,
        rule: None,
        axes: Vec::new(),
        losses: Vec::new(),
        machines: Vec::new(),
        points: vec![Point {
            id: digest(&format!("{id} at penalty ratio 1")),
            simulation: 0,
            axes: PointAxes::from_iter([]),
            penalty_ratio: 1.0,
            replication: 0,
            place: 0,
        }],
        inputs: vec![RunInput {
            source: format!("simulate {} seed={}", spec.workload.key(), spec.seed),
            content: workload,
        }],
        simulations: [spec].into_iter().collect(),
        simulation_ids: vec![id],
    }
}

/// What is simulated: the schedule of a policy of the registry, without deadlines and failures.
fn specification(source: &Source, arguments: &SimulateArguments, shape: &Shape) -> SimulationSpec {
    let queue = arguments.predictions.queue();
    let (strategy, study) = match (queue, arguments.policy()) {
        (Some(settings), _) => predicting_queue(settings),
        (None, policy) => (policy.name(), policy_alone()),
    };
    SimulationSpec {
        workload: WorkloadSettings {
            compression: Compression::Factor {
                factor: shape.factor.unwrap_or(1.0),
            },
            laxity: 0.0,
            whole: Some(WholeTrace {
                exact_estimates: arguments.estimates == Estimates::Perfect,
                // Jobs are scheduled at the times of the trace.
                origin: if arguments.predictions.queue().is_some() {
                    Origin::Log
                } else {
                    Origin::default()
                },
                ..WholeTrace::default()
            }),
            ..WorkloadSettings::of(
                match source.path() {
                    Some(_) => WorkloadSource::Trace {
                        file: source.name(),
                    },
                    None => WorkloadSource::LublinFeitelson {
                        jobs: arguments.jobs.unwrap_or(0).try_into().unwrap_or(u32::MAX),
                    },
                },
                shape.machine,
            )
        },
        estimates: None,
        failures: FailureSettings {
            source: FailureSource::None,
            offset: Seconds::ZERO,
        },
        scheduling: PolicySpec::named(strategy),
        study,
        replication: 0,
        seed: arguments.seed,
    }
    .normalised(studies())
}

/// What the command was told, for people.
fn configuration(source: &Source, arguments: &SimulateArguments, machine: Nodes) -> String {
    let mut text =
        "# What `bookahead simulate` was told; no experiment file.\n[simulate]\n".to_owned();
    let mut line = |key: &str, value: toml::Value| {
        // Writing into a text does not fail.
        let _ = writeln!(text, "{key} = {value}");
    };
    line("trace", source.name().into());
    line("policy", arguments.policy().name().into());
    if let Some(queue) = arguments.predictions.queue() {
        line("predictor", queue.predictor.clone().into());
        line("corrector", name(&queue.corrector).into());
        line("order", name(&queue.order).into());
        line("backfill", name(&queue.backfill).into());
    }
    line("nodes", i64::from(machine.0).into());
    let estimates = match arguments.estimates {
        Estimates::User => "user",
        Estimates::Perfect => "perfect",
    };
    line("estimates", estimates.into());
    if let Some(load) = arguments.load {
        line("load", load.into());
    }
    if let Some(jobs) = arguments.jobs {
        line("jobs", i64::try_from(jobs).unwrap_or(i64::MAX).into());
    }
    if arguments.policy() == PolicyName::FixedStarts {
        line("lead", arguments.lead.into());
    }
    text
}
