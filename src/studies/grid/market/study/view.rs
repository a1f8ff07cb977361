//! A market: its clusters beside each other, with what each of them earned, paid, overbooked and
//! broke.

use crate::co_reservation::study::stored::cluster_values;
use crate::co_reservation::study::view::clusters::{Clusters, OfClusters};
use bookahead_core::scheduling::measures::{Measure, QuantityKind, Topic, measure};
use bookahead_lab::store::StoreError;
use bookahead_report::views::{Reported, View, ViewContent};

/// What is shown of the clusters, in the order of the table. None of it is stored as a measure: all
/// follows from the rows of the clusters.
#[rustfmt::skip]
const MEASURES: &[Measure] = &[
    measure("market_cluster_optimism", "", "Stated ÷ own PoF", 2, Topic::Clusters).of_kind(QuantityKind::Mean),
    measure("market_cluster_jobs", "", "Promises", 1, Topic::Clusters),
    measure("market_cluster_revenue", "", "Earned (coins)", 1, Topic::Clusters).of_kind(QuantityKind::Signed),
    measure("market_cluster_penalties", "", "Penalties (coins)", 1, Topic::Clusters).of_kind(QuantityKind::Signed),
    measure("market_cluster_gain", "", "Gain (coins)", 1, Topic::Clusters).of_kind(QuantityKind::Signed),
    measure("market_cluster_overbooked_percent", "%", "Overbooked (% of the jobs decided there)", 2, Topic::Clusters),
    measure("market_cluster_promised_percent", "%", "PoF that was stated, mean (%)", 2, Topic::Clusters),
    measure("market_cluster_broken_percent", "%", "Broken promises (%)", 2, Topic::Clusters),
];

/// Whether a job was overbooked is known where its outcome was kept, and counts at the cluster that
/// held it at its end.
macro_rules! values {
    () => {
        "(SELECT simulation, cluster, 'market_cluster_optimism' AS measure, '' AS class, optimism AS value
            FROM v_market_cluster
        UNION ALL SELECT simulation, cluster, 'market_cluster_jobs', '', 1.0 * jobs FROM v_market_cluster
        UNION ALL SELECT simulation, cluster, 'market_cluster_revenue', '', revenue FROM v_market_cluster
        UNION ALL SELECT simulation, cluster, 'market_cluster_penalties', '', revenue - gain FROM v_market_cluster
        UNION ALL SELECT simulation, cluster, 'market_cluster_gain', '', gain FROM v_market_cluster
        UNION ALL SELECT d.simulation, d.cluster, 'market_cluster_overbooked_percent', '',
            100.0 * sum(coalesce(o.overbooked, 0)) / count(*)
            FROM market_delegation d JOIN job_outcome o USING (simulation, job)
            WHERE d.verdict IS NOT NULL GROUP BY d.simulation, d.cluster
        UNION ALL SELECT simulation, cluster, 'market_cluster_promised_percent', '', 100.0 * promised / jobs
            FROM v_market_cluster WHERE jobs > 0
        UNION ALL SELECT simulation, cluster, 'market_cluster_broken_percent', '', 100.0 * broken / jobs
            FROM v_market_cluster WHERE jobs > 0)"
    };
}

/// The values of the clusters of every simulation.
const VALUES: &str = values!();

/// What is shown of the clusters of a market.
const CLUSTERS: OfClusters = OfClusters {
    measures: MEASURES,
    drawn: &[
        "market_cluster_gain",
        "market_cluster_promised_percent",
        "market_cluster_broken_percent",
    ],
    table: ("market-by-cluster", "By cluster"),
    note: " Promises are those that were decided, with rests of jobs that other clusters could not \
        finish. Earned are the prices of kept promises, less what was paid for rests; penalties are \
        less what sellers of rests owed; gain is the former less the latter. Overbooked is known \
        where the outcomes of jobs were kept.",
    source: concat!(
        "(SELECT p.run, p.axes, p.replication, c.cluster, c.measure, c.class, c.value FROM v_point p JOIN ",
        values!(),
        " c USING (simulation))"
    ),
};

/// The view of the study.
pub struct Market;

impl View for Market {
    fn show(&self, run: &Reported<'_>, shown: &mut ViewContent) -> Result<(), StoreError> {
        let values = cluster_values(run.store, run.run.id, VALUES)?;
        let clusters = Clusters::new(&CLUSTERS, run, &values);
        if !values.is_empty() {
            shown.figures.extend(clusters.figures());
            shown.tables.extend(clusters.table());
        }
        Ok(())
    }
}
