//! The statistics of advertised slots (Singh 2008, §3.1, Figures 4 to 8): with exact runtimes by
//! the free-rectangle scheduler, with recorded estimates by a plan that is cut into slots.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use bookahead_core::kernel::{Listed, Machine, NoService, Scene, Step};
use bookahead_core::plan::{SlotList, SlotRules};
use bookahead_core::scheduling::JobOutcome;
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::Job;

use super::rectangle_site::RectangleSite;
use crate::replanning::{ReplanningMachine, ReplanningSettings};
use crate::slots::statistics::{SlotSample, SlotStatistics};

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
    /// The scheduler keeps free rectangles and nothing else (ALG-1). It knows runtimes exactly:
    /// estimates are not read.
    #[default]
    FreeRectangles,
    /// A counted plan, made anew at every event, is cut into rectangles whenever slots are asked
    /// for (Singh 2008, chapter 3, for inexact estimates).
    Plan,
}

/// What a study of slots found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlotStudyRun {
    /// Its measures.
    pub measured: Measured,
    /// The outcome of each job, in order of ids; empty unless asked for.
    pub jobs: Vec<JobOutcome>,
    /// What was advertised at each sample, in order of time; empty unless asked for.
    pub samples: Vec<SlotSample>,
}

/// A machine that advertises slots, watched from the first submission to the last, and its client;
/// `jobs` are in order of submission. Keeps jobs and samples where outcomes are asked for.
#[must_use]
pub fn slot_scene(
    jobs: &Arc<[Job]>,
    nodes: Nodes,
    settings: &SlotStudySettings,
    keep_outcomes: bool,
) -> Scene<SlotMachine> {
    let machine = SlotMachine::new(nodes, settings, span_of(jobs), keep_outcomes);
    let submit = |input: &mut Vec<Job>, jobs: &[Job]| input.extend_from_slice(jobs);
    let client = Listed::new(Arc::clone(jobs), |job: &Job| job.submit, submit);
    Scene::new("machine", machine).with("client", client)
}

/// The first and the last submission; nothing happens where there are no jobs.
fn span_of(jobs: &[Job]) -> (Seconds, Seconds) {
    let submissions = || jobs.iter().map(|job| job.submit);
    let first = submissions().min().unwrap_or(Seconds::ZERO);
    (first, submissions().max().unwrap_or(first))
}

impl Machine for SlotMachine {
    type Input = Vec<Job>;
    type Output = ();
    type Service = NoService;

    /// Takes arrivals in the order of submission, none of them in the past.
    fn take(&mut self, input: Vec<Job>) {
        for job in input {
            self.sample_before(job.submit);
            match &mut self.source {
                Source::Rectangles(rectangles) => rectangles.place(job),
                Source::Plan(plan, _) => plan.submit([job]),
            }
        }
    }

    /// Processes everything before `until`, and takes the samples before it.
    fn advance(&mut self, until: Seconds) -> Step<NoService> {
        self.sample_before(until);
        if let Source::Plan(plan, _) = &mut self.source {
            plan.advance(until);
        }
        Step::Reached(until)
    }

    fn next_event(&self) -> Option<Seconds> {
        let planned = match &self.source {
            Source::Rectangles(_) => None,
            Source::Plan(plan, _) => plan.next_event(),
        };
        [self.next_sample(), planned].into_iter().flatten().min()
    }

    /// Samples are wanted even where nothing runs.
    fn is_idle(&self) -> bool {
        self.next_event().is_none()
    }

    fn hand_out(&mut self) {}
}

/// A machine that advertises slots while it runs its jobs, with samples of these slots. No samples
/// are taken if their period is not positive.
pub struct SlotMachine {
    nodes: Nodes,
    source: Source,
    statistics: SlotStatistics,
    /// When the next sample is due, and when the last may be.
    next: Seconds,
    last: Seconds,
    period: Seconds,
    keep_outcomes: bool,
}

enum Source {
    Rectangles(Box<Rectangles>),
    /// A machine that plans anew at every event, and how its plan is cut into slots.
    Plan(Box<ReplanningMachine>, SlotRules),
}

impl SlotMachine {
    /// An idle machine that is watched from the first submission to the last.
    fn new(
        nodes: Nodes,
        settings: &SlotStudySettings,
        (first, last): (Seconds, Seconds),
        keep_outcomes: bool,
    ) -> Self {
        let source = match settings.source {
            SlotSource::FreeRectangles => Source::Rectangles(Box::new(Rectangles {
                site: RectangleSite::new(nodes, settings.rules),
                first,
                last,
                started: 0,
                used: NodeSeconds(0),
                waited: Seconds::ZERO,
                jobs: keep_outcomes.then(Vec::new),
            })),
            SlotSource::Plan => {
                let machine = ReplanningMachine::replanning(nodes, ReplanningSettings::default());
                Source::Plan(Box::new(machine), settings.rules)
            }
        };
        Self {
            nodes,
            source,
            statistics: SlotStatistics::keeping(keep_outcomes),
            next: first,
            last,
            period: settings.sample_period,
            keep_outcomes,
        }
    }

    fn next_sample(&self) -> Option<Seconds> {
        (self.period > Seconds::ZERO && self.next <= self.last).then_some(self.next)
    }

