//! The estimates of the users of a log: distributions by class, and the attributes that separate
//! the classes best (Birkenheuer 2012, chapter 4, for any log). The input is a file that the
//! command line has read, not a store.

use std::io::Write as _;
use std::path::Path;

use super::figure::{Figure, Mark, Marks, Scale, Section, Series};
use super::format::inline::{code, label};
use super::format::{Markdown, TableFormat};
use super::plots::file_name;
use super::section::ReportError;
use super::table::{Cell, Column, Table};
use super::write::{Folder, KeptFiles};
use bookahead_core::estimates::{RATIO_BINS, RatioCounts, RatioDistribution};

/// More curves than this cannot be distinguished: those of the classes with the most jobs are
/// drawn.
const MOST_CURVES: usize = 12;
/// Empty classes are shown in tables of at most this many classes: of a pair of attributes most
/// combinations may be empty.
const FEW_CLASSES: usize = 40;
/// Percents of the estimate that a place of the drawn distribution holds.
const GROUP: usize = 5;
const SHARE_USED: &str = "share of the estimate that was used (%)";

/// What a log says about its users' estimates.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimatesReport {
    /// What the log is called.
    pub label: String,
    /// How well each attribute tells estimates apart, the best one first.
    pub attributes: Table,
    /// Of each attribute, in the order asked for: its classes with their sizes.
    pub classes: Vec<Table>,
    distributions: Table,
    figures: Vec<Figure>,
}

impl EstimatesReport {
    /// Makes the report of a log's attributes, each with its name.
    #[must_use]
    pub fn new(label: &str, attributes: &[(String, RatioCounts)]) -> Self {
        let classes: Vec<Vec<Class>> = attributes
            .iter()
            .map(|(_, counts)| classes(counts))
            .collect();
        let named = || {
            attributes
                .iter()
                .map(|(name, _)| name.as_str())
                .zip(&classes)
        };
        Self {
            label: label.to_owned(),
            attributes: attributes_table(attributes),
            classes: named()
                .map(|(name, classes)| class_table(name, classes))
                .collect(),
            distributions: distributions_table(named()),
            figures: named()
                .flat_map(|(name, classes)| {
                    [
                        cumulative(label, name, classes),
                        density(label, name, classes),
                    ]
                })
                .collect(),
        }
    }

    /// Writes `estimates.md`, and tables and figures beside it: tables as CSV and Parquet, figures
    /// as SVG and CSV.
    ///
    /// # Errors
    ///
    /// When the folder cannot be written.
    pub fn write(&self, out: &Path) -> Result<KeptFiles, ReportError> {
        let mut folder = Folder::new(out)?;
        folder.table(&self.attributes)?;
        for table in &self.classes {
            folder.table(table)?;
        }
        folder.table(&self.distributions)?;
        for figure in &self.figures {
            folder.figure(figure)?;
        }
        folder.file("estimates.md", |target| {
            writeln!(target, "# Estimates of {}\n", code(&self.label))?;
            let markdown = Markdown::default();
            markdown.write(&self.attributes, target)?;
            for (table, figures) in self.classes.iter().zip(self.figures.chunks(2)) {
                markdown.write(table, target)?;
                for figure in figures {
                    writeln!(
                        target,
                        "![{}](plots/{}.svg)\n",
                        label(&figure.title),
                        figure.name
                    )?;
                }
            }
            Ok(())
        })?;
        folder.finish()
    }
}

/// A class, or all jobs, or those without a class.
struct Class {
    label: String,
    /// `None` without any job.
    distribution: Option<RatioDistribution>,
}

impl Class {
    fn jobs(&self) -> u64 {
        self.distribution
            .as_ref()
            .map_or(0, RatioDistribution::samples)
    }
}

/// All jobs, then every class, then those in none.
fn classes(counts: &RatioCounts) -> Vec<Class> {
    let class = |label: &str, counts| Class {
        label: label.to_owned(),
        distribution: RatioDistribution::from_counts(counts),
    };
    let mut classes = vec![class("all jobs", counts.all())];
    let own = counts.labels.iter().zip(&counts.counts).skip(1);
    classes.extend(own.map(|(label, counts)| class(label, *counts)));
    // Without classes of an attribute there are no others either.
    if classes.len() > 1 {
        classes.push(class("all others", counts.counts[0]));
        classes.pop_if(|others| others.jobs() == 0);
    }
    if classes.len() > FEW_CLASSES {
        classes.retain(|class| class.jobs() > 0);
    }
    classes
}

