//! What a simulation saw: hashes of the jobs and of the failures that it was handed. Results may be
//! paired where both are equal.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use arrayvec::ArrayString;
use sha2::{Digest, Sha256};

use crate::failures::{FailureTrace, FailuresByLoad};
use crate::units::Seconds;
use crate::workload::Job;
use crate::workload::workflows::Workflow;

/// The first 32 hexadecimal digits of a SHA-256, kept in their place, because sweeps have millions.
pub type HashDigits = ArrayString<32>;

/// Stands for the hash of failures where nothing fails.
const NO_FAILURES: &str = "none";

/// Stands in front of the hash of draws of failures where those happen that the load lets happen.
const BY_LOAD: &str = "load";

/// The first digits of a hash.
pub fn digits(hash: Sha256) -> HashDigits {
    let mut digits = HashDigits::new();
    for byte in hash.finalize().iter().take(16) {
        for half in [byte >> 4, byte & 15] {
            digits.push(char::from_digit(u32::from(half), 16).unwrap_or('0'));
        }
    }
    digits
}

/// What a simulation saw; `None` where that is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seen {
    /// Hash of what users brought: all jobs in their order with submission, nodes, run time, user
    /// and application, and what else a study was asked for. Estimates, deadlines and release times
    /// are left out: settings derive them, and whoever compares settings wants the same jobs under
    /// both.
    pub jobs: Option<HashDigits>,
    /// Hash of the failures that it was handed, as far as settings cannot move them
    /// ([`Handed::failures`]); the word `none` where there are none. It begins with the word `load`
    /// where only those of them happen that the load lets happen.
    pub failures: Option<HashDigits>,
}

impl Seen {
    /// Whether it is known what the simulation saw.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.jobs.is_some() && self.failures.is_some()
    }

    /// Whether the simulation was handed any failure, or that is not known.
    #[must_use]
    pub fn may_have_failures(&self) -> bool {
        self.failures.as_deref() != Some(NO_FAILURES)
    }

    /// Whether the simulation was handed draws of failures, of which those happened that its load
    /// let happen: who was handed the same may have met others.
    #[must_use]
    pub fn failures_follow_load(&self) -> bool {
        self.failures.is_some_and(|it| it.starts_with(BY_LOAD))
    }

    /// Whether both saw the same jobs; what is not known is not the same.
    #[must_use]
    pub fn same_jobs(&self, other: &Self) -> bool {
        self.jobs.is_some() && self.jobs == other.jobs
    }

    /// Whether both saw the same jobs and the same failures, so that what differs between them is
    /// not theirs.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.same_jobs(other) && self.failures.is_some() && self.failures == other.failures
    }

    /// What a simulation saw of these jobs alone, whose nodes do not fail.
    #[must_use]
    pub fn jobs_alone(jobs: JobsHash) -> Self {
        let cache = SeenCache::default();
        let mut handed = Handed::new(&cache);
        handed.part("jobs", digits(jobs.0).as_bytes());
        handed.finish()
    }
}

/// When the last of these jobs would be over if each ran as soon as it is submitted, or, of a fixed
/// reservation, as it begins: no setting that leaves the jobs the same makes it earlier or later.
#[must_use]
pub fn latest_work(jobs: &[Job]) -> Seconds {
    let begin = |job: &Job| {
        let fixed = job.fixed_window().map(|(start, _)| start);
        fixed.map_or(job.submit, |start| start.max(job.submit))
    };
    let ends = jobs.iter().map(|job| begin(job) + job.runtime);
    ends.max().unwrap_or(Seconds::ZERO)
}

/// Hashes jobs one after the other.
#[derive(Clone, Debug, Default)]
pub struct JobsHash(Sha256);

