//! How long decisions take: measured by a clock that comes from outside, because nothing here has
//! one. What is measured changes no result.

use std::sync::{Arc, Mutex, PoisonError};

use strum::{EnumCount, IntoStaticStr, VariantArray};

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumCount, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Decision {
    /// A machine admits a job or a reservation, or refuses it.
    Admission,
    /// A broker decides about a job, a request for a co-reservation or an application. Of a
    /// co-reservation the broker's own computing is summed until it has its verdict; elsewhere what
    /// the broker waits for its clusters or sites counts, too.
    Request,
    /// A cluster answers a broker: a probe, a quote, an order.
    Quote,
}

impl Decision {
    /// Every kind.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// Its name in the store.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Measures how long decisions take where it was started, and does nothing elsewhere. Copies of it
/// measure into one place.
#[derive(Clone, Debug, Default)]
pub struct Stopwatch(Option<Running>);

#[derive(Clone, Debug)]
struct Running {
    /// Nanoseconds since some instant.
    clock: fn() -> u64,
    times: Arc<Mutex<[DecisionTimes; Decision::COUNT]>>,
}

/// When something began, by the clock of a stopwatch.
#[derive(Clone, Copy, Debug)]
pub struct Begun(u64);

impl Stopwatch {
    /// One that measures by this clock, in nanoseconds since an instant of its own.
    #[must_use]
    pub fn started(clock: fn() -> u64) -> Self {
        Self(Some(Running {
            clock,
            times: Arc::default(),
        }))
    }

    /// Makes this decision, and measures how long that takes.
    pub fn time<T>(&self, decision: Decision, decide: impl FnOnce() -> T) -> T {
        let begun = self.begin();
        let decided = decide();
        self.end(decision, begun);
        decided
    }

    /// A decision begins; nothing where it was not started.
    #[must_use]
    pub fn begin(&self) -> Option<Begun> {
        self.0.as_ref().map(|running| Begun((running.clock)()))
    }

    /// A decision that has begun is made.
    pub fn end(&self, decision: Decision, begun: Option<Begun>) {
        if let Some(nanoseconds) = self.since(begun) {
            self.count(decision, nanoseconds);
        }
    }

    /// Nanoseconds since something began.
    #[must_use]
    pub fn since(&self, begun: Option<Begun>) -> Option<u64> {
        let (running, begun) = (self.0.as_ref()?, begun?);
        Some((running.clock)().saturating_sub(begun.0))
    }

    /// Counts a decision that took so long.
    pub fn count(&self, decision: Decision, nanoseconds: u64) {
        if let Some(running) = &self.0 {
            let mut times = running.times.lock().unwrap_or_else(PoisonError::into_inner);
            times[decision as usize].count(nanoseconds);
        }
    }

    /// How long the decisions of each kind took so far; kinds without any are left out.
    #[must_use]
    pub fn times(&self) -> Vec<(Decision, DecisionTimes)> {
        let Some(running) = &self.0 else {
            return Vec::new();
        };
        let times = running.times.lock().unwrap_or_else(PoisonError::into_inner);
        let each = Decision::ALL.iter().zip(times.iter());
        each.filter(|(_, times)| times.decisions > 0)
            .map(|(decision, times)| (*decision, times.clone()))
            .collect()
    }
}

/// How long decisions of one kind took: how many took how long, to a thirty-second part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecisionTimes {
    decisions: u64,
    longest: u64,
    /// By the bucket of their nanoseconds.
    buckets: Vec<u64>,
}

/// Buckets of an octave: times in one differ by less than a thirty-second part.
const BUCKETS: u64 = 32;

impl DecisionTimes {
    fn count(&mut self, nanoseconds: u64) {
        let bucket = bucket(nanoseconds);
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
        self.decisions += 1;
        self.longest = self.longest.max(nanoseconds);
    }

    /// How many decisions.
    #[must_use]
    pub fn decisions(&self) -> u64 {
        self.decisions
    }

    /// How long the longest one took, in seconds.
    #[must_use]
    pub fn longest_seconds(&self) -> f64 {
        self.longest as f64 / 1e9
    }