fn attributes_table(attributes: &[(String, RatioCounts)]) -> Table {
    let mut gains: Vec<_> = attributes
        .iter()
        .map(|(name, counts)| (name, counts, counts.information_gain()))
        .collect();
    gains.sort_by(|first, second| second.2.share().total_cmp(&first.2.share()));
    let entropy = gains.first().map_or(0.0, |(.., gain)| gain.entropy_bits);
    let rows = gains.into_iter().map(|(name, counts, gain)| {
        let sizes: Vec<u64> = counts
            .counts
            .iter()
            .map(|counts| counts.iter().sum())
            .collect();
        let (all, in_class) = (sizes.iter().sum::<u64>(), sizes[1..].iter().sum::<u64>());
        vec![
            Cell::Text(name.clone()),
            Cell::Integer(sizes[1..].iter().filter(|size| **size > 0).count() as i64),
            Cell::Number(100.0 * in_class as f64 / all as f64),
            Cell::Number(gain.gain_bits),
            Cell::Number(gain.by_chance_bits),
            Cell::Number(100.0 * gain.share()),
        ]
    });
    Table {
        name: "attributes".to_owned(),
        title: "How well attributes tell estimates apart".to_owned(),
        columns: vec![
            Column::plain("attribute", "attribute"),
            Column::plain("classes", "classes"),
            Column::number("in_class_percent", "% of jobs", 1),
            Column::number("gain_bits", "gain (bits)", 3),
            Column::number("by_chance_bits", "by chance", 3),
            Column::number("explained_percent", "explained (%)", 1),
        ],
        rows: rows.collect(),
        note: format!(
            "X is the share of the estimate that a job used, in whole percents; its entropy H(X) = −Σ p(i) · log₂ p(i) is {entropy:.3} bits. \
             The information gain of an attribute with the classes c is H(X) − Σ n(c) / N · H(X | c); jobs without a class are one class \
             more. By chance is the gain of classes of these sizes that mean nothing (the mean of ten random ones). Explained is the gain \
             beyond chance as a share of H(X)."
        ),
        sql: String::new(),
    }
}

fn class_table(name: &str, classes: &[Class]) -> Table {
    let all = classes[0].jobs().max(1) as f64;
    let rows = classes.iter().map(|class| {
        let mut cells = vec![
            Cell::Text(class.label.clone()),
            Cell::Integer(class.jobs() as i64),
            Cell::Number(100.0 * class.jobs() as f64 / all),
        ];
        let values = class.distribution.as_ref().map(|distribution| {
            let median = (0..RATIO_BINS).find(|&percent| distribution.cdf(percent) >= 0.5);
            [
                Cell::Number(100.0 * distribution.mean_ratio()),
                Cell::Integer(median.unwrap_or(100) as i64),
                Cell::Number(100.0 * distribution.cdf(9)),
                Cell::Number(100.0 * (1.0 - distribution.cdf(89))),
            ]
        });
        cells.extend(values.unwrap_or([const { Cell::Missing }; 4]));
        cells
    });
    Table {
        name: format!("classes-{}", file_name(name)),
        title: format!("Classes by {name}"),
        columns: vec![
            Column::plain("class", "class"),
            Column::plain("jobs", "jobs"),
            Column::number("share_percent", "% of all", 1),
            Column::number("mean_percent", "mean (%)", 1),
            Column::plain("median_percent", "median (%)"),
            Column::number("under_10_percent", "% under 10", 1),
            Column::number("from_90_percent", "% from 90 on", 1),
        ],
        rows: rows.collect(),
        note: "Mean and median are of the run time as a share of the estimate; jobs that ran longer count as 100 %. The last two columns say \
               how many of the class's jobs used under 10 %, and 90 % or more of their estimates."
            .to_owned(),
        sql: String::new(),
    }
}

