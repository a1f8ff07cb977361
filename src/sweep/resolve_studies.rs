//! From what the file says to the settings of studies with reservations: requests, admission, planning, slots.
//!
//! One function a section, as in [`super::resolve`].

use toml::Spanned;

use super::problem::{ProblemKind, Problems};
use super::raw::{
    RawAdmission, RawExperiment, RawPlanning, RawReservations, RawSlots, RawWorkload,
};
use super::resolve::{out_of_range, real, unknown_name};
use crate::plan::SlotRules;
use crate::scheduling::reserving::ReservingSettings;
use crate::scheduling::{SlotStudySettings, StudySettings};
use crate::units::Seconds;
use crate::workload::{RequestSettings, StartRule, TraceCopy, WholeTrace};

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
            shift: raw.copy_shift.unwrap_or_default(),
        }),
        exact_estimates: raw.exact_estimates.unwrap_or(false),
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

/// The study that a name of `scheduling.strategy` stands for, with its settings. The outer `None` where no study is called so,
/// the inner where something is wrong with its settings.
pub(super) fn study(
    name: &str,
    raw: &RawExperiment,
    problems: &mut Problems,
) -> Option<Option<StudySettings>> {
    match name {
        "replanning" => {
            let settings = reserving(&raw.admission, &raw.planning, problems);
            Some(settings.map(StudySettings::Replanning))
        }
        "slots" => Some(slot_study(&raw.slots, problems).map(StudySettings::Slots)),
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

fn slot_study(raw: &RawSlots, problems: &mut Problems) -> Option<SlotStudySettings> {
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
            merge_identical: raw.merge_identical.unwrap_or(false),
            minimum_duration: seconds(minimum?),
        },
        sample_period: seconds(sample?),
    })
}

/// Whether a study, its reservations and its workload can go together; says what cannot.
pub(super) fn fit_together(
    study: Option<&StudySettings>,
    reservations: Option<&Spanned<RawReservations>>,
    whole: bool,
    place: std::ops::Range<usize>,
    problems: &mut Problems,
) -> bool {
    if let (Some(StudySettings::Slots(_)), Some(raw)) = (study, reservations) {
        out_of_range(
            "reservations.share_percent",
            raw.span(),
            "this study takes no reservations",
            problems,
        );
        return false;
    }
    if study.is_none() && whole {
        problems.add(
            ProblemKind::Conflict,
            "workload.whole_trace",
            place,
            "policies that promise a deadline are simulated in batteries",
            "leave out `whole_trace`, or choose one of the studies (`replanning`, `slots`, `virtual-reservations`) as strategy",
        );
        return false;
    }
    true
}
