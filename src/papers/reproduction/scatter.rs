//! Measured against published values, a dot for each point: `ID.svg` beside the score card.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::ScoreCard;
use crate::findings::{Check, Finding, FindingResult, Scatter};
use bookahead_report::svg::{self, Canvas, Picture, Place, Side};
use bookahead_report::table::grouped;

const SIZE: (f64, f64) = (390.0, 410.0);
const LEFT: f64 = 70.0;
const TOP: f64 = 44.0;
/// Width and height of the field.
const FIELD: f64 = 290.0;

/// The name of the drawing of a finding, in the folder of its score card; `None` where it has none.
#[must_use]
pub fn drawing(finding: &Finding) -> Option<String> {
    matches!(finding.check, Check::Points(_))
        .then(|| format!("{}.svg", finding.id.replace(['/', '.'], "-")))
}

impl ScoreCard {
    /// The drawings that stand beside the card: name and text of each.
    #[must_use]
    pub fn drawings(&self) -> Vec<(String, String)> {
        let one = |result: &FindingResult| {
            let scatter = result.scatter.as_ref()?;
            Some((drawing(&result.finding)?, draw(&self.subject, scatter)?))
        };
        self.results.iter().filter_map(one).collect()
    }
}

/// A logarithmic scale that both axes have.
struct Scale {
    from: f64,
    to: f64,
}

impl Scale {
    fn of(scatter: &Scatter) -> Option<Self> {
        let values = || scatter.points.iter().flat_map(|point| [point.0, point.1]);
        let from = values().min_by(f64::total_cmp)?;
        let to = values().max_by(f64::total_cmp)?;
        (from > 0.0 && to.is_finite()).then(|| Self {
            from: (from / 1.05).log10(),
            to: (to * 1.05).log10(),
        })
    }

    /// From 0 at the lower left to [`FIELD`].
    fn at(&self, value: f64) -> f64 {
        (value.log10() - self.from) / (self.to - self.from) * FIELD
    }

    fn ticks(&self) -> Vec<f64> {
        let powers = self.from.floor() as i32..=self.to.ceil() as i32;
        let round =
            powers.flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)));
        let within = |value: &f64| (self.from..=self.to).contains(&value.log10());
        round.filter(within).collect()
    }
}

fn draw(subject: &str, scatter: &Scatter) -> Option<String> {
    let scale = Scale::of(scatter)?;
    let bottom = TOP + FIELD;
    let title = format!("{subject}: {}", scatter.measure.replace('_', " "));
    let style = svg::style("");
    let picture = Picture {
        title: &title,
        class: "",
        size: SIZE,
        left: LEFT,
        right: LEFT + FIELD,
        top: TOP,
        bottom,
    };
    let mut canvas = Canvas::new(picture, Place::File(&style));
    let label = |value: f64| grouped(value, (-value.log10().floor()).max(0.0) as usize);
    let below = Side {
        ticks: (scale
            .ticks()
            .into_iter()
            .map(|tick| (LEFT + scale.at(tick), label(tick))))
        .collect(),
        title: "published",
        has_grid: true,
    };
    let left = Side {
        ticks: (scale
            .ticks()
            .into_iter()
            .map(|tick| (bottom - scale.at(tick), label(tick))))
        .collect(),
        title: "measured",
        has_grid: true,
    };
    canvas.axes(&below, Some(&left));
    canvas.line((LEFT, bottom), (LEFT + FIELD, TOP), "edge");
    // Whole places: points that fall on the same one are one dot, so that a file of thousands stays
    // small.
    let dots: BTreeSet<(i64, i64)> = scatter
        .points
        .iter()
        .map(|(published, measured)| {
            let (across, up) = (scale.at(*published), scale.at(*measured));
            ((LEFT + across).round() as i64, (bottom - up).round() as i64)
        })
        .collect();
    let mut path = String::new();
    let mut last = (0, 0);
    for (across, down) in dots {
        // Relative moves are shorter; a line of no length with round ends is a dot.
        let _ = write!(path, "m{} {}h0", across - last.0, down - last.1);
        last = (across, down);
    }
    let _ = writeln!(
        canvas,
        "<path class=\"s0\" stroke-width=\"1.8\" stroke-linecap=\"round\" stroke-opacity=\".55\" d=\"{path}\"/>"
    );
    Some(canvas.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_the_same_place_are_one_dot_and_equal_numbers_lie_on_the_diagonal() {
        let scatter = Scatter {
            measure: "bounded_slowdown".to_owned(),
            points: vec![
                (10.0, 10.0),
                (10.0, 10.001),
                (1_000.0, 1_000.0),
                (100.0, 40.0),
            ],
        };
        let svg = draw("KTH", &scatter).unwrap();
        assert_eq!(svg.matches("h0").count(), 3);
        assert!(svg.contains("KTH: bounded slowdown"));
        let scale = Scale::of(&scatter).unwrap();
        assert!((scale.at(100.0) - FIELD / 2.0).abs() < 1e-9);
        assert!(draw("KTH", &Scatter::default()).is_none());
    }
}