    /// How many decisions took no longer than so many seconds and longer than the entry before, in
    /// order; entries without decisions are left out.
    pub fn histogram(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let buckets = self.buckets.iter().copied().enumerate();
        let counted = buckets.filter(|(_, decisions)| *decisions > 0);
        counted.map(|(bucket, decisions)| (last_of(bucket) as f64 / 1e9, decisions))
    }

    /// The time within which this share of the decisions was made, in seconds: at most a
    /// thirty-second part too long.
    #[must_use]
    pub fn quantile_seconds(&self, share: f64) -> f64 {
        let wanted = (share * self.decisions as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bucket, decisions) in self.buckets.iter().enumerate() {
            seen += decisions;
            if seen >= wanted {
                return last_of(bucket).min(self.longest) as f64 / 1e9;
            }
        }
        self.longest_seconds()
    }
}

/// Where times of so many nanoseconds are counted: each below 32 by itself, then 32 an octave.
fn bucket(nanoseconds: u64) -> usize {
    let octave = u64::from(
        (nanoseconds / BUCKETS)
            .checked_ilog2()
            .map_or(0, |it| it + 1),
    );
    if octave == 0 {
        return nanoseconds as usize;
    }
    let within = (nanoseconds >> (octave - 1)) - BUCKETS;
    (octave * BUCKETS + within) as usize
}

/// The longest time of a bucket, in nanoseconds.
fn last_of(bucket: usize) -> u64 {
    let (octave, within) = (bucket as u64 / BUCKETS, bucket as u64 % BUCKETS);
    if octave == 0 {
        return within;
    }
    let next = u128::from(BUCKETS + within + 1) << (octave - 1);
    u64::try_from(next - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_in_a_bucket_whose_end_is_less_than_a_thirty_second_part_later() {
        let mut times: Vec<u64> = (0..5_000).collect();
        times.extend((0..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1]));
        times.push(u64::MAX);
        for time in times {
            let last = last_of(bucket(time));
            assert!(last >= time && (last - time) <= time / BUCKETS, "{time}");
            assert!(last == u64::MAX || bucket(last + 1) == bucket(time) + 1);
        }
    }

    #[test]
    fn quantiles_are_those_of_the_counted_times_and_the_longest_is_exact() {
        let mut times = DecisionTimes::default();
        for microseconds in 1..=100 {
            times.count(1_000 * microseconds);
        }
        assert_eq!(times.decisions(), 100);
        assert_eq!(
            times
                .histogram()
                .map(|(_, decisions)| decisions)
                .sum::<u64>(),
            100
        );
        let (up_to, _) = times.histogram().last().expect("times");
        assert!((100e-6..=100e-6 * 33.0 / 32.0).contains(&up_to));
        assert!(times.histogram().is_sorted_by(|(a, _), (b, _)| a < b));
        assert_eq!(times.longest_seconds(), 1e-4);
        for (share, exact) in [(0.5, 50e-6), (0.99, 99e-6), (0.0, 1e-6), (1.0, 100e-6)] {
            let found = times.quantile_seconds(share);
            assert!((exact..=exact * 33.0 / 32.0).contains(&found), "{found}");
        }
    }

    #[test]
    fn a_stopwatch_measures_where_it_was_started_and_its_copies_measure_into_one_place() {
        static TICKS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let clock = || TICKS.fetch_add(7, std::sync::atomic::Ordering::Relaxed);
        let stopwatch = Stopwatch::started(clock);
        let copy = stopwatch.clone();
        assert_eq!(copy.time(Decision::Quote, || 3), 3);
        stopwatch.time(Decision::Quote, || ());
        let times = stopwatch.times();
        assert_eq!(times.len(), 1);
        let (decision, times) = &times[0];
        assert_eq!((*decision, times.decisions()), (Decision::Quote, 2));
        assert_eq!(times.longest_seconds(), 7e-9);
        let idle = Stopwatch::default();
        assert_eq!(idle.time(Decision::Quote, || 3), 3);
        assert!(idle.begin().is_none() && idle.times().is_empty());
    }
}
