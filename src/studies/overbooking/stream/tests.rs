//! Each engine against the strategy of the registry whose schedule it makes, and against an obvious
//! twin.

use std::collections::BTreeMap;
use std::path::PathBuf;

use proptest::prelude::*;

use bookahead_core::predictions::UserIndex;
use bookahead_core::scheduling::stream::*;
use bookahead_core::units::Seconds;
use bookahead_core::workload::{CleaningRules, ParsedTrace, TraceFolder, clean, lublin_feitelson};

use super::*;

const MACHINE: Nodes = Nodes(8);

/// Starts by index; refused requests are not in it.
#[derive(Default)]
struct Starts(BTreeMap<u64, i64>);

impl Listener for Starts {
    fn started(&mut self, request: &StreamRequest, start: Seconds) {
        assert!(
            self.0.insert(request.index, start.0).is_none(),
            "one start a job"
        );
    }

    fn refused(&mut self, _request: &StreamRequest) {}
}

fn run(mut engine: impl StreamScheduler, requests: &[StreamRequest]) -> BTreeMap<u64, i64> {
    let mut starts = Starts::default();
    for request in requests {
        engine.submit(*request, &mut starts);
    }
    engine.finish(&mut starts);
    starts.0
}

fn job(request: &StreamRequest) -> Job {
    Job::rigid(
        JobId(request.index as u32),
        request.submit,
        request.nodes,
        request.estimate,
    )
    .running_for(request.runtime)
}

/// What the cluster with the strategy of that name makes of the same jobs.
fn of_cluster(strategy: &str, machine: Nodes, jobs: &[Job]) -> BTreeMap<u64, i64> {
    let settings = PolicySpec::named(strategy);
    let (_, outcomes) = simulate(machine, &settings, None, jobs, &FailureTrace::default())
        .expect("a registered strategy");
    outcomes
        .iter()
        .filter_map(|outcome| Some((u64::from(outcome.job.id.0), outcome.start?.0)))
        .collect()
}

fn requests() -> impl Strategy<Value = Vec<StreamRequest>> {
    let one = (0_i64..12, 1_u32..=8, 1_i64..40, 1_i64..=100);
    prop::collection::vec(one, 1..120).prop_map(|drawn| {
        let mut submit = 0;
        drawn
            .into_iter()
            .zip(0..)
            .map(|((gap, nodes, estimate, percent), index)| {
                // Many jobs in one second, and now and then a longer silence.
                submit += if gap < 4 { 0 } else { gap * gap / 8 };
                StreamRequest {
                    index,
                    submit: Seconds(submit),
                    nodes: Nodes(nodes),
                    user: UserIndex(0),
                    estimate: Seconds(estimate),
                    runtime: Seconds((estimate * percent / 100).max(1)),
                }
            })
            .collect()
    })
}

/// Many jobs at once, so that the queue is deep and one early end moves a whole chain: widths near
/// the machine's, few different estimates, many ends in one second.
fn deep_requests() -> impl Strategy<Value = Vec<StreamRequest>> {
    let one = (0_u32..10, 0_usize..4, 0_i64..5, 0_i64..25);
    (1_i64..60, prop::collection::vec(one, 20..90)).prop_map(|(unit, drawn)| {
        let mut submit = 0;
        drawn
            .into_iter()
            .zip(0..)
            .map(|((width, length, early, gap), index)| {
                submit += if gap < 22 { 0 } else { gap - 20 };
                let estimate = [1, unit, 2 * unit, 5 * unit][length];
                StreamRequest {
                    index,
                    submit: Seconds(submit),
                    nodes: Nodes([1, 2, 3, 4, 5, 5, 6, 7, 8, 8][width as usize]),
                    user: UserIndex(0),
                    estimate: Seconds(estimate),
                    runtime: Seconds(
                        [1, estimate, estimate / 2, estimate - 1, estimate][early as usize].max(1),
                    ),
                }
            })
            .collect()
    })
}

