//! Class tables of the dissertation, and how an attribute of a job selects a class.

use std::collections::BTreeMap;

use super::merging::merged;
use super::{ClassFamily, EstimateError, RATIO_BINS};
use crate::workload::Job;

/// Borders of the seven runtime classes of the archive traces, in seconds: 10 min, 1 h, 2 h, 3 h, 5
/// h, 12 h (Birkenheuer 2012, chapter 6).
pub const ARCHIVE_RUNTIME_BORDERS_SECONDS: [i64; 6] = [600, 3_600, 7_200, 10_800, 18_000, 43_200];

/// Inclusive upper bounds of the eight resource classes, in nodes: powers of two up to 64
/// (Birkenheuer 2012, §4.2.2, Table 4.3).
pub const RESOURCE_UPPER_BOUNDS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

/// How many users get a distribution of their own (Birkenheuer 2012, §4.2.4).
pub const TOP_USERS: u32 = 10;

/// Inclusive upper bounds, in percent, of the classes of a user's last ratio; the last class is a
/// job that was stopped at its estimate or came within a percent of it.
pub const LAST_RATIO_UPPER_BOUNDS: [u8; 4] = [10, 50, 90, 98];

impl ClassFamily {
    /// The seven runtime classes of the archive traces (Birkenheuer 2012, chapter 6).
    #[must_use]
    pub fn archive_runtime() -> Self {
        Self::Runtime {
            borders_seconds: ARCHIVE_RUNTIME_BORDERS_SECONDS.to_vec(),
        }
    }
}

#[cfg(test)]
impl ClassFamily {
    /// The eight runtime classes of Arminius: as for the archive, and 4 h (Birkenheuer 2012,
    /// §4.2.1, Table 4.2).
    pub(super) fn arminius_runtime() -> Self {
        Self::Runtime {
            borders_seconds: vec![600, 3_600, 7_200, 10_800, 14_400, 18_000, 43_200],
        }
    }

    /// The eight resource classes (Birkenheuer 2012, §4.2.2).
    pub(super) fn resources() -> Self {
        Self::Resources {
            upper_bounds: RESOURCE_UPPER_BOUNDS.to_vec(),
        }
    }

    /// The ten users with the most jobs (Birkenheuer 2012, §4.2.4).
    pub(super) fn top_users() -> Self {
        Self::User { top: TOP_USERS }
    }
}

/// What the classes of each attribute are, for those families that are asked for by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassTable {
    /// Ascending borders of the runtime classes, in seconds.
    pub runtime_borders_seconds: Vec<i64>,
    /// Ascending inclusive upper bounds of the resource classes, in nodes.
    pub resource_upper_bounds: Vec<u32>,
    /// How many users have a class of their own.
    pub top_users: u32,
    /// How many applications have one.
    pub top_applications: u32,
}

impl Default for ClassTable {
    /// Those of the archive traces, with ten users and ten applications.
    fn default() -> Self {
        Self {
            runtime_borders_seconds: ARCHIVE_RUNTIME_BORDERS_SECONDS.to_vec(),
            resource_upper_bounds: RESOURCE_UPPER_BOUNDS.to_vec(),
            top_users: TOP_USERS,
            top_applications: TOP_USERS,
        }
    }
}

impl ClassTable {
    /// The names of the families of one attribute.
    pub const NAMES: [&str; 6] = [
        "all",
        "runtime",
        "resources",
        "user",
        "application",
        "user-last",
    ];

    /// The family of this name, or of two names joined by `+`; `None` if there is none.
    #[must_use]
    pub fn family(&self, name: &str) -> Option<ClassFamily> {
        let parts: Vec<&str> = name.split('+').map(str::trim).collect();
        match parts.as_slice() {
            [one] => self.single(one),
            [first, second] if first != second && *first != "all" && *second != "all" => {
                let (first, second) = (self.single(first)?, self.single(second)?);
                Some(ClassFamily::Pair(Box::new(first), Box::new(second)))
            }
            _ => None,
        }
    }

    fn single(&self, name: &str) -> Option<ClassFamily> {
        match name {
            "all" => Some(ClassFamily::All),
            "runtime" => Some(ClassFamily::Runtime {
                borders_seconds: self.runtime_borders_seconds.clone(),
            }),
            "resources" => Some(ClassFamily::Resources {
                upper_bounds: self.resource_upper_bounds.clone(),
            }),
            "user" => Some(ClassFamily::User {
                top: self.top_users,
            }),
            "application" => Some(ClassFamily::Application {
                top: self.top_applications,
            }),
            "user-last" => Some(ClassFamily::UserLast),
            _ => None,
        }
    }
}

/// What a job's class depends on.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Attributes {
    None,
    One(Attribute),
    Two(Attribute, Attribute),
    /// Of one attribute, and by class the one that it was merged into, or itself.
    Merged(Attribute, Vec<usize>),
}

