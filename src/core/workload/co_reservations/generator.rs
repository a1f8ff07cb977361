//! Requests made from the jobs of clusters, because no trace records any (Meltzer 2005, §6.3).

use std::sync::Arc;

use rand::RngExt;
use rand::seq::SliceRandom;

use super::settings::{
    CoRequestSettings, FurtherParts, TemplateSelection, TemplateSource, WORK_TOLERANCE,
};
use super::{CoRequest, CoRequestId, FurtherCounts, MOST_STAGES, RequestKind, WorkflowShape};
use crate::random::{self, Stream};
use crate::units::{NodeSeconds, Nodes, Seconds};
use crate::workload::workflows::Workflow;
use crate::workload::{ClusterExcerpts, Job, WorkloadError};

/// There may be so many parts at most.
pub const MOST_PARTS: u32 = 6;

/// Draws of templates that are tried for the work that is asked for.
const MOST_DRAWS: u32 = 20_000;

/// What is drawn for one template, each uniform in `[0, 1)`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Draws {
    /// Whether it is chosen at all.
    chance: f64,
    /// The earliest start.
    start: f64,
    /// The burst that it belongs to.
    burst: f64,
    /// The widths of the second part and the ones behind it.
    widths: [f64; MOST_PARTS as usize - 1],
    /// Whether each part needs licences.
    licences: [f64; MOST_PARTS as usize],
    /// Whether each part needs storage.
    storage: [f64; MOST_PARTS as usize],
}

/// Makes requests from the merged jobs of clusters, in order of submission with ids from 0.
///
/// Everything is drawn for every template before any is chosen, from streams that depend on `seed`,
/// `workload_key` and `replication` alone: all workloads, algorithms, numbers of clusters and of
/// requests see the same draws (Q33), and a larger choice contains the smaller one. `machine` is
/// the size of the largest cluster, which no part exceeds; `workflow` is what workflows look like
/// where a file says it ([`WorkflowShape::File`]).
///
/// # Errors
/// [`WorkloadError`] where there are fewer templates than requests, or settings are impossible.
pub fn generate_co_requests(
    excerpts: &ClusterExcerpts,
    machine: Nodes,
    settings: &CoRequestSettings,
    workflow: Option<&Workflow>,
    seed: u64,
    workload_key: &str,
    replication: u32,
) -> Result<Vec<CoRequest>, WorkloadError> {
    let clusters: &[Arc<[Job]>] = match settings.templates {
        TemplateSource::First => excerpts.templates.get(..1).unwrap_or_default(),
        TemplateSource::All => &excerpts.templates,
    };
    let templates: Vec<&Job> = clusters.iter().flat_map(|jobs| jobs.iter()).collect();
    check(settings, templates.len())?;
    let shape = settings.kinds.as_ref().map(|kinds| &kinds.tasks);
    if let (Some(WorkflowShape::File(file)), None) = (shape, workflow) {
        return Err(WorkloadError::ImpossibleSetting {
            key: "requests.workflow_file",
            found: format!("{file} without its content"),
            allowed: "a workflow that was read",
        });
    }
    let stream = |name: &str| random::stream(seed, workload_key, replication, name);
    let mut order: Vec<usize> = (0..templates.len()).collect();
    let mut orders = stream("co-requests");
    order.shuffle(&mut orders);
    let mut draws = stream("co-requests draws");
    let mut licences = stream("co-requests licences");
    let mut storage = stream("co-requests storage");
    let draws: Vec<Draws> = templates
        .iter()
        .map(|_| Draws {
            chance: draws.random(),
            start: draws.random(),
            burst: draws.random(),
            widths: std::array::from_fn(|_| draws.random()),
            licences: std::array::from_fn(|_| licences.random()),
            storage: std::array::from_fn(|_| storage.random()),
        })
        .collect();
    let mut bursts = stream("co-requests bursts");
    let begins: Vec<f64> = settings.bursts.map_or_else(Vec::new, |settings| {
        (0..settings.count).map(|_| bursts.random()).collect()
    });
    let mut chosen: Vec<usize> = match settings.selection {
        TemplateSelection::Count { count } => {
            if let Some(wanted) = settings.work {
                let works: Vec<i64> = templates
                    .iter()
                    .zip(&draws)
                    .map(|(template, draws)| {
                        let second = width(template.nodes, draws.widths[0], machine);
                        let both = Nodes(template.nodes.0 + second.0);
                        both.for_span(template.estimate).0
                    })
                    .collect();
                order = with_work(order, count as usize, wanted, &works, &mut orders)?;
            }
            order.into_iter().take(count as usize).collect()
        }
        TemplateSelection::Chance { probability } => (0..templates.len())
            .filter(|&index| draws[index].chance < probability)
            .collect(),
    };
    chosen.sort_unstable();
    let mut kinds = stream("co-requests kinds");
    let kind_of: Vec<RequestKind> = settings.kinds.as_ref().map_or_else(Vec::new, |settings| {
        (templates.iter())
            .map(|_| settings.of(kinds.random()))
            .collect()
    });
    let mut requests: Vec<(CoRequest, RequestKind)> = chosen
        .into_iter()
        .map(|index| {
            let begin = settings.bursts.map(|bursts| {
                let burst = (draws[index].burst * f64::from(bursts.count)) as usize;
                (begins[burst.min(begins.len() - 1)], bursts.width)
            });
            let earliest = earliest(draws[index].start, begin, excerpts.stop);
            let kind = kind_of.get(index).copied();
            let request = request(templates[index], &draws[index], earliest, machine, settings);
            (request, kind.unwrap_or(RequestKind::CoReservation))
        })
        .collect();
    // Equal times: in the order of the templates.
    requests.sort_by_key(|(request, _)| (request.submit, request.earliest));
    if let Some(every) = settings.drop_every {
        let mut place = 0;
        requests.retain(|_| {
            place += 1;
            place % every != 0
        });
    }
    let mut numbered = Vec::with_capacity(requests.len());
    for (mut request, kind) in requests {
        let id = CoRequestId(numbered.len() as u32);
        request.id = id;
        match &settings.kinds {
            Some(kinds) => numbered.extend(kinds.requests(kind, request, id, workflow)),
            None => numbered.push(request),
        }
    }
    Ok(numbered)
}

