//! Turns a run of several clusters into named values (Meltzer 2005, §6.1).
//!
//! Where the thesis leaves something open, the choice is explained beside the value. Standard
//! deviations are those of a sample. A value that is not defined (a mean over nothing) is left out.

mod backlog;
mod classes;
mod clusters;
mod further;
mod information;
mod kinds;
mod renegotiated;
#[cfg(test)]
mod tests;
mod watched;

use bookahead_core::scheduling::JobOutcome;
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};

use super::measures::ClusterValue;
use super::{CoOutcome, CoReservationInputs, CoReservationRun, CoReservationSettings, CoVerdict};
use crate::co_reservation::local::{LocalSettings, WEEK};

pub use classes::{DURATION_CLASSES, SIZE_CLASSES, duration_class, size_class};

const DAY: Seconds = Seconds(24 * 3_600);

/// Everything that a study of several clusters measures: of the whole simulation (Meltzer 2005,
/// §6.1), and of each cluster in the order of clusters and of its clusters.
#[must_use]
pub fn co_reservation_measures(
    inputs: &CoReservationInputs,
    settings: &CoReservationSettings,
    run: &CoReservationRun,
) -> (Measured, Vec<ClusterValue>) {
    let mut measured = Measured::default();
    requests(settings, run, &mut measured);
    messages(settings, run, &mut measured);
    information::measure(settings, inputs, run, &mut measured);
    further::measure(settings, inputs, run, &mut measured);
    watched::measure(settings, run, &mut measured);
    fairness(run, &mut measured);
    backlog::measure(settings, inputs, run, &mut measured);
    machine(settings, inputs, run, &mut measured);
    risk(settings, run, &mut measured);
    kinds::by_kind(run, &mut measured);
    measured.extend(&run.metrics.checkpoints.measures());
    measured.extend(&run.metrics.late.measures());
    if !run.requests.is_empty() {
        let held = clusters::unowned_parts(run);
        measured.add("leaked_cpu_seconds", held.leaked as f64);
        measured.add("undecided_cpu_seconds", held.undecided as f64);
        if settings.search.algorithm.row().queues {
            let idle = NodeSeconds(clusters::idle_work(run));
            measured.add("co_idle_hours", idle.coins().0);
        }
    }
    let promises = settings.risk.is_some();
    (measured, clusters::values(inputs, run, promises))
}

/// Requests that were granted, with their start.
fn granted(run: &CoReservationRun) -> impl Iterator<Item = (&CoOutcome, Seconds)> {
    run.requests
        .iter()
        .filter(|outcome| outcome.verdict == CoVerdict::Granted)
        .filter_map(|outcome| Some((outcome, outcome.start?)))
}

fn requests(settings: &CoReservationSettings, run: &CoReservationRun, measured: &mut Measured) {
    let all = run.requests.len() as f64;
    if run.requests.is_empty() {
        return;
    }
    let with = |wanted: &[CoVerdict]| {
        let count = run
            .requests
            .iter()
            .filter(|outcome| wanted.contains(&outcome.verdict))
            .count();
        count as f64
    };
    let successes = with(&[CoVerdict::Granted]);
    measured.add("co_requests", all);
    measured.add("co_granted", successes);
    measured.add("co_failure_rate", (all - successes) / all);
    // What has no start or too few clusters has no candidate either, so that both reasons make up
    // the failure rate; beside workflows, tasks that were given up are the rest of it.
    let none = with(&[CoVerdict::NoCandidate, CoVerdict::Impossible]);
    measured.add("co_no_candidate_rate", none / all);
    measured.add("co_refused_rate", with(&[CoVerdict::Refused]) / all);
    let candidates = run.requests.iter().map(|outcome| outcome.candidates);
    measured.add("co_candidates_mean", mean(candidates));
    offsets(settings, run, measured);

    let placed: Vec<(&CoOutcome, Seconds)> = granted(run).collect();
    let share = |count: usize, of: f64| count as f64 / of;
    let at_earliest = placed
        .iter()
        .filter(|(outcome, start)| *start == outcome.request.earliest)
        .count();
    measured.add("co_at_earliest_share", share(at_earliest, all));
    measured.add(
        "co_cost_mean",
        mean(placed.iter().filter_map(|(outcome, _)| outcome.cost)),
    );
    let phase = |from: i64, hours: i64| {
        let within = placed
            .iter()
            .filter(|(outcome, start)| {
                let since = settings.local.calendar_origin + *start - Seconds::HOUR * from;
                let clock = Seconds(since.0.rem_euclid(DAY.0));
                clock + outcome.request.duration <= Seconds::HOUR * hours
            })
            .count();
        share(within, successes)
    };
    // Of granted requests (Q44).
    measured.add("co_day_share", phase(8, 10));
    measured.add("co_night_share", phase(18, 14));
    let work = placed
        .iter()
        .map(|(outcome, _)| work_hours(&outcome.request.parts, outcome.request.duration));
    measured.add("co_granted_work_hours", mean(work));
    let lead = placed
        .iter()
        .map(|(outcome, start)| (*start - outcome.request.submit).hours());
    measured.add("co_lead_hours", mean(lead));
    let response = placed.iter().map(|(outcome, start)| {
        (*start + outcome.request.duration - outcome.request.earliest).hours()
    });
    measured.add("co_response_hours", mean(response));
}

