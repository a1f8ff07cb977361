//! From what the file says to the settings of studies with reservations: requests, admission, planning, slots.
//!
//! One function a section, as in [`super::resolve`].

use toml::Spanned;

use super::problem::{ProblemKind, Problems};
use super::raw::{
    RawAdmission, RawExperiment, RawPlanning, RawReservations, RawSlots, RawWorkload,
};
use super::resolve::{at_least, out_of_range, real, unknown_name};
use super::{resolve_grid, resolve_provisioning};
use crate::estimates::WaitPredictorSettings;
use crate::plan::SlotRules;
use crate::scheduling::reserving::ReservingSettings;
use crate::scheduling::{SlotStudySettings, VirtualStudySettings};
use crate::studies::StudySpec;
use crate::studies::overbooking::OverbookingStudy;
use crate::studies::reservations::ReservationsStudy;
use crate::studies::slots::SlotsStudy;
use crate::studies::virtual_reservations::VirtualReservationsStudy;
use crate::units::{Nodes, Seconds};
use crate::workload::{RequestSettings, StartRule, TraceCopy, WholeTrace, WorkloadSettings};

/// The whole trace, where the workload asks for it; `None` also where something is wrong with it.
pub(super) fn whole_trace(
    raw: &RawWorkload,
    problems: &mut Problems,
) -> Result<Option<WholeTrace>, ()> {
    let whole = raw.whole_trace.as_ref().is_some_and(|flag| *flag.get_ref());
    if !whole {
        let belongs = [
            ("workload.days", raw.days.as_ref().map(Spanned::span)),
            (
                "workload.copy_percent",
                raw.copy_percent.as_ref().map(Spanned::span),
            ),
            (
                "workload.copy_shift",
                raw.copy_shift.as_ref().map(Spanned::span),
            ),
            (
                "workload.exact_estimates",
                raw.exact_estimates.as_ref().map(Spanned::span),
            ),
        ];
        let mut wrong = false;
        for (key, span) in belongs {
            if let Some(span) = span {
                problems.add(
                    ProblemKind::Conflict,
                    key,
                    span,
                    "this key belongs to whole traces",
                    "add `whole_trace = true`, or leave it out: batteries know nothing of it",
                );
                wrong = true;
            }
        }
        return if wrong { Err(()) } else { Ok(None) };
    }
    for (key, span) in [
        (
            "workload.battery_jobs",
            raw.battery_jobs.as_ref().map(Spanned::span),
        ),
        (
            "workload.evaluation_jobs",
            raw.evaluation_jobs.as_ref().map(Spanned::span),
        ),
        ("workload.laxity", raw.laxity.as_ref().map(Spanned::span)),
    ] {
        if let Some(span) = span {
            problems.add(
                ProblemKind::Conflict,
                key,
                span,
                "a whole trace has neither batteries nor deadlines",
                "leave it out, or leave out `whole_trace`",
            );
            return Err(());
        }
    }
    let days = match &raw.days {
        None => None,
        Some(_) => {
            Some(real("workload.days", &raw.days, 1.0, |days| days > 0.0, problems).ok_or(())?)
        }
    };
    let percent = real(
        "workload.copy_percent",
        &raw.copy_percent,
        0.0,
        |percent| (0.0..=100.0).contains(&percent),
        problems,
    )
    .ok_or(())?;
    Ok(Some(WholeTrace {
        days,
        copy: (percent > 0.0).then(|| TraceCopy {
            percent,
            shift: raw
                .copy_shift
                .as_ref()
                .map(|shift| *shift.get_ref())
                .unwrap_or_default(),
        }),
        exact_estimates: raw
            .exact_estimates
            .as_ref()
            .is_some_and(|exact| *exact.get_ref()),
    }))
}

