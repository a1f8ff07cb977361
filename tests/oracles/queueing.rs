//! FCFS and EASY: a queue in order of (release, id), and one pass over it after all events of an
//! instant.

use bookahead::units::Seconds;
use proptest::prelude::*;

use super::agree;
use super::slow_machine::{Phase, Planner, SlowMachine};
use super::workloads::{Case, Kind, case};

struct Twin {
    backfills: bool,
}

impl Twin {
    /// The earliest time at which `wanted` nodes are free if every running job takes its estimate,
    /// and how many are free then.
    fn shadow(machine: &SlowMachine, wanted: usize) -> Option<(i64, usize)> {
        let mut ends: Vec<(i64, usize)> = machine
            .in_phase(Phase::Running)
            .into_iter()
            .map(|job| {
                let start = machine.fate[job].start.expect("it runs");
                (start + machine.estimate(job), machine.width(job))
            })
            .collect();
        ends.sort_unstable();
        let free_at = |time: i64| {
            let ended = ends.iter().filter(|&&(end, _)| end <= time);
            machine.idle().len() + ended.map(|&(_, width)| width).sum::<usize>()
        };
        ends.iter()
            .map(|&(time, _)| (time, free_at(time)))
            .find(|&(_, free)| free >= wanted)
    }

    fn enqueue(machine: &mut SlowMachine, job: usize) {
        // A job that cannot be done at all leaves at its release.
        let leaves = machine.deadline(job) - machine.estimate(job) + 1;
        machine.wait_until(job, leaves.max(machine.jobs[job].release.0));
    }

    fn start(machine: &mut SlowMachine, job: usize) {
        let nodes = machine.idle();
        let window_end = machine.now + machine.estimate(job);
        machine.start(job, &nodes[..machine.width(job)], window_end);
    }
}

impl Planner for Twin {
    fn arrived(&mut self, machine: &mut SlowMachine, job: usize) {
        Self::enqueue(machine, job);
        if machine.jobs[job].release > Seconds(machine.now) {
            machine.wake(job, machine.jobs[job].release.0);
        }
    }

    fn start_due(&mut self, _machine: &mut SlowMachine, _job: usize) {}

    fn ended(&mut self, _machine: &mut SlowMachine, _job: usize, _nodes: &[usize]) {}

    fn node_failed(&mut self, machine: &mut SlowMachine, _node: usize, victim: Option<usize>) {
        if let Some(job) = victim {
            Self::enqueue(machine, job);
        }
    }

    fn node_repaired(&mut self, _machine: &mut SlowMachine, _node: usize) {}

    fn given_up(&mut self, _machine: &mut SlowMachine, _job: usize) {}

    fn settled(&mut self, machine: &mut SlowMachine) {
        let mut queue: Vec<usize> = machine.in_phase(Phase::Aside);
        queue.retain(|&job| machine.jobs[job].release.0 <= machine.now);
        queue.sort_unstable_by_key(|&job| (machine.jobs[job].release.0, job));
        while let Some(&head) = queue.first()
            && machine.width(head) <= machine.idle().len()
        {
            Self::start(machine, head);
            queue.remove(0);
        }
        if !self.backfills || queue.is_empty() {
            return;
        }
        let head = queue.remove(0);
        // Where nodes are down, even all running jobs may not free enough: then nobody can delay
        // the head.
        let (shadow, free) =
            Self::shadow(machine, machine.width(head)).unwrap_or((i64::MAX, usize::MAX));
        let mut extra = free - machine.width(head);
        for job in queue {
            let width = machine.width(job);
            if width > machine.idle().len() {
                continue;
            }
            let ends_in_time = machine.now + machine.estimate(job) <= shadow;
            if ends_in_time || width <= extra {
                if !ends_in_time {
                    extra -= width;
                }
                Self::start(machine, job);
            }
        }
    }
}

fn compare(case: &Case, strategy: &str) -> Result<(), TestCaseError> {
    let (_, outcomes) = case.simulate(&case.settings(strategy));
    let mut planner = Twin {
        backfills: strategy == "easy-backfilling",
    };
    let fates = SlowMachine::new(case.nodes, &case.jobs, &case.failures).run(&mut planner);
    agree(&outcomes, &fates)
}

proptest! {
    #![proptest_config(super::config())]

    #[test]
    fn fcfs_agrees_with_its_oracle(case in case(Kind::NoFailures)) {
        compare(&case, "fcfs")?;
    }

    #[test]
    fn fcfs_agrees_with_its_oracle_when_nodes_fail(case in case(Kind::Failures)) {
        compare(&case, "fcfs")?;
    }

    #[test]
    fn easy_backfilling_agrees_with_its_oracle(case in case(Kind::NoFailures)) {
        compare(&case, "easy-backfilling")?;
    }

    #[test]
    fn easy_backfilling_agrees_with_its_oracle_when_nodes_fail(case in case(Kind::Failures)) {
        compare(&case, "easy-backfilling")?;
    }
}
