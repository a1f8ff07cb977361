//! The best of several settings, chosen and judged on the same batteries or on different ones.

/// What choosing the setting with the highest mean is worth.
///
/// The best of several settings is partly the luckiest: on the batteries that chose it, its mean is
/// too high. So each battery is left out once, the setting is chosen on the others and judged on
/// the one that was left out (leave-one-out cross-validation: M. Stone, *Cross-validatory choice
/// and assessment of statistical predictions*, J. R. Statist. Soc. B 36, 1974). The mean of these
/// values is never above that of the setting that all batteries choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Settings with different values.
    pub settings: usize,
    /// Batteries that all settings have.
    pub batteries: usize,
    /// Mean of the setting with the highest mean, on the batteries that chose it.
    pub same: f64,
    /// Mean over the batteries of the setting that the others chose.
    pub others: f64,
}

impl Choice {
    /// Fewer batteries than this choose almost by chance when one of them is left out.
    pub const FEWEST_BATTERIES: usize = 3;

    /// Of the values of each setting, battery by battery in the same order; at equal means the
    /// first setting is chosen. `None` where there are fewer than [`Self::FEWEST_BATTERIES`], fewer
    /// than two settings that differ, or settings with other batteries.
    #[must_use]
    pub fn of(settings: &[Vec<f64>]) -> Option<Self> {
        let settings = distinct(settings);
        let batteries = settings.first()?.len();
        let is_whole = settings.iter().all(|values| values.len() == batteries);
        if settings.len() < 2 || batteries < Self::FEWEST_BATTERIES || !is_whole {
            return None;
        }
        let sums: Vec<f64> = settings.iter().map(|values| values.iter().sum()).collect();
        let chosen = |sum: &dyn Fn(usize) -> f64| {
            (1..settings.len()).fold(0, |best, at| if sum(at) > sum(best) { at } else { best })
        };
        let count = batteries as f64;
        let apart: f64 = (0..batteries)
            .map(|left| settings[chosen(&|at| sums[at] - settings[at][left])][left])
            .sum();
        Some(Self {
            settings: settings.len(),
            batteries,
            same: sums[chosen(&|at| sums[at])] / count,
            others: apart / count,
        })
    }

    /// How much the mean on the same batteries is too high.
    #[must_use]
    pub fn optimism(&self) -> f64 {
        self.same - self.others
    }

    /// The same in percent of the mean on other batteries; `None` where that is not positive.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        (self.others > 0.0).then(|| 100.0 * self.optimism() / self.others)
    }
}

/// The settings that differ in any battery: what reads no threshold is one setting at all of them.
pub fn distinct(settings: &[Vec<f64>]) -> Vec<&[f64]> {
    let mut found: Vec<&[f64]> = Vec::new();
    for values in settings {
        if !found.contains(&values.as_slice()) {
            found.push(values);
        }
    }
    found
}
