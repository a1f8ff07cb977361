//! A continuous axis: which of its values are tried around the optimum, and where the optimum lies.
//!
//! The axis is a lattice of places, one tolerance apart, and Fibonacci search (Kiefer, *Sequential
//! minimax search for a maximum*, 1953), which is golden section on a lattice, narrows a bracket
//! around its optimum: each level compares two places within the bracket, one of which an earlier
//! level tried already, and drops what lies beyond the worse one. That finds the optimum of a curve
//! with one.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The search over a lattice of places, numbered from 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Refinement {
    /// The first place of the bracket.
    first: usize,
    /// The last place of the lattice.
    last: usize,
    /// The bracket has `long − 1` places, of which those beyond the lattice are worse than all
    /// others; `short` is the Fibonacci number before.
    short: usize,
    long: usize,
    level: u32,
}

impl Refinement {
    /// Begins with the whole lattice of so many places (at least one).
    #[must_use]
    pub fn new(places: usize) -> Self {
        let (mut short, mut long) = (1, 2);
        while long - 1 < places {
            (short, long) = (long, short + long);
        }
        let whole = Self {
            first: 0,
            last: places.saturating_sub(1),
            short,
            long,
            level: 1,
        };
        whole.within_lattice()
    }

    /// How many levels a lattice of so many places has at most.
    #[must_use]
    pub fn levels(places: usize) -> u32 {
        let mut search = Self::new(places);
        while let Some(next) = search.around(search.tried()[0]) {
            search = next;
        }
        search.level
    }

    /// Which level this is, from 1.
    #[must_use]
    pub fn level(&self) -> u32 {
        self.level
    }

    /// The places that this level tries, ascending: two, or the only one that there is.
    #[must_use]
    pub fn tried(&self) -> Vec<usize> {
        let (left, right) = self.pair();
        match self.long {
            2 => vec![self.first],
            _ => vec![left, right],
        }
    }

    /// The next level, around the place that was selected in this one; `None` where its neighbours
    /// are known to be worse.
    #[must_use]
    pub fn around(&self, selected: usize) -> Option<Self> {
        let (left, right) = self.pair();
        let next = if selected == left {
            self.shorter(self.first)
        } else {
            self.shorter(left + 1)
        };
        let next = next.within_lattice();
        // One place is left, and it is the selected one.
        let is_over = self.long <= 3 || next.long <= 2;
        debug_assert!(selected == left || selected == right || is_over);
        (!is_over).then_some(Self {
            level: self.level + 1,
            ..next
        })
    }

    /// The places that are compared.
    fn pair(&self) -> (usize, usize) {
        let before = self.long - self.short;
        (self.first + before - 1, self.first + self.short - 1)
    }

    fn shorter(&self, first: usize) -> Self {
        Self {
            first,
            short: self.long - self.short,
            long: self.short,
            ..self.clone()
        }
    }

    /// The same without levels whose right place lies beyond the lattice.
    fn within_lattice(self) -> Self {
        let mut search = self;
        while search.long > 2 && search.pair().1 > search.last {
            search = search.shorter(search.first);
        }
        search
    }
}

/// Where the optimum of a curve lies, by the parabola through its values around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vertex {
    /// The place of the vertex.
    pub place: f64,
    /// Half of its interval's width, by the jackknife over replications.
    pub half_width: f64,
}

impl Vertex {
    /// Fits a parabola by least squares to the means at these abscissas; `samples[abscissa]
    /// [replication]` with the same replications at each. `None` where there are fewer than three
    /// abscissas or fewer than twenty replications, or where the curvature has the wrong sign
    /// (positive, for a maximum) with or without any single replication: the values around the
    /// optimum then do not say where it lies.
    #[must_use]
    pub fn fit(abscissas: &[f64], samples: &[Vec<f64>], confidence: f64) -> Option<Self> {
        let count = samples.iter().map(Vec::len).min()?;
        if abscissas.len() < 3 || count < 20 {
            return None;
        }
        let sums: Vec<f64> = samples
            .iter()
            .map(|row| row[..count].iter().sum())
            .collect();
        let number = count as f64;
        let means: Vec<f64> = sums.iter().map(|sum| sum / number).collect();
        let place = top(abscissas, &means)?;
        let without = (0..count).map(|replication| {
            let rest: Vec<f64> = (sums.iter().zip(samples))
                .map(|(sum, row)| (sum - row[replication]) / (number - 1.0))
                .collect();
            top(abscissas, &rest)
        });
        let without: Vec<f64> = without.collect::<Option<_>>()?;
        let mean = without.iter().sum::<f64>() / number;
        let squares: f64 = without.iter().map(|place| (place - mean).powi(2)).sum();
        let error = ((number - 1.0) / number * squares).sqrt();
        let student = StudentsT::new(0.0, 1.0, number - 1.0).ok()?;
        Some(Self {
            place,
            half_width: error * student.inverse_cdf(f64::midpoint(1.0, confidence)),
        })
    }
}

/// The top of the parabola through these values by least squares; `None` where it has none.
fn top(abscissas: &[f64], values: &[f64]) -> Option<f64> {
    let count = abscissas.len() as f64;
    let centre = abscissas.iter().sum::<f64>() / count;
    let spread = abscissas
        .iter()
        .map(|x| (x - centre).abs())
        .fold(0.0, f64::max);
    if spread <= 0.0 {
        return None;
    }
    // Orthogonal polynomials on scaled abscissas: 1, x − p1 and x² − a·(x − p1) − b.
    let scaled: Vec<f64> = abscissas.iter().map(|x| (x - centre) / spread).collect();
    let dot = |one: &[f64], other: &[f64]| -> f64 {
        one.iter().zip(other).map(|(one, other)| one * other).sum()
    };
    let squares: Vec<f64> = scaled.iter().map(|x| x * x).collect();
    let mean_square = squares.iter().sum::<f64>() / count;
    let slope = dot(&squares, &scaled) / dot(&scaled, &scaled);
    let second: Vec<f64> = (scaled.iter().zip(&squares))
        .map(|(x, square)| square - slope * x - mean_square)
        .collect();
    let curvature = dot(&second, values) / dot(&second, &second);
    let linear = dot(&scaled, values) / dot(&scaled, &scaled) - curvature * slope;
    let is_hill = curvature.is_finite() && curvature < 0.0;
    is_hill.then(|| centre - spread * linear / (2.0 * curvature))
}

#[cfg(test)]
mod tests;
