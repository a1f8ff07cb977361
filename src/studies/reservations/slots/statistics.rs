//! The free slots that a provider would advertise over a whole trace: their number, width, distance
//! and length.

use bookahead_core::plan::{ADVERTISING_HORIZON, Slot};
use bookahead_core::units::Seconds;

/// The bins of Singh 2008, Figure 4, in slots: the names of their measures.
#[rustfmt::skip]
const FIGURE_4: [&str; FIGURE_4_BINS] = [
    "slots_0_1", "slots_2_4", "slots_5_7", "slots_8_10", "slots_11_13", "slots_14_16", "slots_17_19",
    "slots_20_22", "slots_23_25", "slots_26_28", "slots_29_31", "slots_32_34", "slots_35_37", "slots_38_40",
    "slots_41_43", "slots_44_46", "slots_47_49", "slots_50_52", "slots_53_55", "slots_56_58", "slots_more",
];
const FIGURE_4_BINS: usize = 21;

/// The bins of Singh 2008, Figure 7, in nodes: the names of their measures.
#[rustfmt::skip]
const FIGURE_7: [&str; FIGURE_7_BINS] = [
    "slot_nodes_1", "slot_nodes_2_5", "slot_nodes_6_9", "slot_nodes_10_13", "slot_nodes_14_17", "slot_nodes_18_21",
    "slot_nodes_22_25", "slot_nodes_26_29", "slot_nodes_30_33", "slot_nodes_34_37", "slot_nodes_38_41", "slot_nodes_42_45",
    "slot_nodes_46_49", "slot_nodes_50_53", "slot_nodes_54_57", "slot_nodes_58_61", "slot_nodes_62_65", "slot_nodes_more",
];
const FIGURE_7_BINS: usize = 18;

/// Samples of advertised slots, gathered in constant memory (Singh 2008, §3.1), unless each of them
/// is to be kept ([`SlotStatistics::keeping`]).
///
/// Quantiles come from histograms of 5 minutes a bin over 60 days (one more bin holds what is
/// longer), and are given as the lower end of their bin: they are at most 5 minutes too small.
#[derive(Clone, Debug, PartialEq)]
pub struct SlotStatistics {
    samples: u64,
    slots: u64,
    on_the_edge: u64,
    by_count: [u64; FIGURE_4_BINS],
    by_width: [u64; FIGURE_7_BINS],
    starts: TimeHistogram,
    durations: TimeHistogram,
    slots_and_tasks: Correlation,
    kept: Option<Vec<SlotSample>>,
}

/// What was advertised at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct SlotSample {
    /// The instant.
    pub time: Seconds,
    /// Tasks that run or wait.
    pub tasks: u32,
    /// The slots, disjoint, by start.
    pub slots: Vec<Slot>,
}

/// Five quantiles of a distribution of spans, in hours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantiles {
    /// A twentieth is not longer than this.
    pub p5: f64,
    /// A quarter is not longer than this.
    pub p25: f64,
    /// Half is not longer than this.
    pub median: f64,
    /// Three quarters are not longer than this.
    pub p75: f64,
    /// Nineteen twentieths are not longer than this.
    pub p95: f64,
}

impl Default for SlotStatistics {
    fn default() -> Self {
        Self {
            samples: 0,
            slots: 0,
            on_the_edge: 0,
            by_count: [0; FIGURE_4_BINS],
            by_width: [0; FIGURE_7_BINS],
            starts: TimeHistogram::default(),
            durations: TimeHistogram::default(),
            slots_and_tasks: Correlation::default(),
            kept: None,
        }
    }
}

impl SlotStatistics {
    /// Statistics that keep every sample, too, where that is asked for.
    #[must_use]
    pub fn keeping(samples: bool) -> Self {
        Self {
            kept: samples.then(Vec::new),
            ..Self::default()
        }
    }

    /// The samples that were kept, in order of time.
    #[must_use]
    pub fn take_kept(&mut self) -> Vec<SlotSample> {
        self.kept.take().unwrap_or_default()
    }

    /// Adds what is advertised at `now`, while `tasks_in_system` tasks run or wait.
    pub fn sample(&mut self, now: Seconds, advertised: &[Slot], tasks_in_system: u32) {
        let count = advertised.len();
        self.samples += 1;
        self.slots += count as u64;
        self.by_count[bin(count as u64, 2, 3, FIGURE_4_BINS)] += 1;
        self.slots_and_tasks
            .add(f64::from(tasks_in_system), count as f64);
        for slot in advertised {
            self.by_width[bin(u64::from(slot.nodes.0), 2, 4, FIGURE_7_BINS)] += 1;
            self.starts.add(slot.start - now);
            self.durations.add(slot.duration());
            self.on_the_edge += u64::from(slot.end == now + ADVERTISING_HORIZON);
        }
        if let Some(kept) = &mut self.kept {
            kept.push(SlotSample {
                time: now,
                tasks: tasks_in_system,
                slots: advertised.to_vec(),
            });
        }
    }

