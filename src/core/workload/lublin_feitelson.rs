//! The workload model of Lublin and Feitelson, "The workload on parallel supercomputers: modeling
//! the characteristics of rigid jobs", Journal of Parallel and Distributed Computing 63 (2003),
//! with user estimates of [`tsafrir`](super::tsafrir).
//!
//! * **Sizes**: 1 with probability `serial`; otherwise `2^u` with `u` from a two-stage uniform
//!   distribution, rounded to a whole power of two with probability `power_of_two`.
//! * **Runtimes**: `e^g` with `g` from a hyper-gamma distribution whose first branch has
//!   probability `p = slope · size + intercept`, so that larger jobs run longer.
//! * **Arrivals**: gaps `e^a` with `a` from a gamma distribution, stretched by a daily cycle.
//!
//! The constants are the published ones, fitted to machines of 128 nodes. For another machine size
//! the upper bounds of the sizes move with its logarithm, as the authors advise; everything else
//! stays. Three things are ours: a power of two that would exceed the machine becomes the largest
//! that fits; on machines of fewer than 8 nodes, where the published bounds would cross, they are
//! pulled together; and users and applications are added (see [`generate`]).

use super::daily_cycle::DailyCycle;
use super::error::WorkloadError;
use super::swf::{ParsedTrace, Provenance, SwfHeader, SwfRecord};
use super::tsafrir::EstimateModel;
use super::users;
use super::variates::{Gamma, uniform};
use crate::random::{Stream, stream};
use crate::units::Nodes;

/// No runtime above e^12 s, about 45 hours.
const LARGEST_LOG_RUNTIME: f64 = 12.0;
/// No gap above e^13 s, about 5 days.
const LARGEST_LOG_GAP: f64 = 13.0;

/// The published constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobKind {
    /// Probability of a serial job.
    pub serial: f64,
    /// Probability that a job is parallel and its size a power of two.
    pub power_of_two: f64,
    /// log₂ of the smallest parallel size.
    pub low: f64,
    /// How far log₂ of the size at which the distribution changes its slope lies below that of the
    /// machine.
    pub medium_below_high: f64,
    /// Probability of the first stage of the sizes, from `low` to medium.
    pub first_stage: f64,
    /// Logarithm of the runtime of short jobs.
    pub short_runtime: Gamma,
    /// Logarithm of the runtime of long jobs.
    pub long_runtime: Gamma,
    /// Change of the probability of a short runtime with each node.
    pub short_slope: f64,
    /// Probability of a short runtime at size 0.
    pub short_intercept: f64,
    /// Logarithm of the gap between arrivals in the rush hours.
    pub rush_gap: Gamma,
    /// Stretches the shape of the rush-hour gaps to those of the whole day.
    pub all_day_ratio: f64,
    /// Arrivals over the day, in half hours.
    pub daily_arrivals: Gamma,
}

const fn gamma(shape: f64, scale: f64) -> Gamma {
    Gamma { shape, scale }
}

/// All jobs of the logs together.
pub const ALL_JOBS: JobKind = JobKind {
    serial: 0.244,
    power_of_two: 0.576,
    low: 0.8,
    medium_below_high: 2.5,
    first_stage: 0.86,
    short_runtime: gamma(4.2, 0.94),
    long_runtime: gamma(312.0, 0.03),
    short_slope: -0.0054,
    short_intercept: 0.78,
    rush_gap: gamma(10.2303, 0.4871),
    all_day_ratio: 1.0225,
    daily_arrivals: gamma(8.1737, 3.9631),
};

