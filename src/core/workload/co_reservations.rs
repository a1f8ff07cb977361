//! Co-reservation requests: several parts that start together, each on a cluster of its own
//! (Meltzer 2005, §3). A single job is a request of one part, a workflow several requests that
//! follow each other.

mod further;
mod generator;
mod kinds;
mod settings;

pub use further::{FurtherCounts, FurtherResource};
pub use generator::{MOST_PARTS, generate_co_requests};
pub use kinds::{MOST_STAGES, RequestKind, RequestKinds, WorkflowShape, WorkflowTask};
pub use settings::{
    Bursts, CoRequestSettings, FurtherParts, LeadRule, PartNeed, RequestPreset, SlackRule,
    TemplateSelection, TemplateSource, WORK_TOLERANCE,
};

use serde::{Deserialize, Serialize};

use crate::units::{Nodes, Seconds};

/// The position of a request among the co-reservation requests of one simulation, from 0, in the
/// order of submission.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct CoRequestId(pub u32);

/// Somebody asks for CPUs at several clusters at once: every part has the same start and the same
/// duration, and no two parts share a cluster (Meltzer 2005, §3, Table 1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoRequest {
    /// Position among the requests.
    pub id: CoRequestId,
    /// The trace number of the job that served as its template.
    pub trace_number: i64,
    /// The user of that job, where the trace names one.
    pub user: Option<i64>,
    /// When it is asked.
    pub submit: Seconds,
    /// The earliest start of every part (`f_start`).
    pub earliest: Seconds,
    /// The latest end of every part.
    pub deadline: Seconds,
    /// How long every part lasts (`dauer`).
    pub duration: Seconds,
    /// CPUs of each part, as asked (`res`).
    pub parts: Vec<Nodes>,
    /// What each part needs beside its CPUs, in the same order (Meltzer 2005, §2); empty where no
    /// part needs anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<FurtherCounts>,
    /// What the best candidate is, for the algorithm that lets the client choose (A5).
    pub preference: Preference,
    /// Its place in a workflow; `None` where it stands alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<WorkflowTask>,
}

/// How a client weighs cost, an early start, and what the clusters are like (Meltzer 2005, §4.7.2
/// names further criteria; §4.7.4, eq. 2, §7.1 and §7.2); weights in `[0, 1]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Preference {
    /// `k`, the weight of the cost.
    pub cost_weight: f64,
    /// `s`, the weight of the start.
    pub start_weight: f64,
    /// The weight of the share of large jobs that ran lately at the clusters.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub mix_weight: f64,
    /// The weight of the degree to which the clusters would be reserved.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub degree_weight: f64,
}

fn is_nothing(weight: &f64) -> bool {
    *weight == 0.0
}

impl Default for Preference {
    /// The earliest start, whatever it costs.
    fn default() -> Self {
        Self {
            cost_weight: 0.0,
            start_weight: 1.0,
            mix_weight: 0.0,
            degree_weight: 0.0,
        }
    }
}

impl CoRequest {
    /// How far the start may be moved: `deadline − earliest − duration`; negative where no start is
    /// possible.
    #[must_use]
    pub fn slack(&self) -> Seconds {
        self.deadline - self.earliest - self.duration
    }

    /// What a part needs beside its CPUs.
    #[must_use]
    pub fn further_of(&self, part: usize) -> FurtherCounts {
        self.further.get(part).copied().unwrap_or_default()
    }

    /// What the client asks for.
    #[must_use]
    pub fn kind(&self) -> RequestKind {
        match (&self.task, self.parts.len()) {
            (Some(_), _) => RequestKind::Workflow,
            (None, 1) => RequestKind::Single,
            (None, _) => RequestKind::CoReservation,
        }
    }

    /// The parts in the order in which they are placed: most CPUs first, ties as asked (Meltzer
    /// 2005, §4.2). Each entry is an index into [`CoRequest::parts`].
    #[must_use]
    pub fn largest_first(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.parts.len()).collect();
        order.sort_by_key(|&part| std::cmp::Reverse(self.parts[part]));
        order
    }
}
