//! `[workload]`: jobs, their cleaning, their load, whole traces.

use std::ops::Range;

use toml::Spanned;

use super::early_ends::early_ends;
use super::first_span;
use super::tightness::tightness;
use crate::keys::problem::{ProblemKind, Problems};
use crate::keys::workload::MOST_JOBS;
use crate::study::inputs::{ADD_NODES, LogSizes};
use crate::sweep::raw::RawWorkload;
use crate::units::Nodes;
use crate::workload::{
    CleaningRules, Compression, TestJobs, TraceCopy, WholeTrace, Windows, WorkloadSettings,
    WorkloadSource,
};

pub(crate) fn workload(
    raw: Option<&Spanned<RawWorkload>>,
    replications: u32,
    log_sizes: &LogSizes,
    problems: &mut Problems,
) -> Option<WorkloadSettings> {
    let Some(raw) = raw else {
        let help = "add [workload] with a trace or a model, nodes, and one of compression, load.value, load.each_battery";
        problems.add(
            ProblemKind::Missing,
            "workload",
            0..0,
            "there is no workload",
            help,
        );
        return None;
    };
    let place = raw.span();
    let raw = raw.get_ref();
    let battery_jobs = raw.battery_jobs().or_default(problems);
    let source = source(raw, &place, problems);
    let whole = whole_trace(raw, replications, problems);
    let nodes = nodes(raw, &place, log_sizes, problems);
    let is_whole = matches!(whole, Ok(Some(_)));
    let fresh = raw.fresh().is_on();
    let compression = compression(raw, &place, is_whole, problems);
    let tightness = tightness(raw, compression, is_whole, problems);
    let early_ends = early_ends(raw, is_whole, problems);
    let battery_jobs = battery_jobs?;
    let whole = whole.ok()?;
    if fresh {
        refuse_with_fresh(raw, problems)?;
    }
    if whole.is_some() {
        return Some(WorkloadSettings {
            source: source?,
            nodes: nodes?,
            evaluation_jobs: 0,
            battery_jobs: 0,
            cleaning: cleaning(raw, problems)?,
            compression: compression?,
            // Its jobs have deadlines only where a study gives them some (`Asked::laxity`).
            laxity: RawWorkload::default().laxity().or_default(problems)?,
            whole,
            fresh,
            tightness: tightness?,
            early_ends: early_ends?,
        });
    }
    let batteries = if fresh { 1 } else { replications };
    let needed = u64::from(batteries) * u64::from(battery_jobs);
    let evaluation = raw
        .evaluation_jobs()
        .checked(problems)?
        .map_or(needed, u64::from);
    let evaluation_place = first_span(&[&raw.evaluation_jobs, &raw.battery_jobs], &place);
    let Some(evaluation_jobs) = u32::try_from(evaluation)
        .ok()
        .filter(|jobs| i64::from(*jobs) <= MOST_JOBS)
    else {
        let message = format!("{replications} replications of {battery_jobs} jobs are too many");
        (raw.evaluation_jobs()).refuse_at(evaluation_place, &message, problems);
        return None;
    };
    if evaluation < needed {
        let message = format!(
            "{evaluation} jobs do not make {replications} batteries of {battery_jobs} jobs"
        );
        let help = format!("give {needed} or more, or fewer replications");
        problems.add(
            ProblemKind::OutOfRange,
            "workload.evaluation_jobs",
            evaluation_place,
            message,
            help,
        );
        return None;
    }
    let source = source?;
    if let WorkloadSource::LublinFeitelson { jobs }
    | WorkloadSource::UniformRatio { jobs }
    | WorkloadSource::Arminius { jobs } = &source
        && u64::from(*jobs) < evaluation
    {
        let place = first_span(&[&raw.jobs], &place);
        let message =
            format!("{jobs} jobs of the model are fewer than the {evaluation} that are evaluated");
        let help = "generate more: what is left over is what estimates are learned from";
        problems.add(
            ProblemKind::OutOfRange,
            "workload.jobs",
            place,
            message,
            help,
        );
        return None;
    }
    let compression = match compression? {
        // Of one battery both are the same.
        Compression::TargetLoad { load, time } if fresh => Compression::BatteryLoad { load, time },
        other => other,
    };
    Some(WorkloadSettings {
        source,
        nodes: nodes?,
        evaluation_jobs,
        battery_jobs,
        cleaning: cleaning(raw, problems)?,
        compression,
        laxity: raw.laxity().or_default(problems)?,
        whole: None,
        fresh,
        tightness: tightness?,
        early_ends: early_ends?,
    })
}

