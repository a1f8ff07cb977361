//! The list of studies that a program hands to the laboratory.

use std::fmt;

use serde::de::Error as _;
use serde_json::Value;

use super::{AnyStudy, Strategy, StudySpec};
use crate::keys::declaration::Section;
use crate::scheduling::measures::Measure;
use crate::scheduling::registry;
use crate::tables::StoredQuantity;

/// The studies of a program, in the order of tables, of keys and of their documentation, and the
/// commit that the program was built from.
#[derive(Clone, Copy, Default)]
pub struct Studies {
    list: &'static [&'static dyn AnyStudy],
    more: &'static [&'static dyn AnyStudy],
    policies: &'static [registry::Strategy],
    commit: Option<&'static str>,
}

impl fmt::Debug for Studies {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.iter().map(AnyStudy::name);
        formatter.debug_list().entries(names).finish()
    }
}

/// Lists are equal where their studies and policies have the same names and the same tables: the
/// same list may stand at several places of a program.
impl PartialEq for Studies {
    fn eq(&self, other: &Self) -> bool {
        let stored = |study: &'static dyn AnyStudy| (study.name(), study.tables().sql);
        let same_studies = self.iter().map(stored).eq(other.iter().map(stored));
        let names = |studies: &Self| studies.policies().map(|policy| policy.name).collect();
        let (own, others): (Vec<&str>, Vec<&str>) = (names(self), names(other));
        same_studies && own == others
    }
}

impl Studies {
    /// These studies, each made by [`study`](super::study).
    #[must_use]
    pub const fn new(studies: &'static [&'static dyn AnyStudy]) -> Self {
        Self {
            list: studies,
            more: &[],
            policies: &[],
            commit: None,
        }
    }

    /// The same with these behind them.
    #[must_use]
    pub const fn with(self, more: &'static [&'static dyn AnyStudy]) -> Self {
        Self { more, ..self }
    }

    /// The same with more policies on one cluster than its studies bring along.
    #[must_use]
    pub const fn with_policies(self, policies: &'static [registry::Strategy]) -> Self {
        Self { policies, ..self }
    }

    /// The same in a program that was built from this commit; `None` where the build did not know
    /// it.
    #[must_use]
    pub const fn built_from(self, commit: Option<&'static str>) -> Self {
        Self { commit, ..self }
    }

    /// The commit that the program was built from, where the build knew it.
    #[must_use]
    pub const fn commit(self) -> Option<&'static str> {
        self.commit
    }

    /// One after the other.
    pub fn iter(self) -> impl Iterator<Item = &'static dyn AnyStudy> {
        self.list.iter().chain(self.more).copied()
    }

    /// The study of a strategy. A name that stands for no study is taken to be that of a policy,
    /// which the program may not know.
    #[must_use]
    pub fn of_strategy(self, strategy: &str) -> Option<&'static dyn AnyStudy> {
        let stands_for = |study: &&dyn AnyStudy| {
            let own = study.strategy();
            own.is_some_and(|own| own.name == strategy)
        };
        let has_policies = |study: &&dyn AnyStudy| study.strategy().is_none();
        let named = self.iter().find(stands_for);
        named.or_else(|| self.iter().find(has_policies))
    }

    /// What stands for each study with a machine of its own where a policy is named.
    pub fn strategies(self) -> impl Iterator<Item = Strategy> {
        self.iter().filter_map(AnyStudy::strategy)
    }

    /// Whether a name stands for a study with a machine of its own, and not for a policy.
    #[must_use]
    pub fn is_strategy(self, name: &str) -> bool {
        self.strategies().any(|known| known.name == name)
    }

    /// Every policy, in the order of tables.
    pub fn policies(self) -> impl Iterator<Item = &'static registry::Strategy> {
        let of_studies = self.iter().flat_map(AnyStudy::policies);
        of_studies.chain(self.policies)
    }

    /// Finds a policy by its name.
    #[must_use]
    pub fn policy(self, name: &str) -> Option<&'static registry::Strategy> {
        self.policies().find(|policy| policy.name == name)
    }

    /// The place of a policy in tables; unknown ones come last.
    #[must_use]
    pub fn rank(self, policy: &str) -> usize {
        self.policies()
            .position(|known| known.name == policy)
            .unwrap_or(usize::MAX)
    }

    /// Whether a policy looks at thresholds of risk; what is no policy of the program may.
    #[must_use]
    pub fn overbooks(self, policy: &str) -> bool {
        self.policy(policy).is_none_or(|known| known.overbooks)
    }

    /// The policy that another one's additional gain is measured against.
    #[must_use]
    pub fn baseline(self, policy: &str) -> Option<&'static str> {
        self.policy(policy)?.baseline
    }

    /// The names that may stand where a strategy is named: policies, then studies.
    #[must_use]
    pub fn strategy_names(self) -> Vec<&'static str> {
        let policies = self.policies().map(|policy| policy.name);
        policies
            .chain(self.strategies().map(|study| study.name))
            .collect()
    }

    /// All measures, in the order in which tables show them.
    pub fn measures(self) -> impl Iterator<Item = &'static Measure> + Clone {
        let list = self.list.iter().chain(self.more);
        list.flat_map(|study| study.measures())
    }

    /// Finds a measure by name.
    #[must_use]
    pub fn measure(self, name: &str) -> Option<&'static Measure> {
        self.measures().find(|measure| measure.name == name)
    }

    /// Where a quantity is kept that a study has in a table of its own, by the name that findings
    /// and curves have for it.
    #[must_use]
    pub fn quantity(self, name: &str) -> Option<StoredQuantity> {
        self.iter()
            .find_map(|study| (study.tables().quantity)(name))
    }

    /// The tables of experiment files that are a study's own.
    pub fn sections(self) -> impl Iterator<Item = &'static Section> {
        self.iter().flat_map(AnyStudy::sections)
    }

    /// The settings of a stored specification, of the study with this name or, without one, of the
    /// study of policies.
    pub(super) fn stored(
        self,
        name: Option<&str>,
        settings: Value,
    ) -> Result<StudySpec, serde_json::Error> {
        let is_named = |study: &&dyn AnyStudy| study.strategy().map(|own| own.name) == name;
        match self.iter().find(is_named) {
            Some(study) => study.stored(settings),
            None => Err(serde_json::Error::custom(format!(
                "there is no study {name:?}"
            ))),
        }
    }
}
