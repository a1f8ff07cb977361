mod further;

use proptest::prelude::*;

use super::*;
use crate::workload::co_reservations::RequestKinds;
use crate::workload::workflows::{Edge, Task, TaskId};
use crate::workload::{
    Bursts, FurtherParts, JobId, LeadRule, Preference, RequestPreset, SlackRule,
};

const STOP: Seconds = Seconds(1_209_600);
const MACHINE: Nodes = Nodes(1160);

fn template(index: u32, limit: i64, cpus: u32) -> Job {
    let number = i64::from(index);
    Job::rigid(JobId(index), Seconds(number), Nodes(cpus), Seconds(limit))
        .running_for(Seconds(1))
        .numbered(number + 1)
}

fn excerpts(clusters: u32) -> ClusterExcerpts {
    let jobs = |cluster: u32| -> Arc<[Job]> {
        (0..500)
            .map(|index| {
                let number = cluster * 500 + index;
                let limit = 60 + i64::from(number) * 7_919 % 129_600;
                template(number, limit, 1 + number * 97 % 1160)
            })
            .collect()
    };
    ClusterExcerpts {
        clusters: Vec::new(),
        templates: (0..clusters).map(jobs).collect(),
        stop: STOP,
    }
}

fn made(settings: &CoRequestSettings, clusters: u32, replication: u32) -> Vec<CoRequest> {
    generate_co_requests(
        &excerpts(clusters),
        MACHINE,
        settings,
        None,
        1,
        "trace=w",
        replication,
    )
    .unwrap()
}

fn preset(preset: RequestPreset) -> CoRequestSettings {
    preset.settings().unwrap()
}

/// Vector T15.
#[test]
fn the_couplings_of_the_three_workloads() {
    let draws = Draws {
        start: 0.45,
        widths: [0.8333; 5],
        ..Draws::default()
    };
    let made = |workload: RequestPreset, limit| {
        let start = earliest(draws.start, None, STOP);
        let settings = preset(workload);
        request(&template(0, limit, 160), &draws, start, MACHINE, &settings)
    };
    let start = Seconds(544_320);
    for (workload, submit, slack) in [
        (RequestPreset::Rw1, 522_720, 43_200),
        (RequestPreset::Rw2, 540_720, 43_200),
        (RequestPreset::Rw3, 540_720, 21_600),
        (RequestPreset::EarlyTwo, 544_290, 21_600),
    ] {
        let request = made(workload, 7_200);
        assert_eq!(request.parts, [Nodes(160), Nodes(192)]);
        assert_eq!(request.earliest, start);
        assert_eq!(request.duration, Seconds(7_200));
        assert_eq!(request.submit, Seconds(submit));
        assert_eq!(request.deadline, start + Seconds(7_200 + slack));
    }
    assert_eq!(made(RequestPreset::Rw1, 36_000).slack(), Seconds(86_400));
    assert_eq!(made(RequestPreset::Rw3, 36_000).slack(), Seconds(86_400));
    let three = made(RequestPreset::EarlyThree, 7_200);
    assert_eq!(three.parts, [Nodes(160), Nodes(192), Nodes(192)]);
}

/// Q33: the three workloads are one draw.
#[test]
fn the_three_workloads_differ_in_lead_and_slack_alone() {
    let key = |workload| {
        let mut requests = made(&preset(workload), 1, 0);
        requests.sort_by_key(|request| request.trace_number);
        requests
            .into_iter()
            .map(|r| (r.trace_number, r.earliest, r.duration, r.parts))
            .collect::<Vec<_>>()
    };
    let first = key(RequestPreset::Rw1);
    assert_eq!(first.len(), 213);
    for other in [
        RequestPreset::Rw2,
        RequestPreset::Rw3,
        RequestPreset::EarlyTwo,
    ] {
        assert_eq!(key(other), first);
    }
}

