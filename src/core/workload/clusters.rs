//! Excerpts of one trace as the workloads of several clusters (Meltzer 2005, §6.2; Q19 to Q21,
//! Q46).
//!
//! Windows of equal length are chosen in the trace (`windows`), the jobs submitted in each are
//! merged (`merging`) and rebased to time 0. Neither knows what the clusters are for.

mod fingerprint;
mod merging;
mod settings;
mod windows;

use std::sync::Arc;

pub use fingerprint::{FINGERPRINT_STEP, PUBLISHED_CLUSTERS, PublishedCluster};
pub use settings::{ClusterSettings, ClusterSizes, Excerpts};

use self::merging::{Bucket, Merger};
use super::error::WorkloadError;
use super::estimated::deadline;
use super::job::{Job, JobId};
use crate::random::Stream;
use crate::units::{Nodes, Seconds};

/// The jobs of one cluster, cut out of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterExcerpt {
    /// Size of the cluster.
    pub nodes: Nodes,
    /// Where its window begins, from the first job of the trace on.
    pub window_start: Seconds,
    /// Its jobs in order of submission, rebased to the window; ids go on from the cluster before.
    pub jobs: Arc<[Job]>,
    /// Mean of run time ÷ limit over these jobs, 0 where there are none (Table 6(d)).
    pub accuracy: f64,
    /// CPU time of these jobs ÷ CPU time of the cluster within the window.
    pub offered_load: f64,
    /// Usable records in the window, before merging.
    pub records: u32,
    /// Of these, wider than the machine, and dropped.
    pub too_wide: u32,
}

/// The excerpts of all clusters.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterExcerpts {
    /// One a cluster.
    pub clusters: Vec<ClusterExcerpt>,
    /// For each cluster the merged jobs of its window as they are on a machine of full size,
    /// rebased: what requests are made from. They do not depend on whether the cluster's own jobs
    /// are merged, nor on its size, so that requests do not either (Q45).
    pub templates: Vec<Arc<[Job]>>,
    /// The length of the windows: when submissions end.
    pub stop: Seconds,
}

impl ClusterExcerpts {
    /// The jobs of the trace that are in no window: what statistics can be learned from. All jobs,
    /// where every one is in some window.
    #[must_use]
    pub fn outside(&self, jobs: &[Job]) -> Vec<Job> {
        let outside = |job: &&Job| {
            !self.clusters.iter().any(|cluster| {
                let since = job.submit - cluster.window_start;
                Seconds::ZERO <= since && since < self.stop
            })
        };
        let learning: Vec<Job> = jobs.iter().filter(outside).cloned().collect();
        if learning.is_empty() {
            return jobs.to_vec();
        }
        learning
    }
}

/// Cuts the workloads of several clusters out of the jobs of a trace, which are in order of
/// submission and begin at 0.
///
/// Jobs wider than `machine` are dropped, run times are clamped to the limit (Q46). Jobs have
/// deadlines where the settings have a laxity; templates never have. On smaller
/// clusters the width of every job is scaled with the cluster and rounded up. `stream` is drawn
/// from where excerpts are drawn, and nowhere else.
///
/// # Errors
/// [`WorkloadError`] where the trace does not hold so many windows, or settings are impossible.
pub fn cut_clusters(
    jobs: &[Job],
    machine: Nodes,
    settings: &ClusterSettings,
    stream: &mut Stream,
) -> Result<ClusterExcerpts, WorkloadError> {
    settings.check()?;
    let merger = Merger::new(jobs, machine, settings.merge_at_most);
    let starts = windows::choose(&merger, settings, stream)?;
    let stop = settings.length();
    let mut excerpts = ClusterExcerpts {
        clusters: Vec::with_capacity(starts.len()),
        templates: Vec::with_capacity(starts.len()),
        stop,
    };
    let mut next_id = 0;
    for (position, &start) in starts.iter().enumerate() {
        let nodes = settings.sizes.of(position, machine);
        let records = window_of(jobs, start, stop);
        let merged = merger.merge(start, start + stop);
        let template: Arc<[Job]> = rebased(jobs, &merged, start, 0).into();
        let own = if settings.merging {
            merged
        } else {
            merger.single(start, start + stop)
        };
        let mut own = rebased(jobs, &own, start, next_id);
        for job in &mut own {
            job.nodes = scaled(job.nodes, nodes, machine);
            if let Some(laxity) = settings.laxity {
                job.deadline = deadline(job.submit, job.estimate, laxity);
            }
        }
        next_id += own.len() as u32;
        let work: f64 = own
            .iter()
            .map(|job| job.runtime.0 as f64 * f64::from(job.nodes.0))
            .sum();
        excerpts.clusters.push(ClusterExcerpt {
            nodes,
            window_start: start,
            accuracy: mean_accuracy(&own),
            offered_load: work / (stop.0 as f64 * f64::from(nodes.0)),
            records: records.len() as u32,
            too_wide: records.iter().filter(|job| job.nodes > machine).count() as u32,
            jobs: own.into(),
        });
        excerpts.templates.push(template);
    }
    Ok(excerpts)
}

/// Mean of run time ÷ limit, each job counting once (Q10); 0 without jobs.
fn mean_accuracy(jobs: &[Job]) -> f64 {
    let sum: f64 = jobs
        .iter()
        .map(|job| job.runtime.0 as f64 / job.estimate.0.max(1) as f64)
        .sum();
    sum / jobs.len().max(1) as f64
}

fn window_of(jobs: &[Job], start: Seconds, length: Seconds) -> &[Job] {
    let from = jobs.partition_point(|job| job.submit < start);
    let until = jobs.partition_point(|job| job.submit < start + length);
    &jobs[from..until]
}

/// Jobs of a window as jobs of a simulation that begins with it.
fn rebased(jobs: &[Job], buckets: &[Bucket], start: Seconds, first_id: u32) -> Vec<Job> {
    buckets
        .iter()
        .zip(first_id..)
        .map(|(bucket, id)| {
            let submit = bucket.submit - start;
            Job {
                id: JobId(id),
                submit,
                release: submit,
                estimate: bucket.limit,
                runtime: bucket.runtime(),
                deadline: Seconds::FAR,
                nodes: Nodes(bucket.cpus),
                ..jobs[bucket.first as usize].clone()
            }
        })
        .collect()
}

/// A job's width on a cluster of another size: in proportion, rounded up, so that no job vanishes
/// and none is wider than its cluster.
fn scaled(width: Nodes, cluster: Nodes, machine: Nodes) -> Nodes {
    let product = u64::from(width.0) * u64::from(cluster.0);
    let scaled = product.div_ceil(u64::from(machine.0.max(1)));
    Nodes(u32::try_from(scaled).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests;
