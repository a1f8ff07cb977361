//! Which simulation a free worker begins: one of every combination first, then the dearest by what those took.
//!
//! An expectation that rests on the settings alone can be wrong about a new trace or a new policy, and a long simulation that
//! begins last leaves the other workers without work. Replications of one combination of axis values cost about the same, so the
//! first of each tells how long the others take.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::spec::{Sweep, Task};

/// The tasks of a sweep that are not begun.
pub(super) struct Order<'t>(Mutex<State<'t>>);

struct State<'t> {
    tasks: &'t [Task],
    /// The combination of each task.
    combination_of: Vec<usize>,
    combinations: Vec<Combination>,
    /// One task of each combination, dearest first; or all tasks as they were given.
    first: VecDeque<usize>,
    /// Combinations with tasks left, by what the next one will take; an entry that is not the newest of its combination is void.
    rest: BinaryHeap<Entry>,
    /// Combinations of which nothing has ended yet, with the moment at which their first one began: one a worker at most.
    untold: Vec<(usize, Duration)>,
    /// Seconds expected and taken of what has ended.
    expected: f64,
    taken: f64,
}

#[derive(Default)]
struct Combination {
    /// Tasks that are not begun, dearest first.
    left: VecDeque<usize>,
    /// Seconds expected of the dearest one.
    expected: f64,
    ended: u32,
    taken: f64,
    version: u32,
}

struct Entry {
    seconds: f64,
    combination: usize,
    version: u32,
}

impl<'t> Order<'t> {
    /// An order of these tasks. Tasks that do not come dearest first are meant to be done as they come: another program does the
    /// same ones from the other end.
    pub(super) fn new(sweep: &Sweep, tasks: &'t [Task]) -> Self {
        let as_given = tasks
            .windows(2)
            .any(|pair| pair[0].seconds < pair[1].seconds);
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        let mut state = State {
            tasks,
            combination_of: Vec::with_capacity(tasks.len()),
            combinations: Vec::new(),
            first: VecDeque::new(),
            rest: BinaryHeap::new(),
            untold: Vec::new(),
            expected: 0.0,
            taken: 0.0,
        };
        // Points come in the order of the axes, then replications.
        let replications = (sweep.replications as usize).max(1);
        for (place, task) in tasks.iter().enumerate() {
            let point = task.points.first().copied().unwrap_or(place);
            let next = numbers.len();
            let number = *numbers.entry(point / replications).or_insert(next);
            if number == state.combinations.len() {
                state.combinations.push(Combination {
                    expected: task.seconds,
                    ..Combination::default()
                });
            }
            state.combination_of.push(number);
            state.combinations[number].left.push_back(place);
        }
        if as_given {
            state.first = (0..tasks.len()).collect();
            for combination in &mut state.combinations {
                combination.left.clear();
            }
        } else {
            for number in 0..state.combinations.len() {
                let left = &mut state.combinations[number].left;
                // Another replication of each: what simulations of one replication share is made once, and who asks second
                // would wait for it.
                let dearest = left.front().map_or(0.0, |place| tasks[*place].seconds);
                let equal = left
                    .iter()
                    .take_while(|place| tasks[**place].seconds >= dearest);
                let equal = equal.count().max(1);
                state.first.extend(left.remove(number % equal));
                state.enter(number);
            }
        }
        Self(Mutex::new(state))
    }

    /// The next task and its number. `now` is the time since the sweep began.
    pub(super) fn next(&self, now: Duration) -> Option<(usize, &'t Task)> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = state.next(now)?;
        Some((place, &state.tasks[place]))
    }

    /// Tells how long a task took.
    pub(super) fn took(&self, place: usize, wall: Duration) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.expected += state.tasks[place].seconds;
        state.taken += wall.as_secs_f64();
        let number = state.combination_of[place];
        state.untold.retain(|(untold, _)| *untold != number);
        let combination = &mut state.combinations[number];
        combination.ended += 1;
        combination.taken += wall.as_secs_f64();
        state.enter(number);
    }

    /// Tells that a task is not done here: it has its result, or another program has it under way. Nothing is learned from it.
    pub(super) fn left_to_others(&self, place: usize) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = state.combination_of[place];
        state.untold.retain(|(untold, _)| *untold != number);
        state.enter(number);
    }
}

