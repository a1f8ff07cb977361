//! The measures of a study beside the metrics of its jobs: quantities with their units, and values
//! by name. Each study lists its own in its folder (`studies`).

/// A quantity with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Its name in the store, in CSV files and in claims.
    pub name: &'static str,
    /// Its unit, for people; empty for counts and ratios.
    pub unit: &'static str,
    /// What it is, as a heading, with the unit.
    pub title: &'static str,
    /// Decimals in tables for people.
    pub decimals: usize,
    /// Where reports show it.
    pub topic: Topic,
    /// What its mean over replications is like.
    pub kind: QuantityKind,
}

impl Measure {
    /// The same measure of another kind than its unit suggests.
    #[must_use]
    pub const fn of_kind(self, kind: QuantityKind) -> Self {
        Self { kind, ..self }
    }
}

/// What a quantity is like over replications, which decides how the interval of its mean is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QuantityKind {
    /// A mean or a sum of many like things that cannot be negative, such as a wait: nearly normal
    /// over replications. Where the interval of Student's t would reach below 0 it is made on the
    /// logarithmic scale, so that no interval holds what cannot be.
    #[default]
    Mean,
    /// The same of what may be negative: a gain, a difference, a correlation.
    Signed,
    /// A share between 0 and 1.
    Fraction,
    /// A share between 0 and 100 percent.
    Percent,
    /// A sum of few large things, such as penalties: most replications have little, some have much.
    SkewedSum,
    /// A count of rare events: none in many replications.
    RareCount,
}

/// Where a report shows a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// What jobs earn and cost.
    Money,
    /// What becomes of jobs.
    Jobs,
    /// What becomes of overbooked jobs.
    Overbooking,
    /// Requests: asked, granted, refused.
    Reservations,
    /// What reservations cost others, in delay or money.
    Prices,
    /// How long jobs and reservations wait.
    Waits,
    /// How much of the machine is used.
    Machine,
    /// Advertised slots.
    Slots,
    /// Virtual against real reservations.
    Virtual,
    /// Predictions of waits against what came true.
    Predictions,
    /// Co-reservation: requests across clusters.
    CoReservations,
    /// What a broker and its clusters say to each other.
    Messages,
    /// What co-reservations do to local jobs.
    Fairness,
    /// Parts that clusters lost, and the outcomes of their requests.
    LostParts,
    /// Promised risk, and what it cost.
    Risk,
    /// One cluster beside the others.
    Clusters,
    /// Workflows that buy their resources.
    Workflows,
    /// What a plan met when it was carried out: slots gone, node failures, other people's jobs.
    CarriedOut,
    /// In the store and in tables of figures only.
    Detail,
}

/// A line of a list of measures. What is counted in percent is a share, everything else a mean that
/// cannot be negative, unless [`Measure::of_kind`] says otherwise.
#[must_use]
pub const fn measure(
    name: &'static str,
    unit: &'static str,
    title: &'static str,
    decimals: usize,
    topic: Topic,
) -> Measure {
    Measure {
        name,
        unit,
        title,
        decimals,
        topic,
        kind: match unit.as_bytes() {
            b"%" => QuantityKind::Percent,
            _ => QuantityKind::Mean,
        },
    }
}

/// Jain's index of values as a ratio, (Σ x)² to n · Σ x²: 1 where all are equal, 1 ÷ n where one
/// has everything, not defined without values or where all are 0.
#[must_use]
pub fn jain(values: &[f64]) -> (f64, f64) {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    (sum * sum, values.len() as f64 * squares)
}

/// Measured values by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured(Vec<(&'static str, f64)>);

impl Measured {
    /// Adds a value; one that is not finite is undefined and left out.
    pub fn add(&mut self, name: &'static str, value: f64) {
        if value.is_finite() {
            self.0.push((name, value));
        }
    }

    /// Adds a ratio, where its denominator is not 0.
    pub fn add_ratio(&mut self, name: &'static str, above: f64, below: f64) {
        if below != 0.0 {
            self.add(name, above / below);
        }
    }

    /// Names and values in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        self.0.iter().copied()
    }

    /// Adds everything that was measured elsewhere.
    pub fn extend(&mut self, others: &Self) {
        self.0.extend(others.iter());
    }

    /// A value by name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        self.iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_defined_is_left_out() {
        let mut measured = Measured::default();
        measured.add_ratio("price_su", 1.0, 0.0);
        measured.add("wait_ratio", f64::NAN);
        measured.add_ratio("var_cost", 1.0, 4.0);
        assert_eq!(measured.iter().collect::<Vec<_>>(), [("var_cost", 0.25)]);
    }
}
