//! How long it takes to plan a workflow: `cargo bench --bench provisioning`, with the CTC log in
//! the folder that `BOOKAHEAD_TRACES` names. One thread; times are processor times where the system
//! tells them. Names after `--` choose rows: `genetic`, `unmerged`, `seismic`, `greedy`. What the
//! rows mean stands in `benches/README.md`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use bookahead::plan::{SlotList, SlotRules};
use bookahead::random;
use bookahead::units::{Nodes, Seconds};
use bookahead::workload::workflows::heft::{order_by_rank, ranks};
use bookahead::workload::workflows::{
    CyberShakeSettings, Network, SyntheticSettings, Workflow, cyber_shake, synthetic,
};
use bookahead::workload::{
    CopyShift, Job, RequestId, ReservationRequest, TraceCopy, TraceFolder, WantedStart, WholeTrace,
    WorkloadSettings, WorkloadSource, prepare,
};
use bookahead_reservations::replanning::{
    Admission, Displacement, ReplanningMachine, ReplanningSettings,
};
use bookahead_reservations::selection;
use bookahead_workflows::provisioning::{
    Advertised, Application, ApplicationTask, Dependency, Evaluator, Genetic, GeneticSettings,
    TaskPlacement, moga, nsga2,
};

const NODES: Nodes = Nodes(430);
const DAY: i64 = 24 * 3_600;

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let asked = |row: &str| wanted.is_empty() || wanted.iter().any(|word| word == row);
    let network = Network::default();
    let mut stream = random::stream(2008, "bench", 0, "workflow");
    let layered = synthetic(&SyntheticSettings::default(), &mut stream);
    let layered = application(&layered.expect("the defaults are possible"), &network);
    let seismic = cyber_shake(&CyberShakeSettings::default(), &mut stream);
    let seismic = application(&seismic.expect("the defaults are possible"), &network);
    println!("copied  rows");
    for percent in [0.0, 20.0, 45.0] {
        let Some(jobs) = jobs(percent) else {
            println!("not measured: no CTC log in BOOKAHEAD_TRACES");
            return;
        };
        for day in [12, 20, 27] {
            let now = Seconds(day * DAY + 40_000);
            for merged in [true, false] {
                let slots = slots(&jobs, now, merged);
                let at = format!("{percent:3.0} %, day {day}, {:4} slots", slots.len());
                if asked(if merged { "genetic" } else { "unmerged" }) {
                    searches(&at, "layered", &layered, &slots, now, 9);
                }
                if merged && asked("seismic") {
                    searches(&at, "seismic", &seismic, &slots, now, 1);
                }
            }
            if asked("greedy") {
                greedily(&jobs, now, percent, &seismic, &layered);
            }
        }
    }
}

fn searches(
    at: &str,
    name: &str,
    application: &Application,
    slots: &[Advertised],
    now: Seconds,
    samples: usize,
) {
    let settings = GeneticSettings::default();
    let mut evaluator = Evaluator::new(application, slots, now);
    let all = vec![true; slots.len()];
    let once = median(samples.max(5), || evaluator.evaluate(&all));
    let search = |search: fn(&mut Evaluator<'_>, &_, &mut _) -> _| {
        let mut front = 0;
        let time = median(samples, || {
            let mut evaluator = Evaluator::new(application, slots, now);
            let mut stream = random::stream(2008, "bench", 0, "search");
            let found: Genetic = search(&mut evaluator, &settings, &mut stream);
            front = found.front.members().len();
        });
        (time, front)
    };
    let (thesis, front) = search(moga);
    let (newer, _) = search(nsga2);
    println!(
        "{at}: {name}: all slots {:.3} ms, MOGA {:.1} ms ({front} in its front), NSGA-II {:.1} ms",
        millis(once),
        millis(thesis),
        millis(newer)
    );
}

fn greedily(
    jobs: &[Job],
    now: Seconds,
    percent: f64,
    seismic: &Application,
    layered: &Application,
) {
    let machine = snapshot(jobs, now);
    for (name, application) in [("layered", layered), ("seismic", seismic)] {
        for alpha in [0.0, 0.5, 1.0] {
            let begun = cpu();
            let (offers, makespan) = provision(application, machine.clone(), alpha);
            let time = cpu() - begun;
            println!(
                "{percent:3.0} %, {} h, {} waiting: greedy {name} α = {alpha}: {:.0} ms, {offers} offers, {makespan}",
                now.0 / 3_600,
                machine.policy().queue().len(),
                millis(time),
            );
        }
    }
}

