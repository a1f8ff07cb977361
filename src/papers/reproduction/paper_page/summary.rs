//! Summary figures of a paper, as its `paper.toml` names them: one quantity of its tables over
//! traces, families, strategies or settings, measured (bars with intervals) beside published
//! (diamonds).

use std::fmt::Write as _;

use serde::Deserialize;

use super::{FindingResult, Grid, ScoreCard};
use crate::findings::tables::{CellCheck, Expected, Found, Quantity};
use crate::findings::{Finding, compact};
use bookahead_lab::study::Studies;
use bookahead_report::figure::{Scale, ScaleKind};
use bookahead_report::plots::file_name;
use bookahead_report::svg::{
    Axis, BELOW_AXIS, COLOURS, Canvas, Picture, Place, Side, Swatch, escape, legend_height,
};

/// What a reader of the figures must know.
const NOTE: &str = "Bars: measured, with 95 % intervals (Student's t) over the replications of a trace, where the quantity has one. Diamonds: published.";

/// And where the setting was chosen.
const CHOSEN: &str = " The setting of each bar was chosen as the best one in the same replications, so that overbooking's bars are somewhat too high and \
     their intervals do not contain the choice; the paper chose in the same way.";

/// What tells the numbers of a summary figure apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dimension {
    /// The trace.
    Trace,
    /// The family of classes.
    Family,
    /// The strategy.
    Strategy,
    /// The setting of the experiment.
    Setting,
}

impl Dimension {
    /// Where a finding stands on it; `None` where it is about several places.
    fn of(self, finding: &Finding, check: &CellCheck) -> Option<String> {
        match self {
            Self::Trace => finding.trace.clone(),
            Self::Family => check.family.clone(),
            Self::Strategy => check.strategy.clone(),
            Self::Setting => check.at.map(|at| at.to_string()),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Family => "classes",
            Self::Strategy => "strategy",
            Self::Setting => "setting",
        }
    }
}

/// One figure of a paper that summarises numbers of its tables.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SummaryFigure {
    /// Its number in the paper.
    pub figure: String,
    /// What it shows.
    pub title: String,
    /// The unit of its numbers.
    pub unit: String,
    /// The experiment that its findings are about.
    pub experiment: String,
    /// Their quantity.
    pub quantity: Quantity,
    /// Their traces; none for all.
    #[serde(default)]
    pub traces: Vec<String>,
    /// Their strategies; none for all.
    #[serde(default)]
    pub strategies: Vec<String>,
    /// What has a drawing of its own, where something has.
    pub panels: Option<Dimension>,
    /// What stands along the drawing.
    pub groups: Dimension,
    /// What stands side by side at each place.
    pub series: Dimension,
}

/// Panel, group and series.
type At = (String, String, String);

impl SummaryFigure {
    /// Where it shows a finding; `None` where it does not.
    fn place(&self, finding: &Finding) -> Option<At> {
        let crate::findings::Check::Cell(check) = &finding.check else {
            return None;
        };
        let among = |names: &[String], name: Option<&String>| {
            names.is_empty() || name.is_some_and(|name| names.contains(name))
        };
        let is_shown = check.experiment == self.experiment
            && check.quantity == self.quantity
            && among(&self.traces, finding.trace.as_ref())
            && among(&self.strategies, check.strategy.as_ref());
        if !is_shown {
            return None;
        }
        let of = |dimension: Dimension| dimension.of(finding, check);
        let panel = self.panels.map_or(Some(String::new()), of)?;
        Some((panel, of(self.groups)?, of(self.series)?))
    }

    /// Why it cannot be drawn from these findings; `None` where it can.
    #[must_use]
    pub fn problem(&self, findings: &[Finding]) -> Option<String> {
        let mut places: Vec<(At, &str)> = Vec::new();
        for finding in findings {
            let Some(place) = self.place(finding) else {
                continue;
            };
            if let Some((_, other)) = places.iter().find(|(known, _)| *known == place) {
                return Some(format!(
                    "`{other}` and `{}` would stand at the same place; `panels`, `groups` and `series` must tell them apart",
                    finding.id
                ));
            }
            places.push((place, &finding.id));
        }
        places.is_empty().then(|| {
            "no finding is about this `experiment` and `quantity` at these `traces` and `strategies`".to_owned()
        })
    }
}

/// A summary figure with its numbers.
#[derive(Debug)]
pub(super) struct Summary<'p> {
    figure: &'p SummaryFigure,
    /// Whether some of its numbers are those of a chosen setting.
    is_chosen: bool,
    pub(super) panels: Vec<Panel>,
}

