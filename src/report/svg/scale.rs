//! Scales: they turn values into positions in the picture, and choose round numbers along an axis.

use super::super::figure::{Scale, ScaleKind};
use super::super::table::grouped;
use super::canvas::text_width;

/// A scale with its range.
pub struct Axis {
    kind: ScaleKind,
    from: f64,
    to: f64,
    start: f64,
    end: f64,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// A scale over the values, drawn from `places.0` to `places.1`, with about `count` ticks. With
    /// `rounded` the ends are ticks, with `zero` the range contains 0.
    pub fn new(
        scale: &Scale,
        values: &[f64],
        places: (f64, f64),
        count: f64,
        rounded: bool,
        zero: bool,
    ) -> Self {
        let kind = scale.kind.clone();
        let (mut from, mut to) = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), value| {
                (from.min(*value), to.max(*value))
            });
        let ticks;
        match &kind {
            ScaleKind::Categories(names) => {
                (from, to) = (-0.5, names.len().max(1) as f64 - 0.5);
                // Of ranges that follow each other every second label says enough, of numbers as
                // many as fit; names are all needed.
                let last = names.len().saturating_sub(1);
                let all: f64 = names.iter().map(|name| 1.1 * text_width(name)).sum();
                let step = if names.iter().all(|name| name.parse::<f64>().is_ok()) {
                    (all / (places.1 - places.0).abs()).ceil().max(1.0) as usize
                } else if names.len() > 12 && names.iter().any(|name| name.contains('–')) {
                    2
                } else {
                    1
                };
                ticks = names
                    .iter()
                    .enumerate()
                    .filter(|(index, _)| {
                        *index == last || index.is_multiple_of(step) && last - index >= step
                    })
                    .map(|(index, name)| {
                        (
                            index as f64,
                            shortened(name, names.len(), (places.1 - places.0).abs()),
                        )
                    })
                    .collect();
            }
            ScaleKind::Logarithmic => {
                let least = values
                    .iter()
                    .copied()
                    .filter(|value| *value > 0.0)
                    .fold(f64::INFINITY, f64::min);
                let least = if least.is_finite() { least } else { 1.0 };
                from = least.log10().floor();
                to = to.max(least).log10().ceil().max(from + 1.0);
                ticks = (from as i32..=to as i32)
                    .map(|power| {
                        let value = 10f64.powi(power);
                        (value, grouped(value, (-power).max(0) as usize))
                    })
                    .collect();
            }
            ScaleKind::Linear => {
                if zero {
                    (from, to) = (from.min(0.0), to.max(0.0));
                }
                if to <= from {
                    // What is 0 everywhere may be a count, which has no values below.
                    let margin = from.abs() * 0.1;
                    (from, to) = match from == 0.0 {
                        true => (0.0, 1.0),
                        false => (from - margin, to + margin),
                    };
                }
                let (places, decimals) = round_steps(from, to, count);
                if rounded {
                    (from, to) = (places[0], places[places.len() - 1]);
                }
                let margin = (to - from) * 1e-9;
                ticks = places
                    .into_iter()
                    .filter(|place| *place >= from - margin && *place <= to + margin)
                    .map(|place| (place, grouped(place, decimals)))
                    .collect();
            }
        }
        Self {
            kind,
            from,
            to,
            start: places.0,
            end: places.1,
            ticks,
        }
    }

    /// The place of a value.
    pub fn at(&self, value: f64) -> f64 {
        let value = match self.kind {
            ScaleKind::Logarithmic if value > 0.0 => value.log10().max(self.from),
            ScaleKind::Logarithmic => self.from,
            _ => value,
        };
        self.start + (value - self.from) / (self.to - self.from) * (self.end - self.start)
    }

    /// The place of a value, or the end of the scale that it lies beyond.
    pub(super) fn within(&self, value: f64) -> f64 {
        let (least, most) = (self.start.min(self.end), self.start.max(self.end));
        self.at(value).clamp(least, most)
    }

    /// Whether a place lies on the scale.
    pub(super) fn holds(&self, place: f64) -> bool {
        let (least, most) = (self.start.min(self.end), self.start.max(self.end));
        (least - 0.5..=most + 0.5).contains(&place)
    }

    /// Half of the room of a category; for other scales a few points.
    pub(super) fn half_slot(&self, marks: usize) -> f64 {
        let slots = match &self.kind {
            ScaleKind::Categories(names) => names.len().max(1),
            _ => marks.max(1) + 1,
        };
        ((self.end - self.start).abs() / slots as f64 / 2.0).min(48.0)
    }

    /// The room of one category.
    pub(super) fn slot(&self) -> f64 {
        (self.end - self.start).abs() / (self.to - self.from)
    }

    /// Places and labels of the ticks.
    pub fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        self.ticks
            .iter()
            .map(|(value, label)| (self.at(*value), label.clone()))
    }
}