/// Blocks of equal jobs, most of one node, submitted at once: the queue is some hundred deep, and
/// neighbours are alike.
fn blocks_of_requests() -> impl Strategy<Value = Vec<StreamRequest>> {
    let block = (
        1_usize..16,
        0_usize..8,
        0_usize..5,
        0_i64..25,
        any::<[u8; 16]>(),
    );
    (1_i64..30, prop::collection::vec(block, 4..24)).prop_map(|(unit, blocks)| {
        let mut submit = 0;
        let mut requests = Vec::new();
        for (size, width, length, gap, early) in blocks {
            submit += if gap < 20 { 0 } else { gap };
            let estimate = [1, unit, 2 * unit, 3 * unit + 1, 7 * unit][length];
            requests.extend(early[..size].iter().zip(requests.len() as u64..).map(
                |(early, index)| StreamRequest {
                    index,
                    submit: Seconds(submit),
                    nodes: Nodes([1, 1, 1, 1, 2, 3, 4, 7][width]),
                    user: UserIndex(0),
                    estimate: Seconds(estimate),
                    runtime: Seconds((estimate * i64::from(*early) / 255).max(1)),
                },
            ));
        }
        requests
    })
}

fn exact(requests: &[StreamRequest]) -> Vec<StreamRequest> {
    requests
        .iter()
        .map(|request| StreamRequest {
            estimate: request.runtime,
            ..*request
        })
        .collect()
}

/// Free nodes of every second, for ever.
struct EverySecond(Vec<i64>);

impl EverySecond {
    fn free(&self, time: i64) -> i64 {
        self.0
            .get(time as usize)
            .copied()
            .unwrap_or(i64::from(MACHINE.0))
    }

    fn add(&mut self, from: i64, to: i64, nodes: i64) {
        if self.0.len() < to as usize {
            self.0.resize(to as usize, i64::from(MACHINE.0));
        }
        for free in &mut self.0[from as usize..to as usize] {
            *free += nodes;
        }
    }

    fn holds(&self, start: i64, request: &StreamRequest) -> bool {
        let nodes = i64::from(request.nodes.0);
        (start..start + request.estimate.0).all(|time| self.free(time) >= nodes)
    }
}

fn width(request: &StreamRequest) -> i64 {
    i64::from(request.nodes.0)
}

/// Conservative backfilling second by second: at each second jobs that have run their time give the
/// rest back one after the other (whoever started first, first; of those, whoever was planned
/// first), each time all planned jobs are put back in order of their starts, then jobs start, then
/// jobs arrive.
fn slow_conservative(requests: &[StreamRequest]) -> BTreeMap<u64, i64> {
    let mut free = EverySecond(Vec::new());
    // (start, index, when it was planned) of planned jobs; (started, index) of running ones in
    // order of their starts.
    let mut planned: Vec<(i64, usize, usize)> = Vec::new();
    let mut running: Vec<(i64, usize)> = Vec::new();
    let mut starts = BTreeMap::new();
    let mut plans = 0;
    let mut arrived = 0;
    let mut now = 0;
    while arrived < requests.len() || !planned.is_empty() || !running.is_empty() {
        let ended: Vec<(i64, usize)> = running
            .iter()
            .copied()
            .filter(|&(start, index)| start + requests[index].runtime.0 == now)
            .collect();
        for (start, index) in ended {
            running.retain(|other| *other != (start, index));
            let request = &requests[index];
            if request.runtime == request.estimate {
                continue;
            }
            free.add(now, start + request.estimate.0, width(request));
            planned.sort_unstable();
            for place in &mut planned {
                let request = &requests[place.1];
                let (old, length) = (place.0, request.estimate.0);
                free.add(old, old + length, width(request));
                let start = (now..=old)
                    .find(|&start| free.holds(start, request))
                    .expect("where it was it fits");
                free.add(start, start + length, -width(request));
                if start != old {
                    plans += 1;
                    (place.0, place.2) = (start, plans);
                }
            }
        }
        planned.sort_unstable_by_key(|place| place.2);
        for place in planned.extract_if(.., |place| place.0 == now) {
            running.push((now, place.1));
            starts.insert(place.1 as u64, now);
        }
        while arrived < requests.len() && requests[arrived].submit.0 == now {
            let request = &requests[arrived];
            let start = (now..)
                .find(|&start| free.holds(start, request))
                .expect("some day");
            free.add(start, start + request.estimate.0, -width(request));
            if start == now {
                running.push((now, arrived));
                starts.insert(arrived as u64, now);
            } else {
                plans += 1;
                planned.push((start, arrived, plans));
            }
            arrived += 1;
        }
        now += 1;
    }
    starts
}

