//! Provisioning of workflows: one submission with the plans that a genetic search found for it, and
//! its purchases. A mean over submissions would show no plan that exists. Purchases are those of
//! replication 0 of the first combination of each search; plans are those of the replication with
//! the largest front.

mod gantt;

use std::collections::BTreeMap;

use self::gantt::WorkflowGantt;
use crate::provisioning::study::stored::{
    self, FrontRow, SlotRow, SubmissionRow, TaskRow, WorkflowSite,
};
use bookahead_report::analysis::Combination;
use bookahead_report::figure::{Figure, Mark, Marks, Scale, Section, Series};
use bookahead_report::plots::situations::{points_of, simulation_of};
use bookahead_report::plots::{single, varying, words};
use bookahead_report::section::PlanSection;
use bookahead_report::views::{Reported, View, ViewContent};

use bookahead_lab::store::StoreError;

const HOUR: f64 = 3_600.0;

/// The view of the study.
pub struct Provisioning;

impl View for Provisioning {
    fn show(&self, run: &Reported<'_>, shown: &mut ViewContent) -> Result<(), StoreError> {
        shown.first_figures.extend(fronts(run)?);
        for workflow in planned_workflows(run)? {
            let gantt = WorkflowGantt::new(&workflow);
            let section = PlanSection {
                title: gantt.title(),
                svg: gantt.inline(),
                page: format!("plots/workflow-{}.svg", workflow.search),
                note: gantt.note(),
            };
            shown.plans.push((section, gantt.file()));
        }
        Ok(())
    }
}

/// Everything that the drawing of one application needs.
struct PlannedWorkflow {
    /// How its plan was searched for.
    search: String,
    /// What the axes of its combination are, in words.
    given: String,
    submission: SubmissionRow,
    sites: Vec<WorkflowSite>,
    slots: Vec<SlotRow>,
    tasks: Vec<TaskRow>,
}

/// The first submission of a replication of a combination.
struct Submitted<'a> {
    combination: &'a Combination,
    simulation: i64,
    row: SubmissionRow,
}

fn submitted<'a>(run: &Reported<'a>, replication: u32) -> Result<Vec<Submitted<'a>>, StoreError> {
    let mut found = Vec::new();
    for combination in &run.analysis.combinations {
        let Some(simulation) = simulation_of(run.points, combination, replication) else {
            continue;
        };
        if let Some(row) = stored::first_submission(run.store, simulation)? {
            found.push(Submitted {
                combination,
                simulation,
                row,
            });
        }
    }
    Ok(found)
}

/// The first application of each search whose tasks were kept; empty where none were.
fn planned_workflows(run: &Reported<'_>) -> Result<Vec<PlannedWorkflow>, StoreError> {
    let store = run.store;
    let mut found: Vec<PlannedWorkflow> = Vec::new();
    for of in submitted(run, 0)? {
        if found.iter().any(|known| known.search == of.row.search) {
            continue;
        }
        let tasks = stored::tasks(store, of.simulation, of.row.submission)?;
        if tasks.is_empty() {
            continue;
        }
        found.push(PlannedWorkflow {
            search: of.row.search.clone(),
            given: words(&varying(run.analysis, of.combination)),
            sites: stored::sites(store, of.simulation)?,
            slots: stored::slots(store, of.simulation, of.row.submission)?,
            submission: of.row,
            tasks,
        });
    }
    Ok(found)
}

/// A search with its front, and the combinations that chose from it.
struct OfSearch<'a> {
    search: String,
    front: Vec<FrontRow>,
    members: Vec<(&'a Combination, Option<f64>, FrontRow)>,
}

