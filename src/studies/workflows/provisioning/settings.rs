//! The settings of provisioning: the offers of providers, the search of the broker, and what is
//! done with the plan.

use serde::{Deserialize, Serialize};

use bookahead_core::plan::SlotRules;
use bookahead_core::units::Seconds;
use bookahead_reservations::replanning::{Admission, Displacement, ReplanningSettings};
use bookahead_reservations::slots::SlotSource;

use super::{
    AskedSites, GeneticSettings, QueueChoice, Refund, ScheduleCost, SlotTariff, WeightScale,
    Weighting, Wish,
};

/// Everything that determines how applications are provisioned, apart from sites and applications
/// themselves (Singh 2008, chapters 4 and 7).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProvisioningSettings {
    /// What sites offer.
    pub provider: Provider,
    /// How the broker searches.
    pub search: SearchMethod,
    /// What the user wants of a plan.
    pub wish: Wish,
    /// Of the genetic searches.
    pub genetic: GeneticSettings,
    /// In which units the search by a weighted sum adds.
    #[serde(default, skip_serializing_if = "WeightScale::is_default")]
    pub scale: WeightScale,
    /// By what genetic searches judge plans for several applications.
    #[serde(default, skip_serializing_if = "ScheduleCost::is_default")]
    pub schedule_cost: ScheduleCost,
    /// What is asked for advertised slots.
    #[serde(default, skip_serializing_if = "SlotTariff::is_default")]
    pub tariff: SlotTariff,
    /// How ALG-2 chooses between sites (AMB-9).
    pub site_choice: SiteChoice,
    /// To which queues best effort sends tasks.
    #[serde(default, skip_serializing_if = "QueueChoice::is_default")]
    pub queue_choice: QueueChoice,
    /// Whether plans stay booked (AMB-23).
    pub commitment: Commitment,
    /// How many brokers submit an application each at every instant, and choose from the same
    /// offers.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub brokers: u32,
    /// Whether several applications of one instant are planned as one (Singh 2008, §4.9); else one
    /// after the other, or by as many brokers.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub joint: bool,
    /// How long a reservation is under way: what was offered may be gone by then (AMB-46; 0, as
    /// published, for never).
    pub latency: Seconds,
    /// How often a plan is made anew because a slot was gone, before the application is given up.
    pub replans: u32,
    /// What happens to an application that lost a task to a node failure.
    pub after_failure: AfterFailure,
    /// What is paid back of slots that are given back.
    #[serde(default, skip_serializing_if = "Refund::is_none")]
    pub refund: Refund,
    /// The queue of the sites: its order and backfilling. Sites that are asked for prices move
    /// waiting jobs.
    #[serde(rename = "reserving")]
    pub replanning: ReplanningSettings,
    /// Whether it is measured how many advertised slots are left later.
    #[serde(default, skip_serializing_if = "is_off")]
    pub follow_slots: bool,
    /// Which sites users of single jobs ask.
    #[serde(default, skip_serializing_if = "AskedSites::is_default")]
    pub asked_sites: AskedSites,
    /// How many submission instants are prepared; never part of a result, because instants are
    /// drawn one by one.
    #[serde(skip)]
    pub instants: u32,
}

impl Default for ProvisioningSettings {
    fn default() -> Self {
        Self {
            provider: Provider::Queried,
            search: SearchMethod::Greedy,
            wish: Wish::TradeOff { alpha: 0.5 },
            genetic: GeneticSettings::default(),
            scale: WeightScale::default(),
            schedule_cost: ScheduleCost::default(),
            tariff: SlotTariff::default(),
            site_choice: SiteChoice::EarliestStart,
            queue_choice: QueueChoice::FewestTasks,
            commitment: Commitment::Discarded,
            brokers: 1,
            joint: true,
            latency: Seconds::ZERO,
            replans: 10,
            after_failure: AfterFailure::Reprovision,
            refund: Refund::None,
            replanning: ReplanningSettings {
                admission: Admission::MovePrice,
                displacement: Displacement::Skip,
                ..ReplanningSettings::default()
            },
            follow_slots: false,
            asked_sites: AskedSites::All,
            instants: 1,
        }
    }
}

