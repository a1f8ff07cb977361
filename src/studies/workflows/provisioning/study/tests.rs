//! What is shared among simulations of provisioning, and what is each one's own.

use super::{ProvisioningSimulation, with_inputs};
use std::sync::Arc;

use crate::provisioning::study::ProvisioningStudy;
use crate::provisioning::{
    ProvisioningInputs, ProvisioningOutcome, ProvisioningRun, TaskRun, Wish, provisioning_scene,
};
use bookahead_core::kernel::drive;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_lab::study::{Studies, study};
use bookahead_lab::sweep::{Experiment, InputFolders, InputSources, Inputs, SimulationSpec};

const STUDIES: Studies = Studies::new(&[
    study::<crate::provisioning::study::ProvisioningStudy>(),
    study::<bookahead_reservations::slots::study::SlotsStudy>(),
]);

/// Without anything that has to be read from a disk.
const HEAD: &str = r#"[experiment]
name = "buying"
replications = 3

[workload]
model = "lublin-feitelson"
jobs = 600
nodes = 64
whole_trace = true
exact_estimates = true

[scheduling]
strategy = "provisioning"

[workflow]
tasks = 12
mean_nodes = 6
"#;

fn specs(text: &str) -> Vec<SimulationSpec> {
    let text = if text.starts_with("[experiment]") {
        text.to_owned()
    } else {
        format!("{HEAD}{text}")
    };
    let experiment = Experiment::parse(STUDIES, "test.toml", &text, None);
    experiment
        .unwrap_or_else(|error| panic!("{error}"))
        .sweep
        .simulations
        .iter()
        .collect()
}

fn prepared() -> Inputs {
    Inputs::new(STUDIES, InputSources::new(&InputFolders::default()), true)
}

fn inputs(prepared: &Inputs, spec: &SimulationSpec) -> Arc<ProvisioningInputs> {
    simulation(prepared, spec).inputs
}