/// Q47: indices 2, 5, 8, … of the order of submission are left out, 142 of 213 remain.
#[test]
fn three_parts_are_asked_for_by_two_thirds_of_the_requests() {
    let two = made(&preset(RequestPreset::EarlyTwo), 1, 0);
    let three = made(&preset(RequestPreset::EarlyThree), 1, 0);
    assert_eq!(three.len(), 142);
    let kept = two
        .iter()
        .enumerate()
        .filter(|(index, _)| index % 3 != 2)
        .map(|(_, request)| request);
    for (expected, found) in kept.zip(&three) {
        assert_eq!(found.trace_number, expected.trace_number);
        assert_eq!(found.parts[..2], expected.parts[..]);
        assert_eq!(found.parts[2], found.parts[1]);
    }
}

#[test]
fn neither_clusters_nor_numbers_change_the_requests_that_are_there_already() {
    let base = CoRequestSettings::default();
    assert_eq!(made(&base, 1, 0), made(&base, 7, 0));
    assert_ne!(made(&base, 1, 0), made(&base, 1, 1));
    let by = |selection| {
        let settings = CoRequestSettings {
            selection,
            ..base.clone()
        };
        made(&settings, 1, 0)
    };
    let holds = |large: &[CoRequest], small: &[CoRequest]| {
        small.iter().all(|request| {
            large.iter().any(|other| {
                other.trace_number == request.trace_number && other.parts == request.parts
            })
        })
    };
    let (few, many) = (
        by(TemplateSelection::Count { count: 50 }),
        by(TemplateSelection::Count { count: 400 }),
    );
    assert_eq!((few.len(), many.len()), (50, 400));
    assert!(holds(&many, &few));
    let (rare, often) = (
        by(TemplateSelection::Chance { probability: 0.1 }),
        by(TemplateSelection::Chance { probability: 0.3 }),
    );
    assert!((30..=75).contains(&rare.len()), "{} of 500", rare.len());
    assert!(holds(&often, &rare) && often.len() > rare.len());
    // More parts: the first ones stay.
    let six = CoRequestSettings {
        parts: 6,
        ..base.clone()
    };
    for (two, six) in made(&base, 1, 0).iter().zip(made(&six, 1, 0)) {
        assert_eq!(six.parts[..2], two.parts[..]);
        assert_eq!(six.parts.len(), 6);
    }
}

#[test]
fn all_clusters_may_give_templates_and_too_many_requests_are_refused() {
    let all = CoRequestSettings {
        templates: TemplateSource::All,
        selection: TemplateSelection::Count { count: 900 },
        ..CoRequestSettings::default()
    };
    let requests = made(&all, 2, 0);
    assert_eq!(requests.len(), 900);
    assert!(requests.iter().any(|request| request.trace_number > 500));
    let error = generate_co_requests(&excerpts(1), MACHINE, &all, None, 1, "w", 0)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("900 requests") && error.contains("500 jobs"),
        "{error}"
    );
}

#[test]
fn bursts_gather_the_earliest_starts() {
    let settings = CoRequestSettings {
        bursts: Some(Bursts {
            count: 3,
            width: Seconds(7_200),
        }),
        ..CoRequestSettings::default()
    };
    let mut starts: Vec<i64> = made(&settings, 1, 0).iter().map(|r| r.earliest.0).collect();
    starts.sort_unstable();
    let mut groups = 0;
    let mut from = i64::MIN;
    for start in starts {
        if start >= from + 7_200 {
            groups += 1;
            from = start;
        }
        assert!((0..STOP.0).contains(&start));
    }
    assert!((2..=3).contains(&groups), "{groups} groups");
}