/// The first order, of those that shuffling gives, whose first `count` templates come to the work
/// that is wanted.
fn with_work(
    mut order: Vec<usize>,
    count: usize,
    wanted: NodeSeconds,
    works: &[i64],
    orders: &mut Stream,
) -> Result<Vec<usize>, WorkloadError> {
    for _ in 0..MOST_DRAWS {
        let work: i64 = order[..count].iter().map(|&index| works[index]).sum();
        if (work - wanted.0).abs() as f64 <= WORK_TOLERANCE * wanted.0 as f64 {
            return Ok(order);
        }
        order.shuffle(orders);
    }
    let mean = works.iter().sum::<i64>() as f64 / works.len().max(1) as f64;
    Err(WorkloadError::NoDrawOfThisWork {
        wanted: wanted.0,
        draws: MOST_DRAWS,
        mean: (mean * count as f64).round() as i64,
    })
}

/// `f_start`: somewhere before submissions end, or within its burst.
fn earliest(drawn: f64, burst: Option<(f64, Seconds)>, stop: Seconds) -> Seconds {
    let (begin, width) = match burst {
        None => (0.0, stop.0),
        Some((begin, width)) => {
            let width = width.0.min(stop.0);
            (begin * (stop.0 - width) as f64, width)
        }
    };
    Seconds((begin + drawn * width as f64).floor() as i64)
}

fn request(
    template: &Job,
    draws: &Draws,
    earliest: Seconds,
    machine: Nodes,
    settings: &CoRequestSettings,
) -> CoRequest {
    let duration = template.estimate;
    let parts = (0..settings.parts as usize)
        .map(|part| match (part, settings.further_parts) {
            (0, _) => template.nodes,
            (1, _) | (_, FurtherParts::Copied) => width(template.nodes, draws.widths[0], machine),
            (_, FurtherParts::Drawn) => width(template.nodes, draws.widths[part - 1], machine),
        })
        .collect();
    let needs_more = settings.licences.is_some() || settings.storage.is_some();
    let further = (0..settings.parts as usize)
        .filter(|_| needs_more)
        .map(|part| FurtherCounts {
            licences: settings
                .licences
                .map_or(0, |it| it.amount(draws.licences[part])),
            storage_gb: settings
                .storage
                .map_or(0, |it| it.amount(draws.storage[part])),
        })
        .collect();
    CoRequest {
        id: CoRequestId(0),
        trace_number: template.trace_number,
        user: template.user,
        submit: (earliest - settings.lead.of(duration)).max(Seconds::ZERO),
        earliest,
        deadline: earliest + duration + settings.slack.of(duration),
        duration,
        parts,
        further,
        preference: settings.preference,
        task: None,
    }
}

/// Uniform between 0.7 and 1.3 times the template, at most the machine.
fn width(template: Nodes, drawn: f64, machine: Nodes) -> Nodes {
    let cpus = f64::from(template.0);
    let wide = (0.7 * cpus + 0.6 * drawn * cpus).round() as u32;
    Nodes(wide.clamp(1, machine.0.max(1)))
}

fn check(settings: &CoRequestSettings, templates: usize) -> Result<(), WorkloadError> {
    let impossible = |key, found: String, allowed| {
        Err(WorkloadError::ImpossibleSetting {
            key,
            found,
            allowed,
        })
    };
    if let TemplateSelection::Count { count } = settings.selection
        && count as usize > templates
    {
        return Err(WorkloadError::TooFewTemplates {
            have: templates,
            wanted: count,
        });
    }
    if !(1..=MOST_PARTS).contains(&settings.parts) {
        return impossible("requests.parts", settings.parts.to_string(), "1 to 6");
    }
    if settings.drop_every.is_some_and(|every| every < 2) {
        return impossible(
            "requests.drop_every",
            settings.drop_every.unwrap_or_default().to_string(),
            "2 or more",
        );
    }
    let shape = settings.kinds.as_ref().map(|kinds| &kinds.tasks);
    if let Some(WorkflowShape::Stages(stages)) = shape
        && !(2..=MOST_STAGES).contains(stages)
    {
        return impossible("requests.workflow_stages", stages.to_string(), "2 to 20");
    }
    if let Some(bursts) = settings.bursts
        && (bursts.count == 0 || bursts.width < Seconds(1))
    {
        return impossible(
            "requests.bursts",
            bursts.count.to_string(),
            "1 or more bursts of 1 second or more",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
