//! The content of a report, independent of its form: read from the store once, and folded.

use super::analysis::Analysis;
use super::answer::{SituationAnswer, Statement, Subject, by_situation, statements};
use super::calibration::{Calibration, calibration};
use super::dependence::Dependence;
use super::figure::{Figure, PublishedKinds};
use super::optimism::Optimism;
use super::plots::paired::Pairs;
use super::plots::{curves, distributions, heat_maps, simulator, studies, surplus};
use super::rule::RuleAnswer;
use super::section::{ClaimsSection, PlanSection, ReportError, Served};
use super::summary_tables::{
    best_table, brief, confirmed_elsewhere, each_axis_table, failed_table, missing, missing_table,
    run_table, summary_table,
};
use super::table::Table;
use super::variance::AxisShares;
use super::views::{self, Reported, Views};
use super::write::Forms;
use crate::PublishedOfRun;

use bookahead_lab::store::{FailedPoint, InputRemark, RunSelector, RunSummary, SharedJobs, Store};

/// Points without a result that are listed one by one.
const MOST_MISSING: u32 = 1_000;

/// What a report may contain beyond what the store says.
#[derive(Clone, Debug, Default)]
pub struct ReportExtras {
    /// Which findings of a paper held.
    pub claims: Option<ClaimsSection>,
    /// What a paper says of the run: numbers that are drawn over its curves, and which quantities
    /// it is about.
    pub published: PublishedOfRun,
    /// Drawings of plans, with their pages as `(name, text)`.
    pub plans: Vec<(PlanSection, String)>,
    /// Where the page belongs that a server hands out.
    pub served: Option<Served>,
    /// What the program shows of single studies.
    pub views: Views,
    /// Which forms tables and figures have in files of their own.
    pub forms: Forms,
}

impl ReportExtras {
    /// Nothing but the views of a program.
    #[must_use]
    pub fn of(views: Views) -> Self {
        Self {
            views,
            ..Self::default()
        }
    }
}

/// Everything that a report shows, in all of its forms.
pub(super) struct Content<'e> {
    pub(super) run: RunSummary,
    pub(super) analysis: Analysis,
    pub(super) failed: Vec<FailedPoint>,
    /// What is to be known of what the simulations read.
    pub(super) input_remarks: Vec<InputRemark>,
    pub(super) what: Table,
    /// What came out, in a few sentences.
    pub(super) statements: Vec<Statement>,
    /// The same in each situation, where there are several.
    pub(super) situation_answers: Vec<SituationAnswer>,
    /// What they are about.
    pub(super) subject: Option<Subject>,
    /// What the replications share.
    pub(super) dependence: Dependence,
    /// How many replications earlier runs of the experiment ended with.
    pub(super) earlier_looks: Vec<u32>,
    /// How many jobs they share, where they are drawn excerpts of one log.
    pub(super) shared_jobs: Option<SharedJobs>,
    /// What is to be known of the rule that the run followed, where it had one.
    pub(super) rule_cautions: Vec<String>,
    /// What the choice of the best setting is worth, and whether that is hardly less than what is
    /// shown.
    pub(super) optimism: Option<(bool, String)>,
    /// In a sentence, which axis matters, where there are several.
    pub(super) shares: Option<String>,
    pub(super) best: Table,
    /// What each axis does alone, in brief, where there are several.
    pub(super) each_axis: Option<Table>,
    /// Tables in their order, that of the best among them.
    pub(super) tables: Vec<Table>,
    pub(super) figures: Vec<Figure>,
    /// Figures of further situations.
    pub(super) left_out: usize,
    pub(super) calibration: Option<Calibration>,
    pub(super) simulator: Table,
    /// Drawings of plans, with their files.
    pub(super) plans: Vec<(PlanSection, String)>,
    /// Settings that make promised risks truer and that the run does not use, by their keys.
    pub(super) remedies: Vec<&'static str>,
    pub(super) claims: Option<&'e ClaimsSection>,
    /// Where the page belongs that a server hands out.
    pub(super) served: Option<&'e Served>,
}