proptest! {
    #[test]
    fn every_request_keeps_its_couplings(
        seed in 0_u64..50,
        parts in 1_u32..=6,
        copied in any::<bool>(),
        factors in (0.0_f64..8.0, 0.0_f64..4.0),
        fixed in any::<bool>(),
        bursts in prop::option::of((1_u32..5, 1_i64..100_000)),
    ) {
        let most = Seconds(86_400);
        let settings = CoRequestSettings {
            parts,
            further_parts: if copied { FurtherParts::Copied } else { FurtherParts::Drawn },
            slack: if fixed {
                SlackRule::Fixed { seconds: Seconds(21_600) }
            } else {
                SlackRule::Factor { factor: factors.0, most }
            },
            lead: if fixed {
                LeadRule::Fixed { seconds: Seconds(30) }
            } else {
                LeadRule::Factor { factor: factors.1 }
            },
            bursts: bursts.map(|(count, width)| Bursts { count, width: Seconds(width) }),
            preference: Preference { cost_weight: 0.7, start_weight: 0.3, mix_weight: 0.0, degree_weight: 0.0 },
            ..CoRequestSettings::default()
        };
        let given = excerpts(1);
        let requests =
            generate_co_requests(&given, MACHINE, &settings, None, seed, "w", 0).unwrap();
        prop_assert_eq!(requests.len(), 213);
        prop_assert!(requests.windows(2).all(|pair| pair[0].submit <= pair[1].submit));
        for (request, id) in requests.iter().zip(0..) {
            let job = &given.templates[0][request.trace_number as usize - 1];
            prop_assert_eq!(request.id.0, id);
            prop_assert_eq!(request.duration, job.estimate);
            prop_assert_eq!(request.parts.len(), parts as usize);
            prop_assert_eq!(request.parts[0], job.nodes);
            for part in &request.parts[1..] {
                let cpus = f64::from(job.nodes.0);
                prop_assert!(part.0 <= 1160 && part.0 >= 1);
                prop_assert!(f64::from(part.0) >= (0.7 * cpus).floor().min(1160.0));
                prop_assert!(f64::from(part.0) <= (1.3 * cpus).ceil());
            }
            if copied {
                prop_assert!(request.parts.iter().skip(2).all(|part| *part == request.parts[1]));
            }
            prop_assert!(Seconds::ZERO <= request.submit && request.submit <= request.earliest);
            prop_assert!(request.earliest < STOP);
            let wc = job.estimate.0 as f64;
            let (slack, lead) = if fixed {
                (21_600.0, 30.0)
            } else {
                ((factors.0 * wc).min(86_400.0), factors.1 * wc)
            };
            prop_assert!((request.slack().0 as f64 - slack).abs() <= 0.5);
            let expected = (request.earliest.0 as f64 - lead).max(0.0);
            prop_assert!((request.submit.0 as f64 - expected).abs() <= 0.5);
            prop_assert_eq!(request.preference.cost_weight, 0.7);
        }
    }
}

#[test]
fn a_draw_comes_to_the_work_that_is_asked_for_and_is_the_same_for_every_workload() {
    let work = |requests: &[CoRequest]| -> i64 {
        let one = |request: &CoRequest| -> i64 {
            let cpus: u32 = request.parts.iter().map(|part| part.0).sum();
            Nodes(cpus).for_span(request.duration).0
        };
        requests.iter().map(one).sum()
    };
    let free = CoRequestSettings {
        selection: TemplateSelection::Count { count: 40 },
        ..CoRequestSettings::default()
    };
    let any = work(&made(&free, 1, 0));
    let wanted = NodeSeconds(any * 5 / 4);
    let asked = CoRequestSettings {
        work: Some(wanted),
        ..free.clone()
    };
    let requests = made(&asked, 1, 0);
    assert_eq!(requests.len(), 40);
    let away = (work(&requests) - wanted.0).abs() as f64;
    assert!(away <= WORK_TOLERANCE * wanted.0 as f64);
    // Three parts of another window are made from the same templates.
    let early = CoRequestSettings {
        parts: 3,
        lead: LeadRule::Fixed {
            seconds: Seconds(30),
        },
        ..asked.clone()
    };
    let templates = |requests: &[CoRequest]| {
        let mut numbers: Vec<i64> = requests.iter().map(|it| it.trace_number).collect();
        numbers.sort_unstable();
        numbers
    };
    assert_eq!(templates(&requests), templates(&made(&early, 1, 0)));
    let impossible = CoRequestSettings {
        work: Some(NodeSeconds(1)),
        ..asked
    };
    let error = generate_co_requests(&excerpts(1), MACHINE, &impossible, None, 1, "trace=w", 0);
    let message = error.unwrap_err().to_string();
    assert!(message.contains("total_cpu_seconds is 1"), "{message}");
}