/// Every class with every percent that one of its jobs used.
fn distributions_table<'c>(attributes: impl Iterator<Item = (&'c str, &'c Vec<Class>)>) -> Table {
    let mut rows = Vec::new();
    for (name, classes) in attributes {
        for class in classes {
            let Some(distribution) = &class.distribution else {
                continue;
            };
            rows.extend((0..RATIO_BINS).map(|percent| {
                vec![
                    Cell::Text(name.to_owned()),
                    Cell::Text(class.label.clone()),
                    Cell::Integer(percent as i64),
                    Cell::Integer(distribution.count(percent) as i64),
                    Cell::Number(distribution.pdf(percent)),
                    Cell::Number(distribution.cdf(percent)),
                ]
            }));
        }
    }
    Table {
        name: "distributions".to_owned(),
        title: "Distributions by class".to_owned(),
        columns: vec![
            Column::plain("attribute", "attribute"),
            Column::plain("class", "class"),
            Column::plain("percent", "percent of the estimate"),
            Column::plain("jobs", "jobs"),
            Column::number("pdf", "share of jobs", 4),
            Column::number("cdf", "share of jobs at or below", 4),
        ],
        rows,
        note: String::new(),
        sql: String::new(),
    }
}

/// The classes that are drawn, and what to say where some are not.
fn drawn(classes: &[Class]) -> (Vec<(&Class, &RatioDistribution)>, String) {
    let mut drawn: Vec<(usize, &Class, &RatioDistribution)> = classes
        .iter()
        .enumerate()
        .filter_map(|(place, class)| Some((place, class, class.distribution.as_ref()?)))
        .collect();
    let left_out = drawn.len().saturating_sub(MOST_CURVES);
    drawn.sort_by_key(|(place, class, _)| (std::cmp::Reverse(class.jobs()), *place));
    drawn.truncate(MOST_CURVES);
    drawn.sort_by_key(|(place, ..)| *place);
    let note = match left_out {
        0 => String::new(),
        _ => format!("{left_out} classes with fewer jobs are left to the tables."),
    };
    (
        drawn
            .into_iter()
            .map(|(_, class, own)| (class, own))
            .collect(),
        note,
    )
}

fn figure(
    kind: &str,
    (label, name): (&str, &str),
    y: &str,
    classes: &[Class],
    marks: impl Fn(&RatioDistribution) -> Marks,
) -> Figure {
    let (drawn, note) = drawn(classes);
    let series = drawn.into_iter().enumerate();
    Figure {
        name: format!("{kind}-{}", file_name(name)),
        section: Section::Distributions,
        title: format!("{label}: use of estimates by {name}"),
        given: Vec::new(),
        x: Scale::linear(SHARE_USED),
        y: Scale::linear(y),
        series: series
            .map(|(rank, (class, own))| Series::new(class.label.clone(), rank, marks(own)))
            .collect(),
        note,
        sql: String::new(),
    }
}

fn cumulative(label: &str, name: &str, classes: &[Class]) -> Figure {
    figure(
        "cdf",
        (label, name),
        "share of jobs at or below",
        classes,
        |own| {
            let ends = [0, RATIO_BINS - 1];
            let steps =
                (0..RATIO_BINS).filter(|percent| own.count(*percent) > 0 || ends.contains(percent));
            Marks::Steps(
                steps
                    .map(|percent| (percent as f64, own.cdf(percent)))
                    .collect(),
            )
        },
    )
}

