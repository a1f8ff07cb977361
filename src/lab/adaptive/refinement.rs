//! A continuous axis: which of its values are tried around the optimum, and where the optimum lies.
//!
//! The axis is a lattice of places, one tolerance apart. Each level tries five places, evenly
//! spread over a bracket; the next one has the neighbours of what was selected as its bracket, until
//! neighbours are one tolerance apart. That finds the optimum of a curve with one.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Places that a level tries at most.
const TRIED: usize = 5;

/// The search over a lattice of places, numbered from 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Refinement {
    first: usize,
    last: usize,
    level: u32,
}

impl Refinement {
    /// Begins with the whole lattice of so many places (at least one).
    #[must_use]
    pub fn new(places: usize) -> Self {
        Self {
            first: 0,
            last: places.saturating_sub(1),
            level: 1,
        }
    }

    /// How many levels a lattice of so many places has at most, the one that is tried first
    /// included.
    #[must_use]
    pub fn levels(places: usize) -> u32 {
        let mut search = Self::new(places);
        let mut levels = 1;
        // The bracket around a place in the middle is the widest.
        while let Some(next) = search.around(search.tried()[search.tried().len() / 2]) {
            search = next;
            levels += 1;
        }
        levels
    }

    /// Which level this is, from 1.
    #[must_use]
    pub fn level(&self) -> u32 {
        self.level
    }

    /// The places that this level tries, ascending.
    #[must_use]
    pub fn tried(&self) -> Vec<usize> {
        let span = self.last - self.first;
        let steps = (TRIED - 1).min(span.max(1));
        let mut places: Vec<usize> = (0..=steps)
            .map(|step| self.first + (2 * step * span + steps) / (2 * steps))
            .collect();
        places.dedup();
        places
    }

    /// The next level, around the place that was selected in this one; `None` where its neighbours
    /// were tried already.
    #[must_use]
    pub fn around(&self, selected: usize) -> Option<Self> {
        let tried = self.tried();
        let at = tried.iter().position(|place| *place == selected)?;
        let first = tried[at.saturating_sub(1)];
        let last = tried[(at + 1).min(tried.len() - 1)];
        let is_fine = tried[at] - first <= 1 && last - tried[at] <= 1;
        (!is_fine).then_some(Self {
            first,
            last,
            level: self.level + 1,
        })
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