impl Attributes {
    pub(super) fn learn(
        family: &ClassFamily,
        usable: &[(&Job, usize)],
    ) -> Result<Self, EstimateError> {
        let ClassFamily::Pair(first, second) = family else {
            return Ok(Attribute::learn(family, usable)?.map_or(Self::None, Self::One));
        };
        if std::mem::discriminant(first.as_ref()) == std::mem::discriminant(second.as_ref()) {
            return Err(EstimateError::Pair);
        }
        let first = Attribute::learn(first, usable)?.ok_or(EstimateError::Pair)?;
        let second = Attribute::learn(second, usable)?.ok_or(EstimateError::Pair)?;
        Ok(Self::Two(first, second))
    }

    /// The most specific class of a job, before any fallback for want of samples.
    pub(super) fn classify(&self, job: &Job, last: Option<u8>) -> usize {
        match self {
            Self::None => 0,
            Self::One(attribute) => attribute.classify(job, last).map_or(0, |class| 1 + class),
            Self::Merged(attribute, belongs) => attribute
                .classify(job, last)
                .map_or(0, |class| belongs[1 + class]),
            Self::Two(first, second) => {
                match (first.classify(job, last), second.classify(job, last)) {
                    (None, _) => 0,
                    (Some(class), None) => 1 + class,
                    (Some(row), Some(column)) => 1 + first.len() + row * second.len() + column,
                }
            }
        }
    }

    /// Of a pair of attributes: the first class of both, and how many classes the second attribute
    /// has.
    pub(super) fn columns(&self) -> Option<(usize, usize)> {
        match self {
            Self::Two(first, second) => Some((1 + first.len(), second.len())),
            Self::None | Self::One(_) | Self::Merged(..) => None,
        }
    }

    /// The label of each class, by its index.
    pub(super) fn labels(&self) -> Vec<String> {
        let mut labels = vec!["all jobs".to_owned()];
        if let Self::One(first) | Self::Two(first, _) | Self::Merged(first, _) = self {
            labels.extend((0..first.len()).map(|class| first.label(class)));
        }
        if let Self::Two(first, second) = self {
            for row in 0..first.len() {
                let row = first.label(row);
                labels.extend(
                    (0..second.len()).map(|column| format!("{row}, {}", second.label(column))),
                );
            }
        }
        labels
    }

    /// The class that each class falls back to, by its index; all jobs fall back to themselves,
    /// and what was merged into another class to that one.
    pub(super) fn fallbacks(&self) -> Vec<usize> {
        if let Self::Merged(_, belongs) = self {
            let wider = belongs.iter().enumerate();
            return wider
                .map(|(class, &into)| if into == class { 0 } else { into })
                .collect();
        }
        let mut fallbacks = vec![0];
        if let Self::One(first) | Self::Two(first, _) = self {
            fallbacks.extend(std::iter::repeat_n(0, first.len()));
        }
        if let Self::Two(first, second) = self {
            fallbacks.extend(
                (0..first.len()).flat_map(|row| std::iter::repeat_n(1 + row, second.len())),
            );
        }
        fallbacks
    }

    /// The attributes with the classes of one of them merged up to this distance, and the classes
    /// of these jobs with them; as they are where the distance is 0 or there is not one attribute.
    pub(super) fn merge(
        self,
        counts: &[[u64; RATIO_BINS]],
        jobs: &mut [(u16, u8)],
        distance: f64,
    ) -> Self {
        match self {
            Self::One(attribute) if distance > 0.0 => {
                let mut classes = counts.to_vec();
                classes[0] = [0; RATIO_BINS];
                let belongs = merged(&classes, distance);
                for (class, _) in jobs {
                    // The index of a class before it, or its own.
                    *class = belongs[usize::from(*class)] as u16;
                }
                Self::Merged(attribute, belongs)
            }
            others => others,
        }
    }
}

/// One attribute with its classes, ready to classify jobs.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Attribute {
    /// Ascending borders in seconds.
    Runtime(Vec<i64>),
    /// Ascending inclusive upper bounds in nodes.
    Resources(Vec<u32>),
    /// The users with a class of their own.
    User(Ranking),
    /// The applications with a class of their own.
    Application(Ranking),
    /// The ratio of the user's last job.
    UserLast,
}

/// The identifiers with the most jobs, in that order, and the same sorted for the search.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ranking {
    by_rank: Vec<i64>,
    sorted: Vec<(i64, usize)>,
}

impl Ranking {
    /// The `top` most frequent identifiers, the smaller one first where two are equally frequent.
    pub(super) fn of(identifiers: impl Iterator<Item = i64>, top: u32) -> Self {
        let mut frequencies = BTreeMap::<i64, u64>::new();
        for identifier in identifiers {
            *frequencies.entry(identifier).or_default() += 1;
        }
        let mut ranked: Vec<(i64, u64)> = frequencies.into_iter().collect();
        ranked.sort_by_key(|&(identifier, frequency)| (std::cmp::Reverse(frequency), identifier));
        ranked.truncate(top as usize);
        let by_rank: Vec<i64> = ranked
            .into_iter()
            .map(|(identifier, _)| identifier)
            .collect();
        let mut sorted: Vec<(i64, usize)> = by_rank.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        Self { by_rank, sorted }
    }

