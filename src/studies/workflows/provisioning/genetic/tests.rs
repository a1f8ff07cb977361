use proptest::prelude::*;

use bookahead_core::plan::Slot;
use bookahead_core::random;
use bookahead_core::units::{Nodes, Seconds};

use super::super::{Advertised, Application, ApplicationTask, Dependency};
use super::*;

fn task(nodes: u32, runtime: i64, parents: &[usize]) -> ApplicationTask {
    ApplicationTask {
        nodes: Nodes(nodes),
        runtimes: vec![Seconds(runtime); 2],
        parents: parents
            .iter()
            .map(|&parent| Dependency {
                parent,
                transfer: Seconds(10),
            })
            .collect(),
    }
}

fn at(site: usize, slot: Slot) -> Advertised {
    Advertised { site, slot }
}

/// Two tasks after one another: now in a hole that costs 20 node-hours for 8 used, or later on the
/// edge.
pub(super) fn hole_or_edge() -> (Application, Vec<Advertised>) {
    let hour = 3_600;
    let application = Application::new(
        vec![task(2, 2 * hour, &[]), task(2, 2 * hour, &[0])],
        vec![0, 1],
    );
    let slots = vec![
        at(0, Slot::hole(Seconds(0), Nodes(4), Seconds(5 * hour))),
        at(0, Slot::edge(Seconds(10 * hour), Nodes(4))),
    ];
    (application, slots)
}

#[test]
fn a_hole_is_paid_whole_and_once_and_of_an_edge_only_what_is_used() {
    let (application, slots) = hole_or_edge();
    let mut evaluator = Evaluator::new(&application, &slots, Seconds(0));
    let both = evaluator.evaluate(&[true, true]).unwrap();
    assert_eq!((both.cost, both.makespan), (20.0, Seconds(4 * 3_600)));
    let edge = evaluator.evaluate(&[false, true]).unwrap();
    assert_eq!((edge.cost, edge.makespan), (8.0, Seconds(14 * 3_600)));
    assert_eq!(application.work(0).0, 8 * 3_600);
    assert_eq!(evaluator.evaluate(&[false, false]), None);
    // What is left of the hole after the first task is wide enough, and not long enough for a third
    // of its kind.
    assert_eq!(evaluator.evaluate(&[true, false]), Some(both));
}

#[test]
fn data_takes_time_between_sites_only_and_the_earliest_start_wins() {
    let application = Application::new(vec![task(1, 100, &[]), task(1, 100, &[0])], vec![0, 1]);
    let slots = [
        at(0, Slot::hole(Seconds(0), Nodes(1), Seconds(100))),
        at(0, Slot::edge(Seconds(500), Nodes(1))),
        at(1, Slot::edge(Seconds(50), Nodes(1))),
    ];
    let mut evaluator = Evaluator::new(&application, &slots, Seconds(0));
    evaluator.evaluate(&[true; 3]).unwrap();
    let starts: Vec<(usize, i64)> = evaluator
        .placements()
        .iter()
        .map(|placed| (placed.site, placed.start.0))
        .collect();
    assert_eq!(starts, [(0, 0), (1, 110)]);
}

#[test]
fn both_searches_find_both_ends_of_a_small_front_and_the_same_seed_finds_the_same() {
    let (application, slots) = hole_or_edge();
    let settings = GeneticSettings::default();
    for search in [moga, nsga2] {
        let run = || {
            let mut evaluator = Evaluator::new(&application, &slots, Seconds(0));
            let mut stream = random::stream(1, "front", 0, "search");
            search(&mut evaluator, &settings, &mut stream)
        };
        let found = run();
        let costs: Vec<f64> = found
            .front
            .members()
            .iter()
            .map(|(value, _)| value.cost)
            .collect();
        assert_eq!(costs, [20.0, 8.0]);
        assert_eq!(found.evaluations, 1_100);
        assert_eq!(found, run());
    }
}

#[test]
fn first_plans_are_random_and_one_takes_every_slot_where_it_is_asked_for() {
    // Singh 2008, §4.5 (a random population), and AMB-14. All 40 slots are chosen at random with
    // probability 2^-40 a plan.
    let all = |settings: &GeneticSettings| {
        let mut stream = random::stream(1, "first", 0, "search");
        let plans = initial(40, settings, &mut stream);
        assert_eq!(plans.len(), 100);
        plans
            .iter()
            .filter(|plan| plan.iter().all(|bit| *bit))
            .count()
    };
    let default = GeneticSettings::default();
    assert_eq!(all(&default), 0);
    let with = GeneticSettings {
        all_slots_member: true,
        ..default
    };
    assert_eq!(all(&with), 1);
}