impl JobsHash {
    /// Adds the next job. A fixed reservation is asked for at a time, which is part of it.
    pub fn add(&mut self, job: &Job) {
        let fixed = job.fixed_window().map(|(start, _)| start.0);
        self.0.update(job.submit.0.to_le_bytes());
        self.0.update(job.runtime.0.to_le_bytes());
        self.0.update(job.nodes.0.to_le_bytes());
        for number in [job.user, job.application, fixed] {
            self.0.update([u8::from(number.is_some())]);
            self.0.update(number.unwrap_or(0).to_le_bytes());
        }
    }
}

/// Collects what a simulation is handed, in a fixed order of its study.
#[derive(Debug)]
pub struct Handed<'c> {
    cache: &'c SeenCache,
    jobs: Sha256,
    failures: Sha256,
    has_failures: bool,
    follow_load: bool,
}

impl<'c> Handed<'c> {
    fn new(cache: &'c SeenCache) -> Self {
        Self {
            cache,
            jobs: Sha256::new(),
            failures: Sha256::new(),
            has_failures: false,
            follow_load: false,
        }
    }

    fn part(&mut self, kind: &str, content: &[u8]) {
        self.jobs.update(kind);
        self.jobs.update((content.len() as u64).to_le_bytes());
        self.jobs.update(content);
    }

    /// The jobs of the next machine.
    pub fn jobs(&mut self, jobs: &Arc<[Job]>) {
        let hash = self.cache.jobs.get(jobs, Seconds::ZERO, |jobs| {
            let mut hash = JobsHash::default();
            jobs.iter().for_each(|job| hash.add(job));
            digits(hash.0)
        });
        self.part("jobs", hash.as_bytes());
    }

    /// A request for something beside the jobs, in numbers.
    pub fn request(&mut self, numbers: &[Option<i64>]) {
        let mut bytes = Vec::with_capacity(9 * numbers.len());
        for number in numbers {
            bytes.push(u8::from(number.is_some()));
            bytes.extend(number.unwrap_or(0).to_le_bytes());
        }
        self.part("request", &bytes);
    }

    /// A workflow.
    pub fn workflow(&mut self, workflow: &Arc<Workflow>) {
        let hash = self
            .cache
            .workflows
            .get(workflow, Seconds::ZERO, |workflow| {
                let mut hash = Sha256::new();
                for task in workflow.tasks() {
                    hash.update((task.name.len() as u64).to_le_bytes());
                    hash.update(&task.name);
                    hash.update(task.nodes.0.to_le_bytes());
                    hash.update((task.seconds_by_resource.len() as u64).to_le_bytes());
                    for seconds in task.seconds_by_resource.iter().chain([&task.seconds]) {
                        hash.update(seconds.to_bits().to_le_bytes());
                    }
                }
                for edge in workflow.edges() {
                    hash.update(edge.parent.0.to_le_bytes());
                    hash.update(edge.child.0.to_le_bytes());
                    hash.update(edge.bytes.to_le_bytes());
                }
                digits(hash)
            });
        self.part("workflow", hash.as_bytes());
    }

    /// What requests are drawn from while the simulation runs: the same text draws the same.
    pub fn drawn_requests(&mut self, text: &str) {
        self.part("drawn", text.as_bytes());
    }

    /// The failures of the next machine.
    ///
    /// How late jobs may end is a setting (deadlines, estimates), and failures are handed over
    /// until then: under a later deadline a few more of the same ones. So outages count that begin
    /// before `certain`, each with its repair. That instant must follow from what [`Self::jobs`]
    /// and [`Self::request`] hash (`latest_work`); it is [`Seconds::FAR`] where no setting moves
    /// the end. Where no outage begins before it, all count: that two clocks are quiet at first
    /// does not make them the same.
    pub fn failures(&mut self, failures: &Arc<FailureTrace>, certain: Seconds) {
        let hash = self.cache.failures.get(failures, certain, |failures| {
            let early = failures.beginning_within(..certain);
            let counted = if early.events.is_empty() {
                failures
            } else {
                &early
            };
            HashDigits::from(&counted.content_hash()).unwrap_or_default()
        });
        self.has_failures |= !failures.events.is_empty();
        self.failures.update(hash.as_bytes());
    }

