//! Which simulation a free worker begins: one of every combination first, then the dearest by what
//! those took.
//!
//! An expectation that rests on the settings alone can be wrong about a new trace or a new policy,
//! and a long simulation that begins last leaves the other workers without work. Replications of
//! one combination of axis values cost about the same, so the first of each tells how long the
//! others take.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::time::Duration;

use super::spec::{Sweep, Task};

/// Tasks that travel together at most.
const MOST: usize = 128;

/// The tasks of a sweep that are not begun, by their places in the list of tasks.
pub(super) struct Order {
    /// Seconds expected of each task.
    seconds: Vec<f64>,
    /// The combination of each task.
    combination_of: Vec<usize>,
    combinations: Vec<Combination>,
    /// One task of each combination, dearest first; or all tasks as they were given.
    first: VecDeque<usize>,
    /// Combinations with tasks left, by what the next one will take; an entry that is not the
    /// newest of its combination is void.
    rest: BinaryHeap<Entry>,
    /// Tasks of combinations of which nothing has ended yet, with the moment at which they were
    /// handed out: as many a worker as travel together.
    untold: Vec<(usize, Duration)>,
    /// Tasks that are not begun.
    open: usize,
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

impl Order {
    /// An order of these tasks. Tasks that do not come dearest first are meant to be done as they
    /// come: another program does the same ones from the other end.
    pub(super) fn new(sweep: &Sweep, tasks: &[Task]) -> Self {
        let as_given = tasks
            .windows(2)
            .any(|pair| pair[0].seconds < pair[1].seconds);
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        let mut order = Self {
            seconds: tasks.iter().map(|task| task.seconds).collect(),
            combination_of: Vec::with_capacity(tasks.len()),
            combinations: Vec::new(),
            first: VecDeque::new(),
            rest: BinaryHeap::new(),
            untold: Vec::new(),
            open: tasks.len(),
            expected: 0.0,
            taken: 0.0,
        };
        // Points come in the order of the axes, then replications.
        let replications = (sweep.replications as usize).max(1);
        for (place, task) in tasks.iter().enumerate() {
            let point = task.points.first().copied().unwrap_or(place);
            let next = numbers.len();
            let number = *numbers.entry(point / replications).or_insert(next);
            if number == order.combinations.len() {
                order.combinations.push(Combination {
                    expected: task.seconds,
                    ..Combination::default()
                });
            }
            order.combination_of.push(number);
            order.combinations[number].left.push_back(place);
        }
        if as_given {
            order.first = (0..tasks.len()).collect();
            for combination in &mut order.combinations {
                combination.left.clear();
            }
        } else {
            for number in 0..order.combinations.len() {
                let left = &mut order.combinations[number].left;
                // Another replication of each: what simulations of one replication share is made
                // once, and who asks second would wait for it.
                let dearest = left.front().map_or(0.0, |place| tasks[*place].seconds);
                let equal = left
                    .iter()
                    .take_while(|place| tasks[**place].seconds >= dearest);
                let equal = equal.count().max(1);
                order.first.extend(left.remove(number % equal));
                order.enter(number);
            }
        }
        order
    }

    /// The next tasks for one of so many workers: one that takes at least `slice`, or smaller ones
    /// that fill it, but never so many that others are left without. `now` is the time since the
    /// sweep began.
    pub(super) fn batch(&mut self, now: Duration, slice: Duration, workers: usize) -> Vec<usize> {
        let most = (self.open / (2 * workers.max(1))).clamp(1, MOST);
        let mut batch = Vec::new();
        let mut seconds = 0.0;
        while batch.len() < most && seconds < slice.as_secs_f64() {
            let Some(place) = self.next(now) else { break };
            seconds += self.expected_seconds(self.combination_of[place]);
            batch.push(place);
        }
        batch
    }

    /// The next task.
    fn next(&mut self, now: Duration) -> Option<usize> {
        let place = self.pick(now)?;
        self.open -= 1;
        Some(place)
    }

    /// Tells how long a task took.
    pub(super) fn took(&mut self, place: usize, wall: Duration) {
        self.expected += self.seconds[place];
        self.taken += wall.as_secs_f64();
        let combination = &mut self.combinations[self.combination_of[place]];
        combination.ended += 1;
        combination.taken += wall.as_secs_f64();
        self.left_to_others(place);
    }

    /// Tells that a task is not done here: it has its result, or another program has it under way.
    /// Nothing is learned from it.
    pub(super) fn left_to_others(&mut self, place: usize) {
        let number = self.combination_of[place];
        let combination_of = &self.combination_of;
        self.untold
            .retain(|(untold, _)| combination_of[*untold] != number);
        self.enter(number);
    }

    /// Takes a task back that was not begun after all: it is the next one.
    pub(super) fn put_back(&mut self, place: usize) {
        self.untold.retain(|(untold, _)| *untold != place);
        self.first.push_front(place);
        self.open += 1;
    }