    /// The identifiers, the most frequent one first.
    pub(super) fn numbers(&self) -> impl Iterator<Item = i64> {
        self.by_rank.iter().copied()
    }

    pub(super) fn rank(&self, identifier: Option<i64>) -> Option<usize> {
        let identifier = identifier?;
        let position = self
            .sorted
            .binary_search_by_key(&identifier, |&(known, _)| known)
            .ok()?;
        Some(self.sorted[position].1)
    }
}

impl Attribute {
    /// Checks a single family and finds its classes among the learning jobs; `None` for
    /// [`ClassFamily::All`].
    pub(super) fn learn(
        family: &ClassFamily,
        usable: &[(&Job, usize)],
    ) -> Result<Option<Self>, EstimateError> {
        let ascending = |bounds: &[i64]| {
            !bounds.is_empty() && bounds[0] > 0 && bounds.windows(2).all(|pair| pair[0] < pair[1])
        };
        let checked_top = |top: u32| {
            if top == 0 {
                Err(EstimateError::NoTop)
            } else {
                Ok(top)
            }
        };
        Ok(Some(match family {
            ClassFamily::All => return Ok(None),
            ClassFamily::Runtime { borders_seconds } => {
                if !ascending(borders_seconds) {
                    return Err(EstimateError::Borders {
                        key: "borders_seconds",
                        found: borders_seconds.clone(),
                    });
                }
                Self::Runtime(borders_seconds.clone())
            }
            ClassFamily::Resources { upper_bounds } => {
                let found: Vec<i64> = upper_bounds.iter().map(|&bound| i64::from(bound)).collect();
                if !ascending(&found) {
                    return Err(EstimateError::Borders {
                        key: "upper_bounds",
                        found,
                    });
                }
                Self::Resources(upper_bounds.clone())
            }
            ClassFamily::User { top } => {
                let users = usable.iter().filter_map(|(job, _)| job.user);
                Self::User(Ranking::of(users, checked_top(*top)?))
            }
            ClassFamily::Application { top } => {
                let applications = usable.iter().filter_map(|(job, _)| job.application);
                Self::Application(Ranking::of(applications, checked_top(*top)?))
            }
            ClassFamily::UserLast => Self::UserLast,
            ClassFamily::Pair(..) => return Err(EstimateError::Pair),
        }))
    }

    /// How many classes there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Runtime(borders) => borders.len() + 1,
            Self::Resources(bounds) => bounds.len() + 1,
            Self::User(ranking) | Self::Application(ranking) => ranking.by_rank.len(),
            Self::UserLast => LAST_RATIO_UPPER_BOUNDS.len() + 1,
        }
    }

    /// The job's class, from 0, where its user's last job took `last` percent of its estimate;
    /// `None` for a user or an application without a class of its own, and for a user without a
    /// last job.
    pub(super) fn classify(&self, job: &Job, last: Option<u8>) -> Option<usize> {
        match self {
            Self::Runtime(borders) => {
                Some(borders.partition_point(|&border| border <= job.estimate.0))
            }
            Self::Resources(bounds) => Some(bounds.partition_point(|&bound| bound < job.nodes.0)),
            Self::User(ranking) => ranking.rank(job.user),
            Self::Application(ranking) => ranking.rank(job.application),
            Self::UserLast => {
                let last = last?;
                Some(LAST_RATIO_UPPER_BOUNDS.partition_point(|&bound| bound < last))
            }
        }
    }

    /// The name of a class for people, such as `1 h – 2 h`, `17–32` or `user 5`.
    pub(super) fn label(&self, class: usize) -> String {
        match self {
            Self::Runtime(borders) => match (class.checked_sub(1), borders.get(class)) {
                (None, Some(&border)) => format!("< {}", span_label(border)),
                (Some(below), Some(&border)) => {
                    format!("{} – {}", span_label(borders[below]), span_label(border))
                }
                (_, None) => format!("≥ {}", span_label(borders[borders.len() - 1])),
            },
            Self::Resources(bounds) => {
                let first = class.checked_sub(1).map_or(1, |below| bounds[below] + 1);
                match bounds.get(class) {
                    Some(&last) if last == first => format!("{last}"),
                    Some(&last) => format!("{first}–{last}"),
                    None => format!("> {}", first - 1),
                }
            }
            Self::User(ranking) => format!("user {}", ranking.by_rank[class]),
            Self::Application(ranking) => format!("application {}", ranking.by_rank[class]),
            Self::UserLast => match LAST_RATIO_UPPER_BOUNDS.get(class) {
                Some(bound) => format!("user's last job ≤ {bound} %"),
                None => "user's last job took its whole estimate".to_owned(),
            },
        }
    }
}

/// A span in the largest unit that expresses it as a whole number.
fn span_label(seconds: i64) -> String {
    if seconds % 3_600 == 0 {
        format!("{} h", seconds / 3_600)
    } else if seconds % 60 == 0 {
        format!("{} min", seconds / 60)
    } else {
        format!("{seconds} s")
    }
}
