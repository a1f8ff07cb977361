//! The clusters of a market, what they quoted, what was delegated to them, and what moved.

use rusqlite::params;

use crate::market::{Delegation, MarketRun, Move, ProviderResult, Quote};
use bookahead_lab::tables::{
    Definition, ExportKind, ExportSource, Outcomes, RowWriter, Rows, View,
};

/// The tables.
pub(super) const TABLES: Definition = Definition {
    sql: SQL,
    results: &[
        "market_move",
        "market_delegation",
        "market_quote",
        "market_cluster",
    ],
    views: VIEWS,
    exports: EXPORTS,
    outcomes: Outcomes {
        algorithm: Some("m.spec ->> '$.study.rule'"),
        clusters: Some("(SELECT count(*) FROM market_cluster c WHERE c.simulation = m.id)"),
        // A job whose rest moved stays that of the cluster that the customer has a contract with.
        cluster_of_job: Some(
            "(SELECT d.cluster FROM market_delegation d
              WHERE d.simulation = j.simulation AND d.job = j.job AND d.buyer IS NULL)",
        ),
        penalty_ratio: Some("m.spec ->> '$.study.penalty'"),
        nodes_fail: true,
        machines: Some(
            "SELECT c.simulation, c.cluster, 'cluster ' || c.cluster, m.spec ->> '$.workload.nodes'
             FROM market_cluster c JOIN simulation m ON m.id = c.simulation",
        ),
        // A rest that moved is held where it went.
        held: Some(
            "SELECT d.simulation, d.cluster, 'jobs', d.start, d.\"end\", j.nodes FROM market_delegation d
             JOIN simulation m ON m.id = d.simulation JOIN job j ON j.workload = m.workload AND j.job = d.job",
        ),
        ..Outcomes::NONE
    },
    ..Definition::NONE
};

/// What a market leaves beside its jobs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarketRows {
    /// The clusters.
    pub clusters: Vec<ProviderResult>,
    /// What they quoted; empty unless outcomes were asked for.
    pub quotes: Vec<Quote>,
    /// What was delegated; empty unless outcomes were asked for.
    pub delegations: Vec<Delegation>,
    /// What moved; empty unless outcomes were asked for.
    pub moves: Vec<Move>,
}

impl MarketRows {
    /// The rows of a run.
    #[must_use]
    pub fn of(run: MarketRun, keep_outcomes: bool) -> Self {
        let clusters = run.providers.into_iter().map(|cluster| ProviderResult {
            // Those of jobs stand with what was delegated, and beliefs are measures.
            outcomes: Vec::new(),
            believed: Vec::new(),
            ..cluster
        });
        Self {
            clusters: clusters.collect(),
            quotes: run.quotes,
            delegations: run.delegations,
            moves: if keep_outcomes { run.moves } else { Vec::new() },
        }
    }
}

impl Rows for MarketRows {
    fn problem(&self) -> Option<String> {
        let sums = self
            .clusters
            .iter()
            .map(|it| it.promised + it.revenue + it.gain);
        let quotes = self.quotes.iter().map(|it| it.pof + it.price + it.score);
        let delegations = self.delegations.iter().map(|it| it.fee + it.price + it.pof);
        let prices = self.moves.iter().map(|it| it.price);
        let mut numbers = sums.chain(quotes).chain(delegations).chain(prices);
        let is_wrong = numbers.any(|number| !number.is_finite());
        is_wrong.then(|| "an amount or a probability of a market is not a number".to_owned())
    }

    fn strip(&mut self, _replication: u32) {
        self.quotes = Vec::new();
        self.delegations = Vec::new();
        self.moves = Vec::new();
    }

    fn write(&self, writer: &RowWriter<'_>, _replication: u32) -> rusqlite::Result<u64> {
        let simulation = writer.simulation();
        let mut insert = writer.table("market_cluster")?;
        for (number, cluster) in self.clusters.iter().enumerate() {
            insert.insert(params![
                simulation,
                number as i64,
                cluster.optimism,
                cluster.jobs as i64,
                cluster.rests as i64,
                cluster.broken as i64,
                cluster.promised,
                cluster.revenue,
                cluster.gain
            ])?;
        }
        let mut insert = writer.table("market_quote")?;
        for quote in &self.quotes {
            insert.insert(params![
                simulation,
                quote.job.0,
                quote.cluster as i64,
                quote.start.0,
                quote.end.0,
                quote.pof,
                quote.price,
                quote.score,
                quote.is_taken
            ])?;
        }
        let mut insert = writer.table("market_delegation")?;
        for delegation in &self.delegations {
            let buyer = delegation.buyer;
            let outcome = delegation.outcome.as_ref();
            insert.insert(params![
                simulation,
                delegation.cluster as i64,
                delegation.number,
                delegation.job.0,
                buyer.map(|(cluster, _)| cluster as i64),
                buyer.map(|(_, number)| number),
                delegation.fee,
                delegation.price,
                delegation.pof,
                outcome.map(|outcome| outcome.verdict as i64),
                outcome
                    .and_then(|outcome| outcome.start)
                    .map(|start| start.0),
                outcome.and_then(|outcome| outcome.end).map(|end| end.0)
            ])?;
        }
        let mut insert = writer.table("market_move")?;
        for (number, moved) in self.moves.iter().enumerate() {
            insert.insert(params![
                simulation,
                number as i64,
                moved.time.0,
                moved.transfer.0,
                moved.from.0 as i64,
                moved.from.1.0,
                moved.to.0 as i64,
                moved.to.1.0,
                moved.saved.0,
                moved.price
            ])?;
        }
        let rows = self.clusters.len() + self.quotes.len();
        Ok((rows + self.delegations.len() + self.moves.len()) as u64)
    }
}

