//! The policies of `bookahead simulate --policy`, and how their names are read.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command};
use serde::Serialize;

use bookahead_overbooking::registry::{self, STRATEGIES, Strategy};

/// Policies of `--policy`: those of the registry, of which two have engines that stream jobs at
/// constant memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PolicyName {
    /// `easy-backfilling`, streamed.
    Easy,
    /// `heuristic-planning`, streamed.
    Planning,
    /// The same plan, in which every job asks for a fixed start and gets it or nothing:
    /// `--fixed-starts`.
    FixedStarts,
    /// Any other policy of the registry, by its name.
    Registered(&'static str),
}

impl PolicyName {
    /// Its name in the registry.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Easy => "easy-backfilling",
            Self::Planning | Self::FixedStarts => "heuristic-planning",
            Self::Registered(name) => name,
        }
    }

    /// What it is called in answers and in the names of runs.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::FixedStarts => "fixed-starts",
            Self::Easy | Self::Planning | Self::Registered(_) => self.name(),
        }
    }

    fn of(strategy: &'static Strategy) -> Self {
        let streamed = [Self::Easy, Self::Planning];
        let streamed = streamed.into_iter().find(|it| it.name() == strategy.name);
        streamed.unwrap_or(Self::Registered(strategy.name))
    }
}

/// Reads the name of a policy.
#[derive(Clone)]
pub(super) struct PolicyParser;

impl PolicyParser {
    /// What policies were called here before they had the registry's names, and what does the same
    /// now.
    const FORMER: [(&'static str, &'static str); 3] = [
        ("easy", "--policy easy-backfilling"),
        ("conservative", "--policy heuristic-planning"),
        ("reservations", "--fixed-starts"),
    ];

    fn values() -> impl Iterator<Item = PossibleValue> {
        STRATEGIES.iter().map(|strategy| {
            let about = match (strategy.overbooks, PolicyName::of(strategy)) {
                (true, _) => "it plans with statistics: use an experiment (`bookahead init`)",
                (false, PolicyName::Registered(_)) => "keeps all jobs in memory",
                (false, _) => "streams jobs at constant memory",
            };
            PossibleValue::new(strategy.name).help(format!("{}; {about}", strategy.summary))
        })
    }
}

impl TypedValueParser for PolicyParser {
    type Value = PolicyName;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<PolicyName, clap::Error> {
        if let Some((former, now)) = Self::FORMER.iter().find(|(former, _)| value == *former) {
            let text = format!("the policy `{former}` is called otherwise now: use {now}\n");
            return Err(command.clone().error(ErrorKind::InvalidValue, text));
        }
        let known = PossibleValuesParser::new(Self::values().collect::<Vec<_>>());
        let name = known.parse_ref(command, argument, value)?;
        // A name that was just found.
        Ok(registry::strategy(&name).map_or(PolicyName::Easy, PolicyName::of))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Self::values()))
    }
}

impl Serialize for PolicyName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
