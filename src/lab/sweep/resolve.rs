//! From what the file says to settings: defaults filled in, ranges and names checked, contradictions found.
//!
//! One function a section. Each returns `None` after it has said what is wrong.

use std::ops::Range;

use toml::Spanned;

use super::keys;
use super::problem::{ProblemKind, Problems};
use super::raw::{
    Given, RawAcceptance, RawEstimates, RawFailures, RawHeader, RawReliability, RawScheduling,
    RawWorkload,
};
use super::resolve_studies::whole_trace;
use crate::brokering::StudySettings;
use crate::estimates::{ClassFamily, EstimateSettings};
use crate::failures::{FailureSettings, FailureSource, SurvivalModel};
use crate::scheduling::registry::{self, STRATEGIES, Strategy};
use crate::scheduling::{Acceptance, CalibrationSettings, PolicySettings, Reliability};
use crate::units::{Nodes, Seconds};
use crate::workload::{CleaningRules, Compression, WorkloadSettings, WorkloadSource};

/// Nodes of the largest machine: as many as the largest of today, and the plan of nodes holds each of them.
const LARGEST_MACHINE: u32 = 10_000_000;

/// More batteries before the simulated one than this cost more than they teach.
const MOST_BATTERIES_BEFORE: u32 = 20;

/// The file of the LANL table where none is named.
pub const LANL_FILE: &str = "LA-UR-05-7318-failure-data-1996-2005.csv";
/// λ of the thesis, failures per node-hour (spec §5.5).
const FAILURE_RATE: f64 = 1.2904e-4;
/// μ of the thesis, repairs per hour (spec §5.5).
const REPAIR_RATE: f64 = 0.4333;

/// `[experiment]`, resolved.
pub(super) struct Header {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) seed: u64,
    pub(super) replications: u32,
}

pub(super) fn header(raw: Option<&Spanned<RawHeader>>, problems: &mut Problems) -> Option<Header> {
    let Some(raw) = raw else {
        let help = "every experiment begins with [experiment] and its name";
        problems.add(
            ProblemKind::Missing,
            "experiment.name",
            0..0,
            "the experiment has no name",
            help,
        );
        return None;
    };
    let place = raw.span();
    let raw = raw.get_ref();
    let replications = at_least("experiment.replications", &raw.replications, 1, 1, problems);
    let Some(name) = &raw.name else {
        let help = "add `name = \"…\"`";
        problems.add(
            ProblemKind::Missing,
            "experiment.name",
            place,
            "the experiment has no name",
            help,
        );
        return None;
    };
    let text = name.get_ref();
    let fits = text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "-_.@".contains(letter));
    if !fits {
        out_of_range(
            "experiment.name",
            name.span(),
            "this name cannot be a folder's",
            problems,
        );
        return None;
    }
    Some(Header {
        name: text.clone(),
        description: raw
            .description
            .as_ref()
            .map(|text| text.get_ref().clone())
            .unwrap_or_default(),
        seed: raw.seed.as_ref().map_or(1, |seed| *seed.get_ref()),
        replications: replications?,
    })
}

