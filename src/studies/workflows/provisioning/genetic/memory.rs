//! Values of plans that need not be worked out again.

use super::super::{Evaluator, PlanValue};

/// What is known of plans that were evaluated.
///
/// A slot that a plan may use and does not use may as well be missing: no task found a place in it,
/// and none finds a better place where there are fewer slots. So every plan between the slots that
/// were used and the slots that were chosen has the same value, and where the application did not
/// fit, it does not fit either. Populations are full of such plans.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Used and chosen slots of each known plan, as bits.
    sets: Vec<(u64, u64)>,
    values: Vec<Option<PlanValue>>,
    wanted: Vec<u64>,
}

impl Memory {
    /// The value of a plan, from memory or else from the evaluator.
    pub fn value(&mut self, evaluator: &mut Evaluator<'_>, plan: &[bool]) -> Option<PlanValue> {
        self.wanted.clear();
        self.wanted.extend(plan.chunks(64).map(bits));
        let words = self.wanted.len();
        let known = (0..self.values.len()).find(|&number| {
            let sets = &self.sets[number * words..(number + 1) * words];
            let mut pairs = sets.iter().zip(&self.wanted);
            pairs.all(|((used, chosen), wanted)| used & !wanted == 0 && wanted & !chosen == 0)
        });
        if let Some(known) = known {
            return self.values[known];
        }
        let value = evaluator.evaluate(plan);
        let begin = self.sets.len();
        self.sets
            .extend(self.wanted.iter().map(|chosen| (0, *chosen)));
        for (slot, _) in evaluator.used() {
            self.sets[begin + slot / 64].0 |= 1 << (slot % 64);
        }
        self.values.push(value);
        value
    }
}

fn bits(slots: &[bool]) -> u64 {
    let slots = slots.iter().enumerate();
    slots.fold(0, |bits, (place, chosen)| {
        bits | u64::from(*chosen) << place
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::evaluate::tests::scene;
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        /// Plans that differ by a slot or two from those before them, as offspring do.
        #[test]
        fn what_is_remembered_is_what_would_be_worked_out(
            (application, slots, submitted) in scene(),
            first in prop::collection::vec(any::<bool>(), 160),
            flips in prop::collection::vec((any::<u16>(), any::<bool>()), 1..60),
        ) {
            let mut evaluator = Evaluator::new(&application, &slots, submitted);
            let mut afresh = evaluator.clone();
            let mut memory = Memory::default();
            let mut plan = first[..slots.len()].to_vec();
            for (flip, keep) in flips {
                let mut next = plan.clone();
                if !next.is_empty() {
                    let place = usize::from(flip) % next.len();
                    next[place] = !next[place];
                }
                let known = memory.value(&mut evaluator, &next);
                prop_assert_eq!(known, afresh.evaluate(&next));
                if keep {
                    plan = next;
                }
            }
        }
    }
}