impl<'e> Content<'e> {
    /// Everything that the store knows of the run, folded and drawn.
    ///
    /// # Errors
    ///
    /// When the store cannot be read or has no such run, or its columns cannot be folded.
    pub(super) fn read(
        store: &Store,
        run: &RunSelector,
        extras: &'e ReportExtras,
    ) -> Result<Self, ReportError> {
        let run = store.run(run)?;
        let hash = run.configuration_hash.as_str();
        let failed = store.failed_points(run.id)?;
        let missing_points = store.missing_points(run.id, MOST_MISSING)?;
        let points = store.points(run.id)?;
        let analysis = Analysis::new(&points)?.about(&run);
        let views = views::shown(
            extras.views,
            &Reported {
                store,
                run: &run,
                points: &points,
                analysis: &analysis,
            },
        )?;
        let dependence = Dependence::of(&run, &analysis, &points);
        let pairs =
            Pairs::new(&points, &extras.published).of_neighbours(dependence.is_of_neighbours);
        let (over_axes, left_out) = if analysis.is_study() {
            studies(&analysis, &pairs, hash)
        } else {
            curves(&analysis, &pairs, hash)
        };
        let mut calibration = calibration(&store.calibration(run.id)?, &points, &analysis, hash);
        let mut figures = over_axes;
        lead_with_published(&mut figures);
        note_published(&mut figures, extras.claims.is_some());
        let first = figures
            .iter()
            .take_while(|figure| figure.is_of_quantity_of(&figures[0]));
        let behind_first = first.count();
        let compared = surplus(&analysis, &pairs, hash).into_iter();
        let compared = compared.chain(heat_maps(&analysis, &pairs, hash));
        figures.splice(behind_first..behind_first, compared);
        figures.extend(views.first_figures);
        figures.extend(distributions(store, &points, &analysis, hash)?);
        figures.extend(views.figures);
        figures.extend(
            calibration
                .iter()
                .flat_map(|calibration| calibration.figures.iter().cloned()),
        );

        let mut best = best_table(&analysis, &pairs, &run);
        let each_axis = each_axis_table(&analysis, &points, &run);
        let mut tables = Vec::new();
        if !failed.is_empty() {
            tables.push(failed_table(&failed, &run));
        }
        if !missing_points.is_empty() {
            tables.push(missing_table(&missing_points, &run));
        }
        let first_of_means = tables.len();
        let mut each_axis = each_axis.map(|table| {
            let brief = brief(&table, &analysis);
            tables.push(table);
            brief
        });
        tables.push(best.clone());
        let rule = RuleAnswer::read(store, &run, &points)?;
        let is_confirmed = rule.as_ref().is_some_and(RuleAnswer::is_confirmed);
        // What was selected is shown on replications that did not select it.
        let optimism = (!is_confirmed).then(|| Optimism::new(&analysis, &pairs, hash));
        let optimism = optimism.flatten();
        tables.extend(rule.iter().flat_map(RuleAnswer::tables));
        if is_confirmed {
            confirmed_elsewhere(&mut best);
            tables.iter_mut().for_each(confirmed_elsewhere);
        }
        tables.extend(optimism.iter().map(|optimism| optimism.table(hash)));
        let optimism = optimism.map(|optimism| optimism.sentence());
        tables.extend(views.first_tables);
        tables.push(summary_table(&analysis, &run));
        tables.extend(views.tables);
        let shares = AxisShares::new(&analysis, &points, hash)?;
        let mut variance = shares.as_ref().map(AxisShares::table);
        figures.extend(shares.as_ref().and_then(AxisShares::figure));
        let scores = calibration
            .iter_mut()
            .flat_map(|calibration| &mut calibration.tables);
        let of_means = tables[first_of_means..].iter_mut().chain(scores);
        let shown_first = [&mut best].into_iter().chain(&mut each_axis);
        let mut of_means: Vec<&mut Table> = of_means.chain(shown_first).collect();
        mark_repetitions(&analysis, &mut of_means);
        // Its shares are those of all replications, whether they repeat others or not.
        of_means.extend(&mut variance);
        mark_incomplete(&run, &mut of_means, &mut figures);
        let summary = tables.iter().position(|table| table.name == "summary");
        let before = summary.unwrap_or(tables.len());
        tables.splice(before..before, variance);
        let subject = Subject::of(&analysis, &pairs, &run, &figures);
        let shared_jobs = match dependence.is_drawn {
            true => Some(store.shared_jobs(run.id, run.replications)?),
            false => None,
        };
        let remark = (subject.as_ref()).and_then(|subject| dependence.remark(subject));
        let mut said = statements(
            &analysis,
            &pairs,
            &run,
            &figures,
            remark.as_deref(),
            optimism.as_ref().map(|(_, sentence)| sentence.as_str()),
        );
        if let Some(rule) = &rule {
            rule.amend(&mut said);
        }
        let rule_cautions = rule.iter().flat_map(RuleAnswer::cautions).collect();
        Ok(Self {
            statements: said,
            rule_cautions,
            situation_answers: match &rule {
                // The rule says what its situations have.
                Some(rule) if rule.selects() => Vec::new(),
                _ => by_situation(&analysis, &pairs, &run, &figures),
            },
            subject,
            dependence,
            earlier_looks: store.earlier_looks(run.id)?,
            shared_jobs,
            optimism,
            what: run_table(&run, &analysis),
            shares: shares.and_then(|shares| shares.sentence()),
            simulator: simulator(&store.simulator_times(run.id)?, hash),
            plans: views
                .plans
                .into_iter()
                .chain(extras.plans.iter().cloned())
                .collect(),
            remedies: views.remedies,
            claims: extras.claims.as_ref(),
            served: extras.served.as_ref(),
            input_remarks: store.input_remarks(run.id)?,
            run,
            analysis,
            failed,
            best,
            each_axis,
            tables,
            figures,
            left_out,
            calibration,
        })
    }

