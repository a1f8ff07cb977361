//! Statistics of classes that go on learning: from the jobs of the learning set, then from jobs
//! whose outcome is final.
//!
//! A class and every wider class of a job (a pair's first attribute, all jobs) has a histogram of
//! its own, to which rules of learning apply by themselves: the window of all jobs holds the last
//! jobs of all, that of a class its own last ones. Jobs that were stopped before they had ended are
//! counted as what they are, lower bounds ([`RatioDistribution::from_observations`]).
//!
//! Counting a job costs two or three histograms, and asking for a distribution one or two
//! microseconds: nothing is kept between.

use std::collections::VecDeque;

use super::classes::Attributes;
use super::ratio::ratio_bin;
use super::{
    Binning, Combining, CombiningSettings, EstimateSettings, Learning, LearningSettings, Overrun,
    RATIO_BINS, RatioDistribution,
};
use crate::units::Seconds;

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// The job was done.
    Finished,
    /// The job was stopped when it had its whole estimate.
    AtEstimate,
    /// The job was stopped before, at the end of its window or by a node: it needed at least as
    /// much.
    Cut,
}

/// One histogram a class, and what makes distributions of them.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassStatistics {
    learning: LearningSettings,
    combining: CombiningSettings,
    binning: Binning,
    overrun: Overrun,
    /// A class with less is too small for itself.
    minimum: f64,
    /// What is left of a count after one more job of its class; 1 where counts do not age.
    ageing: f64,
    /// By class: the wider one.
    wider: Vec<usize>,
    /// Where the classes of a pair begin, and how many second attributes there are; where either
    /// attribute alone is asked for.
    columns: Option<(usize, usize)>,
    /// By class; then those of the second attribute alone.
    histograms: Vec<Histogram>,
}

/// Jobs of a class by percent of their estimate.
#[derive(Clone, Debug, PartialEq)]
struct Histogram {
    ended: [f64; RATIO_BINS],
    cut: [f64; RATIO_BINS],
    /// What is in the window, the oldest first: percent, and whether it was cut.
    recent: VecDeque<(u8, bool)>,
}

impl Histogram {
    const EMPTY: Self = Self {
        ended: [0.0; RATIO_BINS],
        cut: [0.0; RATIO_BINS],
        recent: VecDeque::new(),
    };

    fn bin(&mut self, (percent, cut): (u8, bool)) -> &mut f64 {
        let bins = if cut { &mut self.cut } else { &mut self.ended };
        // Bins are at most 100.
        &mut bins[usize::from(percent)]
    }

    fn count(&mut self, job: (u8, bool), learning: &LearningSettings, ageing: f64) {
        match learning.rule {
            Learning::Static | Learning::Online => {}
            Learning::Window => {
                if self.recent.len() >= learning.window_jobs.max(1) as usize
                    && let Some(oldest) = self.recent.pop_front()
                {
                    *self.bin(oldest) -= 1.0;
                }
                self.recent.push_back(job);
            }
            Learning::Aged => {
                for count in self.ended.iter_mut().chain(&mut self.cut) {
                    *count *= ageing;
                }
            }
        }
        *self.bin(job) += 1.0;
    }

    fn distribution(&self) -> Option<RatioDistribution> {
        RatioDistribution::from_observations(&self.ended, &self.cut)
    }
}

impl ClassStatistics {
    /// Those of the learning jobs, each with its most specific class and its bin, in order of
    /// submission.
    pub(super) fn learn(
        attributes: &Attributes,
        sequence: &[(u16, u8)],
        settings: &EstimateSettings,
    ) -> Self {
        let wider = attributes.fallbacks();
        let columns = attributes
            .columns()
            .filter(|_| settings.combining.rule == Combining::Mixture);
        let histograms = wider.len() + columns.map_or(0, |(_, columns)| columns);
        let mut statistics = Self {
            learning: settings.learning,
            combining: settings.combining,
            binning: settings.binning,
            overrun: settings.overrun,
            minimum: f64::from(settings.minimum_class_size),
            ageing: libm::exp2(-1.0 / settings.learning.half_life_jobs.max(1e-9)),
            wider,
            columns,
            histograms: vec![Histogram::EMPTY; histograms],
        };
        for &(class, percent) in sequence {
            statistics.count(usize::from(class), (percent, false));
        }
        statistics
    }