/// The size of the machine: as the file says, else as the header of its log does.
fn nodes(
    raw: &RawWorkload,
    place: &Range<usize>,
    log_sizes: &LogSizes,
    problems: &mut Problems,
) -> Option<Nodes> {
    if raw.nodes.is_some() {
        return raw.nodes().checked(problems).flatten().map(Nodes);
    }
    let key = "workload.nodes";
    if let Some(trace) = &raw.trace {
        return log_sizes.machine_of(trace, key, problems);
    }
    let message = "the machine has no size";
    problems.add(ProblemKind::Missing, key, place.clone(), message, ADD_NODES);
    None
}

/// Says which keys contradict fresh replications.
fn refuse_with_fresh(raw: &RawWorkload, problems: &mut Problems) -> Option<()> {
    let place = || raw.fresh().place();
    if raw.whole_trace().is_on() && raw.trace.is_some() {
        problems.add(
            ProblemKind::Conflict,
            "workload.fresh",
            place(),
            "a whole log is the same in every replication",
            "leave out `fresh`, or leave out `whole_trace`: then each replication is a battery of the log",
        );
        return None;
    }
    if let Some(jobs) = &raw.evaluation_jobs {
        problems.add(
            ProblemKind::Conflict,
            "workload.evaluation_jobs",
            jobs.span(),
            "a fresh replication evaluates one battery",
            "leave it out, or leave out `fresh`",
        );
        return None;
    }
    Some(())
}

fn source(
    raw: &RawWorkload,
    place: &Range<usize>,
    problems: &mut Problems,
) -> Option<WorkloadSource> {
    match (&raw.trace, &raw.model) {
        (Some(trace), None) => {
            if let Some(jobs) = &raw.jobs {
                let help =
                    "leave it out: `jobs` belongs to `model`; a trace has the jobs that it has";
                problems.add(
                    ProblemKind::Conflict,
                    "workload.jobs",
                    jobs.span(),
                    "`jobs` with a trace",
                    help,
                );
            }
            if trace.get_ref().trim().is_empty() {
                raw.trace().refuse("an empty file name", problems);
                return None;
            }
            Some(WorkloadSource::Trace {
                file: trace.get_ref().clone(),
            })
        }
        (None, Some(model)) => {
            let name = raw.model().name(problems)?;
            let Some(jobs) = raw.jobs().checked(problems)? else {
                let help = "add `jobs = …`, for learning and evaluation together";
                let message = "nothing says how many jobs the model should make";
                problems.add(
                    ProblemKind::Missing,
                    "workload.jobs",
                    model.span(),
                    message,
                    help,
                );
                return None;
            };
            Some(match name {
                "arminius" => WorkloadSource::Arminius { jobs },
                "uniform-ratio" => WorkloadSource::UniformRatio { jobs },
                _ => WorkloadSource::LublinFeitelson { jobs },
            })
        }
        (Some(_), Some(model)) => {
            let help = "keep one of the two";
            problems.add(
                ProblemKind::Conflict,
                "workload.model",
                model.span(),
                "both `trace` and `model` are given",
                help,
            );
            None
        }
        (None, None) => {
            let help = "add `trace = \"FILE.swf\"` or `model = \"lublin-feitelson\"`";
            let message = "neither `trace` nor `model` is given";
            problems.add(
                ProblemKind::Missing,
                "workload.trace",
                place.clone(),
                message,
                help,
            );
            None
        }
    }
}

