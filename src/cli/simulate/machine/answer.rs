//! The printed answer: the schedule's figures by partition and quality of service, the reasons of
//! refusals, and a comparison with recorded waits.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::Simulated;
use super::against_log::{Compared, compare};
use super::announced::AnnouncedStarts;
use crate::cli::simulate::answer::{decimals, rate};
use crate::cli::simulate::source::Source;
use crate::cli::simulate::{Estimates, SimulateArguments};
use crate::predictions::UserIndex;
use crate::scheduling::stream::{Listener as _, StreamRequest, StreamTotals};
use crate::units::Nodes;
use bookahead_queues::machine_queue::machines::TraceNames;
use bookahead_queues::machine_queue::{MachineQueueJob, MachineQueueOutcome, Refusal, Waits};

/// Records that are no jobs of the machine.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Loss {
    pub(super) records: u64,
    /// Dropped by cleaning.
    pub(super) unusable: u64,
    /// Of queues and partitions that no partition of the machine lists, where none is the default.
    pub(super) without_partition: u64,
    /// Ask for no time, and their partition has no default.
    pub(super) without_request: u64,
}

/// The figures; units are in the names.
#[derive(Debug, Serialize)]
pub(in crate::cli::simulate) struct MachineAnswer {
    trace: String,
    machine: String,
    estimates: Estimates,
    nodes: u64,
    cores: u64,
    classes: usize,
    windows: usize,
    #[serde(flatten)]
    loss: Loss,
    all: Figures,
    /// By the reason, those that occur.
    refused_because: BTreeMap<&'static str, u64>,
    partitions: Vec<Figures>,
    qualities: Vec<Figures>,
    announced_starts: AnnouncedStarts,
    /// Where the trace recorded waits: all jobs, then by partition, queue, width and request.
    against_log: Vec<Compared>,
    reading_seconds: f64,
    scheduling_seconds: f64,
    jobs_per_second: f64,
    /// What was decided while a `slurm.conf` was read, and names that the trace does not know.
    pub(super) notes: Vec<String>,
    /// Keys of a `slurm.conf` that were not read, and how often each stands there.
    pub(super) not_read: Vec<(String, u64)>,
    pub(super) peak_memory_bytes: Option<u64>,
}

/// The schedule of some jobs.
#[derive(Debug, Serialize)]
struct Figures {
    name: String,
    jobs: u64,
    started: u64,
    refused: u64,
    mean_wait_seconds: Option<f64>,
    median_wait_seconds: Option<f64>,
    percentile_90_wait_seconds: Option<f64>,
    longest_wait_seconds: i64,
    mean_slowdown: Option<f64>,
    mean_bounded_slowdown: Option<f64>,
    /// Of the cores of its nodes, from the first submission to the last end.
    utilisation: Option<f64>,
}

/// A figure under way.
#[derive(Default)]
struct Sum {
    totals: StreamTotals,
    waits: Vec<i64>,
}

impl Sum {
    fn add(&mut self, job: &MachineQueueJob, outcome: MachineQueueOutcome) {
        // Cores take the place of nodes: parts of nodes are used, too.
        let request = StreamRequest {
            index: 0,
            submit: job.submit,
            nodes: Nodes(job.cores),
            user: UserIndex(0),
            estimate: job.request,
            runtime: job.runtime,
        };
        match outcome {
            MachineQueueOutcome::Ran { start, .. } => {
                self.totals.started(&request, start);
                self.waits.push((start - job.submit).0);
            }
            MachineQueueOutcome::Refused(_) => self.totals.refused(&request),
        }
    }

    fn figures(&self, name: &str, cores: u64) -> Figures {
        let waits = (!self.waits.is_empty()).then(|| Waits::of(&self.waits));
        let totals = &self.totals;
        // A machine has at most so many cores as 32 bits count: the file is checked.
        let cores = Nodes(u32::try_from(cores).unwrap_or(u32::MAX));
        Figures {
            name: name.to_owned(),
            jobs: totals.started + totals.refused,
            started: totals.started,
            refused: totals.refused,
            mean_wait_seconds: totals.mean_wait(),
            median_wait_seconds: waits.map(|waits| waits.median),
            percentile_90_wait_seconds: waits.map(|waits| waits.percentile_90),
            longest_wait_seconds: totals.longest_wait,
            mean_slowdown: totals.mean_slowdown(),
            mean_bounded_slowdown: totals.mean_bounded_slowdown(),
            utilisation: totals.utilisation(cores),
        }
    }
}

