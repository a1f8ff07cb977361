//! Published numbers over the marks of a series: a diamond for a value, with a pale column for its
//! tolerance; a bar with a triangle on the allowed side for a bound. They belong to their series
//! and to the legend's entry for all of them.

use std::fmt::Write as _;

use super::super::figure::PublishedMark;
use super::canvas::{Px, bound, diamond};
use super::marks::{Pen, words_of};
use super::{PUBLISHED, short_number};
use crate::PublishedNumber;

impl Pen<'_, '_> {
    /// Everything published of the series.
    pub(super) fn published(&mut self) {
        if self.series.published.is_empty() {
            return;
        }
        self.canvas.begin("class=\"series published\"", PUBLISHED);
        for mark in &self.series.published {
            match mark.number {
                PublishedNumber::Value { value, within } => self.value(mark, value, within),
                PublishedNumber::AtMost(value) => self.bound(mark, value, true),
                PublishedNumber::AtLeast(value) => self.bound(mark, value, false),
            }
        }
        self.canvas.end();
    }

    fn value(&mut self, mark: &PublishedMark, value: f64, [low, high]: [f64; 2]) {
        let (x, y) = (self.x.at(mark.x) + self.shift, self.y.at(value));
        if high > low {
            let (top, bottom) = (self.y.at(high), self.y.at(low));
            let _ = writeln!(
                self.canvas,
                "<path class=\"s{}\" stroke-width=\"7\" stroke-opacity=\"0.28\" d=\"M{} {}V{}\"/>",
                self.class,
                Px(x),
                Px(top),
                Px(bottom)
            );
        }
        let everywhere = self.everywhere(mark, y);
        let same = if high > low {
            format!(
                "; the same from {} to {}",
                short_number(low),
                short_number(high)
            )
        } else {
            String::new()
        };
        let words = format!(
            "published{everywhere}: {}{same}\n{}",
            short_number(value),
            mark.id
        );
        self.shape(mark, &diamond(x, y), &words);
    }

    fn bound(&mut self, mark: &PublishedMark, value: f64, is_most: bool) {
        let (x, y) = (self.x.at(mark.x) + self.shift, self.y.at(value));
        if !self.y.holds(y) {
            return;
        }
        let everywhere = self.everywhere(mark, y);
        let words = format!(
            "published{everywhere}: at {} {}\n{}",
            if is_most { "most" } else { "least" },
            short_number(value),
            mark.id
        );
        self.shape(mark, &bound((x, y), is_most), &words);
    }

    /// A dotted line over all places of which the number is said, and the words for that.
    fn everywhere(&mut self, mark: &PublishedMark, y: f64) -> &'static str {
        let Some(until) = mark.until else {
            return "";
        };
        let _ = writeln!(
            self.canvas,
            "<path class=\"s{}\" stroke-width=\"1.5\" stroke-dasharray=\"1 4\" d=\"M{} {}H{}\"/>",
            self.class,
            Px(self.x.at(mark.x) + self.shift),
            Px(y),
            Px(self.x.at(until) + self.shift)
        );
        " of all places"
    }

    fn shape(&mut self, mark: &PublishedMark, shape: &str, words: &str) {
        let words = words_of(self.figure, mark.x, words);
        let _ = writeln!(
            self.canvas,
            "<path class=\"s{} m\" stroke-width=\"2\" pointer-events=\"all\" {words} d=\"{shape}\"/>",
            self.class
        );
    }
}
