//! Jobs counted by class and by how much of their estimate they used, and how well an attribute
//! tells that apart.

use rand::seq::SliceRandom as _;

use super::classes::{Attributes, Ranking};
use super::ratio::ratio_bin;
use super::{Binning, EstimateError, EstimateSettings, Overrun, RATIO_BINS, UserHistory};
use crate::kernel::Agenda;
use crate::random::stream;
use crate::units::Seconds;
use crate::workload::Job;

/// How often [`InformationGain::by_chance`] deals the jobs out to the classes anew.
const SHUFFLES: u32 = 10;

/// How many jobs of each class used each whole percent of their estimate.
///
/// Every job counts once, in its most specific class: index 0 holds those without any, such as jobs
/// of users who have no class of their own. The order is that of [`super::EstimateModel::classes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RatioCounts {
    /// The name of each class for people.
    pub labels: Vec<String>,
    /// By class, the jobs of each percent.
    pub counts: Vec<[u64; RATIO_BINS]>,
}

/// How much the class of a job says about the share of its estimate that it uses, in bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InformationGain {
    /// The entropy of the shares of all jobs, in whole percents: H(X) = −Σ p(i) · log₂ p(i).
    pub entropy_bits: f64,
    /// What is gone of it where the class is known: H(X) − Σ n(c) / N · H(X | c). Jobs without a
    /// class are one, too.
    pub gain_bits: f64,
    /// The gain of classes of these sizes that mean nothing: the mean over ten random ways to deal
    /// the jobs out to them. Many small classes gain much by chance.
    pub by_chance_bits: f64,
}

impl InformationGain {
    /// What the classes say beyond chance, as a share of the entropy; 0 where all jobs use the same
    /// share, as nothing is left to say.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.entropy_bits > 0.0 {
            (self.gain_bits - self.by_chance_bits) / self.entropy_bits
        } else {
            0.0
        }
    }
}

impl RatioCounts {
    /// Counts jobs by the classes of [`EstimateSettings::family`], as
    /// [`super::EstimateModel::learn`] does.
    ///
    /// # Errors
    ///
    /// When no job is usable, or when the class family is impossible.
    pub fn by_class(jobs: &[Job], settings: &EstimateSettings) -> Result<Self, EstimateError> {
        Counted::count(jobs, settings)?
            .counts
            .or_nothing(jobs.len())
    }

    /// Counts jobs by any number that a log gives them, such as their queue: those `top` numbers
    /// that most jobs have are classes, called `name` and the number.
    ///
    /// # Errors
    ///
    /// When no job is usable.
    pub fn by_number(
        jobs: &[Job],
        numbers: &[Option<i64>],
        (name, top): (&str, u32),
        (binning, overrun): (Binning, Overrun),
    ) -> Result<Self, EstimateError> {
        let usable: Vec<(Option<i64>, usize)> = jobs
            .iter()
            .zip(numbers)
            .filter_map(|(job, &number)| {
                Some((
                    number,
                    ratio_bin(job.runtime, job.estimate, binning, overrun)?,
                ))
            })
            .collect();
        let ranking = Ranking::of(usable.iter().filter_map(|(number, _)| *number), top);
        let mut labels = vec!["all jobs".to_owned()];
        labels.extend(ranking.numbers().map(|number| format!("{name} {number}")));
        let mut counts = vec![[0; RATIO_BINS]; labels.len()];
        for (number, bin) in usable {
            counts[ranking.rank(number).map_or(0, |rank| 1 + rank)][bin] += 1;
        }
        Self { labels, counts }.or_nothing(jobs.len())
    }

    /// The counts, unless there is none.
    fn or_nothing(self, jobs: usize) -> Result<Self, EstimateError> {
        match self.counts.iter().flatten().any(|&count| count > 0) {
            true => Ok(self),
            false => Err(EstimateError::NoUsableJob { jobs }),
        }
    }

    /// The jobs of each percent, whatever their class.
    #[must_use]
    pub fn all(&self) -> [u64; RATIO_BINS] {
        added(&self.counts)
    }

    /// How well the classes tell apart how much of their estimates jobs use.
    #[must_use]
    pub fn information_gain(&self) -> InformationGain {
        let entropy_bits = entropy(&self.all());
        let gain = |counts: &[[u64; RATIO_BINS]]| entropy_bits - entropy_within(counts);
        let mut bins: Vec<u8> = Vec::new();
        for counts in &self.counts {
            for (bin, &count) in (0..).zip(counts) {
                bins.extend(std::iter::repeat_n(bin, count as usize));
            }
        }
        let mut by_chance_bits = 0.0;
        for round in 0..SHUFFLES {
            bins.shuffle(&mut stream(0, "information gain", round, "shuffle"));
            let mut rest = bins.iter();
            let dealt: Vec<[u64; RATIO_BINS]> = self
                .counts
                .iter()
                .map(|counts| {
                    let mut dealt = [0; RATIO_BINS];
                    let size: u64 = counts.iter().sum();
                    for &bin in rest.by_ref().take(size as usize) {
                        dealt[usize::from(bin)] += 1;
                    }
                    dealt
                })
                .collect();
            by_chance_bits += gain(&dealt) / f64::from(SHUFFLES);
        }
        InformationGain {
            entropy_bits,
            gain_bits: gain(&self.counts),
            by_chance_bits,
        }
    }
}

