//! The findings of a verification, and what could be compared.

/// What looking through a store found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Simulations that are done and whose rows were compared with their digest.
    pub simulations: u64,
    /// Simulations that are done and have no digest, because an older version stored them: only
    /// their rows were counted.
    pub simulations_without_digest: u64,
    /// Runs whose places and axes were compared with their digest.
    pub runs: u64,
    /// Runs without a digest: they have not ended, were killed, or an older version stored them.
    pub runs_without_digest: u64,
    /// Workloads, and other rows that simulations share, that were compared with their identity.
    pub shared: u64,
    /// What is not as it was written.
    pub findings: Vec<Finding>,
}

impl Verification {
    /// What was compared, and what could not be.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut text = format!(
            "{} simulations, {} runs and {} workloads are compared with their digests",
            self.simulations, self.runs, self.shared
        );
        let (simulations, runs) = (self.simulations_without_digest, self.runs_without_digest);
        if simulations > 0 {
            text.push_str(&format!(
                "; {simulations} simulations are not verified: an older version stored them without a digest"
            ));
        }
        if runs > 0 {
            text.push_str(&format!(
                "; {runs} runs are not verified: they have no digest before they end, nor if an older version stored them"
            ));
        }
        text
    }
}

/// Something in a store that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    /// SQLite's own check.
    #[error("the file is damaged: {said}")]
    File {
        /// What SQLite said.
        said: String,
    },
    /// Rows that refer to nothing.
    #[error("{rows} rows of `{table}` refer to rows of `{parent}` that are not there")]
    Orphans {
        /// Their table.
        table: String,
        /// The table to which they refer.
        parent: String,
        /// How many.
        rows: u64,
    },
    /// Another number of rows than there should be.
    #[error("`{table}` has {found} rows of {of}, and {expected} were written")]
    Count {
        /// The table.
        table: String,
        /// Of what the rows are.
        of: String,
        /// How many there should be.
        expected: i64,
        /// How many there are.
        found: i64,
    },
    /// Rows that say something else than was written.
    #[error("{of} is not as it was written: {what}")]
    Changed {
        /// Of what.
        of: String,
        /// How that was seen.
        what: &'static str,
    },
}