    /// How many samples were taken.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// How many slots were advertised in all samples together.
    #[must_use]
    pub fn slots(&self) -> u64 {
        self.slots
    }

    /// How many of them end exactly 48 h after their sample: the line start + duration = 48 h of
    /// Singh 2008, Figure 6.
    #[must_use]
    pub fn edge_slots(&self) -> u64 {
        self.on_the_edge
    }

    /// Mean number of slots a sample; 0 without samples.
    #[must_use]
    pub fn mean_slots(&self) -> f64 {
        ratio(self.slots, self.samples)
    }

    /// Mean number of running and waiting tasks a sample; 0 without samples.
    #[must_use]
    pub fn mean_tasks(&self) -> f64 {
        self.slots_and_tasks.mean_x
    }

    /// Samples by number of slots, in the bins of Singh 2008, Figure 4: the name of the measure and
    /// the count.
    pub fn by_number_of_slots(&self) -> impl Iterator<Item = (&'static str, u64)> {
        FIGURE_4.into_iter().zip(self.by_count)
    }

    /// Slots by number of nodes, in the bins of Singh 2008, Figure 7: the name of the measure and
    /// the count.
    pub fn by_number_of_nodes(&self) -> impl Iterator<Item = (&'static str, u64)> {
        FIGURE_7.into_iter().zip(self.by_width)
    }

    /// Pearson's correlation of the number of slots with the number of tasks in the system
    /// (Singh 2008, Figure 5); `None` where either never varies.
    #[must_use]
    pub fn correlation(&self) -> Option<f64> {
        self.slots_and_tasks.coefficient()
    }

    /// Slot starts relative to their sample (Singh 2008, Figure 6, x); `None` without slots.
    #[must_use]
    pub fn starts(&self) -> Option<Quantiles> {
        self.starts.quantiles()
    }

    /// Durations of slots (Singh 2008, Figure 6, y); `None` without slots.
    #[must_use]
    pub fn durations(&self) -> Option<Quantiles> {
        self.durations.quantiles()
    }
}

/// The bin of `value`: the first below `from`, then bins of `width`, the last for the rest.
fn bin(value: u64, from: u64, width: u64, bins: usize) -> usize {
    match value.checked_sub(from) {
        None => 0,
        Some(above) => usize::try_from(1 + above / width).map_or(bins - 1, |bin| bin.min(bins - 1)),
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

#[derive(Clone, Debug, PartialEq)]
struct TimeHistogram {
    counts: Vec<u64>,
    total: u64,
}

impl TimeHistogram {
    const WIDTH: Seconds = Seconds(300);
    const BINS: usize = 60 * 24 * 12;

    fn add(&mut self, span: Seconds) {
        let bin = usize::try_from(span.0 / Self::WIDTH.0).unwrap_or(0);
        self.counts[bin.min(Self::BINS)] += 1;
        self.total += 1;
    }

    fn quantiles(&self) -> Option<Quantiles> {
        Some(Quantiles {
            p5: self.percentile(5)?,
            p25: self.percentile(25)?,
            median: self.percentile(50)?,
            p75: self.percentile(75)?,
            p95: self.percentile(95)?,
        })
    }

    /// The nearest rank: the smallest value that `percent` of a hundred do not exceed.
    fn percentile(&self, percent: u64) -> Option<f64> {
        let rank = (self.total * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (bin, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return Some((Self::WIDTH * bin as i64).hours());
            }
        }
        None
    }
}

impl Default for TimeHistogram {
    fn default() -> Self {
        Self {
            counts: vec![0; Self::BINS + 1],
            total: 0,
        }
    }
}

/// Running means and co-moments, which keep their digits over millions of samples where plain sums
/// of squares lose them.
#[derive(Clone, Debug, Default, PartialEq)]
struct Correlation {
    count: f64,
    mean_x: f64,
    mean_y: f64,
    squares_x: f64,
    squares_y: f64,
    products: f64,
}

impl Correlation {
    fn add(&mut self, x: f64, y: f64) {
        self.count += 1.0;
        let (from_x, from_y) = (x - self.mean_x, y - self.mean_y);
        self.mean_x += from_x / self.count;
        self.mean_y += from_y / self.count;
        self.squares_x += from_x * (x - self.mean_x);
        self.squares_y += from_y * (y - self.mean_y);
        self.products += from_x * (y - self.mean_y);
    }

    fn coefficient(&self) -> Option<f64> {
        let scale = (self.squares_x * self.squares_y).sqrt();
        (scale > 0.0).then(|| self.products / scale)
    }
}

#[cfg(test)]
mod tests;
