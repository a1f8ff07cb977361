//! Genetic searches for choices of slots: the multi-objective genetic algorithm of the thesis
//! (ALG-3: Singh 2008, §4.5) and, for comparison, NSGA-II (Deb et al. 2002) and a search by a
//! weighted sum with the same operators.

mod memory;
mod offers;
mod weighted;

use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use bookahead_core::random::Stream;

use self::memory::Memory;
pub(super) use self::offers::{by_start, search_offers};
pub use self::weighted::{WeightScale, Weighting, weighted_sum};
use super::{Evaluator, ParetoFront, PlanValue, assign_fitness, dominates};

/// How a genetic search is carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeneticSettings {
    /// Plans in a population, at least 2.
    pub population: u32,
    /// Generations of offspring after the initial population (AMB-14g).
    pub generations: u32,
    /// σ_share, the radius within which plans share their fitness (AMB-13); only [`moga`] reads it.
    pub sharing_radius: f64,
    /// Whether the plan that may use every slot, which always fits, is one of the initial ones
    /// (AMB-14; default no: the thesis draws all of them).
    pub all_slots_member: bool,
}

impl Default for GeneticSettings {
    /// As printed: 100 plans, all of them random at first, 10 generations, σ_share 0.041.
    fn default() -> Self {
        Self {
            population: 100,
            generations: 10,
            sharing_radius: 0.041,
            all_slots_member: false,
        }
    }
}

/// What a search found, and what it took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Genetic<C = Vec<bool>> {
    /// The plans that nothing beats.
    pub front: ParetoFront<C>,
    /// Plans that were evaluated (ALG-2), those included whose value was known from another plan.
    pub evaluations: u64,
    /// Evaluated plans on which the application did not fit.
    pub infeasible: u64,
}

/// A search under way.
struct Search<'a, 'b> {
    evaluator: &'a mut Evaluator<'b>,
    memory: Memory,
    found: Genetic,
}

impl<'a, 'b> Search<'a, 'b> {
    fn new(evaluator: &'a mut Evaluator<'b>) -> Self {
        Self {
            evaluator,
            memory: Memory::default(),
            found: Genetic::default(),
        }
    }

    fn evaluate(&mut self, plan: &[bool]) -> Option<PlanValue> {
        self.found.evaluations += 1;
        let value = self.memory.value(self.evaluator, plan);
        match value {
            Some(value) => {
                self.found.front.offer(value, || plan.to_vec());
            }
            None => self.found.infeasible += 1,
        }
        value
    }
}

type Plan = Vec<bool>;

/// The multi-objective genetic algorithm of the thesis: fitness by rank and niche, roulette,
/// two-point crossover of every pair, mutation of each bit with probability 1/n, no elitism but the
/// archive (AMB-14c). One run serves every α.
#[must_use]
pub fn moga(
    evaluator: &mut Evaluator<'_>,
    settings: &GeneticSettings,
    stream: &mut Stream,
) -> Genetic {
    let mut search = Search::new(evaluator);
    evolve(&mut search, settings, stream, |value| value);
    search.found
}

/// The generations of [`moga`]; `judged` is what fitness sees of a plan.
fn evolve(
    search: &mut Search<'_, '_>,
    settings: &GeneticSettings,
    stream: &mut Stream,
    judged: impl Fn(PlanValue) -> PlanValue,
) {
    let mut population = initial(search.evaluator.slots(), settings, stream);
    for generation in 0..=settings.generations {
        let values: Vec<Option<PlanValue>> = population
            .iter()
            .map(|plan| search.evaluate(plan).map(&judged))
            .collect();
        if generation == settings.generations {
            break;
        }
        let pool = mating_pool(&population, &values, settings.sharing_radius, stream);
        population = offspring(pool, stream, flip);
    }
}

/// As many plans as the population has, drawn by their fitness, in random pairs.
fn mating_pool<P: Clone>(
    population: &[P],
    values: &[Option<PlanValue>],
    sharing_radius: f64,
    stream: &mut Stream,
) -> Vec<P> {
    let fitness = assign_fitness(values, sharing_radius);
    let mut cumulated = Vec::with_capacity(fitness.len());
    let mut sum = 0.0;
    for member in &fitness {
        sum += member.probability;
        cumulated.push(sum);
    }
    let mut pool: Vec<P> = (0..population.len())
        .map(|_| {
            let drawn = stream.random::<f64>() * sum;
            let index = cumulated.partition_point(|upper| *upper <= drawn);
            population[index.min(population.len() - 1)].clone()
        })
        .collect();
    // Random pairs without replacement.
    pool.shuffle(stream);
    pool
}