/// `[reservations]`, resolved; the outer `None` where something is wrong.
pub(super) fn reservations(
    raw: Option<&Spanned<RawReservations>>,
    problems: &mut Problems,
) -> Option<Option<RequestSettings>> {
    let Some(raw) = raw else {
        return Some(None);
    };
    let raw = raw.get_ref();
    let default = RequestSettings::default();
    let share = real(
        "reservations.share_percent",
        &raw.share_percent,
        default.share_percent,
        |share| (0.0..=100.0).contains(&share),
        problems,
    );
    let factor = real(
        "reservations.start_factor",
        &raw.start_factor,
        1.0,
        |factor| factor >= 0.0,
        problems,
    );
    let lead = real(
        "reservations.lead_hours",
        &raw.lead_hours,
        1.0,
        |hours| (0.0..=1e6).contains(&hours),
        problems,
    );
    let alpha = real(
        "reservations.alpha",
        &raw.alpha,
        0.5,
        |alpha| (0.0..=1.0).contains(&alpha),
        problems,
    );
    let random = raw
        .random_alpha
        .as_ref()
        .is_some_and(|flag| *flag.get_ref());
    let start = match raw
        .start
        .as_ref()
        .map(|start| (start, start.get_ref().as_str()))
    {
        None | Some((_, "estimate-factor")) => {
            factor.map(|factor| StartRule::EstimateFactor { factor })
        }
        Some((_, "lead")) => lead.map(|hours| StartRule::Lead {
            seconds: Seconds::from_hours(hours),
        }),
        Some((_, "choice")) => alpha.map(|alpha| StartRule::Choice {
            alpha: (!random).then_some(alpha),
        }),
        Some((start, _)) => {
            let known = ["estimate-factor", "lead", "choice"];
            unknown_name("reservations.start", start, &known, problems);
            None
        }
    };
    Some(Some(RequestSettings {
        share_percent: share?,
        origin: raw.origin.unwrap_or_default(),
        start: start?,
        duration: raw.duration.unwrap_or_default(),
        rounding: raw.rounding.unwrap_or(default.rounding),
    }))
}

/// The study that `scheduling.strategy` stands for, with its settings; `None` where something is wrong.
pub(super) fn study(
    strategy: &str,
    workload: &WorkloadSettings,
    replications: u32,
    requests: Option<RequestSettings>,
    raw: &RawExperiment,
    problems: &mut Problems,
) -> Option<StudySpec> {
    let place = raw.workload.as_ref().map_or(0..0, Spanned::span);
    let whole = workload.whole.is_some();
    let machine = match machine(strategy, requests.clone(), raw, problems) {
        None => None,
        Some(machine) => Some(machine?),
    };
    let grid = resolve_grid::grid(strategy, whole, place.clone(), raw, problems)?;
    let provisioned =
        resolve_provisioning::provisioned(strategy, workload, replications, raw, problems)?;
    let study = machine
        .or(grid.map(|grid| StudySpec::CoReservation(Box::new(grid))))
        .or(provisioned.map(|study| StudySpec::Provisioning(Box::new(study))));
    let policy = study.is_none();
    let study =
        study.unwrap_or_else(|| StudySpec::Overbooking(Box::new(OverbookingStudy { requests })));
    if let Some(raw) = &raw.reservations
        && !study.study().takes_reservations()
    {
        out_of_range(
            "reservations.share_percent",
            raw.span(),
            "this study takes no reservations",
            problems,
        );
        return None;
    }
    if policy && whole {
        problems.add(
            ProblemKind::Conflict,
            "workload.whole_trace",
            place,
            "policies that promise a deadline are simulated in batteries",
            "leave out `whole_trace`, or choose one of the studies (`replanning`, `slots`, `virtual-reservations`, `co-reservation`, `provisioning`) as strategy",
        );
        return None;
    }
    Some(study)
}

/// The study of one machine that a name stands for. The outer `None` where none is called so, the inner where something is
/// wrong with its settings.
fn machine(
    name: &str,
    requests: Option<RequestSettings>,
    raw: &RawExperiment,
    problems: &mut Problems,
) -> Option<Option<StudySpec>> {
    match name {
        "replanning" => {
            let machine = reserving(&raw.admission, &raw.planning, problems);
            let study = |machine| ReservationsStudy { machine, requests };
            Some(machine.map(|machine| StudySpec::Reservations(Box::new(study(machine)))))
        }
        "slots" => {
            let settings = slot_study(&raw.slots, problems);
            Some(settings.map(|settings| StudySpec::Slots(Box::new(SlotsStudy(settings)))))
        }
        "virtual-reservations" => {
            let study = |settings| {
                StudySpec::VirtualReservations(Box::new(VirtualReservationsStudy(settings)))
            };
            Some(virtual_study(raw, problems).map(study))
        }
        _ => None,
    }
}

