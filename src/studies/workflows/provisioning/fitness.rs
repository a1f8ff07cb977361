//! Fitness of a population by rank, shared among neighbours (Singh 2008, §4.5, eqs. 8–14).

use super::{PlanValue, dominates};

/// Fitness of one member, step by step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fitness {
    /// `r_i`, one more than the members that dominate it (8).
    pub rank: usize,
    /// `F_i` (10).
    pub raw: f64,
    /// `nc_i`, how crowded its neighbourhood is.
    pub niche: f64,
    /// `F'_i` (12).
    pub shared: f64,
    /// `F'_i` after each rank was given back its total (13).
    pub scaled: f64,
    /// `p_i`, its share of the pool (14).
    pub probability: f64,
}

/// Assigns fitness to a population; `None` is a plan on which the application does not fit. Those
/// rank behind all others, as equals, and have no neighbours (AMB-14).
#[must_use]
pub fn assign_fitness(population: &[Option<PlanValue>], sharing_radius: f64) -> Vec<Fitness> {
    let size = population.len();
    let mut fitness = vec![Fitness::default(); size];
    let feasible = population.iter().flatten().count();
    for (index, value) in population.iter().enumerate() {
        fitness[index].rank = 1 + match value {
            Some(value) => population
                .iter()
                .flatten()
                .filter(|other| dominates(**other, *value))
                .count(),
            None => feasible,
        };
    }
    let mut of_rank = vec![0_usize; size + 2];
    for member in &fitness {
        of_rank[member.rank] += 1;
    }
    let mut before = vec![0_usize; size + 2];
    for rank in 1..=size {
        before[rank + 1] = before[rank] + of_rank[rank];
    }
    let cost_range = range(population.iter().flatten().map(|value| value.cost));
    let makespan_range = range(
        population
            .iter()
            .flatten()
            .map(|value| value.makespan.0 as f64),
    );
    for index in 0..size {
        let rank = fitness[index].rank;
        let niche = match population[index] {
            None => 1.0,
            Some(value) => population
                .iter()
                .enumerate()
                .filter(|(other, _)| fitness[*other].rank == rank)
                .filter_map(|(_, other)| *other)
                .map(|other| {
                    let cost = (value.cost - other.cost) / cost_range;
                    let makespan = (value.makespan - other.makespan).0 as f64 / makespan_range;
                    let distance = (cost * cost + makespan * makespan).sqrt();
                    if distance <= sharing_radius {
                        1.0 - distance / sharing_radius
                    } else {
                        0.0
                    }
                })
                .sum(),
        };
        let member = &mut fitness[index];
        member.raw = size as f64 - before[rank] as f64 - 0.5 * (of_rank[rank] as f64 - 1.0);
        member.niche = niche;
        member.shared = member.raw / niche;
    }
    let mut of_rank_shared = vec![0.0; size + 2];
    for member in &fitness {
        of_rank_shared[member.rank] += member.shared;
    }
    for member in &mut fitness {
        let scale = member.raw * of_rank[member.rank] as f64 / of_rank_shared[member.rank];
        member.scaled = member.shared * scale;
    }
    let total: f64 = fitness.iter().map(|member| member.scaled).sum();
    for member in &mut fitness {
        member.probability = member.scaled / total;
    }
    fitness
}

/// Highest minus least; 1 where that is 0, so that the term is 0 (AMB-14b).
fn range(values: impl Iterator<Item = f64>) -> f64 {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if high > low { high - low } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use bookahead_core::units::Seconds;

    use super::*;

    /// A population worked out by hand; makespans times ten, which distances do not see.
    #[test]
    fn the_population_of_section_12_6_has_the_fitness_that_it_lists() {
        let population = [
            (10.0, 90),
            (12.0, 60),
            (12.2, 59),
            (20.0, 40),
            (15.0, 80),
            (22.0, 100),
        ]
        .map(|(cost, makespan)| {
            Some(PlanValue {
                cost,
                makespan: Seconds(makespan),
            })
        });
        let expected = [
            (1, 4.5, 1.0, 4.5, 5.2888, 0.2518),
            (1, 4.5, 1.4251, 3.1576, 3.7112, 0.1767),
            (1, 4.5, 1.4251, 3.1576, 3.7112, 0.1767),
            (1, 4.5, 1.0, 4.5, 5.2888, 0.2518),
            (3, 2.0, 1.0, 2.0, 2.0, 0.0952),
            (6, 1.0, 1.0, 1.0, 1.0, 0.0476),
        ];
        let close = |one: f64, other: f64| (one - other).abs() < 1e-4;
        for (member, expected) in assign_fitness(&population, 0.041).iter().zip(expected) {
            let (rank, raw, niche, shared, scaled, probability) = expected;
            assert_eq!((member.rank, member.raw), (rank, raw));
            assert!(close(member.niche, niche), "{member:?}");
            assert!(close(member.shared, shared), "{member:?}");
            assert!(close(member.scaled, scaled), "{member:?}");
            assert!(close(member.probability, probability), "{member:?}");
        }
    }

    #[test]
    fn plans_that_do_not_fit_rank_last_and_as_equals() {
        let value = |cost| {
            Some(PlanValue {
                cost,
                makespan: Seconds(1),
            })
        };
        let fitness = assign_fitness(&[None, value(1.0), None, value(2.0)], 0.041);
        let ranks: Vec<usize> = fitness.iter().map(|member| member.rank).collect();
        assert_eq!(ranks, [3, 1, 3, 2]);
    }
}
