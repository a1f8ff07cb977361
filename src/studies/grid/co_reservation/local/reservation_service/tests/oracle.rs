//! The machine and its obvious twin, side by side, on drawn jobs, messages and failures.

use proptest::prelude::*;

use super::twin::{END, Message, Owner, Seen, Twin};
use super::*;
use crate::co_reservation::local::{
    AccuracySource, AccuracyWindow, BacklogWork, HourEdge, JobMixSettings, LookAhead,
    NextEventSource, QuotaPeriod, Tariff,
};

/// Both machines, side by side, second by second.
fn agree(
    nodes: u32,
    settings: &LocalSettings,
    accuracy: f64,
    jobs: &[Job],
    messages: &[(i64, Message)],
) -> Result<(), TestCaseError> {
    let cluster = ClusterId(3);
    let stop = Seconds(60);
    let mut machine = PlainCluster::new(cluster, Nodes(nodes), accuracy, stop, settings.clone());
    machine.submit(jobs);
    let mut twin = Twin {
        settings: settings.clone(),
        cluster,
        now: 0,
        cpus: vec![Owner::Nobody; nodes as usize],
        down: vec![false; nodes as usize],
        up: true,
        queue: Vec::new(),
        running: Vec::new(),
        parts: Vec::new(),
        void: BTreeSet::new(),
        lost: BTreeSet::new(),
        accuracies: vec![accuracy],
        ended: Vec::new(),
        lives: Vec::new(),
        restarts: vec![0; 100],
        ended_parts: Vec::new(),
        use_over_time: Vec::new(),
    };
    for second in 0..END {
        twin.now = second;
        let now: Vec<_> = messages
            .iter()
            .filter(|(time, _)| *time == second)
            .collect();
        let repairs = |message: &Message| {
            matches!(
                message,
                Message::Outage(OutageEvent::ClusterUp | OutageEvent::NodesUp { .. })
            )
        };
        for (_, message) in now.iter().filter(|(_, message)| repairs(message)) {
            twin.hear(message);
            hear(&mut machine, second, message);
        }
        twin.settle();
        machine.settle(Seconds(second));
        for (_, message) in now.iter().filter(|(_, message)| !repairs(message)) {
            let expected = twin.hear(message);
            let seen = hear(&mut machine, second, message);
            prop_assert_eq!(seen, expected, "at {} {:?}", second, message);
        }
        for job in jobs.iter().filter(|job| job.submit.0 == second) {
            if job.nodes.0 <= nodes {
                twin.queue.push(job.clone());
                twin.queue.sort_by_key(|job| (job.submit, job.id));
            }
        }
        twin.settle();
        machine.advance(Seconds(second + 1));
        let count = |wanted: fn(&Owner) -> bool| twin.cpus.iter().filter(|cpu| wanted(cpu)).count();
        let used = (
            count(|owner| matches!(owner, Owner::Job(_))) as u32,
            count(|owner| matches!(owner, Owner::Part(_))) as u32,
        );
        let in_use = machine.in_use();
        prop_assert_eq!((in_use.jobs, in_use.parts), used, "at {}", second);
        prop_assert!(used.0 + used.1 <= nodes);
        let [licences, storage] = twin.further_held(second);
        let most = settings.further;
        prop_assert!(licences <= most.licences && storage <= most.storage_gb);
        twin.use_over_time.push(used);
        let waiting: Vec<JobId> = machine.queue();
        let expected: Vec<JobId> = twin.queue.iter().map(|job| job.id).collect();
        prop_assert_eq!(waiting, expected, "at {}", second);
        if machine.is_idle() && second > 150 {
            break;
        }
    }
    machine.settle(Seconds(END));
    let jobs_ended = machine.take_job_outcomes().into_iter();
    let lives: Vec<_> = jobs_ended
        .filter(|outcome| !outcome.verdict.is_dropped())
        .map(|outcome| {
            let [start, end] = [outcome.start, outcome.end].map(|time| time.unwrap().0);
            (outcome.job.id.0, start, end, outcome.restarts)
        })
        .collect();
    prop_assert_eq!(&lives, &twin.lives);
    let parts: Vec<_> = machine
        .take_part_outcomes()
        .iter()
        .map(|part| {
            (
                part.order.request.0,
                part.gone.map(|gone| gone.0),
                part.lost,
            )
        })
        .collect();
    prop_assert_eq!(parts, twin.ended_parts);
    let before_stop = &twin.use_over_time[..60];
    let totals = machine.totals();
    let work = |of: fn(&(u32, u32)) -> u32| before_stop.iter().map(of).sum::<u32>();
    prop_assert_eq!(totals.job_work.0, i64::from(work(|used| used.0)));
    prop_assert_eq!(totals.part_work.0, i64::from(work(|used| used.1)));
    prop_assert_eq!(totals.lost_parts as usize, twin.lost.len());
    prop_assert_eq!(
        totals.restarts,
        u64::from(twin.restarts.iter().sum::<u32>())
    );
    Ok(())
}