/// Generates `jobs` records of a replication for a machine of `nodes`: [`ALL_JOBS`], estimates up
/// to 18 hours, users and applications.
///
/// The model knows no users. Ours are drawn by a Zipf-like law, each with a habit of estimating
/// well or badly and with few applications, so that statistics by user and by application have
/// something to find; sizes, runtimes, estimates and arrivals do not depend on that.
///
/// # Errors
/// [`WorkloadError::ImpossibleSetting`] for no jobs or no nodes.
pub fn generate(
    jobs: u32,
    nodes: Nodes,
    seed: u64,
    replication: u32,
) -> Result<ParsedTrace, WorkloadError> {
    for (key, found) in [("source.jobs", jobs), ("nodes", nodes.0)] {
        if found == 0 {
            return Err(WorkloadError::ImpossibleSetting {
                key,
                found: "0".to_owned(),
                allowed: "at least 1",
            });
        }
    }
    let key = stream_key(nodes);
    let named = |name: &str| stream(seed, &key, replication, name);
    let mut records: Vec<SwfRecord> = RigidJobs::new(nodes, named("jobs"))
        .take(jobs as usize)
        .collect();

    let mut runtimes: Vec<i64> = records.iter().map(|record| record.run).collect();
    let model = EstimateModel::default();
    let assigned = model.assign(&mut runtimes, &mut named("estimates"));
    for (record, (run, estimate)) in records
        .iter_mut()
        .zip(runtimes.into_iter().zip(&assigned.estimates))
    {
        record.run = run;
        record.requested_time = *estimate;
    }
    users::assign(&mut records, &mut named("users"));

    let header = SwfHeader {
        lines: [
            "; Version: 2.2".to_owned(),
            "; Computer: none: generated by a model".to_owned(),
            "; Acknowledge: Uri Lublin and Dror Feitelson (model of jobs), Dan Tsafrir, Yoav Etsion and Dror Feitelson \
             (model of user estimates)"
                .to_owned(),
            "; Information: https://www.cs.huji.ac.il/labs/parallel/workload/m_lublin99/".to_owned(),
            format!("; MaxJobs: {jobs}"),
            format!("; MaxRecords: {jobs}"),
            format!("; MaxNodes: {}", nodes.0),
            format!("; MaxProcs: {}", nodes.0),
            "; MaxQueues: 2".to_owned(),
            "; Queue: 0 interactive".to_owned(),
            "; Queue: 1 batch".to_owned(),
            format!(
                "; Note: Together, seed {seed}; {} runtimes cut to the largest estimate of {} s, {} estimates raised to a \
                 longer runtime; users and applications are not part of the model",
                assigned.cut_runtimes, model.largest, assigned.raised_estimates
            ),
        ]
        .into(),
    };
    Ok(ParsedTrace::from_records(
        "Lublin-Feitelson 2003 model with Tsafrir 2005 estimates".to_owned(),
        Provenance::Model,
        header,
        records,
    ))
}

/// Records of the model one by one, at constant memory, without users: the submissions, sizes and
/// run times of [`generate`].
///
/// The estimates of Tsafrir's model are dealt out to many jobs at once. Here they are dealt out to
/// each [`STREAM_BLOCK`] jobs, so each block has popular estimates of its own; up to one block, the
/// jobs are those of [`generate`].
pub struct RecordStream {
    jobs: RigidJobs,
    left: u64,
    estimates: Option<Stream>,
    block: std::vec::IntoIter<SwfRecord>,
}

/// Jobs that share a histogram of estimates in a [`RecordStream`].
pub const STREAM_BLOCK: u64 = 100_000;

/// Records of the model one by one. Without `estimates` the requested time is the run time, which
/// costs less; jobs, arrivals and run times are the same.
///
/// # Errors
/// [`WorkloadError::ImpossibleSetting`] for no nodes.
pub fn records(
    jobs: u64,
    nodes: Nodes,
    seed: u64,
    estimates: bool,
) -> Result<RecordStream, WorkloadError> {
    if nodes.0 == 0 {
        return Err(WorkloadError::ImpossibleSetting {
            key: "nodes",
            found: "0".to_owned(),
            allowed: "at least 1",
        });
    }
    let key = stream_key(nodes);
    Ok(RecordStream {
        jobs: RigidJobs::new(nodes, stream(seed, &key, 0, "jobs")),
        left: jobs,
        estimates: estimates.then(|| stream(seed, &key, 0, "estimates")),
        block: Vec::new().into_iter(),
    })
}

impl Iterator for RecordStream {
    type Item = SwfRecord;

    fn next(&mut self) -> Option<SwfRecord> {
        if let Some(record) = self.block.next() {
            return Some(record);
        }
        if self.left == 0 {
            return None;
        }
        let model = EstimateModel::default();
        let Some(draws) = &mut self.estimates else {
            self.left -= 1;
            return self.jobs.next().map(|record| {
                let run = record.run.min(model.largest);
                SwfRecord {
                    run,
                    requested_time: run,
                    ..record
                }
            });
        };
        let count = self.left.min(STREAM_BLOCK);
        self.left -= count;
        let mut block: Vec<SwfRecord> = self.jobs.by_ref().take(count as usize).collect();
        let mut runtimes: Vec<i64> = block.iter().map(|record| record.run).collect();
        let assigned = model.assign(&mut runtimes, draws);
        for (record, (run, estimate)) in block
            .iter_mut()
            .zip(runtimes.into_iter().zip(assigned.estimates))
        {
            record.run = run;
            record.requested_time = estimate;
        }
        self.block = block.into_iter();
        self.block.next()
    }
}

/// *Together*: batch jobs and interactive ones, as [`ALL_JOBS`] are.
fn stream_key(nodes: Nodes) -> String {
    format!("lublin-feitelson Together {} nodes", nodes.0)
}

/// Jobs of the model without estimates and users, in order of arrival; they never end.
struct RigidJobs {
    stream: Stream,
    number: i64,
    machine: u32,
    low: f64,
    medium: f64,
    high: f64,
    gap: Gamma,
    cycle: DailyCycle,
    points: f64,
    next_arrival: f64,
}

impl Iterator for RigidJobs {
    type Item = SwfRecord;

