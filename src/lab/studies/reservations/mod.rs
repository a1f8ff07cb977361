//! A planning-based machine that takes reservations.

mod keys;
mod tables;

use std::sync::Arc;

use self::keys::RawTables;
pub use self::tables::ReservationRows as Rows;
use super::{
    Asked, FileStudy, Held, LabStudy, MachineUse, Simulation, SimulationResult, Starter, StudyRows,
};
use crate::actors::{SimulationError, simulate_reserving_cluster};
use crate::inputs::{InputError, Inputs};
use crate::keys::problem::Problems;
use crate::scheduling::reserving::{
    RequestVerdict, ReservationOutcome, ReservingSettings, reservation_measures,
};
use crate::studies::SimulationSpec;
use crate::tables::Definition;
use crate::units::{Nodes, Seconds};
use crate::workload::{Job, RequestSettings, ReservationRequest, StartRule};
pub use bookahead_engine::studies::reservations::*;

/// The machine, its jobs and its requests.
#[derive(Clone, Debug)]
pub struct ReservingSimulation {
    /// Size of the machine.
    pub nodes: Nodes,
    /// The machine.
    pub machine: ReservingSettings,
    /// The jobs in order of submission, with ids 0, 1, 2, …
    pub jobs: Arc<[Job]>,
    /// Requests for reservations, in order of submission with ids 0, 1, 2, …
    pub requests: Arc<[ReservationRequest]>,
}

impl Simulation for ReservingSimulation {
    fn run(&self, keep_outcomes: bool) -> Result<SimulationResult, SimulationError> {
        let run = simulate_reserving_cluster(
            self.nodes,
            &self.machine,
            &self.jobs,
            &self.requests,
            keep_outcomes,
        )?;
        Ok(SimulationResult {
            measured: reservation_measures(self.nodes, &run.metrics, &run.totals),
            metrics: run.metrics,
            outcomes: run.jobs,
            rows: StudyRows::Reservations(Box::new(Rows(run.reservations))),
            ..SimulationResult::default()
        })
    }
}

impl LabStudy for ReservationsStudy {
    fn prepare(&self, spec: &SimulationSpec, inputs: &Inputs) -> Result<(), Arc<InputError>> {
        let workload = inputs.workload(spec)?;
        inputs.battery(&workload, spec).map(drop)
    }

    fn simulation(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Box<dyn Simulation>, Arc<InputError>> {
        let jobs = inputs.battery(&*inputs.workload(spec)?, spec)?;
        let (jobs, requests) = match &self.requests {
            None => (jobs, Arc::from([])),
            Some(requests) => {
                let mixed = inputs.jobs_and_requests(spec, requests, &jobs);
                (mixed.jobs.into(), mixed.requests.into())
            }
        };
        Ok(Box::new(ReservingSimulation {
            nodes: spec.workload.nodes,
            machine: self.machine.clone(),
            jobs,
            requests,
        }))
    }

    fn machines(
        &self,
        spec: &SimulationSpec,
        _inputs: &Inputs,
        result: &SimulationResult,
    ) -> Result<Vec<MachineUse>, Arc<InputError>> {
        let asked: &[ReservationOutcome] = match &result.rows {
            StudyRows::Reservations(rows) => &rows.0,
            _ => &[],
        };
        let kept = asked
            .iter()
            .filter(|outcome| outcome.verdict == RequestVerdict::Granted);
        let reservations = kept.filter_map(|outcome| {
            Some(Held {
                kind: "reservations",
                start: outcome.start?,
                end: outcome.end?,
                nodes: outcome.request.nodes,
            })
        });
        Ok(vec![MachineUse {
            name: "machine".to_owned(),
            nodes: spec.workload.nodes,
            held: Held::by_jobs(&result.outcomes)
                .chain(reservations)
                .collect(),
        }])
    }
}

impl FileStudy for ReservationsStudy {
    type Tables = RawTables;

    const STORED: Definition = tables::TABLES;

    const STARTER: Starter = Starter {
        keys: &[
            ("workload.whole_trace", "true"),
            ("workload.target_load", "0.9"),
            ("reservations.origin", r#""instead""#),
        ],
        axes: &[
            ("admission.rule", r#"["holes", "move", "move-price"]"#),
            ("reservations.share_percent", "[10, 30]"),
        ],
    };

    fn resolve(asked: &Asked<'_>, problems: &mut Problems) -> Option<Self> {
        Some(Self {
            machine: reserving(&asked.tables.reservations, problems)?,
            requests: asked.requests.cloned(),
        })
    }
}

/// `[reservations]`, resolved; the outer `None` where something is wrong.
pub(crate) fn reservations(
    tables: &RawTables,
    problems: &mut Problems,
) -> Option<Option<RequestSettings>> {
    let raw = &tables.reservations;
    if raw.place.is_none() {
        return Some(None);
    }
    let share = raw.share_percent().or_default(problems);
    let factor = raw.start_factor().or_default(problems);
    let lead = raw
        .lead_hours()
        .limited(|hours| hours <= 1e6)
        .or_default(problems);
    let alpha = raw.alpha().or_default(problems);
    let random = raw.random_alpha().is_on();
    let start = raw.start().name(problems).and_then(|start| match start {
        "lead" => lead.map(|hours| StartRule::Lead {
            seconds: Seconds::from_hours(hours),
        }),
        "choice" => alpha.map(|alpha| StartRule::Choice {
            alpha: (!random).then_some(alpha),
        }),
        _ => factor.map(|factor| StartRule::EstimateFactor { factor }),
    });
    Some(Some(RequestSettings {
        share_percent: share?,
        origin: raw.origin.unwrap_or_default(),
        start: start?,
        duration: raw.duration.unwrap_or_default(),
        rounding: raw.rounding.unwrap_or_default(),
    }))
}

fn reserving(tables: &RawTables, problems: &mut Problems) -> Option<ReservingSettings> {
    let (raw, planning) = (&tables.admission, &tables.planning);
    let guard = raw.starvation_guard_hours().limited(|hours| hours <= 1e6);
    let guard = guard.checked(problems)?.map(Seconds::from_hours);
    Some(ReservingSettings {
        order: planning.order.unwrap_or_default(),
        backfilling: planning.backfilling.unwrap_or_default(),
        admission: raw.rule.unwrap_or_default(),
        displaced: raw.displaced.unwrap_or_default(),
        starvation_guard: guard,
        early_end: raw.early_end.unwrap_or_default(),
        same_instant: raw.same_instant.unwrap_or_default(),
        displacement: raw.displacement.unwrap_or_default(),
    })
}