const SQL: &str = "
CREATE TABLE market_cluster (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    cluster INTEGER NOT NULL,
    optimism REAL NOT NULL,
    jobs INTEGER NOT NULL,
    rests INTEGER NOT NULL,
    broken INTEGER NOT NULL,
    promised REAL NOT NULL,
    revenue REAL NOT NULL,
    gain REAL NOT NULL,
    PRIMARY KEY (simulation, cluster)
) STRICT, WITHOUT ROWID;

CREATE TABLE market_quote (
    simulation INTEGER NOT NULL,
    job INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    start INTEGER NOT NULL,
    \"end\" INTEGER NOT NULL,
    pof REAL NOT NULL,
    price REAL NOT NULL,
    score REAL NOT NULL,
    taken INTEGER NOT NULL CHECK (taken IN (0, 1)),
    PRIMARY KEY (simulation, job, cluster),
    FOREIGN KEY (simulation, cluster) REFERENCES market_cluster (simulation, cluster)
) STRICT, WITHOUT ROWID;

CREATE TABLE market_delegation (
    simulation INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    number INTEGER NOT NULL,
    job INTEGER NOT NULL,
    buyer INTEGER,
    buyer_number INTEGER,
    fee REAL NOT NULL,
    price REAL NOT NULL,
    pof REAL NOT NULL,
    verdict INTEGER REFERENCES verdict (code),
    start INTEGER,
    \"end\" INTEGER,
    PRIMARY KEY (simulation, cluster, number),
    FOREIGN KEY (simulation, cluster) REFERENCES market_cluster (simulation, cluster)
) STRICT, WITHOUT ROWID;

CREATE TABLE market_move (
    simulation INTEGER NOT NULL,
    move INTEGER NOT NULL,
    time INTEGER NOT NULL,
    transfer INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    number INTEGER NOT NULL,
    to_cluster INTEGER NOT NULL,
    to_number INTEGER NOT NULL,
    saved INTEGER NOT NULL,
    price REAL NOT NULL,
    PRIMARY KEY (simulation, move),
    FOREIGN KEY (simulation, cluster, number) REFERENCES market_delegation (simulation, cluster, number)
) STRICT, WITHOUT ROWID;
";

const VIEWS: &[View] = &[
    (
        "v_market_cluster",
        "SELECT c.simulation, c.cluster, c.optimism, c.jobs, c.rests, c.broken, c.promised,
            c.revenue / 3600.0 AS revenue, c.gain / 3600.0 AS gain FROM market_cluster c",
    ),
    (
        "v_market_quote",
        "SELECT q.simulation, q.job, q.cluster, q.start, q.\"end\", q.pof, q.price / 3600.0 AS price,
            q.score / 3600.0 AS score, q.taken FROM market_quote q",
    ),
    (
        "v_market_delegation",
        "SELECT d.simulation, d.cluster, d.number, d.job, d.buyer, d.buyer_number, d.fee / 3600.0 AS fee,
            d.price / 3600.0 AS price, d.pof, v.name AS verdict, d.start, d.\"end\" FROM market_delegation d
         LEFT JOIN verdict v ON v.code = d.verdict",
    ),
    (
        "v_market_move",
        "SELECT x.simulation, x.move, x.time, x.transfer, x.cluster, x.number, x.to_cluster, x.to_number, x.saved,
            x.price / 3600.0 AS price, d.job FROM market_move x
         JOIN market_delegation d USING (simulation, cluster, number)",
    ),
];

const EXPORTS: &[ExportKind] = &[
    ExportKind {
        name: "market-clusters",
        about: "One row for each cluster of a market",
        of_outcomes: false,
        source: ExportSource::Simulations("v_market_cluster"),
        columns: "simulation, cluster, optimism number, jobs, rests, broken, promised number, revenue number, gain number",
    },
    ExportKind {
        name: "market-quotes",
        about: "One row for each quote that a cluster of a market gave for a job",
        of_outcomes: true,
        source: ExportSource::Simulations("v_market_quote"),
        columns: "simulation, job, cluster, start, end, pof number, price number, score number, taken flag",
    },
    ExportKind {
        name: "market-delegations",
        about: "One row for each job, or rest of one, that a cluster of a market took",
        of_outcomes: true,
        source: ExportSource::Simulations("v_market_delegation"),
        columns: "simulation, cluster, number, job, buyer, buyer_number, fee number, price number, pof number, verdict text, start, end",
    },
    ExportKind {
        name: "market-moves",
        about: "One row for each rest of a job that moved to another cluster of a market",
        of_outcomes: true,
        source: ExportSource::Simulations("v_market_move"),
        columns: "simulation, move, time, transfer, cluster, number, to_cluster, to_number, saved, price number, job",
    },
];