/// Why jobs are refused, in words.
fn because(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::TooLong => "longer than allowed",
        Refusal::TooWide => "wider than allowed",
        Refusal::NeverFits => "larger than the machine",
        Refusal::TooManySubmitted => "too many submitted",
    }
}

impl MachineAnswer {
    pub(super) fn of(
        arguments: &SimulateArguments,
        source: &Source,
        simulated: &Simulated,
        names: &TraceNames,
    ) -> Self {
        let machine = &simulated.machine;
        let cores = |class: usize| {
            u64::from(machine.classes[class].nodes.0) * u64::from(machine.classes[class].each.cores)
        };
        let all_cores = machine.cores();
        let mut all = Sum::default();
        let mut partitions: Vec<Sum> = Vec::new();
        partitions.resize_with(machine.partitions.len(), Sum::default);
        let mut qualities: Vec<Sum> = Vec::new();
        qualities.resize_with(machine.qualities.len(), Sum::default);
        let mut refused_because = BTreeMap::new();
        for (job, outcome) in simulated.jobs.iter().zip(&simulated.outcomes) {
            all.add(job, *outcome);
            partitions[job.partition.0].add(job, *outcome);
            qualities[job.quality.0].add(job, *outcome);
            if let MachineQueueOutcome::Refused(refusal) = outcome {
                *refused_because.entry(because(*refusal)).or_default() += 1;
            }
        }
        Self {
            trace: source.name(),
            machine: machine.name.clone(),
            estimates: arguments.estimates,
            nodes: (machine.classes.iter())
                .map(|class| u64::from(class.nodes.0))
                .sum(),
            cores: all_cores,
            classes: machine.classes.len(),
            windows: machine.windows.len(),
            loss: simulated.loss,
            all: all.figures("all", all_cores),
            refused_because,
            partitions: (machine.partitions.iter().zip(&partitions))
                .map(|(partition, sum)| {
                    let cores = partition.classes.iter().map(|class| cores(class.0)).sum();
                    sum.figures(&partition.name, cores)
                })
                .collect(),
            qualities: (machine.qualities.iter().zip(&qualities))
                .map(|(quality, sum)| sum.figures(&quality.name, all_cores))
                .collect(),
            announced_starts: AnnouncedStarts::of(&simulated.jobs, &simulated.outcomes),
            against_log: compare(simulated, names),
            reading_seconds: simulated.reading.as_secs_f64(),
            scheduling_seconds: simulated.scheduling.as_secs_f64(),
            jobs_per_second: rate(simulated.jobs.len() as u64, simulated.scheduling),
            notes: Vec::new(),
            not_read: Vec::new(),
            peak_memory_bytes: None,
        }
    }

    pub(in crate::cli::simulate) fn json(&self) -> String {
        // Names and numbers only: there is nothing that JSON could not hold.
        crate::cli::output::records(self).unwrap_or_default()
    }

    pub(in crate::cli::simulate) fn text(&self) -> String {
        let mut text = String::new();
        self.head(&mut text);
        if self.partitions.len() > 1 {
            table("partition", &self.partitions, &mut text);
        }
        if self.qualities.len() > 1 {
            table("quality of service", &self.qualities, &mut text);
        }
        self.comparison(&mut text);
        for note in &self.notes {
            let _ = writeln!(text, "\nnote: {note}");
        }
        if !self.not_read.is_empty() {
            let keys: Vec<String> = (self.not_read.iter())
                .map(|(key, count)| match count {
                    1 => key.clone(),
                    _ => format!("{key} ({count} times)"),
                })
                .collect();
            let _ = writeln!(text, "\nnot read: {}", keys.join(", "));
        }
        text
    }