    /// What failures are drawn from while the simulation runs: the same text draws the same.
    pub fn drawn_failures(&mut self, text: &str) {
        self.has_failures = true;
        self.failures.update(text);
    }

    /// Draws of failures that happen or not by the load of the next machine.
    pub fn failures_by_load(&mut self, failures: &FailuresByLoad) {
        self.drawn_failures(&failures.content_hash());
        self.follow_load = true;
    }

    fn finish(self) -> Seen {
        let failures = match (self.has_failures, self.follow_load) {
            (false, _) => HashDigits::from(NO_FAILURES).ok(),
            (true, false) => Some(digits(self.failures)),
            (true, true) => {
                let hash = digits(self.failures);
                HashDigits::from(&format!("{BY_LOAD}{}", &hash[BY_LOAD.len()..])).ok()
            }
        };
        Seen {
            jobs: Some(digits(self.jobs)),
            failures,
        }
    }
}

/// Hashes of what simulations share, each computed once.
#[derive(Debug, Default)]
pub struct SeenCache {
    jobs: OfShared<[Job]>,
    failures: OfShared<FailureTrace>,
    workflows: OfShared<Workflow>,
}

impl SeenCache {
    /// What is collected by `hand`.
    pub fn seen(&self, hand: impl FnOnce(&mut Handed<'_>)) -> Seen {
        let mut handed = Handed::new(self);
        hand(&mut handed);
        handed.finish()
    }
}

/// Hashes by where the hashed value is and how much of it counts. A value that is gone keeps its
/// place as long as its entry stands, so that no other one is taken for it.
#[derive(Debug)]
struct OfShared<T: ?Sized>(Mutex<HashMap<Place, (Weak<T>, HashDigits)>>);

/// Where a value is, and until when it counts.
type Place = (usize, Seconds);

impl<T: ?Sized> Default for OfShared<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: ?Sized> OfShared<T> {
    fn get(
        &self,
        value: &Arc<T>,
        until: Seconds,
        hash: impl FnOnce(&T) -> HashDigits,
    ) -> HashDigits {
        let place = (Arc::as_ptr(value).cast::<()>() as usize, until);
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, digits)) = known.get(&place) {
            return *digits;
        }
        drop(known);
        let digits = hash(value);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Values that only one simulation reads come and go.
        known.retain(|_, (weak, _)| weak.strong_count() > 0);
        known.insert(place, (Arc::downgrade(value), digits));
        digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failures::{NodeEvent, Outage};
    use crate::units::{NodeIndex, Nodes};
    use crate::workload::{JobId, JobKind};

    fn jobs(change: impl Fn(&mut Job)) -> Arc<[Job]> {
        let job = |number: u32| {
            let submit = Seconds(i64::from(number) * 60);
            let mut job = Job::rigid(JobId(number), submit, Nodes(1 + number), Seconds(100))
                .running_for(Seconds(50))
                .due_by(submit + Seconds(200))
                .numbered(1)
                .of_user(3);
            change(&mut job);
            job
        };
        (0..3).map(job).collect()
    }

    fn seen(jobs: &Arc<[Job]>) -> Seen {
        SeenCache::default().seen(|handed| handed.jobs(jobs))
    }

    #[test]
    fn what_settings_derive_from_jobs_does_not_change_what_was_seen_and_the_jobs_do() {
        let same = seen(&jobs(|_| ()));
        assert_eq!(same.failures.as_deref(), Some("none"));
        let treatments: [fn(&mut Job); 3] = [
            |job| job.estimate = Seconds(50),
            |job| job.deadline = Seconds(9_000),
            |job| job.release = job.submit + Seconds(30),
        ];
        for treatment in treatments {
            assert_eq!(seen(&jobs(treatment)), same);
        }
        let others: [fn(&mut Job); 6] = [
            |job| job.submit += Seconds(1),
            |job| job.runtime = Seconds(51),
            |job| job.nodes = Nodes(9),
            |job| job.user = None,
            |job| job.application = Some(0),
            |job| job.kind = JobKind::Reservation,
        ];
        for other in others {
            assert_ne!(seen(&jobs(other)).jobs, same.jobs);
        }
        let few: Arc<[Job]> = jobs(|_| ()).iter().take(2).cloned().collect();
        assert_ne!(seen(&few).jobs, same.jobs);
    }