#[test]
fn a_population_of_one_slot_or_none_is_searched_without_crossover() {
    let application = Application::new(vec![task(1, 10, &[])], vec![0]);
    let slots = [at(0, Slot::edge(Seconds(5), Nodes(1)))];
    for slots in [&slots[..], &[]] {
        let mut evaluator = Evaluator::new(&application, slots, Seconds(0));
        let mut stream = random::stream(1, "small", 0, "search");
        let found = moga(&mut evaluator, &GeneticSettings::default(), &mut stream);
        assert_eq!(found.front.members().len(), slots.len());
    }
}

/// Every choice of at most ten slots, for comparison.
pub(super) fn exhaustive(application: &Application, slots: &[Advertised]) -> ParetoFront {
    let mut evaluator = Evaluator::new(application, slots, Seconds(0));
    let mut front = ParetoFront::default();
    for bits in 0..1_u32 << slots.len() {
        let plan: Vec<bool> = (0..slots.len()).map(|bit| bits >> bit & 1 == 1).collect();
        if let Some(value) = evaluator.evaluate(&plan) {
            front.offer(value, || plan.clone());
        }
    }
    front
}

prop_compose! {
    pub(super) fn market()(
        tasks in prop::collection::vec((1_u32..5, 1_i64..50, any::<u16>()), 1..8),
        holes in prop::collection::vec((0_i64..100, 1_u32..5, 10_i64..60), 0..6),
    ) -> (Application, Vec<Advertised>) {
        let tasks: Vec<ApplicationTask> = tasks
            .iter()
            .enumerate()
            .map(|(index, (nodes, runtime, parent))| {
                let parents: Vec<usize> = (index > 0).then(|| usize::from(*parent) % index).into_iter().collect();
                task(*nodes, *runtime, &parents)
            })
            .collect();
        let order = (0..tasks.len()).collect();
        let mut slots: Vec<Advertised> = holes
            .iter()
            .map(|(start, nodes, length)| at(0, Slot::hole(Seconds(*start), Nodes(*nodes), Seconds(start + length))))
            .collect();
        slots.push(at(0, Slot::edge(Seconds(200), Nodes(8))));
        (Application::new(tasks, order), slots)
    }
}

proptest! {
    #[test]
    fn no_plan_costs_less_than_best_effort_and_fronts_hold_what_is_possible((application, slots) in market()) {
        let least = application.work(0).0 as f64 / 3_600.0;
        let true_front = exhaustive(&application, &slots);
        for search in [moga, nsga2] {
            let mut evaluator = Evaluator::new(&application, &slots, Seconds(0));
            let mut stream = random::stream(7, "market", 0, "search");
            // A plan that fits is there from the beginning, so that the front is never empty.
            let settings = GeneticSettings { population: 30, generations: 5, all_slots_member: true, ..GeneticSettings::default() };
            let found = search(&mut evaluator, &settings, &mut stream);
            prop_assert!(!found.front.members().is_empty());
            for (value, plan) in found.front.members() {
                prop_assert!(value.cost >= least - 1e-9);
                prop_assert_eq!(evaluator.evaluate(plan), Some(*value));
                // Nothing better than the best that there is.
                let reachable = |(known, _): &(PlanValue, Vec<bool>)| known == value || dominates(*known, *value);
                prop_assert!(true_front.members().iter().any(reachable));
            }
        }
    }

    #[test]
    fn a_task_never_starts_before_its_parents_have_ended_and_no_slot_is_overfull((application, slots) in market()) {
        let mut evaluator = Evaluator::new(&application, &slots, Seconds(0));
        evaluator.evaluate(&vec![true; slots.len()]).expect("the edge takes everything");
        let placed = evaluator.placements();
        for (index, task) in application.tasks().iter().enumerate() {
            for dependency in &task.parents {
                prop_assert!(placed[index].start >= placed[dependency.parent].end);
            }
        }
        for second in 0..600 {
            let busy: u32 = placed
                .iter()
                .zip(application.tasks())
                .filter(|(placed, _)| placed.start.0 <= second && second < placed.end.0)
                .map(|(_, task)| task.nodes.0)
                .sum();
            let free: u32 = slots
                .iter()
                .filter(|offered| offered.slot.start.0 <= second && second < offered.slot.end.0)
                .map(|offered| offered.slot.nodes.0)
                .sum();
            prop_assert!(busy <= free);
        }
    }
}
