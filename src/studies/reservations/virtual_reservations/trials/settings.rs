//! The settings of the study, and their errors.

use serde::{Deserialize, Serialize};

use bookahead_core::estimates::{WaitPredictorError, WaitPredictorSettings};
use bookahead_core::units::{Nodes, Seconds};

use crate::replanning::{Admission, Displacement, ReplanningSettings};
use crate::virtual_reservations::rules::{Padding, SUBMISSION_STEP};

/// The request of a study, and how it is tried out (Singh 2008, §6.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VirtualStudySettings {
    /// n, the nodes of the request (default 32; published: 32 and 64).
    pub nodes: Nodes,
    /// D, how long they are wanted (default 1 h; published: 1 and 4 h).
    pub duration: Seconds,
    /// S − T, how long before the wanted start the request is made (default 1 h; published: 1, 4
    /// and 8 h).
    pub lead: Seconds,
    /// p, the share of its price that cancelling a reservation costs (default 0.1, published).
    pub penalty_factor: f64,
    /// How many days are asked about, once each (default 30, published).
    pub instants: u32,
    /// The distance of the submission times that ALG-5 tries (default 30 s, published).
    pub step: Seconds,
    /// The longest run time that the machine accepts of a padded job; `None` for any (Singh 2008,
    /// §6.3.2 and §6.5).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Seconds>,
    /// How long a padded job may idle before the machine ends it; `None` for ever (Singh 2008,
    /// §6.3.2 and §6.5).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_limit: Option<Seconds>,
    /// Whether ALG-5 pads the runtime for each submission time or once (AMB-27).
    pub padding: Padding,
    /// How waits are predicted (AMB-25).
    pub predictor: WaitPredictorSettings,
    /// How much of the trace runs, counted from its first submission, before the first day that is
    /// asked about, so that the machine is full and the predictor has a history. The default of 60
    /// days is ours: at the mean rate of the CTC trace some 14,000 jobs come in it, fourteen times
    /// what a category remembers.
    pub warm_up: Seconds,
    /// How ALG-6 is evaluated.
    pub combination: Combination,
    /// The machine: π is its `backfilling` and `order` (default conservative, first come first
    /// served; Singh 2008, chapter 6). The admission must be [`Admission::MovePrice`], the default
    /// here.
    #[serde(rename = "reserving")]
    pub replanning: ReplanningSettings,
}

impl Default for VirtualStudySettings {
    fn default() -> Self {
        Self {
            nodes: Nodes(32),
            duration: Seconds::HOUR,
            lead: Seconds::HOUR,
            penalty_factor: 0.1,
            instants: 30,
            step: SUBMISSION_STEP,
            limit: None,
            idle_limit: None,
            padding: Padding::default(),
            predictor: WaitPredictorSettings::default(),
            warm_up: super::background::DAY * 60,
            combination: Combination::default(),
            replanning: ReplanningSettings {
                admission: Admission::MovePrice,
                displacement: Displacement::Skip,
                ..ReplanningSettings::default()
            },
        }
    }
}

impl VirtualStudySettings {
    /// Checks the ranges, and that the request fits on a machine of `machine` nodes.
    ///
    /// # Errors
    /// [`VirtualStudyError`] with the first setting that is out of range.
    pub fn validate(&self, machine: Nodes) -> Result<(), VirtualStudyError> {
        let check = |holds: bool, key, allowed: &str, found: String| {
            let allowed = allowed.to_owned();
            holds.then_some(()).ok_or(VirtualStudyError::Setting {
                key,
                allowed,
                found,
            })
        };
        let positive =
            |key, span: Seconds| check(span > Seconds::ZERO, key, "above 0 s", span.to_string());
        check(
            self.nodes >= Nodes(1) && self.nodes <= machine,
            "nodes",
            &format!("at least 1 and at most the machine's {}", machine.0),
            self.nodes.0.to_string(),
        )?;
        positive("duration", self.duration)?;
        positive("lead", self.lead)?;
        positive("step", self.step)?;
        positive("limit", self.limit.unwrap_or(Seconds::FAR))?;
        positive("idle_limit", self.idle_limit.unwrap_or(Seconds::FAR))?;
        check(
            self.penalty_factor >= 0.0 && self.penalty_factor.is_finite(),
            "penalty_factor",
            "a number from 0 on",
            self.penalty_factor.to_string(),
        )?;
        let instants = self.instants.to_string();
        check(self.instants > 0, "instants", "at least 1", instants)?;
        let warm_up = self.warm_up.to_string();
        check(
            self.warm_up >= Seconds::ZERO,
            "warm_up",
            "at least 0 s",
            warm_up,
        )?;
        check(
            self.replanning.admission == Admission::MovePrice,
            "reserving.admission",
            "`move-price`, the only rule that names a price",
            format!("{:?}", self.replanning.admission),
        )?;
        Ok(self.predictor.validate()?)
    }
}

/// How ALG-6 is evaluated (Singh 2008, §6.4, Figure 45).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combination {
    /// Offline, from the reservation and the virtual one that were tried separately, as published.
    /// The padded job then never feels the reservation that would be held beside it.
    #[default]
    Recorded,
    /// Played out: the padded job waits in a fork in which the reservation really blocks its nodes.
    /// A reservation that is free is taken without submitting anything; where it is refused, the
    /// virtual one is the separate one.
    Played,
}

/// Why a study could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum VirtualStudyError {
    /// A setting is out of range.
    #[error("`{key}` of the study of virtual reservations must be {allowed}, but is {found}")]
    Setting {
        /// The configuration key.
        key: &'static str,
        /// What is allowed.
        allowed: String,
        /// What was found.
        found: String,
    },
    /// A setting of the predictor is out of range.
    #[error(transparent)]
    Predictor(#[from] WaitPredictorError),
    /// The trace ends before the last wanted start.
    #[error(
        "the trace is too short: it spans {:.1} days from its first to its last submission, but `warm_up` ({:.1} days), \
         `instants` ({instants}, one a day) and `lead` ({:.1} h) need {:.1} days",
        .spans.hours() / 24.0, .warm_up.hours() / 24.0, .lead.hours(), .needs.hours() / 24.0
    )]
    TraceTooShort {
        /// From the first to the last submission.
        spans: Seconds,
        /// What the settings ask for.
        needs: Seconds,
        /// The warm-up that was asked for.
        warm_up: Seconds,
        /// The instants that were asked for.
        instants: u32,
        /// The lead that was asked for.
        lead: Seconds,
    },
}
