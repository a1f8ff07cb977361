//! A genetic search by one value: the objectives are weighted first (Singh 2008, §4.4, Fig. 10b).

use bookahead_core::random::Stream;
use bookahead_core::units::Seconds;
use bookahead_reservations::selection::TIE;
use serde::{Deserialize, Serialize};

use super::{Evaluator, Genetic, GeneticSettings, PlanValue, Search, evolve};

/// In which units cost and makespan are weighted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightScale {
    /// Service units and hours.
    #[default]
    Raw,
    /// Shares of ranges that are known before the search: the cost from that of best effort to
    /// twice as much, the makespan from the longest path to that of the plan that may use every
    /// slot.
    Bounds,
}

impl WeightScale {
    /// Whether it is the one that is not written down.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The value that a search by one value goes by: α · cost + (1 − α) · makespan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weighting {
    /// The weight of the cost, in `[0, 1]`.
    pub alpha: f64,
    /// Of what α is a share.
    pub scale: WeightScale,
}

/// A weighting, and where both objectives begin and what counts as one unit of them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Objective {
    alpha: f64,
    /// In service units.
    cost: Unit,
    /// In hours.
    makespan: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Unit {
    from: f64,
    length: f64,
}

impl Unit {
    const ONE: Self = Self {
        from: 0.0,
        length: 1.0,
    };

    /// One that is empty is as long as [`Self::ONE`].
    fn between(from: f64, to: f64) -> Self {
        let length = if to > from { to - from } else { 1.0 };
        Self { from, length }
    }

    fn share(self, value: f64) -> f64 {
        (value - self.from) / self.length
    }
}

impl Objective {
    /// Of this weighting; the plan that may use every slot is evaluated where bounds need it.
    fn of(weighting: Weighting, search: &mut Search<'_, '_>) -> Self {
        let Weighting { alpha, scale } = weighting;
        let (cost, makespan) = match scale {
            WeightScale::Raw => (Unit::ONE, Unit::ONE),
            WeightScale::Bounds => {
                let application = search.evaluator.application();
                let least = application.least_cost() / 3_600.0;
                let path = application.least_schedule_cost().hours();
                let every_slot = vec![true; search.evaluator.slots()];
                let on_all = search.evaluate(&every_slot);
                let slowest = on_all.map_or(path, |value| value.makespan.hours());
                let makespan = Unit::between(path, slowest);
                (Unit::between(least, 2.0 * least), makespan)
            }
        };
        Self {
            alpha,
            cost,
            makespan,
        }
    }

    fn value(&self, plan: PlanValue) -> f64 {
        let cost = self.cost.share(plan.cost);
        let makespan = self.makespan.share(plan.makespan.hours());
        self.alpha * cost + (1.0 - self.alpha) * makespan
    }

    /// The index of the least value; of equal ones the first.
    fn least(&self, plans: impl Iterator<Item = PlanValue>) -> Option<usize> {
        let mut best: Option<(usize, f64)> = None;
        for (index, plan) in plans.enumerate() {
            let value = self.value(plan);
            if best.is_none_or(|(_, least)| value < least - TIE) {
                best = Some((index, value));
            }
        }
        best.map(|(index, _)| index)
    }
}

/// The genetic algorithm of the thesis for one objective, the weighted sum of both: operators and
/// sizes are those of [`moga`](super::moga), and a rank is one more than the number of plans with
/// a lower sum. The front holds one plan, the best that was evaluated; of equals the shortest. One
/// run serves one α.
#[must_use]
pub fn weighted_sum(
    evaluator: &mut Evaluator<'_>,
    settings: &GeneticSettings,
    weighting: Weighting,
    stream: &mut Stream,
) -> Genetic {
    let mut search = Search::new(evaluator);
    let objective = Objective::of(weighting, &mut search);
    // Plans of equal sums share one niche, and their rank gets back what they share: fitness is by
    // rank alone.
    let one_value = |plan| PlanValue {
        cost: objective.value(plan),
        makespan: Seconds::ZERO,
    };
    evolve(&mut search, settings, stream, one_value);
    let mut found = search.found;
    // The least sum of all that were evaluated is that of a plan that nothing dominates, and the
    // front begins with the shortest.
    let members = found.front.members().iter();
    if let Some(index) = objective.least(members.map(|(value, _)| *value)) {
        found.front = found.front.only(index);
    }
    found
}

#[cfg(test)]
mod tests {
    use bookahead_core::plan::Slot;
    use bookahead_core::random;
    use bookahead_core::units::Nodes;
    use proptest::prelude::*;

    use super::super::super::{Advertised, Application, ParetoFront};
    use super::super::tests::{exhaustive, hole_or_edge, market};
    use super::*;

    fn weighting(alpha: f64, scale: WeightScale) -> Weighting {
        Weighting { alpha, scale }
    }

