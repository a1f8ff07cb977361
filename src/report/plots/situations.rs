//! The distributions of one figure: for every situation the strategies at their best, or the lines
//! of a study.

use std::collections::BTreeMap;

use super::lines::{Lines, MOST_LINES, free_axes};
use super::{condition, given};
use crate::analysis::{Analysis, Combination};
use crate::sql::this_run;
use crate::table::value_text;
use bookahead_lab::store::PointColumns;

/// What is given, and what is compared there.
pub struct Situation<'a> {
    /// Values of the axes that it is fixed at, `(key, value)`.
    pub given: Vec<(String, String)>,
    /// What tells its figures from those of the other situations; empty where there is one.
    pub suffix: String,
    /// Those that are compared in it.
    pub members: Vec<Member<'a>>,
}

/// A combination with its place in the legend.
pub struct Member<'a> {
    /// Its combination of settings.
    pub combination: &'a Combination,
    /// Its name in legends.
    pub label: String,
    /// Its place, which decides its colour.
    pub rank: usize,
}

/// The situations of a run in the order of its axes, at most `most`.
pub fn situations(analysis: &Analysis, most: usize) -> Vec<Situation<'_>> {
    let (axes, groups) = if analysis.is_study() {
        of_study(analysis)
    } else {
        at_best(analysis)
    };
    let alone = groups.len() == 1;
    groups
        .into_iter()
        .take(most)
        .enumerate()
        .map(|(number, (key, members))| Situation {
            given: given(analysis, &axes, &key),
            suffix: if alone {
                String::new()
            } else {
                format!("-{}", number + 1)
            },
            members,
        })
        .collect()
}

type Groups<'a> = Vec<(Vec<Option<u32>>, Vec<Member<'a>>)>;

fn at_best(analysis: &Analysis) -> (Vec<usize>, Groups<'_>) {
    let axes = analysis.given_axes();
    let mut groups: Groups<'_> = Vec::new();
    for combination in analysis.best() {
        let key: Vec<Option<u32>> = axes.iter().map(|axis| combination.places[*axis]).collect();
        let member = Member {
            combination,
            label: combination.strategy.clone(),
            rank: analysis.studies.rank(&combination.strategy),
        };
        match groups.last_mut().filter(|(last, _)| *last == key) {
            Some((_, members)) => members.push(member),
            None => groups.push((key, vec![member])),
        }
    }
    (axes, groups)
}

fn of_study(analysis: &Analysis) -> (Vec<usize>, Groups<'_>) {
    let free = free_axes(analysis);
    let lines = Lines::new(analysis, &free, None, MOST_LINES);
    let axes: Vec<usize> = free
        .into_iter()
        .filter(|axis| !lines.axes.contains(axis))
        .collect();
    let mut groups: BTreeMap<Vec<Option<u32>>, Vec<Member<'_>>> = BTreeMap::new();
    for combination in &analysis.combinations {
        let (rank, label) = lines.of(combination);
        groups
            .entry(axes.iter().map(|axis| combination.places[*axis]).collect())
            .or_default()
            .push(Member {
                combination,
                label: label.to_owned(),
                rank,
            });
    }
    let groups = groups
        .into_iter()
        .map(|(key, mut members)| {
            members.sort_by_key(|member| member.rank);
            (key, members)
        })
        .collect();
    (axes, groups)
}

/// The simulation of replication 0 of a combination.
pub fn first_replication(points: &PointColumns, combination: &Combination) -> Option<i64> {
    simulation_of(points, combination, 0)
}

/// The simulation of a replication of a combination.
pub fn simulation_of(
    points: &PointColumns,
    combination: &Combination,
    replication: u32,
) -> Option<i64> {
    (0..points.len())
        .find(|point| {
            let places = points.axes.iter().map(|column| column.positions[*point]);
            points.replication[*point] == replication
                && points.strategy[*point] == combination.strategy
                && places.eq(combination.places.iter().copied())
        })
        .map(|point| points.simulation[point])
}

/// The points of replication 0 of these combinations, as a table `p` of simulations and axes.
pub fn first_replications<'c>(
    configuration_hash: &str,
    analysis: &Analysis,
    combinations: impl IntoIterator<Item = &'c Combination>,
) -> String {
    points_of(configuration_hash, analysis, 0, combinations)
}

/// The points of one replication of these combinations, as a table `p` of simulations and axes.
pub fn points_of<'c>(
    configuration_hash: &str,
    analysis: &Analysis,
    replication: u32,
    combinations: impl IntoIterator<Item = &'c Combination>,
) -> String {
    let members: Vec<String> = combinations
        .into_iter()
        .map(|combination| {
            let given: Vec<(String, String)> = (0..analysis.axes.len())
                .filter_map(|axis| {
                    let value = analysis.value(combination, axis)?;
                    Some((analysis.axes[axis].key.clone(), value_text(value)))
                })
                .collect();
            let conditions = condition(&given);
            let conditions = conditions.trim().trim_start_matches("AND ");
            let conditions = conditions.replace("\n    ", " ");
            if conditions.is_empty() {
                "1".to_owned()
            } else {
                conditions
            }
        })
        .collect();
    format!(
        "(SELECT DISTINCT simulation, axes FROM v_point WHERE state = 'done' AND replication = {replication} AND run = {}
      AND ({})) p",
        this_run(configuration_hash),
        members.join("\n        OR ")
    )
}
