//! How co-reservation requests are made from the jobs of clusters.

use serde::{Deserialize, Serialize};

use super::{Preference, RequestKinds};
use crate::units::{NodeSeconds, Seconds};

/// The generator of requests and its couplings (Meltzer 2005, §6.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoRequestSettings {
    /// How many of the templates become requests.
    pub selection: TemplateSelection,
    /// CPU-seconds that the two-part requests of a chosen number of templates come to, within
    /// [`WORK_TOLERANCE`]; other draws are drawn again. `None` takes the first draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<NodeSeconds>,
    /// Whose jobs are templates.
    pub templates: TemplateSource,
    /// How far the start may be moved.
    pub slack: SlackRule,
    /// How long before its earliest start a request is submitted.
    pub lead: LeadRule,
    /// Parts of a request, 1 to 6.
    pub parts: u32,
    /// How wide the parts behind the second are.
    pub further_parts: FurtherParts,
    /// Every so many-th request is dropped, counted in order of submission; `None` for none (Q47).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop_every: Option<u32>,
    /// Earliest starts gathered in bursts; `None` for spread over the whole time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bursts: Option<Bursts>,
    /// Weights of every request.
    pub preference: Preference,
    /// Which of them are single jobs and workflows; `None` where all are co-reservations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<RequestKinds>,
    /// Licences that parts need beside their CPUs; `None` where none needs any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licences: Option<PartNeed>,
    /// Storage that parts need beside their CPUs, in GB; `None` where none needs any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<PartNeed>,
}

/// How many of the parts need a resource beside CPUs, and how much of it each of these needs
/// (Meltzer 2005, §2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartNeed {
    /// Parts that need any, in percent: each is drawn on its own with this probability.
    pub percent: f64,
    /// The amount that such a part needs, 1 or more.
    pub each: u32,
}

impl PartNeed {
    /// The amount that the part needs for which this was drawn, in `[0, 1)`.
    pub(super) fn amount(self, drawn: f64) -> u32 {
        u32::from(100.0 * drawn < self.percent) * self.each
    }
}

/// How far, as a share of it, a draw may be from the work that is asked for.
pub const WORK_TOLERANCE: f64 = 0.05;

/// How many of the templates become requests (Q45). A larger choice contains the smaller one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "by")]
pub enum TemplateSelection {
    /// Exactly so many, drawn without replacement.
    Count {
        /// How many; 213 in the thesis.
        count: u32,
    },
    /// Each on its own with this probability.
    Chance {
        /// In `(0, 1]`; 1/10 in the thesis.
        probability: f64,
    },
}

/// Whose jobs are templates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TemplateSource {
    /// Those of the first cluster: the thesis. Requests are the same for any number of clusters
    /// then.
    #[default]
    First,
    /// Those of all clusters.
    All,
}

/// How far the start of a request may be moved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "rule")]
pub enum SlackRule {
    /// In proportion to the duration, up to a limit.
    Factor {
        /// 6 in the first two workloads, 3 in the third.
        factor: f64,
        /// 24 hours.
        most: Seconds,
    },
    /// The same for all requests: 6 hours in Meltzer 2005, §6.8.
    Fixed {
        /// The slack.
        seconds: Seconds,
    },
}

impl SlackRule {
    /// The slack of a request of this duration, to the nearest second.
    #[must_use]
    pub fn of(self, duration: Seconds) -> Seconds {
        match self {
            Self::Factor { factor, most } => times(duration, factor).min(most),
            Self::Fixed { seconds } => seconds,
        }
    }
}

/// How long before its earliest start a request is submitted, at time 0 at the earliest (Q35).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "rule")]
pub enum LeadRule {
    /// In proportion to the duration: 3 in the first workload, ½ in the second and the third.
    Factor {
        /// The factor.
        factor: f64,
    },
    /// The same for all requests: 30 seconds in Meltzer 2005, §6.8.
    Fixed {
        /// The lead.
        seconds: Seconds,
    },
}

impl LeadRule {
    /// The lead of a request of this duration, to the nearest second.
    #[must_use]
    pub fn of(self, duration: Seconds) -> Seconds {
        match self {
            Self::Factor { factor } => times(duration, factor),
            Self::Fixed { seconds } => seconds,
        }
    }
}

fn times(duration: Seconds, factor: f64) -> Seconds {
    Seconds((duration.0 as f64 * factor).round() as i64)
}

/// How wide the parts behind the second are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FurtherParts {
    /// Each drawn like the second, between 0.7 and 1.3 times the template.
    #[default]
    Drawn,
    /// As wide as the second (Q47).
    Copied,
}

/// Earliest starts gathered in bursts, which begin at drawn times; each request belongs to one of
/// them with equal probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bursts {
    /// How many.
    pub count: u32,
    /// How long each is: earliest starts are uniform within it.
    pub width: Seconds,
}

/// A workload of the thesis by name; every field may still be set to something else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RequestPreset {
    /// No requests: jobs only.
    None,
    /// RW1: asked for long before.
    #[default]
    Rw1,
    /// RW2: asked for shortly before.
    Rw2,
    /// RW3: asked for shortly before, with half of the slack.
    Rw3,
    /// Meltzer 2005, §6.8, two parts: asked for 30 seconds before, six hours of slack.
    EarlyTwo,
    /// Meltzer 2005, §6.8, three parts of two thirds of the requests.
    EarlyThree,
}

impl RequestPreset {
    /// Every preset with its name in configurations.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::None, "none"),
        (Self::Rw1, "rw1"),
        (Self::Rw2, "rw2"),
        (Self::Rw3, "rw3"),
        (Self::EarlyTwo, "early-two"),
        (Self::EarlyThree, "early-three"),
    ];

    /// Its settings; `None` for no requests.
    #[must_use]
    pub fn settings(self) -> Option<CoRequestSettings> {
        let most = Seconds(86_400);
        let (slack, lead) = match self {
            Self::None => return None,
            Self::Rw1 => (6.0, 3.0),
            Self::Rw2 => (6.0, 0.5),
            Self::Rw3 => (3.0, 0.5),
            Self::EarlyTwo | Self::EarlyThree => {
                return Some(CoRequestSettings {
                    slack: SlackRule::Fixed {
                        seconds: Seconds(21_600),
                    },
                    lead: LeadRule::Fixed {
                        seconds: Seconds(30),
                    },
                    parts: if self == Self::EarlyThree { 3 } else { 2 },
                    further_parts: if self == Self::EarlyThree {
                        FurtherParts::Copied
                    } else {
                        FurtherParts::Drawn
                    },
                    drop_every: (self == Self::EarlyThree).then_some(3),
                    ..CoRequestSettings::default()
                });
            }
        };
        Some(CoRequestSettings {
            slack: SlackRule::Factor {
                factor: slack,
                most,
            },
            lead: LeadRule::Factor { factor: lead },
            ..CoRequestSettings::default()
        })
    }
}

impl Default for CoRequestSettings {
    /// RW1.
    fn default() -> Self {
        Self {
            selection: TemplateSelection::Count { count: 213 },
            work: None,
            templates: TemplateSource::default(),
            slack: SlackRule::Factor {
                factor: 6.0,
                most: Seconds(86_400),
            },
            lead: LeadRule::Factor { factor: 3.0 },
            parts: 2,
            further_parts: FurtherParts::default(),
            drop_every: None,
            bursts: None,
            preference: Preference::default(),
            kinds: None,
            licences: None,
            storage: None,
        }
    }
}
