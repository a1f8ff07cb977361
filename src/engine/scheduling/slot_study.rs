//! The statistics of advertised slots (EXP-3 of spec `provisioning.md` §3.7, Figures 4 to 8): with exact runtimes by the
//! free-rectangle scheduler, with recorded estimates by a plan that is cut into slots.

use serde::{Deserialize, Serialize};

use super::measures::Measured;
use super::outcome::JobOutcome;
use super::reserving::{ReservingMachine, ReservingSettings};
use super::slot_statistics::{SlotSample, SlotStatistics, simulate_slots_into, slot_run_time};
use crate::plan::{SlotList, SlotRules};
use crate::units::{Nodes, Seconds};
use crate::workload::Job;

/// How the slots of a machine are gathered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlotStudySettings {
    /// Where slots come from.
    pub source: SlotSource,
    /// How rectangles are kept.
    pub rules: SlotRules,
    /// Time between two samples (not in the thesis).
    pub sample_period: Seconds,
}

impl Default for SlotStudySettings {
    fn default() -> Self {
        Self {
            source: SlotSource::FreeRectangles,
            rules: SlotRules::default(),
            sample_period: Seconds::HOUR,
        }
    }
}

/// Where slots come from (AMB-4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlotSource {
    /// The scheduler keeps free rectangles and nothing else (ALG-1). It knows runtimes exactly: estimates are not read.
    #[default]
    FreeRectangles,
    /// A counted plan, made anew at every event, is cut into rectangles whenever slots are asked for (§3.6, inexact
    /// estimates).
    Plan,
}

/// What a study of slots found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlotStudyRun {
    /// Its measures.
    pub measured: Measured,
    /// What became of each job, in order of ids; empty unless asked for.
    pub jobs: Vec<JobOutcome>,
    /// What was advertised at each sample, in order of time; empty unless asked for.
    pub samples: Vec<SlotSample>,
}

/// Replays jobs and measures the slots that are advertised on the way; keeps jobs and samples where outcomes are asked for.
#[must_use]
pub fn simulate_slot_study(
    jobs: &[Job],
    nodes: Nodes,
    settings: &SlotStudySettings,
    keep_outcomes: bool,
) -> SlotStudyRun {
    let statistics = SlotStatistics::keeping(keep_outcomes);
    let mut sampled = match settings.source {
        SlotSource::FreeRectangles => sample_rectangles(statistics, jobs, nodes, settings),
        SlotSource::Plan => sample_plans(statistics, jobs, nodes, settings),
    };
    let mut measured = measures_of(&sampled.statistics);
    measured.add("loaded_utilisation_percent", 100.0 * sampled.loaded);
    measured.add("job_wait_hours", sampled.wait_hours);
    if keep_outcomes {
        sampled.jobs.sort_by_key(|outcome| outcome.job.id);
    } else {
        sampled.jobs = Vec::new();
    }
    SlotStudyRun {
        measured,
        jobs: sampled.jobs,
        samples: sampled.statistics.take_kept(),
    }
}

/// A machine that was sampled.
struct Sampled {
    statistics: SlotStatistics,
    /// Utilisation while jobs are submitted, in `[0, 1]`.
    loaded: f64,
    /// Mean wait.
    wait_hours: f64,
    jobs: Vec<JobOutcome>,
}

/// Samples a machine that keeps free rectangles.
fn sample_rectangles(
    statistics: SlotStatistics,
    jobs: &[Job],
    nodes: Nodes,
    settings: &SlotStudySettings,
) -> Sampled {
    let run = simulate_slots_into(
        statistics,
        jobs,
        nodes,
        settings.rules,
        settings.sample_period,
    );
    let ran = |job: &Job, start: Seconds| (start, start + slot_run_time(job));
    let outcomes = jobs.iter().zip(&run.starts);
    Sampled {
        jobs: outcomes
            .map(|(job, start)| JobOutcome::unpromised(job.clone(), start.map(|at| ran(job, at))))
            .collect(),
        statistics: run.statistics,
        loaded: run.utilisation,
        wait_hours: run.mean_wait_hours,
    }
}