    fn next(&mut self) -> Option<SwfRecord> {
        let submit = self.next_arrival as i64;
        self.advance();
        let size = self.size();
        self.number += 1;
        Some(SwfRecord {
            job_number: self.number,
            submit,
            run: self.runtime(size),
            allocated_processors: i64::from(size),
            requested_processors: i64::from(size),
            status: 1,
            queue: 1,
            ..SwfRecord::MISSING
        })
    }
}

impl RigidJobs {
    fn new(nodes: Nodes, stream: Stream) -> Self {
        let high = libm::log2(f64::from(nodes.0));
        let low = ALL_JOBS.low.min(high);
        let medium = high - ALL_JOBS.medium_below_high;
        let mut jobs = Self {
            stream,
            number: 0,
            machine: nodes.0,
            low,
            medium: if medium > low {
                medium
            } else {
                (low + high) / 2.0
            },
            high,
            gap: Gamma {
                shape: ALL_JOBS.rush_gap.shape * ALL_JOBS.all_day_ratio,
                ..ALL_JOBS.rush_gap
            },
            cycle: DailyCycle::new(ALL_JOBS.daily_arrivals),
            points: 0.0,
            next_arrival: 0.0,
        };
        jobs.advance();
        jobs
    }

    fn advance(&mut self) {
        let gap = sample_up_to(self.gap, LARGEST_LOG_GAP, &mut self.stream);
        self.points += libm::exp(gap);
        self.next_arrival = self.cycle.moment(self.points);
    }

    fn size(&mut self) -> u32 {
        let stream = &mut self.stream;
        let kind = uniform(stream);
        if kind < ALL_JOBS.serial || self.machine == 1 {
            return 1;
        }
        let (from, to) = if uniform(stream) < ALL_JOBS.first_stage {
            (self.low, self.medium)
        } else {
            (self.medium, self.high)
        };
        let exponent = from + uniform(stream) * (to - from);
        if kind < ALL_JOBS.serial + ALL_JOBS.power_of_two {
            let largest = self.machine.ilog2();
            return 1 << (exponent.round() as u32).min(largest);
        }
        (libm::exp2(exponent).round() as u32).clamp(1, self.machine)
    }

    fn runtime(&mut self, size: u32) -> i64 {
        let stream = &mut self.stream;
        let short = ALL_JOBS.short_slope * f64::from(size) + ALL_JOBS.short_intercept;
        let logarithm = loop {
            let branch = if uniform(stream) < short {
                ALL_JOBS.short_runtime
            } else {
                ALL_JOBS.long_runtime
            };
            let value = branch.sample(stream);
            if value <= LARGEST_LOG_RUNTIME {
                break value;
            }
        };
        libm::exp(logarithm) as i64
    }
}

fn sample_up_to(gamma: Gamma, largest: f64, stream: &mut Stream) -> f64 {
    loop {
        let value = gamma.sample(stream);
        if value <= largest {
            return value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_fit_the_machine_and_have_the_published_shares() {
        let trace = generate(40_000, Nodes(128), 1, 0).unwrap();
        let share = |test: &dyn Fn(i64) -> bool| {
            let count = trace
                .records
                .iter()
                .filter(|record| test(record.allocated_processors))
                .count();
            count as f64 / trace.records.len() as f64
        };
        assert!((share(&|n| n == 1) - 0.244).abs() < 0.01);
        // Some of the other sizes are powers of two by rounding, so the share of 0.576 is a lower
        // bound.
        let powers = share(&|n| n > 1 && n.count_ones() == 1);
        assert!((0.566..0.70).contains(&powers), "{powers}");
        assert_eq!(share(&|n| (1..=128).contains(&n)), 1.0);
    }

    #[test]
    fn every_machine_size_gives_jobs_that_fit_it() {
        for nodes in [1, 2, 3, 5, 8, 100, 240, 4_000] {
            let trace = generate(500, Nodes(nodes), 3, 0).unwrap();
            assert_eq!(trace.records.len(), 500);
            for record in &trace.records {
                assert!((1..=i64::from(nodes)).contains(&record.allocated_processors));
                assert!(record.run >= 1 && record.run <= record.requested_time);
            }
            assert_eq!(trace.out_of_order, 0);
        }
        assert!(generate(10, Nodes(0), 1, 0).is_err() && generate(0, Nodes(8), 1, 0).is_err());
    }

    #[test]
    fn the_jobs_of_a_seed_are_the_same_on_every_machine() {
        // Bytes of our own making, pinned so that a change of a model, of libm or of rand is seen.
        let trace = generate(1_000, Nodes(128), 1, 0).unwrap();
        assert_eq!(
            trace.content_hash,
            "33ade817628074f1bb5b496dce5f62ab3a006637ea0a4f6718cb6b6704e7a7d4"
        );
    }

    #[test]
    fn the_same_seed_gives_the_same_jobs_and_another_seed_others() {
        let first = generate(2_000, Nodes(128), 5, 0).unwrap();
        assert_eq!(first, generate(2_000, Nodes(128), 5, 0).unwrap());
        assert_ne!(
            first.content_hash,
            generate(2_000, Nodes(128), 6, 0).unwrap().content_hash
        );
    }
}