/// EASY second by second, with a list of jobs that wait.
fn slow_easy(requests: &[StreamRequest]) -> BTreeMap<u64, i64> {
    let mut queue: Vec<usize> = Vec::new();
    let mut running: Vec<(i64, usize)> = Vec::new();
    let mut starts = BTreeMap::new();
    let mut arrived = 0;
    let mut now = 0;
    while arrived < requests.len() || !queue.is_empty() || !running.is_empty() {
        running.retain(|&(start, index)| start + requests[index].runtime.0 > now);
        while arrived < requests.len() && requests[arrived].submit.0 == now {
            queue.push(arrived);
            arrived += 1;
        }
        let mut head_waits = None;
        let mut index = 0;
        while index < queue.len() {
            let request = &requests[queue[index]];
            let held = |time: i64, running: &[(i64, usize)]| -> i64 {
                running
                    .iter()
                    .filter(|&&(start, other)| start + requests[other].estimate.0 > time)
                    .map(|&(_, other)| width(&requests[other]))
                    .sum()
            };
            let machine = i64::from(MACHINE.0);
            let fits_now = held(now, &running) + width(request) <= machine;
            let leaves_the_head_alone = match head_waits {
                None => true,
                Some((shadow, head)) => {
                    now + request.estimate.0 <= shadow
                        || held(shadow, &running) + head + width(request) <= machine
                }
            };
            if fits_now && leaves_the_head_alone {
                running.push((now, queue[index]));
                starts.insert(queue[index] as u64, now);
                queue.remove(index);
                continue;
            }
            if head_waits.is_none() {
                let shadow = (now..)
                    .find(|&time| held(time, &running) + width(request) <= machine)
                    .expect("some day");
                head_waits = Some((shadow, width(request)));
            }
            index += 1;
        }
        now += 1;
    }
    starts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn easy_makes_the_schedule_of_the_cluster_and_of_the_slow_twin(requests in requests()) {
        let fast = run(EasyStream::new(MACHINE), &requests);
        let jobs: Vec<Job> = requests.iter().map(job).collect();
        prop_assert_eq!(&fast, &slow_easy(&requests));
        prop_assert_eq!(&fast, &of_cluster("easy-backfilling", MACHINE, &jobs));
    }

    #[test]
    fn conservative_makes_the_schedule_of_the_cluster_and_of_the_slow_twin(requests in requests()) {
        let fast = run(ConservativeStream::new(MACHINE), &requests);
        let jobs: Vec<Job> = requests.iter().map(job).collect();
        prop_assert_eq!(&fast, &slow_conservative(&requests));
        prop_assert_eq!(&fast, &of_cluster("heuristic-planning", MACHINE, &jobs));
    }

    #[test]
    fn chains_of_jobs_move_as_one_by_one(requests in deep_requests()) {
        let fast = run(ConservativeStream::new(MACHINE), &requests);
        prop_assert_eq!(&fast, &slow_conservative(&requests));
        let fast = run(EasyStream::new(MACHINE), &requests);
        prop_assert_eq!(&fast, &slow_easy(&requests));
    }

    #[test]
    fn blocks_of_equal_jobs_move_as_one_by_one(requests in blocks_of_requests()) {
        let fast = run(ConservativeStream::new(MACHINE), &requests);
        prop_assert_eq!(&fast, &slow_conservative(&requests));
    }

    #[test]
    fn exact_estimates_make_the_schedule_that_events_make(requests in requests()) {
        let requests = exact(&requests);
        let fast = run(ExactStream::new(MACHINE), &requests);
        prop_assert_eq!(&fast, &slow_conservative(&requests));
        prop_assert_eq!(&fast, &run(ConservativeStream::new(MACHINE), &requests));
    }

    #[test]
    fn reservations_are_granted_as_by_the_cluster(requests in requests(), lead in 0_i64..30) {
        let lead = Seconds(lead);
        let fast = run(ReservationStream::new(MACHINE, lead), &requests);
        let jobs: Vec<Job> = requests
            .iter()
            .map(|request| job(request).into_reservation(request.submit + lead))
            .collect();
        prop_assert_eq!(&fast, &of_cluster("heuristic-planning", MACHINE, &jobs));
        let mut free = EverySecond(Vec::new());
        let mut granted = BTreeMap::new();
        for request in &requests {
            // What ended until now is free from its end on.
            let start = request.submit + lead;
            let mut now = EverySecond(free.0.clone());
            for (&index, &start) in &granted {
                let other: &StreamRequest = &requests[index as usize];
                let end = start + other.runtime.0;
                if end <= request.submit.0 {
                    now.add(end, start + other.estimate.0, width(other));
                }
            }
            if now.holds(start.0, request) {
                free.add(start.0, start.0 + request.estimate.0, -width(request));
                granted.insert(request.index, start.0);
            }
        }
        prop_assert_eq!(&fast, &granted);
    }
}

