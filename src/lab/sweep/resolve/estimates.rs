//! `[estimates]`: what is learned of how users estimate.

use super::ascending;
use crate::estimates::{
    ClassFamily, ClassTable, CombiningSettings, EstimateSettings, LearningSettings,
    PredictionSettings,
};
use crate::keys::estimates::NOBODY;
use crate::keys::problem::{ProblemKind, Problems};
use crate::predictions::PredictorSettings;
use crate::sweep::raw::RawEstimates;

pub(crate) fn estimates(raw: &RawEstimates, problems: &mut Problems) -> Option<EstimateSettings> {
    let borders = ascending(raw.runtime_borders_seconds(), problems);
    let bounds = ascending(raw.resource_upper_bounds(), problems);
    let users = raw.top_users().or_default(problems);
    let applications = raw.top_applications().or_default(problems);
    let minimum = raw.minimum_class_size().or_default(problems);
    let merge_distance = raw.merge_distance().or_default(problems);
    let learning = learning(raw, problems);
    let combining = combining(raw, problems);
    let prediction = prediction(raw, problems);
    let table = ClassTable {
        runtime_borders_seconds: borders?,
        resource_upper_bounds: bounds?,
        top_users: users?,
        top_applications: applications?,
    };
    let classes = raw.classes().text();
    let family = table.family(classes);
    if family.is_none() {
        problems.add(
            ProblemKind::UnknownName,
            "estimates.classes",
            raw.classes().place(),
            format!("`{classes}` is no class family"),
            format!("allowed: {}", raw.classes().key.allowed()),
        );
    }
    let family = family?;
    let merge_distance = merge_distance?;
    refuse_merging(raw, &family, merge_distance, problems);
    Some(EstimateSettings {
        family,
        binning: raw.binning.unwrap_or_default(),
        learn_from: raw.learn_from.unwrap_or_default(),
        overrun: raw.overrun.unwrap_or_default(),
        minimum_class_size: minimum?,
        merge_distance,
        learning: learning?,
        combining: combining?,
        prediction: prediction?,
    })
}

/// Merging asks for the classes of one attribute, and not for too many of them.
fn refuse_merging(
    raw: &RawEstimates,
    family: &ClassFamily,
    distance: f64,
    problems: &mut Problems,
) {
    let (found, help) = match family {
        _ if distance == 0.0 => return,
        ClassFamily::Pair(..) => (
            format!(
                "the classes of `{}` are those of two attributes",
                raw.classes().text()
            ),
            "use one attribute as estimates.classes, or merge_distance = 0".to_owned(),
        ),
        _ if classes_of(family) > MOST_MERGED => (
            format!("{} classes are too many to be merged", classes_of(family)),
            format!("use {MOST_MERGED} at most, or merge_distance = 0"),
        ),
        _ => return,
    };
    let given = raw.merge_distance();
    problems.add(
        ProblemKind::Conflict,
        given.key.path,
        given.place(),
        found,
        help,
    );
}

/// How many classes are merged within a second.
const MOST_MERGED: usize = 1_000;

/// How many classes a family of one attribute may have.
fn classes_of(family: &ClassFamily) -> usize {
    match family {
        ClassFamily::Runtime { borders_seconds } => borders_seconds.len() + 1,
        ClassFamily::Resources { upper_bounds } => upper_bounds.len() + 1,
        ClassFamily::User { top } | ClassFamily::Application { top } => *top as usize,
        ClassFamily::All | ClassFamily::UserLast | ClassFamily::Pair(..) => 0,
    }
}

fn learning(raw: &RawEstimates, problems: &mut Problems) -> Option<LearningSettings> {
    let window_jobs = raw.window_jobs().or_default(problems);
    let half_life_jobs = raw.half_life_jobs().or_default(problems);
    let batteries_before = raw.learning_batteries().or_default(problems);
    Some(LearningSettings {
        rule: raw.learning.unwrap_or_default(),
        window_jobs: window_jobs?,
        half_life_jobs: half_life_jobs?,
        batteries_before: batteries_before?,
    })
}

fn combining(raw: &RawEstimates, problems: &mut Problems) -> Option<CombiningSettings> {
    Some(CombiningSettings {
        rule: raw.combine.unwrap_or_default(),
        wider_class_jobs: raw.wider_class_jobs().or_default(problems)?,
    })
}

/// Who predicts; nobody by default.
fn prediction(raw: &RawEstimates, problems: &mut Problems) -> Option<Option<PredictionSettings>> {
    let quantile = raw.prediction_quantile().or_default(problems)?;
    let predictor = raw.prediction().name(problems)?;
    Some((predictor != NOBODY).then(|| PredictionSettings {
        predictor: predictor.to_owned(),
        told: PredictorSettings {
            quantile,
            ..PredictorSettings::default()
        },
    }))
}
