//! Made-up runs of provisioning for the tests of this module and of the reports.

use std::sync::Arc;

use super::finished;
use bookahead_core::plan::Slot;
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::workflows::{SyntheticSettings, synthetic};
use bookahead_core::workload::{Job, JobId};
use bookahead_lab::store::FinishedSimulation;
use bookahead_lab::study::StudySpec;
use bookahead_lab::sweep::Point;
use bookahead_workflows::provisioning::study::provisioning_result;
use bookahead_workflows::provisioning::study::{ProvisionedSettings, ProvisioningStudy};
use bookahead_workflows::provisioning::{
    Advertised, Application, ApplicationTask, Background, BestEffortOutcome, BoughtSlot,
    Dependency, EffectOnOthers, FrontMember, PlanValue, PriceSample, ProvisioningInputs,
    ProvisioningOutcome, ProvisioningRun, ProvisioningSettings, Realised, SearchMethod, SiteLoad,
    SiteWorkload, TaskFate, TaskRun, Users, Wish,
};

/// Costs of the front by hours of its makespan: NSGA-II finds each plan 1 SU cheaper, but none
/// below best effort.
const FRONT: [(f64, i64); 4] = [(20.0, 3), (16.0, 4), (13.0, 6), (11.0, 7)];

/// One submission of two tasks, 2 nodes for 1 h and 4 nodes for 2 h, on two sites. A plan with α
/// takes the member of the front that is α of the way to the cheapest; best effort costs 10 SU and
/// takes 8 h, and half an hour longer in every replication. The first task is lost in
/// replication 1.
pub fn provisioned(
    id: &str,
    search: SearchMethod,
    alpha: f64,
    replication: u32,
    points: Vec<Point>,
) -> FinishedSimulation {
    let settings = ProvisioningSettings {
        search,
        wish: Wish::TradeOff { alpha },
        ..ProvisioningSettings::default()
    };
    let run = ProvisioningRun {
        outcomes: vec![outcome(&settings, alpha, replication)],
        effects: vec![EffectOnOthers {
            jobs: 4,
            delayed: 1,
            wait: Seconds(7_200),
            undisturbed_wait: Seconds(3_600),
            slowdown: 8.0,
            undisturbed_slowdown: 4.0,
        }],
        started: vec![vec![(JobId(1), Some(Seconds(108_000)))]],
        utilisations: Vec::new(),
    };
    let result = provisioning_result(&inputs(), &settings, run, true);
    let mut done = finished(id, "provisioning", replication, result, points);
    done.spec.study = StudySpec::of(ProvisioningStudy {
        settings,
        about: ProvisionedSettings::default(),
    });
    done
}

fn inputs() -> ProvisioningInputs {
    let task = |nodes, hours, parents| ApplicationTask {
        nodes: Nodes(nodes),
        runtimes: vec![Seconds::HOUR * hours; 2],
        parents,
    };
    let after = Dependency {
        parent: 0,
        transfer: Seconds(250),
    };
    let site = |label: &str, nodes, utilisation| SiteWorkload {
        label: label.to_owned(),
        nodes: Nodes(nodes),
        load: SiteLoad {
            wanted_percent: Some(60.0),
            utilisation_percent: utilisation,
            copied_percent: 0.0,
            kept_percent: 90.0,
            window: (Seconds(1_000), Seconds(900_000)),
        },
        ..SiteWorkload::default()
    };
    // One has ended before anything is submitted, one is there meanwhile, one comes after
    // everything.
    let jobs = [50_000, 100_500, 900_000].into_iter().zip(0..);
    let jobs: Vec<Job> = jobs
        .map(|(submit, id)| {
            Job::rigid(JobId(id), Seconds(submit), Nodes(4), Seconds::HOUR * 2)
                .running_for(Seconds::HOUR)
                .numbered(7)
                .of_user(3)
        })
        .collect();
    let background = Background {
        starts: vec![
            jobs.iter().map(|job| Some(job.submit)).collect(),
            Vec::new(),
        ],
        longest_stays: vec![Seconds::HOUR; 2],
        ..Background::default()
    };
    let mut first = site("CTC", 430, 60.5);
    first.jobs = jobs.into();
    let settings = SyntheticSettings::default();
    let mut stream = bookahead_core::random::stream(1, "fixture", 0, "workflow");
    ProvisioningInputs {
        sites: Arc::from([first, site("SDSC", 128, 59.5)]),
        workflow: Arc::new(synthetic(&settings, &mut stream).unwrap()),
        application: Arc::new(Application::new(
            vec![task(2, 1, vec![]), task(4, 2, vec![after])],
            vec![0, 1],
        )),
        real: Vec::new(),
        background: Arc::new(background),
        instants: vec![0],
        best_effort: Vec::new(),
        searched: None,
        slots_left: Vec::new(),
        parts: Vec::new(),
        users: Users::default(),
        alone: Vec::new(),
        judged: Vec::new(),
        keep_prices: true,
    }
}

