//! `[estimates]`: what is learned of how users estimate.

use super::ascending;
use crate::estimates::{ClassTable, EstimateSettings};
use crate::keys::problem::{ProblemKind, Problems};
use crate::sweep::raw::RawEstimates;

pub(crate) fn estimates(raw: &RawEstimates, problems: &mut Problems) -> Option<EstimateSettings> {
    let borders = ascending(raw.runtime_borders_seconds(), problems);
    let bounds = ascending(raw.resource_upper_bounds(), problems);
    let users = raw.top_users().or_default(problems);
    let applications = raw.top_applications().or_default(problems);
    let minimum = raw.minimum_class_size().or_default(problems);
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
    })
}