/// The entropy that is left where the class is known: the mean of that of the classes, by their
/// jobs.
fn entropy_within(counts: &[[u64; RATIO_BINS]]) -> f64 {
    let jobs = added(counts).iter().sum::<u64>() as f64;
    let weighted = counts.iter().map(|counts| {
        let size: u64 = counts.iter().sum();
        size as f64 / jobs * entropy(counts)
    });
    weighted.sum()
}

/// Entropy in bits; 0 without any job.
fn entropy(counts: &[u64; RATIO_BINS]) -> f64 {
    let jobs = counts.iter().sum::<u64>() as f64;
    let occupied = counts.iter().filter(|&&count| count > 0);
    let terms = occupied.map(|&count| {
        let share = count as f64 / jobs;
        -share * libm::log2(share)
    });
    // Adding 0 turns −0, of one share of 1, into 0.
    terms.sum::<f64>() + 0.0
}

fn added(counts: &[[u64; RATIO_BINS]]) -> [u64; RATIO_BINS] {
    let mut all = [0; RATIO_BINS];
    for counts in counts {
        for (sum, count) in all.iter_mut().zip(counts) {
            *sum += count;
        }
    }
    all
}

/// Counts, and what was needed to make them.
pub(super) struct Counted<'j> {
    pub(super) attributes: Attributes,
    /// What the users' last jobs took.
    pub(super) history: UserHistory,
    /// The usable jobs, each with its percent.
    pub(super) usable: Vec<(&'j Job, usize)>,
    /// Most specific class and percent of each usable job.
    pub(super) sequence: Vec<(u16, u8)>,
    pub(super) counts: RatioCounts,
}

impl<'j> Counted<'j> {
    pub(super) fn count(
        jobs: &'j [Job],
        settings: &EstimateSettings,
    ) -> Result<Self, EstimateError> {
        let (last_ratios, history) = last_ratios(jobs);
        let (usable, last): (Vec<(&Job, usize)>, Vec<Option<u8>>) = jobs
            .iter()
            .zip(last_ratios)
            .filter_map(|(job, last)| {
                let bin = ratio_bin(
                    job.runtime,
                    job.estimate,
                    settings.binning,
                    settings.overrun,
                )?;
                Some(((job, bin), last))
            })
            .unzip();
        let attributes = Attributes::learn(&settings.family, &usable)?;
        let labels = attributes.labels();
        if labels.len() > usize::from(u16::MAX) {
            return Err(EstimateError::TooManyClasses {
                classes: labels.len(),
            });
        }
        let mut counts = vec![[0; RATIO_BINS]; labels.len()];
        let mut sequence = Vec::with_capacity(usable.len());
        for (&(job, bin), &last) in usable.iter().zip(&last) {
            let class = attributes.classify(job, last);
            counts[class][bin] += 1;
            // There are at most u16::MAX classes, and bins are at most 100.
            sequence.push((class as u16, bin as u8));
        }
        let attributes = attributes.merge(&counts, &mut sequence, settings.merge_distance);
        Ok(Self {
            attributes,
            history,
            usable,
            sequence,
            counts: RatioCounts { labels, counts },
        })
    }
}
/// For each job, in order of submission, the ratio of its user's last job that had ended then, and
/// the history after the last one. Jobs are taken to run at once: a log's waits are not those of
/// the machine that is simulated.
fn last_ratios(jobs: &[Job]) -> (Vec<Option<u8>>, UserHistory) {
    let mut history = UserHistory::default();
    let mut ends: Agenda<usize> = Agenda::default();
    let mut last = Vec::with_capacity(jobs.len());
    for (index, job) in jobs.iter().enumerate() {
        while let Some((_, ended)) = ends.pop_before(job.submit + Seconds(1)) {
            let ended = &jobs[ended];
            history.ended(ended.user, ended.runtime, ended.estimate, false);
        }
        last.push(history.last_ratio(job.user));
        ends.push(job.submit + job.runtime, 0, index);
    }
    (last, history)
}

#[cfg(test)]
mod tests {
    use rand::RngExt as _;

    use super::super::{ClassFamily, EstimateModel, LearningJobs};
    use super::*;
    use crate::estimates::testutils::job;

    fn settings(family: ClassFamily) -> EstimateSettings {
        EstimateSettings {
            family,
            binning: Binning::Round,
            learn_from: LearningJobs::Before,
            overrun: Overrun::Clamp,
            minimum_class_size: 1,
            ..EstimateSettings::default()
        }
    }

    fn gain(jobs: &[Job], family: ClassFamily) -> InformationGain {
        let counts = RatioCounts::by_class(jobs, &settings(family)).unwrap();
        counts.information_gain()
    }