fn request(job: &Job, index: u64) -> StreamRequest {
    let runtime = job.runtime.min(job.estimate);
    StreamRequest {
        index,
        submit: job.submit,
        nodes: job.nodes,
        user: UserIndex(0),
        estimate: job.estimate,
        runtime,
    }
}

/// All engines against the cluster on the usable jobs of a trace that fit the machine.
fn compare_on(trace: &ParsedTrace, machine: Nodes, most: usize) {
    let usable = clean(trace, &CleaningRules::default(), machine).jobs;
    let requests: Vec<StreamRequest> = usable
        .iter()
        .filter(|job| job.nodes <= machine)
        .take(most)
        .zip(0..)
        .map(|(job, index)| request(job, index))
        .collect();
    let jobs: Vec<Job> = requests.iter().map(job).collect();
    let easy = run(EasyStream::new(machine), &requests);
    assert!(easy == of_cluster("easy-backfilling", machine, &jobs));
    let conservative = run(ConservativeStream::new(machine), &requests);
    assert!(conservative == of_cluster("heuristic-planning", machine, &jobs));
    let lead = Seconds::HOUR;
    let reserved: Vec<Job> = jobs
        .iter()
        .map(|job| job.clone().into_reservation(job.submit + lead))
        .collect();
    let granted = run(ReservationStream::new(machine, lead), &requests);
    assert!(granted == of_cluster("heuristic-planning", machine, &reserved));
    let requests = exact(&requests);
    let jobs: Vec<Job> = requests.iter().map(job).collect();
    let easy = run(EasyStream::new(machine), &requests);
    assert!(easy == of_cluster("easy-backfilling", machine, &jobs));
    let planned = run(ExactStream::new(machine), &requests);
    assert!(planned == of_cluster("heuristic-planning", machine, &jobs));
}

#[test]
fn engines_and_cluster_agree_job_by_job_on_an_overloaded_model_whose_plan_fills_many_blocks() {
    // 64 nodes for what was made for 128: the queue grows to the end.
    let trace = lublin_feitelson::generate(6_000, Nodes(64), 3, 0).unwrap();
    let mut records = trace.records.clone();
    for record in &mut records {
        record.submit /= 4;
    }
    let trace = ParsedTrace::from_records(trace.label, trace.provenance, trace.header, records);
    compare_on(&trace, Nodes(64), 1_500);
    let usable = clean(&trace, &CleaningRules::default(), Nodes(64)).jobs;
    let requests: Vec<StreamRequest> = usable
        .iter()
        .zip(0..)
        .map(|(job, index)| request(job, index))
        .collect();
    let requests = exact(&requests);
    let planned = run(ExactStream::new(Nodes(64)), &requests);
    assert!(planned == run(ConservativeStream::new(Nodes(64)), &requests));
}

#[test]
fn engines_and_cluster_agree_job_by_job_on_the_ctc_log() {
    let Some(path) = std::env::var_os(TraceFolder::VARIABLE) else {
        println!("skipped: this test needs the folder of traces that BOOKAHEAD_TRACES names");
        return;
    };
    let folder = TraceFolder {
        path: Some(PathBuf::from(path)),
        ..TraceFolder::default()
    };
    let file = folder.find("CTC-SP2-1996-3.1-cln.swf").unwrap();
    let trace = ParsedTrace::read(&file).unwrap();
    compare_on(&trace, Nodes(338), usize::MAX);
}
