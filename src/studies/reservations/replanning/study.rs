//! A planning-based machine that takes reservations.

pub mod keys;
pub mod measures;
mod settings;
pub mod stored;
mod tables;
pub mod view;

use std::sync::Arc;

use self::keys::{RawAdmission, RawPlanning, RawTables};
pub use self::measures::MEASURES;
pub use self::settings::*;
pub use self::tables::ReservationRows as Rows;
use crate::replanning::{
    Admission, DelayCostSettings, DisplacedJobs, JobMarks, NoticeRule, PredictedNotice,
    ReplanningRun, ReplanningSettings, Resume, ShortestNotice, TwinJobs, replanning_scene,
    reservation_measures, twin_measures, with_twins,
};
use bookahead_core::failures::{FailureSource, FailureTrace};
use bookahead_core::scheduling::measures::Measure;
use bookahead_core::scheduling::queue::QueueOrder;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{CostSpread, Job, RequestSettings, ReservationRequest, StartRule};
use bookahead_lab::actors::{Player, SimulationError};
use bookahead_lab::keys::delay_costs::CostKeys;
use bookahead_lab::keys::problem::{ProblemKind, Problems};
use bookahead_lab::study::SimulationSpec;
use bookahead_lab::study::inputs::{Handed, InputError, Inputs, latest_work, worked_off};
use bookahead_lab::study::{
    Asked, CommonSettings, JOB_BYTES, Simulation, SimulationResult, Starter, Strategy, Study,
    StudyRows, jobs_of, name_of, with_copies,
};
use bookahead_lab::tables::Definition;

/// The machine, its jobs and its requests.
#[derive(Clone, Debug)]
pub struct ReplanningSimulation {
    /// Size of the machine.
    pub nodes: Nodes,
    /// The machine.
    pub machine: ReplanningSettings,
    /// The jobs in order of submission, with ids 0, 1, 2, …
    pub jobs: Arc<[Job]>,
    /// Requests for reservations, in order of submission with ids 0, 1, 2, …
    pub requests: Arc<[ReservationRequest]>,
    /// Which jobs may be stopped for a reservation, or not be delayed by one.
    pub marks: JobMarks,
    /// Node failures.
    pub failures: Arc<FailureTrace>,
}

impl Simulation for ReplanningSimulation {
    fn run(
        &self,
        keep_outcomes: bool,
        player: &Player,
    ) -> Result<SimulationResult, SimulationError> {
        let scene = replanning_scene(
            self.nodes,
            &self.machine,
            &self.jobs,
            &self.requests,
            &self.marks,
            &self.failures,
        );
        let name = name_of(STRATEGY);
        let run = match self.machine.twin_jobs {
            TwinJobs::Skip => ReplanningRun::of(player.play(scene, keep_outcomes, name)?),
            TwinJobs::Record => {
                ReplanningRun::of_twins(player.play(with_twins(scene), keep_outcomes, name)?)
            }
        };
        let mut measured = reservation_measures(self.nodes, &run.metrics, &run.totals);
        if let Some(twins) = &run.twins {
            twin_measures(&mut measured, twins);
        }
        Ok(SimulationResult {
            measured,
            metrics: run.metrics,
            outcomes: run.jobs,
            failures: Arc::clone(&self.failures),
            rows: StudyRows::of(Rows(run.reservations)),
            ..SimulationResult::default()
        })
    }

    /// How long a slot is booked for and how its price weighs are settings.
    fn handed(&self, handed: &mut Handed<'_>) {
        handed.jobs(&self.jobs);
        for request in self.requests.iter() {
            handed.request(&[
                Some(request.submit.0),
                Some(request.wanted.earliest().0),
                Some(request.runtime.0),
                Some(request.nodes.0.into()),
                request.user,
            ]);
        }
        let ends = self.requests.iter();
        let ends = ends.map(|request| request.wanted.earliest() + request.runtime);
        let latest = ends.max().unwrap_or(Seconds::ZERO);
        handed.failures(&self.failures, latest.max(latest_work(&self.jobs)));
    }
}

