//! `[estimates]`: what is learned of how users estimate.

use super::ascending;
use crate::estimates::{
    ClassTable, CombiningSettings, EstimateSettings, LearningSettings, PredictionSettings,
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
    Some(EstimateSettings {
        family: family?,
        binning: raw.binning.unwrap_or_default(),
        learn_from: raw.learn_from.unwrap_or_default(),
        overrun: raw.overrun.unwrap_or_default(),
        minimum_class_size: minimum?,
        learning: learning?,
        combining: combining?,
        prediction: prediction?,
    })
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
