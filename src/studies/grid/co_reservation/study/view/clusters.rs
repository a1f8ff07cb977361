//! A comparison of clusters: the measures of each, and for some of them by class of jobs or parts.

use super::MOST_CLUSTERS;
use crate::co_reservation::evaluation::{DURATION_CLASSES, SIZE_CLASSES};
use crate::co_reservation::study::stored::ClusterValues;
use bookahead_core::scheduling::measures::{Measure, QuantityKind};
use bookahead_lab::store::PointColumns;
use bookahead_report::analysis::{Analysis, Combination};
use bookahead_report::figure::{Figure, Marks, Scale, ScaleKind, Section, Series};
use bookahead_report::plots::situations::{Situation, situations};
use bookahead_report::plots::{condition, file_name, mark, titled, varying};
use bookahead_report::sql::this_run;
use bookahead_report::statistics::{Estimate, INTERVALS};
use bookahead_report::table::short;
use bookahead_report::table::{Cell, Column, Table};
use bookahead_report::views::Reported;

/// More situations than this are left to the table and to SQL.
const MOST_SITUATIONS: usize = 4;
/// Combinations that are drawn by class: each takes a figure for each measure.
const MOST_BY_CLASS: usize = 3;
/// Rows of the table.
const MOST_ROWS: usize = 500;

/// Figures over more clusters than this cannot be read; the table has them.
const MOST_DRAWN: u16 = 64;

/// What is shown of the clusters of a study.
pub(crate) struct OfClusters {
    /// Its measures, in the order of the table. Those that begin with `class_` are by class.
    pub(crate) measures: &'static [Measure],
    /// What is drawn over the clusters; the others stand in the table.
    pub(crate) drawn: &'static [&'static str],
    /// The name of the table, and its title.
    pub(crate) table: (&'static str, &'static str),
    /// What a reader of the table must know, with a blank before it.
    pub(crate) note: &'static str,
    /// The values of all points: a view, or a query in brackets, with the columns of
    /// `v_cluster_measure`.
    pub(crate) source: &'static str,
}

const NOTE: &str = "Means over replications with 95 % intervals. Clusters are counted from 0.";

/// The values of clusters with what is needed to fold them.
pub(crate) struct Clusters<'a> {
    shown: &'a OfClusters,
    values: &'a ClusterValues,
    points: &'a PointColumns,
    analysis: &'a Analysis,
    configuration_hash: &'a str,
}

impl<'a> Clusters<'a> {
    pub(crate) fn new(
        shown: &'a OfClusters,
        run: &'a Reported<'_>,
        values: &'a ClusterValues,
    ) -> Self {
        Self {
            shown,
            values,
            points: run.points,
            analysis: run.analysis,
            configuration_hash: run.hash(),
        }
    }

    fn estimate(
        &self,
        combination: &Combination,
        cluster: u16,
        measure: &str,
        class: &str,
    ) -> Option<Estimate> {
        let values: Vec<f64> = (combination.simulations(self.points).into_iter())
            .filter_map(|simulation| self.values.get(simulation, cluster, measure, class))
            .collect();
        let known = self
            .shown
            .measures
            .iter()
            .find(|known| known.name == measure);
        Estimate::of_kind(
            &values,
            known.map_or(QuantityKind::Signed, |known| known.kind),
        )
    }