/// NSGA-II: binary tournaments by front and crowding distance, and the best of parents and
/// offspring survive. The archive is kept beside it, so that both searches answer with all that
/// they ever saw.
#[must_use]
pub fn nsga2(
    evaluator: &mut Evaluator<'_>,
    settings: &GeneticSettings,
    stream: &mut Stream,
) -> Genetic {
    let size = settings.population as usize;
    let mut population = initial(evaluator.slots(), settings, stream);
    let mut search = Search::new(evaluator);
    let mut values: Vec<Option<PlanValue>> = population
        .iter()
        .map(|plan| search.evaluate(plan))
        .collect();
    for _ in 0..settings.generations {
        let order = by_front_and_crowding(&values);
        let mut place = vec![0; order.len()];
        for (position, &index) in order.iter().enumerate() {
            place[index] = position;
        }
        let pool: Vec<Plan> = (0..size)
            .map(|_| {
                let one = stream.random_range(0..population.len());
                let other = stream.random_range(0..population.len());
                let winner = if place[one] <= place[other] {
                    one
                } else {
                    other
                };
                population[winner].clone()
            })
            .collect();
        let children = offspring(pool, stream, flip);
        values.extend(
            children
                .iter()
                .map(|plan| search.evaluate(plan))
                .collect::<Vec<_>>(),
        );
        population.extend(children);
        let survivors: Vec<usize> = by_front_and_crowding(&values)
            .into_iter()
            .take(size)
            .collect();
        population = survivors
            .iter()
            .map(|&index| population[index].clone())
            .collect();
        values = survivors.iter().map(|&index| values[index]).collect();
    }
    search.found
}

fn initial(slots: usize, settings: &GeneticSettings, stream: &mut Stream) -> Vec<Plan> {
    let mut population: Vec<Plan> = (0..settings.population.max(2))
        .map(|_| (0..slots).map(|_| stream.random::<bool>()).collect())
        .collect();
    if settings.all_slots_member {
        population[0].fill(true);
    }
    population
}

/// Crosses neighbours in the pool and mutates; the last of an odd pool is copied with mutation.
fn offspring<G>(
    mut pool: Vec<Vec<G>>,
    stream: &mut Stream,
    mutate: impl Fn(&mut [G], &mut Stream),
) -> Vec<Vec<G>> {
    for pair in pool.chunks_exact_mut(2) {
        let (one, other) = pair.split_at_mut(1);
        cross(&mut one[0], &mut other[0], stream);
    }
    for plan in &mut pool {
        mutate(plan, stream);
    }
    pool
}

/// Two-point crossover: what lies between two distinct cuts changes sides. Two bits have one cut,
/// one bit none (AMB-14d).
fn cross<G>(one: &mut [G], other: &mut [G], stream: &mut Stream) {
    let bits = one.len();
    let (from, to) = match bits {
        0 | 1 => return,
        2 => (1, 2),
        _ => {
            let first = stream.random_range(1..bits);
            let mut second = stream.random_range(1..bits - 1);
            if second >= first {
                second += 1;
            }
            (first.min(second), first.max(second))
        }
    };
    one[from..to].swap_with_slice(&mut other[from..to]);
}

/// Mutates slots that a plan may use.
fn flip(plan: &mut [bool], stream: &mut Stream) {
    let chance = 1.0 / plan.len().max(1) as f64;
    for bit in plan {
        if stream.random_bool(chance) {
            *bit = !*bit;
        }
    }
}

/// Indices from the best: by non-dominated front, and within a front the least crowded first; ties
/// by index. What does not fit comes last.
fn by_front_and_crowding(values: &[Option<PlanValue>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(values.len());
    let mut rest: Vec<(usize, PlanValue)> = values
        .iter()
        .enumerate()
        .filter_map(|(index, value)| value.map(|value| (index, value)))
        .collect();
    while !rest.is_empty() {
        let (front, behind): (Vec<_>, Vec<_>) = rest
            .iter()
            .partition(|(_, value)| !rest.iter().any(|(_, other)| dominates(*other, *value)));
        let mut crowded = crowding(&front);
        crowded.sort_by(|(one, far), (other, near)| near.total_cmp(far).then(one.cmp(other)));
        order.extend(crowded.into_iter().map(|(index, _)| index));
        rest = behind;
    }
    let misfits = values.iter().enumerate();
    order.extend(
        misfits
            .filter(|(_, value)| value.is_none())
            .map(|(index, _)| index),
    );
    order
}

/// Crowding distance of each member of a front: how far its neighbours are apart in both
/// objectives, as shares of the front's range; infinite at the ends.
fn crowding(front: &[(usize, PlanValue)]) -> Vec<(usize, f64)> {
    let mut distances: Vec<(usize, f64)> = front.iter().map(|(index, _)| (*index, 0.0)).collect();
    let objectives: [fn(&PlanValue) -> f64; 2] =
        [|value| value.cost, |value| value.makespan.0 as f64];
    for objective in objectives {
        let mut sorted: Vec<usize> = (0..front.len()).collect();
        sorted.sort_by(|&one, &other| {
            objective(&front[one].1)
                .total_cmp(&objective(&front[other].1))
                .then(front[one].0.cmp(&front[other].0))
        });
        let (Some(&first), Some(&last)) = (sorted.first(), sorted.last()) else {
            continue;
        };
        let range = objective(&front[last].1) - objective(&front[first].1);
        distances[first].1 = f64::INFINITY;
        distances[last].1 = f64::INFINITY;
        for window in sorted.windows(3) {
            let gap = objective(&front[window[2]].1) - objective(&front[window[0]].1);
            if range > 0.0 {
                distances[window[1]].1 += gap / range;
            }
        }
    }
    distances
}

#[cfg(test)]
mod tests;
