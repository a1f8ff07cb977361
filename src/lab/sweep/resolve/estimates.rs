//! `[estimates]`: what is learned of how users estimate.

use super::ascending;
use crate::estimates::{ClassFamily, EstimateSettings};
use crate::keys::problem::{ProblemKind, Problems};
use crate::sweep::raw::RawEstimates;

pub(crate) fn estimates(raw: &RawEstimates, problems: &mut Problems) -> Option<EstimateSettings> {
    let borders = ascending(raw.runtime_borders_seconds(), problems);
    let bounds = ascending(raw.resource_upper_bounds(), problems);
    let users = raw.top_users().or_default(problems);
    let applications = raw.top_applications().or_default(problems);
    let minimum = raw.minimum_class_size().or_default(problems);
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
    let classes = raw.classes().text();
    let parts: Vec<&str> = classes.split('+').map(str::trim).collect();
    let family = match parts.as_slice() {
        [one] => single(one),
        [first, second] if first != second && *first != "all" && *second != "all" => single(first)
            .zip(single(second))
            .map(|(first, second)| ClassFamily::Pair(Box::new(first), Box::new(second))),
        _ => None,
    };
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