fn hear(machine: &mut PlainCluster, now: i64, message: &Message) -> Seen {
    let now = Seconds(now);
    match message {
        Message::Probe(probe) => Seen::Answer(Box::new(machine.probe(now, probe))),
        Message::Reserve(order) => Seen::Reserved(machine.reserve(now, order)),
        Message::Cancel(request) => Seen::Cancelled(machine.cancel(now, CoRequestId(*request), 0)),
        Message::Outage(outage) => {
            machine.apply_outage(now, *outage);
            Seen::OutageApplied
        }
    }
}

prop_compose! {
    /// Jobs of a machine of 8 CPUs, a few of them too wide, ids not from 0.
    pub(super) fn jobs()(shapes in prop::collection::vec((0_i64..60, 1_u32..=9, 1_i64..25, 0_i64..30), 0..24)) -> Vec<Job> {
        let mut shapes = shapes;
        shapes.sort_by_key(|shape| shape.0);
        (20..)
            .zip(shapes)
            .map(|(id, (submit, nodes, estimate, runtime))| {
                // Wide jobs are rarer than narrow ones.
                let nodes = if nodes < 9 { nodes.div_ceil(1 + id % 2) } else { nodes };
                let user = (id % 3 > 0).then_some(i64::from(id / 8));
                Job {
                    user,
                    ..job(id, submit, nodes, estimate, runtime)
                }
            })
            .collect()
    }
}

pub(super) fn filters() -> impl Strategy<Value = ProbeFilters> {
    (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(counting, backlog, exact_limits, backfill)| ProbeFilters {
            counting,
            backlog,
            exact_limits,
            backfill,
        },
    )
}

/// What a part needs beside CPUs: below so many licences, and ten times as many GB.
fn further(below: u32) -> impl Strategy<Value = FurtherCounts> {
    (0..below, 0..below).prop_map(|(licences, tens)| FurtherCounts {
        licences,
        storage_gb: 10 * tens,
    })
}

fn probes(now: i64) -> impl Strategy<Value = Message> {
    (
        1_i64..25,
        prop::collection::vec((1_u32..=9, further(4)), 1..4),
        -5_i64..20,
        1_i64..9,
        1_i64..8,
        filters(),
    )
        .prop_map(move |(duration, mut parts, first, step, count, filters)| {
            parts.sort_by_key(|&(nodes, _)| std::cmp::Reverse(nodes));
            let (parts, further): (Vec<u32>, Vec<_>) = parts.into_iter().unzip();
            let starts: Vec<i64> = (0..count).map(|index| now + first + index * step).collect();
            Message::Probe(Probe {
                further,
                ..query(duration, &parts, &starts, filters)
            })
        })
}

/// Messages in order of time; orders are numbered by their place, and cancellations name any of
/// them, sometimes before it comes, and some orders are repeated.
pub(super) fn messages(failures: bool) -> impl Strategy<Value = Vec<(i64, Message)>> {
    let one = (
        0_i64..110,
        0_u32..100,
        0_u32..14,
        1_i64..25,
        0_i64..40,
        (1_u32..=6, further(3)),
    )
        .prop_flat_map(|(now, kind, request, duration, lead, (nodes, further))| {
            probes(now).prop_map(move |probe| {
                let order = PartOrder {
                    further,
                    ..part(request, now - 1 + lead, duration, nodes)
                };
                (now, kind, request, order, probe)
            })
        });
    prop::collection::vec(one, 0..40).prop_map(move |raw| {
        let mut orders: Vec<Option<PartOrder>> = vec![None; 14];
        let mut raw = raw;
        raw.sort_by_key(|(now, ..)| *now);
        raw.into_iter()
            .filter_map(|(now, kind, request, order, probe)| {
                let cpu = (order.nodes.0 + request) % 8;
                let count = order.nodes.0.min(8 - cpu);
                let message = match kind {
                    0..30 => probe,
                    30..70 => {
                        // An order has one content however often it comes.
                        let known = orders[request as usize].get_or_insert(order);
                        Message::Reserve(*known)
                    }
                    70..82 => Message::Cancel(request),
                    _ if !failures => return None,
                    82..85 => Message::Outage(OutageEvent::ClusterDown),
                    85..89 => Message::Outage(OutageEvent::ClusterUp),
                    89..94 => Message::Outage(OutageEvent::NodesDown { first: cpu, count }),
                    _ => Message::Outage(OutageEvent::NodesUp { first: cpu, count }),
                };
                Some((now, message))
            })
            .chain(failures.then_some((115, Message::Outage(OutageEvent::ClusterUp))))
            .chain(failures.then_some((
                115,
                Message::Outage(OutageEvent::NodesUp { first: 0, count: 8 }),
            )))
            .collect()
    })
}