pub(super) fn workload(
    raw: Option<&Spanned<RawWorkload>>,
    replications: u32,
    problems: &mut Problems,
) -> Option<WorkloadSettings> {
    let Some(raw) = raw else {
        let help = "add [workload] with a trace or a model, nodes, and one of compression, target_load, battery_load";
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
    let battery_jobs = at_least(
        "workload.battery_jobs",
        &raw.battery_jobs,
        1000,
        1,
        problems,
    );
    let source = source(raw, &place, problems);
    let whole = whole_trace(raw, problems);
    let nodes = match &raw.nodes {
        Some(given) if *given.get_ref() > LARGEST_MACHINE => {
            let message = format!("{} is too large", given.get_ref());
            out_of_range("workload.nodes", given.span(), &message, problems);
            None
        }
        Some(_) => at_least("workload.nodes", &raw.nodes, 1, 1, problems).map(Nodes),
        None => {
            let help = "add `nodes = …`, the size of the machine";
            problems.add(
                ProblemKind::Missing,
                "workload.nodes",
                place.clone(),
                "the machine has no size",
                help,
            );
            None
        }
    };
    let is_whole = matches!(whole, Ok(Some(_)));
    let compression = compression(raw, &place, is_whole, problems);
    let laxity = real(
        "workload.laxity",
        &raw.laxity,
        2.0,
        |laxity| laxity >= 1.0,
        problems,
    );
    let battery_jobs = battery_jobs?;
    let whole = whole.ok()?;
    if whole.is_some() {
        return Some(WorkloadSettings {
            source: source?,
            nodes: nodes?,
            evaluation_jobs: 0,
            battery_jobs: 0,
            cleaning: cleaning(raw),
            compression: compression?,
            laxity: laxity?,
            whole,
        });
    }
    let needed = u64::from(replications) * u64::from(battery_jobs);
    let evaluation = raw
        .evaluation_jobs
        .as_ref()
        .map_or(needed, |jobs| u64::from(*jobs.get_ref()));
    let evaluation_place = first_span(&[&raw.evaluation_jobs, &raw.battery_jobs], &place);
    let Ok(evaluation_jobs) = u32::try_from(evaluation) else {
        let message = format!("{replications} replications of {battery_jobs} jobs are too many");
        out_of_range(
            "workload.evaluation_jobs",
            evaluation_place,
            &message,
            problems,
        );
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
    Some(WorkloadSettings {
        source,
        nodes: nodes?,
        evaluation_jobs,
        battery_jobs,
        cleaning: cleaning(raw),
        compression: compression?,
        laxity: laxity?,
        whole: None,
    })
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
                out_of_range(
                    "workload.trace",
                    trace.span(),
                    "an empty file name",
                    problems,
                );
                return None;
            }
            Some(WorkloadSource::Trace {
                file: trace.get_ref().clone(),
            })
        }
        (None, Some(model)) => {
            let known = ["lublin-feitelson", "uniform-ratio", "arminius"];
            if !known.contains(&model.get_ref().as_str()) {
                unknown_name("workload.model", model, &known, problems);
                return None;
            }
            if raw.jobs.is_none() {
                let help = "add `jobs = …`, for learning and evaluation together";
                let message = "the model is not told how many jobs to make";
                problems.add(
                    ProblemKind::Missing,
                    "workload.jobs",
                    model.span(),
                    message,
                    help,
                );
                return None;
            }
            let jobs = at_least("workload.jobs", &raw.jobs, 1, 1, problems)?;
            Some(match model.get_ref().as_str() {
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
    let all = [
        ("workload.compression", &raw.compression),
        ("workload.target_load", &raw.target_load),
        ("workload.battery_load", &raw.battery_load),
    ];
    let given: Vec<_> = all.iter().filter(|(_, value)| value.is_some()).collect();
    match given.as_slice() {
        [(key, value)] => {
            let value = real(key, value, 1.0, |value| value > 0.0, problems)?;
            Some(match *key {
                "workload.compression" => Compression::Factor { factor: value },
                "workload.target_load" => Compression::TargetLoad { load: value },
                _ => Compression::BatteryLoad { load: value },
            })
        }
        // A whole trace is as it is, unless something else is said.
        [] if whole => Some(Compression::Factor { factor: 1.0 }),
        [] => {
            let help = "add one of `compression = 0.15`, `target_load = 2.0`, `battery_load = 2.0`";
            let message = "it is not said how arrivals are compressed";
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
            let names: Vec<&str> = many.iter().map(|(key, _)| *key).collect();
            let message = format!("{} exclude each other", names.join(" and "));
            let (key, value) = many[many.len() - 1];
            let span = first_span(&[value], place);
            problems.add(
                ProblemKind::Conflict,
                key,
                span,
                message,
                "keep exactly one of them",
            );
            None
        }
    }
}

fn cleaning(workload: &RawWorkload) -> CleaningRules {
    let default = CleaningRules::default();
    let raw = &workload.cleaning;
    CleaningRules {
        completed_only: workload.completed_only.unwrap_or(default.completed_only),
        processors: raw.processors.unwrap_or(default.processors),
        drop_zero_runtime: raw.drop_zero_runtime.unwrap_or(default.drop_zero_runtime),
        drop_overruns: raw.drop_overruns.unwrap_or(default.drop_overruns),
        drop_cancelled: raw.drop_cancelled.unwrap_or(default.drop_cancelled),
    }
}

pub(super) fn estimates(raw: &RawEstimates, problems: &mut Problems) -> Option<EstimateSettings> {
    let borders = ascending(
        "estimates.runtime_borders_seconds",
        &raw.runtime_borders_seconds,
        &[600, 3600, 7200, 10800, 18000, 43200],
        problems,
    );
    let bounds = ascending(
        "estimates.resource_upper_bounds",
        &raw.resource_upper_bounds,
        &[1, 2, 4, 8, 16, 32, 64],
        problems,
    );
    let users = at_least("estimates.top_users", &raw.top_users, 10, 1, problems);
    let applications = at_least(
        "estimates.top_applications",
        &raw.top_applications,
        10,
        1,
        problems,
    );
    let minimum = at_least(
        "estimates.minimum_class_size",
        &raw.minimum_class_size,
        1,
        1,
        problems,
    );
    let (borders, bounds, users, applications) = (borders?, bounds?, users?, applications?);
    let single = |name: &str| match name {
        "all" => Some(ClassFamily::All),
        "runtime" => Some(ClassFamily::Runtime {
            borders_seconds: borders.clone(),
        }),
        "resources" => Some(ClassFamily::Resources {
            upper_bounds: bounds.clone(),
        }),
        "user" => Some(ClassFamily::User { top: users }),
        "application" => Some(ClassFamily::Application { top: applications }),
        "user-last" => Some(ClassFamily::UserLast),
        _ => None,
    };
    let family = match &raw.classes {
        None => single("runtime"),
        Some(classes) => {
            let parts: Vec<&str> = classes.get_ref().split('+').map(str::trim).collect();
            let family = match parts.as_slice() {
                [one] => single(one),
                [first, second] if first != second && *first != "all" && *second != "all" => {
                    single(first)
                        .zip(single(second))
                        .map(|(first, second)| ClassFamily::Pair(Box::new(first), Box::new(second)))
                }
                _ => None,
            };
            if family.is_none() {
                let message = format!("`{}` is no class family", classes.get_ref());
                let help = format!("allowed: {}", allowed("estimates.classes"));
                problems.add(
                    ProblemKind::UnknownName,
                    "estimates.classes",
                    classes.span(),
                    message,
                    help,
                );
            }
            family
        }
    };
    Some(EstimateSettings {
        family: family?,
        binning: raw.binning.unwrap_or_default(),
        learn_from: raw.learn_from.unwrap_or_default(),
        overrun: raw.overrun.unwrap_or_default(),
        minimum_class_size: minimum?,
    })
}

pub(super) fn failures(raw: &RawFailures, problems: &mut Problems) -> Option<FailureSettings> {
    let offset = real(
        "failures.offset_hours",
        &raw.offset_hours,
        0.0,
        |_| true,
        problems,
    );
    let model = survival("failures", &SurvivalKeys::of_failures(raw), problems);
    let repair = real(
        "failures.repair_rate_per_hour",
        &raw.repair_rate_per_hour,
        REPAIR_RATE,
        |rate| rate > 0.0,
        problems,
    );
    let source = match raw
        .source
        .as_ref()
        .map(|source| (source, source.get_ref().as_str()))
    {
        None | Some((_, "none")) => FailureSource::None,
        Some((_, "lanl")) => {
            let systems = raw
                .systems
                .as_ref()
                .map_or_else(|| vec![18, 19], |systems| systems.get_ref().clone());
            let mut unique = systems.clone();
            unique.sort_unstable();
            unique.dedup();
            if systems.is_empty() || unique.len() != systems.len() {
                let span = first_span(&[&raw.systems], &(0..0));
                out_of_range(
                    "failures.systems",
                    span,
                    "no systems, or one of them twice",
                    problems,
                );
                return None;
            }
            let file = raw
                .file
                .as_ref()
                .map_or_else(|| LANL_FILE.to_owned(), |file| file.get_ref().clone());
            FailureSource::Lanl { file, systems }
        }
        Some((_, "generated")) => FailureSource::Generated {
            survival: model?,
            repair_rate_per_hour: repair?,
        },
        Some((source, _)) => {
            unknown_name(
                "failures.source",
                source,
                &["none", "lanl", "generated"],
                problems,
            );
            return None;
        }
    };
    let offset = if source == FailureSource::None {
        Seconds::ZERO
    } else {
        Seconds::from_hours(offset?)
    };
    Some(FailureSettings { source, offset })
}

/// The keys of a survival model, which two sections share.
struct SurvivalKeys<'a> {
    survival: &'a Given<String>,
    rate_per_hour: &'a Given<f64>,
    shape: &'a Given<f64>,
    scale_hours: &'a Given<f64>,
    probabilities: &'a Given<Vec<f64>>,
    rates_per_hour: &'a Given<Vec<f64>>,
}

impl<'a> SurvivalKeys<'a> {
    fn of_failures(raw: &'a RawFailures) -> Self {
        Self {
            survival: &raw.survival,
            rate_per_hour: &raw.rate_per_hour,
            shape: &raw.shape,
            scale_hours: &raw.scale_hours,
            probabilities: &raw.probabilities,
            rates_per_hour: &raw.rates_per_hour,
        }
    }

    fn of_reliability(raw: &'a RawReliability) -> Self {
        Self {
            survival: &raw.survival,
            rate_per_hour: &raw.rate_per_hour,
            shape: &raw.shape,
            scale_hours: &raw.scale_hours,
            probabilities: &raw.probabilities,
            rates_per_hour: &raw.rates_per_hour,
        }
    }
}

fn survival(
    section: &str,
    raw: &SurvivalKeys<'_>,
    problems: &mut Problems,
) -> Option<SurvivalModel> {
    let key = |name: &str| format!("{section}.{name}");
    let rate = real(
        &key("rate_per_hour"),
        raw.rate_per_hour,
        FAILURE_RATE,
        |rate| rate >= 0.0,
        problems,
    );
    let shape = real(&key("shape"), raw.shape, 0.7, |shape| shape > 0.0, problems);
    let scale = real(
        &key("scale_hours"),
        raw.scale_hours,
        7749.5,
        |scale| scale > 0.0,
        problems,
    );
    match raw
        .survival
        .as_ref()
        .map(|model| (model, model.get_ref().as_str()))
    {
        None | Some((_, "poisson")) => Some(SurvivalModel::Poisson {
            rate_per_hour: rate?,
        }),
        Some((_, "weibull")) => Some(SurvivalModel::Weibull {
            shape: shape?,
            scale_hours: scale?,
        }),
        Some((model, "hyper-exponential")) => {
            let (Some(probabilities), Some(rates)) = (raw.probabilities, raw.rates_per_hour) else {
                let help = "add `probabilities = […]` and `rates_per_hour = […]`";
                let message = "this model needs its probabilities and rates";
                problems.add(
                    ProblemKind::Missing,
                    &key("probabilities"),
                    model.span(),
                    message,
                    help,
                );
                return None;
            };
            let (weights, list) = (probabilities.get_ref(), rates.get_ref());
            if weights.is_empty()
                || weights.iter().any(|weight| !(0.0..=1.0).contains(weight))
                || (weights.iter().sum::<f64>() - 1.0).abs() > 1e-9
            {
                let message = "these are no probabilities that sum to 1";
                out_of_range(
                    &key("probabilities"),
                    probabilities.span(),
                    message,
                    problems,
                );
                return None;
            }
            if list.len() != weights.len()
                || list.iter().any(|rate| !rate.is_finite() || *rate < 0.0)
            {
                let message = format!("these are not {} rates of 0 or more", weights.len());
                out_of_range(&key("rates_per_hour"), rates.span(), &message, problems);
                return None;
            }
            Some(SurvivalModel::HyperExponential {
                probabilities: weights.clone(),
                rates_per_hour: list.clone(),
            })
        }
        Some((model, _)) => {
            unknown_name(
                &key("survival"),
                model,
                &["poisson", "weibull", "hyper-exponential"],
                problems,
            );
            None
        }
    }
}

/// The policy and the penalty ratio of the accounting.
pub(super) fn policy(
    scheduling: Option<&Spanned<RawScheduling>>,
    acceptance: &RawAcceptance,
    reliability: &RawReliability,
    problems: &mut Problems,
) -> Option<(PolicySettings, f64)> {
    let default = PolicySettings::default();
    let place = scheduling.map_or(0..0, Spanned::span);
    let none = RawScheduling::default();
    let raw = scheduling.map_or(&none, Spanned::get_ref);
    let strategy = match &raw.strategy {
        Some(name) if StudySettings::is_name(name.get_ref()) => {
            let policy = PolicySettings {
                strategy: name.get_ref().clone(),
                ..default
            };
            return Some((policy, 1.0));
        }
        _ => strategy(raw, place, problems),
    };
    let time_step = match &raw.time_step_seconds {
        Some(step) if *step.get_ref() < 1 => {
            let message = format!("{} s is no step", step.get_ref());
            out_of_range(
                "scheduling.time_step_seconds",
                step.span(),
                &message,
                problems,
            );
            None
        }
        Some(step) => Some(Seconds(*step.get_ref())),
        None => Some(default.time_step),
    };
    let (test, ratio) = acceptance_test(acceptance, strategy, problems);
    let reliability = planner_reliability(reliability, problems);
    let calibration = calibration(acceptance, problems);
    let user_factor = real(
        "scheduling.user_factor",
        &raw.user_factor,
        default.user_factor,
        |share| (0.0..=1.0).contains(&share),
        problems,
    );
    let policy = PolicySettings {
        strategy: strategy?.name.to_owned(),
        placing: raw.placing.unwrap_or_default(),
        acceptance: test?,
        test_full_length: raw.test_full_length.unwrap_or(default.test_full_length),
        reliability: reliability?,
        time_step: time_step?,
        convolution: raw.convolution.unwrap_or_default(),
        condition_on_elapsed: raw
            .condition_on_elapsed
            .unwrap_or(default.condition_on_elapsed),
        predecessors: raw.predecessors.unwrap_or_default(),
        down_horizon: raw.down_horizon.unwrap_or_default(),
        replan_passes: raw.replan.unwrap_or_default(),
        crash: raw.crash.unwrap_or_default(),
        failed_start: raw.failed_start.unwrap_or_default(),
        retry: raw.retry.unwrap_or_default(),
        replan_failed_start: raw
            .replan_failed_start
            .unwrap_or(default.replan_failed_start),
        hold_for_overbooked: raw
            .hold_for_overbooked
            .unwrap_or(default.hold_for_overbooked),
        user_factor: user_factor?,
        calibration: calibration?,
        early_start: raw.early_start.unwrap_or_default(),
        promising: acceptance.promising.unwrap_or_default(),
        underestimators: acceptance.underestimators.unwrap_or_default(),
    };
    Some((policy, ratio?))
}

fn strategy(
    raw: &RawScheduling,
    place: Range<usize>,
    problems: &mut Problems,
) -> Option<&'static Strategy> {
    let names: Vec<&str> = STRATEGIES
        .iter()
        .map(|strategy| strategy.name)
        .chain(StudySettings::NAMES.iter().map(|(name, _)| *name))
        .collect();
    match &raw.strategy {
        Some(name) => {
            let found = registry::strategy(name.get_ref());
            if found.is_none() {
                unknown_name("scheduling.strategy", name, &names, problems);
            }
            found
        }
        None => {
            let help = format!(
                "add it here or as an axis; registered are: {}",
                names.join(", ")
            );
            problems.add(
                ProblemKind::Missing,
                "scheduling.strategy",
                place,
                "there is no strategy",
                help,
            );
            None
        }
    }
}

fn acceptance_test(
    raw: &RawAcceptance,
    strategy: Option<&Strategy>,
    problems: &mut Problems,
) -> (Option<Acceptance>, Option<f64>) {
    let maximum = real(
        "acceptance.pof_max",
        &raw.pof_max,
        0.2,
        |probability| (0.0..=1.0).contains(&probability),
        problems,
    );
    let ratio = real(
        "acceptance.penalty_ratio",
        &raw.penalty_ratio,
        1.0,
        |ratio| ratio >= 0.0,
        problems,
    );
    let own = strategy.map_or(1.0, |strategy| strategy.security_factor);
    let factor = real(
        "acceptance.security_factor",
        &raw.security_factor,
        own,
        |factor| factor >= 0.0,
        problems,
    );
    let test = match raw
        .test
        .as_ref()
        .map(|test| (test, test.get_ref().as_str()))
    {
        None | Some((_, "pof")) => maximum.map(|maximum| Acceptance::Pof { maximum }),
        Some((_, "risk")) => {
            ratio
                .zip(factor)
                .map(|(penalty_ratio, security_factor)| Acceptance::Risk {
                    penalty_ratio,
                    security_factor,
                })
        }
        Some((test, _)) => {
            unknown_name("acceptance.test", test, &["pof", "risk"], problems);
            None
        }
    };
    (test, ratio)
}

fn calibration(raw: &RawAcceptance, problems: &mut Problems) -> Option<CalibrationSettings> {
    let default = CalibrationSettings::default();
    let half_life_jobs = real(
        "acceptance.calibration_half_life_jobs",
        &raw.calibration_half_life_jobs,
        default.half_life_jobs,
        |jobs| jobs >= 1.0,
        problems,
    );
    let minimum_jobs = real(
        "acceptance.calibration_minimum_jobs",
        &raw.calibration_minimum_jobs,
        default.minimum_jobs,
        |jobs| jobs >= 0.0,
        problems,
    );
    let key = "acceptance.calibration_batteries";
    let batteries_before = match &raw.calibration_batteries {
        Some(given) if *given.get_ref() > MOST_BATTERIES_BEFORE => {
            let message = format!("{} batteries are too many", given.get_ref());
            out_of_range(key, given.span(), &message, problems);
            None
        }
        Some(given) => Some(*given.get_ref()),
        None => Some(default.batteries_before),
    };
    Some(CalibrationSettings {
        method: raw.calibration.unwrap_or_default(),
        half_life_jobs: half_life_jobs?,
        minimum_jobs: minimum_jobs?,
        batteries_before: batteries_before?,
    })
}

fn planner_reliability(raw: &RawReliability, problems: &mut Problems) -> Option<Reliability> {
    let default = Reliability::default();
    let model = survival("reliability", &SurvivalKeys::of_reliability(raw), problems);
    let failure = real(
        "reliability.failure_rate_per_hour",
        &raw.failure_rate_per_hour,
        default.failure_rate_per_hour,
        |rate| rate >= 0.0,
        problems,
    );
    let repair = real(
        "reliability.repair_rate_per_hour",
        &raw.repair_rate_per_hour,
        default.repair_rate_per_hour,
        |rate| rate > 0.0,
        problems,
    );
    Some(Reliability {
        survival: model?,
        failure_rate_per_hour: failure?,
        repair_rate_per_hour: repair?,
        form: raw.form.unwrap_or_default(),
    })
}

fn allowed(key: &str) -> String {
    keys::find(key).map_or_else(|| "see the table of keys".to_owned(), keys::Key::allowed)
}

pub(super) fn out_of_range(key: &str, span: Range<usize>, message: &str, problems: &mut Problems) {
    problems.add(
        ProblemKind::OutOfRange,
        key,
        span,
        message,
        format!("allowed: {}", allowed(key)),
    );
}

pub(super) fn unknown_name(
    key: &str,
    name: &Spanned<String>,
    known: &[&str],
    problems: &mut Problems,
) {
    let message = format!("`{}` is not known here", name.get_ref());
    let help = keys::suggest(name.get_ref(), known);
    problems.add(ProblemKind::UnknownName, key, name.span(), message, help);
}

pub(super) fn at_least(
    key: &str,
    given: &Given<u32>,
    default: u32,
    least: u32,
    problems: &mut Problems,
) -> Option<u32> {
    match given {
        Some(value) if *value.get_ref() < least => {
            let message = format!("{} is too small", value.get_ref());
            out_of_range(key, value.span(), &message, problems);
            None
        }
        Some(value) => Some(*value.get_ref()),
        None => Some(default),
    }
}

pub(super) fn real(
    key: &str,
    given: &Given<f64>,
    default: f64,
    fits: impl Fn(f64) -> bool,
    problems: &mut Problems,
) -> Option<f64> {
    match given {
        Some(value) if !value.get_ref().is_finite() || !fits(*value.get_ref()) => {
            let message = format!("{} is impossible", value.get_ref());
            out_of_range(key, value.span(), &message, problems);
            None
        }
        Some(value) => Some(*value.get_ref()),
        None => Some(default),
    }
}

fn ascending<T: Copy + PartialOrd + From<u8>>(
    key: &str,
    given: &Given<Vec<T>>,
    default: &[T],
    problems: &mut Problems,
) -> Option<Vec<T>> {
    match given {
        None => Some(default.to_vec()),
        Some(list) => {
            let values = list.get_ref();
            let rising = values.windows(2).all(|pair| pair[0] < pair[1]);
            if values.is_empty() || !rising || values[0] < T::from(1) {
                out_of_range(
                    key,
                    list.span(),
                    "this list is empty or does not ascend from above 0",
                    problems,
                );
                return None;
            }
            Some(values.clone())
        }
    }
}

fn first_span<T>(given: &[&Given<T>], otherwise: &Range<usize>) -> Range<usize> {
    given
        .iter()
        .find_map(|value| value.as_ref().map(Spanned::span))
        .unwrap_or_else(|| otherwise.clone())
}
