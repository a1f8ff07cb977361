//! The figures about calibration: reliability diagrams, jobs by bin, promised and realised risk by
//! threshold.

use super::Promised;
use super::counts::BINS;
use super::groups::{Group, Groups, Places, THRESHOLD_AXIS};
use super::sql::Question;
use crate::analysis::Analysis;
use crate::figure::{Figure, Mark, Marks, Scale, ScaleKind, Section, Series};
use crate::plots::{condition, given, number, titled};
use crate::statistics::Estimate;
use bookahead_lab::store::PofKind;

/// Situations that are drawn; all are in the tables.
const MOST_SITUATIONS: usize = 24;

const INTERVALS: &str = "95 % intervals of the ratio estimator over replications (batteries), whose jobs are not independent; none \
    where all or none of the jobs failed.";

pub(super) fn figures(
    promised: &Promised,
    groups: &Groups,
    analysis: &Analysis,
    configuration_hash: &str,
) -> Vec<Figure> {
    let drawing = Drawing {
        promised,
        groups,
        analysis,
        configuration_hash,
    };
    let everything = Vec::new();
    let stem = promised.name;
    let mut figures = vec![drawing.reliability(stem, &everything)];
    figures.push(drawing.jobs(&format!("{stem}-jobs")));
    for (index, places) in groups
        .each_situation()
        .iter()
        .take(MOST_SITUATIONS)
        .enumerate()
    {
        let alone = places.is_empty();
        let name = |stem: &str| {
            if alone {
                stem.to_owned()
            } else {
                format!("{stem}-{}", index + 1)
            }
        };
        if !alone {
            figures.push(drawing.reliability(&name(stem), places));
        }
        figures.extend(drawing.by_threshold(&name(&format!("{stem}-by-threshold")), places));
    }
    figures
}

struct Drawing<'d> {
    promised: &'d Promised,
    groups: &'d Groups,
    analysis: &'d Analysis,
    configuration_hash: &'d str,
}

