//! The backlog: the time in which a cluster will have run all its jobs (Meltzer 2005, §4.4).

use bookahead_core::units::{Nodes, Seconds};

use super::{BacklogWork, PartOrder};

/// A backlog time that exceeds a whole second by less than this is that second: accuracies are not
/// exact in binary.
const ROUNDING: f64 = 1e-6;

/// CPU-seconds that one job is expected to need still, after `elapsed` of its limit (Q9).
pub(super) fn job_work(accuracy: f64, limit: Seconds, elapsed: Seconds, nodes: Nodes) -> f64 {
    let left = accuracy * limit.0 as f64 - elapsed.0 as f64;
    left.max(0.0) * f64::from(nodes.0)
}

/// A part in the backlog.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartWork {
    start: Seconds,
    /// CPU-seconds.
    work: i64,
    has_started: bool,
}

impl PartWork {
    /// The amount that a part counts for at `now`: all of it, or, under that rule (Q9), the rest of
    /// a part that has started.
    pub(super) fn of(
        order: &PartOrder,
        has_started: bool,
        rule: BacklogWork,
        now: Seconds,
    ) -> Self {
        let span = if has_started && rule == BacklogWork::Remaining {
            order.start + order.duration - now
        } else {
            order.duration
        };
        Self {
            start: order.start,
            work: order.nodes.for_span(span).0,
            has_started,
        }
    }
}

impl PartWork {
    pub(super) fn start(&self) -> Seconds {
        self.start
    }
}

/// The backlog at one instant as a function of a start: the sum of parts grows with it.
pub(super) struct Backlog {
    /// CPU-seconds of jobs.
    jobs: f64,
    /// Parts by rising start.
    parts: Vec<PartWork>,
    /// How many of them start before the last start that was asked for, and their CPU-seconds.
    passed: (usize, i64),
    nodes: f64,
}

impl Backlog {
    /// The backlog of jobs that are expected to need `jobs` CPU-seconds, and of parts by rising
    /// start, on a cluster of `nodes` CPUs.
    pub(super) fn new(jobs: f64, parts: Vec<PartWork>, nodes: Nodes) -> Self {
        debug_assert!(parts.is_sorted_by_key(|part| part.start));
        Self {
            jobs,
            parts,
            passed: (0, 0),
            nodes: f64::from(nodes.0.max(1)),
        }
    }

    /// Backlog time for a start: rounded up, as starts are whole seconds. Starts must be asked for
    /// in rising order.
    pub(super) fn before(&mut self, start: Seconds) -> Seconds {
        let (count, work) = &mut self.passed;
        while let Some(part) = self.parts.get(*count).filter(|part| part.start < start) {
            *work += part.work;
            *count += 1;
        }
        self.time(self.passed.1)
    }

    /// Backlog time of the jobs and the parts that have started (Q22, first reading).
    pub(super) fn now(&self) -> Seconds {
        let started = self.parts.iter().filter(|part| part.has_started);
        self.time(started.map(|part| part.work).sum())
    }

    fn time(&self, parts: i64) -> Seconds {
        let exact = (self.jobs + parts as f64) / self.nodes;
        Seconds((exact - ROUNDING).ceil() as i64)
    }
}

#[cfg(test)]
mod tests {
    use bookahead_core::workload::{CoRequestId, FurtherCounts};

    use super::*;
    use crate::co_reservation::local::Precedence;

    fn order(start: i64, duration: i64, nodes: u32) -> PartOrder {
        PartOrder {
            request: CoRequestId(0),
            order: 0,
            part: 0,
            nodes: Nodes(nodes),
            further: FurtherCounts::NONE,
            start: Seconds(start),
            duration: Seconds(duration),
            pof_limit: 0.0,
            precedence: Precedence::Fixed,
        }
    }

    #[test]
    fn a_part_counts_for_starts_after_its_own_and_one_that_has_started_for_now() {
        let rule = BacklogWork::Full;
        let parts = vec![
            PartWork::of(&order(0, 50, 4), true, rule, Seconds(10)),
            PartWork::of(&order(20, 10, 10), false, rule, Seconds(10)),
        ];
        let mut backlog = Backlog::new(105.0, parts, Nodes(10));
        // (105 + 4 · 50) ÷ 10 = 30.5, rounded up.
        assert_eq!(backlog.now(), Seconds(31));
        assert_eq!(backlog.before(Seconds(0)), Seconds(11));
        assert_eq!(backlog.before(Seconds(20)), Seconds(31));
        // The part that starts at 20 adds 10 · 10.
        assert_eq!(backlog.before(Seconds(21)), Seconds(41));
    }

    #[test]
    fn of_what_has_started_only_the_rest_counts_where_that_is_the_rule() {
        let rest = |has_started| {
            PartWork::of(
                &order(0, 50, 4),
                has_started,
                BacklogWork::Remaining,
                Seconds(10),
            )
            .work
        };
        assert_eq!((rest(true), rest(false)), (160, 200));
        // 0.5 · 100 − 20 seconds of 3 CPUs; a job that outlives what was expected counts nothing.
        assert_eq!(
            job_work(0.5, Seconds(100), Seconds(20), Nodes(3)).to_bits(),
            90.0_f64.to_bits()
        );
        assert_eq!(
            job_work(0.5, Seconds(100), Seconds(60), Nodes(3)).to_bits(),
            0.0_f64.to_bits()
        );
    }
}