impl State<'_> {
    fn next(&mut self, now: Duration) -> Option<usize> {
        if let Some(place) = self.first.pop_front() {
            self.untold.push((self.combination_of[place], now));
            return Some(place);
        }
        // What is under way takes at least as long as it has taken so far.
        for place in 0..self.untold.len() {
            let (number, begun) = self.untold[place];
            self.enter_at_least(number, now.saturating_sub(begun));
        }
        while let Some(entry) = self.rest.pop() {
            let combination = &mut self.combinations[entry.combination];
            if combination.version != entry.version {
                continue;
            }
            if let Some(place) = combination.left.pop_front() {
                self.enter(entry.combination);
                return Some(place);
            }
        }
        None
    }

    /// Puts a combination where it belongs now.
    fn enter(&mut self, number: usize) {
        self.enter_at_least(number, Duration::ZERO);
    }

    fn enter_at_least(&mut self, number: usize, least: Duration) {
        let combination = &mut self.combinations[number];
        if combination.left.is_empty() {
            return;
        }
        let seconds = if combination.ended > 0 {
            combination.taken / f64::from(combination.ended)
        } else if self.expected > 0.0 {
            combination.expected * self.taken / self.expected
        } else {
            combination.expected
        };
        combination.version += 1;
        self.rest.push(Entry {
            seconds: seconds.max(least.as_secs_f64()),
            combination: number,
            version: combination.version,
        });
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        let dearer = self.seconds.total_cmp(&other.seconds);
        dearer.then(other.combination.cmp(&self.combination))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::sweep::{CostModel, Experiment};

    const TEXT: &str = r#"[experiment]
name = "order"
replications = 6
[workload]
model = "lublin-feitelson"
jobs = 5000
nodes = 128
battery_jobs = 100
target_load = 2.0
[[axis]]
key = "scheduling.strategy"
values = ["easy-backfilling", "heuristic-planning", "heuristic-overbooking"]
[[axis]]
key = "acceptance.pof_max"
values = [0.1, 0.2, 0.3, 0.4]
"#;

    fn sweep() -> Sweep {
        Experiment::parse("order.toml", TEXT, None).unwrap().sweep
    }

    fn tasks(sweep: &Sweep) -> Vec<Task> {
        crate::sweep::coordinator::tasks(sweep, &Default::default(), &CostModel::default())
    }

    /// What a simulation really takes: the opposite of what is expected.
    fn really(sweep: &Sweep, task: &Task) -> Duration {
        let spec = sweep.simulations.get(task.simulation);
        let threshold = (spec.scheduling.acceptance.threshold() * 1_000.0) as u64;
        let strategy = match spec.scheduling.strategy.as_str() {
            "easy-backfilling" => 40_000,
            "heuristic-planning" => 9_000,
            _ => 4_000,
        };
        Duration::from_millis(strategy - 5 * threshold + u64::from(spec.replication))
    }

    /// What so many workers begin and when, by a clock of their own: the begin and the length of each.
    fn played(sweep: &Sweep, tasks: &[Task], workers: usize) -> Vec<(Duration, Duration)> {
        let order = Order::new(sweep, tasks);
        let mut free = vec![Duration::ZERO; workers];
        let mut under_way: BTreeMap<(Duration, usize), Duration> = BTreeMap::new();
        let mut begun = Vec::new();
        loop {
            free.sort();
            let now = free[0];
            while let Some(entry) = under_way.first_entry().filter(|entry| entry.key().0 <= now) {
                let ((_, place), wall) = entry.remove_entry();
                order.took(place, wall);
            }
            let Some((place, task)) = order.next(now) else {
                return begun;
            };
            let wall = really(sweep, task);
            begun.push((now, wall));
            under_way.insert((now + wall, place), wall);
            free[0] = now + wall;
        }
    }

    #[test]
    fn a_long_point_never_starts_last_even_where_the_expectation_is_upside_down() {
        let sweep = sweep();
        let tasks = tasks(&sweep);
        for workers in [1, 2, 4] {
            let begun = played(&sweep, &tasks, workers);
            assert_eq!(begun.len(), tasks.len());
            let shortest = begun.iter().map(|(_, wall)| *wall).min().unwrap();
            let longest = begun.iter().map(|(_, wall)| *wall).max().unwrap();
            assert!(longest > shortest * 10);
            let (_, last) = begun.iter().max_by_key(|(begin, _)| *begin).unwrap();
            assert!(
                *last < shortest + shortest / 10,
                "{workers} workers begin {last:?} last, the shortest takes {shortest:?}"
            );
            // What is learned late costs little: the longest were begun before it was known that they are.
            let end = begun
                .iter()
                .map(|(begin, wall)| *begin + *wall)
                .max()
                .unwrap();
            let work: Duration = begun.iter().map(|(_, wall)| *wall).sum();
            assert!(
                end <= work / workers as u32 * 11 / 10,
                "{end:?} of {work:?}"
            );
        }
    }

    #[test]
    fn every_combination_is_tried_once_before_any_is_repeated_with_other_replications_beside_each_other()
     {
        let sweep = sweep();
        let tasks = tasks(&sweep);
        let order = Order::new(&sweep, &tasks);
        let first: Vec<&Task> = (0..6)
            .map(|_| order.next(Duration::ZERO).unwrap().1)
            .collect();
        let settings: BTreeSet<String> = first
            .iter()
            .map(|task| format!("{:?}", sweep.simulations.kind(task.simulation).scheduling))
            .collect();
        // Two baselines and four thresholds.
        assert_eq!(settings.len(), 6);
        let replications: BTreeSet<u32> = first
            .iter()
            .map(|task| sweep.simulations.get(task.simulation).replication)
            .collect();
        assert_eq!(replications.len(), 6);
    }

    #[test]
    fn what_others_do_is_not_taken_for_work_that_lasts() {
        let sweep = sweep();
        let tasks = tasks(&sweep);
        let order = Order::new(&sweep, &tasks);
        let combinations = 6;
        for number in 0..combinations {
            let (place, _) = order.next(Duration::ZERO).unwrap();
            if number == 0 {
                order.left_to_others(place);
            } else {
                order.took(place, Duration::from_secs(1));
            }
        }
        assert!(order.0.lock().unwrap().untold.is_empty());
        let mut entries = 0;
        while let Some((place, _)) = order.next(Duration::from_secs(1_000_000)) {
            order.left_to_others(place);
            entries = entries.max(order.0.lock().unwrap().rest.len());
        }
        // Two a task at most: one when it was entered, one when it was left.
        assert!(entries <= 2 * tasks.len(), "{entries}");
    }

    #[test]
    fn tasks_that_come_cheapest_first_are_begun_as_they_come() {
        let sweep = sweep();
        let mut tasks = tasks(&sweep);
        tasks.reverse();
        let order = Order::new(&sweep, &tasks);
        for place in 0..tasks.len() {
            assert_eq!(
                order.next(Duration::ZERO).map(|(next, _)| next),
                Some(place)
            );
            order.took(place, Duration::from_secs(1));
        }
        assert!(order.next(Duration::ZERO).is_none());
    }
}