/// Round numbers from 0 to at most `end`, in about `count` steps, with their names.
pub fn round_ticks(end: f64, count: f64) -> Vec<(f64, String)> {
    if end <= 0.0 {
        return vec![(0.0, "0".to_owned())];
    }
    let (places, decimals) = round_steps(0.0, end, count);
    places
        .into_iter()
        .filter(|place| *place <= end * (1.0 + 1e-9))
        .map(|place| (place, grouped(place, decimals)))
        .collect()
}

/// Seconds between ticks, of a span of time that has at most about twelve of them: whole minutes,
/// hours or days.
pub fn time_step(span: i64) -> i64 {
    let steps = [
        60, 300, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 172_800, 604_800, 2_592_000,
        31_536_000,
    ];
    let step = steps.into_iter().find(|step| span <= 12 * step);
    step.unwrap_or(315_360_000)
}

/// A name that leaves room for its neighbours: in one line, else in two, else cut. `width` is that
/// of all names together.
fn shortened(name: &str, names: usize, width: f64) -> String {
    let room = ((width / text_width("m")) as usize / names.max(1)).max(5);
    let cut = |text: &str| {
        if text.chars().count() <= room {
            return text.to_owned();
        }
        text.chars().take(room - 1).chain(['…']).collect()
    };
    let break_after = name
        .char_indices()
        .rfind(|(at, letter)| "- ,".contains(*letter) && *at > 0 && *at < room);
    match break_after {
        Some((at, _)) if name.chars().count() > room => {
            let (first, second) = name.split_at(at + 1);
            format!("{first}\n{}", cut(second))
        }
        _ => cut(name),
    }
}

/// Round steps of 1, 2 or 5 times a power of ten that cover the range in about `count` steps, and
/// their decimals.
fn round_steps(from: f64, to: f64, count: f64) -> (Vec<f64>, usize) {
    let raw = (to - from) / count;
    let power = 10f64.powi(raw.log10().floor() as i32);
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= raw * 0.999)
        .unwrap_or(raw);
    let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
    let first = (from / step).floor() as i64;
    let last = (to / step).ceil() as i64;
    (
        (first..=last).map(|index| index as f64 * step).collect(),
        decimals,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_from_nothing_are_round_and_stay_in_range() {
        let names = |end| -> Vec<String> {
            let ticks = round_ticks(end, 8.0);
            ticks.into_iter().map(|(_, name)| name).collect()
        };
        assert_eq!(names(77.0), ["0", "10", "20", "30", "40", "50", "60", "70"]);
        assert_eq!(names(1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(names(0.0), ["0"]);
    }

    #[test]
    fn of_categories_that_are_numbers_as_many_have_a_label_as_fit() {
        let shown = |names: Vec<String>, width: f64| -> Vec<String> {
            let scale = Scale::categories("x", names.into_iter());
            let axis = Axis::new(&scale, &[], (0.0, width), 4.0, false, false);
            axis.ticks().map(|(_, label)| label).collect()
        };
        let numbers = |count: u32| (1..=count).map(|number| format!("0.{number:02}")).collect();
        assert_eq!(shown(numbers(8), 300.0).len(), 8);
        assert_eq!(shown(numbers(8), 100.0), ["0.01", "0.04", "0.08"]);
        let names = ["easy", "fcfs", "edf"].map(str::to_owned).to_vec();
        assert_eq!(shown(names.clone(), 50.0), names);
    }

    #[test]
    fn steps_are_round_and_cover_the_range() {
        assert_eq!(
            round_steps(9_100.0, 28_700.0, 6.0).0,
            [5_000.0, 10_000.0, 15_000.0, 20_000.0, 25_000.0, 30_000.0]
        );
        let (steps, decimals) = round_steps(0.05, 1.0, 10.0);
        assert_eq!((steps[0], steps.len(), decimals), (0.0, 11, 1));
    }
}