pub(super) fn settings() -> impl Strategy<Value = LocalSettings> {
    let backfilling = prop::sample::select(vec![
        Backfilling::Aggressive,
        Backfilling::Conservative,
        Backfilling::None,
    ]);
    let tariff = prop::sample::select(vec![
        Tariff::DayNightCheapWeekends,
        Tariff::DayNight,
        Tariff::Flat,
        Tariff::Example,
    ]);
    (
        backfilling,
        (
            any::<bool>(),
            prop::sample::select(vec![
                BacklogWork::Full,
                BacklogWork::Remaining,
                BacklogWork::Planned,
            ]),
            prop::sample::select(vec![
                AccuracySource::History,
                AccuracySource::Running,
                AccuracySource::Category,
            ]),
            any::<bool>(),
            any::<bool>(),
        ),
        prop::sample::select(vec![1.0, 0.5, 0.25, 2.0]),
        prop::sample::select(vec![None, Some(0.25), Some(0.5), Some(0.7)]),
        (
            tariff,
            1_u32..5,
            prop::collection::vec(quota_period(), 0..3),
        ),
        (
            0_i64..WEEK_SECONDS,
            5_u32..9,
            prop::sample::select(vec![0, 2, 3, 20]),
            prop::sample::select(vec![0, 20, 30, 200]),
        ),
    )
        .prop_map(
            |(
                backfilling,
                (visible, work, accuracy, true_ends, inclusive),
                factor,
                quota,
                (tariff, events, quota_periods),
                (origin, window, licences, storage_gb),
            )| {
                LocalSettings {
                    backfilling,
                    planned_visible: visible,
                    backlog_work: work,
                    accuracy: match (work, accuracy) {
                        // Refused where files are read.
                        (BacklogWork::Planned, AccuracySource::Category) => AccuracySource::History,
                        (_, accuracy) => accuracy,
                    },
                    accuracy_window: AccuracyWindow(window),
                    accuracy_factor: factor,
                    next_event: if true_ends {
                        NextEventSource::Oracle
                    } else {
                        NextEventSource::Estimate
                    },
                    look_ahead: LookAhead(events),
                    quota,
                    quota_periods,
                    partition: None,
                    further: FurtherCounts {
                        licences,
                        storage_gb,
                    },
                    job_mix: JobMixSettings::default(),
                    tariff,
                    hour_edge: if inclusive {
                        HourEdge::Inclusive
                    } else {
                        HourEdge::HalfOpen
                    },
                    calendar_origin: Seconds(origin),
                }
            },
        )
}

fn quota_period() -> impl Strategy<Value = QuotaPeriod> {
    let clusters = prop::sample::select(vec![vec![], vec![3], vec![2]]);
    let share = prop::sample::select(vec![0.0, 0.25, 0.5, 1.0]);
    (0_i64..120, 1_i64..60, share, 0_i64..80, clusters).prop_map(
        |(start, length, share, announced, clusters)| QuotaPeriod {
            start: Seconds(start),
            end: Seconds(start + length),
            share,
            announced: Seconds(announced),
            clusters,
        },
    )
}

const WEEK_SECONDS: i64 = crate::co_reservation::local::WEEK.0;

proptest! {
    #[test]
    fn the_machine_agrees_with_a_plan_of_every_second(
        settings in settings(),
        accuracy in prop::sample::select(vec![0.25, 0.5, 0.375, 1.0]),
        jobs in jobs(),
        messages in messages(false),
    ) {
        agree(8, &settings, accuracy, &jobs, &messages)?;
    }

    #[test]
    fn the_machine_agrees_with_a_plan_of_every_second_while_things_fail(
        settings in settings(),
        accuracy in prop::sample::select(vec![0.25, 0.5, 0.375, 1.0]),
        jobs in jobs(),
        messages in messages(true),
    ) {
        agree(8, &settings, accuracy, &jobs, &messages)?;
    }
}
