//! Selection of the best of several alternatives with an indifference zone, as Kim and Nelson do
//! it (*A fully sequential procedure for indifference-zone selection in simulation*, ACM TOMACS
//! 11(3), 2001; procedure KN with c = 1).
//!
//! Where replications are independent and their differences normally distributed, the selected
//! alternative is within the indifference zone of the best with the wanted probability, however
//! alternatives of one replication depend on each other. The procedure may look after each
//! replication; looking after complete rungs only eliminates later, not more often wrongly.
//!
//! Where there are only N replications, drawn without replacement, the best over all of them is
//! looked for. The sum of differences is then a Brownian bridge, which is a Brownian motion with
//! drift, as the procedure has it, in the time r · N / (N − r): that takes the place of r, and with
//! all N replications nothing is left to chance.

/// A selection under way: alternatives by number, of which the largest mean is looked for.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The indifference zone δ, in the unit of the quantity.
    difference: f64,
    /// h² · S² of each pair, S² the variance of their differences over the first replications.
    scaled: Vec<Vec<f64>>,
    /// Replications that there are; `None` where there are as many as one likes.
    population: Option<u32>,
    remaining: Vec<usize>,
}

/// What a rung says of one alternative that was still in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Screened {
    /// The alternative.
    pub alternative: usize,
    /// The mean of its replications.
    pub mean: f64,
    /// How far it lies below the alternative that speaks most against it; negative above it, 0
    /// where it is alone.
    pub behind: f64,
    /// How far it may lie below that one, W: further below, it is eliminated.
    pub allowed: f64,
    /// Whether it is still in.
    pub is_kept: bool,
}

impl Selection {
    /// Begins with the first replications of every alternative (`samples[alternative]
    /// [replication]`, all of one length of at least 2): `error` is one less the wanted probability,
    /// `population` how many replications there are, where the best over all of them is looked for.
    #[must_use]
    pub fn new(samples: &[Vec<f64>], difference: f64, error: f64, population: Option<u32>) -> Self {
        let alternatives = samples.len();
        let first = samples.first().map_or(0, Vec::len) as f64;
        let rivals = alternatives.saturating_sub(1).max(1) as f64;
        let degrees = first - 1.0;
        let eta = 0.5 * ((2.0 * error / rivals).powf(-2.0 / degrees) - 1.0);
        let scale = 2.0 * eta * degrees;
        let scaled = (samples.iter())
            .map(|one| {
                let row = samples.iter();
                row.map(|other| scale * variance_of_differences(one, other))
                    .collect()
            })
            .collect();
        Self {
            difference,
            scaled,
            population,
            remaining: (0..alternatives).collect(),
        }
    }

    /// The alternatives that are still in, ascending.
    #[must_use]
    pub fn remaining(&self) -> &[usize] {
        &self.remaining
    }

    /// From how many replications on the largest mean of those that remain is selected, whatever
    /// their differences.
    #[must_use]
    pub fn decided_after(&self) -> u32 {
        let most = self.pairs().map(|(one, other)| self.needed(one, other));
        let most = most.fold(0.0, f64::max);
        match self.population.map(f64::from) {
            None => most as u32,
            // With all of them it is decided at any rate.
            Some(all) => (most * all / (most + all)).min(all - 1.0) as u32,
        }
    }

    /// Eliminates what lies too far below another after so many replications; `means` has the mean
    /// of each alternative, by number. Those that are out already are not read.
    pub fn screen(&mut self, means: &[f64], replications: u32) -> Vec<Screened> {
        let count = self.information(replications);
        let screened: Vec<Screened> = (self.remaining.iter())
            .map(|alternative| {
                let rivals = self.remaining.iter().filter(|rival| *rival != alternative);
                let against = rivals.map(|rival| {
                    let behind = means[*rival] - means[*alternative];
                    (behind, self.allowed(*alternative, *rival, count))
                });
                let (behind, allowed) = against
                    .max_by(|one, other| (one.0 - one.1).total_cmp(&(other.0 - other.1)))
                    .unwrap_or((0.0, 0.0));
                Screened {
                    alternative: *alternative,
                    mean: means[*alternative],
                    behind,
                    allowed,
                    is_kept: behind <= allowed,
                }
            })
            .collect();
        let kept = screened.iter().filter(|screened| screened.is_kept);
        self.remaining = kept.map(|screened| screened.alternative).collect();
        screened
    }

    /// As many replications of an unlimited number as say as much as these; infinitely many where
    /// these are all.
    fn information(&self, replications: u32) -> f64 {
        let count = f64::from(replications);
        match self.population {
            None => count,
            Some(all) => count * f64::from(all) / f64::from(all.saturating_sub(replications)),
        }
    }

    /// W of the pair after so many replications.
    fn allowed(&self, one: usize, other: usize, replications: f64) -> f64 {
        let needed = self.needed(one, other);
        match replications < needed {
            true => self.difference / (2.0 * replications) * (needed - replications),
            false => 0.0,
        }
    }

    /// ⌊h² S² / δ²⌋ without the rounding.
    fn needed(&self, one: usize, other: usize) -> f64 {
        self.scaled[one][other] / (self.difference * self.difference)
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let remaining = &self.remaining;
        let pairs = remaining.iter().enumerate();
        pairs.flat_map(move |(place, one)| {
            remaining[..place].iter().map(move |other| (*one, *other))
        })
    }
}

/// The sample variance of the differences of two alternatives over the same replications.
fn variance_of_differences(one: &[f64], other: &[f64]) -> f64 {
    let differences: Vec<f64> = one
        .iter()
        .zip(other)
        .map(|(one, other)| one - other)
        .collect();
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / count;
    let squares = differences
        .iter()
        .map(|difference| (difference - mean).powi(2));
    squares.sum::<f64>() / (count - 1.0)
}

#[cfg(test)]
mod tests;
