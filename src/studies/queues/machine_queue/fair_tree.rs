//! The fair tree: users are ranked level by level, by how little their accounts have used of their
//! shares.
//!
//! Slurm's documentation says what it computes (<https://slurm.schedmd.com/fair_tree.html>).

use super::description::QueueMachine;

/// Accounts, and below them the users of each, with what is the same for the whole simulation.
/// Nodes are accounts first, as the machine has them, then users.
#[derive(Debug)]
pub(super) struct FairTree {
    nodes: Vec<Node>,
    /// Accounts come before it.
    first_user: usize,
    /// Nodes without an account above, of those that count.
    top: Vec<usize>,
}

#[derive(Debug)]
struct Node {
    /// The account above.
    above: Option<usize>,
    shares: f64,
    /// Shares of all below the same account.
    of_siblings: f64,
    /// Users below, and accounts that have users somewhere below.
    below: Vec<usize>,
}

impl FairTree {
    /// Accounts with the account above each and their shares, then users in the same form.
    pub(super) fn new(
        accounts: &[(Option<usize>, f64)],
        users: impl IntoIterator<Item = (Option<usize>, f64)>,
    ) -> Self {
        let mut nodes: Vec<Node> = (accounts.iter().copied().chain(users))
            .map(|(above, shares)| Node {
                above,
                shares,
                of_siblings: 0.0,
                below: Vec::new(),
            })
            .collect();
        let mut all_at_top = 0.0;
        let mut below = vec![0.0; accounts.len()];
        for node in &nodes {
            *node
                .above
                .map_or(&mut all_at_top, |above| &mut below[above]) += node.shares;
        }
        let first_user = accounts.len();
        let mut counts = vec![false; first_user];
        counts.resize(nodes.len(), true);
        for user in first_user..nodes.len() {
            let mut above = nodes[user].above;
            while let Some(account) = above {
                counts[account] = true;
                above = nodes[account].above;
            }
        }
        let mut top = Vec::new();
        for node in 0..nodes.len() {
            let above = nodes[node].above;
            nodes[node].of_siblings = above.map_or(all_at_top, |above| below[above]);
            if counts[node] {
                let place = above.map_or(&mut top, |above| &mut nodes[above].below);
                place.push(node);
            }
        }
        Self {
            nodes,
            first_user,
            top,
        }
    }

    /// The accounts of a machine, with these users: the account of each. Users of an account have
    /// equal shares of it.
    pub(super) fn of(machine: &QueueMachine, users: impl IntoIterator<Item = usize>) -> Self {
        let accounts: Vec<(Option<usize>, f64)> = (machine.accounts.iter())
            .map(|account| (account.parent.map(|parent| parent.0), account.shares))
            .collect();
        Self::new(
            &accounts,
            users.into_iter().map(|account| (Some(account), 1.0)),
        )
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// A node and all accounts above it.
    pub(super) fn path(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(node), |node| self.nodes[*node].above)
    }

    /// Writes the factor of each user: its rank from below, as a part of all users. `used` is the
    /// use of each node, for an account that of all below it; `in_all` is the use of all users.
    pub(super) fn factors(&self, used: &[f64], in_all: f64, factors: &mut [f64]) {
        let levels = (self.nodes.iter().zip(used))
            .map(|(node, used_here)| {
                let used_by_siblings = node.above.map_or(in_all, |above| used[above]);
                node.level(*used_here, used_by_siblings)
            })
            .collect();
        let users = self.nodes.len() - self.first_user;
        let mut ranking = Ranking {
            tree: self,
            levels,
            rank: users,
            next_rank: users,
            factors,
        };
        ranking.visit(self.top.clone(), false);
    }
}

impl Node {
    /// S / U: the part of its siblings' shares that it has by the part of their use that was its
    /// own. Above 1 it is served too little.
    fn level(&self, used: f64, used_by_siblings: f64) -> f64 {
        if self.shares <= 0.0 {
            0.0
        } else if used <= 0.0 {
            f64::INFINITY
        } else {
            // One division at the end: whole numbers that are in the same proportion give the same
            // level, so ties are found.
            self.shares * used_by_siblings / (self.of_siblings * used)
        }
    }
}

/// One walk through the tree.
struct Ranking<'a> {
    tree: &'a FairTree,
    levels: Vec<f64>,
    /// The rank of the user last seen.
    rank: usize,
    /// The rank of the next user that ties with no other.
    next_rank: usize,
    factors: &'a mut [f64],
}

impl Ranking<'_> {
    /// Goes through siblings, or through those below accounts that tie, from the highest level to
    /// the lowest. Equal users have the same rank; of equal accounts all below are siblings; a user
    /// that equals an account has the rank of the highest below it.
    fn visit(&mut self, mut siblings: Vec<usize>, mut ties_with_last: bool) {
        let is_account = |node: usize| node < self.tree.first_user;
        siblings.sort_by(|one, other| {
            let levels = self.levels[*other].total_cmp(&self.levels[*one]);
            levels.then(is_account(*one).cmp(&is_account(*other)))
        });
        let mut last = None;
        while let Some(&first) = siblings.first() {
            let level = self.levels[first];
            let equals = |node: &usize| {
                self.levels[*node] == level && is_account(*node) == is_account(first)
            };
            let count = siblings.iter().take_while(|node| equals(node)).count();
            ties_with_last |= last == Some(level);
            let equal = siblings.drain(..count);
            if is_account(first) {
                let below = equal.flat_map(|node| self.tree.nodes[node].below.iter().copied());
                let below = below.collect();
                self.visit(below, ties_with_last);
            } else {
                if !ties_with_last {
                    self.rank = self.next_rank;
                }
                let users = self.tree.nodes.len() - self.tree.first_user;
                for user in equal {
                    self.factors[user] = self.rank as f64 / users as f64;
                }
                self.next_rank -= count;
            }
            ties_with_last = false;
            last = Some(level);
        }
    }
}
