//! What the axes of a figure have to hold: all places and values, and the ends of intervals unless
//! one of them is so far away that nothing else could be told apart.

use super::super::figure::{Figure, Mark, Marks};
use crate::PublishedNumber;

/// Places and values of a figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Extent {
    pub(super) xs: Vec<f64>,
    pub(super) ys: Vec<f64>,
    /// Whether intervals end outside.
    pub(super) is_clipped: bool,
}

impl Extent {
    /// What was measured, published values, and published bounds that are not far away.
    pub(super) fn of(figure: &Figure) -> Self {
        let mut extent = Self::measured(figure);
        let ys = &mut extent.ys;
        let (least, most) = range(ys);
        let near = (most - least) / 2.0;
        for mark in figure.series.iter().flat_map(|series| &series.published) {
            match mark.number {
                PublishedNumber::Value { value, within } => {
                    ys.push(value);
                    ys.extend(within);
                }
                PublishedNumber::AtMost(value) | PublishedNumber::AtLeast(value) => {
                    let is_near = (least - near..=most + near).contains(&value);
                    ys.extend(Some(value).filter(|_| is_near));
                }
            }
        }
        extent.ys.retain(|value| value.is_finite());
        extent
    }

    fn measured(figure: &Figure) -> Self {
        let mut extent = Self::default();
        let mut intervals: Vec<&Mark> = Vec::new();
        for series in &figure.series {
            match &series.marks {
                Marks::Curve(marks)
                | Marks::Whiskers(marks)
                | Marks::Front(marks)
                | Marks::Points(marks)
                | Marks::Bars(marks) => {
                    extent.xs.extend(marks.iter().map(|mark| mark.x));
                    extent.ys.extend(marks.iter().map(|mark| mark.mean));
                    intervals.extend(marks);
                }
                Marks::Named(marks) => {
                    extent.xs.extend(marks.iter().map(|(mark, _)| mark.x));
                    extent.ys.extend(marks.iter().map(|(mark, _)| mark.mean));
                }
                Marks::Steps(steps) => {
                    extent.xs.extend(steps.iter().map(|(at, _)| *at));
                    extent.ys.extend(steps.iter().map(|(_, share)| *share));
                }
                Marks::Cells(cells) => {
                    extent.xs.extend(cells.iter().map(|cell| cell.mark.x));
                    extent.ys.extend(cells.iter().map(|cell| cell.row));
                }
                Marks::Boxes(boxes) => {
                    extent.xs.extend(boxes.iter().map(|mark| mark.x));
                    extent
                        .ys
                        .extend(boxes.iter().flat_map(|mark| mark.quantiles));
                }
            }
        }
        extent.xs.retain(|value| value.is_finite());
        extent.ys.retain(|value| value.is_finite());
        extent.add_intervals(&intervals);
        extent
    }

    /// Adds the ends of intervals that are not further from all values than these are from each
    /// other, and twice as far as most intervals are wide.
    fn add_intervals(&mut self, marks: &[&Mark]) {
        let (least, most) = range(&self.ys);
        let mut widths: Vec<f64> = (marks.iter())
            .map(|mark| mark.high - mark.low)
            .filter(|width| width.is_finite() && *width > 0.0)
            .collect();
        widths.sort_unstable_by(f64::total_cmp);
        let usual = widths.get(widths.len() / 2).copied().unwrap_or(0.0);
        let room = (most - least) + 2.0 * usual;
        let ends = marks.iter().flat_map(|mark| [mark.low, mark.high]);
        for end in ends.filter(|end| end.is_finite()) {
            if (least - room..=most + room).contains(&end) {
                self.ys.push(end);
            } else {
                self.is_clipped = true;
            }
        }
    }
}

fn range(values: &[f64]) -> (f64, f64) {
    (
        values.iter().copied().fold(f64::INFINITY, f64::min),
        values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::figure::{Scale, Section, Series};
    use super::*;

    fn of(intervals: &[(f64, f64, f64)]) -> Extent {
        let marks = (0..).zip(intervals).map(|(at, (low, mean, high))| Mark {
            low: *low,
            high: *high,
            ..Mark::value(f64::from(at), *mean, 1)
        });
        let series = Series::new("a", 0, Marks::Curve(marks.collect()));
        Extent::of(&Figure {
            name: "f".to_owned(),
            section: Section::Money,
            title: "f".to_owned(),
            given: Vec::new(),
            x: Scale::linear("x"),
            y: Scale::linear("y"),
            series: vec![series],
            note: String::new(),
            sql: String::new(),
        })
    }

    #[test]
    fn one_interval_that_is_far_wider_than_the_others_does_not_set_the_axis() {
        let usual = [(9.0, 10.0, 11.0), (11.0, 12.0, 13.0), (10.0, 11.5, 13.0)];
        let extent = of(&usual);
        assert_eq!((range(&extent.ys), extent.is_clipped), ((9.0, 13.0), false));
        let mut wide = usual.to_vec();
        wide.push((-600.0, 11.0, 622.0));
        let extent = of(&wide);
        assert_eq!((range(&extent.ys), extent.is_clipped), ((9.0, 13.0), true));
        assert_eq!(extent.xs.len(), 4);
    }

    #[test]
    fn intervals_that_are_all_wide_are_whole() {
        let extent = of(&[(-600.0, 10.0, 620.0), (-590.0, 11.0, 612.0)]);
        assert_eq!(
            (range(&extent.ys), extent.is_clipped),
            ((-600.0, 620.0), false)
        );
        let alone = of(&[(1.0, 5.0, 9.0)]);
        assert_eq!((range(&alone.ys), alone.is_clipped), ((1.0, 9.0), false));
    }

    #[test]
    fn values_are_never_left_out() {
        let extent = of(&[(9.0, 10.0, 11.0), (11.0, 12.0, 13.0), (9e3, 9.1e3, 9.2e3)]);
        assert_eq!(
            (range(&extent.ys), extent.is_clipped),
            ((9.0, 9.2e3), false)
        );
    }
}
