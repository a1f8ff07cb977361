//! The plan of a machine that counts its nodes, as a picture: the number of held nodes over time,
//! stacked by their holders.

use std::fmt::Write as _;

use super::gantt::{self, moment, span};
use super::svg::{
    BELOW_AXIS, COLOURS, Canvas, Picture, Place, Px, Side, Swatch, escape, legend_height,
    round_ticks, style, time_step,
};
use super::table::grouped;
use bookahead_core::units::Seconds;
use bookahead_lab::store::{Held, MachineUse};

const WIDTH: f64 = 1_180.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 34.0;
const TOP: f64 = 44.0;
const HEIGHT: f64 = 420.0;
/// The picture shows every second, or the mean of each of at most this many parts of its time.
const MOST_COLUMNS: i64 = 800;

/// What is drawn.
#[derive(Clone, Debug)]
pub struct Profile<'p> {
    /// Its heading.
    pub title: String,
    /// The machine with what it held.
    pub machine: &'p MachineUse,
    /// From this time …
    pub from: Seconds,
    /// … to this one, which is later.
    pub to: Seconds,
}

/// The style of the page.
pub(super) fn page_style() -> String {
    format!("{}{}", style("svg"), gantt::PAGE_STYLE)
}

/// One layer: what holds nodes, and how many it holds in each column.
struct Layer<'p> {
    kind: &'p str,
    columns: Vec<f64>,
}

impl Profile<'_> {
    /// A stand-alone SVG file.
    #[must_use]
    pub fn svg(&self) -> String {
        self.draw(Place::File(&style("")))
    }

    /// A page that zooms and tells what is under the pointer.
    #[must_use]
    pub fn page(&self, note: &str) -> String {
        let layers = self.layers();
        let kinds = (layers.iter().enumerate()).map(|(number, layer)| (class(number), layer.kind));
        let drawing = self.draw(Place::Page);
        let heading = (&*self.title, note);
        gantt::zooming_page(heading, &page_style(), "everything", kinds, drawing)
    }

    /// What a reader must know about the picture.
    #[must_use]
    pub fn note(&self) -> String {
        format!(
            "How many nodes were held, stacked by what held them: the mean of every {}. The machine counts its nodes and does not say which.",
            span(self.width() as f64)
        )
    }

    /// Seconds of a column.
    fn width(&self) -> i64 {
        ((self.to - self.from).0 + MOST_COLUMNS - 1) / MOST_COLUMNS
    }

    /// The layers in the order in which kinds first appear, jobs first.
    fn layers(&self) -> Vec<Layer<'_>> {
        let (width, length) = (self.width(), (self.to - self.from).0);
        let columns = ((length + width - 1) / width) as usize;
        let mut layers: Vec<Layer<'_>> = Vec::new();
        for held in &self.machine.held {
            let (start, end) = (held.start.max(self.from), held.end.min(self.to));
            if start >= end {
                continue;
            }
            let known = layers.iter().position(|layer| layer.kind == &*held.kind);
            let place = known.unwrap_or_else(|| {
                layers.push(Layer {
                    kind: &held.kind,
                    columns: vec![0.0; columns],
                });
                layers.len() - 1
            });
            let (start, end) = ((start - self.from).0, (end - self.from).0);
            for column in start / width..=(end - 1) / width {
                let first = column * width;
                // The last column may be shorter.
                let last = (first + width).min(length);
                let seconds = (end.min(last) - start.max(first)) as f64;
                layers[place].columns[column as usize] +=
                    f64::from(held.nodes.0) * seconds / (last - first) as f64;
            }
        }
        layers.sort_by_key(|layer| layer.kind != Held::JOBS);
        layers
    }

    fn x(&self, time: Seconds) -> f64 {
        let time = time.min(self.to);
        LEFT + (time - self.from).0 as f64 / (self.to - self.from).0 as f64 * (WIDTH - LEFT - RIGHT)
    }

    fn draw(&self, place: Place<'_>) -> String {
        let layers = self.layers();
        let columns = layers.first().map_or(0, |layer| layer.columns.len());
        let total = |column: usize| {
            layers
                .iter()
                .map(|layer| layer.columns[column])
                .sum::<f64>()
        };
        // Overbooked nodes are held twice.
        let most = (0..columns)
            .map(total)
            .fold(f64::from(self.machine.nodes.0.max(1)), f64::max);
        let y = |nodes: f64| TOP + HEIGHT * (1.0 - nodes / most);
        let names = || layers.iter().map(|layer| layer.kind);
        let bottom = TOP + HEIGHT;
        let picture = Picture {
            title: &self.title,
            class: "gantt",
            size: (WIDTH, bottom + BELOW_AXIS + legend_height(names(), WIDTH)),
            left: LEFT,
            right: WIDTH - RIGHT,
            top: TOP,
            bottom,
        };
        let mut svg = Canvas::new(picture, place);
        let step = time_step((self.to - self.from).0);
        let first = (self.from.0 + step - 1).div_euclid(step);
        let times = (first..=self.to.0.div_euclid(step)).map(|tick| Seconds(tick * step));
        svg.axes(
            &Side {
                ticks: times.map(|time| (self.x(time), moment(time))).collect(),
                title: "time since the start of the simulation",
                has_grid: false,
            },
            Some(&Side {
                ticks: round_ticks(most, 6.0)
                    .into_iter()
                    .map(|(nodes, name)| (y(nodes), name))
                    .collect(),
                title: "nodes held",
                has_grid: true,
            }),
        );
        let _ = writeln!(svg, "<g class=\"field\">");
        let mut below = vec![0.0; columns];
        for (number, layer) in layers.iter().enumerate() {
            let above: Vec<f64> = below
                .iter()
                .zip(&layer.columns)
                .map(|(below, own)| below + own)
                .collect();
            let mean = layer.columns.iter().sum::<f64>() / columns.max(1) as f64;
            let words = format!(
                "{}: {} of {} nodes in the mean of the time shown",
                layer.kind,
                grouped(mean, 1),
                grouped(f64::from(self.machine.nodes.0), 0)
            );
            let _ = writeln!(
                svg,
                "<g class=\"{}\" data-t=\"{}\"><path class=\"f{}\" d=\"{}Z\"/></g>",
                class(number),
                escape(&words),
                number % COLOURS.len(),
                self.outline(&above, &below, y)
            );
            below = above;
        }
        let _ = writeln!(svg, "</g>");
        let capacity = y(f64::from(self.machine.nodes.0));
        svg.line((LEFT, capacity), (WIDTH - RIGHT, capacity), "edge");
        let swatches = (0..layers.len())
            .map(|number| Swatch::Box(format!("class=\"f{}\"", number % COLOURS.len())));
        svg.legend(swatches.zip(names()), bottom + BELOW_AXIS);
        svg.finish()
    }

    /// Stairs to the right along the upper edge, and back along the lower one.
    fn outline(&self, above: &[f64], below: &[f64], y: impl Fn(f64) -> f64) -> String {
        let edge = |column: usize| self.x(self.from + Seconds(column as i64 * self.width()));
        let mut path = format!(
            "M{} {}",
            Px(edge(0)),
            Px(y(below.first().copied().unwrap_or(0.0)))
        );
        for (column, nodes) in above.iter().enumerate() {
            let _ = write!(path, "V{}H{}", Px(y(*nodes)), Px(edge(column + 1)));
        }
        for (column, nodes) in below.iter().enumerate().rev() {
            let _ = write!(path, "V{}H{}", Px(y(*nodes)), Px(edge(column)));
        }
        path
    }
}