fn simulation(prepared: &Inputs, spec: &SimulationSpec) -> ProvisioningSimulation {
    let Some(study) = spec.study.get::<ProvisioningStudy>() else {
        panic!("{spec:?}");
    };
    with_inputs(study, spec, prepared).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_alpha_shares_sites_snapshots_best_effort_and_one_search_an_instant() {
    let specs = specs(
        "[provisioning]\nsearch = \"moga\"\n[[axis]]\nkey = \"requests.alpha\"\nvalues = [0.0, 0.5, 1.0]\n",
    );
    assert_eq!(specs.len(), 9);
    let prepared = prepared();
    let all: Vec<_> = specs.iter().map(|spec| inputs(&prepared, spec)).collect();
    for (spec, own) in specs.iter().zip(&all) {
        let first = &all[spec.replication as usize];
        assert_eq!(own.instants, [spec.replication as usize]);
        assert!(Arc::ptr_eq(&own.sites, &first.sites));
        assert!(Arc::ptr_eq(&own.background, &all[0].background));
        assert!(Arc::ptr_eq(&own.application, &all[0].application));
        assert!(Arc::ptr_eq(&own.best_effort[0], &first.best_effort[0]));
        let (own, first) = (own.searched.as_ref(), first.searched.as_ref());
        assert!(Arc::ptr_eq(own.unwrap(), first.unwrap()));
    }
    let (one, other) = (all[0].searched.as_ref(), all[1].searched.as_ref());
    assert!(!Arc::ptr_eq(one.unwrap(), other.unwrap()));
    assert_eq!(all[0].background.instants.len(), 3);
    for snapshot in &all[0].background.snapshots {
        assert_eq!(snapshot.len(), 1);
    }
}

#[test]
fn more_replications_leave_the_earlier_instants_where_they_were() {
    let prepared = prepared();
    let few = inputs(&prepared, &specs("")[0]);
    let more = inputs(
        &prepared,
        &specs(&HEAD.replace("replications = 3", "replications = 5"))[0],
    );
    assert_eq!(few.background.instants, more.background.instants[..3]);
    // The first search and best effort are therefore the same too.
    assert_eq!(few.best_effort, more.best_effort);
}

#[test]
fn only_searches_on_slots_as_they_were_are_shared() {
    let prepared = prepared();
    let searched = |rest: &str| {
        let specs = specs(&format!("[provisioning]\n{rest}\n"));
        inputs(&prepared, &specs[0]).searched.is_some()
    };
    assert!(searched("search = \"moga\""));
    assert!(searched("search = \"nsga2\""));
    assert!(searched("search = \"weighted-sum\""));
    assert!(!searched("search = \"moga\"\nlatency_seconds = 5"));
    assert!(!searched(
        "search = \"moga\"\ncommitment = \"committed\"\nsubmissions = 2"
    ));
    assert!(!searched("search = \"greedy\""));
}

#[test]
fn real_run_times_are_the_same_however_they_are_booked_and_best_effort_and_searches_follow() {
    let prepared = prepared();
    let inputs = |rest: &str| {
        let text = format!("real_runtimes = \"log-normal\"\n[provisioning]\n{rest}\n");
        let specs = specs(&text);
        (inputs(&prepared, &specs[0]), inputs(&prepared, &specs[1]))
    };
    let (short, other) = inputs("search = \"moga\"\n");
    let (long, _) = inputs("search = \"moga\"\nbooking_factor = 1.5\n[requests]\nalpha = 0.1\n");
    let (queries, _) = inputs("booking_factor = 3.0\n");
    assert_eq!(short.real.len(), 1);
    assert_eq!(short.real, long.real);
    assert_eq!(short.real, queries.real);
    assert_ne!(short.real, other.real);
    assert!(Arc::ptr_eq(&short.best_effort[0], &long.best_effort[0]));
    let (found, booked) = (short.searched.as_ref(), long.searched.as_ref());
    assert!(!Arc::ptr_eq(found.unwrap(), booked.unwrap()));
    let tasks = short.application.tasks().iter();
    for (task, long) in tasks.zip(long.application.tasks()) {
        let estimate = task.runtimes[0].0;
        assert_eq!(long.runtimes[0].0, (estimate * 3 + 1) / 2);
    }
    let best_effort = &short.best_effort[0].placements;
    for (placed, task) in best_effort.iter().zip(short.real[0].tasks()) {
        assert_eq!(placed.end - placed.start, task.runtimes[0]);
    }
    // Without a word about them there are none.
    let exact = self::inputs(&prepared, &specs("")[0]);
    assert!(exact.real.is_empty());
    assert_ne!(exact.best_effort, short.best_effort);
}

#[test]
fn committed_plans_are_submitted_in_order_of_time_at_the_instants_of_their_replication() {
    let prepared = prepared();
    let specs = specs("[provisioning]\ncommitment = \"committed\"\nsubmissions = 4\n");
    assert_eq!(specs.len(), 3);
    for spec in &specs {
        let inputs = inputs(&prepared, spec);
        let first = spec.replication as usize * 4;
        let mut numbers = inputs.instants.clone();
        let times: Vec<Seconds> = numbers
            .iter()
            .map(|&number| inputs.background.instants[number])
            .collect();
        assert!(times.is_sorted());
        numbers.sort_unstable();
        assert_eq!(numbers, (first..first + 4).collect::<Vec<_>>());
        assert_eq!(inputs.best_effort.len(), 4);
    }
}

/// As many instants as replications: users come when their jobs do.
#[test]
fn single_jobs_are_submitted_by_their_trace_after_the_instant_of_their_replication() {
    let prepared = prepared();
    let text = "source = \"jobs\"\njobs_percent = 30\n\
        [provisioning]\ncommitment = \"committed\"\nsubmissions = 7\n\
        [[axis]]\nkey = \"provisioning.asked_sites\"\nvalues = [\"all\", \"home\"]\n";
    let specs = specs(text);
    // One site has no other.
    assert_eq!(specs.len(), 3);
    for spec in &specs {
        let inputs = inputs(&prepared, spec);
        let begin = inputs.background.instants[spec.replication as usize];
        assert_eq!(inputs.background.instants.len(), 3);
        assert_eq!(inputs.submissions().len(), 7);
        assert!(inputs.submissions().is_sorted());
        assert!(inputs.submissions()[0] > begin);
        assert!(inputs.best_effort.is_empty());
        for user in inputs.users.list() {
            let job = &inputs.sites[user.home].jobs[user.job.0 as usize];
            let task = &user.application.tasks()[0];
            assert_eq!((job.submit, job.nodes), (user.submitted, task.nodes));
        }
    }
}

#[test]
fn a_relative_wish_is_a_multiple_of_the_longest_path_or_of_the_work() {
    let prepared = prepared();
    let wish = |rest: &str| {
        let spec = &specs(&format!("[provisioning]\n{rest}\n"))[0];
        let made = simulation(&prepared, spec);
        (Arc::clone(&made.inputs.application), made.settings.wish)
    };
    let (application, deadline) = wish("deadline_factor = 2.0");
    let after = application.longest_path() * 2;
    assert_eq!(deadline, Wish::Deadline { after });
    let (application, budget) = wish("budget_factor = 1.5");
    let service_units = 1.5 * application.least_cost() / 3_600.0;
    assert_eq!(budget, Wish::Budget { service_units });
}

/// The workflow is one, its tasks run for half as long at the second site, and whatever is made of
/// it is made anew. Deadlines and budgets are multiples of the fastest and of the cheapest site.
#[test]
fn speeds_and_prices_of_sites_make_another_application_and_leave_the_sites_alone() {
    let prepared = prepared();
    let made = |keys: &str, wish: &str| {
        let search = "[provisioning]\nsearch = \"moga\"\n";
        let text = format!("[sites]\n{keys}\n[[sites.more]]\n{search}{wish}\n");
        simulation(&prepared, &specs(&text)[0])
    };
    let alike = made("", "").inputs;
    let unlike = made("speeds = [1, 2]", "").inputs;
    let same_price = made("speeds = [1, 2]\nprices = [1]", "").inputs;
    for inputs in [&unlike, &same_price] {
        assert!(Arc::ptr_eq(&inputs.background, &alike.background));
        let tasks = inputs.application.tasks().iter();
        for (task, plain) in tasks.zip(alike.application.tasks()) {
            let seconds = plain.runtimes[0].0;
            let halved = Seconds(((seconds + 1) / 2).max(1));
            assert_eq!(task.runtimes, [plain.runtimes[0], halved]);
        }
        assert_ne!(inputs.searched, alike.searched);
        assert_ne!(inputs.best_effort, alike.best_effort);
    }
    assert_ne!(unlike.searched, same_price.searched);
    assert_eq!(unlike.application.unit_price(1), 2.0);
    assert_eq!(same_price.application.unit_price(1), 1.0);
    let deadline = made("speeds = [2, 1]", "deadline_factor = 2");
    let after = deadline.inputs.application.longest_path() * 2;
    assert_eq!(deadline.settings.wish, Wish::Deadline { after });
    assert!(after <= alike.application.longest_path() + Seconds(24));
    let budget = made("speeds = [2, 1]\nprices = [1]", "budget_factor = 2");
    let Wish::Budget { service_units } = budget.settings.wish else {
        panic!("a budget");
    };
    let ratio = 3_600.0 * service_units / alike.application.least_cost();
    assert!((1.0..1.02).contains(&ratio), "{ratio}");
}

/// The thesis says of shares of processors that they work like processors (§3): four of them each,
/// and tasks that need all four, are the same plans at the same times, and four times the units.
#[test]
fn processors_that_are_sold_in_shares_to_tasks_that_need_them_whole_are_processors() {
    let prepared = prepared();
    let run = |search: &str, sites: &str| {
        let text =
            format!("[sites]\n{sites}\n[[sites.more]]\n[provisioning]\nsearch = \"{search}\"\n");
        let made = simulation(&prepared, &specs(&text)[0]);
        let scene = provisioning_scene(&made.inputs, &made.settings, &made.seed);
        let run = ProvisioningRun::of(drive(scene.expect("a scene"), false)).expect("a run");
        let outcome = run.outcomes.into_iter().next().expect("an application");
        (made.inputs, outcome)
    };
    for search in ["greedy", "moga", "best-effort", "single-slot"] {
        let (whole, plain) = run(search, "");
        let (shared, of_four) = run(search, "shares = 4");
        assert_eq!(shared.sites[0].nodes, Nodes(4 * whole.sites[0].nodes.0));
        assert_eq!(shared.background.starts, whole.background.starts);
        assert!(!plain.tasks.is_empty());
        let times = |outcome: &ProvisioningOutcome| {
            let of_task = |task: &TaskRun| (task.task, task.site, task.start, task.end);
            outcome.tasks.iter().map(of_task).collect::<Vec<_>>()
        };
        assert_eq!(times(&of_four), times(&plain), "{search}");
        for (task, whole) in of_four.tasks.iter().zip(&plain.tasks) {
            assert_eq!(task.nodes.0, 4 * whole.nodes.0);
        }
        let cost = |outcome: &ProvisioningOutcome| outcome.costs.iter().sum::<f64>();
        assert!(
            (cost(&of_four) - 4.0 * cost(&plain)).abs() < 1e-6,
            "{search}"
        );
    }
}

/// Where jobs take the memory of their processors and tasks no more, there is memory wherever there
/// are processors; where tasks take more, they wait for it.
#[test]
fn memory_that_goes_with_the_processors_changes_nothing_and_more_of_it_does() {
    let prepared = prepared();
    let run = |search: &str, memory: &str, of_task: &str| {
        let text = format!(
            "{of_task}[sites]\n{memory}\n[[sites.more]]\n[provisioning]\nsearch = \"{search}\"\n\
             [slots]\nsource = \"plan\"\n"
        );
        let made = simulation(&prepared, &specs(&text)[0]);
        let scene = provisioning_scene(&made.inputs, &made.settings, &made.seed);
        let run = ProvisioningRun::of(drive(scene.expect("a scene"), false)).expect("a run");
        let outcome = run.outcomes.into_iter().next().expect("an application");
        (made.inputs, outcome)
    };
    let counted = "memory_megabytes = [64]";
    for search in [
        "greedy",
        "moga",
        "best-effort",
        "single-slot",
        "queried-moga",
    ] {
        let (plain, outcome) = run(search, "", "");
        let (alike, same) = run(search, counted, "");
        assert_eq!(alike.background.starts, plain.background.starts);
        assert!(!outcome.tasks.is_empty());
        assert_eq!(same.tasks, outcome.tasks, "{search}");
        assert_eq!(same.costs, outcome.costs, "{search}");
    }
    for search in ["best-effort", "greedy"] {
        let (_, alike) = run(search, counted, "");
        let (inputs, more) = run(search, counted, "memory_megabytes = 384\n");
        assert_eq!(inputs.sites[0].nodes_for_tasks(), Nodes(10));
        assert_ne!(more.tasks, alike.tasks, "{search}");
    }
}

#[test]
fn logs_without_memory_cannot_say_what_jobs_take() {
    let text = "[sites]\nmemory_megabytes = [64]\njob_memory = \"log\"\n";
    let (prepared, spec) = (prepared(), specs(text).remove(0));
    let study = spec.study.get::<ProvisioningStudy>().expect("provisioning");
    let error = with_inputs(study, &spec, &prepared).expect_err("a model");
    let said = error.to_string();
    assert!(said.contains("of no job how much memory"), "{said}");
}

/// A larger share of tasks that run on one make contains the smaller one.
#[test]
fn tasks_are_bound_to_a_make_one_draw_each() {
    let prepared = prepared();
    let bound = |percent: u32| {
        let text = format!(
            "make = \"b\"\nmake_percent = {percent}\n[sites]\nmakes = [\"a\", \"b\"]\n[[sites.more]]\n"
        );
        let inputs = inputs(&prepared, &specs(&text)[0]);
        let application = Arc::clone(&inputs.application);
        let tasks = 0..application.tasks().len();
        let bound = |&task: &usize| !application.may_run(task, 0);
        assert!(tasks.clone().all(|task| application.may_run(task, 1)));
        tasks.filter(bound).collect::<Vec<usize>>()
    };
    assert_eq!(bound(0), Vec::<usize>::new());
    assert_eq!(bound(100), (0..12).collect::<Vec<usize>>());
    let (some, more) = (bound(30), bound(70));
    assert!(!some.is_empty() && some.len() < more.len());
    assert!(some.iter().all(|task| more.contains(task)));
}

#[test]
fn tasks_that_need_a_share_are_as_wide_as_their_shares_beside_jobs_on_whole_processors() {
    let prepared = prepared();
    let made = |tables: &str| inputs(&prepared, &specs(tables)[0]);
    let whole = made("");
    let quarter = made("task_shares = 1\n[sites]\nshares = 4\n");
    let widths = |inputs: &ProvisioningInputs| -> Vec<u32> {
        let tasks = inputs.application.tasks().iter();
        tasks.map(|task| task.nodes.0).collect()
    };
    assert_eq!(widths(&quarter), widths(&whole));
    let of_jobs = whole.sites[0].jobs.iter().zip(quarter.sites[0].jobs.iter());
    for (job, wider) in of_jobs {
        assert_eq!(wider.nodes.0, 4 * job.nodes.0);
    }
    assert_eq!(quarter.background.starts, whole.background.starts);
    assert_eq!(
        quarter.sites[0].load.utilisation_percent,
        whole.sites[0].load.utilisation_percent
    );
}

#[test]
fn another_mean_width_or_load_keeps_structure_run_times_and_instants() {
    let prepared = prepared();
    let narrow = HEAD.replace("mean_nodes = 6", "mean_nodes = 2");
    let (wide, narrow) = (
        inputs(&prepared, &specs("")[0]),
        inputs(&prepared, &specs(&narrow)[0]),
    );
    let shape = |inputs: &ProvisioningInputs| {
        let tasks = inputs.application.tasks().iter();
        tasks
            .map(|task| (task.runtimes.clone(), task.parents.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(shape(&wide), shape(&narrow));
    assert_eq!(wide.background.instants, narrow.background.instants);
    assert_ne!(
        wide.application.least_cost(),
        narrow.application.least_cost()
    );
    let instances = specs("instances = \"one-a-replication\"\n");
    let (first, second) = (
        inputs(&prepared, &instances[0]),
        inputs(&prepared, &instances[1]),
    );
    assert_eq!(shape(&wide), shape(&first));
    assert_ne!(shape(&first), shape(&second));
}

#[test]
fn every_site_has_failures_of_its_own_which_all_submissions_meet() {
    let prepared = prepared();
    let specs = specs(
        "[[sites.more]]\nnodes = 64\n[failures]\nsource = \"generated\"\nrate_per_hour = 0.01\n",
    );
    let all: Vec<_> = specs.iter().map(|spec| inputs(&prepared, spec)).collect();
    let failures =
        |inputs: &ProvisioningInputs, site: usize| Arc::clone(&inputs.sites[site].failures);
    assert!(!failures(&all[0], 0).events.is_empty());
    assert_ne!(failures(&all[0], 0), failures(&all[0], 1));
    assert_eq!(failures(&all[0], 1), failures(&all[2], 1));
    let last = all[0].sites[0].jobs.iter().map(|job| job.submit).max();
    let events = &failures(&all[0], 0).events;
    assert!(events.last().map(|event| event.time) > last);
    let without = inputs(&prepared, &self::specs("")[0]);
    assert!(failures(&without, 0).events.is_empty());
}

#[test]
fn a_workflow_that_is_missing_or_too_wide_is_known_before_anything_runs() {
    let prepared = prepared();
    let says = |text: &str| {
        let spec = &specs(text)[0];
        prepared.prepare(spec).expect_err("no workflow").to_string()
    };
    let file = HEAD.replace(
        "tasks = 12\nmean_nodes = 6",
        "source = \"file\"\nfile = \"nowhere.xml\"",
    );
    let error = says(&file);
    for part in ["nowhere.xml: not found", "BOOKAHEAD_WORKFLOWS"] {
        assert!(error.contains(part), "{error}");
    }
    let wide = HEAD.replace("tasks = 12\nmean_nodes = 6", "source = \"cyber-shake\"");
    let error = says(&wide);
    assert!(error.contains("`fd_grid_cvm` needs 288"), "{error}");
}

#[test]
fn the_content_of_the_file_of_a_workflow_is_part_of_the_identity() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.xml");
    let write = |seconds: u32| {
        let job = format!(r#"<adag name="n"><job id="A" runtime="{seconds}"/></adag>"#);
        std::fs::write(&path, job).unwrap();
    };
    let text = HEAD.replace(
        "tasks = 12\nmean_nodes = 6",
        "source = \"file\"\nfile = \"w.xml\"",
    );
    let identities = || {
        let folders = InputFolders {
            workflows: Some(folder.path().to_owned()),
            ..InputFolders::default()
        };
        let prepared = Inputs::new(STUDIES, InputSources::new(&folders), true);
        let mut sweep = Experiment::parse(STUDIES, "test.toml", &text, None)
            .unwrap()
            .sweep;
        prepared.identify(&mut sweep).unwrap();
        assert!(
            sweep
                .inputs
                .iter()
                .any(|input| input.source.starts_with("workflow "))
        );
        sweep.simulation_ids
    };
    write(10);
    let (first, again) = (identities(), identities());
    assert_eq!(first, again);
    write(11);
    assert_ne!(first, identities());
}
