//! The cells of a heat map: the more, the darker, with what is best framed.

use std::fmt::Write as _;

use super::canvas::{Px, text_width};
use super::marks::{Pen, mean_words, words_of};
use super::{place_name, short_number};
use crate::figure::{HeatCell, Sign, Standing};
use crate::table::{grouped, short};

/// How much of its colour the cell with the least has, and that with the most: letters are legible
/// on both.
const SHADES: (f64, f64) = (0.04, 0.55);

impl Pen<'_, '_> {
    pub(super) fn cells(&mut self, cells: &[HeatCell]) {
        let values = cells.iter().map(|cell| cell.mark.mean);
        let (least, most) = values.fold(
            (f64::INFINITY, f64::NEG_INFINITY),
            |(least, most), value| (least.min(value), most.max(value)),
        );
        for cell in cells {
            let share = match most > least {
                true => (cell.mark.mean - least) / (most - least),
                false => 0.0,
            };
            self.cell(cell, SHADES.0 + share * (SHADES.1 - SHADES.0));
        }
    }

    fn cell(&mut self, cell: &HeatCell, shade: f64) {
        let (width, height) = (self.x.slot(), self.y.slot());
        let (x, y) = (self.x.at(cell.mark.x), self.y.at(cell.row));
        let row = format!(
            "{} {}",
            short(&self.figure.y.title),
            place_name(&self.figure.y, cell.row)
        );
        let standing = match cell.standing {
            Standing::Best => "\nthe best",
            Standing::NotWorse => "\nnot significantly worse than the best",
            Standing::Other => "",
        };
        let surplus = match cell.surplus {
            Some(Sign::Plus) => "\nsignificantly more than the baseline",
            Some(Sign::Minus) => "\nsignificantly less than the baseline",
            None => "",
        };
        let words = format!("{row}: {}{standing}{surplus}", mean_words(&cell.mark));
        let words = words_of(self.figure, cell.mark.x, &words);
        self.canvas.rectangle(
            &format!(
                "class=\"f{} m\" fill-opacity=\"{shade:.2}\" {words}",
                self.class
            ),
            (x - width / 2.0 + 1.0, y - height / 2.0 + 1.0),
            (width - 2.0, height - 2.0),
        );
        let frame = match cell.standing {
            Standing::Best => Some("stroke-width=\"3\""),
            Standing::NotWorse => Some("stroke-width=\"1.2\" stroke-dasharray=\"4 2\""),
            Standing::Other => None,
        };
        if let Some(frame) = frame {
            let _ = writeln!(
                self.canvas,
                "<rect class=\"s{}\" pointer-events=\"none\" {frame} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                self.class,
                Px(x - width / 2.0 + 3.0),
                Px(y - height / 2.0 + 3.0),
                Px(width - 6.0),
                Px(height - 6.0)
            );
        }
        let sign = match cell.surplus {
            Some(Sign::Plus) => "+",
            Some(Sign::Minus) => "−",
            None => "",
        };
        let number = in_few_letters(cell.mark.mean);
        let fits = |text: &str| text_width(text) <= width - 8.0;
        let lines: Vec<&str> = [number.as_str(), sign]
            .into_iter()
            .filter(|text| !text.is_empty() && fits(text))
            .collect();
        let is_low = height < 15.0 * lines.len() as f64 + 4.0;
        let shown = if is_low {
            &lines[..lines.len().min(1)]
        } else {
            &lines[..]
        };
        for (line, text) in shown.iter().enumerate() {
            let below = 15.0 * (line as f64 - (shown.len() as f64 - 1.0) / 2.0);
            self.canvas
                .text((x, y + 4.0 + below), "ink", "middle", text);
        }
    }
}

/// A number with three significant digits, thousands as `k` and millions as `M`.
fn in_few_letters(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        size if size >= 1e6 => (value / 1e6, "M"),
        size if size >= 1e4 => (value / 1e3, "k"),
        size if size >= 1e3 => return grouped(value, 0),
        _ => return short_number(value),
    };
    let decimals = if scaled.abs() < 99.95 { 1 } else { 0 };
    format!("{scaled:.decimals$}{unit}")
}

#[cfg(test)]
mod tests {
    use super::in_few_letters;

    #[test]
    fn numbers_in_cells_have_few_letters() {
        let values = [0.0, 12.345, 1_234.0, 79_224.0, -345_678.0, 1_234_567.0];
        let shown = values.map(in_few_letters);
        assert_eq!(shown, ["0.000", "12.35", "1,234", "79.2k", "-346k", "1.2M"]);
    }
}
