//! Giving slots back: which of them, and what is paid nevertheless (Singh 2008, §8.1, §6.4).

use serde::{Deserialize, Serialize};

use bookahead_core::units::{NodeSeconds, Nodes, Seconds};

/// Which slots are paid back that an application gives back, less a penalty.
///
/// With c for a node and an hour, f for the slot and p the penalty factor, a slot of n nodes that
/// is given back before it starts costs p · f (Singh 2008, §6.4). One that is given back later
/// costs n · c · used + p · n · c · rest + f, with the hours before and after that instant (§8.1
/// names the penalty and gives no formula).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "refund")]
pub enum Refund {
    /// What was bought stays paid and, once it has begun, blocked.
    #[default]
    None,
    /// The rest of slots that have begun.
    Rest {
        /// p, in `[0, 1]`.
        penalty_factor: f64,
    },
    /// That, and slots that have not begun.
    Both {
        /// p, in `[0, 1]`.
        penalty_factor: f64,
    },
}

/// When a booking was given back to its site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GivenBack {
    /// Before it began.
    Unbegun,
    /// Then, when it had begun.
    At(Seconds),
}

impl Refund {
    /// Whether what was bought stays paid.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }

    /// p for the rest of a slot that has begun; `None` where nothing is paid back.
    pub(super) fn of_rest(self) -> Option<f64> {
        match self {
            Self::None => None,
            Self::Rest { penalty_factor } | Self::Both { penalty_factor } => Some(penalty_factor),
        }
    }

    /// p for a slot that has not begun; `None` where nothing is paid back.
    pub(super) fn of_unbegun(self) -> Option<f64> {
        match self {
            Self::None | Self::Rest { .. } => None,
            Self::Both { penalty_factor } => Some(penalty_factor),
        }
    }

    /// What stays paid of `nodes` nodes on `[start, end)` of a booking, in node-time: all of it
    /// before it was given back, and a share of it later.
    pub(super) fn kept(
        self,
        given_back: Option<GivenBack>,
        nodes: Nodes,
        (start, end): (Seconds, Seconds),
    ) -> (NodeSeconds, f64) {
        let whole = nodes.for_span(end - start);
        match given_back {
            Some(GivenBack::At(time)) => {
                let Some(penalty_factor) = self.of_rest() else {
                    return (whole, 0.0);
                };
                let cut = time.clamp(start, end);
                let rest = nodes.for_span(end - cut).coins().0;
                (nodes.for_span(cut - start), penalty_factor * rest)
            }
            Some(GivenBack::Unbegun) if self.of_unbegun().is_some() => (NodeSeconds(0), 0.0),
            _ => (whole, 0.0),
        }
    }
}
