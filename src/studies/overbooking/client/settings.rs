//! The reactions of the users of a battery to the outcomes of their jobs.

use serde::{Deserialize, Serialize};

use bookahead_core::units::Seconds;

/// What users do beside submitting their jobs at the times of the list. By default nothing: an open
/// loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClientSettings {
    /// How often a job that was rejected is submitted again (default never).
    pub resubmit_rejected: u32,
    /// How often a job that was accepted and failed is submitted again (default never).
    pub resubmit_failed: u32,
    /// How long after the rejection or failure (default 1 h; at least [`super::REACTION`]).
    pub resubmit_after: Seconds,
    /// The job whose end a job waits for (default: none).
    pub dependencies: Dependencies,
    /// For [`Dependencies::Sessions`]: the longest think time within a session (default 20 min).
    pub session_gap: Seconds,
    /// The mean time that a user waits for the first start of a job before taking it back; drawn
    /// for each job from an exponential distribution. `None` (default): for ever.
    pub patience: Option<Seconds>,
    /// Whether users leave who are offered a late end ([`bookahead_core::scheduling::Customers`];
    /// default no). Left out where it is the default, so that who does not leave keeps his
    /// identity.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub refuses_late_offers: bool,
    /// Users who ask for more time while their jobs run; `None` (default) where nobody does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lengthening: Option<Lengthening>,
}

/// Users of jobs that outlast their estimates who ask for more time while these run
/// ([`bookahead_core::scheduling::LongerEstimates`]).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lengthening {
    /// How many of them, in percent.
    pub percent: f64,
    /// How long before the end of the estimate.
    pub before: Seconds,
}

/// Whose end a job waits for before it is submitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dependencies {
    /// None: it is submitted when the list says so.
    #[default]
    None,
    /// The preceding job of the log (field 17 of the Standard Workload Format), and then the think
    /// time (field 18).
    Trace,
    /// The last job of its user that had ended in the log when it was submitted there, if that was
    /// not long ago; the time in between is the think time.
    Sessions,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            resubmit_rejected: 0,
            resubmit_failed: 0,
            resubmit_after: Seconds::HOUR,
            dependencies: Dependencies::default(),
            session_gap: Seconds(20 * 60),
            patience: None,
            refuses_late_offers: false,
            lengthening: None,
        }
    }
}

impl ClientSettings {
    /// Whether nothing that becomes of a job changes what is submitted.
    #[must_use]
    pub fn is_open_loop(&self) -> bool {
        let reacts = Self {
            refuses_late_offers: false,
            lengthening: None,
            ..self.clone()
        };
        reacts.is_default()
    }

    /// Whether users do nothing beside submitting their jobs.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The same with everything that is not read set to its default.
    #[must_use]
    pub fn normalised(self) -> Self {
        let default = Self::default();
        let resubmits = self.resubmit_rejected + self.resubmit_failed > 0;
        Self {
            resubmit_after: if resubmits {
                self.resubmit_after
            } else {
                default.resubmit_after
            },
            session_gap: if self.dependencies == Dependencies::Sessions {
                self.session_gap
            } else {
                default.session_gap
            },
            lengthening: self.lengthening.filter(|asks| asks.percent > 0.0),
            ..self
        }
    }
}