/// One drawing of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Panel {
    /// The name of its file, without extension.
    pub(super) name: String,
    pub(super) title: String,
    key: String,
    unit: String,
    /// What groups and series are.
    kinds: (Dimension, Dimension),
    groups: Vec<String>,
    /// Names, and the numbers of their colours.
    series: Vec<(String, usize)>,
    marks: Vec<Mark>,
}

#[derive(Clone, Debug, PartialEq)]
struct Mark {
    group: usize,
    series: usize,
    measured: Option<f64>,
    interval: Option<[f64; 2]>,
    published: Option<f64>,
    verdict: &'static str,
}

impl<'p> Summary<'p> {
    pub(super) fn of(figure: &'p SummaryFigure, cards: &[&ScoreCard], studies: Studies) -> Self {
        let mut panels: Vec<Panel> = Vec::new();
        let mut is_chosen = false;
        for result in cards.iter().flat_map(|card| &card.results) {
            let Some((key, group, series)) = figure.place(&result.finding) else {
                continue;
            };
            let known = panels.iter().position(|panel| panel.key == key);
            let index = known.unwrap_or_else(|| {
                panels.push(Panel::new(figure, key));
                panels.len() - 1
            });
            is_chosen |= result.cell().is_some_and(CellCheck::is_chosen);
            panels[index].add(figure, studies, (group, series), result);
        }
        Self {
            figure,
            is_chosen,
            panels,
        }
    }

    /// `Figure 6.26`.
    pub(super) fn name(&self) -> String {
        format!("Figure {}", self.figure.figure)
    }

    /// `Figure 6.26: Maximum gain`.
    pub(super) fn title(&self) -> String {
        format!("{}: {}", self.name(), self.figure.title)
    }

    /// What a reader must know.
    pub(super) fn note(&self) -> String {
        let rest = if self.is_chosen { CHOSEN } else { "" };
        format!("{NOTE}{rest}")
    }

    /// Its numbers as text, a row a bar.
    pub(super) fn grid(&self) -> Grid {
        let SummaryFigure {
            panels,
            groups,
            series,
            ..
        } = self.figure;
        let mut grid = Grid::default();
        let named = panels.iter().chain([groups, series]);
        grid.header
            .extend(named.map(|dimension| dimension.name().to_owned()));
        let rest = ["published", "measured", "95 % interval", "held"];
        grid.header.extend(rest.map(str::to_owned));
        for panel in &self.panels {
            for mark in &panel.marks {
                let mut row = Vec::new();
                row.extend(panels.map(|_| panel.key.clone()));
                let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), compact);
                row.extend([
                    panel.groups[mark.group].clone(),
                    panel.series[mark.series].0.clone(),
                    number(mark.published),
                    number(mark.measured),
                    mark.interval.map_or_else(
                        || "–".to_owned(),
                        |[low, high]| format!("{} to {}", compact(low), compact(high)),
                    ),
                    mark.verdict.to_owned(),
                ]);
                grid.rows.push(row);
            }
        }
        grid
    }
}

const WIDTH: f64 = 760.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = WIDTH - 32.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = TOP + 260.0;

impl Panel {
    fn new(figure: &SummaryFigure, key: String) -> Self {
        let (name, title) = if key.is_empty() {
            (format!("figure-{}", figure.figure), String::new())
        } else {
            let what = figure.panels.map_or("", Dimension::name);
            (
                format!("figure-{}-{key}", figure.figure),
                format!(", {key} {what}"),
            )
        };
        Self {
            name: file_name(&name),
            title: format!("Figure {}{title}", figure.figure),
            key,
            unit: figure.unit.clone(),
            kinds: (figure.groups, figure.series),
            groups: Vec::new(),
            series: Vec::new(),
            marks: Vec::new(),
        }
    }

    fn add(
        &mut self,
        figure: &SummaryFigure,
        studies: Studies,
        (group, series): (String, String),
        result: &FindingResult,
    ) {
        let known = self.groups.iter().position(|known| *known == group);
        let group = known.unwrap_or_else(|| {
            self.groups.push(group);
            self.groups.len() - 1
        });
        let known = self.series.iter().position(|(known, _)| *known == series);
        let series = known.unwrap_or_else(|| {
            // A strategy has the same colour in every figure.
            let colour = match figure.series {
                Dimension::Strategy => studies.rank(&series).min(self.series.len() + COLOURS.len()),
                _ => self.series.len(),
            };
            self.series.push((series, colour % COLOURS.len()));
            self.series.len() - 1
        });
        let (measured, interval) = match &result.found {
            Some(Found::Value {
                value, interval, ..
            }) => (Some(*value), *interval),
            _ => (None, None),
        };
        let published = match result.cell().map(|check| &check.expected) {
            Some(Expected::Value(value)) => Some(*value),
            _ => None,
        };
        self.marks.push(Mark {
            group,
            series,
            measured,
            interval: interval.filter(|ends| ends.iter().all(|end| end.is_finite())),
            published,
            verdict: result.verdict.word(),
        });
    }