/// The Pareto front of one submission with the plans that α chose, all genetic searches of the run
/// in one picture, and best effort; none where no front was kept.
fn fronts(run: &Reported<'_>) -> Result<Option<Figure>, StoreError> {
    let (store, analysis, configuration_hash) = (run.store, run.analysis, run.hash());
    let mut searches: Vec<OfSearch<'_>> = Vec::new();
    let mut first: Option<Submitted<'_>> = None;
    let replication = fullest(run, &stored::front_sizes(store, run.run.id)?);
    for of in submitted(run, replication)? {
        // The same application at the same instant: searches are compared on equal slots.
        let is_other = first.as_ref().is_some_and(|first| {
            (first.row.submitted, first.row.best_effort) != (of.row.submitted, of.row.best_effort)
        });
        if is_other {
            continue;
        }
        let front = stored::front(store, of.simulation, of.row.submission)?;
        let Some(chosen) = front.iter().find(|plan| plan.chosen).copied() else {
            continue;
        };
        let same = |one: &[FrontRow]| {
            let values = |plans: &[FrontRow]| -> Vec<(f64, i64)> {
                plans
                    .iter()
                    .map(|plan| (plan.cost, plan.makespan))
                    .collect()
            };
            values(one) == values(&front)
        };
        let member = (of.combination, of.row.alpha, chosen);
        match searches
            .iter_mut()
            .find(|known| known.search == of.row.search)
        {
            Some(known) if same(&known.front) => known.members.push(member),
            // The same search with other settings.
            Some(_) => {}
            None => searches.push(OfSearch {
                search: of.row.search.clone(),
                front,
                members: vec![member],
            }),
        }
        if first.is_none() {
            first = Some(of);
        }
    }
    let Some(first) = first else {
        return Ok(None);
    };
    let mut series = Vec::new();
    let mut queries = Vec::new();
    for (rank, search) in searches.iter().enumerate() {
        let mut plans: Vec<Mark> = search.front.iter().map(plan).collect();
        plans.sort_by(|one, other| one.x.total_cmp(&other.x));
        series.push(Series::new(
            format!("{}: the front", search.search),
            rank,
            Marks::Front(plans),
        ));
        let of_front = points_of(
            configuration_hash,
            analysis,
            replication,
            search.members.iter().take(1).map(|(member, ..)| *member),
        );
        queries.push(format!(
            "SELECT '{0}: the front' AS series, f.cost_su AS x, f.makespan / 3600.0 AS mean
FROM {of_front}
JOIN v_workflow_front f ON f.simulation = p.simulation AND f.submission = {1}",
            search.search, first.row.submission
        ));
    }
    for (number, search) in searches.iter().enumerate() {
        let marks = chosen(search)
            .into_iter()
            .map(|(name, row)| (plan(&row), name));
        series.push(Series::new(
            format!("{}: chosen", search.search),
            searches.len() + number,
            Marks::Named(marks.collect()),
        ));
        let of_chosen = points_of(
            configuration_hash,
            analysis,
            replication,
            search.members.iter().map(|(member, ..)| *member),
        );
        queries.push(format!(
            "SELECT DISTINCT '{}: chosen', f.cost_su, f.makespan / 3600.0
FROM {of_chosen}
JOIN v_workflow_front f ON f.simulation = p.simulation AND f.submission = {} AND f.chosen = 1",
            search.search, first.row.submission
        ));
    }
    if let Some((cost, makespan)) = first.row.best_effort {
        series.push(Series::new(
            "best effort",
            6,
            Marks::Named(vec![(
                single(cost, makespan as f64 / HOUR),
                "best effort".to_owned(),
            )]),
        ));
        let of_first = points_of(
            configuration_hash,
            analysis,
            replication,
            [first.combination],
        );
        queries.push(format!(
            "SELECT 'best effort', s.best_effort_cost_su, s.best_effort_makespan / 3600.0
FROM {of_first}
JOIN v_workflow_submission s ON s.simulation = p.simulation AND s.submission = {}",
            first.row.submission
        ));
    }
    Ok(Some(Figure {
        name: "pareto-front".to_owned(),
        section: Section::Workflows,
        title: "The Pareto front of one submission".to_owned(),
        given: Vec::new(),
        x: Scale::linear("allocation cost (SU)"),
        y: Scale::linear("makespan (h)"),
        series,
        note: format!(
            "The submission whose front has most plans: replication {replication} of the first combination with fronts ({}), submitted at {} s. No plan that was found beats one of a front in both cost \
             and makespan; rings are what a wish (α: 1 for the least cost, 0 for the shortest makespan) chose from it.",
            words(&varying(analysis, first.combination)),
            first.row.submitted
        ),
        sql: format!("{};", queries.join("\nUNION ALL\n")),
    }))
}

/// The replication of the first combination with fronts whose front has most plans, the first of
/// equals.
fn fullest(run: &Reported<'_>, sizes: &BTreeMap<i64, u64>) -> u32 {
    let (points, analysis) = (run.points, run.analysis);
    let replications = points.replication.iter().max().map_or(0, |last| last + 1);
    for combination in &analysis.combinations {
        let mut fullest = (0, 0);
        for replication in 0..replications {
            let simulation = simulation_of(points, combination, replication);
            let plans = simulation.and_then(|simulation| sizes.get(&simulation));
            if let Some(plans) = plans.filter(|plans| **plans > fullest.1) {
                fullest = (replication, *plans);
            }
        }
        if fullest.1 > 0 {
            return fullest.0;
        }
    }
    0
}

/// What each wish chose: those that chose the same plan share a label.
fn chosen(search: &OfSearch<'_>) -> Vec<(String, FrontRow)> {
    let mut found: Vec<(Vec<String>, FrontRow)> = Vec::new();
    for (_, alpha, plan) in &search.members {
        let alpha = alpha.map(|alpha| alpha.to_string());
        let same = found
            .iter_mut()
            .find(|(_, known)| (known.cost, known.makespan) == (plan.cost, plan.makespan));
        match same {
            Some((alphas, _)) => {
                alphas.extend(alpha.filter(|alpha| !alphas.contains(alpha)));
            }
            None => found.push((alpha.into_iter().collect(), *plan)),
        }
    }
    found
        .into_iter()
        .map(|(alphas, plan)| {
            let label = if alphas.is_empty() {
                "chosen".to_owned()
            } else {
                format!("α {}", alphas.join(", "))
            };
            (label, plan)
        })
        .collect()
}

fn plan(row: &FrontRow) -> Mark {
    single(row.cost, row.makespan as f64 / HOUR)
}
