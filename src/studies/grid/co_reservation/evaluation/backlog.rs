//! How far the backlog time is from what happened (Meltzer 2005, §4.4.2 to §4.4.5).
//!
//! At every status query of a first negotiation, the backlog time as of the query is compared with
//! two times. The *drain* is the time until the last of the jobs has ended that were in the
//! cluster's system when it answered: among parts and later jobs, and with gaps, which the formula
//! leaves out. The *backlog of true run times* is the formula with run times in the place of
//! accuracy × limit, so that only the accuracy makes the difference.

use bookahead_core::scheduling::JobOutcome;
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::units::{Nodes, Seconds};

use super::clusters::{cluster_id, held_from_to, jobs_of};
use super::mean;
use crate::co_reservation::local::{BacklogWork, PartOutcome};
use crate::co_reservation::{CoReservationInputs, CoReservationRun, CoReservationSettings};

/// Left out where nothing was probed.
pub(super) fn measure(
    settings: &CoReservationSettings,
    inputs: &CoReservationInputs,
    run: &CoReservationRun,
    measured: &mut Measured,
) {
    let (mut from_drain, mut from_work) = (Vec::new(), Vec::new());
    for (index, workload) in inputs.clusters.iter().enumerate() {
        let local = &settings.local;
        let is_divided = local.partition.is_some();
        let nodes = if is_divided {
            Nodes(workload.nodes.0 - local.offered(workload.nodes).0)
        } else {
            workload.nodes
        };
        let jobs = jobs_of(inputs, run, index).iter();
        // A job that is submitted at the instant of a query comes after it (Q49).
        let mut jobs =
            Present::new(jobs.filter_map(|job| Some((job.job.submit + Seconds(1), job.end?, job))));
        // Parts have no backlog where jobs never share with them.
        let parts = run.parts.get(index).filter(|_| !is_divided);
        let mut parts = Present::new(parts.into_iter().flatten().map(|part| {
            let (start, end) = held_from_to(part);
            (start, end, part)
        }));
        let cluster = cluster_id(index);
        let probes = run.requests.iter().flat_map(|outcome| &outcome.probes);
        let answers = probes.filter(|probe| probe.cluster == cluster);
        let mut answers: Vec<_> = answers.map(|it| (it.at, it.backlog_now)).collect();
        answers.sort_unstable();
        for (at, told) in answers {
            let rule = local.backlog_work;
            let in_system = jobs.at(at);
            let drained = in_system.iter().map(|(end, _)| *end).max();
            let drain = drained.map_or(Seconds::ZERO, |end| end - at);
            from_drain.push((told - drain).hours());
            if rule == BacklogWork::Planned {
                // No sum of work was told.
                continue;
            }
            let of_jobs: i64 = in_system.iter().map(|(_, job)| work(job, at, rule)).sum();
            let active = parts.at(at).iter();
            let of_parts: i64 = active.map(|(_, part)| part_work(part, at, rule)).sum();
            let exact = (of_jobs + of_parts) as f64 / f64::from(nodes.0.max(1));
            from_work.push((told.0 as f64 - exact) / Seconds::HOUR.0 as f64);
        }
    }
    let [signed, absolute] = means(&from_drain);
    measured.add("backlog_error_hours", signed);
    measured.add("backlog_absolute_error_hours", absolute);
    if settings.local.backlog_work == BacklogWork::Planned {
        return;
    }
    let [signed, absolute] = means(&from_work);
    measured.add("backlog_work_error_hours", signed);
    measured.add("backlog_work_absolute_error_hours", absolute);
}

fn means(errors: &[f64]) -> [f64; 2] {
    [
        mean(errors.iter().copied()),
        mean(errors.iter().map(|error| error.abs())),
    ]
}

/// CPU-seconds of a job that count at `at` (Q9). Of one that was hit and began anew, the last start
/// is that of all its life.
fn work(outcome: &JobOutcome, at: Seconds, rule: BacklogWork) -> i64 {
    let job = &outcome.job;
    let elapsed = match (rule, outcome.start) {
        (BacklogWork::Remaining, Some(start)) => (at - start).max(Seconds::ZERO),
        _ => Seconds::ZERO,
    };
    let run = job.runtime.min(job.estimate);
    job.nodes.for_span((run - elapsed).max(Seconds::ZERO)).0
}

fn part_work(part: &PartOutcome, at: Seconds, rule: BacklogWork) -> i64 {
    let order = &part.order;
    let span = match rule {
        BacklogWork::Remaining => order.start + order.duration - at,
        BacklogWork::Full | BacklogWork::Planned => order.duration,
    };
    order.nodes.for_span(span).0
}

/// What is there from an instant on until before another, asked for at rising instants.
struct Present<T> {
    /// What has not come, the first at the end.
    coming: Vec<(Seconds, Seconds, T)>,
    /// What is there, with its end.
    here: Vec<(Seconds, T)>,
}

impl<T: Copy> Present<T> {
    fn new(spans: impl Iterator<Item = (Seconds, Seconds, T)>) -> Self {
        let mut coming: Vec<_> = spans.collect();
        coming.sort_by_key(|(from, _, _)| std::cmp::Reverse(*from));
        Self {
            coming,
            here: Vec::new(),
        }
    }

    fn at(&mut self, now: Seconds) -> &[(Seconds, T)] {
        while let Some((_, end, what)) = self.coming.pop_if(|(from, _, _)| *from <= now) {
            self.here.push((end, what));
        }
        self.here.retain(|(end, _)| *end > now);
        &self.here
    }
}
