//! The workloads of points, from their specifications: whether two runs drew theirs independently,
//! and in what they differ.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::partners::MatchingPoints;
use super::settings::of_spec;
use bookahead_lab::store::MeasuredPoint;
use bookahead_lab::sweep::HashDigits;

/// How the points of two runs are laid beside each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// In pairs that saw the same.
    Paired,
    /// As two independent sets of replications (Welch's t), because both runs drew their workloads
    /// from seeds of their own.
    Welch,
    /// Not at all. Why, as a clause.
    Refused(String),
}

impl Method {
    /// One word for it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Paired => "paired",
            Self::Welch => "Welch",
            Self::Refused(_) => "refused",
        }
    }
}

/// Keys of the workload that say nothing about which jobs were simulated: what settings make of the
/// same jobs, and how many replications a run has.
const NOT_THE_JOBS: [&str; 9] = [
    "workload.laxity",
    "workload.tightness.share",
    "workload.tightness.deadline",
    "workload.tightness.load",
    "workload.early_ends.no_show_percent",
    "workload.early_ends.crashes_per_hour",
    "workload.whole.exact_estimates",
    "workload.evaluation_jobs",
    "workload.source.jobs",
];

fn spec(point: &MeasuredPoint) -> Value {
    serde_json::from_str(&point.spec).unwrap_or_default()
}

/// The size of the machine of a point; `None` where its specification does not say it.
pub(super) fn nodes(point: &MeasuredPoint) -> Option<u64> {
    spec(point).pointer("/workload/nodes")?.as_u64()
}

/// How the failures of a point come about.
pub(super) fn failure_settings(point: &MeasuredPoint) -> String {
    let spec = spec(point);
    let failures = spec.get("failures").unwrap_or(&Value::Null);
    format!("{failures} {}", spec.get("seed").unwrap_or(&Value::Null))
}

/// How two runs are compared none of whose points are partners, although they have settings in
/// common. `beside` has the points of both runs at each of these settings.
pub(super) fn without_pairs(beside: &[MatchingPoints<'_>]) -> Method {
    let of = |side: usize| -> Vec<&MeasuredPoint> {
        let points = beside.iter().flat_map(|points| &points[side]);
        points.copied().collect()
    };
    let sides = [of(0), of(1)];
    for (which, points) in ["first", "second"].into_iter().zip(&sides) {
        if points.iter().any(|point| !point.seen.is_known()) {
            return Method::Refused(format!(
                "the jobs and failures of the {which} run were not recorded by the program that stored its results: \
                 `bookahead run CONFIG --fresh` computes them anew"
            ));
        }
    }
    let jobs = |points: &[&MeasuredPoint]| -> BTreeSet<HashDigits> {
        points.iter().filter_map(|point| point.seen.jobs).collect()
    };
    let [first, second] = [jobs(&sides[0]), jobs(&sides[1])];
    let facts = [Facts::of(&sides[0]), Facts::of(&sides[1])];
    if !first.is_disjoint(&second) {
        return Method::Refused(facts[0].other_failures(&facts[1]));
    }
    match facts[0].other_jobs(&facts[1]) {
        Some(why) => Method::Refused(why),
        None => Method::Welch,
    }
}

/// Values of settings that the points of a run have, by key.
#[derive(Default)]
struct Facts {
    of: BTreeMap<String, BTreeSet<String>>,
}

impl Facts {
    fn of(points: &[&MeasuredPoint]) -> Self {
        let specs: BTreeSet<&str> = points.iter().map(|point| &*point.spec).collect();
        let mut facts = Self::default();
        for (key, value) in specs.into_iter().flat_map(of_spec) {
            facts.of.entry(key).or_default().insert(value);
        }
        facts
    }

    fn values(&self, key: &str) -> BTreeSet<String> {
        self.of.get(key).cloned().unwrap_or_default()
    }

    fn shown(&self, key: &str) -> String {
        let values: Vec<String> = self.values(key).into_iter().collect();
        match values.is_empty() {
            true => "nothing".to_owned(),
            false => values.join(", ").replace('"', ""),
        }
    }

    /// Keys below one of these that do not have the same values in both.
    fn that_differ(&self, other: &Self, below: &str) -> Vec<String> {
        let keys: BTreeSet<&String> = self.of.keys().chain(other.of.keys()).collect();
        let differing = keys
            .into_iter()
            .filter(|key| key.starts_with(below) && self.values(key) != other.values(key));
        differing.cloned().collect()
    }

    /// What the jobs are: `batteries of CTC-SP2.swf`, `a generated workload (lublin-feitelson)`.
    fn workload(&self) -> String {
        let units = if self.of.keys().any(|key| key.starts_with("workload.whole")) {
            "the whole of"
        } else {
            "batteries of"
        };
        if self.is_generated() {
            return format!(
                "a generated workload ({})",
                self.shown("workload.source.kind")
            );
        }
        format!("{units} {}", self.shown("workload.source.file"))
    }

    fn draws_failures(&self) -> bool {
        let sources = self.values("failures.source.kind");
        sources.iter().any(|source| source.contains("generated"))
    }

    fn is_generated(&self) -> bool {
        self.values("workload.source.file").is_empty()
    }

    /// `KEY is 1 in the first run and 2 in the second`.
    fn beside(&self, other: &Self, keys: &[String]) -> String {
        let each = keys.iter().map(|key| {
            let (one, two) = (self.shown(key), other.shown(key));
            format!("{key} is {one} in the first run and {two} in the second")
        });
        each.collect::<Vec<_>>().join(", ")
    }

    /// Why the same jobs make no pairs.
    fn other_failures(&self, other: &Self) -> String {
        let same = "both runs simulate the same jobs, which meet different failures";
        let differing = self.that_differ(other, "failures.");
        if !differing.is_empty() {
            return format!("{same}: {}", self.beside(other, &differing));
        }
        // Streams of random numbers are named by the workload.
        let of_workload = self.that_differ(other, "workload.");
        if self.draws_failures() && !of_workload.is_empty() {
            return format!(
                "{same}: generated failures are drawn anew for every workload, and {}; recorded ones \
                 (failures.source = \"lanl\") are the same under both",
                self.beside(other, &of_workload)
            );
        }
        format!("{same}: they are drawn for other replications or another seed")
    }

    /// Why runs with other jobs cannot be compared; `None` where both drew them independently.
    fn other_jobs(&self, other: &Self) -> Option<String> {
        let mut differing = self.that_differ(other, "workload.");
        let is_generated = self.is_generated() && other.is_generated();
        differing.retain(|key| !NOT_THE_JOBS.contains(&key.as_str()));
        let sources = "workload.source.";
        let other_units = self.workload() != other.workload();
        if other_units || differing.iter().any(|key| key.starts_with(sources)) {
            return Some(format!(
                "the first run simulates {}, the second {}",
                self.workload(),
                other.workload()
            ));
        }
        if !differing.is_empty() {
            return Some(format!(
                "their jobs are not the same, as {}",
                self.beside(other, &differing)
            ));
        }
        if !is_generated {
            return Some(format!(
                "both simulate {}, but not the same jobs of it",
                self.workload()
            ));
        }
        let [ours, theirs] = [self.values("seed"), other.values("seed")];
        let shared: Vec<&str> = ours.intersection(&theirs).map(String::as_str).collect();
        if shared.is_empty() {
            return None;
        }
        Some(format!(
            "their jobs are not the same, and not independent either, as both are drawn with the seed {}",
            shared.join(", ")
        ))
    }
}