fn reserving(
    raw: &RawAdmission,
    planning: &RawPlanning,
    problems: &mut Problems,
) -> Option<ReservingSettings> {
    let guard = match &raw.starvation_guard_hours {
        None => None,
        Some(_) => Some(Seconds::from_hours(real(
            "admission.starvation_guard_hours",
            &raw.starvation_guard_hours,
            0.0,
            |hours| (0.0..=1e6).contains(&hours),
            problems,
        )?)),
    };
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

pub(super) fn slot_study(raw: &RawSlots, problems: &mut Problems) -> Option<SlotStudySettings> {
    let default = SlotRules::default();
    let sample = real(
        "slots.sample_minutes",
        &raw.sample_minutes,
        60.0,
        |minutes| minutes * 60.0 >= 1.0 && minutes < 1e6,
        problems,
    );
    let minimum = real(
        "slots.minimum_minutes",
        &raw.minimum_minutes,
        0.0,
        |minutes| (0.0..1e6).contains(&minutes),
        problems,
    );
    let seconds = |minutes: f64| Seconds((minutes * 60.0).round() as i64);
    Some(SlotStudySettings {
        source: raw.source.unwrap_or_default(),
        rules: SlotRules {
            equal_starts: raw.equal_starts.unwrap_or_default(),
            surplus: raw.surplus.unwrap_or_default(),
            merge_identical: raw.merge_identical.unwrap_or(default.merge_identical),
            minimum_duration: seconds(minimum?),
        },
        sample_period: seconds(sample?),
    })
}

fn virtual_study(raw: &RawExperiment, problems: &mut Problems) -> Option<VirtualStudySettings> {
    let default = VirtualStudySettings::default();
    let given = &raw.virtual_reservations;
    let hours = |key, given, default: Seconds, problems: &mut Problems| {
        let allowed = |hours: f64| hours > 0.0 && hours < 1e6;
        let hours = real(key, given, default.hours(), allowed, problems)?;
        Some(Seconds::from_hours(hours))
    };
    let nodes = at_least("virtual.nodes", &given.nodes, default.nodes.0, 1, problems);
    let duration = hours(
        "virtual.duration_hours",
        &given.duration_hours,
        default.duration,
        problems,
    );
    let lead = hours(
        "virtual.lead_hours",
        &given.lead_hours,
        default.lead,
        problems,
    );
    let penalty_factor = real(
        "virtual.penalty_factor",
        &given.penalty_factor,
        default.penalty_factor,
        |factor| factor >= 0.0,
        problems,
    );
    let instants = at_least(
        "virtual.instants",
        &given.instants,
        default.instants,
        1,
        problems,
    );
    let step = match &given.step_seconds {
        Some(step) if *step.get_ref() < 1 => {
            let message = format!("{} s is no step", step.get_ref());
            out_of_range("virtual.step_seconds", step.span(), &message, problems);
            None
        }
        Some(step) => Some(Seconds(*step.get_ref())),
        None => Some(default.step),
    };
    let warm_up = real(
        "virtual.warm_up_days",
        &given.warm_up_days,
        default.warm_up.hours() / 24.0,
        |days| (0.0..1e5).contains(&days),
        problems,
    );
    let confidence = real(
        "virtual.confidence",
        &given.confidence,
        default.predictor.confidence,
        |confidence| confidence > 0.0 && confidence < 1.0,
        problems,
    );
    let count = |key, given, default: usize, problems: &mut Problems| {
        at_least(key, given, default as u32, 1, problems).map(|count| count as usize)
    };
    let history = count(
        "virtual.history",
        &given.history,
        default.predictor.history,
        problems,
    );
    let minimum_history = count(
        "virtual.minimum_history",
        &given.minimum_history,
        default.predictor.minimum_history,
        problems,
    );
    let (history, minimum_history) = (history?, minimum_history?);
    if minimum_history > history {
        let span = [&given.minimum_history, &given.history]
            .iter()
            .find_map(|given| given.as_ref().map(Spanned::span))
            .unwrap_or(0..0);
        let message = format!("{minimum_history} is more than the {history} that are remembered");
        out_of_range("virtual.minimum_history", span, &message, problems);
        return None;
    }
    Some(VirtualStudySettings {
        nodes: Nodes(nodes?),
        duration: duration?,
        lead: lead?,
        penalty_factor: penalty_factor?,
        instants: instants?,
        step: step?,
        padding: given.padding.unwrap_or_default(),
        predictor: WaitPredictorSettings {
            history,
            confidence: confidence?,
            rule: given.rule.unwrap_or(default.predictor.rule),
            minimum_history,
        },
        warm_up: Seconds::from_hours(warm_up? * 24.0),
        combination: given.combination.unwrap_or_default(),
        reserving: ReservingSettings {
            order: raw.planning.order.unwrap_or_default(),
            backfilling: raw.planning.backfilling.unwrap_or_default(),
            ..default.reserving
        },
    })
}
