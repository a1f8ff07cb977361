//! The printed answer: the schedule's figures, and the time that they took.

use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;

use super::predicted::name;
use super::source::Source;
use super::{Estimates, PolicyName, Run, SimulateArguments};
use crate::workload::{CleaningReport, LoadTime};
use bookahead_queues::predicted_queue::PredictedQueueSettings;

/// The figures; units are in the names.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    trace: String,
    policy: PolicyName,
    estimates: Estimates,
    /// What the queue plans with, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<PredictedQueueSettings>,
    /// Fixed starts: how long after its submission a request wants to start; waits count from then
    /// on.
    lead_seconds: Option<i64>,
    nodes: u32,
    /// Records read, and those that cleaning dropped.
    records: u64,
    unusable: u64,
    too_wide: u64,
    /// Usable jobs that fit the machine.
    jobs: u64,
    started: u64,
    refused: u64,
    /// Load that run times offer, as simulated.
    offered_load: Option<f64>,
    /// Load that users' estimates offer, also where run times are booked.
    offered_load_by_estimates: Option<f64>,
    /// What times between arrivals were multiplied by.
    arrival_factor: Option<f64>,
    mean_wait_seconds: Option<f64>,
    longest_wait_seconds: i64,
    mean_slowdown: Option<f64>,
    mean_bounded_slowdown: Option<f64>,
    utilisation: Option<f64>,
    mean_queue_depth: Option<f64>,
    makespan_seconds: i64,
    reading_seconds: f64,
    records_per_second: f64,
    scheduling_seconds: f64,
    jobs_per_second: f64,
    /// The same without the time in which other programs had the processor.
    processor_seconds: Option<f64>,
    jobs_per_processor_second: Option<f64>,
    pub(super) peak_memory_bytes: Option<u64>,
}

impl Answer {
    pub(super) fn of(
        arguments: &SimulateArguments,
        source: &Source,
        run: &Run,
        cleaning: &CleaningReport,
    ) -> Self {
        let totals = &run.report.totals;
        let jobs = run.demand.jobs - run.too_wide;
        Self {
            trace: source.name(),
            policy: arguments.policy(),
            estimates: arguments.estimates,
            queue: arguments.predictions.queue(),
            lead_seconds: (arguments.policy() == PolicyName::FixedStarts).then_some(arguments.lead),
            nodes: run.machine.0,
            records: cleaning.records,
            unusable: cleaning.dropped_total(),
            too_wide: run.too_wide,
            jobs,
            started: totals.started,
            refused: totals.refused,
            offered_load: run.demand.offered_load(run.machine, LoadTime::Runtimes),
            offered_load_by_estimates: run.demand.offered_load(run.machine, LoadTime::Estimates),
            arrival_factor: run.factor,
            mean_wait_seconds: totals.mean_wait(),
            longest_wait_seconds: totals.longest_wait,
            mean_slowdown: totals.mean_slowdown(),
            mean_bounded_slowdown: totals.mean_bounded_slowdown(),
            utilisation: totals.utilisation(run.machine),
            mean_queue_depth: totals.mean_queue(),
            makespan_seconds: totals.makespan().0,
            reading_seconds: run.reading.as_secs_f64(),
            records_per_second: rate(cleaning.records, run.reading),
            scheduling_seconds: run.scheduling.as_secs_f64(),
            jobs_per_second: rate(jobs, run.scheduling),
            processor_seconds: run.on_processor.map(|time| time.as_secs_f64()),
            jobs_per_processor_second: run.on_processor.map(|time| rate(jobs, time)),
            peak_memory_bytes: None,
        }
    }

    pub(super) fn json(&self) -> String {
        // Names and numbers only: there is nothing that JSON could not hold.
        crate::cli::output::records(self).unwrap_or_default()
    }

    pub(super) fn text(&self) -> String {
        let policy = self.policy.label();
        let estimates = match self.estimates {
            Estimates::User => "users' estimates",
            Estimates::Perfect => "perfect estimates",
        };
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:<24}{value}");
        };
        line("trace", self.trace.clone());
        line("policy", format!("{policy}, {estimates}"));
        if let Some(queue) = &self.queue {
            line(
                "queue",
                format!(
                    "{}, predicted by {}, corrected by {}, candidates: {}",
                    name(&queue.order),
                    queue.predictor,
                    name(&queue.corrector),
                    name(&queue.backfill)
                ),
            );
        }
        line("nodes", self.nodes.to_string());
        line(
            "jobs",
            format!(
                "{} ({} records, {} unusable, {} wider than the machine)",
                self.jobs, self.records, self.unusable, self.too_wide
            ),
        );
        if self.refused > 0 {
            line(
                "refused",
                format!(
                    "{} ({:.2} %)",
                    self.refused,
                    100.0 * self.refused as f64 / self.jobs as f64
                ),
            );
        }
        line(
            "offered load",
            format!(
                "{} by run times, {} by users' estimates",
                decimals(self.offered_load, 4),
                decimals(self.offered_load_by_estimates, 4)
            ),
        );
        let from = match self.lead_seconds {
            Some(lead) => format!(" s from the wanted start, {lead} s after the submission"),
            None => " s".to_owned(),
        };
        line("mean wait", decimals(self.mean_wait_seconds, 1) + &from);
        line("longest wait", format!("{} s", self.longest_wait_seconds));
        line("mean slowdown", decimals(self.mean_slowdown, 3));
        line(
            "mean bounded slowdown",
            decimals(self.mean_bounded_slowdown, 3) + " (10 s)",
        );
        line(
            "utilisation",
            decimals(self.utilisation.map(|share| 100.0 * share), 2) + " %",
        );
        line("mean queue depth", decimals(self.mean_queue_depth, 2));
        line(
            "reading",
            format!(
                "{:.3} s ({:.0} records/s)",
                self.reading_seconds, self.records_per_second
            ),
        );
        line(
            "scheduling",
            format!(
                "{:.3} s ({:.0} jobs/s)",
                self.scheduling_seconds, self.jobs_per_second
            ),
        );
        if let (Some(seconds), Some(rate)) =
            (self.processor_seconds, self.jobs_per_processor_second)
        {
            line(
                "on the processor",
                format!("{seconds:.3} s ({rate:.0} jobs/s)"),
            );
        }
        if let Some(bytes) = self.peak_memory_bytes {
            line("peak memory", format!("{:.1} MB", bytes as f64 / 1e6));
        }
        text
    }
}

pub(super) fn decimals(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "none".to_owned(), |value| format!("{value:.decimals$}"))
}

pub(super) fn rate(count: u64, time: Duration) -> f64 {
    let seconds = time.as_secs_f64();
    if seconds > 0.0 {
        count as f64 / seconds
    } else {
        0.0
    }
}

/// How long this thread had a processor so far, where the system says so.
pub(super) fn on_processor() -> Option<Duration> {
    // The system brings the figure up to date when a thread gives way, else only in its ticks of
    // some milliseconds.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// The most memory that this process ever held, where the system says so.
pub(super) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1_024)
}
