//! The share of claims that hold, by subject and by trace: a field of coloured cells, and the same
//! as a table.

use std::fmt::Write as _;

use super::{Grid, ScoreCard, title_order};
use crate::findings::{Check, Finding, Provenance};
use crate::reproduction::Tallies;
use bookahead_report::svg::{Canvas, Picture, Place, escape, text_width};

/// What a reader of the maps must know.
pub(super) const NOTE: &str = "Claims that hold among those that could be checked, by the first judgement; the stronger the colour, the greater the share. A share of few claims says little, and claims are not independent of each other: a surplus \
    is made of gains that are claims, too.";

const ROW: f64 = 24.0;
const TOP: f64 = 66.0;
const NARROWEST: f64 = 66.0;
/// How dark a cell is at most: what is written on it must be readable.
const DARKEST: f64 = 0.55;

/// Claims by two things that tell them apart.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HeatMap {
    /// The name of its file, without extension.
    pub(super) name: &'static str,
    pub(super) title: String,
    /// Traces, and `all` where there are several.
    columns: Vec<String>,
    rows: Vec<(String, Vec<Tallies>)>,
}

/// By table or section, and where the paper has numbers of tables by quantity, too.
pub(super) fn of(cards: &[&ScoreCard]) -> Vec<HeatMap> {
    let results = || cards.iter().flat_map(|card| &card.results);
    let has_cells = results().any(|result| result.cell().is_some());
    let title = if has_cells {
        "Held claims by table and trace"
    } else {
        "Held claims by section and trace"
    };
    let by_table = HeatMap::new("held-by-table", title, cards, in_short);
    let by_quantity = HeatMap::new(
        "held-by-quantity",
        "Held claims by quantity and trace",
        cards,
        |finding| match &finding.check {
            Check::Cell(check) => Some(check.quantity.name().to_owned()),
            _ => None,
        },
    );
    let mut maps = vec![by_table, by_quantity];
    maps.retain(|map| !map.rows.is_empty());
    maps
}

/// The table or section of a finding, short enough for a row of a drawing. What stands in the text,
/// or was derived, is put together over the sections.
fn in_short(finding: &Finding) -> Option<String> {
    Some(match &finding.check {
        Check::Cell(check) => match (&check.table, finding.provenance) {
            (Some(number), _) => format!("Table {number}"),
            (None, Provenance::Derived) => "Derived from printed numbers".to_owned(),
            (None, _) => "In the text".to_owned(),
        },
        _ => finding.section.clone(),
    })
}

impl HeatMap {
    fn new(
        name: &'static str,
        title: &str,
        cards: &[&ScoreCard],
        row: impl Fn(&Finding) -> Option<String>,
    ) -> Self {
        let several = cards.len() > 1;
        let width = cards.len() + usize::from(several);
        let mut rows: Vec<(String, Vec<Tallies>)> = Vec::new();
        let mut first: Vec<&Finding> = Vec::new();
        for (place, card) in cards.iter().enumerate() {
            for result in &card.results {
                let Some(name) = row(&result.finding) else {
                    continue;
                };
                let known = rows.iter().position(|(known, _)| *known == name);
                let index = known.unwrap_or_else(|| {
                    rows.push((name, vec![Tallies::default(); width]));
                    first.push(&result.finding);
                    rows.len() - 1
                });
                let tallies = &mut rows[index].1;
                tallies[place].add(result);
                if several {
                    tallies[width - 1].add(result);
                }
            }
        }
        let mut rows: Vec<_> = first.into_iter().zip(rows).collect();
        rows.sort_by_key(|(finding, _)| title_order(finding));
        let mut columns: Vec<String> = cards.iter().map(|card| card.trace.clone()).collect();
        columns.extend(several.then(|| "all".to_owned()));
        Self {
            name,
            title: title.to_owned(),
            columns,
            rows: rows.into_iter().map(|(_, row)| row).collect(),
        }
    }

    /// The same as text: held of decided, and over alignments where something was judged twice.
    pub(super) fn grid(&self) -> Grid {
        let mut grid = Grid::new(&["claims"]);
        grid.header.extend(self.columns.iter().cloned());
        for (name, cells) in &self.rows {
            let mut row = vec![name.clone()];
            row.extend(cells.iter().map(|tallies| words(*tallies)));
            grid.rows.push(row);
        }
        grid
    }

    pub(super) fn svg(&self, place: Place<'_>) -> String {
        let widest = |names: &mut dyn Iterator<Item = &String>| {
            names.map(|name| text_width(name)).fold(0.0, f64::max)
        };
        let left = 30.0 + widest(&mut self.rows.iter().map(|(name, _)| name)).max(100.0) + 8.0;
        let cell = (widest(&mut self.columns.iter()) + 6.0).max(NARROWEST);
        let right = left + cell * self.columns.len() as f64;
        let bottom = TOP + ROW * self.rows.len() as f64;
        let mut canvas = Canvas::new(
            Picture {
                title: &self.title,
                class: "heat",
                // The heading needs room, too.
                size: ((right + 30.0).max(460.0), bottom + 16.0),
                left,
                right,
                top: TOP,
                bottom,
            },
            place,
        );
        let middle = |column: usize| left + cell * (column as f64 + 0.5);
        for (column, name) in self.columns.iter().enumerate() {
            canvas.text((middle(column), TOP - 8.0), "ink", "middle", name);
        }
        for (row, (name, cells)) in self.rows.iter().enumerate() {
            let top = TOP + ROW * row as f64;
            canvas.text((left - 8.0, top + 16.0), "ink", "end", name);
            for (column, tallies) in cells.iter().enumerate() {
                let Some(text) = short(*tallies) else {
                    continue;
                };
                // Writing to a string cannot fail.
                let _ = writeln!(
                    canvas,
                    "<g><title>{}</title>",
                    escape(&format!(
                        "{name}, {}: {}",
                        self.columns[column],
                        tallies.sentence()
                    ))
                );
                let decided = tallies.first.decided();
                let fill = if decided == 0 {
                    "class=\"grid\" fill=\"none\" stroke-dasharray=\"3 3\"".to_owned()
                } else {
                    let share = tallies.first.held as f64 / decided as f64;
                    format!("class=\"f0 grid\" fill-opacity=\"{:.2}\"", DARKEST * share)
                };
                canvas.rectangle(
                    &fill,
                    (left + cell * column as f64 + 1.0, top + 1.0),
                    (cell - 2.0, ROW - 2.0),
                );
                canvas.text((middle(column), top + 16.0), "ink", "middle", &text);
                let _ = writeln!(canvas, "</g>");
            }
        }
        canvas.finish()
    }
}

/// What stands in a cell; `None` where there is no claim.
fn short(tallies: Tallies) -> Option<String> {
    let (held, decided) = (tallies.first.held, tallies.first.decided());
    match (decided, tallies.first.not_tested) {
        (0, 0) => None,
        (0, _) => Some("·".to_owned()),
        _ => Some(format!("{held}/{decided}")),
    }
}

fn words(tallies: Tallies) -> String {
    let Tallies {
        first,
        second,
        judged_twice,
    } = tallies;
    if first.decided() == 0 {
        return match first.not_tested {
            0 => String::new(),
            count => format!("{count} not tested"),
        };
    }
    if judged_twice == 0 || first.held == second.held {
        return first.share();
    }
    format!("{}, over alignments {}", first.share(), second.held)
}