    fn pick(&mut self, now: Duration) -> Option<usize> {
        if let Some(place) = self.first.pop_front() {
            self.untold.push((place, now));
            return Some(place);
        }
        // What is under way takes at least as long as it has taken so far.
        for entry in 0..self.untold.len() {
            let (place, begun) = self.untold[entry];
            self.enter_at_least(self.combination_of[place], now.saturating_sub(begun));
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
        let seconds = self.expected_seconds(number);
        let combination = &mut self.combinations[number];
        if combination.left.is_empty() {
            return;
        }
        combination.version += 1;
        self.rest.push(Entry {
            seconds: seconds.max(least.as_secs_f64()),
            combination: number,
            version: combination.version,
        });
    }

    /// What one of a combination takes: by those that have ended, else by what was expected of it.
    fn expected_seconds(&self, number: usize) -> f64 {
        let combination = &self.combinations[number];
        if combination.ended > 0 {
            combination.taken / f64::from(combination.ended)
        } else if self.expected > 0.0 {
            combination.expected * self.taken / self.expected
        } else {
            combination.expected
        }
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
    use crate::study::testing::STUDIES;
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
load.value = 2.0
[[axis]]
key = "scheduling.strategy"
values = ["easy-backfilling", "heuristic-planning", "heuristic-overbooking"]
[[axis]]
key = "acceptance.pof_max"
values = [0.1, 0.2, 0.3, 0.4]
"#;

    fn sweep() -> Sweep {
        Experiment::parse(STUDIES, "order.toml", TEXT, None)
            .unwrap()
            .sweep
    }

    fn tasks(sweep: &Sweep) -> Vec<Task> {
        let all: Vec<usize> = (0..sweep.points.len()).collect();
        crate::sweep::tasks(sweep, &all, &Default::default(), &CostModel::default())
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

    /// What so many workers begin and when, by a clock of their own: the begin and the length of
    /// each.
    fn played(sweep: &Sweep, tasks: &[Task], workers: usize) -> Vec<(Duration, Duration)> {
        let mut order = Order::new(sweep, tasks);
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
            let Some(place) = order.next(now) else {
                return begun;
            };
            let wall = really(sweep, &tasks[place]);
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
            // What is learned late costs little: the longest were begun before it was known that
            // they are.
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
        let mut order = Order::new(&sweep, &tasks);
        let first: Vec<&Task> = (0..6)
            .map(|_| &tasks[order.next(Duration::ZERO).unwrap()])
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
        let mut order = Order::new(&sweep, &tasks);
        let combinations = 6;
        for number in 0..combinations {
            let place = order.next(Duration::ZERO).unwrap();
            if number == 0 {
                order.left_to_others(place);
            } else {
                order.took(place, Duration::from_secs(1));
            }
        }
        assert!(order.untold.is_empty());
        let mut entries = 0;
        while let Some(place) = order.next(Duration::from_secs(1_000_000)) {
            order.left_to_others(place);
            entries = entries.max(order.rest.len());
        }
        // Two a task at most: one when it was entered, one when it was left.
        assert!(entries <= 2 * tasks.len(), "{entries}");
    }

    #[test]
    fn tasks_that_come_cheapest_first_are_begun_as_they_come() {
        let sweep = sweep();
        let mut tasks = tasks(&sweep);
        tasks.reverse();
        let mut order = Order::new(&sweep, &tasks);
        for place in 0..tasks.len() {
            assert_eq!(order.next(Duration::ZERO), Some(place));
            order.took(place, Duration::from_secs(1));
        }
        assert!(order.next(Duration::ZERO).is_none());
    }

    #[test]
    fn small_tasks_travel_together_and_large_ones_alone_and_others_are_left_some() {
        let sweep = sweep();
        let mut tasks = tasks(&sweep);
        for task in &mut tasks {
            task.seconds = 0.001;
        }
        let slice = Duration::from_millis(4);
        let mut order = Order::new(&sweep, &tasks);
        assert_eq!(order.batch(Duration::ZERO, slice, 2).len(), 4);
        let one_of_many = order.batch(Duration::ZERO, slice, tasks.len());
        assert_eq!(one_of_many.len(), 1);
        // They turn out to be long: nothing travels together any more.
        for place in one_of_many {
            order.took(place, Duration::from_secs(1));
        }
        assert_eq!(order.batch(Duration::ZERO, slice, 2).len(), 1);
        // However small they are, the last ones are shared out one by one.
        let mut order = Order::new(&sweep, &tasks);
        let mut sizes = Vec::new();
        loop {
            let batch = order.batch(Duration::ZERO, Duration::from_secs(60), 2);
            if batch.is_empty() {
                break;
            }
            sizes.push(batch.len());
        }
        assert!(sizes.is_sorted_by(|one, next| one >= next), "{sizes:?}");
        assert_eq!(sizes.iter().sum::<usize>(), tasks.len());
        assert!(sizes.ends_with(&[1, 1, 1]), "{sizes:?}");
    }

    #[test]
    fn a_task_that_was_taken_and_not_begun_is_the_next_one() {
        let sweep = sweep();
        let tasks = tasks(&sweep);
        let mut order = Order::new(&sweep, &tasks);
        let taken: Vec<usize> = (0..3).filter_map(|_| order.next(Duration::ZERO)).collect();
        for place in taken.iter().rev() {
            order.put_back(*place);
        }
        assert!(order.untold.is_empty());
        let again: Vec<usize> = std::iter::from_fn(|| order.next(Duration::ZERO)).collect();
        assert_eq!(again[..3], taken);
        assert_eq!(again.len(), tasks.len());
    }
}
