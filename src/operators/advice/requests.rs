//! Who asks for more time than is used: users, and the jobs of a partition.

use std::collections::BTreeMap;

use bookahead_core::units::Seconds;
use bookahead_core::workload::{Job, NameKind};

/// Users that are named at most.
const MOST_USERS: usize = 3;

/// A user of less than this share of the unused time is not worth a word.
const LEAST_UNUSED_PERCENT: f64 = 2.0;

/// The requested and the used time of some jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Requester {
    /// The user, or the partition.
    pub name: String,
    /// How much of the requested node-hours are used, in percent.
    pub used_percent: f64,
    /// The share of the log's unused node-hours that these jobs have, in percent.
    pub unused_percent: f64,
    /// The run time that nine of ten of these jobs do not exceed.
    pub runtime_of_nine_in_ten: Seconds,
}

/// Who asks for more time than is used. Nothing is simulated: it is counted over all usable jobs of
/// the log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Requests {
    /// The users with the most unused node-hours, at most three.
    pub users: Vec<Requester>,
    /// The partition with the most, where the log has several.
    pub partition: Option<Requester>,
}

#[derive(Debug, Default)]
struct Sums {
    requested: i128,
    used: i128,
    runtimes: Vec<Seconds>,
}

impl Requests {
    /// From the jobs of a log, with the numbers of their partitions and what users and partitions
    /// are called.
    #[must_use]
    pub fn of(
        jobs: &[Job],
        partition: impl Fn(&Job) -> Option<i64>,
        name: impl Fn(NameKind, i64) -> String,
    ) -> Self {
        let users = ranked(jobs, |job| job.user);
        let partitions = ranked(jobs, partition);
        let named = |kind, found: Vec<(i64, Requester)>, most| {
            let much = found
                .into_iter()
                .filter(|(_, one)| one.unused_percent >= LEAST_UNUSED_PERCENT);
            let named = much.take(most).map(|(number, one)| Requester {
                name: name(kind, number),
                ..one
            });
            named.collect::<Vec<_>>()
        };
        let has_several = partitions.len() > 1;
        Self {
            users: named(NameKind::User, users, MOST_USERS),
            partition: named(NameKind::Partition, partitions, usize::from(has_several)).pop(),
        }
    }
}

/// Those with the most unused node-hours first.
fn ranked(jobs: &[Job], number: impl Fn(&Job) -> Option<i64>) -> Vec<(i64, Requester)> {
    let mut sums: BTreeMap<i64, Sums> = BTreeMap::new();
    let mut unused = 0;
    for job in jobs {
        let nodes = i128::from(job.nodes.0);
        let (requested, runtime) = (job.estimate, job.runtime.min(job.estimate));
        unused += nodes * i128::from((requested - runtime).0);
        if let Some(number) = number(job) {
            let sum = sums.entry(number).or_default();
            sum.requested += nodes * i128::from(requested.0);
            sum.used += nodes * i128::from(runtime.0);
            sum.runtimes.push(runtime);
        }
    }
    let percent = |part: i128, whole: i128| match whole {
        0 => 0.0,
        whole => 100.0 * part as f64 / whole as f64,
    };
    let mut found: Vec<(i64, Requester)> = sums
        .into_iter()
        .map(|(number, mut sum)| {
            sum.runtimes.sort_unstable();
            let place = (sum.runtimes.len() * 9).div_ceil(10).max(1) - 1;
            let one = Requester {
                name: String::new(),
                used_percent: percent(sum.used, sum.requested),
                unused_percent: percent(sum.requested - sum.used, unused),
                runtime_of_nine_in_ten: sum.runtimes[place],
            };
            (number, one)
        })
        .collect();
    found.sort_by(|(_, one), (_, other)| other.unused_percent.total_cmp(&one.unused_percent));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookahead_core::units::Nodes;
    use bookahead_core::workload::JobId;

    fn job(id: u32, user: i64, nodes: u32, estimate: i64, runtime: i64) -> Job {
        Job::rigid(JobId(id), Seconds(0), Nodes(nodes), Seconds(estimate))
            .running_for(Seconds(runtime))
            .of_user(user)
    }

    #[test]
    fn users_come_by_the_node_time_that_they_request_and_do_not_use() {
        // Unused: user 1 has 2 · 90 = 180, user 2 has 10, user 3 has 10 · 1 = 10 of 200.
        let jobs = [
            job(0, 1, 2, 100, 10),
            job(1, 2, 1, 20, 10),
            job(2, 3, 10, 2, 1),
        ];
        let found = Requests::of(&jobs, |_| None, |_, number| number.to_string());
        let names: Vec<&str> = found.users.iter().map(|user| user.name.as_str()).collect();
        assert_eq!(names, ["1", "2", "3"]);
        assert_eq!(found.users[0].unused_percent, 90.0);
        assert_eq!(found.users[0].used_percent, 10.0);
        assert_eq!(found.partition, None);
    }

    #[test]
    fn a_partition_is_named_where_there_are_several_with_the_time_of_nine_in_ten_of_its_jobs() {
        let jobs: Vec<Job> = (0..10)
            .map(|id| job(id, 1, 1, 100, i64::from(id) + 1))
            .collect();
        let partition = |job: &Job| Some(i64::from(job.id.0 / 9));
        let name = |kind, number| format!("{kind:?} {number}");
        let found = Requests::of(&jobs, partition, name).partition;
        let found = found.expect("two partitions");
        assert_eq!(found.name, "Partition 0");
        // Nine jobs of 1 to 9 s: the ninth is the smallest that nine in ten (8.1) do not exceed.
        assert_eq!(found.runtime_of_nine_in_ten, Seconds(9));
        let one = Requests::of(&jobs, |_| Some(1), name);
        assert_eq!(one.partition, None);
    }
}
