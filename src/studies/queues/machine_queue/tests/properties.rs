//! Random machines and jobs: the slow twin makes the same schedule, and nothing happens that cannot
//! be.

use proptest::prelude::*;

use super::random::cases;
use super::twin::{need, outcomes_of_twin};
use super::*;

/// What no schedule may do, whatever its rules.
fn check_possible(
    machine: &QueueMachine,
    jobs: &[MachineQueueJob],
    outcomes: &[MachineQueueOutcome],
    held: &[Vec<usize>],
) {
    let classes = machine.classes.iter().zip(0..);
    let nodes: Vec<usize> = classes
        .flat_map(|(class, index)| vec![index; class.nodes.0 as usize])
        .collect();
    let mut runs = Vec::new();
    for ((job, outcome), held) in jobs.iter().zip(outcomes).zip(held) {
        let MachineQueueOutcome::Ran {
            start,
            end,
            announced,
            crosses,
        } = *outcome
        else {
            assert!(held.is_empty());
            continue;
        };
        assert!(job.submit <= start, "nobody starts before the submission");
        let runtime = job.runtime.min(job.request);
        match crosses {
            true => assert!(runtime <= end - start && end - start <= job.request),
            false => assert_eq!(end - start, runtime),
        }
        if let Some(announced) = announced {
            assert!(job.submit <= announced.at && announced.at < start);
            assert!(announced.at < announced.start);
        }
        let class = nodes[held[0]];
        let (count, each) = need(machine, job, class).expect("it fits its nodes");
        assert_eq!(held.len(), count);
        assert!(
            machine.partitions[job.partition.0]
                .classes
                .contains(&ClassIndex(class))
        );
        for node in held {
            assert_eq!(nodes[*node], class, "one class");
            let last = nodes.iter().rposition(|other| *other == class).unwrap();
            for window in machine
                .windows
                .iter()
                .filter(|window| !window.users.contains(&job.user))
            {
                let closes = |(of, count): &(ClassIndex, Nodes)| {
                    of.0 == class && last - node < count.0 as usize
                };
                let overlaps = window.begin < start + job.request && start < window.end;
                assert!(
                    !(overlaps && window.nodes.iter().any(closes)),
                    "a window is closed"
                );
            }
            runs.push((*node, start, end, each));
        }
    }
    for (node, start, ..) in &runs {
        let at = runs
            .iter()
            .filter(|(other, from, to, _)| other == node && from <= start && start < to);
        let all = machine.classes[nodes[*node]].each;
        let (mut cores, mut memory, mut gpus) = (0, 0, 0);
        for (.., each) in at {
            cores += each.cores;
            memory += each.memory_megabytes;
            gpus += each.gpus;
        }
        assert!(cores <= all.cores && memory <= all.memory_megabytes && gpus <= all.gpus);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn every_job_starts_when_and_where_the_slow_twin_starts_it((machine, jobs) in cases()) {
        let site = worked_off(&machine, &jobs);
        let (outcomes, nodes) = outcomes_of_twin(&machine, &jobs);
        prop_assert_eq!(&site.outcomes, &outcomes);
        prop_assert_eq!(&site.held, &nodes);
        check_possible(&machine, &jobs, &site.outcomes, &site.held);
    }
}
