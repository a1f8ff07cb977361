//! Nodes that are at a cluster for a time only: those that it lends, and those that it borrows
//! (Birkenheuer 2012, §1.2.2).
//!
//! A cluster that borrows has places beside its own nodes, which are empty but for the times of
//! loans. Its policy plans as if nobody could have a node while it is not here; to everybody else
//! such a node is down. What fails while it is away is written down, so that it is up when it comes
//! back only if it is not broken.

use super::{Cluster, ClusterMachine, Event};
use crate::plan::NodeSet;
use crate::scheduling::policy::Policy;
use crate::units::{NodeIndex, Nodes, Seconds};

/// Nodes that are not here on `[start, end)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absence {
    /// Which.
    pub nodes: NodeSet,
    /// When they are gone.
    pub start: Seconds,
    /// When they are here again.
    pub end: Seconds,
}

/// A part of the nodes, and a time.
#[derive(Clone, Debug)]
struct Loan {
    nodes: NodeSet,
    start: Seconds,
    end: Seconds,
}

/// What a cluster knows of loans.
#[derive(Clone, Debug)]
pub(super) struct AbsentNodes {
    /// Its own nodes; places of borrowed ones have higher numbers.
    own: NodeSet,
    places: NodeSet,
    lent: Vec<Loan>,
    borrowed: Vec<Loan>,
    /// Not here now.
    away: NodeSet,
    /// Those of them that are broken.
    broken: NodeSet,
}

impl AbsentNodes {
    /// Forgets what is over.
    fn forget_before(&mut self, now: Seconds) {
        for loans in [&mut self.lent, &mut self.borrowed] {
            loans.retain(|loan| loan.end > now);
        }
    }

    /// The places that are promised to nobody from `now` on.
    fn empty_places(&self, now: Seconds) -> NodeSet {
        let mut empty = self.places.clone();
        for loan in self.borrowed.iter().filter(|loan| loan.end > now) {
            empty.subtract(&loan.nodes);
        }
        empty
    }

    /// Which nodes are not here when, from `now` on.
    fn absences(&self, now: Seconds) -> Vec<Absence> {
        let absence = |nodes: &NodeSet, start, end| Absence {
            nodes: nodes.clone(),
            start,
            end,
        };
        let mut absences = vec![absence(&self.empty_places(now), now, Seconds::FAR)];
        for loan in &self.lent {
            absences.push(absence(&loan.nodes, loan.start, loan.end));
        }
        for loan in &self.borrowed {
            absences.push(absence(&loan.nodes, now, loan.start));
            absences.push(absence(&loan.nodes, loan.end, Seconds::FAR));
        }
        absences.retain(|it| it.start < it.end && !it.nodes.is_empty());
        absences
    }

    fn is_away(&self, node: NodeIndex, now: Seconds) -> bool {
        let holds =
            |loan: &Loan| (loan.start..loan.end).contains(&now) && loan.nodes.contains(node);
        self.lent.iter().any(holds)
            || (self.places.contains(node) && !self.borrowed.iter().any(holds))
    }
}

impl<P: Policy + ?Sized> ClusterMachine<P> {
    /// Only the first `own` nodes are its own: the others are places of borrowed ones, and nobody
    /// is there yet. To be called before anything happens; nothing changes where the policy cannot
    /// lend ([`Policy::node_lender`]).
    pub fn make_places(&mut self, own: Nodes) {
        let all = NodeSet::full(self.cluster.nodes);
        let can_lend = self.policy.node_lender().is_some();
        let Some(own) = all.lowest(own).filter(|_| can_lend) else {
            return;
        };
        let mut places = all;
        places.subtract(&own);
        let cluster = &mut self.cluster;
        (cluster.up, cluster.idle) = (own.clone(), own.clone());
        cluster.absent = Some(Box::new(AbsentNodes {
            own,
            away: places.clone(),
            places,
            lent: Vec::new(),
            borrowed: Vec::new(),
            broken: NodeSet::empty(cluster.nodes),
        }));
        self.plan_loans();
    }

    /// How many nodes the plan leaves to whoever wants them throughout `[t, t + length)`, by `t`
    /// from now until `until`: each number holds until the next instant. Borrowed nodes count where
    /// `own` is false. Empty where the policy cannot lend.
    #[must_use]
    pub fn room(&mut self, length: Seconds, until: Seconds, own: bool) -> Vec<(Seconds, Nodes)> {
        let mut among = NodeSet::full(self.cluster.nodes);
        if let Some(absent) = self.cluster.absent.as_ref().filter(|_| own) {
            among = absent.own.clone();
        }
        let Some(lender) = self.policy.node_lender() else {
            return Vec::new();
        };
        lender.room(&self.cluster, &among, length, until)
    }