fn outcome(settings: &ProvisioningSettings, alpha: f64, replication: u32) -> ProvisioningOutcome {
    let submitted = Seconds(100_000 + 50_000 * i64::from(replication));
    let best_effort = PlanValue {
        cost: 10.0,
        makespan: Seconds(28_800 + 1_800 * i64::from(replication)),
    };
    let chosen = (alpha * (FRONT.len() - 1) as f64).round() as usize;
    let front: Vec<FrontMember> = FRONT
        .iter()
        .enumerate()
        .map(|(place, (cost, hours))| FrontMember {
            value: PlanValue {
                cost: if settings.search == SearchMethod::Nsga2 {
                    cost - 1.0
                } else {
                    *cost
                },
                makespan: Seconds::HOUR * *hours,
            },
            chosen: place == chosen,
        })
        .collect();
    let provisions = settings.search != SearchMethod::BestEffort;
    let planned = provisions.then(|| front[chosen].value);
    let value = planned.unwrap_or(best_effort);
    let lost = provisions && replication == 1;
    ProvisioningOutcome {
        submission: 0,
        transfers: Vec::new(),
        costs: Vec::new(),
        submitted,
        planned,
        realised: Realised {
            completed: true,
            makespan: value.makespan,
            cost: value.cost,
            lost_tasks: u32::from(lost),
            reprovisioned: u32::from(lost),
            ..Realised::default()
        },
        best_effort: Some(BestEffortOutcome {
            makespan: best_effort.makespan,
            cost: best_effort.cost,
            placements: Vec::new(),
            ..BestEffortOutcome::default()
        }),
        slots: if provisions {
            slots(submitted)
        } else {
            Vec::new()
        },
        tasks: tasks(submitted, provisions, lost),
        front: if settings.is_genetic() {
            front
        } else {
            Vec::new()
        },
        slots_offered: 30,
        evaluations: 1_100,
        infeasible: 100,
        queries: 4,
        offers: 50,
        prices: [3_600, 0]
            .into_iter()
            .zip(0..)
            .map(|(price, query)| PriceSample {
                query,
                task: 0,
                site: query as usize,
                start: submitted + Seconds(600),
                nodes: Nodes(2),
                duration: Seconds::HOUR,
                price: NodeSeconds(price),
            })
            .collect(),
        advertised: slots(submitted)
            .iter()
            .map(|bought| Advertised {
                site: bought.site,
                slot: bought.slot,
            })
            .collect(),
    }
}

/// 4 nodes for 2 h at the first site, and 6 for 3 h at the second.
fn slots(submitted: Seconds) -> Vec<BoughtSlot> {
    let slot = |site, nodes, from, until, used: i64| {
        let (start, end) = (
            submitted + Seconds::HOUR * from,
            submitted + Seconds::HOUR * until,
        );
        BoughtSlot {
            site,
            slot: Slot {
                start,
                nodes: Nodes(nodes),
                end,
                unit_price: 1.0,
                fixed_price: 0.0,
                divisible: false,
                extensible: false,
            },
            cost: Nodes(nodes).for_span(end - start).coins().0,
            used: NodeSeconds(used * 3_600),
            externality: NodeSeconds(0),
            refunded: 0.0,
            forfeited: 0.0,
        }
    };
    vec![slot(0, 4, 0, 2, 2), slot(1, 6, 2, 5, 8)]
}

fn tasks(submitted: Seconds, in_slots: bool, lost: bool) -> Vec<TaskRun> {
    let run = |task, site, nodes, from, until, fate| TaskRun {
        task,
        site,
        nodes: Nodes(nodes),
        start: submitted + Seconds::HOUR * from,
        end: submitted + Seconds::HOUR * until,
        slot: in_slots.then_some(site as u32),
        fate,
    };
    let mut tasks = Vec::new();
    if lost {
        tasks.push(run(0, 0, 2, 0, 1, TaskFate::Lost));
    }
    tasks.push(run(0, 0, 2, 1, 2, TaskFate::Done));
    tasks.push(run(1, 1, 4, 2, 4, TaskFate::Done));
    tasks
}