    /// Bars over clusters and over classes.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let of_clusters = self.shown;
        let situations = situations(self.analysis, MOST_SITUATIONS);
        let mut figures: Vec<Figure> = of_clusters
            .measures
            .iter()
            .filter(|measure| of_clusters.drawn.contains(&measure.name))
            .flat_map(|measure| situations.iter().map(move |situation| (measure, situation)))
            .filter_map(|(measure, situation)| self.over_clusters(measure, situation))
            .collect();
        let by_class: Vec<&Measure> = of_clusters
            .measures
            .iter()
            .filter(|measure| measure.name.starts_with("class_"))
            .collect();
        for (number, combination) in self
            .analysis
            .combinations
            .iter()
            .take(MOST_BY_CLASS)
            .enumerate()
        {
            let drawn = by_class
                .iter()
                .filter_map(|measure| self.over_classes(measure, combination, number));
            figures.extend(drawn);
        }
        figures
    }

    fn over_clusters(&self, measure: &Measure, situation: &Situation<'_>) -> Option<Figure> {
        let clusters = self.values.clusters();
        if clusters > MOST_DRAWN {
            return None;
        }
        let series: Vec<Series> = situation
            .members
            .iter()
            .map(|member| {
                Series::new(
                    member.label.clone(),
                    member.rank,
                    Marks::Bars(
                        (0..clusters)
                            .filter_map(|cluster| {
                                let estimate =
                                    self.estimate(member.combination, cluster, measure.name, "")?;
                                Some(mark(f64::from(cluster), &estimate))
                            })
                            .collect(),
                    ),
                )
            })
            .filter(|series| has_marks(&series.marks))
            .collect();
        (!series.is_empty()).then(|| Figure {
            name: format!("{}-by-cluster{}", file_name(measure.name), situation.suffix),
            section: Section::Clusters,
            title: titled(&format!("{} by cluster", measure.title), &situation.given),
            given: situation.given.clone(),
            x: Scale {
                title: "cluster".to_owned(),
                kind: ScaleKind::Categories((0..clusters).map(|id| id.to_string()).collect()),
            },
            y: Scale::linear(measure.title),
            series,
            note: NOTE.to_owned(),
            sql: self.sql(measure, "cluster", &condition(&situation.given)),
        })
    }

    fn over_classes(
        &self,
        measure: &Measure,
        combination: &Combination,
        number: usize,
    ) -> Option<Figure> {
        let classes: Vec<&str> = if measure.name.ends_with("by_duration") {
            DURATION_CLASSES.iter().map(|(name, _)| *name).collect()
        } else {
            SIZE_CLASSES.iter().map(|(name, _)| *name).collect()
        };
        let series: Vec<Series> = (0..self.values.clusters().min(MOST_CLUSTERS))
            .map(|cluster| {
                Series::new(
                    format!("cluster {cluster}"),
                    usize::from(cluster),
                    Marks::Bars(
                        classes
                            .iter()
                            .enumerate()
                            .filter_map(|(place, class)| {
                                let estimate =
                                    self.estimate(combination, cluster, measure.name, class)?;
                                Some(mark(place as f64, &estimate))
                            })
                            .collect(),
                    ),
                )
            })
            .filter(|series| has_marks(&series.marks))
            .collect();
        let given = varying(self.analysis, combination);
        (!series.is_empty()).then(|| Figure {
            name: format!("{}-{}", file_name(measure.name), number + 1),
            section: Section::Clusters,
            title: titled(measure.title, &given),
            x: Scale {
                title: if classes.len() == DURATION_CLASSES.len() {
                    "duration".to_owned()
                } else {
                    "CPUs".to_owned()
                },
                kind: ScaleKind::Categories(classes.iter().map(|&name| name.to_owned()).collect()),
            },
            y: Scale::linear(measure.title),
            series,
            note: format!(
                "{NOTE} By class the first {MOST_BY_CLASS} combinations are drawn, with at most {MOST_CLUSTERS} clusters; the query \
                 knows the others."
            ),
            sql: self.sql(
                measure,
                "cluster, class",
                &format!("\n    AND cluster < {MOST_CLUSTERS}{}", condition(&given)),
            ),
            given,
        })
    }

    fn sql(&self, measure: &Measure, by: &str, and: &str) -> String {
        format!(
            "SELECT axes, {by}, count(value) AS n, avg(value) AS mean,
    sum((value - centre) * (value - centre)) / (count(value) - 1) AS variance
FROM (SELECT *, avg(value) OVER (PARTITION BY axes, {by}) AS centre
      FROM {} WHERE run = {} AND measure = '{}'{and})
GROUP BY axes, {by}
ORDER BY axes, {by};",
            self.shown.source,
            this_run(self.configuration_hash),
            measure.name
        )
    }

    /// Every combination and cluster with every measure that was taken and is not by class; `None`
    /// where there are no clusters.
    pub(crate) fn table(&self) -> Option<Table> {
        let clusters = self.values.clusters();
        let of_clusters = self.shown;
        let measures: Vec<&Measure> = of_clusters
            .measures
            .iter()
            .filter(|measure| !measure.name.starts_with("class_") && self.values.has(measure.name))
            .collect();
        let axes: Vec<usize> = (0..self.analysis.axes.len())
            .filter(|axis| self.analysis.axes[*axis].values.len() > 1)
            .collect();
        let mut columns: Vec<Column> = axes
            .iter()
            .map(|axis| {
                let key = &self.analysis.axes[*axis].key;
                Column::plain(key, short(key))
            })
            .collect();
        columns.push(Column::plain("cluster", "Cluster"));
        columns.extend(
            measures
                .iter()
                .map(|measure| Column::estimate(measure.name, measure.title, measure.decimals)),
        );
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        let mut all = 0;
        for combination in &self.analysis.combinations {
            for cluster in 0..clusters {
                let found: Vec<Option<Estimate>> = measures
                    .iter()
                    .map(|measure| self.estimate(combination, cluster, measure.name, ""))
                    .collect();
                if found.iter().all(Option::is_none) {
                    continue;
                }
                all += 1;
                if rows.len() == MOST_ROWS {
                    continue;
                }
                let mut row: Vec<Cell> = axes
                    .iter()
                    .map(|axis| self.analysis.value(combination, *axis).into())
                    .collect();
                row.push(Cell::Integer(i64::from(cluster)));
                row.extend(found.into_iter().map(Cell::from));
                rows.push(row);
            }
        }
        let rest = if all > rows.len() {
            format!(" The first {MOST_ROWS} of {all} rows; the query gives all.")
        } else {
            String::new()
        };
        (!rows.is_empty()).then(|| Table {
            name: of_clusters.table.0.to_owned(),
            title: of_clusters.table.1.to_owned(),
            columns,
            rows,
            note: format!(
                "Means over replications. {INTERVALS}{}{rest}",
                of_clusters.note
            ),
            sql: format!(
                "SELECT axes, cluster, measure, count(value) AS n, avg(value) AS mean
FROM {} WHERE run = {} AND class = ''
GROUP BY axes, cluster, measure
ORDER BY axes, cluster, measure;",
                of_clusters.source,
                this_run(self.configuration_hash)
            ),
        })
    }
}

fn has_marks(marks: &Marks) -> bool {
    matches!(marks, Marks::Bars(marks) if !marks.is_empty())
}