    /// A sample sees what was submitted at its own instant.
    fn sample_before(&mut self, until: Seconds) {
        while let Some(now) = self.next_sample().filter(|now| *now < until) {
            let (advertised, tasks) = match &mut self.source {
                Source::Rectangles(rectangles) => {
                    // It does not see what ended then.
                    rectangles.site.pass_to(now);
                    let tasks = rectangles.site.tasks_in_system();
                    (rectangles.site.advertised(), tasks)
                }
                Source::Plan(plan, rules) => {
                    plan.wait_until(now + Seconds(1));
                    let slots =
                        SlotList::from_profile(plan.plan().planned().1.nodes(), now, *rules);
                    let advertised = slots.advertised(now, slots.horizon_end(now));
                    (advertised, plan.policy().tasks_in_system())
                }
            };
            let tasks = u32::try_from(tasks).unwrap_or(u32::MAX);
            self.statistics.sample(now, &advertised, tasks);
            self.next += self.period;
        }
    }

    /// What was seen, once every job has ended.
    #[must_use]
    pub fn finish(mut self) -> SlotStudyRun {
        // What was used while jobs were submitted, and for how long that was.
        let (used, submitting, waited, started, jobs) = match self.source {
            Source::Rectangles(rectangles) => {
                let submitting = rectangles.last - rectangles.first;
                let Rectangles {
                    used,
                    waited,
                    started,
                    jobs,
                    ..
                } = *rectangles;
                (used, submitting, waited, started, jobs.unwrap_or_default())
            }
            Source::Plan(mut plan, _) => {
                let (totals, metrics) = (plan.reservation_totals(), plan.metrics());
                let (waited, started) = (metrics.wait_total, metrics.started);
                let used = totals.used_while_submitting;
                (
                    used,
                    totals.submitting,
                    waited,
                    started,
                    plan.take_outcomes(),
                )
            }
        };
        let capacity = self.nodes.for_span(submitting).0.max(1) as f64;
        let loaded = used.0 as f64 / capacity;
        let mut measured = measures_of(&self.statistics);
        measured.add("loaded_utilisation_percent", 100.0 * loaded);
        measured.add("job_wait_hours", waited.hours() / started.max(1) as f64);
        let mut jobs = if self.keep_outcomes { jobs } else { Vec::new() };
        jobs.sort_by_key(|outcome| outcome.job.id);
        SlotStudyRun {
            measured,
            jobs,
            samples: self.statistics.take_kept(),
        }
    }
}

/// A site of free rectangles, with the outcomes of its jobs.
struct Rectangles {
    site: RectangleSite,
    first: Seconds,
    last: Seconds,
    started: u64,
    /// What jobs used between the first and the last submission.
    used: NodeSeconds,
    waited: Seconds,
    /// The jobs, where they are kept.
    jobs: Option<Vec<JobOutcome>>,
}

impl Rectangles {
    fn place(&mut self, job: Job) {
        let ran = self.site.place(&job);
        if let Some((start, end)) = ran {
            let span = end.min(self.last) - start.max(self.first);
            self.started += 1;
            self.used += job.nodes.for_span(span.max(Seconds::ZERO));
            self.waited += start - job.submit;
        }
        if let Some(jobs) = &mut self.jobs {
            jobs.push(JobOutcome::unpromised(job, ran));
        }
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
    use bookahead_core::kernel::drive;
    use bookahead_core::scheduling::Verdict;
    use bookahead_core::workload::JobId;

    use super::*;

    fn simulate(
        jobs: &[Job],
        nodes: Nodes,
        settings: &SlotStudySettings,
        keep_outcomes: bool,
    ) -> SlotStudyRun {
        let scene = slot_scene(&jobs.into(), nodes, settings, keep_outcomes);
        drive(scene, false).machine.finish()
    }

    /// Jobs that leave a hole now and then; estimates are `stretch` times the runtimes.
    fn jobs(stretch: i64) -> Vec<Job> {
        (0..200)
            .map(|id: u32| {
                let number = i64::from(id);
                let (submit, nodes) = (Seconds(number * 1_000), Nodes(1 + id % 5));
                let runtime = Seconds(3_000 + number % 7 * 900);
                Job::rigid(JobId(id), submit, nodes, runtime * stretch)
                    .running_for(runtime)
                    .numbered(number)
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
            simulate(&jobs(1), Nodes(16), &settings, false).measured
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
            let run = simulate(&jobs, Nodes(16), &settings, true);
            let plain = simulate(&jobs, Nodes(16), &settings, false);
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
            simulate(&jobs(stretch), Nodes(10), &settings, false)
                .measured
                .get("slot_start_p95_hours")
                .unwrap()
        };
        assert!(start(5) > start(1));
    }

    #[test]
    fn the_bins_of_figures_4_and_7_add_up_to_a_hundred_percent() {
        let settings = SlotStudySettings::default();
        let measured = simulate(&jobs(1), Nodes(16), &settings, false).measured;
        let statistics = SlotStatistics::default();
        let slots = statistics.by_number_of_slots().map(|(name, _)| name);
        let nodes = statistics.by_number_of_nodes().map(|(name, _)| name);
        for names in [slots.collect::<Vec<_>>(), nodes.collect()] {
            let sum: f64 = names.iter().filter_map(|name| measured.get(name)).sum();
            assert!((sum - 100.0).abs() < 1e-9);
        }
    }
}