fn work_hours(parts: &[Nodes], duration: Seconds) -> f64 {
    parts
        .iter()
        .map(|nodes| nodes.for_span(duration).coins().0)
        .sum()
}

/// Relative start and cost offsets (Meltzer 2005, §6.1; Q34).
fn offsets(settings: &CoReservationSettings, run: &CoReservationRun, measured: &mut Measured) {
    let of_start = |outcome: &CoOutcome, start: Seconds| {
        let bounds = outcome.bounds?;
        Some(relative(
            (start - bounds.earliest).0 as f64,
            (bounds.latest - bounds.earliest).0 as f64,
        ))
    };
    let of_cost = |outcome: &CoOutcome| {
        let bounds = outcome.bounds?;
        Some(relative(
            outcome.cost? - bounds.cheapest,
            bounds.dearest - bounds.cheapest,
        ))
    };
    let starts: Vec<f64> = granted(run)
        .filter_map(|(outcome, start)| of_start(outcome, start))
        .collect();
    let costs: Vec<f64> = granted(run)
        .filter_map(|(outcome, _)| of_cost(outcome))
        .collect();
    measured.add("co_relative_start_mean", mean(starts.iter().copied()));
    measured.add("co_relative_start_deviation", deviation(&starts));
    measured.add("co_relative_cost_mean", mean(costs.iter().copied()));
    measured.add("co_relative_cost_deviation", deviation(&costs));
    let [first, second] = weekends(&settings.local);
    for ((from, until), start_name, cost_name) in [
        (
            first,
            "co_weekend1_relative_start_mean",
            "co_weekend1_relative_cost_mean",
        ),
        (
            second,
            "co_weekend2_relative_start_mean",
            "co_weekend2_relative_cost_mean",
        ),
    ] {
        // "Requests that overlap the weekend" are those whose parts do, as they were granted.
        let overlapping = || {
            granted(run).filter(|(outcome, start)| {
                *start < until && *start + outcome.request.duration > from
            })
        };
        let starts = overlapping().filter_map(|(outcome, start)| of_start(outcome, start));
        measured.add(start_name, mean(starts));
        let costs = overlapping().filter_map(|(outcome, _)| of_cost(outcome));
        measured.add(cost_name, mean(costs));
    }
    let in_window = granted(run).map(|(outcome, start)| {
        let request = &outcome.request;
        relative(
            (start - request.earliest).0 as f64,
            request.slack().0 as f64,
        )
    });
    measured.add("co_window_start_mean", mean(in_window));
    let to_latest = granted(run).map(|(outcome, start)| {
        let span = latest_candidate(settings, outcome) - outcome.request.earliest;
        relative((start - outcome.request.earliest).0 as f64, span.0 as f64)
    });
    measured.add("co_window_start_latest_mean", mean(to_latest));
}

/// The last of the candidate starts of a request (Meltzer 2005, §4.2.1; Q2).
fn latest_candidate(settings: &CoReservationSettings, outcome: &CoOutcome) -> Seconds {
    let search = &settings.search;
    let share = outcome.request.slack().0 / i64::from(search.maximum_starts.max(1));
    let step = search.minimum_step.0.max(share).max(1);
    outcome.request.earliest + Seconds(step * i64::from(outcome.starts.saturating_sub(1)))
}

/// The first two weekends of a simulation, from Saturday 00:00 to Monday 00:00 (Q14). One that is
/// under way when it begins is the first.
#[must_use]
pub fn weekends(local: &LocalSettings) -> [(Seconds, Seconds); 2] {
    let mut saturday = (DAY * 5 - local.calendar_origin).0.rem_euclid(WEEK.0);
    if saturday > (DAY * 5).0 {
        saturday -= WEEK.0;
    }
    let first = Seconds(saturday);
    let second = first + WEEK;
    [(first, first + DAY * 2), (second, second + DAY * 2)]
}