/// Samples a re-planning machine.
fn sample_plans(
    mut statistics: SlotStatistics,
    jobs: &[Job],
    nodes: Nodes,
    settings: &SlotStudySettings,
) -> Sampled {
    let mut machine = ReservingMachine::new(nodes, ReservingSettings::default());
    machine.submit(jobs.iter().cloned());
    let first = jobs.first().map_or(Seconds::ZERO, |job| job.submit);
    let last = jobs.last().map_or(Seconds::ZERO, |job| job.submit);
    let mut now = first;
    while settings.sample_period > Seconds::ZERO && now <= last {
        // As with exact runtimes, a sample sees what was submitted at its own instant.
        machine.wait_until(now + Seconds(1));
        let slots = SlotList::from_profile(machine.planned().1, now, settings.rules);
        let advertised = slots.advertised(now, slots.horizon_end(now));
        let tasks = u32::try_from(machine.tasks_in_system()).unwrap_or(u32::MAX);
        statistics.sample(now, &advertised, tasks);
        now += settings.sample_period;
    }
    machine.advance(Seconds::FAR);
    let totals = machine.reservation_totals();
    let capacity = nodes.for_span(totals.submitting).0.max(1) as f64;
    let metrics = machine.metrics();
    Sampled {
        statistics,
        loaded: totals.used_while_submitting.0 as f64 / capacity,
        wait_hours: metrics.wait_total.hours() / metrics.started.max(1) as f64,
        jobs: machine.take_job_outcomes(),
    }
}