/// What the greedy search asks of one site: a list of offers for each task, and the one that α
/// picks is booked (ALG-7: Singh 2008, Figure 51).
fn provision(
    application: &Application,
    mut machine: ReplanningMachine,
    alpha: f64,
) -> (usize, Seconds) {
    let now = machine.cluster().now();
    let nowhere = TaskPlacement {
        site: 0,
        start: now,
        end: now,
    };
    let mut placed = vec![nowhere; application.tasks().len()];
    let mut asked = 0;
    for (id, &task) in (1..).zip(application.order()) {
        let needs = &application.tasks()[task];
        let duration = needs.runtimes[0];
        let earliest = application.earliest(task, 0, now, |parent| {
            (placed[parent].site, placed[parent].end)
        });
        let offers = machine.plan().offers(earliest, needs.nodes, duration);
        asked += offers.len();
        let values = offers
            .iter()
            .map(|offer| (offer.price.0 as f64, offer.start.0 as f64));
        let chosen = selection::choose(values, alpha).expect("no task is wider than the machine");
        let start = offers[chosen].start;
        machine.request([ReservationRequest {
            id: RequestId(id),
            trace_number: 0,
            user: None,
            submit: now,
            nodes: needs.nodes,
            duration,
            runtime: duration,
            wanted: WantedStart::At(start),
        }]);
        machine.advance(now + Seconds(1));
        placed[task] = TaskPlacement {
            site: 0,
            start,
            end: start + duration,
        };
    }
    let finish = placed.iter().map(|placed| placed.end).max();
    (asked, finish.unwrap_or(now) - now)
}

/// Jobs of the first 30 days, as the evaluation of prices raises their load.
fn jobs(percent: f64) -> Option<Vec<Job>> {
    let settings = WorkloadSettings {
        whole: Some(WholeTrace {
            days: Some(30.0),
            copy: Some(TraceCopy {
                percent,
                shift: CopyShift::WithinADay,
            }),
            exact_estimates: true,
            ..WholeTrace::default()
        }),
        ..WorkloadSettings::of(
            WorkloadSource::Trace {
                file: "CTC-SP2-1996-3.1-cln.swf".to_owned(),
            },
            NODES,
        )
    };
    let folder = TraceFolder {
        path: std::env::var_os("BOOKAHEAD_TRACES").map(Into::into),
        ..TraceFolder::default()
    };
    let workload = prepare(&settings, &folder, 2008).ok()?;
    Some(workload.batteries[0].to_vec())
}

/// What free rectangles advertise when everything that was submitted before `now` has been placed
/// on them.
fn slots(jobs: &[Job], now: Seconds, merge_identical: bool) -> Vec<Advertised> {
    let rules = SlotRules {
        merge_identical,
        ..SlotRules::default()
    };
    let mut list = SlotList::new(NODES, Seconds::ZERO, rules);
    for job in jobs.iter().filter(|job| job.submit < now) {
        list.clip(job.submit);
        list.place(job.nodes, job.runtime.min(job.estimate), job.submit);
    }
    list.clip(now);
    let advertised = list.advertised(now, list.horizon_end(now));
    let advertised = advertised.into_iter();
    advertised
        .map(|slot| Advertised { site: 0, slot })
        .collect()
}

/// The machine that answers queries, at `now`.
fn snapshot(jobs: &[Job], now: Seconds) -> ReplanningMachine {
    let mut machine = ReplanningMachine::replanning(
        NODES,
        ReplanningSettings {
            admission: Admission::MovePrice,
            displacement: Displacement::Skip,
            ..ReplanningSettings::default()
        },
    );
    machine.submit(jobs.iter().filter(|job| job.submit < now).cloned());
    machine.wait_until(now);
    machine
}

fn application(workflow: &Workflow, network: &Network) -> Application {
    let tasks = workflow.tasks().iter().map(|task| ApplicationTask {
        nodes: task.nodes,
        runtimes: vec![task.whole_seconds_on(0).max(Seconds(1))],
        parents: Vec::new(),
    });
    let mut tasks: Vec<ApplicationTask> = tasks.collect();
    for edge in workflow.edges() {
        tasks[edge.child.index()].parents.push(Dependency {
            parent: edge.parent.index(),
            transfer: Seconds::ZERO,
        });
    }
    let ranks = ranks(workflow, 1, network).expect("one resource and the default network");
    let order = order_by_rank(workflow, &ranks);
    Application::new(tasks, order.into_iter().map(|id| id.index()).collect())
}

/// The median of several samples; each is repeated until the clock, which ticks every few
/// milliseconds, can tell.
fn median<T>(samples: usize, mut work: impl FnMut() -> T) -> Duration {
    let mut times: Vec<Duration> = (0..samples)
        .map(|_| {
            let begun = cpu();
            let mut rounds = 0;
            loop {
                black_box(work());
                rounds += 1;
                let time = cpu() - begun;
                if time >= Duration::from_millis(100) {
                    return time / rounds;
                }
            }
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// Processor time of this thread where the system tells it, else time on the clock.
fn cpu() -> Duration {
    static BEGUN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanos.map_or_else(
        || BEGUN.get_or_init(Instant::now).elapsed(),
        Duration::from_nanos,
    )
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