fn messages(settings: &CoReservationSettings, run: &CoReservationRun, measured: &mut Measured) {
    if run.requests.is_empty() {
        return;
    }
    let counts: Vec<f64> = run
        .requests
        .iter()
        .map(|outcome| f64::from(outcome.messages.reservation_step()))
        .collect();
    let total: f64 = counts.iter().sum();
    let sum = |of: fn(&CoOutcome) -> u32| -> f64 {
        run.requests
            .iter()
            .map(|outcome| f64::from(of(outcome)))
            .sum()
    };
    measured.add("messages_total", total);
    measured.add("messages_mean", mean(counts.iter().copied()));
    measured.add("messages_deviation", deviation(&counts));
    // The first of them, where several took as many.
    let mut worst = 0;
    for (index, count) in counts.iter().enumerate() {
        if *count > counts[worst] {
            worst = index;
        }
    }
    measured.add("messages_max", counts[worst]);
    measured.add("messages_max_worst_case", run.requests[worst].worst_case);
    measured.add("messages_max_candidates", run.requests[worst].candidates);
    measured.add(
        "messages_with_probes_total",
        total + sum(|outcome| outcome.messages.probes),
    );
    measured.add(
        "messages_part_failures",
        sum(|outcome| outcome.messages.refused),
    );
    measured.add(
        "messages_cancellations",
        sum(|outcome| outcome.messages.cancelled),
    );
    let parts: usize = granted(run)
        .map(|(outcome, _)| outcome.request.parts.len())
        .sum();
    measured.add("messages_beyond_minimum", total - parts as f64);
    measured.add(
        "messages_timed_out",
        sum(|outcome| outcome.messages.timed_out),
    );
    measured.add(
        "messages_repeated",
        sum(|outcome| outcome.messages.repeated),
    );
    // With an empty tree no message was wasted (Q7).
    let efficiency = run.requests.iter().zip(&counts).map(|(outcome, count)| {
        if outcome.worst_case > 0.0 {
            1.0 - count / outcome.worst_case
        } else {
            1.0
        }
    });
    // Queued parts have no worst case.
    if !settings.search.algorithm.row().queues {
        measured.add("reservation_efficiency_mean", mean(efficiency));
    }
    measured.add_ratio("top_request_message_share", counts[worst], total);
}

fn fairness(run: &CoReservationRun, measured: &mut Measured) {
    let degrees: Vec<f64> = granted(run)
        .map(|(outcome, _)| {
            relative(
                f64::from(outcome.waiting_after),
                f64::from(outcome.waiting_before),
            )
        })
        .collect();
    measured.add("unfairness_mean", mean(degrees.iter().copied()));
    measured.add("unfairness_deviation", deviation(&degrees));
    measured.add(
        "expansion_factor_mean",
        mean(run.jobs.iter().filter_map(expansion_factor)),
    );
    let mut waits: Vec<Seconds> = run.jobs.iter().filter_map(wait).collect();
    waits.sort_unstable_by_key(|wait| std::cmp::Reverse(*wait));
    if let Some(longest) = waits.first() {
        measured.add("longest_wait_seconds", longest.0 as f64);
    }
    let longest = waits.iter().take(10).map(|wait| wait.0 as f64);
    measured.add("ten_longest_waits_seconds", mean(longest));
    let backlog = run
        .requests
        .iter()
        .flat_map(|outcome| &outcome.probes)
        .map(|probe| probe.backlog_now.hours());
    measured.add("grid_backlog_hours", mean(backlog));
}