fn mixed(single_percent: f64, workflow_percent: f64, stages: u32) -> CoRequestSettings {
    CoRequestSettings {
        kinds: Some(RequestKinds {
            single_percent,
            workflow_percent,
            tasks: WorkflowShape::Stages(stages),
        }),
        parts: 3,
        ..preset(RequestPreset::Rw1)
    }
}

/// The applications: requests alone, and the tasks of each workflow together.
fn applications(requests: &[CoRequest]) -> Vec<Vec<CoRequest>> {
    let mut all: Vec<Vec<CoRequest>> = Vec::new();
    for request in requests {
        let first = request.task.as_ref().map(|task| task.workflow);
        match all.last_mut() {
            Some(last) if first == Some(last[0].id) => last.push(request.clone()),
            _ => all.push(vec![request.clone()]),
        }
    }
    all
}

#[test]
fn kinds_are_drawn_beside_everything_else_and_a_larger_share_contains_the_smaller_one() {
    let plain = CoRequestSettings {
        kinds: None,
        ..mixed(0.0, 0.0, 3)
    };
    let plain = made(&plain, 1, 0);
    let half = applications(&made(&mixed(50.0, 25.0, 4), 1, 0));
    let more = applications(&made(&mixed(60.0, 40.0, 4), 1, 0));
    assert_eq!((plain.len(), half.len(), more.len()), (213, 213, 213));
    let mut counts = [0; 3];
    for ((plain, half), more) in plain.iter().zip(&half).zip(&more) {
        let kind = half[0].kind();
        counts[kind as usize] += 1;
        assert_eq!(half[0].parts[0], plain.parts[0]);
        assert_eq!(half[0].submit, plain.submit);
        assert_eq!(half[0].earliest, plain.earliest);
        match kind {
            RequestKind::Single => assert_eq!(more[0].kind(), RequestKind::Single),
            RequestKind::CoReservation => assert_eq!(half[0].parts, plain.parts),
            RequestKind::Workflow => assert_eq!(half.len(), 4),
        }
        // All of them are single jobs or workflows here.
        assert_ne!(more[0].kind(), RequestKind::CoReservation);
    }
    assert!(
        counts[0] > 85 && counts[1] > 30 && counts[2] > 30,
        "{counts:?}"
    );
}

#[test]
fn stages_share_the_duration_and_each_has_the_slack_of_the_whole() {
    let plain = CoRequestSettings {
        kinds: None,
        ..mixed(0.0, 0.0, 3)
    };
    let plain = made(&plain, 1, 0);
    let workflows = applications(&made(&mixed(0.0, 100.0, 3), 1, 0));
    for (asked, tasks) in plain.iter().zip(&workflows) {
        let duration = Seconds((asked.duration.0 + 2) / 3);
        let parts: Vec<usize> = tasks.iter().map(|task| task.parts.len()).collect();
        assert_eq!(parts, [1, 3, 1]);
        for (stage, task) in (0..).zip(tasks) {
            assert_eq!(task.duration, duration);
            assert_eq!(task.earliest, asked.earliest + duration * stage);
            assert_eq!(task.slack(), asked.slack());
            let after = &task.task.as_ref().unwrap().after;
            assert_eq!(after.len(), usize::from(stage > 0));
            assert!(after.iter().all(|id| id.0 + 1 == task.id.0));
        }
        // All of it may be moved by the slack that was asked for.
        let last = tasks.last().unwrap().deadline;
        assert_eq!(last - asked.earliest, duration * 3 + asked.slack());
    }
    let ids: Vec<u32> = workflows.iter().flatten().map(|task| task.id.0).collect();
    assert_eq!(ids, (0..213 * 3).collect::<Vec<_>>());
}