    #[test]
    fn jobs_that_come_one_by_one_have_the_hash_of_those_that_are_handed_over_together() {
        let jobs = jobs(|_| ());
        let mut hash = JobsHash::default();
        jobs.iter().for_each(|job| hash.add(job));
        assert_eq!(Seen::jobs_alone(hash), seen(&jobs));
    }

    #[test]
    fn failures_are_those_of_each_machine_and_no_failures_are_a_word() {
        let event = |node| NodeEvent {
            time: Seconds(5),
            node: NodeIndex(node),
            up: false,
        };
        let trace = |nodes: &[u32]| {
            Arc::new(FailureTrace {
                events: nodes.iter().map(|node| event(*node)).collect(),
            })
        };
        let of = |traces: &[&Arc<FailureTrace>]| {
            let hand = |handed: &mut Handed<'_>| {
                for one in traces {
                    handed.failures(one, Seconds(100));
                }
            };
            SeenCache::default().seen(hand).failures.unwrap()
        };
        let (one, none) = (trace(&[1]), trace(&[]));
        assert_eq!(of(&[&none, &none]).as_str(), "none");
        assert_ne!(of(&[&one]), of(&[&trace(&[2])]));
        assert_ne!(of(&[&one, &none]), of(&[&none, &one]));
        assert_eq!(of(&[&one]), of(&[&trace(&[1])]));
    }

    #[test]
    fn failures_that_only_a_later_deadline_adds_do_not_change_what_was_seen() {
        let trace = |outages: &[(i64, i64)]| {
            let outages = outages.iter().map(|(start, end)| Outage {
                node: NodeIndex(0),
                start: Seconds(*start),
                end: Seconds(*end),
            });
            Arc::new(FailureTrace::from_outages(outages).unwrap())
        };
        let of = |outages: &[(i64, i64)]| {
            let trace = trace(outages);
            let hand = |handed: &mut Handed<'_>| handed.failures(&trace, Seconds(170));
            SeenCache::default().seen(hand).failures.unwrap()
        };
        // The jobs of `jobs` are submitted at 0, 60 and 120 and run for 50.
        assert_eq!(latest_work(&jobs(|_| ())), Seconds(170));
        let early = of(&[(10, 20), (160, 300)]);
        assert_eq!(of(&[(10, 20), (160, 300), (400, 500)]), early);
        assert_ne!(of(&[(10, 20), (160, 301)]), early, "another repair");
        assert_ne!(of(&[(10, 20)]), early);
        // A clock that is quiet at first says nothing of another that is.
        let later = of(&[(400, 500)]);
        assert_ne!(later, of(&[(410, 500)]));
        assert_ne!(later.as_str(), "none");
    }

    #[test]
    fn what_simulations_share_is_hashed_once_and_what_is_gone_is_forgotten() {
        let cache = SeenCache::default();
        let shared = jobs(|_| ());
        let counted = std::cell::Cell::new(0);
        let get = |value: &Arc<[Job]>| {
            cache.jobs.get(value, Seconds::ZERO, |_| {
                counted.set(counted.get() + 1);
                HashDigits::new()
            })
        };
        for _ in 0..5 {
            get(&shared);
            get(&jobs(|_| ()));
        }
        assert_eq!(counted.get(), 6);
        assert!(cache.jobs.0.lock().unwrap().len() <= 2);
    }
}
