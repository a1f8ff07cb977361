//! Columns of the points of a run.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Index;
use std::sync::Arc;

/// For each point the index of its value.
pub(super) type ValueIndex = Arc<Vec<u32>>;

/// A column of which points share values: those of one simulation what it measured, those of one
/// strategy its name.
#[derive(Clone, Debug, Default)]
pub struct Shared<T> {
    of: ValueIndex,
    values: Arc<Vec<T>>,
}

impl<T> Shared<T> {
    pub(super) fn new(of: &ValueIndex, values: Vec<T>) -> Self {
        Self {
            of: Arc::clone(of),
            values: Arc::new(values),
        }
    }

    /// Whether points that share a value of one column share that of the other, because both hold
    /// what their simulations have.
    #[must_use]
    pub fn is_shared_as<U>(&self, other: &Shared<U>) -> bool {
        Arc::ptr_eq(&self.of, &other.of)
    }

    /// The value of every point, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.of.iter().map(|value| &self.values[*value as usize])
    }
}

impl<T> Index<usize> for Shared<T> {
    type Output = T;

    /// The value of a point.
    fn index(&self, point: usize) -> &T {
        &self.values[self.of[point] as usize]
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

/// The simulations of a run, by their number in the store, with an index from 0.
pub(super) type Simulations = HashMap<i64, u32>;

/// Columns of some points, from those of all.
pub(super) struct Cut<'a> {
    kept: &'a [usize],
    /// Indices of shared columns with what was made of them.
    known: Vec<(ValueIndex, ValueIndex)>,
}

impl<'a> Cut<'a> {
    /// These points.
    pub(super) fn new(kept: &'a [usize]) -> Self {
        Self {
            kept,
            known: Vec::new(),
        }
    }

    /// Their values in a column.
    pub(super) fn of<T: Clone>(&self, values: &[T]) -> Vec<T> {
        let kept = self.kept.iter();
        kept.map(|point| values[*point].clone()).collect()
    }

    /// Their values in a column of which points share values, which they go on to share.
    pub(super) fn shared<T>(&mut self, column: &Shared<T>) -> Shared<T> {
        let known = (self.known.iter()).find(|(whole, _)| Arc::ptr_eq(whole, &column.of));
        let of = match known {
            Some((_, cut)) => Arc::clone(cut),
            None => {
                let cut = Arc::new(self.of(&column.of));
                (self.known).push((Arc::clone(&column.of), Arc::clone(&cut)));
                cut
            }
        };
        Shared {
            of,
            values: Arc::clone(&column.values),
        }
    }
}

/// A number for each of these values, the same for equal ones, from 0 in the order of the first.
pub fn numbers<T: Eq + Hash>(values: impl Iterator<Item = T>) -> impl Iterator<Item = u32> {
    let mut known = HashMap::new();
    values.map(move |value| {
        let next = known.len() as u32;
        *known.entry(value).or_insert(next)
    })
}
