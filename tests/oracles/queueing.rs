//! FCFS and EASY: a queue in order of (release, id), and one pass over it after all events of an instant.

use bookahead::units::Seconds;
use proptest::prelude::*;

use super::agree;
use super::workloads::{Case, Kind, case};
use super::world::{Phase, Planner, World};

struct Twin {
    backfills: bool,
}

impl Twin {
    /// The earliest time at which `wanted` nodes are free if every running job takes its estimate, and how many are free
    /// then.
    fn shadow(world: &World, wanted: usize) -> Option<(i64, usize)> {
        let mut ends: Vec<(i64, usize)> = world
            .in_phase(Phase::Running)
            .into_iter()
            .map(|job| {
                let start = world.fate[job].start.expect("it runs");
                (start + world.estimate(job), world.width(job))
            })
            .collect();
        ends.sort_unstable();
        let free_at = |time: i64| {
            let ended = ends.iter().filter(|&&(end, _)| end <= time);
            world.idle().len() + ended.map(|&(_, width)| width).sum::<usize>()
        };
        ends.iter()
            .map(|&(time, _)| (time, free_at(time)))
            .find(|&(_, free)| free >= wanted)
    }

    fn enqueue(world: &mut World, job: usize) {
        // A job that cannot be done at all leaves at its release.
        let leaves = world.deadline(job) - world.estimate(job) + 1;
        world.wait_until(job, leaves.max(world.jobs[job].release.0));
    }

    fn start(world: &mut World, job: usize) {
        let nodes = world.idle();
        let window_end = world.now + world.estimate(job);
        world.start(job, &nodes[..world.width(job)], window_end);
    }
}

impl Planner for Twin {
    fn arrived(&mut self, world: &mut World, job: usize) {
        Self::enqueue(world, job);
        if world.jobs[job].release > Seconds(world.now) {
            world.wake(job, world.jobs[job].release.0);
        }
    }

    fn start_due(&mut self, _world: &mut World, _job: usize) {}

    fn ended(&mut self, _world: &mut World, _job: usize, _nodes: &[usize]) {}

    fn node_failed(&mut self, world: &mut World, _node: usize, victim: Option<usize>) {
        if let Some(job) = victim {
            Self::enqueue(world, job);
        }
    }

    fn node_repaired(&mut self, _world: &mut World, _node: usize) {}

    fn given_up(&mut self, _world: &mut World, _job: usize) {}

    fn settled(&mut self, world: &mut World) {
        let mut queue: Vec<usize> = world.in_phase(Phase::Aside);
        queue.retain(|&job| world.jobs[job].release.0 <= world.now);
        queue.sort_unstable_by_key(|&job| (world.jobs[job].release.0, job));
        while let Some(&head) = queue.first()
            && world.width(head) <= world.idle().len()
        {
            Self::start(world, head);
            queue.remove(0);
        }
        if !self.backfills || queue.is_empty() {
            return;
        }
        let head = queue.remove(0);
        // Where nodes are down, even all running jobs may not free enough: then nobody can delay the head.
        let (shadow, free) =
            Self::shadow(world, world.width(head)).unwrap_or((i64::MAX, usize::MAX));
        let mut extra = free - world.width(head);
        for job in queue {
            let width = world.width(job);
            if width > world.idle().len() {
                continue;
            }
            let ends_in_time = world.now + world.estimate(job) <= shadow;
            if ends_in_time || width <= extra {
                if !ends_in_time {
                    extra -= width;
                }
                Self::start(world, job);
            }
        }
    }
}

fn compare(case: &Case, strategy: &str) -> Result<(), TestCaseError> {
    let (_, outcomes) = case.simulate(&case.settings(strategy));
    let mut planner = Twin {
        backfills: strategy == "easy-backfilling",
    };
    let fates = World::new(case.nodes, &case.jobs, &case.failures).run(&mut planner);
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