    pub(super) fn svg(&self, place: Place<'_>) -> String {
        let own = self.series.iter().map(|(name, _)| match self.kinds.1 {
            Dimension::Setting => format!("{} {name}", Dimension::Setting.name()),
            _ => name.clone(),
        });
        let names: Vec<String> = own.chain(["published".to_owned()]).collect();
        let names = || names.iter().map(String::as_str);
        let mut canvas = Canvas::new(
            Picture {
                title: &self.title,
                class: "",
                size: (WIDTH, BOTTOM + 62.0 + legend_height(names(), WIDTH)),
                left: LEFT,
                right: RIGHT,
                top: TOP,
                bottom: BOTTOM,
            },
            place,
        );
        let values: Vec<f64> = self
            .marks
            .iter()
            .flat_map(|mark| {
                let ends = mark.interval.into_iter().flatten();
                ends.chain(mark.measured).chain(mark.published)
            })
            .collect();
        if values.is_empty() {
            let middle = (WIDTH / 2.0, f64::midpoint(TOP, BOTTOM));
            canvas.text(middle, "soft", "middle", "not measured yet");
            return canvas.finish();
        }
        let scale = Scale {
            title: self.unit.clone(),
            kind: ScaleKind::Linear,
        };
        let y = Axis::new(&scale, &values, (BOTTOM, TOP), 6.0, true, true);
        let slot = (RIGHT - LEFT) / self.groups.len() as f64;
        let width = slot * 0.84 / self.series.len() as f64;
        let middle = |group: usize| LEFT + slot * (group as f64 + 0.5);
        let ticks = self.groups.iter().enumerate();
        canvas.axes(
            &Side {
                ticks: ticks
                    .map(|(group, name)| (middle(group), name.clone()))
                    .collect(),
                title: self.kinds.0.name(),
                has_grid: false,
            },
            Some(&Side {
                ticks: y.ticks().collect(),
                title: &self.unit,
                has_grid: true,
            }),
        );
        canvas.line((LEFT, y.at(0.0)), (RIGHT, y.at(0.0)), "edge");
        for mark in &self.marks {
            let along = middle(mark.group) + width * (mark.series as f64 + 0.5)
                - width * self.series.len() as f64 / 2.0;
            self.mark(&mut canvas, mark, (along, width * 0.86), &y);
        }
        let boxes = self
            .series
            .iter()
            .map(|(_, colour)| format!("class=\"f{colour}\" fill-opacity=\"0.75\""));
        let swatches = boxes.chain(["class=\"ink\"".to_owned()]).map(Swatch::Box);
        canvas.legend(swatches.zip(names()), BOTTOM + BELOW_AXIS);
        canvas.finish()
    }

    fn mark(&self, canvas: &mut Canvas<'_>, mark: &Mark, (along, width): (f64, f64), y: &Axis) {
        let (series, colour) = &self.series[mark.series];
        let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), compact);
        let words = format!(
            "{}, {series}: measured {}, published {}, {}",
            self.groups[mark.group],
            number(mark.measured),
            number(mark.published),
            mark.verdict
        );
        // Writing to a string cannot fail.
        let _ = writeln!(canvas, "<g><title>{}</title>", escape(&words));
        if let Some(measured) = mark.measured {
            let (top, zero) = (y.at(measured), y.at(0.0));
            canvas.rectangle(
                &format!("class=\"f{colour}\" fill-opacity=\"0.75\""),
                (along - width / 2.0, top.min(zero)),
                (width, (top - zero).abs().max(0.5)),
            );
        }
        if let Some([low, high]) = mark.interval.map(|ends| ends.map(|end| y.at(end))) {
            let _ = writeln!(
                canvas,
                "<path class=\"s6\" stroke-width=\"1.3\" d=\"M{0:.1} {low:.1}H{1:.1}M{along:.1} {low:.1}V{high:.1}M{0:.1} {high:.1}H{1:.1}\"/>",
                along - 3.0,
                along + 3.0
            );
        }
        if let Some(at) = mark.published.map(|published| y.at(published)) {
            for (class, half) in [("paper", 6.0), ("ink", 4.2)] {
                let _ = writeln!(
                    canvas,
                    "<path class=\"{class}\" d=\"M{along:.1} {0:.1}L{1:.1} {at:.1}L{along:.1} {2:.1}L{3:.1} {at:.1}Z\"/>",
                    at - half,
                    along + half,
                    at + half,
                    along - half
                );
            }
        }
        let _ = writeln!(canvas, "</g>");
    }
}
