//! Earliest starts that are known to be too early, for a plan that only ever gets fuller.

use crate::units::{Nodes, Seconds};

/// Size classes of node counts, and of spans: exact up to 4, then four to a doubling.
const NODE_CLASSES: usize = 4 * 32;
const SPAN_CLASSES: usize = 4 * 36;

/// Bounds from earlier placements: a job that wants at least as many nodes for at least as long as
/// an earlier one cannot start before that one could, because nothing has become free since.
#[derive(Debug)]
pub(super) struct Floors {
    /// For each class of spans, then of nodes: the latest start of a job of that class of nodes
    /// that wanted at most that span.
    starts: Vec<i64>,
}

impl Default for Floors {
    fn default() -> Self {
        Self {
            starts: vec![i64::MIN; NODE_CLASSES * SPAN_CLASSES],
        }
    }
}

impl Floors {
    /// No earlier start is possible.
    pub(super) fn of(&self, nodes: Nodes, span: Seconds) -> Seconds {
        let last = class_below(i64::from(nodes.0)).min(NODE_CLASSES - 1);
        let first = class_below(span.0).min(SPAN_CLASSES - 1) * NODE_CLASSES;
        let narrower = self.starts[first..=first + last].iter();
        Seconds(narrower.fold(i64::MIN, |latest, start| latest.max(*start)))
    }

    /// Notes that `start` was the earliest for this many nodes and this span.
    pub(super) fn note(&mut self, nodes: Nodes, span: Seconds, start: Seconds) {
        let class = class_above(i64::from(nodes.0));
        if class >= NODE_CLASSES {
            return;
        }
        for spans in self
            .starts
            .chunks_exact_mut(NODE_CLASSES)
            .skip(class_above(span.0))
        {
            // Starts never fall with the span, so all that follow are late enough.
            if spans[class] >= start.0 {
                return;
            }
            spans[class] = start.0;
        }
    }
}

/// The largest class that is not larger than `value`, which is at least 1.
fn class_below(value: i64) -> usize {
    let value = value.max(1).unsigned_abs();
    let bits = value.ilog2();
    match bits.checked_sub(2) {
        None => value as usize,
        Some(beyond) => 4 + 4 * beyond as usize + (value >> beyond) as usize % 4,
    }
}

/// The smallest class that is not smaller than `value`.
fn class_above(value: i64) -> usize {
    if value <= 1 {
        return 1;
    }
    class_below(value - 1) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_enclose_every_value_and_never_fall() {
        for value in (1..5_000).chain([1 << 20, (1 << 20) + 1, 10_000_000_000]) {
            let (below, above) = (class_below(value), class_above(value));
            assert!(below <= above && above <= below + 1, "{value}");
            assert!(class_below(value + 1) >= below, "{value}");
            // Whoever is in a class from above is not larger than anybody who is in it from below.
            assert!(
                class_above(value) > class_below(value - 1) || value == 1,
                "{value}"
            );
        }
        assert!(class_above(10_000_000_000) < SPAN_CLASSES);
        assert!(class_above(2_000_000_000) < NODE_CLASSES);
    }

    #[test]
    fn a_floor_holds_for_whoever_wants_as_much_and_for_nobody_who_wants_less() {
        let mut floors = Floors::default();
        floors.note(Nodes(8), Seconds(64), Seconds(500));
        floors.note(Nodes(2), Seconds(16), Seconds(90));
        let of = |nodes, span| floors.of(Nodes(nodes), Seconds(span)).0;
        assert_eq!([of(8, 64), of(9, 64), of(8, 100), of(256, 9_999)], [500; 4]);
        assert_eq!([of(7, 64), of(8, 63), of(2, 16), of(2, 9_999)], [90; 4]);
        assert_eq!([of(1, 9_999), of(256, 15)], [i64::MIN; 2]);
    }
}