#[test]
fn a_workflow_has_two_stages_or_more_and_twenty_at_most() {
    for stages in [1, MOST_STAGES + 1] {
        let settings = mixed(0.0, 10.0, stages);
        let error = generate_co_requests(&excerpts(1), MACHINE, &settings, None, 1, "trace=w", 0)
            .unwrap_err();
        assert!(error.to_string().contains("requests.workflow_stages"));
    }
}

/// Two tasks behind one, and one behind both: 1, 2 and 4, 1 seconds.
fn diamond() -> Workflow {
    let task = |(name, nodes, seconds): (&str, u32, f64)| Task {
        name: name.to_owned(),
        module: "m".to_owned(),
        nodes: Nodes(nodes),
        seconds,
        seconds_by_resource: Vec::new(),
    };
    let tasks = [("a", 1, 1.0), ("b", 2, 2.0), ("c", 3, 4.0), ("d", 1, 1.0)].map(task);
    let edge = |(parent, child)| Edge {
        parent: TaskId(parent),
        child: TaskId(child),
        bytes: 0,
    };
    let edges = [(0, 1), (0, 2), (1, 3), (2, 3)].map(edge);
    Workflow::new("diamond", tasks.to_vec(), edges.to_vec()).unwrap()
}

#[test]
fn a_workflow_of_a_file_takes_as_long_as_the_request_and_its_tasks_leave_room_for_each_other() {
    let mut settings = mixed(0.0, 100.0, 3);
    settings.kinds.as_mut().unwrap().tasks = WorkflowShape::File("diamond".to_owned());
    let workflow = diamond();
    let without = generate_co_requests(&excerpts(1), MACHINE, &settings, None, 1, "trace=w", 0);
    let error = without.unwrap_err().to_string();
    assert!(error.contains("requests.workflow_file"), "{error}");
    let made = |workflow| {
        generate_co_requests(&excerpts(1), MACHINE, &settings, workflow, 1, "trace=w", 0).unwrap()
    };
    let plain = generate_co_requests(
        &excerpts(1),
        MACHINE,
        &CoRequestSettings {
            kinds: None,
            ..settings.clone()
        },
        None,
        1,
        "trace=w",
        0,
    )
    .unwrap();
    let workflows = applications(&made(Some(&workflow)));
    assert_eq!(workflows.len(), plain.len());
    for (asked, tasks) in plain.iter().zip(&workflows) {
        let sixth = |seconds: f64| Seconds((asked.duration.0 as f64 * seconds / 6.0).ceil() as i64);
        let durations: Vec<Seconds> = tasks.iter().map(|task| task.duration).collect();
        assert_eq!(durations, [sixth(1.0), sixth(2.0), sixth(4.0), sixth(1.0)]);
        let widths: Vec<u32> = tasks.iter().map(|task| task.parts[0].0).collect();
        assert_eq!(widths, [1, 2, 3, 1]);
        let after: Vec<Vec<u32>> = (tasks.iter())
            .map(|task| {
                let after = &task.task.as_ref().unwrap().after;
                after.iter().map(|id| id.0 - tasks[0].id.0).collect()
            })
            .collect();
        assert_eq!(after, [vec![], vec![0], vec![0], vec![1, 2]]);
        // The tasks of the longest path have the slack that was asked for, the other one more.
        for place in [0, 2, 3] {
            assert_eq!(tasks[place].slack(), asked.slack());
        }
        let spare = durations[2] - durations[1];
        assert_eq!(tasks[1].slack(), asked.slack() + spare);
        assert_eq!(tasks[3].earliest, tasks[2].earliest + durations[2]);
        let longest = durations[0] + durations[2] + durations[3];
        assert_eq!(tasks[3].deadline, asked.earliest + longest + asked.slack());
    }
}
