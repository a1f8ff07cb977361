//! The number of jobs that wait when co-reservations arrive (Q23).

use bookahead_core::scheduling::JobOutcome;
use bookahead_core::units::Seconds;

use super::{CoOutcome, CoReservationInputs};

/// Jobs that waited at the submission of a granted request on the clusters that it got, and those
/// of them that still wait when its parts start (Q23). Of jobs and a request of one instant, the
/// request comes first, so such jobs do not count. Outcomes of jobs come in the order of their ids.
pub(super) fn count_waiting(
    inputs: &CoReservationInputs,
    jobs: &[JobOutcome],
    requests: &mut [CoOutcome],
) {
    let mut by_cluster = Vec::new();
    let mut next = 0;
    for workload in &inputs.clusters {
        // Ids go on from cluster to cluster; a job without an outcome leaves no hole that matters,
        // since ids are looked up.
        let last = workload.jobs.last().map(|job| job.id);
        let end = next + jobs[next..].partition_point(|it| Some(it.job.id) <= last);
        by_cluster.push(Waits::of(&jobs[next..end]));
        next = end;
    }
    for outcome in requests {
        let Some(begin) = outcome.start else { continue };
        for cluster in &outcome.clusters {
            let starts = by_cluster[usize::from(cluster.0)].starts_at(outcome.request.submit);
            for start in starts {
                outcome.waiting_before += 1;
                outcome.waiting_after += u32::from(start > begin);
            }
        }
    }
}

/// When the jobs of one cluster came and started, those that started.
#[derive(Default)]
struct Waits {
    /// Rising.
    submits: Vec<Seconds>,
    starts: Vec<Seconds>,
    /// The latest start of each and those before it.
    latest: Vec<Seconds>,
}

impl Waits {
    fn of(jobs: &[JobOutcome]) -> Self {
        let mut waits = Self::default();
        for job in jobs {
            if let Some(start) = job.start {
                waits.push(job.job.submit, start);
            }
        }
        waits
    }

    /// One that came after all others.
    fn push(&mut self, submit: Seconds, start: Seconds) {
        debug_assert!(self.submits.last().is_none_or(|last| *last <= submit));
        self.submits.push(submit);
        self.starts.push(start);
        self.latest
            .push(self.latest.last().map_or(start, |&last| last.max(start)));
    }

    /// The starts of those that came before this instant and start later.
    fn starts_at(&self, time: Seconds) -> impl Iterator<Item = Seconds> + '_ {
        let come = self.submits.partition_point(|&submit| submit < time);
        let first = self.latest[..come].partition_point(|&latest| latest <= time);
        let starts = self.starts[first..come].iter().copied();
        starts.filter(move |&start| start > time)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn those_who_wait_have_come_and_not_started(
            jobs in prop::collection::vec((0_i64..8, 0_i64..30), 0..20),
            time in -1_i64..40,
        ) {
            let mut waits = Waits::default();
            let mut submit = 0;
            let mut expected = Vec::new();
            for (later, wait) in jobs {
                submit += later;
                waits.push(Seconds(submit), Seconds(submit + wait));
                if submit < time && submit + wait > time {
                    expected.push(Seconds(submit + wait));
                }
            }
            prop_assert_eq!(waits.starts_at(Seconds(time)).collect::<Vec<_>>(), expected);
        }
    }
}
