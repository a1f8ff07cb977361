//! Jobs that end early for reasons of their own: nobody comes to use the nodes, or the program
//! crashes (Birkenheuer 2008, §2; Birkenheuer 2012, §2.2.1). No node has anything to do with it.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::random::Stream;
use crate::units::Seconds;

/// How often jobs end early for reasons of their own, in what is learned from and in what is
/// evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EarlyEnds {
    /// Of 100 jobs, those that nobody shows up for: their nodes are given back after a second.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub no_show_percent: f64,
    /// Crashes of a job in an hour of its run, whatever its width: the first one ends it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub crashes_per_hour: f64,
}

/// What chance has for one job. It does not depend on how often jobs end early, so that of two
/// settings the one with more early ends only adds some.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chance {
    /// Nobody comes if this is below the share of such jobs.
    shows: f64,
    /// How many mean times between crashes the program runs.
    lasts: f64,
}

impl Chance {
    pub(super) fn draw(stream: &mut Stream) -> Self {
        let shows = stream.random_range(0.0..1.0);
        let lasts: f64 = stream.random_range(0.0..1.0);
        Self {
            shows,
            lasts: -libm::log1p(-lasts),
        }
    }
}

impl EarlyEnds {
    /// The run time of a job that would run for `runtime`: whole seconds, at least one, and never
    /// longer than without.
    pub(super) fn runtime(&self, runtime: Seconds, chance: Chance) -> Seconds {
        let shortest = Seconds(1).min(runtime);
        if chance.shows * 100.0 < self.no_show_percent {
            return shortest;
        }
        if self.crashes_per_hour <= 0.0 {
            return runtime;
        }
        let lasts = libm::ceil(chance.lasts / self.crashes_per_hour * 3_600.0);
        if lasts < runtime.0 as f64 {
            Seconds(lasts as i64).max(shortest)
        } else {
            runtime
        }
    }

    /// What distinguishes a workload with these from one without, for
    /// [`WorkloadSettings::key`](super::WorkloadSettings::key).
    pub(super) fn key(&self) -> String {
        format!(
            ";early-ends={}%,{}/h",
            self.no_show_percent, self.crashes_per_hour
        )
    }
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random;

    const HOUR: Seconds = Seconds(3_600);

    fn ends(no_show_percent: f64, crashes_per_hour: f64) -> EarlyEnds {
        EarlyEnds {
            no_show_percent,
            crashes_per_hour,
        }
    }

    #[test]
    fn who_does_not_come_holds_nodes_for_a_second_and_a_crash_ends_a_run() {
        let chance = Chance {
            shows: 0.15,
            lasts: 0.5,
        };
        // 0.15 is not below 10 %, and is below 20 %.
        assert_eq!(ends(10.0, 0.0).runtime(HOUR, chance), HOUR);
        assert_eq!(ends(20.0, 0.0).runtime(HOUR, chance), Seconds(1));
        // A crash in two hours on average, and half of that passes: it comes with the hour's end.
        assert_eq!(ends(0.0, 0.5).runtime(HOUR, chance), HOUR);
        assert_eq!(ends(0.0, 2.0).runtime(HOUR, chance), Seconds(900));
        assert_eq!(ends(20.0, 2.0).runtime(HOUR, chance), Seconds(1));
        assert_eq!(ends(100.0, 2.0).runtime(Seconds(0), chance), Seconds(0));
    }

    #[test]
    fn as_many_stay_away_as_asked_and_runs_last_as_an_exponential_law_says() {
        const JOBS: usize = 20_000;
        let mut stream = random::stream(1, "test", 0, "early ends");
        let chances: Vec<Chance> = (0..JOBS).map(|_| Chance::draw(&mut stream)).collect();
        let shorter = |ends: EarlyEnds, than: i64| {
            let runs = chances.iter().map(|chance| ends.runtime(HOUR, *chance));
            runs.filter(|run| run.0 < than).count() as f64 / JOBS as f64
        };
        // Four standard errors: 4 √(p (1 − p) / 20,000).
        assert!((shorter(ends(10.0, 0.0), 2) - 0.1).abs() < 0.009);
        // 1 − e^(−1/2) of the runs are over after half an hour, 1 − e^(−1) before their end.
        assert!((shorter(ends(0.0, 1.0), 1_801) - 0.393_5).abs() < 0.014);
        assert!((shorter(ends(0.0, 1.0), 3_600) - 0.632_1).abs() < 0.014);
    }

    proptest! {
        #[test]
        fn more_early_ends_lengthen_no_run(
            seed in any::<u64>(),
            runtime in 0_i64..1_000_000,
            percents in (0.0_f64..=100.0, 0.0_f64..=100.0),
            rates in (0.0_f64..100.0, 0.0_f64..100.0),
        ) {
            let chance = Chance::draw(&mut random::stream(seed, "test", 0, "early ends"));
            let runtime = Seconds(runtime);
            let few = ends(percents.0.min(percents.1), rates.0.min(rates.1));
            let many = ends(percents.0.max(percents.1), rates.0.max(rates.1));
            let (longer, shorter) = (few.runtime(runtime, chance), many.runtime(runtime, chance));
            prop_assert!(shorter <= longer && longer <= runtime);
            prop_assert!(shorter >= Seconds(1).min(runtime));
            prop_assert_eq!(EarlyEnds::default().runtime(runtime, chance), runtime);
        }
    }
}
