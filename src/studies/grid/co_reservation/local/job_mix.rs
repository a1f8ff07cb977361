//! Which jobs ran lately: mostly small ones, or large ones (Meltzer 2005, §7.2).

use std::collections::VecDeque;

use bookahead_core::units::{Nodes, Seconds};
use serde::{Deserialize, Serialize};

/// What the mix of a cluster's jobs is told by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobMixSettings {
    /// How long ago jobs may have started to count.
    pub window: Seconds,
    /// CPUs from which on a job is large.
    pub large: Nodes,
}

impl Default for JobMixSettings {
    /// A week, and 128 CPUs, from which on jobs are not merged either (Meltzer 2005, §6.2).
    fn default() -> Self {
        Self {
            window: super::WEEK,
            large: Nodes(128),
        }
    }
}

impl JobMixSettings {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Runs of jobs that ended, as far back as they count.
#[derive(Debug, Default)]
pub(super) struct JobMix {
    /// In the order in which they ended.
    ended: VecDeque<Run>,
}

/// A run of a job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    nodes: Nodes,
    start: Seconds,
    end: Seconds,
}

impl Run {
    pub(super) fn new(nodes: Nodes, start: Seconds, end: Seconds) -> Self {
        Self { nodes, start, end }
    }

    /// CPU-seconds.
    fn work(&self) -> i64 {
        self.nodes
            .for_span((self.end - self.start).max(Seconds::ZERO))
            .0
    }
}

impl JobMix {
    /// A job ended, or was hit.
    pub(super) fn ended(&mut self, run: Run, settings: JobMixSettings) {
        // Whatever is asked will be asked later.
        while let Some(first) = self.ended.front()
            && first.start < run.end - settings.window
        {
            self.ended.pop_front();
        }
        self.ended.push_back(run);
    }

    /// The share of large jobs in the CPU-seconds that jobs have run up to `now` which started
    /// within the window, in `[0, 1]`; 0 where nothing ran. `running` are runs up to now.
    pub(super) fn large_share(
        &self,
        now: Seconds,
        running: impl Iterator<Item = Run>,
        settings: JobMixSettings,
    ) -> f64 {
        let from = now - settings.window;
        let (mut large, mut all) = (0, 0);
        for run in self.ended.iter().copied().chain(running) {
            if run.start < from {
                continue;
            }
            all += run.work();
            if run.nodes >= settings.large {
                large += run.work();
            }
        }
        if all > 0 {
            large as f64 / all as f64
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix_is_the_share_of_large_jobs_in_what_ran_of_those_that_started_lately() {
        let settings = JobMixSettings {
            window: Seconds(10_000),
            ..JobMixSettings::default()
        };
        let share = |ended: &[(u32, i64, i64)], now, running: &[(u32, i64)]| {
            let mut mix = JobMix::default();
            for &(nodes, start, end) in ended {
                let run = Run::new(Nodes(nodes), Seconds(start), Seconds(end));
                mix.ended(run, settings);
            }
            let running = running.iter();
            let running =
                running.map(|&(nodes, start)| Run::new(Nodes(nodes), Seconds(start), Seconds(now)));
            mix.large_share(Seconds(now), running, settings)
        };
        // Meltzer 2005, §7.2: 256 ÷ 272, a third, and nothing.
        assert_eq!(
            share(&[(16, 0, 3_600), (256, 0, 3_600)], 3_600, &[]),
            256.0 / 272.0
        );
        assert_eq!(
            share(&[(128, 0, 1_800), (64, 0, 7_200)], 7_200, &[]),
            1.0 / 3.0
        );
        assert_eq!(share(&[], 7_200, &[]), 0.0);
        // What runs counts up to now, and what started before the window does not.
        assert_eq!(share(&[(64, 0, 100)], 200, &[(128, 150)]), 0.5);
        assert_eq!(
            share(&[(64, 0, 100), (200, 1, 50)], 10_001, &[(64, 10_000)]),
            200.0 * 49.0 / (200.0 * 49.0 + 64.0)
        );
        assert_eq!(share(&[(64, 0, 100)], 10_001, &[]), 0.0);
    }
}