fn compression(
    raw: &RawWorkload,
    place: &Range<usize>,
    whole: bool,
    problems: &mut Problems,
) -> Option<Compression> {
    let load = &raw.load;
    let time = load.by.unwrap_or_default();
    let all = [raw.compression(), load.value(), load.each_battery()];
    let given: Vec<_> = all.iter().filter(|field| field.given.is_some()).collect();
    match given.as_slice() {
        [field] => {
            let value = field.checked(problems)??;
            Some(match field.key.path {
                "workload.compression" => Compression::Factor { factor: value },
                "workload.load.value" => Compression::TargetLoad { load: value, time },
                _ => Compression::BatteryLoad { load: value, time },
            })
        }
        // A whole trace is as it is, unless something else is said.
        [] if whole => Some(Compression::Factor { factor: 1.0 }),
        [] => {
            let help = "add one of `compression = 0.15`, `load = { value = 2.0 }`, \
                        `load = { each_battery = 2.0 }`";
            let message = "nothing says how arrivals are compressed";
            problems.add(
                ProblemKind::Missing,
                "workload.compression",
                place.clone(),
                message,
                help,
            );
            None
        }
        many => {
            let names: Vec<&str> = many.iter().map(|field| field.key.path).collect();
            let message = format!("{} exclude each other", names.join(" and "));
            let last = many[many.len() - 1];
            problems.add(
                ProblemKind::Conflict,
                last.key.path,
                last.place(),
                message,
                "keep exactly one of them",
            );
            None
        }
    }
}

fn cleaning(workload: &RawWorkload, problems: &mut Problems) -> Option<CleaningRules> {
    let raw = &workload.cleaning;
    let estimate = raw.test_job_estimate_seconds().or_default(problems);
    let longest = raw.test_job_longest_seconds().or_default(problems);
    let missing_runtime_seconds = raw.missing_runtime_seconds().or_default(problems);
    let tests = TestJobs {
        estimate: estimate?,
        longest: longest?,
    };
    Some(CleaningRules {
        completed_only: workload.completed_only().is_on(),
        processors: raw.processors.unwrap_or_default(),
        drop_zero_runtime: raw.drop_zero_runtime().is_on(),
        drop_overruns: raw.drop_overruns().is_on(),
        drop_cancelled: raw.drop_cancelled().is_on(),
        missing_estimate: workload.missing_estimate.unwrap_or_default(),
        missing_runtime_seconds: missing_runtime_seconds?,
        test_jobs: raw.drop_test_jobs().is_on().then_some(tests),
    })
}

/// The whole trace, where the workload asks for it; `None` also where something is wrong with it.
pub(crate) fn whole_trace(
    raw: &RawWorkload,
    replications: u32,
    problems: &mut Problems,
) -> Result<Option<WholeTrace>, ()> {
    let whole = raw.whole_trace().is_on();
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
            ("workload.origin", raw.origin.as_ref().map(Spanned::span)),
            (
                "workload.shake_seconds",
                raw.shake_seconds.as_ref().map(Spanned::span),
            ),
            (
                "workload.window_first_jobs",
                raw.window_first_jobs.as_ref().map(Spanned::span),
            ),
            (
                "workload.window_jobs",
                raw.window_jobs.as_ref().map(Spanned::span),
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
    ] {
        if let Some(span) = span {
            problems.add(
                ProblemKind::Conflict,
                key,
                span,
                "a whole trace has no batteries",
                "leave it out, or leave out `whole_trace`",
            );
            return Err(());
        }
    }
    let days = raw.days().checked(problems).ok_or(())?;
    let percent = raw.copy_percent().or_default(problems).ok_or(())?;
    let shake = raw.shake_seconds().or_default(problems).ok_or(())?;
    let windows = windows(raw, replications, problems).ok_or(())?;
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
        exact_estimates: raw.exact_estimates().is_on(),
        origin: raw
            .origin
            .as_ref()
            .map(|origin| *origin.get_ref())
            .unwrap_or_default(),
        shake_seconds: shake,
        windows,
    }))
}

/// The windows of a whole trace; the outer `None` where something is wrong with them.
fn windows(
    raw: &RawWorkload,
    replications: u32,
    problems: &mut Problems,
) -> Option<Option<Windows>> {
    let jobs = raw.window_jobs().or_default(problems)?;
    let given = raw.window_first_jobs.as_ref();
    match given.map(|first_jobs| first_jobs.get_ref().clone()) {
        None if raw.window_jobs.is_none() => Some(None),
        Some(first_jobs) if first_jobs.len() >= replications as usize => {
            Some(Some(Windows { first_jobs, jobs }))
        }
        few => {
            let place = given.map_or_else(|| raw.window_jobs().place(), Spanned::span);
            let have = few.unwrap_or_default().len();
            let message = format!("{have} windows are too few for {replications} replications");
            raw.window_first_jobs().refuse_at(place, &message, problems);
            None
        }
    }
}