fn machine(
    settings: &CoReservationSettings,
    inputs: &CoReservationInputs,
    run: &CoReservationRun,
    measured: &mut Measured,
) {
    let capacity: i64 = inputs
        .clusters
        .iter()
        .map(|cluster| cluster.nodes.for_span(inputs.stop).0)
        .sum();
    let jobs: i64 = run.totals.iter().map(|total| total.job_work.0).sum();
    let parts: i64 = run.totals.iter().map(|total| total.part_work.0).sum();
    let percent = |work: i64| 100.0 * work as f64;
    let drained = run.totals.iter().map(|total| total.drained).max();
    if let Some(drained) = drained {
        measured.add(
            "drain_hours",
            (drained - inputs.stop).max(Seconds::ZERO).hours(),
        );
    }
    measured.add_ratio(
        "grid_utilisation_percent",
        percent(jobs + parts),
        capacity as f64,
    );
    measured.add_ratio("grid_job_percent", percent(jobs), capacity as f64);
    measured.add_ratio("grid_part_percent", percent(parts), capacity as f64);
    let local = &settings.local;
    if !local.quota_periods.is_empty() {
        let hours = granted(run).flat_map(|(outcome, start)| {
            let request = &outcome.request;
            let placed = request.parts.iter().zip(&outcome.clusters);
            placed.map(move |(nodes, cluster)| {
                let end = start + request.duration;
                nodes
                    .for_span(local.time_in_quota_periods(*cluster, start, end))
                    .coins()
                    .0
            })
        });
        measured.add("quota_period_hours", hours.sum());
    }
}

/// Lost parts, and what risk costs. A penalty is due for the whole co-reservation, ρ times what it
/// cost, where a part was lost and not replaced.
fn risk(settings: &CoReservationSettings, run: &CoReservationRun, measured: &mut Measured) {
    let successes = granted(run).count();
    if successes == 0 {
        return;
    }
    let sum = |of: fn(&CoOutcome) -> u32| -> f64 {
        granted(run)
            .map(|(outcome, _)| f64::from(of(outcome)))
            .sum()
    };
    let lost = granted(run)
        .filter(|(outcome, _)| outcome.lost_parts > 0)
        .count();
    let kept = granted(run).filter(|(outcome, _)| is_kept(outcome)).count();
    measured.add("co_lost_rate", lost as f64 / successes as f64);
    measured.add("co_kept_rate", kept as f64 / run.requests.len() as f64);
    measured.add_ratio(
        "co_replaced_rate",
        sum(|outcome| outcome.replaced_parts),
        sum(|outcome| outcome.lost_parts),
    );
    if let Some(settings) = &settings.second_thoughts {
        renegotiated::measure(settings, run, measured);
    }
    let Some(risk) = &settings.risk else {
        return;
    };
    measured.add(
        "co_pof_mean",
        mean(granted(run).map(|(outcome, _)| outcome.pof)),
    );
    let with_risk = granted(run)
        .filter_map(|(outcome, _)| Some(outcome.cost? * (1.0 + outcome.pof * risk.penalty_ratio)));
    measured.add("co_risk_cost_mean", mean(with_risk));
    let realised = || {
        granted(run).filter_map(|(outcome, _)| {
            let cost = outcome.cost?;
            Some(if is_kept(outcome) {
                cost
            } else {
                cost * (1.0 - risk.penalty_ratio)
            })
        })
    };
    measured.add("co_realised_cost_mean", mean(realised()));
    let parts: f64 = realised().sum();
    measured.add("co_earned_total", parts);
    let jobs = &run.metrics;
    let fees = jobs.gain(risk.penalty_ratio).0;
    measured.add("grid_job_gain", fees);
    measured.add("grid_gain", fees + parts);
    let count = |jobs: u64| jobs as f64;
    measured.add_ratio(
        "grid_accepted_rate",
        count(jobs.accepted),
        count(jobs.submitted),
    );
    measured.add_ratio(
        "grid_overbooked_rate",
        count(jobs.overbooked),
        count(jobs.accepted),
    );
    measured.add_ratio("grid_broken_rate", count(jobs.failed), count(jobs.accepted));
}

/// Whether every part was there, or was replaced.
fn is_kept(outcome: &CoOutcome) -> bool {
    outcome.lost_parts <= outcome.replaced_parts
}

/// (wait + run) ÷ limit of a job that ran (Meltzer 2005, §6.1).
fn expansion_factor(outcome: &JobOutcome) -> Option<f64> {
    outcome.start?;
    let response = outcome.end? - outcome.job.submit;
    (outcome.job.estimate > Seconds::ZERO)
        .then(|| response.0 as f64 / outcome.job.estimate.0 as f64)
}

fn wait(outcome: &JobOutcome) -> Option<Seconds> {
    Some(outcome.start? - outcome.job.submit)
}

/// `above ÷ below`, 0 where the denominator is 0.
fn relative(above: f64, below: f64) -> f64 {
    if below > 0.0 { above / below } else { 0.0 }
}

/// Not a number where there is nothing, so that it is left out.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    sum / f64::from(count)
}

/// Standard deviation of a sample; not a number below two values.
fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    let centre = mean(values.iter().copied());
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}