/// What the page's script tells layers apart by.
fn class(number: usize) -> String {
    format!("layer{number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookahead_core::units::Nodes;

    fn machine(held: &[(&'static str, i64, i64, u32)]) -> MachineUse {
        MachineUse {
            name: "machine".to_owned(),
            nodes: Nodes(10),
            held: held
                .iter()
                .map(|&(kind, start, end, nodes)| Held {
                    kind: kind.into(),
                    start: Seconds(start),
                    end: Seconds(end),
                    nodes: Nodes(nodes),
                })
                .collect(),
        }
    }

    fn profile(machine: &MachineUse, from: i64, to: i64) -> Profile<'_> {
        Profile {
            title: "a plan".to_owned(),
            machine,
            from: Seconds(from),
            to: Seconds(to),
        }
    }

    #[test]
    fn layers_hold_what_was_held_second_by_second() {
        let machine = machine(&[
            ("reservations", 2, 4, 3),
            ("jobs", 0, 3, 2),
            ("jobs", 2, 9, 4),
            ("jobs", 50, 60, 1),
        ]);
        let profile = profile(&machine, 1, 6);
        let layers = profile.layers();
        let found: Vec<(&str, &[f64])> = layers
            .iter()
            .map(|layer| (layer.kind, &layer.columns[..]))
            .collect();
        // From second 1 to 6: jobs 2, then 2 + 4, then 4 alone; reservations in seconds 2 and 3.
        assert_eq!(
            found,
            [
                ("jobs", &[2.0, 6.0, 4.0, 4.0, 4.0][..]),
                ("reservations", &[0.0, 3.0, 3.0, 0.0, 0.0])
            ]
        );
    }

    #[test]
    fn long_times_are_shown_as_means_and_nothing_of_the_work_is_lost() {
        let machine = machine(&[("jobs", 100, 5_000, 7), ("jobs", 9_990, 20_000, 2)]);
        let profile = profile(&machine, 0, 10_001);
        // 10,001 s in at most 800 columns: 13 s each, the last one 4 s.
        let layers = profile.layers();
        assert_eq!((profile.width(), layers[0].columns.len()), (13, 770));
        let work: f64 = layers[0].columns[..769]
            .iter()
            .map(|nodes| 13.0 * nodes)
            .sum();
        let last = 4.0 * layers[0].columns[769];
        assert!((work + last - (7.0 * 4_900.0 + 2.0 * 11.0)).abs() < 1e-6);
        assert!(profile.note().contains("every 13 s"));
    }

    #[test]
    fn overbooked_machines_are_drawn_beyond_their_size() {
        let machine = machine(&[("jobs", 0, 10, 10), ("parts", 0, 10, 5)]);
        let svg = profile(&machine, 0, 10).svg();
        // The field reaches from 44 to 464: ten of fifteen nodes are two thirds of its height.
        assert!(svg.contains("class=\"edge\" d=\"M84 184L"), "{svg}");
        for part in [">jobs</text>", ">parts</text>", "jobs: 10.0 of 10 nodes"] {
            assert!(svg.contains(part), "{part}");
        }
    }
}