    /// How many nodes of others it has a place for that is promised to nobody.
    #[must_use]
    pub fn empty_places(&self) -> Nodes {
        let absent = self.cluster.absent.as_ref();
        absent.map_or(Nodes(0), |absent| {
            absent.empty_places(self.cluster.now).count()
        })
    }

    /// Gives away the lowest-numbered of its own nodes that the plan leaves free on `[start, end)`,
    /// and says which; `None` where there are not so many.
    pub fn lend(&mut self, nodes: Nodes, start: Seconds, end: Seconds) -> Option<NodeSet> {
        let lender = self.policy.node_lender()?;
        let mut free = lender.free_nodes(&self.cluster, start, end);
        let absent = self.cluster.absent.as_mut()?;
        free.intersect_with(&absent.own);
        let nodes = free.lowest(nodes)?;
        absent.lent.push(Loan {
            nodes: nodes.clone(),
            start,
            end,
        });
        self.cluster.schedule_loan(&nodes, start, end);
        self.plan_loans();
        Some(nodes)
    }

    /// Has `nodes` nodes of another cluster on `[start, end)`, and says in which places; `None`
    /// where too few of these are empty. What happens to the nodes is injected as events of the
    /// places.
    pub fn borrow_nodes(&mut self, nodes: Nodes, start: Seconds, end: Seconds) -> Option<NodeSet> {
        let now = self.cluster.now;
        let absent = self.cluster.absent.as_mut()?;
        let places = absent.empty_places(now).lowest(nodes)?;
        // Others stood there before.
        absent.broken.subtract(&places);
        absent.borrowed.push(Loan {
            nodes: places.clone(),
            start,
            end,
        });
        self.cluster.schedule_loan(&places, start, end);
        self.plan_loans();
        Some(places)
    }

    /// Ends a loan that was agreed in this instant, as if nobody had ever spoken of it.
    pub fn revoke_loan(&mut self, nodes: &NodeSet, start: Seconds) {
        let Some(absent) = self.cluster.absent.as_mut() else {
            return;
        };
        for loans in [&mut absent.lent, &mut absent.borrowed] {
            loans.retain(|loan| (&loan.nodes, loan.start) != (nodes, start));
        }
        for node in nodes.iter() {
            self.come_or_go(node);
        }
        self.plan_loans();
    }

    /// Tells the policy which nodes are not here when.
    fn plan_loans(&mut self) {
        let now = self.cluster.now;
        if let (Some(absent), Some(lender)) = (&mut self.cluster.absent, self.policy.node_lender())
        {
            absent.forget_before(now);
            lender.plan_without(absent.absences(now));
        }
    }

    /// A node comes or goes, if a loan begins or ends now.
    pub(super) fn come_or_go(&mut self, node: NodeIndex) {
        let cluster = &mut self.cluster;
        let Some(absent) = &mut cluster.absent else {
            return;
        };
        let is_away = absent.is_away(node, cluster.now);
        if is_away == absent.away.contains(node) {
            return;
        }
        if is_away {
            absent.away.insert(node);
            if cluster.up.contains(node) {
                self.fail(node);
            } else {
                absent.broken.insert(node);
            }
        } else {
            absent.away.remove(node);
            if absent.broken.contains(node) {
                absent.broken.remove(node);
            } else {
                self.repair(node);
            }
        }
    }
}

impl Cluster {
    fn schedule_loan(&mut self, nodes: &NodeSet, start: Seconds, end: Seconds) {
        for node in nodes.iter() {
            for time in [start, end] {
                self.schedule(time, Event::Comes(node));
                self.schedule(time, Event::Goes(node));
            }
        }
    }

    /// Takes note of a node that breaks or is repaired while it is away; whether it is.
    pub(super) fn is_away(&mut self, node: NodeIndex, is_up: bool) -> bool {
        let Some(absent) = &mut self.absent else {
            return false;
        };
        let is_away = absent.away.contains(node);
        if is_away && is_up {
            absent.broken.remove(node);
        } else if is_away {
            absent.broken.insert(node);
        }
        is_away
    }

    /// Its own nodes: all but the places of others.
    pub(super) fn own_nodes(&self) -> Nodes {
        let absent = self.absent.as_ref();
        absent.map_or(self.nodes, |absent| absent.own.count())
    }
}