fn measures_of(statistics: &SlotStatistics) -> Measured {
    let mut measured = Measured::default();
    measured.add("slot_samples", statistics.samples() as f64);
    measured.add("slots_mean", statistics.mean_slots());
    measured.add("tasks_mean", statistics.mean_tasks());
    if let Some(correlation) = statistics.correlation() {
        measured.add("slots_tasks_correlation", correlation);
    }
    if let (Some(starts), Some(durations)) = (statistics.starts(), statistics.durations()) {
        measured.add("slot_start_p50_hours", starts.median);
        measured.add("slot_start_p95_hours", starts.p95);
        measured.add("slot_duration_p50_hours", durations.median);
        measured.add("slot_duration_p95_hours", durations.p95);
    }
    let slots = statistics.slots() as f64;
    measured.add_ratio(
        "edge_slots_percent",
        100.0 * statistics.edge_slots() as f64,
        slots,
    );
    let by_nodes: Vec<f64> = statistics
        .by_number_of_nodes()
        .map(|(_, count)| count as f64)
        .collect();
    // The bins 1, 2–5 and 6–9.
    let narrow: f64 = by_nodes.iter().take(3).sum();
    measured.add_ratio("narrow_slots_percent", 100.0 * narrow, slots);
    // 14–17 is the fifth bin, 30–33 the ninth, 62–65 the last but one.
    let around = |bin: usize| (by_nodes[bin - 1] + by_nodes[bin + 1]) / 2.0;
    measured.add_ratio("slots_around_16_peak", by_nodes[4], around(4));
    measured.add_ratio("slots_around_32_peak", by_nodes[8], around(8));
    measured.add_ratio("slots_around_64_peak", by_nodes[16], by_nodes[15]);
    for (name, count) in statistics.by_number_of_slots() {
        measured.add_ratio(name, 100.0 * count as f64, statistics.samples() as f64);
    }
    for (name, count) in statistics.by_number_of_nodes() {
        measured.add_ratio(name, 100.0 * count as f64, slots);
    }
    measured
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::Verdict;
    use crate::workload::{JobId, JobKind};

    /// Jobs that leave a hole now and then; estimates are `stretch` times the runtimes.
    fn jobs(stretch: i64) -> Vec<Job> {
        (0..200)
            .map(|id: u32| Job {
                id: JobId(id),
                trace_number: i64::from(id),
                submit: Seconds(i64::from(id) * 1_000),
                release: Seconds(i64::from(id) * 1_000),
                estimate: Seconds((3_000 + i64::from(id % 7) * 900) * stretch),
                runtime: Seconds(3_000 + i64::from(id % 7) * 900),
                deadline: Seconds::FAR,
                nodes: Nodes(1 + id % 5),
                user: None,
                application: None,
                kind: JobKind::Flexible,
            })
            .collect()
    }

    #[test]
    fn with_exact_estimates_both_sources_advertise_about_the_same_capacity() {
        let measure = |source| {
            let settings = SlotStudySettings {
                source,
                ..SlotStudySettings::default()
            };
            simulate_slot_study(&jobs(1), Nodes(16), &settings, false).measured
        };
        let (rectangles, plan) = (
            measure(SlotSource::FreeRectangles),
            measure(SlotSource::Plan),
        );
        for name in ["slots_mean", "loaded_utilisation_percent", "tasks_mean"] {
            let (one, other) = (rectangles.get(name).unwrap(), plan.get(name).unwrap());
            assert!((one - other).abs() < 0.25 * one, "{name}: {one} {other}");
        }
        assert!(plan.get("slot_samples").unwrap() > 50.0);
    }

    #[test]
    fn outcomes_say_of_every_job_and_every_sample_what_the_measures_sum_up() {
        for source in [SlotSource::FreeRectangles, SlotSource::Plan] {
            let settings = SlotStudySettings {
                source,
                ..SlotStudySettings::default()
            };
            let mut jobs = jobs(2);
            jobs[7].nodes = Nodes(17);
            let run = simulate_slot_study(&jobs, Nodes(16), &settings, true);
            let plain = simulate_slot_study(&jobs, Nodes(16), &settings, false);
            assert_eq!(run.measured, plain.measured);
            assert!(plain.jobs.is_empty() && plain.samples.is_empty());
            let get = |name| run.measured.get(name).unwrap();
            assert_eq!(run.samples.len() as f64, get("slot_samples"));
            let slots: usize = run.samples.iter().map(|sample| sample.slots.len()).sum();
            let mean = slots as f64 / run.samples.len() as f64;
            assert!((mean - get("slots_mean")).abs() < 1e-9);
            assert_eq!(run.jobs.len(), 200);
            assert_eq!(run.jobs[7].verdict, Verdict::DroppedTooWide);
            let waits = run.jobs.iter().filter_map(|outcome| {
                let (start, end) = (outcome.start?, outcome.end?);
                assert_eq!(end - start, outcome.job.runtime);
                Some((start - outcome.job.submit).hours())
            });
            let mean = waits.sum::<f64>() / 199.0;
            assert!((mean - get("job_wait_hours")).abs() < 1e-9);
        }
    }

    #[test]
    fn recorded_estimates_stretch_the_starts_of_slots() {
        let settings = SlotStudySettings {
            source: SlotSource::Plan,
            ..SlotStudySettings::default()
        };
        let start = |stretch| {
            simulate_slot_study(&jobs(stretch), Nodes(10), &settings, false)
                .measured
                .get("slot_start_p95_hours")
                .unwrap()
        };
        assert!(start(5) > start(1));
    }

    #[test]
    fn the_bins_of_figures_4_and_7_add_up_to_a_hundred_percent() {
        let settings = SlotStudySettings::default();
        let measured = simulate_slot_study(&jobs(1), Nodes(16), &settings, false).measured;
        let statistics = SlotStatistics::default();
        let slots = statistics.by_number_of_slots().map(|(name, _)| name);
        let nodes = statistics.by_number_of_nodes().map(|(name, _)| name);
        for names in [slots.collect::<Vec<_>>(), nodes.collect()] {
            let sum: f64 = names.iter().filter_map(|name| measured.get(name)).sum();
            assert!((sum - 100.0).abs() < 1e-9);
        }
    }
}
