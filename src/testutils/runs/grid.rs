//! Made-up runs of several clusters for the tests of this module and of the reports.

use std::sync::Arc;

use bookahead_core::random::StreamSeed;
use bookahead_core::scheduling::{JobOutcome, Verdict};
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{CoRequest, CoRequestId, FurtherCounts, Job, JobId, Preference};
use bookahead_grid::co_reservation::local::{
    ClusterId, FilterCounts, LocalTotals, PartOrder, PartOutcome, Precedence, Refusal,
};
use bookahead_grid::co_reservation::study::CoReservationSimulation;
use bookahead_grid::co_reservation::{
    AttemptFate, ClusterWorkload, CoAttempt, CoOutcome, CoReservationInputs, CoReservationRun,
    CoReservationSettings, CoVerdict, FreeCpus, MessageCounts, OfferBounds, ProbeCounts,
    RequestClass, TimeLine, TimeLineSample,
};
use bookahead_lab::study::SimulationResult;

/// Two weeks.
const STOP: Seconds = Seconds(1_209_600);

/// A plausible run with so many clusters and requests, of which those are granted that `granted`
/// says. Part CPUs and durations follow from the request's number: (10 + n, 20 + n) CPUs, 1,800 ·
/// (1 + n) seconds.
pub fn grid(clusters: u16, requests: u32, granted: impl Fn(u32) -> bool) -> SimulationResult {
    let inputs = CoReservationInputs {
        clusters: (0..clusters).map(cluster).collect(),
        requests: (0..requests).map(request).collect(),
        stop: STOP,
        estimates: None,
        failures: Arc::default(),
    };
    let outcomes: Vec<CoOutcome> = inputs
        .requests
        .iter()
        .map(|request| outcome(request, clusters, granted(request.id.0)))
        .collect();
    let jobs: Vec<JobOutcome> = inputs
        .clusters
        .iter()
        .flat_map(|cluster| cluster.jobs.iter())
        .map(ran)
        .collect();
    let mut run = CoReservationRun {
        parts: (0..clusters).map(|id| parts(&outcomes, id)).collect(),
        requests: outcomes,
        totals: (0..clusters)
            .map(|id| LocalTotals {
                job_work: NodeSeconds(700_000_000 + i64::from(id) * 10_000_000),
                part_work: NodeSeconds(90_000_000),
                drained: STOP + Seconds::HOUR * (10 + i64::from(id)),
                restarts: 0,
                lost_parts: u64::from(id == 1),
            })
            .collect(),
        time_lines: (0..clusters).map(time_line).collect(),
        jobs,
        ..CoReservationRun::default()
    };
    for outcome in &run.jobs {
        run.metrics.count(outcome);
    }
    let simulation = CoReservationSimulation {
        inputs: Arc::new(inputs),
        settings: CoReservationSettings::default(),
        seed: StreamSeed::default(),
    };
    simulation.result(run, true)
}

fn cluster(id: u16) -> ClusterWorkload {
    let first = u32::from(id) * 5;
    let jobs: Vec<Job> = (first..first + 5).map(background_job).collect();
    ClusterWorkload {
        nodes: Nodes(1_160),
        jobs: Arc::from(jobs),
        window_start: STOP * i64::from(id),
        accuracy: 0.25 + f64::from(id) / 16.0,
    }
}

fn background_job(id: u32) -> Job {
    let (submit, nodes) = (Seconds(i64::from(id % 5) * 20_000), Nodes(4 << (id % 8)));
    Job::rigid(JobId(id), submit, nodes, Seconds(7_200))
        .running_for(Seconds(3_600))
        .numbered(1_000 + i64::from(id))
}

fn ran(job: &Job) -> JobOutcome {
    let start = job.submit + Seconds(i64::from(job.id.0) * 500);
    JobOutcome {
        job: job.clone(),
        verdict: Verdict::SuccessfulFinished,
        class: None,
        promise: None,
        start: Some(start),
        end: Some(start + job.runtime),
        restarts: 0,
        node_failures: 0,
        execution: None,
        late: None,
    }
}

fn counts(licences: u32, storage_gb: u32) -> FurtherCounts {
    FurtherCounts {
        licences,
        storage_gb,
    }
}

fn request(id: u32) -> CoRequest {
    let submit = Seconds(i64::from(id) * 50_000);
    let duration = Seconds(1_800 * i64::from(1 + id));
    CoRequest {
        id: CoRequestId(id),
        trace_number: 1_000 + i64::from(id),
        user: None,
        submit,
        earliest: submit + Seconds(3_600),
        deadline: submit + Seconds(3_600 + 21_600) + duration,
        duration,
        parts: vec![Nodes(10 + id), Nodes(20 + id)],
        further: match id {
            6 => vec![FurtherCounts::NONE, counts(2, 300)],
            _ => Vec::new(),
        },
        preference: Preference::default(),
        task: None,
    }
}

