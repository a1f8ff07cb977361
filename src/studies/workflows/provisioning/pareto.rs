//! Plans that no other beats in both objectives.

use bookahead_reservations::selection;

use super::PlanValue;

/// Whether `one` is at least as good as `other` in both objectives and better in one (Singh 2008,
/// Figure 9).
#[must_use]
pub fn dominates(one: PlanValue, other: PlanValue) -> bool {
    one.cost <= other.cost
        && one.makespan <= other.makespan
        && (one.cost < other.cost || one.makespan < other.makespan)
}

/// An archive of plans none of which dominates another (Singh 2008, §4.5); of equal values the
/// first is kept (AMB-14e). With each goes what it consists of: the slots that it may use, where
/// slots are advertised.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParetoFront<C = Vec<bool>> {
    members: Vec<(PlanValue, C)>,
}

impl<C> ParetoFront<C> {
    /// Takes a plan in if none of the front is as good; what it dominates leaves. Returns whether
    /// it was taken in.
    pub fn offer(&mut self, value: PlanValue, chosen: impl FnOnce() -> C) -> bool {
        let beaten = |(known, _): &(PlanValue, C)| *known == value || dominates(*known, value);
        if self.members.iter().any(beaten) {
            return false;
        }
        self.members.retain(|(known, _)| !dominates(value, *known));
        let place = self
            .members
            .partition_point(|(known, _)| known.makespan < value.makespan);
        self.members.insert(place, (value, chosen()));
        true
    }

    /// Values and what the plans consist of, by rising makespan, which is by falling cost.
    #[must_use]
    pub fn members(&self) -> &[(PlanValue, C)] {
        &self.members
    }

    /// This member alone; an empty front where there is none of this index.
    #[must_use]
    pub fn only(mut self, index: usize) -> Self {
        self.members = self.members.drain(..).skip(index).take(1).collect();
        self
    }

    /// The member that α picks (Singh 2008, eq. 15): 0 takes the shortest makespan, 1 the least
    /// cost. `None` for an empty front.
    #[must_use]
    pub fn choose(&self, alpha: f64) -> Option<usize> {
        let values = self.members.iter();
        selection::choose(
            values.map(|(value, _)| (value.cost, value.makespan.0 as f64)),
            alpha,
        )
    }
}

/// The area that the values dominate, up to a reference point that is worse than all of them, in
/// units of money × seconds. Values that are not better than the reference in both objectives add
/// nothing.
#[must_use]
pub fn hypervolume(values: &[PlanValue], reference: PlanValue) -> f64 {
    let mut sorted: Vec<PlanValue> = values
        .iter()
        .copied()
        .filter(|value| value.cost < reference.cost && value.makespan < reference.makespan)
        .collect();
    sorted.sort_by(|one, other| {
        (one.makespan, one.cost)
            .partial_cmp(&(other.makespan, other.cost))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut area = 0.0;
    let mut ceiling = reference.cost;
    for value in sorted {
        if value.cost < ceiling {
            let width = (reference.makespan - value.makespan).0 as f64;
            area += width * (ceiling - value.cost);
            ceiling = value.cost;
        }
    }
    area
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use bookahead_core::units::Seconds;

    use super::*;

    fn value(cost: f64, makespan: i64) -> PlanValue {
        PlanValue {
            cost,
            makespan: Seconds(makespan),
        }
    }

    /// The population of the fitness tests, times ten, as makespans are whole seconds.
    #[test]
    fn alpha_picks_from_the_front_of_section_12_6_as_it_says() {
        let mut front = ParetoFront::<()>::default();
        for (cost, makespan) in [
            (10.0, 90),
            (12.0, 60),
            (12.2, 59),
            (20.0, 40),
            (15.0, 80),
            (22.0, 100),
        ] {
            front.offer(value(cost, makespan), || ());
        }
        assert_eq!(front.members().len(), 4);
        let costs = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0].map(|alpha| {
            let index = front.choose(alpha).unwrap();
            front.members()[index].0.cost
        });
        assert_eq!(costs, [20.0, 20.0, 12.2, 12.0, 10.0, 10.0]);
        // A tie at 0.5 goes to the shorter makespan.
        let tie = front.choose(0.5).unwrap();
        assert_eq!(front.members()[tie].0.cost, 12.2);
    }

    #[test]
    fn the_hypervolume_of_two_steps_is_the_area_below_them() {
        let front = [value(4.0, 1), value(1.0, 3), value(5.0, 2)];
        // Three seconds at 1 above 4, and one second more at 3 above 1.
        assert_eq!(hypervolume(&front, value(5.0, 4)), 3.0 + 3.0);
        assert_eq!(hypervolume(&front, value(1.0, 4)), 0.0);
    }

    proptest! {
        #[test]
        fn no_member_of_a_front_dominates_another(values in prop::collection::vec((0_u8..20, 0_i64..20), 1..40)) {
            let mut front = ParetoFront::<()>::default();
            for (cost, makespan) in &values {
                front.offer(value(f64::from(*cost), *makespan), || ());
            }
            for (one, _) in front.members() {
                for (other, _) in front.members() {
                    prop_assert!(!dominates(*one, *other));
                }
            }
            for (cost, makespan) in values {
                let offered = value(f64::from(cost), makespan);
                let kept = |(known, ()): &(PlanValue, ())| {
                    *known == offered || dominates(*known, offered)
                };
                prop_assert!(front.members().iter().any(kept));
            }
        }
    }
}
