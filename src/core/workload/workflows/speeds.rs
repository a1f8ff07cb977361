//! Run times on resources of unlike speed (Singh 2008, §3, p. 17–18).

use super::error::WorkflowError;
use super::workflow::{Task, Workflow};

const MICROSECONDS: f64 = 1e6;

impl Task {
    /// Run time on a resource of this speed, above 0, in seconds: what it is at speed 1, divided by
    /// the speed. To the microsecond, so that 21 s at speed 0.7 are 30 s and not a bit more.
    #[must_use]
    pub fn seconds_at_speed(&self, resource: usize, speed: f64) -> f64 {
        let seconds = self.seconds_on(resource);
        if speed == 1.0 {
            return seconds;
        }
        (seconds / speed * MICROSECONDS).round() / MICROSECONDS
    }
}

impl Workflow {
    /// The same workflow on resources of these speeds, each above 0; a speed that is missing is 1.
    /// Run times that are given for each resource are divided by its speed, too.
    ///
    /// # Errors
    ///
    /// When a task would take longer than any may.
    pub fn at_speeds(&self, speeds: &[f64]) -> Result<Self, WorkflowError> {
        let resources = self.resources().unwrap_or(speeds.len());
        let on = |task: &Task| {
            let at = |resource| speeds.get(resource).copied().unwrap_or(1.0);
            let all = 0..resources;
            all.map(|resource| task.seconds_at_speed(resource, at(resource)))
                .collect()
        };
        let rows: Vec<Vec<f64>> = self.tasks().iter().map(on).collect();
        self.clone().with_seconds_by_resource(&rows)
    }
}

#[cfg(test)]
mod tests {
    use crate::units::{Nodes, Seconds};

    use super::super::heft::ranks;
    use super::super::{Edge, Network, TaskId};
    use super::*;

    fn chain(seconds: &[f64]) -> Workflow {
        let tasks = seconds.iter().enumerate().map(|(number, &seconds)| Task {
            name: number.to_string(),
            module: "m".to_owned(),
            nodes: Nodes(22),
            seconds,
            seconds_by_resource: Vec::new(),
        });
        let edges = (1..seconds.len() as u32).map(|child| Edge {
            parent: TaskId(child - 1),
            child: TaskId(child),
            bytes: 0,
        });
        Workflow::new("chain", tasks.collect(), edges.collect()).unwrap()
    }

    /// S7 of the addendum: 1000 s are 500 s at speed 2. 7 s are 3.5, for which 4 are booked, and
    /// 21 s at 0.7 are 30. The mean of 7 and 3.5 is 5.25, the rank of the second task; that of the
    /// first is 750 + 150 for the latency of the network + 5.25.
    #[test]
    fn run_times_are_divided_by_the_speed_and_ranks_are_by_their_mean() {
        let workflow = chain(&[1_000.0, 7.0]).at_speeds(&[1.0, 2.0]).unwrap();
        let whole = |task: usize, resource| workflow.tasks()[task].whole_seconds_on(resource);
        assert_eq!((whole(0, 0), whole(0, 1)), (Seconds(1_000), Seconds(500)));
        assert_eq!((whole(1, 0), whole(1, 1)), (Seconds(7), Seconds(4)));
        let ranks = ranks(&workflow, 2, &Network::default()).unwrap();
        assert_eq!(ranks, [905.25, 5.25]);
        let slow = chain(&[21.0]).at_speeds(&[0.7]).unwrap();
        assert_eq!(slow.tasks()[0].whole_seconds_on(0), Seconds(30));
    }

    #[test]
    fn run_times_of_each_resource_are_divided_too_and_none_may_be_endless() {
        let rows = [vec![10.0, 30.0]];
        let known = chain(&[1.0]).with_seconds_by_resource(&rows).unwrap();
        assert_eq!(known.at_speeds(&[]).unwrap(), known);
        assert_eq!(known.at_speeds(&[1.0, 1.0]).unwrap(), known);
        let faster = known.at_speeds(&[1.0, 2.0]).unwrap();
        assert_eq!(faster.tasks()[0].seconds_by_resource, [10.0, 15.0]);
        let fraction = chain(&[0.123_456_789]);
        assert_eq!(fraction.at_speeds(&[]).unwrap(), fraction);
        assert!(chain(&[1e12]).at_speeds(&[1e-9]).is_err());
    }
}