fn outcome(request: &CoRequest, clusters: u16, granted: bool) -> CoOutcome {
    let id = request.id.0;
    let start = request.earliest + Seconds(1_080 * i64::from(id % 4));
    CoOutcome {
        verdict: if granted {
            CoVerdict::Granted
        } else {
            CoVerdict::ALL[1 + id as usize % 3]
        },
        answered: request.submit,
        start: granted.then_some(start),
        clusters: if granted {
            let first = u16::try_from(id).unwrap() % clusters;
            vec![ClusterId(first), ClusterId((first + 1) % clusters)]
        } else {
            Vec::new()
        },
        cost: granted.then_some(100.0 + f64::from(id)),
        pof: 0.0,
        messages: MessageCounts {
            probes: 2 * u32::from(clusters),
            granted: 2 + id % 2,
            refused: id % 3,
            cancelled: id % 2,
            timed_out: 0,
            probed_clusters: 0,
            second_rounds: 0,
            repeated: 0,
        },
        starts: 20,
        candidates: 240.0,
        worst_case: 400.0,
        bounds: granted.then_some(OfferBounds {
            earliest: request.earliest,
            latest: request.earliest + Seconds(20_520),
            cheapest: 90.0,
            dearest: 290.0,
        }),
        probes: (0..clusters)
            .map(|cluster| ProbeCounts {
                cluster: ClusterId(cluster),
                at: request.submit,
                counts: FilterCounts {
                    unfiltered: 40,
                    counting: 10 * (id % 4),
                    licences: if id == 6 { 5 } else { 0 },
                    storage: if id == 6 { 3 } else { 0 },
                    backlog: 10,
                    quota: 0,
                    exempt: 1,
                },
                backlog_now: Seconds(3_600 * i64::from(1 + cluster)),
                backlog_earliest: Seconds(5_400 * i64::from(1 + cluster)),
            })
            .collect(),
        free_cpus: (0..clusters)
            .map(|cluster| FreeCpus {
                cluster: ClusterId(cluster),
                start: request.earliest,
                free: Nodes(64 + id),
            })
            .collect(),
        waiting_before: 4,
        waiting_after: id % 5,
        class: RequestClass::Fixed,
        displacements: 0,
        lost_parts: u32::from(granted && id == 0),
        replaced_parts: 0,
        first_start: None,
        renegotiations: 0,
        improvements: 0,
        attempts: attempts(request, clusters, granted),
        request: request.clone(),
    }
}

/// As many orders as the messages say: what was refused, what was taken back, and what was
/// reserved.
fn attempts(request: &CoRequest, clusters: u16, granted: bool) -> Vec<CoAttempt> {
    let id = request.id.0;
    let refused = (0..id % 3).map(|_| AttemptFate::Refused(Refusal::Occupied));
    let cancelled = (0..id % 2).map(|_| AttemptFate::Cancelled);
    let reserved = (0..2 * u32::from(granted)).map(|_| AttemptFate::Reserved);
    let fates = refused.chain(cancelled).chain(reserved);
    fates
        .zip(0..)
        .map(|(fate, number)| CoAttempt {
            part: number % 2,
            cluster: ClusterId(number % clusters),
            nodes: request.parts[usize::from(number % 2)],
            start: request.earliest,
            duration: request.duration,
            sent: request.submit + Seconds(i64::from(number)),
            answered: Some(request.submit + Seconds(i64::from(number) + 1)),
            given_up: (fate == AttemptFate::Cancelled).then_some(request.submit + Seconds(9)),
            fate,
        })
        .collect()
}

fn parts(outcomes: &[CoOutcome], cluster: u16) -> Vec<PartOutcome> {
    let mut parts = Vec::new();
    for outcome in outcomes {
        let request = &outcome.request;
        for (part, place) in request.largest_first().into_iter().enumerate() {
            let Some(start) = outcome
                .start
                .filter(|_| outcome.clusters[place].0 == cluster)
            else {
                continue;
            };
            let lost = outcome.lost_parts > 0 && part == 0;
            parts.push(PartOutcome {
                order: PartOrder {
                    request: request.id,
                    order: part as u32,
                    part: part as u16,
                    nodes: request.parts[place],
                    further: FurtherCounts::NONE,
                    start,
                    duration: request.duration,
                    pof_limit: 0.0,
                    precedence: Precedence::Fixed,
                },
                gone: lost.then_some(start),
                lost,
            });
        }
    }
    parts
}

fn time_line(cluster: u16) -> TimeLine {
    TimeLine {
        cluster: ClusterId(cluster),
        samples: (0..=360)
            .map(|hour| TimeLineSample {
                time: Seconds::HOUR * hour,
                jobs: u32::from(cluster) + if hour < 340 { 900 } else { 360 - hour as u32 },
                parts: (hour % 24) as u32,
            })
            .collect(),
    }
}