/// What a site offers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "provider")]
pub enum Provider {
    /// Slots that delay no job, at the price of best effort (Singh 2008, chapters 3 and 4).
    Advertised {
        /// Where slots come from (AMB-4): with free rectangles, they are also the queue's plan.
        source: SlotSource,
        /// How rectangles are kept (AMB-5 to AMB-8).
        rules: SlotRules,
    },
    /// Any slot, at a price that pays for the delay of others (Singh 2008, chapters 5 and 7).
    Queried,
}

/// How the broker makes a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchMethod {
    /// No plan: just-in-time submission to the queues (Singh 2008, §4.7).
    BestEffort,
    /// The thesis's multi-objective genetic algorithm over advertised slots (ALG-3).
    Moga,
    /// NSGA-II over advertised slots (Deb et al. 2002).
    Nsga2,
    /// A genetic search by the weighted sum of both objectives (Singh 2008, §4.4, Fig. 10b).
    WeightedSum,
    /// The same algorithm over answers to queries, each plan priced as a whole (Singh 2008, chapter
    /// 7, eq. 24).
    QueriedMoga,
    /// Task after task, by queries (ALG-7).
    #[default]
    Greedy,
    /// One slot for all tasks, by queries (Singh 2008, chapter 7).
    SingleSlot,
}

/// Which site takes a task, among those on which it fits (AMB-9); the first of equals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SiteChoice {
    /// Where it starts first, as in the thesis.
    #[default]
    EarliestStart,
    /// Where it ends first, as in HEFT.
    EarliestFinish,
}

/// What becomes of a plan (AMB-23).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "commitment")]
pub enum Commitment {
    /// It is made and carried out on a fork of the sites; the sites themselves never see it. One
    /// application a replication.
    #[default]
    Discarded,
    /// It is booked at the running sites, and affects the jobs of others.
    Committed {
        /// Applications that are submitted one after the other in one simulation.
        submissions: u32,
    },
}

/// What happens when a node fails under a task that runs in a slot: the slot is paid, the task is
/// lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AfterFailure {
    /// The application has failed; what is booked for it is given back where it has not begun, and
    /// paid.
    Fail,
    /// The lost task and everything behind it is planned again from that instant; what it held
    /// before is paid.
    #[default]
    Reprovision,
}

fn one() -> u32 {
    1
}

fn is_one(brokers: &u32) -> bool {
    *brokers == 1
}

fn is_off(flag: &bool) -> bool {
    !*flag
}

fn yes() -> bool {
    true
}

fn is_yes(joint: &bool) -> bool {
    *joint
}

impl ProvisioningSettings {
    /// Whether the search is over advertised slots.
    #[must_use]
    pub fn is_genetic(&self) -> bool {
        match self.search {
            SearchMethod::Moga | SearchMethod::Nsga2 | SearchMethod::WeightedSum => true,
            SearchMethod::BestEffort
            | SearchMethod::Greedy
            | SearchMethod::QueriedMoga
            | SearchMethod::SingleSlot => false,
        }
    }

    /// Whether sites keep free rectangles: the places of their jobs are final.
    #[must_use]
    pub fn has_rectangles(&self) -> bool {
        let source = match self.provider {
            Provider::Advertised { source, .. } => Some(source),
            Provider::Queried => None,
        };
        source == Some(SlotSource::FreeRectangles)
    }

    /// How both objectives are weighted; `None` where no search goes by their sum.
    #[must_use]
    pub fn weighting(&self) -> Option<Weighting> {
        let scale = self.scale;
        match (self.search, self.wish) {
            (SearchMethod::WeightedSum, Wish::TradeOff { alpha }) => {
                Some(Weighting { alpha, scale })
            }
            _ => None,
        }
    }

    /// At how many instants one simulation submits applications.
    #[must_use]
    pub fn submissions(&self) -> u32 {
        match self.commitment {
            Commitment::Discarded => 1,
            Commitment::Committed { submissions } => submissions,
        }
    }

    /// How many brokers submit something of their own at an instant: not those that each plan one
    /// of several applications of one submission.
    #[must_use]
    pub fn submitters(&self) -> u32 {
        if self.joint { self.brokers.max(1) } else { 1 }
    }

    /// How many applications one simulation submits; several that belong together are one.
    #[must_use]
    pub fn applications(&self) -> u32 {
        self.submissions().saturating_mul(self.submitters())
    }
}