    fn found(
        (application, slots): &(Application, Vec<Advertised>),
        settings: &GeneticSettings,
        weighting: Weighting,
    ) -> Genetic {
        let mut evaluator = Evaluator::new(application, slots, Seconds(0));
        let mut stream = random::stream(3, "weighted", 0, "search");
        weighted_sum(&mut evaluator, settings, weighting, &mut stream)
    }

    /// S2 of the addendum: four plans, SU and hours.
    #[test]
    fn the_plans_of_s2_are_chosen_as_units_want_and_one_by_no_weight() {
        let plans = [(20.0, 4.0), (16.0, 5.5), (12.0, 6.0), (10.0, 9.0)];
        let plans = plans.map(|(cost, hours)| PlanValue {
            cost,
            makespan: Seconds::from_hours(hours),
        });
        let chosen = |alpha, hour| {
            let makespan = Unit {
                from: 0.0,
                length: hour,
            };
            let cost = Unit::ONE;
            let objective = Objective {
                alpha,
                cost,
                makespan,
            };
            plans[objective.least(plans.into_iter()).unwrap()].cost
        };
        // Hours: .6·10 + .4·9 = .6·12 + .4·6 = 9.6, a tie, which goes to the shorter one.
        assert_eq!(
            [0.59, 0.6, 0.61].map(|alpha| chosen(alpha, 1.0)),
            [12.0, 12.0, 10.0]
        );
        // Seconds: 12 + .4·14,400 is the least.
        assert_eq!(chosen(0.6, 1.0 / 3_600.0), 20.0);
        // (16, 5.5) is above the line from (12, 6) to (20, 4).
        for step in 0..=1_000 {
            let alpha = f64::from(step) / 1_000.0;
            assert!(
                [0.01, 1.0, 3.0]
                    .iter()
                    .all(|hour| chosen(alpha, *hour) != 16.0)
            );
        }
        let mut front = ParetoFront::<()>::default();
        for plan in plans {
            front.offer(plan, || ());
        }
        let by_archive = front.choose(0.6).unwrap();
        assert_eq!(front.members()[by_archive].0.cost, 12.0);
        assert_eq!(front.only(1).members()[0].0.cost, 16.0);
    }

    /// The hole costs 20 SU and ends after 4 h, the edge 8 SU and 14 h. In units they are equal at
    /// 20 α + 4 (1 − α) = 8 α + 14 (1 − α), α = 10/22. By bounds, which are 8 to 16 SU and an hour
    /// from 4 h on, as the longest path and the makespan on both slots are 4 h, at 1.5 α =
    /// 10 (1 − α), α = 10/11.5.
    #[test]
    fn a_search_answers_with_one_plan_which_is_the_best_by_its_weight_and_its_scale() {
        let scene = hole_or_edge();
        let settings = GeneticSettings::default();
        for (scale, tie, evaluations) in [
            (WeightScale::Raw, 10.0 / 22.0, 1_100),
            (WeightScale::Bounds, 10.0 / 11.5, 1_101),
        ] {
            for (alpha, cost) in [
                (0.0, 20.0),
                (tie - 0.01, 20.0),
                (tie + 0.01, 8.0),
                (1.0, 8.0),
            ] {
                let found = found(&scene, &settings, weighting(alpha, scale));
                let members = found.front.members();
                assert_eq!(members.len(), 1);
                assert_eq!(members[0].0.cost, cost, "{alpha}");
                assert_eq!(found.evaluations, evaluations);
            }
        }
    }

    #[test]
    fn nothing_is_found_where_nothing_fits() {
        let (application, _) = hole_or_edge();
        let hole = Slot::hole(Seconds(0), Nodes(1), Seconds(60));
        let scene = (
            application,
            vec![Advertised {
                site: 0,
                slot: hole,
            }],
        );
        for scale in [WeightScale::Raw, WeightScale::Bounds] {
            let found = found(&scene, &GeneticSettings::default(), weighting(0.5, scale));
            assert!(found.front.members().is_empty());
            assert_eq!(found.infeasible, found.evaluations);
        }
    }

    proptest! {
        /// Never better than the best of all choices, and as good where all are tried.
        #[test]
        fn no_plan_has_a_lower_sum_than_the_best_of_all_choices(scene in market(), alpha in 0.0..1.0_f64) {
            let (application, slots) = &scene;
            let objective = Objective { alpha, cost: Unit::ONE, makespan: Unit::ONE };
            let settings = GeneticSettings { all_slots_member: true, ..GeneticSettings::default() };
            let found = found(&scene, &settings, weighting(alpha, WeightScale::Raw));
            let (value, plan) = &found.front.members()[0];
            let mut evaluator = Evaluator::new(application, slots, Seconds(0));
            prop_assert_eq!(evaluator.evaluate(plan), Some(*value));
            let all = exhaustive(application, slots);
            let sums = all.members().iter().map(|(value, _)| objective.value(*value));
            let least = sums.fold(f64::INFINITY, f64::min);
            // At most seven slots: 1,100 plans are nearly all of the 128.
            prop_assert!((objective.value(*value) - least).abs() < 1e-9);
        }
    }
}
