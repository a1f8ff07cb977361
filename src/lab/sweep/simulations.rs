//! The simulations of a sweep, kept small: those that differ in their replication alone share what
//! they are.

use crate::study::SimulationSpec;

/// The simulations of a sweep, by number from 0. One takes eight bytes beside its kind, so that a
/// sweep may have millions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simulations {
    kinds: Vec<SimulationSpec>,
    /// Kind and replication.
    each: Vec<(u32, u32)>,
}

impl Simulations {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.each.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    /// The simulation of this number.
    ///
    /// # Panics
    ///
    /// Where there is none.
    #[must_use]
    pub fn get(&self, number: usize) -> SimulationSpec {
        SimulationSpec {
            replication: self.each[number].1,
            ..self.kind(number).clone()
        }
    }

    /// What the simulation is, whatever its replication: that of the first of its kind stands in
    /// it.
    ///
    /// # Panics
    ///
    /// Where there is none.
    #[must_use]
    pub fn kind(&self, number: usize) -> &SimulationSpec {
        &self.kinds[self.each[number].0 as usize]
    }

    /// All of them, in the order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = SimulationSpec> + '_ {
        (0..self.len()).map(|number| self.get(number))
    }

    /// Every kind once.
    #[must_use]
    pub fn kinds(&self) -> &[SimulationSpec] {
        &self.kinds
    }

    /// Adds one simulation for each of so many replications, from 0; returns the number of the
    /// first.
    pub(super) fn add(&mut self, kind: SimulationSpec, replications: u32) -> usize {
        let first = self.each.len();
        let number = self.kinds.len() as u32;
        self.each
            .extend((0..replications).map(|replication| (number, replication)));
        self.kinds.push(kind);
        first
    }
}

impl FromIterator<SimulationSpec> for Simulations {
    /// Each one a kind of its own.
    fn from_iter<T: IntoIterator<Item = SimulationSpec>>(specs: T) -> Self {
        let kinds: Vec<SimulationSpec> = specs.into_iter().collect();
        let each = (0..).zip(kinds.iter().map(|spec| spec.replication));
        Self {
            each: each.collect(),
            kinds,
        }
    }
}