    /// Scores of promised risks.
    pub(super) fn scores(&self) -> &[Table] {
        self.calibration
            .as_ref()
            .map_or(&[], |calibration| &calibration.tables)
    }
}

/// Where replications repeat others, every table of means says so, because its query counts them
/// all.
fn mark_repetitions(analysis: &Analysis, tables: &mut [&mut Table]) {
    if analysis.repetitions == 0 {
        return;
    }
    for table in tables {
        let sentence = "Replications that repeat another one (the same jobs and failures, the same results) count once; the query counts \
                        each of them.";
        table.note = format!("{} {sentence}", table.note).trim_start().to_owned();
    }
}

/// Where results are missing, every table and figure of means says so: its reader may never see the
/// first page.
fn mark_incomplete(run: &RunSummary, tables: &mut [&mut Table], figures: &mut [Figure]) {
    let Some(shortfall) = shortfall(run) else {
        return;
    };
    for table in tables {
        table.title = format!(
            "{} (incomplete: {} of {} points)",
            table.title, run.points_done, run.points
        );
        table.note = format!("{} {shortfall}", table.note)
            .trim_start()
            .to_owned();
    }
    for figure in figures {
        figure.note = format!("{} {shortfall}", figure.note)
            .trim_start()
            .to_owned();
    }
}

/// Of the situations of the first figure those come first that a paper published most of.
fn lead_with_published(figures: &mut [Figure]) {
    let count = |figure: &Figure| -> usize {
        let series = figure.series.iter();
        series.map(|series| series.published.len()).sum()
    };
    let of_first = figures.iter();
    let of_first = of_first.take_while(|figure| figure.is_of_quantity_of(&figures[0]));
    let situations = of_first.count();
    figures[..situations].sort_by_key(|figure| std::cmp::Reverse(count(figure)));
}

/// Says what diamonds are, and of the first figure of a paper's run where it has none, why.
fn note_published(figures: &mut [Figure], is_of_paper: bool) {
    for (number, figure) in figures.iter_mut().enumerate() {
        let published = figure.published();
        if published.values {
            figure.note.push_str(
                " Diamonds are published values; the pale column through one is what counts as the same, the tolerance of the finding.",
            );
        }
        if published.bounds {
            figure
                .note
                .push_str(" A bar with a triangle is a published bound.");
        }
        if published == PublishedKinds::default() && is_of_paper && number == 0 {
            figure.note.push_str(
                " The paper prints no value of this quantity at these settings; what it states is among the findings below.",
            );
        }
    }
}

/// What a reader must know first: that results are missing.
pub(super) fn shortfall(run: &RunSummary) -> Option<String> {
    if run.points_done == 0 {
        let why = if run.points_failed > 0 {
            ", see \"Points that failed\""
        } else {
            ""
        };
        return Some(format!(
            "No point of this run has a result: {} of {} points failed{why}. The tables below are empty.",
            run.points_failed, run.points
        ));
    }
    (run.points_done < run.points).then(|| {
        format!(
            "{} of {} points have a result; {} failed, {} were not run. The means are over the replications that are there \
             (column n).",
            run.points_done,
            run.points,
            run.points_failed,
            missing(run)
        )
    })
}

/// Milliseconds since 1970 as date and time (UTC), `2026-03-01 04:05:06`; a time outside of all
/// calendars as the number that it is.
#[must_use]
pub fn moment(milliseconds: i64) -> String {
    match jiff::Timestamp::from_millisecond(milliseconds) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => format!("{milliseconds} ms since 1970"),
    }
}

/// The same with the name of its clock.
pub(super) fn utc(milliseconds: i64) -> String {
    format!("{} UTC", moment(milliseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_shown_as_dates() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(moment(-1_000), "1969-12-31 23:59:59");
        assert_eq!(moment(i64::MAX), "9223372036854775807 ms since 1970");
        assert_eq!(utc(951_827_696_000), "2000-02-29 12:34:56 UTC");
        assert_eq!(utc(1_767_225_599_999), "2025-12-31 23:59:59 UTC");
    }
}