impl Study for ReservationsStudy {
    type Keys = RawTables;

    const NAME: &'static str = "reservations";

    const ABOUT: &'static str = "A planning-based machine that takes reservations (Heine et al. 2005; Singh 2008, chapter 5).";

    const STRATEGY: Option<Strategy> = settings::STRATEGY;

    const MEASURES: &'static [Measure] = measures::MEASURES;

    const TABLES: Definition = tables::TABLES;

    const STARTER: Starter = Starter {
        keys: &[
            ("workload.fresh", "true"),
            ("workload.whole_trace", "true"),
            ("workload.load.value", "0.9"),
            ("reservations.origin", r#""instead""#),
        ],
        axes: &[
            ("admission.rule", r#"["holes", "move", "move-price"]"#),
            ("reservations.share_percent", "[10, 30]"),
        ],
    };

    fn resolve(keys: &Self::Keys, asked: &Asked<'_>, problems: &mut Problems) -> Option<Self> {
        Some(Self {
            machine: replanning(keys, problems)?,
            requests: asked.requests.cloned(),
        })
    }

    /// Without requests the rules of admission are not read, and without moving jobs not what
    /// becomes of them.
    fn normalise(&mut self, mut common: CommonSettings<'_>) {
        *common.estimates = None;
        common.without_policy();
        self.requests = self
            .requests
            .take()
            .filter(|requests| requests.share_percent > 0.0)
            .map(RequestSettings::normalised);
        let default = ReplanningSettings::default();
        let uses_all = |requests: &RequestSettings| !requests.duration_used.is_of_job();
        if self.requests.as_ref().is_some_and(uses_all) {
            // Nothing ends early.
            self.machine.early_end = default.early_end;
        }
        if !self.machine.admission.preempts() || self.machine.preemptible_percent == 0.0 {
            self.machine.stopped_first = default.stopped_first;
            self.machine.resume_overhead = default.resume_overhead;
        }
        self.machine.resume_overhead = self.machine.resumes_after();
        let is_priced = self.machine.admission == Admission::MovePrice;
        let is_chosen = (self.requests.as_ref())
            .is_some_and(|requests| matches!(requests.start, StartRule::Choice { .. }));
        let costs = self.machine.delay_costs;
        self.machine.delay_costs = costs.map(|costs| costs.normalised(is_priced, is_chosen));
        if !self.machine.admission.moves() {
            self.machine.undelayed_percent = default.undelayed_percent;
        }
        if !is_priced || self.machine.cancelling_percent == 0.0 {
            self.machine.penalty_factor = default.penalty_factor;
        }
        if self.requests.is_none() {
            self.machine = ReplanningSettings {
                order: self.machine.order,
                backfilling: self.machine.backfilling,
                starvation_guard: self.machine.starvation_guard,
                preemptible_percent: self.machine.preemptible_percent,
                ..default
            };
        } else if self.machine.admission.preempts() {
            // The queue is always planned again as a whole, and the guard protects in every order.
            self.machine.displaced = DisplacedJobs::default();
            return;
        } else if !self.machine.admission.moves() {
            self.machine.displaced = DisplacedJobs::default();
        } else {
            return;
        }
        if self.machine.order == QueueOrder::Fcfs {
            self.machine.starvation_guard = None;
        }
    }

    fn takes_reservations(&self) -> bool {
        true
    }

    fn work(&self, simulation: &SimulationSpec) -> f64 {
        jobs_of(&simulation.workload)
            * with_copies(self.requests.as_ref())
            * self.congestion()
            * match self.machine.twin_jobs {
                TwinJobs::Record => 2.0,
                TwinJobs::Skip => 1.0,
            }
            * queue_growth(&simulation.workload)
    }

    fn seconds_per_job(&self, _strategy: &str) -> f64 {
        4e-6
    }

    fn outcome_bytes(&self, simulation: &SimulationSpec) -> f64 {
        JOB_BYTES * jobs_of(&simulation.workload) * with_copies(self.requests.as_ref())
    }

    fn prepare(&self, spec: &SimulationSpec, inputs: &Inputs) -> Result<(), Arc<InputError>> {
        let (jobs, requests) = jobs_and_requests(self, spec, inputs)?;
        failures(spec, inputs, &jobs, &requests).map(drop)
    }

    fn failures_hash(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Option<String>, Arc<InputError>> {
        // A machine without failures keeps the identity that it had before there were any.
        if spec.failures.source == FailureSource::None {
            return Ok(None);
        }
        let (jobs, requests) = jobs_and_requests(self, spec, inputs)?;
        Ok(Some(
            failures(spec, inputs, &jobs, &requests)?.content_hash(),
        ))
    }

    fn simulation(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Box<dyn Simulation>, Arc<InputError>> {
        let (jobs, requests) = jobs_and_requests(self, spec, inputs)?;
        let seed = inputs.seed(spec);
        Ok(Box::new(ReplanningSimulation {
            nodes: spec.workload.nodes,
            machine: self.machine.clone(),
            marks: JobMarks::drawn(&jobs, &requests, &self.machine, |name| seed.stream(name)),
            failures: failures(spec, inputs, &jobs, &requests)?,
            jobs,
            requests,
        }))
    }
}

/// Jobs of a workload, and the requests beside them.
type JobsAndRequests = (Arc<[Job]>, Arc<[ReservationRequest]>);

/// The jobs of a simulation, and the requests that are made from them, as their owners state them.
fn jobs_and_requests(
    study: &ReservationsStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
) -> Result<JobsAndRequests, Arc<InputError>> {
    let jobs = inputs.battery(&*inputs.workload(spec)?, spec)?;
    let Some(requests) = &study.requests else {
        return Ok((jobs, Arc::from([])));
    };
    let mixed = inputs.jobs_and_requests(spec, requests, &jobs);
    let (jobs, requests) = (mixed.jobs, mixed.requests);
    let seed = inputs.seed(spec);
    let stated = (study.machine.delay_costs)
        .and_then(|costs| costs.stated(&jobs, &requests, |name| seed.stream(name)));
    let (jobs, requests) = stated.unwrap_or((jobs, requests));
    Ok((jobs.into(), requests.into()))
}

/// The failures that the machine meets until the last of its jobs and reservations is over: twice
/// the time of a packed machine after the last submission, and the longest of them.
fn failures(
    spec: &SimulationSpec,
    inputs: &Inputs,
    jobs: &[Job],
    requests: &[ReservationRequest],
) -> Result<Arc<FailureTrace>, Arc<InputError>> {
    if spec.failures.source == FailureSource::None {
        return Ok(Arc::default());
    }
    let nodes = spec.workload.nodes;
    let of_jobs = jobs.iter().map(|job| (job.submit, job.estimate, job.nodes));
    let of_requests = requests
        .iter()
        .map(|request| (request.wanted.earliest(), request.duration, request.nodes));
    let fitting = of_jobs
        .chain(of_requests)
        .filter(|(_, _, width)| *width <= nodes);
    inputs.failures_until(spec, nodes, spec.replication, worked_off(fitting, nodes))
}

fn replanning(tables: &RawTables, problems: &mut Problems) -> Option<ReplanningSettings> {
    let (raw, planning) = (&tables.admission, &tables.planning);
    let guard = raw.starvation_guard_hours().limited(|hours| hours <= 1e6);
    let guard = guard.checked(problems)?.map(Seconds::from_hours);
    let preemptible = raw.preemptible_percent().or_default(problems);
    let undelayed = raw.undelayed_percent().or_default(problems);
    let overhead = raw.resume_overhead_seconds().or_default(problems);
    let cancelling = raw.cancelling_percent().or_default(problems);
    let penalty_factor = raw.penalty_factor().or_default(problems);
    let delay_costs = delay_costs(planning, problems);
    let notice = notice(raw, problems);
    if reserved_unit_price(planning, problems)?.is_some() {
        let field = planning.reserved_unit_price();
        problems.add(
            ProblemKind::Conflict,
            field.key.path,
            field.place(),
            "all starts of one machine have the same c, and nobody compares them with best effort",
            "leave it out: c · nodes · duration is `base_price_su` of the view v_reservation times c",
        );
        return None;
    }
    let admission = raw.rule.unwrap_or_default();
    if admission.preempts() && cancelling.is_some_and(|percent| percent > 0.0) {
        let field = raw.cancelling_percent();
        problems.add(
            ProblemKind::Conflict,
            field.key.path,
            field.place(),
            "under the rules truncate and requeue running jobs are told at once when they are \
             stopped, and nobody tells them that the reservation is cancelled",
            "leave it out, or take another admission.rule",
        );
        return None;
    }
    Some(ReplanningSettings {
        order: planning.order.unwrap_or_default(),
        backfilling: planning.backfilling.unwrap_or_default(),
        admission,
        displaced: raw.displaced.unwrap_or_default(),
        starvation_guard: guard,
        early_end: raw.early_end.unwrap_or_default(),
        same_instant: raw.same_instant.unwrap_or_default(),
        displacement: raw.displacement.unwrap_or_default(),
        twin_jobs: raw.twin_jobs.unwrap_or_default(),
        preemptible_percent: preemptible?,
        stopped_first: raw.stopped_first.unwrap_or_default(),
        resume_overhead: match raw.resume.unwrap_or_default() {
            Resume::FromScratch => None,
            Resume::WhereStopped => Some(Seconds(overhead?)),
        },
        undelayed_percent: undelayed?,
        cancelling_percent: cancelling?,
        penalty_factor: penalty_factor?,
        notice: notice?,
        delay_costs: delay_costs?,
        reserved_unit_price: None,
    })
}

/// c of reserved node-time; the inner `None` where it costs what best effort does.
pub fn reserved_unit_price(raw: &RawPlanning, problems: &mut Problems) -> Option<Option<f64>> {
    let price = raw.reserved_unit_price().or_default(problems)?;
    Some((price != 1.0).then_some(price))
}

/// The shortest notice of reservations; the inner `None` where none is asked.
fn notice(raw: &RawAdmission, problems: &mut Problems) -> Option<Option<ShortestNotice>> {
    let hours = raw.notice_hours().or_default(problems);
    let quantile = raw.notice_quantile().or_default(problems);
    let last = raw.notice_last().or_default(problems);
    let factor = raw.notice_factor().or_default(problems);
    Some(match raw.notice.unwrap_or_default() {
        NoticeRule::None => None,
        NoticeRule::Hours => Some(ShortestNotice::Fixed(Seconds::from_hours(hours?))),
        NoticeRule::Predicted => Some(ShortestNotice::Predicted(PredictedNotice {
            quantile: quantile?,
            last: last?.unsigned_abs() as usize,
            factor: factor?,
        })),
    })
}

/// The delay costs of jobs; the inner `None` where nothing is said of them.
pub(crate) fn delay_costs(
    raw: &RawPlanning,
    problems: &mut Problems,
) -> Option<Option<DelayCostSettings>> {
    let misstating = raw.misstating_percent().or_default(problems);
    let factor = raw.misstated_factor().or_default(problems);
    let length_factor = raw.misstated_length_factor().or_default(problems);
    let alpha = raw.misstated_alpha().checked(problems);
    let spread = CostKeys {
        delay_costs: raw.delay_costs,
        shares: raw.delay_cost_shares_percent(),
        weights: raw.delay_cost_weights(),
        variation: raw.delay_cost_variation(),
    };
    let spread = spread.spread(problems)?;
    let settings = DelayCostSettings {
        spread,
        priced: raw.priced_costs.unwrap_or_default(),
        misstating_percent: misstating?,
        misstated_factor: factor?,
        misstated_length_factor: length_factor?,
        misstated_alpha: alpha?,
    };
    let says_nothing = spread == CostSpread::Width && settings.misstating_percent == 0.0;
    Some((!says_nothing).then_some(settings))
}

#[cfg(test)]
mod tests;
