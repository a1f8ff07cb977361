//! Two rules of the algorithm of 2008 that its paper states without numbers: which jobs are
//! promising for overbooking, and how much time is planned for users who underestimate (Birkenheuer
//! 2008, §3.1.1, §3.1.2).

use serde::{Deserialize, Serialize};

/// What makes a job promising: only promising jobs are shortened.
///
/// The paper asks whether the estimate "is significantly longer than the application's usual
/// runtime *or* the user tends to overestimate" and gives no threshold. In every rule what is usual
/// must fit into the shortened duration `d / (1 + maxPoF)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromisingRule {
    /// The mean ratio of the job's estimate class, whatever attribute the classes are made of.
    #[default]
    Class,
    /// The mean run time of the job's application.
    Application,
    /// The mean ratio of all jobs of the job's user.
    User,
    /// The application or the user, as the paper says.
    Either,
}

impl PromisingRule {
    /// Whether the statistics of applications are asked.
    #[must_use]
    pub fn asks_application(self) -> bool {
        matches!(self, Self::Application | Self::Either)
    }

    /// Whether the statistics of users are asked.
    #[must_use]
    pub fn asks_user(self) -> bool {
        matches!(self, Self::User | Self::Either)
    }
}

/// What is planned for a user whose jobs mostly outlast their estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnderestimatorRule {
    /// Their jobs are planned like all others.
    #[default]
    AsEstimated,
    /// Their jobs are never shortened; each is planned and may run longer than its estimate by the
    /// factor by which the user's jobs have outlasted theirs, if a slot takes that, else for its
    /// estimate.
    MoreTime,
}

/// Whether a value may be left out of a specification.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