    #[test]
    fn the_gain_is_the_entropy_that_the_class_takes_away() {
        // Four jobs use 10 %, four 90 %: 1 bit. User 1 has three of the first and one of the
        // second, user 2 the others: of each 2 − 3/4 · log2 3 = 0.811278 bits are left.
        let jobs: Vec<Job> = [
            (10, 1),
            (10, 1),
            (10, 1),
            (90, 1),
            (10, 2),
            (90, 2),
            (90, 2),
            (90, 2),
        ]
        .map(|(percent, user)| job(100, percent, 1, user))
        .to_vec();
        let of_users = gain(&jobs, ClassFamily::User { top: 2 });
        assert!((of_users.entropy_bits - 1.0).abs() < 1e-12);
        assert!((of_users.gain_bits - 0.188_721_875_540_867).abs() < 1e-12);
        // Where only user 1 has a class, everybody else is one, too.
        let of_first = gain(&jobs, ClassFamily::User { top: 1 });
        assert!((of_first.gain_bits - of_users.gain_bits).abs() < 1e-12);
        // All jobs have one node.
        let of_nodes = gain(&jobs, ClassFamily::resources());
        assert!(of_nodes.gain_bits.abs() < 1e-12 && of_nodes.by_chance_bits.abs() < 1e-12);
    }

    #[test]
    fn an_attribute_that_decides_all_takes_all_entropy_away() {
        // A quarter of the jobs each use 0, 25, 50 and 75 %: 2 bits, and the user decides.
        let jobs: Vec<Job> = (0..400)
            .map(|index| job(100, index % 4 * 25, 1, index % 4))
            .collect();
        let gain = gain(&jobs, ClassFamily::User { top: 10 });
        assert!((gain.entropy_bits - 2.0).abs() < 1e-12 && (gain.gain_bits - 2.0).abs() < 1e-12);
        assert!(
            gain.by_chance_bits < 0.05 && gain.share() > 0.97,
            "{gain:?}"
        );
    }

    #[test]
    fn classes_that_mean_nothing_gain_what_chance_gains() {
        let mut draws = stream(1, "test", 0, "jobs");
        let mut below = |end: i64| draws.random_range(0..end);
        let jobs: Vec<Job> = (0..2_000)
            .map(|_| job(100, below(100), 1, below(7)))
            .collect();
        let gain = gain(&jobs, ClassFamily::User { top: 10 });
        assert!(
            gain.gain_bits > 0.1 && gain.share().abs() < 0.02,
            "{gain:?}"
        );
    }

    #[test]
    fn jobs_that_all_use_the_same_share_leave_nothing_to_say() {
        let jobs = [job(100, 40, 1, 1), job(100, 40, 2, 2)];
        let gain = gain(&jobs, ClassFamily::top_users());
        assert_eq!(
            (gain.entropy_bits, gain.gain_bits, gain.share()),
            (0.0, 0.0, 0.0)
        );
    }

    #[test]
    fn counts_are_those_that_the_model_learns_from() {
        let jobs: Vec<Job> = (0..300)
            .map(|index| job(100, index * 37 % 101, 1 + index as u32 % 70, index % 13))
            .collect();
        let family = ClassFamily::Pair(
            Box::new(ClassFamily::top_users()),
            Box::new(ClassFamily::resources()),
        );
        let settings = settings(family);
        let (counts, model) = (
            RatioCounts::by_class(&jobs, &settings).unwrap(),
            EstimateModel::learn(&jobs, &settings).unwrap(),
        );
        let model_labels: Vec<&String> = model.classes().iter().map(|class| &class.label).collect();
        assert_eq!(counts.labels.iter().collect::<Vec<_>>(), model_labels);
        let pairs = 1 + 10;
        for (class, counts) in counts.counts.iter().enumerate().skip(pairs) {
            assert_eq!(counts.iter().sum::<u64>(), model.classes()[class].samples);
        }
        for (percent, &count) in counts.all().iter().enumerate() {
            assert_eq!(count, model.distribution(0).unwrap().count(percent));
        }
    }

    #[test]
    fn any_number_of_a_log_can_be_counted_by() {
        let jobs = [
            job(100, 10, 1, 1),
            job(100, 10, 1, 1),
            job(100, 90, 1, 1),
            job(100, 50, 1, 1),
            job(100, 30, 1, 1),
        ];
        let queues = [Some(7), Some(7), Some(3), None, Some(5)];
        let rules = (Binning::Round, Overrun::Clamp);
        let counts = RatioCounts::by_number(&jobs, &queues, ("queue", 2), rules).unwrap();
        assert_eq!(counts.labels, ["all jobs", "queue 7", "queue 3"]);
        let sizes: Vec<u64> = counts
            .counts
            .iter()
            .map(|counts| counts.iter().sum())
            .collect();
        assert_eq!(sizes, [2, 2, 1]);
        assert_eq!(
            (
                counts.counts[1][10],
                counts.counts[2][90],
                counts.counts[0][50]
            ),
            (2, 1, 1)
        );
        let none = RatioCounts::by_number(&[], &[], ("queue", 2), rules);
        assert_eq!(none, Err(EstimateError::NoUsableJob { jobs: 0 }));
    }
}