impl Drawing<'_> {
    /// The values that a situation is fixed at.
    fn given(&self, places: &Places) -> Vec<(String, String)> {
        let axes = if places.is_empty() {
            &[]
        } else {
            self.groups.axes.as_slice()
        };
        given(self.analysis, axes, places)
    }

    /// What is said of intervals.
    fn intervals(&self) -> String {
        INTERVALS.replace("jobs", self.promised.things)
    }

    fn policy(&self) -> Option<&str> {
        self.groups.policy_key(self.analysis)
    }

    /// Each group with the name of its line.
    fn lines<'g>(
        &self,
        groups: impl Iterator<Item = &'g Group>,
    ) -> Vec<(String, usize, &'g Group)> {
        groups
            .map(|group| match group.kind {
                PofKind::Promised => (
                    group.strategy.clone(),
                    self.analysis.studies.rank(&group.strategy),
                    group,
                ),
                PofKind::Raw => (
                    format!("{}, before calibration", group.strategy),
                    usize::MAX,
                    group,
                ),
            })
            .collect()
    }

    fn reliability(&self, name: &str, places: &Places) -> Figure {
        let level = if places.is_empty() {
            &self.groups.whole
        } else {
            &self.groups.situations
        };
        let lines = self.lines(level.iter().filter(|group| group.places == *places));
        let mut series: Vec<Series> = lines
            .into_iter()
            .map(|(label, rank, group)| {
                let bins = group.counts.bins();
                let marks = (0..BINS)
                    .filter_map(|bin| {
                        let realised = group.counts.realised(bin)?;
                        Some(mark(bins[bin].predicted(), &realised, bins[bin].jobs))
                    })
                    .collect();
                Series::new(label, rank, Marks::Points(marks))
            })
            .collect();
        let end = |at: f64| Mark::value(at, at, 0);
        series.push(Series::new(
            "as promised",
            6,
            Marks::Curve(vec![end(0.0), end(1.0)]),
        ));
        let given = self.given(places);
        Figure {
            name: name.to_owned(),
            section: Section::Calibration,
            title: titled(
                &format!(
                    "Promised probability of failure{} against what happened",
                    self.promised.whose
                ),
                &given,
            ),
            x: Scale::linear("mean promised PoF of the bin"),
            y: Scale::linear(format!("share of {} that failed", self.promised.things)),
            series,
            note: format!(
                "{} Bins are 0.05 wide. Below the line more was promised to fail than did. {}",
                self.promised.about,
                self.intervals()
            ),
            sql: Question {
                configuration_hash: self.configuration_hash,
                source: self.promised.source,
                keys: self.policy().as_slice(),
                condition: &condition(&given),
            }
            .bins(),
            given,
        }
    }

    fn jobs(&self, name: &str) -> Figure {
        let series = self
            .lines(self.groups.whole.iter())
            .into_iter()
            .map(|(label, rank, group)| {
                Series::new(
                    label,
                    rank,
                    Marks::Bars(
                        group
                            .counts
                            .bins()
                            .iter()
                            .enumerate()
                            .map(|(bin, counts)| {
                                Mark::value(bin as f64, counts.jobs as f64, counts.jobs)
                            })
                            .collect(),
                    ),
                )
            })
            .collect();
        let names = (1..=BINS)
            .map(|bin| format!("{:.2}", bin as f64 / BINS as f64))
            .collect();
        Figure {
            name: name.to_owned(),
            section: Section::Calibration,
            title: format!(
                "{} by promised probability of failure",
                self.promised.counted
            ),
            given: Vec::new(),
            x: Scale {
                title: "upper end of the bin of the promised PoF".to_owned(),
                kind: ScaleKind::Categories(names),
            },
            y: Scale::linear(self.promised.counted.to_lowercase()),
            series,
            note: format!(
                "{} of all simulations of the {}, each simulation once. A bin of a few {} says little.",
                self.promised.in_bins,
                self.groups.who(),
                self.promised.things
            ),
            sql: Question {
                configuration_hash: self.configuration_hash,
                source: self.promised.source,
                keys: self.policy().as_slice(),
                condition: "",
            }
            .bins(),
        }
    }

    /// Mean promise and share that failed over the thresholds, where there are several with
    /// numbers.
    fn by_threshold(&self, name: &str, places: &Places) -> Option<Figure> {
        let axis = self.groups.threshold?;
        let values = &self.analysis.axes[axis].values;
        let mut series: Vec<Series> = Vec::new();
        let mut strategies: Vec<&str> = Vec::new();
        let in_situation =
            |group: &&Group| group.places == *places && group.kind == PofKind::Promised;
        for group in self.groups.thresholds.iter().filter(in_situation) {
            if !strategies.contains(&group.strategy.as_str()) {
                strategies.push(&group.strategy);
            }
        }
        for (index, strategy) in strategies.iter().enumerate() {
            let (mut promised, mut failed) = (Vec::new(), Vec::new());
            let of = self.groups.thresholds.iter().filter(in_situation);
            for group in of.filter(|group| group.strategy == **strategy) {
                let place = group.threshold.and_then(|place| values.get(place as usize));
                let (Some(x), Some(scores)) = (place.and_then(number), group.counts.scores())
                else {
                    continue;
                };
                promised.push(Mark::value(x, scores.predicted, scores.jobs));
                failed.push(mark(x, &scores.failed, scores.jobs));
            }
            for (what, rank, mut marks) in [
                ("failed", self.analysis.studies.rank(strategy), failed),
                ("promised", index, promised),
            ] {
                marks.sort_by(|one, other| one.x.total_cmp(&other.x));
                series.push(Series::new(
                    format!("{strategy}, {what}"),
                    rank,
                    Marks::Curve(marks),
                ));
            }
        }
        if series.is_empty() {
            return None;
        }
        let given = self.given(places);
        Some(Figure {
            name: name.to_owned(),
            section: Section::Calibration,
            title: titled(
                &format!(
                    "Promised and realised share of failures{} by threshold",
                    self.promised.whose
                ),
                &given,
            ),
            x: Scale::linear(THRESHOLD_AXIS),
            y: Scale::linear(format!("share of {}", self.promised.counted.to_lowercase())),
            series,
            note: format!(
                "Of the {} at each threshold the mean of the promised probabilities of failure and the share that failed. {}",
                self.promised.counted.to_lowercase(),
                self.intervals()
            ),
            sql: Question {
                configuration_hash: self.configuration_hash,
                source: self.promised.source,
                keys: &self
                    .policy()
                    .into_iter()
                    .chain([THRESHOLD_AXIS])
                    .collect::<Vec<_>>(),
                condition: &condition(&given),
            }
            .shares(),
            given,
        })
    }
}

/// A share at a place; its interval ends at 0 and 1.
fn mark(x: f64, share: &Estimate, jobs: u64) -> Mark {
    Mark {
        x,
        mean: share.mean,
        low: share.low().unwrap_or(share.mean).max(0.0),
        high: share.high().unwrap_or(share.mean).min(1.0),
        interval: None,
        count: jobs,
        paired: None,
    }
}