    fn head(&self, text: &mut String) {
        let mut line = |name: &str, value: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:<24}{value}");
        };
        let requests = match self.estimates {
            Estimates::User => "users' requests",
            Estimates::Perfect => "requests equal to run times",
        };
        line("trace", self.trace.clone());
        line(
            "machine",
            format!("{}, {requests}", on_one_line(&self.machine, 60)),
        );
        line(
            "nodes",
            format!("{} with {} cores in all", self.nodes, self.cores),
        );
        if self.windows > 0 {
            line("windows", self.windows.to_string());
        }
        line(
            "jobs",
            format!(
                "{} ({} records, {} unusable)",
                self.all.jobs, self.loss.records, self.loss.unusable
            ),
        );
        for (count, words) in [
            (
                self.loss.without_partition,
                "of queues that no partition lists",
            ),
            (
                self.loss.without_request,
                "without a request, where there is no default",
            ),
        ] {
            if count > 0 {
                line("left out", format!("{count} {words}"));
            }
        }
        for (reason, count) in &self.refused_because {
            let share = 100.0 * *count as f64 / self.all.jobs as f64;
            line("refused", format!("{count} {reason} ({share:.2} %)"));
        }
        let all = &self.all;
        line("mean wait", decimals(all.mean_wait_seconds, 1) + " s");
        line("longest wait", format!("{} s", all.longest_wait_seconds));
        line("mean slowdown", decimals(all.mean_slowdown, 3));
        line(
            "mean bounded slowdown",
            decimals(all.mean_bounded_slowdown, 3) + " (10 s)",
        );
        line(
            "utilisation",
            decimals(percent(all.utilisation), 2) + " % of the cores",
        );
        for (name, value) in self.announced_starts.lines() {
            line(name, value);
        }
        line("reading", format!("{:.3} s", self.reading_seconds));
        line(
            "scheduling",
            format!(
                "{:.3} s ({:.0} jobs/s)",
                self.scheduling_seconds, self.jobs_per_second
            ),
        );
        if let Some(bytes) = self.peak_memory_bytes {
            line("peak memory", format!("{:.1} MB", bytes as f64 / 1e6));
        }
    }

    fn comparison(&self, text: &mut String) {
        if self.against_log.is_empty() {
            return;
        }
        let _ = writeln!(
            text,
            "\n{:<23}{:>21}{:>21}\n{:<16}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}{:>6}",
            "waits in hours",
            "as recorded",
            "as simulated",
            "",
            "jobs",
            "mean",
            "median",
            "90 %",
            "mean",
            "median",
            "90 %",
            "apart",
            "rank"
        );
        let mut by = "all";
        for compared in &self.against_log {
            if compared.by != by {
                by = compared.by;
                let _ = writeln!(text, "by {by}");
            }
            let agreement = &compared.agreement;
            let _ = write!(
                text,
                "{:<16}{:>7}",
                on_one_line(&compared.name, 15),
                agreement.jobs
            );
            for waits in [
                agreement.recorded_wait_seconds,
                agreement.simulated_wait_seconds,
            ] {
                for seconds in [waits.mean, waits.median, waits.percentile_90] {
                    let _ = write!(text, "{:>7}", hours(seconds));
                }
            }
            let _ = writeln!(
                text,
                "{:>7}{:>6}",
                hours(agreement.mean_absolute_difference_seconds),
                decimals(agreement.rank_correlation, 2)
            );
        }
        let _ = writeln!(
            text,
            "apart: mean |simulated - recorded|; rank: correlation of the waits' ranks"
        );
    }
}

/// A name of a foreign file, short enough for its column.
fn on_one_line(name: &str, most: usize) -> String {
    let name = name.replace(char::is_control, " ");
    if name.chars().count() <= most {
        return name;
    }
    name.chars()
        .take(most.saturating_sub(1))
        .chain(['…'])
        .collect()
}

pub(super) fn percent(share: Option<f64>) -> Option<f64> {
    share.map(|share| 100.0 * share)
}

pub(super) fn hours(seconds: f64) -> String {
    format!("{:.2}", seconds / 3_600.0)
}

/// A table of schedules, 80 columns wide.
fn table(of: &str, rows: &[Figures], text: &mut String) {
    let _ = writeln!(
        text,
        "\n{:<19}{:>8}{:>8}{:>9}{:>9}{:>9}{:>9}{:>8}\n{:<19}{:>8}{:>8}{:>9}{:>9}{:>9}{:>9}{:>8}",
        of,
        "jobs",
        "refused",
        "mean",
        "median",
        "90 %",
        "bounded",
        "used",
        "",
        "",
        "",
        "wait h",
        "wait h",
        "wait h",
        "slowdown",
        "%"
    );
    for row in rows {
        let _ = write!(
            text,
            "{:<19}{:>8}{:>8}",
            on_one_line(&row.name, 18),
            row.jobs,
            row.refused
        );
        for wait in [
            row.mean_wait_seconds,
            row.median_wait_seconds,
            row.percentile_90_wait_seconds,
        ] {
            let _ = write!(text, "{:>9}", wait.map_or_else(|| "none".to_owned(), hours));
        }
        let _ = writeln!(
            text,
            "{:>9}{:>8}",
            decimals(row.mean_bounded_slowdown, 2),
            decimals(percent(row.utilisation), 2)
        );
    }
}
