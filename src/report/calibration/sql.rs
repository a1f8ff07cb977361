//! The queries that give the numbers of the tables and figures about calibration. A test runs them
//! and compares.

use super::counts::FEWEST_JOBS;
use crate::sql::this_run;

/// What a query is about.
pub(super) struct Question<'q> {
    pub(super) configuration_hash: &'q str,
    /// What has the counts.
    pub(super) source: &'q str,
    /// Keys of the axes that distinguish rows, beside the strategy.
    pub(super) keys: &'q [&'q str],
    /// Conditions on the axes, each with its `AND`.
    pub(super) condition: &'q str,
}

impl Question<'_> {
    /// The simulations that count, each once for every row that it belongs to.
    fn counted(&self) -> String {
        let keys: String = self
            .keys
            .iter()
            .map(|key| format!(", axes ->> '$.\"{key}\"' AS \"{key}\""))
            .collect();
        format!(
            "counted AS (
    SELECT DISTINCT simulation, replication{keys}
    FROM v_point WHERE state = 'done' AND run = {}{}
)",
            this_run(self.configuration_hash),
            self.condition
        )
    }

    /// `strategy, "estimates.classes"`.
    fn columns(&self) -> String {
        let keys: String = self.keys.iter().map(|key| format!(", \"{key}\"")).collect();
        format!("strategy{keys}")
    }

    /// Scores of every group.
    pub(super) fn scores(&self) -> String {
        let (counted, columns, source) = (self.counted(), self.columns(), self.source);
        format!(
            "WITH {counted},
bins AS (
    SELECT {columns}, bin, sum(jobs) AS jobs, sum(failed) AS failed, sum(failed_overbooked) AS killed,
        sum(pof_sum) AS pof, sum(brier_sum) AS brier
    FROM {source} JOIN counted USING (simulation)
    GROUP BY {columns}, bin
),
sums AS (
    SELECT {columns}, sum(jobs) AS jobs, sum(pof) / sum(jobs) AS predicted, 1.0 * sum(failed) / sum(jobs) AS failed,
        1.0 * sum(killed) / sum(jobs) AS killed, sum(brier) / sum(jobs) AS brier,
        sum(abs(pof - failed)) / sum(jobs) AS calibration_error,
        max(CASE WHEN jobs >= {FEWEST_JOBS} THEN abs(pof - failed) / jobs END) AS largest_error
    FROM bins GROUP BY {columns}
)
SELECT *, failed * (1.0 - failed) AS brier_reference, 1.0 - brier / nullif(failed * (1.0 - failed), 0.0) AS skill,
    100.0 * calibration_error / nullif(failed, 0.0) AS relative_error_percent
FROM sums ORDER BY {columns};"
        )
    }

    /// Predicted and realised share of every bin of every group; the standard error of the realised
    /// one is the root of its variance.
    pub(super) fn bins(&self) -> String {
        self.realised(
            ", bin",
            ", (bin - 1) / 20.0 AS pof_from, bin / 20.0 AS pof_to",
        )
    }

    /// The same without bins.
    pub(super) fn shares(&self) -> String {
        self.realised("", "")
    }

    fn realised(&self, bin: &str, edges: &str) -> String {
        let (counted, columns, source) = (self.counted(), self.columns(), self.source);
        format!(
            "WITH {counted},
batteries AS (
    SELECT {columns}{bin}, replication, sum(jobs) AS jobs, sum(failed) AS failed, sum(pof_sum) AS pof
    FROM {source} JOIN counted USING (simulation)
    GROUP BY {columns}{bin}, replication
),
shares AS (
    SELECT *, 1.0 * sum(failed) OVER same / sum(jobs) OVER same AS share
    FROM batteries WINDOW same AS (PARTITION BY {columns}{bin})
)
SELECT {columns}{edges}, sum(jobs) AS jobs, count(*) AS batteries, sum(pof) / sum(jobs) AS predicted,
    1.0 * sum(failed) / sum(jobs) AS realised,
    count(*) / (count(*) - 1.0) * sum((failed - share * jobs) * (failed - share * jobs)) / sum(jobs) / sum(jobs) AS variance
FROM shares GROUP BY {columns}{bin} ORDER BY {columns}{bin};"
        )
    }
}
