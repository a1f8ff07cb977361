//! Backfilling by probability (Birkenheuer 2012, §2.4.2, on Nissimov and Feitelson): a job passes
//! the first of the queue also if its estimate does not fit, where it has probably ended when that
//! one is to start.
//!
//! The first job that does not fit keeps the earliest place beside running jobs and reservations:
//! until then there is a hole. Each job behind it, in their order, may start now
//!
//! * if it leaves that place alone by its estimate, as under EASY, or
//! * if `P(R ≤ hole) > 1 − θ`, where R is how long it runs, by the ratio distribution of its class.
//!
//! Nobody runs over a promised window. Who has passed by probability counts as ending when the hole
//! does, so that the place of the first one does not move with it; if it still runs then, it counts
//! for its estimate from then on. Each job is tested for itself: with several of them the first one
//! is delayed more probably than θ.

use std::sync::Arc;

use bookahead_core::estimates::EstimateModel;
use bookahead_core::plan::{Fit, Profile};
use bookahead_core::scheduling::Acceptance;
use bookahead_core::scheduling::queue::{QueuePass, QueuePolicy, Waiting};
use bookahead_core::units::Seconds;
use bookahead_core::workload::JobId;

/// EASY backfilling in which jobs also pass the first of the queue that will probably not delay it.
#[derive(Clone, Debug)]
pub struct ProbabilisticBackfilling {
    /// θ, as the test of what remains: 1 − P(R ≤ hole).
    test: Acceptance,
    estimates: Arc<EstimateModel>,
    /// Who passed by probability and runs, with the end of its hole.
    passed: Vec<(JobId, Seconds)>,
}

impl ProbabilisticBackfilling {
    /// Lets jobs pass that still run at the end of their hole with a probability below `risk`, by
    /// these statistics.
    #[must_use]
    pub fn new(risk: f64, estimates: Arc<EstimateModel>) -> Self {
        Self {
            test: Acceptance::Pof { maximum: risk },
            estimates,
            passed: Vec::new(),
        }
    }

    /// Whether a job will probably have ended after so long.
    fn probably_ends(&self, pass: &QueuePass<'_>, waiting: &Waiting, hole: Seconds) -> bool {
        let model = &self.estimates;
        let (_, distribution) = model.lookup(pass.job(waiting), model.history());
        self.test
            .accepts(1.0 - distribution.cdf_at(hole, waiting.estimate))
    }

    /// Forgets who has ended, and who has not at the end of its hole.
    fn forget_over(&mut self, pass: &mut QueuePass<'_>) {
        let now = pass.now();
        self.passed.retain(|&(job, end)| {
            let runs = pass.runs(job);
            let overruns = runs && end <= now;
            pass.work().overrun_passes += u64::from(overruns);
            runs && !overruns
        });
    }

    /// Starts those behind `first` that may pass it.
    fn pass_first(&mut self, pass: &mut QueuePass<'_>, first: &Waiting, behind: &[Waiting]) {
        let now = pass.now();
        let mut planned = pass.free_if(&self.passed);
        let Some(place) = planned.earliest_fit(Fit {
            from: now,
            latest: Seconds::FAR,
            nodes: first.nodes.0,
            duration: first.estimate,
            own_start: None,
        }) else {
            // Too many nodes are down for it: nobody can delay it.
            for waiting in behind {
                if pass.fits(waiting) {
                    pass.start(waiting);
                }
            }
            return;
        };
        planned.reserve(place, place + first.estimate, first.nodes.0);
        for waiting in behind {
            if waiting.nodes > pass.idle() || !pass.fits(waiting) {
                continue;
            }
            let end = now + waiting.estimate;
            if has_room(&planned, waiting, (now, end)) {
                planned.reserve(now, end, waiting.nodes.0);
                pass.start(waiting);
            } else if place > now
                && has_room(&planned, waiting, (now, place))
                && self.probably_ends(pass, waiting, place - now)
            {
                planned.reserve(now, place, waiting.nodes.0);
                pass.start(waiting);
                pass.work().probable_passes += 1;
                self.passed.push((waiting.job, place));
            }
        }
    }
}

fn has_room(planned: &Profile, waiting: &Waiting, (start, end): (Seconds, Seconds)) -> bool {
    planned.min_free(start, end) >= waiting.nodes.0 as i32
}

impl QueuePolicy for ProbabilisticBackfilling {
    fn pass(&mut self, pass: &mut QueuePass<'_>) {
        self.forget_over(pass);
        let queue: Vec<Waiting> = pass.waiting().to_vec();
        for (place, waiting) in queue.iter().enumerate() {
            if pass.fits(waiting) {
                pass.start(waiting);
            } else {
                if pass.idle().0 > 0 {
                    self.pass_first(pass, waiting, &queue[place + 1..]);
                }
                return;
            }
        }
    }
}