    /// A job of this most specific class ran for `ran` of its estimate.
    pub fn observed(&mut self, class: u16, ran: Seconds, estimate: Seconds, end: RunEnd) {
        let class = usize::from(class);
        let observed = match end {
            RunEnd::Finished => {
                ratio_bin(ran, estimate, self.binning, self.overrun).map(|bin| (bin, false))
            }
            RunEnd::AtEstimate => (self.overrun == Overrun::Clamp).then_some((100, false)),
            RunEnd::Cut => {
                ratio_bin(ran, estimate, Binning::Floor, Overrun::Clamp).map(|bin| (bin, true))
            }
        };
        if let Some((bin, cut)) = observed
            && class < self.wider.len()
        {
            // Bins are at most 100.
            self.count(class, (bin as u8, cut));
        }
    }

    fn count(&mut self, class: usize, job: (u8, bool)) {
        let column = self.column(class);
        let mut next = Some(class);
        while let Some(class) = next {
            self.histograms[class].count(job, &self.learning, self.ageing);
            next = (class > 0).then(|| self.wider[class]);
        }
        if let Some(column) = column {
            self.histograms[column].count(job, &self.learning, self.ageing);
        }
    }

    /// The histogram of the second attribute alone, of a class of both.
    fn column(&self, class: usize) -> Option<usize> {
        let (first, columns) = self.columns?;
        Some(self.wider.len() + class.checked_sub(first)? % columns)
    }

    /// The distribution of a job of this most specific class, and the class that it belongs to, by
    /// the index of [`super::EstimateModel`]; `None` where nothing was ever counted.
    #[must_use]
    pub fn distribution(&self, class: u16) -> Option<(u16, RatioDistribution)> {
        let (class, distribution) = self.combined(usize::from(class))?;
        // There are at most u16::MAX classes.
        Some((class as u16, distribution))
    }

    fn combined(&self, class: usize) -> Option<(usize, RatioDistribution)> {
        match self.combining.rule {
            Combining::BackOff => self.backed_off(class),
            Combining::Weighted => self.weighted(class),
            Combining::Mixture => match self.column(class) {
                None => self.backed_off(class),
                Some(column) => {
                    let first = self.wider[class];
                    match (self.own(first), self.own(column)) {
                        (Some(one), Some(other)) => {
                            let mixed = one.mixed(one.weight(), &other, other.weight());
                            Some((class, mixed))
                        }
                        (None, Some(other)) => Some((class, other)),
                        (_, None) => self.backed_off(first),
                    }
                }
            },
        }
    }

    /// Of a class that is large enough for itself.
    fn own(&self, class: usize) -> Option<RatioDistribution> {
        let own = self.histograms[class].distribution()?;
        (own.weight() >= self.minimum).then_some(own)
    }

    fn backed_off(&self, class: usize) -> Option<(usize, RatioDistribution)> {
        if class == 0 {
            return Some((0, self.histograms[0].distribution()?));
        }
        match self.own(class) {
            Some(own) => Some((class, own)),
            None => self.backed_off(self.wider[class]),
        }
    }

    fn weighted(&self, class: usize) -> Option<(usize, RatioDistribution)> {
        if class == 0 {
            return self.backed_off(0);
        }
        let (wider, of_wider) = self.weighted(self.wider[class])?;
        Some(match self.histograms[class].distribution() {
            None => (wider, of_wider),
            Some(own) => {
                let jobs = self.combining.wider_class_jobs;
                (class, own.mixed(own.weight(), &of_wider, jobs))
            }
        })
    }
}

#[cfg(test)]
mod tests;