fn density(label: &str, name: &str, classes: &[Class]) -> Figure {
    let mut figure = figure("pdf", (label, name), "share of jobs", classes, |own| {
        let places = (0..RATIO_BINS).step_by(GROUP).map(|from| {
            let percents = from..(from + GROUP).min(RATIO_BINS);
            let jobs: u64 = percents.map(|percent| own.count(percent)).sum();
            let share = jobs as f64 / own.samples() as f64;
            Mark::value(from as f64, share, jobs)
        });
        Marks::Curve(places.collect())
    });
    let marks = "Each mark counts five percents from its place on; the last one 100 % alone.";
    figure.note = format!("{marks} {}", figure.note).trim_end().to_owned();
    figure
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3 jobs of user 1 at 5, 5 and 95 %, one of user 2 at 50 %, one of nobody at 100 %.
    fn counts() -> RatioCounts {
        let of = |percents: &[usize]| {
            let mut counts = [0; RATIO_BINS];
            percents.iter().for_each(|&percent| counts[percent] += 1);
            counts
        };
        RatioCounts {
            labels: ["all jobs", "user 1", "user 2", "user 3"]
                .map(str::to_owned)
                .to_vec(),
            counts: vec![of(&[100]), of(&[5, 5, 95]), of(&[50]), of(&[])],
        }
    }

    #[test]
    fn classes_say_how_many_jobs_they_have_and_what_those_used() {
        let report = EstimatesReport::new("log", &[("user".to_owned(), counts())]);
        let texts = |row: &Vec<Cell>| -> Vec<String> {
            let columns = &report.classes[0].columns;
            row.iter()
                .zip(columns)
                .map(|(cell, column)| cell.text(column.decimals))
                .collect()
        };
        let rows: Vec<Vec<String>> = report.classes[0].rows.iter().map(texts).collect();
        // (5 + 5 + 95 + 50 + 100) / 5 = 51; the third of five in order is 50. Of user 1: 105 / 3 =
        // 35, and 5.
        assert_eq!(
            rows,
            [
                ["all jobs", "5", "100.0", "51.0", "50", "40.0", "40.0"],
                ["user 1", "3", "60.0", "35.0", "5", "66.7", "33.3"],
                ["user 2", "1", "20.0", "50.0", "50", "0.0", "0.0"],
                ["user 3", "0", "0.0", "–", "–", "–", "–"],
                ["all others", "1", "20.0", "100.0", "100", "0.0", "100.0"],
            ]
        );
        // Two of three classes have jobs, with 4 of 5 jobs.
        assert_eq!(
            report.attributes.rows[0][1..3],
            [Cell::Integer(2), Cell::Number(80.0)]
        );
    }

    #[test]
    fn curves_are_the_distributions_of_the_classes() {
        let report = EstimatesReport::new("log", &[("user".to_owned(), counts())]);
        let names: Vec<&str> = report
            .figures
            .iter()
            .map(|figure| figure.name.as_str())
            .collect();
        assert_eq!(names, ["cdf-user", "pdf-user"]);
        let of = |figure: usize, class: &str| {
            let series = report.figures[figure].series.iter();
            series
                .clone()
                .find(|series| series.label == class)
                .map(|series| series.marks.clone())
        };
        let third = 1.0 / 3.0;
        let steps = vec![(0.0, 0.0), (5.0, 2.0 * third), (95.0, 1.0), (100.0, 1.0)];
        assert_eq!(of(0, "user 1"), Some(Marks::Steps(steps)));
        let Some(Marks::Curve(marks)) = of(1, "user 1") else {
            panic!("a curve")
        };
        let shares: Vec<(f64, f64)> = marks
            .iter()
            .filter(|mark| mark.count > 0)
            .map(|mark| (mark.x, mark.mean))
            .collect();
        assert_eq!(shares, [(5.0, 2.0 * third), (95.0, third)]);
        // A class without jobs has no curve.
        assert_eq!(of(0, "user 3"), None);
    }

    #[test]
    fn of_many_classes_the_largest_are_drawn() {
        let mut counts = RatioCounts {
            labels: vec!["all jobs".to_owned()],
            counts: vec![[0; RATIO_BINS]],
        };
        for class in 1..=30_u64 {
            counts.labels.push(format!("user {class}"));
            counts.counts.push([0; RATIO_BINS]);
            counts.counts[class as usize][10] = class;
        }
        let report = EstimatesReport::new("log", &[("user".to_owned(), counts)]);
        let labels: Vec<&str> = report.figures[0]
            .series
            .iter()
            .map(|series| series.label.as_str())
            .collect();
        assert_eq!(
            (labels.len(), labels[0], labels[1], labels[11]),
            (12, "all jobs", "user 20", "user 30")
        );
        assert_eq!(
            report.figures[0].note,
            "19 classes with fewer jobs are left to the tables."
        );
    }
}
